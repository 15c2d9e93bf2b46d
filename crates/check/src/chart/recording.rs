//! A counterexample as it is kept in a file: what was explored, the events, and the states that they led through.

use super::story::{Frame, Story};
use crate::config::System;
use crate::report::Report;
use crate::report::deadlock::Waiting;
use crate::report::trace::{Label, is_trap};
use crate::step::Stepper;
use crate::system::action::{Action, Delivery, event_kind};
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::payload::Data;
use crate::system::told::Told;
use crate::system::world::{Flight, World};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use trivium_diagnostic::Diagnostic;
use trivium_engine::{Node, Object};
use trivium_protocol::{BLOCK, EventKind, NODE, Protocol, RoleId};

/// A counterexample that can be executed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// What was explored.
    pub settings: System,
    /// The property that is violated at the end.
    pub property: String,
    /// How.
    pub reason: Option<String>,
    /// Who waits for what at the end, if that is the violation.
    #[serde(default)]
    pub waiting: Vec<Waiting>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// What the handlers of some events were told.
    #[serde(default, skip_serializing_if = "Vec::is_empty", alias = "rooms")]
    pub told: Vec<ToldIn>,
    /// The nodes that take part: before the first event, and after each.
    pub states: Vec<Frame>,
}

/// What the handlers of an event were told, where it might have been otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldIn {
    /// The number of the event, from 1.
    pub step: usize,
    /// What, in order.
    #[serde(alias = "room")]
    pub told: Vec<Told>,
}

/// An event by the names that people know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// A thread makes an access or a call.
    Start {
        /// Its node.
        node: Node,
        /// Its number there.
        thread: u8,
        /// `write 1 of block 0`.
        does: String,
        /// The words of a call's arguments.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<i64>,
    },
    /// A thread raises again what it kept.
    Retry {
        /// Its node.
        node: Node,
        /// Its number there.
        thread: u8,
    },
    /// A thread does the next act of the body of its call.
    Act {
        /// Its node.
        node: Node,
        /// Its number there.
        thread: u8,
    },
    /// An engine hears of what a thread of its node has told it.
    Hear {
        /// The node.
        node: Node,
        /// The thread's number there.
        thread: u8,
    },
    /// A node wants to be rid of its copy of a block; a processor's cache gives up its line.
    Evict {
        /// The node.
        node: Node,
        /// The block.
        block: u32,
        /// Of an image the kind of its object, whose number `block` is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image: Option<String>,
    },
    /// A processor hints that it may use a block.
    Prefetch {
        /// The node.
        node: Node,
        /// The block.
        block: u32,
        /// Whether it may store there.
        write: bool,
    },
    /// An engine hears of the line that its processor's cache gave up.
    Leave {
        /// The node.
        node: Node,
        /// The block.
        block: u32,
        /// As of an eviction.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image: Option<String>,
    },
    /// A message is handled.
    Deliver {
        /// What the network does with it.
        #[serde(default, skip_serializing_if = "is_delivered")]
        fate: Delivery,
        /// By whom.
        to: Node,
        /// Who sent it.
        from: Node,
        /// Its kind.
        message: String,
        /// The number of the object that it is about.
        object: u32,
        /// Its arguments.
        args: Vec<i64>,
        /// Its data.
        data: Option<Contents>,
    },
    /// A deferred event is tried again.
    Replay {
        /// On which node.
        node: Node,
        /// By which role.
        role: String,
        /// For which object.
        object: u32,
    },
    /// The first task of a node runs.
    Task {
        /// The node.
        node: Node,
    },
    /// The time of an `after` passes.
    Timer {
        /// On which node.
        node: Node,
        /// Of which role.
        role: String,
        /// For which object.
        object: u32,
    },
    /// All threads pass a barrier of which the protocol knows nothing.
    Phase,
}

/// Data of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contents {
    /// The word of a block.
    Block(u64),
    /// A range of memory.
    Memory(Vec<u8>),
    /// Words with the addresses that they were taken from.
    List(Vec<(u64, u64)>),
}

/// Where an execution differs from its recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// After which step; 0: in the first state.
    pub step: usize,
    /// What was recorded.
    pub recorded: String,
    /// What is seen now.
    pub seen: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after step {} the recording says {}, but there is {}", self.step, self.recorded, self.seen)
    }
}

