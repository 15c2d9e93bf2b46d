//! Where each variable lies in a record.
//!
//! A record is flat little-endian bytes: the state, the variables, the defer space. All zero is the untouched
//! record, because every scalar is stored as its distance from its first value. Unused places are zero, so that
//! two records are equal when their bytes are.

use crate::array::ArrayCell;
use crate::cell::width;
use crate::fault::{FaultKind, too_large};
use crate::number::{fit, index_of_word, low_u8};
use crate::set::{FEW, Set};
use trivium_diagnostic::Diagnostic;
use trivium_protocol::source::Span;
use trivium_protocol::{Protocol, Type};

pub(crate) use crate::cell::{Cell, Names, get, put};
pub(crate) use crate::list::ListCell;

/// Most bytes of a record.
pub(crate) const MAX_RECORD_BYTES: usize = 64 * 1024;
/// Most fields of a record type.
pub(crate) const MAX_FIELDS: usize = 16;

/// A set in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetCell {
    /// Offset of its first byte.
    pub at: u32,
    /// Its least possible element.
    pub lo: i64,
    /// How many elements are possible.
    pub count: u32,
    /// Whether they are nodes.
    pub nodes: bool,
}

impl SetCell {
    /// How many bytes it takes.
    #[inline]
    pub fn bytes(&self) -> u32 {
        self.count.div_ceil(8)
    }

    /// How many words it takes as an argument.
    pub fn words(&self) -> usize {
        self.count.div_ceil(64) as usize
    }

    /// Tells its elements, counted from the least possible one, in ascending order.
    // Most sets fit a word, and a whole one takes longer to copy.
    #[inline]
    pub fn each(&self, bytes: &[u8], base: usize, few: bool, mut see: impl FnMut(i64)) {
        match self.bytes() {
            width @ (1 | 2 | 4 | 8) => {
                let mut bits = get(bytes, base + self.at as usize, low_u8(u64::from(width)));
                while bits != 0 {
                    see(bits.trailing_zeros().into());
                    bits &= bits - 1;
                }
            }
            _ => self.read(bytes, base).iter(few).for_each(see),
        }
    }

    /// Puts its value in place of another.
    #[inline]
    pub fn read_into(&self, bytes: &[u8], base: usize, into: &mut Set, few: bool) {
        into.clear(few);
        let from = base + self.at as usize;
        match self.bytes() {
            width @ (1 | 2 | 4 | 8) => into.0[0] = get(bytes, from, low_u8(u64::from(width))),
            _ => into.copy(&self.read(bytes, base), few),
        }
    }

    /// Its value.
    #[inline]
    pub fn read(&self, bytes: &[u8], base: usize) -> Set {
        let (from, count) = (base + self.at as usize, self.bytes() as usize);
        if let width @ (1 | 2 | 4 | 8) = self.bytes() {
            let mut set = Set::default();
            set.0[0] = get(bytes, from, low_u8(u64::from(width)));
            return set;
        }
        Set::from_bytes(&bytes[from..from + count])
    }

    /// Its bits, where they lie as a word does.
    #[inline]
    pub fn word(&self, bytes: &[u8], base: usize) -> Option<u64> {
        let width @ (1 | 2 | 4 | 8) = self.bytes() else { return None };
        Some(get(bytes, base + self.at as usize, low_u8(u64::from(width))))
    }

    /// Writes its bits, where they lie as a word does.
    #[inline]
    pub fn write_word(&self, bytes: &mut [u8], base: usize, word: u64) {
        put(bytes, base + self.at as usize, low_u8(u64::from(self.bytes())), word);
    }

    /// Writes it.
    #[inline]
    pub fn write(&self, bytes: &mut [u8], base: usize, set: &Set) {
        let (from, count) = (base + self.at as usize, self.bytes() as usize);
        if let width @ (1 | 2 | 4 | 8) = self.bytes() {
            return put(bytes, from, low_u8(u64::from(width)), set.0[0]);
        }
        set.write_bytes(&mut bytes[from..from + count]);
    }

