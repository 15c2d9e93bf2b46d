//! What a handler did, primitive by primitive, and what that takes on a machine.
//!
//! A handler's effects are true at once; only then is its time worked out. Hardware does some pairs in one go:
//! sending a block and lowering its tag, installing a block and raising its tag. Such pairs of one handler are
//! priced together.

use crate::machine::Machine;
use crate::machine::price::{Price, Prices, Transaction};
use crate::machine::ratio::Ratio;
use crate::reports::counters::MessageCycles;
use crate::reports::timeline::{Reason, Stretch};
use crate::timing::bus::Bus;
use smallvec::SmallVec;
use std::borrow::Cow;
use trivium_engine::Object;
use trivium_node::{DataFrom, Primitive};
use trivium_protocol::Access;

/// What starts a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// A load or store faulted.
    Fault,
    /// A message.
    Message {
        /// Words of arguments.
        words: u64,
        /// In how many packets its data came; 0 if it has none.
        packets: u64,
    },
    /// A call, with so many words of arguments.
    Call(u64),
    /// A task.
    Task,
    /// A timer.
    Timer,
    /// A deferred event is tried again.
    Replay,
}

/// The price of a handler that its machine gives as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// In place of the machine's price list.
    pub prices: Prices,
    /// What comes behind its last effect.
    pub after: Price,
}

/// A handler that has run.
#[derive(Clone, Copy)]
pub struct Did<'a> {
    /// What started it.
    pub trigger: Trigger,
    /// What it did, in order.
    pub effects: &'a [Primitive],
    /// Its own price, if it has one.
    pub given: Option<&'a Given>,
}

impl Did<'_> {
    /// The price list that says what it costs, and by how much its own cycles are longer than that says.
    pub fn prices<'m>(&'m self, machine: &'m Machine) -> (&'m Prices, Ratio) {
        // A processor that handles its program's calls does so at its own speed.
        let (prices, slowdown) = match (&machine.calls, self.trigger) {
            (Some(prices), Trigger::Call(_)) => (prices, Ratio::one()),
            _ => (&machine.prices, machine.engine.slowdown),
        };
        (self.given.map_or(prices, |given| &given.prices), slowdown)
    }
}

/// The time of a handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandlerTime {
    /// When each of its messages is handed to the network interface.
    pub sends: SmallVec<[u64; 8]>,
    /// How long after its head the last word of each is handed over, where words are handed over one by one.
    pub tails: SmallVec<[u64; 8]>,
    /// For how many cycles messages used the node's units, where the engine says so.
    pub uses: MessageCycles,
    /// When it had read all words of its message, where the engine says so.
    pub read: u64,
    /// When a message that did not find its node had left its queue to the network for nothing.
    pub given_up: Option<u64>,
    /// How many of its messages did not find their node in the machine's table.
    pub gtlb_misses: u64,
    /// Until when the engine of events that are no messages has to do with that; 0 if it has not.
    pub events_until: u64,
    /// When waiting threads go on, if they do.
    pub resume: Option<u64>,
    /// When it has ended.
    pub end: u64,
    /// On what the time was spent, if that is asked for.
    pub stretches: Option<Vec<Stretch>>,
    /// Where what leaves a handler does so by ways of its own, beside the handler: on what the time of each was spent, if that is asked for.
    pub ways: Vec<Vec<Stretch>>,
    /// The same of the threads that go on.
    pub resumes_by: Option<Vec<Stretch>>,
}

impl HandlerTime {
    /// Forgets a handler's time for the next one; the space that its lists took stays.
    pub(super) fn restart(&mut self) {
        (self.resume, self.end) = (None, 0);
        self.sends.clear();
        self.ways.clear();
        self.resumes_by = None;
        self.stretches.iter_mut().for_each(Vec::clear);
    }
}

/// Where a handler's bus transactions are booked, and who hears what it does when.
pub trait Booking {
    /// The bus on which they lie.
    fn bus(&self) -> &Bus;
    /// Books a transaction that can be granted at cycle `earliest`, and gives the cycle of its grant.
    fn book(&mut self, transaction: Transaction, earliest: u64) -> u64;
    /// The next message is handed over.
    fn sends(&mut self, _at: u64) {}
    /// Waiting threads go on.
    fn resumes(&mut self, _at: u64) {}
    /// The tags or the contents of a block, as the handler has numbered it, are wanted: how long it takes to find its page.
    fn look_up(&mut self, _block: Object) -> u64 {
        0
    }
}

