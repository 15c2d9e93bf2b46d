//! States that differ only in the names of objects and of their homes are one state.
//!
//! Where nothing tells objects apart (`system/alike.rs`), the homes of equally many objects of each kind are alike, if equally many threads
//! run on each, and so are the objects of a kind on one home. All orders of them are few, and are made beforehand. What a state says of a home and of an object without naming nodes or objects is its
//! signature; of the orders in which signatures ascend, the one is taken whose state has the least form (`symmetry`). Both are the same for all states
//! that become each other by such names, so that the form is exact, whatever the signatures say.
//!
//! For example blocks 0 and 1 live at nodes 0 and 1; node 2 has a copy of block 1. Then block 0 signs as "nobody has a copy" and block 1 as "one has": if the first number is less, the
//! state is in order. The one in which node 2 has a copy of block 0 signs the other way round, and becomes it when blocks 0 and 1, and nodes 0 and 1, change places.

use super::memo::Memo;
use super::names::{Names, RecordAt, rename_from, sources};
use super::signing::mix;
use crate::system::alike::objects_are_alike;
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::world::{ThreadState, World};
use std::collections::BTreeMap;
use std::ops::Range;
use trivium_engine::number::fit;
use trivium_engine::{Node, Object};
use trivium_protocol::{BLOCK, NODE, ObjectKindId};

/// Orders of homes and objects, at most: else fewer of them change their names.
const MOST_ORDERS: usize = 720;

/// A home or an object, by the place of its signature.
type Item = usize;

/// Where signatures have their places: first those of nodes, then those of objects, kind by kind.
struct Items {
    /// Of each kind the place of the first object, and how many there are.
    kinds: Vec<(Item, u32)>,
    count: usize,
}

impl Items {
    fn of(model: &Model) -> Items {
        let mut count = model.nodes as usize;
        let place = |objects: &u32| {
            let first = count;
            count += *objects as usize;
            (first, *objects)
        };
        let kinds = model.objects.iter().map(place).collect();
        Items { kinds, count }
    }

    /// The place of an object; messages by mistake name some that there are not.
    fn object(&self, object: Object) -> Option<Item> {
        let (first, count) = self.kinds[object.kind.index()];
        (object.kind != NODE && object.id < count).then_some(first + object.id as usize)
    }
}

/// New names of homes and objects.
struct Arrangement {
    names: Names,
    /// Of the homes, and the objects of a home, that are alike, those that get the first name, the second and so on.
    sources: Vec<Vec<Item>>,
    /// For each byte of the fixed part of a state the one that comes there.
    bytes: Vec<u32>,
}

/// The names of homes and objects that are exchanged.
pub(super) struct HomeNames<'m> {
    model: &'m Model,
    /// The first changes no name.
    orders: Vec<Arrangement>,
    /// How many objects change their names.
    pub objects: u32,
    records: Vec<SeenRecord>,
    items: Items,
    /// What records say, and then all else, which counts where records say the same of two.
    signatures: Vec<[u64; 2]>,
    is_home: Vec<bool>,
    image: World,
}

/// A record, and what it tells.
struct SeenRecord {
    record: RecordAt,
    nameless: Vec<Range<usize>>,
    /// What is told of its place.
    place: u64,
    told: Memo<u64>,
    /// Where what it tells goes: to its object, and to its node if that is a home.
    items: [Option<Item>; 2],
}

/// All orders of so many.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let shorter = permutations(last);
    // The one that changes nothing comes first.
    let longer = (0..count).rev().flat_map(|at| {
        shorter.iter().map(move |order| {
            let mut longer = order.clone();
            longer.insert(at, last);
            longer
        })
    });
    longer.collect()
}

/// Each choice of one of each.
fn choices<T: Clone>(of: &[Vec<T>]) -> Vec<Vec<T>> {
    of.iter().fold(vec![Vec::new()], |all, more| {
        let extended = |chosen: &Vec<T>| {
            let chosen = chosen.clone();
            more.iter().map(move |one| [&chosen[..], std::slice::from_ref(one)].concat())
        };
        all.iter().flat_map(extended).collect()
    })
}

