//! How nodes leave a run: each tells node 0 what it has ended with, and none goes before all have been heard, or are given up.

use crate::latency::Latency;
use crate::node::{Counts, Left};
use crate::transport::Transport;
use crate::wire::ENDED;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use trivium_engine::Node;
use trivium_node::{Asked, MemoryUsed, NodeError, NodeSaid};

/// From node 0: all have been heard.
const GOODBYE: u8 = ENDED + 5;
/// To all: nothing comes from the sender any more.
const LAST: u8 = ENDED + 6;
/// Where a run has gone wrong, or was stopped, a node that is not heard of for so long is given up by node 0. It is in a host call that takes long, or worse.
const PATIENCE: Duration = Duration::from_millis(1500);
/// And node 0 by the others.
const PATIENCE_OF_OTHERS: Duration = Duration::from_secs(4);

/// What a node has ended with.
#[derive(Default)]
pub(crate) struct NodeEnd {
    pub exit_code: Option<i32>,
    pub left: Option<Left>,
    /// Counts of its region of interest; messages and bytes of the whole program.
    pub counts: Counts,
    /// Nanoseconds of the region of interest.
    pub span: (u64, u64),
    pub latency: Latency,
    pub said: NodeSaid,
    pub memory: MemoryUsed,
    /// What its handlers have performed and completed for threads.
    pub asked: Asked,
}

/// [`NodeEnd`] as it is sent, before the bytes of all that was printed.
#[derive(Serialize, Deserialize)]
struct Written {
    exit_code: Option<i32>,
    left: Option<Left>,
    counts: Counts,
    by_kind: Vec<(usize, u16, u64)>,
    span: (u64, u64),
    latency: Latency,
    printed: Vec<(u64, u32, usize)>,
    private_atomic: Option<(u32, Option<String>)>,
    refused_to_write: Option<String>,
    private: u64,
    shared: u64,
    asked: Asked,
}

impl NodeEnd {
    /// A node that has not come far.
    pub(crate) fn failed(error: NodeError) -> NodeEnd {
        NodeEnd { left: Some(Left::Failed(error)), ..NodeEnd::default() }
    }

