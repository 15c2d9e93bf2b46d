/* cstar.c: what cstar.h declares. Compiled with every C* program. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <wasi/api.h>

#include "cstar.h"

/* Ends the program, with a format as of printf. */
__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
    static char what[512];
    va_list rest;
    va_start(rest, format);
    vsnprintf(what, sizeof what, format, rest);
    trivium_fail(what);
}

/* ---- Output ---------------------------------------------------------------------------------------
 *
 * Every node runs the whole program, so what it prints is printed by node 0 alone. The others count what they would have printed, so that
 * results of printf are the same everywhere. */

static int is_silent(int file) { return (file == 1 || file == 2) && trivium_node() != 0; }

/* These go before the C library's. */
ssize_t writev(int file, const struct iovec *pieces, int count) {
    __wasi_size_t bytes = 0;
    if (is_silent(file)) {
        for (int i = 0; i < count; i++) bytes += pieces[i].iov_len;
        return (ssize_t)bytes;
    }
    __wasi_errno_t error = count < 0 ? EINVAL : __wasi_fd_write(file, (const __wasi_ciovec_t *)pieces, (size_t)count, &bytes);
    if (!error) return (ssize_t)bytes;
    errno = error;
    return -1;
}

ssize_t write(int file, const void *text, size_t bytes) {
    struct iovec piece = {(void *)text, bytes};
    return writev(file, &piece, 1);
}

/* ---- Barriers ------------------------------------------------------------------------------------- */

unsigned cstar_barriers;
int cstar_is_posted;

#if defined CSTAR_COUNT || defined CSTAR_NAIVE
/* From when main begins. */
__attribute__((constructor(300))) static void begin_count(void) { cstar_barriers = 0; }

__attribute__((destructor)) static void tell_count(void) { printf("c-star: %u barriers\n", cstar_barriers); }
#endif

/* ---- A protocol's calls ---------------------------------------------------------------------------- */

int cstar_under_way;

/* The bytes of a block, if the protocol has the calls. A call is about bytes of one block, and refused while too many are under way. */
static size_t block;

/* Values that are sent stay here until they are there. */
enum { VALUES = 4096 };
static char *values;
static size_t used;

static char *slots;

static int64_t ask(int what, const void *shared, size_t bytes, const void *own) {
    return trivium_split_phase(what, (void *)shared, bytes, (void *)own);
}

/* Bytes that are got or sent: what call does it, where they lie in shared memory, and where in private memory. */
struct request {
    int what;
    const char *shared, *own;
    size_t bytes;
};

static void begin(struct request request) {
    while (request.bytes) {
        size_t rest = block - (uintptr_t)request.shared % block, now = request.bytes < rest ? request.bytes : rest;
        while (!ask(request.what, request.shared, now, request.own)) ask(TRIVIUM_SPLIT_SYNC, slots, 0, 0);
        request.shared += now;
        request.own += now;
        request.bytes -= now;
    }
}

#ifdef CSTAR_BULK
/* A request that begins where the last one ends, in both memories, goes with it, in one call for each block. The last one waits here for others. */
static struct request last;

static void begin_last(void) {
    begin(last);
    last.bytes = 0;
}

static void move(struct request request) {
    if (request.what == last.what && request.shared == last.shared + last.bytes && request.own == last.own + last.bytes) {
        last.bytes += request.bytes;
        return;
    }
    begin_last();
    last = request;
}
#else
static void begin_last(void) {}
static void move(struct request request) { begin(request); }
#endif

void cstar_wait(void) {
    begin_last();
    ask(TRIVIUM_SPLIT_SYNC, slots, 0, 0);
    cstar_under_way = 0;
    used = 0;
    __asm__ volatile("" ::: "memory");
}

void cstar_get_far(void *to, const void *from, size_t bytes) {
    if (!block) {
        memcpy(to, from, bytes);
        return;
    }
    cstar_under_way = 1;
    move((struct request){TRIVIUM_SPLIT_GET, from, to, bytes});
}

