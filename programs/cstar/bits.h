/* bits.h: digests of numbers of all bits, so that no rounding hides a difference. */
#ifndef BITS_H
#define BITS_H

union bits {
    double number;
    unsigned long long bits;
};

#endif
