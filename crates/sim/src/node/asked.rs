//! That each access which handlers perform for a thread is performed exactly once, and then completed (`docs/semantics.md`,
//! section 3): looked at step by step, in the order of time.

use crate::node::NodeState;
use crate::node::mechanisms::Handling;
use std::collections::BTreeMap;
use std::rc::Rc;
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_engine::{Disposition, Engine, Event, Node, Object, Outcome, Thread};
use trivium_node::{AskedStep, NodeError, NodeThreads, Request, allows};
use trivium_protocol::{HandlerId, RoleId};

/// What happened to an access that handlers may perform for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskedNote {
    /// At which cycle.
    pub time: u64,
    /// On which node.
    pub node: Node,
    what: AskedWhat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AskedWhat {
    /// A thread of the node waits with it: a handler of its event runs.
    Waits(Request),
    /// The thread does not wait with it any more, or not yet again: its event is held or deferred, or it was let go.
    Keeps(Thread),
    /// A handler performed or completed it.
    Step(AskedStep, ByHandler),
    /// A handler let a thread of its node perform its access itself.
    Itself(Thread, ByHandler),
}

/// A handler of a protocol, by the protocol's number in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ByHandler {
    protocol: u16,
    role: RoleId,
    handler: HandlerId,
}

impl ByHandler {
    /// Its name, and where the text has the step, or the whole handler.
    fn told(&self, step: Option<&AskedStep>, engines: &[Rc<Engine>]) -> (String, String) {
        let protocol = engines[usize::from(self.protocol)].protocol();
        let handler = &protocol.roles[self.role.index()].handlers[self.handler.index()];
        let written = step.and_then(|step| protocol.sources.known_place(step.place));
        let place = written.unwrap_or_else(|| protocol.sources.place(handler.span));
        (handler.name.clone(), place.to_string())
    }
}

impl AskedNote {
    /// Whose access it is.
    pub(crate) fn asker(&self) -> (Node, Thread) {
        match self.what {
            AskedWhat::Waits(request) => request.asker,
            AskedWhat::Step(step, _) => step.request.asker,
            AskedWhat::Keeps(thread) | AskedWhat::Itself(thread, _) => (self.node, thread),
        }
    }
}

/// Accesses with which threads wait, and those that have been performed for them and not yet completed.
#[derive(Default)]
pub(crate) struct AskedWatch {
    waiting: BTreeMap<(Node, Thread), Request>,
    performed: BTreeMap<(Node, Thread), Performed>,
}

/// When, where and by which step an access was performed.
struct Performed {
    time: u64,
    node: Node,
    step: AskedStep,
    handler: ByHandler,
}

impl Performed {
    fn sentence(&self, engines: &[Rc<Engine>]) -> String {
        let (handler, place) = self.handler.told(Some(&self.step), engines);
        format!("it was performed at cycle {} on node {} by handler {handler}, at {place}", self.time, self.node)
    }
}

const HELP: &str = "between `perform .. as t` and `complete with .. to t` there is exactly one access of the thread: `trivium check` on the protocol finds the shortest counterexample";

impl AskedWatch {
    /// Looks at what happened; all of a thread's must come in their order.
    ///
    /// # Errors
    /// An access is performed that no thread waits for, or performed twice, completed before it is performed, or completed
    /// otherwise than it was performed.
    pub(crate) fn apply(&mut self, note: &AskedNote, engines: &[Rc<Engine>]) -> Result<(), NodeError> {
        let (node, thread) = note.asker();
        let (wrong, before, step, handler) = match note.what {
            AskedWhat::Waits(request) => {
                self.waiting.insert((node, thread), request);
                return Ok(());
            }
            AskedWhat::Keeps(_) => {
                self.waiting.remove(&(node, thread));
                return Ok(());
            }
            AskedWhat::Step(step, handler) if step.performs => {
                let waits = self.waiting.get(&(node, thread)) == Some(&step.request);
                let performed = Performed { time: note.time, node: note.node, step, handler };
                let before = self.performed.insert((node, thread), performed);
                let address = step.request.address;
                let wrong = match (&before, waits) {
                    (Some(_), _) => "for which one has been performed that is not completed",
                    (None, false) => "which does not wait for that",
                    (None, true) => return Ok(()),
                };
                let access =
                    format!("performs an access to shared offset {address:#x} for thread {thread} of node {node}");
                (format!("{access}, {wrong}"), before, Some(step), handler)
            }
            AskedWhat::Step(step, handler) => {
                self.waiting.remove(&(node, thread));
                let before = self.performed.remove(&(node, thread));
                let wrong = match before.as_ref().map(|before| before.step.given) {
                    Some(given) if given == step.given => return Ok(()),
                    Some(given) => format!("with {}, and it gave {given} when it was performed", step.given),
                    None => "which nobody has performed".into(),
                };
                let address = step.request.address;
                let comma = if before.is_some() { "" } else { "," };
                let access =
                    format!("completes the access of its thread {thread} to shared offset {address:#x}{comma}");
                (format!("{access} {wrong}"), before, Some(step), handler)
            }
            AskedWhat::Itself(_, handler) => {
                self.waiting.remove(&(node, thread));
                let Some(before) = self.performed.remove(&(node, thread)) else { return Ok(()) };
                let wrong = format!("lets its thread {thread} perform an access that a handler has performed for it");
                (wrong, Some(before), None, handler)
            }
        };
        let (name, place) = handler.told(step.as_ref(), engines);
        let what = format!("cycle {}: node {}: handler {name} {wrong}", note.time, note.node);
        let error = NodeError::subject(Code::Promise, what).at(place).help(HELP);
        Err(before.into_iter().fold(error, |error, before| error.note(before.sentence(engines))))
    }

