//! What a fault of a protocol's handler says on a live node.

use super::NodeError;
use trivium_diagnostic::Code;
use trivium_engine::{Engine, Fault};
use trivium_protocol::{Assume, Protocol};

/// The error of a handler that went wrong. `when` stands before it: a cycle, or nothing.
pub fn of_fault(engine: &Engine, fault: &Fault, when: &str) -> NodeError {
    let protocol = engine.protocol();
    let is_of_call = protocol.ops.iter().any(|op| op.span == fault.span);
    let error = NodeError::subject(Code::Fault, format!("{when}{fault}")).help(match is_of_call {
        true => "pass what the call takes: `trivium show` on the protocol lists its calls".into(),
        false => blame(protocol),
    });
    match protocol.sources.known_place(fault.span) {
        Some(place) => error.at(place.to_string()),
        None => error,
    }
}

/// What to do about a fault that may be the protocol's or the program's. That two nodes write a block in one phase is seen at the
/// barrier that ends the phase, so that a handler may go wrong before.
pub fn blame(protocol: &Protocol) -> String {
    let check = "`trivium check` on the protocol finds the shortest counterexample, if the fault is the protocol's";
    match protocol.assumptions.contains(&Assume::OneWriterPerPhase) {
        true => format!(
            "{check}; it assumes `{}`, which is looked at between barriers: a program of which two nodes write a block before that can end like this",
            protocol.assume_name(&Assume::OneWriterPerPhase)
        ),
        false => check.into(),
    }
}
