/* cstar.h: the library of C*, for programs that end in .cs; they include it without being asked.
 *
 * The positions of a shape are dealt to the nodes in blocks, in the order of C's rows. A parallel variable is a pointer to this node's part of it; the
 * parts of all nodes lie in shared memory, each at the same distance from the next. All else is replicated: every node runs the whole program, and
 * has its own copy of what is scalar. docs/cstar.md tells the language. Names that begin with cstar_ are not for programs.
 */
#ifndef CSTAR_H
#define CSTAR_H

/* What is declared here and in trivium.h is C, and calls nothing of the program. */
#pragma clang system_header

#include <stddef.h>
#include <stdint.h>

#include "trivium.h"

/* The compiler looks for this: barriers stand around each communication, needed or not. */
#ifdef CSTAR_NAIVE
enum { cstar_naive = 1 };
#endif
/* And for this: what is got and sent goes by the calls of a protocol that has them. Trivium defines CSTAR_CALLS for such a protocol. */
#ifdef CSTAR_ACCESSES
#undef CSTAR_CALLS
#endif
#ifdef CSTAR_CALLS
enum { cstar_calls = 1 };
#endif
/* With CSTAR_BULK what lies side by side goes by one call: cstar.c. */
/* And for this: single values, reductions and barriers go through a tree of the nodes. */
#ifdef CSTAR_TREES
enum { cstar_trees = 1 };
#endif

/* A position's coordinate is a call; so `pcoord(0) > 0 & pcoord(1) > 0`, which C* programs write, would be warned about. */
#pragma clang diagnostic ignored "-Wbitwise-instead-of-logical"

enum { CSTAR_RANK = 4 };

/* Indices, distances and sizes are joined with a zero of this type, and so are the operands of & | ^: what is no whole number has no bits. */
typedef int cstar_whole_number;

struct cstar_state;

/* What is known of a shape when a program is compiled, in each file that names it. */
struct cstar_shape {
    const char *name;
    int rank, size[CSTAR_RANK];
    int below[CSTAR_RANK]; /* positions for each step in a dimension */
    struct cstar_state *state;
};

/* What is known when it begins. */
struct cstar_state {
    const struct cstar_shape *shape;
    int all;                      /* positions in all */
    int block;                    /* positions of a node, at most */
    int first, count;             /* of this node */
    /* Of a shape of two dimensions that is dealt out in both: so many nodes are side by side (0: it is not), and each has so many rows and columns, at
     * most; this one has those from here on, and so many columns. */
    int across, rows, columns, top, left, width;
    const unsigned char *context; /* whether each position of this node is active; null: all are */
    const struct cstar_span *spans; /* of a context: which positions of each run these are */
};

/* The active positions of a run: all from the first to the last of them, or some. */
struct cstar_span {
    int begin, end, is_solid;
};

/* Collective, before main. Where so many nodes, below each other and side by side, are all that there are, each gets a rectangle; else each gets what
 * follows in the order of C's rows. */
void cstar_lay_out(const struct cstar_shape *shape, int below, int across);
/* A shape that another file lays out has the sizes that it has there. */
void cstar_is_same(const struct cstar_shape *shape);
/* What a parallel variable is where it is defined. Another file says the same of it; a null pointer: nobody defines it, and nobody uses it. */
struct cstar_variable {
    const struct cstar_shape *shape;
    size_t bytes;
};
void cstar_is_variable(const struct cstar_variable *variable, const struct cstar_shape *shape, size_t bytes, const char *name);
void *cstar_allocate(const struct cstar_shape *shape, size_t bytes, const char *name);

static inline int cstar_rankof(const struct cstar_shape *shape) { return shape->rank; }
static inline int cstar_positionsof(const struct cstar_shape *shape) { return shape->state->all; }

__attribute__((noreturn)) void cstar_no_dimension(const struct cstar_shape *shape, int dimension);

