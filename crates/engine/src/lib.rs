//! Runs a compiled protocol's handlers against [`Mechanisms`].
//!
//! An [`Engine`] is a protocol loaded for a number of nodes. It answers one question: what happens to a node when
//! an event comes, by the compiled steps and by nothing else. The steps reach the world only through
//! [`Mechanisms`], which each backend implements; the state of an object on a node is a *record*, flat bytes that
//! whoever drives the engine keeps, copies and compares as it likes.
//!
//! It must never know a backend: neither the search of `check`, nor machines and time, nor transports. It keeps
//! nothing between two calls, so that one engine serves all nodes and all host threads. What the steps mean is said in
//! `docs/semantics.md`.
//!
//! ```
//! use std::sync::Arc;
//! use trivium_contract::local::Local;
//! use trivium_engine::{Args, Engine, Event, Object, RecordMechanisms};
//! use trivium_protocol::{BLOCK, EventKind};
//!
//! let text = "protocol counter
//! lane main fifo buffered
//! message Add(n: 0..9) on main
//! role home of block {
//!   var sum: 0..99
//!   state Idle: write { on Add(n) { sum += n } }
//! }";
//! let protocol = trivium_lang::compile("counter.tri", text, &Default::default()).unwrap();
//! let engine = Engine::load(Arc::new(protocol), 4).unwrap();
//! let mut node = Local::new(&engine, 0, 1, 32);
//!
//! let add = EventKind::Message(engine.protocol().message("Add").unwrap());
//! let block = Object { kind: BLOCK, id: 0 };
//! let event = Event { sender: 3, args: Args::of(&[7]), ..Event::local(add, block, 0) };
//! let outcome = engine.dispatch(&event, &mut node).unwrap();
//! assert_eq!(engine.describe(outcome.role, node.record(outcome.role, block)), "Idle sum=7");
//! ```
// A number that does not fit must not be cut in silence: see `number` for what to write in place of `as`.
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod array;
mod cell;
mod defer;
mod dispatch;
mod engine;
mod evaluate;
mod event;
mod fault;
mod flat;
mod frame;
mod ghost;
mod impossible;
mod invariant;
mod layout;
mod line;
mod list;
mod load;
mod lower;
mod made;
pub mod mechanisms;
mod newborn;
pub mod number;
mod optional;
mod passed;
mod plan;
mod record;
mod rename;
mod run;
mod set;
mod shared;
mod trial;
mod whole;
mod witness;

pub use engine::Engine;
pub use event::{Disposition, Event, Outcome};
pub use fault::{Fault, FaultKind};
pub use invariant::SystemView;
pub use line::CacheLine;
pub use mechanisms::*;
pub use record::Value;
pub use shared::SharedPlaces;
pub use trial::{Look, Stalled};
