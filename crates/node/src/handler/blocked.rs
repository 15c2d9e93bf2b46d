//! Which messages that have arrived stall, and which these keep back: counted ([`crate::records::Blocked`]), and told where nothing goes on any more.

use super::next::{Lanes, Stuck};
use crate::core::NodeCore;
use crate::records::InQueue;
use trivium_protocol::NODE;

/// So many messages that stall are told of each node.
const MOST_TOLD: usize = 4;

/// So many messages are named that one of them keeps back.
const MOST_KEPT: usize = 3;

/// What stands between a message and its lane where it is told that it stalls.
const STALLS_ON: &str = " stalls on lane ";

/// Whether such a sentence says that a message stalls.
pub fn tells_of_a_stall(told: &str) -> bool {
    told.contains(STALLS_ON)
}

/// Why a message does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Its answer is `stall`.
    Stalls,
    /// The one at this place, which stalls, keeps it back.
    KeptBack(usize),
    /// Nothing that stalls is the reason.
    Other,
}

impl<C> NodeCore<C> {
    /// Notes which of these messages, in the order in which they arrived, stall or are kept back by what stalls. Asked where something else
    /// begins, or nothing does: a message that can be handled at once has not stalled.
    pub fn note_blocked(&mut self, lanes: &impl Lanes, messages: impl Iterator<Item = InQueue>) {
        let messages: Vec<InQueue> = messages.collect();
        for (waiting, why) in messages.iter().zip(self.reasons(lanes, &messages)) {
            match why {
                Why::Stalls => self.blocked.stalls(waiting),
                Why::KeptBack(by) => self.blocked.keeps_back(&messages[by], waiting),
                Why::Other => {}
            }
        }
    }

    /// The messages that stall, in words, each with what it keeps back; the first few.
    pub fn stalled_text(&self, lanes: &impl Lanes, messages: impl Iterator<Item = InQueue>) -> Vec<String> {
        let messages: Vec<InQueue> = messages.collect();
        let reasons = self.reasons(lanes, &messages);
        let text = |(at, waiting): (usize, &InQueue)| {
            let protocol = self.protocols.engines[waiting.message.protocol].protocol();
            let lane = &protocol.lanes[waiting.message.lane.index()].name;
            let kept = messages.iter().zip(&reasons).filter(|(_, why)| **why == Why::KeptBack(at));
            let kept: Vec<String> = kept.map(|(kept, _)| self.named(kept)).collect();
            let kept = match kept.len() {
                0 => String::new(),
                many if many > MOST_KEPT => {
                    format!(", and keeps back {many}: {}, ..", kept[..MOST_KEPT].join(", "))
                }
                _ => format!(", and keeps back {}", kept.join(", ")),
            };
            format!("{}{STALLS_ON}{}.{lane}{kept}", self.named(waiting), protocol.name)
        };
        let stalls = messages.iter().enumerate().filter(|(at, _)| reasons[*at] == Why::Stalls);
        stalls.take(MOST_TOLD).map(text).collect()
    }

    fn named(&self, InQueue { message, event, .. }: &InQueue) -> String {
        let protocol = self.protocols.engines[message.protocol].protocol();
        let object = match protocol.objects.get(event.object.kind.index()) {
            Some(kind) if event.object.kind != NODE => format!(" about {kind} {}", event.object.id),
            _ => String::new(),
        };
        format!("{} from node {}{object}", protocol.event_name(event.kind), message.sender)
    }

    fn reasons(&self, lanes: &impl Lanes, messages: &[InQueue]) -> Vec<Why> {
        let mut stuck = Stuck::default();
        // Of each that is stuck, the one that stalls and is the reason.
        let mut reasons_of_stuck: Vec<Option<usize>> = Vec::new();
        let reason = |(at, waiting): (usize, &InQueue)| {
            let &InQueue { message, event, .. } = waiting;
            let (why, reason) = match stuck.keeper(self, message) {
                Some(keeper) => (reasons_of_stuck[keeper].map_or(Why::Other, Why::KeptBack), reasons_of_stuck[keeper]),
                None if self.stalls(message.protocol, &event) => (Why::Stalls, Some(at)),
                None if self.can_start(lanes, message.protocol, &event) => return Why::Other,
                None => (Why::Other, None),
            };
            if self.is_stuck(&mut stuck, message, &event) {
                reasons_of_stuck.push(reason);
            }
            why
        };
        messages.iter().enumerate().map(reason).collect()
    }
}
