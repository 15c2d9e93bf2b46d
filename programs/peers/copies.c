/* copies.c: how long a copy of 8 MiB takes that has been accessed before: as a program of `trivium run`, and on the host itself. */
#include <string.h>

#include "percentiles.h"

enum { BYTES = 8 << 20, ROUNDS = 40 };

int main(void) {
    char *from = malloc(BYTES), *to = malloc(BYTES);
    int64_t times[ROUNDS];
    if (!from || !to) return 1;
    memset(from, 1, BYTES);
    memset(to, 2, BYTES);
    for (int i = 0; i < ROUNDS; i++) {
        from[i] = (char)i;
        int64_t begun = now_ns();
        memcpy(to, from, BYTES);
        times[i] = now_ns() - begun;
        if (to[i] != (char)i) return 1;
    }
    tell_percentiles(times, ROUNDS);
    return 0;
}
