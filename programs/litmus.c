/* litmus.c: small races whose outcomes tell memory models apart.
 *
 * Each test runs many rounds on fresh words, which every node has read before, and with delays
 * that vary. The count of every outcome is printed. An outcome that sequential consistency
 * forbids ends the program with a failure.
 *
 *   mp         message passing: x = 1; y = 1     | r0 = y; r1 = x
 *   sb         store buffering: x = 1; r0 = y    | y = 1; r1 = x
 *   corr       coherence:       x = 1; x = 2     | r0 = x; r1 = x
 *   iriw       independent reads of independent writes, 4 nodes:
 *              x = 1 | y = 1 | r0 = x; r1 = y | r2 = y; r3 = x
 *   coherence  two writes of one word seen in one order, 4 nodes:
 *              x = 1 | x = 2 | r0 = x; r1 = x | r2 = x; r3 = x
 */
#include "options.h"
#include "random.h"

enum { ROUNDS, DELAY, STRIDE, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 100, 1, 100000, "rounds of each test"},
    [DELAY] = {'d', 1000, 0, 1000000, "longest delay, in turns of an empty loop"},
    [STRIDE] = {'b', 64, 8, 65536, "bytes from one round's words to the next's"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the delays"},
};

typedef volatile int64_t word_t;

/* The words of one round, and the registers that the nodes report. */
struct round {
    word_t *x, *y, *registers;
};

enum { REGISTERS = 4 };

struct test {
    const char *name;
    int nodes;                            /* how many take part */
    void (*run)(struct round, int self);  /* one node's part */
    int (*forbidden)(const int64_t *r);   /* whether an outcome is */
};

static void mp(struct round w, int self) {
    if (self == 0) {
        *w.x = 1;
        *w.y = 1;
    } else {
        w.registers[0] = *w.y;
        w.registers[1] = *w.x;
    }
}
static int mp_forbidden(const int64_t *r) { return r[0] == 1 && r[1] == 0; }

static void sb(struct round w, int self) {
    word_t *mine = self == 0 ? w.x : w.y, *other = self == 0 ? w.y : w.x;
    *mine = 1;
    w.registers[self] = *other;
}
static int sb_forbidden(const int64_t *r) { return r[0] == 0 && r[1] == 0; }

/* The registers of a reader are written once both reads are done: a write between them would
 * give another node's write the time to arrive. */
static void read_twice(word_t *first, word_t *second, word_t *registers) {
    int64_t a = *first, b = *second;
    registers[0] = a;
    registers[1] = b;
}

static void corr(struct round w, int self) {
    if (self == 0) {
        *w.x = 1;
        *w.x = 2;
    } else {
        read_twice(w.x, w.x, w.registers);
    }
}
static int corr_forbidden(const int64_t *r) { return r[1] < r[0]; }

static void iriw(struct round w, int self) {
    if (self == 0) *w.x = 1;
    if (self == 1) *w.y = 1;
    if (self == 2) read_twice(w.x, w.y, w.registers);
    if (self == 3) read_twice(w.y, w.x, w.registers + 2);
}
static int iriw_forbidden(const int64_t *r) {
    return r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0;
}

static void coherence(struct round w, int self) {
    if (self < 2) *w.x = self + 1;
    if (self >= 2) read_twice(w.x, w.x, w.registers + (self == 3 ? 2 : 0));
}
static int coherence_forbidden(const int64_t *r) {
    int back = (r[0] != 0 && r[1] == 0) || (r[2] != 0 && r[3] == 0);
    int opposite = r[0] != 0 && r[1] != 0 && r[0] != r[1] && r[2] == r[1] && r[3] == r[0];
    return back || opposite;
}

static const struct test tests[] = {
    {"mp", 2, mp, mp_forbidden},
    {"sb", 2, sb, sb_forbidden},
    {"corr", 2, corr, corr_forbidden},
    {"iriw", 4, iriw, iriw_forbidden},
    {"coherence", 4, coherence, coherence_forbidden},
};

static void delay(uint64_t *random) {
    for (volatile int64_t left = random_below(random, options[DELAY].value + 1); left > 0;) {
        left = left - 1;
    }
}

/* Prints how often each outcome happened, and how many were forbidden. */
static int64_t tally(const struct test *test, word_t *registers, int64_t rounds, int words) {
    enum { VALUES = 3, OUTCOMES = VALUES * VALUES * VALUES * VALUES };
    int64_t counts[OUTCOMES] = {0}, forbidden = 0;
    for (int64_t round = 0; round < rounds; round++) {
        int64_t r[REGISTERS], outcome = 0;
        for (int i = 0; i < REGISTERS; i++) {
            r[i] = registers[round * words + i];
            if (r[i] < 0 || r[i] >= VALUES) trivium_fail("litmus: a value out of thin air");
            outcome = outcome * VALUES + r[i];
        }
        counts[outcome]++;
        forbidden += test->forbidden(r);
    }
    printf("litmus: %s:", test->name);
    for (int outcome = 0; outcome < OUTCOMES; outcome++) {
        if (counts[outcome] == 0) continue;
        printf(" %d%d%d%d x %lld", outcome / 27, outcome / 9 % 3, outcome / 3 % 3, outcome % 3,
               (long long)counts[outcome]);
    }
    printf("%s\n", forbidden ? ", of which FORBIDDEN" : ", ok");
    return forbidden;
}

/* Runs all rounds of a test; how many outcomes were forbidden, on node 0. */
static int64_t run(const struct test *test, int self) {
    int64_t rounds = options[ROUNDS].value;
    int words = (int)options[STRIDE].value / 8;
    if (words < REGISTERS) words = REGISTERS;
    uint64_t bytes = (uint64_t)rounds * words * sizeof(int64_t);
    int nodes = trivium_nodes();
    /* Homes that differ from each other and, where there are enough nodes, from the writers. */
    word_t *x = trivium_alloc_on((nodes - 1) % nodes, bytes);
    word_t *y = trivium_alloc_on((nodes > 1 ? nodes - 2 : 0), bytes);
    word_t *registers = trivium_alloc_on(0, bytes);
    uint64_t random = (uint64_t)options[SEED].value * 1000003u + (uint64_t)self;
    for (int64_t i = 0; i < rounds; i++) {
        struct round round = {x + i * words, y + i * words, registers + i * words};
        /* A copy of the old values everywhere, for a wrong protocol to be caught with. */
        if (*round.x != 0 || *round.y != 0) trivium_fail("litmus: new memory is not zero");
        trivium_barrier();
        delay(&random);
        if (self < test->nodes) test->run(round, self);
        trivium_barrier();
    }
    return self == 0 ? tally(test, registers, rounds, words) : 0;
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node();
    int64_t forbidden = 0;
    for (unsigned t = 0; t < sizeof tests / sizeof *tests; t++) {
        if (trivium_nodes() >= tests[t].nodes) {
            forbidden += run(&tests[t], self);
        } else if (self == 0) {
            printf("litmus: %s: skipped, it needs %d nodes\n", tests[t].name, tests[t].nodes);
        }
    }
    if (forbidden > 0) trivium_fail("litmus: not sequentially consistent");
    return 0;
}
