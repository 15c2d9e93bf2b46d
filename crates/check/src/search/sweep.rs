//! A breadth-first search that keeps whole only the states that wait to be expanded. How those that were found before are
//! known again is the business of what [`Keep`]s them.
//!
//! It visits states in the order of the exact search, says the same of what it finds, and leads to it by the same events. It
//! keeps no transitions, so that it does not look for starvation.

use super::arena::StateNumber;
use super::estimate::Widths;
use super::expand::{Found, Harvest, Worker, up_to_violation};
use super::known::Known;
use super::pack::{Packed, hash};
use super::{NOT_LOOKED, STOPPED, path, portions, too_deep};
use crate::config::{Config, Progress};
use crate::coverage::Seen;
use crate::report::conclude::{Conclusion, Tally, conclude};
use crate::report::trace::Trace;
use crate::report::{Omission, Report};
use crate::system::begin::check_first;
use crate::system::model::Model;
use crate::system::promise::Violation;
use std::io;
use std::time::Instant;
use trivium_engine::number::fit;

/// States that wait, each with a name by which the way to it can be found.
#[derive(Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    pub names: Vec<u64>,
}

impl Batch {
    pub fn push(&mut self, state: &[u8], name: u64) {
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
        self.names.push(name);
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        (self.bytes.capacity() + (self.ends.capacity() + self.names.capacity()) * 8) as u64
    }
}

/// What keeps the states that wait, and knows those that were found. Errors are those of files, where there are any.
pub(super) trait Keep: Sync {
    /// Adds the first state.
    fn begin(&mut self, first: &[u8], hash: u64) -> io::Result<()>;

    /// The next states of the present depth, at most so many; none at its end.
    fn batch(&mut self, most: u64) -> io::Result<Batch>;

    /// Whether a state was found before the present batch.
    fn knows(&self, state: &[u8]) -> bool;

    /// Adds what the states of a batch lead to, as long as there are fewer than `most` states. Whether there was room, as far
    /// as that is known before the end of the depth.
    fn join(&mut self, batch: &Batch, harvests: &[Harvest], most: u64) -> io::Result<bool>;

    /// The states of a batch have been expanded.
    fn done(&mut self, batch: &Batch);

    /// Goes on with the states that lie one event deeper: how many there are; `None` where there are more than `most` states.
    fn next_level(&mut self, most: u64) -> io::Result<Option<u64>>;

    /// How many states were found, and their packed bytes.
    fn found(&self) -> (u64, u64);

    /// Bytes of host memory.
    fn memory(&self) -> u64;

    /// Bytes of files; `None` where there are none.
    fn on_disk(&self) -> Option<u64> {
        None
    }

    /// The hashes of the states that lead to one that waits, its own at the end, the first state's left out.
    fn way(&mut self, name: u64) -> io::Result<Vec<u64>>;

    /// A state that waits, as deep as any.
    fn last(&self) -> Option<u64>;

    /// In what a verdict is weaker: what is to be told, and to whom.
    fn weakness(&self, depth: u32) -> Weakness;
}

/// In what a verdict is weaker than that of the exact search.
pub(super) struct Weakness {
    /// The name of the search.
    pub method: &'static str,
    /// What may have been left out; `None` where nothing can be.
    pub omission: Option<Omission>,
}

/// What the expansion of a batch looks at.
struct View<'k, K> {
    batch: &'k Batch,
    kept: &'k K,
}

impl<K: Keep> Known for View<'_, K> {
    fn state(&self, number: StateNumber) -> &[u8] {
        self.batch.get(number as usize)
    }

    fn find(&self, _: u64, bytes: &[u8]) -> Option<StateNumber> {
        // Nobody asks which it is, since no transitions are kept.
        self.kept.knows(bytes).then_some(0)
    }

    fn touch(&self, _: impl Iterator<Item = u64>) {}
}

/// Something that is violated: the way to the state, and whether an event of it does it.
struct Lost {
    way: Vec<u64>,
    by_event: bool,
    violation: Violation,
}

/// Why a search ended.
enum End {
    Exhausted,
    Limit(String),
    Found(Lost),
}

/// What the system says of files ends the search.
impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Limit(disk_error(&error))
    }
}

