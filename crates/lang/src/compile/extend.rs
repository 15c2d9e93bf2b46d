//! `extend role R { .. }`: roles of used files with what other files add to them and replace in them.
//!
//! Declared states get their clauses here, before anything is compiled, so that an extended role is a role like any other and
//! each part of it has its place in its own file. Waiting states are known only when handlers are compiled: clauses
//! that are said of them are kept, and given to them by [`Compiler::extended_wait`].

use crate::ast::{Arm, Await, Body, Clause, Extension, File, Ident, InClause, Initially, Item, Role};
use crate::diagnostics::Mistakes;
use trivium_diagnostic::Code;
use trivium_protocol::source::{Position, Span};
use trivium_protocol::{RoleId, nearest};

/// What is wrong with a file's extensions before the files that it uses are looked at.
pub(super) fn judge(file: &File, diagnostics: &mut Mistakes) {
    let uses = file.items.iter().any(|item| matches!(item, Item::Use { .. }));
    let mut before: Vec<&Extension> = Vec::new();
    for item in &file.items {
        if let Item::Promises { only: Some(span), .. } = item
            && !uses
        {
            diagnostics
                .error(Code::Extension, *span, "there are no other promises: this file uses no other")
                .help("leave `only` out, or `use \"FILE\"` first");
        }
        let Item::Extend(extension) = item else { continue };
        let name = &extension.added.name;
        let declared = file.items.iter().find_map(|item| match item {
            Item::Role(role) if role.name.text == name.text => Some(role.name.span),
            _ => None,
        });
        let twice = before.iter().find(|e| e.added.name.text == name.text).map(|e| e.span);
        if let Some(span) = declared {
            let place = diagnostics.sources.place(span);
            diagnostics
                .error(Code::Extension, extension.span, format!("this file declares the role `{}` itself", name.text))
                .help(format!("it is at {place}, and replaces the one of a used file: write all of it there"));
        } else if !uses {
            diagnostics
                .error(Code::Extension, extension.span, "there is nothing to extend: this file uses no other")
                .help(format!("`use \"FILE\"` first, or declare the role: `role {} of .. {{`", name.text));
        } else if let Some(span) = twice {
            let place = diagnostics.sources.place(span);
            diagnostics
                .error(Code::Extension, extension.span, format!("this file extends the role `{}` twice", name.text))
                .help(format!("it does so at {place}: write all of it there"));
        }
        before.push(extension);
    }
}

/// Applies all extensions, those of used files first.
pub(super) fn apply(file: &mut File, diagnostics: &mut Mistakes) {
    let (extensions, mut items): (Vec<Item>, Vec<Item>) =
        std::mem::take(&mut file.items).into_iter().partition(|item| matches!(item, Item::Extend(_)));
    for item in &mut items {
        let Item::Role(role) = item else { continue };
        let own = std::mem::take(&mut role.clauses).into_iter().flatten().collect();
        clauses(role, own, diagnostics);
    }
    for item in extensions {
        let Item::Extend(extension) = item else { continue };
        let name = extension.added.name.clone();
        let mut roles = items.iter_mut().filter_map(|item| if let Item::Role(r) = item { Some(r) } else { None });
        if let Some(role) = roles.find(|role| role.name.text == name.text) {
            extend(role, *extension, diagnostics);
        } else {
            let known =
                items.iter().filter_map(|i| if let Item::Role(r) = i { Some(r.name.text.as_str()) } else { None });
            unknown(&name, "role", &known.collect::<Vec<_>>(), diagnostics);
        }
    }
    file.items = items;
}

fn unknown(name: &Ident, what: &str, known: &[&str], diagnostics: &mut Mistakes) {
    let near = nearest(&name.text, known.iter().copied()).map(str::to_string);
    let error = diagnostics.error(Code::Extension, name.span, format!("there is no {what} `{}`", name.text));
    match near {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if !known.is_empty() && known.len() <= 12 => error.help(format!("there is `{}`", known.join("`, `"))),
        None => {}
    }
}