static inline int cstar_dimof(const struct cstar_shape *shape, int dimension) {
    if ((unsigned)dimension >= (unsigned)shape->rank) cstar_no_dimension(shape, dimension);
    return shape->size[dimension];
}

/* ---- Loops over positions ------------------------------------------------------------------------- */

/* Some of this node's positions, which differ in the last dimension only: so that coordinates are no divisions. From the first active one to the last. */
struct cstar_bounds {
    int begin, end, next;
    int last;                   /* the last coordinate of position 0, if the run began there */
    int others[CSTAR_RANK - 1]; /* the other coordinates */
    int rank;
    const unsigned char *mask; /* which of them are active; null: all are */
};

/* The next run with active positions from a position on; none if it ends where it begins. */
struct cstar_bounds cstar_bounds_from(const struct cstar_shape *shape, int position);

/* Goes on to the next run, if there is one. Only what is inlined gets the address of a run, so that a loop has it in registers: nor does what gives it, which
 * is why it is copied piece by piece. */
static inline int cstar_next_run(const struct cstar_shape *shape, struct cstar_bounds *run) {
    const struct cstar_bounds next = cstar_bounds_from(shape, run->next);
    run->begin = next.begin;
    run->end = next.end;
    run->next = next.next;
    run->last = next.last;
    for (int i = 0; i < CSTAR_RANK - 1; i++) run->others[i] = next.others[i];
    run->rank = next.rank;
    run->mask = next.mask;
    return next.begin < next.end;
}

static inline int cstar_is_in(const struct cstar_bounds *run, int position) { return !run->mask || run->mask[position]; }

/* The coordinate of a position of a run. */
static inline int cstar_coordinate(const struct cstar_shape *shape, const struct cstar_bounds *run, int position,
                                   int dimension) {
    if ((unsigned)dimension >= (unsigned)shape->rank) cstar_no_dimension(shape, dimension);
    return dimension == shape->rank - 1 ? run->last + position : run->others[dimension];
}

/* ---- Contexts ----------------------------------------------------------------------------------- */

/* A context that a block has made, and the one that it gives back. */
struct cstar_context {
    const struct cstar_shape *shape;
    const unsigned char *outer;
    const struct cstar_span *outer_spans;
    unsigned char *mask;
    struct cstar_span *spans;
};

/* Makes a context of no positions, which is not the current one yet. */
struct cstar_context cstar_enter(const struct cstar_shape *shape);
/* It is the current one from now on. */
void cstar_narrow(struct cstar_context *context);
/* The positions of the outer context that are not in this one. */
void cstar_otherwise(struct cstar_context *context);
struct cstar_context cstar_everywhere(const struct cstar_shape *shape);
/* The outer context is the current one again; the mask stays. */
void cstar_widen(struct cstar_context *context);
void cstar_leave(struct cstar_context *context);

/* ---- Communication ------------------------------------------------------------------------------ */

/* Gets and sends by a protocol's calls `get` and `put` go on until `sync`; whether some may. */
extern int cstar_under_way;
void cstar_wait(void);
static inline void cstar_sync(void) {
    if (cstar_under_way) cstar_wait();
}

/* Waits until all nodes have come here. What they have written before, all see after it. `why`: what it parts, for who reads a translation. */
extern unsigned cstar_barriers;
extern int cstar_is_posted; /* whether some may still read what was posted */
void cstar_meet(void);
static inline void cstar_barrier(const char *why) {
    (void)why;
    cstar_sync();
    cstar_barriers++;
    __asm__ volatile("" ::: "memory");
    cstar_meet();
}

/* Private memory for a value at each position of this node; given back by cstar_release, through a pointer to it. */
void *cstar_space(const struct cstar_shape *shape, size_t bytes);
void cstar_release(void *pointer);

/* The bytes from the part of a node to that of the next: whole pages, of any machine that Trivium has, so that each page has the home that it is for. */
enum { CSTAR_PAGE = 8192 };
static inline size_t cstar_part(const struct cstar_shape *shape, size_t bytes) {
    return ((size_t)shape->state->block * bytes + CSTAR_PAGE - 1) / CSTAR_PAGE * CSTAR_PAGE;
}

