//! Where records and arguments name nodes, and the same with other names, for whoever explores protocols whose nodes
//! are alike.

use crate::array::ArrayCell;
use crate::engine::Engine;
use crate::layout::{Cell, ListCell, Names, SetCell, Shape};
use crate::mechanisms::{Args, Node, Payload};
use crate::number::fit;
use crate::set::Set;
use std::ops::Range;
use trivium_protocol::{EventKind, RoleId};

impl Engine {
    /// Whether records of a role have places for nodes.
    pub fn names_nodes(&self, role: RoleId) -> bool {
        let plan = &self.roles[role.index()];
        plan.vars.iter().any(Shape::names_nodes) || plan.defers.as_ref().is_some_and(|d| d.names_nodes())
    }

    /// The data of a record's deferred events, oldest first.
    pub fn deferred_data(&self, role: RoleId, record: &[u8]) -> impl Iterator<Item = Payload> {
        self.roles[role.index()].defers.iter().flat_map(|defers| defers.payloads(record))
    }

    /// The same data become others.
    pub fn change_deferred_data(&self, role: RoleId, record: &mut [u8], change: impl Fn(Payload) -> Payload) {
        if let Some(defers) = &self.roles[role.index()].defers {
            defers.change_payloads(record, change);
        }
    }

    /// Whether deferred events of a role could bring data.
    pub fn defers_data(&self, role: RoleId) -> bool {
        self.roles[role.index()].defers.as_ref().is_some_and(|defers| defers.brings_data())
    }

    /// The bytes of a role's records that never name a node, nor data.
    pub fn nameless_bytes(&self, role: RoleId) -> Vec<Range<usize>> {
        let plan = &self.roles[role.index()];
        let naming = plan.vars.iter().filter(|shape| shape.names_nodes()).map(Shape::extent);
        let deferred = plan.defers.as_ref().filter(|d| d.names_nodes() || d.brings_data()).map(|d| d.extent());
        let mut ranges = Vec::new();
        let mut from = 0;
        for (at, bytes) in naming.chain(deferred) {
            ranges.push(from..at as usize);
            from = (at + bytes) as usize;
        }
        ranges.push(from..plan.bytes);
        ranges.retain(|range| !range.is_empty());
        ranges
    }

    /// Renames all nodes that a record names; `to` has the new name of each node, each name once.
    pub fn rename_record(&self, role: RoleId, record: &mut [u8], to: &[Node]) {
        let (plan, few) = (&self.roles[role.index()], self.few());
        for shape in plan.vars.iter().filter(|shape| shape.names_nodes()) {
            rename_shape(shape, record, to, few);
        }
        let Some(defers) = plan.defers.as_ref().filter(|d| d.len(record) > 0 && d.names_nodes()) else { return };
        defers.naming_mut(record, |record, at, shape| match shape {
            Shape::Scalar(cell) => rename_cell(cell, record, at, to),
            Shape::Set(set) => rename_set(set, record, at, to, few),
            Shape::Array(array) => rename_array(array, record, at, to),
            Shape::List(list) => rename_list(list, record, at, to),
            Shape::Record(_) => {}
        });
    }

    /// Tells each node that a record names, with a number that says where: the same for records that differ only in
    /// names.
    pub fn named_nodes(&self, role: RoleId, record: &[u8], mut see: impl FnMut(u32, Node)) {
        let (plan, few) = (&self.roles[role.index()], self.few());
        for (number, shape) in plan.vars.iter().enumerate().filter(|(_, shape)| shape.names_nodes()) {
            let place = fit::<_, u32>(number, "the number of a variable, which has 16 bits") << 16;
            see_shape(shape, record, place, few, &mut see);
        }
        let Some(defers) = plan.defers.as_ref().filter(|d| d.len(record) > 0) else { return };
        let mut place = fit::<_, u32>(plan.vars.len(), "the number of a variable, which has 16 bits") << 16;
        defers.naming(record, &mut |at, shape| {
            place += 1;
            match shape {
                Shape::Scalar(cell) => see_cell(cell, record, at, place, &mut see),
                Shape::Set(set) => set.each(record, at, few, |node| see(place, fit(node, "the number of a node"))),
                Shape::Array(array) => see_array(array, record, at, place, &mut see),
                // The next event's place follows: those of the elements are apart from all of them.
                Shape::List(list) => see_list(list, record, at, place << 8, &mut see),
                Shape::Record(_) => {}
            }
        });
    }

