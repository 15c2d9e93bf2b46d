/* bodies.c: bodies that attract each other in three dimensions, step by step.
 *
 * What is known of a body is kept in three parts, as in Tempest's custom version of Barnes: its mass is
 * only read; its velocity is used by its present owner alone; its position is written by the
 * owner and read by whoever is attracted. Bodies come in groups. A group has an owner, which
 * changes every few steps, and lies on pages of its own, so that no block has two writers in a phase.
 * In every step a body is attracted by other bodies, chosen anew, so nobody knows who will read it.
 *
 * Node 0 sets everything up, and every few steps moves the centre of mass back to the origin: in
 * these phases positions are under the default protocol, and between them under that of bodies-update.c.
 */
#include "options.h"
#include "random.h"

/* bodies-update.c puts positions and velocities under other protocols, and defines these otherwise. */
#ifndef POSITIONS_UNDER
#define POSITIONS_UNDER 0
#define VELOCITIES_UNDER 0
#define end_phase() trivium_barrier()
#endif

enum { GROUPS, BODIES, STEPS, ATTRACTED, MOVE, RECENTRE, CHECK, SEED, OPTIONS };

static struct option options[OPTIONS] = {
    [GROUPS] = {'k', 2, 1, 1000, "groups per processor"},
    [BODIES] = {'n', 4, 1, 1000, "bodies of a group"},
    [STEPS] = {'i', 6, 1, 1000000, "steps"},
    [ATTRACTED] = {'r', 4, 0, 1000, "by how many others a body is attracted in a step"},
    [MOVE] = {'m', 2, 0, 1000000, "steps after which a group's owner changes (0: never)"},
    [RECENTRE] = {'e', 3, 0, 1000000, "steps after which the centre of mass is moved back (0: never)"},
    [CHECK] = {'c', 1, 0, 1, "0: do not check the answer"},
    [SEED] = {'g', 1, 0, 1000000, "seed of the bodies"},
};

/* Four words, so that no body's position lies in two blocks. */
struct vector {
    double x, y, z, unused;
};

/* All bodies, wherever they lie: body i of group g is bodies.positions[g][i]. */
struct bodies {
    struct vector **positions, **velocities;
    double *masses;
};

static int processors, groups, size;

static int owner(int group, int64_t step) {
    int64_t moves = options[MOVE].value ? step / options[MOVE].value : 0;
    return (int)((group + moves) % processors);
}

static double unit_about_zero(uint64_t *random) { return 2 * random_unit(random) - 1; }

static void initialise(struct bodies all) {
    uint64_t random = (uint64_t)options[SEED].value;
    for (int g = 0; g < groups; g++) {
        for (int i = 0; i < size; i++) {
            struct vector *at = &all.positions[g][i], *moves = &all.velocities[g][i];
            at->x = unit_about_zero(&random);
            at->y = unit_about_zero(&random);
            at->z = unit_about_zero(&random);
            moves->x = moves->y = moves->z = 0;
            all.masses[g * size + i] = 0.5 + random_unit(&random);
        }
    }
}

/* Adds to a group's velocities what others do to them in a step. */
static void accelerate(struct bodies all, int group, int64_t step) {
    const double time = 0.01, softening = 0.05;
    for (int i = 0; i < size; i++) {
        uint64_t random = (uint64_t)step << 32 | (uint64_t)(group * size + i);
        struct vector here = all.positions[group][i], change = {0};
        for (int64_t r = 0; r < options[ATTRACTED].value; r++) {
            int other = (int)random_below(&random, groups * size);
            struct vector there = all.positions[other / size][other % size];
            double x = there.x - here.x, y = there.y - here.y, z = there.z - here.z;
            double square = x * x + y * y + z * z + softening * softening;
            double pull = all.masses[other] / (square * __builtin_sqrt(square));
            change.x += pull * x;
            change.y += pull * y;
            change.z += pull * z;
        }
        struct vector *moves = &all.velocities[group][i];
        moves->x += time * change.x;
        moves->y += time * change.y;
        moves->z += time * change.z;
    }
}

static void move(struct bodies all, int group) {
    const double time = 0.01;
    for (int i = 0; i < size; i++) {
        struct vector *at = &all.positions[group][i], moves = all.velocities[group][i];
        at->x += time * moves.x;
        at->y += time * moves.y;
        at->z += time * moves.z;
    }
}

