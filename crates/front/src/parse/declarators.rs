//! Declarators: pointers, arrays, functions, and what a dialect adds to them.

use super::specifiers::{QUALIFIERS, Specifiers};
use super::{Parse, Parser};
use crate::Dialect;
use crate::dialect::split_c;
use crate::lex::Kind;
use crate::scope::Symbol;
use crate::types::{AddressSpace, Shape, SpreadArray, Type};
use std::rc::Rc;

/// What a declarator declares.
pub(crate) struct Declarator {
    /// The token of the name; none if there is none.
    pub name: Option<usize>,
    pub ty: Type,
    /// The parameters, if a function is declared.
    pub parameters: Option<Parameters>,
    /// Whether a change stands in what it shares with the declarators beside it.
    pub touches_base: bool,
    /// Its first token.
    pub first: usize,
}

/// The parameters of a function.
#[derive(Default, Clone)]
pub(crate) struct Parameters {
    pub list: Vec<(Option<String>, Type)>,
    /// Of each, if it is parallel, the C type of its values.
    pub parallel: Vec<Option<String>>,
    /// The token of the parenthesis.
    pub open: Option<usize>,
    /// Declarations that the body begins with.
    pub captures: Vec<String>,
    /// Whether only names are listed, in the old way.
    pub is_old: bool,
}

/// Where a qualifier of what a pointer points to must stand.
#[derive(Clone, Copy)]
struct Anchor {
    /// Before this token.
    token: usize,
    /// Whether declarators share it.
    is_shared: bool,
    /// Whether there is a function in between, which cannot be qualified.
    is_function: bool,
}

/// A suffix of a declarator.
enum Suffix {
    Array,
    Function(Parameters),
    Spread { dimensions: Vec<(String, usize)>, first: usize, end: usize },
}

