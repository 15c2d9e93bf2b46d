//! What the states of a batch lead to goes to the ranks that keep it, and is numbered as one process would.
//!
//! 1. Each rank sends what it has found to its keepers. These put it in the order of the states that lead to it, and look what
//!    is new.
//! 2. They answer which of it was new.
//! 3. Each rank tells all how many new states come from each of its own; and each keeper, which of them its new ones are. So
//!    all know which numbers the new states of each state have.

use super::Ranks;
use crate::search::arena::StateNumber;
use crate::search::edges::Edge;
use crate::search::expand::{CANDIDATE, Harvest};
use crate::search::letters::{Letter, put, put_bytes};
use crate::search::pack::hash;
use crate::search::store::state_number;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use trivium_engine::number::{fit, index};

/// Candidates, and bytes of them, that join as one harvest.
const MOST_CANDIDATES: usize = 1 << 12;
const MOST_BYTES: usize = 1 << 28;

/// The states of a batch that this rank expands.
pub(super) struct Share {
    /// The numbers of the batch's states, those of all ranks.
    pub batch: Range<u64>,
    /// Which of the own states are of the batch.
    pub own: Range<StateNumber>,
    /// Their numbers.
    pub numbers: Vec<u64>,
}

impl Share {
    /// The number of one of them.
    pub fn number(&self, own: StateNumber) -> u64 {
        self.numbers[(own - self.own.start) as usize]
    }
}

/// Where a candidate came from.
struct CandidateOrigin {
    rank: usize,
    /// The state that leads to it, as its rank numbers its own, and as all do.
    source: StateNumber,
    number: u64,
    /// 0, or one more than how nodes were renamed where it must happen.
    due: u64,
}

/// What this rank keeps of what all have found.
#[derive(Default)]
struct Arrived {
    harvests: Vec<Harvest>,
    origins: Vec<CandidateOrigin>,
}

impl Arrived {
    /// Takes letters apart, in the order of the states that lead to what is in them.
    fn of(letters: &[Vec<u8>], own: &Share, looks: bool) -> Arrived {
        let mut arrived = Arrived::default();
        let mut letters: Vec<Letter> = letters.iter().map(|letter| Letter::new(letter)).collect();
        let mut sources = vec![0; letters.len()];
        // The ranks of which the next candidate comes from the least number come first.
        let mut next = BinaryHeap::new();
        for (rank, letter) in letters.iter_mut().enumerate() {
            if !letter.is_read() {
                next.push(Reverse((own.batch.start + letter.take(), rank)));
            }
        }
        let mut harvest = Harvest::default();
        while let Some(Reverse((number, rank))) = next.pop() {
            let letter = &mut letters[rank];
            let [source, due, content] = if looks { [letter.take(), letter.take(), letter.take()] } else { [0; 3] };
            sources[rank] += source;
            let source = fit(sources[rank], "the number of a state");
            let state = letter.take_bytes();
            if harvest.len() >= MOST_CANDIDATES || harvest.bytes.len() >= MOST_BYTES {
                arrived.close(&mut harvest);
            }
            harvest.take(state, hash(state), content);
            arrived.origins.push(CandidateOrigin { rank, source, number, due });
            if !letter.is_read() {
                next.push(Reverse((number + letter.take(), rank)));
            }
        }
        arrived.close(&mut harvest);
        arrived
    }

    fn close(&mut self, harvest: &mut Harvest) {
        harvest.sort();
        self.harvests.push(std::mem::take(harvest));
    }
}

