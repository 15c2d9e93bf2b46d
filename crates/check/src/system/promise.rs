//! What the promises mean in a state, and what must be remembered to tell (`docs/semantics.md`, section 7).

use crate::system::client::Intent;
use crate::system::copying::{self, is_destination, is_quiet};
use crate::system::layout::BLOCK_BYTES;
use crate::system::made::{may_name, record_left};
use crate::system::mark;
use crate::system::model::Model;
use crate::system::unread::FORGOTTEN;
use crate::system::world::{ThreadState, World};
use std::ops::Range;
use trivium_engine::number::{fit, index};
use trivium_engine::{Node, Object};
use trivium_protocol::source::Span;
use trivium_protocol::{
    Access, Assume, BLOCK, CopyIn, MessageId, ObjectKindId, OpId, Promise, RoleId, Scenario, ScenarioAction,
};

/// The name under which a fault of a protocol is reported.
pub(crate) const FAULT: &str = "fault";
/// The property that stands for an event about an object that is not explored: the search ends with it, and nothing is violated.
pub(crate) const BEYOND: &str = "an object beyond those explored";

/// The name under which a deadlock is reported.
pub(crate) const DEADLOCK: &str = "deadlock";

/// The name under which it is reported that a thread never gets through although events go on, and no other gets through either.
pub(crate) const LIVELOCK: &str = "livelock";

/// The name under which it is reported that a thread never gets through while others may.
pub(crate) const STARVATION: &str = "starvation";

/// How the names begin under which it is reported that what must follow never does.
pub(crate) const LEADS_TO: &str = "leads_to ";

/// A property that does not hold, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The promise or invariant, or `fault` or `deadlock`.
    pub property: String,
    pub sentence: String,
    /// The fault of the protocol, if it is one.
    pub fault: Option<Box<trivium_engine::Fault>>,
    /// The place in a scenario that is to blame, where no handler is.
    pub scenario: Option<Span>,
}

impl Violation {
    pub fn new(property: impl Into<String>, sentence: impl Into<String>) -> Violation {
        Violation { property: property.into(), sentence: sentence.into(), fault: None, scenario: None }
    }

    /// A scenario's outcome, or a mistake in its text.
    pub fn of_scenario(scenario: &Scenario, place: Span, sentence: String) -> Violation {
        Violation { property: outcome_name(scenario), sentence, fault: None, scenario: Some(place) }
    }

    /// A fault that the engine found.
    pub fn fault(fault: trivium_engine::Fault) -> Violation {
        let sentence = fault.message.clone();
        Violation { property: FAULT.into(), sentence, fault: Some(Box::new(fault)), scenario: None }
    }
}

/// Marks of what a thread has done to an object, for assumptions.
pub(crate) const FIRST_DONE: u8 = 1;

/// Performs a thread's access on its node's memory, or in its processor's cache. Returns what a load saw, or what a store
/// to the word that is looked at has stored.
pub(crate) fn perform_access(
    model: &Model,
    world: &mut World,
    thread: usize,
    intent: &Intent,
) -> Result<Option<u64>, Violation> {
    let node = model.client.threads[thread].node;
    match *intent {
        Intent::Read { block } => {
            let seen = load_at(model, world, accessed(model, node, block), (node, block))?;
            mark::loaded(model, world, thread, block, seen)?;
            Ok(Some(seen))
        }
        Intent::Write { block, value } => {
            let value = mark::stored(model, world, thread, block, value);
            store_at(model, world, accessed(model, node, block), (block, value));
            Ok(Some(value))
        }
        Intent::Rmw { block, value } => {
            let at = accessed(model, node, block);
            let seen = load_at(model, world, at.clone(), (node, block))?;
            mark::loaded(model, world, thread, block, seen)?;
            let value = mark::stored(model, world, thread, block, value);
            store_at(model, world, at, (block, value));
            Ok(Some(seen))
        }
        Intent::WriteBeside { .. } | Intent::Store { .. } | Intent::Image { .. } | Intent::Call { .. } => Ok(None),
    }
}

/// A thread's access is about to be performed on its node: nobody has performed it for the thread.
pub(crate) fn once(model: &Model, world: &World, thread: usize) -> Result<(), Violation> {
    if world.performed(&model.layout, thread).is_none() {
        return Ok(());
    }
    let node = model.client.threads[thread].node;
    let (_, intent) = world.thread(&model.layout, thread);
    let object = model.object_name(model.client.intents[intent].object());
    let sentence = format!("node {node} performs its access to {object}, which a handler has performed for it");
    Err(Violation::new(FAULT, sentence))
}

