//! Statements.

use super::declarations::Place;
use super::{Parse, Parser};
use crate::lex::Kind;
use crate::scope::Symbol;

impl Parser<'_> {
    /// `{ .. }`. `gives`: whether the last expression is the value of a statement expression.
    pub(super) fn compound(&mut self, gives: bool) -> Parse<()> {
        self.expect("{")?;
        self.scopes.enter();
        let depth = self.scopes.depth();
        while !self.is("}") {
            if self.kind() == Kind::End {
                return Err(self.expected("`}`"));
            }
            let begun = self.at;
            if self.deeper(|parser| parser.item(gives)).is_err() {
                self.scopes.leave_to(depth);
                self.in_middle = false;
                self.skip_statement(begun);
            }
        }
        self.at += 1;
        self.scopes.leave_to(depth - 1);
        Ok(())
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
    fn item(&mut self, gives: bool) -> Parse<()> {
        if self.is("__label__") {
            while !self.eat(";") {
                self.at += 1;
            }
            return Ok(());
        }
        if self.static_assertion()? {
            return Ok(());
        }
        self.early_qualifier();
        if self.begins_declaration() { self.declaration(Place::Block) } else { self.statement(gives) }
    }

    fn begins_declaration(&self) -> bool {
        if self.is("[") && self.is_next("[") {
            return self.word_at(self.at + 2) != "fallthrough";
        }
        let is_fallthrough =
            self.is_one_of(&["__attribute__", "__attribute"]) && self.word_at(self.at + 3).contains("fallthrough");
        !is_fallthrough && self.is_type_at(self.at) && !(self.is_next(":") && self.kind() == Kind::Name)
    }

    fn statement(&mut self, gives: bool) -> Parse<()> {
        if self.kind() == Kind::Name && self.is_next(":") && self.is_label() {
            self.at += 2;
            self.attributes()?;
            return self.labelled(gives);
        }
        match self.word() {
            "{" => self.compound(false),
            ";" => {
                self.at += 1;
                Ok(())
            }
            "if" => self.branch(),
            "switch" | "while" => {
                self.at += 1;
                self.condition()?;
                self.inner()
            }
            "do" => {
                self.at += 1;
                self.inner()?;
                self.expect("while")?;
                self.condition()?;
                self.expect(";")
            }
            "for" => self.for_loop(),
            "case" => {
                self.at += 1;
                self.constant_or_range()?;
                self.expect(":")?;
                self.labelled(gives)
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                self.labelled(gives)
            }
            "goto" => {
                self.at += 1;
                if self.eat("*") {
                    self.full_expression()?;
                } else {
                    self.at += 1;
                }
                self.expect(";")
            }
            "break" | "continue" => {
                self.at += 1;
                self.expect(";")
            }
            "return" => {
                self.at += 1;
                if !self.is(";") {
                    self.full_expression()?;
                }
                self.expect(";")
            }
            "asm" | "__asm__" | "__asm" => {
                self.assembly();
                self.expect(";")
            }
            "__attribute__" | "__attribute" | "[" => {
                self.attributes()?;
                self.expect(";")
            }
            _ => self.expression_statement(gives),
        }
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
    fn labelled(&mut self, gives: bool) -> Parse<()> {
        if self.is("}") { Ok(()) } else { self.deeper(|parser| parser.item(gives)) }
    }

    /// A statement inside another.
    fn inner(&mut self) -> Parse<()> {
        self.deeper(|parser| parser.statement(false))
    }

    fn condition(&mut self) -> Parse<()> {
        self.expect("(")?;
        self.full_expression()?;
        self.expect(")")
    }

    /// `if .. else if .. else ..`, in a loop, since chains are long.
    fn branch(&mut self) -> Parse<()> {
        while self.eat("if") {
            self.condition()?;
            self.inner()?;
            if !self.eat("else") {
                return Ok(());
            }
        }
        self.inner()
    }

    /// A loop whose declaration has become several gets them before it, in a block of its own.
    fn for_loop(&mut self) -> Parse<()> {
        let keyword = self.at;
        self.at += 1;
        self.expect("(")?;
        self.scopes.enter();
        let depth = self.scopes.depth();
        self.has_split = false;
        if self.begins_declaration() {
            self.declaration(Place::Block)?;
        } else {
            self.loop_part(";")?;
        }
        let is_apart = std::mem::take(&mut self.has_split);
        if is_apart {
            self.draft.edits.instead(keyword, "{");
            self.draft.edits.remove(keyword + 1);
            self.draft.edits.after(self.at - 1, " for (;");
        }
        if !self.is(";") {
            self.full_expression()?;
        }
        self.expect(";")?;
        self.loop_part(")")?;
        self.inner()?;
        if is_apart {
            self.draft.edits.after(self.at - 1, " }");
        }
        self.scopes.leave_to(depth - 1);
        Ok(())
    }

    /// An expression whose value is not used, if there is one, up to this mark.
    fn loop_part(&mut self, end: &str) -> Parse<()> {
        if !self.is(end) {
            let expression = self.expression()?;
            self.whole(&expression, false);
        }
        self.expect(end)
    }

    fn expression_statement(&mut self, gives: bool) -> Parse<()> {
        let expression = self.expression()?;
        self.expect(";")?;
        let is_value = gives && self.is("}");
        if is_value {
            self.value_of_block = expression.ty.clone().value();
        }
        self.whole(&expression, is_value);
        Ok(())
    }
}
