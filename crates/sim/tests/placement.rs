//! Where in memory a program's data lie does not matter to the caches; how much memory they take does.

mod bench;

use bench::{Run, machine, source};

/// EM3D's custom version, with the study's ratio of a node's data to its cache, and records of so many bytes. The values that are read
/// lie in different lines whatever the records' size is.
fn cycles_of_em3d(record: u64, cache: u64) -> f64 {
    let cache = machine("typhoon", &[("cache.bytes", &cache.to_string())]);
    let args = ["-n", "3000", "-d", "5", "-r", "5", "-i", "3", "-c", "0", "-b", &record.to_string()];
    let run = Run::of("em3d-update", &args).under(&["stache", "deferred-update"]).nodes(8).on(cache);
    run.right().cycles as f64
}

/// Records that are longer take more pages, and each page beyond those for which the cache has room lies over another one: this is what the
/// size of records explains, and it goes with the number of pages. So the time for records of 104 bytes lies half way between the
/// times for 88 and 120 bytes. If the cache has room for all pages, the size of records explains nothing.
#[test]
fn padding_costs_what_the_pages_cost() {
    let [shorter, middle, longer] = [88, 104, 120].map(|record| cycles_of_em3d(record, 512 << 10));
    let expected = (shorter + longer) / 2.0;
    assert!((middle / expected - 1.0).abs() < 0.05, "{middle} cycles, not {expected}: {shorter} .. {longer}");
    assert!(shorter < middle && middle < longer, "{shorter}, {middle}, {longer}");
    let roomy = [88, 104, 120].map(|record| cycles_of_em3d(record, 8 << 20));
    assert!(roomy.iter().all(|cycles| (cycles / roomy[0] - 1.0).abs() < 0.01), "{roomy:?}");
    assert!(roomy[0] < shorter, "{roomy:?} {shorter}");
}

/// Memory that nobody touches takes no frame, so its size changes nothing. One array's lines would else lie over another's.
#[test]
fn memory_that_nobody_touches_changes_nothing() {
    let cycles = |unused: u64| {
        let text = format!(
            r#"#include <trivium.h>
            #include <stdlib.h>
            enum {{ WORDS = 2048 }};
            int main(void) {{
                volatile double *a = trivium_alloc_on(0, 8 * WORDS);
                trivium_alloc_on(0, {unused});
                volatile double *b = trivium_alloc_on(1, 8 * WORDS);
                volatile double *c = malloc(8 * WORDS);
                double sum = 0;
                trivium_barrier();
                for (int round = 0; round < 3; round++)
                    for (int i = 0; i < WORDS; i++) sum += a[i] + b[i] + c[i];
                return sum != 0;
            }}"#
        );
        // The three arrays fill 48 KiB of 64.
        let run = Run::with(source(&text), &[]).on(machine("typhoon", &[("cache.bytes", "65536")]));
        run.right().per_node.iter().map(|node| (node.cycles, node.read_stall)).collect::<Vec<_>>()
    };
    let little = cycles(8);
    for unused in [4104, 16392, 32776, 49160] {
        assert_eq!(cycles(unused), little, "{unused} bytes that nobody touches");
    }
}
