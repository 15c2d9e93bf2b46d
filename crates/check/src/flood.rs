//! What grew while an exploration came to no end: a channel or a software queue that gets longer and longer.

use crate::model::Model;
use crate::step::Stepper;
use crate::trace::Trace;
use crate::world::World;
use std::collections::BTreeMap;

/// So many messages in one channel, or tasks in one queue, are worth telling.
const MANY: usize = 6;

/// The story of the channel or queue that is longest at the end of a trace, if it is long: what it is, and after how
/// many events it had reached which length.
pub(crate) fn flood(stepper: &mut Stepper, trace: &Trace) -> Option<String> {
    let model = stepper.model;
    let mut world = model.first();
    let mut worlds = vec![crowds(model, &world)];
    let mut actions = Vec::new();
    for label in &trace.labels {
        stepper.actions(&world, &mut actions);
        let action = label.resolve(stepper, &world, &actions)?;
        if stepper.perform(&mut world, action).is_err() {
            break;
        }
        worlds.push(crowds(model, &world));
    }
    let (what, &most) = worlds.last()?.iter().max_by_key(|(_, count)| **count)?;
    if most < MANY {
        return None;
    }
    let reached = |length: usize| worlds.iter().position(|w| w.get(what).is_some_and(|count| *count >= length));
    let lengths =
        [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].into_iter().filter(|length| *length < most).chain([most]);
    let points: Vec<String> =
        lengths.filter_map(|length| Some(format!("{length} after {}", events(reached(length)?)))).collect();
    Some(format!("{what} may grow without bound: {}", points.join(", ")))
}

fn events(count: usize) -> String {
    format!("{count} event{}", if count == 1 { "" } else { "s" })
}

/// How many messages each channel holds, and tasks each software queue.
fn crowds(model: &Model, world: &World) -> BTreeMap<String, usize> {
    let protocol = model.protocol();
    let mut crowds = BTreeMap::new();
    for flight in &world.flights {
        let lane = &protocol.lanes[flight.lane.index()].name;
        *crowds.entry(format!("lane {lane} from node {} to node {}", flight.from, flight.to)).or_insert(0) += 1;
    }
    for (node, queue) in world.queues.iter().enumerate().filter(|(_, queue)| !queue.is_empty()) {
        crowds.insert(format!("the software queue of node {node}"), queue.len());
    }
    crowds
}