impl Parser<'_> {
    /// A declarator behind its specifiers.
    pub(super) fn declarator(&mut self, specifiers: &Specifiers) -> Parse<Declarator> {
        self.declarator_of(specifiers.ty.clone())
    }

    /// A declarator, with or without a name, for what has this type so far.
    pub(super) fn declarator_of(&mut self, base: Type) -> Parse<Declarator> {
        let anchor = Anchor { token: self.at, is_shared: true, is_function: false };
        self.deeper(|parser| parser.part(base, anchor))
    }

    /// `type-name`, as in casts.
    pub(super) fn type_name(&mut self) -> Parse<Type> {
        let specifiers = self.specifiers()?;
        self.no_parallel(&specifiers, "a type that is named here");
        let declarator = self.declarator(&specifiers)?;
        if let Some(name) = declarator.name {
            self.error(name, name, "a name has no place in a type");
        }
        Ok(declarator.ty)
    }

    fn part(&mut self, mut base: Type, mut anchor: Anchor) -> Parse<Declarator> {
        let first = self.at;
        let mut touches_base = false;
        self.attributes()?;
        while self.is("*") || self.is("^") {
            let star = self.at;
            self.at += 1;
            if let Some(space) = self.pointer_qualifiers()? {
                touches_base |= anchor.is_shared;
                if anchor.is_function {
                    self.error(star, star, "a function lies nowhere that a global pointer could point to")
                        .help("a plain pointer to a function means the same function on every processor");
                }
                if base.pointer_space().is_some() && matches!(base.shape, Shape::SpreadArray(_)) {
                    self.error(star, star, "there are no pointers to spread arrays").help("use a spread pointer");
                }
                self.draft.edits.just_before(anchor.token, &split_c::qualifier(space));
                base = base.within(space);
            }
            let is_const = std::mem::take(&mut self.pointer_is_const);
            base = Type { is_const, ..base.pointer() };
            anchor = Anchor { token: self.at, is_shared: false, is_function: false };
        }
        if self.word() == "global" || self.word() == "spread" {
            self.stray_qualifier();
        }
        let mut declarator = self.direct(base, anchor)?;
        declarator.touches_base |= touches_base;
        declarator.first = first;
        Ok(declarator)
    }

    /// `global` or `spread` before a type.
    pub(super) fn early_qualifier(&mut self) {
        if (self.is("global") || self.is("spread")) && self.is_type_at(self.at + 1) {
            self.stray_qualifier();
        }
    }

    /// `global` or `spread` that no star stands before.
    fn stray_qualifier(&mut self) {
        if self.dialect == Dialect::SplitC && !self.token().system {
            let word = self.word().to_string();
            self.error(self.at, self.at, format!("`{word}` has no pointer before it"))
                .help(format!("write it behind the star: int *{word} p"));
            self.at += 1;
        }
    }

    /// What stands between a star and what follows it: gives the space of what is pointed to, if it is named.
    fn pointer_qualifiers(&mut self) -> Parse<Option<AddressSpace>> {
        let mut space = None;
        self.pointer_is_const = false;
        loop {
            let is_own = self.dialect == Dialect::SplitC && !self.token().system;
            let word = self.word();
            if QUALIFIERS.contains(&word) {
                self.pointer_is_const |= word.contains("const");
                self.at += 1;
            } else if is_own && (word == "global" || word == "spread") {
                let named = if word == "global" { AddressSpace::Global } else { AddressSpace::Spread };
                if space.is_some() {
                    self.error(self.at, self.at, "a pointer is either global or spread").help("leave one out");
                }
                self.draft.edits.remove(self.at);
                space = Some(named);
                self.at += 1;
            } else if self.is_one_of(&["__attribute__", "__attribute"]) {
                self.attributes()?;
            } else {
                return Ok(space);
            }
        }
    }

    /// A name, or a declarator in parentheses, and its suffixes.
    fn direct(&mut self, base: Type, anchor: Anchor) -> Parse<Declarator> {
        let mut inner = None;
        let mut name = None;
        let start = self.at;
        if self.is("(") && !self.begins_parameters() {
            inner = Some(self.at + 1);
            self.at = self.behind_group(self.at);
        } else if self.kind() == Kind::Name
            && !self.is_one_of(&["__attribute__", "__attribute", "__asm__", "asm", "__asm"])
        {
            name = Some(self.at);
            self.at += 1;
            self.attributes()?;
        }
        let mut suffixes = Vec::new();
        while let Some(suffix) = self.suffix()? {
            suffixes.push(suffix);
        }
        let own_parameters = match suffixes.first() {
            Some(Suffix::Function(parameters)) if inner.is_none() => Some(parameters.clone()),
            _ => None,
        };
        let is_function = matches!(suffixes.first(), Some(Suffix::Function(_)));
        let mut touches_base = false;
        let mut ty = base;
        for suffix in suffixes.into_iter().rev() {
            ty = match suffix {
                Suffix::Array => ty.array(),
                Suffix::Function(_) => Type::of(Shape::Function(Rc::new(ty))),
                Suffix::Spread { dimensions, first, end } => {
                    touches_base |= anchor.is_shared;
                    self.spread_array(ty, dimensions, (name, anchor.token, first, end))
                }
            };
        }
        let Some(inner) = inner else {
            return Ok(Declarator { name, ty, parameters: own_parameters, touches_base, first: start });
        };
        let end = std::mem::replace(&mut self.at, inner);
        let anchor = Anchor { is_function, ..anchor };
        let mut declarator = self.deeper(|parser| parser.part(ty, anchor))?;
        self.expect(")")?;
        self.at = end;
        declarator.touches_base |= touches_base;
        Ok(declarator)
    }

    /// `name[n][m]::[b][b]`: its brackets left of `::` go, and it becomes a pointer to what is right of them.
    fn spread_array(
        &mut self,
        element: Type,
        dimensions: Vec<(String, usize)>,
        at: (Option<usize>, usize, usize, usize),
    ) -> Type {
        let (name, anchor, first, end) = at;
        let element = element.within(AddressSpace::Spread);
        (first..end).for_each(|token| self.draft.edits.remove(token));
        if let Some(name) = name {
            self.draft.edits.just_before(anchor, &split_c::qualifier(AddressSpace::Spread));
            self.draft.edits.just_before(name, "(*");
            self.draft.edits.after(name, ")");
        } else {
            self.error(first, end - 1, "a spread array has no name here").help("use a spread pointer: T *spread");
        }
        let (dimensions, tokens) = dimensions.into_iter().unzip();
        Type::of(Shape::SpreadArray(Rc::new(SpreadArray { element, dimensions, tokens })))
    }

    /// Whether the parenthesis here begins parameters, in a declarator without a name.
    fn begins_parameters(&self) -> bool {
        let next = self.at + 1;
        let is_attribute = matches!(self.word_at(next), "__attribute__" | "__attribute");
        self.word_at(next) == ")" || self.is_type_at(next) && !is_attribute || self.word_at(next) == "..."
    }

    fn suffix(&mut self) -> Parse<Option<Suffix>> {
        if self.is("[") && !self.is_next("[") {
            let first = self.at;
            let mut dimensions = vec![self.dimension()?];
            // Dimensions up to `::` belong together.
            let mut ahead = self.at;
            while self.word_at(ahead) == "[" {
                ahead = self.behind_group(ahead);
            }
            if !self.is_pair(ahead, ":", ":") {
                return Ok(Some(Suffix::Array));
            }
            while self.is("[") {
                dimensions.push(self.dimension()?);
            }
            self.at += 2;
            return Ok(Some(Suffix::Spread { dimensions, first, end: self.at }));
        }
        if self.is("(") {
            self.at += 1;
            let parameters = self.deeper(Self::parameters)?;
            self.attributes()?;
            return Ok(Some(Suffix::Function(parameters)));
        }
        Ok(None)
    }

    /// `[ size ]`; gives the size as it is written, and its first token.
    fn dimension(&mut self) -> Parse<(String, usize)> {
        self.expect("[")?;
        while self.is_one_of(&QUALIFIERS) || self.is("static") {
            self.at += 1;
        }
        let first = self.at;
        if self.is("*") && self.is_next("]") {
            self.at += 1;
        } else if !self.is("]") {
            let size = self.assignment()?;
            self.whole(size, true);
        }
        let text = if self.at > first { self.draft.lexed.words(first, self.at - 1) } else { String::new() };
        self.expect("]")?;
        Ok((text, first))
    }

    /// Parameters behind their `(`, with the `)`.
    fn parameters(&mut self) -> Parse<Parameters> {
        let mut parameters = Parameters { open: Some(self.at - 1), ..Parameters::default() };
        if self.eat(")") {
            return Ok(parameters);
        }
        if self.kind() == Kind::Name && !self.is_type_at(self.at) && (self.is_next(",") || self.is_next(")")) {
            parameters.is_old = true;
            loop {
                parameters.list.push((Some(self.word().to_string()), Type::number()));
                parameters.parallel.push(None);
                self.at += 1;
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
            return Ok(parameters);
        }
        self.scopes.enter();
        let (depth, current) = (self.scopes.depth(), self.current.take());
        let result = self.parameter_list(&mut parameters);
        self.scopes.leave_to(depth - 1);
        self.current = current;
        result?;
        Ok(parameters)
    }

    fn parameter_list(&mut self, parameters: &mut Parameters) -> Parse<()> {
        loop {
            if self.eat("...") {
                break;
            }
            let specifiers = self.specifiers()?;
            self.known_shape()?;
            let declarator = self.declarator(&specifiers)?;
            if self.is_parallel_at(self.at) {
                return Err(self.late_shape(&declarator));
            }
            self.without_register(&specifiers, &declarator.ty);
            let values = self.parallel_parameter(&declarator, &specifiers);
            self.attributes()?;
            let name = declarator.name.map(|name| self.word_at(name).to_string());
            let ty = match declarator.ty.shape {
                Shape::SpreadArray(array) => self.captured(&array, &mut parameters.captures),
                _ if values.is_some() => declarator.ty,
                _ => declarator.ty.value(),
            };
            if let Some(name) = &name {
                self.scopes.declare(name, Symbol::Value(ty.clone()));
            }
            // `(void)` has none.
            let is_void = name.is_none() && ty.shape == Shape::Void;
            if !is_void {
                parameters.list.push((name, ty));
                parameters.parallel.push(values);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")
    }

    /// A spread array as a parameter: its dimensions are what they are when the function begins.
    fn captured(&mut self, array: &SpreadArray, captures: &mut Vec<String>) -> Type {
        let mut dimensions = vec![array.dimensions[0].clone()];
        for dimension in &array.dimensions[1..] {
            let name = self.draft.temporary("splitc_dimension");
            captures.push(format!("const __INTPTR_TYPE__ {name} __attribute__((unused)) = ({dimension});"));
            dimensions.push(name);
        }
        Type::of(Shape::SpreadArray(Rc::new(SpreadArray { dimensions, ..array.clone() })))
    }
}
