//! How nodes leave a run: each tells node 0 what it has ended with, and none goes before all have been heard, or are given up.
//!
//! Where a run of processes is traced, a node first tells what it has noted, in pieces: the next one when node 0 has heard the one before, so that little
//! is on its way at a time, and patience is for a node and not for how much it has to tell.

use crate::node::{Counts, Left};
use crate::packets::wire::{ENDED, NOTES};
use crate::reports::latency::Latency;
use crate::reports::trace::NodeTrace;
use crate::reports::trace::pieces::{NotesReader, NotesWriter};
use crate::transport::Transport;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_engine::Node;
use trivium_guest::CounterUse;
use trivium_node::{Asked, Blockage, MemoryUsed, MessageKind, NodeError, NodeSaid, Stood};

/// From node 0: all have been heard.
const GOODBYE: u8 = ENDED + 5;
/// To all: nothing comes from the sender any more.
const LAST: u8 = ENDED + 6;
/// From node 0, to a node that leaves: it hears notes, the receiver's or others'.
const HEARS: u8 = ENDED + 8;
/// Where a run has gone wrong, or was stopped, a node that is not heard of for so long is given up by node 0. It is in a host call that takes long, or worse.
const PATIENCE: Duration = Duration::from_millis(1500);
/// And node 0 by the others.
const PATIENCE_OF_OTHERS: Duration = Duration::from_secs(4);
/// So often it tells them that it still hears notes.
const REMINDER: Duration = Duration::from_millis(500);

/// What a node has ended with.
#[derive(Default)]
pub(crate) struct NodeEnd {
    pub exit_code: Option<i32>,
    pub left: Option<Left>,
    /// Counts of its region of interest; messages and bytes of the whole program.
    pub counts: Counts,
    /// Messages of its region of interest, by protocol and kind.
    pub in_region: BTreeMap<(usize, u16), u64>,
    /// What has stalled here.
    pub stalls: BTreeMap<MessageKind, Blockage>,
    /// Nanoseconds of the region of interest.
    pub span: (u64, u64),
    pub latency: Latency,
    pub said: NodeSaid,
    pub memory: MemoryUsed,
    /// What its handlers have performed and completed for threads.
    pub asked: Asked,
    /// Where its program stood, if the run was cut off.
    pub stood: Option<Stood>,
    /// What it has noted, if it is a process and the run is traced. It is sent by itself.
    pub trace: Option<NodeTrace>,
}

/// [`NodeEnd`] as it is sent, before the bytes of all that was printed.
#[derive(Serialize, Deserialize)]
struct Written {
    exit_code: Option<i32>,
    left: Option<Left>,
    counts: Counts,
    by_kind: Vec<(usize, u16, u64)>,
    in_region: Vec<(usize, u16, u64)>,
    stalls: Vec<(MessageKind, Blockage)>,
    span: (u64, u64),
    latency: Latency,
    printed: Vec<(u64, u32, usize)>,
    private_atomic: Option<(u32, Option<String>)>,
    refused_to_write: Option<String>,
    counters: Vec<CounterUse>,
    private: u64,
    shared: u64,
    asked: Asked,
    stood: Option<Stood>,
}

impl NodeEnd {
    /// A node that has not come far.
    pub(crate) fn failed(error: NodeError) -> NodeEnd {
        NodeEnd { left: Some(Left::Failed(error)), ..NodeEnd::default() }
    }

    fn write(&self) -> Vec<u8> {
        let listed = |kinds: &BTreeMap<(usize, u16), u64>| {
            kinds.iter().map(|(&(protocol, kind), &count)| (protocol, kind, count)).collect()
        };
        let head = Written {
            exit_code: self.exit_code,
            left: self.left.clone(),
            counts: self.counts.clone(),
            by_kind: listed(&self.counts.by_kind),
            in_region: listed(&self.in_region),
            stalls: self.stalls.iter().map(|(&kind, &stall)| (kind, stall)).collect(),
            span: self.span,
            latency: self.latency.clone(),
            printed: self.said.printed.iter().map(|(at, fd, bytes)| (*at, *fd, bytes.len())).collect(),
            private_atomic: self.said.private_atomic.clone(),
            refused_to_write: self.said.refused_to_write.clone(),
            counters: self.said.counters.clone(),
            private: self.memory.private,
            shared: self.memory.shared,
            asked: self.asked.clone(),
            stood: self.stood.clone(),
        };
        // Nothing of it can fail to be written: no key of a map is other than a text.
        let head = serde_json::to_vec(&head).unwrap_or_default();
        let mut packet = vec![ENDED];
        packet.extend((head.len() as u64).to_le_bytes());
        packet.extend(head);
        self.said.printed.iter().for_each(|(_, _, bytes)| packet.extend_from_slice(bytes));
        packet
    }

