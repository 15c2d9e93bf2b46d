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
    let folder = crate::harness::folder();
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

/// A body is passed pointers, of which it makes blocks; says them to its engine and gets them from it, and returns one.
const IN_BODIES: &str = r#"
#include "trivium.h"
#include <stdio.h>
#include "bodies.h"
int main(void) {
    int me = trivium_node(), next = (me + 1) % trivium_nodes(), bad = 0;
    char *at[8];
    for (int n = 0; n < trivium_nodes(); n++)
        at[n] = trivium_alloc_on(n, 4096);
    trivium_barrier();
    bad += bodies_other(at[next] + 8, at[me] + 200) != at[me] + 192;
    bad += bodies_other(at[next] + 8, at[next] + 63) != NULL;
    bad += bodies_other(at[me], NULL) != NULL || bodies_other(at[me], &bad) != NULL;
    bad += bodies_other(NULL, at[me]) != NULL || bodies_other(&bad, at[me]) != NULL;
    bad += bodies_other(at[me], at[0] + (1 << 28)) != NULL;
    if (WRONG == 1)
        bodies_one(at[me], NULL);
    if (WRONG == 2)
        bodies_one(&bad, at[me]);
    if (WRONG == 3)
        bodies_both(at[me], at[next] - (1 << 28));
    bad += bodies_one(at[me], at[next] + 70) != at[next] + 64 || bodies_both(at[me], at[me] + 5) != at[me];
    trivium_barrier();
    printf("node %d: %s\n", me, bad ? "wrong" : "right");
    return 0;
}
"#;

#[test]
fn bodies_take_say_and_return_blocks() {
    let folder = crate::harness::folder();
    let file = harness::root().join("crates/check/tests/files/call-body-keeps-blocks.test");
    let text = std::fs::read_to_string(file).unwrap();
    let more = "event back(a: block?): block?\nop one(to: block, from: block?): block { return ask back(from) }\n\
                op both(to: block, from: block): block { return ask back(from) }\nlane main";
    let text = text.replacen("protocol blocks-in-bodies", "protocol bodies", 1).replacen("lane main", more, 1);
    let text = text.replacen("state Any {", "state Any {\n    on back(a) { return a }", 1);
    let protocol = in_file(&folder, "bodies.tri", &text);
    in_file(&folder, "bodies.h", &trivium(&["header", &protocol]).out);
    let program = in_file(&folder, "bodies.c", IN_BODIES);
    let with = [&program, "-p", &protocol, "-n", "3", "--block", "64"];
    let jitter = &["sim", "-m", "typhoon", "--set", "machine.network.jitter=90"];
    let ways = [&["sim", "-m", "typhoon"][..], jitter, &["run"], &["run", "--delays", "3"]];
    let wrongs = ["bodies.one: returns 0, which is no block", "bodies.one with address", "bodies.both with address"];
    for way in ways {
        let run = trivium(&[way, &with, &["--cc=-DWRONG=0"]].concat());
        assert_eq!(run.out.matches(": right").count(), 3, "{way:?}: {run:?}");
        for (number, said) in (1..).zip(wrongs) {
            let run = trivium(&[way, &with, &[&format!("--cc=-DWRONG={number}")]].concat());
            assert!(run.code == Some(1) && run.err.contains(said), "{way:?}, {said}: {run:?}");
        }
    }
}