/* What is got is there after cstar_sync, and what is sent after the next barrier. `own`: this node's part of the variable, of so many bytes, in which plain
 * accesses do. */
void cstar_get_far(void *to, const void *from, size_t bytes);
void cstar_send_far(void *to, const void *value, size_t bytes);
static inline int cstar_is_own(const volatile void *place, const volatile void *own, size_t part) { return (uintptr_t)place - (uintptr_t)own < part; }
static inline void cstar_get(void *to, const volatile void *from, size_t bytes, const volatile void *own, size_t part) {
    if (cstar_is_own(from, own, part)) __builtin_memcpy(to, (const void *)from, bytes);
    else cstar_get_far(to, (const void *)from, bytes);
}
static inline void cstar_send(volatile void *to, const void *value, size_t bytes, const volatile void *own, size_t part) {
    if (cstar_is_own(to, own, part)) __builtin_memcpy((void *)to, value, bytes);
    else cstar_send_far((void *)to, value, bytes);
}

/* Which position asks, for an error; of rank 0: none. */
struct cstar_who {
    int rank, at[CSTAR_RANK];
};
static inline struct cstar_who cstar_who(const struct cstar_bounds *run, int position) {
    if (!run) return (struct cstar_who){0};
    struct cstar_who who = {run->rank, {run->others[0], run->others[1], run->others[2], 0}};
    who.at[run->rank - 1] = run->last + position;
    return who;
}

/* An index outside of a shape. */
__attribute__((noreturn)) void cstar_outside(const struct cstar_shape *shape, struct cstar_who who, int dimension, int64_t index);

/* The shape, if it takes so many indices. */
__attribute__((noreturn)) void cstar_no_rank(const struct cstar_shape *shape, int indices);
static inline const struct cstar_shape *cstar_of_rank(const struct cstar_shape *shape, int indices) {
    if (shape->rank != indices) cstar_no_rank(shape, indices);
    return shape;
}

/* A place of a shape, by its number in the order of C's rows. The position of a run asks for it, or nobody. */
static inline int cstar_place(const struct cstar_shape *shape, const struct cstar_bounds *run, int position, int64_t a,
                              int64_t b, int64_t c, int64_t d) {
    const int64_t indices[] = {a, b, c, d};
    int place = 0;
    for (int i = 0; i < shape->rank; i++) {
        if ((uint64_t)indices[i] >= (uint64_t)shape->size[i]) cstar_outside(shape, cstar_who(run, position), i, indices[i]);
        place += (int)indices[i] * shape->below[i];
    }
    return place;
}

/* The place that is so many steps from a position of a run in a dimension: around the end if it wraps, else -1 if there is none. */
int cstar_shift(const struct cstar_shape *shape, const struct cstar_bounds *run, int position, int dimension, int64_t distance,
                int wraps);

/* Where the part of a variable of another node lies. */
static inline void *cstar_part_of(const volatile void *own, size_t bytes, const struct cstar_shape *shape, int node) {
    return (void *)((uintptr_t)own + (uintptr_t)((intptr_t)(node - trivium_node()) * (intptr_t)cstar_part(shape, bytes)));
}

/* Whose a place is, and which of that node's positions. */
int cstar_locate(const struct cstar_shape *shape, int place, int *position);
void *cstar_elsewhere(const volatile void *own, size_t bytes, const struct cstar_shape *shape, int place);

