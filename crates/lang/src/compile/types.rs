//! Types as written to types, and which fits where.

use super::Compiler;
use crate::ast;
use std::collections::HashSet;
use trivium_diagnostic::Code;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// A number of unknown range: the result of arithmetic.
pub(super) const NUMBER: Type = Type::Int { lo: Bound::fixed(i64::MIN), hi: Bound::fixed(i64::MAX) };
/// The number of an operation of read-modify-writes.
pub(super) const OPERATION: Type = Type::Int { lo: Bound::fixed(0), hi: Bound::fixed(Operation::LAST) };
pub(super) const ANY_NODE: Type = Type::Node { optional: true };
pub(super) const SOME_NODE: Type = Type::Node { optional: false };

/// Most elements of a set of numbers.
const MAX_SET: i64 = 256;
/// Most elements of a set of numbers that is an element of an array: it is kept as the bits of a number.
const MAX_SET_IN_ARRAY: i64 = 64;
/// Most elements of an array: each takes a byte of a record at the least.
const MAX_ARRAY: i64 = 65_536;
/// Most elements of a list.
const MAX_LIST: i64 = 65_535;

/// Whether a value of type `from` may go where `to` is wanted.
pub(super) fn fits(from: &Type, to: &Type) -> bool {
    use Type::*;
    match (from, to) {
        (Int { .. }, Int { .. }) | (Node { .. }, Node { .. }) => true,
        (Int { .. }, Word | Address | Object(_)) => true,
        // Whether it is one is looked at when it happens.
        (Object(from) | ObjectOrNone(from), Object(to) | ObjectOrNone(to)) => from == to,
        (Word | Address, Int { .. }) | (Word, Address) | (Address, Word) => true,
        (Object(_), Int { .. } | Word) => true,
        (Bool, Word) => true,
        (IntSet { .. }, IntSet { .. }) => true,
        // Whether there is one is looked at when it happens.
        (OrNone(from), OrNone(to)) => fits(from, to),
        (OrNone(from), to) => fits(from, to),
        (from, OrNone(to)) => fits(from, to),
        // Whether there is room for all elements is looked at when it happens.
        (List { of: from, .. }, List { of: to, .. }) => from == to,
        (a, b) => a == b,
    }
}

/// Whether bodies of calls are passed values of a type, and events have them: numbers, truth values and objects.
pub(super) fn is_for_bodies(ty: &Type) -> bool {
    matches!(ty, Type::Bool | Type::Int { .. } | Type::Word) || is_object(ty)
}

/// Whether values of a type are objects, or `none` beside them.
pub(super) fn is_object(ty: &Type) -> bool {
    matches!(ty, Type::Object(_) | Type::ObjectOrNone(_))
}

/// The least and the greatest number of a range that does not depend on `nodes`.
pub(super) fn fixed_range(ty: &Type) -> Option<(i64, i64)> {
    match ty {
        Type::Int { lo, hi } if lo.per_node == 0 && hi.per_node == 0 => Some((lo.constant, hi.constant)),
        _ => None,
    }
}

pub(super) fn is_set(ty: &Type) -> bool {
    matches!(ty, Type::NodeSet | Type::IntSet { .. })
}

pub(super) fn is_scalar(ty: &Type) -> bool {
    !is_set(ty) && !matches!(ty, Type::List { .. } | Type::Record(_) | Type::Array { .. })
}

/// Whether a message can bring a value of the type.
pub(super) fn is_sent(ty: &Type) -> bool {
    is_scalar(ty) || matches!(ty, Type::NodeSet | Type::Array { .. } | Type::List { .. })
}

/// Whether a scalar is the same number to a protocol and to its program.
pub(super) fn is_same_to_a_program(scalar: &Type) -> bool {
    let scalar = scalar.given().unwrap_or(scalar);
    !matches!(scalar, Type::Thread | Type::Address | Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK))
}

/// Whether a call that is about no object has something to return: nothing, 0, `false` or `none`.
pub(super) fn has_value_for_none(result: &Type) -> bool {
    match result {
        Type::Int { lo, hi } => lo.at(1) <= 0 && lo.at(COMPILED_FOR) <= 0 && hi.at(1) >= 0 && hi.at(COMPILED_FOR) >= 0,
        Type::Bool | Type::Word | Type::Node { optional: true } | Type::ObjectOrNone(_) | Type::OrNone(_) => true,
        _ => false,
    }
}

