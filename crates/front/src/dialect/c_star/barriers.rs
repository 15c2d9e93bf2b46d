//! Places where barriers may stand, while a function is made loops of; and the barriers, when it has ended.

use super::Loops;
use super::flow::{Accesses, Flow, GET, Kinds, MEMORY, REMOTE, REUSE, Summary, placed};
use super::parallel::{Noted, callee, chosen, signature};
use crate::draft::Draft;
use crate::tree::{Body, Expression, Form};
use crate::types::Shape;
use std::collections::{BTreeSet, HashMap};

/// Stands around what a place becomes, with its number: see [`resolved`].
const PLACE: char = '\u{2}';

/// A barrier of itself, as a statement.
fn alone(place: usize) -> String {
    format!("{PLACE}s{place}{PLACE}")
}

/// A function with more loops is never a part of its callers: how long the C compiler takes grows with the square of a function's loops.
const MOST_PLACES_INLINED: usize = 12;

/// What a text with places becomes.
fn resolved(text: &str, barriers: &HashMap<usize, BTreeSet<String>>) -> String {
    let mut parts = text.split(PLACE);
    let mut made = parts.next().unwrap_or_default().to_string();
    while let (Some(place), Some(rest)) = (parts.next(), parts.next()) {
        let arcs = place.get(1..).and_then(|number| barriers.get(&number.parse().ok()?));
        if let Some(arcs) = arcs {
            let why = arcs.iter().cloned().collect::<Vec<_>>().join("; ");
            let barrier = format!("cstar_barrier(\"{why}\"); ");
            match &place[..1] {
                "s" => made.push_str(&barrier),
                "{" => made.push_str(&format!("{{ {barrier}")),
                "}" => made.push_str(" }"),
                "(" => made.push_str(&format!("({{ {barrier}")),
                _ => made.push_str("; })"),
            }
        }
        made.push_str(rest);
    }
    made
}

impl Loops<'_, '_> {
    fn place(&mut self) -> usize {
        self.places += 1;
        self.places
    }

    /// Notes what the loop that is being made does with a variable.
    pub(super) fn access(&mut self, variable: &str, kinds: Kinds) {
        self.noted.accesses.add(variable, kinds);
        // Its memory may go to another one as soon as its block ends.
        if kinds & REMOTE != 0 && self.locals.contains(variable) {
            self.noted.accesses.add(MEMORY, GET);
        }
    }

    /// What is noted while something is made, apart from what was noted before.
    pub(super) fn noted(&mut self, make: impl FnOnce(&mut Self)) -> Noted {
        let before = std::mem::take(&mut self.noted);
        make(self);
        std::mem::replace(&mut self.noted, before)
    }

    /// A place for a barrier before what does this: its text.
    pub(super) fn point(&mut self, accesses: Accesses) -> String {
        let place = self.place();
        self.flow.push(Flow::Point(place, accesses));
        alone(place)
    }

    /// Memory is taken for variables of a function.
    pub(super) fn memory_point(&mut self) -> String {
        let mut accesses = Accesses::default();
        accesses.add(MEMORY, REUSE);
        self.point(accesses)
    }

    /// What the flow of a part of the function is.
    pub(super) fn flow_of(&mut self, make: impl FnOnce(&mut Self)) -> Vec<Flow> {
        let before = std::mem::take(&mut self.flow);
        make(self);
        std::mem::replace(&mut self.flow, before)
    }

    /// A statement of the program that is a loop: a barrier may stand before it.
    pub(super) fn loop_of(&mut self, first: usize, last: usize, body: Vec<Flow>) {
        if body.iter().all(|step| matches!(step, Flow::Break | Flow::Continue | Flow::Continued)) {
            return;
        }
        let place = self.place();
        self.flow.push(Flow::Loop(place, body));
        self.draft.edits.before(first, &format!("{PLACE}{{{place}{PLACE}"));
        self.draft.edits.after(last, &format!("{PLACE}}}{place}{PLACE}"));
    }

    /// What a call does, as far as it is known.
    fn called_does(&self, parts: &[Expression]) -> Summary {
        let name = callee(self.draft, parts);
        let is_named = matches!(parts[0].ty.shape, Shape::Function(_)) || parts[0].ty.is_unknown();
        let gets_function = parts[1..].iter().any(|part| matches!(part.ty.shape, Shape::Function(_)));
        match self.draft.summaries.get(name) {
            _ if !is_named || gets_function || name.is_empty() => Summary::unknown(),
            Some(summary) => summary.clone(),
            None if self.is_of_headers(name) => Summary::nothing(),
            None if self.draft.statics.contains(name) => Summary::unknown(),
            None => Summary::unknown().without_enters(),
        }
    }

