//! Sets of small numbers: nodes, or offsets from the least element of a range.

use crate::number::index_of_word;
/// Most elements that a set can have: the greatest number of nodes.
pub(crate) const MAX_ELEMENTS: u32 = 256;

/// A set of numbers from 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set(pub [u64; 4]);

impl Set {
    /// The set of all numbers below `count`.
    #[inline]
    pub fn all(count: u32) -> Set {
        let mut set = Set::default();
        for (word, below) in set.0.iter_mut().zip((0u32..).step_by(64)) {
            let here = count.saturating_sub(below).min(64);
            *word = if here == 64 { u64::MAX } else { (1 << here) - 1 };
        }
        set
    }

    /// The set whose element `i` is bit `i % 8` of byte `i / 8`.
    #[inline]
    pub fn from_bytes(bytes: &[u8; 32]) -> Set {
        Set(std::array::from_fn(|i| u64::from_le_bytes(std::array::from_fn(|j| bytes[8 * i + j]))))
    }

    /// The same way back.
    #[inline]
    pub fn to_bytes(self) -> [u8; 32] {
        std::array::from_fn(|i| self.0[i / 8].to_le_bytes()[i % 8])
    }

    /// Whether `element`, which may be any number, is in the set.
    #[inline]
    pub fn contains(&self, element: i64) -> bool {
        (0..256).contains(&element) && self.0[index_of_word(element) / 64] >> (element % 64) & 1 == 1
    }

    /// Puts in a number from 0 to 255.
    #[inline]
    pub fn insert(&mut self, element: i64) {
        self.0[index_of_word(element) / 64] |= 1 << (element % 64);
    }

    /// Takes out a number from 0 to 255.
    #[inline]
    pub fn remove(&mut self, element: i64) {
        self.0[index_of_word(element) / 64] &= !(1 << (element % 64));
    }

    /// The least element that is not below `count`.
    // Word by word, and no more than there are: several at once would have to wait until each has been written.
    #[inline]
    pub fn first_from(&self, count: u32) -> Option<i64> {
        (count / 64..MAX_ELEMENTS / 64).find_map(|word| {
            let below = count.saturating_sub(word * 64);
            let bits = self.0[word as usize] & (u64::MAX << below);
            (bits != 0).then(|| i64::from(word * 64 + bits.trailing_zeros()))
        })
    }

    /// How many elements it has.
    #[inline]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// Takes out the least element.
    #[inline]
    pub fn take_least(&mut self) -> Option<i64> {
        for (word, first) in self.0.iter_mut().zip((0u32..).step_by(64)) {
            if *word != 0 {
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some(i64::from(first + bit));
            }
        }
        None
    }

    /// The set that so many words of an event's arguments are.
    pub fn of_words(words: &[i64]) -> Set {
        let mut set = Set::default();
        set.0.iter_mut().zip(words).for_each(|(to, from)| *to = from.cast_unsigned());
        set
    }

    /// The elements in ascending order.
    pub fn iter(mut self) -> impl Iterator<Item = i64> {
        std::iter::from_fn(move || self.take_least())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_outside_is_found() {
        for count in [0, 1, 63, 64, 65, 128, 255, 256] {
            let all = Set::all(count);
            assert_eq!(all.first_from(count), None, "{count}");
            assert_eq!(all.iter().count(), count as usize);
            for element in i64::from(count)..256 {
                let mut more = all;
                more.insert(255);
                more.insert(element);
                assert_eq!(more.first_from(count), Some(element), "{count}");
            }
        }
    }
}
