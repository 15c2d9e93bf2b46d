//! Who is to blame for misses, as tables.

use crate::output::{grouped, table};
use trivium_sim::{Blamed, Kinds, LineBlame};

/// So many lines are told.
const LINES: usize = 12;

/// The names of kinds of misses.
pub const KINDS: [&str; 4] = ["cold", "capacity", "true sharing", "false sharing"];

/// The numbers of kinds of misses, in the order of their names.
pub fn numbers(kinds: &Kinds) -> [u64; 4] {
    [kinds.cold, kinds.capacity, kinds.true_sharing, kinds.false_sharing]
}

/// The place of a line.
pub fn place(line: &LineBlame) -> String {
    match (&line.file, line.line) {
        (Some(file), Some(number)) => format!("{file}:{number} in {}", line.function),
        _ => format!("in {}", line.function),
    }
}

/// Allocations, lines, and what is falsely shared.
pub fn text(blamed: &Blamed) -> String {
    let head = |first| [&[first][..], &KINDS, &["messages", "stall cycles"]].concat();
    let row = |name: String, kinds: &Kinds, messages: u64, stall: u64| {
        let all = numbers(kinds).into_iter().chain([messages, stall]).map(grouped);
        [name].into_iter().chain(all).collect::<Vec<String>>()
    };
    let allocations: Vec<Vec<String>> = blamed
        .allocations
        .iter()
        .map(|of| row(of.name.clone(), &of.kinds, of.messages, of.stall))
        .chain([row("all".into(), &blamed.kinds, total_messages(blamed), total_stall(blamed))])
        .collect();
    let lines: Vec<Vec<String>> = blamed
        .lines
        .iter()
        .take(LINES)
        .map(|of| row(format!("{}, {}", place(of), of.allocation), &of.kinds, of.messages, of.stall))
        .collect();
    let mut out = format!("\n{}", table(&head("misses by allocation"), &allocations));
    if !lines.is_empty() {
        out += &format!("\n{}", table(&head("misses by line"), &lines));
    }
    if blamed.lines.len() > LINES {
        out += &format!("(+{} lines: --format json has all)\n", blamed.lines.len() - LINES);
    }
    for of in &blamed.allocations {
        if let Some(worst) = of.falsely_shared.first() {
            let parts: Vec<String> = worst
                .parts
                .iter()
                .take(4)
                .map(|part| {
                    format!("bytes {} to {}: {}", part.from, part.to - 1, users(&part.read_by, &part.written_by))
                })
                .collect();
            let more = if worst.parts.len() > 4 { "; ..." } else { "" };
            out += &format!("\n`{}` is falsely shared, most of all at {}{more}\n", of.name, parts.join("; "));
        }
    }
    out
}

fn total_messages(blamed: &Blamed) -> u64 {
    blamed.allocations.iter().map(|of| of.messages).sum::<u64>() + blamed.other_messages
}

fn total_stall(blamed: &Blamed) -> u64 {
    blamed.allocations.iter().map(|of| of.stall).sum()
}

/// Which nodes load something, and which store to it.
pub fn users(read_by: &[u16], written_by: &[u16]) -> String {
    let list = |nodes: &[u16]| nodes.iter().map(u16::to_string).collect::<Vec<_>>().join(" ");
    match (read_by.is_empty(), written_by.is_empty()) {
        (false, false) => format!("loaded by {}, stored to by {}", list(read_by), list(written_by)),
        (false, true) => format!("loaded by {}", list(read_by)),
        _ => format!("stored to by {}", list(written_by)),
    }
}
