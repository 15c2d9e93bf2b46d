/* barrierbench-flash.c: barrierbench.c with the protocol flash-barrier. */
#include "trivium/flash-barrier.h"

#define BARRIER_NAME "flash"
static void make_barrier(void) { flash_barrier_init(0, trivium_nodes(), 4, 4, 0, 1, 0); }
static void arrive(void) { flash_barrier_arrive(0); }

#include "barrierbench.c"
