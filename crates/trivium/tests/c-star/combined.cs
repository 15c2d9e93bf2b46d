/* Combining sends of all types and operators, and single values of all positions, in the ways that they can go: by read-modify-writes or by
 * posts, and through a tree. combined.txt was worked out by a program of another language. */
#include <stdio.h>

shape [200]S;
shape [8]B;

struct record {
    double real;
    int number;
    char letter;
};

int:S x;
struct record:S r;
int:B count, most, mixed, both;
unsigned char:B bits;
short:B least;
unsigned:B large;
long long:B wide;
double:B sum;
_Bool:B any;
struct record:B part;

int main(void) {
    with (B) {
        count = 0, most = -1000000, bits = 7, least = 1000, wide = 0, sum = 0, any = 0, mixed = 100, large = 1, both = 0;
        part.number = 1, part.real = 0;
    }
    with (S) {
        x = pcoord(0) * 7919 % 1013;
        [x % 8]count += 1;
        [x % 8]count += 2;
        [x % 8]most >?= x - 500;
        [x % 8]bits ^= x;
        [x % 8]wide |= 1LL << x % 60;
        [x % 8]sum += x * 0.5;
        [x % 8]least <?= (short)(x - 200);
        [x % 8]large >?= 4000000000u - (unsigned)x;
        where (x % 3) [x % 8]any |= x % 7 == 0;
        [x % 8]part.number += x;
        [x % 8]part.real += 0.25;
        /* The lesser is found in the type that both have. */
        [x % 8]mixed <?= x * 0.75;
        /* Of two ways of combining one is over before the other begins. */
        [pcoord(0) % 4]both += x * 0.0 + 1.0;
        [pcoord(0) % 4]both += 1;
        [pcoord(0) % 4]both += 0.0 * x + 2;
        r.real = x / 4.0, r.number = x, r.letter = 'a' + x % 26;
    }
    for (int i = 0; i < 8; i++) {
        printf("%d %d %d %llx %g %d %u %d ", [i]count, [i]most, [i]bits, [i]wide, [i]sum, [i]least, [i]large, [i]any);
        printf("%d %g %d\n", [i]part.number, [i]part.real, [i]mixed);
    }
    printf("%d %d %d %d\n", [0]both, [1]both, [2]both, [3]both);
    double all = 0;
    int told = 0;
    for (int i = 0; i < 40; i++) {
        struct record one = [i * 37 % 200]r;
        all += one.real + one.number + one.letter;
        told += [199 - i]x;
        [i]x = told;
        with (S) {
            if (i % 10 == 3) {
                x += 1;
                told += (>?= x) + [i]x;
            }
            [(. + 1) %% 200]x = x + [5]x;
            [x %% 200]x += x / 2;
        }
    }
    /* A store has the value that it leaves. */
    told += ([3]bits = told * 0 + 300) + ([4]least = [5]least = told * 0 + 70000);
    with (S) printf("%g %d %d %d\n", all, told, [7]x, (^= x));
}
