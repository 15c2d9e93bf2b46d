//! A part of a study: some of its rows, and the runs that they are made of.

use super::plan::Plan;
use super::rows::Row;
use crate::Failure;
use trivium_diagnostic::Code;

/// Leaves a plan the runs, choices, headlines and pictures that belong to a part, or to all.
///
/// # Errors
/// There is no such part.
pub fn only(plan: &mut Plan, part: &str) -> Result<(), Failure> {
    if !plan.parts.contains_key(part) {
        let known: Vec<&str> = plan.parts.keys().map(String::as_str).collect();
        let help = match known[..] {
            [] => "leave out --part: the study has no parts".to_string(),
            _ => format!("its parts are {}", known.join(", ")),
        };
        return Err(Failure::input(Code::Study, format!("the study has no part `{part}`"), help));
    }
    let belongs = |of: &Option<String>| of.as_deref().is_none_or(|of| of == part);
    plan.runs.retain(|family| belongs(&family.part));
    plan.declared.retain(|choice| belongs(&choice.part));
    plan.sensitivity.retain(|headline| belongs(&headline.part));
    plan.pictures.retain(|picture| belongs(&picture.part));
    Ok(())
}

/// The rows of a part: those within its ranges, and what the study derives for it or for all.
///
/// # Errors
/// A range names a row that is not there.
pub fn only_rows(plan: &Plan, part: &str, rows: Vec<Row>) -> Result<Vec<Row>, Failure> {
    let place = |id: &String| {
        rows.iter().position(|row| row.id == *id).ok_or_else(|| {
            Failure::input(
                Code::Study,
                format!("part `{part}` names the row `{id}`, which is not there"),
                "fix `parts` in study.toml",
            )
        })
    };
    let ranges = plan.parts.get(part).into_iter().flatten();
    let ranges = ranges.map(|[first, last]| Ok(place(first)?..=place(last)?)).collect::<Result<Vec<_>, Failure>>()?;
    let derived = |row: &Row| plan.derived.iter().find(|derived| derived.id == row.id);
    let belongs = |(at, row): (usize, Row)| {
        let is_in = match derived(&row) {
            Some(derived) => derived.part.as_deref().is_none_or(|of| of == part),
            None => ranges.iter().any(|range| range.contains(&at)),
        };
        is_in.then_some(row)
    };
    Ok(rows.into_iter().enumerate().filter_map(belongs).collect())
}
