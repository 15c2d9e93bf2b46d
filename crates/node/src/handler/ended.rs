//! What a handler did to threads, and to what is to be tried again, when it has ended.

use super::{Effects, HandlerMemory, Touched};
use crate::core::{NodeCore, OwnRecords, allows};
use crate::records::{Held, Instance};
use crate::thread::{Grant, NodeThreads, Wait};
use trivium_engine::{Disposition, Engine, Event, Object, Outcome, Payload, Thread};
use trivium_protocol::{Promise, Response};

/// Why a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoesOn {
    /// Its call returns; whether that is one of its protocol's barriers.
    Returned(bool),
    /// It tries its access again.
    Access,
    /// The block of the word that it looks at has changed.
    Changed,
}

/// What of the end of a handler depends on where its node lives.
pub trait ThreadHost: HandlerMemory {
    /// When what a handler did takes effect, and why.
    type When;

    /// A thread goes on.
    fn goes_on(&mut self, thread: Thread, why: GoesOn, when: &Self::When);

    /// A deferred event of an instance is due.
    fn is_due(&mut self, instance: Instance, when: &Self::When);

    /// Something that a thread, or another, has kept is to be handled.
    fn raise_again(&mut self, held: Held, when: &Self::When);
}

/// What a handler did to threads takes its way.
#[inline]
pub fn let_threads_go_on<N: ThreadHost>(node: &mut N, effects: &Effects, when: &N::When) {
    for &(thread, value) in &effects.answers {
        let Some(Wait::Call { protocol, op, .. }) = node.core().threads[thread].wait else { continue };
        let protocols = &node.core().protocols;
        let value = protocols.returned(protocol, op, value);
        let is_barrier = protocols.engines[protocol].protocol().promises.contains(&Promise::Barrier(op));
        node.core_mut().threads[thread].answered = Some(value);
        node.goes_on(thread, GoesOn::Returned(is_barrier), when);
    }
    for &(thread, read) in &effects.completed {
        node.core_mut().threads[thread].grant = Some(Grant::Complete(read));
        node.goes_on(thread, GoesOn::Access, when);
    }
    if let Some(thread) = effects.heard
        && node.core().threads[thread].wait == Some(Wait::Told)
    {
        node.goes_on(thread, GoesOn::Access, when);
    }
    for &object in &effects.resumed {
        resume_threads(node, object, when);
    }
    for thread in NodeThreads::numbers() {
        if let Some(Wait::Change { block, .. }) = node.core().threads[thread].wait
            && effects.changed.contains(&block)
        {
            node.goes_on(thread, GoesOn::Changed, when);
        }
    }
}

/// An object is resumed: the threads that wait for it try their accesses again.
pub fn resume_threads<N: ThreadHost>(node: &mut N, object: Object, when: &N::When) {
    for number in NodeThreads::numbers() {
        let core = node.core_mut();
        if core.threads[number].resume(object) {
            let kind = core.threads[number].pending_kind;
            core.threads[number].grant = allows(core.tag(object), kind).then_some(Grant::Tag);
            node.goes_on(number, GoesOn::Access, when);
        }
    }
}

/// Deferred and held events of the instances that a handler touched get their turn.
#[inline(always)]
pub fn try_again<N: ThreadHost>(node: &mut N, protocol: usize, engine: &Engine, touched: &[Touched], when: &N::When) {
    for touched in touched {
        let core = node.core();
        let record = core.records.at(touched.place);
        let due = engine.replay_due(touched.role, record);
        if due || !core.schedule.holds_nothing() {
            let changed = touched.before != engine.state(touched.role, record);
            try_instance(node, (protocol, touched.role, touched.object), (due, changed), when);
        }
        if engine.defers_by_look(touched.role) {
            let core = node.core_mut();
            if engine.has_deferred(touched.role, core.records.at(touched.place)) {
                core.schedule.looks((protocol, touched.role, touched.object));
            }
        }
    }
    if !node.core().schedule.looks_at_nothing() {
        look_at_deferred(node, protocol, engine, when);
    }
    if engine.may_stall() && !node.core().schedule.holds_nothing() {
        try_stalled(node, protocol, when);
    }
}

/// Deferred events whose answer is another one by now, whatever record has changed, are tried again.
#[cold]
fn look_at_deferred<N: ThreadHost>(node: &mut N, protocol: usize, engine: &Engine, when: &N::When) {
    let looking: Vec<Instance> = node.core().schedule.looking().filter(|&&(of, ..)| of == protocol).copied().collect();
    let mut done: Vec<Instance> = Vec::new();
    for instance @ (_, role, object) in looking {
        let core = node.core_mut();
        if !core.record_of(protocol, role, object).is_some_and(|record| engine.has_deferred(role, record)) {
            done.push(instance);
            continue;
        }
        let view = OwnRecords { node: core, number: protocol };
        if let Some(at) = engine.other_answer(role, object, core.me, &view) {
            let (place, _) = core.records.place(protocol, role, object);
            engine.try_from(role, core.records.at_mut(place), at);
            node.is_due(instance, when);
        }
    }
    node.core_mut().schedule.keep_looking(|instance| !done.contains(instance));
}

/// Threads keep events that stall. Those that stall no longer, whatever record has changed, are handled.
#[cold]
fn try_stalled<N: ThreadHost>(node: &mut N, protocol: usize, when: &N::When) {
    let core = node.core_mut();
    let held = core.schedule.take_held_where(|held| held.protocol == protocol && held.event.has_caller());
    let (mut again, mut kept) = (Vec::new(), Vec::new());
    for held in held {
        let state = core.state_of(protocol, held.role, held.event.object);
        // What a state holds waits for the next state.
        let is_held = *core.protocols.engines[protocol].response(held.role, state, held.event.kind) == Response::Hold;
        let stays = is_held || core.stalls_there(protocol, held.role, &held.event);
        if stays { kept.push(held) } else { again.push(held) }
    }
    kept.into_iter().for_each(|held| core.schedule.hold(held));
    for held in again {
        node.raise_again(held, when);
    }
}

/// The same of one instance: a deferred event of its is `due`, or its state has `changed`.
#[cold]
fn try_instance<N: ThreadHost>(node: &mut N, instance: Instance, (due, changed): (bool, bool), when: &N::When) {
    if due {
        node.is_due(instance, when);
    }
    if changed {
        for held in node.core_mut().schedule.take_held(instance) {
            node.raise_again(held, when);
        }
    }
}

impl<C> NodeCore<C> {
    /// The event of a handler that has ended is kept, if it is held, from `now` on, as whoever drives the node counts; the data that came with it, if they are needed no longer.
    #[inline]
    pub fn keep_event(
        &mut self,
        protocol: usize,
        event: Option<&Event>,
        outcome: &Outcome,
        now: u64,
    ) -> Option<Payload> {
        match (outcome.disposition, event) {
            (Disposition::Held, Some(event)) => {
                let thread = &mut self.threads[event.thread];
                let (number, since) = (thread.latest(), thread.held_since(now));
                self.schedule.hold(Held { protocol, role: outcome.role, event: *event, number, since });
                None
            }
            (Disposition::Deferred, _) | (_, None) => None,
            (_, Some(event)) => event.payload,
        }
    }
}
