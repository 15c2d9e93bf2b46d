//! One state of the whole system, taken apart so that a transition can change it.

use crate::system::codec::{Codec, Written};
use crate::system::layout::Layout;
use std::cmp::Ordering;
use std::fmt::Display;
use trivium_engine::number::{fit, index};
use trivium_engine::{Args, CacheLine, Node, Object, Payload};
use trivium_protocol::{BLOCK, LaneId, Line, MessageId, TaskId};

/// Why a number is that of a node.
const AT_MOST: &str = "the number of a node: there are at most 256";

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Flight {
    pub to: Node,
    pub from: Node,
    pub lane: LaneId,
    pub message: MessageId,
    pub object: Object,
    pub args: Args,
    pub payload: Option<Payload>,
    /// Where it stands beside messages of other senders and lanes.
    pub stand: Stand,
    /// Itself as it is written, where that is short: [`Codec::sealed`].
    pub written: Written,
}

impl Flight {
    pub fn channel(&self) -> (Node, Node, LaneId) {
        (self.to, self.from, self.lane)
    }

    /// The same message, wherever it stands.
    pub fn unplaced(self) -> Flight {
        Flight { stand: Stand::default(), ..self }
    }
}

/// Where a message stands beside those of other senders and lanes (`docs/semantics.md`, section 5): whether it is the head of a lane that is
/// `merged`, and behind how many messages of another lane it is. As one number: twice that many, and one more for the head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stand(pub(super) u16);

impl Stand {
    /// Behind so many messages of another lane.
    pub fn behind(count: usize) -> Stand {
        Stand(2 * fit::<_, u16>(count.min(usize::from(u16::MAX / 2)), "a number of messages"))
    }

    /// Whether it is at the head of the queue of all senders.
    #[inline]
    pub fn is_head(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether messages of another lane come first.
    #[inline]
    pub fn is_behind(self) -> bool {
        self.0 > 1
    }

    /// It comes to the head.
    fn come_to_head(&mut self) {
        self.0 |= 1;
    }

    /// The oldest of the messages before it is gone.
    fn advance(&mut self) {
        if self.is_behind() {
            self.0 -= 2;
        }
    }
}

/// A task in a node's software queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Queued {
    pub task: TaskId,
    pub object: Object,
    pub args: Args,
}

/// The state of a thread (`docs/semantics.md`, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// It runs its program: no event of its has been handled.
    Free,
    /// A handler has seen its event; it waits for `resume`, `complete` or `return`.
    Waiting,
    /// It keeps its event, to raise it (again).
    Held,
    /// Its event lies in the defer space of a record.
    Deferred,
    /// It has been let go together with others of its node, and performs its access before anything else happens.
    LetGo,
    /// It is in the body of a call, and about to do what comes next there: no event of that has been raised.
    Ready,
}

/// A state. Two are the same exactly when all parts are equal: see [`World::flights`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct World {
    /// What has a fixed size: see [`Layout`].
    pub fixed: Vec<u8>,
    /// Messages by destination, sender and lane; within that in the order of sending where the lane keeps
    /// it, else sorted.
    pub flights: Vec<Flight>,
    /// Software queues of the nodes; none if there are no tasks.
    pub queues: Vec<Vec<Queued>>,
}

impl World {
    /// The first state.
    pub fn first(layout: &Layout, codec: &Codec) -> World {
        World { fixed: vec![0; layout.len], flights: Vec::new(), queues: vec![Vec::new(); codec.queues] }
    }

    /// Whether another state differs.
    pub fn differs(&self, other: &World) -> bool {
        // What differs most often is looked at first.
        self.flights.len() != other.flights.len()
            || self.fixed != other.fixed
            || self.flights != other.flights
            || self.queues != other.queues
    }

