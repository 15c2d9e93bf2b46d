//! Threads: what each may do, and its accesses on the memory of its node.

use super::Export;
use super::handlers::Happening;
use super::names::{
    B, BLOCKS, CACHE, CACHED, COUNT, EARLIER, EFFECTS, FIRST, FOUND, FX, GIVEN, HELD, HINTED, I, IDLE, INT, INTENT,
    KNOWN, LAST, ME, MEM, NODES, NUMBER, NUMBERS, PERFORMED, PHASE, SEEN, STORED, T, THREADS, WAITS, WHICH, WRITER,
};
use crate::model::{BOOLEAN, Block, Expr, Program, Term, any, call, choice, function, procedure, values};
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

    pub fn block_word(&self, node: impl Into<Expr>, block: impl Into<Expr>) -> Expr {
        self.copy_of(CopyIn::Processor, node, block)
    }

    /// The word of a block that is looked at in a node's copy.
    pub fn copy_of(&self, copy: CopyIn, node: impl Into<Expr>, block: impl Into<Expr>) -> Expr {
        if self.cached() && copy == CopyIn::Processor {
            return CACHED.at(node).at(block);
        }
        MEM.at(node).at(block.into() * self.stride)
    }

    pub fn thread_accesses(&self, program: &mut Program) {
        self.places(program);
        self.intents(program);
        self.tags(program);
        self.announced(program);
        self.bodies(program);
        self.advance(program);
        self.finish(program);
        self.performs(program);
        self.pending(program);
    }

    /// Where threads are.
    fn places(&self, program: &mut Program) {
        let threads = || self.model.client.threads.iter().enumerate();
        program.define(function("node_of", NODES).takes(T, THREADS), |out| {
            out.switch(T, |cases| threads().for_each(|(t, place)| cases.give(t, place.node)));
            out.give(0);
        });
        program.define(function("number_of", NUMBERS).takes(T, THREADS), |out| {
            out.switch(T, |cases| threads().for_each(|(t, place)| cases.give(t, place.number)));
            out.give(0);
        });
        program.define(function("thread_at", INT).takes(ME, NODES).takes(NUMBER, INT), |out| {
            for (t, place) in threads() {
                out.when(ME.is(place.node) & NUMBER.is(place.number), |out| out.give(t));
            }
            out.give(-1);
        });
    }

    /// What intents are about.
    fn intents(&self, program: &mut Program) {
        let comment = "The block that an intent accesses, or -1; and the access that it needs: 1 read, 2 write.";
        let accesses = || self.model.client.intents.iter().enumerate().filter(|(_, intent)| intent.is_access());
        program.define(function("block_of", INT).takes(I, INT).comment(comment), |out| {
            out.switch(I, |cases| accesses().for_each(|(i, intent)| cases.give(i, intent.object().id)));
            out.give(-1);
        });
        program.define(function("needs", INT).takes(I, INT), |out| {
            out.switch(I, |cases| {
                for (i, intent) in accesses() {
                    cases.give(i, if matches!(intent, Intent::Read { .. }) { 1 } else { 2 });
                }
            });
            out.give(0);
        });
    }

    /// The tag of a block on a node.
    fn tags(&self, program: &mut Program) {
        if self.cached() {
            self.cache_tag(program);
            self.allowed(program);
            return;
        }
        let roles = [self.engine().tag_role(false), self.engine().tag_role(true)];
        let mut made: Vec<RoleId> = Vec::new();
        for role in roles.into_iter().flatten() {
            if self.has_blocks() && !made.contains(&role) {
                self.access_function(role, self.role(role), program);
                made.push(role);
            }
        }
        let access = |role: Option<RoleId>| match role {
            Some(role) if self.has_blocks() => call(format!("access{}", role.0), (ME, B)),
            _ => 0.into(),
        };
        program.define(function("tag", INT).takes(ME, NODES).takes(B, BLOCKS), |out| {
            out.when(self.is_at_home(B, ME, true), |out| out.give(access(roles[1])));
            out.give(access(roles[0]));
        });
        self.allowed(program);
    }

    fn allowed(&self, program: &mut Program) {
        program.define(function("allowed", BOOLEAN).takes(T, THREADS).takes(I, INT), |out| {
            out.when(block_of(I).is(-1), |out| out.give(false));
            out.give(call("tag", (node_of(T), block_of(I))).ge(call("needs", I)));
        });
    }

    /// Thread `t` loads the word of a block that is looked at.
    fn thread_loads(&self, block: u32, out: &mut Block) {
        out.assign(KNOWN, true);
        out.assign(SEEN, self.block_word(node_of(T), block));
        self.marked_load(block, out);
        if checks_values(self.protocol()) {
            let is_other = SEEN.differs_from(LAST.at(block));
            let is_wrong = if self.promises_last_phase() {
                let most = most_stored(&self.model.client);
                let is_stored = choice(SEEN.le(most), STORED.at(block).at(SEEN), false);
                let is_in_phase = SEEN.is(EARLIER.at(block)) | is_stored;
                is_other & (WRITER.at(block).is(node_of(T) + 1) | !is_in_phase)
            } else {
                is_other
            };
            out.refuse(is_wrong, "a read misses the last write");
        }
        self.tell(GhostEvent::Read, BLOCK, block, node_of(T), values(SEEN), out);
    }

    /// It stores to it.
    fn thread_stores(&self, block: u32, value: u64, out: &mut Block) {
        let value = self.marked_value(block, value, out);
        out.assign(self.block_word(node_of(T), block), &value);
        if checks_values(self.protocol()) {
            out.assign(LAST.at(block), &value);
        }
        if self.promises_last_phase() {
            out.assign(STORED.at(block).at(&value), true);
        }
        self.tell(GhostEvent::Write, BLOCK, block, node_of(T), vec![value], out);
    }

    /// Performs a thread's access on its node's memory; it is idle afterwards.
    fn finish(&self, program: &mut Program) {
        let head = procedure("finish").takes(T, THREADS).takes(I, INT).local(SEEN, INT).local(KNOWN, BOOLEAN);
        let mut head = head.locals(self.ghost_locals());
        if self.is_late() {
            self.chosen_store(program);
            head = head.local(WHICH, INT);
        }
        program.define(head, |out| {
            if self.performs_for_threads() {
                out.refuse(PERFORMED.at(T), "fault: an access was performed before");
            }
            out.assign(KNOWN, false);
            out.assign(SEEN, 0);
            if self.is_late() {
                out.assign(WHICH, call("chosen_store", I));
            }
            out.switch(if self.is_late() { WHICH } else { I }, |cases| {
                for (i, intent) in self.model.client.intents.iter().enumerate() {
                    match intent {
                        Intent::Read { block } => cases.case(i, |out| {
                            out.comment(format!("Reads block {block}."));
                            self.thread_loads(*block, out);
                        }),
                        Intent::Write { block, value } => cases.case(i, |out| {
                            out.comment(format!("Writes {value} to block {block}."));
                            self.thread_stores(*block, *value, out);
                        }),
                        Intent::Rmw { block, value } => cases.case(i, |out| {
                            out.comment(format!("Exchanges the word of block {block} for {value}."));
                            self.thread_loads(*block, out);
                            self.thread_stores(*block, *value, out);
                        }),
                        Intent::WriteBeside { .. }
                        | Intent::Store { .. }
                        | Intent::Image { .. }
                        | Intent::Call { .. } => {}
                    }
                }
            });
            Self::is_idle(out);
            out.call("advance", (T, KNOWN, SEEN));
        });
        let head = procedure("complete").takes(ME, NODES).takes(B, BLOCKS);
        let head = head.comment("The waiting accesses of a node to a block are performed, whatever the tag.");
        program.define(head, |out| {
            out.for_each(T, THREADS, |out| {
                out.when(node_of(T).is(ME) & PHASE.at(T).is(WAITS), |out| {
                    let finish = |out: &mut Block| out.call("finish", (T, INTENT.at(T)));
                    out.when(block_of(INTENT.at(T)).is(B), finish);
                });
            });
        });
    }

    /// The address of the access with which a thread waits, and what it would store.
    fn pending(&self, program: &mut Program) {
        let client = &self.model.client;
        let block_bytes = WORD * u64::from(WORDS_PER_BLOCK);
        let nobody = "fault: no thread waits with an access";
        for (name, what) in [("pending_address", 0), ("pending_value", 1)] {
            program.define(function(name, INT).takes(ME, NODES).takes(NUMBER, INT).local(T, INT), |out| {
                out.assign(T, call("thread_at", (ME, choice(NUMBER.lt(0), 0, NUMBER))));
                out.refuse(T.is(-1), nobody);
                out.refuse(PHASE.at(T).is(IDLE), nobody);
                out.switch(INTENT.at(T), |cases| {
                    for (i, intent) in client.intents.iter().enumerate() {
                        let (address, value) = match intent {
                            Intent::Read { block } => (u64::from(*block) * block_bytes, 0),
                            Intent::Write { block, value } => (u64::from(*block) * block_bytes, *value),
                            Intent::WriteBeside { block } => (u64::from(*block) * block_bytes + WORD, 0),
                            // Left open only where nobody reads what is stored.
                            Intent::Store { block } => (u64::from(*block) * block_bytes, 0),
                            Intent::Rmw { block, value } => (u64::from(*block) * block_bytes, *value),
                            Intent::Image { .. } | Intent::Call { .. } => continue,
                        };
                        cases.give(i, [address, value][what]);
                    }
                });
                out.error(nobody);
            });
        }
    }

    /// For each intent: whether a thread can perform or raise it, and what happens then.
    pub fn raising(&self, program: &mut Program) {
        for (i, intent) in self.model.client.intents.iter().enumerate() {
            self.can_raise(i, intent, program);
            self.raise(i, intent, program);
        }
    }

    /// Whether thread `t` can perform or raise an intent: for the first time, or again.
    pub fn can_raise_now(intent: usize, first: bool) -> Expr {
        call(format!("can_raise{intent}"), (T, first))
    }

    fn can_raise(&self, i: usize, intent: &Intent, program: &mut Program) {
        let head = function(format!("can_raise{i}"), BOOLEAN).takes(T, THREADS).takes(FIRST, BOOLEAN).local(ME, NODES);
        program.define(head.comment(format!("Intent {i}: {}", self.intent_text(intent))), |out| {
            out.assign(ME, node_of(T));
            if intent.is_access() {
                out.when(call("allowed", (T, i)), |out| out.give(true));
            }
            if intent.is_access() && self.cached() {
                let block = intent.object().id;
                let joins = if self.hints_lines() { FIRST & HINTED.at(ME).at(block) } else { false.into() };
                let is_leaving = CACHE.at(ME).at(block).is(3);
                out.when(is_leaving | call("requested", (ME, block)), |out| out.give(joins));
            }
            self.by_role(intent, out, |answers, out| match answers {
                Some((role, column)) => self.can_answer(role, column, intent, out),
                None if self.must_be_answered(intent) => out.give(true),
                None => {}
            });
            out.give(false);
        });
    }

    fn raise(&self, i: usize, intent: &Intent, program: &mut Program) {
        let head = procedure(format!("raise{i}")).takes(T, THREADS).local(ME, NODES).local(FX, EFFECTS);
        program.define(head, |out| {
            let is_doing = |phase: u8, out: &mut Block| {
                out.assign(PHASE.at(T), phase);
                out.assign(INTENT.at(T), i);
            };
            out.assign(ME, node_of(T));
            if intent.is_access() {
                out.when(call("allowed", (T, i)), |out| {
                    out.call("finish", (T, i));
                    out.leave();
                });
            }
            if intent.is_access() && self.hints_lines() {
                out.when(HINTED.at(ME).at(intent.object().id), |out| {
                    is_doing(HELD, out);
                    out.leave();
                });
            }
            Self::handles(ME, T, out, |out| {
                is_doing(WAITS, out);
                self.by_role(intent, out, |answers, out| match answers {
                    Some((role, column)) => self.event_of(intent).happens(role, column, out),
                    None if self.must_be_answered(intent) => out.error("fault: nothing answers this event"),
                    None => {}
                });
            });
        });
    }

    /// The event that thread `t` of node `me` raises.
    fn event_of(&self, intent: &Intent) -> Happening {
        Happening::of(ME, intent.object().id).by(call("number_of", T)).with(self.passed(intent))
    }

    /// Whether it is a fault where nobody answers an intent.
    fn must_be_answered(&self, intent: &Intent) -> bool {
        intent.is_access() && self.engine().answers_accesses()
    }

    fn can_answer(&self, role: RoleId, column: usize, intent: &Intent, out: &mut Block) {
        let object = intent.object().id;
        let states = (0..self.role(role).states.len()).map(StateId::at);
        let holds = states.filter(|&state| *self.engine().response(role, state, event_kind(intent)) == Response::Hold);
        let held: Vec<Expr> = holds.map(|state| self.is_in(role, state, ME, object)).collect();
        if !held.is_empty() {
            out.when(!FIRST & any(held), |out| out.give(false));
        }
        let ready = Self::is_ready(role, column, ME, object);
        out.give(match self.not_stalled(role, column, self.event_of(intent)) {
            Some(goes_on) => ready & (FIRST | goes_on),
            None => ready,
        });
    }

    /// What is done for the role that answers an intent, if there is one: at the object's home, and elsewhere.
    fn by_role(&self, intent: &Intent, out: &mut Block, each: impl Fn(Option<(RoleId, usize)>, &mut Block)) {
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
        out.when_else(ME.is(object.id % self.model.nodes), |out| each(home, out), |out| each(away, out));
    }

    pub fn intent_text(&self, intent: &Intent) -> String {
        match intent {
            Intent::Read { block } => format!("read block {block}"),
            Intent::Write { block, value } => format!("write {value} to block {block}"),
            Intent::WriteBeside { block } => format!("write beside the word of block {block}"),
            Intent::Store { block } => format!("write to block {block}"),
            Intent::Rmw { block, value } => format!("exchange for {value} in block {block}"),
            Intent::Image { object } => format!("look at image {}", object.id),
            Intent::Call { op, object, args } => {
                format!("{} {} {:?}", self.protocol().ops[op.index()].name, object.id, args.words())
            }
        }
    }

    /// What threads are in the first state.
    pub fn first_threads(&self, out: &mut Block) {
        out.clear(PHASE);
        out.clear(INTENT);
        if self.performs_for_threads() {
            out.clear(PERFORMED);
            out.clear(FOUND);
        }
        if self.performs_for_values() {
            out.assign(GIVEN, 0);
        }
        if let Some(most) = self.most_count() {
            let first = if self.model.client.script.is_some() { 0 } else { most };
            out.for_each(T, THREADS, |out| out.assign(COUNT.at(T), first));
        }
    }
}

/// The node of a thread.
pub(super) fn node_of(thread: impl Into<Expr>) -> Expr {
    call("node_of", thread.into())
}

/// The block that an intent accesses, or -1.
pub(super) fn block_of(intent: impl Into<Expr>) -> Expr {
    call("block_of", intent.into())
}
