//! Breadth first through all states, so that the first violation found has the shortest story.

use crate::config::{Config, Fairness, Method, Progress, Search, refused};
use crate::coverage::Seen;
use crate::report::conclude::{Conclusion, Tally, conclude, with_violation};
use crate::report::deadlock::{stuck, waits};
use crate::report::late::LateTrace;
use crate::report::trace::Trace;
use crate::report::{Exchanged, Report, Verdict};
use crate::runs::weak::{Found as Weak, WeakSearch};
use crate::search::add_trap;
use crate::search::store::{StateNumber, Store, state_number, way_to};
use crate::step::Stepper;
use crate::system::action::Action;
use crate::system::begin::check_first;
use crate::system::model::Model;
use crate::system::progress::{NOT_TOLD_APART, Wishes, can_tell_apart, content, everybody, must_happen};
use crate::system::promise::DEADLOCK;
use crate::system::promise::{Violation, check_state};
use crate::system::world::World;
use std::sync::Arc;
use std::time::Instant;
use trivium_diagnostic::Diagnostic;
use trivium_protocol::Protocol;

/// States between two looks at the clock.
const BREATH: StateNumber = 1 << 12;

/// Visits every state that a protocol can reach in the given system.
///
/// ```no_run
/// # fn example(protocol: std::sync::Arc<trivium_protocol::Protocol>) -> Result<(), trivium_diagnostic::Diagnostic> {
/// let system = trivium_check::System { nodes: 2, objects: 2, ..Default::default() };
/// let report = trivium_check::explore(&protocol, &system.into())?;
/// print!("{}", trivium_check::text(&report));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When such a system cannot be made of the protocol.
pub fn explore(protocol: &Arc<Protocol>, config: &Config) -> Result<Report, Diagnostic> {
    let is_brute = config.search == Search::Brute;
    // The oracle for whatever makes the other faster: it uses no list of any analysis.
    let system = if is_brute { config.system.unreduced() } else { config.system.clone() };
    let mut model = Model::new(protocol, &system)?;
    crate::search::allow(&model, config)?;
    if config.fairness == Fairness::Weak {
        return explore_weakly(&mut model, config);
    }
    if !is_brute {
        return explore_fast(&mut model, config);
    }
    model.engine = model.engine.walking();
    let mut search = BruteForce::new(&model, config);
    let end = search.run();
    Ok(search.report(end))
}

/// The usual search.
fn explore_fast(model: &mut Model, config: &Config) -> Result<Report, Diagnostic> {
    // Who saves a search and takes it up again, alone or with others, has to explore the same system each time.
    let may_guess = config.group.is_none() && config.checkpoint.is_none() && config.resume.is_none();
    let may_guess = may_guess && config.method == Method::Exact;
    if may_guess && let Some(report) = crate::search::explore_guessing(model, config)? {
        return Ok(report);
    }
    crate::search::explore(model, config)
}

/// The usual search without symmetry; where it finds nothing, who may wait for ever where fairness is weak.
fn explore_weakly(model: &mut Model, config: &Config) -> Result<Report, Diagnostic> {
    refuse_with_weak(config)?;
    let config = &Config { symmetry: false, ..config.clone() };
    let report = Report { fairness: Fairness::Weak, ..explore_fast(model, config)? };
    if report.verdict != Verdict::Holds {
        return Ok(report);
    }
    let begun = Instant::now();
    let found = WeakSearch::new(model, config).run();
    let report = Report { seconds: report.seconds + begun.elapsed().as_secs_f64(), ..report };
    Ok(match found {
        Weak::Nothing => report,
        Weak::Limit(limit) => Report { verdict: Verdict::Incomplete, reason: Some(limit), ..report },
        Weak::Waits { violation, trace } => with_violation(&mut Stepper::new(model), report, violation, trace),
    })
}

/// What weak fairness is not looked at with.
fn refuse_with_weak(config: &Config) -> Result<(), Diagnostic> {
    let given = [
        (config.search == Search::Brute, "a search by brute force"),
        (config.method != Method::Exact, "a search that keeps no states whole, or keeps them on disk"),
        (config.checkpoint.is_some() || config.resume.is_some(), "checkpoints"),
        (config.group.is_some_and(|group| group.size() > 1), "several ranks"),
        (!config.liveness, "a search that does not look for starvation"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, what)) => Err(refused(
            format!("weak fairness is not looked at with {what}"),
            "leave it out, or take `--fairness strong`",
        )),
    }
}

/// The same by brute force, with every order at every loop over nodes, whether it can be told apart or not. To test what says where it can.
///
/// # Errors
/// As [`explore`].
pub fn every_order_at_every_loop(protocol: &Arc<Protocol>, config: &Config) -> Result<Report, Diagnostic> {
    let mut model = Model::new(protocol, &config.system.unreduced())?;
    crate::search::allow(&model, config)?;
    model.engine = model.engine.asking_always();
    let mut search = BruteForce::new(&model, config);
    let end = search.run();
    Ok(search.report(end))
}

