//! Which objects that handlers make a thread's call may name: those of its own node that are there (`docs/semantics.md`, section 1).

use crate::system::client::Intent;
use crate::system::model::Model;
use crate::system::promise::Violation;
use crate::system::world::World;
use trivium_engine::{Node, Object};
use trivium_protocol::{RoleId, RoleKind};

/// Whether a call may name an object: it is not made by handlers, or it is there.
fn is_there(model: &Model, world: &World, node: Node, object: Object) -> bool {
    let Some(made) = model.protocol().made_kind(object.kind) else { return true };
    let record = model.layout.record(node, made.role, 0);
    record.is_some_and(|record| model.engine.is_made(made, object.id, node, &world.fixed[record]))
}

/// Whether a thread of a node may begin something: all objects that it names are there. In a scenario a call about one that is not there is
/// begun all the same, and [`answered_at_once`] says what becomes of it.
pub(crate) fn may_name(model: &Model, world: &World, node: Node, intent: &Intent) -> bool {
    if model.protocol().made.is_empty() || model.client.script.is_some() {
        return true;
    }
    intent.named_objects(&model.engine).into_iter().all(|object| is_there(model, world, node, object))
}

/// What a scenario's call returns at once, because the object that it is about is not there.
///
/// # Errors
/// The call is never about none.
pub(crate) fn answered_at_once(
    model: &Model,
    world: &World,
    node: Node,
    intent: &Intent,
) -> Result<Option<i64>, Violation> {
    let (Intent::Call { op, object, .. }, Some(script)) = (intent, &model.client.script) else { return Ok(None) };
    if is_there(model, world, node, *object) {
        return Ok(None);
    }
    let declared = &model.protocol().ops[op.index()];
    if declared.object_may_be_none {
        return Ok(Some(declared.nothing()));
    }
    let kind = &model.protocol().objects[object.kind.index()];
    let sentence = format!(
        "node {node} calls {} about {kind} {}, which is not there: no handler of the node has made it, or it was freed",
        declared.name, object.id
    );
    Err(Violation::of_scenario(&script.scenario, script.scenario.span, sentence))
}

/// Of the claim about objects that are free (`name` says whether it is that one): which record is not in its first state.
pub(crate) fn record_left(model: &Model, world: &World, name: &str, object: Object) -> Option<String> {
    let protocol = model.protocol();
    let made = protocol.made_kind(object.kind).filter(|made| protocol.claim_of_made(made) == name)?;
    let home = model.home(object);
    if is_there(model, world, home, object) {
        return None;
    }
    let (kind, id) = (&protocol.objects[made.object.index()], object.id);
    let roles =
        (0..protocol.roles.len()).map(RoleId::at).filter(|role| protocol.roles[role.index()].object == object.kind);
    let mut instances = roles.flat_map(|role| model.all_nodes().map(move |node| (role, node)));
    instances.find_map(|(role, node)| {
        let record = model.record(world, node, role, object)?;
        let state = model.engine.state(role, record);
        let declared = &protocol.roles[role.index()];
        let is_left = state.0 != 0 && declared.kind != RoleKind::Ghost;
        let name = &declared.states[state.index()].name;
        is_left.then(|| format!("{kind} {id} is free, and on node {node} `{}` is in {name}", declared.name))
    })
}
