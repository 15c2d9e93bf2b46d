//! `trivium miss`

use crate::arguments::{DEFAULT_SEED, Format, Miss, MissKind, MissPlace, MissUnit};
use crate::failure::told;
use crate::library::LoadedMachine;
use crate::output::{self, Head, table};
use crate::settings::ResultSettings;
use crate::{Failure, library};
use clap::ValueEnum;
use std::sync::Arc;
use trivium_diagnostic::Code;
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
        results.push(on(arguments, &settings, &protocol, loaded)?);
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
fn on(
    arguments: &Miss,
    set: &library::Settings,
    protocol: &Arc<Protocol>,
    loaded: &LoadedMachine,
) -> Result<String, Failure> {
    let machine = &loaded.machine;
    let kind = match arguments.kind {
        MissKind::Read => trivium_sim::MissKind::Read,
        MissKind::Write => trivium_sim::MissKind::Write,
        MissKind::Upgrade => trivium_sim::MissKind::Upgrade,
    };
    let place = match arguments.place {
        MissPlace::Local => trivium_sim::MissPlace::Local,
        MissPlace::Remote => trivium_sim::MissPlace::Remote,
        MissPlace::Home => trivium_sim::MissPlace::Home,
        MissPlace::Third => trivium_sim::MissPlace::Third,
    };
    let unit = unit(arguments.unit, machine)?;
    let block = library::block(arguments.block, [loaded]);
    let begun = std::time::Instant::now();
    let report = trivium_sim::measure_at(protocol.clone(), machine, (kind, place), u64::from(block));
    let report = report.map_err(|error| told(&error))?;
    let cycles = |cycles: u64| in_unit(cycles, unit);
    Ok(match arguments.form.format {
        Format::Text => {
            let rows: Vec<Vec<String>> = report
                .steps
                .iter()
                .map(|s| vec![s.node.clone(), s.step.clone(), cycles(s.cycles)])
                .chain([vec!["total".into(), String::new(), cycles(report.total)]])
                .collect();
            format!(
                "{:?} miss of a block of {} bytes: {} on {}\n\n{}\n{}in microseconds: {:.2}\nbus transactions: {}\n",
                arguments.kind,
                block,
                protocol.name,
                machine.name,
                steps(&rows),
                handlers(&report, &cycles),
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
                settings: ResultSettings::new([&**protocol], set)
                    .with("block", block)
                    .with("kind", name(arguments.kind))
                    .with("where", name(arguments.place))
                    .with("unit", name(arguments.unit)),
                ..Head::default()
            };
            let mut value = serde_json::to_value(&report).expect("a report can be written as JSON");
            if arguments.unit == MissUnit::Engine {
                divide(&mut value, unit);
                value["unit"] = "cycles of the engine".into();
            }
            output::pretty(&head.with(value))
        }
    })
}

/// A choice as the command line writes it.
fn name(choice: impl ValueEnum) -> Option<String> {
    choice.to_possible_value().map(|value| value.get_name().to_string())
}

/// Cycles of the processor in one of the unit.
fn unit(unit: MissUnit, machine: &trivium_sim::Machine) -> Result<u64, Failure> {
    match unit {
        MissUnit::Processor => Ok(1),
        MissUnit::Engine => machine.engine_clock().ok_or_else(|| {
            let what = format!("the engine of `{}` has no clock of its own", machine.name);
            Failure::input(Code::Usage, what, "leave --unit out: the cycles are those of the processor")
        }),
    }
}

/// Cycles of the processor as so many of the unit.
fn in_unit(cycles: u64, unit: u64) -> String {
    match (cycles / unit, cycles % unit) {
        (whole, 0) => whole.to_string(),
        _ => format!("{:.2}", cycles as f64 / unit as f64),
    }
}

/// The numbers of cycles in a result become numbers of the unit.
fn divide(value: &mut serde_json::Value, unit: u64) {
    let serde_json::Value::Object(fields) = value else { return };
    for (key, field) in fields.iter_mut() {
        match (key.as_str(), field.as_u64(), field) {
            ("total" | "cycles" | "occupancy" | "adds", Some(cycles), field) => {
                *field = match cycles % unit {
                    0 => (cycles / unit).into(),
                    _ => (cycles as f64 / unit as f64).into(),
                }
            }
            (_, _, serde_json::Value::Array(items)) => items.iter_mut().for_each(|item| divide(item, unit)),
            _ => {}
        }
    }
}

/// What a price that is an input means for a sum with it.
const GIVEN: &str = "The total rests on prices of handlers that are inputs: in a study it is `given`.\n";

/// What such prices mean for another sum.
const PREDICTED: &str =
    "Prices of handlers were chosen for other misses: the total is a prediction, in a study `composed`.\n";

/// The handlers on the way, where an engine does several things at once.
fn handlers(report: &trivium_sim::MissReport, cycles: &dyn Fn(u64) -> String) -> String {
    if report.handlers.is_empty() {
        return String::new();
    }
    let width = report.handlers.iter().map(|h| h.handler.chars().count()).max().unwrap_or(0);
    let row = |h: &trivium_sim::MissHandler| {
        let name = format!("{:width$}", h.handler);
        vec![h.node.clone(), name, cycles(h.occupancy), cycles(h.adds), h.given.clone().unwrap_or_default()]
    };
    let rows: Vec<Vec<String>> = report.handlers.iter().map(row).collect();
    let head = ["where", &format!("{:width$}", "handler"), "keeps the engine", "adds to the miss", "given by"];
    match report.handlers.iter().any(|handler| handler.given.is_some()) {
        true if report.fitted => format!("{}\n{GIVEN}\n", table(&head, &rows)),
        true => format!("{}\n{PREDICTED}\n", table(&head, &rows)),
        false => {
            let rows: Vec<Vec<String>> = rows.iter().map(|row| row[..4].to_vec()).collect();
            format!("{}\n", table(&head[..4], &rows))
        }
    }
}

/// Two columns of words and one of numbers.
fn steps(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(|r| r[1].chars().count()).max().unwrap_or(0);
    let padded: Vec<Vec<String>> =
        rows.iter().map(|r| vec![r[0].clone(), format!("{:width$}", r[1]), r[2].clone()]).collect();
    table(&["where", &format!("{:width$}", "step"), "cycles"], &padded)
}
