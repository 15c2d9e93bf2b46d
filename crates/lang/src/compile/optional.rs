//! Values that may be `none`: where one becomes a plain value, where a plain value becomes one, and how the two are compared.
//!
//! `none` where a plain value is wanted is a fault. What may be a node or an object is looked at where it is used.

use super::Compiler;
use super::types::NUMBER;
use crate::ast;
use trivium_diagnostic::Code;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// Whether an expression is the word `none`.
pub(super) fn is_none(expr: &ast::Expr) -> bool {
    matches!(&expr.kind, ast::ExprKind::Name(name) if name == "none")
}

/// The number that stands for `none` in values of a type.
pub(super) fn none_of(ty: &Type, span: Span) -> Expr {
    Expr { kind: ExprKind::Constant(Bound::fixed(ty.none())), ty: ty.clone(), span }
}

/// A value as one of another type, which it fits.
pub(super) fn coerced(value: Expr, wanted: &Type) -> Expr {
    let (from, to) = (value.ty.given(), wanted.given());
    match (from, to) {
        _ if value.ty == *wanted => value,
        (None, None) => value,
        (Some(from), None) => {
            let (ty, span) = (from.clone(), value.span);
            Expr { kind: ExprKind::Given(Box::new(value)), ty, span }
        }
        (None, Some(to)) if is_surely(&value.kind, &value.ty, to) => value,
        (Some(from), Some(to)) if value.ty.none() == wanted.none() && is_surely(&value.kind, from, to) => value,
        (_, Some(_)) => {
            let span = value.span;
            Expr { kind: ExprKind::Optional(Box::new(value)), ty: wanted.clone(), span }
        }
    }
}

/// A value that may be `none` as a plain one, where no other type is wanted.
pub(super) fn plain(value: Expr) -> Expr {
    let ty = value.ty.given().unwrap_or(&value.ty).clone();
    coerced(value, &ty)
}

/// Whether each value of one plain type is one of another, and stands for no `none`.
fn is_surely(kind: &ExprKind, from: &Type, to: &Type) -> bool {
    let range = |ty: &Type| match (kind, ty) {
        (ExprKind::Constant(number), _) => Some((*number, *number)),
        (_, Type::Int { lo, hi }) => Some((*lo, *hi)),
        _ => None,
    };
    let always = |is: &dyn Fn(u32) -> bool| is(1) && is(MAX_NODES);
    match (range(from), to) {
        (Some((least, most)), Type::Int { lo, hi }) => always(&|n| least.at(n) >= lo.at(n) && most.at(n) <= hi.at(n)),
        (Some((least, _)), Type::Word) => always(&|n| least.at(n) > NO_WORD),
        (Some((least, _)), Type::Address) => always(&|n| least.at(n) >= 0),
        _ => from != to && !matches!(from, Type::Address | Type::Word) || *from == Type::Bool,
    }
}

/// Whether a plain value may be the number that stands for `none` in values of another type.
fn may_stand_for_none(value: &Expr, optional: &Type) -> bool {
    let none = optional.none();
    let lies_in = |lo: Bound, hi: Bound| {
        let ends = [1, MAX_NODES].map(|nodes| (lo.at(nodes), hi.at(nodes)));
        ends.iter().any(|(lo, _)| *lo <= none) && ends.iter().any(|(_, hi)| *hi >= none)
    };
    match (&value.kind, &value.ty) {
        (ExprKind::Constant(number), _) => lies_in(*number, *number),
        (_, Type::Int { lo, hi }) => lies_in(*lo, *hi),
        (_, Type::Address | Type::Word) => true,
        _ => false,
    }
}

/// Whether two scalars are the same, `none` being no plain value.
pub(super) fn equal(left: Expr, right: Expr, span: Span) -> Expr {
    let binary = |op, left: Expr, right: Expr| {
        let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
        Expr { kind, ty: Type::Bool, span }
    };
    if left.ty.given().is_some() && right.ty.given().is_some() && left.ty.none() != right.ty.none() {
        let (left, right) = match left.ty.given() {
            Some(Type::Word) => (coerced(right, &left.ty), left),
            _ => (coerced(left, &right.ty), right),
        };
        return binary(Operator::Equal, left, right);
    }
    let (optional, value) = match (left.ty.given(), right.ty.given()) {
        (Some(_), None) => (&left, &right),
        (None, Some(_)) => (&right, &left),
        _ => return binary(Operator::Equal, left, right),
    };
    if !may_stand_for_none(value, &optional.ty) {
        return binary(Operator::Equal, left, right);
    }
    let is_there = binary(Operator::Different, optional.clone(), none_of(&optional.ty, span));
    binary(Operator::And, is_there, binary(Operator::Equal, left, right))
}

impl Compiler {
    /// `none` where a type is wanted that says which number it is, or that has none.
    pub(super) fn none(&mut self, wanted: &Type, span: Span) -> Option<Expr> {
        let has_none = match wanted {
            Type::Bool | Type::Int { .. } | Type::Address | Type::Word | Type::Object(_) => false,
            Type::Thread | Type::ObjectOrNone(_) | Type::OrNone(_) => true,
            _ => return Some(none_of(&Type::Node { optional: true }, span)),
        };
        if has_none {
            return Some(none_of(wanted, span));
        }
        let name = self.type_name(wanted);
        let optional = if *wanted == NUMBER { "0..9?".into() } else { format!("{name}?") };
        self.error(Code::Type, span, format!("`none` is no {name}"))
            .help(format!("what may be none has the type `{optional}`"));
        None
    }

    /// A type with `none` beside its values.
    pub(super) fn optional_type(&mut self, ty: Type, span: Span) -> Type {
        let name = self.type_name(&ty);
        match ty {
            Type::Int { lo, hi } => {
                let least = lo.at(1).min(lo.at(COMPILED_FOR));
                let most = hi.at(1).max(hi.at(COMPILED_FOR));
                if least <= -1 && most >= -1 {
                    self.error(Code::Type, span, format!("-1 stands for `none`, and {name} has it"))
                        .help("take numbers from 0 on, or keep a bool beside it");
                    return ty;
                }
            }
            Type::Bool | Type::Address | Type::Word => {}
            other => {
                self.error(Code::Type, span, format!("only scalars can be optional, not {name}"))
                    .help("use a bool beside it");
                return other;
            }
        }
        Type::OrNone(Box::new(ty))
    }

    /// A call is passed no word that may be none, and returns none.
    pub(super) fn refuse_optional_words(&mut self, op: &Op) {
        let named = op.args.iter().map(|arg| (format!("`{}`", arg.name), &arg.ty, arg.span));
        let result = op.result.iter().map(|ty| ("the result".to_string(), ty, op.span));
        let wrong = named.chain(result).find(|(_, ty, _)| self.has_optional_word(ty));
        if let Some((what, _, span)) = wrong {
            let message = format!(
                "{what} of `{}` is or has a `word?`, but each number of 64 bits in C is a word: none is left for `none`",
                op.name
            );
            self.error(Code::Type, span, message)
                .help("take a range, `0..1000?`, beside which -1 is none, or a bool beside the word");
        }
    }

    fn has_optional_word(&self, ty: &Type) -> bool {
        match ty {
            Type::OrNone(of) => **of == Type::Word,
            Type::List { of, .. } | Type::Array { of, .. } => self.has_optional_word(of),
            Type::Record(record) => {
                let fields = &self.protocol.records[record.index()].fields;
                fields.iter().any(|field| self.has_optional_word(&field.ty))
            }
            _ => false,
        }
    }
}
