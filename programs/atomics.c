/* atomics.c: C's own atomic operations on shared memory.
 *
 * Every node, -n times: adds to counters of 1, 2, 4 and 8 bytes that lie side by side, moves an item between two stacks
 * without locks, and enters a critical section under a ticket lock. In the end nothing is lost and nothing is there twice.
 */
#include "options.h"
#include <stdatomic.h>

enum { ROUNDS, ITEMS, OPTIONS };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'n', 40, 1, 1000000, "rounds of each node"},
    [ITEMS] = {'i', 6, 1, 1000, "items on the stacks"},
};

struct counters {
    _Atomic uint8_t byte;
    _Atomic uint16_t half;
    _Atomic uint32_t word;
    _Atomic uint64_t dword;
};

/* The item on top, and how often the top has changed: an item that came back is not mistaken for one that stayed. */
struct stack {
    _Atomic uint64_t top;
};

struct ticket_lock {
    _Atomic uint32_t next, serving;
};

struct shared {
    struct counters counters;
    struct stack stacks[2];
    struct ticket_lock lock;
    uint32_t inside;            /* plain: the lock's */
    _Atomic uint32_t below[1000]; /* for each item, the one below it plus 1 */
    _Atomic uint32_t finished;
};

static uint64_t own; /* of this node only, so that no atomic operation is needed */

static void push(struct shared *s, struct stack *stack, uint32_t item) {
    uint64_t top = atomic_load(&stack->top), changed;
    do {
        atomic_store(&s->below[item], (uint32_t)top);
        changed = ((top >> 32) + 1) << 32 | (item + 1);
    } while (!atomic_compare_exchange_weak(&stack->top, &top, changed));
}

/* The item plus 1, 0 if there is none. */
static uint32_t pop(struct shared *s, struct stack *stack) {
    uint64_t top = atomic_load(&stack->top), changed;
    do {
        if ((uint32_t)top == 0) return 0;
        changed = ((top >> 32) + 1) << 32 | atomic_load(&s->below[(uint32_t)top - 1]);
    } while (!atomic_compare_exchange_weak(&stack->top, &top, changed));
    return (uint32_t)top;
}

static void enter(struct shared *s) {
    uint32_t mine = atomic_fetch_add(&s->lock.next, 1);
    while (atomic_load(&s->lock.serving) != mine) {
    }
    uint32_t inside = s->inside;
    s->inside = inside + 1;
    atomic_fetch_add(&s->lock.serving, 1);
}

static void check(int self, int64_t nodes, int64_t rounds, int64_t items, struct shared *s) {
    uint64_t all = (uint64_t)(nodes * rounds);
    struct counters *c = &s->counters;
    int right = c->byte == (uint8_t)(3 * all) && c->half == (uint16_t)(0u - 5 * all) && c->word == (uint32_t)(7 * all) &&
                c->dword == (all << 33) + all && s->inside == all && own == (uint64_t)rounds;
    int64_t found = 0, sum = 0;
    for (int stack = 0; self == 0 && stack < 2; stack++) {
        for (uint32_t item; (item = pop(s, &s->stacks[stack])) != 0; found++) sum += item;
    }
    right = right && (self != 0 || (found == items && sum == items * (items + 1) / 2));
    if (!right) {
        printf("atomics: node %d of %lld: %u %u %u %llu, %u inside, %lld items\n", self, (long long)nodes, c->byte, c->half,
               c->word, (unsigned long long)c->dword, s->inside, (long long)found);
        trivium_fail("atomics: wrong answer");
    }
    if (self == 0) printf("atomics: ok, %llu rounds\n", (unsigned long long)all);
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    int self = trivium_node(), nodes = trivium_nodes();
    int64_t rounds = options[ROUNDS].value, items = options[ITEMS].value;
    struct shared *s = trivium_alloc_on(0, sizeof *s);
    for (int64_t item = self; item < items; item += nodes) push(s, &s->stacks[item % 2], (uint32_t)item);
    trivium_barrier();
    trivium_begin();
    for (int64_t round = 0; round < rounds; round++) {
        atomic_fetch_add(&s->counters.byte, 3);
        atomic_fetch_sub(&s->counters.half, 5);
        atomic_fetch_add(&s->counters.word, 7);
        atomic_fetch_add(&s->counters.dword, ((uint64_t)1 << 33) + 1);
        uint32_t item = pop(s, &s->stacks[round % 2]);
        if (item != 0) push(s, &s->stacks[(round + self) % 2], item - 1);
        enter(s);
        own++;
    }
    atomic_thread_fence(memory_order_seq_cst);
    atomic_fetch_or(&s->finished, 1);
    trivium_barrier();
    trivium_end();
    check(self, nodes, rounds, items, s);
    return 0;
}