/// Where a node's accesses find the word of a block that is looked at: in its memory, or its processor's cache.
fn accessed(model: &Model, node: Node, block: u32) -> Range<usize> {
    let line = model.layout.line(node, Object { kind: BLOCK, id: block });
    line.map_or_else(|| model.layout.block(node, block), |(_, word)| word)
}

/// What a node's access finds there now; 0 of a call.
pub(crate) fn word_of(model: &Model, world: &World, node: Node, intent: &Intent) -> u64 {
    if intent.is_access() { world.number(accessed(model, node, intent.object().id)) } else { 0 }
}

/// A handler's load of a node's copy of the word.
pub(crate) fn load(model: &Model, world: &World, node: Node, block: u32) -> Result<u64, Violation> {
    load_at(model, world, model.layout.block(node, block), (node, block))
}

/// A load of the word from one of the places that a node has for it.
fn load_at(model: &Model, world: &World, at: Range<usize>, (node, block): (Node, u32)) -> Result<u64, Violation> {
    let seen = world.number(at);
    if model.is_forgotten(seen) {
        return Err(Violation::new(FORGOTTEN, format!("node {node} looks at block {block}")));
    }
    let Some(last) = model.layout.last(block).map(|at| world.number(at)) else { return Ok(seen) };
    if !model.layout.compares {
        return Ok(seen);
    }
    // Garbage: a copy has brought a word of which nothing is known.
    let is_known = last != model.layout.garbage && !is_destination(model, world, block);
    if seen == last || seen_in_phase(model, world, node, block, seen) || !is_known {
        return Ok(seen);
    }
    let promises = &model.protocol().promises;
    let name = match () {
        () if promises.contains(&Promise::LastWrite) => "last_write",
        () if promises.contains(&Promise::LastPhase) => "last_phase",
        () => "sequential",
    };
    let sentence = match seen == model.layout.garbage {
        true => {
            format!("node {node} reads garbage from block {block}: nobody has sent it the contents, which are {last}")
        }
        false => format!("node {node} reads {seen} from block {block}, although the last store to it wrote {last}"),
    };
    Err(Violation::new(name, sentence))
}

/// A handler's store to a node's copy of the word.
pub(crate) fn store(model: &Model, world: &mut World, node: Node, block: u32, value: u64) {
    store_at(model, world, model.layout.block(node, block), (block, value));
}

/// A store to the word in one of the places that a node has for it.
fn store_at(model: &Model, world: &mut World, at: Range<usize>, (block, value): (u32, u64)) {
    world.set_number(at, value);
    if let Some(at) = model.layout.last(block) {
        world.set_number(at, value);
    }
    if let Some((_, stored)) = model.layout.phase(block) {
        // A handler may store what no client does.
        if let Some(byte) = world.fixed[stored].get_mut(index(value / 8)) {
            *byte |= 1 << (value % 8);
        }
    }
}

/// Whether `last_phase` allows a load to return a value that is not the last: one that the block had when the phase
/// began, or has had since, unless the node has stored to it itself.
fn seen_in_phase(model: &Model, world: &World, node: Node, block: u32, seen: u64) -> bool {
    let Some((earlier, stored)) = model.layout.phase(block) else { return false };
    let is_writer = model.layout.writer(block).is_some_and(|at| world.number(at) == u64::from(node) + 1);
    let stored = &world.fixed[stored];
    let was_stored = stored.get(index(seen / 8)).is_some_and(|byte| byte & 1 << (seen % 8) != 0);
    !is_writer && (was_stored || seen == world.number(earlier))
}

