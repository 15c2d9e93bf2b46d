//! Delays at random, so that orders occur that are rare otherwise: a node pauses where handlers get their turn, it polls at other
//! instructions, and messages are kept back as long as a network may that keeps no more order than their lanes promise.

use super::NodeState;
use super::queued::Incoming;
use super::waiting::POLLS;
use crate::packets::spare::Arrival;
use std::time::{Duration, Instant};
use trivium_engine::Node;
use trivium_protocol::LaneId;

/// One in so many turns of handlers is late.
const PAUSES: u64 = 24;
/// One in so many messages is kept back.
const KEPT: u64 = 5;
/// So many microseconds at most.
const LONGEST: u64 = 300;

/// Random numbers that are the same everywhere: `SplitMix64`.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

/// A message that is kept back.
#[derive(Debug)]
pub(super) struct Late {
    pub message: Box<Arrival>,
    lane: LaneId,
    until: Instant,
}

/// The delays of a node.
#[derive(Debug)]
pub(crate) struct Delays {
    /// For where the program polls, and whether its calls are handled at once; a replay needs the same.
    polls: Random,
    /// For what a replay is told of.
    random: Random,
    pub(super) late: Vec<Late>,
}

impl Delays {
    pub(crate) fn new(seed: u64, node: Node) -> Delays {
        let of = |what: u64| Random(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ (u64::from(node) << 8) ^ what);
        Delays { polls: of(0), random: of(1), late: Vec::new() }
    }

    /// After how many instructions the program polls next.
    pub(super) fn interval(&mut self) -> u64 {
        // Often soon, seldom late.
        let shift = self.polls.below(8);
        1 + self.polls.below(*POLLS.end() >> shift)
    }

    /// Whether what the program calls its engine for is handled before anything else that has come: else other orders would not occur.
    pub(super) fn is_at_once(&mut self) -> bool {
        self.polls.below(2) == 0
    }

    fn time(&mut self) -> Duration {
        let shift = self.random.below(8);
        Duration::from_micros(self.random.below(LONGEST >> shift))
    }

    /// Handlers get their turn late, sometimes.
    pub(super) fn pause(&mut self) {
        if self.random.below(PAUSES) == 0 {
            let time = self.time();
            std::thread::sleep(time);
        }
    }

    /// Until when a message is kept back, if it is. It has to stay behind those that are on lanes with which it keeps order.
    pub(super) fn keep(&mut self, message: &Arrival, order: [Option<LaneId>; 2]) -> Option<Instant> {
        let way = |message: &Arrival| (message.event.sender, message.protocol);
        let is_before = |late: &&Late| way(&late.message) == way(message) && order.contains(&Some(late.lane));
        let before = self.late.iter().filter(is_before).map(|late| late.until).max();
        let own = (self.random.below(KEPT) == 0).then(|| Instant::now() + self.time());
        before.max(own)
    }

    pub(super) fn add(&mut self, message: Box<Arrival>, lane: LaneId, until: Instant) {
        self.late.push(Late { message, lane, until });
    }

    /// The place of a message whose time has come.
    pub(super) fn due(&self) -> Option<usize> {
        if self.late.is_empty() {
            return None;
        }
        let now = Instant::now();
        self.late.iter().position(|late| late.until <= now)
    }
}

impl NodeState {
    /// Whether messages are kept back.
    pub(super) fn keeps_messages(&self) -> bool {
        self.delays.as_ref().is_some_and(|delays| !delays.late.is_empty())
    }

    /// Until when a message that has arrived is kept back, if it is.
    pub(super) fn late_until(&mut self, message: &Arrival) -> Option<Instant> {
        let lane = self.lane_of(message);
        let declared = &self.core.protocols.engines[message.protocol].protocol().lanes[lane.index()];
        let order = [declared.fifo.then_some(lane), declared.behind];
        self.delays.as_mut()?.keep(message, order)
    }

    /// A message is kept back until then; without delays, as where a recording is repeated in another way, it is not.
    pub(super) fn keep_back(&mut self, message: Box<Arrival>, until: Instant) {
        let lane = self.lane_of(&message);
        match &mut self.delays {
            Some(delays) => delays.add(message, lane, until),
            None => self.queued.inbox.push_back(Incoming::Message(message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::spare::Spare;
    use trivium_engine::Object;
    use trivium_protocol::{BLOCK, EventKind, MessageId};

    fn message(sender: Node) -> Box<Arrival> {
        Spare::default().arrival(0, EventKind::Message(MessageId(0)), Object { kind: BLOCK, id: 0 }, sender)
    }

    #[test]
    fn order_is_kept_where_a_lane_keeps_it() {
        let mut delays = Delays::new(1, 0);
        let mut overtaken = 0;
        for number in 0..2000u64 {
            let (from, lane) = (Node::from(number % 2 == 0), LaneId(u8::from(number % 4 < 2)));
            let is_ordered = lane.0 == 0;
            match delays.keep(&message(from), [is_ordered.then_some(lane), None]) {
                Some(until) => delays.add(message(from), lane, until),
                None => {
                    let same = |late: &&Late| (late.message.event.sender, late.lane) == (from, lane);
                    let before = delays.late.iter().filter(same).count();
                    assert!(!is_ordered || before == 0);
                    overtaken += before;
                }
            }
            if number % 7 == 0 {
                while let Some(at) = delays.due() {
                    let late = delays.late.remove(at);
                    let sender = |late: &Late| late.message.event.sender;
                    let same = |one: &&Late| (sender(one), one.lane) == (sender(&late), late.lane);
                    assert!(late.lane.0 != 0 || delays.late[..at].iter().find(same).is_none());
                }
            }
        }
        assert!(overtaken > 0);
    }

    #[test]
    fn intervals_are_those_of_the_seed() {
        let intervals = |seed| {
            let mut delays = Delays::new(seed, 3);
            (0..50).map(|_| delays.interval()).collect::<Vec<_>>()
        };
        assert_eq!(intervals(5), intervals(5));
        assert_ne!(intervals(5), intervals(6));
        assert!(intervals(5).iter().all(|interval| (1..=*POLLS.end()).contains(interval)));
    }
}
