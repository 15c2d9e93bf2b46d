//! The model that a study's live part tests: a time is the program's computing and hits, and counts of misses and gets times what each kind of them costs.

use serde::Serialize;
use std::collections::BTreeMap;
use trivium_sim::{AccessOf, NodeAccesses};

/// Mean times of single accesses in nanoseconds, by what the program of units calls them.
pub type Units = BTreeMap<String, f64>;

/// A time of the model, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Modelled {
    /// Each miss costs what its kind costs.
    pub by_kind_ms: f64,
    /// Each miss is a round trip, whatever its kind.
    pub round_trips_ms: f64,
}

/// The region of interest of a program, as far as the model knows it.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// What it takes on one node, where each access is a hit, in milliseconds: computing and hits, which are divided among the nodes.
    pub alone_ms: f64,
    /// What an empty region takes on all nodes, in milliseconds.
    pub empty_ms: f64,
    /// Nodes.
    pub nodes: u32,
}

/// Counts times unit costs, of the node for which that is most.
pub fn modelled(accesses: &[NodeAccesses], units: &Units, region: Region) -> Modelled {
    let begin = region.empty_ms + region.alone_ms / f64::from(region.nodes);
    let most = |cost: &dyn Fn(&NodeAccesses) -> f64| begin + accesses.iter().map(cost).fold(0.0, f64::max) / 1e6;
    let round_trips = |node: &NodeAccesses| {
        let misses: u64 = node.accesses.iter().map(|access| access.misses).sum();
        misses as f64 * unit(units, "read")
    };
    let by_kind = |node: &NodeAccesses| {
        let mut new = node.entries;
        let mut cost = |access: &AccessOf| {
            let first = if is_fetch(access) { access.misses.min(new) } else { 0 };
            new -= first;
            more_than_local(access, first, units)
        };
        node.accesses.iter().map(&mut cost).sum()
    };
    Modelled { by_kind_ms: most(&by_kind), round_trips_ms: most(&round_trips) }
}

/// A miss of which brings a block of another node.
fn is_fetch(access: &AccessOf) -> bool {
    !access.at_home && ["read", "get"].contains(&access.kind.as_str())
}

/// How many blocks a node fetches for the first time, at most, where that is most: each of them gets an entry there. So does a block of its own that another
/// node asks for; then it may have fetched fewer.
pub fn new_of_one(accesses: &[NodeAccesses]) -> u64 {
    let fetched = |node: &NodeAccesses| node.accesses.iter().filter(|one| is_fetch(one)).map(|one| one.misses).sum();
    let of_node = |node: &NodeAccesses| node.entries.min(fetched(node));
    accesses.iter().map(of_node).max().unwrap_or(0)
}

/// What accesses of one kind cost beyond what they cost on one node, the `first` of their misses being of blocks that the node never had: there each of them
/// hits at its home. A load or store that hits costs a nanosecond or two; a get that hits is a call of the protocol.
fn more_than_local(access: &AccessOf, first: u64, units: &Units) -> f64 {
    let (hits, misses, first) = (access.hits as f64, access.misses as f64, first as f64);
    let unit = |name: &str| unit(units, name);
    match (access.kind.as_str(), access.at_home) {
        // Another node has the block, and gives it back.
        ("read", true) => misses * unit("read lent"),
        ("read", false) => first * unit("read new") + (misses - first) * unit("read"),
        ("get", true) => misses * (unit("get lent") - unit("get home")),
        ("get", false) => {
            first * unit("get new") + (misses - first) * unit("get") + hits * unit("get hit")
                - (hits + misses) * unit("get home")
        }
        (_, true) => misses * unit("upgrade"),
        (_, false) => misses * unit("write"),
    }
}

fn unit(units: &Units, name: &str) -> f64 {
    units.get(name).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(kind: &str, at_home: bool, hits: u64, misses: u64) -> AccessOf {
        let name = String::new;
        AccessOf {
            protocol: name(),
            role: name(),
            state: name(),
            kind: kind.into(),
            at_home,
            is_first: false,
            hits,
            misses,
        }
    }

    #[test]
    fn the_model_is_counts_times_units_of_the_busiest_node() {
        let units = [
            ("read new", 2e3),
            ("read", 1e3),
            ("read lent", 4e3),
            ("write", 3e3),
            ("upgrade", 5e3),
            ("get home", 5e2),
            ("get hit", 6e2),
            ("get new", 7e3),
            ("get", 6e3),
            ("get lent", 8e3),
        ];
        let units = units.map(|(name, time)| (name.to_string(), time)).into();
        let busy = |entries| NodeAccesses {
            node: 1,
            entries,
            accesses: vec![
                counted("read", false, 1_000_000, 10),
                counted("read", true, 0, 20),
                counted("write", false, 0, 10),
                counted("write", true, 9, 100),
                counted("get", false, 10_000, 1000),
                counted("get", true, 10_000, 2000),
            ],
        };
        let idle = NodeAccesses { node: 0, entries: 0, accesses: Vec::new() };
        let region = Region { alone_ms: 8.0, empty_ms: 0.25, nodes: 2 };
        let same = 4.25 + 20.0 * 0.004 + 10.0 * 0.003 + 100.0 * 0.005 + 10_000.0 * 0.0001 + 2000.0 * 0.0075;
        // Of its 1010 remote misses none, 4 and 1000 are of blocks that it never had.
        for (entries, new, reads, gets) in [(0, 0, 10.0, 5500.0), (8, 8, 18.0, 5500.0), (2000, 1010, 20.0, 6500.0)] {
            let accesses = [idle.clone(), busy(entries)];
            assert_eq!(new_of_one(&accesses), new);
            let model = modelled(&accesses, &units, region);
            assert!((model.by_kind_ms - (same + (reads + gets) / 1e3)).abs() < 1e-9, "{entries}: {model:?}");
            assert!((model.round_trips_ms - (4.25 + 3140.0 / 1e3)).abs() < 1e-9, "{model:?}");
        }
    }
}
