//! Nodes that are threads of one process.
//!
//! A short packet goes through the ring from its sender to its receiver; a long one, and one for which the ring has no room, through the receiver's channel
//! (the standard library's), so that nobody ever waits to send. Packets from one node to another are numbered, and taken by number: so they keep their
//! order, whichever way they take. Who waits looks into all of it again and again (`node/waiting.rs`), so that nobody has to be woken.
//!
//! Nodes that share a thread have no rings between them: there a packet is laid into the receiver's tray as it is.

use super::Transport;
use super::ring::{Ring, SHORT};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::sync::mpsc::{Receiver, Sender, channel};
use trivium_engine::Node;
use trivium_engine::number::fit;

/// More nodes have no rings: to look into one from each would take longer than to look into the channel.
const FEW: u32 = 16;
/// Slots of a ring where there are two nodes, and at least. Where there are more there are fewer, so that all rings stay in a processor's nearest cache.
const SLOTS: usize = 64;
const LEAST_SLOTS: usize = 8;
/// So many buffers of packets are kept to be filled again, of so many bytes at most.
const SPARE: usize = 64;
const MOST_SPARE: usize = 4096;

/// A packet that went through a channel: who has sent it, and its number among those from one to the other.
type Spilled = (Node, u64, Vec<u8>);

/// How many packets have gone into a node's channel, told behind them. It is on a line of the cache of its own, which is quiet most of the time.
#[repr(align(128))]
#[derive(Default)]
struct SpilledCount(AtomicU64);

/// Packets from nodes of the same thread, and how many these are. Only that thread looks into it, so that nobody ever waits for the lock.
#[derive(Default)]
struct Tray {
    count: AtomicUsize,
    packets: Mutex<VecDeque<(Node, Vec<u8>)>>,
}

impl Tray {
    fn put(&self, from: Node, packet: Vec<u8>) {
        let mut packets = self.packets.lock().unwrap_or_else(PoisonError::into_inner);
        packets.push_back((from, packet));
        self.count.store(packets.len(), Ordering::Release);
    }

    fn take(&self) -> Option<(Node, Vec<u8>)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut packets = self.packets.lock().unwrap_or_else(PoisonError::into_inner);
        let packet = packets.pop_front();
        self.count.store(packets.len(), Ordering::Release);
        packet
    }
}

/// The way to another node.
struct Outward {
    /// Where it shares this one's thread. Then nothing goes any other way.
    tray: Option<Arc<Tray>>,
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
    /// What is looked at: the tray, where that stands for the node itself, and the other senders. Each has its turn; whose is next.
    senders: Vec<usize>,
    tray: Arc<Tray>,
    turn: usize,
    has_rings: bool,
    is_crowded: bool,
    spare: Vec<Vec<u8>>,
}

/// The ends of so many nodes, each for a thread of its own. Asked for before any of these is kept on one processor: it would see only that.
pub fn join(nodes: u32) -> Vec<Threads> {
    let is_crowded = std::thread::available_parallelism().is_ok_and(|processors| nodes as usize > processors.get());
    let mut ends = join_on(nodes, nodes as usize);
    ends.iter_mut().for_each(|end| end.is_crowded = is_crowded);
    ends
}

/// The thread of a node, where so many threads carry so many nodes: neighbours share one, since they often have the most to tell each other.
pub(crate) fn thread_of(node: usize, nodes: usize, threads: usize) -> usize {
    node * threads / nodes.max(1)
}

/// The ends of so many nodes that are carried by so many threads, each of which has a processor ([`thread_of`]).
pub(crate) fn join_on(nodes: u32, threads: usize) -> Vec<Threads> {
    let count = nodes as usize;
    // A power of two.
    let slots = if nodes <= FEW { (SLOTS >> (count / 2).max(1).ilog2()).max(LEAST_SLOTS) } else { 0 };
    let is_beside = |one: usize, other: usize| thread_of(one, count, threads) == thread_of(other, count, threads);
    let ring = |at: usize| Arc::new(Ring::new(if is_beside(at / count, at % count) { 0 } else { slots }));
    let rings: Vec<Arc<Ring<AtomicU64>>> = (0..count * count).map(ring).collect();
    let trays: Vec<Arc<Tray>> = (0..count).map(|_| Arc::default()).collect();
    let spilled: Vec<Arc<SpilledCount>> = (0..count).map(|_| Arc::default()).collect();
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
    let end = |(me, channel): (usize, Receiver<Spilled>)| {
        let to = |to: usize| Outward {
            tray: is_beside(me, to).then(|| trays[to].clone()),
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
            senders: (0..count).filter(|&from| from == me || !is_beside(from, me)).collect(),
            tray: trays[me].clone(),
            turn: 0,
            has_rings: slots > 0,
            is_crowded: false,
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
    fn next_of(&mut self, from: usize) -> Option<(Node, Vec<u8>)> {
        let way = &mut self.from[from];
        if self.waiting > 0
            && let Some((_, packet)) = way.spilled.pop_front_if(|(number, _)| *number == way.taken)
        {
            way.taken += 1;
            self.waiting -= 1;
            return Some((fit(from, "a node"), packet));
        }
        if !self.has_rings {
            return None;
        }
        let spare = &mut self.spare;
        let buffer = || spare.pop().unwrap_or_else(|| Vec::with_capacity(SHORT));
        let packet = way.ring.take(way.by_ring, way.taken, buffer)?;
        way.taken += 1;
        way.by_ring += 1;
        Some((fit(from, "a node"), packet))
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
        if let Some(tray) = &way.tray {
            return tray.put(self.me, packet);
        }
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
            return self.tray.take();
        }
        let me = usize::from(self.me);
        for _ in 0..self.senders.len() {
            let from = self.senders[self.turn];
            self.turn = if self.turn + 1 == self.senders.len() { 0 } else { self.turn + 1 };
            let next = if from == me { self.tray.take() } else { self.next_of(from) };
            if next.is_some() {
                return next;
            }
        }
        None
    }

    fn has_sent(&mut self) -> bool {
        true
    }
}
