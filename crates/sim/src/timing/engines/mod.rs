//! Where handlers run, and what of that takes time: one file for each kind of engine.
//!
//! A new kind is a file here that implements [`Engine`], its name in [`EngineKind`], and its line in [`make`];
//! `timing/contract.rs` holds every kind against what is said here.

mod compute;
mod data_cache;
mod ideal;
mod library;
mod pipeline;
mod processor;
mod slots;

pub(crate) use data_cache::RecordKey;

use super::bus::Bus;
use super::gtlb::Addressed;
use super::pricing::{Did, HandlerTime};
use crate::machine::{EngineKind, Machine};

/// What a program has done for a message before the call that sends it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Assembled {
    /// For how many cycles it has done nothing else: since its last call of anything.
    pub cycles: u64,
    /// How many words of the call are not as they were when it last made the same call, if it has.
    pub fresh: Option<u64>,
}

/// A handler that an engine lays out itself.
pub(crate) struct Job<'a> {
    /// The machine, and the bytes of its blocks.
    pub machine: &'a Machine,
    /// Bytes of a block.
    pub block: u64,
    /// The handler.
    pub did: Did<'a>,
    /// Which records it has looked at, in the order of its first looks.
    pub records: &'a [RecordKey],
    /// From when on its event was there.
    pub ready: u64,
    /// From when on all words of its message are there; `ready` of what is no message.
    pub whole: u64,
    /// When it begins.
    pub start: u64,
    /// What its messages are sent by, if that is an object's address.
    pub addressed: Option<Addressed>,
    /// What the program has made ready of its message before the call.
    pub assembled: Assembled,
    /// When the engine of events that are no messages is free, where there are several.
    pub events_free: u64,
    /// Whether memory is read before it begins.
    pub speculates: bool,
    /// Whether its event has more candidates than a jump table tests at once.
    pub software: bool,
}

/// A kind of engine. It is asked once for each handler, whose primitives are priced already.
pub(crate) trait Engine {
    /// Whether handlers run on the compute processor: they begin where its program can be left, and it stands still until
    /// they have ended. The same for the whole run.
    fn shares_processor(&self) -> bool {
        false
    }

    /// Whether they begin in calls of the program's library only, and not wherever its program can be left. The same for the whole run.
    fn only_in_library(&self) -> bool {
        false
    }

    /// Cycles before the first primitive of a handler and after its last one, if its program was running (it
    /// `interrupts` it) or if not.
    fn switch(&self, _interrupts: bool) -> (u64, u64) {
        (0, 0)
    }

    /// For how many cycles, from its start, a handler that takes so many keeps the engine from other events.
    fn occupancy(&self, cycles: u64) -> u64;

    /// When a handler can begin for an event that is there from cycle `ready` on, if the handlers before it keep the engine until
    /// cycle `free`.
    fn accept(&self, ready: u64, free: u64) -> u64 {
        ready.max(free)
    }

    /// Cycles from the port of the network interface to where the engine finds a message.
    fn receive_latency(&self) -> u64 {
        0
    }

    /// Whether the engine's answer brings the processor what it has asked for, so that its access is complete then, and goes on no bus again.
    fn answers_accesses(&self) -> bool {
        false
    }

    /// The processor reads a line of the node's own memory, past all handlers, from cycle `ready` on: when memory begins. None if that is the
    /// bus's.
    fn fetch(&mut self, _ready: u64) -> Option<u64> {
        None
    }

    /// A line of the node's own memory is written from cycle `at` on, past all handlers.
    fn write_back(&mut self, _at: u64) {}

    /// Lays a handler out in time; false if its primitives go one after the other, by the price list.
    fn lay(&mut self, _job: &Job, _bus: &mut Bus, _time: &mut HandlerTime) -> bool {
        false
    }
}

/// All kinds.
#[cfg(test)]
pub(crate) const KINDS: [EngineKind; 6] = [
    EngineKind::Ideal,
    EngineKind::Processor,
    EngineKind::Compute,
    EngineKind::Library,
    EngineKind::Pipeline,
    EngineKind::Slots,
];

/// The engine of a machine.
pub(crate) fn make(machine: &Machine) -> Box<dyn Engine> {
    let model = &machine.engine;
    match model.kind {
        EngineKind::Pipeline => Box::new(pipeline::Pipeline::new(machine)),
        EngineKind::Ideal => Box::new(ideal::Ideal::new(model)),
        EngineKind::Processor => Box::new(processor::ProtocolProcessor::new(model)),
        EngineKind::Compute => Box::new(compute::ComputeProcessor::new(model)),
        EngineKind::Library => Box::new(library::Library),
        EngineKind::Slots => Box::new(slots::Slots::new(machine)),
    }
}
