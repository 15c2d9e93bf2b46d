//! Which loops go over memory in strides, so that one look at the tags can stand for the accesses of several rounds.
//!
//! A loop in which nothing but accesses can ask the host is gone through once, from its head to the branches back to it. What its locals
//! and operands are is followed as a sum of locals as they were at the head, with constant factors. A local that each way back leaves with the
//! same constant added has a stride, and so has an address that is a sum of such locals.
//!
//! For example `do { *b = a[0] + a[1]; a++; b++; } while (a < end);` of doubles:
//!
//! ```text
//! (loop $head
//!   (f64.store (local.get $b) (f64.add (f64.load (local.get $a)) (f64.load offset=8 (local.get $a))))
//!   (local.set $a (i32.add (local.get $a) (i32.const 8)))
//!   (local.set $b (i32.add (local.get $b) (i32.const 8)))
//!   (br_if $head (i32.lt_u (local.get $a) (local.get $end))))
//! ```
//!
//! 1. *Walk.* At the branch back `$a` is what it was at the head, plus 8, and so is `$b`: both have the stride 8. The addresses are the sums a, a + 8 and b.
//! 2. *Clusters.* Accesses with the same locals in their sums are near to each other or not: a and a + 8 are one cluster of 16 bytes that are read, b one of 8 that are
//!    written.
//! 3. *Rounds.* A look is at 256 bytes at most. The first cluster has 16 bytes in the first round and 8 more in each other: 1 + (256 - 16) / 8 = 31 rounds;
//!    the second would be good for 32. The least holds for all.
//! 4. *Streams.* In 31 rounds the first touches 256 bytes from a on, the second 248 from b on. May the one be read, and the other written, then 31
//!    rounds happen without a look.
//!
//! [`super::ahead`] makes of it, where `look` stands for the comparison with tags before each access as loops have it otherwise:
//!
//! ```text
//! (loop $outer
//!   (if countdown <= until (then
//!     sure = all of a..a+256 may be read, all of b..b+248 written
//!     until = countdown - 31 * the work of a round))
//!   (if sure
//!     (then (block $leave (loop $inner
//!       (br_if $leave countdown <= until)
//!       (f64.store (local.get $b) (f64.add (f64.load (local.get $a)) (f64.load offset=8 (local.get $a))))
//!       .. (br_if $inner ..) the loop ends here if it does not go on))
//!       sure = false (br $outer))
//!     (else look (f64.load ..) look (f64.load ..) look (f64.store ..) .. (br_if $outer ..))))
//! ```
//!
//! An access without a stride asks for itself. Before the first effect of a round it may give the round up, which then begins again as in any loop
//! ([`Covered::GivesUp`]); after that it may ask the host, who may take any block away, so that what follows in the round looks whether it did
//! ([`Covered::UnlessAsked`]).

use std::collections::{BTreeMap, BTreeSet};

use wasm_encoder::ValType;
use wasmparser::{BlockType, Operator};

use super::classes::class;
use super::{access, code};
use crate::tags::{FIRST_PUBLISHED, GRANULE};
use crate::weights::OperatorWeights;

/// One look is at so many bytes of memory at most, for each stream.
const MOST_BYTES: u32 = 256;
/// A look that is good for fewer rounds is not worth its price.
const FEWEST_ROUNDS: u32 = 4;
/// One that is good for more is at bytes that the loop may never come to.
const MOST_ROUNDS: u32 = 64;
/// So many streams are looked at. More would be a long look for what is hardly an inner loop.
const MOST_STREAMS: usize = 6;
/// More locals in a sum are not followed.
const MOST_TERMS: usize = 3;

