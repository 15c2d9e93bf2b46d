//! What an exploration found.

pub(crate) mod conclude;
pub(crate) mod deadlock;
pub(crate) mod flood;
pub(crate) mod forever;
pub(crate) mod late;
pub(crate) mod parameters;
pub(crate) mod trace;

use crate::config::Fairness;
use crate::coverage::{Counted, Coverage};
use crate::report::deadlock::Waiting;
use crate::report::parameters::{ParameterValue, TriedValue, tried_lines};
use crate::report::trace::Trace;
use serde::Serialize;
use std::fmt::Write;
use trivium_engine::Node;

/// What is known about the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every state was visited, and nothing is violated.
    Holds,
    /// A property is violated: there is a counterexample.
    Violated,
    /// A limit was met, or the exploration was stopped, before a violation was found.
    Incomplete,
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Incomplete => "incomplete",
        })
    }
}

/// One event of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TraceStep {
    /// Its number, from 1.
    pub step: u32,
    /// The node on which it happens.
    pub node: Node,
    /// What happens: `read`, `GetRead from 2`, `deferred GetRead from 2`.
    pub event: String,
    /// To which object; empty for agents.
    pub object: String,
    /// The role and its record before: `home.Lent owner=2`.
    pub before: String,
    /// The role and its record afterwards.
    pub after: String,
    /// What it changed besides: other roles of the node, and the node's roles for other objects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<RecordChange>,
    /// Messages that leave: `Shared with 1 to 2`.
    pub sends: Vec<String>,
    /// Accesses that are performed and calls that return.
    pub performs: Vec<String>,
}

/// A record that a handler of another role, or for another object, of the same node has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RecordChange {
    /// The role whose record it is.
    pub role: String,
    /// About which object; empty for agents.
    pub object: String,
    /// The record before: `Idle`.
    pub before: String,
    /// The record afterwards: `Pending asker=1`.
    pub after: String,
    /// The access that the record gave the node's threads: `none`, `read`, `write`; empty where the object is not a
    /// block.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub access_before: String,
    /// The access that it gives now.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub access_after: String,
}

/// Processes that searched together, and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Together {
    /// How many they were.
    pub count: u64,
    /// Bytes that they sent to each other, all together.
    pub bytes: u64,
    /// How often each of them exchanged something with all others.
    pub exchanges: u64,
}

/// The result of an exploration; its keys are those of the command's JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What is known.
    pub verdict: Verdict,
    /// What was looked for: `safety` (faults, promises, invariants, forbidden outcomes), `deadlock`, and `starvation`, livelocks
    /// included.
    pub checked: Vec<&'static str>,
    /// The system that was explored, in words.
    pub system: String,
    /// Which search it was, where it is not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<&'static str>,
    /// The property that is violated: a promise as the file writes it, `invariant NAME`, `scenario NAME`, `fault`,
    /// `deadlock`, `livelock` or `starvation`.
    pub property: Option<String>,
    /// How it is violated, or which limit was met.
    pub reason: Option<String>,
    /// Objects that were explored, of the kind of which there were most: those asked for, or more if a scenario names more.
    pub objects: u32,
    /// Distinct states found.
    pub states: u64,
    /// Transitions executed.
    pub transitions: u64,
    /// Events from the first state to the farthest.
    pub depth: u32,
    /// Host time in seconds.
    pub seconds: f64,
    /// The processes that searched together, if there were several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Together>,
    /// Bytes of host memory for each state, with what finds it again.
    pub bytes_per_state: f64,
    /// Bytes of files for each state, where states are kept on disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_bytes_per_state: Option<f64>,
    /// Why `states` is too small: those that were found beside a violation could not all be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncounted: Option<String>,
    /// Bytes of a state itself, as it is stored, on average.
    pub packed_bytes: f64,
    /// Whether states that differ only in the names of nodes were taken for one.
    pub symmetry: bool,
    /// Which names were exchanged.
    pub exchanged: Exchanged,
    /// Whether variables that nobody can read again were cleared.
    pub clearing: bool,
    /// Whether what waiting threads will store was left open.
    pub late_values: bool,
    /// Whether copies of blocks were forgotten that are overwritten before anybody reads them.
    pub dead_copies: bool,
    /// Whether calls were made with one value of each argument at which nothing looks.
    pub idle_words: bool,
    /// For each call that has such arguments, what is said of it: `fork(a0, a1)`.
    pub idle: Vec<String>,
    /// Whether handlers took the nodes of sets in every order that can be told apart, and not in ascending order alone.
    pub every_order: bool,
    /// Whether starvation and livelocks were looked for.
    pub liveness: bool,
    /// Under which fairness.
    pub fairness: Fairness,
    /// Promises and invariants that were checked.
    pub promises: Vec<String>,
    /// Where nothing is promised about contents, so that no load was compared with any store: what to add.
    pub uncompared: Option<String>,
    /// Whether handlers took nodes in every order, so that deadlock and starvation are told for arbiters that are fair.
    pub fair_orders: bool,
    /// Under which use.
    pub assumptions: Vec<String>,
    /// With which values of the protocol's parameters.
    pub parameters: Vec<ParameterValue>,
    /// Other values of parameters that were explored besides, each after the first search: whoever does that adds them.
    pub tried: Vec<TriedValue>,
    /// Which (state, event) pairs happened.
    pub coverage: Coverage,
    /// Which clauses ran: the handlers of each pair, told apart by their guards.
    pub clauses: Counted,
    /// Which ways through `if`s and loops were gone.
    pub branches: Counted,
    /// Where every state was visited: what nothing put to the test, so that the verdict does not rest on it.
    pub vacuous: Vec<String>,
    /// The shortest sequence of events that leads to the violation.
    pub counterexample: Vec<TraceStep>,
    /// In a deadlock: who waits for what.
    pub wait_cycle: Vec<Waiting>,
    /// Messages that are still on their way at the end of the counterexample.
    pub undelivered: Vec<String>,
    /// Where the search was saved, if that was asked for and it ended before all was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Saved>,
    /// What states may have been left out, if the search does not keep them whole and has found no violation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omission: Option<Omission>,
    /// About how many states there are in all, if a limit ended the search and the depths before it tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_states: Option<u64>,
    /// The counterexample as events that can be executed again.
    #[serde(skip)]
    pub trace: Option<Trace>,
}

