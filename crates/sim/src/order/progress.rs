//! Handlers run, and no processor goes on: requests are refused and made again for ever, for instance. Or processors go on, and do nothing but ask for
//! one lock.

use super::stacks::Known;
use super::{Runner, World};
use crate::node::NodeState;
use std::collections::BTreeMap;
use trivium_diagnostic::Code;
use trivium_guest::SHARED_BASE;
use trivium_node::{Asking, NodeError, OVERTAKES, RELEASE, Taken, Wait, data_text, holder, shared_u32, standing_at};

/// So often others take a lock while a node asks for it in vain, before that node is said to make no progress: as often as an access may be
/// refused.
const OVERTAKEN: u64 = 10_000;
/// A program that has not asked for a lock for this part of the limit does something else.
const PAUSE: u64 = 10;

/// A node asks for a lock and does nothing else, and others take the lock all the time.
#[derive(Clone, Copy)]
struct Overtaken {
    node: usize,
    asking: Asking,
    times: u64,
}

impl World {
    /// From when on it is said that nothing goes on, if nothing does until then; `u64::MAX` if it is early to say, or something goes on; nothing happens
    /// any more before cycle `now`. Which node is simulated first does not decide it: what is found is known for half the limit before it is said.
    pub(super) fn stalled_until(&self, now: u64) -> u64 {
        let waits = if now.saturating_sub(self.shared.went_on.get()) < self.stall_limit / 2 {
            u64::MAX
        } else {
            self.waited_until()
        };
        if !self.somebody_asks(now) {
            return waits;
        }
        waits.min(self.asked_until(now)).min(self.overtaken().map_or(u64::MAX, |(until, _)| until))
    }

    /// Every program that has not ended has waited since then less the limit, for something that no clock brings.
    fn waited_until(&self) -> u64 {
        let mut latest = 0;
        for node in &self.nodes {
            let state = node.borrow();
            match state.thread().wait {
                None | Some(Wait::Sleep(_)) => return u64::MAX,
                Some(_) => latest = latest.max(state.compute.clock()),
            }
        }
        if self.finished == self.nodes.len() { u64::MAX } else { latest.saturating_add(self.stall_limit) }
    }

    /// The same where some of them go on, and do nothing but ask for one lock.
    fn asked_until(&self, now: u64) -> u64 {
        let (mut latest, mut word) = (0, None);
        for node in &self.nodes {
            let state = node.borrow();
            let asking = state.core.locks.asking();
            let wait = state.thread().wait;
            match (wait, asking) {
                (None | Some(Wait::Access(_) | Wait::Change { .. }), Some(asking)) => {
                    let is_over = now > asking.last.saturating_add(self.stall_limit / PAUSE);
                    let is_running = wait.is_none();
                    if *word.get_or_insert(asking.word) != asking.word || is_running && is_over {
                        return u64::MAX;
                    }
                    latest = latest.max(asking.since);
                }
                (None | Some(Wait::Sleep(_)), _) => return u64::MAX,
                (Some(_), _) => latest = latest.max(state.compute.clock()),
            }
        }
        if word.is_none() { u64::MAX } else { latest.saturating_add(self.stall_limit) }
    }

    /// The node that is first to be said to ask for a lock in vain while others take it, and when.
    fn overtaken(&self) -> Option<(u64, Overtaken)> {
        let mut first: Option<(u64, Overtaken)> = None;
        for (node, state) in self.nodes.iter().enumerate() {
            let state = state.borrow();
            let Some(asking) = state.core.locks.asking().filter(|_| state.thread().has_ended().is_none()) else {
                continue;
            };
            let mut marks: Vec<u64> = Vec::new();
            for other in self.nodes.iter().map(|other| other.borrow()) {
                let taken = other.core.locks.taken(asking.word);
                marks.extend(taken.into_iter().flat_map(|taken| taken.again_after(asking.since)));
            }
            marks.sort_unstable();
            let Some(&enough) = marks.get((OVERTAKEN / Taken::EACH) as usize - 1) else { continue };
            let until = asking.since.saturating_add(self.stall_limit).max(enough.saturating_add(self.stall_limit / 2));
            let times = marks.iter().filter(|&&mark| mark <= until).count() as u64 * Taken::EACH;
            if first.is_none_or(|(earliest, _)| until < earliest) {
                first = Some((until, Overtaken { node, asking, times }));
            }
        }
        first
    }

    /// Whether nothing goes on in this part of a world, where cycle `next` is the next in which something happens; something may go on in another part.
    pub(crate) fn has_stalled(&self, next: u64) -> bool {
        // Who takes a lock for which a node of this part asks in vain may be in another part.
        let asks_for_long = |asking: Asking| next >= asking.since.saturating_add(self.stall_limit);
        let is_overtaken =
            || self.nodes.iter().any(|node| node.borrow().core.locks.asking().is_some_and(asks_for_long));
        next < u64::MAX && (next >= self.stalled_until(next) || self.somebody_asks(next) && is_overtaken())
    }

