//! What handlers see of outgoing queues (`docs/semantics.md`, section 5). Which messages of a node that are on their way have not left it yet is no
//! part of a state: as soon as a handler's course depends on it, the event goes on in two ways. What has been told, all that the handler
//! is told later agrees with.

use crate::step::mechanisms::Here;
use crate::system::told::Told;
use trivium_engine::number::fit;
use trivium_protocol::{EventKind, LaneId, RoleId, StateId};

/// What is known of one queue of the event's node while the event is executed: how many of the messages that were on their way
/// before are still in it.
#[derive(Debug)]
struct Port {
    lane: LaneId,
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

    /// An event is dispatched to a role in a state.
    pub fn dispatched(&mut self, event: EventKind, role: RoleId, state: StateId) {
        self.dispatched = Some((event, role, state));
    }
}

/// Whether so many more messages fit into a node's queue, which has so many places: chosen, where it depends on what has left.
pub(super) fn room(here: &mut Here, (lane, places): (LaneId, u32), count: u32) -> bool {
    let sent = sent(here, lane);
    let at = port(here, (lane, places), sent);
    // So many of the messages before may still be there.
    let fits = i64::from(places) - sent - i64::from(count);
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
    is_room
}

/// Whether the message that a handler is about to send has a place in its node's queue, by all that has been told.
pub(super) fn takes(here: &mut Here, (lane, places): (LaneId, u32)) -> bool {
    let sent = sent(here, lane);
    let at = port(here, (lane, places), sent);
    let port = &mut here.effects.ports.known[at];
    port.most = port.most.min(i64::from(places) - sent - 1);
    port.least <= port.most
}

/// How many messages the event has sent on a lane.
fn sent(here: &Here, lane: LaneId) -> i64 {
    fit(here.effects.sends.iter().filter(|flight| flight.lane == lane).count(), "messages of one handler")
}

/// What is known of a queue: where it stands in the list.
fn port(here: &mut Here, (lane, places): (LaneId, u32), sent: i64) -> usize {
    if let Some(at) = here.effects.ports.known.iter().position(|port| port.lane == lane) {
        return at;
    }
    let on_way: i64 = fit(here.world.sent_by(here.me, lane), "messages on their way");
    let kept = here.effects.ports.dispatched.map_or(0, |(event, role, state)| {
        here.model.engine.room_needed(event, role, state).get(lane.index()).copied().unwrap_or(0)
    });
    let most = (on_way - sent).min(i64::from(places) - i64::from(kept));
    here.effects.ports.known.push(Port { lane, least: 0, most });
    here.effects.ports.known.len() - 1
}
