//! Models in small, read and written.

use super::parser::parse;
use super::syntax::{Expr, Sign};
use super::translate;

fn invariant(text: &str) -> Expr {
    let mut program = parse(&format!("invariant \"it\" {text};")).unwrap();
    program.invariants.remove(0).1
}

/// The outermost sign of an expression.
fn outermost(text: &str) -> Option<Sign> {
    match invariant(text) {
        Expr::Binary(sign, ..) => Some(sign),
        _ => None,
    }
}

#[test]
fn signs_bind_as_in_murphi() {
    assert_eq!(outermost("a = 1 & b != 2 | c"), Some(Sign::Or));
    assert_eq!(outermost("!a = b & c"), Some(Sign::And));
    assert!(matches!(invariant("!a = b"), Expr::Not(_)));
    assert_eq!(outermost("a + 1 < b * 2"), Some(Sign::Less));
    assert_eq!(outermost("a - b - c"), Some(Sign::Minus));
    let Expr::Binary(_, left, _) = invariant("a - b - c") else { panic!("no difference") };
    assert!(matches!(*left, Expr::Binary(Sign::Minus, ..)), "from the left");
    assert_eq!(outermost("s >> x + 1"), Some(Sign::ShiftRight));
}

#[test]
fn what_is_not_read_is_named_with_its_line() {
    let error = parse("var\n  x: 0..3;\nliveness \"it\" x = 1;").unwrap_err();
    assert!(error.starts_with("line 3: ") && error.contains("liveness"), "{error}");
    let error = translate("var x: 0..3;\nstartstate begin y := 1; end;", "p").unwrap_err();
    assert!(error.contains("`y`"), "{error}");
    let error = translate("var x: boolean;\nstartstate begin x := 1; end;", "p").unwrap_err();
    assert!(error.contains("another type"), "{error}");
}

#[test]
fn ranges_are_held_where_values_are_assigned() {
    let model = "var x: 2..300; y: array [1..4] of 0..1;\nstartstate begin clear x; x := y[2]; end;";
    let text = translate(model, "p").unwrap();
    assert!(text.contains("int16_t x_;") && text.contains("int8_t a[4];"), "{text}");
    assert!(text.contains("S.x_ = in_range(S.y_.a[at(2, 1, 4)], 2, 300);"), "{text}");
    assert!(text.contains("S.x_ = 2;"), "{text}");
}

#[test]
fn each_choice_of_parameters_is_a_line() {
    let model = "var x: 0..9;\nruleset a: 0..1; b: 2..3 do\n  rule \"go {on}\" x = a ==> begin x := b; end;\nend;\n\
                 startstate begin x := 0; end;\ninvariant \"small\" x < 9;";
    let text = translate(model, "p").unwrap();
    let line = ":: d_step { c_expr { (can_0(1, 2)) } -> printf(\"go (on), a = 1, b = 2\\n\"); c_code { do_0(1, 2); }; \
                assert(c_expr { (sound()) }) }";
    assert!(text.contains(line), "{text}");
    assert_eq!(text.matches(":: d_step").count(), 4);
    assert!(text.contains("if (!(S.x_ < 9)) fail(\"invariant small failed\");"), "{text}");
}
