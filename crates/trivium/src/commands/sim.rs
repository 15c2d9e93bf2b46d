//! `trivium sim`

use crate::arguments::{Form, Format, Sim, Simulated};
use crate::carry_out::carry_out;
use crate::failure::told;
use crate::library::{self, LoadedMachine};
use crate::output::{self, Head, SHOWN, grouped, stall_lines, stood_lines, table};
use crate::page::{Shown, page};
use crate::settings::{ResultSettings, in_a_line};
use crate::timeline::Timeline;
use crate::trace::TraceFile;
use crate::tracks::tracks;
use crate::{Failure, failure, memory, stop};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use trivium_diagnostic::Code;
use trivium_guest::{Inputs, Program};
use trivium_protocol::Protocol;
use trivium_sim::{
    AccessOf, Budget, Counters, Lookups, MessageCycles, MissKind, MissReport, NODE_STATISTICS, NodeAccesses,
    NodeOccupancy, Setup, SimResult, Tracing,
};

/// What all simulations of one command share.
pub struct Bench {
    /// The program.
    pub program: Program,
    /// What is set otherwise than files say.
    pub set: library::Settings,
    /// What it may read.
    pub inputs: Arc<Inputs>,
    /// Bytes of a block.
    pub block: u32,
    /// The program's arguments, in which `{nodes}` stands for the number of nodes.
    pub args: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The limit.
    pub max_cycles: Option<u64>,
    pub stall_limit: Option<u64>,
    /// The limit of the host's time.
    pub max_seconds: Option<u64>,
    /// How much of the host's memory it may take.
    pub memory: Room,
    /// The host-side window.
    pub window: Option<u64>,
    /// The files of the program.
    pub sources: Vec<String>,
    /// Flags of the C compiler.
    pub cc: Option<String>,
    /// Host threads.
    pub jobs: u32,
    /// Whether it is told who is to blame for misses.
    pub blame: bool,
}

/// How much of the host's memory a simulation may take.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// So many bytes, as the user says: that is looked at while it runs.
    Said(u64),
    /// What the machine has to give. A program that could take more is refused, or may begin all the same.
    Machine {
        /// Whether it is refused.
        refuses: bool,
    },
}

impl Room {
    /// As the user says, if he does.
    pub fn of(said: Option<u64>) -> Room {
        said.map_or(Room::Machine { refuses: true }, Room::Said)
    }

    fn said(self) -> Option<u64> {
        if let Room::Said(bytes) = self { Some(bytes) } else { None }
    }

    fn budget(self) -> Option<Budget<'static>> {
        let (limit, refuses) = match self {
            Room::Said(bytes) => (bytes, false),
            // The rest is for others, and for what is taken between two looks.
            Room::Machine { refuses } => (memory::available()? / 8 * 7, refuses),
        };
        Some(Budget { limit, refuses, taken: &memory::taken })
    }
}

impl Bench {
    /// The program's arguments on so many nodes.
    pub fn args_on(&self, nodes: u32) -> Vec<String> {
        self.args.iter().map(|arg| arg.replace("{nodes}", &nodes.to_string())).collect()
    }

    /// What a simulation under these protocols is made with.
    pub fn settings(&self, protocols: &[Arc<Protocol>]) -> ResultSettings {
        ResultSettings::new(protocols.iter().map(|protocol| &**protocol), &self.set)
            .with("block", self.block)
            .with("max_cycles", self.max_cycles)
            .with("max_seconds", self.max_seconds)
            .with("stall_limit", self.stall_limit)
            .with("memory", self.memory.said())
            .with("blame", self.blame)
    }

    /// One simulation, with progress on a terminal.
    ///
    /// # Errors
    /// As [`trivium_sim::run`]; also that the program says its answer is wrong.
    pub fn run(&self, protocols: &[Arc<Protocol>], loaded: &LoadedMachine, nodes: u32) -> Result<SimResult, Failure> {
        self.run_with(protocols, loaded, nodes, None)
    }

