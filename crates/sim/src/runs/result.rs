//! What a simulation tells: the keys of the command line's contract.

use crate::node::NodeState;
use crate::node::shared::Shared;
use crate::order::{Ended, World};
use crate::reports::blame::Blamed;
use crate::reports::counters::{Counters, Lookups, NodeAccesses, NodeOccupancy, Occupied, Statistic};
use crate::runs::changes::Changed;
use crate::runs::setup::Setup;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use trivium_engine::number::fit;
use trivium_guest::{FileChange, Program};
use trivium_node::{Blockage, MemoryUsed, MessageKind, Misses, NodeSaid, Said, Saying, Stood};
use trivium_protocol::PayloadShape;

/// The result of a simulation. Everything but `host_seconds` is the same in two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SimResult {
    /// The form of this result.
    pub schema: u32,
    /// The version of Trivium.
    pub version: String,
    /// `sim`.
    pub command: String,
    /// Names of the protocols.
    pub protocols: Vec<String>,
    /// The name of the machine.
    pub machine: String,
    /// The name of the program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Hashes of what went in, by name.
    #[serde(serialize_with = "in_order")]
    pub hashes: Vec<(String, String)>,
    /// How many nodes.
    pub nodes: u32,
    /// The seed of the network's jitter.
    pub seed: u64,
    /// How long the simulation took on the host, without compilation of the program.
    pub host_seconds: f64,
    /// What it was made with, in words of whoever asked for it.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    pub settings: serde_json::Value,
    /// The files of the program; the first is `program`.
    pub sources: Vec<String>,
    /// The flags of the C compiler, if any were given.
    pub cc: Option<String>,
    /// Bytes of a block.
    pub block: u64,
    /// Why it is incomplete, if it is; then counts are those so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// Where the nodes stood then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stood: Vec<Stood>,
    /// Cycles from the first beginning of the region of interest to its last end.
    pub cycles: u64,
    /// Instructions of all nodes.
    pub instructions: u64,
    /// Faults of all nodes.
    pub misses: Misses,
    /// Messages of all nodes, as `protocol.NAME`.
    pub messages: BTreeMap<String, u64>,
    /// Those of the region of interest.
    pub messages_region: BTreeMap<String, u64>,
    /// Those of the whole program.
    pub messages_program: BTreeMap<String, u64>,
    /// How often engines ran each handler in the region of interest, and for how long, as `protocol.role.STATE.EVENT`; clauses of one event
    /// together.
    pub handlers: BTreeMap<String, Occupied>,
    /// What of each kind of message has stalled at its receivers, of the whole program, as `protocol.NAME`; of protocols that never say `stall`
    /// nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub stalls: BTreeMap<String, StallCycles>,
    /// Lanes that keep no order, as `protocol.NAME`, between whose messages the machine's network never changes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept_order: Vec<String>,
    /// Bytes of all messages.
    pub bytes: u64,
    /// The greatest memory of the program.
    pub memory: MemoryUsed,
    /// What the programs printed to standard output, in the order of time and node.
    pub output: String,
    /// What they printed to standard error.
    pub errors: String,
    /// What they did that is hardly meant, in a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What they changed of the folder, if they may: nothing if the run is incomplete, or they say that their answer is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<Changed>>,
    /// Exit codes that are not 0, by node.
    pub exit_codes: BTreeMap<u32, i32>,
    /// The nodes.
    pub per_node: Vec<Counters>,
    /// What the nodes' libraries have checked, on a machine that has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accesses: Vec<NodeAccesses>,
    /// For what messages used the nodes' units, on a machine with `slots`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub occupancy: Vec<NodeOccupancy>,
    /// How often each node looked up the tags of a page, on a machine with `rtlb`, in the order of the nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rtlb: Vec<Lookups>,
    /// For how many cycles the messages that each node got had waited for links, where the machine has `network.link_cycles_per_word`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub link_wait: Vec<u64>,
    /// Who is to blame for misses, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blamed>,
    /// What a run on real nodes can count, too, where a program marks a region of interest.
    #[serde(skip)]
    pub whole_program: WholeProgram,
}

/// How the messages of a kind have blocked receive queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StallCycles {
    /// Messages that have stalled.
    pub stalled: u64,
    /// For how long, all together, from their arrival at the head of their lane until their handler began.
    pub cycles: u64,
    /// Messages after them that they have kept back.
    pub kept_back: u64,
}

impl From<Blockage> for StallCycles {
    fn from(stall: Blockage) -> StallCycles {
        StallCycles { stalled: stall.stalled, cycles: stall.time, kept_back: stall.kept_back }
    }
}

/// Messages of all nodes from the beginning of the program to its end, whatever its region of interest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WholeProgram {
    /// By kind, as `protocol.NAME`.
    pub messages: BTreeMap<String, u64>,
    /// Their bytes.
    pub bytes: u64,
}

