//! What a running handler has done, as every real node notes it until the handler has ended.

use super::asked::AskedStep;
use super::primitive::DataFrom;
use crate::error::{NodeError, blame};
use crate::records::Slot;
use crate::thread::NodeThreads;
use trivium_diagnostic::Code;
use trivium_engine::{Args, Disposition, Engine, Event, Object, Outcome, Payload, Thread};
use trivium_protocol::{RoleId, StateId, TaskId};

/// What the running handler has done so far, besides its messages.
#[derive(Debug, Default)]
pub struct Effects {
    /// Of which protocol it is.
    pub protocol: usize,
    /// Records that it touched, with their states before.
    pub touched: Vec<Touched>,
    /// Objects that it has resumed.
    pub resumed: Vec<Object>,
    /// Accesses of threads that it has completed: whose, and what it has read.
    pub completed: Vec<(Thread, u64)>,
    /// Payloads that it has made: where from.
    pub gathered: Vec<(Payload, DataFrom)>,
    /// Blocks of which the contents or the tag changed.
    pub changed: Vec<Object>,
    /// Blocks to which it has written, where it matters whether its node has contents ([`crate::records::Protocols::looks_at_accesses`]).
    pub brought: Vec<Object>,
    /// Calls that return: to which thread, with what.
    pub answers: Vec<(Thread, i64)>,
    /// Tasks for the software queue.
    pub tasks: Vec<(TaskId, Object, Args)>,
    /// The thread whose engine has heard what it has told it.
    pub heard: Option<Thread>,
    /// Timers that run from its end, or are cancelled.
    pub timers: Vec<(RoleId, Object, Option<u64>)>,
    /// What it has performed and completed for threads, in this order.
    pub asked: Vec<AskedStep>,
    /// What it did that cannot be done.
    pub trouble: Option<String>,
}

/// A record that a handler has touched.
#[derive(Clone, Copy, Debug)]
pub struct Touched {
    /// Of which role.
    pub role: RoleId,
    /// Of which object.
    pub object: Object,
    /// Its state before.
    pub before: StateId,
    /// Where it lies.
    pub place: Slot,
}

impl Effects {
    /// Forgets a handler for the next one, of this protocol; the space that its lists took stays.
    #[inline]
    pub fn restart(&mut self, protocol: usize) {
        self.protocol = protocol;
        self.touched.clear();
        self.resumed.clear();
        self.completed.clear();
        self.gathered.clear();
        self.changed.clear();
        self.brought.clear();
        self.answers.clear();
        self.tasks.clear();
        self.timers.clear();
        self.heard = None;
        self.asked.clear();
        self.trouble = None;
    }

    /// The error of a handler that did something that cannot be done, if it did; `who` is the node, and when.
    #[cold]
    pub fn troubled(&self, engine: &Engine, outcome: &Outcome, who: &str) -> NodeError {
        let role = &engine.protocol().roles[outcome.role.index()];
        let handler = outcome.handler.map(|id| &role.handlers[id.index()]);
        let name = handler.map_or("", |handler| handler.name.as_str());
        let what = self.trouble.as_deref().unwrap_or_default();
        let error =
            NodeError::subject(Code::Fault, format!("{who}: handler {name} of object {}: {what}", outcome.object.id))
                .help(blame(engine.protocol()));
        match handler.and_then(|handler| engine.protocol().sources.known_place(handler.span)) {
            Some(place) => error.at(place.to_string()),
            None => error,
        }
    }

    /// The first thing that went wrong is kept.
    pub fn trouble_of(&mut self, result: Result<(), String>) {
        if let Err(what) = result {
            self.trouble.get_or_insert(what);
        }
    }

    /// An object's threads are to try their accesses again.
    pub fn resume(&mut self, object: Object) {
        if !self.resumed.contains(&object) {
            self.resumed.push(object);
        }
    }

    /// The handler of an event has ended: what becomes of the thread whose event it is, and of those whose calls return. What cannot be is the
    /// handler's trouble.
    pub fn settle(&mut self, threads: &mut NodeThreads, event: Option<&Event>, disposition: Disposition) {
        if let Some(event) = event.filter(|event| event.has_caller()) {
            let thread = &mut threads[event.thread];
            if thread.has_told(self.protocol, event.kind) {
                thread.told = None;
                self.heard = Some(event.thread);
                return;
            }
            match disposition {
                Disposition::Held => threads[event.thread].is_held(),
                Disposition::Deferred => self.trouble_of(threads[event.thread].is_deferred()),
                Disposition::Handled | Disposition::Passed => {}
            }
        }
        for at in 0..self.answers.len() {
            let (number, _) = self.answers[at];
            let returned = threads.named(number, "a call returns to").and_then(|thread| {
                thread.returns(self.protocol).map_err(|why| format!("a call returns to thread {number}, {why}"))
            });
            self.trouble_of(returned);
        }
    }
}