    /// From what stands behind the first byte of its packet. Nothing if no node of this run has written it.
    fn read(bytes: &[u8]) -> Option<NodeEnd> {
        let (length, rest) = bytes.split_first_chunk()?;
        let (head, mut rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let head: Written = serde_json::from_slice(head).ok()?;
        let mut said = NodeSaid {
            printed: Vec::new(),
            private_atomic: head.private_atomic,
            refused_to_write: head.refused_to_write,
            counters: head.counters,
        };
        for (at, fd, bytes) in head.printed {
            let (first, others) = rest.split_at_checked(bytes)?;
            said.printed.push((at, fd, first.to_vec()));
            rest = others;
        }
        let kinds = |list: Vec<(usize, u16, u64)>| {
            list.into_iter().map(|(protocol, kind, count)| ((protocol, kind), count)).collect()
        };
        let by_kind = kinds(head.by_kind);
        Some(NodeEnd {
            exit_code: head.exit_code,
            left: head.left,
            counts: Counts { by_kind, ..head.counts },
            in_region: kinds(head.in_region),
            stalls: head.stalls.into_iter().collect(),
            span: head.span,
            latency: head.latency,
            said,
            memory: MemoryUsed { private: head.private, shared: head.shared },
            asked: head.asked,
            stood: head.stood,
            trace: None,
        })
    }
}

/// How a node has left.
pub(crate) enum Parted {
    /// Node 0, with what all have ended with: nothing from those that it has given up.
    First(Vec<Option<NodeEnd>>),
    /// Another, and node 0 has heard it.
    Heard,
    /// Another, which has given up node 0, with what it has ended with.
    Unheard(Box<NodeEnd>),
}

/// A node that leaves the run, step by step: others may leave it in the same thread.
pub(crate) struct Parting {
    stage: PartingStage,
    is_patient: bool,
}

enum PartingStage {
    /// Node 0 hears of the others.
    Hears(Box<Hearing>),
    /// Another waits until node 0 has heard of all.
    IsHeard(Box<BeingHeard>),
    /// All that is on its way between nodes is taken in: a transport may not end before. So many nodes have said that nothing comes any more.
    Empties {
        parted: Parted,
        gone: u32,
    },
    Gone,
}

/// What has become of a step.
pub(crate) enum PartingStep {
    /// Something has been done.
    Some,
    /// There was nothing to do.
    Nothing,
    Over(Parted),
}

impl Parting {
    /// What it has ended with, and `early` the packets of nodes that left before. Who `is_patient` gives up nobody.
    pub(crate) fn begin(
        transport: &mut dyn Transport,
        end: NodeEnd,
        early: Vec<(Node, Vec<u8>)>,
        is_patient: bool,
    ) -> Parting {
        let stage = match transport.me() {
            0 => PartingStage::Hears(Box::new(Hearing::begin(transport.nodes(), end, early))),
            _ => PartingStage::IsHeard(Box::new(BeingHeard::begin(transport, end))),
        };
        Parting { stage, is_patient }
    }

    /// The next step; none is taken behind the last.
    pub(crate) fn go_on(&mut self, transport: &mut dyn Transport) -> PartingStep {
        let (stage, step) = match std::mem::replace(&mut self.stage, PartingStage::Gone) {
            PartingStage::Hears(hearing) => hearing.go_on(transport, self.is_patient),
            PartingStage::IsHeard(being_heard) => being_heard.go_on(transport, self.is_patient),
            PartingStage::Empties { parted, gone } => empty(transport, parted, gone),
            PartingStage::Gone => (PartingStage::Gone, PartingStep::Nothing),
        };
        self.stage = stage;
        step
    }
}

/// What node 0 has heard so far.
struct Hearing {
    ends: Vec<Option<NodeEnd>>,
    notes: Vec<NotesReader>,
    is_well: bool,
    /// Packets that came before it left.
    early: std::vec::IntoIter<(Node, Vec<u8>)>,
    /// When it has heard of a node, and when it has reminded those that wait that it does.
    last: Instant,
    reminded: Instant,
}

impl Hearing {
    fn begin(nodes: u32, end: NodeEnd, early: Vec<(Node, Vec<u8>)>) -> Hearing {
        let mut ends: Vec<Option<NodeEnd>> = (0..nodes).map(|_| None).collect();
        let notes = (0..=Node::MAX).take(ends.len()).map(|node| NotesReader::new(node, nodes)).collect();
        let (is_well, now) = (end.left.is_none(), Instant::now());
        ends[0] = Some(end);
        Hearing { ends, notes, is_well, early: early.into_iter(), last: now, reminded: now }
    }

