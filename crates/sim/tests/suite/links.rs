//! Links that messages share: who waits for whom, that nobody waits who is alone, and that results are the same in every window.

use crate::bench::{Run, machine, same_in, text_program, windows};
use crate::slow;
use trivium_sim::Machine;

/// Machines whose nodes are linked so; a word keeps a link for so many cycles.
fn linked(name: &str, topology: &str, word: Option<u64>, more: &[(&str, &str)]) -> Machine {
    let word = word.map(|word| word.to_string());
    let mut set = vec![("network.latency", "20"), ("network.topology", topology), ("network.per_hop", "9")];
    set.extend(word.iter().map(|word| ("network.link_cycles_per_word", word.as_str())));
    machine(name, &[&set, more].concat())
}

/// A program whose nodes from `first` on load a word of another line each, all at home at node 0, at the same time.
fn loads(first: u32) -> Run {
    let text = format!(
        r#"(module
            (import "trivium" "alloc" (func $alloc (param i64 i32 i32 i32) (result i32)))
            (import "trivium" "node" (func $node (result i32)))
            (import "trivium" "barrier" (func $barrier))
            (memory 1)
            (func (export "_start") (local $shared i32)
                (local.set $shared (call $alloc (i64.const 4096) (i32.const 0) (i32.const 0) (i32.const 0)))
                (call $barrier)
                (if (i32.ge_u (call $node) (i32.const {first})) (then
                    (drop (i32.load (i32.add (local.get $shared) (i32.mul (call $node) (i32.const 64)))))))))"#
    );
    Run::with(text_program(&text), &[]).block(64)
}

#[test]
fn who_is_alone_waits_for_nobody() {
    for (topology, word) in [("ring", 1), ("mesh", 50), ("hypercube", 7)] {
        let run = |word| loads(3).nodes(4).on(linked("typhoon", topology, word, &[])).right();
        let (free, shared) = (run(None), run(Some(word)));
        assert_eq!((shared.cycles, &shared.per_node), (free.cycles, &free.per_node), "{topology}");
        assert_eq!((free.link_wait.is_empty(), shared.link_wait), (true, vec![0; 4]), "{topology}");
    }
}

/// In a ring of five, the questions of nodes 3 and 4 come to node 0 over one link, and its answers go over one; those of node 2 go the other way.
#[test]
fn two_on_one_way_wait_for_each_other() {
    let run = |word| loads(2).nodes(5).on(linked("typhoon", "ring", word, &[])).right();
    let (free, shared) = (run(None), run(Some(100)));
    let waits = &shared.link_wait;
    assert!(waits[0] > 0 && waits[2] == 0, "{waits:?}");
    let stalls = |node: usize| [&free, &shared].map(|result| result.per_node[node].read_stall);
    assert!(stalls(3)[0] < stalls(3)[1], "{:?}", stalls(3));
    assert!(stalls(2)[0] >= stalls(2)[1], "its way is free, and the home has less to do at once: {:?}", stalls(2));
}

/// Whatever else the network adds: data that take longer may be overtaken by what is on another lane, with links and without.
#[test]
fn one_node_after_the_other_is_the_same_with_links() {
    for (name, protocol) in [("now", "swcc"), ("typhoon-0-prototype", "moesi"), ("typhoon", "uncached")] {
        let more = [("network.data_latency", "900"), ("network.self", "3")];
        for nodes in [1, 2] {
            let run = |word| {
                let run = loads(1).under(&[protocol]).nodes(nodes).on(linked(name, "ring", word, &more));
                run.right()
            };
            let (free, shared) = (run(None), run(Some(1)));
            assert_eq!((shared.cycles, &shared.per_node), (free.cycles, &free.per_node), "{name}, {protocol}, {nodes}");
            assert_eq!(shared.link_wait, vec![0; nodes as usize], "{name}, {protocol}, {nodes}");
        }
    }
}

#[test]
fn more_time_for_a_word_is_more_time_for_all() {
    let run =
        |word| Run::of("em3d", &["-n", "40", "-i", "2"]).nodes(8).on(linked("typhoon", "ring", word, &[])).right();
    let all = [None, Some(1), Some(4), Some(16)].map(run);
    let waited: Vec<u64> = all.iter().map(|result| result.link_wait.iter().sum()).collect();
    assert!(waited.is_sorted() && waited[0] == 0 && waited[1] > 0, "{waited:?}");
    assert!(all[0].cycles < all[3].cycles);
    assert!(all.iter().all(|result| result.output == all[0].output));
}

/// Which message enters the network first does not depend on which node is simulated first.
#[test]
fn the_same_in_every_window_and_on_every_number_of_threads() {
    let runs = [
        Run::of("em3d", &["-n", "24", "-i", "2"]).nodes(5).on(linked("typhoon", "ring", Some(3), &[])),
        Run::of("em3d", &["-n", "60", "-i", "1"]).under(&["mshr"]).nodes(4).on(linked(
            "typhoon-1",
            "mesh",
            Some(2),
            &[("interface.credits", "1")],
        )),
        Run::of("matmul", &["-n", "16", "-b", "4"]).under(&["msi"]).nodes(4).on(linked(
            "simple-coma",
            "hypercube",
            Some(11),
            &[("interface.packet_words", "2"), ("network.data_latency", "300")],
        )),
        Run::of("lockbench", &["-n", "6"]).nodes(6).on(linked(
            "typhoon-0",
            "mesh",
            Some(40),
            &[("network.latency", "1")],
        )),
        Run::of("moldyn", &["-b", "2"]).nodes(3).on(linked("typhoon", "ring", Some(5), &[("network.per_hop", "0")])),
    ];
    for run in runs {
        run.right();
        same_in(&run, &windows(&run));
        for jobs in slow::all_or(2..4, 3..4) {
            same_in(&run.clone().jobs(jobs), &[run.machine.lookahead()]);
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let error = Machine::load("typhoon", &set).unwrap_err();
        let help = error.help.unwrap_or_default();
        assert!(
            error.message.contains("is 0, which") || !help.contains("trivium machine"),
            "{}: {help}",
            error.message
        );
        error.message
    };
    let (links, ring) = (("network.link_cycles_per_word", "2"), ("network.topology", "ring"));
    let none = ("network.link_cycles_per_word", "0");
    let all = [
        (vec![links], "nodes have no links"),
        (vec![ring, links, ("network.latency", "0")], "`network.latency` is 0"),
        (vec![ring, links, ("network.jitter", "5")], "`network.jitter` is not 0"),
        (vec![ring, none], "is 0, which is not from 1 to 65536"),
    ];
    for (set, why) in all {
        let what = refused(&set);
        assert!(what.contains(why), "{set:?}: {what}");
    }
}
