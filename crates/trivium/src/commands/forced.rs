//! `trivium replay --machine`: a counterexample under timing, in the order that delays of messages force.

use crate::output::grouped;
use crate::{Failure, failure};
use serde::Serialize;
use std::sync::Arc;
use trivium_check::chart::{Arrow, Delivery, Event, Moment, Recording, Story, Told};
use trivium_check::{Network, System};
use trivium_diagnostic::Code;
use trivium_protocol::{Formula, Protocol};
use trivium_sim::{Force, Forced, ForcedDoes, ForcedMessage, ForcedStart, ForcedTimer, Handled, Machine, force};

/// A counterexample as a machine executed it.
#[derive(Serialize)]
pub(super) struct Timed {
    machine: String,
    /// Cycles between the beginnings of two steps.
    gap: u64,
    steps: Vec<TimedStep>,
    /// Values that loads have seen, in order: cycle, node, value.
    loads: Vec<(u64, u16, u64)>,
    /// Calls that have returned, in order: cycle, node, name, result.
    returns: Vec<(u64, u16, String, i64)>,
    /// What the simulator says where the protocol has a fault.
    fault: Option<String>,
}

/// An event that an engine of the machine handled.
#[derive(Serialize)]
struct TimedStep {
    step: u32,
    node: u16,
    event: String,
    object: String,
    after: String,
    /// Cycle of its dispatch.
    cycle: u64,
    /// Cycles of the handler.
    handler: u64,
}

/// Forces the recorded order on a machine and compares what each node does, and its states, with the story.
///
/// # Errors
/// The counterexample has events that cannot be forced, or the machine does something else.
pub(super) fn timed(
    protocol: &Arc<Protocol>,
    machine: &Machine,
    recording: &Recording,
    story: &Story,
) -> Result<Timed, Failure> {
    let order = order(protocol, recording, story)?;
    let forced =
        force(explored(protocol, &recording.settings), machine, &order).map_err(|error| failure::told(&error))?;
    let steps = compared(machine, story, &forced)?;
    compare_seen(protocol, machine, story, &forced)?;
    let fault = end(machine, story, &forced)?;
    let Forced { gap, loads, mut returns, .. } = forced;
    returns.retain(|done| !is_told(protocol, &done.2));
    Ok(Timed { machine: machine.name.clone(), gap, steps, loads, returns, fault })
}

