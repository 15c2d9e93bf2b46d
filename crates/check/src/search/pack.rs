//! Packed states: of the fixed part only the bytes that are not zero.
//!
//! Eight bytes become a mask, bit i for byte i, and the bytes whose bit is set. What has no fixed size follows as the
//! codec writes it.

use crate::layout::GROUP;
use crate::model::Model;
use crate::world::World;

/// Writes a state.
pub(crate) fn pack(model: &Model, world: &World, out: &mut Vec<u8>) {
    let (groups, _) = world.fixed.as_chunks::<GROUP>();
    out.resize(groups.len() * (GROUP + 1), 0);
    let mut len = 0;
    for group in groups {
        let mut rest = nonzero(u64::from_le_bytes(*group));
        out[len] = rest;
        len += 1;
        while rest != 0 {
            out[len] = group[rest.trailing_zeros() as usize % GROUP];
            len += 1;
            rest &= rest - 1;
        }
    }
    out.truncate(len);
    model.codec.encode_moving(world, out);
}

/// Bit i is set if byte i is not 0.
#[inline]
fn nonzero(word: u64) -> u8 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const LOW: u64 = ONES * 0x7f;
    let highest = ((((word & LOW) + LOW) | word) >> 7) & ONES;
    // Adds up each byte's bit at its place among the highest eight bits.
    (highest.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
}

/// Reads a state.
pub(crate) fn unpack(model: &Model, bytes: &[u8], world: &mut World) {
    world.fixed.resize(model.layout.len, 0);
    let mut at = 0;
    for group in world.fixed.as_chunks_mut::<GROUP>().0 {
        *group = [0; GROUP];
        let mut mask = bytes[at];
        at += 1;
        while mask != 0 {
            group[mask.trailing_zeros() as usize % GROUP] = bytes[at];
            at += 1;
            mask &= mask - 1;
        }
    }
    model.codec.decode_moving(&bytes[at..], world);
}

/// The low and the high half of a word of 128 bits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
pub(super) fn halves(word: u128) -> [u64; 2] {
    [word as u64, (word >> 64) as u64]
}

/// A hash of a packed state: eight bytes at a time, each folded in by a wide multiplication.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        let [low, high] = halves(product);
        low ^ high
    };
    let mut hash = FACTOR ^ bytes.len() as u64;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        hash = fold(hash ^ u64::from_le_bytes(word.try_into().expect("eight bytes")), FACTOR);
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    fold(fold(hash ^ u64::from_le_bytes(last), FACTOR) ^ FACTOR, 0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::nonzero;

    #[test]
    fn a_mask_has_the_bit_of_each_byte_that_is_not_zero() {
        for mask in 0..=u8::MAX {
            for value in [1, 0x7f, 0x80, 0xff] {
                let bytes: [u8; 8] = std::array::from_fn(|i| if mask >> i & 1 == 1 { value } else { 0 });
                assert_eq!(nonzero(u64::from_le_bytes(bytes)), mask, "{bytes:?}");
            }
        }
    }
}
