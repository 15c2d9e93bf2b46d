//! The live part of a study (`--live`): some of its programs for real on this host, beside simulations of the same, and what a model of counts and unit
//! costs says of both. Nothing of it is kept, and no row of the study comes from it: what a host needs differs from time to time.

use super::plan::{RunPlan, at_or_last, at_place};
use super::runs::{RunOutcome, StudyRunner};
use crate::commands::compare_live::host;
use crate::{Failure, failure, stop};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use trivium_sim::NodeAccesses;

/// Bytes between the first and the last word of which the program of units measures each access.
const UNIT_BYTES: u32 = 2 << 20;

/// What a study says of its live part.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LivePlan {
    /// Nodes: threads of one process, and ranks.
    pub nodes: u32,
    /// The machine that is simulated beside.
    pub machine: String,
    /// How often each is measured; the median counts.
    pub repeats: usize,
    /// How far a time may be from counts times unit costs, in percent.
    pub tolerance: f64,
    /// The program that measures unit costs.
    pub units: String,
    /// Libraries that are compared.
    pub variants: Vec<Variant>,
    /// What is run under each.
    pub programs: Vec<LiveProgram>,
    /// Which times are to be greater than which.
    #[serde(default)]
    pub orders: Vec<Order>,
}

/// A protocol with blocks of a size.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// As results call it.
    pub name: String,
    /// The protocol.
    pub protocol: String,
    /// Bytes of a block.
    pub block: u32,
}

/// A program at several places.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LiveProgram {
    /// As results call it; `{x}` is the place.
    pub name: String,
    /// Its file.
    pub program: String,
    /// Flags of the C compiler at each place, or none.
    pub cc: Option<String>,
    /// Its arguments, with `{x}`.
    pub args: String,
    /// The places.
    pub x: Vec<u64>,
    /// Floating-point operations of all nodes at each place, or at all.
    pub work: Vec<f64>,
    /// The file of its picture, and what stands above it.
    pub picture: Option<(String, String)>,
    /// What stands below the picture.
    #[serde(default)]
    pub below: String,
}

impl LiveProgram {
    /// As results call it at a place.
    pub fn name_at(&self, x: u64) -> String {
        at_place(&self.name, x)
    }

    fn cc_at(&self, x: u64) -> Option<String> {
        self.cc.as_ref().map(|cc| at_place(cc, x))
    }

    fn args_at(&self, x: u64) -> Vec<String> {
        at_place(&self.args, x).split_whitespace().map(str::to_string).collect()
    }
}

/// One quotient of times that is at least a number, or another quotient.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// What is promised.
    pub what: String,
    /// The runs whose times are divided, as `PROGRAM, VARIANT`.
    pub of: (String, String),
    /// How much that is at least,
    #[serde(default)]
    pub at_least: f64,
    /// times the quotient of these, if there are some.
    pub than: Option<(String, String)>,
    /// Why it need not hold here.
    #[serde(default)]
    pub reason: String,
}

/// How nodes are run: threads of one process, or ranks that `mpirun` starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Threads.
    Threads,
    /// Ranks of MPI.
    Ranks,
}

impl Over {
    /// As results write it.
    pub fn name(self) -> &'static str {
        if self == Over::Threads { "threads" } else { "ranks" }
    }
}

/// Mean times of single accesses, in nanoseconds, as the program of units prints them.
#[derive(Clone, Debug, Serialize)]
pub struct Units {
    /// The library.
    pub variant: String,
    /// The transport.
    pub over: Over,
    /// By what the program calls them.
    pub nanoseconds: BTreeMap<String, f64>,
}

/// A time on this host, beside the model's.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// Milliseconds: the median of all repeats.
    pub ms: f64,
    /// Counts times unit costs, in milliseconds.
    pub model_ms: f64,
    /// By how many percent the time is more than the model's.
    pub deviation: f64,
    /// Whether that is within the tolerance.
    pub is_within: bool,
}

/// One program at one place under one library.
#[derive(Clone, Debug, Serialize)]
pub struct LiveRow {
    /// The program.
    pub program: String,
    /// The library.
    pub variant: String,
    /// The place.
    pub x: u64,
    /// Floating-point operations of all nodes.
    pub work: f64,
    /// Simulated milliseconds.
    pub simulated_ms: f64,
    /// On this host, by transport.
    pub measured: BTreeMap<Over, Measured>,
}