    /// Whether arguments of an event have places for nodes.
    pub fn args_name_nodes(&self, event: EventKind) -> bool {
        self.args.of(event).iter().any(Shape::names_nodes)
    }

    /// Arguments of an event with all nodes renamed.
    pub fn rename_args(&self, event: EventKind, args: &Args, to: &[Node]) -> Args {
        let mut renamed = Args::NONE;
        let mut words = args.words();
        for shape in self.args.of(event) {
            let Some((mine, rest)) = shape.split(words) else { break };
            words = rest;
            match shape {
                Shape::Scalar(cell) if cell.names != Names::Nothing => renamed.push(renamed_field(cell, mine[0], to)),
                Shape::Set(set) if set.nodes => {
                    let value = renamed_set(&Set::of_words(mine), to, self.few());
                    value.0[..mine.len()].iter().for_each(|&word| renamed.push(word.cast_signed()));
                }
                Shape::Array(array) if array.names_nodes() => {
                    let words = Set::of_words(mine);
                    let values: Vec<i64> = array.values_of_words(&words).collect();
                    let value = array.to_words(renamed_values(array, &values, to).into_iter());
                    value.0[..mine.len()].iter().for_each(|&word| renamed.push(word.cast_signed()));
                }
                Shape::List(list) if shape.names_nodes() => {
                    let words = Set::of_words(mine);
                    let values = list.values_of_words(&words).zip(list.fields.iter().cycle());
                    let values: Vec<i64> = values.map(|(value, field)| renamed_field(field, value, to)).collect();
                    let value = list.to_words(&values);
                    value.0[..mine.len()].iter().for_each(|&word| renamed.push(word.cast_signed()));
                }
                _ => mine.iter().for_each(|&word| renamed.push(word)),
            }
        }
        renamed
    }
}

fn renamed_node(node: i64, to: &[Node]) -> i64 {
    usize::try_from(node).ok().and_then(|node| to.get(node)).map_or(node, |&node| i64::from(node))
}

fn renamed_field(field: &Cell, value: i64, to: &[Node]) -> i64 {
    match field.names {
        Names::Nothing => value,
        Names::Node => renamed_node(value, to),
        Names::Nodes => each_bit(value).fold(0, |renamed, node| renamed | 1 << renamed_node(node, to)),
    }
}

/// The elements of a set that is an element of an array, by their bits.
fn each_bit(bits: i64) -> impl Iterator<Item = i64> {
    let bits = bits.cast_unsigned();
    (0..64).filter(move |bit| bits >> bit & 1 == 1)
}

fn renamed_set(set: &Set, to: &[Node], few: bool) -> Set {
    let mut renamed = Set::default();
    set.iter(few).for_each(|node| renamed.insert(renamed_node(node, to)));
    renamed
}

fn rename_cell(cell: &Cell, record: &mut [u8], base: usize, to: &[Node]) {
    if cell.names != Names::Nothing {
        let value = cell.read(record, base);
        cell.write(record, base, renamed_field(cell, value, to));
    }
}

fn rename_set(set: &SetCell, record: &mut [u8], base: usize, to: &[Node], few: bool) {
    if let Some(word) = set.word(record, base) {
        let mut renamed = 0;
        set.each(record, base, few, |node| renamed |= 1 << renamed_node(node, to));
        if renamed != word {
            set.write_word(record, base, renamed);
        }
        return;
    }
    let mut renamed = Set::default();
    set.each(record, base, few, |node| renamed.insert(renamed_node(node, to)));
    set.write(record, base, &renamed);
}

