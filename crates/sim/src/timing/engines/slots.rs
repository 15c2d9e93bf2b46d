//! Several engines of a node: one for the messages of each lane, and one for all other events. Each is a hardware thread of its own that waits for its
//! events (M-Machine, our specification 2.7). What messages take on their way to and from the network are stages, beside the price list.

use super::{Assembled, Engine, Job};
use crate::machine::slots::{SlotsModel, Stage};
use crate::machine::{InterfaceModel, Machine};
use crate::reports::timeline::{Reason, Stretch};
use crate::timing::bus::Bus;
use crate::timing::gtlb::Gtlb;
use crate::timing::pricing::{Did, HandlerTime, Trigger, lay};
use trivium_node::Primitive;

pub(super) struct Slots {
    model: SlotsModel,
    interface: InterfaceModel,
    interval: u64,
    /// Where its messages find their nodes, if that takes time.
    gtlb: Option<Gtlb>,
    /// What the present handler did, with the words that do not ride in headers.
    effects: Vec<Primitive>,
}

impl Slots {
    pub(super) fn new(machine: &Machine) -> Slots {
        Slots {
            model: machine.slots.clone().unwrap_or_default(),
            interface: machine.interface.clone(),
            interval: machine.engine.interval,
            gtlb: machine.gtlb.as_ref().map(Gtlb::new),
            effects: Vec::new(),
        }
    }

    /// Words of arguments that do not ride in a message's header.
    fn beyond(&self, words: u64) -> u64 {
        words.saturating_sub(self.interface.header_words)
    }

    /// What comes before a message's handler, from cycle `start` on: when the handler has all words.
    fn receive(&self, words: u64, job: &Job, time: &mut HandlerTime) -> u64 {
        let SlotsModel { dispatch, extract, .. } = &self.model;
        let mut now = job.ready.saturating_sub(self.interface.receive_latency).min(job.start);
        wait(time, "network interface, in", Reason::Interface, &mut now, job.ready);
        wait(time, "wait for the slot", Reason::Engine, &mut now, job.start);
        if !extract.streams {
            wait(time, "wait for the last word", Reason::Interface, &mut now, job.whole);
        }
        let until = now + dispatch.latency.of(words);
        wait(time, "dispatch", Reason::Handler, &mut now, until);
        let until = now + extract.latency.of(words);
        wait(time, "extract", Reason::Interface, &mut now, until);
        if words > 0 {
            // The last word cannot be read before it is there.
            let last = job.whole + extract.latency.word.of(1);
            wait(time, "wait for the last word", Reason::Interface, &mut now, last);
        }
        time.uses.dispatch += dispatch.occupancy.of(words);
        time.uses.extract += extract.occupancy.of(words);
        time.read = now;
        now
    }

    /// A call that sends ordered messages waits for a miss of the table: when its handler begins.
    fn issue(&self, job: &Job, time: &mut HandlerTime) -> u64 {
        let mut now = job.start;
        if let (Some(gtlb), Some(addressed)) = (&self.gtlb, job.addressed) {
            let until = gtlb.issued(now, addressed);
            wait(time, "wait for a GTLB miss", Reason::Translation, &mut now, until);
        }
        now
    }

    /// The node of a message of so many words is looked up, which is sent at cycle `at`, and whose head has left `head` cycles later: what that delays it.
    fn look_up(&mut self, (at, head): (u64, u64), words: u64, job: &Job, time: &mut HandlerTime) -> [Passed; 3] {
        let again = self.inject(words, Assembled::default());
        let (Some(gtlb), Some(addressed)) = (&mut self.gtlb, job.addressed) else { return [NOTHING; 3] };
        let lookup = gtlb.model().lookup;
        let looked = ("look the node up", Reason::Translation, lookup);
        if gtlb.finds(addressed) {
            return [looked, NOTHING, NOTHING];
        }
        // The unit has taken all of it, and leaves it to the engine of events, which reads it out of the sender's registers and sends it again.
        let given_up = at + lookup + again.hold;
        let begun = given_up.max(job.events_free).max(time.events_until);
        let found = begun + gtlb.model().miss.of(words);
        (time.events_until, time.given_up) = (found + again.hold, Some(given_up));
        time.gtlb_misses += 1;
        time.uses.translate += found - begun;
        time.uses.inject += again.occupancy;
        gtlb.resolves(time.events_until);
        let missed = ("GTLB miss", Reason::Translation, found - (at + head + lookup));
        [looked, missed, ("inject again", Reason::Interface, again.head)]
    }

    /// Messages leave through the stages of their sender, which moves what its handler does after them.
    fn leave(&mut self, job: &Job, time: &mut HandlerTime) {
        let (mut sent, mut moved) = (0, 0);
        let mut resume = None;
        let effects = std::mem::take(&mut self.effects);
        for effect in &effects {
            match *effect {
                Primitive::Send { words, .. } => {
                    moved += self.send(words, (sent, moved), job, time);
                    sent += 1;
                }
                Primitive::Resume if resume.is_none() => resume = Some(moved),
                _ => {}
            }
        }
        self.effects = effects;
        if let (Some(at), Some(moved)) = (&mut time.resume, resume) {
            *at += moved;
        }
        let (mut end, until) = (time.end, time.end + moved);
        wait(time, "translate, inject", Reason::Interface, &mut end, until);
        time.end = end;
    }

