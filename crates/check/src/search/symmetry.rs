//! States that differ only in the names of nodes are one state.
//!
//! Nodes are alike that are home of nothing and all act, or all only serve. Of the states that become each other when
//! such nodes are renamed, one is kept: the nodes are sorted by what can be told of each without naming the others,
//! and of the orders that this leaves open the one is taken that gives the least bytes. Both are the same for each of
//! these states, so that the form is exact: as many states are kept as there are different ones.
//!
//! For example nodes 1, 2 and 3 are alike; 2 has a copy and the home's record says `sharers={2}`, nothing has happened to 1 and 3.
//!
//! 1. *Sign.* Each node gets a number from what is said of it: its own records, its threads, messages to and from it, and the places of other records that name it.
//!    Names do not count in it: 2 signs as "a copy; named among the home's sharers", 1 and 3 sign alike.
//! 2. *Sort.* The order of signatures settles who is first, say 2. Two nodes with the same signature are still open: they may differ in
//!    whom *others* name together with them, which a signature does not see.
//! 3. *Twins.* Where more than two are open, nodes are tried in pairs: if the state stays as it is when they change places, as it does for 1 and 3, then
//!    each order with the one in a place gives the same bytes as one with the other there, and one is enough.
//! 4. *Try.* Each order that is left renames the state, and the least bytes are its form: here `sharers={1}`, whichever of the three had the copy.
//!
//! A collision of signatures costs orders that need not be tried, never a wrong form. [`Symmetry::pack_least`] tries all orders without
//! signatures and twins: tests compare the two.

use super::pack::{Packed, halves, pack};
use super::values::ValueNames;
use crate::config::Config;
use crate::report::Exchanged;
use crate::system::alike::nodes_are_alike;
use crate::system::client::Intent;
use crate::system::layout::Layout;
use crate::system::model::Model;
use crate::system::progress::{Demand, Wishes, image};
use crate::system::values::{NameSpaces, stand_for_any, values_are_alike};
use crate::system::world::{Flight, ThreadState, World};
use rustc_hash::FxHashMap;
use std::ops::Range;
use trivium_engine::number::{fit, index};
use trivium_engine::{Node, Object};
use trivium_protocol::{EventKind, Promise, RoleId};

/// Nodes that act, and nodes that only serve, whose names are exchanged, so that a number of 64 bits tells every renaming from others;
/// more nodes keep their names.
const MOST_ALIKE: [usize; 2] = [15, 10];

/// Orders of the nodes of a state that are tried, at most. Signatures and twins leave fewer unless many nodes are told apart only by whom they
/// name. Of those states some are then kept under several names: more states, and no other verdict.
const MOST_TRIED: u32 = 5040;

/// Finds the form of a state that all states have which differ only in the names of nodes.
pub(crate) struct Symmetry<'m> {
    model: &'m Model,
    /// Nodes that are alike, in ascending order.
    classes: Vec<Vec<Node>>,
    /// For each node, whether it belongs to a class.
    renamed: Vec<bool>,
    /// Records, each with what is told of its place: the same for all nodes of a class.
    records: Vec<RecordPlace>,
    /// For each role, the bytes that name no node.
    nameless: Vec<Vec<Range<usize>>>,
    signatures: Vec<u64>,
    /// For each node, the least of those that can change places with it and leave the state as it is: as far as is known,
    /// which may be itself alone.
    twins: Vec<Node>,
    /// The nodes of each class in the order that is tried.
    orders: Vec<Vec<Node>>,
    to: Vec<Node>,
    /// The names that gave the form.
    best: Vec<Node>,
    image: World,
    bytes: Packed,
    /// Names of values, where these can be exchanged.
    values: Option<ValueNames<'m>>,
    /// Whether all orders of nodes, and all names of values, are tried.
    tries_all: bool,
    /// Orders of the present state that may still be tried.
    tries_left: u32,
    /// Images under renamings that have been asked for ([`Symmetry::image`]).
    images: FxHashMap<u64, Vec<u8>>,
}

