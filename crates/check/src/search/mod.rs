//! The fast explorer: breadth first, batch by batch, on several host threads.
//!
//! A batch is a part of the states that lie equally deep. Its states are expanded side by side; then the states that
//! they lead to join those found before (`states`). Numbers, counts and counterexamples are those of a search on one host
//! thread, without symmetry even those of the brute force.

mod arena;
mod ascending;
mod checkpoint;
mod compact;
mod crew;
mod disk;
mod edges;
mod estimate;
mod expand;
#[cfg(test)]
mod failing;
mod frames;
mod homes;
mod known;
mod leftovers;
mod lengths;
mod letters;
mod liveness;
mod memo;
mod names;
mod pack;
mod path;
mod portions;
mod ranks;
mod renamed;
mod runs;
mod signatures;
mod signing;
mod sorter;
mod states;
pub(crate) mod store;
mod sweep;
mod symmetry;
mod table;
mod trail;
mod values;
mod walks;

use crate::config::{Config, Method, Progress, refused};
use crate::coverage::Seen;
use crate::report::conclude::{Conclusion, Tally, conclude};
use crate::report::{Report, Verdict};
use crate::search::store::state_number;
use crate::system::begin::check_first;
use crate::system::model::Model;
use crate::system::progress::{NOT_TOLD_APART, can_tell_apart, content};
use crate::system::world::World;
use arena::StateNumber;
use checkpoint::{Frontier, Keeping};
use compact::{Compact, Signatures};
use disk::Disk;
use edges::Edge;
use estimate::Widths;
use expand::{CANDIDATE, Found, Harvest, Worker, up_to_violation};
pub use leftovers::{leftovers, unseen};
use lengths::Lengths;
use liveness::Liveness;
use pack::Packed;
pub(crate) use path::{add_trap, demand_text};
pub(crate) use ranks::allow;
use signatures::{Bits, Compacted};
use states::States;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use sweep::Sweep;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_protocol::Protocol;

/// Visits every state.
///
/// # Errors
/// The checkpoint from which it should go on is refused.
pub(crate) fn explore(model: &Model, config: &Config) -> Result<Report, Diagnostic> {
    let by = |signatures| Ok(Sweep::new(model, config, Compact::new(signatures)).run());
    match config.method {
        Method::Exact => {}
        Method::Walks { count, depth } => return Ok(walks::explore(model, config, count, depth)),
        Method::Compact { bits } => return by(Signatures::Compacted(Compacted::new(bits, config.seed))),
        Method::Bits { bytes, hashes } => return by(Signatures::Bits(Bits::new(bytes, hashes, config.seed))),
        Method::Disk { folder } => {
            let disk = Disk::new(folder, config.memory).map_err(|error| {
                let what = format!("the folder {} for states cannot be written: {error}", folder.display());
                refused(what, "name another one")
            })?;
            return Ok(Sweep::new(model, config, disk).run());
        }
    }
    if let Some(group) = config.group.filter(|group| group.size() > 1) {
        return ranks::explore(model, config, group);
    }
    let mut search = FastSearch::new(model, config);
    if let Some(path) = config.resume {
        search.resume(path)?;
    }
    Ok(search.run())
}

/// Visits every state of a system whose copies are forgotten on a guess. Nothing, and the model has no guess, where there is none to make or
/// something is violated: what goes wrong after a look at a forgotten word says nothing. Without the guess it is found at the same depth, or not at all.
///
/// # Errors
/// As [`explore`].
pub(crate) fn explore_guessing(model: &mut Model, config: &Config) -> Result<Option<Report>, Diagnostic> {
    if !model.guess() {
        return Ok(None);
    }
    let report = explore(model, config)?;
    if report.verdict == Verdict::Violated {
        model.unread = None;
        return Ok(None);
    }
    Ok(Some(report))
}

/// Why states that lie so deep are not expanded, if they are not.
fn too_deep(config: &Config, depth: u32) -> Option<String> {
    let most = config.max_depth.filter(|&most| depth >= most)?;
    Some(format!("the limit of {most} events is reached: what states do that lie so deep was not looked at"))
}

/// Why a search ended.
enum End {
    Exhausted,
    Limit(String),
    Found(Found),
    /// From this state on this thread does not get through.
    Starves(StateNumber, usize),
}

/// What is said besides where starvation was asked for.
const NOT_LOOKED: &str = "; starvation was not looked for";

/// Why a search ends that the user has stopped.
const STOPPED: &str = "the exploration was stopped";

/// At each depth to this the estimate is made anew.
const GUESSED_TO: u32 = 64;
/// From there on: time for which an estimate is told again.
const GUESSED_EVERY: Duration = Duration::from_millis(50);