fn order(protocol: &Protocol, recording: &Recording, story: &Story) -> Result<Force, Failure> {
    let refused = |what: &str| {
        Failure::input(
            Code::Replay,
            format!("the counterexample cannot be forced under timing: {what}"),
            "replay it without --machine",
        )
    };
    let settings = &recording.settings;
    // In a scenario two threads may stand on one node.
    let is_second = |event: &Event| matches!(event, Event::Start { thread, .. } if *thread > 0);
    if settings.threads_per_node > 1 || recording.events.iter().any(is_second) {
        return Err(refused("it has several threads on a node, and a node of a machine has one processor"));
    }
    if !protocol.images.is_empty() {
        return Err(refused(
            "bodies of calls look at lines of the processor's cache, and on a machine a program in C does",
        ));
    }
    if story.moments.iter().any(|moment| moment.body_fails) {
        return Err(refused("the body of a call is at fault, and on a machine that is part of a program in C"));
    }
    if !settings.homes.is_empty() {
        return Err(refused("its homes were given, and on a machine object i lives at node i mod N"));
    }
    if recording.events.is_empty() && recording.property == "fault" {
        return Err(refused(
            "it is a fault in what records are initially, and a machine makes one when it is first touched",
        ));
    }
    let takes_another = |told: &Told| matches!(told, Told::Takes { lower: 1.., .. });
    if let Some(told) = recording.told.iter().find(|told| told.told.iter().any(takes_another)) {
        return Err(refused(&format!(
            "in step {} a handler does not take the least node of a set, and a machine takes nodes in ascending order, as `trivium check --ascending` does",
            told.step
        )));
    }
    if let Some(told) = recording.told.iter().find(|told| told.told.contains(&Told::Room(false))) {
        return Err(refused(&format!(
            "in step {} an outgoing queue is full, and between two steps that a machine is made to take all messages leave",
            told.step
        )));
    }
    let mut order = Force {
        nodes: settings.nodes,
        blocks: blocks(story, settings.kinds.get("block").copied().unwrap_or(settings.objects)),
        block: trivium_check::BLOCK_BYTES,
        steps: story.moments.len() as u32,
        messages: story.arrows.iter().map(message).collect(),
        ..Force::default()
    };
    let lost = |event: &Event| matches!(event, Event::Deliver { fate: Delivery::Lose, .. });
    // Where the network repeats messages, one also stands for others that are sent.
    if protocol.lanes.iter().any(|lane| lane.duplicating) || recording.events.iter().any(lost) {
        return Err(refused("its network loses or repeats messages, and that of a machine delivers each once"));
    }
    for (step, event) in (1..).zip(&recording.events) {
        match event {
            Event::Start { node, does, args, .. } => {
                let mut does =
                    begun(does, args).ok_or_else(|| refused(&format!("step {step} is unknown: `{does}`")))?;
                if let ForcedDoes::Access { word: 0, store: Some(value), .. } = &mut does {
                    *value = stored(story, step, *node).unwrap_or(*value);
                }
                // Of a call with a body a machine sees what it says, in the steps in which an engine hears of that.
                if !matches!(&does, ForcedDoes::Call { op, .. } if has_body(protocol, op)) {
                    order.starts.push(ForcedStart { step, node: *node, does });
                }
            }
            Event::Evict { node, block, .. } => {
                let heard = (step..).zip(&recording.events[step as usize - 1..]).find_map(|(step, event)| {
                    matches!(event, Event::Leave { node: n, block: b, .. } if n == node && b == block).then_some(step)
                });
                order.starts.push(ForcedStart { step, node: *node, does: ForcedDoes::Evict { block: *block, heard } });
            }
            Event::Prefetch { node, block, write } => {
                let does = ForcedDoes::Prefetch { block: *block, write: *write };
                order.starts.push(ForcedStart { step, node: *node, does });
            }
            Event::Retry { node, .. } => order.retries.push((step, *node)),
            Event::Task { node } => order.tasks.push((step, *node)),
            Event::Timer { node, role, object } => {
                order.timers.push(ForcedTimer { step, node: *node, role: role.clone(), object: *object });
            }
            Event::Act { node, .. } | Event::Hear { node, .. } => {
                let said =
                    story.moments.iter().find(|moment| moment.step == step).and_then(|moment| moment.said.as_ref());
                let said = said.ok_or_else(|| refused(&format!("in step {step} a body of a call says nothing")))?;
                let does = ForcedDoes::Call { op: said.event.clone(), object: said.object, args: said.args.clone() };
                order.starts.push(ForcedStart { step, node: *node, does });
            }
            // These follow from the others, at once.
            Event::Leave { .. } | Event::Deliver { .. } | Event::Replay { .. } | Event::Phase => {}
        }
    }
    Ok(order)
}

fn has_body(protocol: &Protocol, op: &str) -> bool {
    protocol.op(op).is_some_and(|op| protocol.ops[op.index()].body.is_some())
}

/// Whether a body only tells it: then nobody waits for an answer.
fn is_told(protocol: &Protocol, op: &str) -> bool {
    protocol.op(op).is_some_and(|op| protocol.ops[op.index()].is_told())
}

