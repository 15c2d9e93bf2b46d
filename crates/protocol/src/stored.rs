//! Why a protocol cannot answer a read-modify-write that is raised as a store.

use crate::walk::{any_step_of, each_look_of, inner};
use crate::*;
use std::collections::BTreeSet;

/// Why a read-modify-write that comes as `write` would not be done right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRmw {
    /// This handler looks at what is about to be stored, which nobody knows before a read-modify-write is performed.
    LooksAtValue(String),
    /// This handler completes stores where the node need not have the block alone.
    Completes(String),
}

/// The first handler for which a protocol cannot answer read-modify-writes, if there is one: of roles that answer `rmw` there is none.
pub fn refuses_rmw(protocol: &Protocol) -> Option<NoRmw> {
    let answers = |role: &Role, event| role.column(event).is_some();
    let as_stores =
        |role: &&Role| answers(role, EventKind::Write) && !answers(role, EventKind::Rmw) && role.object == BLOCK;
    let looks = |handler: &&Handler| handler.event != EventKind::Rmw && looks_at_value(handler);
    let mut all = protocol.roles.iter().filter(as_stores).flat_map(|role| &role.handlers);
    if let Some(handler) = all.find(looks) {
        return Some(NoRmw::LooksAtValue(handler.name.clone()));
    }
    let by_itself = protocol.roles.iter().filter(as_stores).find_map(completing);
    let helps = |role: &&Role| role.object == BLOCK && !answers(role, EventKind::Write);
    let by_others = || {
        let any = protocol.roles.iter().any(|role| as_stores(&role));
        let mut others = protocol.roles.iter().filter(|role| any && helps(role)).flat_map(|role| &role.handlers);
        others.find(|handler| completes(&handler.steps)).map(|handler| handler.name.clone())
    };
    by_itself.or_else(by_others).map(NoRmw::Completes)
}

/// The handler of a role that may complete a store which waits for the role's object.
fn completing(role: &Role) -> Option<String> {
    // The states in which a store may wait.
    let mut waits: BTreeSet<usize> = BTreeSet::new();
    loop {
        let before = waits.len();
        for (state, row) in role.table.iter().enumerate() {
            for (event, response) in role.events.iter().zip(row) {
                let Response::Handle(handlers) = response else { continue };
                for handler in handlers.iter().map(|id| &role.handlers[id.index()]) {
                    if *event != EventKind::Write && !waits.contains(&state) {
                        continue;
                    }
                    if completes(&handler.steps) {
                        return Some(handler.name.clone());
                    }
                    if !lets_go(&handler.steps) {
                        waits.insert(state);
                        targets(&handler.steps, &mut waits);
                    }
                }
            }
        }
        if waits.len() == before {
            return None;
        }
    }
}

fn completes(steps: &[Step]) -> bool {
    any_step_of(steps, |step| matches!(step, StepKind::Complete | StepKind::CompleteWith(..)))
}

fn lets_go(steps: &[Step]) -> bool {
    any_step_of(steps, |step| matches!(step, StepKind::Resume))
}

fn targets(steps: &[Step], found: &mut BTreeSet<usize>) {
    for step in steps {
        if let StepKind::Goto(state) = step.kind {
            found.insert(state.index());
        }
        inner(&step.kind).for_each(|body| targets(body, found));
    }
}

fn looks_at_value(handler: &Handler) -> bool {
    let mut found = false;
    each_look_of(handler, &mut |part| found |= matches!(part.kind, ExprKind::FaultValue));
    found
}
