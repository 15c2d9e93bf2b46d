//! A few accesses in place of a program: for measurements of single misses.

use crate::counters::Spent;
use crate::memory::Memory;
use crate::node::NodeState;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use trivium_guest::{Access, AccessKind, Outcome, Processor, SHARED_BASE, Step};

/// An access of a script.
#[derive(Clone, Copy, Debug)]
pub struct Planned {
    /// The cycle before which it does not begin.
    pub not_before: u64,
    /// A load or a store.
    pub kind: AccessKind,
    /// Of the 8-byte word at this offset of shared memory.
    pub offset: u64,
    /// What a store writes.
    pub value: u64,
}

/// What the loads of a script have seen: when each was complete, and its value.
pub type Loads = Rc<RefCell<Vec<(u64, u64)>>>;

/// Accesses, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Script {
    accesses: VecDeque<Planned>,
    /// It does not end before this cycle.
    until: u64,
    loads: Loads,
}

impl Script {
    /// A load or store of the 8-byte word at a byte offset of shared memory.
    pub fn access(kind: AccessKind, offset: u64, value: u64) -> Script {
        Script::timed(vec![Planned { not_before: 0, kind, offset, value }], 0)
    }

    /// Accesses that wait for their time, and an end that does.
    pub fn timed(accesses: Vec<Planned>, until: u64) -> Script {
        Script { accesses: accesses.into(), until, loads: Loads::default() }
    }

    /// Nothing at all.
    pub fn idle() -> Script {
        Script::default()
    }

    /// What its loads see, to be looked at later.
    pub fn loads(&self) -> Loads {
        self.loads.clone()
    }

    /// Goes on until an access has to wait, or all are done.
    pub fn resume(&mut self, node: &RefCell<NodeState>) -> Outcome {
        while let Some(&Planned { not_before, kind, offset, value }) = self.accesses.front() {
            let mut node = node.borrow_mut();
            if sleeps(&mut node, not_before) {
                return Outcome::Suspended;
            }
            let instructions = node.compute.instructions;
            let access = Access { addr: SHARED_BASE + offset as u32, size: 8, kind, value };
            let step = match node.access(instructions, access) {
                Ok(Step::Wait) => return Outcome::Suspended,
                Ok(step) => step,
                Err(fault) => return Outcome::Trapped { message: fault.message, function: None },
            };
            let mut word = [0; 8];
            let done = match (kind, step) {
                (AccessKind::Write, Step::Go) => node.memory.write(offset, &value.to_le_bytes()),
                (AccessKind::Read, Step::Complete(bits)) => {
                    word = bits.to_le_bytes();
                    Ok(())
                }
                (AccessKind::Read, _) => node.memory.read(offset, &mut word),
                _ => Ok(()),
            };
            if let Err(message) = done {
                return Outcome::Trapped { message, function: None };
            }
            if kind == AccessKind::Read {
                self.loads.borrow_mut().push((node.compute.clock(), u64::from_le_bytes(word)));
            }
            self.accesses.pop_front();
        }
        if sleeps(&mut node.borrow_mut(), self.until) {
            return Outcome::Suspended;
        }
        Outcome::Finished { exit_code: 0 }
    }
}

/// Lets the processor wait until a cycle, if that is still to come; other events of the node then go first.
fn sleeps(node: &mut NodeState, until: u64) -> bool {
    let left = until.saturating_sub(node.compute.clock());
    if left > 0 {
        let now = node.compute.clock();
        node.note_stall(now, Spent::Sync, "", &[(crate::timeline::Reason::Turn, "", now + left)]);
        node.stall(left, Spent::Sync);
    }
    left > 0
}

/// Memory for scripts.
pub fn plain_memory(bytes: u64) -> Memory {
    Memory::Plain(vec![0; bytes as usize])
}
