//! What a node does next: a signal that takes effect, or a handler that its engine runs.

use crate::events::{Arrival, Credit, Envelope, Expiry, Local, Post, Posted, Signal};
use crate::node::NodeState;
use crate::node::mechanisms::Handling;
use crate::node::next::{Action, Next, as_arrived};
use crate::node::shared::Shared;
use crate::node::threads::When;
use crate::reports::timeline::{Cause, Stretch, Work, Worker};
use crate::reports::trace::{Handled, Note};
use crate::timing::engines::Job;
use crate::timing::folding::Path;
use crate::timing::pricing::{Did, Given, Trigger};
use std::sync::Arc;
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_engine::{Engine, Event, Node, Object, Outcome};
use trivium_node::{NodeError, Purpose, RunningHandler, Touched, let_threads_go_on, of_fault, try_again};
use trivium_protocol::{EventKind, RoleId};

/// Nobody but the simulator takes lines out of a cache.
pub(super) const STALE: &str = "a tag is lowered by a bus transaction that takes the block's lines out of the cache: this is a mistake in Trivium, please report it";

/// A handler may take so many cycles: the watchdog.
const WATCHDOG: u64 = 1_000_000;

/// A handler that has run, as what led to what followed, if that is recorded.
#[derive(Default)]
struct Runs {
    /// All of it.
    all: Option<Arc<Work>>,
    /// What led to each message, where messages leave by ways of their own.
    sends: Vec<Arc<Work>>,
    /// The same of the threads that go on.
    resumes: Option<Arc<Work>>,
}

/// How an event came to the engine.
struct Dispatched {
    protocol: usize,
    source: Trigger,
    cause: Cause,
    possible: u64,
    /// Of a message that has just arrived: its number, and when it left its sender.
    arrived: Option<(u64, u64)>,
    /// From when on it was there for the engine, and all of its words were.
    ready: u64,
    whole: u64,
    /// Which of several engines takes it.
    engine: usize,
    /// To whom the credit of a message goes when all of it has been read, where receive queues are limited.
    credit: Option<(Node, Credit)>,
}

impl Dispatched {
    /// An event of the node itself, which was there from cycle `ready` on.
    fn of_node((protocol, source): (usize, Trigger), cause: Cause, ready: u64) -> Dispatched {
        Dispatched {
            protocol,
            source,
            cause,
            possible: ready,
            arrived: None,
            ready,
            whole: ready,
            engine: 0,
            credit: None,
        }
    }
}

impl NodeState {
    /// Does the next thing, which [`NodeState::next`] has told.
    ///
    /// # Errors
    /// A fault of a protocol.
    pub(crate) fn act(&mut self, next: Next) -> Result<(), NodeError> {
        self.now = next.time;
        match next.action {
            Action::Credit => {
                if let Some((_, credit)) = self.queues.credits.pop() {
                    self.credit(credit);
                }
                Ok(())
            }
            Action::Signal => match self.queues.signals.pop() {
                Some((_, signal)) => self.take(signal),
                None => Ok(()),
            },
            Action::Replay(at) => {
                self.take_credits();
                if self.core.protocols.any_stalls {
                    self.note_blocked(usize::MAX);
                }
                self.begin_replay(at as usize)
            }
            Action::Arrival(at) => {
                self.take_credits();
                if at > 0 && self.core.protocols.any_stalls {
                    self.note_blocked(at as usize);
                }
                match self.queues.inbox.take(at as usize) {
                    Some((key, arrival)) => self.begin(key.time, arrival),
                    None => Ok(()),
                }
            }
        }
    }

    /// Credits that have come back since.
    fn take_credits(&mut self) {
        while let Some(&(key, _)) = self.queues.credits.first()
            && key.time <= self.now
            && let Some((_, credit)) = self.queues.credits.pop()
        {
            self.credit(credit);
        }
    }

