//! What a node's handlers do next, and what becomes of what they did.

use super::NodeState;
use super::mechanisms::What;
use super::queued::Incoming;
use crate::history::{History, PastEvent};
use crate::packets::spare::Arrival;
use crate::packets::wire::write_credit;
use trivium_engine::{Engine, Event, Fault, Outcome, Payload, Thread};
use trivium_node::{
    Arrived, EventNumber, GoesOn, Held, InQueue, Instance, NodeError, Protocols, RunningHandler, Stuck, ThreadHost,
    let_threads_go_on, of_fault, try_again,
};
use trivium_protocol::{BLOCK, EventKind, LaneId, RoleId};

/// What a node can do next.
enum Action {
    /// The deferred event at this place among the replays.
    Replay(usize),
    /// What is at this place in the inbox.
    Incoming(usize),
    /// The timer at this place among those that run.
    Timer(usize),
}

/// A message that has arrived, and that is there `since`.
fn waiting(protocols: &Protocols, incoming: &Incoming, since: u64) -> Option<InQueue> {
    match incoming {
        Incoming::Message(message) => {
            Some(InQueue { message: arrived(protocols, message), event: message.event, since })
        }
        Incoming::Local(_) => None,
    }
}

fn arrived(protocols: &Protocols, message: &Arrival) -> Arrived {
    let (protocol, sender, number) = (message.protocol, message.event.sender, message.order);
    Arrived { protocol, sender, lane: lane_of(protocols, message), number }
}

fn lane_of(protocols: &Protocols, message: &Arrival) -> LaneId {
    let EventKind::Message(kind) = message.event.kind else { return LaneId(0) };
    protocols.engines[message.protocol].protocol().messages[kind.index()].lane
}

impl NodeState {
    /// Runs one handler, if there is something for one.
    ///
    /// # Errors
    /// A fault of a protocol.
    pub(super) fn handle_one(&mut self) -> Result<bool, NodeError> {
        let action = self.choose();
        if self.core.protocols.any_stalls {
            self.note_blocked(action.as_ref());
        }
        let Some(action) = action else { return Ok(false) };
        self.progress.moved += 1;
        self.note_handler();
        match action {
            Action::Replay(at) => self.replay(at)?,
            Action::Timer(at) => self.timer_ended(at)?,
            Action::Incoming(at) => match self.queued.take(at) {
                Some(Incoming::Message(message)) => self.message(message)?,
                Some(Incoming::Local(own)) => {
                    if own.event.kind.is_hint() {
                        self.hint(own.protocol, &own.event)?;
                    } else if !own.event.has_caller()
                        || self.core.threads[own.event.thread].has_told(own.protocol, own.event.kind)
                        || self.core.threads[own.event.thread].begins_to_wait(own.of_thread)
                    {
                        self.dispatch(own.protocol, None, &own.event)?;
                    }
                    self.spare.keep_arrival(own);
                }
                None => {}
            },
        }
        Ok(true)
    }

    /// A replay that is due, a timer that has ended, else what came first, unless a lane has no room for it.
    fn choose(&self) -> Option<Action> {
        let is_simple =
            self.core.schedule.has_no_replays() && !self.core.protocols.any_waits && self.queued.timers.is_empty();
        match self.queued.inbox.front() {
            None if is_simple => None,
            Some(first) if is_simple && self.is_known(first) => Some(Action::Incoming(0)),
            _ => self.choose_with_care(),
        }
    }

    fn choose_with_care(&self) -> Option<Action> {
        if let Some(at) = self.core.next_replay(&self.queued.on_lanes) {
            return Some(Action::Replay(at));
        }
        if !self.queued.timers.is_empty()
            && let Some(at) = self.timer_that_ends()
        {
            return Some(Action::Timer(at));
        }
        let mut stuck = Stuck::default();
        for (at, incoming) in self.queued.inbox.iter().enumerate() {
            let (protocol, event, lane) = match incoming {
                Incoming::Message(message) => {
                    (message.protocol, message.event, Some(arrived(&self.core.protocols, message)))
                }
                Incoming::Local(own) => (own.protocol, own.event, None),
            };
            let waits = !self.is_known(incoming)
                || self.core.is_behind_a_replay(protocol, &event)
                || lane.is_some_and(|lane| self.core.is_kept_back(&stuck, lane));
            if !waits && self.core.can_start(&self.queued.on_lanes, protocol, &event) {
                return Some(Action::Incoming(self.held_before(incoming).unwrap_or(at)));
            }
            if let Some(lane) = lane {
                self.core.is_stuck(&mut stuck, lane, &event);
            }
        }
        None
    }