    fn is_of_headers(&self, name: &str) -> bool {
        self.draft.of_headers.contains(name) || name.starts_with("__builtin_")
    }

    /// A call that has been made into text: the place of a barrier before it, as a statement.
    pub(super) fn call_point(&mut self, parts: &[Expression]) -> String {
        let (summary, place) = (self.called_does(parts), self.place());
        self.flow.push(Flow::Call(place, summary));
        alone(place)
    }

    /// A scalar call where it stands.
    pub(super) fn call_in_place(&mut self, expression: &Expression, parts: &[Expression]) {
        let summary = self.called_does(parts);
        if summary.is_nothing() {
            return;
        }
        let place = self.place();
        self.flow.push(Flow::Call(place, summary));
        self.draft.edits.before(expression.first, &format!("{PLACE}({place}{PLACE}"));
        self.draft.edits.after(expression.last, &format!("{PLACE}){place}{PLACE}"));
    }

    /// Whether nodes may come together in an expression, in an order that C leaves open: then single positions that are read in it are parted from all else.
    pub(super) fn is_mixed(&self, expression: &Expression) -> bool {
        let is = |part: &Expression| self.is_mixed(part);
        match &expression.form {
            Form::Reduce { .. } | Form::Block | Form::SplitPhase { .. } => true,
            Form::Leaf | Form::Coordinate(_) | Form::SizeOf(_) | Form::Shape(_) => false,
            Form::LeftIndex { axes, operand } => axes.iter().any(is) || is(operand),
            Form::Parentheses(part)
            | Form::Member { base: part, .. }
            | Form::Prefix { operand: part, .. }
            | Form::Postfix { operand: part, .. }
            | Form::Cast { operand: part, .. } => is(part),
            Form::Index { base, index, .. } => is(base) || is(index),
            Form::Assign { left, right, .. } | Form::OwnBinary { left, right, width: 3, .. } => {
                super::parallel::is_parallel(self.draft, right) || is(left) || is(right)
            }
            Form::Binary { left, right, .. } | Form::Comma { left, right } | Form::OwnBinary { left, right, .. } => {
                is(left) || is(right)
            }
            Form::Conditional { parts } => parts.iter().any(is),
            Form::Parts(parts) => {
                let is_call = is_call(self.draft, expression, parts);
                is_call && (signature(self.draft, parts).is_some() || !self.called_does(parts).is_nothing())
                    || parts.iter().any(is)
            }
        }
    }

    /// The barriers of a function that has ended, where its places are.
    pub(super) fn end(self, body: &Body) {
        // What others call may be called after anything; `main` is the first. Who calls a static function sees to it.
        let is_of_others = !body.is_static && body.name != "main";
        let mut begins = if is_of_others { Accesses::everything() } else { Accesses::default() };
        body.parallel.iter().for_each(|name| begins.add(name, super::flow::WRITE));
        let is_naive = self.draft.is_naive;
        let (barriers, summary) = placed(&self.flow, begins, is_naive);
        let summary = if is_of_others { summary.without_enters() } else { summary };
        self.draft.summaries.insert(body.name.clone(), summary);
        if let Some(declarator) = body.declarator.filter(|_| self.places > MOST_PLACES_INLINED) {
            self.draft.edits.before(declarator, "__attribute__((noinline)) ");
        }
        // All expressions of a function stand in its block, if that could be read.
        let ranges: Vec<(usize, usize)> = match &body.block {
            Some(block) => vec![(block.first, block.last)],
            None => body.wholes.iter().map(|whole| (whole.expression.first, whole.expression.last)).collect(),
        };
        for (first, last) in ranges {
            self.draft.edits.map(first, last, &|text| resolved(&chosen(text, false), &barriers));
        }
    }
}

/// Whether this is a call, and no other thing that has parts.
pub(super) fn is_call(draft: &Draft, expression: &Expression, parts: &[Expression]) -> bool {
    parts.first().is_some_and(|callee| callee.first == expression.first && draft.word_at(callee.last + 1) == "(")
        && draft.word_at(expression.last) == ")"
}
