//! From what a search has found to its report.

use crate::config::Fairness;
use crate::coverage::Seen;
use crate::coverage::vacuity::NOTHING_HAPPENS;
use crate::report::deadlock::explain;
use crate::report::flood::flood;
use crate::report::forever::Forever;
use crate::report::parameters::ParameterValue;
use crate::report::rounded;
use crate::report::trace::{Trace, flight_text, is_trap, minimise, sentence, tell};
use crate::report::{Exchanged, Omission, Report, Saved, Verdict};
use crate::step::Stepper;
use crate::system::model::Model;
use crate::system::promise::Violation;
use crate::system::promise::{BEYOND, DEADLOCK, LEADS_TO};
use trivium_protocol::contents::{compares_contents, has_loads};
use trivium_protocol::orders::depends_on_order;
use trivium_protocol::walk::code;

/// What a search has counted. By default it is the usual one, with nothing to be told besides.
#[derive(Default)]
pub(crate) struct Tally {
    pub states: u64,
    pub transitions: u64,
    pub depth: u32,
    pub seconds: f64,
    /// Bytes of host memory.
    pub memory: u64,
    /// Bytes of files, where there are any.
    pub on_disk: Option<u64>,
    /// Why states beside a violation were not counted.
    pub uncounted: Option<String>,
    /// Bytes of all states as they are stored.
    pub packed: u64,
    pub symmetry: Exchanged,
    pub liveness: bool,
    /// Which search it was, where it is not the usual one.
    pub method: Option<&'static str>,
    pub checkpoint: Option<Saved>,
    pub omission: Option<Omission>,
    /// About how many states there are in all, if the depths so far tell.
    pub whole: Option<u64>,
}

/// How a search has ended.
pub(crate) enum Conclusion {
    /// All states have been visited.
    Holds,
    /// A limit was met; the trace leads to a state that lies as deep as any.
    Incomplete { limit: String, trace: Trace },
    /// Some steps can be repeated for ever, each time with more messages.
    Endless(Forever),
    /// Something is violated at the end of a trace.
    Violated { violation: Violation, trace: Trace },
}

/// Tells what a search has found.
pub(crate) fn conclude(stepper: &mut Stepper, tally: Tally, seen: Seen, conclusion: Conclusion) -> Report {
    let protocol = stepper.model.protocol();
    // What is not looked for is not listed among what holds.
    let leads_to = protocol.leads_to.iter().filter(|_| tally.liveness).map(|l| format!("{LEADS_TO}{}", l.name));
    let looked_for = [(true, "safety"), (true, "deadlock"), (tally.liveness, "starvation")];
    let mut report = Report {
        verdict: Verdict::Holds,
        checked: looked_for.into_iter().filter_map(|(looked, what)| looked.then_some(what)).collect(),
        system: stepper.model.scope(),
        method: tally.method,
        property: None,
        reason: None,
        objects: stepper.model.most_objects(),
        states: tally.states,
        transitions: tally.transitions,
        depth: tally.depth,
        seconds: tally.seconds,
        ranks: None,
        bytes_per_state: tally.memory as f64 / tally.states as f64,
        disk_bytes_per_state: tally.on_disk.map(|bytes| bytes as f64 / tally.states as f64),
        uncounted: tally.uncounted,
        packed_bytes: tally.packed as f64 / tally.states as f64,
        symmetry: tally.symmetry.nodes > 0,
        exchanged: tally.symmetry,
        clearing: stepper.model.system.clearing,
        late_values: stepper.model.system.late_values,
        dead_copies: stepper.model.system.dead_copies,
        idle_words: stepper.model.system.idle_words,
        idle: stepper.model.client.idle_arguments(protocol),
        every_order: stepper.model.system.every_order,
        liveness: tally.liveness,
        fairness: Fairness::Strong,
        promises: protocol.claim_names().into_iter().chain(leads_to).collect(),
        uncompared: uncompared(stepper.model).map(String::from),
        fair_orders: stepper.model.system.every_order && code(protocol).any(depends_on_order),
        assumptions: protocol.assumption_names(),
        parameters: ParameterValue::all(protocol),
        tried: Vec::new(),
        coverage: seen.coverage,
        clauses: seen.clauses,
        branches: seen.branches,
        vacuous: Vec::new(),
        counterexample: Vec::new(),
        wait_cycle: Vec::new(),
        undelivered: Vec::new(),
        checkpoint: tally.checkpoint,
        omission: tally.omission,
        estimated_states: tally.whole.map(|whole| rounded(whole).max(tally.states)),
        trace: None,
    };
    match conclusion {
        Conclusion::Holds => {
            report.vacuous = seen.vacuous;
            if report.transitions == 0 {
                report.verdict = Verdict::Incomplete;
                report.reason = Some(NOTHING_HAPPENS.into());
            }
        }
        Conclusion::Incomplete { limit, trace } => {
            report.verdict = Verdict::Incomplete;
            let story = flood(stepper, &trace);
            // Where something may grow without bound, nobody knows that there is an end at all.
            report.estimated_states = report.estimated_states.filter(|_| story.is_none());
            let grows = story.map_or(String::new(), |story| format!("; {story}"));
            report.reason = Some(limit + &grows);
        }
        Conclusion::Endless(Forever { trace, sentence }) => incomplete_after(stepper, &mut report, trace, sentence),
        // Under a program there are as many objects as it uses.
        Conclusion::Violated { violation, trace } if violation.property == BEYOND => {
            incomplete_after(stepper, &mut report, trace, violation.sentence);
        }
        Conclusion::Violated { violation, trace } => violated(stepper, &mut report, violation, trace),
    }
    report
}

/// What to add where nothing says what loads give. In a scenario its outcome does.
fn uncompared(model: &Model) -> Option<&'static str> {
    let protocol = model.protocol();
    let is_silent = model.client.script.is_none() && has_loads(protocol) && !compares_contents(protocol);
    is_silent
        .then_some("nothing is promised about contents; promise `last_write`, or add what `check --suggest` proposes")
}

/// What can follow these events cannot be explored.
fn incomplete_after(stepper: &mut Stepper, report: &mut Report, trace: Trace, sentence: String) {
    report.verdict = Verdict::Incomplete;
    report.estimated_states = None;
    report.counterexample = tell(stepper, &trace).0;
    report.reason = Some(sentence);
    report.trace = Some(trace);
}

/// A report of a search that held, after which something was found that is violated all the same.
pub(crate) fn with_violation(stepper: &mut Stepper, mut report: Report, violation: Violation, trace: Trace) -> Report {
    report.vacuous = Vec::new();
    violated(stepper, &mut report, violation, trace);
    report
}

fn violated(stepper: &mut Stepper, report: &mut Report, violation: Violation, trace: Trace) {
    // A way into a trap is as short as any already, and what follows is a cycle: nothing can be left out.
    let trapped = is_trap(&violation.property);
    let trace = if trapped { trace } else { minimise(stepper, trace, &violation.property) };
    let (steps, last) = tell(stepper, &trace);
    if trapped || violation.property == DEADLOCK {
        report.wait_cycle = explain(stepper.model, &last);
    }
    report.undelivered = last.flights.iter().map(|flight| flight_text(stepper, flight)).collect();
    report.verdict = Verdict::Violated;
    report.property = Some(violation.property);
    report.reason = Some(sentence(stepper, &trace).unwrap_or(violation.sentence));
    report.counterexample = steps;
    report.trace = Some(trace);
}
