//! What nobody can observe (`docs/semantics.md`, section 6): stores that are chosen when they are performed, and copies of
//! blocks that are forgotten.
//!
//! A rule fires once for each value of `way`, a number whose digits are the choices that are made while it fires, in
//! their order. Each choice takes its digit from `chosen`; what is left over is a choice that was not there to be
//! made, and such a firing is discarded by `assume`. So there are as many firings as ways.

use super::Export;
use super::lines::Lines;
use trivium_check::Intent;
use trivium_protocol::StateId;

impl Export<'_> {
    /// Whether waiting stores are left open.
    pub fn is_late(&self) -> bool {
        !self.model.client.open_stores.is_empty()
    }

    /// Whether a rule fires in several ways.
    pub fn has_ways(&self) -> bool {
        self.is_late() || !self.asked.is_empty()
    }

    /// In how many ways an event can turn out: its answers, and the stores of all threads of a node.
    pub fn most_ways(&self) -> u64 {
        let most = self.model.client.open_stores.iter().map(|store| store.ways.len() as u64).max().unwrap_or(1);
        (0..self.threads_per_node).fold(self.ways_of_answers(), |ways: u64, _| ways.saturating_mul(most))
    }

    pub fn first_chosen(&self, out: &mut Lines) {
        if self.has_ways() {
            out.line("chosen := 0;");
        }
        self.forget_queues(out);
    }

    /// The condition under which an idle thread `t` begins a store in this form: left open, if it is not performed at once.
    pub fn in_this_form(&self, intent: usize) -> String {
        match self.model.client.open_store(intent) {
            Some(store) if store.open == intent => format!(" & !allowed(t, {intent})"),
            Some(_) => format!(" & allowed(t, {intent})"),
            None => String::new(),
        }
    }

    /// What a thread does that performs an access: the access itself, or one of the stores that an open one may be.
    pub fn chosen_store(&self, out: &mut Lines) {
        let locals = ["count: Int".to_string(), "digit: Int".to_string(), "store_: Int".to_string()];
        out.routine("function chosen_store(i: Int): Int", &locals, |out| {
            out.line("store_ := i;");
            for store in &self.model.client.open_stores {
                out.open(format!("if i = {} then", store.open));
                out.line("count := 0;");
                for &way in &store.ways {
                    self.if_possible(way, "count := count + 1;", out);
                }
                out.line("digit := chosen % count;");
                out.line("chosen := chosen / count;");
                for &way in &store.ways {
                    self.if_possible(way, &format!("if digit = 0 then store_ := {way}; end; digit := digit - 1;"), out);
                }
                out.close("end;");
            }
            out.line("return store_;");
        });
    }

    /// A line for a store that an open one may be, if it may be that one now.
    fn if_possible(&self, way: usize, line: &str, out: &mut Lines) {
        let condition = match self.model.client.intents[way] {
            Intent::Write { value, .. } => self.may_announce(value),
            _ => None,
        };
        out.line(condition.map_or(line.to_string(), |condition| format!("if {condition} then {line} end;")));
    }

    /// Copies of a node that are overwritten before anybody reads them have no contents any more.
    pub fn forget_dead_copies(&self, out: &mut Lines) {
        for (is_home, sign) in [(false, "!="), (true, "=")] {
            let Some(role) = self.model.forgetting[usize::from(is_home)] else { continue };
            let states = self.role(role).states.iter().enumerate().filter(|(_, state)| state.copy_is_dead);
            let dead: Vec<String> = states
                .map(|(s, _)| format!("{}[me][b] = {}", self.state_var(role), self.state_name(role, StateId::at(s))))
                .collect();
            out.open("for b: Obj_block do");
            let nodes = self.model.nodes;
            out.line(format!(
                "if b % {nodes} {sign} me & ({}) then mem[me][b * {}] := {}; end;",
                dead.join(" | "),
                self.stride,
                self.model.garbage
            ));
            out.close("end;");
        }
    }
}
