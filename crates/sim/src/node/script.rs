//! A few accesses and calls in place of a program: for measurements of single misses, and orders that are forced.

use crate::node::NodeState;
use crate::reports::counters::Spent;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use trivium_engine::number::index;
use trivium_guest::{
    AccessKind, AccessStep, Call, CallStep, LoadStore, NodeOutcome, Processor, ReadModifyWrite, RmwOp, SHARED_BASE,
};
use trivium_node::{NodeMemory, shared_u32};

/// What a processor is to do, and when.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The cycle before which it does not begin.
    pub not_before: u64,
    /// What it is.
    pub does: Does,
}

/// What a processor can do.
#[derive(Clone, Debug)]
pub enum Does {
    /// An access.
    Access {
        /// A load or a store.
        kind: AccessKind,
        /// Of the 8-byte word at this offset of shared memory.
        offset: u64,
        /// What a store writes.
        value: u64,
        /// Whether the store is an atomic exchange, which loads too.
        exchanges: bool,
    },
    /// A call of a protocol, as a program makes it: the number of its import, and its arguments.
    Call {
        /// Its number among the calls of the run.
        import: usize,
        /// The object, if it is about one, then its arguments; places in shared memory are addresses of the program.
        args: Vec<i64>,
    },
}

/// What a script has seen: when it was complete.
#[derive(Debug, Default)]
pub struct Observed {
    /// Values of loads.
    pub loads: Vec<(u64, u64)>,
    /// Results of calls, with the numbers of their imports.
    pub returns: Vec<(u64, usize, i64)>,
}

/// Accesses and calls, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Script {
    planned: VecDeque<Planned>,
    /// It does not end before this cycle.
    until: u64,
    seen: Rc<RefCell<Observed>>,
}

impl Script {
    /// A load or store of the 8-byte word at a byte offset of shared memory.
    pub fn access(kind: AccessKind, offset: u64, value: u64) -> Script {
        Script::timed(vec![Planned { not_before: 0, does: Does::Access { kind, offset, value, exchanges: false } }], 0)
    }

    /// Accesses and calls that wait for their time, and an end that does.
    pub fn timed(planned: Vec<Planned>, until: u64) -> Script {
        Script { planned: planned.into(), until, seen: Rc::default() }
    }

    /// Nothing at all.
    pub fn idle() -> Script {
        Script::default()
    }

    /// What it sees, to be looked at later.
    pub fn seen(&self) -> Rc<RefCell<Observed>> {
        self.seen.clone()
    }

    /// Goes on until something has to wait, or all is done.
    pub fn resume(&mut self, node: &RefCell<NodeState>) -> NodeOutcome {
        while let Some(Planned { not_before, does }) = self.planned.front() {
            let mut node = node.borrow_mut();
            if sleeps(&mut node, *not_before) {
                return NodeOutcome::Suspended;
            }
            let done = match does {
                Does::Access { kind, offset, value, exchanges } => {
                    let addr = SHARED_BASE + shared_u32(*offset);
                    let exchange = ReadModifyWrite { addr, size: 8, op: RmwOp::Swap, operand: *value, expected: 0 };
                    node.thread_mut().atomic = exchanges.then_some(exchange);
                    access(&mut node, *kind, *offset, *value, &self.seen)
                }
                Does::Call { import, args } => call(&mut node, *import, args, &self.seen),
            };
            match done {
                Ok(true) => self.planned.pop_front(),
                Ok(false) => return NodeOutcome::Suspended,
                Err(message) => return NodeOutcome::Trapped { message, stack: Vec::new() },
            };
        }
        if sleeps(&mut node.borrow_mut(), self.until) {
            return NodeOutcome::Suspended;
        }
        NodeOutcome::Finished { exit_code: 0 }
    }
}

/// Whether the access is complete; if not, it waits.
fn access(
    node: &mut NodeState,
    kind: AccessKind,
    offset: u64,
    value: u64,
    seen: &RefCell<Observed>,
) -> Result<bool, String> {
    let executed = node.compute.executed();
    let access = LoadStore { addr: SHARED_BASE + shared_u32(offset), size: 8, kind, value };
    let exchanges = node.thread().atomic.is_some();
    let mut word = [0; 8];
    match (kind, node.access(executed, access).map_err(|fault| fault.message)?) {
        (_, AccessStep::Wait) => return Ok(false),
        (_, AccessStep::Complete(bits)) => word = bits.to_le_bytes(),
        (kind, AccessStep::Go) => {
            node.core.memory.read(offset, &mut word)?;
            if kind == AccessKind::Write {
                node.core.memory.write(offset, &value.to_le_bytes())?;
            }
        }
    }
    node.thread_mut().atomic = None;
    if kind == AccessKind::Read || exchanges {
        seen.borrow_mut().loads.push((node.compute.clock(), u64::from_le_bytes(word)));
    }
    Ok(true)
}

/// Whether the call has returned; if not, it waits.
fn call(node: &mut NodeState, import: usize, args: &[i64], seen: &RefCell<Observed>) -> Result<bool, String> {
    let executed = node.compute.executed();
    let call = Call::Op { import, args: args.to_vec() };
    match node.call(executed, &call).map_err(|fault| fault.message)? {
        CallStep::Wait => Ok(false),
        CallStep::Done(value) => {
            seen.borrow_mut().returns.push((node.compute.clock(), import, value));
            Ok(true)
        }
    }
}

/// Lets the processor wait until a cycle, if that is still to come; other events of the node then go first.
fn sleeps(node: &mut NodeState, until: u64) -> bool {
    let left = until.saturating_sub(node.compute.clock());
    if left > 0 {
        let now = node.compute.clock();
        node.note_stall(now, Spent::Sync, "", &[(crate::reports::timeline::Reason::Turn, "", now + left)]);
        node.stall(left, Spent::Sync);
    }
    left > 0
}

/// Memory for scripts.
pub fn plain_memory(bytes: u64) -> NodeMemory {
    NodeMemory::Plain(vec![0; index(bytes)])
}
