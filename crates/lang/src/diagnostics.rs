//! What is wrong with a protocol's text: place, cause, remedy.

use std::fmt;
use trivium_protocol::source::{SourceMap, Span, printable};

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to do about it.
    pub help: Option<String>,
}

/// All the mistakes found in one run, in the order of the text.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The text they are about.
    pub sources: SourceMap,
    /// The mistakes; never empty when this is returned as an error.
    pub list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// An empty collection over a text.
    pub fn new(sources: SourceMap) -> Diagnostics {
        Diagnostics { sources, list: Vec::new() }
    }

    /// Notes a mistake.
    pub fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.list.push(Diagnostic { message: message.into(), span, help: None });
        self.list.last_mut().expect("just pushed")
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Puts the mistakes in the order of the text and drops repetitions.
    pub fn finish(&mut self) {
        self.list.sort_by(|a, b| (a.span.file, a.span.start, &a.message).cmp(&(b.span.file, b.span.start, &b.message)));
        self.list.dedup_by(|a, b| a.span == b.span && a.message == b.message);
    }
}

impl Diagnostic {
    /// Adds what to do about it.
    pub fn help(&mut self, help: impl Into<String>) {
        self.help = Some(help.into());
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.list.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            render(f, &self.sources, diagnostic)?;
        }
        Ok(())
    }
}

fn render(f: &mut fmt::Formatter<'_>, sources: &SourceMap, d: &Diagnostic) -> fmt::Result {
    let place = sources.place(d.span);
    let line = printable(sources.line(d.span));
    let number = place.line.to_string();
    let margin = " ".repeat(number.len());
    let lead: String =
        line.chars().take(place.column as usize - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let rest = line.chars().count().saturating_sub(place.column as usize - 1).max(1);
    let width = sources.excerpt(d.span).lines().next().unwrap_or("").chars().count().clamp(1, rest);
    writeln!(f, "error: {}", printable(&d.message))?;
    writeln!(f, "{margin}--> {}", printable(&place.to_string()))?;
    writeln!(f, "{margin} |")?;
    writeln!(f, "{number} | {line}")?;
    writeln!(f, "{margin} | {lead}{}", "^".repeat(width))?;
    if let Some(help) = &d.help {
        writeln!(f, "help: {help}")?;
    }
    Ok(())
}

/// `1 argument`, `2 arguments`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
