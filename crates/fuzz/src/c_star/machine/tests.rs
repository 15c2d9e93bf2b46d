//! What is subtle in the language, on small trees.

use super::printed;
use crate::c_star::number::{Operator, Type, Value};
use crate::c_star::tree::{
    Expression, Held, Object, Program, Reduction, Shape, ShapeName, ShapeOf, Statement, Variable,
};

/// A program with one shape of so many positions, and variables in it of these types.
fn program(positions: i128, types: &[Type], main: Vec<Statement>) -> Program {
    let variables = types.iter().enumerate().map(|(number, of)| Variable {
        name: format!("x{number}"),
        shape: Some(ShapeOf::Named(0)),
        held: Held::Number(*of),
        count: None,
        initial: None,
    });
    Program {
        shapes: vec![Shape { name: "S".into(), sizes: vec![positions], blocks: None }],
        structures: Vec::new(),
        variables: variables.collect(),
        globals: (0..types.len()).collect(),
        functions: Vec::new(),
        main: vec![Statement::With(ShapeName::Named(0), main)],
    }
}

fn store(position: i128, value: Value) -> Statement {
    Statement::Send(vec![Expression::int(position)], Object::of(0), None, Expression::Constant(value))
}

fn at(position: i128) -> Expression {
    Expression::Get(vec![Expression::int(position)], Object::of(0))
}

fn print(numbers: Vec<Expression>) -> Statement {
    Statement::Print("is".into(), numbers)
}

#[test]
fn real_numbers_are_added_in_the_order_of_nodes_and_of_their_tree() {
    let values = [1e16, 1.0, -1e16, 1.0, 1.0];
    let mut main: Vec<Statement> =
        values.iter().zip(0..).map(|(value, at)| store(at, Value::real(Type::Double, *value))).collect();
    let sum = Expression::Reduce(Reduction::Add, Box::new(Expression::own(0)));
    main.push(print(vec![Expression::Bits(Box::new(sum))]));
    let program = program(5, &[Type::Double], main);
    // Of one node: 1e16 + 1 is 1e16. Of three: (1e16 + 1) + (-1e16 + 1) + 1. Of seven, the last two of which have no
    // position: 1e16 + (1 + 1 + 1) + -1e16, and 1e16 + 3 is 1e16 + 4.
    for (nodes, sum) in [(1, 2.0f64), (3, 1.0), (7, 4.0)] {
        assert_eq!(printed(&program, nodes, &[]).unwrap(), [format!("is {:016x}", sum.to_bits())], "{nodes} nodes");
    }
}

#[test]
fn of_no_position_comes_the_identity_of_the_promoted_type() {
    let never = Expression::binary(Operator::Less, Expression::Coordinate(0), Expression::int(0));
    let of = |reduction| Expression::Reduce(reduction, Box::new(Expression::own(0)));
    let all = [Reduction::Add, Reduction::And, Reduction::Least, Reduction::Most].map(of).to_vec();
    let program = program(3, &[Type::UnsignedChar], vec![Statement::Where(never, vec![print(all)], None)]);
    assert_eq!(printed(&program, 2, &[]).unwrap(), ["is 0 -1 2147483647 -2147483648"]);
}

/// One of the values stays, whichever is heard; nothing else does.
#[test]
fn one_of_several_that_are_sent_stays() {
    let send = Statement::Send(vec![Expression::int(1)], Object::of(0), None, Expression::Coordinate(0));
    let main = vec![send, Statement::Settle(Object::of(0)), print(vec![at(1)])];
    let program = program(3, &[Type::Int], main);
    for (heard, stays) in [("x0[1] 0", 0), ("x0[1] 1", 1), ("x0[1] 7", 2), ("", 2)] {
        let lines = printed(&program, 2, &["x0[0] 0", heard]).unwrap();
        assert_eq!(lines, ["x0[0] 0".to_string(), format!("x0[1] {stays}"), "x0[2] 0".into(), format!("is {stays}")]);
    }
}

#[test]
fn what_is_combined_is_converted_at_each_step() {
    let real = |number: f64| Expression::Constant(Value::real(Type::Double, number));
    let half = Expression::binary(Operator::Add, Expression::Coordinate(0), real(0.5));
    let send = |operator, value| Statement::Send(vec![Expression::int(0)], Object::of(0), Some(operator), value);
    let wide = Expression::binary(Operator::Add, Expression::Coordinate(0), Expression::int(200));
    let main = vec![
        // 200 + 201 + 202, of which a byte keeps 91.
        send(Operator::Add, wide),
        print(vec![at(0)]),
        // 0.5 is 0, and so it stays.
        send(Operator::Least, half),
        print(vec![at(0)]),
    ];
    let program = program(3, &[Type::UnsignedChar], main);
    assert_eq!(printed(&program, 1, &[]).unwrap(), ["is 91", "is 0"]);
}

