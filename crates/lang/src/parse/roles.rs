//! Roles: their heads, their members, and what extends them.

use super::*;
use trivium_diagnostic::Code;

/// What a member of a role may be.
const MEMBERS: &str = "`var`, `initially`, `action`, `task`, `state`, `in` or `otherwise`";

impl Parser<'_> {
    pub(super) fn role(&mut self) -> Parsed<Role> {
        let name = self.name("the role's name")?;
        self.need_word("of")?;
        let of = self.name("a kind of object")?;
        let mut role = Role::new(name, of);
        self.role_head(&mut role)?;
        self.members(|p| p.role_member(&mut role, false))?;
        Ok(role)
    }

    /// What follows `extend`: `role R of K .. { .. }`, where all behind R need not be said again.
    pub(super) fn extension(&mut self, start: Span) -> Parsed<Extension> {
        self.need_word("role")?;
        let name = self.name("the name of a role of the used file")?;
        let span = start.to(name.span);
        let of = if self.eat_word("of") { Some(self.name("a kind of object")?) } else { None };
        let mut added = Role::new(name.clone(), of.clone().unwrap_or_else(|| name.clone()));
        let mut replaced = added.clone();
        self.role_head(&mut added)?;
        self.members(|p| {
            if p.eat_word("replace") {
                if p.is_word("in") { p.role_member(&mut added, true) } else { p.role_member(&mut replaced, true) }
            } else {
                p.role_member(&mut added, false)
            }
        })?;
        Ok(Extension { added, of, replaced, span })
    }

    /// `everywhere defers up to N else stall`.
    fn role_head(&mut self, role: &mut Role) -> Parsed<()> {
        role.everywhere = self.eat_word("everywhere");
        if self.eat_word("defers") {
            self.need_word("up")?;
            self.need_word("to")?;
            role.defers = Some(self.sum()?);
            if self.eat_word("else") {
                self.need_word("stall")?;
                role.pushes_back = true;
            }
        }
        Ok(())
    }

    /// `{ member; member }`. Each member that cannot be read is noted and passed over.
    fn members(&mut self, mut member: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        self.need_mark("{")?;
        while !self.is_mark("}") && !self.at_end() {
            let before = self.at;
            if member(self).is_err() {
                self.skip_member(before);
            }
            self.eat_mark(";");
        }
        self.need_mark("}")?;
        Ok(())
    }

    /// What follows `var`: `a, b: TYPE = FIRST`.
    pub(super) fn variables(&mut self, vars: &mut Vec<Var>) -> Parsed<()> {
        let names = self.listed(|p| p.name("the variable's name"))?;
        self.need_mark(":")?;
        let ty = self.ty()?;
        let initial = if self.eat_mark("=") { Some(self.expression()?) } else { None };
        vars.extend(names.into_iter().map(|name| Var { name, ty: ty.clone(), initial: initial.clone() }));
        Ok(())
    }

    fn role_member(&mut self, role: &mut Role, replaces: bool) -> Parsed<()> {
        self.operators = 0;
        if self.eat_word("var") {
            self.variables(&mut role.vars)?;
        } else if self.eat_word("action") {
            role.actions.push(self.action()?);
        } else if self.eat_word("task") {
            role.tasks.push(self.action()?);
        } else if self.is_word("initially") {
            let span = self.advance().span;
            let initially = Initially { body: self.block()?, span };
            if role.initially.replace(initially).is_some() {
                self.diagnostics
                    .error(Code::Syntax, span, "the role says already what is so initially")
                    .help("put both into one");
            }
        } else if self.eat_word("state") {
            role.states.extend(self.states()?);
        } else if self.is_word("otherwise") {
            role.otherwise = self.only_otherwise(role.otherwise)?;
        } else if self.eat_word("in") {
            self.in_clause(role, replaces)?;
        } else if self.is_word("replace") && !replaces {
            let span = self.advance().span;
            self.diagnostics
                .error(Code::Syntax, span, "there is nothing to replace here")
                .help("`replace` stands in `extend role R { .. }`, before what a used file declares");
            return Err(Lost);
        } else {
            return self.expected(MEMBERS);
        }
        Ok(())
    }

    /// What follows `in`: `STATE, STATE on EVENT, EVENT when GUARD { .. }`. Without a guard and with `impossible` it takes an answer back.
    fn in_clause(&mut self, role: &mut Role, replaces: bool) -> Parsed<()> {
        let words = if replaces { 2 } else { 1 };
        let start = self.tokens[self.at.saturating_sub(words)].span;
        let states = self.listed(Self::state_name)?;
        let clause = self.clause()?;
        let whole = start.to(clause.whole);
        let takes_back =
            !replaces && clause.guard.is_none() && matches!(clause.body, Body::Otherwise(Otherwise::Impossible));
        if takes_back {
            for state in states {
                let events = clause.events.iter().map(|e| e.name.clone()).collect();
                role.exceptions.push(Exception { span: whole, state, events });
            }
        } else {
            if role.clauses.is_empty() {
                role.clauses.push(Vec::new());
            }
            role.clauses[0].push(InClause { states, clause: Clause { whole, ..clause }, replaces });
        }
        Ok(())
    }

    /// The name of any state, as reports write it: `Idle`, `Clean.write.Owned(none)`.
    fn state_name(&mut self) -> Parsed<Ident> {
        let mut name = self.name("a state's name")?;
        loop {
            let mark = if self.eat_mark(".") {
                '.'
            } else if self.eat_mark("|") {
                '|'
            } else {
                break;
            };
            name.text.push(mark);
            match self.token().kind {
                // The second and later waits of the same name are numbered.
                TokenKind::Int(number) => {
                    self.advance();
                    name.text.push_str(&number.to_string());
                }
                _ => name.text.push_str(&self.name("a part of a state's name")?.text),
            }
        }
        if self.eat_mark("(") {
            let access = self.access_word()?;
            self.need_mark(")")?;
            name.text.push_str(&format!("({})", access.text));
        }
        name.span = name.span.to(self.previous_span());
        Ok(name)
    }

    pub(super) fn action(&mut self) -> Parsed<Action> {
        let name = self.name("a name")?;
        let params = self.bracketed(Self::field)?;
        Ok(Action { name, params, body: self.block()? })
    }

    /// `otherwise defer | stall | impossible`, or nothing.
    pub(super) fn otherwise(&mut self) -> Parsed<Option<(Otherwise, Span)>> {
        if !self.is_word("otherwise") {
            return Ok(None);
        }
        let span = self.advance().span;
        let what = if self.eat_word("defer") {
            Otherwise::Defer
        } else if self.eat_word("impossible") {
            Otherwise::Impossible
        } else if self.eat_word("stall") {
            Otherwise::Stall
        } else {
            return self.expected("`defer`, `stall` or `impossible`");
        };
        Ok(Some((what, span.to(self.previous_span()))))
    }

    /// An `otherwise` line, of which there may be one.
    fn only_otherwise(&mut self, before: Option<(Otherwise, Span)>) -> Parsed<Option<(Otherwise, Span)>> {
        let found = self.otherwise()?;
        if let (Some(_), Some((_, span))) = (before, found) {
            self.diagnostics
                .error(Code::Syntax, span, "there is already an `otherwise` here")
                .help("remove one of them");
        }
        Ok(found)
    }

    /// `NAME, NAME: ACCESS { .. }`, `NAME: keeps { .. }`: states with the same access and the same clauses.
    fn states(&mut self) -> Parsed<Vec<State>> {
        let names = self.listed(|p| p.name("the state's name"))?;
        let (mut access, mut keeps) = (None, None);
        if self.eat_mark(":") {
            if self.is_word("keeps") {
                keeps = Some(self.advance().span);
            } else if self.is_word("none") || self.is_word("read") || self.is_word("write") {
                access = Some(self.access_word()?);
            } else {
                return self.expected("`read`, `write`, `none` or `keeps`");
            }
        }
        let written = self.state_body()?;
        let named = |name| State { name, access: access.clone(), keeps, ..written.clone() };
        Ok(names.into_iter().map(named).collect())
    }

    /// The clauses of a state whose name is not known yet.
    fn state_body(&mut self) -> Parsed<State> {
        let name = Ident { text: String::new(), span: self.span() };
        let mut state = State { name, access: None, keeps: None, clauses: Vec::new(), otherwise: None };
        if !self.is_mark("{") {
            return Ok(state);
        }
        self.need_mark("{")?;
        while !self.is_mark("}") && !self.at_end() {
            let before = self.at;
            let parsed = if self.is_word("on") {
                self.clause().map(|clause| state.clauses.push(clause))
            } else if self.is_word("otherwise") {
                self.only_otherwise(state.otherwise).map(|o| state.otherwise = o)
            } else {
                self.expected("`on EVENT {..}` or `otherwise`")
            };
            if parsed.is_err() {
                self.skip_member(before);
            }
            self.eat_mark(";");
        }
        self.need_mark("}")?;
        Ok(state)
    }

    /// `none`, `read` or `write`; `none` is otherwise reserved.
    pub(super) fn access_word(&mut self) -> Parsed<Ident> {
        if self.is_word("none") || self.is_word("read") || self.is_word("write") {
            let span = self.span();
            let text = match &self.advance().kind {
                TokenKind::Name(text) => text.clone(),
                _ => unreachable!("a word was seen"),
            };
            return Ok(Ident { text, span });
        }
        self.expected("an access: `none`, `read` or `write`")
    }

    pub(super) fn clause(&mut self) -> Parsed<Clause> {
        self.operators = 0;
        let start = self.need_word("on")?;
        let events = self.listed(Self::event)?;
        let guard = if self.eat_word("when") { Some(self.expression()?) } else { None };
        let span = start.to(self.previous_span());
        let body = if self.eat_word("as") {
            Body::As(self.name("the name of a message")?)
        } else if self.eat_word("defer") {
            Body::Otherwise(Otherwise::Defer)
        } else if self.eat_word("impossible") {
            Body::Otherwise(Otherwise::Impossible)
        } else if self.eat_word("stall") {
            Body::Otherwise(Otherwise::Stall)
        } else {
            Body::Steps(self.block()?)
        };
        Ok(Clause { events, guard, body, span, whole: start.to(self.previous_span()) })
    }

    pub(super) fn event(&mut self) -> Parsed<Event> {
        if self.is_word("after") && (self.next_is_mark(",") || self.next_is_word("impossible")) {
            return Ok(Event { name: self.name("an event")?, args: None, after: None });
        }
        let name = self.name(
            "an event: `read`, `write`, `evict`, `writeback`, `prefetch`, `after T`, a message, a call or a task",
        )?;
        if name.text == "after" {
            let time = self.sum()?;
            return Ok(Event { name, args: None, after: Some(time) });
        }
        let args = if self.is_mark("(") { Some(self.bracketed(|p| p.name("a name for the argument"))?) } else { None };
        Ok(Event { name, args, after: None })
    }
}
