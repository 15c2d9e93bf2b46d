//! Runs a compiled protocol's handlers against [`Mechanisms`].
//!
//! It knows no road: neither the search of `check`, nor machines and time, nor transports.
mod engine;
mod event;
mod fault;
mod invariant;
pub mod mechanisms;
mod record;

pub use engine::Engine;
pub use event::{Disposition, Event, Outcome};
pub use fault::{Fault, FaultKind, LoadError};
pub use invariant::World;
pub use mechanisms::*;
pub use record::Value;
