//! `Mechanisms`: all that a handler can do to the world. Each backend implements this and nothing more.

use trivium_protocol::source::Span;
use trivium_protocol::{Access, LaneId, Line, MessageId, ObjectKindId, Operation, RoleId, RoleKind, StateId, TaskId};

/// The number of a node, from 0.
pub type Node = u16;
/// The number of a thread on its node, from 0.
pub type Thread = u8;
/// Most words that the arguments of one event can take.
pub const MAX_ARGS: usize = 16;

/// An object: a kind and a number. The agent of a node is `(NODE, 0)` on that node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKindId,
    /// Which one.
    pub id: u32,
}

/// Data of a message: a handle that the engine never looks into. Bytes in `sim` and `run`, small values in
/// `check`. Who implements [`Mechanisms`] knows what it stands for and how long it lives: a payload that came
/// with an event lives until that event has been handled, deferred events included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Payload(pub u32);

/// Arguments of an event as words: scalars one each (`none` is -1), sets of nodes one for each 64 nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Args {
    words: [i64; MAX_ARGS],
    len: u8,
}

impl Args {
    /// No arguments.
    pub const NONE: Args = Args { words: [0; MAX_ARGS], len: 0 };

    /// The given words; at most [`MAX_ARGS`].
    #[inline]
    pub fn of(words: &[i64]) -> Args {
        let mut args = Args::NONE;
        for &word in words {
            args.push(word);
        }
        args
    }

    /// Becomes a copy of others. Cheaper than an assignment, which copies the room for words too.
    #[inline]
    pub fn assign(&mut self, others: &Args) {
        if self.len > others.len {
            self.words[others.len as usize..self.len as usize].fill(0);
        }
        for at in 0..others.len as usize {
            self.words[at] = others.words[at];
        }
        self.len = others.len;
    }

    /// Takes all words away.
    #[inline]
    pub fn clear(&mut self) {
        self.words[..self.len as usize].fill(0);
        self.len = 0;
    }

    /// Adds a word.
    #[inline]
    pub fn push(&mut self, word: i64) {
        self.words[self.len as usize] = word;
        self.len += 1;
    }

    /// The words.
    #[inline]
    pub fn words(&self) -> &[i64] {
        &self.words[..self.len as usize]
    }
}

/// A message that leaves a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// What kind.
    pub message: MessageId,
    /// About which object. For messages to an agent: `(NODE, 0)`.
    pub object: Object,
    /// Its arguments.
    pub args: Args,
    /// Its data.
    pub payload: Option<Payload>,
}

/// The access at which a thread waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Byte offset in shared memory.
    pub address: u64,
    /// Bytes: 1, 2, 4 or 8.
    pub size: u8,
    /// What a store would write; the operand of a read-modify-write.
    pub value: u64,
    /// Whether it is a read-modify-write.
    pub modifies: bool,
    /// What that makes of what is there.
    pub operation: Operation,
    /// What a compare-and-exchange expects.
    pub expected: u64,
}

/// An access that a handler performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandlerAccess {
    /// Byte offset in shared memory.
    pub address: u64,
    /// How many bytes: 1 to 8, or more where there is no value.
    pub bytes: u64,
    /// What it does.
    pub deed: Deed,
    /// Whose it is: a thread's, which waits for it, and that thread's node; or the program's of a node, of this one if there is none.
    pub asker: Option<(Node, Option<Thread>)>,
    /// Where the protocol's text says so.
    pub place: Span,
}

/// What an access does that a handler performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// A load.
    Load,
    /// A load to a byte of the program's own memory.
    LoadTo(u64),
    /// A store of this, without the bytes that do not fit.
    Store(u64),
    /// A store of what lies at a byte of the program's own memory.
    StoreFrom(u64),
    /// A store of data, of which there are as many bytes.
    StoreData(Payload),
    /// A read-modify-write.
    Modify {
        /// What it makes of what is there.
        operation: Operation,
        /// From this.
        operand: u64,
        /// And, of a compare-and-exchange, from this.
        expected: u64,
    },
}

/// What costs time without having any other effect; `sim` prices it, others ignore it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    /// The handler looks at the record of a role, which is of this kind, for the first time.
    Record(RoleId, RoleKind),
    /// So many plain steps, one after the other: assignments, branches and the like.
    Steps(u16),
    /// An element of a set or list is visited.
    Element,
}

