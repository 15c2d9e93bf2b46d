//! What a chart shows, with nothing of the explorer left in it.

use super::growth::Growth;
use super::source::{Source, SourceText};
use crate::report::RecordChange;
use crate::report::deadlock::Waiting;
use crate::report::parameters::ParameterValue;
use serde::{Deserialize, Serialize};
use trivium_engine::Node;

/// A counterexample from the first state to the violation.
#[derive(Clone, Debug, Serialize)]
pub struct Story {
    /// The protocol's name.
    pub protocol: String,
    /// The nodes that take part, in order: the columns.
    pub nodes: Vec<Node>,
    /// How many nodes the system has; those that are not among `nodes` do nothing.
    pub total_nodes: u32,
    /// Every object with its home, as people name it: `block 0`.
    pub homes: Vec<(String, Node)>,
    /// The events, in order.
    pub moments: Vec<Moment>,
    /// All messages that are sent, in the order of sending.
    pub arrows: Vec<Arrow>,
    /// The whole system: before the first event, and after each.
    pub frames: Vec<Frame>,
    /// What is violated at the end; `None`: nothing is.
    pub property: Option<String>,
    /// How.
    pub reason: Option<String>,
    /// The place in a scenario that is to blame, where no handler is: what forbids the outcome that has been reached, or what cannot be worked out.
    #[serde(skip)]
    pub scenario: Option<Source>,
    /// In a deadlock: who waits for what.
    pub waiting: Vec<Waiting>,
    /// What grew beyond its bound, if something did.
    pub growth: Option<Growth>,
    /// The protocol's parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<ParameterValue>,
    /// What the search was made with, as names with values: for the page. Whoever knows it fills it in.
    #[serde(skip)]
    pub settings: Vec<(String, String)>,
    /// The protocol's files.
    pub sources: Vec<SourceText>,
}

/// One event and what it did.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// Its number, from 1.
    pub step: u32,
    /// Where it happens.
    pub node: Node,
    /// What happens: `read`, `GetRead from 2`, `deferred GetRead from 2`.
    pub event: String,
    /// To which object; empty for agents.
    pub object: String,
    /// The role and its record before: `home.Idle`.
    pub before: String,
    /// The role and its record afterwards.
    pub after: String,
    /// The access that the state before gives the node's threads: `none`, `read`, `write`; empty where the object is
    /// not a block.
    pub access_before: String,
    /// The access afterwards.
    pub access_after: String,
    /// Records that change besides: of other roles of the node, and of the node's roles for other objects.
    pub also: Vec<RecordChange>,
    /// The message that is handled: its number among the arrows.
    pub received: Option<usize>,
    /// The messages that leave.
    pub sent: Vec<usize>,
    /// Accesses that are performed and calls that return.
    pub performed: Vec<String>,
    /// The contents that the node has forgotten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forgotten: Vec<String>,
    /// The calls that return, with their results as words.
    #[serde(skip)]
    pub returned: Vec<(String, Option<i64>)>,
    /// What the body of a call says in this step, to an engine that hears of it or is asked.
    #[serde(skip)]
    pub said: Option<Spoken>,
    /// Whether the body of a call is at fault here, and no handler.
    #[serde(skip)]
    pub body_fails: bool,
    /// What bodies of calls have asked, and are answered here.
    #[serde(skip)]
    pub answered: Vec<(String, i64)>,
    /// What became of the event if no handler ran: `deferred`, `held`.
    pub fate: Option<String>,
    /// The lines of the protocol that say so; none if the tag allows an access, or a program's threads meet.
    pub source: Option<Source>,
    /// Whether an engine dispatched it: not if the tag allows an access, or the event is a fault.
    pub dispatched: bool,
    /// Whether the property is violated here.
    pub decisive: bool,
}

/// What the body of a call says to its node's engine.
#[derive(Clone, Debug)]
pub struct Spoken {
    /// The name of the event.
    pub event: String,
    /// The number of the object that it is about.
    pub object: u32,
    /// The words of its arguments.
    pub args: Vec<i64>,
}

