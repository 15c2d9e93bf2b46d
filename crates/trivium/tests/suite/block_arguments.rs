//! Blocks as arguments and results of calls, which are pointers in C, and contents of one block in a message about another: in simulations and
//! for real.

use crate::harness::{self, in_file, trivium};
use crate::slow;

/// Each node copies blocks of its own to blocks of its neighbour.
const COPIES: &str = r#"
#include "trivium.h"
#include <stdio.h>
#include "copy.h"
enum { BLOCKS = 8, WORDS = 16 };
int main(void) {
    int me = trivium_node(), nodes = trivium_nodes(), next = (me + 1) % nodes, last = (me + nodes - 1) % nodes, bad = 0;
    int (*at[16])[BLOCKS][WORDS];
    for (int n = 0; n < nodes; n++)
        at[n] = trivium_alloc_on(n, 2 * sizeof *at[n]);
    for (int i = 0; i < BLOCKS; i++)
        for (int k = 0; k < WORDS; k++)
            at[me][0][i][k] = 1000 * me + WORDS * i + k;
    for (int i = 0; i < BLOCKS; i++)
        bad += !block_copy_copy(&at[me][0][i][3], &at[next][1][BLOCKS - 1 - i][i]);
    trivium_barrier();
    for (int i = 0; i < BLOCKS; i++)
        for (int k = 0; k < WORDS; k++)
            bad += at[me][1][BLOCKS - 1 - i][k] != 1000 * last + WORDS * i + k;
    bad += block_copy_copy(at[me], NULL) + block_copy_copy(at[me], &bad) + block_copy_copy(at[me], (char *)at[0] + (1 << 28));
    bad += block_copy_following(NULL) != NULL || block_copy_following(&bad) != NULL;
    bad += block_copy_following(&at[me][0][2][5]) != &at[me][0][3][0];
    printf("node %d: %s\n", me, bad ? "wrong" : "right");
    return 0;
}
"#;

#[test]
fn blocks_are_pointers_and_one_block_has_the_contents_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let text =
        std::fs::read_to_string(harness::root().join("crates/check/tests/files/with-block-of-another.test")).unwrap();
    let after = "op following(b: block?): block?\n\nrole home of block {";
    let answer = "on following { return block(address(object) + bytes(object)) }\n    on Copied(from)";
    let text = text.replacen("role home of block {", after, 1).replacen("on Copied(from)", answer, 1);
    let protocol = in_file(&folder, "copy.tri", &text);
    in_file(&folder, "copy.h", &trivium(&["header", &protocol]).out);
    let program = in_file(&folder, "copies.c", COPIES);
    let ways =
        [&["sim", "-m", "typhoon"][..], &["sim", "-m", "typhoon", "--set", "machine.network.jitter=90"], &["run"]];
    for nodes in slow::all_or(&["1", "2", "3", "5", "8"][..], &["3"]) {
        for way in ways {
            let run = trivium(&[way, &[&program, "-p", &protocol, "-n", nodes, "--block", "64"]].concat());
            assert!(run.out.matches(": right").count().to_string() == *nodes, "{way:?}, {nodes} nodes: {run:?}");
        }
    }
}
