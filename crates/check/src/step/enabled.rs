//! Which events can happen in a state.

use super::Stepper;
use crate::system::action::{Action, event_kind};
use crate::system::calls::{self, Within};
use crate::system::client::{Intent, Offer};
use crate::system::model::Model;
use crate::system::promise::{PromiseView, may_start};
use crate::system::usage::may_use;
use crate::system::world::{ThreadState, World};
use std::borrow::Cow;
use std::ops::Range;
use trivium_engine::{Node, Object, Stalled};
use trivium_protocol::{Assume, BLOCK, EventKind, Line, Promise, Protocol, Response, RoleId};

/// What a thread can do now about an object by one kind of event.
#[derive(Clone, Copy)]
struct Chance {
    /// Whether the tag allows it.
    allowed: bool,
    /// Whether it can be performed or raised.
    possible: bool,
}

/// Who answers what a thread raises: it is the same in every state.
#[derive(Clone)]
pub(super) enum Answer {
    /// No role of the node.
    Nobody,
    /// A role that has no record for the object there.
    Nowhere,
    /// A role, whose record lies there.
    Role(RoleId, Range<usize>),
}

/// Things next to each other that threads may begin, which are about one object and raise one kind of event: they differ in
/// what they store.
pub(super) struct Starts {
    first: usize,
    each: Vec<Start>,
}

/// One of them.
struct Start {
    offer: Offer,
    /// Whether no property and no assumption says when it may begin.
    is_free: bool,
}

impl Starts {
    /// All that a thread may begin, in order.
    pub fn all(model: &Model) -> Vec<Starts> {
        let mut all: Vec<Starts> = Vec::new();
        for (number, (intent, &offer)) in model.client.intents.iter().zip(&model.client.offers).enumerate() {
            let start = Start { offer, is_free: is_free(model, intent) };
            let same = |starts: &&mut Starts| {
                let first = &model.client.intents[starts.first];
                (event_kind(first), first.object()) == (event_kind(intent), intent.object())
            };
            match all.last_mut().filter(same) {
                Some(starts) => starts.each.push(start),
                None => all.push(Starts { first: number, each: vec![start] }),
            }
        }
        all
    }
}

/// Whether [`may_start`] and [`may_use`] are true for an access in every state.
fn is_free(model: &Model, intent: &Intent) -> bool {
    let protocol = model.protocol();
    let is_used_freely = protocol.conditions.iter().all(|condition| condition.event != event_kind(intent));
    is_used_freely
        && model.layout.copies.is_none()
        && match intent {
            Intent::Read { .. } | Intent::Image { .. } => true,
            Intent::Call { .. } => false,
            Intent::Write { .. } | Intent::WriteBeside { .. } | Intent::Rmw { .. } | Intent::Store { .. } => {
                model.layout.mark.is_none()
                    && !protocol.has_phases()
                    && !protocol.assumptions.contains(&Assume::HomeWrites)
            }
        }
}

/// Most answers that are worked out beforehand.
const MOST_ANSWERS: usize = 1 << 12;

impl Answer {
    /// For each thread, what answers each thing that it may do; those of the first threads, if they are many.
    pub fn all(model: &Model) -> Vec<Answer> {
        let intents = model.client.intents.len();
        let each = (0..model.client.threads.len()).flat_map(|thread| (0..intents).map(move |number| (thread, number)));
        each.take(MOST_ANSWERS).map(|(thread, number)| Answer::of(model, thread, number)).collect()
    }

    fn of(model: &Model, thread: usize, number: usize) -> Answer {
        let (node, intent) = (model.client.threads[thread].node, &model.client.intents[number]);
        match model.answering_role(node, intent) {
            None => Answer::Nobody,
            Some(role) => match model.layout.record(node, role, intent.object().id) {
                None => Answer::Nowhere,
                Some(record) => Answer::Role(role, record),
            },
        }
    }
}

/// An instance whose deferred events, or whose timer, may be due.
pub(super) struct Due {
    node: Node,
    role: RoleId,
    object: Object,
    record: Range<usize>,
    has_timers: bool,
}

impl Due {
    pub fn all(model: &Model) -> Vec<Due> {
        let due = model.instances().filter_map(|(node, role, object)| {
            let declared = &model.protocol().roles[role.index()];
            let has_timers = declared.states.iter().any(|state| state.timer.is_some());
            let record = model.layout.record(node, role, object.id)?;
            (has_timers || declared.defers.is_some()).then_some(Due { node, role, object, record, has_timers })
        });
        due.collect()
    }
}

