//! Lists: where their elements lie, in a record and among the words of an argument.
//!
//! As an argument of an event, and as a local, a list is its length and its elements as words of eight bytes, no more of them than its elements need. They are
//! kept in the place of a set, as those of an array are.

use crate::cell::{Cell, get, put};
use crate::fault::FaultKind;
use crate::number::{index, low_u32};
use crate::set::Set;

/// A list in a record: its length, then room for all its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListCell {
    /// Offset of its first byte.
    pub at: u32,
    /// Bytes of its length.
    pub len_width: u8,
    /// Most elements.
    pub capacity: u32,
    /// Bytes of an element.
    pub element: u32,
    /// The parts of an element; offsets from its first byte.
    pub fields: Vec<Cell>,
}

impl ListCell {
    /// How many bytes it takes.
    #[inline]
    pub fn bytes(&self) -> u32 {
        u32::from(self.len_width) + self.capacity * self.element
    }

    /// How many elements it has.
    #[inline]
    pub fn len(&self, bytes: &[u8]) -> u32 {
        low_u32(get(bytes, self.at as usize, self.len_width))
    }

    /// Sets the number of elements.
    pub fn set_len(&self, bytes: &mut [u8], len: u32) {
        put(bytes, self.at as usize, self.len_width, u64::from(len));
    }

    /// Offset of an element.
    #[inline]
    pub fn element_at(&self, index: u32) -> usize {
        self.at as usize + self.len_width as usize + (index * self.element) as usize
    }

    /// Removes an element; those behind it move up, and the place that gets free is zero.
    pub fn remove(&self, bytes: &mut [u8], index: u32) {
        let len = self.len(bytes);
        let (from, end) = (self.element_at(index), self.element_at(len));
        bytes.copy_within(from + self.element as usize..end, from);
        bytes[end - self.element as usize..end].fill(0);
        self.set_len(bytes, len - 1);
    }

    /// Makes room for an element before `index`, which is all zero.
    pub fn insert(&self, bytes: &mut [u8], index: u32) {
        let len = self.len(bytes);
        let (from, end) = (self.element_at(index), self.element_at(len));
        bytes.copy_within(from..end, from + self.element as usize);
        bytes[from..from + self.element as usize].fill(0);
        self.set_len(bytes, len + 1);
    }

    /// All numbers of a list in a record: of each element its fields.
    pub fn values<'a>(&'a self, record: &'a [u8], base: usize) -> impl Iterator<Item = i64> + 'a {
        let len = self.len(&record[base..]);
        let all = (0..len).flat_map(move |at| self.fields.iter().map(move |field| (at, field)));
        all.map(move |(at, field)| field.read(record, base + self.element_at(at)))
    }

    /// Gives a list in a record all its numbers, which have been checked.
    pub fn write(&self, record: &mut [u8], base: usize, values: &[i64]) {
        let at = base + self.at as usize;
        record[at..at + index(self.bytes().into())].fill(0);
        let elements = values.chunks_exact(self.fields.len().max(1));
        put(record, at, self.len_width, elements.len() as u64);
        for (at, element) in (0..self.capacity).zip(elements) {
            for (field, &value) in self.fields.iter().zip(element) {
                field.write(record, base + self.element_at(at), value);
            }
        }
    }

    /// Whether these numbers may be those of the list.
    pub fn check(&self, values: &[i64]) -> Result<(), FaultKind> {
        if values.len() / self.fields.len().max(1) > index(self.capacity.into()) {
            return Err(FaultKind::ListFull);
        }
        values.iter().zip(self.fields.iter().cycle()).try_for_each(|(&value, field)| field.check(value))
    }

    /// How many words it takes as an argument, at most.
    pub fn words(&self) -> usize {
        self.words_with(self.capacity)
    }

    /// How many words it takes with so many elements: the length is among the bytes of the first.
    fn words_with(&self, len: u32) -> usize {
        let bytes = u64::from(self.len_width) + u64::from(len) * u64::from(self.element);
        index(bytes.div_ceil(8))
    }

    /// How many words the list takes that begins with these.
    pub fn words_of(&self, words: &[i64]) -> usize {
        self.words_with(words.first().map_or(0, |&first| self.len_in(first.cast_unsigned())))
    }

    fn len_in(&self, first: u64) -> u32 {
        low_u32(if self.len_width == 1 { first & 0xff } else { first & 0xffff })
    }

    /// How many elements a list has that is kept as words.
    pub fn len_of_words(&self, words: &Set) -> u32 {
        self.len_in(words.0[0])
    }

    /// One field of an element of a list that is kept as words.
    pub fn read_word(&self, words: &Set, at: u32, field: &Cell) -> i64 {
        field.read_word(words, index((u32::from(self.len_width) + at * self.element + field.at).into()))
    }

    /// The numbers of a list that is kept as words.
    pub fn values_of_words<'a>(&'a self, words: &'a Set) -> impl Iterator<Item = i64> + 'a {
        let all = (0..self.len_of_words(words)).flat_map(move |at| self.fields.iter().map(move |field| (at, field)));
        all.map(move |(at, field)| self.read_word(words, at, field))
    }

    /// The words of a list with these numbers, which have been checked.
    pub fn to_words(&self, values: &[i64]) -> Set {
        let mut words = Set::default();
        self.put_words(&mut words, values);
        words
    }

    /// The same in place of other words.
    #[inline]
    pub fn put_words(&self, into: &mut Set, values: &[i64]) {
        *into = Set::default();
        let elements = values.chunks_exact(self.fields.len().max(1));
        into.0[0] = elements.len() as u64;
        for (at, element) in (0u32..).zip(elements) {
            for (field, &value) in self.fields.iter().zip(element) {
                let from = u32::from(self.len_width) + at * self.element + field.at;
                field.write_word(into, index(from.into()), value);
            }
        }
    }

    /// How many bytes it takes as words, with its length.
    #[inline]
    pub fn bytes_of_words(&self, words: &Set) -> u64 {
        u64::from(self.len_width) + u64::from(self.len_of_words(words)) * u64::from(self.element)
    }

    /// Whether an argument that nobody has checked is such a list: it is not too long, each number is in its range, and there is nothing
    /// behind the last.
    pub fn check_words(&self, words: &[i64]) -> Result<(), FaultKind> {
        let set = Set::of_words(words);
        if self.len_of_words(&set) > self.capacity {
            return Err(FaultKind::BadArguments);
        }
        if !self.fields.iter().all(Cell::is_any) {
            let each = self.values_of_words(&set).zip(self.fields.iter().cycle());
            each.into_iter().try_for_each(|(value, field)| field.check(value))?;
        }
        let bytes = self.bytes_of_words(&set);
        let behind = set.0.get(index(bytes / 8)).map_or(0, |last| last >> (8 * (bytes % 8)));
        if behind == 0 { Ok(()) } else { Err(FaultKind::BadArguments) }
    }
}
