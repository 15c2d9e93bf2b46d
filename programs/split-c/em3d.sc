/* em3d.sc: electromagnetic waves on a random bipartite graph, in Split-C (Krashinsky and Machnicki, SWCC-Split-C, 1999, simplified from
 * Culler and others, 1993). Each processor owns as many E as H nodes; the values of one kind are computed from those of the other, which may lie
 * on processors at most `span` away. Values are read through global pointers, and each processor writes its own only.
 * Processor 0 sets all values first, so that each block with values begins as its own. With -DGETS, what a node depends on is fetched by gets, all at once.
 *
 * A remote dependency draws its processor as an offset from -span to span - 1, so that with a span of 1 half of them stay at home; -o 1 draws a distance from 1
 * to span on either side. -f 1, -b 1 and -a 1 are experiments about what else the published program may have counted.
 */
#include "options.h"
#include "random.h"

enum { NODES, DEGREE, REMOTE, SPAN, AWAY, ITERATIONS, PAD, FROM_START, BUILD, IN_PLACE, POOL, SWAP, SEED, CHECK, OPTIONS };

static struct option options[OPTIONS] = {
    [NODES] = {'n', 25, 1, 2000, "E nodes of each processor, and as many H nodes"},
    [DEGREE] = {'d', 10, 1, 100, "dependencies of a node, on the average"},
    [REMOTE] = {'r', 6, 0, 100, "of so many, how many are drawn as remote"},
    [SPAN] = {'s', 1, 1, 64, "how far away at most"},
    [AWAY] = {'o', 0, 0, 1, "how a remote one is drawn: 0: an offset from -s to s - 1, of which 0 is at home; 1: 1 to s on either side"},
    [ITERATIONS] = {'i', 3, 1, 1000, "iterations"},
    [PAD] = {'p', 108, 1, 1024, "a value takes so many times 8 bytes"},
    [FROM_START] = {'f', 0, 0, 1, "1: statistics begin with the program, not with the iterations"},
    [BUILD] = {'b', 0, 0, 1, "1: the graph is built through global pointers"},
    [IN_PLACE] = {'a', 0, 0, 1, "1: a value is summed up where it lies, through its global pointer, at each dependency"},
    [POOL] = {'k', 0, 0, 1, "1: the lists of all nodes of a kind are allocated in one piece, not each by itself"},
    [SWAP] = {'w', 0, 0, 1, "1: values of H nodes are allocated before those of E nodes"},
    [SEED] = {'g', 1, 0, 1000000, "seed"},
    [CHECK] = {'c', 1, 0, 1, "1: compare with the same on processor 0"},
};

/* What a value depends on. */
struct dependency {
    double *global value;
    double weight;
};

struct node {
    int count;
    struct dependency *from;
};

/* From a node's value to the next one's of its kind, in doubles. */
static int step(void) { return (int)options[PAD].value; }

/* A dependency before it has an address. */
struct pick {
    int processor, index;
    double weight;
};

/* The next dependency of a node of a processor. */
static struct pick pick(uint64_t *random, int processor) {
    int is_remote = random_below(random, options[DEGREE].value) < options[REMOTE].value;
    int span = (int)options[SPAN].value, offset = (int)random_below(random, 2 * span) - span;
    /* Without 0: the offsets from 0 on are one further away. */
    if (options[AWAY].value && offset >= 0) offset++;
    int index = random_below(random, options[NODES].value);
    int other = processor + offset;
    other = (other % PROCS + PROCS) % PROCS;
    return (struct pick){is_remote ? other : processor, index, (1 + random_below(random, 64)) / 8192.0};
}

static uint64_t seed_of(int processor, int kind) {
    return ((uint64_t)options[SEED].value << 32) + (uint64_t)processor * 2 + (uint64_t)kind;
}

static int count_of(uint64_t *random) {
    return 1 + random_below(random, 2 * options[DEGREE].value - 1);
}

static double first_of(int kind, int processor, int index) { return kind * 3 + processor % 5 + index % 7; }

/* Fills a node in, all of it through global pointers: three reads and two writes for each dependency. */
static void build(struct node *global node, int count, struct dependency *list, uint64_t *random, double *others) {
    node->count = count;
    node->from = list;
    for (int k = 0; k < node->count; k++) {
        struct pick from = pick(random, MYPROC);
        toglobal(MYPROC, node->from)[k].value = toglobal(from.processor, others + from.index * step());
        toglobal(MYPROC, node->from)[k].weight = from.weight;
    }
}

