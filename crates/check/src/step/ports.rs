//! What handlers see of outgoing queues (`docs/semantics.md`, section 5). Which messages of a node that are on their way have not left it yet is no
//! part of a state: as soon as a handler's course depends on it, the event goes on in two ways. What has been told, all that the handler
//! is told later agrees with.

use crate::step::mechanisms::Here;
use crate::system::told::Told;
use trivium_engine::SharedPlaces;
use trivium_engine::number::fit;
use trivium_protocol::{EventKind, LaneId, RoleId, StateId};

/// A queue of the event's node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PortOf {
    /// The messages of a lane.
    Lane(LaneId),
    /// Those of all lanes that share one ([`SharedPlaces::number`]).
    All(usize),
}

/// What is known of a queue while the event is executed: how many of the messages that were on their way before are still in it.
#[derive(Debug)]
struct Port {
    queue: PortOf,
    least: i64,
    most: i64,
}

/// What is known of all of them.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    known: Vec<Port>,
    /// The event that was dispatched: it has been, so that there is room for what its handlers may send unasked.
    dispatched: Option<(EventKind, RoleId, StateId)>,
}

impl Ports {
    /// Another event begins.
    pub fn clear(&mut self) {
        self.known.clear();
        self.dispatched = None;
    }

    /// Where a queue stands in the list, if anything is known of it.
    fn place_of(&self, queue: PortOf) -> Option<usize> {
        self.known.iter().position(|port| port.queue == queue)
    }

    /// There are at most so many in a queue.
    fn has_at_most(&mut self, queue: PortOf, most: i64) {
        if let Some(at) = self.place_of(queue) {
            self.known[at].most = self.known[at].most.min(most);
        }
    }

    /// An event is dispatched to a role in a state.
    pub fn dispatched(&mut self, event: EventKind, role: RoleId, state: StateId) {
        self.dispatched = Some((event, role, state));
    }
}

/// Whether so many more messages of a lane, which has so many places, fit into a node's queue, and if the lane shares it so many at least: chosen, where
/// it depends on what has left.
pub(super) fn room(here: &mut Here, (lane, places): (LaneId, u32), count: u32, together: u32) -> bool {
    learn(here, lane, places);
    // So many of the messages before may still be there.
    let fits = i64::from(places) - sent(here, lane) - i64::from(count);
    if !ask(here, PortOf::Lane(lane), fits) {
        return false;
    }
    let model = here.model;
    let Some(shared) = model.shared_by(lane) else { return true };
    let fits = free_of(here, shared) - i64::from(count.max(together));
    ask(here, PortOf::All(shared.number), fits)
}

/// Whether at most so many of the messages before are still in a queue: chosen, where nothing says so.
fn ask(here: &mut Here, queue: PortOf, fits: i64) -> bool {
    let Some(at) = here.effects.ports.place_of(queue) else { return true };
    let Port { least, most, .. } = here.effects.ports.known[at];
    let is_room = if most <= fits {
        true
    } else if least > fits {
        false
    } else {
        let chosen = here.effects.choices.among(2) == 0;
        here.effects.told.push(Told::Room(chosen));
        chosen
    };
    let port = &mut here.effects.ports.known[at];
    match is_room {
        true => port.most = most.min(fits),
        false => port.least = least.max(fits + 1),
    }
    agree(here);
    is_room
}

/// Whether the message that a handler is about to send has a place in its node's queue, by all that has been told.
pub(super) fn takes(here: &mut Here, (lane, places): (LaneId, u32)) -> bool {
    learn(here, lane, places);
    let fits = i64::from(places) - sent(here, lane) - 1;
    here.effects.ports.has_at_most(PortOf::Lane(lane), fits);
    let model = here.model;
    if let Some(shared) = model.shared_by(lane) {
        let fits = free_of(here, shared) - 1;
        here.effects.ports.has_at_most(PortOf::All(shared.number), fits);
        agree(here);
    }
    here.effects.ports.known.iter().all(|port| port.least <= port.most)
}

/// How many messages the event has sent on a lane.
fn sent(here: &Here, lane: LaneId) -> i64 {
    fit(here.effects.sends.iter().filter(|flight| flight.lane == lane).count(), "messages of one handler")
}

/// The places of a shared queue that the event has not taken.
fn free_of(here: &Here, shared: &SharedPlaces) -> i64 {
    i64::from(shared.places) - shared.lanes.iter().map(|&lane| sent(here, lane)).sum::<i64>()
}

/// What is known of a lane's queue is noted before the first question about it; if it shares one, that of all its lanes.
fn learn(here: &mut Here, lane: LaneId, places: u32) {
    if here.effects.ports.place_of(PortOf::Lane(lane)).is_some() {
        return;
    }
    let model = here.model;
    let Some(shared) = model.shared_by(lane) else { return learn_of_lane(here, lane, places) };
    for &lane in &shared.lanes {
        learn_of_lane(here, lane, model.lanes[lane.index()].capacity.unwrap_or(shared.places));
    }
    let on_way = here.effects.ports.known.iter().filter(|port| is_of(shared, port)).map(|port| port.most).sum::<i64>();
    let kept = here
        .effects
        .ports
        .dispatched
        .map_or(0, |(event, role, state)| model.engine.places_needed(shared, event, role, state));
    let most = on_way.min(i64::from(shared.places) - i64::from(kept));
    here.effects.ports.known.push(Port { queue: PortOf::All(shared.number), least: 0, most });
    agree(here);
}

fn learn_of_lane(here: &mut Here, lane: LaneId, places: u32) {
    let on_way: i64 = fit(here.world.sent_by(here.me, lane), "messages on their way");
    let kept = here.effects.ports.dispatched.map_or(0, |(event, role, state)| {
        here.model.engine.room_needed(event, role, state).get(lane.index()).copied().unwrap_or(0)
    });
    let most = (on_way - sent(here, lane)).min(i64::from(places) - i64::from(kept));
    here.effects.ports.known.push(Port { queue: PortOf::Lane(lane), least: 0, most });
}

/// Whether a port is of a lane that shares this queue.
fn is_of(shared: &SharedPlaces, port: &Port) -> bool {
    matches!(port.queue, PortOf::Lane(lane) if shared.lanes.contains(&lane))
}

/// What is known of shared queues and of their lanes agrees: what is in the queue is what is in it of all its lanes together.
fn agree(here: &mut Here) {
    let (model, known) = (here.model, &mut here.effects.ports.known);
    for shared in &model.shared {
        let Some(at) = known.iter().position(|port| port.queue == PortOf::All(shared.number)) else { continue };
        // Once downwards and once upwards is enough: there is one sum.
        for _ in 0..2 {
            let (least, most) = of_lanes(shared, known);
            known[at].least = known[at].least.max(least);
            known[at].most = known[at].most.min(most);
            let (least_of_all, most_of_all) = (known[at].least, known[at].most);
            let (least, most) = of_lanes(shared, known);
            for port in known.iter_mut().filter(|port| is_of(shared, port)) {
                let (others_least, others_most) = (least - port.least, most - port.most);
                port.most = port.most.min(most_of_all - others_least);
                port.least = port.least.max(least_of_all - others_most);
            }
        }
    }
}

/// The least and the most of all lanes that share a queue.
fn of_lanes(shared: &SharedPlaces, known: &[Port]) -> (i64, i64) {
    let ports = known.iter().filter(|port| is_of(shared, port));
    ports.fold((0, 0), |(least, most), port| (least + port.least, most + port.most))
}
