//! The live part of a study as text and as pictures.

use super::live::{LiveFound, LivePlan, LiveRow, Measured, OrderFound, Over};
use crate::Failure;
use crate::output::{self, table};
use crate::picture::{Curve, beside, curves};
use std::collections::BTreeSet;
use std::path::Path;

/// A line for each unit cost, each program, and each order.
pub fn text(found: &LiveFound) -> String {
    let mut out = format!(
        "\nmeasured on {} ({} processors): {} nodes, beside {} nodes of {}\n",
        found.host, found.processors, found.nodes, found.nodes, found.machine
    );
    if let Some(why) = &found.without_ranks {
        out.push_str(&format!("threads only: {why}\n"));
    }
    if found.interrupted {
        out.push_str("interrupted: this is what was done before\n");
    }
    out.push_str(&format!(
        "\nunit costs in nanoseconds, all nodes at it, measured beside each program\n{}",
        units(found)
    ));
    let [rows, experiments] = [false, true]
        .map(|is_experiment| found.rows.iter().filter(|row| row.is_experiment == is_experiment).collect::<Vec<_>>());
    out.push_str(&format!(
        "\nprograms: times in milliseconds; counts times unit costs, each miss by its kind, and by how much the time is more; and if each were a round trip\n{}",
        programs(found, &rows)
    ));
    out.push_str(&within(found, &rows));
    if !experiments.is_empty() {
        out.push_str(&format!("\nexperiments\n{}", programs(found, &experiments)));
        out.push_str(&within(found, &experiments));
        for (name, what) in &found.experiments {
            out.push_str(&format!("  {name}: {what}\n"));
        }
    }
    out.push_str(&repeats(found));
    out.push_str(&missed(found));
    out.push_str(&orders(found));
    out
}

/// How many times the model predicts, by transport, and for how many the plain one would.
fn within(found: &LiveFound, rows: &[&LiveRow]) -> String {
    let one = |over: &Over| {
        let all: Vec<&Measured> = rows.iter().filter_map(|row| row.measured.get(over)).collect();
        let within = all.iter().filter(|measured| measured.is_within).count();
        let plain = |one: &&&Measured| (one.ms / one.round_trips_ms - 1.0).abs() * 100.0 <= found.tolerance;
        format!(
            "{}: {within} of {} times within {} % of counts times unit costs; {} if each miss were a round trip\n",
            over.name(),
            all.len(),
            found.tolerance,
            all.iter().filter(plain).count()
        )
    };
    transports(found).iter().map(one).collect()
}

/// All repeats of what is off: whether the host was busy, or the model is wrong.
fn repeats(found: &LiveFound) -> String {
    let one = |row: &LiveRow, over: &Over, measured: &Measured| {
        let times: Vec<String> = measured.repeats_ms.iter().map(|ms| format!("{ms:.3}")).collect();
        format!("  {}, {}, {}: {} ms\n", row.program, row.variant, over.name(), times.join(", "))
    };
    let all = found.rows.iter().flat_map(|row| row.measured.iter().map(move |(over, measured)| (row, over, measured)));
    let off: String =
        all.filter(|(.., measured)| !measured.is_within).map(|(row, over, m)| one(row, over, m)).collect();
    if off.is_empty() { off } else { format!("all repeats of those that are off\n{off}") }
}

/// Where counts of this host are not those that the model takes from the simulation.
fn missed(found: &LiveFound) -> String {
    let differs = |row: &&LiveRow| row.measured.values().any(|one| one.missed[0] != one.missed[1]);
    let one = |row: &LiveRow| {
        let counts = |(over, one): (&Over, &Measured)| format!("{} {}", over.name(), one.missed[0]);
        let simulated = row.measured.values().next().map_or(0, |one| one.missed[1]);
        let here: Vec<String> = row.measured.iter().map(counts).collect();
        format!("  {}, {}: {}, simulated {simulated}\n", row.program, row.variant, here.join(", "))
    };
    let lines: String = found.rows.iter().filter(differs).map(one).collect();
    if lines.is_empty() {
        return "loads and stores that missed: as many as simulated, in each row\n".into();
    }
    format!("loads and stores that missed, where there are not as many as simulated\n{lines}")
}

