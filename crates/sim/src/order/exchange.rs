//! What host threads tell each other while each simulates its part: how far it has come, and letters.
//!
//! A thread tells when it next does anything by itself, and which of the letters that are on their way will make another
//! do something, and when. The least of all that bounds what others still do: nobody is to be felt earlier than a
//! lookahead after it. A bound needs all of it as of one moment, or a letter that one has just read, and its sender
//! therefore no longer tells, could be missed; so each thread's words have a version, and who reads them all looks
//! whether one has changed meanwhile.
//!
//! A cache line takes a tenth of a microsecond from one processor of the host to another. So all words of a thread lie on
//! as few lines as they can, a letter is handed over whole, and its space is used again. Who has nothing to do looks for
//! news for a while, then lets other programs have the processor in between, and at last sleeps.

use super::told::{SharedWord, Told, as_of_one_moment};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// What one thread leaves for another.
pub(crate) trait Mail: Default {
    /// What was written later goes behind this, and is empty then.
    fn append(&mut self, later: &mut Self);
}

/// Where so many threads leave letters for each other, and say how far they have come.
pub(crate) struct Exchange<T> {
    threads: usize,
    yields: u32,
    told: Vec<Told<AtomicU64>>,
    /// By receiver, then by sender.
    places: Vec<Mailbox<T>>,
    /// 0, or why everyone is to stop.
    stopped: AtomicU64,
    /// Where who has nothing to do sleeps, and how many do.
    bed: Mutex<()>,
    sleeping: AtomicUsize,
    woken: Condvar,
}

/// Why a thread is to stop before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The simulation is given up.
    BrokenOff,
    /// It was asked to end.
    Cancelled,
    /// It takes too much of the host's memory.
    Memory,
}

// The words that a thread tells all others.
/// When it next does something, but for letters that it has not read.
const NEXT: usize = 0;
/// Then for each other thread: letters written to it, its letters that have been read, and the earliest effect of
/// letters to it that it has not read.
const WRITTEN: usize = 1;
const READ: usize = 2;
const ON_WAY: usize = 3;
/// So many words for each thread.
const EACH: usize = 3;

/// The word of this kind for a thread.
fn of(what: usize, thread: usize) -> usize {
    what + EACH * thread
}

impl SharedWord for AtomicU64 {
    fn load(&self, ordering: Ordering) -> u64 {
        self.load(ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        self.store(value, ordering);
    }

    fn fence(ordering: Ordering) {
        fence(ordering);
    }
}

/// Where one thread leaves letters for one other; on cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Mailbox<T>(Mutex<Heap<T>>);

/// What lies there.
#[derive(Default)]
struct Heap<T> {
    /// How many letters have been left in all.
    count: u64,
    /// Those that have not been taken, as one.
    letter: T,
    is_empty: bool,
}

/// So often a thread looks for news before it lets other programs go first: some microseconds.
const LOOKS: u32 = 300;

/// So often it lets them, looking in between, before it sleeps; not at all if there are more threads than processors.
/// Who is woken is often put on the processor of who wakes it, where it waits until that one sleeps in turn; who never
/// slept is soon on a processor of its own. If both are on one already, the other goes on at once.
const YIELDS: u32 = 2000;

/// A sleeper looks after so long anyway, so that nobody who tells something must wait until it is seen.
const NAP: Duration = Duration::from_millis(1);

/// So often a thread tries to read the words of all as of one moment.
const TRIES: u32 = 8;

impl<T: Mail> Exchange<T> {
    pub(crate) fn new(threads: usize) -> Exchange<T> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Exchange {
            threads,
            yields: if threads <= processors { YIELDS } else { 0 },
            told: (0..threads).map(|_| Told::new(WRITTEN + EACH * threads)).collect(),
            places: (0..threads * threads)
                .map(|_| Mailbox(Mutex::new(Heap { is_empty: true, ..Heap::default() })))
                .collect(),
            stopped: AtomicU64::new(0),
            bed: Mutex::new(()),
            sleeping: AtomicUsize::new(0),
            woken: Condvar::new(),
        }
    }

    fn place(&self, to: usize, from: usize) -> &Mailbox<T> {
        &self.places[to * self.threads + from]
    }

    /// Why everyone is to stop, if they are.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        match self.stopped.load(Ordering::Relaxed) {
            0 => None,
            1 => Some(Stop::BrokenOff),
            2 => Some(Stop::Cancelled),
            _ => Some(Stop::Memory),
        }
    }

    /// Asks everyone to stop.
    pub(crate) fn stop(&self, why: Stop) {
        let why = match why {
            Stop::BrokenOff => 1,
            Stop::Cancelled => 2,
            Stop::Memory => 3,
        };
        let _ = self.stopped.compare_exchange(0, why, Ordering::SeqCst, Ordering::SeqCst);
        self.wake();
    }

    fn wake(&self) {
        if self.sleeping.load(Ordering::Relaxed) > 0 {
            drop(self.bed.lock());
            self.woken.notify_all();
        }
    }
}

