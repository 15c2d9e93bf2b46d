//! `trivium protocols`, `trivium machines`, `trivium machine`

use super::sim::told;
use crate::arguments::{Format, Listing, MachineArgs};
use crate::output::{self, Head, table};
use crate::{Failure, library};
use serde_json::{Value, json};
use trivium_sim::{BUILT_IN, Machine};

fn left(head: &[&str], rows: &[Vec<String>]) -> String {
    // All columns are words: pad them to the left.
    let widths: Vec<usize> = (0..head.len())
        .map(|i| rows.iter().map(|r| r[i].chars().count()).chain([head[i].len()]).max().unwrap_or(0))
        .collect();
    let padded: Vec<Vec<String>> =
        rows.iter().map(|r| r.iter().zip(&widths).map(|(c, w)| format!("{c:w$}")).collect()).collect();
    let head: Vec<String> = head.iter().zip(&widths).map(|(c, w)| format!("{c:w$}")).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    table(&head, &padded)
}

/// Lists the built-in protocols.
pub fn protocols(arguments: &Listing) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for name in library::protocol_names() {
        let protocol = library::protocol(&name, &[])?;
        let promises: Vec<String> = protocol.promises.iter().map(|p| protocol.promise_name(p)).collect();
        let about = protocol.about.lines().next().unwrap_or("").to_string();
        values.push(json!({ "name": name, "about": about, "promises": promises, "hash": library::hash(&protocol) }));
        rows.push(vec![name, promises.join(", "), about]);
    }
    let text = match arguments.common.format {
        Format::Text => left(&["protocol", "promises", "about"], &rows),
        Format::Json => {
            let head = Head { command: "protocols", seed: arguments.common.seed, ..Head::default() };
            output::pretty(&head.with(json!({ "list": values })))
        }
    };
    output::write(arguments.common.out.as_ref(), &text)?;
    Ok(0)
}

/// Lists the built-in machines.
pub fn machines(arguments: &Listing) -> Result<u8, Failure> {
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for (name, _) in BUILT_IN {
        let machine = Machine::load(name, &[]).map_err(|e| told(&e))?;
        values.push(json!({ "name": name, "about": machine.about }));
        rows.push(vec![name.to_string(), machine.about]);
    }
    let text = match arguments.common.format {
        Format::Text => left(&["machine", "about"], &rows),
        Format::Json => {
            let head = Head { command: "machines", seed: arguments.common.seed, ..Head::default() };
            output::pretty(&head.with(json!({ "list": values })))
        }
    };
    output::write(arguments.common.out.as_ref(), &text)?;
    Ok(0)
}

/// Prints a machine, overrides applied.
pub fn machine(arguments: &MachineArgs) -> Result<u8, Failure> {
    let name = &arguments.machine;
    let settings = library::settings(&arguments.common.set)?;
    // Validates the file and the overrides, with good messages.
    Machine::load(name, &settings.machine).map_err(|e| told(&e))?;
    let source = match trivium_sim::built_in(name) {
        Some(text) => text.to_string(),
        None => std::fs::read_to_string(name).map_err(|e| Failure::input(format!("{name} cannot be read: {e}"), ""))?,
    };
    let table = overridden(&source, &settings.machine)?;
    let text = match arguments.common.format {
        Format::Text if settings.machine.is_empty() => source,
        Format::Text => toml::to_string_pretty(&table).map_err(|e| Failure::input(e, ""))?,
        Format::Json => {
            let head = Head {
                command: "machine",
                machine: table.get("name").and_then(|n| n.as_str()).map(str::to_string),
                seed: arguments.common.seed,
                ..Head::default()
            };
            let values: Value = serde_json::to_value(&table).expect("TOML can be written as JSON");
            output::pretty(&head.with(json!({ "values": values })))
        }
    };
    output::write(arguments.common.out.as_ref(), &text)?;
    Ok(0)
}

fn overridden(source: &str, overrides: &[(String, String)]) -> Result<toml::Table, Failure> {
    let mut table: toml::Table = toml::from_str(source).map_err(|e| Failure::input(e, ""))?;
    for (key, text) in overrides {
        let value = toml::from_str::<toml::Table>(&format!("x = {text}"))
            .ok()
            .and_then(|mut t| t.remove("x"))
            .unwrap_or_else(|| toml::Value::String(text.clone()));
        let mut parts: Vec<&str> = key.split('.').collect();
        let last = parts.pop().unwrap_or_default();
        let mut inner = &mut table;
        for part in parts {
            let next = inner.get_mut(part).and_then(|v| v.as_table_mut());
            inner = next.ok_or_else(|| Failure::input(format!("there is no key `{key}`"), ""))?;
        }
        inner.insert(last.to_string(), value);
    }
    Ok(table)
}
