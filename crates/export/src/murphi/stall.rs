//! Whether an event stalls, as functions of a model: a handler is followed as far as nothing has happened.
//!
//! The meaning is written a second time here, from the steps of the handlers, and not from what the engine says.

use super::Export;
use super::lines::Lines;
use super::steps::Writer;
use trivium_protocol::walk::contains_stall;
use trivium_protocol::{EventKind, Handler, Response, Role, RoleId, StateId, Step, StepKind};

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

    /// For each role and event that may stall: `stallsR_C(me, o, sender, thr, ..)`.
    pub fn stalls(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            for column in (0..role.events.len()).filter(|&column| self.may_stall(id, column)) {
                self.trials(id, role, column, out);
                self.stall(id, role, column, out);
            }
        }
    }

    /// Of each handler that may stall, whether it does: `trialR_H(me, o, sender, thr, ..)`.
    fn trials(&self, id: RoleId, role: &Role, column: usize, out: &mut Lines) {
        for (h, handler) in role.handlers.iter().enumerate() {
            if handler.event != role.events[column] || !contains_stall(&handler.steps) {
                continue;
            }
            let mut writer = Writer::new(self, id, column, handler);
            let mut body = Lines::default();
            follow(&mut writer, &handler.steps, &mut body);
            let (mut declared, firsts) = self.locals(handler);
            declared.extend(writer.declared.iter().cloned());
            let head = format!(
                "function trial{}_{h}(me: Node; o: {}; sender: Node; thr: Int{}): boolean",
                id.0,
                self.object_type(role.object),
                arguments(handler)
            );
            out.routine(&head, &declared, |out| {
                firsts.iter().for_each(|first| out.line(first));
                out.include(body);
                out.line("return false;");
            });
        }
    }

    fn stall(&self, id: RoleId, role: &Role, column: usize, out: &mut Lines) {
        let event = role.events[column];
        let own = self.arguments_of(event).len();
        let declared: String = (0..own).map(|a| format!("; a{a}: Int")).collect();
        let passed: String = (0..own).map(|a| format!(", a{a}")).collect();
        let head = format!(
            "function stalls{}_{column}(me: Node; o: {}; sender: Node; thr: Int{declared}): boolean",
            id.0,
            self.object_type(role.object)
        );
        out.routine(&head, &[], |out| {
            let lives = self.lives(id, "me", "o");
            if lives != "true" {
                out.line(format!("if !{lives} then return false; end;"));
            }
            out.open(format!("switch {}[me][o]", self.state_var(id)));
            for state in 0..role.states.len() {
                let response = &role.table[state][column];
                if !may_stall(role, response, event) {
                    continue;
                }
                out.open(format!("case {}:", self.state_name(id, StateId::at(state))));
                let Response::Handle(handlers) = response else {
                    out.line("return true;");
                    out.close("");
                    continue;
                };
                for h in handlers {
                    let handler = &role.handlers[h.index()];
                    let stalls = match contains_stall(&handler.steps) {
                        true => format!("return trial{}_{}(me, o, sender, thr{passed});", id.0, h.0),
                        false => "return false;".to_string(),
                    };
                    match handler.guard {
                        Some(_) => {
                            out.line(format!("if guard{}_{}(me, o, sender, thr{passed}) then {stalls} end;", id.0, h.0))
                        }
                        None => out.line(stalls),
                    }
                }
                out.close("");
            }
            out.close("end;");
            out.line("return false;");
        });
    }
}

fn arguments(handler: &Handler) -> String {
    (0..handler.args).map(|a| format!("; l{a}: Int")).collect()
}

fn may_stall(role: &Role, response: &Response, event: EventKind) -> bool {
    match response {
        Response::Hold => matches!(event, EventKind::Message(_)),
        Response::Handle(handlers) => handlers.iter().any(|h| contains_stall(&role.handlers[h.index()].steps)),
        _ => false,
    }
}

/// Locals and branches up to the first step that does anything.
fn follow(writer: &mut Writer, steps: &[Step], out: &mut Lines) {
    for step in steps {
        match &step.kind {
            StepKind::Let(..) => writer.steps(std::slice::from_ref(step), out),
            StepKind::Stall => return out.line("return true;"),
            StepKind::If(condition, yes, no) => {
                out.open(format!("if {} then", writer.guard(condition)));
                follow(writer, yes, out);
                out.middle("else");
                follow(writer, no, out);
                out.close("end;");
                return;
            }
            _ => return out.line("return false;"),
        }
    }
}
