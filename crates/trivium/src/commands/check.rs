//! `trivium check`

use super::explored::{Explored, ScenarioRun, one_line};
use super::other_values::{OtherValue, WantedValues, other_values};
use super::together;
use crate::arguments::{Check, Fairness, Format, Network, Ops, System};
use crate::out_file::OutFile;
use crate::output::{self, Head, grouped};
use crate::settings::{ResultSettings, flat};
use crate::{Failure, VERSION, failure, library, stop};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use trivium_check::chart::{self, Recording, Story};
use trivium_check::group::Group;
use trivium_check::{
    Checkpoints, Config, Origin, ParameterValue, Progress, Report, Search, TriedValue, Verdict, WriteAll, explore,
    text, text_around,
};
use trivium_diagnostic::Code;
use trivium_protocol::Protocol;

/// The system that the arguments describe, with what the file declares for all that they leave out.
pub fn system(arguments: &System, protocol: &Protocol) -> trivium_check::System {
    let declared = trivium_check::System::declared(protocol);
    let nodes = arguments.nodes.unwrap_or(declared.nodes);
    let chosen = protocol.scenarios.iter().find(|scenario| Some(&scenario.name) == arguments.scenario.as_ref());
    let system = trivium_check::System {
        nodes,
        clients: arguments.clients.or(declared.clients.map(|clients| clients.min(nodes))),
        objects: arguments.objects.as_ref().and_then(|objects| objects.each).unwrap_or(declared.objects),
        kinds: arguments.objects.clone().map_or(declared.kinds, |objects| objects.kinds),
        homes: arguments.homes.clone().map_or(declared.homes, |homes| homes.0),
        homes_everywhere: arguments.homes.is_some(),
        values: arguments.values.unwrap_or(declared.values),
        ops: arguments.ops.map_or(declared.ops, Ops::limit),
        threads_per_node: arguments.threads_per_node.unwrap_or(declared.threads_per_node),
        network: match arguments.network {
            None => declared.network,
            Some(Network::Fifo) => trivium_check::Network::Fifo,
            Some(Network::Unordered) => trivium_check::Network::Unordered,
        },
        lane_capacity: arguments.lane_capacity.or(declared.lane_capacity),
        scenario: arguments.scenario.clone(),
        memory_words: None,
        clearing: !arguments.no_clearing,
        late_values: !arguments.no_late_values,
        idle_words: !arguments.no_idle_words,
        dead_copies: !arguments.no_dead_copies,
        every_order: true,
    };
    match chosen {
        Some(scenario) => system.of_scenario(scenario),
        None => system,
    }
}

/// The same for `trivium check`.
fn checked_system(arguments: &Check, protocol: &Protocol) -> trivium_check::System {
    trivium_check::System { every_order: !arguments.ascending, ..system(&arguments.system, protocol) }
}

/// Puts a checkpoint in the place of the one before when it is whole.
fn save(file: Option<&PathBuf>, write: WriteAll) -> Result<(), String> {
    let Some(path) = file else { return Ok(()) };
    let place = |failure: Failure| failure.what().to_string();
    let mut file = OutFile::open(path).map_err(place)?;
    let written = write(&mut file);
    file.finish(written).map_err(place)
}

/// A group of ranks, and for its first whether it can write what it is to write.
pub type Ranks<'g> = (&'g dyn Group, Result<(), Failure>);

