#include "trivium/narrow.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    if (argc == 3)
        printf("%d\n", (int)narrow_set(atoi(argv[1]), atoi(argv[2])));
    return 0;
}
