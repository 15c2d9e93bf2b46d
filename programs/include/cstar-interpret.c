/* cstar-interpret.c: what cstar-interpret.h declares. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cstar-interpret.h"

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
    static char what[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(what, sizeof what, format, rest);
    fflush(stdout);
    trivium_fail(what);
}

/* ---- Shapes ------------------------------------------------------------------------------------- */

void cstar_count(const struct cstar_shape *shape, int down, int across) {
    long long all = 1;
    for (int i = 0; i < shape->rank; i++) {
        all *= shape->size[i];
        if (all > INT32_MAX) fail("c-star: the shape %s has more than %d positions", shape->name, INT32_MAX);
    }
    int is_rectangular = (long long)down * across == trivium_nodes();
    *shape->state = (struct cstar_state){shape, (int)all, is_rectangular ? down : 0, is_rectangular ? across : 0, 0};
}

void cstar_check(const struct cstar_shape *shape) {
    const struct cstar_shape *own = shape->state->shape;
    int is_same = own->rank == shape->rank;
    for (int i = 0; i < shape->rank; i++) is_same &= own->size[i] == shape->size[i];
    if (!is_same) fail("c-star: the shape %s has other sizes in another file", shape->name);
}

static void check_dimension(const struct cstar_shape *shape, int dimension) {
    if (dimension >= 0 && dimension < shape->rank) return;
    fail("c-star: the shape %s has %d dimension%s, and this is about dimension %d", shape->name, shape->rank, shape->rank == 1 ? "" : "s", dimension);
}

int cstar_rankof(const struct cstar_shape *shape) { return shape->rank; }

int cstar_positionsof(const struct cstar_shape *shape) { return shape->state->all; }

int cstar_dimof(const struct cstar_shape *shape, int dimension) {
    check_dimension(shape, dimension);
    return shape->size[dimension];
}

int cstar_coordinate(const struct cstar_shape *shape, int position, int dimension) {
    check_dimension(shape, dimension);
    for (int i = shape->rank - 1; i > dimension; i--) position /= shape->size[i];
    return position % shape->size[dimension];
}

/* A position as a left index names it: [2][3]. */
static const char *named(const struct cstar_shape *shape, int position) {
    static char name[64];
    int length = 0;
    for (int i = 0; i < shape->rank; i++) {
        length += snprintf(name + length, sizeof name - (size_t)length, "[%d]", cstar_coordinate(shape, position, i));
    }
    return name;
}

int cstar_position(const struct cstar_shape *shape, const struct cstar_shape *asking, int position, int count,
                   const long long *indices) {
    if (count != shape->rank) {
        fail("c-star: the shape %s has %d dimension%s, and %d left indices stand here", shape->name, shape->rank, shape->rank == 1 ? "" : "s", count);
    }
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (indices[i] < 0 || indices[i] >= shape->size[i]) {
            fail("c-star: the left index %lld is outside of the shape %s, whose dimension %d has %d positions%s%s%s%s",
                 indices[i], shape->name, i, shape->size[i], asking ? "; it is that of position " : "",
                 asking ? named(asking, position) : "", asking ? " of " : "", asking ? asking->name : "");
        }
        found = found * shape->size[i] + (int)indices[i];
    }
    return found;
}

int cstar_moved(const struct cstar_shape *shape, int position, int dimension, long long distance, int is_torus) {
    int own = cstar_coordinate(shape, position, dimension), size = shape->size[dimension];
    int step = 1; /* between positions that are beside each other there */
    for (int i = dimension + 1; i < shape->rank; i++) step *= shape->size[i];
    if (!is_torus && (distance < -own || distance > size - 1 - own)) return -1;
    int moved = is_torus ? (int)(((own + distance % size) % size + size) % size) : own + (int)distance;
    return position + (moved - own) * step;
}

/* ---- Memory ------------------------------------------------------------------------------------- */

static void *zeros(size_t count, size_t bytes) {
    void *memory = calloc(count, bytes ? bytes : 1);
    if (!memory) fail("c-star: no memory for %zu values of %zu bytes", count, bytes);
    return memory;
}

void cstar_is_variable(const struct cstar_variable *variable, const struct cstar_shape *shape, size_t bytes, const char *name) {
    if (!variable) return;
    if (variable->shape->state != shape->state) {
        fail("c-star: %s has the shape %s in the file that defines it, and %s in another", name, variable->shape->name, shape->name);
    }
    if (variable->bytes != bytes) fail("c-star: the values of %s have %zu bytes in the file that defines it, and %zu in another", name, variable->bytes, bytes);
}

void *cstar_array(const struct cstar_shape *shape, size_t bytes) { return zeros((size_t)shape->state->all, bytes); }