fn in_order<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(name, hash)| (name, hash)))
}

/// What is known of a node when a simulation ends.
pub(crate) struct NodeEnd {
    /// Not 0.
    exit_code: Option<i32>,
    counts: Counters,
    /// Of the whole program.
    whole: Counters,
    /// What has stalled here, of the whole program.
    stalls: BTreeMap<MessageKind, Blockage>,
    /// First and last cycle of regions of interest.
    span: (u64, u64),
    said: NodeSaid,
    memory: MemoryUsed,
    /// What it has changed of the folder.
    changes: BTreeMap<String, FileChange>,
    /// Where it stood, if it was cut off.
    stood: Option<Stood>,
}

impl NodeEnd {
    /// Of all nodes of a world, which has ended in this way.
    pub(crate) fn of_all(world: &mut World, ended: &Ended) -> Vec<NodeEnd> {
        let stood = if *ended == Ended::Finished { Vec::new() } else { world.stood() };
        let stood = stood.into_iter().map(Some).chain(std::iter::repeat(None));
        let ends = world
            .nodes
            .iter()
            .enumerate()
            .map(|(number, node)| NodeEnd { changes: world.changes_of(number), ..NodeEnd::of(&mut node.borrow_mut()) });
        ends.zip(stood).map(|(end, stood)| NodeEnd { stood, ..end }).collect()
    }

    fn of(node: &mut NodeState) -> NodeEnd {
        let exit_code = node.thread().has_ended().filter(|code| *code != 0);
        node.region_end();
        let whole = node.counted();
        let counts = node.compute.regions.take().map_or_else(|| whole.clone(), |counts| *counts);
        let span = node.compute.region_span.unwrap_or((0, counts.cycles));
        let memory = MemoryUsed { private: node.compute.private_memory, shared: node.core.space.borrow().bytes() };
        NodeEnd {
            exit_code,
            counts,
            whole,
            stalls: node.core.blocked.tally(node.now),
            span,
            memory,
            said: node.compute.said(u64::MAX),
            changes: BTreeMap::new(),
            stood: None,
        }
    }

    /// What it has changed of the folder; nothing afterwards.
    pub(crate) fn take_changes(&mut self) -> BTreeMap<String, FileChange> {
        std::mem::take(&mut self.changes)
    }
}

impl SimResult {
    /// What the programs have said.
    pub(super) fn said(&self) -> Said {
        Said { output: self.output.clone(), errors: self.errors.clone(), warnings: self.warnings.clone() }
    }

