/* cstar-interpret.h: the library of `trivium interpret`, in place of cstar.h.
 *
 * A program runs on one node, where a parallel variable is an array of all positions of its shape. It shares nothing with cstar.h and cstar.c, so that one
 * tells whether the other is right.
 */
#ifndef CSTAR_INTERPRET_H
#define CSTAR_INTERPRET_H
/* A program that includes cstar.h has this instead. */
#define CSTAR_H

#include <stddef.h>
#include <stdint.h>

#include "trivium.h"

/* What sizes and indices are joined with: of what is no whole number the C compiler names this type. */
typedef int cstar_whole_number;

struct cstar_shape {
    const char *name;
    int rank, size[4], below[4];
    struct cstar_state *state; /* of all files */
};

struct cstar_state {
    const struct cstar_shape *shape; /* where it is defined */
    int all;                         /* positions */
    int down, across;                /* the nodes that have rectangles of it, below each other and side by side; 0: they have not */
    const unsigned char *active;     /* whether each position is; null: all are */
};

/* What an expression has at a position is asked for its type where no loop is at one. */
enum { cstar_vp = 0, cstar_at = 0, cstar_node = 0 };

/* Before main: what is known of a shape; and whether it is the same that another file defines. */
void cstar_count(const struct cstar_shape *shape, int down, int across);
void cstar_check(const struct cstar_shape *shape);

static inline int cstar_active(const struct cstar_shape *shape, int position) {
    return !shape->state->active || shape->state->active[position];
}

/* Questions about a shape. */
int cstar_rankof(const struct cstar_shape *shape);
int cstar_positionsof(const struct cstar_shape *shape);
int cstar_dimof(const struct cstar_shape *shape, int dimension);
int cstar_coordinate(const struct cstar_shape *shape, int position, int dimension);

/* The position at these indices. If a position of a shape asks, an error names it. */
int cstar_position(const struct cstar_shape *shape, const struct cstar_shape *asking, int position, int count,
                   const long long *indices);

/* The position at a distance from another one in a dimension: around its end, or -1 beyond it. */
int cstar_moved(const struct cstar_shape *shape, int position, int dimension, long long distance, int is_torus);

/* An array of zeros, an element for each position; given back through a pointer to the pointer. */
/* What a parallel variable is where it is defined, against which another file holds its own declaration. */
struct cstar_variable {
    const struct cstar_shape *shape;
    size_t bytes;
};
void cstar_is_variable(const struct cstar_variable *variable, const struct cstar_shape *shape, size_t bytes, const char *name);
void *cstar_array(const struct cstar_shape *shape, size_t bytes);
void cstar_release(void *pointer);

/* Arrays for several variables. */
struct cstar_arrays {
    void **all;
    size_t count;
};
struct cstar_arrays cstar_arrays(const struct cstar_shape *shape, size_t bytes, void **all, size_t count);
void cstar_release_arrays(struct cstar_arrays *arrays);

/* The positions that are active within a statement, and those that were so outside of it. */
struct cstar_within {
    const struct cstar_shape *shape;
    const unsigned char *outside;
};
struct cstar_within cstar_where(const struct cstar_shape *shape, const unsigned char *active);
void cstar_leave(struct cstar_within *within);

/* An element for each node that there would be, and which node a position would have. */
void *cstar_of_nodes(size_t bytes);
int cstar_owner(const struct cstar_shape *shape, int position);

/* What a statement tells with --trace: where it stands, and which positions are active; then the values of what it has changed. Kinds of values: 1 and 2 are
 * integers with and without a sign, 3 are numbers with a fraction, 0 are others. */
void cstar_tell(const char *place, const char *text, const struct cstar_shape *shape);
void cstar_show(const char *name, const struct cstar_shape *shape, const struct cstar_shape *current, const void *values,
                size_t bytes, int kind);

#endif
