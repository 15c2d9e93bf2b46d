//! Arrays, and lists that are arguments or locals. A variable is an array of the model for each field of its elements. An argument or a local, which
//! the model keeps as a number, is the number whose digits are the elements; of a list the lowest digit is its length, and places that are not in use are 0.

use super::Export;
use super::expressions::{Scope, within};
use super::names::{I, INT, N, NUMBER, PLACE, RADIX, part};
use super::steps::Writer;
use crate::model::{self, Block, Program, Term, all, call, choice, function};
use crate::refused;
use trivium_check::Intent;
use trivium_diagnostic::Diagnostic;
use trivium_engine::number::fit;
use trivium_protocol::{EventKind, Expr, ExprKind, Named, Place, Type};

/// The greatest number that holds an array.
const MOST_PACKED: i64 = 1 << 60;

/// How an array or a list is a number.
#[derive(Clone)]
pub(super) struct Packed {
    /// The fields of an element, the lowest first.
    fields: Vec<Field>,
    /// How many values an element has.
    radix: i64,
    /// The number of all its values.
    all: i64,
    /// How many lengths it may have: 1 for an array.
    lengths: i64,
}

/// A field of an element that is a number.
#[derive(Clone, Copy)]
struct Field {
    /// Its least value.
    lo: i64,
    /// How many values it has.
    radix: i64,
    /// How many values those below it have together.
    weight: i64,
}

impl Packed {
    /// The greatest number.
    pub fn most(&self) -> i64 {
        self.all - 1
    }

    /// A field of an element of an array that is a number, by its place.
    pub fn digit(&self, number: &model::Expr, place: impl Into<model::Expr>, field: usize) -> model::Expr {
        let Some(Field { lo, radix, weight }) = self.fields.get(field) else { return 0.into() };
        let number = if self.lengths == 1 { number.clone() } else { number / self.lengths };
        let element = call("digit", (number, self.radix, place));
        if self.fields.len() == 1 { element + *lo } else { (element / *weight) % *radix + *lo }
    }

    /// The part of the number that the value of a field of an element is, where the values of all fields of all elements are counted in their order.
    fn part(&self, value: model::Expr, number: usize) -> model::Expr {
        let Field { lo, weight, .. } = self.fields[number % self.fields.len()];
        let below = (0..number / self.fields.len()).fold(self.lengths, |below, _| below.saturating_mul(self.radix));
        (value - lo) * below.saturating_mul(weight)
    }

    /// The number of an array or a list with these values.
    fn number(&self, values: &[i64]) -> i64 {
        let fields = self.fields.len().max(1);
        let elements = values.chunks(fields).rev().fold(0, |above: i64, element| {
            let own = element.iter().zip(&self.fields).map(|(value, field)| (value - field.lo) * field.weight);
            above * self.radix + own.sum::<i64>()
        });
        let length = if self.lengths == 1 { 0 } else { fit(values.len() / fields, "the length of a list") };
        elements * self.lengths + length
    }

    /// The length of a list that is a number.
    pub fn length(&self, number: &model::Expr) -> model::Expr {
        number % self.lengths
    }
}

