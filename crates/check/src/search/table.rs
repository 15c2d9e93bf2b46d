//! Finds states again: open addressing, five bytes a slot, in shards that can be filled side by side.

use super::arena::{Arena, StateNumber};
use super::pack::hash;

/// Shards; a fixed number, so that nothing depends on the number of host threads.
pub(crate) const SHARDS: usize = 16;
const FIRST_SLOTS: usize = 64;

/// One part of the table: the states whose hash begins with its number.
pub(crate) struct Shard {
    slots: Vec<Slot>,
    used: usize,
}

/// First eight bits of the state's hash, 0 where there is none: they spare a look at almost all other states. Then the
/// state's number. Both together, so that they come from memory together.
type Slot = [u8; 5];

fn slot_of(hash: u64, number: StateNumber) -> Slot {
    let [a, b, c, d] = number.to_le_bytes();
    [tag_of(hash), a, b, c, d]
}

fn number_in([_, a, b, c, d]: Slot) -> StateNumber {
    StateNumber::from_le_bytes([a, b, c, d])
}

/// The shard of a hash.
pub(crate) fn shard_of(hash: u64) -> usize {
    (hash >> 60) as usize
}

fn tag_of(hash: u64) -> u8 {
    ((hash >> 32) as u8).max(1)
}

impl Shard {
    pub fn new() -> Shard {
        Shard { slots: vec![[0; 5]; FIRST_SLOTS], used: 0 }
    }

    pub fn memory(&self) -> u64 {
        self.slots.len() as u64 * 5
    }

    fn first_slot(&self, hash: u64) -> usize {
        (((hash & 0xffff_ffff) * self.slots.len() as u64) >> 32) as usize
    }

    /// The state with this hash for which `same` is true, or the free slot for it.
    pub fn find(&self, hash: u64, same: impl Fn(StateNumber) -> bool) -> Result<StateNumber, usize> {
        let tag = tag_of(hash);
        let mut at = self.first_slot(hash);
        loop {
            let slot = self.slots[at];
            match slot[0] {
                0 => return Err(at),
                other if other == tag && same(number_in(slot)) => return Ok(number_in(slot)),
                _ => at = if at + 1 == self.slots.len() { 0 } else { at + 1 },
            }
        }
    }

    /// Puts a state into a free slot.
    pub fn occupy(&mut self, slot: usize, hash: u64, number: StateNumber) {
        self.slots[slot] = slot_of(hash, number);
        self.used += 1;
    }

    /// Gives a state another number.
    pub fn renumber(&mut self, slot: usize, number: StateNumber) {
        self.slots[slot][1..].copy_from_slice(&number.to_le_bytes());
    }

    /// How many slots it should have for so many more states: the same, or half as many again and again, so that at
    /// most seven eighths are used.
    fn wanted(&self, more: usize) -> usize {
        let mut slots = self.slots.len();
        while (self.used + more) * 8 > slots * 7 {
            slots += slots / 2;
        }
        slots
    }
}

/// Makes room for so many more states in each shard. The states are read in order, once.
pub(crate) fn reserve(shards: &mut [Shard], more: &[usize], arena: &Arena, jobs: usize) {
    let growing = shards.iter().zip(more).any(|(shard, &more)| shard.wanted(more) != shard.slots.len());
    if !growing {
        return;
    }
    // All alike, as hashes are spread evenly: else each would grow soon after another, and the states be read again.
    let slots = shards.iter().zip(more).map(|(shard, &more)| shard.wanted(more)).max().unwrap_or(FIRST_SLOTS);
    let share = SHARDS.div_ceil(jobs);
    let rebuild = |first: usize, shards: &mut [Shard]| {
        shards.iter_mut().for_each(|shard| *shard = Shard { slots: vec![[0; 5]; slots], used: 0 });
        for number in 0..arena.len() as StateNumber {
            let hash = hash(arena.get(number));
            if let Some(shard) = shard_of(hash).checked_sub(first).and_then(|at| shards.get_mut(at))
                && let Err(slot) = shard.find(hash, |_| false)
            {
                shard.occupy(slot, hash, number);
            }
        }
    };
    if jobs == 1 {
        return rebuild(0, shards);
    }
    std::thread::scope(|scope| {
        for (part, shards) in shards.chunks_mut(share).enumerate() {
            scope.spawn(move || rebuild(part * share, shards));
        }
    });
}