/// Whether a call can be passed a value of the type: a list or an array as numbers, whatever the number of nodes.
pub(super) fn is_passed(ty: &Type) -> bool {
    let is_element = |of: &Type| matches!(of, Type::Record(_)) || (is_scalar(of) && is_same_to_a_program(of));
    match ty {
        Type::List { of, up_to, .. } => up_to.per_node == 0 && is_element(of),
        Type::Array { by, of } => {
            matches!(&**by, Type::Int { lo, hi } if lo.per_node == 0 && hi.per_node == 0) && is_element(of)
        }
        other => is_scalar(other),
    }
}

pub(super) fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Int { .. } | Type::Word | Type::Address)
}

impl Compiler {
    /// A type as messages to people write it.
    pub(super) fn type_name(&self, ty: &Type) -> String {
        self.protocol.type_name(ty)
    }

    /// The kind of object of a name.
    pub(super) fn object_kind(&mut self, name: &ast::Ident) -> Option<ObjectKindId> {
        let found = self.protocol.objects.iter().position(|o| *o == name.text);
        if found.is_none() {
            let known = self.protocol.objects.clone();
            self.unknown(name.span, "kind of object", &name.text, known.iter().map(String::as_str));
        }
        found.map(|i| ObjectKindId(i as u8))
    }

    /// A type that is too large or empty has been told; a smaller one stands for it, so that what uses it is judged by itself.
    pub(super) fn ty(&mut self, ty: &ast::Type) -> Option<Type> {
        match ty {
            ast::Type::Named { name, optional } => self.named_type(name, *optional),
            ast::Type::Range { lo, hi, optional } => {
                let span = lo.span.to(hi.span);
                let (lo, hi) = (self.bound(lo)?, self.bound(hi)?);
                if lo.at(1) > hi.at(1) || lo.at(COMPILED_FOR) > hi.at(COMPILED_FOR) {
                    let empty = format!("the range {lo}..{hi} is empty");
                    if lo.per_node == hi.per_node {
                        self.error(Code::Type, span, empty).help("write the smaller number first");
                    } else {
                        let nodes = if lo.at(1) > hi.at(1) { "1 node".into() } else { format!("{COMPILED_FOR} nodes") };
                        self.error(Code::Type, span, format!("{empty} with {nodes}"))
                            .help("a range has a number in it however many nodes there are, from 1 on");
                    }
                    return Some(Type::Int { lo, hi: lo });
                }
                let range = Type::Int { lo, hi };
                Some(if *optional { self.optional_type(range, span) } else { range })
            }
            ast::Type::Set { of, span } => match self.ty(of)? {
                Type::Node { .. } => Some(Type::NodeSet),
                Type::Int { lo, hi } if hi.at(COMPILED_FOR).saturating_sub(lo.at(COMPILED_FOR)) < MAX_SET => {
                    Some(Type::IntSet { lo, hi })
                }
                Type::Int { lo, .. } => {
                    self.error(Code::Type, *span, format!("a set of numbers has room for at most {MAX_SET} elements"))
                        .help("use a smaller range");
                    Some(Type::IntSet { lo, hi: lo })
                }
                other => {
                    let name = self.type_name(&other);
                    self.error(Code::Type, *span, format!("there are sets of nodes and of numbers, not of {name}"))
                        .help("use a list");
                    None
                }
            },
            ast::Type::List { of, up_to, queue, span } => {
                let element = self.ty(of)?;
                let bound = self.bound(up_to)?;
                if !is_scalar(&element) && !matches!(element, Type::Record(_)) {
                    let help = match element {
                        Type::NodeSet | Type::IntSet { .. } => {
                            "keep an array of sets, `[0..3] of set of node`, and how many of them are used"
                        }
                        _ => "declare a record for the elements",
                    };
                    self.error(Code::Type, *span, "the elements of a list are scalars or records").help(help);
                    return None;
                }
                if bound.at(1) < 1 || bound.at(COMPILED_FOR) > MAX_LIST {
                    self.error(
                        Code::Type,
                        up_to.span,
                        format!("a list may hold 1 to {MAX_LIST} elements, not {bound}"),
                    );
                    return Some(Type::List { of: Box::new(element), up_to: Bound::fixed(1), queue: *queue });
                }
                Some(Type::List { of: Box::new(element), up_to: bound, queue: *queue })
            }
            ast::Type::Array { by, of, span } => self.array(by, of, *span),
        }
    }

