//! Whether lanes get longer and longer: looked at each time when there are twice as many states.
//!
//! Of the states found last, the one that takes most bytes has the most messages on their way, as a rule. Its path is looked at, and,
//! where one of its channels is longer than any before, what happens when nobody takes anything out of that channel.

use super::arena::StateNumber;
use super::expand::Worker;
use super::pack::unpack;
use super::{FastSearch, path};
use crate::report::flood::{Buffer, crowds};
use crate::report::forever::{Forever, forever, unheard};
use crate::system::world::World;
use std::ops::Range;

/// States from which on it is looked at.
const FIRST: usize = 1 << 10;
/// States for each step of a walk: what looking costs is a small part of what the search has cost.
const STATES_A_STEP: usize = 64;
/// The longest walk. It goes round all values of a byte, with some events for each.
const MOST_STEPS: usize = 1 << 13;
/// A walk that is too short to come to anything.
const LEAST_STEPS: usize = 1 << 6;
/// Messages in one channel that are many.
const MANY: usize = 6;
/// A search without end goes on to so many states, or to so many bytes of them, since what is violated may be near.
const LAST: usize = 1_000_000;
const LAST_BYTES: u64 = 1 << 25;

/// How long channels have been, and when they are looked at again.
pub(super) struct Lengths {
    next: usize,
    longest: usize,
    /// Whether the longest channel was longer each time than before.
    grow: bool,
    /// Why the search has no end.
    endless: Option<Forever>,
}

impl Lengths {
    pub fn new() -> Lengths {
        Lengths { next: FIRST, longest: 0, grow: false, endless: None }
    }

    /// Whether some channel seems to grow without bound.
    pub fn grow(&self) -> bool {
        self.grow
    }

    /// Why a search has no end, which a limit has ended, or itself.
    pub fn told(&mut self, limit: &str) -> Option<Forever> {
        let forever = self.endless.take()?;
        let limit = if limit.is_empty() { String::new() } else { format!("; {limit}") };
        Some(Forever { sentence: forever.sentence + &limit, ..forever })
    }
}

impl FastSearch<'_> {
    /// Whether the search has no end, and has gone on long enough. Where somebody says how deep it is to go, it ends there.
    pub(super) fn is_endless(&mut self, level: Range<StateNumber>) -> bool {
        if self.config.max_depth.is_none() && self.lengths.endless.is_none() {
            self.lengths.endless = self.look_at_lengths(level);
        }
        self.lengths.endless.is_some() && (self.states.len() >= LAST || self.states.memory() >= LAST_BYTES)
    }

    /// Steps that can be repeated for ever, if they are found among the states of a depth.
    fn look_at_lengths(&mut self, level: Range<StateNumber>) -> Option<Forever> {
        let states = self.states.len();
        if states < self.lengths.next {
            return None;
        }
        self.lengths.next = states.saturating_mul(2);
        let crowded = level.max_by_key(|&state| self.states.arena.get(state).len())?;
        let mut world = World::default();
        unpack(self.model, self.states.arena.get(crowded), &mut world);
        let (longest, length) = crowds(&world).into_iter().max_by_key(|(_, length)| *length)?;
        self.lengths.grow = length >= MANY && length > self.lengths.longest;
        self.lengths.longest = self.lengths.longest.max(length);
        if !self.lengths.grow {
            return None;
        }
        self.along_its_path(crowded).or_else(|| self.on_a_walk(&longest, states))
    }

    fn along_its_path(&self, state: StateNumber) -> Option<Forever> {
        // One of its own: from here on it chooses stores when they begin.
        let mut worker = Worker::crew(self.model, self.config, false).swap_remove(0);
        let trace = path::to_state(&mut worker, &self.states, state).settle(&mut worker.stepper);
        forever(&mut worker.stepper, &trace)
    }

    /// Under symmetry the names of a channel's nodes are those of the state that was kept: a channel of another node with as
    /// many messages does as well.
    fn on_a_walk(&self, longest: &Buffer, states: usize) -> Option<Forever> {
        let threads = self.model.client.threads.len();
        let most = (states / STATES_A_STEP / threads.max(1)).min(MOST_STEPS);
        (0..threads).filter(|_| most >= LEAST_STEPS).find_map(|thread| unheard(self.model, longest, thread, most))
    }
}
