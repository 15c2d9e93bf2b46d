//! Blame as results tell it: by allocation, and by line.

use super::judge::{Account, Judge, Tally};
use super::{Sites, WORD};
use serde::Serialize;
use std::collections::BTreeMap;
use trivium_engine::Node;
use trivium_engine::number::fit;
use trivium_guest::{DebugInfo, SHARED_BASE, SourceLocation};
use trivium_node::{Misses, Space};

/// So many blocks of an allocation are shown, those with the most misses by false sharing.
const SHOWN: usize = 16;

/// Misses by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kinds {
    /// The node had never had the block.
    pub cold: u64,
    /// The node had given the block up itself.
    pub capacity: u64,
    /// The block was taken from the node, which then accessed what others had written.
    pub true_sharing: u64,
    /// The block was taken from the node, which then accessed nothing that others had written.
    pub false_sharing: u64,
}

/// What an allocation is blamed for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AllocationBlame {
    /// What it is called.
    pub name: String,
    /// The place in the program that made it.
    pub made_at: Option<String>,
    /// Its address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Misses by what was wanted.
    pub misses: Misses,
    /// Misses by kind.
    pub kinds: Kinds,
    /// Messages that its misses led to, and others about its blocks.
    pub messages: u64,
    /// Cycles from a miss until its access went on.
    pub stall: u64,
    /// Its falsely shared blocks, those with the most misses first.
    pub falsely_shared: Vec<FalseShare>,
}

/// A block that is falsely shared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FalseShare {
    /// Its first byte in the allocation.
    pub from: u64,
    /// Its misses by false sharing.
    pub misses: u64,
    /// Its parts, each used by other nodes than its neighbours.
    pub parts: Vec<Part>,
}

/// Words of a block that the same nodes use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The first byte in the allocation.
    pub from: u64,
    /// One past the last byte.
    pub to: u64,
    /// Who loads it.
    pub read_by: Vec<Node>,
    /// Who stores to it.
    pub written_by: Vec<Node>,
}

/// What a line is blamed for, by allocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineBlame {
    /// The function.
    pub function: String,
    /// The file, if the program tells it.
    pub file: Option<String>,
    /// The line in it.
    pub line: Option<u32>,
    /// The allocation.
    pub allocation: String,
    /// Misses by what was wanted.
    pub misses: Misses,
    /// Misses by kind.
    pub kinds: Kinds,
    /// Messages that its misses led to.
    pub messages: u64,
    /// Cycles from a miss until its access went on.
    pub stall: u64,
}

/// Who is to blame for misses, messages and stalls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blamed {
    /// All misses by kind: their sum is that of the run's `misses`.
    pub kinds: Kinds,
    /// By allocation, in the order of their addresses.
    pub allocations: Vec<AllocationBlame>,
    /// By line and allocation, the longest stall first.
    pub lines: Vec<LineBlame>,
    /// Messages that are neither about a block nor led to by a miss.
    pub other_messages: u64,
}

impl Kinds {
    fn add(&mut self, tally: &Tally) {
        for [cold, capacity, true_sharing, false_sharing] in tally.misses {
            self.cold += cold;
            self.capacity += capacity;
            self.true_sharing += true_sharing;
            self.false_sharing += false_sharing;
        }
    }
}

fn add(misses: &mut Misses, tally: &Tally) {
    let [read, write, upgrade] = tally.misses.map(|kinds| kinds.iter().sum::<u64>());
    misses.read += read;
    misses.write += write;
    misses.upgrade += upgrade;
}

