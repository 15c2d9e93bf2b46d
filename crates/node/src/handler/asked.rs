//! Whether each access that handlers complete for a thread has been performed exactly once (`docs/semantics.md`, section 3).
//! The nodes that perform and those that complete may be different ones. A backend whose nodes have a time in common looks at
//! each step ([`AskedStep`]) in its order; where they have none, each node keeps sums of what it has done ([`Asked`]), and these
//! are compared when the run has ended.

use crate::error::NodeError;
use serde::{Deserialize, Serialize};
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_engine::{Deed, HandlerAccess, Node, Pending, Thread};
use trivium_guest::{AccessKind, ReadModifyWrite, RmwOp};
use trivium_protocol::Operation;
use trivium_protocol::source::Span;

/// A step of a handler by which an access is performed for a thread, or by which a thread's access is done that was performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedStep {
    /// Whether it is performed; else it is completed.
    pub performs: bool,
    /// What is asked for.
    pub request: Request,
    /// What it has given: the bytes that were there; 0 if it only stores.
    pub given: u64,
    /// Where the protocol's text says so.
    pub place: Span,
}

/// An access with which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose access it is.
    pub asker: (Node, Thread),
    /// Byte offset in shared memory.
    pub address: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What it does: a number of the kind, and operands, as far as there are any, without the bytes that do not fit.
    deed: [u64; 3],
}

impl Request {
    /// That of a thread.
    pub fn of(asker: (Node, Thread), pending: &Pending, kind: AccessKind) -> Request {
        let bytes = pending.size.into();
        let value = pending.value & kept(bytes);
        let deed = match (kind, pending.modifies) {
            (_, true) => modified(pending.operation, value, pending.expected),
            (AccessKind::Read, _) => LOADS,
            (AccessKind::Write, _) => [STORES, value, 0],
        };
        Request { asker, address: pending.address, bytes, deed }
    }
}

impl AskedStep {
    /// An access was performed, which has given this; nothing if it is no thread's.
    pub(crate) fn performed(access: &HandlerAccess, given: u64) -> Option<AskedStep> {
        let (node, Some(thread)) = access.asker? else { return None };
        let &HandlerAccess { address, bytes, place, .. } = access;
        let kept = kept(bytes);
        let (deed, given) = match access.deed {
            Deed::LoadTo(_) | Deed::StoreFrom(_) | Deed::StoreData(_) => return None,
            Deed::Load => (LOADS, given & kept),
            Deed::Store(value) => ([STORES, value & kept, 0], 0),
            Deed::Modify { operation, operand, expected } => {
                (modified(operation, operand & kept, expected), given & kept)
            }
        };
        let request = Request { asker: (node, thread), address, bytes, deed };
        Some(AskedStep { performs: true, request, given, place })
    }

    /// The access of a thread is done, which has given this.
    pub(crate) fn completed(request: Request, given: u64, place: Span) -> AskedStep {
        let given = if request.deed[0] == STORES { 0 } else { given & kept(request.bytes) };
        AskedStep { performs: false, request, given, place }
    }

    fn hash(&self) -> u64 {
        let Request { asker: (node, thread), address, bytes, deed: [kind, operand, expected] } = self.request;
        let asker = u64::from(node) << 8 | u64::from(thread);
        hash(&[asker, address, bytes, kind, operand, expected, self.given])
    }
}

/// The deed of a load.
const LOADS: [u64; 3] = [0; 3];
/// The kind of a store.
const STORES: u64 = 1;

/// What a node, or all nodes, have performed for threads, and completed of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// In the order of the threads.
    of: Vec<((Node, Thread), OfThread)>,
}

/// What has been performed for a thread, and completed of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct OfThread {
    performed: Tally,
    completed: Tally,
}

/// So many accesses, and the sum of their hashes, which does not depend on their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tally {
    count: u64,
    sum: u64,
    /// The number of the protocol whose text has the step of the latest of them, and where: file, first byte, one past the last.
    latest: Option<(usize, u16, u32, u32)>,
}

impl Tally {
    fn and(self, other: Tally) -> Tally {
        let (count, sum) = (self.count + other.count, self.sum.wrapping_add(other.sum));
        Tally { count, sum, latest: other.latest.or(self.latest) }
    }

    fn agrees(&self, other: &Tally) -> bool {
        (self.count, self.sum) == (other.count, other.sum)
    }
}

