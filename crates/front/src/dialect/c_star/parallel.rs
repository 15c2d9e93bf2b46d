//! What is parallel, where it lies, and what a parallel statement has before its loop.

use super::Loops;
use super::flow::Accesses;
use super::shifts::is_shift;
use crate::draft::Draft;
use crate::tree::{Expression, Form};
use crate::types::{ParallelShape, Signature};
use std::collections::HashSet;
use std::rc::Rc;

/// The object that stands for a shape of this name.
pub(crate) fn object(name: &str) -> String {
    if name == "current" { "(*cstar_shape_current)".into() } else { format!("cstar_shape_{name}") }
}

/// Calls that C* has for shapes and positions.
pub(super) const OF_SHAPES: [&str; 3] = ["dimof", "positionsof", "rankof"];

/// The name that a call calls, if it is one.
pub(super) fn callee<'d>(draft: &'d Draft, parts: &[Expression]) -> &'d str {
    match parts.first() {
        Some(callee) if matches!(callee.form, Form::Leaf) && callee.first == callee.last => draft.word_at(callee.first),
        _ => "",
    }
}

/// Of what a call calls, if something in it is parallel.
pub(super) fn signature(draft: &Draft, parts: &[Expression]) -> Option<Rc<Signature>> {
    let name = callee(draft, parts);
    let is_function = parts.first().is_some_and(|callee| matches!(callee.ty.shape, crate::types::Shape::Function(_)));
    draft.functions.get(name).filter(|_| is_function).cloned()
}

/// Whether an assignment of this operator to a scalar takes the reduction of what is parallel.
pub(super) fn reduces(word: &str) -> bool {
    ["+=", "-=", "&=", "|=", "^="].contains(&word)
}

/// Whether this is the left side of a send.
pub(super) fn is_left_index(expression: &Expression) -> bool {
    matches!(expression.bare().form, Form::LeftIndex { .. })
}

/// Whether an expression has a value at each position.
pub(super) fn is_parallel(draft: &Draft, expression: &Expression) -> bool {
    let is = |part: &Expression| is_parallel(draft, part);
    match &expression.form {
        Form::Leaf => expression.ty.parallel.is_some(),
        Form::Coordinate(_) => true,
        Form::Reduce { .. } | Form::Block | Form::SizeOf(_) | Form::Shape(_) | Form::SplitPhase { .. } => false,
        Form::LeftIndex { axes, operand } => axes.iter().any(is) || operand.indices().into_iter().any(is),
        Form::Parentheses(part)
        | Form::Member { base: part, .. }
        | Form::Prefix { operand: part, .. }
        | Form::Postfix { operand: part, .. }
        | Form::Cast { operand: part, .. } => is(part),
        Form::Index { base, index, .. } => expression.ty.parallel.is_some() || is(base) || is(index),
        Form::Binary { left, right, .. } | Form::Comma { left, right } => is(left) || is(right),
        Form::Assign { op, left, right } => {
            is(left) || is(right) && (is_left_index(left) || !reduces(draft.word_at(*op)))
        }
        Form::OwnBinary { width, left, right, .. } => is(left) || is(right) && (is_left_index(left) || *width == 2),
        Form::Conditional { parts } => parts.iter().any(is),
        Form::Parts(parts) => match signature(draft, parts) {
            Some(signature) => signature.result.is_some(),
            None => match callee(draft, parts) {
                "pcoord" => true,
                name if OF_SHAPES.contains(&name) => false,
                _ => parts.iter().any(is),
            },
        },
    }
}

