/* em3d.c: propagation of electromagnetic waves on a static bipartite graph.
 *
 * Each E node's new value is a function of the H nodes that it depends on, and the other way
 * round. Nodes are partitioned over the processors, which compute their own; only values are
 * shared. A graph node is a record of 32 bytes, as in the Split-C program that all others come
 * from: its value, links, counts, and pointers to lists that lie apart from it. For each node that
 * it depends on, one list has a pointer to the value, the other a weight. -p 0 shares the records
 * as they are; lists are always their owner's own. -p 1 packs the values in arrays, one for each
 * processor and kind, at home on their owner; the records are then the owner's own, and each has a
 * pointer to its value. With -z 1 processor 0 initialises all values, as programs do whose
 * initialisation is serial; -f 2 then shows how values get homes all the same.
 *
 * The published settings: -t 192000 -d 5 -r 5 -i 20 on 32 processors (Tempest), 104 bytes a node in
 * records and lists, packed or not; and -n 1000 -d 40 -v 1 -s 1 -p 0 -z 1 -i 10 on 8, with -r from
 * 0 to 100 (Split-C).
 */
#include "options.h"
#include "random.h"

#include "stache-report.h"

/* em3d-update.c puts the values under another protocol, and defines these otherwise. */
#ifndef VALUES_UNDER
#define VALUES_UNDER 0
#define join_values() ((void)0)
#define end_phase() trivium_barrier()
#endif

enum { E, H, KINDS };

enum { TOTAL, NODES, DEGREE, REMOTE, SPAN, ITERATIONS, VARY, PACKED, RECORD, LISTS, APART, ZERO, CHECK, TELL,
       SEED, SHIFT, REVERSE, TOUCH, OPTIONS };

static struct option options[OPTIONS] = {
    [TOTAL] = {'t', 0, 0, 100000000, "graph nodes in all, spread over the processors (0: -n each)"},
    [NODES] = {'n', 200, 2, 1000000, "graph nodes per processor, half of them E, half H"},
    [DEGREE] = {'d', 5, 1, 1000, "dependencies of a graph node"},
    [REMOTE] = {'r', 5, 0, 100, "percentage of dependencies on other processors"},
    [SPAN] = {'s', 0, 0, 1000, "how far away those are, in processors (0: any)"},
    [ITERATIONS] = {'i', 4, 1, 1000000, "iterations"},
    [VARY] = {'v', 0, 0, 1, "1: the degree is a mean, and varies"},
    [PACKED] = {'p', 1, 0, 1, "1: values lie packed; 0: each in its graph node"},
    [RECORD] = {'b', 0, 0, 65536, "bytes of a graph node's record (0: what it needs, 32)"},
    [LISTS] = {'l', 0, 0, 65536, "bytes of a graph node's lists (0: what they need, and a header of 4 bytes for each)"},
    [APART] = {'k', 0, 0, 1, "where lists lie: 0: both lists of a node one after the other; 1: all lists of pointers, then all of weights"},
    [ZERO] = {'z', 0, 0, 1, "1: processor 0 initialises all values"},
    [CHECK] = {'c', 1, 0, 1, "0: do not check the answer"},
    [TELL] = {'w', 0, 0, 1, "1: tell how many bytes the data set has"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the graph"},
    [SHIFT] = {'a', 0, 0, 64, "bytes from the start of a page to the first shared value"},
    [TOUCH] = {'f', 0, 0, 2, "where values live: 0: at their owner; 1: where they are first touched; 2: so, and they move once, when the parallel phase starts"},
    [REVERSE] = {'o', 0, 0, 1, "1: shared memory is allocated in the opposite order"},
};

/* A graph node, in a record of `record_bytes`: 32 as it stands here, with pointers of 4 bytes. */
struct node {
    /* The node's value, or where it lies packed. */
    union {
        double value;
        double *packed;
    };
    struct node *next;
    /* How many nodes depend on it, and which: what builds a graph by itself needs that. */
    int to_count;
    struct node **to;
    /* How many it depends on, their values, and the weight of each. */
    int count;
    const double **from;
    double *weights;
};

/* Values of one kind on one processor: value i is at `values + i * stride`. */
typedef char *values_t;

/* One processor's nodes of one kind. */
struct part {
    char *records;
    char *lists;
};

static int processors, half, degree, is_packed, stride, record_bytes, shift;
/* Bytes of a node's list of pointers, of its list of weights, and of both in all. */
static int from_bytes, weights_bytes, lists_bytes;

static double *value(values_t values, int i) { return (double *)(values + (int64_t)i * stride); }

static struct node *node(const struct part *part, int i) {
    return (struct node *)(part->records + (int64_t)i * record_bytes);
}

/* The bytes that an allocator takes for a list of so many: a header of 4, in pieces of 8. */
static int allocated(size_t bytes) { return (int)(bytes + 4 + 7) / 8 * 8; }

/* How many bytes lie between records, between lists, between values, and before the first. */
static void lay_out(void) {
    degree = (int)options[DEGREE].value;
    is_packed = (int)options[PACKED].value;
    int most = options[VARY].value ? 2 * degree - 1 : degree;
    from_bytes = allocated(most * sizeof(double *));
    weights_bytes = allocated(most * sizeof(double));
    int record = (int)sizeof(struct node), lists = from_bytes + weights_bytes;
    record_bytes = options[RECORD].value ? (int)options[RECORD].value / 8 * 8 : record;
    lists_bytes = options[LISTS].value ? (int)options[LISTS].value / 8 * 8 : lists;
    if (record_bytes < record || lists_bytes < lists) {
        trivium_fail(sentence("em3d: records of %d bytes and lists of %d are too small: a graph node with %d dependencies needs %d and %d: raise -b or -l",
               record_bytes, lists_bytes, most, record, lists));
    }
    stride = is_packed ? (int)sizeof(double) : record_bytes;
    shift = (int)options[SHIFT].value / 8 * 8;
}

/* Half of a processor's graph nodes, of which it has two kinds. */
static void count_nodes(void) {
    long long each = options[NODES].value, all = options[TOTAL].value;
    if (all) each = all / processors;
    if (each < KINDS) trivium_fail(sentence("em3d: every processor needs two graph nodes at least: make -t %d or more, or -n 2", KINDS * processors));
    if (all % (KINDS * processors)) {
        trivium_fail(sentence("em3d: %lld graph nodes are not as many E as H on each of %d processors: make -t a multiple of %d", all, processors, KINDS * processors));
    }
    if (each % KINDS) trivium_fail(sentence("em3d: %lld graph nodes of a processor are not as many E as H: make -n even", each));
    half = (int)(each / KINDS);
}

/* A processor has lists, and records beside packed values; and processor 0 once more of all, if it checks the answer. */
static void check_memory(void) {
    long long own = (long long)KINDS * half * (lists_bytes + (is_packed ? record_bytes : 0));
    long long checked = options[CHECK].value ? (long long)KINDS * half * processors * (lists_bytes + record_bytes + (is_packed ? stride : 0)) : 0;
    if (own > PRIVATE_BYTES) {
        trivium_fail(sentence("em3d: a processor's graph takes %lld bytes of private memory, which has %lld: fewer graph nodes (-t, -n) or dependencies (-d), or more processors", own, PRIVATE_BYTES));
    }
    if (own + checked > PRIVATE_BYTES) {
        trivium_fail(sentence("em3d: to check the answer processor 0 takes %lld bytes of private memory, which has %lld: leave that out (-c 0), or take a smaller graph (-t, -n, -d)",
               own + checked, PRIVATE_BYTES));
    }
}

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
    return options[VARY].value ? 1 + (int)random_below(random, 2 * degree - 1) : degree;
}

