//! A node's network interface: credits, the sender's overflow in memory, and the order of lanes, before a port of the machine's kind.

use crate::events::Envelope;
use crate::machine::Machine;
use crate::machine::slots::QueuesModel;
use crate::timing::calendar::Calendar;
use crate::timing::networks::{self, Network};
use crate::timing::ports::{self, Passing, Port};
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use trivium_engine::Node;
use trivium_node::Lanes;
use trivium_protocol::LaneId;

/// What a node knows about one lane of a protocol.
#[derive(Clone, Debug)]
struct Lane {
    protocol: usize,
    lane: LaneId,
    /// Messages on their way.
    on_way: u32,
    /// Those of them that wait in memory for a credit.
    in_memory: u32,
    /// Last arrival at each node, if the lane keeps its order.
    last: Vec<u64>,
    /// Whether its messages are counted only until they have left this node.
    queues: bool,
    /// Whether they take no credits, since they may stall at their receiver, and those of other lanes must not wait for that.
    takes_no_credits: bool,
    /// Its own credits, if its messages may wait at their receiver for room that those of other lanes make, which must not wait for that.
    own: Option<Box<Credits>>,
    /// The lane whose earlier messages to the same node arrive before its own.
    behind: Option<LaneId>,
}

/// What is outstanding to each node, and what waits for it.
#[derive(Clone, Debug)]
struct Credits {
    /// Messages that have not been consumed yet.
    outstanding: Vec<u32>,
    /// The words of each of them in its receive queue, the oldest first, where these are limited.
    words: Vec<VecDeque<u64>>,
    /// Messages that wait in memory for a credit, and when they were handed over.
    waiting: Vec<VecDeque<(u64, Box<Envelope>)>>,
}

impl Credits {
    fn new(nodes: usize) -> Credits {
        let (words, waiting) = (vec![VecDeque::new(); nodes], vec![VecDeque::new(); nodes]);
        Credits { outstanding: vec![0; nodes], words, waiting }
    }

    /// Whether a message to a node of so many words in its receive queue may leave. One that is longer than the queue passes through it alone.
    fn admits(&self, to: usize, words: u64, most: u32, queues: Option<QueuesModel>) -> bool {
        let fits = |queues: QueuesModel| {
            let there = &self.words[to];
            let taken: u64 = there.iter().sum();
            there.is_empty() || (there.len() as u64) < queues.messages && taken + words <= queues.incoming
        };
        self.outstanding[to] < most && queues.is_none_or(fits)
    }

    fn leaves(&mut self, to: usize, words: u64, is_limited: bool) {
        self.outstanding[to] += 1;
        if is_limited {
            self.words[to].push_back(words);
        }
    }
}

/// The send queue of a lane, and when its receive queue is free.
#[derive(Clone, Debug, Default)]
struct LaneQueues {
    out: Calendar,
    in_free: u64,
}

impl Lane {
    fn is(&self, protocol: usize, lane: LaneId) -> bool {
        self.lane == lane && self.protocol == protocol
    }
}

/// The network interface of a node, and its share of the network.
pub struct Interface {
    /// So many words of arguments ride in a header.
    header_words: u64,
    /// Words of data in a packet at most, if messages are in packets.
    packet_words: Option<u64>,
    credits: u32,
    /// The words of the queues as this node sees them, where these are limited.
    queues: Option<QueuesModel>,
    port: Box<dyn Port>,
    network: Box<dyn Network>,
    out: Calendar,
    /// The queues of the lanes behind the first, where the node has an engine for each; the last is that of all further lanes.
    more: Vec<LaneQueues>,
    /// Messages to each node that have not been consumed yet.
    outstanding: Vec<u32>,
    /// Messages to each node that wait in memory for a credit, and when they were handed over. Apart from the above,
    /// which every message looks at.
    waiting_for: Vec<VecDeque<(u64, Box<Envelope>)>>,
    /// What is known of the lanes that have been used. They are few.
    lanes: Vec<Lane>,
    /// How many messages wait for credits.
    waiting: usize,
    in_free: u64,
    /// When messages are to arrive, in the order of sending, where that is forced: by lane and destination.
    forced: BTreeMap<(LaneId, Node), VecDeque<u64>>,
}

