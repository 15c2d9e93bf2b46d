/* barriergrid.c: nodes in rows and columns meet in the barrier of their row, in that of their column, and all together.
 *
 * Barriers of the protocol flash-barrier: row r is barrier r, the columns are behind the rows, and the last one is all nodes'. In that one the nodes arrive, work on, and
 * ask whether all have come (-s 1); or node 0 is the master, writes down the round when all have come, and lets the others go (-s 0).
 */
#include "options.h"
#include "trivium/flash-barrier.h"

enum { COLUMNS, ROUNDS, APART, OPTIONS };

static struct option options[OPTIONS] = {
    [COLUMNS] = {'c', 2, 1, 64, "nodes in a row; as many rows as are full take part"},
    [ROUNDS] = {'n', 10, 1, 1000000, "rounds"},
    [APART] = {'s', 0, 0, 1, "0 with a master, 1 arrival and test apart"},
};

static int self, nodes;
static volatile int64_t **round_of;

/* All of these nodes have come to this round. */
static void look(int first, int step, int total, int64_t round, const char *what) {
    for (int i = 0; i < total; i++) {
        if (*round_of[first + i * step] < round) {
            fprintf(stderr, "barriergrid: node %d has gone on in the barrier of its %s before node %d came\n", self, what, first + i * step);
            trivium_fail("barriergrid: a barrier let somebody go too early");
        }
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    self = trivium_node(), nodes = trivium_nodes();
    int columns = (int)options[COLUMNS].value, rows = nodes / columns;
    if (rows == 0) trivium_fail("barriergrid: there are fewer nodes than a row has (-c)");
    int row = self / columns, column = self % columns, everybody = rows + columns, apart = (int)options[APART].value;
    round_of = malloc(sizeof *round_of * (size_t)nodes);
    for (int p = 0; p < nodes; p++) round_of[p] = trivium_alloc_on(p, sizeof(int64_t));
    volatile int64_t *written = trivium_alloc_on(0, sizeof(int64_t));
    if (row < rows) {
        flash_barrier_init(row, columns, 2, 3, row * columns, 1, 0);
        flash_barrier_init(rows + column, rows, 5, 1, column, columns, 0);
        flash_barrier_init(everybody, rows * columns, 4, 2, 0, 1, !apart);
    }
    trivium_begin();
    for (int64_t i = 1; row < rows && i <= options[ROUNDS].value; i++) {
        *round_of[self] = 3 * i;
        flash_barrier_arrive(row);
        look(row * columns, 1, columns, 3 * i, "row");
        *round_of[self] = 3 * i + 1;
        flash_barrier_arrive(rows + column);
        look(column, columns, rows, 3 * i + 1, "column");
        *round_of[self] = 3 * i + 2;
        if (apart) {
            int before = flash_barrier_enter(everybody);
            while (!flash_barrier_passed(everybody, before)) {
                int64_t start = trivium_cycles();
                while (trivium_cycles() - start < 50) {
                }
            }
        } else {
            flash_barrier_arrive(everybody);
            if (self == 0) {
                *written = i;
                trivium_fence();
                flash_barrier_let_go(everybody);
            } else if (*written < i) {
                trivium_fail("barriergrid: somebody went on before the master let it go");
            }
        }
        look(0, 1, rows * columns, 3 * i + 2, "grid");
    }
    trivium_end();
    trivium_barrier();
    if (self == 0) printf("barriergrid: ok, %d rows of %d\n", rows, columns);
    return 0;
}