void cstar_send_far(void *to, const void *value, size_t bytes) {
    if (!block) {
        memcpy(to, value, bytes);
        return;
    }
    if (used + bytes > VALUES) cstar_wait();
    cstar_under_way = 1;
    move((struct request){TRIVIUM_SPLIT_PUT, to, memcpy(values + used, value, bytes), bytes});
    used += bytes;
}

/* ---- Shapes and memory ---------------------------------------------------------------------------- */

static int least(int a, int b) { return a < b ? a : b; }

void cstar_lay_out(const struct cstar_shape *shape, int below, int across) {
    int64_t all = 1, nodes = trivium_nodes(), node = trivium_node();
    for (int i = shape->rank - 1; i >= 0; i--) {
        all *= shape->size[i];
        if (all > INT32_MAX) fail("c-star: the shape %s has more than %d positions", shape->name, INT32_MAX);
    }
    struct cstar_state *state = shape->state;
    *state = (struct cstar_state){.shape = shape, .all = (int)all};
    if (across > 0 && (int64_t)below * across == nodes) {
        state->across = across;
        state->rows = (shape->size[0] + below - 1) / below;
        state->columns = (shape->size[1] + across - 1) / across;
        state->top = least(state->rows * (int)(node / across), shape->size[0]);
        state->left = least(state->columns * (int)(node % across), shape->size[1]);
        state->width = least(state->columns, shape->size[1] - state->left);
        state->block = state->rows * state->columns;
        state->count = least(state->rows, shape->size[0] - state->top) * state->width;
        return;
    }
    int64_t block = (all + nodes - 1) / nodes;
    state->block = (int)block;
    state->first = (int)(block * node < all ? block * node : all);
    state->count = least(state->block, (int)all - state->first);
}

int cstar_locate(const struct cstar_shape *shape, int place, int *position) {
    const struct cstar_state *state = shape->state;
    if (!state->across && (unsigned)(place - state->first) < (unsigned)state->count) {
        *position = place - state->first;
        return trivium_node();
    }
    if (!state->across) {
        *position = place % state->block;
        return place / state->block;
    }
    int row = place / shape->size[1], column = place % shape->size[1], side = column / state->columns;
    int width = least(state->columns, shape->size[1] - side * state->columns);
    *position = row % state->rows * width + column % state->columns;
    return row / state->rows * state->across + side;
}

struct cstar_bounds cstar_bounds_from(const struct cstar_shape *shape, int position) {
    const struct cstar_state *state = shape->state;
    struct cstar_bounds at = {.next = position, .rank = shape->rank};
    int size = shape->size[shape->rank - 1], row;
    do {
        at.begin = at.next;
        if (at.begin >= state->count) return (struct cstar_bounds){0};
        int first_row = state->top;
        if (state->across) {
            row = at.begin / state->width;
            at.last = state->left - row * state->width;
            at.next = (row + 1) * state->width;
            row += first_row;
        } else {
            first_row = state->first / size;
            row = (state->first + at.begin) / size;
            at.last = state->first - row * size;
            at.next = least(size - at.last, state->count);
        }
        at.end = at.next;
        if (state->context) {
            const struct cstar_span *span = &state->spans[row - first_row];
            if (at.begin < span->begin) at.begin = span->begin;
            if (at.end > span->end) at.end = span->end;
            at.mask = span->is_solid ? 0 : state->context;
        }
    } while (at.begin >= at.end);
    for (int i = shape->rank - 2; i >= 0; i--) {
        at.others[i] = row % shape->size[i];
        row /= shape->size[i];
    }
    return at;
}

