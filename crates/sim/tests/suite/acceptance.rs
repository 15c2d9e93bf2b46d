//! Acceptance tests about EM3D, made of statements of Reinhardt, Pfile and Wood 1998: on 8 nodes of the published 32, each with
//! the published work, and with 3 iterations of 20. `trivium study tempest` has them at the published size, and says which
//! figures are off; only what holds is tested here. A1 to A4 are in `miss.rs`, A6 in `programs.rs`.

use crate::bench::{Run, machine, program};
use crate::slow;
use std::collections::BTreeMap;
use trivium_guest::Program;

/// Cycles of EM3D, by protocol and machine. The custom version keeps the layout of the source, in which a value lies
/// in its graph node's record.
struct Em3d {
    standard: Program,
    custom: Program,
}

impl Em3d {
    fn new() -> Em3d {
        Em3d { standard: program("em3d"), custom: program("em3d-update") }
    }

    fn run(&self, is_custom: bool, name: &str, set: &[(&str, &str)]) -> f64 {
        let args = ["-t", "48000", "-d", "5", "-r", "5", "-i", "3", "-c", "0", "-p", if is_custom { "0" } else { "1" }];
        let run = match is_custom {
            true => Run::with(self.custom.clone(), &args).under(&["stache", "deferred-update"]),
            false => Run::with(self.standard.clone(), &args),
        };
        run.on(machine(name, set)).nodes(8).right().cycles as f64
    }

    fn on_each(&self, is_custom: bool, machines: &[&'static str]) -> BTreeMap<&'static str, f64> {
        machines.iter().map(|name| (*name, self.run(is_custom, name, &[]))).collect()
    }
}

#[test]
fn a7_a8_a9_a11_machines_stand_apart_under_the_standard_protocol_and_close_under_the_custom_one() {
    let em3d = Em3d::new();
    let slow_engines = slow::all_or(&[("typhoon-4x", 1.9), ("typhoon-2x", 1.28)][..], &[("typhoon-4x", 1.9)]);
    let machines: Vec<&str> =
        ["typhoon", "typhoon-1", "typhoon-0"].into_iter().chain(slow_engines.iter().map(|(name, _)| *name)).collect();
    let standard = em3d.on_each(false, &[&["simple-coma"], &machines[..]].concat());
    let custom = em3d.on_each(true, &machines);
    let slower = |of: &BTreeMap<&str, f64>, name| of[name] / of["typhoon"];
    // A7: their order, and a spread that is much smaller.
    let order = ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"].map(|name| standard[name]);
    assert!(order.is_sorted_by(|a, b| a < b), "{standard:?}");
    let spread = |of: &BTreeMap<&str, f64>| slower(of, "typhoon-0") - 1.0;
    assert!(spread(&custom) > 0.0 && spread(&custom) < spread(&standard) / 5.0, "{standard:?} {custom:?}");
    // A8: the worst of six programs is no better than EM3D.
    assert!(slower(&standard, "typhoon-1") <= 2.2 && slower(&standard, "typhoon-0") <= 4.3, "{standard:?}");
    // A9: the gain is large, 86 percent in the source. Ours is more, here over blocks of 64 bytes. The TLB, whose size and price the source does not
    // tell, takes something of the custom version's time, and little of the packed standard version's.
    let gain = standard["typhoon"] / custom["typhoon"];
    assert!(gain > 1.86 && gain < 3.0, "{gain:.2}");
    if slow::is_asked_for() {
        let free = [("tlb.miss", "0")];
        let without_tlb = em3d.run(false, "typhoon", &free) / em3d.run(true, "typhoon", &free);
        assert!(without_tlb > gain, "{gain:.2}, {without_tlb:.2} without a TLB");
    }
    // A11: what a slower protocol processor costs at most under the standard protocol, and that it costs less under the custom one.
    for &(name, most) in slow_engines {
        let (standard, custom) = (slower(&standard, name), slower(&custom, name));
        assert!(standard > 1.0 && standard <= most, "{name}: {standard:.3}, {most} at most");
        // Nobody faults under the custom one, so that a slower engine may even shift events to advantage.
        assert!(custom > 0.99 && custom - 1.0 < (standard - 1.0) / 2.0, "{name}: {custom:.3}, {standard:.3}");
    }
    assert!(standard["typhoon-4x"] < standard["typhoon-1"], "the slowest integrated processor is still ahead");
}

/// A10. The published factors of six programs lie between 5 and 33. Ours is somewhat above, since remote dependencies reach
/// any node and nearly each is a miss of its own (`studies/tempest/study.toml`, A10-2).
#[test]
fn a10_latency_hurts_the_standard_protocol_and_hardly_the_custom_one() {
    let em3d = Em3d::new();
    let over =
        |is_custom, name| em3d.run(is_custom, name, &[("network.latency", "10000")]) / em3d.run(is_custom, name, &[]);
    let standard = over(false, "simple-coma");
    assert!((5.0..43.0).contains(&standard), "{standard:.2}");
    let custom = over(true, "typhoon");
    assert!((0.98..1.1).contains(&custom), "{custom:.3}");
}
