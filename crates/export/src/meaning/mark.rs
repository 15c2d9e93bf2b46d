//! Promises about loads that are weaker than `last_write`: see `system/mark.rs` of `check`. What a thread has seen is a number: 1 a
//! store after the mark, 2 that the marked store happens before, and 4 more until its acquiring call returns.

use super::Export;
use super::names::{IDLE, INTENT, MARKED, OBSERVER, PHASE, RELEASED, SEEN, T, THREADS, U, VIEW, passed_on};
use crate::model::{BOOLEAN, Block, Expr, Program, Term, any, array, call, choice, exists, function, range};
use trivium_check::Intent;
use trivium_protocol::{OpId, Promise};

impl Export<'_> {
    fn marks(&self) -> bool {
        self.model.marked.is_some()
    }

    fn is_tso(&self) -> bool {
        self.marks() && self.protocol().weaker() == Some(&Promise::Tso)
    }

    /// The calls that acquire and release, where happens-before counts.
    fn synchronising(&self) -> Option<(Option<OpId>, Option<OpId>)> {
        match self.protocol().weaker().filter(|_| self.marks()) {
            Some(Promise::ReleaseConsistency { acquire, release }) => Some((*acquire, *release)),
            _ => None,
        }
    }

    /// Promises of locks and barriers through which happens-before goes: their number, and the call that hands it on.
    fn handing_on(&self) -> Vec<(usize, OpId)> {
        let promises = self.protocol().promises.iter().enumerate().filter(|_| self.synchronising().is_some());
        let call = |(p, promise): (usize, &Promise)| match promise {
            Promise::Mutex(call, _) | Promise::Barrier(call) => Some((p, *call)),
            _ => None,
        };
        promises.filter_map(call).collect()
    }

    /// What must be remembered.
    pub fn mark_variables(&self, program: &mut Program) {
        if !self.marks() {
            return;
        }
        program.variable_for("the block of the marked store, plus 1", MARKED, range(0, self.model.objects[0]));
        if self.is_tso() {
            program.variable(OBSERVER, range(0, self.model.client.threads.len()));
        }
        program.variable(VIEW, array(THREADS, range(0, 7)));
        if self.synchronising().is_some() {
            program.variable(RELEASED, BOOLEAN);
        }
        for (p, call) in self.handing_on() {
            let kind = self.protocol().ops[call.index()].object;
            program.variable(passed_on(p), array(self.object_type(kind), range(0, 3)));
        }
    }

    /// Nothing is marked in the first state.
    pub fn first_mark(&self, out: &mut Block) {
        if !self.marks() {
            return;
        }
        out.assign(MARKED, 0);
        if self.is_tso() {
            out.assign(OBSERVER, 0);
        }
        out.clear(VIEW);
        if self.synchronising().is_some() {
            out.assign(RELEASED, false);
        }
        self.handing_on().iter().for_each(|(p, _)| out.clear(passed_on(*p)));
    }

    /// Whether a thread has announced the marked store.
    pub fn announced(&self, program: &mut Program) {
        if !self.marks() {
            return;
        }
        let announces =
            |intent: &Intent| matches!(intent, Intent::Write { value, .. } | Intent::Rmw { value, .. } if *value != 0);
        let intents = self.model.client.intents.iter().enumerate().filter(|(_, intent)| announces(intent));
        let announced = any(intents.map(|(i, _)| INTENT.at(T).is(i)));
        program.define(function("announced", BOOLEAN), |out| {
            out.give(exists(T.of(THREADS), PHASE.at(T).differs_from(IDLE) & announced));
        });
    }

    /// What must be true where thread `t` begins a store.
    pub fn may_announce(&self, value: u64) -> Vec<Expr> {
        if !self.marks() || value == 0 {
            return Vec::new();
        }
        vec![MARKED.is(0), !call("announced", ())]
    }

    /// Thread `t` stores to a block: what is done before the store, and what is stored.
    pub fn marked_value(&self, block: u32, value: u64, out: &mut Block) -> Expr {
        if !self.marks() {
            return value.into();
        }
        let observes = || OBSERVER.is(T + 1);
        if value != 0 {
            out.when(MARKED.is(0), |out| {
                out.assign(MARKED, block + 1);
                if self.is_tso() {
                    out.assign(OBSERVER, value);
                }
            });
        }
        let here = MARKED.is(block + 1);
        let sees = if self.synchronising().is_some() { 2 } else { 1 };
        out.when(if self.is_tso() { here & observes() } else { here }, |out| out.assign(VIEW.at(T), sees));
        let after = if self.is_tso() { choice(observes(), 2, 1) } else { 1.into() };
        choice(MARKED.is(0), 0, after)
    }

    /// Thread `t` has loaded `seen` from a block.
    pub fn marked_load(&self, block: u32, out: &mut Block) {
        if !self.marks() {
            return;
        }
        let here = || MARKED.is(block + 1);
        let view = || VIEW.at(T);
        out.refuse(SEEN.is(self.model.garbage), "a read of garbage");
        out.refuse(SEEN.is(0) & here() & view().differs_from(0) & view().differs_from(4), "a read is too old");
        if self.is_tso() {
            out.when(SEEN.is(1) & OBSERVER.is(T + 1), |out| out.assign(view(), 1));
        } else {
            let fresh = view().is(0) | view().is(4);
            out.when(SEEN.is(1) & here() & fresh, |out| out.increase(view(), 1));
        }
    }

    /// Thread `t` begins an access or a call.
    pub fn mark_started(&self, intent: &Intent, out: &mut Block) {
        let Some((acquire, _)) = self.synchronising() else { return };
        let view = || VIEW.at(T);
        match acquire {
            None => out.when(RELEASED, |out| out.assign(view(), 2)),
            Some(acquire) if Self::calls(intent, acquire) => {
                out.when(RELEASED & (view().is(0) | view().is(1)), |out| out.increase(view(), 4));
            }
            Some(_) => {}
        }
        for (p, promise) in self.protocol().promises.iter().enumerate() {
            let passed = || passed_on(p).at(intent.object().id);
            match promise {
                Promise::Mutex(_, release) if Self::calls(intent, *release) => {
                    out.when(view().is(2), |out| out.assign(passed(), 2));
                }
                Promise::Barrier(arrive) if Self::calls(intent, *arrive) => {
                    let may_pass = passed().is(0) | passed().is(2);
                    out.when(view().is(2) & may_pass, |out| out.increase(passed(), 1));
                }
                _ => {}
            }
        }
    }

    /// All have arrived at a barrier.
    pub fn mark_arrived(&self, promise: usize, object: u32, out: &mut Block) {
        if self.synchronising().is_some() {
            let passed = || passed_on(promise).at(object);
            out.when(passed().is(1) | passed().is(3), |out| out.assign(passed(), 2));
        }
    }

    /// The call with which thread `t` has waited returns.
    pub fn mark_returned(&self, intent: &Intent, out: &mut Block) {
        let Some((acquire, release)) = self.synchronising() else { return };
        for (p, call) in self.handing_on() {
            if Self::calls(intent, call) {
                out.when(passed_on(p).at(intent.object().id).ge(2), |out| out.assign(VIEW.at(T), 2));
            }
        }
        if acquire.is_some_and(|acquire| Self::calls(intent, acquire)) {
            out.when(VIEW.at(T).ge(4), |out| out.assign(VIEW.at(T), 2));
        }
        if release.is_some_and(|release| Self::calls(intent, release)) {
            out.when(VIEW.at(T).is(2), |out| {
                out.assign(RELEASED, true);
                if acquire.is_none() {
                    out.for_each(U, THREADS, |out| {
                        out.when(PHASE.at(U).is(IDLE), |out| out.assign(VIEW.at(U), 2));
                    });
                }
            });
        }
    }
}
