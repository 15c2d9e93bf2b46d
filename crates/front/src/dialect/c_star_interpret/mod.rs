//! The meaning of C* as one would explain it: a parallel variable is an array of all positions on one node, and each operator of an expression is a loop over all
//! active positions, whose values go into an array of their own, from left to right. Nothing is put together, nothing is divided, and nothing is left out because
//! it would change nothing. So this is an oracle for what the compiler (`c_star`) makes, of which it uses nothing but what is read: the tree, and the changes that the
//! parser makes where it reads a declaration.
//!
//! It is for programs in which the compiler has found no mistake.

mod calls;
mod communication;
mod expressions;
mod parallel;
mod told;
mod variables;

use crate::draft::Draft;
use crate::edits::{ABOUT, MOVED};
use crate::tree::{Body, Expression, Statement, StatementForm, Whole};
use crate::types::{ParallelShape, Signature};
use expressions::Changed;
use parallel::is_parallel;
use std::collections::HashMap;
use std::rc::Rc;
pub(crate) use variables::end;

/// Puts C in place of what is C*'s own in a function, or in an expression outside of one.
pub(crate) fn body(draft: &mut Draft, body: &Body) {
    let signature = body.signature.as_deref();
    let current = signature.map(|signature| signature.shape.clone());
    let mut meant = Meant { draft, wholes: &body.wholes, next: 0, current, signature, known: HashMap::new() };
    match &body.block {
        Some(block) => meant.statement(block),
        None => meant.scalars(body.wholes.len()),
    }
}

/// Says what the statements of a function mean.
struct Meant<'p, 'a> {
    draft: &'p mut Draft<'a>,
    wholes: &'p [Whole],
    /// The first whole expression that nothing was said about.
    next: usize,
    current: Option<Rc<ParallelShape>>,
    /// Of the function, if it has something parallel.
    signature: Option<&'p Signature>,
    /// Parts that were evaluated already, by their first and last token: what holds their values, in C.
    known: HashMap<(usize, usize), String>,
}

/// The object of a shape.
fn object(shape: &ParallelShape) -> String {
    crate::dialect::c_star::object(&shape.name)
}

/// A loop over the active positions of a shape.
fn each(shape: &ParallelShape, statement: &str) -> String {
    let object = object(shape);
    format!(
        "for (int cstar_vp = 0; cstar_vp < {object}.state->all; cstar_vp++) if (cstar_active(&{object}, cstar_vp)) {{ {statement} }} "
    )
}

/// The same in the order of the nodes that would have the positions; `begin`: what is done first for each node.
fn each_of_nodes(shape: &ParallelShape, begin: &str, statement: &str) -> String {
    let own = format!("if (cstar_owner(&{}, cstar_vp) == cstar_node) {{ {statement} }}", object(shape));
    format!("for (int cstar_node = 0; cstar_node < trivium_nodes(); cstar_node++) {{ {begin}{}}} ", each(shape, &own))
}

impl<'p> Meant<'p, '_> {
    fn temporary(&mut self) -> String {
        self.draft.temporary("cstar")
    }

    fn word(&self, token: usize) -> String {
        self.draft.word_at(token).to_string()
    }

    /// The text of tokens, with its changes.
    fn tokens(&self, first: usize, last: usize) -> String {
        self.draft.edits.text(self.draft.lexed, first, last)
    }

    fn text(&self, expression: &Expression) -> String {
        self.tokens(expression.first, expression.last)
    }

    /// Text that is told to stand in the line of a token.
    fn at(&self, token: usize, text: &str) -> String {
        format!("{ABOUT}{MOVED}{token}{ABOUT}{text}")
    }

    /// The current shape: the compiler has made sure that there is one.
    fn shape(&self) -> Rc<ParallelShape> {
        self.current.clone().unwrap_or_else(|| Rc::new(ParallelShape { name: "none".into(), rank: 1 }))
    }

    /// Says what expressions mean that no statement names, up to that one: they are scalar.
    fn scalars(&mut self, end: usize) {
        while self.next < end {
            let whole = &self.wholes[self.next];
            self.next += 1;
            let before = std::mem::replace(&mut self.draft.unevaluated, whole.unevaluated);
            self.scalar(&whole.expression);
            self.draft.unevaluated = before;
        }
    }

    /// An expression that a statement names; those that stand in it come first.
    fn named(&mut self, number: usize) -> &'p Expression {
        self.scalars(number);
        self.next = number + 1;
        &self.wholes[number].expression
    }

    fn statement(&mut self, statement: &Statement) {
        self.scalars(statement.wholes.start);
        match &statement.form {
            StatementForm::Block(statements) => statements.iter().for_each(|inner| self.statement(inner)),
            StatementForm::Expression(number) => self.expression_statement(statement, *number),
            StatementForm::If { branches, otherwise } => {
                branches.iter().for_each(|(_, inner)| self.statement(inner));
                otherwise.iter().for_each(|inner| self.statement(inner));
            }
            StatementForm::Condition { inner, .. } | StatementForm::For { inner, .. } => self.statement(inner),
            StatementForm::Labelled(inner) => inner.iter().for_each(|inner| self.statement(inner)),
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
            StatementForm::Return(None) | StatementForm::Plain => {}
        }
        self.scalars(statement.wholes.end);
    }

    fn expression_statement(&mut self, statement: &Statement, number: usize) {
        let expression = self.named(number);
        if !is_parallel(self.draft, expression) {
            self.scalar(expression);
            return;
        }
        let mut code = String::new();
        self.ahead(expression, &mut code);
        let place = self.done(expression, &mut code);
        self.tell((statement.first, statement.last), place, &mut code);
        self.draft.edits.replace(statement.first, statement.last, &format!("{{ {code}}}"));
    }

    /// The positions at which a condition is true are active in the one statement, and the others in the other one.
    fn where_statement(
        &mut self,
        statement: &Statement,
        (condition, close): (usize, usize),
        inner: &Statement,
        otherwise: Option<&(usize, Box<Statement>)>,
    ) {
        let (expression, shape) = (self.named(condition), self.shape());
        let mut code = String::new();
        self.ahead(expression, &mut code);
        let value = self.value(expression, &mut code);
        let mask = self.mask(&format!("!!({value})"), &mut code);
        let found = Changed {
            name: (expression.first, expression.last),
            value: format!("{mask}[cstar_vp]"),
            shape: shape.clone(),
        };
        self.tell((statement.first, close), Some(found), &mut code);
        let name = self.temporary();
        let enter = |mask: &str| {
            format!(
                "struct cstar_within {name} __attribute__((cleanup(cstar_leave))) = cstar_where(&{}, {mask}); ",
                object(&shape)
            )
        };
        self.draft.edits.replace(statement.first, close, &format!("{{ {code}{{ {}", enter(&mask)));
        self.statement(inner);
        if let Some((token, otherwise)) = otherwise {
            let mut code = String::new();
            let mask = self.mask(&format!("!{mask}[cstar_vp]"), &mut code);
            self.draft.edits.instead(*token, &format!("}} {{ {code}{}", enter(&mask)));
            self.statement(otherwise);
        }
        self.draft.edits.after(statement.last, " } }");
    }

    fn everywhere(&mut self, statement: &Statement, inner: &Statement) {
        let (name, object) = (self.temporary(), object(&self.shape()));
        let begin =
            format!("{{ struct cstar_within {name} __attribute__((cleanup(cstar_leave))) = cstar_where(&{object}, 0);");
        self.draft.edits.instead(statement.first, &begin);
        self.statement(inner);
        self.draft.edits.after(statement.last, " }");
    }
}
