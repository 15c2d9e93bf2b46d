//! Several engines of a node: one for the messages of each lane, and one for all other events. Each is a hardware thread of its own that waits for its
//! events (M-Machine, our specification 2.7). What messages take on their way to and from the network are stages, beside the price list.

use super::{Engine, Job};
use crate::machine::slots::{Linear, SlotsModel};
use crate::machine::{InterfaceModel, Machine};
use crate::reports::timeline::{Reason, Stretch};
use crate::timing::bus::Bus;
use crate::timing::pricing::{Did, HandlerTime, Trigger, lay};
use trivium_node::Primitive;

pub(super) struct Slots {
    model: SlotsModel,
    interface: InterfaceModel,
    interval: u64,
    /// What the present handler did, with the words that do not ride in headers.
    effects: Vec<Primitive>,
}

impl Slots {
    pub(super) fn new(machine: &Machine) -> Slots {
        Slots {
            model: machine.slots.clone().unwrap_or_default(),
            interface: machine.interface.clone(),
            interval: machine.engine.interval,
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
        now
    }

    /// Messages leave through the stages of their sender, which moves what its handler does after them.
    fn leave(&self, time: &mut HandlerTime) {
        let SlotsModel { inject, translate, .. } = &self.model;
        let (mut sent, mut moved) = (0, 0);
        let mut resume = None;
        for effect in &self.effects {
            match *effect {
                Primitive::Send { words, .. } => {
                    let Linear { fixed, word } = &inject.latency;
                    let (head, tail) = match inject.streams {
                        true => (fixed.of(1), word.of(words)),
                        false => (inject.latency.of(words), 0),
                    };
                    let stages = [
                        ("wait for an earlier message", Reason::Interface, moved),
                        ("translate", Reason::Interface, translate.latency.of(words)),
                        ("inject", Reason::Interface, head),
                        ("network interface, out", Reason::Interface, self.interface.send_latency),
                    ];
                    pass(time, sent, stages);
                    time.tails.push(tail);
                    let (translates, injects) = (translate.occupancy.of(words), inject.occupancy.of(words));
                    moved += translates + injects;
                    time.uses.translate += translates;
                    time.uses.inject += injects;
                    sent += 1;
                }
                Primitive::Resume if resume.is_none() => resume = Some(moved),
                _ => {}
            }
        }
        if let (Some(at), Some(moved)) = (&mut time.resume, resume) {
            *at += moved;
        }
        let (mut end, until) = (time.end, time.end + moved);
        wait(time, "translate, inject", Reason::Interface, &mut end, until);
        time.end = end;
    }
}

/// A message that its handler has handed over goes through stages, and leaves; by which way, if that is asked for.
fn pass(time: &mut HandlerTime, sent: usize, stages: [(&'static str, Reason, u64); 4]) {
    let handed = time.sends[sent];
    time.sends[sent] += stages.iter().map(|stage| stage.2).sum::<u64>();
    let Some(stretches) = &time.stretches else { return };
    let mut way: Vec<Stretch> = stretches.iter().filter(|part| part.from < handed).cloned().collect();
    if let Some(last) = way.last_mut() {
        last.to = last.to.min(handed);
    }
    let mut now = handed;
    for (what, reason, cycles) in stages.into_iter().filter(|stage| stage.2 > 0) {
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
        let mut trigger = job.did.trigger;
        let mut start = job.start;
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
        self.leave(time);
        true
    }
}
