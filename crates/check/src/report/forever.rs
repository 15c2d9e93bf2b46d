//! Steps that can be repeated for ever, each time with more messages on their way: a search that meets them has no end.
//!
//! Two states of one path differ only by longer channels (or software queues), whose contents begin alike. The steps between
//! them are executed again from the later one, and again, until this proves that they never end ([`Proof`]).

use crate::report::flood::{Buffer, events};
use crate::report::trace::{Label, Trace};
use crate::step::Stepper;
use crate::system::action::{Action, Delivery};
use crate::system::model::Model;
use crate::system::promise::check_state;
use crate::system::told::Told;
use crate::system::world::{Flight, World};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// How often steps are repeated before it is given up to prove something of them, or until nothing is violated by their repetition.
const MOST_ROUNDS: usize = 64;
/// Events of all that.
const MOST_REPEATED: usize = 1 << 13;
/// Pairs of states of one path of which it is tried.
const MOST_PAIRS: usize = 64;
/// Messages of the states of a path that are looked at together.
const MOST_MESSAGES: usize = 200_000;
/// Events of a path that is worth a chart.
const MOST_TOLD: usize = 60;

/// A path whose last steps can be repeated for ever.
pub(crate) struct Forever {
    /// It ends with these steps, where it is short enough to be told.
    pub trace: Trace,
    /// What is said of it.
    pub sentence: String,
}

/// Whether some steps of a path can be repeated for ever, each time with more messages.
pub(crate) fn forever(stepper: &mut Stepper, trace: &Trace) -> Option<Forever> {
    let worlds = worlds(stepper, trace);
    let mut pairs = 0;
    for (end, later) in worlds.iter().enumerate() {
        for (begin, earlier) in worlds[..end].iter().enumerate().rev() {
            if earlier.flights.len() > later.flights.len() || grown(stepper.model, earlier, later).is_none() {
                continue;
            }
            pairs += 1;
            if pairs > MOST_PAIRS {
                return None;
            }
            if let Some(grown) = prove(stepper, &trace.labels[begin..end], (earlier, later)) {
                return Some(said(stepper.model, trace, begin..end, &grown));
            }
        }
    }
    None
}

/// A channel that is given no chance: what happens where its messages are never handled, and the first event that can
/// happen does. Only this thread begins anything. The steps of it that can be repeated for ever, if it comes to some.
pub(crate) fn unheard(model: &Model, silent: &Buffer, thread: usize, most: usize) -> Option<Forever> {
    let mut stepper = Stepper::new(model);
    let mut world = model.first();
    let mut trace = Trace::default();
    let mut seen: FxHashMap<u64, usize> = FxHashMap::default();
    let mut actions = Vec::new();
    for at in 0..most {
        if let Some(begin) = seen.insert(hash_beside(&world, silent), at) {
            let before = begin_of(&mut stepper, &trace, begin)?;
            let steps = trace.labels[begin..].to_vec();
            let grown = prove(&mut stepper, &steps, (&before, &world))?;
            return Some(said(model, &trace, begin..at, &grown));
        }
        stepper.actions(&world, &mut actions);
        let action = first_of(&world, &actions, silent, thread)?;
        let result = trace.perform(&mut stepper, &mut world, action, &[]);
        if result.and_then(|()| check_state(model, &world)).is_err() {
            return None;
        }
    }
    None
}

/// The event that a walk takes: one that goes on with what has begun, if there is one.
fn first_of(world: &World, actions: &[Action], silent: &Buffer, thread: usize) -> Option<Action> {
    let rank = |action: &Action| match *action {
        Action::Deliver { flight } if !silent.holds(&world.flights[flight]) => Some(0),
        Action::Replay { .. } | Action::Retry { .. } | Action::Leave { .. } => Some(1),
        Action::Task { node } if !silent.is_queue_of(node.into()) => Some(1),
        Action::Start { thread: starts, .. } if starts == thread => Some(2),
        Action::Timer { .. } => Some(3),
        _ => None,
    };
    actions.iter().filter_map(|action| Some((rank(action)?, *action))).min_by_key(|(rank, _)| *rank).map(|(_, a)| a)
}

/// All of a state but what is in a channel.
fn hash_beside(world: &World, silent: &Buffer) -> u64 {
    let mut hasher = FxHasher::default();
    world.fixed.hash(&mut hasher);
    for flight in world.flights.iter().filter(|flight| !silent.holds(flight)) {
        (flight.to, flight.from, flight.lane, flight.message, flight.object).hash(&mut hasher);
        flight.args.words().hash(&mut hasher);
    }
    world.queues.iter().map(Vec::len).for_each(|len| len.hash(&mut hasher));
    hasher.finish()
}

/// The state after the first events of a trace.
fn begin_of(stepper: &mut Stepper, trace: &Trace, events: usize) -> Option<World> {
    let mut world = stepper.model.first();
    repeat(stepper, &mut world, &trace.labels[..events]).then_some(world)
}