/* Where the element of a variable at a place of any node lies; and by its indices. */
static inline void *cstar_of(const volatile void *own, size_t bytes, const struct cstar_shape *shape, int place) {
    unsigned position = (unsigned)(place - shape->state->first);
    if (!shape->state->across && position < (unsigned)shape->state->count) return (char *)own + (size_t)position * bytes;
    return cstar_elsewhere(own, bytes, shape, place);
}
static inline void *cstar_at(const volatile void *own, size_t bytes, const struct cstar_shape *shape, const struct cstar_bounds *run,
                             int position, int64_t a, int64_t b, int64_t c, int64_t d) {
    return cstar_of(own, bytes, shape, cstar_place(shape, run, position, a, b, c, d));
}
/* The same, where that is seldom asked for. */
void *cstar_far(const volatile void *own, size_t bytes, const struct cstar_shape *shape, struct cstar_who who, int64_t a, int64_t b,
                int64_t c, int64_t d);

/* What the positions of a run find so many steps from themselves: what the address of position 0 would be. Null if there is nothing. Either is so for as many
 * positions as `count` tells. */
void *cstar_near_of(const volatile void *own, size_t bytes, const struct cstar_shape *shape, int begin, int last, int64_t a, int64_t b,
                    int64_t c, int64_t d, int *count);

/* The run is cut to those; the next one goes on there. */
static inline void *cstar_near(const volatile void *own, size_t bytes, const struct cstar_shape *shape, struct cstar_bounds *run,
                               int64_t a, int64_t b, int64_t c, int64_t d) {
    /* Indices in all dimensions but the last are the same for the run. */
    int64_t indices[] = {a, b, c, d};
    for (int i = 0; i < shape->rank - 1; i++) indices[i] += run->others[i];
    int count = run->end - run->begin;
    void *near = cstar_near_of(own, bytes, shape, run->begin, run->last, indices[0], indices[1], indices[2], indices[3], &count);
    if (count < run->end - run->begin) run->end = run->next = run->begin + count;
    return near;
}

/* Where the element at a place lies if that is this node's; else null. */
static inline void *cstar_own(const volatile void *own, size_t bytes, const struct cstar_shape *shape, int place) {
    int position, node = cstar_locate(shape, place, &position);
    return node == trivium_node() ? (char *)own + (size_t)position * bytes : 0;
}

enum { CSTAR_ADD, CSTAR_AND, CSTAR_OR, CSTAR_XOR, CSTAR_MIN, CSTAR_MAX };
#define CSTAR_FUNCTION static inline __attribute__((overloadable, unused))

/* Values that each active position of a shape has sent to a position of another one. Each node takes those that are for its own positions: in the order of
 * the positions that sent them, so that what comes of it is the same on any number of nodes. */
struct cstar_post {
    int place;         /* for which position the present value is, */
    const void *value; /* and where it lies */
    const struct cstar_shape *from;
    size_t bytes;
    int *begin, *places; /* this node's parts of what is shared: where what is for each node begins; places, and values */
    char *values;
    int node, next, end; /* whose post is read, and which of it */
    const int *places_now;     /* the place that is read next, and its value */
    const char *values_now;
    char *fetched; /* where they are if they have come by a call */
};

/* Collective. What a node reads next is what is for it. */
struct cstar_post cstar_post(const struct cstar_shape *from, const struct cstar_shape *to, const int *places,
                             const void *values, size_t bytes);
int cstar_next(struct cstar_post *post);
/* What was for this node is taken; others may still read what it has posted. */
void cstar_taken(struct cstar_post *post);

/* ---- Variables of functions ----------------------------------------------------------------------- */

/* All nodes call these at the same places, in the same order, so that a variable lies at one place of a list of all nodes. */

/* What cstar_unwind gives back to: the variables that there are now. */
int cstar_mark(void);
void cstar_unwind(const int *mark);
/* Memory for a parallel variable: zeros, unless all positions are written next (they are if all are active, and `is_filled`). */
void *cstar_local(const struct cstar_shape *shape, size_t bytes, int is_filled, const char *name);
void cstar_locals(const struct cstar_shape *shape, size_t bytes, void **variables, size_t count, const char *name);

/* ---- Reductions --------------------------------------------------------------------------------- */

/* What nodes have is combined in the same order, whichever way it goes: a node's own, its first child's, its second child's, of a binary tree with
 * node 0 at the root; so all have the same bits. */
