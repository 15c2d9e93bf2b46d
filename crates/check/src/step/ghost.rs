//! Ghosts are told what is performed (`docs/semantics.md`, section 7).

use crate::step::mechanisms::Here;
use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::promise::{Violation, word_of};
use crate::system::world::World;
use trivium_engine::{MAX_ARGS, Node, Object};
use trivium_protocol::{GhostEvent, OpId};

/// What happened to an object on a node: what ghosts see, and the words that they are told besides the node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub what: GhostEvent,
    pub node: Node,
    pub object: Object,
    pub words: &'a [i64],
}

/// Tells the ghosts of an object what happened. `here` is any node.
pub(crate) fn tell(here: &mut Here, sight: Sight) -> Result<(), Violation> {
    let model = here.model;
    for ghost in &model.protocol().ghosts {
        let declared = &model.protocol().roles[ghost.role.index()];
        let Some((_, handler)) = ghost.clauses.iter().find(|(what, _)| *what == sight.what) else { continue };
        if declared.object != sight.object.kind {
            continue;
        }
        let mut told = [0; MAX_ARGS];
        told[0] = i64::from(sight.node);
        told[1..=sight.words.len()].copy_from_slice(sight.words);
        let told = &told[..usize::from(declared.handlers[handler.index()].args)];
        let me = std::mem::replace(&mut here.me, model.home(sight.object));
        let seen = model.engine.watch(ghost.role, *handler, sight.object, told, here);
        here.me = me;
        seen.map_err(|fault| Violation { property: format!("ghost {}", declared.name), ..Violation::fault(fault) })?;
    }
    Ok(())
}

/// The same of an access of a thread that was just performed; what it saw if it is a load, or has stored. An exchange has left
/// in the block what it has stored, which under weak promises is not what it announces.
pub(crate) fn tell_access(here: &mut Here, node: Node, intent: &Intent, seen: Option<u64>) -> Result<(), Violation> {
    if let (Intent::Rmw { .. }, Some(seen)) = (intent, seen) {
        let object = intent.object();
        let left = word_of(here.model, here.world, node, intent);
        tell(here, Sight { what: GhostEvent::Read, node, object, words: &[seen.cast_signed()] })?;
        return tell(here, Sight { what: GhostEvent::Write, node, object, words: &[left.cast_signed()] });
    }
    let (what, value) = match (intent, seen) {
        (Intent::Read { .. }, Some(seen)) => (GhostEvent::Read, seen),
        (Intent::Write { .. }, Some(stored)) => (GhostEvent::Write, stored),
        _ => return Ok(()),
    };
    tell(here, Sight { what, node, object: intent.object(), words: &[value.cast_signed()] })
}

/// The same of a call that a thread makes.
pub(crate) fn tell_call(here: &mut Here, node: Node, intent: &Intent) -> Result<(), Violation> {
    let Intent::Call { op, object, args } = intent else { return Ok(()) };
    tell(here, Sight { what: GhostEvent::Call(*op), node, object: *object, words: args.words() })
}

/// The same of a call that has returned.
pub(crate) fn tell_return(here: &mut Here, node: Node, op: OpId, object: Object, value: i64) -> Result<(), Violation> {
    tell(here, Sight { what: GhostEvent::Return(op), node, object, words: &[value] })
}

/// All ghosts as reports write them, one line each.
pub(crate) fn lines(model: &Model, world: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for ghost in &model.protocol().ghosts {
        let declared = &model.protocol().roles[ghost.role.index()];
        for id in 0..model.objects[declared.object.index()] {
            let object = Object { kind: declared.object, id };
            let Some(record) = model.record(world, model.home(object), ghost.role, object) else { continue };
            let told = model.engine.describe_whole(ghost.role, record);
            let vars = told.split_once(' ').map_or("", |(_, vars)| vars);
            lines.push(format!("{} of {}: {vars}", declared.name, model.object_name(object)));
        }
    }
    lines
}

/// The lines that an event has changed.
pub(crate) fn changed(before: &[String], after: Vec<String>) -> impl Iterator<Item = String> + '_ {
    after.into_iter().zip(before).filter(|(after, before)| after != *before).map(|(after, _)| after)
}
