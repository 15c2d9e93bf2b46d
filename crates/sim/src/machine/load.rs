//! Machines by name or from a file, with overrides, and errors that point into the file.

use crate::machine::price::Prices;
use crate::machine::{Machine, handlers, overlays};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use std::iter::successors;
use std::path::Path;
use toml::{Table, Value};
use trivium_diagnostic::{Code, Diagnostic};

/// The machines that are built in: name and text.
pub const BUILT_IN: [(&str, &str); 11] = [
    ("simple-coma", include_str!("../../../../machines/simple-coma.toml")),
    ("typhoon", include_str!("../../../../machines/typhoon.toml")),
    ("typhoon-2x", include_str!("../../../../machines/typhoon-2x.toml")),
    ("typhoon-4x", include_str!("../../../../machines/typhoon-4x.toml")),
    ("typhoon-1", include_str!("../../../../machines/typhoon-1.toml")),
    ("typhoon-0", include_str!("../../../../machines/typhoon-0.toml")),
    ("typhoon-0-prototype", include_str!("../../../../machines/typhoon-0-prototype.toml")),
    ("now", include_str!("../../../../machines/now.toml")),
    ("flash", include_str!("../../../../machines/flash.toml")),
    ("flash-craylink", include_str!("../../../../machines/flash-craylink.toml")),
    ("m-machine", include_str!("../../../../machines/m-machine.toml")),
];

/// Where the keys of machines are explained.
const SEE: &str = "`trivium machine typhoon` shows a machine with all its keys, docs/machines.md explains them";

/// The text of a built-in machine.
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|machine| machine.0 == name).map(|machine| machine.1)
}

impl Machine {
    /// The machine of a name (built in) or path (ending in `.toml`), changed by overrides
    /// `("network.latency", "500")` as `--set machine.network.latency=500` gives them.
    ///
    /// # Errors
    /// What is missing, misspelt, negative or out of range, with its place in the file.
    pub fn load(name: &str, overrides: &[(String, String)]) -> Result<Machine, Diagnostic> {
        if let Some(text) = built_in(name) {
            return Machine::parse(&format!("machines/{name}.toml"), text, overrides);
        }
        if let Some(text) = overlays::of_name(name) {
            return Machine::parse(name, &text, overrides);
        }
        if !name.ends_with(".toml") {
            let names: Vec<_> = BUILT_IN.iter().map(|machine| machine.0).collect();
            let near = nearest(name, &names).map_or(String::new(), |near| format!("did you mean `{near}`? "));
            return Err(Diagnostic::new(Code::Machine, format!("there is no machine `{name}`"))
                .help(format!("{near}there are {}, and files ending in .toml", names.join(", "))));
        }
        let text = trivium_files::read_text(Path::new(name)).map_err(|unread| {
            let place = unread.line.map_or(name.to_string(), |line| format!("{name}:{line}"));
            let help = match unread.line {
                Some(_) => trivium_files::SAVE_AS_TEXT,
                None => "give a name that `trivium machines` lists, or the path of a .toml file",
            };
            Diagnostic::new(Code::Machine, format!("the machine cannot be read: {unread}")).at(place).help(help)
        })?;
        Machine::parse(name, &text, overrides)
    }

    /// The machine of a TOML text; `file` is for messages.
    ///
    /// # Errors
    /// As [`Machine::load`].
    pub fn parse(file: &str, text: &str, overrides: &[(String, String)]) -> Result<Machine, Diagnostic> {
        let mut table = whole(file, text)?;
        if !table_of(file, text)?.contains_key("base") {
            toml::from_str::<Machine>(text).map_err(|error| explain(&error, file, text))?;
        }
        // What is wrong now lies in this file, since a base is right; where, only its key can tell, or which of its keys alone is wrong.
        let mut machine = Machine::try_from_table(&table).map_err(|error| {
            let place = place_of_name(text, &error.message).or_else(|| place_of_wrong_key(file, text));
            error.at(place.map_or(file.to_string(), |(line, column)| format!("{file}:{line}:{column}")))
        })?;
        check_times(&table).and_then(|()| machine.validate()).map_err(|error| {
            let place = place_of_key(text, &error.message)
                .map_or(file.to_string(), |(line, column)| format!("{file}:{line}:{column}"));
            help_if_none(error.at(place))
        })?;
        if overrides.is_empty() {
            machine.locate_handlers(file, text);
            return Ok(machine);
        }
        for (key, value) in overrides {
            set(&mut table, key, value)?;
            let changed =
                Machine::try_from_table(&table).map_err(|error| error.at(format!("--set machine.{key}={value}")))?;
            check_times(&table)
                .and_then(|()| changed.validate())
                .map_err(|error| help_if_none(error.at(format!("--set machine.{key}={value}"))))?;
        }
        machine = Machine::try_from_table(&table)?;
        machine.locate_handlers(file, text);
        for (key, value) in overrides {
            let said = handlers::all_mut(&mut machine.handlers).filter(|(of, _)| key.starts_with(of.as_str()));
            said.for_each(|(_, price)| price.place = Some(format!("--set machine.{key}={value}")));
        }
        Ok(machine)
    }

