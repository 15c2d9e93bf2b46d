/* What gauss.cs does, one row after the other: to the last bit. */
#include <math.h>
#include <stdio.h>

#include "bits.h"

#ifndef SIZE
#define SIZE 128
#endif

struct row {
    double v[SIZE];
};

static struct row a[SIZE];
static int used[SIZE], order[SIZE];

int main(void) {
    int positive = 1, last = 0;
    unsigned long long digest = 0;
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j < SIZE; j++) a[i].v[j] = (i * 7919 + j * 104729 + i * j * 31) % 1009 / 64.0 - 7.5;
    }
    for (int k = 0; k < SIZE; k++) {
        int pivot = -1;
        for (int i = 0; i < SIZE; i++) {
            if (!used[i] && (pivot < 0 || fabs(a[i].v[k]) > fabs(a[pivot].v[k]))) pivot = i;
        }
        used[pivot] = 1;
        order[pivot] = k;
        positive ^= a[pivot].v[k] < 0;
        for (int i = 0; i < SIZE; i++) {
            if (used[i]) continue;
            double factor = a[i].v[k] / a[pivot].v[k];
            for (int j = k; j < SIZE; j++) a[i].v[j] -= factor * a[pivot].v[j];
        }
    }
    for (int i = 0; i < SIZE; i++) {
        unsigned long long own = (unsigned long long)order[i];
        for (int j = 0; j < SIZE; j++) own = own * 31 + (union bits){a[i].v[j]}.bits;
        digest ^= own * (2 * (unsigned long long)i + 1);
        if (order[i] == SIZE - 1) last = i;
    }
    printf("gauss: %d by %d, the last pivot is row %d, signs %d, digest %016llx\n", SIZE, SIZE, last, positive, digest);
    return 0;
}
