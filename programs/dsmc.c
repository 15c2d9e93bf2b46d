/* dsmc.c: particles of a gas that move and collide, by the direct simulation Monte Carlo method (Tempest 1998; our specification 6.3).
 *
 * A stream of gas comes into a box at one end (x = 0), as many particles at each iteration; whoever comes to the other end is gone. There are ever more particles, until
 * as many leave as come. The four sides, and the first end for those who come back, are mirrors. In an iteration all particles move, and then pairs of each cell collide
 * at random, as hard spheres (Bird's method without a time counter). Each node has a fixed region of cells, with all particles in them. A particle that moves into
 * another's region is written to a buffer of that node's, which takes it from there when all have moved.
 *
 * Particles stay where they are in memory as long as they are in a region; a cell has a list of those in it. Pairs are chosen among a cell's particles in the order of
 * their numbers, with random numbers that are made of the seed, the cell and the iteration. So the answer is the same to the last bit under every sequentially consistent
 * protocol, at every number of nodes, and with particles that go as messages (dsmc-write.c). The first iteration is not measured. On one node nothing is exchanged, and particles are in the
 * order of their numbers anyway: the program that speedups are held against.
 *
 * It checks itself: momentum and energy in every collision, that each particle that began or came in has left or is there, once, with all energy, and that it is in its
 * cell.
 */
#include <string.h>

#include "dsmc-gas.h"
#include "dsmc-regions.h"
#include "options.h"
#include "stache-report.h"

enum { LONG, WIDE, HIGH, PARTICLES, INFLOW, SPEED, ITERATIONS, ROOM, CHECK, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [LONG] = {'x', 10, 1, 1000, "cells from end to end (30: as published, 9720 in all)"},
    [WIDE] = {'y', 6, 1, 1000, "cells from side to side (18)"},
    [HIGH] = {'z', 6, 1, 1000, "cells from bottom to top (18)"},
    [PARTICLES] = {'n', 1800, 1, 1000000, "particles at the beginning (48000: as published)"},
    [INFLOW] = {'f', 18, 0, 1000000, "particles that come in at each iteration (184: to 72000 after 400, as published)"},
    [SPEED] = {'v', 60, 1, 200, "thousandths of a cell that gas streams in an iteration; as fast are particles besides, one way"},
    [ITERATIONS] = {'i', 20, 1, 1000000, "iterations (400: as published)"},
    [ROOM] = {'r', 1024, 1, 65536, "particles that a node's buffer has room for"},
    [CHECK] = {'c', 1, 0, 1, "0: collisions, energy and places are not checked"},
    [SEED] = {'g', 1, 0, 1000000, "seed of all that happens at random"},
};

/* For which a particle at rest among others goes as far as a cell's side between collisions, where cells have 5 particles. */
static const float CROSS_SECTION = 0.1414f;

struct cell {
    float fastest; /* of pairs that were looked at, apart from each other */
    float rest;    /* of a pair that is still to be looked at */
    int number, count;
    int first; /* of its particles in this iteration; each has the next one, and the last one -1 */
};

static int self, nodes;
static struct regions regions;
static struct cell *cells; /* of this node's region, by their places there */
static int cell_count;
static struct particle *particles; /* of this node's region */
static int *next;                  /* of each: the next one of its cell */
static int count, room;
static int *of_cell; /* particles of a cell, in the order of their numbers */
static float speed;  /* of the stream, and of particles besides */

/* How particles go to other nodes: before the first; for each, which lies among this node's own; and once in an iteration, collective. That gives what has come, to be
 * looked at until the next call. */
static void open_exchange(void);
static void give(int to, const struct particle *particle);
static const struct particle *take(int *come);

/* More particles go to a node in an iteration than its buffer has room for. */
__attribute__((noreturn)) static void buffer_is_full(int node) {
    trivium_fail(sentence("dsmc: node %d's buffer is full: more than %lld particles go there in an iteration: give it more room (-r), or take fewer particles (-n, -f)", node,
                          (long long)options[ROOM].value));
}