impl Booking for Bus {
    fn bus(&self) -> &Bus {
        self
    }

    fn book(&mut self, transaction: Transaction, earliest: u64) -> u64 {
        Bus::book(self, transaction, earliest)
    }
}

/// Lays primitives out in time, one after the other, on a bus that others use too.
struct Pricing<'a, B> {
    machine: &'a Machine,
    prices: &'a Prices,
    /// By how much own cycles are longer than the price list says.
    slowdown: Ratio,
    bus: &'a mut B,
    now: u64,
    timing: &'a mut HandlerTime,
}

/// Works out the time of a handler that begins at cycle `start`, on a machine with blocks of `block` bytes.
pub fn lay<B: Booking>(did: Did, start: u64, machine: &Machine, block: u64, bus: &mut B, timing: &mut HandlerTime) {
    timing.restart();
    let (prices, slowdown) = did.prices(machine);
    let effects = did.effects;
    let mut pricing = Pricing { machine, prices, slowdown, bus, now: start, timing };
    pricing.dispatch(did.trigger);
    if effects.contains(&Primitive::First) {
        pricing.spend("make the record, copy the block", &prices.record.first, 1);
    }
    let granules = machine.granules(block);
    let mut fusion = Fusion::default();
    fusion.fuse(effects);
    let mut covered = 0;
    for (at, effect) in effects.iter().enumerate() {
        if let Some(of) = effect.accessed() {
            pricing.look_up(of);
        }
        match *effect {
            Primitive::Record(home) => {
                covered += prices.record.covers;
                pricing.spend(
                    "directory lookup, branch",
                    if home { &prices.record.home } else { &prices.record.other },
                    1,
                );
            }
            Primitive::First => {}
            Primitive::Steps(steps) => {
                let free = covered.min(u32::from(steps));
                covered -= free;
                pricing.spend("plain steps", &prices.step, u64::from(u32::from(steps) - free));
            }
            Primitive::Element => pricing.spend("set and list elements", &prices.element, 1),
            Primitive::Send { words, data } => {
                pricing.send(words, data, fusion.of_send(at), granules);
            }
            Primitive::InstallBlock(_) => {
                let (what, price) = match fusion.of_install(at) {
                    true => ("read message data, change tag", &prices.install.raise),
                    false => ("read message data", &prices.install.keep),
                };
                pricing.spend(what, price, granules);
            }
            Primitive::InstallMemory(bytes) => {
                pricing.spend("read message data", &prices.install.keep, machine.granules(bytes))
            }
            Primitive::InstallWords(words) => {
                pricing.spend("read message data", &prices.message.word, words);
                pricing.spend("store words", &prices.store, words);
            }
            Primitive::Tag(..) if fusion.gone(at) => {}
            Primitive::Tag(_, from, to) => pricing.spend("change tag", prices.tag(from, to), granules),
            Primitive::Copy(bytes) => pricing.spend("copy memory", &prices.copy, machine.granules(bytes)),
            Primitive::Load => pricing.spend("load a word", &prices.load, 1),
            Primitive::Store => pricing.spend("store a word", &prices.store, 1),
            Primitive::Probe => pricing.spend("probe the cache", &prices.probe, 1),
            Primitive::FillLine | Primitive::UpgradeLine => {
                pricing.spend("answer the processor", &prices.line.fill, granules)
            }
            Primitive::TakeLine => pricing.spend("take the processor's line", &prices.line.take, granules),
            Primitive::InvalidateLine => {
                pricing.spend("invalidate the processor's line", &prices.line.invalidate, granules)
            }
            Primitive::Room => pricing.spend("ask for room", &prices.room, 1),
            Primitive::Start => pricing.spend("start a task", &prices.start, 1),
            Primitive::Resume => {
                pricing.spend("unmask CPU, reissue bus transaction", &prices.resume, 1);
                if pricing.timing.resume.is_none() {
                    pricing.timing.resume = Some(pricing.now);
                    pricing.bus.resumes(pricing.now);
                }
            }
        }
    }
    if let Some(given) = did.given {
        pricing.spend("end of the handler", &given.after, 1);
    }
    pricing.timing.end = pricing.now;
}

/// A handler was priced from behind what comes `before` it, which begins at cycle `start`; `after` comes after it. The
/// processor on which it ran goes on when all of it has ended.
pub fn surround(time: &mut HandlerTime, before: u64, start: u64, after: u64) {
    if let Some(stretches) = &mut time.stretches {
        let stretch = |what: &'static str, from, to| Stretch { what: what.into(), reason: Reason::Handler, from, to };
        if before > 0 {
            stretches.insert(0, stretch("save registers", start, start + before));
        }
        if after > 0 {
            stretches.push(stretch("restore registers", time.end, time.end + after));
        }
    }
    time.end += after;
    if time.resume.is_some() {
        time.resume = Some(time.end);
    }
}

