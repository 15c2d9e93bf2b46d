//! Names in their scopes: typedefs, objects and functions, enumeration constants; tags; the members of structures.

use crate::types::{ParallelShape, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// What a name means.
#[derive(Debug, Clone)]
pub(crate) enum Symbol {
    /// A type.
    Typedef(Type),
    /// An object, a function, or a constant.
    Value(Type),
    /// A shape of C*.
    Shape(Rc<ParallelShape>),
}

/// The members of a structure. One without a name is an anonymous structure.
pub(crate) type Members = Vec<(Option<String>, Type)>;

/// The scopes around a place, and all structures.
pub(crate) struct Scopes {
    names: Vec<HashMap<String, Symbol>>,
    tags: Vec<HashMap<String, usize>>,
    /// The members of each structure, if it is complete.
    records: Vec<Option<Members>>,
}

impl Scopes {
    pub(crate) fn new() -> Scopes {
        Scopes { names: vec![HashMap::new()], tags: vec![HashMap::new()], records: Vec::new() }
    }

    pub(crate) fn enter(&mut self) {
        self.names.push(HashMap::new());
        self.tags.push(HashMap::new());
    }

    /// How deep it is: 1 at file scope.
    pub(crate) fn depth(&self) -> usize {
        self.names.len()
    }

    /// Leaves scopes until it is so deep, after a mistake.
    pub(crate) fn leave_to(&mut self, depth: usize) {
        self.names.truncate(depth);
        self.tags.truncate(depth);
    }

    pub(crate) fn declare(&mut self, name: &str, symbol: Symbol) {
        self.names.last_mut().expect("a scope").insert(name.to_string(), symbol);
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Symbol> {
        self.names.iter().rev().find_map(|scope| scope.get(name))
    }

    pub(crate) fn is_typedef(&self, name: &str) -> bool {
        matches!(self.find(name), Some(Symbol::Typedef(_)))
    }

    /// The structure of a tag; `defines`: of this scope.
    pub(crate) fn tag(&mut self, name: Option<&str>, defines: bool) -> usize {
        let known = name.and_then(|name| {
            let here = self.tags.last().and_then(|scope| scope.get(name)).copied();
            if defines { here } else { self.tags.iter().rev().find_map(|scope| scope.get(name)).copied() }
        });
        known.unwrap_or_else(|| {
            let number = self.records.len();
            self.records.push(None);
            if let Some(name) = name {
                self.tags.last_mut().expect("a scope").insert(name.to_string(), number);
            }
            number
        })
    }

    pub(crate) fn complete(&mut self, record: usize, members: Members) {
        self.records[record] = Some(members);
    }

    /// The type of a member, anonymous structures inside included.
    pub(crate) fn member(&self, record: usize, name: &str) -> Option<Type> {
        let members = self.records[record].as_ref()?;
        members.iter().find_map(|(known, ty)| match (known, &ty.shape) {
            (Some(known), _) if known == name => Some(ty.clone()),
            (None, crate::types::Shape::Record(inner)) => self.member(*inner, name),
            _ => None,
        })
    }
}
