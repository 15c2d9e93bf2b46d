//! Shipped protocols with random mistakes, under programs: no simulation panics or hangs, and whatever comes of it, a
//! result or an error, is the same in every order in which nodes are simulated.

use crate::bench::{Run, machine, protocol, same_in, text_program};
use crate::mutant::{self, config, mutant, protocols, slip};
use crate::random;
use crate::slow;
use proptest::prelude::*;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use trivium_protocol::Protocol;

const MACHINES: [&str; 4] = ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"];
/// Cycles after which a program that gets nowhere is left.
const MOST: u64 = 300_000;

/// A program that uses a protocol of this name or one made from it, and the protocols beside it.
fn user(name: &str, seed: u64) -> (Run, Vec<Arc<Protocol>>) {
    let with = |name: &str, args: &[&str], beside: &[&str]| {
        (Run::of(name, args), beside.iter().map(|name| protocol(name)).collect())
    };
    let about = |part: &str| name.contains(part);
    match name {
        _ if about("token-lock") => with("lockbench-token", &["-n", "3"], &["stache"]),
        _ if about("tree-barrier") => with("barrierbench-tree", &["-n", "2"], &["stache"]),
        _ if about("remote-write") => with("scatter", &["-n", "5"], &["msi"]),
        _ if about("deferred-update") => with("em3d-update", &["-n", "12"], &["msi"]),
        "update" => with("bodies-update", &["-n", "8"], &["stache", "migratory"]),
        "migratory" => with("bodies-update", &["-n", "8"], &["stache", "update"]),
        _ if seed.is_multiple_of(3) => with("litmus", &["-n", "2"], &[]),
        _ => (Run::with(text_program(&random::program(seed, false)), &[]), Vec::new()),
    }
}

fn simulated(protocol: Protocol, name: &str, seed: u64, nodes: u32) -> String {
    let (mut run, mut protocols) = user(name, seed);
    protocols.push(Arc::new(protocol));
    run.protocols = protocols;
    let run = run.on(machine(MACHINES[(seed % 4) as usize], &[])).nodes(nodes).seed(seed).max_cycles(MOST);
    let window = run.machine.lookahead();
    same_in(&run.clone().jobs(2), &[window]);
    same_in(&run, &[7, window])
}

proptest! {
    #![proptest_config(config(slow::all_or(100, 25)))]

    #[test]
    fn protocols_with_mistakes_are_simulated(
        which in any::<prop::sample::Index>(),
        slips in prop::collection::vec(slip(), 1..12),
        seed: u64,
        nodes in 1u32..5,
    ) {
        let all = protocols();
        let (path, source) = which.get(&all);
        let name = path.file_stem().unwrap().to_string_lossy();
        if let Some((_, text)) = mutant(path, source, &slips) {
            let protocol = mutant::compiled(path, &text, &[]).unwrap_or_else(|error| panic!("{error}"));
            let result = std::panic::catch_unwind(AssertUnwindSafe(|| simulated(protocol, &name, seed, nodes)));
            prop_assert!(result.is_ok(), "{text}");
            prop_assert!(!result.unwrap().is_empty());
        }
    }
}