impl<B: Booking> Pricing<'_, B> {
    fn dispatch(&mut self, source: Trigger) {
        let prices = self.prices;
        match source {
            Trigger::Fault => {
                self.spend("detect access fault, dispatch handler", &prices.dispatch.fault, 1);
                self.spend("get fault state", &prices.fault_state, 1);
            }
            Trigger::Message { words, packets } => {
                let with_data = prices.message.data_header.as_ref().filter(|_| packets > 0);
                self.spend("dispatch message handler", &prices.dispatch.message, packets.max(1));
                self.spend("read message", with_data.unwrap_or(&prices.message.header), packets.max(1));
                self.spend("read message", &prices.message.word, words);
            }
            Trigger::Call(words) => {
                self.spend("dispatch call handler", &prices.dispatch.call, 1);
                self.spend("read call", &prices.message.word, words);
            }
            Trigger::Task => self.spend("dispatch task", &prices.dispatch.task, 1),
            Trigger::Timer => self.spend("dispatch timer", &prices.dispatch.timer, 1),
            Trigger::Replay => self.spend("dispatch deferred event", &prices.dispatch.replay, 1),
        }
    }

    fn send(&mut self, words: u64, data: Option<(DataFrom, u64)>, lowered: Option<(Access, Access)>, block: u64) {
        let prices = self.prices;
        match data {
            None => {
                self.spend("send message", &prices.send.header, 1);
                self.spend("send message", &prices.send.word, words);
            }
            Some((origin, bytes)) => {
                let packets = self.machine.packets(bytes);
                self.spend("send message header", &prices.send.data_header, packets);
                self.spend("send message header", &prices.send.word, words);
                match origin {
                    DataFrom::Block(_) => {
                        let (from, to) = lowered.unwrap_or_default();
                        let what = if lowered.is_some() {
                            "fetch data from memory, change tag, send"
                        } else {
                            "fetch data from memory, send"
                        };
                        self.spend_as(Reason::Memory, what, prices.fetch(from, to), block);
                    }
                    DataFrom::Words => {
                        self.spend("load words", &prices.load, bytes / 8);
                        self.spend("send words", &prices.send.word, bytes / 8);
                    }
                    DataFrom::Received => {
                        self.spend("forward data", &prices.send.forward, self.machine.granules(bytes))
                    }
                    DataFrom::Memory => {
                        let granules = self.machine.granules(bytes);
                        self.spend_as(Reason::Memory, "fetch data from memory, send", &prices.fetch.keep, granules)
                    }
                }
                self.spend("finish message send", &prices.send.finish, packets);
            }
        }
        self.timing.sends.push(self.now);
        self.bus.sends(self.now);
    }

    /// The page of a block is looked up in a table that may not hold it.
    #[inline(always)]
    fn look_up(&mut self, block: Object) {
        let cycles = self.bus.look_up(block);
        if cycles > 0 {
            let begun = self.now;
            self.now += cycles;
            if let Some(stretches) = &mut self.timing.stretches {
                let what = "RTLB miss".into();
                stretches.push(Stretch { what, reason: Reason::Translation, from: begun, to: self.now });
            }
        }
    }

    fn spend(&mut self, what: &'static str, price: &Price, times: u64) {
        self.spend_as(Reason::Handler, what, price, times);
    }

    fn spend_as(&mut self, reason: Reason, what: &'static str, price: &Price, times: u64) {
        if times == 0 {
            return;
        }
        if price.is_plain() && self.timing.stretches.is_none() {
            self.now += self.slowdown.of(price.cycles) * times;
            return;
        }
        self.spend_parts(reason, what, price, times);
    }

    /// A price, or its parts in order: those that are paid once in the first round only.
    fn spend_parts(&mut self, reason: Reason, what: &'static str, price: &Price, times: u64) {
        if price.parts.is_empty() {
            return self.spend_one(reason, what, price, times);
        }
        for round in 0..times {
            let due = price.parts.iter().filter(|part| round == 0 || !part.once);
            due.for_each(|part| self.spend_one(reason, what, part, 1));
        }
    }

    /// Own cycles first, then the bus transactions, one after the other.
    fn spend_one(&mut self, reason: Reason, what: &'static str, price: &Price, times: u64) {
        let from = self.now;
        let own = self.bus.bus().own_cycles(price);
        let stretched = self.slowdown.of(own);
        if price.bus.is_empty() {
            self.now += stretched * times;
            return self.note(reason, what, price, from, 0);
        }
        let mut lost = 0;
        for _ in 0..times {
            let mut waited = 0;
            let mut request = self.now + stretched;
            for &transaction in &price.bus {
                let earliest = request + self.bus.bus().arbitration();
                let grant = self.bus.book(transaction, earliest);
                waited += grant - earliest;
                request = grant + self.bus.bus().occupancy(transaction);
            }
            self.now += price.cycles - own + stretched + waited;
            lost += waited;
        }
        self.note(reason, what, price, from, lost);
    }

    /// Notes what the time since `from` was spent on, if that is asked for; `lost` cycles of it, on waiting for the bus.
    fn note(&mut self, reason: Reason, what: &'static str, price: &Price, mut from: u64, lost: u64) {
        let Some(stretches) = &mut self.timing.stretches else { return };
        if lost > 0 {
            let (what, reason) = ("wait for the bus".into(), Reason::Bus);
            stretches.push(Stretch { what, reason, from, to: from + lost });
            from += lost;
        }
        if self.now > from {
            let what = price.step.as_ref().map_or(Cow::Borrowed(what), |step| Cow::Owned(step.clone()));
            match stretches.last_mut() {
                Some(last) if last.what == what && last.to == from => last.to = self.now,
                _ => stretches.push(Stretch { what, reason, from, to: self.now }),
            }
        }
    }
}

