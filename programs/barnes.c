/* barnes.c: bodies that attract each other, by a tree (Barnes and Hut 1986; Tempest 1998, our specification 6.2).
 *
 * A cell is a cube with eight slots, one for each octant. A slot is empty, has one body, or has a cell of half the side. In an iteration nodes insert their bodies in the
 * tree, all at once, with a lock for each cell; each adds up mass and centre of the cells that it made; each takes the bodies of a zone of the tree that costs as much as the
 * others, as the last iteration counted; each computes the forces on its bodies, for which a cell that is far away is one body; and moves them (leapfrog).
 *
 * Which bodies share a cell is said by their places alone, whoever comes first, and all sums are made in the order of octants. So the answer is the same to the last bit
 * under every protocol that is sequentially consistent, at every number of nodes, and with bodies in three parts under three protocols (barnes-update.c).
 *
 * The first iteration is not measured. On one node there are no locks, costs or zones: the program that speedups are held against.
 *
 * It checks itself after the measured part, with forces computed once more (include/barnes-check.h): each body is in the tree once, where it belongs; cells have the
 * mass of their bodies, and the root that of all; forces on 64 bodies against what all others do; energy against that of the first iteration.
 */
#include <math.h>
#include <string.h>

#include "options.h"
#include "plummer.h"

#include "stache-report.h"

