//! The search by a group of processes, the ranks: each keeps the states that fall to it by their hashes, and expands them.
//!
//! All go through the states batch by batch, as one process does, and number them as it does (`deal`). So what is found, and where
//! it ends, is the same for any number of ranks; a rank decides nothing by itself, but only by what all have said.

mod backward;
mod deal;
mod post;

use super::arena::StateNumber;
use super::ascending::Ascending;
use super::estimate::Widths;
use super::expand::{Found, Harvest, Worker, deadlock, up_to_violation};
use super::known::Known;
use super::letters::{Letter, put, put_bytes};
use super::pack::{Packed, hash};
use super::states::States;
use super::{NOT_LOOKED, STOPPED, path, portions, too_deep};
use crate::config::group::Group;
use crate::config::{Config, Method, Progress, Search, refused};
use crate::coverage::Seen;
use crate::report::Report;
use crate::report::conclude::{Conclusion, Tally, conclude};
use crate::search::store::state_number;
use crate::system::begin::check_first;
use crate::system::model::Model;
use crate::system::progress::{NOT_TOLD_APART, can_tell_apart, content, everybody};
use crate::system::promise::Violation;
use backward::Backward;
use deal::Share;
use post::Post;
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Instant;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::index;

/// Whether a group can do what is asked for, where there is a group.
///
/// # Errors
/// It cannot: what does not go together with ranks.
pub(crate) fn allow(model: &Model, config: &Config) -> Result<(), Diagnostic> {
    if config.group.is_none_or(|group| group.size() == 1) {
        return Ok(());
    }
    let cannot = |what: &str| {
        let help = "leave it out, or search in one process";
        Err(refused(format!("several ranks cannot search together with {what}"), help))
    };
    match config.method {
        _ if config.search == Search::Brute => return cannot("--brute"),
        Method::Walks { .. } => return cannot("--random-walks"),
        Method::Compact { .. } => return cannot("--hash-compact"),
        Method::Bits { .. } => return cannot("--bitstate"),
        Method::Disk { .. } => return cannot("--disk"),
        Method::Exact if config.resume.is_some() => return cannot("--resume"),
        Method::Exact if config.checkpoint.is_some() => return cannot("--checkpoint"),
        Method::Exact => {}
    }
    if model.keeps_payloads() {
        let what = format!(
            "several ranks cannot search `{}` together: what its messages carry, memory, lists or large words, is numbered in the order in which one process meets it",
            model.protocol().name
        );
        return Err(refused(what, "search in one process"));
    }
    Ok(())
}

/// Visits every state, together with the other ranks. Each of them returns the same.
///
/// # Errors
/// None so far.
pub(super) fn explore(model: &Model, config: &Config, group: &dyn Group) -> Result<Report, Diagnostic> {
    Ok(Ranks::new(model, config, group).run())
}

/// Why a search ended.
enum End {
    Limit(String),
    Found(Lost),
    /// From this state on this thread does not get through.
    Starves(u64, usize),
}

/// Something that is violated: the state, and whether an event of it does it.
struct Lost {
    state: u64,
    by_event: bool,
    violation: Violation,
}

/// What this rank knows of the states: its own. States of other ranks have to be sent there.
struct Own<'r> {
    states: &'r States,
    rank: usize,
    size: usize,
}

impl Own<'_> {
    fn keeps(&self, hash: u64) -> bool {
        post::owner(hash, self.size) == self.rank
    }
}

impl Known for Own<'_> {
    fn state(&self, number: StateNumber) -> &[u8] {
        self.states.arena.get(number)
    }

    fn find(&self, hash: u64, bytes: &[u8]) -> Option<StateNumber> {
        if self.keeps(hash) { self.states.find(hash, bytes) } else { None }
    }

    fn touch(&self, hashes: impl Iterator<Item = u64>) {
        self.states.touch(hashes.filter(|&hash| self.keeps(hash)));
    }
}

