//! A protocol and the system that is explored, as a model for SPIN: a second independent oracle.
//!
//! It is the model of [`crate::meaning`], as [`crate::murphi`] writes it for Rumur, said in C and Promela: what each step, rule and
//! promise means is generated in one place, and whatever that place learns is known here as well. The model's
//! variables become one tracked variable of C, which is SPIN's state; each choice of a rule's parameters becomes
//! one alternative of a loop, and one firing one step of SPIN. What reads the model and what explores it have nothing in
//! common with Rumur: arithmetic and ranges are checked by the C that is written here, states are kept by SPIN.
//!
//! It must know neither protocols nor Murphi's language.

mod expressions;
mod promela;
mod statements;
#[cfg(test)]
mod tests;
mod text;
mod types;

use crate::refused;
use std::sync::Arc;
use trivium_check::System;
use trivium_diagnostic::Diagnostic;
use trivium_protocol::Protocol;

/// The text of the model.
///
/// `channel` is that of [`crate::murphi::murphi()`].
///
/// # Errors
/// When such a system cannot be made of the protocol, or SPIN cannot express it.
pub fn spin(protocol: &Arc<Protocol>, system: &System, channel: u32) -> Result<String, Diagnostic> {
    let model = crate::meaning::model(protocol, system, channel)?;
    promela::write(&model, &protocol.name).map_err(|what| {
        refused(
            format!("{} cannot be exported for SPIN: {what}", protocol.name),
            "export it with `--to murphi`, for Rumur".to_string(),
        )
    })
}
