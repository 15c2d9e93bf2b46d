//! Scenarios, and the bodies of their threads.

use super::*;

impl Parser<'_> {
    pub(super) fn scenario(&mut self, start: Span) -> Parsed<Scenario> {
        let name = self.name("the scenario's name")?;
        let span = start.to(name.span);
        let homes = if self.eat_word("homes") { self.numbers_of_kinds()? } else { Vec::new() };
        let mut scenario = Scenario { name, homes, threads: Vec::new(), forbid: None, span };
        self.need_mark("{")?;
        while !self.is_mark("}") {
            if self.eat_word("forbid") {
                let outcome = self.expression()?;
                scenario.forbid = Some(match scenario.forbid.take() {
                    None => outcome,
                    // None of them may be seen.
                    Some(other) => {
                        let span = other.span.to(outcome.span);
                        Expr { kind: ExprKind::Binary("or", Box::new(other), Box::new(outcome)), span }
                    }
                });
            } else {
                self.need_word("at")?;
                let node = self.sum()?;
                scenario.threads.push((node, self.body()?));
            }
            self.eat_mark(";");
        }
        self.need_mark("}")?;
        Ok(scenario)
    }

    /// `{ statement; statement }` of a thread.
    pub(super) fn body(&mut self) -> Parsed<Vec<BodyStatement>> {
        self.deeper(|parser| parser.statements(Self::body_statement, true))
    }

    fn body_statement(&mut self) -> Parsed<BodyStatement> {
        let start = self.span();
        self.operators = 0;
        let kind = self.body_step()?;
        Ok(BodyStatement { kind, span: start.to(self.previous_span()) })
    }

    fn body_step(&mut self) -> Parsed<BodyForm> {
        let TokenKind::Name(word) = &self.token().kind else {
            return self.expected("`read(block)`, `write(block, value)`, a call or another statement");
        };
        match word.clone().as_str() {
            "let" => {
                self.advance();
                let name = self.name("a name")?;
                self.need_mark("=")?;
                Ok(BodyForm::Set { is_new: true, name, value: self.expression()? })
            }
            "if" => self.body_branch(),
            "loop" if self.next_is_mark("{") => {
                self.advance();
                Ok(BodyForm::Loop(self.body()?))
            }
            "until" if !self.next_is_mark("=") => {
                self.advance();
                Ok(BodyForm::Until(self.expression()?))
            }
            "break" if self.stands_alone() => {
                self.advance();
                Ok(BodyForm::Break)
            }
            "return" if !self.next_is_mark("=") => {
                self.advance();
                let ends = self.token().first || self.is_mark(";") || self.is_mark("}");
                Ok(BodyForm::Return(if ends { None } else { Some(self.expression()?) }))
            }
            "tell" if self.name_behind().is_some() => {
                self.advance();
                let event = self.name("the name of an event")?;
                Ok(BodyForm::Tell { event, args: self.bracketed(Self::expression)? })
            }
            "fence" if self.stands_alone() => {
                self.advance();
                Ok(BodyForm::Fence)
            }
            "assert" if !self.next_is_mark("=") => {
                self.advance();
                Ok(BodyForm::Assert(self.expression()?))
            }
            "ask" | "swap" if self.name_behind().is_some() => Ok(BodyForm::Look(self.expression()?)),
            _ => self.body_look(),
        }
    }

    fn body_branch(&mut self) -> Parsed<BodyForm> {
        self.advance();
        let condition = self.expression()?;
        let then = self.body()?;
        let otherwise = if !self.eat_word("else") {
            Vec::new()
        } else if self.is_word("if") {
            let start = self.span();
            let kind = self.deeper(Self::body_branch)?;
            vec![BodyStatement { kind, span: start.to(self.previous_span()) }]
        } else {
            self.body()?
        };
        Ok(BodyForm::If { condition, then, otherwise })
    }

    /// `r = e`, or an access or a call that stands alone.
    fn body_look(&mut self) -> Parsed<BodyForm> {
        if self.next_is_mark("=") {
            let name = self.name("a name")?;
            self.need_mark("=")?;
            return Ok(BodyForm::Set { is_new: false, name, value: self.expression()? });
        }
        let start = self.span();
        let name = self.name("`read(block)`, `write(block, value)` or a call")?;
        let args = self.bracketed(Self::expression)?;
        let function = Box::new(Expr { span: name.span, kind: ExprKind::Name(name.text) });
        let kind = ExprKind::Call(function, args);
        Ok(BodyForm::Look(Expr { kind, span: start.to(self.previous_span()) }))
    }
}
