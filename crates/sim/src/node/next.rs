//! What a node does next without its processor, and when.

use crate::events::{Arrival, Envelope, Expiry, Key, Local};
use crate::node::NodeState;
use trivium_engine::Event;
use trivium_engine::number::fit;
use trivium_node::{Arrived, InQueue, Stuck, Wait};
use trivium_protocol::{EventKind, LaneId};

/// The next thing that happens on a node without its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    /// When; [`Next::NEVER`] if nothing does.
    pub time: u64,
    /// What.
    pub action: Action,
}

/// What happens on a node without its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// The first credit lets something go on.
    Credit,
    /// The first signal takes effect.
    Signal,
    /// The engine tries again what it had deferred, by its place among the replays.
    Replay(u32),
    /// The engine takes what has arrived, by its place in the inbox.
    Arrival(u32),
}

/// What [`fit`] says of a place that does not fit.
const PLACE: &str = "a place among what waits for an engine, which has 32 bits";

impl Next {
    /// The time of what does not happen.
    pub(crate) const NEVER: u64 = u64::MAX;

    const NOTHING: Next = Next { time: Next::NEVER, action: Action::Signal };
}

/// Who goes on on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Its processor, which has been told how far.
    Processor,
    /// Its engine, or the node itself.
    Engine(Next),
    /// Nobody before the end; the next moment at which anything can happen, [`Next::NEVER`] if there is none.
    Nobody(u64),
}

impl NodeState {
    /// Who goes on before cycle `end`.
    #[inline(always)]
    pub(crate) fn turn(&mut self, end: u64) -> Turn {
        let next = self.next();
        let limit = next.time.min(end);
        if self.must_run() || self.thread().is_running() && self.compute.clock() < limit {
            self.compute.limit = limit;
            Turn::Processor
        } else if next.time < end {
            Turn::Engine(next)
        } else {
            Turn::Nobody(self.position(next))
        }
    }

    /// What the engine or the node itself does next. Of two at the same time a credit goes first, then a signal.
    #[inline(always)]
    pub(crate) fn next(&self) -> Next {
        let is_quiet = self.queues.signals.is_empty() && self.core.schedule.has_no_replays();
        let calls = matches!(self.thread().wait, Some(Wait::Call { .. }));
        if self.is_plain && is_quiet && !calls && !self.model.interface.has_waiting() {
            return self.first_arrival();
        }
        self.next_of_many()
    }

    /// The same where more than what came first can be next.
    #[inline(never)]
    fn next_of_many(&self) -> Next {
        let next = self.choose();
        if self.queues.signals.is_empty() && !self.waits_for_credits() {
            return next;
        }
        self.next_with_signals(next)
    }

    /// The same where there are signals, or credits may let something go on; `next` is what the engine does.
    fn next_with_signals(&self, mut next: Next) -> Next {
        let mut earlier = |key: Key, action: Action| {
            let time = key.time.max(self.now);
            if time <= next.time {
                next = Next { time, action };
            }
        };
        if let Some(&(key, _)) = self.queues.signals.first() {
            earlier(key, Action::Signal);
        }
        if self.waits_for_credits()
            && let Some(&(key, _)) = self.queues.credits.first()
        {
            earlier(key, Action::Credit);
        }
        next
    }

    /// Whether something waits that a credit may let go on.
    pub(crate) fn waits_for_credits(&self) -> bool {
        self.model.interface.has_waiting() || self.shared.protocols.any_waits
    }

    /// The next moment at which anything can happen on it, given what it next does by itself; [`Next::NEVER`] if there
    /// is none.
    #[inline]
    pub(crate) fn position(&self, next: Next) -> u64 {
        if self.thread().is_running() { next.time.min(self.compute.clock()) } else { next.time }
    }

    /// When a handler can begin for what is there from cycle `ready` on. The program can be left where it has stopped, and not
    /// in the trap of its aborted access.
    #[inline]
    fn start_at(&self, ready: u64) -> u64 {
        self.model.accept(ready, self.compute.clock().max(self.compute.trapped))
    }

    /// When the engine can start with an arrival.
    #[inline(always)]
    fn start_of(&self, key: Key, arrival: &Arrival) -> u64 {
        match arrival {
            // What a message takes from its port on has passed meanwhile.
            Arrival::Message(envelope) if self.model.has_slots() => {
                self.model.accept_on(envelope.lane, key.time).max(self.now)
            }
            Arrival::Message(_) => {
                self.model.accept_message(key.time, self.compute.clock().max(self.compute.trapped)).max(self.now)
            }
            Arrival::Local(local) if self.handles_itself(local) => {
                self.model.accept_call(key.time.max(self.now), self.compute.clock().max(self.compute.trapped))
            }
            _ => self.start_at(key.time).max(self.now),
        }
    }

    /// Whether that is a call, and the node's processor handles its program's calls.
    fn handles_itself(&self, local: &Local) -> bool {
        self.model.handles_calls() && matches!(local.event.kind, EventKind::Op(_))
    }

