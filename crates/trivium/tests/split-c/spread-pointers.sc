// Spread pointers that go back and forth, of elements of odd sizes, as parameters; reductions.
#include <stdio.h>
#include <stdlib.h>
struct odd { char c[7]; };
struct odd os[19]::;
short halves[11][7]::;
static long walk(short *spread p, int n) { long s = 0; while (n-- > 0) s = s * 2 + *p++; return s; }
static int sumof(int n, int m, short a[n][m]::) { int i, j, l, s = 0; for_my_2D(i, j, l, n, m) s += a[i][j] * (l + 1); return s; }
int splitc_main(void) {
    int i, j, l;
    for_my_1D(i, 19) for (int k = 0; k < 7; k++) os[i].c[k] = (char)(i * 7 + k);
    for_my_2D(i, j, l, 11, 7) halves[i][j] = (short)(l - 30);
    int *spread m = all_spread_malloc(50, sizeof(int));
    for (i = MYPROC; i < 50; i += PROCS) m[i] = i * 3;
    double *spread dm = all_spread_malloc(9, sizeof(double));
    for_my_1D(i, 9) dm[i] = i / 4.0;
    barrier();
    struct odd *spread e = &os[18]; unsigned s = 0; for (; e >= &os[0]; e -= 1) { s = s * 5 + e->c[3] + e->c[6]; if (e == &os[0]) break; }
    int *spread q = m + 49; int t = 0; while (q != m) { t += *q; q -= 7; }
    int *global onp = (int *global)(m + 5); int same = toproc(onp) == 5 % PROCS, val = *onp;
    int *local = PROCS > 0 ? (toproc(m + MYPROC) == MYPROC ? tolocal((int *global)(m + MYPROC)) : 0) : 0; int lv = *local;
    char *global cg = &os[4].c[2]; int cc = *cg + cg[1];
    long w = walk(&halves[2][3], 15);
    int a = all_reduce_to_all_add(sumof(11, 7, halves));
    double best = all_reduce_to_all_dmax(MYPROC * 1.5), small = all_reduce_to_all_dmin(2.0 - MYPROC);
    int sc = all_scan_add(MYPROC + 1), bc = all_bcast(MYPROC + 5);
    long dist = (&halves[10][6] - &halves[0][0]) * 100 + (m + 30 - (m + 7));
    int lt = (m + 3 < m + 4) + 2 * (m + 9 <= m + 9) + 4 * (m > m + 1);
    double *spread *d2 = &dm; double z = (*d2)[8] + *(*d2 + 3);
    barrier();
    for (int p = 0; p < PROCS; p++) { if (p == MYPROC) printf("%d: s %d t %d %d %d lv %d cc %d w %ld a %d %.1f %.1f sc %d bc %d dist %ld lt %d z %.2f\n", p, s, t, same, val, lv - 3 * MYPROC, cc, w, a, best - 1.5 * (PROCS - 1), small + PROCS, sc, bc, dist, lt, z); barrier(); }
    spread_free(dm); spread_free(m);
    return 0;
}
