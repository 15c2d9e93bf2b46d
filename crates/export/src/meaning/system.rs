//! The transitions of the whole system as rules (`docs/semantics.md`, section 6), and its first state.

use super::Export;
use super::bodies::is_at;
use super::handlers::Happening;
use super::names::{
    ANY_ORDER, AT, B, BLOCKS, CHOSEN, COUNT, DEFERRED, DONE, EARLIER, EFFECTS, FX, HELD, I, IDLE, INT, INTENT, LAST,
    LET_GO, LOADS, ME, NODES, NUMBER, NUMBERS, O, PHASE, QUEUE, REGISTER, STORED, STORES, T, THREADS, U, WAITS, WAY,
    WAYS, WRITER, X, Y, arrived, done, holder, how, lane,
};
use super::network::arguments_in;
use super::records::{has_caller, replay_due};
use super::threads::{block_of, node_of};
use crate::model::{
    BOOLEAN, Block, Declared, Expr, Name, Program, Rule, Term, all, any, call, exists, forall, function, procedure,
    range,
};
use trivium_check::Intent;
use trivium_check::checks_values;
use trivium_protocol::{EventKind, Promise, Response, Role, RoleId, StateId};

/// The head of a rule, but for its guard.
pub(super) struct Firing {
    text: String,
    parameters: Vec<Declared>,
    locals: Vec<Declared>,
    /// The node of the handler that runs, if one does, and the thread that has raised its event.
    handler: Option<(Name, Expr)>,
}

impl Firing {
    pub fn of(text: impl Into<String>, parameters: impl IntoIterator<Item = Declared>) -> Firing {
        let (text, parameters) = (text.into(), parameters.into_iter().collect());
        Firing { text, parameters, locals: Vec::new(), handler: None }
    }

    /// A handler of a node runs, whose event no thread has raised.
    pub fn handling(self, node: Name) -> Firing {
        self.handling_for(node, -1)
    }

    /// A handler of a node runs, whose event thread `thread` has raised, or (-1) none.
    pub fn handling_for(self, node: Name, thread: impl Into<Expr>) -> Firing {
        Firing { handler: Some((node, thread.into())), ..self.local(FX.of(EFFECTS)) }
    }

    pub fn local(mut self, local: Declared) -> Firing {
        self.locals.push(local);
        self
    }
}