/// How many orders things of each class have together, if that is a number.
pub(super) fn orders_of(mut counts: impl Iterator<Item = usize>) -> Option<usize> {
    counts.try_fold(1usize, |all, count| (1..=count).try_fold(all, usize::checked_mul))
}

/// Homes, with the objects of each kind that each has.
struct Placement {
    /// Those that are alike together.
    classes: Vec<Vec<Node>>,
    /// For each home and kind the objects there.
    objects: BTreeMap<(Node, ObjectKindId), Vec<u32>>,
}

impl Placement {
    fn of(model: &Model) -> Placement {
        let mut objects: BTreeMap<(Node, ObjectKindId), Vec<u32>> = BTreeMap::new();
        for object in model.all_objects() {
            objects.entry((model.home(object), object.kind)).or_default().push(object.id);
        }
        let mut classes: BTreeMap<_, Vec<Node>> = BTreeMap::new();
        for home in model.all_nodes().filter(|node| model.is_any_home(*node)) {
            let own = objects.iter().filter(|((node, _), _)| *node == home);
            let counts: Vec<_> = own.map(|((_, kind), ids)| (*kind, ids.len())).collect();
            let threads = model.client.threads_of[usize::from(home)].len();
            classes.entry((threads, counts)).or_default().push(home);
        }
        Placement { classes: classes.into_values().collect(), objects }
    }

    /// What is exchanged: all, or homes alone, or some homes alone, so that there are at most so many orders.
    fn within(mut self, most: usize) -> Option<(Placement, bool)> {
        let homes = |classes: &[Vec<Node>]| orders_of(classes.iter().map(Vec::len));
        let fits = |orders: Option<usize>| orders.is_some_and(|orders| orders <= most);
        let within = orders_of(self.objects.values().map(Vec::len));
        let all = homes(&self.classes).zip(within).and_then(|(homes, within)| homes.checked_mul(within));
        if fits(all) {
            return all.filter(|all| *all > 1).map(|_| (self, true));
        }
        while !fits(homes(&self.classes)) {
            self.classes.iter_mut().max_by_key(|class| class.len())?.pop();
        }
        homes(&self.classes).filter(|homes| *homes > 1).map(|_| (self, false))
    }
}