    /// Puts messages where they belong ([`World::flights`]) when what they say has changed, but not their order in a channel that keeps it.
    pub fn sort_flights(&mut self, is_fifo: impl Fn(LaneId) -> bool) {
        self.flights.sort_by(|a, b| {
            let channels = a.channel().cmp(&b.channel());
            channels.then_with(|| if is_fifo(a.lane) { Ordering::Equal } else { a.cmp(b) })
        });
    }

    /// Becomes a copy of another, reusing space.
    pub fn copy_from(&mut self, other: &World) {
        if self.fixed.len() == other.fixed.len() {
            self.fixed.copy_from_slice(&other.fixed);
        } else {
            self.fixed.clone_from(&other.fixed);
        }
        self.flights.clear();
        self.flights.extend_from_slice(&other.flights);
        if !self.queues.is_empty() || !other.queues.is_empty() {
            self.queues.clone_from(&other.queues);
        }
    }

    /// Puts a message on its way.
    pub fn post(&mut self, flight: Flight, fifo: bool) {
        let at = if fifo {
            self.flights.partition_point(|f| f.channel() <= flight.channel())
        } else {
            self.flights.partition_point(|f| *f <= flight)
        };
        self.flights.insert(at, flight);
    }

    /// Whether a lane that duplicates messages has one already that stands for a new one: the same, and where the lane
    /// keeps order, the one that was sent last.
    pub fn stands_for(&self, flight: &Flight, fifo: bool) -> bool {
        if !fifo {
            return self.flights.contains(flight);
        }
        self.flights.iter().rev().find(|other| other.channel() == flight.channel()) == Some(flight)
    }

    /// Messages from a node on a lane.
    pub fn sent_by(&self, node: Node, lane: LaneId) -> usize {
        self.flights.iter().filter(|f| f.from == node && f.lane == lane).count()
    }

    /// A message comes to the head of its lane's queue at its receiver.
    pub fn come_to_head(&mut self, at: usize, codec: &Codec) {
        self.flights[at].stand.come_to_head();
        self.flights[at] = codec.sealed(self.flights[at]);
    }

    /// Whether some message is at the head of the queue of all senders of a lane at a node.
    pub fn has_head(&self, to: Node, lane: LaneId) -> bool {
        self.flights.iter().any(|flight| flight.to == to && flight.lane == lane && flight.stand.is_head())
    }

    /// The oldest message of a channel is gone: those of lanes `behind` it come nearer.
    pub fn advance(&mut self, gone: &Flight, behind: impl Fn(LaneId) -> bool, codec: &Codec) {
        for flight in self.flights.iter_mut().filter(|flight| (flight.to, flight.from) == (gone.to, gone.from)) {
            if behind(flight.lane) && flight.stand.is_behind() {
                flight.stand.advance();
                *flight = codec.sealed(*flight);
            }
        }
    }

    /// Indices of the messages that may be handled next.
    pub fn deliverable<'a>(&'a self, fifo: impl Fn(LaneId) -> bool + 'a) -> impl Iterator<Item = usize> + 'a {
        self.flights.iter().enumerate().filter_map(move |(at, flight)| {
            let Some(before) = at.checked_sub(1).map(|b| &self.flights[b]) else { return Some(at) };
            let blocked = if fifo(flight.lane) { before.channel() == flight.channel() } else { before == flight };
            (!blocked).then_some(at)
        })
    }

    /// What a thread is about: its state and the number of its intent.
    #[inline(always)]
    pub fn thread(&self, layout: &Layout, thread: usize) -> (ThreadState, usize) {
        let at = layout.thread(thread).start;
        let bytes = &self.fixed[at..at + 3];
        let state = match bytes[0] {
            0 => ThreadState::Free,
            1 => ThreadState::Waiting,
            2 => ThreadState::Held,
            3 => ThreadState::Deferred,
            4 => ThreadState::LetGo,
            _ => ThreadState::Ready,
        };
        (state, usize::from(u16::from_le_bytes([bytes[1], bytes[2]])))
    }

