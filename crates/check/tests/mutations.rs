//! Every statement of a coherence protocol matters: without any one of them it is rejected or violated.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use trivium_check::{System, Verdict, explore, is_minimal, text};

/// The statements `install`, `resume`, `send ..`, `goto ..` and `lower ..` of a protocol's text.
fn statements(source: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let code = &line[..line.find("//").unwrap_or(line.len())];
        for word in ["install", "resume", "send ", "goto ", "lower "] {
            for (at, _) in code.match_indices(word) {
                let rest = &code[at..];
                let len = rest.find([';', '}', '\n']).unwrap_or(rest.len());
                let with_mark = len + usize::from(rest[len..].starts_with(';'));
                if code[..at].trim_end().ends_with([';', '{', '}']) || code[..at].trim().is_empty() {
                    found.push(start + at..start + at + with_mark);
                }
            }
        }
        start += line.len();
    }
    found
}

/// Whether a protocol holds that has lost a statement.
fn survives(source: &str) -> bool {
    let Ok(protocol) = trivium_lang::compile("mutant.tri", source, &Default::default()) else { return false };
    let protocol = Arc::new(protocol);
    for nodes in [2, 3] {
        let system = System { nodes, ..System::default() };
        let report = explore(&protocol, &system.clone().into()).unwrap_or_else(|e| panic!("{e}"));
        if report.verdict == Verdict::Violated {
            assert!(is_minimal(&protocol, &system, &report).unwrap(), "{}", text(&report));
            return false;
        }
    }
    true
}

fn every_statement_matters(file: &str, least: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(file);
    let source = std::fs::read_to_string(path).unwrap();
    let statements = statements(&source);
    assert!(statements.len() >= least, "{} statements found", statements.len());
    for statement in statements {
        let without = format!("{}{}", &source[..statement.start], &source[statement.end..]);
        let line = source[..statement.start].matches('\n').count() + 1;
        assert!(!survives(&without), "{file}:{line}: it holds without `{}`", &source[statement]);
    }
}

#[test]
fn every_statement_of_msi_matters() {
    every_statement_matters("msi.tri", 30);
}

#[test]
fn every_statement_of_stache_matters() {
    every_statement_matters("stache.tri", 30);
}
