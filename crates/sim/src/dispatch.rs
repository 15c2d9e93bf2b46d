//! What a node does next: a signal that takes effect, or a handler that its engine runs.

use crate::effects::{Source, Timing, lay};
use crate::error::SimError;
use crate::event::{Arrival, Envelope, Posted, Signal};
use crate::machine::EngineKind;
use crate::mechanisms::Handling;
use crate::node::{Choice, Held, NodeState};
use crate::processor::{Doing, Wait};
use crate::timeline::{Cause, Run};
use crate::trace::{Handled, Note};
use std::sync::Arc;
use trivium_engine::{Disposition, Engine, Event, Fault, Node, Object, Outcome, Outgoing};
use trivium_lang::protocol::{EventKind, RoleId};

/// A handler may take so many cycles (tempest.md 8: watchdog).
const WATCHDOG: u64 = 1_000_000;

/// How an event came to the engine.
struct Origin {
    protocol: usize,
    source: Source,
    cause: Cause,
    possible: u64,
    /// Of a message that has just arrived: its number, and when it left its sender.
    arrived: Option<(u64, u64)>,
}

impl NodeState {
    /// Does the next thing, which [`NodeState::next_action`] has said when.
    ///
    /// # Errors
    /// A fault of a protocol.
    pub fn act(&mut self) -> Result<(), SimError> {
        let choice = self.choose();
        let start = choice.map(|choice| self.start_of(choice));
        let signal = self.signals.first().map(|entry| entry.0);
        if let Some(key) = signal
            && start.is_none_or(|start| key.time.max(self.now) <= start)
        {
            self.now = self.now.max(key.time);
            if let Some(signal) = self.signals.remove(key) {
                self.take(signal);
            }
            return Ok(());
        }
        match (choice, start) {
            (Some(choice), Some(start)) => self.begin(choice, start),
            _ => Ok(()),
        }
    }

    fn take(&mut self, signal: Signal) {
        let now = self.now;
        match signal {
            Signal::Credit { by, protocol, lane } => {
                if let Some((at, envelope)) = self.interface.credit(now, by, protocol, lane) {
                    self.depart(at, envelope);
                }
            }
            Signal::Release => {
                self.compute.released = true;
                self.compute.barriers += 1;
                self.wake(now, &None);
            }
            Signal::Claim { page, by } => {
                self.space.borrow_mut().claim(page, by);
                let at = now + self.shared.machine.network.latency;
                self.post(by, at, Posted::Signal(Signal::Placed { page }));
            }
            Signal::Placed { page } => {
                self.mapped[page] = true;
                if self.compute.doing == Doing::Waiting(Wait::Page(page)) {
                    self.wake(now, &None);
                }
            }
        }
    }

    /// Runs the handler of what was chosen.
    fn begin(&mut self, choice: Choice, start: u64) -> Result<(), SimError> {
        self.now = start;
        match choice {
            Choice::Replay(at) => {
                let Some((protocol, role, object)) = self.replays.remove(at) else { return Ok(()) };
                let engine = self.shared.engines[protocol].clone();
                let event =
                    self.record_of(protocol, role, object).and_then(|record| engine.replay_event(role, object, record));
                let cause = self.replay_causes.remove(&(protocol, role, object)).flatten();
                let possible = cause.as_ref().map_or(start, |(_, left)| *left);
                let origin = Origin { protocol, source: Source::Replay, cause, possible, arrived: None };
                self.handling.restart(protocol, start);
                let outcome = engine.replay(role, object, self);
                self.ended(origin, event, outcome)
            }
            Choice::Arrival(key) => match self.inbox.remove(key) {
                Some(Arrival::Message(envelope)) => self.begin_message(key.time, start, envelope),
                Some(Arrival::Local { protocol, event, cause }) => {
                    let words = event.args.words().len() as u64;
                    let source = match event.kind {
                        EventKind::Op(_) => Source::Call(words),
                        EventKind::Task(_) => Source::Task,
                        _ => Source::Fault,
                    };
                    let origin = Origin { protocol, source, cause, possible: key.time, arrived: None };
                    self.dispatch(origin, None, event, start)
                }
                Some(Arrival::Timer { protocol, role, object, generation }) => {
                    if self.timers.get(&(protocol, role, object)) != Some(&generation) {
                        return Ok(());
                    }
                    let event = Event::local(EventKind::Timer, object, 0);
                    let source = Source::Timer;
                    let origin = Origin { protocol, source, cause: None, possible: key.time, arrived: None };
                    self.dispatch(origin, Some(role), event, start)
                }
                None => Ok(()),
            },
        }
    }

