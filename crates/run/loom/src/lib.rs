//! `crates/run/src/transport/ring.rs` under loom, which goes through every order of two threads' steps, and through what each may see of the other's
//! memory, as far as these differ.
#![cfg(test)]

#[path = "../../src/transport/ring.rs"]
mod ring;

use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use ring::{Ring, SharedWord};
use std::sync::atomic::Ordering;

impl SharedWord for AtomicU64 {
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }
}

/// For the tests of that file itself.
impl SharedWord for std::sync::atomic::AtomicU64 {
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }
}

/// Two words, of which a wrong order would be seen, the second of another length each time.
fn packet(number: u64) -> Vec<u8> {
    let mut bytes = [(number + 1).to_le_bytes(), (!number).to_le_bytes()].concat();
    bytes.truncate(9 + number as usize);
    bytes
}

/// What loom does not try is a load that sees a store of later: whether a slot may be filled again too early is not shown here.
/// Who takes sees the packets, whole and in their order, and who puts overwrites none that has not been taken.
#[test]
fn packets_come_whole_and_in_their_order_whatever_the_threads_see() {
    for (slots, packets) in [(1, 2), (2, 3)] {
        loom::model(move || {
            let ring: Arc<Ring<AtomicU64>> = Arc::new(Ring::new(slots));
            let other = ring.clone();
            let puts = loom::thread::spawn(move || {
                let mut known = 0;
                for number in 0..packets {
                    while !other.put(number, 7 + number, &packet(number), &mut known) {
                        loom::thread::yield_now();
                    }
                }
            });
            for number in 0..packets {
                let taken = loop {
                    match ring.take(number, 7 + number, Vec::new) {
                        Some(taken) => break taken,
                        None => loom::thread::yield_now(),
                    }
                };
                assert_eq!(taken, packet(number));
            }
            puts.join().unwrap();
        });
    }
}
