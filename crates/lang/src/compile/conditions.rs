//! Assumptions about each use: `assume give_back(n) when member.held >= n`.

use super::frame::{Binding, Frame};
use super::*;
use trivium_diagnostic::Code;
use trivium_protocol::walk;

impl Compiler {
    /// `assume CALL when EXPR`, `assume read when EXPR`: what must be true on the node where a call is made.
    pub(super) fn condition(&mut self, word: &ast::Word, when: &ast::Expr) {
        let Some((event, object)) = self.used(word) else { return };
        let mut frame = Frame::new(RoleId(u8::MAX), StateId(0), event, String::new(), Access::None);
        (frame.global, frame.here, frame.about) = (true, true, Some(object));
        self.bind_used(&mut frame, word, event, object);
        let Some(condition) = self.expr_of(&mut frame, when, &Type::Bool) else { return };
        let mut lists = Vec::new();
        walk::visit(&condition, &mut |expr| match expr.kind {
            ExprKind::Local(local) | ExprKind::LocalLength(local) | ExprKind::LocalElement(local, ..)
                if !types::is_scalar(&frame.locals[local.index()].ty) =>
            {
                lists.push(expr.span);
            }
            _ => {}
        });
        if let Some(span) = lists.first() {
            self.error(Code::Claim, *span, "an assumption cannot look into a list or an array that a call passes")
                .help("look at it in the handler, or pass what matters as a scalar too");
            return;
        }
        let span = word.name.span.to(when.span);
        let text = self.diagnostics.sources.excerpt(span).split_whitespace().collect::<Vec<_>>().join(" ");
        // A file that uses another may repeat its assumptions.
        if !self.protocol.conditions.iter().any(|known| known.text == text) {
            self.protocol.conditions.push(Condition { event, object, condition, text, span });
        }
    }

    fn used(&mut self, word: &ast::Word) -> Option<(EventKind, ObjectKindId)> {
        let access = match word.name.text.as_str() {
            "read" => Some(EventKind::Read),
            "write" => Some(EventKind::Write),
            _ => None,
        };
        let Some(access) = access else {
            let op = self.op_of(&word.name)?;
            return Some((EventKind::Op(op), self.protocol.ops[op.index()].object));
        };
        if !self.protocol.uses(BLOCK) {
            self.error(Code::Claim, word.name.span, "this protocol has no blocks to read or write")
                .help("assume something about a call that it declares");
            return None;
        }
        if !word.args.is_empty() {
            self.error(Code::Claim, word.args[0].span, format!("`{}` has no arguments here", word.name.text))
                .help("the condition is about the block: `object`, and the state of the node's roles for it");
            return None;
        }
        Some((access, BLOCK))
    }

    /// The arguments of the call under their declared names, or those given; the object may be named too.
    fn bind_used(&mut self, frame: &mut Frame, word: &ast::Word, event: EventKind, object: ObjectKindId) {
        let EventKind::Op(op) = event else { return };
        let declared = self.protocol.ops[op.index()].args.clone();
        let skip = usize::from(object != NODE);
        let names = match &word.args[..] {
            [] => None,
            [first, rest @ ..] if skip == 1 && rest.len() == declared.len() => {
                frame.bind(&first.text, Binding::Fault(ExprKind::Object, Type::Object(object)));
                Some(rest)
            }
            names => Some(names),
        };
        self.bind_args(frame, &declared, names, word.name.span);
    }
}
