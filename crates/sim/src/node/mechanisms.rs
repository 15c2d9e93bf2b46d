//! What a running handler leaves in the simulator, to be priced when it has ended.

use crate::events::Envelope;
use crate::node::watch::{CopyDigest, TagChange};
use crate::node::{NodeState, Watched};
use crate::reports::timeline::Cause;
use crate::timing::engines::{Assembled, RecordKey};
use crate::timing::folding::{NO_CODE, Numbered, Path, Paths, code_of, with_numbers};
use crate::timing::gtlb::Addressed;
use crate::timing::interface::Interface;
use crate::timing::jump_table::Dispatching;
use crate::timing::pricing::HandlerTime;
use trivium_engine::number::{fit, index};
use trivium_engine::{HandlerAccess, Node, Object, Outgoing};
use trivium_node::{Carried, Data, Effects, HandlerHost, HandlerMemory, NodeCore, Primitive};
use trivium_protocol::{Access, LaneId, Line};

/// What the running handler has done so far. All nodes of a host thread use the same, one after the other.
#[derive(Default)]
pub(crate) struct Handling {
    /// What it did, in all that has no time.
    pub effects: Effects,
    /// When it was dispatched.
    pub start: u64,
    /// Where its effects so far have led, among the paths below.
    pub path: Path,
    /// What handlers did so far, and their prices.
    pub paths: Paths,
    /// What is to be priced, in order, if it leads nowhere.
    pub primitives: Vec<Primitive>,
    /// The blocks of its effects.
    pub numbered: Numbered,
    /// How many tag changes the world has not looked at are older than it.
    pub tags_before: usize,
    /// The blocks whose tags it has lowered.
    pub lowered: Vec<Object>,
    /// Its messages in order; when they leave is not known yet.
    #[expect(clippy::vec_box, reason = "they are handed on by their address")]
    pub sends: Vec<Box<Envelope>>,
    /// Whether it answers the node's own wish to be rid of a block.
    pub evicts: bool,
    /// The block of the processor's request that it answers, if it does: the request says how the processor's cache holds it.
    pub requested: Option<Object>,
    /// The line for which it has asked the processor's cache last: it knows how that holds it.
    pub probed: Option<Object>,
    /// From when on its event was there for the engine.
    pub ready: u64,
    /// From when on all of its words were.
    pub whole: u64,
    /// What the engine's inbox knew of its event.
    pub entry: Dispatching,
    /// What its program has made ready of its message.
    pub assembled: Assembled,
    /// What its messages are sent by, if that is an object's address.
    pub addressed: Option<Addressed>,
    /// The records that it has looked at, for an engine that lays handlers out itself.
    pub records: Vec<RecordKey>,
    /// Its time, when it has ended.
    pub timing: HandlerTime,
}

impl Handling {
    /// Forgets a handler for the next one; the space that its lists took stays.
    pub(crate) fn restart(&mut self, (protocol, object): (usize, Object), start: u64, path: Path, tags_before: usize) {
        self.effects.restart(protocol);
        self.start = start;
        (self.path, self.tags_before) = (path, tags_before);
        self.numbered.restart(object);
        self.primitives.clear();
        self.sends.clear();
        self.lowered.clear();
        self.evicts = false;
        self.requested = None;
        self.probed = None;
        self.addressed = None;
        self.assembled = Assembled::default();
    }

    #[cold]
    fn did_anew(&mut self, code: u64, what: Primitive) {
        if self.path != Path::NONE {
            let next = if code == NO_CODE { Path::NONE } else { self.paths.lead(self.path, code, what) };
            if next == Path::NONE {
                self.primitives = self.paths.told(self.path).1;
            }
            self.path = next;
        }
        if self.path == Path::NONE {
            self.primitives.push(what);
        }
    }
}

impl NodeState {
    /// Tells the watch of a tag that changes at cycle `time`.
    pub(crate) fn note_tag(&mut self, protocol: usize, block: Object, to: Access, time: u64) {
        let (home, protocol) =
            (self.core.home_of_block(block), fit(protocol, "a protocol of a run, of which there are at most 65536"));
        let change = TagChange { time, node: self.core.me, block: block.id, to, home, protocol, copy: None };
        self.watched.tag_changes.push(change);
    }
}