    /// The same; `trace` is told what the parts of the nodes did in a window of cycles.
    ///
    /// # Errors
    /// As [`Bench::run`].
    pub fn run_with(
        &self,
        protocols: &[Arc<Protocol>],
        loaded: &LoadedMachine,
        nodes: u32,
        trace: Option<Tracing>,
    ) -> Result<SimResult, Failure> {
        let bar = ProgressBar::new_spinner();
        bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("a valid template"));
        let machine = &loaded.machine;
        let name = machine.name.clone();
        let begun = std::time::Instant::now();
        let progress = |cycle: u64| {
            let rate = cycle as f64 / begun.elapsed().as_secs_f64().max(1e-3);
            bar.set_message(format!("{name}, {nodes} nodes: cycle {}, {}/s", grouped(cycle), grouped(rate as u64)));
            bar.tick();
        };
        let limit = self.max_seconds.map(Duration::from_secs);
        let cancel = limit.map_or_else(stop::flag, stop::flag_after);
        let setup = Setup {
            program: &self.program,
            protocols: protocols.to_vec(),
            machine: machine.clone(),
            nodes,
            block: u64::from(self.block),
            args: self.args_on(nodes),
            seed: self.seed,
            max_cycles: self.max_cycles,
            stall_limit: self.stall_limit,
            memory: self.memory.budget(),
            window: self.window,
            jobs: self.jobs,
            blame: self.blame,
            cancel: Some(&cancel),
            progress: Some(&progress),
        };
        let result = match trace {
            None => trivium_sim::run(&setup),
            Some(trace) => trivium_sim::run_with_trace(&setup, trace),
        };
        bar.finish_and_clear();
        let mut result = result.map_err(|e| told(&e))?;
        if let Some(why) = &mut result.incomplete
            && let Some(limit) = limit.filter(|limit| begun.elapsed() >= *limit && !stop::is_asked_for())
        {
            *why = format!("{} seconds have passed", limit.as_secs());
        }
        result.settings = self.settings(protocols).value(nodes, self.seed);
        result.sources.clone_from(&self.sources);
        result.cc.clone_from(&self.cc);
        result.hashes.extend(protocols.iter().map(|protocol| library::hash(protocol)));
        result.hashes.push(library::machine_hash(loaded));
        result.hashes.extend(self.inputs.hashes());
        Ok(result)
    }
}

/// Simulates on each machine and prints the results.
pub fn sim(arguments: &Sim) -> Result<u8, Failure> {
    let settings = library::settings(&arguments.common.set.set)?;
    let protocols = library::protocols(&arguments.protocol, &settings)?;
    let mut machines = Vec::new();
    for name in &arguments.machine {
        machines.push(library::machine(name, &settings)?);
    }
    if arguments.run.dir_rw.is_some() && machines.len() > 1 {
        let what = "with --dir-rw there is one machine: the changes of one run are carried out";
        return Err(Failure::input(Code::Usage, what, "give --machine once, or --dir in place of --dir-rw"));
    }
    super::fits::fits(&arguments.run.subject.programs, &protocols)?;
    let block = library::block(arguments.run.block, &machines);
    let (program, inputs) = super::program::of(&arguments.run, &protocols, block)?;
    let bench = Bench {
        set: settings,
        program: if arguments.reference { program.by_reference() } else { program },
        inputs,
        block,
        args: arguments.run.args.clone(),
        seed: arguments.common.seed.seed,
        max_cycles: arguments.run.max_cycles,
        stall_limit: arguments.run.stall_limit(),
        max_seconds: arguments.max_seconds,
        memory: Room::of(arguments.run.memory),
        sources: arguments.run.sources(),
        cc: arguments.run.subject.cc.clone(),
        window: arguments.window,
        jobs: arguments.common.jobs.jobs,
        blame: arguments.run.blame || arguments.run.html.is_some(),
    };
    let (mut results, traced) =
        simulated(arguments, &bench, &protocols, &machines).map_err(|failure| unchanged(failure, &arguments.run))?;
    let carried_out = carried_out(arguments, &bench, &mut results);
    let text = match arguments.common.form.format {
        Format::Text => results.iter().map(text).collect::<Vec<_>>().join("\n"),
        Format::Json => output::pretty(&json(&results)),
    };
    output::write(arguments.common.form.out.as_ref(), &text)?;
    traced?;
    if let Some(path) = &arguments.run.html {
        let protocol = &protocols[0];
        let of_machine = |loaded: &LoadedMachine| quiet_miss(protocol, loaded, bench.block);
        let runs: Vec<Shown> = results
            .iter()
            .zip(&machines)
            .map(|(result, machine)| Shown { result, miss: of_machine(machine) })
            .collect();
        output::write_file(path, page(&runs, None).as_bytes())?;
    }
    for result in &results {
        crate::say_lines!("{}", result.errors);
        warn(&result.warnings);
    }
    carried_out?;
    let verdict = verdict(&results, arguments.run.program()).map_err(|failure| unchanged(failure, &arguments.run))?;
    if let (failure::INCOMPLETE, Some(folder)) = (verdict, &arguments.run.dir_rw) {
        crate::say!("note: {}", stays(folder));
    }
    Ok(verdict)
}

