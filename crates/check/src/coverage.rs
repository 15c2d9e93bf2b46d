//! Which (state, event) pairs have happened.

use serde::Serialize;
use trivium_lang::protocol::{EventKind, Protocol, Response, RoleId, State, StateId};

/// The pairs that a protocol answers, and those that never happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Pairs that happened.
    pub reached: u32,
    /// Pairs that are handled, deferred or held; what is impossible or passes is not counted.
    pub total: u32,
    /// The pairs that never happened: `cache.Clean.write.Owned x Invalidate`.
    pub unreached: Vec<String>,
}

/// Marks of the pairs that happened.
pub(crate) struct Reached {
    marks: Vec<Vec<bool>>,
    /// For each role and event kind, the column: looked up often.
    columns: Vec<rustc_hash::FxHashMap<EventKind, usize>>,
    widths: Vec<usize>,
}

impl Reached {
    pub fn new(protocol: &Protocol) -> Reached {
        let roles = &protocol.roles;
        Reached {
            marks: roles.iter().map(|r| vec![false; r.states.len() * r.events.len()]).collect(),
            columns: roles.iter().map(|r| r.events.iter().enumerate().map(|(c, &e)| (e, c)).collect()).collect(),
            widths: roles.iter().map(|r| r.events.len()).collect(),
        }
    }

    pub fn mark(&mut self, role: RoleId, state: StateId, event: EventKind) {
        if let Some(column) = self.columns[role.index()].get(&event) {
            self.marks[role.index()][state.index() * self.widths[role.index()] + column] = true;
        }
    }

    /// Adds what another has seen.
    pub fn add(&mut self, other: &Reached) {
        let marks = self.marks.iter_mut().flatten().zip(other.marks.iter().flatten());
        marks.for_each(|(mine, theirs)| *mine |= theirs);
    }

    pub fn coverage(&self, protocol: &Protocol) -> Coverage {
        let mut coverage = Coverage::default();
        for (r, role) in protocol.roles.iter().enumerate() {
            for (s, state) in role.states.iter().enumerate() {
                for (c, &event) in role.events.iter().enumerate() {
                    if !can_happen(state, event, &role.table[s][c]) {
                        continue;
                    }
                    coverage.total += 1;
                    if self.marks[r][s * self.widths[r] + c] {
                        coverage.reached += 1;
                    } else {
                        let event = protocol.event_name(event);
                        coverage.unreached.push(format!("{}.{} x {event}", role.name, state.name));
                    }
                }
            }
        }
        coverage
    }
}

/// Whether a pair is one that the protocol answers: a time must have been set, and no node insists on an eviction.
fn can_happen(state: &State, event: EventKind, response: &Response) -> bool {
    match (event, response) {
        (_, Response::Impossible | Response::Passes) | (EventKind::Evict, Response::Hold) => false,
        (EventKind::Timer, _) => state.timer.is_some(),
        _ => true,
    }
}
