//! What `check` says about a protocol, another checker says about the exported model.
//!
//! Where a protocol holds, the other checker, the fast search without symmetry and (of systems with nothing left out) the brute-force explorer must have seen
//! the same number of states, and as many firings of rules as transitions. Where something is violated, it must be the same.

use crate::file_test::{self, FileTest};
use crate::rumur::RUMUR;
use crate::slow;
use crate::spin::SPIN;
use std::collections::HashSet;
use std::hash::Hash;
use std::mem::{Discriminant, discriminant};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use trivium_check::{Config, Report, Search, System, Verdict, explore};
use trivium_diagnostic::Diagnostic;
use trivium_protocol::walk::{each_step, performs_for_threads};
use trivium_protocol::{Assume, PayloadShape, Protocol, StepKind};

/// Systems in which a fault is looked for: nodes and objects, the smallest first.
const SIZES: [(u32, u32); 4] = [(2, 1), (3, 1), (3, 2), (4, 1)];
/// More states than this are left to the slow tests.
pub const FAST: u64 = 40_000;
pub const SLOW: u64 = 800_000;

/// Another checker.
pub struct Oracle {
    pub name: &'static str,
    /// Programs that must be there, each with an option with which it does nothing.
    pub tools: &'static [(&'static str, &'static str)],
    pub write: fn(&Arc<Protocol>, &System, u32) -> Result<String, Diagnostic>,
    /// Gives it a model, for which there is a folder and a name; whether compiling it well is worth the time.
    pub ask: fn(&Path, &str, &str, bool) -> Result<Answer, String>,
    /// Larger systems are left to the slow tests.
    pub most_states: u64,
    /// Those systems: nodes, objects, threads of each node.
    pub larger: &'static [(u32, u32, u32)],
    /// One of them with more states than this is compared with fewer accesses and calls.
    pub most_slow_states: u64,
    /// All models but this many of each test are left to them, too, since it takes seconds to translate one.
    pub most_models: usize,
}

/// A broken protocol, and what `check` says of it in the smallest system where it is caught.
struct Broken {
    name: String,
    protocol: Arc<Protocol>,
    config: Config<'static>,
    report: Report,
}

impl Broken {
    /// The sort of property that is violated: `invariant`, `mutex`, `fault`.
    fn sort(&self) -> String {
        let property = self.report.property.as_deref().unwrap_or_default();
        property.split([' ', '(']).next().unwrap_or_default().to_string()
    }
}

/// What the other checker says of a model.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    /// What is violated, in its words.
    pub error: Option<String>,
    pub states: u64,
    pub firings: u64,
}

/// A system without symmetry, of which the model knows nothing.
pub fn system(nodes: u32, objects: u32) -> Config<'static> {
    Config { system: System { nodes, objects, ..System::default() }, symmetry: false, ..Config::default() }
}

