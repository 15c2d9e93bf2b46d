//! The model of a node: the only place that says how long what happens on it takes.
//!
//! What happens is decided elsewhere (`node/`): a handler yields what it did, as primitives in their order, and an access
//! what it found. The model is asked when an event can begin ([`NodeModel::accept`]), what a handler costs
//! ([`NodeModel::price`]), for how long it keeps the engine ([`NodeModel::occupy`]), when a message arrives
//! ([`NodeModel::send`]), and how long an access takes that the node's own memory answers ([`NodeModel::fetch`] and those
//! after it). It never looks at records, contents or protocols.

use super::bus::Bus;
use super::cache::{Cache, LineState};
use super::engines::{self, Engine, Job};
use super::folding::{Folded, Numbered};
use super::interface::Interface;
use super::pricing::{Did, HandlerTime, lay, surround};
use super::rtlb::{Looked, Rtlb};
use crate::events::Envelope;
use crate::machine::Machine;
use crate::machine::price::Transaction;
use crate::reports::counters::Lookups;
use std::ops::Range;
use trivium_engine::Node;
use trivium_guest::SHARED_BASE;
use trivium_node::shared_u32;
use trivium_protocol::LaneId;

/// The parts of a node that take time.
pub(crate) struct NodeModel {
    /// When the engine can take the next event.
    free: u64,
    /// The same of the engines for messages, where a node has several; else there are none.
    lanes_free: Vec<u64>,
    /// Whether handlers run on the compute processor.
    shares_processor: bool,
    /// Whether they do so in calls of a library only.
    only_in_library: bool,
    /// Whether the compute processor handles its program's calls, beside an engine.
    handles_calls: bool,
    /// The beat of the engine's idle handler, if it has one.
    beat: Option<u64>,
    /// When the compute processor has ended the last call that it handled.
    called: u64,
    /// The processor's cache, and its TLB.
    pub cache: Cache,
    /// The bus.
    pub bus: Bus,
    /// The network interface.
    pub interface: Interface,
    engine: Box<dyn Engine>,
    /// Where the access control finds tags, if a miss there takes time.
    rtlb: Option<Rtlb>,
}

impl NodeModel {
    /// The model of node `me` of `nodes`, at rest.
    pub fn new(machine: &Machine, me: Node, nodes: u32, seed: u64) -> NodeModel {
        let engine = engines::make(machine);
        NodeModel {
            free: 0,
            lanes_free: vec![0; machine.lane_engines()],
            shares_processor: engine.shares_processor(),
            only_in_library: engine.only_in_library(),
            handles_calls: machine.calls.is_some() && !engine.shares_processor(),
            beat: machine
                .pipeline
                .as_ref()
                .and_then(|pipeline| pipeline.idle_period)
                .map(|beat| machine.bus.cycles(beat)),
            called: 0,
            cache: Cache::new(machine),
            bus: Bus::new(&machine.bus),
            interface: Interface::new(machine, me, nodes, seed),
            engine,
            rtlb: Rtlb::new(machine),
        }
    }

    /// Whether handlers run on the compute processor, which stands still meanwhile.
    #[inline]
    pub fn shares_processor(&self) -> bool {
        self.shares_processor
    }

    /// Whether handlers run in calls of the program's library only.
    #[inline]
    pub fn only_in_library(&self) -> bool {
        self.only_in_library
    }

    /// Whether the compute processor handles its program's calls, while the engine may run other handlers.
    #[inline]
    pub fn handles_calls(&self) -> bool {
        self.handles_calls
    }

    /// Whether timers are handled before all other events.
    #[inline]
    pub fn has_idle_handler(&self) -> bool {
        self.beat.is_some()
    }

    /// When a timer runs out that is set for cycle `at`: at the next beat of the idle handler, if there is one.
    pub fn timer_runs_out(&self, at: u64) -> u64 {
        self.beat.map_or(at, |beat| at.next_multiple_of(beat))
    }

    /// When the engine, or the last of several, can take the next event.
    #[inline]
    pub fn free(&self) -> u64 {
        self.lanes_free.iter().fold(self.free, |free, lane| free.max(*lane))
    }

