//! What a node's handlers do next, and what becomes of what they did.

use super::mechanisms::What;
use super::{Doing, Grant, Incoming, Mapped, NodeState, Wait};
use crate::history::{History, PastEvent};
use crate::spare::Arrival;
use crate::wire::write_credit;
use trivium_engine::{Disposition, Engine, Event, Fault, Node, Object, Outcome, Payload};
use trivium_guest::SHARED_BASE;
use trivium_node::{EventNumber, Held, Instance, NodeError, Touched, allows};
use trivium_protocol::{BLOCK, EventKind, LaneId, Promise, RoleId, Type};

/// What a node can do next.
enum Action {
    /// The deferred event at this place among the replays.
    Replay(usize),
    /// What is at this place in the inbox.
    Incoming(usize),
    /// The timer at this place among those that run.
    Timer(usize),
}

impl NodeState {
    /// Runs one handler, if there is something for one.
    ///
    /// # Errors
    /// A fault of a protocol.
    pub(super) fn handle_one(&mut self) -> Result<bool, NodeError> {
        let Some(action) = self.choose() else { return Ok(false) };
        self.moved += 1;
        self.note_handler();
        match action {
            Action::Replay(at) => self.replay(at)?,
            Action::Timer(at) => self.timer_ended(at)?,
            Action::Incoming(at) => match if at == 0 { self.inbox.pop_front() } else { self.inbox.remove(at) } {
                Some(Incoming::Message(message)) => self.message(message)?,
                Some(Incoming::Local(own)) => {
                    if own.event.kind.is_hint() {
                        self.hint(own.protocol, &own.event)?;
                    } else if !own.event.has_caller() || self.core.thread.begins_to_wait(own.of_thread) {
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
            self.core.schedule.has_no_replays() && !self.core.protocols.any_finite && self.timers.is_empty();
        match self.inbox.front() {
            None if is_simple => None,
            Some(first) if is_simple && self.is_known(first) => Some(Action::Incoming(0)),
            _ => self.choose_with_care(),
        }
    }

    fn choose_with_care(&self) -> Option<Action> {
        if let Some(at) = self.core.next_replay(&self.on_lanes) {
            return Some(Action::Replay(at));
        }
        if !self.timers.is_empty()
            && let Some(at) = self.timer_that_ends()
        {
            return Some(Action::Timer(at));
        }
        let mut stuck: Vec<(usize, Node, LaneId)> = Vec::new();
        for (at, incoming) in self.inbox.iter().enumerate() {
            let (protocol, event, lane) = match incoming {
                Incoming::Message(message) => {
                    let lane = self.lane_of(message);
                    (message.protocol, message.event, Some((message.protocol, message.event.sender, lane)))
                }
                Incoming::Local(own) => (own.protocol, own.event, None),
            };
            let waits = !self.is_known(incoming)
                || self.core.is_behind_a_replay(protocol, &event)
                || lane.is_some_and(|lane| stuck.contains(&lane));
            if !waits && self.core.can_start(&self.on_lanes, protocol, &event) {
                return Some(Action::Incoming(at));
            }
            stuck.extend(lane);
        }
        None
    }

    /// The place of the first timer that has ended and may be handled.
    fn timer_that_ends(&self) -> Option<usize> {
        if let History::Replayed(_) = self.history {
            return if let Some(PastEvent::Timer(at)) = self.due() { Some(*at) } else { None };
        }
        let now = self.now();
        let ended = self.timers.iter().take_while(|((end, _), _)| *end <= now);
        ended
            .map(|(_, timer)| timer)
            .position(|(instance, number)| !self.core.timer_must_wait(&self.on_lanes, *instance, *number))
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
        !space.by_first_touch(page) || self.mapped.get(page) == Some(&Mapped::Yes)
    }

    pub(super) fn lane_of(&self, message: &Arrival) -> LaneId {
        let EventKind::Message(kind) = message.event.kind else { return LaneId(0) };
        self.core.protocols.engines[message.protocol].protocol().messages[kind.index()].lane
    }

    /// The lanes that have no room, while something waits: for those who look at a deadlock.
    pub(super) fn full_lanes(&self) -> Vec<String> {
        if self.inbox.is_empty() && self.core.schedule.has_no_replays() {
            return Vec::new();
        }
        let name = |(protocol, lane): (usize, LaneId)| {
            let protocol = self.core.protocols.engines[protocol].protocol();
            format!("lane {}.{} has no room", protocol.name, protocol.lanes[lane.index()].name)
        };
        self.core.full_lanes(&self.on_lanes).into_iter().map(name).collect()
    }

    /// Whether nothing is left to handle.
    pub(super) fn is_quiet(&self) -> bool {
        self.inbox.is_empty() && self.core.schedule.has_no_replays() && !self.keeps_messages()
    }

    /// Whether something happens by itself when its time has come.
    pub(super) fn has_timers(&self) -> bool {
        self.keeps_messages()
            || self.timers.values().any(|(instance, number)| self.core.schedule.is_current(instance, *number))
    }

    fn replay(&mut self, at: usize) -> Result<(), NodeError> {
        let Some(((protocol, role, object), _)) = self.core.schedule.take_replay(at) else { return Ok(()) };
        let protocols = self.core.protocols.clone();
        let engine = &protocols.engines[protocol];
        let record = self.core.record_of(protocol, role, object);
        let event = record.and_then(|record| engine.replay_event(role, object, record));
        self.handling.restart(protocol);
        if event.as_ref().is_some_and(Event::has_caller) {
            self.core.thread.is_replayed();
        }
        let outcome = engine.replay(role, object, self);
        self.ended(protocol, engine, event.as_ref(), outcome)
    }

    fn timer_ended(&mut self, at: usize) -> Result<(), NodeError> {
        self.happened(PastEvent::Timer(at));
        let Some(key) = self.timers.keys().nth(at).copied() else { return Ok(()) };
        let Some((instance, number)) = self.timers.remove(&key) else { return Ok(()) };
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
        let lane = self.lane_of(&message);
        let engine = &self.core.protocols.engines[protocol];
        // Nobody counts the messages of a lane that is never full.
        if engine.lane_holds(lane).is_some() {
            match from == self.core.me {
                // It has left the queue, and is counted no longer.
                _ if engine.lane_queues(lane) => {}
                true => self.on_lanes.remove(protocol, lane),
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
            Some(role) => engine.dispatch_to(role, event, self),
            None => engine.dispatch(event, self),
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
        let outcome = outcome.map_err(|fault| broken(engine, &fault))?;
        let returned = self.handling.effects.settle(&mut self.core.thread, event, outcome.disposition);
        if self.handling.effects.trouble.is_some() {
            return Err(self.handling.effects.troubled(engine, &outcome, &format!("node {}", self.core.me)));
        }
        for step in &self.handling.effects.asked {
            self.asked.add(protocol, step);
        }
        self.note_handled(protocol, event, &outcome);
        match (outcome.disposition, event) {
            (Disposition::Held, Some(event)) => {
                let number = self.core.thread.latest();
                self.core.schedule.hold(Held { protocol, role: outcome.role, event: *event, number });
            }
            (Disposition::Deferred, _) => {}
            (_, Some(Event { payload: Some(payload), .. })) => {
                if let Some(data) = self.core.payloads.forget(*payload) {
                    self.spare.keep_data(data);
                }
            }
            _ => {}
        }
        self.lines.empty_buffers();
        // Before the access may end by it.
        self.tries(outcome.object)?;
        self.release(protocol, engine, returned);
        Ok(())
    }

    /// What a handler did to others, and to the program, takes its way; the call that has `returned` gives this.
    fn release(&mut self, protocol: usize, engine: &Engine, returned: Option<i64>) {
        let mut handling = std::mem::replace(&mut self.handling, self.resting.take().unwrap_or_default());
        if !handling.gathered.is_empty() {
            self.forget_gathered(&mut handling.gathered);
        }
        let counts_lanes = self.core.protocols.finite[protocol];
        for sent in handling.sends.drain(..) {
            self.counts.messages_sent += 1;
            self.counts.bytes_sent += sent.bytes;
            self.kinds[protocol][sent.message.index()] += 1;
            // What is sent has left the node when the handler has ended.
            if counts_lanes && engine.lane_holds(sent.lane).is_some() && !engine.lane_queues(sent.lane) {
                self.on_lanes.add(protocol, sent.lane);
            }
            match sent.what {
                What::Message(own) if sent.to == self.core.me => self.inbox.push_back(Incoming::Message(own)),
                What::Message(message) => self.hand(sent.to, message),
                What::Packet(packet) => self.post(sent.to, packet),
            }
        }
        if let Some(value) = returned {
            self.answer_call(value);
        }
        if let Some(read) = handling.effects.completed {
            self.grant = Some(Grant::Complete(read));
            self.wake();
        }
        for &object in &handling.effects.resumed {
            self.resume_access(object);
        }
        if let Doing::Waiting(Wait::Change(block, ..)) = self.doing
            && handling.effects.changed.contains(&block)
        {
            self.wake();
        }
        for &(task, object, args) in &handling.effects.tasks {
            let event = Event { args, ..Event::local(EventKind::Task(task), object, 0) };
            self.raise(protocol, &event, EventNumber::default());
        }
        for &(role, object, after) in &handling.effects.timers {
            self.set_timer((protocol, role, object), after);
        }
        self.try_again(protocol, engine, &handling.effects.touched);
        self.resting = Some(std::mem::replace(&mut self.handling, handling));
    }

    /// Payloads that the handler made are needed no longer.
    fn forget_gathered(&mut self, gathered: &mut Vec<Payload>) {
        for payload in gathered.drain(..) {
            if let Some(data) = self.core.payloads.forget(payload) {
                self.spare.keep_data(data);
            }
        }
    }

    /// Something has happened on this node; its number, if it is an event of the thread.
    pub(super) fn raise(&mut self, protocol: usize, event: &Event, number: EventNumber) {
        let mut own = self.spare.arrival(protocol, event.kind, event.object, event.sender);
        own.event.args.assign(&event.args);
        (own.event.thread, own.event.payload, own.of_thread) = (event.thread, event.payload, number);
        self.inbox.push_back(Incoming::Local(own));
    }

    /// A timer runs from now on, for so many nanoseconds, or none does any more.
    fn set_timer(&mut self, instance: Instance, after: Option<u64>) {
        let number = self.core.schedule.new_timer(instance);
        if let Some(after) = after {
            let end = self.clock().saturating_add(after);
            let last = self.timers.range((end, 0)..=(end, u64::MAX)).next_back();
            let place = last.map_or(0, |((_, place), _)| place + 1);
            self.timers.insert((end, place), (instance, number));
        }
    }

    fn answer_call(&mut self, value: i64) {
        let Doing::Waiting(Wait::Call { protocol, op, .. }) = self.doing else { return };
        let protocols = self.core.protocols.clone();
        let declared = protocols.engines[protocol].protocol();
        let is_address = declared.ops[op.index()].result == Some(Type::Address);
        self.answered = Some(if is_address { value + i64::from(SHARED_BASE) } else { value });
        if declared.promises.contains(&Promise::Barrier(op)) {
            self.next_phase();
        }
        self.wake();
    }

    /// An object is resumed: the thread tries its access again, if it waits for the object.
    pub(super) fn resume_access(&mut self, object: Object) {
        if self.core.thread.resume(object) {
            self.grant = allows(self.tag(object), self.pending_kind).then_some(Grant::Tag);
            self.wake();
        }
    }

    /// The program goes on.
    pub(super) fn wake(&mut self) {
        self.doing = Doing::Running;
        self.moved += 1;
        self.went_on += 1;
    }

    /// Deferred and held events of the instances that a handler touched get their turn.
    fn try_again(&mut self, protocol: usize, engine: &Engine, touched: &[Touched]) {
        for &Touched { role, object, before, place } in touched {
            let record = self.core.records.at(place);
            let (after, due) = (engine.state(role, record), engine.replay_due(role, record));
            let instance = (protocol, role, object);
            if due {
                self.core.schedule.due(instance, None);
            }
            if before != after && !self.core.schedule.holds_nothing() {
                for held in self.core.schedule.take_held(instance) {
                    self.raise(protocol, &held.event, held.number);
                }
            }
        }
    }
}

fn broken(engine: &Engine, fault: &Fault) -> NodeError {
    let sources = &engine.protocol().sources;
    let error = NodeError::subject(fault.to_string())
        .help("`trivium check` on the protocol finds the shortest way to such a fault");
    if (fault.span.file as usize) < sources.files().count() {
        error.at(sources.place(fault.span).to_string())
    } else {
        error
    }
}