/// The same system as a model has it: nodes are taken in ascending order, stores that handlers perform for threads are chosen when they begin, and where words travel in lists, of which copies are forgotten on a guess, all are
/// kept.
pub fn as_exported(protocol: &Protocol, config: &Config<'static>) -> Config<'static> {
    let in_lists = protocol.messages.iter().any(|message| message.payload == PayloadShape::List);
    let dead_copies = config.system.dead_copies && !in_lists;
    let late_values = config.system.late_values && !performs_for_threads(protocol);
    Config {
        system: System { every_order: false, dead_copies, late_values, ..config.system.clone() },
        ..config.clone()
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a program, which may end with a code that says that it has found something, if it then says `found` too.
pub fn run(command: &mut Command, found: &str) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if out.status.success() || text.contains(found) {
        return Ok(text);
    }
    Err(format!("{command:?}\n{text}{}", String::from_utf8_lossy(&out.stderr)))
}

/// The last number that stands right before these words.
pub fn number_before(text: &str, words: &str) -> Option<u64> {
    let before = text.rsplit_once(words)?.0;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Rumur where all is tried, else SPIN, whose models are compiled several times as fast.
pub fn quicker() -> Oracle {
    slow::all_or(RUMUR, SPIN)
}

impl Oracle {
    pub fn is_installed(&self) -> bool {
        let found = |(name, option): &(&str, &str)| {
            Command::new(name).arg(option).output().is_ok_and(|out| out.status.success())
        };
        let all = self.tools.iter().all(found);
        if !all {
            println!("skipped: {} is not installed", self.name);
        }
        all
    }

    pub fn is_asked_for_slowly(&self) -> bool {
        if !slow::is_asked_for() {
            println!("skipped: not asked for with TRIVIUM_SLOW=1");
        }
        slow::is_asked_for() && self.is_installed()
    }

    pub fn asked(&self, name: &str, model: &str, optimised: bool) -> Result<Answer, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name);
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        (self.ask)(&folder, name, model, optimised)
    }

    /// What both say of a protocol in a system must be the same.
    pub fn compare(
        &self,
        name: &str,
        protocol: &Arc<Protocol>,
        config: &Config,
        report: &Report,
    ) -> Result<(), String> {
        let asked = |places| {
            let model = (self.write)(protocol, &config.system, places).map_err(|e| format!("{name}: {e}"))?;
            self.asked(name, &model, report.states > FAST)
        };
        let is_small = |error: &String| ["too short", "too small"].iter().any(|small| error.contains(small));
        let answer = match asked(8) {
            Err(error) if is_small(&error) => asked(32)?,
            Ok(Answer { error: Some(error), .. }) if is_small(&error) => asked(32)?,
            answer => answer?,
        };
        let line = format!(
            "{name}: {} nodes, {} objects: check {} {} states {} transitions; {} {answer:?}",
            config.system.nodes, config.system.objects, report.verdict, report.states, report.transitions, self.name
        );
        println!("{line}");
        let same = match report.verdict {
            Verdict::Holds => {
                let counts = (report.states, report.transitions);
                answer.error.is_none()
                    && (answer.states, answer.firings) == counts
                    && by_brute_force(protocol, config)?.is_none_or(|brute| brute == counts)
            }
            Verdict::Violated => {
                let property = report.property.as_deref().unwrap_or_default();
                answer.error.as_deref().is_some_and(|error| means(error, property))
            }
            Verdict::Incomplete => return Err(format!("{line}: not explored to its end")),
        };
        if same { Ok(()) } else { Err(line) }
    }

    pub fn counts_the_same_states_of_every_protocol(&self) {
        if !self.is_installed() {
            return;
        }
        let mut found: Vec<_> = protocols("protocols").into_iter().map(|(name, path)| (name, compile(&path))).collect();
        found.retain(|(_, protocol)| !self.is_refused(protocol, &system(2, 1).system));
        assert!(found.len() >= 30, "only {} protocols have models", found.len());
        let asked = self.adding(found, |(_, protocol)| protocol, |(_, protocol)| kinds(protocol));
        let wrong: Vec<String> = asked
            .iter()
            .flat_map(|(name, protocol)| {
                // What the analyses found dead is compared with by the slow tests only: a model leaves out what they say.
                let whole = system(2, 1);
                let whole = Config { system: whole.system.unreduced(), ..whole };
                let reduced = slow::is_asked_for().then(|| system(2, 1));
                let compared = std::iter::once(whole).chain(reduced).map(|small| {
                    let (config, report) = explore_bounded(protocol, small, FAST);
                    self.compare(name, protocol, &config, &report).err()
                });
                compared.collect::<Vec<_>>()
            })
            .flatten()
            .collect();
        expect_none(&wrong);
    }

    /// Those that are asked about: all of them in the slow tests, else, the shortest models first, each that adds a trait.
    fn adding<T, K: Eq + Hash>(
        &self,
        mut all: Vec<T>,
        protocol: impl Fn(&T) -> &Arc<Protocol>,
        traits: impl Fn(&T) -> HashSet<K>,
    ) -> Vec<T> {
        all.sort_by_cached_key(|one| {
            (self.write)(protocol(one), &system(2, 1).system, 8).map_or(0, |model| model.len())
        });
        if !slow::is_asked_for() {
            let mut had = HashSet::new();
            all.retain(|one| {
                let before = had.len();
                had.extend(traits(one));
                had.len() > before
            });
            all.truncate(self.most_models);
        }
        all
    }

    pub fn finds_the_fault_of_every_broken_protocol(&self) {
        if !self.is_installed() {
            return;
        }
        let found = protocols("protocols/broken");
        assert!(found.len() >= 5, "the broken protocols are not where they should be");
        let found: Vec<Broken> = found.iter().filter_map(|(name, path)| self.broken(name, path)).collect();
        let asked = self.adding(found, |broken| &broken.protocol, |broken| HashSet::from([broken.sort()]));
        let wrong = asked
            .iter()
            .filter_map(|Broken { name, protocol, config, report }| self.compare(name, protocol, config, report).err());
        let wrong: Vec<String> = wrong.collect();
        expect_none(&wrong);
    }

    /// At the smallest size at which `check` catches the fault, the other does too; in the file's own first scenario, if it has one, else in the first of those that it uses.
    fn broken(&self, name: &str, path: &Path) -> Option<Broken> {
        let protocol = compile(path);
        if self.is_refused(&protocol, &system(2, 1).system) {
            println!("broken-{name}: it has no model");
            return None;
        }
        if !protocol.sizes.homes.is_empty() {
            println!("broken-{name}: its blocks have homes that cannot be exported");
            return None;
        }
        // A use that is wrong is a scenario, the first of the file; where the protocol is wrong, it often tells that briefly. Those of
        // the files that it uses come before its own.
        let own = protocol.scenarios.iter().find(|scenario| scenario.span.file == 0);
        let scenario = own.or(protocol.scenarios.first()).map(|scenario| scenario.name.clone());
        let with = SIZES.map(|size| (size, scenario.clone()));
        let without = SIZES.map(|size| (size, None));
        for ((nodes, objects), scenario) in with.into_iter().chain(without) {
            let mut config = Config { max_states: Some(2_000_000), ..system(nodes, objects) };
            config.system.scenario = scenario;
            // A fault that needs more values than two is looked for with as many operations as its file says.
            let System { values, ops, .. } = System::declared(&protocol);
            if values > 2 {
                (config.system.values, config.system.ops) = (values, ops);
            }
            let config = as_exported(&protocol, &config);
            // A scenario may need more nodes.
            let Ok(report) = explore(&protocol, &config) else { continue };
            if report.verdict == Verdict::Violated {
                let broken = Broken { name: format!("broken-{name}"), protocol, config, report };
                return self.is_comparable(&broken).then_some(broken);
            }
        }
        panic!("{name}: not caught in any of the sizes {SIZES:?}")
    }

    /// Whether the model can be asked about a broken protocol.
    fn is_comparable(&self, Broken { name, report, .. }: &Broken) -> bool {
        let property = report.property.as_deref().unwrap_or_default();
        let why_not = if report.states > self.most_states && !slow::is_asked_for() {
            format!("{} states, left to TRIVIUM_SLOW=1", report.states)
        } else if takes_for_ever(property) {
            format!("{property}, which the model does not express")
        } else if property == "deadlock" && EVENTS_THAT_CHANGE_NOTHING.contains(&name.as_str()) {
            "events that change nothing go on, which is no deadlock of the model".into()
        } else if looks_at_what_is_gone(report) {
            "contents that are not there are garbage in the model, and no fault".into()
        } else {
            return true;
        };
        println!("{name}: {why_not}");
        false
    }

    pub fn agrees_about_the_file_tests(&self) {
        if !self.is_asked_for_slowly() {
            return;
        }
        let paths = file_test::paths();
        let mut compared = 0;
        let wrong: Vec<String> = paths
            .iter()
            .filter_map(|path| match self.file_test(path) {
                Ok(true) => {
                    compared += 1;
                    None
                }
                Ok(false) => None,
                Err(error) => Some(error),
            })
            .collect();
        expect_none(&wrong);
        assert!(compared > 40, "only {compared} file tests were compared");
    }

    /// Whether there is no model of it, as where handlers tell a ghost what no call shows.
    fn is_refused(&self, protocol: &Arc<Protocol>, system: &System) -> bool {
        let refused = ["cannot be exported", "in exported models object i is at node i mod the number of nodes"];
        (self.write)(protocol, system, 8).is_err_and(|e| refused.iter().any(|why| e.message.contains(why)))
    }

    /// Whether a file test could be compared: not those of limits and of mistakes.
    fn file_test(&self, path: &Path) -> Result<bool, String> {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let test = FileTest::read(path)?;
        let expected = test.directive("expect").unwrap_or_default();
        let property = expected.strip_prefix("violated ").unwrap_or_default();
        if ["error", "incomplete"].contains(&expected) || takes_for_ever(property) {
            return Ok(false);
        }
        let protocol = Arc::new(test.protocol().map_err(|e| format!("{name}: {e}"))?);
        let config = test.config(&protocol).map_err(|e| format!("{name}: {e}"))?;
        let config = Config { symmetry: false, max_states: None, ..config };
        let config = as_exported(&protocol, &config);
        let report = explore(&protocol, &config).map_err(|e| format!("{name}: {e}"))?;
        if property == "deadlock" && EVENTS_THAT_CHANGE_NOTHING.contains(&name.as_str()) {
            return Ok(false);
        }
        if looks_at_what_is_gone(&report) {
            return Ok(false);
        }
        if self.is_refused(&protocol, &config.system) {
            return Ok(false);
        }
        self.compare(&format!("file-{name}"), &protocol, &config, &report).map(|()| true)
    }

    pub fn counts_the_same_states_of_larger_systems(&self) {
        if !self.is_asked_for_slowly() {
            return;
        }
        let mut wrong = Vec::new();
        for (name, path) in protocols("protocols") {
            for &(nodes, objects, threads_per_node) in self.larger {
                let protocol = compile(&path);
                let mut config = system(nodes, objects);
                config.system.threads_per_node = threads_per_node;
                if threads_per_node > 1 && protocol.assumptions.contains(&Assume::OneThreadPerNode) {
                    continue;
                }
                let (config, report) = explore_bounded(&protocol, config, self.most_slow_states);
                let name = format!("{name}-{nodes}x{objects}x{threads_per_node}");
                if report.states > 4 * self.most_slow_states {
                    println!(
                        "{name}: {} states of one access or call a thread: too many for {}",
                        report.states, self.name
                    );
                    continue;
                }
                wrong.extend(self.compare(&name, &protocol, &config, &report).err());
            }
        }
        expect_none(&wrong);
    }
}

/// States and transitions of the brute force, where nothing is left out of the system.
fn by_brute_force(protocol: &Arc<Protocol>, config: &Config) -> Result<Option<(u64, u64)>, String> {
    if config.system != config.system.unreduced() {
        return Ok(None);
    }
    let brute = Config { search: Search::Brute, ..config.clone() };
    let brute = explore(protocol, &brute).map_err(|e| format!("{}: {e}", protocol.name))?;
    Ok(Some((brute.states, brute.transitions)))
}

/// Broken protocols whose deadlock has events that must happen and change nothing. `check` calls that a deadlock; in an exported model such
/// events count as something that happens (docs/checking.md).
const EVENTS_THAT_CHANGE_NOTHING: [&str; 2] = ["broken-flash-early-forgotten", "body-until-never"];

/// The kinds of steps that a protocol's handlers are made of.
fn kinds(protocol: &Protocol) -> HashSet<Discriminant<StepKind>> {
    let mut kinds = HashSet::new();
    for handler in protocol.roles.iter().flat_map(|role| &role.handlers) {
        each_step(&handler.steps, &mut |step| kinds.extend([discriminant(&step.kind)]));
    }
    kinds
}

/// Whether a handler looks at contents that are not there: to a model these are garbage, and no fault.
fn looks_at_what_is_gone(report: &Report) -> bool {
    report.reason.as_deref().is_some_and(|reason| reason.contains("looks at the contents of"))
}

/// Whether a property is about what can go on for ever: the others decide about states.
fn takes_for_ever(property: &str) -> bool {
    ["livelock", "starvation"].contains(&property) || property.starts_with("leads_to ")
}

/// Whether what the other reports is the violation of a property, or a deadlock that is reached by as many events: it looks
/// at a state when it is found, `check` when it is expanded.
fn means(error: &str, property: &str) -> bool {
    let error = error.replace('"', "");
    match property {
        _ if error.contains("invariant deadlock failed") => true,
        "fault" => error.contains("fault: ") || error.contains("out-of-range"),
        ghost if ghost.starts_with("ghost ") => error.contains("fault: "),
        // What a body cannot work out is a fault of the model.
        scenario if scenario.starts_with("scenario ") && error.contains("fault: a division by zero") => true,
        "last_write" | "last_phase" | "sequential" => error.contains("a read misses the last write"),
        "single_writer" => error.contains("invariant single_writer failed"),
        "coherent" | "tso" => error.contains("a read is too old") || error.contains("a read of garbage"),
        other if other.starts_with("release_consistency") => error.contains("a read is too old"),
        other if other.starts_with("mutex") => error.contains("mutex: "),
        other if other.starts_with("barrier") => error.contains("barrier: "),
        other => error.contains(other.strip_prefix("invariant ").unwrap_or(other)) && error.contains("failed"),
    }
}

/// The `.tri` files of a folder that can be exported, in order.
fn protocols(folder: &str) -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|e| e == "tri")).collect();
    files.sort();
    let is_exported = |protocol: &Protocol| {
        let has_bodies = protocol.ops.iter().any(|op| op.body.is_some());
        !protocol.has_copies() && protocol.images.is_empty() && !has_bodies
    };
    files.retain(|path| is_exported(&compile(path)));
    files.into_iter().map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path)).collect()
}

/// With the values of parameters that are for `check`.
pub fn compile(path: &Path) -> Arc<Protocol> {
    let with = |params: &[(String, i64)]| trivium_lang::compile_file(path, params).unwrap_or_else(|e| panic!("{e}"));
    Arc::new(with(&with(&[]).sizes_to_check()))
}

/// Explores with as many operations of each thread as end below a limit of states.
fn explore_bounded(protocol: &Arc<Protocol>, config: Config<'static>, most: u64) -> (Config<'static>, Report) {
    let config = as_exported(protocol, &config);
    for ops in [None, Some(4), Some(3), Some(2)] {
        let config = Config { max_states: Some(most), ..with_ops(&config, ops) };
        let report = explore(protocol, &config).unwrap_or_else(|e| panic!("{}: {e}", protocol.name));
        if report.verdict == Verdict::Holds {
            return (config, report);
        }
    }
    let config = with_ops(&config, Some(1));
    let report = explore(protocol, &config).unwrap();
    (config, report)
}

fn with_ops(config: &Config<'static>, ops: Option<u32>) -> Config<'static> {
    Config { system: System { ops, ..config.system.clone() }, ..config.clone() }
}

fn expect_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
