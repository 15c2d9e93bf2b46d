//! What an engine still has to do besides what arrives: deferred events that are due, events that threads keep, timers.
//!
//! `docs/semantics.md` says when each gets its turn; *when* that is in time, whoever drives the node decides.

use crate::thread::EventNumber;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trivium_engine::{Event, Object};
use trivium_protocol::RoleId;

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
    /// Its number among the thread's events; of no meaning for others.
    pub number: EventNumber,
    /// When it was held first, as whoever drives the node counts.
    pub since: u64,
}

/// What a node's engine still has to do. `C` is what is kept of why an instance tries again.
#[derive(Debug)]
pub struct Schedule<C> {
    /// Instances whose oldest deferred event is due, in order.
    replays: VecDeque<Instance>,
    causes: FxHashMap<Instance, C>,
    /// Instances with deferred events that are tried again when another record than their own has changed.
    looking: Vec<Instance>,
    held: Vec<Held>,
    /// Of each instance that has set a timer, the number of the last.
    timers: FxHashMap<Instance, u64>,
}

impl<C> Default for Schedule<C> {
    fn default() -> Self {
        Schedule {
            replays: VecDeque::new(),
            causes: FxHashMap::default(),
            looking: Vec::new(),
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

    /// An instance has deferred an event that is tried again when another record than its own has changed.
    pub fn looks(&mut self, instance: Instance) {
        if !self.looking.contains(&instance) {
            self.looking.push(instance);
        }
    }

    /// Whether no deferred event waits for another record than its own.
    #[inline]
    pub fn looks_at_nothing(&self) -> bool {
        self.looking.is_empty()
    }

    /// The instances with deferred events that are tried again when another record than their own has changed.
    pub fn looking(&self) -> impl Iterator<Item = &Instance> {
        self.looking.iter()
    }

    /// Instances no longer have deferred events, but for those that do.
    pub fn keep_looking(&mut self, has_deferred: impl Fn(&Instance) -> bool) {
        self.looking.retain(has_deferred);
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
        self.take_held_where(is_its)
    }

    /// What threads have kept and can be tried again, in the order in which they did.
    pub fn take_held_where(&mut self, is_due: impl Fn(&Held) -> bool) -> Vec<Held> {
        let (again, kept) = std::mem::take(&mut self.held).into_iter().partition(is_due);
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
