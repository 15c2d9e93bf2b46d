//! The command line of Trivium, and its library face.
//!
//! The backends themselves are crates of their own ([`trivium_lang`], [`trivium_check`], [`trivium_sim`]); this one finds
//! files and built-ins, reads arguments, and writes results as `contract` fixes them. It must never know what a
//! protocol means.

#![deny(clippy::print_stderr)]

pub mod arguments;
pub mod blame;
pub mod carry_out;
pub mod colour;
pub mod commands;
pub mod failure;
pub mod library;
pub mod live_trace;
pub mod memory;
pub mod out_file;
pub mod output;
pub mod page;
pub mod picture;
pub mod ranks;
pub mod said;
pub mod settings;
pub mod stop;
pub mod timeline;
pub mod trace;
pub mod trace_events;
mod tracks;
pub mod usage;

pub use failure::Failure;

/// The version, and the sources of the checker: what makes a checkpoint, and what all processes of a job must be.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " of sources ", env!("TRIVIUM_CHECKER"));
