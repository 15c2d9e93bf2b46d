/* A simulator of logic that goes from event to event. All gates that have something to do at the earliest time do it; those whose output changes say so to
 * the gates after them, by sends that are combined: the earliest time of all, and the set of all times. The answer is that of sequential C (misra.c).
 *
 * Of the source (Larus 1994) it is known that reductions of small items and combining sends are nearly all that it communicates; the circuit and the program
 * are ours.
 *
 * --cc "-DGATES=100 -DVECTORS=5" gives another size. */
#include <stdio.h>

#include "circuit.h"

shape [GATES]gates;
int:gates kind, delay, from[2], to[FAN_OUT];
/* The output; when there is something to do next; and at which of the times to come, by their numbers modulo 8. */
int:gates value, next, times, one = 1;
unsigned:gates digest;

/* Says to the gates after those that are active that they have something to do. */
static void tell(int now) {
    with (gates) {
        for (int k = 0; k < FAN_OUT; k++) {
            where (to[k] >= 0) {
                [to[k]]next <?= now + delay;
                [to[k]]times |= 1 << (now + delay) % 8;
            }
        }
    }
}

/* At each gate what its inputs make. */
static int:current output_of(int:current kind, int:current a, int:current b) {
    return kind == AND ? a & b : kind == OR ? a | b : kind == XOR ? a ^ b : !(a & b);
}

static void lay_out(void) {
    static struct gate circuit[GATES];
    make_circuit(circuit);
    with (gates) {
        kind = circuit[pcoord(0)].kind;
        delay = circuit[pcoord(0)].delay;
        for (int k = 0; k < 2; k++) from[k] = circuit[pcoord(0)].from[k];
        for (int k = 0; k < FAN_OUT; k++) to[k] = circuit[pcoord(0)].to[k];
        next = NEVER;
    }
}

int main(void) {
    static int inputs[GATES];
    int now = 0, steps = 0, changes = 0;
    lay_out();
    with (gates) {
        for (int vector = 0; vector < VECTORS; vector++) {
            for (int i = 0; i < INPUTS; i++) inputs[i] = stimulus(vector, i);
            int:gates wanted = kind == INPUT ? inputs[pcoord(0)] : kind == REGISTER ? [from[0]]value : value;
            where (wanted != value) {
                value = wanted;
                changes += one;
                tell(now);
            }
            while ((|= times)) {
                now = (<?= next);
                steps++;
                where (next == now) {
                    times &= ~(1 << now % 8);
                    next = NEVER;
                    for (int k = LONGEST; k > 0; k--) {
                        where (times & 1 << (now + k) % 8) next = now + k;
                    }
                    int:gates result = value;
                    where (kind >= AND) result = output_of(kind, [from[0]]value, [from[1]]value);
                    where (result != value) {
                        value = result;
                        changes += one;
                        tell(now);
                    }
                }
            }
            digest = digest * 31 + value;
        }
        digest *= 2 * pcoord(0) + 1;
        printf("misra: %d gates, %d vectors, %d steps to time %d, %d changes, digest %08x\n", GATES, VECTORS, steps, now,
               changes, (^= digest));
    }
    return 0;
}
