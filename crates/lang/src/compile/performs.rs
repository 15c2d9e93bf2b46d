//! Accesses that handlers perform: `perform ..`, and `complete with ..`.

use super::frame::Frame;
use super::types::{NUMBER, SOME_NODE};
use super::*;

impl Compiler {
    /// `perform ..` as a statement: what is loaded goes to the program's own memory.
    pub(super) fn perform(
        &mut self,
        frame: &mut Frame,
        access: &ast::Expr,
        to: Option<&ast::Expr>,
        span: Span,
    ) -> Option<Vec<StepKind>> {
        let ast::ExprKind::Perform(written) = &access.kind else { return None };
        let mut perform = self.access(frame, written, span)?;
        match (perform.kind, to) {
            (PerformKind::Read, Some(_)) if perform.asked => {
                self.error(span, "what a thread has asked for goes to the thread, by `complete with`")
                    .help("`let w = perform read(a, n) as t`, and send w to the thread's node");
                return None;
            }
            (PerformKind::Read, Some(to)) => {
                perform.args.push(self.expr_of(frame, to, &NUMBER)?);
                perform.kind = PerformKind::ReadTo;
            }
            (PerformKind::Read, None) => {
                self.error(span, "what is loaded goes nowhere").help(
                    "`let w = perform read(a, n)`, or `perform read(a, n) to p`, a place of the program's own memory",
                );
                return None;
            }
            (_, Some(to)) => {
                self.error(to.span, "only a load goes to a place of the program's memory");
                return None;
            }
            (_, None) => {}
        }
        Some(vec![StepKind::Perform(perform)])
    }

    /// `perform ..` within a statement: it comes before the rest of the statement, and what it gives is a local.
    pub(super) fn performed(&mut self, frame: &mut Frame, written: &ast::Perform, span: Span) -> Option<Expr> {
        if frame.performs.is_none() {
            self.error(span, "an access cannot be performed here")
                .help("perform it in a statement before: `let w = perform read(a, n)`");
            return None;
        }
        let mut perform = self.access(frame, written, span)?;
        if perform.kind == PerformKind::Write {
            self.error(span, "a store gives no value").help("let it be a statement by itself");
            return None;
        }
        let result = frame.hidden_local(&self.protocol, "", Type::Word);
        perform.result = Some(result);
        frame.performs.get_or_insert_default().push(Step { kind: StepKind::Perform(perform), span });
        Some(Expr { kind: ExprKind::Local(result), ty: Type::Word, span })
    }

    fn access(&mut self, frame: &mut Frame, written: &ast::Perform, span: Span) -> Option<Perform> {
        let word = written.what.text.as_str();
        if self.protocol.cached {
            self.error(span, "`perform` is not for cached processors, which access their cache only")
                .help("let the program access the block: its cache asks with `read` or `write`");
            return None;
        }
        if frame.wait.is_some() {
            self.error(span, "`perform` cannot stand in a `while waiting` clause")
                .help("such a clause may lower, assign, send and defer; when more depends on what arrives meanwhile, write states");
            return None;
        }
        self.about_block(frame, span)?;
        let (kind, form, counts) = match word {
            "read" => (PerformKind::Read, "read(address, size)", 1..=2),
            "write" => (PerformKind::Write, "write(address, value, size)", 2..=3),
            _ => (PerformKind::Rmw, "rmw(address, size, operation, operand, expected)", 4..=5),
        };
        if !counts.contains(&written.args.len()) {
            self.error(written.what.span, format!("`perform {word}` does not take {} arguments", written.args.len()))
                .help(format!("`perform {form}`"));
            return None;
        }
        let (size, operands) = match (kind, &written.args[1..]) {
            (PerformKind::Write, [value, rest @ ..]) => (rest.first(), std::slice::from_ref(value)),
            (_, [size, rest @ ..]) => (Some(size), rest),
            (_, []) => (None, &[][..]),
        };
        let address = self.expr_of(frame, &written.args[0], &Type::Address);
        let size = match size {
            Some(size) => self.expr_of(frame, size, &NUMBER),
            None => Some(constant(8, NUMBER, span)),
        };
        let mut args = vec![address?, size?];
        if let Some((thread, node)) = &written.asker {
            args.push(self.expr_of(frame, thread, &Type::Thread)?);
            args.push(match node {
                Some(node) => self.expr_of(frame, node, &SOME_NODE)?,
                None => self.origin(frame, frame.sender, ExprKind::Sender, SOME_NODE, "sender", thread.span)?,
            });
        }
        let (operation, operands) = match (kind, operands) {
            (PerformKind::Rmw, [operation, operands @ ..]) => (Some(operation), operands),
            _ => (None, operands),
        };
        if let Some(operation) = operation {
            args.push(self.operation(frame, operation)?);
        }
        for operand in operands {
            args.push(self.expr_of(frame, operand, &Type::Word)?);
        }
        if kind == PerformKind::Rmw && operands.len() == 1 {
            args.push(constant(0, Type::Word, span));
        }
        Some(Perform { kind, asked: written.asker.is_some(), args, result: None })
    }

    /// The operation of a read-modify-write: its name, or its number.
    fn operation(&mut self, frame: &mut Frame, written: &ast::Expr) -> Option<Expr> {
        if let ast::ExprKind::Name(name) = &written.kind
            && frame.look_up(name).is_none()
            && let Some(operation) = Operation::of_name(name)
        {
            return Some(constant(operation.number(), NUMBER, written.span));
        }
        self.expr_of(frame, written, &NUMBER)
    }

    /// `complete with value to thread`.
    pub(super) fn complete_with(
        &mut self,
        frame: &mut Frame,
        value: Option<&ast::Expr>,
        to: &ast::Expr,
        span: Span,
    ) -> Option<StepKind> {
        self.about_block(frame, span)?;
        let value = match value {
            Some(value) => self.expr_of(frame, value, &Type::Word)?,
            None => constant(0, Type::Word, span),
        };
        Some(StepKind::CompleteWith(value, self.expr_of(frame, to, &Type::Thread)?))
    }

    /// An access is performed on the present object, which must be a block.
    fn about_block(&mut self, frame: &Frame, span: Span) -> Option<()> {
        let role = &self.protocol.roles[frame.seen.index()];
        if role.object == BLOCK {
            return Some(());
        }
        let kind = self.protocol.objects[role.object.index()].clone();
        self.error(span, format!("an access is performed on a block, but this role is about a `{kind}`"))
            .help("perform it in a handler or an action of a role of `block`");
        None
    }
}

fn constant(value: i64, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Constant(Bound::fixed(value)), ty, span }
}
