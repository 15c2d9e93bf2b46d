/* lockbench-ticket.c: lockbench.c with the lock of trivium.h that lets nodes through in the order in which they ask. */
#include "trivium.h"

#define LOCK_NAME "ticket"
static trivium_lock_t *the_lock;
static void make_lock(void) { the_lock = trivium_alloc_on(0, sizeof *the_lock); }
static void acquire(void) { trivium_lock(the_lock); }
static void release(void) { trivium_unlock(the_lock); }

#include "lockbench.c"
