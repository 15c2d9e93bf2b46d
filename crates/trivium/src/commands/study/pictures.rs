//! The pictures of a study.

use super::measure::{Figures, each_of};
use super::plan::{Line, Picture, PictureKind, Plan, at_or_last, at_place};
use super::rows::Row;
use crate::Failure;
use crate::output;
use crate::picture::{Bar, Curve, Histogram, curves, histograms, stacked_bars};
use std::path::Path;
use trivium_diagnostic::Code;
use trivium_sim::PARTS_OF_TIME;

/// Draws those whose runs are there, into a folder; gives the names of their files, and why one cannot be drawn or written.
pub fn draw(plan: &Plan, rows: &[Row], source: &Figures, folder: &Path) -> (Vec<String>, Result<(), Failure>) {
    let mut files = Vec::new();
    let mut done = Ok(());
    for picture in &plan.pictures {
        let svg = match picture.kind {
            PictureKind::Rows => beside_published(picture, rows),
            PictureKind::Histogram => of_times(picture, source),
            _ => drawn(picture, source),
        };
        let written = svg.and_then(|svg| match svg {
            None => Ok(false),
            Some(svg) => output::write_file(&folder.join(&picture.file), svg.as_bytes()).map(|()| true),
        });
        match written {
            Ok(true) => files.push(picture.file.clone()),
            Ok(false) => {}
            Err(failure) => done = done.and(Err(failure)),
        }
    }
    (files, done)
}

/// The picture of lines, if there are any.
fn of_lines(picture: &Picture, lines: &[Curve]) -> Result<Option<String>, Failure> {
    match lines.is_empty() {
        true => Ok(None),
        false => curves(&picture.title, &picture.below, &picture.unit, lines).map(Some),
    }
}

/// What a line has at one of its places; none if the run is not there.
fn absolute_at(kind: PictureKind, line: &Line, (at, x): (usize, u64), source: &Figures) -> Option<f64> {
    let name = at_place(&line.run, x);
    if kind == PictureKind::Printed {
        return source.printed(&name, line.after.as_ref()?).ok();
    }
    let seconds = source.seconds(&name).ok()?;
    let work = at_or_last(&line.work, at).unwrap_or(1.0);
    let each = each_of(source.run(&name).ok()?, line.each.as_deref()).ok()?;
    Some(if kind == PictureKind::Rates { work / seconds / 1e6 } else { seconds / each })
}

/// Lines of rates, of seconds or of what is printed; none if none of the runs are there.
fn absolute(picture: &Picture, source: &Figures) -> Result<Option<String>, Failure> {
    let mut lines: Vec<Curve> = Vec::new();
    for line in &picture.lines {
        let point = |(at, x): (usize, &u64)| Some((*x as f64, absolute_at(picture.kind, line, (at, *x), source)?));
        let points: Vec<(f64, f64)> = line.x.iter().enumerate().filter_map(point).collect();
        if !points.is_empty() {
            let like = line.like.as_ref().and_then(|like| lines.iter().position(|line| line.name == *like));
            lines.push(Curve { name: line.name.clone(), like, points });
        }
    }
    of_lines(picture, &lines)
}

/// Figures of ours, each line with the published one, dashed; none if there are none of ours.
fn beside_published(picture: &Picture, rows: &[Row]) -> Result<Option<String>, Failure> {
    let mut lines: Vec<Curve> = Vec::new();
    for line in &picture.lines {
        let wrong = |what: String| Failure::input(Code::Study, what, "see [[pictures]] in docs/studies.md");
        if line.ids.len() != line.x.len() {
            let (ids, places) = (line.ids.len(), line.x.len());
            return Err(wrong(format!("{}: line `{}` has {ids} rows for {places} places", picture.file, line.name)));
        }
        let (mut ours, mut published) = (Vec::new(), Vec::new());
        for (x, id) in line.x.iter().zip(&line.ids) {
            let row = rows.iter().find(|row| row.id == *id);
            let row = row.ok_or_else(|| wrong(format!("{}: there is no row `{id}`", picture.file)))?;
            ours.extend(row.ours.map(|ours| (*x as f64, ours)));
            published.push((*x as f64, row.published));
        }
        if !ours.is_empty() {
            lines.push(Curve { name: line.name.clone(), like: None, points: ours });
            let like = Some(lines.len() - 1);
            lines.push(Curve { name: format!("{}, published", line.name), like, points: published });
        }
    }
    of_lines(picture, &lines)
}

