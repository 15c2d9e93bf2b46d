//! What a state says of each node without naming others: its signature (`symmetry`).
//!
//! A signature is a sum: of what records, threads, contents and messages tell. A step changes few of them. So the signatures of the state
//! that the step leads from are kept, and of each part that has changed what it told is taken away, and what it tells now is added.

use super::memo::Memo;
use super::names::RecordAt;
use super::pack::halves;
use super::values::ValueNames;
use crate::system::layout::GROUP;
use crate::system::model::Model;
use crate::system::world::{Flight, World};
use std::ops::Range;
use trivium_engine::number::fit;
use trivium_engine::{Node, Object};
use trivium_protocol::{BLOCK, RoleId};

/// Signs the nodes of classes.
pub(super) struct Signing<'m> {
    model: &'m Model,
    /// For each node, whether it belongs to a class.
    renamed: Vec<bool>,
    /// Records, each with what is told of its place: the same for all nodes of a class.
    records: Vec<RecordPlace>,
    /// For each role, the bytes that name no node.
    nameless: Vec<Vec<Range<usize>>>,
    /// What lies in the fixed part.
    parts: Vec<Teller>,
    /// For each group of bytes of the fixed part, which parts have some of them, and which ones, as a mask.
    parts_of: Vec<Vec<(u32, u64)>>,
    /// For each part, the last round in which it was looked at.
    rounds: Vec<u64>,
    round: u64,
    /// The signatures of the state that steps lead from.
    before: Vec<u64>,
}

struct RecordPlace {
    record: RecordAt,
    place: u64,
    /// For each of the record's own node and of those that it names, what it tells of it.
    told_of: Memo<Vec<(Node, u64)>>,
}

/// A part of what has a fixed size that tells something.
#[derive(Clone)]
struct Teller {
    tells: Tells,
    at: Range<usize>,
}

#[derive(Clone, Copy)]
enum Tells {
    Record(usize),
    Thread(usize),
    Contents(Node),
}

/// Mixes a number into a signature's part.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    let [low, high] = halves(product);
    low ^ high
}

impl RecordAt {
    /// What a record tells of nodes without naming any: of its own, where that is renamed, by its nameless bytes.
    fn tell(
        &self,
        model: &Model,
        place: u64,
        (is_renamed, nameless): (bool, &[Range<usize>]),
        bytes: &[u8],
        told_of: &mut Vec<(Node, u64)>,
    ) {
        told_of.clear();
        if is_renamed {
            let mut told = place;
            for range in nameless {
                bytes[range.clone()].iter().for_each(|&byte| told = mix(told, u64::from(byte)));
            }
            told_of.push((self.node, told));
        }
        if self.names_nodes {
            model.engine.named_nodes(self.role, bytes, |named, node| {
                let itself = u64::from(node == self.node) << 32;
                told_of.push((node, mix(place, itself | u64::from(named))));
            });
        }
    }
}

/// Whether something that is told is added to a signature, or taken away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Take,
}

impl Change {
    #[inline]
    fn apply(self, signature: &mut u64, told: u64) {
        *signature = match self {
            Change::Add => signature.wrapping_add(told),
            Change::Take => signature.wrapping_sub(told),
        }
    }
}

impl<'m> Signing<'m> {
    pub fn new(model: &'m Model, classes: &[Vec<Node>]) -> Signing<'m> {
        let mut renamed = vec![false; model.nodes as usize];
        classes.iter().flatten().for_each(|node| renamed[usize::from(*node)] = true);
        let place = |node: Node, role: RoleId, object: Object| {
            let who = if renamed[usize::from(node)] { u64::MAX } else { u64::from(node) };
            mix(mix(who, u64::from(role.0)), u64::from(object.id))
        };
        let records: Vec<RecordPlace> = RecordAt::all(model)
            .map(|record| RecordPlace {
                place: place(record.node, record.role, record.object),
                record,
                told_of: Memo::new(),
            })
            .collect();
        let roles = model.protocol().roles.len();
        let parts = parts(model, classes, &records);
        let mut parts_of = vec![Vec::new(); model.layout.len / GROUP];
        for (number, part) in parts.iter().enumerate() {
            let number: u32 = fit(number, "a part of a state, of which the length has a limit");
            for byte in part.at.clone() {
                let there: &mut Vec<(u32, u64)> = &mut parts_of[byte / GROUP];
                let mask = 0xff << (8 * (byte % GROUP));
                match there.last_mut() {
                    Some((last, others)) if *last == number => *others |= mask,
                    _ => there.push((number, mask)),
                }
            }
        }
        Signing {
            model,
            records,
            nameless: (0..roles).map(|role| model.engine.nameless_bytes(RoleId::at(role))).collect(),
            rounds: vec![0; parts.len()],
            round: 0,
            parts_of,
            parts,
            before: vec![0; model.nodes as usize],
            renamed,
        }
    }

    /// Signs a state.
    pub fn sign(&mut self, world: &World, values: Option<&ValueNames>, signatures: &mut Vec<u64>) {
        signatures.clear();
        signatures.resize(self.renamed.len(), 0);
        for number in 0..self.parts.len() {
            self.tell(number, world, values, Change::Add, signatures);
        }
        self.tell_flights(&world.flights, Change::Add, signatures);
    }

    /// From now on steps lead from this state.
    pub fn set_out(&mut self, from: &World, values: Option<&ValueNames>) {
        let mut before = std::mem::take(&mut self.before);
        self.sign(from, values, &mut before);
        self.before = before;
    }

    /// Signs a state to which a step leads from the one that was given last to [`Signing::set_out`].
    pub fn sign_next(&mut self, from: &World, world: &World, values: Option<&ValueNames>, signatures: &mut Vec<u64>) {
        signatures.clone_from(&self.before);
        self.round += 1;
        // Whether contents are what the last store has left, all of them tell.
        let is_stored = values.is_some() && self.last_differs(from, world);
        let (old, _) = from.fixed.as_chunks::<GROUP>();
        let (new, _) = world.fixed.as_chunks::<GROUP>();
        for (group, (old, new)) in old.iter().zip(new).enumerate() {
            let change = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new);
            if change == 0 {
                continue;
            }
            for at in 0..self.parts_of[group].len() {
                let (number, mask) = self.parts_of[group][at];
                let number = number as usize;
                if change & mask == 0 || self.rounds[number] == self.round {
                    continue;
                }
                self.rounds[number] = self.round;
                if !(is_stored && matches!(self.parts[number].tells, Tells::Contents(_))) {
                    self.tell(number, from, values, Change::Take, signatures);
                    self.tell(number, world, values, Change::Add, signatures);
                }
            }
        }
        if is_stored {
            let is_contents = |part: &Teller| matches!(part.tells, Tells::Contents(_));
            for number in (0..self.parts.len()).rev() {
                if !is_contents(&self.parts[number]) {
                    break;
                }
                self.tell(number, from, values, Change::Take, signatures);
                self.tell(number, world, values, Change::Add, signatures);
            }
        }
        self.change_flights(&from.flights, &world.flights, signatures);
    }

