//! Which files of a crate use which: the modules of `ARCHITECTURE.md` in their order, no circle across modules, and circles within
//! one only where it is said why. Uses are found in the text, by way of `crate::`, `super::`, `self::` and modules within: what a test module
//! uses does not count, and a name that a module takes out of another by `pub use` is the other's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The modules of crates that have an order, each after all that it may use.
const LAYERS: [(&str, &[&str]); 5] = [
    ("check", &["config", "system", "coverage", "step", "report", "search", "chart", "runs"]),
    ("export", &["lines", "model", "meaning", "murphi", "spin"]),
    ("node", &["error", "space", "thread", "records", "core", "handler", "call"]),
    ("run", &["packets", "transport", "reports", "history", "node", "runs"]),
    ("sim", &["machine", "reports", "events", "timing", "node", "order", "runs"]),
];

/// Crates whose modules have no table: none of them uses itself by way of others.
const WITHOUT_LAYERS: [&str; 11] =
    ["contract", "diagnostic", "engine", "files", "front", "fuzz", "guest", "lang", "mpi", "protocol", "trivium"];

/// A module or a name, by the names that lead to it from the crate's root.
type Names = Vec<String>;

/// A folder of sources.
struct Crate {
    /// The text of each module, without its tests.
    texts: BTreeMap<Names, String>,
}

impl Crate {
    fn of(name: &str) -> Crate {
        let root = root_of(name);
        let mut files = Vec::new();
        sources(&root, &mut files);
        let path = |file: &Path| file.strip_prefix(&root).unwrap().to_str().unwrap().to_string();
        Crate::from(files.iter().map(|file| (path(file), std::fs::read_to_string(file).unwrap())))
    }

    fn from(files: impl Iterator<Item = (String, String)>) -> Crate {
        let mut texts = BTreeMap::new();
        for (path, text) in files {
            let mut names: Names = path.trim_end_matches(".rs").split('/').map(str::to_string).collect();
            if names.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
                names.pop();
            }
            if !names.last().is_some_and(|last| last.ends_with("tests")) {
                let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
                texts.entry(names).or_insert_with(String::new).push_str(code);
            }
        }
        Crate { texts }
    }

    /// What each module uses of others. The crate's root is none of them: it has what all share.
    fn uses(&self) -> BTreeMap<Names, BTreeSet<Names>> {
        let read: BTreeMap<&Names, Mentioned> =
            self.texts.iter().map(|(own, text)| (own, self.mentioned(own, text))).collect();
        let mut taken_up = BTreeMap::new();
        for (own, mentioned) in &read {
            for path in &mentioned.taken_up {
                let name = path.last().expect("a path has names").clone();
                taken_up.insert([&own[..], &[name]].concat(), path.clone());
            }
        }
        let of = |own: &Names, mentioned: &Mentioned| {
            let modules = mentioned.used.iter().filter_map(|path| self.module_of(path, &taken_up));
            modules.filter(|module| module != own && !module.is_empty()).collect()
        };
        read.iter()
            .filter(|(own, _)| !own.is_empty())
            .map(|(own, mentioned)| ((*own).clone(), of(own, mentioned)))
            .collect()
    }

    /// The module in which a name is defined, the root but for what it takes up.
    fn module_of(&self, path: &Names, taken_up: &BTreeMap<Names, Names>) -> Option<Names> {
        let mut path = path.clone();
        for _ in 0..8 {
            // A module may share its name with a function that is taken out of it.
            let is_taken = |length: usize| match self.texts.contains_key(&path[..length]) {
                true => None,
                false => Some((length, taken_up.get(&path[..length])?)),
            };
            let Some((length, taken)) = (1..=path.len()).find_map(is_taken) else { break };
            path = [&taken[..], &path[length..]].concat();
        }
        (0..=path.len()).rev().map(|length| path[..length].to_vec()).find(|module| self.texts.contains_key(module))
    }

    fn mentioned(&self, own: &Names, text: &str) -> Mentioned {
        let tokens = tokens(text);
        let is_within = |name: &str| self.texts.contains_key(&[&own[..], &[name.to_string()]].concat());
        let mut mentioned = Mentioned::default();
        let (mut at, mut is_taken_up) = (0, false);
        while at < tokens.len() {
            let follows = at > 0 && tokens[at - 1] == "::";
            let leads_on = tokens.get(at + 1) == Some(&"::");
            let base = match tokens[at] {
                "use" => {
                    is_taken_up = at > 0 && ["pub", ")"].contains(&tokens[at - 1]);
                    None
                }
                ";" => {
                    is_taken_up = false;
                    None
                }
                "crate" if leads_on => Some((Names::new(), at + 2)),
                "self" if leads_on && !follows => Some((own.clone(), at + 2)),
                "super" if leads_on && !follows => {
                    let chain = (0..).take_while(|n| tokens.get(at + 2 * n) == Some(&"super")).count();
                    Some((own[..own.len().saturating_sub(chain)].to_vec(), at + 2 * chain))
                }
                name if leads_on && !follows && is_within(name) => Some((own.clone(), at)),
                _ => None,
            };
            match base {
                Some((base, first)) => {
                    let found = if is_taken_up { &mut mentioned.taken_up } else { &mut mentioned.used };
                    at = paths(&tokens, first, &base, found);
                }
                None => at += 1,
            }
        }
        mentioned
    }
}

