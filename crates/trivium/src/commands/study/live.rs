//! The live part of a study (`--live`): some of its programs for real on this host, beside simulations of the same, and what a model of counts and unit
//! costs says of both. Nothing of it is kept, and no row of the study comes from it: what a host needs differs from time to time.

use super::live_model::{Region, Units, modelled, new_of_one};
use super::plan::{RunPlan, at_or_last, at_place};
use super::runs::{RunOutcome, StudyRunner};
use crate::commands::compare_live::host;
use crate::{Failure, failure, stop};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering;
use trivium_diagnostic::Code;
use trivium_sim::{ACCESS_KINDS, NodeAccesses};

/// Bytes between the first and the last word of which the program of units measures each access, at most.
const UNIT_BYTES: u64 = 1 << 20;

/// What a study says of its live part.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LivePlan {
    /// The folder in which programs are, as the study names them.
    #[serde(skip)]
    pub root: PathBuf,
    /// Nodes: threads of one process, and ranks.
    pub nodes: u32,
    /// The machine that is simulated beside.
    pub machine: String,
    /// How often each is measured; the least counts, since what else a host does only adds to a time.
    pub repeats: usize,
    /// For how many milliseconds each node computes before its program begins (`trivium run --warm-up`).
    #[serde(default)]
    pub warm_up: u64,
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
    /// Which libraries it is run under; all if there are none.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Parameters of the protocols that are otherwise, as `protocol.NAME`: also where units are measured.
    #[serde(default)]
    pub set: BTreeMap<String, i64>,
    /// Bytes of its bulk gets at each place, or at all: `-t` of the program of units.
    #[serde(default)]
    pub tiles: Vec<u64>,
    /// Bytes from one of its values to the next, if that may be more than a block: `-w` of the program of units.
    pub apart: Option<u64>,
    /// It is an experiment: what it shows. It counts apart.
    pub experiment: Option<String>,
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

    fn is_under(&self, variant: &Variant) -> bool {
        self.variants.is_empty() || self.variants.contains(&variant.name)
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

/// A time on this host, beside the model's.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Milliseconds: the least of all repeats.
    pub ms: f64,
    /// Each of them, in order.
    pub repeats_ms: Vec<f64>,
    /// Counts times unit costs, in milliseconds: each miss by its kind.
    pub model_ms: f64,
    /// The same if each miss were a round trip.
    pub round_trips_ms: f64,
    /// The same program on one node.
    pub alone_ms: f64,
    /// Unit costs, measured beside it, in nanoseconds.
    pub units: Units,
    /// Loads and stores of all nodes that missed: on this host, and simulated.
    pub missed: [u64; 2],
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
    /// Whether it is an experiment.
    pub is_experiment: bool,
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
    /// Programs.
    pub rows: Vec<LiveRow>,
    /// What experiments show, by their programs' names.
    pub experiments: BTreeMap<String, String>,
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
        rows: Vec::new(),
        experiments: plan.programs.iter().filter_map(|one| Some((one.name.clone(), one.experiment.clone()?))).collect(),
        orders: Vec::new(),
        without_ranks,
        interrupted: false,
    };
    let cancel = stop::flag();
    for program in &plan.programs {
        let places = (0..program.x.len()).flat_map(|at| {
            plan.variants.iter().filter(|variant| program.is_under(variant)).map(move |variant| (at, variant))
        });
        for (at, variant) in places {
            let simulated = match cancel.load(Ordering::Relaxed) {
                true => None,
                false => simulated(plan, program, variant, program.x[at], runner)?,
            };
            let Some(simulated) = simulated else { return Ok(LiveFound { interrupted: true, ..found }) };
            found.rows.push(row(plan, (program, at), variant, &simulated, transports)?);
        }
    }
    found.orders = plan.orders.iter().filter_map(|order| holds(order, &found.rows, transports)).collect();
    Ok(found)
}

