//! Every statement of a coherence protocol matters: without any one of them it is rejected or violated.

use std::path::Path;
use std::sync::Arc;
use trivium_check::{System, Verdict, explore, is_minimal, text};
use trivium_lang::compile_file;
use trivium_lang::mutate::{Mutation, mutant, mutations, probe};
use trivium_protocol::Protocol;

/// Whether a protocol holds that has lost a statement.
fn survives(protocol: &Protocol, mutation: &Mutation) -> bool {
    let Ok(mutant) = mutant(&protocol.sources, mutation, &protocol.sizes_to_check()) else { return false };
    let mutant = Arc::new(mutant);
    for nodes in [2, 3] {
        let system = System { nodes, ..System::default() };
        let report = explore(&mutant, &system.clone().into()).unwrap_or_else(|e| panic!("{e}"));
        if report.verdict == Verdict::Violated {
            assert!(is_minimal(&mutant, &system, &report).unwrap(), "{}", text(&report));
            return false;
        }
    }
    true
}

fn every_statement_matters(file: &str, least: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    let protocol = compile_file(&path, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let all = mutations(&protocol.sources).unwrap_or_else(|wrong| panic!("{wrong}"));
    // A statement is what a fault can stand in place of.
    let deleted: Vec<&Mutation> = all.iter().filter(|m| m.with.is_empty() && m.probe.is_some()).collect();
    assert!(deleted.len() >= least, "{} statements found", deleted.len());
    for mutation in deleted {
        let place = protocol.sources.place(mutation.span);
        assert!(!survives(&protocol, mutation), "{place}: it holds {}", mutation.describe(&protocol.sources));
    }
}

#[test]
fn every_statement_of_msi_matters() {
    every_statement_matters("msi.tri", 40);
}

#[test]
fn every_statement_of_stache_matters() {
    every_statement_matters("stache.tri", 40);
}

/// What a call's thread does is mutated as handlers are. All stores of a file alone have been performed: nothing needs its fence.
#[test]
fn every_statement_of_a_body_matters_but_its_fence() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/flash-lock-central.tri");
    let protocol = compile_file(&path, &[]).unwrap_or_else(|wrong| panic!("{wrong}"));
    let all = mutations(&protocol.sources).unwrap_or_else(|wrong| panic!("{wrong}"));
    let of_bodies: Vec<&Mutation> = all.iter().filter(|mutation| mutation.probe == Some("assert false;")).collect();
    let told = |mutation: &&Mutation| mutation.describe(&protocol.sources);
    let deleted = ["without `tell want`", "without `until image.mine`", "without `fence`", "without `tell give`"];
    assert_eq!(of_bodies.iter().map(told).collect::<Vec<_>>(), deleted);
    for mutation in of_bodies {
        assert_eq!(survives(&protocol, mutation), told(&mutation) == "without `fence`", "{}", told(&mutation));
        // Whether anything comes by is told by a fault in its place, where what is left is a protocol: an event must be said by somebody.
        let sizes = protocol.sizes_to_check();
        let probed = probe(&protocol.sources, mutation, &sizes);
        assert_eq!(probed.is_some(), mutant(&protocol.sources, mutation, &sizes).is_ok(), "{}", told(&mutation));
        let Some(probed) = probed else { continue };
        let report = explore(&Arc::new(probed), &System::default().into()).unwrap();
        assert_eq!(report.property.as_deref(), Some("fault"), "{}", text(&report));
    }
}

#[test]
fn conditions_and_assertions_of_bodies_are_mutated() {
    let body = "protocol t\nobject gate image { open: bool, far: bool }\n\
                op enter(g: gate) { loop { let v = image; if v.open and not v.far { assert v.open; return }; until image.open or image.far } }\n\
                lane main fifo buffered\nrole door of gate everywhere { state Any { on image { fill shared {open: true, far: false} } } }";
    let protocol = trivium_lang::compile("t.tri", body, &Default::default());
    let protocol = protocol.unwrap_or_else(|wrong| panic!("{wrong}"));
    let all = mutations(&protocol.sources).unwrap_or_else(|wrong| panic!("{wrong}"));
    let told: Vec<(String, bool)> = all.iter().map(|m| (m.describe(&protocol.sources), m.only_checks)).collect();
    for (expected, only_checks) in [
        ("`v.open and not v.far` becomes `true`", false),
        ("`v.open and not v.far` becomes `false`", false),
        ("`not v.far` becomes `true`", false),
        ("without `assert v.open`", true),
        ("without `return`", false),
        ("`image.far` becomes `false`", false),
    ] {
        assert!(told.contains(&(expected.to_string(), only_checks)), "{expected}: {told:?}");
    }
    assert!(told.iter().any(|(what, _)| what.starts_with("without `loop {")), "{told:?}");
}
