// Stores, bulk accesses, and what all processors do together.
#include <stdio.h>

// Each in blocks of its own, so that plain accesses to one do not meet what other processors do to the other.
static _Alignas(256) int inbox[4];
static _Alignas(256) double row[6];

int splitc_main(void) {
    int right = (MYPROC + 1) % PROCS;
    double copy[6];

    // A store tells its sender nothing. The receiver waits until so many bytes have come.
    int *global there = toglobal(right, inbox);
    there[0] :- MYPROC;
    there[1] :- MYPROC * MYPROC;
    store_sync(2 * sizeof(int));
    int *global here = toglobal(MYPROC, inbox);
    int came = here[0] + here[1];

    // Many bytes at once; those of bulk_get and bulk_put are there after sync().
    for (int i = 0; i < 6; i++) row[i] = MYPROC + 0.1 * i;
    barrier();
    bulk_read(copy, toglobal(right, row), sizeof row);
    double read = copy[5];
    bulk_get(copy, toglobal(right, &row[3]), 2 * sizeof(double));
    sync();
    double got = copy[1];
    barrier();
    copy[0] = -MYPROC;
    bulk_write(toglobal(right, &row[0]), copy, sizeof(double));
    bulk_put(toglobal(right, &row[1]), copy, sizeof(double));
    sync();
    bulk_store(toglobal(right, &row[2]), copy, sizeof(double));
    all_store_sync();
    double *global mine = toglobal(MYPROC, row);
    double sent = mine[0] + mine[1] + mine[2];

    // Each gives a number.
    int sum = all_reduce_to_all_add(MYPROC + 1), largest = all_reduce_to_one_max(MYPROC);
    double mean = all_reduce_to_all_dadd(MYPROC * 0.5) / PROCS;
    int before = all_scan_add(1), from_0 = all_bcast(MYPROC + 42);
    printf("%d: came %d, read %g, got %g, sent %g; sum %d, largest %d, mean %g, scan %d, %d from 0\n", MYPROC, came, read, got, sent,
           sum, largest, mean, before, from_0);
    return 0;
}
