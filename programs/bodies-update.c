/* bodies-update.c: bodies.c with Tempest's custom protocols for Barnes: positions under `update`,
 * through the home, velocities under `migratory`. Masses, and whatever else, are under the
 * protocol that is named first:
 *     trivium sim programs/bodies-update.c -p stache -p update -p migratory ...
 * or compare `-p stache` with bodies.c. The answer is the same to the last bit.
 */
#include "trivium/update.h"

#define POSITIONS_UNDER "update"
#define VELOCITIES_UNDER "migratory"
#define end_phase() update_finish()

#include "bodies.c"
