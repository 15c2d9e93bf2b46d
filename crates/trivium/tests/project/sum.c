#include "sum.h"

#include <math.h>

double sum(int limit) {
    double total = 0;
    for (int i = 0; i < limit; i++) {
        total += SCALE * sqrt((double)i * i);
    }
    return total;
}
