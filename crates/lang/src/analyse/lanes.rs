//! The lane rule (docs/semantics.md, section 5), the room that is kept for what a handler sends unasked, and loops whose
//! bound nobody knows.

use super::{greater, iterations, product, range, sum};
use crate::diagnostics::Diagnostics;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// The most messages on each lane.
type Sends = Vec<Bound>;

pub(super) fn lanes(protocol: &mut Protocol, diagnostics: &mut Diagnostics) {
    let waived = protocol.waivers.iter().any(|w| w.rule == "lane_rule");
    for role in 0..protocol.roles.len() {
        for handler in 0..protocol.roles[role].handlers.len() {
            let declared = &protocol.roles[role].handlers[handler];
            let sends = unasked(protocol, &declared.steps);
            let mut places = Vec::new();
            look(protocol, &declared.steps, &mut places, diagnostics);
            if !waived {
                judge(protocol, declared, &sends, &places, diagnostics);
            }
            let declared = &mut protocol.roles[role].handlers[handler];
            declared.sends = sends;
            let mut steps = std::mem::take(&mut declared.steps);
            keep(protocol, &mut steps, &mut nothing(protocol));
            protocol.roles[role].handlers[handler].steps = steps;
        }
        // It sends nothing; but its loops must end.
        if let Some(initially) = &protocol.roles[role].initially {
            look(protocol, &initially.steps, &mut Vec::new(), diagnostics);
        }
    }
}

fn nothing(protocol: &Protocol) -> Sends {
    vec![Bound::fixed(0); protocol.lanes.len()]
}

/// What steps may send on each lane without asking for room.
fn unasked(protocol: &Protocol, steps: &[Step]) -> Sends {
    let mut all = nothing(protocol);
    for step in steps {
        add(&mut all, &unasked_by(protocol, &step.kind));
    }
    all
}

fn unasked_by(protocol: &Protocol, step: &StepKind) -> Sends {
    match step {
        StepKind::Send { message, .. } => {
            let mut one = nothing(protocol);
            one[protocol.messages[message.index()].lane.index()] = Bound::fixed(1);
            one
        }
        StepKind::If(condition, yes, no) => {
            let mut yes = unasked(protocol, yes);
            for (lane, _) in asked_room(condition) {
                yes[lane.index()] = Bound::fixed(0);
            }
            let no = unasked(protocol, no);
            yes.into_iter().zip(no).map(|(yes, no)| greater(yes, no, MAX_NODES)).collect()
        }
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
            let times = iterations(protocol, step);
            unasked(protocol, body).into_iter().map(|each| product(times, each, MAX_NODES)).collect()
        }
        StepKind::Elsewhere(_, _, body) => unasked(protocol, body),
        _ => nothing(protocol),
    }
}

fn add(all: &mut Sends, more: &Sends) {
    for (all, more) in all.iter_mut().zip(more) {
        *all = sum(*all, *more);
    }
}

/// Makes each `room` that sends are asked for with ask for more: for what the rest of the handler may send on the lane
/// without asking again. Dispatch has kept those places, and they are not there for the taking. `rest` is what may be sent
/// behind the steps, and then with them.
fn keep(protocol: &Protocol, steps: &mut [Step], rest: &mut Sends) {
    for step in steps.iter_mut().rev() {
        let own = unasked_by(protocol, &step.kind);
        let times = iterations(protocol, &step.kind);
        match &mut step.kind {
            StepKind::If(condition, yes, no) => {
                ask_for_more(condition, rest);
                keep(protocol, yes, &mut rest.clone());
                keep(protocol, no, &mut rest.clone());
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                let others = sum(times, Bound::fixed(-1));
                let mut behind: Sends =
                    unasked(protocol, body).into_iter().map(|each| product(others, each, MAX_NODES)).collect();
                add(&mut behind, rest);
                keep(protocol, body, &mut behind);
            }
            StepKind::Elsewhere(_, _, body) => keep(protocol, body, &mut rest.clone()),
            _ => {}
        }
        add(rest, &own);
    }
}

fn ask_for_more(condition: &mut Expr, rest: &Sends) {
    match &mut condition.kind {
        ExprKind::Room(lane, wanted) => {
            if let ExprKind::Constant(wanted) = &mut wanted.kind {
                *wanted = sum(*wanted, rest[lane.index()]);
            }
        }
        ExprKind::Binary(Operator::And, a, b) => {
            ask_for_more(a, rest);
            ask_for_more(b, rest);
        }
        _ => {}
    }
}

