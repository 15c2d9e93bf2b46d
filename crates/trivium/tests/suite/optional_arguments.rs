//! Arguments and results of calls that may be `none`: in C -1, and of an address a null pointer. In simulations, for real, and again from a recording.

use crate::harness::{in_file, trivium};

/// Keeps what it is told, and gives back what it was told before.
const KEEPER: &str = "\
protocol keeper
object seat
lane main fifo buffered
message Put(n: 1..3?, b: bool?, w: word?, a: address?) on main
message Was(n: 1..3?, b: bool?, a: address?) on main
op put(s: seat, n: 1..3?, b: bool?, a: address?): 1..3?
op flag(s: seat): bool?
op at(s: seat): address?
op sum(s: seat, l: list of 1..3? up to 3): 0..9?
role home of seat {
  var n: 1..3?
  var b: bool?
  var w: word?
  var at: address?
  state Ready {
    on Put(m, c, v, a) {
      send Was(n, b, at) to sender
      n = m; b = c; w = v; at = a
      assert w == none or n != none
    }
  }
}
role client of seat everywhere {
  var b: bool?
  var at: address?
  var w: word?
  state Idle {
    on put(m, c, a) {
      if m == none { w = none } else { w = m }
      send Put(m, c, w, a) to home
      await Was(old, f, p) { b = f; at = p; goto Idle; return old }
    }
    on flag { return b }
    on at { return at }
    on sum(l) {
      if l.length == 0 { return none } else if l[0] == none { return 0 } else { return l.length }
    }
    on Was impossible
  }
}
";

const PROGRAM: &str = r#"
#include "trivium.h"
#include <stdio.h>
#include "keeper.h"
int main(void) {
    char *shared = trivium_alloc_on(0, 64);
    if (trivium_node() == 1) {
        int64_t list[] = {3, -1, 1};
        printf("%lld", (long long)keeper_put(0, 3, 1, shared + 8));
        printf(" %d %d", keeper_flag(0), keeper_at(0) == NULL);
        printf(" %lld", (long long)keeper_put(0, -1, -1, NULL));
        printf(" %d %d", keeper_flag(0), keeper_at(0) == shared + 8);
        printf(" %lld", (long long)keeper_put(0, 1, 0, shared));
        printf(" %d %d", keeper_flag(0), keeper_at(0) == NULL);
        printf(" %lld %lld %lld\n", (long long)keeper_sum(0, list, 0), (long long)keeper_sum(0, list, 1), (long long)keeper_sum(0, list + 1, 2));
    }
    trivium_barrier();
    return 0;
}
"#;

#[test]
fn none_is_minus_one_or_a_null_pointer() {
    let folder = crate::harness::folder();
    let protocol = in_file(&folder, "keeper.tri", KEEPER);
    in_file(&folder, "keeper.h", &trivium(&["header", &protocol]).out);
    let program = in_file(&folder, "program.c", PROGRAM);
    let recording = folder.path().join("recording").display().to_string();
    let ways =
        [&["sim", "-m", "typhoon"][..], &["run"], &["run", "--record", &recording], &["run", "--replay", &recording]];
    for way in ways {
        let run = trivium(&[way, &[&program, "-p", "stache", "-p", &protocol, "-n", "2"]].concat());
        assert!(run.out.contains("-1 -1 1 3 1 1 -1 -1 1 -1 1 0\n"), "{way:?}: {run:?}");
    }
}

#[test]
fn what_is_neither_none_nor_of_the_range_is_told() {
    let folder = crate::harness::folder();
    let protocol = in_file(&folder, "keeper.tri", KEEPER);
    in_file(&folder, "keeper.h", &trivium(&["header", &protocol]).out);
    let text = "#include \"keeper.h\"\nint main(int argc, char **argv) {
        int64_t list[] = {1, -2};
        if (argc > 1) keeper_sum(0, list, 2); else keeper_put(0, 0, 1, 0);
        return 0;
    }\n";
    let program = in_file(&folder, "program.c", text);
    for (more, told) in [
        (&[][..], "node 0: keeper.put: `n`: 0 is outside 1..3"),
        (&["--", "list"], "node 0: keeper.sum: element 1 of `l`: -2 is outside 1..3"),
    ] {
        let run = trivium(&[&["sim", "-m", "typhoon", &program, "-p", &protocol, "-n", "1"], more].concat());
        assert!(run.err.contains(told), "{run:?}");
    }
}