impl NodeState {
    /// Writes down what the node's copy of a block is whose tag has changed.
    pub(super) fn note_copy(&mut self, at: usize) {
        let Watched { tag_changes, bytes, .. } = &mut self.watched;
        bytes.resize(index(self.shared.protocols.block), 0);
        let change = &mut tag_changes[at];
        let read = self.core.memory.read(u64::from(change.block) * self.shared.protocols.block, bytes);
        change.copy = read.is_ok().then(|| CopyDigest::of(bytes));
    }
}

impl HandlerMemory for NodeState {
    type Cause = Cause;

    #[inline(always)]
    fn core(&self) -> &NodeCore<Cause> {
        &self.core
    }

    #[inline(always)]
    fn core_mut(&mut self) -> &mut NodeCore<Cause> {
        &mut self.core
    }

    #[inline(always)]
    fn effects(&self) -> &Effects {
        &self.handling.effects
    }

    #[inline(always)]
    fn effects_mut(&mut self) -> &mut Effects {
        &mut self.handling.effects
    }

    /// Golden check: a handler reads and writes only pages that have a frame.
    fn about_to_use(&mut self, offset: u64) {
        if !self.is_in_memory(offset) {
            let block = self.core.block_of(offset).id;
            let what = format!("block {block} is read or written, but the node has given its page up");
            self.handling.effects.trouble.get_or_insert(what);
        }
    }
}

impl HandlerHost for NodeState {
    type Lanes = Interface;

    fn lanes(&self) -> &Interface {
        &self.model.interface
    }

    #[inline(always)]
    fn used(&mut self, primitive: Primitive) {
        let handling = &mut *self.handling;
        let primitive = with_numbers(&mut handling.numbered, primitive);
        let code = code_of(primitive).unwrap_or(NO_CODE);
        let next = handling.paths.follow(handling.path, code);
        if next == Path::NONE {
            return handling.did_anew(code, primitive);
        }
        handling.path = next;
    }

    fn empty_data(&mut self) -> Box<Data> {
        let mut data = self.shared.spare.borrow_mut().data();
        data.clear();
        data
    }

    #[inline(always)]
    fn leaves(&mut self, to: Node, message: &Outgoing, data: Carried<'_>) {
        let mut envelope = self.shared.spare.borrow_mut().envelope();
        let protocol = self.handling.effects.protocol;
        envelope.protocol = protocol;
        envelope.message = message.message;
        envelope.lane = self.shared.protocols.engines[protocol].protocol().messages[message.message.index()].lane;
        envelope.object = message.object;
        envelope.args.assign(&message.args);
        envelope.from = self.core.me;
        envelope.to = to;
        envelope.data = match data {
            Carried::Nothing => None,
            Carried::Own(data) => Some(data),
            Carried::Of(data) => {
                let mut copy = self.shared.spare.borrow_mut().data();
                copy.assign(data);
                Some(copy)
            }
        };
        self.handling.sends.push(envelope);
    }

    fn sent_on(&self, lane: LaneId) -> u32 {
        self.handling.sends.iter().filter(|envelope| envelope.lane == lane).map(|_| 1u32).sum()
    }

    fn has_tag(&mut self, block: Object, from: Access, to: Access) {
        self.blame_tag(block, from, to, self.handling.evicts, self.handling.start);
        if to < from {
            self.lower_lines(block, to);
            self.handling.lowered.push(block);
        }
        if self.shared.protocols.watched[self.handling.effects.protocol] {
            // A tag that a handler changes twice is seen as the handler leaves it: no other event comes between.
            let before = self.handling.tags_before;
            match self.watched.tag_changes[before..].iter_mut().rfind(|change| change.block == block.id) {
                Some(change) => change.to = to,
                None => self.note_tag(self.handling.effects.protocol, block, to, self.handling.start),
            }
        }
    }

    fn performs(&mut self, access: &HandlerAccess) {
        self.note_performed(access);
    }

    /// The request itself says how the cache holds its block, and who has asked once knows it.
    fn probes(&mut self, block: Object) {
        if self.handling.requested != Some(block) && self.handling.probed != Some(block) {
            self.handling.probed = Some(block);
            self.used(Primitive::Probe);
        }
    }

    fn shows_line(&mut self, block: Object, from: Access, to: Access) {
        let (protocol, time) = (self.handling.effects.protocol, self.handling.start);
        self.note_line((block, protocol), from, to, time);
    }

    fn brings_in(&mut self, block: Object, to: Line) {
        self.bring_in(block, to);
    }
}
