//! A study as text.

use super::live::LiveFound;
use super::live_report;
use super::plan::Side;
use super::plan::{Plan, Relation};
use super::rows::{Row, Status, Trial};
use super::summary::{self, Choice, FINDING, Headline, Weight};
use crate::output::{padded_to, table};
use std::path::Path;

/// All that a study found.
pub struct Findings<'a> {
    /// The rows.
    pub rows: &'a [Row],
    /// The declared configuration.
    pub declared: &'a [Choice],
    /// What becomes of headlines.
    pub sensitivity: &'a [Headline],
    /// The files of pictures.
    pub pictures: &'a [String],
    /// Whether runs were short.
    pub quick: bool,
    /// What was measured on this host, if somebody asked for it.
    pub live: Option<&'a Lived>,
}

/// A study's live part.
pub struct Lived {
    /// What was measured.
    pub found: LiveFound,
    /// The files of its pictures.
    pub pictures: Vec<String>,
}

/// The configuration, all rows, what stands behind those that are not ok, the summary, and the sensitivity of headlines.
pub fn text(plan: &Plan, found: &Findings, work: &Path) -> String {
    let mut out = format!("{}\n{}{}", plan.about, what_counts(found), configuration(found.declared));
    for weight in Weight::ALL {
        let lines: Vec<Vec<String>> = in_order(found.rows, weight).map(line).collect();
        if !lines.is_empty() {
            let numbers = ["id", "published", "ours", "deviation", "tolerance"];
            out.push_str(&format!("\n{}\n", weight.name()));
            out.push_str(&words(&numbers, &["class", "status", "unit", "what"], &lines));
        }
    }
    out.push_str(&experiments(found.rows));
    for status in [Status::Missing, Status::Context] {
        out.push_str(&reasons(found.rows, status));
    }
    if plan.by_table {
        let sums = summary::tables(found.rows);
        out.push_str(&format!("\n{}\n", sums_of("table of the source", sums.into_iter(), true)));
    }
    out.push_str(&in_sum(found.rows));
    out.push_str(&sensitivities(found.sensitivity));
    if let Some(live) = found.live {
        out.push_str(&live_report::text(&live.found));
    }
    let lived = found.live.iter().flat_map(|live| &live.pictures);
    for picture in found.pictures.iter().chain(lived) {
        out.push_str(&format!("picture: {}\n", work.join(picture).display()));
    }
    out
}

/// How many rows agree, by how much that says about us: what says most comes first.
fn what_counts(found: &Findings) -> String {
    let line = |of: &summary::OfWeight| {
        let count = |status: Status| of.counts.get(status.name()).copied().unwrap_or(0);
        let others = [Status::Off, Status::Explained, Status::Missing, Status::Context, Status::NotJudged];
        let others = others.into_iter().filter(|status| count(*status) > 0);
        let others: String = others.map(|status| format!(", {} {}", count(status), status.name())).collect();
        let off =
            if of.off.is_empty() || of.off.len() > 12 { String::new() } else { format!(" ({})", of.off.join(", ")) };
        match of.what == Weight::Nothing.name() {
            true => format!("  {}: {} rows{others}\n", of.what, of.rows),
            false => format!("  {}: {} of {} agree{others}{off}\n", of.what, count(Status::Ok), of.rows),
        }
    };
    let lines: String = summary::counting(found.rows).iter().map(line).collect();
    let quick = "  --quick has made runs shorter than declared: rows of these are not judged\n";
    format!("\nwhat counts\n{lines}{}", if found.quick { quick } else { "" })
}

/// A table whose first columns are numbers, which stand to the right, and whose last are words, which stand to the left.
fn words(numbers: &[&str], names: &[&str], lines: &[Vec<String>]) -> String {
    let head: Vec<&str> = numbers.iter().chain(names).copied().collect();
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0).max(head[column].len())
    };
    let padded = |cells: Vec<String>| -> Vec<String> {
        let pad = |(column, cell): (usize, String)| match column < numbers.len() {
            true => cell,
            false => padded_to(width(column), &cell),
        };
        cells.into_iter().enumerate().map(pad).collect()
    };
    let headings = padded(head.iter().map(ToString::to_string).collect());
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    table(&headings, &lines.iter().cloned().map(padded).collect::<Vec<_>>())
}

