//! [`ast`](crate::ast) to [`Protocol`]: names, types, actions expanded in place, `await` turned into waiting states.
//!
//! The order: declarations ([`declare`]), then each role's states and handlers ([`roles`], [`steps`],
//! [`expressions`], [`waiting`]), then the bodies of calls ([`bodies`], [`calls`]), invariants ([`claims`]) and scenarios ([`scenarios`]); what is proved about the result is in
//! [`analyse`](crate::analyse).

mod bodies;
mod calls;
mod claims;
mod conditions;
mod declare;
mod expressions;
mod extend;
mod frame;
mod ghosts;
mod images;
mod initially;
mod limits;
mod made;
mod optional;
mod performs;
mod places;
mod roles;
mod scenarios;
mod shares;
mod sizes;
mod statements;
mod steps;
mod table;
mod types;
mod waiting;

use crate::ast;
use crate::diagnostics::Mistakes;
use crate::lexer::lex;
use crate::parse::parse;
use std::rc::Rc;
use trivium_diagnostic::{Code, Diagnostics};
use trivium_protocol::source::{SourceMap, Span};
use trivium_protocol::*;

/// Finds the text of a file that a protocol `use`s, by its path, which is relative to the using file's. Else it says why there is
/// none, in words that go on after "it cannot be read: ".
pub type Loader<'a> = dyn Fn(&str) -> Result<String, String> + 'a;

/// What a [`Loader`] says of a file that is not there.
pub const NO_SUCH_FILE: &str = "there is no such file";

/// What can be said from outside.
#[derive(Default)]
pub struct Options<'a> {
    /// Parameters set from outside, by name.
    pub params: Vec<(String, i64)>,
    /// Finds files named by `use`.
    pub load: Option<&'a Loader<'a>>,
}

/// Reads and checks a protocol.
///
/// # Errors
/// Everything that is wrong with the text, in its order.
///
/// ```
/// let text = "protocol nothing\nlane main buffered\nrole home of block { state Idle: write { } }";
/// let protocol = trivium_lang::compile("nothing.tri", text, &Default::default()).unwrap();
/// assert_eq!(protocol.roles[0].states[0].name, "Idle");
/// ```
pub fn compile(name: &str, text: &str, options: &Options) -> Result<Protocol, Diagnostics> {
    let (parsed, about, mut mistakes) = gathered(name, text, options);
    // What could be read may be wrong too.
    if mistakes.iter().all(|mistake| mistake.code == Code::Syntax) {
        let none = Mistakes::new(mistakes.sources.clone());
        match compiled(&parsed, about, none, options) {
            Ok(protocol) if mistakes.is_empty() => return Ok(protocol),
            Ok(_) => {}
            Err(found) if mistakes.is_empty() => mistakes = found,
            Err(found) => mistakes.add_unrelated(found),
        }
    }
    mistakes.finish();
    Err(mistakes.into())
}

/// Compiles what has been read.
fn compiled(parsed: &ast::File, about: String, none: Mistakes, options: &Options) -> Result<Protocol, Mistakes> {
    let mut compiler = Compiler::new(none, about);
    compiler.declare(parsed, options);
    if !compiler.too_many() {
        compiler.roles();
        compiler.call_bodies(parsed);
        compiler.ghosts(parsed);
        compiler.claims(parsed);
        compiler.claims_of_made();
        if !compiler.too_many() && compiler.diagnostics.is_empty() {
            crate::analyse::analyse(&mut compiler.protocol, &mut compiler.diagnostics);
        }
    }
    if compiler.diagnostics.is_empty() {
        compiler.protocol.sources = compiler.diagnostics.sources;
        Ok(compiler.protocol)
    } else {
        Err(compiler.diagnostics)
    }
}

/// All items of a protocol, and the files that they stand in.
pub(crate) fn read(name: &str, text: &str, options: &Options) -> Result<(ast::File, SourceMap), Diagnostics> {
    let (parsed, _, mut mistakes) = gathered(name, text, options);
    if mistakes.is_empty() {
        return Ok((parsed, mistakes.sources));
    }
    mistakes.finish();
    Err(mistakes.into())
}

/// All items of a protocol and of the files that it uses, as far as they could be read, with what extends them put where it belongs; what
/// the first file says about itself; and what is wrong.
fn gathered(name: &str, text: &str, options: &Options) -> (ast::File, String, Mistakes) {
    let mut sources = SourceMap::default();
    let file = sources.add(name, text);
    let mut mistakes = Mistakes::new(sources);
    let (tokens, about) = lex(file, text);
    let mut parsed = parse(&tokens, &mut mistakes);
    include(&mut parsed, options, &mut mistakes, &mut vec![name.to_string()], &mut Vec::new());
    let mut of_extensions = Mistakes::new(mistakes.sources.clone());
    extend::apply(&mut parsed, &mut of_extensions);
    made::add_roles(&mut parsed);
    (parsed, about, if mistakes.is_empty() { of_extensions } else { mistakes })
}

