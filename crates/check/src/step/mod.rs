//! Transitions: which events can happen in a state (`enabled`), and what each does (`docs/semantics.md`, section 6).

mod bodies;
mod enabled;
pub(crate) mod ghost;
pub(crate) mod mechanisms;
mod performs;
pub(crate) mod ports;
pub(crate) mod remember;
pub(crate) mod through;

use crate::coverage::Reached;
use crate::step::mechanisms::{Effects, ForProgram, Here, Performed};
use crate::step::remember::{Memory, Name};
use crate::system::action::{Action, event_kind};
use crate::system::body;
use crate::system::calls::{self, Within};
use crate::system::client::{Intent, ThreadPlace};
use crate::system::copying;
use crate::system::made::answered_at_once;
use crate::system::model::Model;
use crate::system::payload::{Data, Payloads};
use crate::system::progress::note_demands;
use crate::system::promise::FAULT;
use crate::system::promise::{
    BEYOND, Violation, new_phase, note_contention, once, perform_access, returned, started, word_of,
};
use crate::system::told::Told;
use crate::system::usage::may_use;
use crate::system::world::{Flight, ThreadState, World};
use enabled::{Answer, Due, Starts, Unasked, has_open_phases, prefetchable, unasked};
use trivium_engine::{Disposition, Event, Fault, Node, Object, Outcome};
use trivium_protocol::{BLOCK, CallAction, EventKind, NODE, OpId, RoleId};

/// What a transition did, for reports.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub outcome: Option<Outcome>,
    pub performed: Vec<Performed>,
    pub returned: Vec<(usize, usize, i64)>,
    /// What bodies of calls have asked, and what they were answered: the numbers of intents.
    pub answered: Vec<(usize, i64)>,
    /// Whether the body of a call is at fault, and no handler.
    pub body_fails: bool,
    /// What threads have done to images in bodies of calls, and what that gave.
    pub acts: Vec<(usize, i64)>,
}

/// Executes transitions; owns what they need besides the state.
pub(crate) struct Stepper<'m> {
    pub model: &'m Model,
    pub payloads: Payloads,
    pub reached: Reached,
    pub account: Account,
    /// Whether threads that must wait leave open what they will store, where the system allows it.
    pub is_late: bool,
    effects: Effects,
    scratch: Vec<u8>,
    /// What handlers did before, where that is remembered.
    memory: Option<Box<Memory>>,
    due: Vec<Due>,
    /// Whether some deferred events are tried again when another record than their own has changed.
    defers_by_look: bool,
    /// For each role, whether it defers nothing and needs no room: so it may meet any event at once.
    always_ready: Vec<bool>,
    /// Whether some lane loses messages.
    loses: bool,
    /// Who answers what threads raise.
    answers: Vec<Answer>,
    /// What an idle thread of the most general client may begin.
    starts: Vec<Starts>,
    has_open_phases: bool,
    /// Whether some record may have a timer.
    has_timers: bool,
    /// Whether any event may be dispatched in the state whose events are being found: see [`Stepper::actions`].
    is_calm: bool,
    evictable: Vec<Unasked>,
    prefetchable: Vec<Unasked>,
}

