/* appbt-equations.h: the equations of appbt.c, its manufactured solution, and operations on 5 x 5 blocks.
 *
 * Of a cell there are density, three momenta and energy. Along each axis a convected and a diffused quantity are functions of these five; a right-hand side is made of a
 * first difference of the one and a second difference of the other, and of a fourth difference of the five themselves, which keeps down what alternates from cell to cell.
 * All constants are those of the NAS Parallel Benchmarks (Bailey and others 1991).
 */
#ifndef APPBT_EQUATIONS_H
#define APPBT_EQUATIONS_H

enum { FIVE = 5, BLOCK = FIVE * FIVE };

static double time_step; /* 0.01, and 0.0008 for more than 18 cells at a side, as for those benchmarks' sizes of 12 and of 24 and 64 */
static const double GAS = 0.4;   /* the ratio of specific heats, less one */
static const double VISCOSITY = 0.1, CONDUCTIVITY = 1.96;
static const double SMOOTHING[3] = {0.75, 0.75, 1.0}; /* of second order, along each axis */
static const double DISSIPATION = 0.25;               /* of fourth order */

/* ---- What is convected and diffused along an axis ------------------------------------------------ */

static inline void fluxes(int axis, const double *restrict u, double *restrict convected, double *restrict diffused) {
    double inverse = 1 / u[0], v[3] = {u[1] * inverse, u[2] * inverse, u[3] * inverse};
    double half = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), pressure = GAS * (u[4] - u[0] * half);
    for (int m = 0; m < FIVE; m++) {
        convected[m] = u[m] * v[axis];
        diffused[m] = SMOOTHING[axis] * u[m];
    }
    convected[1 + axis] += pressure;
    convected[4] += pressure * v[axis];
    for (int j = 0; j < 3; j++) diffused[1 + j] += VISCOSITY * v[j];
    diffused[1 + axis] += VISCOSITY / 3 * v[axis];
    diffused[4] += VISCOSITY * ((1 - CONDUCTIVITY) * half + v[axis] * v[axis] / 6 + CONDUCTIVITY * u[4] * inverse);
}

/* The derivatives of both by the five: row by row, where row m has those of component m. */
static inline void derivatives(int axis, const double *restrict u, double *restrict convection, double *restrict diffusion) {
    double inverse = 1 / u[0], v[3] = {u[1] * inverse, u[2] * inverse, u[3] * inverse};
    double half = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), energy = u[4] * inverse, enthalpy = energy + GAS * (energy - half);
    double *row = convection;
    for (int k = 0; k < BLOCK; k++) convection[k] = diffusion[k] = 0;
    row[1 + axis] = 1;
    for (int j = 0; j < 3; j++) {
        row += FIVE;
        row[0] = -v[j] * v[axis];
        row[1 + j] = v[axis];
        row[1 + axis] += v[j];
    }
    row = convection + (1 + axis) * FIVE;
    row[0] += GAS * half;
    for (int k = 0; k < 3; k++) row[1 + k] -= GAS * v[k];
    row[4] = GAS;
    row = convection + 4 * FIVE;
    row[0] = v[axis] * (GAS * half - enthalpy);
    for (int k = 0; k < 3; k++) row[1 + k] = -GAS * v[k] * v[axis];
    row[1 + axis] += enthalpy;
    row[4] = (1 + GAS) * v[axis];

    for (int m = 0; m < FIVE; m++) diffusion[m * FIVE + m] = SMOOTHING[axis];
    for (int j = 0; j < 3; j++) {
        double of = j == axis ? VISCOSITY * 4 / 3 * inverse : VISCOSITY * inverse;
        row = diffusion + (1 + j) * FIVE;
        row[0] -= of * v[j];
        row[1 + j] += of;
    }
    row = diffusion + 4 * FIVE;
    row[0] -= VISCOSITY * inverse * (2 * (1 - CONDUCTIVITY) * half + v[axis] * v[axis] / 3 + CONDUCTIVITY * energy);
    for (int k = 0; k < 3; k++) row[1 + k] += VISCOSITY * inverse * (1 - CONDUCTIVITY) * v[k];
    row[1 + axis] += VISCOSITY * inverse / 3 * v[axis];
    row[4] += VISCOSITY * CONDUCTIVITY * inverse;
}

/* ---- The manufactured solution -------------------------------------------------------------------- */

/* At a place in the unit cube: a polynomial of the fourth degree along each axis. */
static void solution(const double where[3], double *u) {
    static const double of[FIVE][13] = {
        {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3}, {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
        {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4}, {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
        {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
    };
    for (int m = 0; m < FIVE; m++) {
        u[m] = of[m][0];
        for (int d = 0; d < 3; d++) {
            double x = where[d];
            u[m] += x * (of[m][1 + d] + x * (of[m][4 + d] + x * (of[m][7 + d] + x * of[m][10 + d])));
        }
    }
}

/* What a first step begins with inside of the cube: made of the solution on its six faces, as those benchmarks do it. */
static void interpolate(const double where[3], double *u) {
    double between[3][FIVE];
    for (int d = 0; d < 3; d++) {
        double on[3] = {where[0], where[1], where[2]}, first[FIVE], last[FIVE];
        on[d] = 0;
        solution(on, first);
        on[d] = 1;
        solution(on, last);
        for (int m = 0; m < FIVE; m++) between[d][m] = where[d] * last[m] + (1 - where[d]) * first[m];
    }
    for (int m = 0; m < FIVE; m++) {
        double x = between[0][m], y = between[1][m], z = between[2][m];
        u[m] = x + y + z - x * y - x * z - y * z + x * y * z;
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------------- */

/* b -= a c. */
static inline void subtract_block(double *restrict b, const double *restrict a, const double *restrict c) {
    for (int i = 0; i < FIVE; i++) {
        for (int j = 0; j < FIVE; j++) {
            double sum = b[i * FIVE + j];
            for (int k = 0; k < FIVE; k++) sum -= a[i * FIVE + k] * c[k * FIVE + j];
            b[i * FIVE + j] = sum;
        }
    }
}

/* r -= a x. */
static inline void subtract_vector(double *restrict r, const double *restrict a, const double *restrict x) {
    for (int i = 0; i < FIVE; i++) {
        double sum = r[i];
        for (int k = 0; k < FIVE; k++) sum -= a[i * FIVE + k] * x[k];
        r[i] = sum;
    }
}

/* Divides c and r by b, which is used up: Gauss and Jordan's elimination. It takes no pivots: blocks have the most of their weight on the diagonal. */
static inline void divide(double *restrict b, double *restrict c, double *restrict r) {
    for (int p = 0; p < FIVE; p++) {
        double pivot = 1 / b[p * FIVE + p];
        for (int j = p + 1; j < FIVE; j++) b[p * FIVE + j] *= pivot;
        for (int j = 0; j < FIVE; j++) c[p * FIVE + j] *= pivot;
        r[p] *= pivot;
        for (int i = 0; i < FIVE; i++) {
            if (i == p) continue;
            double of = b[i * FIVE + p];
            for (int j = p + 1; j < FIVE; j++) b[i * FIVE + j] -= of * b[p * FIVE + j];
            for (int j = 0; j < FIVE; j++) c[i * FIVE + j] -= of * c[p * FIVE + j];
            r[i] -= of * r[p];
        }
    }
}

#endif
