//! Who may wait for ever where fairness is weak. That sets of states are found which can be gone round is tested on random graphs (`runs/weak/graph.rs`); here, what
//! is asked of protocols.

use crate::shipped;
use crate::shipped::written;
use std::sync::Arc;
use trivium_check::{Config, Fairness, Method, Report, Search, System, Verdict, explore, text};
use trivium_protocol::Protocol;

fn named(name: &str) -> Arc<Protocol> {
    shipped::protocol(&format!("{name}.tri"))
}

fn explored(protocol: &Arc<Protocol>, nodes: u32, fairness: Fairness) -> Report {
    let config = Config { fairness, ..System { nodes, ..System::declared(protocol) }.into() };
    explore(protocol, &config).unwrap()
}

/// Nodes take a line from each other: who asks while it is lent is refused, and asks again.
const TUG: &str = "protocol tug
promises single_writer, last_write
lane main fifo buffered
message Get, Take, Busy on main
message Line, Back on main with block
assume read when me != home
assume write when me != home
role cache of block {
  otherwise impossible
  state Gone {
    on read, write { send Get to home; await Line { install; goto Here; resume } or Busy { goto Gone; resume } }
  }
  state Here: write { on Take { send Back to home; goto Gone } }
}
role home of block {
  var owner: node
  otherwise impossible
  state Here: write { on Get { owner = sender; send Line to sender; goto Lent } }
  state Lent {
    on Get { send Take to owner; send Busy to sender; goto Taking }
    on read, write impossible
  }
  state Taking {
    on Get  { send Busy to sender }
    on Back { install; goto Here }
    on read, write impossible
  }
}
";

#[test]
fn retries_that_rob_each_other_for_ever_are_found() {
    let tug = written(TUG);
    assert_eq!(explored(&tug, 3, Fairness::Strong).verdict, Verdict::Holds);
    let weak = explored(&tug, 3, Fairness::Weak);
    assert_eq!((weak.verdict, weak.property.as_deref()), (Verdict::Violated, Some("starvation")), "{}", text(&weak));
    assert!(text(&weak).contains("weak fairness; no symmetry"), "{}", text(&weak));
    // The cycle that the sentence names is gone once: it begins and ends in the same state of the robbed node, whose access is not performed.
    let sentence = weak.reason.clone().unwrap();
    let numbers: Vec<usize> = sentence.split(' ').filter_map(|word| word.trim_end_matches("'s").parse().ok()).collect();
    let [robbed, _, first, last] = numbers[..] else { panic!("{sentence}") };
    assert_eq!(last, weak.counterexample.len(), "{sentence}");
    let cycle = &weak.counterexample[first - 1..];
    let own = || cycle.iter().filter(|step| usize::from(step.node) == robbed);
    assert!(own().all(|step| step.performs.is_empty()), "{sentence}");
    assert_eq!(own().next().unwrap().before, own().next_back().unwrap().after, "{sentence}");
    assert!(cycle.iter().any(|step| !step.performs.is_empty()), "somebody else gets through");
    // With one thread nobody robs.
    let config = Config { fairness: Fairness::Weak, ..System { nodes: 2, ..System::declared(&tug) }.into() };
    assert_eq!(explore(&tug, &config).unwrap().verdict, Verdict::Holds);
}

/// A home that keeps requests in their order starves nobody, however little is assumed.
#[test]
fn who_queues_is_served() {
    let queues = TUG
        .replace("role home of block {", "role home of block defers up to nodes {")
        .replace("on Get  { send Busy to sender }", "on Get  { defer }")
        .replace("send Take to owner; send Busy to sender; goto Taking", "send Take to owner; defer; goto Taking");
    let report = explored(&written(&queues), 3, Fairness::Weak);
    assert_eq!(report.verdict, Verdict::Holds, "{}", text(&report));
}