void *cstar_near_of(const volatile void *own, size_t bytes, const struct cstar_shape *shape, int first, int coordinate, int64_t a, int64_t b,
                    int64_t c, int64_t d, int *count) {
    const int64_t indices[] = {a, b, c, d};
    int last = shape->rank - 1, place = 0;
    for (int i = 0; i < last; i++) {
        if ((uint64_t)indices[i] >= (uint64_t)shape->size[i]) return 0;
        place += (int)indices[i] * shape->below[i];
    }
    int64_t begin;
    if (__builtin_add_overflow((int64_t)coordinate + first, indices[last], &begin)) return 0;
    if (begin < 0 && begin > -*count) *count = (int)-begin;
    if (begin < 0 || begin >= shape->size[last]) return 0;
    const struct cstar_state *state = shape->state;
    int position, node = cstar_locate(shape, place + (int)begin, &position);
    /* As many as follow there in the row. */
    int rest = state->across ? state->columns - (int)begin % state->columns : state->block - position;
    *count = least(*count, least(rest, shape->size[last] - (int)begin));
    return (char *)cstar_part_of(own, bytes, shape, node) + (intptr_t)(position - first) * (intptr_t)bytes;
}

void cstar_is_same(const struct cstar_shape *shape) {
    const struct cstar_shape *other = shape->state->shape;
    int is_same = shape->rank == other->rank;
    for (int i = 0; i < shape->rank; i++) is_same = is_same && shape->size[i] == other->size[i];
    if (!is_same) fail("c-star: the shape %s has other sizes in one file than in another", shape->name);
}

void cstar_is_variable(const struct cstar_variable *variable, const struct cstar_shape *shape, size_t bytes, const char *name) {
    if (!variable) return;
    if (variable->shape->state != shape->state) {
        fail("c-star: %s has the shape %s in the file that defines it, and %s in another", name, variable->shape->name, shape->name);
    }
    if (variable->bytes != bytes) fail("c-star: the values of %s have %zu bytes in the file that defines it, and %zu in another", name, variable->bytes, bytes);
}

/* Each node's part lies in pages of its own, whose home it is since it touches them first. */
static void *parts(size_t part, const char *name) {
    char *all = trivium_alloc_first_touch((uint64_t)part * (uint64_t)trivium_nodes());
    trivium_name(all, name);
    char *own = all + part * (size_t)trivium_node();
    for (size_t at = 0; at < part; at += CSTAR_PAGE) *(volatile char *)(own + at) = 0;
    cstar_barrier("memory of a variable"); 
    return own;
}

void *cstar_allocate(const struct cstar_shape *shape, size_t bytes, const char *name) {
    return parts(cstar_part(shape, bytes), name);
}

/* Memory of variables of functions, which goes from one to the next that is of its size; and of what is posted. What it was given as is its name in
 * reports. */
struct piece {
    struct piece *below; /* in the list of those in use, or of those that are free */
    size_t part;
    void *own;
};
struct pool {
    struct piece *in_use, *unused;
    int pieces; /* in use */
};
static struct pool variables, posts;

static void *piece(struct pool *pool, size_t part, const char *name) {
    struct piece **at = &pool->unused;
    while (*at && (*at)->part != part) at = &(*at)->below;
    struct piece *piece = *at;
    if (piece) {
        *at = piece->below;
    } else {
        piece = malloc(sizeof *piece);
        if (!piece) fail("c-star: no memory for the variable %s", name);
        *piece = (struct piece){.part = part, .own = parts(part, name)};
    }
    piece->below = pool->in_use;
    pool->in_use = piece;
    pool->pieces++;
    return piece->own;
}

static void unwind(struct pool *pool, int mark) {
    for (; pool->pieces > mark; pool->pieces--) {
        struct piece *piece = pool->in_use;
        pool->in_use = piece->below;
        piece->below = pool->unused;
        pool->unused = piece;
    }
}

int cstar_mark(void) { return variables.pieces; }

void cstar_unwind(const int *mark) { unwind(&variables, *mark); }

void *cstar_local(const struct cstar_shape *shape, size_t bytes, int is_filled, const char *name) {
    void *own = piece(&variables, cstar_part(shape, bytes), name);
    if (!is_filled || shape->state->context) memset(own, 0, (size_t)shape->state->count * bytes);
    return own;
}

void cstar_locals(const struct cstar_shape *shape, size_t bytes, void **variables, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++) variables[i] = cstar_local(shape, bytes, 0, name);
}

