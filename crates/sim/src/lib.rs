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

mod agenda;
mod binding;
mod blame;
mod bus;
mod cache;
mod calendar;
mod calls;
mod counters;
mod dispatch;
mod effects;
mod error;
mod event;
mod exchange;
mod forced;
mod frames;
mod interface;
mod letter;
mod lines;
mod load;
pub mod machine;
mod mechanisms;
#[cfg(test)]
mod mechanisms_tests;
mod memory;
mod miss;
mod next;
mod node;
mod parallel;
pub mod price;
mod processor;
mod ratio;
mod records;
mod result;
mod said;
mod script;
mod setup;
mod shared;
mod space;
mod spare;
mod timeline;
mod trace;
mod usage;
mod watch;
mod world;

pub use blame::{AllocationBlame, Blamed, FalseShare, Kinds, LineBlame, Part};
pub use counters::{Counters, NODE_STATISTICS, PARTS_OF_TIME, Spent, Statistic, node_statistic};
pub use error::{Blame, Said, SimError};
pub use forced::{Force, Forced, ForcedDoes, ForcedMessage, ForcedStart, ForcedTimer, force};
pub use load::{BUILT_IN, built_in, whole};
pub use machine::Machine;
pub use miss::{MissKind, MissReport, MissStep, measure};
pub use ratio::Ratio;
pub use result::{MemoryUsed, Misses, RUN_STATISTICS, SimResult};
pub use setup::{Setup, Tracing, run, run_with_trace};
pub use timeline::{REASONS, Reason};
pub use trace::{Handled, Note, Stall, StallPart};
