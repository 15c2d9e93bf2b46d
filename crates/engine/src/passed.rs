//! From what a program, or a scenario, passes to a call ([`Protocol::passed_for`]) to the arguments of its event, and from these to their values.
//!
//! [`Protocol::passed_for`]: trivium_protocol::Protocol::passed_for

use crate::cell::Cell;
use crate::engine::Engine;
use crate::fault::FaultKind;
use crate::layout::Shape;
use crate::number::{fit, index};
use crate::optional::Optional;
use crate::set::Set;
use trivium_protocol::{EventKind, Named, OpId, Type};

impl Engine {
    /// The words of a call's arguments.
    ///
    /// # Errors
    /// What is wrong with one, in words for whoever made the call.
    pub fn words_passed(&self, op: OpId, passed: &[i64]) -> Result<Vec<i64>, String> {
        let declared = &self.protocol.ops[op.index()].args;
        let (mut words, mut left) = (Vec::new(), passed);
        for (named, shape) in declared.iter().zip(self.args.of(EventKind::Op(op))) {
            let takes = self.protocol.passed_for(&named.ty);
            let too_few = || format!("{} numbers are passed, of which `{}` needs {takes}", left.len(), named.name);
            let (own, rest) = left.split_at_checked(takes).ok_or_else(too_few)?;
            left = rest;
            match (shape, own) {
                (Shape::List(list), [len, elements @ ..]) => {
                    let all = u32::try_from(*len).ok().filter(|&len| len <= list.capacity).ok_or_else(|| {
                        format!(
                            "`{}` is a list of at most {} elements, not of {len}: pass fewer, in several calls if need be",
                            named.name, list.capacity
                        )
                    })?;
                    let elements = &elements[..index(all.into()) * list.fields.len()];
                    self.check_elements(named, &list.fields, elements)?;
                    let value = list.to_words(elements).0;
                    let used = list.words_of(&[value[0].cast_signed()]);
                    words.extend(value[..used].iter().map(|word| word.cast_signed()));
                }
                (Shape::Array(array), elements) => {
                    self.check_elements(named, &array.fields, elements)?;
                    let value = array.to_words(elements.iter().copied()).0;
                    words.extend(value[..array.words()].iter().map(|word| word.cast_signed()));
                }
                (shape, own) => {
                    let optional = own.iter().try_for_each(|value| self.check_passed(&named.ty, *value));
                    let checked = optional.and_then(|()| match (shape, own) {
                        (Shape::Scalar(cell), [value]) => cell.check(*value),
                        (Shape::Set(cell), own) => cell.check(own),
                        _ => Ok(()),
                    });
                    checked.map_err(|what| format!("`{}`: {what}", named.name))?;
                    words.extend(own);
                }
            }
        }
        Ok(words)
    }

    /// The values of an event's arguments: of a scalar or a set its words, of an array or a list all its numbers.
    pub fn argument_values(&self, event: EventKind, mut words: &[i64]) -> Vec<Vec<i64>> {
        let mut values = Vec::new();
        for shape in self.args.of(event) {
            let Some((own, rest)) = shape.split(words) else { break };
            words = rest;
            values.push(match shape {
                Shape::List(list) => list.values_of_words(&Set::of_words(own)).collect(),
                Shape::Array(array) => array.values_of_words(&Set::of_words(own)).collect(),
                _ => own.to_vec(),
            });
        }
        values
    }

    /// What has to be passed for these arguments of a call, for each parameter.
    pub fn passed_as(&self, op: OpId, words: &[i64]) -> Vec<Vec<i64>> {
        let declared = &self.protocol.ops[op.index()].args;
        let values = self.argument_values(EventKind::Op(op), words);
        let each = declared.iter().zip(values);
        each.map(|(named, mut values)| {
            if let Type::List { of, .. } = &named.ty {
                let elements = values.len() / self.protocol.numbers_of(of).max(1);
                values.insert(0, fit(elements, "the length of a list: it is at most 65,535"));
                values.resize(self.protocol.passed_for(&named.ty), 0);
            }
            values
        })
        .collect()
    }

    /// For each argument of an event its first word, which is its value if it is a scalar.
    pub fn first_words(&self, event: EventKind, mut words: &[i64]) -> Vec<i64> {
        let mut firsts = Vec::new();
        for shape in self.args.of(event) {
            let Some((own, rest)) = shape.split(words) else { break };
            words = rest;
            firsts.push(own.first().copied().unwrap_or(0));
        }
        firsts
    }

    /// Whether a program may pass a number where a value of this type is wanted that may be `none`.
    fn check_passed(&self, ty: &Type, value: i64) -> Result<(), FaultKind> {
        match ty {
            Type::OrNone(_) => Optional::new(self.nodes, ty, ty).of(value).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// A place for a node may hold `none` until it is set; what is passed as a node is one.
    fn check_elements(&self, named: &Named, fields: &[Cell], elements: &[i64]) -> Result<(), String> {
        let (Type::List { of, .. } | Type::Array { of, .. }) = &named.ty else { return Ok(()) };
        let types: Vec<&Type> = match &**of {
            Type::Record(record) => {
                self.protocol.records[record.index()].fields.iter().map(|field| &field.ty).collect()
            }
            scalar => vec![scalar],
        };
        let each = fields.iter().zip(types).cycle();
        for (number, (&value, (field, ty))) in elements.iter().zip(each).enumerate() {
            let is_none = value == -1 && *ty == Type::Node { optional: false };
            let checked = match is_none {
                true => Err(FaultKind::NoneUsed),
                false => self.check_passed(ty, value).and_then(|()| field.check(value)),
            };
            let place = number / fields.len();
            checked.map_err(|what| format!("element {place} of `{}`: {what}", named.name))?;
        }
        Ok(())
    }
}
