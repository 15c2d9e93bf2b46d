/* circuit.h: a circuit at random, the same for misra.cs and misra.c: gates with two inputs, which follow each other; every eighth is a register. */
#ifndef CIRCUIT_H
#define CIRCUIT_H

#ifndef GATES
#define GATES 1024
#endif
#ifndef VECTORS
#define VECTORS 64
#endif

enum { INPUTS = GATES / 16 > 2 ? GATES / 16 : 2, FAN_OUT = 4, LONGEST = 4, NEVER = 0x7fffffff };
enum kind { INPUT, REGISTER, AND, OR, XOR, NAND };

struct gate {
    int kind, delay; /* how long a change takes to the gates after it: 1 to LONGEST */
    int from[2];     /* gates before it; of an input, itself */
    int to[FAN_OUT]; /* gates after it; -1: there are no more */
};

static unsigned random_bits(unsigned a, unsigned b) {
    unsigned x = a * 0x9e3779b9u ^ (b + 0x7f4a7c15u) * 0x85ebca6bu;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    x = (x ^ x >> 12) * 0x297a2d39u;
    return x ^ x >> 15;
}

/* The value of an input in a vector. */
static int stimulus(int vector, int gate) { return (int)(random_bits((unsigned)vector + 17, (unsigned)gate) >> 7 & 1); }

/* A gate before this one that has an output left; gates that follow each other at the latest. */
static int before(const struct gate *gates, const int *outputs, int gate, int input) {
    for (unsigned try = 0; try < 64; try++) {
        int from = (int)(random_bits((unsigned)gate * 2 + (unsigned)input, try) % (unsigned)gate);
        if (outputs[from] < FAN_OUT && gates[from].to[0] != gate) return from;
    }
    int from = gate - 1;
    while (outputs[from] == FAN_OUT) from--;
    return from;
}

static void make_circuit(struct gate *gates) {
    static int outputs[GATES];
    for (int i = 0; i < GATES; i++) {
        unsigned bits = random_bits((unsigned)i, 99);
        int delay = 1 + (int)(bits >> 8 & (LONGEST - 1));
        gates[i] = (struct gate){AND + (int)(bits % 4), delay, {i, i}, {-1, -1, -1, -1}};
        if (i < INPUTS) {
            gates[i].kind = INPUT;
            continue;
        }
        if (i % 8 == 7) gates[i].kind = REGISTER;
        for (int k = 0; k < 2; k++) {
            int from = before(gates, outputs, i, k);
            gates[i].from[k] = from;
            gates[from].to[outputs[from]++] = i;
        }
    }
}

#endif