/// Whether an order holds.
#[derive(Clone, Debug, Serialize)]
pub struct OrderFound {
    /// What was promised.
    pub what: String,
    /// By how many times what it has to be: simulated, then by transport; it holds from 1 on.
    pub times: BTreeMap<String, f64>,
    /// Why it need not hold.
    pub reason: String,
}

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct LiveFound {
    /// The host.
    pub host: String,
    /// Its processors.
    pub processors: usize,
    /// Nodes.
    pub nodes: u32,
    /// The machine beside.
    pub machine: String,
    /// How far a time may be from the model, in percent.
    pub tolerance: f64,
    /// Unit costs.
    pub units: Vec<Units>,
    /// Programs.
    pub rows: Vec<LiveRow>,
    /// Orders.
    pub orders: Vec<OrderFound>,
    /// Why there are no ranks.
    pub without_ranks: Option<String>,
    /// Whether somebody interrupted it: then there are only rows that were done before.
    pub interrupted: bool,
}

/// Simulates and measures what a study's live part asks for.
///
/// # Errors
/// A run goes wrong.
pub fn measure(plan: &LivePlan, runner: &mut StudyRunner) -> Result<LiveFound, Failure> {
    let without_ranks = without_ranks();
    let transports: &[Over] = if without_ranks.is_some() { &[Over::Threads] } else { &[Over::Threads, Over::Ranks] };
    let (host, processors) = host();
    let mut found = LiveFound {
        host,
        processors,
        nodes: plan.nodes,
        machine: plan.machine.clone(),
        tolerance: plan.tolerance,
        units: Vec::new(),
        rows: Vec::new(),
        orders: Vec::new(),
        without_ranks,
        interrupted: false,
    };
    let cancel = stop::flag();
    for program in &plan.programs {
        let places = (0..program.x.len()).flat_map(|at| plan.variants.iter().map(move |variant| (at, variant)));
        for (at, variant) in places {
            let simulated = match cancel.load(Ordering::Relaxed) {
                true => None,
                false => simulated(plan, program, variant, program.x[at], runner)?,
            };
            let Some(simulated) = simulated else { return Ok(LiveFound { interrupted: true, ..found }) };
            let (row, units) = row(plan, (program, at), variant, &simulated, transports)?;
            found.rows.push(row);
            found.units.extend(units);
        }
    }
    found.orders = plan.orders.iter().filter_map(|order| holds(order, &found.rows, transports)).collect();
    found.units = medians(found.units);
    Ok(found)
}

/// A program at one of its places under one library: its times on this host, with the unit costs that were measured beside each.
fn row(
    plan: &LivePlan,
    (program, at): (&LiveProgram, usize),
    variant: &Variant,
    simulated: &RunOutcome,
    transports: &[Over],
) -> Result<(LiveRow, Vec<Units>), Failure> {
    let x = program.x[at];
    let alone = wall_ms(plan, program, x, (variant, 1), Over::Threads)?;
    let (mut measured, mut all) = (BTreeMap::new(), Vec::new());
    for &over in transports {
        // Measured beside the program, since a host is not equally fast for long.
        let units = units(plan, variant, over)?;
        let ms = wall_ms(plan, program, x, (variant, plan.nodes), over)?;
        let model_ms = modelled_ms(&simulated.accesses, &units.nanoseconds, alone, plan.nodes);
        let deviation = 100.0 * (ms / model_ms - 1.0);
        let is_within = deviation.abs() <= plan.tolerance;
        measured.insert(over, Measured { ms, model_ms, deviation, is_within });
        all.push(units);
    }
    let row = LiveRow {
        program: program.name_at(x),
        variant: variant.name.clone(),
        x,
        work: at_or_last(&program.work, at).unwrap_or(0.0),
        simulated_ms: simulated.cycles as f64 / mhz(simulated)? / 1e3,
        measured,
    };
    Ok((row, all))
}

/// Why no ranks can be started, if they cannot.
fn without_ranks() -> Option<String> {
    if !cfg!(feature = "mpi") {
        return Some("this `trivium` was built without MPI (`make mpi`)".into());
    }
    let started = Command::new("mpirun").arg("--version").output();
    (!started.is_ok_and(|output| output.status.success())).then(|| "there is no `mpirun`".into())
}

/// The same program on the machine.
fn simulated(
    plan: &LivePlan,
    program: &LiveProgram,
    variant: &Variant,
    x: u64,
    runner: &mut StudyRunner,
) -> Result<Option<RunOutcome>, Failure> {
    let args = program.args_at(x);
    let run = RunPlan {
        name: format!("{} {}", program.name_at(x), variant.name),
        program: program.program.clone(),
        cc: program.cc_at(x),
        protocols: vec![variant.protocol.clone()],
        machine: plan.machine.clone(),
        set: BTreeMap::new(),
        parameters: Vec::new(),
        is_long: false,
        seed: None,
        jobs: None,
        nodes: plan.nodes,
        block: variant.block,
        declared: args.clone(),
        args,
    };
    let mut done = runner.all(std::slice::from_ref(&run))?;
    match (done.runs.remove(&run.name), done.missing.remove(&run.name)) {
        (Some(outcome), _) => Ok(Some(outcome)),
        (None, Some(why)) => {
            Err(Failure::input(format!("`{}` cannot be simulated: {why}", run.name), "fix [live] in study.toml"))
        }
        (None, None) => Ok(None),
    }
}

