//! C*. Each node has a part of each parallel variable, and a pointer of the variable's name to it; a parallel statement is a loop over the positions of
//! that part, and consecutive ones share a loop. What a statement gets from other positions, or reduces, is done before its loop. Contexts are
//! kept beside their shapes, so that they hold in functions that are called; a block gives its outer one back however it is left.

mod barriers;
mod calls;
mod communication;
mod expressions;
mod flow;
mod parallel;
mod sends;
mod shifts;
mod variables;

use crate::draft::Draft;
use crate::tree::{Body, Expression, Statement, StatementForm, Whole};
use crate::types::{ParallelShape, Signature};
pub(crate) use communication::WHOLE;
use flow::Flow;
pub(crate) use flow::Summary;
pub(crate) use parallel::object;
use parallel::{Ahead, Noted, is_parallel, positions_twice};
use std::collections::HashSet;
use std::rc::Rc;
pub(crate) use variables::{end, held_against_other_files};

/// Puts C in place of what is C*'s own in a function, or in an expression outside of one.
pub(crate) fn body(draft: &mut Draft, body: &Body) {
    let signature = body.signature.as_deref();
    let current = signature.map(|signature| signature.shape.clone());
    let mut loops = Loops {
        draft,
        wholes: &body.wholes,
        next: 0,
        current,
        signature,
        locals: body.parallel.iter().cloned().collect(),
        written: HashSet::new(),
        noted: Noted::default(),
        near: 0,
        flow: Vec::new(),
        places: 0,
        is_mixed: false,
    };
    match &body.block {
        Some(block) => loops.statement(block),
        None => loops.others(body.wholes.len()),
    }
    loops.end(body);
}

/// Makes loops of the parallel statements of a function.
struct Loops<'p, 'a> {
    draft: &'p mut Draft<'a>,
    wholes: &'p [Whole],
    /// The first whole expression that nothing was decided about: they are looked at in the order of the text.
    next: usize,
    /// The current shape.
    current: Option<Rc<ParallelShape>>,
    /// Of the function, if it has something parallel.
    signature: Option<&'p Signature>,
    /// Its parallel variables and parameters so far.
    locals: HashSet<String>,
    /// Variables that the present statement writes.
    written: HashSet<String>,
    /// What is noted about the loop that is being made.
    noted: Noted,
    /// The number of what a loop gets nearby next.
    near: usize,
    /// What the function does.
    flow: Vec<Flow>,
    /// How many places for barriers there are.
    places: usize,
    /// Whether nodes come together in the present scalar expression.
    is_mixed: bool,
}

/// Consecutive parallel statements that share a loop.
struct Group {
    first: usize,
    last: usize,
    shape: Rc<ParallelShape>,
    /// What is done before it, and the place of a barrier.
    before: String,
    noted: Noted,
    /// Where the flow has what it does: at its end, as long as the group goes on.
    at: usize,
}

