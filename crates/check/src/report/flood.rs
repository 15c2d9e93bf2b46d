//! What grew while an exploration came to no end: a channel or a software queue that gets longer and longer.

use crate::report::trace::Trace;
use crate::step::Stepper;
use crate::system::model::Model;
use crate::system::world::{Flight, World};
use std::collections::BTreeMap;
use trivium_engine::Node;
use trivium_protocol::LaneId;

/// So many messages in one channel, or tasks in one queue, are worth telling.
const MANY: usize = 6;

/// The story of the channel or queue that is longest at the end of a trace, if it is long: what it is, and after how
/// many events it had reached which length.
pub(crate) fn flood(stepper: &mut Stepper, trace: &Trace) -> Option<String> {
    let model = stepper.model;
    let mut world = model.first();
    let mut worlds = vec![crowds(&world)];
    let mut actions = Vec::new();
    for (label, told) in &trace.labels {
        stepper.actions(&world, &mut actions);
        let action = label.resolve(stepper, &world, &actions)?;
        if stepper.perform_told(&mut world, action, told).is_err() {
            break;
        }
        worlds.push(crowds(&world));
    }
    let (what, &most) = worlds.last()?.iter().max_by_key(|(_, count)| **count)?;
    if most < MANY {
        return None;
    }
    let name = what.name(model);
    let reached = |length: usize| worlds.iter().position(|w| w.get(what).is_some_and(|count| *count >= length));
    let lengths =
        [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].into_iter().filter(|length| *length < most).chain([most]);
    let points: Vec<String> =
        lengths.filter_map(|length| Some(format!("{length} after {}", events(reached(length)?)))).collect();
    Some(format!("{name} may grow without bound: {}", points.join(", ")))
}

pub(super) fn events(count: usize) -> String {
    format!("{count} event{}", if count == 1 { "" } else { "s" })
}

/// Something that may get longer and longer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Buffer {
    Channel { lane: LaneId, from: Node, to: Node },
    Queue { node: usize },
}

impl Buffer {
    /// The channel of a message.
    pub fn of(flight: &Flight) -> Buffer {
        let (to, from, lane) = flight.channel();
        Buffer::Channel { lane, from, to }
    }

    /// Whether a message is in it.
    pub fn holds(&self, flight: &Flight) -> bool {
        matches!(*self, Buffer::Channel { lane, from, to } if flight.channel() == (to, from, lane))
    }

    pub fn is_queue_of(&self, of: usize) -> bool {
        matches!(*self, Buffer::Queue { node } if node == of)
    }

    /// Whether what is in it is taken in the order in which it came.
    pub fn keeps_order(&self, model: &Model) -> bool {
        match self {
            Buffer::Channel { lane, .. } => model.protocol().lanes[lane.index()].fifo,
            Buffer::Queue { .. } => true,
        }
    }

    pub fn name(&self, model: &Model) -> String {
        match self {
            Buffer::Channel { lane, from, to } => {
                format!("lane {} from node {from} to node {to}", model.protocol().lanes[lane.index()].name)
            }
            Buffer::Queue { node } => format!("the software queue of node {node}"),
        }
    }
}

/// How many messages each channel holds, and tasks each software queue.
pub(crate) fn crowds(world: &World) -> BTreeMap<Buffer, usize> {
    // Messages of a channel stand together.
    let channels = world.flights.chunk_by(|a, b| a.channel() == b.channel());
    let channels = channels.map(|flights| (Buffer::of(&flights[0]), flights.len()));
    let queues = world.queues.iter().enumerate().filter(|(_, queue)| !queue.is_empty());
    channels.chain(queues.map(|(node, queue)| (Buffer::Queue { node }, queue.len()))).collect()
}
