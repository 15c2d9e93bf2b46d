//! What the rows come to: how many of each class have which status, and how far ours are off.

use super::class::Class;
use super::measure::Figures;
use super::origin::Measure;
use super::plan::{Declared, Experiment, Plan, Relation, Sensitivity, Side};
use super::rows::{Row, Status, Trial, trial};
use serde::Serialize;
use std::collections::BTreeMap;

/// The rows of one class that count.
#[derive(Clone, Debug, Default, Serialize)]
pub struct OfClass {
    /// How many rows there are.
    pub rows: usize,
    /// How many of each status.
    pub counts: BTreeMap<&'static str, usize>,
    /// The mean error of two-sided rows, in percent of the published figures.
    pub mean_error: Option<f64>,
    /// The row with the greatest error, and its deviation in percent.
    pub worst: Option<(String, f64)>,
}

/// How many rows there are of each status.
pub fn counts(rows: &[Row]) -> BTreeMap<&'static str, usize> {
    let mut counts: BTreeMap<&'static str, usize> = Status::ALL.map(|status| (status.name(), 0)).into();
    for row in rows.iter().filter(|row| row.counts()) {
        *counts.entry(row.status.name()).or_default() += 1;
    }
    counts
}

/// How much it says about us that a row agrees: from what says most to what says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// A figure of programs, simulated or measured, that may be neither less nor more than published.
    Figure,
    /// A bound that programs keep or break.
    Bound,
    /// A single miss on a quiet machine, put together out of priced parts.
    Composed,
    /// An input, or arithmetic of inputs.
    Input,
    /// There is no figure of ours.
    Nothing,
}

impl Weight {
    /// All of them, in the order of reports.
    pub const ALL: [Weight; 5] = [Weight::Figure, Weight::Bound, Weight::Composed, Weight::Input, Weight::Nothing];

    /// Of a row.
    pub fn of(row: &Row) -> Weight {
        match (row.class.filter(|_| row.ours.is_some()), row.side) {
            (Some(Class::Simulated | Class::Measured), Side::Both) => Weight::Figure,
            (Some(Class::Simulated | Class::Measured), _) => Weight::Bound,
            (Some(Class::Composed), _) => Weight::Composed,
            (Some(Class::Given | Class::Arithmetic), _) => Weight::Input,
            (None, _) => Weight::Nothing,
        }
    }

    /// As reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Weight::Figure => "figures of programs, on both sides",
            Weight::Bound => "bounds of programs",
            Weight::Composed => "composed: single misses on a quiet machine",
            Weight::Input => "inputs and arithmetic of inputs, which say nothing about us",
            Weight::Nothing => "no figure of ours",
        }
    }
}

/// What counts, of the rows of one weight.
#[derive(Clone, Debug, Serialize)]
pub struct OfWeight {
    /// The weight's name.
    pub what: &'static str,
    /// How many rows there are.
    pub rows: usize,
    /// How many of each status that occurs.
    pub counts: BTreeMap<&'static str, usize>,
    /// Those that are off.
    pub off: Vec<String>,
}

/// What counts: the rows by what they say about us, from most to nothing.
pub fn counting(rows: &[Row]) -> Vec<OfWeight> {
    let of = |weight: Weight| {
        let mut sum = OfWeight { what: weight.name(), rows: 0, counts: BTreeMap::new(), off: Vec::new() };
        for row in rows.iter().filter(|row| row.counts() && Weight::of(row) == weight) {
            sum.rows += 1;
            *sum.counts.entry(row.status.name()).or_default() += 1;
            sum.off.extend(Some(row.id.clone()).filter(|_| row.status == Status::Off));
        }
        sum
    };
    Weight::ALL.map(of).into_iter().filter(|sum| sum.rows > 0).collect()
}

/// How many rows stand under others, by how they belong to them.
pub fn repeated(rows: &[Row], relation: Relation) -> usize {
    rows.iter().filter(|row| row.under.as_ref().is_some_and(|under| under.relation == relation)).count()
}