impl Judge {
    /// The report; `by_region` tells of each node whether only what happened in its region of interest counts.
    pub(crate) fn report(
        mut self,
        by_region: &[bool],
        space: &Space,
        sites: &Sites,
        block: u64,
        map: Option<&DebugInfo>,
    ) -> Blamed {
        self.end();
        let counts = |node: Node, counted: bool| counted || !by_region[usize::from(node)];
        let mut tallies: Vec<(&Account, &Tally)> =
            self.tallies.iter().filter(|(key, _)| counts(key.node, key.counted)).collect();
        tallies.sort_by_key(|(key, _)| **key);
        let mut allocations: Vec<AllocationBlame> = (0..space.allocations())
            .map(|region| {
                let allocation = space.allocation(region, map);
                AllocationBlame {
                    name: allocation.name,
                    made_at: allocation.site.map(|place| place.to_string()),
                    address: u64::from(SHARED_BASE) + allocation.offset,
                    bytes: allocation.bytes,
                    misses: Misses::default(),
                    kinds: Kinds::default(),
                    messages: 0,
                    stall: 0,
                    falsely_shared: Vec::new(),
                }
            })
            .collect();
        let unknown = || SourceLocation { function: "?".into(), line: None };
        let place = |frames: &Vec<_>| map.and_then(|map| map.place(frames)).unwrap_or_else(unknown);
        let places: Vec<SourceLocation> = sites.all.iter().map(place).collect();
        let mut lines: BTreeMap<(&SourceLocation, usize), LineBlame> = BTreeMap::new();
        let (mut kinds, mut other_messages) = (Kinds::default(), 0);
        for (key, tally) in tallies {
            kinds.add(tally);
            let Some(region) = key.region else {
                other_messages += tally.messages;
                continue;
            };
            let allocation = &mut allocations[region];
            add(&mut allocation.misses, tally);
            allocation.kinds.add(tally);
            allocation.messages += tally.messages;
            allocation.stall += tally.stall;
            let Some(place) = key.site.map(|site| &places[site as usize]) else { continue };
            let line = lines.entry((place, region)).or_insert_with(|| LineBlame {
                function: place.function.clone(),
                file: place.line.as_ref().map(|(file, _)| file.clone()),
                line: place.line.as_ref().map(|(_, line)| *line),
                allocation: allocation.name.clone(),
                misses: Misses::default(),
                kinds: Kinds::default(),
                messages: 0,
                stall: 0,
            });
            add(&mut line.misses, tally);
            line.kinds.add(tally);
            line.messages += tally.messages;
            line.stall += tally.stall;
        }
        let mut lines: Vec<LineBlame> = lines.into_values().collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.stall));
        for (&number, shared) in &self.blocks {
            let misses = shared.falsely.iter().filter(|((node, counted), _)| counts(*node, *counted));
            let misses: u64 = misses.map(|(_, count)| count).sum();
            let offset = u64::from(number) * block;
            let Some(region) = space.region_of(offset).filter(|_| misses > 0) else { continue };
            let from = offset - space.range(region).start;
            let parts = parts(shared.users(), from);
            allocations[region].falsely_shared.push(FalseShare { from, misses, parts });
        }
        for allocation in &mut allocations {
            allocation.falsely_shared.sort_by_key(|share| std::cmp::Reverse(share.misses));
            allocation.falsely_shared.truncate(SHOWN);
        }
        Blamed { kinds, allocations, lines, other_messages }
    }
}

/// Words that the same nodes use, one after the other; those that nobody uses are left out.
fn parts<'j>(words: impl Iterator<Item = (&'j [u64], &'j [u64])>, from: u64) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (number, (readers, writers)) in words.enumerate() {
        let (read_by, written_by) = (nodes(readers), nodes(writers));
        let at = from + number as u64 * WORD;
        match parts.last_mut() {
            Some(part) if part.to == at && (&part.read_by, &part.written_by) == (&read_by, &written_by) => {
                part.to += WORD;
            }
            _ if read_by.is_empty() && written_by.is_empty() => {}
            _ => parts.push(Part { from: at, to: at + WORD, read_by, written_by }),
        }
    }
    parts
}

fn nodes(set: &[u64]) -> Vec<Node> {
    let is_in = |node: &usize| set[node / 64] >> (node % 64) & 1 == 1;
    (0..64 * set.len()).filter(is_in).map(|node| fit(node, "the number of a node")).collect()
}
