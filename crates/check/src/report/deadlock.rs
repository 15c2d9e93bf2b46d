//! States in which nothing more happens by itself although somebody waits (`docs/semantics.md`, section 7).

use crate::step::Stepper;
use crate::system::action::{Action, event_kind};
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::progress::{has_loops, must_happen, next_step, present_step, somebody_waits};
use crate::system::promise::{PromiseView, Violation, holder, may_start, missing};
use crate::system::usage::broken_condition;
use crate::system::world::{Flight, Queued, ThreadState, World};
use serde::{Deserialize, Serialize};
use trivium_engine::{Event, Look, Node, Object, Stalled};
use trivium_protocol::{EventKind, LaneId, NODE, Response, RoleId};

/// One line of the explanation of a deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// A thread, a role of a node, or a message.
    pub who: String,
    /// What it waits for.
    pub waits_for: String,
    /// The state in which it does.
    pub state: String,
}

/// Whether nothing that must happen changes anything any more, and somebody waits.
pub(crate) fn stuck(stepper: &mut Stepper, world: &World) -> bool {
    let mut actions = Vec::new();
    stepper.actions(world, &mut actions);
    if !waits(stepper.model, world, &actions) {
        return false;
    }
    let changes = |_: &mut Stepper, next: World, result: Result<(), Violation>| result.is_err() || next != *world;
    !actions
        .into_iter()
        .filter(|action| must_happen(stepper.model, world, *action))
        .any(|action| stepper.any_way(world, action, changes))
}

/// Whether a thread waits for what it must get, or the first message of a channel or the first task of a node for room.
pub(crate) fn waits(model: &Model, world: &World, actions: &[Action]) -> bool {
    let waits_for_room = || {
        let heads = world.deliverable(|lane| model.lanes[lane.index()].fifo).count();
        let tasks = world.queues.iter().filter(|queue| !queue.is_empty()).count();
        let started = actions.iter().filter(|a| matches!(a, Action::Deliver { .. } | Action::Task { .. })).count();
        started < heads + tasks
    };
    somebody_waits(model, world) || waits_for_room()
}

/// Who waits for what: threads, then the roles that await a message or keep events, then tasks, then messages.
pub(crate) fn explain(model: &Model, world: &World) -> Vec<Waiting> {
    let mut lines: Vec<Waiting> =
        (0..model.client.threads.len()).filter_map(|thread| explain_thread(model, world, thread)).collect();
    lines.extend(model.instances().filter_map(|(node, role, object)| explain_role(model, world, node, role, object)));
    lines.extend((0..).zip(&world.queues).filter_map(|(node, queue)| explain_task(model, world, node, queue.first()?)));
    lines.extend((0..world.flights.len()).map(|flight| explain_flight(model, world, flight)));
    lines
}

fn explain_role(model: &Model, world: &World, node: Node, role: RoleId, object: Object) -> Option<Waiting> {
    let record = model.record(world, node, role, object)?;
    let declared = &model.protocol().roles[role.index()];
    let state = &declared.states[model.engine.state(role, record).index()];
    if !state.waiting && model.engine.deferred(role, object, record).is_empty() {
        return None;
    }
    let names: Vec<&str> = state.awaits.iter().map(|m| model.protocol().messages[m.index()].name.as_str()).collect();
    let waits_for = match due(model, role, object, record) {
        Some(event) => match no_room(model, world, node, role, record, event.kind) {
            Some(room) => format!("{room}, to try {} again", model.engine.event_text(&event)),
            None => format!("its turn to try {} again", model.engine.event_text(&event)),
        },
        None if names.is_empty() => change(model, world, node, role, object, record),
        None => names.join(" or "),
    };
    Some(Waiting {
        who: format!("node {node}: {}{}", declared.name, of(model, object)),
        waits_for,
        state: model.engine.describe(role, record),
    })
}

