//! The protocol language: text to checked, compiled protocol; diagnostics; tables and diagrams.
//!
//! It must never know what runs a protocol: no engine, no machine, no program.
pub mod protocol;
pub mod source;