impl Lanes for Interface {
    fn on_lane(&self, protocol: usize, lane: LaneId) -> u32 {
        self.lanes.iter().find(|known| known.is(protocol, lane)).map_or(0, |known| known.on_way)
    }

    fn in_shared(&self, protocol: usize, lane: LaneId) -> u32 {
        self.lanes.iter().find(|known| known.is(protocol, lane)).map_or(0, |known| known.on_way - known.in_memory)
    }
}

impl Interface {
    /// The interface of node `me` of `nodes`.
    pub fn new(machine: &Machine, me: Node, nodes: u32, seed: u64) -> Interface {
        Interface {
            header_words: machine.interface.header_words,
            packet_words: machine.interface.packet_words,
            credits: machine.interface.credits,
            queues: machine.queues().map(|queues| queues.seen_through(machine.network.latency)),
            port: ports::make(machine),
            network: networks::make(machine, me, nodes, seed),
            out: Calendar::default(),
            more: vec![LaneQueues::default(); machine.lane_engines().saturating_sub(1)],
            outstanding: vec![0; nodes as usize],
            waiting_for: vec![VecDeque::new(); nodes as usize],
            lanes: Vec::new(),
            waiting: 0,
            in_free: 0,
            forced: BTreeMap::new(),
        }
    }

    /// A lane of a protocol is an outgoing queue: its messages are on their way, for those that ask for room, until they have
    /// left ([`Interface::left`]).
    pub fn queue(&mut self, protocol: usize, lane: LaneId) {
        self.lane(protocol, lane).queues = true;
    }

    /// Messages of a lane arrive after those that were sent before them on another.
    pub fn order(&mut self, protocol: usize, lane: LaneId, behind: LaneId) {
        self.lane(protocol, lane).behind = Some(behind);
    }

    /// Messages of a lane may stall at their receivers, which have places of their own for them: they take no credits.
    pub fn takes_no_credits(&mut self, protocol: usize, lane: LaneId) {
        self.lane(protocol, lane).takes_no_credits = true;
    }

    /// Messages of a lane may wait at their receivers until those of other lanes are handled: they take credits of their own.
    pub fn has_own_credits(&mut self, protocol: usize, lane: LaneId) {
        let own = Credits::new(self.outstanding.len());
        self.lane(protocol, lane).own = Some(Box::new(own));
    }

    /// A message on a lane that queues has left this node.
    pub fn left(&mut self, protocol: usize, lane: LaneId) {
        let known = self.lane(protocol, lane);
        known.on_way = known.on_way.saturating_sub(1);
    }

    /// The next message that leaves for a node on a lane, after those that were forced before, arrives at this cycle,
    /// or as soon after it as it can.
    pub fn force(&mut self, lane: LaneId, to: Node, arrival: u64) {
        self.forced.entry((lane, to)).or_default().push_back(arrival);
    }

    /// Whether messages wait for credits.
    pub fn has_waiting(&self) -> bool {
        self.waiting > 0
    }

    // Most often it is the first.
    #[inline(always)]
    fn lane(&mut self, protocol: usize, lane: LaneId) -> &mut Lane {
        match self.lanes.first() {
            Some(first) if first.is(protocol, lane) => &mut self.lanes[0],
            _ => self.search_lane(protocol, lane),
        }
    }

    #[inline(never)]
    fn search_lane(&mut self, protocol: usize, lane: LaneId) -> &mut Lane {
        let at = self.lanes.iter().position(|known| known.is(protocol, lane)).unwrap_or_else(|| {
            let last = vec![0; self.outstanding.len()];
            self.lanes.push(Lane {
                protocol,
                lane,
                on_way: 0,
                in_memory: 0,
                last,
                queues: false,
                takes_no_credits: false,
                own: None,
                behind: None,
            });
            self.lanes.len() - 1
        });
        &mut self.lanes[at]
    }

