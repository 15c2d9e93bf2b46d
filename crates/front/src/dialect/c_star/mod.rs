//! C*. Each node has a part of each parallel variable, and a pointer of the variable's name to it; a parallel statement is a loop over the positions of
//! that part, and consecutive ones share a loop. What a statement gets from other positions, or reduces, is done before its loop. Contexts are
//! kept beside their shapes, so that they hold in functions that are called; a block gives its outer one back however it is left.

mod calls;
mod communication;
mod expressions;
mod parallel;
mod variables;

use crate::draft::Draft;
use crate::tree::{Body, Statement, StatementForm, Whole};
use crate::types::{ParallelShape, Signature};
pub(crate) use parallel::object;
use parallel::{Ahead, is_parallel, positions};
use std::rc::Rc;
pub(crate) use variables::end;

/// Puts C in place of what is C*'s own in a function, or in an expression outside of one.
pub(crate) fn body(draft: &mut Draft, body: &Body) {
    let signature = body.signature.as_deref();
    let current = signature.map(|signature| signature.shape.clone());
    let mut loops = Loops { draft, wholes: &body.wholes, next: 0, current, signature };
    match &body.block {
        Some(block) => loops.statement(block),
        None => loops.others(body.wholes.len()),
    }
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
}

/// Consecutive parallel statements that share a loop.
struct Group {
    last: usize,
}

impl<'p> Loops<'p, '_> {
    /// Decides about expressions that no statement names, up to that one: scalar ones.
    fn others(&mut self, end: usize) {
        while self.next < end {
            let whole = &self.wholes[self.next];
            self.next += 1;
            let before = std::mem::replace(&mut self.draft.unevaluated, whole.unevaluated);
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
            StatementForm::If { branches, otherwise } => {
                for (condition, inner) in branches {
                    self.condition(*condition);
                    self.statement(inner);
                }
                otherwise.iter().for_each(|inner| self.statement(inner));
            }
            StatementForm::Condition { condition, inner } if inner.wholes.start > *condition => {
                self.condition(*condition);
                self.statement(inner);
            }
            StatementForm::Condition { condition, inner } => {
                self.statement(inner);
                self.condition(*condition);
            }
            StatementForm::For { condition, inner } => {
                condition.iter().for_each(|condition| self.condition(*condition));
                self.others(inner.wholes.start);
                self.statement(inner);
            }
            StatementForm::Labelled(inner) => {
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
            StatementForm::Return(Some(value)) => self.returned(statement, *value),
            StatementForm::Return(None) => {}
            StatementForm::Plain => {}
        }
        self.others(statement.wholes.end);
    }

    /// Of `if` and loops: control is the same on all nodes.
    fn condition(&mut self, number: usize) {
        let whole = self.main(number);
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
                self.close(&mut group);
                self.scalar(&whole.expression);
            }
            self.others(statement.wholes.end);
        }
        self.close(&mut group);
    }

    /// A statement of its own loop if something is done before it, else of the one before. Of a send or a call nothing may be left for a loop.
    fn parallel_statement(&mut self, statement: &Statement, whole: &Whole, group: &mut Option<Group>) {
        let Some(current) = self.shape_for(&whole.expression) else { return };
        let mut ahead = Ahead::default();
        if self.alone(&whole.expression, &mut ahead) {
            self.close(group);
            self.draft.edits.replace(whole.expression.first, whole.expression.last, "");
            self.draft.edits.before(statement.first, &format!("{{ {}", ahead.text(&current)));
            self.draft.edits.after(statement.last, " }");
            return;
        }
        self.inside(&whole.expression, &mut ahead);
        match group {
            Some(group) if ahead.is_empty() => group.last = statement.last,
            _ => {
                self.close(group);
                let before = format!("{{ {}{}{{ ", ahead.text(&current), positions(&current));
                self.draft.edits.before(statement.first, &before);
                *group = Some(Group { last: statement.last });
            }
        }
    }

    fn close(&mut self, group: &mut Option<Group>) {
        if let Some(group) = group.take() {
            self.draft.edits.after(group.last, " } }");
        }
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
            let mut ahead = Ahead::default();
            self.inside(&whole.expression, &mut ahead);
            let begin = format!(
                "{{ struct cstar_context {name} __attribute__((cleanup(cstar_leave))) = cstar_enter(&{}); {}{}{name}.mask[cstar_vp] = !!",
                object(&current.name),
                ahead.text(&current),
                positions(&current),
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
