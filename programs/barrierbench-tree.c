/* barrierbench-tree.c: barrierbench.c with the protocol tree-barrier. */
#include "trivium/tree-barrier.h"

#define BARRIER_NAME "tree"
static void make_barrier(void) {}
static void arrive(void) { tree_barrier_arrive(0); }

#include "barrierbench.c"
