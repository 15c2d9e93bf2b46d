//! Packed states: of the fixed part only the bytes that are not zero.
//!
//! Eight bytes become a mask, bit i for byte i, and the bytes whose bit is set. What has no fixed size follows as the
//! codec writes it. Where only some groups differ from those of a state that was read, the others are written as they
//! were read.

use crate::system::layout::GROUP;
use crate::system::model::Model;
use crate::system::world::World;
use std::ops::Deref;
use trivium_engine::number::low_u8;

/// A packed state: the first so many bytes of room that is used again for the next.
#[derive(Default)]
pub(crate) struct Packed {
    room: Vec<u8>,
    len: usize,
}

impl Deref for Packed {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.room[..self.len]
    }
}

impl Packed {
    /// Nothing is written.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Room for a state of so many groups, however they are written, and for what is written behind a group's bytes and then
    /// overwritten.
    #[inline]
    fn make_room(&mut self, model: &Model, world: &World, groups: usize) {
        let room = groups * (GROUP + 1) + WINDOW + model.codec.room(world);
        if self.room.len() < room {
            self.room.resize(room, 0);
        }
    }
}

/// Writes a state.
pub(crate) fn pack(model: &Model, world: &World, out: &mut Packed) {
    let (groups, _) = world.fixed.as_chunks::<GROUP>();
    out.make_room(model, world, groups.len());
    let mut len = 0;
    for group in groups {
        len += pack_group(*group, &mut out.room[len..]);
    }
    out.len = model.codec.encode_moving_at(world, &mut out.room, len);
}

/// Writes a state of which the fixed part is given, the software queues as they are written, and each message as it is written, which is
/// short.
pub(super) fn pack_short(
    fixed: &[u8],
    queues: &[u8],
    moving: impl ExactSizeIterator<Item = (u64, u8)>,
    out: &mut Packed,
) {
    let (groups, _) = fixed.as_chunks::<GROUP>();
    let room = groups.len() * (GROUP + 1) + WINDOW + queues.len() + (moving.len() + 1) * size_of::<u64>();
    if out.room.len() < room {
        out.room.resize(room, 0);
    }
    let mut len = 0;
    for group in groups {
        len += pack_group(*group, &mut out.room[len..]);
    }
    out.room[len..len + queues.len()].copy_from_slice(queues);
    len += queues.len();
    for (bytes, taken) in moving {
        if let Some(room) = out.room.get_mut(len..).and_then(<[u8]>::first_chunk_mut) {
            *room = bytes.to_le_bytes();
            len += usize::from(taken);
        }
    }
    out.len = len;
}

/// The groups of a state as they are written: what leads from it changes few of them.
#[derive(Default)]
pub(crate) struct Groups(Vec<[u8; WINDOW]>);

/// Where [`Groups`] has how many bytes a group takes: behind them.
const TAKEN: usize = WINDOW - 1;

impl Groups {
    /// Writes a state that has much in common with another, whose groups these are.
    pub fn pack(&self, model: &Model, other: &World, world: &World, out: &mut Packed) {
        let (groups, _) = world.fixed.as_chunks::<GROUP>();
        let (others, _) = other.fixed.as_chunks::<GROUP>();
        out.make_room(model, world, groups.len());
        let mut len = 0;
        for ((group, other), written) in groups.iter().zip(others).zip(&self.0) {
            let room = &mut out.room[len..];
            len += match room.first_chunk_mut::<WINDOW>() {
                Some(room) if group == other => {
                    *room = *written;
                    usize::from(written[TAKEN])
                }
                _ => pack_group(*group, room),
            };
        }
        out.len = model.codec.encode_moving_at(world, &mut out.room, len);
    }
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

/// The lowest bit of byte i is set if bit i is.
#[inline]
fn lowest(mask: u8) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    // Byte i has only bit i, if that is set; the highest bit of the sum tells it.
    let apart = (ONES * u64::from(mask)) & 0x8040_2010_0804_0201;
    (apart + ONES * 0x7f) >> 7 & ONES
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
    unpack_groups(model, bytes, world, &mut Groups::default());
}

/// Reads a state, and how its groups are written.
pub(crate) fn unpack_groups(model: &Model, bytes: &[u8], world: &mut World, written: &mut Groups) {
    world.fixed.resize(model.layout.len, 0);
    let (groups, _) = world.fixed.as_chunks_mut::<GROUP>();
    written.0.resize(groups.len(), [0; WINDOW]);
    let mut at = 0;
    for (group, written) in groups.iter_mut().zip(&mut written.0) {
        let rest = &bytes[at..];
        let mask = rest[0];
        let taken = 1 + mask.count_ones() as usize;
        match rest.first_chunk::<WINDOW>() {
            Some(window) => *written = *window,
            None => written[..taken].copy_from_slice(&rest[..taken]),
        }
        written[TAKEN] = low_u8(taken as u64);
        // The bytes that are not 0, and where each goes: a bit at its lowest.
        let mut present = halves(u128::from_le_bytes(*written) >> 8)[0];
        let mut places = lowest(mask);
        let mut word = 0;
        while places != 0 {
            word |= (present & 0xff) << places.trailing_zeros();
            present >>= 8;
            places &= places - 1;
        }
        *group = word.to_le_bytes();
        at += taken;
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
    use super::{GROUP, hash, lowest, nonzero, pack_group};

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
                assert_eq!(lowest(mask), u64::from_le_bytes(bytes.map(|byte| u8::from(byte != 0))), "{bytes:?}");
            }
        }
    }
}
