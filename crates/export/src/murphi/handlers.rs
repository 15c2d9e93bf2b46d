//! Handlers, and for each role and event the choice among them.

use super::Export;
use super::lines::Lines;
use super::steps::Writer;
use trivium_protocol::{EventKind, Handler, HandlerId, Response, Role, RoleId, StateId, Type};

impl Export<'_> {
    pub fn handlers(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            for (h, handler) in role.handlers.iter().enumerate() {
                if let Some(column) = role.column(handler.event) {
                    self.handler(id, role, h, column, handler, out);
                }
            }
            for column in 0..role.events.len() {
                self.dispatch(id, role, column, out);
            }
        }
    }

    pub fn handler(&self, id: RoleId, role: &Role, h: usize, column: usize, handler: &Handler, out: &mut Lines) {
        let object = self.object_type(role.object);
        let arguments: String = (0..handler.args).map(|a| format!("; l{a}: Int")).collect();
        let mut writer = Writer::new(self, id, column, handler);
        out.comment(&format!("{}.{}", role.name, handler.name));
        if let Some(guard) = &handler.guard {
            let head = format!(
                "function guard{}_{h}(me: Node; o: {object}; sender: Node; thr: Int{arguments}): boolean",
                id.0
            );
            out.routine(&head, &[], |out| out.line(format!("return {};", writer.guard(guard))));
        }
        let mut body = Lines::default();
        writer.steps(&handler.steps, &mut body);
        let (locals, firsts) = self.locals(handler);
        let mut declared = vec!["before: Int".to_string()];
        declared.extend(locals);
        declared.extend(writer.declared.iter().cloned());
        for other in &writer.touched {
            let object = self.object_type(self.role(*other).object);
            declared.push(format!("touched{}: array [{object}] of boolean", other.0));
            declared.push(format!("before{}: array [{object}] of Int", other.0));
        }
        let head = format!(
            "procedure run{}_{h}(me: Node; o: {object}; sender: Node; thr: Int{arguments}; data: Int; at: Int; var fx: Effects)",
            id.0
        );
        out.routine(&head, &declared, |out| {
            out.line(format!("before := {}[me][o];", self.state_var(id)));
            firsts.iter().for_each(|first| out.line(first));
            for other in &writer.touched {
                let object = self.object_type(self.role(*other).object);
                let r = other.0;
                out.line(format!(
                    "for x: {object} do touched{r}[x] := false; before{r}[x] := {}[me][x]; end;",
                    self.state_var(*other)
                ));
            }
            out.include(body);
            out.line(format!("settle{}(me, o, before);", id.0));
            for other in &writer.touched {
                let object = self.object_type(self.role(*other).object);
                let r = other.0;
                out.line(format!("for x: {object} do if touched{r}[x] then settle{r}(me, x, before{r}[x]); end; end;"));
            }
        });
    }

    /// What makes the first records of roles that say so.
    pub fn initially(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            let Some(initially) = &role.initially else { continue };
            let mut writer = Writer::new(self, id, 0, initially);
            let mut body = Lines::default();
            writer.steps(&initially.steps, &mut body);
            let (mut declared, firsts) = self.locals(initially);
            declared.extend(writer.declared);
            out.comment(&format!("{}, initially", role.name));
            let head = format!("procedure begin{}(me: Node; o: {})", id.0, self.object_type(role.object));
            out.routine(&head, &declared, |out| {
                firsts.iter().for_each(|first| out.line(first));
                out.include(body);
                out.line(format!("settle{}(me, o, {});", id.0, self.state_name(id, StateId(0))));
            });
        }
    }

    /// The first records are made, before anything happens.
    pub fn begin_records(&self, out: &mut Lines) {
        for (id, role) in self.roles().filter(|(_, role)| role.initially.is_some()) {
            out.open(format!("for me: Node do for o: {} do", self.object_type(role.object)));
            let begin = format!("begin{}(me, o);", id.0);
            match self.lives(id, "me", "o").as_str() {
                "true" => out.line(begin),
                lives => out.line(format!("if {lives} then {begin} end;")),
            }
            out.close("end; end;");
        }
    }

    /// Declarations of a handler's locals behind its arguments, and their first values.
    pub(super) fn locals(&self, handler: &Handler) -> (Vec<String>, Vec<String>) {
        let mut names = Vec::new();
        for (l, local) in handler.locals.iter().enumerate().skip(handler.args as usize) {
            match &local.ty {
                Type::Record(_) => names.extend((0..self.fields(&local.ty).len()).map(|f| format!("l{l}_{f}"))),
                _ => names.push(format!("l{l}")),
            }
        }
        let firsts = names.iter().map(|name| format!("{name} := 0;")).collect();
        (names.iter().map(|name| format!("{name}: Int")).collect(), firsts)
    }

    /// What a role does about an event.
    fn dispatch(&self, id: RoleId, role: &Role, column: usize, out: &mut Lines) {
        let event = role.events[column];
        let arguments: String = (0..self.arguments_of(event).len()).map(|a| format!("; a{a}: Int")).collect();
        out.comment(&format!("{}: {}", role.name, self.protocol().event_name(event)));
        let head = format!(
            "procedure on{}_{column}(me: Node; o: {}; sender: Node; thr: Int{arguments}; data: Int; at: Int; var fx: Effects)",
            id.0,
            self.object_type(role.object)
        );
        out.routine(&head, &[], |out| {
            let lives = self.lives(id, "me", "o");
            if lives != "true" {
                out.line(format!("if !{lives} then error \"fault: the node has no such role for this object\"; end;"));
            }
            if self.protocol().cached && matches!(event, EventKind::Read | EventKind::Write) {
                let needed = if event == EventKind::Read { 1 } else { 2 };
                let answered = self.answered("o");
                out.line(format!("if tag(me, o) >= {needed} then fx.how := 1; {answered} return; end;"));
            }
            out.open(format!("switch {}[me][o]", self.state_var(id)));
            for (state, declared) in role.states.iter().enumerate() {
                out.open(format!("case {}:", self.state_name(id, StateId::at(state))));
                if event.wants().is_some_and(|wanted| declared.access >= wanted) {
                    out.line("fx.how := 1;");
                } else {
                    self.keep_places(event, id, state, out);
                    self.respond(id, column, &role.table[state][column], &declared.name, out);
                }
                out.close("");
            }
            out.close("end;");
        });
    }

    fn respond(&self, id: RoleId, column: usize, response: &Response, state: &str, out: &mut Lines) {
        match response {
            Response::Handle(handlers) => self.choose(id, column, handlers, out),
            Response::Defer => {
                self.keep_event(id, column, "a", out);
            }
            Response::Hold if matches!(self.role(id).events[column], EventKind::Message(_)) => {
                // One that is tried again goes back to its place.
                self.keep_event(id, column, "a", out);
            }
            Response::Hold => out.line("fx.how := 2;"),
            Response::Impossible | Response::Passes => {
                let event = self.protocol().event_name(self.role(id).events[column]);
                out.line(format!("error \"fault: {event} is impossible in {state}\";"));
            }
        }
    }

    /// The first handler whose guard holds.
    fn choose(&self, id: RoleId, column: usize, handlers: &[HandlerId], out: &mut Lines) {
        let event = self.role(id).events[column];
        let arguments: String = (0..self.arguments_of(event).len()).map(|a| format!(", a{a}")).collect();
        let run = |h: &HandlerId| format!("run{}_{}(me, o, sender, thr{arguments}, data, at, fx);", id.0, h.0);
        let guarded = |h: &&HandlerId| self.role(id).handlers[h.index()].guard.is_some();
        let mut depth = 0;
        for h in handlers.iter().take_while(guarded) {
            out.open(format!("if guard{}_{}(me, o, sender, thr{arguments}) then", id.0, h.0));
            out.line(run(h));
            out.middle("else");
            depth += 1;
        }
        match handlers.iter().find(|h| !guarded(h)) {
            Some(h) => out.line(run(h)),
            None => out.line("error \"fault: nothing answers this event\";"),
        }
        (0..depth).for_each(|_| out.close("end;"));
    }
}
