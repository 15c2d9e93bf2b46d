//! The expansion of many states by several host threads.

use super::arena::StateNumber;
use super::crew::side_by_side;
use super::expand::{Harvest, Worker};
use super::known::Known;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// States that one host thread takes at a time.
const PORTION: StateNumber = 256;

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
        let worker = &mut workers[0];
        return portions.into_iter().map(|portion| worker.expand(states, portion, only_deadlocks)).collect();
    }
    let next = AtomicUsize::new(0);
    let (next, portions) = (&next, &portions);
    let harvests = side_by_side(workers.iter_mut().collect(), |_, worker| {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(portion) = portions.get(at) else { return done };
            done.push((at, worker.expand(states, portion.clone(), only_deadlocks)));
        }
    });
    let mut harvests: Vec<(usize, Harvest)> = harvests.into_iter().flatten().collect();
    harvests.sort_unstable_by_key(|(at, _)| *at);
    harvests.into_iter().map(|(_, harvest)| harvest).collect()
}
