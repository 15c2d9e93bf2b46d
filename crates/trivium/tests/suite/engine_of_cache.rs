//! What an engine performs beside its processor's cache (`perform` with `processor cached`): in simulations and for real.

use crate::harness::{self, in_file, trivium};
use crate::slow;

/// Each node adds to counters at their home by calls, and to a word of its own in the same block by its cache.
const COUNTS: &str = r#"
#include "trivium.h"
#include <stdio.h>
#include "counter.h"
enum { ROUNDS = 200 };
int main(void) {
    int me = trivium_node(), nodes = trivium_nodes();
    long *near = trivium_alloc_on(0, 8192), *far = trivium_alloc_on(nodes - 1, 512), before = -1;
    for (int i = 0; i < ROUNDS; i++) {
        counter_add(near, near, 1);
        if (i % 7 == me % 7) {
            if (near[0] <= before || near[0] <= i)
                printf("node %d: a sum that went back\n", me);
            before = near[0];
        }
        near[1 + me]++;
        if (counter_add(far, far, 2) % 2)
            printf("node %d: an odd number\n", me);
    }
    trivium_barrier();
    printf("node %d: %s\n", me, near[0] == ROUNDS * nodes && far[0] == 2 * ROUNDS * nodes && near[1 + me] == ROUNDS ? "right" : "wrong");
    return 0;
}
"#;

fn file_test(name: &str) -> String {
    harness::root().join(format!("crates/check/tests/files/{name}.test")).display().to_string()
}

#[test]
fn what_a_home_adds_is_never_lost() {
    let (folder, protocol) = (crate::harness::folder(), file_test("perform-at-the-engine-of-a-cache"));
    in_file(&folder, "counter.h", &trivium(&["header", &protocol]).out);
    let program = in_file(&folder, "counts.c", COUNTS);
    let ways = [&["sim", "-m", "flash"][..], &["sim", "-m", "typhoon", "--set", "machine.network.jitter=90"], &["run"]];
    for nodes in slow::all_or(&["1", "2", "3", "5", "8"][..], &["3"]) {
        for way in ways {
            let run = trivium(&[way, &[&program, "-p", &protocol, "-n", nodes]].concat());
            let right = run.out.matches(": right").count();
            let strange = ["went back", "odd", "wrong"].iter().any(|word| run.out.contains(word));
            assert!(right.to_string() == *nodes && !strange, "{way:?}, {nodes} nodes: {run:?}");
        }
    }
}

#[test]
fn accesses_that_a_home_performs_for_caches_are_right() {
    let protocol = file_test("perform-for-a-thread-of-a-cache");
    for (program, args) in [("litmus", &["-n", "4"][..]), ("atomics", &["-n", "3"]), ("fetchadd", &["-n", "3"])] {
        let program = format!("programs/{program}.c");
        for way in [&["sim", "-m", "flash"][..], &["run"]] {
            let run = trivium(&[way, &[&program, "-p", &protocol, "-n", "3", "--"], args].concat());
            assert_eq!(run.code, Some(0), "{program} {way:?}: {run:?}");
        }
    }
}
