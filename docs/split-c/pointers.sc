// Global pointers: each processor looks at its right neighbour's data.
#include <stdio.h>
#include <stdlib.h>

struct item {
    int value, marks[4];
    struct item *global next;
};

static struct item first;
static int box, told;

int splitc_main(void) {
    int right = (MYPROC + 1) % PROCS;

    // toglobal: the same static variable on another processor. A write through the pointer waits until it has been done.
    struct item *global there = toglobal(right, &first);
    there->value = 100 * MYPROC;
    there->marks[2] = toproc(there);

    // Links over all processors, and memory of malloc. A cast of a local pointer points to this processor's own.
    struct item *own = malloc(sizeof *own);
    own->value = MYPROC;
    *toglobal(MYPROC, &first.next) = (struct item *global)own;
    barrier();

    // Arithmetic stays on the processor; accesses read and write where the data are.
    int *global marks = there->marks, *global end = marks + 4;
    int sum = 0;
    for (int *global mark = marks; mark < end; mark++) sum += *mark;
    sum += there->next->value;
    there->next->value += 1000;
    barrier();

    // A get and a put go on while the processor does other things, until sync().
    int got;
    got := there->value;
    *toglobal(right, &box) := sum;
    sync();
    if (!is_sync()) return 1;
    barrier();

    // tolocal: the address that the data have on their own processor.
    struct item *same = tolocal(there);
    told = same == &first && !(there == 0);
    printf("%d: right is %d: sum %d, got %d, box %d, own %d, told %d\n", MYPROC, toproc(there), sum, got, *toglobal(MYPROC, &box),
           ((struct item *global)own)->value, told);
    return 0;
}