#ifndef OTHER_EXCHANGE
struct buffer {
    trivium_lock_t lock;
    int64_t count;
    int64_t apart[6]; /* particles are in other blocks of 64 bytes */
    struct particle particles[];
};

/* Two of each node: one is filled in an iteration and the other in the next, so that nobody waits until one is empty. */
static struct buffer **buffers[2];

/* Particles of this iteration that go to other nodes: of each the one before it that goes to the same node; of each node the last one, or -1. */
static struct particle *going;
static int *before, *last, *going_to, going_count, going_room;

static void open_exchange(void) {
    uint64_t bytes = sizeof(struct buffer) + (uint64_t)options[ROOM].value * sizeof(struct particle);
    last = malloc(sizeof *last * nodes), going_to = calloc(nodes, sizeof *going_to);
    for (int turn = 0; turn < 2; turn++) {
        buffers[turn] = malloc(sizeof *buffers[turn] * nodes);
        for (int p = 0; p < nodes; p++) {
            buffers[turn][p] = trivium_alloc_on(p, bytes);
            trivium_name(buffers[turn][p], "buffers");
            stache_watch("buffers", buffers[turn][p], bytes, 0);
        }
    }
    for (int p = 0; p < nodes; p++) last[p] = -1;
}

static void give(int to, const struct particle *particle) {
    if (going_count == going_room) {
        going_room = going_room ? 2 * going_room : 256;
        going = realloc(going, sizeof *going * going_room), before = realloc(before, sizeof *before * going_room);
        if (!going || !before) trivium_fail("dsmc: no memory for particles that go to other nodes");
    }
    going[going_count] = *particle;
    before[going_count] = last[to];
    last[to] = going_count++;
    going_to[to]++;
}

/* A place in a node's buffer for all that go there. */
static struct particle *places(struct buffer *buffer, int node, int wanted) {
    trivium_lock(&buffer->lock);
    int64_t first = buffer->count;
    buffer->count = first + wanted;
    trivium_unlock(&buffer->lock);
    if (first + wanted > options[ROOM].value) buffer_is_full(node);
    return buffer->particles + first;
}

static const struct particle *take(int *come) {
    static int turn;
    turn = !turn;
    for (int k = 1; k < nodes; k++) {
        int to = (self + k) % nodes;
        if (last[to] < 0) continue;
        struct particle *place = places(buffers[turn][to], to, going_to[to]);
        for (int i = last[to]; i >= 0; i = before[i]) *place++ = going[i];
        last[to] = -1, going_to[to] = 0;
    }
    going_count = 0;
    trivium_barrier();
    struct buffer *mine = buffers[turn][self];
    *come = (int)mine->count;
    mine->count = 0;
    return mine->particles;
}
#endif

/* ---- Particles --------------------------------------------------------------------------------- */

/* What has come in and gone out at this node: how many, and what tells them from others if one is lost, or there twice. */
struct tally {
    int64_t count, energy;
    uint64_t numbers;
};
static struct tally began, came, went;
static int64_t rounded;           /* energy that has come by rounding in collisions, or gone */
static int64_t given, most_taken; /* particles that went to other nodes, and the most that came to one in an iteration */

static void tell(struct tally *tally, const struct particle *p) {
    uint64_t number = (uint64_t)p->number;
    tally->count++;
    if (!options[CHECK].value) return;
    tally->energy += energy_of(p);
    tally->numbers += random_next(&number);
}

static struct particle *next_place(void) {
    if (count == room) trivium_fail("dsmc: a node has more particles than there is room for: fewer of them (-n, -f), or fewer iterations");
    return particles + count;
}

/* Particles at their beginning, dealt out to cells as evenly as can be; those of a node in the order of their numbers. */
static void begin(void) {
    for (int64_t k = 0; k < options[PARTICLES].value; k++) {
        int number = (int)(k % regions.cells), corner[3];
        if (regions.owner_of[number] != self) continue;
        struct particle *p = next_place();
        uint64_t random = random_of(options[SEED].value, -1, k), bits = random_next(&random);
        corner_of(&regions, number, corner);
        for (int d = 0; d < 3; d++) p->at[d] = between(corner[d], unit_of(bits >> 21 * d, 21));
        in_stream(&random, speed, p->velocity);
        p->number = k;
        tell(&began, p);
        count++;
    }
}

