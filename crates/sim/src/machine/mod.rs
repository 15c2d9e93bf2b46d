//! A machine: what its TOML file says.

pub mod gtlb;
pub mod handlers;
pub(crate) mod load;
pub mod network;
pub(crate) mod operators;
pub mod overlays;
pub mod price;
pub(crate) mod ratio;
pub mod slots;
pub mod tlb;

use crate::machine::gtlb::GtlbModel;
use crate::machine::handlers::HandlerPrices;
use crate::machine::network::NetworkModel;
use crate::machine::operators::{OperatorCosts, Weighing};
use crate::machine::price::{Prices, Transaction};
use crate::machine::ratio::Ratio;
use crate::machine::slots::{QueuesModel, SlotsModel};
use crate::machine::tlb::{RtlbModel, TlbModel};
use serde::Deserialize;
use std::collections::BTreeMap;
use trivium_diagnostic::{Code, Diagnostic};
use trivium_engine::number::index;
use trivium_guest::{Build, Program, TlbShape};

/// A machine model. All cycles are those of the compute processor's clock, unless a key says bus cycles.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The name of the machine.
    pub name: String,
    /// What it is, in one line.
    pub about: String,
    /// The compute processor.
    pub processor: ProcessorModel,
    /// Its data cache.
    pub cache: CacheModel,
    /// Its TLB, if that is modelled; else translations take no time.
    pub tlb: Option<TlbModel>,
    /// The table in which its access control finds the tags of a page, if a miss there takes time.
    pub rtlb: Option<RtlbModel>,
    /// The table in which a SEND finds the node of an object, if a look-up there or a miss takes time.
    pub gtlb: Option<GtlbModel>,
    /// The memory bus of a node.
    pub bus: BusModel,
    /// The memory of a node.
    pub memory: MemoryModel,
    /// Where accesses are checked.
    pub access_control: AccessControl,
    /// Where protocol code runs.
    pub engine: EngineModel,
    /// Its stages, if it is a pipeline.
    pub pipeline: Option<PipelineModel>,
    /// Its engines, if a node has several.
    pub slots: Option<SlotsModel>,
    /// The network interface of a node.
    pub interface: InterfaceModel,
    /// The network.
    pub network: NetworkModel,
    /// The machine's own barrier.
    #[serde(default)]
    pub barrier: BarrierModel,
    /// What the primitives of handlers cost.
    pub prices: Prices,
    /// What those of a call's handler cost, if calls of a program are handled by its own processor and not by the engine. The
    /// file gives what differs from `prices`.
    #[serde(default, deserialize_with = "load::later")]
    pub calls: Option<Prices>,
    /// What whole handlers cost, in place of what they do.
    #[serde(default)]
    pub handlers: HandlerPrices,
}

/// The compute processor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorModel {
    /// Clock in MHz.
    pub mhz: u64,
    /// Cycles per instruction when every access hits.
    pub cpi: Ratio,
    /// The same by the class of the instruction's operator, where it differs.
    #[serde(default)]
    pub operators: OperatorCosts,
    /// Cycles from a miss to its grant on a free bus: detection, synchronisation, arbitration.
    pub issue: u64,
    /// The same for a store to a line that the cache holds shared, if it differs.
    pub upgrade_issue: Option<u64>,
    /// Cycles of the trap that a processor takes when access control aborts its access, if that is how it is
    /// suspended; it goes on when it is resumed and the trap has been taken.
    #[serde(default)]
    pub trap: u64,
    /// Cycles from the critical word to the end of the load.
    pub finish: u64,
    /// Cycles for each word that a program's call hands to the engine.
    pub call_word: u64,
    /// Whether a call is heard `issue` cycles after its last word, as a miss is: it passes the processor's interface.
    #[serde(default)]
    pub call_issues: bool,
    /// Cycles of a prefetch, besides its instructions.
    #[serde(default)]
    pub prefetch: u64,
    /// Requests that it may have outstanding at once, that of a waiting access included; unlimited, if not said.
    pub outstanding: Option<u64>,
}

