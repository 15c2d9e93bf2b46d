//! The expansion of many states by several host threads.

use super::arena::StateNumber;
use super::crew::side_by_side;
use super::expand::{Harvest, Worker};
use super::known::Known;
use crate::system::model::Model;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States of a portion: after a violation, the others of its portion are looked through for deadlocks only.
const PORTION: StateNumber = 256;
/// Portions that one of several host threads takes at a time, at most.
const MOST_TAKEN: usize = 16;

/// Most states of a batch.
const MOST_IN_BATCH: u64 = 1 << 15;
/// Events that threads can begin in a state, from which on it is wide: many nodes have many threads.
const WIDE: u64 = 256;
/// Successors that a batch of wide states has at the beginning, and at most.
const FEW_SUCCESSORS: u64 = 1 << 13;
const MOST_SUCCESSORS: u64 = 1 << 18;

/// How many states make a batch, after which limits are looked at: few while few are found, and of wide states few while
/// few have been expanded.
pub(super) fn batch(model: &Model, found: u64, expanded: u64) -> u64 {
    let batch = (found / 8).clamp(64, MOST_IN_BATCH);
    let width = model.client.threads.len() as u64 * model.client.intents.len() as u64;
    if width <= WIDE {
        return batch;
    }
    let of_wide = (FEW_SUCCESSORS / width).max(expanded).min(MOST_SUCCESSORS / width);
    batch.min(of_wide.max(1))
}

/// Expands some states side by side; the harvests come in the order of the states.
pub(super) fn expand(
    workers: &mut [Worker],
    states: &impl Known,
    range: Range<StateNumber>,
    only_deadlocks: bool,
) -> Vec<Harvest> {
    let portions: Vec<Range<StateNumber>> =
        range.clone().step_by(PORTION as usize).map(|from| from..range.end.min(from + PORTION)).collect();
    if workers.len() == 1 || portions.len() == 1 {
        return expand_all(&mut workers[0], states, &portions, only_deadlocks);
    }
    let taken = (portions.len() / (4 * workers.len())).clamp(1, MOST_TAKEN);
    let next = AtomicUsize::new(0);
    let (next, portions) = (&next, &portions);
    let harvests = side_by_side(workers.iter_mut().collect(), |_, worker| {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(taken, Ordering::Relaxed);
            let Some(rest) = portions.get(at..).filter(|rest| !rest.is_empty()) else { return done };
            done.push((at, expand_all(worker, states, &rest[..taken.min(rest.len())], only_deadlocks)));
        }
    });
    let mut harvests: Vec<(usize, Vec<Harvest>)> = harvests.into_iter().flatten().collect();
    harvests.sort_unstable_by_key(|(at, _)| *at);
    harvests.into_iter().flat_map(|(_, harvests)| harvests).collect()
}

/// Expands some portions: one harvest, or several where one came to an end.
fn expand_all(
    worker: &mut Worker,
    states: &impl Known,
    portions: &[Range<StateNumber>],
    only_deadlocks: bool,
) -> Vec<Harvest> {
    let mut harvests = Vec::new();
    let mut harvest = Harvest::with_room(portions.iter().map(Range::len).sum());
    let mut close = |harvest: &mut Harvest| {
        harvest.sort();
        harvests.push(std::mem::take(harvest));
    };
    for portion in portions {
        worker.expand(states, portion.clone(), only_deadlocks, &mut harvest);
        if harvest.is_closed() {
            close(&mut harvest);
        }
    }
    close(&mut harvest);
    harvests
}