/// A program at one of its places under one library: its times on this host, with the unit costs that were measured beside each.
fn row(
    plan: &LivePlan,
    (program, at): (&LiveProgram, usize),
    variant: &Variant,
    simulated: &RunOutcome,
    transports: &[Over],
) -> Result<LiveRow, Failure> {
    let x = program.x[at];
    let (cc, args) = (program.cc_at(x), program.args_at(x));
    let subject =
        LiveCommand { file: &plan.root.join(&program.program), cc: cc.as_deref(), args: &args, set: &program.set };
    let (alone, _) = wall(plan, &subject, (variant, 1), Over::Threads)?;
    let alone = least(&alone);
    let apart = program.apart.unwrap_or(0).max(variant.block.into());
    let words = words(apart, &simulated.accesses);
    let mut measured = BTreeMap::new();
    for &over in transports {
        // Measured beside the program, since a host is not equally fast for long.
        let (units, empty_ms) = units(plan, (program, at), (variant, words), over)?;
        let (repeats_ms, missed) = wall(plan, &subject, (variant, plan.nodes), over)?;
        let ms = least(&repeats_ms);
        let region = Region { alone_ms: alone, empty_ms, nodes: plan.nodes };
        let model = modelled(&simulated.accesses, &units, region);
        let deviation = 100.0 * (ms / model.by_kind_ms - 1.0);
        let one = Measured {
            ms,
            repeats_ms,
            model_ms: model.by_kind_ms,
            round_trips_ms: model.round_trips_ms,
            alone_ms: alone,
            units,
            missed: [missed, loads_and_stores(&simulated.accesses)],
            deviation,
            is_within: deviation.abs() <= plan.tolerance,
        };
        measured.insert(over, one);
    }
    Ok(LiveRow {
        program: program.name_at(x),
        variant: variant.name.clone(),
        x,
        work: at_or_last(&program.work, at).unwrap_or(0.0),
        is_experiment: program.experiment.is_some(),
        simulated_ms: simulated.cycles as f64 / mhz(simulated)? / 1e3,
        measured,
    })
}

/// Of how many words, so many bytes apart, units are measured; and of how many those that are fetched for the first time: as many as in the
/// program, since the first of them cost more than the rest.
fn words(apart: u64, accesses: &[NodeAccesses]) -> [u64; 2] {
    let most = UNIT_BYTES / apart;
    let new = match new_of_one(accesses) {
        0 => most.min(1000),
        blocks => blocks.min(most).min(20_000),
    };
    [most.min(1000), new]
}

/// Loads and stores of all nodes that missed.
fn loads_and_stores(accesses: &[NodeAccesses]) -> u64 {
    let all = accesses.iter().flat_map(|node| &node.accesses);
    all.filter(|access| ACCESS_KINDS.contains(&access.kind.as_str())).map(|access| access.misses).sum()
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
        parameters: program
            .set
            .iter()
            .map(|(key, value)| (key.trim_start_matches("protocol.").to_string(), *value))
            .collect(),
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
        (None, Some(why)) => Err(Failure::input(
            Code::Study,
            format!("`{}` cannot be simulated: {why}", run.name),
            "fix [live] in study.toml",
        )),
        (None, None) => Ok(None),
    }
}

fn mhz(run: &RunOutcome) -> Result<f64, Failure> {
    Ok(run.plan.machine()?.machine.processor.mhz as f64)
}

/// What is run for real.
struct LiveCommand<'a> {
    file: &'a Path,
    cc: Option<&'a str>,
    args: &'a [String],
    set: &'a BTreeMap<String, i64>,
}

/// The times of a program's region of interest on this host in milliseconds, and how many loads and stores of all nodes missed, which is a median.
fn wall(
    plan: &LivePlan,
    subject: &LiveCommand,
    (variant, nodes): (&Variant, u32),
    over: Over,
) -> Result<(Vec<f64>, u64), Failure> {
    let (mut times, mut missed) = (Vec::new(), Vec::new());
    for _ in 0..plan.repeats.max(1) {
        let result = live(plan, subject, (variant, nodes), over)?;
        times.push(wall_ms(&result)?);
        let kinds = ["read", "write", "upgrade"].map(|kind| result["misses"][kind].as_u64().unwrap_or(0));
        missed.push(kinds.iter().sum::<u64>());
    }
    missed.sort_unstable();
    Ok((times, missed.get(missed.len() / 2).copied().unwrap_or(0)))
}

fn wall_ms(result: &Value) -> Result<f64, Failure> {
    let seconds = result["wall_seconds"].as_f64();
    seconds
        .map(|seconds| 1e3 * seconds)
        .ok_or_else(|| Failure::input(Code::Study, "a live run has no `wall_seconds`", ""))
}