impl ProcessorModel {
    /// Cycles from a store to a line that the cache holds shared to its grant on a free bus.
    pub fn upgrade_issue(&self) -> u64 {
        self.upgrade_issue.unwrap_or(self.issue)
    }

    fn weighing(&self) -> Weighing {
        self.operators
            .weighing(self.cpi)
            .unwrap_or_else(|wrong| panic!("`{}` was not checked: {}", wrong.key, wrong.why))
    }

    /// Cycles of a unit of the work that a [weighed](Machine::weigh) program does.
    pub(crate) fn cycles_of_work(&self) -> Ratio {
        self.weighing().cycles
    }
}

/// A write-back, write-allocate cache of one or two levels; instruction fetches always hit. In a set the line leaves that came first:
/// compiled code does not tell of hits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheModel {
    /// Size in bytes; a power of two.
    pub bytes: u64,
    /// Line size in bytes; a power of two.
    pub line: u64,
    /// Ways, a power of two from 1 to 16.
    pub associativity: u64,
    /// The level before it, if there is one, whose hits take no time.
    pub first: Option<FirstLevelModel>,
}

/// The first of two levels of a cache. What it holds the second holds, too.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirstLevelModel {
    /// Size in bytes; a power of two, at most the second level's.
    pub bytes: u64,
    /// Line size in bytes; a power of two, at most the second level's.
    pub line: u64,
    /// Ways, a power of two from 1 to 16.
    pub associativity: u64,
    /// Cycles of an access that misses here, and that the second level's line allows.
    pub miss: u64,
}

/// The memory bus of a node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusModel {
    /// Processor cycles per bus cycle.
    pub ratio: Ratio,
    /// Bus cycles from a request to its grant when the bus is idle.
    pub arbitration: u64,
    /// Bus cycles after the grant.
    pub occupancy: Occupancy,
}

/// For how many bus cycles after its grant a transaction holds the bus.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Occupancy {
    /// A line is read.
    pub read: u64,
    /// A line is invalidated.
    pub invalidate: u64,
    /// A dirty line goes to memory.
    pub write_back: u64,
    /// 8 bytes are loaded past the cache.
    pub uncached_load: u64,
    /// 8 bytes are stored past the cache.
    pub uncached_store: u64,
    /// A transaction is stopped by access control.
    pub abort: u64,
}

impl BusModel {
    /// Cycles for which a transaction holds the bus.
    pub fn occupancy(&self, transaction: Transaction) -> u64 {
        let cycles = match transaction {
            Transaction::Read => self.occupancy.read,
            Transaction::Invalidate => self.occupancy.invalidate,
            Transaction::WriteBack => self.occupancy.write_back,
            Transaction::UncachedLoad => self.occupancy.uncached_load,
            Transaction::UncachedStore => self.occupancy.uncached_store,
            Transaction::Abort => self.occupancy.abort,
        };
        self.cycles(cycles)
    }

    /// Cycles of the processor in so many of the bus, rounded down.
    pub fn cycles(&self, bus_cycles: u64) -> u64 {
        self.ratio.of(bus_cycles)
    }

    /// Cycles from a request to its grant when the bus is idle.
    pub fn arbitration(&self) -> u64 {
        self.cycles(self.arbitration)
    }
}

/// The memory of a node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryModel {
    /// Bus cycles from the grant of a read to its critical word, whoever supplies it.
    pub critical_word: u64,
    /// Bytes of a page: the unit of placement. A power of two.
    pub page: u64,
    /// So many pages of other homes a node has memory for, at least 1; without it, for all (Reinhardt, Pfile and Wood 1998: the study
    /// does not limit them).
    pub frames: Option<u64>,
}

/// Where accesses are checked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessControl {
    /// Bytes of a hardware block, for which block prices are meant. A power of two.
    pub granule: u64,
    /// On the bus, at cache misses, if it is not said: a library checks each access to shared memory.
    pub software: Option<SoftwareChecks>,
}

