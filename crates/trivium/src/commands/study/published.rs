//! The published rows: a table with the columns `id, source, experiment, config, quantity, unit, value, note`.

use crate::{Failure, library};
use std::path::Path;
use trivium_diagnostic::Code;

/// A published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Its id.
    pub id: String,
    /// The source's table, figure or experiment.
    pub experiment: String,
    /// Of which machine or program.
    pub config: String,
    /// What it is.
    pub quantity: String,
    /// Its unit.
    pub unit: String,
    /// The figure.
    pub value: f64,
}

const COLUMNS: [&str; 8] = ["id", "source", "experiment", "config", "quantity", "unit", "value", "note"];

/// Reads all rows.
///
/// # Errors
/// The file cannot be read, or is not such a table.
pub fn read(path: &Path) -> Result<Vec<Published>, Failure> {
    let text = library::read_text(path, "table of published figures", "the study names it with `published`")?;
    let wrong = |line: usize, what: String| {
        let help = format!("the columns are {}, separated by commas", COLUMNS.join(", "));
        Failure::at(Code::Study, what, format!("{}:{line}", path.display()), help)
    };
    let mut rows = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let cells = cells(line).ok_or_else(|| wrong(number, "a quotation mark is not closed".into()))?;
        if number == 1 {
            if cells != COLUMNS {
                return Err(wrong(1, "the first line does not name the columns".into()));
            }
            continue;
        }
        let [id, _, experiment, config, quantity, unit, value, _] = &cells[..] else {
            return Err(wrong(number, format!("there are {} columns, not {}", cells.len(), COLUMNS.len())));
        };
        let value = value.parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.ok_or_else(|| wrong(number, format!("`{}` is not a number", cells[6])))?;
        let [id, experiment, config, quantity, unit] = [id, experiment, config, quantity, unit].map(String::clone);
        if let Some(at) = rows.iter().position(|row: &Published| row.id == id) {
            let what = format!("row `{id}` stands here and at line {}", at + 2);
            let help = "remove the one that is wrong: each row has an id of its own";
            return Err(Failure::at(Code::Study, what, format!("{}:{number}", path.display()), help));
        }
        rows.push(Published { id, experiment, config, quantity, unit, value });
    }
    Ok(rows)
}

/// The cells of a line; one that holds commas stands in quotation marks, which are doubled inside it.
fn cells(line: &str) -> Option<Vec<String>> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            other => cell.push(other),
        }
    }
    cells.push(cell);
    (!quoted).then_some(cells)
}

#[cfg(test)]
mod tests {
    use super::cells;

    #[test]
    fn a_cell_may_hold_commas_and_quotation_marks() {
        assert_eq!(cells("a,\"b, c\",,d").unwrap(), ["a", "b, c", "", "d"]);
        assert_eq!(cells("\"say \"\"so\"\"\"").unwrap(), ["say \"so\""]);
        assert!(cells("a,\"b").is_none());
    }
}
