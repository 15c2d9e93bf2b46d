//! What is counted and measured on a node, and of that what its program asks for: the region of interest.

use super::NodeState;
use crate::reports::latency::Latency;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trivium_node::Protocols;
use trivium_protocol::MessageId;

/// What a node has measured so far.
pub(crate) struct Measured {
    pub counts: Counts,
    /// Of each protocol, the messages of each kind that it has sent.
    pub(super) kinds: Vec<Vec<u64>>,
    pub region: Region,
    pub latency: Latency,
    /// Bytes of its program's memory.
    pub private_memory: u64,
}

impl Measured {
    /// Nothing yet.
    pub(super) fn of(protocols: &Protocols) -> Measured {
        Measured {
            counts: Counts::default(),
            kinds: protocols.engines.iter().map(|engine| vec![0; engine.protocol().messages.len()]).collect(),
            region: Region::default(),
            latency: Latency::default(),
            private_memory: 0,
        }
    }
}

/// What is counted on a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub read_faults: u64,
    pub write_faults: u64,
    pub upgrades: u64,
    pub prefetches: u64,
    pub messages_sent: u64,
    pub bytes_sent: u64,
    pub instructions: u64,
    /// Nanoseconds in handlers, and in waiting without handlers.
    pub handlers: u64,
    pub waits: u64,
    /// Messages by protocol and kind. While the node runs they are in [`Measured::kinds`].
    #[serde(skip)]
    pub by_kind: BTreeMap<(usize, u16), u64>,
}

impl Counts {
    /// What was counted after `earlier`.
    pub(crate) fn since(&self, earlier: &Counts) -> Counts {
        let before = |kind: &(usize, u16)| earlier.by_kind.get(kind).copied().unwrap_or(0);
        let mut by_kind: BTreeMap<_, _> = self.by_kind.iter().map(|(kind, now)| (*kind, now - before(kind))).collect();
        by_kind.retain(|_, count| *count > 0);
        Counts {
            read_faults: self.read_faults - earlier.read_faults,
            write_faults: self.write_faults - earlier.write_faults,
            upgrades: self.upgrades - earlier.upgrades,
            prefetches: self.prefetches - earlier.prefetches,
            messages_sent: self.messages_sent - earlier.messages_sent,
            bytes_sent: self.bytes_sent - earlier.bytes_sent,
            instructions: self.instructions - earlier.instructions,
            handlers: self.handlers - earlier.handlers,
            waits: self.waits - earlier.waits,
            by_kind,
        }
    }

    /// The sum of both.
    pub(crate) fn plus(&self, other: &Counts) -> Counts {
        let mut by_kind = self.by_kind.clone();
        for (kind, count) in &other.by_kind {
            *by_kind.entry(*kind).or_default() += count;
        }
        Counts {
            read_faults: self.read_faults + other.read_faults,
            write_faults: self.write_faults + other.write_faults,
            upgrades: self.upgrades + other.upgrades,
            prefetches: self.prefetches + other.prefetches,
            messages_sent: self.messages_sent + other.messages_sent,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            instructions: self.instructions + other.instructions,
            handlers: self.handlers + other.handlers,
            waits: self.waits + other.waits,
            by_kind,
        }
    }
}

/// The region of interest of a node's program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region {
    /// Counts where it began, if it has and has not ended.
    begun: Option<Counts>,
    /// Counts of those that have ended, if there were any.
    pub ended: Option<Counts>,
    /// Nanoseconds of the first beginning and the last end.
    pub span: Option<(u64, u64)>,
}

impl NodeState {
    /// The counts so far.
    pub(crate) fn counted(&self, instructions: u64) -> Counts {
        let kinds = self.measured.kinds.iter().enumerate();
        let of = |(protocol, counts): (usize, &Vec<u64>)| {
            let sent = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            let named = sent.map(|(kind, &count)| ((protocol, MessageId::at(kind).0), count));
            named.collect::<Vec<_>>()
        };
        Counts { instructions, by_kind: kinds.flat_map(of).collect(), ..self.measured.counts.clone() }
    }

    pub(super) fn region_begin(&mut self, instructions: u64) {
        if self.measured.region.begun.is_none() {
            let now = self.look_at_clock();
            self.note_region(true);
            self.measured.region.begun = Some(self.counted(instructions));
            self.measured.region.span = Some((self.measured.region.span.map_or(now, |span| span.0), now));
        }
    }

    /// The region of interest ends here, as it does where the program ends.
    pub(crate) fn region_end(&mut self, instructions: u64) {
        if let Some(begun) = self.measured.region.begun.take() {
            let more = self.counted(instructions).since(&begun);
            self.measured.region.ended = Some(self.measured.region.ended.take().unwrap_or_default().plus(&more));
            let now = self.look_at_clock();
            self.note_region(false);
            self.measured.region.span = self.measured.region.span.map(|span| (span.0, now));
        }
    }
}
