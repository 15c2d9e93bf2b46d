//! The parameters of a call as C functions have them.

use super::names::{c_type, declaration, identifier, to_word, unreserved};
use trivium_protocol::*;

/// A parameter of the C function.
pub(super) struct CParam {
    pub(super) name: String,
    pub(super) ty: &'static str,
    /// Of a list and an array, which is a pointer to its numbers: how many of these are passed at most.
    pub(super) numbers: Option<usize>,
    /// The parameter that is a list's length. In C it stands after the pointer; it is passed before the elements.
    pub(super) length: Option<String>,
}

impl CParam {
    pub(super) fn scalar(name: String, ty: &'static str) -> CParam {
        CParam { name, ty, numbers: None, length: None }
    }

    /// As it stands in the declaration of the function.
    pub(super) fn declared(&self) -> String {
        let pointer = declaration(self.ty, &self.name);
        self.length.as_ref().map_or(pointer.clone(), |length| format!("{pointer}, int64_t {length}"))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.length.iter().chain([&self.name])
    }

    /// The numbers that are passed, as expressions.
    pub(super) fn passed(&self, fields: usize) -> Vec<String> {
        let Some(numbers) = self.numbers else { return vec![to_word(self.ty, &self.name)] };
        let name = &self.name;
        let number = |at: usize| match &self.length {
            Some(length) => format!("{length} > {} ? {name}[{at}] : 0", at / fields),
            None => format!("{name}[{at}]"),
        };
        self.length.iter().cloned().chain((0..numbers).map(number)).collect()
    }

    /// The numbers that are passed, as a declaration has them; elements have no names, which could be those of other parameters.
    pub(super) fn raw(&self) -> Vec<String> {
        match self.numbers {
            None => vec![format!("int64_t {}", self.name)],
            Some(numbers) => {
                let elements = (0..numbers).map(|_| "int64_t".to_string());
                self.length.iter().map(|length| format!("int64_t {length}")).chain(elements).collect()
            }
        }
    }
}

/// The object comes first, under the name of its kind, unless the call is about the node itself. With each, of how many numbers an element
/// is.
pub(super) fn params(protocol: &Protocol, op: &Op) -> Vec<(CParam, usize)> {
    let mut params: Vec<(CParam, usize)> = Vec::new();
    if op.object != NODE {
        let ty = if op.object == BLOCK { "void *" } else { "int32_t" };
        params.push((CParam::scalar(unreserved(&protocol.objects[op.object.index()]), ty), 1));
    }
    for arg in &op.args {
        let unused = |params: &[(CParam, usize)], mut name: String| {
            while params.iter().any(|(p, _)| p.names().any(|taken| *taken == name)) {
                name.push('_');
            }
            name
        };
        let mut name = unreserved(&arg.name);
        // Functions of headers and of `trivium.h` have such names.
        if name.starts_with("trivium_") || name.starts_with(&format!("{}_", identifier(&protocol.name))) {
            name.insert_str(0, "of_");
        }
        let name = unused(&params, name);
        let (Type::List { of, .. } | Type::Array { of, .. }) = &arg.ty else {
            params.push((CParam::scalar(name, c_type(&arg.ty)), 1));
            continue;
        };
        let mut numbers = protocol.passed_for(&arg.ty);
        let mut length = None;
        if let Type::List { .. } = arg.ty {
            numbers -= 1;
            length = Some(unused(&params, format!("{name}_length")));
        }
        let list = CParam { name, ty: "const int64_t *", numbers: Some(numbers), length };
        params.push((list, protocol.numbers_of(of)));
    }
    params
}
