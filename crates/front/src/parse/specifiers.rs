//! Declaration specifiers: storage, qualifiers, types, structures, enumerations, attributes.

use super::{Parse, Parser};
use crate::Dialect;
use crate::lex::Kind;
use crate::scope::{Members, Symbol};
use crate::types::{AddressSpace, Shape, Type};

/// What stands before declarators.
pub(crate) struct Specifiers {
    pub ty: Type,
    pub is_typedef: bool,
    pub is_extern: bool,
    /// Whether a structure or an enumeration is defined in them, so that they cannot be written twice.
    pub defines: bool,
    /// The token `register`, if it is among them.
    pub register: Option<usize>,
    /// Their first token.
    pub first: usize,
    /// The token behind them.
    pub end: usize,
}

pub(super) const STORAGE: [&str; 12] = [
    "typedef",
    "extern",
    "static",
    "auto",
    "register",
    "_Thread_local",
    "__thread",
    "inline",
    "__inline",
    "__inline__",
    "_Noreturn",
    "thread_local",
];

pub(super) const QUALIFIERS: [&str; 14] = [
    "const",
    "__const",
    "__const__",
    "volatile",
    "__volatile__",
    "__volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "_Atomic",
    "_Nonnull",
    "_Nullable",
    "__unaligned",
    "__extension__",
];

const NUMBERS: [&str; 32] = [
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "__signed__",
    "__signed",
    "unsigned",
    "_Bool",
    "_Complex",
    "__complex__",
    "__complex",
    "_Imaginary",
    "__int128",
    "__int128_t",
    "__uint128_t",
    "_Float16",
    "__fp16",
    "__bf16",
    "__float128",
    "_Float32",
    "_Float64",
    "_Float32x",
    "_Float64x",
    "_Float128",
    "_BitInt",
    "_ExtInt",
    "__builtin_va_list",
    "_Decimal64",
    "__externref_t",
];

const TYPEOF: [&str; 5] = ["typeof", "__typeof__", "__typeof", "typeof_unqual", "__typeof_unqual__"];