fn mhz(run: &RunOutcome) -> Result<f64, Failure> {
    Ok(run.plan.machine()?.machine.processor.mhz as f64)
}

/// The time of a program's region of interest on this host.
fn wall_ms(
    plan: &LivePlan,
    program: &LiveProgram,
    x: u64,
    (variant, nodes): (&Variant, u32),
    over: Over,
) -> Result<f64, Failure> {
    let (cc, args) = (program.cc_at(x), program.args_at(x));
    let once = || {
        let result = live(Path::new(&program.program), cc.as_deref(), (variant, nodes), over, &args)?;
        let seconds = result["wall_seconds"].as_f64();
        seconds.map(|seconds| 1e3 * seconds).ok_or_else(|| Failure::input("a live run has no `wall_seconds`", ""))
    };
    Ok(median((0..plan.repeats.max(1)).map(|_| once()).collect::<Result<_, _>>()?))
}

/// What single accesses cost under a library, with all nodes at it.
fn units(plan: &LivePlan, variant: &Variant, over: Over) -> Result<Units, Failure> {
    // Words as far apart as blocks are long, and not more of them than a node's memory has room for.
    let words = (UNIT_BYTES / variant.block).clamp(64, 1000);
    let args =
        [("-b", variant.block), ("-n", words)].map(|(flag, number)| [flag.to_string(), number.to_string()]).concat();
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..plan.repeats.max(1) {
        let result = live(Path::new(&plan.units), None, (variant, plan.nodes), over, &args)?;
        for line in result["output"].as_str().unwrap_or_default().lines() {
            if let Some((what, number)) = line.rsplit_once(char::is_whitespace)
                && let Ok(number) = number.parse::<f64>()
            {
                all.entry(what.trim().to_string()).or_default().push(number);
            }
        }
    }
    let nanoseconds = all.into_iter().map(|(what, times)| (what, median(times).max(0.0))).collect();
    Ok(Units { variant: variant.name.clone(), over, nanoseconds })
}

/// One `trivium run` of its own, as JSON.
fn live(
    program: &Path,
    cc: Option<&str>,
    (variant, nodes): (&Variant, u32),
    over: Over,
    args: &[String],
) -> Result<Value, Failure> {
    let wrong = |what: String, printed: &[u8]| {
        let text = String::from_utf8_lossy(printed).trim().to_string();
        Failure::new(failure::WRONG, what, if text.is_empty() { "it printed nothing".to_string() } else { text })
    };
    let own = std::env::current_exe()
        .map_err(|error| Failure::input(format!("this program cannot be started again: {error}"), ""))?;
    let nodes = nodes.to_string();
    let mut command = match over {
        Over::Threads => Command::new(&own),
        Over::Ranks => {
            let mut command = Command::new("mpirun");
            command.args(["-n", &nodes]).arg(&own);
            command
        }
    };
    command.arg("run").arg(program).args(["-p", &variant.protocol, "--block", &variant.block.to_string()]);
    command.args(["--format", "json"]);
    if over == Over::Threads {
        command.args(["-n", &nodes]);
    }
    command.args(cc.map(|cc| format!("--cc={cc}")));
    command.arg("--").args(args);
    let output =
        command.output().map_err(|error| Failure::input(format!("{command:?} cannot be started: {error}"), ""))?;
    if !output.status.success() {
        let code = output.status.code().map_or("a signal".to_string(), |code| format!("code {code}"));
        return Err(wrong(
            format!("the live run of {} under {} ended with {code}", program.display(), variant.name),
            &output.stderr,
        ));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| wrong(format!("the result of a live run is no JSON: {error}"), &output.stdout))
}

