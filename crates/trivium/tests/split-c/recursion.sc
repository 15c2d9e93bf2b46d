// A list round the processors: function pointers, recursion, variable arguments, static locals, bit-fields, unions, structures copied whole.
#include <stdio.h>
#include <stdint.h>
#include <stdarg.h>
#include <string.h>
#include <stdlib.h>
#define AT(p, x) (*toglobal((p), &(x)))
#define NEXT ((MYPROC + 1) % PROCS)
typedef struct node { int v; struct node *global next; unsigned a : 3, b : 5; union { double d; uint64_t u; char c[8]; } x; } node;
typedef node *global gnode;
static node mine;
static int counts[8];
static int apply(int (*f)(gnode, int), gnode p, int k) { return f(p, k); }
static int getv(gnode p, int k) { return p->v + k; }
static int setv(gnode p, int k) { p->v = k; return k; }
static int walk(gnode p, int depth) { return depth == 0 ? 0 : p->v + walk(p->next, depth - 1); }
static int sumv(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n--) { gnode p = va_arg(l, gnode); s += p->v; } va_end(l); return s; }
static int calls(void) { static int n; return ++AT(MYPROC, n); }
int splitc_main(int argc, char **argv) {
    mine = (node){ .v = MYPROC * 10 + 1, .next = toglobal(NEXT, &mine), .a = MYPROC & 7, .b = 9 };
    mine.x.d = 1.5 * MYPROC;
    barrier();
    gnode n = toglobal(NEXT, &mine);
    int r = apply(getv, n, 5);
    int w = walk(toglobal(MYPROC, &mine), 2 * PROCS + 1);
    int va = sumv(3, n, n->next, toglobal(0, &mine));
    barrier();
    apply(setv, n, MYPROC + 100);
    barrier();
    int own = *toglobal(MYPROC, &mine.v);
    n->a = n->a + 1;  n->b ^= 3;
    barrier();
    unsigned bits = toglobal(MYPROC, &mine)->a * 100 + toglobal(MYPROC, &mine)->b;
    n->x.c[7] = 0x40; n->x.c[6] = (char)0x10;
    barrier();
    uint64_t u = toglobal(MYPROC, &mine)->x.u;
    node copy = *n;
    copy.v += 1000;
    barrier();
    *n = copy;
    barrier();
    node back = *toglobal(MYPROC, &mine);
    int sw = 0;
    switch (n->v % 3) { case 0: sw = 1; break; case 1: sw = 2; /* fall */ default: sw += 4; }
    int i = 0;
again: AT(MYPROC, counts[i]) = calls(); if (++i < 4) goto again;
    barrier();
    int *global c = toglobal(NEXT, counts);
    int tot = 0; for (int k = 0; k < 8; k++) tot += c[k] * (k + 1);
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) printf("%d: r %d w %d va %d own %d bits %u u %llx back %d next %d sw %d tot %d\n", MYPROC, r, w, va, own, bits, (unsigned long long)u, back.v, toproc(back.next), sw, tot); barrier(); }
    return 0;
}