/// A loop whose accesses are looked at some rounds ahead.
pub(super) struct Ahead {
    /// The index of its head, and that of its end.
    pub(super) head: usize,
    pub(super) end: usize,
    pub(super) streams: Vec<Stream>,
    /// A look is good for so many rounds.
    pub(super) rounds: u64,
    /// A round is so much work at least.
    pub(super) least_work: u64,
    /// What becomes of accesses in a round that was looked at.
    pub(super) covered: Vec<(usize, Covered)>,
    /// The locals that an access may find changed that gives the round up.
    pub(super) changed: Vec<u32>,
}

impl Ahead {
    /// Whether a round can be given up.
    pub(super) fn gives_up(&self) -> bool {
        self.covered.iter().any(|(_, covered)| *covered == Covered::GivesUp)
    }
}

/// What an access does in a round that was looked at. One without this is as it is elsewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Covered {
    /// It happens without a look of its own.
    Always,
    /// So it does unless the host was asked in this round.
    UnlessAsked,
    /// It looks for itself, and gives the round up if it would have to ask: nothing has happened in it that cannot be taken back.
    GivesUp,
}

/// What accesses near to each other touch in the rounds that are looked at.
pub(super) struct Stream {
    /// Where it begins: the sum of locals at the head with these factors, and a constant.
    pub(super) terms: Vec<(u32, u32)>,
    pub(super) add: u32,
    pub(super) bytes: u32,
    pub(super) is_read: bool,
    pub(super) is_written: bool,
    /// Its accesses are aligned if it begins at a multiple of this: 1, 2 or 4.
    pub(super) alignment: u32,
}

/// A sum of locals as they were at the head, with factors, and a constant.
#[derive(Clone, PartialEq)]
struct Sum {
    /// In the order of the locals; no factor is 0.
    terms: Vec<(u32, u32)>,
    add: u32,
}

impl Sum {
    fn constant(add: u32) -> Sum {
        Sum { terms: Vec::new(), add }
    }

    fn local(local: u32) -> Sum {
        Sum { terms: vec![(local, 1)], add: 0 }
    }

    fn times(&self, factor: u32) -> Sum {
        let terms = self.terms.iter().map(|(local, of)| (*local, of.wrapping_mul(factor)));
        Sum { terms: terms.filter(|(_, of)| *of != 0).collect(), add: self.add.wrapping_mul(factor) }
    }

    fn plus(&self, other: &Sum) -> Option<Sum> {
        let mut factors: BTreeMap<u32, u32> = self.terms.iter().copied().collect();
        for (local, factor) in &other.terms {
            let of = factors.entry(*local).or_default();
            *of = of.wrapping_add(*factor);
        }
        let terms: Vec<_> = factors.into_iter().filter(|(_, of)| *of != 0).collect();
        (terms.len() <= MOST_TERMS).then(|| Sum { terms, add: self.add.wrapping_add(other.add) })
    }

    fn as_constant(&self) -> Option<u32> {
        self.terms.is_empty().then_some(self.add)
    }
}

/// What is known where control is: of each value, which sum it is, if any.
#[derive(Clone)]
struct Known {
    /// Of the locals that have been written since the head.
    locals: BTreeMap<u32, Option<Sum>>,
    stack: Vec<Option<Sum>>,
    /// The least work since the head.
    work: u64,
}

impl Known {
    fn local(&self, local: u32) -> Option<Sum> {
        self.locals.get(&local).cloned().unwrap_or_else(|| Some(Sum::local(local)))
    }

    /// Control comes from there, too.
    fn join(&mut self, other: &Known) {
        for local in other.locals.keys() {
            self.locals.entry(*local).or_insert_with(|| Some(Sum::local(*local)));
        }
        for (local, value) in &mut self.locals {
            if *value != other.local(*local) {
                *value = None;
            }
        }
        self.work = self.work.min(other.work);
    }
}

/// An open block inside the loop.
struct OpenBlock {
    /// Values beneath it, and those that it gives.
    height: usize,
    results: usize,
    /// What is known where it ends, if control comes there.
    after: Option<Known>,
    /// What is known where the `else` of an `if` begins.
    otherwise: Option<Known>,
}

