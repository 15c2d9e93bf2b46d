//! `trivium compare --live`: the same program for real, on threads of this host, beside the simulations of it.

use super::run::{failed, head};
use super::sim::Bench;
use crate::arguments::Compare;
use crate::output::{Head, grouped};
use crate::picture::Bar;
use crate::{Failure, failure, stop};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_protocol::Protocol;
use trivium_run::{RunResult, Setup};
use trivium_sim::{Misses, SimResult};

/// As many nodes as `trivium run` has.
const MOST: u32 = 256;

/// What a node does with its time in a live run, as far as it is measured.
pub(super) const PARTS: [&str; 3] = ["compute", "wait", "handler"];

/// The name of this host, and how many processors it has.
pub(super) fn host() -> (String, usize) {
    let name = sysinfo::System::host_name().unwrap_or_else(|_| "this host".to_string());
    (name, std::thread::available_parallelism().map_or(1, usize::from))
}

/// One live run.
pub(super) struct LiveRun {
    pub protocol: String,
    pub result: RunResult,
    head: Head,
}

/// All live runs of a comparison.
pub(super) struct Live {
    pub host: String,
    pub processors: usize,
    /// One for each protocol.
    pub runs: Vec<LiveRun>,
    /// The run that speedups are over.
    pub one_node: LiveRun,
}

/// A result and a simulated one, of the same protocol: whether what need not depend on time is the same.
pub(super) struct Pair<'a> {
    pub simulated: &'a SimResult,
    pub live: &'a LiveRun,
}

/// Whether live runs can be made at all, before the simulations take their time.
pub(super) fn can_be_run(arguments: &Compare) -> Result<(), Failure> {
    let nodes = arguments.run.nodes;
    if arguments.live && nodes > MOST {
        let what = format!("with --live there are at most {MOST} nodes, and --nodes {nodes} was asked for");
        return Err(Failure::input(Code::Usage, what, "take fewer nodes, or leave out --live"));
    }
    Ok(())
}

impl Live {
    /// Runs the program under each protocol.
    ///
    /// # Errors
    /// A run went wrong.
    pub(super) fn run(arguments: &Compare, bench: &Bench, protocols: &[Arc<Protocol>]) -> Result<Live, Failure> {
        let run = |protocol, nodes| live_run(arguments, bench, protocol, nodes);
        let runs: Result<Vec<LiveRun>, Failure> =
            protocols.iter().map(|protocol| run(protocol, arguments.run.nodes)).collect();
        let (runs, one_node) = (runs?, run(&protocols[0], 1)?);
        let (host, processors) = host();
        Ok(Live { host, processors, runs, one_node })
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &LiveRun> {
        self.runs.iter().chain([&self.one_node])
    }

    /// How many times as fast as the run on one node.
    pub(super) fn speedup(&self, run: &LiveRun) -> f64 {
        self.one_node.result.wall_seconds / run.result.wall_seconds.max(1e-9)
    }

    /// Their bars, and the unit of the scale: one in which whole numbers say something.
    pub(super) fn bars(&self) -> (Vec<Bar>, String) {
        let longest = self.runs.iter().map(|run| run.result.wall_seconds).fold(0.0, f64::max);
        let (unit, scale) = if longest < 0.01 { ("microseconds", 1e6) } else { ("milliseconds", 1e3) };
        let bar = |run: &LiveRun| Bar {
            label: format!("live / {}", run.protocol),
            values: run.parts().iter().map(|seconds| scale * seconds).collect(),
            above: Some(format!("{:.1}", scale * run.result.wall_seconds)),
        };
        (self.runs.iter().map(bar).collect(), format!("{unit} per node, on {}", self.host))
    }

    /// The exit code, or that a program ended with one that is not 0.
    ///
    /// # Errors
    /// Such a program.
    pub(super) fn verdict(&self) -> Result<u8, Failure> {
        for run in self.all() {
            if let Some((node, code)) = run.result.exit_codes.iter().next() {
                crate::say_lines!("{}{}", run.result.output, run.result.errors);
                let program = run.head.program.as_deref().unwrap_or_default();
                let what = format!("{program} ended with code {code} on node {node} of the live run");
                return Err(Failure::new(
                    (failure::of_program(*code), Code::Program),
                    what,
                    "see what it printed above",
                ));
            }
        }
        match self.all().find_map(|run| run.result.incomplete.as_ref()) {
            None => Ok(0),
            Some(why) => {
                crate::say!("incomplete: {why}");
                Ok(failure::INCOMPLETE)
            }
        }
    }

    /// The results, each as `trivium run` tells it, with the host.
    pub(super) fn json(&self) -> Vec<Value> {
        let host = json!({ "name": self.host, "processors": self.processors });
        let one = |run: &LiveRun| {
            let mut value = serde_json::to_value(&run.result).expect("a result can be written as JSON");
            value["host"] = host.clone();
            run.head.with(value)
        };
        self.runs.iter().map(one).collect()
    }
}

fn live_run(arguments: &Compare, bench: &Bench, protocol: &Arc<Protocol>, nodes: u32) -> Result<LiveRun, Failure> {
    let setup = Setup {
        program: &bench.program,
        protocols: vec![protocol.clone()],
        nodes,
        block: bench.block.into(),
        args: bench.args_on(nodes),
        limit: arguments.max_seconds.map(Duration::from_secs),
        cancel: stop::flag(),
        delays: None,
        poll_every: None,
        checks_unchecked: true,
        stall_limit: Some(trivium_run::STALL_LIMIT),
        is_pinned: false,
        warm_up: Duration::ZERO,
        trace: None,
    };
    let begun = Instant::now();
    let ended = trivium_run::run(&setup);
    let head = head(&setup, &bench.set, bench.inputs.hashes(), begun.elapsed().as_secs_f64());
    match ended {
        Ok(result) => Ok(LiveRun { protocol: protocol.name.clone(), result, head }),
        Err(wrong) => {
            let note = format!("this is the live run under {}, on {nodes} threads", protocol.name);
            Err(failed(&arguments.common.form, bench.block, ("threads", &head), &wrong).noting(&note))
        }
    }
}

impl LiveRun {
    /// What a node did with its time, as [`PARTS`], in seconds: the average of all.
    pub(super) fn parts(&self) -> [f64; PARTS.len()] {
        let nodes = self.result.per_node.len().max(1) as f64;
        let wait = self.result.per_node.iter().map(|node| node.wait_seconds).sum::<f64>() / nodes;
        let handler = self.result.per_node.iter().map(|node| node.handler_seconds).sum::<f64>() / nodes;
        [(self.result.wall_seconds - wait - handler).max(0.0), wait, handler]
    }