    fn credit(&mut self, credit: Credit) {
        if credit.left {
            return self.model.interface.left(credit.protocol, credit.lane);
        }
        let Credit { by, protocol, lane, .. } = credit;
        let mut next = self.model.interface.credit(self.now, by, protocol, lane);
        while let Some((at, envelope)) = next {
            self.depart(at, envelope);
            next = self.model.interface.another(self.now, by, protocol, lane);
        }
    }

    fn take(&mut self, signal: Signal) -> Result<(), NodeError> {
        let now = self.now;
        match signal {
            Signal::Release { purpose } => {
                match purpose {
                    Purpose::Barrier => {}
                    Purpose::Bind(binding) => self.bind(binding)?,
                    Purpose::Start => self.start()?,
                    Purpose::Place(placing) => self.core.place(placing, &format!("cycle {now}"))?,
                }
                self.compute.barriers += 1;
                self.wake(now, &None);
            }
            Signal::Awake => self.wake(now, &None),
            Signal::GiveUp { block, heard } => self.give_up_line(block, heard),
            Signal::Claim { page, by } => self.claimed(page, by)?,
            Signal::Move { page, to, at } => self.move_page(page, to, at)?,
            Signal::Placed { page, home, contents } => self.placed(page, home, contents)?,
        }
        Ok(())
    }

    /// Runs the handler of something deferred.
    fn begin_replay(&mut self, at: usize) -> Result<(), NodeError> {
        let start = self.now;
        let Some(((protocol, role, object), cause)) = self.core.schedule.take_replay(at) else { return Ok(()) };
        let shared = self.shared.clone();
        let engine = &shared.protocols.engines[protocol];
        let event =
            self.core.record_of(protocol, role, object).and_then(|record| engine.replay_event(role, object, record));
        let cause = cause.flatten();
        let possible = cause.as_ref().map_or(start, |(_, left)| *left);
        let dispatched = Dispatched::of_node((protocol, Trigger::Replay), cause, possible);
        let resting = self.begin_handling(&shared, protocol, object, Trigger::Replay);
        self.handling.evicts =
            event.as_ref().is_some_and(|event| matches!(event.kind, EventKind::Evict | EventKind::WriteBack));
        if let Some(event) = &event {
            self.expect(&dispatched, event);
            if event.has_caller() {
                self.core.threads[event.thread].is_replayed();
                self.note_waits(protocol, event);
            }
        }
        let outcome = engine.replay(role, object, &mut RunningHandler(&mut *self));
        self.check_homes(start)?;
        let handling = std::mem::replace(&mut self.handling, resting);
        match &outcome {
            Ok(outcome) => self.ended(&shared, &dispatched, event.as_ref(), outcome, handling),
            Err(fault) => {
                self.goes_wrong(event.as_ref());
                Err(of_fault(engine, fault, &format!("cycle {start}: ")))
            }
        }
    }

    /// Runs the handler of what arrived at cycle `arrived`.
    fn begin(&mut self, arrived: u64, arrival: Arrival) -> Result<(), NodeError> {
        match arrival {
            Arrival::Message(envelope) => self.begin_message(arrived, envelope),
            Arrival::Local(local) => self.begin_local(arrived, local),
            Arrival::Timer(expiry) => {
                let Expiry { protocol, role, object, generation } = *expiry;
                if !self.core.schedule.is_current(&(protocol, role, object), generation) {
                    return Ok(());
                }
                let event = Event::local(EventKind::Timer, object, 0);
                let dispatched = Dispatched::of_node((protocol, Trigger::Timer), None, arrived);
                self.dispatch(&dispatched, Some(role), &event)
            }
        }
    }