impl Parser<'_> {
    /// Whether a type begins at this token.
    pub(super) fn is_type_at(&self, at: usize) -> bool {
        let word = self.word_at(at);
        if self.draft.token_at(at).kind != Kind::Name {
            return false;
        }
        NUMBERS.contains(&word)
            || QUALIFIERS.contains(&word) && (word != "__extension__" || self.is_type_at(at + 1))
            || TYPEOF.contains(&word)
            || matches!(
                word,
                "void"
                    | "struct"
                    | "union"
                    | "enum"
                    | "__auto_type"
                    | "_Alignas"
                    | "__declspec"
                    | "__attribute__"
                    | "__attribute"
            )
            || STORAGE.contains(&word)
            || word == "bool" && self.scopes.find("bool").is_none()
            || self.scopes.is_typedef(word)
    }

    /// Specifiers; a typedef's name is taken as a type as long as none was named.
    pub(super) fn specifiers(&mut self) -> Parse<Specifiers> {
        let first = self.at;
        let mut ty: Option<Type> = None;
        let (mut is_typedef, mut is_extern, mut defines) = (false, false, false);
        let (mut space, mut is_const) = (None, false);
        let (mut register, mut copied) = (None, None);
        loop {
            if self.is("[") && self.is_next("[") {
                self.skip_group();
                continue;
            }
            if self.kind() != Kind::Name {
                break;
            }
            let word = self.word();
            if word == "__attribute__" || word == "__attribute" {
                space = self.attributes()?.or(space);
            } else if STORAGE.contains(&word) {
                is_typedef |= word == "typedef";
                is_extern |= word == "extern";
                register = if word == "register" { Some(self.at) } else { register };
                self.at += 1;
            } else if word == "_Atomic" && self.is_next("(") && ty.is_none() {
                self.at += 2;
                ty = Some(self.type_name()?);
                self.expect(")")?;
            } else if QUALIFIERS.contains(&word) {
                is_const |= word.contains("const");
                self.at += 1;
            } else if word == "_Alignas" || word == "alignas" || word == "__declspec" {
                self.at += 1;
                self.skip_group();
            } else if word == "void" {
                ty = Some(Type::of(Shape::Void));
                self.at += 1;
            } else if NUMBERS.contains(&word) || word == "bool" && self.scopes.find("bool").is_none() {
                let sized = word == "_BitInt" || word == "_ExtInt";
                ty = Some(Type::number());
                self.at += 1;
                if sized {
                    self.skip_group();
                }
            } else if word == "__auto_type" {
                ty = Some(Type::unknown());
                self.at += 1;
            } else if word == "struct" || word == "union" {
                let (record, is_definition) = self.record()?;
                defines |= is_definition;
                ty = Some(Type::of(Shape::Record(record)));
            } else if word == "enum" {
                defines |= self.enumeration()?;
                ty = Some(Type::number());
            } else if TYPEOF.contains(&word) {
                copied = Some(self.at);
                ty = Some(self.type_of()?);
            } else if ty.is_none()
                && let Some(Symbol::Typedef(known)) = self.scopes.find(word)
            {
                ty = Some(known.clone());
                self.at += 1;
            } else {
                break;
            }
        }
        if self.at == first {
            return Err(self.expected("a type"));
        }
        // Without a type it is an `int`, in old C.
        let mut ty = ty.unwrap_or_else(Type::number);
        ty.is_const |= is_const;
        ty.parallel = self.parallel();
        if let Some(space) = space {
            ty = ty.within(space);
        } else if let Some(token) = copied.filter(|_| ty.space != AddressSpace::Private) {
            ty = self.here(token, ty);
        }
        Ok(Specifiers { ty, is_typedef, is_extern, defines, register, first, end: self.at })
    }

    /// The type of a global object, named by `typeof`, for one that is declared here: it lies on this processor.
    fn here(&mut self, type_of: usize, ty: Type) -> Type {
        if self.dialect == Dialect::SplitC {
            let is_const = if ty.is_const { "const " } else { "" };
            self.draft.edits.instead(type_of, &format!("{is_const}__typeof_unqual__"));
        }
        ty.within(AddressSpace::Private)
    }

    /// A spread pointer in a declaration with `register`: whoever moves it takes its address, and `register` says no more than that nobody does.
    pub(super) fn without_register(&mut self, specifiers: &Specifiers, ty: &Type) {
        if let Some(token) = specifiers.register.filter(|_| ty.is_spread_pointer()) {
            self.draft.edits.remove(token);
        }
    }

    /// Attributes, if there are any; gives the address space that they name.
    pub(super) fn attributes(&mut self) -> Parse<Option<AddressSpace>> {
        let mut space = None;
        loop {
            if self.is_one_of(&["__attribute__", "__attribute"]) {
                self.at += 1;
                let open = self.at;
                if !self.is("(") {
                    return Err(self.expected("`(`"));
                }
                let end = self.behind_group(open);
                for token in open..end {
                    if matches!(self.word_at(token), "address_space" | "__address_space__") {
                        space = Some(AddressSpace::of_number(self.word_at(token + 2)));
                    }
                }
                self.at = end;
            } else if self.is("[") && self.is_next("[") && !self.is_c_star() {
                self.skip_group();
            } else {
                return Ok(space);
            }
        }
    }

    /// `typeof ( expression or type )`.
    fn type_of(&mut self) -> Parse<Type> {
        let unqualified = self.word().contains("unqual");
        self.at += 1;
        self.expect("(")?;
        let before = std::mem::replace(&mut self.draft.unevaluated, true);
        let ty = if self.is_type_at(self.at) { self.type_name() } else { self.full_expression() };
        self.draft.unevaluated = before;
        let ty = ty?;
        self.expect(")")?;
        Ok(if unqualified { Type { is_const: false, ..ty.within(AddressSpace::Private) } } else { ty })
    }

    /// A structure or union: its number, and whether its members stand here.
    fn record(&mut self) -> Parse<(usize, bool)> {
        self.at += 1;
        self.attributes()?;
        let tag = (self.kind() == Kind::Name).then(|| self.word().to_string());
        self.at += usize::from(tag.is_some());
        self.attributes()?;
        if !self.is("{") {
            if tag.is_none() {
                return Err(self.expected("a tag or `{`"));
            }
            let declares = self.is(";");
            return Ok((self.scopes.tag(tag.as_deref(), declares), false));
        }
        let record = self.scopes.tag(tag.as_deref(), true);
        self.at += 1;
        let mut members = Members::new();
        while !self.is("}") {
            self.deeper(|parser| parser.members(&mut members))?;
        }
        self.at += 1;
        self.attributes()?;
        self.scopes.complete(record, members);
        Ok((record, true))
    }

    /// One declaration of members.
    fn members(&mut self, members: &mut Members) -> Parse<()> {
        if self.eat(";") || self.static_assertion()? {
            return Ok(());
        }
        let specifiers = self.specifiers()?;
        self.no_parallel(&specifiers, "a member of a structure");
        if self.eat(";") {
            members.push((None, specifiers.ty));
            return Ok(());
        }
        let mut declared = Vec::new();
        loop {
            self.attributes()?;

            if !self.is(":") {
                let declarator = self.declarator(&specifiers)?;
                if let Shape::SpreadArray(_) = declarator.ty.shape {
                    let name = declarator.name.unwrap_or(self.at);
                    self.error(name, name, "a member of a structure cannot be a spread array")
                        .help("make it a spread pointer, and give it memory of all_spread_malloc");
                }

                members.push((declarator.name.map(|name| self.word_at(name).to_string()), declarator.ty.clone()));
                declared.push((declarator, self.at));
            }

            if self.eat(":") {
                let width = self.conditional()?;
                self.whole(width, true);
            }
            self.attributes()?;
            if let Some(last) = declared.last_mut() {
                last.1 = self.at;
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(";")?;
        self.split_declarators(&specifiers, &declared);
        Ok(())
    }

    /// Whether the constants of the enumeration stand here.
    fn enumeration(&mut self) -> Parse<bool> {
        self.at += 1;
        self.attributes()?;
        if self.kind() == Kind::Name {
            self.at += 1;
        }
        if self.is(":") && !self.is_parallel_at(self.at) {
            self.at += 1;
            self.specifiers()?;
        }
        if !self.eat("{") {
            return Ok(false);
        }
        while !self.is("}") {
            if self.kind() != Kind::Name {
                return Err(self.expected("the name of a constant"));
            }
            let name = self.word().to_string();
            self.at += 1;
            self.attributes()?;
            if self.eat("=") {
                let value = self.conditional()?;
                self.whole(value, true);
            }
            self.scopes.declare(&name, Symbol::Value(Type::number()));
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        self.attributes()?;
        Ok(true)
    }

    /// `_Static_assert ( expression , "text" ) ;`, if it stands here.
    pub(super) fn static_assertion(&mut self) -> Parse<bool> {
        if !(self.is("_Static_assert") || self.is("static_assert") && self.is_next("(")) {
            return Ok(false);
        }
        self.at += 1;
        self.expect("(")?;
        let condition = self.conditional()?;
        self.whole(condition, true);
        if self.eat(",") {
            while self.kind() == Kind::Text {
                self.at += 1;
            }
        }
        self.expect(")")?;
        self.expect(";")?;
        Ok(true)
    }
}
