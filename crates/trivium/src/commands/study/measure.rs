//! Our figures: from keys of machines, from single misses, from runs.

use super::origin::{Count, Measure, MissConfig};
use super::plan::{MissTable, at_place};
use super::published::Published;
use super::runs::{Done, RunOutcome};
use crate::Failure;
use crate::library::{self, LoadedMachine, Settings};
use std::cell::RefCell;
use std::collections::BTreeMap;
use trivium_diagnostic::Code;
use trivium_sim::{AccessOf, MissKind, MissPlace, MissReport, PARTS_OF_TIME};

/// Why there is no figure.
pub type Why = String;

/// What figures are made of.
pub struct Figures<'a> {
    done: &'a Done,
    misses: RefCell<BTreeMap<(MissConfig, u32), Result<MissReport, Why>>>,
}

/// The protocol of single misses.
const MISSING_UNDER: &str = "stache";

impl<'a> Figures<'a> {
    /// Figures from these runs.
    pub fn new(done: &'a Done) -> Figures<'a> {
        Figures { done, misses: RefCell::default() }
    }

    /// Our figure for a row of this unit.
    ///
    /// # Errors
    /// Why there is none.
    pub fn value(&self, measure: &Measure, unit: &str) -> Result<f64, Why> {
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        match measure {
            Measure::Machine { name, key, scale } => Ok(scale * key_of(&machine(name, None)?, key)?),
            Measure::Quotient { name, key, by, scale } => {
                let machine = machine(name, None)?;
                Ok(scale * key_of(&machine, key)? / key_of(&machine, by)?)
            }
            Measure::SumOfKeys { name, keys } => sum_of(&machine(name, None)?, keys),
            Measure::QuotientOfSum { name, keys, by } => {
                let machine = machine(name, None)?;
                Ok(sum_of(&machine, keys)? / key_of(&machine, by)?)
            }
            Measure::Latency { run, scale } => {
                let machine = self.run(run)?.plan.machine().map_err(|failure| failure.what().to_string())?;
                Ok(machine.machine.network.latency as f64 * scale)
            }
            Measure::Miss(config) => {
                let total = self.miss(config, BLOCK)?.total;
                in_unit(total, unit, &machine(&config.machine, config.latency)?)
            }
            Measure::MissSlower { of, than } => {
                Ok(percent(self.miss(of, BLOCK)?.total as f64 / self.miss(than, BLOCK)?.total as f64))
            }
            Measure::MissNetwork(config) => {
                let miss = self.miss(config, BLOCK)?;
                let network: u64 = miss.steps.iter().filter(|s| s.node == "network").map(|s| s.cycles).sum();
                Ok(100.0 * network as f64 / miss.total as f64)
            }
            Measure::Argument { run, flag } => {
                let args = &self.run(run)?.plan.declared;
                let at = args.iter().position(|arg| arg == flag);
                let value = at.and_then(|at| args.get(at + 1)).and_then(|value| value.parse().ok());
                value.ok_or_else(|| format!("run `{run}` has no number after {flag}"))
            }
            Measure::Nodes(run) => Ok(f64::from(self.run(run)?.plan.nodes)),
            Measure::Block(run) => Ok(f64::from(self.run(run)?.plan.block)),
            Measure::Fastest(runs) => Ok(f64::from(self.fastest(runs)?.plan.block)),
            Measure::OverBest { best, of } => {
                let ratio = self.fastest(best)?.cycles as f64 / self.run(of)?.cycles as f64;
                Ok(if unit == "percent" { percent(ratio) } else { ratio })
            }
            Measure::Ratio(pairs) => self.greatest(pairs),
            Measure::RatioOfRatios { of, to } => {
                Ok(self.greatest(std::slice::from_ref(of))? / self.greatest(std::slice::from_ref(to))?)
            }
            Measure::PercentOf(pairs) => self.greatest(pairs).map(|ratio| 100.0 * ratio),
            Measure::Slower(pairs) => self.greatest(pairs).map(percent),
            Measure::Loss(pairs) => self.greatest(pairs).map(|ratio| 100.0 * (1.0 - 1.0 / ratio)),
            Measure::Printed { run, after, scale } => Ok(scale * self.printed(run, after)?),
            Measure::PrintedCycles { run, after, scale } => {
                self.cycles_in(scale * self.printed(run, after)?, run, unit)
            }
            Measure::PrintedTime { run, after } => self.cycles_in(self.printed(run, after)?, run, unit),
            Measure::Counted { run, node, what, per, scale, each } => {
                let run = self.run(run)?;
                let number = counted(run, *node, *what)? as f64 * scale / each_of(run, each.as_deref())?;
                match per {
                    None => Ok(number),
                    Some(per) => match counted(run, *node, *per)? {
                        0 => Err(format!("run `{}` has counted none of what it is divided by", run.plan.name)),
                        by => Ok(number / by as f64),
                    },
                }
            }
            Measure::Occupied { run } => match self.run(run)?.occupancy {
                Some(cycles) => Ok(cycles as f64),
                None => Err(format!("run `{run}` is on a machine that does not count for what messages use it")),
            },
            Measure::Rate { run, work, by } => Ok(work / by / self.seconds(run)? / 1e6),
            Measure::Time { run, less, by, each } => {
                let by = by * each_of(self.run(run)?, each.as_deref())?;
                let less = less.as_ref().map_or(Ok(0.0), |less| self.seconds(less))?;
                in_time((self.seconds(run)? - less) / by, unit)
            }
            Measure::Region { run, node } => self.region(run, *node, unit),
            Measure::Handlers { run, of, by } => self.handlers(run, of, *by, unit),
            Measure::Between { run, from, to } => self.between(run, (from, to), unit),
            Measure::Times { run, of, scale } => self.times(run, of, *scale, unit),
            Measure::Messages { run, of, scale } => self.messages(run, of, *scale, unit),
            Measure::MoreTimeIn { parts, of, than } => {
                Ok(percent(self.time_in(of, parts)? / self.time_in(than, parts)?))
            }
            Measure::Least(of) => {
                let least = self.values(of, unit)?.into_iter().reduce(f64::min);
                least.ok_or_else(|| "no figures are named".to_string())
            }
            Measure::HowMany { of, above, below, unit } => {
                Ok(self.values(of, unit)?.iter().filter(|figure| **figure > *above && **figure < *below).count() as f64)
            }
            Measure::Sum(parts) => parts.iter().map(|part| self.value(part, unit)).sum(),
            Measure::Difference(parts) => match &parts[..] {
                [of, less] => Ok(self.value(of, unit)? - self.value(less, unit)?),
                _ => Err("a `difference` is of two figures".to_string()),
            },
            Measure::Over(parts) => match &parts[..] {
                [of, by] => Ok(self.value(of, "us")? / self.value(by, "us")?),
                _ => Err("`over` is of two figures".to_string()),
            },
            Measure::Bandwidth { bytes, of } => match (unit, self.value(of, "us")?) {
                // Bytes a microsecond.
                ("MB/s", time) if time > 0.0 => Ok(bytes / time),
                ("MB/s", time) => Err(format!("{time} us are no time in which bytes go somewhere")),
                _ => Err(format!("a bandwidth is not measured in `{unit}`")),
            },
            Measure::Crossing { of, with, x } => {
                let places = with.iter().map(|with| self.crossing(of, with, x)).collect::<Result<Vec<f64>, Why>>()?;
                places.into_iter().reduce(f64::max).ok_or_else(|| "no runs are named".to_string())
            }
            Measure::Share { run, parts } => {
                let share = self.time_in(run, parts)? / self.run(run)?.parts.iter().sum::<u64>() as f64;
                Ok(if unit == "percent" { 100.0 * share } else { share })
            }
        }
    }

    /// Whether single accesses are measured where the machine's file prices whole handlers of the protocol (`[handlers]`): what they come to is an input then.
    pub fn is_of_priced_handlers(&self, measure: &Measure) -> bool {
        let of_miss = |config: &MissConfig| self.miss(config, BLOCK).is_ok_and(|miss| miss.fitted);
        match measure {
            Measure::Miss(config) | Measure::MissNetwork(config) => of_miss(config),
            Measure::MissSlower { of, than } => of_miss(of) || of_miss(than),
            Measure::PrintedCycles { run, .. } => self.run(run).is_ok_and(|run| {
                let protocols = library::protocols(&run.plan.protocols, &Settings::default()).unwrap_or_default();
                let machine = run.plan.machine();
                machine
                    .is_ok_and(|machine| protocols.iter().any(|one| machine.machine.handlers.contains_key(&one.name)))
            }),
            _ => false,
        }
    }

    /// Whether it is made of runs that `--quick` has made shorter than they are declared.
    pub fn is_of_short_runs(&self, measure: &Measure) -> bool {
        let is_short = |run: &RunOutcome| run.plan.args != run.plan.declared;
        measure.runs().iter().any(|run| self.done.runs.get(run).is_some_and(is_short))
    }

    /// A run that is done.
    ///
    /// # Errors
    /// Why it is not.
    pub fn run(&self, name: &str) -> Result<&RunOutcome, Why> {
        self.done.runs.get(name).ok_or_else(|| match self.done.missing.get(name) {
            Some(why) => why.clone(),
            None if self.done.interrupted => "interrupted before its run".to_string(),
            None => format!("the study has no run `{name}`"),
        })
    }

    /// The time of a run.
    ///
    /// # Errors
    /// Why there is none.
    pub fn seconds(&self, run: &str) -> Result<f64, Why> {
        Ok(self.run(run)?.cycles as f64 / (self.mhz(run)? * 1e6))
    }

    /// The clock of a run's machine.
    pub(super) fn mhz(&self, run: &str) -> Result<f64, Why> {
        let machine = self.run(run)?.plan.machine().map_err(|failure| failure.what().to_string())?;
        Ok(machine.machine.processor.mhz as f64)
    }

    /// Cycles of a run's processor, as a time in a unit or as cycles.
    fn cycles_in(&self, cycles: f64, run: &str, unit: &str) -> Result<f64, Why> {
        if unit == "cycles" {
            return Ok(cycles);
        }
        in_time(cycles / (self.mhz(run)? * 1e6), unit)
    }

    /// The number behind a text in what a run's program printed.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn printed(&self, run: &str, after: &str) -> Result<f64, Why> {
        let number = self.run(run)?.output.split_once(after).and_then(|(_, rest)| leading_number(rest));
        number.ok_or_else(|| format!("run `{run}` printed no number after `{after}`"))
    }