/// Why a search ended.
enum End {
    /// All states have been visited.
    Exhausted,
    /// A limit was met.
    Limit(String),
    /// Something is violated, after this event of this state (a deadlock: in the state itself).
    Found(Found),
    /// From this state on this thread does not get through.
    Starves(StateNumber, usize),
}

struct Found {
    state: StateNumber,
    action: Option<Action>,
    violation: Violation,
}

struct BruteForce<'m> {
    model: &'m Model,
    config: &'m Config<'m>,
    stepper: Stepper<'m>,
    store: Store,
    transitions: u64,
    depth: u32,
    begun: Instant,
    present: World,
    next: World,
    bytes: Vec<u8>,
    actions: Vec<Action>,
}

impl<'m> BruteForce<'m> {
    fn new(model: &'m Model, config: &'m Config) -> BruteForce<'m> {
        BruteForce {
            model,
            config,
            stepper: Stepper::late(model),
            store: Store::new(),
            transitions: 0,
            depth: 0,
            begun: Instant::now(),
            present: World::default(),
            next: World::default(),
            bytes: Vec::new(),
            actions: Vec::new(),
        }
    }

    fn run(&mut self) -> End {
        let first = self.model.first();
        self.model.codec.encode(&first, &mut self.bytes);
        self.store.insert(&self.bytes, 0);
        if let Err(violation) = check_first(self.model, &first) {
            return End::Found(Found { state: 0, action: None, violation });
        }
        let mut state = 0;
        let mut level_end = 1;
        let mut found = None;
        while (state as usize) < self.store.len() {
            if state == level_end {
                if let Some(found) = found {
                    return End::Found(found);
                }
                self.depth += 1;
                level_end = state_number(self.store.len());
            }
            if let Some(limit) = self.limit(state) {
                // A violation that is known is worth more than the wish to stop.
                return found.map_or(End::Limit(limit), End::Found);
            }
            let bytes = self.store.get(state);
            self.model.codec.decode(bytes, &mut self.present);
            if found.is_none() {
                found = self.expand(state);
            }
            // A deadlock in a state of this level is one event shorter than a violation that follows one.
            if found.as_ref().is_some_and(|f| f.action.is_some()) && stuck(&mut self.stepper, &self.present) {
                return End::Found(self.deadlock(state));
            }
            if found.as_ref().is_some_and(|f| f.action.is_none()) {
                break;
            }
            state += 1;
        }
        match found {
            Some(found) => End::Found(found),
            None if self.config.liveness => self.look_for_starvation(),
            None => End::Exhausted,
        }
    }

    /// Whether there is a state in which a thread waits that does not get through by what must happen. All is executed once more.
    fn look_for_starvation(&mut self) -> End {
        if !can_tell_apart(self.model) {
            return End::Limit(format!("safety and deadlock hold; starvation was not looked for: {NOT_TOLD_APART}"));
        }
        let all = state_number(self.store.len());
        let mut through: Vec<Wishes> = Vec::with_capacity(all as usize);
        let mut edges: Vec<(StateNumber, StateNumber)> = Vec::new();
        for state in 0..all {
            if let Some(limit) = self.stopped() {
                return End::Limit(format!("{limit}: safety and deadlock hold, but starvation was still looked for"));
            }
            self.model.codec.decode(self.store.get(state), &mut self.present);
            through.push(content(self.model, &self.present));
            let mut actions = std::mem::take(&mut self.actions);
            self.stepper.actions(&self.present, &mut actions);
            for &action in actions.iter().filter(|action| must_happen(self.model, &self.present, **action)) {
                self.stepper.restart_ways();
                loop {
                    self.next.copy_from(&self.present);
                    if self.stepper.perform_in_way(&mut self.next, action).is_ok() {
                        self.model.codec.encode(&self.next, &mut self.bytes);
                        edges.extend(self.store.find(&self.bytes).map(|target| (state, target)));
                    }
                    if !self.stepper.next_way() {
                        break;
                    }
                }
            }
            self.actions = actions;
        }
        loop {
            let mut changed = false;
            for &(source, target) in edges.iter().rev() {
                let gained = through[target as usize] & !through[source as usize];
                through[source as usize] |= gained;
                changed |= gained != 0;
            }
            if !changed {
                break;
            }
        }
        let everybody = everybody(self.model);
        let state = through.iter().position(|through| *through != everybody);
        state.map_or(End::Exhausted, |state| {
            let thread = (everybody & !through[state]).trailing_zeros();
            End::Starves(state_number(state), thread as usize)
        })
    }

    /// Executes every event of the present state.
    fn expand(&mut self, state: StateNumber) -> Option<Found> {
        let mut actions = std::mem::take(&mut self.actions);
        self.stepper.actions(&self.present, &mut actions);
        let mut moved = false;
        let mut found = None;
        'events: for &action in &actions {
            self.stepper.restart_ways();
            loop {
                match self.execute(state, action) {
                    Ok(changes) => moved |= changes && must_happen(self.model, &self.present, action),
                    Err(violation) => {
                        found = Some(Found { state, action: Some(action), violation });
                        break 'events;
                    }
                }
                if !self.stepper.next_way() {
                    break;
                }
            }
        }
        if found.is_none() && !moved && waits(self.model, &self.present, &actions) {
            found = Some(self.deadlock(state));
        }
        self.actions = actions;
        found
    }

    /// Executes an event of the present state in its next way. Whether it changes anything.
    fn execute(&mut self, state: StateNumber, action: Action) -> Result<bool, Violation> {
        self.next.copy_from(&self.present);
        self.transitions += 1;
        self.stepper.perform_in_way(&mut self.next, action)?;
        if self.next == self.present {
            return Ok(false);
        }
        self.model.codec.encode(&self.next, &mut self.bytes);
        if self.store.insert(&self.bytes, state).is_some() {
            check_state(self.model, &self.next)?;
        }
        Ok(true)
    }

    fn deadlock(&self, state: StateNumber) -> Found {
        let sentence = "nothing more can happen, and somebody waits";
        Found { state, action: None, violation: Violation::new(DEADLOCK, sentence) }
    }

    /// Why the search must stop before it expands a state, if it must.
    fn limit(&self, state: StateNumber) -> Option<String> {
        let states = self.store.len() as u64;
        if self.config.max_states.is_some_and(|most| states >= most) || self.store.is_full() {
            return Some(format!("the limit of {states} states is reached"));
        }
        if let Some(limit) = self.config.out_of_memory(self.store.memory()) {
            return Some(limit);
        }
        if state.is_multiple_of(BREATH)
            && let Some(report) = self.config.progress
        {
            report(&Progress {
                states,
                transitions: self.transitions,
                depth: self.depth,
                waiting: states - u64::from(state),
                memory: self.store.memory(),
                seconds: self.begun.elapsed().as_secs_f64(),
                whole: None,
            });
        }
        self.stopped()
    }

    fn stopped(&self) -> Option<String> {
        self.config.is_stopped().then(|| "the exploration was stopped".into())
    }

    fn report(mut self, end: End) -> Report {
        let tally = Tally {
            states: self.store.len() as u64,
            transitions: self.transitions,
            depth: self.depth,
            seconds: self.begun.elapsed().as_secs_f64(),
            memory: self.store.memory(),
            packed: self.store.packed(),
            symmetry: Exchanged::default(),
            liveness: self.config.liveness,
            method: Some("brute force"),
            ..Tally::default()
        };
        let seen = Seen::of(self.model, &self.stepper.reached);
        let conclusion = match end {
            End::Exhausted => Conclusion::Holds,
            End::Limit(limit) => {
                // A state found last lies as deep as any, so that what grows is long there.
                let last = state_number(self.store.len()) - 1;
                let (trace, _) = self.trace_to(last);
                Conclusion::Incomplete { limit, trace: trace.settle(&mut self.stepper) }
            }
            End::Found(found) => {
                let trace = self.trace(&found);
                Conclusion::Violated { violation: found.violation, trace }
            }
            End::Starves(state, thread) => {
                let (trace, _) = self.trace_to(state);
                let mut trace = trace.settle(&mut self.stepper);
                let violation = add_trap(&mut self.stepper, &mut trace, thread);
                Conclusion::Violated { violation, trace }
            }
        };
        conclude(&mut self.stepper, tally, seen, conclusion)
    }

    /// The events that lead from the first state to what was found.
    fn trace(&mut self, found: &Found) -> Trace {
        let (mut trace, end) = self.trace_to(found.state);
        if let Some(action) = found.action {
            let property = &found.violation.property;
            trace.add_way(&mut self.stepper, &end, action, |_, _, result| {
                result.is_err_and(|violation| violation.property == *property)
            });
        }
        trace.settle(&mut self.stepper)
    }

    /// The events that lead from the first state to another, and that state.
    fn trace_to(&mut self, state: StateNumber) -> (LateTrace, World) {
        let mut trace = LateTrace::default();
        let mut world = self.model.first();
        let mut actions = Vec::new();
        for &number in &way_to(state, |state| self.store.parent(state))[1..] {
            self.stepper.actions(&world, &mut actions);
            let wanted = self.store.get(number);
            world = trace.add_step(&mut self.stepper, &world, actions.iter().copied(), wanted);
        }
        (trace, world)
    }
}