/// Replaces each `use` by the items of the file it names, except those that the using file declares itself: so a
/// variant is written as its difference. A file that is used twice counts once.
fn include(
    file: &mut ast::File,
    options: &Options,
    diagnostics: &mut Mistakes,
    inside: &mut Vec<String>,
    done: &mut Vec<String>,
) {
    // What could not be read may have been a `use`.
    if !diagnostics.lost_declarations {
        extend::judge(file, diagnostics);
    }
    let own: Vec<(&'static str, String)> = file.items.iter().flat_map(declared_names).collect();
    let (mut all, mut extensions) = (Vec::new(), Vec::new());
    for item in std::mem::take(&mut file.items) {
        let ast::Item::Use { file: name, span } = item else {
            let list = if matches!(item, ast::Item::Extend(_)) { &mut extensions } else { &mut all };
            list.push(item);
            continue;
        };
        let name = beside(diagnostics.sources.name(span.file), &name);
        if inside.contains(&name) {
            diagnostics
                .error(Code::Declaration, span, format!("\"{name}\" uses itself, by way of this line"))
                .help("remove one of the `use` lines");
            continue;
        }
        if done.contains(&name) {
            continue;
        }
        let text = match options.load.map_or_else(|| Err(NO_SUCH_FILE.to_string()), |load| load(&name)) {
            Ok(text) => text,
            Err(why) => {
                let help = match why.starts_with(trivium_files::NOT_TEXT) {
                    true => trivium_files::SAVE_AS_TEXT,
                    false => "the name is looked up beside the file that uses it",
                };
                diagnostics.error(Code::File, span, format!("\"{name}\" cannot be read: {why}")).help(help);
                continue;
            }
        };
        if done.len() >= MAX_FILES {
            diagnostics.error(Code::Declaration, span, format!("a protocol uses at most {MAX_FILES} files"));
            continue;
        }
        done.push(name.clone());
        inside.push(name.clone());
        let number = diagnostics.sources.add(name, text.clone());
        let (tokens, _) = lex(number, &text);
        let mut used = parse(&tokens, diagnostics);
        include(&mut used, options, diagnostics, inside, done);
        inside.pop();
        all.extend(used.items.into_iter().filter_map(|item| without(item, &own)));
    }
    // Wherever it stands, what this file extends is extended after what the used files extend.
    all.extend(extensions);
    file.items = all;
}

/// Names are listed if there are at most so many.
const MOST_LISTED: usize = 12;

/// Names that the language gives.
const GIVEN: [&str; 6] = ["sender", "me", "home", "nodes", "object", "caller"];

/// Most files of a protocol.
const MAX_FILES: usize = 64;

/// What a file declares that promises something `only`.
const ALL_PROMISES: &str = "promises";

/// An item without what is declared elsewhere; `None` if nothing is left.
fn without(item: ast::Item, own: &[(&'static str, String)]) -> Option<ast::Item> {
    let is_own = |kind: &'static str, name: &ast::Ident| own.contains(&(kind, name.text.clone()));
    match item {
        ast::Item::Message { mut messages, lane, with } => {
            messages.retain(|(name, _)| !is_own("message", name));
            if messages.is_empty() { None } else { Some(ast::Item::Message { messages, lane, with }) }
        }
        ast::Item::Object(mut names) => {
            names.retain(|kind| !is_own("object", &kind.name));
            Some(ast::Item::Object(names))
        }
        ast::Item::Event(mut events) => {
            events.retain(|event| !is_own("op", &event.name));
            Some(ast::Item::Event(events))
        }
        ast::Item::Extend(extension) if is_own("role", &extension.added.name) => None,
        ast::Item::Promises { .. } if own.contains(&(ALL_PROMISES, String::new())) => None,
        item => {
            if declared_names(&item).iter().any(|n| own.contains(n)) {
                None
            } else {
                Some(item)
            }
        }
    }
}

/// The path of a file that is named relative to another.
fn beside(file: &str, name: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    parts.retain(|part| *part != ".");
    // A path from the root lies beside nothing.
    if name.starts_with('/') {
        parts.clear();
    }
    for part in name.split('/') {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." && !last.is_empty() => {
                parts.pop();
            }
            (".", _) => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Kinds and names of what an item declares and a using file can replace.
fn declared_names(item: &ast::Item) -> Vec<(&'static str, String)> {
    let (kind, name) = match item {
        ast::Item::Param { name, .. } => ("param", name),
        ast::Item::Lane { name, .. } => ("lane", name),
        ast::Item::Record { name, .. } => ("record", name),
        ast::Item::Op { name, .. } => ("op", name),
        ast::Item::Role(role) => ("role", &role.name),
        ast::Item::Ghost(ghost) => ("ghost", &ghost.name),
        ast::Item::Invariant { name, .. } => ("invariant", name),
        ast::Item::Waits { op, .. } => ("waits", op),
        ast::Item::Scenario(scenario) => ("scenario", &scenario.name),
        ast::Item::Message { messages, .. } => {
            return messages.iter().map(|(name, _)| ("message", name.text.clone())).collect();
        }
        ast::Item::Object(names) => return names.iter().map(|kind| ("object", kind.name.text.clone())).collect(),
        ast::Item::Event(events) => return events.iter().map(|event| ("op", event.name.text.clone())).collect(),
        // There is one, whatever it says.
        ast::Item::Check { .. } => return vec![("check", String::new())],
        // It names all, whatever a used file promises.
        ast::Item::Promises { only: Some(_), .. } => return vec![(ALL_PROMISES, String::new())],
        _ => return Vec::new(),
    };
    vec![(kind, name.text.clone())]
}

/// How a state answers an event, before the table is made.
enum Answer {
    Handlers(Vec<HandlerId>),
    /// `defer` or `impossible`, and where that was written.
    Direct(ast::Otherwise, Span),
}

/// What is gathered about a state while its role is compiled.
#[derive(Default)]
struct Answers {
    list: Vec<(EventKind, Answer)>,
    otherwise: Option<(ast::Otherwise, Span)>,
}

struct Compiler {
    diagnostics: Mistakes,
    /// What the states of the role that is looked at leave open.
    unanswered: Vec<(usize, EventKind)>,
    protocol: Protocol,
    /// The roles as written, in the order of `protocol.roles`.
    asts: Rc<Vec<ast::Role>>,
    /// For each image, the record that handlers take out of it.
    image_records: Vec<RecordId>,
    /// The calls that have a body.
    spelled_out: Vec<OpId>,
    /// For each role and state: how it answers.
    answers: Vec<Vec<Answers>>,
    /// Waiting states that still want their handlers.
    pending: Vec<waiting::Variant>,
    /// The actions that are being expanded, against recursion.
    expanding: Vec<(RoleId, String)>,
    /// How many actions have been expanded.
    expansions: u32,
    /// How many statements and expressions have been compiled, each as often as it was expanded.
    parts: usize,
    /// Whether it has been said that a role has too many states.
    too_many_states: bool,
    /// Whether it has been said that the protocol is too large.
    too_many_parts: bool,
}

impl Compiler {
    fn new(diagnostics: Mistakes, about: String) -> Compiler {
        let objects = vec!["block".into(), "node".into()];
        let protocol = Protocol { about, objects, ..Protocol::default() };
        Compiler {
            diagnostics,
            protocol,
            asts: Rc::default(),
            image_records: Vec::new(),
            spelled_out: Vec::new(),
            unanswered: Vec::new(),
            answers: Vec::new(),
            pending: Vec::new(),
            expanding: Vec::new(),
            expansions: 0,
            parts: 0,
            too_many_states: false,
            too_many_parts: false,
        }
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> crate::diagnostics::Noted<'_> {
        self.diagnostics.error(code, span, message)
    }

    /// Notes an unknown variable of a role.
    fn no_variable(&mut self, span: Span, name: &str, known: &[String]) {
        if nearest(name, known.iter().map(String::as_str)).is_some() {
            return self.unknown(span, "variable", name, known.iter().map(String::as_str));
        }
        let listed = if known.is_empty() || known.len() > MOST_LISTED { String::new() } else { known.join("`, `") };
        let listed = if listed.is_empty() { listed } else { format!("there is `{listed}`; ") };
        let message = format!("there is no variable `{name}`");
        let help = format!("{listed}a new one is declared in its role, `var {name}: ..`, or here, `let {name} = ..`");
        self.error(Code::Name, span, message).help(help);
    }

    /// Notes an unknown name, with the nearest known one.
    fn unknown<'a>(&mut self, span: Span, what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) {
        let known: Vec<&str> = known.into_iter().collect();
        // Where the name itself is known, it means nothing here.
        let near = nearest(name, known.iter().copied()).filter(|near| *near != name).map(str::to_string);
        let listed = if known.len() <= MOST_LISTED { known.join("`, `") } else { String::new() };
        let message = format!("there is no {what} `{name}`");
        // Variables are made by statements, and those may have been lost; all else is declared.
        let diagnostic = match what {
            "variable" | "call" | "access or call" => self.error(Code::Name, span, message),
            _ => self.diagnostics.unrelated(Code::Name, span, message),
        };
        match near {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None if !listed.is_empty() => diagnostic.help(format!("there is `{listed}`")),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::beside;

    #[test]
    fn a_used_file_is_looked_up_beside_the_one_that_uses_it() {
        assert_eq!(beside("a/b.tri", "c.tri"), "a/c.tri");
        assert_eq!(beside("a/b.tri", "../c.tri"), "c.tri");
        assert_eq!(beside("b.tri", "../c.tri"), "../c.tri");
        assert_eq!(beside("./b.tri", "../c.tri"), "../c.tri");
        assert_eq!(beside("./a/b.tri", "../../c.tri"), "../c.tri");
        assert_eq!(beside("/a/b.tri", "../c.tri"), "/c.tri");
        assert_eq!(beside("a/b.tri", "/c/./d/../e.tri"), "/c/e.tri");
        assert_eq!(beside("/a/b.tri", "/c/e.tri"), "/c/e.tri");
    }
}
