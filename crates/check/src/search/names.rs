//! A state in which nodes, and objects with their homes, have other names.

use crate::system::client::Intent;
use crate::system::layout::Layout;
use crate::system::model::Model;
use crate::system::progress::{Demand, image};
use crate::system::world::{Flight, Queued, ThreadState, World};
use std::ops::Range;
use trivium_engine::number::{fit, index};
use trivium_engine::{Node, Object};
use trivium_protocol::{BLOCK, EventKind, ObjectKindId, OpId, Promise, RoleId};

/// Why the number of an intent is small.
const COUNTED: &str = "the number of something that a thread may do: more than 65,535 are refused";

/// New names: each is given once.
#[derive(Clone, Default)]
pub(super) struct Names {
    /// Of each node.
    pub nodes: Vec<Node>,
    /// Of each object, by its kind; none where objects keep theirs.
    pub objects: Vec<Vec<u32>>,
    /// What everything becomes that a thread may do; none where that is found out when it is needed.
    intents: Vec<u16>,
    /// Whether all that stays what it is.
    keeps_intents: bool,
}

impl Names {
    /// New names of nodes alone.
    pub fn of_nodes(model: &Model, nodes: Vec<Node>) -> Names {
        Names { nodes, keeps_intents: keeps_intents(model), ..Names::default() }
    }

    /// New names of objects with their homes, if whatever a thread may do has an image.
    pub fn of_objects(model: &Model, nodes: Vec<Node>, objects: Vec<Vec<u32>>) -> Option<Names> {
        let mut names = Names { nodes, objects, ..Names::default() };
        let intents = (0..model.client.intents.len()).map(|number| names.intent(model, number));
        names.intents = intents.map(|image| Some(fit(image?, COUNTED))).collect::<Option<_>>()?;
        Some(names)
    }

    pub fn object(&self, object: Object) -> Object {
        match self.objects.get(object.kind.index()) {
            Some(names) => Object { id: names.get(object.id as usize).copied().unwrap_or(object.id), ..object },
            None => object,
        }
    }

    /// The objects of a kind, each with its new name.
    fn objects_of(&self, model: &Model, kind: ObjectKindId) -> impl Iterator<Item = (u32, u32)> {
        let renamed = move |id| (id, self.object(Object { kind, id }).id);
        (0..model.objects[kind.index()]).map(renamed)
    }

    /// The thread that a thread becomes.
    pub fn thread(&self, model: &Model, thread: usize) -> usize {
        let place = model.client.threads[thread];
        usize::from(
            model.client.threads_of[usize::from(self.nodes[usize::from(place.node)])][usize::from(place.number)],
        )
    }

    /// What something becomes that a thread may do, if a thread may do that.
    fn intent(&self, model: &Model, number: usize) -> Option<usize> {
        if let Some(image) = self.intents.get(number) {
            return Some(usize::from(*image));
        }
        let intent = &model.client.intents[number];
        if self.objects.is_empty() && !Names::names_nodes(model, intent) {
            return Some(number);
        }
        let block = |block: u32| self.object(Object { kind: BLOCK, id: block }).id;
        let wanted = match intent {
            Intent::Read { block: id } => Intent::Read { block: block(*id) },
            Intent::Write { block: id, value } => {
                Intent::Write { block: block(*id), value: self.announced(model, *value) }
            }
            Intent::WriteBeside { block: id } => Intent::WriteBeside { block: block(*id) },
            Intent::Rmw { block: id, value } => Intent::Rmw { block: block(*id), value: self.announced(model, *value) },
            Intent::Store { block: id } => Intent::Store { block: block(*id) },
            Intent::Image { object } => Intent::Image { object: self.object(*object) },
            Intent::Call { op, object, args } => {
                let args = model.engine.rename_args(EventKind::Op(*op), args, &self.nodes);
                Intent::Call { op: *op, object: self.object(*object), args }
            }
        };
        model.client.intents.iter().position(|intent| *intent == wanted)
    }

    fn names_nodes(model: &Model, intent: &Intent) -> bool {
        match intent {
            Intent::Write { .. } | Intent::Rmw { .. } => model.layout.mark.as_ref().is_some_and(|mark| mark.observes),
            Intent::Call { op, .. } => model.engine.args_name_nodes(EventKind::Op(*op)),
            _ => false,
        }
    }