/// A checkpoint, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// Its name.
    pub file: String,
    /// How many states it has; `None` where nothing was saved.
    pub states: Option<u64>,
    /// Why the search could not be saved as it was when it ended: an earlier checkpoint of this run may be there still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl std::fmt::Display for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = &self.file;
        match (self.states, &self.error) {
            (Some(states), None) => write!(f, "{states} states in {file}: --resume {file} goes on from there"),
            (Some(states), Some(error)) => {
                write!(f, "not saved: {error}; {file} has the {states} states that were saved before")
            }
            (None, error) => write!(f, "not saved: {}", error.as_deref().unwrap_or("nothing was to be saved")),
        }
    }
}

/// How likely it is that states were left out, because each was taken for another. All is for a hash function that is chosen at
/// random, which the seed does; another seed leaves out others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Omission {
    /// What is kept of a state.
    pub method: String,
    /// Which hash function it was.
    pub seed: u64,
    /// The probability that at least one of the states was left out.
    pub probability: f64,
    /// The most probability that a given state as deep as the deepest was left out, or one on the way to it.
    pub of_one_state: f64,
    /// How many states were left out, on average: not counted are those that only these lead to.
    pub expected: f64,
}

impl std::fmt::Display for Omission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Omission { method, probability, of_one_state, expected, .. } = self;
        write!(
            f,
            "{method}: with probability {probability:.1e} at least one state, {expected:.1e} on average, and any given \
             one with at most {of_one_state:.1e}"
        )
    }
}

/// The report as plain text, counterexample included; ends with a line feed.
pub fn text(report: &Report) -> String {
    let mut steps = String::new();
    // Writing to a string cannot fail.
    let _ = write_steps(&mut steps, report);
    text_around(report, &steps)
}

/// The report as plain text with something else, such as a chart, in place of the list of steps.
pub fn text_around(report: &Report, counterexample: &str) -> String {
    let mut out = String::new();
    let _ = write_head(&mut out, report);
    out.push_str(counterexample);
    let _ = write_numbers(&mut out, report);
    out
}

/// What the field calls a property that files call otherwise.
fn field_name(property: &str) -> Option<&'static str> {
    match property {
        "single_writer" => Some("single-writer/multiple-reader invariant"),
        "last_write" => Some("data-value invariant"),
        _ => None,
    }
}

