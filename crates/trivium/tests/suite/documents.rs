//! What the documents print is what the program prints.
//!
//! In `docs/checking.md`, `docs/tutorial.md`, `docs/idea-to-cluster.md`, `docs/split-c.md` and `docs/cstar.md` each line `$ trivium ..` of a `console` block is run at the
//! repository's root, and below it stands what it prints (`| head -N`, `| tail -N`: some of the lines); and each row of the table of
//! protocols is checked. Lines `$ mpirun ..` are run where these tests are built with MPI (`make test-mpi`).
//! In the systems of its rows, each (state, event) pair of a protocol happens that is not declared impossible. A protocol that is made of several
//! others (`use`) may leave a pair to the rows of one of these.
//! A document with much to do is looked at in parts, a test each, so that none takes long.
//! `UPDATE=1 cargo test -p trivium --test suite documents::` writes what is found; look at the difference before you commit it.

use crate::harness;
use crate::harness::shown::printed;
use crate::slow;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = "docs/checking.md";
const TUTORIAL: &str = "docs/tutorial.md";
const IDEA: &str = "docs/idea-to-cluster.md";
const SPLIT_C: &str = "docs/split-c.md";
const C_STAR: &str = "docs/cstar.md";

/// For each protocol the pairs that happen in none of its rows.
type Unreached = BTreeMap<String, BTreeSet<String>>;

/// The part `at` of so many into which a document's commands and rows are dealt out, as cards are.
#[derive(Clone, Copy)]
struct Part {
    at: usize,
    of: usize,
}

impl Part {
    fn has(self, number: usize) -> bool {
        number % self.of == self.at
    }
}

/// Whether a command needs the file that the one before it wrote.
fn goes_on(command: &str) -> bool {
    command.starts_with("trivium replay ") || command.contains(" --resume ")
}

/// The document with what the commands of a part print and its rows of tables say now; the rest as it is written. All rows of a
/// protocol in a table are in one part.
fn rerun(text: &str, part: Part) -> (String, Unreached) {
    let mut found = String::new();
    let mut unreached = Unreached::new();
    let mut lines = text.lines().peekable();
    let (mut commands, mut protocols) = (0, Vec::new());
    while let Some(line) = lines.next() {
        found.push_str(line);
        found.push('\n');
        if let Some(command) = line.strip_prefix("$ ").filter(|command| command.contains("trivium ")) {
            let mut written = Vec::new();
            while let Some(next) = lines.next_if(|next| !next.starts_with("```") && !next.starts_with("$ ")) {
                written.push(next);
            }
            commands += usize::from(!goes_on(command));
            if part.has(commands) {
                found.push_str(&printed(command, &written));
            } else {
                written.iter().for_each(|line| found.push_str(&format!("{line}\n")));
            }
        } else if line.starts_with("| protocol |") {
            while let Some(row) = lines.next_if(|row| row.starts_with('|')) {
                let name = row.split('|').nth(1).unwrap().trim();
                let number = protocols.iter().position(|known| *known == name).unwrap_or_else(|| {
                    protocols.push(name);
                    protocols.len() - 1
                });
                let is_other = row.starts_with("|---") || !part.has(number);
                let row = if is_other { row.to_string() } else { checked(row, &mut unreached) };
                found.push_str(&format!("{row}\n"));
            }
        }
    }
    (found, unreached)
}

/// A row of the table of what other checkers count as it is found: `| name | what is explored | states | transitions |`, and the
/// last two again with all kept.
fn counted(name: &str, options: &str) -> String {
    let counts = |less: &str| {
        let (name, options) = (name.trim_matches('`'), options.trim_matches('`'));
        let command = format!("check {name} {options} --no-symmetry {less} --no-all-parameters --format json");
        let report = harness::trivium(&command.split_whitespace().collect::<Vec<_>>()).json(0);
        let number = |key: &str| grouped(report[key].as_u64().unwrap());
        format!("{} | {}", number("states"), number("transitions"))
    };
    format!("| {name} | {options} | {} | {} |", counts(""), counts("--no-late-values --no-dead-copies"))
}