    pub fn set_thread(&mut self, layout: &Layout, thread: usize, state: ThreadState, intent: usize) {
        let bytes = &mut self.fixed[layout.thread(thread)];
        bytes[0] = match state {
            ThreadState::Free => 0,
            ThreadState::Waiting => 1,
            ThreadState::Held => 2,
            ThreadState::Deferred => 3,
            ThreadState::LetGo => 4,
            ThreadState::Ready => 5,
        };
        let intent: u16 = if state == ThreadState::Free {
            0
        } else {
            fit(intent, "the number of what a thread does: there are at most 65,535")
        };
        bytes[1..3].copy_from_slice(&intent.to_le_bytes());
        if state == ThreadState::Free
            && let Some((flag, seen)) = layout.performed(thread)
        {
            self.fixed[flag] = 0;
            self.fixed[seen].fill(0);
        }
    }

    /// What the access of a thread has seen that a handler has performed for it; 0 if it only stores.
    pub fn performed(&self, layout: &Layout, thread: usize) -> Option<u64> {
        let (flag, seen) = layout.performed(thread)?;
        (self.fixed[flag] != 0).then(|| self.number(seen))
    }

    /// A handler has performed the access of a thread, which has seen this.
    pub fn set_performed(&mut self, layout: &Layout, thread: usize, value: u64) {
        let Some((flag, seen)) = layout.performed(thread) else { return };
        self.fixed[flag] = 1;
        self.set_number(seen, value);
    }

    /// Calls that are left to a thread, or its place in its script.
    pub fn count(&self, layout: &Layout, thread: usize) -> u16 {
        let bytes = &self.fixed[layout.thread(thread)];
        u16::from_le_bytes([bytes[3], bytes[4]])
    }

    pub fn set_count(&mut self, layout: &Layout, thread: usize, count: u16) {
        self.fixed[layout.thread(thread)][3..5].copy_from_slice(&count.to_le_bytes());
    }

    /// Where a thread is in the body of its call: the number of the intent that it is about there, and the place.
    pub fn act(&self, layout: &Layout, thread: usize) -> Option<(usize, usize)> {
        let bytes = &self.fixed[layout.act(thread)?];
        let act = usize::from(u16::from_le_bytes([bytes[0], bytes[1]])).checked_sub(1)?;
        Some((act, usize::from(u16::from_le_bytes([bytes[2], bytes[3]]))))
    }

    /// What a thread has told its engine, which has not heard of it yet: the number of an intent.
    pub fn told(&self, layout: &Layout, thread: usize) -> Option<usize> {
        let told = self.number(layout.told(thread)?);
        index(told).checked_sub(1)
    }

    /// A thread has told its engine something, or the engine hears of it.
    pub fn set_told(&mut self, layout: &Layout, thread: usize, told: Option<usize>) {
        if let Some(at) = layout.told(thread) {
            self.set_number(at, told.map_or(0, |told| told as u64 + 1));
        }
    }

    /// The number of the intent whose event a thread raises: in the body of a call that of its act.
    pub fn raised(&self, layout: &Layout, thread: usize) -> (ThreadState, usize) {
        let (state, intent) = self.thread(layout, thread);
        (state, self.act(layout, thread).map_or(intent, |(act, _)| act))
    }

    /// A thread is in another state, about the event of this intent: in the body of a call the call stays what it is about.
    pub fn set_raised(&mut self, layout: &Layout, thread: usize, state: ThreadState, raised: usize) {
        let intent = if self.act(layout, thread).is_some() { self.thread(layout, thread).1 } else { raised };
        self.set_thread(layout, thread, state, intent);
    }

    /// A thread is at a place of a body.
    pub fn set_act(&mut self, layout: &Layout, thread: usize, act: usize, place: u16) {
        let Some(at) = layout.act(thread) else { return };
        let act: u16 = fit(act + 1, "the number of what a thread does: there are at most 65,535");
        let bytes = &mut self.fixed[at];
        bytes[..2].copy_from_slice(&act.to_le_bytes());
        bytes[2..4].copy_from_slice(&place.to_le_bytes());
    }

