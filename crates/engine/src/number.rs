//! Numbers of one type as numbers of another, where the second cannot hold all of the first. `as` would cut what does
//! not fit, in silence; here it is said what happens.

use std::fmt::Display;

// Offsets and counts of 64 bits index memory.
const _: () = assert!(usize::BITS == 64, "Trivium needs a machine with pointers of 64 bits");

/// A number of 64 bits as an index or a length.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "pointers have 64 bits, as asserted above")]
pub const fn index(number: u64) -> usize {
    number as usize
}

/// An index that is a word, of which the sign is known: one that is negative is beyond everything.
#[inline]
pub const fn index_of_word(word: i64) -> usize {
    index(word.cast_unsigned())
}

/// A number in a smaller type, which it fits for the reason given.
///
/// # Panics
/// If it does not fit: the reason is wrong.
#[inline]
#[track_caller]
pub fn fit<From: Copy + Display, To: TryFrom<From>>(number: From, why: &'static str) -> To {
    match To::try_from(number) {
        Ok(fitting) => fitting,
        Err(_) => unfit(number, why),
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn unfit(number: impl Display, why: &str) -> ! {
    panic!("{number} does not fit {why}")
}

/// The low 8 bits of a word that holds several numbers.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are other numbers")]
pub const fn low_u8(word: u64) -> u8 {
    word as u8
}

/// The low 16 bits of a word that holds several numbers.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are other numbers")]
pub const fn low_u16(word: u64) -> u16 {
    word as u16
}

/// The low 32 bits of a word that holds several numbers.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are other numbers")]
pub const fn low_u32(word: u64) -> u32 {
    word as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_comes_through() {
        assert_eq!(fit::<_, u16>(65_535_usize, "a test"), 65_535);
        assert_eq!((low_u8(0x1234), low_u16(0x1_0002), low_u32(u64::MAX)), (0x34, 2, u32::MAX));
    }

    #[test]
    #[should_panic(expected = "65536 does not fit two bytes")]
    fn what_does_not_fit_is_not_cut() {
        fit::<_, u16>(65_536_usize, "two bytes");
    }
}
