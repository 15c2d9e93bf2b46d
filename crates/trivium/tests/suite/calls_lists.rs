//! A program passes lists and arrays to a call, in a simulation and in a run; what they cannot be is told with place and remedy.

use crate::harness::trivium;

const MAILBOX: &str = "protocol mailbox
object box
record item { what: 0..3, who: node? }
op post(b: box, to: node, w: list of 0..200 up to 12): 0..12
op sum(b: box): 0..3000
op swap(b: box, x: [0..2] of -4..4, items: list of item up to 3): -4..40
op name(b: box, them: list of node up to 2)
lane main fifo buffered
message Post(w: list of 0..200 up to 12) on main
message Posted(n: 0..12) on main
role member of box everywhere defers up to nodes {
  var got: list of 0..200 up to 12
  var last: [0..2] of -4..4
  otherwise impossible
  state Only {
    on post(to, w) {
      send Post(w) to to
      await Posted(n) { goto Only; return n }
      while waiting on Post(w) { got = w; send Posted(got.length) to sender }
      otherwise defer
    }
    on Post(w) { got = w; send Posted(got.length) to sender }
    on sum { let a = got; if a.length > 1 { return a[0] + a[a.length - 1] + a.length } else { return a.length } }
    on name(them) { return }
    on swap(x, items) {
      let old = last[2]
      last = x
      if items.length > 1 and items[1].who == me { return old + items[0].what * 9 } else { return old }
    }
  }
}
";

const PROGRAM: &str = r#"
#include <stdio.h>
#include <trivium.h>
#include <trivium/mailbox.h>
int main(int argc, char **argv) {
    int me = trivium_node();
    int64_t words[] = {7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 200};
    int64_t first[] = {1, 2, 3}, then[] = {-4, 0, 4}, items[] = {3, -1, 1, me};
    if (argc > 1 && argv[1][0] == 'l') mailbox_post(0, 0, words, 13);
    if (argc > 1 && argv[1][0] == 'n') mailbox_post(0, 0, words, -1);
    if (argc > 1 && argv[1][0] == 'e') { words[2] = 300; mailbox_post(0, 0, words, 5); }
    if (argc > 1 && argv[1][0] == 'a') { first[1] = 9; mailbox_swap(0, first, items, 2); }
    if (argc > 1 && argv[1][0] == 'x') { items[0] = 0; items[1] = -1; mailbox_name(0, items, 2); }
    trivium_barrier();
    if (me == 0) {
        printf("%d %d\n", (int)mailbox_post(0, 1, words, 0), (int)mailbox_post(0, 1, words, 12));
        printf("%d %d\n", (int)mailbox_swap(0, first, items, 2), (int)mailbox_swap(0, then, items, 1));
        printf("%d\n", (int)mailbox_swap(0, first, 0, 0));
    }
    trivium_barrier();
    if (me == 1) printf("%d\n", (int)mailbox_sum(0));
    return 0;
}
"#;

#[test]
fn lists_and_arrays_are_passed_and_what_they_cannot_be_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_string()
    };
    let (protocol, program) = (write("mailbox.tri", MAILBOX), write("passes.c", PROGRAM));
    let ways: [&[&str]; 2] = [&["sim", &program, "-m", "typhoon"], &["run", &program]];
    for way in ways {
        let with = |more: &[&str]| trivium(&[way, &["-p", "msi", "-p", &protocol, "-n", "2"], more].concat());
        let ended = with(&[]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let out = ended.out;
        // 7 + 200 + 12; -4 at first, and 27; then what was last before.
        assert!(
            out.contains("0 12\n") && out.contains("23 3\n") && out.contains("4\n") && out.contains("219\n"),
            "{out}"
        );
        for (wrong, told) in [
            ("l", "mailbox.post: `w` is a list of at most 12 elements, not of 13"),
            ("n", "mailbox.post: `w` is a list of at most 12 elements, not of -1"),
            ("e", "mailbox.post: element 2 of `w`: 300 is outside 0..200"),
            ("x", "mailbox.name: element 1 of `them`: `none` where a node or thread is needed"),
            ("a", "mailbox.swap: element 1 of `x`: 9 is outside -4..4"),
        ] {
            with(&["--", wrong]).refuses(1, &[told, "passes.c:"]);
        }
    }
}