/// What went wrong with a run that could have changed a folder: it has not.
fn unchanged(failure: Failure, run: &Simulated) -> Failure {
    match &run.dir_rw {
        Some(folder) => failure.noting(&stays(folder)),
        None => failure,
    }
}

fn stays(folder: &Path) -> String {
    format!("{} is as it was: changes are carried out when a run has gone well", folder.display())
}

/// Carries out what the program has changed of its folder.
fn carried_out(arguments: &Sim, bench: &Bench, results: &mut [SimResult]) -> Result<(), Failure> {
    let (Some(folder), [result]) = (bench.inputs.written(), results) else { return Ok(()) };
    let files = [
        arguments.common.form.out.as_ref(),
        arguments.run.html.as_ref(),
        arguments.trace.as_ref(),
        arguments.svg.as_ref(),
    ];
    let files: Vec<&PathBuf> = files.into_iter().flatten().collect();
    result.changes.as_mut().map_or(Ok(()), |changes| carry_out(folder, changes, &files))
}

/// The results on all machines, and whether the trace was written that was asked for.
fn simulated(
    arguments: &Sim,
    bench: &Bench,
    protocols: &[Arc<Protocol>],
    machines: &[LoadedMachine],
) -> Result<(Vec<SimResult>, Result<(), Failure>), Failure> {
    let mut results = Vec::new();
    let mut written = Ok(());
    match (&arguments.trace, &arguments.svg) {
        (None, None) => {
            for machine in machines {
                match bench.run(protocols, machine, arguments.run.nodes) {
                    Ok(result) => results.push(result),
                    Err(failure) => {
                        let ran = Ran { command: "sim", protocols, machine, nodes: arguments.run.nodes };
                        let results = results.iter().map(as_json).collect();
                        return Err(failed(&arguments.common.form, bench, &ran, results, failure));
                    }
                }
            }
        }
        (Some(file), _) | (None, Some(file)) => {
            let [machine] = machines else {
                return Err(Failure::input(
                    Code::Usage,
                    "a trace is of one machine",
                    "give --machine once, or leave out --trace and --svg",
                ));
            };
            let window = arguments.trace_from.unwrap_or(0)..arguments.trace_to.unwrap_or(u64::MAX);
            let nodes = arguments.run.nodes;
            let Traced { result, written: whole } = if arguments.trace.is_some() {
                traced(bench, protocols, machine, nodes, window, file)?
            } else {
                let window = (window != (0..u64::MAX)).then_some(window);
                drawn(bench, protocols, machine, nodes, window, file)
            };
            written = whole;
            let ran = Ran { command: "sim", protocols, machine, nodes };
            results.push(result.map_err(|failure| failed(&arguments.common.form, bench, &ran, Vec::new(), failure))?);
        }
    }
    Ok((results, written))
}

/// Tells warnings.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        crate::say!("warning: {warning}");
    }
}

/// A simulation that was tried.
pub struct Ran<'a> {
    /// The command.
    pub command: &'static str,
    /// Its protocols.
    pub protocols: &'a [Arc<Protocol>],
    /// Its machine.
    pub machine: &'a LoadedMachine,
    /// How many nodes.
    pub nodes: u32,
}