struct RecordPlace {
    node: Node,
    role: RoleId,
    object: Object,
    at: Range<usize>,
    place: u64,
    names_nodes: bool,
    /// The bytes that were signed last, and what they tell: most records are the same in the next state that is signed.
    signed: Vec<u8>,
    /// For each of the record's own node and of those that it names, what it tells of it.
    told_of: Vec<(Node, u64)>,
}

impl RecordPlace {
    /// Finds out what a record tells of nodes without naming any: of its own, where that is renamed, by its nameless bytes.
    fn sign(&mut self, model: &Model, is_renamed: bool, nameless: &[Range<usize>], bytes: &[u8]) {
        self.signed.clear();
        self.signed.extend_from_slice(bytes);
        self.told_of.clear();
        if is_renamed {
            let mut told = self.place;
            for range in nameless {
                bytes[range.clone()].iter().for_each(|&byte| told = mix(told, u64::from(byte)));
            }
            self.told_of.push((self.node, told));
        }
        if self.names_nodes {
            model.engine.named_nodes(self.role, bytes, |place, node| {
                let itself = u64::from(node == self.node) << 32;
                self.told_of.push((node, mix(self.place, itself | u64::from(place))));
            });
        }
    }
}

/// Nodes that are alike.
fn classes(model: &Model) -> Vec<Vec<Node>> {
    if model.client.script.is_some()
        || model.keeps_payloads()
        || !nodes_are_alike(model.protocol(), model.system.every_order)
    {
        return Vec::new();
    }
    let others = model.all_nodes().filter(|node| !model.is_any_home(*node));
    let (acting, serving): (Vec<Node>, Vec<Node>) =
        others.partition(|node| !model.client.threads_of[*node as usize].is_empty());
    let mut classes = vec![acting, serving];
    classes.iter_mut().zip(MOST_ALIKE).for_each(|(class, most)| class.truncate(most));
    classes.retain(|class| class.len() > 1);
    classes
}

/// A number of names or of a name among a few.
fn count(number: usize) -> u32 {
    fit(number, "the number of names of nodes: there are at most 256")
}

/// Mixes a number into a signature's part.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    let [low, high] = halves(product);
    low ^ high
}

