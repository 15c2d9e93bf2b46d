//! A system and what its steps mean, as a tree: types, variables, routines, rules and invariants, in the terms that the languages
//! of explicit-state checkers share. [`crate::meaning`] builds it, and [`crate::murphi`] and [`crate::spin`] write it.
//!
//! It must know neither what is built nor how it is written. The Rust compiler checks how it is put together; whether names and
//! types fit each other, [`crate::spin`] finds out where it has to know.

mod expressions;
mod names;
mod program;
mod statements;
mod types;

pub(crate) use expressions::{Expr, Sign, Term, all, any, call, choice, exists, forall, values};
pub(crate) use names::{Name, name};
pub(crate) use program::{Parameter, Program, Routine, Rule, function, procedure};
pub(crate) use statements::{Block, Cases, Statement};
pub(crate) use types::{BOOLEAN, Declared, TypeExpr, array, range, record};
