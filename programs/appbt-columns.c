/* appbt-columns.c: appbt.c with messages for the columns of faces (Tempest's custom protocol for appbt; protocol column).
 *
 * A column of a face goes to the neighbour as one message, which is both the data and the news that they are there: the neighbour waits for it at home, and finds them in its own
 * memory. So do a cell's values, two layers of a face. Several columns are one message with -m. What comes is the same, so that the answer is, to the last bit.
 * Run it with the default protocol of everything else first:
 *     trivium sim programs/appbt-columns.c -p stache -p column ...
 */
#include <stdint.h>

#include "trivium/column.h"

#define OTHER_FACES
#include "appbt.c"

/* The most words of a message, as the protocol has them unless it is told otherwise. */
enum { MOST_WORDS = 8192 };

/* Of each kind and axis: where a neighbour's columns come to, and where this node's are written before they leave, both in this node's memory; column by column. */
static double *come[KINDS][3], *leaves[KINDS][3];

/* The face by which columns of a kind come to a node: it is at home there. */
static int face(int node, int kind, int axis) { return (kind * 3 + axis) * nodes + node; }

static int is_there(int axis, int way) { return way > 0 ? is_above(axis) : is_below(axis); }

static int words(int kind, int axis, int column_count) { return column_count * lines(axis) * NUMBERS[kind]; }

/* The bytes of all columns of a node's face. */
static uint64_t bytes_of_face(int kind, int axis, int node) {
    const struct part *part = &parts[node];
    int high = part->end[COLUMNS[axis]] - part->first[COLUMNS[axis]], wide = part->end[LINES[axis]] - part->first[LINES[axis]];
    return sizeof(double) * (uint64_t)high * (uint64_t)wide * (uint64_t)NUMBERS[kind];
}

static void open_faces(void) {
    for (int kind = 0; kind < KINDS; kind++) {
        for (int axis = 0; axis < 3; axis++) {
            for (int p = 0; p < nodes && grid[axis] > 1; p++) {
                double *in = trivium_alloc_on(p, bytes_of_face(kind, axis, p)), *out = trivium_alloc_on(p, bytes_of_face(kind, axis, p));
                trivium_name(in, "columns that come");
                trivium_name(out, "columns that leave");
                if (p == self) come[kind][axis] = in, leaves[kind][axis] = out;
            }
            int together = (int)options[TOGETHER].value < columns(axis) ? (int)options[TOGETHER].value : columns(axis);
            int place_words = words(kind, axis, together);
            if (grid[axis] > 1 && place_words > MOST_WORDS) trivium_fail("appbt-columns: a message is longer than the protocol has it: fewer columns together (-m)");
            if (is_there(axis, -WAY[kind])) column_open(face(self, kind, axis), come[kind][axis], place_words, neighbour(axis, -WAY[kind]));
        }
    }
    trivium_barrier();
}

static double *lines_out(int kind, int axis, int column) {
    return leaves[kind][axis] + words(kind, axis, column);
}

static void publish(int kind, int axis, int column) {
    if (!is_last_together(axis, column)) return;
    int together = (int)options[TOGETHER].value, number = column / together, first = number * together;
    int is_put = column_put(face(neighbour(axis, WAY[kind]), kind, axis), lines_out(kind, axis, first), words(kind, axis, column + 1 - first), number);
    if (!is_put) trivium_fail("appbt-columns: the neighbour's place for a message is too small");
}

static const double *lines_in(int kind, int axis, int column) {
    int together = (int)options[TOGETHER].value;
    if (column % together == 0) column_wait(face(self, kind, axis), column / together);
    return come[kind][axis] + words(kind, axis, column);
}

static void give_back(int kind, int axis) { column_used(face(self, kind, axis)); }

static const double *cell_beyond(int kind, int axis, int column, int line, int layer) {
    return come[kind][axis] + words(kind, axis, column) + (line * LAYERS + layer) * FIVE;
}

/* Sends the two layers of cells next to a face. */
static void publish_layers(int kind, int axis) {
    for (int c = 0; c < columns(axis); c++) {
        double *to = lines_out(kind, axis, c);
        for (int l = 0; l < lines(axis); l++) {
            int at[3];
            start_of(axis, c, l, at);
            for (int layer = 0; layer < LAYERS; layer++, to += FIVE) {
                at[axis] = WAY[kind] > 0 ? own->end[axis] - 1 - layer : own->first[axis] + layer;
                memcpy(to, cell_of(own, at), FIVE * sizeof *to);
            }
        }
        publish(kind, axis, c);
    }
}

static void publish_cells(void) {
    for (int axis = 0; axis < 3; axis++) {
        if (is_above(axis)) publish_layers(UPWARD, axis);
        if (is_below(axis)) publish_layers(DOWNWARD, axis);
    }
}
