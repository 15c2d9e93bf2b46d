//! `trivium protocols`, `trivium machines`, `trivium machine`

use crate::arguments::{DEFAULT_SEED, Format, Listing, MachineArgs};
use crate::library::Settings;
use crate::output::{self, Head, table};
use crate::settings::ResultSettings;
use crate::{Failure, library};
use serde_json::{Value, json};
use trivium_diagnostic::Code;
use trivium_sim::BUILT_IN;

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
    let begun = std::time::Instant::now();
    let (mut rows, mut values, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for name in library::protocol_names() {
        let protocol = library::protocol(&name, &[])?;
        let promises = protocol.claim_names();
        let about = protocol.about.lines().next().unwrap_or("").to_string();
        values.push(json!({ "name": name, "about": about, "promises": promises }));
        hashes.push(library::hash(&protocol));
        rows.push(vec![name, promises.join(", "), about]);
    }
    let text = match arguments.form.format {
        Format::Text => left(&["protocol", "properties", "about"], &rows),
        Format::Json => {
            let host_seconds = begun.elapsed().as_secs_f64();
            let head = Head { command: "protocols", hashes, seed: DEFAULT_SEED, host_seconds, ..Head::default() };
            output::pretty(&head.with(json!({ "list": values })))
        }
    };
    output::write(arguments.form.out.as_ref(), &text)?;
    Ok(0)
}

/// Lists the built-in machines.
pub fn machines(arguments: &Listing) -> Result<u8, Failure> {
    let begun = std::time::Instant::now();
    let (mut rows, mut values, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for (name, _) in BUILT_IN {
        let loaded = library::machine(name, &Settings::default())?;
        values.push(json!({ "name": name, "about": loaded.machine.about }));
        hashes.push(library::machine_hash(&loaded));
        rows.push(vec![name.to_string(), loaded.machine.about]);
    }
    let text = match arguments.form.format {
        Format::Text => left(&["machine", "about"], &rows),
        Format::Json => {
            let host_seconds = begun.elapsed().as_secs_f64();
            let head = Head { command: "machines", hashes, seed: DEFAULT_SEED, host_seconds, ..Head::default() };
            output::pretty(&head.with(json!({ "list": values })))
        }
    };
    output::write(arguments.form.out.as_ref(), &text)?;
    Ok(0)
}

/// Lists the built-in programs.
pub fn programs(arguments: &Listing) -> Result<u8, Failure> {
    let begun = std::time::Instant::now();
    let (mut rows, mut values, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for (name, text) in super::program::built_in() {
        let about = about(text);
        values.push(json!({ "name": name, "about": about }));
        hashes.push((format!("program {name}"), library::hex(&[text.as_bytes()])));
        rows.push(vec![name.to_string(), about]);
    }
    let text = match arguments.form.format {
        Format::Text => left(&["program", "about"], &rows),
        Format::Json => {
            let host_seconds = begun.elapsed().as_secs_f64();
            let head = Head { command: "programs", hashes, seed: DEFAULT_SEED, host_seconds, ..Head::default() };
            output::pretty(&head.with(json!({ "list": values })))
        }
    };
    output::write(arguments.form.out.as_ref(), &text)?;
    Ok(0)
}

/// The first sentence of the comment at a program's head, which begins `NAME.c: `.
fn about(text: &str) -> String {
    let comment = text.trim_start().trim_start_matches("/*").split("*/").next().unwrap_or("");
    let words: Vec<&str> = comment.split_whitespace().filter(|word| *word != "*").collect();
    let words = words.join(" ");
    let said = words.split_once(": ").map_or(words.as_str(), |(_, said)| said);
    said.split(". ").next().unwrap_or("").trim_end_matches('.').to_string()
}

/// Prints a machine: what it is, with the keys of its base and overrides applied. A file that says all of that is printed as it is.
pub fn machine(arguments: &MachineArgs) -> Result<u8, Failure> {
    let begun = std::time::Instant::now();
    let settings = library::settings(&arguments.set.set)?.without_protocol()?;
    let loaded = library::machine(&arguments.machine, &settings)?;
    let table = overridden(&loaded.keys, &settings.machine)?;
    let text = match arguments.form.format {
        Format::Text if arguments.source || settings.machine.is_empty() && loaded.base.is_none() => loaded.text,
        Format::Text => {
            let whole = toml::to_string_pretty(&table).map_err(|e| Failure::input(Code::Usage, e, ""))?;
            match loaded.base {
                Some(base) => {
                    let name = &arguments.machine;
                    format!(
                        "# With the keys of its base, {base}. The file itself: trivium machine {name} --source\n\n{whole}"
                    )
                }
                None => whole,
            }
        }
        Format::Json => {
            let head = Head {
                command: "machine",
                machine: Some(loaded.machine.name.clone()),
                hashes: vec![library::machine_hash(&loaded)],
                seed: DEFAULT_SEED,
                host_seconds: begun.elapsed().as_secs_f64(),
                settings: ResultSettings::new([], &settings),
                ..Head::default()
            };
            let values: Value = serde_json::to_value(&table).expect("TOML can be written as JSON");
            output::pretty(&head.with(json!({ "values": values })))
        }
    };
    output::write(arguments.form.out.as_ref(), &text)?;
    Ok(0)
}

fn overridden(keys: &toml::Table, overrides: &[(String, String)]) -> Result<toml::Table, Failure> {
    let mut table = keys.clone();
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
            inner = next.ok_or_else(|| Failure::input(Code::Usage, format!("there is no key `{key}`"), ""))?;
        }
        inner.insert(last.to_string(), value);
    }
    Ok(table)
}
