//! What is run, and how.

use crate::reports::trace::RunTrace;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trivium_guest::Program;
use trivium_protocol::Protocol;

/// What is run.
pub struct Setup<'a> {
    /// The program, which every node runs.
    pub program: &'a Program,
    /// The protocols; the first that answers accesses is the default of allocations.
    pub protocols: Vec<Arc<Protocol>>,
    /// Nodes, 1 to 256.
    pub nodes: u32,
    /// Bytes of a block: a power of two from 8 to 65,536.
    pub block: u64,
    /// The program's arguments after its name.
    pub args: Vec<String>,
    /// It ends incomplete after so long.
    pub limit: Option<Duration>,
    /// It ends incomplete when true.
    pub cancel: Arc<AtomicBool>,
    /// Nodes and messages are delayed at random, from this seed.
    pub delays: Option<u64>,
    /// A program that computes polls after so many instructions; none: as often as messages come.
    pub poll_every: Option<u64>,
    /// The program's accesses to private memory that is shared are looked at.
    pub checks_unchecked: bool,
    /// It is an error if no program goes on for so long, while handlers run.
    pub stall_limit: Option<Duration>,
    /// Each node's thread stays on one of the host's processors.
    pub is_pinned: bool,
    /// Each node, or thread that carries several, computes for so long before its programs begin.
    pub warm_up: Duration,
    /// Filled with what nodes do, and when. Where they are processes, that of node 0 has all in the end, and the others' nothing.
    pub trace: Option<&'a RunTrace>,
}

impl Setup<'_> {
    /// The program as nodes run it: what they may access changes only where they poll or ask, so that loops may look ahead.
    pub(crate) fn looking_ahead(&self) -> Program {
        self.program.clone().looking_ahead()
    }
}

/// How long a run may go without progress, unless somebody says otherwise.
pub const STALL_LIMIT: Duration = Duration::from_secs(30);