/// Whether the assumptions and the discipline that the promises imply let a thread do this now.
pub(crate) fn may_start(model: &Model, world: &World, thread: usize, intent: &Intent) -> bool {
    let place = model.client.threads[thread];
    if !may_name(model, world, place.node, intent) || !is_quiet(model, world, intent) {
        return false;
    }
    match intent {
        Intent::Read { .. } | Intent::Image { .. } => true,
        Intent::Write { value, .. } | Intent::Rmw { value, .. } if !mark::may_store(model, world, *value) => false,
        Intent::Write { block, .. }
        | Intent::WriteBeside { block }
        | Intent::Rmw { block, .. }
        | Intent::Store { block } => {
            let object = Object { kind: BLOCK, id: *block };
            let elsewhere =
                model.protocol().assumptions.contains(&Assume::HomeWrites) && !model.is_home(place.node, object);
            let writer = model.layout.writer(*block).map_or(0, |at| world.number(at));
            !elsewhere && (writer == 0 || writer == u64::from(place.node) + 1)
        }
        Intent::Call { op, object, .. } => {
            let promised = model.protocol().promises.iter().enumerate().all(|(p, promise)| match promise {
                Promise::Mutex(acquire, release) if acquire == op || release == op => {
                    let holds = world.number(model.layout.holder(p, object.id)) == thread as u64 + 1;
                    holds == (release == op)
                }
                Promise::Barrier(arrive) if arrive == op => !calls(model, world, place.node, *op, *object),
                _ => true,
            });
            let assumed = model.protocol().assumptions.iter().enumerate().all(|(a, assume)| {
                let done = |a| world.fixed[model.layout.assumed(a, thread, object.id)] & FIRST_DONE != 0;
                match assume {
                    Assume::Alternate(first, _) if first == op => !done(a),
                    Assume::Alternate(_, second) if second == op => done(a),
                    Assume::Once(once) if once == op => !done(a),
                    Assume::Before(_, later) if later == op => done(a),
                    _ => true,
                }
            });
            promised && assumed
        }
    }
}

/// Whether a thread of a node is within a call on an object.
fn calls(model: &Model, world: &World, node: Node, wanted: OpId, about: Object) -> bool {
    model.client.threads_of[node as usize].iter().any(|&thread| {
        let (phase, intent) = world.thread(&model.layout, thread.into());
        let same =
            |intent: &Intent| matches!(intent, Intent::Call { op, object, .. } if *op == wanted && *object == about);
        phase != ThreadState::Free && same(&model.client.intents[intent])
    })
}

/// Notes for which promises a thread that makes a call asks for a lock that another holds.
pub(crate) fn note_contention(model: &Model, world: &World, intent: &Intent, contended: &mut [bool]) {
    let Intent::Call { op, object, .. } = intent else { return };
    for (p, promise) in model.protocol().promises.iter().enumerate() {
        if matches!(promise, Promise::Mutex(acquire, _) if acquire == op) {
            contended[p] |= world.number(model.layout.holder(p, object.id)) != 0;
        }
    }
}

/// Remembers that a thread has begun an access or a call.
pub(crate) fn started(model: &Model, world: &mut World, thread: usize, intent: &Intent) {
    let node = model.client.threads[thread].node;
    mark::started(model, world, thread, intent);
    copying::called(model, world, thread, intent);
    match intent {
        Intent::Read { .. } | Intent::Image { .. } => {}
        Intent::Write { block, .. }
        | Intent::WriteBeside { block }
        | Intent::Rmw { block, .. }
        | Intent::Store { block } => {
            if let Some(at) = model.layout.writer(*block) {
                world.set_number(at, u64::from(node) + 1);
            }
        }
        Intent::Call { op, object, .. } => {
            for (p, promise) in model.protocol().promises.iter().enumerate() {
                match promise {
                    Promise::Mutex(_, release) if release == op => {
                        let at = model.layout.holder(p, object.id);
                        if world.number(at.clone()) == thread as u64 + 1 {
                            world.set_number(at, 0);
                        }
                    }
                    Promise::Barrier(arrive) if arrive == op => arrived(model, world, p, node, object.id),
                    _ => {}
                }
            }
            for (a, assume) in model.protocol().assumptions.iter().enumerate() {
                let mark = match assume {
                    Assume::Alternate(first, _) | Assume::Before(first, _) | Assume::Once(first) if first == op => {
                        FIRST_DONE
                    }
                    Assume::Alternate(_, second) if second == op => 0,
                    _ => continue,
                };
                world.fixed[model.layout.assumed(a, thread, object.id)] = mark;
            }
        }
    }
}

/// A node has made its next call of a barrier; when all have, the round is over.
fn arrived(model: &Model, world: &mut World, promise: usize, node: Node, object: u32) {
    let set = model.layout.arrived(promise, object);
    let bytes = &mut world.fixed[set];
    bytes[node as usize / 8] |= 1 << (node % 8);
    let all = (0..model.nodes as usize).all(|n| bytes[n / 8] & 1 << (n % 8) != 0);
    if all {
        bytes.fill(0);
        mark::all_arrived(model, world, promise, object);
        new_phase(model, world);
    }
}