    fn begin_message(&mut self, arrived: u64, start: u64, envelope: Envelope) -> Result<(), SimError> {
        let cycles = self.interface.receive(arrived, envelope.words());
        self.note_queue(cycles, false, &envelope);
        let credit = Signal::Credit { by: self.me, protocol: envelope.protocol, lane: envelope.lane };
        let back = start + self.shared.machine.network.latency;
        self.post(envelope.from, back, Posted::Signal(credit));
        let payload = envelope.data.map(|data| self.keep(data));
        let event = Event {
            kind: EventKind::Message(envelope.message),
            object: envelope.object,
            sender: envelope.from,
            thread: 0,
            args: envelope.args,
            payload,
        };
        let source = Source::Message { words: envelope.args.words().len() as u64, data: payload.is_some() };
        let origin = Origin {
            protocol: envelope.protocol,
            source,
            cause: envelope.cause,
            possible: arrived,
            arrived: Some((envelope.id, envelope.departed)),
        };
        self.dispatch(origin, None, event, start)
    }

    fn dispatch(&mut self, origin: Origin, role: Option<RoleId>, event: Event, start: u64) -> Result<(), SimError> {
        let engine = self.shared.engines[origin.protocol].clone();
        self.handling.restart(origin.protocol, start);
        let outcome = match role {
            Some(role) => engine.dispatch_to(role, &event, self),
            None => engine.dispatch(&event, self),
        };
        self.ended(origin, Some(event), outcome)
    }

    /// A handler has ended: its time is worked out, and what it did to others leaves.
    fn ended(&mut self, origin: Origin, event: Option<Event>, outcome: Result<Outcome, Fault>) -> Result<(), SimError> {
        let mut handling = std::mem::take(&mut self.handling);
        let engine = self.shared.engines[origin.protocol].clone();
        let outcome = outcome.map_err(|fault| self.broken(&engine, &fault, handling.start))?;
        if let Some(what) = &handling.trouble {
            let handler = outcome.handler.map_or(String::new(), |id| {
                engine.protocol().roles[outcome.role.index()].handlers[id.index()].name.clone()
            });
            let what = format!(
                "node {}, cycle {}: handler {handler} of object {}: {what}",
                self.me, handling.start, outcome.object.id
            );
            return Err(SimError::subject(what));
        }
        let shared = self.shared.clone();
        let detailed = self.recording;
        let timing = lay(
            origin.source,
            &handling.effects,
            handling.start,
            &shared.machine,
            shared.block,
            &mut self.bus,
            detailed,
        );
        if timing.end - handling.start > WATCHDOG {
            let what = format!(
                "node {}, cycle {}: a handler takes {} cycles, more than {WATCHDOG}",
                self.me,
                handling.start,
                timing.end - handling.start
            );
            return Err(SimError::subject(what));
        }
        let busy = self.occupy(handling.start, timing.end);
        if self.noting(&(handling.start..handling.start + busy))
            && let Some(event) = &event
        {
            let sent = origin.cause.as_ref().map(|(run, _)| run.begun);
            let arrow = origin.arrived.zip(sent).map(|((id, _), sent)| (id, sent));
            let line = self.trace_line(&engine, event, &outcome, &handling, timing.end);
            self.note(Note::Handled(Handled { busy, arrow, ..line }));
        }
        let run = self.recording.then(|| {
            let departed = origin.arrived.map(|(_, departed)| departed);
            let stretches = timing.stretches.clone();
            Run::new(self.me, origin.cause, departed, origin.possible, handling.start, stretches)
        });
        match (outcome.disposition, event) {
            (Disposition::Held, Some(event)) => {
                self.held.push(Held { protocol: origin.protocol, role: outcome.role, event })
            }
            (Disposition::Deferred, _) => {}
            (_, Some(Event { payload: Some(payload), .. })) => self.forget(payload),
            _ => {}
        }
        self.release(origin.protocol, &engine, &mut handling, &timing, run);
        self.handling = handling;
        Ok(())
    }

