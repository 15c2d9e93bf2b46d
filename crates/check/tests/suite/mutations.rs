//! Every statement of a coherence protocol matters: without any one of them it is rejected or violated.

use std::path::Path;
use std::sync::Arc;
use trivium_check::{System, Verdict, explore, is_minimal, text};
use trivium_lang::compile_file;
use trivium_lang::mutate::{Mutation, mutant, mutations};
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
