//! What handlers tell ghosts is there for `check` alone (`docs/semantics.md`, section 7).

use crate::harness::{in_file, root, trivium};

const PROGRAM: &str = "\
#include \"trivium.h\"
#include \"trivium/flash-lock.h\"
int main(void) {
    for (int round = 0; round < 3; round++) {
        flash_lock_acquire(0);
        flash_lock_release(0);
    }
    return 0;
}
";

/// A program takes as long, and its engines do as much, under a lock whose handlers tell a ghost and under the same lock without one.
#[test]
fn nothing_is_simulated_of_what_ghosts_are_told() {
    let text = std::fs::read_to_string(root().join("protocols/flash-lock.tri")).unwrap();
    let (before, rest) = text.split_once("// First come, first served").unwrap();
    let (_, behind) = rest.split_once("not order.overtaken\n").unwrap();
    let silent = format!("{before}{behind}").replace("    order.came(who)\n", "").replace("order.got(me); ", "");
    assert!(text.contains("order.came") && !silent.contains("order."));
    let folder = crate::harness::folder();
    let program = in_file(&folder, "takes.c", PROGRAM);
    let [tells, silent] = [("tells.tri", &text), ("silent.tri", &silent)].map(|(name, text)| {
        let file = in_file(&folder, name, text);
        let result = trivium(&["sim", &program, "-p", &file, "-m", "flash", "-n", "3", "--format", "json"]).json(0);
        ["cycles", "messages", "handlers"].map(|key| result[key].clone())
    });
    assert!(tells.iter().all(|value| !value.is_null()), "{tells:?}");
    assert_eq!(tells, silent);
}

/// A model would have to tell them, too.
#[test]
fn what_ghosts_are_told_is_not_exported() {
    let text = "protocol told\nobject lock\nop take(l: lock)\nlane main buffered\n\
                ghost order of lock { var n: 0..3  action came() { n = 1 } }\n\
                role home of lock { state Any { on take { order.came(); return } } }\n\
                role away of lock { state Any { on take { return } } }\n";
    let folder = crate::harness::folder();
    let file = in_file(&folder, "told.tri", text);
    for to in ["murphi", "spin"] {
        let said = "handlers tell the ghost `order` something, which cannot be exported";
        trivium(&["export", "--to", to, &file]).refuses(2, &[said]);
    }
}
