/* lockbench-flash.c: lockbench.c with the protocol flash-lock; --cc=-DFLASH_LOCK_CENTRAL, _HINTS, _UNCACHED or _AGGRESSIVE takes the variant of that
 * name, and -DHOME=N places the lock at node N. */
#if defined(FLASH_LOCK_CENTRAL)
#include "trivium/flash-lock-central.h"
#define FLASH_PROTOCOL "flash-lock-central"
#define FLASH_LOCK(call) flash_lock_central_##call(0)
#elif defined(FLASH_LOCK_HINTS)
#include "trivium/flash-lock-hints.h"
#define FLASH_PROTOCOL "flash-lock-hints"
#define FLASH_LOCK(call) flash_lock_hints_##call(0)
#elif defined(FLASH_LOCK_UNCACHED)
#include "trivium/flash-lock-uncached.h"
#define FLASH_PROTOCOL "flash-lock-uncached"
#define FLASH_LOCK(call) flash_lock_uncached_##call(0)
#elif defined(FLASH_LOCK_AGGRESSIVE)
#include "trivium/flash-lock-aggressive.h"
#define FLASH_PROTOCOL "flash-lock-aggressive"
#define FLASH_LOCK(call) flash_lock_aggressive_##call(0)
#else
#include "trivium/flash-lock.h"
#define FLASH_PROTOCOL "flash-lock"
#define FLASH_LOCK(call) flash_lock_##call(0)
#endif

#define LOCK_NAME "flash"
static void make_lock(void) {
#ifdef HOME
    trivium_place(FLASH_PROTOCOL, "lock", 0, HOME);
#endif
}
static void acquire(void) { FLASH_LOCK(acquire); }
static void release(void) { FLASH_LOCK(release); }

#include "lockbench.c"
