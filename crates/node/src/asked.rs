//! Whether each access that handlers complete for a thread has been performed exactly once (`docs/semantics.md`, section 3).
//! The nodes that perform and those that complete may be different ones, so each keeps a sum of what it has done, and the sums
//! are compared when the run has ended.

use crate::error::NodeError;
use serde::{Deserialize, Serialize};
use trivium_engine::number::fit;
use trivium_engine::{Deed, HandlerAccess, Node, Pending, Thread};
use trivium_guest::{AccessKind, ReadModifyWrite, RmwOp};
use trivium_protocol::Operation;

/// What a node, or all nodes, have performed for threads, and completed of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    performed: Tally,
    completed: Tally,
}

/// So many accesses, and the sum of their hashes, which does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Tally {
    count: u64,
    sum: u64,
}

impl Tally {
    fn add(&mut self, hash: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash);
    }
}

impl Asked {
    /// An access was performed, which has given this.
    pub(crate) fn performed(&mut self, access: &HandlerAccess, given: u64) {
        let Some((node, Some(thread))) = access.asker else { return };
        let kept = kept(access.bytes);
        let parts = match access.deed {
            Deed::LoadTo(_) | Deed::StoreFrom(_) | Deed::StoreData(_) => return,
            Deed::Load => [0, given & kept, 0, 0],
            Deed::Store(value) => [1, value & kept, 0, 0],
            Deed::Modify { operation, operand, expected } => {
                modified(operation, operand & kept, expected, given & kept)
            }
        };
        self.performed.add(hash((node, thread), access.address, access.bytes, parts));
    }

    /// The access of a thread of this node is done, which has given this.
    pub(crate) fn completed(&mut self, asker: (Node, Thread), (pending, kind): (&Pending, AccessKind), given: u64) {
        let kept = kept(pending.size.into());
        let parts = match (kind, pending.modifies) {
            (_, true) => modified(pending.operation, pending.value & kept, pending.expected, given & kept),
            (AccessKind::Read, _) => [0, given & kept, 0, 0],
            (AccessKind::Write, _) => [1, pending.value & kept, 0, 0],
        };
        self.completed.add(hash(asker, pending.address, pending.size.into(), parts));
    }

    /// Those of two nodes.
    pub fn and(self, other: Asked) -> Asked {
        let both = |a: Tally, b: Tally| Tally { count: a.count + b.count, sum: a.sum.wrapping_add(b.sum) };
        Asked { performed: both(self.performed, other.performed), completed: both(self.completed, other.completed) }
    }

    /// Whether what all nodes have done agrees, once all programs have ended.
    ///
    /// # Errors
    /// An access was completed that had not been performed exactly once, or otherwise than it was asked for.
    pub fn check(&self) -> Result<(), NodeError> {
        let Asked { performed, completed } = self;
        if performed == completed {
            return Ok(());
        }
        let what = if performed.count == completed.count {
            format!(
                "an access of the {} that were performed for threads is not the one that was completed",
                performed.count
            )
        } else {
            let (completed, performed) = (completed.count, performed.count);
            format!(
                "of the accesses that handlers perform for threads, {performed} were performed and {completed} completed"
            )
        };
        Err(NodeError::subject(what)
            .help("the protocol breaks the rule of `perform .. as t` and `complete with`: `trivium check` finds where"))
    }
}

/// The number of bytes of an access of at most 8.
pub(crate) fn size_of_access(access: &HandlerAccess) -> u8 {
    fit(access.bytes, "the size of an access that has a value: at most 8")
}

/// The bits of so many bytes.
fn kept(bytes: u64) -> u64 {
    u64::MAX.checked_shr(fit::<_, u32>(64 - 8 * bytes.min(8), "at most 64")).unwrap_or(0)
}

fn modified(operation: Operation, operand: u64, expected: u64, given: u64) -> [u64; 4] {
    let expected = if operation == Operation::CompareExchange { expected } else { 0 };
    [2 + operation.number().cast_unsigned(), operand, expected, given]
}

/// A hash of an access: each part goes through the finalizer of MurmurHash3.
fn hash((node, thread): (Node, Thread), address: u64, bytes: u64, parts: [u64; 4]) -> u64 {
    let asker = u64::from(node) << 8 | u64::from(thread);
    let all = [asker, address, bytes].into_iter().chain(parts);
    all.fold(0, |hash: u64, part| {
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
    };
    Pending { modifies: true, operation, value: atomic.operand, expected: atomic.expected, ..plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKER: (Node, Thread) = (3, 0);

    fn performed(deed: Deed, bytes: u64, given: u64) -> Asked {
        let mut asked = Asked::default();
        asked.performed(&HandlerAccess { address: 64, bytes, deed, asker: Some((ASKER.0, Some(ASKER.1))) }, given);
        asked
    }

    fn completed(kind: AccessKind, pending: Pending, given: u64) -> Asked {
        let mut asked = Asked::default();
        asked.completed(ASKER, (&pending, kind), given);
        asked
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
            assert!(asked.check().is_ok(), "{asked:?}");
        }
    }

    #[test]
    fn what_differs_is_told() {
        let read = |value| completed(AccessKind::Read, pending(64, 8, 0, None), value);
        let twice = performed(Deed::Load, 8, 1).and(performed(Deed::Load, 8, 1)).and(read(1));
        assert_eq!(
            twice.check().unwrap_err().what,
            "of the accesses that handlers perform for threads, 2 were performed and 1 completed"
        );
        let other = performed(Deed::Load, 8, 1).and(read(2));
        let what = "an access of the 1 that were performed for threads is not the one that was completed";
        assert_eq!(other.check().unwrap_err().what, what);
        assert!(read(0).check().is_err());
    }
}
