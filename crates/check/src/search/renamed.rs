//! A state under other names of nodes, as it is written.
//!
//! Of a renamed state nothing is wanted but its bytes. So the whole state is not made: its fixed part is, by moving the bytes of each
//! node that changes its name, and each message is kept as it is written, where a new name changes nothing but the header.
//!
//! That goes where all messages are short, and where new names do not bring messages of one channel out
//! of order. All other states are renamed whole (`names`). Both ways give the same bytes.

use super::memo::Memo;
use super::names::{Names, RecordAt, keeps_intents, names_more, rename_told, sources};
use super::pack::{Packed, pack_short};
use super::values::ValueNames;
use crate::system::codec::Written;
use crate::system::model::Model;
use crate::system::world::{Flight, Queued, World};
use std::ops::Range;
use trivium_engine::Node;
use trivium_engine::number::{fit, low_u16};
use trivium_protocol::{EventKind, MessageId};

/// The state under other names.
pub(super) struct Renamed<'m> {
    model: &'m Model,
    /// For each node of a class, the bytes of the fixed part that move with its name. Those of all nodes of a class have the same lengths.
    bytes_of: Vec<Vec<Range<usize>>>,
    /// The records that name nodes.
    naming: Vec<Naming>,
    /// For each message, whether its arguments have places for nodes.
    args_name: Vec<bool>,
    /// For each node, whether two such can be compared byte by byte: what moves with them names no nodes.
    is_plain: Vec<bool>,
    /// The fixed part; no messages.
    fixed: World,
    /// The software queues as they are written.
    queues: Vec<u8>,
    /// The messages, in order.
    moving: Vec<Moving>,
    /// Whether contents tell the order of messages of a channel.
    contents_tell: bool,
    record: Vec<u8>,
}

/// A record that names nodes.
struct Naming {
    record: RecordAt,
    /// Which nodes it names: see [`bit`].
    named: Memo<u64>,
}

/// What stands for a node in a set of nodes. Of more than 64 nodes some have the same bit: so the set may seem to have more than it has.
fn bit(node: Node) -> u64 {
    1 << (node % 64)
}

impl Naming {
    /// Whether new names of these nodes may change it.
    fn names_some(&mut self, model: &Model, nodes: u64, world: &World) -> bool {
        let (role, bytes) = (self.record.role, &world.fixed[self.record.at.clone()]);
        let named = self.named.of(bytes, |named| {
            *named = 0;
            model.engine.named_nodes(role, bytes, |_, node| *named |= bit(node));
        });
        named & nodes != 0
    }
}

/// A message under other names.
#[derive(Clone, Copy)]
struct Moving {
    /// Its channel, of which each part has 16 bits, and behind that its place in the state.
    key: u64,
    written: Written,
}

impl Moving {
    /// Its place in the state.
    fn at(self) -> usize {
        usize::from(low_u16(self.key))
    }

    fn channel(self) -> u64 {
        self.key >> u16::BITS
    }
}

/// Whether no software queue has anything in it.
fn is_idle(world: &World) -> bool {
    world.queues.iter().all(Vec::is_empty)
}

/// The bytes that move with the name of each node of these classes.
fn bytes_of(model: &Model, classes: &[Vec<Node>]) -> Vec<Vec<Range<usize>>> {
    let records: Vec<RecordAt> = RecordAt::all(model).collect();
    let mut bytes_of = vec![Vec::new(); model.nodes as usize];
    for class in classes {
        // Where two nodes change places, each byte of one moves to where the same of the other was. What is kept of nodes lies in
        // ascending order of them, so that the first one's comes first.
        let mut bytes: Vec<Vec<usize>> = vec![Vec::new(); class.len()];
        for (place, other) in class.iter().enumerate().skip(1) {
            let mut nodes: Vec<Node> = model.all_nodes().collect();
            nodes.swap(usize::from(class[0]), usize::from(*other));
            let sources = sources(model, records.iter(), &Names::of_nodes(model, nodes));
            let moved = sources.iter().map(|source| *source as usize).enumerate().filter(|(to, from)| to < from);
            (bytes[0], bytes[place]) = moved.unzip();
        }
        let mut together = vec![Vec::new(); class.len()];
        let mut from = 0;
        let count = bytes[0].len();
        while from < count {
            let goes_on = |to: usize| bytes.iter().all(|bytes| bytes[to] == bytes[to - 1] + 1);
            let to = (from + 1..count).find(|&to| !goes_on(to)).unwrap_or(count);
            together.iter_mut().zip(&bytes).for_each(|(all, bytes)| all.push(bytes[from]..bytes[to - 1] + 1));
            from = to;
        }
        class.iter().zip(together).for_each(|(node, ranges)| bytes_of[usize::from(*node)] = ranges);
    }
    bytes_of
}

