//! What `ARCHITECTURE.md` says of the sources: which crate may use which, and that a type's name means one thing. Modules are those
//! of `modules`.

use crate::modules::{root_of, sources};
use std::process::Command;

/// Our crates, each with those that it uses. Tests may use `lang` everywhere, since they
/// begin with a protocol's text; nobody else uses `contract`.
const CRATES: [(&str, &[&str]); 16] = [
    ("diagnostic", &[]),
    ("files", &[]),
    ("front", &["diagnostic"]),
    ("fuzz", &[]),
    ("protocol", &["diagnostic"]),
    ("lang", &["diagnostic", "files", "protocol"]),
    ("engine", &["diagnostic", "protocol"]),
    ("contract", &["engine", "protocol"]),
    ("check", &["diagnostic", "engine", "files", "protocol"]),
    ("export", &["check", "diagnostic", "engine", "protocol"]),
    ("guest", &["diagnostic", "files"]),
    ("node", &["diagnostic", "engine", "guest", "protocol"]),
    ("sim", &["diagnostic", "engine", "files", "guest", "node", "protocol"]),
    ("run", &["diagnostic", "engine", "guest", "mpi", "node", "protocol"]),
    ("mpi", &[]),
    (
        "trivium",
        &[
            "check",
            "diagnostic",
            "engine",
            "export",
            "files",
            "front",
            "guest",
            "lang",
            "mpi",
            "protocol",
            "run",
            "sim",
        ],
    ),
];

/// The names of our crates as the table has them.
fn short(name: &str) -> Option<&str> {
    (name == "trivium").then_some(name).or_else(|| name.strip_prefix("trivium-"))
}

/// For each of our crates, as Cargo tells it, those of ours that it uses, but for its tests.
fn uses(metadata: &serde_json::Value) -> Vec<(String, Vec<String>)> {
    let used = |package: &serde_json::Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        let kept = all.filter(|dependency| dependency["kind"] != "dev");
        let mut names: Vec<String> =
            kept.filter_map(|dependency| short(dependency["name"].as_str().unwrap())).map(str::to_string).collect();
        names.sort();
        names
    };
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|package| (short(package["name"].as_str().unwrap()).unwrap().to_string(), used(package))).collect()
}

#[test]
fn crates_use_only_those_that_they_may_know() {
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or("cargo".to_string()));
    cargo.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let told = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let mut found = uses(&serde_json::from_slice(&told.stdout).unwrap());
    found.sort();
    let owned = |(name, uses): &(&str, &[&str])| (name.to_string(), uses.iter().map(|name| name.to_string()).collect());
    let mut allowed: Vec<(String, Vec<String>)> = CRATES.iter().map(owned).collect();
    allowed.sort();
    assert_eq!(found, allowed);
}

#[test]
fn a_parser_in_a_backend_is_found() {
    let uses_of = |kind: &str| {
        let text = format!(
            r#"{{"packages": [{{"name": "trivium-sim", "dependencies": [
                {{"name": "trivium-lang", "kind": {kind}}}, {{"name": "serde", "kind": null}}]}}]}}"#
        );
        uses(&serde_json::from_str(&text).unwrap())
    };
    assert_eq!(uses_of("null"), [("sim".to_string(), vec!["lang".to_string()])]);
    assert_eq!(uses_of(r#""dev""#), [("sim".to_string(), vec![])]);
}

/// A type that a text defines, and whether other crates may see it.
#[derive(Clone, Debug, PartialEq)]
struct Defined {
    name: String,
    is_public: bool,
}

/// The types that a text defines, but for those within functions and other modules.
fn types(text: &str) -> Vec<Defined> {
    let defined = |line: &str| {
        let (is_public, rest) = match line.strip_prefix("pub ") {
            Some(rest) => (true, rest),
            None => {
                (false, line.split_once(") ").filter(|(head, _)| head.starts_with("pub(")).map_or(line, |(_, r)| r))
            }
        };
        let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|kind| rest.strip_prefix(kind))?;
        let name = rest.split(|c: char| !c.is_alphanumeric()).next()?.to_string();
        Some(Defined { name, is_public })
    };
    text.lines().filter_map(defined).collect()
}

/// All types of a crate, but for those of one file.
fn types_of(name: &str, without: Option<&str>) -> Vec<Defined> {
    let mut files = Vec::new();
    sources(&root_of(name), &mut files);
    files.retain(|file| without.is_none_or(|without| !file.ends_with(without)));
    files.sort();
    files.iter().flat_map(|file| types(&std::fs::read_to_string(file).unwrap())).collect()
}

/// Names that stand for several types of one crate, and why: each is the same kind of thing, for another part of the crate.
const ALIKE_WITHIN: [(&str, &str, &str); 6] = [
    ("check", "End", "why a search ended: each search has its own reasons"),
    ("check", "Found", "what a search has found violated, and as much of the way there as this search knows"),
    ("check", "Lost", "the same for searches that have forgotten the way and have to find it again"),
    ("export", "Scope", "what names mean where an expression stands: of a protocol, and in SPIN's C"),
    ("export", "Writer", "writes what it is given: a handler's steps as statements of a model, and a model as Promela"),
    ("guest", "Function", "what a program imports: of our module, and of WASI"),
];

