//! Between phases regions of shared memory come under other protocols, and pages get other homes (`docs/semantics.md`, section 1).

use crate::core::NodeCore;
use crate::error::NodeError;
use crate::records::{Instance, Protocols};
use crate::space::{Binding, Purpose, Space, blocks, blocks_of_page};
use std::ops::Range;
use trivium_diagnostic::Code;
use trivium_engine::{Node, Object};
use trivium_guest::SHARED_BASE;
use trivium_protocol::{Access, BLOCK, MessageId};

/// Blocks that are to be forgotten: under which protocol they have been, what that is for, and when, for people.
struct Forgotten<'a> {
    protocol: usize,
    blocks: Range<u32>,
    purpose: Purpose,
    when: &'a str,
}

impl<C> NodeCore<C> {
    /// A region comes under another protocol on this node, as it does on all at this moment: its blocks, whose tags are
    /// those of the new protocol's first states from now on. `when` says when it is, for people.
    /// Nothing if nothing is allocated there.
    ///
    /// # Errors
    /// A block of it is not at rest, or not at home; or one of the protocols has cached processors.
    pub fn bind(&mut self, binding: Binding, when: &str) -> Result<Option<Range<u32>>, NodeError> {
        let blocks = blocks(&self.space.borrow(), self.protocols.block, binding);
        let Some(old) = self.protocol_at(u64::from(blocks.start) * self.protocols.block) else { return Ok(None) };
        let purpose = Purpose::Bind(binding);
        self.check_tagged(binding.protocol, purpose)?;
        self.forget_blocks(&Forgotten { protocol: old, blocks: blocks.clone(), purpose, when })?;
        if self.bound.len() <= binding.region {
            self.bound.resize(binding.region + 1, None);
        }
        self.bound[binding.region] = Some(binding.protocol);
        Ok(Some(blocks))
    }

    /// Whether this node's program may start the parallel phase.
    ///
    /// # Errors
    /// It has done so before.
    pub fn check_starts_once(&self) -> Result<(), NodeError> {
        if !self.has_started {
            return Ok(());
        }
        let what = format!("node {} starts the parallel phase a second time", self.me);
        Err(NodeError::subject(Code::Program, what)
            .help("a page moves once at most: call trivium_parallel_start once, behind the program's initialisation"))
    }

    /// The parallel phase starts on this node, as it does on all at this moment: of pages that were placed by first touch neither
    /// records nor copies are left, and their homes are known to nobody. Gives these pages, and their blocks; see [`NodeCore::bind`].
    ///
    /// # Errors
    /// A block of them is not at rest, or not at home; or it is under a protocol with cached processors.
    pub fn start(&mut self, when: &str) -> Result<Vec<(usize, Range<u32>)>, NodeError> {
        let pages = self.space.borrow().placed_by_first_touch();
        let mut forgotten = Vec::with_capacity(pages.len());
        for page in pages {
            let blocks = blocks_of_page(&self.space.borrow(), self.protocols.block, page);
            let Some(protocol) = self.protocol_at(u64::from(blocks.start) * self.protocols.block) else { continue };
            self.forget_blocks(&Forgotten { protocol, blocks: blocks.clone(), purpose: Purpose::Start, when })?;
            forgotten.push((page, blocks));
        }
        self.space.borrow_mut().start();
        self.has_started = true;
        Ok(forgotten)
    }

    /// A message that was sent before the parallel start, and arrives after it.
    ///
    /// # Errors
    /// It is about a block that was placed by first touch.
    pub fn check_start(
        &self,
        protocol: usize,
        message: MessageId,
        object: Object,
        from: Node,
    ) -> Result<(), NodeError> {
        let space = self.space.borrow();
        if object.kind != BLOCK || !space.by_first_touch(space.page_of(self.offset_of(object))) {
            return Ok(());
        }
        Err(self.still_on_its_way(Purpose::Start, (protocol, message, object), from))
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
        let offset = self.offset_of(object);
        let region = self.space.borrow().region_of(offset);
        let now = region.zip(self.protocol_at(offset)).map(|(region, protocol)| Binding { region, protocol });
        let Some(binding) = now.filter(|now| now.protocol != protocol) else { return Ok(()) };
        Err(self.still_on_its_way(Purpose::Bind(binding), (protocol, message, object), from))
    }

