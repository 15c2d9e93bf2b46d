//! Expressions, with their types.

use super::{Parse, Parser};
use crate::lex::Kind;
use crate::scope::Symbol;
use crate::tree::{Expression, Form};
use crate::types::{AddressSpace, Shape, Type};

/// Binary operators, from the weakest to the strongest.
const BINARY: [&[&str]; 11] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    // C*'s `<?` and `>?` stand here.
    &[],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// The level of C*'s `<?` and `>?`.
const LEAST: usize = 7;

const ASSIGNMENT: [&str; 11] = ["=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|="];

const SIZES: [&str; 6] = ["sizeof", "_Alignof", "__alignof__", "__alignof", "alignof", "_Countof"];

fn made(form: Form, ty: Type, first: usize, last: usize) -> Expression {
    Expression { form, ty, first, last }
}

impl Parser<'_> {
    fn last(&self) -> usize {
        self.at - 1
    }

    /// An expression with commas.
    pub(super) fn expression(&mut self) -> Parse<Expression> {
        let mut left = self.assignment()?;
        while self.eat(",") {
            let right = self.assignment()?;
            let (first, last, ty) = (left.first, right.last, right.ty.clone());
            left = made(Form::Comma { left: Box::new(left), right: Box::new(right) }, ty, first, last);
        }
        Ok(left)
    }

    /// An expression without commas.
    pub(super) fn assignment(&mut self) -> Parse<Expression> {
        self.deeper(|parser| {
            let left = parser.choice()?;
            let op = parser.at;
            if !parser.in_middle && (parser.is_pair(op, ":", "=") || parser.is_pair(op, ":", "-")) {
                let is_store = parser.is_next("-");
                parser.at += 2;
                let right = Box::new(parser.assignment()?);
                let (first, last) = (left.first, right.last);
                let form = Form::SplitPhase { op, is_store, left: Box::new(left), right };
                return Ok(made(form, Type::of(Shape::Void), first, last));
            }
            if parser.is_own_assignment() {
                parser.at += 3;
                let right = Box::new(parser.assignment()?);
                let (first, last) = (left.first, right.last);
                return Ok(made(
                    Form::OwnBinary { op, width: 3, left: Box::new(left), right },
                    Type::number(),
                    first,
                    last,
                ));
            }
            if !parser.is_one_of(&ASSIGNMENT) {
                return Ok(left);
            }
            parser.at += 1;
            let right = parser.assignment()?;
            let (first, last, ty) = (left.first, right.last, left.ty.clone().within(AddressSpace::Private));
            Ok(made(Form::Assign { op, left: Box::new(left), right: Box::new(right) }, ty, first, last))
        })
    }

    /// A conditional expression, such as constants are.
    pub(super) fn conditional(&mut self) -> Parse<Expression> {
        self.deeper(Self::choice)
    }

    fn choice(&mut self) -> Parse<Expression> {
        let condition = self.binary(0)?;
        if !self.eat("?") {
            return Ok(condition);
        }
        let first = condition.first;
        let mut parts = vec![condition];
        if !self.eat(":") {
            let before = std::mem::replace(&mut self.in_middle, true);
            let middle = self.expression();
            self.in_middle = before;
            parts.push(middle?);
            self.expect(":")?;
        }
        parts.push(self.conditional()?);
        let last = self.last();
        let second = parts[parts.len() - 2].ty.clone().value();
        let third = parts[parts.len() - 1].ty.clone().value();
        // Null is of any kind.
        let ty =
            if second.pointer_space().is_none_or(|space| space == AddressSpace::Private) && third.pointee().is_some() {
                third
            } else {
                second
            };
        Ok(made(Form::Conditional { parts }, ty, first, last))
    }

    /// Operators of this level and stronger ones.
    fn binary(&mut self, weakest: usize) -> Parse<Expression> {
        let mut left = self.cast()?;
        loop {
            if self.is_own_assignment() {
                return Ok(left);
            }
            if let Some(level) = self.own_operator(LEAST, BINARY.len() - 1) {
                if level < weakest {
                    return Ok(left);
                }
                let op = self.at;
                self.at += 2;
                let right = Box::new(self.binary(level + 1)?);
                let (first, last) = (left.first, right.last);
                left = made(Form::OwnBinary { op, width: 2, left: Box::new(left), right }, Type::number(), first, last);
                continue;
            }
            let level = BINARY.iter().position(|level| level.contains(&self.word()));
            let Some(level) = level.filter(|level| *level >= weakest && self.kind() == Kind::Mark) else {
                return Ok(left);
            };
            let op = self.at;
            self.at += 1;
            let right = self.binary(level + 1)?;
            let ty = self.result_of(op, &left.ty, &right.ty);
            let (first, last) = (left.first, right.last);
            left = made(Form::Binary { op, left: Box::new(left), right: Box::new(right) }, ty, first, last);
        }
    }

    fn result_of(&self, op: usize, left: &Type, right: &Type) -> Type {
        let (left, right) = (left.clone().value(), right.clone().value());
        match self.word_at(op) {
            "+" if right.pointee().is_some() => right,
            "+" | "-" if left.pointee().is_some() && right.pointee().is_none() => left,
            "+" | "-" if left.is_unknown() => left,
            _ => Type::number(),
        }
    }

    /// A cast, or what binds stronger.
    pub(super) fn cast(&mut self) -> Parse<Expression> {
        if !(self.is("(") && self.is_type_at(self.at + 1)) {
            return self.unary();
        }
        let first = self.at;
        self.at += 1;
        let ty = self.type_name()?;
        let close = self.at;
        self.expect(")")?;
        if self.is("{") {
            self.initialiser()?;
            // In C* what stands in it is done once, as in a block.
            let form = if self.is_c_star() { Form::Block } else { Form::Leaf };
            let literal = made(form, ty, first, self.last());
            return self.postfix(literal);
        }
        let operand = self.deeper(Self::cast)?;
        let last = operand.last;
        Ok(made(Form::Cast { close, operand: Box::new(operand) }, ty, first, last))
    }

    pub(super) fn unary(&mut self) -> Parse<Expression> {
        let first = self.at;
        if let Some(expression) = self.own_prefix()? {
            return Ok(expression);
        }
        if self.kind() == Kind::Mark && self.is_one_of(&["&", "*", "+", "-", "~", "!", "++", "--", "&&"]) {
            self.at += 1;
            if self.word_at(first) == "&&" {
                // GNU's address of a label.
                self.at += 1;
                return Ok(made(Form::Leaf, Type::of(Shape::Void).pointer(), first, self.last()));
            }
            let operand = self.deeper(Self::cast)?;
            let ty = match self.word_at(first) {
                "&" => self.address_of(&operand),
                "*" => self.pointed_to(&operand),
                "++" | "--" => operand.ty.clone().value(),
                _ => Type::number(),
            };
            let last = operand.last;
            return Ok(made(Form::Prefix { op: first, operand: Box::new(operand) }, ty, first, last));
        }
        let word = self.word();
        if SIZES.contains(&word) && (word != "alignof" || self.scopes.find(word).is_none()) {
            return self.size();
        }
        if matches!(word, "__extension__" | "__real__" | "__imag__" | "__real" | "__imag") {
            self.at += 1;
            let operand = self.deeper(Self::cast)?;
            let (last, ty) = (operand.last, operand.ty.clone());
            return Ok(made(Form::Parts(vec![operand]), ty, first, last));
        }
        let primary = self.primary()?;
        self.postfix(primary)
    }

    /// `sizeof e` or `sizeof ( type )`.
    fn size(&mut self) -> Parse<Expression> {
        let first = self.at;
        self.at += 1;
        if self.is("(") && self.is_type_at(self.at + 1) {
            self.at += 1;
            let ty = self.type_name()?;
            self.expect(")")?;
            if self.is("{") {
                self.initialiser()?;
                let literal = made(Form::Leaf, ty, first, self.last());
                self.postfix(literal)?;
            }
            return Ok(made(Form::Leaf, Type::number(), first, self.last()));
        }
        let operand = self.deeper(Self::unary)?;
        let last = operand.last;
        Ok(made(Form::SizeOf(Box::new(operand)), Type::number(), first, last))
    }

    /// The pointer to an object. To what a spread pointer points to or reaches, it is a spread pointer again.
    fn address_of(&self, object: &Expression) -> Type {
        let pointer = match &object.bare().form {
            Form::Index { base, .. } => Some(base),
            Form::Prefix { op, operand } if self.word_at(*op) == "*" => Some(operand),
            _ => None,
        };
        match pointer.filter(|pointer| pointer.ty.is_spread_pointer()) {
            Some(pointer) => pointer.ty.clone().value(),
            None if matches!(object.ty.shape, Shape::SpreadArray(_)) => object.ty.clone(),
            None => object.ty.clone().pointer(),
        }
    }

    /// What a pointer points to; an object that a spread pointer points to is a global one.
    fn pointed_to(&self, pointer: &Expression) -> Type {
        match pointer.ty.pointee() {
            Some(to) if to.space == AddressSpace::Spread => to.clone().within(AddressSpace::Global),
            Some(to) => to.clone(),
            None => match &pointer.ty.shape {
                Shape::Function(_) => pointer.ty.clone(),
                _ => Type::unknown(),
            },
        }
    }

    fn postfix(&mut self, mut base: Expression) -> Parse<Expression> {
        loop {
            let first = base.first;
            match self.word() {
                "[" => {
                    let open = self.at;
                    self.at += 1;
                    let before = std::mem::take(&mut self.in_middle);
                    let index = self.deeper(Self::expression);
                    self.in_middle = before;
                    let index = index?;
                    let close = self.at;
                    self.expect("]")?;
                    let ty = self.element(&base, &index);
                    base = made(
                        Form::Index { base: Box::new(base), open, index: Box::new(index), close },
                        ty,
                        first,
                        close,
                    );
                }
                "(" => base = self.call(base)?,
                "." | "->" => {
                    let is_arrow = self.is("->");
                    self.at += 1;
                    if self.kind() != Kind::Name {
                        return Err(self.expected("the name of a member"));
                    }
                    let record = if is_arrow { self.pointed_to(&base) } else { base.ty.clone() };
                    let ty = match record.shape {
                        Shape::Record(number) => self.scopes.member(number, self.word()),
                        _ => None,
                    };
                    let mut ty = ty.map_or_else(Type::unknown, |ty| {
                        if record.space == AddressSpace::Private { ty } else { ty.within(record.space) }
                    });
                    ty.is_const |= record.is_const;
                    base = made(Form::Member { base: Box::new(base), is_arrow }, ty, first, self.at);
                    self.at += 1;
                }
                "++" | "--" => {
                    let ty = base.ty.clone().value();
                    base = made(Form::Postfix { op: self.at, operand: Box::new(base) }, ty, first, self.at);
                    self.at += 1;
                }
                _ => return Ok(base),
            }
        }
    }

    /// An element: of a spread array, one dimension less.
    fn element(&self, base: &Expression, index: &Expression) -> Type {
        if let Shape::SpreadArray(array) = &base.ty.shape
            && array.dimensions.len() > 1
        {
            let mut rest = (**array).clone();
            rest.dimensions.remove(0);
            return Type::of(Shape::SpreadArray(rest.into()));
        }
        // C allows `3[a]`.
        if base.ty.pointee().is_none() && index.ty.pointee().is_some() {
            self.pointed_to(index)
        } else {
            self.pointed_to(base)
        }
    }

    fn call(&mut self, callee: Expression) -> Parse<Expression> {
        let first = callee.first;
        self.at += 1;
        let name = if callee.first == callee.last { self.word_at(callee.first).to_string() } else { String::new() };
        let ty = match callee.ty.pointee().map_or(&callee.ty.shape, |to| &to.shape) {
            Shape::Function(result) => (**result).clone(),
            // The compiler's own functions, and those that nobody has declared.
            _ if self.scopes.find(&name).is_none() && !name.is_empty() => Type::number(),
            _ => Type::unknown(),
        };
        let mut parts = vec![callee];
        let before = std::mem::take(&mut self.in_middle);
        let arguments = self.arguments(&name, &mut parts);
        self.in_middle = before;
        let chosen = arguments?;
        Ok(made(Form::Parts(parts), chosen.unwrap_or(ty), first, self.last()))
    }

    /// Arguments behind their `(`, with the `)`. The compiler's own functions take types, too; gives the type of a result that they name.
    fn arguments(&mut self, name: &str, parts: &mut Vec<Expression>) -> Parse<Option<Type>> {
        let mut chosen = None;
        while !self.is(")") {
            if name.starts_with("__builtin_") && self.is_type_at(self.at) {
                let ty = self.type_name()?;
                if name == "__builtin_va_arg" {
                    chosen = Some(ty);
                } else if name == "__builtin_offsetof" {
                    // `type , member . member [ 3 ]`
                    while !self.is(")") && self.kind() != Kind::End {
                        if self.is("[") { self.skip_group() } else { self.at += 1 }
                    }
                    break;
                }
            } else {
                let argument = self.assignment()?;
                if name == "__builtin_choose_expr" && parts.len() > 2 {
                    self.one_kind(&parts[2], &argument);
                }
                if name == "__builtin_choose_expr" && parts.len() > 1
                    || name == "__builtin_assume_aligned" && parts.len() == 1
                {
                    chosen = Some(argument.ty.clone().value());
                }
                parts.push(argument);
            }
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(chosen)
    }

    /// What the compiler chooses among must be of one kind: which it chooses is not known here.
    fn one_kind(&mut self, one: &Expression, other: &Expression) {
        let spaces =
            [one, other].map(|choice| choice.ty.clone().value().pointer_space().unwrap_or(AddressSpace::Private));
        if spaces[0] != spaces[1] {
            self.error(other.first, other.last, "among what is chosen here are pointers of several kinds")
                .help("choose among pointers of one kind, or let `?:` decide while the program runs");
        }
    }

    fn primary(&mut self) -> Parse<Expression> {
        let first = self.at;
        if let Some(own) = self.own_coordinate() {
            return Ok(own);
        }
        match self.kind() {
            Kind::Number | Kind::Character => {
                self.at += 1;
                Ok(made(Form::Leaf, Type::number(), first, first))
            }
            Kind::Text => {
                while self.kind() == Kind::Text {
                    self.at += 1;
                }
                Ok(made(Form::Leaf, Type::number().array(), first, self.last()))
            }
            Kind::Name if self.is("_Generic") => self.selection(),
            Kind::Name => {
                if let Some(shape) = self.shape_here()? {
                    return Ok(made(Form::Shape(shape), Type::unknown(), first, self.last()));
                }
                let ty = match self.scopes.find(self.word()) {
                    Some(Symbol::Value(ty)) => ty.clone(),
                    Some(Symbol::Typedef(_) | Symbol::Shape(_)) => return Err(self.expected("an expression")),
                    None if self.is_one_of(&["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"]) => {
                        Type::number().array()
                    }
                    None => Type::unknown(),
                };
                self.at += 1;
                Ok(made(Form::Leaf, ty, first, first))
            }
            Kind::Mark if self.is("(") && self.is_next("{") => {
                self.at += 1;
                self.value_of_block = Type::of(Shape::Void);
                let before = (std::mem::take(&mut self.in_middle), self.own_statements);
                let block = self.deeper(|parser| parser.compound(true));
                self.in_middle = before.0;
                block?;
                if self.own_statements > before.1 {
                    self.error(first, first, "statements and variables of C* have no place in a `({ .. })`")
                        .help("write a function");
                }
                let ty = std::mem::replace(&mut self.value_of_block, Type::unknown());
                self.expect(")")?;
                Ok(made(Form::Block, ty, first, self.last()))
            }
            Kind::Mark if self.is("(") => {
                self.at += 1;
                let before = std::mem::take(&mut self.in_middle);
                let inner = self.deeper(Self::expression);
                self.in_middle = before;
                let inner = inner?;
                self.expect(")")?;
                let ty = inner.ty.clone();
                Ok(made(Form::Parentheses(Box::new(inner)), ty, first, self.last()))
            }
            _ => Err(self.expected("an expression")),
        }
    }

    /// `_Generic ( e , type : e , default : e )`: of the type of what is chosen if all are alike.
    fn selection(&mut self) -> Parse<Expression> {
        let first = self.at;
        self.at += 1;
        self.expect("(")?;
        let mut parts = Vec::new();
        if self.is_type_at(self.at) {
            self.type_name()?;
        } else {
            parts.push(self.assignment()?);
        }
        let mut ty: Option<Type> = None;
        while self.eat(",") {
            if !self.eat("default") {
                self.type_name()?;
            }
            self.expect(":")?;
            let choice = self.assignment()?;
            if ty.is_some() {
                self.one_kind(&parts[parts.len() - 1], &choice);
            }
            let own = choice.ty.clone().value();
            ty = Some(if ty.is_none_or(|before| before == own) { own } else { Type::unknown() });
            parts.push(choice);
        }
        self.expect(")")?;
        Ok(made(Form::Parts(parts), ty.unwrap_or_else(Type::unknown), first, self.last()))
    }
}