fn write_head(out: &mut String, report: &Report) -> std::fmt::Result {
    match (&report.property, &report.reason) {
        (Some(property), _) => {
            let field = field_name(property).map_or(String::new(), |field| format!(" ({field})"));
            let tried = report.parameters.iter().find(|parameter| parameter.is_tried());
            let with = tried.map_or(String::new(), |parameter| format!(", with {}", parameter.setting()));
            writeln!(out, "{}: {property}{field}{with}", report.verdict)?;
        }
        (None, Some(reason)) => writeln!(out, "{}: {reason}", report.verdict)?,
        (None, None) => {
            writeln!(out, "{}: {}; {}; complete", report.verdict, report.checked.join(", "), scope(report))?
        }
    }
    if report.verdict != Verdict::Holds {
        writeln!(out, "system        {}", scope(report))?;
    }
    if !report.promises.is_empty() {
        writeln!(out, "properties    {}", report.promises.join(", "))?;
    }
    if let Some(what) = &report.uncompared {
        writeln!(out, "loads         not compared: {what}")?;
    }
    if !report.assumptions.is_empty() {
        writeln!(out, "assumes       {}", report.assumptions.join(", "))?;
    }
    for parameter in &report.parameters {
        writeln!(out, "parameter     {parameter}")?;
    }
    for line in tried_lines(&report.tried) {
        writeln!(out, "tried         {line}")?;
    }
    for sentence in &report.vacuous {
        writeln!(out, "vacuous       {sentence}")?;
    }
    if !report.idle.is_empty() {
        writeln!(
            out,
            "idle words    one value stands for all, since nothing looks at them: {}",
            report.idle.join(", ")
        )?;
    }
    if report.fair_orders && report.verdict == Verdict::Holds {
        let others = "sim and run take nodes in ascending order, for which --ascending looks";
        writeln!(
            out,
            "orders        every one, each again and again where it could be taken again and again; {others}"
        )?;
    }
    Ok(())
}

/// Which names do not tell states apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Exchanged {
    /// How many nodes are alike: of two kinds at most, those that act and those that only serve.
    pub nodes: u32,
    /// How many objects change places, together with their homes or on one home.
    pub objects: u32,
    /// Whether some do together with their homes.
    pub homes: bool,
    /// Whether the values that programs store are alike.
    pub values: bool,
    /// Whether so few values stand for any number of them.
    pub any_values: bool,
}

impl std::fmt::Display for Exchanged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let nodes = (self.nodes > 0).then(|| format!("of {} nodes", self.nodes));
        let objects = (self.objects > 0)
            .then(|| format!("of {} objects{}", self.objects, if self.homes { " with their homes" } else { "" }));
        let values =
            self.values.then(|| if self.any_values { "of all stored values" } else { "of stored values" }.into());
        match nodes.into_iter().chain(objects).chain(values).collect::<Vec<String>>().as_slice() {
            [] => f.write_str("no symmetry"),
            [one] => write!(f, "symmetry {one}"),
            [some @ .., last] => write!(f, "symmetry {} and {last}", some.join(", ")),
        }
    }
}

impl Exchanged {
    /// Whether nodes or objects change their names.
    pub(crate) fn renames(&self) -> bool {
        self.nodes > 0 || self.objects > 0
    }
}