impl Export<'_> {
    /// What is true for threads when a handler has ended.
    pub fn settling(&self, program: &mut Program) {
        self.returned(program);
        self.going(program);
        let head = procedure("settle").takes(ME, NODES).takes(T, INT).changes(FX, EFFECTS);
        program.define(head.local(U, INT).local(ANY_ORDER, BOOLEAN), |out| {
            self.forget_contents(out);
            self.forget_dead_copies(out);
            self.look_at_deferred(out);
            out.when(T.differs_from(-1), Self::settle_raised);
            out.comment("Calls return.");
            out.for_each(NUMBER, NUMBERS, |out| {
                out.when(FX.field("answered").at(NUMBER), Self::settle_answered);
            });
            out.comment("Threads that were resumed complete what the tag allows; the others try again as new events.");
            out.for_each(B, BLOCKS, |out| {
                out.when(FX.field("resumed").at(B), |out| self.settle_resumed(out));
            });
        });
    }

    /// What has become of the event that thread `t` has raised.
    fn settle_raised(out: &mut Block) {
        out.when(how().is(DONE), |out| {
            out.call("finish", (T, INTENT.at(T)));
            out.leave();
        });
        out.when(how().is(HELD), |out| out.assign(PHASE.at(T), HELD));
        out.when(how().is(DEFERRED), |out| {
            out.refuse(PHASE.at(T).differs_from(WAITS), "fault: a handler completes an access, and defers its event");
            out.assign(PHASE.at(T), DEFERRED);
        });
    }

    /// The call of a thread of node `me` returns.
    fn settle_answered(out: &mut Block) {
        out.assign(U, call("thread_at", (ME, NUMBER)));
        out.refuse(U.is(-1), "fault: a call returns to nobody");
        let calls_nothing = PHASE.at(U).differs_from(WAITS) | block_of(INTENT.at(U)).differs_from(-1);
        out.refuse(calls_nothing, "fault: a call returns to a thread that waits for none");
        out.call("return_to", (U, FX.field("value").at(NUMBER)));
    }

    /// Threads of node `me` that wait with accesses to block `b` are resumed.
    fn settle_resumed(&self, out: &mut Block) {
        let shares = self.threads_per_node > 1;
        if shares {
            out.assign(ANY_ORDER, call("order_counts", (ME, B)));
        }
        let finish = |out: &mut Block| out.call("finish", (X, INTENT.at(X)));
        let becomes = |phase: u8| move |out: &mut Block| out.assign(PHASE.at(X), phase);
        let goes =
            |out: &mut Block| if shares { out.when_else(ANY_ORDER, becomes(LET_GO), finish) } else { finish(out) };
        out.for_each(X, THREADS, |out| {
            out.when(waits_with_access(), |out| {
                out.when(block_of(INTENT.at(X)).is(B), |out| out.when_else(is_allowed(), goes, becomes(HELD)));
            });
        });
    }

    /// Threads of a node that are let go together go on one by one, in any order, before anything else happens.
    fn going(&self, program: &mut Program) {
        if self.threads_per_node == 1 {
            return;
        }
        program.define(function("going", BOOLEAN), |out| out.give(exists(T.of(THREADS), PHASE.at(T).is(LET_GO))));
        let head = function("order_counts", BOOLEAN).takes(ME, NODES).takes(B, BLOCKS);
        program.define(head.local(LOADS, INT).local(STORES, INT), |out| {
            out.assign(LOADS, 0);
            out.assign(STORES, 0);
            out.for_each(X, THREADS, |out| {
                out.when(waits_with_access(), |out| {
                    out.when(block_of(INTENT.at(X)).is(B) & is_allowed(), |out| {
                        out.switch(INTENT.at(X), |cases| {
                            for (i, intent) in self.model.client.intents.iter().enumerate() {
                                if let Some(counted) = self.counts_as(intent) {
                                    cases.case(i, |out| out.increase(&counted, 1));
                                }
                            }
                        });
                    });
                });
            });
            out.give(STORES.gt(0) & (LOADS + STORES).gt(1));
        });
    }

    /// Whether an access is one of those whose order counts, and which: the variable that counts it.
    fn counts_as(&self, intent: &Intent) -> Option<Name> {
        match intent {
            Intent::Read { .. } => Some(LOADS),
            Intent::Write { .. } | Intent::Rmw { .. } | Intent::Store { .. } => Some(STORES),
            // What may turn out to be a store counts as one, however it is chosen.
            Intent::WriteBeside { .. } if self.is_late() => Some(STORES),
            Intent::WriteBeside { .. } | Intent::Image { .. } | Intent::Call { .. } => None,
        }
    }

    /// A rule, which waits for threads that are going.
    pub fn rule(
        &self,
        head: Firing,
        guard: impl IntoIterator<Item = Expr>,
        program: &mut Program,
        body: impl FnOnce(&mut Block),
    ) {
        let waits = (self.threads_per_node > 1).then(|| !call("going", ()));
        self.firing(head, waits.into_iter().chain(guard), program, body);
    }

    /// Handlers of a node run, for a thread or (-1) for none, and what they ask for is done.
    pub fn handles(node: Name, thread: impl Into<Expr>, out: &mut Block, body: impl FnOnce(&mut Block)) {
        out.call("begin_effects", FX);
        body(out);
        out.call("settle", (node, thread, FX));
    }

    /// A rule. Where what is stored is chosen late, or a queue's answers are, it fires once in each way in which these can turn out (`late`, `queues`).
    fn firing(
        &self,
        head: Firing,
        guard: impl IntoIterator<Item = Expr>,
        program: &mut Program,
        body: impl FnOnce(&mut Block),
    ) {
        let Firing { text: name, mut parameters, locals, handler } = head;
        if self.has_ways() {
            parameters.push(WAY.of(WAYS));
        }
        let body = Block::of(|out| {
            if self.has_ways() {
                out.assign(CHOSEN, WAY);
            }
            match handler {
                Some((node, thread)) => Self::handles(node, thread, out, body),
                None => body(out),
            }
            self.forget_queues(out);
            if self.has_ways() {
                out.assume(CHOSEN.is(0));
            }
        });
        program.rules.push(Rule { name, parameters, guard: all(guard), locals, body });
    }

    pub fn rules(&self, program: &mut Program) {
        self.raising(program);
        self.delivery_conditions(program);
        self.delivery_rules(program);
        self.replays_and_timers(program);
        self.thread_rules(program);
        self.evictions(program);
        self.prefetches(program);
        self.phase_rule(program);
        program.start = Block::of(|out| self.first_state(out));
    }

    fn first_state(&self, out: &mut Block) {
        self.first_records(out);
        if self.words > 0 {
            self.first_memory(out);
            self.first_caches(out);
        }
        for l in 0..self.protocol().lanes.len() {
            out.clear(lane(l));
            if self.model.lanes[l].merged {
                out.clear(Self::head_of(l));
            }
        }
        if !self.protocol().tasks.is_empty() {
            out.clear(QUEUE);
        }
        self.first_threads(out);
        self.first_chosen(out);
        self.first_remembered(out);
        self.begin_records(out);
    }

    fn first_remembered(&self, out: &mut Block) {
        // Not cleared: the least value of what bodies compute with is below 0.
        (0..self.registers()).for_each(|register| out.assign(REGISTER.at(register), 0));
        self.begin_bodies(out);
        if checks_values(self.protocol()) && self.has_blocks() {
            out.clear(LAST);
        }
        if self.promises_last_phase() {
            out.clear(EARLIER);
            out.clear(STORED);
        }
        if self.has_phases() {
            out.clear(WRITER);
        }
        self.first_mark(out);
        for (p, promise) in self.protocol().promises.iter().enumerate() {
            match promise {
                Promise::Mutex(..) => out.clear(holder(p)),
                Promise::Barrier(_) => out.clear(arrived(p)),
                _ => {}
            }
        }
        for (a, assume) in self.protocol().assumptions.iter().enumerate() {
            if assume.counted_call().is_some() {
                out.clear(done(a));
            }
        }
    }

    /// Roles that defer, and roles with a state that has a timer.
    pub fn timed(&self, role: RoleId) -> Vec<usize> {
        let states = &self.role(role).states;
        (0..states.len()).filter(|&state| states[state].timer.is_some()).collect()
    }

    fn replays_and_timers(&self, program: &mut Program) {
        for (id, role) in self.roles() {
            if role.defers.is_some() {
                self.replay_condition(id, program);
                self.replay(id, role, program);
            }
            if let Some(column) = role.column(EventKind::Timer) {
                self.time_passes(id, column, program);
            }
        }
    }

    /// The time of a state passes that has a timer.
    fn time_passes(&self, id: RoleId, column: usize, program: &mut Program) {
        let timed = self.timed(id);
        if timed.is_empty() {
            return;
        }
        let object = || self.object_type(self.role(id).object);
        let states = any(timed.iter().map(|&state| self.is_in(id, StateId::at(state), ME, O)));
        let lives = self.lives(id, ME, O).unwrap_or(true.into());
        let can_time = format!("can_time{}", id.0);
        program.define(function(can_time.clone(), BOOLEAN).takes(ME, NODES).takes(O, object()), |out| {
            out.give(lives & states & Self::is_ready(id, column, ME, O));
        });
        let text = format!("the time of {} passes", self.role(id).name);
        let head = Firing::of(text, [ME.of(NODES), O.of(object())]).handling(ME);
        self.rule(head, [call(can_time, (ME, O))], program, |out| Happening::of(ME, O).happens(id, column, out));
    }

    /// The event of a role that was deferred first, or the next one behind it, is handled.
    fn replay(&self, id: RoleId, role: &Role, program: &mut Program) {
        let text = format!("try a deferred event of {} again", role.name);
        let head = Firing::of(text, [ME.of(NODES), O.of(self.object_type(role.object))]).handling_for(ME, T);
        let head = head.local(X.of(Self::event_type(id))).local(AT.of(INT)).local(T.of(INT));
        self.rule(head, [call(format!("can_replay{}", id.0), (ME, O))], program, |out| {
            let kept = || Self::kept(id).at(ME).at(O);
            out.assign(AT, kept().field("cursor"));
            out.assign(X, kept().field("e").at(AT));
            out.call(format!("unkeep{}", id.0), (ME, O, AT));
            out.assign(T, -1);
            out.switch(X.field("c"), |columns| {
                for &event in &role.deferrable {
                    if let Some(column) = role.column(event) {
                        columns.case(column + 1, |out| self.replay_event(id, column, event, out));
                    }
                }
            });
        });
    }

    fn replay_event(&self, id: RoleId, column: usize, event: EventKind, out: &mut Block) {
        let args = arguments_in(&X.into(), self.arguments_of(event).len());
        let mut again = Happening::of(ME, O).from(X.field("s")).with(args).kept(AT);
        if has_caller(event) {
            out.assign(T, call("thread_at", (ME, X.field("t"))));
            out.when(T.differs_from(-1), |out| out.assign(PHASE.at(T), WAITS));
            again = again.by(X.field("t"));
        }
        if self.carries_data(event) {
            again = again.carrying(X.field("p"));
        }
        again.happens(id, column, out);
    }

    fn carries_data(&self, event: EventKind) -> bool {
        match event {
            EventKind::Message(m) => {
                self.protocol().messages[m.index()].payload != trivium_protocol::PayloadShape::Nothing
            }
            event => event == EventKind::WriteBack,
        }
    }

    fn replay_condition(&self, id: RoleId, program: &mut Program) {
        let role = self.role(id);
        let head = function(format!("can_replay{}", id.0), BOOLEAN).takes(ME, NODES);
        program.define(head.takes(O, self.object_type(role.object)), |out| {
            out.when(!replay_due(id), |out| out.give(false));
            let kept = || Self::kept(id).at(ME).at(O);
            out.switch(kept().field("e").at(kept().field("cursor")).field("c"), |columns| {
                for column in role.deferrable.iter().filter_map(|&event| role.column(event)) {
                    columns.give(column + 1, Self::has_room(id, column));
                }
            });
            out.give(false);
        });
    }

    /// What must be true where an intent is what the idle thread `t` does next.
    pub fn may_be_next(&self, number: usize, intent: &Intent) -> Vec<Expr> {
        let place = match &self.model.client.script {
            Some(_) => Some(call("next_intent", T).is(number)),
            None => self.model.client.ops.map(|_| COUNT.at(T).gt(0)),
        };
        place.into_iter().chain(self.may_start(intent)).collect()
    }

    fn thread_rules(&self, program: &mut Program) {
        let client = &self.model.client;
        for (i, intent) in client.intents.iter().enumerate() {
            let text = self.intent_text(intent);
            let of_thread = |text: String| Firing::of(text, [T.of(THREADS)]);
            let raise = |out: &mut Block| out.call(format!("raise{i}"), T);
            let is_doing = |phase: u8| [PHASE.at(T).is(phase), INTENT.at(T).is(i)];
            let mut begin = of_thread(text.clone());
            begin.locals.extend(self.ghost_locals());
            let mut guard = vec![PHASE.at(T).is(IDLE)];
            guard.extend(self.may_be_next(i, intent));
            guard.extend(self.in_this_form(i));
            guard.push(Self::can_raise_now(i, true));
            self.rule(begin, guard, program, |out| {
                if client.ops.is_some() {
                    out.assign(COUNT.at(T), COUNT.at(T) - 1);
                }
                self.started(intent, out);
                raise(out);
            });
            let again = is_doing(HELD).into_iter().chain([Self::can_raise_now(i, false)]);
            self.rule(of_thread(format!("{text}, again")), again, program, raise);
            if self.threads_per_node > 1 && intent.is_access() {
                self.firing(of_thread(format!("{text}, let go")), is_doing(LET_GO), program, raise);
            }
        }
    }

    /// In a scenario: what a thread does next, or -1.
    pub fn script(&self, program: &mut Program) {
        let Some(script) = &self.model.client.script else { return };
        program.define(function("next_intent", INT).takes(T, THREADS), |out| {
            for (t, places) in script.places.iter().enumerate() {
                for (at, look) in places.iter().enumerate() {
                    if let Some((intent, _)) = look {
                        out.when(is_at(t, at), |out| out.give(*intent));
                    }
                }
            }
            out.give(-1);
        });
    }

    fn evictions(&self, program: &mut Program) {
        if self.protocol().cached {
            self.cache_rules(program);
            return;
        }
        for is_home in [false, true] {
            let Some((role, column)) = self.answering(EventKind::Evict, is_home).filter(|_| self.has_blocks()) else {
                continue;
            };
            let leaves = |response: &Response| matches!(response, Response::Handle(_) | Response::Defer);
            let guard = self.unasked(EventKind::Evict, (role, column), is_home, leaves, Vec::new());
            let Some(guard) = guard else { continue };
            let head = Firing::of("evict", [ME.of(NODES), O.of(BLOCKS)]).handling(ME);
            self.rule(head, guard, program, |out| Happening::of(ME, O).happens(role, column, out));
        }
    }

    /// All threads pass a barrier of which the protocol knows nothing.
    fn phase_rule(&self, program: &mut Program) {
        let own_barrier = self.protocol().promises.iter().any(|p| matches!(p, Promise::Barrier(_)));
        if !self.has_phases() || own_barrier {
            return;
        }
        let is_written = exists(B.of(BLOCKS), WRITER.at(B).differs_from(0));
        let are_idle = forall(T.of(THREADS), PHASE.at(T).is(IDLE));
        self.rule(Firing::of("new phase", []), [is_written, are_idle], program, |out| self.new_phase(out));
    }

    /// Whether something happens although no thread or node wants it: conditions one of which must hold.
    pub fn movement(&self) -> Vec<Expr> {
        let mut moves = Vec::new();
        if self.threads_per_node > 1 {
            moves.push(call("going", ()));
        }
        let at_any = |body: Expr| exists(X.of(NODES), body);
        let between_any = |body: Expr| at_any(exists(Y.of(NODES), body));
        for lane in 0..self.protocol().lanes.len() {
            let last = if self.model.lanes[lane].fifo { 0 } else { self.channel - 1 };
            let handled = call(format!("can_handle{lane}"), (X, Y, I));
            moves.push(between_any(exists(I.of(range(0, last)), handled)));
        }
        for lane in (0..self.protocol().lanes.len()).filter(|&lane| self.model.lanes[lane].merged) {
            moves.push(between_any(call(format!("can_come{lane}"), (X, Y))));
        }
        if self.cached() {
            moves.push(at_any(exists(B.of(BLOCKS), call("leaves", (X, B)))));
        }
        if !self.protocol().tasks.is_empty() {
            moves.push(at_any(call("can_run", X)));
        }
        for (id, role) in self.roles() {
            let mut each = |name: &str| {
                let object = Y.of(self.object_type(role.object));
                moves.push(at_any(exists(object, call(format!("{name}{}", id.0), (X, Y)))));
            };
            if role.defers.is_some() {
                each("can_replay");
            }
            if !self.timed(id).is_empty() && role.column(EventKind::Timer).is_some() {
                each("can_time");
            }
        }
        for i in 0..self.model.client.intents.len() {
            let held = PHASE.at(T).is(HELD) & INTENT.at(T).is(i) & Self::can_raise_now(i, false);
            moves.push(exists(T.of(THREADS), held));
        }
        moves
    }

    /// Whether an intent is a call of an operation.
    pub fn calls(intent: &Intent, op: trivium_protocol::OpId) -> bool {
        matches!(intent, Intent::Call { op: called, .. } if *called == op)
    }
}

/// Whether thread `x` of node `me` waits, or is held.
fn waits_with_access() -> Expr {
    node_of(X).is(ME) & (PHASE.at(X).is(WAITS) | PHASE.at(X).is(HELD))
}

/// Whether the tag allows what it wants.
fn is_allowed() -> Expr {
    call("allowed", (X, INTENT.at(X)))
}
