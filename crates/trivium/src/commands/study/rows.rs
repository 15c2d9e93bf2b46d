//! Published rows beside ours, and how each is judged (docs/studies.md).

use super::class::Class;
use super::measure::{Figures, Why};
use super::origin::Measure;
use super::plan::{Experiment, Explained, MissTable, Plan, RowPlan, Side, Under};
use super::published::Published;
use crate::Failure;
use serde::Serialize;
use trivium_diagnostic::Code;

/// How ours compares with published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Within the row's tolerance, or on the right side of the bound.
    Ok,
    /// Not so.
    Off,
    /// Not so, and an experiment without the cause brings it within the tolerance.
    Explained,
    /// There is no figure of ours yet.
    Missing,
    /// There is nothing to compare.
    Context,
    /// Ours is of a run that `--quick` has made shorter than declared.
    #[serde(rename = "not judged (quick)")]
    NotJudged,
}

impl Status {
    /// All of them, in the order of reports.
    pub const ALL: [Status; 6] =
        [Status::Ok, Status::Off, Status::Explained, Status::Missing, Status::Context, Status::NotJudged];

    /// As results write it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Off => "off",
            Status::Explained => "explained",
            Status::Missing => "missing",
            Status::Context => "context",
            Status::NotJudged => "not judged (quick)",
        }
    }
}

/// What an experiment gave.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// What was changed.
    pub what: String,
    /// Our figure with it, in the unit of the row or of the headline.
    pub ours: Option<f64>,
    /// By how many percent that is more than the published figure, or than the headline.
    pub deviation: Option<f64>,
    /// Whether a change that should not matter moves the headline so much.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_finding: bool,
    /// Why there is no figure, or why it does not explain the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A row of the result.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// The source's table, figure or experiment.
    #[serde(skip)]
    pub table: String,
    /// What it is.
    pub quantity: String,
    /// Of what.
    pub config: String,
    /// Its unit.
    pub unit: String,
    /// The published figure.
    pub published: f64,
    /// On which side of it ours may be.
    pub side: Side,
    /// How far off ours may be, in percent of the published figure; nothing of a bound, which has no slack.
    pub tolerance: Option<f64>,
    /// Or how far in its unit, where that is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<f64>,
    /// Why the tolerance is wider than the study's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What kind of figure ours is.
    pub class: Option<Class>,
    /// Our figure.
    pub ours: Option<f64>,
    /// By how many percent of the published figure ours is more.
    pub deviation: Option<f64>,
    /// How they compare.
    pub status: Status,
    /// Why there is no figure, or what the row is.
    pub reason: Option<String>,
    /// The row that counts in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under: Option<Under>,
    /// The experiment that explains it, or does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Trial>,
    /// Other experiments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Trial>,
}

impl Row {
    /// Whether the summary counts it.
    pub fn counts(&self) -> bool {
        self.under.is_none()
    }
}

/// All rows, in the order of the published file, then those that the study derives.
///
/// # Errors
/// The study speaks of a row that is not there, or puts a row under one that does not count itself.
pub fn all(plan: &Plan, published: &[Published], source: &Figures) -> Result<Vec<Row>, Failure> {
    let claims = claims(plan, published);
    let file = plan.path().display();
    if let Some((_, twice)) = claims.iter().enumerate().find(|(at, row)| claims[..*at].iter().any(|r| r.id == row.id)) {
        let what = format!("a `[[derived]]` row has the id `{}`, as an earlier one has", twice.id);
        return Err(Failure::at(Code::Study, what, file, "each row has an id of its own"));
    }
    plan.tables.iter().try_for_each(|table| source.check_table(table))?;
    let mut tables: Vec<Option<&MissTable>> = vec![None; claims.len()];
    let mut plans: Vec<RowPlan> = vec![RowPlan::default(); claims.len()];
    for table in &plan.tables {
        for at in range(&claims, &table.ids)? {
            tables[at] = Some(table);
            plans[at].under = restated(&claims, table, at);
        }
    }
    for (number, row) in plan.rows.iter().enumerate() {
        for at in range(&claims, &row.ids)? {
            if !plans[at].ids.is_empty() {
                let what = format!("row `{}` stands in two `[[rows]]`, and this is the second", claims[at].id);
                return Err(Failure::at(Code::Study, what, plan.place(number), "judge each row once"));
            }
            let under = plans[at].under.take();
            plans[at] = RowPlan { under: row.under.clone().or(under), ..row.clone() };
        }
    }
    let counts = |at: usize| tables[at].is_some() || plans[at].ours.is_some();
    plans.iter().try_for_each(|plan| check_under(plan, &claims, &plans, &counts))?;
    let judged = claims.iter().zip(plans).zip(tables);
    Ok(judged.map(|((claim, planned), table)| judge(plan, claim, &planned, table, source)).collect())
}

/// The table of rows that the study derives.
const DERIVED: &str = "derived by the study";

