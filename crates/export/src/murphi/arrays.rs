//! Arrays, and lists that are arguments or locals. A variable is an array of the model for each field of its elements. An argument or a local, which
//! the model keeps as a number, is the number whose digits are the elements; of a list the lowest digit is its length, and places that are not in use are 0.

use super::Export;
use super::expressions::Scope;
use super::lines::Lines;
use super::steps::Writer;
use trivium_check::{ConfigError, Intent};
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
    pub fn digit(&self, number: &str, place: &str, field: usize) -> String {
        let Some(Field { lo, radix, weight }) = self.fields.get(field) else { return "0".into() };
        let element = match self.lengths {
            1 => format!("digit({number}, {}, {place})", self.radix),
            lengths => format!("digit({number} / {lengths}, {}, {place})", self.radix),
        };
        if self.fields.len() == 1 {
            format!("({element} + {lo})")
        } else {
            format!("(({element} / {weight}) % {radix} + {lo})")
        }
    }

    /// The part of the number that the value of a field of an element is, where the values of all fields of all elements are counted in their order.
    fn part(&self, value: &str, number: usize) -> String {
        let Field { lo, weight, .. } = self.fields[number % self.fields.len()];
        let below = (0..number / self.fields.len()).fold(self.lengths, |below, _| below.saturating_mul(self.radix));
        format!("({value} - ({lo})) * {}", below.saturating_mul(weight))
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
    pub fn length(&self, number: &str) -> String {
        format!("({number} % {})", self.lengths)
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
    pub fn check_arrays(&self) -> Result<(), ConfigError> {
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
            return Err(ConfigError::new(found, help));
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
    pub fn passed(&self, intent: &Intent) -> Vec<i64> {
        let Intent::Call { op, args, .. } = intent else { return Vec::new() };
        let values = self.engine().argument_values(EventKind::Op(*op), args.words());
        let declared = &self.protocol().ops[op.index()].args;
        let each = declared.iter().zip(values);
        each.map(|(arg, values)| match self.packed(&arg.ty) {
            Some(packed) => packed.number(&values),
            None => values.first().copied().unwrap_or(0),
        })
        .collect()
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
    pub fn place_in(&self, ty: &Type, index: &Expr) -> String {
        let (lo, count) = self.export.elements(ty);
        format!("within({} - {lo}, 0, {})", self.number(index), count - 1)
    }

    /// How many elements a list has.
    fn length_of(&self, list: &Expr) -> String {
        match (&list.kind, self.export.packed(&list.ty)) {
            (ExprKind::Var(place), _) => format!("{}.n", self.variable(place)),
            (ExprKind::SetOf(elements), _) => elements.len().to_string(),
            (ExprKind::Local(_), Some(packed)) => packed.length(&self.number(list)),
            _ => "0".into(),
        }
    }

    /// An element of a list that is a local.
    pub fn listed(&self, ty: &Type, number: &str, index: &Expr, field: usize) -> String {
        let Some(packed) = self.export.packed(ty) else { return "0".into() };
        packed.digit(number, &format!("within({}, 0, {} - 1)", self.number(index), packed.length(number)), field)
    }

    /// Whether two arrays or two lists are equal.
    pub fn are_equal(&self, one: &Expr, other: &Expr) -> String {
        let pairs = self.elements_of(one).into_iter().zip(self.elements_of(other));
        let mut equal: Vec<String> = pairs.map(|(one, other)| format!("{one} = {other}")).collect();
        if matches!(one.ty, Type::List { .. }) {
            let length = self.length_of(one);
            let each = equal.chunks(self.fields_of(one)).enumerate();
            equal = each.map(|(at, fields)| format!("({at} >= {length} | ({}))", fields.join(" & "))).collect();
            equal.insert(0, format!("{length} = {}", self.length_of(other)));
        }
        format!("({})", equal.join(" & "))
    }

    fn fields_of(&self, array: &Expr) -> usize {
        match &array.ty {
            Type::Array { of, .. } | Type::List { of, .. } => self.export.fields(of).len().max(1),
            _ => 1,
        }
    }

    /// All elements of an array, field by field; of a list all that it has room for.
    pub fn elements_of(&self, array: &Expr) -> Vec<String> {
        let count = match &array.ty {
            Type::List { up_to, .. } => up_to.at(self.export.model.nodes),
            ty => self.export.elements(ty).1,
        };
        match &array.kind {
            ExprKind::SetOf(elements) => elements.iter().map(|element| self.number(element)).collect(),
            ExprKind::Var(place) => {
                let (variable, fields) = (self.variable(place), self.fields_of(array));
                let each = (0..count).flat_map(|i| (0..fields).map(move |f| (i, f)));
                each.map(|(i, f)| format!("{variable}.f{f}[{i}]")).collect()
            }
            _ => {
                let Some(packed) = self.export.packed(&array.ty) else { return Vec::new() };
                let number = self.number(array);
                let each = (0..count).flat_map(|i| (0..packed.fields.len()).map(move |f| (i, f)));
                each.map(|(i, f)| packed.digit(&number, &i.to_string(), f)).collect()
            }
        }
    }

    /// An array as a number.
    pub fn array_number(&self, array: &Expr) -> String {
        let (ExprKind::Var(_), Some(packed)) = (&array.kind, self.export.packed(&array.ty)) else {
            return self.number(array);
        };
        let parts = self.elements_of(array).into_iter().enumerate();
        let parts: Vec<String> = parts.map(|(number, element)| packed.part(&element, number)).collect();
        format!("({})", parts.join(" + "))
    }
}

impl Scope<'_> {
    /// A list as a number of a type: what is not in use is 0, as it is where the list is kept.
    pub fn list_number(&self, ty: &Type, list: &Expr) -> String {
        let Some(packed) = self.export.packed(ty) else { return "0".into() };
        if matches!(list.kind, ExprKind::Local(_)) && list.ty == *ty {
            return self.number(list);
        }
        let length = self.length_of(list);
        let mut sum = vec![format!("within({length}, 0, {})", packed.lengths - 1)];
        // A list that is longer than the type's is a fault.
        let fields = packed.fields.len();
        let most = usize::try_from(packed.lengths - 1).unwrap_or(0) * fields;
        for (number, element) in self.elements_of(list).into_iter().enumerate().take(most) {
            sum.push(format!("({} < {length} ? {} : 0)", number / fields, packed.part(&element, number)));
        }
        format!("({})", sum.join(" + "))
    }
}

impl Writer<'_> {
    /// A list variable gets the value of a list.
    pub(super) fn assign_list(&mut self, place: &Place, value: &Expr, out: &mut Lines) {
        let length = self.fresh("length");
        let all = self.scope.elements_of(value);
        let ty = self.scope.type_of(place).clone();
        let Type::List { of, up_to, .. } = &ty else { return };
        let (most, fields) = (up_to.at(self.scope.export.model.nodes), self.scope.export.fields(of));
        out.line(format!("{length} := within({}, 0, {most});", self.scope.length_of(value)));
        let kept: Vec<String> = all.iter().map(|_| self.fresh("value")).collect();
        for (kept, (at, element)) in kept.iter().zip(all.iter().enumerate()) {
            out.line(format!("if {} < {length} then {kept} := {element}; end;", at / fields.len().max(1)));
        }
        self.touch(&place.owner, place.role, out);
        let list = self.scope.variable(place);
        let mut kept = kept.into_iter();
        out.line(format!("{list}.n := {length};"));
        for at in 0..most.max(1) {
            for (f, field) in fields.iter().enumerate() {
                let (to, first) = (format!("{list}.f{f}[{at}]"), self.scope.export.first_value(field, None));
                out.line(match kept.next() {
                    Some(kept) => format!("if {at} < {length} then {to} := {kept}; else {to} := {first}; end;"),
                    None => format!("{to} := {first};"),
                });
            }
        }
    }

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
        let of = match self.scope.type_of(place) {
            Type::Array { of, .. } | Type::List { of, .. } => self.scope.export.fields(of),
            _ => Vec::new(),
        };
        for ((field, value), ty) in fields.iter().zip(values).zip(&of[first..]) {
            out.line(format!("{field} := {};", self.argument(ty, value)));
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
