/* dsmc-write.c: dsmc.c with particles that go to other nodes as messages (Tempest's custom protocol for DSMC; protocol remote-records).
 *
 * A particle goes to the buffer of its new node as soon as it has left its region, in one message, and nobody takes a lock or waits for a block. Run it with the default
 * protocol of everything else first:
 *     trivium sim programs/dsmc-write.c -p stache -p remote-records ...
 */
#include "trivium/remote-records.h"

#define OTHER_EXCHANGE
#include "dsmc.c"

static struct particle *halves[2]; /* of this node's buffer: one is looked at while the other one is filled */

static void open_exchange(void) {
    for (int half = 0; half < 2; half++) {
        for (int p = 0; p < nodes; p++) {
            struct particle *of_node = trivium_alloc_on(p, (uint64_t)options[ROOM].value * sizeof *of_node);
            trivium_name(of_node, "buffers");
            if (p == self) halves[half] = of_node;
        }
    }
    remote_records_open(0, halves[0], halves[1], options[ROOM].value, sizeof(struct particle) / sizeof(int64_t));
}

static void give(int to, const struct particle *particle) {
    remote_records_put(0, to, (void *)particle);
}

static const struct particle *take(int *come) {
    static int half = 1;
    *come = (int)remote_records_finish(0);
    if (*come < 0) buffer_is_full(self);
    half = !half;
    return halves[half];
}