/// What a store that a node's thread has begun in a step wrote in the end. Where a promise is checked with values of the
/// checker's choice, that is not decided before.
fn stored(story: &Story, step: u32, node: u16) -> Option<u64> {
    let moments = story.moments.iter().filter(|moment| moment.step >= step && moment.node == node);
    let mut performed = moments.flat_map(|moment| &moment.performed);
    let exchanged = |does: &str| does.strip_prefix("exchanges ")?.rsplit_once(" for ")?.1.parse().ok();
    performed
        .find_map(|does| does.strip_prefix("writes ").and_then(|value| value.parse().ok()).or_else(|| exchanged(does)))
}

/// The protocol as it was explored: with those lanes, and its variables cleared or not.
fn explored(protocol: &Arc<Protocol>, system: &System) -> Arc<Protocol> {
    let mut protocol = if system.clearing { Protocol::clone(protocol) } else { protocol.without_clearing() };
    for lane in &mut protocol.lanes {
        lane.fifo = match system.network {
            Network::Declared => lane.fifo,
            Network::Fifo => true,
            Network::Unordered => false,
        };
        if system.network == Network::Unordered {
            (lane.merged, lane.behind) = (false, None);
        }
        if let (Some(holds), Some(capacity)) = (&mut lane.holds, system.lane_capacity) {
            *holds = Formula::Number(i64::from(capacity));
        }
    }
    Arc::new(protocol)
}

/// How many blocks there are; a scenario can have more than was asked for.
fn blocks(story: &Story, objects: u32) -> u32 {
    let blocks = story.homes.iter().filter(|(object, _)| object.starts_with("block ")).count();
    objects.max(blocks as u32)
}

fn message(arrow: &Arrow) -> ForcedMessage {
    ForcedMessage { from: arrow.from, to: arrow.to, lane: arrow.lane.clone(), step: arrow.received }
}

/// What a thread does, as recordings say it: `read of block 0`, `write 1 of block 0`, `write beside of block 0`,
/// `acquire of lock 1`, `get(0, 8) of block 0`, `sync`; with the words of a call's arguments.
fn begun(does: &str, args: &[i64]) -> Option<ForcedDoes> {
    let (what, about) = does.rsplit_once(" of ").map_or((does, None), |(what, about)| (what, Some(about)));
    let object = about.map_or(Some(0), |about| about.rsplit_once(' ')?.1.parse().ok())?;
    let access = |word, store| Some(ForcedDoes::Access { block: object, word, store, exchanges: false });
    match (what, what.split_once(' ')) {
        ("read", _) => return access(0, None),
        ("write beside", _) => return access(1, Some(1)),
        (_, Some(("write", value))) => return access(0, Some(value.parse().ok()?)),
        (_, Some(("exchange", value))) => {
            let store = Some(value.strip_prefix("for ")?.parse().ok()?);
            return Some(ForcedDoes::Access { block: object, word: 0, store, exchanges: true });
        }
        _ => {}
    }
    let op = what.split('(').next().unwrap_or(what);
    Some(ForcedDoes::Call { op: op.to_string(), object, args: args.to_vec() })
}

/// An event as both sides know it.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    object: String,
    role: String,
    before: String,
    after: String,
    /// The whole record afterwards.
    record: String,
    sends: Vec<String>,
}

fn of_moment(story: &Story, moment: &Moment) -> Known {
    // `home.Shared.write.Ack sharers={1}`: the role, the state, its variables.
    let state = |text: &str| {
        let name = text.split_once('.').map_or("", |(_, rest)| rest);
        name.split(' ').next().unwrap_or_default().to_string()
    };
    let sends = moment.sent.iter().map(|&arrow| {
        let arrow = &story.arrows[arrow];
        let name = arrow.label.split(['(', ' ']).next().unwrap_or_default();
        format!("{name} to {}", arrow.to)
    });
    Known {
        object: moment.object.clone(),
        role: moment.before.split('.').next().unwrap_or_default().to_string(),
        before: state(&moment.before),
        after: state(&moment.after),
        record: moment.after.split_once('.').map_or("", |(_, rest)| rest).to_string(),
        sends: sends.collect(),
    }
}

