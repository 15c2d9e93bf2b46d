/* lockbench-llsc.c: lockbench.c with a lock by linked loads and conditional stores (baselines.h). */
#include "baselines.h"

#define LOCK_NAME "linked"
static llsc_lock_t *the_lock;
static void make_lock(void) { the_lock = llsc_lock_make(0); }
static void acquire(void) { llsc_lock(the_lock); }
static void release(void) { llsc_unlock(the_lock); }

#include "lockbench.c"