    fn go_on(mut self: Box<Hearing>, transport: &mut dyn Transport, is_patient: bool) -> (PartingStage, PartingStep) {
        if self.ends.iter().all(Option::is_some) {
            for to in (1..=Node::MAX).take(self.ends.len() - 1) {
                transport.send(to, vec![GOODBYE]);
            }
            return begin_to_empty(transport, Parted::First(self.ends), 0);
        }
        let step = match self.early.next().or_else(|| transport.poll()) {
            Some((from, packet)) => {
                self.hear(transport, from, &packet);
                PartingStep::Some
            }
            None if !self.is_well && !is_patient && self.last.elapsed() > PATIENCE => {
                return (PartingStage::Gone, PartingStep::Over(Parted::First(self.ends)));
            }
            None => PartingStep::Nothing,
        };
        (PartingStage::Hears(self), step)
    }

    fn hear(&mut self, transport: &mut dyn Transport, from: Node, packet: &[u8]) {
        let at = usize::from(from);
        let (Some(place), Some(notes)) = (self.ends.get_mut(at), self.notes.get_mut(at)) else { return };
        match packet {
            [ENDED, bytes @ ..] => {
                let notes = std::mem::replace(notes, NotesReader::new(from, transport.nodes()));
                let end = ended(from, bytes, notes);
                self.is_well &= end.left.is_none();
                *place = Some(end);
            }
            [NOTES, piece @ ..] if place.is_none() => {
                notes.add(piece);
                transport.send(from, vec![HEARS]);
                self.remind(transport);
            }
            // What it has told the others of this run nobody needs any more.
            _ => return,
        }
        self.last = Instant::now();
    }

    /// Those that have told all wait for those that have not, and are not to give up node 0 meanwhile. Nobody else: who has not left yet
    /// would not understand it.
    fn remind(&mut self, transport: &mut dyn Transport) {
        if self.reminded.elapsed() < REMINDER {
            return;
        }
        self.reminded = Instant::now();
        for (to, _) in (0..=Node::MAX).zip(&self.ends).skip(1).filter(|(_, end)| end.is_some()) {
            transport.send(to, vec![HEARS]);
        }
    }
}

/// What a node has ended with, as it says, after these notes.
fn ended(from: Node, bytes: &[u8], notes: NotesReader) -> NodeEnd {
    let nonsense =
        |what: &str| NodeError::subject(Code::Ranks, format!("node {from} has {what} what nobody understands"));
    let Some(end) = NodeEnd::read(bytes) else { return NodeEnd::failed(nonsense("ended with")) };
    match notes.finish() {
        Ok(trace) => NodeEnd { trace, ..end },
        Err(()) => NodeEnd { left: end.left.or(Some(Left::Failed(nonsense("noted for the trace")))), ..end },
    }
}

/// A node that tells, and waits.
struct BeingHeard {
    end: NodeEnd,
    /// What it has still to tell before its end.
    notes: Option<NotesWriter>,
    /// When node 0 was last heard of.
    since: Instant,
    /// So many nodes have said that nothing comes any more.
    gone: u32,
}

impl BeingHeard {
    fn begin(transport: &mut dyn Transport, mut end: NodeEnd) -> BeingHeard {
        let notes = end.trace.take().map(NotesWriter::new);
        let mut being_heard = BeingHeard { end, notes, since: Instant::now(), gone: 0 };
        match being_heard.notes {
            Some(_) => being_heard.tell_notes(transport),
            None => transport.send(0, being_heard.end.write()),
        }
        being_heard
    }

    /// Tells the next piece of its notes; behind the last, its end.
    fn tell_notes(&mut self, transport: &mut dyn Transport) {
        let Some(notes) = &mut self.notes else { return };
        if let Some(piece) = notes.next_piece(vec![NOTES]) {
            transport.send(0, piece);
        } else {
            self.notes = None;
            transport.send(0, self.end.write());
        }
    }

