//! What must happen, and who waits for it (`docs/semantics.md`, section 7).
//!
//! Some events must happen sooner or later: messages arrive, timers and tasks run, whoever holds a lock releases it.
//! Others need not: that an idle thread begins something, that a node gives up a copy. A thread that waits
//! is promised that it gets through by what must happen alone.

use crate::system::action::Action;
use crate::system::client::Intent;
use crate::system::layout::Layout;
use crate::system::model::Model;
use crate::system::promise::{FIRST_DONE, PromiseView, Violation, has_arrived, holder, may_start, missing};
use crate::system::usage::may_use;
use crate::system::world::{ThreadState, World, node};
use trivium_engine::number::fit;
use trivium_engine::{Node, Object};
use trivium_protocol::{Assume, EventKind, Invariant, OpId, Promise, Protocol};

/// One bit for each thread, then one for each demand of a `leads_to`: see [`content`].
pub(crate) type Wishes = u64;

/// More are not told apart.
const MOST_WISHES: usize = Wishes::BITS as usize;

/// What a `leads_to` demands for an object, or for a node of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    pub leads_to: usize,
    pub object: Object,
    pub node: Option<Node>,
    /// Where the state says whether it is still to come.
    pub at: usize,
}

impl Demand {
    /// Whether the same is demanded of the same.
    pub fn is_of(&self, other: &Demand) -> bool {
        (self.leads_to, self.object, self.node) == (other.leads_to, other.object, other.node)
    }
}

/// All demands, in a fixed order.
pub(crate) fn demands(protocol: &Protocol, objects: &[u32], nodes: u32, layout: &Layout) -> Vec<Demand> {
    let mut demands = Vec::new();
    for (leads_to, leads) in protocol.leads_to.iter().enumerate() {
        let kind = leads.from.object;
        let mut place = 0;
        for id in 0..objects[kind.index()] {
            let about: Vec<Option<Node>> = if leads.each { (0..node(nodes)).map(Some).collect() } else { vec![None] };
            for node in about {
                let at = layout.leads(leads_to, place);
                demands.push(Demand { leads_to, object: Object { kind, id }, node, at });
                place += 1;
            }
        }
    }
    demands
}

/// Notes what begins to be demanded in a state, and what is fulfilled.
///
/// # Errors
/// A condition that cannot be evaluated.
pub(crate) fn note_demands(model: &Model, world: &mut World) -> Result<(), Violation> {
    for demand in &model.demands {
        let leads = &model.protocol().leads_to[demand.leads_to];
        let holds = |condition: &Invariant, world: &World| {
            let given = demand.node.map(i64::from);
            let seen = PromiseView { model, world };
            model.engine.evaluate_with(condition, demand.object, given, &seen).map_err(Violation::fault)
        };
        let was = world.fixed[demand.at] != 0;
        let is = (was || holds(&leads.from, world)?) && !holds(&leads.to, world)?;
        world.fixed[demand.at] = u8::from(is);
    }
    Ok(())
}

/// How many threads and demands there are.
fn wishes(model: &Model) -> usize {
    model.client.threads.len() + model.demands.len()
}

/// Why starvation is not looked for where [`can_tell_apart`] is false.
pub(crate) const NOT_TOLD_APART: &str = "there are more than 64 threads and demands of `leads_to`";

/// Whether starvation can be looked for.
pub(crate) fn can_tell_apart(model: &Model) -> bool {
    wishes(model) <= MOST_WISHES
}

/// All threads and demands.
pub(crate) fn everybody(model: &Model) -> Wishes {
    match wishes(model) {
        0 => 0,
        wishes => Wishes::MAX >> (MOST_WISHES - wishes.min(MOST_WISHES)),
    }
}

/// The threads that wait for nothing, or for what nobody owes them; and the demands of which nothing is still to come.
pub(crate) fn content(model: &Model, world: &World) -> Wishes {
    let threads = model.client.threads.len();
    let is_content = |wish: usize| match wish.checked_sub(threads) {
        None => is_content(model, world, wish),
        Some(demand) => world.fixed[model.demands[demand].at] == 0,
    };
    (0..wishes(model).min(MOST_WISHES)).filter(|&wish| is_content(wish)).fold(0, |set, wish| set | 1 << wish)
}

