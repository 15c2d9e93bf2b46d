//! Results: to standard output or whole into a file; text or JSON with the head that all results share.

use crate::Failure;
pub use crate::out_file::write_file;
use crate::settings::ResultSettings;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use trivium_diagnostic::Code;
use trivium_sim::Stood;

/// Version of the result format.
pub const SCHEMA: u32 = 1;

/// So many nodes are told one by one.
pub const SHOWN: usize = 8;

/// The keys with which every JSON result begins.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The command.
    pub command: &'static str,
    /// Names of protocols.
    pub protocols: Vec<String>,
    /// Name of the machine, if there is one.
    pub machine: Option<String>,
    /// The program, if there is one.
    pub program: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Hashes of what was read, by name, in order.
    pub hashes: Vec<(String, String)>,
    /// Number of nodes.
    pub nodes: u32,
    /// The seed.
    pub seed: u64,
    /// Host time in seconds: the only key that differs between two runs.
    pub host_seconds: f64,
    /// What it was made with, besides nodes and seed.
    pub settings: ResultSettings,
}

impl Head {
    /// The head, followed by the keys of the result.
    pub fn with(&self, body: Value) -> Value {
        let mut map = Map::new();
        map.insert("schema".into(), json!(SCHEMA));
        map.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
        map.insert("command".into(), json!(self.command));
        map.insert("protocols".into(), json!(self.protocols));
        map.insert("machine".into(), json!(self.machine));
        map.insert("program".into(), json!(self.program));
        map.insert("args".into(), json!(self.args));
        let hashes: Map<String, Value> = self.hashes.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        map.insert("hashes".into(), Value::Object(hashes));
        map.insert("nodes".into(), json!(self.nodes));
        map.insert("seed".into(), json!(self.seed));
        map.insert("host_seconds".into(), json!(self.host_seconds));
        map.insert("settings".into(), self.settings.value(self.nodes, self.seed));
        if let Value::Object(body) = body {
            map.extend(body);
        }
        Value::Object(map)
    }
}

/// What `--format json` prints where there is no result.
pub fn in_place_of_result(failure: &Failure) -> Value {
    json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "exit_code": failure.code,
        "diagnostics": failure.errors,
    })
}

/// Writes a result to standard output, or whole into a file. One that cannot be written into its file goes to standard
/// output: it may have taken long.
///
/// # Errors
/// The file cannot be written, or standard output. A closed standard output (`| head`) is no error.
pub fn write(out: Option<&PathBuf>, text: &str) -> Result<(), Failure> {
    WRITTEN.store(true, Ordering::Relaxed);
    let Some(path) = out else { return print(text) };
    write_file(path, text.as_bytes()).inspect_err(|_| {
        let _ = print(text);
    })
}

/// Whether a result has been written.
pub fn has_written() -> bool {
    WRITTEN.load(Ordering::Relaxed)
}

static WRITTEN: AtomicBool = AtomicBool::new(false);

fn print(text: &str) -> Result<(), Failure> {
    printed(std::io::stdout().lock().write_all(text.as_bytes()))
}

/// What was printed has arrived.
///
/// # Errors
/// Standard output cannot be written. That its reader has gone (`| head`) is no error.
pub fn printed(written: std::io::Result<()>) -> Result<(), Failure> {
    match written.and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            let what = format!("standard output cannot be written: {}", error.kind());
            Err(Failure::input(Code::File, what, "is there room where it goes?"))
        }
        _ => Ok(()),
    }
}

/// How many columns the terminal has on which results are printed, if they are.
pub fn columns() -> Option<usize> {
    let (terminal_size::Width(columns), _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(columns))
}

/// A report as it is printed on a terminal: verdicts in colour.
pub fn write_report(out: Option<&PathBuf>, text: &str) -> Result<(), Failure> {
    match out.is_none() && crate::colour::is_on(&std::io::stdout()) {
        true => print(&crate::colour::painted(text)),
        false => write(out, text),
    }
}

/// JSON as results are written: indented, with a line feed at the end.
pub fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a JSON value can be written");
    text.push('\n');
    text
}

/// Where programs stood, a line each.
pub fn stood_lines(stood: &[Stood]) -> Vec<String> {
    let line = |stood: &Stood| {
        let cycle = stood.cycle.map_or(String::new(), |cycle| format!(", cycle {}", grouped(cycle)));
        format!("node {}{cycle}: {}", stood.node, stood.text())
    };
    let mut lines: Vec<String> = stood.iter().take(SHOWN).map(line).collect();
    if stood.len() > SHOWN {
        lines.push(format!("(and {} more nodes, which --format json tells)", stood.len() - SHOWN));
    }
    lines
}

/// A table for people: columns aligned, the first to the left, others to the right.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let columns = head.len();
    let mut widths: Vec<usize> = head.iter().map(|h| h.chars().count()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String]| {
        let mut text = String::new();
        for (i, cell) in cells.iter().take(columns).enumerate() {
            let gap = " ".repeat(widths[i].saturating_sub(cell.chars().count()));
            if i > 0 {
                text.push_str("  ");
            }
            text.push_str(&if i == 0 { format!("{cell}{gap}") } else { format!("{gap}{cell}") });
        }
        format!("{}\n", text.trim_end())
    };
    let head: Vec<String> = head.iter().map(|h| h.to_string()).collect();
    let rule = format!("{}\n", "-".repeat(widths.iter().sum::<usize>() + 2 * (columns - 1)));
    let body: String = rows.iter().map(|row| line(row)).collect();
    format!("{}{rule}{body}", line(&head))
}

/// A text with spaces behind it. (Rust's own padding panics beyond 65,535 characters, and a cell of a file may be longer.)
pub fn padded_to(width: usize, text: &str) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.chars().count())))
}

/// Which messages have blocked receive queues: by kind how many stalled, for how long, in `unit`, and how many they kept back. Nothing if none did.
pub fn stall_lines(kinds: impl Iterator<Item = (String, [u64; 3])>, unit: &str) -> String {
    let lines: Vec<String> = kinds
        .map(|(name, [stalled, time, kept])| {
            format!("{name}: {} for {} {unit}, and kept back {}", grouped(stalled), grouped(time), grouped(kept))
        })
        .collect();
    let head = |at: usize| if at == 0 { "stalled" } else { "" };
    lines.iter().enumerate().map(|(at, line)| format!("{:<14}{line}\n", head(at))).collect()
}

/// A number with thousands separated, for tables.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
