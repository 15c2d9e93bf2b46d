//! From which state each state was first reached, in about two bits a state; and other numbers of states that never decrease.
//!
//! States are numbered in the order in which they are found, and found in the order in which states are expanded. So
//! the parents of states in order never decrease, and only their steps are written: a 1 for each number that is passed
//! over, and a 0 for each state.

/// Entries between two whose numbers are known.
const STRIDE: usize = 1 << 8;

/// Numbers that never decrease.
#[derive(Default)]
pub(super) struct Ascending {
    words: Vec<u64>,
    bits: usize,
    entries: usize,
    last: u64,
    /// For every so many entries: the bit at which the steps of the next begin, and the number of the one before.
    known: Vec<(usize, u64)>,
}

impl Ascending {
    /// Adds a number, which is not less than the last one.
    pub fn push(&mut self, number: u64) {
        if self.entries.is_multiple_of(STRIDE) {
            self.known.push((self.bits, self.last));
        }
        let passed = number.checked_sub(self.last).expect("states are found in the order of their parents");
        (0..passed).for_each(|_| self.push_bit(1));
        self.push_bit(0);
        self.last = number;
        self.entries += 1;
    }

    fn push_bit(&mut self, bit: u64) {
        if self.bits.is_multiple_of(64) {
            self.words.push(0);
        }
        self.words[self.bits / 64] |= bit << (self.bits % 64);
        self.bits += 1;
    }

    pub fn len(&self) -> usize {
        self.entries
    }

    /// The number of an entry.
    pub fn get(&self, entry: usize) -> u64 {
        let (mut bit, mut number) = self.known[entry / STRIDE];
        let mut entries = entry % STRIDE + 1;
        while entries > 0 {
            match self.words[bit / 64] >> (bit % 64) & 1 {
                0 => entries -= 1,
                _ => number += 1,
            }
            bit += 1;
        }
        number
    }

    /// The first entry that has a number, where there is one.
    pub fn find(&self, number: u64) -> Option<usize> {
        let (mut from, mut to) = (0, self.entries);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.get(middle) < number { from = middle + 1 } else { to = middle }
        }
        (from < self.entries && self.get(from) == number).then_some(from)
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        (self.words.capacity() * size_of::<u64>() + self.known.capacity() * size_of::<(usize, u64)>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_come_back() {
        let steps = [0, 0, 1, 3, 0, 63, 64, 65, 128, 0, 1, 127, 300, 2];
        let mut ascending = Ascending::default();
        let given: Vec<u64> = (0..5 * STRIDE)
            .scan(0, |number, entry| {
                *number += steps[(entry + entry / 7) % steps.len()];
                Some(*number)
            })
            .collect();
        given.iter().for_each(|&number| ascending.push(number));
        assert!((0..).zip(&given).all(|(entry, &number)| ascending.get(entry) == number));
        let last = *given.last().unwrap();
        // In steps, which meet all distances from the numbers that are there.
        for number in (0..last + 10).step_by(13) {
            let first = given.partition_point(|&given| given < number);
            assert_eq!(ascending.find(number), (given.get(first) == Some(&number)).then_some(first), "{number}");
        }
    }
}
