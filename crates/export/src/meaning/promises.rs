//! What the promises mean (`docs/semantics.md`, section 7): what is remembered for them, and invariants.

use super::Export;
use super::expressions::Scope;
use super::names::{
    B, BLOCKS, COUNT, EARLIER, HOLDER, I, IDLE, INT, INTENT, LAST, N, NODES, O, PHASE, STORED, T, THREADS, U, VALUE,
    WRITER, X, Y, arrived, done, holder, lane, local, locals,
};
use super::threads::node_of;
use crate::model::{
    self, BOOLEAN, Block, Cases, Program, Term, all, any, call, exists, forall, function, procedure, values,
};
use trivium_check::Intent;
use trivium_engine::Object;
use trivium_protocol::walk::visit;
use trivium_protocol::{Assume, Expr, ExprKind, GhostEvent, Invariant, MessageId, ObjectKindId, OpId, Promise, RoleId};

impl Export<'_> {
    /// What the assumptions, and the discipline that the promises imply, ask of thread `t` where it does this.
    pub fn may_start(&self, intent: &Intent) -> Vec<model::Expr> {
        let mut asked = match intent {
            Intent::Read { .. } | Intent::Image { .. } => Vec::new(),
            Intent::Write { block, .. }
            | Intent::WriteBeside { block }
            | Intent::Rmw { block, .. }
            | Intent::Store { block } => self.may_store(intent, *block),
            Intent::Call { op, object, .. } => self.may_call(*op, *object),
        };
        asked.extend(intent.named_objects(self.engine()).into_iter().flat_map(|object| self.is_there(object)));
        asked.extend(self.assumed(intent));
        if asked.is_empty() { vec![true.into()] } else { asked }
    }

    /// What thread `t` asks of an object that its call names: if handlers make it, that it is at home on the thread's node, and there.
    fn is_there(&self, object: Object) -> Vec<model::Expr> {
        let Some(made) = self.protocol().made_kind(object.kind) else { return Vec::new() };
        let nodes = self.model.nodes;
        let used = self.var_name(made.role, 0).at(node_of(T)).at(0);
        vec![node_of(T).is(object.id % nodes), call("has", (used, object.id / nodes))]
    }

    fn may_store(&self, intent: &Intent, block: u32) -> Vec<model::Expr> {
        let mut asked = match intent {
            Intent::Write { value, .. } | Intent::Rmw { value, .. } => self.may_announce(*value),
            _ => Vec::new(),
        };
        if self.protocol().assumptions.contains(&Assume::HomeWrites) {
            asked.push(node_of(T).is(block % self.model.nodes));
        }
        if self.has_phases() {
            asked.push(WRITER.at(block).is(0) | WRITER.at(block).is(node_of(T) + 1));
        }
        asked
    }

    fn may_call(&self, op: OpId, object: Object) -> Vec<model::Expr> {
        let mut asked = Vec::new();
        for (p, promise) in self.protocol().promises.iter().enumerate() {
            match promise {
                Promise::Mutex(_, release) if *release == op => asked.push(has_lock(p, object.id)),
                Promise::Mutex(acquire, _) if *acquire == op => {
                    asked.push(holder(p).at(object.id).differs_from(T + 1));
                }
                Promise::Barrier(arrive) if *arrive == op => {
                    let same = |other: &Intent| Self::calls(other, *arrive) && other.object() == object;
                    let intents = self.model.client.intents.iter().enumerate();
                    let calls = any(intents.filter(|(_, i)| same(i)).map(|(i, _)| INTENT.at(U).is(i)));
                    let is_elsewhere = node_of(U).differs_from(node_of(T));
                    asked.push(forall(U.of(THREADS), is_elsewhere | PHASE.at(U).is(IDLE) | !calls));
                }
                _ => {}
            }
        }
        for (a, assume) in self.protocol().assumptions.iter().enumerate() {
            let done = done(a).at(T).at(object.id);
            match assume {
                Assume::Alternate(first, _) if *first == op => asked.push(!done),
                Assume::Alternate(_, second) if *second == op => asked.push(done),
                Assume::Once(once) if *once == op => asked.push(!done),
                Assume::Before(_, later) if *later == op => asked.push(done),
                _ => {}
            }
        }
        asked
    }

    /// What is assumed about each such call or access of thread `t`.
    fn assumed(&self, intent: &Intent) -> Vec<model::Expr> {
        let object = intent.object();
        let words = self.passed(intent);
        let kind = trivium_check::event_kind(intent);
        let role = self.role_about(object.kind);
        let conditions = self.protocol().conditions.iter().filter(|condition| condition.event == kind);
        conditions
            .map(|condition| {
                let scope = Scope {
                    export: self,
                    node: node_of(T),
                    object: object.id.into(),
                    role,
                    here: true,
                    first: None,
                    event: None,
                    locals: &[],
                };
                let condition = scope.truth(&condition.condition);
                words.iter().enumerate().fold(condition, |condition, (at, word)| condition.with(&local(at), word))
            })
            .collect()
    }

    /// Remembers that thread `t` has begun an access or a call.
    pub fn started(&self, intent: &Intent, out: &mut Block) {
        self.mark_started(intent, out);
        match intent {
            Intent::Read { .. } | Intent::Image { .. } => {}
            Intent::Write { block, .. }
            | Intent::WriteBeside { block }
            | Intent::Rmw { block, .. }
            | Intent::Store { block } => {
                if self.has_phases() {
                    out.assign(WRITER.at(*block), node_of(T) + 1);
                }
            }
            Intent::Call { op, object, .. } => {
                let o = object.id;
                for (p, promise) in self.protocol().promises.iter().enumerate() {
                    match promise {
                        Promise::Mutex(_, release) if release == op => {
                            out.when(has_lock(p, o), |out| out.assign(holder(p).at(o), 0));
                        }
                        Promise::Barrier(arrive) if arrive == op => {
                            let arrived = |node: model::Expr| arrived(p).at(o).at(node);
                            out.assign(arrived(node_of(T)), true);
                            out.when(forall(N.of(NODES), arrived(N.into())), |out| {
                                out.for_each(N, NODES, |out| out.assign(arrived(N.into()), false));
                                self.mark_arrived(p, o, out);
                                self.new_phase(out);
                            });
                        }
                        _ => {}
                    }
                }
                self.tell(GhostEvent::Call(*op), object.kind, o, node_of(T), self.passed(intent), out);
                for (a, assume) in self.protocol().assumptions.iter().enumerate() {
                    match assume {
                        Assume::Alternate(first, _) | Assume::Before(first, _) | Assume::Once(first) if first == op => {
                            out.assign(done(a).at(T).at(o), true);
                        }
                        Assume::Alternate(_, second) if second == op => out.assign(done(a).at(T).at(o), false),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Each block has one writer in a phase; another may write it in the next.
    pub fn new_phase(&self, out: &mut Block) {
        if self.has_phases() {
            out.clear(WRITER);
        }
        if self.promises_last_phase() {
            out.for_each(B, BLOCKS, |out| out.assign(EARLIER.at(B), LAST.at(B)));
            out.clear(STORED);
        }
    }

    /// A thread's call returns: the promises about returns.
    pub fn returned(&self, program: &mut Program) {
        self.script(program);
        let head = procedure("return_to").takes(T, THREADS).takes(VALUE, INT).local(I, INT);
        program.define(head.locals(self.ghost_locals()), |out| {
            out.assign(I, INTENT.at(T));
            Self::is_idle(out);
            out.call("advance", (T, true, VALUE));
            out.switch(I, |intents| {
                for (i, intent) in self.model.client.intents.iter().enumerate() {
                    if let Intent::Call { op, object, .. } = intent {
                        intents.case(i, |out| self.call_returned(intent, *op, *object, out));
                    }
                }
            });
        });
    }

    fn call_returned(&self, intent: &Intent, op: OpId, object: Object, out: &mut Block) {
        let o = object.id;
        for (p, promise) in self.protocol().promises.iter().enumerate() {
            match promise {
                Promise::Mutex(acquire, _) if *acquire == op => {
                    out.refuse(holder(p).at(o).differs_from(0), "mutex: two threads have it");
                    out.assign(holder(p).at(o), T + 1);
                }
                Promise::Barrier(arrive) if *arrive == op => {
                    out.refuse(arrived(p).at(o).at(node_of(T)), "barrier: a thread leaves too early");
                }
                _ => {}
            }
        }
        self.tell(GhostEvent::Return(op), object.kind, o, node_of(T), values(VALUE), out);
        self.mark_returned(intent, out);
    }

    /// A role about objects of a kind.
    fn role_about(&self, kind: ObjectKindId) -> RoleId {
        self.roles().find(|(_, role)| role.object == kind).map_or(RoleId(0), |(id, _)| id)
    }

    /// What an invariant about an object `o` is read in.
    fn scope_of(&self, kind: ObjectKindId) -> Scope<'_> {
        Scope {
            export: self,
            node: self.home_of(O),
            object: O.into(),
            role: self.role_about(kind),
            here: false,
            first: None,
            event: None,
            locals: &[],
        }
    }

    /// Invariants: one writer, the protocol's own, the outcome of a scenario, no deadlock.
    pub fn promises(&self, program: &mut Program) {
        let protocol = self.protocol();
        if protocol.promises.contains(&Promise::SingleWriter) && self.has_blocks() {
            let tag = |node: model::Name| call("tag", (node, B));
            let one_writer = X.is(Y) | tag(X).differs_from(2) | tag(Y).is(0);
            let one_writer = forall(X.of(NODES), forall(Y.of(NODES), one_writer));
            program.invariant("single_writer", forall(B.of(BLOCKS), one_writer));
        }
        let mut counted = Vec::new();
        protocol.invariants.iter().for_each(|invariant| flights_in(&invariant.condition, &mut counted));
        protocol.waits.iter().for_each(|wait| flights_in(&wait.until.condition, &mut counted));
        counted.sort();
        counted.dedup();
        counted.into_iter().for_each(|message| self.flights(message, program));
        // One about objects of which there are none says nothing.
        let is_about_any = |invariant: &&Invariant| self.model.objects[invariant.object.index()] > 0;
        for invariant in protocol.invariants.iter().filter(is_about_any) {
            let condition = self.scope_of(invariant.object).truth(&invariant.condition);
            program.invariant(&invariant.name, forall(O.of(self.object_type(invariant.object)), condition));
        }
        for leads in &protocol.leads_to {
            let unchecked =
                format!("Not checked here, as nothing is that takes time to come: leads_to {}.", leads.name);
            program.unchecked.push(unchecked);
        }
        self.outcome(program);
        self.deadlock(program);
    }

    /// A scenario's forbidden outcome, once all its threads are done.
    fn outcome(&self, program: &mut Program) {
        let Some(script) = &self.model.client.script else { return };
        let Some(forbid) = &script.scenario.forbid else { return };
        self.computed("forbidden", forbid, BOOLEAN, program);
        let ends = script.places.iter().enumerate().map(|(t, places)| COUNT.at(t).is(places.len()));
        let idle = forall(T.of(THREADS), PHASE.at(T).is(IDLE));
        let outcome = ends.chain([idle, call("forbidden", self.given_registers())]);
        program.invariant(format!("scenario {}", script.scenario.name), !all(outcome));
    }

    /// A state in which nothing that must happen can happen, and somebody waits (`system/progress.rs` of `check`).
    fn deadlock(&self, program: &mut Program) {
        let moves = any(self.movement().into_iter().chain(self.owed_starts()));
        program.define(function("moves", BOOLEAN), |out| out.give(moves));
        let head = function("is_free", BOOLEAN).takes(HOLDER, INT);
        let head = head.comment("Whether a thread, given by its number plus one, can go on by itself.");
        program.define(head, |out| {
            out.when(HOLDER.is(0), |out| out.give(true));
            let left = self.model.client.ops.map(|_| COUNT.at(HOLDER - 1).gt(0));
            out.give(all([PHASE.at(HOLDER - 1).is(IDLE)].into_iter().chain(left)));
        });
        self.declared_waits(program);
        let comment = "A call may wait for ever for a lock or a barrier where the program keeps it waiting; not so in a scenario.";
        program.define(function("may_wait", BOOLEAN).takes(T, THREADS).comment(comment), |out| {
            if self.model.client.script.is_none() {
                out.switch(INTENT.at(T), |intents| self.may_wait(intents));
            }
            out.give(false);
        });
        let lanes = (0..self.protocol().lanes.len()).map(lane);
        let sent = lanes.map(|lane| exists(X.of(NODES), exists(Y.of(NODES), lane.at(X).at(Y).field("n").gt(0))));
        let wants = PHASE.at(T).differs_from(IDLE) & !call("may_wait", T);
        let ends = self.model.client.script.iter().flat_map(|script| script.places.iter().enumerate());
        let left = ends.map(|(t, places)| PHASE.at(t).is(IDLE) & COUNT.at(t).lt(places.len()));
        let waits = any(sent.chain([exists(T.of(THREADS), wants)]).chain(left));
        program.define(function("waits", BOOLEAN), |out| out.give(waits));
        let [waits, moves] = ["waits", "moves"].map(|what| call(what, ()));
        program.invariant("deadlock", !waits | moves);
    }

    fn may_wait(&self, intents: &mut Cases) {
        for (i, intent) in self.model.client.intents.iter().enumerate() {
            let Intent::Call { op, object, .. } = intent else { continue };
            let promises = self.protocol().promises.iter().enumerate();
            let is_free = |holder: model::Expr| call("is_free", holder);
            let promised = promises.filter_map(|(p, promise)| match promise {
                Promise::Mutex(acquire, _) if acquire == op => Some(!is_free(holder(p).at(object.id))),
                Promise::Barrier(arrive) if arrive == op => {
                    let arrived = |node: model::Expr| arrived(p).at(object.id).at(node);
                    let comes = exists(U.of(THREADS), node_of(U).is(N) & is_free(U + 1));
                    let missing = exists(N.of(NODES), !arrived(N.into()) & !comes);
                    Some(arrived(node_of(T)) & missing)
                }
                _ => None,
            });
            let waits = self.protocol().waits.iter().enumerate().filter(|(_, wait)| wait.op == *op);
            let declared = waits.map(|(w, _)| {
                let given = [values((object.id, node_of(T))), self.passed(intent)].concat();
                !call(format!("wait{w}"), given)
            });
            let waits: Vec<model::Expr> = promised.chain(declared).collect();
            if !waits.is_empty() {
                intents.give(i, any(waits));
            }
        }
    }

    /// What calls are declared to wait for; the first locals are the calling node and the call's arguments.
    fn declared_waits(&self, program: &mut Program) {
        if self.model.client.script.is_some() {
            return;
        }
        for (w, wait) in self.protocol().waits.iter().enumerate() {
            let scope = self.scope_of(wait.until.object);
            let words = self.protocol().ops[wait.op.index()].args.len();
            let head = function(format!("wait{w}"), BOOLEAN).takes(O, self.object_type(wait.until.object));
            program.define(head.takes_each(locals(words + 1), &INT), |out| {
                out.give(scope.truth(&wait.until.condition));
            });
        }
    }

    /// Whether an idle thread can do what it owes to others: one condition for each intent.
    fn owed_starts(&self) -> Vec<model::Expr> {
        let starts = self.model.client.intents.iter().enumerate().filter_map(|(i, intent)| {
            let owed = match (&self.model.client.script, intent) {
                (Some(_), _) => Some(true.into()),
                (None, Intent::Call { op, object, .. }) => self.owes(*op, object.id, &mut Vec::new()),
                _ => None,
            };
            let can = Self::can_raise_now(i, true);
            let may = [PHASE.at(T).is(IDLE)].into_iter().chain(self.may_be_next(i, intent)).chain([owed?, can]);
            Some(exists(T.of(THREADS), all(may)))
        });
        starts.collect()
    }

    /// Whether thread `t` owes it to others to make a call, or to make it before another that it owes; nothing if never.
    fn owes(&self, op: OpId, object: u32, path: &mut Vec<OpId>) -> Option<model::Expr> {
        if path.contains(&op) {
            return None;
        }
        let promises = self.protocol().promises.iter().enumerate();
        let mut owed: Vec<model::Expr> = promises
            .filter_map(|(p, promise)| match promise {
                Promise::Mutex(_, release) if *release == op => Some(has_lock(p, object)),
                Promise::Barrier(arrive) if *arrive == op => {
                    let arrived = |node: model::Expr| arrived(p).at(object).at(node);
                    Some(!arrived(node_of(T)) & exists(N.of(NODES), arrived(N.into())))
                }
                _ => None,
            })
            .collect();
        path.push(op);
        for (a, assume) in self.protocol().assumptions.iter().enumerate() {
            let done = done(a).at(T).at(object);
            let (is_due, later) = match assume {
                Assume::Before(first, later) | Assume::Alternate(first, later) if *first == op => (!done, *later),
                Assume::Alternate(first, second) if *second == op => (done, *first),
                _ => continue,
            };
            owed.extend(self.owes(later, object, path).map(|later| is_due & later));
        }
        path.pop();
        (!owed.is_empty()).then(|| any(owed))
    }
}

/// Whether thread `t` has a lock.
fn has_lock(promise: usize, object: u32) -> model::Expr {
    holder(promise).at(object).is(T + 1)
}

/// The messages whose number an invariant asks for.
fn flights_in(expr: &Expr, found: &mut Vec<MessageId>) {
    visit(expr, &mut |part: &Expr| {
        if let ExprKind::Flight(message, _) = &part.kind {
            found.push(*message);
        }
    });
}