/* Puts a particle on the list of its cell, one of this node's. */
static inline void list(int i, int *following, struct cell *its) {
    following[i] = its->first;
    its->first = i;
    its->count++;
}

/* Moves all particles. Those that stay close ranks. All that is looked at for each is in variables of the function: a call might change others, which would be loaded
 * again each time. */
static void move_all(void) {
    const struct regions all = regions;
    const int alone = nodes == 1, me = self, moving = count;
    struct particle *const here = particles;
    struct cell *const own_cells = cells;
    int *const following = next;
    int stay = 0;
    for (int c = 0; c < cell_count; c++) own_cells[c].first = -1, own_cells[c].count = 0;
    for (int i = 0; i < moving; i++) {
        struct particle *p = here + i;
        if (!move(p, all.side)) {
            tell(&went, p);
            continue;
        }
        int cell = cell_at(&all, p->at);
        if (!alone && all.owner_of[cell] != me) {
            give(all.owner_of[cell], p);
            continue;
        }
        if (stay != i) here[stay] = *p;
        list(stay++, following, &own_cells[alone ? cell : all.place_of[cell]]);
    }
    count = stay;
}

/* Cells at the first end let particles in by turns: from one that has its turn to the next it is so many cells, by which all have theirs, and neighbours not at once. */
static int to_next_turn(int ends) {
    for (int step = ends * 5 / 8;; step++) {
        int a = ends, b = step;
        while (b > 0) {
            int rest = a % b;
            a = b, b = rest;
        }
        if (a == 1) return step;
    }
}

/* Particles come in at places of such a cell's end, and at times of the iteration, at random. The node that has the cell makes them: none comes farther. */
static void let_in(int64_t iteration) {
    static int step;
    int ends = regions.side[1] * regions.side[2];
    if (cells[0].number >= ends) return; /* this node has no such cell */
    if (!step) step = to_next_turn(ends);
    int64_t first = options[PARTICLES].value + iteration * options[INFLOW].value;
    int number = (int)(first % ends * step % ends), corner[3];
    for (int64_t k = first; k < first + options[INFLOW].value; k++, number += number + step < ends ? step : step - ends) {
        if (regions.owner_of[number] != self) continue;
        struct particle *p = next_place();
        uint64_t random = random_of(options[SEED].value, -1, k), bits = random_next(&random);
        corner_of(&regions, number, corner);
        through_plane(&random, speed, p->velocity);
        p->at[0] = p->velocity[0] * unit_of(bits, 21);
        for (int d = 1; d < 3; d++) p->at[d] = between(corner[d], unit_of(bits >> 21 * d, 21));
        p->number = k;
        tell(&came, p);
        list(count++, next, &cells[regions.place_of[number]]);
    }
}

static void exchange(void) {
    int come;
    const struct particle *taken = take(&come);
    for (int i = 0; i < come; i++) {
        struct particle *p = next_place();
        *p = taken[i];
        list(count++, next, &cells[regions.place_of[cell_at(&regions, p->at)]]);
    }
    if (come > most_taken) most_taken = come;
    given += come;
}

/* ---- Collisions -------------------------------------------------------------------------------- */

/* Lists a cell's particles in the order of their numbers. On one node the one that was listed last has the highest number. */
static void put_in_order(const struct cell *cell) {
    int at = cell->count;
    for (int i = cell->first; i >= 0; i = next[i]) of_cell[--at] = i;
    for (int k = 1; k < cell->count && nodes > 1; k++) {
        int i = of_cell[k], to = k;
        for (; to > 0 && particles[of_cell[to - 1]].number > particles[i].number; to--) of_cell[to] = of_cell[to - 1];
        of_cell[to] = i;
    }
}

