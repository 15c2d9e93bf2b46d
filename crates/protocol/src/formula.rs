//! Numbers that depend on the number of nodes in any way: what a lane holds.

use super::Operator;
use std::fmt;

/// A number that is known when the number of nodes is: `2 * nodes`, `nodes * nodes / 4`. Where a number must be linear
/// in the number of nodes, it is a [`super::Bound`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    /// The same for every number of nodes.
    Number(i64),
    /// The number of nodes.
    Nodes,
    /// Two of them, with `+`, `-`, `*` or `/`.
    Of(Operator, Box<Formula>, Box<Formula>),
}

impl Formula {
    /// What an operator makes of two; at once, where both are numbers.
    pub fn of(operator: Operator, left: Formula, right: Formula) -> Formula {
        match (&left, &right) {
            (Formula::Number(a), Formula::Number(b)) => calculated(operator, *a, *b).map(Formula::Number),
            _ => None,
        }
        .unwrap_or_else(|| Formula::Of(operator, Box::new(left), Box::new(right)))
    }

    /// Its value for a machine of `nodes` nodes. `None` where it has none: a division by zero, or beyond 64 bits.
    pub fn at(&self, nodes: u32) -> Option<i64> {
        match self {
            Formula::Number(number) => Some(*number),
            Formula::Nodes => Some(i64::from(nodes)),
            Formula::Of(operator, left, right) => calculated(*operator, left.at(nodes)?, right.at(nodes)?),
        }
    }

    /// Whether it is the same for every number of nodes.
    pub fn is_fixed(&self) -> bool {
        match self {
            Formula::Number(_) => true,
            Formula::Nodes => false,
            Formula::Of(_, left, right) => left.is_fixed() && right.is_fixed(),
        }
    }

    /// How tightly its parts hold together, against those beside it.
    fn rank(&self) -> u8 {
        match self {
            Formula::Of(Operator::Add | Operator::Subtract, ..) => 1,
            Formula::Of(..) => 2,
            Formula::Number(number) if *number < 0 => 1,
            Formula::Number(_) | Formula::Nodes => 3,
        }
    }
}

fn calculated(operator: Operator, left: i64, right: i64) -> Option<i64> {
    match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => left.checked_div(right),
        _ => None,
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |f: &mut fmt::Formatter<'_>, part: &Formula, least: u8| {
            if part.rank() < least { write!(f, "({part})") } else { write!(f, "{part}") }
        };
        match self {
            Formula::Number(number) => write!(f, "{number}"),
            Formula::Nodes => f.write_str("nodes"),
            Formula::Of(operator, left, right) => {
                let sign = match operator {
                    Operator::Add => "+",
                    Operator::Subtract => "-",
                    Operator::Multiply => "*",
                    _ => "/",
                };
                part(f, left, self.rank())?;
                write!(f, " {sign} ")?;
                part(f, right, self.rank() + 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(operator: Operator, left: Formula, right: Formula) -> Formula {
        Formula::of(operator, left, right)
    }

    #[test]
    fn a_formula_is_evaluated_as_it_is_written() {
        use Formula::{Nodes, Number};
        use Operator::{Add, Divide, Multiply, Subtract};
        let doubled = of(Multiply, Number(2), Nodes);
        let cases = [
            (doubled.clone(), "2 * nodes", Some(6)),
            (of(Subtract, doubled.clone(), of(Add, Nodes, Number(1))), "2 * nodes - (nodes + 1)", Some(2)),
            (of(Divide, of(Add, Nodes, Number(1)), Number(2)), "(nodes + 1) / 2", Some(2)),
            (of(Multiply, Nodes, of(Divide, Nodes, Number(2))), "nodes * (nodes / 2)", Some(3)),
            (of(Multiply, Number(-1), Nodes), "(-1) * nodes", Some(-3)),
            (of(Add, Number(3), Number(4)), "7", Some(7)),
            (of(Divide, Number(1), of(Subtract, Nodes, Number(3))), "1 / (nodes - 3)", None),
            (of(Multiply, Nodes, Number(i64::MAX)), "nodes * 9223372036854775807", None),
            (of(Divide, Number(1), Number(0)), "1 / 0", None),
        ];
        for (formula, written, at_three) in cases {
            assert_eq!((formula.to_string().as_str(), formula.at(3)), (written, at_three));
        }
    }
}
