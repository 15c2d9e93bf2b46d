//! Small mistakes in a protocol's text, one at a time: a statement or a clause less, a condition that always or never holds,
//! a part of a condition less, another access. To ask whether every line is needed (`docs/checking.md`).
//!
//! A mistake is a change of the text, so that what is made of it is a protocol like any other, with the lines where they were.

use crate::ast::*;
use crate::compile::{NO_SUCH_FILE, Options, compile, read};
use trivium_diagnostic::Diagnostics;
use trivium_protocol::Protocol;
use trivium_protocol::source::{SourceMap, Span};

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The words that are changed.
    pub span: Span,
    /// What stands there instead: nothing where they are deleted.
    pub with: String,
    /// Whether only a check is lost: an assertion, or an answer `impossible`. Of what holds, that changes nothing.
    pub only_checks: bool,
    /// Whether words that stand there instead make it a fault to come by: so one learns whether anything does.
    pub probe: Option<&'static str>,
}

/// The mistakes that can be made in a protocol and the files that it uses, in the order of the text.
///
/// # Errors
/// What is wrong with the text.
pub fn mutations(sources: &SourceMap) -> Result<Vec<Mutation>, Diagnostics> {
    let found = |name: &str| sources.files().find(|(known, _)| *known == name);
    let load = |name: &str| found(name).map(|(_, text)| text.to_string()).ok_or_else(|| NO_SUCH_FILE.to_string());
    let options = Options { params: Vec::new(), load: Some(&load) };
    let (file, sources) = read(sources.name(0), sources.text(0), &options)?;
    let mut finder = Finder { sources: &sources, found: Vec::new() };
    for item in &file.items {
        match item {
            Item::Role(role) => finder.role(role),
            Item::Op { body: Some(body), .. } => finder.body(body),
            _ => {}
        }
    }
    let mut found = finder.found;
    found.sort_by(|a, b| {
        let place = |m: &Mutation| (m.span.file, m.span.start, std::cmp::Reverse(m.span.end));
        place(a).cmp(&place(b)).then_with(|| a.with.cmp(&b.with))
    });
    found.dedup_by(|a, b| (a.span, &a.with) == (b.span, &b.with));
    Ok(found)
}

/// The protocol with a mistake. What is deleted leaves its ends of lines.
///
/// # Errors
/// Why it is none.
pub fn mutant(sources: &SourceMap, mutation: &Mutation, params: &[(String, i64)]) -> Result<Protocol, Diagnostics> {
    changed(sources, mutation.span, &mutation.with, params)
}

/// The protocol in which it is a fault to come by the words of a mistake, if they are a statement.
pub fn probe(sources: &SourceMap, mutation: &Mutation, params: &[(String, i64)]) -> Option<Protocol> {
    changed(sources, mutation.span, mutation.probe?, params).ok()
}

/// The text of one file with other words at a place.
pub fn with_change(sources: &SourceMap, span: Span, with: &str) -> String {
    let text = sources.text(span.file);
    let (start, end) = (span.start as usize, span.end as usize);
    let lines = "\n".repeat(text[start..end].matches('\n').count());
    format!("{}{with}{lines}{}", &text[..start], &text[end..])
}

fn changed(sources: &SourceMap, span: Span, with: &str, params: &[(String, i64)]) -> Result<Protocol, Diagnostics> {
    let changed = with_change(sources, span, with);
    let text = |(n, (_, text)): (usize, (&str, &str))| {
        if n == usize::from(span.file) { changed.clone() } else { text.to_string() }
    };
    let found = |name: &str| sources.files().enumerate().find(|(_, (known, _))| *known == name);
    let load = |name: &str| found(name).map(text).ok_or_else(|| NO_SUCH_FILE.to_string());
    let options = Options { params: params.to_vec(), load: Some(&load) };
    let main = sources.files().enumerate().next().map(text).unwrap_or_default();
    compile(sources.name(0), &main, &options)
}

impl Mutation {
    /// What was done, in one line: `without `resume``, ``n == 2` becomes `true``.
    pub fn describe(&self, sources: &SourceMap) -> String {
        let words = shortened(sources.excerpt(self.span));
        if self.with.is_empty() {
            format!("without `{words}`")
        } else {
            format!("`{words}` becomes `{}`", self.with.trim())
        }
    }
}

/// Most characters of a statement that are told.
const MOST_TOLD: usize = 60;

/// A text on one line, cut off where it is long.
fn shortened(text: &str) -> String {
    let uncommented = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words: Vec<&str> = uncommented.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    let line = line.trim_end_matches(';');
    if line.chars().count() <= MOST_TOLD {
        return line.to_string();
    }
    let cut: String = line.chars().take(MOST_TOLD - 3).collect();
    format!("{}...", cut.trim_end())
}

/// Looks for what can be changed.
struct Finder<'s> {
    sources: &'s SourceMap,
    found: Vec<Mutation>,
}

