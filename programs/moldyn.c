/* moldyn.c: molecules that attract and repel each other, step by step (Tempest 1998; our specification 6.5).
 *
 * Molecules of argon in a periodic box, Lennard-Jones forces up to a cut-off. Every few iterations each node lists the pairs that may come within the cut-off before
 * the next list, among its molecules and the half of all that follow them, around the end: so each pair is listed once, and nodes have equally many. In an
 * iteration a node adds the forces of its pairs up in private memory, nodes merge what they have, section by section, and each moves its own molecules.
 *
 * Numbers are in units of the length and the mass for which a force is r^-14 - r^-8 / 2 times the distance: one of a molecule's mass is 48 of energy's.
 * The first iteration is not measured. On one node there is nothing to merge, and forces go to their place at once: the program that speedups are held against.
 *
 * It checks itself: the pairs of the first list against those of one molecule (all have equally many on a face-centred cubic lattice), merged forces against a sum over all
 * other molecules, before the first step and after the last, how far molecules have moved while a list is used, momentum and energy; and node 0 does all iterations again
 * alone, which brings all molecules to the same places to the last bit. The answer is the same to the last bit under every sequentially consistent
 * protocol at a given number of nodes, and with the forces merged through channels (moldyn-channels.c).
 */
#include <math.h>
#include <string.h>

#include "options.h"
#include "random.h"
#include "stache-report.h"

enum { SIDE, ITERATIONS, EVERY, CHECK, SEED, MERGE, OPTIONS };

/* How forces are merged. */
enum { IN_STAGES, WITHOUT_ZEROS, BY_FLAGS, BY_OWNERS };

