//! The times that are forced on a node, where an order of events is (`runs::forced`).

use super::NodeState;
use std::collections::VecDeque;
use trivium_engine::number::index;
use trivium_engine::{Deed, Engine, HandlerAccess, Object, Outcome};
use trivium_node::HandlerMemory;
use trivium_protocol::RoleId;

/// A time that never comes.
pub(crate) const NEVER: u64 = 1 << 60;

/// The times that are forced on a node.
#[derive(Default)]
pub(crate) struct Times {
    /// When its processor tries again, in order.
    pub retries: Vec<u64>,
    /// When the tasks still to be started run, in order.
    pub tasks: VecDeque<u64>,
    /// When timers run out, in order.
    pub timers: Vec<(RoleId, Object, u64)>,
    /// Loads that handlers have performed for the program: cycle, value.
    pub performed: Vec<(u64, u64)>,
}

impl NodeState {
    /// When the processor tries again what it may try from cycle `at` on.
    pub(crate) fn retry_time(&self, at: u64) -> u64 {
        let Some(times) = &self.forced else { return at };
        times.retries.iter().copied().find(|&time| time >= at).unwrap_or(NEVER)
    }

    /// When a task that is started at cycle `at` comes to the engine.
    pub(crate) fn task_time(&mut self, at: u64) -> u64 {
        let Some(times) = &mut self.forced else { return at };
        times.tasks.pop_front().unwrap_or(NEVER).max(at)
    }

    /// When a timer that is set runs out, which would at cycle `at`; the handler that sets it ends at cycle `end`.
    pub(crate) fn timer_time(&self, role: RoleId, object: Object, end: u64, at: u64) -> u64 {
        let Some(times) = &self.forced else { return self.model.timer_runs_out(at) };
        let mut mine = times.timers.iter().filter(|timer| (timer.0, timer.1) == (role, object));
        mine.find(|timer| timer.2 >= end).map_or(NEVER, |timer| timer.2)
    }

    /// The record that a handler has left, as people read it; only where an order is forced.
    pub(crate) fn record_told(&self, engine: &Engine, protocol: usize, outcome: &Outcome) -> String {
        if self.forced.is_none() {
            return String::new();
        }
        let record = self.core.record_of(protocol, outcome.role, outcome.object);
        record.map_or(String::new(), |record| engine.describe(outcome.role, record))
    }

    /// A handler is about to load a word for the program.
    pub(crate) fn note_performed(&mut self, access: &HandlerAccess) {
        if self.forced.is_none() || matches!(access.deed, Deed::Store(_) | Deed::StoreFrom(_) | Deed::StoreData(_)) {
            return;
        }
        let mut word = [0; 8];
        let kept = index(access.bytes.min(8));
        self.read_allocated(access.address, &mut word[..kept]);
        let start = self.handling.start;
        if let Some(times) = &mut self.forced {
            times.performed.push((start, u64::from_le_bytes(word)));
        }
    }
}
