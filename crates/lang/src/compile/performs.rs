//! Accesses that handlers perform: `perform ..`, and `complete with ..`.

use super::frame::Frame;
use super::types::{NUMBER, SOME_NODE};
use super::*;
use crate::ast::{Asker, OtherEnd};
use trivium_diagnostic::Code;

impl Compiler {
    /// `perform ..` as a statement: what is loaded goes to the program's own memory, and what is stored may come from there.
    pub(super) fn perform(
        &mut self,
        frame: &mut Frame,
        access: &ast::Expr,
        other_end: Option<&OtherEnd>,
        span: Span,
    ) -> Option<Vec<StepKind>> {
        let ast::ExprKind::Perform(written) = &access.kind else { return None };
        let is_range = other_end.is_some() && written.what.text == "write";
        let mut perform = self.access(frame, written, is_range, span)?;
        let Some(other_end) = other_end else {
            if perform.kind == PerformKind::Read {
                self.error(Code::Handler, span, "what is loaded goes nowhere").help(
                    "`let w = perform read(a, n)`, or `perform read(a, n) to p`, a place of the program's own memory",
                );
                return None;
            }
            return Some(vec![StepKind::Perform(perform)]);
        };
        match (perform.whose, other_end) {
            (PerformFor::Thread, _) => {
                self.error(
                    Code::Handler,
                    span,
                    "what a thread has asked for goes to the thread, and comes from it, as a value",
                )
                .help("`let w = perform read(a, n) as t`, and send w to the thread's node, for `complete with`");
                return None;
            }
            (PerformFor::ProgramOf, OtherEnd::To(place) | OtherEnd::From(place)) => {
                self.error(Code::Handler, place.span, "the program's own memory is that of this node, and the access is another's")
                    .help("`with perform read(a, n) for m` and `perform write(a, n) for m from payload` move bytes by messages");
                return None;
            }
            _ => {}
        }
        perform.kind = match (perform.kind, other_end) {
            (PerformKind::Read, OtherEnd::To(_)) => PerformKind::ReadTo,
            (PerformKind::Write, OtherEnd::From(_)) => PerformKind::WriteFrom,
            (PerformKind::Write, OtherEnd::Payload) => {
                self.needs_bytes(frame, "from payload", span)?;
                PerformKind::WriteData
            }
            (_, OtherEnd::To(place)) => {
                self.error(Code::Handler, place.span, "only a load goes to a place of the program's memory");
                return None;
            }
            (_, OtherEnd::From(_) | OtherEnd::Payload) => {
                self.error(Code::Handler, span, "only a store comes from elsewhere");
                return None;
            }
        };
        if let Some(place) = other_end.place() {
            perform.args.push(self.expr_of(frame, place, &NUMBER)?);
        }
        Some(vec![StepKind::Perform(perform)])
    }

    /// `with perform read(a, n)`: what a message carries. It comes before the rest of the statement; gives the local that stands for it.
    pub(super) fn performed_data(&mut self, frame: &mut Frame, access: &ast::Expr) -> Option<LocalId> {
        let ast::ExprKind::Perform(written) = &access.kind else { return None };
        let mut perform = self.access(frame, written, false, access.span)?;
        if perform.kind != PerformKind::Read || perform.asked() {
            self.error(Code::Handler, access.span, "a message carries what is loaded for a program: no other access").help(
                "`with perform read(a, n)`, or `for m` behind it; what a thread asks for is a value, and an argument",
            );
            return None;
        }
        perform.kind = PerformKind::ReadData;
        Some(self.before(frame, perform, access.span))
    }

    /// Puts an access before the rest of the present statement; gives the local that is its result.
    fn before(&mut self, frame: &mut Frame, mut perform: Perform, span: Span) -> LocalId {
        let result = frame.hidden_local(&self.protocol, "", Type::Word);
        perform.result = Some(result);
        frame.performs.get_or_insert_default().push(Step { kind: StepKind::Perform(perform), span });
        result
    }

    /// `perform ..` within a statement: it comes before the rest of the statement, and what it gives is a local.
    pub(super) fn performed(&mut self, frame: &mut Frame, written: &ast::Perform, span: Span) -> Option<Expr> {
        if frame.performs.is_none() {
            self.error(Code::Handler, span, "an access cannot be performed here")
                .help("perform it in a statement before: `let w = perform read(a, n)`");
            return None;
        }
        let perform = self.access(frame, written, false, span)?;
        if perform.kind == PerformKind::Write {
            self.error(Code::Handler, span, "a store gives no value").help("let it be a statement by itself");
            return None;
        }
        let result = self.before(frame, perform, span);
        Some(Expr { kind: ExprKind::Local(result), ty: Type::Word, span })
    }

    /// `is_range`: what is stored is no value.
    fn access(&mut self, frame: &mut Frame, written: &ast::Perform, is_range: bool, span: Span) -> Option<Perform> {
        let word = written.what.text.as_str();
        if frame.wait.is_some() {
            self.error(Code::Handler, span, "`perform` cannot stand in a `while waiting` clause")
                .help("such a clause may lower, assign, send and defer; when more depends on what arrives meanwhile, write states");
            return None;
        }
        self.about_block(frame, span)?;
        let (kind, form, counts) = match word {
            "read" => (PerformKind::Read, "read(address, size)", 1..=2),
            "write" if is_range => (PerformKind::Write, "write(address, size) from ..", 1..=2),
            "write" => (PerformKind::Write, "write(address, value, size)", 2..=3),
            _ => (PerformKind::Rmw, "rmw(address, size, operation, operand, expected)", 4..=5),
        };
        if !counts.contains(&written.args.len()) {
            self.error(
                Code::Handler,
                written.what.span,
                format!("`perform {word}` does not take {} arguments", written.args.len()),
            )
            .help(format!("`perform {form}`"));
            return None;
        }
        let (size, operands) = match (kind, &written.args[1..]) {
            (PerformKind::Write, [value, rest @ ..]) if !is_range => (rest.first(), std::slice::from_ref(value)),
            (_, [size, rest @ ..]) => (Some(size), rest),
            (_, []) => (None, &[][..]),
        };
        let address = self.expr_of(frame, &written.args[0], &Type::Address);
        let size = match size {
            Some(size) => self.expr_of(frame, size, &NUMBER),
            None => Some(constant(8, NUMBER, span)),
        };
        let mut args = vec![address?, size?];
        let whose = match &written.asker {
            None => PerformFor::Program,
            Some(Asker::Program(node)) => {
                args.push(self.expr_of(frame, node, &SOME_NODE)?);
                PerformFor::ProgramOf
            }
            Some(Asker::Thread(thread, node)) => {
                args.push(self.expr_of(frame, thread, &Type::Thread)?);
                args.push(match node {
                    Some(node) => self.expr_of(frame, node, &SOME_NODE)?,
                    None => self.origin(frame, frame.sender, ExprKind::Sender, SOME_NODE, "sender", thread.span)?,
                });
                PerformFor::Thread
            }
        };
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
        Some(Perform { kind, whose, args, result: None })
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
        self.error(
            Code::Handler,
            span,
            format!("an access is performed on a block, but this role is about a `{kind}`"),
        )
        .help("perform it in a handler or an action of a role of `block`");
        None
    }
}

pub(super) fn constant(value: i64, ty: Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Constant(Bound::fixed(value)), ty, span }
}
