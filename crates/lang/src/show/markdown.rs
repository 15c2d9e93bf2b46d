//! The same tables as Markdown.

use super::summary::*;
use super::text::{event_columns, facts, role_facts};
use std::fmt::Write;
use trivium_protocol::*;

/// The protocol as a Markdown page: its comment, what it claims, and one table for each role.
pub fn markdown(protocol: &Protocol) -> String {
    let mut text = format!("# {}\n", escape(&protocol.name));
    if !protocol.about.is_empty() {
        let _ = write!(text, "\n{}\n", escape_paragraph(&protocol.about));
    }
    let facts = facts(protocol);
    if !facts.is_empty() {
        let _ = write!(text, "\n| | |\n|---|---|\n");
    }
    for (name, lines) in facts {
        let lines: Vec<String> =
            lines.iter().map(|l| code(&l.split_whitespace().collect::<Vec<_>>().join(" "))).collect();
        let _ = writeln!(text, "| **{name}** | {} |", lines.join("<br>"));
    }
    for table in tables(protocol) {
        role(&mut text, protocol, &table);
    }
    text
}

fn role(text: &mut String, protocol: &Protocol, table: &Table) {
    let role = table.role;
    let kind = &protocol.objects[role.object.index()];
    let _ = write!(text, "\n## {} of {kind}, {}\n\n", escape(&role.name), lives(role));
    for fact in role_facts(protocol, role) {
        let _ = writeln!(text, "* {}", escape(&fact));
    }
    let blocks = role.object == BLOCK;
    let columns = event_columns(protocol, table);
    let events: Vec<&str> = columns.iter().map(|c| c[0][0].as_str()).collect();
    let lead = if blocks { "| state | access |" } else { "| state |" };
    let _ = writeln!(text, "\n{lead} {} |", events.join(" | "));
    let _ = writeln!(text, "{}{}", if blocks { "|---|---|" } else { "|---|" }, "---|".repeat(events.len()));
    for (s, state) in role.states.iter().enumerate() {
        let _ = write!(
            text,
            "| {} |",
            if state.waiting { format!("*{}*", escape(&state.name)) } else { format!("**{}**", escape(&state.name)) }
        );
        if blocks {
            let _ = write!(text, " {} |", access(role, state));
        }
        for column in &columns {
            let lines: Vec<String> = column[s + 1].iter().map(|l| escape(l.trim())).collect();
            let _ = write!(text, " {} |", lines.join("<br>"));
        }
        let _ = writeln!(text);
    }
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}

/// Text in a cell or a heading, where marks of Markdown mean nothing.
fn escape(text: &str) -> String {
    let mut made = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '#' | '\\') {
            made.push('\\');
        }
        made.push(c);
    }
    made
}

/// The comment of the file: its own lists and back ticks are Markdown already.
fn escape_paragraph(text: &str) -> String {
    text.replace('<', "&lt;")
}