    /// So many whole numbers behind a text in what a run's program printed.
    pub(super) fn printed_counts(&self, run: &str, after: &str, count: usize) -> Result<Vec<u64>, Why> {
        let line = self.run(run)?.output.lines().find_map(|line| line.strip_prefix(after));
        let numbers: Option<Vec<u64>> = line.and_then(|rest| rest.split_whitespace().map(|n| n.parse().ok()).collect());
        numbers
            .filter(|numbers| numbers.len() == count)
            .ok_or_else(|| format!("run `{run}` printed no line of {count} numbers that begins with `{after}`"))
    }

    /// The fastest of these runs, of several the first.
    fn fastest(&self, runs: &[String]) -> Result<&RunOutcome, Why> {
        let runs = runs.iter().map(|run| self.run(run)).collect::<Result<Vec<_>, Why>>()?;
        runs.into_iter().min_by_key(|run| run.cycles).ok_or_else(|| "no runs are named".to_string())
    }

    /// Where the times of runs become greater than those of others.
    fn crossing(&self, of: &str, with: &str, places: &[u64]) -> Result<f64, Why> {
        let mut before: Option<(f64, f64)> = None;
        for place in places {
            let more = self.seconds(&at_place(of, *place))? - self.seconds(&at_place(with, *place))?;
            let at = *place as f64;
            match before {
                Some((_, less)) if less > 0.0 => return Err("they take longer at the first place already".into()),
                Some((left, less)) if more > 0.0 => return Ok(left + (at - left) * less / (less - more)),
                _ => before = Some((at, more)),
            }
        }
        Err("they do not cross between the first place and the last".into())
    }

