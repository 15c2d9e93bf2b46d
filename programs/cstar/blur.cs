/* An image is blurred: each point becomes the mean of itself and of its neighbours, of which there are fewer at the edges. */
#include <stdio.h>

#ifndef SIDE
#define SIDE 24
#endif

shape [SIDE][2 * SIDE]image;
int:image light, sum, points;

int main(void) {
    with (image) {
        where ((pcoord(0) / 6 + pcoord(1) / 6) % 2 == 0) light = 900;
        for (int round = 0; round < 3; round++) {
            sum = points = 0;
            for (int y = -1; y <= 1; y++) {
                for (int x = -1; x <= 1; x++) {
                    where (pcoord(0) + y >= 0 && pcoord(0) + y < SIDE && pcoord(1) + x >= 0 && pcoord(1) + x < 2 * SIDE) {
                        sum += [. + y][. + x]light;
                        points++;
                    }
                }
            }
            light = sum / points;
        }
        for (int y = 1; y < SIDE; y += 4) {
            for (int x = 1; x < 2 * SIDE; x += 2) putchar(" .:-=+*#%@"[[y][x]light * 9 / 900]);
            putchar('\n');
        }
        printf("blur: from %d to %d, the mean is %d\n", (<?= light), (>?= light), (+= light) / positionsof(image));
    }
    return 0;
}
