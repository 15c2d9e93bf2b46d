//! What every real node needs, whatever its time, machine and transport: records, the shared address space, payloads,
//! bindings, the threads of its program, the use of calls and what is checked before one, cached lines, and the scheduling of held, replayed and
//! timer events. The simulator drives nodes with a model of time; a runtime would with a clock of its own.
//!
//! It must never know time (no cycle, no price; a moment that an error names is handed in), machines (no cache, no bus,
//! no engine kind), transports (no credit, no queue: how full lanes are is asked through [`Lanes`]), or the search.
//! What protocols mean is the engine's; this crate only keeps what the engine works on and says what may start next.
//!
//! ```
//! use std::{cell::RefCell, rc::Rc, sync::Arc};
//! use trivium_engine::{Engine, Object};
//! use trivium_guest::Placement;
//! use trivium_protocol::BLOCK;
//! use trivium_node::{NodeCore, Protocols, Space};
//!
//! let text = "protocol counter
//! lane main fifo buffered
//! message Add(n: 0..9) on main
//! role home of block {
//!   var sum: 0..99
//!   state Idle: write { on Add(n) { sum += n } }
//! }";
//! let protocol = trivium_lang::compile("counter.tri", text, &Default::default()).unwrap();
//! let engine = Rc::new(Engine::load(Arc::new(protocol), 4).unwrap());
//! let protocols = Rc::new(Protocols::new(vec![engine], 64, 4));
//! let space = Rc::new(RefCell::new(Space::new(4096, 4)));
//! space.borrow_mut().allocate(3, 0, 5000, Placement::RoundRobin, 0).unwrap();
//! let node = NodeCore::<()>::new(1, protocols, space);
//! let block = node.block_of(4096);
//! assert_eq!((block, node.home_of_block(block), node.is_at_home(0, block)), (Object { kind: BLOCK, id: 64 }, 1, true));
//! ```
// A number that does not fit must not be cut in silence: see `trivium_engine::number` for what to write in place of `as`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod call;
mod core;
mod error;
mod handler;
mod records;
mod space;
mod thread;

pub use crate::core::{NodeCore, allows};
pub use call::{
    ACCESS_WAITS, AT_BARRIER, AccessFor, AccessHost, CallHost, DEADLOCK, LEFT_MAIN, LEFT_OVER, ProgramAccess, STALLS,
    Sleep, Stood, Stopped, byte_of, call, cannot_come, data_text, disagree, has_left, reach_shared, standing_at,
    with_remedy,
};
pub use error::{About, Blame, MemoryUsed, Misses, NodeError, NodeSaid, Said, Saying, of_fault};
pub use handler::{
    Asked, AskedStep, Carried, DataFrom, Effects, GoesOn, HandlerHost, HandlerMemory, Lanes, Primitive, Request,
    RunningHandler, Stuck, ThreadHost, Touched, let_threads_go_on, pending, resume_threads, tells_of_a_stall,
    try_again,
};
pub use records::{
    ASKS, Arrived, Asking, Blockage, Blocked, Held, Imported, InQueue, Instance, Lines, Locks, MessageKind, OVERTAKES,
    Protocols, RELEASE, Records, Roomy, Schedule, Slot, SplitPhaseCalls, Stores, Taken, Usage, holder,
};
pub use space::{
    Allocation, Binding, BlockTags, Claimed, Data, Images, Mapped, NodeMemory, Pages, Parts, Payloads, Placing,
    Purpose, Space, SpaceCall, shared_u32,
};
pub use thread::{Awaited, EventNumber, Flight, Grant, NodeThreads, RUNNING, THREADS, Thread, ThreadState, Wait};
