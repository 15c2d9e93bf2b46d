//! Where everything of fixed size lies in a state: records, memories, threads, and what the properties remember.

use crate::system::client::Client;
use crate::system::copying::CopyLayout;
use crate::system::kinds::Homes;
use crate::system::mark::MarkLayout;
use std::ops::Range;
use trivium_engine::number::{fit, index};
use trivium_engine::{Engine, Node, Object};
use trivium_protocol::walk::performs_for_threads;
use trivium_protocol::{BLOCK, MAX_NODES, ObjectKindId, Promise, Protocol, RoleId, Type};

/// Bytes of the fixed part that are packed together.
pub(crate) const GROUP: usize = 8;
/// Bytes of a word of the explored memory.
pub const WORD: u64 = 8;
/// Words of a block: the one that is looked at, and one beside it, which is always 0. The second is kept only for
/// protocols that address memory.
pub const WORDS_PER_BLOCK: u32 = 2;

/// Bytes of a block: block i begins at address i times this.
pub const BLOCK_BYTES: u64 = WORD * WORDS_PER_BLOCK as u64;

/// Numbers that the layout depends on.
pub(crate) struct Sizes {
    pub nodes: u32,
    /// Instances of each kind of object.
    pub objects: Vec<u32>,
    pub homes: Homes,
    pub threads: usize,
    /// Words of each node's memory, blocks included.
    pub words: u32,
    /// Words of a block that are kept: see [`WORDS_PER_BLOCK`].
    pub stride: usize,
    /// Bytes of each word that is kept.
    pub word_bytes: usize,
    /// What stands for contents that nobody has sent or stored: see [`Layout::garbage`].
    pub garbage: u64,
    /// Values that stores write.
    pub values: u32,
    /// Whether each thread has a count: of the calls that are left to it, or of its script.
    pub counted: bool,
    pub registers: usize,
    /// Whether the client is the most general one, whose stores are marked for promises that need it.
    pub general: bool,
}

/// Where the lines of the images of a kind of object lie in what is kept of a node.
struct ImageLines {
    kind: ObjectKindId,
    at: usize,
    count: usize,
    word_bytes: usize,
}

/// What is kept of a thread where calls have bodies: what it has told its engine (2 bytes), and, while it is in a body, its act (2), its place (2), and
/// the variables.
struct BodyLayout {
    at: usize,
    variables: usize,
    variable_bytes: usize,
}

/// Bytes of what has been told.
const TOLD_BYTES: usize = 2;
/// Bytes of an act and its place.
const ACT_BYTES: usize = 4;

impl BodyLayout {
    /// Of a protocol, behind so many bytes of a thread; nothing where no call has a body.
    fn of(protocol: &Protocol, at: usize) -> Option<BodyLayout> {
        let bodies = protocol.ops.iter().filter_map(|op| Some((op.args.len(), op.body.as_ref()?)));
        let variables = bodies.clone().map(|(passed, body)| body.locals.len() - passed).max()?;
        let is_small = |ty: &Type| match ty {
            Type::Bool => true,
            Type::Int { lo, hi } => lo.at(1) >= 0 && hi.at(MAX_NODES) <= 255,
            _ => false,
        };
        let are_small = bodies.flat_map(|(passed, body)| &body.locals[passed..]).all(|local| is_small(&local.ty));
        Some(BodyLayout { at, variables, variable_bytes: if are_small { 1 } else { 8 } })
    }

    fn bytes(&self) -> usize {
        TOLD_BYTES + ACT_BYTES + self.variables * self.variable_bytes
    }
}

/// Where a record begins and ends.
#[derive(Clone, Copy)]
struct RecordRange {
    at: usize,
    end: usize,
}

/// Offsets into the fixed part of a state.
pub(crate) struct Layout {
    /// Where each record lies, by node, role and object; nowhere where the role has none.
    records: Vec<Option<RecordRange>>,
    /// Where all records of each node lie.
    records_of: Vec<Range<usize>>,
    roles: usize,
    widest_kind: usize,
    words_at: usize,
    words: usize,
    /// Blocks of which each processor's cache has a line; 0 where processors are tagged.
    lines: usize,
    /// The lines of images, behind those of blocks: by kind.
    images: Vec<ImageLines>,
    node_bytes: usize,
    stride: usize,
    pub word_bytes: usize,
    /// The contents of a copy that has none (`docs/semantics.md`, section 1): no store leaves them, so that a load which sees them is
    /// known to have missed what it should have seen.
    pub garbage: u64,
    threads_at: usize,
    thread_bytes: usize,
    /// Where in what is kept of a thread it stands what was performed for it, where handlers do that.
    performed_at: Option<usize>,
    body: Option<BodyLayout>,
    registers_at: usize,
    last_at: Option<usize>,
    /// Whether loads are compared with it.
    pub compares: bool,
    writers_at: Option<usize>,
    phase_at: Option<usize>,
    value_set_bytes: usize,
    holders_at: Vec<usize>,
    arrived_at: Vec<usize>,
    arrived_bytes: usize,
    assumed_at: Vec<usize>,
    leads_at: Vec<usize>,
    /// What promises remember that are weaker than `last_write`.
    pub mark: Option<MarkLayout>,
    /// What is kept of copies by calls.
    pub copies: Option<CopyLayout>,
    threads: usize,
    /// Length of the fixed part: groups of bytes, filled up with zeros.
    pub len: usize,
}

