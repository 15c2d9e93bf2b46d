//! Processors with caches of their own: lines, what engines do to them, and what leaves them (`docs/semantics.md`,
//! section 8). A line is a number as in `probe`: 0 absent, 1 shared, 2 exclusive, 3 leaving.

use super::Export;
use super::handlers::Happening;
use super::names::{
    B, BACK, BLOCKS, CACHE, CACHED, DATA, DEFERRED, EFFECTS, FX, HINTED, INT, INTENT, ME, MEM, N, NODES, O, OVERTAKEN,
    PHASE, T, THREADS, TO, WAITS, WORDS, WRITES_BACK, X,
};
use super::system::Firing;
use super::threads::{block_of, node_of};
use crate::model::{
    BOOLEAN, Block, Expr, Name, Program, Term, all, any, array, call, choice, function, procedure, range,
};
use trivium_protocol::{BLOCK, EventKind, Response, RoleId, StateId};

/// Hints of a processor.
const PREFETCHES: [EventKind; 2] = [EventKind::Prefetch, EventKind::PrefetchWrite];

/// Whether a node's processor has a request outstanding for a block.
fn requested(block: impl Into<Expr>) -> Expr {
    call("requested", (ME, block))
}

impl Export<'_> {
    /// A node with threads hints that it may use a block, where a handler answers that.
    pub fn prefetches(&self, program: &mut Program) {
        if self.model.client.script.is_some() {
            return;
        }
        for (event, is_home) in PREFETCHES.into_iter().flat_map(|event| [(event, false), (event, true)]) {
            let Some((role, column)) = self.answering(event, is_home).filter(|_| self.has_blocks()) else { continue };
            let is_handled = |response: &Response| matches!(response, Response::Handle(_));
            let line = CACHE.at(ME).at(O);
            let is_of_use = match event {
                _ if !self.cached() => Vec::new(),
                EventKind::Prefetch => vec![line.is(0), !requested(O)],
                _ => vec![line.lt(2), !requested(O)],
            };
            let guard = self.unasked(event, (role, column), is_home, is_handled, is_of_use);
            let Some(guard) = guard else { continue };
            let head = Firing::of(self.protocol().event_name(event), [ME.of(NODES), O.of(BLOCKS)]);
            self.rule(head.local(FX.of(EFFECTS)), guard, program, |out| {
                if self.cached() {
                    out.assign(HINTED.at(ME).at(O), true);
                }
                Self::handles(ME, -1, out, |out| Happening::of(ME, O).happens(role, column, out));
            });
        }
    }

    /// The conditions under which a node with threads raises an event of block `o` that no thread asks for, in states whose response
    /// is one of some, and where it is of use; nothing if there are no such states.
    pub fn unasked(
        &self,
        event: EventKind,
        (role, column): (RoleId, usize),
        is_home: bool,
        is_one: impl Fn(&Response) -> bool,
        is_of_use: Vec<Expr>,
    ) -> Option<Vec<Expr>> {
        let states = (0..self.role(role).states.len()).map(StateId::at);
        let states = states.filter(|&state| is_one(self.engine().response(role, state, event)));
        let states: Vec<Expr> = states.map(|state| self.is_in(role, state, ME, O)).collect();
        if states.is_empty() {
            return None;
        }
        let has_threads = call("thread_at", (ME, 0)).differs_from(-1);
        let mut guard = vec![has_threads, self.is_at_home(O, ME, is_home), any(states)];
        guard.extend(is_of_use);
        guard.push(Self::is_ready(role, column, ME, O));
        guard.extend(self.not_stalled(role, column, Happening::of(ME, O)));
        Some(guard)
    }

    /// Whether there are caches to describe.
    pub fn cached(&self) -> bool {
        self.protocol().cached && self.has_blocks()
    }

    /// Whether a cached processor may have a request outstanding for which no thread waits.
    pub fn hints_lines(&self) -> bool {
        self.cached()
            && PREFETCHES.iter().any(|&event| [false, true].iter().any(|&at| self.answering(event, at).is_some()))
    }

    /// A request for the block is answered, whoever waits for it.
    pub fn answered(&self, block: impl Into<Expr>, out: &mut Block) {
        let block = block.into();
        out.assign(OVERTAKEN.at(ME).at(&block), false);
        if self.hints_lines() {
            out.assign(HINTED.at(ME).at(&block), false);
        }
    }

    pub fn cache_variables(&self, program: &mut Program) {
        let of_lines = |of| array(NODES, array(BLOCKS, of));
        if self.cached() {
            program.variable(CACHE, of_lines(range(0, 3)));
            program.variable(CACHED, of_lines(WORDS));
            program.variable(WRITES_BACK, of_lines(BOOLEAN));
            program.variable(OVERTAKEN, of_lines(BOOLEAN));
        }
        if self.hints_lines() {
            program.variable(HINTED, of_lines(BOOLEAN));
        }
    }

    pub fn first_caches(&self, out: &mut Block) {
        let each = |node: Name, out: &mut Block, body: &dyn Fn(&mut Block)| {
            out.for_each(node, NODES, |out| out.for_each(B, BLOCKS, body));
        };
        if self.cached() {
            out.clear(CACHE);
            each(N, out, &|out| out.assign(CACHED.at(N).at(B), self.model.garbage));
            each(X, out, &|out| {
                out.assign(WRITES_BACK.at(X).at(B), false);
                out.assign(OVERTAKEN.at(X).at(B), false);
            });
        }
        if self.hints_lines() {
            each(X, out, &|out| out.assign(HINTED.at(X).at(B), false));
        }
    }

    /// What a line allows, as a tag.
    pub fn cache_tag(&self, program: &mut Program) {
        program.define(function("tag", INT).takes(ME, NODES).takes(B, BLOCKS), |out| {
            let line = || CACHE.at(ME).at(B);
            out.give(choice(line().is(3), 0, line()));
        });
    }

    /// What an engine does to its processor's cache.
    pub fn interventions(&self, program: &mut Program) {
        if !self.cached() {
            return;
        }
        let copy = || MEM.at(ME).at(B * self.stride);
        let line = || CACHE.at(ME).at(B);
        let of_line = |name: &'static str| procedure(name).takes(ME, NODES).takes(B, BLOCKS);
        let not_asked = "fault: the processor has not asked for this block";
        let resumes = |out: &mut Block| {
            self.answered(B, out);
            out.assign(FX.field("resumed").at(B), true);
        };
        let overtakes = |out: &mut Block| out.when(requested(B), |out| out.assign(OVERTAKEN.at(ME).at(B), true));
        program.define(function("requested", BOOLEAN).takes(ME, NODES).takes(B, BLOCKS), |out| {
            if self.hints_lines() {
                out.when(HINTED.at(ME).at(B), |out| out.give(true));
            }
            out.for_each(T, THREADS, |out| {
                let waits = PHASE.at(T).is(WAITS) | PHASE.at(T).is(DEFERRED);
                out.when(node_of(T).is(ME) & waits, |out| {
                    out.when(block_of(INTENT.at(T)).is(B), |out| out.give(true));
                });
            });
            out.give(false);
        });
        program.define(of_line("fill").takes(TO, INT).changes(FX, EFFECTS), |out| {
            out.refuse(!requested(B), not_asked);
            out.when(!(OVERTAKEN.at(ME).at(B) & TO.is(1)), |out| {
                out.assign(line(), TO);
                out.assign(CACHED.at(ME).at(B), copy());
            });
            resumes(out);
        });
        program.define(of_line("upgrade").changes(FX, EFFECTS), |out| {
            out.refuse(line().differs_from(1), "fault: the line is not shared");
            out.refuse(!requested(B), not_asked);
            out.assign(line(), 2);
            resumes(out);
        });
        program.define(of_line("take").takes(TO, INT), |out| {
            out.refuse(line().is(0) | line().is(3), "fault: there is no line to take");
            out.assign(copy(), CACHED.at(ME).at(B));
            out.when_else(
                TO.is(1),
                |out| out.assign(line(), 1),
                |out| {
                    out.assign(line(), 0);
                    self.empty_line(B, out);
                    overtakes(out);
                },
            );
        });
        program.define(of_line("invalidate"), |out| {
            out.when(line().differs_from(3), |out| {
                out.assign(line(), 0);
                self.empty_line(B, out);
            });
            overtakes(out);
        });
    }

    /// The line of a block has no contents.
    fn empty_line(&self, block: Name, out: &mut Block) {
        out.assign(CACHED.at(ME).at(block), self.model.garbage);
    }

    /// The role and column that answers an event for a block, at its home or elsewhere.
    pub(super) fn answering(&self, event: EventKind, is_home: bool) -> Option<(RoleId, usize)> {
        let role = self.engine().role_for(event, BLOCK, is_home)?;
        Some((role, self.role(role).column(event)?))
    }

    /// Those who hear of what leaves a cache: the event, whether it brings data, whether at home, and the role and column that answers.
    fn hearing(&self) -> Vec<(EventKind, bool, bool, RoleId, usize)> {
        let events = [(EventKind::Evict, false), (EventKind::WriteBack, true)];
        let all = events.into_iter().flat_map(|(event, written)| [(event, written, false), (event, written, true)]);
        let answered = all.filter_map(|(event, written, is_home)| {
            let (role, column) = self.answering(event, is_home)?;
            Some((event, written, is_home, role, column))
        });
        answered.collect()
    }

    /// Whether an engine can hear now of what left: `leaves(me, o)`.
    fn leaves(&self, program: &mut Program) {
        program.define(function("leaves", BOOLEAN).takes(ME, NODES).takes(O, BLOCKS), |out| {
            out.when(CACHE.at(ME).at(O).differs_from(3), |out| out.give(false));
            for (event, written, is_home, role, column) in self.hearing() {
                let writes_back = WRITES_BACK.at(ME).at(O);
                let is_that = if written { writes_back } else { !writes_back };
                let states = (0..self.role(role).states.len()).map(StateId::at);
                let held = states.filter(|&state| *self.engine().response(role, state, event) == Response::Hold);
                let not_held = held.map(|state| self.state(role, ME, O).differs_from(self.state_name(role, state)));
                let ready = [Self::is_ready(role, column, ME, O)].into_iter().chain(not_held);
                let ready = all(ready.chain(self.not_stalled(role, column, Happening::of(ME, O))));
                out.when(is_that & self.is_at_home(O, ME, is_home), |out| out.give(ready));
            }
            out.give(false);
        });
    }

    /// Caches give up lines, and engines hear of it.
    pub fn cache_rules(&self, program: &mut Program) {
        if !self.cached() {
            return;
        }
        self.leaves(program);
        let line = || CACHE.at(ME).at(O);
        let of_line = |text: &str| Firing::of(text, [ME.of(NODES), O.of(BLOCKS)]);
        let guard = [line().is(1) | line().is(2), !requested(O)];
        self.rule(of_line("evict"), guard, program, |out| {
            out.when_else(
                line().is(2),
                |out| {
                    out.assign(WRITES_BACK.at(ME).at(O), true);
                    out.assign(line(), 3);
                },
                |out| {
                    self.empty_line(O, out);
                    for is_home in [false, true] {
                        let next = if self.answering(EventKind::Evict, is_home).is_some() { 3 } else { 0 };
                        out.when(self.is_at_home(O, ME, is_home), |out| out.assign(line(), next));
                    }
                },
            );
        });
        let leave = of_line("leave").handling(ME).local(DATA.of(INT)).local(BACK.of(BOOLEAN));
        self.rule(leave, [call("leaves", (ME, O))], program, |out| {
            out.assign(BACK, WRITES_BACK.at(ME).at(O));
            out.assign(DATA, choice(BACK, CACHED.at(ME).at(O) + 1, 0));
            out.assign(line(), 0);
            self.empty_line(O, out);
            out.assign(WRITES_BACK.at(ME).at(O), false);
            for (_, written, is_home, role, column) in self.hearing() {
                let is_that = if written { BACK.into() } else { !BACK };
                out.when(is_that & self.is_at_home(O, ME, is_home), |out| {
                    Happening::of(ME, O).carrying(DATA).happens(role, column, out);
                });
            }
        });
    }
}
