//! What an event would come to, as functions of a model: a handler is followed as far as nothing has happened. So it is known whether an event
//! stalls, and whether one that was deferred would be deferred again.
//!
//! The meaning is written a second time here, from the steps of the handlers, and not from what the engine says.

use super::Export;
use super::lines::Lines;
use super::records::has_caller;
use super::steps::Writer;
use trivium_protocol::again::{contains_defer, is_tried_by_look, seen_once};
use trivium_protocol::walk::contains_stall;
use trivium_protocol::{EventKind, Handler, Response, Role, RoleId, StateId, Step, StepKind};

/// What the functions say: something happens, the event stalls, or it is deferred.
const HAPPENS: u8 = 0;
const STALLS: u8 = 1;
const DEFERS: u8 = 2;

impl Export<'_> {
    /// Whether an event may stall at a role, in some state.
    pub fn may_stall(&self, role: RoleId, column: usize) -> bool {
        let declared = self.role(role);
        declared.table.iter().any(|row| may_stall(declared, &row[column], declared.events[column]))
    }

    /// The condition that the event does not stall; none if it never does. `arguments`: sender, thread, and the event's own.
    pub fn not_stalled(
        &self,
        role: RoleId,
        column: usize,
        node: &str,
        object: &str,
        arguments: &str,
    ) -> Option<String> {
        let may = self.may_stall(role, column);
        may.then(|| format!("!stalls{}_{column}({node}, {object}, {arguments})", role.0))
    }

    /// The same, to be added to a condition.
    pub fn and_not_stalled(&self, role: RoleId, column: usize, node: &str, object: &str, arguments: &str) -> String {
        self.not_stalled(role, column, node, object, arguments).map_or(String::new(), |not| format!(" & {not}"))
    }

    /// Whether what the event would come to is asked, in some state.
    fn is_asked(&self, role: RoleId, column: usize) -> bool {
        let declared = self.role(role);
        self.may_stall(role, column) || declared.table.iter().any(|row| is_tried_by_look(declared, &row[column]))
    }

    /// For each role and event of which that is asked: `wayR_C(me, o, sender, thr, ..)`, and `stallsR_C` where it may stall.
    pub fn trials(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            for column in (0..role.events.len()).filter(|&column| self.is_asked(id, column)) {
                self.handlers_tried(id, role, column, out);
                self.way(id, role, column, out);
                if !self.may_stall(id, column) {
                    continue;
                }
                let (head, passed) = self.of_event(role, column);
                let way = format!("way{}_{column}(me, o, sender, thr{passed})", id.0);
                out.routine(&format!("function stalls{}_{column}({head}): boolean", id.0), &[], |out| {
                    let pushes = pushes_back(role, role.events[column]);
                    let full =
                        if pushes { format!(" | {way} = {DEFERS} & {}", self.is_full(id)) } else { String::new() };
                    out.line(format!("return {way} = {STALLS}{full};"));
                });
            }
        }
        for (id, role) in self.roles().filter(|(_, role)| self.looks(role)) {
            self.look(id, role, out);
        }
    }

    /// Whether a role defers events that are tried again when some record of the node has changed.
    fn looks(&self, role: &Role) -> bool {
        role.defers.is_some() && role.table.iter().flatten().any(|response| is_tried_by_look(role, response))
    }

    /// When a handler of node `me` has ended: deferred events whose answer is another one by now are tried again.
    pub fn look_at_deferred(&self, out: &mut Lines) {
        for (id, role) in self.roles().filter(|(_, role)| self.looks(role)) {
            let object = self.object_type(role.object);
            out.line(format!("for o: {object} do look{}(me, o); end;", id.0));
        }
    }

    /// The first deferred event of a record that was tried, and whose answer is another one by now, is the next to be tried.
    fn look(&self, id: RoleId, role: &Role, out: &mut Lines) {
        let kept = format!("kept_{}[me][o]", id.0);
        let head = format!("procedure look{}(me: Node; o: {})", id.0, self.object_type(role.object));
        out.routine(&head, &["i: Int".into(), "again: boolean".into()], |out| {
            let lives = self.lives(id, "me", "o");
            if lives != "true" {
                out.line(format!("if !{lives} then return; end;"));
            }
            out.line("i := 0;");
            out.open(format!("while i < {kept}.cursor & i < {kept}.n do"));
            out.line("again := false;");
            for &event in &role.deferrable {
                let Some(column) = role.column(event) else { continue };
                let states = role.table.iter().enumerate().filter(|(_, row)| is_tried_by_look(role, &row[column]));
                let states: Vec<String> = states
                    .map(|(state, _)| {
                        format!("{}[me][o] = {}", self.state_var(id), self.state_name(id, StateId::at(state)))
                    })
                    .collect();
                if states.is_empty() {
                    continue;
                }
                let thread = if has_caller(event) { format!("{kept}.e[i].t") } else { "-1".into() };
                let args: String = (0..self.arguments_of(event).len()).map(|a| format!(", {kept}.e[i].a{a}")).collect();
                let way = format!("way{}_{column}(me, o, {kept}.e[i].s, {thread}{args})", id.0);
                // What a thread wants is held by then; a message stays where it is.
                let other = if has_caller(event) { format!("{way} != {DEFERS}") } else { format!("{way} = {HAPPENS}") };
                out.open(format!("if {kept}.e[i].c = {} & ({}) then", column + 1, states.join(" | ")));
                out.line(format!("again := {other};"));
                out.close("end;");
            }
            out.line(format!("if again then {kept}.cursor := i; return; end;"));
            out.line("i := i + 1;");
            out.close("end;");
        });
    }

    /// The parameters of a function about an event, and the event's own as they are passed on.
    fn of_event(&self, role: &Role, column: usize) -> (String, String) {
        let own = self.arguments_of(role.events[column]).len();
        let declared: String = (0..own).map(|a| format!("; a{a}: Int")).collect();
        let passed: String = (0..own).map(|a| format!(", a{a}")).collect();
        (format!("me: Node; o: {}; sender: Node; thr: Int{declared}", self.object_type(role.object)), passed)
    }

    /// What each handler that may stall or defer comes to: `trialR_H(me, o, sender, thr, ..)`.
    fn handlers_tried(&self, id: RoleId, role: &Role, column: usize, out: &mut Lines) {
        for (h, handler) in role.handlers.iter().enumerate() {
            if handler.event != role.events[column] || !is_followed(handler) {
                continue;
            }
            let mut writer = Writer::new(self, id, column, handler);
            let mut body = Lines::default();
            follow(&mut writer, &handler.steps, &mut body);
            let (mut declared, firsts) = self.locals(handler);
            declared.extend(writer.declared.iter().cloned());
            let head = format!(
                "function trial{}_{h}(me: Node; o: {}; sender: Node; thr: Int{}): Int",
                id.0,
                self.object_type(role.object),
                arguments(handler)
            );
            out.routine(&head, &declared, |out| {
                firsts.iter().for_each(|first| out.line(first));
                out.include(body);
                out.line(format!("return {HAPPENS};"));
            });
        }
    }

    fn way(&self, id: RoleId, role: &Role, column: usize, out: &mut Lines) {
        let event = role.events[column];
        let (head, passed) = self.of_event(role, column);
        out.routine(&format!("function way{}_{column}({head}): Int", id.0), &[], |out| {
            let lives = self.lives(id, "me", "o");
            if lives != "true" {
                out.line(format!("if !{lives} then return {HAPPENS}; end;"));
            }
            out.open(format!("switch {}[me][o]", self.state_var(id)));
            for state in 0..role.states.len() {
                let response = &role.table[state][column];
                if !may_stall(role, response, event) && !is_tried_by_look(role, response) {
                    continue;
                }
                out.open(format!("case {}:", self.state_name(id, StateId::at(state))));
                let Response::Handle(handlers) = response else {
                    let end = if *response == Response::Defer { DEFERS } else { STALLS };
                    out.line(format!("return {end};"));
                    out.close("");
                    continue;
                };
                for h in handlers {
                    let handler = &role.handlers[h.index()];
                    let way = match is_followed(handler) {
                        true => format!("return trial{}_{}(me, o, sender, thr{passed});", id.0, h.0),
                        false => format!("return {HAPPENS};"),
                    };
                    match handler.guard {
                        Some(_) => {
                            out.line(format!("if guard{}_{}(me, o, sender, thr{passed}) then {way} end;", id.0, h.0))
                        }
                        None => out.line(way),
                    }
                }
                out.close("");
            }
            out.close("end;");
            out.line(format!("return {HAPPENS};"));
        });
    }
}