impl Layout {
    pub fn new(engine: &Engine, client: &Client, sizes: &Sizes) -> Layout {
        let protocol = engine.protocol();
        let roles = protocol.roles.len();
        let widest_kind = sizes.objects.iter().copied().max().unwrap_or(1).max(1) as usize;
        let mut len = 0;
        let mut take = |bytes: usize| {
            len += bytes;
            len - bytes
        };
        let record_bytes: Vec<usize> = (0..roles).map(|r| engine.record_bytes(RoleId::at(r))).collect();
        let mut records = vec![None; sizes.nodes as usize * roles * widest_kind];
        let mut records_of = Vec::new();
        for node in 0..sizes.nodes {
            let first = take(0);
            for (r, role) in protocol.roles.iter().enumerate() {
                for object in 0..sizes.objects[role.object.index()] {
                    let home = sizes.homes.of(Object { kind: role.object, id: object });
                    if role.kind.is_kept_at(u32::from(home) == node) {
                        let slot = (node as usize * roles + r) * widest_kind + object as usize;
                        let at = take(record_bytes[r]);
                        records[slot] = Some(RecordRange { at, end: at + record_bytes[r] });
                    }
                }
            }
            records_of.push(first..take(0));
        }
        let words = sizes.words as usize;
        let lines = if protocol.cached { sizes.objects[BLOCK.index()] as usize } else { 0 };
        let mut node_bytes = words * sizes.word_bytes + lines * (1 + sizes.word_bytes);
        let mut images = Vec::new();
        for image in &protocol.images {
            let count = sizes.objects[image.object.index()] as usize;
            let word_bytes = (image.bits() as usize).div_ceil(8).max(1);
            images.push(ImageLines { kind: image.object, at: node_bytes, count, word_bytes });
            node_bytes += count * (1 + word_bytes);
        }
        let words_at = take(sizes.nodes as usize * node_bytes);
        let thread_bytes = if sizes.counted { 5 } else { 3 };
        let performed_at = performs_for_threads(protocol).then_some(thread_bytes);
        let thread_bytes = thread_bytes + performed_at.map_or(0, |_| 1 + sizes.word_bytes);
        let body = BodyLayout::of(protocol, thread_bytes);
        let thread_bytes = thread_bytes + body.as_ref().map_or(0, BodyLayout::bytes);
        let threads_at = take(sizes.threads * thread_bytes);
        let registers_at = take(sizes.registers * 8);
        let blocks = sizes.objects[BLOCK.index()] as usize;
        let last_at = (checks_values(protocol) || protocol.has_copies()).then(|| take(blocks * sizes.word_bytes));
        let writers_at = protocol.has_phases().then(|| take(blocks * 2));
        let value_set_bytes = (sizes.values as usize).div_ceil(8);
        let is_phased = protocol.promises.contains(&Promise::LastPhase);
        let phase_at = is_phased.then(|| take(blocks * (sizes.word_bytes + value_set_bytes)));
        let arrived_bytes = (sizes.nodes as usize).div_ceil(8);
        let (mut holders_at, mut arrived_at) = (Vec::new(), Vec::new());
        for promise in &protocol.promises {
            let objects = |op: &trivium_protocol::OpId| sizes.objects[protocol.ops[op.index()].object.index()] as usize;
            holders_at.push(match promise {
                Promise::Mutex(acquire, _) => take(objects(acquire) * 2),
                _ => 0,
            });
            arrived_at.push(match promise {
                Promise::Barrier(arrive) => take(objects(arrive) * arrived_bytes),
                _ => 0,
            });
        }
        let assumed_at = protocol
            .assumptions
            .iter()
            .map(|assume| if assume.counted_call().is_some() { take(sizes.threads * widest_kind) } else { 0 })
            .collect();
        let leads = protocol.leads_to.iter();
        let leads_at = leads
            .map(|leads| {
                let nodes = if leads.each { sizes.nodes as usize } else { 1 };
                take(sizes.objects[leads.from.object.index()] as usize * nodes)
            })
            .collect();
        let objects = |op: trivium_protocol::OpId| sizes.objects[protocol.ops[op.index()].object.index()] as usize;
        let mark = if sizes.general { MarkLayout::new(protocol, sizes.threads, objects, &mut take) } else { None };
        let copies = CopyLayout::new(protocol, blocks, sizes.word_bytes, &mut take);
        debug_assert_eq!(client.threads.len(), sizes.threads);
        Layout {
            records,
            records_of,
            roles,
            widest_kind,
            words_at,
            words,
            lines,
            images,
            node_bytes,
            stride: sizes.stride,
            word_bytes: sizes.word_bytes,
            garbage: sizes.garbage,
            threads_at,
            thread_bytes,
            performed_at,
            body,
            registers_at,
            last_at,
            compares: checks_values(protocol),
            writers_at,
            phase_at,
            value_set_bytes,
            holders_at,
            arrived_at,
            arrived_bytes,
            assumed_at,
            leads_at,
            mark,
            copies,
            threads: sizes.threads,
            len: len.next_multiple_of(GROUP),
        }
    }

