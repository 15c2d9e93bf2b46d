//! Expressions, in handlers and in invariants alike.
//!
//! What the two see differently (whose records, what is on its way) is behind [`Scope`].

use crate::engine::Engine;
use crate::fault::{FaultKind, Locate, Try, trouble};
use crate::layout::{SetCell, Shape};
use crate::mechanisms::{Node, Object};
use crate::optional::Optional;
use crate::set::Set;
use trivium_protocol::source::Span;
use trivium_protocol::{Expr, ExprKind, LocalId, Operator, Owner, Place, Quantifier, RoleId, SetOperator, Type};

/// What an expression is evaluated in.
pub(crate) trait Scope<'e> {
    /// The loaded protocol.
    fn engine(&self) -> &'e Engine;
    /// A scalar local, or a field of a record local.
    fn local(&self, local: LocalId, field: u16) -> Option<i64>;
    /// A set local.
    fn local_set(&self, local: LocalId) -> Option<Set>;
    /// The type of a local.
    fn local_type(&self, local: LocalId) -> Option<&'e Type>;
    /// The record of a role.
    fn record(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<&[u8]>;
    /// The home of an object that is not an agent.
    fn home(&mut self, object: Object) -> Node;
    /// How many bytes a block has.
    fn block_bytes(&self) -> u64;
    /// Which of some nodes `pick` takes: the least where nothing is done, but only looked at.
    fn choose(&mut self, mut nodes: impl Iterator<Item = Node>) -> Option<Node> {
        nodes.next()
    }
    /// The forms whose meaning depends on the scope.
    fn own(&mut self, expr: &Expr) -> Try<i64>;
}