impl Asked {
    fn of(&mut self, asker: (Node, Thread)) -> &mut OfThread {
        let at = match self.of.binary_search_by_key(&asker, |of| of.0) {
            Ok(at) => at,
            Err(at) => {
                self.of.insert(at, (asker, OfThread::default()));
                at
            }
        };
        &mut self.of[at].1
    }

    /// A handler of a protocol, by its number in the run, has taken this step.
    pub fn add(&mut self, protocol: usize, step: &AskedStep) {
        let of = self.of(step.request.asker);
        let tally = if step.performs { &mut of.performed } else { &mut of.completed };
        tally.count += 1;
        tally.sum = tally.sum.wrapping_add(step.hash());
        tally.latest = Some((protocol, step.place.file, step.place.start, step.place.end));
    }

    /// Those of two nodes.
    pub fn and(mut self, other: Asked) -> Asked {
        for (asker, theirs) in other.of {
            let of = self.of(asker);
            let OfThread { performed, completed } = std::mem::take(of);
            *of = OfThread { performed: performed.and(theirs.performed), completed: completed.and(theirs.completed) };
        }
        self
    }

    /// Whether what all nodes have done agrees, once all programs have ended. `place` tells where a protocol's text has a step.
    ///
    /// # Errors
    /// An access was completed that had not been performed exactly once, or otherwise than it was asked for.
    pub fn check(&self, place: impl Fn(usize, Span) -> Option<String>) -> Result<(), NodeError> {
        let wrong = self.of.iter().find(|(_, of)| !of.performed.agrees(&of.completed));
        let Some(((node, thread), OfThread { performed, completed })) = wrong else { return Ok(()) };
        let what = if performed.count == completed.count {
            format!(
                "node {node}: of the {} accesses that handlers have performed for thread {thread}, one is not what was completed",
                performed.count
            )
        } else {
            let (completed, performed) = (completed.count, performed.count);
            format!(
                "node {node}: of the accesses that handlers perform for thread {thread}, {performed} were performed and {completed} completed"
            )
        };
        let mut error = NodeError::subject(Code::Promise, what).help(HELP);
        for (tally, what) in [(completed, "completed"), (performed, "performed")] {
            let Some((protocol, file, start, end)) = tally.latest else { continue };
            let Some(place) = place(protocol, Span { file, start, end }) else { continue };
            error = error.note(format!("the latest was {what} at {place}"));
            if error.diagnostic.places.is_empty() {
                error = error.at(place);
            }
        }
        Err(error)
    }
}

const HELP: &str = "the protocol breaks the rule of `perform .. as t` and `complete with`: `trivium check` and `trivium sim` find the step; in a run for real, nodes have no time in common, so that this is seen when all programs have ended";

/// The number of bytes of an access of at most 8.
pub(crate) fn size_of_access(access: &HandlerAccess) -> u8 {
    fit(access.bytes, "the size of an access that has a value: at most 8")
}

/// The bits of so many bytes.
fn kept(bytes: u64) -> u64 {
    u64::MAX.checked_shr(fit::<_, u32>(64 - 8 * bytes.min(8), "at most 64")).unwrap_or(0)
}

fn modified(operation: Operation, operand: u64, expected: u64) -> [u64; 3] {
    let expected = if operation == Operation::CompareExchange { expected } else { 0 };
    [2 + operation.number().cast_unsigned(), operand, expected]
}

/// A hash of the parts of an access: each goes through the finalizer of MurmurHash3.
fn hash(parts: &[u64]) -> u64 {
    parts.iter().fold(0, |hash: u64, part| {
        let mut mixed = hash.rotate_left(23) ^ part.wrapping_add(0x9e37_79b9_7f4a_7c15);
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            mixed = (mixed ^ mixed >> 33).wrapping_mul(factor);
        }
        mixed ^ mixed >> 33
    })
}