/// Histograms of what runs print; none if none of the runs are there.
fn of_times(picture: &Picture, source: &Figures) -> Result<Option<String>, Failure> {
    let mut all = Vec::new();
    for (label, run) in &picture.bars {
        if source.run(run).is_err() {
            continue;
        }
        for after in &picture.after {
            let counts = source.printed_counts(run, after, picture.edges.len()).map_err(|why| {
                Failure::input(Code::Study, format!("{}: {why}", picture.file), "see [[pictures]] in docs/studies.md")
            })?;
            all.push(Histogram { name: format!("{label}, {}", after.trim_end_matches([':', ' '])), counts });
        }
    }
    match all.is_empty() {
        true => Ok(None),
        false => histograms(&picture.title, &picture.below, &picture.edges, &all).map(Some),
    }
}

/// The picture, unless none of its runs are there.
fn drawn(picture: &Picture, source: &Figures) -> Result<Option<String>, Failure> {
    if matches!(picture.kind, PictureKind::Rates | PictureKind::Seconds | PictureKind::Printed) {
        return absolute(picture, source);
    }
    let Ok(base) = source.run(&picture.base).map(|run| run.cycles as f64) else { return Ok(None) };
    match picture.kind {
        PictureKind::Rates
        | PictureKind::Seconds
        | PictureKind::Printed
        | PictureKind::Rows
        | PictureKind::Histogram => Ok(None),
        PictureKind::Lines => {
            let mut lines: Vec<Curve> = Vec::new();
            for line in &picture.lines {
                let base =
                    line.base.as_ref().and_then(|name| source.run(name).ok()).map_or(base, |run| run.cycles as f64);
                let point = |x: &u64| {
                    let run = source.run(&at_place(&line.run, *x)).ok()?;
                    Some((*x as f64, run.cycles as f64 / base))
                };
                let points: Vec<(f64, f64)> = line.x.iter().filter_map(point).collect();
                if !points.is_empty() {
                    let like = line.like.as_ref().and_then(|like| lines.iter().position(|line| line.name == *like));
                    lines.push(Curve { name: line.name.clone(), like, points });
                }
            }
            of_lines(picture, &lines)
        }
        PictureKind::Time => {
            let bar = |(label, run): &(String, String)| {
                let run = source.run(run).ok()?;
                let scale = 100.0 / base / f64::from(run.plan.nodes);
                Some(Bar {
                    label: label.clone(),
                    values: run.parts.iter().map(|part| *part as f64 * scale).collect(),
                    above: None,
                })
            };
            let bars: Vec<Bar> = picture.bars.iter().filter_map(bar).collect();
            let headings = PARTS_OF_TIME.map(|name| name.replace('_', " "));
            let headings = headings.each_ref().map(String::as_str);
            if bars.is_empty() {
                Ok(None)
            } else {
                stacked_bars(&picture.title, &picture.unit, &headings, &bars).map(Some)
            }
        }
        PictureKind::Speedup => {
            let bar = |(label, run): &(String, String)| {
                let speedup = base / source.run(run).ok()?.cycles as f64;
                Some(Bar { label: label.clone(), values: vec![speedup], above: None })
            };
            let bars: Vec<Bar> = picture.bars.iter().filter_map(bar).collect();
            if bars.is_empty() {
                Ok(None)
            } else {
                stacked_bars(&picture.title, &picture.unit, &["speedup"], &bars).map(Some)
            }
        }
    }
}
