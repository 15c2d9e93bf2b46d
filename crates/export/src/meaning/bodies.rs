//! Bodies of a scenario's threads: how a thread goes on behind an access or a call.

use super::Export;
use super::expressions::Scope;
use super::names::{COUNT, INT, KNOWN, REGISTER, T, THREADS, VALUE, locals};
use crate::model::{self, BOOLEAN, Block, Cases, Program, Term, TypeExpr, call, function, procedure};
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
    pub fn bodies(&self, program: &mut Program) {
        if !self.has_bodies() {
            return;
        }
        for (t, body) in self.thread_bodies() {
            for (at, place) in body.places.iter().enumerate() {
                match &place.step {
                    BodyStep::Set(_, value) => self.computed(&format!("value{t}_{at}"), value, INT, program),
                    BodyStep::Unless(condition, _) => {
                        self.computed(&format!("holds{t}_{at}"), condition, BOOLEAN, program)
                    }
                    _ => {}
                }
            }
        }
        program.define(function("is_silent", BOOLEAN).takes(T, THREADS), |out| {
            for (t, body) in self.thread_bodies() {
                for (at, place) in body.places.iter().enumerate() {
                    if !matches!(place.step, BodyStep::Look(_)) {
                        out.when(is_at(t, at), |out| out.give(true));
                    }
                }
            }
            out.give(false);
        });
        program.define(procedure("go_on").takes(T, THREADS), |out| {
            out.while_(call("is_silent", T), |out| {
                out.switch(T, |threads| {
                    for (t, body) in self.thread_bodies() {
                        threads.case(t, |out| out.switch(COUNT.at(T), |places| self.silent_steps(t, body, places)));
                    }
                });
            });
            for (t, body) in self.thread_bodies() {
                for (at, forgotten) in body.forgets.iter().enumerate().filter(|(_, forgotten)| !forgotten.is_empty()) {
                    out.when(is_at(t, at), |out| {
                        forgotten.iter().for_each(|register| out.assign(REGISTER.at(*register), 0));
                    });
                }
            }
        });
    }

    fn silent_steps(&self, t: usize, body: &ThreadBody, places: &mut Cases) {
        let goes_to = |out: &mut Block, place: usize| out.assign(COUNT.at(T), place);
        for (at, place) in body.places.iter().enumerate() {
            let next = at + 1;
            match &place.step {
                BodyStep::Look(_) | BodyStep::Act(_) | BodyStep::Fence | BodyStep::Assert(_) | BodyStep::Return(_) => {}
                BodyStep::Set(register, _) => places.case(at, |out| {
                    let value = call(format!("value{t}_{at}"), self.given_registers());
                    out.assign(REGISTER.at(*register), value);
                    goes_to(out, next);
                }),
                BodyStep::Unless(_, other) => places.case(at, |out| {
                    let holds = call(format!("holds{t}_{at}"), self.given_registers());
                    out.when_else(holds, |out| goes_to(out, next), |out| goes_to(out, *other));
                }),
                BodyStep::Goto(other) => places.case(at, |out| goes_to(out, *other)),
            }
        }
    }

    /// A function of all variables.
    pub fn computed(&self, name: &str, expr: &Expr, gives: TypeExpr, program: &mut Program) {
        let scope = self.scope_of_registers();
        let value = if gives == BOOLEAN { scope.truth(expr) } else { scope.number(expr) };
        let head = function(name.to_string(), gives).takes_each(locals(self.registers()), &INT);
        program.define(head, |out| out.give(value));
    }

    /// How many variables the threads of the scenario have.
    pub fn registers(&self) -> usize {
        self.model.client.script.as_ref().map_or(0, |script| script.scenario.registers.len())
    }

    /// Their values, as arguments.
    pub fn given_registers(&self) -> Vec<model::Expr> {
        (0..self.registers()).map(|register| REGISTER.at(register)).collect()
    }

    /// What an expression over them is read in.
    pub fn scope_of_registers(&self) -> Scope<'_> {
        Scope {
            export: self,
            node: 0.into(),
            object: 0.into(),
            role: RoleId(0),
            here: false,
            first: None,
            event: None,
            locals: &[],
        }
    }

    /// All threads are where they begin.
    pub fn begin_bodies(&self, out: &mut Block) {
        if self.has_bodies() {
            out.for_each(T, THREADS, |out| out.call("go_on", T));
        }
    }

    /// In a scenario: an access or a call is done; its result goes to its variable.
    pub fn advance(&self, program: &mut Program) {
        let head = procedure("advance").takes(T, THREADS).takes(KNOWN, BOOLEAN).takes(VALUE, INT);
        program.define(head, |out| {
            let Some(script) = &self.model.client.script else { return };
            out.when(KNOWN, |out| {
                for (t, places) in script.places.iter().enumerate() {
                    for (at, look) in places.iter().enumerate() {
                        if let Some((_, Some(register))) = look {
                            out.when(is_at(t, at), |out| out.assign(REGISTER.at(*register), VALUE));
                        }
                    }
                }
            });
            out.increase(COUNT.at(T), 1);
            if self.has_bodies() {
                out.call("go_on", T);
            }
        });
    }
}

/// Whether `t` is a thread, and at a place of its body.
pub(super) fn is_at(thread: usize, place: usize) -> model::Expr {
    T.is(thread) & COUNT.at(T).is(place)
}
