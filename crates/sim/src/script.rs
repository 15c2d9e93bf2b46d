//! A few accesses in place of a program: for measurements of single misses.

use crate::memory::Memory;
use crate::node::NodeState;
use std::cell::RefCell;
use std::collections::VecDeque;
use trivium_guest::{Access, AccessKind, Outcome, Processor, SHARED_BASE, Step};

/// Accesses, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Script {
    accesses: VecDeque<(AccessKind, u64, u64)>,
}

impl Script {
    /// A load or store of the 8-byte word at a byte offset of shared memory.
    pub fn access(kind: AccessKind, offset: u64, value: u64) -> Script {
        Script { accesses: VecDeque::from([(kind, offset, value)]) }
    }

    /// Nothing at all.
    pub fn idle() -> Script {
        Script::default()
    }

    /// Goes on until an access has to wait, or all are done.
    pub fn resume(&mut self, node: &RefCell<NodeState>) -> Outcome {
        while let Some(&(kind, offset, value)) = self.accesses.front() {
            let mut node = node.borrow_mut();
            let instructions = node.compute.instructions;
            let access = Access { addr: SHARED_BASE + offset as u32, size: 8, kind, value };
            let step = match node.access(instructions, access) {
                Ok(Step::Wait) => return Outcome::Suspended,
                Ok(step) => step,
                Err(fault) => return Outcome::Trapped { message: fault.message, function: None },
            };
            if (kind, step) == (AccessKind::Write, Step::Go)
                && let Err(message) = node.memory.write(offset, &value.to_le_bytes())
            {
                return Outcome::Trapped { message, function: None };
            }
            self.accesses.pop_front();
        }
        Outcome::Finished { exit_code: 0 }
    }
}

/// Memory for scripts.
pub fn plain_memory(bytes: u64) -> Memory {
    Memory::Plain(vec![0; bytes as usize])
}
