//! `trivium run`

use super::run_recorded;
use crate::arguments::{Form, Format, Run, Transport};
use crate::output::{self, Head, SHOWN, grouped, stall_lines, stood_lines, table};
use crate::settings::{ResultSettings, in_a_line};
use crate::{Failure, failure, library, live_trace, stop};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_guest::{Inputs, Program};
use trivium_protocol::Protocol;
use trivium_run::{NodeError, NodeTrace, RunResult, RunTrace, Said, Setup};

/// Nodes, if nobody says how many.
const NODES: u32 = 2;

/// What is run, whoever has read it.
pub(super) struct Loaded {
    pub program: Program,
    pub protocols: Vec<Arc<Protocol>>,
    pub inputs: Arc<Inputs>,
}

/// Reads what the arguments name.
///
/// # Errors
/// What is wrong with it.
pub(super) fn load(arguments: &Run) -> Result<Loaded, Failure> {
    let settings = library::settings(&arguments.set)?.without_machine()?;
    let protocols = library::protocols(&arguments.protocol, &settings)?;
    let inputs = Inputs::new(arguments.subject.dir.as_deref())?;
    let inputs = Arc::new(inputs);
    super::fits::fits(&arguments.subject.programs, &protocols)?;
    let program = super::program::load(
        &arguments.subject.programs,
        arguments.subject.cc.as_deref(),
        &protocols,
        arguments.block,
    )?;
    let program = program.reading(inputs.clone());
    Ok(Loaded { program, protocols, inputs })
}

/// What is run, on so many nodes.
pub(super) fn setup<'a>(arguments: &Run, loaded: &'a Loaded, nodes: u32) -> Setup<'a> {
    Setup {
        program: &loaded.program,
        protocols: loaded.protocols.clone(),
        nodes,
        block: arguments.block.into(),
        args: arguments.args.iter().map(|arg| arg.replace("{nodes}", &nodes.to_string())).collect(),
        limit: arguments.max_seconds.map(Duration::from_secs),
        cancel: stop::flag(),
        delays: arguments.delays,
        poll_every: arguments.poll_every,
        checks_unchecked: !arguments.no_check_unchecked,
        stall_limit: Some(Duration::from_secs(arguments.stall_limit)).filter(|limit| !limit.is_zero()),
        is_pinned: arguments.pin,
        warm_up: Duration::from_millis(arguments.warm_up),
        trace: None,
    }
}

/// Runs a program for real, on threads of this process, and prints the result.
pub fn run(arguments: &Run) -> Result<u8, Failure> {
    if arguments.transport == Some(Transport::Mpi) {
        return Err(without_mpi());
    }
    let loaded = load(arguments)?;
    let tracing = tracing(arguments);
    let nodes = arguments.nodes.unwrap_or(NODES);
    let setup = Setup { trace: tracing.as_ref(), ..setup(arguments, &loaded, nodes) };
    let begun = Instant::now();
    let ended = match (&arguments.record, &arguments.replay) {
        (Some(file), _) => run_recorded::record(&setup, &loaded.inputs, file)?,
        (None, Some(file)) => run_recorded::replay(&setup, &loaded.inputs, file)?,
        (None, None) => trivium_run::run(&setup),
    };
    let host_seconds = begun.elapsed().as_secs_f64();
    let head = head(&setup, &library::settings(&arguments.set)?, loaded.inputs.hashes(), host_seconds);
    let traced = write_trace(arguments, &loaded, &head, tracing.as_ref());
    let code = told(arguments, ("threads", &head), ended)?;
    traced.map(|()| code)
}

/// What nodes note, if that is asked for.
pub(super) fn tracing(arguments: &Run) -> Option<RunTrace> {
    arguments.trace.as_ref().map(|_| RunTrace::new(window(arguments)))
}

/// The part of the run that is traced, in nanoseconds.
fn window(arguments: &Run) -> Range<u64> {
    let nanoseconds = |time: Option<u64>| time.map(|time| time.saturating_mul(1000));
    nanoseconds(arguments.trace_from).unwrap_or(0)..nanoseconds(arguments.trace_to).unwrap_or(u64::MAX)
}

/// Writes what nodes did, if that is asked for, and says how much that is, and what is missing. Also of a run that goes wrong: that is when one
/// wants it most.
pub(super) fn write_trace(
    arguments: &Run,
    loaded: &Loaded,
    head: &Head,
    tracing: Option<&RunTrace>,
) -> Result<(), Failure> {
    let (Some(file), Some(tracing)) = (&arguments.trace, tracing) else { return Ok(()) };
    let (window, traces) = (window(arguments), tracing.take_nodes());
    let (nodes, settings) = (head.nodes, head.settings.value(head.nodes, head.seed));
    let (size, left_out) = live_trace::write(file, &loaded.protocols, (nodes, &settings, &window), &traces)?;
    size.tell(file);
    tell_what_is_missing(&traces, nodes, left_out);
    if size.notes == 0 {
        let from = grouped(window.start / 1000);
        crate::say!("warning: the trace is empty: nothing happened from microsecond {from} on");
        crate::say!("help: choose --trace-from and --trace-to within the time of the run");
    }
    Ok(())
}

