//! Arrays. A variable is an array of the model for each field of its elements. An argument or a local, which the model keeps as a number, is the
//! number whose digits are the elements.

use super::Export;
use super::expressions::Scope;
use super::lines::Lines;
use super::steps::Writer;
use trivium_check::ConfigError;
use trivium_protocol::{Expr, ExprKind, Place, Type};

/// The greatest number that holds an array.
const MOST_PACKED: i64 = 1 << 60;

/// How an array is a number.
#[derive(Clone, Copy)]
pub(super) struct Packed {
    /// The least value of an element.
    lo: i64,
    /// How many values an element has.
    radix: i64,
    /// The number of all its values.
    all: i64,
}

impl Packed {
    /// The greatest number.
    pub fn most(self) -> i64 {
        self.all - 1
    }

    /// An element of an array that is a number, by its place.
    pub fn digit(self, number: &str, place: &str) -> String {
        format!("(digit({number}, {}, {place}) + {})", self.radix, self.lo)
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

    /// How an array is a number; none if it does not fit one.
    pub fn packed(&self, ty: &Type) -> Option<Packed> {
        let Type::Array { of, .. } = ty else { return None };
        if matches!(**of, Type::Record(_)) {
            return None;
        }
        let (lo, hi) = self.range(of, false);
        let radix = hi.checked_sub(lo)?.checked_add(1)?;
        let mut all: i64 = 1;
        for _ in 0..self.elements(ty).1 {
            all = all.checked_mul(radix).filter(|&all| all <= MOST_PACKED)?;
        }
        Some(Packed { lo, radix, all })
    }

    /// Whether all arrays that are arguments or locals are numbers of the model.
    pub fn check_arrays(&self) -> Result<(), ConfigError> {
        let args = self.protocol().messages.iter().flat_map(|message| &message.args).map(|arg| (&arg.name, &arg.ty));
        let code = self.protocol().roles.iter().flat_map(|role| role.code());
        let locals = code.flat_map(|handler| &handler.locals).map(|local| (&local.name, &local.ty));
        for (name, ty) in args.chain(locals) {
            if matches!(ty, Type::Array { .. }) && self.packed(ty).is_none() {
                return Err(ConfigError::new(
                    format!("the array `{name}` cannot be exported"),
                    "an array in a message or a local is a number in the model: use scalars with fewer values as its elements, or fewer nodes",
                ));
            }
        }
        Ok(())
    }

    /// What the model asks of an array that is a number.
    pub fn array_functions(&self, out: &mut Lines) {
        out.routine(
            "function digit(number: Int; radix: Int; place: Int): Int",
            &["n: Int".into(), "i: Int".into()],
            |out| {
                out.line("n := number;");
                out.line("i := 0;");
                out.line("while i < place do n := n / radix; i := i + 1; end;");
                out.line("return n % radix;");
            },
        );
    }

    /// Whether any argument or local is an array.
    pub fn packs_arrays(&self) -> bool {
        let is_array = |ty: &Type| matches!(ty, Type::Array { .. });
        let code = || self.protocol().roles.iter().flat_map(|role| role.code());
        self.protocol().messages.iter().flat_map(|message| &message.args).any(|arg| is_array(&arg.ty))
            || code().flat_map(|handler| &handler.locals).any(|local| is_array(&local.ty))
    }
}

impl Scope<'_> {
    /// The place of an element in the model.
    pub fn place_in(&self, ty: &Type, index: &Expr) -> String {
        let (lo, count) = self.export.elements(ty);
        format!("within({} - {lo}, 0, {})", self.number(index), count - 1)
    }

    /// All elements of an array, field by field.
    pub fn elements_of(&self, array: &Expr) -> Vec<String> {
        let (_, count) = self.export.elements(&array.ty);
        match &array.kind {
            ExprKind::Var(place) => {
                let Type::Array { of, .. } = &array.ty else { return Vec::new() };
                let (variable, fields) = (self.variable(place), self.export.fields(of).len());
                let each = (0..count).flat_map(|i| (0..fields).map(move |f| (i, f)));
                each.map(|(i, f)| format!("{variable}.f{f}[{i}]")).collect()
            }
            _ => {
                let Some(packed) = self.export.packed(&array.ty) else { return Vec::new() };
                let number = self.number(array);
                (0..count).map(|i| packed.digit(&number, &i.to_string())).collect()
            }
        }
    }

    /// An array as a number.
    pub fn array_number(&self, array: &Expr) -> String {
        let (ExprKind::Var(_), Some(packed)) = (&array.kind, self.export.packed(&array.ty)) else {
            return self.number(array);
        };
        let mut weight = 1;
        let mut digits = Vec::new();
        for element in self.elements_of(array) {
            digits.push(format!("({element} - ({})) * {weight}", packed.lo));
            weight *= packed.radix;
        }
        format!("({})", digits.join(" + "))
    }
}

impl Writer<'_> {
    /// An array variable gets the value of an array.
    pub(super) fn assign_array(&mut self, place: &Place, value: &Expr, out: &mut Lines) {
        let elements = self.scope.elements_of(value);
        self.touch(&place.owner, place.role, out);
        let to = Expr { kind: ExprKind::Var(place.clone()), ty: value.ty.clone(), span: value.span };
        for (to, from) in self.scope.elements_of(&to).into_iter().zip(elements) {
            out.line(format!("{to} := {from};"));
        }
    }

    /// Fields of an element of a list or array get values, from one of them on.
    pub(super) fn assign_element(
        &mut self,
        place: &Place,
        index: &Expr,
        first: usize,
        values: &[Expr],
        out: &mut Lines,
    ) {
        let at = self.fresh("at");
        let fields: Vec<String> = values.iter().map(|_| self.fresh("value")).collect();
        out.line(format!("{at} := {};", self.scope.number(index)));
        for (field, value) in fields.iter().zip(values) {
            out.line(format!("{field} := {};", self.scope.number(value)));
        }
        self.touch(&place.owner, place.role, out);
        let variable = self.scope.variable(place);
        let within = match self.scope.type_of(place) {
            ty @ Type::Array { .. } => {
                let (lo, count) = self.scope.export.elements(ty);
                format!("within({at} - {lo}, 0, {})", count - 1)
            }
            _ => format!("within({at}, 0, {variable}.n - 1)"),
        };
        for (f, field) in fields.iter().enumerate() {
            out.line(format!("{variable}.f{}[{within}] := {field};", first + f));
        }
    }
}