    /// A store, or an exchange, that announces which thread observes it names that thread.
    fn announced(&self, model: &Model, value: u64) -> u64 {
        let observes = model.layout.mark.as_ref().is_some_and(|mark| mark.observes);
        match value.checked_sub(1) {
            Some(observer) if observes => self.thread(model, index(observer)) as u64 + 1,
            _ => value,
        }
    }

    /// What each thread and demand becomes (`crate::system::progress`).
    pub fn wishes(&self, model: &Model) -> Vec<u8> {
        image(model, |thread| self.thread(model, thread), |demand| self.demand(demand))
    }

    fn demand(&self, demand: Demand) -> Demand {
        let node = demand.node.map(|node| self.nodes[usize::from(node)]);
        Demand { node, object: self.object(demand.object), ..demand }
    }
}

/// Where a record lies.
pub(super) struct RecordAt {
    pub node: Node,
    pub role: RoleId,
    pub object: Object,
    pub at: Range<usize>,
    pub names_nodes: bool,
}

impl RecordAt {
    /// All records of a system.
    pub fn all(model: &Model) -> impl Iterator<Item = RecordAt> {
        model.instances().filter_map(|(node, role, object)| {
            let at = model.layout.record(node, role, object.id)?;
            Some(RecordAt { node, role, object, at, names_nodes: model.engine.names_nodes(role) })
        })
    }
}

/// Makes the image the state with these names.
pub(super) fn rename<'r>(
    model: &Model,
    records: impl Iterator<Item = &'r RecordAt> + Clone,
    names: &Names,
    world: &World,
    image: &mut World,
) {
    image.fixed.clone_from(&world.fixed);
    move_bytes(model, records.clone(), names, &world.fixed, &mut image.fixed);
    rename_records(model, records, names, image);
    rename_told(model, names, image);
    rename_moving(model, world, image, names);
}

/// For each byte of the fixed part the one that comes there under these names.
pub(super) fn sources<'r>(
    model: &Model,
    records: impl Iterator<Item = &'r RecordAt> + Clone,
    names: &Names,
) -> Vec<u32> {
    let mut sources = vec![0; model.layout.len];
    // Where a byte comes from shows in bytes that say where they are, digit by digit.
    for digit in 0..size_of::<u32>() {
        let places = 0..fit::<_, u32>(model.layout.len, "the length of the fixed part, which has a limit");
        let bytes: Vec<u8> = places.map(|place| place.to_le_bytes()[digit]).collect();
        let mut moved = bytes.clone();
        move_bytes(model, records.clone(), names, &bytes, &mut moved);
        sources.iter_mut().zip(moved).for_each(|(source, byte)| *source |= u32::from(byte) << (8 * digit));
    }
    sources
}

/// The same with the bytes of the fixed part moved by [`sources`].
pub(super) fn rename_from<'r>(
    model: &Model,
    records: impl Iterator<Item = &'r RecordAt>,
    (names, sources): (&Names, &[u32]),
    world: &World,
    image: &mut World,
) {
    image.fixed.clear();
    image.fixed.extend(sources.iter().map(|source| world.fixed[*source as usize]));
    rename_records(model, records, names, image);
    rename_told(model, names, image);
    rename_moving(model, world, image, names);
}

