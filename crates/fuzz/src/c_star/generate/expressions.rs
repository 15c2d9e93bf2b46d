//! Expressions of operators.

use super::Generator;
use super::ranges::Made;
use crate::c_star::number::{Operator, Prefix, Type, Value};
use crate::c_star::tree::{Expression, Math, Object};

/// What may stand in an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    Scalar,
    Parallel,
}

/// Gets and reductions of an expression.
pub(super) const MOST_COMMUNICATIONS: usize = 3;

impl Generator {
    /// A whole expression, with its own effects and communications.
    pub(super) fn fresh(&mut self, depth: usize, values: Values) -> Made {
        self.begin_expression();
        self.expression(depth, values)
    }

    pub(super) fn begin_expression(&mut self) {
        self.effects = 1;
        self.communications = MOST_COMMUNICATIONS;
    }

    pub(super) fn expression(&mut self, depth: usize, values: Values) -> Made {
        if depth == 0 || self.random.once_in(5) {
            return self.leaf(depth, values);
        }
        let below = depth - 1;
        match self.random.below(20) {
            0..=4 => {
                let operator = [Operator::Add, Operator::Subtract, Operator::Multiply][self.random.below(3)];
                let (left, right) = (self.expression(below, values), self.expression(below, values));
                self.arithmetic(operator, left, right)
            }
            5 | 6 => {
                let operator = [Operator::And, Operator::Or, Operator::Xor][self.random.below(3)];
                let (left, right) = (self.whole(below, values), self.whole(below, values));
                self.bits(operator, left, right)
            }
            7 => {
                let operator = [Operator::Left, Operator::Right][self.random.below(2)];
                let (left, right) = (self.whole(below, values), self.whole(below, values));
                self.shift(operator, left, right)
            }
            8 | 9 => self.any_division(below, values),
            10 | 11 => self.comparison(below, values),
            12 | 13 => self.logical(below, values),
            14 => self.any_conditional(below, values),
            15 | 16 => {
                let operator = [Operator::Least, Operator::Most][self.random.below(2)];
                let (left, right) = (self.expression(below, values), self.expression(below, values));
                self.least_or_most(operator, left, right)
            }
            17 => {
                let prefix = [Prefix::Minus, Prefix::Complement, Prefix::Not][self.random.below(3)];
                let operand = self.expression(below, values);
                self.prefixed(prefix, operand)
            }
            18 => {
                let to = self.any_type();
                let operand = self.expression(below, values);
                self.cast(operand, to)
            }
            _ => self.math(below, values),
        }
    }

    pub(super) fn whole(&mut self, depth: usize, values: Values) -> Made {
        let made = self.expression(depth, values);
        self.as_whole(made)
    }

    /// A condition that is true now and then.
    pub(super) fn condition(&mut self, depth: usize, values: Values) -> Made {
        match self.random.below(4) {
            0 => self.expression(depth, values),
            1 => self.logical(depth, values),
            _ => self.comparison(depth, values),
        }
    }

