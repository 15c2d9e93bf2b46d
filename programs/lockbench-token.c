/* lockbench-token.c: lockbench.c with the protocol token-lock. */
#include "trivium/token-lock.h"

#define LOCK_NAME "token"
static void make_lock(void) {}
static void acquire(void) { token_lock_acquire(0); }
static void release(void) { token_lock_release(0); }

#include "lockbench.c"