/// For what a record waits whose deferred events have been tried.
fn change(model: &Model, world: &World, node: Node, role: RoleId, object: Object, record: &[u8]) -> String {
    let engine = &model.engine;
    let view = PromiseView { model, world };
    let mut looked = engine.deferred(role, object, record).into_iter().filter_map(|event| {
        let deferred = engine.deferred_by(role, &event, node, &view)?;
        (!deferred.looked.is_empty()).then(|| conditions(model, &deferred))
    });
    match looked.next() {
        Some(conditions) => format!("a change of its state, or for {conditions} to change"),
        None => "a change of its state".into(),
    }
}

/// What was looked at on the way to an answer, as it is.
fn conditions(model: &Model, stalled: &Stalled) -> String {
    let text = |look: &Look| {
        let condition = model.protocol().sources.excerpt(look.condition);
        if look.holds { condition.to_string() } else { format!("not ({condition})") }
    };
    let conditions: Vec<String> = stalled.looked.iter().map(text).collect();
    format!("`{}`", conditions.join("` or `"))
}

/// The first task of a node, if something keeps it from running.
fn explain_task(model: &Model, world: &World, node: Node, queued: &Queued) -> Option<Waiting> {
    let kind = EventKind::Task(queued.task);
    let role = model.protocol().tasks[queued.task.index()].role;
    let record = model.record(world, node, role, queued.object)?;
    let waits_for = obstacle(model, world, node, role, queued.object, kind)?;
    let who = format!("node {node}: task {}{}", model.engine.call_text(kind, &queued.args), of(model, queued.object));
    Some(Waiting { who, waits_for, state: model.engine.describe(role, record) })
}

/// What keeps an event from being dispatched to a role; nothing if it can be.
fn obstacle(model: &Model, world: &World, node: Node, role: RoleId, object: Object, kind: EventKind) -> Option<String> {
    let record = model.record(world, node, role, object)?;
    if let Some(event) = due(model, role, object, record) {
        let text = format!("the deferred {}, which is tried first", model.engine.event_text(&event));
        let room = no_room(model, world, node, role, record, event.kind);
        return Some(room.map_or(text.clone(), |room| format!("{text} and waits for {room}")));
    }
    no_room(model, world, node, role, record, kind)
}

/// The deferred event of a record that is tried again before any other event is handled.
fn due(model: &Model, role: RoleId, object: Object, record: &[u8]) -> Option<Event> {
    let due = model.engine.replay_due(role, record);
    model.engine.replay_event(role, object, record).filter(|_| due)
}

/// The room that an event needs before it is dispatched and does not have.
fn no_room(model: &Model, world: &World, node: Node, role: RoleId, record: &[u8], kind: EventKind) -> Option<String> {
    let needed = model.engine.room_needed(kind, role, model.engine.state(role, record));
    let full = |&(lane, count): &(LaneId, u32)| count > 0 && !model.room(world, node, lane, count);
    let (lane, count) = (0..).map(LaneId).zip(needed.iter().copied()).find(full)?;
    Some(format!("room for {count} on lane {} at node {node}", model.protocol().lanes[lane.index()].name))
}

/// What a thread waits for, as part of a sentence: `node 1's write of block 0`.
pub(crate) fn wish_text(model: &Model, world: &World, thread: usize) -> String {
    let number = present_step(model, world, thread);
    let place = model.client.threads[thread];
    let who = match model.client.threads_of[usize::from(place.node)].len() {
        1 => format!("node {}'s", place.node),
        _ => format!("node {}'s thread {}'s", place.node, place.number),
    };
    match looping(model, world, thread) {
        Some(statement) => format!("{who} way to its end from {statement}"),
        None => format!("{who} {}", intent_text(model, &model.client.intents[number])),
    }
}

/// Where a thread of a scenario stands that goes round a loop: the statement and its line.
fn looping(model: &Model, world: &World, thread: usize) -> Option<String> {
    let script = model.client.script.as_ref().filter(|_| has_loops(model, thread))?;
    let span = script.statement(thread, world.count(&model.layout, thread))?;
    let sources = &model.protocol().sources;
    let text = sources.excerpt(span).split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!("`{text}` ({})", sources.place(span)))
}

