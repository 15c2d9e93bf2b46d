/* Shapes, parallel variables, contexts and reductions. */
#include <math.h>
#include <stdio.h>

shape [4]S;
shape [100][30]field;
int:S a, before;
double:field height, root;

int main(void) {
    int s = 0;
    with (S) {
        /* A is 0, 5, 0, 7. */
        a = pcoord(0) == 1 ? 5 : pcoord(0) == 3 ? 7 : 0;
        where (a == 0) {
            a = 1;
            s = 99;
            a = 2;
        }
        printf("a: %d %d %d %d, s: %d\n", [0]a, [1]a, [2]a, [3]a, s);
        where (a > 100) s = (+= a); else s++;
        before = a;
        where (a > 2) {
            a = 0;
            everywhere a += 10;
            where (before == 7) a = a >? 40; else a = a %% 3;
        }
        printf("a: %d %d %d %d, s: %d\n", [0]a, [1]a, [2]a, [3]a, s);
    }
    with (field) {
        height = pcoord(0) + 0.5 * pcoord(1);
        root = sqrt(height);
        printf("%d positions, %d dimensions, the second of %d\n", positionsof(field), rankof(field), dimof(field, 1));
        int high = 0;
        where (root > 5) {
            high += 1 + 0 * pcoord(0);
            printf("%d are high, from %g to %g\n", high, (<?= height), (>?= height));
        }
        int passes = 0;
        while ((|= (height > 1))) {
            where (height > 1) height /= 2;
            passes++;
        }
        printf("%d passes\n", passes);
    }
    return 0;
}