/// Paths in a text.
#[derive(Default)]
struct Mentioned {
    used: Vec<Names>,
    /// Those that `pub use` makes names of this module.
    taken_up: Vec<Names>,
}

/// Names, `::` and single characters, without comments.
fn tokens(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            _ if is_part(first) => rest.find(|c| !is_part(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        if !token.trim().is_empty() && !token.starts_with("//") {
            tokens.push(token);
        }
        rest = after;
    }
    tokens
}

/// The paths that begin at a token, those in braces each; where they end.
fn paths(tokens: &[&str], at: usize, base: &[String], found: &mut Vec<Names>) -> usize {
    match tokens.get(at) {
        Some(&"{") => {
            let mut at = at + 1;
            while at < tokens.len() && tokens[at] != "}" {
                at = if tokens[at] == "," { at + 1 } else { paths(tokens, at, base, found).max(at + 1) };
            }
            at + 1
        }
        Some(name) if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
            let path = [base, &[name.to_string()]].concat();
            if tokens.get(at + 1) == Some(&"::") {
                return paths(tokens, at + 2, &path, found);
            }
            found.push(if *name == "self" { base.to_vec() } else { path });
            at + 1
        }
        _ => {
            found.push(base.to_vec());
            at
        }
    }
}

/// Sets of modules each of which uses itself by way of the others.
fn circles(uses: &BTreeMap<Names, BTreeSet<Names>>) -> Vec<Vec<Names>> {
    let reached = |from: &Names| {
        let (mut seen, mut left) = (BTreeSet::new(), vec![from]);
        while let Some(module) = left.pop() {
            left.extend(uses[module].iter().filter(|used| seen.insert((*used).clone())));
        }
        seen
    };
    let all: BTreeMap<&Names, BTreeSet<Names>> = uses.keys().map(|module| (module, reached(module))).collect();
    let mut found: BTreeSet<Vec<Names>> = BTreeSet::new();
    for (module, reached) in all.iter().filter(|(module, reached)| reached.contains(**module)) {
        found.insert(reached.iter().filter(|other| all[other].contains(*module)).cloned().collect());
    }
    found.into_iter().collect()
}

/// Where the sources of a crate are.
pub fn root_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name).join("src")
}

/// All files below a folder.
pub fn sources(folder: &Path, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() { sources(&entry, all) } else { all.push(entry) }
    }
}

/// Uses of modules that stand after one's own, or that are in no list.
fn against_the_order(uses: &BTreeMap<Names, BTreeSet<Names>>, order: &[&str]) -> Vec<String> {
    let place =
        |module: &Names| order.iter().position(|known| Some(known) == module.first().map(String::as_str).as_ref());
    let mut wrong = Vec::new();
    for (module, used) in uses {
        let Some(own) = place(module) else {
            wrong.push(format!("{} is in no module", module.join("/")));
            continue;
        };
        let after = used.iter().filter(|used| place(used).is_none_or(|used| used > own));
        wrong.extend(after.map(|used| format!("{} uses {}", module.join("/"), used.join("/"))));
    }
    wrong
}

/// All crates.
fn crates() -> impl Iterator<Item = &'static str> {
    WITHOUT_LAYERS.into_iter().chain(LAYERS.map(|(name, _)| name))
}

