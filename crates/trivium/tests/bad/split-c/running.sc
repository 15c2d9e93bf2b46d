// What goes wrong while it runs, by the program's argument.
#include <stdlib.h>
#include <string.h>

static int total, list[4];
static double *global nowhere;

static int is(char **argv, const char *what) { return strcmp(argv[1], what) == 0; }

int splitc_main(int argc, char **argv) {
    int here = 3;
    (void)argc;
    if (MYPROC == 0) {
        if (is(argv, "null")) *nowhere = 1;
        if (is(argv, "null-get")) here := *(int *global)0;
        if (is(argv, "wild")) *(int *global)12345678 = 1;
        if (is(argv, "wild-local")) *tolocal((int *global)(unsigned)(here + 77777)) = 1;
        if (is(argv, "stack")) *toglobal(1, &here) = 1;
        if (is(argv, "stack-cast")) *(int *global)&here = 1;
        if (is(argv, "processor")) *toglobal(PROCS, &total) = 1;
        if (is(argv, "negative-processor")) *toglobal(-1, &total) = 1;
        if (is(argv, "negative")) bulk_read(&here, toglobal(1, list), -4);
        if (is(argv, "too-long")) bulk_write(toglobal(1, list), list, 1 << 27);
        if (is(argv, "memory")) all_spread_malloc(1 << 28, 8);
        if (is(argv, "negative-memory")) all_spread_malloc(-1, 8);
        if (is(argv, "store-sync")) store_sync(-1);
        if (is(argv, "constant")) *toglobal(1, (int *)(uintptr_t)8) = 1;
    }
    barrier();
    if (is(argv, "unreadable") && MYPROC == 1) *toglobal(0, &total) = 7;
    barrier();
    if (is(argv, "unreadable") && MYPROC == 0) here = total;
    if (is(argv, "unwritable") && MYPROC == 1) here = *toglobal(0, &total);
    barrier();
    if (is(argv, "unwritable") && MYPROC == 0) total = here;
    return 0;
}
