//! Types of the model as types of C. Nothing is padded, so that equal values are equal bytes.

use super::text::Translated;
use crate::model::{Declared, Name, TypeExpr};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeId(usize);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Truth,
    Range { least: i64, most: i64 },
    Array { least: i64, most: i64, of: TypeId },
    Record(Vec<(Name, TypeId)>),
}

/// All types of a model, each once; parts before what is made of them.
#[derive(Default)]
pub(super) struct Types {
    all: Vec<Type>,
    named: Vec<(Name, TypeId)>,
}

impl Types {
    pub fn get(&self, id: TypeId) -> &Type {
        &self.all[id.0]
    }

    fn intern(&mut self, ty: Type) -> TypeId {
        let known = self.all.iter().position(|t| *t == ty);
        TypeId(known.unwrap_or_else(|| {
            self.all.push(ty);
            self.all.len() - 1
        }))
    }

    pub fn define(&mut self, declared: &Declared) -> Translated<()> {
        let id = self.resolve(&declared.ty)?;
        self.named.push((declared.name.clone(), id));
        Ok(())
    }

    pub fn resolve(&mut self, ty: &TypeExpr) -> Translated<TypeId> {
        let found = match ty {
            TypeExpr::Boolean => Type::Truth,
            TypeExpr::Range(least, most) => Type::Range { least: *least, most: *most },
            TypeExpr::Array(index, of) => {
                let index = self.resolve(index)?;
                let (least, most) = self.bounds(index).ok_or("an array over something that is no range")?;
                Type::Array { least, most, of: self.resolve(of)? }
            }
            TypeExpr::Record(fields) => {
                let fields = fields.iter().map(|field| Ok((field.name.clone(), self.resolve(&field.ty)?)));
                Type::Record(fields.collect::<Translated<_>>()?)
            }
            TypeExpr::Name(name) => {
                let known = self.named.iter().find(|(known, _)| known == name);
                return known.map(|(_, id)| *id).ok_or_else(|| format!("the type `{name}`"));
            }
        };
        Ok(self.intern(found))
    }

    /// The least and the greatest value, if these are numbers.
    pub fn bounds(&self, id: TypeId) -> Option<(i64, i64)> {
        match *self.get(id) {
            Type::Range { least, most } => Some((least, most)),
            _ => None,
        }
    }

    pub fn is_whole(&self, id: TypeId) -> bool {
        matches!(self.get(id), Type::Array { .. } | Type::Record(_))
    }

    /// Bytes of a value.
    pub fn size(&self, id: TypeId) -> u64 {
        match self.get(id) {
            Type::Truth => 1,
            Type::Range { least, most } => u64::from(bits(*least, *most) / 8),
            Type::Array { least, most, of } => elements(*least, *most).saturating_mul(self.size(*of)),
            Type::Record(fields) => fields.iter().fold(0, |sum, (_, field)| sum.saturating_add(self.size(*field))),
        }
    }

    /// The name of a type in C.
    pub fn name(&self, id: TypeId) -> String {
        match self.get(id) {
            Type::Truth => "int8_t".into(),
            Type::Range { least, most } => format!("int{}_t", bits(*least, *most)),
            Type::Array { .. } | Type::Record(_) => format!("T{}", id.0),
        }
    }

    /// The type of a local variable or a parameter: numbers are wide, and held against their range when they are assigned.
    pub fn local(&self, id: TypeId) -> String {
        if self.is_whole(id) { self.name(id) } else { "int64_t".into() }
    }

    /// Arrays and records.
    pub fn definitions(&self) -> Vec<String> {
        let ids = (0..self.all.len()).map(TypeId);
        let body = |id: TypeId| match self.get(id) {
            Type::Array { least, most, of } => Some(format!("{} a[{}];", self.name(*of), elements(*least, *most))),
            Type::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, ty)| format!("{} {name}_;", self.name(*ty))).collect();
                Some(fields.join(" "))
            }
            _ => None,
        };
        ids.filter_map(|id| {
            Some(format!("typedef struct {{ {} }} __attribute__((packed)) {};", body(id)?, self.name(id)))
        })
        .collect()
    }

    /// For each array and record, what gives all of it the least values.
    pub fn clearings(&self) -> Vec<String> {
        let ids = (0..self.all.len()).map(TypeId);
        ids.filter_map(|id| {
            let body = match self.get(id) {
                Type::Array { least, most, of } => format!(
                    "for (int64_t i = 0; i < {}; i++) {{ {} }}",
                    elements(*least, *most),
                    self.clear(*of, "x->a[i]")
                ),
                Type::Record(fields) => {
                    let each: Vec<String> =
                        fields.iter().map(|(name, ty)| self.clear(*ty, &format!("x->{name}_"))).collect();
                    each.join(" ")
                }
                _ => return None,
            };
            Some(format!("static void clear_{name}({name} *x) {{ {body} }}", name = self.name(id)))
        })
        .collect()
    }

    /// A statement that gives a place the least value.
    pub fn clear(&self, id: TypeId, place: &str) -> String {
        match self.get(id) {
            Type::Truth => format!("{place} = 0;"),
            Type::Range { least, .. } => format!("{place} = {least};"),
            _ => format!("clear_{}(&{place});", self.name(id)),
        }
    }
}

/// Bits of the smallest integer of C that has all these values.
fn bits(least: i64, most: i64) -> u32 {
    let fits = |bits: u32| least >= -(1 << (bits - 1)) && most < 1 << (bits - 1);
    [8, 16, 32].into_iter().find(|&bits| fits(bits)).unwrap_or(64)
}

fn elements(least: i64, most: i64) -> u64 {
    u64::try_from(most.saturating_sub(least).saturating_add(1)).unwrap_or(0)
}