    fn trace_line(&self, engine: &Engine, event: &Event, outcome: &Outcome, handling: &Handling, end: u64) -> Handled {
        let protocol = engine.protocol();
        let role = &protocol.roles[outcome.role.index()];
        let send =
            |send: &(Node, Outgoing, _)| format!("{} to {}", protocol.messages[send.1.message.index()].name, send.0);
        Handled {
            cycle: handling.start,
            node: self.me,
            event: format!("{}.{}", protocol.name, protocol.event_name(event.kind)),
            sender: matches!(event.kind, EventKind::Message(_)).then_some(event.sender),
            object: format!("{} {}", protocol.objects[outcome.object.kind.index()], outcome.object.id),
            role: role.name.clone(),
            before: role.states[outcome.before.index()].name.clone(),
            after: role.states[outcome.after.index()].name.clone(),
            disposition: format!("{:?}", outcome.disposition).to_lowercase(),
            sends: handling.sends.iter().map(send).collect(),
            end,
            busy: 0,
            arrow: None,
        }
    }

    /// For how many cycles the engine takes nothing else.
    fn occupy(&mut self, start: u64, end: u64) -> u64 {
        let model = &self.shared.machine.engine;
        let busy = match model.kind {
            EngineKind::Ideal => model.interval,
            EngineKind::Processor => (end - start).max(model.interval),
        };
        self.engine_free = start + busy;
        self.counters.engine_busy += busy;
        busy
    }

    /// What a handler did to others, and to the processor, takes its way.
    fn release(
        &mut self,
        protocol: usize,
        engine: &Engine,
        handling: &mut Handling,
        timing: &Timing,
        run: Option<Arc<Run>>,
    ) {
        let left = |at: u64| run.clone().map(|run| (run, at));
        for (payload, _) in &handling.gathered {
            self.forget(*payload);
        }
        for ((to, message, data), &at) in handling.sends.iter().zip(&timing.sends) {
            let envelope = Envelope {
                protocol,
                message: message.message,
                lane: engine.protocol().messages[message.message.index()].lane,
                object: message.object,
                args: message.args,
                data: data.clone(),
                from: self.me,
                to: *to,
                id: self.sent << 16 | u64::from(self.me),
                cause: left(at),
                departed: at,
            };
            self.sent += 1;
            self.counters.messages_sent += 1;
            self.counters.bytes_sent +=
                8 * (2 + message.args.words().len() as u64) + data.as_ref().map_or(0, |data| data.bytes.len() as u64);
            *self.counters.by_kind.entry((protocol, message.message.0)).or_default() += 1;
            let fifo = engine.protocol().lanes[envelope.lane.index()].fifo;
            if let Some((queue, arrival, envelope)) = self.interface.send(at, fifo, envelope) {
                self.note_queue(queue, true, &envelope);
                self.post(envelope.to, arrival, Posted::Arrival(Arrival::Message(envelope)));
            }
        }
        let resumed = timing.resume.unwrap_or(timing.end);
        for &(_, value) in &handling.answers {
            if let Doing::Waiting(Wait::Call { protocol: called, op, .. }) = self.compute.doing {
                let address = self.shared.engines[called].protocol().ops[op.index()].result
                    == Some(trivium_lang::protocol::Type::Address);
                let value = if address { value + i64::from(trivium_guest::SHARED_BASE) } else { value };
                self.compute.answered = Some(value);
                let barrier = trivium_lang::protocol::Promise::Barrier(op);
                self.compute.barriers += u64::from(self.shared.engines[called].protocol().promises.contains(&barrier));
                self.wake(resumed, &left(resumed));
            }
        }
        for &(object, completed) in &handling.resumed {
            self.resume_access(object, completed, resumed, left(resumed));
        }
        if let Doing::Waiting(Wait::Change(block)) = self.compute.doing
            && handling.changed.contains(&block)
        {
            self.wake(timing.end, &left(timing.end));
        }
        for (task, object, args) in handling.tasks.drain(..) {
            let event = Event { args, ..Event::local(EventKind::Task(task), object, 0) };
            self.raise(timing.end, Arrival::Local { protocol, event, cause: left(timing.end) });
        }
        for (role, object, after) in handling.timers.drain(..) {
            let generation = self.timers.entry((protocol, role, object)).or_default();
            *generation += 1;
            if let Some(after) = after {
                let generation = *generation;
                self.raise(timing.end + after, Arrival::Timer { protocol, role, object, generation });
            }
        }
        self.try_again(protocol, engine, &handling.touched, timing.end, left(timing.end));
    }

