//! Accesses that handlers perform, for the program of their node or for threads that wait for them.

use super::Export;
use super::names::{
    AT, B, BLOCKS, BYTES, FOUND, GIVEN, I, IDLE, INT, INTENT, KIND, LAST, LOADS, ME, N, NODES, NUMBER, OP, PERFORMED,
    PHASE, SKIP, T, VALUE, WAITS, WHOSE, X, Y,
};
use super::threads::{block_of, node_of};
use crate::model::{BOOLEAN, Block, Expr, Name, Program, Term, all, any, call, choice, function, procedure, values};
use trivium_check::{Intent, WORD, WORDS_PER_BLOCK, checks_values};
use trivium_protocol::{BLOCK, CopyIn, GhostEvent, PerformKind};

/// What is performed, as a number of the model.
fn number(kind: PerformKind) -> i32 {
    match kind {
        PerformKind::Read | PerformKind::ReadTo | PerformKind::ReadData => 0,
        PerformKind::Write | PerformKind::WriteFrom | PerformKind::WriteData => 1,
        PerformKind::Rmw => 2,
    }
}

impl Export<'_> {
    pub(super) fn performs(&self, program: &mut Program) {
        if !self.has_blocks() {
            return;
        }
        if self.performs_for_threads() {
            self.asking(program);
            self.complete_with(program);
        }
        self.access("perform_read", &[], (PerformKind::Read, 0.into(), 0.into()), program, |out| {
            self.performed_load(out)
        });
        self.access("perform_write", &[VALUE], (PerformKind::Write, 0.into(), VALUE.into()), program, |out| {
            self.performed_store(VALUE.into(), out);
        });
        if self.performs_for_values() {
            let rmw = (PerformKind::Rmw, OP.into(), X.into());
            self.access("perform_rmw", &[OP, X, Y], rmw, program, |out| {
                out.refuse(OP.gt(2), "fault: the model does not have the operation");
                self.performed_load(out);
                let sum = GIVEN + X;
                // As in `check`, numbers go round behind the last value that clients store.
                let sum = if self.model.client.script.is_none() { sum % self.values } else { sum };
                let exchanged = choice(OP.is(0) | GIVEN.is(Y), X, GIVEN);
                self.performed_store(choice(OP.is(2), sum, exchanged), out);
            });
        }
    }

    /// The routine of an access: what it takes beside its place and its thread, and what it is, with its operation and its value.
    fn access(
        &self,
        name: &'static str,
        more: &[Name],
        (kind, operation, value): (PerformKind, Expr, Expr),
        program: &mut Program,
        body: impl FnOnce(&mut Block),
    ) {
        let block_bytes = WORD * u64::from(WORDS_PER_BLOCK);
        let block = B * block_bytes;
        let head = procedure(name).takes(ME, NODES).takes(B, BLOCKS).takes_each([AT, BYTES, T], &INT);
        let head = head.takes_each(more.iter().cloned(), &INT).local(WHOSE, INT).locals(self.ghost_locals());
        program.define(head, |out| {
            let is_outside = AT.lt(&block) | (AT + BYTES).gt(&block + block_bytes);
            out.refuse(is_outside, "fault: an address is not in the block");
            if self.performs_for_threads() {
                out.when(T.gt(-1), |out| {
                    out.call("asked", (T, B, AT - &block, number(kind), operation, value));
                });
                out.assign(WHOSE, choice(T.lt(0), ME, node_of(choice(T.lt(0), 0, T))));
            } else {
                out.assign(WHOSE, ME);
            }
            if self.performs_for_programs() {
                out.when(T.lt(-1), |out| out.assign(WHOSE, Expr::from(-2) - T));
            }
            out.when(AT.is(&block), body);
            if self.performs_for_threads() {
                let found = if kind == PerformKind::Write { 0.into() } else { Expr::from(GIVEN) };
                out.when(T.gt(-1), |out| {
                    out.assign(PERFORMED.at(T), true);
                    out.assign(FOUND.at(T), found);
                });
            }
        });
    }

    fn performed_load(&self, out: &mut Block) {
        let word = self.copy_of(CopyIn::Memory, ME, B);
        if checks_values(self.protocol()) {
            out.refuse((&word).differs_from(LAST.at(B)), "a read misses the last write");
        }
        if self.performs_for_values() {
            out.assign(GIVEN, &word);
        }
        self.tell(GhostEvent::Read, BLOCK, B, WHOSE, vec![word], out);
    }

    fn performed_store(&self, value: Expr, out: &mut Block) {
        let word = self.copy_of(CopyIn::Memory, ME, B);
        out.assign(&word, value);
        if checks_values(self.protocol()) {
            out.assign(LAST.at(B), &word);
        }
        self.tell(GhostEvent::Write, BLOCK, B, WHOSE, vec![word], out);
    }

    /// A thread for which an access is performed, by its node and its number there, and whether it waits for that.
    fn asking(&self, program: &mut Program) {
        program.define(function("asker", INT).takes_each([N, NUMBER], &INT).local(T, INT), |out| {
            out.assign(T, call("thread_at", (N, NUMBER)));
            out.refuse(T.is(-1), "fault: an access is performed for no thread");
            out.give(T);
        });
        let asked = [B, SKIP, KIND, OP, VALUE];
        let head = function("waits_for", BOOLEAN).takes(I, INT).takes_each(asked.clone(), &INT);
        let comment = "What is performed: 0 a load, 1 a store, 2 a read-modify-write; `skip` bytes behind the word that is looked at.";
        program.define(head.comment(comment), |out| {
            out.switch(I, |intents| {
                for (i, intent) in self.model.client.intents.iter().enumerate() {
                    let is = |kind: PerformKind| KIND.is(number(kind));
                    let same = match intent {
                        Intent::Read { .. } => vec![SKIP.is(0), is(PerformKind::Read)],
                        Intent::Write { value, .. } => vec![SKIP.is(0), is(PerformKind::Write), VALUE.is(*value)],
                        Intent::WriteBeside { .. } => vec![SKIP.differs_from(0), is(PerformKind::Write)],
                        Intent::Rmw { value, .. } => {
                            vec![SKIP.is(0), is(PerformKind::Rmw), OP.is(0), VALUE.is(*value)]
                        }
                        Intent::Store { .. } | Intent::Image { .. } | Intent::Call { .. } => continue,
                    };
                    intents.give(i, all([B.is(intent.object().id)].into_iter().chain(same)));
                }
            });
            out.give(false);
        });
        let head = procedure("asked").takes(T, INT).takes_each(asked.clone(), &INT);
        program.define(head, |out| {
            let what = "fault: a thread does not wait for that";
            out.refuse(PHASE.at(T).differs_from(WAITS), what);
            let given = asked.iter().map(Expr::from);
            let waits = call("waits_for", values(INTENT.at(T)).into_iter().chain(given).collect::<Vec<_>>());
            out.refuse(!waits, what);
            out.refuse(PERFORMED.at(T), "fault: an access was performed before");
        });
    }

    fn complete_with(&self, program: &mut Program) {
        let head = procedure("complete_with").takes(ME, NODES).takes(B, BLOCKS).takes_each([NUMBER, VALUE], &INT);
        program.define(head.local(T, INT).local(LOADS, BOOLEAN), |out| {
            out.assign(T, call("thread_at", (ME, NUMBER)));
            let nobody = "fault: nobody waits for that";
            out.refuse(T.is(-1), nobody);
            out.refuse(PHASE.at(T).differs_from(WAITS), nobody);
            out.refuse(block_of(INTENT.at(T)).differs_from(B), nobody);
            out.refuse(!PERFORMED.at(T), "fault: nobody has performed that");
            let intents = self.model.client.intents.iter().enumerate();
            let loading = intents.filter(|(_, intent)| matches!(intent, Intent::Read { .. } | Intent::Rmw { .. }));
            out.assign(LOADS, any(loading.map(|(i, _)| INTENT.at(T).is(i))));
            out.refuse(LOADS & VALUE.differs_from(FOUND.at(T)), "fault: a thread gets another value");
            out.call("advance", (T, LOADS, VALUE));
            Self::is_idle(out);
            out.assign(PERFORMED.at(T), false);
            out.assign(FOUND.at(T), 0);
            if self.cached() {
                self.answered(B, out);
            }
        });
    }

    /// Thread `t` does nothing any more.
    pub fn is_idle(out: &mut Block) {
        out.assign(PHASE.at(T), IDLE);
        out.assign(INTENT.at(T), 0);
    }
}