    /// The place of what a thread wants that has been held for longer than a message has waited, where messages stall, and may start now.
    fn held_before(&self, incoming: &Incoming) -> Option<usize> {
        let Incoming::Message(message) = incoming else { return None };
        if !self.core.protocols.engines[message.protocol].may_stall() {
            return None;
        }
        self.queued.inbox.iter().position(|other| match other {
            Incoming::Local(own) => {
                own.event.has_caller()
                    && own.order < message.order
                    && !self.core.is_behind_a_replay(own.protocol, &own.event)
                    && self.core.can_start(&self.queued.on_lanes, own.protocol, &own.event)
            }
            Incoming::Message(_) => false,
        })
    }

    /// The place of the first timer that has ended and may be handled.
    fn timer_that_ends(&self) -> Option<usize> {
        if let History::Replayed(_) = self.history {
            return if let Some(PastEvent::Timer(at)) = self.due() { Some(*at) } else { None };
        }
        let now = self.now();
        let ended = self.queued.timers.iter().take_while(|((end, _), _)| *end <= now);
        ended
            .map(|(_, timer)| timer)
            .position(|(instance, number)| !self.core.timer_must_wait(&self.queued.on_lanes, *instance, *number))
    }

    /// Whether this node knows the home of what a message is about.
    fn is_known(&self, incoming: &Incoming) -> bool {
        let Incoming::Message(message) = incoming else { return true };
        let object = message.event.object;
        if object.kind != BLOCK {
            return true;
        }
        let space = self.core.space.borrow();
        let page = space.page_of(self.core.offset_of(object));
        !space.by_first_touch(page) || self.core.pages.is_known(page)
    }

    pub(super) fn lane_of(&self, message: &Arrival) -> LaneId {
        lane_of(&self.core.protocols, message)
    }

    /// The lanes that have no room, while something waits: for those who look at a deadlock.
    pub(super) fn full_lanes(&self) -> Vec<String> {
        if self.queued.inbox.is_empty() && self.core.schedule.has_no_replays() {
            return Vec::new();
        }
        let name = |(protocol, lane): (usize, LaneId)| {
            let protocol = self.core.protocols.engines[protocol].protocol();
            format!("lane {}.{} has no room", protocol.name, protocol.lanes[lane.index()].name)
        };
        self.core.full_lanes(&self.queued.on_lanes).into_iter().map(name).collect()
    }

    /// The messages that stall here, in words; the first few.
    pub(super) fn stalled(&self) -> Vec<String> {
        let messages = self.queued.inbox.iter().filter_map(|incoming| waiting(&self.core.protocols, incoming, 0));
        self.core.stalled_text(&self.queued.on_lanes, messages)
    }

    /// Before that: notes what stalls of what has arrived earlier, or is kept back by it. Where nothing can be done that is all.
    fn note_blocked(&mut self, before: Option<&Action>) {
        let up_to = match before {
            Some(Action::Incoming(at)) => *at,
            _ => self.queued.inbox.len(),
        };
        if up_to > 0 {
            let now = self.now();
            let earlier = self.queued.inbox.iter().take(up_to);
            let protocols = self.core.protocols.clone();
            let messages = earlier.filter_map(|incoming| waiting(&protocols, incoming, now));
            self.core.note_blocked(&self.queued.on_lanes, messages);
        }
    }

    /// Whether nothing is left to handle.
    pub(super) fn is_quiet(&self) -> bool {
        self.queued.inbox.is_empty() && self.core.schedule.has_no_replays() && !self.keeps_messages()
    }

