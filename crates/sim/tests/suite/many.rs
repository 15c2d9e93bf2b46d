//! More nodes than a byte can number: sets, senders that are kept, homes and what is told of nodes, up to 1,024 of them.

use crate::bench::*;

/// All nodes read a word whose home is far away, the last writes it, all read it again; all of a group write words of one
/// block, whose home has to keep who asks; and the barriers between.
const SHARING: &str = r#"
#include "trivium.h"
int main(void) {
    int32_t me = trivium_node(), all = trivium_nodes();
    volatile int64_t *word = trivium_alloc_on(all - 300, 64);
    volatile int32_t *mine = trivium_alloc_on(all - 1, 4 * (uint64_t)all);
    trivium_barrier();
    if (*word != 0) trivium_fail("the word is not 0 at first");
    trivium_barrier();
    if (me == all - 1) *word = 77;
    mine[me] = me;
    trivium_barrier();
    mine[me] = me + 1;
    trivium_barrier();
    if (*word != 77) trivium_fail("the write is lost");
    if (mine[(me + 257) % all] != (me + 257) % all + 1) trivium_fail("another's word is lost");
    return 0;
}
"#;

fn sharing(nodes: u32, protocol: &str) -> Run {
    Run::with(source(SHARING), &[]).nodes(nodes).under(&[protocol]).max_cycles(40_000_000)
}

fn same(one: &Run, other: &Run, what: &str) {
    assert!(told(one) == told(other), "{what}");
}

#[test]
fn a_block_is_shared_by_1024_nodes() {
    let result = sharing(1024, "stache").right();
    assert_eq!(result.per_node.len(), 1024);
    assert!(
        result.messages["stache.Invalidate"] >= 1022,
        "the last node's write takes everybody's copy: {:?}",
        result.messages
    );
}

#[test]
fn flat_code_windows_and_host_threads_say_what_the_reference_says_of_many_nodes() {
    let run = sharing(321, "stache");
    same(&run, &run.clone().window(0), "window 0");
    let run = sharing(300, "msi");
    run.right();
    same(&run, &run.clone().jobs(2), "two host threads");
}

#[test]
fn blame_names_nodes_beyond_256() {
    let run = sharing(321, "stache").blamed();
    let blamed = serde_json::to_value(run.right()).unwrap()["blame"].to_string();
    assert!(blamed.contains(r#""read_by":[319],"written_by":[255]"#), "{blamed}");
    assert_eq!(told(&run), told(&run.clone().window(0)));
}

#[test]
#[ignore = "half a minute: EM3D on 1024 nodes"]
fn em3d_is_right_on_1024_nodes() {
    let result = Run::of("em3d", &["-t", "190464", "-i", "3"]).nodes(1024).right();
    assert!(result.output.contains("em3d: ok"), "{}", result.output);
}