#[test]
fn within_a_crate_one_name_means_one_thing() {
    let line = "pub struct A {\nenum B<T> {\n    type Value = u8;\npub(crate) type C = u8;\n";
    let names: Vec<(String, bool)> = types(line).into_iter().map(|found| (found.name, found.is_public)).collect();
    assert_eq!(names, [("A".to_string(), true), ("B".to_string(), false), ("C".to_string(), false)]);
    let mut twice = Vec::new();
    for (name, _) in CRATES {
        let mut names: Vec<String> = types_of(name, None).into_iter().map(|found| found.name).collect();
        names.sort();
        let mut found: Vec<String> =
            names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect();
        found.dedup();
        twice.extend(found.into_iter().map(|found| (name, found)));
    }
    twice.sort();
    let allowed: Vec<(&str, String)> = ALIKE_WITHIN.iter().map(|(of, name, _)| (*of, name.to_string())).collect();
    assert_eq!(twice, allowed);
}

/// Names of types that a crate shares with a type of another that its readers meet, and why this does not mislead.
const ALIKE_ACROSS: [(&str, &str); 23] = [
    ("Ended", "how a run has ended: a simulated one, and a real one"),
    ("Engine", "what runs handlers: the code that does, and in `sim` the part of a machine whose time it takes"),
    ("Event", "an event: as the engine takes it, and by the names under which a chart keeps it"),
    ("Expr", "an expression: of a protocol, and of a model for other checkers"),
    (
        "Fairness",
        "what is assumed of events that must happen: as it is searched with, and as the command line names it",
    ),
    ("Lane", "a lane: as declared, and in `sim` what of a node waits for room on it"),
    ("Line", "a cache's line; in a study's file, which has that word, a line of a picture"),
    ("Local", "what belongs to one handler; in `sim` an event that belongs to one node"),
    ("MissKind", "a kind of miss: as asked for, and as `sim` takes it"),
    ("MissPlace", "where a miss finds what it needs: as asked for, and as `sim` takes it"),
    ("Network", "the order of messages: as asked for, and as `check` takes it"),
    ("Op", "what is done: an instruction's, and a call's, which is an op of the language"),
    ("Place", "a variable or its field, as compilers call it; privately in `sim` a node of the tree of folded prices"),
    ("Script", "what threads do one after the other: of a scenario, and of a forced order"),
    ("Setup", "what is run: in simulated time, and for real"),
    ("Slot", "where something is kept: a handler's local, and a record"),
    ("Stage", "how far asking all nodes has come; for users of `guest` where a thread has its nodes"),
    ("System", "the system that is explored: as asked for, and as `check` takes it"),
    ("Thread", "a thread: by its number, and in `node` with its state"),
    ("Transport", "how packets travel: as asked for, and what `run` expects of it"),
    ("Type", "a type: of a protocol, and of a model in SPIN's language"),
    ("Value", "a value: of a record's variable, and of an expression in SPIN's language"),
    ("World", "all processes, as MPI calls them; in `sim` all nodes"),
];

#[test]
fn across_crates_one_name_means_one_thing() {
    // Only tests know `contract`, and `fuzz` knows nobody. What a syntax tree says is written, `protocol` says it means: both
    // have the language's words.
    let crates: Vec<(&str, &[&str], Vec<Defined>)> = CRATES
        .iter()
        .filter(|(name, _)| !["contract", "fuzz"].contains(name))
        .map(|(name, uses)| (*name, *uses, types_of(name, (*name == "lang").then_some("ast.rs"))))
        .collect();
    let mut alike = std::collections::BTreeSet::new();
    for (name, _, of_one) in &crates {
        for (_, uses, of_other) in crates.iter().filter(|(other, ..)| other != name) {
            let meets = |found: &&Defined| {
                let same = of_one.iter().any(|one| one.is_public && one.name == found.name);
                same && (found.is_public || uses.contains(name))
            };
            alike.extend(of_other.iter().filter(meets).map(|found| found.name.clone()));
        }
    }
    let allowed: Vec<&str> = ALIKE_ACROSS.iter().map(|(name, _)| *name).collect();
    assert_eq!(alike.iter().map(String::as_str).collect::<Vec<_>>(), allowed);
}

/// What stands in a folder of tests and is no module of its program: it would be compiled by nobody, and pass.
fn forgotten(listed: &str, files: &[&str]) -> Vec<String> {
    let modules = files.iter().map(|file| file.trim_end_matches(".rs")).filter(|module| *module != "main");
    modules.filter(|module| !listed.lines().any(|line| line == format!("mod {module};"))).map(str::to_string).collect()
}

#[test]
fn every_file_of_tests_is_in_its_program() {
    let programs = CRATES.iter().flat_map(|(name, _)| ["suite", "mpi"].map(|program| (name, program)));
    let folders = programs.map(|(name, program)| root_of(name).with_file_name("tests").join(program));
    let mut looked_at = 0;
    for folder in folders.filter(|folder| folder.exists()) {
        let entries =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        // Beside the file of a module there may be a folder with more of it.
        let files: Vec<String> = entries.collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let listed = std::fs::read_to_string(folder.join("main.rs")).unwrap();
        assert_eq!(forgotten(&listed, &files), Vec::<String>::new(), "{}", folder.display());
        looked_at += files.len();
    }
    assert!(looked_at > 100, "{looked_at} files");
    assert_eq!(forgotten("mod run;\n", &["run.rs", "main.rs", "harness", "lost.rs"]), ["harness", "lost"]);
}
