// Macros, functions in structures, arrays of global pointers in structures, compound literals.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define ON(p, e) (*toglobal((p), &(e)))
#define SWAP(T, a, b) do { T t_ = (a); (a) = (b); (b) = t_; } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define CAT(a, b) a##b
#define STR(x) #x
struct ops { int (*load)(int *global); void (*save)(int *global, int); };
static int ld(int *global p) { return *p; }
static void sv(int *global p, int x) { *p = x; }
struct table { int *global cells[4]; struct { short s; char c[5]; } in[2]; struct ops ops; };
static int CAT(da, ta)[16];
static struct table tab;
struct pair { int a; long long b; };
static struct pair pairs[4];
static struct pair mk(int a) { return (struct pair){ .b = a * 2LL, .a = a }; }
static int sum(const int *global p, int n) { int s = 0; do { s += *p++; } while (--n); return s; }
int splitc_main(void) {
    int next = (MYPROC + 1) % PROCS;
    struct table *global t = toglobal(MYPROC, &tab);
    EACH(i, 4) t->cells[i] = toglobal((MYPROC + i) % PROCS, &data[i]);
    t->ops = (struct ops){ ld, sv };
    barrier();
    struct table *global o = toglobal(next, &tab);
    EACH(i, 4) { o->ops.save(o->cells[i], 0); }
    barrier();
    EACH(i, 4) { if (MYPROC == 0) o->ops.save(&o->cells[i][i + 1], i * 10); }
    barrier();
    EACH(i, 2) EACH(k, 5) o->in[i].c[k] = (char)(MYPROC + i * 5 + k);
    o->in[1].s = -7; o->in[0].s = (short)(o->in[1].s * 3);
    barrier();
    *toglobal(next, &pairs[1]) = mk(MYPROC + 3);
    *toglobal(next, &pairs[2]) = (struct pair){ 9, 1LL << 40 };
    barrier();
    struct pair p1 = *toglobal(MYPROC, &pairs[1]), p2 = ON(MYPROC, pairs[2]);
    barrier();
    SWAP(struct pair, ON(MYPROC, pairs[1]), ON(MYPROC, pairs[2]));
    barrier();
    long long b = (MYPROC, ON(next, pairs[1]).b) + (MYPROC ? ON(next, pairs[2]).a ? 1 : 2 : 3);
    int s = sum(toglobal(0, data), 16), c = 0;
    EACH(i, 2) EACH(k, 5) c += t->in[i].c[k] * (k + 1);
    c += t->in[0].s;
    int *global *global pp = &t->cells[2]; int v = **pp + (*pp)[1] + *(*pp + 1);
    const char *global str = (const char *global)0; int isnull = !str;
    EACH(p, PROCS) { if (p == MYPROC) printf("%d: %d %lld %d %lld b %lld s %d c %d v %d %d %s\n", p, p1.a, p1.b, p2.a, p2.b, b, s, c, v, isnull, STR(a :- b)); barrier(); }
    return 0;
}
