//! Handlers of calls on the compute processor, beside an engine: `[calls]` in a machine's file.

use crate::bench::{Run, file, machine, protocol, same_in, windows};
use std::sync::Arc;
use trivium_sim::{Counters, Machine, SimResult};

/// The same machine with all handlers on its engine.
fn without(name: &str) -> Machine {
    Machine { calls: None, ..machine(name, &[]) }
}

fn programs() -> [Run; 4] {
    [
        Run::of("em3d-update", &["-n", "24", "-i", "3", "-p", "0"]).nodes(5).under(&["stache", "deferred-update"]),
        Run::of("lockbench-token", &["-n", "6"]).nodes(3).under(&["stache", "token-lock"]),
        Run::of("barrierbench-tree", &[]).nodes(4).under(&["stache", "tree-barrier"]),
        Run::of("bodies-update", &["-n", "16", "-i", "2"]).nodes(4).under(&["stache", "update", "migratory"]),
    ]
}

fn sum(result: &SimResult, of: impl Fn(&Counters) -> u64) -> u64 {
    result.per_node.iter().map(of).sum()
}

#[test]
fn handlers_of_calls_take_the_processors_time_and_not_the_engines() {
    for run in programs() {
        for name in ["typhoon", "typhoon-1", "typhoon-0"] {
            let on_engine = run.clone().on(without(name)).right();
            let own = run.clone().on(machine(name, &[])).right();
            assert_eq!(sum(&on_engine, |node| node.handler), 0);
            assert!(sum(&own, |node| node.handler) > 0, "{name}");
            assert!(sum(&own, |node| node.engine_busy) < sum(&on_engine, |node| node.engine_busy), "{name}");
            for result in [&own, &on_engine] {
                let by_handler: u64 = result.handlers.values().map(|occupied| occupied.cycles).sum();
                assert_eq!(by_handler, sum(result, |node| node.engine_busy), "{name}: {:?}", result.handlers);
            }
        }
    }
}

#[test]
fn every_order_of_simulation_gives_the_same() {
    for run in programs() {
        let run = run.on(machine("typhoon-0", &[("network.jitter", "90")]));
        run.right();
        same_in(&run, &windows(&run));
        same_in(&run.clone().jobs(2), &[run.machine.lookahead()]);
    }
}

/// Bulk data in packets take longer, at the sender and at the receiver; the messages and the answer stay what they are.
#[test]
fn bulk_data_in_packets_take_longer() {
    let args = ["-n", "120", "-i", "3", "-r", "60", "-p", "0"];
    let run = Run::of("em3d-update", &args).nodes(3).under(&["stache", "deferred-update"]);
    let with = |words| run.clone().on(machine("typhoon-1", &[("interface.packet_words", words)]));
    let [one, many] = ["4096", "4"].map(|words| with(words).right());
    assert_eq!((&one.output, &one.messages, one.bytes), (&many.output, &many.messages, many.bytes));
    assert!(sum(&many, |node| node.handler) > sum(&one, |node| node.handler));
    assert!(sum(&many, |node| node.engine_busy) > sum(&one, |node| node.engine_busy) && many.cycles > one.cycles);
    let run = with("4");
    same_in(&run, &windows(&run));
    same_in(&run.clone().jobs(2), &[run.machine.lookahead()]);
    for wrong in ["0", "1048577", "-1"] {
        let error = Machine::load("typhoon", &[("interface.packet_words".into(), wrong.into())]).unwrap_err();
        assert!(error.to_string().contains("interface.packet_words"), "{error}");
    }
}

/// The flush that ends the first period gives access to what has been noted: nobody faults after it.
#[test]
fn deferred_update_grants_at_the_flush() {
    let run = Run::of("em3d-update", &["-n", "200", "-i", "4", "-r", "30", "-p", "0"]).nodes(4);
    let result = run.clone().under(&["stache", "deferred-update"]).right();
    assert_eq!(sum(&result, |node| node.read_faults), 0, "iterations 2 to 4");
    assert!(result.messages["deferred-update.Push"] > 0);
    // Where a node lists fewer blocks than that, it faults once for each of the others.
    let three = trivium_lang::compile_file(&file("protocols/deferred-update.tri"), &[("listed".into(), 3)]).unwrap();
    let few = Run { protocols: vec![protocol("stache"), Arc::new(three)], ..run }.right();
    assert!(sum(&few, |node| node.read_faults) > 0);
    assert_eq!(few.output, result.output);
}

/// The engine's slowdown is not that of the processor, which waits for no engine.
#[test]
fn a_call_costs_the_same_beside_a_slow_engine() {
    // On one node a flush sends nothing and waits for nobody.
    let run = Run::of("em3d-update", &["-n", "60", "-i", "3"]).nodes(1).under(&["stache", "deferred-update"]);
    let cycles = |slowdown| run.clone().on(machine("typhoon", &[("engine.slowdown", slowdown)])).right().cycles;
    assert_eq!(cycles("1"), cycles("50"));
    let on_engine = |slowdown: &str| {
        let slow = Machine { calls: None, ..machine("typhoon", &[("engine.slowdown", slowdown)]) };
        run.clone().on(slow).right().cycles
    };
    assert!(on_engine("50") > on_engine("1"));
}

#[test]
fn a_price_of_calls_is_laid_over_that_of_the_engine() {
    let typhoon = machine("typhoon", &[("calls.send.word", "7")]);
    let calls = typhoon.calls.as_ref().unwrap();
    assert_eq!((calls.send.word.cycles, calls.element.cycles), (7, typhoon.prices.element.cycles));
    // A machine without gets one.
    let coma = machine("simple-coma", &[("calls.dispatch.call", "9")]);
    assert_eq!(coma.calls.unwrap().dispatch.call.cycles, 9);
}

#[test]
fn what_is_no_price_of_a_call_is_refused() {
    let set = |key: &str, value: &str| Machine::load("typhoon", &[(key.to_string(), value.to_string())]).unwrap_err();
    for (key, value) in [("calls.sent.word", "5"), ("calls.send.wort", "5"), ("calls.send.word", "-5"), ("calls", "5")]
    {
        let error = set(key, value);
        assert!(error.place().is_some_and(|place| place.to_string().contains(key)), "{error}");
        assert!(error.help.is_some(), "{error}");
    }
    let text = trivium_sim::built_in("typhoon").unwrap();
    let error = Machine::parse(
        "m.toml",
        &text.replace("\nword = { cycles = 20, bus = [\"uncached_store\"] }", "\nwort = 20"),
        &[],
    );
    let error = error.unwrap_err();
    let line = 1 + text.lines().position(|line| line.starts_with("word = { cycles = 20")).unwrap();
    assert!(
        error.message.contains("wort") && error.place().unwrap().to_string().starts_with(&format!("m.toml:{line}:")),
        "{}",
        error.message
    );
}
