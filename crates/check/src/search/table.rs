//! Finds states again: open addressing over buckets of one cache line, in shards that can be filled side by side.

use super::arena::{Arena, StateNumber};
use super::crew::side_by_side;
use super::pack::{halves, hash};
use std::sync::{Barrier, Mutex, PoisonError};
use trivium_engine::number::{fit, index, low_u8};

/// Shards; a fixed number, so that nothing depends on the number of host threads.
pub(crate) const SHARDS: usize = 16;
const FIRST_BUCKETS: usize = 8;
/// Buckets of a shard from which it grows by more: what all shards then have too many of is some hundred kilobytes at most.
const LARGER_STEPS: std::ops::Range<usize> = 40..200;
/// States of a bucket.
const PLACES: usize = 12;
/// States that are hashed before they are put into the table.
const TOGETHER: usize = 1 << 10;
/// States that a host thread hashes before it puts what the others have hashed for it.
const ROUND: usize = 1 << 16;

/// One part of the table: the states whose hash begins with its number.
pub(crate) struct Shard {
    buckets: Vec<Bucket>,
    used: usize,
}

/// Twelve states in one cache line: of each, eight bits of its hash, which spare a look at almost all other states,
/// and its number. Places are filled from the first on; a tag is 0 where there is none, and always behind the twelfth.
#[derive(Clone, Default)]
#[repr(align(64))]
struct Bucket {
    tags: [u8; 16],
    numbers: [StateNumber; PLACES],
}

/// Where a state is, or may be put: its bucket and the place there.
#[derive(Clone, Copy)]
pub(crate) struct TableSlot {
    bucket: u32,
    place: u8,
}

impl TableSlot {
    fn new(bucket: usize, place: usize) -> TableSlot {
        TableSlot {
            bucket: fit(bucket, "the number of a bucket: states have 31 bits"),
            place: fit(place, "a place in a bucket"),
        }
    }
}

/// The shard of a hash.
#[inline]
pub(crate) fn shard_of(hash: u64) -> usize {
    index(hash >> 60)
}

#[inline]
fn tag_of(hash: u64) -> u8 {
    low_u8(hash >> 32).max(1)
}

/// The highest bit of each byte that is 0; those above the lowest may be wrong.
#[inline]
fn zeros(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    word.wrapping_sub(ONES) & !word & ONES << 7
}

impl Bucket {
    /// The first eight tags, and the others.
    #[inline]
    fn halves(&self) -> [u64; 2] {
        halves(u128::from_le_bytes(self.tags))
    }

    /// The first place that is free, if there is one.
    #[inline]
    fn free(&self) -> Option<usize> {
        let [low, high] = self.halves().map(zeros);
        let place = if low != 0 { low.trailing_zeros() / 8 } else { 8 + high.trailing_zeros() / 8 } as usize;
        (place < PLACES).then_some(place)
    }
}

impl Shard {
    pub fn new() -> Shard {
        Shard::of(FIRST_BUCKETS)
    }

    fn of(buckets: usize) -> Shard {
        Shard { buckets: vec![Bucket::default(); buckets], used: 0 }
    }

    pub fn memory(&self) -> u64 {
        (self.buckets.len() * size_of::<Bucket>()) as u64
    }

    #[inline]
    fn first_bucket(&self, hash: u64) -> usize {
        (((hash & 0xffff_ffff) * self.buckets.len() as u64) >> 32) as usize
    }

    #[inline]
    fn next(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }

    /// A look at the bucket of a hash, of no meaning: who looks at many at once waits for memory once, and then finds
    /// all near.
    #[inline]
    pub fn glance(&self, hash: u64) -> u8 {
        self.buckets[self.first_bucket(hash)].tags[0]
    }

    /// The state with this hash for which `same` is true, or the free slot for it.
    #[inline]
    pub fn find(&self, hash: u64, same: impl Fn(StateNumber) -> bool) -> Result<StateNumber, TableSlot> {
        let wanted = u64::from_ne_bytes([tag_of(hash); 8]);
        let mut at = self.first_bucket(hash);
        loop {
            let bucket = &self.buckets[at];
            for (half, tags) in bucket.halves().into_iter().enumerate() {
                let mut alike = zeros(tags ^ wanted);
                while alike != 0 {
                    let place = half * 8 + alike.trailing_zeros() as usize / 8;
                    alike &= alike - 1;
                    if bucket.tags[place] == tag_of(hash) && same(bucket.numbers[place]) {
                        return Ok(bucket.numbers[place]);
                    }
                }
            }
            if let Some(place) = bucket.free() {
                return Err(TableSlot::new(at, place));
            }
            at = self.next(at);
        }
    }

    /// Puts a state into a free slot.
    #[inline]
    pub fn occupy(&mut self, slot: TableSlot, hash: u64, number: StateNumber) {
        let bucket = &mut self.buckets[slot.bucket as usize];
        bucket.tags[usize::from(slot.place)] = tag_of(hash);
        bucket.numbers[usize::from(slot.place)] = number;
        self.used += 1;
    }

    /// Gives a state another number.
    #[inline]
    pub fn renumber(&mut self, slot: TableSlot, number: StateNumber) {
        self.buckets[slot.bucket as usize].numbers[usize::from(slot.place)] = number;
    }

    /// Puts a state that is not there into the first slot that is free for it.
    #[inline]
    fn add(&mut self, hash: u64, number: StateNumber) {
        let mut at = self.first_bucket(hash);
        loop {
            if let Some(place) = self.buckets[at].free() {
                return self.occupy(TableSlot::new(at, place), hash, number);
            }
            at = self.next(at);
        }
    }