/// The states of a path, as far as they are not too large.
fn worlds(stepper: &mut Stepper, trace: &Trace) -> Vec<World> {
    let mut worlds = vec![stepper.model.first()];
    let mut messages = 0;
    for step in &trace.labels {
        let mut world = worlds[worlds.len() - 1].clone();
        if messages > MOST_MESSAGES || !repeat(stepper, &mut world, std::slice::from_ref(step)) {
            break;
        }
        messages += world.flights.len();
        worlds.push(world);
    }
    worlds
}

/// Executes exactly these events, told exactly this. Whether that could be done, and nothing was violated.
fn repeat(stepper: &mut Stepper, world: &mut World, steps: &[(Label, Vec<Told>)]) -> bool {
    let mut actions = Vec::new();
    steps.iter().all(|(label, told)| {
        stepper.actions(world, &mut actions);
        let action = label.resolve(stepper, world, &actions);
        action.filter(|action| Label::of(stepper, world, *action) == *label).is_some_and(|action| {
            let result = stepper.perform_told(world, action, told);
            result.and_then(|()| check_state(stepper.model, world)).is_ok() && stepper.told() == &told[..]
        })
    })
}

/// Channels and queues that are longer in a later state, with both lengths.
type Grown = BTreeMap<Buffer, (usize, usize)>;

/// What has grown from one state to another that differs from it by nothing else: channels that may hold any number of
/// messages, and queues, whose contents begin alike.
fn grown(model: &Model, earlier: &World, later: &World) -> Option<Grown> {
    if earlier.fixed != later.fixed {
        return None;
    }
    let mut grown = Grown::new();
    let (before, after) = (channels(earlier), channels(later));
    if before.keys().any(|channel| !after.contains_key(channel)) {
        return None;
    }
    for (channel, flights) in after {
        let old = before.get(&channel).copied().unwrap_or_default();
        if old == flights {
            continue;
        }
        let lane = &model.protocol().lanes[flights[0].lane.index()];
        let goes_on = if lane.fifo { flights.starts_with(old) } else { includes(flights, old) };
        if lane.holds.is_some() || lane.duplicating || !goes_on || flights.len() == old.len() {
            return None;
        }
        grown.insert(channel, (old.len(), flights.len()));
    }
    for (node, (old, queue)) in earlier.queues.iter().zip(&later.queues).enumerate() {
        if !queue.starts_with(old) {
            return None;
        }
        if queue.len() > old.len() {
            grown.insert(Buffer::Queue { node }, (old.len(), queue.len()));
        }
    }
    (!grown.is_empty()).then_some(grown)
}

/// Whether sorted messages are among others, each as often.
fn includes(all: &[Flight], some: &[Flight]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|wanted| rest.any(|flight| flight == wanted))
}

fn channels(world: &World) -> BTreeMap<Buffer, &[Flight]> {
    world
        .flights
        .chunk_by(|a, b| a.channel() == b.channel())
        .map(|flights| (Buffer::of(&flights[0]), flights))
        .collect()
}

/// Proves that steps that have led from a state to a larger one can be repeated for ever; what grew the first time.
///
/// Let C be what the steps take out of a channel, P what they put in, and s, s', s'' its contents before them, after them, and
/// after them once more. If s begins with C, s' with s and s'' with s', then s' = s D and s'' = s' D for the same D, and P is the beginning of
/// D P. So the contents after a third time begin with s'', and so on: the steps find the same messages each time. Where s is
/// shorter than C, a later state is longer. In lanes that keep no order, more messages take no event away.
fn prove(stepper: &mut Stepper, steps: &[(Label, Vec<Told>)], (earlier, later): (&World, &World)) -> Option<Grown> {
    let model = stepper.model;
    // Where messages of one lane keep back others, what a longer lane keeps back is not known from the steps of a shorter one.
    if model.lanes.iter().any(|lane| lane.merged || lane.behind.is_some()) {
        return None;
    }
    let first = grown(model, earlier, later)?;
    let taken = taken(steps);
    let suffices = |grown: &Grown| {
        grown.iter().all(|(buffer, (before, _))| {
            !buffer.keeps_order(model) || taken.get(buffer).is_none_or(|taken| before >= taken)
        })
    };
    let mut proved = usize::from(suffices(&first));
    let mut present = later.clone();
    let rounds = MOST_ROUNDS.min(MOST_REPEATED / steps.len().max(1)).max(3);
    for _ in 0..rounds {
        let before = present.clone();
        if !repeat(stepper, &mut present, steps) {
            return None;
        }
        let again = grown(model, &before, &present)?;
        if again.keys().ne(first.keys()) {
            return None;
        }
        proved += usize::from(suffices(&again));
    }
    (proved >= 2).then_some(first)
}

