//! Packed states: of the fixed part only the bytes that are not zero.
//!
//! Eight bytes become a mask, bit i for byte i, and the bytes whose bit is set. What has no fixed size follows as the
//! codec writes it.

use crate::system::layout::GROUP;
use crate::system::model::Model;
use crate::system::world::World;
use trivium_engine::number::low_u8;

/// Writes a state.
pub(crate) fn pack(model: &Model, world: &World, out: &mut Vec<u8>) {
    let (groups, _) = world.fixed.as_chunks::<GROUP>();
    // Room for the longest, and for what is written behind a group's bytes and then overwritten.
    let room = groups.len() * (GROUP + 1) + WINDOW + model.codec.room(world);
    if out.len() < room {
        out.resize(room, 0);
    }
    let mut len = 0;
    for group in groups {
        len += pack_group(*group, &mut out[len..]);
    }
    model.codec.encode_moving_at(world, out, len);
}

/// Bytes that are written at once.
const WINDOW: usize = 2 * GROUP;

/// Writes one group; how many bytes it takes.
#[inline]
fn pack_group(group: [u8; GROUP], out: &mut [u8]) -> usize {
    let mut rest = u64::from_le_bytes(group);
    let Some(out) = out.first_chunk_mut::<WINDOW>() else { return 0 };
    out[0] = nonzero(rest);
    let mut len = 0;
    while rest != 0 {
        // What is 0 in front of the next byte is passed over.
        rest >>= rest.trailing_zeros() & !7;
        len += 1;
        out[len % WINDOW] = low_u8(rest);
        rest >>= 8;
    }
    1 + len
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
        let present = &bytes[at + 1..][..mask.count_ones() as usize];
        at += 1 + present.len();
        for &byte in present {
            group[mask.trailing_zeros() as usize % GROUP] = byte;
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
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        hash = fold(hash ^ u64::from_le_bytes(*word), FACTOR);
    }
    // What is left, as the low bytes of a word.
    let last = match bytes.last_chunk::<8>() {
        _ if rest.is_empty() => 0,
        Some(last) => u64::from_le_bytes(*last) >> (64 - 8 * rest.len()),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    fold(fold(hash ^ last, FACTOR) ^ FACTOR, 0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use super::{GROUP, hash, nonzero, pack_group};

    #[test]
    fn a_group_is_its_mask_and_what_is_not_zero() {
        let mut out = [9; 3 * GROUP];
        assert_eq!(pack_group([0; GROUP], &mut out), 1);
        assert_eq!(out[0], 0);
        assert_eq!(pack_group([0, 7, 0, 0, 8, 0, 0, 1], &mut out), 4);
        assert_eq!(out[..4], [0b1001_0010, 7, 8, 1]);
        assert_eq!(pack_group([5; GROUP], &mut out), 9);
        assert_eq!(out[..9], [0xff, 5, 5, 5, 5, 5, 5, 5, 5]);
    }

    /// States are dealt, and bits are set, by their hashes: results of before must stay.
    #[test]
    fn hashes_stay_what_they_were() {
        let bytes: Vec<u8> = (1..=20).collect();
        let hashes = [0, 1, 7, 8, 9, 16, 20].map(|len| hash(&bytes[..len]));
        assert_eq!(hashes, HASHES);
    }

    const HASHES: [u64; 7] = [
        0x4ff1d0101e385c74,
        0x4ff1d0101e385c74,
        0xce66b49f0b8304f6,
        0x2c1a94ca357745fa,
        0x98bb8b281533705a,
        0x51ede263726d85c2,
        0xaa2b3d3b0164240a,
    ];

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
