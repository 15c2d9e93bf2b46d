//! Models in small, in SPIN's language.

use super::promela::write;
use crate::model::{BOOLEAN, Block, Name, Program, Rule, Statement, Term, TypeExpr, array, range};

const X: Name = Name::new("x");
const Y: Name = Name::new("y");

/// A model of one variable, and its first state.
fn model(ty: TypeExpr, start: impl FnOnce(&mut Block)) -> Program {
    let mut program = Program { start: Block::of(start), ..Program::default() };
    program.variable(X, ty);
    program
}

#[test]
fn what_does_not_fit_together_is_named() {
    let error = write(&model(range(0, 3), |out| out.assign(Y, 1)), "p").unwrap_err();
    assert!(error.contains("`y`"), "{error}");
    let error = write(&model(BOOLEAN, |out| out.assign(X, 1)), "p").unwrap_err();
    assert!(error.contains("another type"), "{error}");
}

#[test]
fn ranges_are_held_where_values_are_assigned() {
    let mut program = model(range(2, 300), |out| {
        out.clear(X);
        out.assign(X, Y.at(2));
    });
    program.variable(Y, array(range(1, 4), range(0, 1)));
    let text = write(&program, "p").unwrap();
    assert!(text.contains("int16_t x_;") && text.contains("int8_t a[4];"), "{text}");
    assert!(text.contains("S.x_ = in_range(S.y_.a[at(2, 1, 4)], 2, 300);"), "{text}");
    assert!(text.contains("S.x_ = 2;"), "{text}");
}

#[test]
fn each_choice_of_parameters_is_a_line() {
    let mut program = model(range(0, 9), |out| out.assign(X, 0));
    let (a, b) = (Name::new("a"), Name::new("b"));
    program.rules.push(Rule {
        name: "go {on}".into(),
        parameters: vec![a.clone().of(range(0, 1)), b.clone().of(range(2, 3))],
        guard: X.is(a),
        locals: Vec::new(),
        body: vec![Statement::Assign(X.into(), b.into())],
    });
    program.invariant("small", X.lt(9));
    let text = write(&program, "p").unwrap();
    let line = ":: d_step { c_expr { (can_0(1, 2)) } -> printf(\"go (on), a = 1, b = 2\\n\"); c_code { do_0(1, 2); }; \
                assert(c_expr { (sound()) }) }";
    assert!(text.contains(line), "{text}");
    assert_eq!(text.matches(":: d_step").count(), 4);
    assert!(text.contains("if (!(S.x_ < 9)) fail(\"invariant small failed\");"), "{text}");
}

#[test]
fn what_stands_for_a_reader_of_the_other_model_is_left_out() {
    let mut program = model(range(0, 3), |out| {
        out.comment("The first state.");
        out.assign(X, 0);
    });
    program.head.push("2 nodes".into());
    let text = write(&program, "p").unwrap();
    assert!(!text.contains("The first state."), "{text}");
    assert!(
        text.starts_with("/* Protocol p, for SPIN; written by `trivium export --to spin`.\n   2 nodes\n"),
        "{text}"
    );
}