    /// What the engine does next, or the processor with a call.
    fn choose(&self) -> Next {
        if self.is_out_of_library() {
            return Next::NOTHING;
        }
        let next = match self.model.has_idle_handler() {
            true => self.timer_before(self.choose_in_order()),
            false => self.choose_in_order(),
        };
        match self.model.handles_calls() && matches!(self.thread().wait, Some(Wait::Call { .. })) {
            true => self.earlier_call(next),
            false => next,
        }
    }

    /// A timer that has run out before what would be `next` in order can begin: the engine's idle handler goes first.
    #[inline(never)]
    fn timer_before(&self, next: Next) -> Next {
        let mut arrivals = self.queues.inbox.iter().enumerate();
        let first = arrivals.find_map(|(at, (key, arrival))| match arrival {
            Arrival::Timer(expiry) => {
                let &Expiry { protocol, role, object, generation } = &**expiry;
                let waits = self.core.timer_must_wait(&self.model.interface, (protocol, role, object), generation);
                (!waits).then(|| (at, self.start_of(*key, arrival)))
            }
            _ => None,
        });
        match first {
            Some((at, time)) if time <= next.time => Next { time, action: Action::Arrival(fit(at, PLACE)) },
            _ => next,
        }
    }

    /// The call that the processor can begin to handle before what would be `next` in order, for which the engine is perhaps not
    /// free yet. There is one at most, since a program waits for the end of its call.
    #[inline(never)]
    fn earlier_call(&self, next: Next) -> Next {
        let own =
            |(_, arrival): &(Key, Arrival)| matches!(arrival, Arrival::Local(local) if self.handles_itself(local));
        let Some((at, (key, arrival))) = self.queues.inbox.iter().enumerate().find(|(_, entry)| own(entry)) else {
            return next;
        };
        let Arrival::Local(local) = arrival else { return next };
        let time = self.start_of(*key, arrival);
        match time < next.time && self.may_start(local.protocol, &local.event) {
            true => Next { time, action: Action::Arrival(fit(at, PLACE)) },
            false => next,
        }
    }

    /// What comes next in order: a replay that is due, else what came first, unless a lane has no room for it.
    fn choose_in_order(&self) -> Next {
        if self.model.has_slots() {
            return self.choose_of_several();
        }
        if !self.core.schedule.has_no_replays() || self.core.protocols.any_waits {
            return self.choose_with_care();
        }
        self.first_arrival()
    }

    /// What came first.
    #[inline(always)]
    fn first_arrival(&self) -> Next {
        match self.queues.inbox.first() {
            None => Next::NOTHING,
            Some(&(key, ref arrival)) => Next { time: self.start_of(key, arrival), action: Action::Arrival(0) },
        }
    }

    /// What one of several engines can begin first: each takes what came first for it and may start.
    #[inline(never)]
    fn choose_of_several(&self) -> Next {
        let lanes = &self.model.interface;
        let mut next = match self.core.next_replay(lanes) {
            Some(at) => Next { time: self.start_at(self.now), action: Action::Replay(fit(at, PLACE)) },
            None => Next::NOTHING,
        };
        let mut taken: u32 = if next == Next::NOTHING { 0 } else { 1 };
        let mut stuck = Stuck::default();
        for (at, &(key, ref arrival)) in self.queues.inbox.iter().enumerate() {
            let engine = match arrival {
                Arrival::Message(envelope) => self.model.engine_of(envelope.lane),
                // The processor takes it, whatever the engines do.
                Arrival::Local(local) if self.handles_itself(local) => continue,
                _ => 0,
            };
            if taken & 1 << engine != 0 {
                continue;
            }
            if !self.may_begin(arrival, &mut stuck) {
                continue;
            }
            taken |= 1 << engine;
            let time = self.start_of(key, arrival);
            if time < next.time {
                next = Next { time, action: Action::Arrival(fit(at, PLACE)) };
            }
        }
        next
    }

    /// Whether what has arrived may be handled, and is not kept back by what is stuck before it; if it may not, it may be stuck itself.
    fn may_begin(&self, arrival: &Arrival, stuck: &mut Stuck) -> bool {
        let (protocol, event, lane) = match arrival {
            Arrival::Message(envelope) => (envelope.protocol, message_event(envelope), Some(as_arrived(envelope))),
            Arrival::Local(local) => (local.protocol, local.event, None),
            Arrival::Timer(expiry) => {
                let &Expiry { protocol, role, object, generation } = &**expiry;
                return !self.core.timer_must_wait(&self.model.interface, (protocol, role, object), generation);
            }
        };
        if !lane.is_some_and(|lane| self.core.is_kept_back(stuck, lane)) && self.may_start(protocol, &event) {
            return true;
        }
        if let Some(lane) = lane {
            self.core.is_stuck(stuck, lane, &event);
        }
        false
    }

