//! LIFE by the M-Machine's messages (`programs/mm-life.c`): right on every shape of torus, and as slow as latency and occupancy make it.

use crate::harness::trivium;
use crate::slow;

/// Simulates LIFE on the M-Machine; what it prints.
fn life(nodes: u32, sides: (u32, u32), generations: u32, set: &[&str]) -> String {
    let (nodes, x, y) = (nodes.to_string(), sides.0.to_string(), sides.1.to_string());
    let generations = generations.to_string();
    let mut args = vec!["sim", "mm-life", "-p", "stache", "-p", "mm", "-m", "m-machine", "-n", &nodes];
    set.iter().for_each(|set| args.extend(["--set", set]));
    args.extend(["--format", "json", "--", "-x", &x, "-y", &y, "-g", &generations, "-r", "2"]);
    trivium(&args).json(0)["output"].as_str().unwrap().to_string()
}

/// Cycles of a generation of 64 cells on so many nodes, with so many bounce buffers that no node waits for one.
fn generation(nodes: u32, side: u32, set: &[&str]) -> f64 {
    let told = life(nodes, (side, side), 16, &[&["protocol.buffers=128"], set].concat());
    let (_, cycles) = told.split_once("a generation: ").unwrap();
    cycles.split(' ').next().unwrap().parse().unwrap()
}

/// Nodes, and cells along a side of each.
const SHARES: [(u32, u32); 3] = [(4, 4), (16, 2), (64, 1)];

/// Beyond the slack each cycle of latency is a cycle of each generation (M-Machine 1999; our specification 6.5), and each cycle of SEND is as many as it
/// has messages, 4 (1 + sqrt n).
#[test]
fn latency_and_occupancy_cost_what_the_model_says() {
    for (nodes, side) in SHARES {
        let at = |latency: u32| generation(nodes, side, &[&format!("machine.network.latency={latency}")]);
        let slope = (at(401) - at(101)) / 300.0;
        assert!((slope - 1.0).abs() <= 0.05, "{nodes} nodes: {slope} cycles a generation for each cycle of latency");
        let sends = |cycles: u32| {
            let of = |key: &str| format!("machine.slots.inject.{key}.fixed={cycles}");
            generation(nodes, side, &[&of("latency"), &of("hold"), &of("occupancy")])
        };
        let slope = (sends(105) - sends(55)) / 50.0;
        let messages = f64::from(4 * (1 + side));
        assert!((slope / messages - 1.0).abs() <= 0.05, "{nodes} nodes: {slope} cycles for each of SEND");
    }
}

/// Rectangles of nodes and of cells, messages that are late and overtake each other (a node that does not wait for them is found out), and nodes that wait for their one bounce buffer.
#[test]
fn it_is_right_on_every_torus() {
    for (nodes, sides) in [(1, (1, 1)), (2, (1, 1)), (2, (8, 1)), (3, (2, 3)), (4, (1, 1)), (12, (3, 1)), (64, (1, 1))]
    {
        for set in [
            &["protocol.buffers=1"][..],
            &["machine.network.latency=300", "machine.network.jitter=60", "protocol.buffers=32"],
        ] {
            let told = life(nodes, sides, 8, set);
            let cells = nodes * sides.0 * sides.1;
            assert!(told.starts_with(&format!("mm-life: ok, {cells} cells")), "{nodes} nodes: {told}");
        }
    }
}

#[test]
#[ignore = "half a minute"]
fn it_is_right_on_a_thousand_nodes() {
    for side in slow::all_or(&[1, 3, 8][..], &[1]) {
        let told = life(1024, (*side, *side), 4, &[]);
        assert!(told.starts_with("mm-life: ok"), "{told}");
    }
}