    fn write(&self) -> Vec<u8> {
        let head = Written {
            exit_code: self.exit_code,
            left: self.left.clone(),
            counts: self.counts.clone(),
            by_kind: self.counts.by_kind.iter().map(|(&(protocol, kind), &count)| (protocol, kind, count)).collect(),
            span: self.span,
            latency: self.latency.clone(),
            printed: self.said.printed.iter().map(|(at, fd, bytes)| (*at, *fd, bytes.len())).collect(),
            private_atomic: self.said.private_atomic.clone(),
            refused_to_write: self.said.refused_to_write.clone(),
            private: self.memory.private,
            shared: self.memory.shared,
            asked: self.asked.clone(),
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
        };
        for (at, fd, bytes) in head.printed {
            let (first, others) = rest.split_at_checked(bytes)?;
            said.printed.push((at, fd, first.to_vec()));
            rest = others;
        }
        let by_kind = head.by_kind.into_iter().map(|(protocol, kind, count)| ((protocol, kind), count)).collect();
        Some(NodeEnd {
            exit_code: head.exit_code,
            left: head.left,
            counts: Counts { by_kind, ..head.counts },
            span: head.span,
            latency: head.latency,
            said,
            memory: MemoryUsed { private: head.private, shared: head.shared },
            asked: head.asked,
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
    Hears {
        ends: Vec<Option<NodeEnd>>,
        is_well: bool,
        early: std::vec::IntoIter<(Node, Vec<u8>)>,
        last: Instant,
    },
    /// Another waits until node 0 has heard of all. So many nodes have said that nothing comes any more.
    IsHeard {
        end: Box<NodeEnd>,
        since: Instant,
        gone: u32,
    },
    /// All that is on its way between nodes is taken in: a transport may not end before.
    Empties {
        parted: Parted,
        since: Instant,
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
    /// What it has ended with, and `early` what nodes have ended with that left before. Who `is_patient` gives up nobody.
    pub(crate) fn begin(
        transport: &mut dyn Transport,
        end: NodeEnd,
        early: Vec<(Node, Vec<u8>)>,
        is_patient: bool,
    ) -> Parting {
        let stage = if transport.me() == 0 {
            let mut ends: Vec<Option<NodeEnd>> = (0..transport.nodes()).map(|_| None).collect();
            let is_well = end.left.is_none();
            ends[0] = Some(end);
            PartingStage::Hears { ends, is_well, early: early.into_iter(), last: Instant::now() }
        } else {
            transport.send(0, end.write());
            PartingStage::IsHeard { end: Box::new(end), since: Instant::now(), gone: 0 }
        };
        Parting { stage, is_patient }
    }

    /// The next step; none is taken behind the last.
    pub(crate) fn go_on(&mut self, transport: &mut dyn Transport) -> PartingStep {
        let (stage, step) = match std::mem::replace(&mut self.stage, PartingStage::Gone) {
            PartingStage::Hears { ends, is_well, early, last } => {
                hear(transport, (ends, is_well), early, last, self.is_patient)
            }
            PartingStage::IsHeard { end, since, gone } => be_heard(transport, end, since, gone, self.is_patient),
            PartingStage::Empties { parted, since, gone } => empty(transport, parted, since, gone),
            PartingStage::Gone => (PartingStage::Gone, PartingStep::Nothing),
        };
        self.stage = stage;
        step
    }
}

fn hear(
    transport: &mut dyn Transport,
    (mut ends, mut is_well): (Vec<Option<NodeEnd>>, bool),
    mut early: std::vec::IntoIter<(Node, Vec<u8>)>,
    mut last: Instant,
    is_patient: bool,
) -> (PartingStage, PartingStep) {
    if ends.iter().all(Option::is_some) {
        for to in (1..=Node::MAX).take(ends.len() - 1) {
            transport.send(to, vec![GOODBYE]);
        }
        return begin_to_empty(transport, Parted::First(ends), 0);
    }
    let ended = early.next().or_else(|| match transport.poll()? {
        (from, packet) if packet.first() == Some(&ENDED) => Some((from, packet[1..].to_vec())),
        // What it has told the others of this run nobody needs any more.
        (from, _) => Some((from, Vec::new())),
    });
    let step = match ended {
        Some((_, bytes)) if bytes.is_empty() => PartingStep::Some,
        Some((from, bytes)) => {
            last = Instant::now();
            let nonsense =
                || NodeEnd::failed(NodeError::subject(format!("node {from} has ended with what nobody understands")));
            let end = NodeEnd::read(&bytes).unwrap_or_else(nonsense);
            is_well &= end.left.is_none();
            if let Some(place) = ends.get_mut(usize::from(from)) {
                *place = Some(end);
            }
            PartingStep::Some
        }
        None if !is_well && !is_patient && last.elapsed() > PATIENCE => {
            return (PartingStage::Gone, PartingStep::Over(Parted::First(ends)));
        }
        None => PartingStep::Nothing,
    };
    (PartingStage::Hears { ends, is_well, early, last }, step)
}

fn be_heard(
    transport: &mut dyn Transport,
    end: Box<NodeEnd>,
    since: Instant,
    mut gone: u32,
    is_patient: bool,
) -> (PartingStage, PartingStep) {
    let step = match transport.poll() {
        Some((0, packet)) if packet[..] == [GOODBYE] => return begin_to_empty(transport, Parted::Heard, gone),
        Some((_, packet)) => {
            gone += u32::from(packet[..] == [LAST]);
            PartingStep::Some
        }
        None if end.left.is_some() && !is_patient && since.elapsed() > PATIENCE_OF_OTHERS => {
            return (PartingStage::Gone, PartingStep::Over(Parted::Unheard(end)));
        }
        None => PartingStep::Nothing,
    };
    (PartingStage::IsHeard { end, since, gone }, step)
}

fn begin_to_empty(transport: &mut dyn Transport, parted: Parted, gone: u32) -> (PartingStage, PartingStep) {
    let me = transport.me();
    for to in (0..=Node::MAX).take(transport.nodes() as usize).filter(|to| *to != me) {
        transport.send(to, vec![LAST]);
    }
    (PartingStage::Empties { parted, since: Instant::now(), gone }, PartingStep::Some)
}

fn empty(transport: &mut dyn Transport, parted: Parted, since: Instant, mut gone: u32) -> (PartingStage, PartingStep) {
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
    (PartingStage::Empties { parted, since, gone }, step)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let failed = NodeEnd::failed(NodeError::subject("it fails"));
        let Parted::First(ends) = part(&mut alone, failed) else { panic!() };
        assert!(ends[0].is_some() && ends[1].is_none());
    }
}
