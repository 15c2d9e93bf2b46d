//! The threads of a node's program: for what each waits, the access with which it does, what has been granted or answered to it, and, as far
//! as handlers are concerned, in which of five states it is (`docs/semantics.md`, section 3, "The states of a thread").
//!
//! ```text
//!          its event is handled        its event is deferred
//!   free ───────────────────▶ waiting ◀──────────────────────▶ deferred
//!    ▲                        │  ▲  │                            (a replay)
//!    │ complete, return       │  │  │ no handler answers, or one resumed it too early
//!    ├────────────────────────┘  │  ▼
//!    │                           └─ held
//!    │ the access is performed      │ resume
//!    └────────── let go ◀───────────┘ (of a waiting thread, too)
//! ```
//!
//! Between the moment at which an access is stopped and the one at which its event is handled a thread is free: a handler that
//! runs in between cannot know of the access, and the event itself looks at the tag.

mod flight;
mod link;
mod wait;

pub use flight::Flight;
pub use link::Link;
pub use wait::{Grant, Wait};

use std::ops::{Index, IndexMut};
use trivium_engine::{Object, Pending};
use trivium_guest::{AccessKind, ReadModifyWrite};
use trivium_protocol::{EventKind, OpId};

/// How many threads a node's program has.
pub const THREADS: u8 = 1;

/// The thread that a node's processor runs.
pub const RUNNING: trivium_engine::Thread = 0;

/// What a thread has to do with handlers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadState {
    /// None of its events has been handled.
    #[default]
    Free,
    /// Its event has been handled, or is just now.
    Waiting,
    /// It keeps its event, and raises it again when the state of the instance has changed; or it has joined a request for the block
    /// that is under way.
    Held,
    /// Its event lies in the defer space of an instance.
    Deferred,
    /// It was resumed, and has not tried its access again.
    LetGo,
}

/// With what a thread waits, or is about to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Awaited {
    /// Nothing yet.
    #[default]
    Nothing,
    /// An access to a block.
    Access(Object),
    /// A call of the protocol with this number.
    Call(usize),
}

/// The number of an event of a thread, by which one is recognised that the thread no longer waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventNumber(u64);

/// A thread of a node's program.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// For what it waits; nothing while it runs, or would.
    pub wait: Option<Wait>,
    /// Its next access is guaranteed, so.
    pub grant: Option<Grant>,
    /// The call that it makes, if that has begun and not ended.
    pub flight: Option<Flight>,
    /// What the protocol's call in which it waits has returned.
    pub answered: Option<i64>,
    /// What it has told its engine, which has not heard of it yet: the protocol, and the event.
    pub told: Option<(usize, OpId)>,
    /// The access that it has last been stopped with.
    pub pending: Pending,
    /// Whether that is a load or a store.
    pub pending_kind: AccessKind,
    /// The read-modify-write that is being tried, if one is.
    pub atomic: Option<ReadModifyWrite>,
    /// What its last linked load remembers.
    pub link: Option<Link>,
    /// So many conditional stores in a row have lost their block while they asked for it, and found the word as it was; or were of another word than
    /// that.
    pub in_vain: u32,
    state: ThreadState,
    awaited: Awaited,
    /// The number of its latest event.
    latest: EventNumber,
    /// An event that was held, and since when.
    held: (EventNumber, u64),
}

/// The threads of a node's program, by their numbers.
#[derive(Clone, Debug, Default)]
pub struct NodeThreads([Thread; THREADS as usize]);

impl NodeThreads {
    /// Their numbers.
    pub fn numbers() -> impl Iterator<Item = trivium_engine::Thread> {
        0..THREADS
    }

    /// The thread of a number that a handler has named.
    ///
    /// # Errors
    /// There is none; said of `what` that needs it.
    pub fn named(&mut self, number: trivium_engine::Thread, what: &str) -> Result<&mut Thread, String> {
        self.0.get_mut(usize::from(number)).ok_or_else(|| format!("{what} thread {number}, which there is not"))
    }

    /// Whether the engine has heard of an access of one of them to a block, and not answered it.
    #[inline]
    pub fn request(&self, block: Object) -> bool {
        self.0.iter().any(|thread| thread.requests(block))
    }
}

impl NodeThreads {
    /// The node has lost its copy of a block: linked loads of it are forgotten.
    #[inline]
    pub fn lose(&mut self, block: Object) {
        for link in self.0.iter_mut().filter_map(|thread| thread.link.as_mut()) {
            link.is_kept &= link.block != block;
        }
    }

    /// The contents of a block are written by a handler. Where a thread asks for the block they are its answer, with which the word may stay as it
    /// was; else they are somebody's store, and linked loads of the block are forgotten.
    pub fn is_written(&mut self, block: Object) {
        if !self.request(block) {
            self.lose(block);
        }
    }
}

