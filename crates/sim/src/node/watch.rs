//! The golden checks: at most one node may write a block, and then no other may read it; and who gets access to a block has what was stored
//! there last.

use rustc_hash::FxHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::Hasher;
use std::num::NonZeroU64;
use std::ops::Range;
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_engine::number::{fit, low_u16};
use trivium_guest::SHARED_BASE;
use trivium_node::{About, NodeError};
use trivium_protocol::Access;

/// What breaks a rule, with the error.
pub type Caught<T> = Box<(T, NodeError)>;

/// A tag changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagChange {
    /// At which cycle.
    pub time: u64,
    /// On which node.
    pub node: Node,
    /// Of which block.
    pub block: u32,
    /// To what.
    pub to: Access,
    /// The block's home.
    pub home: Node,
    /// Under which protocol.
    pub protocol: u16,
    /// What the node's copy of the block is then, where that is looked at.
    pub copy: Option<CopyDigest>,
}

/// What a copy of a block is, in few bits: two copies with other ones differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyDigest(NonZeroU64);

impl CopyDigest {
    /// Bits of it; the rest of a word tells which node stored it.
    const BITS: u32 = 48;

    /// That of a copy with these contents.
    pub fn of(contents: &[u8]) -> CopyDigest {
        let mut hasher = FxHasher::default();
        hasher.write(contents);
        CopyDigest(NonZeroU64::MIN | hasher.finish() & ((1 << CopyDigest::BITS) - 1))
    }
}

/// So many blocks have their holders side by side.
const PAGE: usize = 256;

/// Of each node one bit, in as many words as the nodes need: that of who can read. Then one word for who can write, and one for what was stored
/// last: the copy of the node that could write before, with its number; 0 if that is not known.
/// A table of words is several times smaller than one of sets, and each tag change of all nodes looks into it.
struct Holders<'a>(&'a mut [u64]);

/// In the word for who can write: nobody has touched the block.
const UNTOUCHED: u64 = 0;
/// Nobody can.
const NOBODY: u64 = 1;
/// The number of node 0; others follow.
const FIRST: u64 = 2;

/// The tags of all nodes for the blocks of protocols that promise a single writer.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Bytes of a block.
    block: u64,
    /// Words for each block.
    each: usize,
    /// The holders of blocks, where any has been touched.
    pages: Vec<Box<[u64]>>,
    /// When all copies of these blocks go at once, and have not yet.
    bound: VecDeque<(u64, Range<u32>)>,
}

fn words_of_block(nodes: u32) -> usize {
    nodes.div_ceil(u64::BITS) as usize + 2
}

/// Bytes that are kept for a block that any of so many nodes has touched.
pub(crate) fn bytes_for_block(nodes: u32) -> u64 {
    (words_of_block(nodes) * size_of::<u64>()) as u64
}

impl Watch {
    /// Nobody has touched anything; there are so many nodes, and blocks of so many bytes.
    pub fn new(nodes: u32, block: u64) -> Watch {
        Watch { block, each: words_of_block(nodes), pages: Vec::new(), bound: VecDeque::new() }
    }