    /// A message is handed over at cycle `at`; gives it back, unless it has to wait, with the cycles for which it is in
    /// the queue and its arrival.
    // Inlined, as `depart` is (`ARCHITECTURE.md`, "Written where it stays").
    #[inline(always)]
    pub fn send(&mut self, at: u64, fifo: bool, envelope: Box<Envelope>) -> Option<(Range<u64>, u64, Box<Envelope>)> {
        let known = self.lane(envelope.protocol, envelope.lane);
        known.on_way += 1;
        if known.takes_no_credits {
            return Some(self.depart(at, fifo, envelope));
        }
        if known.own.is_some() {
            return self.send_by_own_credit(at, fifo, envelope);
        }
        let outstanding = &mut self.outstanding[envelope.to as usize];
        if *outstanding >= self.credits {
            self.lane(envelope.protocol, envelope.lane).in_memory += 1;
            self.waiting_for[envelope.to as usize].push_back((at, envelope));
            self.waiting += 1;
            return None;
        }
        *outstanding += 1;
        Some(self.depart(at, fifo, envelope))
    }

    #[inline(never)]
    fn send_by_own_credit(
        &mut self,
        at: u64,
        fifo: bool,
        envelope: Box<Envelope>,
    ) -> Option<(Range<u64>, u64, Box<Envelope>)> {
        let (most, queues, to) = (self.credits, self.queues, envelope.to as usize);
        let words = self.words_there(&envelope);
        let known = self.lane(envelope.protocol, envelope.lane);
        if let Some(own) = &mut known.own {
            if !own.waiting[to].is_empty() || !own.admits(to, words, most, queues) {
                known.in_memory += 1;
                own.waiting[to].push_back((at, envelope));
                self.waiting += 1;
                return None;
            }
            own.leaves(to, words, queues.is_some());
        }
        Some(self.depart(at, fifo, envelope))
    }

    /// Words of a message in its receive queue, where these are limited; else of no meaning.
    fn words_there(&self, envelope: &Envelope) -> u64 {
        let Some(queues) = self.queues else { return 0 };
        let args = envelope.args.words().len() as u64;
        let bytes = envelope.data.as_ref().map_or(0, |data| data.bytes.len() as u64);
        args.saturating_sub(self.header_words) + bytes.div_ceil(8) + queues.header
    }

    /// The next message to a node that waited for a credit of its lane's own, if it has one now; from which cycle on it can depart.
    fn next_of_own(&mut self, at: u64, to: usize, (protocol, lane): (usize, LaneId)) -> Option<(u64, Box<Envelope>)> {
        let (most, queues) = (self.credits, self.queues);
        let at_lane = self.lanes.iter().find(|known| known.is(protocol, lane))?;
        let (_, next) = at_lane.own.as_ref()?.waiting[to].front()?;
        let words = self.words_there(next);
        let known = self.lane(protocol, lane);
        let own = known.own.as_mut().filter(|own| own.admits(to, words, most, queues))?;
        let (handed, envelope) = own.waiting[to].pop_front()?;
        own.leaves(to, words, queues.is_some());
        known.in_memory -= 1;
        self.waiting -= 1;
        Some((handed.max(at), envelope))
    }

    /// Of a lane that has credits of its own: a further message that waited for the credit that has come back, since several can fit then.
    pub fn another(&mut self, at: u64, by: Node, protocol: usize, lane: LaneId) -> Option<(u64, Box<Envelope>)> {
        match self.queues {
            Some(_) if self.waiting > 0 => self.next_of_own(at, by as usize, (protocol, lane)),
            _ => None,
        }
    }

