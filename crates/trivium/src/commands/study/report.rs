//! A study as text.

use super::plan::Plan;
use super::rows::{Row, Status};
use crate::output::{padded_to, table};
use std::collections::BTreeMap;
use std::path::Path;

/// How many rows there are of each status.
pub fn counts(rows: &[Row]) -> BTreeMap<Status, usize> {
    let mut counts: BTreeMap<Status, usize> =
        [Status::Ok, Status::Off, Status::Explained, Status::Missing].map(|status| (status, 0)).into();
    for row in rows {
        *counts.entry(row.status).or_default() += 1;
    }
    counts
}

/// All rows, the reasons, and the counts.
pub fn text(plan: &Plan, rows: &[Row], pictures: &[String], work: &Path) -> String {
    let head = ["id", "published", "ours", "deviation", "status", "unit", "what"];
    let lines: Vec<Vec<String>> = rows.iter().map(line).collect();
    // Words stand to the left, numbers to the right.
    let width =
        |column: usize| lines.iter().map(|l| l[column].chars().count()).max().unwrap_or(0).max(head[column].len());
    let (status, unit, what) = (width(4), width(5), width(6));
    let padded: Vec<Vec<String>> = lines
        .iter()
        .map(|l| {
            let mut l = l.clone();
            l[4] = padded_to(status, &l[4]);
            l[5] = padded_to(unit, &l[5]);
            l[6] = padded_to(what, &l[6]);
            l
        })
        .collect();
    let headings = [
        head[0].to_string(),
        head[1].to_string(),
        head[2].to_string(),
        head[3].to_string(),
        padded_to(status, head[4]),
        padded_to(unit, head[5]),
        padded_to(what, head[6]),
    ];
    let mut out = format!("{}\n\n{}", plan.about, table(&headings.each_ref().map(String::as_str), &padded));
    if rows.iter().any(|row| row.of_small_runs) {
        out.push_str("\n~, small: of runs that --quick has made small; these figures mean nothing\n");
    }
    for status in [Status::Off, Status::Explained, Status::Missing] {
        out.push_str(&reasons(rows, status));
    }
    let counts: Vec<String> = counts(rows).iter().map(|(status, count)| format!("{count} {}", status.name())).collect();
    out.push_str(&format!("\n{} rows: {}\n", rows.len(), counts.join(", ")));
    for picture in pictures {
        out.push_str(&format!("picture: {}\n", work.join(picture).display()));
    }
    out
}

/// The reasons of rows of a status; rows with the same reason together.
fn reasons(rows: &[Row], status: Status) -> String {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows.iter().filter(|row| row.status == status) {
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

fn line(row: &Row) -> Vec<String> {
    let published = match row.bound {
        Some(bound) => format!("{bound} {}", number(row.published)),
        None => number(row.published),
    };
    vec![
        row.id.clone(),
        published,
        row.ours
            .map_or("-".to_string(), |ours| format!("{}{}", if row.of_small_runs { "~" } else { "" }, number(ours))),
        row.deviation.map_or("-".to_string(), |deviation| format!("{deviation:+.1} %")),
        if row.of_small_runs { "small".to_string() } else { row.status.name().to_string() },
        row.unit.clone(),
        format!("{}: {}", row.config, row.quantity),
    ]
}

/// A figure with as many places as it needs, three at most.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
