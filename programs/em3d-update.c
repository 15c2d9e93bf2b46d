/* em3d-update.c: em3d.c with its values under the protocol deferred-update (Tempest's custom protocol for EM3D).
 *
 * What each node reads of others is recorded in the first iteration; from then on the owners push
 * it. Run it with the default protocol of everything else first:
 *     trivium sim programs/em3d-update.c -p stache -p deferred-update ...
 * or compare `-p stache` with em3d.c. The answer is the same to the last bit.
 */
#include "trivium/deferred-update.h"

/* The values' protocol, what a node does before it reads any, and how a phase ends: with a flush,
 * which is a barrier too. */
#define VALUES_UNDER "deferred-update"
#define join_values() deferred_update_join(trivium_node())
#define end_phase() deferred_update_flush()

#include "em3d.c"
