//! What every real node needs, whatever its time, machine and transport: records, the shared address space, payloads,
//! bindings, the state of its thread, the use of calls and what is checked before one, cached lines, and the scheduling of held, replayed and
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
//! assert_eq!((block, node.home_of(block), node.is_at_home(block)), (Object { kind: BLOCK, id: 64 }, 1, true));
//! ```
// A number that does not fit must not be cut in silence: see `trivium_engine::number` for what to write in place of `as`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod asked;
mod binding;
mod calls;
mod conditions;
mod core;
mod counts;
mod effects;
mod error;
mod handler_memory;
mod lines;
mod locks;
mod memory;
mod next;
mod parts;
mod payload;
mod program;
mod protocols;
mod records;
mod said;
mod schedule;
mod space;
mod split_phase;
mod stood;
mod thread;
mod unchecked;
mod usage;

pub use crate::core::{NodeCore, allows};
pub use asked::{Asked, AskedStep, Request, pending};
pub use binding::{Binding, Purpose, disagree};
pub use calls::{Refusal, SplitPhaseStep};
pub use counts::{MemoryUsed, Misses};
pub use effects::{Effects, Touched};
pub use error::{About, Blame, NodeError};
pub use handler_memory::HandlerMemory;
pub use lines::Lines;
pub use locks::{ASKS, Asking, Locks, OVERTAKES, RELEASE, Taken, holder};
pub use memory::NodeMemory;
pub use next::Lanes;
pub use parts::Parts;
pub use payload::{Data, Payloads};
pub use protocols::{Protocols, Roomy};
pub use records::{Records, Slot};
pub use said::{NodeSaid, Said, Saying};
pub use schedule::{Held, Instance, Schedule};
pub use space::{Allocation, Claimed, Space, SpaceCall, shared_u32};
pub use split_phase::SplitPhaseCalls;
pub use stood::{AT_BARRIER, LEFT_MAIN, Stood, byte_of, cannot_come, data_text, has_left, standing_at, with_remedy};
pub use thread::{Awaited, EventNumber, Thread, ThreadState};
pub use usage::Usage;
