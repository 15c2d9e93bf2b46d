//! What `ARCHITECTURE.md` says of the sources: which crate may use which; the modules of `check` and `sim`, each of which
//! uses only those before it; that the modules of other crates use each other in one direction; and that a type's name means
//! one thing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Our crates, each with those that it uses. Tests may use `lang` everywhere, since they
/// begin with a protocol's text; nobody else uses `contract`.
const CRATES: [(&str, &[&str]); 15] = [
    ("files", &[]),
    ("front", &[]),
    ("fuzz", &[]),
    ("protocol", &[]),
    ("lang", &["files", "protocol"]),
    ("engine", &["protocol"]),
    ("contract", &["engine", "protocol"]),
    ("check", &["engine", "files", "protocol"]),
    ("export", &["check", "engine", "protocol"]),
    ("guest", &["files"]),
    ("node", &["engine", "guest", "protocol"]),
    ("sim", &["engine", "files", "guest", "node", "protocol"]),
    ("run", &["engine", "guest", "mpi", "node", "protocol"]),
    ("mpi", &[]),
    ("trivium", &["check", "engine", "export", "files", "front", "guest", "lang", "mpi", "protocol", "run", "sim"]),
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

/// The modules of crates, each after all that it may use.
const LAYERS: [(&str, &[&str]); 3] = [
    ("check", &["config", "system", "coverage", "step", "report", "search", "chart", "runs"]),
    ("node", &["error", "space", "thread", "records", "core", "handler", "call"]),
    ("sim", &["machine", "reports", "events", "timing", "node", "order", "runs"]),
];

/// Where the sources of a crate are.
fn root_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name).join("src")
}

fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { sources(&entry, all) } else { all.push(entry) }
    }
}

/// The modules that a text names as `crate::MODULE`.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let rest = code.flat_map(|line| line.match_indices("crate::").map(|(at, _)| &line[at + "crate::".len()..]));
    rest.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

/// The uses of modules that stand behind, or that nobody knows.
fn circles(modules: &[&str], file: &str, text: &str) -> Vec<String> {
    let place = |module: &str| modules.iter().position(|known| *known == module);
    let own = file.trim_end_matches(".rs").split('/').next().unwrap_or("");
    let Some(own) = place(own) else { return vec![format!("{file} is in no module")] };
    let behind = |module: &&str| place(module).is_none_or(|used| used > own);
    named(text).filter(behind).map(|module| format!("{file}, in module {}, uses {module}", modules[own])).collect()
}

#[test]
fn no_circle_of_files_crosses_modules() {
    for (name, modules) in LAYERS {
        let root = root_of(name);
        let mut files = Vec::new();
        sources(&root, &mut files);
        files.sort();
        let mut wrong = Vec::new();
        for file in files.iter().filter(|file| !file.ends_with("lib.rs")) {
            let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
            wrong.extend(circles(modules, name, &std::fs::read_to_string(file).unwrap()));
        }
        assert!(files.len() > 20, "{} files of {name}", files.len());
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

#[test]
fn a_circle_is_found() {
    let circles = |file, text| circles(&["machine", "timing", "node", "runs"], file, text);
    assert_eq!(circles("timing/bus.rs", "use crate::machine::price;\n// crate::node\n"), Vec::<String>::new());
    let wrong = circles("timing/bus.rs", "use crate::node::NodeState;\nlet x = crate::runs::run();\n");
    assert_eq!(wrong, ["timing/bus.rs, in module timing, uses node", "timing/bus.rs, in module timing, uses runs"]);
    assert_eq!(circles("other.rs", ""), ["other.rs is in no module"]);
}

/// The words after `crate::` in a text, all those in braces included.
fn words_after_crate(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let code = text.match_indices("crate::").filter(|(at, _)| {
        let line = &text[text[..*at].rfind('\n').map_or(0, |end| end + 1)..*at];
        !line.trim_start().starts_with("//")
    });
    let rest = code.map(|(at, _)| &text[at + "crate::".len()..]);
    let meant = rest.map(|rest| match rest.starts_with('{') {
        true => &rest[..rest.find(';').unwrap_or(rest.len())],
        false => &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())],
    });
    meant.flat_map(|meant| meant.split(|c| !is_part(c)).filter(|word| !word.is_empty())).collect()
}

