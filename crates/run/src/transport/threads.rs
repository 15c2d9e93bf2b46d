//! Nodes that are threads of one process.
//!
//! A short packet goes through the ring from its sender to its receiver; a long one, and one for which the ring has no room, through the receiver's channel
//! (the standard library's), so that nobody ever waits to send. Packets from one node to another are numbered, and taken by number: so they keep their
//! order, whichever way they take. Who waits looks into all of it again and again (`node/waiting.rs`), so that nobody has to be woken.

use super::Transport;
use super::ring::{Ring, SHORT, SharedWord};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use trivium_engine::Node;
use trivium_engine::number::fit;
use trivium_guest::{prefetch, prefetch_to_write};

/// More nodes have no rings: to look into one from each would take longer than to look into the channel.
const FEW: u32 = 16;
/// Slots of a ring: a power of two.
const SLOTS: usize = 64;
/// So many buffers of packets are kept to be filled again, of so many bytes at most.
const SPARE: usize = 64;
const MOST_SPARE: usize = 4096;

impl SharedWord for AtomicU64 {
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    fn will_be_read(&self) {
        prefetch(self);
    }

    fn will_be_written(&self) {
        prefetch_to_write(self);
    }
}

/// A packet that went through a channel: who has sent it, and its number among those from one to the other.
type Spilled = (Node, u64, Vec<u8>);

/// How many packets have gone into a node's channel, told behind them. It is on a line of the cache of its own, which is quiet most of the time.
#[repr(align(128))]
#[derive(Default)]
struct SpilledCount(AtomicU64);

/// The way to another node.
struct Outward {
    ring: Arc<Ring<AtomicU64>>,
    channel: Sender<Spilled>,
    spilled: Arc<SpilledCount>,
    /// Packets that have been sent, and of these those that went through the ring.
    sent: u64,
    by_ring: u64,
    /// Of those through the ring, how many are known to have been taken.
    known: u64,
}

/// The way from another node.
struct Inward {
    ring: Arc<Ring<AtomicU64>>,
    /// Packets that have been taken, and of these those that came through the ring.
    taken: u64,
    by_ring: u64,
    /// Those that came through the channel and have not been taken, with their numbers.
    spilled: VecDeque<(u64, Vec<u8>)>,
}

/// One node's end: a way to each node, and from each.
pub struct Threads {
    me: Node,
    to: Vec<Outward>,
    from: Vec<Inward>,
    channel: Receiver<Spilled>,
    /// How many packets have gone into the channel, how many of these have come out of it, and how many of those have not been taken.
    spilled: Arc<SpilledCount>,
    unspilled: u64,
    waiting: usize,
    /// Which sender is looked at first: each has its turn.
    turn: usize,
    has_rings: bool,
    is_crowded: bool,
    spare: Vec<Vec<u8>>,
}

/// The ends of so many nodes, each for a thread of its own. Asked for before any of these is kept on one processor: it would see only that.
pub fn join(nodes: u32) -> Vec<Threads> {
    let is_crowded = std::thread::available_parallelism().is_ok_and(|processors| nodes as usize > processors.get());
    let slots = if nodes <= FEW { SLOTS } else { 0 };
    let count = nodes as usize;
    let rings: Vec<Arc<Ring<AtomicU64>>> = (0..count * count).map(|_| Arc::new(Ring::new(slots))).collect();
    let spilled: Vec<Arc<SpilledCount>> = (0..count).map(|_| Arc::default()).collect();
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let end = |(me, channel): (usize, Receiver<Spilled>)| {
        let to = |to: usize| Outward {
            ring: rings[me * count + to].clone(),
            channel: senders[to].clone(),
            spilled: spilled[to].clone(),
            sent: 0,
            by_ring: 0,
            known: 0,
        };
        let from = |from: usize| Inward {
            ring: rings[from * count + me].clone(),
            taken: 0,
            by_ring: 0,
            spilled: VecDeque::new(),
        };
        Threads {
            me: fit(me, "a node"),
            to: (0..count).map(to).collect(),
            from: (0..count).map(from).collect(),
            channel,
            spilled: spilled[me].clone(),
            unspilled: 0,
            waiting: 0,
            turn: 0,
            has_rings: slots > 0,
            is_crowded,
            spare: Vec::new(),
        }
    };
    receivers.into_iter().enumerate().map(end).collect()
}

impl Threads {
    /// Sorts what has come through the channel by sender.
    #[cold]
    fn sort(&mut self) {
        while let Ok((from, number, packet)) = self.channel.try_recv() {
            self.unspilled += 1;
            self.waiting += 1;
            self.from[usize::from(from)].spilled.push_back((number, packet));
        }
    }

    /// A buffer is filled again.
    fn keep(&mut self, mut packet: Vec<u8>) {
        if self.spare.len() < SPARE && packet.capacity() <= MOST_SPARE {
            packet.clear();
            self.spare.push(packet);
        }
    }

    /// The next packet of a sender, if it has come.
    #[inline]
    fn next_of(&mut self, from: usize) -> Option<Vec<u8>> {
        let way = &mut self.from[from];
        if self.waiting > 0
            && let Some((_, packet)) = way.spilled.pop_front_if(|(number, _)| *number == way.taken)
        {
            way.taken += 1;
            self.waiting -= 1;
            return Some(packet);
        }
        if !self.has_rings {
            return None;
        }
        let spare = &mut self.spare;
        let buffer = || spare.pop().unwrap_or_else(|| Vec::with_capacity(SHORT));
        let packet = way.ring.take(way.by_ring, way.taken, buffer)?;
        way.taken += 1;
        way.by_ring += 1;
        Some(packet)
    }
}

impl Transport for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn me(&self) -> Node {
        self.me
    }

    fn nodes(&self) -> u32 {
        fit(self.to.len(), "a number of nodes")
    }

    fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    fn send(&mut self, to: Node, packet: Vec<u8>) {
        let way = &mut self.to[usize::from(to)];
        let number = way.sent;
        way.sent += 1;
        if way.ring.put(way.by_ring, number, &packet, &mut way.known) {
            way.by_ring += 1;
            return self.keep(packet);
        }
        // The other may have left.
        if way.channel.send((self.me, number, packet)).is_ok() {
            way.spilled.0.fetch_add(1, Ordering::Release);
        }
    }

    fn poll(&mut self) -> Option<(Node, Vec<u8>)> {
        if self.spilled.0.load(Ordering::Acquire) != self.unspilled {
            self.sort();
        }
        if self.waiting == 0 && !self.has_rings {
            return None;
        }
        let nodes = self.from.len();
        for _ in 0..nodes {
            let from = self.turn;
            self.turn = if from + 1 == nodes { 0 } else { from + 1 };
            if let Some(packet) = self.next_of(from) {
                return Some((fit(from, "a node"), packet));
            }
        }
        None
    }

    fn has_sent(&mut self) -> bool {
        true
    }
}