/// Moves what is kept of nodes, threads and objects to where that of their new names lies. What is no such thing's stays.
fn move_bytes<'r>(
    model: &Model,
    records: impl Iterator<Item = &'r RecordAt>,
    names: &Names,
    from: &[u8],
    to: &mut [u8],
) {
    let layout: &Layout = &model.layout;
    let mut copy = |new: Range<usize>, old: Range<usize>| {
        if new != old {
            to[new].copy_from_slice(&from[old]);
        }
    };
    if names.objects.is_empty() {
        // Nodes that change places are home of nothing, so that all of each lies as all of the other does.
        for (node, &name) in model.all_nodes().zip(&names.nodes).filter(|(node, name)| node != *name) {
            copy(layout.records(name), layout.records(node));
            copy(layout.contents(name), layout.contents(node));
        }
    } else {
        for record in records {
            let (name, object) = (names.nodes[usize::from(record.node)], names.object(record.object));
            if let Some(at) = layout.record(name, record.role, object.id) {
                copy(at, record.at.clone());
            }
        }
        move_blocks(model, names, &mut copy);
    }
    for thread in 0..model.client.threads.len() {
        let other = names.thread(model, thread);
        copy(layout.thread(other), layout.thread(thread));
        for (assumption, op) in counted_calls(model) {
            for (object, renamed) in names.objects_of(model, model.protocol().ops[op.index()].object) {
                let [new, old] = [(other, renamed), (thread, object)].map(|(t, o)| layout.assumed(assumption, t, o));
                copy(new..new + 1, old..old + 1);
            }
        }
        if let Some(mark) = &layout.mark {
            let [new, old] = [other, thread].map(|thread| mark.thread(thread));
            copy(new..new + 1, old..old + 1);
        }
    }
    for demand in &model.demands {
        let renamed = names.demand(*demand);
        if let Some(other) = model.demands.iter().find(|other| other.is_of(&renamed)) {
            copy(other.at..other.at + 1, demand.at..demand.at + 1);
        }
    }
    if !names.objects.is_empty() {
        move_remembered(model, names, &mut copy);
    }
}

/// Memories and caches. Where objects have other names nobody addresses memory, so that there is nothing but blocks.
fn move_blocks(model: &Model, names: &Names, copy: &mut impl FnMut(Range<usize>, Range<usize>)) {
    let layout: &Layout = &model.layout;
    for (node, &name) in model.all_nodes().zip(&names.nodes) {
        for (block, renamed) in names.objects_of(model, BLOCK) {
            layout
                .block_words(name, renamed)
                .zip(layout.block_words(node, block))
                .for_each(|(new, old)| copy(new, old));
        }
        for object in layout.lined() {
            let renamed = names.object(object);
            if let (Some((new, new_word)), Some((old, word))) = (layout.line(name, renamed), layout.line(node, object))
            {
                copy(new..new + 1, old..old + 1);
                copy(new_word, word);
            }
        }
    }
}

/// What the properties remember of each object.
fn move_remembered(model: &Model, names: &Names, copy: &mut impl FnMut(Range<usize>, Range<usize>)) {
    let layout: &Layout = &model.layout;
    for (block, renamed) in names.objects_of(model, BLOCK) {
        for (new, old) in [(layout.last(renamed), layout.last(block)), (layout.writer(renamed), layout.writer(block))] {
            new.zip(old).into_iter().for_each(|(new, old)| copy(new, old));
        }
        if let (Some((new, new_set)), Some((old, set))) = (layout.phase(renamed), layout.phase(block)) {
            copy(new, old);
            copy(new_set, set);
        }
    }
    for (number, promise) in model.protocol().promises.iter().enumerate() {
        let (Promise::Mutex(op, _) | Promise::Barrier(op)) = promise else { continue };
        for (object, renamed) in names.objects_of(model, model.protocol().ops[op.index()].object) {
            match promise {
                Promise::Mutex(..) => copy(layout.holder(number, renamed), layout.holder(number, object)),
                _ => copy(layout.arrived(number, renamed), layout.arrived(number, object)),
            }
            if let Some(mark) = layout.mark.as_ref().filter(|mark| mark.synchronises) {
                let [new, old] = [renamed, object].map(|object| mark.handed_on(number, object));
                copy(new..new + 1, old..old + 1);
            }
        }
    }
}

/// The assumptions for which is remembered what each thread has done to each object, with a call that they are about.
fn counted_calls(model: &Model) -> impl Iterator<Item = (usize, OpId)> {
    let assumptions = model.protocol().assumptions.iter().enumerate();
    assumptions.filter_map(|(number, assume)| Some((number, assume.counted_call()?)))
}

/// Whether nothing that a thread may do names nodes.
pub(super) fn keeps_intents(model: &Model) -> bool {
    !model.client.intents.iter().any(|intent| Names::names_nodes(model, intent))
}

/// Whether the fixed part names nodes besides those that records and threads name.
pub(super) fn names_more(model: &Model) -> bool {
    let is_told = |promise: &Promise| matches!(promise, Promise::Mutex(..) | Promise::Barrier(_));
    model.protocol().has_phases() || model.protocol().promises.iter().any(is_told) || model.layout.mark.is_some()
}

