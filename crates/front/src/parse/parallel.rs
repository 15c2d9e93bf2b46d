//! Declarations of C*'s parallel variables, at file scope and in functions, and of functions that have something parallel. A parallel variable becomes a
//! pointer to this node's part of it.

use super::declarations::Place;
use super::declarators::{Declarator, Parameters};
use super::specifiers::{STORAGE, Specifiers};
use super::{Failed, Parse, Parser};
use crate::draft::{FileVariable, Linkage};
use crate::scope::Symbol;
use crate::tree::LocalVariable;
use crate::types::{ParallelShape, ParallelValue, Shape, Signature, Type};
use std::rc::Rc;

impl Parser<'_> {
    /// Whether `: shape` stands there, after a type.
    pub(super) fn is_parallel_at(&self, at: usize) -> bool {
        let is_current = self.word_at(at + 1) == "current" && self.scopes.find("current").is_none();
        self.is_c_star() && self.word_at(at) == ":" && (is_current || self.shape_named(at + 1).is_some())
    }

    /// `: shape` after a type, if it stands here.
    pub(super) fn parallel(&mut self) -> Option<Rc<ParallelShape>> {
        if !self.is_parallel_at(self.at) {
            return None;
        }
        let shape = self.shape_named(self.at + 1).unwrap_or_else(|| Rc::new(ParallelShape::current()));
        self.draft.edits.remove(self.at);
        self.draft.edits.remove(self.at + 1);
        self.at += 2;
        Some(shape)
    }

    /// What stands after a type behind `:` is a shape, or it is said.
    pub(super) fn known_shape(&mut self) -> Parse<()> {
        if !(self.is_c_star() && self.is(":")) {
            return Ok(());
        }
        let word = self.word_at(self.at + 1).to_string();
        self.error(self.at + 1, self.at + 1, format!("`{word}` is not a shape"))
            .help("declare it before: shape [100]name;");
        Err(Failed)
    }

    /// A shape that stands after a declarator.
    pub(super) fn late_shape(&mut self, declarator: &Declarator) -> Failed {
        let (first, at) = (declarator.first, self.at);
        if self.word_at(first) == "*" {
            self.error(first, at + 1, "pointers to parallel variables, and parallel pointers, are not there")
                .help("a parallel variable is a number or a structure at each position: double:S a");
        } else {
            let shape = self.word_at(at + 1).to_string();
            self.error(at, at + 1, "the shape stands after the type, and not after the name")
                .help(format!("write: int:{shape} x"));
        }
        Failed
    }

    /// Says that parallel things are not there in this place.
    pub(super) fn no_parallel(&mut self, specifiers: &Specifiers, what: &str) {
        if specifiers.ty.parallel.is_some() {
            self.error(specifiers.first, specifiers.end - 1, format!("{what} cannot be parallel"))
                .help("declare a parallel variable, or a parallel parameter");
        }
    }

    /// Specifiers as they are written, without storage and shape: the type of the values of what is parallel.
    fn values_of(&self, specifiers: &Specifiers) -> String {
        let end = specifiers.end - if specifiers.ty.parallel.is_some() { 2 } else { 0 };
        let words = (specifiers.first..end).map(|token| self.word_at(token));
        words.filter(|word| !STORAGE.contains(word)).collect::<Vec<_>>().join(" ")
    }

    /// What keeps this from being a parallel variable.
    fn no_variable(declarator: &Declarator, specifiers: &Specifiers) -> Option<&'static str> {
        let what = match &declarator.ty.innermost().0.shape {
            _ if specifiers.is_typedef => "names of parallel types are",
            Shape::Number | Shape::Record(_) => return None,
            Shape::Pointer(_) => "pointers to parallel variables and functions are",
            Shape::Void | Shape::Unknown | Shape::Array(_) | Shape::Function(_) | Shape::SpreadArray(_) => {
                "parallel variables of this type are"
            }
        };
        Some(what)
    }

    /// A declaration of which something may be parallel.
    pub(super) fn parallel_declaration(&mut self, declarator: &mut Declarator, specifiers: &Specifiers, place: Place) {
        if let (Some(parameters), Some(name)) = (declarator.parameters.clone(), declarator.name) {
            self.parallel_function(name, &parameters, &declarator.ty, specifiers);
            return;
        }
        let (Some(shape), Some(name)) = (specifiers.ty.parallel.clone(), declarator.name) else { return };
        if let Some(what) = Self::no_variable(declarator, specifiers) {
            self.error(name, name, format!("{what} not there"))
                .help("a parallel variable is a number or a structure at each position: double:S a");
            return;
        }
        let word = self.word_at(name).to_string();
        let dimensions = declarator.ty.innermost().1;
        if shape.is_current() && self.current.is_none() {
            self.error(specifiers.end - 1, specifiers.end - 1, "no shape is current here").help("name the shape");
            return;
        }
        self.draft.edits.just_before(name, "*");
        if place == Place::Block {
            if (specifiers.first..specifiers.end).any(|token| STORAGE.contains(&self.word_at(token))) {
                self.error(
                    specifiers.first,
                    specifiers.first,
                    "a parallel variable in a function has no storage class",
                )
                .help("declare it at file scope, so that it lasts");
            }
            declarator.touches_base = true;
            self.own_statements += 1;
            self.locals.push(LocalVariable { name, shape, dimensions, last: self.at - 1, initial: None });
            return;
        }
        if let Some(Symbol::Value(before)) = self.scopes.find(&word)
            && before.innermost().0.parallel.as_ref() != Some(&shape)
        {
            let message = match &before.innermost().0.parallel {
                Some(other) => format!(
                    "`{word}` has the shape {} where it was declared before, and {} here",
                    other.name, shape.name
                ),
                None => format!("`{word}` was declared before, and is not parallel there"),
            };
            self.error(name, name, message).help("declare it with one shape, or give this one another name");
        }
        let linkage = match (specifiers.is_extern, self.is_static(specifiers)) {
            (true, _) => Linkage::Elsewhere,
            (_, true) => Linkage::Own,
            _ => Linkage::Defined,
        };
        self.draft.parallel.push(FileVariable { name: word, linkage, shape, dimensions, initial: None });
    }

    /// `=` after a parallel variable stands here: what it begins with.
    pub(super) fn parallel_initialiser(&mut self, declarator: &Declarator, specifiers: &Specifiers) -> Parse<()> {
        let equals = self.at;
        if self.is_next("{") || declarator.ty.innermost().1 > 0 {
            self.error(equals, equals, "a parallel variable begins with a value, not with a list")
                .help("assign to its members or elements in a function");
        }
        self.at += 1;
        self.initialiser()?;
        if let Some(local) = self.locals.last_mut() {
            local.initial = Some((equals, self.wholes.len().saturating_sub(1)));
        } else if specifiers.is_extern {
            self.error(equals, equals, "what is defined elsewhere does not begin here")
                .help("write this where it is defined");
        } else if let Some(variable) = self.draft.parallel.last_mut() {
            variable.initial = Some(self.draft.edits.text(self.draft.lexed, equals + 1, self.at - 1));
            self.draft.edits.replace(equals, self.at - 1, "");
        }
        Ok(())
    }

    /// A parallel parameter; gives the C type of its values.
    pub(super) fn parallel_parameter(&mut self, declarator: &Declarator, specifiers: &Specifiers) -> Option<String> {
        specifiers.ty.parallel.as_ref()?;
        let at = declarator.name.unwrap_or(specifiers.end - 1);
        if specifiers.defines || !matches!(declarator.ty.shape, Shape::Number | Shape::Record(_)) {
            self.error(at, at, "a parallel parameter of this type is not there")
                .help("it is a number or a structure, which is declared before, at each position");
        }
        match declarator.name {
            Some(name) => self.draft.edits.just_before(name, "*"),
            None => self.draft.edits.instead(at, "*"),
        }
        Some(self.values_of(specifiers))
    }

    /// A declarator of a function: if something in it is parallel, it gets its caller's shape, and memory for its result.
    fn parallel_function(&mut self, name: usize, parameters: &Parameters, ty: &Type, specifiers: &Specifiers) {
        let values = parameters.list.iter().zip(&parameters.parallel);
        let of_values: Vec<Option<ParallelValue>> =
            values.map(|((_, ty), c)| Some(ParallelValue { c: c.clone()?, shape: ty.parallel.clone()? })).collect();
        let gives = match &ty.shape {
            Shape::Function(result) => result,
            _ => return,
        };
        let result = gives.parallel.clone().map(|shape| ParallelValue { c: self.values_of(specifiers), shape });
        let mut all = of_values.iter().flatten().chain(&result);
        let Some(shape) = all.next().map(|value| value.shape.clone()) else {
            if specifiers.ty.parallel.is_some() {
                self.error(name, name, "a function gives no pointer to parallel values").help("give the values");
            }
            return;
        };
        if let Some(other) = all.find(|value| value.shape != shape) {
            let message = format!(
                "the values of a function have one shape, and these have {} and {}",
                shape.name, other.shape.name
            );
            self.error(name, name, message).help("read what has another shape by left indices in the function");
        }
        if specifiers.defines || result.is_some() && !matches!(gives.shape, Shape::Number | Shape::Record(_)) {
            self.error(name, name, "a parallel result of this type is not there")
                .help("it is a number or a structure, which is declared before, at each position");
        }
        let mut hidden = Vec::new();
        if shape.is_current() {
            hidden.push("const struct cstar_shape *cstar_shape_current".to_string());
        }
        if let Some(result) = &result {
            self.draft.edits.just_before(name, "*");
            hidden.push(format!("__typeof_unqual__({}) *cstar_result __attribute__((unused))", result.c));
        }
        if let (false, Some(open)) = (hidden.is_empty(), parameters.open) {
            let has_more = !parameters.list.is_empty() || self.word_at(open + 1) == "...";
            if !has_more && self.word_at(open + 1) == "void" {
                self.draft.edits.remove(open + 1);
            }
            let end = if has_more { ", " } else { "" };
            self.draft.edits.after(open, &format!("{}{end}", hidden.join(", ")));
        }
        let signature = Signature { parameters: of_values, result, shape };
        self.draft.functions.insert(self.word_at(name).to_string(), Rc::new(signature));
    }
}