/// Which tag changes are part of which sends and installs.
#[derive(Default)]
struct Fusion {
    /// (place of the send, place of the tag change, from, to).
    sends: SmallVec<[(usize, usize, Access, Access); 4]>,
    /// (place of the install, place of the tag change).
    installs: SmallVec<[(usize, usize); 4]>,
}

impl Fusion {
    /// Finds them.
    // `ARCHITECTURE.md`, "Written where it stays".
    fn fuse(&mut self, effects: &[Primitive]) {
        for (at, effect) in effects.iter().enumerate() {
            let &Primitive::Tag(block, from, to) = effect else { continue };
            if to < from {
                let sends = |e: &Primitive| matches!(e, Primitive::Send { data: Some((DataFrom::Block(b), _)), .. } if *b == block);
                if let Some(send) = (0..effects.len()).rev().find(|&i| sends(&effects[i]) && self.of_send(i).is_none())
                {
                    self.sends.push((send, at, from, to));
                }
            } else if let Some(install) =
                (0..effects.len()).find(|&i| effects[i] == Primitive::InstallBlock(block) && !self.of_install(i))
            {
                self.installs.push((install, at));
            }
        }
    }

    fn of_send(&self, at: usize) -> Option<(Access, Access)> {
        self.sends.iter().find(|s| s.0 == at).map(|s| (s.2, s.3))
    }

    fn of_install(&self, at: usize) -> bool {
        self.installs.iter().any(|i| i.0 == at)
    }