static struct option options[OPTIONS] = {
    [SIDE] = {'b', 3, 2, 20, "cells of the lattice at a side of the box, of 4 molecules each (13: as published)"},
    [ITERATIONS] = {'i', 6, 1, 1000000, "iterations"},
    [EVERY] = {'e', 4, 1, 1000000, "iterations with one list of pairs (20: as published)"},
    [CHECK] = {'c', 1, 0, 1, "0: forces and energy are not checked"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the velocities"},
    [MERGE] = {'m', IN_STAGES, IN_STAGES, BY_OWNERS, "forces are merged: 0 in stages; 1 in stages, without zeros; 2 in stages, with flags and no barriers; 3 by those whose molecules they act on"},
};

static const double DENSITY = 0.83134, TEMPERATURE = 0.722, STEP = 0.016;

/* How far two molecules act on each other, and so far that a pair is listed: in small boxes each less, so that a pair acts once. */
static double cut_off = 3.5, listed = 4.2;

static int self, nodes, molecules;
static double box;
static double *positions;  /* three numbers of each molecule; each node writes those of its own */
static double *velocities; /* of this node's molecules; half a step before their positions */
static double *mine;       /* what this node's pairs add to all forces */
static double *listed_at;  /* where this node's molecules were when the list was made */
static int (*pairs)[2], pair_count, pair_room;

/* The first molecule of a node; molecules of a node follow each other. */
static int first_of(int node) {
    return (int)((int64_t)molecules * node / nodes);
}

static int most_of_a_node(void) {
    int most = 0;
    for (int p = 0; p < nodes; p++) most = first_of(p + 1) - first_of(p) > most ? first_of(p + 1) - first_of(p) : most;
    return most;
}

/* How nodes merge: before the first time; and once in an iteration, collective. Gives the forces on this node's molecules. */
static void open_merge(void);
static const double *merge(void);

/* -DFORCE=float: forces are merged in half as many bytes, to another answer. */
#ifndef FORCE
#define FORCE double
#endif

#ifndef OTHER_MERGE
static FORCE *forces;   /* of all molecules, shared */
static double *merged;  /* of this node's */

/* The section that this node adds to in a stage is that of the node so many before it. So each section gets what its own node has first, then what the next ones have: every
 * way to merge adds in this order, to the same bits. */
static void add_in_stage(int stage, int zeros) {
    int section = (self - stage + nodes) % nodes;
    for (int k = 3 * first_of(section); k < 3 * first_of(section + 1); k++) {
        if (stage == 0) forces[k] = (FORCE)mine[k];
        else if (zeros || mine[k] != 0) forces[k] += (FORCE)mine[k];
    }
}

static void merge_in_stages(int zeros) {
    trivium_barrier();
    for (int stage = 0; stage < nodes; stage++) {
        add_in_stage(stage, zeros);
        trivium_barrier();
    }
}

/* Stages that each node has done since the beginning. */
static volatile int64_t **done;

/* The node before this one was the last to add to a section. */
static void wait_for_previous(int64_t stages) {
    volatile int64_t *of = done[(self + nodes - 1) % nodes];
    for (int64_t now = *of; now < stages;) now = trivium_wait_until_changed64(of, now);
}

static void merge_by_flags(void) {
    int64_t before = *done[self];
    for (int stage = 0; stage < nodes; stage++) {
        if (stage > 0) wait_for_previous(before + stage);
        add_in_stage(stage, 1);
        *done[self] = before + stage + 1;
    }
    wait_for_previous(before + nodes);
}

/* What each node adds to all sections, where all see it; and whether it adds anything to a section. */
static FORCE **given;
static int32_t **gives;

static void give(int section) {
    int any = 0;
    for (int k = 3 * first_of(section); k < 3 * first_of(section + 1); k++) any |= mine[k] != 0;
    gives[self][section] = any;
    for (int k = 3 * first_of(section); any && k < 3 * first_of(section + 1); k++) given[self][k] = (FORCE)mine[k];
}

static void merge_by_owners(void) {
    for (int section = 0; section < nodes; section++) {
        if (section != self) give(section);
    }
    trivium_barrier();
    for (int k = 3 * first_of(self); k < 3 * first_of(self + 1); k++) forces[k] = (FORCE)mine[k];
    for (int stage = 1; stage < nodes; stage++) {
        int from = (self + stage) % nodes;
        for (int k = 3 * first_of(self); gives[from][self] && k < 3 * first_of(self + 1); k++) forces[k] += given[from][k];
    }
}

static void open_merge(void) {
    forces = trivium_alloc_first_touch(3 * sizeof *forces * (uint64_t)molecules);
    trivium_name(forces, "forces");
    stache_watch("forces", forces, 3 * sizeof *forces * (uint64_t)molecules, 0);
    merged = malloc(3 * sizeof *merged * most_of_a_node());
    done = malloc(sizeof *done * nodes), given = malloc(sizeof *given * nodes), gives = malloc(sizeof *gives * nodes);
    if (!merged || !done || !given || !gives) trivium_fail("moldyn: no memory");
    for (int p = 0; options[MERGE].value == BY_FLAGS && p < nodes; p++) done[p] = trivium_alloc_on(p, sizeof **done);
    for (int p = 0; options[MERGE].value == BY_OWNERS && p < nodes; p++) {
        given[p] = trivium_alloc_on(p, 3 * sizeof **given * (uint64_t)molecules);
        gives[p] = trivium_alloc_on(p, sizeof **gives * (uint64_t)nodes);
    }
}

static const double *merge(void) {
    if (nodes == 1) return mine;
    switch (options[MERGE].value) {
    case BY_FLAGS: merge_by_flags(); break;
    case BY_OWNERS: merge_by_owners(); break;
    default: merge_in_stages(options[MERGE].value == IN_STAGES);
    }
    int first = 3 * first_of(self), end = 3 * first_of(self + 1);
    for (int k = first; k < end; k++) merged[k - first] = forces[k];
    return merged;
}
#endif

/* The shortest way from one coordinate to another, around the box. */
static inline double around(double way) {
    if (way > box / 2) return way - box;
    return way < -box / 2 ? way + box : way;
}

/* Between two molecules: the way from the second, and its square. */
static inline double apart(const double *a, const double *b, double *way) {
    for (int d = 0; d < 3; d++) way[d] = around(a[d] - b[d]);
    return way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
}

/* A force, divided by the distance, at the square of a distance; and the energy of a pair there, which is none at the cut-off. */
static inline double pull(double square) {
    double s = 1 / square, s2 = s * s, s4 = s2 * s2;
    return s4 * s2 * s - 0.5 * s4;
}

static double energy_at(double square) {
    double s = 1 / square, s3 = s * s * s;
    return 4 * (s3 * s3 - s3);
}

/* The molecules of this node on their lattice, with velocities of the temperature, the sum of all zero. */
static void initialise(void) {
    static const double corners[4][3] = {{.25, .25, .25}, {.75, .75, .25}, {.75, .25, .75}, {.25, .75, .75}};
    int side = (int)options[SIDE].value, first = first_of(self), end = first_of(self + 1);
    double cell = box / side, sum[3] = {0}, squares = 0, *all = malloc(3 * sizeof *all * molecules);
    for (int n = 0; n < molecules; n++) {
        uint64_t random = (uint64_t)options[SEED].value << 32 | (uint64_t)n;
        for (int d = 0; d < 3; d++) {
            double of_four = 0;
            for (int i = 0; i < 4; i++) of_four += random_unit(&random) - 0.5;
            sum[d] += all[3 * n + d] = of_four;
        }
    }
    for (int k = 0; k < 3 * molecules; k++) {
        all[k] -= sum[k % 3] / molecules;
        squares += all[k] * all[k];
    }
    double scale = sqrt(TEMPERATURE / 48 * 3 * molecules / squares);
    for (int n = first; n < end; n++) {
        const int at[3] = {n / 4 % side, n / 4 / side % side, n / 4 / side / side};
        for (int d = 0; d < 3; d++) {
            positions[3 * n + d] = (at[d] + corners[n % 4][d]) * cell;
            velocities[3 * (n - first) + d] = scale * all[3 * n + d];
        }
    }
    free(all);
}

static void list_pair(int i, int j) {
    if (pair_count == pair_room) {
        pair_room = pair_room ? 2 * pair_room : 1024;
        pairs = realloc(pairs, sizeof *pairs * pair_room);
        if (!pairs) trivium_fail("moldyn: no memory for the list of pairs");
    }
    pairs[pair_count][0] = i;
    pairs[pair_count++][1] = j;
}

/* Lists the pairs of this node's molecules with the half of all that follow them. */
static void make_list(void) {
    int first = first_of(self), end = first_of(self + 1);
    double way[3];
    pair_count = 0;
    for (int i = first; i < end; i++) {
        /* Of two that are opposite to each other the first has the pair. */
        int half = molecules % 2 || i < molecules / 2 ? molecules / 2 : molecules / 2 - 1;
        for (int k = 1; k <= half; k++) {
            int j = i + k < molecules ? i + k : i + k - molecules;
            if (apart(positions + 3 * i, positions + 3 * j, way) < listed * listed) list_pair(i, j);
        }
    }
    memcpy(listed_at, positions + 3 * first, 3 * sizeof *listed_at * (end - first));
}

/* What this node's pairs add to all forces. */
__attribute__((always_inline)) static inline void add_pairs(void) {
    double way[3];
    memset(mine, 0, 3 * sizeof *mine * molecules);
    for (int k = 0; k < pair_count; k++) {
        double *on = mine + 3 * pairs[k][0], *from = mine + 3 * pairs[k][1];
        double square = apart(positions + 3 * pairs[k][0], positions + 3 * pairs[k][1], way);
        if (square >= cut_off * cut_off) continue;
        double of = pull(square);
        for (int d = 0; d < 3; d++) {
            on[d] += way[d] * of;
            from[d] -= way[d] * of;
        }
    }
}

/* The forces on this node's molecules. */
static const double *act(void) {
    add_pairs();
    return merge();
}

/* Moves this node's molecules a step. */
static void move(const double *force) {
    int first = first_of(self), count = 3 * (first_of(self + 1) - first);
    for (int k = 0; k < count; k++) {
        velocities[k] += STEP * force[k];
        double to = positions[3 * first + k] + STEP * velocities[k];
        positions[3 * first + k] = to < 0 ? to + box : to >= box ? to - box : to;
    }
}

/* ---- What is checked --------------------------------------------------------------------------- */

/* What all nodes have, added up in their order. Collective. */
static double *sums;
static double sum_of_all(double value) {
    trivium_barrier();
    sums[self] = value;
    trivium_barrier();
    double sum = 0;
    for (int p = 0; p < nodes; p++) sum += sums[p];
    return sum;
}

/* The pairs of the lattice within a distance, if all molecules have as many as the first. */
static int64_t pairs_of_lattice(double within) {
    int64_t of_first = 0;
    double way[3];
    for (int j = 1; j < molecules; j++) of_first += apart(positions, positions + 3 * j, way) < within * within;
    return molecules * of_first / 2;
}

static void check_pairs(void) {
    int64_t inside = 0;
    double way[3];
    for (int k = 0; k < pair_count; k++) inside += apart(positions + 3 * pairs[k][0], positions + 3 * pairs[k][1], way) < cut_off * cut_off;
    double all = sum_of_all(pair_count), near = sum_of_all((double)inside);
    if (self == 0) printf("moldyn: %.0f pairs are listed, %.0f act\n", all, near);
    if (all != (double)pairs_of_lattice(listed) || near != (double)pairs_of_lattice(cut_off)) trivium_fail("moldyn: the list lacks pairs, or has some twice");
}

/* A molecule that was not listed with another is not within the cut-off yet. */
static void check_list(void) {
    int first = first_of(self), end = first_of(self + 1);
    double way[3], most = (listed - cut_off) / 2;
    for (int i = first; i < end; i++) {
        if (!(apart(positions + 3 * i, listed_at + 3 * (i - first), way) <= most * most)) trivium_fail("moldyn: a molecule moves too far with one list of pairs: make it more often (-e)");
    }
}

/* Holds the forces against a sum over all other molecules, and gives the energy of all molecules. Collective. */
static double checked_energy(const double *force) {
    int first = first_of(self), end = first_of(self + 1);
    double way[3], wrong = 0, greatest = 0, energy = 0;
    for (int i = first; i < end; i++) {
        double sum[3] = {0};
        for (int j = 0; j < molecules; j++) {
            double square = j == i ? box * box : apart(positions + 3 * i, positions + 3 * j, way);
            if (square >= cut_off * cut_off) continue;
            for (int d = 0; d < 3; d++) sum[d] += way[d] * pull(square);
            energy += (energy_at(square) - energy_at(cut_off * cut_off)) / 2;
        }
        for (int d = 0; d < 3; d++) {
            int k = 3 * (i - first) + d;
            double now = velocities[k] + STEP / 2 * force[k];
            energy += 24 * now * now;
            /* What is no number is wrong, too. */
            if (!(fabs(force[k] - sum[d]) <= wrong)) wrong = fabs(force[k] - sum[d]);
            if (!(fabs(sum[d]) <= greatest)) greatest = fabs(sum[d]);
        }
    }
    /* On the lattice forces are zero but for rounding. */
    if (!(wrong <= (sizeof(FORCE) == sizeof(double) ? 1e-10 : 1e-5) * (1 + greatest))) trivium_fail("moldyn: a force is not the sum of what other molecules do");
    return sum_of_all(energy);
}

static void check_momentum(void) {
    for (int d = 0; d < 3; d++) {
        double sum = 0;
        for (int k = d; k < 3 * (first_of(self + 1) - first_of(self)); k += 3) sum += velocities[k];
        if (!(fabs(sum_of_all(sum)) <= 1e-9 * molecules)) trivium_fail("moldyn: momentum has come from nowhere");
    }
}

/* What a node has, for the one that does everything again. */
struct part {
    int (*pairs)[2], count, room;
    double *adds; /* to all forces */
};

/* From now on this node is another one. */
static void be(int node, const struct part *part, double *all_velocities) {
    self = node;
    velocities = all_velocities + 3 * first_of(node);
    pairs = part->pairs, pair_count = part->count, pair_room = part->room;
    mine = part->adds;
}

/* The force on one coordinate: what its own node adds, and then the next ones. */
static double merged_again(const struct part *parts, int owner, int k) {
    if (nodes == 1) return parts[0].adds[k];
    FORCE sum = (FORCE)parts[owner].adds[k];
    for (int stage = 1; stage < nodes; stage++) sum += (FORCE)parts[(owner + stage) % nodes].adds[k];
    return sum;
}

/* An iteration of all nodes. */
static void iterate_again(struct part *parts, double *all_velocities, double *force, int lists) {
    for (int p = 0; p < nodes; p++) {
        be(p, &parts[p], all_velocities);
        if (lists) make_list();
        add_pairs();
        parts[p] = (struct part){pairs, pair_count, pair_room, mine};
    }
    for (int p = 0; p < nodes; p++) {
        be(p, &parts[p], all_velocities);
        int first = 3 * first_of(p);
        for (int k = first; k < 3 * first_of(p + 1); k++) force[k] = merged_again(parts, p, k);
        move(force + first);
    }
}

/* All iterations by this node alone, the last thing that it does but for telling: molecules come to the same places. */
static void check_iterations(void) {
    const double *are = positions;
    size_t bytes = sizeof(double) * 3 * (size_t)molecules;
    double *all_velocities = malloc(bytes), *force = malloc(bytes);
    struct part *parts = calloc((size_t)nodes, sizeof *parts);
    positions = malloc(bytes);
    if (!positions || !all_velocities || !force || !parts) trivium_fail("moldyn: no memory to do everything again: leave the check out (-c 0)");
    for (int p = 0; p < nodes; p++) {
        parts[p].adds = malloc(bytes);
        if (!parts[p].adds) trivium_fail("moldyn: no memory to do everything again: leave the check out (-c 0)");
        be(p, &parts[p], all_velocities);
        initialise();
    }
    for (int64_t iteration = 0; iteration < options[ITERATIONS].value; iteration++) {
        iterate_again(parts, all_velocities, force, iteration % options[EVERY].value == 0);
    }
    for (int n = 0; n < molecules; n++) {
        if (!memcmp(are + 3 * n, positions + 3 * n, 3 * sizeof *are)) continue;
        trivium_fail(sentence("moldyn: molecule %d is not where one node alone brings it: a force was wrong in some iteration", n));
    }
}

/* All velocities' bits, in the order of the nodes. */
static void print_digest(void) {
    uint64_t digest = 0;
    for (int k = 0; k < 3 * (first_of(self + 1) - first_of(self)); k++) {
        uint64_t bits;
        memcpy(&bits, &velocities[k], sizeof bits);
        digest = digest * 1000003u + bits;
    }
    uint64_t *digests = (uint64_t *)sums;
    trivium_barrier();
    digests[self] = digest;
    trivium_barrier();
    if (self != 0) return;
    for (int p = 1; p < nodes; p++) digest = digest * 1000003u + digests[p];
    printf("moldyn: ok, %d molecules, digest %016llx\n", molecules, (unsigned long long)digest);
}

/* ---- The program ------------------------------------------------------------------------------- */

static void allocate(void) {
    uint64_t all = 3 * sizeof(double) * (uint64_t)molecules, own = 3 * sizeof(double) * (uint64_t)most_of_a_node();
    positions = trivium_alloc_first_touch(all);
    sums = trivium_alloc_on(0, sizeof *sums * (uint64_t)nodes);
    trivium_name(positions, "positions");
    stache_watch("positions", positions, all, 0);
    velocities = calloc(1, own), listed_at = malloc(own), mine = malloc(all);
    if (!velocities || !listed_at || !mine) trivium_fail("moldyn: no memory");
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    self = trivium_node(), nodes = trivium_nodes();
    int side = (int)options[SIDE].value;
    molecules = 4 * side * side * side;
    if (molecules < nodes) trivium_fail(sentence("moldyn: a node has no molecule, for there are %d molecules and %d nodes: more cells (-b), or fewer nodes", molecules, nodes));
    box = cbrt(molecules / DENSITY);
    /* No pair of the lattice is as far apart as these: rounding would decide about it. */
    if (listed > box / 2) listed = 0.49 * box, cut_off = listed / 1.2;
    allocate();
    open_merge();
    initialise();
    trivium_barrier();

    double before = 0, after = 0;
    int lists = 0;
    for (int64_t iteration = 0; iteration < options[ITERATIONS].value; iteration++) {
        if (iteration == 1) stache_forget();
        if (iteration == 1) trivium_begin();
        if (iteration % options[EVERY].value == 0) {
            if (iteration > 0) check_list();
            lists++;
            make_list();
        }
        if (iteration == 0) check_pairs();
        const double *force = act();
        if (iteration == 0 && options[CHECK].value) before = checked_energy(force);
        move(force);
        trivium_barrier();
    }
    trivium_end();
    stache_report(REPORT_LINES);
    check_list();
    check_momentum();
    if (options[CHECK].value) {
        after = checked_energy(act());
        /* This integrator keeps it so far with these steps: a third of that was measured in small boxes, a tenth with the published cut-off. */
        double most = cut_off < 3.5 ? 0.002 : 0.0001;
        if (!(fabs(after - before) <= most * molecules)) trivium_fail("moldyn: energy has come from nowhere");
        if (self == 0) printf("moldyn: energy of a molecule %.6f, then %.6f\n", before / molecules, after / molecules);
    }
    if (self == 0) printf("moldyn: lists made again: %d\n", lists - 1);
    print_digest();
    if (self == 0 && options[CHECK].value) check_iterations();
    return 0;
}
