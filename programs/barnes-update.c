/* barnes-update.c: barnes.c with each body in three parts, on pages of their own and each under a protocol of its own (Tempest's custom version of Barnes).
 *
 * Its mass, which is only read, is under the default protocol, as cells are. What its present owner alone uses moves with it under `migratory`: velocity, acceleration, potential
 * and cost fill a block of 64 bytes. Its position is under `update`: at the end of an iteration what an owner has changed goes to the position's home, and from there to all
 * that read it. The end of an iteration ends a phase of that protocol. Run it with the default protocol of everything else first:
 *     trivium sim programs/barnes-update.c -p stache -p update -p migratory ...
 * The answer is the same to the last bit. With --cc=-DREPORT all parts are under the default protocol, and stache-report.h tells how each is shared.
 */
#ifndef REPORT
#include "trivium/update.h"
#endif

/* The blocks that a node may change in a phase, as the protocol has it unless it is told otherwise: up to 4,096 with --set protocol.most=4096 --cc -DMOST=4096. */
#ifndef MOST
#define MOST 1024
#endif

#define OTHER_BODIES
#define MOST_BODIES (nodes > 1 ? MOST : bodies)
#include "barnes.c"

/* The bytes of a position, with what fills up its block: no block has two writers. For larger blocks, as the machine flash has them: --cc -DPOSITION_BYTES=128. */
#ifndef POSITION_BYTES
#define POSITION_BYTES 64
#endif

static double *masses;
static union {
    double at[3];
    char bytes[POSITION_BYTES];
} *positions;
static struct motion *motions;

static void allocate_bodies(void) {
    uint64_t masses_bytes = sizeof *masses * (uint64_t)bodies, positions_bytes = sizeof *positions * (uint64_t)bodies, motions_bytes = sizeof *motions * (uint64_t)bodies;
    masses = trivium_alloc_first_touch(masses_bytes);
#ifdef REPORT
    positions = trivium_alloc_first_touch(positions_bytes);
    motions = trivium_alloc_first_touch(motions_bytes);
#else
    positions = trivium_alloc_first_touch_under("update", positions_bytes);
    motions = trivium_alloc_first_touch_under("migratory", motions_bytes);
#endif
    trivium_name(masses, "masses");
    trivium_name(positions, "positions");
    trivium_name(motions, "motions");
    stache_watch("masses", masses, masses_bytes, 0);
    stache_watch("positions", positions, positions_bytes, 0);
    stache_watch("motions", motions, motions_bytes, 0);
}

static double *mass_of(int body) { return &masses[body]; }
static double *position_of(int body) { return positions[body].at; }
static struct motion *motion_of(int body) { return &motions[body]; }

#ifdef REPORT
static void end_phase(void) { trivium_barrier(); }
#else
static void end_phase(void) { update_finish(); }
#endif
