//! The system that is explored, and what a state of it is: nodes, objects, threads, messages; what is promised of it, and
//! what can happen next.

pub(crate) mod action;
pub(crate) mod alike;
pub(crate) mod begin;
pub(crate) mod body;
pub(crate) mod calls;
pub(crate) mod client;
pub(crate) mod codec;
pub(crate) mod copying;
pub(crate) mod kept;
pub(crate) mod kinds;
pub(crate) mod late;
pub(crate) mod layout;
pub(crate) mod made;
pub(crate) mod mark;
pub(crate) mod model;
pub(crate) mod outline;
pub(crate) mod payload;
pub(crate) mod progress;
pub(crate) mod promise;
pub(crate) mod stall;
pub(crate) mod told;
pub(crate) mod unread;
pub(crate) mod usage;
pub(crate) mod values;
pub(crate) mod ways;
pub(crate) mod world;