/// Whether phases end where the protocol knows nothing of it: none of its calls is a barrier.
pub(super) fn has_open_phases(protocol: &Protocol) -> bool {
    protocol.has_phases() && !protocol.promises.iter().any(|p| matches!(p, Promise::Barrier(_)))
}

/// What a node with threads may raise of its own accord about a block: the role that answers that, and where its record lies.
pub(super) struct Unasked {
    node: Node,
    block: u32,
    kind: EventKind,
    role: RoleId,
    record: Range<usize>,
}

/// What the most general client may prefetch. A scenario's program is given, and has no prefetches.
pub(super) fn prefetchable(model: &Model) -> Vec<Unasked> {
    if model.client.script.is_some() {
        return Vec::new();
    }
    [EventKind::Prefetch, EventKind::PrefetchWrite].into_iter().flat_map(|kind| unasked(model, kind)).collect()
}

/// The blocks of which a node may wish to be rid, or which it may prefetch.
pub(super) fn unasked(model: &Model, kind: EventKind) -> Vec<Unasked> {
    let with_threads = model.all_nodes().zip(&model.client.threads_of).filter(|(_, threads)| !threads.is_empty());
    let blocks = with_threads.flat_map(|(node, _)| (0..model.objects[BLOCK.index()]).map(move |block| (node, block)));
    let answered = blocks.filter_map(|(node, block)| {
        let is_home = model.is_home(node, Object { kind: BLOCK, id: block });
        let role = model.engine.role_for(kind, BLOCK, is_home)?;
        let record = model.engine.answers(role, kind).then(|| model.layout.record(node, role, block))??;
        Some(Unasked { node, block, kind, role, record })
    });
    answered.collect()
}