/// Between two barriers each block has one writer; a new one may come after.
pub(crate) fn new_phase(model: &Model, world: &mut World) {
    for block in 0..model.objects[BLOCK.index()] {
        if let Some(at) = model.layout.writer(block) {
            world.set_number(at, 0);
        }
        if let (Some((earlier, stored)), Some(last)) = (model.layout.phase(block), model.layout.last(block)) {
            let value = world.number(last);
            world.set_number(earlier, value);
            world.fixed[stored].fill(0);
        }
    }
}

/// Whether all nodes but this one wait for it at a barrier, or it for them.
pub(crate) fn has_arrived(model: &Model, world: &World, promise: usize, node: Node, object: u32) -> bool {
    world.fixed[model.layout.arrived(promise, object)][node as usize / 8] & 1 << (node % 8) != 0
}

/// A thread's call returns: the promises about returns.
pub(crate) fn returned(
    model: &Model,
    world: &mut World,
    thread: usize,
    op: OpId,
    object: Object,
) -> Result<(), Violation> {
    let node = model.client.threads[thread].node;
    let protocol = model.protocol();
    for (p, promise) in protocol.promises.iter().enumerate() {
        match promise {
            Promise::Mutex(acquire, _) if *acquire == op => {
                let at = model.layout.holder(p, object.id);
                if let Some(holder) = world.number(at.clone()).checked_sub(1) {
                    let other = model.client.threads[index(holder)].node;
                    return Err(Violation::new(
                        protocol.promise_name(promise),
                        format!("node {node} has {} while node {other} holds it", model.object_name(object)),
                    ));
                }
                world.set_number(at, thread as u64 + 1);
            }
            Promise::Barrier(arrive) if *arrive == op && has_arrived(model, world, p, node, object.id) => {
                let missing: Vec<String> = model
                    .all_nodes()
                    .filter(|&n| !has_arrived(model, world, p, n, object.id))
                    .map(|n| n.to_string())
                    .collect();
                return Err(Violation::new(
                    protocol.promise_name(promise),
                    format!(
                        "node {node} leaves {} before node {} has arrived",
                        model.object_name(object),
                        missing.join(" and ")
                    ),
                ));
            }
            _ => {}
        }
    }
    mark::returned(model, world, thread, op, object);
    Ok(())
}

/// The thread for whose lock a thread waits with a call.
pub(crate) fn holder(model: &Model, world: &World, intent: &Intent) -> Option<usize> {
    let Intent::Call { op, object, .. } = intent else { return None };
    let promises = model.protocol().promises.iter().enumerate();
    let locks = promises.filter(|(_, promise)| matches!(promise, Promise::Mutex(acquire, _) if acquire == op));
    let mut holders = locks.filter_map(|(p, _)| world.number(model.layout.holder(p, object.id)).checked_sub(1));
    holders.next().map(index)
}

/// The nodes that are missing at a barrier at which a thread waits with a call, with the promise that counts them.
pub(crate) fn missing<'a>(
    model: &'a Model,
    world: &'a World,
    thread: usize,
    intent: &Intent,
) -> Option<impl Iterator<Item = Node> + 'a> {
    let Intent::Call { op, object, .. } = *intent else { return None };
    let node = model.client.threads[thread].node;
    let is_barrier = |promise: &Promise| matches!(promise, Promise::Barrier(arrive) if *arrive == op);
    let promise = model.protocol().promises.iter().position(is_barrier)?;
    let arrived = move |node| has_arrived(model, world, promise, node, object.id);
    arrived(node).then(|| model.all_nodes().filter(move |&node| !arrived(node)))
}

/// The promises about single states: one writer, and the protocol's own invariants.
pub(crate) fn check_state(model: &Model, world: &World) -> Result<(), Violation> {
    let protocol = model.protocol();
    if model.is_single_writer {
        for block in 0..model.objects[BLOCK.index()] {
            single_writer(model, world, block)?;
        }
    }
    for invariant in &protocol.invariants {
        for id in 0..model.objects[invariant.object.index()] {
            let object = Object { kind: invariant.object, id };
            let name = format!("invariant {}", invariant.name);
            match model.engine.evaluate_invariant(invariant, object, &PromiseView { model, world }) {
                Ok(true) => {}
                Ok(false) => {
                    let why = record_left(model, world, &invariant.name, object);
                    let why =
                        why.unwrap_or_else(|| model.engine.why_false(invariant, object, &PromiseView { model, world }));
                    let why = if why.is_empty() { why } else { format!(": {why}") };
                    let sentence = format!("`{}` is false for {}{why}", invariant.name, model.object_name(object));
                    return Err(Violation::new(name, sentence));
                }
                Err(fault) => return Err(Violation::new(name, fault.message)),
            }
        }
    }
    outcome(model, world)
}

