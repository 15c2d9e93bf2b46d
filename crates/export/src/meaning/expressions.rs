//! Expressions of handlers and of invariants.
//!
//! Everything is a number; [`Scope::truth`] gives a condition of the model, [`Scope::number`] a value.

use super::Export;
use super::names::{CACHE, ME, NODES, SENDER, THR, local, part};
use super::types::all_of;
use crate::model::{self, Term, any, call, choice, exists, forall, name};
use trivium_check::BLOCK_BYTES;
use trivium_protocol::{
    BLOCK, EventKind, Expr, ExprKind, Local, LocalId, NODE, Operator, Owner, Place, Quantifier, RoleId, SetOperator,
    Type,
};

/// What the names in an expression mean.
pub(super) struct Scope<'s> {
    pub export: &'s Export<'s>,
    /// The node and the object whose records are at hand.
    pub node: model::Expr,
    pub object: model::Expr,
    /// The role to which `Owner::Current` belongs.
    pub role: RoleId,
    /// Whether it is about one node, in an assumption: `node`.
    pub here: bool,
    /// The role and the object of the event; `None` in an invariant.
    pub first: Option<(RoleId, model::Expr)>,
    /// The event that is handled; `None` in an invariant.
    pub event: Option<EventKind>,
    pub locals: &'s [Local],
}

/// A number that must be one of these; otherwise it is a fault.
pub(super) fn within(
    number: impl Into<model::Expr>,
    least: impl Into<model::Expr>,
    most: impl Into<model::Expr>,
) -> model::Expr {
    call("within", (number, least, most))
}

/// The name of a handler's local, or of a field of one that is a record.
pub(super) fn local_field(of: &Local, id: LocalId, field: usize) -> model::Name {
    match of.ty {
        Type::Record(_) => name(format!("l{}_{field}", id.0)),
        _ => local(id.index()),
    }
}