fn disk_error(error: &io::Error) -> String {
    let why = match error.kind() {
        io::ErrorKind::StorageFull => "there is no room".to_string(),
        _ => error.to_string(),
    };
    format!("the states cannot be kept on disk: {why}")
}

/// A search that is under way.
pub(super) struct Sweep<'m, K> {
    model: &'m Model,
    config: &'m Config<'m>,
    workers: Vec<Worker<'m>>,
    kept: K,
    transitions: u64,
    /// States of the batches so far.
    expanded: u64,
    depth: u32,
    widths: Widths,
    /// Most bytes of host memory so far.
    memory: u64,
    begun: Instant,
}

impl<'m, K: Keep> Sweep<'m, K> {
    pub fn new(model: &'m Model, config: &'m Config<'m>, kept: K) -> Sweep<'m, K> {
        Sweep {
            model,
            config,
            workers: Worker::crew(model, config, false),
            kept,
            transitions: 0,
            expanded: 0,
            depth: 0,
            widths: Widths::default(),
            memory: 0,
            begun: Instant::now(),
        }
    }

    pub fn run(mut self) -> Report {
        let Err(end) = self.visit() else { return self.report(End::Exhausted) };
        self.report(end)
    }

    /// Visits every state.
    fn visit(&mut self) -> Result<(), End> {
        let first = self.model.first();
        let mut bytes = Packed::default();
        self.workers[0].pack(&first, &mut bytes);
        self.kept.begin(&bytes, hash(&bytes))?;
        check_first(self.model, &first)
            .map_err(|violation| End::Found(Lost { way: Vec::new(), by_event: false, violation }))?;
        loop {
            if let Some(limit) = too_deep(self.config, self.depth) {
                return Err(End::Limit(limit));
            }
            self.visit_level()?;
            match self.kept.next_level(self.most())? {
                Some(0) => return Ok(()),
                Some(width) => {
                    self.depth += 1;
                    self.widths.push(width);
                }
                None => return Err(self.no_room()),
            }
        }
    }

    fn most(&self) -> u64 {
        self.config.max_states.unwrap_or(u64::MAX)
    }

    fn no_room(&self) -> End {
        let (states, _) = self.kept.found();
        End::Limit(format!("the limit of {states} states is reached"))
    }

    /// Expands the states that lie equally deep.
    fn visit_level(&mut self) -> Result<(), End> {
        let mut found = None;
        loop {
            match self.visit_batch(&mut found) {
                Ok(true) => {}
                Ok(false) => return found.map_or(Ok(()), |found| Err(End::Found(found))),
                Err(deadlock @ End::Found(_)) => return Err(deadlock),
                // A violation that is known is worth more than why the search ends.
                Err(end) => return Err(found.map_or(end, End::Found)),
            }
        }
    }

    /// Expands some of them; whether there were any. Notes the first violation.
    fn visit_batch(&mut self, found: &mut Option<Lost>) -> Result<bool, End> {
        if let Some(limit) = self.limit() {
            return Err(End::Limit(limit));
        }
        let (states, _) = self.kept.found();
        let batch = self.kept.batch(portions::batch(self.model, states, self.expanded))?;
        if batch.len() == 0 {
            return Ok(false);
        }
        let range = 0..fit(batch.len(), "a state of a batch");
        let view = View { batch: &batch, kept: &self.kept };
        let mut harvests = portions::expand(&mut self.workers, &view, range, found.is_some());
        if harvests.iter().any(|harvest| harvest.is_stopped) {
            return Err(End::Limit(STOPPED.into()));
        }
        let gathered = if found.is_none() { self.gather(&batch, &harvests) } else { Ok(true) };
        if let Some(deadlock) = harvests.iter_mut().find_map(|harvest| harvest.deadlock.take()) {
            return Err(End::Found(self.lost(&batch, deadlock)?));
        }
        if found.is_none()
            && let Some(first) = harvests.iter_mut().find_map(|harvest| harvest.found.take())
        {
            *found = Some(self.lost(&batch, first)?);
        }
        if !gathered? {
            return Err(self.no_room());
        }
        self.kept.done(&batch);
        self.expanded += batch.len() as u64;
        Ok(true)
    }

    /// A violation with the way to it.
    fn lost(&mut self, batch: &Batch, found: Found) -> Result<Lost, End> {
        match self.kept.way(batch.names[found.state as usize]) {
            Ok(way) => Ok(Lost { way, by_event: found.by_event, violation: found.violation }),
            Err(error) => {
                let Violation { property, sentence, .. } = &found.violation;
                let why = disk_error(&error);
                Err(End::Limit(format!("{property} is violated ({sentence}), but the way there cannot be told: {why}")))
            }
        }
    }

    /// Adds what was found, up to the first violation. Whether there was room.
    fn gather(&mut self, batch: &Batch, harvests: &[Harvest]) -> io::Result<bool> {
        let harvests = up_to_violation(harvests);
        self.transitions += harvests.iter().map(|h| h.transitions).sum::<u64>();
        self.kept.join(batch, harvests, self.most())
    }

    /// Why the search must stop before the next batch, if it must.
    fn limit(&mut self) -> Option<String> {
        self.memory = self.memory.max(self.kept.memory());
        if let Some(limit) = self.config.out_of_memory(self.kept.memory()) {
            return Some(limit);
        }
        let (states, _) = self.kept.found();
        if let Some(report) = self.config.progress {
            report(&Progress {
                states,
                transitions: self.transitions,
                depth: self.depth,
                waiting: 0,
                memory: self.kept.memory(),
                seconds: self.begun.elapsed().as_secs_f64(),
                whole: self.widths.whole(),
            });
        }
        self.config.is_stopped().then(|| STOPPED.into())
    }

    fn report(mut self, end: End) -> Report {
        let found = matches!(end, End::Found(_));
        // Those that were found beside a violation are counted too, if the disk allows it.
        let counted = if found { self.kept.next_level(u64::MAX).map(|_| ()) } else { Ok(()) };
        let (states, packed) = self.kept.found();
        let Weakness { method, omission } = self.kept.weakness(self.depth);
        let tally = Tally {
            states,
            transitions: self.transitions,
            depth: self.depth,
            seconds: self.begun.elapsed().as_secs_f64(),
            memory: self.memory.max(self.kept.memory()),
            on_disk: self.kept.on_disk(),
            uncounted: counted.err().map(|error| disk_error(&error)),
            packed,
            symmetry: self.workers[0].exchanged(),
            liveness: false,
            method: Some(method),
            omission: omission.clone().filter(|_| !found),
            whole: matches!(end, End::Limit(_)).then(|| self.widths.whole()).flatten(),
            ..Tally::default()
        };
        let mut worker = Worker::joined(self.workers);
        let seen = Seen::of(self.model, &worker.stepper.reached);
        let conclusion = match end {
            End::Exhausted => match exhausted(omission.as_ref(), self.config.liveness, method) {
                None => Conclusion::Holds,
                Some(limit) => Conclusion::Incomplete { limit, trace: Trace::default() },
            },
            End::Limit(limit) => {
                let last = self.kept.last().and_then(|name| self.kept.way(name).ok());
                let trace = path::by_hashes(&mut worker, &last.unwrap_or_default()).settle(&mut worker.stepper);
                let left = omission.map_or(String::new(), |omission| {
                    format!(", and before it states may have been left out: {omission}")
                });
                let looked = if self.config.liveness { NOT_LOOKED } else { "" };
                Conclusion::Incomplete { limit: limit + &left + looked, trace }
            }
            End::Found(lost) => {
                let mut path = path::by_hashes(&mut worker, &lost.way);
                if lost.by_event {
                    path.add_violation(&mut worker.stepper, &lost.violation.property);
                }
                Conclusion::Violated { violation: lost.violation, trace: path.settle(&mut worker.stepper) }
            }
        };
        conclude(&mut worker.stepper, tally, seen, conclusion)
    }
}

/// Why the verdict is incomplete although all that was found has been expanded, if it is.
fn exhausted(omission: Option<&Omission>, liveness: bool, method: &str) -> Option<String> {
    let looked = if liveness { NOT_LOOKED } else { "" };
    match omission {
        Some(omission) => {
            Some(format!("no violation was found, but states may have been left out: {omission}{looked}"))
        }
        None => liveness.then(|| {
            format!("safety and deadlock hold{looked}: a search {method} keeps no transitions; --no-liveness asks for no more")
        }),
    }
}
