//! What the primitives of handlers cost on a machine: its price list.
//!
//! A price is a number of cycles, and the bus transactions that lie within them. On a quiet bus a primitive
//! takes exactly its cycles; each transaction that has to wait for the bus adds its wait. Where a source takes a
//! primitive apart, so does its price: in parts, each with the name that the source gives it.

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use std::fmt;
use trivium_protocol::Access;

/// A kind of bus transaction (Reinhardt, Pfile and Wood 1998).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transaction {
    /// Coherent read or read-for-ownership of a line.
    Read,
    /// Coherent invalidation without data.
    Invalidate,
    /// A dirty line goes back to memory.
    WriteBack,
    /// Uncached load of 8 bytes.
    UncachedLoad,
    /// Uncached store of 8 bytes; a command to a device.
    UncachedStore,
    /// A transaction that access control stopped: relinquish and retry.
    Abort,
}

impl Transaction {
    /// As a price list writes it.
    pub fn name(self) -> &'static str {
        TRANSACTIONS.iter().find(|t| t.1 == self).map_or("", |t| t.0)
    }
}

/// All kinds in the order of their declaration, as a price list writes them.
pub(crate) const TRANSACTIONS: [(&str, Transaction); 6] = [
    ("read", Transaction::Read),
    ("invalidate", Transaction::Invalidate),
    ("write_back", Transaction::WriteBack),
    ("uncached_load", Transaction::UncachedLoad),
    ("uncached_store", Transaction::UncachedStore),
    ("abort", Transaction::Abort),
];

/// Cycles of the compute processor's clock on a quiet bus, bus time included, and the transactions in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Cycles in all when the bus is free.
    pub cycles: u64,
    /// Bus transactions in order.
    pub bus: Vec<Transaction>,
    /// What reports call it, where the machine has its own name for it.
    pub step: Option<String>,
    /// What it is made of, if the machine says; then its cycles are theirs.
    pub parts: Vec<Price>,
    /// As a part of a price that is paid for each granule: it is paid once for the block.
    pub once: bool,
}

impl Price {
    /// Whether it is nothing but cycles of the engine's own.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.bus.is_empty() && self.parts.is_empty()
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Price, D::Error> {
        struct PriceVisitor;
        impl<'de> Visitor<'de> for PriceVisitor {
            type Value = Price;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("cycles that are not negative, or { cycles = C, bus = [\"4 uncached_store\", ..] }, or { parts = [..] }")
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Price, E> {
                let cycles =
                    u64::try_from(value).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))?;
                Ok(Price { cycles, ..Price::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Price, A::Error> {
                let written = Written::deserialize(de::value::MapAccessDeserializer::new(map))?;
                match (written.cycles, written.parts) {
                    (Some(cycles), None) => {
                        let bus = transactions(&written.bus)?;
                        Ok(Price { cycles, bus, step: written.step, parts: Vec::new(), once: written.once })
                    }
                    (None, Some(parts))
                        if !parts.is_empty() && written.bus.is_empty() && written.step.is_none() && !written.once =>
                    {
                        Ok(Price { cycles: parts.iter().map(|part| part.cycles).sum(), parts, ..Price::default() })
                    }
                    _ => Err(de::Error::custom(
                        "a price has either `cycles`, with `bus`, `step` and (in a part) `once`, or `parts`, which are prices",
                    )),
                }
            }
        }
        deserializer.deserialize_any(PriceVisitor)
    }
}

/// A price as it is written in a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    cycles: Option<u64>,
    #[serde(default)]
    bus: Vec<String>,
    step: Option<String>,
    parts: Option<Vec<Price>>,
    #[serde(default)]
    once: bool,
}

fn transactions<E: de::Error>(entries: &[String]) -> Result<Vec<Transaction>, E> {
    let mut bus = Vec::new();
    for entry in entries {
        let (count, kind) = several(entry).ok_or_else(|| {
            let known: Vec<_> = TRANSACTIONS.iter().map(|t| t.0).collect();
            de::Error::custom(format!(
                "`{entry}` is no bus transaction; there are {}, with a count before them if there are several",
                known.join(", ")
            ))
        })?;
        bus.extend(std::iter::repeat_n(kind, count));
    }
    Ok(bus)
}

/// `read` or `4 read`.
fn several(entry: &str) -> Option<(usize, Transaction)> {
    let (count, name) = match entry.split_once(' ') {
        Some((count, name)) => (count.parse().ok().filter(|&n| (1..=64).contains(&n))?, name.trim()),
        None => (1, entry),
    };
    TRANSACTIONS.iter().find(|t| t.0 == name).map(|t| (count, t.1))
}

