//! Where everything of fixed size lies in a state: records, memories, threads, and what the properties remember.

use crate::system::client::Client;
use crate::system::copying::CopyLayout;
use crate::system::kinds::Homes;
use crate::system::mark::MarkLayout;
use std::ops::Range;
use trivium_engine::number::index;
use trivium_engine::{Engine, Node, Object};
use trivium_protocol::walk::performs_for_threads;
use trivium_protocol::{BLOCK, Promise, Protocol, RoleId};

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
        let node_bytes = words * sizes.word_bytes + lines * (1 + sizes.word_bytes);
        let words_at = take(sizes.nodes as usize * node_bytes);
        let thread_bytes = if sizes.counted { 5 } else { 3 };
        let performed_at = performs_for_threads(protocol).then_some(thread_bytes);
        let thread_bytes = thread_bytes + performed_at.map_or(0, |_| 1 + sizes.word_bytes);
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
            node_bytes,
            stride: sizes.stride,
            word_bytes: sizes.word_bytes,
            garbage: sizes.garbage,
            threads_at,
            thread_bytes,
            performed_at,
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

    /// What a processor's cache has of a block ([`trivium_engine::CacheLine::number`]) and its word that is looked at.
    pub fn line(&self, node: Node, block: u32) -> Option<(usize, Range<usize>)> {
        let at = self.contents(node).start + self.words * self.word_bytes + block as usize * (1 + self.word_bytes);
        ((block as usize) < self.lines).then(|| (at, at + 1..at + 1 + self.word_bytes))
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
