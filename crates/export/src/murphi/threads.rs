//! Threads: what each may do, and its accesses on the memory of its node.

use super::Export;
use super::lines::Lines;
use trivium_check::Intent;
use trivium_check::event_kind;
use trivium_check::most_stored;
use trivium_check::{WORD, WORDS_PER_BLOCK, checks_values};
use trivium_protocol::{BLOCK, CopyIn, GhostEvent, NODE, Response, RoleId, StateId};

impl Export<'_> {
    /// Whether there are blocks at all.
    pub fn has_blocks(&self) -> bool {
        self.model.objects[BLOCK.index()] > 0
    }

    pub fn block_word(&self, node: &str, block: &str) -> String {
        self.copy_of(CopyIn::Processor, node, block)
    }

    /// The word of a block that is looked at in a node's copy.
    pub fn copy_of(&self, copy: CopyIn, node: &str, block: &str) -> String {
        if self.cached() && copy == CopyIn::Processor {
            return format!("cached[{node}][{block}]");
        }
        format!("mem[{node}][{block} * {}]", self.stride)
    }

    pub fn thread_accesses(&self, out: &mut Lines) {
        self.places(out);
        self.tags(out);
        self.announced(out);
        self.bodies(out);
        self.advance(out);
        self.finish(out);
        self.performs(out);
        self.pending(out);
    }

    fn places(&self, out: &mut Lines) {
        let client = &self.model.client;
        out.routine("function node_of(t: Thread): Node", &[], |out| {
            out.open("switch t");
            for (t, place) in client.threads.iter().enumerate() {
                out.line(format!("case {t}: return {};", place.node));
            }
            out.close("end;");
            out.line("return 0;");
        });
        out.routine("function number_of(t: Thread): Number", &[], |out| {
            out.open("switch t");
            for (t, place) in client.threads.iter().enumerate() {
                out.line(format!("case {t}: return {};", place.number));
            }
            out.close("end;");
            out.line("return 0;");
        });
        out.routine("function thread_at(me: Node; number: Int): Int", &[], |out| {
            for (t, place) in client.threads.iter().enumerate() {
                out.line(format!("if me = {} & number = {} then return {t}; end;", place.node, place.number));
            }
            out.line("return -1;");
        });
        out.comment("The block that an intent accesses, or -1; and the access that it needs: 1 read, 2 write.");
        out.routine("function block_of(i: Int): Int", &[], |out| {
            out.open("switch i");
            for (i, intent) in client.intents.iter().enumerate().filter(|(_, intent)| intent.is_access()) {
                out.line(format!("case {i}: return {};", intent.object().id));
            }
            out.close("end;");
            out.line("return -1;");
        });
        out.routine("function needs(i: Int): Int", &[], |out| {
            out.open("switch i");
            for (i, intent) in client.intents.iter().enumerate() {
                match intent {
                    Intent::Read { .. } => out.line(format!("case {i}: return 1;")),
                    Intent::Write { .. } | Intent::WriteBeside { .. } | Intent::Rmw { .. } | Intent::Store { .. } => {
                        out.line(format!("case {i}: return 2;"));
                    }
                    Intent::Call { .. } => {}
                }
            }
            out.close("end;");
            out.line("return 0;");
        });
    }

    /// The tag of a block on a node.
    fn tags(&self, out: &mut Lines) {
        if self.cached() {
            self.cache_tag(out);
            self.allowed(out);
            return;
        }
        let roles = [self.engine().tag_role(false), self.engine().tag_role(true)];
        let mut made: Vec<RoleId> = Vec::new();
        for role in roles.into_iter().flatten() {
            if self.has_blocks() && !made.contains(&role) {
                self.access_function(role, self.role(role), out);
                made.push(role);
            }
        }
        let access = |role: Option<RoleId>| match role {
            Some(role) if self.has_blocks() => format!("access{}(me, b)", role.0),
            _ => "0".into(),
        };
        out.routine("function tag(me: Node; b: Obj_block): Int", &[], |out| {
            out.line(format!("if b % {} = me then return {}; end;", self.model.nodes, access(roles[1])));
            out.line(format!("return {};", access(roles[0])));
        });
        self.allowed(out);
    }

    fn allowed(&self, out: &mut Lines) {
        out.routine("function allowed(t: Thread; i: Int): boolean", &[], |out| {
            out.line("if block_of(i) = -1 then return false; end;");
            out.line("return tag(node_of(t), block_of(i)) >= needs(i);");
        });
    }

    /// Thread `t` loads the word of a block that is looked at.
    fn thread_loads(&self, block: u32, out: &mut Lines) {
        out.line("known := true;");
        out.line(format!("seen := {};", self.block_word("node_of(t)", &block.to_string())));
        self.marked_load(block, out);
        if checks_values(self.protocol()) {
            let in_phase = if self.promises_last_phase() {
                let most = most_stored(&self.model.client);
                format!(
                    " & (writer[{block}] = node_of(t) + 1 | !(seen = earlier[{block}] | (seen <= {most} ? stored[{block}][seen] : false)))"
                )
            } else {
                String::new()
            };
            out.line(format!("if seen != last[{block}]{in_phase} then error \"a read misses the last write\"; end;"));
        }
        self.tell(GhostEvent::Read, BLOCK, &block.to_string(), "node_of(t)", &["seen".into()], out);
    }

    /// It stores to it.
    fn thread_stores(&self, block: u32, value: u64, out: &mut Lines) {
        let value = self.marked_value(block, value, out);
        out.line(format!("{} := {value};", self.block_word("node_of(t)", &block.to_string())));
        if checks_values(self.protocol()) {
            out.line(format!("last[{block}] := {value};"));
        }
        if self.promises_last_phase() {
            out.line(format!("stored[{block}][{value}] := true;"));
        }
        self.tell(GhostEvent::Write, BLOCK, &block.to_string(), "node_of(t)", std::slice::from_ref(&value), out);
    }

    /// Performs a thread's access on its node's memory; it is idle afterwards.
    fn finish(&self, out: &mut Lines) {
        let mut locals = vec!["seen: Int".to_string(), "known: boolean".to_string()];
        locals.extend(self.ghost_locals());
        let mut which = "i";
        if self.is_late() {
            self.chosen_store(out);
            locals.push("which: Int".into());
            which = "which";
        }
        out.routine("procedure finish(t: Thread; i: Int)", &locals, |out| {
            if self.performs_for_threads() {
                out.line("if performed[t] then error \"fault: an access was performed before\"; end;");
            }
            out.line("known := false;");
            out.line("seen := 0;");
            if self.is_late() {
                out.line("which := chosen_store(i);");
            }
            out.open(format!("switch {which}"));
            for (i, intent) in self.model.client.intents.iter().enumerate() {
                match intent {
                    Intent::Read { block } => {
                        out.open(format!("case {i}: -- reads block {block}"));
                        self.thread_loads(*block, out);
                        out.close("");
                    }
                    Intent::Write { block, value } => {
                        out.open(format!("case {i}: -- writes {value} to block {block}"));
                        self.thread_stores(*block, *value, out);
                        out.close("");
                    }
                    Intent::Rmw { block, value } => {
                        out.open(format!("case {i}: -- exchanges the word of block {block} for {value}"));
                        self.thread_loads(*block, out);
                        self.thread_stores(*block, *value, out);
                        out.close("");
                    }
                    Intent::WriteBeside { .. } | Intent::Store { .. } | Intent::Call { .. } => {}
                }
            }
            out.close("end;");
            out.line("phase[t] := 0;");
            out.line("intent[t] := 0;");
            out.line("advance(t, known, seen);");
        });
        out.comment("The waiting accesses of a node to a block are performed, whatever the tag.");
        out.routine("procedure complete(me: Node; b: Obj_block)", &[], |out| {
            out.open("for t: Thread do");
            out.open("if node_of(t) = me & phase[t] = 1 then");
            out.line("if block_of(intent[t]) = b then finish(t, intent[t]); end;");
            out.close("end;");
            out.close("end;");
        });
    }

    /// The address of the access with which a thread waits, and what it would store.
    fn pending(&self, out: &mut Lines) {
        let client = &self.model.client;
        let block_bytes = WORD * u64::from(WORDS_PER_BLOCK);
        for (name, what) in [("pending_address", 0), ("pending_value", 1)] {
            out.routine(&format!("function {name}(me: Node; number: Int): Int"), &["t: Int".into()], |out| {
                out.line("t := thread_at(me, (number < 0 ? 0 : number));");
                out.line("if t = -1 then error \"fault: no thread waits with an access\"; end;");
                out.line("if phase[t] = 0 then error \"fault: no thread waits with an access\"; end;");
                out.open("switch intent[t]");
                for (i, intent) in client.intents.iter().enumerate() {
                    let (address, value) = match intent {
                        Intent::Read { block } => (u64::from(*block) * block_bytes, 0),
                        Intent::Write { block, value } => (u64::from(*block) * block_bytes, *value),
                        Intent::WriteBeside { block } => (u64::from(*block) * block_bytes + WORD, 0),
                        // Left open only where nobody reads what is stored.
                        Intent::Store { block } => (u64::from(*block) * block_bytes, 0),
                        Intent::Rmw { block, value } => (u64::from(*block) * block_bytes, *value),
                        Intent::Call { .. } => continue,
                    };
                    out.line(format!("case {i}: return {};", [address, value][what]));
                }
                out.close("end;");
                out.line("error \"fault: no thread waits with an access\";");
            });
        }
    }

    /// For each intent: whether a thread can perform or raise it, and what happens then.
    pub fn raising(&self, out: &mut Lines) {
        for (i, intent) in self.model.client.intents.iter().enumerate() {
            out.comment(&format!("Intent {i}: {}", self.intent_text(intent)));
            out.routine(
                &format!("function can_raise{i}(t: Thread; first: boolean): boolean"),
                &["me: Node".into()],
                |out| {
                    out.line("me := node_of(t);");
                    if intent.is_access() {
                        out.line(format!("if allowed(t, {i}) then return true; end;"));
                    }
                    if intent.is_access() && self.cached() {
                        let block = intent.object().id;
                        let joins =
                            if self.hints_lines() { format!("first & hinted[me][{block}]") } else { "false".into() };
                        out.line(format!(
                            "if cache[me][{block}] = 3 | requested(me, {block}) then return {joins}; end;"
                        ));
                    }
                    self.by_role(intent, out, |answers, out| match answers {
                        Some((role, column)) => self.can_raise(role, column, intent, out),
                        None if self.must_be_answered(intent) => out.line("return true;"),
                        None => {}
                    });
                    out.line("return false;");
                },
            );
            let locals = ["me: Node".to_string(), "fx: Effects".to_string()];
            out.routine(&format!("procedure raise{i}(t: Thread)"), &locals, |out| {
                out.line("me := node_of(t);");
                if intent.is_access() {
                    out.line(format!("if allowed(t, {i}) then finish(t, {i}); return; end;"));
                }
                if intent.is_access() && self.hints_lines() {
                    let block = intent.object().id;
                    out.line(format!("if hinted[me][{block}] then phase[t] := 2; intent[t] := {i}; return; end;"));
                }
                out.line("begin_effects(fx);");
                out.line("phase[t] := 1;");
                out.line(format!("intent[t] := {i};"));
                let arguments: String = self.passed(intent).iter().map(|value| format!(", {value}")).collect();
                let object = intent.object().id;
                self.by_role(intent, out, |answers, out| match answers {
                    Some((role, column)) => {
                        let role = role.0;
                        out.line(format!("on{role}_{column}(me, {object}, me, number_of(t){arguments}, 0, -1, fx);"));
                    }
                    None if self.must_be_answered(intent) => out.line("error \"fault: nothing answers this event\";"),
                    None => {}
                });
                out.line("settle(me, t, fx);");
            });
        }
    }

    /// Whether it is a fault where nobody answers an intent.
    fn must_be_answered(&self, intent: &Intent) -> bool {
        intent.is_access() && self.engine().answers_accesses()
    }

    fn can_raise(&self, role: RoleId, column: usize, intent: &Intent, out: &mut Lines) {
        let object = intent.object().id;
        let declared = self.role(role);
        let holds = (0..declared.states.len())
            .filter(|&state| *self.engine().response(role, StateId::at(state), event_kind(intent)) == Response::Hold);
        let held: Vec<String> = holds
            .map(|state| {
                let name = self.state_name(role, StateId::at(state));
                format!("{}[me][{object}] = {name}", self.state_var(role))
            })
            .collect();
        if !held.is_empty() {
            out.line(format!("if !first & ({}) then return false; end;", held.join(" | ")));
        }
        let arguments: String = self.passed(intent).iter().map(|value| format!(", {value}")).collect();
        let of = (object.to_string(), format!("me, number_of(t){arguments}"));
        let stalls = self.not_stalled(role, column, "me", &of.0, &of.1);
        let stalls = stalls.map_or(String::new(), |not| format!(" & (first | {not})"));
        out.line(format!("return ready{}_{column}(me, {object}){stalls};", role.0));
    }

    /// Lines for the role that answers an intent, if there is one: at the object's home, and elsewhere.
    fn by_role(&self, intent: &Intent, out: &mut Lines, each: impl Fn(Option<(RoleId, usize)>, &mut Lines)) {
        let (kind, object) = (event_kind(intent), intent.object());
        let found = |is_home| {
            let role = self.engine().role_for(kind, object.kind, is_home)?;
            Some((role, self.role(role).column(kind)?))
        };
        let is_agent = object.kind == NODE;
        let (away, home) = (found(false), if is_agent { found(false) } else { found(true) });
        if away == home {
            each(away, out);
            return;
        }
        out.open(format!("if me = {} then", object.id % self.model.nodes));
        each(home, out);
        out.middle("else");
        each(away, out);
        out.close("end;");
    }

    pub fn intent_text(&self, intent: &Intent) -> String {
        match intent {
            Intent::Read { block } => format!("read block {block}"),
            Intent::Write { block, value } => format!("write {value} to block {block}"),
            Intent::WriteBeside { block } => format!("write beside the word of block {block}"),
            Intent::Store { block } => format!("write to block {block}"),
            Intent::Rmw { block, value } => format!("exchange for {value} in block {block}"),
            Intent::Call { op, object, args } => {
                format!("{} {} {:?}", self.protocol().ops[op.index()].name, object.id, args.words())
            }
        }
    }

    /// What threads are in the first state.
    pub fn first_threads(&self, out: &mut Lines) {
        out.line("clear phase;");
        out.line("clear intent;");
        if self.performs_for_threads() {
            out.line("clear performed;");
            out.line("clear found;");
        }
        if self.performs_for_values() {
            out.line("given := 0;");
        }
        if let Some(most) = self.most_count() {
            let first = if self.model.client.script.is_some() { 0 } else { most };
            out.line(format!("for t: Thread do count[t] := {first}; end;"));
        }
    }
}