/// What a library does that checks each access to shared memory: the processor's cycles, whatever its cache holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoftwareChecks {
    /// An access that the block's state allows, where `hit` says nothing of the state; and one that it does not, where `miss` says
    /// nothing of the protocol.
    pub other: AccessPrice,
    /// So many blocks each node's directory has memory for, if that is limited: one more ends the run.
    pub entries: Option<u64>,
    /// What the library does itself for an access that the state does not allow, by protocol: what handlers do comes on top.
    #[serde(default)]
    pub miss: BTreeMap<String, AccessPrice>,
    /// An access that the block's state allows, by protocol, role and state.
    #[serde(default)]
    pub hit: BTreeMap<String, BTreeMap<String, BTreeMap<String, AccessPrice>>>,
    /// Calls about blocks that are accesses, too, by protocol and call: they are checked and counted as such.
    #[serde(default)]
    pub call: BTreeMap<String, BTreeMap<String, CallKind>>,
}

/// What a call is that accesses a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A load.
    Read,
    /// A store.
    Write,
}

/// Cycles of an access to shared memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessPrice {
    /// A load.
    pub read: u64,
    /// A store.
    pub write: u64,
}

/// Where protocol code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineKind {
    /// Hard-wired: takes an event every `interval` cycles, whatever its handler's data still take.
    Ideal,
    /// A processor of its own: busy until its handler has ended.
    Processor,
    /// The compute processor itself: handlers run while its program waits, and at its poll points.
    Compute,
    /// The compute processor itself, but only within the calls of a library: an access to shared memory, where a library checks
    /// these, a call of the protocol, a barrier, or a wait.
    Library,
    /// A controller in stages (inbox, protocol processor, outbox), in which data move beside the handler: `[pipeline]`.
    Pipeline,
    /// Several: one for the messages of each lane, and one for all other events. Each is busy until its handler has ended: `[slots]`.
    Slots,
}

/// An engine in stages (Heinlein 1998, 2.3 and 5.4.1). All times are cycles of the bus, whose clock is the engine's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineModel {
    /// Choosing an event and its handler; memory that is read before the handler begins is asked for at its end.
    pub inbox: u64,
    /// Passing on what a handler sends.
    pub outbox: u64,
    /// From the first word of a line in memory ([`MemoryModel::critical_word`]) to its last.
    pub memory_rest: u64,
    /// Least time between two lines of memory, at least 1.
    pub memory_interval: u64,
    /// From an intervention in the processor's cache to its answer in which state the line is.
    pub state_reply: u64,
    /// From that to the first word of the line.
    pub data_reply: u64,
    /// From that to its last, when the next intervention can begin.
    pub data_rest: u64,
    /// Interventions that may be outstanding, 1 to 64.
    pub interventions: u64,
    /// Data buffers of a line each, 1 to 1024.
    pub buffers: u64,
    /// Handlers among which the jump table chooses for a kind of event, 1 to 64. A role that has more clauses for it in some state is
    /// dispatched by software.
    pub candidates: u64,
    /// What that takes.
    pub software_dispatch: u64,
    /// The beat of the idle handler, at least 1: timers run out at a multiple of it, and go before all other events. Without it they run out at their own
    /// times, and are events as others.
    pub idle_period: Option<u64>,
    /// Events for which memory is read before the handler begins, at the block's home: `read`, `write`, and messages by name.
    #[serde(default)]
    pub speculates: Vec<String>,
    /// The data cache of the protocol processor, for records; without it, they are always there.
    pub data_cache: Option<DataCacheModel>,
}

/// The data cache of a protocol processor: direct-mapped.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataCacheModel {
    /// Bytes, a power of two.
    pub bytes: u64,
    /// Bytes of a line, a power of two.
    pub line: u64,
    /// Bytes of a record, a power of two up to a line.
    pub record: u64,
}

/// The protocol engine of a node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineModel {
    /// What it is.
    pub kind: EngineKind,
    /// Least cycles between the starts of two handlers.
    pub interval: u64,
    /// By how much its own cycles, as opposed to bus time, are longer than the price list says.
    pub slowdown: Ratio,
    /// Where handlers run on the compute processor: cycles to save the registers of a program that was running, before
    /// each handler.
    #[serde(default)]
    pub save: u64,
    /// The same to restore them, after it.
    #[serde(default)]
    pub restore: u64,
}