impl Index<trivium_engine::Thread> for NodeThreads {
    type Output = Thread;

    #[inline]
    fn index(&self, number: trivium_engine::Thread) -> &Thread {
        &self.0[usize::from(number)]
    }
}

impl IndexMut<trivium_engine::Thread> for NodeThreads {
    #[inline]
    fn index_mut(&mut self, number: trivium_engine::Thread) -> &mut Thread {
        &mut self.0[usize::from(number)]
    }
}

impl Thread {
    /// Whether it could go on.
    #[inline]
    pub fn is_running(&self) -> bool {
        self.wait.is_none()
    }

    /// Whether its program has ended, and the exit code.
    pub fn has_ended(&self) -> Option<i32> {
        if let Some(Wait::End(exit_code)) = self.wait { Some(exit_code) } else { None }
    }

    /// Whether it waits with an access to this block.
    #[inline]
    pub fn waits_for(&self, block: Object) -> bool {
        self.wait == Some(Wait::Access(block))
    }

    /// Whether its access is a load, as it was last stopped with one.
    #[inline]
    pub fn loads(&self) -> bool {
        self.pending_kind == AccessKind::Read
    }

    /// Its state.
    pub fn state(&self) -> ThreadState {
        self.state
    }

    /// An event of this access or call is to be handled: its number.
    pub fn asks(&mut self, awaited: Awaited) -> EventNumber {
        self.latest.0 += 1;
        (self.state, self.awaited) = (ThreadState::Free, awaited);
        self.latest
    }

    /// It hands a call of a protocol over to its engine, or an event that it tells it and does not wait for; the number of the event.
    pub fn hands_over(&mut self, protocol: usize, told: Option<OpId>) -> EventNumber {
        match told {
            None => self.asks(Awaited::Call(protocol)),
            Some(op) => {
                self.told = Some((protocol, op));
                EventNumber::default()
            }
        }
    }

    /// Whether an event is what it has told its engine.
    pub fn has_told(&self, protocol: usize, event: EventKind) -> bool {
        self.told.is_some_and(|(of, op)| of == protocol && event == EventKind::Op(op))
    }

    /// It wants access to a block which has been requested already, and raises no event.
    pub fn joins(&mut self, block: Object) {
        self.asks(Awaited::Access(block));
        self.state = ThreadState::Held;
    }

    /// One of its events is about to be handled: whether it waits for that, as it does from now on. It does not where it has
    /// been let go since it kept the event.
    #[must_use]
    pub fn begins_to_wait(&mut self, number: EventNumber) -> bool {
        let is_latest = number == self.latest && matches!(self.state, ThreadState::Free | ThreadState::Held);
        if is_latest {
            self.state = ThreadState::Waiting;
        }
        is_latest
    }

    /// Its deferred event is about to be handled.
    pub fn is_replayed(&mut self) {
        if self.state == ThreadState::Deferred {
            self.state = ThreadState::Waiting;
        }
    }

    /// Nobody answers its event: it keeps it.
    pub fn is_held(&mut self) {
        self.state = ThreadState::Held;
    }

    /// Since when its latest event has been held, which it is now: it may have been tried again meanwhile.
    pub fn held_since(&mut self, now: u64) -> u64 {
        if self.held.0 != self.latest {
            self.held = (self.latest, now);
        }
        self.held.1
    }

    /// The number of its latest event.
    pub fn latest(&self) -> EventNumber {
        self.latest
    }

    /// The handler of its event has deferred it. Not where the same handler has completed the access.
    ///
    /// # Errors
    /// It does not wait any more.
    pub fn is_deferred(&mut self) -> Result<(), String> {
        if self.state != ThreadState::Waiting {
            return Err("the handler completes the access of a thread, and defers its event".into());
        }
        self.state = ThreadState::Deferred;
        Ok(())
    }

    /// Whether a `resume` of an object lets it go.
    pub fn is_let_go_by(&self, object: Object) -> bool {
        matches!(self.state, ThreadState::Waiting | ThreadState::Held) && self.awaited == Awaited::Access(object)
    }

    /// An object is resumed: whether it goes on to try its access again.
    #[must_use]
    pub fn resume(&mut self, object: Object) -> bool {
        let goes_on = self.is_let_go_by(object);
        if goes_on {
            // An event that it has kept is none of its any more.
            self.latest.0 += 1;
            self.state = ThreadState::LetGo;
        }
        goes_on
    }