    fn holders(&mut self, block: u32) -> Holders<'_> {
        let (page, at) = (block as usize / PAGE, block as usize % PAGE);
        if page >= self.pages.len() {
            self.pages.resize(page + 1, Box::default());
        }
        let page = &mut self.pages[page];
        if page.is_empty() {
            *page = vec![UNTOUCHED; PAGE * self.each].into();
        }
        Holders(&mut page[at * self.each..(at + 1) * self.each])
    }

    /// At a cycle all copies of these blocks go, and each is as no node has touched it: their region is bound anew.
    pub fn forget(&mut self, time: u64, blocks: Range<u32>) {
        self.bound.push_back((time, blocks));
    }

    /// Applies a change; all of a block's must come in their order. `first` gives the access that a home has before any
    /// change.
    ///
    /// # Errors
    /// Two nodes have a block of which one may write it, or a node gets access to a copy that is not what was stored last.
    pub fn apply(&mut self, change: &TagChange, first: impl FnOnce() -> Access) -> Result<(), NodeError> {
        while let Some((_, blocks)) = self.bound.pop_front_if(|bound| bound.0 <= change.time) {
            for block in blocks {
                self.holders(block).0.fill(UNTOUCHED);
            }
        }
        let mut holders = self.holders(change.block);
        if holders.are_unknown() {
            holders.set(change.home, first());
        }
        let stored = change.copy.and_then(|copy| holders.compare(change.node, change.to, copy));
        let Some((writer, other)) = holders.set(change.node, change.to) else {
            return stored.map_or(Ok(()), |by| Err(self.is_old(change, by)));
        };
        let what = format!(
            "at cycle {} node {writer} may write {}, and node {other} may access it too",
            change.time,
            self.told(change)
        );
        Err(NodeError::subject(Code::Promise, what)
            .help("the protocol promises `single_writer` (single-writer/multiple-reader): `trivium check` finds the shortest counterexample"))
    }

    /// The block of a change, and where it lies.
    fn told(&self, change: &TagChange) -> String {
        format!("block {} (address {:#x})", change.block, u64::from(SHARED_BASE) + u64::from(change.block) * self.block)
    }

    #[cold]
    fn is_old(&self, change: &TagChange, by: Node) -> NodeError {
        let gets = if change.to == Access::Write { "write" } else { "read" };
        NodeError::subject(Code::Promise, format!(
            "at cycle {} node {} gets {gets} access to {}, and its copy is not what node {by} had stored when it gave its access up",
            change.time,
            change.node,
            self.told(change)
        ))
        .help("the protocol promises `last_write`: the data must be there before the access (`install`), and be those of the last writer; `trivium check` finds the shortest counterexample")
    }
}

impl Holders<'_> {
    fn split(&mut self) -> (&mut [u64], &mut u64, &mut u64) {
        let [readers @ .., writer, stored] = &mut *self.0 else { unreachable!("at least a word for each of them") };
        (readers, writer, stored)
    }

    /// A node's access is about to change, and this is its copy. Gives the node that stored last, if the copy is another than it had.
    fn compare(&mut self, node: Node, access: Access, copy: CopyDigest) -> Option<Node> {
        let (_, writer, stored) = self.split();
        if *writer == FIRST + u64::from(node) {
            if access != Access::Write {
                *stored = copy.0.get() | u64::from(node) << CopyDigest::BITS;
            }
            return None;
        }
        let differs =
            access != Access::None && *stored != 0 && (*stored ^ copy.0.get()) << (u64::BITS - CopyDigest::BITS) != 0;
        differs.then(|| low_u16(*stored >> CopyDigest::BITS))
    }

    fn are_unknown(&mut self) -> bool {
        *self.split().1 == UNTOUCHED
    }

    /// A node's access changes. If one can write and another can access the block too, gives both.
    fn set(&mut self, node: Node, access: Access) -> Option<(Node, Node)> {
        let (readers, writer, _) = self.split();
        let (word, bit) = (usize::from(node) / 64, 1 << (node % 64));
        readers[word] &= !bit;
        if *writer == FIRST + u64::from(node) || *writer == UNTOUCHED {
            *writer = NOBODY;
        }
        match access {
            Access::None => {}
            Access::Read => readers[word] |= bit,
            Access::Write if *writer == NOBODY => *writer = FIRST + u64::from(node),
            Access::Write => {
                let other = fit(*writer - FIRST, "the number of a node");
                return Some((node.min(other), node.max(other)));
            }
        }
        let writer = fit(writer.checked_sub(FIRST)?, "the number of a node");
        let at = readers.iter().position(|&word| word != 0)?;
        Some((writer, fit(64 * at + readers[at].trailing_zeros() as usize, "the number of a node")))
    }
}

/// A node's first store to a block between two barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstStore {
    /// Barriers that the node had passed.
    pub phase: u64,
    /// Of which block.
    pub block: u32,
    /// On which node.
    pub node: Node,
    /// At which cycle.
    pub time: u64,
}

/// Who has stored to blocks of protocols that assume one writer per phase.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    of: BTreeMap<(u64, u32), FirstStore>,
}

