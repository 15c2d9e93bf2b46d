//! A controller in three stages (Heinlein 1998, 2.3.1): an inbox chooses what comes next, and may have memory read before anybody has looked
//! at a record; a protocol processor runs the handler; an outbox passes on what it has sent. Data go from memory, from the processor's
//! cache or from the network into buffers, and from there on, while the handler runs. So what a handler adds to a miss is
//! one number, and for how long it keeps the protocol processor another.

use super::data_cache::DataCache;
use super::{Engine, Job};
use crate::machine::price::{Price, Prices};
use crate::machine::ratio::Ratio;
use crate::machine::{EngineModel, Machine, PipelineModel};
use crate::reports::timeline::{Reason, Stretch};
use crate::timing::bus::Bus;
use crate::timing::calendar::Calendar;
use crate::timing::pricing::{HandlerTime, Trigger};
use trivium_engine::number::index;
use trivium_node::{DataFrom, Primitive};

/// The stages of one node, and what they share. All times are cycles of the compute processor.
pub(super) struct Pipeline {
    times: Stages,
    interval: u64,
    slowdown: Ratio,
    /// When the inbox can look at the next event: it holds one, until the protocol processor takes it.
    inbox_free: u64,
    memory: Calendar,
    /// The interface to the processor: one line at a time.
    processor: Calendar,
    /// When the latest interventions are over, as many as may be outstanding.
    interventions: Vec<u64>,
    /// When each data buffer is free, and when the first of them is.
    buffers: Vec<u64>,
    buffer_free: u64,
    cache: Option<DataCache>,
}

/// The machine's keys, in cycles of the compute processor.
struct Stages {
    inbox: u64,
    outbox: u64,
    reply: u64,
    first: u64,
    line: u64,
    interval: u64,
    state: u64,
    taken: u64,
    transfer: u64,
    send: u64,
    receive: u64,
    software: u64,
}

impl Pipeline {
    pub(super) fn new(machine: &Machine) -> Pipeline {
        let model = machine.pipeline.clone().unwrap_or_default();
        let EngineModel { interval, slowdown, .. } = machine.engine;
        let PipelineModel { buffers, interventions, .. } = model;
        let cycles = |engine: u64| machine.bus.cycles(engine);
        let first = cycles(machine.memory.critical_word);
        let state = cycles(model.state_reply);
        let taken = state + cycles(model.data_reply);
        Pipeline {
            times: Stages {
                inbox: cycles(model.inbox),
                outbox: cycles(model.outbox),
                reply: machine.processor.finish,
                first,
                line: first + cycles(model.memory_rest),
                interval: cycles(model.memory_interval),
                state,
                taken,
                transfer: taken + cycles(model.data_rest),
                send: machine.interface.send_latency,
                receive: machine.interface.receive_latency,
                software: cycles(model.software_dispatch),
            },
            interval,
            slowdown,
            inbox_free: 0,
            memory: Calendar::default(),
            processor: Calendar::default(),
            interventions: vec![0; index(interventions)],
            buffers: vec![0; index(buffers)],
            buffer_free: 0,
            cache: model.data_cache.as_ref().map(DataCache::new),
        }
    }

    /// When the inbox begins with what is there from cycle `ready` on: it is free, and a data buffer is.
    fn chosen(&self, ready: u64) -> u64 {
        ready.max(self.inbox_free).max(self.buffer_free)
    }

    /// The message, or the line that a handler reads, has had a buffer of its own.
    fn take_buffer(&mut self, until: u64) {
        let first = self.buffer_free;
        if let Some(buffer) = self.buffers.iter_mut().find(|buffer| **buffer == first) {
            *buffer = until;
        }
        self.buffer_free = self.buffers.iter().copied().min().unwrap_or(0);
    }
}

impl Engine for Pipeline {
    fn occupancy(&self, cycles: u64) -> u64 {
        cycles.max(self.interval)
    }

    fn accept(&self, ready: u64, free: u64) -> u64 {
        (self.chosen(ready) + self.times.inbox).max(free)
    }

    fn receive_latency(&self) -> u64 {
        self.times.receive
    }

    fn answers_accesses(&self) -> bool {
        true
    }

    fn fetch(&mut self, ready: u64) -> Option<u64> {
        Some(self.memory.book(ready + self.times.inbox, self.times.interval))
    }

    fn write_back(&mut self, at: u64) {
        self.memory.book(at, self.times.interval);
    }

