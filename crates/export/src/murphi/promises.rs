//! What the promises mean (`docs/semantics.md`, section 7): what is remembered for them, and invariants.

use super::Export;
use super::expressions::{Scope, substitute};
use super::lines::Lines;
use trivium_check::Intent;
use trivium_protocol::walk::visit;
use trivium_protocol::{Assume, Expr, ExprKind, GhostEvent, Invariant, MessageId, OpId, Promise, RoleId};

impl Export<'_> {
    /// Whether the assumptions and the discipline that the promises imply let thread `t` do this now.
    pub fn may_start(&self, intent: &Intent) -> String {
        let mut all = Vec::new();
        match intent {
            Intent::Read { .. } => {}
            Intent::Write { block, .. }
            | Intent::WriteBeside { block }
            | Intent::Rmw { block, .. }
            | Intent::Store { block } => {
                if let Intent::Write { value, .. } | Intent::Rmw { value, .. } = intent {
                    all.extend(self.may_announce(*value));
                }
                let home = u64::from(*block) % u64::from(self.model.nodes);
                if self.protocol().assumptions.contains(&Assume::HomeWrites) {
                    all.push(format!("node_of(t) = {home}"));
                }
                if self.has_phases() {
                    all.push(format!("(writer[{block}] = 0 | writer[{block}] = node_of(t) + 1)"));
                }
            }
            Intent::Call { op, object, .. } => {
                for (p, promise) in self.protocol().promises.iter().enumerate() {
                    match promise {
                        Promise::Mutex(acquire, release) if acquire == op || release == op => {
                            let sign = if release == op { "=" } else { "!=" };
                            all.push(format!("holder{p}[{}] {sign} t + 1", object.id));
                        }
                        Promise::Barrier(arrive) if arrive == op => {
                            let same = |other: &Intent| Self::calls(other, *arrive) && other.object() == *object;
                            let intents = self.model.client.intents.iter().enumerate();
                            let calling: Vec<String> =
                                intents.filter(|(_, i)| same(i)).map(|(i, _)| format!("intent[u] = {i}")).collect();
                            all.push(format!(
                                "(forall u: Thread do node_of(u) != node_of(t) | phase[u] = 0 | !({}) end)",
                                calling.join(" | ")
                            ));
                        }
                        _ => {}
                    }
                }
                for (a, assume) in self.protocol().assumptions.iter().enumerate() {
                    let done = format!("done{a}[t][{}]", object.id);
                    match assume {
                        Assume::Alternate(first, _) if first == op => all.push(format!("!{done}")),
                        Assume::Alternate(_, second) if second == op => all.push(done),
                        Assume::Once(once) if once == op => all.push(format!("!{done}")),
                        Assume::Before(_, later) if later == op => all.push(done),
                        _ => {}
                    }
                }
            }
        }
        all.extend(self.assumed(intent));
        if all.is_empty() { "true".into() } else { all.join(" & ") }
    }

    /// What is assumed about each such call or access of thread `t`.
    fn assumed(&self, intent: &Intent) -> Vec<String> {
        let object = intent.object();
        let words = self.passed(intent);
        let kind = trivium_check::event_kind(intent);
        let role = self.roles().find(|(_, role)| role.object == object.kind).map_or(RoleId(0), |(id, _)| id);
        let conditions = self.protocol().conditions.iter().filter(|condition| condition.event == kind);
        conditions
            .map(|condition| {
                let scope = Scope {
                    export: self,
                    node: "node_of(t)".into(),
                    object: object.id.to_string(),
                    role,
                    here: true,
                    first: None,
                    event: None,
                    locals: &[],
                };
                let condition = scope.truth(&condition.condition);
                let bind = |text: String, (at, word): (usize, &i64)| {
                    substitute(&text, &format!("l{at}"), &format!("({word})"))
                };
                words.iter().enumerate().fold(condition, bind)
            })
            .collect()
    }

    /// Remembers that thread `t` has begun an access or a call.
    pub fn started(&self, intent: &Intent, out: &mut Lines) {
        self.mark_started(intent, out);
        match intent {
            Intent::Read { .. } => {}
            Intent::Write { block, .. }
            | Intent::WriteBeside { block }
            | Intent::Rmw { block, .. }
            | Intent::Store { block } => {
                if self.has_phases() {
                    out.line(format!("writer[{block}] := node_of(t) + 1;"));
                }
            }
            Intent::Call { op, object, .. } => {
                let o = object.id;
                for (p, promise) in self.protocol().promises.iter().enumerate() {
                    match promise {
                        Promise::Mutex(_, release) if release == op => {
                            out.line(format!("if holder{p}[{o}] = t + 1 then holder{p}[{o}] := 0; end;"));
                        }
                        Promise::Barrier(arrive) if arrive == op => {
                            out.line(format!("arrived{p}[{o}][node_of(t)] := true;"));
                            out.open(format!("if forall n: Node do arrived{p}[{o}][n] end then"));
                            out.line(format!("for n: Node do arrived{p}[{o}][n] := false; end;"));
                            self.mark_arrived(p, o, out);
                            self.new_phase(out);
                            out.close("end;");
                        }
                        _ => {}
                    }
                }
                let words: Vec<String> = self.passed(intent).iter().map(i64::to_string).collect();
                self.tell(GhostEvent::Call(*op), object.kind, &o.to_string(), "node_of(t)", &words, out);
                for (a, assume) in self.protocol().assumptions.iter().enumerate() {
                    match assume {
                        Assume::Alternate(first, _) | Assume::Before(first, _) | Assume::Once(first) if first == op => {
                            out.line(format!("done{a}[t][{o}] := true;"));
                        }
                        Assume::Alternate(_, second) if second == op => {
                            out.line(format!("done{a}[t][{o}] := false;"));
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// Each block has one writer in a phase; another may write it in the next.
    pub fn new_phase(&self, out: &mut Lines) {
        if self.has_phases() {
            out.line("clear writer;");
        }
        if self.promises_last_phase() {
            out.line("for b: Obj_block do earlier[b] := last[b]; end;");
            out.line("clear stored;");
        }
    }

    /// A thread's call returns: the promises about returns.
    pub fn returned(&self, out: &mut Lines) {
        self.script(out);
        let locals: Vec<String> = ["i: Int".to_string()].into_iter().chain(self.ghost_locals()).collect();
        out.routine("procedure return_to(t: Thread; value: Int)", &locals, |out| {
            out.line("i := intent[t];");
            out.line("phase[t] := 0;");
            out.line("intent[t] := 0;");
            out.line("advance(t, true, value);");
            out.open("switch i");
            for (i, intent) in self.model.client.intents.iter().enumerate() {
                let Intent::Call { op, object, .. } = intent else { continue };
                let o = object.id;
                out.open(format!("case {i}:"));
                for (p, promise) in self.protocol().promises.iter().enumerate() {
                    match promise {
                        Promise::Mutex(acquire, _) if Self::calls(intent, *acquire) => {
                            out.line(format!("if holder{p}[{o}] != 0 then error \"mutex: two threads have it\"; end;"));
                            out.line(format!("holder{p}[{o}] := t + 1;"));
                        }
                        Promise::Barrier(arrive) if Self::calls(intent, *arrive) => {
                            out.line(format!(
                                "if arrived{p}[{o}][node_of(t)] then error \"barrier: a thread leaves too early\"; end;"
                            ));
                        }
                        _ => {}
                    }
                }
                self.tell(GhostEvent::Return(*op), object.kind, &o.to_string(), "node_of(t)", &["value".into()], out);
                self.mark_returned(intent, out);
                out.close("");
            }
            out.close("end;");
        });
    }

    /// Invariants: one writer, the protocol's own, the outcome of a scenario, no deadlock.
    pub fn promises(&self, out: &mut Lines) {
        let protocol = self.protocol();
        if protocol.promises.contains(&Promise::SingleWriter) && self.has_blocks() {
            out.line("invariant \"single_writer\"");
            out.line("  forall b: Obj_block do forall x: Node do forall y: Node do");
            out.line("    x = y | tag(x, b) != 2 | tag(y, b) = 0");
            out.line("  end end end;");
            out.blank();
        }
        let mut counted = Vec::new();
        protocol.invariants.iter().for_each(|invariant| flights_in(&invariant.condition, &mut counted));
        protocol.waits.iter().for_each(|wait| flights_in(&wait.until.condition, &mut counted));
        counted.sort();
        counted.dedup();
        counted.into_iter().for_each(|message| self.flights(message, out));
        // One about objects of which there are none says nothing.
        let is_about_any = |invariant: &&Invariant| self.model.objects[invariant.object.index()] > 0;
        for invariant in protocol.invariants.iter().filter(is_about_any) {
            let role = self.roles().find(|(_, role)| role.object == invariant.object).map_or(RoleId(0), |(id, _)| id);
            let scope = Scope {
                export: self,
                node: format!("(o % {})", self.model.nodes),
                object: "o".into(),
                role,
                here: false,
                first: None,
                event: None,
                locals: &[],
            };
            out.line(format!("invariant \"{}\"", invariant.name));
            out.line(format!(
                "  forall o: {} do {} end;",
                self.object_type(invariant.object),
                scope.truth(&invariant.condition)
            ));
            out.blank();
        }
        for leads in &protocol.leads_to {
            out.comment(&format!("Not checked here, as nothing is that takes time to come: leads_to {}.", leads.name));
        }
        self.outcome(out);
        self.deadlock(out);
    }

    /// A scenario's forbidden outcome, once all its threads are done.
    fn outcome(&self, out: &mut Lines) {
        let Some(script) = &self.model.client.script else { return };
        let Some(forbid) = &script.scenario.forbid else { return };
        self.computed("forbidden", forbid, "boolean", out);
        let mut done: Vec<String> =
            script.places.iter().enumerate().map(|(t, places)| format!("count[{t}] = {}", places.len())).collect();
        done.push("(forall t: Thread do phase[t] = 0 end)".into());
        out.line(format!("invariant \"scenario {}\"", script.scenario.name));
        out.line(format!("  !({} & forbidden({}));", done.join(" & "), self.given_registers()));
        out.blank();
    }

    /// A state in which nothing that must happen can happen, and somebody waits (`system/progress.rs` of `check`).
    fn deadlock(&self, out: &mut Lines) {
        let moves = [self.movement(), self.owed_starts()].into_iter().filter(|part| !part.is_empty());
        let moves = moves.collect::<Vec<_>>().join(" | ");
        out.routine("function moves(): boolean", &[], |out| out.line(format!("return {moves};")));
        out.comment("Whether a thread, given by its number plus one, can go on by itself.");
        out.routine("function is_free(holder: Int): boolean", &[], |out| {
            out.line("if holder = 0 then return true; end;");
            let left = if self.model.client.ops.is_some() { " & count[holder - 1] > 0" } else { "" };
            out.line(format!("return phase[holder - 1] = 0{left};"));
        });
        self.declared_waits(out);
        out.comment("A call may wait for ever for a lock or a barrier where the program keeps it waiting; not so in a scenario.");
        out.routine("function may_wait(t: Thread): boolean", &[], |out| {
            if self.model.client.script.is_none() {
                self.may_wait(out);
            }
            out.line("return false;");
        });
        let mut waits: Vec<String> = (0..self.protocol().lanes.len())
            .map(|lane| format!("(exists x: Node do exists y: Node do lane{lane}[x][y].n > 0 end end)"))
            .collect();
        waits.push("(exists t: Thread do phase[t] != 0 & !may_wait(t) end)".into());
        if let Some(script) = &self.model.client.script {
            let ends = script.places.iter().enumerate();
            waits.extend(ends.map(|(t, places)| format!("(phase[{t}] = 0 & count[{t}] < {})", places.len())));
        }
        out.routine("function waits(): boolean", &[], |out| out.line(format!("return {};", waits.join(" | "))));
        out.line("invariant \"deadlock\" !waits() | moves();");
    }

    fn may_wait(&self, out: &mut Lines) {
        out.open("switch intent[t]");
        for (i, intent) in self.model.client.intents.iter().enumerate() {
            let Intent::Call { op, object, .. } = intent else { continue };
            let promises = self.protocol().promises.iter().enumerate();
            let any: Vec<String> = promises
                .filter_map(|(p, promise)| match promise {
                    Promise::Mutex(acquire, _) if acquire == op => Some(format!("!is_free(holder{p}[{}])", object.id)),
                    Promise::Barrier(arrive) if arrive == op => {
                        let arrived = format!("arrived{p}[{}]", object.id);
                        let comes = "(exists u: Thread do node_of(u) = n & is_free(u + 1) end)";
                        let missing = format!("(exists n: Node do !{arrived}[n] & !{comes} end)");
                        Some(format!("({arrived}[node_of(t)] & {missing})"))
                    }
                    _ => None,
                })
                .collect();
            let waits = self.protocol().waits.iter().enumerate().filter(|(_, wait)| wait.op == *op);
            let declared = waits.map(|(w, _)| {
                let args: String = self.passed(intent).iter().map(|arg| format!(", {arg}")).collect();
                format!("!wait{w}({}, node_of(t){args})", object.id)
            });
            let any: Vec<String> = any.into_iter().chain(declared).collect();
            if !any.is_empty() {
                out.line(format!("case {i}: return {};", any.join(" | ")));
            }
        }
        out.close("end;");
    }

    /// What calls are declared to wait for; the first locals are the calling node and the call's arguments.
    fn declared_waits(&self, out: &mut Lines) {
        if self.model.client.script.is_some() {
            return;
        }
        for (w, wait) in self.protocol().waits.iter().enumerate() {
            let role = self.roles().find(|(_, role)| role.object == wait.until.object).map_or(RoleId(0), |(id, _)| id);
            let scope = Scope {
                export: self,
                node: format!("(o % {})", self.model.nodes),
                object: "o".into(),
                role,
                first: None,
                event: None,
                here: false,
                locals: &[],
            };
            let words: usize = self.protocol().ops[wait.op.index()].args.len();
            let parameters: String = (0..=words).map(|local| format!("; l{local}: Int")).collect();
            let head = format!("function wait{w}(o: {}{parameters}): boolean", self.object_type(wait.until.object));
            out.routine(&head, &[], |out| out.line(format!("return {};", scope.truth(&wait.until.condition))));
        }
    }

    /// An idle thread can do what it owes to others.
    fn owed_starts(&self) -> String {
        let starts = self.model.client.intents.iter().enumerate().filter_map(|(i, intent)| {
            let owed = match (&self.model.client.script, intent) {
                (Some(_), _) => Some("true".to_string()),
                (None, Intent::Call { op, object, .. }) => self.owes(*op, object.id, &mut Vec::new()),
                _ => None,
            };
            let may = self.may_be_next(i, intent);
            Some(format!("(exists t: Thread do phase[t] = 0 & {may} & {} & can_raise{i}(t, true) end)", owed?))
        });
        starts.collect::<Vec<_>>().join(" | ")
    }

    /// Whether thread `t` owes it to others to make a call, or to make it before another that it owes; nothing if never.
    fn owes(&self, op: OpId, object: u32, path: &mut Vec<OpId>) -> Option<String> {
        if path.contains(&op) {
            return None;
        }
        let promises = self.protocol().promises.iter().enumerate();
        let mut any: Vec<String> = promises
            .filter_map(|(p, promise)| match promise {
                Promise::Mutex(_, release) if *release == op => Some(format!("holder{p}[{object}] = t + 1")),
                Promise::Barrier(arrive) if *arrive == op => {
                    let arrived = format!("arrived{p}[{object}]");
                    Some(format!("(!{arrived}[node_of(t)] & (exists n: Node do {arrived}[n] end))"))
                }
                _ => None,
            })
            .collect();
        path.push(op);
        for (a, assume) in self.protocol().assumptions.iter().enumerate() {
            let (is_done, later) = match assume {
                Assume::Before(first, later) | Assume::Alternate(first, later) if *first == op => ("!", *later),
                Assume::Alternate(first, second) if *second == op => ("", *first),
                _ => continue,
            };
            let later = self.owes(later, object, path);
            any.extend(later.map(|later| format!("({is_done}done{a}[t][{object}] & {later})")));
        }
        path.pop();
        (!any.is_empty()).then(|| format!("({})", any.join(" | ")))
    }
}

/// The messages whose number an invariant asks for.
fn flights_in(expr: &Expr, found: &mut Vec<MessageId>) {
    visit(expr, &mut |part: &Expr| {
        if let ExprKind::Flight(message, _) = &part.kind {
            found.push(*message);
        }
    });
}