/// What each wish becomes when names change so that threads and demands become these.
pub(crate) fn image(model: &Model, thread: impl Fn(usize) -> usize, demand: impl Fn(Demand) -> Demand) -> Vec<u8> {
    let threads = model.client.threads.len();
    let image = (0..wishes(model)).map(|wish| match wish.checked_sub(threads) {
        None => thread(wish),
        Some(number) => {
            let renamed = demand(model.demands[number]);
            threads + model.demands.iter().position(|other| other.is_of(&renamed)).unwrap_or_default()
        }
    });
    // Only so many are told apart that their numbers are small.
    image.map(|wish| fit(wish, "the number of a wish: only so few are told apart")).collect()
}

fn is_content(model: &Model, world: &World, thread: usize) -> bool {
    match world.thread(&model.layout, thread).0 {
        // One that goes round a loop is where it wants to be at its end alone: each of its looks may come to an end for ever.
        _ if has_loops(model, thread) => is_at_end(model, world, thread),
        ThreadState::Free => next_step(model, world, thread).is_none_or(|step| may_begin(model, world, thread, step)),
        _ => !is_owed(model, world, thread),
    }
}

/// Whether a thread is one of a scenario that can come to a place twice.
pub(crate) fn has_loops(model: &Model, thread: usize) -> bool {
    model.client.script.as_ref().is_some_and(|script| script.loops[thread])
}

fn is_at_end(model: &Model, world: &World, thread: usize) -> bool {
    world.thread(&model.layout, thread).0 == ThreadState::Free && next_step(model, world, thread).is_none()
}

/// What an idle thread of a scenario does next: the number of an intent; nothing at its end.
pub(crate) fn next_step(model: &Model, world: &World, thread: usize) -> Option<usize> {
    let script = model.client.script.as_ref()?;
    Some(script.look(thread, world.count(&model.layout, thread))?.0)
}

/// What a thread does: the number of the intent with which it waits, or with which it goes on.
pub(crate) fn present_step(model: &Model, world: &World, thread: usize) -> usize {
    match world.thread(&model.layout, thread) {
        (ThreadState::Free, intent) => next_step(model, world, thread).unwrap_or(intent),
        (_, intent) => intent,
    }
}

/// Whether an idle thread of a scenario may begin its next step: its node answers it, and no assumption is against it.
fn may_begin(model: &Model, world: &World, thread: usize, step: usize) -> bool {
    let (node, intent) = (model.client.threads[thread].node, &model.client.intents[step]);
    (intent.is_access() || model.answering_role(node, intent).is_some())
        && may_start(model, world, thread, intent)
        && may_use(model, world, thread, intent).unwrap_or(true)
}

/// Whether any thread waits for what it must get, or is not at its end in a scenario.
pub(crate) fn somebody_waits(model: &Model, world: &World) -> bool {
    let waits = |thread| !is_content(model, world, thread) || next_step_of_idle(model, world, thread).is_some();
    (0..model.client.threads.len()).any(waits)
}

fn next_step_of_idle(model: &Model, world: &World, thread: usize) -> Option<usize> {
    let is_idle = world.thread(&model.layout, thread).0 == ThreadState::Free;
    next_step(model, world, thread).filter(|_| is_idle)
}

/// Whether an event must happen sooner or later, if it can happen again and again.
pub(crate) fn must_happen(model: &Model, world: &World, action: Action) -> bool {
    match action {
        Action::Retry { .. }
        | Action::Act { .. }
        | Action::Hear { .. }
        | Action::Leave { .. }
        | Action::Deliver { .. }
        | Action::Head { .. }
        | Action::Replay { .. }
        | Action::Task { .. }
        | Action::Timer { .. } => true,
        // The network need not repeat or lose anything.
        Action::Prefetch { .. }
        | Action::Evict { .. }
        | Action::Phase
        | Action::Repeat { .. }
        | Action::Lose { .. } => false,
        Action::Start { thread, intent } => must_start(model, world, thread, &model.client.intents[intent]),
    }
}

/// Whether an idle thread owes it to others to do this: a thread of a scenario goes on to its end; the most general
/// client releases what it holds, and comes to a barrier at which others are.
fn must_start(model: &Model, world: &World, thread: usize, intent: &Intent) -> bool {
    if model.client.script.is_some() {
        return true;
    }
    let Intent::Call { op, object, .. } = intent else { return false };
    owes(model, world, thread, *op, object.id, &mut Vec::new())
}

