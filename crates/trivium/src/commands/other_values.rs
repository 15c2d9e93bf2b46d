//! Other values of a protocol's parameters: each is explored as the first were, one parameter at a time.

use super::explored::Explored;
use crate::arguments::OtherValues;
use crate::library;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trivium_check::{Config, Method, Report, System, TriedValue, Verdict, explore};
use trivium_protocol::{Protocol, ValueFrom};

/// A range of more values is not tried.
const MOST_VALUES: i64 = 8;
/// Where the first search had fewer states, values are tried also if nobody asks for it.
const FEW_STATES: u64 = 100_000;
/// As many states has the search of a value at most, if nobody asks for it: none should make a quick command a long one.
const MOST_STATES: u64 = 1_000_000;

/// Which values are tried, and in which system.
pub(super) struct WantedValues<'a> {
    pub values: &'a OtherValues,
    /// Whether scenarios are run, too.
    pub scenarios: bool,
    /// The system in which a protocol is explored.
    pub system: &'a dyn Fn(&Protocol) -> System,
}

/// Another value of a parameter, and what came of it.
pub(super) struct OtherValue {
    parameter: String,
    value: i64,
    /// What was explored, or why nothing could be.
    outcome: Result<Explored, String>,
}

/// Tries the other values after the first search, up to the first violation.
pub(super) fn other_values(first: &Explored, config: &Config, wanted: &WantedValues) -> Vec<OtherValue> {
    let mut tried: Vec<OtherValue> = Vec::new();
    if !are_tried(first, config, wanted.values) {
        return tried;
    }
    for param in &first.protocol.params {
        // Who sets a value means this one.
        if param.from == ValueFrom::Set && !wanted.values.all_parameters {
            continue;
        }
        for value in param.others(MOST_VALUES) {
            let outcome = explored_with(first, config, wanted, (&param.name, value));
            let is_last =
                outcome.as_ref().is_ok_and(|explored| explored.violated().is_some() || is_cut(explored, config));
            tried.push(OtherValue { parameter: param.name.clone(), value, outcome });
            if is_last {
                return tried;
            }
        }
    }
    tried
}

fn are_tried(first: &Explored, config: &Config, values: &OtherValues) -> bool {
    if values.no_all_parameters || first.violated().is_some() || is_cut(first, config) {
        return false;
    }
    // How many states walks have met says nothing about how many there are.
    let is_small = first.report.states < FEW_STATES && !matches!(config.method, Method::Walks { .. });
    values.all_parameters || is_small && first.report.verdict == Verdict::Holds
}

/// Whether the user has ended a search.
fn is_cut(explored: &Explored, config: &Config) -> bool {
    let is_stopped = config.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed));
    is_stopped && explored.verdicts().any(|verdict| verdict == Verdict::Incomplete)
}

fn explored_with(
    first: &Explored,
    config: &Config,
    wanted: &WantedValues,
    (parameter, value): (&str, i64),
) -> Result<Explored, String> {
    let protocol = Arc::new(library::with_value(&first.protocol, parameter, value)?);
    let max_states = match wanted.values.all_parameters {
        true => config.max_states,
        false => Some(config.max_states.unwrap_or(u64::MAX).min(MOST_STATES)),
    };
    let system = (wanted.system)(&protocol);
    let config = Config { system, max_states, checkpoint: None, resume: None, group: None, ..config.clone() };
    let explored =
        explore(&protocol, &config).and_then(|report| Explored::of(&protocol, &config, report, wanted.scenarios));
    explored.map_err(|refused| refused.message)
}

impl OtherValue {
    /// What was explored with it, if a violation was found.
    pub fn violated(&self) -> Option<&Explored> {
        self.outcome.as_ref().ok().filter(|explored| explored.violated().is_some())
    }

    /// The verdicts that count. One that nobody asked for, and that a limit of ours has ended, does not: it is told.
    pub fn verdicts(&self, config: &Config, values: &OtherValues) -> Vec<Verdict> {
        let Ok(explored) = &self.outcome else { return Vec::new() };
        let counts =
            |verdict: &Verdict| *verdict != Verdict::Incomplete || values.all_parameters || is_cut(explored, config);
        explored.verdicts().filter(counts).collect()
    }

    /// For the report of the first search.
    pub fn told(&self) -> TriedValue {
        let report =
            self.outcome.as_ref().map(|explored| explored.violated().map_or(&explored.report, |(report, _)| report));
        let known = |of: fn(&Report) -> Option<String>| report.ok().and_then(of);
        TriedValue {
            parameter: self.parameter.clone(),
            value: self.value,
            verdict: report.ok().map(|report| report.verdict),
            property: known(|report| report.property.clone()),
            reason: report.map_or_else(|refused| Some(refused.clone()), |report| report.reason.clone()),
            states: report.map_or(0, |report| report.states),
        }
    }
}
