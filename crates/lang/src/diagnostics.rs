//! What is wrong with a protocol's text: mistakes are collected, so that one run tells several.

use std::collections::{BTreeSet, HashMap};
use trivium_diagnostic::{Code, Diagnostic, Diagnostics};
use trivium_protocol::source::{SourceMap, Span};

/// All the mistakes found in one run, in the order of the text.
#[derive(Clone, Debug)]
pub struct Mistakes {
    /// The text they are about.
    pub sources: SourceMap,
    /// Names in statements that could not be read.
    pub(crate) lost: BTreeSet<String>,
    /// Whether something else than statements could not be read.
    pub(crate) lost_declarations: bool,
    list: Vec<Mistake>,
}

#[derive(Clone, Debug)]
struct Mistake {
    /// Where it is, of several places the first.
    span: Span,
    told: Diagnostic,
    /// Whether it is one whatever stands elsewhere, but for the names in it.
    is_unrelated: bool,
}

/// A mistake that has just been noted, of which more can be said.
pub struct Noted<'a>(&'a mut Diagnostic);

impl Mistakes {
    /// An empty collection over a text.
    pub fn new(sources: SourceMap) -> Mistakes {
        Mistakes { sources, lost: BTreeSet::new(), lost_declarations: false, list: Vec::new() }
    }

    /// Notes a mistake.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> Noted<'_> {
        self.error_at(code, &[span], message)
    }

    /// Notes a mistake that is one whatever stands elsewhere: a name that is nowhere, a value of another type.
    pub fn unrelated(&mut self, code: Code, span: Span, message: impl Into<String>) -> Noted<'_> {
        self.note(&[span], Diagnostic::new(code, message), true)
    }

    /// Notes one mistake of several places.
    pub fn error_at(&mut self, code: Code, spans: &[Span], message: impl Into<String>) -> Noted<'_> {
        self.note(spans, Diagnostic::new(code, message), false)
    }

    fn note(&mut self, spans: &[Span], mut told: Diagnostic, is_unrelated: bool) -> Noted<'_> {
        told.places = spans.iter().map(|&span| self.sources.quoted(span)).collect();
        told.places.dedup();
        let span = spans.first().copied().unwrap_or_default();
        self.list.push(Mistake { span, told, is_unrelated });
        Noted(&mut self.list.last_mut().expect("just pushed").told)
    }

    /// How many have been noted.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The mistakes.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter().map(|mistake| &mistake.told)
    }

    /// Adds what a later phase has found in a text in which some statements could not be read, as far as it is wrong whatever stood
    /// there: names that are nowhere and values of other types, where no name of those statements is. Where a declaration could not be
    /// read, nobody knows what hangs on it.
    pub fn add_unrelated(&mut self, later: Mistakes) {
        if self.lost_declarations {
            return;
        }
        let is_lost = |span: Span| {
            let text = self.sources.excerpt(span);
            let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            // A state with dots in its name is made by statements.
            text.contains('.') || words.any(|word| self.lost.contains(word))
        };
        let found: Vec<Mistake> =
            later.list.into_iter().filter(|mistake| mistake.is_unrelated && !is_lost(mistake.span)).collect();
        self.list.extend(found);
    }

    /// Puts the mistakes in the order of the text. A name that is not there is one mistake, in all places that name it.
    pub fn finish(&mut self) {
        self.list.sort_by_cached_key(|Mistake { span, told, .. }| (span.file, span.start, told.message.clone()));
        self.list.dedup_by(|a, b| a.span == b.span && a.told.message == b.told.message);
        let mut all: Vec<Mistake> = Vec::new();
        let mut of_name: HashMap<String, usize> = HashMap::new();
        for Mistake { span, told, is_unrelated } in self.list.drain(..) {
            let is_missing = told.code == Code::Name;
            match of_name.get(&told.message).filter(|_| is_missing) {
                Some(&at) => {
                    let first = &mut all[at].told;
                    first.places.extend(told.places);
                    first.help = first.help.take().or(told.help);
                }
                None => {
                    if is_missing {
                        of_name.insert(told.message.clone(), all.len());
                    }
                    all.push(Mistake { span, told, is_unrelated });
                }
            }
        }
        self.list = all;
    }
}

impl Noted<'_> {
    /// Adds what to do about it.
    pub fn help(self, help: impl Into<String>) {
        self.0.help = Some(help.into());
    }
}

impl From<Mistakes> for Diagnostics {
    fn from(mistakes: Mistakes) -> Diagnostics {
        Diagnostics { list: mistakes.list.into_iter().map(|mistake| mistake.told).collect() }
    }
}

/// `1 argument`, `2 arguments`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