    /// The greatest of the times of the first divided by those of the second; pairs that cannot be made are left out
    /// if others can.
    fn greatest(&self, pairs: &[(String, String)]) -> Result<f64, Why> {
        let ratio = |(of, to): &(String, String)| Ok(self.run(of)?.cycles as f64 / self.run(to)?.cycles as f64);
        let ratios = pairs.iter().map(ratio).collect::<Result<Vec<f64>, Why>>()?;
        ratios.into_iter().reduce(f64::max).ok_or_else(|| "no runs are named".to_string())
    }

    /// Cycles that went to these parts, on all nodes.
    fn time_in(&self, run: &str, parts: &[String]) -> Result<f64, Why> {
        if let Some(unknown) = parts.iter().find(|part| !PARTS_OF_TIME.contains(&part.as_str())) {
            return Err(format!("`{unknown}` is no part of a node's time, which are {}", PARTS_OF_TIME.join(", ")));
        }
        let wanted = |name: &&str| parts.iter().any(|part| part == name);
        let named = PARTS_OF_TIME.iter().zip(&self.run(run)?.parts).filter(|(name, _)| wanted(name));
        Ok(named.map(|(_, cycles)| *cycles).sum::<u64>() as f64)
    }

    /// Our figures, each for a row of this unit.
    fn values(&self, of: &[Measure], unit: &str) -> Result<Vec<f64>, Why> {
        of.iter().map(|one| self.value(one, unit)).collect()
    }