    fn begin_local(&mut self, arrived: u64, local: Box<Local>) -> Result<(), NodeError> {
        let Some(mut local) = self.hear(local) else { return Ok(()) };
        let Local { protocol, ref event, .. } = *local;
        let is_wanted = match event.kind {
            EventKind::Evict => self.still_evicts(protocol, event, self.now),
            kind if kind.is_hint() => self.hears_prefetch(protocol, event),
            kind if event.has_caller() => {
                let thread = &mut self.core.threads[event.thread];
                thread.has_told(protocol, kind) || thread.begins_to_wait(local.number)
            }
            _ => true,
        };
        if is_wanted {
            let source = match event.kind {
                EventKind::Op(_) => Trigger::Call(event.args.words().len() as u64),
                EventKind::Task(_) => Trigger::Task,
                _ => Trigger::Fault,
            };
            if event.has_caller() && !self.core.threads[event.thread].has_told(protocol, event.kind) {
                self.note_waits(protocol, event);
            }
            let cause = local.cause.take();
            let dispatched = Dispatched::of_node((protocol, source), cause, arrived);
            self.dispatch(&dispatched, None, &local.event)?;
        }
        self.shared.spare.borrow_mut().keep_local(local);
        Ok(())
    }

    fn begin_message(&mut self, arrived: u64, mut envelope: Box<Envelope>) -> Result<(), NodeError> {
        self.core.check_binding(envelope.protocol, envelope.message, envelope.object, envelope.from)?;
        if envelope.has_started != self.core.has_started {
            self.core.check_start(envelope.protocol, envelope.message, envelope.object, envelope.from)?;
        }
        self.counts.counters.link_wait += envelope.waited;
        self.hear_of(envelope.object);
        if self.core.protocols.any_stalls {
            self.core.blocked.has_begun(as_arrived(&envelope), self.now);
        }
        let packets = envelope.data.as_ref().map_or(0, |data| self.shared.machine.packets(data.bytes.len() as u64));
        let cycles = self.model.interface.receive(arrived, &envelope);
        let (ready, whole) = (self.model.found(cycles.start), self.model.found(cycles.end));
        self.note_queue(cycles, false, &envelope);
        let credit = Credit { by: self.core.me, protocol: envelope.protocol, lane: envelope.lane, left: false };
        let credit = match self.shared.machine.queues() {
            // Its words leave the queue as they are read.
            Some(_) => Some((envelope.from, credit)),
            None => {
                let back = self.now + self.shared.machine.network.latency;
                self.post_credit(envelope.from, back, credit);
                None
            }
        };
        let payload = envelope.data.take().map(|data| self.keep(data));
        let mut event = Event::local(EventKind::Message(envelope.message), envelope.object, 0);
        event.sender = envelope.from;
        event.payload = payload;
        event.args.assign(&envelope.args);
        let source = Trigger::Message { words: envelope.args.words().len() as u64, packets };
        let dispatched = Dispatched {
            protocol: envelope.protocol,
            source,
            cause: envelope.cause.take(),
            possible: arrived,
            arrived: Some((envelope.id, envelope.departed)),
            ready,
            whole,
            engine: self.model.engine_of(envelope.lane),
            credit,
        };
        self.shared.spare.borrow_mut().keep_envelope(envelope);
        self.dispatch(&dispatched, None, &event)
    }

    /// A handler begins to run; what it does is in `handling` until it has ended. Gives what was there, which comes back then.
    #[inline(always)]
    fn begin_handling(&mut self, shared: &Shared, protocol: usize, object: Object, trigger: Trigger) -> Box<Handling> {
        let mut handling = shared.spare.borrow_mut().handling();
        // What is recorded says on what a handler spends its time, which a folded price does not.
        let path = match self.recording || shared.unfolded {
            true => Path::NONE,
            false => handling.paths.begin(trigger),
        };
        handling.restart((protocol, object), self.now, path, self.watched.tag_changes.len());
        std::mem::replace(&mut self.handling, handling)
    }