    fn lay(&mut self, job: &Job, _bus: &mut Bus, time: &mut HandlerTime) -> bool {
        let chosen = self.chosen(job.ready).min(job.start.saturating_sub(self.times.inbox));
        time.restart();
        self.inbox_free = job.start;
        Course::new(self, job, chosen, time).run();
        true
    }
}

/// What leaves a handler by another way than through it: when, and what it waited for last.
#[derive(Clone, Copy)]
struct Contents {
    /// When the first word is in a buffer.
    first: u64,
    /// Whence, and from when on it was on its way.
    what: &'static str,
    reason: Reason,
    from: u64,
}

/// One handler, while it is laid out.
struct Course<'a> {
    pipeline: &'a mut Pipeline,
    job: &'a Job<'a>,
    prices: &'a Prices,
    time: &'a mut HandlerTime,
    /// When the inbox began with it, and when it had chosen its handler.
    chosen: u64,
    picked: u64,
    now: u64,
    covered: u32,
    /// Records that it has looked at.
    records: usize,
    /// What memory was asked for before the handler began.
    speculated: Option<Contents>,
    /// What is in its data buffer: what came with the message, or from the processor's cache.
    held: Option<Contents>,
    /// The intervention that a probe has begun.
    asked: Option<u64>,
    /// When the answer to the processor is there, and its data.
    answer: Option<Contents>,
    /// When the last of its data is gone.
    drained: u64,
    /// The handler's own time so far, from the inbox on.
    told: Vec<Stretch>,
}

