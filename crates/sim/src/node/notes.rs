//! What a node notes for a trace.

use super::NodeState;
use crate::reports::counters::Spent;
use crate::reports::timeline::{Cause, Reason, path};
use crate::reports::trace::{Note, Stall, StallPart};
use std::ops::Range;
use trivium_guest::StackFrame;
use trivium_node::Wait;
use trivium_protocol::Promise;

impl NodeState {
    /// Whether anything of these cycles is to be noted.
    pub(crate) fn noting(&self, cycles: &Range<u64>) -> bool {
        self.shared.traced.as_ref().is_some_and(|window| cycles.start < window.end && cycles.end >= window.start)
    }

    /// Notes something, if it falls into the trace's window.
    pub(crate) fn note(&mut self, note: Note) {
        if self.noting(&note.cycles()) {
            self.noted.notes.push(note);
        }
    }

    /// The processor computed up to cycle `to`.
    pub(crate) fn note_compute(&mut self, to: u64) {
        if self.shared.traced.is_some() {
            let cycles = self.noted.until..to;
            if !cycles.is_empty() {
                self.note(Note::Compute { node: self.core.me, cycles });
            }
            self.noted.until = to;
        }
    }

    /// The processor stood still; the parts follow one another, given by their ends.
    pub(crate) fn note_stall(&mut self, from: u64, spent: Spent, what: &str, parts: &[(Reason, &'static str, u64)]) {
        if self.shared.traced.is_none() {
            return;
        }
        let mut begin = from;
        let mut known = Vec::new();
        for &(reason, what, to) in parts {
            if to > begin {
                known.push(StallPart { reason, what: what.into(), node: Some(self.core.me), cycles: begin..to });
            }
            begin = to;
        }
        self.note_parts(from..begin, spent, (what.to_string(), Vec::new()), known);
    }

    fn note_parts(&mut self, cycles: Range<u64>, spent: Spent, what: (String, Vec<StackFrame>), parts: Vec<StallPart>) {
        self.note_compute(cycles.start);
        if cycles.is_empty() {
            return;
        }
        self.noted.until = cycles.end;
        let (what, at) = what;
        self.note(Note::Stall(Stall { node: self.core.me, cycles, spent, what, at, parts }));
    }

    /// The processor's wait is over: what it was for, as far as what ended it tells.
    pub(crate) fn note_wait(&mut self, wait: Wait, cycles: Range<u64>, spent: Spent, cause: &Cause) {
        if self.shared.traced.is_none() {
            return;
        }
        if !self.noting(&cycles) {
            self.note_compute(cycles.start);
            self.noted.until = cycles.end;
            return;
        }
        let (what, otherwise) = self.wanted(wait);
        let steps = cause.as_ref().map_or(Vec::new(), |(run, left)| path(run, *left));
        let mut parts = Vec::new();
        let mut at = cycles.start;
        let unknown = |parts: &mut Vec<StallPart>, reason: Reason, cycles: Range<u64>| {
            if !cycles.is_empty() {
                parts.push(StallPart { reason, what: "".into(), node: None, cycles });
            }
        };
        for step in steps {
            let (from, to) = (step.from.max(at), step.to.min(cycles.end));
            if to <= from {
                continue;
            }
            unknown(&mut parts, otherwise, at..from);
            parts.push(StallPart { reason: step.reason, what: step.what, node: step.node, cycles: from..to });
            at = to;
        }
        let trapped = matches!(wait, Wait::Access(_)) && at > cycles.start && self.compute.trapped == cycles.end;
        unknown(&mut parts, if trapped { Reason::Trap } else { otherwise }, at..cycles.end);
        let at = self.compute.waits_at.clone();
        self.note_parts(cycles, spent, (what, at), parts);
    }

    /// What a wait is for, and the reason for what is not known of it.
    fn wanted(&self, wait: Wait) -> (String, Reason) {
        match wait {
            Wait::Access(block) => (format!("block {}", block.id), Reason::Turn),
            Wait::Barrier(_) => ("barrier".into(), Reason::Barrier),
            Wait::Change { block, .. } => (format!("a word of block {}", block.id), Reason::Change),
            Wait::Page(page) => (format!("page {page}"), Reason::Placement),
            Wait::Frame(page) => (format!("the frame of page {page}"), Reason::Placement),
            Wait::Answer => ("an answer to a prefetch".into(), Reason::Turn),
            Wait::Told => ("its engine to hear".into(), Reason::Call),
            Wait::Sleep(_) => ("a time to pass".into(), Reason::Sleep),
            Wait::End(_) => ("the end".into(), Reason::Turn),
            Wait::Call { protocol, op, object } => {
                let protocol = self.shared.protocols.engines[protocol].protocol();
                let promised = |wanted: fn(&Promise, trivium_protocol::OpId) -> bool| {
                    protocol.promises.iter().any(|promise| wanted(promise, op))
                };
                let reason = if promised(|promise, op| matches!(promise, Promise::Mutex(a, _) if *a == op)) {
                    Reason::Lock
                } else if promised(|promise, op| *promise == Promise::Barrier(op)) {
                    Reason::Barrier
                } else {
                    Reason::Call
                };
                let kind = &protocol.objects[object.kind.index()];
                (format!("{}.{} of {kind} {}", protocol.name, protocol.ops[op.index()].name, object.id), reason)
            }
        }
    }
}
