//! What a run tells: the keys of the command line's contract.

use crate::reports::latency::Quantiles;
use serde::Serialize;
use std::collections::BTreeMap;
use trivium_node::{Blockage, MemoryUsed, Misses, Stood};

/// The counts of one node: of its region of interest, or of the whole program if it marks none. Messages and bytes are always those
/// of the whole program: regions begin and end at other moments on each node.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveNode {
    /// Instructions that its program executed.
    pub instructions: u64,
    /// Loads that access control stopped.
    pub read_faults: u64,
    /// Stores that access control stopped, upgrades included.
    pub write_faults: u64,
    /// Stores that access control stopped though the block could be read.
    pub upgrades: u64,
    /// Prefetches that went to the block's role; those that nothing answers, or that bring nothing, are not counted.
    pub prefetches: u64,
    /// Messages that the node's handlers sent, those to the node itself included.
    pub messages_sent: u64,
    /// Bytes of these messages: two header words, arguments, data.
    pub bytes_sent: u64,
    /// Seconds for which handlers held up a program that could have run: at its poll points.
    pub handler_seconds: f64,
    /// Seconds for which the program waited; the node runs handlers meanwhile.
    pub wait_seconds: f64,
}

/// How the messages of a kind have blocked receive queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StallTimes {
    /// Messages that have stalled.
    pub stalled: u64,
    /// For how long, all together, from when their receiver first found that they do until it handled them.
    pub nanoseconds: u64,
    /// Messages after them that they have kept back.
    pub kept_back: u64,
}

impl From<Blockage> for StallTimes {
    fn from(stall: Blockage) -> StallTimes {
        StallTimes { stalled: stall.stalled, nanoseconds: stall.time, kept_back: stall.kept_back }
    }
}

/// The result of a run. Times differ from run to run, and counts do where sharing depends on timing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunResult {
    /// How nodes are run: `threads`.
    pub transport: &'static str,
    /// Bytes of a block.
    pub block: u64,
    /// Why it is incomplete, if it is; then counts are those so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Where the nodes stood then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stood: Vec<Stood>,
    /// From the first beginning of the region of interest on any node to its last end.
    pub wall_seconds: f64,
    /// Instructions of all nodes.
    pub instructions: u64,
    /// Faults of all nodes.
    pub misses: Misses,
    /// How long accesses took that faulted, over the whole program; nothing if none did.
    pub miss_latency: Option<Quantiles>,
    /// Messages of all nodes, of the whole program, as `protocol.NAME`.
    pub messages: BTreeMap<String, u64>,
    /// Those of the region of interest: a message between two nodes is its sender's.
    pub messages_region: BTreeMap<String, u64>,
    /// Those of the whole program.
    pub messages_program: BTreeMap<String, u64>,
    /// What of each kind of message has stalled at its receivers, of the whole program, as `protocol.NAME`; of protocols that never say `stall`
    /// nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stalls: BTreeMap<String, StallTimes>,
    /// Bytes of all messages, of the whole program.
    pub bytes: u64,
    /// The greatest memory of the program.
    pub memory: MemoryUsed,
    /// What the programs printed to standard output, line by line in the order of time and node.
    pub output: String,
    /// What they printed to standard error.
    pub errors: String,
    /// What they did that is hardly meant, in a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Exit codes that are not 0, by node.
    pub exit_codes: BTreeMap<u32, i32>,
    /// The nodes.
    pub per_node: Vec<LiveNode>,
}