    /// Whether it has the element of a bit, which may be any number.
    #[inline]
    pub fn contains(&self, bytes: &[u8], base: usize, bit: i64) -> bool {
        (0..i64::from(self.count)).contains(&bit)
            && bytes[base + self.at as usize + index_of_word(bit) / 8] >> (bit % 8) & 1 == 1
    }

    /// Puts the element of a bit in.
    #[inline]
    pub fn insert(&self, bytes: &mut [u8], base: usize, bit: i64) {
        bytes[base + self.at as usize + index_of_word(bit) / 8] |= 1 << (bit % 8);
    }

    /// Takes the element of a bit out.
    #[inline]
    pub fn remove(&self, bytes: &mut [u8], base: usize, bit: i64) {
        bytes[base + self.at as usize + index_of_word(bit) / 8] &= !(1 << (bit % 8));
    }

    /// Whether an argument that nobody has checked is such a set: it has no bit beyond the possible elements.
    pub fn check(&self, words: &[i64]) -> Result<(), FaultKind> {
        let bits = u64::BITS;
        let allowed = |word: u32| match self.count.saturating_sub(word * bits) {
            own if own >= bits => u64::MAX,
            own => (1 << own) - 1,
        };
        let fits = (0..).zip(words).all(|(word, bits)| bits.cast_unsigned() & !allowed(word) == 0);
        if fits { Ok(()) } else { Err(FaultKind::BadArguments) }
    }

    /// The bit of an element.
    #[inline]
    pub fn bit(&self, element: i64) -> Result<i64, FaultKind> {
        let bit = element.wrapping_sub(self.lo);
        if (0..i64::from(self.count)).contains(&bit) {
            Ok(bit)
        } else {
            Err(FaultKind::Range { value: element, lo: self.lo, hi: self.lo + i64::from(self.count) - 1 })
        }
    }
}

/// How a variable, or an argument, is kept.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// One scalar.
    Scalar(Cell),
    /// A set.
    Set(SetCell),
    /// A list.
    List(ListCell),
    /// A record: its fields.
    Record(Vec<Cell>),
    /// An array.
    Array(ArrayCell),
}

impl Shape {
    /// First byte and number of bytes.
    pub fn extent(&self) -> (u32, u32) {
        match self {
            Shape::Scalar(cell) => (cell.at, u32::from(cell.width)),
            Shape::Set(set) => (set.at, set.bytes()),
            Shape::List(list) => (list.at, list.bytes()),
            Shape::Array(array) => (array.at, array.bytes()),
            Shape::Record(fields) => {
                let at = fields.first().map_or(0, |f| f.at);
                (at, fields.last().map_or(0, |f| f.at + u32::from(f.width) - at))
            }
        }
    }

    /// Whether it is a node, a set of nodes, or has such parts.
    pub fn names_nodes(&self) -> bool {
        match self {
            Shape::Scalar(cell) => cell.names != Names::Nothing,
            Shape::Set(set) => set.nodes,
            Shape::List(list) => list.fields.iter().any(|f| f.names != Names::Nothing),
            Shape::Record(fields) => fields.iter().any(|f| f.names != Names::Nothing),
            Shape::Array(array) => array.names_nodes(),
        }
    }

    /// How many words it takes as an argument, at most.
    pub fn words(&self) -> usize {
        match self {
            Shape::Set(set) => set.words(),
            Shape::Array(array) => array.words(),
            Shape::List(list) => list.words(),
            _ => 1,
        }
    }

    /// The words of an argument that begins here, and those behind it. None if there are too few.
    pub fn split<'w>(&self, words: &'w [i64]) -> Option<(&'w [i64], &'w [i64])> {
        let own = match self {
            Shape::List(list) => list.words_of(words),
            other => other.words(),
        };
        words.split_at_checked(own)
    }
}

/// Lays out types one after the other.
pub(crate) struct Planner<'p> {
    pub protocol: &'p Protocol,
    pub nodes: u32,
    pub at: u32,
}

