//! Which links lead from one node to another.

use crate::machine::network::Topology;

/// The shortest way between two of so many nodes, always the same one: a mesh's along a row first, a hypercube's by the lowest digit
/// first. The routers of a mesh are a whole rectangle, and those of a hypercube a power of two, whether each has a node or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    topology: Topology,
    nodes: u64,
}

impl Ways {
    pub(super) fn new(topology: Topology, nodes: u32) -> Ways {
        Ways { topology, nodes: nodes.into() }
    }

    /// Links on the way.
    pub(super) fn distance(self, from: u64, to: u64) -> u64 {
        match self.topology {
            Topology::Hypercube => u64::from((from ^ to).count_ones()),
            Topology::Ring => {
                let one_way = from.abs_diff(to);
                one_way.min(self.nodes.max(one_way) - one_way)
            }
            Topology::Mesh => {
                let width = self.width();
                (from % width).abs_diff(to % width) + (from / width).abs_diff(to / width)
            }
        }
    }

    /// The first link of the way from a router to another one: its number among those of all routers, and where it leads.
    pub(super) fn next(self, from: u64, to: u64) -> (u64, u64) {
        let (direction, next) = match self.topology {
            Topology::Hypercube => {
                let digit = u64::from((from ^ to).trailing_zeros());
                (digit, from ^ 1 << digit)
            }
            Topology::Ring => {
                let ahead = if to > from { to - from } else { to + self.nodes - from };
                if 2 * ahead <= self.nodes {
                    (0, (from + 1) % self.nodes)
                } else {
                    (1, (from + self.nodes - 1) % self.nodes)
                }
            }
            Topology::Mesh => {
                let width = self.width();
                let (column, row) = (from % width, from / width);
                if column < to % width {
                    (0, from + 1)
                } else if column > to % width {
                    (1, from - 1)
                } else if row < to / width {
                    (2, from + width)
                } else {
                    (3, from - width)
                }
            }
        };
        (from * self.directions() + direction, next)
    }

    /// How many links there are, each in one direction.
    pub(super) fn links(self) -> u64 {
        let routers = match self.topology {
            Topology::Hypercube => self.nodes.next_power_of_two(),
            Topology::Ring => self.nodes,
            Topology::Mesh => self.width() * self.nodes.div_ceil(self.width()),
        };
        routers * self.directions()
    }

    fn directions(self) -> u64 {
        match self.topology {
            Topology::Hypercube => u64::from(self.nodes.next_power_of_two().trailing_zeros()),
            Topology::Ring => 2,
            Topology::Mesh => 4,
        }
    }

    /// Routers in a row of a mesh.
    fn width(self) -> u64 {
        let side = self.nodes.isqrt();
        if side * side < self.nodes { side + 1 } else { side.max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const TOPOLOGIES: [Topology; 3] = [Topology::Hypercube, Topology::Ring, Topology::Mesh];

    #[test]
    fn distances_are_those_of_the_topology() {
        let all = |topology, nodes: u32, from| {
            (0..nodes).map(|to| Ways::new(topology, nodes).distance(from, to.into())).collect::<Vec<_>>()
        };
        assert_eq!(all(Topology::Hypercube, 8, 0), [0, 1, 1, 2, 1, 2, 2, 3]);
        assert_eq!(all(Topology::Hypercube, 6, 5), [2, 1, 3, 2, 1, 0]);
        assert_eq!(all(Topology::Ring, 5, 1), [1, 0, 1, 2, 2]);
        assert_eq!(all(Topology::Ring, 2, 1), [1, 0]);
        assert_eq!(all(Topology::Mesh, 9, 4), [2, 1, 2, 1, 0, 1, 2, 1, 2]);
        // Two full rows of three, and one node below.
        assert_eq!(all(Topology::Mesh, 7, 0), [0, 1, 2, 1, 2, 3, 2]);
        assert_eq!(all(Topology::Mesh, 1, 0), [0]);
        for ways in TOPOLOGIES.map(|topology| Ways::new(topology, 13)) {
            for (from, to) in (0..13).flat_map(|from| (0..13).map(move |to| (from, to))) {
                assert_eq!(ways.distance(from, to), ways.distance(to, from));
                assert_eq!(ways.distance(from, to) == 0, from == to);
            }
        }
    }

    #[test]
    fn a_way_has_as_many_links_as_the_distance_and_a_link_has_two_ends() {
        for (topology, nodes) in TOPOLOGIES.into_iter().flat_map(|topology| (1..18).map(move |nodes| (topology, nodes)))
        {
            let ways = Ways::new(topology, nodes);
            let mut ends = BTreeMap::new();
            for (from, to) in (0..u64::from(nodes)).flat_map(|from| (0..u64::from(nodes)).map(move |to| (from, to))) {
                let (mut at, mut count) = (from, 0);
                while at != to {
                    let (link, next) = ways.next(at, to);
                    assert_eq!(ways.distance(at, next), 1, "{topology:?}, {nodes} nodes: {at} to {next}");
                    assert!(link < ways.links());
                    assert_eq!(*ends.entry(link).or_insert((at, next)), (at, next), "{topology:?}, {nodes} nodes");
                    (at, count) = (next, count + 1);
                }
                assert_eq!(count, ways.distance(from, to), "{topology:?}, {nodes} nodes: {from} to {to}");
            }
        }
    }
}