/// Whether a handler is followed to a `stall` or `defer`.
fn is_followed(handler: &Handler) -> bool {
    contains_stall(&handler.steps) || contains_defer(&handler.steps)
}

fn arguments(handler: &Handler) -> String {
    (0..handler.args).map(|a| format!("; l{a}: Int")).collect()
}

/// Whether an event stalls that a role would defer and has no place for.
fn pushes_back(role: &Role, event: EventKind) -> bool {
    role.pushes_back && !matches!(event, EventKind::Task(_))
}

fn may_stall(role: &Role, response: &Response, event: EventKind) -> bool {
    match response {
        Response::Hold => matches!(event, EventKind::Message(_)),
        Response::Defer => pushes_back(role, event),
        Response::Handle(handlers) => handlers.iter().any(|h| {
            let steps = &role.handlers[h.index()].steps;
            contains_stall(steps) || pushes_back(role, event) && contains_defer(steps)
        }),
        _ => false,
    }
}

/// Locals and branches up to the first step that does anything, or looks at what cannot be looked at again.
fn follow(writer: &mut Writer, steps: &[Step], out: &mut Lines) {
    for step in steps {
        match &step.kind {
            StepKind::Stall => return out.line(format!("return {STALLS};")),
            StepKind::Defer => return out.line(format!("return {DEFERS};")),
            StepKind::Let(_, values) if values.iter().all(|value| seen_once(value).is_none()) => {
                writer.steps(std::slice::from_ref(step), out);
            }
            StepKind::If(condition, yes, no) if seen_once(condition).is_none() => {
                out.open(format!("if {} then", writer.guard(condition)));
                follow(writer, yes, out);
                out.middle("else");
                follow(writer, no, out);
                out.close("end;");
            }
            _ => return out.line(format!("return {HAPPENS};")),
        }
    }
}
