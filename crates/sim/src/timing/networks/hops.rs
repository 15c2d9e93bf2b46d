//! A latency that grows with the distance in a topology: a base, and so much for each link on the way. No contention.

use super::Network;
use super::flat::Flat;
use crate::machine::Topology;
use trivium_engine::Node;

pub(super) struct Hops {
    /// The base, and what does not depend on the distance.
    base: Flat,
    per_hop: u64,
    topology: Topology,
    me: u64,
    nodes: u64,
}

impl Hops {
    pub(super) fn new(base: Flat, per_hop: u64, topology: Topology, me: Node, nodes: u32) -> Hops {
        Hops { base, per_hop, topology, me: me.into(), nodes: nodes.into() }
    }
}

impl Network for Hops {
    fn arrival(&mut self, departed: u64, to: Node, has_data: bool) -> u64 {
        let way = self.per_hop * distance(self.topology, self.nodes, self.me, to.into());
        self.base.arrival(departed, to, has_data) + way
    }
}

/// Links on the shortest way between two of so many nodes; those of a mesh lie row by row in a square, or nearly so.
fn distance(topology: Topology, nodes: u64, from: u64, to: u64) -> u64 {
    match topology {
        Topology::Hypercube => u64::from((from ^ to).count_ones()),
        Topology::Ring => {
            let one_way = from.abs_diff(to);
            one_way.min(nodes.max(one_way) - one_way)
        }
        Topology::Mesh => {
            let side = nodes.isqrt();
            let width = if side * side < nodes { side + 1 } else { side.max(1) };
            (from % width).abs_diff(to % width) + (from / width).abs_diff(to / width)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_topology() {
        let all =
            |topology, nodes: u64, from| (0..nodes).map(|to| distance(topology, nodes, from, to)).collect::<Vec<_>>();
        assert_eq!(all(Topology::Hypercube, 8, 0), [0, 1, 1, 2, 1, 2, 2, 3]);
        assert_eq!(all(Topology::Hypercube, 6, 5), [2, 1, 3, 2, 1, 0]);
        assert_eq!(all(Topology::Ring, 5, 1), [1, 0, 1, 2, 2]);
        assert_eq!(all(Topology::Ring, 2, 1), [1, 0]);
        assert_eq!(all(Topology::Mesh, 9, 4), [2, 1, 2, 1, 0, 1, 2, 1, 2]);
        // Two full rows of three, and one node below.
        assert_eq!(all(Topology::Mesh, 7, 0), [0, 1, 2, 1, 2, 3, 2]);
        assert_eq!(all(Topology::Mesh, 1, 0), [0]);
        for topology in [Topology::Hypercube, Topology::Ring, Topology::Mesh] {
            for (from, to) in (0..13).flat_map(|from| (0..13).map(move |to| (from, to))) {
                let way = distance(topology, 13, from, to);
                assert_eq!(way, distance(topology, 13, to, from));
                assert_eq!(way == 0, from == to);
            }
        }
    }
}
