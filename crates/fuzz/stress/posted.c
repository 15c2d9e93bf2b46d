/* posted.c: the home of each buffer fills it, and the others ask whether it has; the protocol asserts that they find all that was written. */
#include <stdio.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

int main(void) {
    int self = trivium_node(), nodes = trivium_nodes();
    for (int buffer = 0; buffer < 100; buffer++) {
        if (buffer % nodes == self) PREFIX_fill(buffer);
        else while (!PREFIX_status(buffer)) { }
    }
    trivium_barrier();
    if (self == 0) printf("posted: ok\n");
    return 0;
}
