#include <stdio.h>
#include <trivium.h>

#include "sum.h"

int main(int count, char **args) {
    (void)args;
    printf("node %d of %d: %g, %d words\n", trivium_node(), trivium_nodes(), sum(LIMIT), count);
    return 0;
}
