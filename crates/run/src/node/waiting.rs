//! What a node does while its program waits, and at poll points.

use super::queued::Incoming;
use super::sharing::Suspended;
use super::{Delays, Left, NodeState};
use crate::history::{History, PastEvent};
use crate::packets::spare::Arrival;
use crate::packets::wire::{self, Control, Packet};
use crate::transport::{Handed, Parcel};
use std::ops::RangeInclusive;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_engine::number::index;
use trivium_guest::ProgramFault;
use trivium_node::{CallHost, Claimed, Mapped, NodeError, RUNNING, SpaceCall, Wait};
use trivium_protocol::BLOCK;

/// Who waits looks so long without a pause; then it lets others have the processor. Where nodes take turns on too few
/// processors that is at once: the one that is waited for can do nothing meanwhile. It is as long as another node takes for a few handlers, so that who serves
/// requests one after the other is not in the host's kernel when the next one comes.
pub(super) const SPIN: Duration = Duration::from_micros(10);
/// After so long without anything to do node 0 is told, which looks whether anything can still happen.
pub(super) const IDLE: Duration = Duration::from_millis(20);
/// And after so long in which handlers ran, which is looked at after so many turns of theirs.
pub(super) const BUSY: Duration = Duration::from_millis(200);
pub(super) const TURNS: u32 = 1024;
/// So many handlers are run at a poll point at most.
const HANDLERS_AT_A_POLL: u32 = 32;
/// What a packet is about whose sender has not told of that memory.
const UNTOLD: &str = "memory that it has not allocated";
/// So many packets are taken in before handlers get their turn.
const PACKETS: u32 = 64;
/// Who waits looks at the clock, which takes as long as to look for packets, only after so many looks.
const LOOKS: u32 = 16;

/// So many instructions lie between two looks at what has arrived, at least and at most.
pub(super) const POLLS: RangeInclusive<u64> = 1000..=16_000;

/// When a program that computes looks at what has arrived.
pub(super) struct Polls {
    /// The number of instructions at which it next does, and how many lie between two looks.
    pub next: u64,
    interval: u64,
    /// The least and the most of these.
    range: RangeInclusive<u64>,
}

impl Default for Polls {
    fn default() -> Polls {
        Polls { next: *POLLS.start(), interval: *POLLS.start(), range: POLLS }
    }
}

/// How long who waits keeps the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    looks: u32,
    spin: Duration,
}

impl Patience {
    /// Of a node that has a processor, or takes turns with others.
    pub(super) fn of(is_crowded: bool) -> Patience {
        match is_crowded {
            true => Patience { looks: 1, spin: Duration::ZERO },
            false => Patience { looks: LOOKS, spin: SPIN },
        }
    }
}

impl NodeState {
    /// A program that computes polls after so many instructions, whether messages come or not.
    pub(crate) fn polls_every(&mut self, instructions: u64) {
        self.polls = Polls { next: instructions, interval: instructions, range: instructions..=instructions };
    }