    fn dispatch(&mut self, dispatched: &Dispatched, role: Option<RoleId>, event: &Event) -> Result<(), NodeError> {
        let start = self.now;
        let shared = self.shared.clone();
        let engine = &*shared.protocols.engines[dispatched.protocol];
        let resting = self.begin_handling(&shared, dispatched.protocol, event.object, dispatched.source);
        self.handling.evicts = matches!(event.kind, EventKind::Evict | EventKind::WriteBack);
        if dispatched.source == Trigger::Fault && !self.handling.evicts {
            self.handling.requested = Some(event.object);
        }
        self.expect(dispatched, event);
        let outcome = match role {
            Some(role) => engine.dispatch_to(role, event, &mut RunningHandler(&mut *self)),
            None => engine.dispatch(event, &mut RunningHandler(&mut *self)),
        };
        self.check_homes(start)?;
        if let Ok(outcome) = &outcome {
            self.note_first(engine, event, outcome);
        }
        let handling = std::mem::replace(&mut self.handling, resting);
        match &outcome {
            Ok(outcome) => self.ended(&shared, dispatched, Some(event), outcome, handling),
            Err(fault) => {
                self.goes_wrong(Some(event));
                Err(of_fault(engine, fault, &format!("cycle {start}: ")))
            }
        }
    }

    /// What the engine's inbox knows of an event before its handler begins.
    #[inline(always)]
    fn expect(&mut self, dispatched: &Dispatched, event: &Event) {
        if !self.shared.lays_out {
            return;
        }
        (self.handling.ready, self.handling.whole) = (dispatched.ready, dispatched.whole);
        if matches!(event.kind, EventKind::Op(_)) {
            self.handling.addressed = self.shared.addressing.of(dispatched.protocol, event);
            self.handling.assembled = self.compute.assembled;
        }
        if self.shared.machine.pipeline.is_some() {
            let is_home = self.core.home_of(dispatched.protocol, event.object) == self.core.me;
            self.handling.entry = self.shared.jump_table.entry(dispatched.protocol, event, is_home);
        }
    }

    /// A handler has ended: its time is worked out, and what it did to others leaves.
    fn ended(
        &mut self,
        shared: &Shared,
        dispatched: &Dispatched,
        event: Option<&Event>,
        outcome: &Outcome,
        mut handling: Box<Handling>,
    ) -> Result<(), NodeError> {
        let engine = &*shared.protocols.engines[dispatched.protocol];
        if handling.effects.trouble.is_some() {
            self.goes_wrong(event);
            let who = format!("node {}, cycle {}", self.core.me, handling.start);
            return Err(handling.effects.troubled(engine, outcome, &who));
        }
        if self.recording != handling.timing.stretches.is_some() {
            handling.timing.stretches = self.recording.then(Vec::new);
        }
        self.note_states(engine, &handling)?;
        self.look_at_copies(&handling, engine, outcome)?;
        if shared.protocols.performs_for_threads[dispatched.protocol] {
            self.note_asked(&handling, event, outcome);
        }
        if matches!(dispatched.source, Trigger::Call(_)) {
            self.note_call(&handling);
        }
        self.price(shared, dispatched, outcome, &mut handling);
        if shared.lays_out {
            self.counts.counters.uses = self.counts.counters.uses.plus(handling.timing.uses);
            self.counts.counters.gtlb_misses += handling.timing.gtlb_misses;
        }
        let (start, end) = (handling.start, handling.timing.end);
        if end - start > WATCHDOG {
            return Err(self.endless(engine, outcome, end - start, start));
        }
        if let Some((to, credit)) = &dispatched.credit {
            self.post_credit(*to, handling.timing.read + self.shared.machine.network.latency, *credit);
        }
        let on_processor = self.model.handles_calls() && matches!(dispatched.source, Trigger::Call(_));
        let busy = self.occupy(start, end, (on_processor, dispatched.engine));
        if !on_processor {
            self.count_handled(dispatched.protocol, outcome, (busy, end));
        }
        let runs = match self.recording {
            true => {
                let worker = if on_processor { Worker::Processor } else { Worker::Engine(dispatched.engine) };
                self.record_handler((dispatched, event, outcome), &mut handling, engine, (busy, worker))
            }
            false => Runs::default(),
        };
        handling.effects.settle(&mut self.core.threads, event, outcome.disposition);
        if handling.effects.trouble.is_some() {
            let who = format!("node {}, cycle {}", self.core.me, handling.start);
            return Err(handling.effects.troubled(engine, outcome, &who));
        }
        if let Some(payload) = self.core.keep_event(dispatched.protocol, event, outcome, self.now) {
            self.forget(payload);
        }
        if shared.protocols.any_cached {
            self.core.empty_buffers();
        }
        self.release(dispatched.protocol, engine, &mut handling, &runs);
        self.look_at_prefetches(handling.timing.resume.unwrap_or(end));
        self.tries(outcome.object)?;
        if shared.machine.memory.frames.is_some() || event.is_some_and(|event| event.kind == EventKind::Evict) {
            let cause = runs.all.map(|run| (run, end));
            self.given_up(dispatched.protocol, event, outcome, end, &cause);
        }
        shared.spare.borrow_mut().keep_handling(handling);
        Ok(())
    }

