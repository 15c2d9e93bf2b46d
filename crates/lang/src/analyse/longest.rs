//! Every handler ends; here is how many steps its longest path has, and that these are not too many.

use super::{MAX_NODES, greater, iterations, product, sum};
use crate::diagnostics::Diagnostics;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// Most steps of a handler, with as many nodes as there can be: what a handler does is one move of the whole system,
/// which cannot be interrupted.
pub const MAX_STEPS: i64 = 4_000_000;

pub(super) fn longest(protocol: &mut Protocol, diagnostics: &mut Diagnostics) {
    let lengths: Vec<Vec<Bound>> =
        protocol.roles.iter().map(|r| r.code().map(|h| length(protocol, &h.steps)).collect()).collect();
    let mut told: Vec<Span> = Vec::new();
    // A loop of which nobody knows how often it runs has been told already.
    let known = diagnostics.is_empty();
    for (role, lengths) in protocol.roles.iter().zip(&lengths).filter(|_| known) {
        for (handler, longest) in role.code().zip(lengths) {
            judge(protocol, handler, longest.at(MAX_NODES), &mut told, diagnostics);
        }
    }
    for (role, lengths) in protocol.roles.iter_mut().zip(lengths) {
        for (handler, longest) in role.handlers.iter_mut().chain(&mut role.initially).zip(lengths) {
            handler.longest = longest;
        }
    }
}

/// A handler of too many steps is told at the loop that has the most of them, once for each loop in the text.
fn judge(protocol: &Protocol, handler: &Handler, steps: i64, told: &mut Vec<Span>, diagnostics: &mut Diagnostics) {
    if steps <= MAX_STEPS {
        return;
    }
    let mut most = (0, handler.span);
    heaviest(protocol, &handler.steps, &mut most);
    let span = most.1;
    if told.contains(&span) {
        return;
    }
    told.push(span);
    let steps = if steps == i64::MAX { "more steps than can be counted".to_string() } else { format!("{steps} steps") };
    diagnostics
        .error(
            span,
            format!("`{}` may take {steps}; a handler takes at most {MAX_STEPS}, with {MAX_NODES} nodes", handler.name),
        )
        .help("do a part of it in a task that starts itself again or says `yield`, or loop over a smaller range");
}

/// The outermost loop that may take the most steps.
fn heaviest(protocol: &Protocol, steps: &[Step], most: &mut (i64, Span)) {
    for step in steps {
        match &step.kind {
            StepKind::If(_, a, b) => {
                heaviest(protocol, a, most);
                heaviest(protocol, b, most);
            }
            StepKind::Elsewhere(_, _, body) => heaviest(protocol, body, most),
            StepKind::ForSet(..) | StepKind::ForRange(..) | StepKind::ForList(..) => {
                let steps = one(protocol, &step.kind).at(MAX_NODES);
                if steps > most.0 {
                    *most = (steps, step.span);
                }
            }
            _ => {}
        }
    }
}

fn length(protocol: &Protocol, steps: &[Step]) -> Bound {
    steps.iter().map(|s| one(protocol, &s.kind)).fold(Bound::fixed(0), sum)
}

fn one(protocol: &Protocol, step: &StepKind) -> Bound {
    let here = Bound::fixed(1);
    match step {
        StepKind::If(_, a, b) => sum(here, greater(length(protocol, a), length(protocol, b))),
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
            sum(here, product(iterations(protocol, step), sum(here, length(protocol, body))))
        }
        StepKind::Elsewhere(_, _, body) => sum(here, length(protocol, body)),
        _ => here,
    }
}
