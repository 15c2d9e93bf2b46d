/* barrierbench-flash.c: barrierbench.c with the protocol flash-barrier. */
#include "trivium/flash-barrier.h"

#define BARRIER_NAME "flash"
static void make_barrier(void) {}
static void arrive(void) { flash_barrier_arrive(0); }

#include "barrierbench.c"
