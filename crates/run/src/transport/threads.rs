//! Nodes that are threads of one process.
//!
//! The queues are the standard library's channels. Who waits looks into its queue again and again (`node/waiting.rs`), so that nobody has to be woken:
//! there is no synchronisation here that a model checker of threads could look at beside the library's own.

use super::Transport;
use std::sync::mpsc::{Receiver, Sender, channel};
use trivium_engine::Node;
use trivium_engine::number::fit;

/// One node's end: an unbounded queue to each node, and its own.
pub struct Threads {
    me: Node,
    to: Vec<Sender<(Node, Vec<u8>)>>,
    from: Receiver<(Node, Vec<u8>)>,
}

/// The ends of so many nodes, each for a thread of its own.
pub fn join(nodes: u32) -> Vec<Threads> {
    let (to, from): (Vec<_>, Vec<_>) = (0..nodes).map(|_| channel()).unzip();
    let end = |(me, from)| Threads { me: fit(me, "a node"), to: to.clone(), from };
    from.into_iter().enumerate().map(end).collect()
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

    fn neighbours(&self) -> u32 {
        self.nodes()
    }

    fn send(&mut self, to: Node, packet: Vec<u8>) {
        // The other has left.
        let _ = self.to[usize::from(to)].send((self.me, packet));
    }

    fn poll(&mut self) -> Option<(Node, Vec<u8>)> {
        self.from.try_recv().ok()
    }

    fn has_sent(&mut self) -> bool {
        true
    }
}
