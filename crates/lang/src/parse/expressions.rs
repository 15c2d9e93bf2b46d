//! Expressions, by precedence: `or`, `and`, `not`, comparison and `in` and `is`, `+ - & |`, `* / %`, prefix, postfix.

use super::*;

/// Words that may follow a value.
const AFTER_A_VALUE: [&str; 11] = ["and", "or", "in", "is", "at", "as", "of", "to", "for", "with", "from"];

/// What can be performed.
const PERFORMED: [&str; 3] = ["read", "write", "rmw"];

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(Self::or)
    }

    /// Whether the present token can continue the expression: not if it starts a line outside brackets.
    fn continues(&self) -> bool {
        self.nesting > 0 || !self.token().first
    }

    fn binary(&mut self, op: &'static str, left: Expr, right: Expr) -> Parsed<Expr> {
        let span = left.span.to(right.span);
        self.operator(right.span)?;
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span })
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut left = self.and()?;
        while self.continues() && self.eat_word("or") {
            let right = self.and()?;
            left = self.binary("or", left, right)?;
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.negation()?;
        while self.continues() && self.eat_word("and") {
            let right = self.negation()?;
            left = self.binary("and", left, right)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Parsed<Expr> {
        if self.is_word("not") {
            let start = self.advance().span;
            let inner = self.deeper(Self::negation)?;
            let span = start.to(inner.span);
            return Ok(Expr { kind: ExprKind::Not(Box::new(inner)), span });
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.sum()?;
        if !self.continues() {
            return Ok(left);
        }
        for op in ["==", "!=", "<=", ">=", "<", ">"] {
            if self.eat_mark(op) {
                let right = self.sum()?;
                return self.binary(op, left, right);
            }
        }
        if self.eat_word("in") {
            let right = self.sum()?;
            return self.binary("in", left, right);
        }
        if self.eat_word("is") {
            let states = if self.is_mark("(") { self.bracketed(Self::condition)? } else { vec![self.condition()?] };
            let span = left.span.to(self.previous_span());
            return Ok(Expr { kind: ExprKind::Is(Box::new(left), states), span });
        }
        Ok(left)
    }

    /// What something `is`: a state, or `none` of an access.
    fn condition(&mut self) -> Parsed<Ident> {
        if self.is_word("none") {
            return self.access_word();
        }
        self.name("the name of a state")
    }

    /// An expression without comparison: where `{` or `..` may follow.
    pub(super) fn sum(&mut self) -> Parsed<Expr> {
        self.deeper(|p| {
            let mut left = p.product()?;
            'more: while p.continues() {
                for op in ["+", "-", "&", "|"] {
                    if p.eat_mark(op) {
                        let right = p.product()?;
                        left = p.binary(op, left, right)?;
                        continue 'more;
                    }
                }
                break;
            }
            Ok(left)
        })
    }

    fn product(&mut self) -> Parsed<Expr> {
        let mut left = self.prefix()?;
        'more: while self.continues() {
            for op in ["*", "/", "%"] {
                if self.eat_mark(op) {
                    let right = self.prefix()?;
                    left = self.binary(op, left, right)?;
                    continue 'more;
                }
            }
            break;
        }
        Ok(left)
    }

    fn prefix(&mut self) -> Parsed<Expr> {
        if self.is_mark("-") {
            let start = self.advance().span;
            let inner = self.deeper(Self::prefix)?;
            let span = start.to(inner.span);
            return Ok(Expr { kind: ExprKind::Negate(Box::new(inner)), span });
        }
        // A variable may be called `new`.
        if self.is_word("new") && self.name_behind().is_some_and(|word| !AFTER_A_VALUE.contains(&word)) {
            let start = self.advance().span;
            let kind = self.name("the name of a kind of object")?;
            let span = start.to(kind.span);
            return Ok(Expr { kind: ExprKind::New(kind), span });
        }
        if self.is_word("ask") && self.name_behind().is_some_and(|word| !AFTER_A_VALUE.contains(&word)) {
            let start = self.advance().span;
            let event = self.name("the name of an event")?;
            let args = self.bracketed(Self::expression)?;
            return Ok(Expr { kind: ExprKind::Ask(event, args), span: start.to(self.previous_span()) });
        }
        if self.is_word("swap") && self.name_behind().is_some_and(|word| !AFTER_A_VALUE.contains(&word)) {
            let start = self.advance().span;
            let seen = self.name("the variable with what the image held")?;
            self.need_word("with")?;
            if !self.is_mark("{") {
                return self.expected("the fields that change, as `{held: true}`");
            }
            let with = self.primary()?;
            let span = start.to(with.span);
            return Ok(Expr { kind: ExprKind::Swap { seen, with: Box::new(with) }, span });
        }
        if self.is_word("perform") && PERFORMED.iter().any(|word| self.next_is_word(word)) {
            return self.perform();
        }
        self.postfix()
    }

    /// `perform read(a, n) as t of m`.
    pub(super) fn perform(&mut self) -> Parsed<Expr> {
        let start = self.advance().span;
        if !PERFORMED.iter().any(|word| self.is_word(word)) {
            return self.expected("`read`, `write` or `rmw`");
        }
        let what = self.name("`read`, `write` or `rmw`")?;
        let args = self.bracketed(Self::expression)?;
        let mut asker = None;
        if self.continues() && self.eat_word("as") {
            let thread = self.postfix()?;
            let node = if self.continues() && self.eat_word("of") { Some(self.postfix()?) } else { None };
            asker = Some(Asker::Thread(thread, node));
        } else if self.continues() && self.eat_word("for") {
            asker = Some(Asker::Program(self.postfix()?));
        }
        let span = start.to(self.previous_span());
        self.operator(span)?;
        Ok(Expr { kind: ExprKind::Perform(Box::new(Perform { what, args, asker })), span })
    }

    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        while self.continues() {
            let start = expr.span;
            let kind = if self.eat_mark(".") {
                ExprKind::Member(Box::new(expr), self.name("the name of a field, variable or method")?)
            } else if self.eat_mark("[") {
                self.nesting += 1;
                let index = self.expression();
                self.nesting -= 1;
                let index = index?;
                self.need_mark("]")?;
                ExprKind::Item(Box::new(expr), Box::new(index))
            } else if self.is_mark("(") {
                let args = self.bracketed(Self::expression)?;
                ExprKind::Call(Box::new(expr), args)
            } else {
                break;
            };
            expr = Expr { kind, span: start.to(self.previous_span()) };
            self.operator(expr.span)?;
        }
        Ok(expr)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.span();
        let kind = match self.token().kind.clone() {
            TokenKind::Int(i) => {
                self.advance();
                ExprKind::Int(i)
            }
            TokenKind::Mark("(") => {
                self.advance();
                self.nesting += 1;
                let inner = self.expression();
                self.nesting -= 1;
                let inner = inner?;
                self.need_mark(")")?;
                return Ok(Expr { kind: inner.kind, span: start.to(self.previous_span()) });
            }
            TokenKind::Mark("{") => self.braces()?,
            TokenKind::Name(word) => self.named(&word)?,
            _ => return self.expected("an expression"),
        };
        Ok(Expr { kind, span: start.to(self.previous_span()) })
    }

    /// `{a, b}`: a set; `{x: 1, y: 2}`: a record.
    fn braces(&mut self) -> Parsed<ExprKind> {
        self.advance();
        self.nesting += 1;
        let inner = self.inside_braces();
        self.nesting -= 1;
        let kind = inner?;
        self.need_mark("}")?;
        Ok(kind)
    }

    fn inside_braces(&mut self) -> Parsed<ExprKind> {
        if self.is_mark("}") {
            return Ok(ExprKind::Set(Vec::new()));
        }
        if self.next_is_mark(":") {
            let fields = self.listed(|p| {
                let name = p.name("the name of a field")?;
                p.need_mark(":")?;
                Ok((name, p.expression()?))
            })?;
            return Ok(ExprKind::Record(fields));
        }
        Ok(ExprKind::Set(self.listed(Self::expression)?))
    }

    fn named(&mut self, word: &str) -> Parsed<ExprKind> {
        let quantifier = match word {
            "all" => Some("all"),
            "any" => Some("any"),
            "count" => Some("count"),
            _ => None,
        };
        let colon_follows = matches!(self.tokens.get(self.at + 2).map(|t| &t.kind), Some(TokenKind::Mark(":")));
        if let (Some(quantifier), true) = (quantifier, colon_follows) {
            self.advance();
            let name = self.name("a name for the node")?;
            self.need_mark(":")?;
            return Ok(ExprKind::Over(quantifier, name, Box::new(self.expression()?)));
        }
        if word == "flight" && self.next_is_mark("(") {
            self.advance();
            self.advance();
            let message = self.name("the name of a message")?;
            let to = if self.eat_word("to") { Some(Box::new(self.expression()?)) } else { None };
            self.need_mark(")")?;
            return Ok(ExprKind::Flight(message, to));
        }
        if word == "leads_to" && self.next_is_mark("(") {
            self.advance();
            self.advance();
            let from = Box::new(self.expression()?);
            self.need_mark(",")?;
            let to = Box::new(self.expression()?);
            self.need_mark(")")?;
            return Ok(ExprKind::LeadsTo(from, to));
        }
        if matches!(word, "true" | "false" | "none") {
            self.advance();
            return Ok(ExprKind::Name(word.to_string()));
        }
        let name = self.name("an expression")?;
        if self.is_word("at") && self.continues() && !self.next_is_word("is") {
            self.advance();
            return Ok(ExprKind::At(name, Box::new(self.primary()?)));
        }
        Ok(ExprKind::Name(name.text))
    }
}
