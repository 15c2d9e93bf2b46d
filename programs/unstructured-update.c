/* unstructured-update.c: unstructured-channels.c with its values under the protocol deferred-update (Tempest's second custom protocol for unstructured).
 *
 * What each processor reads of others' mesh nodes is recorded in the first iterations; from then on the owners push it. An iteration has one phase, so the protocol's
 * period is best set to one; it is right with another, and records for as many iterations. Run it with the default protocol of everything else first:
 *     trivium sim programs/unstructured-update.c -p stache -p channel -p deferred-update --set protocol.phases=1 ...
 */
#include "trivium/deferred-update.h"

#define VALUES_UNDER "deferred-update"
#define join_values() deferred_update_join(trivium_node())
#define end_iteration() deferred_update_flush()

#include "unstructured-channels.c"
