/* dsmc-gas.h: particles of a gas: their speeds at random, and how two of them collide. */
#ifndef DSMC_GAS_H
#define DSMC_GAS_H

#include <math.h>
#include <stdint.h>

#include "random.h"
#include "trivium.h"

/* In cells, and cells an iteration. */
struct particle {
    double at[3], velocity[3];
    int64_t number, cell;
};

/* Random numbers that depend on two numbers and the seed alone. */
static inline uint64_t random_of(int64_t seed, int64_t a, int64_t b) {
    uint64_t random = (uint64_t)seed;
    random = random_next(&random) ^ (uint64_t)a;
    return random_next(&random) ^ (uint64_t)b;
}

/* A point at random in a circle of radius 1, but for its centre. Gives the square of its distance from there. */
static inline double in_circle(uint64_t *random, double *x, double *y) {
    double square;
    do {
        *x = 2 * random_unit(random) - 1, *y = 2 * random_unit(random) - 1;
        square = *x * *x + *y * *y;
    } while (square == 0 || square >= 1);
    return square;
}

/* A number at random, near a normal distribution: the sum of four, its mean 0 and its variance 1. Of how particles began little is left after some collisions. */
static inline double normal(uint64_t *random) {
    uint64_t four = random_next(random);
    int32_t sum = (int32_t)(four & 0xffff) + (int32_t)(four >> 16 & 0xffff) + (int32_t)(four >> 32 & 0xffff) + (int32_t)(four >> 48);
    return (sum - 0x1fffe) * (1.7320508075688772 / 0x10000);
}

/* The velocity of a particle in a stream along x, which is as fast as particles are besides, one way (the root of the mean square). */
static inline void in_stream(uint64_t *random, double speed, double *velocity) {
    velocity[0] = speed * (1 + normal(random));
    velocity[1] = speed * normal(random);
    velocity[2] = speed * normal(random);
}

/* The same of one that comes through a plane across the stream: faster ones come more often. */
static inline void through_plane(uint64_t *random, double speed, double *velocity) {
    const double fastest = speed * 4.5;
    in_stream(random, speed, velocity);
    while (velocity[0] <= random_unit(random) * fastest) velocity[0] = speed * (1 + normal(random));
}

/* Moves a particle for an iteration in a box whose sides are mirrors, but for the far end of x: whether it is still there. */
static inline int move(struct particle *p, const int *side) {
    for (int d = 0; d < 3; d++) {
        double at = p->at[d] + p->velocity[d], end = side[d];
        if (d == 0 && at >= end) return 0;
        while (at < 0 || at >= end) {
            p->velocity[d] = -p->velocity[d];
            at = at < 0 ? -at : at > end ? 2 * end - at : nextafter(end, 0);
        }
        p->at[d] = at;
    }
    return 1;
}

static inline double apart_by(const struct particle *a, const struct particle *b) {
    double square = 0;
    for (int d = 0; d < 3; d++) square += (a->velocity[d] - b->velocity[d]) * (a->velocity[d] - b->velocity[d]);
    return sqrt(square);
}

/* Two hard spheres leave each other in any direction, as fast as they met. */
static inline void collide(struct particle *a, struct particle *b, double speed, uint64_t *random) {
    double x, y, square = in_circle(random, &x, &y), across = sqrt(1 - square);
    const double apart[3] = {speed * x * across, speed * y * across, speed * (0.5 - square)};
    for (int d = 0; d < 3; d++) {
        double mean = (a->velocity[d] + b->velocity[d]) / 2;
        a->velocity[d] = mean + apart[d];
        b->velocity[d] = mean - apart[d];
    }
}

/* The same, looking whether momentum and energy are what they were, but for what is rounded. */
static inline void collide_checked(struct particle *a, struct particle *b, double speed, uint64_t *random) {
    double momentum[3], energy = 0, most = 0;
    for (int d = 0; d < 3; d++) {
        momentum[d] = a->velocity[d] + b->velocity[d];
        energy += a->velocity[d] * a->velocity[d] + b->velocity[d] * b->velocity[d];
    }
    most = 1e-14 * energy;
    collide(a, b, speed, random);
    for (int d = 0; d < 3; d++) {
        double change = momentum[d] - (a->velocity[d] + b->velocity[d]);
        if (change * change > 1e-14 * most) trivium_fail("dsmc: momentum has come from nowhere in a collision");
        energy -= a->velocity[d] * a->velocity[d] + b->velocity[d] * b->velocity[d];
    }
    if (fabs(energy) > most) trivium_fail("dsmc: energy has come from nowhere in a collision");
}

#endif