/// A load or store of the loop whose address is a sum.
struct Access {
    index: usize,
    terms: Vec<(u32, u32)>,
    /// The static offset included.
    add: i32,
    size: u32,
    is_store: bool,
}

/// Goes through a loop.
struct Walk<'a> {
    weights: &'a OperatorWeights,
    locals: &'a [ValType],
    blocks: Vec<OpenBlock>,
    /// Nothing where control does not come.
    known: Option<Known>,
    accesses: Vec<Access>,
    /// By how much each way back changes the locals that it writes, if that is a constant.
    back: Vec<BTreeMap<u32, Option<u32>>>,
    least_work: u64,
    /// A branch that may leave the loop takes values along.
    leaves_with_values: bool,
}

impl Walk<'_> {
    fn branch(&mut self, depth: u32) {
        let Some(known) = &self.known else { return };
        let depth = depth as usize;
        let open = self.blocks.len();
        if depth < open {
            self.blocks[open - 1 - depth].arrive(known.clone());
        } else if depth == open {
            let change = |(local, value): (&u32, &Option<Sum>)| {
                let by = value.as_ref().filter(|sum| sum.terms == [(*local, 1)]).map(|sum| sum.add);
                (*local, by)
            };
            self.back.push(known.locals.iter().map(change).collect());
            self.least_work = self.least_work.min(known.work);
        }
    }

    fn pop(&mut self) -> Option<Sum> {
        self.known.as_mut()?.stack.pop().flatten()
    }

    fn open(&mut self, blockty: BlockType, otherwise: Option<Known>) {
        let height = self.known.as_ref().map_or(0, |known| known.stack.len());
        let results = usize::from(!matches!(blockty, BlockType::Empty));
        self.blocks.push(OpenBlock { height, results, after: None, otherwise });
    }

    fn step(&mut self, index: usize, operator: &Operator<'_>, arity: Option<(u32, u32)>) {
        if let (Some(known), Some(class)) = (&mut self.known, class(operator)) {
            known.work += u64::from(self.weights.of(class));
        }
        match operator {
            Operator::Block { blockty } => self.open(*blockty, None),
            Operator::If { blockty } => {
                self.pop();
                let otherwise = self.known.clone();
                self.open(*blockty, otherwise);
            }
            Operator::Else => {
                let Some(block) = self.blocks.last_mut() else { return };
                if let Some(known) = self.known.take() {
                    block.arrive(known);
                }
                self.known = block.otherwise.take();
            }
            Operator::End => {
                let Some(mut block) = self.blocks.pop() else { return };
                for known in [self.known.take(), block.otherwise.take()].into_iter().flatten() {
                    block.arrive(known);
                }
                self.known = block.after;
            }
            Operator::Br { relative_depth } => {
                self.branch(*relative_depth);
                self.known = None;
            }
            Operator::BrIf { relative_depth } => {
                self.pop();
                self.branch(*relative_depth);
                let leaves = *relative_depth as usize > self.blocks.len();
                self.leaves_with_values |= leaves && arity != Some((1, 0));
            }
            Operator::Return | Operator::Unreachable => self.known = None,
            _ => self.plain(index, operator, arity),
        }
    }

    fn plain(&mut self, index: usize, operator: &Operator<'_>, arity: Option<(u32, u32)>) {
        let Some(known) = &mut self.known else { return };
        let (takes, gives) = arity.unwrap_or_default();
        let taken: Vec<Option<Sum>> = (0..takes).map(|_| known.stack.pop().flatten()).collect();
        if let Some((access, memarg)) = access::find(operator) {
            let kind = &access::ACCESSES[access as usize];
            // A larger offset might have wrapped around.
            let sum = taken.last().cloned().flatten().filter(|_| memarg.offset < FIRST_PUBLISHED.into());
            self.accesses.extend(sum.map(|sum| Access {
                index,
                terms: sum.terms,
                add: sum.add.wrapping_add(memarg.offset as u32).cast_signed(),
                size: kind.size,
                is_store: kind.store,
            }));
        }
        let operand = |depth: usize| taken.get(depth).and_then(Option::as_ref);
        let made = match operator {
            Operator::LocalGet { local_index } if self.locals[*local_index as usize] == ValType::I32 => {
                known.local(*local_index)
            }
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                known.locals.insert(*local_index, operand(0).cloned());
                operand(0).cloned()
            }
            Operator::I32Const { value } => Some(Sum::constant(value.cast_unsigned())),
            Operator::I32Add => operand(0).zip(operand(1)).and_then(|(a, b)| a.plus(b)),
            Operator::I32Sub => operand(0).zip(operand(1)).and_then(|(b, a)| a.plus(&b.times(u32::MAX))),
            Operator::I32Shl => {
                let shift = operand(0).and_then(Sum::as_constant);
                shift.zip(operand(1)).map(|(shift, sum)| sum.times(1 << (shift % u32::BITS)))
            }
            Operator::I32Mul => operand(0).zip(operand(1)).and_then(|(a, b)| {
                let constant = |a: &Sum, b: &Sum| a.as_constant().map(|factor| b.times(factor));
                constant(a, b).or(constant(b, a))
            }),
            _ => None,
        };
        known.stack.extend((0..gives).map(|_| made.clone()));
    }

    /// By how much a sum changes from one round to the next, if that is known.
    fn stride(&self, terms: &[(u32, u32)]) -> Option<i32> {
        let change = |local: u32| {
            let mut ways = self.back.iter().map(|back| back.get(&local).copied().unwrap_or(Some(0)));
            let first = ways.next()??;
            ways.all(|way| way == Some(first)).then_some(first)
        };
        let each = terms.iter().map(|(local, factor)| Some(change(*local)?.wrapping_mul(*factor)));
        each.sum_wrapping().map(u32::cast_signed)
    }
}