impl<'m> Symmetry<'m> {
    /// What can be exchanged in a system: nodes, values, or both, as far as it is wanted. `None` if nothing can.
    pub fn of(model: &'m Model, config: &Config) -> Option<Symmetry<'m>> {
        if !config.symmetry {
            return None;
        }
        let classes = classes(model);
        let values = config.value_symmetry.then(|| values_are_alike(model)).flatten();
        (!classes.is_empty() || values.is_some()).then(|| Symmetry::new(model, classes, values))
    }

    fn new(model: &'m Model, classes: Vec<Vec<Node>>, values: Option<NameSpaces>) -> Symmetry<'m> {
        let mut renamed = vec![false; model.nodes as usize];
        classes.iter().flatten().for_each(|node| renamed[*node as usize] = true);
        let layout = &model.layout;
        let place = |node: Node, role: RoleId, object: Object| {
            let who = if renamed[node as usize] { u64::MAX } else { u64::from(node) };
            mix(mix(who, u64::from(role.0)), u64::from(object.id))
        };
        let records = model
            .instances()
            .filter_map(|(node, role, object)| {
                Some(RecordPlace {
                    node,
                    role,
                    object,
                    at: layout.record(node, role, object.id)?,
                    place: place(node, role, object),
                    names_nodes: model.engine.names_nodes(role),
                    signed: Vec::new(),
                    told_of: Vec::new(),
                })
            })
            .collect();
        let roles = model.protocol().roles.len();
        Symmetry {
            model,
            orders: classes.clone(),
            classes,
            renamed,
            records,
            nameless: (0..roles).map(|role| model.engine.nameless_bytes(RoleId::at(role))).collect(),
            signatures: vec![0; model.nodes as usize],
            twins: model.all_nodes().collect(),
            to: Vec::new(),
            best: Vec::new(),
            image: World::default(),
            bytes: Packed::default(),
            values: values.map(|named| ValueNames::new(model, named)),
            tries_all: false,
            tries_left: 0,
            images: FxHashMap::default(),
        }
    }

    /// Which names do not tell states apart.
    pub fn exchanged(&self) -> Exchanged {
        Exchanged {
            nodes: self.classes.iter().map(|class| count(class.len())).sum(),
            values: self.values.is_some(),
            any_values: self.values.is_some() && stand_for_any(self.model.protocol()),
        }
    }

    /// The packed bytes of the form of a state.
    pub fn pack(&mut self, world: &World, out: &mut Packed) {
        if self.classes.is_empty() {
            return pack_values(self.model, self.values.as_mut(), false, world, out);
        }
        self.sign(world);
        self.sort();
        self.find_twins(world);
        self.pack_signed(world, out);
    }

    /// How the last form renames the nodes of its state, as a number; 0 if it does not.
    pub fn renaming(&self) -> u64 {
        let mut number = 0;
        for class in &self.classes {
            for (at, node) in class.iter().enumerate() {
                let name = self.best[usize::from(*node)];
                let greater = class[at + 1..].iter().filter(|later| self.best[usize::from(**later)] < name).count();
                number = number * u64::from(count(class.len() - at)) + u64::from(count(greater));
            }
        }
        number
    }

    /// The new name of each node under a renaming.
    fn names(&self, mut renaming: u64) -> Vec<Node> {
        let mut to: Vec<Node> = self.model.all_nodes().collect();
        for class in self.classes.iter().rev() {
            let mut digits = vec![0; class.len()];
            for (at, digit) in digits.iter_mut().enumerate().rev() {
                let base = u64::from(count(class.len() - at));
                *digit = index(renaming % base);
                renaming /= base;
            }
            let mut left = class.clone();
            for (node, digit) in class.iter().zip(digits) {
                to[usize::from(*node)] = left.remove(digit);
            }
        }
        to
    }

    /// What each thread and demand becomes under a renaming (`crate::system::progress`).
    pub fn image(&self, renaming: u64) -> Vec<u8> {
        let to = self.names(renaming);
        image(self.model, &to, |thread| renamed_thread(self.model, thread, &to))
    }

    /// Those who are content in a state, as they are named in its form.
    pub fn renamed(&mut self, content: Wishes, renaming: u64) -> Wishes {
        if renaming == 0 {
            return content;
        }
        if !self.images.contains_key(&renaming) {
            self.images.insert(renaming, self.image(renaming));
        }
        let image = self.images[&renaming].iter().enumerate();
        image.filter(|(wish, _)| content >> wish & 1 == 1).fold(0, |set, (_, name)| set | 1 << name)
    }

    /// The least bytes of a state under all names of its nodes and values: another form, slow and plainly exact.
    pub fn pack_least(&mut self, world: &World, out: &mut Packed) {
        self.signatures.fill(0);
        self.sort();
        self.forget_twins();
        self.tries_all = true;
        self.pack_signed(world, out);
        self.tries_all = false;
    }

    /// Puts the nodes of each class in the order of their signatures.
    fn sort(&mut self) {
        self.orders.clone_from(&self.classes);
        for order in &mut self.orders {
            order.sort_by_key(|node| self.signatures[*node as usize]);
        }
    }

    fn forget_twins(&mut self) {
        self.twins.iter_mut().zip(0..).for_each(|(twin, node)| *twin = node);
    }

    /// Finds twins where signatures leave many orders open. Most are nodes that nothing has happened to.
    fn find_twins(&mut self, world: &World) {
        self.forget_twins();
        let signatures = std::mem::take(&mut self.signatures);
        let orders = std::mem::take(&mut self.orders);
        let alike = |a: &Node, b: &Node| signatures[*a as usize] == signatures[*b as usize];
        // To try the two orders of two nodes is no dearer than to find out whether they differ.
        for group in orders.iter().flat_map(|order| order.chunk_by(alike)).filter(|group| group.len() > 2) {
            for (place, &node) in group.iter().enumerate() {
                let twin = group[..place]
                    .iter()
                    .copied()
                    .find(|&other| self.twins[other as usize] == other && self.is_kept_by_exchange(world, node, other));
                self.twins[node as usize] = twin.unwrap_or(node);
            }
        }
        (self.signatures, self.orders) = (signatures, orders);
    }

    /// Whether a state stays the same when two nodes change places.
    fn is_kept_by_exchange(&mut self, world: &World, one: Node, other: Node) -> bool {
        self.to.clear();
        self.to.extend(self.model.all_nodes());
        self.to.swap(one as usize, other as usize);
        self.rename(world);
        self.image == *world
    }

    fn pack_signed(&mut self, world: &World, out: &mut Packed) {
        out.clear();
        let mut orders = std::mem::take(&mut self.orders);
        let sign = |node: &Node| self.signatures[*node as usize];
        let is_settled = orders.iter().all(|order| order.is_sorted_by(|a, b| sign(a) < sign(b)));
        if is_settled {
            self.try_order(world, &orders, out);
        } else {
            self.tries_left = if self.tries_all { u32::MAX } else { MOST_TRIED };
            self.try_orders(world, &mut orders, 0, 0, out);
        }
        self.orders = orders;
    }

    /// Tries all orders that agree with the present one up to a place of a class. Of twins one is enough at each place:
    /// each order with the other there is one with this one there in which they have changed places.
    fn try_orders(&mut self, world: &World, orders: &mut Vec<Vec<Node>>, class: usize, at: usize, least: &mut Packed) {
        if class == orders.len() {
            self.tries_left -= 1;
            return self.try_order(world, orders, least);
        }
        if at + 1 >= orders[class].len() {
            return self.try_orders(world, orders, class + 1, 0, least);
        }
        let signature = self.signatures[orders[class][at] as usize];
        for other in at..orders[class].len() {
            if self.signatures[orders[class][other] as usize] != signature {
                break;
            }
            let twin = |place: usize| self.twins[orders[class][place] as usize];
            if (at..other).any(|tried| twin(tried) == twin(other)) {
                continue;
            }
            if self.tries_left == 0 {
                return;
            }
            orders[class].swap(at, other);
            self.try_orders(world, orders, class, at + 1, least);
            orders[class].swap(at, other);
        }
    }

    /// Renames the nodes in an order to those of their class.
    fn try_order(&mut self, world: &World, orders: &[Vec<Node>], least: &mut Packed) {
        self.to.clear();
        self.to.extend(self.model.all_nodes());
        for (order, class) in orders.iter().zip(&self.classes) {
            order.iter().zip(class).for_each(|(node, name)| self.to[*node as usize] = *name);
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        let is_renamed = orders != &self.classes[..];
        if is_renamed {
            self.rename(world);
        }
        let image = if is_renamed { &self.image } else { world };
        pack_values(self.model, self.values.as_mut(), self.tries_all, image, &mut bytes);
        if least.is_empty() || *bytes < **least {
            std::mem::swap(&mut bytes, least);
            self.best.clone_from(&self.to);
        }
        self.bytes = bytes;
    }

    /// What can be told of each node without naming others of its class.
    fn sign(&mut self, world: &World) {
        let model = self.model;
        let signatures = &mut self.signatures;
        signatures.fill(0);
        for record in &mut self.records {
            let bytes = &world.fixed[record.at.clone()];
            if record.signed != bytes {
                record.sign(model, self.renamed[record.node as usize], &self.nameless[record.role.index()], bytes);
            }
            for &(node, told) in &record.told_of {
                let signature = &mut signatures[node as usize];
                *signature = signature.wrapping_add(told);
            }
        }
        for (thread, place) in model.client.threads.iter().enumerate() {
            let (phase, _) = world.thread(&model.layout, thread);
            let told = mix(u64::from(place.number), phase as u64);
            signatures[place.node as usize] = signatures[place.node as usize].wrapping_add(told);
        }
        for &node in self.classes.iter().flatten() {
            let told = match &self.values {
                Some(values) => values.tell(world, node).fold(7, mix),
                None => {
                    world.fixed[model.layout.contents(node)].iter().fold(7, |told, &byte| mix(told, u64::from(byte)))
                }
            };
            signatures[node as usize] = signatures[node as usize].wrapping_add(told);
        }
        for flight in &world.flights {
            let who = |node: Node| if self.renamed[node as usize] { u64::MAX } else { u64::from(node) };
            let told = mix(u64::from(flight.message.0), u64::from(flight.object.id));
            let (to, from) = (mix(told, who(flight.from)), mix(!told, who(flight.to)));
            signatures[flight.to as usize] = signatures[flight.to as usize].wrapping_add(to);
            signatures[flight.from as usize] = signatures[flight.from as usize].wrapping_add(from);
        }
    }

    /// Makes the image the state with all nodes renamed.
    fn rename(&mut self, world: &World) {
        let (model, to, image) = (self.model, &self.to[..], &mut self.image);
        image.fixed.clone_from(&world.fixed);
        for record in &self.records {
            let name = to[record.node as usize];
            let Some(at) = model.layout.record(name, record.role, record.object.id) else { continue };
            if name != record.node {
                image.fixed[at.clone()].copy_from_slice(&world.fixed[record.at.clone()]);
            }
            if record.names_nodes {
                model.engine.rename_record(record.role, &mut image.fixed[at], to);
            }
        }
        for &node in self.classes.iter().flatten() {
            let from = model.layout.contents(node);
            image.fixed[model.layout.contents(to[node as usize])].copy_from_slice(&world.fixed[from]);
        }
        rename_threads(model, world, image, to);
        rename_remembered(model, world, image, to);
        rename_moving(model, world, image, to);
    }
}

/// The packed bytes of a state whose nodes have their names.
fn pack_values(model: &Model, values: Option<&mut ValueNames>, tries_all: bool, world: &World, out: &mut Packed) {
    match values {
        Some(values) if tries_all => values.pack_least(world, out),
        Some(values) => values.pack(world, out),
        None => pack(model, world, out),
    }
}

/// The thread that a thread becomes.
fn renamed_thread(model: &Model, thread: usize, to: &[Node]) -> usize {
    let place = model.client.threads[thread];
    usize::from(model.client.threads_of[to[place.node as usize] as usize][usize::from(place.number)])
}

fn rename_threads(model: &Model, world: &World, image: &mut World, to: &[Node]) {
    let layout: &Layout = &model.layout;
    for thread in 0..model.client.threads.len() {
        let other = renamed_thread(model, thread, to);
        if other != thread {
            image.fixed[layout.thread(other)].copy_from_slice(&world.fixed[layout.thread(thread)]);
            for (assumption, assume) in model.protocol().assumptions.iter().enumerate() {
                if assume.counts_calls() {
                    let from = layout.assumed_row(assumption, thread);
                    image.fixed[layout.assumed_row(assumption, other)].copy_from_slice(&world.fixed[from]);
                }
            }
        }
        rename_seen(model, world, image, thread, other);
        let (phase, number) = world.thread(layout, thread);
        if phase != ThreadState::Free
            && let Some(value) = observed_by(model, &model.client.intents[number], to)
        {
            let wanted = Intent::Write { block: model.client.intents[number].object().id, value };
            let intent = model.client.intents.iter().position(|intent| *intent == wanted);
            image.set_thread(layout, other, phase, intent.unwrap_or(number));
        }
        if phase != ThreadState::Free
            && let Intent::Call { op, object, args } = &model.client.intents[number]
            && model.engine.args_name_nodes(EventKind::Op(*op))
        {
            let args = model.engine.rename_args(EventKind::Op(*op), args, to);
            let wanted = Intent::Call { op: *op, object: *object, args };
            let intent = model.client.intents.iter().position(|intent| *intent == wanted);
            // The general client can make each call with every node in place of another.
            image.set_thread(layout, other, phase, intent.unwrap_or(number));
        }
    }
}

/// What a thread has seen of a marked store; and whether it is the one whose loads are looked at.
fn rename_seen(model: &Model, world: &World, image: &mut World, thread: usize, other: usize) {
    let Some(mark) = &model.layout.mark else { return };
    image.fixed[mark.thread(other)] = world.fixed[mark.thread(thread)];
    if world.number(mark.observer()) == thread as u64 + 1 {
        image.set_number(mark.observer(), other as u64 + 1);
    }
}

/// A store that announces which thread observes it names that thread.
fn observed_by(model: &Model, intent: &Intent, to: &[Node]) -> Option<u64> {
    model.layout.mark.as_ref().filter(|mark| mark.observes)?;
    let Intent::Write { value, .. } = intent else { return None };
    let observer = usize::try_from(value.checked_sub(1)?).ok()?;
    Some(renamed_thread(model, observer, to) as u64 + 1)
}

/// What the properties remember of nodes and threads.
fn rename_remembered(model: &Model, world: &World, image: &mut World, to: &[Node]) {
    let layout = &model.layout;
    let protocol = model.protocol();
    for block in 0..model.objects[trivium_protocol::BLOCK.index()] {
        if let Some(at) = layout.writer(block)
            && let Some(node) = world.number(at.clone()).checked_sub(1)
        {
            image.set_number(at, u64::from(to[index(node)]) + 1);
        }
    }
    for demand in model.demands.iter().filter(|demand| demand.node.is_some()) {
        let same = |other: &&Demand| {
            (other.leads_to, other.object) == (demand.leads_to, demand.object)
                && other.node == demand.node.map(|node| to[usize::from(node)])
        };
        if let Some(other) = model.demands.iter().find(same) {
            image.fixed[other.at] = world.fixed[demand.at];
        }
    }
    for (number, promise) in protocol.promises.iter().enumerate() {
        match promise {
            Promise::Mutex(acquire, _) => {
                for object in 0..model.objects[protocol.ops[acquire.index()].object.index()] {
                    let at = layout.holder(number, object);
                    if let Some(thread) = world.number(at.clone()).checked_sub(1) {
                        image.set_number(at, renamed_thread(model, index(thread), to) as u64 + 1);
                    }
                }
            }
            Promise::Barrier(arrive) => {
                for object in 0..model.objects[protocol.ops[arrive.index()].object.index()] {
                    let at = layout.arrived(number, object);
                    image.fixed[at.clone()].fill(0);
                    for (node, &name) in to.iter().enumerate() {
                        if world.fixed[at.start + node / 8] >> (node % 8) & 1 == 1 {
                            image.fixed[at.start + name as usize / 8] |= 1 << (name % 8);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Software queues and messages.
fn rename_moving(model: &Model, world: &World, image: &mut World, to: &[Node]) {
    image.queues.resize(world.queues.len(), Vec::new());
    for (node, queue) in world.queues.iter().enumerate() {
        let renamed = &mut image.queues[to[node] as usize];
        renamed.clone_from(queue);
        for queued in renamed {
            queued.args = model.engine.rename_args(EventKind::Task(queued.task), &queued.args, to);
        }
    }
    image.flights.clear();
    image.flights.extend(world.flights.iter().map(|flight| {
        model.codec.sealed(Flight {
            to: to[flight.to as usize],
            from: to[flight.from as usize],
            args: model.engine.rename_args(EventKind::Message(flight.message), &flight.args, to),
            ..*flight
        })
    }));
    image.sort_flights(|lane| model.lanes[lane.index()].fifo);
}
