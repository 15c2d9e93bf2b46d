//! What handlers did before. A handler that meets the same event, with the same records and contents on its node, does
//! the same again: so it is remembered, and need not run. States are many, but those of one node are few. The brute force
//! remembers nothing.
//!
//! Not remembered is a handler that looks at anything else, or changes it ([`Effects::looks_farther`]), and one that ends in
//! a fault.
//!
//! [`Effects::looks_farther`]: crate::step::mechanisms::Effects::looks_farther

use crate::step::mechanisms::{Effects, Here};
use crate::system::layout::GROUP;
use crate::system::model::Model;
use crate::system::world::{Flight, Queued, World};
use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::ops::Range;
use trivium_engine::number::index;
use trivium_engine::{Node, Object, Outcome, Payload, Thread};
use trivium_protocol::{EventKind, RoleId};

/// Bytes of memory for what is remembered, about: a newer handler takes the place of an older.
const MOST_BYTES: usize = 4 << 20;

/// Words that say which event of which node it is.
const NAME: usize = 2;

/// Which event it is that a node meets, in few words. Two that have the same name on the same node, with the same records, are
/// the same event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name {
    kind: u64,
    which: u64,
}

impl Name {
    /// A message that arrives, if it is written in few bytes.
    #[inline]
    pub fn of_message(flight: &Flight) -> Option<Name> {
        let (which, len) = flight.written.word()?;
        Some(Name { kind: u64::from(len) << 8, which })
    }

    /// What a thread raises.
    #[inline]
    pub fn of_raised(thread: usize, intent: usize) -> Name {
        Name { kind: 1, which: (thread as u64) << 32 | intent as u64 }
    }

    /// The deferred event of a record that is due: which it is, the record says.
    #[inline]
    pub fn of_replay(role: RoleId, object: Object) -> Name {
        Name { kind: 2 | u64::from(role.0) << 8, which: u64::from(object.kind.0) << 32 | u64::from(object.id) }
    }

    /// That the time of a record's timer has passed.
    pub fn of_timer(role: RoleId, object: Object) -> Name {
        Name { kind: 3 | u64::from(role.0) << 8, ..Name::of_replay(role, object) }
    }

    /// A task that runs, if it has no argument, or one that is small.
    pub fn of_task(queued: &Queued) -> Option<Name> {
        let argument = match queued.args.words() {
            [] => 0,
            [word] => u64::from(u16::try_from(word.checked_add(2)?).ok()?),
            _ => return None,
        };
        let kind = 5 | u64::from(queued.task.0) << 8;
        Some(Name { kind, which: argument << 32 | u64::from(queued.object.id) })
    }

    /// That a line has left a processor's cache, with its contents if they were written back.
    pub fn of_leaving(object: Object, written_back: Option<Payload>) -> Name {
        Name {
            kind: 6 | u64::from(written_back.is_some()) << 8 | u64::from(object.kind.0) << 16,
            which: u64::from(object.id) << 32 | u64::from(written_back.map_or(0, |payload| payload.0)),
        }
    }

    /// That a processor hints that it may use a block.
    pub fn of_prefetch(block: u32, kind: EventKind) -> Name {
        Name { kind: 7 | u64::from(kind == EventKind::PrefetchWrite) << 8, which: u64::from(block) }
    }

    /// It and its node as words.
    #[inline]
    fn words(self, node: Node) -> [u64; NAME] {
        [self.kind << 16 | u64::from(node), self.which]
    }

    /// That a node wants to be rid of its copy of a block.
    pub fn of_eviction(block: u32) -> Name {
        Name { kind: 4, which: u64::from(block) }
    }
}

/// Bytes of a state that belong to a node: some of those of one group.
#[derive(Clone, Copy)]
struct Part {
    /// Which group.
    group: usize,
    /// Which of its bytes, as a mask.
    mask: u64,
}

impl Part {
    /// The records and the contents of a node.
    fn of(model: &Model, node: Node) -> Vec<Part> {
        let bytes = model.layout.records(node).chain(model.layout.contents(node));
        let mut parts: Vec<Part> = Vec::new();
        for byte in bytes {
            let (group, mask) = (byte / GROUP, 0xff << (8 * (byte % GROUP)));
            match parts.last_mut() {
                Some(part) if part.group == group => part.mask |= mask,
                _ => parts.push(Part { group, mask }),
            }
        }
        parts
    }

    /// What it is in a state; its other bytes are 0.
    #[inline]
    fn read(self, groups: &[[u8; GROUP]]) -> u64 {
        u64::from_le_bytes(groups[self.group]) & self.mask
    }

    #[inline]
    fn write(self, groups: &mut [[u8; GROUP]], part: u64) {
        let group = &mut groups[self.group];
        *group = (u64::from_le_bytes(*group) & !self.mask | part).to_le_bytes();
    }
}

