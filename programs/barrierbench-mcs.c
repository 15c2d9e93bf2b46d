/* barrierbench-mcs.c: barrierbench.c with Mellor-Crummey and Scott's tree (baselines.h). */
#include "baselines.h"

#ifndef JOIN
#define JOIN 4
#endif
#ifndef RELEASE
#define RELEASE 2
#endif
#define BARRIER_NAME "queue tree"
static mcs_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = mcs_barrier_make(JOIN, RELEASE); }
static void arrive(void) { mcs_barrier(&the_barrier); }

#include "barrierbench.c"