enum { BODIES, ITERATIONS, THETA, ORDER, SERIAL, CHECK, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [BODIES] = {'n', 256, 2, 200000, "bodies (16384: as published)"},
    [ITERATIONS] = {'i', 4, 1, 1000000, "iterations (4: as published)"},
    [THETA] = {'t', 100, 30, 100, "a cell is opened if its side is so many hundredths of its distance, or more"},
    [ORDER] = {'o', 0, 0, 1, "in what order bodies lie in memory: 0: as the model makes them; 1: as they follow each other in the first tree"},
    [SERIAL] = {'f', 0, 0, 1, "1: node 0 makes all bodies, and their pages move once, when the parallel phase starts; 0: each node makes those that it has first"},
    [CHECK] = {'c', 1, 0, 1, "0: tree, forces and energy are not checked"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the bodies"},
};

static const double STEP = 0.025, SOFTENING = 0.05, FARTHEST = 1e9;

enum { OCTANTS = 8, LEVELS = 30, ROOT = 0, CELLS_OF_A_PAGE = 32 };

/* What is in a slot: 0: nothing; a cell, by its number (the root is in none); or a body, as here. */
#define BODY(number) (-1 - (number))

/* Forces look at the first 64 bytes alone. */
struct cell {
    double mass, centre[3];
    volatile int slots[OCTANTS];
    int costs[OCTANTS]; /* of all bodies in a slot */
    int cost;
    volatile int32_t is_summed;
    trivium_lock_t lock; /* of slots and costs */
    char unused[16];
};

/* What only the present owner of a body uses. */
struct motion {
    double velocity[3]; /* half a step before the position, but for the first iteration */
    double acceleration[3], potential;
    int64_t cost; /* interactions that its last force took */
};

/* The three parts of a body, wherever they lie; and how a phase ends in which positions have changed: with a barrier. */
static void allocate_bodies(void);
static double *mass_of(int body);
static double *position_of(int body);
static struct motion *motion_of(int body);
static void end_phase(void);

static int self, nodes, bodies;
static int *mine, mine_count; /* this node's bodies, in the order of the tree */
static struct cell *cells;
static int cell_room, cells_made; /* of each node; by this node, in this iteration: its cells follow each other */
static double half;               /* of the root's side, a power of two; the middle is at 0 */

#ifndef OTHER_BODIES
/* As many as a node may have. */
#define MOST_BODIES bodies

/* A body's bytes, with what fills up its blocks (for other layouts: --cc -DBODY_BYTES=104). */
#ifndef BODY_BYTES
#define BODY_BYTES 128
#endif

static union {
    struct {
        double mass, position[3];
        struct motion motion;
    };
    char bytes[BODY_BYTES];
} *all;

static void allocate_bodies(void) {
    all = trivium_alloc_first_touch(sizeof *all * (uint64_t)bodies);
    trivium_name(all, "bodies");
    stache_watch("bodies", all, sizeof *all * (uint64_t)bodies, sizeof *all);
}

static double *mass_of(int body) { return &all[body].mass; }
static double *position_of(int body) { return all[body].position; }
static struct motion *motion_of(int body) { return &all[body].motion; }
static void end_phase(void) { trivium_barrier(); }
#endif

/* ---- Bodies ------------------------------------------------------------------------------------- */

/* A place in the root, by its coordinates in 2^-30 of the root's side. */
struct place {
    uint32_t at[3];
};

static inline struct place place_of(const double *position) {
    const double scale = (1 << LEVELS) / (2 * half);
    struct place place;
    for (int d = 0; d < 3; d++) place.at[d] = (uint32_t)((position[d] + half) * scale);
    return place;
}

/* In which slot of a cell a place is, that many levels under the root. */
static inline int slot_of(struct place place, int level) {
    int shift = LEVELS - 1 - level;
    return (place.at[0] >> shift & 1) << 2 | (place.at[1] >> shift & 1) << 1 | (place.at[2] >> shift & 1);
}

/* Makes the root large enough for a coordinate. */
static void choose_root(double farthest) {
    half = 1;
    while (half <= farthest && half < FARTHEST) half *= 2;
}

static int order_in_tree(const void *a, const void *b) {
    struct place first = place_of(a), second = place_of(b);
    for (int level = 0; level < LEVELS; level++) {
        int difference = slot_of(first, level) - slot_of(second, level);
        if (difference) return difference;
    }
    return 0;
}

/* Makes bodies `first` to `end - 1`, of all, whose centre is at rest in the middle. */
static void initialise(int first, int end) {
    double (*made)[6] = malloc(sizeof *made * bodies), sum[6] = {0}, farthest = 0;
    if (!made) trivium_fail("barnes: no memory for the bodies");
    uint64_t random = (uint64_t)options[SEED].value;
    for (int b = 0; b < bodies; b++) {
        choose_body(&random, made[b], made[b] + 3);
        for (int k = 0; k < 6; k++) sum[k] += made[b][k];
    }
    for (int b = 0; b < bodies; b++) {
        for (int k = 0; k < 6; k++) made[b][k] -= sum[k] / bodies;
        for (int d = 0; d < 3; d++) farthest = fmax(farthest, fabs(made[b][d]));
    }
    choose_root(farthest);
    if (options[ORDER].value) qsort(made, bodies, sizeof *made, order_in_tree);
    for (int b = first; b < end; b++) {
        *mass_of(b) = 1.0 / bodies;
        memcpy(position_of(b), made[b], 3 * sizeof(double));
        memcpy(motion_of(b)->velocity, made[b] + 3, 3 * sizeof(double));
        motion_of(b)->cost = 1;
    }
    free(made);
}

/* ---- The tree ----------------------------------------------------------------------------------- */

__attribute__((noreturn, noinline)) static void no_room_for_cell(void) {
    trivium_fail(sentence("barnes: node %d has no room for another cell than the %d that it has made: use fewer nodes", self, cell_room));
}

static int new_cell(void) {
    if (cells_made == cell_room) no_room_for_cell();
    int number = self * cell_room + cells_made++;
    struct cell *cell = &cells[number];
    for (int s = 0; s < OCTANTS; s++) cell->slots[s] = 0;
    cell->is_summed = 0;
    return number;
}

static void put(struct cell *cell, int slot, int what, int cost) {
    if (nodes > 1) cell->costs[slot] = cost;
    cell->slots[slot] = what;
}

/* A new cell with two bodies, and as many cells as it takes to tell them apart. Nobody else sees them yet. */
static int part(int level, int first, int first_cost, int second, int second_cost) {
    struct place one = place_of(position_of(first)), other = place_of(position_of(second));
    int top = new_cell(), number = top;
    for (;; level++) {
        if (level == LEVELS) trivium_fail("barnes: two bodies are at the same place: take another seed (-g)");
        struct cell *cell = &cells[number];
        int slot = slot_of(one, level), slot_of_other = slot_of(other, level);
        if (slot != slot_of_other) {
            put(cell, slot, BODY(first), first_cost);
            put(cell, slot_of_other, BODY(second), second_cost);
            return top;
        }
        number = new_cell();
        put(cell, slot, number, 0);
    }
}

/* Puts a body in a slot that has no cell; of a cell on this level, and under its lock. */
static void fill(struct cell *cell, int level, int slot, int body, int cost) {
    int there = cell->slots[slot];
    if (there == 0) {
        put(cell, slot, BODY(body), cost);
        return;
    }
    int number = part(level + 1, BODY(there), cell->costs[slot], body, cost);
    __asm__ volatile("" ::: "memory"); /* whoever finds the cell finds it whole */
    cell->slots[slot] = number;
}

/* Goes down to the slot where a body belongs. Slots are looked at without a lock: one that has a cell keeps it. */
static void insert(int body) {
    struct place place = place_of(position_of(body));
    int number = ROOT, cost = nodes > 1 ? (int)motion_of(body)->cost : 0;
    for (int level = 0;; level++) {
        struct cell *cell = &cells[number];
        int slot = slot_of(place, level);
        if (cell->slots[slot] <= 0) {
            if (nodes > 1) trivium_lock(&cell->lock);
            int is_free = cell->slots[slot] <= 0;
            if (is_free) fill(cell, level, slot, body, cost);
            if (nodes > 1) trivium_unlock(&cell->lock);
            if (is_free) return;
        }
        number = cell->slots[slot];
    }
}

static const struct cell *summed(int number) {
    const struct cell *cell = &cells[number];
    while (nodes > 1 && !cell->is_summed) trivium_wait_until_changed(&cell->is_summed, 0);
    __asm__ volatile("" ::: "memory");
    return cell;
}

/* Adds up the cells that this node made, the last first. A cell was made after the one that it is in, so the last of all that are not summed yet waits for none, and it is
 * the next of the node that made it: somebody always goes on. */
static void sum_cells(void) {
    for (int k = cells_made - 1; k >= 0; k--) {
        struct cell *cell = &cells[self * cell_room + k];
        double mass = 0, sum[3] = {0};
        int cost = 0;
        for (int s = 0; s < OCTANTS; s++) {
            int there = cell->slots[s];
            if (there == 0) continue;
            const struct cell *inner = there > 0 ? summed(there) : NULL;
            double of = inner ? inner->mass : *mass_of(BODY(there));
            const double *at = inner ? inner->centre : position_of(BODY(there));
            if (inner && nodes > 1) cell->costs[s] = inner->cost;
            if (nodes > 1) cost += cell->costs[s];
            mass += of;
            for (int d = 0; d < 3; d++) sum[d] += of * at[d];
        }
        cell->mass = mass;
        cell->cost = cost;
        for (int d = 0; d < 3; d++) cell->centre[d] = sum[d] / mass;
        __asm__ volatile("" ::: "memory");
        cell->is_summed = 1;
    }
}

/* The root is as large as it must be for all bodies. Collective, and a barrier. */
static void make_root(void) {
    double farthest = 0;
    for (int k = 0; k < mine_count; k++) {
        const double *at = position_of(mine[k]);
        for (int d = 0; d < 3; d++) farthest = fmax(farthest, fabs(at[d]));
    }
    cells_made = 0;
    if (self == 0) new_cell();
    choose_root(nodes > 1 ? trivium_reduce_max(farthest) : farthest);
    if (half >= FARTHEST) trivium_fail("barnes: a body has flown away: fewer iterations (-i), or more bodies (-n)");
}

/* Takes, of the bodies in a cell, those before which others cost from `first` to less than `end`; `before` is what bodies before the cell cost. */
static void take(const struct cell *cell, int64_t before, int64_t first, int64_t end) {
    for (int s = 0; s < OCTANTS && before < end; s++) {
        int there = cell->slots[s];
        if (there == 0) continue;
        if (there > 0 && before + cell->costs[s] > first) take(&cells[there], before, first, end);
        if (there < 0 && before >= first) mine[mine_count++] = BODY(there);
        before += cell->costs[s];
    }
}

static void take_all(const struct cell *cell) {
    for (int s = 0; s < OCTANTS; s++) {
        int there = cell->slots[s];
        if (there > 0) take_all(&cells[there]);
        if (there < 0) mine[mine_count++] = BODY(there);
    }
}

__attribute__((noreturn, noinline)) static void no_room_for_bodies(void) {
    trivium_fail(sentence("barnes: node %d has %d bodies, and its protocol has room for %d: use more nodes, or fewer bodies (-n), or make room (MOST in barnes-update.c)", self, mine_count, MOST_BODIES));
}

/* This node's share: zones of equal cost, in the order of the tree. */
static void share(void) {
    int64_t cost = cells[ROOT].cost;
    mine_count = 0;
    if (nodes > 1) take(&cells[ROOT], 0, cost * self / nodes, cost * (self + 1) / nodes);
    else take_all(&cells[ROOT]);
    if (mine_count > MOST_BODIES) no_room_for_bodies();
}

static void build_tree(void) {
    make_root();
    for (int k = 0; k < mine_count; k++) insert(mine[k]);
    trivium_barrier();
    sum_cells();
    trivium_barrier();
    share();
}

/* ---- Forces ------------------------------------------------------------------------------------- */

/* The body that forces act on, and what they come to. */
struct target {
    int body;
    struct place place;
    double at[3], acceleration[3], potential;
    int64_t interactions;
};

static inline void attract(struct target *target, double mass, const double *way, double square) {
    double inverse = 1 / sqrt(square + SOFTENING * SOFTENING), potential = mass * inverse, pull = potential * inverse * inverse;
    target->potential -= potential;
    for (int d = 0; d < 3; d++) target->acceleration[d] += pull * way[d];
    target->interactions++;
}

static inline double way_to(const struct target *target, const double *there, double *way) {
    for (int d = 0; d < 3; d++) way[d] = there[d] - target->at[d];
    return way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
}

/* What is in a cell acts on a body; its inner cells are opened up to the square of a distance, `near`. That which the body itself is in is opened however far its centre is. */
static void act(struct target *target, const struct cell *cell, int level, int is_inside, double near) {
    int own = is_inside ? slot_of(target->place, level) : OCTANTS;
    for (int s = 0; s < OCTANTS; s++) {
        int there = cell->slots[s];
        double way[3];
        if (there > 0) {
            const struct cell *inner = &cells[there];
            double square = way_to(target, inner->centre, way);
            if (square <= near || s == own) act(target, inner, level + 1, s == own, near / 4);
            else attract(target, inner->mass, way, square);
        } else if (there < 0 && BODY(there) != target->body) {
            double square = way_to(target, position_of(BODY(there)), way);
            attract(target, *mass_of(BODY(there)), way, square);
        }
    }
}

static struct target target_of(int body) {
    struct target target = {.body = body, .place = place_of(position_of(body))};
    memcpy(target.at, position_of(body), sizeof target.at);
    return target;
}

static inline struct target acted_on(int body, double theta) {
    struct target target = target_of(body);
    act(&target, &cells[ROOT], 0, 1, half * half / (theta * theta));
    return target;
}

/* The forces on this node's bodies. Gives how many interactions they took. */
static int64_t compute_forces(void) {
    const double theta = (double)options[THETA].value / 100;
    int64_t interactions = 0;
    for (int k = 0; k < mine_count; k++) {
        struct target target = acted_on(mine[k], theta);
        struct motion *motion = motion_of(mine[k]);
        memcpy(motion->acceleration, target.acceleration, sizeof target.acceleration);
        motion->potential = target.potential;
        if (nodes > 1) motion->cost = target.interactions;
        interactions += target.interactions;
    }
    return interactions;
}

/* Moves this node's bodies a step; velocities are half a step behind, but at the start. */
static void move(int is_start) {
    const double kick = is_start ? STEP / 2 : STEP;
    for (int k = 0; k < mine_count; k++) {
        struct motion *motion = motion_of(mine[k]);
        double *at = position_of(mine[k]);
        for (int d = 0; d < 3; d++) {
            motion->velocity[d] += kick * motion->acceleration[d];
            at[d] += STEP * motion->velocity[d];
        }
    }
}

#include "barnes-check.h"

/* ---- The program -------------------------------------------------------------------------------- */

static void allocate(void) {
    /* Of all cells that a tree has, a node makes its share, four times that where bodies cost little, and some. */
    int64_t room = 4 * (int64_t)bodies / nodes + 256, most = 2 * (int64_t)bodies + 256;
    cell_room = (int)(room < most ? room : most) / CELLS_OF_A_PAGE * CELLS_OF_A_PAGE;
    cells = trivium_alloc_first_touch(sizeof *cells * (uint64_t)cell_room * (uint64_t)nodes);
    trivium_name(cells, "cells");
    stache_watch("cells", cells, sizeof *cells * (uint64_t)cell_room * (uint64_t)nodes, sizeof *cells);
    allocate_bodies();
    mine = malloc(sizeof *mine * (size_t)bodies);
    if (!mine) trivium_fail("barnes: no memory");
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    self = trivium_node(), nodes = trivium_nodes();
    bodies = (int)options[BODIES].value;
    allocate();
    /* To begin with, a node has bodies that follow each other in memory, and is the home of their pages. */
    int first = (int)((int64_t)bodies * self / nodes), end = (int)((int64_t)bodies * (self + 1) / nodes);
    if (!options[SERIAL].value) initialise(first, end);
    else if (self == 0) initialise(0, bodies);
    end_phase();
    if (options[SERIAL].value) trivium_parallel_start();
    for (int b = first; b < end; b++) mine[mine_count++] = b;

    double before = 0;
    int64_t interactions = 0;
    for (int64_t iteration = 0; iteration < options[ITERATIONS].value; iteration++) {
        if (iteration == 1) stache_forget();
        if (iteration == 1) trivium_begin();
        build_tree();
        interactions = compute_forces();
        trivium_barrier();
        if (iteration == 0 && options[CHECK].value) before = energy(0);
        move(iteration == 0);
        end_phase();
    }
    trivium_end();
    stache_report(REPORT_LINES);

    interactions = trivium_reduce_sum64(interactions);
    if (self == 0) printf("barnes: %.1f interactions of a body\n", (double)interactions / bodies);
    if (options[CHECK].value) {
        build_tree();
        compute_forces();
        check_forces();
        check_energy(before, energy(STEP / 2));
        if (self == 0) check_tree();
    }
    trivium_barrier();
    if (self == 0) print_digest();
    return 0;
}
