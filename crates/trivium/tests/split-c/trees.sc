// A tree over all processors; const and volatile global pointers; all integer types.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct cell { struct cell *global left, *global right; int key; const char *name; } cell;
typedef cell *global cp;
static cell *pool;
static cp root;
static const int primes[] = { 2, 3, 5, 7, 11, 13 };
static volatile int flag; 
static _Bool ready[8];
static long double ld; static long long ll = -5; static unsigned char uc = 250; static signed char sc_ = -3; static short sh = -30000;
static int depth(cp p) { if (!p) return 0; int l = depth(p->left), r = depth(p->right); return 1 + (l > r ? l : r); }
static void insert(cp *global where, cp what) { while (*where) where = (*where)->key > what->key ? &(*where)->left : &(*where)->right; *where = what; }
static long sum(cp p) { return p ? sum(p->left) * 3 + p->key + sum(p->right) * 5 : 0; }
int splitc_main(void) {
    pool = malloc(sizeof(cell) * 20); memset(pool, 0, sizeof(cell) * 20);
    cell *pl = pool; barrier();
    cp *global where = toglobal(0, &root);
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) for (int k = 0; k < 7; k++) { cp c = toglobal(p, &pl[k]); c->key = (k * 37 + p * 11) % 50; insert(where, c); } barrier(); }
    long s = sum(*where); int d = depth(*where);
    const int *global pr = toglobal(PROCS - 1, primes); int ps = 0; for (int i = 0; i < 6; i++) ps += pr[i];
    int const *global const cpr = pr + 2; ps += *cpr + (int)(cpr - pr);
    volatile int *global vf = toglobal((MYPROC + 1) % PROCS, &flag);
    *vf = 3; (*vf)++; *vf += 4; *vf <<= 2; --*vf;
    barrier();
    int fl = *toglobal(MYPROC, &flag);
    _Bool *global rb = toglobal((MYPROC + 1) % PROCS, ready); rb[3] = 7; barrier();
    int rr = *toglobal(MYPROC, &ready[3]);
    long long *global gl = toglobal((MYPROC + 1) % PROCS, &ll); *gl *= 3; *gl -= 1; barrier();
    unsigned char *global gu = toglobal((MYPROC + 1) % PROCS, &uc); *gu += 10; signed char *global gs = toglobal((MYPROC + 1) % PROCS, &sc_); *gs /= 2; short *global gh = toglobal((MYPROC + 1) % PROCS, &sh); *gh -= 5000; barrier();
    long long l2 = *toglobal(MYPROC, &ll); int u2 = *toglobal(MYPROC, &uc), s2 = *toglobal(MYPROC, &sc_), h2 = *toglobal(MYPROC, &sh);
    cp table[2] = { toglobal(0, pl), 0 }; int nul = table[1] == 0 && !table[1] && table[0] != table[1];
    int *global gi = (int *global)&(pl[0].key); int same = toproc(gi) == MYPROC && tolocal(gi) == &pl[0].key;
    int tern = (MYPROC & 1 ? toglobal(0, primes) : toglobal(PROCS - 1, primes))[1];
    int comma = (*vf, *toglobal(0, &primes[4]));
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) printf("%d: %ld %d %d %d %d %lld %d %d %d %d %d %d %d %zu\n", p, s, d, ps, fl, rr, l2, u2, s2, h2, nul, same, tern, comma, sizeof(cp)); barrier(); }
    return 0;
}
