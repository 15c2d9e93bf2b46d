//! A program says where objects beside blocks are at home (`docs/semantics.md`, section 1).

use crate::core::NodeCore;
use crate::error::NodeError;
use crate::records::Protocols;
use crate::space::Placing;
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_engine::{Node, Object};
use trivium_protocol::{BLOCK, NODE, ObjectKindId, Protocol, nearest};

/// Whether a program may say where objects of a kind are at home: not where that follows from what they are.
fn can_be_placed(protocol: &Protocol, kind: ObjectKindId) -> bool {
    kind != NODE && kind != BLOCK && !protocol.made.iter().any(|made| made.object == kind)
}

impl Protocols {
    /// What a program places, by name.
    pub(crate) fn placed_name(&self, placing: Placing) -> String {
        let protocol = self.engines[placing.protocol].protocol();
        format!("{} {} of {}", protocol.objects[usize::from(placing.kind)], placing.object, protocol.name)
    }
}

impl<C> NodeCore<C> {
    /// How a program wants to place an object.
    ///
    /// # Errors
    /// There is no such protocol, kind of object or node, or objects of the kind are not placed.
    pub(crate) fn placing(&self, of: (&str, &str), object: u32, home: u32) -> Result<Placing, NodeError> {
        let (name, kind) = of;
        let me = self.me;
        let engines = &self.protocols.engines;
        let Some(protocol) = engines.iter().position(|engine| engine.protocol().name == name) else {
            let names: Vec<&str> = engines.iter().map(|engine| engine.protocol().name.as_str()).collect();
            let what = format!("node {me} places an object of protocol `{name}`, which is not loaded");
            return Err(NodeError::subject(Code::Program, what).help(one_of(name, &names)));
        };
        let declared = engines[protocol].protocol();
        let kinds = (0..declared.objects.len()).map(|at| ObjectKindId::at(at));
        let placed: Vec<&str> = kinds
            .filter(|&kind| can_be_placed(declared, kind))
            .map(|kind| declared.objects[kind.index()].as_str())
            .collect();
        if !placed.contains(&kind) {
            let what = format!("node {me} places a `{kind}` of {name}, which has no such objects to be placed");
            return Err(NodeError::subject(Code::Program, what).help(one_of(kind, &placed)));
        }
        let number = declared.objects.iter().position(|known| known == kind).unwrap_or_default();
        let nodes = self.protocols.nodes;
        if home >= nodes {
            let what =
                format!("node {me} places {kind} {object} of {name} at node {}, where none is", home.cast_signed());
            return Err(
                NodeError::subject(Code::Program, what).help(format!("there are {nodes} nodes, numbered from 0"))
            );
        }
        Ok(Placing {
            protocol,
            kind: fit(number, "a kind of object, of which there are at most 255"),
            object,
            home: fit(home, "the number of a node"),
        })
    }

    /// Whether there is what is to be placed, and where.
    pub fn knows(&self, placing: Placing) -> bool {
        let declared = self.protocols.engines.get(placing.protocol).map(|engine| engine.protocol());
        let kind = ObjectKindId(placing.kind);
        let has_kind = |protocol: &Protocol| kind.index() < protocol.objects.len() && can_be_placed(protocol, kind);
        declared.is_some_and(has_kind) && u32::from(placing.home) < self.protocols.nodes
    }

    /// An object is at home at a node from now on, for this node as for all. `when` says when it is, for people.
    ///
    /// # Errors
    /// This node has used the object, so that it was at home somewhere.
    pub fn place(&mut self, placing: Placing, when: &str) -> Result<(), NodeError> {
        let Placing { protocol, home, .. } = placing;
        let object = Object { kind: ObjectKindId(placing.kind), id: placing.object };
        let before: Node = self.home_of(protocol, object);
        if self.has_used(protocol, object) {
            let name = self.protocols.placed_name(placing);
            let what = format!("{name} is to be at home at node {home}, but node {} has used it before", self.me);
            return Err(NodeError::subject(Code::Program, what)
                .note(format!("node {}, {when}: it has been at home at node {before}", self.me))
                .help("call trivium_place, on all nodes, before any of them makes a call about the object"));
        }
        self.placed.place(protocol, object, home);
        Ok(())
    }

    /// Whether something here may already rest on where an object is at home.
    fn has_used(&self, protocol: usize, object: Object) -> bool {
        let engine = &self.protocols.engines[protocol];
        let mut roles = [true, false].into_iter().flat_map(|is_home| engine.roles_of(object.kind, is_home));
        roles.any(|role| self.record_of(protocol, role, object).is_some()) || self.placed.has_asked(protocol, object)
    }
}

/// What to name instead.
fn one_of(name: &str, known: &[&str]) -> String {
    let near = nearest(name, known.iter().copied());
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    match known {
        [] => "such objects are at home where they are made".into(),
        _ => format!("{near}name one of {}", known.join(", ")),
    }
}
