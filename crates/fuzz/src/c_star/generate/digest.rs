//! Output from which every difference is seen: scalars as they are, and of parallel variables a sum in which each position counts differently.

use super::Generator;
use crate::c_star::number::{Operator, Type, Value};
use crate::c_star::tree::{Expression, Math, Reduction, ShapeName, ShapeOf, Statement};

const WIDE: Type = Type::UnsignedLongLong;

fn wide(number: u64) -> Expression {
    Expression::Constant(Value::whole(WIDE, i128::from(number)))
}

fn to(of: Type, expression: Expression) -> Expression {
    Expression::Cast(of, Box::new(expression))
}

impl Generator {
    /// Prints all variables, in all positions.
    pub(super) fn checkpoint(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        let scalars: Vec<usize> =
            [self.trace, self.tick].into_iter().chain(self.scope.scalars.iter().copied()).collect();
        let numbers = scalars.iter().map(|variable| self.shown(Expression::own(*variable))).collect();
        statements.push(Statement::Print("scalars".into(), numbers));
        for shape in 0..self.program.shapes.len() {
            let of_shape = self.digests(ShapeOf::Named(shape));
            statements.push(Statement::With(ShapeName::Named(shape), vec![Statement::Everywhere(of_shape)]));
        }
        statements
    }

    /// Prints something of all parallel variables of the current shape.
    pub(super) fn own_checkpoint(&mut self) -> Option<Statement> {
        let current = self.scope.current?;
        let variables = self.of_shape(current);
        let digest = self.digest(&variables, current)?;
        Some(Statement::Everywhere(vec![Statement::Print("all".into(), vec![digest])]))
    }

    fn of_shape(&self, shape: ShapeOf) -> Vec<usize> {
        let is_of_shape = |variable: &&usize| self.program.variables[**variable].shape == Some(shape);
        self.scope.parallels.iter().filter(is_of_shape).copied().collect()
    }

    fn digests(&mut self, shape: ShapeOf) -> Vec<Statement> {
        let print = |variable: usize| {
            let numbers = self.digest(&[variable], shape).into_iter().collect();
            Statement::Print(self.program.variables[variable].name.clone(), numbers)
        };
        self.of_shape(shape).into_iter().map(print).collect()
    }

    /// A scalar as it is printed.
    pub(super) fn shown(&self, scalar: Expression) -> Expression {
        if self.program.type_of(&scalar).is_real() { Expression::Bits(Box::new(scalar)) } else { scalar }
    }

    /// A sum over all positions and all numbers of these variables, in which each counts differently.
    fn digest(&self, variables: &[usize], shape: ShapeOf) -> Option<Expression> {
        let mut sum = None;
        let objects = variables.iter().flat_map(|variable| self.program.numbers_of(*variable));
        for (object, factor) in objects.zip((1..).step_by(2)) {
            let of = self.program.type_of_object(&object);
            let own = Expression::Own(object);
            let number = if of.is_real() { bits_of_real(own) } else { to(WIDE, own) };
            let number = Expression::binary(Operator::Multiply, number, wide(factor));
            sum = Some(match sum {
                Some(sum) => Expression::binary(Operator::Add, sum, number),
                None => number,
            });
        }
        let place = Expression::binary(Operator::Multiply, to(WIDE, self.place(shape)), wide(0x9e37_79b9_7f4a_7c15));
        let weight = Expression::binary(Operator::Add, place, wide(0x632b_e59b_d9b4_e019));
        let sum = Expression::binary(Operator::Add, sum?, wide(11));
        Some(Expression::Reduce(Reduction::Add, Box::new(Expression::binary(Operator::Multiply, sum, weight))))
    }

    /// The number of a position; where the shape is not known, its first coordinate.
    fn place(&self, shape: ShapeOf) -> Expression {
        let ShapeOf::Named(shape) = shape else { return Expression::Coordinate(0) };
        let mut place = Expression::Coordinate(0);
        for (dimension, size) in self.program.shapes[shape].sizes.iter().enumerate().skip(1) {
            place = Expression::binary(Operator::Multiply, place, Expression::int(*size));
            place = Expression::binary(Operator::Add, place, Expression::Coordinate(dimension));
        }
        place
    }
}

/// What stands before a bit that is worth 2 to the power of -32, and what stands behind it. Nothing of it is rounded.
fn bits_of_real(number: Expression) -> Expression {
    let double = |number: f64| Expression::Constant(Value::real(Type::Double, number));
    let great = Expression::binary(Operator::Multiply, number, double(2f64.powi(32)));
    let rest = Expression::Math(Math::Fmod, vec![great.clone(), double(1.0)]);
    let small = Expression::binary(Operator::Multiply, rest, double(2f64.powi(62)));
    let whole = |real: Expression| to(WIDE, to(Type::LongLong, real));
    Expression::binary(Operator::Add, Expression::binary(Operator::Multiply, whole(great), wide(3)), whole(small))
}
