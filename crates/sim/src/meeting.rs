//! Where host threads meet at the end of each window, with what they have to tell each other.
//!
//! A window is some microseconds long, so who is early looks for the others for a while. Then it sleeps: the other may
//! need its processor.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

/// A meeting of so many threads, again and again. Each leaves a value for each other one, and takes theirs.
pub(crate) struct Meeting<T> {
    threads: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    /// Where who is early sleeps, and how many do.
    bed: Mutex<usize>,
    woken: Condvar,
    /// By parity of the round, then by receiver, then by sender. Who is early leaves values for the next round while
    /// others still take those of this one.
    letters: [Vec<Vec<Mutex<Option<T>>>>; 2],
}

/// So often a thread looks whether all have come before it sleeps: some 20 microseconds.
const LOOKS: u32 = 1500;

impl<T> Meeting<T> {
    pub(crate) fn new(threads: usize) -> Meeting<T> {
        let letters = || (0..threads).map(|_| (0..threads).map(|_| Mutex::new(None)).collect()).collect();
        Meeting {
            threads,
            arrived: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            bed: Mutex::new(0),
            woken: Condvar::new(),
            letters: [letters(), letters()],
        }
    }

    /// Leaves one value for each thread, waits until all have come, and gives what they have left for this one, in
    /// the order of the threads; none if the meeting has been broken off.
    pub(crate) fn meet(&self, thread: usize, values: impl Iterator<Item = T>) -> Option<Vec<T>> {
        let round = self.round.load(Ordering::Acquire);
        let letters = &self.letters[round % 2];
        for (to, value) in letters.iter().zip(values) {
            *to[thread].lock().ok()? = Some(value);
        }
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round + 1, Ordering::SeqCst);
            self.wake();
        }
        let goes_on = || self.round.load(Ordering::SeqCst) != round || self.broken.load(Ordering::SeqCst);
        let mut looks = 0;
        while !goes_on() && looks < LOOKS {
            std::hint::spin_loop();
            looks += 1;
        }
        if !goes_on() {
            let mut sleeping = self.bed.lock().ok()?;
            *sleeping += 1;
            while !goes_on() {
                sleeping = self.woken.wait(sleeping).ok()?;
            }
            *sleeping -= 1;
        }
        if self.round.load(Ordering::SeqCst) == round {
            return None;
        }
        letters[thread].iter().map(|letter| letter.lock().ok()?.take()).collect()
    }

    /// Sends everyone home, now and at every later meeting.
    pub(crate) fn break_off(&self) {
        self.broken.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Wakes who sleeps. Who is about to looks again once it has the lock.
    fn wake(&self) {
        if let Ok(sleeping) = self.bed.lock()
            && *sleeping > 0
        {
            self.woken.notify_all();
        }
    }
}

/// Breaks a meeting off when a thread leaves it by a panic, so that the others do not wait for it for ever.
pub(crate) struct Present<'a, T>(pub(crate) &'a Meeting<T>);

impl<T> Drop for Present<'_, T> {
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
                    for round in 0..200 {
                        let got = meeting.meet(thread, (0..3).map(|to| (round, thread, to))).unwrap();
                        assert_eq!(got, [(round, 0, thread), (round, 1, thread), (round, 2, thread)]);
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_for_one_who_has_left() {
        let meeting = Meeting::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| meeting.break_off());
            assert_eq!(meeting.meet(0, [1, 2].into_iter()), None);
        });
    }
}