    /// What it takes to give a message of so many words away, of which a program has made some ready: until its head leaves, from that to its last word, and
    /// for how long the thread has to do with it.
    fn inject(&self, words: u64, assembled: Assembled) -> Injected {
        let Stage { latency, occupancy, hold, streams, keeps } = &self.model.inject;
        let fresh = match (keeps, assembled.fresh) {
            (true, Some(fresh)) => fresh.min(words),
            _ => words,
        };
        if !streams {
            let (head, hold) = (latency.of(fresh), hold.as_ref().unwrap_or(latency).of(fresh));
            return Injected { head, tail: 0, hold, occupancy: occupancy.of(fresh) };
        }
        // Words go as the program makes them. What is over then has taken no time of its own.
        let over = assembled.cycles;
        let head = latency.fixed.of(1).saturating_sub(over);
        let last = latency.of(words).saturating_sub(over).max(head);
        Injected { head, tail: last - head, hold: last, occupancy: occupancy.of(words) }
    }

    /// A handler's message of so many words, the `sent`-th, leaves; earlier ones have moved it by `moved` cycles. By how many it moves what its handler does after it.
    fn send(&mut self, words: u64, (sent, moved): (usize, u64), job: &Job, time: &mut HandlerTime) -> u64 {
        let injected = self.inject(words, job.assembled);
        let translate = &self.model.translate;
        let (translating, translates) = (translate.latency.of(words), translate.occupancy.of(words));
        let issued = time.sends[sent] + moved + translating;
        let [looked, missed, again] = self.look_up((issued, injected.head), words, job, time);
        let stages = [
            ("wait for an earlier message", Reason::Interface, moved),
            ("translate", Reason::Interface, translating),
            ("inject", Reason::Interface, injected.head),
            looked,
            missed,
            again,
            ("network interface, out", Reason::Interface, self.interface.send_latency),
        ];
        pass(time, sent, &stages);
        time.tails.push(injected.tail);
        time.uses.translate += translates;
        time.uses.inject += injected.occupancy;
        translating + injected.hold
    }
}

/// A message that is given away: cycles.
struct Injected {
    /// Until its head leaves.
    head: u64,
    /// From then until its last word does, if that is not when the port has passed it.
    tail: u64,
    /// For how long its thread has to do with it.
    hold: u64,
    /// Opportunities to issue an instruction that it takes.
    occupancy: u64,
}

/// What a message passes, for what reason, and for how many cycles.
type Passed = (&'static str, Reason, u64);

/// What takes no time.
const NOTHING: Passed = ("", Reason::Interface, 0);

/// A message that its handler has handed over goes through stages, and leaves; by which way, if that is asked for.
fn pass(time: &mut HandlerTime, sent: usize, stages: &[Passed]) {
    let handed = time.sends[sent];
    time.sends[sent] += stages.iter().map(|stage| stage.2).sum::<u64>();
    let Some(stretches) = &time.stretches else { return };
    let mut way: Vec<Stretch> = stretches.iter().filter(|part| part.from < handed).cloned().collect();
    if let Some(last) = way.last_mut() {
        last.to = last.to.min(handed);
    }
    let mut now = handed;
    for &(what, reason, cycles) in stages.iter().filter(|stage| stage.2 > 0) {
        way.push(Stretch { what: what.into(), reason, from: now, to: now + cycles });
        now += cycles;
    }
    time.ways.push(way);
}

/// The handler waits until a cycle, or does what is said so long.
fn wait(time: &mut HandlerTime, what: &'static str, reason: Reason, now: &mut u64, until: u64) {
    if until <= *now {
        return;
    }
    if let Some(stretches) = &mut time.stretches {
        stretches.push(Stretch { what: what.into(), reason, from: *now, to: until });
    }
    *now = until;
}

impl Engine for Slots {
    fn occupancy(&self, cycles: u64) -> u64 {
        cycles.max(self.interval)
    }

    fn receive_latency(&self) -> u64 {
        self.interface.receive_latency
    }

    fn lay(&mut self, job: &Job, bus: &mut Bus, time: &mut HandlerTime) -> bool {
        time.restart();
        time.tails.clear();
        time.uses = Default::default();
        (time.gtlb_misses, time.events_until, time.given_up) = (0, 0, None);
        time.read = job.start;
        let mut trigger = job.did.trigger;
        let mut start = self.issue(job, time);
        if let Trigger::Message { words, packets } = trigger {
            let words = self.beyond(words);
            trigger = Trigger::Message { words, packets };
            start = self.receive(words, job, time);
        }
        let mut effects = std::mem::take(&mut self.effects);
        effects.clear();
        effects.extend(job.did.effects.iter().map(|effect| match *effect {
            Primitive::Send { words, data } => Primitive::Send { words: self.beyond(words), data },
            other => other,
        }));
        let did = Did { trigger, effects: &effects, given: job.did.given };
        let (told, used) = (time.stretches.take(), time.uses);
        time.stretches = told.is_some().then(Vec::new);
        lay(did, start, job.machine, job.block, bus, time);
        time.uses = used;
        if let (Some(before), Some(own)) = (told, &mut time.stretches) {
            own.splice(0..0, before);
        }
        self.effects = effects;
        if matches!(trigger, Trigger::Call(_)) {
            time.uses.format += time.end - start;
        }
        self.leave(job, time);
        true
    }
}
