//! Atomic operations of `trivium.h` that C has none for: the least, the greatest, and those of floating-point numbers.

use crate::harness::{in_file, trivium};
use crate::slow;

const BACKENDS: [&[&str]; 2] = [&["sim", "-m", "typhoon"], &["run"]];

/// Who handles `rmw`, and where it is performed where the block is.
const PROTOCOLS: [&str; 4] = ["stache", "uncached", "msi", "flash-coherence"];

/// Each of three nodes makes ten of each. All numbers are exact in binary, so that sums are the same in any order.
const TEXT: &str = r#"
#include <stdio.h>
#include "trivium.h"
struct shared { int32_t least, most; int64_t least8, most8; float sum, low, high; double sum8, low8, high8; };
int main(void) {
    struct shared *s = trivium_alloc_on(0, sizeof *s);
    if (trivium_node() == 0) *s = (struct shared){.least8 = 5, .low = 3, .low8 = 1e300, .high8 = __builtin_nan("7"), .sum8 = -0.5};
    trivium_barrier();
    for (int i = 0; i < 10; i++) {
        int own = 10 * trivium_node() + i;
        trivium_fetch_min32(&s->least, 7 - own);
        trivium_fetch_max32(&s->most, own - 3);
        trivium_fetch_min64(&s->least8, -((int64_t)own << 40));
        trivium_fetch_max64(&s->most8, (int64_t)own << 40);
        trivium_fetch_float(&s->sum, TRIVIUM_ADD_FLOAT, 0.25f);
        trivium_fetch_float(&s->low, TRIVIUM_MIN_FLOAT, own - 4.5f);
        trivium_fetch_float(&s->high, TRIVIUM_MAX_FLOAT, i % 2 ? __builtin_nanf("3") : own + 0.5f);
        trivium_fetch_double(&s->sum8, TRIVIUM_ADD_FLOAT, own);
        trivium_fetch_double(&s->low8, TRIVIUM_MIN_FLOAT, own * 1e200);
        trivium_fetch_double(&s->high8, TRIVIUM_MAX_FLOAT, -own);
    }
    trivium_barrier();
    if (trivium_node() == 0) {
        printf("%d %d %lld %lld ", s->least, s->most, (long long)s->least8, (long long)s->most8);
        printf("%g %g %g %g %g %g\n", s->sum, s->low, s->high, s->sum8, s->low8, s->high8);
        double old = trivium_fetch_double(&s->low8, TRIVIUM_ADD_FLOAT, 2.5);
        int64_t bits = trivium_fetch_max64((volatile int64_t *)&s->low8, 0);
        trivium_fetch_double(&s->high8, TRIVIUM_ADD_FLOAT, -__builtin_inf());
        trivium_fetch_double(&s->high8, TRIVIUM_ADD_FLOAT, __builtin_inf());
        int64_t none;
        __builtin_memcpy(&none, &s->high8, sizeof none);
        printf("%g %llx %llx\n", old, (long long)bits, (long long)none);
    }
}
"#;

/// -22 is 7 - 29, 26 is 29 - 3, 29 << 40 is 31885837205504, 435 is 0 + .. + 29.
const TOLD: &str =
    "-22 26 -31885837205504 31885837205504 7.5 -4.5 28.5 434.5 0 0\n0 4004000000000000 7ff8000000000000\n";

#[test]
fn the_least_the_greatest_and_floating_point_numbers_are_combined() {
    let folder = crate::harness::folder();
    let program = in_file(&folder, "combining.c", TEXT);
    for (number, protocol) in PROTOCOLS.into_iter().enumerate() {
        for backend in slow::in_turn(1, number, BACKENDS) {
            let run = trivium(&[backend, &[&program, "-p", protocol, "-n", "3"]].concat());
            assert_eq!(run.code, Some(0), "{protocol} {backend:?}: {}", run.err);
            assert!(run.out.contains(TOLD), "{protocol} {backend:?}: {}", run.out);
        }
    }
}
