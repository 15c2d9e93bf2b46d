/* barrierbench-llsc.c: barrierbench.c with a barrier by a counter (baselines.h). */
#include "baselines.h"

#define BARRIER_NAME "counter"
static llsc_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = llsc_barrier_make(0); }
static void arrive(void) { llsc_barrier(&the_barrier); }

#include "barrierbench.c"