/// Where messages leave unasked, and on which lanes; and what is wrong with `room` and with loops.
fn look(
    protocol: &Protocol,
    steps: &[Step],
    places: &mut Vec<(LaneId, Span, MessageId)>,
    diagnostics: &mut Diagnostics,
) {
    for step in steps {
        match &step.kind {
            StepKind::Send { message, .. } => {
                places.push((protocol.messages[message.index()].lane, step.span, *message));
            }
            StepKind::If(condition, yes, no) => {
                let mut inner = Vec::new();
                look(protocol, yes, &mut inner, diagnostics);
                let sent = unasked(protocol, yes);
                for (lane, wanted) in asked_room(condition) {
                    suffices(sent[lane.index()], wanted, step.span, diagnostics);
                    inner.retain(|(l, _, _)| *l != lane);
                }
                look(protocol, no, places, diagnostics);
                places.extend(inner);
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                bounded(protocol, step, diagnostics);
                look(protocol, body, places, diagnostics);
            }
            StepKind::Elsewhere(_, _, body) => look(protocol, body, places, diagnostics),
            _ => {}
        }
    }
}

/// The lanes and numbers of `room(lane, n)` as a condition, or as parts of an `and`.
fn asked_room(condition: &Expr) -> Vec<(LaneId, Bound)> {
    match &condition.kind {
        ExprKind::Room(lane, wanted) => match wanted.kind {
            ExprKind::Constant(c) => vec![(*lane, c)],
            _ => Vec::new(),
        },
        ExprKind::Binary(Operator::And, a, b) => [asked_room(a), asked_room(b)].concat(),
        _ => Vec::new(),
    }
}

/// Sends that stand inside `if room(..)` are asked for, as many as it names.
fn suffices(sent: Bound, wanted: Bound, span: Span, diagnostics: &mut Diagnostics) {
    if sent.constant > wanted.constant || sent.per_node > wanted.per_node {
        diagnostics
            .error(span, format!("room is asked for {wanted} messages, but more may be sent"))
            .help("ask for as many as the branch sends on that lane");
    }
}

fn bounded(protocol: &Protocol, step: &Step, diagnostics: &mut Diagnostics) {
    if let StepKind::ForRange(_, lo, hi, _) = &step.kind
        && (range(protocol, lo).is_none() || range(protocol, hi).is_none())
    {
        diagnostics
            .error(step.span, "nobody knows how often this loop runs")
            .help("use numbers, parameters, `nodes`, or variables of a ranged type such as `0..4`");
    }
}

fn judge(
    protocol: &Protocol,
    handler: &Handler,
    sends: &Sends,
    places: &[(LaneId, Span, MessageId)],
    diagnostics: &mut Diagnostics,
) {
    for (lane, sends) in protocol.lanes.iter().zip(sends) {
        let Some(holds) = &lane.holds else { continue };
        // Where the lane itself is refused with so many nodes, nothing is sent on it.
        let short =
            (1..=COMPILED_FOR).find(|&nodes| lane.room(nodes).is_some_and(|room| sends.at(nodes) > room.into()));
        if let Some(nodes) = short {
            let depends = if holds.is_fixed() { String::new() } else { at_so_many(lane, *sends, nodes) };
            diagnostics
                .error(
                    handler.span,
                    format!(
                        "`{}` may send {sends} messages on lane `{}`, which {} {holds}{depends}",
                        handler.name,
                        lane.name,
                        lane.takes()
                    ),
                )
                .help("let the lane hold as many, send them one by one from a task, or inside `if room(..)`");
        }
    }
    let EventKind::Message(message) = handler.event else { return };
    let own = protocol.messages[message.index()].lane;
    if protocol.lanes[own.index()].holds.is_none() {
        return;
    }
    let name = &protocol.lanes[own.index()].name;
    for (lane, span, sent) in places {
        let target = &protocol.lanes[lane.index()];
        if target.holds.is_some() && *lane <= own {
            let sent = &protocol.messages[sent.index()].name;
            diagnostics
                .error(*span, format!(
                    "a handler that a message of lane `{name}` starts may not send `{sent}` on lane `{}`, which ranks no higher",
                    target.name
                ))
                .help("put it on a lane declared later, or inside `if room(..)`, or defer the message");
        }
    }
}

/// How the numbers come out where a lane is too small.
fn at_so_many(lane: &Lane, sends: Bound, nodes: u32) -> String {
    let room = lane.room(nodes).unwrap_or_default();
    let s = if nodes == 1 { "" } else { "s" };
    format!(" (with {nodes} node{s}: {} messages, room for {room})", sends.at(nodes))
}
