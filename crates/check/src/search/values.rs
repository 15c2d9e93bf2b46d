//! States that differ only in the names of values are one state.
//!
//! Where nothing tells values apart (`system/values.rs`), a value is no more than what tells two contents to be the same or not. So the values of a
//! block are named in the order in which a state shows them: what the last store left is 0, the next other one that is met, copy after copy, is 1,
//! and so on. Two values then cost what one would, but for the states in which both are there.
//!
//! What has no order of its own (messages on an unordered lane, the set of what was stored in a phase) names nothing. Values that stand only
//! there are given the names that are left in every order, and the least bytes are kept.

use super::pack::{Packed, pack};
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::values::NameSpaces;
use crate::system::world::{Flight, ThreadState, World};
use std::ops::Range;
use trivium_engine::number::{fit, index};
use trivium_engine::{Object, Payload};
use trivium_protocol::{BLOCK, RoleId};

/// A value that has no name yet.
const UNNAMED: u8 = u8::MAX;

/// Gives values their names.
pub(crate) struct ValueNames<'m> {
    model: &'m Model,
    named: NameSpaces,
    values: usize,
    /// Where a state keeps values in places of their own: of which block, and where; in the order in which they give names.
    places: Vec<(u32, Range<usize>)>,
    /// Records whose deferred events may bring data.
    deferring: Vec<(RoleId, Object, Range<usize>)>,
    /// For each group of blocks with names of their own, the new name of each value.
    names: Vec<u8>,
    /// How many names are given in each.
    given: Vec<u8>,
    image: World,
    bytes: Packed,
}

impl<'m> ValueNames<'m> {
    pub fn new(model: &'m Model, named: NameSpaces) -> ValueNames<'m> {
        let layout = &model.layout;
        let blocks = model.objects[BLOCK.index()];
        let values = model.system.values as usize;
        let mut places = Vec::new();
        for block in 0..blocks {
            places.extend(layout.last(block).map(|at| (block, at)));
            places.extend(layout.phase(block).map(|(earlier, _)| (block, earlier)));
            for node in model.all_nodes() {
                places.push((block, layout.block(node, block)));
                let line = layout.line(node, Object { kind: BLOCK, id: block });
                places.extend(line.map(|(_, word)| (block, word)));
            }
        }
        let deferring = model
            .instances()
            .filter(|(_, role, _)| model.engine.defers_data(*role))
            .filter_map(|(node, role, object)| Some((role, object, layout.record(node, role, object.id)?)))
            .collect();
        let groups = if named == NameSpaces::Apart { blocks as usize } else { 1 };
        ValueNames {
            model,
            named,
            values,
            places,
            deferring,
            names: vec![UNNAMED; groups * values],
            given: vec![0; groups],
            image: World::default(),
            bytes: Packed::default(),
        }
    }

    /// What can be told of the contents of a node without naming values: whether each is what the last store has left.
    pub fn tell(&self, world: &World, node: trivium_engine::Node) -> impl Iterator<Item = u64> {
        let layout = &self.model.layout;
        (0..self.model.objects[BLOCK.index()]).flat_map(move |block| {
            let last = layout.last(block).map(|at| world.number(at));
            let told = move |word: u64| match word {
                word if word >= u64::from(self.model.system.values) => word,
                word => 1 << 32 | u64::from(Some(word) == last),
            };
            let line = layout.line(node, Object { kind: BLOCK, id: block });
            let line = line.map(|(state, word)| u64::from(world.fixed[state]) << 40 | told(world.number(word)));
            [told(world.number(layout.block(node, block)))].into_iter().chain(line)
        })
    }

    /// The packed bytes of a state with its values named.
    pub fn pack(&mut self, world: &World, out: &mut Packed) {
        self.name(world, world.flights.iter());
        out.clear();
        match self.name_all(world, &world.flights) {
            Some(group) => self.pack_in_every_order(world, group, out),
            None => self.pack_named(world, out),
        }
    }

    /// Gives values the names that they have in a form: whether there is but one way. `world`: has the fixed part alone; the messages
    /// are given in their order, and in any.
    pub fn give<'f>(&mut self, world: &World, in_order: impl Iterator<Item = &'f Flight>, flights: &[Flight]) -> bool {
        self.name(world, in_order);
        self.name_all(world, flights).is_none()
    }