/// The way out of a handler, for one node. See `docs/semantics.md`.
///
/// The engine calls these in the order of the handler's steps. Changes of state, tags and data are at once
/// true; what a message carries is what was true when it was sent. What `resume`, `complete`, `answer` and `start`
/// ask for is seen by threads and by the software queue when the handler has ended: whoever implements this
/// keeps it until `Engine::dispatch` or `Engine::replay` returns. The crate `trivium-contract` checks an implementation.
pub trait Mechanisms:
    RecordMechanisms + MemoryMechanisms + LineMechanisms + ThreadMechanisms + NetworkMechanisms + ClockMechanisms
{
}

impl<M: RecordMechanisms + MemoryMechanisms + LineMechanisms + ThreadMechanisms + NetworkMechanisms + ClockMechanisms>
    Mechanisms for M
{
}

/// What a handler finds of roles and homes, and what it leaves for later handlers. A part of [`Mechanisms`].
pub trait RecordMechanisms {
    /// This node.
    fn me(&self) -> Node;

    /// The home of an object.
    fn home(&self, object: Object) -> Node;

    /// The record of a role for an object on this node, `Engine::record_bytes(role)` long; for an object that
    /// nobody has touched as [`crate::Engine::first_record`] says, all zero as a rule.
    fn record(&mut self, role: RoleId, object: Object) -> &mut [u8];

    /// Which of some nodes, given in ascending order, is taken next, where the protocol leaves that open: the least, unless a backend
    /// tries others. `None` if there is none.
    #[inline]
    fn choose(&mut self, mut nodes: impl Iterator<Item = Node>) -> Option<Node> {
        nodes.next()
    }

    /// A task goes to the end of this node's software queue.
    fn start(&mut self, task: TaskId, object: Object, args: Args);

    /// When the handler has ended: the state of a record that it touched differs from the one before. Whoever
    /// holds events for the object raises them again, and looks whether a replay is due.
    fn state_changed(&mut self, role: RoleId, object: Object, from: StateId, to: StateId) {
        let _ = (role, object, from, to);
    }
}

/// Data: a node's copy of shared memory, the program's own memory, payloads. A part of [`Mechanisms`].
pub trait MemoryMechanisms {
    /// How many bytes a block has.
    fn block_bytes(&self) -> u64;

    /// The number of the block in which the byte at this offset of shared memory lies; none if nobody has allocated it, it is another
    /// protocol's, or its home is not known here.
    fn block_at(&mut self, address: u64) -> Option<u32>;

    /// The contents of a block of this node, taken now, as a payload.
    fn gather_block(&mut self, block: Object) -> Payload;

    /// Bytes `from..to` of this node's memory, taken now, as a payload.
    fn gather_memory(&mut self, from: u64, to: u64) -> Payload;

    /// Several blocks, or words at addresses, taken now, in order, as one payload.
    fn gather_list(&mut self, blocks: bool, items: &[i64]) -> Payload;

    /// Bytes `from..to` of the program's own memory, taken now, as a payload.
    fn gather_own(&mut self, from: u64, to: u64) -> Payload;

    /// A load of any length, which lies in the block, is performed on this node's copy, as [`MemoryMechanisms::perform`] does; what it gives
    /// is a payload.
    fn gather_access(&mut self, block: Object, access: &HandlerAccess) -> Payload;

    /// The data of a payload go to the program's own memory, from a byte on.
    fn install_own(&mut self, payload: Payload, at: u64);

    /// The data of a payload go into a block of this node.
    fn install_block(&mut self, payload: Payload, block: Object);

    /// The data of a payload go into this node's memory from an address on; a payload made by
    /// `gather_list` goes back to where it came from when `address` is `None`.
    fn install_memory(&mut self, payload: Payload, address: Option<u64>);

    /// The tag of a block changes, since the role's state did.
    fn set_access(&mut self, block: Object, from: Access, to: Access);

    /// The word at a byte offset of this node's memory (8 bytes, little-endian).
    fn load(&mut self, address: u64) -> u64;

    /// Writes such a word.
    fn store(&mut self, address: u64, value: u64);

    /// Copies bytes within this node's memory.
    fn copy(&mut self, from: u64, to: u64, bytes: u64);

