//! Where in memory a program's data lie does not matter to the caches; how much memory they take does.

use crate::bench::{Run, machine, source};

/// EM3D's custom version with so many bytes for a node's record and for its lists, in a cache of so many. The values that are read lie in different
/// lines whatever the records' size is.
fn cycles_of_em3d((record, lists): (u64, u64), cache: u64) -> f64 {
    // More pages also miss more often in the TLB, which is no matter of frames.
    let cache = machine("typhoon", &[("cache.bytes", &cache.to_string()), ("tlb.miss", "0")]);
    let (record, lists) = (record.to_string(), lists.to_string());
    let args = ["-n", "3000", "-d", "5", "-r", "5", "-i", "3", "-c", "0", "-p", "0", "-b", &record, "-l", &lists];
    let run = Run::of("em3d-update", &args).under(&["stache", "deferred-update"]).nodes(8).on(cache);
    run.right().cycles as f64
}

/// In the study a node has 624 KB of records and lists and a cache of 1 MB, which has room for all their pages: then it does not matter how
/// long they are. (When caches found lines by the program's addresses, 16 bytes more or less took twice as long.) Where there
/// is less room, longer records take more pages, and each page too many lies over another one.
#[test]
fn padding_costs_what_the_pages_cost() {
    let padded = [(32, 72), (48, 72), (48, 88)];
    let roomy = padded.map(|bytes| cycles_of_em3d(bytes, 512 << 10));
    assert!(roomy.iter().all(|cycles| (cycles / roomy[1] - 1.0).abs() < 0.05), "{roomy:?}");
    let tight = padded.map(|bytes| cycles_of_em3d(bytes, 256 << 10));
    assert!(tight.is_sorted_by(|a, b| a < b) && roomy[2] < tight[0], "{tight:?} {roomy:?}");
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
