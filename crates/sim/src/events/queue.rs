//! What is on its way to a node, in the order in which it takes effect.

use crate::events::Key;
use std::collections::VecDeque;

/// A map from [`Key`] that is short, mostly asked for its first entry, and mostly grows at its end.
#[derive(Debug)]
pub struct EventQueue<T> {
    entries: VecDeque<(Key, T)>,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        EventQueue { entries: VecDeque::new() }
    }
}

impl<T> EventQueue<T> {
    /// Adds an entry. No two have the same key.
    #[inline]
    pub fn insert(&mut self, key: Key, what: T) {
        if self.entries.back().is_none_or(|last| last.0 < key) {
            // Where there is room nothing can go wrong, so that nothing is kept ready to be dropped.
            if self.entries.len() < self.entries.capacity() {
                return self.entries.push_back((key, what));
            }
        }
        self.insert_anywhere(key, what);
    }

    // By itself, so that the short way through `insert` has its entry in registers.
    #[inline(never)]
    fn insert_anywhere(&mut self, key: Key, what: T) {
        let place = self.entries.partition_point(|(other, _)| *other < key);
        self.entries.insert(place, (key, what));
    }

    /// Takes the first entry out.
    #[inline]
    pub fn pop(&mut self) -> Option<(Key, T)> {
        self.entries.pop_front()
    }

    /// Takes the entry at a place out: 0 is the first.
    #[inline]
    pub fn take(&mut self, place: usize) -> Option<(Key, T)> {
        if place == 0 { self.entries.pop_front() } else { self.entries.remove(place) }
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The first entry.
    #[inline]
    pub fn first(&self) -> Option<&(Key, T)> {
        self.entries.front()
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &(Key, T)> {
        self.entries.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_order() {
        let key = |time| Key::new(time, 0, 0);
        let mut queue = EventQueue::default();
        for time in [5, 1, 9, 3, 7] {
            queue.insert(key(time), time);
        }
        assert_eq!(queue.first().map(|entry| entry.1), Some(1));
        assert_eq!((queue.take(1), queue.take(4)), (Some((key(3), 3)), None));
        assert_eq!(queue.pop(), Some((key(1), 1)));
        assert!(queue.iter().map(|entry| entry.1).eq([5, 7, 9]));
    }
}