impl Ranks<'_> {
    /// Sends what a batch has brought to those who keep it, and numbers what is new. Whether all had numbers for their
    /// new states.
    pub(super) fn deal(&mut self, share: &Share, harvests: &[Harvest]) -> bool {
        self.transitions += harvests.iter().map(|harvest| harvest.transitions).sum::<u64>();
        self.keep_own_entries(share, harvests);
        let letters = self.post.exchange(self.letters(share, harvests));
        let arrived = Arrived::of(&letters, share, self.backward.is_some());
        drop(letters);
        let known = state_number(self.states.len());
        let joined = self.states.join(&arrived.harvests, u64::MAX, self.workers.len());
        // The places of the first candidates of new states among all that arrived.
        let mut new = Vec::new();
        let mut answers: Vec<Vec<u8>> = vec![vec![u8::from(joined.full)]; self.post.size()];
        let mut bits = vec![0; self.post.size()];
        for (at, (origin, &number)) in arrived.origins.iter().zip(&joined.numbers).enumerate() {
            let is_new = !joined.full && number as usize == known as usize + new.len();
            if is_new {
                new.push(at);
            }
            let (answer, bit) = (&mut answers[origin.rank], &mut bits[origin.rank]);
            if *bit % 8 == 0 {
                answer.push(0);
            }
            if let Some(byte) = answer.last_mut() {
                *byte |= u8::from(is_new) << (*bit % 8);
            }
            *bit += 1;
        }
        let answers = self.post.exchange(answers);
        if answers.iter().any(|answer| answer[0] != 0) {
            return false;
        }
        let letters = self.post.exchange(self.counts(share, harvests, &answers));
        self.number(share, &letters, new.iter().map(|&at| &arrived.origins[at]));
        self.note(&arrived, &new, &joined.numbers);
        true
    }

    /// For each rank what it keeps of what was found here.
    fn letters(&self, share: &Share, harvests: &[Harvest]) -> Vec<Vec<u8>> {
        let mut letters = vec![Vec::new(); self.post.size()];
        let mut last = vec![(share.batch.start, 0); self.post.size()];
        for harvest in harvests {
            for (at, due) in due(harvest).into_iter().enumerate() {
                let to = self.post.owner(harvest.hashes[at]);
                let (letter, (number_before, source_before)) = (&mut letters[to], &mut last[to]);
                let source = harvest.parents[at];
                let number = share.number(source);
                put(letter, number - *number_before);
                if self.backward.is_some() {
                    put(letter, u64::from(source - *source_before));
                    put(letter, due);
                    put(letter, harvest.content[at]);
                }
                put_bytes(letter, harvest.candidate(at));
                (*number_before, *source_before) = (number, source);
            }
        }
        letters
    }

    /// For each rank how many new states come from each state of the batch, the same for all; then, of its own new states, the
    /// place of each among those of the state it comes from.
    fn counts(&self, share: &Share, harvests: &[Harvest], answers: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let mut counts = vec![0; share.numbers.len()];
        let mut places = vec![Vec::new(); self.post.size()];
        let mut read = vec![0; self.post.size()];
        for harvest in harvests {
            for at in 0..harvest.len() {
                let to = self.post.owner(harvest.hashes[at]);
                let bit = read[to];
                read[to] += 1;
                if answers[to][1 + bit / 8] >> (bit % 8) & 1 == 1 {
                    let count = &mut counts[(harvest.parents[at] - share.own.start) as usize];
                    put(&mut places[to], *count);
                    *count += 1;
                }
            }
        }
        let mut head = Vec::new();
        let mut last = share.batch.start;
        for (&number, &count) in share.numbers.iter().zip(&counts).filter(|(_, count)| **count > 0) {
            put(&mut head, number - last);
            put(&mut head, count);
            last = number;
        }
        places
            .into_iter()
            .map(|places| {
                let mut letter = Vec::new();
                put_bytes(&mut letter, &head);
                letter.extend(places);
                letter
            })
            .collect()
    }

    /// Gives the new states of this rank their numbers.
    fn number<'o>(&mut self, share: &Share, letters: &[Vec<u8>], new: impl Iterator<Item = &'o CandidateOrigin>) {
        let mut firsts = vec![0; index(share.batch.end - share.batch.start) + 1];
        let mut letters: Vec<Letter> = letters.iter().map(|letter| Letter::new(letter)).collect();
        for letter in &mut letters {
            let mut head = Letter::new(letter.take_bytes());
            let mut place = 0;
            while !head.is_read() {
                place += index(head.take());
                firsts[place + 1] = head.take();
            }
        }
        firsts[0] = self.found;
        for place in 1..firsts.len() {
            firsts[place] += firsts[place - 1];
        }
        for origin in new {
            let number = firsts[index(origin.number - share.batch.start)] + letters[origin.rank].take();
            self.numbers.push(number);
            self.parents.push(origin.number);
            self.waiting.push_back(number);
        }
        self.found = firsts[firsts.len() - 1];
    }

    /// Keeps the transitions that must happen between own states that were known before.
    fn keep_own_entries(&mut self, share: &Share, harvests: &[Harvest]) {
        let Some(backward) = &mut self.backward else { return };
        let symmetry = self.workers[0].symmetry.as_ref();
        let mut sources = share.own.clone();
        for harvest in harvests {
            let mut from = 0;
            for (&end, source) in harvest.target_ends.iter().zip(&mut sources) {
                let edges = harvest.targets[from..end as usize].iter();
                for edge in edges.filter(|edge| edge.target & CANDIDATE == 0) {
                    let image = |renaming| symmetry.map_or(Vec::new(), |symmetry| symmetry.image(renaming));
                    backward.add(edge.target, (self.post.rank(), source), edge.renaming, image);
                }
                from = end as usize;
            }
        }
    }

    /// Keeps those that lead to what has arrived, and who waits for nothing in the states that are new.
    fn note(&mut self, arrived: &Arrived, new: &[usize], numbers: &[StateNumber]) {
        let Some(backward) = &mut self.backward else { return };
        let symmetry = self.workers[0].symmetry.as_ref();
        let mut contents = arrived.harvests.iter().flat_map(|harvest| &harvest.content).enumerate();
        for &at in new {
            let content = contents.find(|(place, _)| *place == at).map_or(0, |(_, content)| *content);
            backward.content.push(content);
        }
        for (origin, &target) in arrived.origins.iter().zip(numbers) {
            if let Some(renaming) = origin.due.checked_sub(1) {
                let image = |renaming| symmetry.map_or(Vec::new(), |symmetry| symmetry.image(renaming));
                backward.add(target, (origin.rank, origin.source), renaming, image);
            }
        }
    }
}

/// For each candidate 0, or one more than how nodes were renamed where it must happen.
fn due(harvest: &Harvest) -> Vec<u64> {
    let mut due = vec![0; harvest.len()];
    for &Edge { target, renaming } in harvest.targets.iter().filter(|edge| edge.target & CANDIDATE != 0) {
        due[(target & !CANDIDATE) as usize] = renaming + 1;
    }
    due
}