/// The network interface of a node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceModel {
    /// Cycles for each 8-byte word that goes through a queue.
    pub cycles_per_word: u64,
    /// Cycles for which a message keeps the sender's interface busy at least, inside the network's latency.
    #[serde(default)]
    pub send_occupancy: u64,
    /// The same at the receiver's interface.
    #[serde(default)]
    pub receive_occupancy: u64,
    /// Whether a message leaves as soon as its port is free, with its head, and keeps the port for its length; if not, it leaves when all
    /// of it has gone through the queue.
    #[serde(default)]
    pub cut_through: bool,
    /// So many words of a message's arguments ride in its header: they add nothing to its length; 0 to 16.
    #[serde(default)]
    pub header_words: u64,
    /// With `cut_through`: cycles of a message's length that are neither its words nor its data.
    #[serde(default)]
    pub message: u64,
    /// With `cut_through`: cycles from the engine to the port.
    #[serde(default)]
    pub send_latency: u64,
    /// With `cut_through`: cycles from the port to where the engine finds a message.
    #[serde(default)]
    pub receive_latency: u64,
    /// Messages that may be outstanding to each other node; more wait in the sender's memory.
    pub credits: u32,
    /// So many 8-byte words of a message's data are in a packet at most, 1 to 2^20; without it, a message is one packet. Each packet
    /// pays for a header and a dispatch.
    pub packet_words: Option<u64>,
}

impl InterfaceModel {
    /// In how many packets a message with so many bytes of data goes, at least 1.
    pub fn packets(&self, bytes: u64) -> u64 {
        self.packet_words.map_or(1, |words| bytes.div_ceil(8 * words).max(1))
    }
}

/// The machine's own barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarrierModel {
    /// Cycles from the last arrival to the release, of each round if there are rounds; the network's latency if not
    /// said.
    pub latency: Option<u64>,
    /// Whether it is one of software, which takes as many rounds of messages as N has binary digits (dissemination).
    #[serde(default)]
    pub software: bool,
}

/// So many cycles for so many bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataRate {
    cycles: u64,
    bytes: u64,
}

impl DataRate {
    /// Cycles of so many bytes, rounded up.
    pub fn cycles_of(self, bytes: u64) -> u64 {
        let cycles = (u128::from(bytes) * u128::from(self.cycles)).div_ceil(self.bytes.into());
        u64::try_from(cycles).unwrap_or(u64::MAX >> 1)
    }
}

impl Machine {
    /// A program whose operators have the weights that its processor gives them, and whose accesses are translated by its TLB: so it
    /// must be compiled, and asked for its [`DebugInfo`](trivium_guest::DebugInfo).
    pub fn weigh(&self, program: &Program) -> Program {
        program.clone().weighing(self.processor.weighing().weights).translating(self.tlb_shape())
    }

    /// The fastest build of a program that may run here, and that sees when each miss of the TLB is, if that is `traced`: compiled
    /// code only counts them.
    pub fn build(&self, program: &Program, traced: bool) -> Build {
        let counts_misses = self.tlb.is_some() && (traced || self.work_of_translation() > TlbShape::MOST_WORK);
        if counts_misses { Build::Reference } else { program.build(self.nearest_line()) }
    }

    /// Bytes of a line of the cache, or of its first level: of what compiled code looks at.
    pub(crate) fn nearest_line(&self) -> u64 {
        self.cache.first.as_ref().map_or(self.cache.line, |first| first.line)
    }

    /// The least work of its processor that takes as long as a miss of its TLB.
    fn work_of_translation(&self) -> u64 {
        let miss = self.tlb.as_ref().map_or(0, |tlb| tlb.miss);
        self.processor.weighing().cycles.count_for(miss)
    }

    /// Its TLB, as programs are compiled for it.
    pub(crate) fn tlb_shape(&self) -> Option<TlbShape> {
        let work = self.work_of_translation().min(TlbShape::MOST_WORK);
        let shape = TlbShape::new(self.tlb.as_ref()?.entries, self.tlb_page(), work);
        Some(shape.expect("a machine's TLB is looked at when it is loaded"))
    }

