//! Processes that search together. How bytes get from one to another is the business of whoever implements [`Group`]; what
//! they mean is the search's.

use std::sync::mpsc::{Receiver, Sender, channel};

/// What the members of a group can do. All members call the same functions in the same order: each returns when all have
/// called it, and whatever was said in one call is heard in it. A member that is lost ends the work of all: there is
/// no answer to hear, and so no error to return.
pub trait Group {
    /// The number of this member, from 0.
    fn rank(&self) -> usize;

    /// How many members there are, 1 or more.
    fn size(&self) -> usize;

    /// How many members share the memory of this one's machine, this one included.
    fn neighbours(&self) -> usize;

    /// Gives each member the bytes that stand at its number, this one included; what each has given to this one.
    fn exchange(&self, batches: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Gives the same few numbers to all, as many from each; those of all members, one member after the other.
    fn gather(&self, numbers: &[u64]) -> Vec<u64>;
}

/// What one member gives to all, this one included.
pub fn spread(group: &dyn Group, from: usize, bytes: Vec<u8>) -> Vec<u8> {
    let mine = if group.rank() == from { vec![bytes; group.size()] } else { vec![Vec::new(); group.size()] };
    group.exchange(mine).swap_remove(from)
}

/// A member of a group of threads of one process.
pub struct Member {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

/// A group within this process: one member for each of so many threads.
pub fn in_process(size: usize) -> Vec<Member> {
    let mut members: Vec<Member> = (0..size).map(|rank| Member { rank, to: Vec::new(), from: Vec::new() }).collect();
    for giver in 0..size {
        for taker in 0..size {
            let (to, from) = channel();
            members[giver].to.push(to);
            members[taker].from.push(from);
        }
    }
    members
}

impl Group for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn neighbours(&self) -> usize {
        self.size()
    }

    fn exchange(&self, batches: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        assert_eq!(batches.len(), self.size(), "a batch for each member");
        for (to, batch) in self.to.iter().zip(batches) {
            to.send(batch).expect("no member of the group has ended");
        }
        self.from.iter().map(|from| from.recv().expect("no member of the group has ended")).collect()
    }

    fn gather(&self, numbers: &[u64]) -> Vec<u64> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let all = self.exchange(vec![bytes; self.size()]).concat();
        all.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)).collect()
    }
}

/// Holds a group to what [`Group`] says; every member calls it. `large` is how many bytes the largest batch has: more than any
/// buffer of the implementation, so that a batch that does not fit into one is tried.
///
/// # Panics
/// It does not keep it.
pub fn contract(group: &dyn Group, large: usize) {
    let (rank, size) = (group.rank(), group.size());
    assert!(rank < size, "member {rank} of {size}");
    assert!((1..=size).contains(&group.neighbours()), "member {rank} of {size}");
    // Who it is from, who it is for, and which round: nothing is mixed up, also where some give nothing.
    let batch = |from: usize, to: usize, round: usize| -> Vec<u8> {
        let len = (from * 7 + to * 3 + round * 5) % 11 * usize::from(!(from + to + round).is_multiple_of(3));
        (0..len).map(|at| (from * 31 + to * 17 + round * 13 + at).to_le_bytes()[0]).collect()
    };
    for round in 0..20 {
        let heard = group.exchange((0..size).map(|to| batch(rank, to, round)).collect());
        let said: Vec<Vec<u8>> = (0..size).map(|from| batch(from, rank, round)).collect();
        assert_eq!(heard, said, "member {rank} in round {round}");
        let told = [rank as u64, round as u64, u64::MAX - rank as u64];
        let all: Vec<u64> = (0..size as u64).flat_map(|from| [from, round as u64, u64::MAX - from]).collect();
        assert_eq!(group.gather(&told), all, "member {rank} in round {round}");
    }
    // All at once to all, and one that gives much to one that gives nothing.
    let filled = |from: usize, to: usize, len: usize| vec![(from * 16 + to).to_le_bytes()[0]; len];
    for much in [|_, _| true, |from, to| from == 0 && to != 0, |from, to| from != 0 && to == 0] {
        let len = |from, to| if much(from, to) { large + from } else { 0 };
        let heard = group.exchange((0..size).map(|to| filled(rank, to, len(rank, to))).collect());
        for (from, batch) in heard.iter().enumerate() {
            assert!(*batch == filled(from, rank, len(from, rank)), "member {rank} hears {from}");
        }
    }
    assert!(group.gather(&[]).is_empty());
    for from in 0..size {
        assert_eq!(spread(group, from, vec![from.to_le_bytes()[0]; rank + 1]).len(), from + 1);
    }
}
