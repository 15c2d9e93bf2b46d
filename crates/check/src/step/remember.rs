//! What handlers did before. A handler that meets the same event, with the same records and contents on its node, does
//! the same again: so it is remembered, and need not run. States are many, but those of one node are few. The brute force
//! remembers nothing.
//!
//! Not remembered is a handler that looks at anything else, or changes it ([`Effects::looks_farther`]), and one that ends in
//! a fault.
//!
//! [`Effects::looks_farther`]: crate::step::mechanisms::Effects::looks_farther

use crate::step::mechanisms::{Effects, Here};
use crate::system::model::Model;
use crate::system::world::World;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use trivium_engine::number::index;
use trivium_engine::{Event, Mechanisms, Node, Object, Outcome, Outgoing, Thread};
use trivium_protocol::RoleId;

/// Bytes of memory for what is remembered, about: a newer handler takes the place of an older.
const MOST_BYTES: usize = 4 << 20;

/// An event that a role of a node meets in a state.
pub(crate) struct Meeting<'e> {
    pub node: Node,
    pub role: RoleId,
    /// Whether the event was deferred, and is tried again.
    pub is_replay: bool,
    pub event: &'e Event,
}

/// What a handler did.
struct Deed {
    node: Node,
    role: RoleId,
    is_replay: bool,
    event: Event,
    before: NodeBytes,
    after: NodeBytes,
    /// Whether `after` differs from `before`.
    changes_records: bool,
    changes_contents: bool,
    outcome: Outcome,
    sends: Vec<(Node, Outgoing)>,
    resumed: Vec<Object>,
    answers: Vec<(Thread, i64)>,
}

impl Deed {
    /// What a handler did that did nothing.
    fn nothing(meeting: &Meeting, outcome: Outcome) -> Deed {
        Deed {
            node: meeting.node,
            role: meeting.role,
            is_replay: meeting.is_replay,
            event: *meeting.event,
            before: NodeBytes::default(),
            after: NodeBytes::default(),
            changes_records: false,
            changes_contents: false,
            outcome,
            sends: Vec::new(),
            resumed: Vec::new(),
            answers: Vec::new(),
        }
    }
}

/// The records and the contents of a node.
#[derive(Default)]
struct NodeBytes {
    records: Vec<u8>,
    contents: Vec<u8>,
}

/// Where these lie in a state.
fn places(model: &Model, node: Node) -> [Range<usize>; 2] {
    [model.layout.records(node), model.layout.contents(node)]
}

impl NodeBytes {
    fn copy(&mut self, model: &Model, world: &World, node: Node) {
        let [records, contents] = places(model, node);
        self.records.clear();
        self.records.extend_from_slice(&world.fixed[records]);
        self.contents.clear();
        self.contents.extend_from_slice(&world.fixed[contents]);
    }

    fn are_in(&self, model: &Model, world: &World, node: Node) -> bool {
        let [records, contents] = places(model, node);
        self.records == world.fixed[records] && self.contents == world.fixed[contents]
    }
}

/// The handlers that are remembered.
pub(crate) struct Memory {
    deeds: Vec<Option<Box<Deed>>>,
    /// What the handler that is running began with, and its place.
    before: NodeBytes,
    place: usize,
}

impl Memory {
    pub fn new(model: &Model) -> Memory {
        let bytes_of = |node| places(model, node).iter().map(|at| at.len()).sum::<usize>();
        let each = size_of::<Deed>() + 2 * model.all_nodes().map(bytes_of).max().unwrap_or(0);
        let count = (MOST_BYTES / each).max(1);
        Memory { deeds: (0..count).map(|_| None).collect(), before: NodeBytes::default(), place: 0 }
    }

    /// Does what a handler did, if it is remembered. Else it is about to run.
    pub fn recall(&mut self, meeting: &Meeting, here: &mut Here) -> Option<Outcome> {
        let (model, node) = (here.model, meeting.node);
        self.place = index(hash_of(model, here.world, meeting) % self.deeds.len() as u64);
        let deed = self.deeds[self.place].as_ref().filter(|deed| {
            (deed.node, deed.role, deed.is_replay) == (node, meeting.role, meeting.is_replay)
                && are_same(&deed.event, meeting.event)
                && deed.before.are_in(model, here.world, node)
        });
        let Some(deed) = deed else {
            self.before.copy(model, here.world, node);
            return None;
        };
        let [records, contents] = places(model, node);
        if deed.changes_records {
            here.world.fixed[records].copy_from_slice(&deed.after.records);
        }
        if deed.changes_contents {
            here.world.fixed[contents].copy_from_slice(&deed.after.contents);
        }
        deed.resumed.iter().for_each(|object| here.effects.resumed.push(*object));
        deed.answers.iter().for_each(|answer| here.effects.answers.push(*answer));
        deed.sends.iter().for_each(|(to, message)| here.send(*to, message));
        Some(deed.outcome)
    }

    /// Remembers the handler that has run to its end.
    pub fn keep(&mut self, meeting: &Meeting, model: &Model, effects: &Effects, world: &World, outcome: Outcome) {
        if effects.looks_farther || effects.trouble.is_some() {
            return;
        }
        let &Meeting { node, role, is_replay, event } = meeting;
        let deed = self.deeds[self.place].get_or_insert_with(|| Box::new(Deed::nothing(meeting, outcome)));
        (deed.node, deed.role, deed.is_replay) = (node, role, is_replay);
        (deed.event, deed.outcome) = (*event, outcome);
        // The space of what was remembered there before is used again.
        std::mem::swap(&mut deed.before, &mut self.before);
        deed.after.copy(model, world, node);
        deed.changes_records = deed.before.records != deed.after.records;
        deed.changes_contents = deed.before.contents != deed.after.contents;
        deed.sends.clone_from(&effects.sends);
        deed.resumed.clone_from(&effects.resumed);
        deed.answers.clone_from(&effects.answers);
    }
}

/// Whether two events are the same. Of arguments only those that there are need be looked at.
#[inline]
fn are_same(one: &Event, other: &Event) -> bool {
    let rest = |event: &Event| (event.kind, event.object, event.sender, event.thread, event.payload);
    let (words, others) = (one.args.words(), other.args.words());
    rest(one) == rest(other) && words.len() == others.len() && (words.is_empty() || words == others)
}

/// A hash of all that a handler sees.
fn hash_of(model: &Model, world: &World, meeting: &Meeting) -> u64 {
    let Event { kind, object, sender, thread, args, payload } = meeting.event;
    let mut hasher = FxHasher::default();
    for bytes in places(model, meeting.node).map(|at| &world.fixed[at]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| hasher.write_u64(u64::from_le_bytes(*word)));
        hasher.write_u64(rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)));
    }
    args.words().iter().for_each(|&word| hasher.write_i64(word));
    let who = u64::from(meeting.node) << 32 | u64::from(*sender) << 16 | u64::from(meeting.role.0);
    hasher.write_u64(who << 1 | u64::from(meeting.is_replay));
    hasher.write_u64(u64::from(object.id) << 32 | u64::from(payload.map_or(0, |payload| payload.0)));
    (kind, thread).hash(&mut hasher);
    hasher.finish()
}
