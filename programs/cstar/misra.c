/* What misra.cs does, one gate after the other. */
#include <stdio.h>

#include "circuit.h"

static struct gate gates[GATES];
static int value[GATES], next[GATES], times[GATES];
static int changed[GATES], changes;

static int output(int kind, int a, int b) {
    switch (kind) {
    case AND: return a & b;
    case OR: return a | b;
    case XOR: return a ^ b;
    default: return !(a & b);
    }
}

static void tell(int now) {
    for (int i = 0; i < GATES; i++) {
        if (!changed[i]) continue;
        changes++;
        for (int k = 0; k < FAN_OUT && gates[i].to[k] >= 0; k++) {
            int to = gates[i].to[k], then = now + gates[i].delay;
            if (then < next[to]) next[to] = then;
            times[to] |= 1 << then % 8;
        }
    }
}

/* Gives whether anything is left to do. */
static int earliest(int *now) {
    int is_left = 0;
    *now = NEVER;
    for (int i = 0; i < GATES; i++) {
        is_left |= times[i];
        if (next[i] < *now) *now = next[i];
    }
    return is_left;
}

static void begin_vector(int vector, int now) {
    static int wanted[GATES];
    for (int i = 0; i < GATES; i++) {
        wanted[i] = gates[i].kind == INPUT      ? stimulus(vector, i)
                    : gates[i].kind == REGISTER ? value[gates[i].from[0]]
                                                : value[i];
    }
    for (int i = 0; i < GATES; i++) {
        changed[i] = wanted[i] != value[i];
        value[i] = wanted[i];
    }
    tell(now);
}

static void step(int now) {
    static int result[GATES];
    for (int i = 0; i < GATES; i++) {
        result[i] = value[i];
        changed[i] = 0;
        if (next[i] != now) continue;
        times[i] &= ~(1 << now % 8);
        next[i] = NEVER;
        for (int k = LONGEST; k > 0; k--) {
            if (times[i] & 1 << (now + k) % 8) next[i] = now + k;
        }
        if (gates[i].kind >= AND) {
            result[i] = output(gates[i].kind, value[gates[i].from[0]], value[gates[i].from[1]]);
        }
        changed[i] = result[i] != value[i];
    }
    for (int i = 0; i < GATES; i++) value[i] = result[i];
    tell(now);
}

int main(void) {
    int now = 0, steps = 0;
    static unsigned digest[GATES];
    unsigned all = 0;
    make_circuit(gates);
    for (int i = 0; i < GATES; i++) next[i] = NEVER;
    for (int vector = 0; vector < VECTORS; vector++) {
        begin_vector(vector, now);
        for (int then; earliest(&then); steps++) {
            now = then;
            step(now);
        }
        for (int i = 0; i < GATES; i++) digest[i] = digest[i] * 31 + (unsigned)value[i];
    }
    for (int i = 0; i < GATES; i++) all ^= digest[i] * (2 * (unsigned)i + 1);
    printf("misra: %d gates, %d vectors, %d steps to time %d, %d changes, digest %08x\n", GATES, VECTORS, steps, now, changes, all);
    return 0;
}
