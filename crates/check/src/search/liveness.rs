//! Threads that never get through although events go on (`docs/semantics.md`, section 7), and what repeats itself then.

use super::edges::{Edges, StateWishes};
use crate::step::Stepper;
use crate::step::through::{Move, moves};
use crate::system::action::Action;
use crate::system::model::Model;
use crate::system::progress::{content, everybody, present_step};
use crate::system::promise::{LIVELOCK, STARVATION};
use crate::system::told::Told;
use crate::system::world::World;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// States that are looked at to tell a counterexample better; what more there may be is not told.
const MOST_LOOKED_AT: usize = 100_000;

/// What is kept to find them.
pub(crate) struct Liveness {
    /// What must happen.
    pub edges: Edges,
    /// Who waits for nothing in each state.
    pub content: StateWishes,
}

impl Liveness {
    pub fn new(model: &Model, renames: bool) -> Liveness {
        Liveness { edges: Edges::new(renames), content: StateWishes::new(everybody(model)) }
    }

    pub fn memory(&self) -> u64 {
        self.edges.memory() + self.content.memory()
    }
}

/// Under which name a thread that does not get through from a state is reported: whether some other may still get through that
/// waits, or will wait, for the same object.
pub(crate) fn kind_of_trap(stepper: &mut Stepper, start: &World, thread: usize) -> &'static str {
    let model = stepper.model;
    let intent_of = |world: &World, thread: usize| present_step(model, world, thread);
    let object = model.client.intents[intent_of(start, thread)].object();
    let mut seen = FxHashSet::default();
    let mut waiting = VecDeque::from([start.clone()]);
    let (mut actions, mut bytes) = (Vec::new(), Vec::new());
    while let Some(world) = waiting.pop_front() {
        let waits = threads_that_wait(model, &world);
        stepper.actions(&world, &mut actions);
        for &action in &actions {
            let another = stepper.any_way(&world, action, |stepper, next, result| {
                if result.is_err() {
                    return false;
                }
                let now = content(model, &next);
                let another = waits.iter().any(|&other| {
                    other != thread
                        && now >> other & 1 == 1
                        && model.client.intents[intent_of(&world, other)].object() == object
                });
                stepper.model.codec.encode(&next, &mut bytes);
                if !another && seen.len() < MOST_LOOKED_AT && seen.insert(bytes.clone()) {
                    waiting.push_back(next);
                }
                another
            });
            if another {
                return STARVATION;
            }
        }
    }
    LIVELOCK
}

fn threads_that_wait(model: &Model, world: &World) -> Vec<usize> {
    let content = content(model, world);
    (0..model.client.threads.len()).filter(|thread| content >> thread & 1 == 0).collect()
}

/// An event, and what its handlers are told of outgoing queues.
pub(crate) type Happening = (Action, Vec<Told>);

/// States by their bytes: the state before, and the event between.
type Origins = FxHashMap<Vec<u8>, (Vec<u8>, Happening)>;

/// Events from a state on.
pub(crate) struct Cycle {
    /// The way to the cycle, then the cycle once.
    pub events: Vec<Happening>,
    /// How many of them are on the way.
    pub before: usize,
}

/// A cycle that can be reached from a state by what must happen, short where that is soon found. A state in which everything
/// ends has none.
pub(crate) fn cycle(stepper: &mut Stepper, start: &World) -> Cycle {
    let (walked, on_cycle) = walk(stepper, start);
    let way = way(stepper, start, &on_cycle, false);
    let round = self::way(stepper, &on_cycle, &on_cycle, true);
    match (way, round) {
        (Some(way), Some(round)) => Cycle { before: way.len(), events: [way, round].concat() },
        _ => walked,
    }
}

/// Goes on until a state comes again, or nothing more happens: the events, and the state.
fn walk(stepper: &mut Stepper, start: &World) -> (Cycle, World) {
    let mut seen = FxHashMap::default();
    let mut world = start.clone();
    let (mut events, mut bytes) = (Vec::new(), Vec::new());
    loop {
        stepper.model.codec.encode(&world, &mut bytes);
        if let Some(before) = seen.insert(bytes.clone(), events.len()) {
            return (Cycle { events, before }, world);
        }
        match moves(stepper, &world).into_iter().next() {
            Some(Move { action, told, next }) => {
                events.push((action, told));
                world = next;
            }
            None => return (Cycle { before: events.len(), events }, world),
        }
    }
}

/// The shortest way from a state to another, if it is found among the first states; `round`: at least one event.
fn way(stepper: &mut Stepper, from: &World, to: &World, round: bool) -> Option<Vec<Happening>> {
    if !round && from == to {
        return Some(Vec::new());
    }
    let encode = |stepper: &Stepper, world: &World| {
        let mut bytes = Vec::new();
        stepper.model.codec.encode(world, &mut bytes);
        bytes
    };
    let (first, last) = (encode(stepper, from), encode(stepper, to));
    let mut reached = Origins::default();
    let mut waiting = VecDeque::from([(first.clone(), from.clone())]);
    while let Some((name, world)) = waiting.pop_front().filter(|_| reached.len() < MOST_LOOKED_AT) {
        for Move { action, told, next } in moves(stepper, &world) {
            let next_name = encode(stepper, &next);
            if reached.contains_key(&next_name) || (next_name == first && next_name != last) {
                continue;
            }
            reached.insert(next_name.clone(), (name.clone(), (action, told)));
            if next_name == last {
                return Some(back(&reached, &first, last));
            }
            waiting.push_back((next_name, next));
        }
    }
    None
}

fn back(reached: &Origins, first: &[u8], last: Vec<u8>) -> Vec<Happening> {
    let mut events = Vec::new();
    let mut name = last;
    loop {
        let (before, event) = &reached[&name];
        events.push(event.clone());
        if before == first {
            events.reverse();
            return events;
        }
        name = before.clone();
    }
}
