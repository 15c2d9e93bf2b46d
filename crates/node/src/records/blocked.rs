//! What has blocked the receive queue of a node: messages that have arrived and stall, and those that they keep back, counted by kind.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trivium_engine::{Event, Node};
use trivium_protocol::{EventKind, LaneId};

/// A message that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Of which protocol.
    pub protocol: usize,
    /// Who has sent it.
    pub sender: Node,
    /// On which lane.
    pub lane: LaneId,
    /// Greater than that of all which its sender has sent to this node before it.
    pub number: u64,
}

/// What the messages of a kind have done to the receive queues of their receivers. Times are the host's: cycles, or nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blockage {
    /// Messages that have stalled.
    pub stalled: u64,
    /// For how long they were at the head of their lanes until they were handled.
    pub time: u64,
    /// Messages that they have kept back: each is counted once, for the message that kept it back first.
    pub kept_back: u64,
}

impl Blockage {
    /// Adds what has blocked the queue of one node, by kind, to that of others.
    pub fn add(sum: &mut BTreeMap<MessageKind, Blockage>, more: BTreeMap<MessageKind, Blockage>) {
        for (kind, more) in more {
            let so_far = sum.entry(kind).or_default();
            so_far.stalled += more.stalled;
            so_far.time += more.time;
            so_far.kept_back += more.kept_back;
        }
    }
}

/// A protocol, and one of its kinds of messages.
pub type MessageKind = (usize, u16);

/// A message that has arrived and waits, with when it did.
pub struct InQueue {
    /// Which.
    pub message: Arrived,
    /// What it says, without its data.
    pub event: Event,
    /// When it arrived, in the host's time.
    pub since: u64,
}

/// Which message: its protocol, its sender, and its number there.
type Name = (usize, Node, u64);

/// A message that stands in the receive queue.
#[derive(Clone, Copy, Debug)]
struct Standing {
    name: Name,
    kind: u16,
    /// Which message kept it back when it was last seen so.
    keeper: Option<Name>,
    /// Since when no message has kept it back.
    head_since: u64,
    /// Whether it has stalled there.
    has_stalled: bool,
}

/// What has blocked the receive queue of a node so far.
#[derive(Clone, Debug, Default)]
pub struct Blocked {
    standing: Vec<Standing>,
    tally: BTreeMap<MessageKind, Blockage>,
}

impl Blocked {
    /// What messages of each kind have done until `now`, those that stall at this moment included.
    pub fn tally(&self, now: u64) -> BTreeMap<MessageKind, Blockage> {
        let mut tally = self.tally.clone();
        for one in self.standing.iter().filter(|one| one.has_stalled) {
            tally.entry((one.name.0, one.kind)).or_default().time += now.saturating_sub(one.head_since);
        }
        tally
    }

    /// The handler of a message begins.
    pub fn has_begun(&mut self, message: Arrived, now: u64) {
        let name = name_of(message);
        let Some(at) = self.standing.iter().position(|one| one.name == name) else { return };
        let one = self.standing.remove(at);
        if one.has_stalled {
            self.tally.entry((name.0, one.kind)).or_default().time += now.saturating_sub(one.head_since);
        }
        for other in self.standing.iter_mut().filter(|other| other.keeper == Some(name)) {
            (other.keeper, other.head_since) = (None, now);
        }
    }

    fn stands(&mut self, waiting: &InQueue) -> &mut Standing {
        let name = name_of(waiting.message);
        let at = self.standing.iter().position(|one| one.name == name).unwrap_or_else(|| {
            let kind = kind_of(&waiting.event);
            let (keeper, head_since) = (None, waiting.since);
            self.standing.push(Standing { name, kind, keeper, head_since, has_stalled: false });
            self.standing.len() - 1
        });
        &mut self.standing[at]
    }

    /// A message stalls, at the head of its lane.
    pub(crate) fn stalls(&mut self, waiting: &InQueue) {
        let one = self.stands(waiting);
        if !one.has_stalled {
            one.has_stalled = true;
            let kind = (one.name.0, one.kind);
            self.tally.entry(kind).or_default().stalled += 1;
        }
    }

    /// A message that stalls keeps back another.
    pub(crate) fn keeps_back(&mut self, by: &InQueue, waiting: &InQueue) {
        let is_new = !self.standing.iter().any(|one| one.name == name_of(waiting.message));
        self.stands(waiting).keeper = Some(name_of(by.message));
        if is_new {
            self.tally.entry((by.message.protocol, kind_of(&by.event))).or_default().kept_back += 1;
        }
    }
}

fn name_of(message: Arrived) -> Name {
    (message.protocol, message.sender, message.number)
}

fn kind_of(event: &Event) -> u16 {
    match event.kind {
        EventKind::Message(kind) => kind.0,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trivium_engine::Object;
    use trivium_protocol::{MessageId, NODE};

    fn waiting(sender: Node, kind: u16, since: u64) -> InQueue {
        let message = Arrived { protocol: 0, sender, lane: LaneId(0), number: since };
        let event = Event::local(EventKind::Message(MessageId(kind)), Object { kind: NODE, id: 0 }, 0);
        InQueue { message, event, since }
    }

    #[test]
    fn a_message_stalls_from_when_it_is_at_the_head() {
        let (first, second) = (waiting(1, 3, 10), waiting(2, 4, 20));
        let mut blocked = Blocked::default();
        // Seen twice, it has stalled once.
        for _ in 0..2 {
            blocked.stalls(&first);
            blocked.keeps_back(&first, &second);
        }
        let so_far = Blockage { stalled: 1, time: 40, kept_back: 1 };
        assert_eq!(blocked.tally(50), [((0, 3), so_far)].into());

        blocked.has_begun(first.message, 60);
        blocked.stalls(&second);
        blocked.has_begun(second.message, 75);
        let ended =
            [((0, 3), Blockage { time: 50, ..so_far }), ((0, 4), Blockage { stalled: 1, time: 15, kept_back: 0 })];
        assert_eq!(blocked.tally(500), ended.into());
        assert!(blocked.standing.is_empty());
    }

    #[test]
    fn what_does_not_stall_is_not_counted() {
        let mut blocked = Blocked::default();
        blocked.has_begun(waiting(1, 0, 5).message, 9);
        assert!(blocked.tally(10).is_empty());
    }
}