void *cstar_space(const struct cstar_shape *shape, size_t bytes) {
    void *space = malloc((size_t)shape->state->count * bytes + 1);
    if (!space) fail("c-star: no memory for %d positions of the shape %s", shape->state->count, shape->name);
    return space;
}

void cstar_release(void *pointer) { free(*(void **)pointer); }

void cstar_no_dimension(const struct cstar_shape *shape, int dimension) {
    fail("c-star: the shape %s has %d dimension%s, and this is about dimension %d", shape->name, shape->rank, shape->rank == 1 ? "" : "s", dimension);
}

void cstar_outside(const struct cstar_shape *shape, struct cstar_who who, int dimension, int64_t index) {
    char where[CSTAR_RANK * 14 + 16] = "";
    if (who.rank) strcpy(where, ", at position ");
    for (int i = 0, at = (int)strlen(where); i < who.rank; i++) {
        at += snprintf(where + at, sizeof where - (size_t)at, "[%d]", who.at[i]);
    }
    fail("c-star: the left index %lld is outside of the shape %s, whose dimension %d has %d positions%s", (long long)index,
         shape->name, dimension, shape->size[dimension], where);
}

int cstar_shift(const struct cstar_shape *shape, const struct cstar_bounds *run, int position, int dimension, int64_t distance,
                int wraps) {
    int64_t size = cstar_dimof(shape, dimension), index = cstar_coordinate(shape, run, position, dimension);
    if (wraps) distance %= size;
    if (distance >= size || distance <= -size) return -1;
    int64_t to = index + distance;
    if (wraps) to = (to + size) % size;
    if (to < 0 || to >= size) return -1;
    int place = 0;
    for (int i = 0; i < shape->rank; i++) {
        place += (i == dimension ? (int)to : cstar_coordinate(shape, run, position, i)) * shape->below[i];
    }
    return place;
}

void *cstar_elsewhere(const volatile void *own, size_t bytes, const struct cstar_shape *shape, int place) {
    int position, node = cstar_locate(shape, place, &position);
    return (char *)cstar_part_of(own, bytes, shape, node) + (size_t)position * bytes;
}

void *cstar_far(const volatile void *own, size_t bytes, const struct cstar_shape *shape, struct cstar_who who, int64_t a, int64_t b,
                int64_t c, int64_t d) {
    const int64_t indices[] = {a, b, c, d};
    int place = 0;
    for (int i = 0; i < shape->rank; i++) {
        if ((uint64_t)indices[i] >= (uint64_t)shape->size[i]) cstar_outside(shape, who, i, indices[i]);
        place += (int)indices[i] * shape->below[i];
    }
    return cstar_of(own, bytes, shape, place);
}

void cstar_no_rank(const struct cstar_shape *shape, int indices) {
    fail("c-star: the shape %s has %d dimension%s, and %d left indices stand here", shape->name, shape->rank, shape->rank == 1 ? "" : "s", indices);
}

/* ---- Contexts ------------------------------------------------------------------------------------- */

/* Whether a position of this node is active. */
static int is_active(const struct cstar_shape *shape, int position) {
    return !shape->state->context || shape->state->context[position];
}

struct cstar_context cstar_enter(const struct cstar_shape *shape) {
    const struct cstar_state *state = shape->state;
    int size = shape->size[shape->rank - 1], runs = 0;
    if (state->count) {
        runs = state->across ? state->count / state->width : (state->first + state->count - 1) / size - state->first / size + 1;
    }
    unsigned char *mask = cstar_space(shape, 1);
    struct cstar_span *spans = malloc((size_t)runs * sizeof *spans + 1);
    if (!spans) fail("c-star: no memory for a context of the shape %s", shape->name);
    memset(mask, 0, (size_t)state->count);
    return (struct cstar_context){shape, state->context, state->spans, mask, spans};
}

