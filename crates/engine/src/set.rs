//! Sets of small numbers: nodes, or offsets from the least element of a range.

use crate::mechanisms::Node;
use crate::number::{fit, index_of_word};
use trivium_protocol::MAX_NODES;

/// Most elements that a set can have: the greatest number of nodes.
pub(crate) const MAX_ELEMENTS: u32 = MAX_NODES;
/// Words of a set.
pub(crate) const WORDS: usize = MAX_ELEMENTS.div_ceil(64) as usize;
/// Elements of a set of which no more than the first words are used; with so many nodes or less all sets are such.
pub(crate) const FEW: u32 = 256;
const FEW_WORDS: usize = FEW.div_ceil(64) as usize;

/// A set of numbers below [`MAX_ELEMENTS`].
///
/// Where an operation takes `few`, it may be told that both before and after it all elements are below [`FEW`]: then it looks
/// at fewer words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set(pub [u64; WORDS]);

impl Set {
    /// The set of all numbers below `count`.
    #[inline]
    pub fn all(count: u32) -> Set {
        let mut set = Set::default();
        let whole = (count / 64) as usize;
        set.0[..whole].fill(u64::MAX);
        if let Some(word) = set.0.get_mut(whole) {
            *word = (1 << (count % 64)) - 1;
        }
        set
    }

    /// The set whose element `i` is bit `i % 8` of byte `i / 8`.
    pub fn from_bytes(bytes: &[u8]) -> Set {
        let mut set = Set::default();
        for (word, bytes) in set.0.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        set
    }

    /// The same way back, as many bytes as there are room for.
    pub fn write_bytes(&self, into: &mut [u8]) {
        for (word, bytes) in self.0.iter().zip(into.chunks_mut(8)) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
    }

    /// Whether `element`, which may be any number, is in the set.
    #[inline]
    pub fn contains(&self, element: i64) -> bool {
        (0..i64::from(MAX_ELEMENTS)).contains(&element)
            && self.0[index_of_word(element) / 64] >> (element % 64) & 1 == 1
    }

    /// Puts in a number below [`MAX_ELEMENTS`].
    #[inline]
    pub fn insert(&mut self, element: i64) {
        self.0[index_of_word(element) / 64] |= 1 << (element % 64);
    }

    /// Takes out a number below [`MAX_ELEMENTS`].
    #[inline]
    pub fn remove(&mut self, element: i64) {
        self.0[index_of_word(element) / 64] &= !(1 << (element % 64));
    }

    /// The least element that is not below `count`.
    #[inline]
    pub fn first_from(&self, count: u32, few: bool) -> Option<i64> {
        let at = (count / 64) as usize;
        let outside = |word: &u64| word & (u64::MAX << (count % 64));
        let words = self.words(few);
        let beyond = words.get(at + 1..).map_or(0, |words| words.iter().fold(0, |all, word| all | word));
        if words.get(at).map_or(0, outside) | beyond == 0 {
            return None;
        }
        self.find_from(count)
    }

    #[cold]
    fn find_from(&self, count: u32) -> Option<i64> {
        (count / 64..MAX_ELEMENTS / 64).find_map(|word| {
            let below = count.saturating_sub(word * 64);
            let bits = self.0[word as usize] & (u64::MAX << below);
            (bits != 0).then(|| i64::from(word * 64 + bits.trailing_zeros()))
        })
    }

    #[inline]
    pub fn words(&self, few: bool) -> &[u64] {
        if few { &self.0[..FEW_WORDS] } else { &self.0 }
    }

    /// Becomes empty.
    #[inline]
    pub fn clear(&mut self, few: bool) {
        if few { self.0[..FEW_WORDS].fill(0) } else { self.0.fill(0) }
    }

    /// Becomes the same as another.
    #[inline]
    pub fn copy(&mut self, from: &Set, few: bool) {
        if few { self.0[..FEW_WORDS].copy_from_slice(&from.0[..FEW_WORDS]) } else { self.0 = from.0 }
    }

    /// How many elements it has.
    #[inline]
    pub fn count(&self, few: bool) -> u32 {
        self.words(few).iter().filter(|word| **word != 0).map(|word| word.count_ones()).sum()
    }

    /// Takes out the least element.
    #[inline]
    pub fn take_least(&mut self, few: bool) -> Option<i64> {
        if few { take_least(&mut self.0[..FEW_WORDS]) } else { take_least(&mut self.0) }
    }

    /// The least element.
    #[inline]
    pub fn least(&self, few: bool) -> Option<i64> {
        let words = self.words(few);
        let (word, first) = words.iter().zip((0u32..).step_by(64)).find(|(word, _)| **word != 0)?;
        Some(i64::from(first + word.trailing_zeros()))
    }

    /// The set that so many words of an event's arguments are.
    pub fn of_words(words: &[i64]) -> Set {
        let mut set = Set::default();
        set.0.iter_mut().zip(words).for_each(|(to, from)| *to = from.cast_unsigned());
        set
    }

    /// The nodes of a set of nodes, in ascending order.
    #[inline]
    pub fn nodes(&self, few: bool) -> impl Iterator<Item = Node> {
        self.iter(few).map(|bit| fit(bit, "the number of a node"))
    }

    /// The elements in ascending order.
    #[inline]
    pub fn iter(&self, few: bool) -> impl Iterator<Item = i64> {
        let words = self.words(few);
        let (mut at, mut first, mut bits) = (0, 0, words[0]);
        std::iter::from_fn(move || {
            while bits == 0 {
                (at, first) = (at + 1, first + 64);
                bits = *words.get(at)?;
            }
            let bit = bits.trailing_zeros();
            bits &= bits - 1;
            Some(first + i64::from(bit))
        })
    }
}

#[inline]
fn take_least(words: &mut [u64]) -> Option<i64> {
    for (word, first) in words.iter_mut().zip((0u32..).step_by(64)) {
        if *word != 0 {
            let bit = word.trailing_zeros();
            *word &= *word - 1;
            return Some(i64::from(first + bit));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_back() {
        for count in [1, 7, 8, 9, 63, 64, 65, 129, 256, 257, 1000, 1024] {
            let mut set = Set::default();
            (0..count).step_by(3).for_each(|element| set.insert(element));
            let mut bytes = vec![0xff; (count as usize).div_ceil(8)];
            set.write_bytes(&mut bytes);
            assert_eq!(Set::from_bytes(&bytes), set, "{count}");
            assert_eq!(set.count(false) as usize, set.iter(false).count());
        }
    }

    #[test]
    fn what_lies_outside_is_found() {
        for count in [0, 1, 63, 64, 65, 128, 255, 256, 1000, 1023, 1024] {
            let all = Set::all(count);
            assert_eq!(all.first_from(count, false), None, "{count}");
            assert_eq!(all.iter(false).count(), count as usize);
            for element in i64::from(count)..1024 {
                let mut more = all;
                more.insert(1023);
                more.insert(element);
                assert_eq!(more.least(false), if count > 0 { Some(0) } else { Some(element) });
                assert_eq!(more.first_from(count, false), Some(element), "{count}");
            }
        }
    }
}
