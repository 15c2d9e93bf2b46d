/* Control around parallel statements, ways out of contexts, recursion, three and four dimensions, types of every size. */
#include <stdio.h>

shape [7]S, [5][4][3]C, [2][2][2][2]H;
int:S a;
int:C c;
short:H h;
float:S f;
static _Bool:S b;

/* How many of the active positions have n or more, and how many of these two more, and so on. */
static int count(int n) {
    int s = 0;
    with (S) {
        where (a >= n) {
            s += 1 + 0 * a;
            if (n < 5) return s + 100 * count(n + 2);
        }
    }
    return s;
}

int main(void) {
    with (S) {
        a = pcoord(0);
        b = a & 1;
        f = a / 2.0f;
    }
    with (C) {
        c = pcoord(0) * 100 + pcoord(1) * 10 + pcoord(2);
        c = [(. + 1) %% 5][3 - .][.]c;
    }
    with (H) {
        h = pcoord(0) + 2 * pcoord(1) + 4 * pcoord(2) + 8 * pcoord(3);
        h = [pcoord(3)][.][pcoord(1)][1 - .]h;
    }
    int s = 0;
    with (S) {
        int k = 3;
        do {
            a -= 1;
            k--;
        } while (k > 0 && (|= (a > 0)));
        switch (k) {
        case 0:
            a = a + 1;
            break;
        default:
            a = 0;
        }
        s = (+= a);
        for (int i = 0; i < 4; i++) {
            where (a > i) {
                if (i == 2) continue;
                a += 10;
            }
        }
        s += [(+= (a > 100)) + 1]a;
        f *= 2;
        a <<= 1;
        a = ~a;
        printf("%d %d %g %d %d\n", s, (+= a), (+= f), (+= b), count(1));
    }
    printf("%d %d %d %d\n", [0][0][0]c, [4][3][2]c, [0][1][0][1]h, [1][1][1][0]h);
    return 0;
}
