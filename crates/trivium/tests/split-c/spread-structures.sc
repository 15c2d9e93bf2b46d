// Spread arrays of blocks of structures; stores of several sizes to one processor; gets of one line by all.
#include <stdio.h>
#include <stdint.h>
struct pt { short x; char t[3]; float f; };
struct pt grid[6][5]::[2][3];
int v[37]::;
char bytes[64]::[3];
static int64_t acc; static char letters[40]; static short halves[20];
static int total(int n, int a[n]::) { int s = 0, i; for_my_1D(i, n) { s += a[i]; } return s; }
int splitc_main(void) {
    int i, j, l;
    for_my_2D(i, j, l, 6, 5) {
        for (int a = 0; a < 2; a++) for (int b = 0; b < 3; b++) {
            grid[i][j][a][b].x = (short)(i * 100 + j * 10 + a * 3 + b); grid[i][j][a][b].t[b] = (char)('a' + a); grid[i][j][a][b].f = 0.5f * l;
        }
    }
    for_my_1D(i, 37) v[i] = i * i;
    for_my_1D(i, 64) for (int k = 0; k < 3; k++) bytes[i][k] = (char)(i + k);
    barrier();
    int s = 0; float f = 0; 
    for (i = 0; i < 6; i++) for (j = 0; j < 5; j++) for (int a = 0; a < 2; a++) for (int b = 0; b < 3; b++) { s += grid[i][j][a][b].x + grid[i][j][a][b].t[b]; f += grid[i][j][a][b].f; }
    struct pt one; struct pt *global gp = &grid[5][4][1][2];
    one := *gp; sync();
    int *spread sp = v + 3, *spread e = &v[36]; int q = 0; while (sp < e) { q += *sp; sp += 5; }
    int dist = (int)(e - v);
    unsigned bs = 0; for (i = 0; i < 64; i++) for (int k = 2; k >= 0; k--) bs = bs * 3 + bytes[i][k];
    // stores of mixed sizes to one processor
    barrier();
    int me = MYPROC;
    *toglobal(0, &letters[me]) :- (char)('A' + me);
    *toglobal(0, &halves[me]) :- (short)(300 + me);
    if (me == 0) { store_sync(3 * PROCS); }
    barrier();
    int c = 0; for (int k = 0; k < PROCS; k++) c += *toglobal(0, &letters[k]) * 1000 + *toglobal(0, &halves[k]);
    int t = all_reduce_to_all_add(total(37, v));
    // gets to one line from several nodes
    int got[16] = {0}; 
    for (int k = 0; k < 16; k++) got[k] := v[(k * 5 + me) % 37];
    sync(); int g = 0; for (int k = 0; k < 16; k++) g += got[k] - ((k * 5 + me) % 37) * ((k * 5 + me) % 37);
    int gall = all_reduce_to_all_add(g);
    if (me == 0) printf("s %d f %.2f one %d %c %.1f q %d dist %d bs %d c %d t %d g %d\n", s, f, one.x, one.t[2], one.f, q, dist, bs, c - PROCS * (65 * 1000 + 300) , t, gall);
    return 0;
}
