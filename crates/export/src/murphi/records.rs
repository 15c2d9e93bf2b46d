//! Records: the state and variables of a role, its defer space, what happens to them when a handler ends.

use super::Export;
use super::lines::Lines;
use trivium_protocol::{Access, EventKind, NODE, Named, PayloadShape, Role, RoleId, RoleKind, StateId, Type};

impl Export<'_> {
    /// Whether a node has an instance of a role for an object.
    pub fn lives(&self, role: RoleId, node: &str, object: &str) -> String {
        let nodes = self.model.nodes;
        match self.role(role).kind {
            RoleKind::Home | RoleKind::Ghost => format!("({object} % {nodes} = {node})"),
            RoleKind::Elsewhere => format!("({object} % {nodes} != {node})"),
            RoleKind::Everywhere | RoleKind::Agent => "true".into(),
        }
    }

    pub fn arguments_of(&self, event: EventKind) -> &[Named] {
        let protocol = self.model.protocol();
        match event {
            EventKind::Message(m) => &protocol.messages[m.index()].args,
            EventKind::Op(o) => &protocol.ops[o.index()].args,
            EventKind::Task(t) => &protocol.tasks[t.index()].args,
            _ => &[],
        }
    }

    fn deferrable_args<'a>(&'a self, role: &'a Role) -> Vec<&'a [Named]> {
        role.deferrable.iter().map(|&event| self.arguments_of(event)).collect()
    }

    pub fn most_kept_args(&self, role: &Role) -> usize {
        self.deferrable_args(role).iter().map(|args| args.len()).max().unwrap_or(0)
    }

    fn keeps_data(&self, role: &Role) -> bool {
        role.deferrable.iter().any(|&event| match event {
            EventKind::Message(m) => self.protocol().messages[m.index()].payload != PayloadShape::Nothing,
            event => event == EventKind::WriteBack,
        })
    }

    /// The types of defer spaces: `cursor`, and events with column, sender, thread, data and arguments.
    pub fn deferred_types(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            let Some(bound) = role.defers else { continue };
            let most = bound.at(self.model.nodes);
            out.line(format!("-- Deferred events of {}", role.name));
            let data = if self.keeps_data(role) { " p: Data;" } else { "" };
            out.line(format!(
                "Event{}: record c: 0..{}; s: Node; t: Number;{data}{} end;",
                id.0,
                role.events.len(),
                self.argument_fields(&self.deferrable_args(role))
            ));
            out.line(format!(
                "Kept{}: record cursor: 0..{most}; n: 0..{most}; e: array [0..{}] of Event{}; end;",
                id.0,
                most.max(1) - 1,
                id.0
            ));
        }
    }

    pub fn records(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            let head = format!("function here{}(me: Node; o: Int): Int", id.0);
            out.routine(&head, &[], |out| {
                let lives = self.lives(id, "me", "o");
                out.line(format!("if !{lives} then error \"fault: the node has no such role for this object\"; end;"));
                out.line("return o;");
            });
            if role.defers.is_some() {
                self.keep(id, role, out);
            }
            self.settle_record(id, role, out);
            for column in 0..role.events.len() {
                self.ready(id, role, column, out);
            }
        }
    }

    fn keep(&self, id: RoleId, role: &Role, out: &mut Lines) {
        let r = id.0;
        let capacity = role.defers.map_or(0, |b| b.at(self.model.nodes));
        let args = self.most_kept_args(role);
        let parameters: String = (0..args).map(|a| format!("; a{a}: Int")).collect();
        let object = self.object_type(role.object);
        out.comment(&format!("Keeps an event of {}: in its old place, or (-1) behind the others.", role.name));
        let head =
            format!("procedure keep{r}(me: Node; o: {object}; c: Int; s: Int; t: Int{parameters}; p: Int; at: Int)");
        let kept = format!("kept_{r}[me][o]");
        out.routine(&head, &["i: Int".into(), "place: Int".into()], |out| {
            out.line(format!("if {kept}.n = {capacity} then error \"fault: the defer space is full\"; end;"));
            out.line(format!("place := (at = -1 ? {kept}.n : at);"));
            out.line(format!("i := {kept}.n;"));
            out.line(format!("while i > place do {kept}.e[i] := {kept}.e[i - 1]; i := i - 1; end;"));
            out.line(format!("{kept}.e[place].c := c;"));
            out.line(format!("{kept}.e[place].s := s;"));
            out.line(format!("{kept}.e[place].t := t;"));
            if self.keeps_data(role) {
                out.line(format!("{kept}.e[place].p := p;"));
            }
            (0..args).for_each(|a| out.line(format!("{kept}.e[place].a{a} := a{a};")));
            out.line(format!("if at != -1 then {kept}.cursor := at + 1;"));
            out.line(format!("elsif {kept}.cursor = {kept}.n then {kept}.cursor := {kept}.n + 1; end;"));
            out.line(format!("{kept}.n := {kept}.n + 1;"));
        });
        out.routine(&format!("procedure unkeep{r}(me: Node; o: {object}; at: Int)"), &["i: Int".into()], |out| {
            out.line("i := at;");
            out.open(format!("while i + 1 < {kept}.n do"));
            out.line(format!("{kept}.e[i] := {kept}.e[i + 1];"));
            out.line("i := i + 1;");
            out.close("end;");
            out.line(format!("clear {kept}.e[i];"));
            self.clear_fields(&format!("{kept}.e[i]"), args, out);
            out.line(format!("{kept}.n := i;"));
        });
    }

    /// An event of a column is deferred; where the role pushes back, a thread keeps what finds no place.
    pub fn keep_event(&self, id: RoleId, column: usize, letter: &str, out: &mut Lines) {
        let role = self.role(id);
        let holds = role.pushes_back && has_caller(role.events[column]);
        if holds {
            out.open(format!("if at = -1 & {} then", self.is_full(id)));
            out.line("fx.how := 2;");
            out.middle("else");
        }
        out.line(self.keep_call(id, column, letter));
        out.line("fx.how := 3;");
        if holds {
            out.close("end;");
        }
    }

    /// Whether the defer space of a role's record has no place left.
    pub fn is_full(&self, id: RoleId) -> String {
        let capacity = self.role(id).defers.map_or(0, |bound| bound.at(self.model.nodes));
        format!("kept_{}[me][o].n = {capacity}", id.0)
    }

    /// A call of `keep` for an event of a column, whose own arguments are called `a0`, `a1`, ..., or with another letter.
    fn keep_call(&self, id: RoleId, column: usize, letter: &str) -> String {
        let role = self.role(id);
        if role.defers.is_none() {
            return "error \"fault: the defer space is full\";".into();
        }
        let event = role.events[column];
        let own = self.arguments_of(event).len();
        let args: String = (0..self.most_kept_args(role))
            .map(|a| if a < own { format!(", {letter}{a}") } else { ", 0".to_string() })
            .collect();
        let sender = if matches!(event, EventKind::Message(_)) { "sender" } else { "0" };
        let thread = if has_caller(event) { "thr" } else { "0" };
        let data = if matches!(event, EventKind::Message(_) | EventKind::WriteBack) { "data" } else { "0" };
        format!("keep{}(me, o, {}, {sender}, {thread}{args}, {data}, at);", id.0, column + 1)
    }

    /// The end of a handler for one record: dead variables are cleared; when the state has changed, the deferred
    /// events are to be tried again.
    fn settle_record(&self, id: RoleId, role: &Role, out: &mut Lines) {
        let head = format!("procedure settle{}(me: Node; o: {}; before: Int)", id.0, self.object_type(role.object));
        out.routine(&head, &[], |out| {
            if role.states.iter().any(|s| !s.dead.is_empty()) {
                out.open(format!("switch {}[me][o]", self.state_var(id)));
                for (state, declared) in role.states.iter().enumerate().filter(|(_, s)| !s.dead.is_empty()) {
                    out.open(format!("case {}:", self.state_name(id, StateId::at(state))));
                    declared.dead.iter().for_each(|var| self.clear_var(id, var.index(), "me", "o", out));
                    out.close("");
                }
                out.close("end;");
            }
            if role.defers.is_some() {
                out.line(format!(
                    "if {}[me][o] != before then kept_{}[me][o].cursor := 0; end;",
                    self.state_var(id),
                    id.0
                ));
            }
        });
    }

    /// A variable gets its first value.
    pub fn clear_var(&self, role: RoleId, var: usize, node: &str, object: &str, out: &mut Lines) {
        let declared = &self.role(role).vars[var];
        let place = format!("{}[{node}][{object}]", self.var_name(role, var));
        match &declared.ty {
            Type::List { of, up_to, .. } => {
                out.line(format!("{place}.n := 0;"));
                let fields = self.fields(of);
                for i in 0..up_to.at(self.model.nodes).max(1) {
                    for (f, ty) in fields.iter().enumerate() {
                        out.line(format!("{place}.f{f}[{i}] := {};", self.first_value(ty, None)));
                    }
                }
            }
            Type::Array { of, .. } => {
                let initial = if matches!(**of, Type::Record(_)) { None } else { Some(declared.initial) };
                for i in 0..self.elements(&declared.ty).1 {
                    for (f, ty) in self.fields(of).iter().enumerate() {
                        out.line(format!("{place}.f{f}[{i}] := {};", self.first_value(ty, initial)));
                    }
                }
            }
            Type::Record(_) => {
                for (f, ty) in self.fields(&declared.ty).iter().enumerate() {
                    out.line(format!("{place}.f{f} := {};", self.first_value(ty, None)));
                }
            }
            scalar => out.line(format!("{place} := {};", self.first_value(scalar, Some(declared.initial)))),
        }
    }

    /// Whether an event of a column may be dispatched: no replay is due, and there is room for what it may send.
    fn ready(&self, id: RoleId, role: &Role, column: usize, out: &mut Lines) {
        let event = role.events[column];
        let object = self.object_type(role.object);
        let state_var = format!("{}[me][o]", self.state_var(id));
        out.routine(&format!("function room{}_{column}(me: Node; o: {object}): boolean", id.0), &[], |out| {
            let needs: Vec<(usize, String)> = (0..role.states.len())
                .filter_map(|state| {
                    let needed = self.engine().room_needed(event, id, StateId::at(state));
                    let each =
                        needed.iter().enumerate().filter(|(lane, count)| **count > 0 && self.counted(*lane).is_some());
                    let each: Vec<String> =
                        each.map(|(lane, count)| self.room("me", lane, &count.to_string())).collect();
                    (!each.is_empty()).then(|| (state, each.join(" & ")))
                })
                .collect();
            if !needs.is_empty() {
                out.open(format!("switch {state_var}"));
                for (state, room) in needs {
                    out.line(format!("case {}: return {room};", self.state_name(id, StateId::at(state))));
                }
                out.close("end;");
            }
            out.line("return true;");
        });
        out.routine(&format!("function ready{}_{column}(me: Node; o: {object}): boolean", id.0), &[], |out| {
            if role.defers.is_some() {
                out.line(format!("if {} then return false; end;", replay_due(id, "me", "o")));
            }
            out.line(format!("return room{}_{column}(me, o);", id.0));
        });
    }

    /// Whether an event may be dispatched; one for a role that is not there may, to become a fault.
    pub fn ready_or_absent(&self, role: RoleId, event: EventKind, node: &str, object: &str) -> String {
        match self.role(role).column(event) {
            Some(column) => {
                let ready = format!("ready{}_{column}({node}, {object})", role.0);
                match self.lives(role, node, object).as_str() {
                    "true" => ready,
                    lives => format!("(!{lives} | {ready})"),
                }
            }
            None => "true".into(),
        }
    }

    /// The access that a role's states give, as a number: 0 none, 1 read, 2 write.
    pub fn access_function(&self, id: RoleId, role: &Role, out: &mut Lines) {
        let head = format!("function access{}(me: Node; o: Obj_block): Int", id.0);
        out.routine(&head, &[], |out| {
            out.open(format!("switch {}[me][o]", self.state_var(id)));
            for (state, declared) in role.states.iter().enumerate() {
                let access = match declared.access {
                    Access::None => continue,
                    Access::Read => 1,
                    Access::Write => 2,
                };
                out.line(format!("case {}: return {access};", self.state_name(id, StateId::at(state))));
            }
            out.close("end;");
            out.line("return 0;");
        });
    }

    /// First values of all records.
    pub fn first_records(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            out.line(format!("clear {};", self.state_var(id)));
            if role.defers.is_some() {
                out.line(format!("clear kept_{};", id.0));
            }
            let object = if role.object == NODE { "Obj_node".to_string() } else { self.object_type(role.object) };
            out.open(format!("for me: Node do for o: {object} do"));
            (0..role.vars.len()).for_each(|var| self.clear_var(id, var, "me", "o", out));
            if let Some(bound) = role.defers {
                for i in 0..bound.at(self.model.nodes).max(1) {
                    self.clear_fields(&format!("kept_{}[me][o].e[{i}]", id.0), self.most_kept_args(role), out);
                }
            }
            out.close("end; end;");
        }
    }
}

/// Whether a deferred event is to be tried before any other event of the record.
pub(super) fn replay_due(role: RoleId, node: &str, object: &str) -> String {
    format!("kept_{r}[{node}][{object}].cursor < kept_{r}[{node}][{object}].n", r = role.0)
}

/// Whether a thread raises the event.
pub(super) fn has_caller(event: EventKind) -> bool {
    matches!(event, EventKind::Read | EventKind::Write | EventKind::Rmw | EventKind::Op(_))
}
