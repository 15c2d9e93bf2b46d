//! What an engine still has to do besides what arrives: deferred events that are due, events that threads keep, timers.
//!
//! `docs/semantics.md` says when each gets its turn; *when* that is in time, whoever drives the node decides.

use crate::core::NodeCore;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trivium_engine::{Event, Object};
use trivium_protocol::{EventKind, LaneId, RoleId};

/// An instance of a role: of which protocol, which role, of which object.
pub type Instance = (usize, RoleId, Object);

/// Something that a thread keeps until the state of an instance changes.
#[derive(Clone, Debug)]
pub struct Held {
    /// Of which protocol.
    pub protocol: usize,
    /// Of which role.
    pub role: RoleId,
    /// What the thread wants.
    pub event: Event,
}

/// What a node's engine still has to do. `C` is what is kept of why an instance tries again.
#[derive(Debug)]
pub struct Schedule<C> {
    /// Instances whose oldest deferred event is due, in order.
    replays: VecDeque<Instance>,
    causes: FxHashMap<Instance, C>,
    held: Vec<Held>,
    /// Of each instance that has set a timer, the number of the last.
    timers: FxHashMap<Instance, u64>,
}

impl<C> Default for Schedule<C> {
    fn default() -> Self {
        Schedule {
            replays: VecDeque::new(),
            causes: FxHashMap::default(),
            held: Vec::new(),
            timers: FxHashMap::default(),
        }
    }
}

impl<C> Schedule<C> {
    /// Whether no deferred event is due.
    #[inline]
    pub fn has_no_replays(&self) -> bool {
        self.replays.is_empty()
    }

    /// Instances whose oldest deferred event is due, in order.
    pub fn replays(&self) -> impl Iterator<Item = &Instance> {
        self.replays.iter()
    }

    /// Whether the oldest deferred event of an instance is due.
    pub fn is_due(&self, instance: &Instance) -> bool {
        self.replays.contains(instance)
    }

    /// The oldest deferred event of an instance is due from now on, if it was not before, and why, if that is kept.
    pub fn due(&mut self, instance: Instance, why: Option<C>) {
        if self.replays.contains(&instance) {
            return;
        }
        self.replays.push_back(instance);
        if let Some(why) = why {
            self.causes.insert(instance, why);
        }
    }

    /// The instance at a place among the replays gets its turn.
    pub fn take_replay(&mut self, at: usize) -> Option<(Instance, Option<C>)> {
        let instance = self.replays.remove(at)?;
        Some((instance, self.causes.remove(&instance)))
    }

    /// A thread keeps an event.
    pub fn hold(&mut self, held: Held) {
        self.held.push(held);
    }

    /// Whether no thread keeps an event.
    #[inline]
    pub fn holds_nothing(&self) -> bool {
        self.held.is_empty()
    }

    /// The state of an instance has changed: what threads have kept for it, in the order in which they did.
    pub fn take_held(&mut self, instance: Instance) -> Vec<Held> {
        let is_its = |held: &Held| (held.protocol, held.role, held.event.object) == instance;
        let (again, kept) = std::mem::take(&mut self.held).into_iter().partition(is_its);
        self.held = kept;
        again
    }

    /// An instance sets a timer, or cancels it: the number of the timer that runs from now on.
    pub fn new_timer(&mut self, instance: Instance) -> u64 {
        let number = self.timers.entry(instance).or_default();
        *number += 1;
        *number
    }

    /// Whether an instance still wants to hear of its timer of this number.
    pub fn is_current(&self, instance: &Instance, number: u64) -> bool {
        self.timers.get(instance) == Some(&number)
    }
}

/// The messages of a node that are on their way on its lanes, those that have not left it included.
pub trait Lanes {
    /// How many.
    fn on_lane(&self, protocol: usize, lane: LaneId) -> u32;
}

impl<C> NodeCore<C> {
    /// Who answers an event.
    pub fn role_of(&self, protocol: usize, event: &Event) -> Option<RoleId> {
        let engine = &self.protocols.engines[protocol];
        engine.role_for(event.kind, event.object.kind, self.is_at_home(event.object))
    }

    /// The first replay that is due and has room for all that it may send: its place among the replays.
    pub fn next_replay(&self, lanes: &impl Lanes) -> Option<usize> {
        self.schedule.replays.iter().position(|&(protocol, role, object)| {
            let event = self
                .record_of(protocol, role, object)
                .and_then(|record| self.protocols.engines[protocol].replay_event(role, object, record));
            event.is_some_and(|event| self.has_room(lanes, protocol, role, &event))
        })
    }

    /// Whether there is room for all that an event may send unasked.
    pub fn can_start(&self, lanes: &impl Lanes, protocol: usize, event: &Event) -> bool {
        if !self.protocols.finite[protocol] {
            return true;
        }
        self.role_of(protocol, event).is_none_or(|role| self.has_room(lanes, protocol, role, event))
    }

    /// Whether a replay is due for the instance that an event is for: it goes first, even if it waits for room. Events for
    /// another role of the object may come between, and may be what makes room.
    pub fn is_behind_a_replay(&self, protocol: usize, event: &Event) -> bool {
        !self.schedule.replays.is_empty()
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

    fn has_room(&self, lanes: &impl Lanes, protocol: usize, role: RoleId, event: &Event) -> bool {
        if !self.protocols.finite[protocol] {
            return true;
        }
        let engine = &self.protocols.engines[protocol];
        let state = self.state_of(protocol, role, event.object);
        let needed = engine.room_needed(event.kind, role, state);
        (0..engine.protocol().lanes.len()).all(|at| {
            let lane = LaneId::at(at);
            engine
                .lane_holds(lane)
                .is_none_or(|holds| lanes.on_lane(protocol, lane) + needed.get(at).copied().unwrap_or(0) <= holds)
        })
    }

    /// Finite lanes on which this node has as many messages on their way as they hold.
    pub fn full_lanes(&self, lanes: &impl Lanes) -> Vec<(usize, LaneId)> {
        let mut full = Vec::new();
        for (protocol, engine) in self.protocols.engines.iter().enumerate() {
            for id in (0..engine.protocol().lanes.len()).map(|at| LaneId::at(at)) {
                if engine.lane_holds(id).is_some_and(|holds| lanes.on_lane(protocol, id) >= holds) {
                    full.push((protocol, id));
                }
            }
        }
        full
    }
}
