//! How long things take on a node: what handlers cost, its cache, its bus, its network interface.

pub(crate) mod bus;
pub(crate) mod cache;
pub(crate) mod calendar;
#[cfg(test)]
mod contract;
pub(crate) mod engines;
pub(crate) mod folding;
pub(crate) mod given;
pub(crate) mod gtlb;
pub(crate) mod interface;
pub(crate) mod jump_table;
pub(crate) mod model;
pub(crate) mod networks;
pub(crate) mod page_table;
mod per_page;
mod ports;
pub(crate) mod pricing;
pub(crate) mod rtlb;
