//! Loading: layouts, room and frames are planned once, for a number of nodes and the protocol's parameters.

use crate::engine::Engine;
use crate::fault::too_large;
use crate::flat::Code;
use crate::plan::{Answers, ArgShapes, plan_local_shapes, plan_role};
use crate::shared::shorter_than_their_lanes;
use std::sync::Arc;
use trivium_diagnostic::Diagnostic;
use trivium_protocol::{
    Access, BLOCK, COMPILED_FOR, EventKind, Handler, Lane, MAX_NODES, MAX_STEPS, Protocol, RoleId, SharedQueue,
};

impl Engine {
    /// Loads a protocol for who has no ghosts: handlers do nothing for them.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn load_without_ghosts(protocol: Arc<Protocol>, nodes: u32) -> Result<Engine, Diagnostic> {
        let plain = protocol.without_ghosts();
        Engine::load(plain.map_or(protocol, Arc::new), nodes)
    }

    /// Loads a protocol for a machine of `nodes` nodes, 1 to [`MAX_NODES`].
    ///
    /// # Errors
    /// When something does not fit so many nodes: arguments of more than [`MAX_ARGS`] words, a local array of more than these, a set of more than
    /// [`MAX_NODES`] elements, a record of more than 64 KiB, an empty range, a lane that would hold nothing, a handler that may
    /// send more on a lane than it holds or take more than [`MAX_STEPS`] steps.
    pub fn load(protocol: Arc<Protocol>, nodes: u32) -> Result<Engine, Diagnostic> {
        if !(1..=MAX_NODES).contains(&nodes) {
            let message = format!("a machine has 1 to {MAX_NODES} nodes, not {nodes}");
            return Err(Diagnostic::new(trivium_diagnostic::Code::Size, message));
        }
        protocol
            .roles
            .iter()
            .flat_map(|role| role.code())
            .try_for_each(|handler| look_at_length(&protocol, handler, nodes))?;
        let args = ArgShapes::plan(&protocol, nodes)?;
        let lanes: Vec<Option<u32>> =
            protocol.lanes.iter().map(|lane| plan_lane(&protocol, lane, nodes)).collect::<Result<_, _>>()?;
        protocol.shares.iter().try_for_each(|shared| look_at_places(&protocol, shared, nodes))?;
        let roles = protocol.roles.iter().map(|role| plan_role(&protocol, role, nodes)).collect::<Result<_, _>>()?;
        let stalls: Vec<Answers> = protocol.roles.iter().map(Answers::that_stall).collect();
        let mut engine = Engine {
            may_stall: stalls.iter().any(Answers::any),
            stalls,
            tag_roles: [None; 2],
            no_room: vec![0; protocol.lanes.len() + protocol.shares.len()],
            shared: shorter_than_their_lanes(&protocol, nodes, |lane| lanes[lane.index()]),
            nodes,
            roles,
            lanes,
            args,
            local_shapes: plan_local_shapes(&protocol, nodes)?,
            protocol,
            flat: Code::default(),
            asks_always: false,
        };
        engine.tag_roles = [engine.find_tag_role(false), engine.find_tag_role(true)];
        engine.flat = Code::of(&engine);
        Ok(engine)
    }

    /// The role that gives a block its tag: the one with a state that gives access; failing that, one that at
    /// least answers accesses.
    fn find_tag_role(&self, is_home: bool) -> Option<RoleId> {
        let gives = |&id: &RoleId| self.protocol.roles[id.index()].states.iter().any(|s| s.access != Access::None);
        let answers = |&id: &RoleId| {
            let plan = &self.roles[id.index()];
            let prefetches = [EventKind::Prefetch, EventKind::PrefetchWrite];
            [EventKind::Read, EventKind::Write, EventKind::Rmw, EventKind::Evict]
                .iter()
                .chain(&prefetches)
                .any(|&e| plan.column(e).is_some())
        };
        self.roles_of(BLOCK, is_home).find(gives).or_else(|| self.roles_of(BLOCK, is_home).find(answers))
    }
}

/// Whether a handler is short enough with more nodes than the compiler has looked at.
fn look_at_length(protocol: &Protocol, handler: &Handler, nodes: u32) -> Result<(), Diagnostic> {
    let steps = handler.longest.at(nodes);
    if nodes <= COMPILED_FOR || steps <= MAX_STEPS {
        return Ok(());
    }
    let message = format!(
        "`{}` may take {steps} steps with {nodes} nodes; a handler takes at most {MAX_STEPS}: \
         use up to {COMPILED_FOR} nodes, or do a part of it in a task",
        handler.name
    );
    Err(too_large(protocol, handler.span, message))
}

/// What a lane holds with so many nodes; `None` if it is buffered.
fn plan_lane(protocol: &Protocol, lane: &Lane, nodes: u32) -> Result<Option<u32>, Diagnostic> {
    let Some(holds) = &lane.holds else { return Ok(None) };
    if let Some(room) = lane.room(nodes) {
        return Ok(Some(room));
    }
    let s = if nodes == 1 { "" } else { "s" };
    let takes = lane.takes();
    let found = holds.at(nodes).map_or("no number of 64 bits".to_string(), |found| found.to_string());
    let message = format!(
        "lane {} {takes} {holds} messages, with {nodes} node{s} {found}; 1 to {} are possible: \
         let it hold another number, or use another number of nodes",
        lane.name,
        Lane::MOST
    );
    Err(too_large(protocol, lane.span, message))
}

/// Whether a shared queue has a number of places with so many nodes.
fn look_at_places(protocol: &Protocol, shared: &SharedQueue, nodes: u32) -> Result<(), Diagnostic> {
    if shared.places(nodes).is_some() {
        return Ok(());
    }
    let s = if nodes == 1 { "" } else { "s" };
    let found = shared.holds.at(nodes).map_or("no number of 64 bits".to_string(), |found| found.to_string());
    let message = format!(
        "lanes {} share {} places, with {nodes} node{s} {found}; 1 to {} are possible: \
         let them share another number, or use another number of nodes",
        protocol.names_of_shared(shared),
        shared.holds,
        Lane::MOST
    );
    Err(too_large(protocol, shared.span, message))
}
