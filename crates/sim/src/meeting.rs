//! Where host threads meet at the end of each window, with what they have to tell each other.
//!
//! A window is some microseconds long, and a cache line takes a tenth of one from one processor to another. So a letter
//! is handed over whole, its space is used again, and who has left one is seen where it lies. Who is early looks for the
//! others for a while, then lets other programs have the processor in between, and at last sleeps.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// A meeting of so many threads, again and again. Each leaves a letter for each other one, and takes theirs.
pub(crate) struct Meeting<T> {
    threads: usize,
    yields: u32,
    broken: AtomicBool,
    /// Where who is early sleeps, and how many do.
    bed: Mutex<()>,
    sleeping: AtomicUsize,
    woken: Condvar,
    /// By parity of the round, then by receiver, then by sender. Who is early leaves letters for the next round while
    /// others still take those of this one; nobody is two rounds ahead.
    places: [Vec<Place<T>>; 2],
}

/// Where one thread leaves letters for one other; on cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Place<T> {
    /// The round of the letter that lies there.
    round: AtomicU64,
    letter: Mutex<T>,
}

/// So often a thread looks whether the others have come before it lets other programs go first: some microseconds.
const LOOKS: u32 = 300;

/// So often it lets them, looking in between, before it sleeps; not at all if there are more threads than processors.
/// Who is woken is often put on the processor of who wakes it, where it waits until that one sleeps in turn; who never
/// slept is soon on a processor of its own. If both are on one already, the other goes on at once.
const YIELDS: u32 = 2000;

impl<T: Default> Meeting<T> {
    pub(crate) fn new(threads: usize) -> Meeting<T> {
        let places = || (0..threads * threads).map(|_| Place::default()).collect();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Meeting {
            threads,
            yields: if threads <= processors { YIELDS } else { 0 },
            broken: AtomicBool::new(false),
            bed: Mutex::new(()),
            sleeping: AtomicUsize::new(0),
            woken: Condvar::new(),
            places: [places(), places()],
        }
    }

    fn place(&self, round: u64, to: usize, from: usize) -> &Place<T> {
        &self.places[round as usize % 2][to * self.threads + from]
    }

    /// Meets for the `round`-th time, counted from 1. Leaves a letter for each other thread, by its number, and puts an
    /// old one in its place; then waits until all have come, and puts what they have left for this one into `received`,
    /// by the sender's number. None if the meeting has been broken off.
    pub(crate) fn meet(&self, thread: usize, round: u64, sent: &mut [T], received: &mut [T]) -> Option<()> {
        for to in (0..self.threads).filter(|&to| to != thread) {
            let place = self.place(round, to, thread);
            std::mem::swap(&mut *place.letter.lock().ok()?, &mut sent[to]);
            place.round.store(round, Ordering::SeqCst);
        }
        self.wake();
        for from in (0..self.threads).filter(|&from| from != thread) {
            let place = self.place(round, thread, from);
            self.wait_for(place, round)?;
            std::mem::swap(&mut *place.letter.lock().ok()?, &mut received[from]);
        }
        Some(())
    }

    fn wait_for(&self, place: &Place<T>, round: u64) -> Option<()> {
        let is_there = || place.round.load(Ordering::SeqCst) == round;
        let goes_on = || is_there() || self.broken.load(Ordering::SeqCst);
        let mut looks = 0;
        while !goes_on() && looks < LOOKS + self.yields {
            if looks < LOOKS {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
            looks += 1;
        }
        if !goes_on() {
            let mut bed = self.bed.lock().ok()?;
            self.sleeping.fetch_add(1, Ordering::SeqCst);
            while !goes_on() {
                bed = self.woken.wait(bed).ok()?;
            }
            self.sleeping.fetch_sub(1, Ordering::SeqCst);
        }
        is_there().then_some(())
    }

    /// Sends everyone home, now and at every later meeting.
    pub(crate) fn break_off(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Wakes who sleeps. Who is about to has counted itself, so it is seen here, or it sees what has changed.
    fn wake(&self) {
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            drop(self.bed.lock());
            self.woken.notify_all();
        }
    }
}

/// Breaks a meeting off when a thread leaves it by a panic, so that the others do not wait for it for ever.
pub(crate) struct Present<'a, T: Default>(pub(crate) &'a Meeting<T>);

impl<T: Default> Drop for Present<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.break_off();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_gets_what_everyone_left_for_them() {
        let meeting = Meeting::new(3);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let meeting = &meeting;
                scope.spawn(move || {
                    let mut received = [(0, 0, 0); 3];
                    for round in 1..=200 {
                        let mut sent = [0, 1, 2].map(|to| (round, thread, to));
                        meeting.meet(thread, round, &mut sent, &mut received).unwrap();
                        for from in (0..3).filter(|&from| from != thread) {
                            assert_eq!(received[from], (round, from, thread));
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn who_is_late_wakes_the_others() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            let meeting = &meeting;
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(50));
                meeting.meet(1, 1, &mut [7, 0], &mut [0, 0]).unwrap();
            });
            let mut received = [0, 0];
            meeting.meet(0, 1, &mut [0, 0], &mut received).unwrap();
            assert_eq!(received[1], 7);
        });
    }

    #[test]
    fn nobody_waits_for_one_who_has_left() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| meeting.break_off());
            assert_eq!(meeting.meet(0, 1, &mut [1, 2], &mut [0, 0]), None);
        });
    }
}