    #[inline(never)]
    fn choose_with_care(&self) -> Next {
        let lanes = &self.model.interface;
        if let Some(at) = self.core.next_replay(lanes) {
            return Next { time: self.start_at(self.now), action: Action::Replay(fit(at, PLACE)) };
        }
        let mut stuck = Stuck::default();
        for (at, &(key, ref arrival)) in self.queues.inbox.iter().enumerate() {
            let next = || Next { time: self.start_of(key, arrival), action: Action::Arrival(fit(at, PLACE)) };
            if stuck.is_empty() && self.goes_at_once(arrival) {
                return next();
            }
            let (protocol, event, lane) = match arrival {
                Arrival::Message(envelope) => (envelope.protocol, message_event(envelope), Some(as_arrived(envelope))),
                Arrival::Local(local) => (local.protocol, local.event, None),
                Arrival::Timer(expiry) => {
                    let &Expiry { protocol, role, object, generation } = &**expiry;
                    if self.core.timer_must_wait(lanes, (protocol, role, object), generation) {
                        continue;
                    }
                    return next();
                }
            };
            if !lane.is_some_and(|lane| self.core.is_kept_back(&stuck, lane)) && self.may_start(protocol, &event) {
                let may_stall = lane.is_some() && self.core.protocols.engines[protocol].may_stall();
                return may_stall.then(|| self.held_before(key.time)).flatten().unwrap_or_else(next);
            }
            if let Some(lane) = lane {
                self.core.is_stuck(&mut stuck, lane, &event);
            }
        }
        Next::NOTHING
    }

    /// What a thread wants that was held before this cycle and may start now: it has waited longer than a message that came then.
    #[cold]
    fn held_before(&self, time: u64) -> Option<Next> {
        // Where times are given, so is what comes first.
        if self.forced.is_some() {
            return None;
        }
        self.queues.inbox.iter().enumerate().find_map(|(at, (key, arrival))| {
            let Arrival::Local(local) = arrival else { return None };
            let is_older = local.held.is_some_and(|since| since < time);
            let next = || Next { time: self.start_of(*key, arrival), action: Action::Arrival(fit(at, PLACE)) };
            (is_older && self.may_start(local.protocol, &local.event)).then(next)
        })
    }

    /// Whether a message may start, as can be seen without a look at what it is: nothing is to be tried again before it, and there is room
    /// for whatever its handler may send.
    #[inline]
    fn goes_at_once(&self, arrival: &Arrival) -> bool {
        let Arrival::Message(envelope) = arrival else { return false };
        self.core.schedule.has_no_replays()
            && !self.core.protocols.engines[envelope.protocol].may_stall()
            && self.core.is_roomy(&self.model.interface, envelope.protocol)
    }

    /// Whether nothing that came before must be handled first, and there is room for what the event's handler may send.
    fn may_start(&self, protocol: usize, event: &Event) -> bool {
        // A processor's requests stay behind what its cache gave up before.
        let behind = event.has_caller() && self.core.lines.is_leaving(event.object);
        !behind
            && !self.core.is_behind_a_replay(protocol, event)
            && self.core.can_start(&self.model.interface, protocol, event)
    }

    /// The messages that stall here, with this node, in words; the first few.
    pub fn stalled(&self) -> Vec<String> {
        let told = self.core.stalled_text(&self.model.interface, self.queues.inbox.iter().filter_map(waiting));
        told.into_iter().map(|text| format!("node {}: {text}", self.core.me)).collect()
    }

    /// Notes what stalls, or is kept back by what does, of the first `up_to` that have arrived.
    #[inline(never)]
    pub(super) fn note_blocked(&mut self, up_to: usize) {
        let arrived = self.queues.inbox.iter().take(up_to).take_while(|(key, _)| key.time <= self.now);
        self.core.note_blocked(&self.model.interface, arrived.filter_map(waiting));
    }

    /// Finite lanes on which this node has as many messages on their way as they hold, while an event waits.
    pub fn full_lanes(&self) -> Vec<(usize, LaneId)> {
        if self.queues.inbox.is_empty() && self.core.schedule.has_no_replays() {
            return Vec::new();
        }
        self.core.full_lanes(&self.model.interface)
    }
}

/// A message that has arrived, and when.
fn waiting((key, arrival): &(Key, Arrival)) -> Option<InQueue> {
    match arrival {
        Arrival::Message(envelope) => {
            Some(InQueue { message: as_arrived(envelope), event: message_event(envelope), since: key.time })
        }
        _ => None,
    }
}

pub(super) fn as_arrived(envelope: &Envelope) -> Arrived {
    Arrived { protocol: envelope.protocol, sender: envelope.from, lane: envelope.lane, number: envelope.id }
}

/// The event of a message, without its data.
fn message_event(envelope: &Envelope) -> Event {
    Event {
        kind: EventKind::Message(envelope.message),
        object: envelope.object,
        sender: envelope.from,
        thread: 0,
        args: envelope.args,
        payload: None,
    }
}
