//! Counterexamples: a sequence of events that leads from the first state to a violation, and nothing besides.

use crate::config::System;
use crate::report::deadlock::stuck;
use crate::report::{RecordChange, Report, TraceStep};
use crate::step::ghost;
use crate::step::mechanisms::Performed;
use crate::step::through::{ends, get_through};
use crate::step::{AGENT, Stepper};
use crate::system::action::{Action, Delivery, event_kind};
use crate::system::begin::check_first;
use crate::system::calls;
use crate::system::client::Intent;
use crate::system::model::{Model, word_text};
use crate::system::payload::Data;
use crate::system::progress::everybody;
use crate::system::promise::{DEADLOCK, LEADS_TO, LIVELOCK, STARVATION, Violation, check_state};
use crate::system::told::{self, Told};
use crate::system::world::{Flight, World};
use std::sync::Arc;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_engine::{Args, Node, Object, Payload};
use trivium_protocol::source::Span;
use trivium_protocol::{Access, BLOCK, EventKind, Image, MessageId, NODE, ObjectKindId, Protocol, RoleId, Type};

/// Whether a property is about what repeats itself for ever.
pub(crate) fn is_trap(property: &str) -> bool {
    [LIVELOCK, STARVATION].contains(&property) || property.starts_with(LEADS_TO)
}

/// An event that can be found again in another state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    /// An event that names all that it is about.
    Plain(Action),
    /// What the network does with a message, with its data, whose handle is another in another exploration.
    Message(Delivery, Flight, Option<Data>),
}

/// A sequence of events from the first state on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    pub(crate) labels: Vec<(Label, Vec<Told>)>,
}

impl Trace {
    /// How many events there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether the first state itself violates the property.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Executes an event of a state, told this, and adds it with all that its handlers were told.
    pub(crate) fn perform(
        &mut self,
        stepper: &mut Stepper,
        world: &mut World,
        action: Action,
        told: &[Told],
    ) -> Result<(), Violation> {
        let label = Label::of(stepper, world, action);
        let result = stepper.perform_told(world, action, told);
        self.labels.push((label, stepper.told().to_vec()));
        result
    }

    fn without(&self, at: usize) -> Trace {
        let mut labels = self.labels.clone();
        labels.remove(at);
        Trace { labels }
    }
}

impl Label {
    /// The label of an event that happens in a state.
    pub(crate) fn of(stepper: &Stepper, world: &World, action: Action) -> Label {
        match action.flight() {
            Some((fate, flight)) => {
                let flight = world.flights[flight];
                Label::Message(fate, Flight { payload: None, ..flight }, data_of(stepper, &flight))
            }
            None => Label::Plain(action),
        }
    }

    /// The event in a state, if it can happen there: the same, or the same message with other contents.
    pub(crate) fn resolve(&self, stepper: &Stepper, world: &World, actions: &[Action]) -> Option<Action> {
        let (fate, wanted, data) = match self {
            Label::Plain(action) => return actions.iter().find(|a| *a == action).copied(),
            Label::Message(fate, flight, data) => (*fate, flight, data),
        };
        let arrives = |same: &dyn Fn(&Flight) -> bool| {
            let is = |a: &&Action| a.flight().is_some_and(|(f, flight)| f == fate && same(&world.flights[flight]));
            actions.iter().find(is).copied()
        };
        let kind = |f: &Flight| (f.to, f.from, f.message, f.object);
        arrives(&|f| Flight { payload: None, ..*f } == *wanted && data_of(stepper, f) == *data)
            .or_else(|| arrives(&|f| kind(f) == kind(wanted)))
    }
}

fn data_of(stepper: &Stepper, flight: &Flight) -> Option<Data> {
    flight.payload.map(|payload| stepper.payloads.data(payload))
}

/// Executes a trace, leaving out what cannot happen. The part that leads to a violation of the property, if it
/// does.
fn violates(stepper: &mut Stepper, trace: &Trace, property: &str) -> Option<Trace> {
    let mut world = stepper.model.first();
    let mut done = Trace::default();
    let mut actions = Vec::new();
    if check_first(stepper.model, &world).is_err_and(|v| v.property == property) {
        return Some(done);
    }
    for (label, told) in &trace.labels {
        stepper.actions(&world, &mut actions);
        let Some(action) = label.resolve(stepper, &world, &actions) else { continue };
        let result = done.perform(stepper, &mut world, action, told);
        match result.and_then(|()| check_state(stepper.model, &world)) {
            Err(violation) if violation.property == property => return Some(done),
            Err(_) => return None,
            Ok(()) => {}
        }
        if property == DEADLOCK && stuck(stepper, &world) {
            return Some(done);
        }
    }
    None
}

