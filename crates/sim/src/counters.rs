//! What is counted on a node. Each statistic has one name, one unit and one definition: this one.

use std::collections::BTreeMap;

/// On what a processor's cycles go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// Loads that miss.
    Read,
    /// Stores and atomic operations that miss.
    Write,
    /// Barriers, waiting for a word to change, protocol calls.
    Sync,
}

/// The counts of a node since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Cycles of the processor's clock.
    pub cycles: u64,
    /// Instructions executed.
    pub instructions: u64,
    /// Cycles of instructions: instructions times the machine's cpi.
    pub compute: u64,
    /// Cycles for which loads waited, local misses included.
    pub read_stall: u64,
    /// Cycles for which stores waited, local misses included.
    pub write_stall: u64,
    /// Cycles for which barriers, waits and calls waited.
    pub sync_stall: u64,
    /// Cycles for which the processor itself ran handlers.
    pub handler: u64,
    /// Loads that faulted.
    pub read_faults: u64,
    /// Stores that faulted, upgrades included.
    pub write_faults: u64,
    /// Stores that faulted on a block that could be read.
    pub upgrades: u64,
    /// Messages handed to the interface.
    pub messages_sent: u64,
    /// Their bytes: two header words, arguments, data.
    pub bytes_sent: u64,
    /// Cycles for which the engine ran handlers.
    pub engine_busy: u64,
    /// Cycles for which the bus was held.
    pub bus_busy: u64,
    /// Messages by protocol and kind.
    pub by_kind: BTreeMap<(usize, u16), u64>,
}

impl Counters {
    /// What was counted after `earlier`.
    pub fn since(&self, earlier: &Counters) -> Counters {
        let mut by_kind = self.by_kind.clone();
        for (kind, count) in &earlier.by_kind {
            if let Some(now) = by_kind.get_mut(kind) {
                *now -= count;
            }
        }
        by_kind.retain(|_, count| *count > 0);
        Counters {
            cycles: self.cycles - earlier.cycles,
            instructions: self.instructions - earlier.instructions,
            compute: self.compute - earlier.compute,
            read_stall: self.read_stall - earlier.read_stall,
            write_stall: self.write_stall - earlier.write_stall,
            sync_stall: self.sync_stall - earlier.sync_stall,
            handler: self.handler - earlier.handler,
            read_faults: self.read_faults - earlier.read_faults,
            write_faults: self.write_faults - earlier.write_faults,
            upgrades: self.upgrades - earlier.upgrades,
            messages_sent: self.messages_sent - earlier.messages_sent,
            bytes_sent: self.bytes_sent - earlier.bytes_sent,
            engine_busy: self.engine_busy - earlier.engine_busy,
            bus_busy: self.bus_busy - earlier.bus_busy,
            by_kind,
        }
    }

    /// The sum of both.
    pub fn plus(&self, other: &Counters) -> Counters {
        let mut by_kind = self.by_kind.clone();
        for (kind, count) in &other.by_kind {
            *by_kind.entry(*kind).or_default() += count;
        }
        Counters {
            cycles: self.cycles + other.cycles,
            instructions: self.instructions + other.instructions,
            compute: self.compute + other.compute,
            read_stall: self.read_stall + other.read_stall,
            write_stall: self.write_stall + other.write_stall,
            sync_stall: self.sync_stall + other.sync_stall,
            handler: self.handler + other.handler,
            read_faults: self.read_faults + other.read_faults,
            write_faults: self.write_faults + other.write_faults,
            upgrades: self.upgrades + other.upgrades,
            messages_sent: self.messages_sent + other.messages_sent,
            bytes_sent: self.bytes_sent + other.bytes_sent,
            engine_busy: self.engine_busy + other.engine_busy,
            bus_busy: self.bus_busy + other.bus_busy,
            by_kind,
        }
    }
}
