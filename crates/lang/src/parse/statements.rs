//! What stands in the braces of a handler.

use super::*;
use trivium_diagnostic::Code;
use trivium_protocol::nearest;

impl Parser<'_> {
    /// `{ statement; statement }`. Each statement that cannot be read is noted and passed over.
    pub(super) fn block(&mut self) -> Parsed<Vec<Statement>> {
        self.deeper(|parser| parser.statements(Self::statement, false))
    }

    /// Statements of some kind between braces. `braces_end`: nothing is needed between one that ends with a brace and the next.
    pub(super) fn statements<T>(&mut self, statement: fn(&mut Self) -> Parsed<T>, braces_end: bool) -> Parsed<Vec<T>> {
        self.need_mark("{")?;
        let nesting = std::mem::take(&mut self.nesting);
        let mut statements = Vec::new();
        while !self.is_mark("}") && !self.at_end() {
            let before = self.at;
            match statement(self) {
                Ok(statement) => {
                    statements.push(statement);
                    let is_ended = braces_end && self.is_behind_brace();
                    if !self.eat_mark(";") && !self.is_mark("}") && !self.token().first && !is_ended {
                        let _ = self.expected::<()>("`;`, a new line or `}`");
                        self.skip_statement(before);
                    }
                }
                Err(Lost) => {
                    self.skip_statement(before);
                    if self.at == before {
                        self.advance();
                    }
                }
            }
            while self.eat_mark(";") {}
        }
        self.nesting = nesting;
        self.need_mark("}")?;
        Ok(statements)
    }

    fn is_behind_brace(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        before.is_some_and(|token| matches!(token.kind, TokenKind::Mark("}")))
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        self.operators = 0;
        let kind = self.statement_kind()?;
        Ok(Statement { kind, span: start.to(self.previous_span()) })
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        let word = match &self.token().kind {
            TokenKind::Name(n) => n.clone(),
            _ => return self.expected("a statement"),
        };
        let plain = |kind| Ok(kind);
        match word.as_str() {
            "let" => {
                self.advance();
                let name = self.name("a name")?;
                self.need_mark("=")?;
                if self.is_word("take") && self.names_line() {
                    return Ok(StatementKind::LetTake { name, line: self.line_state() });
                }
                Ok(StatementKind::Let { name, value: self.expression()? })
            }
            "if" => self.branch(),
            "for" => self.each(),
            "send" => self.send(),
            "goto" => {
                self.advance();
                Ok(StatementKind::Goto(self.name("the name of a state")?))
            }
            "lower" => {
                self.advance();
                Ok(StatementKind::Lower(self.access_word()?))
            }
            "return" => self.give_back(),
            "start" => {
                self.advance();
                let task = self.name("the name of a task")?;
                Ok(StatementKind::Start { task, args: self.bracketed(Self::expression)? })
            }
            "install" => {
                self.advance();
                let to = !self.token().first && self.eat_word("to");
                if to {
                    return Ok(StatementKind::InstallOwn { at: self.expression()? });
                }
                let at = if self.eat_word("at") { Some(self.expression()?) } else { None };
                Ok(StatementKind::Install { at })
            }
            "copy" => {
                self.advance();
                let from = self.expression()?;
                self.need_word("to")?;
                let to = self.expression()?;
                self.need_mark(",")?;
                Ok(StatementKind::Copy { from, to, bytes: self.expression()? })
            }
            "perform" => {
                let access = self.perform()?;
                let other_end = if self.token().first {
                    None
                } else if self.eat_word("to") {
                    Some(OtherEnd::To(self.expression()?))
                } else if self.is_word("from") && self.next_is_word("payload") {
                    self.advance();
                    self.advance();
                    Some(OtherEnd::Payload)
                } else if self.eat_word("from") {
                    Some(OtherEnd::From(self.expression()?))
                } else {
                    None
                };
                Ok(StatementKind::Perform { access, other_end })
            }
            "invoke" if matches!(self.tokens.get(self.at + 1).map(|t| &t.kind), Some(TokenKind::Name(_))) => {
                self.diagnostics
                    .error(
                        Code::Syntax,
                        self.span(),
                        "`invoke` is no statement: no backend runs a function of the program in a handler",
                    )
                    .help(
                        "let the handler answer the program, by `return` or `complete`, and the program call it then",
                    );
                Err(Lost)
            }
            "free" if self.name_behind().is_some() => {
                self.advance();
                Ok(StatementKind::Free(self.expression()?))
            }
            "assert" => {
                self.advance();
                Ok(StatementKind::Assert(self.expression()?))
            }
            "await" => self.await_(),
            "complete" if self.next_is_word("with") || self.next_is_word("to") => {
                self.advance();
                let value = if self.eat_word("with") { Some(self.expression()?) } else { None };
                self.need_word("to")?;
                Ok(StatementKind::CompleteWith { value, to: self.sum()? })
            }
            "resume" | "complete" | "defer" | "stall" | "yield" | "impossible" => {
                self.advance();
                plain(match word.as_str() {
                    "resume" => StatementKind::Resume,
                    "complete" => StatementKind::Complete,
                    "defer" => StatementKind::Defer,
                    "stall" => StatementKind::Stall,
                    "yield" => StatementKind::Yield,
                    _ => StatementKind::Impossible,
                })
            }
            "fill" if self.names_line() => {
                let line = self.line_state();
                let fields = if self.is_mark("{") { Some(self.expression()?) } else { None };
                plain(StatementKind::Fill(line, fields))
            }
            "take" if self.names_line() => {
                let line = self.line_state();
                plain(StatementKind::Take(line))
            }
            "upgrade" | "invalidate" if self.stands_alone() => {
                self.advance();
                plain(if word == "upgrade" { StatementKind::Upgrade } else { StatementKind::Invalidate })
            }
            _ => self.assign_or_call(),
        }
    }

    /// Whether `shared` or `exclusive` follows the present word.
    fn names_line(&self) -> bool {
        self.next_is_word("shared") || self.next_is_word("exclusive")
    }

    /// The present word, and `shared` or `exclusive` after it, of which one is there.
    fn line_state(&mut self) -> LineState {
        self.advance();
        if self.eat_word("shared") {
            return LineState::Shared;
        }
        self.advance();
        LineState::Exclusive
    }

    /// Whether the present word is a whole statement: words such as `invalidate` also name actions and variables.
    pub(super) fn stands_alone(&self) -> bool {
        let next = self.tokens.get(self.at + 1);
        next.is_none_or(|token| token.first || matches!(token.kind, TokenKind::Mark(";" | "}")))
    }

    fn assign_or_call(&mut self) -> Parsed<StatementKind> {
        let target = self.postfix()?;
        let sign = if self.eat_mark("=") {
            AssignSign::Set
        } else if self.eat_mark("+=") {
            AssignSign::Plus
        } else if self.eat_mark("-=") {
            AssignSign::Minus
        } else if matches!(target.kind, ExprKind::Call(..)) {
            return Ok(StatementKind::Call(target));
        } else if let ExprKind::Name(word) = &target.kind
            && (self.token().first || matches!(self.token().kind, TokenKind::Name(_) | TokenKind::Mark(";" | "}")))
        {
            return self.no_statement(word, target.span);
        } else {
            return self.expected("`=`, `+=`, `-=` or `(`");
        };
        Ok(StatementKind::Assign { target, sign, value: self.expression()? })
    }

    /// A word that begins no statement.
    fn no_statement<T>(&mut self, word: &str, span: Span) -> Parsed<T> {
        let error = self.diagnostics.error(Code::Syntax, span, format!("there is no statement `{word}`"));
        let near = nearest(word, STATEMENTS.iter().copied()).map(|near| format!("did you mean `{near}`?"));
        let none =
            "a statement assigns (`n = 1`), calls an action (`tell()`), or begins with a word as `send` or `goto`";
        error.help(elsewhere(word).map(str::to_string).or(near).unwrap_or_else(|| none.into()));
        Err(Lost)
    }

    fn branch(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let condition = self.expression()?;
        let then = self.block()?;
        let otherwise = if !self.eat_word("else") {
            Vec::new()
        } else if self.is_word("if") {
            let start = self.span();
            let kind = self.deeper(Self::branch)?;
            vec![Statement { kind, span: start.to(self.previous_span()) }]
        } else {
            self.block()?
        };
        Ok(StatementKind::If { condition, then, otherwise })
    }

    fn each(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let name = self.name("a name")?;
        self.need_word("in")?;
        let first = self.sum()?;
        let over = if self.eat_mark("..") { Over::Range(first, self.sum()?) } else { Over::Each(first) };
        let start = self.span();
        if !self.eat_word("while") {
            return Ok(StatementKind::For { name, over, body: self.block()? });
        }
        let (condition, then) = (self.expression()?, self.block()?);
        let span = start.to(self.previous_span());
        let otherwise = vec![Statement { kind: StatementKind::Stop, span }];
        let asks = Statement { kind: StatementKind::If { condition, then, otherwise }, span };
        Ok(StatementKind::For { name, over, body: vec![asks] })
    }

    fn send(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let message = self.name("the name of a message")?;
        let args = self.bracketed(Self::expression)?;
        let mut with = With::Declared;
        let mut of = None;
        loop {
            if self.eat_word("with") {
                with = if self.eat_word("block") {
                    // A block may be called `to`: `with block to to home`.
                    let is_called_to = self.is_word("to") && self.next_is_word("to");
                    let ends = !is_called_to && ["to", "of", "with"].iter().any(|word| self.is_word(word));
                    With::Block(if ends { None } else { Some(self.sum()?) })
                } else if self.eat_word("payload") {
                    With::Payload
                } else if self.eat_word("list") {
                    With::List(self.postfix()?)
                } else if self.is_word("perform") {
                    With::Performed(self.perform()?)
                } else if self.eat_word("own") {
                    let (from, to) = self.bounds()?;
                    With::Own(from, to)
                } else {
                    self.need_word("memory")?;
                    let (from, to) = self.bounds()?;
                    With::Memory(from, to)
                };
            } else if self.eat_word("of") {
                of = Some(self.sum()?);
            } else {
                break;
            }
        }
        self.need_word("to")?;
        Ok(StatementKind::Send { message, args, with, of, to: self.sum()? })
    }

    /// `[a..b]`.
    fn bounds(&mut self) -> Parsed<(Expr, Expr)> {
        self.need_mark("[")?;
        self.nesting += 1;
        let from = self.sum();
        let both = from.and_then(|from| {
            self.need_mark("..")?;
            Ok((from, self.sum()?))
        });
        self.nesting -= 1;
        let both = both?;
        self.need_mark("]")?;
        Ok(both)
    }

    fn give_back(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let ends = self.token().first || self.is_mark(";") || self.is_mark("}");
        let value = if ends || self.is_word("to") { None } else { Some(self.expression()?) };
        let to = if !self.token().first && self.eat_word("to") { Some(self.sum()?) } else { None };
        Ok(StatementKind::Return { value, to })
    }

    fn await_(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let mut arms = vec![self.arm()?];
        while self.eat_word("or") {
            arms.push(self.arm()?);
        }
        let mut clauses = Vec::new();
        while self.is_word("while") {
            let start = self.advance().span;
            self.need_word("waiting")?;
            let clause = self.clause()?;
            clauses.push(Clause { whole: start.to(clause.whole), ..clause });
        }
        let otherwise = self.otherwise()?;
        Ok(StatementKind::Await(Await { arms, clauses, otherwise }))
    }

    fn arm(&mut self) -> Parsed<Arm> {
        let all = self.eat_word("all");
        let message = self.name("the name of a message")?;
        let args = if self.is_mark("(") { Some(self.bracketed(|p| p.name("a name for the argument"))?) } else { None };
        let from = if self.eat_word("from") { Some(self.sum()?) } else { None };
        Ok(Arm { all, message, args, from, body: self.block()? })
    }
}
