//! Promises about loads that are weaker than `last_write`: see `system/mark.rs` of `check`. What a thread has seen is a number: 1 a
//! store after the mark, 2 that the marked store happens before, and 4 more until its acquiring call returns.

use super::Export;
use super::lines::Lines;
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
    pub fn mark_variables(&self, out: &mut Lines) {
        if !self.marks() {
            return;
        }
        out.line(format!("marked: 0..{}; -- the block of the marked store, plus 1", self.model.objects[0]));
        if self.is_tso() {
            out.line(format!("observer: 0..{};", self.model.client.threads.len()));
        }
        out.line("view: array [Thread] of 0..7;");
        if self.synchronising().is_some() {
            out.line("released: boolean;");
        }
        for (p, call) in self.handing_on() {
            let kind = self.protocol().ops[call.index()].object;
            out.line(format!("passed{p}: array [{}] of 0..3;", self.object_type(kind)));
        }
    }

    /// Nothing is marked in the first state.
    pub fn first_mark(&self, out: &mut Lines) {
        if !self.marks() {
            return;
        }
        out.line("marked := 0;");
        if self.is_tso() {
            out.line("observer := 0;");
        }
        out.line("clear view;");
        if self.synchronising().is_some() {
            out.line("released := false;");
        }
        self.handing_on().iter().for_each(|(p, _)| out.line(format!("clear passed{p};")));
    }

    /// Whether a thread has announced the marked store.
    pub fn announced(&self, out: &mut Lines) {
        if !self.marks() {
            return;
        }
        let announces =
            |intent: &Intent| matches!(intent, Intent::Write { value, .. } | Intent::Rmw { value, .. } if *value != 0);
        let intents = self.model.client.intents.iter().enumerate().filter(|(_, intent)| announces(intent));
        let any: Vec<String> = intents.map(|(i, _)| format!("intent[t] = {i}")).collect();
        out.routine("function announced(): boolean", &[], |out| {
            out.line(format!("return exists t: Thread do phase[t] != 0 & ({}) end;", any.join(" | ")));
        });
    }

    /// The condition under which thread `t` may begin a store.
    pub fn may_announce(&self, value: u64) -> Option<String> {
        (self.marks() && value != 0).then(|| "marked = 0 & !announced()".into())
    }

    /// Thread `t` stores to a block: lines before the store, and what is stored.
    pub fn marked_value(&self, block: u32, value: u64, out: &mut Lines) -> String {
        if !self.marks() {
            return value.to_string();
        }
        let own = if self.is_tso() { " & observer = t + 1" } else { "" };
        if value != 0 {
            out.open("if marked = 0 then");
            out.line(format!("marked := {};", block + 1));
            if self.is_tso() {
                out.line(format!("observer := {value};"));
            }
            out.close("end;");
        }
        let sees = if self.synchronising().is_some() { 2 } else { 1 };
        out.line(format!("if marked = {}{own} then view[t] := {sees}; end;", block + 1));
        let after = if self.is_tso() { "(observer = t + 1 ? 2 : 1)" } else { "1" };
        format!("(marked = 0 ? 0 : {after})")
    }

    /// Thread `t` has loaded `seen` from a block.
    pub fn marked_load(&self, block: u32, out: &mut Lines) {
        if !self.marks() {
            return;
        }
        let here = format!("marked = {}", block + 1);
        out.line(format!("if seen = {} then error \"a read of garbage\"; end;", self.model.garbage));
        out.line(format!("if seen = 0 & {here} & view[t] != 0 & view[t] != 4 then error \"a read is too old\"; end;"));
        if self.is_tso() {
            out.line("if seen = 1 & observer = t + 1 then view[t] := 1; end;");
        } else {
            let fresh = "(view[t] = 0 | view[t] = 4)";
            out.line(format!("if seen = 1 & {here} & {fresh} then view[t] := view[t] + 1; end;"));
        }
    }

    /// Thread `t` begins an access or a call.
    pub fn mark_started(&self, intent: &Intent, out: &mut Lines) {
        let Some((acquire, _)) = self.synchronising() else { return };
        match acquire {
            None => out.line("if released then view[t] := 2; end;"),
            Some(acquire) if Self::calls(intent, acquire) => {
                out.line("if released & (view[t] = 0 | view[t] = 1) then view[t] := view[t] + 4; end;");
            }
            Some(_) => {}
        }
        let object = intent.object().id;
        for (p, promise) in self.protocol().promises.iter().enumerate() {
            match promise {
                Promise::Mutex(_, release) if Self::calls(intent, *release) => {
                    out.line(format!("if view[t] = 2 then passed{p}[{object}] := 2; end;"));
                }
                Promise::Barrier(arrive) if Self::calls(intent, *arrive) => {
                    let at = format!("passed{p}[{object}]");
                    out.line(format!("if view[t] = 2 & ({at} = 0 | {at} = 2) then {at} := {at} + 1; end;"));
                }
                _ => {}
            }
        }
    }

    /// All have arrived at a barrier.
    pub fn mark_arrived(&self, promise: usize, object: u32, out: &mut Lines) {
        if self.synchronising().is_some() {
            let at = format!("passed{promise}[{object}]");
            out.line(format!("if {at} = 1 | {at} = 3 then {at} := 2; end;"));
        }
    }

    /// The call with which thread `t` has waited returns.
    pub fn mark_returned(&self, intent: &Intent, out: &mut Lines) {
        let Some((acquire, release)) = self.synchronising() else { return };
        let object = intent.object().id;
        for (p, call) in self.handing_on() {
            if Self::calls(intent, call) {
                out.line(format!("if passed{p}[{object}] >= 2 then view[t] := 2; end;"));
            }
        }
        if acquire.is_some_and(|acquire| Self::calls(intent, acquire)) {
            out.line("if view[t] >= 4 then view[t] := 2; end;");
        }
        if release.is_some_and(|release| Self::calls(intent, release)) {
            out.open("if view[t] = 2 then");
            out.line("released := true;");
            if acquire.is_none() {
                out.line("for u: Thread do if phase[u] = 0 then view[u] := 2; end; end;");
            }
            out.close("end;");
        }
    }
}
