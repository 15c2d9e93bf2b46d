//! Handlers on the compute processor: `engine.kind = "compute"`.

use crate::bench::{Run, machine, protocol, same_in, windows};
use trivium_sim::{Machine, MissKind, SimResult, measure};

const SWITCH: [(&str, &str); 3] = [("engine.kind", "compute"), ("engine.save", "40"), ("engine.restore", "30")];

fn compute(name: &str, more: &[(&str, &str)]) -> Machine {
    machine(name, &[&SWITCH, more].concat())
}

fn programs() -> [Run; 4] {
    [
        Run::of("em3d", &["-n", "24", "-i", "2"]).nodes(5),
        Run::of("matmul", &["-n", "16", "-b", "4"]).nodes(4).under(&["msi"]),
        Run::of("lockbench-token", &["-n", "6"]).nodes(3).under(&["stache", "token-lock"]),
        Run::of("barrierbench-tree", &[]).nodes(4).under(&["stache", "tree-barrier"]),
    ]
}

/// The parts of time of all nodes are their cycles; what they spent in handlers.
fn handled(result: &SimResult) -> u64 {
    let parts = |node: &trivium_sim::Counters| {
        node.compute + node.read_stall + node.write_stall + node.tlb_stall + node.sync_stall + node.handler
    };
    assert!(result.per_node.iter().all(|node| parts(node) == node.cycles), "{:?}", result.per_node);
    result.per_node.iter().map(|node| node.handler).sum()
}

#[test]
fn handlers_take_the_processors_time_and_are_counted() {
    for run in programs() {
        let apart = run.clone().on(Machine { calls: None, ..machine("typhoon-0", &[]) }).right();
        assert_eq!(handled(&apart), 0, "they run elsewhere");
        let own = run.clone().on(compute("typhoon-0", &[])).right();
        let busy: u64 = own.per_node.iter().map(|node| node.engine_busy).sum();
        let handled = handled(&own);
        assert!(handled > 0 && handled <= busy, "{handled} of {busy}");
        assert!(apart.per_node.iter().all(|node| node.engine_busy > 0), "{:?}", apart.per_node);
    }
}

#[test]
fn registers_are_saved_where_a_program_is_interrupted() {
    // One node computes while the others read what is its own.
    let run = Run::of("em3d", &["-n", "24", "-i", "2"]).nodes(5);
    let cheap = run.clone().on(machine("typhoon", &[("engine.kind", "compute")])).right();
    let dear = run.on(compute("typhoon", &[("engine.save", "4000")])).right();
    assert!(dear.cycles > cheap.cycles + 4000, "{} {}", dear.cycles, cheap.cycles);
}

#[test]
fn every_order_of_simulation_gives_the_same() {
    for name in ["simple-coma", "typhoon", "typhoon-0"] {
        for run in programs() {
            let run = run.on(compute(name, &[("network.jitter", "90")]));
            run.right();
            same_in(&run, &windows(&run));
            same_in(&run.clone().jobs(2), &[run.machine.lookahead()]);
        }
    }
}

/// On a quiet machine every processor waits, so a miss costs what it does where the engine has a processor of its own, but
/// for what a handler still does after it has let its processor go on.
#[test]
fn a_miss_is_the_sum_of_its_steps() {
    for name in ["typhoon", "typhoon-1", "typhoon-0"] {
        for kind in [MissKind::Read, MissKind::Write, MissKind::Upgrade] {
            let apart = measure(protocol("stache"), &machine(name, &[]), kind, 32).unwrap();
            let own = measure(protocol("stache"), &compute(name, &[]), kind, 32).unwrap();
            assert_eq!(own.steps.iter().map(|step| step.cycles).sum::<u64>(), own.total, "{name} {kind:?}");
            assert!(own.total >= apart.total, "{name} {kind:?}: {} {}", own.total, apart.total);
        }
    }
}

#[test]
fn only_an_interrupted_program_has_registers_to_save() {
    let set = [("engine.save".to_string(), "5".to_string())];
    let error = Machine::load("typhoon", &set).unwrap_err();
    assert!(error.message.contains("`engine.save` is 5") && error.message.contains("compute"), "{error}");
    assert!(error.help.is_some() && error.place().is_some(), "{error}");
}
