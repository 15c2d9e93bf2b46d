//! A protocol and the system that is explored, as a Murphi model for Rumur: an independent oracle.
//!
//! It is the model of [`crate::meaning`]. It must know neither protocols nor SPIN.

mod expressions;
mod program;
mod statements;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use trivium_check::System;
use trivium_diagnostic::Diagnostic;
use trivium_protocol::Protocol;

/// The text of the model.
///
/// `channel` is the most messages of one lane that may be on their way from one node to another, and the most tasks
/// of a software queue: in the model an array must hold them. One more is an error that says so, not a violation.
///
/// # Errors
/// When such a system cannot be made of the protocol, or Murphi cannot express it.
pub fn murphi(protocol: &Arc<Protocol>, system: &System, channel: u32) -> Result<String, Diagnostic> {
    let model = crate::meaning::model(protocol, system, channel)?;
    Ok(program::write(&model, &protocol.name))
}
