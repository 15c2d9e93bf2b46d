//! Who may wait for ever where fairness is weak (`docs/semantics.md`, section 7).
//!
//! Under weak fairness an event that must happen happens if from some state on it can happen in every state, and nothing else is assumed. A thread
//! that waits is kept waiting for ever exactly if there is a set of states, each of which leads to each other by events inside of it, in all of which
//! the thread waits, and for each event that must happen
//!
//! * a state of the set in which it cannot happen, or
//! * a step inside the set by which it happens.
//!
//! For then one can go round through all of these again and again. The larger the set, the easier this is, so that the largest are looked at: the strongly
//! connected components of the states in which the thread waits. Voluntary events are steps like others: threads may begin accesses for ever.
//!
//! What threads owe each other, a release or the way to a barrier, is the program's affair, and no program is right that never does it. So it is done if it
//! can be done again and again. Where it can be done in a component, and no step inside does it, a run that stays inside goes through none of the states in which it can: these
//! are taken away, and what is left is looked at in the same way.
//!
//! The search is one of its own, after the usual one has found nothing: it keeps all steps, 8 bytes each, and exchanges no names.

mod graph;

use crate::config::{Config, Fairness};
use crate::report::deadlock::wish_text;
use crate::report::late::LateTrace;
use crate::report::trace::Trace;
use crate::search::demand_text;
use crate::search::store::{StateNumber, Store, way_to};
use crate::step::Stepper;
use crate::system::action::Action;
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::progress::{content, everybody, must_happen};
use crate::system::promise::{STARVATION, Violation};
use crate::system::world::{Flight, ThreadState, World};
use graph::{Graph, VOLUNTARY};
use std::collections::BTreeMap;
use trivium_engine::number::fit;
use trivium_engine::{Node, Object};
use trivium_protocol::{LaneId, OpId, RoleId};

/// States between two looks at limits.
const BREATH: usize = 1 << 10;

/// An event that must happen, as the same one in different states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Duty {
    /// The message at the head of a channel that keeps order.
    Head {
        lane: LaneId,
        from: Node,
        to: Node,
    },
    /// A message of a lane that keeps none: equal ones are one.
    Message(Flight),
    /// One that comes to the head of the queue of all senders.
    Comes(Flight),
    Retry(usize),
    /// An engine hears of what a thread has told it.
    Hear(usize),
    Leave(Node, Object),
    Replay(Node, RoleId, Object),
    Task(Node),
    Timer(Node, RoleId, Object),
    /// The next step of a thread of a scenario, or of the body of a call.
    Step(usize),
    /// A call that a thread owes others.
    Owed(usize, OpId, Object),
}

/// What was found.
pub(crate) enum Found {
    Nothing,
    /// Why it was not looked for to the end.
    Limit(String),
    /// A way to a cycle, and the cycle.
    Waits {
        violation: Violation,
        trace: Trace,
    },
}

/// A component of states in which somebody may wait for ever.
struct Trap {
    wish: usize,
    states: Vec<StateNumber>,
}

/// All states and steps of a system.
pub(crate) struct WeakSearch<'m> {
    model: &'m Model,
    config: &'m Config<'m>,
    stepper: Stepper<'m>,
    store: Store,
    events: BTreeMap<Duty, u32>,
    graph: Graph,
}