    /// Deferred and held events of the instances that a handler touched get their turn.
    fn try_again(
        &mut self,
        protocol: usize,
        engine: &Engine,
        touched: &[(RoleId, Object, trivium_lang::protocol::StateId)],
        end: u64,
        cause: Cause,
    ) {
        for &(role, object, before) in touched {
            let Some(record) = self.record_of(protocol, role, object) else { continue };
            let after = engine.state(role, record);
            let due = engine.replay_due(role, record);
            let place = (protocol, role, object);
            if due && !self.replays.contains(&place) {
                self.replays.push_back(place);
                if self.recording {
                    self.replay_causes.insert(place, cause.clone());
                }
            }
            if before != after && !self.held.is_empty() {
                let (again, kept) = std::mem::take(&mut self.held)
                    .into_iter()
                    .partition(|held: &Held| (held.protocol, held.role, held.event.object) == place);
                self.held = kept;
                for held in Vec::into_iter(again) {
                    self.raise(end, Arrival::Local { protocol, event: held.event, cause: cause.clone() });
                }
            }
        }
    }

    /// A message that waited for a credit leaves.
    fn depart(&mut self, at: u64, envelope: Envelope) {
        let fifo = self.shared.engines[envelope.protocol].protocol().lanes[envelope.lane.index()].fifo;
        let (queue, arrival, envelope) = self.interface.depart(at, fifo, envelope);
        self.note_queue(queue, true, &envelope);
        self.post(envelope.to, arrival, Posted::Arrival(Arrival::Message(envelope)));
    }

    fn note_queue(&mut self, cycles: std::ops::Range<u64>, leaves: bool, envelope: &Envelope) {
        if self.noting(&cycles) {
            let protocol = self.shared.engines[envelope.protocol].protocol();
            let message = format!("{}.{}", protocol.name, protocol.messages[envelope.message.index()].name);
            let peer = if leaves { envelope.to } else { envelope.from };
            self.note(Note::Queue { node: self.me, cycles, leaves, peer, message });
        }
    }

    fn broken(&self, engine: &Engine, fault: &Fault, cycle: u64) -> SimError {
        let sources = &engine.protocol().sources;
        let error = SimError::subject(format!("cycle {cycle}: {fault}"))
            .help("`trivium check` on the protocol finds the shortest story that leads to such a fault");
        if (fault.span.file as usize) < sources.files().count() {
            error.at(sources.place(fault.span).to_string())
        } else {
            error
        }
    }
}