/// Removes events, and what cannot happen without them, as long as the property stays violated.
pub(crate) fn minimise(stepper: &mut Stepper, trace: Trace, property: &str) -> Trace {
    let mut trace = trace;
    'again: loop {
        for at in 0..trace.len() {
            if let Some(shorter) = violates(stepper, &trace.without(at), property) {
                trace = shorter;
                continue 'again;
            }
        }
        return trace;
    }
}

/// Whether a report's counterexample leads to its violation, and no event can be removed from it: without any one of
/// them, and without what then cannot happen, the property is no longer violated.
///
/// # Errors
/// As [`crate::runs::explore`].
pub fn is_minimal(protocol: &Arc<Protocol>, system: &System, report: &Report) -> Result<bool, Diagnostic> {
    let model = Model::new(protocol, system)?;
    let mut stepper = Stepper::new(&model);
    let (Some(property), Some(trace)) = (&report.property, &report.trace) else { return Ok(false) };
    if is_trap(property) {
        return Ok(leads_into_trap(&mut stepper, trace));
    }
    if violates(&mut stepper, trace, property).is_none_or(|whole| whole != *trace) {
        return Ok(false);
    }
    Ok((0..trace.len()).all(|at| violates(&mut stepper, &trace.without(at), property).is_none()))
}

/// How the last event of a trace violates something: told with the nodes of this trace, which may be others than those
/// of the state in which it was found.
pub(crate) fn sentence(stepper: &mut Stepper, trace: &Trace) -> Option<String> {
    let mut world = stepper.model.first();
    let mut actions = Vec::new();
    for (label, told) in &trace.labels {
        stepper.actions(&world, &mut actions);
        let action = label.resolve(stepper, &world, &actions)?;
        let result = stepper.perform_told(&mut world, action, told);
        if let Err(violation) = result.and_then(|()| check_state(stepper.model, &world)) {
            return Some(violation.sentence);
        }
    }
    None
}

/// The state to which a trace leads that can be executed as it is.
pub(crate) fn last_state(stepper: &mut Stepper, trace: &Trace) -> World {
    let mut world = stepper.model.first();
    let mut actions = Vec::new();
    for (label, told) in &trace.labels {
        stepper.actions(&world, &mut actions);
        if let Some(action) = label.resolve(stepper, &world, &actions) {
            // It was executed before, from the same state.
            let _ = stepper.perform_told(&mut world, action, told);
        }
    }
    world
}

/// Whether a trace leads from where every thread gets through to where one does not, and goes round there or ends.
fn leads_into_trap(stepper: &mut Stepper, trace: &Trace) -> bool {
    let mut worlds = vec![stepper.model.first()];
    let mut actions = Vec::new();
    for (label, told) in &trace.labels {
        let mut world = worlds[worlds.len() - 1].clone();
        stepper.actions(&world, &mut actions);
        let Some(action) = label.resolve(stepper, &world, &actions) else { return false };
        if stepper.perform_told(&mut world, action, told).is_err() {
            return false;
        }
        worlds.push(world);
    }
    let Some((last, before)) = worlds.split_last() else { return false };
    let all = everybody(stepper.model);
    let trap = worlds.iter().position(|world| get_through(stepper, world) != all);
    trap.is_some_and(|trap| before[trap..].contains(last) || ends(stepper, last))
}

