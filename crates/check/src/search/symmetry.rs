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
//! Nodes that are homes are alike where their objects are: `homes`. Such names are given first, and what is said here is done to each state that they make.
//!
//! A collision of signatures costs orders that need not be tried, never a wrong form. [`Symmetry::pack_least`] tries all orders without
//! signatures and twins: tests compare the two.

use super::homes::{HomeNames, orders_of};
use super::memo::Memo;
use super::names::{Names, RecordAt, rename};
use super::pack::{Packed, halves, pack};
use super::values::ValueNames;
use crate::config::Config;
use crate::report::Exchanged;
use crate::system::alike::nodes_are_alike;
use crate::system::model::Model;
use crate::system::progress::Wishes;
use crate::system::values::{NameSpaces, stand_for_any, values_are_alike};
use crate::system::world::World;
use rustc_hash::FxHashMap;
use std::ops::Range;
use trivium_engine::number::{fit, index};
use trivium_engine::{Node, Object};
use trivium_protocol::RoleId;

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
    to: Names,
    /// The names that gave the form.
    best: Vec<Node>,
    image: World,
    bytes: Packed,
    /// Names of homes and of objects, where these can be exchanged: of states with these names other nodes get theirs.
    homes: Option<HomeNames<'m>>,
    /// The order of homes that gave the form.
    best_of_homes: usize,
    bytes_of_homes: Packed,
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
    record: RecordAt,
    place: u64,
    /// For each of the record's own node and of those that it names, what it tells of it.
    told_of: Memo<Vec<(Node, u64)>>,
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
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    let [low, high] = halves(product);
    low ^ high
}