fn units(found: &LiveFound) -> String {
    let measured = |row: &'_ LiveRow| row.measured.values().cloned().collect::<Vec<_>>();
    let columns: BTreeSet<String> =
        found.rows.iter().flat_map(measured).flat_map(|one| one.units.into_keys()).collect();
    let mut lines: Vec<Vec<String>> = Vec::new();
    for row in &found.rows {
        for (over, one) in &row.measured {
            let cell = |name: &String| one.units.get(name).map_or("-".into(), |time| format!("{time:.0}"));
            let name = format!("{}, {}, {}", row.program, row.variant, over.name());
            lines.push(std::iter::once(name).chain(columns.iter().map(cell)).collect());
        }
    }
    let head: Vec<&str> = std::iter::once("program, library").chain(columns.iter().map(String::as_str)).collect();
    table(&head, &lines)
}

fn programs(found: &LiveFound, rows: &[&LiveRow]) -> String {
    let transports = transports(found);
    let line = |row: &&LiveRow| {
        let mut cells = vec![format!("{}, {}", row.program, row.variant), format!("{:.3}", row.simulated_ms)];
        for over in &transports {
            match row.measured.get(over) {
                Some(one) => cells.extend([
                    format!("{:.3}", one.ms),
                    format!("{:.3}", one.model_ms),
                    format!("{:+.0} %{}", one.deviation, if one.is_within { "" } else { " off" }),
                    format!("{:+.0} %", 100.0 * (one.ms / one.round_trips_ms - 1.0)),
                ]),
                None => cells.extend(["-", "-", "-", "-"].map(String::from)),
            }
        }
        cells
    };
    let mut head = vec!["program, library", "simulated"];
    for over in &transports {
        head.extend([over.name(), "by kind", "more", "round trips"]);
    }
    table(&head, &rows.iter().map(line).collect::<Vec<_>>())
}

fn transports(found: &LiveFound) -> BTreeSet<Over> {
    found.rows.iter().flat_map(|row| row.measured.keys().copied()).collect()
}

fn orders(found: &LiveFound) -> String {
    let one = |order: &OrderFound| {
        let times: Vec<String> = order
            .times
            .iter()
            .map(|(how, times)| {
                format!("{how} {} ({times:.2} of what it needs)", if *times >= 1.0 { "holds" } else { "does not hold" })
            })
            .collect();
        let all_hold = order.times.values().all(|times| *times >= 1.0);
        let reason =
            if all_hold || order.reason.is_empty() { String::new() } else { format!("\n      {}", order.reason) };
        format!("  {}: {}{reason}\n", order.what, times.join(", "))
    };
    let lines: String = found.orders.iter().map(one).collect();
    if lines.is_empty() { lines } else { format!("\norders\n{lines}") }
}

/// For each program that has a picture: the simulated rates on the left, and those of this host on the right, each with a scale of its own.
///
/// # Errors
/// A picture cannot be drawn or written.
pub fn draw(plan: &LivePlan, found: &LiveFound, folder: &Path) -> Result<Vec<String>, Failure> {
    let mut files = Vec::new();
    for program in &plan.programs {
        let Some((file, title)) = &program.picture else { continue };
        let of = |row: &&LiveRow| program.x.iter().any(|&x| program.name_at(x) == row.program);
        let rows: Vec<&LiveRow> = found.rows.iter().filter(of).collect();
        if rows.is_empty() {
            continue;
        }
        let mut here = Vec::new();
        for over in transports(found) {
            for mut line in lines(&rows, &|row| row.measured.get(&over).map(|measured| measured.ms)) {
                let like = (over != Over::Threads)
                    .then(|| here.iter().position(|other: &Curve| other.name == line.name))
                    .flatten();
                if over != Over::Threads {
                    line.name = format!("{}, {}", line.name, over.name());
                }
                here.push(Curve { like, ..line });
            }
        }
        let unit = "MFLOPS of all nodes";
        let left = curves(
            &format!("{title}: {} nodes of {}", found.nodes, found.machine),
            &program.below,
            unit,
            &lines(&rows, &|row| Some(row.simulated_ms)),
        )?;
        let right = curves(&format!("the same on {}", found.host), &program.below, unit, &here)?;
        output::write_file(&folder.join(file), beside(&left, &right).as_bytes())?;
        files.push(file.clone());
    }
    Ok(files)
}

/// A line for each library.
fn lines(rows: &[&LiveRow], time: &dyn Fn(&LiveRow) -> Option<f64>) -> Vec<Curve> {
    let mut lines: Vec<Curve> = Vec::new();
    for row in rows {
        let Some(ms) = time(row) else { continue };
        let point = (row.x as f64, row.work / ms / 1e3);
        match lines.iter_mut().find(|line| line.name == row.variant) {
            Some(line) => line.points.push(point),
            None => lines.push(Curve { name: row.variant.clone(), like: None, points: vec![point] }),
        }
    }
    lines
}
