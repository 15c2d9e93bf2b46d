//! What `check --suggest` proposes finds what is wrong with protocols that promise nothing, and holds for those that are right.

use crate::slow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_check::{Config, Report, System, Verdict, explore, text};
use trivium_lang::show::suggest;
use trivium_lang::{Options, compile};
use trivium_protocol::{Promise, Protocol};

const MOST: u64 = 60_000;
/// The same, where a part is tried.
const MOST_OF_THE_PART: u64 = 4_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols")
}

/// The protocols of a folder, each with its name and its parameters as small as it says for exploration.
fn protocols(folder: &str) -> Vec<(String, Protocol)> {
    let folder = self::folder().join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "tri"));
    paths.sort();
    let with = |path: &Path, params: &[_]| trivium_lang::compile_file(path, params).unwrap_or_else(|e| panic!("{e}"));
    let small = |path: PathBuf| {
        let sizes = with(&path, &[]).sizes_to_check();
        (path.display().to_string(), with(&path, &sizes))
    };
    paths.into_iter().map(small).collect()
}

/// The protocol without all that it promises, and with what is proposed, if there is something.
fn with_what_is_proposed(path: &str, protocol: &Protocol) -> Option<Arc<Protocol>> {
    let proposed = suggest(protocol)?;
    let load = |name: &str| std::fs::read_to_string(name).map_err(|error| error.to_string());
    let options = Options { params: protocol.sizes_to_check(), load: Some(&load) };
    let source = format!("protocol proposed\nuse \"{path}\"\n{proposed}");
    let mut changed = compile("proposed.tri", &source, &options).unwrap_or_else(|error| panic!("{error}\n{proposed}"));
    let (invariants, ghosts) = (protocol.invariants.len(), protocol.ghosts.len());
    changed.promises.clear();
    changed.leads_to.clear();
    changed.scenarios.iter_mut().for_each(|scenario| scenario.forbid = None);
    changed.invariants.drain(..invariants);
    changed.ghosts.drain(..ghosts);
    Some(Arc::new(changed))
}

/// What is found first, in small systems: with the most general client, and in the file's scenarios.
fn found(protocol: &Arc<Protocol>) -> Option<Report> {
    let names = protocol.scenarios.iter().map(|scenario| Some(scenario.name.clone()));
    let names: Vec<Option<String>> = std::iter::once(None).chain(names).collect();
    let systems = [2, 3].into_iter().flat_map(|nodes| names.iter().map(move |scenario| (nodes, scenario.clone())));
    systems.into_iter().find_map(|(nodes, scenario)| {
        let system = System { nodes, scenario, ops: Some(3), ..System::default() };
        let config =
            Config { max_states: Some(slow::all_or(MOST, MOST_OF_THE_PART)), liveness: false, ..system.into() };
        explore(protocol, &config).ok().filter(|report| report.verdict == Verdict::Violated)
    })
}

/// How many of the broken protocols that promise `last_write` are found by what is proposed, all their own promises taken away.
const FOUND: usize = 8;
/// The same, of those that are tried in part.
const FOUND_OF_THE_PART: usize = 3;

#[test]
fn what_is_proposed_finds_broken_protocols() {
    let all: Vec<_> = slow::one_in(5, protocols("broken")).collect();
    let (mut by_proposal, mut weaker, mut otherwise, mut nothing, mut none) = (0, 0, 0, 0, 0);
    for (path, protocol) in &all {
        let name = path.rsplit('/').next().unwrap();
        let Some(changed) = with_what_is_proposed(path, protocol) else {
            println!("{name}: nothing to propose");
            none += 1;
            continue;
        };
        let property = found(&changed).and_then(|report| report.property);
        println!("{name}: {}", property.as_deref().unwrap_or("not found"));
        match property {
            // What promises less than `last_write` may break the proposal without being broken.
            Some(property) if property.starts_with("invariant stored") => {
                match protocol.promises.contains(&Promise::LastWrite) {
                    true => by_proposal += 1,
                    false => weaker += 1,
                }
            }
            Some(_) => otherwise += 1,
            None => nothing += 1,
        }
    }
    println!(
        "of {}: {by_proposal} by what is proposed, {weaker} by it where less than `last_write` is promised, {otherwise} by what is looked for anyway, {nothing} not, {none} without access",
        all.len()
    );
    assert_eq!(by_proposal + weaker + otherwise + nothing + none, all.len());
    let found = slow::all_or(FOUND, FOUND_OF_THE_PART);
    assert!(by_proposal >= found, "{by_proposal}, and were {found}");
}

