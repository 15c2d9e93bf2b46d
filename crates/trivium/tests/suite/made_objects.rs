//! Objects that handlers make (`object ticket up to 2`), as programs name them, in `sim` and `run`.

use crate::harness::trivium;
use std::path::Path;

/// `ASKS` is `?` where a call may be about no ticket.
const TICKETS: &str = "protocol tickets
lane main buffered
object ticket up to 2
op take(): ticket?
op give(t: ticketASKS): bool
message Told, Heard on main
role desk of node { state Open { on take { let t = new ticket; if t != none { owner[t].begin() }; return t } } }
role owner of ticket everywhere {
  var waiter: thread
  var missing: set of node
  action begin() { goto Held }
  state Free { on Told { send Heard to sender } on give, Heard impossible }
  state Held {
    on give { waiter = caller; missing = all - {me}; goto Ending; for m in missing { send Told to m }; if missing == {} { return true to waiter; free object } }
    on Told, Heard impossible
  }
  state Ending { on Heard { missing -= sender; if missing == {} { return true to waiter; free object } } on give, Told impossible }
}
";

const PROGRAM: &str = r#"
#include "trivium.h"
#include "trivium/tickets.h"
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **args) {
    int me = trivium_node(), nodes = trivium_nodes(), bad = 0;
    if (count > 1)
        return tickets_give(atoi(args[1])) + 1;
    for (int round = 0; round < 3; round++) {
        int32_t a = tickets_take(), b = tickets_take();
        bad += a != me || b != nodes + me || tickets_take() != -1;
        bad += tickets_give(a + 2 * nodes) || tickets_give(-1) || tickets_give(-7);
        bad += nodes > 1 && tickets_give((me + 1) % nodes);
        bad += !tickets_give(b) || tickets_give(b) || tickets_take() != b || !tickets_give(a) || !tickets_give(b);
        trivium_barrier();
    }
    if (bad)
        trivium_fail("a ticket is not the one that it should be");
    if (me == 0)
        printf("ok\n");
    return 0;
}
"#;

fn written(folder: &Path, asks: &str) -> [String; 2] {
    let [protocol, program] = ["tickets.tri", "tickets.c"].map(|name| folder.join(name));
    std::fs::write(&protocol, TICKETS.replace("ASKS", asks)).unwrap();
    std::fs::write(&program, PROGRAM).unwrap();
    [protocol, program].map(|path| path.to_str().unwrap().to_string())
}

#[test]
fn a_program_names_what_is_there_and_nothing_else() {
    let folder = crate::harness::folder();
    let [protocol, program] = written(folder.path(), "?");
    for nodes in ["1", "2", "3"] {
        for way in [&["sim", "-m", "typhoon", "-n", nodes][..], &["run", "--delays", "3", "-n", nodes]] {
            let run = trivium(&[way, &[&program, "-p", "stache", "-p", &protocol]].concat());
            assert!(run.code == Some(0) && run.out.contains("ok\n"), "{way:?}: {run:?}");
        }
    }
}

#[test]
fn a_call_that_must_be_about_an_object_is_refused_without_one() {
    let folder = crate::harness::folder();
    let [protocol, program] = written(folder.path(), "");
    for way in [&["sim", "-m", "typhoon", "-n", "2"][..], &["run", "-n", "2"]] {
        for (number, told) in
            [("0", "tickets.give with ticket 0, which is not there"), ("-1", "tickets.give of object -1")]
        {
            let run = trivium(&[way, &[&program, "-p", "stache", "-p", &protocol, "--", number]].concat());
            run.refuses(1, &[told, "tickets.c:"]);
        }
    }
}