    /// Cycles of the hardware barrier, or of one round of the software barrier: a message is sent, travels, is
    /// dispatched and read.
    fn barrier_round(&self) -> u64 {
        if !self.barrier.software {
            return self.barrier.latency.unwrap_or(self.network.latency);
        }
        let prices = &self.prices;
        let handling = [&prices.send.header, &prices.dispatch.message, &prices.message.header];
        let handling: u64 = handling.iter().map(|price| price.cycles).sum();
        self.barrier.latency.unwrap_or(self.network.latency).saturating_add(handling)
    }

    /// How fast data leave a node, where that is modelled.
    pub(crate) fn data_rate(&self) -> Option<DataRate> {
        let cycles = self.processor.mhz * 1_000_000;
        self.network.bytes_per_second.map(|bytes| DataRate { cycles, bytes })
    }

    /// Cycles from the last arrival at the machine's barrier to the release of `nodes` nodes.
    pub fn barrier_latency(&self, nodes: u32) -> u64 {
        let rounds = if self.barrier.software { u64::from(nodes.max(2).next_power_of_two().ilog2()) } else { 1 };
        rounds * self.barrier_round()
    }

    /// The least time in which one node can affect another, in cycles.
    pub fn lookahead(&self) -> u64 {
        self.network.latency.min(self.barrier_round())
    }

    /// Cycles of the processor in one of the engine's, if that has a clock of its own.
    pub fn engine_clock(&self) -> Option<u64> {
        self.pipeline.is_some().then(|| self.bus.cycles(1))
    }

    /// In how many packets a message with so many bytes of data goes, at least 1.
    pub fn packets(&self, bytes: u64) -> u64 {
        self.interface.packets(bytes)
    }

    /// Granules of a block, at least 1.
    pub fn granules(&self, block: u64) -> u64 {
        let granule = self.access_control.granule;
        let whole = block >> granule.trailing_zeros();
        (whole + u64::from(block & (granule - 1) != 0)).max(1)
    }

    /// What the types alone cannot say.
    pub(crate) fn validate(&self) -> Result<(), Diagnostic> {
        power("cache.bytes", self.cache.bytes, 64, 1 << 30)?;
        power("cache.line", self.cache.line, 8, 2048.min(self.cache.bytes))?;
        power("memory.page", self.memory.page, 2048, 1 << 20)?;
        power("access_control.granule", self.access_control.granule, self.cache.line, 2048)?;
        power("cache.associativity", self.cache.associativity, 1, 16.min(self.cache.bytes / self.cache.line))?;
        if let Some(first) = &self.cache.first {
            power("cache.first.bytes", first.bytes, 64, self.cache.bytes)?;
            power("cache.first.line", first.line, 8, self.cache.line.min(first.bytes))?;
            power("cache.first.associativity", first.associativity, 1, 16.min(first.bytes / first.line))?;
            within("cache.first.miss", first.miss, 0, 1 << 20)?;
        }
        self.validate_tlb()?;
        self.validate_rtlb()?;
        within("processor.outstanding", self.processor.outstanding.unwrap_or(1), 1, 1 << 16)?;
        within("processor.mhz", self.processor.mhz, 1, 1_000_000)?;
        self.processor.operators.weighing(self.processor.cpi).map_err(|wrong| {
            Diagnostic::new(Code::Machine, format!("`{}` cannot be what it is: {}", wrong.key, wrong.why))
        })?;
        within("bus.ratio", self.bus.ratio.of(1), 1, 1000)?;
        within("interface.credits", u64::from(self.interface.credits), 1, 1_000_000)?;
        within("interface.packet_words", self.interface.packet_words.unwrap_or(1), 1, 1 << 20)?;
        self.network.validate()?;
        let entries = self.access_control.software.as_ref().and_then(|checks| checks.entries).unwrap_or(1);
        within("access_control.software.entries", entries, 1, 1 << 32)?;
        within("memory.frames", self.memory.frames.unwrap_or(1), 1, 1 << 32)?;
        within("memory.critical_word", self.memory.critical_word, 0, 1 << 24)?;
        within("barrier.latency", self.barrier_round(), 0, 1 << 32)?;
        self.validate_pipeline()?;
        self.validate_slots()?;
        self.validate_gtlb()?;
        handlers::all(&self.handlers).try_for_each(|(key, price)| price.validate(key))?;
        within("engine.save", self.engine.save, 0, 1 << 20)?;
        within("engine.restore", self.engine.restore, 0, 1 << 20)?;
        for (key, value) in [("engine.save", self.engine.save), ("engine.restore", self.engine.restore)] {
            if value > 0 && !matches!(self.engine.kind, EngineKind::Compute) {
                let what = format!(
                    "`{key}` is {value}, but no program is left for a handler: `engine.kind` is not \"compute\""
                );
                return Err(Diagnostic::new(Code::Machine, what));
            }
        }
        let (library, software) = (self.engine.kind == EngineKind::Library, self.access_control.software.is_some());
        if library != software {
            let what = match library {
                true => {
                    "`engine.kind` is \"library\", but `access_control.software` does not say what the library's checks cost"
                }
                false => {
                    "`access_control.software` is checked in a library's calls, but `engine.kind` is not \"library\""
                }
            };
            return Err(Diagnostic::new(Code::Machine, what));
        }
        within("engine.interval", self.engine.interval, 0, 1 << 20)
    }

