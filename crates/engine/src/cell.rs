//! A scalar in a record: a little-endian number of few bytes, which is its distance from its first value. A set that is an element is one, too:
//! its bits.

use crate::fault::FaultKind;
use crate::number::{low_u8, low_u16, low_u32};
use crate::set::Set;

/// Fewest bytes (1, 2, 4 or 8) that tell `hi - lo + 1` numbers apart.
pub(crate) fn width(lo: i64, hi: i64) -> u8 {
    match hi.wrapping_sub(lo).cast_unsigned() {
        0..0x100 => 1,
        0x100..0x1_0000 => 2,
        0x1_0000..0x1_0000_0000 => 4,
        _ => 8,
    }
}

/// A little-endian number of `width` bytes.
#[inline(always)]
pub(crate) fn get(bytes: &[u8], at: usize, width: u8) -> u64 {
    match width {
        1 => u64::from(bytes[at]),
        2 => u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])),
        4 => u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))),
        _ => u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")),
    }
}

/// Writes such a number.
#[inline]
pub(crate) fn put(bytes: &mut [u8], at: usize, width: u8, value: u64) {
    match width {
        1 => bytes[at] = low_u8(value),
        2 => bytes[at..at + 2].copy_from_slice(&low_u16(value).to_le_bytes()),
        4 => bytes[at..at + 4].copy_from_slice(&low_u32(value).to_le_bytes()),
        _ => bytes[at..at + 8].copy_from_slice(&value.to_le_bytes()),
    }
}

/// Which nodes a value names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// None: it is no node.
    Nothing,
    /// The one whose number it is.
    Node,
    /// Those whose bits are set.
    Nodes,
}

/// A scalar in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Offset of its first byte.
    pub at: u32,
    /// How many bytes it takes.
    pub width: u8,
    /// Least value.
    pub lo: i64,
    /// Greatest value.
    pub hi: i64,
    /// The value that zero stands for.
    pub initial: i64,
    /// Which nodes it names.
    pub names: Names,
}

impl Cell {
    /// Its value in a record whose part begins at `base`.
    #[inline]
    pub fn read(&self, bytes: &[u8], base: usize) -> i64 {
        self.value(get(bytes, base + self.at as usize, self.width))
    }

    /// Its value where it begins at this byte of the words of an argument.
    #[inline]
    pub fn read_word(&self, words: &Set, from: usize) -> i64 {
        let (word, byte) = (from / 8, from % 8);
        let mut raw = words.0[word] >> (8 * byte);
        if byte + usize::from(self.width) > 8 {
            raw |= words.0[word + 1] << (64 - 8 * byte);
        }
        self.value(raw)
    }

    /// Writes a value that has been checked, where it begins at this byte of the words of an argument, which has been zero so far.
    #[inline]
    pub fn write_word(&self, words: &mut Set, from: usize, value: i64) {
        let raw = value.wrapping_sub(self.initial).cast_unsigned() & self.mask();
        let (word, byte) = (from / 8, from % 8);
        words.0[word] |= raw << (8 * byte);
        if byte + usize::from(self.width) > 8 {
            words.0[word + 1] |= raw >> (64 - 8 * byte);
        }
    }

    /// The bits of its bytes.
    #[inline]
    fn mask(&self) -> u64 {
        u64::MAX >> (64 - 8 * u32::from(self.width))
    }

    /// The value that its bytes stand for, the lowest of these.
    #[inline]
    fn value(&self, raw: u64) -> i64 {
        let offset = raw.wrapping_add(self.initial.wrapping_sub(self.lo).cast_unsigned()) & self.mask();
        self.lo.wrapping_add(offset.cast_signed())
    }

    /// Whether all that its bytes can stand for may be stored.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.hi.wrapping_sub(self.lo).cast_unsigned() == self.mask()
    }

    /// Writes a value that has been checked.
    #[inline]
    pub fn write(&self, bytes: &mut [u8], base: usize, value: i64) {
        put(bytes, base + self.at as usize, self.width, value.wrapping_sub(self.initial).cast_unsigned());
    }

    /// Whether a value may be stored.
    #[inline]
    pub fn check(&self, value: i64) -> Result<(), FaultKind> {
        if (self.lo..=self.hi).contains(&value) {
            Ok(())
        } else if self.names != Names::Node {
            Err(FaultKind::Range { value, lo: self.lo, hi: self.hi })
        } else if value == -1 {
            Err(FaultKind::NoneUsed)
        } else {
            Err(FaultKind::NoSuchNode(value))
        }
    }
}