/// What `pub use` in a crate's root takes out of its modules: the name, and the module.
fn taken_up(root: &str) -> Vec<(&str, &str)> {
    let uses = root.split("pub use ").skip(1).filter_map(|rest| rest.split_once(';')).map(|(used, _)| used);
    let parts = uses.filter_map(|used| used.trim_start_matches("crate::").split_once("::"));
    parts
        .flat_map(|(module, names)| {
            names.split(|c: char| !c.is_alphanumeric() && c != '_').map(move |name| (name, module))
        })
        .collect()
}

/// The modules of a crate that lie on a circle of uses, or lead only to such. `modules` are their names and texts.
fn on_circles(root: &str, modules: &[(String, String)]) -> Vec<String> {
    let taken_up = taken_up(root);
    let module_of = |word: &str| {
        let module = taken_up.iter().find(|(name, _)| *name == word).map_or(word, |(_, module)| module);
        modules.iter().position(|(name, _)| name == module)
    };
    let uses: Vec<Vec<usize>> = modules
        .iter()
        .enumerate()
        .map(|(own, (_, text))| {
            words_after_crate(text).into_iter().filter_map(module_of).filter(|used| *used != own).collect()
        })
        .collect();
    let mut left: Vec<usize> = (0..modules.len()).collect();
    loop {
        let (free, bound): (Vec<usize>, Vec<usize>) =
            left.iter().partition(|module| !uses[**module].iter().any(|used| left.contains(used)));
        if free.is_empty() {
            return bound.iter().map(|module| modules[*module].0.clone()).collect();
        }
        left = bound;
    }
}

/// The text of a crate's roots, and its modules with all that lies in them.
fn modules_of(name: &str) -> (String, Vec<(String, String)>) {
    let folder = root_of(name);
    let mut files = Vec::new();
    sources(&folder, &mut files);
    files.sort();
    let (mut root, mut modules) = (String::new(), std::collections::BTreeMap::<String, String>::new());
    for file in files {
        let path = file.strip_prefix(&folder).unwrap().to_str().unwrap().trim_end_matches(".rs");
        let text = std::fs::read_to_string(&file).unwrap();
        match path.split('/').next().unwrap_or("") {
            "lib" | "main" => root.push_str(&text),
            module => modules.entry(module.to_string()).or_default().push_str(&text),
        }
    }
    (root, modules.into_iter().collect())
}

/// Crates without modules: none of their modules uses itself by way of others.
const WITHOUT_CIRCLES: [&str; 12] =
    ["contract", "engine", "export", "files", "front", "fuzz", "guest", "lang", "mpi", "protocol", "run", "trivium"];

#[test]
fn modules_use_each_other_in_one_direction() {
    for name in WITHOUT_CIRCLES {
        let (root, modules) = modules_of(name);
        assert!(!root.is_empty());
        assert_eq!(on_circles(&root, &modules), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_circle_of_modules_is_found() {
    let modules = |texts: &[(&str, &str)]| -> Vec<(String, String)> {
        texts.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
    };
    let root = "mod load;\nmod run;\npub use run::{Engine, Run};\n";
    let circle = modules(&[
        ("load", "use crate::{number, Engine};\n"),
        ("run", "    crate::load::plan();\n"),
        ("number", "// crate::run\n"),
    ]);
    assert_eq!(on_circles(root, &circle), ["load", "run"]);
    let line = modules(&[("load", "use crate::number::fit;\n"), ("run", "use crate::load;\n"), ("number", "")]);
    assert_eq!(on_circles(root, &line), Vec::<String>::new());
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
const ALIKE_WITHIN: [(&str, &str, &str); 7] = [
    ("check", "End", "why a search ended: each search has its own reasons"),
    ("check", "Found", "what a search has found violated, and as much of the way there as this search knows"),
    ("check", "Lost", "the same for searches that have forgotten the way and have to find it again"),
    ("export", "Scope", "what names mean where an expression stands: in Murphi, and in SPIN's C"),
    ("export", "Writer", "writes a model's text: in Murphi, and in Promela"),
    ("guest", "Function", "what a program imports: of our module, and of WASI"),
    ("lang", "Summary", "what one handler does, as far as one analysis asks"),
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
const ALIKE_ACROSS: [(&str, &str); 22] = [
    ("Ended", "how a run has ended: a simulated one, and a real one"),
    ("Engine", "what runs handlers: the code that does, and in `sim` the part of a machine whose time it takes"),
    ("Event", "an event: as the engine takes it, and by the names under which a chart keeps it"),
    ("Expr", "an expression: of a protocol, and of a model in SPIN's language"),
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
