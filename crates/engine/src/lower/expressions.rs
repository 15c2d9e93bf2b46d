//! From expressions with a scalar value to instructions.

use super::Lowering;
use super::locals::Kept;
use crate::flat::{FaultPart, Op, Reg, Seek, WholeOp, Whose};
use crate::optional::Optional;
use crate::whole::Whole;
use trivium_protocol::source::Span;
use trivium_protocol::{Expr, ExprKind, NODE, Operator, Owner, Place, RoleId, Type};

impl Lowering<'_> {
    /// The register with the value of an expression: that of a local, or a new one.
    pub fn value(&mut self, expr: &Expr) -> Option<Reg> {
        match expr.kind {
            ExprKind::Local(local) => self.local(local.index(), 0),
            ExprKind::LocalField(local, field) => self.local(local.index(), field),
            _ => {
                let to = self.register()?;
                self.scalar(expr, to)?;
                Some(to)
            }
        }
    }

    /// The values of several expressions, in registers one after the other; the first.
    pub fn values(&mut self, exprs: &[Expr]) -> Option<Reg> {
        let first = self.registers(exprs.len())?;
        for (to, expr) in (first..).zip(exprs) {
            self.scalar(expr, to)?;
        }
        Some(first)
    }

    /// The value of an expression that is known already.
    pub fn known(&self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Constant(bound) => Some(bound.at(self.engine.nodes)),
            ExprKind::Local(_) => self.known_local(expr),
            ExprKind::Not(inner) => Some(i64::from(self.known(inner)? == 0)),
            ExprKind::Negate(inner) => self.known(inner)?.checked_neg(),
            ExprKind::Binary(operator, left, right) => {
                let left = self.known(left)?;
                let right = || self.known(right);
                match operator {
                    Operator::Add => left.checked_add(right()?),
                    Operator::Subtract => left.checked_sub(right()?),
                    Operator::Multiply => left.checked_mul(right()?),
                    Operator::Divide => left.checked_div(right()?),
                    Operator::Remainder => left.checked_rem(right()?),
                    Operator::Equal => Some(i64::from(left == right()?)),
                    Operator::Different => Some(i64::from(left != right()?)),
                    Operator::Less => Some(i64::from(left < right()?)),
                    Operator::LessEqual => Some(i64::from(left <= right()?)),
                    Operator::And if left == 0 => Some(0),
                    Operator::Or if left != 0 => Some(1),
                    Operator::And | Operator::Or => Some(i64::from(right()? != 0)),
                }
            }
            _ => None,
        }
    }

    /// Puts the value of an expression into a register. It is written last, so that the expression may look at what was
    /// there before.
    pub fn scalar(&mut self, expr: &Expr, to: Reg) -> Option<()> {
        let span = expr.span;
        if let Some(value) = self.known(expr) {
            self.emit(Op::Number { to, value }, span);
            return Some(());
        }
        let (scalars, sets) = (self.scalars, self.sets);
        let op = match &expr.kind {
            ExprKind::Local(_) | ExprKind::LocalField(..) => {
                let from = self.value(expr)?;
                if from == to {
                    return Some(());
                }
                Op::Move { to, from }
            }
            ExprKind::Var(place) => {
                let cell = self.cell_of(place)?;
                let other = self.look(&place.owner, place.role, span)?;
                Op::Read { to, other, cell }
            }
            ExprKind::Sender => Op::Sender { to },
            ExprKind::Me => Op::Me { to },
            ExprKind::Home if self.engine.protocol.roles[self.role.index()].object == NODE => Op::Me { to },
            ExprKind::Home => Op::Home { to },
            ExprKind::HomeOf(named) => Op::HomeOf { to, kind: named.ty.object()?, from: self.value(named)? },
            ExprKind::Made(slot, most) => Op::Made { to, from: self.value(slot)?, most: u32::try_from(*most).ok()? },
            ExprKind::AddressOf(named) => Op::AddressOf { to, from: self.value(named)? },
            ExprKind::BytesOf(named) => Op::BytesOf { to, from: self.value(named)? },
            ExprKind::BlockAt(address) => Op::BlockAt { to, address: self.address(address)? },
            ExprKind::Caller => Op::Caller { to },
            ExprKind::Object => Op::ObjectNumber { to },
            ExprKind::FaultAddress => Op::Fault { to, part: FaultPart::Address },
            ExprKind::FaultSize => Op::Fault { to, part: FaultPart::Size },
            ExprKind::FaultValue => Op::Fault { to, part: FaultPart::Value },
            ExprKind::FaultOperation => Op::Fault { to, part: FaultPart::Operation },
            ExprKind::FaultExpected => Op::Fault { to, part: FaultPart::Expected },
            ExprKind::Given(inner) => {
                self.scalar(inner, to)?;
                Op::CheckGiven { from: to, none: inner.ty.none() }
            }
            ExprKind::Optional(inner) => {
                let optional = Optional::new(self.engine.nodes, &inner.ty, &expr.ty);
                self.scalar(inner, to)?;
                Op::Optional { to, optional: self.optional_of(optional)? }
            }
            ExprKind::Not(inner) => Op::Not { to, from: self.value(inner)? },
            ExprKind::Negate(inner) => Op::Negate { to, from: self.value(inner)? },
            ExprKind::Binary(operator @ (Operator::And | Operator::Or), left, right) => {
                return self.logic(*operator, left, right, to, span);
            }
            // The place of an image's first field.
            ExprKind::Binary(Operator::Multiply, left, right) if self.known(right) == Some(1) => {
                return self.scalar(left, to);
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                match operator {
                    Operator::Equal => Op::Equal { to, left, right },
                    Operator::Different => Op::Different { to, left, right },
                    Operator::Less => Op::Less { to, left, right },
                    Operator::LessEqual => Op::LessEqual { to, left, right },
                    _ => Op::Arithmetic { operator: *operator, to, left, right },
                }
            }
            ExprKind::SetEqual(left, right) if matches!(&right.kind, ExprKind::SetOf(nothing) if nothing.is_empty()) => {
                let set = self.set(left)?;
                self.emit(Op::Count { to, set }, span);
                Op::Not { to, from: to }
            }
            ExprKind::SetEqual(left, right) => {
                let (lo, _) = self.engine.set_range(&left.ty);
                let (left, right) = (self.set(left)?, self.set_from(right, lo)?);
                Op::Same { to, left, right }
            }
            ExprKind::In(element, of) => {
                let element = self.value(element)?;
                let lo = i32::try_from(self.engine.set_range(&of.ty).0).ok()?;
                if let ExprKind::Var(place) = &of.kind {
                    let cell = self.engine.set_cell(place, span).ok()?;
                    let cell = self.set_cell(cell)?;
                    let other = self.look(&place.owner, place.role, of.span)?;
                    Op::InRecord { to, element, other, cell, lo }
                } else {
                    Op::InSet { to, element, set: self.set(of)?, lo }
                }
            }
            ExprKind::SetCount(of) => Op::Count { to, set: self.set(of)? },
            ExprKind::Pick(of) => {
                let lo = i32::try_from(self.engine.set_range(&of.ty).0).ok()?;
                let set = self.set(of)?;
                if of.ty == Type::NodeSet {
                    // Which one is asked, and what was charged comes before.
                    self.flush(span);
                    Op::PickNode { to, set }
                } else {
                    Op::Pick { to, set, lo }
                }
            }
            ExprKind::Length(place) => {
                let list = self.list_of(place)?;
                let other = self.look(&place.owner, place.role, span)?;
                Op::Length { to, other, list }
            }
            ExprKind::Element(place, index, field) if self.engine.is_array(place) => {
                let index = self.value(index)?;
                let array = self.array_of(place)?;
                let field = u8::try_from(*field).ok()?;
                self.code.arrays[array as usize].fields.get(field as usize)?;
                let other = self.look(&place.owner, place.role, span)?;
                Op::ElementOfArray { to, index, field, other, array }
            }
            ExprKind::Element(place, index, field) => {
                let index = self.value(index)?;
                let list = self.list_of(place)?;
                let field = u8::try_from(*field).ok()?;
                self.code.lists[list as usize].fields.get(field as usize)?;
                let other = self.look(&place.owner, place.role, span)?;
                Op::Element { to, index, field, other, list }
            }
            ExprKind::LocalElement(local, index, field) => {
                let index = self.value(index)?;
                let (from, lies) = self.local_whole(local.index())?;
                let field = u8::try_from(*field).ok()?;
                lies.fields().get(field as usize)?;
                let whole = self.whole_at(&lies)?;
                Op::Whole(WholeOp::Element { to, index, from, field, whole })
            }
            ExprKind::LocalLength(local) => {
                let (from, lies) = self.local_whole(local.index())?;
                let whole = matches!(lies, Whole::List(_)).then(|| self.whole_at(&lies))??;
                Op::Whole(WholeOp::Length { to, from, whole })
            }
            ExprKind::ArrayEqual(left, right) => self.same_whole(left, right, to)?,
            ExprKind::Index(node) => Op::Index { to, from: self.value(node)? },
            ExprKind::NodeAt(number) => Op::NodeAt { to, from: self.value(number)? },
            ExprKind::Room(lane, count, together) => {
                let from = self.value(count)?;
                self.emit(Op::CheckObject { from }, count.span);
                self.flush(span);
                Op::Room { to, count: from, lane: *lane, together: self.engine.at_least(*together) }
            }
            ExprKind::Memory(address) => {
                let address = self.address(address)?;
                self.flush(span);
                Op::Load { to, address }
            }
            ExprKind::Probe => {
                self.flush(span);
                Op::Probe { to }
            }
            ExprKind::ImageWord => {
                self.flush(span);
                Op::ImageWord { to }
            }
            ExprKind::InState(owner, role, states) => {
                self.seek(owner, *role, Seek::Find, span)?;
                self.flush(span);
                self.code.states.push(states.clone().into());
                Op::InState { to, states: u16::try_from(self.code.states.len() - 1).ok()? }
            }
            ExprKind::Constant(_)
            | ExprKind::SetOf(_)
            | ExprKind::AllNodes
            | ExprKind::SetBinary(..)
            | ExprKind::Over(..)
            | ExprKind::Contents(..)
            | ExprKind::Access(_)
            | ExprKind::Flight(..) => return None,
        };
        self.emit(op, span);
        (self.scalars, self.sets) = (scalars, sets);
        Some(())
    }

    /// `and`, `or`: the right side is looked at only if it matters.
    fn logic(&mut self, operator: Operator, left: &Expr, right: &Expr, to: Reg, span: Span) -> Option<()> {
        let scalars = self.scalars;
        // The right side may look at what a local was before.
        let is_local = self
            .kept
            .iter()
            .any(|kept| matches!(*kept, Kept::Scalars { at, count } if (at..at + count).contains(&to.into())));
        let value = if is_local { self.register()? } else { to };
        self.truth(left, value)?;
        // What the right side does to others happens on one of two ways.
        self.flush(span);
        let jump = match operator {
            Operator::And => self.emit(Op::JumpUnless { from: value, to: 0 }, span),
            _ => self.emit(Op::JumpIf { from: value, to: 0 }, span),
        };
        self.truth(right, value)?;
        self.flush(span);
        self.land(jump)?;
        if value != to {
            self.emit(Op::Move { to, from: value }, span);
        }
        self.scalars = scalars;
        Some(())
    }

    /// The value of a condition, which becomes 0 or 1 if it can be anything else.
    fn truth(&mut self, expr: &Expr, to: Reg) -> Option<()> {
        self.scalar(expr, to)?;
        let is_one_of_two = match &expr.kind {
            ExprKind::Not(_) | ExprKind::SetEqual(..) | ExprKind::ArrayEqual(..) | ExprKind::In(..) => true,
            ExprKind::Binary(operator, ..) => !matches!(
                operator,
                Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder
            ),
            _ => false,
        };
        if !is_one_of_two {
            self.emit(Op::Truth { to, from: to }, expr.span);
        }
        Some(())
    }

    /// The register with a byte offset or a number of bytes.
    pub fn address(&mut self, expr: &Expr) -> Option<Reg> {
        let from = self.value(expr)?;
        self.emit(Op::CheckAddress { from }, expr.span);
        Some(from)
    }

    /// Whether an owner means the record whose steps run.
    pub fn is_own(&self, owner: &Owner, role: RoleId) -> bool {
        matches!(owner, Owner::Current) && role == self.role
    }

    /// A record is going to be looked at; whether it is another than the one whose steps run.
    pub fn look(&mut self, owner: &Owner, role: RoleId, span: Span) -> Option<bool> {
        self.reach(owner, role, Seek::Look, span)
    }

    /// The record of a variable is going to be changed; whether it is another than the one whose steps run.
    pub fn change(&mut self, place: &Place, span: Span) -> Option<bool> {
        self.reach(&place.owner, place.role, Seek::Change, span)
    }

    fn reach(&mut self, owner: &Owner, role: RoleId, seek: Seek, span: Span) -> Option<bool> {
        if self.is_own(owner, role) {
            return Some(false);
        }
        self.seek(owner, role, seek, span)?;
        Some(true)
    }

    /// Seeks a record.
    pub fn seek(&mut self, owner: &Owner, role: RoleId, seek: Seek, span: Span) -> Option<()> {
        let roles = &self.engine.protocol.roles;
        let present = roles[self.role.index()].object;
        let (mut object, scalars) = (0, self.scalars);
        let whose = match owner {
            Owner::Current if role == self.role => Whose::Own,
            Owner::Current if role == self.first => Whose::First,
            Owner::Current | Owner::Role(_) => match roles[role.index()].object {
                kind if kind == present => Whose::SameObject,
                NODE => Whose::Agent,
                _ => Whose::Nowhere,
            },
            Owner::At(..) => return None,
            Owner::RoleOf(_, number) => {
                object = self.object(number)?;
                Whose::Given
            }
        };
        if seek != Seek::Find {
            self.flush(span);
        }
        self.emit(Op::Seek { whose, seek, role, object }, span);
        self.scalars = scalars;
        Some(())
    }

    /// The register with the number of an object.
    pub fn object(&mut self, expr: &Expr) -> Option<Reg> {
        let from = self.value(expr)?;
        self.emit(Op::CheckObject { from }, expr.span);
        Some(from)
    }
}
