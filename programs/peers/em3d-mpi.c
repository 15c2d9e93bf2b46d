/* em3d-mpi.c: programs/em3d.c by hand: the same graph, the same sums, but each rank knows which values its neighbours need, and
 * sends these, packed, after each half of an iteration. Takes the options of em3d.c, and prints the seconds of an iteration, without
 * the first, and the answer's sum.
 *
 *     mpirun -n 2 em3d-mpi -n 16384 -d 10 -r 20 -i 20
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* em3d.c asks for memory on a processor, and tells where what is measured begins and ends. Here a processor has its own values; for
 * those of the others there are addresses, which are never used: edges are changed to point to packed copies. */
static int me, ranks;
static double begun, took;

int32_t trivium_node(void) { return me; }
int32_t trivium_nodes(void) { return ranks; }
void *trivium_alloc(uint64_t bytes, int32_t placement, int32_t node, const char *protocol) {
    (void)placement, (void)node, (void)protocol;
    return calloc(1, bytes);
}
void trivium_fail(const char *message) {
    fprintf(stderr, "%s\n", message);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}
void trivium_barrier(void) {}
void trivium_parallel_start(void) {}
void trivium_begin(void) {}
void trivium_end(void) {}

#define main em3d_main
#include "../em3d.c"
#undef main

/* Of one kind of values: which this rank sends to each other, and copies of those that it gets. */
struct halo {
    int *send_counts, *recv_counts, *send_at, *recv_at;
    int sends, receives;
    int *indices;         /* of own values, in the order in which they are sent */
    double *packed, *got; /* what is sent, and what has come */
};

static int *numbers(int count) {
    int *made = calloc((size_t)count + 1, sizeof *made);
    if (!made) trivium_fail("em3d-mpi: out of memory");
    return made;
}

/* The rank that has a value. */
static int owner_of(const double *value, values_t *values) {
    const char *from = (const char *)value;
    for (int p = 0; p < ranks; p++) {
        if (p != me && from >= values[p] && from < values[p] + (int64_t)half * stride) return p;
    }
    return me;
}

static int index_of(const double *value, values_t values) { return (int)(((const char *)value - values) / stride); }

/* Lets the lists of other ranks' values of a kind point to copies here, and asks for these. */
static struct halo exchange_lists(struct part *part, values_t *values) {
    struct halo halo;
    halo.send_counts = numbers(ranks), halo.recv_counts = numbers(ranks);
    halo.send_at = numbers(ranks), halo.recv_at = numbers(ranks);
    int *place = numbers(ranks * half), *wanted = numbers(ranks * half);
    for (int i = 0; i < half; i++) {
        const struct node *own = node(part, i);
        for (int e = 0; e < own->count; e++) {
            int owner = owner_of(own->from[e], values);
            if (owner != me) place[owner * half + index_of(own->from[e], values[owner])] = 1;
        }
    }
    halo.receives = 0;
    for (int p = 0; p < ranks; p++) {
        halo.recv_at[p] = halo.receives;
        for (int i = 0; i < half; i++) {
            if (!place[p * half + i]) continue;
            place[p * half + i] = halo.receives;
            wanted[halo.receives++] = i;
        }
        halo.recv_counts[p] = halo.receives - halo.recv_at[p];
    }
    halo.got = malloc(sizeof *halo.got * (size_t)(halo.receives + 1));
    for (int i = 0; i < half; i++) {
        const struct node *own = node(part, i);
        for (int e = 0; e < own->count; e++) {
            int owner = owner_of(own->from[e], values);
            if (owner != me) own->from[e] = &halo.got[place[owner * half + index_of(own->from[e], values[owner])]];
        }
    }
    MPI_Alltoall(halo.recv_counts, 1, MPI_INT, halo.send_counts, 1, MPI_INT, MPI_COMM_WORLD);
    halo.sends = 0;
    for (int p = 0; p < ranks; p++) {
        halo.send_at[p] = halo.sends;
        halo.sends += halo.send_counts[p];
    }
    halo.indices = numbers(halo.sends);
    halo.packed = malloc(sizeof *halo.packed * (size_t)(halo.sends + 1));
    MPI_Alltoallv(wanted, halo.recv_counts, halo.recv_at, MPI_INT, halo.indices, halo.send_counts, halo.send_at, MPI_INT,
                  MPI_COMM_WORLD);
    free(place), free(wanted);
    return halo;
}

/* The values of a kind that others need go to them. */
static void exchange(struct halo *halo, values_t own) {
    MPI_Request requests[2 * ranks];
    int count = 0;
    for (int p = 0; p < ranks; p++) {
        if (halo->recv_counts[p] == 0) continue;
        MPI_Irecv(halo->got + halo->recv_at[p], halo->recv_counts[p], MPI_DOUBLE, p, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    for (int i = 0; i < halo->sends; i++) halo->packed[i] = *value(own, halo->indices[i]);
    for (int p = 0; p < ranks; p++) {
        if (halo->send_counts[p] == 0) continue;
        MPI_Isend(halo->packed + halo->send_at[p], halo->send_counts[p], MPI_DOUBLE, p, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    processors = ranks;
    read_options(argc, argv, options, OPTIONS);
    if (options[TOTAL].value) options[NODES].value = options[TOTAL].value / processors;
    half = (int)options[NODES].value / 2;
    lay_out();
    values_t *values[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        values[kind] = malloc(sizeof(values_t) * (size_t)ranks);
        for (int p = 0; p < ranks; p++) values[kind][p] = trivium_alloc((uint64_t)half * (uint64_t)stride, 0, p, 0);
        initialise(kind, me, values[kind][me]);
    }
    struct part e = build(E, me, values[E][me], values[H]), h = build(H, me, values[H][me], values[E]);
    struct halo of_h = exchange_lists(&e, values[H]), of_e = exchange_lists(&h, values[E]);
    exchange(&of_h, values[H][me]);
    for (int i = 0; i < options[ITERATIONS].value; i++) {
        if (i == (options[ITERATIONS].value > 1)) {
            MPI_Barrier(MPI_COMM_WORLD);
            begun = MPI_Wtime();
        }
        compute(&e);
        exchange(&of_e, values[E][me]);
        compute(&h);
        exchange(&of_h, values[H][me]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    took = MPI_Wtime() - begun;
    double own = 0, sum = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < half; i++) own += *value(values[kind][me], i);
    }
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%.9f %.6f\n", took / (double)(options[ITERATIONS].value - (options[ITERATIONS].value > 1)), sum);
    MPI_Finalize();
    return 0;
}
