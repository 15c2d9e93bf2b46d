//! `trivium check`, and the system that it explores.

use super::Common;
use super::environment::{Homes, Objects};
use super::parameters::OtherValues;
use super::values::*;
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use trivium_check::Method;

/// The order of messages in the explored network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Network {
    /// Every lane keeps order.
    Fifo,
    /// No lane does.
    Unordered,
}

/// `--fairness`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Fairness {
    /// What can happen again and again in the same state happens there again and again
    #[default]
    Strong,
    /// What can happen in every state, from some state on, happens: retries that rob each other for ever are found
    Weak,
}

/// The system in which a protocol is explored.
#[derive(Debug, Args)]
pub struct System {
    /// Number of nodes, with and without threads (default: as the file declares, else 3)
    #[arg(long, short, allow_negative_numbers = true, value_parser = checked_nodes)]
    pub nodes: Option<u32>,
    /// Number of nodes that have threads (default: as the file declares, else all)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub clients: Option<u32>,
    /// Objects of each kind, `2`; of some kinds, `block=4,job=1`; or both, `2,job=1` (default: as the file declares, else 1)
    #[arg(long, allow_negative_numbers = true)]
    pub objects: Option<Objects>,
    /// Homes of objects 0, 1 and so on of a kind, then from the first again: `block=1/0,job=2` (default: object i at node i mod N)
    #[arg(long)]
    pub homes: Option<Homes>,
    /// Number of different values that threads store (default: as the file declares, else 2)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub values: Option<u32>,
    /// Accesses and calls of each thread, or `none` for any number (default: as the file declares, else any number)
    #[arg(long, allow_negative_numbers = true, value_parser = operations)]
    pub ops: Option<Ops>,
    /// Threads of each acting node (default: as the file declares, else 1)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub threads_per_node: Option<u32>,
    /// Order of messages (default: as the file declares, else as each lane does)
    #[arg(long, value_enum)]
    pub network: Option<Network>,
    /// Capacity, in messages, of each lane (virtual channel) that has one (default: as the file declares)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u32>)]
    pub lane_capacity: Option<u32>,
    /// Explore only this scenario of the file, in place of the most general client
    #[arg(long)]
    pub scenario: Option<String>,
    /// Keep the values of dead variables. There are more states, and the verdict does not depend on the analysis that finds
    /// dead variables
    #[arg(long)]
    pub no_clearing: bool,
    /// Choose the value of a store when the store begins, and not when it is performed. There are more states, and the verdict
    /// does not depend on the assumption that nobody sees the value earlier
    #[arg(long)]
    pub no_late_values: bool,
    /// Keep the contents of copies of blocks that are overwritten before they are read. There are more states, and the verdict
    /// does not depend on the analysis that finds such copies
    #[arg(long)]
    pub no_dead_copies: bool,
    /// Make calls with all values of arguments at which nothing looks. There are more states, and the verdict does not depend on the
    /// analysis that finds such arguments
    #[arg(long)]
    pub no_idle_words: bool,
}

