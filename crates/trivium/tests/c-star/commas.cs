/* Scalar expressions with effects beside commas, each done once; constants; a scalar call that gives nothing. */
#include <stdio.h>
shape [4]S;
int:S a = 1;
int n, arr[4], *q = arr;
static int calls;
static int tick(void) { return ++calls; }
static void hello(void) { calls += 10; }
const int:S c = 4;
static const int:S twice(int:S x) { return x + x; }
int main(void) {
    with (S) {
        n += 2, a = n; printf("%d %d\n", n, [3]a);
        a = 5, n = n + 2; printf("%d %d\n", n, [3]a);
        a = (n += 3, a + n); printf("%d %d\n", n, [3]a);
        n = tick() + 1, a = n; printf("%d %d %d\n", n, [3]a, calls);
        arr[n++] = 3, a = n; printf("%d %d\n", n, [2]a);
        a = 1, *q++ = 3, a += 2; printf("%d %d\n", (int)(q - arr), [1]a);
        a = 2, n += a; printf("%d %d\n", n, [1]a);
        a = 2, n = (+= a); printf("%d %d\n", n, [1]a);
        n += a, a++; printf("%d %d\n", n, [1]a);
        a = 2, n = [1]a; printf("%d\n", n);
        n = [0]a, a = n + 1; printf("%d %d\n", n, [1]a);
        a = 1, hello(); hello(), a = 3; printf("%d %d\n", calls, [1]a);
        const int:S b = a + 1;
        a = b + c + twice(a); printf("%d\n", (+= a));
    }
    return 0;
}