fn intent_text(model: &Model, intent: &Intent) -> String {
    let object = intent.object();
    match intent {
        Intent::Read { .. } => format!("read of {}", model.object_name(object)),
        Intent::Write { .. } | Intent::WriteBeside { .. } | Intent::Store { .. } => {
            format!("write of {}", model.object_name(object))
        }
        Intent::Rmw { .. } => format!("read-modify-write of {}", model.object_name(object)),
        Intent::Image { .. } => format!("look at the image of {}", model.object_name(object)),
        Intent::Call { .. } => {
            format!("call of {}{}", called(model, intent), on(model, object))
        }
    }
}

fn explain_thread(model: &Model, world: &World, thread: usize) -> Option<Waiting> {
    let (phase, number) = world.thread(&model.layout, thread);
    if phase == ThreadState::Free {
        return explain_next_step(model, world, thread);
    }
    let place = model.client.threads[thread];
    let intent = &model.client.intents[number];
    let object = intent.object();
    let kind = event_kind(intent);
    let what = match intent {
        Intent::Read { .. }
        | Intent::Write { .. }
        | Intent::WriteBeside { .. }
        | Intent::Rmw { .. }
        | Intent::Image { .. }
        | Intent::Store { .. } => {
            format!("its {}", intent_text(model, intent))
        }
        Intent::Call { .. } => {
            let call = format!("its {}", intent_text(model, intent));
            let missing: Vec<String> =
                missing(model, world, thread, intent).into_iter().flatten().map(|node| node.to_string()).collect();
            match holder(model, world, intent).map(|holder| model.client.threads[holder]) {
                Some(other) => format!("{call}, which node {}: thread {} holds", other.node, other.number),
                None if missing.is_empty() => call,
                None => format!("{call}, to which node {} has not come", missing.join(" and ")),
            }
        }
    };
    let role = model.engine.role_for(kind, object.kind, model.is_home(place.node, object));
    let state = role.and_then(|role| Some((role, model.record(world, place.node, role, object)?)));
    // What it keeps it raises again, unless its role keeps it waiting.
    let kept = role.filter(|_| phase == ThreadState::Held).and_then(|role| {
        let record = model.record(world, place.node, role, object)?;
        let held = *model.engine.response(role, model.engine.state(role, record), kind) == Response::Hold;
        if held { None } else { obstacle(model, world, place.node, role, object, kind) }
    });
    Some(Waiting {
        who: format!("node {}: thread {}", place.node, place.number),
        waits_for: kept.map_or(what.clone(), |kept| format!("{what}, which waits for {kept}")),
        state: state.map_or(String::new(), |(role, record)| {
            format!("{} {}", model.protocol().roles[role.index()].name, model.engine.describe(role, record))
        }),
    })
}

/// What keeps an idle thread of a scenario from its next step.
fn explain_next_step(model: &Model, world: &World, thread: usize) -> Option<Waiting> {
    let intent = &model.client.intents[next_step(model, world, thread)?];
    let (place, object) = (model.client.threads[thread], intent.object());
    let role = model.answering_role(place.node, intent);
    let record = role.and_then(|role| Some((role, model.record(world, place.node, role, object)?)));
    let why = match record {
        None if !intent.is_access() => "no role of the node answers it".into(),
        None => looks_again(model, world, thread)?,
        Some(_) if !may_start(model, world, thread, intent) => {
            "what is promised and assumed of its use does not let it begin now".into()
        }
        Some(_) => match broken_condition(model, world, thread, intent) {
            Some(text) => format!("the assumption `{text}` does not let it begin now"),
            None => match obstacle(model, world, place.node, role?, object, event_kind(intent)) {
                Some(obstacle) => obstacle,
                None => looks_again(model, world, thread)?,
            },
        },
    };
    Some(Waiting {
        who: format!("node {}: thread {}", place.node, place.number),
        waits_for: format!("its next step, a {}: {why}", intent_text(model, intent)),
        state: record.map_or(String::new(), |(role, record)| {
            format!("{} {}", model.protocol().roles[role.index()].name, model.engine.describe(role, record))
        }),
    })
}

