//! What is counted on a node. Each statistic has one name, one unit and one definition: those here.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trivium_protocol::{HandlerId, RoleId};

/// On what a processor's cycles go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// Loads that miss.
    Read,
    /// Stores and atomic operations that miss.
    Write,
    /// Accesses whose pages the TLB does not hold: the look-up of the page.
    Tlb,
    /// Barriers, waiting for a word to change, protocol calls.
    Sync,
}

/// A statistic of a `T`: its name in results, its unit, and what it is.
#[derive(Clone, Copy, Debug)]
pub struct Statistic<T> {
    /// Its key in a result.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    definition: &'static str,
    /// Its value.
    pub of: fn(&T) -> u64,
}

impl<T> Statistic<T> {
    /// A statistic.
    pub const fn new(name: &'static str, unit: &'static str, definition: &'static str, of: fn(&T) -> u64) -> Self {
        Statistic { name, unit, definition, of }
    }

    /// What it is, in a sentence.
    pub fn definition(&self) -> &'static str {
        self.definition.trim_start()
    }

    /// Its name as the head of a column.
    pub fn heading(&self) -> String {
        self.name.replace('_', " ")
    }
}

/// A handler: the number of its protocol, its role, its number there.
pub type HandlerKey = (usize, RoleId, HandlerId);

/// How often engines ran a handler, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupied {
    /// How often.
    pub times: u64,
    /// For how many cycles it kept the engines, all together.
    pub cycles: u64,
    /// The cycle of the run at which it last ended.
    pub last: u64,
}

impl Occupied {
    fn since(&self, earlier: &Occupied) -> Occupied {
        Occupied { times: self.times - earlier.times, cycles: self.cycles - earlier.cycles, last: self.last }
    }

    /// With another.
    pub fn add(&mut self, other: &Occupied) {
        self.times += other.times;
        self.cycles += other.cycles;
        self.last = self.last.max(other.last);
    }
}

/// For how many cycles messages used the units of a node that issue instructions, or kept them from others, by cause. Several units can be used at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageCycles {
    /// Calls of the program said what to send.
    pub format: u64,
    /// Messages were given away.
    pub inject: u64,
    /// It was found out where they go.
    pub translate: u64,
    /// Handlers were begun.
    pub dispatch: u64,
    /// They got the words of their messages.
    pub extract: u64,
}

impl MessageCycles {
    fn each(self, other: MessageCycles, of: impl Fn(u64, u64) -> u64) -> MessageCycles {
        MessageCycles {
            format: of(self.format, other.format),
            inject: of(self.inject, other.inject),
            translate: of(self.translate, other.translate),
            dispatch: of(self.dispatch, other.dispatch),
            extract: of(self.extract, other.extract),
        }
    }

    fn since(self, earlier: MessageCycles) -> MessageCycles {
        self.each(earlier, |now, before| now - before)
    }

    /// With another.
    pub fn plus(self, other: MessageCycles) -> MessageCycles {
        self.each(other, |one, other| one + other)
    }

    /// All causes together.
    pub fn sum(&self) -> u64 {
        self.format + self.inject + self.translate + self.dispatch + self.extract
    }
}

/// The same of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeOccupancy {
    /// The node.
    pub node: u32,
    /// By cause.
    #[serde(flatten)]
    pub causes: MessageCycles,
    /// Messages that did not find their node in the machine's table `gtlb`, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gtlb_misses: Option<u64>,
}

/// How often a node's access control looked the tags of a page up in the machine's table `rtlb`, and how often they were not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookups {
    /// All of them.
    pub lookups: u64,
    /// Those that took `rtlb.miss` cycles more.
    pub misses: u64,
}

impl Lookups {
    fn since(self, earlier: Lookups) -> Lookups {
        Lookups { lookups: self.lookups - earlier.lookups, misses: self.misses - earlier.misses }
    }

    /// With another.
    pub fn plus(self, other: Lookups) -> Lookups {
        Lookups { lookups: self.lookups + other.lookups, misses: self.misses + other.misses }
    }
}

