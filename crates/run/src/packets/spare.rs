//! Events for handlers, data of messages, and packets, that are no longer needed, to be filled again: what is allocated for each message is slow.

use trivium_engine::{Args, Event, Node, Object};
use trivium_node::{Data, EventNumber};
use trivium_protocol::EventKind;

/// So many are kept, of so many bytes, and places, at most.
const KEPT: usize = 64;
const MOST_BYTES: usize = 4096;
const MOST_PLACES: usize = 256;

/// An event for handlers of this node: a message that has arrived, or something of its own. It is handed on by its address, and filled again when
/// it has been handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub protocol: usize,
    /// Without the data.
    pub event: Event,
    pub data: Option<Box<Data>>,
    /// Its number among those from one node to another, if the run is traced.
    pub number: u64,
    /// Greater than that of all which its sender has sent to this node before it; given where it arrives. Of what a thread wants, how many messages
    /// had arrived when it was held, if it was.
    pub order: u64,
    /// Its number among the events of the node's thread, if it is one of them.
    pub of_thread: EventNumber,
}

/// What is to be filled again.
#[derive(Debug, Default)]
#[expect(clippy::vec_box, reason = "they are handed on by their address")]
pub(crate) struct Spare {
    data: Vec<Box<Data>>,
    arrivals: Vec<Box<Arrival>>,
    packets: Vec<Vec<u8>>,
}

impl Spare {
    /// Data without anything in them.
    #[inline]
    pub(crate) fn data(&mut self) -> Box<Data> {
        self.data.pop().unwrap_or_default()
    }

    /// Data that are the same.
    #[inline]
    pub(crate) fn copy(&mut self, data: &Data) -> Box<Data> {
        let mut copy = self.data();
        copy.bytes.extend_from_slice(&data.bytes);
        copy.places.extend_from_slice(&data.places);
        copy
    }

    /// Nobody needs these any more.
    #[inline]
    pub(crate) fn keep_data(&mut self, mut data: Box<Data>) {
        if self.data.len() < KEPT && data.bytes.capacity() <= MOST_BYTES && data.places.capacity() <= MOST_PLACES {
            data.clear();
            self.data.push(data);
        }
    }

    /// An event about an object, without arguments and data.
    #[inline]
    pub(crate) fn arrival(&mut self, protocol: usize, kind: EventKind, object: Object, sender: Node) -> Box<Arrival> {
        match self.arrivals.pop() {
            Some(mut old) => {
                (old.protocol, old.number, old.of_thread) = (protocol, 0, EventNumber::default());
                (old.event.kind, old.event.object, old.event.sender) = (kind, object, sender);
                old.event.args.clear();
                old
            }
            None => {
                let event = Event { kind, object, sender, thread: 0, args: Args::NONE, payload: None };
                Box::new(Arrival {
                    protocol,
                    event,
                    data: None,
                    number: 0,
                    order: 0,
                    of_thread: EventNumber::default(),
                })
            }
        }
    }

    /// A packet that has been read, to be written again; its bytes are of old.
    #[inline]
    pub(crate) fn packet(&mut self) -> Vec<u8> {
        self.packets.pop().unwrap_or_default()
    }

    /// It has been read.
    #[inline]
    pub(crate) fn keep_packet(&mut self, packet: Vec<u8>) {
        if self.packets.len() < KEPT && packet.capacity() <= MOST_BYTES {
            self.packets.push(packet);
        }
    }

    /// Nobody needs this any more; its data are elsewhere.
    #[inline]
    pub(crate) fn keep_arrival(&mut self, mut arrival: Box<Arrival>) {
        if self.arrivals.len() < KEPT {
            (arrival.event.payload, arrival.event.thread, arrival.data) = (None, 0, None);
            self.arrivals.push(arrival);
        }
    }
}