fn extend(role: &mut Role, extension: Extension, diagnostics: &mut Mistakes) {
    head(role, &extension, diagnostics);
    let Extension { added, replaced, .. } = extension;
    let whose = role.name.text.clone();
    let mut members = Members { role: &whose, diagnostics };
    members.merge("variable", "var", &mut role.vars, added.vars, replaced.vars, |v| &v.name);
    members.merge("action", "action", &mut role.actions, added.actions, replaced.actions, |a| &a.name);
    members.merge("task", "task", &mut role.tasks, added.tasks, replaced.tasks, |t| &t.name);
    members.merge("state", "state", &mut role.states, added.states, replaced.states, |s| &s.name);
    match (role.otherwise, added.otherwise, replaced.otherwise) {
        (Some((_, before)), Some((_, span)), _) => {
            let place = diagnostics.sources.place(before);
            diagnostics
                .error(Code::Extension, span, format!("the role `{whose}` has an `otherwise` line already"))
                .help(format!("it is at {place}; `replace otherwise ..` puts this in its place"));
        }
        (None, _, Some((_, span))) => {
            diagnostics
                .error(
                    Code::Extension,
                    span,
                    format!("the role `{whose}` has no `otherwise` line that could be replaced"),
                )
                .help("remove `replace`");
        }
        (_, new, put) => role.otherwise = put.or(new).or(role.otherwise),
    }
    initially(role, added.initially, replaced.initially, diagnostics);
    clauses(role, added.clauses.into_iter().flatten().collect(), diagnostics);
    role.exceptions.extend(added.exceptions);
}

/// What is so initially is said once, and can be replaced as a whole.
fn initially(role: &mut Role, added: Option<Initially>, replaced: Option<Initially>, diagnostics: &mut Mistakes) {
    let whose = &role.name.text;
    match (&role.initially, &added, &replaced) {
        (Some(before), Some(new), _) => {
            let place = diagnostics.sources.place(before.span);
            diagnostics
                .error(Code::Extension, new.span, format!("the role `{whose}` says already what is so initially"))
                .help(format!("it does at {place}; `replace initially {{ .. }}` puts this in its place"));
        }
        (None, _, Some(new)) => {
            diagnostics
                .error(
                    Code::Extension,
                    new.span,
                    format!("the role `{whose}` has no `initially` that could be replaced"),
                )
                .help("remove `replace`");
        }
        _ => {}
    }
    role.initially = replaced.or(added).or(role.initially.take());
}

/// What an extension says again of the role's head is the same there; only the defer space may be another.
fn head(role: &mut Role, extension: &Extension, diagnostics: &mut Mistakes) {
    if let Some(of) = &extension.of
        && (of.text != role.of.text || extension.added.everywhere != role.everywhere)
    {
        let place = diagnostics.sources.place(role.name.span);
        let everywhere = if role.everywhere { " everywhere" } else { "" };
        diagnostics
            .error(
                Code::Extension,
                of.span,
                format!("the role `{}` is of {}{everywhere}", role.name.text, role.of.text),
            )
            .help(format!("it is declared at {place}; `extend role {} {{` is enough", role.name.text));
    } else if extension.added.everywhere && !role.everywhere {
        diagnostics
            .error(Code::Extension, extension.span, format!("the role `{}` does not live everywhere", role.name.text))
            .help(format!("`extend role {} {{` is enough", role.name.text));
    }
    if extension.added.defers.is_some() {
        role.defers.clone_from(&extension.added.defers);
        role.pushes_back = extension.added.pushes_back;
    }
}

struct Members<'a> {
    role: &'a str,
    diagnostics: &'a mut Mistakes,
}

impl Members<'_> {
    /// Named members join a role's, or take the place of those with the same name.
    fn merge<T>(
        &mut self,
        what: &str,
        word: &str,
        members: &mut Vec<T>,
        added: Vec<T>,
        replaced: Vec<T>,
        name: impl Fn(&T) -> &Ident,
    ) {
        let article = if what.starts_with('a') { "an" } else { "a" };
        let count = members.len();
        for new in replaced {
            let wanted = name(&new).clone();
            if let Some(old) = members[..count].iter_mut().find(|m| name(m).text == wanted.text) {
                *old = new;
                continue;
            }
            let known: Vec<&str> = members.iter().map(|m| name(m).text.as_str()).collect();
            let near = nearest(&wanted.text, known.iter().copied()).map(str::to_string);
            self.diagnostics
                .error(
                    Code::Extension,
                    wanted.span,
                    format!("the role `{}` has no {what} `{}` that could be replaced", self.role, wanted.text),
                )
                .help(near.map_or("remove `replace`".into(), |near| format!("did you mean `{near}`?")));
        }
        for new in added {
            let wanted = name(&new).clone();
            // Two of the same name in one file are told where all names are looked at.
            if let Some(old) = members[..count].iter().find(|m| name(m).text == wanted.text) {
                let place = self.diagnostics.sources.place(name(old).span);
                let add = if word == "state" {
                    format!("; `in {} on EVENT ..` adds a clause to it", wanted.text)
                } else {
                    String::new()
                };
                self.diagnostics
                    .error(
                        Code::Extension,
                        wanted.span,
                        format!("the role `{}` has {article} {what} `{}` already", self.role, wanted.text),
                    )
                    .help(format!("it is at {place}; `replace {word} {} ..` puts this in its place{add}", wanted.text));
            } else {
                members.push(new);
            }
        }
    }
}