    /// A variable of the body of a call.
    pub fn variable(&self, layout: &Layout, thread: usize, variable: usize) -> i64 {
        layout.variable(thread, variable).map_or(0, |at| self.number(at).cast_signed())
    }

    /// Sets a variable of the body of a call.
    pub fn set_variable(&mut self, layout: &Layout, thread: usize, variable: usize, value: i64) {
        if let Some(at) = layout.variable(thread, variable) {
            self.set_number(at, value.cast_unsigned());
        }
    }

    /// A thread's call is at its end: nothing is kept of its body.
    pub fn leave_body(&mut self, layout: &Layout, thread: usize) {
        if let Some(at) = layout.body(thread) {
            self.fixed[at].fill(0);
        }
    }

    /// What a processor's cache has of a block, or of an image.
    pub fn line(&self, layout: &Layout, node: Node, object: Object) -> CacheLine {
        layout.line(node, object).map_or_else(CacheLine::default, |(at, _)| CacheLine::of(self.fixed[at]))
    }

    /// The line changes; the contents of one that has none are forgotten.
    pub fn set_line(&mut self, layout: &Layout, node: Node, object: Object, line: CacheLine) {
        let Some((at, word)) = layout.line(node, object) else { return };
        self.fixed[at] = line.number();
        if line.line == Line::Absent || line.line == Line::Leaving && !line.written_back {
            // An image is what its engine composes: nobody sees what was there before.
            self.set_number(word, if object.kind == BLOCK { layout.garbage } else { 0 });
        }
    }

    /// A little-endian number in the fixed part.
    #[inline]
    pub fn number(&self, at: std::ops::Range<usize>) -> u64 {
        // Most take one byte.
        if at.len() == 1 {
            return self.fixed[at.start].into();
        }
        let mut bytes = [0; 8];
        bytes[..at.len()].copy_from_slice(&self.fixed[at]);
        u64::from_le_bytes(bytes)
    }

    #[inline]
    pub fn set_number(&mut self, at: std::ops::Range<usize>, value: u64) {
        let bytes = value.to_le_bytes();
        debug_assert!(bytes[at.len()..].iter().all(|&b| b == 0));
        if at.len() == 1 {
            self.fixed[at.start] = bytes[0];
            return;
        }
        let len = at.len();
        self.fixed[at].copy_from_slice(&bytes[..len]);
    }
}

/// A node by its number.
pub(crate) fn node<Number: Copy + Display>(number: Number) -> Node
where
    Node: TryFrom<Number>,
{
    fit(number, AT_MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(from: Node, message: u16, word: i64) -> Flight {
        Flight {
            to: 1,
            from,
            lane: LaneId(0),
            message: MessageId(message),
            object: Object { kind: trivium_protocol::BLOCK, id: 0 },
            args: Args::of(&[word]),
            payload: None,
            stand: Stand::default(),
            written: Written::default(),
        }
    }

    #[test]
    fn a_fifo_lane_offers_the_oldest_of_each_sender() {
        let mut world = World::default();
        for (from, message) in [(2, 5), (0, 7), (2, 1)] {
            world.post(flight(from, message, 0), true);
        }
        let next: Vec<u16> = world.deliverable(|_| true).map(|at| world.flights[at].message.0).collect();
        assert_eq!(next, [7, 5]);
    }

    #[test]
    fn an_unordered_lane_offers_each_different_message_whatever_the_order_of_sending() {
        let orders = [[3, 1, 3], [3, 3, 1], [1, 3, 3]];
        let worlds = orders.map(|order| {
            let mut world = World::default();
            order.iter().for_each(|&message| world.post(flight(0, message, 0), false));
            world
        });
        assert!(worlds.iter().all(|world| *world == worlds[0]));
        assert_eq!(worlds[0].deliverable(|_| false).count(), 2);
    }
}
