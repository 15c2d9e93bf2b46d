/* dsmc-gas.h: particles of a gas: their speeds at random, and how two of them collide. */
#ifndef DSMC_GAS_H
#define DSMC_GAS_H

#include <math.h>
#include <stdint.h>

#include "random.h"
#include "trivium.h"

/* In cells, and cells an iteration. Two of them have a block of 64 bytes to themselves. */
struct particle {
    float at[3], velocity[3];
    int64_t number;
};

/* Random numbers that depend on two numbers and the seed alone. */
static inline uint64_t random_of(int64_t seed, int64_t a, int64_t b) {
    uint64_t random = (uint64_t)seed;
    random = random_next(&random) ^ (uint64_t)a;
    return random_next(&random) ^ (uint64_t)b;
}

/* The lowest bits as a number from 0 to 1: never 1. */
static inline float unit_of(uint64_t bits, int count) {
    return (float)(int32_t)(bits & ((UINT64_C(1) << count) - 1)) / (float)(1 << count);
}

/* Somewhere between a whole number and the next one, which is not rounded to. */
static inline float between(int low, float unit) {
    return fminf((float)low + unit, nextafterf((float)low + 1, 0));
}

/* Near a normal distribution: the sum of three 16 bits each, the mean 0 and the variance 1. Of how particles began little is left after some collisions. */
static inline float normal(uint64_t bits) {
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) + (int32_t)(bits >> 32 & 0xffff);
    return (float)(2 * sum - 3 * 0xffff) / 0x10000;
}

/* The velocity of a particle in a stream along x, which is as fast as particles are besides, one way (the root of the mean square). */
static inline void in_stream(uint64_t *random, float speed, float *velocity) {
    velocity[0] = speed * (1 + normal(random_next(random)));
    velocity[1] = speed * normal(random_next(random));
    velocity[2] = speed * normal(random_next(random));
}

/* The same of one that comes through a plane across the stream: faster ones come more often. The fastest are 4 times as fast as the stream. */
static inline void through_plane(uint64_t *random, float speed, float *velocity) {
    in_stream(random, speed, velocity);
    for (;;) {
        uint64_t bits = random_next(random);
        velocity[0] = speed * (1 + normal(bits));
        if (velocity[0] > 4 * speed * unit_of(bits >> 48, 16)) return;
    }
}

/* Moves a particle for an iteration in a box whose sides are mirrors, but for the far end of x: whether it is still there. */
static inline int move(struct particle *p, const int *side) {
    for (int d = 0; d < 3; d++) {
        float at = p->at[d] + p->velocity[d], end = (float)side[d];
        if (d == 0 && at >= end) return 0;
        while (at < 0 || at >= end) {
            p->velocity[d] = -p->velocity[d];
            at = at < 0 ? -at : at > end ? 2 * end - at : nextafterf(end, 0);
        }
        p->at[d] = at;
    }
    return 1;
}

static inline float apart_by(const struct particle *a, const struct particle *b) {
    float square = 0;
    for (int d = 0; d < 3; d++) square += (a->velocity[d] - b->velocity[d]) * (a->velocity[d] - b->velocity[d]);
    return sqrtf(square);
}

/* Two hard spheres leave each other in any direction, as fast as they met: a point of a circle at random tells which one. */
static inline void collide(struct particle *a, struct particle *b, float speed, uint64_t *random) {
    float x, y, square;
    do {
        uint64_t bits = random_next(random);
        x = 2 * unit_of(bits, 24) - 1, y = 2 * unit_of(bits >> 32, 24) - 1;
        square = x * x + y * y;
    } while (square >= 1);
    float across = sqrtf(1 - square);
    const float apart[3] = {speed * x * across, speed * y * across, speed * (0.5f - square)};
    for (int d = 0; d < 3; d++) {
        float mean = (a->velocity[d] + b->velocity[d]) / 2;
        a->velocity[d] = mean + apart[d];
        b->velocity[d] = mean - apart[d];
    }
}

/* In units so small that whole numbers of them are added up: the same sum in every order. */
static inline int64_t energy_of(const struct particle *p) {
    double squares = 0;
    for (int d = 0; d < 3; d++) squares += (double)p->velocity[d] * p->velocity[d];
    return (int64_t)(squares / 2 * 0x1p40 + 0.5);
}

/* The same, looking whether momentum and energy are what they were, but for what is rounded. Gives how much energy that is. */
static inline int64_t collide_checked(struct particle *a, struct particle *b, float speed, uint64_t *random) {
    const double least = 1e-6; /* of a number that is rounded some times */
    double momentum[3], largest = 0;
    for (int d = 0; d < 3; d++) {
        momentum[d] = (double)a->velocity[d] + b->velocity[d];
        largest = fmax(largest, fmax(fabs(a->velocity[d]), fabs(b->velocity[d])));
    }
    int64_t before = energy_of(a) + energy_of(b);
    collide(a, b, speed, random);
    for (int d = 0; d < 3; d++) {
        double change = (double)a->velocity[d] + b->velocity[d] - momentum[d];
        if (fabs(change) > least * largest) trivium_fail("dsmc: momentum has come from nowhere in a collision");
    }
    int64_t more = energy_of(a) + energy_of(b) - before;
    if (fabs((double)more) > 2 * least * (double)before + 2) trivium_fail("dsmc: energy has come from nowhere in a collision");
    return more;
}

#endif