    /// A handler took longer than any may.
    #[cold]
    fn endless(&self, engine: &Engine, outcome: &Outcome, cycles: u64, start: u64) -> NodeError {
        let what = format!("takes {cycles} cycles, more than {WATCHDOG}: its node does nothing else meanwhile");
        self.of_handler(engine, outcome, start, &what).help(
            "let the handler do less at a time, and start a task for the rest (`start`); or take a machine on which its steps and misses cost less (`trivium machine NAME` shows what they cost)",
        )
    }

    /// An error about a handler that has begun at cycle `start` and has ended: who did what, and where that stands.
    #[cold]
    fn of_handler(&self, engine: &Engine, outcome: &Outcome, start: u64, what: &str) -> NodeError {
        let protocol = engine.protocol();
        let role = &protocol.roles[outcome.role.index()];
        let handler = outcome.handler.map(|id| &role.handlers[id.index()]);
        let name = handler.map_or(String::new(), |handler| format!(".{}", handler.name));
        let object = format!("{} {}", protocol.objects[outcome.object.kind.index()], outcome.object.id);
        let error = NodeError::subject(
            Code::Fault,
            format!(
                "node {}, cycle {start}: handler {}.{}{name} of {object} {what}",
                self.core.me, protocol.name, role.name
            ),
        );
        match handler.and_then(|handler| protocol.sources.known_place(handler.span)) {
            Some(place) => error.at(place.to_string()),
            None => error,
        }
    }

    /// A handler has ended. Golden checks: where it has lowered a tag, the processor's cache has no line that allows more; and where what is stored last is
    /// promised, it is written down what the node's copies are of the blocks whose tags it has changed.
    #[inline]
    pub(super) fn look_at_copies(
        &mut self,
        handling: &Handling,
        engine: &Engine,
        outcome: &Outcome,
    ) -> Result<(), NodeError> {
        for &block in &handling.lowered {
            if let Some(address) = self.stale_line(block) {
                return Err(self.stale(engine, outcome, handling.start, (block, address)));
            }
        }
        if self.shared.looks_at_copies[handling.effects.protocol] {
            for at in handling.tags_before..self.watched.tag_changes.len() {
                self.note_copy(at);
            }
        }
        Ok(())
    }

    #[cold]
    fn stale(&self, engine: &Engine, outcome: &Outcome, start: u64, (block, address): (Object, u32)) -> NodeError {
        let what = format!(
            "lowers the tag of block {}, and the processor's cache still has the line of {address:#x}, a stale hit for the next access",
            block.id
        );
        self.of_handler(engine, outcome, start, &what).help(STALE)
    }