/// What single accesses cost under a library, with all nodes at it, and what an empty region of interest takes in milliseconds.
fn units(
    plan: &LivePlan,
    (program, at): (&LiveProgram, usize),
    (variant, [words, new]): (&Variant, [u64; 2]),
    over: Over,
) -> Result<(Units, f64), Failure> {
    let tile = at_or_last(&program.tiles, at);
    let flags = [
        ("-b", Some(variant.block.into())),
        ("-n", Some(words)),
        ("-f", Some(new)),
        ("-t", tile),
        ("-w", program.apart),
    ];
    let args: Vec<String> =
        flags.iter().filter_map(|(flag, number)| Some([flag.to_string(), (*number)?.to_string()])).flatten().collect();
    let subject = LiveCommand { file: &plan.root.join(&plan.units), cc: None, args: &args, set: &program.set };
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut empty = Vec::new();
    for _ in 0..plan.repeats.max(1) {
        let result = live(plan, &subject, (variant, plan.nodes), over)?;
        empty.push(wall_ms(&result)?);
        for line in result["output"].as_str().unwrap_or_default().lines() {
            if let Some((what, number)) = line.rsplit_once(char::is_whitespace)
                && let Ok(number) = number.parse::<f64>()
            {
                all.entry(what.trim().to_string()).or_default().push(number);
            }
        }
    }
    let units = all.into_iter().map(|(what, times)| (what, least(&times).max(0.0))).collect();
    Ok((units, least(&empty)))
}

/// One `trivium run` of its own, as JSON.
fn live(
    plan: &LivePlan,
    subject: &LiveCommand,
    (variant, nodes): (&Variant, u32),
    over: Over,
) -> Result<Value, Failure> {
    let wrong = |what: String, printed: &[u8]| {
        let text = String::from_utf8_lossy(printed).trim().to_string();
        Failure::new(
            (failure::WRONG, Code::Study),
            what,
            if text.is_empty() { "it printed nothing".to_string() } else { text },
        )
    };
    let own = std::env::current_exe()
        .map_err(|error| Failure::input(Code::Study, format!("this program cannot be started again: {error}"), ""))?;
    let nodes = nodes.to_string();
    // A node has a processor of its own, as on a network of workstations, where the host has so many.
    let (_, processors) = host();
    let is_pinned = cfg!(target_os = "linux") && processors >= plan.nodes as usize;
    let mut command = match over {
        Over::Threads => Command::new(&own),
        Over::Ranks => {
            let mut command = Command::new("mpirun");
            command
                .args(["-n", &nodes])
                .args(is_pinned.then_some(["--bind-to", "core"]).into_iter().flatten())
                .arg(&own);
            command
        }
    };
    command.arg("run").arg(subject.file).args(["-p", &variant.protocol, "--block", &variant.block.to_string()]);
    command.args(["--format", "json", "--warm-up", &plan.warm_up.to_string()]);
    if over == Over::Threads {
        command.args(["-n", &nodes]).args(is_pinned.then_some("--pin"));
    }
    command.args(subject.cc.map(|cc| format!("--cc={cc}")));
    command.args(subject.set.iter().map(|(key, value)| format!("--set={key}={value}")));
    command.arg("--").args(subject.args);
    let output = command
        .output()
        .map_err(|error| Failure::input(Code::Study, format!("{command:?} cannot be started: {error}"), ""))?;
    if !output.status.success() {
        let code = output.status.code().map_or("a signal".to_string(), |code| format!("code {code}"));
        return Err(wrong(
            format!("the live run of {} under {} ended with {code}", subject.file.display(), variant.name),
            &output.stderr,
        ));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| wrong(format!("the result of a live run is no JSON: {error}"), &output.stdout))
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().reduce(f64::min).unwrap_or(f64::NAN)
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

    fn measured(ms: f64) -> Measured {
        Measured {
            ms,
            repeats_ms: vec![ms],
            model_ms: ms,
            round_trips_ms: ms,
            alone_ms: ms,
            units: Units::new(),
            missed: [0; 2],
            deviation: 0.0,
            is_within: true,
        }
    }

    #[test]
    fn an_order_is_a_quotient_of_times() {
        let row = |program: &str, variant: &str, ms: f64| LiveRow {
            program: program.into(),
            variant: variant.into(),
            x: 0,
            work: 0.0,
            is_experiment: false,
            simulated_ms: ms,
            measured: [(Over::Threads, measured(2.0 * ms))].into(),
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