fn of_handled(handled: &Handled) -> Known {
    Known {
        // An agent is its node's, which is known.
        object: if handled.object.starts_with("node ") { String::new() } else { handled.object.clone() },
        role: handled.role.clone(),
        before: handled.before.clone(),
        after: handled.after.clone(),
        record: handled.record.clone(),
        sends: handled.sends.clone(),
    }
}

/// Compares node by node: events of different nodes that do not follow from each other may change places.
fn compared(machine: &Machine, story: &Story, forced: &Forced) -> Result<Vec<TimedStep>, Failure> {
    let mut steps = Vec::new();
    // Where the property is violated within the last handler, the story ends there, and the machine goes on.
    let cut =
        story.moments.last().filter(|last| !last.dispatched).map(|last| (last.node, u64::from(last.step) * forced.gap));
    let is_cut = |handled: &Handled| cut.is_some_and(|(node, at)| handled.node == node && handled.cycle >= at);
    for node in 0..story.total_nodes as u16 {
        let mut expected = story.moments.iter().filter(|m| m.node == node && m.dispatched && shows(story, m));
        let mut seen = forced.handled.iter().filter(|h| h.node == node && !quiet(h) && !is_cut(h));
        loop {
            match (expected.next(), seen.next()) {
                (None, None) => break,
                (Some(moment), Some(handled)) if of_moment(story, moment) == of_handled(handled) => {
                    steps.push(TimedStep {
                        step: moment.step,
                        node,
                        event: moment.event.clone(),
                        object: moment.object.clone(),
                        after: moment.after.clone(),
                        cycle: handled.cycle,
                        handler: handled.end.saturating_sub(handled.cycle),
                    });
                }
                (moment, handled) => return Err(differs(machine, node, story, moment, handled)),
            }
        }
    }
    steps.sort_by_key(|step| step.step);
    Ok(steps)
}

/// What leaves the state as it is and sends nothing, such as a deferral, may be tried more or less often under timing.
fn quiet(handled: &Handled) -> bool {
    handled.before == handled.after && handled.sends.is_empty()
}

fn shows(story: &Story, moment: &Moment) -> bool {
    let known = of_moment(story, moment);
    known.before != known.after || !known.sends.is_empty()
}

fn differs(machine: &Machine, node: u16, story: &Story, moment: Option<&Moment>, handled: Option<&Handled>) -> Failure {
    let tell = |known: Known| format!("{} goes from {} to {}", known.role, known.before, known.record);
    let expected = moment.map_or("nothing more".to_string(), |m| {
        format!("step {}, `{}`, in which {}", m.step, m.event, tell(of_moment(story, m)))
    });
    let seen = handled.map_or("nothing more happens".to_string(), |h| {
        format!("at cycle {} `{}` is handled, and {}", h.cycle, h.event, tell(of_handled(h)))
    });
    Failure::new(
        (failure::WRONG, Code::Replay),
        format!("on {} node {node} does not do what was recorded: expected {expected}; {seen}", machine.name),
        "the machine cannot be made to keep this order by delays of messages alone",
    )
}

/// What a load has seen, or one with which a thread goes on that was performed elsewhere.
fn loaded(done: &str) -> Option<&str> {
    let exchanged = || done.strip_prefix("exchanges ")?.split(' ').next();
    done.strip_prefix("reads ").or_else(|| done.strip_prefix("goes on with ")).or_else(exchanged)
}