/// What a handler did besides changing the parts of its node.
struct Remembered {
    node: Node,
    outcome: Outcome,
    sends: Vec<Flight>,
    resumed: Vec<Object>,
    answers: Vec<(Thread, i64)>,
}

impl Remembered {
    /// What a handler did that did nothing.
    fn nothing(node: Node, outcome: Outcome) -> Remembered {
        Remembered { node, outcome, sends: Vec::new(), resumed: Vec::new(), answers: Vec::new() }
    }
}

/// The handlers that are remembered.
pub(crate) struct Memory {
    /// The parts of each node.
    parts: Vec<Vec<Part>>,
    /// How many parts a node has, at most.
    most: usize,
    /// For each place a row of words: which event it is and of which node, the parts of the node before, and those afterwards. They lie
    /// together, as a search looks at one after the other in no order. Where nothing is remembered they are 0, which no event is.
    rows: Vec<u64>,
    deeds: Vec<Option<Box<Remembered>>>,
    /// The place of the event that was looked for last, and what its node was then.
    place: usize,
    before: Vec<u64>,
}

impl Memory {
    pub fn new(model: &Model) -> Memory {
        let parts: Vec<Vec<Part>> = model.all_nodes().map(|node| Part::of(model, node)).collect();
        let most = parts.iter().map(Vec::len).max().unwrap_or(0);
        let width = NAME + 2 * most;
        let count = (MOST_BYTES / (size_of::<Remembered>() + size_of::<u64>() * width)).max(1);
        let deeds = (0..count).map(|_| None).collect();
        Memory { parts, most, rows: vec![0; count * width], deeds, place: 0, before: Vec::new() }
    }

    /// Where the row of the present place is.
    #[inline]
    fn row(&self) -> Range<usize> {
        let width = NAME + 2 * self.most;
        self.place * width..(self.place + 1) * width
    }

    /// Whether it is remembered what a node did at an event as it is. Else the handler is about to run.
    #[inline]
    pub fn finds(&mut self, node: Node, name: Name, world: &World) -> bool {
        let parts = &self.parts[usize::from(node)][..];
        let (groups, _) = world.fixed.as_chunks::<GROUP>();
        self.place = index(hash_of(parts, groups, node, name) % self.deeds.len() as u64);
        let row = &self.rows[self.row()];
        let is_known = row[..NAME] == name.words(node)
            && parts.iter().zip(&row[NAME..]).all(|(part, before)| part.read(groups) == *before);
        if !is_known {
            self.before.clear();
            self.before.extend(parts.iter().map(|part| part.read(groups)));
        }
        is_known
    }

    /// Does what the handler did that was found last.
    #[inline]
    pub fn redo(&self, here: &mut Here) -> Option<Outcome> {
        let deed = self.deeds[self.place].as_ref()?;
        let (groups, _) = here.world.fixed.as_chunks_mut::<GROUP>();
        let parts = &self.parts[usize::from(deed.node)];
        let after = &self.rows[self.row()][NAME + self.most..];
        parts.iter().zip(after).for_each(|(part, after)| part.write(groups, *after));
        here.effects.resumed.extend_from_slice(&deed.resumed);
        here.effects.answers.extend_from_slice(&deed.answers);
        deed.sends.iter().for_each(|flight| here.post(*flight));
        Some(deed.outcome)
    }

    /// Remembers the handler that was not found, and has run to its end.
    pub fn keep(&mut self, node: Node, name: Name, effects: &Effects, world: &World, outcome: Outcome) {
        if effects.looks_farther || effects.trouble.is_some() {
            return;
        }
        let row = self.row();
        let row = &mut self.rows[row];
        let (groups, _) = world.fixed.as_chunks::<GROUP>();
        row[..NAME].copy_from_slice(&name.words(node));
        row[NAME..][..self.before.len()].copy_from_slice(&self.before);
        let after = row[NAME + self.most..].iter_mut().zip(&self.parts[usize::from(node)]);
        after.for_each(|(after, part)| *after = part.read(groups));
        // The space of what was remembered there before is used again.
        let deed = self.deeds[self.place].get_or_insert_with(|| Box::new(Remembered::nothing(node, outcome)));
        (deed.node, deed.outcome) = (node, outcome);
        deed.sends.clone_from(&effects.sends);
        deed.resumed.clone_from(&effects.resumed);
        deed.answers.clone_from(&effects.answers);
    }
}

/// A hash of all that a handler sees.
#[inline]
fn hash_of(parts: &[Part], groups: &[[u8; GROUP]], node: Node, name: Name) -> u64 {
    let mut hasher = FxHasher::default();
    parts.iter().for_each(|part| hasher.write_u64(part.read(groups)));
    let [kind, which] = name.words(node);
    hasher.write_u64(which);
    hasher.write_u64(kind);
    hasher.finish()
}