/// Executes a trace that leads to a violation, telling each event. Returns the last state.
pub(crate) fn tell(stepper: &mut Stepper, trace: &Trace) -> (Vec<TraceStep>, World) {
    let mut world = stepper.model.first();
    let mut steps = Vec::new();
    let mut actions = Vec::new();
    for (label, told) in &trace.labels {
        stepper.actions(&world, &mut actions);
        let Some(action) = label.resolve(stepper, &world, &actions) else { break };
        let subject = subject(stepper.model, &world, action);
        let before = describe(stepper.model, &world, &subject);
        let ghosts = ghost::lines(stepper.model, &world);
        let old = world.clone();
        let result = stepper.perform_told(&mut world, action, told);
        let model = stepper.model;
        steps.push(TraceStep {
            step: fit::<_, u32>(steps.len(), "the number of a step") + 1,
            node: subject.node,
            after: describe(model, &world, &subject),
            also: also(model, &old, &world, &subject),
            event: subject.event,
            object: if subject.object.kind == NODE { String::new() } else { model.object_name(subject.object) },
            before,
            sends: stepper.sends().iter().map(|flight| send_text(stepper, flight)).collect(),
            performs: performs(stepper)
                .into_iter()
                .chain(told::sentence(stepper.told()))
                .chain(model.forgotten(&old, &world, subject.node, subject.object))
                .chain(ghost::changed(&ghosts, ghost::lines(model, &world)))
                .collect(),
        });
        if result.is_err() {
            break;
        }
    }
    (steps, world)
}

/// Whom an event is about.
pub(crate) struct Subject {
    pub node: Node,
    pub role: Option<RoleId>,
    pub object: Object,
    pub event: String,
}

pub(crate) fn subject(model: &Model, world: &World, action: Action) -> Subject {
    let of = |node, kind: EventKind, object: Object, event: String| {
        let role = model.engine.role_for(kind, object.kind, model.is_home(node, object));
        Subject { node, role, object, event }
    };
    match action {
        Action::Start { thread, intent } => thread_subject(model, thread, intent, ""),
        Action::Retry { thread } => {
            let (_, intent) = world.raised(&model.layout, thread);
            thread_subject(model, thread, intent, " again")
        }
        Action::Act { thread } => {
            let (_, act) = world.raised(&model.layout, thread);
            let mut subject = thread_subject(model, thread, act, "");
            if let Some(statement) = calls::statement(model, world, thread) {
                subject.event = format!("{}: {}", subject.event, said(model, statement));
            }
            subject
        }
        Action::Hear { thread } => {
            let told = world.told(&model.layout, thread).unwrap_or_default();
            thread_subject(model, thread, told, "")
        }
        Action::Evict { node, object } => of(node, EventKind::Evict, object, "evict".into()),
        Action::Prefetch { node, block, kind } => {
            of(node, kind, Object { kind: BLOCK, id: block }, model.protocol().event_name(kind))
        }
        Action::Leave { node, object } => {
            let kind = world.line(&model.layout, node, object).left();
            of(node, kind, object, model.protocol().event_name(kind))
        }
        Action::Deliver { flight } | Action::Head { flight } | Action::Repeat { flight } | Action::Lose { flight } => {
            let how = match action {
                Action::Head { .. } => " comes to the head of its lane, and waits",
                Action::Repeat { .. } => ", and stays on its way",
                Action::Lose { .. } => " is lost",
                _ => "",
            };
            let flight = &world.flights[flight];
            let kind = EventKind::Message(flight.message);
            let name = model.engine.call_text(kind, &flight.args);
            of(flight.to, kind, flight.object, format!("{name} from {}{how}", flight.from))
        }
        Action::Replay { node, role, object } => {
            let record = model.record(world, node, role, object);
            let event = record.and_then(|record| model.engine.replay_event(role, object, record));
            let event = event.map_or(String::new(), |event| model.engine.event_text(&event));
            Subject { node, role: Some(role), object, event: format!("deferred {event}") }
        }
        Action::Task { node } => {
            let queued = &world.queues[node as usize][0];
            let kind = EventKind::Task(queued.task);
            of(node, kind, queued.object, model.engine.call_text(kind, &queued.args))
        }
        Action::Timer { node, role, object } => Subject { node, role: Some(role), object, event: "after".into() },
        Action::Phase => Subject { node: 0, role: None, object: AGENT, event: "all threads pass a barrier".into() },
    }
}