/// Whether to evaluate a scalar expression at each position would be something else than to do so once.
pub(super) fn has_effects(draft: &Draft, expression: &Expression) -> bool {
    let has = |part: &Expression| has_effects(draft, part);
    match &expression.form {
        Form::Leaf | Form::Coordinate(_) | Form::SizeOf(_) | Form::Shape(_) => false,
        Form::Reduce { .. } | Form::Block | Form::LeftIndex { .. } | Form::Assign { .. } | Form::Postfix { .. } => true,
        Form::SplitPhase { .. } => true,
        Form::Prefix { op, operand } => ["++", "--"].contains(&draft.word_at(*op)) || has(operand),
        Form::Parentheses(part) | Form::Member { base: part, .. } | Form::Cast { operand: part, .. } => has(part),
        Form::Index { base, index, .. } => has(base) || has(index),
        Form::Binary { left, right, .. } | Form::Comma { left, right } => has(left) || has(right),
        Form::OwnBinary { width, left, right, .. } => *width == 3 || has(left) || has(right),
        Form::Conditional { parts } => parts.iter().any(has),
        Form::Parts(parts) => {
            let is_of_shape = OF_SHAPES.contains(&callee(draft, parts));
            !is_of_shape || parts[1..].iter().any(has)
        }
    }
}

/// What is noted about a loop while it is made.
#[derive(Debug, Clone, Default)]
pub(super) struct Noted {
    /// What it does.
    pub accesses: Accesses,
    /// What all positions of a run get at the same distance, by numbers, as expressions.
    pub near: Vec<(usize, String)>,
}

impl Noted {
    /// The number of what is got nearby next.
    pub(super) fn next_near(&self) -> usize {
        self.near.last().map_or(0, |(number, _)| number + 1)
    }

    pub(super) fn join(&mut self, other: &Noted) {
        self.accesses.join(&other.accesses);
        self.near.extend(other.near.iter().cloned());
    }
}

/// A loop over a node's active positions of a shape, up to what is done at each.
pub(super) fn positions(shape: &ParallelShape, noted: &Noted) -> String {
    format!("{}{EACH}if (cstar_is_in(&cstar_run.at, cstar_vp)) ", runs(shape, noted))
}

/// A loop over runs.
fn runs(shape: &ParallelShape, noted: &Noted) -> String {
    let object = object(&shape.name);
    let near: String = noted.near.iter().map(|(number, at)| format!("cstar_run.near[{number}] = {at}, ")).collect();
    let (fields, head) = match noted.near.last() {
        Some((last, _)) => (format!(" void *near[{}];", last + 1), format!(" && ({near}1)")),
        None => Default::default(),
    };
    format!(
        "for (struct {{ struct cstar_bounds at;{fields} }} cstar_run = {{0}}; cstar_next_run(&{object}, &cstar_run.at){head};) "
    )
}

const EACH: &str = "for (int cstar_vp = cstar_run.at.begin; cstar_vp < cstar_run.at.end; cstar_vp++) ";

/// The same, with the text of what is done: once more before it for runs that are active from end to end, and find all that they get nearby, since that
/// is most of them, and needs no tests.
pub(super) fn positions_twice(shape: &ParallelShape, noted: &Noted, done: &str) -> String {
    if noted.near.is_empty() || done.len() > LONGEST_TWICE {
        return positions(shape, noted);
    }
    let all: String = noted.near.iter().map(|(number, _)| format!(" && cstar_run.near[{number}]")).collect();
    format!(
        "{}if (!cstar_run.at.mask{all}) {EACH}{{ {} }} else {EACH}if (cstar_is_in(&cstar_run.at, cstar_vp)) ",
        runs(shape, noted),
        chosen(done, true)
    )
}

/// Bytes of text that stand twice, at most.
const LONGEST_TWICE: usize = 4000;

/// Around an expression that is one thing where a condition is known to hold, and both with a test where it is not: see [`chosen`].
const EITHER: char = '\u{3}';

pub(super) fn two_ways(condition: &str, yes: &str, no: &str) -> String {
    [condition, yes, no, ""].map(|part| format!("{EITHER}{part}")).concat()
}

