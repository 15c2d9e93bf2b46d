//! Packed states: of the fixed part only the bytes that are not zero.
//!
//! Eight bytes become a mask, bit i for byte i, and the bytes whose bit is set. What has no fixed size follows as the
//! codec writes it.

use crate::model::Model;
use crate::world::World;

/// Writes a state.
pub(crate) fn pack(model: &Model, world: &World, out: &mut Vec<u8>) {
    out.clear();
    for group in world.fixed.chunks(8) {
        let mask_at = out.len();
        out.push(0);
        let mut mask = 0;
        for (bit, &byte) in group.iter().enumerate() {
            if byte != 0 {
                mask |= 1 << bit;
                out.push(byte);
            }
        }
        out[mask_at] = mask;
    }
    model.codec.encode_moving(world, out);
}

/// Reads a state.
pub(crate) fn unpack(model: &Model, bytes: &[u8], world: &mut World) {
    world.fixed.clear();
    world.fixed.resize(model.layout.len, 0);
    let mut rest = bytes;
    for group in world.fixed.chunks_mut(8) {
        let mut mask = rest[0];
        rest = &rest[1..];
        while mask != 0 {
            group[mask.trailing_zeros() as usize] = rest[0];
            rest = &rest[1..];
            mask &= mask - 1;
        }
    }
    model.codec.decode_moving(rest, world);
}

/// A hash of a packed state: eight bytes at a time, each folded in by a wide multiplication.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
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