    /// Notes a handler that has ended, for a trace and for what it leads to; for how many cycles it kept the engine, or the
    /// processor if it ran there, busy.
    #[cold]
    fn record_handler(
        &mut self,
        (dispatched, event, outcome): (&Dispatched, Option<&Event>, &Outcome),
        handling: &mut Handling,
        engine: &Engine,
        (busy, worker): (u64, Worker),
    ) -> Runs {
        let (start, end) = (handling.start, handling.timing.end);
        if self.noting(&(start..start + busy))
            && let Some(event) = event
        {
            let sent = dispatched.cause.as_ref().map(|(run, _)| (run.begun, run.worker));
            let arrow = dispatched.arrived.zip(sent).map(|((id, _), sent)| (id, sent));
            let line = self.trace_line(engine, event, outcome, handling, end);
            self.note(Note::Handled(Handled { busy, arrow, worker, ..line }));
        }
        let departed = dispatched.arrived.map(|(_, departed)| departed);
        let stretches = handling.timing.stretches.clone().unwrap_or_default();
        let role = &engine.protocol().roles[outcome.role.index()];
        let name = event.map(|event| {
            let (state, event) = (&role.states[outcome.before.index()].name, engine.protocol().event_name(event.kind));
            format!("{}.{state}.{event}", role.name)
        });
        let place = (self.core.me, worker);
        let work = |stretches: Vec<Stretch>| {
            let cause = dispatched.cause.clone();
            let mut work = Work::new(place, cause, departed, dispatched.possible, start, stretches);
            if let Some(work) = Arc::get_mut(&mut work) {
                work.handler = name.clone().map(|name| (name, busy));
            }
            work
        };
        Runs {
            sends: handling.timing.ways.drain(..).map(&work).collect(),
            resumes: handling.timing.resumes_by.take().map(&work),
            all: Some(work(stretches)),
        }
    }

    /// The time of a handler.
    #[inline]
    fn price(&mut self, shared: &Shared, dispatched: &Dispatched, outcome: &Outcome, handling: &mut Handling) {
        let own = shared.given.of(dispatched.protocol, outcome.role, outcome.handler);
        if let Some((number, _)) = own {
            handling.path = handling.paths.end_of_priced(handling.path, number);
        }
        let given = own.map(|(_, given)| given);
        let (machine, block) = (&shared.machine, shared.protocols.block);
        let start = (handling.start, self.thread().is_running());
        if handling.path != Path::NONE {
            if let Some(folded) = handling.paths.price(handling.path, given, machine, block, &self.model.bus) {
                return self.model.price_folded(folded, start, &mut handling.timing);
            }
            handling.primitives = handling.paths.told(handling.path).1;
        }
        if shared.lays_out {
            return self.lay(shared, (dispatched.source, given), handling);
        }
        let did = Did { trigger: dispatched.source, effects: &handling.primitives, given };
        self.model.price(machine, (block, &handling.numbered), did, start, &mut handling.timing);
    }

    /// The time of a handler that the engine lays out itself.
    fn lay(&mut self, shared: &Shared, (trigger, given): (Trigger, Option<&Given>), handling: &mut Handling) {
        let protocol: u32 = fit(handling.effects.protocol, "a protocol of a run, of which there are at most 65536");
        let key = |touched: &Touched| (protocol << 16 | u32::from(touched.role.0), touched.object.id);
        handling.records.clear();
        handling.records.extend(handling.effects.touched.iter().map(key));
        let job = Job {
            machine: &shared.machine,
            block: shared.protocols.block,
            did: Did { trigger, effects: &handling.primitives, given },
            records: &handling.records,
            ready: handling.ready,
            whole: handling.whole,
            start: handling.start,
            addressed: handling.addressed,
            assembled: handling.assembled,
            events_free: 0,
            speculates: handling.entry.speculates,
            software: handling.entry.software,
        };
        self.model.lay(&job, &mut handling.timing);
    }

    fn trace_line(&self, engine: &Engine, event: &Event, outcome: &Outcome, handling: &Handling, end: u64) -> Handled {
        let protocol = engine.protocol();
        let role = &protocol.roles[outcome.role.index()];
        let send = |sent: &Envelope| format!("{} to {}", protocol.messages[sent.message.index()].name, sent.to);
        Handled {
            cycle: handling.start,
            node: self.core.me,
            event: format!("{}.{}", protocol.name, protocol.event_name(event.kind)),
            sender: matches!(event.kind, EventKind::Message(_)).then_some(event.sender),
            object: format!("{} {}", protocol.objects[outcome.object.kind.index()], outcome.object.id),
            role: role.name.clone(),
            before: role.states[outcome.before.index()].name.clone(),
            after: role.states[outcome.after.index()].name.clone(),
            record: self.record_told(engine, handling.effects.protocol, outcome),
            disposition: format!("{:?}", outcome.disposition).to_lowercase(),
            sends: handling.sends.iter().map(|sent| send(sent)).collect(),
            end,
            busy: 0,
            arrow: None,
            worker: Worker::default(),
        }
    }