impl Stepper<'_> {
    /// All events that can happen in a state, in a fixed order.
    pub fn actions(&mut self, world: &World, out: &mut Vec<Action>) {
        out.clear();
        self.is_calm = self.finds_calm(world);
        self.going(world, out);
        if !out.is_empty() {
            return;
        }
        self.deliveries(world, out);
        self.replays_and_timers(world, out);
        self.tasks(world, out);
        for thread in 0..self.model.client.threads.len() {
            self.thread_actions(world, thread, out);
        }
        self.lines(world, out);
        if !self.model.protocol().cached {
            self.evictions(world, out);
        }
        self.prefetches(world, out);
        self.phase(world, out);
    }

    /// Whether any event may be dispatched in a state: nowhere is a replay due, and messages need no room.
    fn finds_calm(&self, world: &World) -> bool {
        let is_due = |due: &Due| self.model.engine.replay_due(due.role, &world.fixed[due.record.clone()]);
        !self.model.needs_room && !self.due.iter().any(is_due)
    }

    /// Threads of a node that were let go together: which comes first is left open, and nothing else comes between.
    fn going(&self, world: &World, out: &mut Vec<Action>) {
        let client = &self.model.client;
        if !client.shares_nodes() {
            return;
        }
        let goes = |&thread: &usize| world.thread(&self.model.layout, thread).0 == ThreadState::LetGo;
        out.extend((0..client.threads.len()).filter(goes).map(|thread| Action::Retry { thread }));
    }

    fn deliveries(&mut self, world: &World, out: &mut Vec<Action>) {
        let model = self.model;
        for flight in world.deliverable(|lane| model.lanes[lane.index()].fifo) {
            let message = &world.flights[flight];
            let kind = EventKind::Message(message.message);
            let role = model.protocol().messages[message.message.index()].role;
            let form = &model.lanes[message.lane.index()];
            // In a queue of all senders, what is at the head keeps back the rest.
            let may_come = form.merged && !message.stand.is_head();
            if may_come && world.has_head(message.to, message.lane) {
                continue;
            }
            if form.behind.is_some() && message.stand.is_behind() {
                if may_come {
                    out.push(Action::Head { flight });
                }
                continue;
            }
            let stalled = match self.ready(world, message.to, role, message.object, kind) {
                false => None,
                true => match model.message_stalls(world, message) {
                    None => {
                        out.push(Action::Deliver { flight });
                        if form.duplicating {
                            out.push(Action::Repeat { flight });
                        }
                        continue;
                    }
                    stalled => stalled,
                },
            };
            if let Some(stalled) = stalled {
                self.note_stall(role, kind, &stalled);
            }
            if may_come {
                out.push(Action::Head { flight });
            }
        }
        if self.loses {
            self.losses(world, out);
        }
    }

    /// An event has stalled: it has met a state, and its answer has gone some way.
    fn note_stall(&mut self, role: RoleId, kind: EventKind, stalled: &Stalled) {
        if let Some(column) = self.model.engine.column(role, kind) {
            self.reached.mark(role, stalled.state, column);
        }
        if let Some(handler) = stalled.handler {
            self.reached.ran(role, handler);
        }
        for look in &stalled.looked {
            if let Some(step) = look.step {
                self.reached.way(step, look.holds);
            }
        }
    }

    fn losses(&self, world: &World, out: &mut Vec<Action>) {
        for (flight, message) in world.flights.iter().enumerate() {
            // Of equal ones next to each other it does not matter which is lost.
            let is_first = flight.checked_sub(1).is_none_or(|before| world.flights[before] != *message);
            if is_first && self.model.lanes[message.lane.index()].lossy {
                out.push(Action::Lose { flight });
            }
        }
    }

    /// Whether an event may be dispatched: no replay is due, and there is room for what it may send. An event
    /// for a role that is not there is dispatched, to become a fault.
    #[inline]
    fn ready(&self, world: &World, node: Node, role: RoleId, object: Object, kind: EventKind) -> bool {
        let record = |role| self.model.record(world, node, role, object);
        self.is_calm
            || self.always_ready[role.index()]
            || record(role).is_none_or(|record| self.ready_there(world, node, role, record, kind))
    }

    /// The same where the record is known.
    #[inline]
    fn ready_there(&self, world: &World, node: Node, role: RoleId, record: &[u8], kind: EventKind) -> bool {
        self.is_calm
            || self.always_ready[role.index()]
            || !self.model.engine.replay_due(role, record) && self.has_room(world, node, role, record, kind)
    }

    #[inline]
    fn has_room(&self, world: &World, node: Node, role: RoleId, record: &[u8], kind: EventKind) -> bool {
        !self.model.needs_room || self.model.has_room(world, node, kind, role, self.model.engine.state(role, record))
    }

    /// A handler of a node has ended: deferred events of the node whose answer is another one by now are to be tried again.
    #[cold]
    pub(super) fn look_at_deferred(&self, world: &mut World, node: Node) {
        let engine = &self.model.engine;
        for due in self.due.iter().filter(|due| due.node == node && engine.defers_by_look(due.role)) {
            let view = PromiseView { model: self.model, world };
            if let Some(at) = engine.other_answer(due.role, due.object, node, &view) {
                engine.try_from(due.role, &mut world.fixed[due.record.clone()], at);
            }
        }
    }

    fn replays_and_timers(&self, world: &World, out: &mut Vec<Action>) {
        if self.is_calm && !self.has_timers {
            return;
        }
        let engine = &self.model.engine;
        for &Due { node, role, object, ref record, has_timers } in &self.due {
            let record = &world.fixed[record.clone()];
            if engine.replay_due(role, record) {
                let event = engine.replay_event(role, object, record);
                if event.is_some_and(|event| self.has_room(world, node, role, record, event.kind)) {
                    out.push(Action::Replay { node, role, object });
                }
                continue;
            }
            if !has_timers {
                continue;
            }
            let state = &engine.protocol().roles[role.index()].states[engine.state(role, record).index()];
            if state.timer.is_some() && self.has_room(world, node, role, record, EventKind::Timer) {
                out.push(Action::Timer { node, role, object });
            }
        }
    }

    fn tasks(&self, world: &World, out: &mut Vec<Action>) {
        for (node, queue) in self.model.all_nodes().zip(&world.queues) {
            let Some(queued) = queue.first() else { continue };
            let role = self.model.protocol().tasks[queued.task.index()].role;
            if self.ready(world, node, role, queued.object, EventKind::Task(queued.task)) {
                out.push(Action::Task { node });
            }
        }
    }

    fn thread_actions(&self, world: &World, thread: usize, out: &mut Vec<Action>) {
        let model = self.model;
        if let Some(told) = world.told(&model.layout, thread)
            && self.is_heard(world, thread, told)
        {
            out.push(Action::Hear { thread });
        }
        let (phase, _) = world.thread(&model.layout, thread);
        match phase {
            ThreadState::Waiting | ThreadState::Deferred | ThreadState::LetGo => {}
            ThreadState::Ready => {
                let (_, act) = world.raised(&model.layout, thread);
                let chance = self.chance(world, thread, act, true);
                if chance.possible && !(chance.allowed && self.looks_in_vain(world, thread, act)) {
                    out.push(Action::Act { thread });
                }
            }
            ThreadState::Held => {
                let (_, intent) = world.raised(&model.layout, thread);
                if self.chance(world, thread, intent, false).possible {
                    out.push(Action::Retry { thread });
                }
            }
            ThreadState::Free => match &model.client.script {
                Some(script) => {
                    if let Some((intent, _)) = script.look(thread, world.count(&model.layout, thread)) {
                        let is_assumed = || self.may_start(world, thread, &model.client.intents[intent]);
                        if self.chance(world, thread, intent, true).possible && is_assumed() {
                            out.push(Action::Start { thread, intent });
                        }
                    }
                }
                None => {
                    if model.client.ops.is_some() && world.count(&model.layout, thread) == 0 {
                        return;
                    }
                    self.starts(world, thread, out);
                }
            },
        }
    }

    /// Whether an engine may hear now of what a thread of its node has told it.
    fn is_heard(&self, world: &World, thread: usize, told: usize) -> bool {
        let (node, intent) = (self.model.client.threads[thread].node, &self.model.client.intents[told]);
        let Answer::Role(role, ref record) = *self.who_answers(thread, told) else { return true };
        self.ready_there(world, node, role, &world.fixed[record.clone()], event_kind(intent))
    }

    /// Whether a look for which an `until` waits would be made again: it changes nothing.
    fn looks_in_vain(&self, world: &World, thread: usize, act: usize) -> bool {
        let Intent::Image { object } = self.model.client.intents[act] else { return false };
        let node = self.model.client.threads[thread].node;
        let word = self.model.image_word(world, node, object);
        calls::looks_in_vain(self.model, world, thread, word)
    }

    /// What the most general client's idle thread can begin.
    fn starts(&self, world: &World, thread: usize, out: &mut Vec<Action>) {
        let model = self.model;
        for starts in &self.starts {
            let chance = self.chance(world, thread, starts.first, true);
            if !chance.possible {
                continue;
            }
            // A store is left open if it is not performed at once.
            let stays_open = self.is_late && !chance.allowed;
            for (intent, start) in (starts.first..).zip(&starts.each) {
                let is_offered = match start.offer {
                    Offer::Always => true,
                    Offer::Never => false,
                    Offer::Open => stays_open,
                    Offer::Chosen => !stays_open,
                };
                if is_offered && (start.is_free || self.may_start(world, thread, &model.client.intents[intent])) {
                    out.push(Action::Start { thread, intent });
                }
            }
        }
    }

    /// Whether what is promised and assumed lets an idle thread begin something. One whose assumption is at fault is tried,
    /// so that the fault is found.
    fn may_start(&self, world: &World, thread: usize, intent: &Intent) -> bool {
        may_start(self.model, world, thread, intent) && may_use(self.model, world, thread, intent).unwrap_or(true)
    }

    /// Whether a thread can perform or raise what it intends. What is held now may be raised once, to be held.
    #[inline]
    fn chance(&self, world: &World, thread: usize, number: usize, first: bool) -> Chance {
        let intent = &self.model.client.intents[number];
        let allowed = self.model.allowed(world, thread, intent);
        let possible = allowed || self.can_raise(world, thread, number, first);
        Chance { allowed, possible }
    }

    /// The same where the tag does not allow it.
    fn can_raise(&self, world: &World, thread: usize, number: usize, first: bool) -> bool {
        let model = self.model;
        let intent = &model.client.intents[number];
        let node = model.client.threads[thread].node;
        let (kind, object) = (event_kind(intent), intent.object());
        if intent.uses_line() && model.layout.line(node, object).is_some() && self.is_busy(world, node, object) {
            // It joins a prefetch, so that it is seen to wait for its answer.
            return first && world.line(&model.layout, node, object).hinted;
        }
        if Within::of(model, intent).is_some() {
            return true;
        }
        // What a thread says comes to its engine in order.
        if world.told(&model.layout, thread).is_some() {
            return false;
        }
        let held = |role, record: &[u8]| {
            *model.engine.response(role, model.engine.state(role, record), kind) == Response::Hold
                || model.intent_stalls(world, thread, role, intent)
        };
        match &*self.who_answers(thread, number) {
            // Where blocks are accessed they are on any node: an access that nobody answers is raised, to become a
            // fault. A call that no role of the node answers is none of its calls.
            Answer::Nobody => intent.is_access() && model.engine.answers_accesses(),
            Answer::Nowhere => false,
            Answer::Role(role, record) => {
                let record = &world.fixed[record.clone()];
                (first || !held(*role, record)) && self.ready_there(world, node, *role, record, kind)
            }
        }
    }

    /// Who answers what a thread raises.
    #[inline]
    fn who_answers(&self, thread: usize, number: usize) -> Cow<'_, Answer> {
        match self.answers.get(thread * self.model.client.intents.len() + number) {
            Some(answer) => Cow::Borrowed(answer),
            None => Cow::Owned(Answer::of(self.model, thread, number)),
        }
    }

    fn evictions(&mut self, world: &World, out: &mut Vec<Action>) {
        let model = self.model;
        let mut stalls = Vec::new();
        for &Unasked { node, block, kind, role, ref record } in &self.evictable {
            let record = &world.fixed[record.clone()];
            let response = model.engine.response(role, model.engine.state(role, record), kind);
            if matches!(response, Response::Handle(_) | Response::Defer)
                && self.ready_there(world, node, role, record, kind)
            {
                match model.local_stalls(world, node, role, (Object { kind: BLOCK, id: block }, kind)) {
                    None => out.push(Action::Evict { node, object: Object { kind: BLOCK, id: block } }),
                    Some(stalled) => stalls.push((role, kind, stalled)),
                }
            }
        }
        stalls.iter().for_each(|(role, kind, stalled)| self.note_stall(*role, *kind, stalled));
    }

    /// Prefetches, of threads or of processors that speculate: where a handler answers them.
    fn prefetches(&self, world: &World, out: &mut Vec<Action>) {
        let model = self.model;
        for &Unasked { node, block, kind, role, ref record } in &self.prefetchable {
            let record = &world.fixed[record.clone()];
            if matches!(model.engine.response(role, model.engine.state(role, record), kind), Response::Handle(_))
                && kind.wants().is_some_and(|wanted| model.tag(world, node, block) < wanted)
                && !(model.protocol().cached && self.is_busy(world, node, Object { kind: BLOCK, id: block }))
                && self.ready_there(world, node, role, record, kind)
                && model.local_stalls(world, node, role, (Object { kind: BLOCK, id: block }, kind)).is_none()
            {
                out.push(Action::Prefetch { node, block, kind });
            }
        }
    }

    /// Whether a processor makes no request for a line now: one at a time, behind what its cache gave up before.
    fn is_busy(&self, world: &World, node: Node, object: Object) -> bool {
        world.line(&self.model.layout, node, object).line == Line::Leaving || self.model.requested(world, node, object)
    }

    /// What processors' caches do: give up lines, of which engines then hear.
    fn lines(&self, world: &World, out: &mut Vec<Action>) {
        let model = self.model;
        for node in model.all_nodes() {
            for object in model.layout.lined() {
                let line = world.line(&model.layout, node, object);
                match line.line {
                    Line::Absent => {}
                    Line::Shared | Line::Exclusive => {
                        if !model.requested(world, node, object) {
                            out.push(Action::Evict { node, object });
                        }
                    }
                    Line::Leaving => {
                        let kind = line.clone().left();
                        let role = model.engine.role_for(kind, object.kind, model.is_home(node, object));
                        let Some(role) = role else { continue };
                        let Some(record) = model.record(world, node, role, object) else { continue };
                        let state = model.engine.state(role, record);
                        if *model.engine.response(role, state, kind) != Response::Hold
                            && model.local_stalls(world, node, role, (object, kind)).is_none()
                            && self.ready(world, node, role, object, kind)
                        {
                            out.push(Action::Leave { node, object });
                        }
                    }
                }
            }
        }
    }

    fn phase(&self, world: &World, out: &mut Vec<Action>) {
        if !self.has_open_phases {
            return;
        }
        let model = self.model;
        let written = (0..model.objects[BLOCK.index()])
            .any(|block| model.layout.writer(block).is_some_and(|at| world.number(at) != 0));
        let idle = |thread| world.thread(&model.layout, thread).0 == ThreadState::Free;
        if written && (0..model.client.threads.len()).all(idle) {
            out.push(Action::Phase);
        }
    }
}