    /// Names what stands in no order, where there is but one way; else the first group where there are several.
    fn name_all(&mut self, world: &World, flights: &[Flight]) -> Option<usize> {
        for group in 0..self.given.len() {
            let left = self.values - usize::from(self.given[group]);
            if left > 1 && self.stands_without_order(world, flights, group) {
                return Some(group);
            }
            self.name_rest(group);
        }
        None
    }

    /// The least bytes of a state under all names of its values: another form, slow and plainly exact.
    pub fn pack_least(&mut self, world: &World, out: &mut Packed) {
        self.names.fill(UNNAMED);
        self.given.fill(0);
        out.clear();
        self.pack_in_every_order(world, 0, out);
    }

    fn group(&self, block: u32) -> usize {
        match self.named {
            NameSpaces::Apart => block as usize,
            NameSpaces::Together => 0,
        }
    }

    /// Names the values that stand in an order.
    fn name<'f>(&mut self, world: &World, flights: impl Iterator<Item = &'f Flight>) {
        self.names.fill(UNNAMED);
        self.given.fill(0);
        let places = std::mem::take(&mut self.places);
        places.iter().for_each(|(block, place)| self.see(*block, world.number(place.clone())));
        self.places = places;
        let model = self.model;
        for thread in 0..model.client.threads.len() {
            let (state, intent) = world.thread(&model.layout, thread);
            if state != ThreadState::Free
                && let Some((block, value)) = value_of(&model.client.intents[intent])
            {
                self.see(block, value);
            }
        }
        let deferring = std::mem::take(&mut self.deferring);
        for (role, object, place) in &deferring {
            let data = model.engine.deferred_data(*role, &world.fixed[place.clone()]);
            data.for_each(|payload| self.see(object.id, payload.0.into()));
        }
        self.deferring = deferring;
        for flight in flights {
            if let Some(payload) = flight.payload
                && model.lanes[flight.lane.index()].fifo
            {
                self.see(flight.object.id, payload.0.into());
            }
        }
    }

    fn see(&mut self, block: u32, value: u64) {
        if value >= self.values as u64 {
            return;
        }
        let group = self.group(block);
        let name = &mut self.names[group * self.values + index(value)];
        if *name == UNNAMED {
            *name = self.given[group];
            self.given[group] += 1;
        }
    }

    /// Gives the names of a group that are left, in ascending order.
    fn name_rest(&mut self, group: usize) {
        for name in &mut self.names[group * self.values..(group + 1) * self.values] {
            if *name == UNNAMED {
                *name = self.given[group];
                self.given[group] += 1;
            }
        }
    }

    /// Whether a value of a group that has no name stands in a place that has no order.
    fn stands_without_order(&self, world: &World, flights: &[Flight], group: usize) -> bool {
        let is_unnamed = |block: u32, value: u64| {
            self.group(block) == group
                && value < self.values as u64
                && self.names[group * self.values + index(value)] == UNNAMED
        };
        let moves = flights
            .iter()
            .any(|flight| flight.payload.is_some_and(|payload| is_unnamed(flight.object.id, payload.0.into())));
        moves
            || (0..self.model.objects[BLOCK.index()]).any(|block| {
                let stored = self.model.layout.phase(block).map_or(0, |(_, stored)| world.number(stored));
                (0..self.values as u64).any(|value| stored >> value & 1 == 1 && is_unnamed(block, value))
            })
    }

    /// Gives the names that are left, from a group on, in every order.
    fn pack_in_every_order(&mut self, world: &World, group: usize, least: &mut Packed) {
        if group == self.given.len() {
            return self.pack_named(world, least);
        }
        let names = group * self.values..(group + 1) * self.values;
        let Some(unnamed) = names.clone().find(|&at| self.names[at] == UNNAMED) else {
            return self.pack_in_every_order(world, group + 1, least);
        };
        for name in 0..fit::<_, u8>(self.values, "at most 4 values") {
            if !self.names[names.clone()].contains(&name) {
                self.names[unnamed] = name;
                self.pack_in_every_order(world, group, least);
            }
        }
        self.names[unnamed] = UNNAMED;
    }

    /// The bytes of a state with these names, where they are less.
    fn pack_named(&mut self, world: &World, least: &mut Packed) {
        let mut bytes = std::mem::take(&mut self.bytes);
        if self.change() {
            self.rename(world);
            pack(self.model, &self.image, &mut bytes);
        } else {
            pack(self.model, world, &mut bytes);
        }
        if least.is_empty() || *bytes < **least {
            std::mem::swap(&mut bytes, least);
        }
        self.bytes = bytes;
    }

    /// Whether some value has another name.
    pub fn change(&self) -> bool {
        self.names.chunks(self.values).any(|names| !names.iter().zip(0..).all(|(name, value)| *name == value))
    }

    /// The name of a value of a block; what is no value stays what it is.
    fn named(&self, block: u32, value: u64) -> u64 {
        match usize::try_from(value) {
            Ok(value) if value < self.values => self.names[self.group(block) * self.values + value].into(),
            _ => value,
        }
    }

    /// Makes the image the state with all values renamed.
    fn rename(&mut self, world: &World) {
        let mut image = std::mem::take(&mut self.image);
        image.copy_from(world);
        self.rename_fixed(&mut image);
        for flight in &mut image.flights {
            if let Some(payload) = flight.payload {
                let payload = Some(self.payload(flight.object.id, payload));
                *flight = self.model.codec.sealed(Flight { payload, ..*flight });
            }
        }
        image.sort_flights(|lane| self.model.lanes[lane.index()].fifo);
        self.image = image;
    }

    /// Renames all values of the fixed part.
    pub fn rename_fixed(&self, image: &mut World) {
        let model = self.model;
        for (block, place) in &self.places {
            let value = image.number(place.clone());
            image.set_number(place.clone(), self.named(*block, value));
        }
        for block in 0..model.objects[BLOCK.index()] {
            let Some((_, stored)) = model.layout.phase(block) else { continue };
            let set = image.number(stored.clone());
            let renamed = (0..self.values as u64).filter(|value| set >> value & 1 == 1);
            let renamed = renamed.fold(0, |all, value| all | 1 << self.named(block, value));
            image.set_number(stored, renamed);
        }
        for thread in 0..model.client.threads.len() {
            let (state, intent) = image.thread(&model.layout, thread);
            if state != ThreadState::Free
                && let Some((block, value)) = value_of(&model.client.intents[intent])
            {
                let wanted = with_value(&model.client.intents[intent], self.named(block, value));
                let intent = model.client.intents.iter().position(|intent| Some(intent) == wanted.as_ref());
                image.set_thread(&model.layout, thread, state, intent.expect("a thread can store any value"));
            }
        }
        for (role, object, place) in &self.deferring {
            let renamed = |payload: Payload| self.payload(object.id, payload);
            model.engine.change_deferred_data(*role, &mut image.fixed[place.clone()], renamed);
        }
    }

    /// The name of what a message brings.
    pub fn payload(&self, block: u32, payload: Payload) -> Payload {
        Payload(fit(self.named(block, payload.0.into()), "a handle that is the word itself"))
    }
}

/// The block and the value of what a thread stores, where it is one that is looked at.
fn value_of(intent: &Intent) -> Option<(u32, u64)> {
    match intent {
        Intent::Write { block, value } | Intent::Rmw { block, value } => Some((*block, *value)),
        _ => None,
    }
}

/// The same with another value.
fn with_value(intent: &Intent, value: u64) -> Option<Intent> {
    match *intent {
        Intent::Write { block, .. } => Some(Intent::Write { block, value }),
        Intent::Rmw { block, .. } => Some(Intent::Rmw { block, value }),
        _ => None,
    }
}
