//! What is said when nothing can happen any more, or nothing goes on.

use super::World;
use super::stacks::Known;
use crate::node::NodeState;
use trivium_diagnostic::Code;
use trivium_engine::Object;
use trivium_node::{
    ACCESS_WAITS, DEADLOCK, LEFT_OVER, Lanes, NodeError, RELEASE, STALLS, Wait, cannot_come, standing_at, with_remedy,
};

impl World {
    /// Nothing can happen, and someone waits: who, for what, for whom.
    pub(crate) fn deadlock(&mut self) -> NodeError {
        let left = self.left();
        let access = self.nodes.iter().any(|node| matches!(node.borrow().thread().wait, Some(Wait::Access(_))));
        let error = self.who_waits(NodeError::subject(Code::Deadlock, DEADLOCK));
        let stalls = self.nothing_stalls().is_err();
        match self.awaits_lock() {
            true => error.help(RELEASE),
            false if stalls => error.help(STALLS),
            false if access && !left.is_empty() => with_remedy(error, &left).help(ACCESS_WAITS),
            false => with_remedy(error, &left),
        }
    }

    /// All programs have ended, and nothing can happen any more.
    ///
    /// # Errors
    /// Messages that stall, and will do so for ever.
    pub(crate) fn nothing_stalls(&self) -> Result<(), NodeError> {
        let told: Vec<String> = self.nodes.iter().flat_map(|node| node.borrow().stalled()).collect();
        match told.is_empty() {
            true => Ok(()),
            false => {
                Err(told.into_iter().fold(NodeError::subject(Code::Deadlock, LEFT_OVER).help(STALLS), NodeError::note))
            }
        }
    }

    /// An error, with what every node waits for.
    pub(super) fn who_waits(&mut self, error: NodeError) -> NodeError {
        self.who_does(error, |_| true)
    }

    /// The same of some nodes.
    pub(super) fn who_does(&mut self, mut error: NodeError, is_told: impl Fn(&NodeState) -> bool) -> NodeError {
        let stacks = self.interrupt();
        let known = self.known(&stacks);
        for (number, node) in self.nodes.iter().enumerate() {
            let state = node.borrow();
            let asking = state.core.locks.asking();
            if !is_told(&state) {
                continue;
            }
            if matches!(state.thread().wait, None | Some(Wait::End(0))) && asking.is_none() {
                continue;
            }
            let clock = asking.map_or(state.compute.clock(), |asking| asking.since);
            let doing = self.doing(number, &state, &known);
            let at = known.stands(number).as_deref().map_or(String::new(), standing_at);
            let more = self.more_of(&state);
            error = error.note(format!("node {number}, since cycle {clock}: {doing}{more}{at}"));
        }
        for told in self.holders(&known, &is_told) {
            error = error.note(told);
        }
        for node in &self.nodes {
            let state = node.borrow();
            for text in state.stalled() {
                error = error.note(text);
            }
            for (protocol, lane) in state.full_lanes() {
                let declared = self.shared.protocols.engines[protocol].protocol();
                let name = &declared.lanes[lane.index()].name;
                error = error.note(format!(
                    "node {}: an event waits, since lane {}.{name} has no room: {} on their way",
                    state.core.me,
                    declared.name,
                    state.model.interface.on_lane(protocol, lane)
                ));
            }
        }
        error
    }

    /// What a node's processor does, or waits for, as far as that node tells.
    pub(super) fn doing(&self, number: usize, state: &NodeState, known: &Known) -> String {
        if let Some(asking) = state.core.locks.asking() {
            return format!("asks again and again for {}", known.found(asking.word, asking.value));
        }
        state.thread().doing(&self.shared.protocols, |address, bytes| known.data(number, address, bytes))
    }

    /// What other nodes have to do with that for which a node's processor waits.
    fn more_of(&self, state: &NodeState) -> String {
        if state.core.locks.asking().is_some() {
            return String::new();
        }
        match state.thread().wait {
            Some(Wait::Barrier(_)) => cannot_come(&self.left()),
            Some(Wait::Access(block)) => self.roles(state, block),
            Some(Wait::Call { protocol, object, .. }) => self.roles_under(state, protocol, object),
            _ => String::new(),
        }
    }

    fn roles(&self, state: &NodeState, block: Object) -> String {
        let protocol = state.core.protocol_at(u64::from(block.id) * self.shared.protocols.block);
        protocol.map_or(String::new(), |protocol| self.roles_under(state, protocol, block))
    }

    /// The states of a node's own roles for an object, and of its home's.
    fn roles_under(&self, state: &NodeState, protocol: usize, object: Object) -> String {
        let engine = &self.shared.protocols.engines[protocol];
        let mut text = String::new();
        let home = state.core.home_of(protocol, object);
        let mut describe = |state: &NodeState| {
            for role in engine.roles_of(object.kind, home == state.core.me) {
                if let Some(record) = state.core.record_of(protocol, role, object) {
                    let declared = &engine.protocol().roles[role.index()];
                    let now = &declared.states[engine.state(role, record).index()];
                    text +=
                        &format!("; {} at node {}: {}", declared.name, state.core.me, engine.describe(role, record));
                    let awaited: Vec<&str> =
                        now.awaits.iter().map(|m| engine.protocol().messages[m.index()].name.as_str()).collect();
                    if !awaited.is_empty() {
                        text += &format!(" (awaits {})", awaited.join(" or "));
                    }
                }
            }
        };
        describe(state);
        if home != state.core.me && object.kind != trivium_protocol::NODE {
            describe(&self.nodes[home as usize].borrow());
        }
        text
    }
}