/// The value of a scalar expression.
pub(crate) fn scalar<'e, S: Scope<'e>>(scope: &mut S, expr: &Expr) -> Try<i64> {
    let span = expr.span;
    match &expr.kind {
        ExprKind::Constant(bound) => Ok(bound.at(scope.engine().nodes)),
        ExprKind::Local(local) => scope.local(*local, 0).ok_or(FaultKind::Malformed).at(span),
        ExprKind::LocalField(local, field) => scope.local(*local, *field).ok_or(FaultKind::Malformed).at(span),
        ExprKind::Var(place) => {
            let cell = scope.engine().cell(place, span)?;
            Ok(cell.read(scope.record(&place.owner, place.role, span)?, 0))
        }
        ExprKind::Given(inner) => {
            let value = scalar(scope, inner)?;
            if value == inner.ty.none() { trouble(FaultKind::NoValue, span) } else { Ok(value) }
        }
        ExprKind::Optional(inner) => {
            let value = scalar(scope, inner)?;
            Optional::new(scope.engine().nodes, &inner.ty, &expr.ty).of(value).at(span)
        }
        ExprKind::Not(inner) => Ok(i64::from(scalar(scope, inner)? == 0)),
        ExprKind::Negate(inner) => scalar(scope, inner)?.checked_neg().ok_or(FaultKind::Overflow).at(span),
        ExprKind::Binary(operator, left, right) => binary(scope, *operator, left, right, span),
        ExprKind::SetEqual(left, right) => {
            let (lo, _) = scope.engine().set_range(&left.ty);
            let (mut one, mut other) = (Set::default(), Set::default());
            set(scope, left, &mut one)?;
            set_from(scope, right, lo, &mut other)?;
            Ok(i64::from(one == other))
        }
        ExprKind::In(element, of) => {
            let element = scalar(scope, element)?;
            let (lo, _) = scope.engine().set_range(&of.ty);
            let bit = element.wrapping_sub(lo);
            if let ExprKind::Var(place) = &of.kind {
                let cell = scope.engine().set_cell(place, of.span)?;
                return Ok(i64::from(cell.contains(scope.record(&place.owner, place.role, of.span)?, 0, bit)));
            }
            let mut elements = Set::default();
            set(scope, of, &mut elements)?;
            Ok(i64::from(elements.contains(bit)))
        }
        ExprKind::SetCount(of) => {
            let mut elements = Set::default();
            set(scope, of, &mut elements)?;
            Ok(i64::from(elements.count(false)))
        }
        ExprKind::Pick(of) => {
            let (lo, _) = scope.engine().set_range(&of.ty);
            let mut elements = Set::default();
            set(scope, of, &mut elements)?;
            let taken = match of.ty {
                Type::NodeSet => scope.choose(elements.nodes(false)).map(i64::from),
                _ => elements.least(false).map(|bit| bit + lo),
            };
            taken.ok_or(FaultKind::Empty).at(span)
        }
        ExprKind::Length(place) => {
            let list = scope.engine().list_cell(place, span)?;
            Ok(i64::from(list.len(scope.record(&place.owner, place.role, span)?)))
        }
        ExprKind::ArrayEqual(left, right) => {
            let left = array(scope, left)?;
            Ok(i64::from(left == array(scope, right)?))
        }
        ExprKind::LocalElement(local, index, field) => {
            let index = scalar(scope, index)?;
            let words = scope.local_set(*local).ok_or(FaultKind::Malformed).at(span)?;
            let ty = scope.local_type(*local).ok_or(FaultKind::Malformed).at(span)?;
            match scope.engine().local_shape(ty, span)? {
                Shape::Array(array) => {
                    let place = array.place(index).at(span)?;
                    Ok(array.read_word(&words, place, usize::from(*field)))
                }
                Shape::List(list) => {
                    let at = u32::try_from(index).ok().filter(|&at| at < list.len_of_words(&words));
                    match (at, list.fields.get(usize::from(*field))) {
                        (Some(at), Some(field)) => Ok(list.read_word(&words, at, field)),
                        (None, _) => trouble(FaultKind::NoElement(index), span),
                        (_, None) => trouble(FaultKind::Malformed, span),
                    }
                }
                _ => trouble(FaultKind::Malformed, span),
            }
        }
        ExprKind::LocalLength(local) => {
            let words = scope.local_set(*local).ok_or(FaultKind::Malformed).at(span)?;
            let ty = scope.local_type(*local).ok_or(FaultKind::Malformed).at(span)?;
            match scope.engine().local_shape(ty, span)? {
                Shape::List(list) => Ok(list.len_of_words(&words).into()),
                _ => trouble(FaultKind::Malformed, span),
            }
        }
        ExprKind::Element(place, index, field) if scope.engine().is_array(place) => {
            let index = scalar(scope, index)?;
            let array = scope.engine().array_cell(place, span)?;
            let record = scope.record(&place.owner, place.role, span)?;
            let at = array.element_at(array.place(index).at(span)?);
            match array.fields.get(usize::from(*field)) {
                Some(cell) => Ok(cell.read(record, at)),
                None => trouble(FaultKind::Malformed, span),
            }
        }
        ExprKind::Element(place, index, field) => {
            let index = scalar(scope, index)?;
            let list = scope.engine().list_cell(place, span)?;
            let record = scope.record(&place.owner, place.role, span)?;
            let Some(at) = u32::try_from(index).ok().filter(|&at| at < list.len(record)) else {
                return trouble(FaultKind::NoElement(index), span);
            };
            match list.fields.get(*field as usize) {
                Some(cell) => Ok(cell.read(record, list.element_at(at))),
                None => trouble(FaultKind::Malformed, span),
            }
        }
        ExprKind::HomeOf(named) => {
            let object = object_named(scope, named, span)?;
            Ok(i64::from(scope.home(object)))
        }
        ExprKind::AddressOf(named) => {
            let block = object_named(scope, named, span)?;
            Ok((u64::from(block.id) * scope.block_bytes()).cast_signed())
        }
        ExprKind::BytesOf(named) => {
            object_named(scope, named, span)?;
            Ok(scope.block_bytes().cast_signed())
        }
        ExprKind::Index(node) => {
            let node = scalar(scope, node)?;
            scope.engine().node(node).map(i64::from).at(span)
        }
        ExprKind::NodeAt(number) => {
            let number = scalar(scope, number)?;
            match scope.engine().node(number) {
                Ok(node) => Ok(i64::from(node)),
                Err(_) => trouble(FaultKind::NoSuchNode(number), span),
            }
        }
        ExprKind::SetOf(_) | ExprKind::AllNodes | ExprKind::SetBinary(..) => trouble(FaultKind::Malformed, span),
        ExprKind::Sender
        | ExprKind::Me
        | ExprKind::Made(..)
        | ExprKind::Home
        | ExprKind::Caller
        | ExprKind::FaultOperation
        | ExprKind::FaultExpected
        | ExprKind::Object
        | ExprKind::FaultAddress
        | ExprKind::FaultSize
        | ExprKind::FaultValue
        | ExprKind::Room(..)
        | ExprKind::Memory(_)
        | ExprKind::BlockAt(_)
        | ExprKind::Probe
        | ExprKind::ImageWord
        | ExprKind::Over(..)
        | ExprKind::InState(..)
        | ExprKind::Contents(..)
        | ExprKind::Access(_)
        | ExprKind::Flight(..) => scope.own(expr),
    }
}