impl Recording {
    /// The counterexample of a report, told as a story; none if nothing is violated.
    ///
    /// # Errors
    /// As [`crate::runs::explore`].
    pub fn of(
        protocol: &Arc<Protocol>,
        system: &System,
        report: &Report,
        story: &Story,
    ) -> Result<Option<Recording>, Diagnostic> {
        let (Some(trace), Some(property)) = (&report.trace, &report.property) else { return Ok(None) };
        let model = Model::new(protocol, system)?;
        Ok(Some(Recording {
            settings: system.clone(),
            property: property.clone(),
            reason: report.reason.clone(),
            waiting: report.wait_cycle.clone(),
            events: trace.labels.iter().map(|(label, _)| event(&model, label)).collect(),
            told: (1..)
                .zip(&trace.labels)
                .filter(|(_, (_, told))| !told.is_empty())
                .map(|(step, (_, told))| ToldIn { step, told: told.clone() })
                .collect(),
            states: story.frames.clone(),
        }))
    }

    /// Adds to a story how it ends, where its events alone do not show that.
    pub fn conclude(&self, story: &mut Story) {
        story.conclude(&self.property, self.reason.as_ref(), &self.waiting);
    }

    /// Whether an execution went through the recorded states to the recorded violation.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, story: &Story) -> Result<(), Mismatch> {
        for (step, (recorded, seen)) in self.states.iter().zip(&story.frames).enumerate() {
            if recorded != seen {
                return Err(difference(step, recorded, seen));
            }
        }
        let end = |states: &[Frame]| format!("{} states", states.len());
        if self.states.len() != story.frames.len() {
            let step = self.states.len().min(story.frames.len()).saturating_sub(1);
            return Err(Mismatch { step, recorded: end(&self.states), seen: end(&story.frames) });
        }
        // A livelock is a matter of what can follow, which an execution does not show.
        if story.property.is_none() && is_trap(&self.property) {
            return Ok(());
        }
        if story.property.as_ref() != Some(&self.property) {
            let seen = story.property.as_ref().map_or("no violation".into(), |p| format!("a violation of {p}"));
            let recorded = format!("a violation of {}", self.property);
            return Err(Mismatch { step: story.moments.len(), recorded, seen });
        }
        Ok(())
    }
}

fn is_delivered(fate: &Delivery) -> bool {
    *fate == Delivery::Deliver
}

/// The first part of a state that differs.
fn difference(step: usize, recorded: &Frame, seen: &Frame) -> Mismatch {
    let parts = |frame: &Frame| {
        let mut parts = Vec::new();
        for view in &frame.nodes {
            let place = format!("on node {}", view.node);
            parts.extend(view.roles.iter().map(|role| {
                let access =
                    if role.access.is_empty() { String::new() } else { format!(" with access {}", role.access) };
                let about = if role.object.is_empty() { String::new() } else { format!(" of {}", role.object) };
                format!("{}{about} {place}: {}{access}", role.role, role.state)
            }));
            let rest = view.memory.iter().chain(&view.threads).chain(&view.tasks);
            parts.extend(rest.map(|part| format!("{place}: {part}")));
        }
        parts.extend(frame.messages.iter().cloned());
        parts
    };
    let (recorded, seen) = (parts(recorded), parts(seen));
    let at = recorded.iter().zip(&seen).take_while(|(a, b)| a == b).count();
    let part = |parts: &[String]| parts.get(at).map_or("nothing more".into(), |part| format!("`{part}`"));
    Mismatch { step, recorded: part(&recorded), seen: part(&seen) }
}

/// What a thread does, by the names that people know: `write 1 of block 0`.
fn intent_text(model: &Model, intent: &Intent) -> String {
    let object = intent.object();
    let about = if object.kind == NODE { String::new() } else { format!(" of {}", model.object_name(object)) };
    match intent {
        Intent::Read { .. } => format!("read{about}"),
        Intent::Write { value, .. } => format!("write {value}{about}"),
        Intent::WriteBeside { .. } => format!("write beside{about}"),
        Intent::Rmw { value, .. } => format!("exchange for {value}{about}"),
        Intent::Store { .. } => format!("write{about}"),
        Intent::Image { .. } => format!("image{about}"),
        Intent::Call { args, .. } => model.engine.call_text(event_kind(intent), args) + &about,
    }
}

/// Of which kind an object is, if it is no block.
fn image_name(model: &Model, object: Object) -> Option<String> {
    (object.kind != BLOCK).then(|| model.protocol().objects[object.kind.index()].clone())
}