/// What is said of a thread that can go on and only comes to the same place again.
fn looks_again(model: &Model, world: &World, thread: usize) -> Option<String> {
    let statement = looping(model, world, thread)?;
    Some(format!("it comes to {statement} again and again, and not to its end"))
}

fn explain_flight(model: &Model, world: &World, number: usize) -> Waiting {
    let flight = &world.flights[number];
    let kind = EventKind::Message(flight.message);
    let name = |flight: &Flight| model.engine.call_text(EventKind::Message(flight.message), &flight.args);
    let who =
        format!("{} from node {} to node {}{}", name(flight), flight.from, flight.to, about(model, flight.object));
    let role = model.engine.role_for(kind, flight.object.kind, model.is_home(flight.to, flight.object));
    let instance = role.and_then(|role| Some((role, model.record(world, flight.to, role, flight.object)?)));
    let Some((role, record)) = instance else {
        return Waiting { who, waits_for: "a role that handles it".into(), state: String::new() };
    };
    let channel = |flight: &Flight| (flight.to, flight.from, flight.lane);
    let ordered = model.lanes[flight.lane.index()].fifo;
    let before = world.flights[..number].iter().rfind(|other| ordered && channel(other) == channel(flight));
    let before = before.or_else(|| first(model, world, flight));
    let waits_for = match before {
        Some(other) if other.from != flight.from => {
            format!("{} from node {}, which is at the head of its lane", name(other), other.from)
        }
        Some(other) if other.object == flight.object => format!("{}, which is before it", name(other)),
        Some(other) => format!("{}{}, which is before it", name(other), about(model, other.object)),
        None => obstacle(model, world, flight.to, role, flight.object, kind)
            .or_else(|| stall(model, world, flight))
            .unwrap_or_else(|| "nothing: it can be handled".into()),
    };
    Waiting { who, waits_for, state: model.engine.describe(role, record) }
}

/// The message of another lane or sender that comes before one which is the first of its own.
fn first<'w>(model: &Model, world: &'w World, flight: &Flight) -> Option<&'w Flight> {
    let form = &model.lanes[flight.lane.index()];
    let other = form.behind.filter(|_| flight.stand.is_behind());
    let earlier = other.and_then(|lane| world.flights.iter().find(|f| f.channel() == (flight.to, flight.from, lane)));
    let in_queue = |f: &&Flight| (f.to, f.lane) == (flight.to, flight.lane) && f.stand.is_head();
    let head = || world.flights.iter().find(in_queue).filter(|_| form.merged && !flight.stand.is_head());
    earlier.or_else(head)
}

/// What a message waits for that stalls.
fn stall(model: &Model, world: &World, flight: &Flight) -> Option<String> {
    let stalled = model.message_stalls(world, flight)?;
    let lane = &model.protocol().lanes[flight.lane.index()].name;
    let until = match stalled.looked.is_empty() {
        _ if stalled.is_full => "a place in the defer space".to_string(),
        true => "another state".to_string(),
        false => format!("{} to change", conditions(model, &stalled)),
    };
    let head = match &model.lanes[flight.lane.index()] {
        form if form.merged => ", and keeps back what all senders have sent after it",
        form if form.fifo => ", and keeps back what is after it",
        _ => "",
    };
    Some(format!("{until}: it stalls on lane {lane}{head}"))
}

fn of(model: &Model, object: Object) -> String {
    if object.kind == NODE { String::new() } else { format!(" of {}", model.object_name(object)) }
}

fn called(model: &Model, intent: &Intent) -> String {
    match intent {
        Intent::Call { args, .. } => model.engine.call_text(event_kind(intent), args),
        _ => model.protocol().event_name(event_kind(intent)),
    }
}

fn on(model: &Model, object: Object) -> String {
    if object.kind == NODE { String::new() } else { format!(" on {}", model.object_name(object)) }
}

fn about(model: &Model, object: Object) -> String {
    if object.kind == NODE { String::new() } else { format!(" about {}", model.object_name(object)) }
}