impl<'p> Loops<'p, '_> {
    /// Decides about expressions that no statement names, up to that one: scalar ones.
    fn others(&mut self, end: usize) {
        while self.next < end {
            let whole = &self.wholes[self.next];
            self.next += 1;
            let before = std::mem::replace(&mut self.draft.unevaluated, whole.unevaluated);
            self.begin(&whole.expression);
            self.wanted_scalar(&whole.expression, "a scalar is wanted here, and this is parallel");
            self.draft.unevaluated = before;
        }
    }

    /// An expression that a statement names: those inside it are done first.
    fn main(&mut self, number: usize) -> &'p Whole {
        self.others(number);
        self.next = number + 1;
        &self.wholes[number]
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.form {
            StatementForm::Block(statements) => self.block(statements),
            StatementForm::Expression(_) => self.block(std::slice::from_ref(statement)),
            StatementForm::If { branches, otherwise } => self.branches(branches, otherwise.as_deref()),
            StatementForm::Condition { condition, inner } => self.controlled(statement, *condition, inner),
            StatementForm::For { condition, inner } => self.for_loop(statement, *condition, inner),
            StatementForm::Labelled(inner) => {
                self.flow.push(Flow::Label);
                if let Some(inner) = inner {
                    self.others(inner.wholes.start);
                    self.statement(inner);
                }
            }
            StatementForm::With { shape, close, inner } => {
                (statement.first..=*close).for_each(|token| self.draft.edits.remove(token));
                let before = self.current.replace(shape.clone());
                self.statement(inner);
                self.current = before;
            }
            StatementForm::Where { condition, close, inner, otherwise } => {
                self.where_statement(statement, (*condition, *close), inner, otherwise.as_ref());
            }
            StatementForm::Everywhere(inner) => self.everywhere(statement, inner),
            StatementForm::Parallel(locals) => self.locals(statement, locals),
            StatementForm::Return(value) => {
                value.iter().for_each(|value| self.returned(statement, *value));
                self.flow.push(Flow::Return);
            }
            StatementForm::Plain => match self.word(statement.first).as_str() {
                "break" => self.flow.push(Flow::Break),
                "continue" => self.flow.push(Flow::Continue),
                _ => {}
            },
        }
        self.others(statement.wholes.end);
    }

    /// `if .. else if .. else ..`: the conditions one after the other, until one holds.
    fn branches(&mut self, branches: &[(usize, Statement)], otherwise: Option<&Statement>) {
        let Some(((condition, inner), rest)) = branches.split_first() else {
            otherwise.into_iter().for_each(|inner| self.statement(inner));
            return;
        };
        self.condition(*condition);
        let then = self.flow_of(|loops| loops.statement(inner));
        let not = self.flow_of(|loops| loops.branches(rest, otherwise));
        self.flow.push(Flow::Branch(vec![then, not]));
    }

    /// `switch`, `while` and `do`.
    fn controlled(&mut self, statement: &Statement, condition: usize, inner: &Statement) {
        let keyword = self.word(statement.first);
        if keyword == "do" {
            let body = self.flow_of(|loops| {
                loops.statement(inner);
                loops.flow.push(Flow::Continued);
                loops.condition(condition);
            });
            self.loop_of(statement.first, statement.last, body);
            return;
        }
        let before = self.flow_of(|loops| loops.condition(condition));
        let body = self.flow_of(|loops| loops.statement(inner));
        if keyword == "switch" {
            self.flow.extend(before);
            self.flow.push(Flow::Switch(body));
            return;
        }
        self.loop_of(statement.first, statement.last, [before, body].concat());
    }

    /// `for`: without a condition it is not known here which expression comes first.
    fn for_loop(&mut self, statement: &Statement, condition: Option<usize>, inner: &Statement) {
        let mut before = Vec::new();
        if let Some(condition) = condition {
            let begin = self.flow_of(|loops| loops.others(condition));
            self.flow.extend(begin);
            before = self.flow_of(|loops| loops.condition(condition));
        }
        let step = self.flow_of(|loops| loops.others(inner.wholes.start));
        let body = self.flow_of(|loops| loops.statement(inner));
        if condition.is_none() {
            self.flow.extend(step.clone());
        }
        self.loop_of(statement.first, statement.last, [before, body, vec![Flow::Continued], step].concat());
    }

    /// Begins with a whole expression.
    fn begin(&mut self, expression: &Expression) {
        self.is_mixed = self.is_mixed(expression);
        self.near = 0;
        self.written = self.all_written(expression);
    }

    /// Of `if` and loops: control is the same on all nodes.
    fn condition(&mut self, number: usize) {
        let whole = self.main(number);
        self.begin(&whole.expression);
        self.wanted_scalar(
            &whole.expression,
            "a condition of `if`, `switch` or a loop is scalar, and this is parallel",
        );
    }

    /// The statements of a block.
    fn block(&mut self, statements: &[Statement]) {
        let mut group: Option<Group> = None;
        for statement in statements {
            let StatementForm::Expression(number) = statement.form else {
                self.close(&mut group);
                self.statement(statement);
                continue;
            };
            let whole = self.main(number);
            if is_parallel(self.draft, &whole.expression) {
                self.parallel_statement(statement, whole, &mut group);
            } else {
                self.begin(&whole.expression);
                if !self.shares_loop(statement, &whole.expression, &mut group) {
                    self.close(&mut group);
                    self.scalar(&whole.expression);
                }
            }
            self.others(statement.wholes.end);
        }
        self.close(&mut group);
    }

    /// A statement of its own loop if something is done before it, or nodes may have to come together before it, else of the one before. Of a send or a
    /// call nothing may be left for a loop.
    fn parallel_statement(&mut self, statement: &Statement, whole: &Whole, group: &mut Option<Group>) {
        let Some(current) = self.shape_for(&whole.expression) else { return };
        self.begin(&whole.expression);
        let mut ahead = Ahead::default();
        if self.alone(&whole.expression, &mut ahead) {
            self.close(group);
            self.draft.edits.replace(whole.expression.first, whole.expression.last, "");
            let ahead = self.done(ahead);
            self.draft.edits.before(statement.first, &format!("{{ {ahead}"));
            self.draft.edits.after(statement.last, " }");
            return;
        }
        self.near = group.as_ref().map_or(0, |group| group.noted.next_near());
        let noted = self.noted(|loops| loops.inside(&whole.expression, &mut ahead));
        match group {
            Some(group)
                if ahead.is_empty() && self.goes_on(group) && !group.noted.accesses.are_apart_from(&noted.accesses) =>
            {
                group.last = statement.last;
                self.take_in(group, &noted);
            }
            _ => {
                self.close(group);
                let (ahead, place) = (self.done(ahead), self.point(noted.accesses.clone()));
                let (first, last, at) = (statement.first, statement.last, self.flow.len() - 1);
                *group = Some(Group { first, last, shape: current, before: format!("{ahead}{place}"), noted, at });
            }
        }
    }

    /// `s = (+= e)` after parallel statements: each position adds its value in their loop. Gives whether that is so; if not, nothing is done yet.
    fn shares_loop(&mut self, statement: &Statement, expression: &Expression, group: &mut Option<Group>) -> bool {
        let Some((operator, operand, whole)) = self.one_reduction(expression) else { return false };
        let Some(mut group) = group.take_if(|group| self.goes_on(group)) else { return false };
        self.near = group.noted.next_near();
        let own = self.noted(|loops| loops.inside(operand, &mut Ahead::default()));
        let partial = self.partial(operand, operator);
        if group.noted.accesses.are_apart_from(&own.accesses) {
            self.finish(&group, group.last);
            let text = self.reduced_after("", &group.shape, &partial, own);
            self.draft.edits.replace(whole.0, whole.1, &text);
            return true;
        }
        self.take_in(&mut group, &own);
        self.flow.push(Flow::Barrier);
        group.before.push_str(&partial.begun);
        self.draft.edits.after(group.last, &format!(" {}", partial.added));
        self.draft.edits.replace(whole.0, whole.1, &partial.ended);
        self.finish(&group, statement.last);
        true
    }

    /// Whether nothing was done since a group's last statement.
    fn goes_on(&self, group: &Group) -> bool {
        self.flow.len() == group.at + 1
    }

    /// The loop of a group that goes on does this, too.
    fn take_in(&mut self, group: &mut Group, noted: &Noted) {
        if let Some(Flow::Point(_, all)) = self.flow.last_mut() {
            all.join(&noted.accesses);
        }
        group.noted.join(noted);
    }

    fn close(&mut self, group: &mut Option<Group>) {
        if let Some(group) = group.take() {
            self.finish(&group, group.last);
        }
    }

    /// The loop of a group. What belongs to its last token, and follows it up to `end`, is done after it.
    fn finish(&mut self, group: &Group, end: usize) {
        let done = self.tokens(group.first, group.last);
        let begin = format!("{{ {}{}{{ ", group.before, positions_twice(&group.shape, &group.noted, &done));
        self.draft.edits.before(group.first, &begin);
        self.draft.edits.after(group.last, " }");
        self.draft.edits.after(end, " }");
    }

    fn where_statement(
        &mut self,
        statement: &Statement,
        (condition, close): (usize, usize),
        inner: &Statement,
        otherwise: Option<&(usize, Box<Statement>)>,
    ) {
        let whole = self.main(condition);
        let name = self.temporary();
        if !is_parallel(self.draft, &whole.expression) {
            self.error(
                &whole.expression,
                "the condition of `where` is parallel, and this is scalar",
                "use `if` for a condition that is the same at all positions",
            );
        } else if let Some(current) = self.shape_for(&whole.expression) {
            self.begin(&whole.expression);
            let mut ahead = Ahead::default();
            let noted = self.noted(|loops| loops.inside(&whole.expression, &mut ahead));
            let (ahead, over) = (self.done(ahead), self.loop_over(&current, noted));
            let begin = format!(
                "{{ struct cstar_context {name} __attribute__((cleanup(cstar_leave))) = cstar_enter(&{}); {ahead}{over}{name}.mask[cstar_vp] = !!",
                object(&current.name),
            );
            self.draft.edits.instead(statement.first, &begin);
            self.draft.edits.after(close, &format!("; cstar_narrow(&{name});"));
        }
        self.statement(inner);
        if let Some((token, otherwise)) = otherwise {
            self.draft.edits.instead(*token, &format!("cstar_otherwise(&{name});"));
            self.statement(otherwise);
        }
        self.draft.edits.after(statement.last, " }");
    }

    fn everywhere(&mut self, statement: &Statement, inner: &Statement) {
        let Some(current) = self.current.clone() else {
            self.draft.error(statement.first, statement.first, NO_SHAPE).help(HOW_TO_CHOOSE);
            self.statement(inner);
            return;
        };
        let name = self.temporary();
        let begin = format!(
            "{{ struct cstar_context {name} __attribute__((cleanup(cstar_leave))) = cstar_everywhere(&{});",
            object(&current.name)
        );
        self.draft.edits.instead(statement.first, &begin);
        self.statement(inner);
        self.draft.edits.after(statement.last, " }");
    }
}

const NO_SHAPE: &str = "no shape is current here";
const HOW_TO_CHOOSE: &str = "choose one: with (S) { .. }";