impl Writers {
    /// Looks at first stores; nobody will store any more in a phase before `oldest`.
    ///
    /// # Errors
    /// Two nodes have stored to a block in one phase; with the later store.
    pub fn apply(&mut self, stores: &[FirstStore], oldest: u64) -> Result<(), Caught<FirstStore>> {
        for store in stores {
            let first = *self.of.entry((store.phase, store.block)).or_insert(*store);
            if first.node != store.node {
                let (one, other) = (first.node.min(store.node), first.node.max(store.node));
                let later = if (first.time, first.node) > (store.time, store.node) { first } else { *store };
                let what = format!(
                    "nodes {one} and {other} both write block {} between two barriers (after {} of them)",
                    store.block, store.phase
                );
                let about = Some(Box::new(About::Race(store.phase, store.block)));
                let help = "the protocol assumes `one_writer_per_phase`: change the program, or use another protocol for this memory";
                return Err(Box::new((
                    later,
                    NodeError { about, ..NodeError::subject(Code::Assumption, what) }.help(help),
                )));
            }
        }
        self.of = self.of.split_off(&(oldest, 0));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_writer_is_seen() {
        let mut watch = Watch::new(70, 32);
        let change = |time, node, to| TagChange { time, node, block: 3, to, home: 0, protocol: 0, copy: None };
        let home = || Access::Write;
        watch.apply(&change(5, 0, Access::Read), home).unwrap();
        watch.apply(&change(9, 1, Access::Read), home).unwrap();
        watch.apply(&change(10, 0, Access::None), home).unwrap();
        watch.apply(&change(11, 1, Access::Write), home).unwrap();
        let error = watch.apply(&change(12, 2, Access::Read), home).unwrap_err();
        assert!(
            error.diagnostic.message.contains("node 1 may write block 3 (address 0x40000060), and node 2"),
            "{error}"
        );
        watch.forget(20, 2..4);
        watch.apply(&change(20, 2, Access::None), home).unwrap();
        assert!(watch.apply(&change(21, 2, Access::Read), home).is_err(), "the home may write it again");
        watch.forget(30, 2..4);
        watch.apply(&change(30, 0, Access::None), home).unwrap();
        watch.apply(&change(31, 69, Access::Read), home).unwrap();
        let error = watch.apply(&change(32, 65, Access::Write), home).unwrap_err();
        assert!(
            error.diagnostic.message.contains("node 65 may write block 3 (address 0x40000060), and node 69"),
            "{error}"
        );
        watch.forget(40, 2..4);
        watch.apply(&change(40, 0, Access::Write), home).unwrap();
        let error = watch.apply(&change(41, 69, Access::Write), home).unwrap_err();
        assert!(
            error.diagnostic.message.contains("node 0 may write block 3 (address 0x40000060), and node 69"),
            "{error}"
        );
    }

    /// The copy with which a node's write access ends is what others must have.
    #[test]
    fn an_old_copy_is_seen() {
        let mut watch = Watch::new(300, 64);
        let change = |time, node, to, contents: &[u8]| {
            let copy = Some(CopyDigest::of(contents));
            TagChange { time, node, block: 3, to, home: 0, protocol: 0, copy }
        };
        let home = || Access::Write;
        watch.apply(&change(5, 0, Access::Read, b"first"), home).unwrap();
        watch.apply(&change(9, 299, Access::Read, b"first"), home).unwrap();
        let error = watch.clone().apply(&change(11, 2, Access::Read, b"nothing"), home).unwrap_err();
        assert!(
            error.diagnostic.message.contains("cycle 11 node 2 gets read access to block 3 (address 0x400000c0)"),
            "{error}"
        );
        assert!(error.diagnostic.message.contains("not what node 0 had stored"), "{error}");
        watch.apply(&change(12, 0, Access::None, b"first"), home).unwrap();
        watch.apply(&change(13, 299, Access::Write, b"first"), home).unwrap();
        watch.apply(&change(20, 299, Access::None, b"second"), home).unwrap();
        let error = watch.clone().apply(&change(21, 0, Access::Write, b"first"), home).unwrap_err();
        assert!(
            error.diagnostic.message.contains("node 0 gets write access")
                && error.diagnostic.message.contains("not what node 299"),
            "{error}"
        );
        watch.apply(&change(21, 0, Access::Write, b"second"), home).unwrap();
        watch.forget(30, 2..4);
        watch.apply(&change(31, 0, Access::Read, b"third"), home).unwrap();
        watch.apply(&change(32, 1, Access::Read, b"third"), home).unwrap();
    }
}
