//! Decides of each miss of what kind it is, from what all nodes saw in the order of time.
//!
//! The kinds are those of Dubois et al. ("The Detection and Elimination of Useless Misses in Multiprocessors", 1993),
//! and capacity: `docs/statistics.md` says what is done exactly.

use super::{NOWHERE, Seen, WORD, Wanted, in_tree, on_heap};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trivium_engine::Node;
use trivium_engine::number::index;
use trivium_protocol::Access;

/// Why an access missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Cold = 0,
    Capacity = 1,
    TrueSharing = 2,
    FalseSharing = 3,
}

/// What is added up: on which node, inside its region of interest or not, about which block's allocation is looked up by
/// whoever adds, and at which place of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Account {
    pub(super) node: Node,
    pub(super) counted: bool,
    /// None: not about shared memory.
    pub(super) region: Option<usize>,
    /// None: no miss led to it.
    pub(super) site: Option<u32>,
}

/// What is added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Misses, by what was wanted and why it missed.
    pub(super) misses: [[u64; 4]; 3],
    pub(super) stall: u64,
    pub(super) messages: u64,
}

/// When something was last done to a word, by whom, and when by anybody else. 0 is never.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    at: u64,
    node: Node,
    others: u64,
}

impl Last {
    fn set(&mut self, node: Node, at: u64) {
        if self.node != node {
            (self.node, self.others) = (node, self.at);
        }
        self.at = at;
    }

    /// When a node other than this one did it last.
    fn by_others(&self, node: Node) -> u64 {
        if self.node == node { self.others } else { self.at }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    stored: Last,
    accessed: Last,
}

/// Words of a set of so many nodes.
fn words_of_set(nodes: u64) -> u64 {
    nodes.div_ceil(64)
}

/// Misses that have not been decided, of one access if it had to try again.
#[derive(Clone, Debug)]
struct Open {
    misses: Vec<(Account, Wanted)>,
    /// What it is if nothing of others is accessed.
    otherwise: Why,
    begun: u64,
    /// Whether it has brought what it was for.
    gained: bool,
    /// Whether it is also for writing.
    writes: bool,
    is_true: bool,
}

/// What a node has had of a block.
#[derive(Clone, Debug)]
struct Holder {
    had: bool,
    could_write: bool,
    /// Its latest copy, or its leave to write, was given up by itself.
    gave_up: bool,
    gave_up_writing: bool,
    /// When its latest miss began that it could not have been spared; and its latest of those for writing.
    essential: u64,
    essential_write: u64,
    fetch: Option<Open>,
    upgrade: Option<Open>,
}

impl Holder {
    fn with(tag: Access) -> Holder {
        Holder {
            had: tag >= Access::Read,
            could_write: tag == Access::Write,
            gave_up: false,
            gave_up_writing: false,
            essential: 0,
            essential_write: 0,
            fetch: None,
            upgrade: None,
        }
    }
}

/// A block of which anybody has told anything.
#[derive(Default)]
pub(super) struct Block {
    words: Vec<Word>,
    /// Of each word the set of its readers, then that of its writers.
    users: Vec<u64>,
    holders: BTreeMap<Node, Holder>,
    /// Misses by false sharing, by node and whether they are counted.
    pub(super) falsely: BTreeMap<(Node, bool), u64>,
}

impl Block {
    /// The sets of nodes that have read, and that have written, each word.
    pub(super) fn users(&self) -> impl Iterator<Item = (&[u64], &[u64])> {
        let each = self.users.len() / self.words.len().max(1);
        self.users.chunks(each.max(1)).map(move |sets| sets.split_at(each / 2))
    }
}

/// Decides of misses.
pub(crate) struct Judge {
    words: usize,
    clock: u64,
    /// Of each node, its misses: the allocation and the place.
    misses: Vec<Vec<(Option<usize>, Option<u32>)>>,
    pub(super) blocks: BTreeMap<u32, Block>,
    pub(super) tallies: FxHashMap<Account, Tally>,
}

impl Judge {
    /// For so many nodes, and blocks of so many bytes.
    pub(crate) fn new(nodes: u32, block: u64) -> Judge {
        Judge {
            words: index(block / WORD),
            clock: 0,
            misses: (0..nodes).map(|_| Vec::new()).collect(),
            blocks: BTreeMap::new(),
            tallies: FxHashMap::default(),
        }
    }