    fn still_on_its_way(
        &self,
        purpose: Purpose,
        (protocol, message, object): (usize, MessageId, Object),
        from: Node,
    ) -> NodeError {
        let protocol = self.protocols.engines[protocol].protocol();
        let what = format!(
            "{}, but {}.{} from node {from} about block {} is still on its way",
            purpose.event(),
            protocol.name,
            protocol.messages[message.index()].name,
            object.id
        );
        let call = purpose.call();
        NodeError::subject(Code::Program, what)
            .help(format!("let the program wait for what it has begun before it calls {call}"))
    }

    /// The records of blocks are again as if nobody had touched them.
    fn forget_blocks(&mut self, forgotten: &Forgotten<'_>) -> Result<(), NodeError> {
        let protocol = forgotten.protocol;
        self.check_tagged(protocol, forgotten.purpose)?;
        let engine = self.protocols.engines[protocol].clone();
        for object in forgotten.blocks.clone().map(|id| Object { kind: BLOCK, id }) {
            for role in engine.roles_of(BLOCK, self.is_at_home(protocol, object)) {
                self.check_at_rest((protocol, role, object), forgotten)?;
                self.records.forget(protocol, role, object);
            }
        }
        Ok(())
    }

    /// What a processor's own cache holds would have to come home too, and be counted: that is not modelled.
    fn check_tagged(&self, protocol: usize, purpose: Purpose) -> Result<(), NodeError> {
        let protocol = self.protocols.engines[protocol].protocol();
        if !protocol.cached {
            return Ok(());
        }
        let (what, help) = match purpose {
            Purpose::Start => {
                (purpose.event(), "place memory under such a protocol on nodes, or page by page over all")
            }
            _ => ("a region is bound", "bind only between protocols without `processor cached`"),
        };
        Err(NodeError::subject(Code::Program, format!("{what}, but under `{}` processors have caches", protocol.name))
            .help(help))
    }

    fn check_at_rest(&mut self, instance: Instance, forgotten: &Forgotten<'_>) -> Result<(), NodeError> {
        let (protocol, role, block) = instance;
        if self.record_of(protocol, role, block).is_none() {
            return Ok(());
        }
        let tag = self.tag(block);
        let engine = &self.protocols.engines[protocol];
        let Some(record) = self.record_of(protocol, role, block) else { return Ok(()) };
        let declared = &engine.protocol().roles[role.index()];
        let is_waiting =
            !declared.states[engine.state(role, record).index()].awaits.is_empty() || self.schedule.is_due(&instance);
        let home = self.home_of_block(block);
        let why = match home == self.me {
            _ if is_waiting => "is not at rest".to_string(),
            true if tag == Access::None => format!("is away from its home, node {home}"),
            false if tag == Access::Write => {
                format!("can still be written by node {}; its home is node {home}", self.me)
            }
            _ => return Ok(()),
        };
        let state = engine.describe(role, record);
        let what = if forgotten.purpose == Purpose::Start { "such memory" } else { "the region" };
        Err(NodeError::subject(Code::Program, format!("{}, but block {} {why}", forgotten.purpose.event(), block.id))
            .note(format!("node {}, {}: {} is {state}", self.me, forgotten.when, declared.name))
            .help(format!(
                "bring {what} home first: under `{}`, let each home access its blocks after the last phase of others",
                engine.protocol().name
            )))
    }
}

/// Two nodes are at the barrier for different things.
pub fn disagree(space: &Space, protocols: &Protocols, one: (usize, Purpose), other: (usize, Purpose)) -> NodeError {
    let tell = |(node, purpose): (usize, Purpose)| match purpose {
        Purpose::Barrier => format!("node {node} is at the barrier"),
        Purpose::Start => format!("node {node} starts the parallel phase"),
        Purpose::Bind(binding) => {
            let address = u64::from(SHARED_BASE) + space.range(binding.region).start;
            let name = &protocols.engines[binding.protocol].protocol().name;
            format!("node {node} binds {address:#x} to `{name}`")
        }
        Purpose::Place(placing) => {
            format!("node {node} places {} at node {}", protocols.placed_name(placing), placing.home)
        }
    };
    let call = if matches!(one.1, Purpose::Start | Purpose::Place(_)) { one.1.call() } else { other.1.call() };
    NodeError::subject(Code::Program, format!("{}, but {}", tell(one), tell(other)))
        .help(format!("{call} is collective: every node makes the same call at the same point of its program"))
}
