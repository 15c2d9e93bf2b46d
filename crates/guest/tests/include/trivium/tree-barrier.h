/* tree-barrier.h: the calls of the protocol tree-barrier. */
#ifndef TRIVIUM_TREE_BARRIER_H
#define TRIVIUM_TREE_BARRIER_H

#include <stdint.h>

__attribute__((import_module("trivium:tree-barrier"), import_name("arrive")))
void trivium_tree_barrier_arrive(int64_t b);

static inline void tree_barrier_arrive(int32_t b) { trivium_tree_barrier_arrive(b); }

#endif