impl Export<'_> {
    /// The name of an array's first element, and how many elements it has.
    pub fn elements(&self, ty: &Type) -> (i64, i64) {
        let nodes = self.model.nodes;
        match ty {
            Type::Array { by, .. } => match &**by {
                Type::Int { lo, hi } => (lo.at(nodes), hi.at(nodes).saturating_sub(lo.at(nodes)).saturating_add(1)),
                _ => (0, i64::from(nodes)),
            },
            _ => (0, 0),
        }
    }

    /// How an array or a list is a number; none if it does not fit one.
    pub fn packed(&self, ty: &Type) -> Option<Packed> {
        let (of, count, lengths) = match ty {
            Type::Array { of, .. } => (of, self.elements(ty).1, 1),
            Type::List { of, up_to, .. } => {
                let most = up_to.at(self.model.nodes);
                (of, most, most.checked_add(1)?)
            }
            _ => return None,
        };
        let (mut radix, mut fields): (i64, _) = (1, Vec::new());
        for ty in self.fields(of) {
            let (lo, hi) = self.range(&ty, false);
            let own = hi.checked_sub(lo)?.checked_add(1)?;
            fields.push(Field { lo, radix: own, weight: radix });
            radix = radix.checked_mul(own)?;
        }
        let mut all: i64 = lengths;
        for _ in 0..count {
            all = all.checked_mul(radix).filter(|&all| all <= MOST_PACKED)?;
        }
        Some(Packed { fields, radix, all, lengths })
    }

    /// Whether all arrays and lists that are arguments or locals are numbers of the model.
    pub fn check_arrays(&self) -> Result<(), Diagnostic> {
        let args = self.sent().map(|arg| (&arg.name, &arg.ty));
        let code = self.protocol().roles.iter().flat_map(|role| role.code());
        let locals = code.flat_map(|handler| &handler.locals).map(|local| (&local.name, &local.ty));
        for (name, ty) in args.chain(locals) {
            let (what, of, fewer) = match ty {
                Type::Array { of, .. } => ("array", of, "fewer nodes or elements"),
                Type::List { of, .. } => ("list", of, "a shorter list"),
                _ => continue,
            };
            if self.packed(ty).is_some() {
                continue;
            }
            let of = self.protocol().type_name(of);
            let help = format!("its elements are of the type {of}: use one with fewer values, or {fewer}");
            let found = format!("the {what} `{name}`, which would be a number in the model, cannot be exported");
            return Err(refused(found, help));
        }
        Ok(())
    }

    /// The arguments of messages, calls and tasks.
    fn sent(&self) -> impl Iterator<Item = &Named> {
        let messages = self.protocol().messages.iter().flat_map(|message| &message.args);
        let messages = messages.chain(self.protocol().ops.iter().flat_map(|op| &op.args));
        messages.chain(self.protocol().tasks.iter().flat_map(|task| &task.args))
    }

    /// What a call passes, a number for each argument.
    pub fn passed(&self, intent: &Intent) -> Vec<model::Expr> {
        let Intent::Call { op, args, .. } = intent else { return Vec::new() };
        let values = self.engine().argument_values(EventKind::Op(*op), args.words());
        let declared = &self.protocol().ops[op.index()].args;
        let each = declared.iter().zip(values);
        each.map(|(arg, values)| match self.packed(&arg.ty) {
            Some(packed) => packed.number(&values),
            None => values.first().copied().unwrap_or(0),
        })
        .map(model::Expr::from)
        .collect()
    }

    /// What the model asks of an array that is a number.
    pub fn array_functions(&self, program: &mut Program) {
        let head = function("digit", INT).takes_each([NUMBER, RADIX, PLACE], &INT);
        program.define(head.local(N, INT).local(I, INT), |out| {
            out.assign(N, NUMBER);
            out.assign(I, 0);
            out.while_(I.lt(PLACE), |out| {
                out.assign(N, N / RADIX);
                out.increase(I, 1);
            });
            out.give(N % RADIX);
        });
    }

    /// Whether any argument or local is an array or a list.
    pub fn packs_arrays(&self) -> bool {
        let is_array = |ty: &Type| matches!(ty, Type::Array { .. } | Type::List { .. });
        let code = || self.protocol().roles.iter().flat_map(|role| role.code());
        self.sent().any(|arg| is_array(&arg.ty))
            || code().flat_map(|handler| &handler.locals).any(|local| is_array(&local.ty))
    }
}

impl Scope<'_> {
    /// The place of an element in the model.
    pub fn place_in(&self, ty: &Type, index: &Expr) -> model::Expr {
        let (lo, count) = self.export.elements(ty);
        within(self.number(index) - lo, 0, count - 1)
    }

    /// How many elements a list has.
    fn length_of(&self, list: &Expr) -> model::Expr {
        match (&list.kind, self.export.packed(&list.ty)) {
            (ExprKind::Var(place), _) => self.variable(place).field("n"),
            (ExprKind::SetOf(elements), _) => elements.len().into(),
            (ExprKind::Local(_), Some(packed)) => packed.length(&self.number(list)),
            _ => 0.into(),
        }
    }

    /// An element of a list that is a local.
    pub fn listed(&self, ty: &Type, number: &model::Expr, index: &Expr, field: usize) -> model::Expr {
        let Some(packed) = self.export.packed(ty) else { return 0.into() };
        packed.digit(number, within(self.number(index), 0, packed.length(number) - 1), field)
    }

    /// Whether two arrays or two lists are equal.
    pub fn are_equal(&self, one: &Expr, other: &Expr) -> model::Expr {
        let pairs = self.elements_of(one).into_iter().zip(self.elements_of(other));
        let equal: Vec<model::Expr> = pairs.map(|(one, other)| one.is(other)).collect();
        if !matches!(one.ty, Type::List { .. }) {
            return all(equal);
        }
        let length = self.length_of(one);
        let each = equal.chunks(self.fields_of(one)).enumerate();
        let each = each.map(|(at, fields)| model::Expr::from(at).ge(&length) | all(fields.iter().cloned()));
        all([(&length).is(self.length_of(other))].into_iter().chain(each))
    }

    fn fields_of(&self, array: &Expr) -> usize {
        match &array.ty {
            Type::Array { of, .. } | Type::List { of, .. } => self.export.fields(of).len().max(1),
            _ => 1,
        }
    }

    /// All elements of an array, field by field; of a list all that it has room for.
    pub fn elements_of(&self, array: &Expr) -> Vec<model::Expr> {
        let count = match &array.ty {
            Type::List { up_to, .. } => up_to.at(self.export.model.nodes),
            ty => self.export.elements(ty).1,
        };
        match &array.kind {
            ExprKind::SetOf(elements) => elements.iter().map(|element| self.number(element)).collect(),
            ExprKind::Var(place) => {
                let (variable, fields) = (&self.variable(place), self.fields_of(array));
                (0..count).flat_map(|i| (0..fields).map(move |f| variable.field(part(f)).at(i))).collect()
            }
            _ => {
                let Some(packed) = self.export.packed(&array.ty) else { return Vec::new() };
                let number = self.number(array);
                let each = (0..count).flat_map(|i| (0..packed.fields.len()).map(move |f| (i, f)));
                each.map(|(i, f)| packed.digit(&number, i, f)).collect()
            }
        }
    }

    /// An array as a number.
    pub fn array_number(&self, array: &Expr) -> model::Expr {
        let (ExprKind::Var(_), Some(packed)) = (&array.kind, self.export.packed(&array.ty)) else {
            return self.number(array);
        };
        let parts = self.elements_of(array).into_iter().enumerate();
        let parts = parts.map(|(number, element)| packed.part(element, number));
        parts.reduce(|sum, part| sum + part).unwrap_or(0.into())
    }
}