/// Counts times unit costs, of the node for which that is most. What the program takes on one node, where each access is a hit, is computing and hits; it is
/// divided among the nodes. Accesses of the simulated run that were none are added.
fn modelled_ms(accesses: &[NodeAccesses], units: &BTreeMap<String, f64>, alone_ms: f64, nodes: u32) -> f64 {
    let unit = |name: &str| units.get(name).copied().unwrap_or(0.0);
    let of_node = |node: &NodeAccesses| -> f64 {
        let cost = |access: &trivium_sim::AccessOf| match access.kind.as_str() {
            "read" => access.misses as f64 * unit("read"),
            "get" => access.misses as f64 * unit("get") + access.hits as f64 * unit("get again"),
            _ if access.at_home => access.misses as f64 * unit("upgrade"),
            _ => access.misses as f64 * unit("write"),
        };
        node.accesses.iter().map(cost).sum()
    };
    alone_ms / f64::from(nodes) + accesses.iter().map(of_node).fold(0.0, f64::max) / 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The units of each library and transport once: medians of all that were measured.
fn medians(all: Vec<Units>) -> Vec<Units> {
    let mut by: BTreeMap<(String, Over), BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for units in all {
        let times = by.entry((units.variant, units.over)).or_default();
        units.nanoseconds.into_iter().for_each(|(what, time)| times.entry(what).or_default().push(time));
    }
    let one = |((variant, over), times): ((String, Over), BTreeMap<String, Vec<f64>>)| Units {
        variant,
        over,
        nanoseconds: times.into_iter().map(|(what, times)| (what, median(times))).collect(),
    };
    by.into_iter().map(one).collect()
}

/// How far an order holds: 1 is just so.
fn holds(order: &Order, rows: &[LiveRow], transports: &[Over]) -> Option<OrderFound> {
    let row = |name: &str| {
        let (program, variant) = name.rsplit_once(", ")?;
        rows.iter().find(|row| row.program == program && row.variant == variant)
    };
    let quotient =
        |(of, to): &(String, String), time: &dyn Fn(&LiveRow) -> Option<f64>| Some(time(row(of)?)? / time(row(to)?)?);
    let times = |time: &dyn Fn(&LiveRow) -> Option<f64>| {
        let least = order.than.as_ref().map_or(Some(1.0), |than| quotient(than, time))?;
        Some(quotient(&order.of, time)? / (order.at_least * least))
    };
    let mut found = BTreeMap::new();
    found.insert("simulated".to_string(), times(&|row| Some(row.simulated_ms))?);
    for over in transports {
        found.insert(over.name().to_string(), times(&|row| row.measured.get(over).map(|measured| measured.ms))?);
    }
    Some(OrderFound { what: order.what.clone(), times: found, reason: order.reason.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_sim::AccessOf;

    fn counted(kind: &str, at_home: bool, hits: u64, misses: u64) -> AccessOf {
        let name = || String::new();
        AccessOf {
            protocol: name(),
            role: name(),
            state: name(),
            kind: kind.into(),
            at_home,
            is_first: false,
            hits,
            misses,
        }
    }

    #[test]
    fn the_model_is_counts_times_units_of_the_busiest_node() {
        let units = [("read", 2e3), ("write", 3e3), ("upgrade", 5e3), ("get", 7e3), ("get again", 1e3)];
        let units = units.map(|(name, time)| (name.to_string(), time)).into();
        let busy = NodeAccesses {
            node: 1,
            entries: 0,
            accesses: vec![
                counted("read", false, 1_000_000, 1),
                counted("write", false, 0, 10),
                counted("write", true, 9, 100),
                counted("get", false, 10_000, 1000),
            ],
        };
        let idle = NodeAccesses { node: 0, entries: 0, accesses: Vec::new() };
        let ms = modelled_ms(&[idle, busy], &units, 8.0, 2);
        assert!((ms - (4.0 + 0.002 + 0.03 + 0.5 + 10.0 + 7.0)).abs() < 1e-9, "{ms}");
    }

    #[test]
    fn an_order_is_a_quotient_of_times() {
        let row = |program: &str, variant: &str, ms: f64| LiveRow {
            program: program.into(),
            variant: variant.into(),
            x: 0,
            work: 0.0,
            simulated_ms: ms,
            measured: [(Over::Threads, Measured { ms: 2.0 * ms, model_ms: ms, deviation: 0.0, is_within: true })]
                .into(),
        };
        let rows = [row("a, 1", "sc", 40.0), row("a, 1", "swcc", 2.0), row("b", "sc", 6.0), row("b", "swcc", 3.0)];
        let pair = |of: &str, to: &str| (of.to_string(), to.to_string());
        let order = |at_least, than| Order {
            what: String::new(),
            of: pair("a, 1, sc", "a, 1, swcc"),
            at_least,
            than,
            reason: String::new(),
        };
        let times = |order| holds(&order, &rows, &[Over::Threads]).unwrap().times;
        assert_eq!(times(order(10.0, None))["threads"], 2.0);
        assert_eq!(times(order(1.0, Some(pair("b, sc", "b, swcc"))))["simulated"], 10.0);
        let unknown = Order { of: pair("a, 1, sc", "c, sc"), ..order(1.0, None) };
        assert!(holds(&unknown, &rows, &[]).is_none());
    }
}