impl Planner<'_> {
    fn error(&self, span: Span, message: String) -> Diagnostic {
        too_large(self.protocol, span, message)
    }

    /// The place of a variable, or of a local that lies like one, from `at` on.
    pub fn variable(&mut self, ty: &Type, initial: Option<i64>, span: Span) -> Result<Shape, Diagnostic> {
        self.shape(ty, initial, false, span)
    }

    /// The place of an argument: a node that is not optional cannot be `none`.
    pub fn argument(&mut self, ty: &Type, span: Span) -> Result<Shape, Diagnostic> {
        let shape = self.shape(ty, None, true, span)?;
        match shape {
            Shape::Record(_) => Err(self.error(span, "an argument must be a scalar, a set, an array or a list".into())),
            shape => Ok(shape),
        }
    }

    fn shape(&mut self, ty: &Type, initial: Option<i64>, strict: bool, span: Span) -> Result<Shape, Diagnostic> {
        Ok(match ty {
            Type::NodeSet => Shape::Set(self.set(0, i64::from(self.nodes) - 1, true, span)?),
            Type::IntSet { lo, hi } => Shape::Set(self.set(lo.at(self.nodes), hi.at(self.nodes), false, span)?),
            Type::List { of, up_to, .. } => Shape::List(self.list(of, up_to.at(self.nodes), span)?),
            Type::Record(record) => Shape::Record(self.fields(record.index(), span)?),
            Type::Array { by, of } => Shape::Array(self.array(by, of, initial, span)?),
            scalar => Shape::Scalar(self.cell(scalar, initial, strict, span)?),
        })
    }

    fn cell(&mut self, ty: &Type, initial: Option<i64>, strict: bool, span: Span) -> Result<Cell, Diagnostic> {
        let names = if matches!(ty, Type::Node { .. }) { Names::Node } else { Names::Nothing };
        let (lo, hi, first) = match ty {
            Type::Bool => (0, 1, initial.unwrap_or(0)),
            Type::Int { lo, hi } => {
                let lo = lo.at(self.nodes);
                (lo, hi.at(self.nodes), initial.unwrap_or(lo))
            }
            // A variable that nobody has set holds `none`, whatever its type allows.
            Type::Node { optional } if strict && !optional => (0, i64::from(self.nodes) - 1, 0),
            Type::Node { .. } => (-1, i64::from(self.nodes) - 1, -1),
            Type::Thread => (-1, 254, -1),
            Type::Object(_) => (0, i64::from(u32::MAX), 0),
            Type::ObjectOrNone(_) => (-1, i64::from(u32::MAX) - 1, -1),
            Type::Address | Type::Word => (i64::MIN, i64::MAX, initial.unwrap_or(0)),
            Type::OrNone(of) => {
                let (none, given) = (ty.none(), Planner { at: 0, ..*self }.cell(of, None, true, span)?);
                (given.lo.min(none), given.hi.max(none), initial.unwrap_or(none))
            }
            _ => return Err(self.error(span, "a field or an element must be a scalar".into())),
        };
        if lo > hi {
            let message = format!("the range {lo}..{hi} is empty with {} nodes", self.nodes);
            return Err(self.error(span, message));
        }
        if !(lo..=hi).contains(&first) {
            let message = format!("the first value {first} is outside {lo}..{hi} with {} nodes", self.nodes);
            return Err(self.error(span, message));
        }
        let cell = Cell { at: self.at, width: width(lo, hi), lo, hi, initial: first, names };
        self.at += u32::from(cell.width);
        Ok(cell)
    }

    fn set(&mut self, lo: i64, hi: i64, nodes: bool, span: Span) -> Result<SetCell, Diagnostic> {
        let count = hi.saturating_sub(lo).saturating_add(1);
        let most = FEW.max(self.nodes);
        if !(0..=i64::from(most)).contains(&count) {
            let message = format!("a set of {lo}..{hi} does not fit: at most {most} elements are possible");
            return Err(self.error(span, message));
        }
        let set = SetCell { at: self.at, lo, count: fit(count, "a set, whose size has been looked at"), nodes };
        self.at += set.bytes();
        Ok(set)
    }

    /// A set that is an element of an array, as its bits.
    fn bits(&mut self, ty: &Type, span: Span) -> Result<Cell, Diagnostic> {
        let shape = Planner { at: 0, ..*self }.shape(ty, None, false, span)?;
        let Shape::Set(SetCell { count, nodes, .. }) = shape else {
            return Err(self.error(span, "an element that is no set has no bits".into()));
        };
        let (lo, hi) = match count {
            0..64 => (0, (1 << count) - 1),
            64 => (i64::MIN, i64::MAX),
            _ => {
                let message = format!(
                    "a set that is an element of an array has room for at most 64 elements, not for {count}: \
                     use fewer nodes, or an array by node of truth values"
                );
                return Err(self.error(span, message));
            }
        };
        let names = if nodes { Names::Nodes } else { Names::Nothing };
        let cell = Cell { at: self.at, width: width(lo, hi), lo, hi, initial: 0, names };
        self.at += u32::from(cell.width);
        Ok(cell)
    }

    fn list(&mut self, of: &Type, capacity: i64, span: Span) -> Result<ListCell, Diagnostic> {
        if !(0..=i64::from(u16::MAX)).contains(&capacity) {
            return Err(self.error(span, format!("a list of up to {capacity} elements is not possible: 0..65535 are")));
        }
        let mut element = Planner { protocol: self.protocol, nodes: self.nodes, at: 0 };
        let fields = match of {
            Type::Record(record) => element.fields(record.index(), span)?,
            scalar => vec![element.cell(scalar, None, false, span)?],
        };
        let len_width = if capacity > 255 { 2 } else { 1 };
        let list = ListCell {
            at: self.at,
            len_width,
            capacity: fit(capacity, "a capacity, which is at most 65535"),
            element: element.at,
            fields,
        };
        self.at += list.bytes();
        Ok(list)
    }

    /// An array, all of whose elements begin with one value. A node among them may be `none` wherever the array is kept: nobody need have set it.
    fn array(&mut self, by: &Type, of: &Type, initial: Option<i64>, span: Span) -> Result<ArrayCell, Diagnostic> {
        let (lo, hi) = match by {
            Type::Int { lo, hi } => (lo.at(self.nodes), hi.at(self.nodes)),
            _ => (0, i64::from(self.nodes) - 1),
        };
        if lo > hi {
            return Err(self.error(span, format!("the array of {lo}..{hi} is empty with {} nodes", self.nodes)));
        }
        let mut element = Planner { protocol: self.protocol, nodes: self.nodes, at: 0 };
        let fields = match of {
            Type::Record(record) => element.fields(record.index(), span)?,
            Type::NodeSet | Type::IntSet { .. } => vec![element.bits(of, span)?],
            scalar => vec![element.cell(scalar, initial, false, span)?],
        };
        let count = hi.abs_diff(lo).saturating_add(1);
        let bytes = count.saturating_mul(u64::from(element.at));
        if bytes > MAX_RECORD_BYTES as u64 {
            let message = format!(
                "{count} elements of {} bytes are {bytes}; a record takes at most {MAX_RECORD_BYTES}: \
                 make the array shorter, or its elements smaller",
                element.at
            );
            return Err(self.error(span, message));
        }
        let by_node = matches!(by, Type::Node { .. });
        let count = fit(count, "a number of elements, whose bytes are those of a record at most");
        let array = ArrayCell { at: self.at, lo, count, by_node, element: element.at, fields };
        self.at += array.bytes();
        Ok(array)
    }

    fn fields(&mut self, record: usize, span: Span) -> Result<Vec<Cell>, Diagnostic> {
        let protocol = self.protocol;
        let record = &protocol.records[record];
        if record.fields.len() > MAX_FIELDS {
            let message =
                format!("record {} has {} fields; {MAX_FIELDS} are possible", record.name, record.fields.len());
            return Err(self.error(span, message));
        }
        record.fields.iter().map(|field| self.cell(&field.ty, None, false, field.span)).collect()
    }
}