/// What was decided before any result was seen.
fn configuration(declared: &[Choice]) -> String {
    let one = |choice: &Choice| {
        let ours = choice.ours.map_or(String::new(), |ours| format!(" (ours: {} {})", number(ours), choice.unit));
        format!("  {}: {}{ours}\n      {}\n", choice.what, choice.is, choice.why)
    };
    match declared {
        [] => String::new(),
        _ => format!("\nthe declared configuration\n{}", declared.iter().map(one).collect::<String>()),
    }
}

/// The rows of a weight that count in the order of the file, each followed by those that stand under it.
fn in_order(rows: &[Row], weight: Weight) -> impl Iterator<Item = &Row> {
    let counting = rows.iter().filter(move |row| row.counts() && Weight::of(row) == weight);
    counting.flat_map(|row| {
        let below = rows.iter().filter(|other| other.under.as_ref().is_some_and(|under| under.id == row.id));
        std::iter::once(row).chain(below)
    })
}

/// What was tried for rows that are not ok.
fn experiments(rows: &[Row]) -> String {
    let trial = |trial: &Trial| {
        let figure = trial.ours.map_or("no figure".to_string(), number);
        let deviation = trial.deviation.map_or(String::new(), |deviation| format!(" ({deviation:+.1} %)"));
        let note = trial.note.as_ref().map_or(String::new(), |note| format!("; {note}"));
        format!("      {}: {figure}{deviation}{note}\n", trial.what)
    };
    let mut out = String::new();
    for (status, heading) in [(Status::Off, "off"), (Status::Explained, "explained by an experiment")] {
        let lines = rows.iter().filter(|row| row.counts() && row.status == status).map(|row| {
            let tried = row.experiment.iter().chain(&row.tried).map(trial).collect::<String>();
            let tried = if tried.is_empty() { "      no experiment was made\n".to_string() } else { tried };
            let ours = row.ours.map_or(String::new(), number);
            format!(
                "  {} {}: {}: published {}, ours {ours}\n{tried}",
                row.id,
                row.config,
                row.quantity,
                number(row.published)
            )
        });
        let lines: String = lines.collect();
        if !lines.is_empty() {
            out.push_str(&format!("\n{heading}\n{lines}"));
        }
    }
    out
}

/// The reasons of rows of a status; rows with the same reason together.
fn reasons(rows: &[Row], status: Status) -> String {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows.iter().filter(|row| row.counts() && row.status == status) {
        let reason = row.reason.as_deref().unwrap_or("no reason is known");
        match by_reason.iter_mut().find(|(other, _)| *other == reason) {
            Some((_, ids)) => ids.push(&row.id),
            None => by_reason.push((reason, vec![&row.id])),
        }
    }
    if by_reason.is_empty() {
        return String::new();
    }
    let lines = by_reason.iter().map(|(reason, ids)| match ids[..] {
        [first, .., last] if ids.len() > 4 => format!("  {first} .. {last} ({} rows): {reason}\n", ids.len()),
        _ => format!("  {}: {reason}\n", ids.join(", ")),
    });
    format!("\n{}\n{}", status.name(), lines.collect::<String>())
}

/// How many rows there are, by class and status, and how far ours are off.
fn in_sum(rows: &[Row]) -> String {
    let judged = [Status::Ok, Status::Off, Status::Explained];
    let table = sums_of("class", summary::classes(rows).into_iter().map(|(class, of)| (class.name(), of)), false);
    let counts = summary::counts(rows);
    let of = |status: Status| counts.get(status.name()).copied().unwrap_or(0);
    let repeated = |relation| summary::repeated(rows, relation);
    let all = rows.iter().filter(|row| row.counts()).count();
    let compared: usize = judged.into_iter().map(of).sum();
    format!(
        "\n{table}\n{all} rows: {compared} compared ({} ok, {} off, {} explained), {} missing, {} context, {} not judged (quick)\n\
         under them, not counted: {} duplicates, {} restatements, {} alternatives\n",
        of(Status::Ok),
        of(Status::Off),
        of(Status::Explained),
        of(Status::Missing),
        of(Status::Context),
        of(Status::NotJudged),
        repeated(Relation::Duplicate),
        repeated(Relation::Restatement),
        repeated(Relation::Alternative),
    )
}