    /// Whether something happens by itself, now or when its time has come. What has arrived is among that: where the host takes the processor away
    /// while a node takes packets in, it answers twice before its handlers have their turn.
    pub(super) fn goes_on_by_itself(&self) -> bool {
        self.choose().is_some()
            || self.keeps_messages()
            || self.queued.timers.values().any(|(instance, number)| self.core.schedule.is_current(instance, *number))
    }

    fn replay(&mut self, at: usize) -> Result<(), NodeError> {
        let Some(((protocol, role, object), _)) = self.core.schedule.take_replay(at) else { return Ok(()) };
        let protocols = self.core.protocols.clone();
        let engine = &protocols.engines[protocol];
        let record = self.core.record_of(protocol, role, object);
        let event = record.and_then(|record| engine.replay_event(role, object, record));
        self.handling.restart(protocol);
        if let Some(event) = event.filter(Event::has_caller) {
            self.core.threads[event.thread].is_replayed();
        }
        let outcome = engine.replay(role, object, &mut RunningHandler(&mut *self));
        self.ended(protocol, engine, event.as_ref(), outcome)
    }

    fn timer_ended(&mut self, at: usize) -> Result<(), NodeError> {
        self.happened(PastEvent::Timer(at));
        let Some(key) = self.queued.timers.keys().nth(at).copied() else { return Ok(()) };
        let Some((instance, number)) = self.queued.timers.remove(&key) else { return Ok(()) };
        if !self.core.schedule.is_current(&instance, number) {
            return Ok(());
        }
        let (protocol, role, object) = instance;
        self.dispatch(protocol, Some(role), &Event::local(EventKind::Timer, object, 0))
    }

    fn message(&mut self, mut message: Box<Arrival>) -> Result<(), NodeError> {
        let (protocol, from) = (message.protocol, message.event.sender);
        if let EventKind::Message(kind) = message.event.kind {
            self.core.check_binding(protocol, kind, message.event.object, from)?;
        }
        if self.core.protocols.any_stalls {
            let now = self.now();
            self.core.blocked.has_begun(arrived(&self.core.protocols, &message), now);
        }
        let lane = self.lane_of(&message);
        let engine = &self.core.protocols.engines[protocol];
        // Nobody counts the messages of a lane that is never full.
        if engine.lane_holds(lane).is_some() {
            match from == self.core.me {
                // It has left the queue, and is counted no longer.
                _ if engine.lane_queues(lane) => {}
                true => self.queued.on_lanes.remove(protocol, lane),
                false => self.post(from, write_credit(protocol, lane)),
            }
        }
        if let Some(tracer) = &mut self.tracer {
            tracer.brings((from, message.number));
        }
        message.event.payload = message.data.take().map(|data| self.core.payloads.keep(data));
        self.dispatch(protocol, None, &message.event)?;
        self.spare.keep_arrival(message);
        Ok(())
    }

    pub(super) fn dispatch(&mut self, protocol: usize, role: Option<RoleId>, event: &Event) -> Result<(), NodeError> {
        let protocols = self.core.protocols.clone();
        let engine = &protocols.engines[protocol];
        self.handling.restart(protocol);
        let outcome = match role {
            Some(role) => engine.dispatch_to(role, event, &mut RunningHandler(&mut *self)),
            None => engine.dispatch(event, &mut RunningHandler(&mut *self)),
        };
        self.ended(protocol, engine, Some(event), outcome)
    }

    /// A handler has ended: what it did to others leaves.
    fn ended(
        &mut self,
        protocol: usize,
        engine: &Engine,
        event: Option<&Event>,
        outcome: Result<Outcome, Fault>,
    ) -> Result<(), NodeError> {
        self.core.check_homes(&format_args!("node {}", self.core.me))?;
        let outcome = outcome.map_err(|fault| of_fault(engine, &fault, ""))?;
        self.handling.effects.settle(&mut self.core.threads, event, outcome.disposition);
        if self.handling.effects.trouble.is_some() {
            return Err(self.handling.effects.troubled(engine, &outcome, &format!("node {}", self.core.me)));
        }
        for step in &self.handling.effects.asked {
            self.asked.add(protocol, step);
        }
        self.note_handled(protocol, event, &outcome);
        let unneeded = self.core.keep_event(protocol, event, &outcome, self.queued.arrived());
        unneeded.into_iter().for_each(|payload| self.forget(payload));
        self.core.empty_buffers();
        // Before the access may end by it.
        self.tries(outcome.object)?;
        self.release(protocol, engine);
        Ok(())
    }