    /// Where the file gives the prices of handlers, so that one that a protocol does not have is told with its line.
    fn locate_handlers(&mut self, file: &str, text: &str) {
        for (key, price) in handlers::all_mut(&mut self.handlers) {
            let place = place_of_key(text, &format!("`{key}`"));
            price.place = Some(place.map_or(file.to_string(), |(line, column)| format!("{file}:{line}:{column}")));
        }
    }

    fn try_from_table(table: &Table) -> Result<Machine, Diagnostic> {
        let mut machine: Machine = of_table(table)?;
        machine.calls = calls(table)?;
        Ok(machine)
    }
}

/// Where to look, for an error that does not say what to do.
fn help_if_none(error: Diagnostic) -> Diagnostic {
    if error.help.is_some() { error } else { error.help(SEE) }
}

/// What a table says.
fn of_table<T: DeserializeOwned>(table: &Table) -> Result<T, Diagnostic> {
    let text = toml::to_string(table).map_err(|error| Diagnostic::new(Code::Machine, error.to_string()))?;
    toml::from_str(&text).map_err(|error| {
        let explained = explain(&error, "", &text);
        Diagnostic { places: Vec::new(), ..explained }
    })
}

/// The price list of calls: that of the engine, with what the machine's file gives for calls laid over it.
fn calls(table: &Table) -> Result<Option<Prices>, Diagnostic> {
    let Some(own) = table.get(CALLS) else { return Ok(None) };
    let (Value::Table(own), Some(Value::Table(prices))) = (own, table.get("prices")) else {
        return Err(Diagnostic::new(Code::Machine, "wrong type: `calls` is not a table of prices").help(SEE));
    };
    let mut whole = prices.clone();
    lay_over(&mut whole, own.clone());
    of_table(&whole).map(Some)
}

/// A value that is made later, out of more than itself.
pub(super) fn later<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Prices>, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| None)
}

/// The tables whose numbers are times of single steps.
const TIMES: [&str; 9] =
    ["processor", "bus", "access_control", "interface", "pipeline", "slots", "prices", CALLS, HANDLERS];

/// Such a time is at most so many cycles, so that sums of them, however scaled, are far below 2^64.
const LONGEST: i64 = 1 << 24;

/// No time of a single step is out of all proportion.
fn check_times(table: &Table) -> Result<(), Diagnostic> {
    let times = |name: &&str| table.get(*name).map(|value| (name.to_string(), value));
    TIMES.iter().filter_map(times).try_for_each(|(name, value)| check_time(&name, value))
}

fn check_time(key: &str, value: &Value) -> Result<(), Diagnostic> {
    match value {
        Value::Integer(cycles) if *cycles > LONGEST => {
            Err(Diagnostic::new(Code::Machine, format!("`{key}` is {cycles}, which is not from 0 to {LONGEST}")))
        }
        Value::Table(inner) if inner.contains_key("once") => Err(Diagnostic::new(
            Code::Machine,
            format!("`{key}.once` is not in a part of a price, where it would mean something"),
        )),
        Value::Table(inner) => inner.iter().try_for_each(|(name, value)| check_time(&format!("{key}.{name}"), value)),
        Value::Array(parts) => parts.iter().try_for_each(|part| check_part(key, part)),
        _ => Ok(()),
    }
}

fn check_part(key: &str, part: &Value) -> Result<(), Diagnostic> {
    let Value::Table(part) = part else { return check_time(key, part) };
    part.iter().try_for_each(|(name, value)| check_time(&format!("{key}.{name}"), value))
}

pub(super) fn table_of(file: &str, text: &str) -> Result<Table, Diagnostic> {
    toml::from_str(text).map_err(|error| explain(&error, file, text))
}

