#include "trivium/asserts.h"
#include <stdlib.h>
/* Opens a gate and closes gate 1. */
int main(int argc, char **argv) {
    if (argc == 3) {
        asserts_open(atoi(argv[2]));
        asserts_close(1, atoi(argv[1]));
    }
    return 0;
}
