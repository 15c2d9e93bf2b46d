//! The transitions of the whole system as rules (`docs/semantics.md`, section 6), and its first state.

use super::Export;
use super::lines::Lines;
use super::records::{has_caller, replay_due};
use trivium_check::Intent;
use trivium_check::checks_values;
use trivium_protocol::{BLOCK, EventKind, Promise, Response, Role, RoleId, StateId};

impl Export<'_> {
    /// What is true for threads when a handler has ended.
    pub fn settling(&self, out: &mut Lines) {
        self.returned(out);
        let head = "procedure settle(me: Node; t: Int; var fx: Effects)";
        self.going(out);
        out.routine(head, &["u: Int".into(), "any_order: boolean".into()], |out| {
            self.forget_contents(out);
            self.forget_dead_copies(out);
            self.look_at_deferred(out);
            out.open("if t != -1 then");
            out.line("if fx.how = 1 then finish(t, intent[t]); return; end;");
            out.line("if fx.how = 2 then phase[t] := 2; end;");
            out.open("if fx.how = 3 then");
            out.line(
                "if phase[t] != 1 then error \"fault: a handler completes an access, and defers its event\"; end;",
            );
            out.line("phase[t] := 3;");
            out.close("end;");
            out.close("end;");
            out.comment("Calls return.");
            out.open("for number: Number do");
            out.open("if fx.answered[number] then");
            out.line("u := thread_at(me, number);");
            out.line("if u = -1 then error \"fault: a call returns to nobody\"; end;");
            out.open("if phase[u] != 1 | block_of(intent[u]) != -1 then");
            out.line("error \"fault: a call returns to a thread that waits for none\";");
            out.close("end;");
            out.line("return_to(u, fx.value[number]);");
            out.close("end;");
            out.close("end;");
            out.comment("Threads that were resumed complete what the tag allows; the others try again as new events.");
            out.open("for b: Obj_block do");
            out.open("if fx.resumed[b] then");
            let shares = self.threads_per_node > 1;
            if shares {
                out.line("any_order := order_counts(me, b);");
            }
            out.open("for x: Thread do");
            out.open("if node_of(x) = me & (phase[x] = 1 | phase[x] = 2) then");
            out.open("if block_of(intent[x]) = b then");
            let goes = if shares {
                "if any_order then phase[x] := 4; else finish(x, intent[x]); end;"
            } else {
                "finish(x, intent[x]);"
            };
            out.line(format!("if allowed(x, intent[x]) then {goes} else phase[x] := 2; end;"));
            out.close("end;");
            out.close("end;");
            out.close("end;");
            out.close("end;");
            out.close("end;");
        });
    }

    /// Threads of a node that are let go together go on one by one, in any order, before anything else happens.
    fn going(&self, out: &mut Lines) {
        if self.threads_per_node == 1 {
            return;
        }
        out.routine("function going(): boolean", &[], |out| {
            out.line("return exists t: Thread do phase[t] = 4 end;");
        });
        let locals = ["loads: Int".to_string(), "stores: Int".to_string()];
        out.routine("function order_counts(me: Node; b: Obj_block): boolean", &locals, |out| {
            out.line("loads := 0;");
            out.line("stores := 0;");
            out.open("for x: Thread do");
            out.open("if node_of(x) = me & (phase[x] = 1 | phase[x] = 2) then");
            out.open("if block_of(intent[x]) = b & allowed(x, intent[x]) then");
            out.open("switch intent[x]");
            for (i, intent) in self.model.client.intents.iter().enumerate() {
                match intent {
                    Intent::Read { .. } => out.line(format!("case {i}: loads := loads + 1;")),
                    Intent::Write { .. } | Intent::Rmw { .. } | Intent::Store { .. } => {
                        out.line(format!("case {i}: stores := stores + 1;"));
                    }
                    // What may turn out to be a store counts as one, however it is chosen.
                    Intent::WriteBeside { .. } if self.is_late() => {
                        out.line(format!("case {i}: stores := stores + 1;"))
                    }
                    Intent::WriteBeside { .. } | Intent::Call { .. } => {}
                }
            }
            out.close("end;");
            out.close("end;");
            out.close("end;");
            out.close("end;");
            out.line("return stores > 0 & loads + stores > 1;");
        });
    }

    /// A rule, which waits for threads that are going; `locals` is `var ..;` or empty.
    pub fn rule(&self, text: &str, guard: &str, locals: &str, out: &mut Lines, body: impl FnOnce(&mut Lines)) {
        let first = if self.threads_per_node > 1 { "!going() & " } else { "" };
        self.firing(text, &format!("{first}{guard}"), locals, out, body);
    }

    /// A rule. Where what is stored is chosen late, or a queue's answers are, it fires once in each way in which these can turn out (`late`, `queues`).
    fn firing(&self, text: &str, guard: &str, locals: &str, out: &mut Lines, body: impl FnOnce(&mut Lines)) {
        if self.has_ways() {
            out.open("ruleset way: Way do");
        }
        out.line(format!("rule \"{text}\" {guard} ==>"));
        if locals.is_empty() {
            out.open("begin");
        } else {
            out.open(locals);
            out.middle("begin");
        }
        if self.has_ways() {
            out.line("chosen := way;");
        }
        body(out);
        self.forget_queues(out);
        if self.has_ways() {
            out.line("assume chosen = 0;");
        }
        out.close("end;");
        if self.has_ways() {
            out.close("end;");
        }
    }

    pub fn rules(&self, out: &mut Lines) {
        self.raising(out);
        self.delivery_conditions(out);
        self.delivery_rules(out);
        self.replays_and_timers(out);
        self.thread_rules(out);
        self.evictions(out);
        self.prefetches(out);
        self.phase_rule(out);
        out.line("startstate");
        out.open("begin");
        self.first_records(out);
        if self.words > 0 {
            self.first_memory(out);
            self.first_caches(out);
        }
        for lane in 0..self.protocol().lanes.len() {
            out.line(format!("clear lane{lane};"));
            if self.model.lanes[lane].merged {
                out.line(format!("clear head{lane};"));
            }
        }
        if !self.protocol().tasks.is_empty() {
            out.line("clear queue;");
        }
        self.first_threads(out);
        self.first_chosen(out);
        self.first_remembered(out);
        self.begin_records(out);
        out.close("end;");
        out.blank();
    }

    fn first_remembered(&self, out: &mut Lines) {
        // Not cleared: the least value of what bodies compute with is below 0.
        let registers = self.model.client.script.as_ref().map_or(0, |script| script.scenario.registers.len());
        (0..registers).for_each(|register| out.line(format!("register[{register}] := 0;")));
        self.begin_bodies(out);
        if checks_values(self.protocol()) && self.has_blocks() {
            out.line("clear last;");
        }
        if self.promises_last_phase() {
            out.line("clear earlier;");
            out.line("clear stored;");
        }
        if self.has_phases() {
            out.line("clear writer;");
        }
        self.first_mark(out);
        for (p, promise) in self.protocol().promises.iter().enumerate() {
            match promise {
                Promise::Mutex(..) => out.line(format!("clear holder{p};")),
                Promise::Barrier(_) => out.line(format!("clear arrived{p};")),
                _ => {}
            }
        }
        for (a, assume) in self.protocol().assumptions.iter().enumerate() {
            if assume.counted_call().is_some() {
                out.line(format!("clear done{a};"));
            }
        }
    }

    /// Roles that defer, and roles with a state that has a timer.
    pub fn timed(&self, role: RoleId) -> Vec<usize> {
        let states = &self.role(role).states;
        (0..states.len()).filter(|&state| states[state].timer.is_some()).collect()
    }

    fn replays_and_timers(&self, out: &mut Lines) {
        for (id, role) in self.roles() {
            let r = id.0;
            let object = self.object_type(role.object);
            if role.defers.is_some() {
                self.replay_condition(id, out);
                out.open(format!("ruleset me: Node; o: {object} do"));
                let text = format!("try a deferred event of {} again", role.name);
                let locals = format!("var fx: Effects; x: Event{r}; at: Int; t: Int;");
                let guard = format!("can_replay{r}(me, o)");
                self.rule(&text, &guard, &locals, out, |out| self.replay(id, role, out));
                out.close("end;");
                out.blank();
            }
            let timed = self.timed(id);
            if let (false, Some(column)) = (timed.is_empty(), role.column(EventKind::Timer)) {
                let states: Vec<String> = timed
                    .iter()
                    .map(|&s| format!("{}[me][o] = {}", self.state_var(id), self.state_name(id, StateId::at(s))))
                    .collect();
                let lives = self.lives(id, "me", "o");
                out.routine(&format!("function can_time{r}(me: Node; o: {object}): boolean"), &[], |out| {
                    out.line(format!("return {lives} & ({}) & ready{r}_{column}(me, o);", states.join(" | ")));
                });
                out.open(format!("ruleset me: Node; o: {object} do"));
                let text = format!("the time of {} passes", role.name);
                self.rule(&text, &format!("can_time{r}(me, o)"), "var fx: Effects;", out, |out| {
                    out.line("begin_effects(fx);");
                    out.line(format!("on{r}_{column}(me, o, me, -1, 0, -1, fx);"));
                    out.line("settle(me, -1, fx);");
                });
                out.close("end;");
                out.blank();
            }
        }
    }

    /// The event of a role that was deferred first, or the next one behind it, is handled.
    fn replay(&self, id: RoleId, role: &Role, out: &mut Lines) {
        let r = id.0;
        out.line("begin_effects(fx);");
        out.line(format!("at := kept_{r}[me][o].cursor;"));
        out.line(format!("x := kept_{r}[me][o].e[at];"));
        out.line(format!("unkeep{r}(me, o, at);"));
        out.line("t := -1;");
        out.open("switch x.c");
        for &event in &role.deferrable {
            let Some(column) = role.column(event) else { continue };
            out.open(format!("case {}:", column + 1));
            let thread = if has_caller(event) {
                out.line("t := thread_at(me, x.t);");
                out.line("if t != -1 then phase[t] := 1; end;");
                "x.t"
            } else {
                "-1"
            };
            let arguments: String = (0..self.arguments_of(event).len()).map(|a| format!(", x.a{a}")).collect();
            let data = if self.carries_data(event) { "x.p" } else { "0" };
            out.line(format!("on{r}_{column}(me, o, x.s, {thread}{arguments}, {data}, at, fx);"));
            out.close("");
        }
        out.close("end;");
        out.line("settle(me, t, fx);");
    }

    fn carries_data(&self, event: EventKind) -> bool {
        match event {
            EventKind::Message(m) => {
                self.protocol().messages[m.index()].payload != trivium_protocol::PayloadShape::Nothing
            }
            event => event == EventKind::WriteBack,
        }
    }

    fn replay_condition(&self, id: RoleId, out: &mut Lines) {
        let role = self.role(id);
        let head = format!("function can_replay{}(me: Node; o: {}): boolean", id.0, self.object_type(role.object));
        out.routine(&head, &[], |out| {
            out.line(format!("if !({}) then return false; end;", replay_due(id, "me", "o")));
            out.open(format!("switch kept_{r}[me][o].e[kept_{r}[me][o].cursor].c", r = id.0));
            for &event in &role.deferrable {
                if let Some(column) = role.column(event) {
                    out.line(format!("case {}: return room{}_{column}(me, o);", column + 1, id.0));
                }
            }
            out.close("end;");
            out.line("return false;");
        });
    }

    /// Whether an intent may be what the idle thread `t` does next.
    pub fn may_be_next(&self, number: usize, intent: &Intent) -> String {
        match &self.model.client.script {
            Some(_) => format!("next_intent(t) = {number} & {}", self.may_start(intent)),
            None if self.model.client.ops.is_some() => format!("count[t] > 0 & {}", self.may_start(intent)),
            None => self.may_start(intent),
        }
    }

    fn thread_rules(&self, out: &mut Lines) {
        let client = &self.model.client;
        for (i, intent) in client.intents.iter().enumerate() {
            let text = self.intent_text(intent);
            out.open("ruleset t: Thread do");
            let next = self.may_be_next(i, intent);
            let guard = format!("phase[t] = 0 & {next}{} & can_raise{i}(t, true)", self.in_this_form(i));
            let locals = self.ghost_locals().first().map_or(String::new(), |unseen| format!("var {unseen};"));
            self.rule(&text, &guard, &locals, out, |out| {
                if client.ops.is_some() {
                    out.line("count[t] := count[t] - 1;");
                }
                self.started(intent, out);
                out.line(format!("raise{i}(t);"));
            });
            let raise = |out: &mut Lines| out.line(format!("raise{i}(t);"));
            let guard = format!("phase[t] = 2 & intent[t] = {i} & can_raise{i}(t, false)");
            self.rule(&format!("{text}, again"), &guard, "", out, raise);
            if self.threads_per_node > 1 && intent.is_access() {
                self.firing(&format!("{text}, let go"), &format!("phase[t] = 4 & intent[t] = {i}"), "", out, raise);
            }
            out.close("end;");
            out.blank();
        }
    }

    /// In a scenario: what a thread does next, or -1.
    pub fn script(&self, out: &mut Lines) {
        let Some(script) = &self.model.client.script else { return };
        out.routine("function next_intent(t: Thread): Int", &[], |out| {
            for (t, places) in script.places.iter().enumerate() {
                for (at, look) in places.iter().enumerate() {
                    if let Some((intent, _)) = look {
                        out.line(format!("if t = {t} & count[t] = {at} then return {intent}; end;"));
                    }
                }
            }
            out.line("return -1;");
        });
    }

    fn evictions(&self, out: &mut Lines) {
        if self.protocol().cached {
            self.cache_rules(out);
            return;
        }
        for is_home in [false, true] {
            let Some(role) = self.engine().role_for(EventKind::Evict, BLOCK, is_home) else { continue };
            let Some(column) = self.role(role).column(EventKind::Evict) else { continue };
            let states: Vec<String> = (0..self.role(role).states.len())
                .filter(|&s| {
                    let response = self.engine().response(role, StateId::at(s), EventKind::Evict);
                    matches!(response, Response::Handle(_) | Response::Defer)
                })
                .map(|s| format!("{}[me][o] = {}", self.state_var(role), self.state_name(role, StateId::at(s))))
                .collect();
            if states.is_empty() || !self.has_blocks() {
                continue;
            }
            let sign = if is_home { "=" } else { "!=" };
            out.open("ruleset me: Node; o: Obj_block do");
            let guard = format!(
                "thread_at(me, 0) != -1 & o % {} {sign} me & ({}) & ready{}_{column}(me, o){}",
                self.model.nodes,
                states.join(" | "),
                role.0,
                self.and_not_stalled(role, column, "me", "o", "me, -1")
            );
            self.rule("evict", &guard, "var fx: Effects;", out, |out| {
                out.line("begin_effects(fx);");
                out.line(format!("on{}_{column}(me, o, me, -1, 0, -1, fx);", role.0));
                out.line("settle(me, -1, fx);");
            });
            out.close("end;");
            out.blank();
        }
    }

    /// All threads pass a barrier of which the protocol knows nothing.
    fn phase_rule(&self, out: &mut Lines) {
        let own_barrier = self.protocol().promises.iter().any(|p| matches!(p, Promise::Barrier(_)));
        if !self.has_phases() || own_barrier {
            return;
        }
        let guard = "(exists b: Obj_block do writer[b] != 0 end) & (forall t: Thread do phase[t] = 0 end)";
        self.rule("new phase", guard, "", out, |out| self.new_phase(out));
        out.blank();
    }

    /// Something happens although no thread or node wants it.
    pub fn movement(&self) -> String {
        let mut any = Vec::new();
        if self.threads_per_node > 1 {
            any.push("going()".to_string());
        }
        for lane in 0..self.protocol().lanes.len() {
            let last = if self.model.lanes[lane].fifo { 0 } else { self.channel - 1 };
            any.push(format!(
                "(exists x: Node do exists y: Node do exists i: 0..{last} do can_handle{lane}(x, y, i) end end end)"
            ));
        }
        for lane in (0..self.protocol().lanes.len()).filter(|&lane| self.model.lanes[lane].merged) {
            any.push(format!("(exists x: Node do exists y: Node do can_come{lane}(x, y) end end)"));
        }
        if self.cached() {
            any.push("(exists x: Node do exists b: Obj_block do leaves(x, b) end end)".into());
        }
        if !self.protocol().tasks.is_empty() {
            any.push("(exists x: Node do can_run(x) end)".into());
        }
        for (id, role) in self.roles() {
            let object = self.object_type(role.object);
            let mut each = |name: &str| {
                any.push(format!("(exists x: Node do exists y: {object} do {name}{}(x, y) end end)", id.0));
            };
            if role.defers.is_some() {
                each("can_replay");
            }
            if !self.timed(id).is_empty() && role.column(EventKind::Timer).is_some() {
                each("can_time");
            }
        }
        for i in 0..self.model.client.intents.len() {
            any.push(format!("(exists t: Thread do phase[t] = 2 & intent[t] = {i} & can_raise{i}(t, false) end)"));
        }
        any.join(" | ")
    }

    /// Whether an intent is a call of an operation.
    pub fn calls(intent: &Intent, op: trivium_protocol::OpId) -> bool {
        matches!(intent, Intent::Call { op: called, .. } if *called == op)
    }
}
