//! Statements.

use super::declarations::Place;
use super::{Parse, Parser};
use crate::lex::Kind;
use crate::scope::Symbol;
use crate::tree::{Statement, StatementForm};

impl Parser<'_> {
    /// A statement whose tokens and whole expressions begin there and end here.
    fn statement_of(&self, form: StatementForm, (first, begun): (usize, usize)) -> Statement {
        Statement { form, first, last: self.at.max(first + 1) - 1, wholes: begun..self.wholes.len() }
    }

    /// Where a statement begins: its first token and its first whole expression.
    fn beginning(&self) -> (usize, usize) {
        (self.at, self.wholes.len())
    }

    /// `{ .. }`. `gives`: whether the last expression is the value of a statement expression.
    pub(super) fn compound(&mut self, gives: bool) -> Parse<Statement> {
        let beginning = self.beginning();
        self.expect("{")?;
        self.scopes.enter();
        let (depth, current) = (self.scopes.depth(), self.current.clone());
        let mut statements = Vec::new();
        while !self.is("}") {
            if self.kind() == Kind::End {
                return Err(self.expected("`}`"));
            }
            let begun = self.at;
            if let Ok(statement) = self.deeper(|parser| parser.item(gives)) {
                statements.push(statement);
            } else {
                self.scopes.leave_to(depth);
                self.in_middle = false;
                self.axis = None;
                self.current = current.clone();
                self.locals.clear();
                self.skip_statement(begun);
            }
        }
        self.at += 1;
        self.scopes.leave_to(depth - 1);
        Ok(self.statement_of(StatementForm::Block(statements), beginning))
    }

    /// Behind a statement that is wrong: behind its `;` or block, or before the `}` around it.
    fn skip_statement(&mut self, begun: usize) {
        self.at = self.at.max(begun);
        while self.kind() != Kind::End && !self.is("}") {
            if self.is("{") {
                self.skip_group();
                return;
            }
            self.at += 1;
            if self.word_at(self.at - 1) == ";" {
                return;
            }
        }
    }

    /// A declaration or statement of a block.
    fn item(&mut self, gives: bool) -> Parse<Statement> {
        let beginning = self.beginning();
        if self.is("__label__") {
            while !self.eat(";") {
                self.at += 1;
            }
        } else if !self.static_assertion()? && !self.shapes(false)? {
            self.early_qualifier();
            if !self.begins_declaration() {
                return self.statement(gives);
            }
            self.declaration(Place::Block)?;
            let locals = std::mem::take(&mut self.locals);
            if !locals.is_empty() {
                return Ok(self.statement_of(StatementForm::Parallel(locals), beginning));
            }
        }
        Ok(self.statement_of(StatementForm::Plain, beginning))
    }

    fn begins_declaration(&self) -> bool {
        if self.is("[") && self.is_next("[") && !self.is_c_star() {
            return self.word_at(self.at + 2) != "fallthrough";
        }
        let is_fallthrough =
            self.is_one_of(&["__attribute__", "__attribute"]) && self.word_at(self.at + 3).contains("fallthrough");
        let is_label = self.is_next(":") && self.kind() == Kind::Name && !self.is_parallel_at(self.at + 1);
        !is_fallthrough && self.is_type_at(self.at) && !is_label
    }

    fn statement(&mut self, gives: bool) -> Parse<Statement> {
        if self.is("{") {
            return self.compound(false);
        }
        let beginning = self.beginning();
        let form = self.statement_form(gives)?;
        Ok(self.statement_of(form, beginning))
    }

    fn statement_form(&mut self, gives: bool) -> Parse<StatementForm> {
        if let Some(form) = self.context()? {
            return Ok(form);
        }
        if self.kind() == Kind::Name && self.is_next(":") && self.is_label() {
            self.at += 2;
            self.attributes()?;
            return self.labelled(gives);
        }
        match self.word() {
            "if" => return self.branch(),
            "switch" | "while" => {
                self.at += 1;
                let condition = self.condition()?;
                return Ok(StatementForm::Condition { condition, inner: self.inner()? });
            }
            "do" => return self.do_loop(),
            "for" => return self.for_loop(),
            "case" => {
                self.at += 1;
                self.constant_or_range()?;
                self.expect(":")?;
                return self.labelled(gives);
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                return self.labelled(gives);
            }
            ";" | "break" | "continue" => self.at += usize::from(!self.is(";")),
            "goto" => self.jump()?,
            "return" => {
                self.at += 1;
                let mut value = None;
                if !self.is(";") {
                    self.full_expression()?;
                    value = Some(self.last_whole());
                }
                self.expect(";")?;
                return Ok(StatementForm::Return(value));
            }
            "asm" | "__asm__" | "__asm" => self.assembly(),
            "[" if self.is_c_star() => return self.expression_statement(gives),
            "__attribute__" | "__attribute" | "[" => {
                self.attributes()?;
            }
            _ => return self.expression_statement(gives),
        }
        self.expect(";")?;
        Ok(StatementForm::Plain)
    }

    /// `goto label`, or GNU's `goto *e`, without its `;`.
    fn jump(&mut self) -> Parse<()> {
        self.at += 1;
        if self.eat("*") {
            self.full_expression()?;
        } else {
            self.at += 1;
        }
        Ok(())
    }

    fn do_loop(&mut self) -> Parse<StatementForm> {
        self.at += 1;
        let inner = self.inner()?;
        self.expect("while")?;
        let condition = self.condition()?;
        self.expect(";")?;
        Ok(StatementForm::Condition { condition, inner })
    }

    /// Whether the name here and the `:` behind it are a label. `x := e` is none. What `:-` stores to is never a name alone, so that `out:-k` is one,
    /// unless there is a variable of that name: then nobody knows what is meant, and it is an error.
    fn is_label(&self) -> bool {
        let colon = self.at + 1;
        let is_value = matches!(self.scopes.find(self.word()), Some(Symbol::Value(_)));
        let is_switch = ["case", "default"].contains(&self.word());
        let is_move = self.is_pair(colon, ":", "=") || is_value && self.is_pair(colon, ":", "-");
        !is_switch && !is_move
    }

    /// What stands behind a label: a statement, or a declaration (C23), or the end of the block.
    fn labelled(&mut self, gives: bool) -> Parse<StatementForm> {
        let is_last = self.is("}");
        let inner = if is_last { None } else { Some(Box::new(self.deeper(|parser| parser.item(gives))?)) };
        Ok(StatementForm::Labelled(inner))
    }

    /// A statement inside another.
    pub(super) fn inner(&mut self) -> Parse<Box<Statement>> {
        self.deeper(|parser| parser.statement(false)).map(Box::new)
    }

    /// `( e )`; gives the expression's number.
    pub(super) fn condition(&mut self) -> Parse<usize> {
        self.expect("(")?;
        self.full_expression()?;
        self.expect(")")?;
        Ok(self.last_whole())
    }

    /// The number of the whole expression that has just been read.
    fn last_whole(&self) -> usize {
        self.wholes.len().saturating_sub(1)
    }

    /// `if .. else if .. else ..`, in a loop, since chains are long.
    fn branch(&mut self) -> Parse<StatementForm> {
        let mut branches = Vec::new();
        while self.eat("if") {
            let condition = self.condition()?;
            branches.push((condition, *self.inner()?));
            if !self.eat("else") {
                return Ok(StatementForm::If { branches, otherwise: None });
            }
        }
        Ok(StatementForm::If { branches, otherwise: Some(self.inner()?) })
    }

    /// A loop whose declaration has become several gets them before it, in a block of its own.
    fn for_loop(&mut self) -> Parse<StatementForm> {
        let keyword = self.at;
        self.at += 1;
        self.expect("(")?;
        self.scopes.enter();
        let depth = self.scopes.depth();
        self.has_split = false;
        if self.begins_declaration() {
            self.declaration(Place::Block)?;
            if let Some(local) = std::mem::take(&mut self.locals).first() {
                self.error(local.name, local.name, "a parallel variable is not declared in a loop's head")
                    .help("declare it before the loop");
            }
        } else {
            self.loop_part(";")?;
        }
        let is_apart = std::mem::take(&mut self.has_split);
        if is_apart {
            self.draft.edits.instead(keyword, "{");
            self.draft.edits.remove(keyword + 1);
            self.draft.edits.after(self.at - 1, " for (;");
        }
        let mut condition = None;
        if !self.is(";") {
            self.full_expression()?;
            condition = Some(self.last_whole());
        }
        self.expect(";")?;
        self.loop_part(")")?;
        let inner = self.inner()?;
        if is_apart {
            self.draft.edits.after(self.at - 1, " }");
        }
        self.scopes.leave_to(depth - 1);
        Ok(StatementForm::For { condition, inner })
    }

    /// An expression whose value is not used, if there is one, up to this mark.
    fn loop_part(&mut self, end: &str) -> Parse<()> {
        if !self.is(end) {
            let expression = self.expression()?;
            self.whole(expression, false);
        }
        self.expect(end)
    }

    fn expression_statement(&mut self, gives: bool) -> Parse<StatementForm> {
        let expression = self.expression()?;
        self.expect(";")?;
        let is_value = gives && self.is("}");
        if is_value {
            self.value_of_block = expression.ty.clone().value();
        }
        self.whole(expression, is_value);
        Ok(StatementForm::Expression(self.last_whole()))
    }
}
