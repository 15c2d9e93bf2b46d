//! The lane rule (docs/semantics.md, section 5), the room that is kept for what a handler sends unasked, and loops whose
//! bound nobody knows.

use super::{greater, iterations, product, range, sum};
use crate::diagnostics::Mistakes;
use trivium_diagnostic::Code;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// The most messages on each lane, and behind these on the lanes of each shared queue.
type Sends = Vec<Bound>;

pub(super) fn lanes(protocol: &mut Protocol, diagnostics: &mut Mistakes) {
    let waived = protocol.waivers.iter().any(|w| w.rule == "lane_rule");
    for role in 0..protocol.roles.len() {
        for handler in 0..protocol.roles[role].handlers.len() {
            let declared = &protocol.roles[role].handlers[handler];
            let sends = unasked(protocol, &declared.steps, &[]);
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
    vec![Bound::fixed(0); protocol.lanes.len() + protocol.shares.len()]
}

/// What steps may send on each lane without asking for room, if room has been asked for what they send on the lanes `asked`.
fn unasked(protocol: &Protocol, steps: &[Step], asked: &[LaneId]) -> Sends {
    let mut all = nothing(protocol);
    for step in steps {
        add(&mut all, &unasked_by(protocol, &step.kind, asked));
    }
    all
}

fn unasked_by(protocol: &Protocol, step: &StepKind, asked: &[LaneId]) -> Sends {
    match step {
        StepKind::Send { message, .. } => one(protocol, protocol.messages[message.index()].lane, asked),
        StepKind::If(condition, yes, no) => {
            let yes = unasked(protocol, yes, &also_asked(asked, condition));
            let no = unasked(protocol, no, asked);
            yes.into_iter().zip(no).map(|(yes, no)| greater(yes, no, MAX_NODES)).collect()
        }
        StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
            let times = iterations(protocol, step);
            unasked(protocol, body, asked).into_iter().map(|each| product(times, each, MAX_NODES)).collect()
        }
        StepKind::Elsewhere(_, _, body) => unasked(protocol, body, asked),
        _ => nothing(protocol),
    }
}

/// One message on a lane, which takes a place of the queue that it shares, too; none if room has been asked for it.
fn one(protocol: &Protocol, lane: LaneId, asked: &[LaneId]) -> Sends {
    let mut one = nothing(protocol);
    if !asked.contains(&lane) {
        one[lane.index()] = Bound::fixed(1);
        if let Some(shared) = protocol.share_of(lane) {
            one[protocol.lanes.len() + shared] = Bound::fixed(1);
        }
    }
    one
}

/// The lanes for which room has been asked in the first branch of an `if`.
fn also_asked(asked: &[LaneId], condition: &Expr) -> Vec<LaneId> {
    asked.iter().copied().chain(asked_room(condition).into_iter().map(|(lane, _)| lane)).collect()
}

fn add(all: &mut Sends, more: &Sends) {
    for (all, more) in all.iter_mut().zip(more) {
        *all = sum(*all, *more);
    }
}

/// Makes each `room` that sends are asked for with ask for more: for what the rest of the handler may send on the lane
/// without asking again. Dispatch has kept those places, and they are not there for the taking. In a shared queue they are those of all its lanes.
/// `rest` is what may be sent behind the steps, and then with them.
fn keep(protocol: &Protocol, steps: &mut [Step], rest: &mut Sends) {
    for step in steps.iter_mut().rev() {
        let own = unasked_by(protocol, &step.kind, &[]);
        let times = iterations(protocol, &step.kind);
        match &mut step.kind {
            StepKind::If(condition, yes, no) => {
                let together = together(protocol, condition, yes, rest);
                ask_for_more(protocol, condition, rest, &together);
                keep(protocol, yes, &mut rest.clone());
                keep(protocol, no, &mut rest.clone());
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                let others = sum(times, Bound::fixed(-1));
                let mut behind: Sends =
                    unasked(protocol, body, &[]).into_iter().map(|each| product(others, each, MAX_NODES)).collect();
                add(&mut behind, rest);
                keep(protocol, body, &mut behind);
            }
            StepKind::Elsewhere(_, _, body) => keep(protocol, body, &mut rest.clone()),
            _ => {}
        }
        add(rest, &own);
    }
}

/// The places that each shared queue must have for the first branch of an `if`: for all that its condition asks for, for what the branch sends unasked
/// on other lanes of the queue, and for what may be sent behind it.
fn together(protocol: &Protocol, condition: &Expr, yes: &[Step], rest: &Sends) -> Vec<Bound> {
    let besides = unasked(protocol, yes, &also_asked(&[], condition));
    let first = protocol.lanes.len();
    let mut all: Vec<Bound> = rest[first..].iter().zip(&besides[first..]).map(|(&a, &b)| sum(a, b)).collect();
    for (lane, wanted) in asked_room(condition) {
        if let Some(shared) = protocol.share_of(lane) {
            all[shared] = sum(all[shared], wanted);
        }
    }
    all
}

fn ask_for_more(protocol: &Protocol, condition: &mut Expr, rest: &Sends, together: &[Bound]) {
    match &mut condition.kind {
        ExprKind::Room(lane, wanted, at_least) => {
            if let ExprKind::Constant(wanted) = &mut wanted.kind {
                *wanted = sum(*wanted, rest[lane.index()]);
                *at_least = protocol.share_of(*lane).map_or(*at_least, |shared| together[shared]);
            }
        }
        ExprKind::Binary(Operator::And, a, b) => {
            ask_for_more(protocol, a, rest, together);
            ask_for_more(protocol, b, rest, together);
        }
        _ => {}
    }
}

/// Where messages leave unasked, and on which lanes; and what is wrong with `room` and with loops.
fn look(protocol: &Protocol, steps: &[Step], places: &mut Vec<(LaneId, Span, MessageId)>, diagnostics: &mut Mistakes) {
    for step in steps {
        match &step.kind {
            StepKind::Send { message, .. } => {
                places.push((protocol.messages[message.index()].lane, step.span, *message));
            }
            StepKind::If(condition, yes, no) => {
                let mut inner = Vec::new();
                look(protocol, yes, &mut inner, diagnostics);
                let sent = unasked(protocol, yes, &[]);
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
        ExprKind::Room(lane, wanted, _) => match wanted.kind {
            ExprKind::Constant(c) => vec![(*lane, c)],
            _ => Vec::new(),
        },
        ExprKind::Binary(Operator::And, a, b) => [asked_room(a), asked_room(b)].concat(),
        _ => Vec::new(),
    }
}

/// Sends that stand inside `if room(..)` are asked for, as many as it names.
fn suffices(sent: Bound, wanted: Bound, span: Span, diagnostics: &mut Mistakes) {
    if sent.constant > wanted.constant || sent.per_node > wanted.per_node {
        diagnostics
            .error(Code::Lane, span, format!("room is asked for {wanted} messages, but more may be sent"))
            .help("ask for as many as the branch sends on that lane");
    }
}

fn bounded(protocol: &Protocol, step: &Step, diagnostics: &mut Mistakes) {
    if let StepKind::ForRange(_, lo, hi, _) = &step.kind
        && (range(protocol, lo).is_none() || range(protocol, hi).is_none())
    {
        diagnostics
            .error(Code::Lane, step.span, "nobody knows how often this loop runs")
            .help("use numbers, parameters, `nodes`, or variables of a ranged type such as `0..4`");
    }
}

fn judge(
    protocol: &Protocol,
    handler: &Handler,
    sends: &Sends,
    places: &[(LaneId, Span, MessageId)],
    diagnostics: &mut Mistakes,
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
                    Code::Lane,
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
    judge_shared(protocol, handler, &sends[protocol.lanes.len()..], diagnostics);
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
                .error(Code::Lane, *span, format!(
                    "a handler that a message of lane `{name}` starts may not send `{sent}` on lane `{}`, which ranks no higher",
                    target.name
                ))
                .help("put it on a lane declared later, or inside `if room(..)`, or defer the message");
        }
    }
}

/// Whether shared queues have places for what a handler sends unasked on their lanes.
fn judge_shared(protocol: &Protocol, handler: &Handler, sends: &[Bound], diagnostics: &mut Mistakes) {
    for (shared, sends) in protocol.shares.iter().zip(sends) {
        let is_short = |&nodes: &u32| shared.places(nodes).is_some_and(|places| sends.at(nodes) > places.into());
        let Some(nodes) = (1..=COMPILED_FOR).find(is_short) else { continue };
        let (names, holds) = (protocol.names_of_shared(shared), &shared.holds);
        let depends = if holds.is_fixed() && sends.per_node == 0 {
            String::new()
        } else {
            format!(" (with {nodes} node{}: {} messages)", if nodes == 1 { "" } else { "s" }, sends.at(nodes))
        };
        diagnostics
            .error(
                Code::Lane,
                handler.span,
                format!(
                    "`{}` may send {sends} messages on the lanes {names}, which share {holds} places{depends}",
                    handler.name
                ),
            )
            .help("let the lanes share as many, send them one by one from a task, or inside `if room(..)`");
    }
}

/// How the numbers come out where a lane is too small.
fn at_so_many(lane: &Lane, sends: Bound, nodes: u32) -> String {
    let room = lane.room(nodes).unwrap_or_default();
    let s = if nodes == 1 { "" } else { "s" };
    format!(" (with {nodes} node{s}: {} messages, room for {room})", sends.at(nodes))
}
