//! What becomes of a protocol with a mistake: whether anything of what is checked notices it.

use crate::config::Config;
use crate::report::{Report, Verdict};
use crate::runs::explore::explore;
use std::sync::Arc;
use trivium_protocol::Protocol;

/// What became of a protocol with a mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It cannot be explored: why.
    Rejected(String),
    /// This property is violated.
    Killed(String),
    /// A limit was met before anything was violated: which.
    Incomplete(String),
    /// It holds.
    Survived {
        /// How many states it has.
        states: u64,
        /// How many transitions.
        transitions: u64,
        /// Whether these are as many as without the mistake, and as deep.
        same: bool,
    },
}

/// Explores a protocol with a mistake, of which it is known what it is `without`.
pub fn judge(mutant: &Arc<Protocol>, config: &Config, without: &Report) -> Fate {
    let report = match explore(mutant, config) {
        Ok(report) => report,
        Err(error) => return Fate::Rejected(error.message),
    };
    match report.verdict {
        Verdict::Violated => Fate::Killed(report.property.unwrap_or_default()),
        Verdict::Incomplete => Fate::Incomplete(report.reason.unwrap_or_default()),
        Verdict::Holds => {
            let counts = |report: &Report| (report.states, report.transitions, report.depth);
            let same = counts(&report) == counts(without);
            Fate::Survived { states: report.states, transitions: report.transitions, same }
        }
    }
}