/// What is told of a simulation that went wrong, behind the results before it: what its program has said, since that is what
/// one looks for. As JSON it is a result with the key `error`; as text it goes to standard output, and a file that was
/// named for the result stays as it was.
pub fn failed(form: &Form, bench: &Bench, ran: &Ran, mut before: Vec<Value>, failure: Failure) -> Failure {
    let Some((error, said)) = failure.of_program.as_ref().and_then(|error| Some((error, error.said.as_ref()?))) else {
        return failure;
    };
    match form.format {
        Format::Text => {
            let _ = output::write(None, &said.output);
        }
        Format::Json => {
            let mut hashes = vec![("program".to_string(), bench.program.hash().to_string())];
            hashes.extend(ran.protocols.iter().map(|protocol| library::hash(protocol)));
            hashes.push(library::machine_hash(ran.machine));
            hashes.extend(bench.inputs.hashes());
            let head = Head {
                command: ran.command,
                protocols: ran.protocols.iter().map(|protocol| protocol.name.clone()).collect(),
                machine: Some(ran.machine.machine.name.clone()),
                program: Some(bench.program.name().to_string()),
                args: bench.args_on(ran.nodes),
                hashes,
                nodes: ran.nodes,
                seed: bench.seed,
                host_seconds: 0.0,
                settings: bench.settings(ran.protocols),
            };
            before.push(head.with(serde_json::json!({
                "sources": bench.sources,
                "cc": bench.cc,
                "block": bench.block,
                "error": failure::summary(error),
                "diagnostics": [error.diagnostic],
                "output": said.output,
                "errors": said.errors,
                "warnings": said.warnings,
            })));
            let value = if before.len() == 1 { before.remove(0) } else { Value::Array(before) };
            if let Err(unwritten) = output::write(form.out.as_ref(), &output::pretty(&value)) {
                return unwritten;
            }
        }
    }
    crate::say_lines!("{}", said.errors);
    warn(&said.warnings);
    failure
}

/// What a remote read miss costs, if the protocol is about blocks.
pub fn quiet_miss(protocol: &Arc<Protocol>, loaded: &LoadedMachine, block: u32) -> Option<MissReport> {
    trivium_sim::measure(protocol.clone(), &loaded.machine, MissKind::Read, u64::from(block)).ok()
}

/// A simulation with a trace.
struct Traced {
    result: Result<SimResult, Failure>,
    /// Whether the trace is whole.
    written: Result<(), Failure>,
}

/// Simulates and leaves a trace, also of a simulation that goes wrong: that is when one wants it most.
fn traced(
    bench: &Bench,
    protocols: &[Arc<Protocol>],
    machine: &LoadedMachine,
    nodes: u32,
    window: Range<u64>,
    file: &Path,
) -> Result<Traced, Failure> {
    let program = machine.machine.weigh(&bench.program);
    let map = program.debug_info(machine.machine.build(&program, true)).ok();
    let settings = bench.settings(protocols).value(nodes, bench.seed);
    let tracks = tracks(machine.machine.slots.as_ref().map_or(0, |slots| slots.lanes));
    let trace = TraceFile::new(file, (nodes, &settings), tracks, window.start, map)?;
    let from = window.start;
    let result = bench.run_with(protocols, machine, nodes, Some((window, &|note| trace.add(note))));
    let size = match trace.finish() {
        Ok(size) => size,
        Err(unwritten) => return Ok(Traced { result, written: Err(unwritten) }),
    };
    size.tell(file);
    if size.notes == 0 {
        crate::say!("warning: the trace is empty: nothing happened from cycle {} on", grouped(from));
        crate::say!(
            "help: `cycles` of the result tells how long the run is; choose --trace-from and --trace-to within it"
        );
    }
    Ok(Traced { result, written: Ok(()) })
}

/// Simulates and draws what the nodes did, also of a simulation that goes wrong.
fn drawn(
    bench: &Bench,
    protocols: &[Arc<Protocol>],
    machine: &LoadedMachine,
    nodes: u32,
    window: Option<Range<u64>>,
    file: &Path,
) -> Traced {
    let line = Timeline::new(window.clone());
    let cycles = window.unwrap_or(0..u64::MAX);
    let result = bench.run_with(protocols, machine, nodes, Some((cycles, &|note| line.add(note))));
    let names: Vec<&str> = protocols.iter().map(|protocol| protocol.name.as_str()).collect();
    let title = format!("{} under {} on {}", bench.program.name(), names.join(", "), machine.machine.name);
    let written = line.draw(&title).and_then(|svg| output::write_file(file, svg.as_bytes()));
    Traced { result, written }
}

