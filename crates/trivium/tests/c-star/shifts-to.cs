/* Values that are sent along a dimension. shifts-to.txt was found by hand. */
#include <stdio.h>

shape [11]ring;
struct pair {
    double real;
    char letter;
};
int:ring o, q, w[3];
struct pair:ring u, v;
shape [4][5]grid;
double:grid f, g;

int main(void) {
    int s = 2;
    with (ring) {
        o = pcoord(0) * pcoord(0);
        q = -1;
        to_torus_dim(q, o, 0, 3);
        printf("%d %d %d\n", [0]q, [3]q, [10]q);
        to_grid_dim(q, o + q, pcoord(0) + 100, 0, -s);
        printf("%d %d %d %d\n", [0]q, [8]q, [9]q, [10]q);
        to_grid_dim(o, [. * 3 % 11]o, o, 0, 25);
        printf("%d %d\n", [0]o, [10]o);
        where (o % 2) to_torus_dim(o, o + 1, 0, -1);
        for (int i = 0; i < 11; i++) printf("%d ", [i]o);
        w[1] = 0;
        to_torus_dim(w[s - 1], 1.75 + o, 0, -23);
        u.real = o / 2.0;
        u.letter = 'a' + pcoord(0);
        v = u;
        where (pcoord(0) < 7) to_grid_dim(v, u, u, 0, 4);
        printf("%d %g %c %g %c ", [2](w[1]), [0]v.real, [0]v.letter, [5]v.real, [5]v.letter);
        printf("%g %c\n", [10]v.real, [10]v.letter);
        to_torus_dim(u, v, 0, 1);
        to_torus_dim(u.real, v.real * 2, 0, 1);
        printf("%g %c\n", [0]u.real, [0]u.letter);
    }
    with (grid) {
        f = pcoord(0) * 10 + pcoord(1);
        g = 0;
        to_grid_dim(g, f, -f, 1, 2);
        to_torus_dim(f, g + [.][0]f, 0, 3);
        for (int i = 0; i < 20; i++) printf("%g ", [i / 5][i % 5]f);
        printf("\n");
    }
    return 0;
}
