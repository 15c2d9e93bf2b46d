//! Arrays: where their elements lie, in a record and among the words of an argument.
//!
//! An array is the bytes of its elements, one after the other. As an argument of an event, and as a local, it is these bytes as words of eight, which
//! are kept in the place of a set: both have no more words than an event has arguments.

use crate::cell::{Cell, Names, get};
use crate::fault::FaultKind;
use crate::number::{fit, index};
use crate::set::{Set, WORDS};

/// Bytes of the words of an argument.
pub(crate) const ARGUMENT_BYTES: usize = WORDS * 8;

/// Where an array lies, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrayCell {
    /// Offset of its first byte.
    pub at: u32,
    /// What its first element is called.
    pub lo: i64,
    /// How many elements it has.
    pub count: u32,
    /// Whether they are named by nodes.
    pub by_node: bool,
    /// Bytes of an element.
    pub element: u32,
    /// The parts of an element; offsets from its first byte.
    pub fields: Vec<Cell>,
}

impl ArrayCell {
    /// How many bytes it takes.
    #[inline]
    pub fn bytes(&self) -> u32 {
        self.count * self.element
    }

    /// How many words it takes as an argument.
    pub fn words(&self) -> usize {
        self.bytes().div_ceil(8) as usize
    }

    /// Whether it has places for nodes.
    pub fn names_nodes(&self) -> bool {
        self.by_node || self.fields.iter().any(|field| field.names != Names::Nothing)
    }

    /// The number of an element in the order in which they lie.
    #[inline]
    pub fn place(&self, named: i64) -> Result<u32, FaultKind> {
        let place = named.wrapping_sub(self.lo);
        match u32::try_from(place) {
            Ok(place) if place < self.count => Ok(place),
            _ if self.by_node && named == -1 => Err(FaultKind::NoneUsed),
            _ if self.by_node => Err(FaultKind::NoSuchNode(named)),
            _ => Err(FaultKind::OutsideArray {
                index: named,
                lo: self.lo,
                hi: self.lo.wrapping_add(i64::from(self.count) - 1),
            }),
        }
    }

    /// Offset of an element of a record's array.
    #[inline]
    pub fn element_at(&self, place: u32) -> usize {
        self.at as usize + (place * self.element) as usize
    }

    /// All numbers of an array in a record: of each element its fields.
    pub fn values<'a>(&'a self, record: &'a [u8], base: usize) -> impl Iterator<Item = i64> + 'a {
        (0..self.count).flat_map(move |place| {
            self.fields.iter().map(move |field| field.read(record, base + self.element_at(place)))
        })
    }

    /// Gives an array in a record all its numbers, which have been checked.
    pub fn write(&self, record: &mut [u8], base: usize, mut values: impl Iterator<Item = i64>) {
        for place in 0..self.count {
            for field in &self.fields {
                field.write(record, base + self.element_at(place), values.next().unwrap_or(field.initial));
            }
        }
    }

    /// The numbers of an array that is kept as words.
    pub fn values_of_words<'a>(&'a self, words: &'a Set) -> impl Iterator<Item = i64> + 'a {
        (0..self.count)
            .flat_map(move |place| (0..self.fields.len()).map(move |field| self.read_word(words, place, field)))
    }

    /// One field of one element of an array that is kept as words.
    pub fn read_word(&self, words: &Set, place: u32, field: usize) -> i64 {
        let field = &self.fields[field];
        field.read_word(words, index((place * self.element + field.at).into()))
    }

    /// The words of an array with these numbers, which have been checked.
    pub fn to_words(&self, values: impl Iterator<Item = i64>) -> Set {
        let mut bytes = [0; ARGUMENT_BYTES];
        ArrayCell { at: 0, ..self.clone() }.write(&mut bytes, 0, values);
        Set::from_bytes(&bytes)
    }

    /// Whether these numbers may be those of the array.
    pub fn check(&self, values: impl Iterator<Item = i64>) -> Result<(), FaultKind> {
        let fields = self.fields.iter().cycle();
        values.zip(fields).try_for_each(|(value, field)| field.check(value))
    }

    /// Whether an argument that nobody has checked is such an array: each number is in its range, and there is nothing behind the last.
    pub fn check_words(&self, words: &[i64]) -> Result<(), FaultKind> {
        let set = Set::of_words(words);
        self.check(self.values_of_words(&set))?;
        let mut bytes = [0; ARGUMENT_BYTES];
        set.write_bytes(&mut bytes);
        let all = index(self.bytes().into());
        if bytes[all..].iter().all(|&byte| byte == 0) { Ok(()) } else { Err(FaultKind::BadArguments) }
    }

    /// The bytes of an element, mixed to a few bits, where they tell it from one with its first value and name no node.
    pub fn told(&self, record: &[u8], base: usize, place: u32) -> u32 {
        let at = base + self.element_at(place);
        let mut told = 0u32;
        for field in self.fields.iter().filter(|field| field.names == Names::Nothing) {
            let raw = get(record, at + field.at as usize, field.width);
            told = told.wrapping_mul(31).wrapping_add(crate::number::low_u32(raw ^ (raw >> 32)));
        }
        (told ^ (told >> 16)) & 0xffff
    }

    /// The node that an element is that of, by its place.
    pub fn node(&self, place: u32) -> u16 {
        fit(place, "the number of a node")
    }
}