fn single_writer(model: &Model, world: &World, block: u32) -> Result<(), Violation> {
    let [holders, writers] = model.holders(world, block);
    if writers == 0 || holders == 1 {
        return Ok(());
    }
    let tags = || model.all_nodes().map(|node| (node, model.tag(world, node, block)));
    let Some((writer, _)) = tags().find(|(_, tag)| *tag == Access::Write) else { return Ok(()) };
    match tags().find(|(node, tag)| *node != writer && *tag != Access::None) {
        None => Ok(()),
        Some((other, tag)) => Err(Violation::new(
            "single_writer",
            format!("node {writer} may write block {block} while node {other} may {tag} it"),
        )),
    }
}

/// The property that a scenario's outcome is.
fn outcome_name(scenario: &Scenario) -> String {
    format!("scenario {}", scenario.name)
}

/// A scenario's forbidden outcome, once all its threads are done.
fn outcome(model: &Model, world: &World) -> Result<(), Violation> {
    let Some(script) = &model.client.script else { return Ok(()) };
    let Some(forbid) = &script.scenario.forbid else { return Ok(()) };
    let done = (0..script.places.len()).all(|thread| {
        world.thread(&model.layout, thread).0 == ThreadState::Free
            && script.is_at_end(thread, world.count(&model.layout, thread))
    });
    if !done {
        return Ok(());
    }
    let registers = registers(model, world);
    let violated = |sentence| Err(Violation::of_scenario(&script.scenario, forbid.span, sentence));
    match model.engine.evaluate_registers(forbid, &registers) {
        Ok(0) => Ok(()),
        Ok(_) => {
            let named = (0..).zip(&script.scenario.registers).zip(&registers);
            let values: Vec<String> = named
                .filter(|((_, variable), _)| variable.is_outcome)
                .map(|((number, variable), &value)| {
                    format!("{} = {}", variable.name, register_text(model, &script.scenario, number, value))
                })
                .collect();
            violated(format!("the forbidden outcome is reached: {}", values.join(", ")))
        }
        Err(fault) => violated(fault.message),
    }
}

/// A register's value as the result of what fills it is read.
fn register_text(model: &Model, scenario: &Scenario, register: u16, value: i64) -> String {
    let mut calls = scenario.looks().filter_map(|action| match action {
        ScenarioAction::Call { op, register: Some(fills), .. } if *fills == register => Some(*op),
        _ => None,
    });
    let result = calls.next().and_then(|op| model.engine.result_text(op, value));
    result.unwrap_or_else(|| value.cast_unsigned().to_string())
}

/// The variables of a scenario's threads.
pub(crate) fn registers(model: &Model, world: &World) -> Vec<i64> {
    let count = model.client.script.as_ref().map_or(0, |s| s.scenario.registers.len());
    (0..count).map(|r| world.number(model.layout.register(fit(r, "the number of a register"))).cast_signed()).collect()
}

/// A state as invariants see it.
pub(crate) struct PromiseView<'a> {
    pub model: &'a Model,
    pub world: &'a World,
}

impl trivium_engine::SystemView for PromiseView<'_> {
    fn block_bytes(&self) -> u64 {
        BLOCK_BYTES
    }

    fn home(&self, object: Object) -> Node {
        self.model.home(object)
    }

    fn record(&self, node: Node, role: RoleId, object: Object) -> &[u8] {
        match self.model.record(self.world, node, role, object) {
            Some(record) => record,
            None => untouched(self.model, role),
        }
    }

    fn contents(&self, node: Node, block: Object, copy: CopyIn) -> u64 {
        let at = match copy {
            CopyIn::Processor => accessed(self.model, node, block.id),
            CopyIn::Memory => self.model.layout.block(node, block.id),
        };
        self.world.number(at)
    }

    fn access(&self, node: Node, block: Object) -> Access {
        self.model.tag(self.world, node, block.id)
    }

    fn in_flight(&self, message: MessageId, object: Object, to: Option<Node>) -> u32 {
        let about = |kind: ObjectKindId, id: u32| kind == object.kind && id == object.id;
        let flights = self.world.flights.iter();
        let flights = flights
            .filter(|f| f.message == message && about(f.object.kind, f.object.id) && to.is_none_or(|to| f.to == to));
        fit(flights.count(), "the number of messages on their way")
    }
}

/// The record of an object that the exploration does not contain.
fn untouched(model: &Model, role: RoleId) -> &[u8] {
    &model.untouched[..model.engine.record_bytes(role)]
}
