//! Models in small, in Murphi.

use super::expressions::{expression, ty};
use super::program::write;
use super::statements::statements;
use crate::lines::Lines;
use crate::model::{
    BOOLEAN, Block, Expr, Name, Program, Rule, Term, TypeExpr, array, call, choice, exists, forall, function,
    procedure, range, record,
};

const A: Name = Name::new("a");
const B: Name = Name::new("b");
const C: Name = Name::new("c");

fn is_written(expr: impl Into<Expr>, text: &str) {
    assert_eq!(expression(&expr.into()), text);
}

fn block(body: impl FnOnce(&mut Block)) -> String {
    let mut out = Lines::default();
    statements(&Block::of(body), &mut out);
    out.text()
}

#[test]
fn parentheses_stand_where_the_tree_needs_them() {
    is_written(A.is(1) & B.differs_from(2) | C, "a = 1 & b != 2 | c");
    is_written(A.is(1) & (B.differs_from(2) | C), "a = 1 & (b != 2 | c)");
    is_written(A - B - C, "a - b - c");
    is_written(A - (B - C), "a - (b - c)");
    is_written((A + B) * C, "(a + b) * c");
    is_written(A + B * C, "a + b * c");
    is_written((A + 1).lt(B * 2), "a + 1 < b * 2");
    is_written(A - Expr::from(-1), "a - -1");
    is_written(-(A + B), "-(a + b)");
    is_written(choice(A, B, C) + 1, "(a ? b : c) + 1");
    is_written(A.at(B + 1).field("n"), "a[b + 1].n");
}

#[test]
fn a_negation_is_of_a_whole() {
    is_written(!A.is(B), "!(a = b)");
    is_written(!A & B, "!a & b");
    is_written((!A).is(B), "(!a) = b");
    is_written(!call("has", (A, B)), "!has(a, b)");
    is_written(!(A & B), "!(a & b)");
    is_written(!exists(A.of(BOOLEAN), A), "!(exists a: boolean do a end)");
}

#[test]
fn quantifiers_stand_alone_or_in_parentheses() {
    let both = forall(A.of(range(0, 2)), exists(B.of(BOOLEAN), A.is(B)));
    is_written(&both, "forall a: 0..2 do exists b: boolean do a = b end end");
    is_written(both | C, "(forall a: 0..2 do exists b: boolean do a = b end end) | c");
}

#[test]
fn readers_need_not_know_how_shifts_and_bits_bind() {
    is_written((A + 0) & (B + 0).complement(), "(a + 0) & ~(b + 0)");
    is_written(((A >> B) & 1).is(1), "((a >> b) & 1) = 1");
    is_written(Expr::from(1) << (A - B), "1 << (a - b)");
    is_written((A / 8) % 2, "(a / 8) % 2");
    is_written(A * B * C, "a * b * c");
}

#[test]
fn what_is_short_stands_in_one_line() {
    assert_eq!(block(|out| out.when(A, |out| out.assign(B, 1))), "if a then b := 1; end;\n");
    assert_eq!(block(|out| out.for_each(A, BOOLEAN, |_| {})), "for a: boolean do end;\n");
    let long =
        "fault: a sentence that is long enough to stand in a line of its own, since nobody reads lines that go on";
    assert_eq!(
        block(|out| out.when_else(A, |out| out.error(long), Block::leave)),
        format!("if a then\n  error \"{long}\";\nelse\n  return;\nend;\n")
    );
    let told = block(|out| {
        out.while_(A, |out| {
            out.comment("It is told.");
            out.call("go_on", (A, -1));
        });
    });
    assert_eq!(told, "while a do\n  -- It is told.\n  go_on(a, -1);\nend;\n");
}

#[test]
fn long_conditions_have_lines_for_their_operands() {
    let long = |number: i32| call(format!("a_condition_with_a_name_that_is_long_{number}"), (A, B));
    let text = block(|out| out.give(long(1) & (long(2) | C) & !long(3)));
    let lines = [
        "return a_condition_with_a_name_that_is_long_1(a, b)",
        "  & (a_condition_with_a_name_that_is_long_2(a, b) | c)",
        "  & !a_condition_with_a_name_that_is_long_3(a, b);",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    assert_eq!(block(|out| out.give(A & B | C)), "return a & b | c;\n");
}

#[test]
fn cases_are_indented() {
    let text = block(|out| {
        out.switch(A, |cases| {
            cases.give(1, 2);
            cases.case(2, |out| {
                out.switch(B, |cases| cases.case(1, |out| out.clear(C)));
                out.assume(C.is(0));
            });
        });
    });
    let lines = "switch a\n  case 1: return 2;\n  case 2:\n    switch b\n      case 1: clear c;\n    end;\n    assume c = 0;\nend;\n";
    assert_eq!(text, lines);
}

#[test]
fn one_condition_or_another_is_an_elsif() {
    let text = block(|out| {
        out.when_or((A.into(), |out: &mut Block| out.assign(C, 1)), (B.into(), |out: &mut Block| out.assign(C, 2)));
    });
    assert_eq!(text, "if a then\n  c := 1;\nelsif b then\n  c := 2;\nend;\n");
}

#[test]
fn types_are_written_in_one_line() {
    let fields = [Name::new("n").of(range(-1, 3)), Name::new("m").of(array(TypeExpr::named("Node"), BOOLEAN))];
    assert_eq!(ty(&record(fields)), "record n: -1..3; m: array [Node] of boolean; end");
}

#[test]
fn a_model_has_its_parts_in_order() {
    let mut program =
        Program { head: vec!["2 nodes".into()], start: Block::of(|out| out.assign(A, 0)), ..Program::default() };
    program.constants.push((Name::new("ONE"), 1));
    program.ty("Int", range(0, 9));
    program.variable_for("what it is about", A, TypeExpr::named("Int"));
    let head = function("next", range(0, 9)).takes(B, range(0, 9)).local(C, BOOLEAN).comment("One more.");
    program.define(head, |out| out.give(B + 1));
    program.define(procedure("go").changes(B, range(0, 9)), |out| out.assign(B, call("next", B)));
    program.rules.push(Rule {
        name: "goes".into(),
        parameters: vec![B.of(range(0, 1))],
        guard: A.lt(9),
        locals: vec![C.of(BOOLEAN)],
        body: Block::of(|out| out.call("go", A)),
    });
    program.invariant("small", A.lt(9));
    program.unchecked.push("Not all of it.".into());
    let text = write(&program, "p");
    let (head, body) = text.split_once("\n\n").unwrap();
    assert!(head.starts_with("-- Protocol p, for Rumur;") && head.contains("\n-- 2 nodes\n"), "{head}");
    let expected = "\
const
  ONE: 1;
type
  Int: 0..9;
var
  a: Int; -- what it is about

-- One more.
function next(b: 0..9): 0..9;
var c: boolean;
begin
  return b + 1;
end;

procedure go(var b: 0..9);
begin
  b := next(b);
end;

ruleset b: 0..1 do
  rule \"goes\"
    a < 9 ==>
  var c: boolean;
  begin
    go(a);
  end;
end;

startstate
begin
  a := 0;
end;

invariant \"small\"
  a < 9;

-- Not all of it.
";
    assert_eq!(body, expected);
}