    /// Looks at what is left when all programs have ended.
    ///
    /// # Errors
    /// An access has been performed, and its thread has gone on without it.
    pub(crate) fn at_the_end(&self, engines: &[Rc<Engine>]) -> Result<(), NodeError> {
        let first = self.performed.iter().min_by_key(|(_, performed)| (performed.time, performed.node));
        let Some(((node, thread), performed)) = first else { return Ok(()) };
        let (_, place) = performed.handler.told(Some(&performed.step), engines);
        let what = format!("an access is performed for thread {thread} of node {node}, and never completed");
        Err(NodeError::subject(Code::Promise, what).at(place).note(performed.sentence(engines)).help(HELP))
    }
}

impl NodeState {
    /// A handler of the thread's event is about to run: the thread waits, with an access if it is one.
    pub(super) fn note_waits(&mut self, protocol: usize, event: &Event) {
        if event.kind.wants().is_none() || !self.shared.protocols.performs_for_threads[protocol] {
            return;
        }
        let time = self.now;
        let thread = &self.core.threads[event.thread];
        let request = Request::of((self.core.me, event.thread), &thread.pending, thread.pending_kind);
        self.watched.asked.push(AskedNote { time, node: self.core.me, what: AskedWhat::Waits(request) });
    }

    /// A handler has ended, which may have performed accesses for threads, or completed them.
    pub(super) fn note_asked(&mut self, handling: &Handling, event: Option<&Event>, outcome: &Outcome) {
        let keeps = matches!(outcome.disposition, Disposition::Held | Disposition::Deferred);
        let keeper = event.filter(|event| keeps && event.has_caller()).map(|event| event.thread);
        let (time, node) = (handling.start, self.core.me);
        let note = |what| AskedNote { time, node, what };
        if let Some(handler) = outcome.handler {
            let protocol = fit(handling.effects.protocol, "a protocol of a run, of which there are at most 65536");
            let handler = ByHandler { protocol, role: outcome.role, handler };
            self.watched.asked.extend(handling.effects.asked.iter().map(|&step| note(AskedWhat::Step(step, handler))));
            for thread in NodeThreads::numbers().filter(|&thread| keeper != Some(thread)) {
                if self.goes_on_by_itself(thread, handling) {
                    self.watched.asked.push(note(AskedWhat::Itself(thread, handler)));
                } else if self.resumes(thread, handling).is_some() {
                    self.watched.asked.push(note(AskedWhat::Keeps(thread)));
                }
            }
        }
        self.watched.asked.extend(keeper.map(|thread| note(AskedWhat::Keeps(thread))));
    }

    /// Whether a handler that has ended lets a thread perform the access with which it waits.
    fn goes_on_by_itself(&mut self, thread: Thread, handling: &Handling) -> bool {
        if handling.effects.completed.iter().any(|&(completed, _)| completed == thread) {
            let completes = |step: &AskedStep| !step.performs && step.request.asker.1 == thread;
            return !handling.effects.asked.iter().any(completes);
        }
        let Some(block) = self.resumes(thread, handling) else { return false };
        allows(self.core.tag(block), self.core.threads[thread].pending_kind)
    }

    /// The block that a handler which has ended has resumed, if it lets a thread go that waits for it.
    fn resumes(&self, thread: Thread, handling: &Handling) -> Option<Object> {
        handling.effects.resumed.iter().copied().find(|&object| self.core.threads[thread].is_let_go_by(object))
    }
}
