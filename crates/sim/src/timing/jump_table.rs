//! The jump table of an engine that is a pipeline: for which events memory is read before their handlers begin, and which have too many
//! candidates for it, so that software chooses among them (Heinlein 1998, 2.5).

use crate::machine::Machine;
use trivium_engine::{Engine, Event};
use trivium_node::Protocols;
use trivium_protocol::{EventKind, Protocol, Response};

/// What the inbox knows of an event before its handler begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Dispatching {
    /// Memory is read at the block's home.
    pub speculates: bool,
    /// Software chooses the handler.
    pub software: bool,
}

/// The entries of each protocol.
#[derive(Debug, Default)]
pub(crate) struct JumpTable {
    protocols: Vec<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    read: Dispatching,
    write: Dispatching,
    messages: Vec<Dispatching>,
}

impl JumpTable {
    /// That of a machine; empty if its engine has none.
    pub fn new(machine: &Machine, protocols: &Protocols) -> JumpTable {
        let Some(model) = &machine.pipeline else { return JumpTable::default() };
        let entries = |engine: &Engine| {
            let protocol = engine.protocol();
            let entry = |name: &str, kind: EventKind| Dispatching {
                speculates: model.speculates.iter().any(|known| known == name),
                software: candidates(protocol, engine, kind) > model.candidates,
            };
            let messages = (0..).zip(&protocol.messages);
            Entries {
                read: entry("read", EventKind::Read),
                write: entry("write", EventKind::Write),
                messages: messages
                    .map(|(id, message)| entry(&message.name, EventKind::Message(trivium_protocol::MessageId(id))))
                    .collect(),
            }
        };
        JumpTable { protocols: protocols.engines.iter().map(|engine| entries(engine)).collect() }
    }

    /// What the inbox knows of an event, on a node that is, or is not, the home of its object.
    pub fn entry(&self, protocol: usize, event: &Event, is_home: bool) -> Dispatching {
        let Some(entries) = self.protocols.get(protocol) else { return Dispatching::default() };
        let known = match event.kind {
            EventKind::Read | EventKind::Prefetch => entries.read,
            EventKind::Write | EventKind::Rmw | EventKind::PrefetchWrite => entries.write,
            EventKind::Message(id) => entries.messages.get(id.index()).copied().unwrap_or_default(),
            _ => Dispatching::default(),
        };
        Dispatching { speculates: known.speculates && is_home, ..known }
    }
}

/// The most clauses that a state of a role has for an event.
fn candidates(protocol: &Protocol, engine: &Engine, kind: EventKind) -> u64 {
    let roles = (0..).zip(&protocol.roles).map(|(id, role)| (trivium_protocol::RoleId(id), role));
    let of_role = |(id, role): (trivium_protocol::RoleId, &trivium_protocol::Role)| {
        let states = 0..role.states.len();
        let clauses = states.map(|state| {
            let state =
                trivium_protocol::StateId(trivium_engine::number::fit(state, "a state of a role, which has 16 bits"));
            match engine.response(id, state, kind) {
                Response::Handle(clauses) => clauses.len() as u64,
                _ => 0,
            }
        });
        clauses.max().unwrap_or(0)
    };
    roles.map(of_role).max().unwrap_or(0)
}