/// The rows that have a figure of ours, or will have one, by class.
pub fn classes(rows: &[Row]) -> Vec<(Class, OfClass)> {
    let of = |class| rows.iter().filter(move |row| row.counts() && row.class == Some(class));
    let classes = Class::ALL.iter().map(|&class| (class, summed(of(class))));
    classes.filter(|(_, summary)| summary.rows > 0).collect()
}

/// The same by the tables of the source, in its order: those of which rows are compared.
pub fn tables(rows: &[Row]) -> Vec<(&str, OfClass)> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.counts() && row.ours.is_some()) {
        if !names.contains(&row.table.as_str()) {
            names.push(&row.table);
        }
    }
    let of = |name| rows.iter().filter(move |row| row.counts() && row.table == name);
    names.into_iter().map(|name| (name, summed(of(name)))).collect()
}

fn summed<'a>(rows: impl Iterator<Item = &'a Row>) -> OfClass {
    let mut sum = OfClass::default();
    let mut errors: Vec<(&str, f64)> = Vec::new();
    for row in rows {
        sum.rows += 1;
        *sum.counts.entry(row.status.name()).or_default() += 1;
        let is_judged = row.side == Side::Both && row.status != Status::NotJudged;
        errors.extend(row.deviation.filter(|_| is_judged).map(|deviation| (row.id.as_str(), deviation)));
    }
    if !errors.is_empty() {
        sum.mean_error = Some(errors.iter().map(|(_, error)| error.abs()).sum::<f64>() / errors.len() as f64);
    }
    let worst = errors.into_iter().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    sum.worst = worst.map(|(id, error)| (id.to_string(), error));
    sum
}

/// A choice, and our figure that shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Choice {
    /// What is chosen.
    pub what: String,
    /// How.
    pub is: String,
    /// Why.
    pub why: String,
    /// Our figure, if one shows it.
    pub ours: Option<f64>,
    /// Its unit.
    pub unit: String,
}

/// What the study declares.
pub fn declared(plan: &Plan, source: &Figures) -> Vec<Choice> {
    let choice = |declared: &Declared| Choice {
        what: declared.what.clone(),
        is: declared.is.clone(),
        why: declared.why.clone(),
        ours: declared.ours.as_ref().and_then(|measure| source.value(measure, &declared.unit).ok()),
        unit: declared.unit.clone(),
    };
    plan.declared.iter().map(choice).collect()
}

/// What becomes of a headline.
#[derive(Clone, Debug, Serialize)]
pub struct Headline {
    /// The headline.
    pub what: String,
    /// Its unit.
    pub unit: String,
    /// As declared.
    pub ours: Option<f64>,
    /// After each change.
    pub variants: Vec<Trial>,
}

/// A change that moves a headline by more percent than this is a finding (docs/studies.md).
pub const FINDING: f64 = 5.0;

/// The headlines after changes that should not matter.
pub fn sensitivity(plan: &Plan, source: &Figures) -> Vec<Headline> {
    let headline = |planned: &Sensitivity| {
        let figure = |measure: &Measure| source.value(measure, &planned.unit);
        let ours = figure(&planned.ours).ok();
        let variant = |tried: &Experiment| {
            let trial = trial(&tried.what, figure(&tried.ours), ours);
            let is_short = [&planned.ours, &tried.ours].into_iter().any(|measure| source.is_of_short_runs(measure));
            let is_finding = !is_short && trial.deviation.is_some_and(|moves| moves.abs() > FINDING);
            let note = trial.note.or(is_short.then(|| Status::NotJudged.name().to_string()));
            Trial { is_finding, note, ..trial }
        };
        Headline {
            what: planned.what.clone(),
            unit: planned.unit.clone(),
            ours,
            variants: planned.variants.iter().map(variant).collect(),
        }
    };
    plan.sensitivity.iter().map(headline).collect()
}
