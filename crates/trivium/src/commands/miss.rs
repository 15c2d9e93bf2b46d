//! `trivium miss`

use crate::arguments::{DEFAULT_SEED, Format, Miss, MissKind};
use crate::failure::told;
use crate::library::LoadedMachine;
use crate::output::{self, Head, table};
use crate::{Failure, library};
use std::sync::Arc;
use trivium_protocol::Protocol;

/// Takes one miss apart.
pub fn miss(arguments: &Miss) -> Result<u8, Failure> {
    let settings = library::settings(&arguments.set.set)?;
    let protocol = library::protocols(std::slice::from_ref(&arguments.protocol), &settings)?.remove(0);
    let mut machines = Vec::new();
    for name in &arguments.machine {
        machines.push(library::machine(name, &settings)?);
    }
    let mut results = Vec::new();
    for loaded in &machines {
        results.push(on(arguments, &protocol, loaded)?);
    }
    // As of `sim`: one result each, in an array.
    let text = match (arguments.form.format, &results[..]) {
        (Format::Text, results) => results.join("\n"),
        (Format::Json, [one]) => one.clone(),
        (Format::Json, _) => {
            let values: Result<Vec<serde_json::Value>, _> =
                results.iter().map(|text| serde_json::from_str(text)).collect();
            output::pretty(&values.expect("results are JSON").into())
        }
    };
    output::write(arguments.form.out.as_ref(), &text)?;
    Ok(0)
}

/// The result of one machine.
fn on(arguments: &Miss, protocol: &Arc<Protocol>, loaded: &LoadedMachine) -> Result<String, Failure> {
    let machine = &loaded.machine;
    let kind = match arguments.kind {
        MissKind::Read => trivium_sim::MissKind::Read,
        MissKind::Write => trivium_sim::MissKind::Write,
        MissKind::Upgrade => trivium_sim::MissKind::Upgrade,
    };
    let begun = std::time::Instant::now();
    let report =
        trivium_sim::measure(protocol.clone(), machine, kind, u64::from(arguments.block)).map_err(|e| told(&e))?;
    Ok(match arguments.form.format {
        Format::Text => {
            let rows: Vec<Vec<String>> = report
                .steps
                .iter()
                .map(|s| vec![s.node.clone(), s.step.clone(), s.cycles.to_string()])
                .chain([vec!["total".into(), String::new(), report.total.to_string()]])
                .collect();
            format!(
                "{:?} miss of a block of {} bytes: {} on {}\n\n{}\nin microseconds: {:.2}\nbus transactions: {}\n",
                arguments.kind,
                arguments.block,
                protocol.name,
                machine.name,
                steps(&rows),
                report.microseconds,
                report.bus_transactions
            )
        }
        Format::Json => {
            let head = Head {
                command: "miss",
                protocols: vec![protocol.name.clone()],
                machine: Some(machine.name.clone()),
                hashes: vec![library::hash(protocol), library::machine_hash(loaded)],
                nodes: 3,
                seed: DEFAULT_SEED,
                host_seconds: begun.elapsed().as_secs_f64(),
                ..Head::default()
            };
            output::pretty(&head.with(serde_json::to_value(&report).expect("a report can be written as JSON")))
        }
    })
}

/// Two columns of words and one of numbers.
fn steps(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(|r| r[1].chars().count()).max().unwrap_or(0);
    let padded: Vec<Vec<String>> =
        rows.iter().map(|r| vec![r[0].clone(), format!("{:width$}", r[1]), r[2].clone()]).collect();
    table(&["where", &format!("{:width$}", "step"), "cycles"], &padded)
}
