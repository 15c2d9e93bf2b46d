//! What nobody can observe (`docs/semantics.md`, section 6): stores that are chosen when they are performed, and copies of
//! blocks that are forgotten.
//!
//! A rule fires once for each value of `way`, a number whose digits are the choices that are made while it fires, in
//! their order. Each choice takes its digit from `chosen`; what is left over is a choice that was not there to be
//! made, and such a firing is discarded by `assume`. So there are as many firings as ways.

use super::Export;
use super::names::{B, BLOCKS, CALLS, CHOSEN, DIGIT, I, INT, ME, MEM, STORE, T};
use crate::model::{Block, Expr, Program, Term, all, any, call, function};
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

    pub fn first_chosen(&self, out: &mut Block) {
        if self.has_ways() {
            out.assign(CHOSEN, 0);
        }
        self.forget_queues(out);
    }

    /// What must be true where an idle thread `t` begins a store in this form: left open, if it is not performed at once.
    pub fn in_this_form(&self, intent: usize) -> Option<Expr> {
        let store = self.model.client.open_store(intent)?;
        let allowed = call("allowed", (T, intent));
        Some(if store.open == intent { !allowed } else { allowed })
    }

    /// What a thread does that performs an access: the access itself, or one of the stores that an open one may be.
    pub fn chosen_store(&self, program: &mut Program) {
        let head = function("chosen_store", INT).takes(I, INT);
        program.define(head.local(CALLS, INT).local(DIGIT, INT).local(STORE, INT), |out| {
            out.assign(STORE, I);
            for store in &self.model.client.open_stores {
                out.when(I.is(store.open), |out| {
                    out.assign(CALLS, 0);
                    for &way in &store.ways {
                        self.if_possible(way, out, |out| out.increase(CALLS, 1));
                    }
                    out.assign(DIGIT, CHOSEN % CALLS);
                    out.assign(CHOSEN, CHOSEN / CALLS);
                    for &way in &store.ways {
                        self.if_possible(way, out, |out| {
                            out.when(DIGIT.is(0), |out| out.assign(STORE, way));
                            out.assign(DIGIT, DIGIT - 1);
                        });
                    }
                });
            }
            out.give(STORE);
        });
    }

    /// What is done about a store that an open one may be, if it may be that one now.
    fn if_possible(&self, way: usize, out: &mut Block, body: impl FnOnce(&mut Block)) {
        let conditions = match self.model.client.intents[way] {
            Intent::Write { value, .. } => self.may_announce(value),
            _ => Vec::new(),
        };
        if conditions.is_empty() { body(out) } else { out.when(all(conditions), body) }
    }

    /// Copies of a node that are overwritten before anybody reads them have no contents any more.
    pub fn forget_dead_copies(&self, out: &mut Block) {
        for is_home in [false, true] {
            let Some(role) = self.model.forgetting[usize::from(is_home)] else { continue };
            let states = self.role(role).states.iter().enumerate().filter(|(_, state)| state.copy_is_dead);
            let dead = any(states.map(|(s, _)| self.is_in(role, StateId::at(s), ME, B)));
            out.for_each(B, BLOCKS, |out| {
                let copy = MEM.at(ME).at(B * self.stride);
                out.when(self.is_at_home(B, ME, is_home) & dead, |out| out.assign(copy, self.model.garbage));
            });
        }
    }
}