static void *allocate(size_t bytes) {
    void *room = malloc(bytes);
    if (!room) trivium_fail("em3d: no private memory is left: fewer graph nodes (-t, -n) or dependencies (-d), or leave the check out (-c 0)");
    return room;
}

/* Where the lists of a node lie: one after the other, or by kind, with what pads them behind its weights. */
static void place_lists(struct node *node, char *lists, int i) {
    if (options[APART].value) {
        node->from = (const double **)(lists + (size_t)i * from_bytes);
        node->weights = (double *)(lists + (size_t)half * from_bytes + (size_t)i * (lists_bytes - from_bytes));
    } else {
        node->from = (const double **)(lists + (size_t)i * lists_bytes);
        node->weights = (double *)(lists + (size_t)i * lists_bytes + from_bytes);
    }
}

/* The nodes of `self` of one kind, which depend on `others`, the values of the other kind by
 * processor; `values` are their own. It is the same graph whoever builds it. */
static struct part build(int kind, int self, values_t values, values_t *others) {
    struct part part = {.records = is_packed ? allocate((size_t)half * record_bytes) : values};
    uint64_t random = (uint64_t)options[SEED].value << 32 | (uint64_t)(self * KINDS + kind);
    part.lists = allocate((size_t)half * lists_bytes);
    for (int i = 0; i < half; i++) {
        struct node *to = node(&part, i);
        if (is_packed) to->packed = value(values, i);
        place_lists(to, part.lists, i);
        to->count = choose_degree(&random);
        to->next = i + 1 < half ? node(&part, i + 1) : 0;
        for (int e = 0; e < to->count; e++) {
            int remote = processors > 1 && random_below(&random, 100) < options[REMOTE].value;
            int processor = remote ? choose_processor(&random, self) : self;
            int other = (int)random_below(&random, half);
            to->from[e] = value(others[processor], other);
            /* Small, so that values stay of moderate size. */
            to->weights[e] = random_unit(&random) / (double)degree;
        }
    }
    return part;
}

