//! `trivium study`: published figures beside ours.
//!
//! A study is a folder with `study.toml` and the published rows. What it simulates is kept in a work folder by hashes of
//! all that goes in, so that a study that was stopped goes on where it was, and only what has changed is done again.

mod class;
mod engines;
mod kept;
mod live;
mod live_model;
mod live_report;
mod measure;
mod origin;
mod part;
mod pictures;
mod place;
mod plan;
mod published;
mod report;
mod rows;
mod runs;
mod summary;

use crate::arguments::{Format, Study};
use crate::output::{self, Head};
use crate::settings::ResultSettings;
use crate::{Failure, failure};
use place::Place;
use plan::Plan;
use serde_json::json;
use std::path::Path;
use trivium_diagnostic::Code;

/// Carries out a study.
///
/// # Errors
/// It is not there or not right, or a run goes wrong.
pub fn study(arguments: &Study) -> Result<u8, Failure> {
    let begun = std::time::Instant::now();
    let place = Place::of(&arguments.name)?;
    let mut plan = Plan::load(&place)?;
    if let Some(part) = &arguments.part {
        part::only(&mut plan, part)?;
    }
    let published = published::read(&place.folder.join(&plan.published))?;
    let work = arguments.work.clone().unwrap_or_else(|| Path::new("study-out").join(place.name()));
    if arguments.live && plan.live.is_none() {
        let what = format!("the study {} has no live part", arguments.name);
        return Err(Failure::input(
            Code::Study,
            what,
            "leave out --live, or write `[live]` in its study.toml (docs/studies.md)",
        ));
    }
    let kept = kept::Kept::open(&work, plan.users())?;
    let mut runner =
        runs::StudyRunner::new(&kept, arguments.seed.seed, arguments.jobs.jobs, arguments.long, place.root.clone());
    let done = runner.all(&plan.all_runs(arguments.quick))?;
    let source = measure::Figures::new(&done);
    let mut rows = rows::all(&plan, &published, &source)?;
    if let Some(part) = &arguments.part {
        rows = part::only_rows(&plan, part, rows)?;
    }
    let (declared, sensitivity) = (summary::declared(&plan, &source), summary::sensitivity(&plan, &source));
    let (pictures, drawn) = pictures::draw(&plan, &rows, &source, &work);
    let live = match plan.live.as_ref().filter(|_| arguments.live && !done.interrupted) {
        Some(asked) => Some(lived(asked, &mut runner, &work)?),
        None => None,
    };
    let found = report::Findings {
        rows: &rows,
        declared: &declared,
        sensitivity: &sensitivity,
        pictures: &pictures,
        quick: arguments.quick,
        live: live.as_ref(),
    };
    let text = match arguments.form.format {
        Format::Text => report::text(&plan, &found, &work),
        Format::Json => {
            let head = Head {
                command: "study",
                args: vec![arguments.name.clone()],
                hashes: done.hashes.clone().into_iter().collect(),
                nodes: done.runs.values().map(|run| run.plan.nodes).max().unwrap_or(0),
                seed: arguments.seed.seed,
                host_seconds: begun.elapsed().as_secs_f64(),
                settings: ResultSettings::default()
                    .with("quick", arguments.quick)
                    .with("long", arguments.long)
                    .with("live", arguments.live)
                    .with("part", &arguments.part),
                ..Head::default()
            };
            output::pretty(&head.with(as_json(&plan, &found)))
        }
    };
    output::write(arguments.form.out.as_ref(), &text)?;
    drawn?;
    if done.interrupted || live.as_ref().is_some_and(|live| live.found.interrupted) {
        crate::say!("incomplete: it was interrupted; start it again with the same work folder to go on");
        return Ok(failure::INCOMPLETE);
    }
    Ok(0)
}

/// The live part: what was measured, and its pictures.
fn lived(plan: &live::LivePlan, runner: &mut runs::StudyRunner, work: &Path) -> Result<report::Lived, Failure> {
    let found = live::measure(plan, runner)?;
    let pictures = live_report::draw(plan, &found, work)?;
    Ok(report::Lived { found, pictures })
}

fn as_json(plan: &Plan, found: &report::Findings) -> serde_json::Value {
    let classes: serde_json::Map<String, serde_json::Value> =
        summary::classes(found.rows).into_iter().map(|(class, of)| (class.name().into(), json!(of))).collect();
    let mut value = json!({
        "quick": found.quick,
        "declared": found.declared,
        "rows": found.rows,
        "counting": summary::counting(found.rows),
        "counts": summary::counts(found.rows),
        "classes": classes,
        "sensitivity": found.sensitivity,
        "pictures": found.pictures,
    });
    if plan.by_table {
        value["tables"] =
            summary::tables(found.rows).into_iter().map(|(table, of)| (table.to_string(), json!(of))).collect();
    }
    if let Some(live) = found.live {
        value["live"] = json!(live.found);
        value["live"]["pictures"] = json!(live.pictures);
    }
    value
}
