/* barrierbench-master.c: barrierbench.c with one master (baselines.h). */
#include "baselines.h"

#define BARRIER_NAME "master"
static master_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = master_barrier_make(0); }
static void arrive(void) { master_barrier(&the_barrier); }

#include "barrierbench.c"