/// Whether a thread owes it to others to make a call on an object, or to make it before another that it owes.
fn owes(model: &Model, world: &World, thread: usize, op: OpId, object: u32, path: &mut Vec<OpId>) -> bool {
    if path.contains(&op) {
        return false;
    }
    let node = model.client.threads[thread].node;
    let promised = model.protocol().promises.iter().enumerate().any(|(p, promise)| match promise {
        Promise::Mutex(_, release) if *release == op => {
            world.number(model.layout.holder(p, object)) == thread as u64 + 1
        }
        Promise::Barrier(arrive) if *arrive == op => {
            let has_arrived = |node: Node| has_arrived(model, world, p, node, object);
            !has_arrived(node) && model.all_nodes().any(has_arrived)
        }
        _ => false,
    });
    if promised {
        return true;
    }
    path.push(op);
    let mut owes = |later: OpId| owes(model, world, thread, later, object, path);
    let comes_first = model.protocol().assumptions.iter().enumerate().any(|(a, assume)| {
        let done = || world.fixed[model.layout.assumed(a, thread, object)] & FIRST_DONE != 0;
        match assume {
            Assume::Before(first, later) if *first == op => !done() && owes(*later),
            Assume::Alternate(first, second) if *first == op => !done() && owes(*second),
            Assume::Alternate(first, second) if *second == op => done() && owes(*first),
            _ => false,
        }
    });
    path.pop();
    comes_first
}

/// Whether a waiting thread must get through. Not so, under the most general client, where the program itself keeps it from
/// that: where threads wait for each other's locks and barriers in a ring, for one that has nothing left to do, or for what the call is declared to wait
/// for. A scenario says
/// what its threads do, and all of them must come to their ends.
fn is_owed(model: &Model, world: &World, thread: usize) -> bool {
    let (_, intent) = world.thread(&model.layout, thread);
    let intent = &model.client.intents[intent];
    // An access waits for the protocol alone.
    model.client.script.is_some()
        || intent.is_access()
        || !waits_for_more(model, world, thread, intent) && others_let(model, world, thread, intent, &mut Vec::new())
}

/// Whether a call waits for something that is not so (`waits f until e`). A condition that cannot be evaluated
/// excuses nobody.
fn waits_for_more(model: &Model, world: &World, thread: usize, intent: &Intent) -> bool {
    let Intent::Call { op, object, args } = intent else { return false };
    let node = model.client.threads[thread].node;
    let mut waits = model.protocol().waits.iter().filter(|wait| wait.op == *op);
    waits.any(|wait| {
        let seen = PromiseView { model, world };
        let first = model.engine.first_words(EventKind::Op(*op), args.words());
        let given = std::iter::once(i64::from(node)).chain(first);
        model.engine.evaluate_with(&wait.until, *object, given, &seen) == Ok(false)
    })
}

/// Whether those for whom a thread waits at a lock or a barrier can let it go on. On the path are those who wait for this thread.
fn others_let(model: &Model, world: &World, thread: usize, intent: &Intent, path: &mut Vec<usize>) -> bool {
    if let Some(holder) = holder(model, world, intent) {
        return can_go_on(model, world, holder, path);
    }
    match missing(model, world, thread, intent) {
        Some(mut missing) => missing.all(|node| {
            let threads = &model.client.threads_of[usize::from(node)];
            threads.iter().any(|&other| can_go_on(model, world, usize::from(other), path))
        }),
        // It waits for the protocol alone.
        None => true,
    }
}

/// Whether a thread for which others wait can do what they wait for.
fn can_go_on(model: &Model, world: &World, thread: usize, path: &mut Vec<usize>) -> bool {
    let (phase, intent) = world.thread(&model.layout, thread);
    if phase == ThreadState::Free {
        return model.client.ops.is_none() || world.count(&model.layout, thread) > 0;
    }
    if path.contains(&thread) {
        return false;
    }
    path.push(thread);
    let intent = &model.client.intents[intent];
    let goes_on = !waits_for_more(model, world, thread, intent) && others_let(model, world, thread, intent, path);
    path.pop();
    goes_on
}