    /// How many engines take messages, where a node has several; 0 where it has one for all.
    pub(crate) fn lane_engines(&self) -> usize {
        self.slots.as_ref().map_or(0, |slots| index(slots.lanes))
    }

    /// Several engines, and the stages of messages.
    fn validate_slots(&self) -> Result<(), Diagnostic> {
        let is_meant = self.engine.kind == EngineKind::Slots;
        let Some(model) = &self.slots else {
            return match is_meant {
                true => Err(Diagnostic::new(
                    Code::Machine,
                    "`engine.kind` is \"slots\", and the machine has no table `slots` that says how many",
                )),
                false => Ok(()),
            };
        };
        if !is_meant {
            let what = "`engine.kind` is not \"slots\", so that the table `slots` would mean nothing";
            return Err(Diagnostic::new(Code::Machine, what));
        }
        within("slots.lanes", model.lanes, 1, 8)?;
        if !self.interface.cut_through {
            let what =
                "`interface.cut_through` is false, and messages of a machine with `slots` leave with their heads";
            return Err(Diagnostic::new(Code::Machine, what));
        }
        for (name, stage) in model.stages() {
            if stage.streams && !["inject", "extract"].contains(&name) {
                return Err(Diagnostic::new(
                    Code::Machine,
                    format!("`slots.{name}.streams` is true, and no words go through `{name}`"),
                ));
            }
            if name != "inject" && (stage.keeps || stage.hold.is_some()) {
                let key = if stage.keeps { "keeps" } else { "hold" };
                let what = format!("`slots.{name}.{key}` is set, and nothing is put together at `{name}`");
                return Err(Diagnostic::new(Code::Machine, what));
            }
            let hold = stage.hold.as_ref().unwrap_or(&stage.latency);
            for (kind, linear) in [("latency", &stage.latency), ("occupancy", &stage.occupancy), ("hold", hold)] {
                within(&format!("slots.{name}.{kind}.fixed"), linear.fixed.of(1), 0, 1 << 20)?;
                within(&format!("slots.{name}.{kind}.word"), linear.word.of(1), 0, 1 << 20)?;
            }
        }
        let Some(queues) = &model.queues else { return Ok(()) };
        within("slots.queues.out", queues.out, 1, 1 << 20)?;
        within("slots.queues.admit", queues.admit, 1, queues.out)?;
        within("slots.queues.in", queues.incoming, 1, 1 << 20)?;
        within("slots.queues.messages", queues.messages, 1, 1 << 20)?;
        within("slots.queues.header", queues.header, 0, 64)
    }

    /// When the place of a message in its outgoing queue is free, which was handed over to the port at cycle `handed` and passes it in these cycles: when it has,
    /// or, where the words of the queue are limited, when so few are left that the next one is let in.
    pub(crate) fn place_free(&self, passes: std::ops::Range<u64>, handed: u64) -> u64 {
        let Some(queues) = self.queues() else { return passes.end };
        let rest = (queues.out - queues.admit) * self.interface.cycles_per_word;
        if handed < passes.start || passes.end - passes.start > rest {
            return passes.end.saturating_sub(rest);
        }
        // Nothing is before it, and all of it is no more than may be left.
        handed.saturating_sub(self.interface.send_latency)
    }