impl<'m> HomeNames<'m> {
    /// What can be exchanged in a system, in at most so many orders. `None`: nothing can.
    pub fn of(model: &'m Model, most: usize) -> Option<HomeNames<'m>> {
        let every_order = model.system.every_order;
        if model.client.script.is_some() || model.keeps_payloads() || !objects_are_alike(model.protocol(), every_order)
        {
            return None;
        }
        let (placement, with_objects) = Placement::of(model).within(most.clamp(1, MOST_ORDERS))?;
        let items = Items::of(model);
        let at: Vec<RecordAt> = RecordAt::all(model).collect();
        let orders = orders(model, &at, (&placement, with_objects), &items)?;
        let changed = |object: &Object| orders.iter().any(|order| order.names.object(*object) != *object);
        let is_home: Vec<bool> = model.all_nodes().map(|node| model.is_any_home(node)).collect();
        let records = at.into_iter().map(|record| {
            let about = u64::from(record.object.kind != NODE && model.is_home(record.node, record.object));
            SeenRecord {
                nameless: model.engine.nameless_bytes(record.role),
                place: mix(u64::from(record.role.0), about << 1 | u64::from(is_home[usize::from(record.node)])),
                items: [
                    items.object(record.object),
                    is_home[usize::from(record.node)].then_some(usize::from(record.node)),
                ],
                record,
                told: Memo::new(),
            }
        });
        let mut names = HomeNames {
            objects: fit(model.all_objects().filter(changed).count(), "at most 256 objects of each kind"),
            records: records.collect(),
            model,
            orders,
            signatures: vec![[0; 2]; items.count],
            items,
            is_home,
            image: World::default(),
        };
        names.begin_alike().then_some(names)
    }

    /// Whether the first state is the same under all names. What makes it another would have been found in the protocol's text.
    fn begin_alike(&mut self) -> bool {
        let first = self.model.first();
        (0..self.len()).all(|order| *self.image(order, &first) == first)
    }

    /// Whether some homes change places.
    pub fn change_places(&self) -> bool {
        let changes = |names: &Names| self.model.all_nodes().zip(&names.nodes).any(|(node, name)| node != *name);
        self.orders.iter().any(|order| changes(&order.names))
    }

    /// How many orders there are.
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    /// What each thread and demand becomes in an order.
    pub fn wishes(&self, order: usize) -> Vec<u8> {
        self.orders[order].names.wishes(self.model)
    }

    /// Whether the signatures ascend in an order.
    pub fn ascends(&self, order: usize) -> bool {
        let sign = |item: &Item| self.signatures[*item];
        self.orders[order].sources.iter().all(|class| class.is_sorted_by_key(sign))
    }

    /// All signatures are the same.
    pub fn forget_signatures(&mut self) {
        self.signatures.fill([0; 2]);
    }

    /// A state with the names of an order.
    pub fn image<'w>(&'w mut self, order: usize, world: &'w World) -> &'w World {
        if order == 0 {
            return world;
        }
        let Arrangement { names, bytes, .. } = &self.orders[order];
        let records = self.records.iter().map(|seen| &seen.record);
        rename_from(self.model, records, (names, bytes), world, &mut self.image);
        &self.image
    }

    /// Adds to a part of the signature of an object.
    fn tell_object(&mut self, object: Object, part: usize, told: u64) {
        if let Some(item) = self.items.object(object) {
            self.signatures[item][part] = self.signatures[item][part].wrapping_add(told);
        }
    }

    /// Adds to a part of the signature of a node, if it is a home.
    fn tell_home(&mut self, node: Node, part: usize, told: u64) {
        if self.is_home[usize::from(node)] {
            let signature = &mut self.signatures[usize::from(node)][part];
            *signature = signature.wrapping_add(told);
        }
    }

    /// What a node is to an object.
    fn relation(&self, node: Node, object: Object) -> u64 {
        u64::from(self.model.is_home(node, object)) << 1 | u64::from(self.is_home[usize::from(node)])
    }

    /// Finds out what a state says of each object and home without naming any.
    pub fn sign(&mut self, world: &World) {
        self.forget_signatures();
        self.sign_records(world);
        self.sign_homes(0);
        if self.are_told_apart() {
            return;
        }
        let model = self.model;
        for (thread, place) in model.client.threads.iter().enumerate() {
            let (phase, intent) = world.thread(&model.layout, thread);
            self.tell_home(place.node, 1, mix(1, phase as u64));
            if phase != ThreadState::Free {
                let intent = &model.client.intents[intent];
                let object = intent.object();
                let told = mix(phase as u64, kind_of(intent) << 2 | self.relation(place.node, object));
                self.tell_object(object, 1, told);
                self.tell_home(place.node, 1, told);
            }
        }
        for flight in &world.flights {
            let [to, from] = [flight.to, flight.from].map(|node| self.relation(node, flight.object));
            let told = mix(u64::from(flight.message.0) << 4 | to << 2 | from, flight.args.words().len() as u64);
            self.tell_object(flight.object, 1, told);
            self.tell_home(flight.to, 1, mix(told, 1));
            self.tell_home(flight.from, 1, mix(told, 2));
        }
        self.sign_contents(world);
        self.sign_homes(1);
    }

    /// Whether no two that are alike have the same signature so far.
    fn are_told_apart(&self) -> bool {
        let sign = |item: &Item| self.signatures[*item];
        let is_apart = |class: &Vec<Item>| {
            class.iter().enumerate().all(|(at, one)| class[..at].iter().all(|other| sign(one) != sign(other)))
        };
        self.orders[0].sources.iter().all(is_apart)
    }

    /// A home is known by its objects, too.
    fn sign_homes(&mut self, part: usize) {
        let model = self.model;
        for object in model.all_objects() {
            let told =
                mix(u64::from(object.kind.0), self.items.object(object).map_or(0, |item| self.signatures[item][part]));
            self.tell_home(model.home(object), part, told);
        }
    }

    fn sign_records(&mut self, world: &World) {
        let mut records = std::mem::take(&mut self.records);
        for SeenRecord { record, nameless, place, told, items } in &mut records {
            let bytes = &world.fixed[record.at.clone()];
            let told = *told.of(bytes, |told| *told = self.tell(record, nameless, *place, bytes));
            for item in items.iter().flatten() {
                self.signatures[*item][0] = self.signatures[*item][0].wrapping_add(told);
            }
        }
        self.records = records;
    }

    /// What a record tells without naming any node.
    fn tell(&self, record: &RecordAt, nameless: &[Range<usize>], place: u64, bytes: &[u8]) -> u64 {
        let nameless = nameless.iter().flat_map(|range| &bytes[range.clone()]);
        let mut told = nameless.fold(place, |told, &byte| mix(told, u64::from(byte)));
        if record.names_nodes {
            self.model.engine.named_nodes(record.role, bytes, |at, named| {
                let who = u64::from(named == record.node) << 2 | self.relation(named, record.object);
                told = told.wrapping_add(mix(place, who << 32 | u64::from(at)));
            });
        }
        told
    }

    /// Whether what copies contain is what the last store has left: which value it is may have no name.
    fn sign_contents(&mut self, world: &World) {
        let layout = &self.model.layout;
        for block in 0..self.model.objects[BLOCK.index()] {
            let object = Object { kind: BLOCK, id: block };
            let last = layout.last(block).map(|at| world.number(at));
            for node in self.model.all_nodes() {
                let word = world.number(layout.block(node, block));
                let line = layout.line(node, object).map_or(0, |(state, _)| u64::from(world.fixed[state]));
                let what = u64::from(Some(word) == last) << 1 | u64::from(word == layout.garbage);
                self.tell_object(object, 1, mix(line << 2 | what, self.relation(node, object)));
            }
        }
    }
}

/// Which kind of access or call it is.
fn kind_of(intent: &Intent) -> u64 {
    match intent {
        Intent::Read { .. } => 0,
        Intent::Write { .. } | Intent::WriteBeside { .. } | Intent::Store { .. } => 1,
        Intent::Rmw { .. } => 2,
        Intent::Image { .. } => 3,
        Intent::Call { op, .. } => 4 + u64::from(op.0),
    }
}

/// All orders; `None` if a thread may do something with one object that it may not do with another.
fn orders(
    model: &Model,
    records: &[RecordAt],
    (placement, with_objects): (&Placement, bool),
    items: &Items,
) -> Option<Vec<Arrangement>> {
    let of_homes: Vec<_> = placement.classes.iter().map(|class| permutations(class.len())).collect();
    let of_objects =
        |ids: &Vec<u32>| if with_objects { permutations(ids.len()) } else { vec![(0..ids.len()).collect()] };
    let of_objects: Vec<_> = placement.objects.values().map(of_objects).collect();
    let of_objects = choices(&of_objects);
    let mut orders = Vec::new();
    for homes in choices(&of_homes) {
        let mut nodes: Vec<Node> = model.all_nodes().collect();
        let mut of_homes = Vec::new();
        for (class, order) in placement.classes.iter().zip(&homes) {
            order.iter().zip(class).for_each(|(&from, &name)| nodes[usize::from(class[from])] = name);
            of_homes.push(order.iter().map(|&from| usize::from(class[from])).collect());
        }
        for within in &of_objects {
            let mut objects: Vec<Vec<u32>> = model.objects.iter().map(|&count| (0..count).collect()).collect();
            let mut all: Vec<Vec<Item>> = of_homes.clone();
            for (((home, kind), ids), order) in placement.objects.iter().zip(within) {
                let names = &placement.objects[&(nodes[usize::from(*home)], *kind)];
                order.iter().zip(names).for_each(|(&from, &name)| objects[kind.index()][ids[from] as usize] = name);
                if with_objects {
                    let item = |&from: &usize| items.object(Object { kind: *kind, id: ids[from] });
                    all.push(order.iter().filter_map(item).collect());
                }
            }
            let names = Names::of_objects(model, nodes.clone(), objects)?;
            orders.push(Arrangement { bytes: sources(model, records.iter(), &names), names, sources: all });
        }
    }
    Some(orders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_once_and_the_first_changes_nothing() {
        let mut all = permutations(4);
        assert_eq!(all[0], [0, 1, 2, 3]);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 24);
        assert_eq!(permutations(0), [Vec::<usize>::new()]);
        assert_eq!(choices(&[vec![1, 2], vec![3]]), [[1, 3], [2, 3]]);
    }
}