    /// When the compute processor has ended the handlers that it has begun, and can go on with its program.
    #[inline]
    pub fn can_go_on(&self) -> u64 {
        if self.shares_processor { self.free } else { self.called }
    }

    /// When a handler can begin for an event that is there from cycle `ready` on; the compute processor has something of its
    /// own to do up to cycle `own`.
    #[inline]
    pub fn accept(&self, ready: u64, own: u64) -> u64 {
        let start = self.engine.accept(ready, self.free);
        if self.shares_processor { start.max(own) } else { start }
    }

    /// Whether the node has several engines.
    #[inline]
    pub fn has_slots(&self) -> bool {
        !self.lanes_free.is_empty()
    }

    /// Which engine takes a message of a lane, counted from 1; 0 is that of all other events.
    pub fn engine_of(&self, lane: LaneId) -> usize {
        self.lanes_free.len().min(lane.index() + 1)
    }

    /// When one of several engines can begin with a message of a lane that reaches the port at cycle `arrived`, or, behind others, later.
    pub fn accept_on(&self, lane: LaneId, arrived: u64) -> u64 {
        let port = arrived.max(self.interface.receivable_on(lane));
        let ready = port + self.engine.receive_latency();
        ready.max(self.lanes_free.get(self.engine_of(lane).wrapping_sub(1)).copied().unwrap_or(self.free))
    }

    /// The same for a message that reaches the port of the network interface at cycle `arrived`, or, behind others, at cycle `port`.
    #[inline]
    pub fn accept_message(&self, arrived: u64, own: u64) -> u64 {
        let port = arrived.max(self.interface.receivable());
        self.accept(port + self.engine.receive_latency(), own)
    }

    /// From when on the engine finds a message that came through the port at cycle `port`.
    #[inline]
    pub fn found(&self, port: u64) -> u64 {
        port + self.engine.receive_latency()
    }

    /// Whether the engine's answer completes an access by itself.
    #[inline]
    pub fn answers_accesses(&self) -> bool {
        self.engine.answers_accesses()
    }

    /// The time of a handler that the engine lays out itself; false if it does not.
    pub fn lay(&mut self, job: &Job, time: &mut HandlerTime) -> bool {
        let job = &Job { events_free: self.free, ..*job };
        let laid = self.engine.lay(job, &mut self.bus, time);
        if self.has_slots() {
            self.free = self.free.max(time.events_until);
        }
        laid
    }

    /// The same of a call that the compute processor handles itself, whatever the engine does.
    #[inline]
    pub fn accept_call(&self, ready: u64, own: u64) -> u64 {
        ready.max(own)
    }

    /// The time of a handler that begins at cycle `start` and has done this, on blocks of `block` bytes which it has numbered; whether the program
    /// was running then, which it `interrupts` if both are on one processor.
    #[inline]
    pub fn price(
        &mut self,
        machine: &Machine,
        (block, numbered): (u64, &Numbered),
        did: Did,
        (start, interrupts): (u64, bool),
        time: &mut HandlerTime,
    ) {
        let (before, after) = if self.shares_processor { self.engine.switch(interrupts) } else { (0, 0) };
        match &mut self.rtlb {
            Some(rtlb) => {
                let blocks = (numbered, block);
                lay(did, start + before, machine, block, &mut Looked { bus: &mut self.bus, rtlb, blocks }, time);
            }
            None => lay(did, start + before, machine, block, &mut self.bus, time),
        }
        if self.shares_processor {
            surround(time, before, start, after);
        }
    }

    /// The same of a handler whose price has been folded.
    #[inline]
    pub fn price_folded(&mut self, folded: &Folded, (start, interrupts): (u64, bool), time: &mut HandlerTime) {
        if !self.shares_processor {
            return folded.lay(start, &mut self.bus, time);
        }
        let (before, after) = self.engine.switch(interrupts);
        folded.lay(start + before, &mut self.bus, time);
        surround(time, before, start, after);
    }

    /// A handler of an engine ([`NodeModel::engine_of`]) has taken these cycles. For how many of them, or more, the engine takes nothing else.
    #[inline]
    pub fn occupy(&mut self, handler: Range<u64>, engine: usize) -> u64 {
        let busy = self.engine.occupancy(handler.end - handler.start);
        match self.lanes_free.get_mut(engine.wrapping_sub(1)) {
            Some(free) => *free = handler.start + busy,
            None => self.free = handler.start + busy,
        }
        busy
    }