/// Says what a trace lacks; so many arrows were left out of it.
fn tell_what_is_missing(traces: &[NodeTrace], nodes: u32, left_out: u64) {
    let cut = traces.iter().filter_map(|trace| trace.is_cut_at.map(|at| (at, trace.node)));
    if let Some((at, node)) = cut.min() {
        let at = grouped(at / 1000);
        crate::say!(
            "note: from microsecond {at} on, the trace lacks what node {node} did, since there is no room for more"
        );
        crate::say!("help: choose what is traced with --trace-from and --trace-to");
    }
    let told = |node: &u32| traces.iter().any(|trace| u32::from(trace.node) == *node);
    let silent: Vec<String> = (0..nodes).filter(|node| !told(node)).map(|node| format!("node {node}")).collect();
    if !traces.is_empty() && !silent.is_empty() {
        crate::say!("note: the trace lacks all that was done by {}: it has not been told", silent.join(", "));
    }
    if left_out > 0 {
        let left_out = grouped(left_out);
        crate::say!(
            "note: {left_out} arrows are left out of the trace: by the clocks of the nodes, their messages came before they were sent"
        );
    }
}

/// What ranks cannot do: they are not started again as they ran, and `mpirun` has placed them.
#[cfg(feature = "mpi")]
pub(super) fn only_on_threads(arguments: &Run) -> Result<(), Failure> {
    let option = match (&arguments.record, &arguments.replay) {
        (Some(_), _) => "--record",
        (None, Some(_)) => "--replay",
        (None, None) if arguments.pin => "--pin",
        (None, None) => return Ok(()),
    };
    let what = format!("{option} is for nodes that are threads of one process, and several ranks were started");
    Err(Failure::input(
        Code::Usage,
        what,
        "start it without mpirun, with --nodes N (to keep ranks on processors: `mpirun --bind-to core`)",
    ))
}

/// Nobody has started several ranks.
fn without_mpi() -> Failure {
    let what = "with --transport mpi nodes are ranks of a job of MPI, and this process belongs to none";
    let help = if cfg!(feature = "mpi") {
        "start it by `mpirun -n NODES trivium run ..`"
    } else {
        "this `trivium` was built without MPI: build it with (`make mpi`), and start it by `mpirun -n NODES trivium run ..`"
    };
    Failure::input(Code::Usage, what, help)
}

/// What a run is made with, besides its nodes; delays have a seed of their own.
fn settings(setup: &Setup, set: &library::Settings) -> ResultSettings {
    ResultSettings::new(setup.protocols.iter().map(|protocol| &**protocol), set)
        .with("block", setup.block)
        .with("delays", setup.delays)
        .with("poll_every", setup.poll_every)
        .with("max_seconds", setup.limit.map(|limit| limit.as_secs()))
        .with("stall_limit", setup.stall_limit.map(|limit| limit.as_secs()))
        .with("check_unchecked", setup.checks_unchecked)
        .with("pin", setup.is_pinned)
        .with("warm_up", setup.warm_up.as_secs_f64() * 1000.0)
}

pub(super) fn head(setup: &Setup, set: &library::Settings, read: Vec<(String, String)>, host_seconds: f64) -> Head {
    let mut hashes = vec![("program".to_string(), setup.program.hash().to_string())];
    hashes.extend(setup.protocols.iter().map(|protocol| library::hash(protocol)));
    hashes.extend(read);
    Head {
        command: "run",
        protocols: setup.protocols.iter().map(|protocol| protocol.name.clone()).collect(),
        machine: None,
        program: Some(setup.program.name().to_string()),
        args: setup.args.clone(),
        hashes,
        nodes: setup.nodes,
        seed: 0,
        host_seconds,
        settings: settings(setup, set),
    }
}

/// Tells what has come of a run over a transport.
pub(super) fn told(
    arguments: &Run,
    (transport, head): (&str, &Head),
    ended: Result<RunResult, Box<(NodeError, Said)>>,
) -> Result<u8, Failure> {
    match ended {
        Ok(result) => tell(arguments, head, &result),
        Err(failure) => Err(failed(&arguments.form, arguments.block, (transport, head), &failure)),
    }
}

