//! A protocol and the system that is explored, as a model for SPIN: a second independent oracle.
//!
//! It is the model that [`crate::murphi`] writes, said in C and Promela: the meaning of each step, rule and promise is
//! generated in one place, and whatever that place learns is known here as well. The model is read back, and its
//! variables become one tracked variable of C, which is SPIN's state; each choice of a rule's parameters becomes
//! one alternative of a loop, and one firing one step of SPIN. What reads the model and what explores it have nothing in
//! common with Rumur: arithmetic and ranges are checked by the C that is written here, states are kept by SPIN.

mod expressions;
mod parser;
mod promela;
mod statements;
mod syntax;
mod terms;
#[cfg(test)]
mod tests;
mod tokens;
mod types;

use crate::murphi::{ASCENDING, PARAMETER};
use std::sync::Arc;
use trivium_check::{ConfigError, System};
use trivium_protocol::Protocol;

/// The text of the model.
///
/// `channel` is that of [`crate::murphi::murphi()`].
///
/// # Errors
/// When such a system cannot be made of the protocol, or SPIN cannot express it.
pub fn spin(protocol: &Arc<Protocol>, system: &System, channel: u32) -> Result<String, ConfigError> {
    let model = crate::murphi::murphi(protocol, system, channel)?;
    translate(&model, &protocol.name).map_err(|what| {
        ConfigError::new(
            format!("{} cannot be exported for SPIN: {what}", protocol.name),
            "export it with `--to murphi`, for Rumur".to_string(),
        )
    })
}

fn translate(model: &str, name: &str) -> Result<String, String> {
    let head: Vec<&str> = model.lines().take_while(|line| line.starts_with("--")).collect();
    // The second line tells the system, and those after it the parameters and the order of nodes.
    let words = head.iter().skip(1).map(|line| line.trim_start_matches('-').trim());
    let system: Vec<&str> = words
        .enumerate()
        .take_while(|(n, line)| *n == 0 || [PARAMETER, ASCENDING].iter().any(|told| line.starts_with(told)))
        .map(|(_, line)| line)
        .collect();
    promela::write(&parser::parse(model)?, name, &system)
}

/// A text that may stand in a string of C within Promela: SPIN copies these, and counts braces even there.
fn harmless(text: &str) -> String {
    let plain = |c: char| match c {
        '{' => '(',
        '}' => ')',
        '"' | '\'' => '`',
        '\\' => '/',
        '%' => '#',
        other if other.is_ascii() && !other.is_ascii_control() => other,
        _ => '?',
    };
    text.chars().map(plain).collect()
}
