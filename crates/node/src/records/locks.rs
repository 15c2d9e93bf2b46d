//! Locks, as a node's atomic operations show them: which it has taken, and whether its program does nothing but ask for one (`docs/semantics.md`,
//! section 5).

use std::collections::BTreeMap;
use trivium_guest::{ReadModifyWrite, RmwOp};

/// So often in a row a program asks for a lock in vain, before it is said to do nothing else.
pub const ASKS: u64 = 1000;
/// So many locks that a node has taken are known; where it takes more, all are forgotten.
const KNOWN: usize = 4096;
/// At each of so many times that a node takes a lock, the time is noted.
const EACH: u64 = 100;
/// What `trivium_lock` adds to a lock: it draws the next ticket.
const DRAW: u64 = 1 << 32;

/// How a node has taken a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// When it last did.
    pub last: u64,
    /// The last two tickets that it drew, the later last, if it was by `trivium_lock`: it has the lock while one of them is served. The second would be
    /// drawn by a node that has the lock and asks for it again.
    pub tickets: Vec<u32>,
    /// How often it did.
    times: u64,
    /// When it did each 100th time.
    marks: Vec<u64>,
}

impl Taken {
    /// As another node is told of it.
    pub fn new(last: u64, tickets: Vec<u32>) -> Taken {
        Taken { last, tickets, ..Taken::default() }
    }

    /// When it took the lock for the `times`-th time after `since`, to the last hundred.
    pub fn again_after(&self, since: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self.marks.partition_point(|&mark| mark <= since);
        self.marks[first..].iter().copied()
    }

    /// How many times lie between two of [`Taken::again_after`].
    pub const EACH: u64 = EACH;
}

/// A program asks for a lock again and again, and does nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    /// The address of the word.
    pub word: u32,
    /// Since when it has done nothing else: not before it had asked [`ASKS`] times.
    pub since: u64,
    /// When it last asked.
    pub last: u64,
    /// How often it has asked.
    pub times: u64,
    /// What it has last found there.
    pub value: Option<u64>,
}

/// What a node's atomic operations show of locks. Times are whatever the node's clock counts.
#[derive(Clone, Debug, Default)]
pub struct Locks {
    taken: BTreeMap<u32, Taken>,
    asking: Option<Asking>,
}

impl Locks {
    /// An atomic operation was performed, and found `old`. Two clocks may count when it asked for a lock and when it took one.
    pub fn performed(&mut self, rmw: &ReadModifyWrite, old: u64, (asked, taken): (u64, u64)) {
        // No lock is asked for by these.
        let combines = matches!(rmw.op, RmwOp::Min | RmwOp::Max | RmwOp::AddFloat | RmwOp::MinFloat | RmwOp::MaxFloat);
        if !combines && rmw.apply(old) == old {
            return self.asked(rmw.addr, old, asked);
        }
        let is_ticket = rmw.op == RmwOp::Add && rmw.size == 8 && rmw.operand == DRAW;
        // The others count something.
        let takes = is_ticket || matches!(rmw.op, RmwOp::Swap | RmwOp::CompareSwap | RmwOp::Or | RmwOp::And);
        self.does_something_else();
        if !takes {
            return;
        }
        if self.taken.len() >= KNOWN && !self.taken.contains_key(&rmw.addr) {
            self.taken.clear();
        }
        let now = taken;
        let taken = self.taken.entry(rmw.addr).or_default();
        taken.last = now;
        let ticket = (old >> 32) as u32;
        if taken.tickets.len() > 1 || !is_ticket {
            taken.tickets.drain(..taken.tickets.len().min(1));
        }
        taken.tickets.extend(is_ticket.then_some(ticket));
        taken.times += 1;
        if taken.times.is_multiple_of(EACH) {
            taken.marks.push(now);
        }
    }

    /// The program looked at a word, and it was as before: this value.
    pub fn asked(&mut self, word: u32, value: u64, now: u64) {
        match &mut self.asking {
            Some(asking) if asking.word == word => {
                asking.times += 1;
                (asking.last, asking.value) = (now, Some(value));
                if asking.times <= ASKS {
                    asking.since = now;
                }
            }
            _ => self.asking = Some(Asking { word, since: now, last: now, times: 1, value: Some(value) }),
        }
    }

    /// The program did something else than to ask for a lock.
    #[inline]
    pub fn does_something_else(&mut self) {
        self.asking = None;
    }

    /// The program is about to load from, or store to, shared memory.
    #[inline]
    pub fn reaches(&mut self, address: u32) {
        if self.asking.is_some_and(|asking| asking.word != address) {
            self.asking = None;
        }
    }

