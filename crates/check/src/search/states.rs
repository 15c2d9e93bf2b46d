//! All states found so far, and how those of a batch join them.
//!
//! The number of a state is its place in the order in which a search on one host thread finds it, whatever the number of
//! host threads: candidates join in the order of the states that lead to them. Which are new is found out
//! shard by shard, side by side.

use super::arena::{Arena, StateNumber};
use super::crew::side_by_side;
use super::expand::Harvest;
use super::pack::hash;
use super::table::{SHARDS, Shard, TableSlot, reserve, reserve_all, shard_of};
use crate::search::store::state_number;
use std::hint::black_box;
use trivium_engine::number::fit;

/// More states have no numbers: the highest bit of a number has other uses.
const MOST_STATES: usize = (1 << 31) - 1;

/// Distinct states, found again by their bytes.
pub(crate) struct States {
    pub arena: Arena,
    shards: Vec<Shard>,
}

/// What became of the candidates of a batch.
pub(crate) struct Joined {
    /// The number of each candidate.
    pub numbers: Vec<StateNumber>,
    /// Whether there was no room for more states.
    pub full: bool,
}

impl States {
    pub fn new() -> States {
        States { arena: Arena::default(), shards: (0..SHARDS).map(|_| Shard::new()).collect() }
    }

    pub fn len(&self) -> usize {
        self.arena.len()
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        self.arena.memory() + self.shards.iter().map(Shard::memory).sum::<u64>()
    }

    /// The number of a state, if it is known.
    pub fn find(&self, hash: u64, bytes: &[u8]) -> Option<StateNumber> {
        self.shards[shard_of(hash)].find(hash, |number| self.arena.get(number) == bytes).ok()
    }

    /// Brings near what [`States::find`] will look at for some hashes.
    pub fn touch(&self, hashes: impl Iterator<Item = u64>) {
        black_box(hashes.fold(0, |all, hash| all ^ self.shards[shard_of(hash)].glance(hash)));
    }

    /// Adds the first state.
    pub fn add_first(&mut self, bytes: &[u8]) {
        debug_assert!(self.len() == 0);
        let hash = hash(bytes);
        if let Err(slot) = self.shards[shard_of(hash)].find(hash, |_| false) {
            self.shards[shard_of(hash)].occupy(slot, hash, 0);
            self.arena.push(bytes, 0);
        }
    }

    /// Makes states findable that were added to the arena alone.
    pub fn find_all_again(&mut self, jobs: usize) {
        reserve_all(&mut self.shards, &self.arena, jobs);
    }

    /// Adds the candidates of a batch, in order, as far as `most` states allow.
    pub fn join(&mut self, harvests: &[Harvest], most: u64, jobs: usize) -> Joined {
        let mut more = [0; SHARDS];
        let mut firsts = Vec::with_capacity(harvests.len());
        let mut total = 0;
        for harvest in harvests {
            firsts.push(total);
            total += harvest.len();
            more.iter_mut().enumerate().for_each(|(shard, sum)| *sum += harvest.of_shard(shard).len());
        }
        reserve(&mut self.shards, &more, &self.arena, jobs);
        let batch = Candidates { harvests, firsts, known: state_number(self.arena.len()) };
        let met = batch.meet(&mut self.shards, &self.arena, jobs);
        self.settle(&batch, met, total, most)
    }

    /// Numbers what is new, in the order of the candidates.
    fn settle(&mut self, batch: &Candidates, met: Vec<Met>, total: usize, most: u64) -> Joined {
        let mut numbers = vec![0; total];
        for &(candidate, number) in met.iter().flat_map(|met| &met.numbers) {
            numbers[candidate as usize] = number;
        }
        let most = most.min(MOST_STATES as u64);
        let mut candidate = 0;
        for harvest in batch.harvests {
            for at in 0..harvest.len() {
                let number = numbers[candidate];
                if let Some(same) = number.checked_sub(batch.known) {
                    numbers[candidate] = if same as usize != candidate {
                        numbers[same as usize]
                    } else if self.len() as u64 >= most {
                        return Joined { numbers, full: true };
                    } else {
                        self.arena.push(harvest.candidate(at), harvest.parents[at])
                    };
                }
                candidate += 1;
            }
        }
        for (shard, met) in self.shards.iter_mut().zip(&met) {
            met.slots.iter().for_each(|&(slot, candidate)| shard.renumber(slot, numbers[candidate as usize]));
        }
        Joined { numbers, full: false }
    }
}

/// Candidates in one order, numbered from `known` on until they have their own numbers.
struct Candidates<'h> {
    harvests: &'h [Harvest],
    /// The first candidate of each harvest.
    firsts: Vec<usize>,
    known: StateNumber,
}

/// What one shard says about its candidates.
#[derive(Default)]
struct Met {
    /// Each candidate with the number of the same state: one that was known, or the first such candidate.
    numbers: Vec<(u32, StateNumber)>,
    /// The slots of the candidates that are new.
    slots: Vec<(TableSlot, u32)>,
}

impl Candidates<'_> {
    /// Looks for the candidates in all shards.
    fn meet(&self, shards: &mut [Shard], arena: &Arena, jobs: usize) -> Vec<Met> {
        let few = self.firsts.last().is_none_or(|&last| last < 256);
        if jobs == 1 || few {
            let each = shards.iter_mut().enumerate();
            return each.map(|(number, shard)| self.meet_in(number, shard, arena)).collect();
        }
        let share = SHARDS.div_ceil(jobs);
        let parts: Vec<&mut [Shard]> = shards.chunks_mut(share).collect();
        let met = side_by_side(parts, |part, shards| -> Vec<Met> {
            let each = shards.iter_mut().enumerate();
            each.map(|(at, shard)| self.meet_in(part * share + at, shard, arena)).collect()
        });
        met.into_iter().flatten().collect()
    }

    fn meet_in(&self, number: usize, shard: &mut Shard, arena: &Arena) -> Met {
        let count = self.harvests.iter().map(|harvest| harvest.of_shard(number).len()).sum();
        let mut met = Met { numbers: Vec::with_capacity(count), slots: Vec::with_capacity(count) };
        for (harvest, &first) in self.harvests.iter().zip(&self.firsts) {
            let here = harvest.of_shard(number);
            black_box(here.iter().fold(0, |all, &at| all ^ shard.glance(harvest.hashes[at as usize])));
            for &at in here {
                let at = at as usize;
                let (hash, bytes) = (harvest.hashes[at], harvest.candidate(at));
                let candidate = fit(first + at, "a place among what a batch leads to");
                let known = match shard.find(hash, |number| self.bytes(arena, number) == bytes) {
                    Ok(number) => number,
                    Err(slot) => {
                        let number = self.known.checked_add(candidate).expect("a batch leads to few states");
                        shard.occupy(slot, hash, number);
                        met.slots.push((slot, candidate));
                        number
                    }
                };
                met.numbers.push((candidate, known));
            }
        }
        met
    }

    /// The bytes of a state that is known, or of a candidate.
    fn bytes<'a>(&'a self, arena: &'a Arena, number: StateNumber) -> &'a [u8] {
        match number.checked_sub(self.known) {
            None => arena.get(number),
            Some(candidate) => {
                let harvest = self.firsts.partition_point(|&first| first <= candidate as usize) - 1;
                self.harvests[harvest].candidate(candidate as usize - self.firsts[harvest])
            }
        }
    }
}
