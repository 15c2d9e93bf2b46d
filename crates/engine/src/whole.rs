//! Lists and arrays as wholes: what flat code moves from an argument to a record, to a message, or to a local.
//!
//! A whole lies as the same bytes in a record and among the words of an argument ([`crate::list`], [`crate::array`]), so that most ways from one place to another
//! are a copy. Where the places differ (another range, a longer list), or where it has more bytes than an argument, its numbers are taken one by one.

use crate::array::{ARGUMENT_BYTES, ArrayCell};
use crate::cell::Cell;
use crate::fault::FaultKind;
use crate::layout::{ListCell, Shape};
use crate::number::index;
use crate::set::Set;

/// How a list or an array lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    List(ListCell),
    Array(ArrayCell),
}

impl Whole {
    /// That of a variable, an argument or a local, if it is a list or an array.
    pub fn of(shape: &Shape) -> Option<Whole> {
        match shape {
            Shape::List(list) => Some(Whole::List(list.clone())),
            Shape::Array(array) => Some(Whole::Array(array.clone())),
            Shape::Scalar(_) | Shape::Set(_) | Shape::Record(_) => None,
        }
    }

    /// The parts of an element.
    pub fn fields(&self) -> &[Cell] {
        match self {
            Whole::List(list) => &list.fields,
            Whole::Array(array) => &array.fields,
        }
    }

    /// Where it lies in a record: its first byte, and the byte behind its last.
    #[inline]
    fn extent(&self) -> (usize, usize) {
        let (at, bytes) = match self {
            Whole::List(list) => (list.at, list.bytes()),
            Whole::Array(array) => (array.at, array.bytes()),
        };
        (at as usize, (at + bytes) as usize)
    }

    /// Whether it can be the words of an argument.
    pub fn fits_words(&self) -> bool {
        let (from, end) = self.extent();
        end - from <= ARGUMENT_BYTES
    }

    /// Whether the bytes of one are those of the other with the same numbers, wherever they lie.
    pub fn lies_like(&self, other: &Whole) -> bool {
        match (self, other) {
            (Whole::List(one), Whole::List(other)) => {
                (one.len_width, one.element, &one.fields) == (other.len_width, other.element, &other.fields)
            }
            (Whole::Array(one), Whole::Array(other)) => {
                (one.count, one.element, &one.fields) == (other.count, other.element, &other.fields)
            }
            _ => false,
        }
    }

    /// Whether what is right for another that lies like it is right for it, too.
    pub fn takes(&self, other: &Whole) -> bool {
        match (self, other) {
            (Whole::List(one), Whole::List(other)) => other.capacity <= one.capacity,
            _ => true,
        }
    }

    /// Whether its bytes may be any.
    pub fn is_any(&self) -> bool {
        matches!(self, Whole::Array(array) if array.fields.iter().all(Cell::is_any))
    }

    /// Its numbers in a record.
    pub fn values(&self, record: &[u8]) -> Vec<i64> {
        match self {
            Whole::List(list) => list.values(record, 0).collect(),
            Whole::Array(array) => array.values(record, 0).collect(),
        }
    }

    /// Its numbers as words.
    pub fn values_of_words(&self, words: &Set) -> Vec<i64> {
        match self {
            Whole::List(list) => list.values_of_words(words).collect(),
            Whole::Array(array) => array.values_of_words(words).collect(),
        }
    }

    /// Whether these numbers may be its own.
    pub fn check(&self, values: &[i64]) -> Result<(), FaultKind> {
        match self {
            Whole::List(list) => list.check(values),
            Whole::Array(array) => array.check(values.iter().copied()),
        }
    }

    /// Whether its words are right. Those of a message that another process has sent were looked at when it came; flat code looks all the same, as the walk
    /// does wherever a whole goes to another place.
    #[inline]
    pub fn check_words(&self, words: &Set) -> Result<(), FaultKind> {
        match self {
            Whole::List(list) if list.fields.iter().all(Cell::is_any) => {
                if list.len_of_words(words) > list.capacity {
                    Err(FaultKind::ListFull)
                } else {
                    Ok(())
                }
            }
            whole => whole.check(&whole.values_of_words(words)),
        }
    }

    /// Its words with these numbers.
    pub fn to_words(&self, values: &[i64]) -> Set {
        match self {
            Whole::List(list) => list.to_words(values),
            Whole::Array(array) => array.to_words(values.iter().copied()),
        }
    }

    /// Writes these numbers into a record.
    pub fn write(&self, record: &mut [u8], values: &[i64]) {
        match self {
            Whole::List(list) => list.write(record, 0, values),
            Whole::Array(array) => array.write(record, 0, values.iter().copied()),
        }
    }

    /// Its words, from the bytes of a record.
    #[inline]
    pub fn read_words(&self, record: &[u8], into: &mut Set) {
        let (from, end) = self.extent();
        *into = Set::from_bytes(&record[from..end]);
    }

    /// The bytes of a record, from its words.
    #[inline]
    pub fn write_words(&self, record: &mut [u8], words: &Set) {
        let (from, end) = self.extent();
        words.write_bytes(&mut record[from..end]);
    }

    /// The words that it has as an argument.
    #[inline]
    pub fn argument<'w>(&self, words: &'w Set) -> &'w [u64] {
        &words.0[..self.words_of(&[words.0[0].cast_signed()])]
    }

    /// How many words it has as an argument, at most.
    pub fn most_words(&self) -> usize {
        match self {
            Whole::List(list) => list.words(),
            Whole::Array(array) => array.words(),
        }
    }

    /// How many words it takes as an argument that begins with these.
    #[inline]
    pub fn words_of(&self, words: &[i64]) -> usize {
        match self {
            Whole::List(list) => list.words_of(words),
            Whole::Array(array) => array.words(),
        }
    }

    /// Of an argument that nobody has checked: what lies behind the last element goes, so that equal wholes have equal words.
    #[inline]
    pub fn clean(&self, words: &mut Set) {
        let bytes = match self {
            Whole::List(list) => list.bytes_of_words(words),
            Whole::Array(array) => u64::from(array.bytes()),
        };
        if let (Some(last), bytes @ 1..) = (words.0.get_mut(index(bytes / 8)), bytes % 8) {
            *last &= u64::MAX >> (64 - 8 * bytes);
        }
    }

    /// One field of an element of its words.
    #[inline]
    pub fn element(&self, words: &Set, index: i64, field: u8) -> Result<i64, FaultKind> {
        match self {
            Whole::List(list) => match u32::try_from(index).ok().filter(|&at| at < list.len_of_words(words)) {
                Some(at) => Ok(list.read_word(words, at, &list.fields[field as usize])),
                None => Err(FaultKind::NoElement(index)),
            },
            Whole::Array(array) => Ok(array.read_word(words, array.place(index)?, usize::from(field))),
        }
    }
}
