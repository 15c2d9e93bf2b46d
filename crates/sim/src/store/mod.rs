//! What a node keeps, whatever its machine: records, the shared address space, payloads, bindings, the use of calls.

pub(crate) mod binding;
pub(crate) mod payload;
pub(crate) mod records;
pub(crate) mod space;
pub(crate) mod usage;
