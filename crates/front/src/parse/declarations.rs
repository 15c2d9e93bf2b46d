//! Declarations: of objects, functions and types; initialisers; function definitions.

use super::declarators::{Declarator, Parameters};
use super::specifiers::Specifiers;
use super::{Parse, Parser};
use crate::Dialect;
use crate::dialect::split_c;
use crate::draft::{Main, Storage};
use crate::edits::about;
use crate::lex::Kind;
use crate::scope::Symbol;
use crate::tree::Body;
use crate::types::{Shape, Type};

/// Where a declaration stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    File,
    Block,
}

impl Parser<'_> {
    pub(super) fn external_declaration(&mut self) -> Parse<()> {
        if self.eat(";") || self.static_assertion()? || self.distribution() || self.shapes(true)? {
            return Ok(());
        }
        if self.is_one_of(&["__asm__", "asm", "__asm"]) {
            self.assembly();
            self.expect(";")?;
            return Ok(());
        }
        if self.is("__extension__") {
            self.at += 1;
            return self.external_declaration();
        }
        self.early_qualifier();
        if self.is_c_star() && self.is("[") && self.is_next("[") {
            let what = "`[[` begins a left index in C*, and attributes are not written so";
            self.error(self.at, self.at, what).help("write __attribute__((..))");
            return Err(super::Failed);
        }
        if self.kind() != Kind::Name && !self.is("[") {
            return Err(self.expected("a declaration"));
        }
        // Old C: a function without a type gives an `int`.
        if !self.is_type_at(self.at) && !self.is("[") && !self.is_next("(") {
            let word = self.word().to_string();
            self.error(self.at, self.at, format!("`{word}` is not a type"))
                .help("is the header missing that declares it?");
            return Err(super::Failed);
        }
        self.declaration(Place::File)
    }

    /// A declaration with its `;`, or a function with its body.
    pub(super) fn declaration(&mut self, place: Place) -> Parse<()> {
        let specifiers = if self.is_type_at(self.at) || self.is("[") {
            self.specifiers()?
        } else {
            let at = self.at;
            Specifiers {
                ty: Type::number(),
                is_typedef: false,
                is_extern: false,
                defines: false,
                register: None,
                first: at,
                end: at,
            }
        };
        if self.eat(";") {
            return Ok(());
        }
        self.known_shape()?;
        let mut declared: Vec<(Declarator, usize)> = Vec::new();
        loop {
            self.attributes()?;
            let mut declarator = self.declarator(&specifiers)?;
            self.behind_declarator()?;
            if self.is_parallel_at(self.at) {
                return Err(self.late_shape(&declarator));
            }
            if self.is_c_star() {
                self.parallel_declaration(&mut declarator, &specifiers, place);
            }
            if place == Place::File && declared.is_empty() && self.begins_body(&declarator) {
                self.declare(&declarator, &specifiers, place);
                return self.definition(declarator, &specifiers);
            }
            self.declare(&declarator, &specifiers, place);
            if self.is("=") {
                if matches!(declarator.ty.shape, Shape::SpreadArray(_)) {
                    self.error(self.at, self.at, "a spread array cannot be initialised here")
                        .help("fill it in splitc_main: each processor its own part");
                }
                if specifiers.ty.parallel.is_some() {
                    self.parallel_initialiser(&declarator, &specifiers)?;
                } else {
                    self.at += 1;
                    let ty = self.initialiser()?;
                    self.infer(&declarator, &specifiers, ty);
                }
            }
            declared.push((declarator, self.at));
            if !self.eat(",") {
                break;
            }
        }
        if !self.is(";") {
            return Err(self.expected("`;`"));
        }
        self.has_split = self.split_declarators(&specifiers, &declared);
        self.at += 1;
        Ok(())
    }

    /// `__auto_type x = e`: x is of e's type.
    fn infer(&mut self, declarator: &Declarator, specifiers: &Specifiers, ty: Option<Type>) {
        if let (Some(name), Some(ty), true) =
            (declarator.name, ty, specifiers.ty.is_unknown() && declarator.ty.is_unknown())
        {
            let name = self.word_at(name).to_string();
            self.scopes.declare(&name, Symbol::Value(ty.value()));
        }
    }

    /// An assembler's name, and attributes.
    fn behind_declarator(&mut self) -> Parse<()> {
        if self.is_one_of(&["__asm__", "asm", "__asm"]) {
            self.assembly();
        }
        self.attributes()?;
        Ok(())
    }

    /// `asm volatile goto ( .. )`.
    pub(super) fn assembly(&mut self) {
        self.at += 1;
        while self.kind() == Kind::Name {
            self.at += 1;
        }
        self.skip_group();
    }

    fn begins_body(&self, declarator: &Declarator) -> bool {
        declarator
            .parameters
            .as_ref()
            .is_some_and(|parameters| self.is("{") || parameters.is_old && self.is_type_at(self.at))
    }

    /// Makes a name known.
    fn declare(&mut self, declarator: &Declarator, specifiers: &Specifiers, place: Place) {
        let Some(token) = declarator.name else {
            self.error(declarator.first, declarator.first, "a name is missing in this declaration");
            return;
        };
        let name = self.word_at(token).to_string();
        if place == Place::File && self.is_c_star() && matches!(self.scopes.find(&name), Some(Symbol::Shape(_))) {
            self.error(token, token, format!("`{name}` is a shape")).help("give this another name");
            return;
        }
        if specifiers.is_typedef {
            if matches!(declarator.ty.shape, Shape::SpreadArray(_)) {
                self.error(token, token, "a type cannot be a spread array")
                    .help("name the type of its elements instead");
            }
            self.scopes.declare(&name, Symbol::Typedef(declarator.ty.clone()));
            return;
        }
        if let Shape::SpreadArray(array) = &declarator.ty.shape {
            if place == Place::File {
                self.draft.edits.before(declarator.first, split_c::APART);
            }
            if place != Place::File {
                self.error(token, token, "a spread array cannot be declared in a function")
                    .help("declare it at file scope, or use a spread pointer and all_spread_malloc");
            } else if !specifiers.is_extern {
                let dimensions = &array.dimensions;
                if dimensions.iter().any(String::is_empty) {
                    self.error(token, token, "a spread array needs the sizes of all its dimensions");
                }
                // A number that is no whole one has no bits to join; a product that is too large is told by the library.
                let count = dimensions.iter().zip(&array.tokens).fold("1".to_string(), |product, (size, token)| {
                    format!("splitc_times({product}, {})", about(*token, &format!("(({size}) | 0)")))
                });
                self.draft.storage.push(Storage { name: name.clone(), token, count });
            }
        }
        self.without_register(specifiers, &declarator.ty);
        if matches!(declarator.ty.shape, Shape::Function(_)) {
            self.note_function(&name, specifiers);
        }
        self.scopes.declare(&name, Symbol::Value(declarator.ty.clone()));
    }

    /// Who may call a function, and what it may do.
    fn note_function(&mut self, name: &str, specifiers: &Specifiers) {
        if self.draft.token_at(specifiers.first).system {
            self.draft.of_headers.insert(name.to_string());
        }
        if self.is_static(specifiers) {
            self.draft.statics.insert(name.to_string());
        }
    }

    pub(super) fn is_static(&self, specifiers: &Specifiers) -> bool {
        (specifiers.first..specifiers.end).any(|token| self.word_at(token) == "static")
    }

    /// A function's body, and before it the types of its parameters in the old way.
    fn definition(&mut self, declarator: Declarator, specifiers: &Specifiers) -> Parse<()> {
        let mut parameters = declarator.parameters.unwrap_or_default();
        self.scopes.enter();
        if parameters.is_old {
            while !self.is("{") {
                self.old_parameters(&mut parameters)?;
            }
        }
        for (name, ty) in &parameters.list {
            if let Some(name) = name {
                self.scopes.declare(name, Symbol::Value(ty.clone()));
            }
        }
        self.note_main(declarator.name, &declarator.ty, &parameters);
        if !parameters.captures.is_empty() {
            let captures = parameters.captures.join(" ");
            self.draft.edits.after(self.at, &format!(" {captures}"));
        }
        self.draft.in_function = true;
        let name = declarator.name.map(|name| self.word_at(name).to_string()).unwrap_or_default();
        let signature = self.draft.functions.get(&name).cloned();
        self.current = signature.as_ref().map(|signature| signature.shape.clone());
        let parallel = parameters.list.iter().filter(|(_, ty)| ty.parallel.is_some());
        let parallel = parallel.filter_map(|(name, _)| name.clone()).collect();
        let is_static = self.draft.statics.contains(&name);
        // Where it may have attributes, but for what is inlined always, and a type that is defined.
        let is_inline = (specifiers.first..declarator.first).any(|token| self.word_at(token).contains("inline"));
        let declarator = Some(declarator.first).filter(|_| !is_inline && !specifiers.defines);
        self.function = Body { name, declarator, is_static, signature, parallel, ..Body::default() };
        let block = self.compound(false)?;
        self.current = None;
        self.end_body(Some(block));
        self.scopes.leave_to(1);
        Ok(())
    }

    fn old_parameters(&mut self, parameters: &mut Parameters) -> Parse<()> {
        let specifiers = self.specifiers()?;
        let mut declared = Vec::new();
        loop {
            let declarator = self.declarator(&specifiers)?;
            if let Some(token) = declarator.name {
                let name = self.word_at(token).to_string();
                let ty = declarator.ty.clone().value();
                if let Some(slot) = parameters.list.iter_mut().find(|(known, _)| known.as_ref() == Some(&name)) {
                    slot.1 = ty;
                }
            }
            declared.push((declarator, self.at));
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")?;
        self.split_declarators(&specifiers, &declared);
        Ok(())
    }

    fn note_main(&mut self, name: Option<usize>, ty: &Type, parameters: &Parameters) {
        let Some(name) = name else { return };
        if self.dialect != Dialect::SplitC || !["main", "splitc_main"].contains(&self.word_at(name)) {
            return;
        }
        if std::mem::replace(&mut self.draft.has_main, true) {
            self.error(name, name, "the program begins with `main` or with `splitc_main`, and both are here")
                .help("leave one out: `main` is made of `splitc_main`");
        }
        if self.word_at(name) == "main" {
            return;
        }
        let gives = matches!(&ty.shape, Shape::Function(result) if result.shape != Shape::Void);
        if !matches!(parameters.list.len(), 0 | 2) {
            self.error(name, name, "splitc_main takes no arguments, or two")
                .help("write: int splitc_main(int argc, char **argv)");
        }
        self.draft.main = Some(Main { takes_arguments: !parameters.list.is_empty(), gives });
    }

    /// An expression, or a list in braces; the type of an expression.
    pub(super) fn initialiser(&mut self) -> Parse<Option<Type>> {
        if !self.is("{") {
            let value = self.assignment()?;
            let ty = value.ty.clone();
            self.whole(value, true);
            return Ok(Some(ty));
        }
        self.deeper(|parser| {
            parser.at += 1;
            while !parser.is("}") {
                parser.designators()?;
                parser.initialiser()?;
                if !parser.eat(",") {
                    break;
                }
            }
            parser.expect("}")
        })?;
        Ok(None)
    }

    /// Whether brackets that stand here are those of a designator: in C* they may be a left index, before which no `=` comes.
    fn is_designator(&self) -> bool {
        let (mut at, mut depth) = (self.at, 0);
        if !self.is_c_star() || !self.is("[") {
            return true;
        }
        while depth > 0 || ["[", "."].contains(&self.word_at(at)) {
            match self.word_at(at) {
                "[" => depth += 1,
                "]" => depth -= 1,
                "." if depth == 0 => at += 1,
                _ if self.draft.token_at(at).kind == Kind::End => return true,
                _ => {}
            }
            at += 1;
        }
        self.word_at(at) == "="
    }

    /// `.member [3] [1 ... 2] =`, or GNU's old `member:`.
    fn designators(&mut self) -> Parse<()> {
        if self.kind() == Kind::Name && self.is_next(":") {
            self.at += 2;
            return Ok(());
        }
        if !self.is_designator() {
            return Ok(());
        }
        let begun = self.at;
        loop {
            if self.is(".") {
                self.at += 2;
            } else if self.is("[") {
                self.at += 1;
                self.constant_or_range()?;
                self.expect("]")?;
            } else {
                break;
            }
        }
        if self.at > begun {
            self.eat("=");
        }
        Ok(())
    }

    /// Makes declarations of their own of declarators of which one has changed what they share. With each goes the token behind it.
    /// Gives whether it does.
    pub(super) fn split_declarators(&mut self, specifiers: &Specifiers, declared: &[(Declarator, usize)]) -> bool {
        if declared.len() < 2 || declared.iter().all(|(declarator, _)| !declarator.touches_base) {
            return false;
        }
        if specifiers.defines {
            let what = if specifiers.ty.parallel.is_some() {
                "several parallel variables"
            } else {
                "global pointers beside other things"
            };
            self.error(specifiers.first, specifiers.first, format!("this defines a type, and declares {what}"))
                .help("define the type in a declaration of its own");
            return false;
        }
        let is_moved = declared.iter().any(|(declarator, _)| declarator.ty.is_spread_pointer());
        let end = specifiers.end - if specifiers.ty.parallel.is_some() { 2 } else { 0 };
        let kept = (specifiers.first..end).filter(|token| !is_moved || Some(*token) != specifiers.register);
        let shared = kept.map(|token| self.word_at(token)).collect::<Vec<_>>().join(" ");
        for (_, comma) in &declared[..declared.len() - 1] {
            self.draft.edits.instead(*comma, &format!("; {shared} "));
        }
        true
    }
}
