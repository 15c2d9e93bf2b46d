//! The rooms of the simulator's sources: each uses only those before it (`ARCHITECTURE.md`, "The rooms of `sim`").

use std::path::{Path, PathBuf};

/// The rooms, each behind all that it may use.
const ROOMS: [&str; 8] = ["error", "machine", "reports", "events", "timing", "node", "order", "runs"];

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { sources(&entry, all) } else { all.push(entry) }
    }
}

/// The rooms that a text names as `crate::ROOM`.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let rest = code.flat_map(|line| line.match_indices("crate::").map(|(at, _)| &line[at + "crate::".len()..]));
    rest.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

/// The uses of rooms that stand behind, or that nobody knows.
fn circles(file: &str, text: &str) -> Vec<String> {
    let place = |room: &str| ROOMS.iter().position(|known| *known == room);
    let own = file.trim_end_matches(".rs").split('/').next().unwrap_or("");
    let Some(own) = place(own) else { return vec![format!("{file} is in no room")] };
    let behind = |room: &&str| place(room).is_none_or(|used| used > own);
    named(text).filter(behind).map(|room| format!("{file}, in room {}, uses {room}", ROOMS[own])).collect()
}

#[test]
fn no_circle_of_files_crosses_rooms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    files.sort();
    let mut wrong = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("lib.rs")) {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
        wrong.extend(circles(name, &std::fs::read_to_string(file).unwrap()));
    }
    assert!(files.len() > 30, "{} files", files.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_circle_is_found() {
    assert_eq!(circles("timing/bus.rs", "use crate::machine::price;\n// crate::node\n"), Vec::<String>::new());
    let wrong = circles("timing/bus.rs", "use crate::node::NodeState;\nlet x = crate::runs::run();\n");
    assert_eq!(wrong, ["timing/bus.rs, in room timing, uses node", "timing/bus.rs, in room timing, uses runs"]);
    assert_eq!(circles("other.rs", ""), ["other.rs is in no room"]);
}

/// The types that a text defines.
fn types(text: &str) -> Vec<&str> {
    let name = |line: &'_ str| -> Option<(usize, usize)> {
        let rest = line
            .strip_prefix("pub ")
            .or_else(|| line.split_once(") ").filter(|(head, _)| head.starts_with("pub(")).map(|(_, rest)| rest))
            .unwrap_or(line);
        let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| rest.strip_prefix(kind))?;
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let from = line.len() - rest.len();
        Some((from, from + length))
    };
    text.lines().filter_map(|line| name(line).map(|(from, to)| &line[from..to])).collect()
}

#[test]
fn one_name_means_one_thing() {
    assert_eq!(types("pub struct A {\nenum B<T> {\n    type Value = u8;\npub(crate) type C = u8;\n"), ["A", "B", "C"]);
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let mut names: Vec<&str> = texts.iter().flat_map(|text| types(text)).collect();
    names.sort_unstable();
    let twice: Vec<&str> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    assert!(names.len() > 100 && twice.is_empty(), "{twice:?} of {}", names.len());
}
