//! What a node notes for a trace, where there is one. Its times are those of the host, also where a recording is replayed.

use super::NodeState;
use super::mechanisms::What;
use crate::reports::trace::{LiveHandled, LiveWhat, Tracer, Waited};
use trivium_engine::{Event, Outcome};
use trivium_guest::SHARED_BASE;
use trivium_node::{Wait, shared_u32};

impl NodeState {
    /// The trace, with the time.
    fn traced(&mut self) -> Option<(u64, &mut Tracer)> {
        // The clock is not looked at for nothing.
        let now = if self.tracer.is_some() { self.now() } else { 0 };
        self.tracer.as_deref_mut().map(|tracer| (now, tracer))
    }

    /// The program begins.
    pub(crate) fn note_program(&mut self) {
        if let Some((now, tracer)) = self.traced() {
            tracer.program_begins(now);
        }
    }

    /// The region of interest begins, or else ends.
    pub(super) fn note_region(&mut self, begins: bool) {
        if let Some((now, tracer)) = self.traced() {
            tracer.note(now..now, LiveWhat::Region(begins));
        }
    }

    /// A handler begins.
    pub(super) fn note_handler(&mut self) {
        if let Some((now, tracer)) = self.traced() {
            tracer.begins(now);
        }
    }

    /// A handler has ended, and what it sends is about to leave.
    pub(super) fn note_handled(&mut self, protocol: usize, event: Option<&Event>, outcome: &Outcome) {
        let Some(event) = event.filter(|_| self.tracer.is_some()) else { return };
        let now = self.now();
        let Some(tracer) = self.tracer.as_deref_mut() else { return };
        let mut sends = Vec::with_capacity(self.handling.sends.len());
        for sent in &mut self.handling.sends {
            let number = tracer.number_sent(sent.to);
            if let What::Message(message) = &mut sent.what {
                message.number = number;
            }
            sends.push((sent.message, (sent.to, number)));
        }
        let handled = LiveHandled {
            protocol,
            role: outcome.role,
            event: event.kind,
            object: outcome.object,
            states: (outcome.before, outcome.after),
            disposition: outcome.disposition,
            brought: None,
            sends,
        };
        tracer.handled(now, handled);
    }

    /// The program waits from now on; what for is told when it goes on, with what this gives.
    pub(super) fn note_wait(&mut self, wait: Wait) -> Option<(u64, Waited)> {
        let (is_load, pending) = (self.thread().loads(), self.thread().pending.address);
        let (now, tracer) = self.traced()?;
        let what = match wait {
            Wait::Access(_) => Waited::Access { is_load, address: SHARED_BASE + shared_u32(pending) },
            Wait::Call { protocol, op, object } => Waited::Call { protocol, op, object },
            Wait::Barrier(_) => Waited::Barrier,
            Wait::Change { address, .. } => Waited::Change { address },
            Wait::Page(page) => Waited::Page(page),
            Wait::Sleep(_) => Waited::Sleep,
            // No real node runs out of frames, or of requests.
            Wait::Frame(_) | Wait::Answer | Wait::Told => return None,
            Wait::End(_) => {
                tracer.program_ends(now);
                return None;
            }
        };
        Some((now, what))
    }

    /// The program goes on.
    pub(super) fn note_waited(&mut self, waited: Option<(u64, Waited)>) {
        if let Some((begun, what)) = waited
            && let Some((now, tracer)) = self.traced()
        {
            tracer.note(begun..now, LiveWhat::Waited(what));
        }
    }
}