fn as_json(result: &SimResult) -> Value {
    serde_json::to_value(result).expect("a result can be written as JSON")
}

/// One object, or an array if there are several machines.
fn json(results: &[SimResult]) -> Value {
    let mut values: Vec<Value> = results.iter().map(as_json).collect();
    if values.len() == 1 { values.remove(0) } else { Value::Array(values) }
}

/// The exit code: a node that ends with another code than 0 says that its answer is wrong, and the first such code is that of all.
///
/// # Errors
/// Some node did.
pub fn verdict(results: &[SimResult], program: &Path) -> Result<u8, Failure> {
    for result in results {
        if let Some((node, code)) = result.exit_codes.iter().next() {
            return Err(Failure::new(
                (failure::of_program(*code), Code::Program),
                format!("{} ended with code {code} on node {node} of machine {}", program.display(), result.machine),
                "see what it printed above",
            ));
        }
    }
    if let Some(why) = results.iter().find_map(|r| r.incomplete.as_ref()) {
        crate::say!("incomplete: {why}");
        return Ok(failure::INCOMPLETE);
    }
    Ok(0)
}

fn text(result: &SimResult) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| out.push_str(&format!("{name:<14}{value}\n"));
    line("machine", result.machine.clone());
    line("protocols", result.protocols.join(", "));
    line("program", format!("{} {}", result.program, result.args.join(" ")).trim_end().to_string());
    line("nodes", format!("{}, blocks of {} bytes", result.nodes, result.block));
    for key in ["parameters", "set"] {
        in_a_line(&result.settings, key).into_iter().for_each(|settings| line(key, settings));
    }
    if let Some(why) = &result.incomplete {
        line("incomplete", format!("{why}; counts are those so far"));
    }
    stood_lines(&result.stood).into_iter().for_each(|stood| line("", stood));
    line("cycles", grouped(result.cycles));
    line("instructions", grouped(result.instructions));
    let misses = &result.misses;
    line(
        "access faults",
        format!("{} read, {} write, {} upgrade", grouped(misses.read), grouped(misses.write), grouped(misses.upgrade)),
    );
    let sent: u64 = result.messages.values().sum();
    line("messages", format!("{}, {} bytes", grouped(sent), grouped(result.bytes)));
    let width = result.messages.keys().map(String::len).max().unwrap_or(0).max(28);
    for (name, count) in &result.messages {
        out.push_str(&format!("  {name:<width$}{:>14}\n", grouped(*count)));
    }
    let blocked =
        |(name, of): (&String, &trivium_sim::StallCycles)| (name.clone(), [of.stalled, of.cycles, of.kept_back]);
    out.push_str(&stall_lines(result.stalls.iter().map(blocked), "cycles"));
    if !result.kept_order.is_empty() {
        let lanes = result.kept_order.join(", ");
        let how =
            format!("kept on {lanes} by this network, though unordered: `--set machine.network.jitter=N` changes it");
        out.push_str(&format!("{:<14}{how}\n", "order"));
    }
    out.push('\n');
    out.push_str(&times(result));
    out.push_str(&checked(&result.accesses));
    out.push_str(&occupancy(&result.occupancy));
    out.push_str(&looked_up(&result.rtlb));
    if !result.link_wait.is_empty() {
        out.push_str(&format!(
            "\nlinks: messages waited {} cycles for others\n",
            grouped(result.link_wait.iter().sum())
        ));
    }
    out.push_str(&result.blame.as_ref().map_or(String::new(), crate::blame::text));
    if let Some(changes) = result.changes.as_ref().filter(|changes| !changes.is_empty()) {
        out.push_str("\nchanges of the folder\n");
        for one in changes {
            let bytes = one.bytes.map_or(String::new(), |bytes| format!(", {} bytes", grouped(bytes)));
            let not = if one.carried_out { "" } else { "; not carried out" };
            out.push_str(&format!("  {} {}{bytes}{not}\n", one.change, one.path));
        }
    }
    if !result.output.is_empty() {
        out.push_str(&format!("\noutput\n{}", result.output));
    }
    out
}

