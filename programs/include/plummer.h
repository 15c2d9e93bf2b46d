/* plummer.h: bodies of Plummer's model of a cluster (Aarseth, Henon and Wielen 1974), in units of Henon: mass of all, and constant of gravity, 1, and energy -1/4. */
#ifndef PLUMMER_H
#define PLUMMER_H

#include <math.h>

#include "random.h"

/* A vector of a length, in any direction. */
static void choose_direction(uint64_t *random, double length, double *vector) {
    double square;
    do {
        square = 0;
        for (int d = 0; d < 3; d++) {
            vector[d] = 2 * random_unit(random) - 1;
            square += vector[d] * vector[d];
        }
    } while (square > 1 || square == 0);
    for (int d = 0; d < 3; d++) vector[d] *= length / sqrt(square);
}

/* A body of Plummer's model (Aarseth, Henon and Wielen 1974), not farther out than 9 of its lengths, as the SPLASH program has it. */
static void choose_body(uint64_t *random, double *position, double *velocity) {
    const double length = 3 * M_PI / 16;
    double radius, speed;
    do radius = 1 / sqrt(pow(random_unit(random), -2.0 / 3) - 1);
    while (!(radius < 9));
    do speed = random_unit(random);
    while (0.1 * random_unit(random) > speed * speed * pow(1 - speed * speed, 3.5));
    choose_direction(random, length * radius, position);
    choose_direction(random, sqrt(2 / length) * speed / pow(1 + radius * radius, 0.25), velocity);
}

#endif