    /// The lock for which the program asks, and nothing else, if it has done so often enough.
    pub fn asking(&self) -> Option<Asking> {
        self.asking.filter(|asking| asking.times >= ASKS)
    }

    /// What it has asked for last, however often, if it has done nothing else since.
    pub fn last(&self) -> Option<Asking> {
        self.asking
    }

    /// The locks that the node has taken, the latest first.
    pub fn all_taken(&self) -> Vec<(u32, &Taken)> {
        let mut all: Vec<_> = self.taken.iter().map(|(word, taken)| (*word, taken)).collect();
        all.sort_by_key(|(_, taken)| std::cmp::Reverse(taken.last));
        all
    }

    /// How the node has taken the lock at a word, if it has.
    pub fn taken(&self, word: u32) -> Option<&Taken> {
        self.taken.get(&word)
    }
}

/// Which node has the lock at a word, of what each has taken: whose ticket is served, or who has taken it last.
pub fn holder<'a>(taken: impl Iterator<Item = (usize, &'a Taken)>, serving: Option<u64>) -> Option<usize> {
    let mut last: Option<(u64, usize)> = None;
    for (node, taken) in taken {
        #[expect(clippy::cast_possible_truncation, reason = "a ticket is half a word")]
        if serving.is_some_and(|word| taken.tickets.contains(&(word as u32))) {
            return Some(node);
        }
        if taken.tickets.is_empty() {
            last = last.max(Some((taken.last, node)));
        }
    }
    last.map(|(_, node)| node)
}

/// The remedy where a node asks for a lock that others take all the time.
pub const OVERTAKES: &str = "a lock that nodes take in no order (trivium_spin_lock, or one of the program's own) may be taken again and again by who has just released it, since that node has the block: trivium_lock lets nodes through in the order in which they ask";

/// The remedy where nodes ask for a lock that nobody releases.
pub const RELEASE: &str = "whoever takes a lock has to release it on every way out: before it takes the lock again, waits for others, or leaves main";

#[cfg(test)]
mod tests {
    use super::*;

    fn swap(addr: u32) -> ReadModifyWrite {
        ReadModifyWrite { addr, size: 4, op: RmwOp::Swap, operand: 1, expected: 0 }
    }

    #[test]
    fn who_only_asks_is_seen_and_who_does_not_is_not() {
        let mut locks = Locks::default();
        locks.performed(&swap(64), 0, (5, 5));
        assert_eq!((locks.taken(64).map(|taken| taken.last), locks.asking()), (Some(5), None));
        (0..ASKS).for_each(|time| locks.performed(&swap(64), 1, (10 + time, 0)));
        let since = 10 + ASKS - 1;
        assert_eq!(locks.asking(), Some(Asking { word: 64, since, last: since, times: ASKS, value: Some(1) }));
        locks.asked(64, 1, 5000);
        assert_eq!(locks.asking(), Some(Asking { word: 64, since, last: 5000, times: ASKS + 1, value: Some(1) }));
        locks.reaches(64);
        assert!(locks.asking().is_some());
        locks.reaches(72);
        assert_eq!(locks.asking(), None);
    }

    #[test]
    fn a_counter_is_no_lock() {
        let mut locks = Locks::default();
        let add = |operand, size| ReadModifyWrite { addr: 64, size, op: RmwOp::Add, operand, expected: 0 };
        locks.performed(&add(1, 4), 0, (5, 5));
        assert_eq!(locks.taken(64), None);
        locks.performed(&add(DRAW, 8), (7 << 32) + 3, (9, 9));
        assert_eq!(locks.taken(64).map(|taken| &taken.tickets[..]), Some(&[7][..]));
        (8..10).for_each(|ticket| locks.performed(&add(DRAW, 8), (ticket << 32) + 3, (9, 9)));
        assert_eq!(locks.taken(64).map(|taken| &taken.tickets[..]), Some(&[8, 9][..]));
    }

    #[test]
    fn the_holder_is_who_is_served_or_who_came_last() {
        let taken = |last, ticket: Option<u32>| Taken::new(last, ticket.into_iter().collect());
        let tickets = [(0, taken(1, Some(4))), (1, taken(2, Some(5))), (2, taken(9, Some(6)))];
        let of = |all: &[(usize, Taken)], serving| holder(all.iter().map(|(node, taken)| (*node, taken)), serving);
        assert_eq!(of(&tickets, Some(5)), Some(1));
        assert_eq!(of(&tickets, Some(7)), None, "it is free");
        assert_eq!(of(&[(0, taken(7, None)), (1, taken(3, None))], Some(1)), Some(0));
    }
}
