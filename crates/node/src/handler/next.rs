//! Which event of a node may start: a replay goes before other events of its instance, and each needs room for what it may send.

use crate::core::{NodeCore, OwnRecords};
use crate::records::{Arrived, Instance};
use trivium_engine::{Event, SharedPlaces};
use trivium_protocol::{EventKind, LaneId, RoleId};

/// The messages of a node that are on their way on its lanes, those that have not left it included.
pub trait Lanes {
    /// How many.
    fn on_lane(&self, protocol: usize, lane: LaneId) -> u32;

    /// How many of an outgoing queue take one of the places that its lane shares with others: those that wait in memory for a credit do not.
    fn in_shared(&self, protocol: usize, lane: LaneId) -> u32 {
        self.on_lane(protocol, lane)
    }

    /// How many take places of a queue that lanes share.
    fn together(&self, protocol: usize, shared: &SharedPlaces) -> u32 {
        shared.lanes.iter().map(|&lane| self.in_shared(protocol, lane)).sum()
    }
}

/// Messages that have arrived and cannot start, in the order in which they have.
#[derive(Debug, Default)]
pub struct Stuck(Vec<Arrived>);

impl Stuck {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of the one that keeps a message back: on its lane one of its sender that has arrived earlier, or one of any sender if the lane is
    /// `merged`; or one of its sender that was sent earlier on the lane that it is `behind`.
    pub(super) fn keeper<C>(&self, core: &NodeCore<C>, message: Arrived) -> Option<usize> {
        let Arrived { protocol, sender, lane, number } = message;
        let declared = &core.protocols.engines[protocol].protocol().lanes[lane.index()];
        self.0.iter().position(|other| {
            let is_his = other.sender == sender;
            other.protocol == protocol
                && (other.lane == lane && (is_his || declared.merged)
                    || declared.behind == Some(other.lane) && is_his && other.number < number)
        })
    }
}

impl<C> NodeCore<C> {
    /// Who answers an event.
    pub fn role_of(&self, protocol: usize, event: &Event) -> Option<RoleId> {
        let engine = &self.protocols.engines[protocol];
        engine.role_for(event.kind, event.object.kind, self.is_at_home(protocol, event.object))
    }

    /// The first replay that is due and has room for all that it may send: its place among the replays.
    pub fn next_replay(&self, lanes: &impl Lanes) -> Option<usize> {
        self.schedule.replays().position(|&(protocol, role, object)| {
            let event = self
                .record_of(protocol, role, object)
                .and_then(|record| self.protocols.engines[protocol].replay_event(role, object, record));
            event.is_some_and(|event| self.has_room(lanes, protocol, role, &event))
        })
    }

    /// Whether a message, or what has left a cache, stalls: it stays where it is until its answer is another one. What a thread wants is
    /// dispatched, and kept by the thread; an eviction or a hint that would stall is not raised.
    pub fn stalls(&self, protocol: usize, event: &Event) -> bool {
        let engine = &self.protocols.engines[protocol];
        engine.may_stall()
            && !event.has_caller()
            && !event.kind.is_hint()
            && (event.kind != EventKind::Evict || self.protocols.cached[protocol])
            && self.role_of(protocol, event).is_some_and(|role| self.stalls_there(protocol, role, event))
    }

    /// Whether an event stalls that this role answers.
    pub fn stalls_there(&self, protocol: usize, role: RoleId, event: &Event) -> bool {
        self.protocols.engines[protocol].stalls(role, event, self.me, &OwnRecords { node: self, number: protocol })
    }

    /// Notes that a message cannot start, and says whether it keeps others back: unless it stalls on a lane without order.
    pub fn is_stuck(&self, stuck: &mut Stuck, message: Arrived, event: &Event) -> bool {
        let lane = &self.protocols.engines[message.protocol].protocol().lanes[message.lane.index()];
        let keeps_back = lane.fifo || !self.stalls(message.protocol, event);
        if keeps_back {
            stuck.0.push(message);
        }
        keeps_back
    }

    /// Whether a message is kept back by one that cannot start.
    pub fn is_kept_back(&self, stuck: &Stuck, message: Arrived) -> bool {
        stuck.keeper(self, message).is_some()
    }

    /// Whether an event does not stall, and there is room for all that it may send unasked.
    pub fn can_start(&self, lanes: &impl Lanes, protocol: usize, event: &Event) -> bool {
        if self.stalls(protocol, event) {
            return false;
        }
        if !self.protocols.finite[protocol] || self.is_roomy(lanes, protocol) {
            return true;
        }
        self.role_of(protocol, event).is_none_or(|role| self.has_room(lanes, protocol, role, event))
    }

    /// Whether a replay is due for the instance that an event is for: it goes first, even if it waits for room. Events for
    /// another role of the object may come between, and may be what makes room.
    pub fn is_behind_a_replay(&self, protocol: usize, event: &Event) -> bool {
        !self.schedule.has_no_replays()
            && self.role_of(protocol, event).is_some_and(|role| self.schedule.is_due(&(protocol, role, event.object)))
    }

    /// Whether the time of an instance has passed that still wants to hear of its timer of this number, and cannot yet: a
    /// replay is due, or there is no room for what it may send.
    pub fn timer_must_wait(&self, lanes: &impl Lanes, instance: Instance, number: u64) -> bool {
        let (protocol, role, object) = instance;
        self.schedule.is_current(&instance, number)
            && (self.schedule.is_due(&instance)
                || !self.has_room(lanes, protocol, role, &Event::local(EventKind::Timer, object, 0)))
    }

    /// Whether there is room for whatever any event may send unasked, so that it does not matter which one it is.
    #[inline]
    pub fn is_roomy(&self, lanes: &impl Lanes, protocol: usize) -> bool {
        let roomy = self.protocols.roomy[protocol].as_deref();
        roomy.is_some_and(|roomy| roomy.iter().all(|roomy| lanes.on_lane(protocol, roomy.lane) <= roomy.up_to))
            && self.protocols.engines[protocol].shared().is_empty()
    }

    fn has_room(&self, lanes: &impl Lanes, protocol: usize, role: RoleId, event: &Event) -> bool {
        if !self.protocols.finite[protocol] {
            return true;
        }
        let engine = &self.protocols.engines[protocol];
        let state = self.state_of(protocol, role, event.object);
        let needed = engine.room_needed(event.kind, role, state);
        let is_shared_room = engine.shared().iter().all(|shared| {
            lanes.together(protocol, shared) + engine.places_needed(shared, event.kind, role, state) <= shared.places
        });
        is_shared_room
            && (0..engine.protocol().lanes.len()).all(|at| {
                let lane = LaneId::at(at);
                engine
                    .lane_holds(lane)
                    .is_none_or(|holds| lanes.on_lane(protocol, lane) + needed.get(at).copied().unwrap_or(0) <= holds)
            })
    }

    /// Finite lanes on which this node has as many messages on their way as they hold, and those whose shared queue is full.
    pub fn full_lanes(&self, lanes: &impl Lanes) -> Vec<(usize, LaneId)> {
        let mut full = Vec::new();
        for (protocol, engine) in self.protocols.engines.iter().enumerate() {
            for id in (0..engine.protocol().lanes.len()).map(|at| LaneId::at(at)) {
                let is_shared_full =
                    || engine.shared_by(id).is_some_and(|shared| lanes.together(protocol, shared) >= shared.places);
                if engine.lane_holds(id).is_some_and(|holds| lanes.on_lane(protocol, id) >= holds) || is_shared_full() {
                    full.push((protocol, id));
                }
            }
        }
        full
    }
}
