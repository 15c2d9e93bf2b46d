//! Simulates programs and protocols on modelled machines.
//!
//! A node has a compute processor with its cache, a bus, memory, a protocol engine and a network interface. A
//! program runs on each processor; its loads and stores hit, miss in its own memory, or fault, and then the node's
//! engine runs the protocol's handlers, whose effects are true at once and whose time is worked out from the
//! machine's price list. Data really move: a wrong protocol gives a wrong answer.
//!
//! **Invariants.** This crate knows no language and no search. What happens on a node depends only on its own
//! events and their order ([`run`] gives the same result for every window up to the machine's lookahead). No
//! result depends on the host's time, or on the order of a hash map.
//!
//! # Example
//!
//! ```
//! use trivium_sim::Machine;
//! let slow = Machine::load("typhoon", &[("network.latency".into(), "10000".into())]).unwrap();
//! assert_eq!(slow.network.latency, 10_000);
//! let error = Machine::load("typhon", &[]).unwrap_err();
//! assert!(error.help.unwrap().contains("typhoon"));
//! ```

// A number that does not fit must not be cut in silence: see `number` for what to write in place of `as`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod events;
pub mod machine;
mod node;
mod order;
mod reports;
mod runs;
mod timing;

pub use machine::Machine;
pub use machine::load::{BUILT_IN, built_in, whole};
pub use machine::overlays::{OVERLAYS, of_name};
pub use machine::price;
pub use machine::ratio::Ratio;
pub use order::budget::Budget;
pub use reports::blame::{AllocationBlame, Blamed, FalseShare, Kinds, LineBlame, Part};
pub use reports::counters::{
    ACCESS_KINDS, AccessOf, Counters, Lookups, MessageCycles, NODE_STATISTICS, NodeAccesses, NodeOccupancy, Occupied,
    PARTS_OF_TIME, Spent, Statistic, node_statistic,
};
pub use reports::timeline::{REASONS, Reason, Worker};
pub use reports::trace::{Handled, Note, Stall, StallPart};
pub use runs::changes::Changed;
pub use runs::forced::{Force, Forced, ForcedDoes, ForcedMessage, ForcedStart, ForcedTimer, force};
pub use runs::miss::{MissHandler, MissKind, MissPlace, MissReport, MissStep, measure, measure_at};
pub use runs::result::{RUN_STATISTICS, SimResult, StallCycles, WholeProgram};
pub use runs::setup::{STALL_LIMIT, Setup};
pub use runs::{Tracing, run, run_with_trace};
pub use trivium_node::{Blame, MemoryUsed, Misses, NodeError, Said};
pub use trivium_node::{SplitPhaseCalls, Stood};
