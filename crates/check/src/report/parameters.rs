//! With which values of its parameters a protocol was explored.

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
