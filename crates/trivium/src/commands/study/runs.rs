//! Carrying out the runs of a study, and keeping what is done so that a study that was stopped goes on where it was.

use super::kept::Kept;
use super::plan::RunPlan;
use crate::commands::program;
use crate::commands::sim::{Bench, Room};
use crate::library::{self, LoadedMachine, Settings};
use crate::output::{self, grouped};
use crate::{Failure, failure, stop};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use trivium_diagnostic::Code;
use trivium_guest::Program;
use trivium_protocol::Protocol;
use trivium_sim::{NodeAccesses, NodeOccupancy, Occupied, PARTS_OF_TIME};

/// What a study needs of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOutcome {
    /// What it was.
    pub plan: RunPlan,
    /// Its cycles.
    pub cycles: u64,
    /// The sum over the nodes of each part of their time, in the order of [`PARTS_OF_TIME`].
    pub parts: Vec<u64>,
    /// What the program printed.
    pub output: String,
    /// What the nodes' libraries have checked, if they did.
    pub accesses: Vec<NodeAccesses>,
    /// For how many cycles messages have used the units of all nodes, if the machine counts that.
    pub occupancy: Option<u64>,
    /// Cycles of each node's own region of interest.
    pub regions: Vec<u64>,
    /// What engines have run, by handler.
    pub handlers: BTreeMap<String, Occupied>,
    /// Messages of the regions of interest, by kind.
    pub messages: BTreeMap<String, u64>,
}

/// The runs that are done, by name, and why others cannot be done.
#[derive(Debug, Default)]
pub struct Done {
    /// Those that ended well.
    pub runs: BTreeMap<String, RunOutcome>,
    /// Why a run cannot be: its program, protocol or machine is not there.
    pub missing: BTreeMap<String, String>,
    /// Whether somebody interrupted it.
    pub interrupted: bool,
    /// Hashes of what went in, by name.
    pub hashes: BTreeMap<String, String>,
}

/// What a program is compiled from: its file, the flags of its run, the bytes of a block, and the flags of its protocol.
type ProgramKey = (String, Option<String>, u32, Vec<&'static str>);

/// What all runs share.
pub struct StudyRunner<'a> {
    /// Where results are kept.
    pub kept: &'a Kept,
    /// The seed.
    pub seed: u64,
    /// Host threads of each run.
    pub jobs: u32,
    /// Whether long runs are carried out; what is kept of them is used in any case.
    pub with_long: bool,
    /// The folder in which programs are, as the study names them.
    pub root: PathBuf,
    programs: BTreeMap<ProgramKey, Program>,
}

/// All that a run needs.
struct Ready {
    protocols: Vec<Arc<Protocol>>,
    machine: LoadedMachine,
    program: Program,
}

impl StudyRunner<'_> {
    /// A runner that has loaded nothing yet.
    pub fn new(kept: &Kept, seed: u64, jobs: u32, with_long: bool, root: PathBuf) -> StudyRunner<'_> {
        StudyRunner { kept, seed, jobs, with_long, root, programs: BTreeMap::new() }
    }

    /// Carries out what is not done yet.
    ///
    /// # Errors
    /// A run goes wrong, or its result cannot be kept.
    pub fn all(&mut self, plans: &[RunPlan]) -> Result<Done, Failure> {
        let mut done = Done::default();
        let mut clock = Clock::new(plans.len());
        let cancel = stop::flag();
        for plan in plans {
            if cancel.load(std::sync::atomic::Ordering::Relaxed) {
                done.interrupted = true;
                break;
            }
            let ready = match self.ready(plan)? {
                Ok(ready) => ready,
                Err(why) => {
                    clock.skip();
                    done.missing.insert(plan.name.clone(), why);
                    continue;
                }
            };
            done.hashes.insert("program ".to_string() + &plan.program, ready.program.hash().to_string());
            done.hashes.extend(ready.protocols.iter().map(|protocol| library::hash(protocol)));
            let file = self.file(plan, &ready);
            let damaged = || self.kept.damaged(&file, &plan.name);
            let outcome = match self.kept.read(&file, &plan.name)? {
                Some(text) => {
                    clock.skip();
                    outcome(plan, &text).ok_or_else(damaged)?
                }
                None if plan.is_long && !self.with_long => {
                    clock.skip();
                    done.missing.insert(plan.name.clone(), "a run that takes long: --long carries it out".into());
                    continue;
                }
                None => {
                    clock.begin(plan);
                    let Some(text) = self.run(plan, &ready)? else {
                        done.interrupted = true;
                        break;
                    };
                    self.kept.write(&file, &text)?;
                    let outcome = outcome(plan, &text);
                    clock.end();
                    outcome.ok_or_else(|| Failure::input(Code::Study, "a result is not as it should be", ""))?
                }
            };
            done.runs.insert(plan.name.clone(), outcome);
        }
        Ok(done)
    }

    /// What a run needs, or why that is not there yet. What is there and wrong is an error.
    fn ready(&mut self, plan: &RunPlan) -> Result<Result<Ready, String>, Failure> {
        if let Some(why) = absent(plan, &self.root) {
            return Ok(Err(why));
        }
        let settings = Settings { protocol: plan.parameters.clone(), ..Settings::default() };
        let protocols = library::protocols(&plan.protocols, &settings)?;
        let machine = plan.machine()?;
        let files = [self.root.join(&plan.program)];
        let flags = program::flags_of_protocol(&files, &protocols);
        let known = (plan.program.clone(), plan.cc.clone(), plan.block, flags);
        let program = match self.programs.get(&known) {
            Some(program) => program.clone(),
            None => {
                let program = program::load(&files, plan.cc.as_deref(), &protocols, plan.block)?;
                self.programs.insert(known, program.clone());
                program
            }
        };
        Ok(Ok(Ready { protocols, machine, program }))
    }

    /// Where the result of a run is kept: its name is made of all that the result depends on.
    fn file(&self, plan: &RunPlan, ready: &Ready) -> PathBuf {
        let protocols: Vec<String> = ready.protocols.iter().map(|protocol| library::hash(protocol).1).collect();
        let parts = [
            ready.program.hash().to_string(),
            protocols.join(" "),
            ready.machine.hash.clone(),
            format!("{} nodes, blocks of {}, seed {}", plan.nodes, plan.block, plan.seed.unwrap_or(self.seed)),
            // The result is the same; that it is, is what such a run shows.
            plan.jobs.map_or(String::new(), |jobs| format!("{jobs} host threads")),
            plan.args.join(" "),
        ];
        let parts: Vec<&[u8]> = parts.iter().map(|part| part.as_bytes()).collect();
        self.kept.file(&parts)
    }

    /// The result of a run as JSON, unless it was interrupted.
    fn run(&self, plan: &RunPlan, ready: &Ready) -> Result<Option<String>, Failure> {
        let bench = Bench {
            set: Settings { protocol: plan.parameters.clone(), machine: plan.set.clone().into_iter().collect() },
            program: ready.program.clone(),
            inputs: Arc::default(),
            sources: vec![ready.program.name().to_string()],
            cc: plan.cc.clone(),
            block: plan.block,
            args: plan.args.clone(),
            seed: plan.seed.unwrap_or(self.seed),
            max_cycles: None,
            max_seconds: None,
            stall_limit: Some(trivium_sim::STALL_LIMIT),
            memory: Room::Machine { refuses: false },
            window: None,
            blame: false,
            jobs: plan.jobs.unwrap_or(self.jobs),
        };
        let result = bench.run(&ready.protocols, &ready.machine, plan.nodes)?;
        if result.incomplete.is_some() {
            return Ok(None);
        }
        if let Some((node, code)) = result.exit_codes.iter().next() {
            let what = format!("{} ended with code {code} on node {node}, in the run `{}`", plan.program, plan.name);
            return Err(Failure::new(
                (failure::WRONG, Code::Study),
                what,
                format!("it printed: {}{}", result.output, result.errors),
            ));
        }
        let value = serde_json::to_value(&result).map_err(|error| Failure::input(Code::Study, error, ""))?;
        Ok(Some(output::pretty(&value)))
    }
}

