/* anycopy.c: copies of any bytes from any node's memory to any other's (fbcopy.h, protocol fbcopy-whole), some of them under way at once.
 *
 * Each node has areas of its own, one at home at each node and one whose pages lie round the nodes. In each round it copies pieces of them to
 * others: their ends lie anywhere in their lines, at any distance in doublewords or bytes, and cross pages. Before that lines of either end are dirty
 * at their home, at the caller or in a third node, or shared. A word of some node counts the copies up, and says when all are done. At the end each
 * node copies pieces at each distance in doublewords, where neither, one or both ends cross a page. */
#include "fbcopy.h"
#include "options.h"
#include "random.h"
#include <stdio.h>

enum { MOST_NODES = 64, AREA = 12288, AT_ONCE = 3 };
enum { ROUNDS, SEED, CHANGES, OPTIONS };
enum { ALONE, DIRTY, DIRTY_THIRD, SHARED, STATES };

static struct option options[OPTIONS] = {
    [ROUNDS] = {'r', 12, 1, 100000, "rounds"},
    [SEED] = {'s', 1, 0, 1000000, "another number makes other copies"},
    [CHANGES] = {'c', 1, 0, 1, "1: addresses are held off and changed meanwhile"},
};
static unsigned char *from[MOST_NODES][MOST_NODES + 1], *to[MOST_NODES][MOST_NODES + 1]; /* of whom, at home where: the last one everywhere */
static volatile int64_t *flags[MOST_NODES];
static int me, nodes, bad;

struct piece {
    unsigned char *to, *from;
    int64_t bytes;
    int copy;
};

static unsigned char value(int owner, int round, int64_t i) { return (unsigned char)(31 * owner + 7 * round + i + i / 251); }

/* Lines of a part of an area come into a state. */
static void into_state(volatile unsigned char *area, int64_t bytes, int state, int owner, int home) {
    int third = (owner + 1) % nodes;
    int who = state == DIRTY ? home : state == DIRTY_THIRD ? third : owner;
    for (int64_t i = 0; i < bytes; i += 64)
        if (state == SHARED || me == who) {
            if (state == DIRTY || state == DIRTY_THIRD)
                area[i] = area[i];
            else if (state == SHARED)
                (void)area[i];
        }
}

static void count_up(int64_t i) { bad += (int)i; }

/* Ends that have no memory, that overlap and so on: nothing is copied. */
static void refused(void) {
    int64_t *flag = (int64_t *)flags[me], was = *flag;
    static int64_t own[64];
    unsigned char *t = to[me][(me + 1) % nodes], *f = from[me][me];
    count_up(fbcopy(t, f, -1, flag) != FBCOPY_WRONG);
    count_up(fbcopy(t, f, (int64_t)1 << 40, flag) != FBCOPY_WRONG);
    count_up(fbcopy(own, f, 64, flag) != FBCOPY_WRONG);
    count_up(fbcopy(t, own, 64, flag) != FBCOPY_WRONG);
    count_up(fbcopy(NULL, f, 64, flag) != FBCOPY_WRONG);
    count_up(fbcopy(t, t + 100, 1000, flag) != FBCOPY_WRONG);
    count_up(fbcopy(t, f, 512, own) != FBCOPY_WRONG);
    count_up(fbcopy(t, f, 512, (int64_t *)((char *)flag + 4)) != FBCOPY_WRONG);
    count_up(fbcopy(t, f, 512, (int64_t *)(t + 504)) != FBCOPY_WRONG);
    count_up(fbcopy_wait(FBCOPY_WRONG) || fbcopy_wait(9999999));
    count_up(*flag != was);
    count_up(fbcopy((char *)flag + 4, f, 0, flag) != FBCOPY_DONE || *flag != was + 1 || !fbcopy_wait(FBCOPY_DONE));
}

/* Piece k of a round lies in third k of the areas, so that pieces never meet. */
static struct piece piece(uint64_t *random, int64_t k) {
    int64_t most = AREA / AT_ONCE - 200;
    struct piece p = {to[me][random_below(random, nodes + 1)], from[me][random_below(random, nodes + 1)], 1 + random_below(random, most), -1};
    int64_t distance[] = {0, 0, 0, 128 * random_below(random, 2), 8 * random_below(random, 16), random_below(random, 128)};
    int64_t begin = random_below(random, 64);
    if (random_below(random, 2))
        begin = begin / 16 * 16, p.bytes = (p.bytes + 127) / 128 * 128;
    p.to += k * (AREA / AT_ONCE) + begin;
    p.from += k * (AREA / AT_ONCE) + begin;
    p.from += distance[random_below(random, 6)];
    if (begin + 256 + p.bytes > AREA / AT_ONCE)
        p.bytes = AREA / AT_ONCE - begin - 256;
    return p;
}