/// What is to be compared: the published rows, and those that the study derives.
fn claims(plan: &Plan, published: &[Published]) -> Vec<Published> {
    let derived = plan.derived.iter().map(|derived| Published {
        id: derived.id.clone(),
        experiment: DERIVED.to_string(),
        config: derived.config.clone(),
        quantity: derived.quantity.clone(),
        unit: derived.unit.clone(),
        value: derived.value,
    });
    published.iter().cloned().chain(derived).collect()
}

/// The earlier row of a table that has the same quantity in another unit.
fn restated(claims: &[Published], table: &MissTable, at: usize) -> Option<Under> {
    use super::plan::Relation::Restatement;
    let row = &claims[at];
    let first = range(claims, &table.ids).ok()?.map(|other| &claims[other]);
    let mut same = first.filter(|other| other.config == row.config && other.quantity == row.quantity);
    same.next().filter(|other| other.id != row.id).map(|other| Under { id: other.id.clone(), relation: Restatement })
}

/// A row that stands under another stands under one that is there and counts.
fn check_under(
    plan: &RowPlan,
    claims: &[Published],
    plans: &[RowPlan],
    has_figure: &dyn Fn(usize) -> bool,
) -> Result<(), Failure> {
    let Some(under) = &plan.under else { return Ok(()) };
    let what = match claims.iter().position(|claim| claim.id == under.id) {
        None => format!("there is no row `{}` under which another could stand", under.id),
        Some(at) if plans[at].under.is_some() => {
            format!("rows stand under `{}`, which itself stands under another and does not count", under.id)
        }
        Some(at) if plan.ours.is_some() && !has_figure(at) => {
            format!("a row with a figure of ours stands under `{}`, which has none", under.id)
        }
        Some(_) => return Ok(()),
    };
    Err(Failure::input(Code::Study, what, "name in `under`, in study.toml, the row that counts"))
}

/// The places of one id, or of the first to the last.
fn range(published: &[Published], ids: &[String]) -> Result<std::ops::RangeInclusive<usize>, Failure> {
    let place = |id: &String| {
        published.iter().position(|row| row.id == *id).ok_or_else(|| {
            Failure::input(Code::Study, format!("the published figures have no row `{id}`"), "fix `ids` in study.toml")
        })
    };
    match ids {
        [one] => place(one).map(|at| at..=at),
        [first, last] => match (place(first)?, place(last)?) {
            (first, last) if first <= last => Ok(first..=last),
            _ => {
                Err(Failure::input(Code::Study, format!("`{last}` stands before `{first}`"), "fix `ids` in study.toml"))
            }
        },
        _ => Err(Failure::input(Code::Study, "`ids` is one id, or the first and the last", "fix it in study.toml")),
    }
}

/// Judges one row.
fn judge(plan: &Plan, row: &Published, planned: &RowPlan, table: Option<&MissTable>, source: &Figures) -> Row {
    let ours: Result<f64, Why> = match (&planned.ours, table) {
        (Some(measure), _) => source.value(measure, &row.unit),
        (None, _) if planned.context => Err(String::new()),
        (None, Some(table)) => source.in_table(table, row),
        (None, None) => Err("nothing in the study gives it yet".into()),
    };
    let from = planned.ours.as_ref().map(Class::of);
    let from = from.or_else(|| table.filter(|_| ours.is_ok()).map(|table| Class::in_table(table, &row.quantity)));
    let of_table = || table.and_then(|table| table.configs.get(&row.config)).cloned().map(Measure::Miss);
    let is_input = planned.ours.clone().or_else(of_table).is_some_and(|ours| source.is_of_priced_handlers(&ours));
    let prices = planned.ours.as_ref().map_or(Vec::new(), |ours| source.rows_of_prices(ours));
    let is_input = is_input || prices.contains(&row.id);
    // A priced handler's cycles are its price and what it waits for: put together, whatever program it runs under.
    let is_composed = !prices.is_empty();
    let class = planned.class.or(from).map(|class| match class {
        _ if is_input => Class::Given,
        class if is_composed => class.min(Class::Composed),
        class => class,
    });
    let judge = Judge {
        tolerance: planned.tolerance.or(table.map(|table| table.tolerance)).unwrap_or(plan.tolerance),
        within: table.map_or(0.0, |table| table.within),
        side: planned.bound,
    };
    let measured = |measure: &Measure| source.value(measure, &row.unit);
    let fits = ours.as_ref().is_ok_and(|ours| judge.fits(*ours, row.value));
    let is_short = planned.ours.as_ref().is_some_and(|measure| source.is_of_short_runs(measure));
    let experiment = planned.explained.as_ref().filter(|_| !fits && !is_short).and_then(|explained| {
        ours.as_ref().ok().map(|ours| judge.explanation(explained, *ours, measured(&explained.experiment), row.value))
    });
    let status = match (&ours, &experiment) {
        (Ok(_), _) if is_short => Status::NotJudged,
        (Ok(_), _) if fits => Status::Ok,
        (Ok(_), Some(Trial { note: None, .. })) => Status::Explained,
        (Ok(_), _) => Status::Off,
        (Err(_), _) if planned.context => Status::Context,
        (Err(_), _) => Status::Missing,
    };
    let trial = |tried: &Experiment| trial(&tried.what, measured(&tried.ours), Some(row.value));
    Row {
        id: row.id.clone(),
        table: row.experiment.clone(),
        quantity: row.quantity.clone(),
        config: row.config.clone(),
        unit: row.unit.clone(),
        published: row.value,
        side: judge.side,
        tolerance: Some(judge.tolerance).filter(|_| judge.side == Side::Both),
        within: Some(judge.within).filter(|within| *within > 0.0),
        why: planned.why.clone(),
        class,
        ours: ours.as_ref().ok().copied(),
        deviation: ours.as_ref().ok().and_then(|ours| deviation(*ours, row.value)),
        status,
        reason: planned.reason.clone().or(ours.err()).filter(|why| !why.is_empty()),
        under: planned.under.clone(),
        experiment,
        tried: planned.tried.iter().filter(|_| !fits && !is_short).map(trial).collect(),
    }
}

