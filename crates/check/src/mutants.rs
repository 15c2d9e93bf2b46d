//! What becomes of a protocol with a mistake: whether anything of what is checked notices it.

use crate::config::Config;
use crate::explore::explore;
use crate::report::{Report, Verdict};
use std::sync::Arc;
use trivium_lang::protocol::Protocol;

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
        /// How many states it has, in all the systems in which it was explored.
        states: u64,
        /// How many transitions.
        transitions: u64,
        /// Whether these are as many as without the mistake, in each system, and as deep.
        same: bool,
    },
}

/// Explores a protocol with a mistake in each of some systems, up to the first that notices it.
pub fn judge(mutant: &Arc<Protocol>, systems: &[Config], without: &[Report]) -> Fate {
    let (mut states, mut transitions, mut same) = (0, 0, true);
    let mut limit = None;
    for (config, before) in systems.iter().zip(without) {
        let report = match explore(mutant, config) {
            Ok(report) => report,
            Err(error) => return Fate::Rejected(error.message),
        };
        match report.verdict {
            Verdict::Violated => return Fate::Killed(report.property.unwrap_or_default()),
            Verdict::Incomplete => limit = limit.or(report.reason),
            Verdict::Holds => {
                states += report.states;
                transitions += report.transitions;
                let counts = |report: &Report| (report.states, report.transitions, report.depth);
                same &= counts(&report) == counts(before);
            }
        }
    }
    match limit {
        Some(limit) => Fate::Incomplete(limit),
        None => Fate::Survived { states, transitions, same },
    }
}
