//! What a running handler leaves on a real node: its messages, kept until it has ended, and what compiled code may do from now on.

use super::NodeState;
use super::queued::OnLanes;
use crate::packets::spare::Arrival;
use crate::packets::wire::write_message;
use trivium_engine::{Node, Object, Outgoing};
use trivium_node::{Carried, Data, Effects, HandlerHost, HandlerMemory, NodeCore};
use trivium_protocol::{Access, EventKind, LaneId, MessageId};

/// What the running handler has done so far.
#[derive(Default)]
pub(crate) struct Handling {
    /// What it did besides.
    pub effects: Effects,
    /// Its messages in order.
    pub sends: Vec<Sent>,
}

/// A message that a handler has sent.
pub(crate) struct Sent {
    pub to: Node,
    pub message: MessageId,
    pub lane: LaneId,
    /// Two header words, arguments, data, as they are counted.
    pub bytes: u64,
    pub what: What,
}

/// A message to a node of this thread, or one that has been written for another.
pub(crate) enum What {
    Message(Box<Arrival>),
    Packet(Vec<u8>),
}

impl Handling {
    /// Forgets a handler for the next one; the space that its lists took stays.
    pub(crate) fn restart(&mut self, protocol: usize) {
        self.effects.restart(protocol);
        self.sends.clear();
    }
}

impl HandlerMemory for NodeState {
    type Cause = ();

    #[inline(always)]
    fn core(&self) -> &NodeCore<()> {
        &self.core
    }

    #[inline(always)]
    fn core_mut(&mut self) -> &mut NodeCore<()> {
        &mut self.core
    }

    #[inline(always)]
    fn effects(&self) -> &Effects {
        &self.handling.effects
    }

    #[inline(always)]
    fn effects_mut(&mut self) -> &mut Effects {
        &mut self.handling.effects
    }

    fn tag_to_check(&mut self, block: Object) -> Option<Access> {
        self.checks_unchecked.then(|| self.core.tag(block))
    }
}

impl HandlerHost for NodeState {
    type Lanes = OnLanes;

    fn lanes(&self) -> &OnLanes {
        &self.queued.on_lanes
    }

    fn empty_data(&mut self) -> Box<Data> {
        self.spare.data()
    }

    /// To a node of this thread a message goes as it is; for another it is written.
    fn leaves(&mut self, to: Node, message: &Outgoing, data: Carried<'_>) {
        let protocol = self.handling.effects.protocol;
        let lane = self.core.protocols.engines[protocol].protocol().messages[message.message.index()].lane;
        let borrowed = match &data {
            Carried::Nothing => None,
            Carried::Of(data) => Some(*data),
            Carried::Own(data) => Some(&**data),
        };
        let bytes = 8 * (2 + message.args.words().len() as u64) + borrowed.map_or(0, |data| data.bytes.len() as u64);
        let what = if self.beside.contains(&to.into()) {
            let kind = EventKind::Message(message.message);
            let mut arrival = self.spare.arrival(protocol, kind, message.object, self.core.me);
            arrival.event.args.assign(&message.args);
            arrival.data = match data {
                Carried::Nothing => None,
                Carried::Of(data) => Some(self.spare.copy(data)),
                Carried::Own(data) => Some(data),
            };
            What::Message(arrival)
        } else {
            let packet = self.spare.packet();
            let kind = (protocol, message.message);
            let packet = write_message(packet, kind, message.object, &message.args, borrowed);
            if let Carried::Own(data) = data {
                self.spare.keep_data(data);
            }
            What::Packet(packet)
        };
        self.handling.sends.push(Sent { to, message: message.message, lane, bytes, what });
    }

    fn sent_on(&self, lane: LaneId) -> u32 {
        self.handling.sends.iter().filter(|sent| sent.lane == lane).map(|_| 1u32).sum()
    }

    fn has_tag(&mut self, block: Object, from: Access, to: Access) {
        if to < from {
            self.publish(block, to, false);
        }
    }

    fn shows_line(&mut self, block: Object, from: Access, to: Access) {
        self.has_tag(block, from, to);
    }
}