#[test]
fn modules_keep_to_their_order() {
    for (name, order) in LAYERS {
        let uses = Crate::of(name).uses();
        assert!(uses.len() > 20 && uses.values().map(BTreeSet::len).sum::<usize>() > 40, "{name}: {uses:?}");
        assert_eq!(against_the_order(&uses, order), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn no_circle_crosses_modules() {
    for name in crates() {
        for circle in circles(&Crate::of(name).uses()) {
            let first = |module: &Names| module.first().cloned();
            assert!(circle.iter().all(|module| first(module) == first(&circle[0])), "{name}: {circle:?}");
        }
    }
}

/// Crates, and modules of each.
type Modules = &'static [(&'static str, &'static [&'static str])];

/// Why the files of a module use each other in a circle, and the modules: a file that is cut where it grew too long is easier to read than
/// one of two thousand lines, and more so than a type that is cut for the sake of its files.
const WITHIN: [(&str, Modules); 3] = [
    (
        "the methods of one type, in files by what they are about, call each other: its state cannot be cut where its files are",
        &[
            ("check", &["search", "step", "system"]),
            ("export", &["meaning"]),
            ("front", &["dialect/c_star", "dialect/c_star_interpret"]),
            ("guest", &["host", "rewrite"]),
            ("lang", &["analyse", "compile"]),
            ("run", &["node"]),
            ("sim", &["node"]),
        ],
    ),
    (
        "a module has what its variants share, and makes the one that is asked for",
        &[
            ("sim", &["timing/engines", "timing/networks", "timing/ports"]),
            ("trivium", &["commands", "commands/study"]),
        ],
    ),
    (
        "a module has a type, and a part of its work in a file of its own, which takes that type",
        &[
            ("check", &["coverage", "report"]),
            ("fuzz", &["stress"]),
            ("guest", &["inputs"]),
            ("lang", &["show/svg"]),
            ("run", &["reports/trace"]),
            ("sim", &["machine"]),
            ("trivium", &["page"]),
        ],
    ),
];

/// For each crate, the folders in which files use each other in circles.
fn folders_with_circles(name: &str) -> BTreeSet<String> {
    let common = |circle: &Vec<Names>| {
        let (first, last) = (&circle[0], &circle[circle.len() - 1]);
        let alike = first.iter().zip(last).take_while(|(one, other)| one == other);
        alike.map(|(one, _)| one.as_str()).collect::<Vec<_>>().join("/")
    };
    circles(&Crate::of(name).uses()).iter().map(common).collect()
}

#[test]
fn circles_within_a_module_are_those_that_are_known() {
    for name in crates() {
        let known = WITHIN.iter().flat_map(|(_, modules)| modules.iter()).filter(|(of, _)| *of == name);
        let known: BTreeSet<String> =
            known.flat_map(|(_, folders)| folders.iter().map(|folder| folder.to_string())).collect();
        assert_eq!(folders_with_circles(name), known, "{name}");
    }
}

#[test]
fn uses_are_found_however_they_are_written() {
    let files = [
        ("lib.rs", "mod timing;\nmod node;\npub use node::Engine;\n"),
        (
            "timing/mod.rs",
            "pub mod bus;\nuse bus::Wire;\n// crate::node\n#[cfg(test)]\nmod tests {\n    use crate::node::X;\n}",
        ),
        ("timing/bus.rs", "use super::{clock::{self, Tick}, Mode};\nlet x = crate::node::run();\n"),
        ("timing/clock.rs", "fn f(x: super::super::Engine) { std::clock::now() }\n"),
        ("node/mod.rs", "mod state;\npub(crate) use state::Engine;\n"),
        ("node/state.rs", "use crate::timing::bus;\n"),
    ];
    let uses = Crate::from(files.iter().map(|(path, text)| (path.to_string(), text.to_string()))).uses();
    let of = |name: &str| -> Vec<String> {
        let module: Names = name.split('/').filter(|part| !part.is_empty()).map(str::to_string).collect();
        uses[&module].iter().map(|used| used.join("/")).collect()
    };
    assert_eq!(of("timing/bus"), ["node", "timing", "timing/clock"]);
    assert_eq!((of("timing"), of("timing/clock")), (vec!["timing/bus".to_string()], vec!["node/state".to_string()]));
    assert_eq!((of("node"), of("node/state")), (vec![], vec!["timing/bus".to_string()]));
    let wrong = ["timing/bus uses node", "timing/clock uses node/state"];
    assert_eq!(against_the_order(&uses, &["timing", "node"]), wrong);
    let circle = ["node/state", "timing", "timing/bus", "timing/clock"];
    assert_eq!(circles(&uses), [circle.map(|name| name.split('/').map(str::to_string).collect::<Names>())]);
}