    /// The words of its queues to and from the network, where they are limited.
    pub(crate) fn queues(&self) -> Option<QueuesModel> {
        self.slots.as_ref().and_then(|slots| slots.queues)
    }

    /// The table in which messages find their nodes.
    fn validate_gtlb(&self) -> Result<(), Diagnostic> {
        let Some(model) = &self.gtlb else { return Ok(()) };
        if self.slots.is_none() {
            let what = "`engine.kind` is not \"slots\", so that the table `gtlb` would mean nothing";
            return Err(Diagnostic::new(Code::Machine, what));
        }
        within("gtlb.entries", model.entries, 1, 1024)?;
        power("gtlb.objects", model.objects, 1, 1 << 31)?;
        within("gtlb.lookup", model.lookup, 0, 1 << 20)?;
        within("gtlb.miss.fixed", model.miss.fixed.of(1), 0, 1 << 20)?;
        within("gtlb.miss.word", model.miss.word.of(1), 0, 1 << 20)
    }

    /// The stages of an engine, and the ports that go with them.
    fn validate_pipeline(&self) -> Result<(), Diagnostic> {
        let interface = &self.interface;
        for (key, value) in [
            ("interface.message", interface.message),
            ("interface.send_latency", interface.send_latency),
            ("interface.receive_latency", interface.receive_latency),
        ] {
            within(key, value, 0, if interface.cut_through { 1 << 24 } else { 0 })?;
        }
        within("interface.header_words", interface.header_words, 0, 16)?;
        let Some(model) = &self.pipeline else {
            if self.engine.kind == EngineKind::Pipeline {
                let what = "`engine.kind` is \"pipeline\", and the machine has no table `pipeline` that says what its stages take";
                return Err(Diagnostic::new(Code::Machine, what));
            }
            return Ok(());
        };
        if self.engine.kind != EngineKind::Pipeline {
            let what = "`engine.kind` is not \"pipeline\", so that the table `pipeline` would mean nothing";
            return Err(Diagnostic::new(Code::Machine, what));
        }
        for (key, cycles) in [
            ("pipeline.inbox", model.inbox),
            ("pipeline.outbox", model.outbox),
            ("pipeline.memory_rest", model.memory_rest),
            ("pipeline.state_reply", model.state_reply),
            ("pipeline.data_reply", model.data_reply),
            ("pipeline.data_rest", model.data_rest),
            ("pipeline.software_dispatch", model.software_dispatch),
        ] {
            within(key, cycles, 0, 1 << 20)?;
        }
        within("pipeline.memory_interval", model.memory_interval, 1, 1 << 20)?;
        within("pipeline.idle_period", model.idle_period.unwrap_or(1), 1, 1 << 20)?;
        within("pipeline.interventions", model.interventions, 1, 64)?;
        within("pipeline.buffers", model.buffers, 1, 1024)?;
        within("pipeline.candidates", model.candidates, 1, 64)?;
        if let Some(cache) = &model.data_cache {
            power("pipeline.data_cache.bytes", cache.bytes, 64, 1 << 30)?;
            power("pipeline.data_cache.line", cache.line, 8, 4096.min(cache.bytes))?;
            power("pipeline.data_cache.record", cache.record, 1, cache.line)?;
        }
        Ok(())
    }
}

/// A key's value is a power of two in a range.
fn power(key: &str, value: u64, least: u64, most: u64) -> Result<(), Diagnostic> {
    if value.is_power_of_two() && (least..=most).contains(&value) {
        return Ok(());
    }
    let what = format!("`{key}` is {value}, which is not a power of two from {least} to {most}");
    Err(Diagnostic::new(Code::Machine, what))
}

/// A key's value is in a range.
fn within(key: &str, value: u64, least: u64, most: u64) -> Result<(), Diagnostic> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Diagnostic::new(Code::Machine, format!("`{key}` is {value}, which is not from {least} to {most}")))
}