impl<'m> Symmetry<'m> {
    /// What can be exchanged in a system: nodes, objects with their homes, and values, as far as it is wanted. `None` if nothing can.
    pub fn of(model: &'m Model, config: &Config) -> Option<Symmetry<'m>> {
        if !config.symmetry {
            return None;
        }
        let classes = classes(model);
        // A number tells every renaming from others.
        let most = orders_of(classes.iter().map(Vec::len)).map_or(1, |orders| usize::MAX / orders);
        let homes = config.home_symmetry.then(|| HomeNames::of(model, most)).flatten();
        let values = config.value_symmetry.then(|| values_are_alike(model)).flatten();
        (!classes.is_empty() || homes.is_some() || values.is_some())
            .then(|| Symmetry { homes, ..Symmetry::new(model, classes, values) })
    }

    fn new(model: &'m Model, classes: Vec<Vec<Node>>, values: Option<NameSpaces>) -> Symmetry<'m> {
        let mut renamed = vec![false; model.nodes as usize];
        classes.iter().flatten().for_each(|node| renamed[*node as usize] = true);
        let place = |node: Node, role: RoleId, object: Object| {
            let who = if renamed[node as usize] { u64::MAX } else { u64::from(node) };
            mix(mix(who, u64::from(role.0)), u64::from(object.id))
        };
        let records = RecordAt::all(model).map(|record| RecordPlace {
            place: place(record.node, record.role, record.object),
            record,
            told_of: Memo::new(),
        });
        let records = records.collect();
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
            to: Names::default(),
            best: Vec::new(),
            image: World::default(),
            bytes: Packed::default(),
            homes: None,
            best_of_homes: 0,
            bytes_of_homes: Packed::default(),
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
            objects: self.homes.as_ref().map_or(0, |homes| homes.objects),
            homes: self.homes.as_ref().is_some_and(HomeNames::change_places),
            values: self.values.is_some(),
            any_values: self.values.is_some() && stand_for_any(self.model.protocol()),
        }
    }

    /// The packed bytes of the form of a state.
    pub fn pack(&mut self, world: &World, out: &mut Packed) {
        let Some(mut homes) = self.homes.take() else { return self.pack_with_homes(world, out) };
        homes.sign(world);
        self.pack_in_orders(&mut homes, world, out, Symmetry::pack_with_homes);
        self.homes = Some(homes);
    }

    /// The least of the forms of a state in the orders of homes and objects in which their signatures ascend.
    fn pack_in_orders(
        &mut self,
        homes: &mut HomeNames<'m>,
        world: &World,
        least: &mut Packed,
        pack: fn(&mut Symmetry<'m>, &World, &mut Packed),
    ) {
        let (mut bytes, mut best) = (std::mem::take(&mut self.bytes_of_homes), Vec::new());
        least.clear();
        for order in 0..homes.len() {
            if !homes.ascends(order) {
                continue;
            }
            pack(self, homes.image(order, world), &mut bytes);
            if least.is_empty() || *bytes < **least {
                std::mem::swap(&mut bytes, least);
                std::mem::swap(&mut best, &mut self.best);
                self.best_of_homes = order;
            }
        }
        self.best = best;
        self.bytes_of_homes = bytes;
    }

    /// The packed bytes of the form of a state whose homes and objects keep their names.
    fn pack_with_homes(&mut self, world: &World, out: &mut Packed) {
        if self.classes.is_empty() {
            return pack_values(self.model, self.values.as_mut(), false, world, out);
        }
        self.sign(world);
        self.sort();
        self.find_twins(world);
        self.pack_signed(world, out);
    }

    /// How the last form renames the nodes and objects of its state, as a number; 0 if it does not.
    pub fn renaming(&self) -> u64 {
        let mut number = self.best_of_homes as u64;
        for class in &self.classes {
            for (at, node) in class.iter().enumerate() {
                let name = self.best[usize::from(*node)];
                let greater = class[at + 1..].iter().filter(|later| self.best[usize::from(**later)] < name).count();
                number = number * u64::from(count(class.len() - at)) + u64::from(count(greater));
            }
        }
        number
    }

    /// The new name of each node that is no home under a renaming, and the order of homes.
    fn names(&self, mut renaming: u64) -> (Names, usize) {
        let mut nodes: Vec<Node> = self.model.all_nodes().collect();
        for class in self.classes.iter().rev() {
            let mut digits = vec![0; class.len()];
            for (at, digit) in digits.iter_mut().enumerate().rev() {
                let base = u64::from(count(class.len() - at));
                *digit = index(renaming % base);
                renaming /= base;
            }
            let mut left = class.clone();
            for (node, digit) in class.iter().zip(digits) {
                nodes[usize::from(*node)] = left.remove(digit);
            }
        }
        (Names::of_nodes(nodes), index(renaming))
    }

    /// What each thread and demand becomes under a renaming (`crate::system::progress`).
    pub fn image(&self, renaming: u64) -> Vec<u8> {
        let (names, order) = self.names(renaming);
        let last = names.wishes(self.model);
        match &self.homes {
            Some(homes) => homes.wishes(order).into_iter().map(|wish| last[usize::from(wish)]).collect(),
            None => last,
        }
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

    /// The least bytes of a state under all names of its nodes, objects and values: another form, slow and plainly exact.
    pub fn pack_least(&mut self, world: &World, out: &mut Packed) {
        let Some(mut homes) = self.homes.take() else { return self.pack_least_with_homes(world, out) };
        homes.forget_signatures();
        self.pack_in_orders(&mut homes, world, out, Symmetry::pack_least_with_homes);
        self.homes = Some(homes);
    }

    fn pack_least_with_homes(&mut self, world: &World, out: &mut Packed) {
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
        self.to.nodes.clear();
        self.to.nodes.extend(self.model.all_nodes());
        self.to.nodes.swap(one as usize, other as usize);
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
        self.to.nodes.clear();
        self.to.nodes.extend(self.model.all_nodes());
        for (order, class) in orders.iter().zip(&self.classes) {
            order.iter().zip(class).for_each(|(node, name)| self.to.nodes[*node as usize] = *name);
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
            self.best.clone_from(&self.to.nodes);
        }
        self.bytes = bytes;
    }

    /// What can be told of each node without naming others of its class.
    fn sign(&mut self, world: &World) {
        let model = self.model;
        let signatures = &mut self.signatures;
        signatures.fill(0);
        for record in &mut self.records {
            let RecordPlace { record, place, told_of } = record;
            let bytes = &world.fixed[record.at.clone()];
            let by = (self.renamed[usize::from(record.node)], &self.nameless[record.role.index()][..]);
            for &(node, told) in told_of.of(bytes, |told_of| record.tell(model, *place, by, bytes, told_of)) {
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
        let records = self.records.iter().map(|place| &place.record);
        rename(self.model, records, &self.to, world, &mut self.image);
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