static void round_of_copies(int round, uint64_t *common, uint64_t *random) {
    for (int owner = 0; owner < nodes; owner++)
        for (int home = 0; home <= nodes; home++) {
            int state = (int)random_below(common, STATES), target = (int)random_below(common, STATES);
            if (owner == me)
                for (int64_t i = 0; i < AREA; i++)
                    from[me][home][i] = value(me, round, i), to[me][home][i] = 99;
            trivium_barrier();
            into_state(from[owner][home], AREA, state, owner, home % nodes);
            into_state(to[owner][home], AREA, target, owner, home % nodes);
        }
    trivium_barrier();
    volatile int64_t *flag = flags[random_below(random, nodes)] + 8 * me;
    int64_t before = *flag;
    struct piece pieces[AT_ONCE];
    for (int k = 0; k < AT_ONCE; k++) {
        pieces[k] = piece(random, k);
        pieces[k].copy = fbcopy(pieces[k].to, pieces[k].from, pieces[k].bytes, flag);
        count_up(pieces[k].copy == FBCOPY_WRONG);
    }
    if (options[CHANGES].value && round % 3 == 0) {
        count_up(!fbcopy_whole_start_change());
        count_up(*flag != before + AT_ONCE);
        count_up(fbcopy_whole_copy(to[me][(me + 1) % nodes], from[me][me], 1) >= 0);
        count_up(!fbcopy_whole_end_change() || fbcopy_whole_end_change());
    }
    for (int64_t was = *flag; was != before + AT_ONCE; was = *flag)
        trivium_wait_until_changed64((const volatile int64_t *)flag, was);
    for (int k = 0; k < AT_ONCE; k++) {
        struct piece *p = &pieces[k];
        count_up(!fbcopy_wait(p->copy));
        for (int64_t i = -1; i <= p->bytes; i++) { /* and the bytes beside them */
            if (i < 0 && k == 0)
                continue;
            count_up(p->to[i] != (i < 0 || i == p->bytes ? 99 : p->from[i]));
        }
    }
    trivium_barrier();
}

/* From the node's own memory, the next one's or all nodes' to the last one's or all nodes'. */
static void every_distance(uint64_t *common) {
    enum { BYTES = 5 * 128, WORDS = 16, PAGE = 4096 };
    unsigned char *sources[] = {from[me][me], from[me][(me + 1) % nodes], from[me][nodes]};
    unsigned char *targets[] = {to[me][(me + nodes - 1) % nodes], to[me][nodes]};
    for (int64_t distance = 0; distance < WORDS; distance++) {
        for (int owner = 0; owner < nodes; owner++)
            for (int home = 0; home <= nodes; home++) {
                int state = (int)random_below(common, STATES), target = (int)random_below(common, STATES);
                into_state(from[owner][home], AREA, state, owner, home % nodes);
                into_state(to[owner][home], AREA, target, owner, home % nodes);
            }
        trivium_barrier();
        for (int crossing = 0; crossing < 4; crossing++) {
            unsigned char *f = sources[random_below(common, 3)] + (crossing % 2 ? PAGE - 256 : 1024) + 8 * distance;
            unsigned char *t = targets[random_below(common, 2)] + (crossing / 2 ? 2 * PAGE - 384 : 1024);
            int before = t[-1], after = t[BYTES];
            count_up(!fbcopy_wait(fbcopy(t, f, BYTES, NULL)));
            for (int64_t i = 0; i < BYTES; i++)
                count_up(t[i] != f[i]);
            count_up(t[-1] != before || t[BYTES] != after);
        }
        trivium_barrier();
    }
}

int main(int argc, char **argv) {
    read_options(argc, argv, options, OPTIONS);
    me = trivium_node();
    nodes = trivium_nodes();
    if (nodes > MOST_NODES)
        trivium_fail("anycopy: at most 64 nodes");
    for (int owner = 0; owner < nodes; owner++) {
        flags[owner] = trivium_alloc_on(owner, 64 * MOST_NODES);
        for (int home = 0; home <= nodes; home++) {
            from[owner][home] = home < nodes ? trivium_alloc_on(home, AREA) : trivium_alloc_round_robin(AREA);
            to[owner][home] = home < nodes ? trivium_alloc_on(home, AREA) : trivium_alloc_round_robin(AREA);
        }
    }
    trivium_barrier();
    uint64_t common = (uint64_t)options[SEED].value, random = common * 1000 + me + 1;
    trivium_begin();
    refused();
    for (int round = 0; round < options[ROUNDS].value; round++)
        round_of_copies(round, &common, &random);
    every_distance(&common);
    trivium_end();
    if (bad)
        trivium_fail("a byte is not what was copied, or a call has said the wrong thing");
    if (me == 0)
        printf("ok\n");
    return 0;
}
