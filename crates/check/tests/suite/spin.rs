//! An independent oracle: what `check` says about a protocol, SPIN says about the exported model (`oracle`).
//!
//! SPIN stores one state more than there are: that before its process has taken its first step, which puts the system
//! into its first state. What it calls transitions are the states that it stored and those that it met again. Of the
//! stored ones all but two are new states that a rule has led to, so it counts two more than there are firings.
//!
//! Skipped where SPIN (a Debian package) is not installed.

use crate::oracle::{Answer, FAST, Oracle, SLOW, compile, number_before, root, run};
use std::path::Path;
use std::process::Command;
use trivium_check::{Network, System};
use trivium_export::spin;

pub const SPIN: Oracle = Oracle {
    name: "spin",
    tools: &[("spin", "-V"), ("cc", "--version")],
    write: spin,
    ask,
    most_states: FAST,
    larger: &[(3, 1, 1), (2, 2, 1), (2, 1, 2)],
    most_slow_states: SLOW,
    most_models: 6,
};

/// Gives a model to SPIN.
fn ask(folder: &Path, name: &str, model: &str, optimised: bool) -> Result<Answer, String> {
    // Whatever the model, SPIN writes pan.c where it is called.
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    std::fs::write(folder.join("model.pml"), model).map_err(|e| e.to_string())?;
    let run = |command: &mut Command| run(command.current_dir(&folder), "error");
    run(Command::new("spin").args(["-a", "model.pml"]))?;
    let compiler = [if optimised { "-O1" } else { "-O0" }, "-w", "-DSAFETY", "-DBFS", "-o", "pan", "pan.c"];
    run(Command::new("cc").args(compiler))?;
    // A small table of states, which need not be made: most models are small.
    let text = run(Command::new(folder.join("pan")).arg(if optimised { "-w22" } else { "-w16" }))?;
    if text.contains("the model's") {
        return Err(format!("{name}: the model is too small for this system\n{text}"));
    }
    let error = text.lines().find_map(|line| line.strip_prefix("wrong: ")).map(str::to_string);
    let is_done = text.contains("errors: 0") && !text.contains("Search not completed");
    if error.is_none() != is_done {
        return Err(format!("{name}: SPIN says\n{text}"));
    }
    match (number_before(&text, " states, stored\n"), number_before(&text, " transitions (= stored+matched)")) {
        (Some(states), Some(transitions)) => Ok(Answer { error, states: states - 1, firings: transitions - 2 }),
        _ => Err(format!("{name}: SPIN says\n{text}")),
    }
}

#[test]
fn spin_counts_the_same_states_of_every_protocol() {
    SPIN.counts_the_same_states_of_every_protocol();
}

#[test]
fn spin_finds_the_fault_of_every_broken_protocol() {
    SPIN.finds_the_fault_of_every_broken_protocol();
}

#[test]
fn spin_agrees_about_the_file_tests() {
    SPIN.agrees_about_the_file_tests();
}

#[test]
fn spin_counts_the_same_states_of_larger_systems() {
    SPIN.counts_the_same_states_of_larger_systems();
}

#[test]
fn what_spin_cannot_take_is_refused_by_name() {
    let protocol = compile(&root().join("protocols/msi.tri"));
    let large = System { nodes: 40, network: Network::Unordered, ..System::default() };
    let error = spin(&protocol, &large, 16).unwrap_err();
    assert_eq!(error.message, "msi cannot be exported for SPIN: more than 20000 events are possible in such a system");
    assert!(error.help.as_deref().is_some_and(|help| help.contains("--to murphi")), "{error}");
}
