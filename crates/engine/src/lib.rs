//! Runs a compiled protocol's handlers against [`Mechanisms`].
//!
//! It knows no road: neither the search of `check`, nor machines and time, nor transports.
pub mod mechanisms;
pub use mechanisms::*;