    /// The engine was busy with a handler, and so was the processor if it runs there; or the processor alone, with a call. For
    /// how many cycles that takes nothing else.
    fn occupy(&mut self, start: u64, end: u64, (on_processor, engine): (bool, usize)) -> u64 {
        if on_processor {
            self.model.occupy_processor(start..end);
            self.handle(start..end);
            return end - start;
        }
        let busy = self.model.occupy(start..end, engine);
        self.counts.counters.engine_busy += busy;
        if self.model.shares_processor() {
            self.handle(start..end);
        }
        busy
    }

    /// What a handler did to others, and to the processor, takes its way.
    #[inline(always)]
    fn release(&mut self, protocol: usize, engine: &Engine, handling: &mut Handling, runs: &Runs) {
        let end = handling.timing.end;
        let run = &runs.all;
        for (payload, _) in &handling.effects.gathered {
            self.forget(*payload);
        }
        if !handling.sends.is_empty() {
            self.release_sends(protocol, engine, handling, runs);
        }
        let resumed = handling.timing.resume.unwrap_or(end);
        let resumed_by = runs.resumes.as_ref().or(run.as_ref());
        let when = When {
            resumed: (resumed, resumed_by.map(|run| (run.clone(), resumed))),
            ended: (end, run.clone().map(|run| (run, end))),
        };
        let_threads_go_on(self, &handling.effects, &when);
        if !handling.effects.tasks.is_empty() || !handling.effects.timers.is_empty() {
            self.start_later(protocol, handling, run);
        }
        try_again(self, protocol, engine, &handling.effects.touched, &when);
    }

    /// A handler's messages leave.
    fn release_sends(&mut self, protocol: usize, engine: &Engine, handling: &mut Handling, runs: &Runs) {
        for (number, (mut envelope, &at)) in handling.sends.drain(..).zip(&handling.timing.sends).enumerate() {
            let run = runs.sends.get(number).or(runs.all.as_ref());
            envelope.id = self.counts.sent << 16 | u64::from(self.core.me);
            envelope.cause = run.map(|run| (run.clone(), at));
            envelope.departed = at;
            envelope.tail = handling.timing.tails.get(number).copied().unwrap_or(0);
            envelope.waited = 0;
            envelope.has_started = self.core.has_started;
            self.counts.sent += 1;
            self.counts.counters.messages_sent += 1;
            let data = envelope.data.as_ref().map_or(0, |data| data.bytes.len() as u64);
            self.counts.counters.bytes_sent += 8 * (2 + envelope.args.words().len() as u64) + data;
            self.count_sent(protocol, envelope.message);
            if self.recording {
                self.blame_sent(run.map(|run| &**run), envelope.object);
            }
            let fifo = engine.protocol().lanes[envelope.lane.index()].fifo;
            let given_up = handling.timing.given_up;
            if let Some((queue, arrival, envelope)) = self.model.send(at, fifo, envelope) {
                // The unit takes the next message when it has given up one whose node it does not find.
                let place = given_up.unwrap_or_else(|| self.place_free(&queue, at));
                self.departed((queue, place), arrival, envelope);
            }
        }
    }

    /// A message takes these cycles to leave.
    #[inline(always)]
    fn departed(&mut self, (queue, place): (std::ops::Range<u64>, u64), arrival: u64, envelope: Box<Envelope>) {
        if self.shared.protocols.any_queue {
            self.note_leaving(place, &envelope);
        }
        self.note_queue(queue, true, &envelope);
        self.post_message(arrival, envelope);
    }

    /// When the place of a message that was handed over at cycle `at`, and passes the port in these cycles, is free; if no lane has such places, any cycle.
    #[inline(always)]
    fn place_free(&self, queue: &std::ops::Range<u64>, at: u64) -> u64 {
        if self.shared.protocols.any_queue { self.shared.machine.place_free(queue.clone(), at) } else { queue.end }
    }

