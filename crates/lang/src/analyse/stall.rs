//! `stall` in handlers: whether nothing has happened before it, and what it looked at can be looked at again and again.
//!
//! What follows an `if` with a `stall` in one of its branches is put into the branches that go on. So a `stall` is the last step on its path,
//! and whoever asks whether an event stalls (the crate `engine`) follows locals and branches, and nothing else.

use crate::diagnostics::Mistakes;
use trivium_diagnostic::Code;
use trivium_protocol::again::{defers_uncleanly, seen_once};
use trivium_protocol::source::Span;
use trivium_protocol::walk::{contains_stall, inner};
use trivium_protocol::*;

/// Brings handlers that may stall into that form, and notes what they may not do.
pub(super) fn stalls(protocol: &mut Protocol, diagnostics: &mut Mistakes) {
    for role in &mut protocol.roles {
        for handler in &mut role.handlers {
            if contains_stall(&handler.steps) {
                handler.steps = arranged(std::mem::take(&mut handler.steps));
                nothing_before(&handler.steps, diagnostics);
            }
        }
        look_at_guards(role, diagnostics);
        look_at_defers(role, diagnostics);
    }
}

/// Whether every path through these steps ends with a `stall`.
fn always_stalls(steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.kind {
        StepKind::Stall => true,
        StepKind::If(_, yes, no) => always_stalls(yes) && always_stalls(no),
        _ => false,
    })
}

fn arranged(steps: Vec<Step>) -> Vec<Step> {
    let mut done = Vec::new();
    let mut rest = steps.into_iter();
    while let Some(Step { kind, span }) = rest.next() {
        match kind {
            StepKind::Stall => {
                done.push(Step { kind, span });
                break;
            }
            StepKind::If(condition, mut yes, mut no) if contains_stall(&yes) || contains_stall(&no) => {
                let after: Vec<Step> = rest.collect();
                for branch in [&mut yes, &mut no] {
                    if !always_stalls(branch) {
                        branch.extend(after.iter().cloned());
                    }
                    *branch = arranged(std::mem::take(branch));
                }
                done.push(Step { kind: StepKind::If(condition, yes, no), span });
                break;
            }
            kind => done.push(Step { kind, span }),
        }
    }
    done
}

/// Notes effects on the way to a `stall`: they would have happened, and the event would not.
fn nothing_before(steps: &[Step], diagnostics: &mut Mistakes) {
    for step in steps {
        match &step.kind {
            StepKind::Stall => return,
            StepKind::Let(_, values) => values.iter().for_each(|value| must_be_seen_again(value, diagnostics)),
            StepKind::If(condition, yes, no) if contains_stall(yes) || contains_stall(no) => {
                must_be_seen_again(condition, diagnostics);
                for branch in [yes, no] {
                    if contains_stall(branch) {
                        nothing_before(branch, diagnostics);
                    }
                }
            }
            kind if inner(kind).any(contains_stall) && !matches!(kind, StepKind::If(..)) => {
                diagnostics
                    .error(
                        Code::Lane,
                        step.span,
                        "a `stall` cannot stand in a loop: rounds before it would have happened",
                    )
                    .help("find out in a condition, before the loop, whether it has to wait");
                return;
            }
            _ => {
                diagnostics
                    .error(Code::Lane, step.span, "this would have happened, and then the event stalls: nothing may have happened before a `stall`")
                    .help("put the conditions that lead to the `stall` first");
                return;
            }
        }
    }
}

/// Where a full defer space makes an event stall, handlers have done nothing before they defer.
fn look_at_defers(role: &Role, diagnostics: &mut Mistakes) {
    let mut said: Vec<HandlerId> = Vec::new();
    let rows = role.table.iter().flat_map(|row| row.iter().zip(&role.events));
    for (response, _) in rows.filter(|(_, event)| role.pushes_back && !matches!(event, EventKind::Task(_))) {
        let Some(id) = defers_uncleanly(role, response).filter(|id| !said.contains(id)) else { continue };
        said.push(id);
        let handler = &role.handlers[id.index()];
        diagnostics
            .error(Code::Lane, handler.span, "this handler may have done something before it defers, and a full defer space makes the event stall")
            .help("put the conditions that lead to the `defer` first, over states and variables only; or leave `else stall` out");
    }
}

/// The guards that are tried before a handler that may stall.
fn look_at_guards(role: &Role, diagnostics: &mut Mistakes) {
    let mut said: Vec<Span> = Vec::new();
    for response in role.table.iter().flatten() {
        let Response::Handle(handlers) = response else { continue };
        let handlers = handlers.iter().map(|id| &role.handlers[id.index()]);
        let Some(last) = handlers.clone().rposition(|handler| contains_stall(&handler.steps)) else { continue };
        for guard in handlers.take(last + 1).filter_map(|handler| handler.guard.as_ref()) {
            if !said.contains(&guard.span) {
                said.push(guard.span);
                must_be_seen_again(guard, diagnostics);
            }
        }
    }
}

/// Notes what a condition of a `stall` may not look at: what changes without a handler of the node, or is looked at once.
fn must_be_seen_again(expr: &Expr, diagnostics: &mut Mistakes) {
    if let Some((span, what)) = seen_once(expr) {
        diagnostics
            .error(Code::Lane, span, format!("a condition on the way to a `stall` cannot look at {what}"))
            .help("it is looked at again when a record of the node has changed: look at states and variables; or `defer` the event");
    }
}