    /// Bytes that it keeps of a block of so many words, if each of so many nodes has missed it, once for reading and once for writing.
    pub(super) fn bytes_for_block(nodes: u64, words: u64) -> u64 {
        let of_block = 2 * size_of::<(u32, Block)>() as u64
            + on_heap(words * size_of::<Word>() as u64)
            + on_heap(words * 2 * 8 * words_of_set(nodes));
        let holders = in_tree(nodes, size_of::<(Node, Holder)>()) + in_tree(nodes, size_of::<((Node, bool), u64)>());
        // Lists double when they are full.
        let misses = 2 * 2 * size_of::<(Option<usize>, Option<u32>)>() as u64;
        let open = 2 * on_heap(size_of::<(Account, Wanted)>() as u64);
        of_block + holders + nodes * (misses + open)
    }

    /// A node saw something; all nodes' must come in the order of time. `region` tells in which allocation a block lies.
    pub(crate) fn hear(&mut self, node: Node, seen: Seen, region: impl Fn(u32) -> Option<usize>) {
        self.clock += 1;
        match seen {
            Seen::Miss { block, wanted, tag, counted, site } => {
                let region = region(block);
                let site = (site != NOWHERE).then_some(site);
                self.misses[usize::from(node)].push((region, site));
                self.miss(block, (Account { node, counted, region, site }, wanted), tag);
            }
            Seen::Waited { cycles, counted } => {
                if let Some(&(region, site)) = self.misses[usize::from(node)].last() {
                    self.tallies.entry(Account { node, counted, region, site }).or_default().stall += cycles;
                }
            }
            Seen::Sent { origin, block, counted } => {
                let known = origin.and_then(|(of, number)| self.misses[usize::from(of)].get(number as usize).copied());
                let (region, site) = known.unwrap_or_else(|| (block.and_then(region), None));
                self.tallies.entry(Account { node, counted, region, site }).or_default().messages += 1;
            }
            Seen::Tag { block, from, to, own } => self.tag(node, block, (from, to), own),
            Seen::Access { block, first, last, store } => {
                for word in first..=last {
                    self.access(node, block, usize::from(word), store);
                }
            }
            Seen::Completed { block } => self.completed(node, block),
        }
    }

    /// The run is over: what is open is decided by what has been accessed so far.
    pub(crate) fn end(&mut self) {
        for block in self.blocks.values_mut() {
            let Block { holders, falsely, .. } = block;
            for holder in holders.values_mut() {
                for open in [holder.fetch.take(), holder.upgrade.take()].into_iter().flatten() {
                    decide(&mut self.tallies, falsely, open);
                }
            }
        }
    }

    fn block(&mut self, block: u32) -> &mut Block {
        let (words, each) = (self.words, index(words_of_set(self.misses.len() as u64)));
        self.blocks.entry(block).or_insert_with(|| Block {
            words: vec![Word::default(); words],
            users: vec![0; words * 2 * each],
            ..Block::default()
        })
    }

    fn miss(&mut self, block: u32, miss: (Account, Wanted), tag: Access) {
        let (node, wanted, begun) = (miss.0.node, miss.1, self.clock);
        let holder = self.block(block).holders.entry(node).or_insert_with(|| Holder::with(tag));
        let upgrades = wanted == Wanted::Upgrade;
        let slot = if upgrades { &mut holder.upgrade } else { &mut holder.fetch };
        if let Some(open) = slot.as_mut().filter(|open| !open.gained) {
            // It got nothing, and tries again: all its misses are of one kind.
            open.misses.push(miss);
            open.writes |= wanted != Wanted::Read;
            return;
        }
        let (is_first, gave_up) = match upgrades {
            true => (!holder.could_write, holder.gave_up_writing),
            false => (!holder.had, holder.gave_up),
        };
        let otherwise = match (is_first, gave_up) {
            (true, _) => Why::Cold,
            (_, true) => Why::Capacity,
            _ => Why::FalseSharing,
        };
        let writes = wanted != Wanted::Read;
        let open = Open { misses: vec![miss], otherwise, begun, gained: false, writes, is_true: false };
        if is_first {
            // Nothing could have spared it.
            if !upgrades {
                holder.essential = begun;
            }
            if writes {
                holder.essential_write = begun;
            }
        }
        let before = slot.replace(open);
        if let Some(before) = before {
            let Judge { blocks, tallies, .. } = self;
            if let Some(block) = blocks.get_mut(&block) {
                decide(tallies, &mut block.falsely, before);
            }
        }
    }

