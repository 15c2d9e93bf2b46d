//! How long things take on a node: what handlers cost, its cache, its bus, its network interface.

pub(crate) mod bus;
pub(crate) mod cache;
pub(crate) mod calendar;
pub(crate) mod interface;
pub(crate) mod pricing;
