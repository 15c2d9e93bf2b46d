// Gets, puts and stores of words and structures, many under way.
#include <stdio.h>
#include <string.h>
typedef struct { int id; double w[3]; char tag; } rec;
rec recs[24]::;
_Alignas(65536) static int line[64]; 
_Alignas(65536) static rec inbox[8];
_Alignas(65536) static double dbl[8];
static rec fetch(int k) { rec r; r := recs[k]; sync(); return r; }
int splitc_main(void) {
    int i, next = (MYPROC + 1) % PROCS;
    for_my_1D(i, 24) { rec r = { i, { i, i * .5, -i }, (char)('a' + i) }; recs[i] = r; }
    barrier();
    double sum = 0;
    rec mine[24];
    for (i = 0; i < 24; i++) mine[i] := recs[(i + MYPROC) % 24];
    int polls = 0; while (!is_sync()) polls++;
    sync();
    for (i = 0; i < 24; i++) sum += mine[i].w[0] * (i + 1) + mine[i].w[1] + mine[i].tag + mine[i].id;
    rec f = fetch((MYPROC * 5) % 24);
    for (i = 0; i < 8; i++) *toglobal(0, &line[MYPROC * 8 + i]) := MYPROC * 100 + i;
    sync(); barrier();
    int got[64]; for (i = 0; i < 8 * PROCS; i++) got[i] := *toglobal(0, &line[i]);
    sync();
    unsigned g = 0; for (i = 0; i < 8 * PROCS; i++) g = g * 3 + got[i];
    barrier();
    rec out = f; out.id += 1000;
    *toglobal(next, &inbox[2]) :- out;
    store_sync(sizeof(rec));
    rec in = *toglobal(MYPROC, &inbox[2]);
    barrier();
    for (i = 0; i < 4; i++) *toglobal(next, &dbl[i]) :- i + MYPROC * .25;
    *toglobal((MYPROC + 2) % PROCS, &dbl[7]) :- 7.5;
    all_store_sync();
    double d = 0; for (i = 0; i < 8; i++) d += *toglobal(MYPROC, &dbl[i]) * (i + 1);
    barrier();
    // read after put of one's own, put after get to the same place
    int x; 
    *toglobal(next, &line[40]) := 77 + MYPROC; sync();
    x = *toglobal(next, &line[40]);
    int y; y := *toglobal(next, &line[40]); sync(); *toglobal(next, &line[40]) := y + 1; sync();
    barrier();
    int z = *toglobal(MYPROC, &line[40]);
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) printf("%d: %.2f %d %c g %d in %d %.1f d %.3f x %d z %d\n", p, sum, f.id, f.tag, g, in.id, in.w[1], d, x, z); barrier(); }
    return 0;
}
