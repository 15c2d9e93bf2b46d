//! Our figures of what nodes and their engines did in a run: a node's region of interest, handlers, messages.

use super::measure::{Figures, Why, in_time};
use super::origin::Measure;
use super::runs::RunOutcome;
use crate::library::{self, Settings};
use std::sync::Arc;
use trivium_protocol::Protocol;
use trivium_sim::Occupied;

/// Units in which nothing is counted.
const NO_COUNTS: [&str; 7] = ["s", "ms", "us", "ns", "cycles", "MAGIC cycles", "MB/s"];

impl Figures<'_> {
    /// The time of a node's own region of interest.
    pub(super) fn region(&self, run: &str, node: usize, unit: &str) -> Result<f64, Why> {
        let cycles = self.run(run)?.regions.get(node).ok_or_else(|| format!("run `{run}` has no node {node}"))?;
        self.in_cycles_or_time(run, *cycles as f64, unit)
    }

    /// For how long engines ran handlers: divided by `by`, or on an average.
    pub(super) fn handlers(&self, run: &str, of: &[String], by: Option<f64>, unit: &str) -> Result<f64, Why> {
        let Occupied { times, cycles, .. } = self.occupied(run, of)?;
        if by.is_none() && times == 0 {
            return Err(format!("run `{run}` has run none of these handlers"));
        }
        self.in_cycles_or_time(run, cycles as f64 / by.unwrap_or(times as f64), unit)
    }

    /// The time from the last end of a handler to that of another.
    pub(super) fn between(&self, run: &str, (from, to): (&String, &String), unit: &str) -> Result<f64, Why> {
        let last = |name: &String| {
            let Occupied { times, last, .. } = self.occupied(run, std::slice::from_ref(name))?;
            (times > 0).then_some(last).ok_or_else(|| format!("run `{run}` has not run `{name}`"))
        };
        let (begun, ended) = (last(from)?, last(to)?);
        let cycles = ended.checked_sub(begun).ok_or_else(|| format!("in run `{run}` `{to}` ended before `{from}`"))?;
        self.in_cycles_or_time(run, cycles as f64, unit)
    }

    /// How often engines ran handlers.
    pub(super) fn times(&self, run: &str, of: &[String], scale: f64, unit: &str) -> Result<f64, Why> {
        is_counted_in(unit)?;
        Ok(scale * self.occupied(run, of)?.times as f64)
    }

    /// How many messages of some kinds there were.
    pub(super) fn messages(&self, run: &str, of: &[String], scale: f64, unit: &str) -> Result<f64, Why> {
        is_counted_in(unit)?;
        let sent = self.run(run)?;
        let kinds = |protocol: &Protocol| protocol.messages.iter().map(|kind| kind.name.clone()).collect();
        if let Some(unknown) = unnamed(sent, of, kinds) {
            return Err(format!("`{unknown}` is no message of the protocols of run `{run}`"));
        }
        Ok(scale * of.iter().filter_map(|kind| sent.messages.get(kind)).sum::<u64>() as f64)
    }

    /// The rows by which the machine prices handlers of which a figure is.
    pub(super) fn rows_of_prices(&self, measure: &Measure) -> Vec<String> {
        let Measure::Handlers { run, of, .. } = measure else { return Vec::new() };
        let Some(machine) = self.run(run).ok().and_then(|run| run.plan.machine().ok()) else { return Vec::new() };
        let given = machine.machine.given_handlers().into_iter();
        given.filter(|(name, _)| of.contains(name)).map(|(_, row)| row).collect()
    }

    /// What engines have run of these handlers.
    fn occupied(&self, run: &str, of: &[String]) -> Result<Occupied, Why> {
        let done = self.run(run)?;
        let handlers = |protocol: &Protocol| {
            let roles = protocol.roles.iter();
            let named = |role: &trivium_protocol::Role| -> Vec<String> {
                role.handlers.iter().map(|handler| format!("{}.{}", role.name, handler.name)).collect()
            };
            roles.flat_map(named).collect()
        };
        if let Some(unknown) = unnamed(done, of, handlers) {
            return Err(format!("`{unknown}` is no handler of the protocols of run `{run}`"));
        }
        let mut sum = Occupied::default();
        of.iter().filter_map(|name| done.handlers.get(name)).for_each(|occupied| sum.add(occupied));
        Ok(sum)
    }

    /// Cycles of the processor in a unit of time, or in cycles: its own, or those of its bus, which are MAGIC's.
    fn in_cycles_or_time(&self, run: &str, cycles: f64, unit: &str) -> Result<f64, Why> {
        match unit {
            "cycles" => Ok(cycles),
            "MAGIC cycles" => {
                let machine = self.run(run)?.plan.machine().map_err(|failure| failure.what().to_string())?;
                Ok(cycles / machine.machine.bus.cycles(1) as f64)
            }
            _ => in_time(cycles / (self.mhz(run)? * 1e6), unit),
        }
    }
}

/// The first of these names, as results write them, that none of a run's protocols has.
fn unnamed<'n>(run: &RunOutcome, names: &'n [String], of: impl Fn(&Protocol) -> Vec<String>) -> Option<&'n String> {
    let protocols: Vec<Arc<Protocol>> =
        library::protocols(&run.plan.protocols, &Settings::default()).unwrap_or_default();
    let all =
        protocols.iter().flat_map(|protocol| of(protocol).into_iter().map(|name| format!("{}.{name}", protocol.name)));
    let known: Vec<String> = all.collect();
    names.iter().find(|name| !known.contains(name))
}

fn is_counted_in(unit: &str) -> Result<(), Why> {
    match NO_COUNTS.contains(&unit) {
        true => Err(format!("what is counted is not measured in `{unit}`")),
        false => Ok(()),
    }
}