    /// Its access of an object has been performed: whether it waited with one, as it no longer does.
    #[must_use]
    pub fn complete(&mut self, object: Object) -> bool {
        let waits = self.state == ThreadState::Waiting && self.awaited == Awaited::Access(object);
        if waits {
            self.state = ThreadState::Free;
        }
        waits
    }

    /// A call of a protocol returns.
    ///
    /// # Errors
    /// It waits in none.
    pub fn returns(&mut self, protocol: usize) -> Result<(), &'static str> {
        if self.state == ThreadState::Waiting && self.awaited == Awaited::Call(protocol) {
            self.state = ThreadState::Free;
            return Ok(());
        }
        Err(match self.state {
            ThreadState::Deferred => "and is deferred",
            _ => "which waits for none",
        })
    }

    /// Whether the engine has heard of its access to a block, and not answered it.
    #[inline]
    pub fn requests(&self, block: Object) -> bool {
        matches!(self.state, ThreadState::Waiting | ThreadState::Deferred) && self.awaited == Awaited::Access(block)
    }

    /// Its access happens, after it was let go or without ever being stopped.
    #[inline]
    pub fn goes_on(&mut self) {
        if self.state == ThreadState::LetGo {
            self.state = ThreadState::Free;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_protocol::BLOCK;

    const A: Object = Object { kind: BLOCK, id: 1 };
    const B: Object = Object { kind: BLOCK, id: 2 };

    /// A thread with an access to `A` in each of the five states.
    fn in_state(state: ThreadState) -> Thread {
        let mut thread = Thread::default();
        let number = thread.asks(Awaited::Access(A));
        if state != ThreadState::Free {
            assert!(thread.begins_to_wait(number));
        }
        match state {
            ThreadState::Free | ThreadState::Waiting => {}
            ThreadState::Held => {
                thread.is_held();
                assert_eq!(thread.latest(), number);
            }
            ThreadState::Deferred => thread.is_deferred().unwrap(),
            ThreadState::LetGo => assert!(thread.resume(A)),
        }
        assert_eq!(thread.state(), state);
        thread
    }

    #[test]
    fn resume_and_complete_do_what_the_table_says() {
        use ThreadState::*;
        for (before, resumed, completed) in [
            (Free, Free, Free),
            (Waiting, LetGo, Free),
            (Held, LetGo, Held),
            (Deferred, Deferred, Deferred),
            (LetGo, LetGo, LetGo),
        ] {
            let mut thread = in_state(before);
            assert_eq!((thread.resume(B), thread.complete(B), thread.state()), (false, false, before));
            assert_eq!((thread.resume(A), thread.state()), (matches!(before, Waiting | Held), resumed));
            let mut thread = in_state(before);
            assert_eq!((thread.complete(A), thread.state()), (before == Waiting, completed));
        }
    }

    #[test]
    fn a_call_returns_only_to_a_thread_that_waits_in_one_of_the_same_protocol() {
        for number in [0, 1] {
            let mut thread = Thread::default();
            let event = thread.asks(Awaited::Call(0));
            assert!(thread.returns(0).is_err());
            assert!(thread.begins_to_wait(event));
            assert_eq!(thread.returns(number).is_ok(), number == 0);
            assert!(thread.returns(1).is_err());
        }
        let mut thread = Thread::default();
        let event = thread.asks(Awaited::Call(0));
        assert!(thread.begins_to_wait(event) && thread.is_deferred().is_ok());
        assert!(thread.returns(0).unwrap_err().contains("deferred"));
        thread.is_replayed();
        assert!(thread.returns(0).is_ok());
        assert!(in_state(ThreadState::Waiting).returns(0).is_err());
    }

    #[test]
    fn an_event_that_was_kept_is_nobodys_after_a_resume() {
        let mut thread = in_state(ThreadState::Held);
        let kept = thread.latest();
        assert!(thread.resume(A));
        assert!(!thread.begins_to_wait(kept));
        thread.goes_on();
        assert!(!thread.begins_to_wait(kept));
        let next = thread.asks(Awaited::Access(A));
        assert!(!thread.begins_to_wait(kept) && thread.begins_to_wait(next));
    }

    #[test]
    fn what_a_handler_completes_it_cannot_defer() {
        let mut thread = in_state(ThreadState::Waiting);
        assert!(thread.complete(A));
        assert!(thread.is_deferred().is_err());
    }

    #[test]
    fn a_request_is_one_that_has_been_heard_and_not_answered() {
        for state in [ThreadState::Free, ThreadState::Held, ThreadState::LetGo] {
            assert!(!in_state(state).requests(A));
        }
        for state in [ThreadState::Waiting, ThreadState::Deferred] {
            assert!(in_state(state).requests(A) && !in_state(state).requests(B));
        }
    }
}