impl<'m> Stepper<'m> {
    pub fn new(model: &'m Model) -> Stepper<'m> {
        let protocol = model.protocol();
        let mut reached = Reached::new(protocol);
        reached.begun(&model.begun);
        Stepper {
            model,
            payloads: Payloads::default(),
            reached,
            account: Account::default(),
            is_late: false,
            effects: Effects::default(),
            scratch: Vec::new(),
            memory: None,
            always_ready: protocol.roles.iter().map(|role| role.defers.is_none() && !model.needs_room).collect(),
            loses: model.lanes.iter().any(|lane| lane.lossy),
            answers: Answer::all(model),
            evictable: unasked(model, EventKind::Evict),
            prefetchable: prefetchable(model),
            due: Due::all(model),
            defers_by_look: model.instances().any(|(_, role, _)| model.engine.defers_by_look(role)),
            starts: Starts::all(model),
            has_open_phases: has_open_phases(protocol),
            has_timers: protocol.roles.iter().flat_map(|role| &role.states).any(|state| state.timer.is_some()),
            is_calm: false,
        }
    }

    /// One that leaves stores open while their threads wait.
    pub fn late(model: &'m Model) -> Stepper<'m> {
        let mut stepper = Stepper::new(model);
        stepper.is_late = true;
        stepper
    }

    /// Remembers from now on what handlers do.
    pub fn remember(&mut self) {
        self.memory = Some(Box::new(Memory::new(self.model)));
    }

    /// Executes one event in the way in which its handlers are told this ([`Stepper::told`]), and in the first way behind it; stores
    /// are not open.
    ///
    /// # Errors
    /// What it violates. The state is then what it was when the violation was noticed.
    pub fn perform_told(&mut self, world: &mut World, action: Action, told: &[Told]) -> Result<(), Violation> {
        self.effects.choices.want(told);
        self.perform_in_way(world, action)
    }

    /// The next event is executed in its first way.
    #[inline]
    pub fn restart_ways(&mut self) {
        self.effects.choices.restart();
    }

    /// The event that was executed last will be executed in its next way: open stores turn out to be others. Whether there
    /// is one.
    #[inline]
    pub fn next_way(&mut self) -> bool {
        self.effects.choices.advance()
    }

    /// The open stores that the event that was executed last has performed: the thread and what it stored.
    pub fn choices(&self) -> &[(usize, usize)] {
        &self.effects.choices.made
    }

    /// What handlers of the event that was executed last were told where they might have been told otherwise, in order.
    pub fn told(&self) -> &[Told] {
        &self.effects.told
    }

    /// The messages that the event that was executed last has sent.
    pub fn sends(&self) -> &[Flight] {
        &self.effects.sends
    }

    /// The accesses that it has performed for programs.
    pub fn for_program(&self) -> &[ForProgram] {
        &self.effects.for_program
    }

    /// Executes one event in the way that [`Stepper::restart_ways`] or [`Stepper::next_way`] has set.
    ///
    /// # Errors
    /// As [`Stepper::perform_answering`].
    pub fn perform_in_way(&mut self, world: &mut World, action: Action) -> Result<(), Violation> {
        self.effects.choices.begin();
        self.account.outcome = None;
        self.account.performed.clear();
        self.account.returned.clear();
        self.account.answered.clear();
        self.account.body_fails = false;
        self.account.acts.clear();
        self.effects.clear();
        self.execute(world, action)?;
        match self.model.demands.is_empty() {
            true => Ok(()),
            false => note_demands(self.model, world),
        }
    }

    /// Executes an event of a state in each way in which it can go, until one is as it is wanted: whether one is.
    pub fn any_way(
        &mut self,
        world: &World,
        action: Action,
        mut is_wanted: impl FnMut(&mut Self, World, Result<(), Violation>) -> bool,
    ) -> bool {
        self.restart_ways();
        loop {
            let mut next = world.clone();
            let result = self.perform_in_way(&mut next, action);
            if is_wanted(self, next, result) {
                return true;
            }
            if !self.next_way() {
                return false;
            }
        }
    }

    fn execute(&mut self, world: &mut World, action: Action) -> Result<(), Violation> {
        match action {
            Action::Start { thread, intent } => {
                if self.model.client.ops.is_some() {
                    let left = world.count(&self.model.layout, thread);
                    world.set_count(&self.model.layout, thread, left.saturating_sub(1));
                }
                let intended = &self.model.client.intents[intent];
                let node = self.model.client.threads[thread].node;
                if let Some(value) = answered_at_once(self.model, world, node, intended)? {
                    self.account.returned.push((thread, intent, value));
                    return body::done(self.model, world, thread, Some(value));
                }
                note_contention(self.model, world, intended, &mut self.reached.contended);
                started(self.model, world, thread, &self.model.client.intents[intent]);
                let model = self.model;
                may_use(model, world, thread, &model.client.intents[intent])?;
                ghost::tell_call(&mut self.here(world, node), node, &model.client.intents[intent])?;
                if Within::of(model, &model.client.intents[intent]).is_some() {
                    return self.enter(world, thread, intent);
                }
                self.raise(world, thread, intent)
            }
            Action::Retry { thread } | Action::Act { thread } => {
                let (_, intent) = world.raised(&self.model.layout, thread);
                self.raise(world, thread, intent)
            }
            Action::Hear { thread } => self.hear(world, thread),
            Action::Evict { node, object } if self.model.layout.line(node, object).is_some() => {
                let engine = &self.model.engine;
                let role = engine.role_for(EventKind::Evict, object.kind, self.model.is_home(node, object));
                let heard = role.is_some_and(|role| engine.answers(role, EventKind::Evict));
                let mut line = world.line(&self.model.layout, node, object);
                line.evict(heard);
                world.set_line(&self.model.layout, node, object, line);
                Ok(())
            }
            Action::Leave { node, object } => self.leave(world, node, object),
            Action::Evict { node, object } => {
                let event = Event::local(EventKind::Evict, object, 0);
                let name = Some(Name::of_eviction(object.id));
                match self.finds(node, name, world) {
                    true => self.redo(world, node, None)?,
                    false => self.dispatch(world, node, None, &event, None, name)?,
                }
                Ok(())
            }
            Action::Prefetch { node, block, kind } => self.prefetch(world, node, block, kind),
            Action::Lose { flight } => {
                world.flights.remove(flight);
                Ok(())
            }
            Action::Head { flight } => {
                world.come_to_head(flight, &self.model.codec);
                Ok(())
            }
            Action::Deliver { flight } => self.deliver(world, flight, true),
            Action::Repeat { flight } => self.deliver(world, flight, false),
            Action::Replay { node, role, object } => self.replay(world, node, role, object),
            Action::Task { node } => {
                let queued = world.queues[node as usize].remove(0);
                let name = Name::of_task(&queued);
                if self.finds(node, name, world) {
                    return self.redo(world, node, None);
                }
                let kind = EventKind::Task(queued.task);
                let event =
                    Event { kind, object: queued.object, sender: node, thread: 0, args: queued.args, payload: None };
                self.dispatch(world, node, None, &event, None, name)
            }
            Action::Timer { node, role, object } => {
                let name = Some(Name::of_timer(role, object));
                if self.finds(node, name, world) {
                    return self.redo(world, node, None);
                }
                self.dispatch(world, node, Some(role), &Event::local(EventKind::Timer, object, 0), None, name)
            }
            Action::Phase => {
                new_phase(self.model, world);
                Ok(())
            }
        }
    }

    /// A processor's hint is dispatched. With a cache it is a request from now on, for which no thread waits.
    fn prefetch(&mut self, world: &mut World, node: Node, block: u32, kind: EventKind) -> Result<(), Violation> {
        let object = Object { kind: BLOCK, id: block };
        if self.model.protocol().cached {
            let mut line = world.line(&self.model.layout, node, object);
            line.hint();
            world.set_line(&self.model.layout, node, object, line);
        }
        let name = Some(Name::of_prefetch(block, kind));
        if self.finds(node, name, world) {
            return self.redo(world, node, None);
        }
        self.dispatch(world, node, None, &Event::local(kind, object, 0), None, name)
    }

    /// What left a processor's cache comes to its engine.
    fn leave(&mut self, world: &mut World, node: Node, object: Object) -> Result<(), Violation> {
        let mut line = world.line(&self.model.layout, node, object);
        let word = self.model.layout.line(node, object).map_or(0, |(_, word)| world.number(word));
        let kind = line.left();
        world.set_line(&self.model.layout, node, object, line);
        let payload = (kind == EventKind::WriteBack).then(|| self.payloads.handle(Data::Block(word)));
        let name = Some(Name::of_leaving(object, payload));
        if self.finds(node, name, world) {
            return self.redo(world, node, None);
        }
        self.dispatch(world, node, None, &Event { payload, ..Event::local(kind, object, 0) }, None, name)
    }

    /// A thread performs its access if the tag allows it, and else raises its event.
    fn raise(&mut self, world: &mut World, thread: usize, number: usize) -> Result<(), Violation> {
        let model = self.model;
        let intent = &model.client.intents[number];
        if model.allowed(world, thread, intent) {
            return self.finish_access(world, thread, number);
        }
        let place = model.client.threads[thread];
        if intent.uses_line() && world.line(&model.layout, place.node, intent.object()).hinted {
            world.set_raised(&model.layout, thread, ThreadState::Held, number);
            return Ok(());
        }
        // It waits from the start, so that the handler itself can complete it or return.
        world.set_raised(&model.layout, thread, ThreadState::Waiting, number);
        let name = Some(Name::of_raised(thread, number));
        if self.finds(place.node, name, world) {
            return self.redo(world, place.node, Some(thread));
        }
        let event = self.event_of(thread, number);
        self.dispatch(world, place.node, None, &event, Some(thread), name)
    }

    /// The event of what a thread does.
    fn event_of(&self, thread: usize, number: usize) -> Event {
        let (place, intent) = (self.model.client.threads[thread], &self.model.client.intents[number]);
        match intent {
            Intent::Call { op, object, args } => Event {
                kind: EventKind::Op(*op),
                object: *object,
                sender: place.node,
                thread: place.number,
                args: *args,
                payload: None,
            },
            _ => Event::local(event_kind(intent), intent.object(), place.number),
        }
    }

    fn deliver(&mut self, world: &mut World, at: usize, is_gone: bool) -> Result<(), Violation> {
        let flight = &world.flights[at];
        let (to, name) = (flight.to, Name::of_message(flight));
        if self.finds(to, name, world) {
            if is_gone {
                self.take(world, at);
            }
            return self.redo(world, to, None);
        }
        let flight = if is_gone { self.take(world, at) } else { *flight };
        let event = Event {
            kind: EventKind::Message(flight.message),
            object: flight.object,
            sender: flight.from,
            thread: 0,
            args: flight.args,
            payload: flight.payload,
        };
        self.dispatch(world, to, None, &event, None, name)
    }

    /// A message is on its way no longer.
    fn take(&self, world: &mut World, at: usize) -> Flight {
        let flight = world.flights.remove(at);
        if self.model.lanes[flight.lane.index()].is_before {
            let lanes = &self.model.lanes;
            world.advance(&flight, |lane| lanes[lane.index()].behind == Some(flight.lane), &self.model.codec);
            if lanes.iter().any(|lane| lane.behind == Some(flight.lane) && !lane.fifo) {
                world.sort_flights(|lane| lanes[lane.index()].fifo);
            }
        }
        flight
    }

    fn replay(&mut self, world: &mut World, node: Node, role: RoleId, object: Object) -> Result<(), Violation> {
        let model = self.model;
        let event =
            model.record(world, node, role, object).and_then(|record| model.engine.replay_event(role, object, record));
        let thread = event.filter(Event::has_caller).and_then(|event| {
            model.client.threads_of[node as usize].get(usize::from(event.thread)).map(|&t| t as usize)
        });
        if let Some(thread) = thread {
            let (_, intent) = world.thread(&model.layout, thread);
            world.set_thread(&model.layout, thread, ThreadState::Waiting, intent);
        }
        let name = Some(Name::of_replay(role, object));
        if self.finds(node, name, world) {
            return self.redo(world, node, thread);
        }
        if let Some(event) = event {
            self.mark(world, node, role, &event);
        }
        self.note_contents(world, node);
        let outcome = model.engine.replay(role, object, &mut self.here(world, node));
        self.handled(world, node, outcome, thread, name)
    }

    /// An event is dispatched, which has not been found by its name, if it has one.
    fn dispatch(
        &mut self,
        world: &mut World,
        node: Node,
        role: Option<RoleId>,
        event: &Event,
        thread: Option<usize>,
        name: Option<Name>,
    ) -> Result<(), Violation> {
        let engine = &self.model.engine;
        let is_home = self.model.is_home(node, event.object);
        let role = role.or_else(|| engine.role_for(event.kind, event.object.kind, is_home));
        self.note_contents(world, node);
        let outcome = match role {
            Some(role) => {
                self.mark(world, node, role, event);
                engine.dispatch_to(role, event, &mut self.here(world, node))
            }
            None => engine.dispatch(event, &mut self.here(world, node)),
        };
        self.handled(world, node, outcome, thread, name)
    }

    /// A handler is about to run: what it may look at.
    #[inline]
    fn note_contents(&mut self, world: &World, node: Node) {
        if self.model.kept.is_looked_at() {
            self.effects.there.clear();
            self.effects.there.extend(self.model.blocks_with_contents(world, node));
        }
    }

    /// Whether it is remembered what a node did at an event as it is: then [`Stepper::redo`] does it again.
    #[inline]
    fn finds(&mut self, node: Node, name: Option<Name>, world: &World) -> bool {
        match (&mut self.memory, name) {
            (Some(memory), Some(name)) => memory.finds(node, name, world),
            _ => false,
        }
    }

    /// A node does again what it did before.
    #[inline]
    fn redo(&mut self, world: &mut World, node: Node, thread: Option<usize>) -> Result<(), Violation> {
        // Put aside, as it changes all the rest.
        let Some(memory) = self.memory.take() else { return Ok(()) };
        let outcome = memory.redo(&mut self.here(world, node));
        self.memory = Some(memory);
        outcome.map_or(Ok(()), |outcome| self.settle(world, node, outcome, thread))
    }

    /// A handler has ended. What it did is remembered by the event's name.
    fn handled(
        &mut self,
        world: &mut World,
        node: Node,
        outcome: Result<Outcome, Fault>,
        thread: Option<usize>,
        name: Option<Name>,
    ) -> Result<(), Violation> {
        // What goes wrong behind that is of a record that nobody has.
        if let Some(beyond) = self.effects.trouble.take_if(|trouble| trouble.property == BEYOND) {
            return Err(beyond);
        }
        let outcome = outcome.map_err(Violation::fault)?;
        if std::mem::take(&mut self.effects.looked_in_vain) {
            self.name_handler(&outcome);
        }
        if self.model.kept.forgets() {
            self.model.forget_contents(world, node);
        }
        if self.model.forgetting != [None; 2] || self.model.unread.is_some() {
            self.model.forget_dead_copies(world, node);
        }
        if let Some(handler) = outcome.handler.filter(|_| self.effects.trouble.is_none()) {
            self.reached.ran(outcome.role, handler);
        }
        if let (Some(memory), Some(name)) = (&mut self.memory, name) {
            memory.keep(node, name, &self.effects, world, outcome);
        }
        self.settle(world, node, outcome, thread)
    }

    /// What went wrong while a handler ran is told with the handler.
    #[cold]
    fn name_handler(&mut self, outcome: &Outcome) {
        let Some(handler) = outcome.handler else { return };
        let protocol = self.model.protocol();
        let handler = &protocol.roles[outcome.role.index()].handlers[handler.index()];
        let place = protocol.sources.place(handler.span);
        if let Some(trouble) = &mut self.effects.trouble {
            trouble.sentence += &format!(" (in {}, {}:{})", handler.name, place.file, place.line);
        }
    }

    #[inline]
    fn here<'a>(&'a mut self, world: &'a mut World, node: Node) -> Here<'a> {
        Here {
            model: self.model,
            payloads: &mut self.payloads,
            world,
            effects: &mut self.effects,
            scratch: &mut self.scratch,
            reached: &mut self.reached,
            me: node,
        }
    }

    /// Notes that an event has met a state.
    fn mark(&mut self, world: &World, node: Node, role: RoleId, event: &Event) {
        let engine = &self.model.engine;
        if let Some(record) = self.model.record(world, node, role, event.object)
            && let Some(column) = engine.column(role, event.kind)
        {
            let state = engine.state(role, record);
            self.reached.mark(role, state, column);
            if self.model.has_queues {
                self.effects.ports.dispatched(event.kind, role, state);
            }
        }
    }

    /// What is true for threads when a handler has ended.
    #[inline]
    fn settle(
        &mut self,
        world: &mut World,
        node: Node,
        outcome: Outcome,
        thread: Option<usize>,
    ) -> Result<(), Violation> {
        if self.defers_by_look {
            self.look_at_deferred(world, node);
        }
        if !self.concerns_no_thread(&outcome, thread) {
            return self.settle_all(world, node, outcome, thread);
        }
        self.account.outcome = Some(outcome);
        Ok(())
    }

    /// Whether a handler has done nothing but change its node's records and contents, and send: as most do.
    #[inline]
    fn concerns_no_thread(&self, outcome: &Outcome, thread: Option<usize>) -> bool {
        let Effects { resumed, answers, performed, trouble, .. } = &self.effects;
        (outcome.disposition == Disposition::Handled || thread.is_none())
            && resumed.is_empty()
            && answers.is_empty()
            && performed.is_empty()
            && trouble.is_none()
    }

    fn settle_all(
        &mut self,
        world: &mut World,
        node: Node,
        outcome: Outcome,
        thread: Option<usize>,
    ) -> Result<(), Violation> {
        if let Some(violation) = self.effects.trouble.take() {
            return Err(violation);
        }
        self.account.outcome = Some(outcome);
        for at in 0..self.effects.performed.len() {
            let performed = self.effects.performed[at];
            self.note_access(performed.intent);
            body::done(self.model, world, performed.thread, performed.seen.map(u64::cast_signed))?;
            self.account.performed.push(performed);
        }
        match (outcome.disposition, thread) {
            (Disposition::Passed, Some(thread)) => {
                let (_, intent) = world.raised(&self.model.layout, thread);
                return self.finish_access(world, thread, intent);
            }
            (Disposition::Held, Some(thread)) => self.hold(world, thread),
            (Disposition::Deferred, Some(thread)) => self.defer(world, thread)?,
            _ => {}
        }
        self.answer(world, node)?;
        self.wake(world, node)
    }

    /// No handler answers a thread's event: the thread keeps it.
    fn hold(&self, world: &mut World, thread: usize) {
        let (_, intent) = world.thread(&self.model.layout, thread);
        world.set_thread(&self.model.layout, thread, ThreadState::Held, intent);
    }

    /// A handler has deferred a thread's event, which it must not have completed before.
    fn defer(&self, world: &mut World, thread: usize) -> Result<(), Violation> {
        let (state, intent) = world.thread(&self.model.layout, thread);
        if state != ThreadState::Waiting {
            let ThreadPlace { node, number } = self.model.client.threads[thread];
            let sentence =
                format!("node {node}: a handler completes the access of thread {number}, and defers its event");
            return Err(Violation::new(FAULT, sentence));
        }
        world.set_thread(&self.model.layout, thread, ThreadState::Deferred, intent);
        Ok(())
    }

    /// Calls return.
    fn answer(&mut self, world: &mut World, node: Node) -> Result<(), Violation> {
        let model = self.model;
        for at in 0..self.effects.answers.len() {
            let (number, value) = self.effects.answers[at];
            let thread = model.client.threads_of[node as usize].get(usize::from(number)).map(|&t| t as usize);
            let call = thread.and_then(|thread| {
                let (state, intent) = world.raised(&model.layout, thread);
                match &model.client.intents.get(intent) {
                    Some(Intent::Call { op, object, .. }) if state == ThreadState::Waiting => {
                        Some((thread, intent, *op, *object))
                    }
                    _ => None,
                }
            });
            let Some((thread, intent, op, object)) = call else {
                let sentence = format!("node {node}: a call returns to thread {number}, which waits for none");
                return Err(Violation::new(FAULT, sentence));
            };
            if model.protocol().ops[op.index()].is_event {
                self.reached.answer(op);
                self.account.answered.push((intent, value));
                self.acted(world, thread, value)?;
            } else {
                self.returns(world, thread, (intent, op, object), value)?;
            }
        }
        Ok(())
    }

    /// A thread's call returns.
    fn returns(
        &mut self,
        world: &mut World,
        thread: usize,
        (intent, op, object): (usize, OpId, Object),
        value: i64,
    ) -> Result<(), Violation> {
        let (model, node) = (self.model, self.model.client.threads[thread].node);
        world.set_thread(&model.layout, thread, ThreadState::Free, 0);
        self.reached.answer(op);
        self.account.returned.push((thread, intent, value));
        body::done(model, world, thread, Some(value))?;
        returned(model, world, thread, op, object)?;
        copying::returned(model, world, thread, (op, object), value);
        ghost::tell_return(&mut self.here(world, node), node, op, object, value)
    }

    /// Threads that were resumed complete what the tag allows; the others try again as new events.
    fn wake(&mut self, world: &mut World, node: Node) -> Result<(), Violation> {
        let model = self.model;
        for at in 0..self.effects.resumed.len() {
            let object = self.effects.resumed[at];
            let in_any_order = model.client.shares_nodes() && self.order_counts(world, node, object);
            for &thread in &model.client.threads_of[node as usize] {
                let thread = thread as usize;
                let (phase, number) = world.raised(&model.layout, thread);
                let waits = matches!(phase, ThreadState::Waiting | ThreadState::Held);
                let Some(intent) = model.client.intents.get(number).filter(|i| waits && i.uses_line()) else {
                    continue;
                };
                if intent.object() != object {
                    continue;
                }
                if model.allowed(world, thread, intent) {
                    if in_any_order {
                        world.set_raised(&model.layout, thread, ThreadState::LetGo, number);
                    } else {
                        self.finish_access(world, thread, number)?;
                    }
                } else {
                    world.set_raised(&model.layout, thread, ThreadState::Held, number);
                }
            }
        }
        Ok(())
    }

    /// Whether several threads of a node that an object's `resume` lets go may see in which order they go: two access the
    /// word that is looked at, and one of them stores.
    fn order_counts(&self, world: &World, node: Node, object: Object) -> bool {
        let model = self.model;
        // What may turn out to be a store counts as one, however it is chosen.
        let are_open = !model.client.open_stores.is_empty();
        let (mut loads, mut stores) = (0, 0);
        for &thread in &model.client.threads_of[node as usize] {
            let (phase, number) = world.raised(&model.layout, usize::from(thread));
            let Some(intent) = model.client.intents.get(number) else { continue };
            let swaps = matches!(calls::act(model, world, usize::from(thread)), Some(CallAction::Swap { .. }));
            if matches!(phase, ThreadState::Waiting | ThreadState::Held)
                && intent.uses_line()
                && intent.object() == object
                && model.allowed(world, usize::from(thread), intent)
            {
                loads += u32::from(match intent {
                    Intent::Read { .. } => true,
                    Intent::Image { .. } => !swaps,
                    _ => false,
                });
                stores += u32::from(match intent {
                    Intent::Write { .. } | Intent::Rmw { .. } | Intent::Store { .. } => true,
                    Intent::WriteBeside { .. } => are_open,
                    Intent::Image { .. } => swaps,
                    Intent::Read { .. } | Intent::Call { .. } => false,
                });
            }
        }
        stores > 0 && loads + stores > 1
    }

    fn finish_access(&mut self, world: &mut World, thread: usize, number: usize) -> Result<(), Violation> {
        let model = self.model;
        if let Intent::Image { object } = model.client.intents[number] {
            return self.use_image(world, thread, object);
        }
        let number = self.effects.choices.choose(model, world, thread, number);
        let (node, intent) = (model.client.threads[thread].node, &model.client.intents[number]);
        once(model, world, thread)?;
        let seen = perform_access(model, world, thread, intent)?;
        ghost::tell_access(&mut self.here(world, node), node, intent, seen)?;
        world.set_thread(&self.model.layout, thread, ThreadState::Free, 0);
        self.note_access(number);
        self.account.performed.push(Performed {
            thread,
            intent: number,
            seen,
            left: word_of(model, world, node, intent),
            elsewhere: false,
        });
        body::done(model, world, thread, seen.map(u64::cast_signed))
    }

    /// Notes that an access to the word that is looked at has been performed.
    fn note_access(&mut self, intent: usize) {
        match self.model.client.intents[intent] {
            Intent::Read { .. } => self.reached.loads = true,
            Intent::Write { .. } => self.reached.stores = true,
            Intent::Rmw { .. } => (self.reached.loads, self.reached.stores) = (true, true),
            Intent::WriteBeside { .. } | Intent::Store { .. } | Intent::Image { .. } | Intent::Call { .. } => {}
        }
    }
}

/// The agent of a node, as an object.
pub(crate) const AGENT: Object = Object { kind: NODE, id: 0 };
