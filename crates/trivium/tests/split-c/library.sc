/* The rest of the library, by the names that programs for the first compiler of Split-C have. */
#include <split-c/split-c.h>
#include <split-c/control.h>
#include <split-c/atomic.h>
#include <stdio.h>
#include <stdlib.h>

static int count, lock;

int splitc_main(void) {
    /* Memory that was used before, by all. */
    int *spread used = all_spread_malloc(10, sizeof(int));
    for (int i = MYPROC; i < 10; i += PROCS) used[(i + 1) % 10] = 7;
    barrier();
    spread_free(used);
    int *spread zeros = all_spread_calloc(10, sizeof(int)), sum = 0;
    for (int i = 0; i < 10; i++) sum += zeros[i] != 0;
    if (sum) printf("%d are not zero\n", sum);
    barrier();
    spread_free(zeros);

    int *global counter = toglobal(0, &count), *global held = toglobal(0, &lock);
    for (int i = 0; i < 50; i++) fetch_and_add(counter, 2);
    int first = test_and_set(held) == 0;
    if (all_reduce_to_all_add(first) != 1 || exchange(held, 1) != 1) printf("several have the lock\n");
    for (int old = *counter, now; (now = compare_and_swap(counter, old, old + 3)) != old;) old = now;
    int got[4] = {0};
    bulk_get(got, toglobal(MYPROC, &count), sizeof count);
    bulk_sync();
    barrier();
    on_one printf("%d\n", *counter);
    splitc_exit(0);
}
