/* lockbench-mcs.c: lockbench.c with Mellor-Crummey and Scott's lock (baselines.h). */
#include "baselines.h"

#define LOCK_NAME "queue"
static mcs_lock_t the_lock;
static void make_lock(void) { the_lock = mcs_lock_make(0); }
static void acquire(void) { mcs_lock(&the_lock); }
static void release(void) { mcs_unlock(&the_lock); }

#include "lockbench.c"