/// What it takes to start a handler, by the source of the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DispatchPrices {
    /// A load or store that faulted.
    pub fault: Price,
    /// A message.
    pub message: Price,
    /// A call of the program.
    pub call: Price,
    /// A task of the software queue.
    pub task: Price,
    /// A timer.
    pub timer: Price,
    /// A deferred event that is tried again.
    pub replay: Price,
}

/// Receiving.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessagePrices {
    /// The first two words: handler and object.
    pub header: Price,
    /// The first two words of a message with data, if that is another price.
    pub data_header: Option<Price>,
    /// Each further word of arguments.
    pub word: Price,
}

/// Records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordPrices {
    /// First look of a handler at a record of a home's role: the directory.
    pub home: Price,
    /// First look at a record of any other role.
    pub other: Price,
    /// So many plain steps of the handler are part of the look-up's price ("look-up, branch").
    pub covers: u32,
    /// A message comes to a home where nobody has touched the block before: its record is made, and its contents are put in order.
    #[serde(default)]
    pub first: Price,
}

/// Sending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendPrices {
    /// A message without data: its first two words.
    pub header: Price,
    /// The first two words of a message with data.
    pub data_header: Price,
    /// Each further word of arguments.
    pub word: Price,
    /// Data that are passed on from the message being handled, each granule.
    pub forward: Price,
    /// Ending a message with data, after them.
    #[serde(default)]
    pub finish: Price,
}

/// A block's data going out, each granule, fused with the lowering of its tag in the same handler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchPrices {
    /// The tag stays: no cache can hold newer data, or they are fetched coherently.
    pub keep: Price,
    /// Fused with write to read.
    pub write_to_read: Price,
    /// Fused with write to none.
    pub write_to_none: Price,
    /// Fused with read to none.
    pub read_to_none: Price,
}

/// A block's data coming in, each granule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InstallPrices {
    /// Fused with the raising of its tag in the same handler.
    pub raise: Price,
    /// The tag stays.
    pub keep: Price,
}

/// A tag changes by itself, each granule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TagPrices {
    /// Any raising: no bus transaction is needed.
    pub raise: Price,
    /// read to none: caches are purged.
    pub read_to_none: Price,
    /// write to read: the newest data are fetched to memory.
    pub write_to_read: Price,
    /// write to none: the same, and caches are purged.
    pub write_to_none: Price,
}

/// What an engine does to a line of its processor's cache, each granule, where processors are cached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinePrices {
    /// The processor's request is answered, with or without contents.
    pub fill: Price,
    /// The contents are taken; the line stays shared or goes.
    pub take: Price,
    /// The line goes.
    pub invalidate: Price,
}

/// The price list. A key says what it is for; `docs/machines.md` is the reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Starting a handler.
    pub dispatch: DispatchPrices,
    /// Reading which access faulted.
    pub fault_state: Price,
    /// Reading a message.
    pub message: MessagePrices,
    /// Looking at records.
    pub record: RecordPrices,
    /// Sending.
    pub send: SendPrices,
    /// Data out.
    pub fetch: FetchPrices,
    /// Data in.
    pub install: InstallPrices,
    /// Tags.
    pub tag: TagPrices,
    /// Copying within memory, each granule.
    pub copy: Price,
    /// Loading a word of memory.
    pub load: Price,
    /// Storing a word of memory.
    pub store: Price,
    /// Asking the processor's cache.
    pub probe: Price,
    /// Its lines.
    pub line: LinePrices,
    /// Asking whether a lane has room.
    pub room: Price,
    /// Visiting an element of a set or list.
    pub element: Price,
    /// An assignment, a branch, another plain step.
    pub step: Price,
    /// Putting a task on the software queue.
    pub start: Price,
    /// Letting a suspended processor go on, or answering its call.
    pub resume: Price,
}

impl Prices {
    /// Data out while the tag goes from one access to another.
    pub fn fetch(&self, from: Access, to: Access) -> &Price {
        match (from, to) {
            (Access::Write, Access::Read) => &self.fetch.write_to_read,
            (Access::Write, Access::None) => &self.fetch.write_to_none,
            (Access::Read, Access::None) => &self.fetch.read_to_none,
            _ => &self.fetch.keep,
        }
    }

    /// A tag going from one access to another by itself.
    pub fn tag(&self, from: Access, to: Access) -> &Price {
        match (from, to) {
            (Access::Write, Access::Read) => &self.tag.write_to_read,
            (Access::Write, Access::None) => &self.tag.write_to_none,
            (Access::Read, Access::None) => &self.tag.read_to_none,
            _ => &self.tag.raise,
        }
    }
}
