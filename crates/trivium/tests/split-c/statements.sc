// Gets and stores as statements of all kinds, in macros, to members; labels.
#include <stdio.h>
#define GET(x, p, v) ((void)0); x := *toglobal(p, &v)
#define PUTS(p, v, x) do { *toglobal(p, &(v)) := (x); } while (0)
_Alignas(65536) static int a, b[10]; _Alignas(65536) static double d; _Alignas(65536) static struct q { int x, y; struct { short z[3]; } in; } q;
int splitc_main(void) {
    int next = (MYPROC + 1) % PROCS, x = 0, y = 0, i = 0;
    int xs[4]; struct q w; 
    *toglobal(MYPROC, &a) = MYPROC + 40; *toglobal(MYPROC, &d) = .5; *toglobal(MYPROC, &q) = (struct q){ 1, MYPROC, { { 7, 8, 9 } } };
    barrier();
    if (MYPROC >= 0) x := *toglobal(next, &a); else y := *toglobal(next, &a);
    for (i = 0; i < 4; i++) xs[i] := *toglobal((MYPROC + i) % PROCS, &a);
    sync();
    { GET(y, next, a); } sync();
    w := *toglobal(next, &q); sync();
    short *global zs = toglobal(next, &q)->in.z; short zz; zz := zs[2]; sync();
    w.in.z[1] := toglobal(next, &q)->in.z[0]; sync();
    barrier();
    PUTS(next, b[3], x + 1); PUTS(next, b[x % 3], y); sync();
    (*toglobal(next, &d)) :- 2.25; store_sync(8);
    toglobal(next, &q)->y :- 99; toglobal(next, &q)->in.z[2] :- (short)-5; store_sync(6);
    barrier();
    int s = 0; for (int *global p = toglobal(MYPROC, b), *global e = p + 10; p < e; p++) s = s * 2 + *p;
    switch (x) { case 40: case 41: i = x ? y : -1; break; default: i = x ? -2 : y; out: i++; if (i < 0) goto out; }
    struct q me = *toglobal(MYPROC, &q);
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) printf("%d: %d %d %d %d %d %d %d %.2f %d %d %d %d\n", p, x, y, xs[0] + xs[3], w.y, w.in.z[1], zz, s, *toglobal(MYPROC, &d), me.x, me.y, me.in.z[2], i); barrier(); }
    return 0;
}