/// Compares the values that the loads of each node have seen, the results of its calls, and what bodies of calls were answered: what a
/// body says next, and what its call returns, follows from that. The load that violates the property is the last.
fn compare_seen(protocol: &Protocol, machine: &Machine, story: &Story, forced: &Forced) -> Result<(), Failure> {
    let differs = |node: u16, what: &str, seen: String, recorded: String| {
        let what = format!("on {} the {what} of node {node} are {seen}, but recorded are {recorded}", machine.name);
        Err(Failure::new((failure::WRONG, Code::Replay), what, "what was recorded is not seen under timing"))
    };
    for node in 0..story.total_nodes as u16 {
        let done = || story.moments.iter().filter(|m| m.node == node).flat_map(|m| &m.performed);
        let recorded: Vec<u64> = done().filter_map(|done| loaded(done)?.parse().ok()).collect();
        let seen: Vec<u64> = forced.loads.iter().filter(|load| load.1 == node).map(|load| load.2).collect();
        if !seen.starts_with(&recorded) {
            return differs(node, "loads", format!("{seen:?}"), format!("{recorded:?}"));
        }
        let mut recorded: Vec<(&str, Option<i64>)> = Vec::new();
        for moment in story.moments.iter().filter(|m| m.node == node) {
            recorded.extend(moment.answered.iter().map(|(event, value)| (event.as_str(), Some(*value))));
            let returned = moment.returned.iter().filter(|(op, _)| !has_body(protocol, op));
            recorded.extend(returned.map(|(op, value)| (op.as_str(), *value)));
        }
        let seen = forced.returns.iter().filter(|done| done.1 == node && !is_told(protocol, &done.2));
        let seen = seen.map(|done| (done.2.as_str(), done.3));
        let same = |(seen, recorded): (&(&str, i64), &(&str, Option<i64>))| {
            seen.0 == recorded.0 && recorded.1.is_none_or(|value| value == seen.1)
        };
        let seen: Vec<(&str, i64)> = seen.collect();
        // A fault cuts the run off, and an answer may be on its way from the engine to the processor by then.
        let on_its_way = usize::from(story.property.as_deref() == Some("fault"));
        if seen.len() + on_its_way < recorded.len() || !seen.iter().zip(&recorded).all(same) {
            return differs(node, "calls that return", format!("{seen:?}"), format!("{recorded:?}"));
        }
    }
    Ok(())
}

/// Whether the simulator stopped where the protocol has its fault, and only there. A deadlock stops it too.
fn end(machine: &Machine, story: &Story, forced: &Forced) -> Result<Option<String>, Failure> {
    let property = story.property.as_deref().unwrap_or_default();
    match (&forced.error, property) {
        (None, "fault") => {
            let what = format!("on {} the recorded fault does not happen", machine.name);
            Err(Failure::new(
                (failure::WRONG, Code::Replay),
                what,
                "its last event may depend on what cannot be forced",
            ))
        }
        (Some(error), "fault" | "deadlock") => Ok(Some(error.diagnostic.message.clone())),
        // Somebody waits for what would have come after the last step.
        (Some(_), _) if forced.deadlock => Ok(None),
        (Some(error), _) => Err(failure::told(error)),
        (None, _) => Ok(None),
    }
}

impl Timed {
    /// For people: a table of the events with their cycles.
    pub(super) fn text(&self) -> String {
        let widest = self.steps.iter().map(|step| step.event.chars().count()).max().unwrap_or(0).max(5);
        let mut out = format!("\non {}, with delays of messages that force this order\n\n", self.machine);
        out.push_str(&format!("step  node         cycle  handler  {:widest$}  state after it\n", "event"));
        for step in &self.steps {
            out.push_str(&format!(
                "{:4}  {:4}  {:>12}  {:>7}  {:widest$}  {}\n",
                step.step,
                step.node,
                grouped(step.cycle),
                step.handler,
                step.event,
                step.after
            ));
        }
        if let Some((cycle, node, value)) = self.loads.last() {
            out.push_str(&format!("the last load: node {node} reads {value} at cycle {}\n", grouped(*cycle)));
        }
        if let Some((cycle, node, call, _)) = self.returns.last() {
            out.push_str(&format!("the last return: {call} on node {node} at cycle {}\n", grouped(*cycle)));
        }
        if let Some(fault) = &self.fault {
            out.push_str(&format!("the simulator stops: {fault}\n"));
        }
        out.push_str("every node went through the recorded states\n");
        out
    }
}
