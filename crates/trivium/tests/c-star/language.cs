#include <stdio.h>
#include <math.h>
shape [10]S;
shape [4][4]T;
shape [7]U;
struct row { int n; double v[4]; };
struct row:S q;
int:S x, y = 3;
int:S v[3], w[2][3];
int:T t;
int:U u;
double:S d = 2.5;

int:current twice(int:current a) { return 2 * a; }
int:current pick(int:current a, int n) {
    int:current b = a + n;
    where (a > 4) return b;
    return -b;
}
int total(int:current a) { return (+= a); }
void bump(int:S a, int k) { a += k; x = a; }
int:S fact(int:S n, int depth) {
    if (depth == 0) return 1;
    int:S rest = fact(n - 1, depth - 1);
    return n * rest;
}
static void show(const char *what) {
    with (S) {
        printf("%s:", what);
        for (int i = 0; i < 10; i++) printf(" %d", [i]x);
        printf("\n");
    }
}
int main(void) {
    with (S) {
        x = pcoord(0);
        printf("%d %d\n", (+= y), (int)(+= d));
        x = twice(x) + twice(y); show("twice");
        x = pcoord(0); x = pick(x, 10); show("pick");
        printf("%d\n", total(x));
        where (pcoord(0) < 5) bump(pcoord(0), 100);
        show("bump");
        x = fact(pcoord(0), 3); show("fact");
        x = pcoord(0);
        [9 - .]x = x; show("sent");
        where (pcoord(0) > 0) [. - 1]x = x; show("left");
        x = 0; [. / 3]x += pcoord(0); show("sums");
        x = 100; [. / 3]x <?= pcoord(0); show("least");
        [3]x = 77; [2]x += 5; show("stores");
        [0]x = pcoord(0); x = [0]x >= 0 && [0]x < 10; where (pcoord(0) == 8) [1]x = pcoord(0) * 3; show("all to one");
        for (int k = 0; k < 3; k++) v[k] = pcoord(0) * (k + 1);
        x = v[pcoord(0) %% 3]; show("chosen");
        x = [9 - .]v[1]; show("got of an array");
        w[1][2] = v[2]; x = w[1][2] + w[0][1]; show("two dimensions");
        q.n = pcoord(0); q.v[2] = 0.5 * pcoord(0);
        struct row one = [4]q; printf("%d %g\n", one.n, one.v[2]);
        q = [9 - .]q; x = q.n; show("rows");
        [(. + 1) %% 10]q = q; x = q.n; show("rows sent");
        x = (int)[. / 2]q.v[2]; show("members");
        [. / 2]q.n = pcoord(0); 
        x = pcoord(0) > 2 && [. - 3]y == 3; show("and");
        x = pcoord(0) < 9 ? [. + 1]y : (+= pcoord(0)); show("choice");
        x = pcoord(0) == 0 || [. - 1]v[0] > 3; show("or");
        int:S loc[2]; loc[1] = 5; x = loc[1] + loc[0]; show("locals");
        x = x * dimof(shapeof(t), 0) + positionsof(shapeof(x)); show("shapeof");
        with (U) { u = [. + 2]x; [. + 1]x = u * 100; } show("between");
        int table[10] = {5, 4, 3, 2, 1}; x = table[pcoord(0)]; show("table");
    }
    with (T) {
        t = pcoord(0) * 4 + pcoord(1);
        [pcoord(1)][pcoord(0)]t = t;
        int bad = 0;
        for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) bad += [i][j]t != j * 4 + i;
        printf("transposed, %d wrong\n", bad);
        t = twice(t); printf("%d\n", (+= t));
    }
    return 0;
}
