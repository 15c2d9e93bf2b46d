//! Nodes that are ranks of a job of MPI.

use super::Transport;
use trivium_engine::Node;
use trivium_engine::number::fit;
use trivium_mpi::Mail;

impl Transport for Mail {
    fn name(&self) -> &'static str {
        "mpi"
    }

    fn me(&self) -> Node {
        fit(self.rank(), "a node")
    }

    fn nodes(&self) -> u32 {
        fit(self.size(), "a number of nodes")
    }

    fn is_crowded(&self) -> bool {
        Mail::is_crowded(self)
    }

    fn send(&mut self, to: Node, packet: Vec<u8>) {
        Mail::send(self, to.into(), packet);
    }

    fn poll(&mut self) -> Option<(Node, Vec<u8>)> {
        self.take().map(|(from, packet)| (fit(from, "a node"), packet))
    }

    fn has_sent(&mut self) -> bool {
        Mail::has_sent(self)
    }
}
