//! Every handler ends; here is how many steps its longest path has, and that these are not too many.

use super::{greater, iterations, product, sum};
use crate::diagnostics::Mistakes;
use trivium_diagnostic::Code;
use trivium_protocol::source::Span;
use trivium_protocol::*;

pub(super) fn longest(protocol: &mut Protocol, diagnostics: &mut Mistakes) {
    let lengths: Vec<Vec<Bound>> =
        protocol.roles.iter().map(|r| r.code().map(|h| length(protocol, &h.steps, MAX_NODES)).collect()).collect();
    let mut told: Vec<Span> = Vec::new();
    // A loop of which nobody knows how often it runs has been told already.
    let known = diagnostics.is_empty();
    for role in protocol.roles.iter().filter(|_| known) {
        role.code().for_each(|handler| judge(protocol, handler, &mut told, diagnostics));
    }
    for (role, lengths) in protocol.roles.iter_mut().zip(lengths) {
        for (handler, longest) in role.handlers.iter_mut().chain(&mut role.initially).zip(lengths) {
            handler.longest = longest;
        }
    }
}

/// A handler of too many steps is told at the loop that has the most of them, once for each loop in the text.
fn judge(protocol: &Protocol, handler: &Handler, told: &mut Vec<Span>, diagnostics: &mut Mistakes) {
    let steps = length(protocol, &handler.steps, COMPILED_FOR).at(COMPILED_FOR);
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
            Code::Lane,
            span,
            format!(
                "`{}` may take {steps}; a handler takes at most {MAX_STEPS}, with {COMPILED_FOR} nodes",
                handler.name
            ),
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
                let steps = one(protocol, &step.kind, COMPILED_FOR).at(COMPILED_FOR);
                if steps > most.0 {
                    *most = (steps, step.span);
                }
            }
            _ => {}
        }
    }
}

/// The most steps, for every number of nodes up to `most`.
fn length(protocol: &Protocol, steps: &[Step], most: u32) -> Bound {
    steps.iter().map(|s| one(protocol, &s.kind, most)).fold(Bound::fixed(0), sum)
}

fn one(protocol: &Protocol, step: &StepKind, most: u32) -> Bound {
    let here = Bound::fixed(1);
    match step {
        StepKind::If(_, a, b) => sum(here, greater(length(protocol, a, most), length(protocol, b, most), most)),
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
            sum(here, product(iterations(protocol, step), sum(here, length(protocol, body, most)), most))
        }
        StepKind::Elsewhere(_, _, body) => sum(here, length(protocol, body, most)),
        _ => here,
    }
}