    /// What it printed, in lines, whose order depends on time.
    fn lines(&self) -> Vec<&str> {
        sorted(&self.result.output)
    }
}

fn sorted(output: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = output.lines().collect();
    lines.sort_unstable();
    lines
}

fn faults(misses: &Misses) -> String {
    let [read, write, upgrade] = [misses.read, misses.write, misses.upgrade].map(grouped);
    format!("{read} read, {write} write, {upgrade} upgrade")
}

impl Pair<'_> {
    fn have_same_faults(&self) -> bool {
        self.simulated.misses == self.live.result.misses
    }

    fn have_same_messages(&self) -> bool {
        let whole = &self.simulated.whole_program;
        (&whole.messages, whole.bytes) == (&self.live.result.messages, self.live.result.bytes)
    }

    fn have_same_output(&self) -> bool {
        sorted(&self.simulated.output) == self.live.lines()
    }

    fn json(&self) -> Value {
        json!({
            "protocol": self.live.protocol,
            "machine": self.simulated.machine,
            "same_misses": self.have_same_faults(),
            "same_messages": self.have_same_messages(),
            "same_output": self.have_same_output(),
            "whole_program": self.simulated.whole_program,
        })
    }

    /// What differs, a line each.
    fn differences(&self) -> Vec<String> {
        let (simulated, live) = (self.simulated, &self.live.result);
        let whole = &simulated.whole_program;
        let sent = |messages: &std::collections::BTreeMap<String, u64>, bytes| {
            format!("{}, {} bytes", grouped(messages.values().sum()), grouped(bytes))
        };
        let last = |output: &str| output.lines().last().unwrap_or("nothing").to_string();
        let all = [
            (self.have_same_faults(), "access faults", faults(&simulated.misses), faults(&live.misses)),
            (
                self.have_same_messages(),
                "messages",
                sent(&whole.messages, whole.bytes),
                sent(&live.messages, live.bytes),
            ),
            (self.have_same_output(), "output", last(&simulated.output), last(&live.output)),
        ];
        let told = |(_, what, simulated_is, live_is): &(bool, &str, String, String)| {
            format!("  {} on {}, {what}: {simulated_is}; live: {live_is}\n", self.live.protocol, simulated.machine)
        };
        all.iter().filter(|(is_same, ..)| !is_same).map(told).collect()
    }
}

/// What live runs and simulations have in common, for programs.
pub(super) fn agreement_as_json(pairs: &[Pair]) -> Value {
    pairs.iter().map(Pair::json).collect()
}

/// What live runs and simulations have in common, and what the answer was.
pub(super) fn agreement(pairs: &[Pair]) -> String {
    let differences: Vec<String> = pairs.iter().flat_map(Pair::differences).collect();
    if differences.is_empty() {
        let answer = pairs.first().and_then(|pair| pair.simulated.output.lines().last());
        let answer = answer.map_or(String::new(), |line| format!(" ({line})"));
        return format!("live and simulated: the same access faults, messages of each kind and output{answer}.\n");
    }
    format!(
        "live and simulated differ; access faults and messages may where sharing depends on time (locks, polling):\n{}",
        differences.concat()
    )
}