/// A search that is under way, on one of its ranks.
struct Ranks<'m> {
    model: &'m Model,
    config: &'m Config<'m>,
    post: Post<'m>,
    workers: Vec<Worker<'m>>,
    /// The states that this rank keeps, in the order of their numbers.
    states: States,
    /// The numbers that they have among those of all ranks, and those of the states from which they were first reached.
    numbers: Ascending,
    parents: Ascending,
    /// The numbers of those that are not yet expanded.
    waiting: VecDeque<u64>,
    backward: Option<Backward>,
    /// Why starvation is not looked for although it was asked for.
    not_looked: Option<String>,
    /// States that all have found.
    found: u64,
    /// What this rank has executed.
    transitions: u64,
    depth: u32,
    /// How many states lie at each depth, that of those that are being expanded included.
    widths: Widths,
    begun: Instant,
}

impl<'m> Ranks<'m> {
    fn new(model: &'m Model, config: &'m Config<'m>, group: &'m dyn Group) -> Ranks<'m> {
        let looks = config.liveness && can_tell_apart(model);
        Ranks {
            model,
            config,
            post: Post::new(group),
            workers: Worker::crew(model, config, looks),
            states: States::new(),
            numbers: Ascending::default(),
            parents: Ascending::default(),
            waiting: VecDeque::new(),
            backward: looks.then(|| Backward::new(everybody(model))),
            not_looked: (config.liveness && !looks).then(|| NOT_TOLD_APART.into()),
            found: 0,
            transitions: 0,
            depth: 0,
            widths: Widths::default(),
            begun: Instant::now(),
        }
    }

    fn run(mut self) -> Report {
        let visited = self.visit();
        let whole = matches!(visited, Err(End::Limit(_))).then(|| self.widths.whole()).flatten();
        let end = match visited.and_then(|()| self.look_for_starvation()) {
            Err(End::Limit(limit)) => {
                let stopped = self.any_is_stopped();
                let trap = if stopped { None } else { self.trap_so_far() };
                Some(trap.unwrap_or(End::Limit(limit)))
            }
            end => end.err(),
        };
        self.report(end, whole)
    }

    fn visit(&mut self) -> Result<(), End> {
        self.begin()?;
        let mut level = 0..1;
        loop {
            if let Some(limit) = too_deep(self.config, self.depth) {
                return Err(End::Limit(limit));
            }
            self.visit_level(level.clone())?;
            level = level.end..self.found;
            if level.is_empty() {
                return Ok(());
            }
            self.depth += 1;
            self.widths.push(level.end - level.start);
        }
    }

    /// Adds the first state.
    fn begin(&mut self) -> Result<(), End> {
        let first = self.model.first();
        let mut bytes = Packed::default();
        self.workers[0].pack(&first, &mut bytes);
        self.found = 1;
        if self.post.owner(hash(&bytes)) == self.post.rank() {
            self.states.add_first(&bytes);
            self.numbers.push(0);
            self.parents.push(0);
            self.waiting.push_back(0);
            if let Some(backward) = &mut self.backward {
                backward.content.push(content(self.model, &first));
            }
        }
        check_first(self.model, &first).map_err(|violation| End::Found(Lost { state: 0, by_event: false, violation }))
    }

    /// Expands the states that lie equally deep.
    fn visit_level(&mut self, level: Range<u64>) -> Result<(), End> {
        let mut found = None;
        let mut from = level.start;
        while from < level.end {
            if let Some(limit) = self.limit(from)? {
                // A violation that is known is worth more than the wish to stop.
                return Err(found.map_or(End::Limit(limit), End::Found));
            }
            // As one process does, so that limits end it at the same place.
            let batch = portions::batch(self.model, self.found, from);
            let to = level.end.min(from + batch);
            match self.visit_batch(from..to, found.is_some()) {
                Err(End::Limit(_)) if found.is_some() => break,
                new => found = found.or(new?),
            }
            from = to;
        }
        found.map_or(Ok(()), |found| Err(End::Found(found)))
    }

    /// Expands the states with these numbers. The first violation among them, if it can be that a deadlock follows, which is
    /// one event shorter.
    fn visit_batch(&mut self, batch: Range<u64>, only_deadlocks: bool) -> Result<Option<Lost>, End> {
        let mut share = self.share(batch);
        let mut harvests = self.expand(share.own.clone(), only_deadlocks);
        let stopped = harvests.iter().any(|harvest| harvest.is_stopped);
        let number = |found: &Found| share.number(found.state);
        let first_found = harvests.iter().find_map(|harvest| harvest.found.as_ref());
        let first_deadlock = harvests.iter().find_map(|harvest| harvest.deadlock.as_ref());
        let [any_stopped, founds, deadlocks] = self.post.gather([
            u64::from(stopped),
            first_found.map_or(u64::MAX, number),
            first_deadlock.map_or(u64::MAX, number),
        ]);
        if any_stopped.contains(&1) {
            return Err(End::Limit(STOPPED.into()));
        }
        let violation = first_found.map(|found| found.violation.clone());
        let (finder, first_found) = least(&founds);
        let (_, first_deadlock) = least(&deadlocks);
        let waiting = share.numbers.len();
        let mut limit = None;
        if !only_deadlocks {
            let last = first_found.min(first_deadlock);
            self.cut(&mut share, &mut harvests, last);
            if !self.deal(&share, &harvests) {
                limit = Some(format!("the limit of {} states is reached: a rank has no numbers for more", self.found));
            } else if let Some(most) = self.config.max_states.filter(|&most| self.found > most) {
                self.found = most;
                limit = Some(format!("the limit of {most} states is reached"));
            }
        }
        self.waiting.drain(..waiting);
        if first_deadlock < u64::MAX {
            let violation = deadlock(0).violation;
            return Err(End::Found(Lost { state: first_deadlock, by_event: false, violation }));
        }
        if first_found == u64::MAX {
            return limit.map_or(Ok(None), |limit| Err(End::Limit(limit)));
        }
        let violation = self.violation_of(finder, violation);
        let lost = Lost { state: first_found, by_event: true, violation };
        // A violation that is known is worth more than the limit.
        if limit.is_some() { Err(End::Found(lost)) } else { Ok(Some(lost)) }
    }

    /// The states of a batch that this rank keeps.
    fn share(&self, batch: Range<u64>) -> Share {
        let numbers: Vec<u64> = self.waiting.iter().copied().take_while(|&number| number < batch.end).collect();
        let first = state_number(self.expanded());
        Share { batch, own: first..first + state_number(numbers.len()), numbers }
    }

    fn expand(&mut self, own: Range<StateNumber>, only_deadlocks: bool) -> Vec<Harvest> {
        if own.is_empty() {
            return Vec::new();
        }
        let known = Own { states: &self.states, rank: self.post.rank(), size: self.post.size() };
        portions::expand(&mut self.workers, &known, own, only_deadlocks)
    }

    /// Leaves what was found in a batch up to the state in which the first violation of all ranks is.
    fn cut(&mut self, share: &mut Share, harvests: &mut Vec<Harvest>, last: u64) {
        let kept = share.numbers.partition_point(|&number| number <= last);
        if last == u64::MAX {
            return;
        }
        share.own.end = share.own.start + state_number(kept);
        if kept > 0 && share.numbers[kept - 1] == last {
            // It is the first of this rank: what was expanded ends there.
            harvests.truncate(up_to_violation(harvests).len());
        } else if kept < share.numbers.len() {
            *harvests = self.expand(share.own.clone(), false);
        }
    }

    /// What one rank has found, told to all.
    fn violation_of(&self, finder: usize, own: Option<Violation>) -> Violation {
        let mut letter = Vec::new();
        if let Some(violation) = own {
            put_bytes(&mut letter, violation.property.as_bytes());
            put_bytes(&mut letter, violation.sentence.as_bytes());
        }
        let letter = self.post.spread(finder, letter);
        let mut letter = Letter::new(&letter);
        let mut text = || String::from_utf8_lossy(letter.take_bytes()).into_owned();
        Violation::new(text(), text())
    }

    /// Why the search must stop before it expands a state, if it must. Where memory ends, the states themselves are worth
    /// more than what is kept to find starvation.
    fn limit(&mut self, from: u64) -> Result<Option<String>, End> {
        let is_lost = self.backward.as_ref().is_some_and(|backward| backward.is_lost);
        let [memory, most, stopped, lost, transitions] = self.post.gather([
            self.memory(),
            self.config.memory.unwrap_or(u64::MAX),
            u64::from(self.config.is_stopped()),
            u64::from(is_lost),
            self.transitions,
        ]);
        if lost.contains(&1) {
            self.give_up_liveness("nodes have too many names to tell threads apart".into());
        }
        let full = memory.iter().zip(&most).position(|(memory, most)| memory >= most);
        if let Some(rank) = full {
            let limit = format!("the limit of {} bytes of memory", most[rank]);
            if self.backward.is_none() {
                return Ok(Some(format!("{limit} is reached on rank {rank}")));
            }
            if let Some(trap) = self.trap_so_far() {
                return Err(trap);
            }
            self.give_up_liveness(format!("{limit} of rank {rank}"));
            return self.limit(from);
        }
        self.tell(from, memory.iter().sum(), transitions.iter().sum());
        Ok(stopped.contains(&1).then(|| STOPPED.into()))
    }

    /// A thread that does not get through, whatever the states that are not yet expanded lead to. Ends what is kept to find
    /// starvation.
    fn trap_so_far(&mut self) -> Option<End> {
        let mut backward = self.backward.take()?;
        backward.content.assume_the_best_from(self.expanded());
        let looked = backward.reach_back(&self.post, || !self.config.is_stopped());
        let missing = looked.then(|| self.first_missing(&backward)).flatten()?;
        self.backward = Some(backward);
        Some(missing)
    }

    /// The first state of all in which somebody does not get through.
    fn first_missing(&self, backward: &Backward) -> Option<End> {
        let missing = backward.content.first_missing();
        let number = missing.map_or(u64::MAX, |(state, _)| self.numbers.get(state));
        let thread = missing.map_or(0, |(_, thread)| u64::from(thread));
        let [numbers, threads] = self.post.gather([number, thread]);
        let (rank, number) = least(&numbers);
        (number < u64::MAX).then(|| End::Starves(number, index(threads[rank])))
    }

    fn give_up_liveness(&mut self, why: String) {
        self.backward = None;
        self.not_looked = Some(why);
        self.workers.iter_mut().for_each(|worker| worker.keeps_targets = false);
    }

    /// Whether there is a state in which a thread waits that does not get through.
    fn look_for_starvation(&mut self) -> Result<(), End> {
        let is_lost = self.backward.as_ref().is_some_and(|backward| backward.is_lost);
        let [lost] = self.post.gather([u64::from(is_lost)]);
        if lost.contains(&1) {
            self.give_up_liveness("nodes have too many names to tell threads apart".into());
        }
        if let Some(why) = &self.not_looked {
            return Err(End::Limit(format!("safety and deadlock hold{NOT_LOOKED}: {why}")));
        }
        let Some(mut backward) = self.backward.take() else { return Ok(()) };
        if !backward.reach_back(&self.post, || !self.config.is_stopped()) {
            return Err(End::Limit(format!(
                "{STOPPED}: safety and deadlock hold, but starvation was still looked for"
            )));
        }
        let missing = self.first_missing(&backward);
        self.backward = Some(backward);
        missing.map_or(Ok(()), Err)
    }

    fn any_is_stopped(&self) -> bool {
        let [stopped] = self.post.gather([u64::from(self.config.is_stopped())]);
        stopped.contains(&1)
    }

    /// Own states that have been expanded.
    fn expanded(&self) -> usize {
        self.numbers.len() - self.waiting.len()
    }

    /// Tells how far all are: this state is expanded next.
    fn tell(&self, from: u64, memory: u64, transitions: u64) {
        let Some(report) = self.config.progress else { return };
        report(&Progress {
            states: self.found,
            transitions,
            depth: self.depth,
            waiting: self.found - from,
            memory,
            seconds: self.begun.elapsed().as_secs_f64(),
            whole: self.widths.whole(),
        });
    }

    /// Bytes of this rank's memory.
    fn memory(&self) -> u64 {
        let numbers = self.numbers.memory() + self.parents.memory() + self.waiting.capacity() as u64 * 8;
        self.states.memory() + numbers + self.backward.as_ref().map_or(0, Backward::memory)
    }

    /// The states that lead to one, from the one after the first on. Their ranks tell them to all.
    fn way(&self, mut number: u64) -> Vec<Vec<u8>> {
        let mut way = Vec::new();
        while number != 0 {
            let mut letter = Vec::new();
            if let Some(own) = self.numbers.find(number) {
                put(&mut letter, self.parents.get(own));
                put_bytes(&mut letter, self.states.arena.get(state_number(own)));
            }
            let letter = self.post.exchange_all(letter).concat();
            let mut letter = Letter::new(&letter);
            number = letter.take();
            way.push(letter.take_bytes().to_vec());
        }
        way.reverse();
        way
    }

    fn report(mut self, end: Option<End>, whole: Option<u64>) -> Report {
        let [memory, packed, transitions, seconds] = self.post.gather([
            self.memory(),
            self.states.arena.packed(),
            self.transitions,
            self.begun.elapsed().as_secs_f64().to_bits(),
        ]);
        let tally = Tally {
            states: self.found,
            transitions: transitions.iter().sum(),
            depth: self.depth,
            seconds: f64::from_bits(seconds[0]),
            memory: memory.iter().sum(),
            packed: packed.iter().sum(),
            symmetry: self.workers[0].exchanged(),
            liveness: self.backward.is_some(),
            whole,
            ..Tally::default()
        };
        let state = match &end {
            // A state found last lies as deep as any, so that what grows is long there.
            None | Some(End::Limit(_)) => self.found - 1,
            Some(End::Found(lost)) => lost.state,
            Some(End::Starves(state, _)) => *state,
        };
        let way = if end.is_some() { self.way(state) } else { Vec::new() };
        let mut worker = Worker::joined(std::mem::take(&mut self.workers));
        for seen in self.post.exchange_all(worker.stepper.reached.saved()) {
            worker.stepper.reached.restore(&seen);
        }
        let together = self.post.sent();
        let seen = Seen::of(self.model, &worker.stepper.reached);
        let mut path = path::through(&mut worker, &way);
        let conclusion = match end {
            None => Conclusion::Holds,
            Some(End::Limit(limit)) => Conclusion::Incomplete { limit, trace: path.settle(&mut worker.stepper) },
            Some(End::Found(lost)) => {
                if lost.by_event {
                    path.add_violation(&mut worker.stepper, &lost.violation.property);
                }
                Conclusion::Violated { violation: lost.violation, trace: path.settle(&mut worker.stepper) }
            }
            Some(End::Starves(_, thread)) => {
                let (trace, violation) = path.settle_in_trap(&mut worker, thread);
                Conclusion::Violated { violation, trace }
            }
        };
        let mut report = conclude(&mut worker.stepper, tally, seen, conclusion);
        report.ranks = Some(together);
        report
    }
}

/// The least of some numbers, and the first place at which it is.
fn least(numbers: &[u64]) -> (usize, u64) {
    let least = numbers.iter().copied().enumerate().min_by_key(|&(_, number)| number);
    least.unwrap_or((0, u64::MAX))
}