/// Explores a protocol and prints what was found; of several ranks the first prints it.
pub fn check(arguments: &Check, ranks: Option<Ranks>) -> Result<u8, Failure> {
    let read = || {
        let settings = library::settings(&arguments.common.set.set)?.without_machine()?;
        library::protocol_to_check(&arguments.protocol, &settings)
    };
    let (group, protocol) = match ranks {
        None => (None, read()?),
        Some((group, writable)) => (Some(group), together::protocol(group, || writable.and_then(|()| read()))?),
    };
    let is_first = group.is_none_or(|group| group.rank() == 0);
    if arguments.suggest {
        return if is_first { suggest(arguments, &protocol) } else { Ok(0) };
    }
    let bar = progress_bar();
    let next_line = Cell::new(LINE_EVERY);
    let show = |p: &Progress| {
        if bar.is_hidden() && p.seconds < next_line.get() {
            return;
        }
        let rate = if p.seconds > 0.0 { (p.states as f64 / p.seconds) as u64 } else { 0 };
        let line = format!(
            "{} states, {} waiting, depth {}, {}/s, {} MB{}",
            grouped(p.states),
            grouped(p.waiting),
            p.depth,
            grouped(rate),
            grouped(p.memory >> 20),
            time_left(p)
        );
        if bar.is_hidden() {
            crate::say!("{:.0} s: {line}", p.seconds);
            next_line.set(p.seconds + LINE_EVERY);
        } else {
            bar.set_message(line);
            bar.tick();
        }
    };
    let cancel = stop::flag();
    let file = arguments.checkpoint();
    let save = |write: WriteAll| save(file, write);
    let name = file.map(|file| file.display().to_string());
    let hash = library::hash(&protocol);
    let config = Config {
        // What a search by brute force explores is also what its counterexample is told of.
        system: match arguments.brute {
            true => checked_system(arguments, &protocol).unreduced(),
            false => checked_system(arguments, &protocol),
        },
        search: if arguments.brute { Search::Brute } else { Search::Fast },
        method: arguments.method(),
        seed: arguments.common.seed.seed,
        symmetry: !arguments.no_symmetry,
        home_symmetry: !arguments.no_home_symmetry,
        value_symmetry: !arguments.no_value_symmetry,
        liveness: !arguments.no_liveness,
        fairness: match arguments.fairness {
            Fairness::Strong => trivium_check::Fairness::Strong,
            Fairness::Weak => trivium_check::Fairness::Weak,
        },
        jobs: arguments.common.jobs.jobs,
        max_states: arguments.max_states,
        max_depth: arguments.max_depth,
        memory: match group {
            None => arguments.memory.or_else(half_of_memory),
            Some(group) => together::share_of_memory(arguments, group),
        },
        progress: is_first.then_some(&show),
        cancel: Some(&cancel),
        checkpoint: name.as_ref().map(|name| Checkpoints {
            name,
            every: Some(arguments.checkpoint_every),
            save: &save,
        }),
        resume: arguments.resume.as_deref(),
        group,
        origin: Origin { version: VERSION, hash: &hash.1 },
    };
    let report = explore(&protocol, &config)?;
    let told = is_first.then(|| tell(arguments, &protocol, &config, report, &bar));
    match group {
        None => told.unwrap_or(Ok(0)),
        Some(group) => together::ended(group, told),
    }
}

/// Prints what the file could say about contents.
fn suggest(arguments: &Check, protocol: &Protocol) -> Result<u8, Failure> {
    let Some(proposed) = trivium_lang::show::suggest(protocol) else {
        let why =
            format!("no state of `{}` gives access to a block, so there are no contents to speak of", protocol.name);
        return Err(Failure::input(Code::Usage, why, "promise what its calls do: `mutex(f, g)`, `barrier(f)`"));
    };
    let result = match arguments.common.form.format {
        Format::Text => proposed,
        Format::Json => {
            let head = Head {
                command: "check",
                protocols: vec![protocol.name.clone()],
                hashes: vec![library::hash(protocol)],
                seed: arguments.common.seed.seed,
                settings: ResultSettings::new([protocol], &library::settings(&arguments.common.set.set)?),
                ..Head::default()
            };
            output::pretty(&head.with(json!({ "suggested": proposed })))
        }
    };
    output::write_report(arguments.common.form.out.as_ref(), &result)?;
    Ok(0)
}

