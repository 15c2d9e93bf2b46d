/* token-lock.h: the calls of the protocol token-lock. */
#ifndef TRIVIUM_TOKEN_LOCK_H
#define TRIVIUM_TOKEN_LOCK_H

#include <stdint.h>

__attribute__((import_module("trivium:token-lock"), import_name("acquire")))
void trivium_token_lock_acquire(int64_t l);
__attribute__((import_module("trivium:token-lock"), import_name("release")))
void trivium_token_lock_release(int64_t l);

static inline void token_lock_acquire(int32_t l) { trivium_token_lock_acquire(l); }
static inline void token_lock_release(int32_t l) { trivium_token_lock_release(l); }

#endif