    /// Tries until something that the program asks for is done. Nothing where it has to wait and returns to the thread that it shares: it
    /// then asks for the same again when it goes on.
    pub(super) fn until_done<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Self) -> Result<Option<T>, ProgramFault>,
    ) -> Result<Option<T>, ProgramFault> {
        if self.turn.suspended.is_some() && !self.waited()? {
            return Ok(None);
        }
        loop {
            let done = attempt(self)?;
            if done.is_some() || !self.wait()? {
                return Ok(done);
            }
        }
    }

    /// The program waits for what its thread says, and the node runs handlers, until it may go on. Whether it goes on: where the node
    /// shares its thread, the program returns to that, and its wait ends with [`NodeState::waited`].
    pub(super) fn wait(&mut self) -> Result<bool, ProgramFault> {
        let Some(wait) = self.thread().wait else { return Ok(true) };
        let suspended = Suspended::new(wait, self.note_wait(wait));
        let begun = self.handle_first(wait);
        if self.shares_thread() && begun.is_ok() && !self.is_running() {
            self.turn.suspended = Some(suspended);
            return Ok(false);
        }
        let waited = begun.and_then(|()| match self.history {
            History::Replayed(_) => self.wait_as_recorded(),
            _ => self.wait_for_others(wait),
        });
        self.note_waited(suspended.noted);
        waited?;
        self.has_waited(wait, suspended.begun);
        Ok(true)
    }

    /// What handlers do about a call, or an access that has just been stopped, is begun before anybody looks for packets. Not where
    /// an access has been stopped again: if handlers let it try again and again, what they wait for has to come in between.
    fn handle_first(&mut self, wait: Wait) -> Result<(), ProgramFault> {
        match wait {
            Wait::Call { .. } => self.handle_call(),
            Wait::Access(_) if !self.tried.has_waited() => self.handle_at_once(),
            _ => Ok(()),
        }
    }

    /// The program has called its engine, or told it something: that is handled now, unless delays will have it otherwise.
    pub(super) fn handle_call(&mut self) -> Result<(), ProgramFault> {
        match self.delays.as_mut().is_none_or(Delays::is_at_once) {
            true => self.handle_at_once(),
            false => Ok(()),
        }
    }

    /// A handler runs now, if there is anything for one.
    fn handle_at_once(&mut self) -> Result<(), ProgramFault> {
        if self.leaving.left.is_none() && self.handle_one().map_err(|error| self.fail(error))? {
            self.had_a_turn();
        }
        Ok(())
    }

    /// A wait is over that began then.
    pub(super) fn has_waited(&mut self, wait: Wait, begun: Instant) {
        let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let took = self.took(took);
        self.measured.counts.waits += took;
        if let Wait::Access(_) = wait {
            self.tried.waited(took);
        }
    }

    fn wait_for_others(&mut self, wait: Wait) -> Result<(), ProgramFault> {
        let (mut idle, mut busy): (Option<Instant>, Option<Instant>) = (None, None);
        let (mut looks, mut turns) = (0u32, 0u32);
        // Who comes to a barrier, or to its end, tells it then, and once: told late, it would count for the next barrier.
        let mut is_told = matches!(wait, Wait::Barrier(_) | Wait::End(_));
        while !self.is_running() {
            if self.progress()? {
                self.had_a_turn();
                (idle, looks) = (None, 0);
                turns = turns.wrapping_add(1);
                // Handlers may run for ever, and nothing go on.
                if turns.is_multiple_of(TURNS) && *busy.get_or_insert_with(Instant::now) + BUSY < Instant::now() {
                    self.tell_once(&mut is_told);
                    self.coordinate();
                }
                continue;
            }
            if let Some(Wait::Sleep(end)) = self.thread().wait
                && self.now() >= end
            {
                self.happened(PastEvent::Woken);
                self.wake(RUNNING);
                self.had_a_turn();
                break;
            }
            if looks < self.turn.patience.looks {
                // No hint to the processor that this is a loop: it would pause for as long as several looks take.
                looks += 1;
                continue;
            }
            let since = *idle.get_or_insert_with(Instant::now);
            let waited = since.elapsed();
            if waited < self.turn.patience.spin {
                looks = 0;
                continue;
            }
            std::thread::yield_now();
            if waited > IDLE {
                self.tell_once(&mut is_told);
            }
            self.coordinate();
            if waited > IDLE {
                // Others may need the processor for long: a packet is then seen a little later.
                std::thread::sleep(Duration::from_micros(50));
            }
        }
        Ok(())
    }

    /// Node 0 is told that the node waits, if it has not been.
    pub(super) fn tell_once(&mut self, is_told: &mut bool) {
        if !std::mem::replace(is_told, true) {
            self.happened(PastEvent::Reported);
            self.report(0);
        }
    }

    /// The program computes, and lets handlers have their turn.
    /// Gives when that began.
    pub(super) fn poll_point(&mut self, instructions: u64) -> Result<Instant, ProgramFault> {
        let begun = Instant::now();
        let mut handlers = 0;
        while handlers < HANDLERS_AT_A_POLL {
            let any = self.progress()?;
            self.had_a_turn();
            if !any {
                break;
            }
            handlers += 1;
        }
        // Where something has come, more will: it should not wait for long.
        self.polls.interval = match (&mut self.delays, handlers) {
            (Some(delays), _) => delays.interval(),
            (None, 0) => self.polls.interval.saturating_mul(2).min(*self.polls.range.end()),
            (None, _) => *self.polls.range.start(),
        };
        self.polls.next = instructions.saturating_add(self.polls.interval);
        if handlers > 0 {
            let took = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.measured.counts.handlers += self.took(took);
        }
        self.coordinate();
        self.had_a_turn();
        Ok(begun)
    }

    /// Takes in what has arrived, and runs a handler. Whether anything was there.
    pub(super) fn progress(&mut self) -> Result<bool, ProgramFault> {
        let any = self.take_in()?;
        let handled = self.handle_one().map_err(|error| self.fail(error))?;
        Ok(any || handled)
    }

    /// Takes in what has arrived.
    pub(super) fn take_in(&mut self) -> Result<bool, ProgramFault> {
        self.look_at_limits()?;
        match self.history {
            History::Replayed(_) => self.take_in_as_recorded(),
            _ => self.take_in_what_is_there(),
        }
    }

    fn take_in_what_is_there(&mut self) -> Result<bool, ProgramFault> {
        let mut any = false;
        if let Some(delays) = &mut self.delays {
            delays.pause();
            while let Some(at) = self.delays.as_ref().and_then(Delays::due) {
                self.happened(PastEvent::Released(at));
                self.release_late(at);
                any = true;
            }
        }
        for _ in 0..PACKETS {
            let Some((from, parcel)) = self.next_parcel() else { break };
            any = true;
            let message = match parcel {
                Parcel::Message(Handed(message)) => message,
                Parcel::Packet(packet) => {
                    let read = wire::read(from, &packet, &self.core.protocols, &mut self.spare);
                    self.spare.keep_packet(packet);
                    match read {
                        Ok(Packet::Message(message)) => message,
                        other => {
                            self.happened(PastEvent::Packet(from));
                            self.take(from, other, None)?;
                            continue;
                        }
                    }
                }
            };
            let late = if self.delays.is_some() { self.late_until(&message) } else { None };
            self.happened(if late.is_some() { PastEvent::Late(from) } else { PastEvent::Packet(from) });
            self.message_comes(from, message, late)?;
            // To look for another would keep this one waiting.
            if !self.queued.inbox.is_empty() {
                break;
            }
        }
        Ok(any)
    }

    /// What has arrived, in its order: what came before the run began, then the rest.
    fn next_parcel(&mut self) -> Option<(Node, Parcel)> {
        if self.arrived.is_empty() {
            return self.transport.poll_all();
        }
        self.arrived.pop_front().map(|(from, packet)| (from, Parcel::Packet(packet)))
    }

    fn take_in_as_recorded(&mut self) -> Result<bool, ProgramFault> {
        let mut any = false;
        loop {
            match self.due().cloned() {
                Some(PastEvent::Released(at)) => {
                    self.happened(PastEvent::Released(at));
                    self.release_late(at);
                }
                Some(event @ (PastEvent::Packet(from) | PastEvent::Late(from))) => {
                    let packet = self.recorded_packet(from)?;
                    let read = wire::read(from, &packet, &self.core.protocols, &mut self.spare);
                    let late = matches!(event, PastEvent::Late(_)).then(Instant::now);
                    self.happened(event);
                    self.take(from, read, late)?;
                }
                Some(PastEvent::Stopped(why)) => {
                    self.happened(PastEvent::Stopped(why.clone()));
                    return Err(self.stop(why));
                }
                _ => return Ok(any),
            }
            any = true;
        }
    }

    fn take(&mut self, from: Node, read: Result<Packet, String>, late: Option<Instant>) -> Result<(), ProgramFault> {
        let packet = read.map_err(|what| {
            let what = format!("node {}: node {from} sends {what}", self.core.me);
            self.fail(NodeError::subject(Code::Ranks, what).help("start the same version of Trivium on all hosts"))
        })?;
        self.packet(from, packet, late)
    }

    /// A message that was kept back goes to the handlers.
    fn release_late(&mut self, at: usize) {
        if let Some(delays) = &mut self.delays
            && at < delays.late.len()
        {
            let late = delays.late.remove(at);
            self.queued.inbox.push_back(Incoming::Message(late.message));
        }
    }

    pub(super) fn look_at_limits(&mut self) -> Result<(), ProgramFault> {
        if self.leaving.left.is_some() {
            return Err(ProgramFault::new("the run has ended"));
        }
        let why = match self.limits.nanoseconds {
            _ if self.limits.cancel.load(Ordering::Relaxed) => "it was interrupted".into(),
            Some(most) if self.now() >= most => format!("{} seconds have passed", most / 1_000_000_000),
            _ if self.history.is_full() => "the recording has more than 1 GiB".into(),
            _ => return Ok(()),
        };
        self.happened(PastEvent::Stopped(why.clone()));
        Err(self.stop(why))
    }

    pub(super) fn stop(&mut self, why: String) -> ProgramFault {
        let fault = ProgramFault::new(why.clone());
        self.leaving.left.get_or_insert(Left::Stopped(why));
        fault
    }

    /// A packet was taken in. A message in it is kept back until then, if it is.
    fn packet(&mut self, from: Node, packet: Packet, late: Option<Instant>) -> Result<(), ProgramFault> {
        match packet {
            Packet::Message(message) => self.message_comes(from, message, late),
            Packet::Credit { protocol, lane } => {
                self.progress.received += 1;
                self.queued.on_lanes.remove(protocol, lane);
                Ok(())
            }
            Packet::Control(control) => {
                let is_question =
                    matches!(control, Control::Ask { .. } | Control::Report(_) | Control::StoredSoFar { .. });
                self.progress.received += u64::from(!is_question);
                self.control(from, control)
            }
            Packet::Page { page, contents } => {
                self.progress.received += 1;
                self.page_has_come(page, &contents).map_err(|what| self.nonsense(from, what))
            }
            Packet::Ended(end) => {
                self.leaving.ends.push((from, end));
                Ok(())
            }
        }
    }

    /// A message has come. It is kept back until then, if it is.
    fn message_comes(
        &mut self,
        from: Node,
        mut message: Box<Arrival>,
        late: Option<Instant>,
    ) -> Result<(), ProgramFault> {
        self.progress.received += 1;
        message.order = self.queued.next_order();
        if let Some(tracer) = &mut self.tracer {
            message.number = tracer.number_received(from);
        }
        if message.event.object.kind == BLOCK {
            let found = self.look_for_home(self.core.offset_of(message.event.object));
            found.map_err(|what| self.nonsense(from, what))?;
        }
        match late {
            Some(until) => self.keep_back(message, until),
            None => self.queued.inbox.push_back(Incoming::Message(message)),
        }
        Ok(())
    }

    /// A message is about a block whose home this node may not know: it has one, since somebody has sent the message.
    fn look_for_home(&mut self, offset: u64) -> Result<(), &'static str> {
        let page = self.core.space.borrow().page_of(offset);
        if offset >= self.core.space.borrow().bytes() {
            return Err(UNTOLD);
        }
        if !self.core.pages.is_known(page) {
            self.ask_for(page);
        }
        Ok(())
    }

    /// A node claims a page whose manager this one is.
    pub(super) fn claimed(&mut self, page: usize, by: Node) -> Result<(), &'static str> {
        if page >= self.core.space.borrow().page_of(self.core.space.borrow().bytes()) {
            return Err(UNTOLD);
        }
        let Claimed { home, contents_at } = self.core.space.borrow_mut().claim(page, by);
        match contents_at {
            Some(old) => self.tell(old, &Control::Move { page, to: by }),
            None => self.tell(by, &Control::Placed { page, home }),
        }
        Ok(())
    }

    /// A page whose home this node was goes to its new one.
    pub(super) fn move_page(&mut self, page: usize, to: Node) -> Result<(), &'static str> {
        let (bytes, all) = (self.core.space.borrow().page_bytes(), self.core.space.borrow().bytes());
        let is_there = (page as u64) < all / bytes && u32::from(to) < self.core.protocols.nodes && to != self.core.me;
        if !is_there || !self.core.has_started {
            return Err("a page that is to move and cannot");
        }
        let mut contents = vec![0; index(bytes)];
        self.core.memory.read(page as u64 * bytes, &mut contents).map_err(|_| "a page that is not in memory")?;
        self.post(to, wire::write_page(page, &contents));
        Ok(())
    }

    /// A page has come that this node has claimed, with its contents.
    fn page_has_come(&mut self, page: usize, contents: &[u8]) -> Result<(), &'static str> {
        let bytes = self.core.space.borrow().page_bytes();
        if self.core.pages.of(page) != Mapped::Asked || contents.len() as u64 != bytes {
            return Err("a page that nobody asked for");
        }
        self.core.memory.write(page as u64 * bytes, contents).map_err(|_| "a page that is not in memory")?;
        self.placed(page, self.core.me)
    }

    /// Tells another node of the allocations that it has not heard of from this one. Its program may wait for what only comes
    /// after they are used, so that it must not have to allocate first.
    pub(super) fn tell_of_allocations(&mut self, to: Node) {
        let known = self.core.space.borrow().calls();
        let told = std::mem::replace(&mut self.told_of[usize::from(to)], known);
        if told == known {
            return;
        }
        let untold = self.core.space.borrow().calls_from(told);
        for (index, call) in untold {
            let made = match call {
                SpaceCall::Allocate { bytes, placement, protocol } => {
                    Control::Allocated { index, bytes, placement: placement.into(), protocol }
                }
                SpaceCall::Free { region, is_left } => Control::Freed { index, region, is_left },
            };
            self.progress.sent += 1;
            self.transport.send(to, wire::write_control(&made));
        }
    }

    /// Sends a packet to another node, which knows by then of all memory that it may be about.
    pub(super) fn post(&mut self, to: Node, packet: Vec<u8>) {
        self.tell_of_allocations(to);
        self.progress.sent += 1;
        self.transport.send(to, packet);
    }

    /// Hands a message to a node of this thread, which knows by then of all memory that it may be about.
    pub(super) fn hand(&mut self, to: Node, message: Box<Arrival>) {
        self.tell_of_allocations(to);
        self.progress.sent += 1;
        self.transport.hand(to, Handed(message));
    }

    /// Tells a node something of the run, which is counted among the packets that are on their way.
    pub(super) fn tell(&mut self, to: Node, control: &Control) {
        if to == self.core.me {
            // What goes wrong here is kept, and ends the program at its next step.
            let _ = self
                .control(to, control.clone())
                .map_err(|fault| self.fail(NodeError::subject(Code::Ranks, fault.message)));
            return;
        }
        self.post(to, wire::write_control(control));
    }

    /// Asks or answers something that is not counted.
    pub(super) fn whisper(&mut self, to: Node, control: &Control) {
        if to == self.core.me {
            let _ = self
                .control(to, control.clone())
                .map_err(|fault| self.fail(NodeError::subject(Code::Ranks, fault.message)));
            return;
        }
        self.transport.send(to, wire::write_control(control));
    }

    /// Tells all others that this node leaves before the end of the run.
    pub(crate) fn tell_left(&mut self) {
        let control = match &self.leaving.left {
            Some(Left::Failed(error)) => Control::Failed(error.clone()),
            Some(Left::Stopped(why)) => Control::Stopped(why.clone()),
            Some(Left::Told(_)) | None => return,
        };
        let packet = wire::write_control(&control);
        for to in self.others() {
            self.transport.send(to, packet.clone());
        }
    }

    /// All nodes but this.
    pub(super) fn others(&self) -> impl Iterator<Item = Node> + use<> {
        let me = self.core.me;
        (0..=Node::MAX).take(self.core.protocols.nodes as usize).filter(move |&node| node != me)
    }

    /// The program has ended: handlers go on until the run is over. Whether it is.
    pub(crate) fn serve_until_the_end(&mut self, exit_code: i32) -> Result<bool, ProgramFault> {
        if !std::mem::replace(&mut self.leaving.serves, true) {
            if self.core.protocols.any_one_writer {
                self.next_phase();
            }
            self.waits(Wait::End(exit_code));
            self.report(0);
        }
        let is_over = self.until_done(|node| {
            if !node.leaving.is_over {
                node.waits(Wait::End(exit_code));
            }
            Ok(node.leaving.is_over.then_some(()))
        });
        Ok(is_over?.is_some())
    }
}
