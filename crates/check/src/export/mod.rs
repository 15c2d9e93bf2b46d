//! The same system in the languages of other checkers.

pub(crate) mod murphi;
pub(crate) mod spin;
