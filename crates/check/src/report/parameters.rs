//! With which values of its parameters a protocol was explored.

use crate::report::Verdict;
use serde::Serialize;
use std::fmt;
use trivium_protocol::{Protocol, ValueFrom};

/// A parameter of the protocol in a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ParameterValue {
    /// The name as written.
    pub name: String,
    /// Its value in this search.
    pub value: i64,
    /// Where the value comes from: `default`, `check` (what the file gives for `check`), `set` (from outside) or `tried`.
    pub from: &'static str,
    /// The value that `sim` and `run` take unless another is set there.
    pub default: i64,
    /// Least value allowed.
    pub lo: i64,
    /// Greatest value allowed.
    pub hi: i64,
}

impl ParameterValue {
    /// Those of a protocol, in the order of its file.
    pub fn all(protocol: &Protocol) -> Vec<ParameterValue> {
        let one = |param: &trivium_protocol::Param| ParameterValue {
            name: param.name.clone(),
            value: param.value,
            from: param.from.name(),
            default: param.declared,
            lo: param.lo,
            hi: param.hi,
        };
        protocol.params.iter().map(one).collect()
    }

    /// Whether it has another value than in the first search.
    pub fn is_tried(&self) -> bool {
        self.from == ValueFrom::Tried.name()
    }

    /// Its value, as verdicts name it: `most = 8`.
    pub fn setting(&self) -> String {
        format!("{} = {}", self.name, self.value)
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = match ValueFrom::named(self.from) {
            Some(ValueFrom::Check) => "`check` in the file",
            _ => self.from,
        };
        let setting = self.setting();
        match self.value == self.default {
            true => write!(f, "{setting} of {}..{} ({from}), as in sim and run", self.lo, self.hi),
            false => write!(f, "{setting} of {}..{} ({from}); sim and run take {}", self.lo, self.hi, self.default),
        }
    }
}

/// What came of a search with another value of one parameter, after the first search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedValue {
    /// The parameter.
    pub parameter: String,
    /// Its value; all others are as in the first search.
    pub value: i64,
    /// What is known; nothing if the protocol cannot have this value.
    pub verdict: Option<Verdict>,
    /// The property that is violated.
    pub property: Option<String>,
    /// How it is violated, which limit was met, or why the protocol cannot have this value.
    pub reason: Option<String>,
    /// Distinct states found.
    pub states: u64,
}

impl TriedValue {
    fn outcome(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or_default();
        match (self.verdict, &self.property) {
            (None, _) => format!("refused: {reason}"),
            (Some(verdict), Some(property)) => format!("{verdict}: {property}"),
            (Some(Verdict::Incomplete), None) => format!("{}: {reason}", Verdict::Incomplete),
            (Some(verdict), None) => verdict.to_string(),
        }
    }
}

/// The values that were tried, a line for each parameter and outcome: `most = 8, 2, 3: holds`.
pub(super) fn tried_lines(tried: &[TriedValue]) -> Vec<String> {
    let alike = |a: &TriedValue, b: &TriedValue| a.parameter == b.parameter && a.outcome() == b.outcome();
    let line = |group: &[TriedValue]| {
        let values: Vec<String> = group.iter().map(|tried| tried.value.to_string()).collect();
        let first = group.first()?;
        Some(format!("{} = {}: {}", first.parameter, values.join(", "), first.outcome()))
    };
    tried.chunk_by(alike).filter_map(line).collect()
}
