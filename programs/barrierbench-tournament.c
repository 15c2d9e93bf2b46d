/* barrierbench-tournament.c: barrierbench.c with a tournament of pairs (baselines.h). */
#include "baselines.h"

#ifndef RADIX
#define RADIX 2
#endif
#define BARRIER_NAME "tournament"
static tournament_barrier_t the_barrier;
static void make_barrier(void) { the_barrier = tournament_barrier_make(RADIX); }
static void arrive(void) { tournament_barrier(&the_barrier); }

#include "barrierbench.c"