    /// A message that this node sent to `by` has been consumed, as this node learns at cycle `at`; the next message
    /// that waited for that, if there is one, can depart ([`Interface::depart`]) from the given cycle on.
    pub fn credit(&mut self, at: u64, by: Node, protocol: usize, lane: LaneId) -> Option<(u64, Box<Envelope>)> {
        let known = self.lane(protocol, lane);
        if !known.queues {
            known.on_way = known.on_way.saturating_sub(1);
        }
        if known.takes_no_credits {
            return None;
        }
        if let Some(own) = &mut known.own {
            own.outstanding[by as usize] -= 1;
            own.words[by as usize].pop_front();
            return self.next_of_own(at, by as usize, (protocol, lane));
        }
        if self.waiting > 0
            && let Some((handed, envelope)) = self.waiting_for[by as usize].pop_front()
        {
            self.lane(envelope.protocol, envelope.lane).in_memory -= 1;
            self.waiting -= 1;
            return Some((handed.max(at), envelope));
        }
        self.outstanding[by as usize] -= 1;
        None
    }

    /// A message with a credit leaves as soon as the queue has passed it on: the cycles for which it is in the
    /// queue, and the arrival of its head.
    #[inline(always)]
    pub fn depart(&mut self, at: u64, fifo: bool, mut envelope: Box<Envelope>) -> (Range<u64>, u64, Box<Envelope>) {
        let passing = self.passing(&envelope);
        let out = match queues_of(&mut self.more, envelope.lane) {
            Some(queues) => &mut queues.out,
            None => &mut self.out,
        };
        let (queue, departure) = self.port.leave(out, at, passing);
        envelope.departed = departure;
        let mut arrival = self.network.arrival(departure, envelope.to, envelope.data.is_some());
        if !self.forced.is_empty()
            && let Some(forced) = self.forced.get_mut(&(envelope.lane, envelope.to)).and_then(VecDeque::pop_front)
        {
            arrival = arrival.max(forced);
        }
        if let Some(before) = self.lane(envelope.protocol, envelope.lane).behind {
            arrival = arrival.max(self.lane(envelope.protocol, before).last[envelope.to as usize]);
        }
        if fifo {
            let last = &mut self.lane(envelope.protocol, envelope.lane).last[envelope.to as usize];
            arrival = arrival.max(*last);
            *last = arrival;
        }
        (queue, arrival, envelope)
    }

    /// From when on the head of the next message in the receive queue can be looked at, at the earliest.
    pub fn receivable(&self) -> u64 {
        self.in_free
    }

    /// The same of a message of a lane, where lanes have queues of their own.
    pub fn receivable_on(&self, lane: LaneId) -> u64 {
        self.more.get(lane_queue(self.more.len(), lane)).map_or(self.in_free, |queues| queues.in_free)
    }

    /// A message whose head arrived at cycle `at` goes through the receive queue; gives the cycles for which it does.
    pub fn receive(&mut self, at: u64, envelope: &Envelope) -> Range<u64> {
        let enters = self.port.enter(self.passing(envelope));
        let free = match queues_of(&mut self.more, envelope.lane) {
            Some(queues) => &mut queues.in_free,
            None => &mut self.in_free,
        };
        let begun = (*free).max(at);
        *free = begun + enters;
        begun..*free
    }

    /// What of a message passes a port.
    #[inline(always)]
    fn passing(&self, envelope: &Envelope) -> Passing {
        let packets = self.packets(envelope);
        let riding = self.header_words.min(envelope.args.words().len() as u64);
        let words = envelope.words() - riding + (packets - 1) * Envelope::HEADER;
        let bytes = envelope.data.as_ref().map_or(0, |data| data.bytes.len() as u64);
        Passing { packets, words, bytes, tail: envelope.tail }
    }

    /// In how many packets a message goes, at least 1.
    #[inline(always)]
    fn packets(&self, envelope: &Envelope) -> u64 {
        match (self.packet_words, &envelope.data) {
            (Some(words), Some(data)) => (data.bytes.len() as u64).div_ceil(8 * words).max(1),
            _ => 1,
        }
    }
}

/// Which of the queues behind the first a lane has, if it has one of these: a number past them else.
#[inline(always)]
fn lane_queue(more: usize, lane: LaneId) -> usize {
    lane.index().min(more).wrapping_sub(1)
}

#[inline(always)]
fn queues_of(more: &mut [LaneQueues], lane: LaneId) -> Option<&mut LaneQueues> {
    let at = lane_queue(more.len(), lane);
    more.get_mut(at)
}