/// All keys of a machine's text: those of its `base`, if it names one, or those of a machine and overlays, replaced and added to by its own.
///
/// # Errors
/// The text is no TOML, its base is not built in, or does not fit together.
pub fn whole(file: &str, text: &str) -> Result<Table, Diagnostic> {
    let mut own = table_of(file, text)?;
    let Some(base) = own.remove("base") else { return Ok(own) };
    if let Value::Array(names) = &base {
        // A machine that its name puts together has no file.
        let place = if file.ends_with(".toml") { place_of_base(file, text) } else { format!("--machine {file}") };
        let mut table = overlays::put_together(names).map_err(|error| error.at(place))?;
        lay_over(&mut table, own);
        return Ok(table);
    }
    let named = base.as_str().and_then(|name| built_in(name).map(|text| (name, text)));
    let Some((name, base_text)) = named else {
        let names: Vec<_> = BUILT_IN.iter().map(|machine| machine.0).collect();
        return Err(Diagnostic::new(Code::Machine, format!("there is no machine {base} to begin from"))
            .at(place_of_base(file, text))
            .help(format!("`base` names a machine that is built in: {}", names.join(", "))));
    };
    let mut table = whole(&format!("machines/{name}.toml"), base_text)?;
    lay_over(&mut table, own);
    Ok(table)
}

/// Where a text names its base.
fn place_of_base(file: &str, text: &str) -> String {
    let (line, column) = place_of_name(text, "`base`").unwrap_or((1, 1));
    format!("{file}:{line}:{column}")
}

/// Tables are merged key by key, except prices, which are replaced whole.
pub(super) fn lay_over(table: &mut Table, own: Table) {
    for (key, value) in own {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) if !is_price(below) => lay_over(below, above),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Whether a table is the price of something, and not a list of prices.
fn is_price(table: &Table) -> bool {
    let is_said = |key| table.get(key).is_some_and(Value::is_str);
    table.contains_key("cycles") || is_said("id") || is_said("source")
}

/// The price list of calls.
const CALLS: &str = "calls";

/// The prices of single handlers.
const HANDLERS: &str = "handlers";

/// The tables that a machine's file may leave out.
const OPTIONAL: [&[&str]; 4] = [&["barrier"], &[CALLS], &[HANDLERS], &["processor", "operators"]];

/// Tables that a machine has whole or not at all.
const WHOLE: [&str; 5] = ["tlb", "rtlb", "gtlb", "pipeline", "slots"];

/// Puts a value at a dotted path, of the type that it reads as.
fn set(table: &mut Table, key: &str, value: &str) -> Result<(), Diagnostic> {
    let place = format!("--set machine.{key}={value}");
    let parsed = format!("v = {value}").parse::<Table>().ok().and_then(|mut t| t.remove("v"));
    let parsed = parsed.unwrap_or_else(|| Value::String(value.to_string()));
    let mut steps: Vec<&str> = key.split('.').collect();
    let last = steps.pop().filter(|last| !last.is_empty()).ok_or_else(|| {
        Diagnostic::new(Code::Machine, "the key is empty")
            .at(&place)
            .help("write a key that `trivium machine M` shows, as in `machine.network.latency`")
    })?;
    let mut table = table;
    for (depth, step) in steps.iter().copied().enumerate() {
        // All of a price list may be left out that is laid over another one; what is no price is refused afterwards.
        if OPTIONAL.contains(&&steps[..=depth]) || [CALLS, HANDLERS].contains(&steps[0]) {
            table.entry(step).or_insert_with(|| Value::Table(Table::new()));
        }
        let names: Vec<String> = table.keys().cloned().collect();
        table = match table.get_mut(step) {
            Some(Value::Table(inner)) => inner,
            _ => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                if names.contains(&step) {
                    let what = format!("`{step}` has a value and no keys of its own");
                    return Err(Diagnostic::new(Code::Machine, what).at(place).help("leave out what follows it"));
                }
                let near = nearest(step, &names)
                    .map_or(format!("there are {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
                let help = match WHOLE.contains(&step) {
                    true => format!(
                        "give all of its keys at once: `--set 'machine.{step}={{ {last} = {value}, .. }}'`; docs/machines.md has them"
                    ),
                    false => near,
                };
                return Err(Diagnostic::new(Code::Machine, format!("the machine has no table `{step}`"))
                    .at(place)
                    .help(help));
            }
        };
    }
    table.insert(last.to_string(), parsed);
    Ok(())
}

/// A TOML error as ours, with place and remedy.
fn explain(error: &toml::de::Error, file: &str, text: &str) -> Diagnostic {
    let message = error.message().trim().replace('\n', ", ");
    let place = match error.span() {
        Some(span) => {
            let (line, column) = line_and_column(text, span.start);
            format!("{file}:{line}:{column}")
        }
        None => file.to_string(),
    };
    let explained = Diagnostic::new(Code::Machine, plain(&message)).at(place);
    match remedy(&message) {
        Some(help) => explained.help(help),
        None => explained,
    }
}

/// serde's message in the words of someone who writes a machine.
fn plain(message: &str) -> String {
    let (what, expected) = match message.split_once(", expected ") {
        Some((what, expected)) => (what, Some(expected)),
        None => (message, None),
    };
    let words = what.replace("unknown field", "unknown key").replace("missing field", "missing key");
    let words = words.replace("unknown variant", "unknown value").replace("invalid type: ", "wrong type: ");
    let words =
        words.replace("invalid value: integer", "wrong value:").replace("invalid value: string", "wrong value:");
    match expected {
        Some("u64" | "u32") => format!("{words}, a whole number that is not negative is expected"),
        Some(kind) if kind.starts_with("struct ") => format!("{words}, a table with keys of its own is expected"),
        // The names that are known stand in the remedy.
        Some(_) if message.starts_with("unknown") => words,
        Some(kind) => format!("{words}, {kind} is expected"),
        None => words,
    }
}

/// What to do about serde's message.
fn remedy(message: &str) -> Option<String> {
    let words: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        let (unknown, known) = words.split_first()?;
        return Some(match nearest(unknown, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None if message.starts_with("unknown variant") => format!("it can be {}", known.join(", ")),
            None => format!("the keys here are {}", known.join(", ")),
        });
    }
    if message.starts_with("missing field") {
        return Some(format!("add `{} = ..` to this table; docs/machines.md says what it means", words.first()?));
    }
    if message.contains("expected struct") {
        return Some("set the keys in this table, as in `network.latency = 100`".into());
    }
    Some(SEE.into())
}

/// Where the key named in `what` is set, for errors found after parsing; if it is not set here, the table that it belongs to.
fn place_of_key<'a>(text: &str, what: &'a str) -> Option<(usize, usize)> {
    let path = what.split('`').nth(1)?;
    for (dot, _) in path.rmatch_indices('.') {
        let (table, keys) = (&path[..dot], &path[dot + 1..]);
        // The key may be written with its dots, and its last parts may be inside of a value.
        let shorter = |key: &&'a str| key.rsplit_once('.').map(|(shorter, _)| shorter);
        if let Some(place) = successors(Some(keys), shorter).find_map(|key| place_in_table(text, table, key)) {
            return Some(place);
        }
        let header = text.lines().position(|line| line.trim().starts_with(&format!("[{table}]")));
        if let Some(number) = header {
            return Some((number + 1, 1));
        }
    }
    None
}