    fn comparison(&mut self, depth: usize, values: Values) -> Made {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Unequal};
        let operator = [Less, LessOrEqual, Greater, GreaterOrEqual, Equal, Unequal][self.random.below(6)];
        let (left, right) = (self.expression(depth, values), self.expression(depth, values));
        Made::truth(Expression::binary(operator, left.tree, right.tree))
    }

    fn any_division(&mut self, depth: usize, values: Values) -> Made {
        let left = self.expression(depth, values);
        if left.of.is_real() {
            let number = f64::from(2 + self.random.below(20) as u32) / 2.0;
            let of = left.of;
            let divisor = Made::constant(Value::real(of, number));
            let most = left.low.abs().max(left.high.abs());
            return Made::new(Expression::binary(Operator::Divide, left.tree, divisor.tree), of, -most - 1, most + 1);
        }
        let divisor = if self.random.once_in(2) { Some(self.whole(depth, values)) } else { None };
        let divisor = self.divisor(divisor);
        let operator = [Operator::Divide, Operator::Remainder, Operator::Modulus][self.random.below(3)];
        self.division(operator, left, divisor)
    }

    /// What stands behind an operator that may leave it out. Behind a parallel operand it is about fewer positions; behind a scalar one of a
    /// parallel expression, the language lets nothing be done once.
    fn behind(&mut self, first: &Expression, depth: usize, values: Values) -> Made {
        let (is_narrow, is_blocked) = (self.scope.is_narrow, self.scope.is_blocked);
        // What is scalar by itself may come to stand in a parallel expression.
        self.scope.is_narrow |= values == Values::Parallel;
        self.scope.is_blocked |= values == Values::Parallel && !self.program.is_parallel(first);
        let made = self.expression(depth, values);
        (self.scope.is_narrow, self.scope.is_blocked) = (is_narrow, is_blocked);
        made
    }

    fn logical(&mut self, depth: usize, values: Values) -> Made {
        let left = self.expression(depth, values);
        let right = self.behind(&left.tree, depth, values);
        let is_and = self.random.once_in(2);
        Made::truth(Expression::Logical(is_and, Box::new(left.tree), Box::new(right.tree)))
    }

    fn any_conditional(&mut self, depth: usize, values: Values) -> Made {
        let condition = self.condition(depth, values);
        let yes = self.behind(&condition.tree, depth, values);
        let no = self.behind(&condition.tree, depth, values);
        self.conditional(condition.tree, yes, no)
    }

    fn math(&mut self, depth: usize, values: Values) -> Made {
        let operand = self.expression(depth, values);
        // A call of scalar arguments is one of the things that are done once.
        if !self.may_be_once() && !self.program.is_parallel(&operand.tree) {
            return operand;
        }
        let (tree, most) = (operand.tree.clone(), operand.low.abs().max(operand.high.abs()) + 1);
        match self.random.below(7) {
            0 => {
                let whole = self.as_whole(operand);
                let fitted = self.fit(whole, 30_011);
                Made::new(Expression::Math(Math::Abs, vec![fitted.tree]), Type::Int, 0, 30_011)
            }
            1 => Made::new(Expression::Math(Math::Fabs, vec![tree]), Type::Double, 0, most),
            2 => {
                let positive = Expression::Math(Math::Fabs, vec![tree]);
                Made::new(Expression::Math(Math::Sqrt, vec![positive]), Type::Double, 0, most)
            }
            3 => {
                let by = Made::constant(Value::real(Type::Double, 0.75));
                Made::new(Expression::Math(Math::Fmod, vec![tree, by.tree]), Type::Double, -1, 1)
            }
            4 => {
                let sign = self.leaf(0, values);
                Made::new(Expression::Math(Math::Copysign, vec![tree, sign.tree]), Type::Double, -most, most)
            }
            _ => {
                let math = [Math::Floor, Math::Ceil, Math::Trunc][self.random.below(3)];
                Made::new(Expression::Math(math, vec![tree]), Type::Double, -most, most)
            }
        }
    }

    /// An object of a variable: an element or a member of it, if it has any.
    pub(super) fn object(&mut self, variable: usize, values: Values) -> Object {
        use crate::c_star::tree::Held;
        let declared = &self.program.variables[variable];
        let (count, held) = (declared.count, declared.held);
        let index = count.map(|count| Box::new(self.element(count, values)));
        let field = match held {
            Held::Number(_) => None,
            Held::Structure(structure) => {
                let field = self.random.below(self.program.structures[structure].fields.len());
                let count = self.program.structures[structure].fields[field].count;
                Some((field, count.map(|count| Box::new(self.element(count, values)))))
            }
        };
        Object { variable, index, field }
    }

    /// An index of an array of so many elements.
    fn element(&mut self, count: usize, values: Values) -> Expression {
        use crate::c_star::features::Feature;
        let is_constant = self.random.once_in(2) || !self.may_be_once();
        if is_constant {
            return Expression::int(self.random.below(count) as i128);
        }
        let is_parallel = values == Values::Parallel && Feature::ParallelIndices.is_on() && self.random.once_in(2);
        let index = self.leaf(0, if is_parallel { Values::Parallel } else { Values::Scalar });
        self.index_below(index, count as i128)
    }

    /// Brings a number between 0 and what is below the count.
    pub(super) fn index_below(&mut self, made: Made, count: i128) -> Expression {
        if made.low >= 0 && made.high < count && !made.of.is_real() {
            return made.tree;
        }
        let whole = self.as_whole(made);
        self.division(Operator::Modulus, whole, Made::constant(Value::int(count))).tree
    }
}