    /// A role's record for an object on a node, if it lives there.
    #[inline]
    pub fn record(&self, node: Node, role: RoleId, object: u32) -> Option<Range<usize>> {
        if object as usize >= self.widest_kind {
            return None;
        }
        let slot = (node as usize * self.roles + role.index()) * self.widest_kind + object as usize;
        self.records[slot].map(|record| record.at..record.end)
    }

    /// All records of a node.
    pub fn records(&self, node: Node) -> Range<usize> {
        self.records_of[node as usize].clone()
    }

    fn word(&self, node: Node, word: usize) -> Range<usize> {
        let at = self.words_at + node as usize * self.node_bytes + word * self.word_bytes;
        at..at + self.word_bytes
    }

    /// All words of a node's memory, and its processor's cache.
    pub fn contents(&self, node: Node) -> Range<usize> {
        let at = self.words_at + node as usize * self.node_bytes;
        at..at + self.node_bytes
    }

    /// What a processor's cache has of a block ([`trivium_engine::CacheLine::number`]) and its word that is looked at; or of an image, and its word.
    pub fn line(&self, node: Node, object: Object) -> Option<(usize, Range<usize>)> {
        let id = object.id as usize;
        if object.kind != BLOCK {
            let image = self.images.iter().find(|image| image.kind == object.kind)?;
            let at = self.contents(node).start + image.at + id * (1 + image.word_bytes);
            return (id < image.count).then(|| (at, at + 1..at + 1 + image.word_bytes));
        }
        let at = self.contents(node).start + self.words * self.word_bytes + id * (1 + self.word_bytes);
        (id < self.lines).then(|| (at, at + 1..at + 1 + self.word_bytes))
    }

