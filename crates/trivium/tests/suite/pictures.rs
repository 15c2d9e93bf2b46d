//! No two labels of a picture stand over each other, and none is cut off: bars, lines, states, message sequence charts.

use crate::harness::labels::stand_apart;
use crate::harness::{root, trivium};
use std::path::Path;

/// What a command draws.
fn drawn(args: &[&str]) -> String {
    let folder = crate::harness::folder();
    let file = folder.path().join("picture.svg");
    let at = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    let run = trivium(&[&args[..at], &["--svg", file.to_str().unwrap()], &args[at..]].concat());
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{args:?}: {error}: {run:?}"))
}

#[test]
fn labels_of_the_gallery_do_not_overlap() {
    let files = std::fs::read_dir(root().join("docs/pictures")).unwrap().map(|entry| entry.unwrap().path());
    stand_apart(files.map(|file| (file.display().to_string(), std::fs::read_to_string(&file).unwrap())));
}

#[test]
fn labels_of_states_do_not_overlap() {
    let listed = trivium(&["protocols", "--format", "json"]).json(0);
    let mut names: Vec<String> =
        listed["list"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_string()).collect();
    names.extend(pages());
    stand_apart(names.into_iter().map(|name| {
        let svg = trivium(&["show", &name, "--format", "svg"]).out;
        (name, svg)
    }));
}

/// The protocols of pages.
fn pages() -> impl Iterator<Item = String> {
    ["docs/tutorial", "docs/checking", "docs/idea"].into_iter().flat_map(files)
}

fn files(folder: &str) -> impl Iterator<Item = String> {
    let mut names: Vec<String> = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| format!("{folder}/{}", entry.unwrap().file_name().into_string().unwrap()))
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "tri"))
        .collect();
    names.sort();
    names.into_iter()
}

/// The counterexamples of the tutorial and of the page about checking. (Those of all broken protocols: `check/tests/suite/charts.rs`.)
#[test]
fn labels_of_charts_do_not_overlap() {
    let mut charts = Vec::new();
    for name in pages() {
        let result = trivium(&["check", &name, "--format", "json", "--max-states", "20000"]);
        if result.code == Some(1) {
            charts.push((name.clone(), drawn(&["check", &name])));
        }
    }
    assert!(charts.len() >= 3, "{} counterexamples", charts.len());
    stand_apart(charts);
}

#[test]
fn labels_of_bars_do_not_overlap() {
    let all = "simple-coma,typhoon,typhoon-1,typhoon-0";
    let twice = format!("{all},{all}");
    let em3d = ["--", "-t", "480", "-i", "2"];
    stand_apart([
        ("four bars".into(), drawn(&[&["compare", "em3d", "-n", "4", "-p", "stache", "-m", all], &em3d[..]].concat())),
        (
            "eight bars".into(),
            drawn(&[&["compare", "em3d", "-n", "4", "-p", "stache,msi", "-m", all], &em3d[..]].concat()),
        ),
        (
            "simulated and live".into(),
            drawn(&[&["compare", "em3d", "-n", "3", "-p", "stache,msi", "-m", all, "--live"], &em3d[..]].concat()),
        ),
        ("sixteen bars".into(), drawn(&["compare", "hello", "-n", "2", "-p", "stache,msi", "-m", &twice])),
    ]);
}