/// Makes the struct, its arithmetic and the table from one list.
macro_rules! counters {
    ($($(#[doc = $text:literal])+ $name:ident: $unit:literal,)*) => {
        /// The counts of a node: those of its region of interest, or since it began. `compute + read_stall +
        /// write_stall + tlb_stall + sync_stall + handler` are its `cycles`.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct Counters {
            $($(#[doc = $text])+ pub $name: u64,)*
            /// Messages by protocol and kind.
            #[serde(skip)]
            pub by_kind: BTreeMap<(usize, u16), u64>,
            /// Accesses that a library has checked, as `node/checks.rs` numbers them; empty if there were none.
            #[serde(skip)]
            pub accesses: Vec<u64>,
            /// Blocks that have got an entry in the directory of such a library.
            #[serde(skip)]
            pub entries: u64,
            /// For how many cycles messages used its units, by cause, on a machine with `slots`.
            #[serde(skip)]
            pub uses: MessageCycles,
            /// Messages that did not find their node in the table `gtlb`.
            #[serde(skip)]
            pub gtlb_misses: u64,
            /// For how many cycles messages that it got had waited for links of the network, where that is modelled.
            #[serde(skip)]
            pub link_wait: u64,
            /// Look-ups in the table `rtlb`.
            #[serde(skip)]
            pub tags: Lookups,
            /// How often its engine ran each handler, and for how long, by protocol, role and handler.
            #[serde(skip)]
            pub handlers: BTreeMap<HandlerKey, Occupied>,
        }

        /// The statistics of a node, in the order of results.
        pub const NODE_STATISTICS: &[Statistic<Counters>] = &[
            $(Statistic::new(stringify!($name), $unit, concat!($($text),+), |counters| counters.$name),)*
        ];

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
                let mut handlers = self.handlers.clone();
                for (handler, before) in &earlier.handlers {
                    if let Some(now) = handlers.get_mut(handler) {
                        *now = now.since(before);
                    }
                }
                handlers.retain(|_, occupied| occupied.times > 0);
                let before = earlier.accesses.iter().chain(std::iter::repeat(&0));
                Counters {
                    $($name: self.$name - earlier.$name,)*
                    by_kind,
                    accesses: self.accesses.iter().zip(before).map(|(now, before)| now - before).collect(),
                    entries: self.entries - earlier.entries,
                    uses: self.uses.since(earlier.uses),
                    gtlb_misses: self.gtlb_misses - earlier.gtlb_misses,
                    link_wait: self.link_wait - earlier.link_wait,
                    tags: self.tags.since(earlier.tags),
                    handlers,
                }
            }

            /// The sum of both.
            pub fn plus(&self, other: &Counters) -> Counters {
                let mut by_kind = self.by_kind.clone();
                for (kind, count) in &other.by_kind {
                    *by_kind.entry(*kind).or_default() += count;
                }
                let mut handlers = self.handlers.clone();
                for (handler, occupied) in &other.handlers {
                    handlers.entry(*handler).or_default().add(occupied);
                }
                let (long, short) = match self.accesses.len() < other.accesses.len() {
                    true => (&other.accesses, &self.accesses),
                    false => (&self.accesses, &other.accesses),
                };
                let short = short.iter().chain(std::iter::repeat(&0));
                Counters {
                    $($name: self.$name + other.$name,)*
                    by_kind,
                    accesses: long.iter().zip(short).map(|(one, other)| one + other).collect(),
                    entries: self.entries + other.entries,
                    uses: self.uses.plus(other.uses),
                    gtlb_misses: self.gtlb_misses + other.gtlb_misses,
                    link_wait: self.link_wait + other.link_wait,
                    tags: self.tags.plus(other.tags),
                    handlers,
                }
            }
        }
    };
}

counters! {
    /// Time from the beginning to the end of the node's region of interest (of the whole program, if it marks none).
    cycles: "cycles",
    /// Instructions that its program executed: WebAssembly operators other than local.get, local.set, local.tee, const, block, loop, end, drop and nop. One that copies or fills memory counts, for each piece of an aligned 8-byte word, its accesses and one more besides.
    instructions: "instructions",
    /// Time of instructions: what the machine says that each costs, cpi or the cost of its operator's class.
    compute: "cycles",
    /// Time for which loads waited, misses in the node's own memory and a library's checks included.
    read_stall: "cycles",
    /// Time for which stores and atomic operations waited, misses in the node's own memory and a library's checks included.
    write_stall: "cycles",
    /// Time for which accesses waited for the translation of their page, where the machine has a TLB; 0 elsewhere.
    tlb_stall: "cycles",
    /// Time for which barriers, protocol calls, waits for a word to change and the program's sleep (`nanosleep` and the like) lasted.
    sync_stall: "cycles",
    /// Time for which the processor itself ran handlers: all, where the machine has no engine; those of calls, where it has
    /// `[calls]`; 0 elsewhere.
    handler: "cycles",
    /// Loads that access control stopped.
    read_faults: "faults",
    /// Stores that access control stopped, upgrades included.
    write_faults: "faults",
    /// Messages that the node's handlers sent, those to the node itself included.
    messages_sent: "messages",
    /// Bytes of these messages: two header words, arguments, data.
    bytes_sent: "bytes",
    /// Controller occupancy: time for which the node's engine ran handlers, so that it could take no other event.
    engine_busy: "cycles",
    /// Time for which transactions held the node's bus.
    bus_busy: "cycles",
    /// Stores that access control stopped though the block could be read.
    upgrades: "faults",
    /// Prefetches that went to the block's role; those that nothing answers, or that bring nothing, are not counted.
    prefetches: "prefetches",
    /// Accesses that waited for what a prefetch was to bring, with cached processors.
    prefetches_late: "faults",
    /// Pages of other homes that gave their frame to another page.
    pages_replaced: "pages",
}

/// Kinds of accesses that a library checks.
pub const ACCESS_KINDS: [&str; 3] = ["read", "write", "rmw"];

/// Accesses to shared memory that a library has checked, of a kind and to blocks in a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessOf {
    /// The protocol.
    pub protocol: String,
    /// The role that gives access.
    pub role: String,
    /// Its state at the access.
    pub state: String,
    /// One of [`ACCESS_KINDS`], or the name of a call that the machine counts as an access.
    pub kind: String,
    /// Whether the node is the block's home.
    pub at_home: bool,
    /// Whether it is the role's first state: no other node has asked for the block.
    pub is_first: bool,
    /// How many the state allowed.
    pub hits: u64,
    /// How many it did not.
    pub misses: u64,
}

