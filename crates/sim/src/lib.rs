//! Simulates programs and protocols on modelled machines.
mod bus;
mod cache;
mod effects;
mod error;
mod load;
mod machine;
mod price;
mod ratio;
mod space;

pub use error::{Blame, SimError};
pub use load::{BUILT_IN, built_in};
pub use machine::Machine;