/// Where a key of a table is set.
fn place_in_table(text: &str, table: &str, key: &str) -> Option<(usize, usize)> {
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with('[') {
            inside = trimmed.starts_with(&format!("[{table}]"));
        } else if inside && trimmed.split('=').next().is_some_and(|name| name.trim() == key) {
            return Some((number + 1, line.len() - line.trim_start().len() + 1));
        }
    }
    None
}

/// Where the first key of a file is set that its base does not stand, even alone.
fn place_of_wrong_key(file: &str, text: &str) -> Option<(usize, usize)> {
    let mut own = table_of(file, text).ok()?;
    let base = match own.remove("base")? {
        Value::Array(names) => overlays::put_together(&names).ok()?,
        name => whole(file, built_in(name.as_str()?)?).ok()?,
    };
    let mut paths = Vec::new();
    leaves(&own, "", &mut paths);
    let is_wrong = |(path, value): &&(String, Value)| {
        let alone = path
            .rsplit('.')
            .fold(value.clone(), |value, key| Value::Table(Table::from_iter([(key.to_string(), value)])));
        let mut table = base.clone();
        if let Value::Table(alone) = alone {
            lay_over(&mut table, alone);
        }
        Machine::try_from_table(&table).is_err()
    };
    let (path, _) = paths.iter().find(is_wrong)?;
    place_of_key(text, &format!("`{path}`"))
}

/// All values of a table that are no tables themselves, with their dotted keys.
pub(super) fn leaves(table: &Table, above: &str, into: &mut Vec<(String, Value)>) {
    for (key, value) in table {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Value::Table(inner) => leaves(inner, &path, into),
            value => into.push((path, value.clone())),
        }
    }
}

/// Where a key named in `what` is set first, whatever its table.
fn place_of_name(text: &str, what: &str) -> Option<(usize, usize)> {
    let key = what.split('`').nth(1)?;
    let is_set = |line: &str| line.split('=').next().is_some_and(|name| name.trim() == key);
    let (number, line) = text.lines().enumerate().find(|(_, line)| line.contains('=') && is_set(line))?;
    Some((number + 1, line.len() - line.trim_start().len() + 1))
}

/// Line and column, from 1, of a byte.
fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// The name that differs least, if it differs little.
pub(crate) fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let best = names.iter().map(|known| (distance(name, known), *known)).min()?;
    (best.0 <= 1 + name.len() / 4).then_some(best.1)
}

/// Edits (insert, delete, replace) between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
