//! `crates/run/src/transport/ring.rs` and `crates/sim/src/order/told.rs` under loom, which goes through every order of threads' steps, and through what each may see of
//! the others' memory, as far as these differ.
#![cfg(test)]

#[path = "../../src/transport/ring.rs"]
mod ring;
#[path = "../../../sim/src/order/told.rs"]
mod told;

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

impl told::SharedWord for AtomicU64 {
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    fn fence(ordering: Ordering) {
        loom::sync::atomic::fence(ordering);
    }
}

/// Words of one thread that are read are all of one time of telling.
#[test]
fn words_of_one_thread_are_of_one_moment() {
    loom::model(|| {
        let all = Arc::new([told::Told::<AtomicU64>::new(2)]);
        let other = all.clone();
        let tells = loom::thread::spawn(move || {
            for round in 1..3 {
                other[0].tell([(0, round), (1, round)]);
            }
        });
        let (mut seen, mut words) = ([told::NEVER], [7, 8]);
        if told::as_of_one_moment(&all[..], 0..1, &mut seen, || words = [0, 1].map(|word| all[0].word(word))) {
            assert_eq!((words[0], 2 * words[0]), (words[1], seen[0]));
        }
        tells.join().unwrap();
    });
}

/// One thread tells something after it has heard the other: nobody reads what it tells and what the other told before that.
#[test]
fn words_of_several_threads_are_of_one_moment() {
    loom::model(|| {
        let all = Arc::new([told::Told::<AtomicU64>::new(1), told::Told::new(1)]);
        let (first, second) = (all.clone(), all.clone());
        let tells = loom::thread::spawn(move || first[0].tell([(0, 1)]));
        let hears = loom::thread::spawn(move || {
            if second[0].word_alone(0) == 1 || second[0].version() == 2 {
                second[1].tell([(0, 1)]);
            }
        });
        let (mut seen, mut words) = ([told::NEVER; 2], [7, 7]);
        if told::as_of_one_moment(&all[..], 0..2, &mut seen, || words = [0, 1].map(|thread| all[thread].word(0))) {
            assert_ne!(words, [0, 1], "the answer without what it answers");
        }
        tells.join().unwrap();
        hears.join().unwrap();
    });
}
