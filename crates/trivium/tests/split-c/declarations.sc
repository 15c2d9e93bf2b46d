// Typedefs of global pointers, pointers to global pointers, pointers to functions that take them, names that are hidden.
#include <stdio.h>
typedef int *global gp_t; typedef gp_t pair_t[2];
extern int ext[12]::;
int ext[12]::;
struct fwd; struct fwd *global head;
struct fwd { int x; struct fwd *global n; };
static struct fwd first;
int *global arr_of[3], *global *global pp;
int (*fp)(int *global, double *spread);
int f(int *global a, double *spread b) { return *a + (int)*b; }
double sp[8]::;
static inline int *global pick(int p, int *q) { return toglobal(p, q); }
void nothing(int *global restrict a, const volatile double *global b) { (void)a; (void)b; }
static int vals[3] = { 4, 5, 6 };
int splitc_main(int argc, char *argv[]) {
    int i;
    for_my_1D(i, 12) ext[i] = i;
    for_my_1D(i, 8) sp[i] = i * 2;
    first.x = MYPROC + 7; first.n = 0;
    head = toglobal((MYPROC + 1) % PROCS, &first);
    barrier();
    pair_t pr = { pick(0, &vals[1]), pick(PROCS - 1, vals) };
    arr_of[1] = pr[1]; pp = (gp_t *global)&arr_of[1];
    fp = f;
    int a = fp(pr[0], &sp[3]) + (*fp)(pr[1] + 2, sp + 7) + **pp + pp[0][1];
    int b = head->x + !head->n + (head->n == 0) + (0 == head->n) + (head ? 10 : 20);
    int *global z = 0; gp_t y = { 0 }; b += z == y;
    nothing(z, 0);
    int tot = 0; for (i = 11; i >= 0; --i) tot = tot * 2 + ext[i];
    for (int *global w = pr[1], *global e = w + 3; w != e; ++w) tot += *w;
    _Static_assert(sizeof(int *global) == sizeof(int *), "same");
    {   int vals = 3; /* hides */ tot += vals; }
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) printf("%d: %d %d %d %d\n", p, a, b - (MYPROC + 1) % PROCS, tot, argc > 0); barrier(); }
    return 0;
}
