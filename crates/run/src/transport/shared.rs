//! Nodes that share a thread, over a transport whose ends are threads: all that the nodes of one thread have for those of another takes one way, in one
//! order. In a thread each node has a tray, into which packets are laid as they are.

use super::{Handed, Parcel, Transport};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use trivium_engine::Node;
use trivium_engine::number::fit;

/// So many packets from other threads are sorted at once at most.
const SORTED: usize = 64;
/// Bytes behind a packet between threads: who has sent it, and to whom.
const ADDRESS: usize = 4;

/// The thread of a node, where so many threads carry so many nodes: neighbours share one, since they often have the most to tell each other.
pub(crate) fn thread_of(node: usize, nodes: usize, threads: usize) -> usize {
    node * threads / nodes.max(1)
}

/// What the nodes of a thread have in common.
struct Common {
    /// Each node's thread.
    threads: Vec<Node>,
    /// The thread's way to others.
    way: Box<dyn Transport>,
    /// Each node's packets, by its number. Those of nodes of other threads stay empty.
    trays: Vec<VecDeque<(Node, Parcel)>>,
}

/// One node's end.
pub(crate) struct Shared {
    me: Node,
    /// The nodes of this thread.
    beside: Range<u32>,
    common: Rc<RefCell<Common>>,
}

/// The ends of those of so many nodes that a thread carries whose own way to other threads this is.
pub(crate) fn share(way: Box<dyn Transport>, nodes: u32) -> Vec<Shared> {
    let (count, me) = (nodes as usize, way.me());
    let threads = (0..count).map(|node| fit(thread_of(node, count, way.nodes() as usize), "a thread"));
    let threads: Vec<Node> = threads.collect();
    let own = threads.partition_point(|&thread| thread < me)..threads.partition_point(|&thread| thread <= me);
    let beside: Range<u32> = fit(own.start, "a node")..fit(own.end, "a node");
    let common = Common { threads, way, trays: (0..count).map(|_| VecDeque::new()).collect() };
    let common = Rc::new(RefCell::new(common));
    own.map(|node| Shared { me: fit(node, "a node"), beside: beside.clone(), common: common.clone() }).collect()
}

impl Common {
    /// Lays packets from other threads into the trays.
    #[inline]
    fn sort(&mut self) {
        for _ in 0..SORTED {
            let Some((_, mut packet)) = self.way.poll() else { break };
            let Some(&[a, b, c, d]) = packet.last_chunk::<ADDRESS>() else { continue };
            packet.truncate(packet.len() - ADDRESS);
            if let Some(tray) = self.trays.get_mut(usize::from(Node::from_le_bytes([c, d]))) {
                tray.push_back((Node::from_le_bytes([a, b]), Parcel::Packet(packet)));
            }
        }
    }
}

impl Transport for Shared {
    fn name(&self) -> &'static str {
        self.common.borrow().way.name()
    }

    fn me(&self) -> Node {
        self.me
    }

    fn nodes(&self) -> u32 {
        fit(self.common.borrow().trays.len(), "a number of nodes")
    }

    fn is_crowded(&self) -> bool {
        self.common.borrow().way.is_crowded()
    }

    fn send(&mut self, to: Node, mut packet: Vec<u8>) {
        let common = &mut *self.common.borrow_mut();
        if self.beside.contains(&to.into()) {
            return common.trays[usize::from(to)].push_back((self.me, Parcel::Packet(packet)));
        }
        let ([a, b], [c, d]) = (self.me.to_le_bytes(), to.to_le_bytes());
        packet.extend_from_slice(&[a, b, c, d]);
        common.way.send(common.threads[usize::from(to)], packet);
    }

    fn poll(&mut self) -> Option<(Node, Vec<u8>)> {
        loop {
            if let (from, Parcel::Packet(packet)) = self.poll_all()? {
                return Some((from, packet));
            }
        }
    }

    fn beside(&self) -> Range<u32> {
        self.beside.clone()
    }

    fn hand(&mut self, to: Node, message: Handed) {
        if self.beside.contains(&to.into()) {
            self.common.borrow_mut().trays[usize::from(to)].push_back((self.me, Parcel::Message(message)));
        }
    }

    fn poll_all(&mut self) -> Option<(Node, Parcel)> {
        let common = &mut *self.common.borrow_mut();
        let me = usize::from(self.me);
        if let Some(parcel) = common.trays[me].pop_front() {
            return Some(parcel);
        }
        common.sort();
        common.trays[me].pop_front()
    }

    fn has_sent(&mut self) -> bool {
        self.common.borrow_mut().way.has_sent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::spare::Spare;
    use crate::transport::threads::join;
    use trivium_engine::Object;
    use trivium_protocol::{BLOCK, EventKind};

    #[test]
    fn what_is_handed_over_keeps_its_place_among_packets() {
        let mut ways = join(2).into_iter();
        let mut own = share(Box::new(ways.next().unwrap()), 4);
        let mut others = share(Box::new(ways.next().unwrap()), 4);
        assert_eq!((own[0].beside(), others[0].beside()), (0..2, 2..4));
        let message = |id| Handed(Spare::default().arrival(0, EventKind::Read, Object { kind: BLOCK, id }, 0));
        own[0].send(1, vec![1]);
        own[0].hand(1, message(2));
        own[0].send(1, vec![3]);
        // Nothing is handed to another thread.
        own[0].hand(2, message(4));
        let came = std::iter::from_fn(|| own[1].poll_all()).map(|(from, parcel)| match parcel {
            Parcel::Packet(packet) => (from, u32::from(packet[0])),
            Parcel::Message(Handed(message)) => (from, message.event.object.id),
        });
        assert_eq!(came.collect::<Vec<_>>(), [(0, 1), (0, 2), (0, 3)]);
        assert!(others[0].poll_all().is_none());
        // Who only takes packets passes over it.
        own[0].hand(1, message(5));
        own[0].send(1, vec![6]);
        assert_eq!((own[1].poll(), own[1].poll()), (Some((0, vec![6])), None));
    }
}