    /// Our figure for a row of a table of misses.
    ///
    /// # Errors
    /// Why there is none.
    pub fn in_table(&self, table: &MissTable, row: &Published) -> Result<f64, Why> {
        let config = table.configs.get(&row.config).ok_or_else(|| format!("`{}` is not in the study", row.config))?;
        let miss = self.miss(config, table.block)?;
        let machine = machine(&config.machine, config.latency)?;
        let quantity = row.quantity.trim_end_matches(" (increment)");
        let cycles = match quantity.strip_suffix(" (cumulative)") {
            _ if quantity == "bus transactions" => return Ok(miss.bus_transactions as f64),
            _ if quantity == "total" => miss.total,
            Some(last) => {
                let upto = table.steps.iter().position(|(name, _)| name == last).ok_or_else(|| unknown(last))?;
                table.steps[..=upto].iter().map(|(_, steps)| of_steps(&miss, steps)).sum()
            }
            None => {
                let found = table.steps.iter().find(|(name, _)| name == quantity).ok_or_else(|| unknown(quantity))?;
                of_steps(&miss, &found.1)
            }
        };
        in_unit(cycles, &row.unit, &machine)
    }

    /// That each step of which a table speaks is one of a miss in it; without this a misspelt one would take no time.
    ///
    /// # Errors
    /// A step that no miss of the table has.
    pub fn check_table(&self, table: &MissTable) -> Result<(), Failure> {
        let misses: Vec<MissReport> = table.configs.values().filter_map(|c| self.miss(c, table.block).ok()).collect();
        let known: Vec<String> = misses.iter().flat_map(named_steps).map(|(name, _)| name).collect();
        let wanted = table.steps.iter().flat_map(|(_, steps)| steps);
        let unknown = wanted.filter(|_| misses.len() == table.configs.len()).find(|step| !known.contains(step));
        match unknown {
            Some(step) => Err(Failure::input(
                Code::Study,
                format!("no miss of a table of study.toml has the step `{step}`"),
                "`trivium miss` prints the steps; before one stands its leg: out, there, home, back or in",
            )),
            None => Ok(()),
        }
    }

    fn miss(&self, config: &MissConfig, block: u32) -> Result<MissReport, Why> {
        let mut known = self.misses.borrow_mut();
        let block = config.block.unwrap_or(block);
        known.entry((config.clone(), block)).or_insert_with(|| measured(config, block)).clone()
    }
}

/// Seconds in another unit.
pub(super) fn in_time(seconds: f64, unit: &str) -> Result<f64, Why> {
    match unit {
        "s" => Ok(seconds),
        "ms" => Ok(seconds * 1e3),
        "us" => Ok(seconds * 1e6),
        "ns" => Ok(seconds * 1e9),
        _ => Err(format!("a time is not measured in `{unit}`")),
    }
}

/// The number of iterations of a run: the argument behind a flag, as it was run; 1 without one.
///
/// # Errors
/// There is no such number.
pub fn each_of(run: &RunOutcome, flag: Option<&str>) -> Result<f64, Why> {
    let Some(flag) = flag else { return Ok(1.0) };
    let at = run.plan.args.iter().position(|arg| arg == flag);
    let value = at.and_then(|at| run.plan.args.get(at + 1)).and_then(|value| value.parse::<u32>().ok());
    value
        .filter(|value| *value > 0)
        .map(f64::from)
        .ok_or_else(|| format!("run `{}` has no number after {flag}", run.plan.name))
}

/// A count of a node's library, or of all.
fn counted(run: &RunOutcome, node: Option<usize>, what: Count) -> Result<u64, Why> {
    let nodes = match node {
        None => &run.accesses[..],
        Some(node) => run.accesses.get(node..=node).unwrap_or_default(),
    };
    if nodes.is_empty() {
        return Err(format!("run `{}` has no library that counts accesses on such a node", run.plan.name));
    }
    if what == Count::Entries {
        return Ok(nodes.iter().map(|node| node.entries).sum());
    }
    let of = |access: &AccessOf| {
        // A get reads as a load does, and does not wait.
        let (reads, all) = (["read", "get"].contains(&access.kind.as_str()), access.hits + access.misses);
        let unshared = access.at_home && access.is_first;
        match what {
            Count::Reads if reads => all,
            Count::RemoteReads if reads && !access.at_home => all,
            Count::ReadHits if reads => access.hits,
            Count::ReadMisses if reads => access.misses,
            Count::RemoteReadMisses if reads && !access.at_home => access.misses,
            Count::UnsharedReads if reads && unshared => all,
            Count::Writes if !reads => all,
            Count::UnsharedWrites if !reads && unshared => all,
            _ => 0,
        }
    };
    Ok(nodes.iter().flat_map(|node| &node.accesses).map(of).sum())
}