    /// Whether the last store to some block has left another value.
    fn last_differs(&self, from: &World, world: &World) -> bool {
        let last = |block| self.model.layout.last(block);
        (0..self.model.objects[BLOCK.index()]).filter_map(last).any(|at| from.fixed[at.clone()] != world.fixed[at])
    }

    /// Takes away what messages told that are no longer there, and adds what those tell that have come. Those before and behind them are the same.
    fn change_flights(&self, old: &[Flight], new: &[Flight], signatures: &mut [u64]) {
        // Messages that are written alike tell the same.
        let is_same = |(a, b): &(&Flight, &Flight)| a.written.word().is_some() && a.written.word() == b.written.word();
        let before = old.iter().zip(new).take_while(is_same).count();
        let (old, new) = (&old[before..], &new[before..]);
        let behind = old.iter().rev().zip(new.iter().rev()).take_while(is_same).count();
        self.tell_flights(&old[..old.len() - behind], Change::Take, signatures);
        self.tell_flights(&new[..new.len() - behind], Change::Add, signatures);
    }

    /// What a part of the fixed part tells.
    #[inline]
    fn tell(
        &mut self,
        number: usize,
        world: &World,
        values: Option<&ValueNames>,
        change: Change,
        signatures: &mut [u64],
    ) {
        let model = self.model;
        let Teller { tells, at } = &self.parts[number];
        match *tells {
            Tells::Record(record) => {
                let RecordPlace { record, place, told_of } = &mut self.records[record];
                let bytes = &world.fixed[at.clone()];
                let by = (self.renamed[usize::from(record.node)], &self.nameless[record.role.index()][..]);
                for &(node, told) in told_of.of(bytes, |told_of| record.tell(model, *place, by, bytes, told_of)) {
                    change.apply(&mut signatures[usize::from(node)], told);
                }
            }
            Tells::Thread(thread) => {
                let place = model.client.threads[thread];
                let (phase, _) = world.thread(&model.layout, thread);
                let told = mix(u64::from(place.number), phase as u64);
                change.apply(&mut signatures[usize::from(place.node)], told);
            }
            Tells::Contents(node) => {
                let told = match values {
                    Some(values) => values.tell(world, node).fold(7, mix),
                    None => world.fixed[at.clone()].iter().fold(7, |told, &byte| mix(told, u64::from(byte))),
                };
                change.apply(&mut signatures[usize::from(node)], told);
            }
        }
    }

    /// What messages tell.
    fn tell_flights(&self, flights: &[Flight], change: Change, signatures: &mut [u64]) {
        let who = |node: Node| if self.renamed[usize::from(node)] { u64::MAX } else { u64::from(node) };
        for flight in flights {
            let told = mix(u64::from(flight.message.0), u64::from(flight.object.id));
            let (to, from) = (mix(told, who(flight.from)), mix(!told, who(flight.to)));
            change.apply(&mut signatures[usize::from(flight.to)], to);
            change.apply(&mut signatures[usize::from(flight.from)], from);
        }
    }
}

/// All that tells something in the fixed part: records, threads, and behind these contents.
fn parts(model: &Model, classes: &[Vec<Node>], records: &[RecordPlace]) -> Vec<Teller> {
    let records = records.iter().map(|place| place.record.at.clone()).enumerate();
    let records = records.map(|(number, at)| Teller { tells: Tells::Record(number), at });
    let threads = 0..model.client.threads.len();
    let threads = threads.map(|thread| Teller { tells: Tells::Thread(thread), at: model.layout.thread(thread) });
    let nodes = classes.iter().flatten();
    let contents = nodes.map(|&node| Teller { tells: Tells::Contents(node), at: model.layout.contents(node) });
    records.chain(threads).chain(contents).collect()
}
