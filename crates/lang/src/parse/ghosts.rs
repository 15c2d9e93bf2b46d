//! Ghosts: what claims remember of accesses, calls and what handlers tell them.

use super::*;
use trivium_diagnostic::Code;

impl Parser<'_> {
    /// What follows `ghost`: `NAME of KIND { var ..; on EVENT { .. } }`.
    pub(super) fn ghost(&mut self) -> Parsed<Ghost> {
        let name = self.name("the ghost's name")?;
        self.need_word("of")?;
        let of = self.name("a kind of object")?;
        self.need_mark("{")?;
        let mut ghost = Ghost { name, of, vars: Vec::new(), actions: Vec::new(), clauses: Vec::new() };
        while !self.is_mark("}") && !self.at_end() {
            let before = self.at;
            if self.ghost_member(&mut ghost).is_err() {
                self.skip_member(before);
            }
            self.eat_mark(";");
        }
        self.need_mark("}")?;
        Ok(ghost)
    }

    fn ghost_member(&mut self, ghost: &mut Ghost) -> Parsed<()> {
        self.operators = 0;
        if self.eat_word("var") {
            return self.variables(&mut ghost.vars);
        }
        if self.eat_word("action") {
            ghost.actions.push(self.action()?);
            return Ok(());
        }
        if !self.eat_word("on") {
            return self.expected("`var`, `action NAME(..) { .. }` or `on EVENT { .. }`");
        }
        let returned = self.eat_word("return");
        let event = self.event()?;
        if self.is_word("when") {
            let span = self.span();
            self.diagnostics
                .error(Code::Syntax, span, "a ghost sees every such event")
                .help("write `if` in its braces");
            return Err(Lost);
        }
        ghost.clauses.push(GhostClause { returned, event, body: self.block()? });
        Ok(())
    }
}