/// A statement in one line.
fn said(model: &Model, statement: Span) -> String {
    let text = model.protocol().sources.excerpt(statement);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What an image holds: `t l=2`, with what is false left out.
pub(crate) fn image_text(image: &Image, word: i64) -> String {
    let fields = image.values(word).filter(|(_, value)| *value != 0).map(|(named, value)| match named.ty {
        Type::Bool => named.name.clone(),
        _ => format!("{}={value}", named.name),
    });
    let fields: Vec<String> = fields.collect();
    format!("{{{}}}", fields.join(" "))
}

fn thread_subject(model: &Model, thread: usize, intent: usize, again: &str) -> Subject {
    let place = model.client.threads[thread];
    let intent = &model.client.intents[intent];
    let (kind, object) = (event_kind(intent), intent.object());
    let mut event = match intent {
        Intent::Read { .. } => "read".to_string(),
        Intent::Store { .. } => "write".into(),
        Intent::Write { .. } if model.layout.mark.is_some() => "write".into(),
        Intent::Write { value, .. } => format!("write {value}"),
        Intent::WriteBeside { .. } => "write beside".into(),
        Intent::Rmw { .. } if model.layout.mark.is_some() => "exchange".into(),
        Intent::Rmw { value, .. } => format!("exchange for {value}"),
        Intent::Image { .. } => "image".into(),
        Intent::Call { args, .. } => model.engine.call_text(kind, args),
    };
    event += again;
    if model.client.threads_of[place.node as usize].len() > 1 {
        event += &format!(" by thread {}", place.number);
    }
    let role = model.engine.role_for(kind, object.kind, model.is_home(place.node, object));
    Subject { node: place.node, role, object, event }
}

fn describe(model: &Model, world: &World, subject: &Subject) -> String {
    let record = subject.role.and_then(|role| Some((role, model.record(world, subject.node, role, subject.object)?)));
    match record {
        Some((role, record)) => {
            let state =
                format!("{}.{}", model.protocol().roles[role.index()].name, model.engine.describe(role, record));
            let cache = model.layout.line(subject.node, subject.object).is_some();
            match cache.then(|| world.line(&model.layout, subject.node, subject.object).line) {
                Some(line) => format!("{state} cache={line}"),
                None => state,
            }
        }
        None => String::new(),
    }
}

/// The records of the node that an event is about that it has changed, except the one that it is about itself.
pub(crate) fn also(model: &Model, old: &World, new: &World, subject: &Subject) -> Vec<RecordChange> {
    let own = (subject.role, subject.object);
    let others = model.instances().filter(|&(node, role, object)| {
        // What ghosts see is told with what is performed.
        node == subject.node && own != (Some(role), object) && !model.protocol().is_ghost(role)
    });
    let changed = others.filter_map(|(node, role, object)| {
        let (before, after) = (model.record(old, node, role, object)?, model.record(new, node, role, object)?);
        let change = RecordChange {
            role: model.protocol().roles[role.index()].name.clone(),
            object: if object.kind == NODE { String::new() } else { model.object_name(object) },
            before: model.engine.describe(role, before),
            after: model.engine.describe(role, after),
            access_before: access_text(object.kind, model.engine.access(role, before)),
            access_after: access_text(object.kind, model.engine.access(role, after)),
        };
        (change.before != change.after || change.access_before != change.access_after).then_some(change)
    });
    changed.collect()
}

/// The access that a record gives: `none`, `read`, `write`; empty where it is not about a block.
pub(crate) fn access_text(kind: ObjectKindId, access: Access) -> String {
    if kind == BLOCK { access.to_string() } else { String::new() }
}

fn send_text(stepper: &Stepper, flight: &Flight) -> String {
    format!("{} to {}", message_text(stepper, flight.message, &flight.args, flight.payload), flight.to)
}

/// A message on its way: `Data(2) with 1 of block 0 from 1 to 0`.
pub(crate) fn flight_text(stepper: &Stepper, flight: &Flight) -> String {
    let text = message_text(stepper, flight.message, &flight.args, flight.payload);
    let model = stepper.model;
    let about = match flight.object.kind {
        NODE => String::new(),
        _ => format!(" of {}", model.object_name(flight.object)),
    };
    format!("{text}{about} from {} to {}", flight.from, flight.to)
}

/// A message with its arguments and data: `Data(2) with 1`.
pub(crate) fn message_text(stepper: &Stepper, message: MessageId, args: &Args, payload: Option<Payload>) -> String {
    let data = payload.map_or(String::new(), |payload| format!(" with {}", data_text(stepper, payload)));
    stepper.model.engine.call_text(EventKind::Message(message), args) + &data
}

fn data_text(stepper: &Stepper, payload: Payload) -> String {
    match stepper.payloads.data(payload) {
        Data::Block(word) => word.to_string(),
        Data::Memory(bytes) => format!("{} bytes", bytes.len()),
        Data::List(words) => words.iter().map(|(_, word)| word.to_string()).collect::<Vec<_>>().join(" "),
    }
}

fn performs(stepper: &Stepper) -> Vec<String> {
    let model = stepper.model;
    let node = |thread: usize| model.client.threads[thread].node;
    let access = |performed: &Performed| {
        let node = node(performed.thread);
        match (&model.client.intents[performed.intent], performed.seen) {
            (_, Some(seen)) if performed.elsewhere => format!("node {node} goes on with {seen}"),
            (_, None) if performed.elsewhere => format!("node {node} goes on"),
            (Intent::Rmw { block, .. }, Some(seen)) => {
                format!("node {node} exchanges {seen} for {} in block {block}", performed.left)
            }
            (Intent::Write { block, .. }, Some(value)) => format!("node {node} writes {value} to block {block}"),
            (Intent::WriteBeside { block }, _) => format!("node {node} writes another word of block {block}"),
            (intent, Some(seen)) => {
                format!("node {node} reads {} from {}", word_text(model, seen), model.object_name(intent.object()))
            }
            (intent, None) => format!("node {node} reads {}", model.object_name(intent.object())),
        }
    };
    let call = |&(thread, intent, value): &(usize, usize, i64)| {
        let Intent::Call { op, .. } = &model.client.intents[intent] else { return String::new() };
        let result = model.engine.result_text(*op, value).map_or(String::new(), |value| format!(" {value}"));
        format!("{} returns{result} to node {}", model.protocol().ops[op.index()].name, node(thread))
    };
    let account = &stepper.account;
    let for_program = stepper.for_program().iter().map(|access| {
        let (node, block) = (access.node, model.object_name(access.block));
        match (access.loaded, access.stored) {
            (Some(loaded), Some(stored)) => format!("node {node} makes {stored} of {loaded} in {block}"),
            (Some(loaded), None) => format!("node {node} reads {} from {block}", word_text(model, loaded)),
            (None, stored) => format!("node {node} writes {} to {block}", stored.unwrap_or(0)),
        }
    });
    for_program.chain(account.performed.iter().map(access)).chain(account.returned.iter().map(call)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN_DOOR: &str = "
protocol open-door
promises mutex(acquire, release)
object lock
op acquire(l: lock)
op release(l: lock)
role door of lock everywhere {
  state Open { on acquire { return } on release { return } }
}
";

    fn with_stepper(test: impl FnOnce(&mut Stepper)) {
        let protocol =
            trivium_lang::compile("test.tri", OPEN_DOOR, &Default::default()).unwrap_or_else(|d| panic!("{d}"));
        let model = Model::new(&Arc::new(protocol), &System::default()).unwrap();
        test(&mut Stepper::new(&model));
    }

    /// Threads and the calls that they make: intents 0 and 1 are `acquire` and `release`.
    fn calls(calls: &[(usize, usize)]) -> Trace {
        let start = |&(thread, intent)| (Label::Plain(Action::Start { thread, intent }), Vec::new());
        Trace { labels: calls.iter().map(start).collect() }
    }

    #[test]
    fn what_does_not_matter_is_removed() {
        with_stepper(|stepper| {
            let long = calls(&[(2, 0), (2, 1), (0, 0), (0, 1), (1, 0), (2, 0)]);
            let short = minimise(stepper, long, "mutex(acquire, release)");
            assert_eq!(short, calls(&[(1, 0), (2, 0)]));
        });
    }

    #[test]
    fn a_trace_is_cut_where_the_violation_is() {
        with_stepper(|stepper| {
            let long = calls(&[(0, 0), (1, 0), (2, 0)]);
            assert_eq!(violates(stepper, &long, "mutex(acquire, release)"), Some(calls(&[(0, 0), (1, 0)])));
        });
    }

    #[test]
    fn a_trace_of_another_property_is_none() {
        with_stepper(|stepper| {
            let both = calls(&[(0, 0), (1, 0)]);
            assert_eq!(violates(stepper, &both, DEADLOCK), None);
            assert_eq!(violates(stepper, &calls(&[(0, 0), (0, 1), (1, 0)]), "mutex(acquire, release)"), None);
        });
    }
}
