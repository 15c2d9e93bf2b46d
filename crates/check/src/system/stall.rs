//! Events that stall in a state (`docs/semantics.md`, section 3): they stay where they are, and are no transitions.

use super::client::Intent;
use super::model::Model;
use super::promise::PromiseView;
use super::world::{Flight, World};
use crate::system::action::event_kind;
use trivium_engine::{Event, Node, Object, Stalled};
use trivium_protocol::{EventKind, RoleId};

impl Model {
    /// Why a message stalls at its receiver; none if it does not.
    #[inline]
    pub fn message_stalls(&self, world: &World, message: &Flight) -> Option<Stalled> {
        if !self.engine.may_stall() {
            return None;
        }
        let role = self.protocol().messages[message.message.index()].role;
        self.record(world, message.to, role, message.object)?;
        let event = Event {
            kind: EventKind::Message(message.message),
            object: message.object,
            sender: message.from,
            thread: 0,
            args: message.args,
            payload: None,
        };
        self.engine.stalled_by(role, &event, message.to, &PromiseView { model: self, world })
    }

    /// Whether what a thread wants stalls at the role that answers it.
    #[inline]
    pub fn intent_stalls(&self, world: &World, thread: usize, role: RoleId, intent: &Intent) -> bool {
        if !self.engine.may_stall() {
            return false;
        }
        let place = self.client.threads[thread];
        let mut event = Event::local(event_kind(intent), intent.object(), place.number);
        event.sender = place.node;
        if let Intent::Call { args, .. } = intent {
            event.args = *args;
        }
        self.engine.stalls(role, &event, place.node, &PromiseView { model: self, world })
    }

    /// Why an event without arguments or a thread stalls: an eviction, a prefetch, what has left a processor's cache.
    #[inline]
    pub fn local_stalls(
        &self,
        world: &World,
        node: Node,
        role: RoleId,
        (object, kind): (Object, EventKind),
    ) -> Option<Stalled> {
        if !self.engine.may_stall() {
            return None;
        }
        let event = Event::local(kind, object, 0);
        self.engine.stalled_by(role, &event, node, &PromiseView { model: self, world })
    }
}