/// `trivium check`
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("saves").args(["checkpoint", "resume"]).multiple(true)))]
pub struct Check {
    /// A name or a .tri file
    pub protocol: String,
    /// What is explored
    #[command(flatten)]
    pub system: System,
    /// Explore nothing: propose, as text for the file, a ghost and invariants that say what copies of blocks contain
    #[arg(long)]
    pub suggest: bool,
    /// Do not run the scenarios of the file after the most general client
    #[arg(long)]
    pub no_scenarios: bool,
    /// What parameters are
    #[command(flatten)]
    pub other_values: OtherValues,
    /// Do not use symmetry: count states that differ only in the names of nodes, objects or values as different states
    #[arg(long)]
    pub no_symmetry: bool,
    /// Do not use symmetry of homes: count states that differ only in the names of objects and of their homes as different states
    #[arg(long)]
    pub no_home_symmetry: bool,
    /// Do not use symmetry of values: count states that differ only in the names of the values that are stored as different states
    #[arg(long)]
    pub no_value_symmetry: bool,
    /// Take the nodes of a set in ascending order alone, as sim and run do, and not in every order that can be told apart: the
    /// verdict is about this order, and where the order can be seen there is no symmetry
    #[arg(long)]
    pub ascending: bool,
    /// What is assumed of events that must happen, where starvation is looked for. `weak` is without symmetry, and takes 8 bytes for each
    /// transition
    #[arg(long, value_enum, default_value_t)]
    pub fairness: Fairness,
    /// Do not look for starvation and livelock. This saves about 4 bytes for each transition, and the verdict says so
    #[arg(long)]
    pub no_liveness: bool,
    /// Explore by brute force: the reference for the fast search
    #[arg(long, hide = true)]
    pub brute: bool,
    /// Stop (exit code 3) after this many states (default: no limit)
    #[arg(long, allow_negative_numbers = true, value_parser = at_least_one::<u64>)]
    pub max_states: Option<u64>,
    /// Stop (exit code 3) when states take this many bytes, for example 512M or 4G (default: half of the host's available
    /// memory)
    #[arg(long, allow_negative_numbers = true, value_parser = bytes)]
    pub memory: Option<u64>,
    /// Stop (exit code 3) at this depth: states that many events away from the first are not expanded (default: no limit)
    #[arg(long, value_name = "D", value_parser = at_least_one::<u32>, conflicts_with_all = ["brute", "random_walks"])]
    pub max_depth: Option<u32>,
    /// Take this many random walks from the first state in place of a search. The verdict is `incomplete` unless a violation is
    /// found. --seed chooses the walks
    #[arg(long, value_name = "N", value_parser = at_least_one::<u64>,
        conflicts_with_all = ["brute", "hash_compact", "bitstate", "disk", "checkpoint", "resume", "max_states"])]
    pub random_walks: Option<u64>,
    /// Most events of a random walk
    #[arg(long, value_name = "D", default_value = "100", value_parser = at_least_one::<u32>, requires = "random_walks")]
    pub depth: u32,
    /// Hash compaction: keep this many bits of each state in place of the state (default: 64). It takes less memory. The verdict is
    /// `incomplete` unless a violation is found, and tells the probability that states were missed. --seed chooses the hash function
    #[arg(long, value_name = "BITS", num_args = 0..=1, default_missing_value = "64", require_equals = true, value_parser = name_bits,
        conflicts_with_all = ["brute", "bitstate", "checkpoint", "resume"])]
    pub hash_compact: Option<u32>,
    /// Bitstate hashing in a table of this many bytes, for example 512M. It takes the least memory; the verdict is as with
    /// --hash-compact
    #[arg(long, value_name = "SIZE", value_parser = bytes, conflicts_with_all = ["brute", "checkpoint", "resume"])]
    pub bitstate: Option<u64>,
    /// Bits that --bitstate sets for each state
    #[arg(long, value_name = "K", default_value = "3", value_parser = bits_of_state, requires = "bitstate")]
    pub hashes: u32,
    /// Keep whole states in files of this folder. The search is exact and needs no more memory than --memory says. It does not
    /// look for starvation
    #[arg(long, value_name = "DIR", conflicts_with_all = ["brute", "hash_compact", "bitstate", "checkpoint", "resume"])]
    pub disk: Option<PathBuf>,
    /// Save the search into this file when a limit, Ctrl-C or SIGTERM ends it. --resume continues it. Scenarios are not saved
    #[arg(long, value_name = "FILE", conflicts_with = "brute")]
    pub checkpoint: Option<PathBuf>,
    /// Time between two checkpoints: 90s, 30m, 2h
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = time, requires = "saves")]
    pub checkpoint_every: Duration,
    /// Continue the search that is saved in this file. Options must be the same; limits, --jobs and --format may differ. The
    /// search is saved there again unless --checkpoint names another file
    #[arg(long, value_name = "FILE", conflicts_with = "brute")]
    pub resume: Option<PathBuf>,
    /// Draw the counterexample, if there is one, as a message sequence chart (SVG) into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the counterexample, if there is one, as an HTML page to step through
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// What is set otherwise, and the result
    #[command(flatten)]
    pub common: Common,
}

impl Check {
    /// How states are known again.
    pub fn method(&self) -> Method<'_> {
        if let Some(count) = self.random_walks {
            return Method::Walks { count, depth: self.depth };
        }
        match (self.hash_compact, self.bitstate, &self.disk) {
            (Some(bits), _, _) => Method::Compact { bits },
            (None, Some(bytes), _) => Method::Bits { bytes, hashes: self.hashes },
            (None, None, Some(folder)) => Method::Disk { folder },
            (None, None, None) => Method::Exact,
        }
    }

    /// The file into which the search is saved.
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        self.checkpoint.as_ref().or(self.resume.as_ref())
    }
}
