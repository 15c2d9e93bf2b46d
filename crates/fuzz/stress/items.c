/* items.c: every node gets each item once, in order, though items are sent again and again. */
#include <stdio.h>
#include <unistd.h>
#include "trivium.h"
#include "trivium/PROTOCOL.h"

int main(void) {
    int self = trivium_node();
    for (int item = 1; item <= 200; item++) {
        if (self == 0) {
            while (!PREFIX_put(0, item)) usleep(1);
        } else {
            int got;
            while ((got = (int)PREFIX_get(0)) < 0) usleep(1);
            if (got != item) trivium_fail("items: an item comes twice, or not at all");
        }
    }
    if (self == 0) printf("items: ok\n");
    return 0;
}
