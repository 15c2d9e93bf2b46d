//! A queue of short packets from one thread to one other, which nobody has to wait for.
//!
//! A packet lies in a slot of its own, together with the word that tells that it is there. So the receiver has all of it when the lines of that
//! slot have come to its processor, and looks at nothing else. It counts what it has taken in a word of its own, at which the sender only looks when it
//! knows of no free slot: a slot's lines go to the receiver and come back, and for a short packet nothing else moves between the two processors.
//!
//! `crates/run/loom` runs this file under a model checker of threads, so that it uses nothing of Trivium's.

use std::sync::atomic::Ordering;

/// A word that two threads share; another than the standard library's only where a model checker of threads looks at the queue.
pub(super) trait SharedWord: Default {
    fn load(&self, ordering: Ordering) -> u64;
    fn store(&self, value: u64, ordering: Ordering);

    /// The line of the cache in which it lies is going to be read here soon. Nothing depends on it.
    fn will_be_read(&self) {}

    /// The same, to be written.
    fn will_be_written(&self) {}
}

/// Words of a slot: four lines of the cache, which most processors fetch by twos. A short packet uses the first ones; the others are there for a block of 128
/// bytes, FLASH's line, and what is said beside it.
const WORDS: usize = 32;
/// The first word of a slot's second line. Shorter packets end there, and these two lines are what is asked for ahead.
const SECOND_LINE: usize = 8;
/// Bytes of a packet at most, behind the word that tells of it.
pub(super) const SHORT: usize = 8 * (WORDS - 1);
/// The lower bits of that word are the packet's length, the others one more than its number: no packet before it in that slot has the same.
const LENGTH_BITS: u32 = u8::BITS;

#[repr(align(128))]
#[derive(Default)]
struct RingSlot<W>([W; WORDS]);

/// How many packets have been taken.
#[repr(align(128))]
#[derive(Default)]
struct TakenCount<W>(W);

/// The slots. Each end remembers how many packets it has put in, or taken.
pub(super) struct Ring<W> {
    slots: Box<[RingSlot<W>]>,
    taken: TakenCount<W>,
}

impl<W: SharedWord> Ring<W> {
    /// One with so many slots, 0 or a power of two.
    pub(super) fn new(slots: usize) -> Ring<W> {
        Ring { slots: (0..slots).map(|_| RingSlot::default()).collect(), taken: TakenCount::default() }
    }

    fn slot(&self, at: u64) -> &[W; WORDS] {
        let at = usize::try_from(at).unwrap_or_default();
        &self.slots[at & (self.slots.len() - 1)].0
    }

    /// Puts a packet with a number into it, as the one behind the first `before`, of which at least `known` have been taken. Whether it is
    /// short enough, and there is room.
    pub(super) fn put(&self, before: u64, number: u64, packet: &[u8], known: &mut u64) -> bool {
        let slots = self.slots.len() as u64;
        if packet.len() > SHORT {
            return false;
        }
        if before - *known >= slots {
            // What the receiver has read comes before what is written now.
            *known = self.taken.0.load(Ordering::Acquire);
            if before - *known >= slots {
                return false;
            }
        }
        let [told, words @ ..] = self.slot(before);
        let (whole, rest) = packet.as_chunks::<8>();
        for (word, bytes) in words.iter().zip(whole) {
            word.store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
        }
        if !rest.is_empty() {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            words[whole.len()].store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
        told.store((number + 1) << LENGTH_BITS | packet.len() as u64, Ordering::Release);
        if before + 1 - *known < slots {
            // Lines of slots at which nobody looks come back meanwhile.
            let slot = self.slot(before + 2);
            slot[0].will_be_written();
            slot[SECOND_LINE].will_be_written();
        }
        true
    }

    /// Takes the packet behind the first `before`, if it has come and has this number, into a buffer that is empty.
    #[inline]
    pub(super) fn take(&self, before: u64, number: u64, buffer: impl FnOnce() -> Vec<u8>) -> Option<Vec<u8>> {
        let [told, words @ ..] = self.slot(before);
        let found = told.load(Ordering::Acquire);
        if found >> LENGTH_BITS != number + 1 {
            return None;
        }
        let slot = self.slot(before + 1);
        slot[0].will_be_read();
        slot[SECOND_LINE].will_be_read();
        let [length, ..] = found.to_le_bytes();
        let length = usize::from(length);
        let mut bytes = [0; SHORT];
        let (chunks, _) = bytes.as_chunks_mut::<8>();
        for (chunk, word) in chunks.iter_mut().zip(&words[..length.div_ceil(8)]) {
            *chunk = word.load(Ordering::Relaxed).to_le_bytes();
        }
        self.taken.0.store(before + 1, Ordering::Release);
        let mut packet = buffer();
        packet.extend_from_slice(&bytes[..length]);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn what_is_full_or_too_long_takes_nothing() {
        let ring: Ring<AtomicU64> = Ring::new(2);
        let longest = [5; SHORT];
        let known = &mut 0;
        assert!(ring.put(0, 0, &longest, known) && ring.put(1, 3, &[], known));
        assert!(!ring.put(2, 4, &[1], known), "it is full");
        assert_eq!(ring.take(0, 1, Vec::new), None, "another number");
        assert_eq!(ring.take(0, 0, Vec::new), Some(longest.to_vec()));
        assert!(ring.put(2, 4, &[1], known), "there is room again");
        assert_eq!(ring.take(1, 3, Vec::new), Some(Vec::new()));
        assert!(!ring.put(3, 5, &[0; SHORT + 1], known), "too long");
        assert_eq!(ring.take(3, 5, Vec::new), None);
        assert!(!Ring::<AtomicU64>::new(0).put(0, 0, &[1], &mut 0));
    }
}
