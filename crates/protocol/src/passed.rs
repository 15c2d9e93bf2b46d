//! What a program, or a scenario, passes to a call: numbers, one for each parameter, but for lists and arrays.
//!
//! C has no lists. So a list is passed as its length and as many numbers as it has room for, of which those beyond its length mean nothing; an array as all its
//! numbers. How many that are does not depend on the number of nodes, since the header with the call is written without it.

use crate::{OpId, Protocol, Type};

impl Protocol {
    /// How many numbers are passed for a parameter of this type.
    #[must_use]
    pub fn passed_for(&self, ty: &Type) -> usize {
        match ty {
            Type::List { of, up_to, .. } => 1 + self.numbers(up_to.constant, of),
            Type::Array { by, of } => match &**by {
                Type::Int { lo, hi } => self.numbers(hi.constant.saturating_sub(lo.constant).saturating_add(1), of),
                _ => 0,
            },
            _ => 1,
        }
    }

    /// How many numbers are passed to a call, without that of its object.
    #[must_use]
    pub fn passed_to(&self, op: OpId) -> usize {
        self.ops[op.index()].args.iter().map(|arg| self.passed_for(&arg.ty)).sum()
    }

    /// Of how many numbers an element of this type is.
    #[must_use]
    pub fn numbers_of(&self, element: &Type) -> usize {
        match element {
            Type::Record(record) => self.records[record.index()].fields.len(),
            _ => 1,
        }
    }

    fn numbers(&self, elements: i64, of: &Type) -> usize {
        usize::try_from(elements).unwrap_or(0).saturating_mul(self.numbers_of(of))
    }
}
