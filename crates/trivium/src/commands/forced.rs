//! `trivium replay --machine`: a counterexample under timing, in the order that delays of messages force.

use crate::output::grouped;
use crate::{Failure, failure};
use serde::Serialize;
use std::sync::Arc;
use trivium_check::chart::{Event, Moment, Recording, Story};
use trivium_lang::protocol::Protocol;
use trivium_sim::{Force, Forced, ForcedAccess, ForcedMessage, Handled, Machine, force};

/// A counterexample as a machine executed it.
#[derive(Serialize)]
pub(super) struct Timed {
    machine: String,
    /// Cycles between the beginnings of two steps.
    gap: u64,
    steps: Vec<TimedStep>,
    /// Values that loads have seen, in order: cycle, node, value.
    loads: Vec<(u64, u16, u64)>,
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
    let order = order(recording, story)?;
    let forced = force(Arc::clone(protocol), machine, &order).map_err(|error| failure::told(&error))?;
    let steps = compared(machine, story, &forced)?;
    compare_loads(machine, story, &forced)?;
    let fault = end(machine, story, &forced)?;
    Ok(Timed { machine: machine.name.clone(), gap: forced.gap, steps, loads: forced.loads, fault })
}

fn order(recording: &Recording, story: &Story) -> Result<Force, Failure> {
    let refused = |what: &str| {
        Failure::input(
            format!("the counterexample cannot be forced under timing: {what}"),
            "replay it without --machine; loads, stores and messages can be forced",
        )
    };
    let settings = &recording.settings;
    if settings.threads_per_node > 1 || settings.scenario.is_some() {
        return Err(refused("it has several threads on a node, or a scenario"));
    }
    let mut accesses = Vec::new();
    for (step, event) in (1..).zip(&recording.events) {
        match event {
            Event::Start { node, does, .. } => {
                let access = access(does).ok_or_else(|| refused(&format!("step {step} is a call: `{does}`")))?;
                accesses.push(ForcedAccess { step, node: *node, ..access });
            }
            Event::Evict { .. } | Event::Leave { .. } => {
                return Err(refused(&format!("step {step} evicts a block of its own accord")));
            }
            Event::Timer { .. } => return Err(refused(&format!("step {step} is a timer"))),
            Event::Task { .. } => return Err(refused(&format!("step {step} is a task"))),
            // These follow from the others, at once.
            Event::Deliver { .. } | Event::Replay { .. } | Event::Retry { .. } | Event::Phase => {}
        }
    }
    let messages = story.arrows.iter().map(|arrow| ForcedMessage {
        from: arrow.from,
        to: arrow.to,
        lane: arrow.lane.clone(),
        step: arrow.received,
    });
    Ok(Force {
        nodes: settings.nodes,
        blocks: settings.objects,
        steps: story.moments.len() as u32,
        accesses,
        messages: messages.collect(),
    })
}

/// `read of block 0`, `write 1 of block 0`, `write beside of block 0`, as recordings say it. Node and step are others'.
fn access(does: &str) -> Option<ForcedAccess> {
    let (what, block) = does.split_once(" of block ")?;
    let (word, store) = match what.split_once(' ') {
        None if what == "read" => (0, None),
        Some(("write", "beside")) => (1, Some(1)),
        Some(("write", value)) => (0, Some(value.parse().ok()?)),
        _ => return None,
    };
    Some(ForcedAccess { step: 0, node: 0, block: block.parse().ok()?, word, store })
}

/// An event as both sides know it.
#[derive(Debug, PartialEq, Eq)]
struct Known {
    object: String,
    role: String,
    before: String,
    after: String,
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
        sends: sends.collect(),
    }
}

fn of_handled(handled: &Handled) -> Known {
    Known {
        object: handled.object.clone(),
        role: handled.role.clone(),
        before: handled.before.clone(),
        after: handled.after.clone(),
        sends: handled.sends.clone(),
    }
}

/// Compares node by node: events of different nodes that do not follow from each other may change places.
fn compared(machine: &Machine, story: &Story, forced: &Forced) -> Result<Vec<TimedStep>, Failure> {
    let mut steps = Vec::new();
    for node in 0..story.total_nodes as u16 {
        let mut expected = story.moments.iter().filter(|m| m.node == node && m.dispatched && shows(story, m));
        let mut seen = forced.handled.iter().filter(|h| h.node == node && !quiet(h));
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
    let tell = |known: Known| format!("{} goes from {} to {}", known.role, known.before, known.after);
    let expected = moment.map_or("nothing more".to_string(), |m| {
        format!("step {}, `{}`, in which {}", m.step, m.event, tell(of_moment(story, m)))
    });
    let seen = handled.map_or("nothing more happens".to_string(), |h| {
        format!("at cycle {} `{}` is handled, and {}", h.cycle, h.event, tell(of_handled(h)))
    });
    Failure::new(
        failure::WRONG,
        format!("on {} node {node} does not do what was recorded: expected {expected}; {seen}", machine.name),
        "the machine cannot be made to keep this order by delays of messages alone",
    )
}

/// Compares the values that the loads of each node have seen. The load that violates the property is the last.
fn compare_loads(machine: &Machine, story: &Story, forced: &Forced) -> Result<(), Failure> {
    for node in 0..story.total_nodes as u16 {
        let recorded = story.moments.iter().filter(|m| m.node == node).flat_map(|m| &m.performed);
        let recorded: Vec<u64> = recorded.filter_map(|done| done.strip_prefix("reads ")?.parse().ok()).collect();
        let seen: Vec<u64> = forced.loads.iter().filter(|load| load.1 == node).map(|load| load.2).collect();
        if !seen.starts_with(&recorded) {
            let what =
                format!("on {} the loads of node {node} see {seen:?}, but recorded is {recorded:?}", machine.name);
            return Err(Failure::new(failure::WRONG, what, "the recorded values were not read under timing"));
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
            Err(Failure::new(failure::WRONG, what, "its last event may depend on what cannot be forced"))
        }
        (Some(error), "fault" | "deadlock") => Ok(Some(error.what.clone())),
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
        if let Some(fault) = &self.fault {
            out.push_str(&format!("the simulator stops: {fault}\n"));
        }
        out.push_str("every node went through the recorded states\n");
        out
    }
}
