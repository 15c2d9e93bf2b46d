// Spread pointers in structures and arrays, as results, and through global pointers.
int A[10]::; int *spread p; int *global g;
struct s { int *spread sp; int *global gp; } x;
static int *spread give(int k) { return &A[k]; }
#include <stdio.h>
int splitc_main(void) {
    int i; for_my_1D(i, 10) A[i] = 100 + i;
    barrier();
    x.sp = give(4); x.gp = (int *global)give(6); p = x.sp; g = x.gp;
    int *spread arr[2] = { give(1), give(9) };
    struct s *global r = toglobal((MYPROC + 1) % PROCS, &x);
    barrier();
    int *spread far = r->sp; 
    int v = *far + far[2] + *(r->gp) + *arr[1] + arr[0][3] + *give(0) + give(2)[1] + *++far + *far++ + (&A[9])[-4];
    int d = (int)(arr[1] - arr[0]) + (x.sp == give(4)) * 10 + (far != p) * 100 + (x.sp > arr[0]) * 1000;
    int *global c = MYPROC ? (int *global)arr[0] : g; v += *c * 0;
    int *spread me = x.sp; me++; me -= 2; me = me + 1; 
    int mod = *me + (*me) * 0; barrier();
    printf("%d: %d %d %d\n", MYPROC, v, d, mod > 103);
    return 0;
}