/// Gives a role's states the clauses of one file; those of waiting states are kept for later.
fn clauses(role: &mut Role, list: Vec<InClause>, diagnostics: &mut Mistakes) {
    let is_waiting = |state: &Ident| state.text.contains(['.', '|', '(']);
    let mut waiting = Vec::new();
    for written in &list {
        for state in &written.states {
            if is_waiting(state) {
                waiting.push(InClause { states: vec![state.clone()], ..written.clone() });
            } else if !role.states.iter().any(|s| s.name.text == state.text) {
                let known: Vec<&str> = role.states.iter().map(|s| s.name.text.as_str()).collect();
                unknown(state, "state", &known, diagnostics);
            }
        }
    }
    for state in &mut role.states {
        let name = state.name.text.clone();
        let of_state = |c: &&InClause| c.states.iter().any(|s| s.text == name);
        let mine: Vec<&InClause> = list.iter().filter(of_state).collect();
        let mut answers = StateClauses { state: &name, clauses: &mut state.clauses, arms: &mut [] };
        answers.merge(&mine, &excepted(role.exceptions.iter(), &name), diagnostics);
    }
    // An answer that is replaced may have been declared impossible.
    for written in list.iter().filter(|c| c.replaces) {
        for exception in &mut role.exceptions {
            if written.states.iter().any(|s| s.text == exception.state.text) {
                exception.events.retain(|e| !names(&written.clause, &e.text));
            }
        }
    }
    if !waiting.is_empty() {
        role.clauses.push(waiting);
    }
}

/// The events that are declared impossible in a state, with their places.
fn excepted<'a>(exceptions: impl Iterator<Item = &'a crate::ast::Exception>, state: &str) -> Vec<Ident> {
    exceptions.filter(|e| e.state.text == state).flat_map(|e| e.events.clone()).collect()
}

fn names(clause: &Clause, event: &str) -> bool {
    clause.events.iter().any(|e| e.name.text == event)
}

/// How a state answers, as far as clauses and awaited messages go.
struct StateClauses<'a> {
    state: &'a str,
    clauses: &'a mut Vec<Clause>,
    arms: &'a mut [Arm],
}