#ifdef CSTAR_TREES
/* What a child of this node has combined; and what all have, for this node's part of it. */
void cstar_from_child(int child, void *value, size_t bytes);
void cstar_from_root(void *value, size_t bytes);
/* All nodes get what one of them has in its part of a variable. */
void cstar_broadcast(void *to, const volatile void *from, size_t bytes, const volatile void *own, size_t part);
#else
/* What each node has is shared, and each combines all of it. */
void cstar_share(const void *value, size_t bytes);
void cstar_shared(int node, void *value, size_t bytes);
#endif

#ifdef CSTAR_TREES
#define CSTAR_REDUCTION(T)                                                                                           \
    CSTAR_FUNCTION T cstar_reduce(int operator, T value) {                                                           \
        for (int child = 2 * trivium_node() + 1; child <= 2 * trivium_node() + 2 && child < trivium_nodes(); child++) { \
            T other;                                                                                                 \
            cstar_from_child(child, &other, sizeof other);                                                           \
            value = cstar_combine(operator, value, other);                                                           \
        }                                                                                                            \
        cstar_from_root(&value, sizeof value);                                                                       \
        return value;                                                                                                \
    }
#else
#define CSTAR_REDUCTION(T)                                                                                           \
    CSTAR_FUNCTION T cstar_combined(int operator, int node, T like) {                                                \
        T value;                                                                                                     \
        cstar_shared(node, &value, sizeof value);                                                                    \
        for (int child = 2 * node + 1; child <= 2 * node + 2 && child < trivium_nodes(); child++) {                  \
            value = cstar_combine(operator, value, cstar_combined(operator, child, like));                           \
        }                                                                                                            \
        return value;                                                                                                \
    }                                                                                                                \
    CSTAR_FUNCTION T cstar_reduce(int operator, T own) {                                                             \
        cstar_share(&own, sizeof own);                                                                               \
        T value = cstar_combined(operator, 0, own);                                                                  \
        return value;                                                                                                \
    }
#endif

#define CSTAR_OPERATORS(T, LEAST, MOST, ZERO, BITS)                                                                 \
    CSTAR_FUNCTION T cstar_identity(int operator, T like) {                                                         \
        (void)like;                                                                                                  \
        return operator == CSTAR_AND ? (T) ~ZERO : operator == CSTAR_MIN ? MOST : operator == CSTAR_MAX ? LEAST : (T)0; \
    }                                                                                                                \
    CSTAR_FUNCTION T cstar_combine(int operator, T a, T b) {                                                         \
        switch (operator) {                                                                                          \
        case CSTAR_ADD: return a + b;                                                                                \
        case CSTAR_MIN: return a < b ? a : b;                                                                        \
        case CSTAR_MAX: return a > b ? a : b;                                                                        \
        }                                                                                                            \
        BITS return a;                                                                                               \
    }                                                                                                                \
    CSTAR_REDUCTION(T)
#define CSTAR_BITS              \
    if (operator == CSTAR_AND) return a & b; \
    if (operator == CSTAR_OR) return a | b;  \
    if (operator == CSTAR_XOR) return a ^ b;

CSTAR_OPERATORS(int, INT32_MIN, INT32_MAX, 0, CSTAR_BITS)
CSTAR_OPERATORS(unsigned, 0, UINT32_MAX, 0, CSTAR_BITS)
CSTAR_OPERATORS(long, (-__LONG_MAX__ - 1), __LONG_MAX__, 0L, CSTAR_BITS)
CSTAR_OPERATORS(unsigned long, 0, (2 * (unsigned long)__LONG_MAX__ + 1), 0L, CSTAR_BITS)
CSTAR_OPERATORS(long long, INT64_MIN, INT64_MAX, 0LL, CSTAR_BITS)
CSTAR_OPERATORS(unsigned long long, 0, UINT64_MAX, 0LL, CSTAR_BITS)
CSTAR_OPERATORS(float, -__builtin_inff(), __builtin_inff(), 0, )
CSTAR_OPERATORS(double, -__builtin_inf(), __builtin_inf(), 0, )

