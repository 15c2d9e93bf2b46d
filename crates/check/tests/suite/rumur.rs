//! An independent oracle: what `check` says about a protocol, Rumur says about the exported model (`oracle`).
//!
//! Skipped where Rumur (a Debian package) is not installed.

use crate::arrays;
use crate::elsewhere;
use crate::made;
use crate::optional;
use crate::oracle::{Answer, Oracle, SLOW, compile, number_before, quicker, root, run, system};
use crate::shipped::written;
use crate::slow;
use std::path::Path;
use std::process::Command;
use trivium_check::{Config, System, Verdict, explore};
use trivium_export::murphi;

pub const RUMUR: Oracle = Oracle {
    name: "rumur",
    tools: &[("rumur", "--version"), ("cc", "--version")],
    write: murphi,
    ask,
    most_states: SLOW,
    // It takes some 50,000 transitions a second: two objects, and two threads, are compared with SPIN, which is given the same model.
    larger: &[(3, 1, 1)],
    most_slow_states: 100_000,
    most_models: 2,
};

/// Gives a model to Rumur.
fn ask(folder: &Path, name: &str, model: &str, optimised: bool) -> Result<Answer, String> {
    let file = |ending: &str| folder.join(format!("{name}.{ending}"));
    std::fs::write(file("m"), model).map_err(|e| e.to_string())?;
    let options = ["--deadlock-detection", "off", "--symmetry-reduction", "off", "--threads", "1"];
    let found = "error(s) found";
    run(Command::new("rumur").args(options).arg("-o").arg(file("c")).arg(file("m")), found)?;
    let compiler = [if optimised { "-O1" } else { "-O0" }, "-w", "-mcx16", "-o"];
    run(Command::new("cc").args(compiler).arg(file("x")).arg(file("c")).arg("-lpthread"), found)?;
    let text = run(&mut Command::new(file("x")), found)?;
    if text.contains("the model's") {
        return Err(format!("{name}: the model is too small for this system\n{text}"));
    }
    match (number_before(&text, " states, "), number_before(&text, " rules fired")) {
        (Some(states), Some(firings)) => {
            let mut lines = text.lines().skip_while(|line| !line.contains("error trace for the error"));
            let error = lines.nth(2).map(|line| line.trim().to_string());
            if error.is_none() && !text.contains("No error found") {
                return Err(format!("{name}: Rumur says\n{text}"));
            }
            Ok(Answer { error, states, firings })
        }
        _ => Err(format!("{name}: Rumur says\n{text}")),
    }
}

#[test]
fn rumur_counts_the_same_states_of_every_protocol() {
    RUMUR.counts_the_same_states_of_every_protocol();
}

#[test]
fn rumur_counts_the_same_states_of_german_with_three_nodes() {
    if !RUMUR.is_asked_for_slowly() {
        return;
    }
    let protocol = compile(&root().join("protocols/german.tri"));
    // With all that nobody can observe: these are the numbers of the chapter.
    let whole = system(3, 1);
    let config = Config { system: System { late_values: false, dead_copies: false, ..whole.system.clone() }, ..whole };
    let report = explore(&protocol, &config).unwrap();
    assert_eq!(report.verdict, Verdict::Holds);
    RUMUR.compare("german-3", &protocol, &config, &report).unwrap();
}

#[test]
fn german_by_hand_has_the_states_that_the_chapter_names() {
    if !RUMUR.is_installed() {
        return;
    }
    let answer = RUMUR.asked("german-by-hand", include_str!("../rumur/german.m"), false).unwrap();
    assert_eq!(answer, Answer { error: None, states: 53_298, firings: 212_112 });
}

#[test]
fn rumur_finds_the_fault_of_every_broken_protocol() {
    RUMUR.finds_the_fault_of_every_broken_protocol();
}

#[test]
fn rumur_agrees_about_the_file_tests() {
    RUMUR.agrees_about_the_file_tests();
}

#[test]
fn rumur_counts_the_same_states_of_larger_systems() {
    RUMUR.counts_the_same_states_of_larger_systems();
}

#[test]
fn another_checker_counts_the_same_states_of_what_homes_perform_beside_caches() {
    let other = quicker();
    if !other.is_installed() {
        return;
    }
    let few = System { ops: Some(1), ..system(2, 1).system };
    let config = Config { system: few, max_states: Some(20_000), ..system(2, 1) };
    for seed in 0..slow::all_or(60, 3) {
        let protocol = written(&elsewhere::beside_caches(seed * 104_729));
        let report = explore(&protocol, &config).unwrap();
        if report.verdict != Verdict::Incomplete {
            other.compare(&format!("beside-{seed}"), &protocol, &config, &report).unwrap();
        }
    }
}

#[test]
fn another_checker_counts_the_same_states_where_handlers_make_objects() {
    let other = quicker();
    if !other.is_installed() {
        return;
    }
    let config = Config { max_states: Some(20_000), ..system(2, 1) };
    for seed in 0..slow::all_or(60, 4) {
        let protocol = written(&made::protocol(seed * 7919 + 3));
        let report = explore(&protocol, &config).unwrap();
        if report.verdict != Verdict::Incomplete {
            other.compare(&format!("made-{seed}"), &protocol, &config, &report).unwrap();
        }
    }
}

/// Half of so many random protocols hold, and half are violated: another checker counts the same states of each.
fn compares_random(name: &str, step: u64, text: fn(u64) -> String, few: System, most: usize) {
    let other = quicker();
    if !other.is_installed() {
        return;
    }
    let config = Config { system: few, max_states: Some(10_000), ..system(2, 1) };
    let mut verdicts = [0; 3];
    for seed in (0..400u64).map(|number| number * step) {
        let protocol = written(&text(seed));
        let report = explore(&protocol, &config).unwrap();
        let told = &mut verdicts[report.verdict as usize];
        if report.verdict == Verdict::Incomplete || *told >= most / 2 {
            continue;
        }
        *told += 1;
        other.compare(&format!("{name}-{seed}"), &protocol, &config, &report).unwrap();
    }
    assert!(verdicts[Verdict::Holds as usize] == most / 2 && verdicts[Verdict::Violated as usize] == most / 2);
}

#[test]
fn another_checker_counts_the_same_states_of_values_that_may_be_none() {
    let few = System { ops: Some(2), ..system(2, 1).system };
    compares_random("optional", 7919, optional::protocol, few, slow::all_or(60, 4));
}

#[test]
fn another_checker_counts_the_same_states_of_random_protocols_with_arrays() {
    let few = System { ops: Some(2), every_order: false, ..system(2, 1).system };
    compares_random("arrays", 104_729, arrays::protocol, few, slow::all_or(60, 2));
}