    /// Whether a node may do nothing but ask for a lock.
    fn somebody_asks(&self, now: u64) -> bool {
        self.shared.asked.get().is_some_and(|last| now.saturating_sub(last) < self.stall_limit)
    }

    /// No processor goes on, at cycle `now`: who waits, for what, for whom.
    pub(super) fn no_progress(&mut self, now: u64) -> NodeError {
        let limit = self.stall_limit;
        let set = "--stall-limit sets another number of cycles; 0: none";
        if let Some((_, Overtaken { node, asking, times })) = self.overtaken().filter(|(until, _)| *until == now) {
            let what = format!(
                "no progress of node {node}: since cycle {} it has asked in vain for a lock, {}, and others have taken the lock {times} times meanwhile",
                asking.since,
                self.word(asking.word)
            );
            // What the others do just now says nothing: they go on.
            let asks = |state: &NodeState| state.core.locks.asking().is_some();
            return self.who_does(NodeError::subject(Code::Progress, what), asks).help(format!("{OVERTAKES}. {set}"));
        }
        let word = self.lock_of_all();
        let Some(word) = word else {
            let what =
                format!("no progress: for {limit} cycles handlers ran, and no access and no call came to its end");
            let help = "the protocol may refuse a request and be asked again for ever; or finite lanes are too short. `trivium check` looks for both (starvation, deadlock)";
            return self.who_waits(NodeError::subject(Code::Progress, what)).help(format!("{help}. {set}"));
        };
        let what = format!(
            "no progress: for {limit} cycles nodes have asked for a lock that is not released, {}, and done nothing else",
            self.word(word)
        );
        self.who_waits(NodeError::subject(Code::Progress, what)).help(format!("{RELEASE}. {set}"))
    }

    /// The word of a lock for which a node asks, or for whose release it waits, with what it has found there.
    fn lock_of(&self, state: &NodeState) -> Option<(u32, Option<u64>)> {
        let found = state.core.locks.last();
        let thread = state.thread();
        let word = match thread.wait {
            None => state.core.locks.asking()?.word,
            Some(Wait::Access(_)) if thread.atomic.is_some() => SHARED_BASE + shared_u32(thread.pending.address),
            Some(Wait::Change { .. } | Wait::Access(_)) => found?.word,
            Some(_) => return None,
        };
        let is_lock = self.nodes.iter().any(|node| node.borrow().core.locks.taken(word).is_some());
        is_lock.then(|| (word, found.filter(|found| found.word == word).and_then(|found| found.value)))
    }

    /// Whether a node asks for a lock.
    pub(super) fn awaits_lock(&self) -> bool {
        self.nodes.iter().any(|node| self.lock_of(&node.borrow()).is_some())
    }

    /// The lock for which all ask that neither have ended nor are at the barrier.
    fn lock_of_all(&self) -> Option<u32> {
        let mut word = None;
        for node in &self.nodes {
            let state = node.borrow();
            if !matches!(state.thread().wait, Some(Wait::End(_) | Wait::Barrier(_))) {
                let (lock, _) = self.lock_of(&state)?;
                if *word.get_or_insert(lock) != lock {
                    return None;
                }
            }
        }
        word
    }

    /// Who has the locks for which nodes ask.
    pub(super) fn holders(&self, known: &Known, is_told: impl Fn(&NodeState) -> bool) -> Vec<String> {
        let mut locks: BTreeMap<u32, Option<u64>> = BTreeMap::new();
        for node in &self.nodes {
            if let Some((word, value)) = self.lock_of(&node.borrow()) {
                let found = locks.entry(word).or_default();
                *found = found.or(value);
            }
        }
        let told = locks.iter().filter_map(|(&word, &serving)| {
            let taken: Vec<(usize, Taken)> = self
                .nodes
                .iter()
                .enumerate()
                .filter_map(|(number, node)| Some((number, node.borrow().core.locks.taken(word)?.clone())))
                .collect();
            let number = holder(taken.iter().map(|(number, taken)| (*number, taken)), serving)?;
            let state = self.nodes[number].borrow();
            if !is_told(&state) {
                return None;
            }
            let at = known.stands(number).as_deref().map_or(String::new(), standing_at);
            Some(format!(
                "node {number} has the lock {}, and {}{at}",
                self.word(word),
                self.doing(number, &state, known)
            ))
        });
        told.collect()
    }

    /// A word of shared memory, as people know it.
    fn word(&self, address: u32) -> String {
        let map = self.runners.iter().find_map(|runner| match runner {
            Runner::Program(program) => program.debug_info(),
            Runner::Script(_) => None,
        });
        data_text(&self.space.borrow(), map.as_ref(), address, None)
    }
}
