//! Runs a compiled protocol's handlers against [`Mechanisms`].
//!
//! It knows no road: neither the search of `check`, nor machines and time, nor transports.
pub mod contract;
mod defer;
mod dispatch;
mod engine;
mod evaluate;
mod event;
mod execute;
mod fault;
mod invariant;
mod layout;
mod load;
pub mod local;
pub mod mechanisms;
mod record;
mod set;

pub use engine::Engine;
pub use event::{Disposition, Event, Outcome};
pub use fault::{Fault, FaultKind, LoadError};
pub use invariant::World;
pub use mechanisms::*;
pub use record::Value;
