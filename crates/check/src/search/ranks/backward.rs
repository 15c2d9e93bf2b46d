//! Who gets through, looked for by all ranks together.
//!
//! Each rank keeps, of its own states, by which transitions they are reached that must happen. From a state in which a thread gets
//! through the news goes back along these, to whatever rank has the state before, until no rank has any news.

use super::post::Post;
use crate::search::arena::StateNumber;
use crate::search::edges::{StateWishes, renamed_back};
use crate::search::letters::{Letter, put};
use crate::system::progress::Wishes;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use trivium_engine::number::fit;

/// Bytes of news after which a rank lets the others read.
const ROUND: usize = 16 << 20;
/// States between two questions whether to go on.
const BETWEEN: usize = 1 << 14;

/// A transition to a state of this rank.
struct Entry {
    target: StateNumber,
    /// The state before, as its rank numbers its own.
    source: StateNumber,
    rank: u16,
    renaming: u16,
}

/// What a rank keeps to find starvation.
pub(super) struct Backward {
    /// Who waits for nothing in each own state, and then who gets through.
    pub content: StateWishes,
    entries: Vec<Entry>,
    renamings: FxHashMap<u64, u16>,
    /// For each renaming, which thread of the target each thread of the source is.
    images: Vec<Vec<u8>>,
    /// Whether there were more renamings than are told apart.
    pub is_lost: bool,
}

impl Backward {
    pub fn new(everybody: Wishes) -> Backward {
        Backward {
            content: StateWishes::new(everybody),
            entries: Vec::new(),
            renamings: FxHashMap::from_iter([(0, 0)]),
            images: vec![Vec::new()],
            is_lost: false,
        }
    }

    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        self.content.memory() + (self.entries.len() * size_of::<Entry>()) as u64
    }

    /// Adds a transition. `image` makes of a renaming which thread each becomes.
    pub fn add(
        &mut self,
        target: StateNumber,
        from: (usize, StateNumber),
        renaming: u64,
        image: impl Fn(u64) -> Vec<u8>,
    ) {
        let number = match self.renamings.get(&renaming) {
            Some(number) => *number,
            None => {
                let Ok(number) = u16::try_from(self.images.len()) else {
                    self.is_lost = true;
                    return;
                };
                self.renamings.insert(renaming, number);
                self.images.push(image(renaming));
                number
            }
        };
        let rank = fit(from.0, "the number of a rank");
        self.entries.push(Entry { target, source: from.1, rank, renaming: number });
    }

    /// Adds to the threads of each state of all ranks those that get through in a state to which it leads. `go_on` is asked now
    /// and then; whether it was always true, everywhere.
    pub fn reach_back(&mut self, post: &Post, mut go_on: impl FnMut() -> bool) -> bool {
        self.entries.sort_unstable_by_key(|entry| entry.target);
        let mut news = News::new(&self.content);
        loop {
            let mut letters = vec![Vec::new(); post.size()];
            let (mut written, mut states, mut goes_on) = (0, 0, true);
            while written < ROUND
                && goes_on
                && let Some((state, gained)) = news.next()
            {
                let first = self.entries.partition_point(|entry| entry.target < state);
                for entry in self.entries[first..].iter().take_while(|entry| entry.target == state) {
                    let gained = match entry.renaming {
                        0 => gained,
                        renaming => renamed_back(gained, self.content.everybody(), &self.images[usize::from(renaming)]),
                    };
                    let rank = usize::from(entry.rank);
                    if gained == 0 {
                    } else if rank == post.rank() {
                        news.tell(&mut self.content, entry.source, gained);
                    } else {
                        let before = letters[rank].len();
                        put(&mut letters[rank], u64::from(entry.source));
                        put(&mut letters[rank], gained);
                        written += letters[rank].len() - before;
                    }
                }
                states += 1;
                goes_on = states % BETWEEN != 0 || go_on();
            }
            for letter in post.exchange(letters) {
                let mut letter = Letter::new(&letter);
                while !letter.is_read() {
                    let state = fit(letter.take(), "the number of a state");
                    news.tell(&mut self.content, state, letter.take());
                }
            }
            let [stopped, waiting] = post.gather([u64::from(!go_on() || !goes_on), u64::from(!news.is_empty())]);
            if stopped.contains(&1) {
                return false;
            }
            if !waiting.contains(&1) {
                return true;
            }
        }
    }
}

/// States of which somebody gets through of whom the states before them do not know yet.
struct News {
    states: VecDeque<StateNumber>,
    /// Who it is, for each state.
    fresh: StateWishes,
}

impl News {
    /// At first everything is news.
    fn new(content: &StateWishes) -> News {
        let mut news = News { states: VecDeque::new(), fresh: StateWishes::new(content.everybody()) };
        for state in 0..content.len() {
            news.fresh.push(content.get(state));
            if content.get(state) != 0 {
                news.states.push_back(fit(state, "the number of a state"));
            }
        }
        news
    }

    fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    fn next(&mut self) -> Option<(StateNumber, Wishes)> {
        let state = self.states.pop_front()?;
        let fresh = self.fresh.get(state as usize);
        self.fresh.set(state as usize, 0);
        Some((state, fresh))
    }

    /// Some threads get through in a state.
    fn tell(&mut self, content: &mut StateWishes, state: StateNumber, through: Wishes) {
        let at = state as usize;
        let gained = through & !content.get(at);
        if gained == 0 {
            return;
        }
        content.set(at, content.get(at) | gained);
        let fresh = self.fresh.get(at);
        if fresh == 0 {
            self.states.push_back(state);
        }
        self.fresh.set(at, fresh | gained);
    }
}
