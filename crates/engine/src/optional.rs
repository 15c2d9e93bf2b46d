//! Scalars that become ones that may be `none`: which may.

use crate::fault::FaultKind;
use trivium_protocol::Type;

/// What a scalar must be to become one of a type that has `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Optional {
    /// The number that stands for `none`.
    none: i64,
    /// The number that stands for it before, if it may be `none` already.
    before: Option<i64>,
    /// Its range where it is a number of one.
    range: Option<(i64, i64)>,
    /// Whether it becomes an address.
    is_address: bool,
}

impl Optional {
    /// What a value becomes in the type, if it may.
    #[inline]
    pub fn of(&self, value: i64) -> Result<i64, FaultKind> {
        match self.range {
            _ if self.before == Some(value) => Ok(self.none),
            Some((lo, hi)) if !(lo..=hi).contains(&value) => Err(FaultKind::Range { value, lo, hi }),
            Some(_) => Ok(value),
            None if value != self.none => Ok(value),
            None if self.is_address => Err(FaultKind::BadAddress(value)),
            None => Err(FaultKind::StandsForNone(value)),
        }
    }

    /// What a value of one type must be to become one of another, which has `none`, with so many nodes.
    pub fn new(nodes: u32, from: &Type, to: &Type) -> Optional {
        let range = match to.given() {
            Some(Type::Bool) => Some((0, 1)),
            Some(Type::Int { lo, hi }) => Some((lo.at(nodes), hi.at(nodes))),
            _ => None,
        };
        let before = from.given().map(|_| from.none());
        Optional { none: to.none(), before, range, is_address: to.given() == Some(&Type::Address) }
    }
}