/// The number with which a text begins.
fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].trim_end_matches('.').parse().ok()
}

/// Bytes of the block of a miss outside tables: that of the published measurement.
const BLOCK: u32 = 32;

fn unknown(quantity: &str) -> Why {
    format!("the study does not say which steps are `{quantity}`")
}

fn measured(config: &MissConfig, block: u32) -> Result<MissReport, Why> {
    let kind = match config.kind.as_str() {
        "read" => MissKind::Read,
        "write" => MissKind::Write,
        "upgrade" => MissKind::Upgrade,
        other => return Err(format!("there is no miss of kind `{other}`")),
    };
    let place = match config.place.as_deref() {
        Some("local") => MissPlace::Local,
        None | Some("remote") => MissPlace::Remote,
        Some("home") => MissPlace::Home,
        Some("third") => MissPlace::Third,
        Some(other) => return Err(format!("there is no miss where the block is `{other}`")),
    };
    let name = config.protocol.as_deref().unwrap_or(MISSING_UNDER);
    let protocol = library::protocol(name, &[]).map_err(|failure| failure.what().to_string())?;
    let machine = machine(&config.machine, config.latency)?;
    trivium_sim::measure_at(protocol, &machine.machine, (kind, place), u64::from(block))
        .map_err(|error| error.diagnostic.message)
}

/// Cycles of the steps of a miss that are named, as `LEG: STEP`.
fn of_steps(miss: &MissReport, wanted: &[String]) -> u64 {
    named_steps(miss).filter(|(name, _)| wanted.contains(name)).map(|(_, cycles)| cycles).sum()
}

/// The steps of a miss, as `LEG: STEP`, and their cycles.
fn named_steps(miss: &MissReport) -> impl Iterator<Item = (String, u64)> {
    const LEGS: [&str; 5] = ["out", "there", "home", "back", "in"];
    let mut leg = 0;
    miss.steps.iter().map(move |step| {
        let on_wire = step.node == "network";
        if on_wire != (leg % 2 == 1) {
            leg = (leg + 1).min(LEGS.len() - 1);
        }
        (format!("{}: {}", LEGS[leg], step.step), step.cycles)
    })
}

fn in_unit(cycles: u64, unit: &str, loaded: &LoadedMachine) -> Result<f64, Why> {
    let machine = &loaded.machine;
    match unit {
        "us" => Ok(cycles as f64 / machine.processor.mhz as f64),
        _ if unit.starts_with("bus cycles") => Ok(cycles.div_ceil(machine.bus.cycles(1)) as f64),
        _ if unit.starts_with("CPU cycles") || unit == "cycles" => Ok(cycles as f64),
        _ => Err(format!("a miss is not measured in `{unit}`")),
    }
}

fn machine(name: &str, latency: Option<u64>) -> Result<LoadedMachine, Why> {
    let set = latency.map(|latency| ("network.latency".to_string(), latency.to_string()));
    let settings = Settings { machine: set.into_iter().collect(), ..Settings::default() };
    library::machine(name, &settings).map_err(|failure| failure.what().to_string())
}

fn sum_of(machine: &LoadedMachine, keys: &[String]) -> Result<f64, Why> {
    keys.iter().map(|key| key_of(machine, key)).sum()
}

/// A number of a machine file, by its dotted key.
fn key_of(machine: &LoadedMachine, key: &str) -> Result<f64, Why> {
    let missing = || format!("machine {} has no number `{key}`", machine.machine.name);
    let (last, path) = key.rsplit_once('.').map_or((key, ""), |(path, last)| (last, path));
    let mut table = &machine.keys;
    for part in path.split('.').filter(|part| !part.is_empty()) {
        table = table.get(part).and_then(toml::Value::as_table).ok_or_else(missing)?;
    }
    let value = table.get(last).ok_or_else(missing)?;
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64)).ok_or_else(missing)
}
