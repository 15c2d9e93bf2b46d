//! What a verdict does not rest on: calls that no thread can make, promises that nothing put to the test.

use crate::coverage::Reached;
use crate::system::client::Intent;
use crate::system::model::Model;
use std::collections::BTreeMap;
use trivium_protocol::walk::{any_expr, any_step, each_step, visit};
use trivium_protocol::{
    Asserted, Assume, EventKind, Expr, ExprKind, Invariant, MessageId, NODE, OpId, PerformKind, Promise, Protocol,
    RoleId, StateId, StepKind,
};

/// Why a system in which nothing can happen says nothing.
pub(crate) const NOTHING_HAPPENS: &str =
    "nothing can happen: no thread can make an access or a call, so that nothing was put to the test";

/// What was never put to the test by an exploration that has visited every state, a sentence each.
///
/// A scenario is a test of what it does, so that of the rest nothing needs to be said.
pub(crate) fn vacuous(model: &Model, reached: &Reached) -> Vec<String> {
    if model.client.script.is_some() {
        return Vec::new();
    }
    let protocol = model.protocol();
    let looker = Looker { model, protocol, reached };
    let mut all = looker.calls();
    all.extend(protocol.promises.iter().enumerate().filter_map(|(p, promise)| {
        let why = looker.untested(p, promise)?;
        Some(format!("{} is not put to the test: {why}", protocol.promise_name(promise)))
    }));
    all.extend(protocol.invariants.iter().filter_map(|invariant| {
        let why = looker.untested_invariant(invariant)?;
        Some(format!("invariant {} is not put to the test: {why}", invariant.name))
    }));
    all.extend(protocol.leads_to.iter().filter_map(|leads| {
        let why = looker.untested_invariant(&leads.from)?;
        Some(format!("leads_to {} is not put to the test: {why}", leads.name))
    }));
    all.extend(looker.assertions());
    all.extend(looker.awaits());
    all.extend(looker.unanswered());
    all.extend(looker.words());
    all
}

struct Looker<'m> {
    model: &'m Model,
    protocol: &'m Protocol,
    reached: &'m Reached,
}

