//! What is kept of a state in place of the state: a few bytes, or a few bits. Two states may be taken for one, with a
//! probability that the literature gives.
//!
//! Wolper and Leroy, "Reliable hashing without collision detection" (1993); Stern and Dill, "Improved probabilistic
//! verification by hash compaction" (1995); Dillinger and Manolios, "Bloom filters in probabilistic verification" (2004).

use super::pack::halves;
use crate::report::Omission;
use trivium_engine::number::index;

/// Two numbers for a state, as if drawn at random; other ones for each seed.
pub(super) fn signature(bytes: &[u8], seed: u64) -> [u64; 2] {
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let fold = |a: u64, b: u64| {
        let [low, high] = halves(u128::from(a) * u128::from(b));
        low ^ high
    };
    let seed = fold(seed ^ FACTORS[1], FACTORS[0]) ^ bytes.len() as u64;
    let mut lanes = [seed ^ 0xa076_1d64_78bd_642f, seed.rotate_left(32) ^ 0xe703_7ed1_a0b4_28db];
    let mut add = |word: u64| {
        lanes[0] = fold(lanes[0] ^ word, FACTORS[0]).wrapping_add(word.rotate_left(23));
        lanes[1] = fold(lanes[1].wrapping_add(word), FACTORS[1]) ^ word.rotate_left(41);
    };
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        add(u64::from_le_bytes(word.try_into().expect("eight bytes")));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    add(u64::from_le_bytes(last));
    let [a, b] = lanes;
    [finish(a ^ b.rotate_left(17)), finish(b.wrapping_add(fold(a ^ FACTORS[1], FACTORS[0])))]
}