void cstar_narrow(struct cstar_context *context) {
    struct cstar_state *state = context->shape->state;
    struct cstar_bounds run = {0};
    state->context = 0;
    for (struct cstar_span *span = context->spans; cstar_next_run(context->shape, &run); span++) {
        int begin = run.begin, end = run.end;
        while (begin < end && !context->mask[begin]) begin++;
        while (begin < end && !context->mask[end - 1]) end--;
        const unsigned char *hole = memchr(context->mask + begin, 0, (size_t)(end - begin));
        *span = (struct cstar_span){begin, end, !hole};
    }
    state->context = context->mask;
    state->spans = context->spans;
}

void cstar_otherwise(struct cstar_context *context) {
    for (int i = 0; i < context->shape->state->count; i++) {
        context->mask[i] = !context->mask[i] && (!context->outer || context->outer[i]);
    }
    cstar_narrow(context);
}

struct cstar_context cstar_everywhere(const struct cstar_shape *shape) {
    struct cstar_context context = {shape, shape->state->context, shape->state->spans, 0, 0};
    shape->state->context = 0;
    return context;
}

void cstar_widen(struct cstar_context *context) {
    context->shape->state->context = context->outer;
    context->shape->state->spans = context->outer_spans;
}

void cstar_leave(struct cstar_context *context) {
    cstar_widen(context);
    free(context->mask);
    free(context->spans);
}

int cstar_is_alone;

__attribute__((constructor(150))) static void look_around(void) { cstar_is_alone = trivium_nodes() == 1; }

/* ---- Sends ---------------------------------------------------------------------------------------- */

/* Where what a node has posted for this one is read. */
static void open_post(struct cstar_post *post) {
    size_t count = (size_t)(post->end - post->next), first = (size_t)post->next;
    post->places_now = (const int *)cstar_part_of(post->places, sizeof(int), post->from, post->node) + first;
    post->values_now = (const char *)cstar_part_of(post->values, post->bytes, post->from, post->node) + first * post->bytes;
    if (!block || post->node == trivium_node()) return;
    size_t places = (count * sizeof(int) + 7) / 8 * 8;
    char *fetched = realloc(post->fetched, places + count * post->bytes);
    if (!fetched) fail("c-star: no memory for %zu values that are sent", count);
    cstar_get_far(fetched, post->places_now, count * sizeof(int));
    cstar_get_far(fetched + places, post->values_now, count * post->bytes);
    cstar_sync();
    post->fetched = fetched;
    post->places_now = (const int *)fetched;
    post->values_now = fetched + places;
}

/* The first value of the next node that has one for this node. */
static int next_node(struct cstar_post *post) {
    size_t table = ((size_t)trivium_nodes() + 1) * sizeof(int);
    size_t part = (table + CSTAR_PAGE - 1) / CSTAR_PAGE * CSTAR_PAGE;
    for (; post->node < trivium_nodes(); post->node++) {
        const int *begin = (const int *)((const char *)post->begin + (ptrdiff_t)(post->node - trivium_node()) * (ptrdiff_t)part);
        post->next = begin[trivium_node()];
        post->end = begin[trivium_node() + 1];
        if (post->next < post->end) {
            open_post(post);
            return 1;
        }
    }
    return 0;
}

/* Whether a position sends: its value may go beyond the shape. */
static int is_sent(const struct cstar_shape *from, int position, const int *places) {
    return is_active(from, position) && places[position] >= 0;
}