/// For what messages used the nodes' units.
fn occupancy(nodes: &[NodeOccupancy]) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let row = |name: String, used: &MessageCycles| {
        let causes = [used.format, used.inject, used.translate, used.dispatch, used.extract, used.sum()];
        std::iter::once(name).chain(causes.map(grouped)).collect::<Vec<_>>()
    };
    let all = nodes.iter().fold(MessageCycles::default(), |sum, node| sum.plus(node.causes));
    let mut rows: Vec<Vec<String>> = nodes.iter().map(|node| row(node.node.to_string(), &node.causes)).collect();
    rows.push(row("all".to_string(), &all));
    let heads = ["occupancy", "format", "inject", "translate", "dispatch", "extract", "all"];
    let misses: u64 = nodes.iter().filter_map(|node| node.gtlb_misses).sum();
    let told = if misses > 0 { format!("GTLB misses: {}\n", grouped(misses)) } else { String::new() };
    format!("\n{}{told}", table(&heads, &rows))
}

/// How often the nodes looked tags up.
fn looked_up(nodes: &[Lookups]) -> String {
    if nodes.is_empty() {
        return String::new();
    }
    let all = nodes.iter().fold(Lookups::default(), |sum, node| sum.plus(*node));
    format!("\nRTLB: {} look-ups, {} misses\n", grouped(all.lookups), grouped(all.misses))
}

/// Accesses that the nodes' libraries have checked, of all nodes together.
fn checked(nodes: &[NodeAccesses]) -> String {
    let mut sums: Vec<AccessOf> = Vec::new();
    for access in nodes.iter().flat_map(|node| &node.accesses) {
        let same = |sum: &&mut AccessOf| {
            (&sum.protocol, &sum.role, &sum.state, &sum.kind)
                == (&access.protocol, &access.role, &access.state, &access.kind)
        };
        match sums.iter_mut().find(same) {
            Some(sum) => {
                sum.hits += access.hits;
                sum.misses += access.misses;
            }
            None => sums.push(access.clone()),
        }
    }
    if sums.is_empty() {
        return String::new();
    }
    sums.sort_by(|one, other| (&one.protocol, &one.role).cmp(&(&other.protocol, &other.role)));
    let row = |sum: &AccessOf| {
        let state = format!("{}.{}.{}", sum.protocol, sum.role, sum.state);
        let place = if sum.at_home { "local" } else { "remote" };
        vec![state, sum.kind.clone(), place.to_string(), grouped(sum.hits), grouped(sum.misses)]
    };
    let rows: Vec<Vec<String>> = sums.iter().map(row).collect();
    let entries: u64 = nodes.iter().map(|node| node.entries).sum();
    let table = table(&["state of the block", "access", "", "hits", "misses"], &rows);
    format!("\naccesses that the library has checked; {} entries in its directories\n{table}", grouped(entries))
}

/// Where the nodes' time went: the first eight nodes, and the sum.
fn times(result: &SimResult) -> String {
    let columns: Vec<_> = NODE_STATISTICS.iter().filter(|statistic| statistic.unit == "cycles").collect();
    let row = |name: String, node: &Counters| {
        [name].into_iter().chain(columns.iter().map(|column| grouped((column.of)(node)))).collect::<Vec<_>>()
    };
    let nodes = &result.per_node;
    let mut rows: Vec<Vec<String>> = nodes.iter().take(SHOWN).enumerate().map(|(i, n)| row(i.to_string(), n)).collect();
    if nodes.len() > SHOWN {
        rows.push(vec![format!("(+{})", nodes.len() - SHOWN)]);
    }
    rows.push(row("sum".into(), &nodes.iter().fold(Counters::default(), |sum, node| sum.plus(node))));
    let headings: Vec<String> =
        ["node".to_string()].into_iter().chain(columns.iter().map(|column| column.heading())).collect();
    table(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &rows)
}
