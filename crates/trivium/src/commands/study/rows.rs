//! Published rows beside ours.

use super::measure::{Figures, Why};
use super::plan::{Measure, MissTable, Plan, PublishedBound, RowPlan};
use super::published::Published;
use crate::Failure;
use serde::Serialize;

/// How ours compares with published.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Within the row's tolerance, or on the right side of the bound.
    Ok,
    /// Not so, and nobody has said why.
    Off,
    /// Not so, or there is nothing of ours to compare, for the reason that is given.
    Explained,
    /// There is no figure of ours yet.
    Missing,
}

impl Status {
    /// As results write it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Off => "off",
            Status::Explained => "explained",
            Status::Missing => "missing",
        }
    }
}

/// A row of the result.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// What it is.
    pub quantity: String,
    /// Of what.
    pub config: String,
    /// Its unit.
    pub unit: String,
    /// The published figure.
    pub published: f64,
    /// Whether that is a bound: `at least` or `at most`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<&'static str>,
    /// Our figure.
    pub ours: Option<f64>,
    /// By how many percent of the published figure ours is more.
    pub deviation: Option<f64>,
    /// How they compare.
    pub status: Status,
    /// Why it is off or missing.
    pub reason: Option<String>,
    /// Whether ours comes from runs that `--quick` has made small, so that it means nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_small_runs: bool,
}

/// How a row is judged.
struct Judge {
    tolerance: f64,
    within: f64,
    bound: Option<PublishedBound>,
    reason: Option<String>,
    context: bool,
}

/// All rows, in the order of the published file, then those that the study derives.
///
/// # Errors
/// The study speaks of a row that is not in the file.
pub fn all(plan: &Plan, published: &[Published], source: &Figures, quick: bool) -> Result<Vec<Row>, Failure> {
    let small = |measure: Option<&Measure>| quick && measure.is_some_and(Measure::is_of_runs);
    let mut tables: Vec<Option<&MissTable>> = vec![None; published.len()];
    let mut rows: Vec<Option<&RowPlan>> = vec![None; published.len()];
    for table in &plan.tables {
        for at in range(published, &table.ids)? {
            tables[at] = Some(table);
        }
    }
    for row in &plan.rows {
        for at in range(published, &row.ids)? {
            rows[at] = Some(row);
        }
    }
    let mut all = Vec::new();
    for (at, row) in published.iter().enumerate() {
        let planned = rows[at];
        let ours: Result<f64, Why> = match (planned, tables[at]) {
            (Some(RowPlan { ours: Some(measure), .. }), _) => source.value(measure, &row.unit),
            (Some(RowPlan { ours: None, context: true, .. }), _) => Err(String::new()),
            (_, Some(table)) => source.in_table(table, row),
            _ => Err("nothing in the study gives it yet".into()),
        };
        let table_tolerance = tables[at].map(|table| table.tolerance);
        let judge = Judge {
            tolerance: planned.and_then(|p| p.tolerance).or(table_tolerance).unwrap_or(plan.tolerance),
            within: tables[at].map_or(0.0, |table| table.within),
            bound: planned.and_then(|p| p.bound),
            reason: planned.and_then(|p| p.reason.clone()),
            context: planned.is_some_and(|p| p.context),
        };
        let of_small_runs = small(planned.and_then(|p| p.ours.as_ref()));
        all.push(Row { of_small_runs, ..judge.row(row, ours) });
    }
    for derived in &plan.derived {
        let row = Published {
            id: derived.id.clone(),
            config: derived.config.clone(),
            quantity: derived.quantity.clone(),
            unit: derived.unit.clone(),
            value: derived.value,
        };
        let judge = Judge {
            tolerance: derived.tolerance.unwrap_or(plan.tolerance),
            within: 0.0,
            bound: derived.bound,
            reason: derived.reason.clone(),
            context: false,
        };
        let ours = source.value(&derived.ours, &derived.unit);
        all.push(Row { of_small_runs: small(Some(&derived.ours)), ..judge.row(&row, ours) });
    }
    Ok(all)
}

