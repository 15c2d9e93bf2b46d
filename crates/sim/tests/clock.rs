//! The clocks of the C library.

mod bench;

use bench::{Run, machine, source};

/// A second of the C library is a second of the machine, whatever its frequency.
#[test]
fn the_clock_follows_the_machine() {
    let text = r#"#include "trivium.h"
        #include <stdio.h>
        #include <time.h>
        int main(void) {
            struct timespec begin, end, bad;
            int64_t first = trivium_cycles();
            clock_gettime(CLOCK_MONOTONIC, &begin);
            for (volatile int i = 0; i < 100000; i++) {}
            int64_t last = trivium_cycles();
            clock_gettime(CLOCK_MONOTONIC, &end);
            long long ns = (end.tv_sec - begin.tv_sec) * 1000000000ll + end.tv_nsec - begin.tv_nsec;
            time_t now = time(0);
            struct tm *date = gmtime(&now);
            printf("%lld %lld %d-%d-%d %d:%d:%d\n", ns, (long long)(last - first), date->tm_year + 1900, date->tm_mon + 1,
                   date->tm_mday, date->tm_hour, date->tm_min, date->tm_sec);
            (void)bad;
            return 0;
        }"#;
    let program = source(text);
    for (mhz, scale) in [("200", 5.0), ("1000", 1.0), ("66", 1000.0 / 66.0)] {
        let result = Run::with(program.clone(), &[]).on(machine("typhoon", &[("processor.mhz", mhz)])).nodes(1).right();
        let words: Vec<&str> = result.output.split_whitespace().collect();
        let (ns, cycles): (f64, f64) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        assert!((ns / cycles / scale - 1.0).abs() < 0.01, "{mhz} MHz: {}", result.output);
        assert_eq!(words[2..], ["2000-1-1", "0:0:0"], "{}", result.output);
    }
}
