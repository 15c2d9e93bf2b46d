//! What the compiler works out is what a handler would: random arithmetic on numbers, parameters and `nodes`, which the compiler
//! folds, against the same arithmetic on variables that hold these values, which it cannot know.

use crate::mutant::config;
use proptest::prelude::*;
use std::sync::Arc;
use trivium_check::{Config, System, Verdict, explore};

/// Arithmetic.
#[derive(Clone, Debug)]
enum Sum {
    Number(i64),
    Param,
    Nodes,
    Negative(Box<Sum>),
    Of(&'static str, Box<Sum>, Box<Sum>),
}

fn sum() -> impl Strategy<Value = Sum> {
    let leaf = prop_oneof![5 => (0i64..8).prop_map(Sum::Number), 1 => Just(Sum::Param), 2 => Just(Sum::Nodes)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let operator = prop::sample::select(&["+", "-", "*", "/", "%"][..]);
        prop_oneof![
            1 => inner.clone().prop_map(|a| Sum::Negative(a.into())),
            6 => (operator, inner.clone(), inner).prop_map(|(op, a, b)| Sum::Of(op, a.into(), b.into())),
        ]
    })
}

impl Sum {
    /// As text, of what is known or of variables.
    fn text(&self, known: bool) -> String {
        match self {
            Sum::Number(n) if known => n.to_string(),
            Sum::Number(n) => format!("v{n}"),
            Sum::Param => if known { "p" } else { "v7" }.into(),
            Sum::Nodes => if known { "nodes" } else { "vn" }.into(),
            Sum::Negative(a) => format!("(-{})", a.text(known)),
            Sum::Of(op, a, b) => format!("({} {op} {})", a.text(known), b.text(known)),
        }
    }
}

/// How a protocol ends in which these are compared.
fn compared(a: &str, b: &str, nodes: u32) -> Result<(Verdict, Option<String>), TestCaseError> {
    let vars: String = (0..8).map(|n| format!("  var v{n}: 0..7 = {n}\n")).collect();
    let text = format!(
        "protocol folds\nparam p = 7\nobject thing\nlane main fifo buffered\nop look(t: thing)\n\
         role member of thing everywhere {{\n{vars}  var vn: 0..7 = {nodes}\n  state Only {{ on look {{ assert {a} == {b}; return }} }}\n}}\n"
    );
    let compiled = trivium_lang::compile("folds.tri", &text, &Default::default());
    let protocol = Arc::new(compiled.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?);
    let config = Config::from(System { nodes, ..System::default() });
    let report = explore(&protocol, &config).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    // Without the place in the text.
    let reason = report.reason.map(|reason| reason.split(" (folds.tri").next().unwrap_or_default().to_string());
    Ok((report.verdict, reason))
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn what_is_worked_out_beforehand_is_what_a_handler_works_out(sum in sum(), nodes in 1u32..4) {
        let (known, unknown) = (sum.text(true), sum.text(false));
        let folded = compared(&known, &known, nodes)?;
        prop_assert_eq!(&folded, &compared(&unknown, &unknown, nodes)?, "{}", known);
        prop_assert_eq!(&folded, &compared(&known, &unknown, nodes)?, "{}", known);
    }
}