fn tell(arguments: &Run, head: &Head, result: &RunResult) -> Result<u8, Failure> {
    let text = match arguments.form.format {
        Format::Text => text(head, result),
        Format::Json => {
            output::pretty(&head.with(serde_json::to_value(result).expect("a result can be written as JSON")))
        }
    };
    output::write(arguments.form.out.as_ref(), &text)?;
    crate::say_lines!("{}", result.errors);
    super::sim::warn(&result.warnings);
    if let Some(why) = &result.incomplete {
        crate::say!("incomplete: {why}");
        return Ok(failure::INCOMPLETE);
    }
    match result.exit_codes.iter().next() {
        None => Ok(0),
        Some((node, code)) => {
            let what = format!("{} ended with code {code} on node {node}", head.program.as_deref().unwrap_or_default());
            Err(Failure::new((failure::of_program(*code), Code::Program), what, "see what it printed above"))
        }
    }
}

/// What is told of a run that went wrong: what its program has said, since that is what one looks for.
pub(super) fn failed(
    form: &Form,
    block: u32,
    (transport, head): (&str, &Head),
    (error, said): &(NodeError, Said),
) -> Failure {
    let written = match form.format {
        // A file that was named for the result stays as it was.
        Format::Text => output::write(None, &said.output),
        Format::Json => {
            let value = head.with(serde_json::json!({
                "transport": transport,
                "block": block,
                "error": failure::summary(error),
                "diagnostics": [error.diagnostic],
                "output": said.output,
                "errors": said.errors,
                "warnings": said.warnings,
            }));
            output::write(form.out.as_ref(), &output::pretty(&value))
        }
    };
    if let Err(unwritten) = written {
        return unwritten;
    }
    crate::say_lines!("{}", said.errors);
    super::sim::warn(&said.warnings);
    failure::told(error)
}

fn text(head: &Head, result: &RunResult) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| out.push_str(&format!("{name:<14}{value}\n"));
    line("protocols", head.protocols.join(", "));
    let program = head.program.as_deref().unwrap_or_default();
    line("program", format!("{program} {}", head.args.join(" ")).trim_end().to_string());
    let kind = if result.transport == "mpi" { "ranks of MPI" } else { result.transport };
    line("nodes", format!("{} {kind}, blocks of {} bytes", head.nodes, result.block));
    let settings = head.settings.value(head.nodes, head.seed);
    for key in ["parameters", "set"] {
        in_a_line(&settings, key).into_iter().for_each(|settings| line(key, settings));
    }
    if let Some(why) = &result.incomplete {
        line("incomplete", format!("{why}; counts are those so far"));
    }
    stood_lines(&result.stood).into_iter().for_each(|stood| line("", stood));
    line("time", format!("{:.6} s", result.wall_seconds));
    line("instructions", grouped(result.instructions));
    let misses = &result.misses;
    let [read, write, upgrade] = [misses.read, misses.write, misses.upgrade].map(grouped);
    line("access faults", format!("{read} read, {write} write, {upgrade} upgrade"));
    if let Some(latency) = &result.miss_latency {
        let [p50, p90, p99, max] = [latency.p50, latency.p90, latency.p99, latency.max].map(grouped);
        line("fault latency", format!("p50 {p50}, p90 {p90}, p99 {p99}, longest {max} {}", latency.unit));
    }
    line("messages", format!("{}, {} bytes", grouped(result.messages.values().sum()), grouped(result.bytes)));
    let width = result.messages.keys().map(String::len).max().unwrap_or(0).max(28);
    for (name, count) in &result.messages {
        out.push_str(&format!("  {name:<width$}{:>14}\n", grouped(*count)));
    }
    let blocked =
        |(name, of): (&String, &trivium_run::StallTimes)| (name.clone(), [of.stalled, of.nanoseconds, of.kept_back]);
    out.push_str(&stall_lines(result.stalls.iter().map(blocked), "ns"));
    out.push('\n');
    let row = |(number, node): (usize, &trivium_run::LiveNode)| {
        vec![
            number.to_string(),
            grouped(node.instructions),
            grouped(node.read_faults),
            grouped(node.write_faults),
            grouped(node.messages_sent),
            format!("{:.6}", node.handler_seconds),
            format!("{:.6}", node.wait_seconds),
        ]
    };
    let rows: Vec<Vec<String>> = result.per_node.iter().enumerate().take(SHOWN).map(row).collect();
    let columns = ["node", "instructions", "read faults", "write faults", "messages", "handlers, s", "waits, s"];
    out.push_str(&table(&columns, &rows));
    if result.per_node.len() > SHOWN {
        out.push_str(&format!("(and {} more nodes, which --format json tells)\n", result.per_node.len() - SHOWN));
    }
    if !result.output.is_empty() {
        out.push_str(&format!("\noutput\n{}", result.output));
    }
    out
}