/// A line for each class or table: how many rows it has, of which status, and how far ours are off.
fn sums_of<'a>(what: &str, sums: impl Iterator<Item = (&'a str, summary::OfClass)>, with_missing: bool) -> String {
    let mut statuses = vec![Status::Ok, Status::Off, Status::Explained];
    statuses.extend(with_missing.then_some(Status::Missing));
    let lines = sums.map(|(name, of)| {
        let count = |status: &Status| of.counts.get(status.name()).copied().unwrap_or(0).to_string();
        let worst = of.worst.map_or("-".to_string(), |(id, error)| format!("{error:+.1} %, {id}"));
        let mean = of.mean_error.map_or("-".to_string(), |mean| format!("{mean:.1} %"));
        let numbers = std::iter::once(of.rows.to_string()).chain(statuses.iter().map(count));
        numbers.chain([mean, name.to_string(), worst]).collect()
    });
    let lines: Vec<Vec<String>> = lines.collect();
    let numbers = std::iter::once("rows").chain(statuses.iter().map(|status| status.name())).chain(["mean error"]);
    words(&numbers.collect::<Vec<_>>(), &[what, "worst"], &lines)
}

/// What should not matter, and what it does.
fn sensitivities(headlines: &[Headline]) -> String {
    let lines = headlines.iter().flat_map(|headline| {
        let figure = |value: Option<f64>| value.map_or("-".to_string(), number);
        let head =
            vec![figure(headline.ours), String::new(), headline.what.clone(), headline.unit.clone(), String::new()];
        let variants = headline.variants.iter().map(move |variant| {
            let moves = variant.deviation.map_or("-".to_string(), |moves| format!("{moves:+.1} %"));
            let finding = if variant.is_finding { "a finding".to_string() } else { String::new() };
            let note = variant.note.clone().unwrap_or(finding);
            vec![figure(variant.ours), moves, format!("  {}", variant.what), String::new(), note]
        });
        std::iter::once(head).chain(variants)
    });
    let lines: Vec<Vec<String>> = lines.collect();
    if lines.is_empty() {
        return String::new();
    }
    let table = words(&["ours", "moves"], &["headline, and what is changed", "unit", ""], &lines);
    format!("\nwhat should not matter (a finding: it moves a headline by more than {FINDING} %)\n{table}\n")
}

fn line(row: &Row) -> Vec<String> {
    let side = match row.side {
        Side::Both => "",
        Side::AtLeast => "at least ",
        Side::AtMost => "at most ",
    };
    let tolerance = match row.within {
        Some(within) => format!("{} % or {within}", row.tolerance.map_or("-".to_string(), number)),
        None => row.tolerance.map_or("-".to_string(), |tolerance| format!("{} %", number(tolerance))),
    };
    let below = if row.under.is_some() { "  " } else { "" };
    let status = match &row.under {
        Some(under) => format!("{} ({:?})", row.status.name(), under.relation).to_lowercase(),
        None => row.status.name().to_string(),
    };
    vec![
        format!("{below}{}", row.id),
        format!("{side}{}", number(row.published)),
        row.ours.map_or("-".to_string(), number),
        row.deviation.map_or("-".to_string(), |deviation| format!("{deviation:+.1} %")),
        if row.ours.is_some() { tolerance } else { "-".to_string() },
        row.class.map_or("-", |class| class.name()).to_string(),
        status,
        row.unit.clone(),
        format!("{}: {}", row.config, row.quantity),
    ]
}

/// A figure with as many places as it needs, three at most.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}
