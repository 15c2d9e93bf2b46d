/* Finds that its own answer is wrong. */
#include "trivium.h"

int main(void) {
    trivium_fail("1 + 1 is not 3");
}
