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
//! 3. *Twins.* Nodes that are open are tried in pairs: if the state stays as it is when they change places, as it does for 1 and 3, then
//!    each order with the one in a place gives the same bytes as one with the other there, and one is enough.
//! 4. *Try.* Each order that is left renames the state, and the least bytes are its form: here `sharers={1}`, whichever of the three had the copy.
//!
//! Nodes that are homes are alike where their objects are: `homes`. Such names are given first, and what is said here is done to each state that they make.
//!
//! A collision of signatures costs orders that need not be tried, never a wrong form. [`Symmetry::pack_least`] tries all orders without
//! signatures and twins: tests compare the two.

use super::homes::{HomeNames, orders_of};
use super::names::{Names, RecordAt, rename};
use super::pack::{Packed, pack};
use super::renamed::Renamed;
use super::signing::Signing;
use super::values::ValueNames;
use crate::config::Config;
use crate::report::Exchanged;
use crate::system::alike::nodes_are_alike;
use crate::system::model::Model;
use crate::system::progress::Wishes;
use crate::system::values::{NameSpaces, stand_for_any, values_are_alike};
use crate::system::world::World;
use rustc_hash::FxHashMap;
use trivium_engine::Node;
use trivium_engine::number::{fit, index};

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
    records: Vec<RecordAt>,
    signing: Signing<'m>,
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
    /// The image as it is written, where `is_short`.
    written: Renamed<'m>,
    /// Whether the present state suits it.
    is_short: bool,
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

/// Packs a state whose homes and objects keep their names, to which a step may lead from another.
type PackWithHomes<'m> = fn(&mut Symmetry<'m>, Option<&World>, &World, &mut Packed);

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

