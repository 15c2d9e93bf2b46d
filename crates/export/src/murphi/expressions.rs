//! Expressions of handlers and of invariants.
//!
//! Everything is a number; [`Scope::truth`] gives a Murphi condition, [`Scope::number`] a value.

use super::Export;
use super::types::all_of;
use trivium_check::BLOCK_BYTES;
use trivium_protocol::{
    BLOCK, EventKind, Expr, ExprKind, Local, LocalId, NODE, Operator, Owner, Place, Quantifier, RoleId, SetOperator,
    Type,
};

/// What the names in an expression mean.
pub(super) struct Scope<'s> {
    pub export: &'s Export<'s>,
    /// The node and the object whose records are at hand.
    pub node: String,
    pub object: String,
    /// The role to which `Owner::Current` belongs.
    pub role: RoleId,
    /// Whether it is about one node, in an assumption: `node`.
    pub here: bool,
    /// The role and the object of the event; `None` in an invariant.
    pub first: Option<(RoleId, String)>,
    /// The event that is handled; `None` in an invariant.
    pub event: Option<EventKind>,
    pub locals: &'s [Local],
}

impl Scope<'_> {
    /// The role instance that an owner means: its node and its object, as expressions.
    pub fn instance(&self, owner: &Owner, role: RoleId) -> (String, String) {
        let export = self.export;
        let kind = export.role(role).object;
        let own = match &self.first {
            None => {
                let object = match owner {
                    Owner::RoleOf(_, id) => self.number(id),
                    _ if kind == NODE => "0".into(),
                    _ => self.object.clone(),
                };
                let node = match owner {
                    Owner::At(_, node) => self.node_of(node),
                    _ if self.here => self.node.clone(),
                    _ => format!("({object} % {})", export.model.nodes),
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
            _ => "0".into(),
        };
        let node = match owner {
            Owner::At(_, node) => {
                let node = self.number(node);
                format!("within({node}, {}, {})", self.node, self.node)
            }
            _ => self.node.clone(),
        };
        (node, object)
    }

    fn node_of(&self, expr: &Expr) -> String {
        format!("within({}, 0, {})", self.number(expr), self.export.model.nodes - 1)
    }

    /// Whether an owner means the record whose steps run, which is known to be there.
    pub fn is_own(&self, owner: &Owner, role: RoleId) -> bool {
        matches!(owner, Owner::Current) && role == self.role
    }

    /// A variable, without the field.
    pub fn variable(&self, place: &Place) -> String {
        let (node, object) = self.instance(&place.owner, place.role);
        let name = self.export.var_name(place.role, place.var.index());
        // An invariant sees an untouched record where there is none; a handler must not look.
        if self.first.is_none() && !self.here || self.is_own(&place.owner, place.role) {
            return format!("{name}[{node}][{object}]");
        }
        format!("{name}[{node}][here{}({node}, {object})]", place.role.0)
    }

    pub fn type_of(&self, place: &Place) -> &Type {
        &self.export.role(place.role).vars[place.var.index()].ty
    }

    /// A scalar or set variable, or a field.
    pub fn place(&self, place: &Place) -> String {
        match (self.type_of(place), place.field) {
            (Type::Record(_), field) => format!("{}.f{}", self.variable(place), field.unwrap_or(0)),
            _ => self.variable(place),
        }
    }

    fn local(&self, local: LocalId, field: u16) -> String {
        match self.locals.get(local.index()).map(|l| &l.ty) {
            Some(Type::Record(_)) => format!("l{}_{field}", local.0),
            _ => format!("l{}", local.0),
        }
    }

    /// A condition.
    pub fn truth(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Not(inner) => format!("!({})", self.truth(inner)),
            ExprKind::Binary(Operator::And, l, r) => format!("({} & {})", self.truth(l), self.truth(r)),
            ExprKind::Binary(Operator::Or, l, r) => format!("({} | {})", self.truth(l), self.truth(r)),
            ExprKind::Binary(operator, l, r) => {
                let sign = match operator {
                    Operator::Equal => "=",
                    Operator::Different => "!=",
                    Operator::Less => "<",
                    Operator::LessEqual => "<=",
                    _ => return format!("({} != 0)", self.number(expr)),
                };
                format!("({} {sign} {})", self.number(l), self.number(r))
            }
            ExprKind::SetEqual(l, r) => {
                let (lo, _) = self.export.set_range(&l.ty);
                format!("({} = {})", self.set(l), self.set_from(r, lo))
            }
            ExprKind::ArrayEqual(l, r) => self.are_equal(l, r),
            ExprKind::In(element, of) => {
                let (lo, _) = self.export.set_range(&of.ty);
                format!("has({}, {} - {lo})", self.set(of), self.number(element))
            }
            ExprKind::Room(lane, count) => self.export.room(&self.node, lane.index(), &self.number(count)),
            ExprKind::InState(owner, role, states) => {
                let (node, object) = self.instance(owner, *role);
                let state = format!("{}[{node}][{object}]", self.export.state_var(*role));
                let any: Vec<String> =
                    states.iter().map(|s| format!("{state} = {}", self.export.state_name(*role, *s))).collect();
                let any = if any.is_empty() { "false".to_string() } else { format!("({})", any.join(" | ")) };
                match self.export.lives(*role, &node, &object).as_str() {
                    "true" => any,
                    lives => format!("({lives} & {any})"),
                }
            }
            ExprKind::Over(Quantifier::All, local, body) => {
                format!("(forall l{}: Node do {} end)", local.0, self.truth(body))
            }
            ExprKind::Over(Quantifier::Any, local, body) => {
                format!("(exists l{}: Node do {} end)", local.0, self.truth(body))
            }
            ExprKind::Constant(bound) if expr.ty == Type::Bool => (bound.at(self.export.model.nodes) != 0).to_string(),
            _ => format!("({} != 0)", self.number(expr)),
        }
    }

    /// A value; sets with their own least element.
    pub fn number(&self, expr: &Expr) -> String {
        let nodes = self.export.model.nodes;
        match &expr.kind {
            ExprKind::Constant(bound) => match bound.at(nodes) {
                negative if negative < 0 => format!("({negative})"),
                value => value.to_string(),
            },
            ExprKind::Local(local) => self.local(*local, 0),
            ExprKind::LocalField(local, field) => self.local(*local, *field),
            ExprKind::Var(place) => self.place(place),
            ExprKind::Sender if matches!(self.event, Some(EventKind::Message(_))) => "sender".into(),
            ExprKind::Sender | ExprKind::Me => self.node.clone(),
            ExprKind::Home if self.export.role(self.role).object == NODE => self.node.clone(),
            ExprKind::Home => format!("({} % {nodes})", self.object),
            ExprKind::HomeOf(named) => format!("({} % {nodes})", self.object_named(named)),
            ExprKind::AddressOf(named) => format!("({} * {BLOCK_BYTES})", self.object_named(named)),
            ExprKind::BytesOf(named) => format!("(0 * {} + {BLOCK_BYTES})", self.object_named(named)),
            ExprKind::BlockAt(address) => {
                let end = u64::from(self.export.model.objects[BLOCK.index()]) * BLOCK_BYTES;
                let address = self.number(address);
                format!("(({address} < {end}) ? ({address} / {BLOCK_BYTES}) : (0 - 1))")
            }
            ExprKind::Caller => match self.event {
                Some(event) if super::records::has_caller(event) => "thr".into(),
                _ => "(-1)".into(),
            },
            ExprKind::Object => self.object.clone(),
            ExprKind::FaultAddress => format!("pending_address({}, thr)", self.node),
            ExprKind::FaultSize => "8".into(),
            // The exchange, which is all that clients make.
            ExprKind::FaultOperation | ExprKind::FaultExpected => "0".into(),
            ExprKind::FaultValue => format!("pending_value({}, thr)", self.node),
            ExprKind::Negate(inner) => format!("(0 - {})", self.number(inner)),
            ExprKind::Binary(operator, l, r) => {
                let sign = match operator {
                    Operator::Add => "+",
                    Operator::Subtract => "-",
                    Operator::Multiply => "*",
                    Operator::Divide => "/",
                    Operator::Remainder => "%",
                    _ => return format!("({} ? 1 : 0)", self.truth(expr)),
                };
                format!("({} {sign} {})", self.number(l), self.number(r))
            }
            ExprKind::SetOf(_) | ExprKind::AllNodes | ExprKind::SetBinary(..) => self.set(expr),
            ExprKind::SetCount(of) => format!("size({})", self.set(of)),
            ExprKind::Pick(of) => {
                let (lo, _) = self.export.set_range(&of.ty);
                format!("(least({}) + {lo})", self.set(of))
            }
            ExprKind::Length(place) => format!("{}.n", self.variable(place)),
            ExprKind::Element(place, index, field) if matches!(self.type_of(place), Type::Array { .. }) => {
                format!("{}.f{field}[{}]", self.variable(place), self.place_in(self.type_of(place), index))
            }
            ExprKind::LocalLength(local) => {
                let packed = self.export.packed(&self.locals[local.index()].ty);
                packed.map_or("0".into(), |packed| packed.length(&self.local(*local, 0)))
            }
            ExprKind::LocalElement(local, index, field) => {
                let ty = &self.locals[local.index()].ty;
                if matches!(ty, Type::List { .. }) {
                    return self.listed(ty, &self.local(*local, 0), index, usize::from(*field));
                }
                let Some(packed) = self.export.packed(ty) else { return "0".into() };
                packed.digit(&self.local(*local, 0), &self.place_in(ty, index), usize::from(*field))
            }
            ExprKind::Element(place, index, field) => {
                let list = self.variable(place);
                format!("{list}.f{field}[within({}, 0, {list}.n - 1)]", self.number(index))
            }
            ExprKind::Index(node) | ExprKind::NodeAt(node) => self.node_of(node),
            ExprKind::Memory(address) => format!("load({}, {})", self.node, self.number(address)),
            ExprKind::Probe => format!("cache[me][{}]", self.object),
            ExprKind::Flight(message, to) => {
                let to = to.as_ref().map_or("-1".to_string(), |to| self.node_of(to));
                format!("flights{}({}, {to})", message.0, self.object)
            }
            ExprKind::Contents(copy, node) => self.export.copy_of(*copy, &self.node_of(node), &self.object),
            ExprKind::Access(node) => format!("tag({}, {})", self.node_of(node), self.object),
            ExprKind::Over(Quantifier::Count, local, body) => {
                let each = (0..nodes).map(|node| {
                    // Every node by its number: Murphi has no sums.
                    let body = self.truth(body);
                    format!("({} ? 1 : 0)", substitute(&body, &format!("l{}", local.0), &node.to_string()))
                });
                format!("({})", each.collect::<Vec<_>>().join(" + "))
            }
            ExprKind::Not(_)
            | ExprKind::SetEqual(..)
            | ExprKind::ArrayEqual(..)
            | ExprKind::In(..)
            | ExprKind::Room(..)
            | ExprKind::InState(..)
            | ExprKind::Over(..) => format!("({} ? 1 : 0)", self.truth(expr)),
        }
    }

    /// The number of an object: `none` names none.
    fn object_named(&self, named: &Expr) -> String {
        format!("within({}, 0, {})", self.number(named), self.export.range(&named.ty, false).1)
    }

    /// A set, as a number whose bit 0 is the least element of its type.
    fn set(&self, expr: &Expr) -> String {
        let (lo, count) = self.export.set_range(&expr.ty);
        match &expr.kind {
            ExprKind::SetOf(elements) => {
                let each = elements.iter().map(|e| format!("single({}, {lo}, {count})", self.number(e)));
                each.reduce(|set, one| format!("either({set}, {one})")).unwrap_or("0".into())
            }
            ExprKind::AllNodes => all_of(i64::from(self.export.model.nodes)).to_string(),
            ExprKind::SetBinary(operator, l, r) => {
                let (l, r) = (self.set_from(l, lo), self.set_from(r, lo));
                match operator {
                    SetOperator::Union => format!("either({l}, {r})"),
                    SetOperator::Difference => format!("without({l}, {r})"),
                    SetOperator::Intersection => format!("both({l}, {r})"),
                }
            }
            ExprKind::Var(place) => self.variable(place),
            _ => self.number(expr),
        }
    }

    /// A set, as a number whose bit 0 is `lo`.
    pub fn set_from(&self, expr: &Expr, lo: i64) -> String {
        let (own, _) = self.export.set_range(&expr.ty);
        if own == lo { self.set(expr) } else { format!("moved({}, {})", self.set(expr), own.saturating_sub(lo)) }
    }
}

/// Replaces a whole word.
pub(super) fn substitute(text: &str, word: &str, by: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let before = rest[..at].chars().next_back().or(out.chars().next_back().filter(|_| at == 0));
        let after = rest[at + word.len()..].chars().next();
        out += &rest[..at];
        let whole = !before.is_some_and(is_part) && !after.is_some_and(is_part);
        out += if whole { by } else { word };
        rest = &rest[at + word.len()..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::substitute;

    #[test]
    fn only_whole_words_are_replaced() {
        assert_eq!(substitute("l1 + l10 - xl1 * f(l1) / l1x", "l1", "7"), "7 + l10 - xl1 * f(7) / l1x");
    }
}
