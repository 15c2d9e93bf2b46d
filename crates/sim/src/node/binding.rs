//! Regions of shared memory come under other protocols between phases (`docs/semantics.md`, section 1).

use super::NodeState;
use crate::error::SimError;
use crate::events::Envelope;
use crate::store::binding::{Binding, blocks};
use crate::store::space::shared_u32;
use trivium_engine::Object;
use trivium_guest::SHARED_BASE;
use trivium_lang::protocol::{Access, BLOCK, RoleId};

impl NodeState {
    /// The protocol of a byte offset: that of its allocation, or the one that its region was bound to since.
    pub(crate) fn protocol_at(&self, offset: u64) -> Option<usize> {
        let space = self.blocks.space.borrow();
        if !self.blocks.bound.is_empty()
            && let Some(Some(bound)) = space.region_of(offset).and_then(|region| self.blocks.bound.get(region))
        {
            return Some(*bound);
        }
        space.protocol(offset)
    }

    /// A region comes under another protocol on this node, as it does on all at this cycle.
    ///
    /// # Errors
    /// A block of it is not at rest, or not at home; or one of the protocols has cached processors.
    pub(crate) fn bind(&mut self, binding: Binding) -> Result<(), SimError> {
        let blocks = blocks(&self.blocks.space.borrow(), self.shared.block, binding);
        let Some(old) = self.protocol_at(u64::from(blocks.start) * self.shared.block) else { return Ok(()) };
        self.check_tagged(old)?;
        self.check_tagged(binding.protocol)?;
        let engine = self.shared.engines[old].clone();
        for object in blocks.clone().map(|id| Object { kind: BLOCK, id }) {
            for role in engine.roles_of(BLOCK, self.home_of(object) == self.me) {
                self.check_at_home(old, role, object)?;
                self.records.forget(old, role, object);
            }
        }
        if self.blocks.bound.len() <= binding.region {
            self.blocks.bound.resize(binding.region + 1, None);
        }
        self.blocks.bound[binding.region] = Some(binding.protocol);
        let bytes = self.blocks.space.borrow().range(binding.region);
        let pages = self.blocks.space.borrow().page_of(bytes.start)..self.blocks.space.borrow().page_of(bytes.end);
        self.forget_frames(pages);
        for id in blocks {
            self.forget_tag(Object { kind: BLOCK, id });
        }
        Ok(())
    }

    /// A message about a block of a region that has come under another protocol since it was sent.
    pub(crate) fn check_binding(&self, envelope: &Envelope) -> Result<(), SimError> {
        if self.blocks.bound.is_empty() || envelope.object.kind != BLOCK {
            return Ok(());
        }
        let now = self.protocol_at(self.offset_of(envelope.object));
        if now.is_none_or(|now| now == envelope.protocol) {
            return Ok(());
        }
        let protocol = self.shared.engines[envelope.protocol].protocol();
        let message = &protocol.messages[envelope.message.index()].name;
        let what = format!(
            "a region is bound to another protocol, but {}.{message} from node {} about block {} is still on its way",
            protocol.name, envelope.from, envelope.object.id
        );
        Err(SimError::subject(what).help("let the program wait for what it has begun before it calls trivium_bind"))
    }

    /// What a processor's own cache holds would have to come home too, and be counted: that is not modelled.
    fn check_tagged(&self, protocol: usize) -> Result<(), SimError> {
        let protocol = self.shared.engines[protocol].protocol();
        if !protocol.cached {
            return Ok(());
        }
        Err(SimError::subject(format!("a region is bound, but under `{}` processors have caches", protocol.name))
            .help("bind only between protocols without `processor cached`"))
    }

    fn check_at_home(&mut self, protocol: usize, role: RoleId, block: Object) -> Result<(), SimError> {
        let engine = self.shared.engines[protocol].clone();
        let Some(record) = self.record_of(protocol, role, block) else { return Ok(()) };
        let declared = &engine.protocol().roles[role.index()];
        let is_waiting = !declared.states[engine.state(role, record).index()].awaits.is_empty()
            || self.schedule.replays.contains(&(protocol, role, block));
        let state = engine.describe(role, record);
        let (tag, home) = (self.tag(block), self.home_of(block));
        let why = match home == self.me {
            _ if is_waiting => "is not at rest".to_string(),
            true if tag == Access::None => format!("is away from its home, node {home}"),
            false if tag == Access::Write => {
                format!("can still be written by node {}; its home is node {home}", self.me)
            }
            _ => return Ok(()),
        };
        Err(SimError::subject(format!("a region is bound to another protocol, but block {} {why}", block.id))
            .note(format!("node {}, cycle {}: {} is {state}", self.me, self.now, declared.name))
            .help(format!(
                "bring the region home first: under `{}`, let each home access its blocks after the last phase of others",
                engine.protocol().name
            )))
    }

    /// The tag of a block is that of its new protocol's first state; lines that it does not allow leave the cache.
    fn forget_tag(&mut self, block: Object) {
        let known = self.blocks.tags.get_mut(block.id as usize).map(std::mem::take);
        if known.is_none_or(|tag| tag == 0) {
            return;
        }
        let to = self.tag(block);
        let from = [Access::None, Access::Read, Access::Write][usize::from(known.unwrap_or(1)) - 1];
        self.blame_tag(block, from, to, true, self.now);
        if to != Access::Write {
            let address = SHARED_BASE + shared_u32(self.offset_of(block));
            self.model.cache.lower(address, shared_u32(self.shared.block), to == Access::Read);
        }
    }
}