    /// The compute processor has handled a call in these cycles; the engine was none the wiser.
    #[inline]
    pub fn occupy_processor(&mut self, handler: Range<u64>) {
        self.called = handler.end;
    }

    /// A message is handed over at cycle `at`: the cycles in the send queue and its arrival, unless it has to wait for a
    /// credit.
    #[inline(always)]
    pub fn send(&mut self, at: u64, fifo: bool, envelope: Box<Envelope>) -> Option<(Range<u64>, u64, Box<Envelope>)> {
        self.interface.send(at, fifo, envelope)
    }

    /// The processor is about to access an address: for how many cycles it first looks up where its page lies.
    #[inline]
    pub fn translate(&mut self, machine: &Machine, address: u32) -> u64 {
        if self.cache.translates(address) {
            return 0;
        }
        self.cache.load_translation(address);
        machine.tlb.as_ref().map_or(0, |tlb| tlb.miss)
    }

    /// The processor's transaction concerns an offset of shared memory: for how many cycles the access control first looks for its tag.
    #[inline]
    pub fn look_tag_up(&mut self, offset: u64) -> u64 {
        self.rtlb.as_mut().map_or(0, |rtlb| rtlb.look_up(offset..=offset))
    }

    /// A page of shared memory has lost its frame: its translation, its tags and its lines go.
    pub fn drop_page(&mut self, offset: u64) {
        self.cache.release(SHARED_BASE + shared_u32(offset));
        self.rtlb.iter_mut().for_each(|rtlb| rtlb.drop_page(offset));
    }

    /// Look-ups of tags so far, where they are modelled.
    pub fn looked_up(&self) -> Option<Lookups> {
        self.rtlb.as_ref().map(Rtlb::counted)
    }

    /// The processor has missed at cycle `begun`, and memory is to answer: when its transaction is granted.
    pub fn fetch(&mut self, machine: &Machine, begun: u64) -> u64 {
        let ready = begun + machine.processor.issue;
        self.engine.fetch(ready).unwrap_or_else(|| self.bus.book(Transaction::Read, ready))
    }

    /// What was granted at cycle `grant` comes into the cache, and a dirty line leaves it, if one has to: when the access ends.
    pub fn fill(&mut self, machine: &Machine, address: u32, held: LineState, grant: u64) -> u64 {
        let drives_out = self.cache.fill(address, held);
        self.cache.bring_near(address);
        if drives_out {
            let after = grant + self.bus.occupancy(Transaction::Read) + self.bus.arbitration();
            self.bus.book(Transaction::WriteBack, after);
            self.engine.write_back(after);
        }
        grant + machine.bus.cycles(machine.memory.critical_word) + machine.processor.finish
    }

    /// A store at cycle `begun` to a line that is held shared, and may be written: its grant and its end.
    pub fn upgrade(&mut self, machine: &Machine, address: u32, begun: u64) -> (u64, u64) {
        let grant = self.bus.book(Transaction::Invalidate, begun + machine.processor.upgrade_issue());
        self.cache.change(address, LineState::Dirty);
        self.cache.bring_near(address);
        (grant, grant + self.bus.occupancy(Transaction::Invalidate))
    }

    /// An access past the cache at cycle `begun`: its grant and its end.
    pub fn uncached(&mut self, machine: &Machine, transaction: Transaction, begun: u64) -> (u64, u64) {
        let grant = self.bus.book(transaction, begun + machine.processor.issue);
        (grant, grant + self.bus.occupancy(transaction))
    }

    /// Access control stops an access that began at cycle `begun`; whether it was a store to a line that is held. When the
    /// engine can hear of it, and when the processor's trap, if it takes one, is over.
    pub fn abort(&mut self, machine: &Machine, upgrades: bool, begun: u64) -> (u64, u64) {
        let model = &machine.processor;
        let issue = if upgrades { model.upgrade_issue() } else { model.issue };
        let grant = self.bus.book(Transaction::Abort, begun + issue);
        (grant, grant + model.trap)
    }
}