/// Spreads every bit over all: the last steps of SplitMix64.
fn finish(mut word: u64) -> u64 {
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// A place below `count` for a number that is spread over all 64 bits.
fn place(number: u64, count: usize) -> usize {
    let [_, high] = halves(u128::from(number) * count as u128);
    index(high)
}

/// Signatures of states: hash compaction.
pub(super) struct Compacted {
    /// Open addressing; 0 is a free place.
    places: Vec<u64>,
    used: usize,
    bits: u32,
    seed: u64,
}

/// Most of the places that are used, in hundredths.
const FULL: usize = 85;

impl Compacted {
    pub fn new(bits: u32, seed: u64) -> Compacted {
        Compacted { places: vec![0; 1 << 10], used: 0, bits, seed }
    }

    fn name(&self, state: &[u8]) -> u64 {
        let [signature, _] = signature(state, self.seed);
        (signature >> (64 - self.bits)).max(1)
    }

    /// The place of a name, or the free one for it. Names of few bits are spread over all places.
    fn look(&self, name: u64) -> Result<(), usize> {
        let mut at = place(finish(name), self.places.len());
        loop {
            match self.places[at] {
                0 => return Err(at),
                there if there == name => return Ok(()),
                _ => at = if at + 1 == self.places.len() { 0 } else { at + 1 },
            }
        }
    }

    pub fn contains(&self, state: &[u8]) -> bool {
        self.look(self.name(state)).is_ok()
    }

    /// Adds a state; whether no other had its name.
    pub fn insert(&mut self, state: &[u8]) -> bool {
        if (self.used + 1) * 100 > self.places.len() * FULL {
            self.grow();
        }
        let name = self.name(state);
        let Err(at) = self.look(name) else { return false };
        self.places[at] = name;
        self.used += 1;
        true
    }

    fn grow(&mut self) {
        let more = vec![0; self.places.len() + self.places.len() / 2];
        for name in std::mem::replace(&mut self.places, more) {
            if name != 0
                && let Err(at) = self.look(name)
            {
                self.places[at] = name;
            }
        }
    }

    pub fn memory(&self) -> u64 {
        self.places.len() as u64 * 8
    }

    /// What states may have been left out, of so many at most so deep.
    pub fn omission(&self, depth: u32) -> Omission {
        let states = self.used as f64;
        // One name less than there are numbers: 0 is taken for 1.
        let names = 2f64.powi(self.bits.cast_signed()) - 1.0;
        Omission {
            method: format!("hash compaction, {} bits a state", self.bits),
            seed: self.seed,
            // Each state but the first may have the name of one before it.
            probability: any_of(-(states * (states - 1.0)) / (2.0 * names)),
            of_one_state: missed(states / names, depth),
            expected: states * (states - 1.0) / (2.0 * names),
        }
    }
}

/// The probability that something happens, by the logarithm of the probability that it does not: never a negative zero.
fn any_of(log_of_none: f64) -> f64 {
    -log_of_none.exp_m1() + 0.0
}

/// The probability that some state on a way of so many events is left out, if each is with this probability.
fn missed(each: f64, depth: u32) -> f64 {
    any_of(f64::from(depth) * (-each.min(1.0)).ln_1p())
}

/// Bits for states: bitstate hashing, a Bloom filter.
pub(super) struct Bits {
    words: Vec<u64>,
    hashes: u32,
    seed: u64,
    ones: u64,
    used: u64,
    /// The sum of the probabilities with which a state that was new would have been taken for known.
    expected: f64,
    /// The sum of the logarithms of the probabilities of the contrary.
    none: f64,
}

impl Bits {
    /// `bytes`: what the bits take, at least eight.
    pub fn new(bytes: u64, hashes: u32, seed: u64) -> Bits {
        let words = vec![0; index(bytes / 8).max(1)];
        Bits { words, hashes, seed, ones: 0, used: 0, expected: 0.0, none: 0.0 }
    }

    /// The bits of a state, by enhanced double hashing (Dillinger and Manolios).
    fn places(&self, state: &[u8]) -> impl Iterator<Item = (usize, u64)> + use<> {
        let [mut a, mut b] = signature(state, self.seed);
        let bits = self.words.len() * 64;
        (0..u64::from(self.hashes)).map(move |round| {
            let at = place(a, bits);
            a = a.wrapping_add(b);
            b = b.wrapping_add(finish(round + 1));
            (at / 64, 1 << (at % 64))
        })
    }

    pub fn contains(&self, state: &[u8]) -> bool {
        self.places(state).all(|(word, bit)| self.words[word] & bit != 0)
    }

    /// The probability that a state that is new finds all its bits set.
    fn each(&self) -> f64 {
        let filled = self.ones as f64 / (self.words.len() as f64 * 64.0);
        filled.powi(self.hashes.cast_signed())
    }

    /// Adds a state; whether one of its bits was not set.
    pub fn insert(&mut self, state: &[u8]) -> bool {
        let each = self.each();
        let mut is_new = false;
        for (word, bit) in self.places(state) {
            if self.words[word] & bit == 0 {
                self.words[word] |= bit;
                self.ones += 1;
                is_new = true;
            }
        }
        if is_new {
            self.used += 1;
            self.expected += each;
            self.none += (-each).ln_1p();
        }
        is_new
    }

    pub fn memory(&self) -> u64 {
        self.words.len() as u64 * 8
    }

    /// What states may have been left out, of those that are at most so deep.
    pub fn omission(&self, depth: u32) -> Omission {
        Omission {
            method: format!("bitstate, {} bytes, {} bits a state", self.memory(), self.hashes),
            seed: self.seed,
            probability: any_of(self.none),
            of_one_state: missed(self.each(), depth),
            expected: self.expected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Different states with little difference.
    fn state(n: u64) -> Vec<u8> {
        let mut state = vec![0x40, 0, 3];
        state.extend_from_slice(&n.to_le_bytes()[..5]);
        state.resize(8 + index(n % 5), 1);
        state
    }

    /// So many states as are left out, on average over some seeds, are as many as the formula says.
    fn left_out(states: u64, mut insert: impl FnMut(u64, u64) -> bool) -> f64 {
        let seeds = 20;
        let left = (0..seeds).map(|seed| (0..states).filter(|&n| !insert(seed, n)).count()).sum::<usize>();
        left as f64 / seeds as f64
    }

    #[test]
    fn compaction_leaves_out_as_many_states_as_its_formula_says() {
        for bits in [20, 24, 28] {
            let states = 40_000;
            let mut sets: Vec<Compacted> = (0..20).map(|seed| Compacted::new(bits, seed)).collect();
            let left = left_out(states, |seed, n| sets[seed as usize].insert(&state(n)));
            let expected = sets[0].omission(10).expected;
            assert!((left - expected).abs() < 0.1 * expected + 4.0 * (expected / 20.0).sqrt(), "{left}, {expected}");
            assert!((0..states).all(|n| sets[3].contains(&state(n))));
        }
        let mut set = Compacted::new(64, 1);
        assert!((0..300_000).all(|n| set.insert(&state(n))) && !set.insert(&state(7)));
        assert!(set.omission(100).probability < 1e-8 && set.omission(100).of_one_state < 1e-11);
    }

    #[test]
    fn bits_leave_out_as_many_states_as_their_formula_says() {
        for (bytes, hashes) in [(16 << 10, 3), (32 << 10, 2), (40 << 10, 4), (128 << 10, 5)] {
            let states = 40_000;
            let mut sets: Vec<Bits> = (0..20).map(|seed| Bits::new(bytes, hashes, seed)).collect();
            let left = left_out(states, |seed, n| sets[seed as usize].insert(&state(n)));
            let expected = sets.iter().map(|set| set.omission(10).expected).sum::<f64>() / 20.0;
            // What was left out would have been asked for too, at about the same odds.
            let expected = expected * states as f64 / (states as f64 - left);
            assert!((left - expected).abs() < 0.1 * expected + 4.0 * (expected / 20.0).sqrt(), "{left}, {expected}");
            assert!((0..states).all(|n| sets[3].contains(&state(n))));
        }
    }
}