/// A row of the tables as it is found: `| name | promises | assumptions | what is explored | states | transitions |`; seconds
/// behind them stay as they are written.
fn checked(row: &str, unreached: &mut Unreached) -> String {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    let (name, options, seconds) = match cells.as_slice() {
        [_, options, _, _, _, most] if options.starts_with("`--") && is_left(most) => return row.to_string(),
        [name, options, _, _, _, _] if options.starts_with("`--") => return counted(name, options),
        [name, _, _, options, _, _] => (name, options, String::new()),
        [name, _, _, options, _, _, seconds] => (name, options, format!(" {seconds} |")),
        // Of mutants, which take minutes.
        [_, _, _, _, _, _, _, _] => return row.to_string(),
        _ => panic!("{row}"),
    };
    if is_left(cells.get(4).copied().unwrap_or_default()) {
        // What it reaches is not known, so that nothing is said of what no row reaches.
        unreached.insert(name.trim_matches('`').to_string(), BTreeSet::new());
        return row.to_string();
    }
    let command =
        format!("check {} {} --no-all-parameters --format json", name.trim_matches('`'), options.trim_matches('`'));
    let report = harness::trivium(&command.split_whitespace().collect::<Vec<_>>()).json(0);
    assert_eq!(report["verdict"], "holds", "{row}");
    let never =
        report["coverage"]["unreached"].as_array().unwrap().iter().map(|pair| pair.as_str().unwrap().to_string());
    let never: BTreeSet<String> = never.collect();
    let before = unreached.entry(name.trim_matches('`').to_string()).or_insert_with(|| never.clone());
    before.retain(|pair| never.contains(pair));
    let list = |key: &str| {
        let words: Vec<String> =
            report[key].as_array().unwrap().iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        if words.is_empty() { "none".to_string() } else { words.join(", ") }
    };
    let number = |key: &str| grouped(report[key].as_u64().unwrap());
    format!(
        "| {name} | {} | {} | {options} | {} | {} |{seconds}",
        list("promises"),
        list("assumptions"),
        number("states"),
        number("transitions")
    )
}

/// States of a row (transitions with all kept, where that is compared) from which on it is left to the slow tests.
const MANY: u64 = 30_000;

/// Whether a row with so many states is left to the slow tests.
fn is_left(states: &str) -> bool {
    let states = states.replace(',', "").parse();
    states.is_ok_and(|states: u64| states >= MANY) && !slow::is_asked_for() && std::env::var_os("UPDATE").is_none()
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let parts: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|part| std::str::from_utf8(part).unwrap()).collect();
    parts.join(",")
}

/// A module of tests that together look at a whole document.
macro_rules! parts {
    ($module:ident, $document:expr, $($name:ident: $at:expr),+) => {
        mod $module {
            use super::*;

            const PARTS: &[usize] = &[$($at),+];
            $(
                #[test]
                fn $name() {
                    assert!(PARTS.iter().copied().eq(0..PARTS.len()));
                    is_true($document, Part { at: $at, of: PARTS.len() });
                }
            )+
        }
    };
}

parts!(
    the_chapter_on_checking_is_true, DOCUMENT,
    part_0: 0, part_1: 1, part_2: 2, part_3: 3, part_4: 4, part_5: 5, part_6: 6, part_7: 7, part_8: 8, part_9: 9, part_10: 10, part_11: 11, part_12: 12, part_13: 13, part_14: 14, part_15: 15, part_16: 16
);
parts!(the_tutorial_is_true, TUTORIAL, part_0: 0, part_1: 1);
parts!(the_way_from_an_idea_to_a_cluster_is_true, IDEA, part_0: 0, part_1: 1, part_2: 2);
parts!(the_chapter_on_split_c_is_true, SPLIT_C, part_0: 0, part_1: 1);
parts!(the_chapter_on_c_star_is_true, C_STAR, part_0: 0);

/// The protocols that a page shows are those that it checks.
#[test]
fn what_pages_show_is_in_their_files() {
    let read = |path: &str| std::fs::read_to_string(harness::root().join(path)).unwrap();
    for (page, language, least, files) in [
        (TUTORIAL, "tri", 4, &["tutorial/first.tri", "tutorial/second.tri", "tutorial/one-copy.tri"][..]),
        (IDEA, "tri", 2, &["idea/first.tri", "idea/handover.tri"]),
        (IDEA, "c", 1, &["idea/relay.c"]),
        (SPLIT_C, "c", 6, &["split-c/pointers.sc", "split-c/arrays.sc"]),
        (C_STAR, "c", 9, &["cstar/first.cs", "cstar/places.cs", "cstar/sends.cs", "cstar/small.cs", "cstar/told.cs"]),
    ] {
        let files: Vec<String> = files.iter().map(|file| read(&format!("docs/{file}"))).collect();
        let (text, fence) = (read(page), format!("```{language}\n"));
        let shown: Vec<&str> = text.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(shown.len() >= least, "{page} shows its files");
        for part in shown {
            assert!(files.iter().any(|file| file.contains(part)), "{page}: this is in no file:\n{part}");
        }
    }
}

/// The README shows a whole protocol, all but the comment at its head.
#[test]
fn the_protocol_in_the_readme_is_the_one_that_is_shipped() {
    let read = |file: &str| std::fs::read_to_string(harness::root().join(file)).expect(file);
    let shipped = read("protocols/msi.tri");
    let protocol = &shipped[shipped.find("protocol msi").expect("its first line")..];
    assert!(read("README.md").contains(&format!("```\n{protocol}```\n")), "README.md shows another msi.tri");
}

