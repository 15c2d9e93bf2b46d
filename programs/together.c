/* together.c: what nodes do together by the library: conditions, semaphores, a lock for readers and a writer, reductions, a
 * broadcast, a scan.
 *
 * Half of the nodes fill a buffer of three places under a lock with two conditions, and the others empty it; a semaphore lets two nodes
 * at a time into a section; readers look at a pair of words that a writer changes one by one; sums, extremes and scans are compared with
 * what they must be.
 */
#include "options.h"

enum { PLACES = 3, INSIDE = 2 };

static struct option options[] = {
    {'n', 20, 1, 1000000, "items of each producer, and rounds of everything else"},
};

struct shared {
    trivium_lock_t lock;
    trivium_condition_t not_empty, not_full;
    int32_t places[PLACES], first, count, taken;
    int64_t sum;
    _Alignas(4096) trivium_semaphore_t semaphore;
    volatile int32_t inside;
    _Alignas(4096) trivium_read_write_lock_t pages;
    volatile int32_t left, right;
};

/* A producer puts 1 to `rounds`; who empties ends when all have been taken. */
static void fill(struct shared *s, int rounds) {
    for (int item = 1; item <= rounds; item++) {
        trivium_lock(&s->lock);
        while (s->count == PLACES) trivium_condition_wait(&s->not_full, &s->lock);
        s->places[(s->first + s->count++) % PLACES] = item;
        trivium_condition_signal(&s->not_empty);
        trivium_unlock(&s->lock);
    }
}

static void empty(struct shared *s, int all) {
    trivium_lock(&s->lock);
    for (;;) {
        while (s->count == 0 && s->taken < all) trivium_condition_wait(&s->not_empty, &s->lock);
        if (s->taken == all) break;
        s->sum += s->places[s->first];
        s->first = (s->first + 1) % PLACES;
        s->count--;
        if (++s->taken == all) trivium_condition_broadcast(&s->not_empty);
        trivium_condition_signal(&s->not_full);
    }
    trivium_unlock(&s->lock);
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, 1);
    int64_t rounds = options[0].value;
    int32_t me = trivium_node(), nodes = trivium_nodes();
    struct shared *s = trivium_alloc_on(0, sizeof *s);
    if (me == 0) trivium_semaphore_begin(&s->semaphore, INSIDE);
    trivium_barrier();

    int32_t producers = nodes / 2;
    if (me < producers) fill(s, (int)rounds);
    else empty(s, (int)rounds * producers);
    trivium_barrier();
    if (s->sum != producers * rounds * (rounds + 1) / 2) trivium_fail("items are lost");

    int64_t passed = 0;
    for (int i = 0; i < rounds; i++) {
        if (i % 4) trivium_semaphore_wait(&s->semaphore);
        else if (!trivium_semaphore_try(&s->semaphore)) continue;
        if (trivium_fetch_add32(&s->inside, 1) >= INSIDE) trivium_fail("too many are inside");
        trivium_fetch_add32(&s->inside, -1);
        passed++;
        trivium_semaphore_post(&s->semaphore);
    }
    if (trivium_reduce_min64(passed) < rounds - (rounds + 3) / 4) trivium_fail("somebody has not passed");

    for (int i = 0; i < rounds; i++) {
        if ((i + me) % 3 == 0) {
            trivium_write_lock(&s->pages);
            s->left++;
            s->right++;
            trivium_write_unlock(&s->pages);
        } else {
            trivium_read_lock(&s->pages);
            if (s->left != s->right) trivium_fail("a reader sees half of a change");
            trivium_read_unlock(&s->pages);
        }
    }
    int64_t written = 0;
    for (int i = 0; i < rounds; i++) written += (i + me) % 3 == 0;
    if (trivium_reduce_sum64(written) != s->left) trivium_fail("changes are lost");

    int64_t triangle = (int64_t)me * (me + 1) / 2, most = (int64_t)nodes * (nodes + 1) / 2;
    for (int i = 0; i < rounds; i++) {
        double half = 0.5 * (me + 1 + i);
        int good = trivium_reduce_max64(me - i) == nodes - 1 - i && trivium_reduce_min64(me - i) == -i
            && trivium_reduce_sum64(me + 1) == most && trivium_scan_sum64(me + 1) == triangle
            && trivium_broadcast64(100 * me + i, i % nodes) == 100 * (i % nodes) + i
            && trivium_reduce_sum(half) == 0.5 * (double)(most + (int64_t)nodes * i) && trivium_reduce_max(half) == 0.5 * (nodes + i)
            && trivium_reduce_min(half) == 0.5 * (1 + i) && trivium_scan_sum(half) == 0.5 * (double)(triangle + (int64_t)me * i)
            && trivium_broadcast(half, 0) == 0.5 * (1 + i);
        if (!good) trivium_fail("a reduction is wrong");
    }
    if (me == 0) printf("together: ok, %lld items, %d changes\n", (long long)s->taken, s->left);
    return 0;
}