/* As many pairs are looked at as would collide if all were the fastest, and of these as many collide as their speeds say. */
static void collide_in(struct cell *cell, int64_t iteration) {
    float pairs = 0.5f * (float)cell->count * (float)(cell->count - 1) * CROSS_SECTION * cell->fastest + cell->rest;
    if (pairs > 1e9f) trivium_fail("dsmc: too many particles of a cell: more cells (-x, -y, -z), or fewer particles (-n)");
    int tries = (int)pairs;
    cell->rest = pairs - (float)tries;
    if (tries == 0) return;
    put_in_order(cell);
    uint64_t random = random_of(options[SEED].value, iteration, cell->number);
    for (; tries > 0 && cell->count > 1; tries--) {
        uint64_t bits = random_next(&random);
        int first = (int)((bits & 0xfffff) * (uint64_t)cell->count >> 20), second = (int)((bits >> 20 & 0xfffff) * (uint64_t)(cell->count - 1) >> 20);
        struct particle *a = particles + of_cell[first], *b = particles + of_cell[second + (second >= first)];
        float apart = apart_by(a, b);
        if (apart > cell->fastest) cell->fastest = apart;
        if (unit_of(bits >> 40, 24) * cell->fastest >= apart) continue;
        if (options[CHECK].value) rounded += collide_checked(a, b, apart, &random);
        else collide(a, b, apart, &random);
    }
}

/* ---- What is checked --------------------------------------------------------------------------- */

/* After each quarter of the iterations. */
enum { QUARTERS = 4 };
static struct { int64_t there, came, went; } after[QUARTERS];

static void print_sizes(void) {
    int most = (int)trivium_reduce_max64(cell_count), least = (int)trivium_reduce_min64(cell_count);
    if (self != 0) return;
    printf("dsmc: %lld particles of %d bytes, ", (long long)options[PARTICLES].value, (int)sizeof(struct particle));
    printf("%d cells of %d bytes, %d to %d of a node\n", regions.cells, (int)sizeof(struct cell), least, most);
}

static void note_counts(int64_t iteration) {
    for (int q = 0; q < QUARTERS; q++) {
        if (iteration + 1 != (q + 1) * options[ITERATIONS].value / QUARTERS) continue;
        after[q].there = count, after[q].came = came.count, after[q].went = went.count;
    }
}

static void print_counts(void) {
    for (int64_t q = 0, before = 0, end; q < QUARTERS; q++, before = end) {
        end = (q + 1) * options[ITERATIONS].value / QUARTERS;
        long long there = trivium_reduce_sum64(after[q].there), in = trivium_reduce_sum64(after[q].came), out = trivium_reduce_sum64(after[q].went);
        if (self != 0 || end == before) continue;
        printf("dsmc: after %lld iterations %lld particles, %lld have come in, %lld have left\n", (long long)end, there, in, out);
    }
    long long all = trivium_reduce_sum64(given), most = trivium_reduce_max64(most_taken);
    if (self == 0 && nodes > 1) printf("dsmc: %lld particles went to other nodes, %lld at most to one in an iteration\n", all, most);
}

/* Each particle is in one cell, of this node's, after those with lower numbers. */
static void check_places(void) {
    int seen = 0;
    for (int c = 0; c < cell_count; c++) {
        put_in_order(&cells[c]);
        for (int k = 0; k < cells[c].count; k++, seen++) {
            const struct particle *p = particles + of_cell[k];
            if (cell_at(&regions, p->at) != cells[c].number) trivium_fail("dsmc: a particle is not in its cell");
            if (regions.owner_of[cells[c].number] != self) trivium_fail("dsmc: a particle is not in this node's region");
            if (k > 0 && particles[of_cell[k - 1]].number >= p->number) trivium_fail("dsmc: particles of a cell are not in the order of their numbers");
        }
    }
    if (seen != count) trivium_fail("dsmc: a particle is in no cell");
}

/* Who began or came in has left or is there; and so has the energy, to the last unit, with what was rounded. */
static void check_tallies(void) {
    struct tally there = {0};
    for (int i = 0; i < count; i++) tell(&there, particles + i);
    int64_t lost = trivium_reduce_sum64(began.count + came.count - went.count - there.count);
    int64_t others = trivium_reduce_sum64((int64_t)(began.numbers + came.numbers - went.numbers - there.numbers));
    int64_t energy = trivium_reduce_sum64(began.energy + came.energy + rounded - went.energy - there.energy);
    if (trivium_reduce_sum64(began.count) != options[PARTICLES].value) trivium_fail("dsmc: others began than were to begin");
    if (trivium_reduce_sum64(came.count) != options[ITERATIONS].value * options[INFLOW].value) trivium_fail("dsmc: others came in than were to come in");
    if (lost != 0) trivium_fail("dsmc: particles are lost, or there are too many");
    if (others != 0) trivium_fail("dsmc: a particle is lost, and another is there twice");
    if (energy != 0) trivium_fail("dsmc: energy has come from nowhere");
}