impl Scope<'_> {
    /// The role instance that an owner means: its node and its object.
    pub fn instance(&self, owner: &Owner, role: RoleId) -> (model::Expr, model::Expr) {
        let export = self.export;
        let kind = export.role(role).object;
        let own = match &self.first {
            None => {
                let object = match owner {
                    Owner::RoleOf(_, id) => self.number(id),
                    _ if kind == NODE => 0.into(),
                    _ => self.object.clone(),
                };
                let node = match owner {
                    Owner::At(_, node) => self.node_of(node),
                    _ if self.here => self.node.clone(),
                    _ => export.home_of(&object),
                };
                return (node, object);
            }
            Some(own) => own,
        };
        let object = match owner {
            Owner::Current if role == self.role => return (self.node.clone(), self.object.clone()),
            Owner::Current if role == own.0 => return (self.node.clone(), own.1.clone()),
            Owner::RoleOf(_, id) => self.number(id),
            _ if kind == export.role(self.role).object => self.object.clone(),
            _ => 0.into(),
        };
        let node = match owner {
            Owner::At(_, node) => within(self.number(node), &self.node, &self.node),
            _ => self.node.clone(),
        };
        (node, object)
    }

    fn node_of(&self, expr: &Expr) -> model::Expr {
        within(self.number(expr), 0, self.export.model.nodes - 1)
    }

    /// Whether an owner means the record whose steps run, which is known to be there.
    pub fn is_own(&self, owner: &Owner, role: RoleId) -> bool {
        matches!(owner, Owner::Current) && role == self.role
    }

    /// A variable, without the field.
    pub fn variable(&self, place: &Place) -> model::Expr {
        let (node, object) = self.instance(&place.owner, place.role);
        let of_node = self.export.var_name(place.role, place.var.index()).at(&node);
        // An invariant sees an untouched record where there is none; a handler must not look.
        if self.first.is_none() && !self.here || self.is_own(&place.owner, place.role) {
            return of_node.at(object);
        }
        of_node.at(Export::here(place.role, node, object))
    }

    pub fn type_of(&self, place: &Place) -> &Type {
        &self.export.role(place.role).vars[place.var.index()].ty
    }

    /// A scalar or set variable, or a field.
    pub fn place(&self, place: &Place) -> model::Expr {
        match (self.type_of(place), place.field) {
            (Type::Record(_), field) => self.variable(place).field(part(field.unwrap_or(0))),
            _ => self.variable(place),
        }
    }

    fn local(&self, id: LocalId, field: u16) -> model::Expr {
        let known = self.locals.get(id.index());
        known.map_or(local(id.index()), |known| local_field(known, id, usize::from(field))).into()
    }

    /// A condition.
    pub fn truth(&self, expr: &Expr) -> model::Expr {
        match &expr.kind {
            ExprKind::Not(inner) => !self.truth(inner),
            ExprKind::Binary(Operator::And, l, r) => self.truth(l) & self.truth(r),
            ExprKind::Binary(Operator::Or, l, r) => self.truth(l) | self.truth(r),
            ExprKind::Binary(operator, l, r) => match operator {
                Operator::Equal => self.number(l).is(self.number(r)),
                Operator::Different => self.number(l).differs_from(self.number(r)),
                Operator::Less => self.number(l).lt(self.number(r)),
                Operator::LessEqual => self.number(l).le(self.number(r)),
                _ => self.number(expr).differs_from(0),
            },
            ExprKind::SetEqual(l, r) => {
                let (lo, _) = self.export.set_range(&l.ty);
                self.set(l).is(self.set_from(r, lo))
            }
            ExprKind::ArrayEqual(l, r) => self.are_equal(l, r),
            ExprKind::In(element, of) => {
                let (lo, _) = self.export.set_range(&of.ty);
                call("has", (self.set(of), self.number(element) - lo))
            }
            ExprKind::Room(lane, count, _) => self.export.room(&self.node, lane.index(), self.number(count)),
            ExprKind::InState(owner, role, states) => {
                let (node, object) = self.instance(owner, *role);
                let any = any(states.iter().map(|&state| self.export.is_in(*role, state, &node, &object)));
                match self.export.lives(*role, &node, &object) {
                    None => any,
                    Some(lives) => lives & any,
                }
            }
            ExprKind::Over(Quantifier::All, id, body) => forall(local(id.index()).of(NODES), self.truth(body)),
            ExprKind::Over(Quantifier::Any, id, body) => exists(local(id.index()).of(NODES), self.truth(body)),
            ExprKind::Constant(bound) if expr.ty == Type::Bool => (bound.at(self.export.model.nodes) != 0).into(),
            _ => self.number(expr).differs_from(0),
        }
    }

    /// A value; sets with their own least element.
    pub fn number(&self, expr: &Expr) -> model::Expr {
        let nodes = self.export.model.nodes;
        match &expr.kind {
            ExprKind::Constant(bound) => self.export.exported(&expr.ty, bound.at(nodes)).into(),
            ExprKind::Given(inner) => {
                let (lo, hi) = self.export.range(&expr.ty, false);
                within(self.number(inner), lo, hi)
            }
            ExprKind::Optional(inner) => self.optional(inner, &expr.ty),
            ExprKind::Local(local) => self.local(*local, 0),
            ExprKind::LocalField(local, field) => self.local(*local, *field),
            ExprKind::Var(place) => self.place(place),
            ExprKind::Sender if matches!(self.event, Some(EventKind::Message(_))) => SENDER.into(),
            ExprKind::Sender | ExprKind::Me => self.node.clone(),
            ExprKind::Home if self.export.role(self.role).object == NODE => self.node.clone(),
            ExprKind::Home => self.export.home_of(&self.object),
            ExprKind::HomeOf(named) => self.export.home_of(self.object_named(named)),
            ExprKind::Made(slot, most) => {
                let slot = self.number(slot);
                let object = &slot * nodes + self.node.clone();
                choice((&slot).lt(*most), object, model::Expr::from(0) - 1)
            }
            ExprKind::AddressOf(named) => self.object_named(named) * BLOCK_BYTES,
            ExprKind::BytesOf(named) => model::Expr::from(0) * self.object_named(named) + BLOCK_BYTES,
            ExprKind::BlockAt(address) => {
                let end = u64::from(self.export.model.objects[BLOCK.index()]) * BLOCK_BYTES;
                let address = self.number(address);
                choice((&address).lt(end), &address / BLOCK_BYTES, model::Expr::from(0) - 1)
            }
            ExprKind::Caller => match self.event {
                Some(event) if super::records::has_caller(event) => THR.into(),
                _ => (-1).into(),
            },
            ExprKind::Object => self.object.clone(),
            ExprKind::FaultAddress => call("pending_address", (&self.node, THR)),
            ExprKind::FaultSize => 8.into(),
            // The exchange, which is all that clients make.
            ExprKind::FaultOperation | ExprKind::FaultExpected => 0.into(),
            ExprKind::FaultValue => call("pending_value", (&self.node, THR)),
            ExprKind::Negate(inner) => model::Expr::from(0) - self.number(inner),
            ExprKind::Binary(operator, l, r) => match operator {
                Operator::Add => self.number(l) + self.number(r),
                Operator::Subtract => self.number(l) - self.number(r),
                Operator::Multiply => self.number(l) * self.number(r),
                Operator::Divide => self.number(l) / self.number(r),
                Operator::Remainder => self.number(l) % self.number(r),
                _ => choice(self.truth(expr), 1, 0),
            },
            ExprKind::SetOf(_) | ExprKind::AllNodes | ExprKind::SetBinary(..) => self.set(expr),
            ExprKind::SetCount(of) => call("size", self.set(of)),
            ExprKind::Pick(of) => {
                let (lo, _) = self.export.set_range(&of.ty);
                call("least", self.set(of)) + lo
            }
            ExprKind::Length(place) => self.variable(place).field("n"),
            ExprKind::Element(place, index, field) if matches!(self.type_of(place), Type::Array { .. }) => {
                self.variable(place).field(part(*field)).at(self.place_in(self.type_of(place), index))
            }
            ExprKind::Element(place, index, field) => {
                let list = self.variable(place);
                let index = within(self.number(index), 0, (&list).field("n") - 1);
                list.field(part(*field)).at(index)
            }
            ExprKind::LocalLength(local) => {
                let packed = self.export.packed(&self.locals[local.index()].ty);
                packed.map_or(0.into(), |packed| packed.length(&self.local(*local, 0)))
            }
            ExprKind::LocalElement(local, index, field) => {
                let ty = &self.locals[local.index()].ty;
                if matches!(ty, Type::List { .. }) {
                    return self.listed(ty, &self.local(*local, 0), index, usize::from(*field));
                }
                let Some(packed) = self.export.packed(ty) else { return 0.into() };
                packed.digit(&self.local(*local, 0), self.place_in(ty, index), usize::from(*field))
            }
            ExprKind::Index(node) | ExprKind::NodeAt(node) => self.node_of(node),
            ExprKind::Memory(address) => call("load", (&self.node, self.number(address))),
            ExprKind::Probe => CACHE.at(ME).at(&self.object),
            // Refused: see `Export::check_bodies`.
            ExprKind::ImageWord => 0.into(),
            ExprKind::Flight(message, to) => {
                let to = to.as_ref().map_or((-1).into(), |to| self.node_of(to));
                call(format!("flights{}", message.0), (&self.object, to))
            }
            ExprKind::Contents(copy, node) => self.export.copy_of(*copy, self.node_of(node), &self.object),
            ExprKind::Access(node) => call("tag", (self.node_of(node), &self.object)),
            ExprKind::Over(Quantifier::Count, id, body) => {
                let body = self.truth(body);
                // Every node by its number: there are no sums in the model.
                let each = (0..nodes).map(|node| choice(body.clone().with(&local(id.index()), &node.into()), 1, 0));
                each.reduce(|one, other| one + other).unwrap_or(0.into())
            }
            ExprKind::Not(_)
            | ExprKind::SetEqual(..)
            | ExprKind::ArrayEqual(..)
            | ExprKind::In(..)
            | ExprKind::Room(..)
            | ExprKind::InState(..)
            | ExprKind::Over(..) => choice(self.truth(expr), 1, 0),
        }
    }

    /// A value that becomes one of a type with `none`.
    fn optional(&self, value: &Expr, ty: &Type) -> model::Expr {
        let (lo, hi) = self.export.range(ty.given().unwrap_or(ty), false);
        let number = self.number(value);
        if value.ty.given().is_none() {
            return within(number, lo, hi);
        }
        choice((&number).is(-1), -1, within(number.clone(), lo, hi))
    }

    /// The number of an object: `none` names none.
    fn object_named(&self, named: &Expr) -> model::Expr {
        within(self.number(named), 0, self.export.range(&named.ty, false).1)
    }

    /// A set, as a number whose bit 0 is the least element of its type.
    fn set(&self, expr: &Expr) -> model::Expr {
        let (lo, count) = self.export.set_range(&expr.ty);
        match &expr.kind {
            ExprKind::SetOf(elements) => {
                let each = elements.iter().map(|e| call("single", (self.number(e), lo, count)));
                each.reduce(|set, one| call("either", (set, one))).unwrap_or(0.into())
            }
            ExprKind::AllNodes => all_of(i64::from(self.export.model.nodes)).into(),
            ExprKind::SetBinary(operator, l, r) => {
                let both = (self.set_from(l, lo), self.set_from(r, lo));
                match operator {
                    SetOperator::Union => call("either", both),
                    SetOperator::Difference => call("without", both),
                    SetOperator::Intersection => call("both", both),
                }
            }
            ExprKind::Var(place) => self.variable(place),
            _ => self.number(expr),
        }
    }

    /// A set, as a number whose bit 0 is `lo`.
    pub fn set_from(&self, expr: &Expr, lo: i64) -> model::Expr {
        let (own, _) = self.export.set_range(&expr.ty);
        if own == lo { self.set(expr) } else { call("moved", (self.set(expr), own.saturating_sub(lo))) }
    }
}