impl Scope<'_> {
    /// A list as a number of a type: what is not in use is 0, as it is where the list is kept.
    pub fn list_number(&self, ty: &Type, list: &Expr) -> model::Expr {
        let Some(packed) = self.export.packed(ty) else { return 0.into() };
        if matches!(list.kind, ExprKind::Local(_)) && list.ty == *ty {
            return self.number(list);
        }
        let length = self.length_of(list);
        // A list that is longer than the type's is a fault.
        let fields = packed.fields.len();
        let most = usize::try_from(packed.lengths - 1).unwrap_or(0) * fields;
        let elements = self.elements_of(list).into_iter().enumerate().take(most);
        elements.fold(within(&length, 0, packed.lengths - 1), |sum, (number, element)| {
            let is_there = model::Expr::from(number / fields).lt(&length);
            sum + choice(is_there, packed.part(element, number), 0)
        })
    }
}

impl Writer<'_> {
    /// A list variable gets the value of a list.
    pub(super) fn assign_list(&mut self, place: &Place, value: &Expr, out: &mut Block) {
        let length = self.fresh("length");
        let elements = self.scope.elements_of(value);
        let ty = self.scope.type_of(place).clone();
        let Type::List { of, up_to, .. } = &ty else { return };
        let (most, fields) = (up_to.at(self.scope.export.model.nodes), self.scope.export.fields(of));
        out.assign(&length, within(self.scope.length_of(value), 0, most));
        let is_there = |at: model::Expr| at.lt(&length);
        let mut kept = Vec::new();
        for (at, element) in elements.into_iter().enumerate() {
            let own = self.fresh("value");
            out.when(is_there((at / fields.len().max(1)).into()), |out| out.assign(&own, element));
            kept.push(own);
        }
        self.touch(&place.owner, place.role, out);
        let list = self.scope.variable(place);
        let mut kept = kept.into_iter();
        out.assign((&list).field("n"), &length);
        for at in 0..most.max(1) {
            for (f, field) in fields.iter().enumerate() {
                let to = (&list).field(part(f)).at(at);
                let first = self.scope.export.first_value(field, None);
                match kept.next() {
                    Some(kept) => {
                        out.when_else(is_there(at.into()), |out| out.assign(&to, kept), |out| out.assign(&to, first))
                    }
                    None => out.assign(to, first),
                }
            }
        }
    }

    /// An array variable gets the value of an array.
    pub(super) fn assign_array(&mut self, place: &Place, value: &Expr, out: &mut Block) {
        let elements = self.scope.elements_of(value);
        self.touch(&place.owner, place.role, out);
        let to = Expr { kind: ExprKind::Var(place.clone()), ty: value.ty.clone(), span: value.span };
        for (to, from) in self.scope.elements_of(&to).into_iter().zip(elements) {
            out.assign(to, from);
        }
    }

    /// Fields of an element of a list or array get values, from one of them on.
    pub(super) fn assign_element(
        &mut self,
        place: &Place,
        index: &Expr,
        first: usize,
        values: &[Expr],
        out: &mut Block,
    ) {
        let at = self.fresh("at");
        let fields: Vec<model::Name> = values.iter().map(|_| self.fresh("value")).collect();
        out.assign(&at, self.scope.number(index));
        let of = match self.scope.type_of(place) {
            Type::Array { of, .. } | Type::List { of, .. } => self.scope.export.fields(of),
            _ => Vec::new(),
        };
        for ((field, value), ty) in fields.iter().zip(values).zip(&of[first..]) {
            out.assign(field, self.argument(ty, value));
        }
        self.touch(&place.owner, place.role, out);
        let variable = self.scope.variable(place);
        let place = match self.scope.type_of(place) {
            ty @ Type::Array { .. } => {
                let (lo, count) = self.scope.export.elements(ty);
                within(at - lo, 0, count - 1)
            }
            _ => within(at, 0, (&variable).field("n") - 1),
        };
        for (f, field) in fields.iter().enumerate() {
            out.assign((&variable).field(part(first + f)).at(&place), field);
        }
    }
}
