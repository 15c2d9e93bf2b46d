//! The generator and what it makes, without the compiler.

use super::*;

/// Nothing that C leaves undefined, at any number of nodes; and the output does not depend on that but for real numbers.
#[test]
fn no_program_is_wrong() {
    for case in 0..400 {
        let program = program(7, case).unwrap_or_else(|what| panic!("case {case}: {what}"));
        for nodes in [2, 17] {
            if let Err(what) = machine::printed(&program, nodes, &[]) {
                panic!("case {case}, {nodes} nodes: {what}\n{}", text::written(&program));
            }
        }
    }
}
