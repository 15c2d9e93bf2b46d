//! What is on its way to a node, in the order in which it takes effect.

use crate::event::Key;

/// A map from [`Key`] that is short, and mostly asked for its first entry: a vector, the first at its end.
#[derive(Debug)]
pub struct Agenda<T> {
    entries: Vec<(Key, T)>,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Agenda { entries: Vec::new() }
    }
}

impl<T> Agenda<T> {
    /// Where an entry with this key is, or would be.
    fn place(&self, key: Key) -> usize {
        self.entries.partition_point(|(other, _)| *other > key)
    }

    fn find(&self, key: Key) -> Option<usize> {
        let place = self.place(key);
        self.entries.get(place).is_some_and(|entry| entry.0 == key).then_some(place)
    }

    /// Adds an entry. No two have the same key.
    pub fn insert(&mut self, key: Key, what: T) {
        let place = self.place(key);
        self.entries.insert(place, (key, what));
    }

    /// Takes an entry out.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        self.find(key).map(|place| self.entries.remove(place).1)
    }

    /// The entry with this key.
    pub fn get(&self, key: Key) -> Option<&T> {
        self.find(key).map(|place| &self.entries[place].1)
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The first entry.
    pub fn first(&self) -> Option<&(Key, T)> {
        self.entries.last()
    }

    /// All entries in order.
    pub fn iter(&self) -> impl Iterator<Item = &(Key, T)> {
        self.entries.iter().rev()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_order() {
        let key = |time| Key { time, source: 0, number: 0 };
        let mut agenda = Agenda::default();
        for time in [5, 1, 9, 3, 7] {
            agenda.insert(key(time), time);
        }
        assert_eq!(agenda.first().map(|entry| entry.1), Some(1));
        assert_eq!((agenda.remove(key(3)), agenda.remove(key(4)), agenda.get(key(7))), (Some(3), None, Some(&7)));
        assert!(agenda.iter().map(|entry| entry.1).eq([1, 5, 7, 9]));
    }
}
