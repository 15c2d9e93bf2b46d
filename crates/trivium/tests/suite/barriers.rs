//! The barrier of FLASH's engines: barriers of some nodes, several at once, and what a program may do wrong with one.

use crate::harness::{in_file, root, trivium};

/// Each node is in the barrier of its row, 0 or 1, and in that of its column, 2 or 3.
const GRID: &str = "\
protocol grid
use \"LIBRARY/flash-barrier.tri\"
param stride = 0 in 0..256 check 0
scenario rows_and_columns {
  at 0 { init(0, 2, 1, 1, 0, 1, 0); init(2, 2, 1, 1, 0, 2, 0); arrive(0); arrive(2) }
  at 1 { init(0, 2, 1, 1, 0, 1, 0); init(3, 2, 1, 1, 1, 2, 0); arrive(0); arrive(3) }
  at 2 { init(1, 2, 1, 1, 2, 1, 0); init(2, 2, 1, 1, 0, 2, 0); arrive(1); arrive(2) }
  at 3 { init(1, 2, 1, 1, 2, 1, 0); init(3, 2, 1, 1, 1, 2, 0); arrive(1); arrive(3) }
}
scenario half_of_a_column_is_missing {
  at 0 { init(2, 2, 1, 1, 0, 2, 0); arrive(2) }
  at 2 { init(2, 2, 1, 1, 0, 2, 0) }
}
";

#[test]
fn a_node_is_in_several_barriers_of_some_nodes() {
    let folder = crate::harness::folder();
    let protocol = in_file(&folder, "grid.tri", &GRID.replace("LIBRARY", root().join("protocols").to_str().unwrap()));
    let checked = |scenario: &str| trivium(&["check", &protocol, "--scenario", scenario]);
    let holds = checked("rows_and_columns");
    assert!(holds.code == Some(0) && holds.out.contains("holds: safety, deadlock"), "{holds:?}");
    let waits = checked("half_of_a_column_is_missing");
    assert!(waits.code == Some(1) && waits.out.contains("violated: deadlock"), "{waits:?}");
}

const PROGRAM: &str = r#"
#include "trivium/flash-barrier.h"
#include <stdlib.h>
int main(int argc, char **argv) {
    int nodes = trivium_nodes(), before;
    if (argc < 2) return 1;
    switch (atoi(argv[1])) {
    case 0: flash_barrier_init(0, nodes, 0, 1, 0, 1, 0); break;
    case 1: flash_barrier_init(0, nodes, 1, 9, 0, 1, 0); break;
    case 2: flash_barrier_init(0, nodes + 1, 1, 1, 0, 1, 0); break;
    case 3: flash_barrier_init(0, nodes, 1, 1, 0, 2, 0); break;
    case 4: flash_barrier_init(0, nodes, 1, 1, 5, 1, 0); break;
    case 5: flash_barrier_arrive(3); break;
    case 6: flash_barrier_init(0, nodes, 1, 1, 0, 1, 0); flash_barrier_init(0, nodes, 1, 1, 0, 1, 0); break;
    case 7: flash_barrier_init(0, nodes, 1, 1, 0, 1, 0); flash_barrier_let_go(0); break;
    case 8: flash_barrier_init(0, nodes, 1, 1, 0, 1, 0); flash_barrier_enter(0); flash_barrier_arrive(0); break;
    case 9: flash_barrier_init(0, nodes, 1, 1, 0, 1, 0); before = flash_barrier_enter(0); flash_barrier_passed(0, !before); break;
    case 10: flash_barrier_init(0, nodes, 1, 1, 0, 1, 0); flash_barrier_arrive(99999); break;
    case 11: flash_barrier_init(0, trivium_node() ? nodes : 1, 1, 1, 0, 1, 0); flash_barrier_arrive(0); break;
    }
    return 0;
}
"#;

/// What each way comes to: an error, and never a hang. A call with a body is held against what is assumed as any other.
const WRONG: [(&[&str], &str); 12] = [
    (&["flash-barrier.init: ", "`join`: 0 is outside 1..5"], "radix 0"),
    (&["flash-barrier.init: ", "`release`: 9 is outside 1..5"], "radix 9"),
    (&["flash-barrier.init: ", "`total`: 3 is outside 1..2"], "more participants than nodes"),
    (
        &["calls flash-barrier.init on object 0 against", "(total - 1) * step < nodes"],
        "more than there are behind each other",
    ),
    (&["flash-barrier.init: ", "`first`: there is no node 5"], "no such node"),
    (&["calls flash-barrier.arrive on object 3 against", "`before(init, arrive)`"], "no init"),
    (&["calls flash-barrier.init on object 0 against", "`once(init)`"], "two"),
    (&["calls flash-barrier.let_go on object 0 against", "magic.held"], "nobody is held"),
    (&["calls flash-barrier.arrive on object 0 against", "not magic.here"], "it has arrived already"),
    (&["calls flash-barrier.passed on object 0 against", "before == magic.sense"], "not what `enter` gave"),
    (&["is asked for the image of barrier 99999", "number them from 0"], "no such barrier"),
    (&["deadlock: nothing can happen any more"], "nodes that say different things"),
];

#[test]
fn wrong_use_of_a_barrier_ends_with_an_error() {
    let folder = crate::harness::folder();
    let program = in_file(&folder, "program.c", PROGRAM);
    for (way, (says, what)) in WRONG.iter().enumerate() {
        for command in [&["sim", "-m", "flash"][..], &["run"]] {
            let with = [&program[..], "-p", "stache", "-p", "flash-barrier", "-n", "2", "--", &way.to_string()];
            let run = trivium(&[command, &with].concat());
            let missing: Vec<_> = says.iter().filter(|says| !run.err.contains(**says)).collect();
            assert!(run.code != Some(0) && missing.is_empty(), "{what}: {missing:?} in {run:?}");
        }
    }
}
