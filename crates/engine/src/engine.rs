//! A protocol that is loaded for a number of nodes.

use crate::event::{Event, Outcome};
use crate::fault::{Fault, LoadError};
use crate::mechanisms::{Mechanisms, Object};
use crate::record::Value;
use std::sync::Arc;
use trivium_lang::protocol::{Access, EventKind, ObjectKindId, Protocol, Response, RoleId, StateId, VarId};

/// A protocol that is loaded for a number of nodes: the layouts of its records, and its handlers ready to run.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) protocol: Arc<Protocol>,
    pub(crate) nodes: u32,
}

#[allow(unused_variables, missing_docs)]
impl Engine {
    pub fn load(protocol: Arc<Protocol>, nodes: u32) -> Result<Engine, LoadError> {
        todo!()
    }
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }
    pub fn nodes(&self) -> u32 {
        self.nodes
    }
    pub fn record_bytes(&self, role: RoleId) -> usize {
        todo!()
    }
    pub fn state(&self, role: RoleId, record: &[u8]) -> StateId {
        todo!()
    }
    pub fn access(&self, role: RoleId, record: &[u8]) -> Access {
        todo!()
    }
    /// Who answers an event for an object on a node that is (or is not) its home.
    pub fn role_for(&self, event: EventKind, object: ObjectKindId, is_home: bool) -> Option<RoleId> {
        todo!()
    }
    /// All roles that have an instance there.
    pub fn roles_of(&self, object: ObjectKindId, is_home: bool) -> impl Iterator<Item = RoleId> + '_ {
        [].into_iter()
    }
    pub fn response(&self, role: RoleId, state: StateId, event: EventKind) -> &Response {
        todo!()
    }
    /// Per lane: room that must be there before the event may be dispatched.
    pub fn room_needed(&self, event: EventKind, role: RoleId, state: StateId) -> &[u32] {
        todo!()
    }
    pub fn replay_due(&self, role: RoleId, record: &[u8]) -> bool {
        todo!()
    }
    /// The next deferred event to be tried, which stays where it is.
    pub fn replay_event(&self, role: RoleId, object: Object, record: &[u8]) -> Option<Event> {
        todo!()
    }
    pub fn deferred(&self, role: RoleId, object: Object, record: &[u8]) -> Vec<Event> {
        todo!()
    }
    /// Dispatches to the role that answers.
    pub fn dispatch<M: Mechanisms>(&self, event: &Event, m: &mut M) -> Result<Outcome, Fault> {
        todo!()
    }
    /// Dispatches to a given role: timers, which say whose they are, go this way.
    pub fn dispatch_to<M: Mechanisms>(&self, role: RoleId, event: &Event, m: &mut M) -> Result<Outcome, Fault> {
        todo!()
    }
    pub fn replay<M: Mechanisms>(&self, role: RoleId, object: Object, m: &mut M) -> Result<Outcome, Fault> {
        todo!()
    }
    pub fn read_var(&self, role: RoleId, record: &[u8], var: VarId) -> Value {
        todo!()
    }
    /// `Lent owner=2 sharers={0,1}`.
    pub fn describe(&self, role: RoleId, record: &[u8]) -> String {
        todo!()
    }
}
