/* Prefix sums by doubling: after step k each position has the sum of the 2^k positions up to it. */
#include <stdio.h>

#ifndef SIZE
#define SIZE 1000
#endif

shape [SIZE]line;
long long:line sum;

int main(void) {
    int steps = 0;
    with (line) {
        sum = pcoord(0) + 1;
        for (int distance = 1; distance < positionsof(line); distance *= 2) {
            where (pcoord(0) >= distance) sum += [. - distance]sum;
            steps++;
        }
        long long:line wanted = (pcoord(0) + 1LL) * (pcoord(0) + 2) / 2;
        printf("prefix: %d sums in %d steps, the last is %lld, %d are wrong\n", positionsof(line), steps, [SIZE - 1]sum,
               (+= (sum != wanted)));
    }
    return 0;
}