/// How many messages steps take out of each channel, and tasks out of each queue.
fn taken(steps: &[(Label, Vec<Told>)]) -> BTreeMap<Buffer, usize> {
    let mut taken = BTreeMap::new();
    for (label, _) in steps {
        let buffer = match label {
            Label::Message(Delivery::Deliver | Delivery::Lose, flight, _) => Buffer::of(flight),
            Label::Plain(Action::Task { node }) => Buffer::Queue { node: (*node).into() },
            _ => continue,
        };
        *taken.entry(buffer).or_default() += 1;
    }
    taken
}

/// What is said of steps that can be repeated for ever.
fn said(model: &Model, trace: &Trace, steps: std::ops::Range<usize>, grown: &Grown) -> Forever {
    let (first, last) = (steps.start + 1, steps.end);
    let lanes: Vec<String> = grown
        .iter()
        .map(|(buffer, (before, after))| format!("{} grows from {before} to {after}", buffer.name(model)))
        .collect();
    let which = if first == last { format!("event {last}") } else { format!("events {first} to {last}") };
    let shown = last.min(MOST_TOLD.max(first));
    let cut = if shown < last { format!("; the first {} of {last} are shown", events(shown)) } else { String::new() };
    Forever {
        trace: Trace { labels: trace.labels[..shown].to_vec() },
        sentence: format!(
            "{which} can be repeated for ever, and there are states without end: {}, and all else is as before{cut}; \
             {}",
            lanes.join(", "),
            remedy(grown)
        ),
    }
}

/// What bounds all that grows.
fn remedy(grown: &Grown) -> &'static str {
    match grown.keys().any(|buffer| matches!(buffer, Buffer::Channel { .. })) {
        true => "bound the lane, or let whoever sends wait for an answer",
        false => "start no task while one that does the same is in the queue",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::System;
    use std::sync::Arc;

    #[test]
    fn messages_are_among_others_as_often() {
        let flight = |from| Flight { from, ..sample() };
        let all = [flight(0), flight(1), flight(1), flight(2)];
        assert!(includes(&all, &[flight(1), flight(1)]));
        assert!(!includes(&all, &[flight(0), flight(0)]));
        assert!(includes(&all, &[]) && !includes(&[], &all));
    }

    /// A path on which messages go before all else.
    fn path(source: &str, events: usize) -> (Model, Trace) {
        let protocol = trivium_lang::compile("test.tri", source, &trivium_lang::Options::default());
        let protocol = Arc::new(protocol.unwrap_or_else(|wrong| panic!("{wrong}")));
        let model = Model::new(&protocol, &System { nodes: 1, ..System::default() }).unwrap();
        let (mut trace, mut actions, mut world) = (Trace::default(), Vec::new(), model.first());
        let mut stepper = Stepper::new(&model);
        for _ in 0..events {
            stepper.actions(&world, &mut actions);
            let action = actions.iter().find(|action| action.flight().is_some()).unwrap_or(&actions[0]);
            trace.perform(&mut stepper, &mut world, *action, &[]).unwrap();
        }
        (model, trace)
    }

    const HEAD: &str = "
protocol heads
object box
op post(b: box)
lane main fifo buffered
message A, B on main
role r of box everywhere {
  var begun: bool
  state S {
    on post when begun { return }
    on post { begun = true; send A to me; return }
";

    #[test]
    fn steps_that_find_the_same_messages_each_time_are_repeated_for_ever() {
        let source = format!("{HEAD} on A {{ send A to me; send A to me }} on B {{ }} }} }}");
        let (model, trace) = path(&source, 2);
        let found = forever(&mut Stepper::new(&model), &trace).unwrap();
        assert!(found.sentence.starts_with("event 2 can be repeated for ever"), "{}", found.sentence);
    }

    #[test]
    fn contents_that_begin_alike_do_not_suffice() {
        // From [A] to [A, B]; then B comes first, and the lane has three messages at most.
        let source = format!("{HEAD} on A {{ send A to me; send B to me }} on B {{ }} }} }}");
        let (model, trace) = path(&source, 2);
        let mut stepper = Stepper::new(&model);
        let worlds = worlds(&mut stepper, &trace);
        assert!(grown(&model, &worlds[1], &worlds[2]).is_some(), "they begin alike");
        assert!(forever(&mut stepper, &trace).is_none());
    }

    fn sample() -> Flight {
        use trivium_engine::{Args, Object};
        use trivium_protocol::{BLOCK, LaneId, MessageId};
        Flight {
            to: 0,
            from: 0,
            lane: LaneId(0),
            message: MessageId(0),
            object: Object { kind: BLOCK, id: 0 },
            args: Args::default(),
            payload: None,
            stand: crate::system::world::Stand::default(),
            written: Default::default(),
        }
    }
}