static void recentre(struct bodies all) {
    double x = 0, y = 0, z = 0, mass = 0;
    for (int body = 0; body < groups * size; body++) {
        struct vector at = all.positions[body / size][body % size];
        x += all.masses[body] * at.x;
        y += all.masses[body] * at.y;
        z += all.masses[body] * at.z;
        mass += all.masses[body];
    }
    for (int body = 0; body < groups * size; body++) {
        struct vector *at = &all.positions[body / size][body % size];
        at->x -= x / mass;
        at->y -= y / mass;
        at->z -= z / mass;
    }
}

static int is_recentred_after(int64_t step) {
    return options[RECENTRE].value && (step + 1) % options[RECENTRE].value == 0;
}

/* Positions come under another protocol. Under the default one blocks may be away by now: each home
 * looks at its own, which brings them home. */
static void bind_positions(struct bodies all, int self, const char *protocol) {
    if (!POSITIONS_UNDER) return;
    trivium_barrier();
    for (int g = 0; g < groups; g++) {
        for (int i = 0; i < size && g % processors == self; i++) {
            *(volatile double *)&all.positions[g][i].x;
        }
    }
    for (int g = 0; g < groups; g++) trivium_bind(all.positions[g], protocol);
}

static int is_same(struct vector a, struct vector b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Does everything again in private memory, on this processor alone, and compares. */
static void check(struct bodies shared) {
    struct bodies alone;
    alone.positions = malloc(sizeof(struct vector *) * groups);
    alone.velocities = malloc(sizeof(struct vector *) * groups);
    alone.masses = malloc(sizeof(double) * groups * size);
    for (int g = 0; g < groups; g++) {
        alone.positions[g] = malloc(sizeof(struct vector) * size);
        alone.velocities[g] = malloc(sizeof(struct vector) * size);
    }
    initialise(alone);
    for (int64_t step = 0; step < options[STEPS].value; step++) {
        for (int g = 0; g < groups; g++) accelerate(alone, g, step);
        for (int g = 0; g < groups; g++) move(alone, g);
        if (is_recentred_after(step)) recentre(alone);
    }
    double sum = 0;
    for (int g = 0; g < groups; g++) {
        for (int i = 0; i < size; i++) {
            struct vector at = shared.positions[g][i], moves = shared.velocities[g][i];
            if (!is_same(at, alone.positions[g][i]) || !is_same(moves, alone.velocities[g][i])) {
                printf("bodies: body %d of group %d is at %.17g, not %.17g\n", i, g, at.x,
                       alone.positions[g][i].x);
                trivium_fail("bodies: wrong answer");
            }
            sum += at.x * at.x + at.y * at.y + at.z * at.z;
        }
    }
    printf("bodies: ok, sum of squares %.9f\n", sum);
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node();
    processors = trivium_nodes();
    groups = (int)options[GROUPS].value * processors;
    size = (int)options[BODIES].value;

    uint64_t bytes = (uint64_t)size * sizeof(struct vector);
    struct bodies all;
    all.positions = malloc(sizeof(struct vector *) * groups);
    all.velocities = malloc(sizeof(struct vector *) * groups);
    all.masses = trivium_alloc_on(0, (uint64_t)groups * size * sizeof(double));
    for (int g = 0; g < groups; g++) {
        all.positions[g] = trivium_alloc_on(g % processors, bytes);
        all.velocities[g] = trivium_alloc_on_under(VELOCITIES_UNDER, g % processors, bytes);
    }
    if (self == 0) initialise(all);
    bind_positions(all, self, POSITIONS_UNDER);
    trivium_barrier();

    trivium_begin();
    for (int64_t step = 0; step < options[STEPS].value; step++) {
        for (int g = 0; g < groups; g++) {
            if (owner(g, step) == self) accelerate(all, g, step);
        }
        end_phase();
        for (int g = 0; g < groups; g++) {
            if (owner(g, step) == self) move(all, g);
        }
        end_phase();
        if (is_recentred_after(step)) {
            bind_positions(all, self, 0);
            if (self == 0) recentre(all);
            trivium_barrier();
            bind_positions(all, self, POSITIONS_UNDER);
        }
    }
    trivium_end();

    bind_positions(all, self, 0);
    if (self == 0 && options[CHECK].value) check(all);
    return 0;
}
