#include <stdio.h>
shape [6]line;
shape [4][5]grid;
int:line a, b, v[3], k;
double:grid f, g;
struct pair { int two[2]; };
struct pair:line p;

static void show(const char *name, int:current x) {
    printf("%s:", name);
    for (int i = 0; i < positionsof(line); i++) printf(" %d", [i]x);
    printf("\n");
}

int:line torus(int:line x, int d) { return from_torus_dim(x, 0, d); }

int main(void) {
    int s = 1, zero = 0;
    with (line) {
        a = pcoord(0) * pcoord(0);
        b = from_torus_dim(a, 0, 1);
        show("torus 1", b);
        b = from_torus_dim(a, 0, -8);
        show("torus -8", b);
        b = from_grid_dim(a, -1, 0, 2);
        show("grid 2", b);
        a = from_grid_dim(a, pcoord(0) + 100, zero, -s) + 1;
        show("grid -1", a);
        a = from_torus_dim(a, zero, s);
        show("own", a);
        where (pcoord(0) > 2) a += torus(a, 2);
        show("called", a);
        a = (b = pcoord(0), b * 2);
        show("comma", a);
        b = 7, a = [(. + 1) %% 6]b + (b = 3, [5 - .]b);
        show("commas", a);
        v[0] = pcoord(0), v[1] = 10 * pcoord(0), v[2] = 100 * pcoord(0);
        k = pcoord(0) %% 3;
        b = [5 - .]v[k];
        show("which", b);
        b = [2]v[k] + 1;
        show("of two", b);
        p.two[0] = pcoord(0);
        p.two[1] = -pcoord(0);
        b = [(. + 1) %% 6]p.two[k & 1];
        show("element", b);
        [5 - .]v[k] = a;
        show("sent 0", v[0]);
        show("sent 1", v[1]);
        show("sent 2", v[2]);
        b = s ? [5 - .]a : 0;
        show("yes", b);
        b = s > 1 ? [100 + .]a : -a;
        show("no", b);
        b = s > 1 && [100 + .]a;
        show("and", b);
        s = (+= b);
        a = b + 1;
        s = (+= a);
        int most = (>?= a);
        printf("%d %d %zu\n", s, most, sizeof(from_torus_dim(a, 0, 1)));
    }
    with (grid) {
        f = pcoord(0) * 10 + pcoord(1);
        g = from_grid_dim(f, 0.5, 0, 1) + from_torus_dim(f, 1, -1) + from_grid_dim(f, f, 1, 1);
        printf("%g %g %g %g %g\n", [0][0]g, [3][4]g, [3][0]g, (+= g), (<?= from_torus_dim(g, 0, 3)));
        where (pcoord(1) %% 2) f = from_torus_dim(f, 0, 1) * 2;
        double all = (+= f);
        printf("%g\n", all);
    }
    return 0;
}