/* Of each cell by itself, so that it does not matter which node has it. */
static void print_digest(void) {
    uint64_t digest = 0;
    for (int c = 0; c < cell_count; c++) {
        uint64_t all = (uint64_t)cells[c].number;
        put_in_order(&cells[c]);
        for (int k = 0; k < cells[c].count; k++) {
            uint64_t words[sizeof *particles / 8];
            memcpy(words, particles + of_cell[k], sizeof words);
            for (int w = 0; w < (int)(sizeof words / 8); w++) all = all * 1000003u + words[w];
        }
        digest += random_next(&all);
    }
    digest = (uint64_t)trivium_reduce_sum64((int64_t)digest);
    long long all = trivium_reduce_sum64(count);
    if (self == 0) printf("dsmc: ok, %lld particles, digest %016llx\n", all, (unsigned long long)digest);
}

/* ---- The program ------------------------------------------------------------------------------- */

/* Memory of this node's among that of all, which it touches first. */
static void *own(uint64_t bytes, const char *name) {
    void *mine = NULL;
    for (int p = 0; p < nodes; p++) {
        void *memory = trivium_alloc_first_touch(bytes);
        trivium_name(memory, name);
        stache_watch(name, memory, bytes, 0);
        if (p == self) mine = memory;
    }
    return mine;
}

static void allocate(void) {
    /* Iterations after which particles have gone, with much to spare. */
    const int64_t LONGEST = 4 * (int64_t)((float)regions.side[0] / speed);
    int64_t time = options[ITERATIONS].value < LONGEST ? options[ITERATIONS].value : LONGEST;
    int64_t all = options[PARTICLES].value + time * options[INFLOW].value, share = nodes == 1 ? all : 2 * all / nodes + 1024;
    int most_cells = (int)trivium_reduce_max64(cell_count);
    if (share > 1000000) {
        trivium_fail(sentence("dsmc: a node might have %lld particles, and there is room for 1000000: fewer of them (-n, -f), fewer iterations (-i), or more nodes", (long long)share));
    }
    room = (int)(share < all ? share : all);
    cells = own(sizeof *cells * (uint64_t)most_cells, "cells");
    particles = own(sizeof *particles * (uint64_t)room, "particles");
    next = malloc(sizeof *next * (uint64_t)room), of_cell = malloc(sizeof *of_cell * (uint64_t)room);
    if (!next || !of_cell) trivium_fail("dsmc: no memory for lists of particles");
    for (int number = 0; number < regions.cells; number++) {
        if (regions.owner_of[number] == self) cells[regions.place_of[number]] = (struct cell){.fastest = 5 * speed, .number = number};
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    self = trivium_node(), nodes = trivium_nodes();
    speed = (float)options[SPEED].value / 1000;
    regions = divide(options[LONG].value, options[WIDE].value, options[HIGH].value, nodes);
    cell_count = regions.cells_of[self];
    allocate();
    print_sizes();
    if (nodes > 1) open_exchange();
    begin();

    for (int64_t iteration = 0; iteration < options[ITERATIONS].value; iteration++) {
        if (iteration == 1) {
            trivium_barrier();
            stache_forget();
            trivium_begin();
        }
        move_all();
        let_in(iteration);
        if (nodes > 1) exchange();
        for (int c = 0; c < cell_count; c++) collide_in(&cells[c], iteration);
        note_counts(iteration);
    }
    trivium_barrier();
    trivium_end();
    stache_report(REPORT_LINES);
    if (options[CHECK].value) {
        check_places();
        check_tallies();
    }
    print_counts();
    print_digest();
    return 0;
}
