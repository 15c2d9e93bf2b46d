//! Expressions in C.

use super::text::Translated;
use super::types::{Type, TypeId, Types};
use crate::model::{Declared, Expr, Name, Sign};

/// What a name stands for.
#[derive(Clone)]
pub(super) struct Variable {
    pub name: Name,
    pub ty: TypeId,
    /// How it is written in C.
    pub text: String,
}

/// What a call needs to know of a routine.
pub(super) struct Signature {
    pub name: Name,
    pub parameters: Vec<(TypeId, bool)>,
    pub result: Option<TypeId>,
}

/// The kind of a value: a truth value, a number, or a record or an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Truth,
    Number,
    Whole(TypeId),
}

pub(super) struct Value {
    pub text: String,
    pub kind: Kind,
}

/// What is known where an expression or a statement stands.
pub(super) struct Scope<'p> {
    pub types: &'p mut Types,
    pub constants: &'p [(Name, i64)],
    pub signatures: &'p [Signature],
    /// The last of a name counts.
    pub variables: Vec<Variable>,
    /// What the routine returns whose statements these are.
    pub result: Option<TypeId>,
}

impl Scope<'_> {
    pub fn kind(&self, ty: TypeId) -> Kind {
        match self.types.get(ty) {
            Type::Truth => Kind::Truth,
            Type::Range { .. } => Kind::Number,
            _ => Kind::Whole(ty),
        }
    }

    /// Something that can be assigned to, and its type.
    pub fn place(&mut self, expr: &Expr) -> Translated<(String, TypeId)> {
        match expr {
            Expr::Name(name) => {
                let known = self.variables.iter().rev().find(|v| v.name == *name);
                known.map(|v| (v.text.clone(), v.ty)).ok_or_else(|| format!("the name `{name}`"))
            }
            Expr::Field(of, name) => {
                let (text, ty) = self.place(of)?;
                let Type::Record(fields) = self.types.get(ty) else { return Err(format!("`.{name}` of no record")) };
                let field =
                    fields.iter().find(|(field, _)| field == name).ok_or_else(|| format!("the field `{name}`"))?;
                Ok((format!("{text}.{name}_"), field.1))
            }
            Expr::Index(of, index) => {
                let (text, ty) = self.place(of)?;
                let index = self.value(index)?.text;
                let Type::Array { least, most, of } = *self.types.get(ty) else {
                    return Err("an index of no array".into());
                };
                Ok((format!("{text}.a[at({index}, {least}, {most})]"), of))
            }
            _ => Err(format!("a place like {expr:?}")),
        }
    }

    pub fn value(&mut self, expr: &Expr) -> Translated<Value> {
        let number = |text| Ok(Value { text, kind: Kind::Number });
        let truth = |text| Ok(Value { text, kind: Kind::Truth });
        match expr {
            Expr::Number(value) => number(value.to_string()),
            Expr::Truth(value) => truth(u8::from(*value).to_string()),
            Expr::Name(name) if self.variables.iter().all(|v| v.name != *name) => {
                let known = self.constants.iter().find(|(constant, _)| constant == name);
                number(known.ok_or_else(|| format!("the name `{name}`"))?.1.to_string())
            }
            Expr::Name(_) | Expr::Field(..) | Expr::Index(..) => {
                let (text, ty) = self.place(expr)?;
                Ok(Value { text, kind: self.kind(ty) })
            }
            Expr::Call(name, arguments) => {
                let (text, result) = self.call(name, arguments)?;
                let result = result.ok_or_else(|| format!("the value of the procedure `{name}`"))?;
                Ok(Value { text, kind: self.kind(result) })
            }
            Expr::Not(inner) => truth(format!("(!{})", self.value(inner)?.text)),
            Expr::Negate(inner) => number(format!("subtract(0, {})", self.value(inner)?.text)),
            Expr::Complement(inner) => number(format!("(~(int64_t)({}))", self.value(inner)?.text)),
            Expr::Binary(sign, left, right) => self.binary(*sign, left, right),
            Expr::Choice(condition, yes, no) => {
                let condition = self.value(condition)?.text;
                let yes = self.value(yes)?;
                Ok(Value { text: format!("({condition} ? {} : {})", yes.text, self.value(no)?.text), kind: yes.kind })
            }
            Expr::Over(all, over, body) => truth(self.quantified(*all, over, body)?),
        }
    }

    fn binary(&mut self, sign: Sign, left: &Expr, right: &Expr) -> Translated<Value> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        if [left.kind, right.kind].iter().any(|kind| matches!(kind, Kind::Whole(_))) {
            return Err("a comparison of records".into());
        }
        let both_truths = left.kind == Kind::Truth && right.kind == Kind::Truth;
        let (l, r) = (left.text, right.text);
        let number = |text| Ok(Value { text, kind: Kind::Number });
        let truth = |text| Ok(Value { text, kind: Kind::Truth });
        match sign {
            Sign::And if both_truths => truth(format!("({l} && {r})")),
            Sign::Or if both_truths => truth(format!("({l} || {r})")),
            Sign::And => number(format!("((int64_t)({l}) & (int64_t)({r}))")),
            Sign::Or => number(format!("((int64_t)({l}) | (int64_t)({r}))")),
            Sign::Equal => truth(format!("({l} == {r})")),
            Sign::Different => truth(format!("({l} != {r})")),
            Sign::Less => truth(format!("({l} < {r})")),
            Sign::LessEqual => truth(format!("({l} <= {r})")),
            Sign::Greater => truth(format!("({l} > {r})")),
            Sign::GreaterEqual => truth(format!("({l} >= {r})")),
            Sign::ShiftLeft => number(format!("shift_left({l}, {r})")),
            Sign::ShiftRight => number(format!("shift_right({l}, {r})")),
            Sign::Plus => number(format!("add({l}, {r})")),
            Sign::Minus => number(format!("subtract({l}, {r})")),
            Sign::Times => number(format!("multiply({l}, {r})")),
            Sign::Divide => number(format!("divide({l}, {r})")),
            Sign::Remainder => number(format!("remainder_of({l}, {r})")),
        }
    }

    /// A variable for which something is true, or the loop that tries all.
    fn quantified(&mut self, all: bool, over: &Declared, body: &Expr) -> Translated<String> {
        let ty = self.types.resolve(&over.ty)?;
        let (least, most) = self.types.bounds(ty).ok_or("a quantifier over something that is no range")?;
        let variable = self.bind(&over.name, ty);
        let body = self.value(body)?.text;
        self.variables.pop();
        let (first, sign, then) = if all { (1, "!", 0) } else { (0, "", 1) };
        Ok(format!(
            "({{ int found = {first}; for (int64_t {variable} = {least}; {variable} <= {most}; {variable}++) \
             if ({sign}{body}) {{ found = {then}; break; }} found; }})"
        ))
    }

    /// A new local name.
    pub fn bind(&mut self, name: &Name, ty: TypeId) -> String {
        let text = format!("{name}_");
        self.variables.push(Variable { name: name.clone(), ty, text: text.clone() });
        text
    }

    /// A value as one of a type: a number that is not in its range is an error of the model.
    pub fn fitted(&mut self, expr: &Expr, ty: TypeId) -> Translated<String> {
        let value = self.value(expr)?;
        if value.kind != self.kind(ty) {
            return Err(format!("a value of another type: {expr:?}"));
        }
        Ok(match self.types.bounds(ty) {
            Some((least, most)) => format!("in_range({}, {least}, {most})", value.text),
            None => value.text,
        })
    }

    /// A call, and the type of its result.
    pub fn call(&mut self, name: &Name, arguments: &[Expr]) -> Translated<(String, Option<TypeId>)> {
        let signatures = self.signatures;
        let known = signatures.iter().find(|s| s.name == *name).ok_or_else(|| format!("the routine `{name}`"))?;
        if known.parameters.len() != arguments.len() {
            return Err(format!("a call of `{name}` with {} arguments", arguments.len()));
        }
        let mut given = Vec::new();
        for (argument, &(ty, by_reference)) in arguments.iter().zip(&known.parameters) {
            given.push(if by_reference {
                let (text, actual) = self.place(argument)?;
                if actual != ty || !self.types.is_whole(ty) {
                    return Err(format!("a variable of another type for `{name}`, or a number"));
                }
                format!("&{text}")
            } else {
                self.fitted(argument, ty)?
            });
        }
        Ok((format!("f_{name}({})", given.join(", ")), known.result))
    }
}
