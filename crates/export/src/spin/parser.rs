//! Reads a model.

use super::syntax::{Declared, Parameter, Program, Routine, Rule, Statement, Through, TypeExpr};
use super::tokens::{Token, tokens};

pub(super) type Parsed<T> = Result<T, String>;

/// Reads a model in the part of Murphi's language that [`crate::murphi`] uses; anything else is an error that names it.
pub(super) fn parse(text: &str) -> Parsed<Program> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0 };
    let mut program = Program::default();
    while parser.peek() != &Token::End {
        parser.part(&mut program)?;
    }
    Ok(program)
}

pub(super) struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
}

impl Parser {
    pub fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Word(w) if w == word)
    }

    fn is_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is_word(word))
    }

    pub fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Goes on if this sign or word comes next.
    pub fn take(&mut self, text: &str) -> bool {
        let found = self.is_sign(text) || self.is_word(text);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.take(text) { Ok(()) } else { Err(self.unexpected(text)) }
    }

    pub fn unexpected(&self, wanted: &str) -> String {
        format!("line {}: {wanted} expected before {:?}", self.tokens[self.at].1, self.peek())
    }

    pub fn name(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Token::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    fn text(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Token::Text(text) => {
                self.advance();
                Ok(text)
            }
            _ => Err(self.unexpected("a text")),
        }
    }

    fn number(&mut self) -> Parsed<i64> {
        let negative = self.take("-");
        match *self.peek() {
            Token::Number(number) => {
                self.advance();
                Ok(if negative { -number } else { number })
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// A section, a routine, a rule or an invariant.
    fn part(&mut self, program: &mut Program) -> Parsed<()> {
        let word = self.name()?;
        match word.as_str() {
            "const" => self.constants(program)?,
            "type" => program.types.extend(self.declarations()?),
            "var" => program.variables.extend(self.declarations()?),
            "function" | "procedure" => program.routines.push(self.routine()?),
            "ruleset" => self.ruleset(&[], &mut program.rules)?,
            "rule" => program.rules.push(self.rule(&[])?),
            "startstate" => {
                self.expect("begin")?;
                program.start = self.block()?;
                self.expect(";")?;
            }
            "invariant" => {
                let name = self.text()?;
                program.invariants.push((name, self.expression()?));
                self.expect(";")?;
            }
            _ => return Err(self.unexpected(&format!("nothing like `{word}`"))),
        }
        Ok(())
    }

    fn constants(&mut self, program: &mut Program) -> Parsed<()> {
        while !self.at_section() {
            let name = self.name()?;
            self.expect(":")?;
            program.constants.push((name, self.number()?));
            self.expect(";")?;
        }
        Ok(())
    }

    /// Whether something begins that is no declaration.
    fn at_section(&self) -> bool {
        let sections = [
            "const",
            "type",
            "var",
            "function",
            "procedure",
            "ruleset",
            "rule",
            "startstate",
            "invariant",
            "liveness",
            "begin",
        ];
        self.peek() == &Token::End || self.is_one_of(&sections)
    }

    fn declarations(&mut self) -> Parsed<Vec<Declared>> {
        let mut found = Vec::new();
        while !self.at_section() {
            found.push(self.declared()?);
            self.expect(";")?;
        }
        Ok(found)
    }

    pub fn declared(&mut self) -> Parsed<Declared> {
        let name = self.name()?;
        self.expect(":")?;
        Ok(Declared { name, ty: self.ty()? })
    }

    fn ty(&mut self) -> Parsed<TypeExpr> {
        if matches!(self.peek(), Token::Number(_)) || self.is_sign("-") {
            let least = self.number()?;
            self.expect("..")?;
            return Ok(TypeExpr::Range(least, self.number()?));
        }
        let name = self.name()?;
        match name.as_str() {
            "boolean" => Ok(TypeExpr::Boolean),
            "array" => {
                self.expect("[")?;
                let index = self.ty()?;
                self.expect("]")?;
                self.expect("of")?;
                Ok(TypeExpr::Array(Box::new(index), Box::new(self.ty()?)))
            }
            "record" => {
                let mut fields = Vec::new();
                while !self.take("end") {
                    fields.push(self.declared()?);
                    self.expect(";")?;
                }
                Ok(TypeExpr::Record(fields))
            }
            _ => Ok(TypeExpr::Name(name)),
        }
    }

    /// `var` and declarations, if there are any, and `begin`.
    fn locals(&mut self) -> Parsed<Vec<Declared>> {
        let found = if self.take("var") { self.declarations()? } else { Vec::new() };
        self.expect("begin")?;
        Ok(found)
    }

    fn routine(&mut self) -> Parsed<Routine> {
        let name = self.name()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.take(")") {
            let by_reference = self.take("var");
            parameters.push(Parameter { declared: self.declared()?, by_reference });
            self.take(";");
        }
        let result = if self.take(":") { Some(self.ty()?) } else { None };
        self.expect(";")?;
        let locals = self.locals()?;
        let body = self.block()?;
        self.expect(";")?;
        Ok(Routine { name, parameters, result, locals, body })
    }

    fn ruleset(&mut self, outer: &[Declared], rules: &mut Vec<Rule>) -> Parsed<()> {
        let mut parameters = outer.to_vec();
        while !self.take("do") {
            parameters.push(self.declared()?);
            self.take(";");
        }
        while !self.take("end") {
            if self.take("ruleset") {
                self.ruleset(&parameters, rules)?;
            } else {
                self.expect("rule")?;
                rules.push(self.rule(&parameters)?);
            }
        }
        self.expect(";")
    }

    fn rule(&mut self, parameters: &[Declared]) -> Parsed<Rule> {
        let name = self.text()?;
        let guard = self.expression()?;
        self.expect("==>")?;
        let locals = self.locals()?;
        let body = self.block()?;
        self.expect(";")?;
        Ok(Rule { name, parameters: parameters.to_vec(), guard, locals, body })
    }

    /// Statements and the `end` behind them.
    fn block(&mut self) -> Parsed<Vec<Statement>> {
        let found = self.statements()?;
        self.expect("end")?;
        Ok(found)
    }

    fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut found = Vec::new();
        while !self.is_one_of(&["end", "elsif", "else", "case"]) {
            found.push(self.statement()?);
            self.expect(";")?;
        }
        Ok(found)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        if self.take("if") {
            return self.choice();
        }
        if self.take("while") {
            let condition = self.expression()?;
            self.expect("do")?;
            return Ok(Statement::While(condition, self.block()?));
        }
        if self.take("for") {
            return self.repeat();
        }
        if self.take("switch") {
            return self.switch();
        }
        if self.take("clear") {
            return Ok(Statement::Clear(self.place()?));
        }
        if self.take("error") {
            return Ok(Statement::Error(self.text()?));
        }
        if self.take("assume") {
            return Ok(Statement::Assume(self.expression()?));
        }
        if self.take("return") {
            let value = if self.is_sign(";") { None } else { Some(self.expression()?) };
            return Ok(Statement::Return(value));
        }
        if matches!(self.tokens.get(self.at + 1), Some((Token::Sign("("), _))) {
            let name = self.name()?;
            return Ok(Statement::Call(name, self.arguments()?));
        }
        let place = self.place()?;
        self.expect(":=")?;
        Ok(Statement::Assign(place, self.expression()?))
    }

    /// Behind `if`.
    fn choice(&mut self) -> Parsed<Statement> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expression()?;
            self.expect("then")?;
            branches.push((condition, self.statements()?));
            if !self.take("elsif") {
                break;
            }
        }
        let otherwise = if self.take("else") { self.statements()? } else { Vec::new() };
        self.expect("end")?;
        Ok(Statement::If(branches, otherwise))
    }

    /// Behind `for`.
    fn repeat(&mut self) -> Parsed<Statement> {
        let name = self.name()?;
        let through = if self.take(":=") {
            let from = self.expression()?;
            self.expect("to")?;
            Through::Numbers(from, self.expression()?)
        } else {
            self.expect(":")?;
            Through::Type(self.ty()?)
        };
        self.expect("do")?;
        Ok(Statement::For(name, through, self.block()?))
    }

    /// Behind `switch`.
    fn switch(&mut self) -> Parsed<Statement> {
        let value = self.expression()?;
        let mut cases = Vec::new();
        while self.take("case") {
            let mut labels = vec![self.expression()?];
            while self.take(",") {
                labels.push(self.expression()?);
            }
            self.expect(":")?;
            cases.push((labels, self.statements()?));
        }
        self.expect("end")?;
        Ok(Statement::Switch(value, cases))
    }
}