/// Protocols that keep `last_write` keep what is proposed, but for those in which an invalidation cannot be seen on its way.
#[test]
fn what_is_proposed_holds_for_right_protocols() {
    let (mut holds, mut not) = (Vec::new(), Vec::new());
    for (path, protocol) in protocols("") {
        if !protocol.promises.contains(&Promise::LastWrite) {
            continue;
        }
        let Some(changed) = with_what_is_proposed(&path, &protocol) else { continue };
        let system = System { nodes: 2, ops: Some(3), ..System::default() };
        let config = Config { max_states: Some(MOST), liveness: false, ..system.into() };
        let Ok(report) = explore(&changed, &config) else { continue };
        let name = path.rsplit('/').next().unwrap().to_string();
        let list = if report.verdict == Verdict::Violated { &mut not } else { &mut holds };
        list.push(format!("{name}: {}", report.property.unwrap_or_default()));
    }
    println!("keep what is proposed: {holds:#?}\ndo not: {not:#?}");
    assert!(holds.len() > not.len(), "{not:?}");
}

/// A protocol that says nothing about contents is told so, one that does is not.
#[test]
fn a_verdict_says_that_no_load_was_compared() {
    let report = |source: &str| {
        let protocol = compile("alone.tri", source, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        explore(&Arc::new(protocol), &System { nodes: 1, ..System::default() }.into()).unwrap()
    };
    let source = "protocol alone\nrole home of block { state Here: write { } }\n";
    let plain = report(source);
    assert_eq!(plain.verdict, Verdict::Holds);
    assert!(text(&plain).contains("loads         not compared"), "{}", text(&plain));
    assert!(text(&plain).contains("--suggest"));
    assert!(serde_json::to_value(&plain).unwrap()["uncompared"].is_string());
    let protocol = compile("alone.tri", source, &Options::default()).unwrap();
    let proposed = format!("{source}{}", suggest(&protocol).unwrap());
    let ghost = "ghost g of block { var last: word on write(n, v) { last = v } on read(n, v) { assert v == last } }\n";
    for more in ["promises last_write\n", "promises coherent\n", ghost] {
        assert_eq!(report(&format!("{source}{more}")).uncompared, None, "{more}");
    }
    assert_eq!(report(&proposed).uncompared, None);
    // One that looks at no value compares nothing, whatever it asserts.
    let blind = "ghost g of block { var last: word on write(n, v) { last = v } on read(n, v) { assert n in all } }\n";
    assert!(report(&format!("{source}{blind}")).uncompared.is_some());
    // What is proposed has names that are free.
    let named = "invariant stored_in_home_Here of block: true\n";
    let protocol = compile("alone.tri", &format!("{source}{named}"), &Options::default()).unwrap();
    let all = format!("{source}{named}{}", suggest(&protocol).unwrap());
    compile("alone.tri", &all, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let locks = "protocol l\nobject lock\nop take(l: lock)\nrole home of lock { state S { on take { return } } }\n";
    assert_eq!(report(locks).uncompared, None, "there are no loads");
}

/// The shipped protocols of which a verdict says so.
#[test]
fn few_shipped_protocols_compare_no_load() {
    let mut names = protocols("");
    names.retain(|(_, protocol)| {
        trivium_protocol::contents::has_loads(protocol) && !trivium_protocol::contents::compares_contents(protocol)
    });
    let names: Vec<&str> = names.iter().map(|(path, _)| path.rsplit('/').next().unwrap()).collect();
    println!("{names:?}");
    assert!(names.len() < 8, "{names:?}");
}
