//! What is written down while nodes are simulated, and what is made of it: counts, chains of causes, notes for a
//! trace, blame, and what programs say.
//!
//! Nothing here has an effect on a simulation.

pub(crate) mod blame;
pub(crate) mod counters;
pub(crate) mod timeline;
pub(crate) mod trace;