/// The system, and how it was explored.
fn scope(report: &Report) -> String {
    let symmetry = report.exchanged.to_string();
    let clearing = (!report.clearing).then_some("no clearing");
    let late_values = (!report.late_values).then_some("no late values");
    let dead_copies = (!report.dead_copies).then_some("no dead copies");
    let idle_words = (!report.idle_words).then_some("no idle words");
    let ascending = (!report.every_order).then_some("ascending order");
    // What sim and run take otherwise stands in the verdict itself.
    let others: Vec<String> =
        report.parameters.iter().filter(|p| p.value != p.default).map(ParameterValue::setting).collect();
    let others = (!others.is_empty()).then(|| others.join(", "));
    let fairness = (report.fairness == Fairness::Weak).then_some("weak fairness");
    let reductions =
        [fairness, Some(symmetry.as_str()), clearing, late_values, dead_copies, idle_words, ascending, report.method];
    [Some(report.system.as_str()), others.as_deref()]
        .into_iter()
        .chain(reductions)
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

fn write_steps(out: &mut String, report: &Report) -> std::fmt::Result {
    if report.verdict != Verdict::Violated && report.counterexample.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let width = |text: fn(&TraceStep) -> &str| report.counterexample.iter().map(|s| text(s).chars().count()).max();
    let event = width(|s| &s.event).unwrap_or(0);
    let object = width(|s| &s.object).unwrap_or(0);
    for step in &report.counterexample {
        write!(out, "{:4}  node {:<3} {:event$}  {:object$}  ", step.step, step.node, step.event, step.object)?;
        if step.before == step.after {
            write!(out, "{}", step.before)?;
        } else {
            write!(out, "{} -> {}", step.before, step.after)?;
        }
        for change in &step.also {
            let about = if change.object.is_empty() { String::new() } else { format!(" of {}", change.object) };
            write!(out, "; {}{about}: {} -> {}", change.role, change.before, change.after)?;
        }
        let effects: Vec<String> =
            step.sends.iter().map(|s| format!("sends {s}")).chain(step.performs.iter().cloned()).collect();
        if effects.is_empty() {
            writeln!(out)?;
        } else {
            writeln!(out, "; {}", effects.join(", "))?;
        }
    }
    for message in &report.undelivered {
        writeln!(out, "      {message} is still on its way")?;
    }
    for line in &report.wait_cycle {
        writeln!(out, "      {} waits for {} [{}]", line.who, line.waits_for, line.state)?;
    }
    if let Some(reason) = &report.reason {
        writeln!(out, "   => {reason}")?;
    }
    writeln!(out)
}

fn write_numbers(out: &mut String, report: &Report) -> std::fmt::Result {
    if let Some(saved) = &report.checkpoint {
        writeln!(out, "checkpoint    {saved}")?;
    }
    if let Some(ranks) = &report.ranks {
        let each = ranks.bytes as f64 / report.states as f64;
        writeln!(
            out,
            "ranks         {}: {each:.1} bytes a state between them, in {} exchanges",
            ranks.count, ranks.exchanges
        )?;
    }
    let least = if report.uncounted.is_some() { "at least " } else { "" };
    let on_disk = report.disk_bytes_per_state.map_or(String::new(), |bytes| format!(" in memory, {bytes:.1} on disk"));
    writeln!(out, "states        {least}{} ({:.1} bytes each{on_disk})", report.states, report.bytes_per_state)?;
    if let Some(why) = &report.uncounted {
        writeln!(out, "uncounted     states beside the violation: {why}")?;
    }
    if let Some(whole) = report.estimated_states {
        let found = 100.0 * report.states as f64 / whole as f64;
        writeln!(
            out,
            "estimate      {whole} states in all, of which {found:.0} % are found, if depths go on as so far"
        )?;
    }
    writeln!(out, "transitions   {}", report.transitions)?;
    writeln!(out, "depth         {}", report.depth)?;
    writeln!(out, "seconds       {:.2}", report.seconds)?;
    writeln!(out, "coverage      {} of {} (state, event) pairs", report.coverage.reached, report.coverage.total)?;
    if report.verdict != Verdict::Violated {
        let (clauses, branches) = (&report.clauses, &report.branches);
        writeln!(out, "clauses       {} of {}", clauses.reached, clauses.total)?;
        writeln!(out, "branches      {} of {}", branches.reached, branches.total)?;
    }
    if report.verdict == Verdict::Holds {
        write_never(out, report)?;
    }
    Ok(())
}

/// Columns of a line of what never happened, and how many such lines there are at most.
const WIDTH: usize = 110;
const MOST_LINES: usize = 12;

/// What never happened, several to a line. Of a pair that did not happen, neither clauses nor branches are named.
fn write_never(out: &mut String, report: &Report) -> std::fmt::Result {
    let parts = |counted: &Counted| -> Vec<String> {
        let told = counted.unreached.iter().filter(|part| !part.implied);
        told.map(|part| format!("{} ({})", part.name, part.at)).collect()
    };
    let groups = [report.coverage.unreached.clone(), parts(&report.clauses), parts(&report.branches)];
    let mut lines: Vec<(String, usize)> = Vec::new();
    for group in &groups {
        let mut is_first = true;
        for name in group {
            match lines.last_mut().filter(|_| !is_first) {
                Some((line, names)) if line.chars().count() + name.chars().count() + 2 <= WIDTH => {
                    line.push_str("; ");
                    line.push_str(name);
                    *names += 1;
                }
                _ => lines.push((name.clone(), 1)),
            }
            is_first = false;
        }
    }
    if !lines.is_empty() {
        writeln!(out, "note          what never happened is no fault; more nodes, objects or threads may reach it")?;
    }
    for (line, _) in lines.iter().take(MOST_LINES) {
        writeln!(out, "  never       {line}")?;
    }
    let more: usize = lines.iter().skip(MOST_LINES).map(|(_, names)| names).sum();
    if more > 0 {
        writeln!(out, "  never       and {more} more: --format json has all")?;
    }
    Ok(())
}

/// A number as it can be trusted: with two digits.
pub(crate) fn rounded(number: u64) -> u64 {
    let digits = number.checked_ilog10().unwrap_or(0);
    let unit = 10u64.pow(digits.saturating_sub(1));
    number.saturating_add(unit / 2) / unit * unit
}
