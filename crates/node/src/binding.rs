//! Regions of shared memory come under other protocols between phases (`docs/semantics.md`, section 1).

use crate::core::NodeCore;
use crate::error::NodeError;
use crate::schedule::Instance;
use crate::space::{Space, shared_u32};
use std::ops::Range;
use trivium_engine::{Node, Object};
use trivium_guest::SHARED_BASE;
use trivium_protocol::{Access, BLOCK, MessageId};

/// From now on a region is under this protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The number of the allocation.
    pub region: usize,
    /// The number of the protocol.
    pub protocol: usize,
}

/// The numbers of the blocks of a region that is bound.
pub fn blocks(space: &Space, block: u64, binding: Binding) -> Range<u32> {
    let bytes = space.range(binding.region);
    shared_u32(bytes.start / block)..shared_u32(bytes.end / block)
}

/// Two nodes are at the barrier for different things. `names` are those of the protocols.
pub fn disagree(
    space: &Space,
    names: &[&str],
    one: (usize, Option<Binding>),
    other: (usize, Option<Binding>),
) -> NodeError {
    let tell = |(node, binding): (usize, Option<Binding>)| match binding {
        None => format!("node {node} is at the barrier"),
        Some(binding) => {
            let address = u64::from(SHARED_BASE) + space.range(binding.region).start;
            format!("node {node} binds {address:#x} to `{}`", names[binding.protocol])
        }
    };
    NodeError::subject(format!("{}, but {}", tell(one), tell(other)))
        .help("trivium_bind is collective: every node makes the same call at the same point of its program")
}

impl<C> NodeCore<C> {
    /// A region comes under another protocol on this node, as it does on all at this moment: its blocks, whose tags are
    /// those of the new protocol's first states from now on. `tag` is a block's tag so far, and `when` says when it is, for people.
    /// Nothing if nothing is allocated there.
    ///
    /// # Errors
    /// A block of it is not at rest, or not at home; or one of the protocols has cached processors.
    pub fn bind(
        &mut self,
        binding: Binding,
        when: &str,
        tag: &mut dyn FnMut(&NodeCore<C>, Object) -> Access,
    ) -> Result<Option<Range<u32>>, NodeError> {
        let blocks = blocks(&self.space.borrow(), self.protocols.block, binding);
        let Some(old) = self.protocol_at(u64::from(blocks.start) * self.protocols.block) else { return Ok(None) };
        self.check_tagged(old)?;
        self.check_tagged(binding.protocol)?;
        let engine = self.protocols.engines[old].clone();
        for object in blocks.clone().map(|id| Object { kind: BLOCK, id }) {
            for role in engine.roles_of(BLOCK, self.is_at_home(object)) {
                self.check_at_rest((old, role, object), when, tag)?;
                self.records.forget(old, role, object);
            }
        }
        if self.bound.len() <= binding.region {
            self.bound.resize(binding.region + 1, None);
        }
        self.bound[binding.region] = Some(binding.protocol);
        Ok(Some(blocks))
    }

    /// Whether a message is about a block of a region that has come under another protocol since it was sent.
    ///
    /// # Errors
    /// It is.
    pub fn check_binding(
        &self,
        protocol: usize,
        message: MessageId,
        object: Object,
        from: Node,
    ) -> Result<(), NodeError> {
        if self.bound.is_empty() || object.kind != BLOCK {
            return Ok(());
        }
        let now = self.protocol_at(self.offset_of(object));
        if now.is_none_or(|now| now == protocol) {
            return Ok(());
        }
        let protocol = self.protocols.engines[protocol].protocol();
        let what = format!(
            "a region is bound to another protocol, but {}.{} from node {from} about block {} is still on its way",
            protocol.name,
            protocol.messages[message.index()].name,
            object.id
        );
        Err(NodeError::subject(what).help("let the program wait for what it has begun before it calls trivium_bind"))
    }

    /// What a processor's own cache holds would have to come home too, and be counted: that is not modelled.
    fn check_tagged(&self, protocol: usize) -> Result<(), NodeError> {
        let protocol = self.protocols.engines[protocol].protocol();
        if !protocol.cached {
            return Ok(());
        }
        Err(NodeError::subject(format!("a region is bound, but under `{}` processors have caches", protocol.name))
            .help("bind only between protocols without `processor cached`"))
    }

    fn check_at_rest(
        &self,
        instance: Instance,
        when: &str,
        tag: &mut dyn FnMut(&NodeCore<C>, Object) -> Access,
    ) -> Result<(), NodeError> {
        let (protocol, role, block) = instance;
        let engine = &self.protocols.engines[protocol];
        let Some(record) = self.record_of(protocol, role, block) else { return Ok(()) };
        let declared = &engine.protocol().roles[role.index()];
        let is_waiting =
            !declared.states[engine.state(role, record).index()].awaits.is_empty() || self.schedule.is_due(&instance);
        let tag = tag(self, block);
        let home = self.home_of(block);
        let why = match home == self.me {
            _ if is_waiting => "is not at rest".to_string(),
            true if tag == Access::None => format!("is away from its home, node {home}"),
            false if tag == Access::Write => {
                format!("can still be written by node {}; its home is node {home}", self.me)
            }
            _ => return Ok(()),
        };
        let state = engine.describe(role, record);
        Err(NodeError::subject(format!("a region is bound to another protocol, but block {} {why}", block.id))
            .note(format!("node {}, {when}: {} is {state}", self.me, declared.name))
            .help(format!(
                "bring the region home first: under `{}`, let each home access its blocks after the last phase of others",
                engine.protocol().name
            )))
    }
}
