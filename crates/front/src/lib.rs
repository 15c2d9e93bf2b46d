//! Languages that extend C, as C.
//!
//! A source goes through the C preprocessor first, so that headers, macros and typedefs are C's own. This crate reads what comes of it
//! ([`translate`]): a lexer that follows line markers, a parser of C11 with GNU's extensions that knows names and types
//! ([`Type`](types::Type)), and a dialect, which says what its constructs become. All that no dialect touches is copied as it is, so that the C compiler stays the one who
//! checks types; line markers and padding put each copied token back where it stood in the user's own file.

pub mod diagnostics;
mod dialect;
mod draft;
mod edits;
mod emit;
mod lex;
mod messages;
mod parse;
mod place;
mod scope;
mod tree;
pub mod types;

use draft::Meaning;

pub use messages::explain;
use trivium_diagnostic::Diagnostics;

/// What a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// C11 with GNU's extensions: nothing is changed.
    C,
    /// Split-C: `global` and `spread` pointers, spread arrays, split-phase assignments.
    SplitC,
    /// C*: shapes, parallel variables, contexts, left indices, reductions.
    CStar,
}

impl Dialect {
    /// The dialect of files with this ending.
    pub fn of_ending(ending: &str) -> Option<Dialect> {
        match ending {
            "c" => Some(Dialect::C),
            "sc" => Some(Dialect::SplitC),
            "cs" => Some(Dialect::CStar),
            _ => None,
        }
    }
}

/// Makes C of preprocessed text (`cc -E`, with its line markers). `source` gives the text of a file that a line marker names, if it can
/// be read: it is asked for columns.
///
/// # Errors
/// The text is not of the dialect: all mistakes found, each with its place in the user's own files.
pub fn translate(
    preprocessed: &str,
    dialect: Dialect,
    source: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Diagnostics> {
    let lexed = lex::lex(preprocessed);
    let places = place::Places::new(&lexed, source);
    let parsed = parse::parse(&lexed, dialect, Meaning::Compiled);
    if !parsed.wrong.is_empty() {
        return Err(diagnostics::diagnostics(&lexed, &places, parsed.wrong));
    }
    Ok(emit::emit(&lexed, &parsed.edits, &places))
}

/// Makes C for one node of a preprocessed program in C*: each operator is a loop over all positions of a shape, one after the other. It shares with
/// [`translate`] what is read, and nothing of what is made of it, so that one is an oracle for the other. `tells`: each parallel statement prints what it has done.
///
/// # Errors
/// The mistakes that [`translate`] finds: this is for programs that have none.
pub fn interpreted(
    preprocessed: &str,
    tells: bool,
    source: &dyn Fn(&str) -> Option<String>,
) -> Result<String, Diagnostics> {
    translate(preprocessed, Dialect::CStar, source)?;
    let lexed = lex::lex(preprocessed);
    let places = place::Places::new(&lexed, source);
    let parsed = parse::parse(&lexed, Dialect::CStar, Meaning::Interpreted { told: tells.then_some(&places) });
    if !parsed.wrong.is_empty() {
        return Err(diagnostics::diagnostics(&lexed, &places, parsed.wrong));
    }
    Ok(emit::emit(&lexed, &parsed.edits, &places))
}
