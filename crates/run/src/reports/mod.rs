//! What is measured and noted while a run goes on: how long misses take, and what each node did when.

pub(crate) mod latency;
pub(crate) mod trace;