/// The object that a value names. `none` names none.
fn object_named<'e, S: Scope<'e>>(scope: &mut S, named: &Expr, span: Span) -> Try<Object> {
    let (id, kind) = (scalar(scope, named)?, named.ty.object().ok_or(FaultKind::Malformed).at(span)?);
    let id = u32::try_from(id).map_err(|_| FaultKind::NoObject).at(span)?;
    Ok(Object { kind, id })
}

/// Whether a condition is true.
pub(crate) fn truth<'e, S: Scope<'e>>(scope: &mut S, expr: &Expr) -> Try<bool> {
    Ok(scalar(scope, expr)? != 0)
}

fn binary<'e, S: Scope<'e>>(scope: &mut S, operator: Operator, left: &Expr, right: &Expr, span: Span) -> Try<i64> {
    let left = scalar(scope, left)?;
    match operator {
        Operator::And if left == 0 => return Ok(0),
        Operator::Or if left != 0 => return Ok(1),
        _ => {}
    }
    let right = scalar(scope, right)?;
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide | Operator::Remainder if right == 0 => return trouble(FaultKind::DivisionByZero, span),
        Operator::Divide => left.checked_div(right),
        Operator::Remainder => left.checked_rem(right),
        Operator::Equal => Some(i64::from(left == right)),
        Operator::Different => Some(i64::from(left != right)),
        Operator::Less => Some(i64::from(left < right)),
        Operator::LessEqual => Some(i64::from(left <= right)),
        Operator::And | Operator::Or => Some(i64::from(right != 0)),
    };
    result.ok_or(FaultKind::Overflow).at(span)
}

/// The value of a set expression; its elements count from the least possible one of the expression's type. It is added
/// to `into`, which is empty.
// Not returned (`ARCHITECTURE.md`, "Written where it stays").
pub(crate) fn set<'e, S: Scope<'e>>(scope: &mut S, expr: &Expr, into: &mut Set) -> Try<()> {
    let span = expr.span;
    match &expr.kind {
        ExprKind::Local(local) => *into = scope.local_set(*local).ok_or(FaultKind::Malformed).at(span)?,
        ExprKind::Var(place) => {
            let cell = scope.engine().set_cell(place, span)?;
            *into = cell.read(scope.record(&place.owner, place.role, span)?, 0);
        }
        ExprKind::SetOf(elements) => {
            for element in elements {
                let value = scalar(scope, element)?;
                into.insert(set_bit(scope.engine(), &expr.ty, value).at(element.span)?);
            }
        }
        ExprKind::Element(..) | ExprKind::LocalElement(..) => into.0[0] = scalar(scope, expr)?.cast_unsigned(),
        ExprKind::AllNodes => *into = Set::all(scope.engine().nodes),
        ExprKind::SetBinary(operator, left, right) => {
            let (lo, _) = scope.engine().set_range(&expr.ty);
            let mut other = Set::default();
            set_from(scope, left, lo, into)?;
            set_from(scope, right, lo, &mut other)?;
            for (l, r) in into.0.iter_mut().zip(other.0) {
                match operator {
                    SetOperator::Union => *l |= r,
                    SetOperator::Difference => *l &= !r,
                    SetOperator::Intersection => *l &= r,
                }
            }
        }
        _ => return trouble(FaultKind::Malformed, span),
    }
    Ok(())
}