void cstar_release(void *pointer) { free(*(void **)pointer); }

struct cstar_arrays cstar_arrays(const struct cstar_shape *shape, size_t bytes, void **all, size_t count) {
    for (size_t i = 0; i < count; i++) all[i] = cstar_array(shape, bytes);
    return (struct cstar_arrays){all, count};
}

void cstar_release_arrays(struct cstar_arrays *arrays) {
    for (size_t i = 0; i < arrays->count; i++) free(arrays->all[i]);
}

/* ---- Contexts ----------------------------------------------------------------------------------- */

struct cstar_within cstar_where(const struct cstar_shape *shape, const unsigned char *active) {
    struct cstar_within within = {shape, shape->state->active};
    shape->state->active = active;
    return within;
}

void cstar_leave(struct cstar_within *within) { within->shape->state->active = within->outside; }

/* ---- Reductions --------------------------------------------------------------------------------- */

void *cstar_of_nodes(size_t bytes) { return zeros((size_t)trivium_nodes(), bytes); }

int cstar_owner(const struct cstar_shape *shape, int position) {
    const struct cstar_state *state = shape->state;
    if (!state->down) return position / (int)((state->all + (long long)trivium_nodes() - 1) / trivium_nodes());
    int rows = (shape->size[0] + state->down - 1) / state->down;
    int columns = (shape->size[1] + state->across - 1) / state->across;
    return cstar_coordinate(shape, position, 0) / rows * state->across + cstar_coordinate(shape, position, 1) / columns;
}

/* ---- What a statement tells --------------------------------------------------------------------- */

enum { RANGES = 8, LINES = 8, VALUES = 16 };

/* The end of a range of positions that are active, from one that is. */
static int end_of_range(const struct cstar_shape *shape, int position) {
    while (position < shape->state->all && cstar_active(shape, position)) position++;
    return position;
}

void cstar_tell(const char *place, const char *text, const struct cstar_shape *shape) {
    int active = 0, ranges = 0;
    for (int i = 0; i < shape->state->all; i++) active += cstar_active(shape, i);
    printf("%s: %s\n", place, text);
    if (active == shape->state->all) {
        printf("    all %d positions of %s are active\n", active, shape->name);
        return;
    }
    printf("    %d of %d positions of %s are active", active, shape->state->all, shape->name);
    for (int i = 0; i < shape->state->all; i++) {
        if (!cstar_active(shape, i)) continue;
        int end = end_of_range(shape, i);
        if (ranges == RANGES) {
            printf(", and others");
            break;
        }
        printf("%s%s", ranges++ ? ", " : ": ", named(shape, i));
        if (end - i > 1) printf(" to %s", named(shape, end - 1));
        i = end;
    }
    printf("\n");
}

static void show_integer(const void *value, size_t bytes, int has_sign) {
    long long number = 0;
    memcpy(&number, value, bytes);
    int unused = 64 - 8 * (int)bytes;
    if (has_sign) {
        printf("%lld", (long long)((unsigned long long)number << unused) >> unused);
    } else {
        printf("%llu", (unsigned long long)number);
    }
}

static void show_value(const void *value, size_t bytes, int kind) {
    float single;
    double number;
    if (kind != 3) {
        show_integer(value, bytes, kind == 1);
        return;
    }
    memcpy(&single, value, sizeof single);
    if (bytes == sizeof number) memcpy(&number, value, sizeof number);
    printf("%g", bytes == sizeof number ? number : (double)single);
}

/* A line for each row, which begins with its place where there are several. Values at positions that are not active stand in parentheses. */
void cstar_show(const char *name, const struct cstar_shape *shape, const struct cstar_shape *current, const void *values,
                size_t bytes, int kind) {
    int width = shape->size[shape->rank - 1], lines = shape->state->all / width;
    printf("    %s:", name);
    if (kind == 0) {
        printf(" structures of %zu bytes\n", bytes);
        return;
    }
    for (int line = 0; line < lines && line < LINES; line++) {
        if (shape->rank > 1) printf("\n        ");
        for (int i = 0; i < shape->rank - 1; i++) printf("[%d]", cstar_coordinate(shape, line * width, i));
        for (int i = 0; i < width && i < VALUES; i++) {
            int position = line * width + i, is_active = shape->state != current->state || cstar_active(shape, position);
            printf(is_active ? " " : " (");
            show_value((const char *)values + (size_t)position * bytes, bytes, kind);
            if (!is_active) printf(")");
        }
        if (width > VALUES) printf(" ..");
    }
    printf(lines > LINES ? "\n        ..\n" : "\n");
}
