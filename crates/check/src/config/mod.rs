//! How large a system to explore, and when to stop.

pub mod group;

use crate::config::group::Group;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trivium_diagnostic::{Code, Diagnostic};
use trivium_protocol::{Protocol, Scenario};

/// The order of messages in the explored network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Each lane as the protocol declares it.
    #[default]
    Declared,
    /// Every lane keeps the order between two nodes.
    Fifo,
    /// No lane keeps any order.
    Unordered,
}

/// How states are explored. Both visit the same states and say the same; one is simple, the other fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Packed states, several host threads, symmetry, liveness.
    #[default]
    Fast,
    /// One state after the other, nothing clever: the reference.
    Brute,
}

/// What is assumed of events that must happen (`docs/semantics.md`, section 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fairness {
    /// One that can happen again and again in the same state happens there again and again.
    #[default]
    Strong,
    /// One that can happen in every state, from some state on, happens.
    Weak,
}

/// How the states that were found are known again. All but the first keep whole only those that wait to be expanded, do not
/// look for starvation, and take no checkpoints. Where states may have been left out it is never said that a protocol holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method<'a> {
    /// Every state is kept whole.
    #[default]
    Exact,
    /// Hash compaction: of each state so many bits are kept, 16 to 64.
    Compact {
        /// Bits of a state.
        bits: u32,
    },
    /// Bitstate hashing: of each state some bits of a field of bits are set.
    Bits {
        /// What the field takes.
        bytes: u64,
        /// Bits of a state, 1 or more.
        hashes: u32,
    },
    /// Random walks in place of a search; [`Config::seed`] chooses them.
    Walks {
        /// How many.
        count: u64,
        /// Most events of each.
        depth: u32,
    },
    /// Every state is kept whole on disk; [`Config::memory`] is what is used of memory.
    Disk {
        /// The folder for its files, which have no names there.
        folder: &'a Path,
    },
}

/// How far an exploration is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Distinct states found.
    pub states: u64,
    /// Transitions executed.
    pub transitions: u64,
    /// Events from the first state to those that are being expanded.
    pub depth: u32,
    /// States found and not yet expanded.
    pub waiting: u64,
    /// Bytes of host memory that they take.
    pub memory: u64,
    /// Host time since the start.
    pub seconds: f64,
    /// About how many states there are in all, if the depths so far tell.
    pub whole: Option<u64>,
}

/// Most nodes of a system: in a state a node's number is a byte. There is no search of so many.
pub const MAX_NODES: u32 = 256;

/// The system that is explored. `System::default()` is three nodes, one object of each kind, two values.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// All nodes, 1 to [`MAX_NODES`], whether they act or only serve.
    pub nodes: u32,
    /// How many nodes have threads that act: nodes 0 to this number, less one. `None`: all.
    pub clients: Option<u32>,
    /// Objects of each kind that the protocol uses, but for those of [`System::kinds`].
    pub objects: u32,
    /// How many objects there are of some kinds, by name: 1 or more.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, u32>,
    /// For some kinds, by name, the homes of objects 0, 1 and so on; behind the last it begins anew. The others' object i
    /// lives at node i mod `nodes`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub homes: BTreeMap<String, Vec<u32>>,
    /// Whether these are so in scenarios, too, that have homes of their own: somebody has asked for them.
    #[serde(skip)]
    pub homes_everywhere: bool,
    /// Values that the client stores, and passes as words: 0 to this number, less one. Two show every stale copy.
    pub values: u32,
    /// Accesses and calls that each thread makes at most. `None`: no limit.
    pub ops: Option<u32>,
    /// Threads of each acting node.
    pub threads_per_node: u32,
    /// Order of messages.
    pub network: Network,
    /// Replaces the capacity of every finite lane.
    pub lane_capacity: Option<u32>,
    /// Run this scenario of the file in place of the most general client.
    pub scenario: Option<String>,
    /// Words of 8 bytes that each node has beyond its blocks, for protocols that address memory; the others
    /// have none. `None`: enough for each call of each thread to write one.
    pub memory_words: Option<u32>,
    /// Whether variables that nobody can read again are cleared. Without it states differ in leftovers too, and the
    /// verdict owes nothing to the analysis that says which variables these are: the oracle of that analysis.
    #[serde(default = "yes")]
    pub clearing: bool,
    /// Whether what a waiting thread will store is left open until its store is performed, where the protocol cannot see
    /// it before. Without it states differ in what nobody has seen yet.
    #[serde(default = "yes")]
    pub late_values: bool,
    /// Whether a node's copy of a block that is overwritten before anybody reads it is forgotten. Without it states
    /// differ in contents that nobody will see.
    #[serde(default = "yes")]
    pub dead_copies: bool,
    /// Whether the most general client passes one value where nothing looks at the argument of a call. Without it calls differ in
    /// what nobody will see.
    #[serde(default = "yes")]
    pub idle_words: bool,
    /// Whether handlers take the nodes of a set in every order that can be told apart, and `pick` takes every node. Without it the order
    /// is ascending, as in `sim` and `run`: fewer orders, and no symmetry where one can be seen.
    #[serde(default = "yes")]
    pub every_order: bool,
}