    /// What is known of all nodes.
    pub(crate) fn gather(
        nodes: Vec<NodeEnd>,
        shared: &Shared,
        program: &Program,
        setup: &Setup,
        incomplete: Option<String>,
    ) -> SimResult {
        let (mut sum, mut whole) = (Counters::default(), Counters::default());
        let mut per_node = Vec::new();
        let mut memory = MemoryUsed::default();
        let (mut begun, mut ended) = (u64::MAX, 0);
        let mut saying = Saying::default();
        let mut exit_codes = BTreeMap::new();
        let mut stood = Vec::new();
        let mut stalls: BTreeMap<MessageKind, Blockage> = BTreeMap::new();
        for (number, node) in nodes.into_iter().enumerate() {
            let number = fit(number, "the number of a node");
            if let Some(code) = node.exit_code {
                exit_codes.insert(u32::from(number), code);
            }
            memory.join(node.memory);
            begun = begun.min(node.span.0);
            ended = ended.max(node.span.1);
            sum = sum.plus(&node.counts);
            whole = whole.plus(&node.whole);
            Blockage::add(&mut stalls, node.stalls);
            per_node.push(node.counts);
            saying.add(number, node.said);
            stood.extend(node.stood);
        }
        let Said { output, errors, warnings } = saying.said_by(program);
        let checked = |(node, counts): (usize, &Counters)| NodeAccesses {
            node: fit(node, "the number of a node"),
            entries: counts.entries,
            accesses: shared.classes.named(&counts.accesses),
        };
        let accesses = match shared.classes.are_checked() {
            true => per_node.iter().enumerate().map(checked).collect(),
            false => Vec::new(),
        };
        let used = |(node, counts): (usize, &Counters)| NodeOccupancy {
            node: fit(node, "the number of a node"),
            causes: counts.uses,
            gtlb_misses: shared.machine.gtlb.as_ref().map(|_| counts.gtlb_misses),
        };
        let occupancy = match shared.machine.slots {
            Some(_) => per_node.iter().enumerate().map(used).collect(),
            None => Vec::new(),
        };
        let rtlb = match shared.machine.rtlb {
            Some(_) => per_node.iter().map(|counts| counts.tags).collect(),
            None => Vec::new(),
        };
        let link_wait = match shared.machine.network.is_shared() {
            true => per_node.iter().map(|counts| counts.link_wait).collect(),
            false => Vec::new(),
        };
        let name = |&(protocol, kind): &MessageKind| {
            let protocol = shared.protocols.engines[protocol].protocol();
            format!("{}.{}", protocol.name, protocol.messages[kind as usize].name)
        };
        let mut handlers: BTreeMap<String, Occupied> = BTreeMap::new();
        for (&(protocol, role, handler), occupied) in &sum.handlers {
            let protocol = shared.protocols.engines[protocol].protocol();
            let role = &protocol.roles[role.index()];
            let name = format!("{}.{}.{}", protocol.name, role.name, role.handlers[handler.index()].name);
            handlers.entry(name).or_default().add(occupied);
        }
        let named = |(kind, &count): (&MessageKind, &u64)| (name(kind), count);
        let whole_program =
            WholeProgram { messages: whole.by_kind.iter().map(named).collect(), bytes: whole.bytes_sent };
        SimResult {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").into(),
            command: "sim".into(),
            protocols: setup.protocols.iter().map(|p| p.name.clone()).collect(),
            machine: setup.machine.name.clone(),
            program: program.name().into(),
            args: setup.args.clone(),
            hashes: vec![("program".into(), program.hash().into())],
            nodes: setup.nodes,
            seed: setup.seed,
            host_seconds: 0.0,
            settings: serde_json::Value::Null,
            sources: vec![program.name().into()],
            cc: None,
            block: setup.block,
            incomplete,
            stood,
            cycles: ended.saturating_sub(begun),
            instructions: sum.instructions,
            misses: Misses { read: sum.read_faults, write: sum.write_faults - sum.upgrades, upgrade: sum.upgrades },
            messages: sum.by_kind.iter().map(named).collect(),
            messages_region: sum.by_kind.iter().map(named).collect(),
            messages_program: whole_program.messages.clone(),
            handlers,
            stalls: stalls.iter().map(|(kind, &stall)| (name(kind), StallCycles::from(stall))).collect(),
            kept_order: kept_order(setup),
            bytes: sum.bytes_sent,
            memory,
            output,
            errors,
            warnings,
            changes: None,
            exit_codes,
            per_node,
            accesses,
            occupancy,
            rtlb,
            link_wait,
            blame: None,
            whole_program,
        }
    }
}

/// The lanes that keep no order and whose messages between two nodes arrive in order all the same: nothing on the way takes longer for one than for
/// another.
fn kept_order(setup: &Setup) -> Vec<String> {
    let network = &setup.machine.network;
    let mut kept = Vec::new();
    for protocol in setup.protocols.iter().filter(|_| network.jitter == 0) {
        for (at, lane) in protocol.lanes.iter().enumerate().filter(|(_, lane)| !lane.fifo) {
            let own = protocol.messages.iter().filter(|message| message.lane.index() == at);
            let with_data = own.clone().filter(|message| message.payload != PayloadShape::Nothing).count();
            if network.data_latency == 0 || with_data == 0 || with_data == own.count() {
                kept.push(format!("{}.{}", protocol.name, lane.name));
            }
        }
    }
    kept
}

/// The statistics of a whole run, in the order of results. `misses` and `messages` are objects in JSON: `misses.read`
/// is the key `read` of `misses`; `messages` is the sum of its counts by kind.
pub const RUN_STATISTICS: &[Statistic<SimResult>] = &[
    Statistic::new(
        "cycles",
        "cycles",
        "Time from the first beginning of the region of interest on any node to its last end.",
        |run| run.cycles,
    ),
    Statistic::new("instructions", "instructions", "Instructions that the programs of all nodes executed.", |run| {
        run.instructions
    }),
    Statistic::new("misses.read", "faults", "Loads that access control stopped, on all nodes.", |run| run.misses.read),
    Statistic::new(
        "misses.write",
        "faults",
        "Stores to blocks without any access that access control stopped, on all nodes.",
        |run| run.misses.write,
    ),
    Statistic::new(
        "misses.upgrade",
        "faults",
        "Stores that access control stopped though the block could be read, on all nodes.",
        |run| run.misses.upgrade,
    ),
    Statistic::new("messages", "messages", "Messages of all nodes by kind, as `protocol.NAME`.", |run| {
        run.messages.values().sum()
    }),
    Statistic::new(
        "messages_region",
        "messages",
        "The same of the region of interest, in `sim` and in `run`.",
        |run| run.messages_region.values().sum(),
    ),
    Statistic::new("messages_program", "messages", "The same of the whole program, in `sim` and in `run`.", |run| {
        run.messages_program.values().sum()
    }),
    Statistic::new("bytes", "bytes", "Bytes of all messages: two header words, arguments, data.", |run| run.bytes),
];
