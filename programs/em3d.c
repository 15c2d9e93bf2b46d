/* em3d.c: propagation of electromagnetic waves on a static bipartite graph.
 *
 * Each E node's new value is a function of the H nodes that it depends on, and the other way
 * round. Nodes are partitioned over the processors, which compute their own; only values are
 * shared. They lie packed in arrays, one for each processor and kind, at home on their owner,
 * and a dependency points into such an array.
 *
 * The published settings: -t 192000 -d 5 -r 5 -i 20 on 32 processors (Tempest), and
 * -n 500 -d 40 -v 1 -s 1 -b 860 -z 1 -i 10 on 8, with -r from 0 to 100 (Split-C).
 */
#include "options.h"
#include "random.h"

/* em3d-update.c puts the values under another protocol, and defines these otherwise. */
#ifndef VALUES_UNDER
#define VALUES_UNDER 0
#define join_values() ((void)0)
#define end_phase() trivium_barrier()
#endif

enum { E, H, KINDS };

enum { TOTAL, NODES, DEGREE, REMOTE, SPAN, ITERATIONS, VARY, STRIDE, ZERO, CHECK, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [TOTAL] = {'t', 0, 0, 100000000, "graph nodes in all, spread over the processors (0: -n each)"},
    [NODES] = {'n', 200, 2, 1000000, "graph nodes per processor, half of them E, half H"},
    [DEGREE] = {'d', 5, 1, 1000, "dependencies of a graph node"},
    [REMOTE] = {'r', 5, 0, 100, "percentage of dependencies on other processors"},
    [SPAN] = {'s', 0, 0, 1000, "how far away those are, in processors (0: any)"},
    [ITERATIONS] = {'i', 4, 1, 1000000, "iterations"},
    [VARY] = {'v', 0, 0, 1, "1: the degree is a mean, and varies"},
    [STRIDE] = {'b', 8, 8, 65536, "bytes from value to value (8: packed)"},
    [ZERO] = {'z', 0, 0, 1, "1: processor 0 initialises all values"},
    [CHECK] = {'c', 1, 0, 1, "0: do not check the answer"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the graph"},
};

/* A dependency: the value of a node of the other kind, and its weight. */
struct edge {
    const double *from;
    double weight;
};

/* The dependencies of one processor's nodes of one kind: those of node i are
 * edges[first[i]] .. edges[first[i + 1] - 1]. */
struct part {
    int *first;
    struct edge *edges;
};

/* Values of one kind on one processor: value i is at `values + i * stride`. */
typedef char *values_t;

static int processors, half, stride;

static double *value(values_t values, int i) { return (double *)(values + (int64_t)i * stride); }

/* The processor that a remote dependency of `self` is on. */
static int choose_processor(uint64_t *random, int self) {
    int span = (int)options[SPAN].value;
    if (span == 0) {
        int other = (int)random_below(random, processors - 1);
        return other < self ? other : other + 1;
    }
    int distance = 1 + (int)random_below(random, span);
    int step = random_below(random, 2) ? distance : -distance;
    return ((self + step) % processors + processors) % processors;
}

static int choose_degree(uint64_t *random) {
    int degree = (int)options[DEGREE].value;
    return options[VARY].value ? 1 + (int)random_below(random, 2 * degree - 1) : degree;
}

/* The dependencies of `self`'s nodes of one kind on `others`, the values of the other kind by
 * processor. It is the same graph whoever builds it. */
static struct part build(int kind, int self, values_t *others) {
    struct part part;
    uint64_t random = (uint64_t)options[SEED].value << 32 | (uint64_t)(self * KINDS + kind);
    int room = half * (int)options[DEGREE].value * (options[VARY].value ? 2 : 1);
    part.first = malloc(sizeof(int) * (half + 1));
    part.edges = malloc(sizeof(struct edge) * room);
    if (!part.first || !part.edges) trivium_fail("em3d: out of private memory: lower -n or -d");
    int edge = 0;
    for (int i = 0; i < half; i++) {
        part.first[i] = edge;
        for (int degree = choose_degree(&random); degree > 0; degree--) {
            int remote = processors > 1 && random_below(&random, 100) < options[REMOTE].value;
            int processor = remote ? choose_processor(&random, self) : self;
            int other = (int)random_below(&random, half);
            part.edges[edge].from = value(others[processor], other);
            /* Small, so that values stay of moderate size. */
            part.edges[edge].weight = random_unit(&random) / (double)options[DEGREE].value;
            edge++;
        }
    }
    part.first[half] = edge;
    return part;
}

static void forget(struct part part) {
    free(part.first);
    free(part.edges);
}

static void initialise(int kind, int self, values_t values) {
    for (int i = 0; i < half; i++) *value(values, i) = 1.0 + kind + 0.25 * ((self + i) % 8);
}

static void compute(const struct part *part, values_t values) {
    for (int i = 0; i < half; i++) {
        double sum = *value(values, i);
        for (int e = part->first[i]; e < part->first[i + 1]; e++) {
            sum -= *part->edges[e].from * part->edges[e].weight;
        }
        *value(values, i) = sum;
    }
}

/* Computes everything again in private memory, on this processor alone, and compares. */
static void check(values_t *shared[KINDS]) {
    values_t *alone[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        alone[kind] = malloc(sizeof(values_t) * processors);
        for (int p = 0; p < processors; p++) {
            alone[kind][p] = malloc((size_t)half * stride);
            if (!alone[kind][p]) trivium_fail("em3d: out of private memory for the check");
            initialise(kind, p, alone[kind][p]);
        }
    }
    struct part *parts[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        parts[kind] = malloc(sizeof(struct part) * processors);
        for (int p = 0; p < processors; p++) parts[kind][p] = build(kind, p, alone[1 - kind]);
    }
    for (int i = 0; i < options[ITERATIONS].value; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int p = 0; p < processors; p++) compute(&parts[kind][p], alone[kind][p]);
        }
    }
    double sum = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int p = 0; p < processors; p++) {
            for (int i = 0; i < half; i++) {
                double is = *value(shared[kind][p], i), ought = *value(alone[kind][p], i);
                if (is != ought) {
                    printf("em3d: %c node %d of processor %d is %.17g, not %.17g\n", "EH"[kind],
                           i, p, is, ought);
                    trivium_fail("em3d: wrong answer");
                }
                sum += is;
            }
            forget(parts[kind][p]);
        }
    }
    printf("em3d: ok, sum %.6f\n", sum);
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node();
    processors = trivium_nodes();
    if (options[TOTAL].value) options[NODES].value = options[TOTAL].value / processors;
    half = (int)options[NODES].value / 2;
    if (half < 1) trivium_fail("em3d: every processor needs two graph nodes at least: raise -t or -n");
    stride = (int)options[STRIDE].value / 8 * 8;

    values_t *values[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        values[kind] = malloc(sizeof(values_t) * processors);
        for (int p = 0; p < processors; p++) {
            values[kind][p] = trivium_alloc_on_under(VALUES_UNDER, p, (uint64_t)half * stride);
            if (self == (options[ZERO].value ? 0 : p)) initialise(kind, p, values[kind][p]);
        }
    }
    struct part e = build(E, self, values[H]), h = build(H, self, values[E]);
    trivium_barrier();
    join_values();

    /* The first iteration brings the data to where they are used: it is not counted. */
    for (int i = 0; i < options[ITERATIONS].value; i++) {
        if (i == (options[ITERATIONS].value > 1)) trivium_begin();
        compute(&e, values[E][self]);
        end_phase();
        compute(&h, values[H][self]);
        end_phase();
    }
    trivium_end();

    /* Now node 0 reads what it never did: under the default protocol. */
    for (int kind = 0; kind < KINDS && VALUES_UNDER; kind++) {
        for (int p = 0; p < processors; p++) trivium_bind(values[kind][p], 0);
    }
    if (self == 0 && options[CHECK].value) check(values);
    return 0;
}
