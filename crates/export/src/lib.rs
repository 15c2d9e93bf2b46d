//! The system that [`trivium_check::explore`] explores, in the languages of other checkers: independent oracles for what it
//! says, and what people bring to tools that they know.
//!
//! It must never know how states are searched, or machines, time and programs: it writes the meaning of each step a second
//! time, from the compiled protocol and from what an [`Outline`](trivium_check::Outline) says of the system. What a step means stands
//! once ([`meaning`]), as a tree ([`model`]), which is then written in either language.
// A number that does not fit must not be cut in silence: see `trivium_engine::number` for what to write in place of `as`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod lines;
mod meaning;
mod model;
mod murphi;
mod spin;

use trivium_diagnostic::{Code, Diagnostic};

pub use murphi::murphi;
pub use spin::spin;

/// What cannot be written in the other language, and what to do.
fn refused(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::Export, message).help(help)
}