    /// An access, which lies in the block, is performed on this node's copy (little-endian), whatever the tag. Returns what was there,
    /// with zeros in front, except to those who only store or load to the program's memory: 0.
    fn perform(&mut self, block: Object, access: &HandlerAccess) -> u64;
}

/// The lines of a cached processor. Asked only under protocols with cached processors, and of objects that have an image, whose lines are the
/// same in all: there the engine's side is one word. A part of [`Mechanisms`].
pub trait LineMechanisms {
    /// What the processor's cache has of a block.
    fn probe(&mut self, block: Object) -> Line;

    /// The same, where no handler asks: the engine looks whether an access, or a step, is possible. It takes no time.
    fn line(&mut self, block: Object) -> Line {
        self.probe(block)
    }

    /// The processor's request for a block is answered with this node's copy of it, as shared or exclusive:
    /// [`crate::CacheLine::fill`] says what happens to the line. Returns whether there was a request; if not, nothing
    /// happens. The engine calls `resume` next.
    fn fill(&mut self, block: Object, to: Line) -> bool;

    /// The request is answered without data, for a line that is shared. Otherwise as [`LineMechanisms::fill`].
    fn upgrade(&mut self, block: Object) -> bool;

    /// The contents of the line, which is shared or exclusive, become this node's copy: [`crate::CacheLine::take`].
    fn take(&mut self, block: Object, to: Line);

    /// The cache loses its line: [`crate::CacheLine::invalidate`].
    fn invalidate(&mut self, block: Object);

    /// The engine's side of an object's image becomes this word (`docs/semantics.md`, section 8): what the next `fill` gives.
    fn compose(&mut self, image: Object, word: u64);

    /// The engine's side of an object's image: what the last `take`, or the event, has brought there.
    fn image_word(&mut self, image: Object) -> u64;
}

/// The program's threads. A part of [`Mechanisms`].
pub trait ThreadMechanisms {
    /// All threads that wait for the object try again; each is guaranteed to complete its access once before
    /// any later event of that object on this node. It ends a cached processor's request for the block.
    fn resume(&mut self, object: Object);

    /// The accesses that wait for the object are performed now, once each, on this node's memory, whatever
    /// the tag.
    fn complete(&mut self, object: Object);

    /// The access that a thread of this node waits with for the object, and that was performed elsewhere, is done; the thread
    /// gets this value, if it loads. `place`: where the protocol's text says so.
    fn complete_with(&mut self, object: Object, thread: Thread, value: u64, place: Span);

    /// The call at which a thread waits returns.
    fn answer(&mut self, thread: Thread, value: i64);

    /// The access at which a thread waits.
    fn pending(&mut self, thread: Thread) -> Pending;
}

/// What leaves the node. A part of [`Mechanisms`].
pub trait NetworkMechanisms: MemoryMechanisms {
    /// A message leaves for `to` (which may be this node: it really travels).
    // By address: it is large (`ARCHITECTURE.md`, "Written where it stays").
    fn send(&mut self, to: Node, message: &Outgoing);

    /// A message leaves with the contents of the block that it is about, taken now: [`MemoryMechanisms::gather_block`] and
    /// [`NetworkMechanisms::send`] in one, for whom that is less than both.
    #[inline]
    fn send_block(&mut self, to: Node, message: &mut Outgoing) {
        message.payload = Some(self.gather_block(message.object));
        self.send(to, message);
    }

    /// Whether this node has room for `count` more messages on a lane. A queue that the lane shares must have room for these, and for `together`
    /// at least: for what else is kept there.
    fn room(&mut self, lane: LaneId, count: u32, together: u32) -> bool;
}

/// Time, and what is counted. A part of [`Mechanisms`].
pub trait ClockMechanisms {
    /// The role's state for the object has changed; with `Some(t)` the new state wants a timer event after
    /// `t` cycles unless it is left before; with `None` a timer that runs is cancelled.
    fn timer(&mut self, role: RoleId, object: Object, after: Option<u64>);

    /// Time passes for something that has no other effect.
    fn charge(&mut self, what: Charge);

    /// Which way a step of the protocol's text goes, for those who count: whether the condition of an `if` is true, whether a loop
    /// has anything to go over; an assertion is looked at.
    #[inline]
    fn way(&mut self, step: Span, taken: bool) {
        let _ = (step, taken);
    }
}