    fn tag(&mut self, node: Node, block: u32, (from, to): (Access, Access), own: bool) {
        let holder = self.block(block).holders.entry(node).or_insert_with(|| Holder::with(from));
        let mut decided = Vec::new();
        if to >= Access::Read {
            holder.had = true;
            holder.fetch.iter_mut().for_each(|open| open.gained = true);
        }
        if to == Access::Write {
            holder.could_write = true;
            holder.upgrade.iter_mut().for_each(|open| open.gained = true);
        } else if from == Access::Write {
            holder.gave_up_writing = own;
            decided.extend(holder.upgrade.take_if(|open| open.gained));
            holder.fetch.iter_mut().for_each(|open| open.writes = false);
        }
        if to == Access::None {
            holder.gave_up = own;
            decided.extend(holder.fetch.take_if(|open| open.gained));
        }
        let Judge { blocks, tallies, .. } = self;
        let Some(block) = blocks.get_mut(&block) else { return };
        decided.into_iter().for_each(|open| decide(tallies, &mut block.falsely, open));
    }

    fn access(&mut self, node: Node, block: u32, word: usize, store: bool) {
        let now = self.clock;
        let Block { words, users, holders, .. } = self.block(block);
        let each = users.len() / words.len().max(1);
        let Some(users) = users.get_mut(word * each..) else { return };
        let Some(word) = words.get_mut(word) else { return };
        if let Some(holder) = holders.get_mut(&node) {
            let (stored, accessed) = (word.stored.by_others(node), word.accessed.by_others(node));
            let consumes = stored > holder.essential;
            let answers = store && accessed > holder.essential_write;
            if let Some(open) = holder.upgrade.as_mut().filter(|open| !open.is_true && answers) {
                open.is_true = true;
                holder.essential_write = open.begun;
            }
            if let Some(open) =
                holder.fetch.as_mut().filter(|open| !open.is_true && (consumes || open.writes && answers))
            {
                open.is_true = true;
                holder.essential = open.begun;
                if open.writes {
                    holder.essential_write = open.begun;
                }
            }
        }
        word.accessed.set(node, now);
        let bit = 1 << (node % 64);
        let at = usize::from(node) / 64 + if store { each / 2 } else { 0 };
        users[at] |= bit;
        if store {
            word.stored.set(node, now);
        }
    }

    fn completed(&mut self, node: Node, block: u32) {
        let Judge { blocks, tallies, .. } = self;
        let Some(Block { holders, falsely, .. }) = blocks.get_mut(&block) else { return };
        let Some(holder) = holders.get_mut(&node) else { return };
        (holder.had, holder.gave_up, holder.gave_up_writing) = (true, true, true);
        for open in [holder.fetch.take(), holder.upgrade.take()].into_iter().flatten() {
            holder.could_write |= open.writes;
            decide(tallies, falsely, open);
        }
    }
}

/// Nothing more will be accessed because of these misses.
fn decide(tallies: &mut FxHashMap<Account, Tally>, falsely: &mut BTreeMap<(Node, bool), u64>, open: Open) {
    let why = match open.otherwise {
        Why::Cold => Why::Cold,
        _ if open.is_true => Why::TrueSharing,
        otherwise => otherwise,
    };
    for (key, wanted) in open.misses {
        tallies.entry(key).or_default().misses[wanted as usize][why as usize] += 1;
        if why == Why::FalseSharing {
            *falsely.entry((key.node, key.counted)).or_default() += 1;
        }
    }
}