/// What the library of a node has checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAccesses {
    /// The node.
    pub node: u32,
    /// Blocks that got an entry in its directory.
    pub entries: u64,
    /// Accesses by protocol, role, state and kind.
    pub accesses: Vec<AccessOf>,
}

/// The names of the statistics into which a node's cycles are divided, in the order of pictures.
pub const PARTS_OF_TIME: [&str; 6] = ["compute", "read_stall", "write_stall", "tlb_stall", "sync_stall", "handler"];

/// The statistic of a node with this name.
pub fn node_statistic(name: &str) -> Option<&'static Statistic<Counters>> {
    NODE_STATISTICS.iter().find(|statistic| statistic.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_time_are_statistics_in_cycles() {
        for name in PARTS_OF_TIME {
            assert_eq!(node_statistic(name).unwrap().unit, "cycles");
        }
        assert!(node_statistic("bus_stall").is_none());
    }

    #[test]
    fn what_is_taken_away_can_be_added_again() {
        let count = |n| Counters { cycles: 5 * n, upgrades: n, by_kind: [((0, 1), n)].into(), ..Counters::default() };
        assert_eq!(count(7).since(&count(3)), count(4));
        assert_eq!(count(4).plus(&count(3)), count(7));
        assert!(count(7).since(&count(7)).by_kind.is_empty());
    }
}