fn event(model: &Model, label: &Label) -> Event {
    let protocol = model.protocol();
    let role_name = |role: &RoleId| protocol.roles[role.index()].name.clone();
    match label {
        Label::Message(fate, flight, data) => Event::Deliver {
            fate: *fate,
            to: flight.to,
            from: flight.from,
            message: protocol.messages[flight.message.index()].name.clone(),
            object: flight.object.id,
            args: flight.args.words().to_vec(),
            data: data.clone().map(Contents::from),
        },
        Label::Plain(Action::Start { thread, intent }) => {
            let place = model.client.threads[*thread];
            let intent = &model.client.intents[*intent];
            let args = match intent {
                Intent::Call { args, .. } => args.words().to_vec(),
                _ => Vec::new(),
            };
            Event::Start { node: place.node, thread: place.number, does: intent_text(model, intent), args }
        }
        Label::Plain(Action::Retry { thread }) => {
            let place = model.client.threads[*thread];
            Event::Retry { node: place.node, thread: place.number }
        }
        Label::Plain(Action::Act { thread }) => {
            let place = model.client.threads[*thread];
            Event::Act { node: place.node, thread: place.number }
        }
        Label::Plain(Action::Hear { thread }) => {
            let place = model.client.threads[*thread];
            Event::Hear { node: place.node, thread: place.number }
        }
        Label::Plain(Action::Evict { node, object }) => {
            Event::Evict { node: *node, block: object.id, image: image_name(model, *object) }
        }
        Label::Plain(Action::Prefetch { node, block, kind }) => {
            Event::Prefetch { node: *node, block: *block, write: *kind == EventKind::PrefetchWrite }
        }
        Label::Plain(Action::Leave { node, object }) => {
            Event::Leave { node: *node, block: object.id, image: image_name(model, *object) }
        }
        Label::Plain(Action::Replay { node, role, object }) => {
            Event::Replay { node: *node, role: role_name(role), object: object.id }
        }
        Label::Plain(Action::Task { node }) => Event::Task { node: *node },
        Label::Plain(Action::Timer { node, role, object }) => {
            Event::Timer { node: *node, role: role_name(role), object: object.id }
        }
        Label::Plain(
            Action::Deliver { .. } | Action::Head { .. } | Action::Repeat { .. } | Action::Lose { .. } | Action::Phase,
        ) => Event::Phase,
    }
}

/// The recorded event among those that can happen in a state.
pub(super) fn resolve(event: &Event, stepper: &Stepper, world: &World, actions: &[Action]) -> Option<Action> {
    actions.iter().copied().find(|action| matches(event, stepper, world, *action))
}

fn matches(event: &Event, stepper: &Stepper, world: &World, action: Action) -> bool {
    let model = stepper.model;
    let is_thread = |thread: usize, node: Node, number: u8| {
        let place = model.client.threads[thread];
        (place.node, place.number) == (node, number)
    };
    let is_role = |role: RoleId, object: Object, name: &str, id: u32| {
        model.protocol().roles[role.index()].name == name && object.id == id
    };
    match (event, action) {
        (Event::Start { node, thread: number, does, .. }, Action::Start { thread, intent }) => {
            is_thread(thread, *node, *number) && intent_text(model, &model.client.intents[intent]) == *does
        }
        (Event::Retry { node, thread: number }, Action::Retry { thread })
        | (Event::Act { node, thread: number }, Action::Act { thread })
        | (Event::Hear { node, thread: number }, Action::Hear { thread }) => is_thread(thread, *node, *number),
        (Event::Evict { node, block, image }, Action::Evict { node: n, object })
        | (Event::Leave { node, block, image }, Action::Leave { node: n, object }) => {
            (*node, *block) == (n, object.id) && *image == image_name(model, object)
        }
        (Event::Prefetch { node, block, write }, Action::Prefetch { node: n, block: b, kind }) => {
            (*node, *block, *write) == (n, b, kind == EventKind::PrefetchWrite)
        }
        (Event::Deliver { fate, to, from, message, object, args, data }, _) => {
            let Some((_, flight)) = action.flight().filter(|(f, _)| f == fate) else { return false };
            let flight: &Flight = &world.flights[flight];
            let name = model.protocol().event_name(EventKind::Message(flight.message));
            let contents = flight.payload.map(|payload| Contents::from(stepper.payloads.data(payload)));
            (flight.to, flight.from, flight.object.id) == (*to, *from, *object)
                && name == *message
                && flight.args.words() == args.as_slice()
                && contents == *data
        }
        (Event::Replay { node, role: name, object: id }, Action::Replay { node: n, role, object })
        | (Event::Timer { node, role: name, object: id }, Action::Timer { node: n, role, object }) => {
            *node == n && is_role(role, object, name, *id)
        }
        (Event::Task { node }, Action::Task { node: n }) => *node == n,
        (Event::Phase, Action::Phase) => true,
        _ => false,
    }
}

impl From<Data> for Contents {
    fn from(data: Data) -> Contents {
        match data {
            Data::Block(word) => Contents::Block(word),
            Data::Memory(bytes) => Contents::Memory(bytes),
            Data::List(words) => Contents::List(words),
        }
    }
}
