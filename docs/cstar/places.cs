/* What positions get from each other. */
#include <stdio.h>

shape [10]line;
shape [3][3]square;
int:line x, y, sum;
int:square m, t;

static void show(const char *what) {
    printf("%s:", what);
    for (int i = 0; i < dimof(line, 0); i++) printf(" %d", [i]y);
    printf("\n");
}

int main(void) {
    with (line) {
        x = pcoord(0) * pcoord(0);
        y = 0;
        where (pcoord(0) > 0) y = x - [. - 1]x;
        show("differences");
        y = [(. + 1) %% dimof(line, 0)]x;
        show("around");
        y = [9 - .]x;
        show("turned");
        /* All positions get before any is written: this turns x, too. */
        x = [9 - .]x;
        y = [[. / 2]x % 10]x;
        show("of an index that is got");
        sum = 1;
        for (int step = 1; step < positionsof(line); step *= 2) {
            where (pcoord(0) >= step) sum += [. - step]sum;
        }
        y = sum;
        show("sums");
    }
    with (square) {
        m = 10 * pcoord(0) + pcoord(1);
        t = [pcoord(1)][pcoord(0)]m;
        m = [pcoord(1)][pcoord(0)]m;
        printf("transposed: %d %d %d, the same: %d\n", [0][1]t, [2][0]t, [1][1]t, (&= (m == t)));
        /* From another shape: one index for each dimension of that. */
        t = [pcoord(0) + pcoord(1)]y;
        printf("from the line: %d %d\n", [0][0]t, [2][2]t);
    }
    return 0;
}