/// What is violated anyhow is violated; and some shipped protocols need strong fairness, others do not.
#[test]
fn shipped_protocols_need_this_fairness() {
    let weak = |name: &str| explored(&named(name), 2, Fairness::Weak);
    for name in
        ["msi", "stache", "german", "eager", "token-lock", "token-ring", "tree-barrier", "pool", "deferred-update"]
    {
        let report = weak(name);
        assert_eq!(report.verdict, Verdict::Holds, "{name}\n{}", text(&report));
        assert_eq!(explored(&named(name), 2, Fairness::Strong).verdict, Verdict::Holds, "{name}");
    }
    for name in ["flash-coherence", "stache-prefetch", "write-update"] {
        let report = weak(name);
        assert_eq!(report.property.as_deref(), Some("starvation"), "{name}\n{}", text(&report));
        assert_eq!(explored(&named(name), 2, Fairness::Strong).verdict, Verdict::Holds, "{name}");
    }
}

/// What a program owes is done under any fairness: a thread that holds the lock gives it back, though it may do other things for ever.
#[test]
fn programs_do_what_they_owe() {
    let source = "protocol gate
object lock
op enter(l: lock)
op leave(l: lock)
op look(l: lock)
promises mutex(enter, leave)
assume alternate(enter, leave)
lane main fifo buffered
message Ask, Go, Done on main
role user of lock everywhere {
  var who: thread
  state Here {
    on enter { who = caller; send Ask to home }
    on leave { send Done to home; return }
    on look { return }
    on Go { return to who }
  }
}
role home of lock defers up to nodes {
  var busy: bool
  otherwise impossible
  state Free { on Ask { send Go to sender; goto Held } }
  state Held { on Ask defer  on Done { goto Free } }
}
";
    let report = explored(&written(source), 2, Fairness::Weak);
    assert_eq!(report.verdict, Verdict::Holds, "{}", text(&report));
    // A home that prefers whom it served last starves the other.
    let prefers = source
        .replace(
            "state Held { on Ask defer  on Done { goto Free } }",
            "state Held { on Ask { send Later to sender }  on Done { goto Free } }",
        )
        .replace("Go, Done on main", "Go, Done, Later on main")
        .replace("on Go {", "on Later { send Ask to home }\n    on Go {");
    let report = explored(&written(&prefers), 2, Fairness::Weak);
    assert_eq!(report.property.as_deref(), Some("starvation"), "{}", text(&report));
    assert_eq!(explored(&written(&prefers), 2, Fairness::Strong).verdict, Verdict::Holds);
}

#[test]
fn what_weak_fairness_does_not_go_with_is_refused() {
    let tug = written(TUG);
    let weak = || Config { fairness: Fairness::Weak, ..System { nodes: 2, ..System::declared(&tug) }.into() };
    for (config, what) in [
        (Config { search: Search::Brute, ..weak() }, "brute force"),
        (Config { liveness: false, ..weak() }, "starvation"),
        (Config { method: Method::Walks { count: 3, depth: 9 }, ..weak() }, "keeps no states"),
        (Config { resume: Some(std::path::Path::new("x")), ..weak() }, "checkpoints"),
    ] {
        let error = explore(&tug, &config).unwrap_err();
        assert!(
            error.message.contains(what)
                && error.help.as_deref().is_some_and(|help| help.contains("--fairness strong")),
            "{error}"
        );
    }
    let small = explore(&tug, &Config { max_states: Some(5), ..weak() }).unwrap();
    assert_eq!(small.verdict, Verdict::Incomplete);
}

/// Threads of a node that go on together do so one after the other, and between them nothing can happen: that is no excuse for what could.
#[test]
fn the_moment_between_threads_excuses_nothing() {
    let source = "protocol together
lane main fifo buffered
message Get on main
message Data on main with block
role home of block { state Here: read { on Get { send Data to sender } on write { complete } } }
role cache of block {
  otherwise impossible
  state Away { on read, write { send Get to home; await Data { install; goto Ready; resume } } }
  state Ready: write { on evict { goto Away } }
}
";
    let protocol = written(source);
    let system = System { nodes: 3, threads_per_node: 2, values: 1, ..System::declared(&protocol) };
    let report = explore(&protocol, &Config { fairness: Fairness::Weak, ..system.into() }).unwrap();
    assert_eq!(report.verdict, Verdict::Holds, "{}", text(&report));
}