static void forget(struct part part) {
    if (is_packed) free(part.records);
    free(part.lists);
}

static void initialise(int kind, int self, values_t values) {
    for (int i = 0; i < half; i++) *value(values, i) = 1.0 + kind + 0.25 * ((self + i) % 8);
}

static void compute(const struct part *part) {
    for (int i = 0; i < half; i++) {
        struct node *n = node(part, i);
        double *value = is_packed ? n->packed : &n->value;
        double sum = *value;
        for (int e = 0; e < n->count; e++) sum -= *n->from[e] * n->weights[e];
        *value = sum;
    }
}

/* The values of one kind and processor, which `owner` is to be home of. */
static values_t allocate_values(int owner) {
    uint64_t bytes = (uint64_t)half * stride + shift;
    if (!options[TOUCH].value) return trivium_alloc_on_under(VALUES_UNDER, owner, bytes);
    return trivium_alloc_first_touch_under(VALUES_UNDER, bytes);
}

/* Under the protocol of em3d-update.c only a value's home may write it. */
static void check_homes(void) {
    int writes_elsewhere = options[ZERO].value && options[TOUCH].value != 2;
    if (VALUES_UNDER && processors > 1 && writes_elsewhere) {
        trivium_fail("em3d: with -z 1 processor 0 writes all values, and under this protocol only a value's home may: "
                     "add -f 2, by which values are at home on processor 0 until the parallel phase starts");
    }
}

/* The parallel phase starts. Values move to whoever touches them next: their owner, before anybody else does. */
static void start(int self, values_t *values[KINDS]) {
    trivium_parallel_start();
    for (int kind = 0; kind < KINDS; kind++) {
        for (int i = 0; i < half; i++) *(volatile double *)value(values[kind][self], i);
    }
    trivium_barrier();
}

/* What the graph takes in all: its records, its lists and its packed values. */
static void tell(void) {
    long long nodes = (long long)half * KINDS * processors;
    long long records = nodes * record_bytes, lists = nodes * lists_bytes, values = is_packed ? nodes * stride : 0;
    printf("em3d: data set of %lld bytes: records %lld, lists %lld, values beside them %lld\n",
           records + lists + values, records, lists, values);
}

/* Computes everything again in private memory, on this processor alone, and compares. */
static void check(values_t *shared[KINDS]) {
    values_t *alone[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        alone[kind] = malloc(sizeof(values_t) * processors);
        for (int p = 0; p < processors; p++) {
            alone[kind][p] = allocate((size_t)half * stride);
            initialise(kind, p, alone[kind][p]);
        }
    }
    struct part *parts[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        parts[kind] = malloc(sizeof(struct part) * processors);
        for (int p = 0; p < processors; p++) {
            parts[kind][p] = build(kind, p, alone[kind][p], alone[1 - kind]);
        }
    }
    for (int i = 0; i < options[ITERATIONS].value; i++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int p = 0; p < processors; p++) compute(&parts[kind][p]);
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
    count_nodes();
    lay_out();
    check_memory();
    check_homes();

    values_t *values[KINDS];
    for (int kind = 0; kind < KINDS; kind++) values[kind] = allocate(sizeof(values_t) * processors);
    for (int i = 0; i < KINDS * processors; i++) {
        int at = options[REVERSE].value ? KINDS * processors - 1 - i : i;
        int kind = at / processors, p = at % processors;
        values[kind][p] = allocate_values(p) + shift;
        stache_watch(kind == E ? "E values" : "H values", values[kind][p], (uint64_t)half * stride, is_packed ? 0 : record_bytes);
        if (self == (options[ZERO].value ? 0 : p)) initialise(kind, p, values[kind][p]);
    }
    /* A record that another processor writes a value into is not written at the same time. */
    if (options[ZERO].value) trivium_barrier();
    if (options[TOUCH].value == 2) start(self, values);
    struct part e = build(E, self, values[E][self], values[H]);
    struct part h = build(H, self, values[H][self], values[E]);
    trivium_barrier();
    join_values();

    /* The first iteration brings the data to where they are used: it is not counted. */
    for (int i = 0; i < options[ITERATIONS].value; i++) {
        if (i == (options[ITERATIONS].value > 1)) stache_forget();
        if (i == (options[ITERATIONS].value > 1)) trivium_begin();
        compute(&e);
        end_phase();
        compute(&h);
        end_phase();
    }
    trivium_end();
    stache_report(REPORT_LINES);

    /* Now node 0 reads what it never did: under the default protocol. */
    for (int kind = 0; kind < KINDS && VALUES_UNDER; kind++) {
        for (int p = 0; p < processors; p++) trivium_bind(values[kind][p] - shift, 0);
    }
    if (self == 0 && options[CHECK].value) check(values);
    if (self == 0 && options[TELL].value) tell();
    return 0;
}
