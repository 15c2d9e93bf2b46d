//! What a node does otherwise when its run is recorded, or repeats one that was.

use super::{Left, NodeState};
use crate::history::meeting::Missing;
use crate::history::{History, Moment, PastEvent};
use std::sync::atomic::Ordering;
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_guest::ProgramFault;
use trivium_node::{NodeError, RUNNING};

impl NodeState {
    /// The moment at which the node is.
    fn moment(&self) -> Moment {
        match self.moment.instructions == self.measured.counts.instructions {
            true => self.moment,
            false => Moment { instructions: self.measured.counts.instructions, turn: 0 },
        }
    }

    /// The handlers have had their turn.
    pub(super) fn had_a_turn(&mut self) {
        let moment = self.moment();
        self.moment = Moment { turn: moment.turn + 1, ..moment };
    }

    /// What happens now, where a recording is replayed.
    pub(super) fn due(&self) -> Option<&PastEvent> {
        self.history.due(self.moment())
    }

    /// Something has happened that a replay is told.
    pub(super) fn happened(&mut self, event: PastEvent) {
        match self.history {
            History::Replayed(_) => self.history.passed(),
            _ => self.history.note(self.moment(), event),
        }
    }

    /// Nanoseconds since the run began, or since the beginning of the run that is replayed.
    pub(crate) fn look_at_clock(&mut self) -> u64 {
        let now = self.now();
        self.history.clock(now).unwrap_or_else(|| {
            self.stray("looks at the clock");
            now
        })
    }

    /// So many nanoseconds, or what took as long when it was recorded.
    pub(super) fn took(&mut self, nanoseconds: u64) -> u64 {
        self.history.took(nanoseconds).unwrap_or_else(|| {
            self.stray("measures a time");
            nanoseconds
        })
    }

    /// The node does something else than the recording says: the run ends.
    pub(super) fn stray(&mut self, what: &str) -> ProgramFault {
        let at = self.measured.counts.instructions;
        let what = format!(
            "the replay does something else than was recorded: node {} {what} at instruction {at}, where the recording has {}",
            self.core.me,
            self.history.expected()
        );
        let help = "record and replay with the same build of Trivium; if it was, this is a mistake in Trivium";
        let error = NodeError::input(Code::Replay, what).help(help);
        if let Some(meeting) = self.history.meeting() {
            meeting.stray(error.clone());
        }
        let fault = ProgramFault::new(error.diagnostic.message.clone());
        self.leaving.left.get_or_insert(Left::Told(error));
        fault
    }

    /// The packet that the recording names next, from that node.
    pub(super) fn recorded_packet(&mut self, from: Node) -> Result<Vec<u8>, ProgramFault> {
        let cancel = self.limits.cancel.clone();
        let is_interrupted = || cancel.load(Ordering::Relaxed);
        let taken = self.history.meeting().map(|meeting| meeting.take(from, &is_interrupted));
        match taken {
            Some(Ok(packet)) => Ok(packet),
            Some(Err(Missing::Interrupted)) => {
                self.look_at_limits()?;
                Err(ProgramFault::new("the run has ended"))
            }
            _ => Err(self.stray(&format!("waits in vain for node {from}"))),
        }
    }

    /// The program waits, as it did when it was recorded.
    pub(super) fn wait_as_recorded(&mut self) -> Result<(), ProgramFault> {
        while !self.is_running() {
            // It may have happened while there was something to handle.
            let is_report = matches!(self.due(), Some(PastEvent::Reported | PastEvent::Asked | PastEvent::Stalled));
            if !is_report && self.progress()? {
                self.had_a_turn();
                continue;
            }
            match self.due() {
                Some(PastEvent::Woken) => {
                    self.happened(PastEvent::Woken);
                    self.wake(RUNNING);
                    self.had_a_turn();
                }
                Some(PastEvent::Reported) => {
                    self.happened(PastEvent::Reported);
                    self.report(0);
                }
                Some(PastEvent::Asked | PastEvent::Stalled) => self.coordinate(),
                _ => return Err(self.stray("waits")),
            }
        }
        Ok(())
    }
}
