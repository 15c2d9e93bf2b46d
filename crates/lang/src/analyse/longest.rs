//! Every handler ends; here is how many steps its longest path has.

use super::{greater, iterations, product, sum};
use crate::protocol::*;

pub(super) fn longest(protocol: &mut Protocol) {
    let lengths: Vec<Vec<Bound>> =
        protocol.roles.iter().map(|r| r.handlers.iter().map(|h| length(protocol, &h.steps)).collect()).collect();
    for (role, lengths) in protocol.roles.iter_mut().zip(lengths) {
        for (handler, longest) in role.handlers.iter_mut().zip(lengths) {
            handler.longest = longest;
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