/* A node's values lie in the order of the nodes that they are for, and those for one node in the order of their positions. */
struct cstar_post cstar_post(const struct cstar_shape *from, const struct cstar_shape *to, const int *places,
                             const void *values, size_t bytes) {
    int nodes = trivium_nodes();
    size_t table = ((size_t)nodes + 1) * sizeof(int);
    struct cstar_post post = {.from = from, .bytes = bytes, .node = -1};
    /* Others may still read what was posted there before. */
    cstar_unposted();
    post.begin = piece(&posts, (table + CSTAR_PAGE - 1) / CSTAR_PAGE * CSTAR_PAGE, "post");
    post.places = piece(&posts, cstar_part(from, sizeof(int)), "post");
    post.values = piece(&posts, cstar_part(from, bytes), "post");
    int *at = calloc((size_t)nodes + 1, sizeof(int));
    if (!at) fail("c-star: no memory for a send of %d positions of the shape %s", from->state->count, from->name);
    for (int i = 0; i < from->state->count; i++) {
        int position;
        if (is_sent(from, i, places)) at[cstar_locate(to, places[i], &position) + 1]++;
    }
    for (int i = 0; i < nodes; i++) at[i + 1] += at[i];
    memcpy(post.begin, at, table);
    for (int i = 0; i < from->state->count; i++) {
        if (!is_sent(from, i, places)) continue;
        int position, slot = at[cstar_locate(to, places[i], &position)]++;
        post.places[slot] = places[i];
        memcpy(post.values + (size_t)slot * bytes, (const char *)values + (size_t)i * bytes, bytes);
    }
    free(at);
    cstar_barrier("values that are sent");
    return post;
}

int cstar_next(struct cstar_post *post) {
    if (post->next == post->end) {
        post->node++;
        if (!next_node(post)) return 0;
    }
    post->place = *post->places_now++;
    post->value = post->values_now;
    post->values_now += post->bytes;
    post->next++;
    return 1;
}

void cstar_taken(struct cstar_post *post) {
    free(post->fetched);
    unwind(&posts, 0);
    cstar_is_posted = 1;
}

/* ---- Reductions, and what else all nodes do together ----------------------------------------------- */

/* A page of shared memory for each node is at `slots`. */

__attribute__((constructor(200))) static void make_slots(void) {
    slots = (char *)parts(CSTAR_PAGE, "reductions") - (size_t)CSTAR_PAGE * (size_t)trivium_node();
#ifdef CSTAR_CALLS
    block = (size_t)ask(TRIVIUM_SPLIT_BLOCK, slots, 0, 0);
    values = malloc(VALUES);
    if (!values) fail("c-star: no memory for values that are sent");
#endif
}

__attribute__((destructor)) static void end_calls(void) { cstar_sync(); }

#ifdef CSTAR_TREES

/* What goes from one node to another in the tree: a value, and by its number in which turn. Both are in one block, so that who sees the number has the value: a block
 * goes as a whole, and so does what a put brings. In smaller blocks the value is there before the number goes. */
struct message {
    int64_t value, turn;
};

/* The messages that a node waits for: of its children, of its parent; of its parent with what one node has, some in turn; at the root, of that node. */
enum { FROM_CHILD = 0, FROM_PARENT = 2, RING = 4, TO_ALL = 3, TO_ROOT = TO_ALL + RING, MESSAGES = TO_ROOT + RING };
enum { APART = CSTAR_PAGE / 16 };
_Static_assert(MESSAGES <= 16, "a page has room for all messages");

/* How often the nodes have come together, and how many single values all have got; how many of them since the nodes last came together. */
static int64_t meetings, broadcasts;
static int since;

static struct message *message(int node, int number) {
    return (struct message *)(slots + (size_t)CSTAR_PAGE * (size_t)node + (size_t)APART * (size_t)number);
}

static void pass(int node, int number, int64_t value, int64_t turn) {
    struct message *to = message(node, number);
    if (block >= sizeof *to) {
        struct message whole = {value, turn};
        cstar_send_far(to, &whole, sizeof whole);
        begin_last();
        return;
    }
    if (block) {
        cstar_send_far(&to->value, &value, sizeof value);
        cstar_wait();
        cstar_send_far(&to->turn, &turn, sizeof turn);
        begin_last();
        return;
    }
    *(volatile int64_t *)&to->value = value;
    trivium_fence();
    *(volatile int64_t *)&to->turn = turn;
}

static int64_t await(int number, int64_t turn) {
    const struct message *of = message(trivium_node(), number);
    int64_t seen = *(const volatile int64_t *)&of->turn;
    while (seen != turn) seen = trivium_wait_until_changed64(&of->turn, seen);
    return *(const volatile int64_t *)&of->value;
}

