//! `trivium check`

use crate::arguments::{Check, Format, Network};
use crate::output::{self, Head, grouped};
use crate::{Failure, failure, library, stop};
use indicatif::{ProgressBar, ProgressStyle};
use trivium_check::{Config, Progress, Report, Verdict, explore, text};

/// Explores a protocol and prints what was found.
pub fn check(arguments: &Check) -> Result<u8, Failure> {
    let settings = library::settings(&arguments.common.set)?.without_machine()?;
    let protocol = library::protocols(std::slice::from_ref(&arguments.protocol), &settings)?.remove(0);
    let bar = progress_bar();
    let show = |p: &Progress| {
        let rate = if p.seconds > 0.0 { (p.states as f64 / p.seconds) as u64 } else { 0 };
        bar.set_message(format!(
            "{} states, {} waiting, depth {}, {}/s",
            grouped(p.states),
            grouped(p.waiting),
            p.depth,
            grouped(rate)
        ));
        bar.tick();
    };
    let cancel = stop::flag();
    let config = Config {
        nodes: arguments.nodes,
        clients: arguments.clients,
        objects: arguments.objects,
        values: arguments.values,
        ops: arguments.ops,
        threads_per_node: arguments.threads_per_node,
        network: match arguments.network {
            None => trivium_check::Network::Declared,
            Some(Network::Fifo) => trivium_check::Network::Fifo,
            Some(Network::Unordered) => trivium_check::Network::Unordered,
        },
        lane_capacity: arguments.lane_capacity,
        scenario: arguments.scenario.clone(),
        max_states: arguments.max_states,
        memory: arguments.memory.or_else(half_of_memory),
        progress: Some(&show),
        cancel: Some(&cancel),
        ..Config::default()
    };
    let report =
        explore(&protocol, &config).map_err(|e| Failure::rendered(failure::BAD_INPUT, format!("error: {e}")))?;
    bar.finish_and_clear();
    let head = Head {
        command: "check",
        protocols: vec![protocol.name.clone()],
        hashes: vec![library::hash(&protocol)],
        nodes: arguments.nodes,
        seed: arguments.common.seed,
        host_seconds: report.seconds,
        ..Head::default()
    };
    let result = match arguments.common.format {
        Format::Text => format!("{}\n{}", title(&protocol.name, arguments), text(&report)),
        Format::Json => {
            let body = serde_json::to_value(&report).expect("a report can be written as JSON");
            output::pretty(&head.with(body))
        }
    };
    output::write(arguments.common.out.as_ref(), &result)?;
    Ok(code(&report))
}

fn title(name: &str, arguments: &Check) -> String {
    let plural = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    format!("{name}: {}, {}", plural(arguments.nodes, "node"), plural(arguments.objects, "object"))
}

fn code(report: &Report) -> u8 {
    match report.verdict {
        Verdict::Holds => 0,
        Verdict::Violated => failure::WRONG,
        Verdict::Incomplete => failure::INCOMPLETE,
    }
}

/// Silent unless standard error is a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("a valid template"));
    bar
}

/// So that the search ends as incomplete and is not killed.
fn half_of_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024 / 2)
}