    /// What a handler did to others, and to the program, takes its way.
    fn release(&mut self, protocol: usize, engine: &Engine) {
        let mut handling = std::mem::replace(&mut self.handling, self.resting.take().unwrap_or_default());
        for (payload, _) in handling.effects.gathered.drain(..) {
            self.forget(payload);
        }
        let counts_lanes = self.core.protocols.finite[protocol];
        for sent in handling.sends.drain(..) {
            self.measured.counts.messages_sent += 1;
            self.measured.counts.bytes_sent += sent.bytes;
            self.measured.kinds[protocol][sent.message.index()] += 1;
            // What is sent has left the node when the handler has ended.
            if counts_lanes && engine.lane_holds(sent.lane).is_some() && !engine.lane_queues(sent.lane) {
                self.queued.on_lanes.add(protocol, sent.lane);
            }
            match sent.what {
                What::Message(mut own) if sent.to == self.core.me => {
                    own.order = self.queued.next_order();
                    self.queued.inbox.push_back(Incoming::Message(own));
                }
                What::Message(message) => self.hand(sent.to, message),
                What::Packet(packet) => self.post(sent.to, packet),
            }
        }
        let_threads_go_on(self, &handling.effects, &());
        for &(task, object, args) in &handling.effects.tasks {
            let event = Event { args, ..Event::local(EventKind::Task(task), object, 0) };
            self.raise(protocol, &event, EventNumber::default());
        }
        for &(role, object, after) in &handling.effects.timers {
            self.set_timer((protocol, role, object), after);
        }
        try_again(self, protocol, engine, &handling.effects.touched, &());
        self.resting = Some(std::mem::replace(&mut self.handling, handling));
    }

    /// A payload is needed no longer.
    fn forget(&mut self, payload: Payload) {
        if let Some(data) = self.core.payloads.forget(payload) {
            self.spare.keep_data(data);
        }
    }

    /// Something has happened on this node; its number, if it is an event of the thread.
    pub(super) fn raise(&mut self, protocol: usize, event: &Event, number: EventNumber) {
        self.raise_held(protocol, event, number, u64::MAX);
    }

    /// The same of what was held when so many messages had arrived.
    fn raise_held(&mut self, protocol: usize, event: &Event, number: EventNumber, since: u64) {
        let mut own = self.spare.arrival(protocol, event.kind, event.object, event.sender);
        own.event.args.assign(&event.args);
        (own.event.thread, own.event.payload, own.of_thread) = (event.thread, event.payload, number);
        own.order = since;
        self.queued.inbox.push_back(Incoming::Local(own));
    }

    /// A timer runs from now on, for so many nanoseconds, or none does any more.
    fn set_timer(&mut self, instance: Instance, after: Option<u64>) {
        let number = self.core.schedule.new_timer(instance);
        if let Some(after) = after {
            let end = self.look_at_clock().saturating_add(after);
            let last = self.queued.timers.range((end, 0)..=(end, u64::MAX)).next_back();
            let place = last.map_or(0, |((_, place), _)| place + 1);
            self.queued.timers.insert((end, place), (instance, number));
        }
    }

    /// A thread of the program goes on.
    pub(super) fn wake(&mut self, number: Thread) {
        self.core.threads[number].wait = None;
        self.progress.moved += 1;
        self.progress.went_on += 1;
    }
}

impl ThreadHost for NodeState {
    type When = ();

    fn goes_on(&mut self, thread: Thread, why: GoesOn, (): &()) {
        if why == GoesOn::Returned(true) {
            self.next_phase();
        }
        self.wake(thread);
    }

    fn is_due(&mut self, instance: Instance, (): &()) {
        self.core.schedule.due(instance, None);
    }

    fn raise_again(&mut self, held: Held, (): &()) {
        self.raise_held(held.protocol, &held.event, held.number, held.since);
    }
}
