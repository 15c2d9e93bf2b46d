/* remote-write.h: the calls of the protocol remote-write. */
#ifndef TRIVIUM_REMOTE_WRITE_H
#define TRIVIUM_REMOTE_WRITE_H

#include <stdint.h>

__attribute__((import_module("trivium:remote-write"), import_name("open")))
void trivium_remote_write_open(int64_t buffer, int64_t base);
__attribute__((import_module("trivium:remote-write"), import_name("put")))
int64_t trivium_remote_write_put(int64_t buffer, int64_t word);
__attribute__((import_module("trivium:remote-write"), import_name("finish")))
int64_t trivium_remote_write_finish(int64_t buffer);

static inline void remote_write_open(int32_t buffer, void *base) {
    trivium_remote_write_open(buffer, (int64_t)(uintptr_t)base);
}
static inline int remote_write_put(int32_t buffer, int64_t word) {
    return (int)trivium_remote_write_put(buffer, word);
}
static inline int64_t remote_write_finish(int32_t buffer) {
    return trivium_remote_write_finish(buffer);
}

#endif