/// The numbers of an array whose nodes have other names: by node, each element is now that of the node's new name.
fn renamed_values(array: &ArrayCell, values: &[i64], to: &[Node]) -> Vec<i64> {
    let mut renamed = values.to_vec();
    let width = array.fields.len();
    for (place, element) in values.chunks(width).enumerate() {
        let place = match (array.by_node, to.get(place)) {
            (true, Some(&name)) => usize::from(name),
            _ => place,
        };
        let new = &mut renamed[place * width..(place + 1) * width];
        for ((new, &old), field) in new.iter_mut().zip(element).zip(&array.fields) {
            *new = renamed_field(field, old, to);
        }
    }
    renamed
}

fn rename_array(array: &ArrayCell, record: &mut [u8], base: usize, to: &[Node]) {
    let values: Vec<i64> = array.values(record, base).collect();
    let renamed = renamed_values(array, &values, to);
    array.write(record, base, renamed.into_iter());
}

fn rename_list(list: &ListCell, record: &mut [u8], base: usize, to: &[Node]) {
    for element in 0..list.len(&record[base..]) {
        list.fields.iter().for_each(|cell| rename_cell(cell, record, base + list.element_at(element), to));
    }
}

fn see_list(list: &ListCell, record: &[u8], base: usize, place: u32, see: &mut impl FnMut(u32, Node)) {
    for element in 0..list.len(&record[base..]) {
        let place =
            place.wrapping_add(element * fit::<_, u32>(list.fields.len(), "a field, of which there are at most 16"));
        let fields = list.fields.iter().zip(place..);
        fields.for_each(|(cell, place)| see_cell(cell, record, base + list.element_at(element), place, see));
    }
}

/// By node, each element tells of its node what it holds, but for other nodes; what is a node itself is told as in a record.
fn see_array(array: &ArrayCell, record: &[u8], base: usize, place: u32, see: &mut impl FnMut(u32, Node)) {
    for element in 0..array.count {
        let at = base + array.element_at(element);
        if array.by_node {
            see(place ^ array.told(record, base, element), array.node(element));
        }
        // Where an array is by node, the number of an element is a name too.
        let first = if array.by_node { 0 } else { element * fit::<_, u32>(array.fields.len(), "at most 16 fields") };
        let fields = array.fields.iter().zip(place.wrapping_add(0x8000 + first)..);
        fields.for_each(|(cell, place)| see_cell(cell, record, at, place, see));
    }
}

fn rename_shape(shape: &Shape, record: &mut [u8], to: &[Node], few: bool) {
    match shape {
        Shape::Scalar(cell) => rename_cell(cell, record, 0, to),
        Shape::Set(set) => rename_set(set, record, 0, to, few),
        Shape::Record(fields) => fields.iter().for_each(|cell| rename_cell(cell, record, 0, to)),
        Shape::Array(array) => rename_array(array, record, 0, to),
        Shape::List(list) => rename_list(list, record, 0, to),
    }
}

fn see_cell(cell: &Cell, record: &[u8], base: usize, place: u32, see: &mut impl FnMut(u32, Node)) {
    match cell.names {
        Names::Nothing => {}
        Names::Node => {
            if let Ok(node) = Node::try_from(cell.read(record, base)) {
                see(place, node);
            }
        }
        Names::Nodes => {
            each_bit(cell.read(record, base)).for_each(|node| see(place, fit(node, "the number of a node")));
        }
    }
}

fn see_shape(shape: &Shape, record: &[u8], place: u32, few: bool, see: &mut impl FnMut(u32, Node)) {
    match shape {
        Shape::Scalar(cell) => see_cell(cell, record, 0, place, see),
        Shape::Set(set) => set.each(record, 0, few, |node| see(place, fit(node, "the number of a node"))),
        Shape::Record(fields) => {
            fields.iter().zip(place..).for_each(|(cell, place)| see_cell(cell, record, 0, place, see));
        }
        Shape::Array(array) => see_array(array, record, 0, place, see),
        Shape::List(list) => see_list(list, record, 0, place, see),
    }
}