impl<'m> Symmetry<'m> {
    /// What can be exchanged in a system: nodes, objects with their homes, and values, as far as it is wanted. `None` if nothing can.
    pub fn of(model: &'m Model, config: &Config) -> Option<Symmetry<'m>> {
        // What is kept of copies names threads, objects and contents.
        if !config.symmetry || model.layout.copies.is_some() {
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
        Symmetry {
            model,
            orders: classes.clone(),
            written: Renamed::new(model, &classes),
            is_short: false,
            signing: Signing::new(model, &classes),
            classes,
            records: RecordAt::all(model).collect(),
            signatures: vec![0; model.nodes as usize],
            twins: model.all_nodes().collect(),
            to: Names::of_nodes(model, Vec::new()),
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
        self.pack_from(None, world, out);
    }

    /// From now on steps lead from this state.
    pub fn set_out(&mut self, from: &World) {
        if !self.classes.is_empty() {
            self.signing.set_out(from, self.values.as_ref());
        }
    }

    /// The packed bytes of the form of a state to which a step leads, if one does, from that which was given last to
    /// [`Symmetry::set_out`].
    pub fn pack_from(&mut self, from: Option<&World>, world: &World, out: &mut Packed) {
        let Some(mut homes) = self.homes.take() else { return self.pack_with_homes(from, world, out) };
        homes.sign(world);
        self.pack_in_orders(&mut homes, from, world, out, Symmetry::pack_with_homes);
        self.homes = Some(homes);
    }

    /// The least of the forms of a state in the orders of homes and objects in which their signatures ascend.
    fn pack_in_orders(
        &mut self,
        homes: &mut HomeNames<'m>,
        from: Option<&World>,
        world: &World,
        least: &mut Packed,
        pack: PackWithHomes<'m>,
    ) {
        let (mut bytes, mut best) = (std::mem::take(&mut self.bytes_of_homes), Vec::new());
        least.clear();
        for order in 0..homes.len() {
            if !homes.ascends(order) {
                continue;
            }
            // The first order changes no name.
            pack(self, from.filter(|_| order == 0), homes.image(order, world), &mut bytes);
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
    fn pack_with_homes(&mut self, from: Option<&World>, world: &World, out: &mut Packed) {
        if self.classes.is_empty() {
            return pack_values(self.model, self.values.as_mut(), false, world, out);
        }
        match from {
            Some(from) => self.signing.sign_next(from, world, self.values.as_ref(), &mut self.signatures),
            None => self.signing.sign(world, self.values.as_ref(), &mut self.signatures),
        }
        self.is_short = Renamed::suits(world);
        self.pack_sorted(world, out);
    }

    fn pack_sorted(&mut self, world: &World, out: &mut Packed) {
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
        (Names::of_nodes(self.model, nodes), index(renaming))
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
        let Some(mut homes) = self.homes.take() else { return self.pack_least_with_homes(None, world, out) };
        homes.forget_signatures();
        self.pack_in_orders(&mut homes, None, world, out, Symmetry::pack_least_with_homes);
        self.homes = Some(homes);
    }

    fn pack_least_with_homes(&mut self, _: Option<&World>, world: &World, out: &mut Packed) {
        self.signatures.fill(0);
        self.sort();
        self.forget_twins();
        (self.tries_all, self.is_short) = (true, false);
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
        for group in orders.iter().flat_map(|order| order.chunk_by(alike)).filter(|group| group.len() > 1) {
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
        if self.is_short
            && let Some(is_kept) = self.written.is_kept(&self.to, [one, other], world)
        {
            return is_kept;
        }
        self.rename(world);
        self.image == *world
    }

    fn pack_signed(&mut self, world: &World, out: &mut Packed) {
        out.clear();
        let mut orders = std::mem::take(&mut self.orders);
        let sign = |node: &Node| self.signatures[*node as usize];
        let twin = |node: &Node| self.twins[*node as usize];
        let is_before = |a: &Node, b: &Node| sign(a) < sign(b) || twin(a) == twin(b);
        let is_settled = orders.iter().all(|order| order.is_sorted_by(is_before));
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
        let names = is_renamed.then_some(&self.to);
        if !(self.is_short
            && self.written.make(names, world)
            && self.written.pack(self.values.as_mut(), world, &mut bytes))
        {
            self.pack_whole(world, is_renamed, &mut bytes);
        }
        if least.is_empty() || *bytes < **least {
            std::mem::swap(&mut bytes, least);
            self.best.clone_from(&self.to.nodes);
        }
        self.bytes = bytes;
    }

    /// Writes a state with the new names.
    fn pack_whole(&mut self, world: &World, is_renamed: bool, bytes: &mut Packed) {
        if is_renamed {
            self.rename(world);
        }
        let image = if is_renamed { &self.image } else { world };
        pack_values(self.model, self.values.as_mut(), self.tries_all, image, bytes);
    }

    /// Makes the image the state with all nodes renamed.
    fn rename(&mut self, world: &World) {
        rename(self.model, self.records.iter(), &self.to, world, &mut self.image);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::System;
    use crate::search::FastSearch;
    use crate::search::pack::unpack;
    use crate::search::store::state_number;
    use crate::step::Stepper;
    use std::path::Path;
    use std::sync::Arc;

    /// The form of a state that is signed from nothing and renamed whole.
    fn pack_whole(symmetry: &mut Symmetry, world: &World, out: &mut Packed) {
        symmetry.signing.sign(world, symmetry.values.as_ref(), &mut symmetry.signatures);
        symmetry.is_short = false;
        symmetry.pack_sorted(world, out);
    }

    /// How many steps between states of a system lead to the same form, whether it is found from the state before or from nothing; and
    /// how many of these forms were found without making the whole state.
    fn steps(name: &str, system: System) -> (usize, usize) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(name);
        let protocol = Arc::new(trivium_lang::compile_file(&path, &[]).unwrap());
        let model = Model::new(&protocol, &system).unwrap();
        let config = Config { symmetry: false, liveness: false, max_states: Some(3000), system, ..Config::default() };
        let mut search = FastSearch::new(&model, &config);
        search.visit();
        let mut symmetry = Symmetry::of(&model, &Config { symmetry: true, ..config.clone() }).unwrap();
        let (mut stepper, mut actions) = (Stepper::late(&model), Vec::new());
        let (mut world, mut bytes, mut whole) = (World::default(), Packed::default(), Packed::default());
        let (mut steps, mut short) = (0, 0);
        for state in (0..state_number(search.states.len())).step_by(3) {
            unpack(&model, search.states.arena.get(state), &mut world);
            symmetry.set_out(&world);
            stepper.actions(&world, &mut actions);
            for &action in &actions {
                stepper.any_way(&world, action, |_, next, result| {
                    if result.is_ok() {
                        symmetry.pack_from(Some(&world), &next, &mut bytes);
                        let (renaming, signatures) = (symmetry.renaming(), symmetry.signatures.clone());
                        short += usize::from(symmetry.is_short);
                        pack_whole(&mut symmetry, &next, &mut whole);
                        assert_eq!(symmetry.signatures, signatures, "{name}");
                        assert_eq!(*bytes, *whole, "{name}");
                        assert_eq!(symmetry.renaming(), renaming, "{name}");
                        steps += 1;
                    }
                    false
                });
            }
        }
        (steps, short)
    }

    #[test]
    fn forms_are_the_same_found_from_the_state_before_or_from_nothing() {
        let system = |nodes, values| System { nodes, values, ..System::default() };
        let (mut all, mut short) = (0, 0);
        for (name, nodes, values) in [
            ("german.tri", 4, 2),
            ("msi.tri", 4, 2),
            ("moesi.tri", 4, 3),
            ("stache.tri", 4, 2),
            ("flash-coherence.tri", 4, 2),
            ("flash-relaxed.tri", 3, 2),
            ("eager.tri", 4, 3),
            ("update.tri", 4, 3),
            ("write-update.tri", 4, 2),
            ("migratory.tri", 4, 3),
            ("mshr.tri", 3, 2),
            ("tso-cc.tri", 4, 2),
            ("release-probe.tri", 4, 2),
            ("token-lock.tri", 4, 2),
            ("pair-credits.tri", 4, 2),
            ("retry-credits.tri", 4, 2),
        ] {
            let (of_this, short_of_this) = steps(name, system(nodes, values));
            assert!(of_this > 50, "{name}: {of_this}");
            (all, short) = (all + of_this, short + short_of_this);
        }
        assert!(short > all / 2, "{short} of {all}");
    }
}