    /// How many buckets it should have for so many more states: the same, or half as many again and again, so that at
    /// most nine tenths of the places are used.
    fn wanted(&self, more: usize) -> usize {
        let mut buckets = self.buckets.len();
        while (self.used + more) * 10 > buckets * PLACES * 9 {
            // In larger steps where that takes little memory: each hashes all states again.
            let steps = if LARGER_STEPS.contains(&buckets) { 2 } else { 1 };
            (0..steps).for_each(|_| buckets += buckets / 2);
        }
        buckets
    }
}

/// Makes room for so many more states in each shard. The states are read in order, once.
pub(crate) fn reserve(shards: &mut [Shard], more: &[usize], arena: &Arena, jobs: usize) {
    let growing = shards.iter().zip(more).any(|(shard, &more)| shard.wanted(more) != shard.buckets.len());
    if !growing {
        return;
    }
    // All alike, as hashes are spread evenly: else each would grow soon after another, and the states be read again.
    let buckets = shards.iter().zip(more).map(|(shard, &more)| shard.wanted(more)).max().unwrap_or(FIRST_BUCKETS);
    if jobs == 1 {
        return rebuild(shards, buckets, arena);
    }
    let share = SHARDS.div_ceil(jobs);
    let exchange = Exchange::new(SHARDS.div_ceil(share), share);
    let parts: Vec<&mut [Shard]> = shards.chunks_mut(share).collect();
    side_by_side(parts, |part, shards| rebuild_part(part, shards, buckets, arena, &exchange));
}

/// Fills all shards with what an arena has.
pub(crate) fn reserve_all(shards: &mut [Shard], arena: &Arena, jobs: usize) {
    let mut more = [0; SHARDS];
    arena.states(0..arena.len()).for_each(|(_, state)| more[shard_of(hash(state))] += 1);
    shards.iter_mut().for_each(|shard| *shard = Shard::new());
    reserve(shards, &more, arena, jobs);
    // Where there is room from the first on, nothing was put there.
    if shards.iter().all(|shard| shard.used == 0) {
        rebuild(shards, FIRST_BUCKETS, arena);
    }
}

/// Fills all shards anew.
fn rebuild(shards: &mut [Shard], buckets: usize, arena: &Arena) {
    shards.iter_mut().for_each(|shard| *shard = Shard::of(buckets));
    let mut put = |hashed: &mut Hashed| {
        hashed.drain(..).for_each(|(hash, number)| shards[shard_of(hash)].add(hash, number));
    };
    // Hashed first and then put: so the processor waits for many buckets at once.
    let mut hashed = Vec::with_capacity(TOGETHER);
    for (number, state) in arena.states(0..arena.len()) {
        hashed.push((hash(state), number));
        if hashed.len() == TOGETHER {
            put(&mut hashed);
        }
    }
    put(&mut hashed);
}

/// The hashes of some states.
type Hashed = Vec<(u64, StateNumber)>;

/// Where host threads that fill shards side by side leave the states that they have hashed for each other.
struct Exchange {
    /// Shards of a part.
    share: usize,
    /// By the part that hashed and the part that keeps.
    hashed: Vec<Vec<Mutex<Hashed>>>,
    together: Barrier,
}

impl Exchange {
    fn new(parts: usize, share: usize) -> Exchange {
        let row = || (0..parts).map(|_| Mutex::default()).collect();
        Exchange { share, hashed: (0..parts).map(|_| row()).collect(), together: Barrier::new(parts) }
    }
}

/// Fills the shards of one part anew: each part hashes its share of the states for all.
fn rebuild_part(part: usize, shards: &mut [Shard], buckets: usize, arena: &Arena, exchange: &Exchange) {
    let parts = exchange.hashed.len();
    shards.iter_mut().for_each(|shard| *shard = Shard::of(buckets));
    let mut lists: Vec<Hashed> = vec![Vec::new(); parts];
    for round in (0..arena.len()).step_by(ROUND * parts) {
        let from = arena.len().min(round + part * ROUND);
        for (number, state) in arena.states(from..arena.len().min(from + ROUND)) {
            let hash = hash(state);
            lists[shard_of(hash) / exchange.share].push((hash, number));
        }
        let lock = |from: usize, to: usize| exchange.hashed[from][to].lock().unwrap_or_else(PoisonError::into_inner);
        lists.iter_mut().enumerate().for_each(|(to, list)| std::mem::swap(list, &mut lock(part, to)));
        exchange.together.wait();
        for from in 0..parts {
            for (hash, number) in lock(from, part).drain(..) {
                shards[shard_of(hash) % exchange.share].add(hash, number);
            }
        }
        exchange.together.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_found_after_growth_on_several_host_threads() {
        let mut arena = Arena::default();
        let states = 5 * ROUND as u32 + 77;
        (0..states).for_each(|n| {
            arena.push(&n.to_le_bytes()[..], 0);
        });
        for jobs in [1, 2, 3, 7] {
            let mut shards: Vec<Shard> = (0..SHARDS).map(|_| Shard::new()).collect();
            reserve(&mut shards, &[states as usize / SHARDS; SHARDS], &arena, jobs);
            assert_eq!(shards.iter().map(|shard| shard.used).sum::<usize>(), states as usize, "{jobs}");
            for n in (0..states).step_by(97) {
                let hash = hash(&n.to_le_bytes());
                let found = shards[shard_of(hash)].find(hash, |number| arena.get(number) == n.to_le_bytes());
                assert!(found.is_ok_and(|number| number == n), "{n} with {jobs}");
            }
        }
    }
}