/// What of a run is not there yet: its program, a protocol, its machine.
fn absent(plan: &RunPlan, root: &Path) -> Option<String> {
    let is_file = |name: &str| Path::new(name).is_file();
    if !root.join(&plan.program).is_file() {
        return Some(format!("there is no program {}", plan.program));
    }
    let known = library::protocol_names();
    if let Some(name) = plan.protocols.iter().find(|name| !known.contains(name) && !is_file(name)) {
        return Some(format!("there is no protocol `{name}`"));
    }
    let is_machine = trivium_sim::built_in(&plan.machine).is_some()
        || trivium_sim::of_name(&plan.machine).is_some()
        || is_file(&plan.machine);
    (!is_machine).then(|| format!("there is no machine `{}`", plan.machine))
}

/// What a kept result says, if it is one.
fn outcome(plan: &RunPlan, text: &str) -> Option<RunOutcome> {
    let result: Value = serde_json::from_str(text).ok()?;
    let nodes = result["per_node"].as_array()?;
    let sum = |name: &str| nodes.iter().map(|node| node[name].as_u64()).sum::<Option<u64>>();
    let parts = PARTS_OF_TIME.iter().map(|name| sum(name)).collect::<Option<Vec<u64>>>()?;
    let output = result["output"].as_str()?.to_string();
    let accesses = match &result["accesses"] {
        Value::Null => Vec::new(),
        told => serde_json::from_value(told.clone()).ok()?,
    };
    let occupancy = match &result["occupancy"] {
        Value::Null => None,
        told => {
            let nodes: Vec<NodeOccupancy> = serde_json::from_value(told.clone()).ok()?;
            Some(nodes.iter().map(|node| node.causes.sum()).sum())
        }
    };
    Some(RunOutcome {
        plan: plan.clone(),
        cycles: result["cycles"].as_u64()?,
        parts,
        output,
        accesses,
        occupancy,
        regions: nodes.iter().map(|node| node["cycles"].as_u64()).collect::<Option<Vec<u64>>>()?,
        handlers: serde_json::from_value(result["handlers"].clone()).ok()?,
        messages: serde_json::from_value(result["messages_region"].clone()).ok()?,
    })
}

/// Tells on a terminal how far a study is.
struct Clock {
    shown: bool,
    begun: Instant,
    all: usize,
    passed: usize,
    carried_out: usize,
}

impl Clock {
    fn new(all: usize) -> Clock {
        Clock { shown: std::io::stderr().is_terminal(), begun: Instant::now(), all, passed: 0, carried_out: 0 }
    }

    fn begin(&self, plan: &RunPlan) {
        if self.shown {
            let seconds = self.begun.elapsed().as_secs_f64();
            let left = match self.carried_out {
                0 => String::new(),
                count => {
                    let each = seconds / count as f64;
                    let rest = each * (self.all - self.passed) as f64;
                    format!(", {each:.1} s a run, at most {} s left", grouped(rest as u64))
                }
            };
            crate::say!("run {} of {}: {}{left}", self.passed + 1, self.all, plan.name);
        }
    }

    fn skip(&mut self) {
        self.passed += 1;
    }

    fn end(&mut self) {
        self.passed += 1;
        self.carried_out += 1;
    }
}