/// Runs the scenarios of the file, tries other values of parameters, and prints what was found; the exit code.
fn tell(
    arguments: &Check,
    protocol: &Arc<Protocol>,
    config: &Config,
    report: Report,
    bar: &ProgressBar,
) -> Result<u8, Failure> {
    let first = Explored::of(protocol, config, report, !arguments.no_scenarios)?;
    let wanted = WantedValues {
        values: &arguments.other_values,
        scenarios: !arguments.no_scenarios,
        system: &|protocol| checked_system(arguments, protocol),
    };
    let others = other_values(&first, config, &wanted);
    bar.finish_and_clear();
    // What the counterexample is of: the first of all that is violated.
    let found = others.iter().find_map(OtherValue::violated).unwrap_or(&first);
    let (shown, of) = found.violated().unwrap_or((&first.report, &first.system));
    let tried: Vec<TriedValue> = others.iter().map(OtherValue::told).collect();
    let shown = Report { tried, ..shown.clone() };
    let mut story = chart::story(&found.protocol, of, &shown)?;
    let settings = settings(arguments, protocol, config)?;
    if let Some(story) = &mut story {
        // Of what the page shows: a scenario has a system of its own, and another value its parameter.
        let set = library::settings(&arguments.common.set.set)?;
        let of = ResultSettings::new([&*found.protocol], &set).with_all(of);
        story.settings = flat(&of.value(config.system.nodes, arguments.common.seed.seed));
    }
    // What was found is printed also where a picture of it cannot be written.
    let drawn = draw(story.as_ref(), arguments.svg.as_ref(), arguments.html.as_ref());
    let head = Head {
        command: "check",
        protocols: vec![protocol.name.clone()],
        hashes: vec![library::hash(protocol)],
        nodes: config.system.nodes,
        seed: arguments.common.seed.seed,
        host_seconds: first.report.seconds,
        settings,
        ..Head::default()
    };
    let found = Found { first: &first, found, shown: &shown, of, story: story.as_ref() };
    let result = match arguments.common.form.format {
        Format::Text => found.text(),
        Format::Json => output::pretty(&head.with(found.json(&arguments.protocol)?)),
    };
    output::write_report(arguments.common.form.out.as_ref(), &result)?;
    drawn?;
    let tried = others.iter().flat_map(|other| other.verdicts(config, &arguments.other_values));
    Ok(code(first.verdicts().chain(tried)))
}

/// What a check is made with: all that its verdict can depend on, and no more.
fn settings(arguments: &Check, protocol: &Protocol, config: &Config) -> Result<ResultSettings, Failure> {
    let set = library::settings(&arguments.common.set.set)?;
    let others = &arguments.other_values;
    let all_parameters = if others.no_all_parameters { Some(false) } else { others.all_parameters.then_some(true) };
    Ok(ResultSettings::new([protocol], &set)
        // Where there are none, a system does not write them.
        .with("kinds", &config.system.kinds)
        .with("homes", &config.system.homes)
        .with_all(&config.system)
        .with("all_parameters", all_parameters)
        .with("scenarios", !arguments.no_scenarios)
        .with("symmetry", !arguments.no_symmetry)
        .with("home_symmetry", !arguments.no_home_symmetry)
        .with("value_symmetry", !arguments.no_value_symmetry)
        .with("liveness", !arguments.no_liveness)
        .with("fairness", config.fairness)
        .with("brute", arguments.brute)
        .with("max_states", arguments.max_states)
        .with("max_depth", arguments.max_depth)
        .with("memory", arguments.memory)
        .with("random_walks", arguments.random_walks)
        .with("depth", arguments.random_walks.map(|_| arguments.depth))
        .with("hash_compact", arguments.hash_compact)
        .with("bitstate", arguments.bitstate)
        .with("hashes", arguments.bitstate.map(|_| arguments.hashes))
        .with("disk", arguments.disk.is_some()))
}

/// All that was found.
struct Found<'a> {
    /// The search that was asked for.
    first: &'a Explored,
    /// That of which the counterexample is: the first one, or one with another value of a parameter.
    found: &'a Explored,
    /// The report with the counterexample, if there is one, and the system that it is of.
    shown: &'a Report,
    of: &'a trivium_check::System,
    story: Option<&'a Story>,
}