/// A context ends where it is left, and behind `&&` a reduction is of those positions that come there.
#[test]
fn contexts_narrow_and_end() {
    let is_late = Expression::binary(Operator::Greater, Expression::Coordinate(0), Expression::int(1));
    let sum = Expression::Reduce(Reduction::Add, Box::new(Expression::Coordinate(0)));
    let narrowed = Expression::Logical(
        true,
        Box::new(is_late.clone()),
        Box::new(Expression::binary(Operator::Equal, sum.clone(), Expression::int(9))),
    );
    let mut program = program(5, &[Type::Int, Type::Int], Vec::new());
    program.variables[1].shape = None;
    program.globals = vec![0];
    program.main = vec![Statement::With(
        ShapeName::Named(0),
        vec![
            // 2 + 3 + 4 is 9.
            Statement::Assign(Object::of(0), None, narrowed),
            Statement::For(
                1,
                3,
                vec![Statement::Where(is_late, vec![print(vec![sum.clone()]), Statement::Break], None)],
            ),
            print(vec![sum, at(1), at(2)]),
        ],
    )];
    assert_eq!(printed(&program, 3, &[]).unwrap(), ["is 9", "is 10 0 1"]);
}

#[test]
fn an_index_outside_of_its_shape_is_wrong() {
    let program = program(3, &[Type::Int], vec![print(vec![at(3)])]);
    assert!(printed(&program, 1, &[]).unwrap_err().contains("the left index 3 of a dimension of 3"));
}

/// Of 2 by 2 nodes node 0 has the first two columns of the first two rows: 1e16 and -1e16 come together before 1 and 1 do.
#[test]
fn a_shape_is_dealt_out_in_rectangles() {
    let mut program = program(4, &[Type::Double], Vec::new());
    program.shapes[0] = Shape { name: "S".into(), sizes: vec![4, 4], blocks: Some((2, 2)) };
    let store = |row, column, number| {
        let value = Expression::Constant(Value::real(Type::Double, number));
        Statement::Send(vec![Expression::int(row), Expression::int(column)], Object::of(0), None, value)
    };
    let sum = Expression::Reduce(Reduction::Add, Box::new(Expression::own(0)));
    program.main = vec![Statement::With(
        ShapeName::Named(0),
        vec![
            store(0, 0, 1e16),
            store(0, 3, 1.0),
            store(1, 1, -1e16),
            store(2, 2, 1.0),
            print(vec![Expression::Bits(Box::new(sum))]),
        ],
    )];
    for (nodes, sum) in [(1, 1.0f64), (4, 2.0), (3, 1.0)] {
        assert_eq!(printed(&program, nodes, &[]).unwrap(), [format!("is {:016x}", sum.to_bits())], "{nodes} nodes");
    }
}

/// `break` and `continue` in a `switch` in a loop, which goes on from label to label, and a `do` whose condition is false.
#[test]
fn a_switch_goes_on_into_the_next_label() {
    let say = |word: &str| Statement::Print(word.into(), Vec::new());
    let mut program = program(1, &[Type::Int, Type::Int, Type::Int], Vec::new());
    program.globals = Vec::new();
    program.variables.iter_mut().for_each(|variable| variable.shape = None);
    let cases = vec![
        (Some(0), vec![say("zero")]),
        (None, vec![say("other"), Statement::Break]),
        (Some(1), vec![say("one"), Statement::Continue]),
    ];
    program.main = vec![
        Statement::For(0, 3, vec![Statement::Switch(Expression::own(0), cases), say("behind")]),
        Statement::Do(1, 3, Expression::int(0), vec![say("once")]),
    ];
    let lines = printed(&program, 1, &[]).unwrap();
    assert_eq!(lines, ["zero", "other", "behind", "one", "other", "behind", "once"]);
}

/// What an expression sends has the type of what it goes to, and behind `&&` only those send that come there.
#[test]
fn a_send_gives_what_it_sends() {
    let mirrored = Expression::binary(Operator::Subtract, Expression::int(2), Expression::Dot(0));
    let wide = Expression::binary(Operator::Add, Expression::Coordinate(0), Expression::int(255));
    let send = Expression::Send(vec![mirrored], Object::of(1), Box::new(wide));
    let is_late = Expression::binary(Operator::Greater, Expression::Coordinate(0), Expression::int(0));
    let of = |variable, position| Expression::Get(vec![Expression::int(position)], Object::of(variable));
    let all = |variable| (0..3).map(|position| of(variable, position)).collect();
    let main = vec![
        Statement::Assign(Object::of(0), None, send.clone()),
        print(all(0)),
        print(all(1)),
        Statement::Assign(Object::of(1), None, Expression::int(9)),
        Statement::Assign(Object::of(0), None, Expression::Logical(true, Box::new(is_late), Box::new(send))),
        print(all(0)),
        print(all(1)),
    ];
    let program = program(3, &[Type::Int, Type::UnsignedChar], main);
    assert_eq!(printed(&program, 2, &[]).unwrap(), ["is 255 0 1", "is 1 0 255", "is 0 0 1", "is 1 0 9"]);
}
