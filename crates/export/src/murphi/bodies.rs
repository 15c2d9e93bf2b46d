//! Bodies of a scenario's threads: how a thread goes on behind an access or a call.

use super::Export;
use super::expressions::Scope;
use super::lines::Lines;
use trivium_protocol::{BodyStep, Expr, RoleId, ThreadBody};

impl Export<'_> {
    fn thread_bodies(&self) -> impl Iterator<Item = (usize, &ThreadBody)> {
        let script = self.model.client.script.iter();
        script.flat_map(|script| script.scenario.threads.iter().map(|thread| &thread.body)).enumerate()
    }

    /// Whether some thread computes a value, which may be any number.
    pub fn computes_in_bodies(&self) -> bool {
        let mut steps = self.thread_bodies().flat_map(|(_, body)| &body.places);
        steps.any(|place| matches!(place.step, BodyStep::Set(..)))
    }

    /// Whether some thread does more than one access or call after the other.
    fn has_bodies(&self) -> bool {
        let mut steps = self.thread_bodies().flat_map(|(_, body)| &body.places);
        steps.any(|place| !matches!(place.step, BodyStep::Look(_)))
    }

    /// A thread goes on to the next access or call, or to its end.
    pub fn bodies(&self, out: &mut Lines) {
        if !self.has_bodies() {
            return;
        }
        for (t, body) in self.thread_bodies() {
            for (at, place) in body.places.iter().enumerate() {
                match &place.step {
                    BodyStep::Set(_, value) => self.computed(&format!("value{t}_{at}"), value, "Int", out),
                    BodyStep::Unless(condition, _) => {
                        self.computed(&format!("holds{t}_{at}"), condition, "boolean", out)
                    }
                    BodyStep::Look(_) | BodyStep::Goto(_) => {}
                }
            }
        }
        out.routine("function is_silent(t: Thread): boolean", &[], |out| {
            for (t, body) in self.thread_bodies() {
                for (at, place) in body.places.iter().enumerate() {
                    if !matches!(place.step, BodyStep::Look(_)) {
                        out.line(format!("if t = {t} & count[t] = {at} then return true; end;"));
                    }
                }
            }
            out.line("return false;");
        });
        out.routine("procedure go_on(t: Thread)", &[], |out| {
            out.open("while is_silent(t) do");
            out.open("switch t");
            for (t, body) in self.thread_bodies() {
                out.line(format!("case {t}:"));
                out.open("switch count[t]");
                self.silent_steps(t, body, out);
                out.close("end;");
            }
            out.close("end;");
            out.close("end;");
            for (t, body) in self.thread_bodies() {
                for (at, forgotten) in body.forgets.iter().enumerate().filter(|(_, forgotten)| !forgotten.is_empty()) {
                    let cleared: String =
                        forgotten.iter().map(|register| format!("register[{register}] := 0; ")).collect();
                    out.line(format!("if t = {t} & count[t] = {at} then {cleared}end;"));
                }
            }
        });
    }

    fn silent_steps(&self, t: usize, body: &ThreadBody, out: &mut Lines) {
        let given = self.given_registers();
        for (at, place) in body.places.iter().enumerate() {
            let next = at + 1;
            match &place.step {
                BodyStep::Look(_) => {}
                BodyStep::Set(register, _) => {
                    out.line(format!("case {at}: register[{register}] := value{t}_{at}({given}); count[t] := {next};"))
                }
                BodyStep::Unless(_, other) => out.line(format!(
                    "case {at}: if holds{t}_{at}({given}) then count[t] := {next}; else count[t] := {other}; end;"
                )),
                BodyStep::Goto(other) => out.line(format!("case {at}: count[t] := {other};")),
            }
        }
    }

    /// A function of all variables.
    pub fn computed(&self, name: &str, expr: &Expr, gives: &str, out: &mut Lines) {
        let scope = self.scope_of_registers();
        let parameters: Vec<String> = (0..self.registers()).map(|r| format!("l{r}: Int")).collect();
        let value = if gives == "boolean" { scope.truth(expr) } else { scope.number(expr) };
        out.routine(&format!("function {name}({}): {gives}", parameters.join("; ")), &[], |out| {
            out.line(format!("return {value};"))
        });
    }

    /// How many variables the threads of the scenario have.
    pub fn registers(&self) -> usize {
        self.model.client.script.as_ref().map_or(0, |script| script.scenario.registers.len())
    }

    /// Their values, as arguments.
    pub fn given_registers(&self) -> String {
        let values: Vec<String> = (0..self.registers()).map(|r| format!("register[{r}]")).collect();
        values.join(", ")
    }

    /// What an expression over them is read in.
    pub fn scope_of_registers(&self) -> Scope<'_> {
        Scope {
            export: self,
            node: "0".into(),
            object: "0".into(),
            role: RoleId(0),
            here: false,
            first: None,
            event: None,
            locals: &[],
        }
    }

    /// All threads are where they begin.
    pub fn begin_bodies(&self, out: &mut Lines) {
        if self.has_bodies() {
            out.line("for t: Thread do go_on(t); end;");
        }
    }

    /// In a scenario: an access or a call is done; its result goes to its variable.
    pub fn advance(&self, out: &mut Lines) {
        out.routine("procedure advance(t: Thread; known: boolean; value: Int)", &[], |out| {
            let Some(script) = &self.model.client.script else { return };
            out.open("if known then");
            for (t, places) in script.places.iter().enumerate() {
                for (at, look) in places.iter().enumerate() {
                    if let Some((_, Some(register))) = look {
                        out.line(format!("if t = {t} & count[t] = {at} then register[{register}] := value; end;"));
                    }
                }
            }
            out.close("end;");
            out.line("count[t] := count[t] + 1;");
            if self.has_bodies() {
                out.line("go_on(t);");
            }
        });
    }
}
