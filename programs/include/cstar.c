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

/* ---- Shapes and memory ---------------------------------------------------------------------------- */

void cstar_lay_out(struct cstar_shape *shape) {
    int64_t all = 1, nodes = trivium_nodes();
    for (int i = shape->rank - 1; i >= 0; i--) {
        shape->below[i] = (int)all;
        all *= shape->size[i];
        if (all > INT32_MAX) fail("c-star: the shape %s has more than %d positions", shape->name, INT32_MAX);
    }
    int64_t block = (all + nodes - 1) / nodes, first = block * trivium_node();
    int64_t rest = first < all ? all - first : 0;
    shape->all = (int)all;
    shape->block = (int)block;
    shape->first = (int)first;
    shape->count = (int)(rest < block ? rest : block);
}

/* Each node's part lies in pages of its own, whose home it is since it touches them first. */
void *cstar_allocate(const struct cstar_shape *shape, size_t bytes, const char *name) {
    size_t part = cstar_part(shape, bytes);
    char *all = trivium_alloc_first_touch((uint64_t)part * (uint64_t)trivium_nodes());
    trivium_name(all, name);
    char *own = all + part * (size_t)trivium_node();
    for (size_t at = 0; at < part; at += CSTAR_PAGE) *(volatile char *)(own + at) = 0;
    cstar_barrier();
    return own;
}

void *cstar_space(const struct cstar_shape *shape, size_t bytes) {
    void *space = malloc((size_t)shape->count * bytes + 1);
    if (!space) fail("c-star: no memory for %d positions of the shape %s", shape->count, shape->name);
    return space;
}

void cstar_release(void *pointer) { free(*(void **)pointer); }

void cstar_no_dimension(const struct cstar_shape *shape, int dimension) {
    fail("c-star: the shape %s has %d dimensions, and this is about dimension %d", shape->name, shape->rank, dimension);
}

void cstar_outside(const struct cstar_shape *shape, int dimension, int64_t index) {
    fail("c-star: the left index %lld is outside of the shape %s, whose dimension %d has %d positions", (long long)index,
         shape->name, dimension, shape->size[dimension]);
}

/* ---- Contexts ------------------------------------------------------------------------------------- */

struct cstar_context cstar_enter(struct cstar_shape *shape) {
    unsigned char *mask = cstar_space(shape, 1);
    memset(mask, 0, (size_t)shape->count);
    return (struct cstar_context){shape, shape->context, mask};
}

void cstar_narrow(struct cstar_context *context) { context->shape->context = context->mask; }

void cstar_otherwise(struct cstar_context *context) {
    for (int i = 0; i < context->shape->count; i++) {
        context->mask[i] = !context->mask[i] && (!context->outer || context->outer[i]);
    }
}

struct cstar_context cstar_everywhere(struct cstar_shape *shape) {
    struct cstar_context context = {shape, shape->context, 0};
    shape->context = 0;
    return context;
}

void cstar_leave(struct cstar_context *context) {
    context->shape->context = context->outer;
    free(context->mask);
}

/* ---- Reductions ----------------------------------------------------------------------------------- */

/* A page of shared memory for each node's value. */
static char *slots;

__attribute__((constructor(200))) static void make_slots(void) {
    slots = trivium_alloc_round_robin((uint64_t)CSTAR_PAGE * (uint64_t)trivium_nodes());
    trivium_name(slots, "reductions");
}

void cstar_share(const void *value, size_t bytes) {
    memcpy(slots + (size_t)CSTAR_PAGE * (size_t)trivium_node(), value, bytes);
    cstar_barrier();
}

void cstar_shared(int node, void *value, size_t bytes) {
    memcpy(value, slots + (size_t)CSTAR_PAGE * (size_t)node, bytes);
}