/// Gives new names to what records name, which lie where they should.
fn rename_records<'r>(model: &Model, records: impl Iterator<Item = &'r RecordAt>, names: &Names, image: &mut World) {
    for record in records.filter(|record| record.names_nodes) {
        model.engine.rename_record(record.role, &mut image.fixed[record.at.clone()], &names.nodes);
    }
}

/// Gives new names to what the rest of the fixed part names, which lies where it should.
pub(super) fn rename_told(model: &Model, names: &Names, image: &mut World) {
    let layout: &Layout = &model.layout;
    let threads = if names.keeps_intents { 0 } else { model.client.threads.len() };
    for thread in 0..threads {
        let (phase, number) = image.thread(layout, thread);
        // The general client can do everything with every node and object in place of another like it.
        if phase != ThreadState::Free
            && let Some(intent) = names.intent(model, number)
            && intent != number
        {
            image.set_thread(layout, thread, phase, intent);
        }
        if let Some(told) = image.told(layout, thread) {
            image.set_told(layout, thread, names.intent(model, told).or(Some(told)));
        }
        if let Some((act, place)) = image.act(layout, thread)
            && let Some(renamed) = names.intent(model, act)
            && renamed != act
        {
            image.set_act(layout, thread, renamed, fit(place, "the number of a place: there are at most 65,535"));
        }
    }
    let thread = |thread: u64| names.thread(model, index(thread)) as u64;
    for at in (0..model.blocks()).filter_map(|block| layout.writer(block)) {
        rename_number(image, at, |node| names.nodes[index(node)].into());
    }
    for (number, promise) in model.protocol().promises.iter().enumerate() {
        let (Promise::Mutex(op, _) | Promise::Barrier(op)) = promise else { continue };
        for object in 0..model.objects[model.protocol().ops[op.index()].object.index()] {
            match promise {
                Promise::Mutex(..) => rename_number(image, layout.holder(number, object), thread),
                _ => rename_arrived(&mut image.fixed[layout.arrived(number, object)], names),
            }
        }
    }
    if let Some(mark) = &layout.mark {
        let renamed = |block| names.object(Object { kind: BLOCK, id: fit(block, "a block") }).id.into();
        rename_number(image, mark.block(), renamed);
        rename_number(image, mark.observer(), thread);
    }
}

/// Renames what a number stands for, which is one more, or 0 for nothing.
fn rename_number(image: &mut World, at: Range<usize>, rename: impl Fn(u64) -> u64) {
    if let Some(named) = image.number(at.clone()).checked_sub(1) {
        image.set_number(at, rename(named) + 1);
    }
}

/// The nodes that have arrived at a barrier, a bit each.
fn rename_arrived(arrived: &mut [u8], names: &Names) {
    let old = arrived.to_vec();
    arrived.fill(0);
    for (node, &name) in names.nodes.iter().enumerate() {
        if old[node / 8] >> (node % 8) & 1 == 1 {
            arrived[usize::from(name) / 8] |= 1 << (name % 8);
        }
    }
}

/// Software queues and messages.
fn rename_moving(model: &Model, world: &World, image: &mut World, names: &Names) {
    let to = &names.nodes[..];
    image.queues.resize(world.queues.len(), Vec::new());
    for (node, queue) in world.queues.iter().enumerate() {
        let renamed = &mut image.queues[usize::from(to[node])];
        renamed.clear();
        renamed.extend(queue.iter().map(|queued| Queued {
            object: names.object(queued.object),
            args: model.engine.rename_args(EventKind::Task(queued.task), &queued.args, to),
            ..*queued
        }));
    }
    image.flights.clear();
    image.flights.extend(world.flights.iter().map(|flight| {
        model.codec.sealed(Flight {
            to: to[usize::from(flight.to)],
            from: to[usize::from(flight.from)],
            object: names.object(flight.object),
            args: model.engine.rename_args(EventKind::Message(flight.message), &flight.args, to),
            ..*flight
        })
    }));
    image.sort_flights(|lane| model.lanes[lane.index()].fifo);
}
