//! The examples of docs/language.md and docs/from-slicc.md that promise something keep it, unless they say that they do not: each whole file
//! among them is explored with two nodes, to its end.

use std::path::Path;
use std::sync::Arc;
use trivium_check::{Config, System, Verdict, explore, text};
use trivium_lang::{Options, compile};

/// The examples that are whole files: each with its line.
fn examples(page: &str) -> Vec<(usize, String)> {
    let mut examples = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in page.lines().enumerate() {
        match &mut open {
            None if line == "```tri" => open = Some((number + 1, String::new())),
            Some(_) if line == "```" => examples.extend(open.take()),
            Some((_, text)) => *text += &format!("{line}\n"),
            None => {}
        }
    }
    examples
}

#[test]
fn examples_keep_their_promises() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = ["language.md", "from-slicc.md"]
        .map(|page| (page, std::fs::read_to_string(root.join("docs").join(page)).unwrap()));
    let load = |name: &str| std::fs::read_to_string(root.join("protocols").join(name)).map_err(|e| e.to_string());
    let mut explored = Vec::new();
    let all =
        pages.iter().flat_map(|(page, text)| examples(text).into_iter().map(move |(line, text)| (page, line, text)));
    for (page, line, example) in all {
        let protocol = compile(page, &example, &Options { params: Vec::new(), load: Some(&load) }).unwrap();
        if protocol.promises.is_empty() && protocol.invariants.is_empty() {
            continue;
        }
        explored.push(protocol.name.clone());
        let system = System { nodes: 2, ..System::default() };
        let config = Config { system, max_states: Some(100_000), ..Config::default() };
        let report = explore(&Arc::new(protocol), &config).unwrap();
        let expected = if example.contains("// does not hold") { Verdict::Violated } else { Verdict::Holds };
        assert_eq!(report.verdict, expected, "docs/{page}:{line}\n{}", text(&report));
    }
    for wanted in ["one-copy", "upgrade"] {
        assert!(explored.iter().any(|name| name == wanted), "{explored:?}");
    }
    assert!(explored.len() >= 3, "{explored:?}");
}
