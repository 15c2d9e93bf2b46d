//! Words that each thread tells all others, read as of one moment.
//!
//! The words of one thread are guarded by a *sequence lock*: a version that is odd while they are being written. Who reads them notes the version, reads the words,
//! and looks at the version again; had it been odd, or is it another now, what was read is thrown away. Nobody waits for a reader, and a reader writes
//! nothing, so that lines of the cache go one way. What makes it right, although the words themselves are read and written without any order:
//!
//! ```text
//! writer                                   reader
//! version = v + 1                          seen = version        (acquire: the words of version `seen`, and nothing older)
//! fence (release)                          word
//! word = ..                                fence (acquire)
//! version = v + 2     (release)            version == seen ?
//! ```
//!
//! A reader that has read a word of version v + 2 has, behind the two fences, to see v + 1 or more when it looks at the version again. The words of several
//! threads are as of one moment in the same way: *all* versions are noted before the first word is read, and looked at again after the last. So there is a moment
//! between the two, at which all words were what was read.
//!
//! `crates/run/loom` runs this file under a model checker of threads, so that it uses nothing of Trivium's.

use std::sync::atomic::Ordering;

/// A word that threads share; another than the standard library's only where a model checker of threads looks at this.
pub(super) trait SharedWord: Default {
    fn load(&self, ordering: Ordering) -> u64;
    fn store(&self, value: u64, ordering: Ordering);
    fn fence(ordering: Ordering);
}

/// Words of two lines of the cache, which most processors fetch together.
const LINE: usize = 16;
/// The version is the first word.
const VERSION: usize = 0;
/// A version that no words have.
pub(super) const NEVER: u64 = u64::MAX;

#[repr(align(128))]
#[derive(Default)]
struct Aligned<W>([W; LINE]);

/// The words of one thread, on cache lines of its own.
pub(super) struct Told<W>(Vec<Aligned<W>>);

impl<W: SharedWord> Told<W> {
    /// So many words, which are 0.
    pub(super) fn new(words: usize) -> Told<W> {
        Told((0..(words + 1).div_ceil(LINE)).map(|_| Aligned::default()).collect())
    }

    fn at(&self, number: usize) -> &W {
        &self.0[number / LINE].0[number % LINE]
    }

    /// One of the words, in no order with others.
    pub(super) fn word(&self, number: usize) -> u64 {
        self.at(number + 1).load(Ordering::Relaxed)
    }

    /// One of the words, with all that its writer did before.
    pub(super) fn word_alone(&self, number: usize) -> u64 {
        self.at(number + 1).load(Ordering::Acquire)
    }

    /// The version, with the words of it.
    pub(super) fn version(&self) -> u64 {
        self.at(VERSION).load(Ordering::Acquire)
    }

    /// Writes words, by number; only the thread that they are of may.
    pub(super) fn tell(&self, words: impl IntoIterator<Item = (usize, u64)>) {
        let version = self.at(VERSION).load(Ordering::Relaxed);
        self.at(VERSION).store(version + 1, Ordering::Relaxed);
        W::fence(Ordering::Release);
        for (number, word) in words {
            self.at(number + 1).store(word, Ordering::Relaxed);
        }
        self.at(VERSION).store(version + 2, Ordering::Release);
    }
}

/// Reads words of these threads as of one moment; `seen` has their versions then. False if somebody wrote meanwhile: `seen` is [`NEVER`] then, and what was read is nothing.
pub(super) fn as_of_one_moment<W: SharedWord>(
    told: &[Told<W>],
    threads: impl Iterator<Item = usize> + Clone,
    seen: &mut [u64],
    read: impl FnOnce(),
) -> bool {
    for thread in threads.clone() {
        seen[thread] = told[thread].version();
    }
    read();
    W::fence(Ordering::Acquire);
    for thread in threads {
        let version = told[thread].at(VERSION).load(Ordering::Relaxed);
        if version % 2 == 1 || version != seen[thread] {
            seen.fill(NEVER);
            return false;
        }
    }
    true
}