/// What a system says that was written down before it could be said.
fn yes() -> bool {
    true
}

impl Default for System {
    fn default() -> Self {
        System {
            nodes: 3,
            clients: None,
            objects: 1,
            kinds: BTreeMap::new(),
            homes: BTreeMap::new(),
            homes_everywhere: false,
            values: 2,
            ops: None,
            threads_per_node: 1,
            network: Network::Declared,
            lane_capacity: None,
            scenario: None,
            memory_words: None,
            clearing: true,
            late_values: true,
            dead_copies: true,
            idle_words: true,
            every_order: true,
        }
    }
}

impl System {
    /// The same system with nothing left out of its states: no list of what an analysis found dead is used, no store is left open,
    /// and calls are made with all values. What brute force explores.
    pub fn unreduced(&self) -> System {
        System { clearing: false, late_values: false, dead_copies: false, idle_words: false, ..self.clone() }
    }

    /// The same system for a scenario of the file, with the homes that it has: those that somebody has asked for, else its own,
    /// else those of the file.
    pub fn of_scenario(&self, scenario: &Scenario) -> System {
        let keeps = self.homes_everywhere || scenario.homes.is_empty();
        System {
            scenario: Some(scenario.name.clone()),
            homes: if keeps { self.homes.clone() } else { scenario.homes.clone() },
            ..self.clone()
        }
    }

    /// The system in which a protocol is checked if nobody says otherwise: with the sizes that its file declares, and
    /// the usual ones where it declares none.
    pub fn declared(protocol: &Protocol) -> System {
        let (sizes, usual) = (&protocol.sizes, System::default());
        System {
            nodes: sizes.nodes.unwrap_or(usual.nodes),
            clients: sizes.clients,
            objects: sizes.objects.unwrap_or(usual.objects),
            kinds: sizes.kinds.clone(),
            homes: sizes.homes.clone(),
            values: sizes.values.unwrap_or(usual.values),
            ops: sizes.ops,
            threads_per_node: sizes.threads.unwrap_or(usual.threads_per_node),
            network: match sizes.fifo {
                None => Network::Declared,
                Some(true) => Network::Fifo,
                Some(false) => Network::Unordered,
            },
            lane_capacity: sizes.lanes,
            ..usual
        }
    }
}