/// What a protocol is made of has rows, too, and these may be of more nodes: what one of them meets need not happen once more. Nothing is said
/// where it is not known what they meet.
fn leave_to_what_is_used(unreached: &mut Unreached) {
    let used_by = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(harness::root().join(format!("protocols/{name}.tri"))).unwrap_or_default();
        let used = text.lines().filter_map(|line| line.strip_prefix("use \"")?.strip_suffix(".tri\""));
        used.map(str::to_string).collect()
    };
    for (name, mut pairs) in unreached.clone() {
        let used = used_by(&name);
        if !used.is_empty() {
            pairs.retain(|pair| used.iter().all(|used| unreached.get(used).is_some_and(|left| left.contains(pair))));
            unreached.insert(name, pairs);
        }
    }
}

/// Every command of a part of a document prints what stands below it. What is to be written is written once, whole.
fn is_true(document: &str, part: Part) {
    let is_update = std::env::var_os("UPDATE").is_some();
    let part = match (is_update, part.at) {
        (true, 0) => Part { at: 0, of: 1 },
        (true, _) => return,
        (false, _) => part,
    };
    let path = harness::root().join(document);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.matches("$ trivium ").count() > 4, "{document} shows its commands");
    let (found, mut unreached) = rerun(&written, part);
    leave_to_what_is_used(&mut unreached);
    if let Some((name, pairs)) = unreached.iter().find(|(_, pairs)| !pairs.is_empty()) {
        let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
        panic!(
            "{name}: never in the systems of its rows in {DOCUMENT}, section 9:\n  {}\nAdd a row with a system in which \
             it happens (more nodes; `--threads-per-node 2` for what a second thread of a node meets), or declare it \
             in the role: `in STATE on EVENT impossible`",
            pairs.join("\n  ")
        );
    }
    if is_update {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let same = written.lines().zip(found.lines()).take_while(|(w, f)| w == f).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_string();
    assert!(found == written, "{document}:{}\nwritten: {}\nfound:   {}", same + 1, line(&written), line(&found));
}

/// A document whose tables are made from lists in the code: what stands below each head of a table. Tables of keys of
/// results are written by hand.
fn with_tables(written: &str, tables: &[Vec<String>]) -> String {
    let (mut found, mut tables) = (String::new(), tables.iter());
    let (mut in_table, mut head) = (false, "");
    for line in written.lines() {
        if in_table && line.starts_with('|') {
            continue;
        }
        found.push_str(&format!("{line}\n"));
        in_table = line.starts_with("|---") && !head.starts_with("| key |");
        if in_table {
            tables.next().expect("a table too many").iter().for_each(|row| found.push_str(&format!("{row}\n")));
        }
        head = line;
    }
    assert!(tables.next().is_none(), "a table is missing");
    found
}

#[test]
fn the_page_of_statistics_is_the_list_in_the_code() {
    fn rows<T>(statistics: &[trivium_sim::Statistic<T>]) -> Vec<String> {
        statistics.iter().map(|s| format!("| `{}` | {} | {} |", s.name, s.unit, s.definition())).collect()
    }
    let reasons = trivium_sim::REASONS.iter().map(|r| format!("| {} | {} |", r.name(), r.definition())).collect();
    let tables = [rows(trivium_sim::RUN_STATISTICS), rows(trivium_sim::NODE_STATISTICS), reasons];
    let path = harness::root().join("docs/statistics.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let found = with_tables(&written, &tables);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, found).unwrap();
    } else {
        assert_eq!(found, written, "{}", path.display());
    }
    // And results have these keys, no others.
    let em3d =
        ["sim", "programs/em3d.c", "-p", "stache", "-m", "typhoon", "-n", "2", "--format", "json", "--", "-n", "20"];
    let result = harness::trivium(&em3d).json(0);
    let names: Vec<&str> = trivium_sim::NODE_STATISTICS.iter().map(|s| s.name).collect();
    assert_eq!(harness::keys(&result["per_node"][0]), names);
    for statistic in trivium_sim::RUN_STATISTICS {
        let value = statistic.name.split('.').fold(&result, |value, key| &value[key]);
        assert!(value.is_u64() || value.is_object(), "{} in {result}", statistic.name);
    }
}

#[test]
#[ignore = "takes minutes"]
fn the_table_of_long_explorations_is_true() {
    let document = std::fs::read_to_string(harness::root().join(DOCUMENT)).unwrap();
    let rows = document.lines().skip_while(|line| !line.starts_with("| at length |")).skip(2);
    let rows: Vec<&str> = rows.take_while(|line| line.starts_with('|')).collect();
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(checked(row, &mut Unreached::new()), row);
    }
}

#[test]
fn every_protocol_is_in_the_table() {
    let document = std::fs::read_to_string(harness::root().join(DOCUMENT)).unwrap();
    let listed = harness::trivium(&["protocols", "--format", "json"]).json(0);
    let names: Vec<&str> = listed["list"].as_array().unwrap().iter().filter_map(|p| p["name"].as_str()).collect();
    assert!(names.len() > 4, "{listed}");
    for name in names.iter().filter(|name| !name.starts_with("broken/")) {
        assert!(document.contains(&format!("| `{name}` |")), "{name} is not in the table of {DOCUMENT}");
    }
}