    fn array(&mut self, by: &ast::Type, of: &ast::Type, span: Span) -> Option<Type> {
        let by = self.ty(by)?;
        let count = match &by {
            Type::Node { optional: false } => 1,
            Type::Int { lo, hi } => [1, COMPILED_FOR]
                .map(|nodes| hi.at(nodes).saturating_sub(lo.at(nodes)).saturating_add(1))
                .into_iter()
                .fold(1, i64::max),
            other => {
                let name = self.type_name(other);
                self.error(
                    Code::Type,
                    span,
                    format!("an array has an element for each node or for each number of a range, not for each {name}"),
                )
                .help("`[node] of 0..8`, `[0..3] of bool`");
                return None;
            }
        };
        let of = self.ty(of)?;
        if let Type::Array { .. } | Type::List { .. } = of {
            let name = self.type_name(&of);
            let help = match of {
                Type::Array { .. } => "keep one array and work the element's number out: `x[i * width + j]`",
                _ => "keep one list of records that say to which element each belongs",
            };
            self.error(Code::Type, span, format!("the elements of an array are scalars, sets or records, not {name}"))
                .help(help);
            return None;
        }
        if let Type::IntSet { lo, hi } = of
            && hi.at(COMPILED_FOR).saturating_sub(lo.at(COMPILED_FOR)) >= MAX_SET_IN_ARRAY
        {
            self.error(
                Code::Type,
                span,
                format!("a set that is an element of an array has room for at most {MAX_SET_IN_ARRAY} elements"),
            )
            .help("use a smaller range");
            return None;
        }
        if count > MAX_ARRAY {
            self.error(Code::Type, span, format!("an array of {count} elements is longer than a record may be"))
                .help(format!("a record takes at most {MAX_ARRAY} bytes: use fewer elements"));
            return None;
        }
        Some(Type::Array { by: Box::new(by), of: Box::new(of) })
    }

    fn named_type(&mut self, name: &ast::Ident, optional: bool) -> Option<Type> {
        let ty = match name.text.as_str() {
            "bool" => Type::Bool,
            "node" => return Some(Type::Node { optional }),
            "address" => Type::Address,
            "word" => Type::Word,
            "thread" => return Some(Type::Thread),
            "operation" => OPERATION,
            other => {
                if let Some(r) = self.protocol.records.iter().position(|r| r.name == other) {
                    Type::Record(RecordId(r as u16))
                } else if let Some(o) = self.protocol.objects.iter().position(|o| o == other) {
                    let kind = ObjectKindId(o as u8);
                    return Some(if optional { Type::ObjectOrNone(kind) } else { Type::Object(kind) });
                } else {
                    let mut known: Vec<String> =
                        ["bool", "node", "address", "word", "thread", "operation"].map(String::from).to_vec();
                    known.extend(self.protocol.objects.iter().cloned());
                    known.extend(self.protocol.records.iter().map(|r| r.name.clone()));
                    let mut seen = HashSet::new();
                    known.retain(|name| seen.insert(name.clone()));
                    self.unknown(name.span, "type", other, known.iter().map(String::as_str));
                    return None;
                }
            }
        };
        Some(if optional { self.optional_type(ty, name.span) } else { ty })
    }

    /// Notes that a type does not fit, unless it does.
    pub(super) fn require(&mut self, span: Span, found: &Type, wanted: &Type) -> bool {
        let ok = fits(found, wanted);
        if !ok {
            let is_for_each = matches!((found, wanted), (Type::NodeSet, Type::Node { .. }));
            let (found, wanted) = (self.type_name(found), self.type_name(wanted));
            let message = format!("expected {}, found {found}", wanted.trim_end_matches('?'));
            let error = self.diagnostics.unrelated(Code::Type, span, message);
            if is_for_each {
                error.help("a loop names each node of a set: `for n in all { send M to n }`");
            }
        }
        ok
    }
}
