/* A small program to be looked at: trivium interpret --trace. */
#include <stdio.h>

shape [8]line;
int:line x, y;

int main(void) {
    with (line) {
        x = pcoord(0) * pcoord(0);
        where (x > 10)
            y = [. - 1]x;
        else
            y = -1;
        printf("%d\n", (+= y));
    }
    return 0;
}