impl StateClauses<'_> {
    /// Adds one file's clauses to those of the files that it uses: guarded ones before them, in their order; what replaces a
    /// clause at its place.
    fn merge(&mut self, new: &[&InClause], excepted: &[Ident], diagnostics: &mut Mistakes) {
        let removed = self.remove_replaced(new, excepted, diagnostics);
        let mut guarded = 0;
        for added in new {
            if self.awaited(added, diagnostics) {
                continue;
            }
            if !added.replaces
                && let Some(e) = excepted.iter().find(|e| names(&added.clause, &e.text))
            {
                let place = diagnostics.sources.place(e.span);
                self.answered(added, &e.text, place, diagnostics);
                continue;
            }
            let place = removed.iter().find(|(event, _)| names(&added.clause, event)).map(|(_, span)| *span);
            let place = place.and_then(|span| self.clauses.iter().position(|c| c.span == span));
            if added.clause.guard.is_some() && place.is_none() {
                self.clauses.insert(guarded, added.clause.clone());
                guarded += 1;
                continue;
            }
            let fixed = self.clauses.iter().filter(|c| c.guard.is_none());
            let mut fixed = fixed.flat_map(|c| c.events.iter().map(move |e| (&e.name.text, c.span)));
            if let Some((event, span)) = fixed.find(|(event, _)| names(&added.clause, event)) {
                let (event, place) = (event.clone(), diagnostics.sources.place(span));
                if span.file == added.clause.span.file {
                    diagnostics
                        .error(
                            Code::Extension,
                            added.clause.span,
                            format!("`{}` answers `{event}` already", self.state),
                        )
                        .help(format!("it does so at {place}: remove one of them"));
                } else {
                    self.answered(added, &event, place, diagnostics);
                }
                continue;
            }
            self.clauses.insert(place.unwrap_or(self.clauses.len()), added.clause.clone());
        }
        self.clauses.retain(|clause| !clause.events.is_empty());
    }

    /// Takes away what is replaced, of which there must be something. Returns the events, and which clause each was in first; one of which
    /// nothing is left stays, without events, to keep the place.
    fn remove_replaced(
        &mut self,
        new: &[&InClause],
        excepted: &[Ident],
        diagnostics: &mut Mistakes,
    ) -> Vec<(String, Span)> {
        let replaced = new.iter().filter(|c| c.replaces);
        let events: Vec<&Ident> = replaced.flat_map(|c| c.clause.events.iter().map(|e| &e.name)).collect();
        for event in &events {
            let there = self.clauses.iter().any(|c| names(c, &event.text))
                || self.arms.iter().any(|a| a.message.text == event.text)
                || excepted.iter().any(|e| e.text == event.text);
            if !there {
                diagnostics
                    .error(
                        Code::Extension,
                        event.span,
                        format!(
                            "no clause of `{}` answers `{}`, so that nothing can be replaced",
                            self.state, event.text
                        ),
                    )
                    .help("remove `replace`: the clause is then added");
            }
        }
        let mut removed = Vec::new();
        for event in &events {
            let first = self.clauses.iter().find(|c| names(c, &event.text));
            removed.extend(first.map(|clause| (event.text.clone(), clause.span)));
        }
        for clause in self.clauses.iter_mut() {
            clause.events.retain(|e| !events.iter().any(|r| r.text == e.name.text));
        }
        removed
    }

    /// A message that an `await` waits for: the body of its arm can be another. Whether the clause is about such a message.
    fn awaited(&mut self, added: &InClause, diagnostics: &mut Mistakes) -> bool {
        let Some(arm) = self.arms.iter_mut().find(|a| names(&added.clause, &a.message.text)) else { return false };
        let name = arm.message.text.clone();
        if !added.replaces {
            let place = diagnostics.sources.place(arm.message.span);
            self.answered(added, &name, place, diagnostics);
            return true;
        }
        match (&added.clause.body, &added.clause.guard, &added.clause.events[..]) {
            (Body::Steps(steps), None, [event]) => {
                arm.body.clone_from(steps);
                arm.args.clone_from(&event.args);
                arm.message.span = event.name.span;
            }
            _ => diagnostics
                .error(
                    Code::Extension,
                    added.clause.span,
                    format!("`{name}` is what `{}` waits for: what it does then stands in braces", self.state),
                )
                .help(format!("write `replace in {} on {name} {{ .. }}`, without a guard or other events", self.state)),
        }
        true
    }

    fn answered(&self, added: &InClause, event: &str, place: Position, diagnostics: &mut Mistakes) {
        let awaited = self.arms.iter().any(|a| a.message.text == event);
        let guard = if awaited || added.clause.guard.is_some() {
            ""
        } else {
            ", and a clause with a guard (`when ..`) is tried before a clause"
        };
        diagnostics
            .error(Code::Extension, added.clause.span, format!("`{}` answers `{event}` already", self.state))
            .help(format!(
                "it does so at {place}; `replace in {} on {event} ..` puts this in its place{guard}",
                self.state
            ));
    }
}

/// Whether a clause is said of the waiting state of this name, or of its variants with less access.
fn is_of(clause: &InClause, wait: &str) -> bool {
    let variant = |state: &str| state.strip_prefix(wait).is_some_and(|rest| rest.starts_with('('));
    clause.states.iter().any(|s| s.text == wait || variant(&s.text))
}

impl super::Compiler {
    /// An `await` as it is in the waiting state of that name: with the clauses that are said of it.
    pub(super) fn extended_wait(&mut self, role: RoleId, name: &str, wait: &Await) -> Await {
        let asts = std::rc::Rc::clone(&self.asts);
        let ast = &asts[role.index()];
        let mut wait = wait.clone();
        for layer in &ast.clauses {
            let mine: Vec<&InClause> = layer.iter().filter(|c| c.states[0].text == name).collect();
            if mine.is_empty() {
                continue;
            }
            let mut answers = StateClauses { state: name, clauses: &mut wait.clauses, arms: &mut wait.arms };
            answers.merge(&mine, &excepted(ast.exceptions.iter(), name), &mut self.diagnostics);
        }
        wait
    }

    /// The clauses that are said of a waiting state, or of its variants with less access.
    pub(super) fn said_of_wait(&self, role: RoleId, name: &str) -> Vec<InClause> {
        self.asts[role.index()].clauses.iter().flatten().filter(|c| is_of(c, name)).cloned().collect()
    }

    /// Notes clauses that are said of waiting states that do not exist.
    pub(super) fn unknown_waits(&mut self, r: usize) {
        let asts = std::rc::Rc::clone(&self.asts);
        let states: Vec<String> = self.protocol.roles[r].states.iter().map(|s| s.name.clone()).collect();
        for state in asts[r].clauses.iter().flatten().flat_map(|c| &c.states) {
            if !states.contains(&state.text) {
                self.unknown(state.span, "state", &state.text, states.iter().map(String::as_str));
            }
        }
    }
}
