//! The lane rule (docs/semantics.md, section 5), and loops whose bound nobody knows.

use super::{MAX_NODES, greater, iterations, product, range, sum};
use crate::diagnostics::Diagnostics;
use crate::protocol::*;
use crate::source::Span;

pub(super) fn lanes(protocol: &mut Protocol, diagnostics: &mut Diagnostics) {
    let waived = protocol.waivers.iter().any(|w| w.rule == "lane_rule");
    let mut all = Vec::new();
    for role in &protocol.roles {
        let mut counts = Vec::new();
        for handler in &role.handlers {
            let mut found = Found { sends: vec![Bound::fixed(0); protocol.lanes.len()], places: Vec::new() };
            count(protocol, &handler.steps, &mut found, diagnostics);
            if !waived {
                judge(protocol, handler, &found, diagnostics);
            }
            counts.push(found.sends);
        }
        // It sends nothing; but its loops must end.
        if let Some(initially) = &role.initially {
            let mut none = Found { sends: vec![Bound::fixed(0); protocol.lanes.len()], places: Vec::new() };
            count(protocol, &initially.steps, &mut none, diagnostics);
        }
        all.push(counts);
    }
    for (role, counts) in protocol.roles.iter_mut().zip(all) {
        for (handler, sends) in role.handlers.iter_mut().zip(counts) {
            handler.sends = sends;
        }
    }
}

struct Found {
    /// The most messages on each lane.
    sends: Vec<Bound>,
    /// Where messages leave unasked.
    places: Vec<(LaneId, Span, MessageId)>,
}

/// Counts the unasked sends of a path.
fn count(protocol: &Protocol, steps: &[Step], found: &mut Found, diagnostics: &mut Diagnostics) {
    for step in steps {
        match &step.kind {
            StepKind::Send { message, .. } => {
                let lane = protocol.messages[message.index()].lane;
                found.sends[lane.index()] = sum(found.sends[lane.index()], Bound::fixed(1));
                found.places.push((lane, step.span, *message));
            }
            StepKind::If(condition, yes, no) => {
                let before = found.sends.clone();
                let asked = asked_room(condition);
                let mut inner = Found { sends: before.clone(), places: Vec::new() };
                count(protocol, yes, &mut inner, diagnostics);
                for (lane, wanted) in asked {
                    forgive(&mut inner, &before, lane, wanted, step.span, diagnostics);
                }
                count(protocol, no, found, diagnostics);
                for (here, there) in found.sends.iter_mut().zip(&inner.sends) {
                    *here = greater(*here, *there);
                }
                found.places.extend(inner.places);
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                bounded(protocol, step, diagnostics);
                let mut inner = Found { sends: vec![Bound::fixed(0); found.sends.len()], places: Vec::new() };
                count(protocol, body, &mut inner, diagnostics);
                let times = iterations(protocol, &step.kind);
                for (here, each) in found.sends.iter_mut().zip(&inner.sends) {
                    *here = sum(*here, product(times, *each));
                }
                found.places.extend(inner.places);
            }
            StepKind::Elsewhere(_, _, body) => count(protocol, body, found, diagnostics),
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

/// Sends that stand inside `if room(..)` do not count, as many as were asked for.
fn forgive(
    inner: &mut Found,
    before: &[Bound],
    lane: LaneId,
    wanted: Bound,
    span: Span,
    diagnostics: &mut Diagnostics,
) {
    let (now, then) = (inner.sends[lane.index()], before[lane.index()]);
    let sent = Bound { constant: now.constant - then.constant, per_node: now.per_node - then.per_node };
    if sent.constant > wanted.constant || sent.per_node > wanted.per_node {
        diagnostics
            .error(span, format!("room is asked for {wanted} messages, but more may be sent"))
            .help("ask for as many as the branch sends on that lane");
    }
    inner.sends[lane.index()] = before[lane.index()];
    inner.places.retain(|(l, _, _)| *l != lane);
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

fn judge(protocol: &Protocol, handler: &Handler, found: &Found, diagnostics: &mut Diagnostics) {
    for (lane, sends) in protocol.lanes.iter().zip(&found.sends) {
        let Some(holds) = &lane.holds else { continue };
        // Where the lane itself is refused with so many nodes, nothing is sent on it.
        let short = (1..=MAX_NODES).find(|&nodes| lane.room(nodes).is_some_and(|room| sends.at(nodes) > room.into()));
        if let Some(nodes) = short {
            let depends = if holds.is_fixed() { String::new() } else { at_so_many(lane, *sends, nodes) };
            diagnostics
                .error(
                    handler.span,
                    format!(
                        "`{}` may send {sends} messages on lane `{}`, which holds {holds}{depends}",
                        handler.name, lane.name
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
    for (lane, span, sent) in &found.places {
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
