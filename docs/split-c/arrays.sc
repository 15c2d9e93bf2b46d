// Spread arrays and spread pointers.
#include <stdio.h>

enum { N = 10, ROWS = 3, COLUMNS = 4, SIDE = 2 };

double vector[N]::;                            // element l is on processor l mod PROCS
int matrix[ROWS][COLUMNS]::[SIDE][SIDE];       // of blocks, each a contiguous object on one processor

// A spread array as a parameter. Its sizes are those of the call.
static double sum(int n, double v[n]::) {
    double all = 0;
    for (int i = 0; i < n; i++) all += v[i];
    return all;
}

static int trace(int rows, int columns, int blocks[rows][columns]::[SIDE][SIDE]) {
    int all = 0;
    for (int i = 0; i < rows; i++) all += blocks[i][i % columns][1][1];
    return all;
}

int splitc_main(void) {
    int i, j, l;

    // Each processor fills its own elements.
    for_my_1D(i, N) vector[i] = i;
    for_my_2D(i, j, l, ROWS, COLUMNS) {
        int (*own)[SIDE] = (int (*)[SIDE])tolocal(matrix[i][j]);
        own[0][0] = own[0][1] = own[1][0] = 0;
        own[1][1] = 10 * i + j;
    }
    barrier();

    // A spread pointer goes to the next processor first, then to the next element on each.
    double *spread p = vector, *spread q = &vector[7];
    int first = toproc(p), next = toproc(p + 1), last = toproc(vector + (N - 1));
    p += 2;
    p++;
    double three = *p, five = p[2], six = *--q;
    int apart = q - p, less = p < q;
    // As a global pointer it stays on its processor.
    double *global g = (double *global)p;
    int same = toproc(g) == toproc(p) && *g == three;

    // Memory for spread data, all processors together.
    int *spread squares = (int *spread)all_spread_malloc(20, sizeof(int));
    for_my_1D(i, 20) squares[i] = i * i;
    barrier();
    int nineteen = squares[19];
    barrier();
    spread_free(squares);

    if (MYPROC == PROCS - 1) {
        printf("sum %g, trace %d\n", sum(N, vector), trace(ROWS, COLUMNS, matrix));
        printf("processors %d %d %d; %g %g %g, %d apart, %d, %d, %d\n", first, next, last, three, five, six, apart, less, same, nineteen);
    }
    return 0;
}