impl<'m> Renamed<'m> {
    pub fn new(model: &'m Model, classes: &[Vec<Node>]) -> Renamed<'m> {
        let messages = 0..fit::<_, u16>(model.protocol().messages.len(), "the number of messages");
        let naming = RecordAt::all(model).filter(|record| record.names_nodes);
        let naming: Vec<Naming> = naming.map(|record| Naming { record, named: Memo::new() }).collect();
        let has_more = names_more(model) || !keeps_intents(model);
        let names_own = |node: Node| naming.iter().any(|naming| naming.record.node == node);
        Renamed {
            model,
            bytes_of: bytes_of(model, classes),
            args_name: messages.map(|id| model.engine.args_name_nodes(EventKind::Message(MessageId(id)))).collect(),
            is_plain: model.all_nodes().map(|node| !has_more && !names_own(node)).collect(),
            naming,
            fixed: World::default(),
            queues: Vec::new(),
            moving: Vec::new(),
            contents_tell: false,
            record: Vec::new(),
        }
    }

    /// Whether the messages of a state can be renamed as they are written.
    pub fn suits(world: &World) -> bool {
        world.flights.len() <= usize::from(u16::MAX)
            && world.flights.iter().all(|flight| flight.written.word().is_some())
    }

    /// Becomes a state under other names, none if they are its own: whether that could be done.
    pub fn make(&mut self, names: Option<&Names>, world: &World) -> bool {
        self.fixed.fixed.clone_from(&world.fixed);
        if let Some(names) = names {
            self.rename_fixed(names, world);
        }
        self.make_queues(names, world);
        self.make_moving(names, world) && self.is_in_order(names.is_some(), world)
    }

    /// Gives new names to what has a fixed size, which is there already under the old ones.
    fn rename_fixed(&mut self, names: &Names, world: &World) {
        let mut moved = 0;
        for (node, &name) in self.model.all_nodes().zip(&names.nodes).filter(|(node, name)| node != *name) {
            moved |= bit(node);
            for (from, to) in self.bytes_of[usize::from(node)].iter().zip(&self.bytes_of[usize::from(name)]) {
                self.fixed.fixed[to.clone()].copy_from_slice(&world.fixed[from.clone()]);
            }
        }
        for naming in &mut self.naming {
            if naming.names_some(self.model, moved, &self.fixed) {
                let RecordAt { role, at, .. } = &naming.record;
                self.model.engine.rename_record(*role, &mut self.fixed.fixed[at.clone()], &names.nodes);
            }
        }
        rename_told(self.model, names, &mut self.fixed);
    }

    /// Makes the software queues.
    fn make_queues(&mut self, names: Option<&Names>, world: &World) {
        self.queues.clear();
        if is_idle(world) {
            // The length of each.
            self.queues.resize(world.queues.len(), 0);
            return;
        }
        let (model, queues) = (self.model, &mut self.queues);
        let Some(names) = names else {
            return world.queues.iter().for_each(|queue| model.codec.encode_queue(queue.iter().copied(), queues));
        };
        for name in model.all_nodes() {
            let node = names.nodes.iter().position(|new| *new == name).expect("each name is given once");
            let renamed = world.queues[node].iter().map(|queued| Queued {
                args: model.engine.rename_args(EventKind::Task(queued.task), &queued.args, &names.nodes),
                ..*queued
            });
            model.codec.encode_queue(renamed, queues);
        }
    }

    /// Makes the messages: whether all are short.
    fn make_moving(&mut self, names: Option<&Names>, world: &World) -> bool {
        self.moving.clear();
        for (at, flight) in (0u16..).zip(&world.flights) {
            let (mut to, mut from, mut written) = (flight.to, flight.from, flight.written);
            if let Some(names) = names {
                (to, from) = (names.nodes[usize::from(to)], names.nodes[usize::from(from)]);
                written = self.written(flight, &names.nodes);
            }
            if written.word().is_none() {
                return false;
            }
            let channel = u64::from(to) << 32 | u64::from(from) << 16 | u64::from(flight.lane.0);
            self.moving.push(Moving { key: channel << u16::BITS | u64::from(at), written });
        }
        if names.is_some() {
            self.moving.sort_unstable_by_key(|moving| moving.key);
        }
        true
    }

    /// A message as it is written under other names.
    fn written(&self, flight: &Flight, to: &[Node]) -> Written {
        let codec = &self.model.codec;
        let [receiver, sender] = [flight.to, flight.from].map(|node| to[usize::from(node)]);
        if !self.args_name[flight.message.index()] {
            return codec.readdressed(flight, receiver, sender);
        }
        let args = self.model.engine.rename_args(EventKind::Message(flight.message), &flight.args, to);
        codec.sealed(Flight { to: receiver, from: sender, args, ..*flight }).written
    }

    /// Whether messages are in order that have no order of sending: then they are sorted by what they say. Names of nodes in them are
    /// not looked at here, and what they contain is only when that gets other names.
    fn is_in_order(&mut self, is_renamed: bool, world: &World) -> bool {
        self.contents_tell = false;
        for pair in self.moving.windows(2) {
            if pair[0].channel() == pair[1].channel() {
                let flights = [&world.flights[pair[0].at()], &world.flights[pair[1].at()]];
                if self.model.lanes[flights[0].lane.index()].fifo {
                    continue;
                }
                if is_renamed && flights.iter().any(|flight| self.args_name[flight.message.index()]) {
                    return false;
                }
                self.contents_tell |= flights.iter().any(|flight| flight.payload.is_some());
            }
        }
        true
    }

    /// Whether it is the state itself, in which no software queue has anything in it.
    fn is(&self, world: &World) -> bool {
        self.fixed.fixed == world.fixed
            && self
                .moving
                .iter()
                .zip(&world.flights)
                .all(|(moving, flight)| moving.written.word() == flight.written.word())
    }

    /// Whether a state stays the same when two nodes change places, if that can be found out here.
    pub fn is_kept(&mut self, names: &Names, [one, other]: [Node; 2], world: &World) -> Option<bool> {
        if !is_idle(world) {
            return None;
        }
        let names_in_args = |flight: &Flight| self.args_name[flight.message.index()];
        if !self.is_plain[usize::from(one)] || world.flights.iter().any(names_in_args) {
            return self.make(Some(names), world).then(|| self.is(world));
        }
        let moved = bit(one) | bit(other);
        let [one, other] = [one, other].map(|node| &self.bytes_of[usize::from(node)]);
        let is_kept = one.iter().zip(other).all(|(one, other)| world.fixed[one.clone()] == world.fixed[other.clone()])
            && self.is_moving_kept(&names.nodes, world)
            && self.are_records_kept(names, moved, world);
        Some(is_kept)
    }

    /// Whether each record names the same nodes as before when names are exchanged. `moved`: which ones, each by its [`bit`].
    fn are_records_kept(&mut self, names: &Names, moved: u64, world: &World) -> bool {
        let (model, renamed) = (self.model, &mut self.record);
        self.naming.iter_mut().all(|naming| {
            if !naming.names_some(model, moved, world) {
                return true;
            }
            let bytes = &world.fixed[naming.record.at.clone()];
            renamed.clear();
            renamed.extend_from_slice(bytes);
            model.engine.rename_record(naming.record.role, renamed, &names.nodes);
            *renamed == bytes
        })
    }

    /// Whether there are the same messages as before when names are exchanged which messages do not say. Each of one channel becomes
    /// the one with the same place in another.
    fn is_moving_kept(&self, to: &[Node], world: &World) -> bool {
        let flights = &world.flights[..];
        flights.iter().enumerate().all(|(at, flight)| {
            let [receiver, sender] = [flight.to, flight.from].map(|node| to[usize::from(node)]);
            if (receiver, sender) == (flight.to, flight.from) {
                return true;
            }
            let first = |channel| flights.iter().position(|other| other.channel() == channel);
            let places = first(flight.channel()).zip(first((receiver, sender, flight.lane)));
            let same = places.and_then(|(own, there)| flights.get(there + at - own));
            same.is_some_and(|same| {
                same.written.word() == self.model.codec.readdressed(flight, receiver, sender).word()
            })
        })
    }

    /// Names the values, where there are names for them, and writes it: whether that could be done. `world`: the state whose image it is.
    pub fn pack(&mut self, values: Option<&mut ValueNames>, world: &World, out: &mut Packed) -> bool {
        if let Some(values) = values {
            let in_order = self.moving.iter().map(|moving| &world.flights[moving.at()]);
            if !values.give(&self.fixed, in_order, &world.flights) {
                return false;
            }
            if values.change() {
                if self.contents_tell {
                    return false;
                }
                values.rename_fixed(&mut self.fixed);
                for moving in &mut self.moving {
                    let flight = &world.flights[moving.at()];
                    if let Some(payload) = flight.payload {
                        let payload = values.payload(flight.object.id, payload);
                        moving.written = self.model.codec.with_payload(moving.written, flight, payload);
                    }
                }
            }
        }
        let moving = self.moving.iter().map(|moving| moving.written.word().unwrap_or_default());
        pack_short(&self.fixed.fixed, &self.queues, moving, out);
        true
    }
}