/* This processor's nodes of a kind (0: E, 1: H); the values that they depend on begin at `others` on each processor. */
static struct node *make(int kind, double *others) {
    int n = (int)options[NODES].value, pad = step();
    struct node *nodes = malloc(n * sizeof *nodes);
    struct node *global mine = toglobal(MYPROC, nodes);
    uint64_t random = seed_of(MYPROC, kind);
    struct dependency *pool = options[POOL].value ? malloc(2 * options[DEGREE].value * n * sizeof *pool) : 0;
    for (int i = 0; i < n; i++) {
        int count = count_of(&random);
        struct dependency *list = pool ? pool : malloc(count * sizeof *list);
        if (pool) pool += count;
        if (options[BUILD].value) {
            build(&mine[i], count, list, &random, others);
            continue;
        }
        nodes[i] = (struct node){count, list};
        for (int k = 0; k < count; k++) {
            struct pick from = pick(&random, MYPROC);
            list[k] = (struct dependency){toglobal(from.processor, others + from.index * pad), from.weight};
        }
    }
    return nodes;
}

#ifdef GETS
/* What a node's value becomes. Its dependencies are fetched while others are on their way, and subtracted in their order. */
static double by_gets(const struct node *node, double value) {
    double got[2 * 100]; /* twice the greatest average */
    for (int k = 0; k < node->count; k++) got[k] := *node->from[k].value;
    sync();
    for (int k = 0; k < node->count; k++) value -= node->from[k].weight * got[k];
    return value;
}
#endif

static void compute(struct node *nodes, double *own) {
    int n = (int)options[NODES].value, pad = step();
    double *global values = toglobal(MYPROC, own);
    for (int i = 0; i < n; i++) {
        if (options[IN_PLACE].value) {
            for (int k = 0; k < nodes[i].count; k++) values[i * pad] -= nodes[i].from[k].weight * *nodes[i].from[k].value;
            continue;
        }
        double value = values[i * pad];
#ifdef GETS
        value = by_gets(&nodes[i], value);
#else
        for (int k = 0; k < nodes[i].count; k++) value -= nodes[i].from[k].weight * *nodes[i].from[k].value;
#endif
        values[i * pad] = value;
    }
}

/* One half of an iteration on one processor. */
static void compute_alone(double *own, const double *others, int kind) {
    int n = (int)options[NODES].value;
    for (int p = 0; p < PROCS; p++) {
        uint64_t random = seed_of(p, kind);
        for (int i = 0; i < n; i++) {
            int count = count_of(&random);
            for (int k = 0; k < count; k++) {
                struct pick from = pick(&random, p);
                own[p * n + i] -= from.weight * others[from.processor * n + from.index];
            }
        }
    }
}

/* Compares with the same on one processor; gives the sum of all values, each weighed by its place. */
static double check(double *e, double *h) {
    int n = (int)options[NODES].value, pad = step();
    double *values[2] = {e, h}, *ought[2], sum = 0;
    for (int kind = 0; kind < 2; kind++) {
        ought[kind] = malloc((size_t)n * PROCS * sizeof(double));
        for (int l = 0; l < n * PROCS; l++) ought[kind][l] = first_of(kind, l / n, l % n);
    }
    for (int i = 0; i < options[ITERATIONS].value; i++) {
        compute_alone(ought[0], ought[1], 0);
        compute_alone(ought[1], ought[0], 1);
    }
    for (int kind = 0; kind < 2; kind++) {
        for (int l = 0; l < n * PROCS; l++) {
            double is = toglobal(l / n, values[kind])[l % n * pad];
            if (is != ought[kind][l]) {
                printf("em3d: value %d of kind %d is %.17g, not %.17g\n", l, kind, is, ought[kind][l]);
                trivium_fail("em3d: wrong answer");
            }
            sum += is * (l % 19 + 1);
        }
    }
    return sum;
}

int splitc_main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int n = (int)options[NODES].value, pad = step();
    if (options[FROM_START].value) trivium_begin();
    double *first = tolocal(all_spread_malloc(PROCS, (size_t)n * pad * sizeof(double)));
    double *second = tolocal(all_spread_malloc(PROCS, (size_t)n * pad * sizeof(double)));
    double *e = options[SWAP].value ? second : first, *h = options[SWAP].value ? first : second;
    struct node *e_nodes = make(0, h), *h_nodes = make(1, e);
    barrier();
    if (MYPROC == 0) {
        for (int l = 0; l < n * PROCS; l++) {
            toglobal(l / n, e)[l % n * pad] = first_of(0, l / n, l % n);
            toglobal(l / n, h)[l % n * pad] = first_of(1, l / n, l % n);
        }
    }
    barrier();
    if (!options[FROM_START].value) trivium_begin();
    for (int i = 0; i < options[ITERATIONS].value; i++) {
        compute(e_nodes, e);
        barrier();
        compute(h_nodes, h);
        barrier();
    }
    trivium_end();
    if (MYPROC == 0 && options[CHECK].value) printf("em3d: ok, %d + %d nodes of %d processors, sum %.17g\n", n, n, PROCS, check(e, h));
    barrier();
    return 0;
}