    fn go_on(
        mut self: Box<BeingHeard>,
        transport: &mut dyn Transport,
        is_patient: bool,
    ) -> (PartingStage, PartingStep) {
        let step = match transport.poll() {
            Some((0, packet)) if packet[..] == [GOODBYE] => {
                return begin_to_empty(transport, Parted::Heard, self.gone);
            }
            Some((0, packet)) if packet[..] == [HEARS] => {
                self.since = Instant::now();
                self.tell_notes(transport);
                PartingStep::Some
            }
            Some((_, packet)) => {
                self.gone += u32::from(packet[..] == [LAST]);
                PartingStep::Some
            }
            None if self.end.left.is_some() && !is_patient && self.since.elapsed() > PATIENCE_OF_OTHERS => {
                // Node 0 may come back, and then waits for that.
                tell_last(transport);
                let unheard = Parted::Unheard(Box::new(self.end));
                return (PartingStage::Gone, PartingStep::Over(unheard));
            }
            None => PartingStep::Nothing,
        };
        (PartingStage::IsHeard(self), step)
    }
}

/// Nothing comes from this node any more.
fn tell_last(transport: &mut dyn Transport) {
    let me = transport.me();
    for to in (0..=Node::MAX).take(transport.nodes() as usize).filter(|to| *to != me) {
        transport.send(to, vec![LAST]);
    }
}

fn begin_to_empty(transport: &mut dyn Transport, parted: Parted, gone: u32) -> (PartingStage, PartingStep) {
    tell_last(transport);
    (PartingStage::Empties { parted, gone }, PartingStep::Some)
}

fn empty(transport: &mut dyn Transport, parted: Parted, mut gone: u32) -> (PartingStage, PartingStep) {
    if gone + 1 >= transport.nodes() && transport.has_sent() {
        return (PartingStage::Gone, PartingStep::Over(parted));
    }
    let step = match transport.poll() {
        Some((_, packet)) => {
            gone += u32::from(packet[..] == [LAST]);
            PartingStep::Some
        }
        None => PartingStep::Nothing,
    };
    (PartingStage::Empties { parted, gone }, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reports::trace::pieces::tests::{handled, trace};
    use crate::transport::threads::join;

    fn part(transport: &mut dyn Transport, end: NodeEnd) -> Parted {
        let mut parting = Parting::begin(transport, end, Vec::new(), false);
        loop {
            match parting.go_on(transport) {
                PartingStep::Over(parted) => return parted,
                PartingStep::Some | PartingStep::Nothing => std::thread::yield_now(),
            }
        }
    }

    fn some() -> NodeEnd {
        let mut end = NodeEnd { exit_code: Some(7), span: (3, 9), ..NodeEnd::default() };
        end.counts.by_kind.insert((1, 2), 30);
        end.in_region.insert((1, 2), 20);
        end.counts.read_faults = 4;
        end.latency.add(500);
        end.said.printed = vec![(5, 1, b"one\n".to_vec()), (6, 2, vec![0xff])];
        end
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let packet = some().write();
        let read = NodeEnd::read(&packet[1..]).unwrap();
        assert_eq!((read.exit_code, read.span, read.counts), (Some(7), (3, 9), some().counts));
        assert_eq!(read.in_region, some().in_region);
        assert_eq!(read.said.printed, some().said.printed);
        assert_eq!(read.latency.quantiles(), some().latency.quantiles());
        (0..packet.len() - 1).for_each(|length| assert!(NodeEnd::read(&packet[1..1 + length]).is_none(), "{length}"));
    }

    #[test]
    fn all_are_heard_and_who_is_not_is_given_up() {
        let mut ends = join(3);
        let [mut two, mut one, mut first] = [ends.pop().unwrap(), ends.pop().unwrap(), ends.pop().unwrap()];
        std::thread::scope(|scope| {
            let others = [
                scope.spawn(move || matches!(part(&mut one, some()), Parted::Heard)),
                scope.spawn(move || matches!(part(&mut two, some()), Parted::Heard)),
            ];
            let Parted::First(ends) = part(&mut first, NodeEnd::default()) else { panic!() };
            assert_eq!(ends.iter().flatten().map(|end| end.exit_code).collect::<Vec<_>>(), [None, Some(7), Some(7)]);
            others.into_iter().for_each(|other| assert!(other.join().unwrap()));
        });
        let mut alone = join(2).swap_remove(0);
        let failed = NodeEnd::failed(NodeError::subject(Code::Ranks, "it fails"));
        let Parted::First(ends) = part(&mut alone, failed) else { panic!() };
        assert!(ends[0].is_some() && ends[1].is_none());
    }

    /// Node 0 was in a long host call, say: others have given it up when it leaves, and it comes to its end all the same.
    #[test]
    fn who_has_been_given_up_comes_to_its_end() {
        let mut ends = join(2);
        let (mut other, mut first) = (ends.swap_remove(1), ends.swap_remove(0));
        let failed = NodeEnd::failed(NodeError::subject(Code::Ranks, "it fails"));
        assert!(matches!(part(&mut other, failed), Parted::Unheard(_)));
        let mut parting = Parting::begin(&mut first, NodeEnd::default(), Vec::new(), false);
        let parted = (0..1000).find_map(|_| match parting.go_on(&mut first) {
            PartingStep::Over(parted) => Some(parted),
            PartingStep::Some | PartingStep::Nothing => None,
        });
        assert!(matches!(parted, Some(Parted::First(ends)) if ends.iter().all(Option::is_some)));
    }

    /// What node 0 has of another that sends these packets by itself.
    fn heard(packets: Vec<Vec<u8>>) -> NodeEnd {
        let mut ends = join(2);
        let (mut other, mut first) = (ends.swap_remove(1), ends.swap_remove(0));
        packets.into_iter().for_each(|packet| other.send(0, packet));
        other.send(0, vec![LAST]);
        let Parted::First(mut ends) = part(&mut first, NodeEnd::default()) else { panic!() };
        ends.swap_remove(1).unwrap()
    }

    #[test]
    fn notes_come_in_pieces_before_the_end() {
        let noted = |node: Node| {
            let notes = (0..30_000).map(|at| handled(9 * at..9 * at + 3, Some((0, at)), &[(0, at)])).collect();
            trace(node, notes)
        };
        let mut ends = join(3);
        let [mut two, mut one, mut first] = [ends.pop().unwrap(), ends.pop().unwrap(), ends.pop().unwrap()];
        std::thread::scope(|scope| {
            let end = NodeEnd { trace: Some(noted(2)), ..some() };
            scope.spawn(move || assert!(matches!(part(&mut one, some()), Parted::Heard)));
            scope.spawn(move || assert!(matches!(part(&mut two, end), Parted::Heard)));
            let own = NodeEnd { trace: Some(noted(0)), ..some() };
            let Parted::First(ends) = part(&mut first, own) else { panic!() };
            let traces: Vec<_> = ends.into_iter().map(|end| end.unwrap().trace).collect();
            assert!(traces == [Some(noted(0)), None, Some(noted(2))]);
        });
    }

    #[test]
    fn notes_that_nobody_understands_are_an_error_of_their_sender() {
        let whole = NotesWriter::new(trace(1, Vec::new())).next_piece(vec![NOTES]).unwrap();
        assert!(heard(vec![whole.clone(), some().write()]).left.is_none());
        for wrong in [vec![NOTES, 77], whole[..2].to_vec(), [whole.clone(), whole[1..].to_vec()].concat()] {
            let Some(Left::Failed(error)) = heard(vec![wrong, some().write()]).left else { panic!() };
            assert_eq!(error.diagnostic.message, "node 1 has noted for the trace what nobody understands");
        }
        let Some(Left::Failed(error)) = heard(vec![whole, vec![ENDED]]).left else { panic!() };
        assert_eq!(error.diagnostic.message, "node 1 has ended with what nobody understands");
    }

    /// It is lost amid its notes, or node 0 is: the other gives it up.
    #[test]
    fn who_tells_no_more_of_its_notes_is_given_up() {
        let mut ends = join(2);
        let (mut other, mut first) = (ends.swap_remove(1), ends.swap_remove(0));
        other.send(0, vec![NOTES]);
        let Parted::First(heard) = part(&mut first, NodeEnd::failed(NodeError::subject(Code::Ranks, "it fails")))
        else {
            panic!()
        };
        assert!(heard[1].is_none());
        let end = NodeEnd {
            trace: Some(trace(1, Vec::new())),
            ..NodeEnd::failed(NodeError::subject(Code::Ranks, "it fails"))
        };
        assert!(matches!(part(&mut other, end), Parted::Unheard(_)));
    }
}
