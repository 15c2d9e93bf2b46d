//! What limits a run, as far as its counters tell.

use crate::output::grouped;
use trivium_sim::{Counters, PARTS_OF_TIME, SimResult, node_statistic};

/// Above this share of its time an engine or a bus makes others wait: a queue's wait is as long as its service at a half.
const LOADED: f64 = 0.5;

/// Sentences, the most important first.
pub fn of(result: &SimResult) -> Vec<String> {
    let sum = result.per_node.iter().fold(Counters::default(), |sum, node| sum.plus(node));
    if sum.cycles == 0 {
        return vec!["Nothing was counted.".into()];
    }
    let percent = |cycles: u64| 100.0 * cycles as f64 / sum.cycles as f64;
    let mut parts: Vec<(&str, u64)> = PARTS_OF_TIME
        .iter()
        .map(|name| (*name, node_statistic(name).map_or(0, |statistic| (statistic.of)(&sum))))
        .collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.1));
    let of_time: Vec<String> = parts
        .iter()
        .filter(|part| percent(part.1) >= 0.5)
        .map(|(name, cycles)| format!("{} {:.0} %", name.replace('_', " "), percent(*cycles)))
        .collect();
    let mut lines = vec![format!("Time of all nodes: {}.", of_time.join(", "))];
    let faults = sum.read_faults + sum.write_faults;
    if faults > 0 {
        let for_each = |cycles: u64| grouped((cycles as f64 / faults as f64).round() as u64);
        lines.push(format!(
            "{} accesses were stopped, one every {} cycles of a node; loads and stores stalled {} cycles for each, local misses included.",
            grouped(faults),
            for_each(sum.cycles),
            for_each(sum.read_stall + sum.write_stall)
        ));
    }
    lines.push(busiest(result, "engine", |node| node.engine_busy));
    lines.push(busiest(result, "bus", |node| node.bus_busy));
    let (least, most) = spread(result);
    if most > 0 && (most - least) as f64 > 0.1 * most as f64 {
        lines.push(format!(
            "The load is uneven: computing and stalls on memory take from {} to {} cycles.",
            grouped(least),
            grouped(most)
        ));
    }
    lines
}

/// How loaded the engines, or buses, are, and which is the most.
fn busiest(result: &SimResult, what: &str, busy: fn(&Counters) -> u64) -> String {
    let share = |node: &Counters| busy(node) as f64 / node.cycles.max(1) as f64;
    let shares: Vec<f64> = result.per_node.iter().map(share).collect();
    let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    let most = (0..shares.len()).reduce(|a, b| if shares[b] > shares[a] { b } else { a }).unwrap_or(0);
    let top = shares.get(most).copied().unwrap_or(0.0);
    let verdict = if top > LOADED { "; others wait for it" } else { "" };
    format!(
        "The {what} is busy {:.0} % of the time in the mean, most on node {most}: {:.0} %{verdict}.",
        100.0 * mean,
        100.0 * top
    )
}

/// The least and the most time of a node without what it waited for others.
fn spread(result: &SimResult) -> (u64, u64) {
    let own = |node: &Counters| node.cycles - node.sync_stall;
    let all = || result.per_node.iter().map(own);
    (all().min().unwrap_or(0), all().max().unwrap_or(0))
}