/// An access at which a program waits, as protocols see it.
pub fn pending(address: u64, size: u8, value: u64, atomic: Option<&ReadModifyWrite>) -> Pending {
    let plain = Pending { address, size, value, ..Pending::default() };
    let Some(atomic) = atomic else { return plain };
    let operation = match atomic.op {
        RmwOp::Add => Operation::Add,
        RmwOp::And => Operation::And,
        RmwOp::Or => Operation::Or,
        RmwOp::Xor => Operation::Xor,
        RmwOp::Swap => Operation::Exchange,
        RmwOp::CompareSwap => Operation::CompareExchange,
        RmwOp::Min => Operation::Min,
        RmwOp::Max => Operation::Max,
        RmwOp::AddFloat => Operation::AddFloat,
        RmwOp::MinFloat => Operation::MinFloat,
        RmwOp::MaxFloat => Operation::MaxFloat,
    };
    Pending { modifies: true, operation, value: atomic.operand, expected: atomic.expected, ..plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKER: (Node, Thread) = (3, 0);

    /// What a node does to its own memory is what its protocol does to that of another.
    #[test]
    fn a_read_modify_write_is_the_same_in_memory_and_in_a_handler() {
        use RmwOp::*;
        let ops = [Add, And, Or, Xor, Swap, CompareSwap, Min, Max, AddFloat, MinFloat, MaxFloat];
        let mut words = vec![0, 1, u64::MAX, 1 << 31, 1 << 63, (1 << 63) | (1 << 31), 0x0123_4567_89ab_cdef];
        for number in [1.5, -2.25, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            words.extend([number.to_bits(), u64::from((number as f32).to_bits())]);
        }
        for (op, size) in ops.into_iter().flat_map(|op| [(op, 4), (op, 8)]) {
            let mask = u64::MAX >> (64 - 8 * size);
            let words: Vec<u64> = words.iter().map(|word| word & mask).collect();
            for (old, operand) in words.iter().flat_map(|old| words.iter().map(move |operand| (*old, *operand))) {
                for expected in [old, 7] {
                    let atomic = ReadModifyWrite { addr: 64, size, op, operand, expected };
                    let asked = pending(64, size as u8, 0, Some(&atomic));
                    let by_handler = asked.operation.apply(size as u8, old, asked.value, asked.expected);
                    assert_eq!(atomic.apply(old), by_handler, "{op:?} of {old:#x} and {operand:#x}");
                }
            }
        }
    }

    fn performed(deed: Deed, bytes: u64, given: u64) -> Asked {
        let mut asked = Asked::default();
        let access =
            HandlerAccess { address: 64, bytes, deed, asker: Some((ASKER.0, Some(ASKER.1))), place: Span::default() };
        asked.add(0, &AskedStep::performed(&access, given).unwrap());
        asked
    }

    fn completed(kind: AccessKind, pending: Pending, given: u64) -> Asked {
        let mut asked = Asked::default();
        let request = Request::of(ASKER, &pending, kind);
        asked.add(0, &AskedStep::completed(request, given, Span { file: 0, start: 7, end: 9 }));
        asked
    }

    fn place(protocol: usize, span: Span) -> Option<String> {
        Some(format!("{protocol}:{}", span.start))
    }

    #[test]
    fn what_was_asked_for_and_performed_once_agrees() {
        let rmw = ReadModifyWrite { addr: 0, size: 4, op: RmwOp::CompareSwap, operand: 7, expected: 1 };
        let modify = Deed::Modify { operation: Operation::CompareExchange, operand: 7, expected: 1 };
        let all = [
            performed(Deed::Load, 2, 0x1234).and(completed(AccessKind::Read, pending(64, 2, 0, None), 0xff_1234)),
            performed(Deed::Store(5), 1, 0).and(completed(AccessKind::Write, pending(64, 1, 0x105, None), 9)),
            performed(modify, 4, 1).and(completed(AccessKind::Write, pending(64, 4, 7, Some(&rmw)), 1)),
        ];
        for asked in all {
            assert!(asked.check(place).is_ok(), "{asked:?}");
        }
    }

    #[test]
    fn what_differs_is_told() {
        let read = |value| completed(AccessKind::Read, pending(64, 8, 0, None), value);
        let twice = performed(Deed::Load, 8, 1).and(performed(Deed::Load, 8, 1)).and(read(1));
        let error = twice.check(place).unwrap_err();
        assert_eq!(
            error.diagnostic.message,
            "node 3: of the accesses that handlers perform for thread 0, 2 were performed and 1 completed"
        );
        assert_eq!(error.diagnostic.place(), Some(&"0:7".into()));
        let other = performed(Deed::Load, 8, 1).and(read(2));
        let what = "node 3: of the 1 accesses that handlers have performed for thread 0, one is not what was completed";
        assert_eq!(other.check(place).unwrap_err().diagnostic.message, what);
        assert!(read(0).check(place).is_err());
    }
}
