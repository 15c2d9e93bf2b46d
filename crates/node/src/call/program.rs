//! What a program and protocols want of each other, looked at before a run.

use super::allowed::{ATOMIC_HELP, refused_atomic};
use crate::error::NodeError;
use crate::records::{Imported, Protocols};
use std::rc::Rc;
use std::sync::Arc;
use trivium_diagnostic::Code;
use trivium_engine::Engine;
use trivium_guest::{CallImport, Program};
use trivium_protocol::{BLOCK, EventKind, NODE, OpId, Protocol};

impl Protocols {
    /// These protocols for a program, with blocks of so many bytes, on so many nodes; `walking` as in [`Engine::walking`].
    ///
    /// # Errors
    /// The protocols do not go together, or not with the program or so many nodes.
    pub fn of_program(
        program: &Program,
        protocols: &[Arc<Protocol>],
        (block, nodes): (u64, u32),
        walking: bool,
    ) -> Result<Protocols, NodeError> {
        if protocols.is_empty() {
            return Err(NodeError::input(Code::Usage, "no protocol is named").help("add --protocol stache"));
        }
        let mut engines: Vec<Rc<Engine>> = Vec::new();
        for protocol in protocols {
            let name = &protocol.name;
            if engines.iter().any(|engine| engine.protocol().name == *name) {
                return Err(NodeError::input(Code::Usage, format!("protocol `{name}` is named twice")));
            }
            let of_access = |event| matches!(event, EventKind::Read | EventKind::Write);
            if let Some(condition) = protocol.conditions.iter().find(|condition| of_access(condition.event)) {
                let what = format!("it assumes `{}`, and accesses that hit are not watched", condition.text);
                let help = "use a protocol that assumes this of its calls only, or of no access";
                return Err(NodeError::input(Code::Program, what).at(name.as_str()).help(help));
            }
            let engine = Engine::load_without_ghosts(protocol.clone(), nodes)
                .map_err(|error| NodeError::input(Code::Program, error.message).at(name.as_str()))?;
            engines.push(Rc::new(if walking { engine.walking() } else { engine }));
        }
        let calls: Result<Vec<_>, NodeError> = program.calls().iter().map(|call| bind(call, protocols)).collect();
        let protocols = Protocols { calls: calls?, ..Protocols::new(engines, block, nodes) };
        check_atomics(program, &protocols)?;
        Ok(protocols)
    }
}

/// A program with atomic operations needs memory under a protocol that can answer them.
fn check_atomics(program: &Program, protocols: &Protocols) -> Result<(), NodeError> {
    let of_memory = || (0..protocols.engines.len()).filter(|&number| protocols.engines[number].protocol().uses(BLOCK));
    let refusal = of_memory().find_map(|number| Some((number, protocols.no_rmw[number].as_ref()?)));
    let Some((number, why)) = refusal else { return Ok(()) };
    if !program.uses_atomics() || of_memory().any(|number| protocols.no_rmw[number].is_none()) {
        return Ok(());
    }
    let name = &protocols.engines[number].protocol().name;
    let what = format!("the program uses atomic operations, {}", refused_atomic(name, why));
    Err(NodeError::input(Code::Program, what).at(program.name()).help(ATOMIC_HELP))
}

/// The protocol and the call that a program's import means. Names with dashes are imported with dashes or
/// underscores.
fn bind(call: &CallImport, protocols: &[Arc<Protocol>]) -> Result<Imported, NodeError> {
    let plain = |name: &str| name.replace('-', "_");
    let found = protocols.iter().position(|p| plain(&p.name) == plain(&call.protocol));
    let Some(number) = found else {
        let what = format!("the program calls `{}` of protocol `{}`, which is not loaded", call.op, call.protocol);
        return Err(
            NodeError::input(Code::Program, what).help(format!("add --protocol {}", call.protocol.replace('_', "-")))
        );
    };
    let protocol = &protocols[number];
    let takes = |op: OpId| protocol.passed_to(op) + usize::from(protocol.ops[op.index()].object != NODE);
    if let Some(kind) = call.op.strip_prefix(trivium_protocol::IMAGE_IMPORT)
        && let Some(image) = protocol.images.iter().find(|image| protocol.objects[image.object.index()] == kind)
    {
        return Ok(Imported::Image(number, image.object));
    }
    if call.op == trivium_protocol::OUTSIDE_IMPORT {
        return Ok(Imported::Outside(number));
    }
    if call.op == trivium_protocol::NAMED_IMPORT {
        return Ok(Imported::Named(number));
    }
    if let Some(op) = call.op.strip_prefix(trivium_protocol::BEGINS_IMPORT).and_then(|name| protocol.op(name))
        && takes(op) == call.params
    {
        return Ok(Imported::Begins(number, op));
    }
    if call.op == trivium_protocol::ASSERT_IMPORT {
        return Ok(Imported::False(number));
    }
    let Some(op) = protocol.op(&call.op) else {
        let names: Vec<&str> = protocol.ops.iter().map(|op| op.name.as_str()).collect();
        let what = format!("the program calls `{}`, which protocol `{}` does not have", call.op, protocol.name);
        return Err(NodeError::input(Code::Program, what)
            .help(format!("its calls are {}; include the header of this version", names.join(", "))));
    };
    let declared = &protocol.ops[op.index()];
    if declared.body.is_some() {
        let what = format!("the program imports `{}`, whose body stands in the protocol `{}`", call.op, protocol.name);
        return Err(NodeError::input(Code::Program, what).help("the header has it as a function: include it"));
    }
    let takes = takes(op);
    if takes != call.params || declared.result.is_some() != call.has_result {
        let what = format!(
            "the program calls `{}.{}` with {} arguments; it takes {takes}",
            protocol.name, call.op, call.params
        );
        return Err(NodeError::input(Code::Program, what).help("include the header of this version"));
    }
    Ok(Imported::Op(number, op))
}