/// Sums that wrap around, if all are known.
trait SumWrapping {
    fn sum_wrapping(self) -> Option<u32>;
}

impl<I: Iterator<Item = Option<u32>>> SumWrapping for I {
    fn sum_wrapping(mut self) -> Option<u32> {
        self.try_fold(0u32, |sum, each| Some(sum.wrapping_add(each?)))
    }
}

impl OpenBlock {
    /// Control comes to its end.
    fn arrive(&mut self, mut known: Known) {
        known.stack.truncate(self.height);
        known.stack.resize(self.height + self.results, None);
        match &mut self.after {
            Some(after) => {
                after.join(&known);
                // What lies beneath the block is the same on all ways.
            }
            None => self.after = Some(known),
        }
    }
}

/// The loops of a function that are worth a look ahead, in the order of their heads. `arities` says how many values each operator takes
/// and gives.
pub(super) fn ahead(
    operators: &[Operator<'_>],
    arities: &[Option<(u32, u32)>],
    locals: &[ValType],
    weights: &OperatorWeights,
) -> Vec<Ahead> {
    let inner = inner_loops(operators);
    inner.into_iter().filter_map(|(head, end)| of_loop(operators, arities, locals, weights, (head, end))).collect()
}

/// Head and end of the loops that have no other within and in which only accesses can ask the host.
fn inner_loops(operators: &[Operator<'_>]) -> Vec<(usize, usize)> {
    let mut open: Vec<Option<usize>> = Vec::new();
    let mut found = Vec::new();
    // Where the latest head of a loop is, if nothing since makes the loop another kind.
    let mut candidate = None;
    for (index, operator) in operators.iter().enumerate() {
        match operator {
            Operator::Loop { blockty } => {
                candidate = matches!(blockty, BlockType::Empty).then_some(index);
                open.push(Some(index));
            }
            Operator::Block { blockty } | Operator::If { blockty } => {
                if matches!(blockty, BlockType::FuncType(_)) {
                    candidate = None;
                }
                open.push(None);
            }
            Operator::End => {
                if let Some(Some(head)) = open.pop() {
                    found.extend(candidate.filter(|candidate| *candidate == head).map(|head| (head, index)));
                    candidate = None;
                }
            }
            Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::BrTable { .. } => candidate = None,
            other if code::asks_host(other) => candidate = None,
            _ => {}
        }
    }
    found
}

fn of_loop(
    operators: &[Operator<'_>],
    arities: &[Option<(u32, u32)>],
    locals: &[ValType],
    weights: &OperatorWeights,
    (head, end): (usize, usize),
) -> Option<Ahead> {
    let known = Some(Known { locals: BTreeMap::new(), stack: Vec::new(), work: 0 });
    let (accesses, back) = (Vec::new(), Vec::new());
    let mut walk = Walk {
        weights,
        locals,
        blocks: Vec::new(),
        known,
        accesses,
        back,
        least_work: u64::MAX,
        leaves_with_values: false,
    };
    for index in head + 1..end {
        walk.step(index, &operators[index], arities[index]);
    }
    if walk.back.is_empty() || walk.least_work == 0 || walk.leaves_with_values {
        return None;
    }
    let mut clusters = clusters(&walk);
    clusters.sort_by_key(|cluster| std::cmp::Reverse(cluster.accesses.len()));
    clusters.truncate(MOST_STREAMS);
    let rounds = clusters.iter().filter_map(Cluster::rounds).min().unwrap_or(MOST_ROUNDS).min(MOST_ROUNDS);
    let mut streamed: Vec<usize> = clusters.iter().flat_map(|cluster| &cluster.accesses).copied().collect();
    streamed.sort_unstable();
    // Up to the first effect, that included if it is an access: nothing has happened when it looks.
    let effect = (head..end).find(|index| has_effect(&operators[*index])).unwrap_or(end);
    let mut covered = Vec::new();
    let (mut asked, mut gives_up) = (false, None);
    for index in (head..end).filter(|index| access::find(&operators[*index]).is_some()) {
        covered.push(match streamed.binary_search(&index).is_ok() {
            true if asked => (index, Covered::UnlessAsked),
            true => (index, Covered::Always),
            false if index <= effect => {
                gives_up = Some(index);
                (index, Covered::GivesUp)
            }
            false => {
                asked = true;
                continue;
            }
        });
    }
    let changed = changed(&operators[head..gives_up.unwrap_or(head)]);
    let streams: Vec<Stream> = clusters.into_iter().map(|cluster| cluster.stream(rounds)).collect();
    let (rounds, least_work) = (rounds.into(), walk.least_work);
    (!streams.is_empty()).then_some(Ahead { head, end, streams, rounds, least_work, covered, changed })
}

/// The locals that are written.
fn changed(operators: &[Operator<'_>]) -> Vec<u32> {
    let written = operators.iter().filter_map(|operator| match operator {
        Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => Some(*local_index),
        _ => None,
    });
    written.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether an operator changes something else than locals and operands.
fn has_effect(operator: &Operator<'_>) -> bool {
    use Operator as O;
    access::find(operator).is_some_and(|(access, _)| access::ACCESSES[access as usize].store)
        || matches!(
            operator,
            O::GlobalSet { .. }
                | O::TableSet { .. }
                | O::TableGrow { .. }
                | O::TableInit { .. }
                | O::TableCopy { .. }
                | O::TableFill { .. }
                | O::ElemDrop { .. }
                | O::DataDrop { .. }
        )
}

/// Accesses near to each other.
struct Cluster {
    terms: Vec<(u32, u32)>,
    stride: i32,
    /// The lowest byte of one round, and how many bytes lie from there to behind the highest.
    from: i32,
    bytes: u32,
    alignment: u32,
    accesses: Vec<usize>,
    is_read: bool,
    is_written: bool,
}

impl Cluster {
    fn of(access: &Access, stride: i32) -> Cluster {
        Cluster {
            terms: access.terms.clone(),
            stride,
            from: access.add,
            bytes: access.size,
            alignment: access.size.min(GRANULE),
            accesses: vec![access.index],
            is_read: !access.is_store,
            is_written: access.is_store,
        }
    }

    /// Takes an access in that does not begin before the others, if it is near enough and aligned where they are.
    fn takes(&mut self, access: &Access) -> bool {
        let alignment = access.size.min(GRANULE);
        let distance = access.add.wrapping_sub(self.from).cast_unsigned();
        // Addresses may wrap; distances are counted without that.
        let Some(end) = distance.checked_add(access.size) else { return false };
        let bytes = self.bytes.max(end);
        let is_near = access.terms == self.terms
            && u64::from(bytes) + u64::from(FEWEST_ROUNDS - 1) * u64::from(self.stride.unsigned_abs())
                <= MOST_BYTES.into();
        if !is_near || !distance.is_multiple_of(alignment) || !self.stride.unsigned_abs().is_multiple_of(alignment) {
            return false;
        }
        self.bytes = bytes;
        self.alignment = self.alignment.max(alignment);
        self.accesses.push(access.index);
        self.is_read |= !access.is_store;
        self.is_written |= access.is_store;
        true
    }

    /// For how many rounds a look is good; any number if it does not move.
    fn rounds(&self) -> Option<u32> {
        (MOST_BYTES - self.bytes).checked_div(self.stride.unsigned_abs()).map(|more| 1 + more)
    }

    /// What it touches in so many rounds.
    fn stream(self, rounds: u32) -> Stream {
        let moved = self.stride.wrapping_mul((rounds - 1).cast_signed());
        Stream {
            add: self.from.wrapping_add(moved.min(0)).cast_unsigned(),
            bytes: self.bytes + moved.unsigned_abs(),
            terms: self.terms,
            is_read: self.is_read,
            is_written: self.is_written,
            alignment: self.alignment,
        }
    }
}

/// The accesses whose addresses have a stride that is not too large, as far as they are aligned with others.
fn clusters(walk: &Walk<'_>) -> Vec<Cluster> {
    let mut strided: Vec<(&Access, i32)> = walk
        .accesses
        .iter()
        .filter_map(|access| Some((access, walk.stride(&access.terms)?)))
        .filter(|(access, stride)| {
            let alignment = access.size.min(GRANULE);
            let bytes = u64::from(access.size) + u64::from(FEWEST_ROUNDS - 1) * u64::from(stride.unsigned_abs());
            bytes <= MOST_BYTES.into() && stride.unsigned_abs().is_multiple_of(alignment)
        })
        .collect();
    strided.sort_by(|(a, _), (b, _)| (&a.terms, a.add, a.index).cmp(&(&b.terms, b.add, b.index)));
    let mut clusters: Vec<Cluster> = Vec::new();
    for (access, stride) in strided {
        if !clusters.last_mut().is_some_and(|cluster| cluster.takes(access)) {
            clusters.push(Cluster::of(access, stride));
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_away_is_not_near_because_its_end_wraps() {
        let access = |add| Access { index: 0, terms: vec![(0, 1)], add, size: 4, is_store: false };
        let mut cluster = Cluster::of(&access(0x40ff_fffc), 4);
        assert!(!cluster.takes(&access(0x7fff_fffc)));
        assert!(cluster.takes(&access(0x4100_0004)));
        assert_eq!((cluster.from, cluster.bytes), (0x40ff_fffc, 12));
        let mut last = Cluster::of(&access(i32::MAX - 7), 4);
        assert!(last.takes(&access(i32::MAX - 3)));
        assert_eq!(last.bytes, 8);
    }
}