/// A message.
#[derive(Clone, Debug, Serialize)]
pub struct Arrow {
    /// The sender.
    pub from: Node,
    /// The destination.
    pub to: Node,
    /// Name, arguments and data: `Readable with 0`.
    pub label: String,
    /// About which object.
    pub object: String,
    /// On which lane.
    pub lane: String,
    /// The step that sends it.
    pub sent: u32,
    /// The step that handles it, if one does.
    pub received: Option<u32>,
    /// Whether the network has lost it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

impl Arrow {
    /// Whether it is still on its way at the end.
    pub fn is_on_its_way(&self) -> bool {
        self.received.is_none() && !self.lost
    }
}

/// A state of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The nodes that take part.
    pub nodes: Vec<NodeView>,
    /// Messages on their way: by destination, sender and lane, then oldest first.
    pub messages: Vec<String>,
}

/// One node of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeView {
    /// Its number.
    pub node: Node,
    /// Its instances of roles.
    pub roles: Vec<RoleView>,
    /// The word of each block in its memory: `block 0 = 1`.
    pub memory: Vec<String>,
    /// What its threads wait for: `thread 0 waits: read of block 0`.
    pub threads: Vec<String>,
    /// Its software queue, first to run first.
    pub tasks: Vec<String>,
}

/// One instance of a role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleView {
    /// The role.
    pub role: String,
    /// About which object; empty for agents.
    pub object: String,
    /// Its record: `Lent owner=2 deferred=[GetRead from 1]`.
    pub state: String,
    /// The access that it gives: `none`, `read`, `write`; empty where the object is not a block.
    pub access: String,
}

impl Story {
    /// Whether events must say which object they are about: there is more than one.
    pub fn names_objects(&self) -> bool {
        self.homes.len() > 1
    }

    /// Says how the story ends, where its events alone do not show that: a livelock is a matter of what can follow.
    pub(super) fn conclude(&mut self, property: &str, reason: Option<&String>, waiting: &[Waiting]) {
        if self.property.is_some() {
            return;
        }
        self.property = Some(property.to_string());
        self.reason = reason.cloned();
        self.waiting = waiting.to_vec();
        if let Some(last) = self.moments.last_mut() {
            last.decisive = true;
        }
    }

    /// The values of the protocol's parameters, if it has any.
    pub(super) fn with(&self) -> Option<String> {
        let values: Vec<String> = self.parameters.iter().map(ParameterValue::setting).collect();
        (!values.is_empty()).then(|| format!("with {}", values.join(", ")))
    }

    /// The column of a node.
    pub fn column(&self, node: Node) -> usize {
        self.nodes.iter().position(|&n| n == node).unwrap_or(0)
    }

    /// What a node is the home of: `home of block 0`; empty if nothing.
    pub fn home_of(&self, node: Node) -> String {
        let mine: Vec<&str> = self.homes.iter().filter(|(_, home)| *home == node).map(|(name, _)| &**name).collect();
        match mine.as_slice() {
            [] => String::new(),
            _ if !self.names_objects() => "home".into(),
            names => format!("home of {}", names.join(", ")),
        }
    }

    /// An event with its object, where that must be said.
    pub fn event_text(&self, moment: &Moment) -> String {
        self.about(&moment.event, &moment.object)
    }

    /// A message with its object, where that must be said.
    pub fn arrow_text(&self, arrow: &Arrow) -> String {
        self.about(&arrow.label, &arrow.object)
    }

    /// A record that changed besides, afterwards: `home.Pending`, with its object where that is not the event's.
    pub fn change_text(&self, change: &RecordChange) -> String {
        let state = format!("{}.{}", change.role, change.after);
        if self.names_objects() && !change.object.is_empty() { format!("{}: {state}", change.object) } else { state }
    }

    fn about(&self, what: &str, object: &str) -> String {
        if self.names_objects() && !object.is_empty() { format!("{what} · {object}") } else { what.to_string() }
    }
}

impl Moment {
    /// Whether the record of the role that handles the event, or its access, is another afterwards.
    pub fn changes(&self) -> bool {
        self.before != self.after || self.access_before != self.access_after
    }

    /// Whether that record is shown: where it has changed, and where something goes wrong.
    pub fn shows_state(&self) -> bool {
        (self.changes() || self.decisive) && !self.after.is_empty()
    }
}
