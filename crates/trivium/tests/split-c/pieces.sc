// Bulk accesses of spread blocks, and of more than the largest block.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
double M[6]::[33][17];
_Alignas(65536) static char big[150000];
_Alignas(65536) static char own[131072];
_Alignas(65536) static char there[131072];
int splitc_main(void) {
    int i; unsigned bad = 0;
    for_my_1D(i, 6) for (int r = 0; r < 33; r++) for (int c = 0; c < 17; c++) M[i][r][c] = i * 1000 + r * 17 + c;
    for (int k = 0; k < 150000; k++) big[k] = (char)(k * 31 + MYPROC);
    barrier();
    double (*buf)[17] = malloc(sizeof(double[33][17]));
    for (i = 0; i < 6; i++) {
        bulk_get(buf, M[i], sizeof(double[33][17])); sync();
        for (int r = 0; r < 33; r++) for (int c = 0; c < 17; c++) bad += buf[r][c] != i * 1000 + r * 17 + c;
        bulk_read(buf[3], &M[i][32][4], 13 * sizeof(double));
        for (int c = 0; c < 13; c++) bad += buf[3][c] != i * 1000 + 32 * 17 + c + 4;
        bulk_read(buf, M[i], 0);
    }
    barrier();
    char *far = malloc(150000);
    bulk_get(far, toglobal((MYPROC + 1) % PROCS, big), 150000); sync();
    for (int k = 0; k < 150000; k++) bad += far[k] != (char)(k * 31 + (MYPROC + 1) % PROCS);
    bulk_read(far + 1, toglobal((MYPROC + 1) % PROCS, big + 7), 140001);
    for (int k = 0; k < 140001; k++) bad += far[k + 1] != (char)((k + 7) * 31 + (MYPROC + 1) % PROCS);
    barrier();
    char *global in = toglobal((MYPROC + 1) % PROCS, there);
    memset(own, MYPROC + 1, 100000);
    barrier();
    bulk_put(in + 3, own + 1, 99990); sync(); barrier();
    char *global came = toglobal(MYPROC, there);
    for (int k = 0; k < 99990; k += 89) bad += came[k + 3] != (char)((MYPROC + PROCS - 1) % PROCS + 1);
    bad += came[2] || came[3 + 99990];
    barrier();
    bulk_store(toglobal((MYPROC + PROCS - 1) % PROCS, big + 5), own, 70001);
    store_sync(70001);
    char *global b = toglobal(MYPROC, big);
    for (int k = 0; k < 70001; k += 97) bad += b[k + 5] != (char)((MYPROC + 1) % PROCS + 1);
    bad += b[5 + 70001] != (char)((5 + 70001) * 31 + MYPROC);
    int all = all_reduce_to_all_add((int)bad);
    if (MYPROC == 0) printf("bad %d\n", all);
    return all;
}
