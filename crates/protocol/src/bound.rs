//! Sizes that depend on the number of nodes.

use std::fmt;

/// A number that may depend on the number of nodes: `constant + per_node * nodes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bound {
    /// The part that does not depend on the number of nodes.
    pub constant: i64,
    /// What each node adds.
    pub per_node: i64,
}

impl Bound {
    /// A bound that does not depend on the number of nodes.
    pub const fn fixed(constant: i64) -> Bound {
        Bound { constant, per_node: 0 }
    }

    /// Its value for a machine of `nodes` nodes.
    pub fn at(self, nodes: u32) -> i64 {
        self.constant.saturating_add(self.per_node.saturating_mul(i64::from(nodes)))
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.constant, self.per_node) {
            (c, 0) => write!(f, "{c}"),
            (0, 1) => write!(f, "nodes"),
            (0, n) => write!(f, "{n} * nodes"),
            (c, 1) if c < 0 => write!(f, "nodes - {}", c.unsigned_abs()),
            (c, 1) => write!(f, "nodes + {c}"),
            (c, n) if c < 0 => write!(f, "{n} * nodes - {}", c.unsigned_abs()),
            (c, n) => write!(f, "{n} * nodes + {c}"),
        }
    }
}
