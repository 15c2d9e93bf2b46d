//! Nodes with little memory for pages of other homes: pages are given up, programs stay right.

use crate::bench::{Run, machine};
use crate::slow;
use trivium_sim::{Machine, SimResult};

fn small(frames: u64) -> Machine {
    machine("typhoon", &[("memory.frames", &frames.to_string())])
}

fn replaced(result: &SimResult) -> u64 {
    result.per_node.iter().map(|node| node.pages_replaced).sum()
}

/// Programs whose nodes use several pages of others.
fn programs() -> Vec<Run> {
    [
        Run::of("em3d", &["-n", "300", "-i", "2"]).nodes(4),
        Run::of("matmul", &["-n", "24", "-b", "4"]).nodes(4),
        Run::of("litmus", &["-n", "4"]).nodes(3),
        Run::of("lockbench", &["-n", "10"]).nodes(4),
        Run::of("scatter", &["-n", "20"]).nodes(3),
    ]
    .map(|run| match run.program.name() {
        "scatter" => run.under(&["stache-pages", "remote-write"]),
        _ => run.under(&["stache-pages"]),
    })
    .into()
}

#[test]
fn programs_are_right_with_few_pages() {
    let mut all = [0; 3];
    for run in programs() {
        for (at, frames) in [1, 2, 5].into_iter().enumerate() {
            all[at] += replaced(&run.clone().on(small(frames)).right());
        }
    }
    assert!(all[0] > all[1] && all[1] > all[2] && all[2] > 0, "{all:?}");
}

#[test]
fn they_are_right_on_other_machines_and_with_other_blocks() {
    let machines = ["simple-coma", "typhoon-1", "typhoon-0", "typhoon-0-prototype"];
    for (number, name) in machines.into_iter().enumerate() {
        let few = machine(name, &[("memory.frames", "1"), ("network.jitter", "150")]);
        for &block in slow::all_or(&[32, 512][..], &[32]) {
            for run in slow::in_turn(2, number, programs()) {
                run.block(block).on(few.clone()).right();
            }
        }
    }
}

/// Room for everything: nothing is given up, and nothing costs more.
#[test]
fn with_room_for_all_nothing_changes() {
    for run in programs() {
        let wide = run.clone().right();
        let few = run.on(small(1000)).right();
        assert_eq!(wide.per_node, few.per_node);
        assert_eq!(replaced(&few), 0);
    }
}

#[test]
fn a_protocol_that_keeps_everything_ends_with_an_error() {
    let error = Run::of("em3d", &["-n", "300"]).nodes(4).on(small(1)).error();
    assert!(error.diagnostic.message.contains("has no frame for page"), "{error}");
    assert!(error.diagnostic.notes.iter().any(|note| note.contains("protocol `stache`")), "{error}");
    assert!(error.diagnostic.help.as_deref().unwrap_or_default().contains("stache-pages"), "{error}");
}

/// The only copy is thrown away, and nobody has it any more.
#[test]
fn what_is_given_up_without_a_word_is_lost() {
    let run = Run::of("lockbench", &["-n", "10"]).nodes(4).on(small(1));
    run.clone().under(&["stache-pages"]).right();
    run.under(&["broken/stache-pages-forgotten"]).error();
}
