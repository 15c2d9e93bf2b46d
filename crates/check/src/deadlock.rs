//! States in which nothing more happens by itself although somebody waits (`docs/semantics.md`, section 7).

use crate::client::Intent;
use crate::model::Model;
use crate::promise::{holder, may_wait_for_ever, missing};
use crate::step::{Action, Stepper, event_kind};
use crate::world::{Flight, Phase, World};
use serde::{Deserialize, Serialize};
use trivium_engine::Object;
use trivium_lang::protocol::{EventKind, LaneId, NODE};

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

/// Whether nothing happens by itself any more, and somebody waits in vain.
pub(crate) fn stuck(stepper: &mut Stepper, world: &World) -> bool {
    if !waits_in_vain(stepper.model, world) {
        return false;
    }
    let mut actions = Vec::new();
    stepper.actions(world, &mut actions);
    let mut next = World::default();
    !actions.into_iter().filter(Action::happens_by_itself).any(|action| {
        next.copy_from(world);
        stepper.perform(&mut next, action).is_err() || next != *world
    })
}

/// Whether a thread waits for what no other thread is bound to give, or a message for room.
pub(crate) fn waits_in_vain(model: &Model, world: &World) -> bool {
    !world.flights.is_empty()
        || (0..model.client.threads.len()).any(|thread| {
            let (phase, intent) = world.thread(&model.layout, thread);
            phase != Phase::Idle && !may_wait_for_ever(model, world, thread, &model.client.intents[intent])
        })
}

/// Who waits for what: threads, then the roles that await a message or keep events, then messages.
pub(crate) fn explain(model: &Model, world: &World) -> Vec<Waiting> {
    let mut lines: Vec<Waiting> =
        (0..model.client.threads.len()).filter_map(|thread| explain_thread(model, world, thread)).collect();
    for (node, role, object) in model.instances() {
        let Some(record) = model.record(world, node, role, object) else { continue };
        let state = model.engine.state(role, record);
        let declared = &model.protocol().roles[role.index()];
        let kept = model.engine.deferred(role, object, record);
        let state = &declared.states[state.index()];
        if !state.waiting && kept.is_empty() {
            continue;
        }
        let names: Vec<&str> =
            state.awaits.iter().map(|m| model.protocol().messages[m.index()].name.as_str()).collect();
        let waits_for = if names.is_empty() { "a change of its state".into() } else { names.join(" or ") };
        lines.push(Waiting {
            who: format!("node {node}: {} of {}", declared.name, model.object_name(object)),
            waits_for,
            state: model.engine.describe(role, record),
        });
    }
    lines.extend(world.flights.iter().map(|flight| explain_flight(model, world, flight)));
    lines
}

fn explain_thread(model: &Model, world: &World, thread: usize) -> Option<Waiting> {
    let (phase, number) = world.thread(&model.layout, thread);
    if phase == Phase::Idle {
        return None;
    }
    let place = model.client.threads[thread];
    let intent = &model.client.intents[number];
    let object = intent.object();
    let kind = event_kind(intent);
    let what = match intent {
        Intent::Read { .. } => format!("its read of {}", model.object_name(object)),
        Intent::Write { .. } | Intent::WriteBeside { .. } => format!("its write of {}", model.object_name(object)),
        Intent::Call { .. } => {
            let call = format!("its call of {}{}", model.protocol().event_name(kind), on(model, object));
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
    Some(Waiting {
        who: format!("node {}: thread {}", place.node, place.number),
        waits_for: what,
        state: state.map_or(String::new(), |(role, record)| {
            format!("{} {}", model.protocol().roles[role.index()].name, model.engine.describe(role, record))
        }),
    })
}

fn explain_flight(model: &Model, world: &World, flight: &Flight) -> Waiting {
    let protocol = model.protocol();
    let kind = EventKind::Message(flight.message);
    let name = &protocol.messages[flight.message.index()].name;
    let who = format!("{name} from node {} to node {}{}", flight.from, flight.to, about(model, flight.object));
    let role = model.engine.role_for(kind, flight.object.kind, model.is_home(flight.to, flight.object));
    let instance = role.and_then(|role| Some((role, model.record(world, flight.to, role, flight.object)?)));
    let Some((role, record)) = instance else {
        return Waiting { who, waits_for: "a role that handles it".into(), state: String::new() };
    };
    let needed = model.engine.room_needed(kind, role, model.engine.state(role, record));
    let lane = needed
        .iter()
        .enumerate()
        .find(|&(lane, &count)| count > 0 && !model.room(world, flight.to, LaneId(lane as u8), count));
    let waits_for = match lane {
        Some((lane, count)) => {
            format!("room for {count} on lane {} at node {}", protocol.lanes[lane].name, flight.to)
        }
        None => "those before it".into(),
    };
    Waiting { who, waits_for, state: model.engine.describe(role, record) }
}

fn on(model: &Model, object: Object) -> String {
    if object.kind == NODE { String::new() } else { format!(" on {}", model.object_name(object)) }
}

fn about(model: &Model, object: Object) -> String {
    if object.kind == NODE { String::new() } else { format!(" about {}", model.object_name(object)) }
}