    fn gone(&self, at: usize) -> bool {
        self.sends.iter().any(|s| s.1 == at) || self.installs.iter().any(|i| i.1 == at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_protocol::BLOCK;

    const MESSAGE: Trigger = Trigger::Message { words: 0, packets: 0 };

    use trivium_engine::Object;

    const B: Object = Object { kind: BLOCK, id: 7 };

    fn time(machine: &str, source: Trigger, effects: &[Primitive], block: u64) -> HandlerTime {
        let machine = Machine::load(machine, &[]).unwrap();
        let mut bus = Bus::new(&machine.bus);
        let mut timing = HandlerTime { stretches: Some(Vec::new()), ..HandlerTime::default() };
        lay(Did { trigger: source, effects, given: None }, 1000, &machine, block, &mut bus, &mut timing);
        timing
    }

    /// Reinhardt, Pfile and Wood 1998: home handler 49, 94, 265, 564.
    #[test]
    fn the_home_of_a_read_miss_is_occupied_as_published() {
        let data = Some((DataFrom::Block(B), 32));
        let effects = [
            Primitive::Record(true),
            Primitive::Steps(1),
            Primitive::Send { words: 0, data },
            Primitive::Tag(B, Access::Write, Access::Read),
        ];
        for (machine, cycles) in [("simple-coma", 49), ("typhoon", 94), ("typhoon-1", 265), ("typhoon-0", 564)] {
            let timing = time(machine, MESSAGE, &effects, 32);
            assert_eq!(timing.end - 1000, cycles, "{machine}");
            assert_eq!(timing.sends[..], [timing.end]);
        }
    }

    /// Reinhardt, Pfile and Wood 1998: response side 1, 21, 105, 460, and the unmasking of step 15.
    #[test]
    fn the_response_side_is_occupied_as_published() {
        let effects = [Primitive::InstallBlock(B), Primitive::Tag(B, Access::None, Access::Read), Primitive::Resume];
        for (machine, cycles, unmask) in
            [("simple-coma", 1, 0), ("typhoon", 21, 0), ("typhoon-1", 105, 22), ("typhoon-0", 460, 22)]
        {
            let timing = time(machine, MESSAGE, &effects, 32);
            assert_eq!(timing.end - 1000, cycles + unmask, "{machine}");
        }
    }

    /// Reinhardt, Pfile and Wood 1998: block prices once per granule, the control part once.
    #[test]
    fn larger_blocks_pay_by_the_granule() {
        let data = Some((DataFrom::Block(B), 128));
        let effects = [Primitive::Send { words: 0, data }, Primitive::Tag(B, Access::Write, Access::None)];
        assert_eq!(time("typhoon", MESSAGE, &effects, 128).end - 1000, 9 + 17 + 4 * 48);
    }

    /// The grant of an upgrade is read and dispatched once, however large its block is: 0.72 us (section 4.7: 2.84 - 2.12).
    #[test]
    fn a_part_of_a_message_is_paid_once_for_a_large_block() {
        let grant = [Primitive::Tag(B, Access::Read, Access::Write)];
        let took = |block| time("typhoon-0-prototype", MESSAGE, &grant, block).end - 1000;
        assert_eq!(took(2048) - took(32), 63 * 8);
    }

    /// Reinhardt, Pfile and Wood 1998: only the engine's own cycles are stretched.
    #[test]
    fn a_slower_engine_does_not_slow_the_bus() {
        let mut machine = Machine::load("typhoon", &[]).unwrap();
        machine.engine.slowdown = crate::machine::ratio::Ratio::new(4, 1).unwrap();
        let data = Some((DataFrom::Block(B), 32));
        let effects = [
            Primitive::Record(true),
            Primitive::Send { words: 0, data },
            Primitive::Tag(B, Access::Write, Access::Read),
        ];
        let (mut bus, mut timing) = (Bus::new(&machine.bus), HandlerTime::default());
        lay(Did { trigger: MESSAGE, effects: &effects, given: None }, 0, &machine, 32, &mut bus, &mut timing);
        assert_eq!(timing.end, 46 * 4 + 48);
    }

    /// Bulk data of 48 words: three packets, of which each pays its header where it leaves, and header and dispatch where it comes.
    #[test]
    fn each_packet_pays_header_and_dispatch() {
        let took = |packet_words: Option<u64>, trigger, effects: &[Primitive]| {
            let mut machine = Machine::load("typhoon", &[]).unwrap();
            machine.interface.packet_words = packet_words;
            let (mut bus, mut time) = (Bus::new(&machine.bus), HandlerTime::default());
            lay(Did { trigger, effects, given: None }, 0, &machine, 64, &mut bus, &mut time);
            time.end
        };
        for from in [DataFrom::Words, DataFrom::Memory, DataFrom::Received, DataFrom::Block(B)] {
            let send = [Primitive::Send { words: 0, data: Some((from, 48 * 8)) }];
            let one = took(None, MESSAGE, &send);
            assert_eq!(took(Some(48), MESSAGE, &send), one);
            assert_eq!(took(Some(16), MESSAGE, &send), one + 2 * 17);
            assert_eq!(took(Some(15), MESSAGE, &send), one + 3 * 17);
        }
        let received = |packets| took(None, Trigger::Message { words: 0, packets }, &[]);
        assert_eq!((received(1), received(3)), (6 + 3, 3 * (6 + 3)));
    }

    #[test]
    fn a_second_copy_is_not_fused_with_the_same_tag_change() {
        let data = Some((DataFrom::Block(B), 32));
        let send = Primitive::Send { words: 0, data };
        let effects = [send, send, Primitive::Tag(B, Access::Write, Access::None)];
        let timing = time("typhoon-0", MESSAGE, &effects, 32);
        assert_eq!(timing.end - 1000, 159 + 40 + 2 * 52 + 168 + 192);
    }
}