impl Looker<'_> {
    fn name(&self, op: OpId) -> &str {
        &self.protocol.ops[op.index()].name
    }

    fn is_called(&self, op: OpId) -> bool {
        // A call with a body is no event of a role.
        self.reached.happened(EventKind::Op(op)) || self.reached.went(self.protocol.ops[op.index()].span, true)
    }

    /// What handlers read and store of words whose accesses by threads have no value.
    fn words(&self) -> Vec<String> {
        let has_word_beside =
            self.model.client.intents.iter().any(|intent| matches!(intent, Intent::WriteBeside { .. }));
        if !has_word_beside {
            return Vec::new();
        }
        let reads = any_expr(self.protocol, |kind| matches!(kind, ExprKind::Memory(_)));
        let fixed = |at: &Expr| match &at.kind {
            ExprKind::Constant(number) => Some(number.at(self.model.nodes)),
            _ => None,
        };
        let stores = any_step(self.protocol, |step| match step {
            StepKind::Store(at, _) => fixed(at) != Some(0),
            StepKind::Copy { .. } => true,
            // At an address that is asked for it is the access of a thread.
            StepKind::Perform(perform) => {
                perform.kind == PerformKind::Write && perform.args.first().and_then(fixed).is_some_and(|at| at != 0)
            }
            _ => false,
        });
        let reads = reads.then_some(
            "what `memory[..]` reads is not put to the test where it is another word of a block than the first: \
             threads store there, and their stores leave no value",
        );
        let stores = stores.then_some(
            "what handlers store is not put to the test where it is another word of a block than the first: \
             threads load from there, and their loads are compared with nothing",
        );
        reads.into_iter().chain(stores).map(String::from).collect()
    }

    /// Calls that were made and never returned, each of them excused.
    fn unanswered(&self) -> Vec<String> {
        let ops = (0..).zip(&self.protocol.ops).map(|(o, op)| (OpId(o), op));
        ops.filter(|(_, op)| !op.is_told())
            .filter(|(id, _)| self.is_called(*id) && !self.reached.has_returned(*id))
            .map(|(_, op)| format!("`{}` is called and never returns", op.name))
            .collect()
    }

    /// Calls that were never made.
    fn calls(&self) -> Vec<String> {
        let ops = (0..).zip(&self.protocol.ops).map(|(o, op)| (OpId(o), op));
        let uncalled = ops
            .filter(|(id, op)| !op.is_event && !self.is_called(*id))
            .map(|(id, op)| format!("`{}` is never called: {}", op.name, self.why_uncalled(id)));
        let only_none = &self.model.client.only_none;
        let in_part = only_none.iter().map(|(id, what)| format!("`{}` is called in part: {what}", self.name(*id)));
        uncalled.chain(in_part).collect()
    }

    fn why_uncalled(&self, op: OpId) -> String {
        if let Some((_, why)) = self.model.client.unmakeable.iter().find(|(other, _)| *other == op) {
            return why.clone();
        }
        for promise in &self.protocol.promises {
            if let Promise::Mutex(acquire, release) = promise
                && *release == op
                && !self.reached.has_returned(*acquire)
            {
                return format!("`{}` never returns", self.name(*acquire));
            }
        }
        for assume in &self.protocol.assumptions {
            if let Assume::Alternate(first, second) | Assume::Before(first, second) = assume
                && *second == op
                && !self.is_called(*first)
            {
                return format!("`{}` is not called either, and comes before it", self.name(*first));
            }
        }
        "no role answers it where a thread is, in no state that was reached".into()
    }

    /// Why a promise was not put to the test, if it was not.
    fn untested(&self, p: usize, promise: &Promise) -> Option<String> {
        let performed = |done: bool, what: &str| (!done).then(|| format!("no thread ever performs a {what}"));
        let returns = |op: OpId| (!self.reached.has_returned(op)).then(|| format!("`{}` never returns", self.name(op)));
        match promise {
            Promise::SingleWriter => performed(self.reached.stores, "store"),
            Promise::LastWrite
            | Promise::LastPhase
            | Promise::Sequential
            | Promise::Coherent
            | Promise::Tso
            | Promise::ReleaseConsistency { .. } => {
                performed(self.reached.loads, "load").or_else(|| performed(self.reached.stores, "store"))
            }
            Promise::Mutex(acquire, _) => returns(*acquire).or_else(|| {
                let asked = self.reached.contended[p];
                (!asked).then(|| format!("`{}` is never called while another thread holds it", self.name(*acquire)))
            }),
            Promise::Barrier(arrive) => returns(*arrive),
            Promise::Copies(copies) => returns(copies.copy).or_else(|| returns(copies.wait)),
        }
    }

    /// Why an invariant was not: there is nothing that it is about, or what it speaks of never happened.
    fn untested_invariant(&self, invariant: &Invariant) -> Option<String> {
        let kind = invariant.object;
        if kind != NODE && self.model.objects[kind.index()] == 0 {
            return Some(format!("there are no objects of the kind `{}`", self.protocol.objects[kind.index()]));
        }
        let mut why = None;
        visit(&invariant.condition, &mut |expr| {
            let missing = match &expr.kind {
                ExprKind::InState(_, role, states) => self.never_in(*role, states),
                ExprKind::Flight(message, _) if !self.reached.happened(EventKind::Message(*message)) => {
                    Some(format!("no `{}` is ever sent", self.protocol.messages[message.index()].name))
                }
                _ => None,
            };
            why = why.take().or(missing);
        });
        why
    }

    fn never_in(&self, role: RoleId, states: &[StateId]) -> Option<String> {
        let declared = &self.protocol.roles[role.index()];
        let lives = declared.object == NODE || self.model.objects[declared.object.index()] > 0;
        let was_in = |state: &StateId| lives && (state.index() == 0 || self.reached.was_entered(role, *state));
        if states.iter().any(was_in) {
            return None;
        }
        let names: Vec<&str> = states.iter().map(|state| declared.states[state.index()].name.as_str()).collect();
        Some(format!("`{}` is never in {}", declared.name, names.join(" or ")))
    }

    /// Assertions of the text that were never looked at.
    fn assertions(&self) -> Vec<String> {
        let mut all = BTreeMap::new();
        for handler in self.protocol.roles.iter().flat_map(|role| &role.handlers) {
            each_step(&handler.steps, &mut |step| {
                // What an `await` asks of a sender has the place of the whole `await`.
                if matches!(&step.kind, StepKind::Assert(condition, Asserted::Written) if condition.span != step.span) {
                    all.insert((step.span.file, step.span.start), step.span);
                }
            });
        }
        let never = all.into_values().filter(|span| !self.reached.went(*span, true));
        never.map(|span| format!("the assertion at {} is never looked at", self.protocol.sources.place(span))).collect()
    }

    /// Waits that were entered, and in which nothing of what they wait for arrives, whatever access was lowered meanwhile.
    fn awaits(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (role, r) in self.protocol.roles.iter().zip(0..) {
            let mut answered: BTreeMap<&str, bool> = BTreeMap::new();
            for (state, s) in role.states.iter().zip(0..).filter(|(state, _)| state.waiting) {
                let (r, s) = (RoleId(r), StateId(s));
                if self.reached.was_entered(r, s) {
                    let wait = state.name.split('(').next().unwrap_or_default();
                    let arrives = |message: &MessageId| self.reached.met(r, s, EventKind::Message(*message));
                    *answered.entry(wait).or_default() |= state.awaits.iter().any(arrives);
                }
            }
            let never = answered.into_iter().filter(|(_, arrives)| !arrives);
            all.extend(never.map(|(wait, _)| format!("{}.{wait} waits for what never arrives", role.name)));
        }
        all
    }
}