/// Text with such expressions; `holds`: their conditions do.
pub(super) fn chosen(text: &str, holds: bool) -> String {
    let mut parts = text.split(EITHER);
    let mut made = parts.next().unwrap_or_default().to_string();
    while let (Some(condition), Some(yes), Some(no), Some(rest)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    {
        made.push_str(&if holds { format!("({yes})") } else { format!("({condition} ? {yes} : {no})") });
        made.push_str(rest);
    }
    made
}

/// What an expression of a loop names, where it is not evaluated and only its type is wanted.
pub(super) const NOWHERE: &str = "struct { struct cstar_bounds at; void *near[16]; } cstar_run __attribute__((unused)); int cstar_vp __attribute__((unused)) = 0; ";

/// What is done before the loop of a statement, in its order: scalar values, once for all positions; values that are got, and other communication.
#[derive(Default)]
pub(super) struct Ahead {
    done: String,
    /// How each position gets values, and what that does: what follows each other shares a loop.
    gets: String,
    noted: Noted,
}

impl Ahead {
    pub(super) fn is_empty(&self) -> bool {
        self.done.is_empty() && self.gets.is_empty()
    }

    /// A declaration, which what is got later may name.
    pub(super) fn declare(&mut self, text: &str) {
        self.done.push_str(text);
    }

    /// What an active position gets.
    pub(super) fn get(&mut self, text: &str, noted: &Noted) {
        self.gets.push_str(text);
        self.noted.join(noted);
    }
}

impl Loops<'_, '_> {
    /// Goes on with what is done after all that is got so far.
    pub(super) fn then(&mut self, ahead: &mut Ahead, text: &str) {
        self.get_all(ahead);
        ahead.done.push_str(text);
    }

    /// Values are got in a loop of their own.
    pub(super) fn get_all(&mut self, ahead: &mut Ahead) {
        let gets = std::mem::take(&mut ahead.gets);
        if let (false, Some(current)) = (gets.is_empty(), self.current.clone()) {
            let text = self.loop_over(&current, std::mem::take(&mut ahead.noted));
            let end = if self.draft.has_calls { "cstar_sync(); " } else { "" };
            ahead.done.push_str(&format!("{text}{{ {gets}}} {end}"));
        }
    }

    /// A place for a barrier, and a loop over positions, of which this was noted.
    pub(super) fn loop_over(&mut self, shape: &ParallelShape, noted: Noted) -> String {
        let text = positions(shape, &noted);
        let place = self.point(noted.accesses);
        format!("{place}{text}")
    }

    /// All that is done ahead.
    pub(super) fn done(&mut self, mut ahead: Ahead) -> String {
        self.get_all(&mut ahead);
        ahead.done
    }

    /// The variables that an expression writes.
    pub(super) fn all_written(&self, expression: &Expression) -> HashSet<String> {
        let mut written = HashSet::new();
        self.add_written(expression, &mut written);
        written
    }

    fn add_written(&self, expression: &Expression, written: &mut HashSet<String>) {
        let mut add = |part: &Expression| self.add_written(part, written);
        let target = match &expression.form {
            Form::Leaf | Form::Coordinate(_) | Form::SizeOf(_) | Form::Shape(_) | Form::Block => None,
            Form::Parentheses(part)
            | Form::Member { base: part, .. }
            | Form::Cast { operand: part, .. }
            | Form::Reduce { operand: part, .. } => {
                add(part);
                None
            }
            Form::Prefix { op, operand } | Form::Postfix { op, operand } => {
                add(operand);
                ["++", "--"].contains(&self.draft.word_at(*op)).then_some(operand)
            }
            Form::LeftIndex { axes, operand } => {
                axes.iter().for_each(&mut add);
                add(operand);
                None
            }
            Form::Index { base, index, .. } => {
                add(base);
                add(index);
                None
            }
            Form::Binary { left, right, .. }
            | Form::Comma { left, right }
            | Form::OwnBinary { left, right, width: 2, .. } => {
                add(left);
                add(right);
                None
            }
            Form::Assign { left, right, .. }
            | Form::OwnBinary { left, right, .. }
            | Form::SplitPhase { left, right, .. } => {
                add(left);
                add(right);
                Some(left)
            }
            Form::Conditional { parts } | Form::Parts(parts) => {
                parts.iter().for_each(&mut add);
                None
            }
        };
        if let Some(variable) = target.and_then(|target| variable_of(target)) {
            written.insert(self.name_of(variable));
        }
    }

    /// The name of a parallel variable, or of the array that it is in.
    pub(super) fn name_of(&self, variable: &Expression) -> String {
        match &variable.form {
            Form::Parentheses(part) | Form::Index { base: part, .. } => self.name_of(part),
            _ => self.word(variable.first),
        }
    }

    /// Whether what a left index reads is read where it stands, since the loop writes nothing of it, and it comes by a load.
    pub(super) fn is_in_place(&self, operand: &Expression) -> bool {
        !self.draft.has_calls
            && variable_of(operand).is_some_and(|variable| !self.written.contains(&self.name_of(variable)))
    }

    /// Whether something of a parallel expression is done before its loop.
    pub(super) fn has_ahead(&self, expression: &Expression) -> bool {
        let has = |part: &Expression| self.has_ahead(part);
        if !is_parallel(self.draft, expression) {
            return has_effects(self.draft, expression);
        }
        match &expression.form {
            Form::LeftIndex { axes, operand } => {
                !self.is_in_place(operand) || axes.iter().any(has) || operand.indices().into_iter().any(has)
            }
            Form::Leaf | Form::Coordinate(_) | Form::SizeOf(_) | Form::Shape(_) => false,
            Form::Reduce { .. } | Form::Block | Form::SplitPhase { .. } => false,
            Form::Parentheses(part)
            | Form::Member { base: part, .. }
            | Form::Prefix { operand: part, .. }
            | Form::Postfix { operand: part, .. }
            | Form::Cast { operand: part, .. } => has(part),
            Form::Index { base, index, .. } => has(base) || has(index),
            // A send is done ahead, and what stands before a comma.
            Form::Assign { left, .. } | Form::OwnBinary { left, .. } if is_left_index(left) => true,
            Form::Comma { .. } => true,
            Form::Binary { left, right, .. }
            | Form::OwnBinary { left, right, .. }
            | Form::Assign { left, right, .. } => has(left) || has(right),
            Form::Conditional { parts } => parts.iter().any(has),
            Form::Parts(parts) => {
                let gets = is_shift(callee(self.draft, parts)) && !parts.get(1).is_some_and(|of| self.is_in_place(of));
                gets || signature(self.draft, parts).is_some() || parts[1..].iter().any(has)
            }
        }
    }

    /// Whether nothing is done ahead of a parallel expression if no position is active.
    pub(super) fn is_idle_without_positions(&self, expression: &Expression) -> bool {
        let is = |part: &Expression| self.is_idle_without_positions(part);
        if !is_parallel(self.draft, expression) {
            return match &expression.bare().form {
                Form::Reduce { operand, .. } => is(operand),
                _ => !has_effects(self.draft, expression),
            };
        }
        match &expression.form {
            Form::LeftIndex { axes, operand } => axes.iter().all(is) && operand.indices().into_iter().all(is),
            Form::Parts(parts) => signature(self.draft, parts).is_none() && parts[1..].iter().all(is),
            Form::Assign { .. } | Form::OwnBinary { width: 3, .. } | Form::Comma { .. } => false,
            _ => expression.parts().into_iter().all(is),
        }
    }
}

/// The parallel variable that this is, or is a part of.
pub(super) fn variable_of(expression: &Expression) -> Option<&Expression> {
    match &expression.form {
        Form::Leaf => expression.ty.parallel.is_some().then_some(expression),
        Form::Index { .. } if expression.ty.parallel.is_some() => Some(expression),
        Form::Parentheses(part) | Form::Index { base: part, .. } => variable_of(part),
        Form::Member { base, is_arrow: false } => variable_of(base),
        _ => None,
    }
}