impl<'a> Course<'a> {
    fn new(pipeline: &'a mut Pipeline, job: &'a Job<'a>, chosen: u64, time: &'a mut HandlerTime) -> Course<'a> {
        let picked = chosen + pipeline.times.inbox;
        let brought = matches!(job.did.trigger, Trigger::Message { packets: 1.., .. });
        let came = Contents { first: picked, what: "data of the message", reason: Reason::Interface, from: picked };
        Course {
            job,
            prices: job.did.prices(job.machine).0,
            time,
            chosen,
            picked,
            now: job.start,
            covered: 0,
            records: 0,
            speculated: None,
            held: brought.then_some(came),
            asked: None,
            answer: None,
            drained: picked,
            told: Vec::new(),
            pipeline,
        }
    }

    fn run(mut self) {
        if self.time.stretches.is_some() {
            self.told_before();
        }
        if self.job.speculates {
            self.speculated = Some(self.read_memory(self.picked, "memory, first word (speculative)"));
        }
        self.dispatch();
        for (at, effect) in self.job.did.effects.iter().enumerate() {
            self.effect(at, effect);
        }
        if let Some(given) = self.job.did.given {
            self.spend(&given.after, 1);
        }
        self.time.end = self.now;
        self.pipeline.take_buffer(self.now.max(self.drained));
        if let Some(stretches) = &mut self.time.stretches {
            *stretches = self.told;
        }
    }

    /// What came before the handler: its port, the inbox, others.
    fn told_before(&mut self) {
        let mut at = self.chosen;
        if matches!(self.job.did.trigger, Trigger::Message { .. }) {
            at -= self.pipeline.times.receive.min(at);
            self.tell("network interface, in", Reason::Interface, at, self.chosen);
        }
        self.tell("inbox", Reason::Engine, self.chosen, self.picked);
        self.tell("wait for the protocol processor", Reason::Engine, self.picked, self.job.start);
    }

    fn tell(&mut self, what: &'static str, reason: Reason, from: u64, to: u64) {
        if self.time.stretches.is_none() || to <= from {
            return;
        }
        match self.told.last_mut() {
            Some(last) if last.what == what && last.to == from => last.to = to,
            _ => self.told.push(Stretch { what: what.into(), reason, from, to }),
        }
    }

    /// The protocol processor works.
    fn spend(&mut self, price: &Price, times: u64) {
        let cycles = match price.parts.is_empty() {
            true => self.pipeline.slowdown.of(price.cycles) * times,
            false => {
                let round = |once: bool| {
                    let parts = price.parts.iter().filter(|part| once || !part.once);
                    parts.map(|part| self.pipeline.slowdown.of(part.cycles)).sum::<u64>()
                };
                if times == 0 { 0 } else { round(true) + round(false) * (times - 1) }
            }
        };
        let from = self.now;
        self.now += cycles;
        self.tell("protocol processor", Reason::Handler, from, self.now);
    }

    /// It waits.
    fn stall(&mut self, what: &'static str, reason: Reason, until: u64) {
        let from = self.now;
        self.now = self.now.max(until);
        self.tell(what, reason, from, self.now);
    }

    fn read_memory(&mut self, at: u64, what: &'static str) -> Contents {
        let grant = self.pipeline.memory.book(at, self.pipeline.times.interval);
        self.drained = self.drained.max(grant + self.pipeline.times.line);
        Contents { first: grant + self.pipeline.times.first, what, reason: Reason::Memory, from: at }
    }

    /// The contents of the handler's line: what is in its buffer, what was read before it began, or what memory is asked for now.
    fn contents(&mut self) -> Contents {
        let known = self.held.or(self.speculated);
        known.unwrap_or_else(|| self.read_memory(self.now, "memory, first word"))
    }

    fn dispatch(&mut self) {
        let prices = self.prices;
        if self.job.software {
            let until = self.now + self.pipeline.slowdown.of(self.pipeline.times.software);
            self.stall("software dispatch", Reason::Handler, until);
        }
        match self.job.did.trigger {
            Trigger::Fault => {
                self.spend(&prices.dispatch.fault, 1);
                self.spend(&prices.fault_state, 1);
            }
            Trigger::Message { words, packets } => {
                let with_data = prices.message.data_header.as_ref().filter(|_| packets > 0);
                self.spend(&prices.dispatch.message, packets.max(1));
                self.spend(with_data.unwrap_or(&prices.message.header), packets.max(1));
                self.spend(&prices.message.word, words);
            }
            Trigger::Call(words) => {
                self.spend(&prices.dispatch.call, 1);
                self.spend(&prices.message.word, words);
            }
            Trigger::Task => self.spend(&prices.dispatch.task, 1),
            Trigger::Timer => self.spend(&prices.dispatch.timer, 1),
            Trigger::Replay => self.spend(&prices.dispatch.replay, 1),
        }
    }

    fn effect(&mut self, at: usize, effect: &Primitive) {
        let prices = self.prices;
        let granules = self.job.machine.granules(self.job.block);
        match *effect {
            Primitive::Record(home) => {
                self.look_up();
                self.covered += prices.record.covers;
                self.spend(if home { &prices.record.home } else { &prices.record.other }, 1);
            }
            Primitive::Steps(steps) => {
                let free = self.covered.min(u32::from(steps));
                self.covered -= free;
                self.spend(&prices.step, u64::from(u32::from(steps) - free));
            }
            Primitive::First => self.spend(&prices.record.first, 1),
            Primitive::Element => self.spend(&prices.element, 1),
            Primitive::Send { words, data } => self.send(words, data),
            Primitive::InstallBlock(_) => self.install(at, granules),
            Primitive::InstallMemory(bytes) => {
                self.spend(&prices.install.keep, self.job.machine.granules(bytes));
                self.write_memory(self.job.machine.granules(bytes));
            }
            Primitive::InstallWords(words) => {
                self.spend(&prices.message.word, words);
                self.spend(&prices.store, words);
            }
            Primitive::Tag(_, from, to) => self.spend(prices.tag(from, to), granules),
            Primitive::Copy(bytes) => {
                let lines = self.job.machine.granules(bytes);
                self.spend(&prices.copy, lines);
                self.write_memory(2 * lines);
            }
            Primitive::Load => self.spend(&prices.load, 1),
            Primitive::Store => self.spend(&prices.store, 1),
            Primitive::Probe => self.probe(at),
            Primitive::FillLine => {
                self.spend(&prices.line.fill, 1);
                self.answer = Some(self.contents());
            }
            Primitive::UpgradeLine => self.spend(&prices.line.fill, 1),
            Primitive::TakeLine => self.take(),
            Primitive::InvalidateLine => {
                self.spend(&prices.line.invalidate, 1);
                self.intervene(self.pipeline.times.state);
            }
            Primitive::Room => self.spend(&prices.room, 1),
            Primitive::Start => self.spend(&prices.start, 1),
            Primitive::Resume => self.resume(),
        }
    }

    /// The record comes into the protocol processor's data cache, if it is not there.
    fn look_up(&mut self) {
        let record = self.job.records.get(self.records).copied();
        self.records += 1;
        let (Some(cache), Some(record)) = (&mut self.pipeline.cache, record) else { return };
        if cache.look(record) {
            return;
        }
        let grant = self.pipeline.memory.book(self.now, self.pipeline.times.interval);
        self.stall("protocol processor's data cache misses", Reason::Memory, grant + self.pipeline.times.line);
    }

    fn send(&mut self, words: u64, data: Option<(DataFrom, u64)>) {
        let prices = self.prices;
        let packets = data.map_or(1, |(_, bytes)| self.job.machine.packets(bytes));
        let header = if data.is_some() { &prices.send.data_header } else { &prices.send.header };
        self.spend(header, packets);
        self.spend(&prices.send.word, words);
        let data = data.map(|(from, bytes)| match from {
            DataFrom::Block(_) | DataFrom::Received => self.contents(),
            DataFrom::Memory => self.read_memory(self.now, "memory, first word"),
            DataFrom::Words => {
                self.spend(&prices.load, bytes / 8);
                Contents { first: self.now, what: "words", reason: Reason::Memory, from: self.now }
            }
        });
        if data.is_some() {
            self.spend(&prices.send.finish, packets);
        }
        let send = self.pipeline.times.send;
        let (at, way) = self.leave(data, ("network interface, out", Reason::Interface, send));
        self.time.sends.push(at);
        self.time.ways.extend(way);
    }

    /// When something leaves the node's controller: behind the outbox, and not before its data; then it takes the last step. And the way
    /// there, if that is asked for.
    fn leave(&mut self, data: Option<Contents>, last: (&'static str, Reason, u64)) -> (u64, Option<Vec<Stretch>>) {
        let handed = self.now + self.pipeline.times.outbox;
        let at = data.map_or(handed, |data| handed.max(data.first));
        let (what, reason, cycles) = last;
        if self.time.stretches.is_none() {
            return (at + cycles, None);
        }
        let waits = data.filter(|data| data.first > handed);
        // What was on the way to the data, and nothing that went on beside it.
        let until = waits.map_or(self.now, |data| data.from);
        let mut way: Vec<Stretch> = self.told.iter().filter(|part| part.from < until).cloned().collect();
        if let Some(part) = way.last_mut() {
            part.to = part.to.min(until);
        }
        let stretch = |what: &'static str, reason, from, to| Stretch { what: what.into(), reason, from, to };
        way.push(match waits {
            Some(data) => stretch(data.what, data.reason, data.from, data.first),
            None => stretch("outbox", Reason::Engine, self.now, handed),
        });
        if cycles > 0 {
            way.push(stretch(what, reason, at, at + cycles));
        }
        (at + cycles, Some(way))
    }

    /// Data that came with a message go on to the processor, if it is answered with them; else to memory.
    fn install(&mut self, at: usize, granules: u64) {
        self.spend(&self.prices.install.keep, granules);
        let passed_on = self.job.did.effects[at..].contains(&Primitive::FillLine);
        if !passed_on {
            self.write_memory(granules);
        }
    }

    fn write_memory(&mut self, lines: u64) {
        for _ in 0..lines {
            let grant = self.pipeline.memory.book(self.now, self.pipeline.times.interval);
            self.drained = self.drained.max(grant + self.pipeline.times.line);
        }
    }

    /// The state of a line is asked for, and its contents too if they are taken.
    fn probe(&mut self, at: usize) {
        self.spend(&self.prices.probe, 1);
        let takes = self.job.did.effects[at..].contains(&Primitive::TakeLine);
        let issued = self.intervene(if takes { self.pipeline.times.transfer } else { self.pipeline.times.state });
        self.asked = takes.then_some(issued);
        self.stall("processor's cache, state", Reason::Memory, issued + self.pipeline.times.state);
    }

    fn take(&mut self) {
        let times = &self.pipeline.times;
        let (taken, transfer) = (times.taken, times.transfer);
        let issued = match self.asked.take() {
            Some(issued) => issued,
            None => self.intervene(transfer),
        };
        let first = issued + taken;
        self.held =
            Some(Contents { first, what: "processor's cache, first word", reason: Reason::Memory, from: issued });
        self.drained = self.drained.max(issued + transfer);
        self.spend(&self.prices.line.take, 1);
    }

    /// An intervention that keeps the interface to the processor for so many cycles: when it begins. So many may be outstanding;
    /// with one more the protocol processor waits.
    fn intervene(&mut self, cycles: u64) -> u64 {
        let free = self.pipeline.interventions.iter().copied().min().unwrap_or(0);
        self.stall("wait for an earlier intervention", Reason::Memory, free);
        let begun = self.pipeline.processor.book(self.now, cycles);
        if let Some(slot) = self.pipeline.interventions.iter_mut().min() {
            *slot = begun + cycles;
        }
        begun
    }

    fn resume(&mut self) {
        self.spend(&self.prices.resume, 1);
        let answer = self.answer;
        let reply = self.pipeline.times.reply;
        if self.time.resume.is_none() {
            let (at, way) = self.leave(answer, ("processor interface and bus", Reason::Memory, reply));
            self.time.resume = Some(at);
            self.time.resumes_by = way;
        }
    }
}
