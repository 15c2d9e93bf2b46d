//! File tests: each file in `tests/files` is a protocol with directives at its head.
//!
//! ```text
//! // nodes: 2            what to explore: nodes, clients, objects, values, ops, threads, lane_capacity,
//! // network: unordered  network, scenario, max_states, words
//! // file: ../x.tri      the protocol of that file (from the root of the repository), with `param NAME: VALUE`s
//! // expect: violated last_write | holds | incomplete | error
//! // steps: 7            length of the counterexample        // states: 12   number of states
//! // says: words that the report contains                    // never: pair, clause or branch that did not happen
//! // takes: seconds       left to the slow tests            // note: anything
//! ```

use crate::file_test::{self, FileTest};
use crate::slow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_check::{Report, Verdict, explore, is_minimal, text};

fn verdict(report: &Report) -> String {
    match &report.property {
        Some(property) => format!("{} {property}", report.verdict),
        None => report.verdict.to_string(),
    }
}

/// What is not as a file says.
fn run(path: &Path) -> Result<(), String> {
    let test = FileTest::read(path)?;
    let protocol = Arc::new(test.protocol()?);
    let config = test.config(&protocol)?;
    let expected = test.directive("expect").ok_or("no `expect` directive")?;
    let outcome = explore(&protocol, &config);
    let (seen, said) = match &outcome {
        Ok(report) => (verdict(report), text(report)),
        Err(error) => ("error".to_string(), error.to_string()),
    };
    if seen != expected {
        return Err(format!("expected {expected}, seen {seen}\n{said}"));
    }
    if let Ok(report) = &outcome
        && report.verdict == Verdict::Violated
        && !is_minimal(&protocol, &config.system, report).map_err(|e| e.to_string())?
    {
        return Err(format!("an event can be removed from the counterexample\n{said}"));
    }
    for (key, value) in &test.directives {
        let kept = match (key.as_str(), &outcome) {
            ("steps", Ok(report)) => report.counterexample.len().to_string() == *value,
            ("states", Ok(report)) => report.states.to_string() == *value,
            ("never", Ok(report)) => {
                let parts = report.clauses.unreached.iter().chain(&report.branches.unreached).map(|part| &part.name);
                report.coverage.unreached.iter().chain(parts).any(|name| name == value)
            }
            ("steps" | "states" | "never", Err(_)) => false,
            ("says", _) => said.contains(value.as_str()),
            _ => true,
        };
        if !kept {
            return Err(format!("not as `{key}: {value}` says\n{said}"));
        }
    }
    Ok(())
}

#[test]
fn files_say_what_is_found() {
    let paths = file_test::paths();
    assert!(paths.len() > 20, "the file tests are not where they should be");
    let takes_long = |path: &&PathBuf| FileTest::read(path).is_ok_and(|test| test.directive("takes").is_some());
    let (later, now): (Vec<_>, Vec<_>) = paths.iter().partition(|path| takes_long(path) && !slow::is_asked_for());
    println!("{} of {} files are left to TRIVIUM_SLOW=1", later.len(), paths.len());
    let wrong: Vec<String> =
        now.iter().filter_map(|path| Some(format!("{}: {}", path.display(), run(path).err()?))).collect();
    assert!(wrong.is_empty(), "{} of {} files\n{}", wrong.len(), paths.len(), wrong.join("\n"));
}