    /// When a message of an outgoing queue has left it, its place is free.
    #[cold]
    fn note_leaving(&mut self, at: u64, envelope: &Envelope) {
        let &Envelope { protocol, lane, .. } = envelope;
        if self.shared.protocols.engines[protocol].lane_queues(lane) {
            let by = self.core.me;
            let at = at.max(self.now);
            self.post_credit(by, at, Credit { by, protocol, lane, left: true });
        }
    }

    /// Tasks and timers that a handler has started.
    #[cold]
    fn start_later(&mut self, protocol: usize, handling: &mut Handling, run: &Option<Arc<Work>>) {
        let end = handling.timing.end;
        let left = |at: u64| run.clone().map(|run| (run, at));
        for (task, object, args) in handling.effects.tasks.drain(..) {
            let mut started = self.local(protocol, EventKind::Task(task), object);
            (started.event.args, started.cause) = (args, left(end));
            let at = self.task_time(end);
            self.raise(at, Arrival::Local(started));
        }
        for (role, object, after) in handling.effects.timers.drain(..) {
            let generation = self.core.schedule.new_timer((protocol, role, object));
            if let Some(after) = after {
                let at = self.timer_time(role, object, end, end + after);
                self.raise(at, Arrival::Timer(Box::new(Expiry { protocol, role, object, generation })));
            }
        }
    }

    /// A message that waited for a credit leaves.
    fn depart(&mut self, at: u64, envelope: Box<Envelope>) {
        let fifo = self.shared.protocols.engines[envelope.protocol].protocol().lanes[envelope.lane.index()].fifo;
        let (queue, arrival, envelope) = self.model.interface.depart(at, fifo, envelope);
        let place = self.place_free(&queue, at);
        self.departed((queue, place), arrival, envelope);
    }

    /// A message is on its way.
    // As a credit: `ARCHITECTURE.md`, "Written where it stays".
    #[inline(always)]
    fn post_message(&mut self, arrival: u64, envelope: Box<Envelope>) {
        let (key, to) = (self.key(arrival), envelope.to);
        if to == self.core.me {
            return self.queues.inbox.insert(key, Arrival::Message(envelope));
        }
        let post = Post { to, key, what: Posted::Arrival(Arrival::Message(envelope)) };
        // Where there is room nothing can go wrong, so that nothing is kept ready to be dropped.
        if self.queues.outbox.len() == self.queues.outbox.capacity() {
            self.post_further(post)
        } else {
            self.queues.outbox.push(post)
        }
    }

    /// A credit is on its way back.
    #[inline(always)]
    fn post_credit(&mut self, to: Node, arrival: u64, credit: Credit) {
        let key = self.key(arrival);
        if to == self.core.me {
            return self.queues.credits.insert(key, credit);
        }
        let post = Post { to, key, what: Posted::Credit(credit) };
        if self.queues.outbox.len() == self.queues.outbox.capacity() {
            self.post_further(post)
        } else {
            self.queues.outbox.push(post)
        }
    }

    #[cold]
    fn post_further(&mut self, post: Post) {
        self.queues.outbox.push(post);
    }

    #[inline(always)]
    fn note_queue(&mut self, cycles: std::ops::Range<u64>, leaves: bool, envelope: &Envelope) {
        if self.recording && self.noting(&cycles) {
            self.note_queued(cycles, leaves, envelope);
        }
    }

    #[cold]
    fn note_queued(&mut self, cycles: std::ops::Range<u64>, leaves: bool, envelope: &Envelope) {
        let protocol = self.shared.protocols.engines[envelope.protocol].protocol();
        let message = format!("{}.{}", protocol.name, protocol.messages[envelope.message.index()].name);
        let peer = if leaves { envelope.to } else { envelope.from };
        self.note(Note::Queue { node: self.core.me, cycles, leaves, peer, message });
    }
}