/* ---- Combining sends -------------------------------------------------------------------------------- */

/* Whole numbers are combined where they lie, if there is a read-modify-write for it: in any order, which changes nothing. Trivium defines CSTAR_POSTS for a
 * protocol that has none. */
extern int cstar_is_alone; /* there is one node */
#define CSTAR_WHOLE(KIND, T, IS_SIGNED)                                                                              \
    static inline void cstar_combine_##KIND(int operator, T *at, T value) {                                          \
        if (cstar_is_alone) {                                                                                        \
            *at = (T)cstar_combine(operator, +*at, +value);                                                          \
            return;                                                                                                  \
        }                                                                                                            \
        switch (operator) {                                                                                          \
        case CSTAR_ADD: __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST); return;                                     \
        case CSTAR_AND: __atomic_fetch_and(at, value, __ATOMIC_SEQ_CST); return;                                     \
        case CSTAR_OR: __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST); return;                                       \
        case CSTAR_XOR: __atomic_fetch_xor(at, value, __ATOMIC_SEQ_CST); return;                                     \
        }                                                                                                            \
        if (IS_SIGNED && sizeof(T) >= 4) {                                                                           \
            int op = operator == CSTAR_MIN ? TRIVIUM_MIN : TRIVIUM_MAX;                                              \
            trivium_rmw((volatile void *)at, sizeof(T), op, (int64_t)value, 0);                                      \
            return;                                                                                                  \
        }                                                                                                            \
        T old = *at;                                                                                                 \
        while ((operator == CSTAR_MIN ? value < old : value > old) &&                                                \
               !__atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {               \
        }                                                                                                            \
    }
CSTAR_WHOLE(1, char, 0)
CSTAR_WHOLE(2, signed char, 0)
CSTAR_WHOLE(3, unsigned char, 0)
CSTAR_WHOLE(4, short, 0)
CSTAR_WHOLE(5, unsigned short, 0)
CSTAR_WHOLE(6, int, 1)
CSTAR_WHOLE(7, unsigned, 0)
CSTAR_WHOLE(8, long, 1)
CSTAR_WHOLE(9, unsigned long, 0)
CSTAR_WHOLE(10, long long, 1)
CSTAR_WHOLE(11, unsigned long long, 0)

/* By the kind of the variable, which the compiler of C* asks for; 0: it is no whole number, and this is never done. */
static inline __attribute__((always_inline)) void cstar_combine_at(int operator, int kind, void *at, long long value) {
    switch (kind) {
    case 1: cstar_combine_1(operator, at, (char)value); return;
    case 2: cstar_combine_2(operator, at, (signed char)value); return;
    case 3: cstar_combine_3(operator, at, (unsigned char)value); return;
    case 4: cstar_combine_4(operator, at, (short)value); return;
    case 5: cstar_combine_5(operator, at, (unsigned short)value); return;
    case 6: cstar_combine_6(operator, at, (int)value); return;
    case 7: cstar_combine_7(operator, at, (unsigned)value); return;
    case 8: cstar_combine_8(operator, at, (long)value); return;
    case 9: cstar_combine_9(operator, at, (unsigned long)value); return;
    case 10: cstar_combine_10(operator, at, value); return;
    case 11: cstar_combine_11(operator, at, (unsigned long long)value); return;
    }
}

/* Before it, what was posted is taken by all: a node takes by plain loads and stores. */
static inline void cstar_unposted(void) {
    if (cstar_is_posted) cstar_barrier("posted, then combined");
}

/* Whether that is so of a variable and of what is sent, by their kinds. The lesser of two is found in the type that both have. */
static inline int cstar_is_atomic(int operator, int to, int value) {
#ifdef CSTAR_POSTS
    return 0;
#else
    return to && value && (to == value || operator < CSTAR_MIN);
#endif
}

#endif