/// The bits of a set that becomes an element of an array.
pub(crate) fn bits<'e, S: Scope<'e>>(scope: &mut S, place: &Place, expr: &Expr) -> Try<i64> {
    let cell = scope.engine().set_in_array(place, expr.span)?;
    let mut value = Set::default();
    set_for(scope, expr, &cell, &mut value)?;
    Ok(value.0[0].cast_signed())
}

/// The value of a set expression as a place takes it, which has all its elements, added to `into`, which is empty.
pub(crate) fn set_for<'e, S: Scope<'e>>(scope: &mut S, expr: &Expr, cell: &SetCell, into: &mut Set) -> Try<()> {
    set_from(scope, expr, cell.lo, into)?;
    if let Some(outside) = into.first_from(cell.count, false) {
        cell.bit(outside + cell.lo).at(expr.span)?;
    }
    Ok(())
}

/// All numbers of an array or a list: of each element its fields.
pub(crate) fn array<'e, S: Scope<'e>>(scope: &mut S, expr: &Expr) -> Try<Vec<i64>> {
    let span = expr.span;
    match &expr.kind {
        ExprKind::Local(local) => {
            let words = scope.local_set(*local).ok_or(FaultKind::Malformed).at(span)?;
            match scope.engine().local_shape(&expr.ty, span)? {
                Shape::Array(array) => Ok(array.values_of_words(&words).collect()),
                Shape::List(list) => Ok(list.values_of_words(&words).collect()),
                _ => trouble(FaultKind::Malformed, span),
            }
        }
        ExprKind::SetOf(elements) => elements.iter().map(|element| scalar(scope, element)).collect(),
        ExprKind::Var(place) => {
            let shape = scope.engine().shape(place);
            let record = scope.record(&place.owner, place.role, span)?;
            match shape {
                Some(Shape::Array(array)) => Ok(array.values(record, 0).collect()),
                Some(Shape::List(list)) => Ok(list.values(record, 0).collect()),
                _ => trouble(FaultKind::Malformed, span),
            }
        }
        _ => trouble(FaultKind::Malformed, span),
    }
}

/// The words of a local array or list with these numbers, if it has room for so many; they have been checked where they come from.
pub(crate) fn array_words(engine: &Engine, ty: &Type, values: Vec<i64>, span: Span) -> Try<Set> {
    match engine.local_shape(ty, span)? {
        Shape::Array(array) => Ok(array.to_words(values.into_iter())),
        Shape::List(list) => {
            list.check(&values).at(span)?;
            Ok(list.to_words(&values))
        }
        _ => trouble(FaultKind::Malformed, span),
    }
}

/// The bit of an element in a set of a type.
#[inline]
pub(crate) fn set_bit(engine: &Engine, ty: &Type, element: i64) -> Result<i64, FaultKind> {
    if *ty == Type::NodeSet {
        return engine.node(element).map(i64::from);
    }
    let (lo, count) = engine.set_range(ty);
    let bit = element.wrapping_sub(lo);
    if (0..count).contains(&bit) { Ok(bit) } else { Err(FaultKind::Range { value: element, lo, hi: lo + count - 1 }) }
}

/// The value of a set expression whose elements count from `lo`, added to `into`, which is empty.
pub(crate) fn set_from<'e, S: Scope<'e>>(scope: &mut S, expr: &Expr, lo: i64, into: &mut Set) -> Try<()> {
    let (from, _) = scope.engine().set_range(&expr.ty);
    if from == lo {
        return set(scope, expr, into);
    }
    let mut value = Set::default();
    set(scope, expr, &mut value)?;
    for bit in value.iter(false) {
        let element = bit.wrapping_add(from);
        let bit = element.wrapping_sub(lo);
        let most = scope.engine().most_elements();
        if !(0..most).contains(&bit) {
            let hi = lo.saturating_add(most - 1);
            return trouble(FaultKind::Range { value: element, lo, hi }, expr.span);
        }
        into.insert(bit);
    }
    Ok(())
}

/// What a quantifier makes of the number of nodes for which its body is true.
pub(crate) fn quantify(quantifier: Quantifier, held: u32, nodes: u32) -> i64 {
    match quantifier {
        Quantifier::All => i64::from(held == nodes),
        Quantifier::Any => i64::from(held > 0),
        Quantifier::Count => i64::from(held),
    }
}