/// What to explore, how, and when to stop. `Config::default()` is the default system on one host thread, without limits.
#[derive(Clone)]
pub struct Config<'a> {
    /// What to explore.
    pub system: System,
    /// How to explore.
    pub search: Search,
    /// How the states that were found are known again. Not for [`Search::Brute`].
    pub method: Method<'a>,
    /// Chooses the hash function of a method that has one.
    pub seed: u64,
    /// Whether states that differ only in names are one state, where that is sound: names of nodes, of objects, and of values. Not for
    /// [`Search::Brute`].
    pub symmetry: bool,
    /// Whether this is so of objects and of their homes too.
    pub home_symmetry: bool,
    /// Whether this is so of values too.
    pub value_symmetry: bool,
    /// Whether starvation and livelocks are looked for. Where the memory does not suffice the verdict is `incomplete`.
    pub liveness: bool,
    /// Under which fairness. With [`Fairness::Weak`] names are not exchanged; only for [`Method::Exact`], without checkpoints, in one process; not for
    /// [`Search::Brute`].
    pub fairness: Fairness,
    /// Host threads; the results are the same for any number of them. Not for [`Search::Brute`].
    pub jobs: u32,
    /// Stop with verdict `incomplete` when this many states have been found.
    pub max_states: Option<u64>,
    /// Stop with verdict `incomplete` before states are expanded that lie so many events deep. Not for [`Search::Brute`].
    pub max_depth: Option<u32>,
    /// Stop with verdict `incomplete` when the states take this many bytes; of a group, those of one member.
    pub memory: Option<u64>,
    /// Called now and then, from the thread that explores.
    pub progress: Option<&'a dyn Fn(&Progress)>,
    /// Stop with verdict `incomplete` soon after this has become true.
    pub cancel: Option<&'a AtomicBool>,
    /// Where the search is saved when a limit or the wish to stop ends it. Memory then ends it with all that it has, and
    /// not without what starvation is found by. Not for [`Search::Brute`].
    pub checkpoint: Option<Checkpoints<'a>>,
    /// A checkpoint from which the search goes on. Not for [`Search::Brute`].
    pub resume: Option<&'a Path>,
    /// The processes that search together, each with its own `Config` of the same content. All say the same in the end. Only for
    /// [`Method::Exact`], without checkpoints; not for [`Search::Brute`].
    pub group: Option<&'a dyn Group>,
    /// What checkpoints must agree in besides the options of this structure.
    pub origin: Origin<'a>,
}

/// Where and how often a search is saved.
#[derive(Clone, Copy)]
pub struct Checkpoints<'a> {
    /// What it is called in the report.
    pub name: &'a str,
    /// Save it also when so much time has passed since it was last saved.
    pub every: Option<Duration>,
    /// Puts what the function writes in the place of what was saved before, if all can be written; else says why not.
    pub save: &'a dyn Fn(WriteAll) -> Result<(), String>,
}

/// Writes the whole of something.
pub type WriteAll<'w> = &'w mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>;

/// What made a checkpoint, and of which text: one of another is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'a> {
    /// The version of the program.
    pub version: &'a str,
    /// A hash of the protocol's text and parameters.
    pub hash: &'a str,
}

impl Default for Config<'_> {
    fn default() -> Self {
        Config {
            system: System::default(),
            search: Search::default(),
            method: Method::default(),
            seed: 0,
            symmetry: true,
            home_symmetry: true,
            value_symmetry: true,
            liveness: true,
            fairness: Fairness::Strong,
            jobs: 1,
            max_states: None,
            max_depth: None,
            memory: None,
            progress: None,
            cancel: None,
            checkpoint: None,
            resume: None,
            group: None,
            origin: Origin::default(),
        }
    }
}

impl Config<'_> {
    /// Whether the user wishes it to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }

    /// Why a search ends that takes so many bytes, if it does.
    pub(crate) fn out_of_memory(&self, bytes: u64) -> Option<String> {
        let most = self.memory.filter(|&most| bytes >= most)?;
        Some(format!("the limit of {most} bytes of memory is reached"))
    }
}

impl From<System> for Config<'_> {
    fn from(system: System) -> Self {
        Config { system, ..Config::default() }
    }
}

impl fmt::Debug for Config<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("system", &self.system)
            .field("search", &self.search)
            .field("symmetry", &self.symmetry)
            .field("liveness", &self.liveness)
            .field("jobs", &self.jobs)
            .field("max_states", &self.max_states)
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

/// A protocol cannot be explored in this way: what is wrong, and what to do.
pub(crate) fn refused(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Code::Search, message).help(help)
}