struct FastSearch<'m> {
    model: &'m Model,
    config: &'m Config<'m>,
    workers: Vec<Worker<'m>>,
    states: States,
    liveness: Option<Liveness>,
    /// Why starvation is not looked for although it was asked for.
    not_looked: Option<String>,
    transitions: u64,
    /// States whose transitions are known.
    expanded: StateNumber,
    depth: u32,
    /// How many states lie at each depth, that of those that are being expanded included.
    widths: Widths,
    begun: Instant,
    /// Host time of the runs before the checkpoint from which this one goes on.
    seconds_before: f64,
    /// How far it was before the present batch.
    place: Frontier,
    keeping: Keeping,
    lengths: Lengths,
    /// How many states there may be in all, as it was last told, and when that was worked out.
    guess: Option<(Option<u64>, Instant)>,
}

impl<'m> FastSearch<'m> {
    fn new(model: &'m Model, config: &'m Config<'m>) -> FastSearch<'m> {
        let looks = config.liveness && can_tell_apart(model);
        let mut workers = Worker::crew(model, config, looks);
        let renames = workers[0].exchanged().renames();
        workers.iter_mut().for_each(Worker::merge_alike);
        FastSearch {
            model,
            config,
            workers,
            states: States::new(),
            liveness: looks.then(|| Liveness::new(model, renames)),
            not_looked: (config.liveness && !looks).then(|| NOT_TOLD_APART.into()),
            transitions: 0,
            expanded: 0,
            depth: 0,
            widths: Widths::default(),
            begun: Instant::now(),
            seconds_before: 0.0,
            place: Frontier::default(),
            keeping: Keeping::new(),
            lengths: Lengths::new(),
            guess: None,
        }
    }

    fn run(mut self) -> Report {
        let end = self.visit();
        let whole = matches!(end, End::Limit(_)).then(|| self.widths.whole()).flatten();
        let end = match end {
            End::Exhausted => self.look_for_starvation(),
            End::Limit(limit) => {
                self.save();
                let trap = if self.config.is_stopped() { None } else { self.trap_so_far() };
                trap.unwrap_or(End::Limit(limit))
            }
            end => end,
        };
        self.report(end, whole)
    }

    fn visit(&mut self) -> End {
        if self.states.len() == 0
            && let Err(found) = self.begin()
        {
            return End::Found(found);
        }
        let (mut level, mut from) = (self.place.level.clone(), self.place.from);
        loop {
            if let Some(limit) = too_deep(self.config, self.depth) {
                self.note_place(&level, from);
                return End::Limit(limit);
            }
            if let Err(end) = self.visit_level(level.clone(), from) {
                return end;
            }
            level = level.end..state_number(self.states.len());
            from = level.start;
            if level.is_empty() {
                self.note_place(&level, from);
                return End::Exhausted;
            }
            self.depth += 1;
            self.widths.push(u64::from(level.end - level.start));
            if self.is_endless(level.clone()) {
                return End::Limit(String::new());
            }
        }
    }

    /// Adds the first state.
    fn begin(&mut self) -> Result<(), Found> {
        let first = self.model.first();
        let mut bytes = Packed::default();
        self.workers[0].pack(&first, &mut bytes);
        self.states.add_first(&bytes);
        if let Some(liveness) = &mut self.liveness {
            liveness.content.push(content(self.model, &first));
        }
        self.note_place(&(0..1), 0);
        check_first(self.model, &first).map_err(|violation| Found { state: 0, by_event: false, violation })
    }

    /// Expands the states that lie equally deep, from one of them on.
    fn visit_level(&mut self, level: Range<StateNumber>, mut from: StateNumber) -> Result<(), End> {
        let mut found = None;
        while from < level.end {
            self.spare_memory()?;
            if found.is_none() {
                self.note_place(&level, from);
                self.save_in_time();
            }
            if let Some(limit) = self.limit(from) {
                // A violation that is known is worth more than the wish to stop.
                return Err(found.map_or(End::Limit(limit), End::Found));
            }
            let batch = portions::batch(self.model, self.states.len() as u64, u64::from(from));
            let to = level.end.min(from + fit::<u64, StateNumber>(batch, "the number of a state"));
            let mut harvests = portions::expand(&mut self.workers, &self.states, from..to, found.is_some());
            if harvests.iter().any(|harvest| harvest.is_stopped) {
                return Err(found.map_or(End::Limit(STOPPED.into()), End::Found));
            }
            let full = if found.is_none() { self.gather(&harvests) } else { None };
            if let Some(deadlock) = harvests.iter_mut().find_map(|harvest| harvest.deadlock.take()) {
                return Err(End::Found(deadlock));
            }
            found = found.or_else(|| harvests.iter_mut().find_map(|harvest| harvest.found.take()));
            if let Some(limit) = full {
                return Err(found.map_or(End::Limit(limit), End::Found));
            }
            from = to;
        }
        found.map_or(Ok(()), |found| Err(End::Found(found)))
    }

    /// Adds what was found, up to the first violation. Why the search must stop, if there was no room.
    fn gather(&mut self, harvests: &[Harvest]) -> Option<String> {
        let harvests = up_to_violation(harvests);
        self.transitions += harvests.iter().map(|h| h.transitions).sum::<u64>();
        let most = self.config.max_states.unwrap_or(u64::MAX);
        let joined = self.states.join(harvests, most, self.workers.len());
        if joined.full {
            return Some(format!("the limit of {} states is reached", self.states.len()));
        }
        if !self.note(harvests, &joined.numbers) {
            self.give_up_liveness("nodes have too many names to tell threads apart".into());
        }
        None
    }

    /// Why the search must stop before it expands a state, if it must.
    fn limit(&mut self, state: StateNumber) -> Option<String> {
        if let Some(limit) = self.config.out_of_memory(self.memory()) {
            return Some(limit);
        }
        self.tell(state);
        self.config.is_stopped().then(|| STOPPED.into())
    }

    /// Where memory ends, the states themselves are worth more than what is kept to find starvation.
    fn spare_memory(&mut self) -> Result<(), End> {
        // A search that is saved ends with all that it has, and can go on where there is more memory.
        let spares = self.liveness.is_some() && self.config.checkpoint.is_none();
        match self.config.memory.filter(|&most| self.memory() >= most && spares) {
            None => Ok(()),
            Some(most) => {
                if let Some(trap) = self.trap_so_far() {
                    return Err(trap);
                }
                self.give_up_liveness(format!("the limit of {most} bytes of memory"));
                Ok(())
            }
        }
    }

    /// A thread that does not get through, whatever the states that are not yet expanded lead to. Ends what is kept to find
    /// starvation.
    fn trap_so_far(&mut self) -> Option<End> {
        let mut liveness = self.liveness.take()?;
        liveness.content.assume_the_best_from(self.expanded as usize);
        let looked = liveness.edges.reach_back(&mut liveness.content, || !self.config.is_stopped());
        let (state, thread) = liveness.content.first_missing().filter(|_| looked)?;
        self.liveness = Some(liveness);
        Some(End::Starves(state_number(state), thread as usize))
    }

    fn give_up_liveness(&mut self, why: String) {
        self.liveness = None;
        self.not_looked = Some(why);
        self.workers.iter_mut().for_each(|worker| worker.keeps_targets = false);
    }

    /// Tells how far it is: this state is expanded next.
    fn tell(&mut self, state: StateNumber) {
        let Some(report) = self.config.progress else { return };
        // Depths may be many and narrow, and an estimate takes milliseconds.
        let is_due = self.guess.is_none_or(|(_, made)| made.elapsed() >= GUESSED_EVERY);
        if is_due || self.depth < GUESSED_TO {
            self.guess = Some((self.widths.whole(), Instant::now()));
        }
        let guess = self.guess.and_then(|(guess, _)| guess);
        let waiting = self.states.len() as u64 - u64::from(state);
        report(&Progress {
            states: self.states.len() as u64,
            transitions: self.transitions,
            depth: self.depth,
            waiting,
            memory: self.memory(),
            seconds: self.seconds(),
            whole: guess.filter(|_| waiting > 0 && !self.lengths.grow()),
        });
    }

    /// Host time, with that of the runs before a checkpoint.
    fn seconds(&self) -> f64 {
        self.seconds_before + self.begun.elapsed().as_secs_f64()
    }

    fn memory(&self) -> u64 {
        self.states.memory() + self.liveness.as_ref().map_or(0, Liveness::memory)
    }

    /// Whether there is a state in which a thread waits that does not get through.
    fn look_for_starvation(&mut self) -> End {
        if let Some(why) = &self.not_looked {
            return End::Limit(format!("safety and deadlock hold{NOT_LOOKED}: {why}"));
        }
        let Some(mut liveness) = self.liveness.take() else { return End::Exhausted };
        let all = state_number(self.states.len());
        let looked = liveness.edges.reach_back(&mut liveness.content, || {
            self.tell(all);
            !self.config.is_stopped()
        });
        if !looked {
            self.liveness = Some(liveness);
            self.save();
            self.liveness = None;
            return End::Limit(format!("{STOPPED}: safety and deadlock hold, but starvation was still looked for"));
        }
        let missing = liveness.content.first_missing();
        self.liveness = Some(liveness);
        missing.map_or(End::Exhausted, |(state, thread)| End::Starves(state_number(state), thread as usize))
    }

    /// Keeps the transitions of a batch that must happen, and who waits for nothing in the states that are new. Whether there
    /// was room.
    fn note(&mut self, harvests: &[Harvest], numbers: &[StateNumber]) -> bool {
        let Some(liveness) = &mut self.liveness else { return true };
        let symmetry = self.workers[0].symmetry.as_ref();
        let mut first = 0;
        for harvest in harvests {
            for (at, &content) in harvest.content.iter().enumerate() {
                if numbers[first + at] as usize == liveness.content.len() {
                    liveness.content.push(content);
                }
            }
            let mut from = 0;
            for &end in &harvest.target_ends {
                let edges = harvest.targets[from..end as usize].iter().map(|edge| match edge.target & CANDIDATE {
                    0 => *edge,
                    _ => Edge { target: numbers[first + (edge.target & !CANDIDATE) as usize], ..*edge },
                });
                let image = |renaming| symmetry.map_or(Vec::new(), |symmetry| symmetry.image(renaming));
                if !liveness.edges.push(self.expanded, edges, image) {
                    return false;
                }
                self.expanded += 1;
                from = end as usize;
            }
            first += harvest.len();
        }
        true
    }

    fn report(mut self, end: End, whole: Option<u64>) -> Report {
        // One that came to its end has nothing to go on with.
        let is_unfinished = matches!(end, End::Limit(_));
        let tally = Tally {
            states: self.states.len() as u64,
            transitions: self.transitions,
            depth: self.depth,
            seconds: self.seconds(),
            memory: self.memory(),
            packed: self.states.arena.packed(),
            symmetry: self.workers[0].exchanged(),
            liveness: self.liveness.is_some(),
            checkpoint: self.keeping.saved.take().filter(|saved| is_unfinished || saved.error.is_some()),
            whole,
            ..Tally::default()
        };
        let mut worker = Worker::joined(self.workers);
        let seen = Seen::of(self.model, &worker.stepper.reached);
        let conclusion = match end {
            End::Exhausted => Conclusion::Holds,
            End::Limit(limit) => match self.lengths.told(&limit) {
                Some(forever) => Conclusion::Endless(forever),
                None => {
                    // A state found last lies as deep as any, so that what grows is long there.
                    let last = state_number(self.states.len()) - 1;
                    Conclusion::Incomplete {
                        limit,
                        trace: path::to_state(&mut worker, &self.states, last).settle(&mut worker.stepper),
                    }
                }
            },
            End::Found(found) => {
                let mut path = path::to_state(&mut worker, &self.states, found.state);
                if found.by_event {
                    path.add_violation(&mut worker.stepper, &found.violation.property);
                }
                Conclusion::Violated { violation: found.violation, trace: path.settle(&mut worker.stepper) }
            }
            End::Starves(state, thread) => {
                let path = path::to_state(&mut worker, &self.states, state);
                let (trace, violation) = path.settle_in_trap(&mut worker, thread);
                Conclusion::Violated { violation, trace }
            }
        };
        conclude(&mut worker.stepper, tally, seen, conclusion)
    }
}

/// How many states there are without symmetry, and how many different ones among them when names of nodes and values do not
/// count: each state is visited, and all names are tried. To test symmetry by.
///
/// # Errors
/// As [`crate::runs::explore`].
pub fn orbits(protocol: &Arc<Protocol>, config: &Config) -> Result<(u64, u64), Diagnostic> {
    let mut model = Model::new(protocol, &config.system)?;
    let all = Config { symmetry: false, liveness: false, ..config.clone() };
    explore_guessing(&mut model, &all)?;
    let mut search = FastSearch::new(&model, &all);
    search.visit();
    let states = &search.states;
    let Some(mut symmetry) = symmetry::Symmetry::of(&model, config) else {
        return Ok((states.len() as u64, states.len() as u64));
    };
    let mut forms = rustc_hash::FxHashSet::default();
    let (mut world, mut bytes) = (World::default(), pack::Packed::default());
    for state in 0..state_number(states.len()) {
        pack::unpack(&model, states.arena.get(state), &mut world);
        symmetry.pack_least(&world, &mut bytes);
        forms.insert(bytes.to_vec());
    }
    Ok((states.len() as u64, forms.len() as u64))
}
