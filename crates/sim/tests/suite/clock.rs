//! The clocks of the C library.

use crate::bench::{Run, machine, source};

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

/// The functions of the C library that let time pass: they were no functions of the simulator's at all.
const SLEEPER: &str = r#"#include "trivium.h"
    #include <poll.h>
    #include <stdio.h>
    #include <sys/select.h>
    #include <time.h>
    #include <unistd.h>
    static long long now(void) {
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        return time.tv_sec * 1000000000ll + time.tv_nsec;
    }
    static void tell(const char *what, long long from, long long wanted) {
        long long more = now() - from - wanted;
        if (more < 0 || more > 20000) printf("%s: %lld nanoseconds too many\n", what, more);
    }
    int main(void) {
        long long from = now();
        usleep(70);
        tell("usleep", from, 70000);
        from = now();
        struct timespec time = {1, 500};
        nanosleep(&time, 0);
        tell("nanosleep", from, 1000000500);
        from = now();
        long long until = from + 123457;
        time = (struct timespec){until / 1000000000, until % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, 0);
        tell("clock_nanosleep", from, 123457);
        clock_gettime(CLOCK_REALTIME, &time);
        time.tv_sec += 2;
        from = now();
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, 0);
        if (now() - from < 2000000000ll - 20000 || now() - from > 2000020000ll) printf("to a date: %lld\n", now() - from);
        from = now();
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &(struct timespec){0, 1}, 0);
        tell("a time that has passed", from, 0);
        from = now();
        if (sleep(3) != 0) printf("sleep was interrupted\n");
        tell("sleep", from, 3000000000ll);
        from = now();
        struct pollfd in = {0, POLLIN, 0}, wrong = {77, POLLIN, 0};
        if (poll(&in, 1, 50) != 1 || !(in.revents & POLLIN)) printf("standard input is not ready\n");
        if (poll(&wrong, 1, 50) != 1 || wrong.revents != POLLNVAL) printf("what is not open is ready\n");
        tell("poll", from, 0);
        from = now();
        if (select(0, 0, 0, 0, &(struct timeval){0, 40000}) != 0) printf("select of nothing\n");
        tell("select", from, 40000000);
        trivium_barrier();
        printf("done\n");
        return 0;
    }"#;

#[test]
fn sleep_is_simulated_time() {
    for mhz in ["200", "1000", "66"] {
        let run = Run::with(source(SLEEPER), &[]).on(machine("typhoon", &[("processor.mhz", mhz)])).nodes(2);
        let result = run.right();
        assert_eq!(result.output, "done\ndone\n", "{mhz} MHz");
        for node in &result.per_node {
            let parts =
                node.compute + node.read_stall + node.write_stall + node.tlb_stall + node.sync_stall + node.handler;
            assert_eq!(parts, node.cycles);
            assert!(node.sync_stall > 6 * 1_000_000 * mhz.parse::<u64>().unwrap(), "{mhz} MHz: {node:?}");
        }
    }
}

#[test]
fn a_sleep_that_no_clock_counts_is_an_error() {
    let text = "#include <time.h>\nint main(void) { return nanosleep(&(struct timespec){1ll << 40, 0}, 0); }";
    Run::with(source(text), &[]).right();
    let text = "#include <time.h>\nint main(void) {\n\
        for (;;) nanosleep(&(struct timespec){1ll << 33, 0}, 0);\n}";
    let error = Run::with(source(text), &[]).go().unwrap_err().to_string();
    assert!(error.contains("longer than its clock counts") && error.contains("main"), "{error}");
}