/// A thread's own side of the exchange.
pub(crate) struct Desk<'a, T> {
    exchange: &'a Exchange<T>,
    thread: usize,
    /// What it has told so far.
    next: u64,
    /// Letters written to each thread, and letters of each that have been read.
    written: Vec<u64>,
    read: Vec<u64>,
    /// Letters to each thread that it has not read as far as is known: their number, and when they have an effect.
    on_way: Vec<VecDeque<(u64, u64)>>,
    /// Whether anything has changed since it last told.
    has_news: bool,
    /// The version of each thread's words that was read last, `told::NEVER` if that came to nothing.
    seen: Vec<u64>,
    /// How many letters each thread has read, as it told last.
    acknowledged: Vec<u64>,
    /// When others next do something, but for letters of this thread.
    others: u64,
}

impl<'a, T: Mail> Desk<'a, T> {
    /// That of one thread. Until it tells something else, it may do something at cycle 0.
    pub(crate) fn new(exchange: &'a Exchange<T>, thread: usize) -> Desk<'a, T> {
        let threads = exchange.threads;
        Desk {
            exchange,
            thread,
            next: 0,
            written: vec![0; threads],
            read: vec![0; threads],
            on_way: vec![VecDeque::new(); threads],
            has_news: false,
            seen: vec![0; threads],
            acknowledged: vec![0; threads],
            others: 0,
        }
    }

    fn other_threads(&self) -> impl Iterator<Item = usize> + use<T> {
        let me = self.thread;
        (0..self.written.len()).filter(move |&thread| thread != me)
    }

    /// Nobody else does anything before that, as far as is known.
    pub(crate) fn others(&self) -> u64 {
        self.other_threads().map(|to| self.on_way_to(to)).fold(self.others, u64::min)
    }

    fn on_way_to(&self, to: usize) -> u64 {
        self.on_way[to].iter().map(|letter| letter.1).min().unwrap_or(u64::MAX)
    }

    /// Leaves a letter for a thread, which makes it do something at cycle `effect` at the earliest, `u64::MAX` for
    /// never. It is empty then. Others know of it when this thread tells something.
    pub(crate) fn send(&mut self, to: usize, letter: &mut T, effect: u64) {
        self.written[to] += 1;
        self.on_way[to].push_back((self.written[to], effect));
        self.has_news = true;
        let Ok(mut heap) = self.exchange.place(to, self.thread).0.lock() else { return };
        heap.count = self.written[to];
        if heap.is_empty {
            std::mem::swap(&mut heap.letter, letter);
            heap.is_empty = false;
        } else {
            heap.letter.append(letter);
        }
    }

    /// Tells all others that this thread does nothing before cycle `next`, but for letters that it has not read.
    pub(crate) fn tell(&mut self, next: u64) {
        if next == self.next && !self.has_news {
            return;
        }
        (self.next, self.has_news) = (next, false);
        let told = &self.exchange.told[self.thread];
        let words = |other| {
            [(WRITTEN, self.written[other]), (READ, self.read[other]), (ON_WAY, self.on_way_to(other))]
                .map(|(what, word)| (of(what, other), word))
        };
        told.tell(std::iter::once((NEXT, next)).chain(self.other_threads().flat_map(words)));
        self.exchange.wake();
    }

    /// Looks what others have told, and takes their letters: into `received`, by the sender's number, where it leaves
    /// the empty ones that lay there.
    pub(crate) fn hear(&mut self, received: &mut [T]) {
        if !self.has_changed() {
            return;
        }
        for _ in 0..TRIES {
            if self.look() {
                break;
            }
            std::hint::spin_loop();
        }
        for from in self.other_threads() {
            let written = self.exchange.told[from].word_alone(of(WRITTEN, self.thread));
            if written <= self.read[from] {
                continue;
            }
            let Ok(mut heap) = self.exchange.place(self.thread, from).0.lock() else { continue };
            std::mem::swap(&mut heap.letter, &mut received[from]);
            heap.is_empty = true;
            self.read[from] = heap.count;
            self.has_news = true;
        }
    }

    /// Whether anyone has told anything since the last look.
    fn has_changed(&self) -> bool {
        let version = |thread: usize| self.exchange.told[thread].version();
        self.other_threads().any(|thread| version(thread) != self.seen[thread])
    }

    /// Reads the words of all others; false if that was not as of one moment, and then it changes nothing.
    fn look(&mut self) -> bool {
        let (told, me) = (&self.exchange.told, self.thread);
        let threads = (0..self.exchange.threads).filter(|&other| other != me);
        let mut others = u64::MAX;
        let read = || {
            for from in threads.clone() {
                others = others.min(told[from].word(NEXT));
                for to in threads.clone().filter(|&to| to != from) {
                    others = others.min(told[from].word(of(ON_WAY, to)));
                }
                // That so many have been read stays true, even where the rest is not as of one moment.
                self.acknowledged[from] = told[from].word(of(READ, me));
            }
        };
        if !as_of_one_moment(told, threads.clone(), &mut self.seen, read) {
            return false;
        }
        self.others = others;
        for from in self.other_threads() {
            while self.on_way[from].pop_front_if(|letter| letter.0 <= self.acknowledged[from]).is_some() {
                // Of two threads neither needs to be told by the other what is on its way to itself.
                self.has_news |= told.len() > 2;
            }
        }
        true
    }

    /// Waits until somebody tells something, or everyone is to stop.
    pub(crate) fn wait(&self) {
        let goes_on = || self.has_changed() || self.exchange.stopped().is_some();
        let mut looks = 0;
        while !goes_on() && looks < LOOKS + self.exchange.yields {
            if looks < LOOKS {
                std::hint::spin_loop()
            } else {
                std::thread::yield_now()
            }
            looks += 1;
        }
        while !goes_on() {
            let Ok(bed) = self.exchange.bed.lock() else { return };
            self.exchange.sleeping.fetch_add(1, Ordering::SeqCst);
            if !goes_on() {
                drop(self.exchange.woken.wait_timeout(bed, NAP));
            }
            self.exchange.sleeping.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Breaks off when a thread ends by a panic, so that the others do not wait for it for ever.
pub(crate) struct Present<'a, T: Mail>(pub(crate) &'a Exchange<T>);

impl<T: Mail> Drop for Present<'_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop(Stop::BrokenOff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Mail for Vec<u64> {
        fn append(&mut self, later: &mut Vec<u64>) {
            Vec::append(self, later);
        }
    }

    /// One thing moves about between three threads: it is done at a cycle, and makes another happen on another thread.
    /// Who has not got it never believes that the others do nothing before a later cycle than that of the one thing.
    #[test]
    fn nothing_is_overlooked() {
        const END: u64 = 6000;
        let (exchange, latest) = (Exchange::<Vec<u64>>::new(3), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (exchange, latest) = (&exchange, &latest);
                scope.spawn(move || {
                    let _present = Present(exchange);
                    let mut desk = Desk::new(exchange, thread);
                    let mut received = vec![Vec::new(); 3];
                    let mut due = (thread == 0).then_some(0);
                    while latest.load(Ordering::SeqCst) < END && exchange.stopped().is_none() {
                        desk.tell(due.unwrap_or(u64::MAX));
                        desk.hear(&mut received);
                        for time in received.iter_mut().flat_map(|letter| letter.drain(..)) {
                            assert_eq!((due.replace(time), time as usize % 3), (None, thread));
                        }
                        let Some(time) = due else {
                            let others = desk.others();
                            assert!(others <= latest.load(Ordering::SeqCst), "{others}");
                            std::thread::yield_now();
                            continue;
                        };
                        let next = time + 1 + time % 5 / 4;
                        latest.store(next, Ordering::SeqCst);
                        due = Some(next).filter(|_| next as usize % 3 == thread);
                        if due.is_none() {
                            desk.send(next as usize % 3, &mut vec![next], next);
                        }
                    }
                });
            }
        });
        assert_eq!(exchange.stopped(), None);
    }

    #[test]
    fn letters_come_in_their_order_and_once() {
        const LETTERS: u64 = 5000;
        let exchange = Exchange::<Vec<u64>>::new(2);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let exchange = &exchange;
                scope.spawn(move || {
                    let mut desk = Desk::new(exchange, thread);
                    let (mut received, mut all) = (vec![Vec::new(); 2], Vec::new());
                    for number in 0..LETTERS {
                        desk.send(1 - thread, &mut vec![number], number);
                        desk.tell(number);
                        desk.hear(&mut received);
                        all.append(&mut received[1 - thread]);
                    }
                    while all.len() < LETTERS as usize {
                        desk.wait();
                        desk.hear(&mut received);
                        all.append(&mut received[1 - thread]);
                    }
                    assert!(all.into_iter().eq(0..LETTERS));
                });
            }
        });
    }

    #[test]
    fn who_sleeps_is_woken_by_news_and_by_the_end() {
        let exchange = Exchange::<Vec<u64>>::new(2);
        std::thread::scope(|scope| {
            let exchange = &exchange;
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                Desk::new(exchange, 1).tell(7);
                std::thread::sleep(Duration::from_millis(50));
                exchange.stop(Stop::BrokenOff);
            });
            let mut desk = Desk::new(exchange, 0);
            desk.wait();
            desk.hear(&mut [Vec::new(), Vec::new()]);
            assert_eq!((desk.others(), exchange.stopped()), (7, None));
            desk.wait();
            assert_eq!(exchange.stopped(), Some(Stop::BrokenOff));
        });
    }
}