/// What an experiment gave, beside the figure that it is compared with, if there is one.
pub fn trial(what: &str, figure: Result<f64, Why>, beside: Option<f64>) -> Trial {
    let ours = figure.as_ref().ok().copied();
    let deviation = ours.zip(beside).and_then(|(ours, beside)| deviation(ours, beside));
    Trial { what: what.to_string(), ours, deviation, is_finding: false, note: figure.err() }
}

/// By how many percent of the published figure ours is more; none of a published nothing, unless ours is nothing too.
fn deviation(ours: f64, published: f64) -> Option<f64> {
    match published {
        0.0 => (ours == 0.0).then_some(0.0),
        _ => Some(100.0 * (ours - published) / published.abs()),
    }
}

/// How a row is judged.
struct Judge {
    tolerance: f64,
    within: f64,
    side: Side,
}

impl Judge {
    fn fits(&self, ours: f64, published: f64) -> bool {
        // A sum of floating-point numbers may differ from what it stands for in its last places.
        let places = 1e-9 * published.abs().max(1.0);
        let difference = ours - published;
        match self.side {
            Side::Both => difference.abs() <= (published.abs() * self.tolerance / 100.0).max(self.within) + places,
            Side::AtLeast => difference >= -places,
            Side::AtMost => difference <= places,
        }
    }

    /// What the experiment gave; a note says why it does not explain the row, if it does not.
    fn explanation(&self, explained: &Explained, ours: f64, figure: Result<f64, Why>, published: f64) -> Trial {
        let mut trial = trial(&explained.by, figure, Some(published));
        let limit = explained.expected.abs() * explained.limit / 100.0 + 1e-9;
        if trial.ours.is_some_and(|without| !self.fits(without, published)) {
            trial.note = Some("without the cause ours is not within the row's tolerance either".into());
        } else if trial.ours.is_some() && (ours - explained.expected).abs() > limit {
            let (expected, limit) = (explained.expected, explained.limit);
            trial.note = Some(format!("ours was {expected} within {limit} % when it was explained, and is so no more"));
        }
        trial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(side: Side) -> Judge {
        Judge { tolerance: 5.0, within: 0.0, side }
    }

    #[test]
    fn a_bound_has_a_right_side() {
        assert!(judge(Side::Both).fits(104.0, 100.0) && !judge(Side::Both).fits(94.0, 100.0));
        assert!(judge(Side::AtMost).fits(3.0, 25.0) && !judge(Side::AtMost).fits(30.0, 25.0));
        assert!(judge(Side::AtLeast).fits(30.0, 19.0) && !judge(Side::AtLeast).fits(3.0, 19.0));
        // It has no slack: 1.98 is not at least 2.
        assert!(judge(Side::AtLeast).fits(2.0, 2.0) && !judge(Side::AtLeast).fits(1.98, 2.0));
        assert!(judge(Side::AtMost).fits(2.0, 2.0) && !judge(Side::AtMost).fits(2.02, 2.0));
    }

    #[test]
    fn only_an_experiment_within_its_limit_explains() {
        let explained = Explained {
            by: "the cause".into(),
            experiment: Measure::Nodes(String::new()),
            expected: 150.0,
            limit: 10.0,
        };
        let note = |ours, without| judge(Side::Both).explanation(&explained, ours, without, 100.0).note;
        assert_eq!(note(155.0, Ok(103.0)), None);
        assert!(note(155.0, Ok(120.0)).unwrap().contains("not within"));
        assert!(note(170.0, Ok(103.0)).unwrap().contains("no more"));
        assert_eq!(note(155.0, Err("no such run".into())).as_deref(), Some("no such run"));
    }

    #[test]
    fn the_deviation_of_nothing_is_nothing() {
        assert_eq!(deviation(0.0, 0.0), Some(0.0));
        assert_eq!(deviation(1.0, 0.0), None);
        assert_eq!(deviation(-1.0, -2.0), Some(50.0));
    }
}