impl Finder<'_> {
    fn note(&mut self, span: Span, with: &str, only_checks: bool) {
        self.found.push(Mutation { span, with: with.to_string(), only_checks, probe: None });
    }

    fn role(&mut self, role: &Role) {
        for action in role.actions.iter().chain(&role.tasks) {
            self.block(&action.body);
        }
        if let Some(initially) = &role.initially {
            self.block(&initially.body);
        }
        for state in &role.states {
            if let Some(access) = &state.access {
                self.access(access);
            }
            state.clauses.iter().for_each(|clause| self.clause(clause));
            self.otherwise(state.otherwise);
        }
        self.otherwise(role.otherwise);
        role.clauses.iter().flatten().for_each(|said| self.clause(&said.clause));
        for exception in &role.exceptions {
            self.note(exception.span, "", true);
        }
    }

    fn access(&mut self, access: &Ident) {
        for other in ["none", "read", "write"] {
            if other != access.text {
                self.note(access.span, other, false);
            }
        }
    }

    /// Events are no longer kept; or no longer told to be impossible.
    fn otherwise(&mut self, otherwise: Option<(Otherwise, Span)>) {
        match otherwise {
            Some((Otherwise::Defer, span)) => self.note(span, "otherwise impossible", false),
            Some((Otherwise::Stall, span)) => self.note(span, "otherwise impossible", false),
            Some((Otherwise::Impossible, span)) => self.note(span, "", true),
            None => {}
        }
    }

    fn clause(&mut self, clause: &Clause) {
        let impossible = matches!(clause.body, Body::Otherwise(Otherwise::Impossible)) || {
            matches!(&clause.body, Body::Steps(steps) if is_impossible(steps))
        };
        self.note(clause.whole, "", impossible);
        if let Some(guard) = &clause.guard {
            self.condition(guard, [false, false]);
        }
        match &clause.body {
            Body::Steps(steps) => self.block(steps),
            Body::Otherwise(Otherwise::Defer | Otherwise::Stall) => {
                let word = Span { start: clause.span.end, ..clause.whole };
                self.note(word, " impossible", false);
            }
            Body::Otherwise(Otherwise::Impossible) | Body::As(_) => {}
        }
    }

    /// A condition that always, or never, holds; or that has a part less. Which of the two only loses a check is said.
    fn condition(&mut self, condition: &Expr, only_checks: [bool; 2]) {
        self.note(condition.span, "true", only_checks[0]);
        self.note(condition.span, "false", only_checks[1]);
        self.parts(condition);
    }

    /// Each part of `a and b`, `a or b` is left out.
    fn parts(&mut self, condition: &Expr) {
        let ExprKind::Binary(operator @ ("and" | "or"), a, b) = &condition.kind else { return };
        for part in [a, b] {
            self.note(part.span, if *operator == "and" { "true" } else { "false" }, false);
            self.parts(part);
        }
    }

    fn block(&mut self, block: &[Statement]) {
        block.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::If { condition, then, otherwise } => {
                self.condition(condition, [is_impossible(otherwise), is_impossible(then)]);
                self.block(then);
                self.block(otherwise);
                return;
            }
            StatementKind::For { body, .. } => self.block(body),
            StatementKind::Await(wait) => self.wait(wait),
            StatementKind::Lower(access) => {
                let other = if access.text == "none" { "read" } else { "none" };
                self.note(access.span, other, false);
            }
            StatementKind::Fill(LineState::Exclusive, None) => self.note(statement.span, "fill shared", false),
            StatementKind::Take(LineState::Exclusive) => self.note(statement.span, "take shared", false),
            _ => {}
        }
        let checks = matches!(statement.kind, StatementKind::Assert(_) | StatementKind::Impossible);
        let span = self.with_semicolon(statement.span);
        // Where a whole statement stood, a fault may stand, and tells whether anything comes by.
        let probe = (!checks).then_some("impossible;");
        self.found.push(Mutation { span, with: String::new(), only_checks: checks, probe });
    }

    /// What a call's thread does. A loop of which a way round waits for nobody is no protocol, nor is a variable that is not set: both are found then.
    fn body(&mut self, body: &[BodyStatement]) {
        body.iter().for_each(|statement| self.body_statement(statement));
    }

    fn body_statement(&mut self, statement: &BodyStatement) {
        match &statement.kind {
            BodyForm::If { condition, then, otherwise } => {
                self.condition(condition, [false, false]);
                self.body(then);
                self.body(otherwise);
                return;
            }
            BodyForm::Loop(body) => self.body(body),
            // Without a look it would be no `until`: but it may wait for less, or for more.
            BodyForm::Until(condition) => self.parts(condition),
            _ => {}
        }
        let checks = matches!(statement.kind, BodyForm::Assert(_));
        let probe = (!checks).then_some("assert false;");
        let span = self.with_semicolon(statement.span);
        self.found.push(Mutation { span, with: String::new(), only_checks: checks, probe });
    }

    fn wait(&mut self, wait: &Await) {
        for arm in &wait.arms {
            if let Some(from) = arm.from.as_ref().filter(|_| !arm.all) {
                let before = &self.sources.text(from.span.file)[..from.span.start as usize];
                if let Some(at) = before.trim_end().strip_suffix("from").map(str::len)
                    && let Ok(start) = u32::try_from(at)
                {
                    self.note(Span { start, ..from.span }, "", true);
                }
            }
            self.block(&arm.body);
        }
        wait.clauses.iter().for_each(|clause| self.clause(clause));
        self.otherwise(wait.otherwise);
    }

    /// A statement with the semicolon behind it: a block cannot begin with one.
    fn with_semicolon(&self, span: Span) -> Span {
        let behind = &self.sources.text(span.file)[span.end as usize..];
        let gap = behind.len() - behind.trim_start().len();
        match u32::try_from(gap) {
            Ok(gap) if behind[gap as usize..].starts_with(';') => Span { end: span.end + gap + 1, ..span },
            _ => span,
        }
    }
}

/// Whether a block says `impossible` and nothing else.
fn is_impossible(block: &[Statement]) -> bool {
    matches!(block, [Statement { kind: StatementKind::Impossible, .. }])
}