impl<'m> WeakSearch<'m> {
    pub fn new(model: &'m Model, config: &'m Config<'m>) -> WeakSearch<'m> {
        debug_assert_eq!(config.fairness, Fairness::Weak);
        WeakSearch {
            model,
            config,
            stepper: Stepper::late(model),
            store: Store::new(),
            events: BTreeMap::new(),
            graph: Graph::default(),
        }
    }

    /// Looks for a thread that may wait, or a demand that may stay open, for ever: the one whose cycle lies least deep.
    pub fn run(mut self) -> Found {
        if let Some(limit) = self.visit() {
            return Found::Limit(format!(
                "{limit}: nothing is violated under strong fairness, but weak fairness was still looked at"
            ));
        }
        let owed = self.events.iter().filter(|(event, _)| matches!(event, Duty::Owed(..)));
        self.graph.owed = owed.map(|(_, number)| *number).collect();
        let wishes = (0..everybody(self.model).count_ones() as usize).filter_map(|wish| {
            let traps = self.graph.traps(wish);
            traps.into_iter().min_by_key(|states| states[0]).map(|states| Trap { wish, states })
        });
        match wishes.min_by_key(|trap| (trap.states[0], trap.wish)) {
            None => Found::Nothing,
            Some(trap) => self.told(&trap),
        }
    }

    /// Visits all states. Why it ended before.
    fn visit(&mut self) -> Option<String> {
        let (mut present, mut next) = (self.model.first(), World::default());
        let (mut bytes, mut actions) = (Vec::new(), Vec::new());
        self.model.codec.encode(&present, &mut bytes);
        self.store.insert(&bytes, 0);
        let mut state = 0;
        while (state as usize) < self.store.len() {
            if let Some(limit) = self.limit(state as usize) {
                return Some(limit);
            }
            self.model.codec.decode(self.store.get(state), &mut present);
            self.graph.content.push(content(self.model, &present));
            self.graph.between.push(self.is_between(&present));
            self.stepper.actions(&present, &mut actions);
            for &action in &actions {
                let event = self.number_of(&present, action);
                self.stepper.restart_ways();
                loop {
                    next.copy_from(&present);
                    // The search before has seen that nothing is violated.
                    if self.stepper.perform_in_way(&mut next, action).is_ok() {
                        self.model.codec.encode(&next, &mut bytes);
                        let target = self.store.insert(&bytes, state).or_else(|| self.store.find(&bytes));
                        self.graph.steps.extend(target.map(|target| (target, event)));
                    }
                    if !self.stepper.next_way() {
                        break;
                    }
                }
            }
            self.graph.ends.push(self.graph.steps.len());
            state += 1;
        }
        None
    }

    /// Whether threads of a node that were let go together are on their way, between which nothing else comes.
    fn is_between(&self, world: &World) -> bool {
        let goes = |thread: usize| world.thread(&self.model.layout, thread).0 == ThreadState::LetGo;
        self.model.client.shares_nodes() && (0..self.model.client.threads.len()).any(goes)
    }

    fn limit(&self, state: usize) -> Option<String> {
        if self.config.is_stopped() {
            return Some("the exploration was stopped".into());
        }
        if self.config.max_states.is_some_and(|most| self.store.len() as u64 > most) || self.store.is_full() {
            return Some(format!("the limit of {} states is reached", self.store.len()));
        }
        if !state.is_multiple_of(BREATH) {
            return None;
        }
        self.config.out_of_memory(self.store.memory() + self.graph.memory())
    }

    /// The number of an event that must happen.
    fn number_of(&mut self, world: &World, action: Action) -> u32 {
        if !must_happen(self.model, world, action) {
            return VOLUNTARY;
        }
        let event = match action {
            Action::Deliver { flight } => self.delivered(&world.flights[flight]),
            Action::Head { flight } => Duty::Comes(world.flights[flight].unplaced()),
            Action::Retry { thread } => Duty::Retry(thread),
            Action::Leave { node, object } => Duty::Leave(node, object),
            Action::Act { thread } => Duty::Step(thread),
            Action::Hear { thread } => Duty::Hear(thread),
            Action::Replay { node, role, object } => Duty::Replay(node, role, object),
            Action::Task { node } => Duty::Task(node),
            Action::Timer { node, role, object } => Duty::Timer(node, role, object),
            Action::Start { thread, intent } => match &self.model.client.intents[intent] {
                Intent::Call { op, object, .. } if self.model.client.script.is_none() => {
                    Duty::Owed(thread, *op, *object)
                }
                _ => Duty::Step(thread),
            },
            Action::Prefetch { .. }
            | Action::Evict { .. }
            | Action::Phase
            | Action::Repeat { .. }
            | Action::Lose { .. } => return VOLUNTARY,
        };
        let next = fit(self.events.len(), "the number of an event: there are fewer than steps");
        *self.events.entry(event).or_insert(next)
    }

    fn delivered(&self, flight: &Flight) -> Duty {
        let Flight { lane, from, to, .. } = *flight;
        if self.model.lanes[lane.index()].fifo {
            return Duty::Head { lane, from, to };
        }
        Duty::Message(flight.unplaced())
    }

    /// The way to the first state of a trap, and round through all that fairness asks for.
    fn told(mut self, trap: &Trap) -> Found {
        let first = self.graph.root(&trap.states);
        let way = way_to(first, |state| self.store.parent(state));
        let round = self.graph.round(&trap.states);
        let before = way.len() - 1;
        let mut trace = LateTrace::default();
        let mut world = self.model.first();
        let mut waits = None;
        let way = way.into_iter().skip(1).map(|target| (target, None));
        let all = way.chain(round.into_iter().map(|(target, event)| (target, Some(event))));
        for (at, (target, event)) in all.enumerate() {
            if at == before {
                waits = Some(world.clone());
            }
            world = self.add(&mut trace, &world, target, event);
        }
        let trace = trace.settle(&mut self.stepper);
        let violation = self.violation(&waits.unwrap_or(world), trap.wish, before + 1, trace.len());
        Found::Waits { violation, trace }
    }

    fn violation(&self, world: &World, wish: usize, first: usize, last: usize) -> Violation {
        let (property, never) = match wish.checked_sub(self.model.client.threads.len()) {
            None => (STARVATION.into(), format!("{} need never be done", wish_text(self.model, world, wish))),
            Some(demand) => {
                let (name, what) = demand_text(self.model, demand);
                (name, format!("{what} need never come"))
            }
        };
        let repeats = if first == last {
            format!("event {first} can repeat itself")
        } else {
            format!("events {first} to {last} can repeat themselves")
        };
        Violation::new(
            property,
            format!(
                "where fairness is weak, {never}: {repeats} for ever, and whatever must happen does so among them, or cannot \
                 happen in some state between"
            ),
        )
    }

    /// Executes the event that leads from a state to another.
    fn add(&mut self, trace: &mut LateTrace, world: &World, target: StateNumber, event: Option<u32>) -> World {
        let mut actions = Vec::new();
        self.stepper.actions(world, &mut actions);
        actions.retain(|&action| event.is_none_or(|event| self.number_of(world, action) == event));
        trace.add_step(&mut self.stepper, world, actions, self.store.get(target))
    }
}
