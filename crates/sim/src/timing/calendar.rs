//! A resource that serves one user at a time: when it is taken.

use std::collections::VecDeque;

/// So many taken intervals are remembered; requests further in the past find no gap between older ones.
const REMEMBERED: usize = 256;

/// Taken intervals. A node's events are worked out in the order of their starts, and a long handler books ahead;
/// a later request that fits a gap before those bookings takes it.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// All but the last.
    taken: VecDeque<(u64, u64)>,
    /// The last: most requests come behind it, and look at nothing else. At first it is empty, and does no harm among the others.
    last: (u64, u64),
}

impl Calendar {
    /// Takes the resource for `length` cycles as soon as it is free from cycle `earliest` on; gives the first.
    #[inline]
    pub fn book(&mut self, earliest: u64, length: u64) -> u64 {
        if length == 0 {
            return earliest;
        }
        if self.last.0 >= earliest && self.last.1 > 0 {
            return self.book_before(earliest, length);
        }
        let start = earliest.max(self.last.1);
        self.taken.push_back(std::mem::replace(&mut self.last, (start, start + length)));
        self.forget();
        start
    }

    /// The same for a request that may fit before the last interval.
    #[inline(never)]
    fn book_before(&mut self, earliest: u64, length: u64) -> u64 {
        self.taken.push_back(self.last);
        let mut at = self.taken.len();
        while at > 0 && self.taken[at - 1].0 >= earliest {
            at -= 1;
        }
        let mut start = if at > 0 { earliest.max(self.taken[at - 1].1) } else { earliest };
        while let Some(&(from, to)) = self.taken.get(at) {
            if start + length <= from {
                break;
            }
            start = start.max(to);
            at += 1;
        }
        self.taken.insert(at, (start, start + length));
        self.last = self.taken.pop_back().unwrap_or_default();
        self.forget();
        start
    }

    fn forget(&mut self) {
        if self.taken.len() >= REMEMBERED {
            self.taken.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Calendar;

    #[test]
    fn who_comes_later_waits() {
        let mut calendar = Calendar::default();
        assert_eq!(calendar.book(100, 10), 100);
        assert_eq!(calendar.book(105, 10), 110);
        assert_eq!(calendar.book(100, 2), 120);
    }

    #[test]
    fn a_gap_before_a_booking_is_used() {
        let mut calendar = Calendar::default();
        assert_eq!(calendar.book(100, 10), 100);
        assert_eq!(calendar.book(200, 10), 200);
        assert_eq!(calendar.book(50, 5), 50);
        assert_eq!(calendar.book(108, 5), 110);
        assert_eq!(calendar.book(195, 10), 210, "it does not fit before 200");
        assert_eq!(calendar.book(195, 5), 195, "it just fits");
    }
}