    /// The objects of which a node's cache has a line: blocks, where processors are cached, and images.
    pub fn lined(&self) -> impl Iterator<Item = Object> + '_ {
        let blocks = (0..self.lines).map(|id| (BLOCK, id));
        let images = self.images.iter().flat_map(|image| (0..image.count).map(move |id| (image.kind, id)));
        blocks.chain(images).map(|(kind, id)| Object { kind, id: fit(id, "the number of an object") })
    }

    /// The act of a thread in the body of a call (2 bytes), and its place (2).
    pub fn act(&self, thread: usize) -> Option<Range<usize>> {
        let at = self.body(thread)?.start;
        Some(at..at + ACT_BYTES)
    }

    /// What a thread has told its engine, which has not heard of it yet.
    pub fn told(&self, thread: usize) -> Option<Range<usize>> {
        let at = self.threads_at + thread * self.thread_bytes + self.body.as_ref()?.at;
        Some(at..at + TOLD_BYTES)
    }

    /// All that is kept of the body of a thread's call.
    pub fn body(&self, thread: usize) -> Option<Range<usize>> {
        let (body, told) = (self.body.as_ref()?, self.told(thread)?);
        Some(told.end..told.start + body.bytes())
    }

    /// A variable of that body.
    pub fn variable(&self, thread: usize, variable: usize) -> Option<Range<usize>> {
        let body = self.body.as_ref().filter(|body| variable < body.variables)?;
        let at = self.body(thread)?.start + ACT_BYTES + variable * body.variable_bytes;
        Some(at..at + body.variable_bytes)
    }

    /// The word of a block that is looked at, in a node's memory.
    pub fn block(&self, node: Node, block: u32) -> Range<usize> {
        self.word(node, block as usize * self.stride)
    }

    /// All words of a block that are kept, in a node's memory.
    pub fn block_words(&self, node: Node, block: u32) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.stride).map(move |word| self.word(node, block as usize * self.stride + word))
    }

    /// The word at an address of a node's memory. `Some(None)`: it is always 0 and not kept; `None`: there is none.
    pub fn word_at(&self, node: Node, address: u64) -> Option<Option<Range<usize>>> {
        if let Some(memory) = self.memory(node) {
            let from = usize::try_from(address).ok().filter(|&from| from <= memory.len() - index(WORD))?;
            return Some(Some(memory.start + from..memory.start + from + index(WORD)));
        }
        if !address.is_multiple_of(WORD) {
            return None;
        }
        let skip = WORDS_PER_BLOCK as usize / self.stride;
        let word = usize::try_from(address / WORD).ok()?;
        if word >= self.words * skip {
            return None;
        }
        Some(word.is_multiple_of(skip).then(|| self.word(node, word / skip)))
    }

    /// All bytes of a node's memory, where it is kept whole.
    pub fn memory(&self, node: Node) -> Option<Range<usize>> {
        let bytes = self.words * self.word_bytes;
        let at = self.contents(node).start;
        let whole = self.stride == WORDS_PER_BLOCK as usize && self.word_bytes as u64 == WORD;
        (whole && self.words > 0).then_some(at..at + bytes)
    }

    /// Whether a handler has performed the access of a thread (1 byte), and what the access has seen, where handlers do that.
    #[inline]
    pub fn performed(&self, thread: usize) -> Option<(usize, Range<usize>)> {
        let at = self.threads_at + thread * self.thread_bytes + self.performed_at?;
        Some((at, at + 1..at + 1 + self.word_bytes))
    }

    /// A thread's phase (1 byte), intent (2), where threads are counted its count (2), and what [`Layout::performed`] says.
    #[inline]
    pub fn thread(&self, thread: usize) -> Range<usize> {
        let at = self.threads_at + thread * self.thread_bytes;
        at..at + self.thread_bytes
    }

    /// A register of the scenario.
    pub fn register(&self, register: u16) -> Range<usize> {
        let at = self.registers_at + register as usize * 8;
        at..at + 8
    }

    /// The value of the last store to a block, where some promise needs it.
    pub fn last(&self, block: u32) -> Option<Range<usize>> {
        self.last_at.map(|at| {
            let at = at + block as usize * self.word_bytes;
            at..at + self.word_bytes
        })
    }

    /// The node, plus one, that may write a block in this phase.
    pub fn writer(&self, block: u32) -> Option<Range<usize>> {
        self.writers_at.map(|at| at + block as usize * 2..at + block as usize * 2 + 2)
    }

    /// The last value of a block from an earlier phase, and the set of values stored to it in this one, a bit each;
    /// where some promise needs them.
    pub fn phase(&self, block: u32) -> Option<(Range<usize>, Range<usize>)> {
        let at = self.phase_at? + block as usize * (self.word_bytes + self.value_set_bytes);
        let middle = at + self.word_bytes;
        Some((at..middle, middle..middle + self.value_set_bytes))
    }

    /// The thread, plus one, that holds an object under a promise of mutual exclusion.
    pub fn holder(&self, promise: usize, object: u32) -> Range<usize> {
        let at = self.holders_at[promise] + object as usize * 2;
        at..at + 2
    }

    /// The nodes that have made one call more than the slowest, under a promise of a barrier.
    pub fn arrived(&self, promise: usize, object: u32) -> Range<usize> {
        let at = self.arrived_at[promise] + object as usize * self.arrived_bytes;
        at..at + self.arrived_bytes
    }

    /// Whether what a `leads_to` demands is still to come: a byte for an object, or for each node of it.
    pub fn leads(&self, leads_to: usize, place: usize) -> usize {
        self.leads_at[leads_to] + place
    }

    /// What a thread has done so far to an object, under an assumption.
    pub fn assumed(&self, assumption: usize, thread: usize, object: u32) -> usize {
        debug_assert!(thread < self.threads);
        self.assumed_at[assumption] + thread * self.widest_kind + object as usize
    }
}

/// Whether loads are compared with the last store.
pub fn checks_values(protocol: &Protocol) -> bool {
    protocol.promises.iter().any(|p| matches!(p, Promise::LastWrite | Promise::LastPhase | Promise::Sequential))
}