/* The children get what this node has. */
static void pass_on(int number, int64_t value, int64_t turn) {
    for (int child = 2 * trivium_node() + 1; child <= 2 * trivium_node() + 2 && child < trivium_nodes(); child++) {
        pass(child, number, value, turn);
    }
}

/* A child begins nothing new before it has the result, so that its message may be written again then. */
void cstar_from_child(int child, void *value, size_t bytes) {
    int64_t other = await(FROM_CHILD + (child - 1) % 2, meetings + 1);
    memcpy(value, &other, bytes);
}

void cstar_from_root(void *value, size_t bytes) {
    int node = trivium_node();
    int64_t all = 0;
    memcpy(&all, value, bytes);
    meetings++;
    /* What this node has written is there before it says that it has come. */
    cstar_sync();
    trivium_fence();
    if (node) {
        pass((node - 1) / 2, FROM_CHILD + (node - 1) % 2, all, meetings);
        all = await(FROM_PARENT, meetings);
    }
    pass_on(FROM_PARENT, all, meetings);
    memcpy(value, &all, bytes);
    cstar_is_posted = 0;
    since = 0;
}

void cstar_meet(void) {
    if (!slots) {
        trivium_barrier();
        return;
    }
    char none;
    for (int child = 2 * trivium_node() + 1; child <= 2 * trivium_node() + 2 && child < trivium_nodes(); child++) {
        cstar_from_child(child, &none, 0);
    }
    cstar_from_root(&none, 0);
}

/* From its owner to the root, and from there to all. A message is written again after as many others; by then all must have read it. */
static int64_t broadcast(int64_t value, int is_owner) {
    int node = trivium_node();
    if (++since > RING) {
        cstar_barrier("single values, as many as there is memory for");
        since = 1;
    }
    int64_t turn = ++broadcasts;
    int in_turn = (int)(turn % RING);
    if (is_owner && node) pass(0, TO_ROOT + in_turn, value, turn);
    if (node) value = await(TO_ALL + in_turn, turn);
    else if (!is_owner) value = await(TO_ROOT + in_turn, turn);
    pass_on(TO_ALL + in_turn, value, turn);
    return value;
}

void cstar_broadcast(void *to, const volatile void *from, size_t bytes, const volatile void *own, size_t part) {
    int is_owner = cstar_is_own(from, own, part);
    for (size_t at = 0; at < bytes; at += sizeof(int64_t)) {
        size_t now = bytes - at < sizeof(int64_t) ? bytes - at : sizeof(int64_t);
        int64_t value = 0;
        if (is_owner) memcpy(&value, (const void *)((const volatile char *)from + at), now);
        value = broadcast(value, is_owner);
        memcpy((char *)to + at, &value, now);
    }
}

#else

void cstar_meet(void) {
    trivium_fence();
    trivium_barrier();
    cstar_is_posted = 0;
}

/* Two values in turn: a reduction writes what the one before the last had, which all have read, or they had not come to the last one. */
static size_t turn;
/* What all nodes have, if it comes by calls. */
static int64_t *fetched;

static char *slot(int node) { return slots + (size_t)CSTAR_PAGE * (size_t)node + (size_t)CSTAR_PAGE / 2 * turn; }

void cstar_share(const void *value, size_t bytes) {
    turn ^= 1;
    memcpy(slot(trivium_node()), value, bytes);
    cstar_barrier("values of a reduction");
    if (!block) return;
    if (!fetched) fetched = malloc((size_t)trivium_nodes() * sizeof *fetched);
    if (!fetched) fail("c-star: no memory for values of a reduction");
    for (int node = 0; node < trivium_nodes(); node++) cstar_get_far(&fetched[node], slot(node), bytes);
    cstar_sync();
}

void cstar_shared(int node, void *value, size_t bytes) { memcpy(value, block ? (char *)&fetched[node] : slot(node), bytes); }

#endif
