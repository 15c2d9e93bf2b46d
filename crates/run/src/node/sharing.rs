//! A node that shares its thread with others (`crate::sharing`): what its program waits for is looked at in turns, and the program
//! goes on when its turn comes. So a change from one node to another is no change of the host's threads.

use super::NodeState;
use super::waiting::{BUSY, IDLE, Patience, SPIN, TURNS};
use crate::history::PastEvent;
use crate::reports::trace::Waited;
use std::time::{Duration, Instant};
use trivium_guest::ProgramFault;
use trivium_node::{RUNNING, Wait};

/// So many handlers of a node run at most before others of its thread have their turn.
const HANDLERS: u32 = 64;
/// A program that computes lets the other nodes of its thread have their turn after so long. A change takes less than a hundredth of that.
const TURN: Duration = Duration::from_micros(50);

/// A wait in which a program has returned to its thread.
#[derive(Debug)]
pub(super) struct Suspended {
    wait: Wait,
    pub begun: Instant,
    pub noted: Option<(u64, Waited)>,
    /// Since when there has been nothing to do, and since when handlers run one after the other; how many of these.
    idle: Option<Instant>,
    busy: Option<Instant>,
    turns: u32,
    /// Whether node 0 knows that the node waits.
    is_told: bool,
    /// What ends the program.
    fault: Option<ProgramFault>,
}

impl Suspended {
    pub(super) fn new(wait: Wait, noted: Option<(u64, Waited)>) -> Suspended {
        // Who comes to a barrier, or to its end, tells it then, and once: told late, it would count for the next barrier.
        let is_told = matches!(wait, Wait::Barrier(_) | Wait::End(_));
        Suspended { wait, begun: Instant::now(), noted, idle: None, busy: None, turns: 0, is_told, fault: None }
    }
}

/// How a node shares its thread and its processor with others.
pub(super) struct Turn {
    /// The wait for which it has returned.
    pub suspended: Option<Suspended>,
    /// When its program first polled in its turn.
    begun: Option<Instant>,
    /// How long it keeps the processor while it waits.
    pub patience: Patience,
}

impl Turn {
    /// Its program's first one; `is_crowded` where there are more nodes than processors.
    pub(super) fn new(is_crowded: bool) -> Turn {
        Turn { suspended: None, begun: None, patience: Patience::of(is_crowded) }
    }
}

impl NodeState {
    /// Whether other nodes run in its thread. Then nothing here waits: a program that has to returns to the thread.
    pub(super) fn shares_thread(&self) -> bool {
        self.beside.len() > 1
    }

    /// The program is asked to go on after a wait in which it has returned to its thread. Whether that wait is over.
    pub(super) fn waited(&mut self) -> Result<bool, ProgramFault> {
        let Some(mut suspended) = self.turn.suspended.take() else { return Ok(true) };
        let fault = suspended.fault.take();
        if fault.is_none() && !self.is_running() {
            self.turn.suspended = Some(suspended);
            return Ok(false);
        }
        self.note_waited(suspended.noted.take());
        if let Some(fault) = fault {
            return Err(fault);
        }
        self.has_waited(suspended.wait, suspended.begun);
        Ok(true)
    }

    /// Whether its program waits, so that its handlers may have their turn.
    pub(crate) fn may_handle(&self) -> bool {
        self.turn.suspended.as_ref().is_some_and(|suspended| suspended.fault.is_none()) && !self.is_running()
    }

    /// The node's turn, while its program waits. Whether there was anything to do.
    pub(crate) fn have_a_turn(&mut self, now: Instant) -> bool {
        match self.handle_in_turn(now) {
            Ok(any) => any,
            // The program hears of it where it waits, so that it is told where that is.
            Err(fault) => {
                if let Some(suspended) = &mut self.turn.suspended {
                    suspended.fault = Some(fault);
                }
                true
            }
        }
    }

    fn handle_in_turn(&mut self, now: Instant) -> Result<bool, ProgramFault> {
        let (mut handled, mut is_quiet) = (0, false);
        while handled < HANDLERS {
            if !self.progress()? {
                is_quiet = true;
                break;
            }
            self.had_a_turn();
            handled += 1;
            if self.is_running() {
                return Ok(true);
            }
        }
        // However many handlers others have this node run.
        if is_quiet
            && let Some(Wait::Sleep(end)) = self.thread().wait
            && self.now() >= end
        {
            self.happened(PastEvent::Woken);
            self.wake(RUNNING);
            self.had_a_turn();
            return Ok(true);
        }
        let Some(mut suspended) = self.turn.suspended.take() else { return Ok(false) };
        if handled > 0 {
            suspended.idle = None;
            suspended.turns = suspended.turns.saturating_add(handled);
            // Handlers may run for ever, and nothing go on.
            if suspended.turns >= TURNS && *suspended.busy.get_or_insert(now) + BUSY < now {
                suspended.turns = 0;
                self.tell_once(&mut suspended.is_told);
                self.coordinate();
            }
        } else {
            let waited = now.saturating_duration_since(*suspended.idle.get_or_insert(now));
            if waited > IDLE {
                self.tell_once(&mut suspended.is_told);
            }
            if waited >= SPIN {
                self.coordinate();
            }
        }
        self.turn.suspended = Some(suspended);
        Ok(handled > 0)
    }

    /// The program goes on, in the node's turn.
    pub(crate) fn begin_turn(&mut self) {
        self.turn.begun = None;
    }

    /// Whether a program that computes has done so for long enough, now that it polls: since the first poll of this turn.
    pub(super) fn has_had_its_turn(&mut self, now: Instant) -> bool {
        self.shares_thread() && now.saturating_duration_since(*self.turn.begun.get_or_insert(now)) >= TURN
    }
}

#[cfg(test)]
mod tests {
    use super::super::Limits;
    use super::*;
    use crate::transport::shared::share;
    use crate::transport::threads::join;
    use std::rc::Rc;
    use std::sync::Arc;
    use trivium_node::Protocols;

    /// However long others of its thread have computed before it.
    #[test]
    fn a_turn_begins_when_the_program_does() {
        let protocols = Rc::new(Protocols::new(Vec::new(), 64, 2));
        let transport = share(Box::new(join(1).remove(0)), 2).remove(0);
        let limits = Limits { cancel: Arc::default(), nanoseconds: None };
        let mut node = NodeState::new(Box::new(transport), protocols, (4096, Instant::now()), limits);
        let begun = Instant::now();
        for round in 0..3 {
            node.begin_turn();
            let first = begun + round * 10 * TURN;
            assert!(!node.has_had_its_turn(first));
            assert!(!node.has_had_its_turn(first + TURN / 2));
            assert!(node.has_had_its_turn(first + TURN));
        }
    }
}