/// The places of one id, or of the first to the last.
fn range(published: &[Published], ids: &[String]) -> Result<std::ops::RangeInclusive<usize>, Failure> {
    let place = |id: &String| {
        published.iter().position(|row| row.id == *id).ok_or_else(|| {
            Failure::input(format!("the published figures have no row `{id}`"), "fix `ids` in study.toml")
        })
    };
    match ids {
        [one] => place(one).map(|at| at..=at),
        [first, last] => Ok(place(first)?..=place(last)?),
        _ => Err(Failure::input("`ids` is one id, or the first and the last", "fix it in study.toml")),
    }
}

impl Judge {
    fn row(self, row: &Published, ours: Result<f64, Why>) -> Row {
        let (ours, why) = match ours {
            Ok(ours) => (Some(ours), None),
            Err(why) => (None, Some(why).filter(|why| !why.is_empty())),
        };
        let difference = ours.map(|ours| ours - row.value);
        let deviation = difference.and_then(|difference| match row.value {
            0.0 => (difference == 0.0).then_some(0.0),
            published => Some(100.0 * difference / published.abs()),
        });
        let fits = |difference: f64| {
            let room = (row.value.abs() * self.tolerance / 100.0).max(self.within) + 1e-9;
            match self.bound {
                None => difference.abs() <= room,
                Some(PublishedBound::AtLeast) => difference >= -room,
                Some(PublishedBound::AtMost) => difference <= room,
            }
        };
        let status = match difference {
            Some(difference) if fits(difference) => Status::Ok,
            Some(_) if self.reason.is_some() => Status::Explained,
            Some(_) => Status::Off,
            None if self.context && self.reason.is_some() => Status::Explained,
            None => Status::Missing,
        };
        let reason = if status == Status::Ok { None } else { self.reason.or(why) };
        Row {
            id: row.id.clone(),
            quantity: row.quantity.clone(),
            config: row.config.clone(),
            unit: row.unit.clone(),
            published: row.value,
            bound: self.bound.map(|bound| if bound == PublishedBound::AtLeast { "at least" } else { "at most" }),
            ours,
            deviation,
            status,
            reason,
            of_small_runs: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(value: f64, ours: Result<f64, Why>, bound: Option<PublishedBound>, reason: Option<&str>) -> Row {
        let row = Published {
            id: "X-1".into(),
            config: String::new(),
            quantity: String::new(),
            unit: "percent".into(),
            value,
        };
        let reason = reason.map(str::to_string);
        Judge { tolerance: 5.0, within: 0.0, bound, reason, context: false }.row(&row, ours)
    }

    #[test]
    fn a_row_is_ok_off_explained_or_missing() {
        let status = |ours, reason| judged(100.0, ours, None, reason).status;
        assert_eq!(status(Ok(104.0), None), Status::Ok);
        assert_eq!(status(Ok(94.0), None), Status::Off);
        assert_eq!(status(Ok(94.0), Some("because")), Status::Explained);
        assert_eq!(status(Err("not yet".into()), Some("because")), Status::Missing);
        assert_eq!(judged(100.0, Err("not yet".into()), None, None).reason.as_deref(), Some("not yet"));
    }

    #[test]
    fn a_bound_has_a_right_side() {
        assert_eq!(judged(25.0, Ok(3.0), Some(PublishedBound::AtMost), None).status, Status::Ok);
        assert_eq!(judged(25.0, Ok(30.0), Some(PublishedBound::AtMost), None).status, Status::Off);
        assert_eq!(judged(19.0, Ok(30.0), Some(PublishedBound::AtLeast), None).status, Status::Ok);
    }

    #[test]
    fn the_deviation_of_nothing_is_nothing() {
        assert_eq!(judged(0.0, Ok(0.0), None, None).deviation, Some(0.0));
        assert_eq!(judged(0.0, Ok(1.0), None, None).deviation, None);
        assert_eq!(judged(-2.0, Ok(-1.0), None, None).deviation, Some(50.0));
    }
}