impl Found<'_> {
    /// Whether the counterexample is of an exploration other than the first.
    fn is_other(&self) -> bool {
        !std::ptr::eq(self.first, self.found)
    }

    fn text(&self) -> String {
        let Found { first, shown, .. } = self;
        let mut text = title(&first.protocol.name, self.of.nodes, shown.objects) + "\n";
        text.push_str(&told(shown, self.story));
        if self.is_other() {
            let values: Vec<String> = first.report.parameters.iter().map(ParameterValue::setting).collect();
            text.push_str(&format!("with {}: {}\n", values.join(", "), one_line(&first.report)));
        } else if first.violated_scenario().is_some() {
            text.push_str(&format!("general client: {}\n", one_line(&first.report)));
        }
        first.scenarios.iter().for_each(|scenario| text.push_str(&format!("{}\n", scenario.line())));
        text
    }

    fn json(&self, named: &str) -> Result<Value, Failure> {
        let Found { first, found, shown, of, story } = self;
        let value = |report: &Report| serde_json::to_value(report).expect("a report can be written as JSON");
        let (mut body, other) = (value(&first.report), value(shown));
        body["tried"] = other["tried"].clone();
        body["sizes"] = serde_json::to_value(&first.system).expect("a system can be written as JSON");
        body["scenarios"] = first.scenarios.iter().map(ScenarioRun::json).collect();
        if self.is_other() || first.violated_scenario().is_some() {
            for key in OF_VIOLATION {
                body[key] = other[key].clone();
            }
            body["scenario"] = json!(of.scenario);
        }
        if let Some(story) = story {
            let recording = Recording::of(&found.protocol, of, shown, story)?;
            body["replay"] = replayable(named, &found.protocol, recording);
        }
        Ok(body)
    }
}

/// The keys of a result that tell of a violation.
const OF_VIOLATION: [&str; 7] =
    ["verdict", "property", "reason", "parameters", "counterexample", "wait_cycle", "undelivered"];

/// The report, with the chart of its counterexample if there is one.
fn told(report: &Report, story: Option<&Story>) -> String {
    match story {
        Some(story) => text_around(report, &format!("\n{}\n", chart::text(story, chart::WIDTH))),
        None => text(report),
    }
}

/// Writes the picture and the page that were asked for. There are none where nothing is violated: an older picture
/// under that name would tell of a violation that is no more.
pub(super) fn draw(story: Option<&Story>, svg: Option<&PathBuf>, html: Option<&PathBuf>) -> Result<(), Failure> {
    let Some(story) = story else {
        for path in [svg, html].into_iter().flatten() {
            crate::say!("note: there is no counterexample, so {} was not written", path.display());
        }
        return Ok(());
    };
    if let Some(path) = svg {
        output::write_file(path, chart::svg(story).as_bytes())?;
    }
    if let Some(path) = html {
        output::write_file(path, chart::html(story).as_bytes())?;
    }
    Ok(())
}

/// What `trivium replay` needs: the protocol as it was named, its parameters and hash, and the recording.
fn replayable(named: &str, protocol: &Protocol, recording: Option<Recording>) -> Value {
    let params: serde_json::Map<String, Value> =
        protocol.params.iter().map(|param| (param.name.clone(), json!(param.value))).collect();
    let from: serde_json::Map<String, Value> =
        protocol.params.iter().map(|param| (param.name.clone(), json!(param.from.name()))).collect();
    let mut value = serde_json::to_value(recording).expect("a recording can be written as JSON");
    value["protocol"] = json!({ "named": named, "params": params, "from": from, "hash": library::hash(protocol).1 });
    value
}

pub(super) fn title(name: &str, nodes: u32, objects: u32) -> String {
    let plural = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    // Of kinds that are made the line `system` says how many there may be.
    let objects = if objects == 0 { String::new() } else { format!(", {}", plural(objects, "object")) };
    format!("{name}: {}{objects}", plural(nodes, "node"))
}

/// The exit code of several verdicts: something violated counts most.
fn code(verdicts: impl Iterator<Item = Verdict>) -> u8 {
    verdicts.fold(0, |code, verdict| match verdict {
        Verdict::Violated => failure::WRONG,
        Verdict::Incomplete if code == 0 => failure::INCOMPLETE,
        _ => code,
    })
}

/// Seconds from one line of progress to the next where standard error is no terminal.
const LINE_EVERY: f64 = 60.0;

/// Silent unless standard error is a terminal.
pub(super) fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("a valid template"));
    bar
}

/// When it will be done, once that can be guessed.
fn time_left(p: &Progress) -> String {
    let expanded = p.states - p.waiting;
    match p.whole.filter(|_| expanded > 0 && p.waiting > 0) {
        Some(whole) => {
            let left = whole.max(p.states) - expanded;
            format!(", about {:.0} s left", (p.seconds * left as f64 / expanded as f64).ceil())
        }
        None => String::new(),
    }
}

/// So that the search ends as incomplete and is not killed: half of what the machine has to give, or of what this
/// process and its neighbours in a container may still take.
pub(super) fn half_of_memory() -> Option<u64> {
    Some(crate::memory::available()? / 2)
}
