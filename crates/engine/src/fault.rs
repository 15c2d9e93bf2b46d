//! Faults of a protocol while it runs, and of loading one.

use crate::event::Event;
use crate::mechanisms::{Node, Object};
use std::fmt;
use trivium_diagnostic::{Code, Diagnostic};
use trivium_protocol::source::Span;
use trivium_protocol::{Asserted, Line, Protocol, RoleId, StateId};

/// What a protocol did wrong (`docs/semantics.md`, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// `impossible` was reached, or the event is impossible in this state.
    Impossible,
    /// No role of the node, or no handler in this state, answers the event.
    Unanswered,
    /// An `assert` is false.
    Assertion,
    /// An object that is made is not there: nobody has made it, or it was freed.
    NotMade,
    /// An object is freed on a node that is not its home.
    FreedAway,
    /// A number lies outside the range of its type.
    Range {
        /// The number.
        value: i64,
        /// Least number allowed.
        lo: i64,
        /// Greatest number allowed.
        hi: i64,
    },
    /// A list or queue has no place left.
    ListFull,
    /// The first element of an empty list or set was asked for.
    Empty,
    /// A list has no element of this number.
    NoElement(i64),
    /// An array has no element of this number.
    OutsideArray {
        /// The number.
        index: i64,
        /// The number of its first element.
        lo: i64,
        /// That of its last.
        hi: i64,
    },
    /// The defer space has no place left.
    DeferFull,
    /// A division by zero.
    DivisionByZero,
    /// The result of an operation does not fit 64 bits.
    Overflow,
    /// `none` where a node or a thread is needed.
    NoneUsed,
    /// There is no such node.
    NoSuchNode(i64),
    /// A value is `none` of which an object is wanted.
    NoObject,
    /// A value is `none` that must be there.
    NoValue,
    /// A word that may be `none` is to hold the one that stands for it.
    StandsForNone(i64),
    /// The event carries no data, or data of another shape.
    NoData,
    /// A byte offset is negative, or a range of memory ends before it begins.
    BadAddress(i64),
    /// The node has no instance of the role for this object.
    NotHere,
    /// The event's arguments do not fit what was declared.
    BadArguments,
    /// A replay was asked for when none was due.
    NoReplay,
    /// The processor's request was answered, and it had made none for this block.
    Unasked,
    /// The processor's cache does not have the line that the step needs, but this.
    NotCached(Line),
    /// The compiled protocol has a part that means nothing where it stands: a fault of the compiler.
    Malformed,
}

const NO_OBJECT: &str = "this is `none`, and no object";

impl FaultKind {
    /// What it is when a condition that must hold does not.
    pub(crate) fn of_assertion(why: Asserted) -> FaultKind {
        match why {
            Asserted::Written => FaultKind::Assertion,
            Asserted::Lives => FaultKind::NotMade,
            Asserted::AtHome => FaultKind::FreedAway,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Impossible => f.write_str("this was declared impossible"),
            FaultKind::Unanswered => f.write_str("nothing answers this event"),
            FaultKind::Assertion => f.write_str("assertion failed"),
            FaultKind::NotMade => f.write_str("this object is free: nobody has made it, or it was freed"),
            FaultKind::FreedAway => f.write_str("an object is freed at its home, and this is another node"),
            // The range of objects, of which the least below it is `none`.
            FaultKind::Range { value: -1, lo: 0, hi } if *hi == i64::from(u32::MAX) => NO_OBJECT.fmt(f),
            FaultKind::Range { value, lo, hi } => write!(f, "{value} is outside {lo}..{hi}"),
            FaultKind::ListFull => f.write_str("the list is full"),
            FaultKind::Empty => f.write_str("nothing to take: it is empty"),
            FaultKind::NoElement(at) => write!(f, "the list has no element {at}"),
            FaultKind::OutsideArray { index, lo, hi } => {
                write!(f, "the array is of {lo}..{hi} and has no element {index}")
            }
            FaultKind::DeferFull => f.write_str("the defer space is full"),
            FaultKind::DivisionByZero => f.write_str("division by zero"),
            FaultKind::Overflow => f.write_str("the result does not fit 64 bits"),
            FaultKind::NoneUsed => f.write_str("`none` where a node or thread is needed"),
            FaultKind::NoSuchNode(node) => write!(f, "there is no node {node}"),
            FaultKind::NoObject => NO_OBJECT.fmt(f),
            FaultKind::NoValue => f.write_str("this is `none`, and no value"),
            FaultKind::StandsForNone(word) => {
                write!(f, "the word {word:#x} stands for `none` where a word may be none")
            }
            FaultKind::NoData => f.write_str("the event carries no such data"),
            FaultKind::BadAddress(at) => write!(f, "{at} is not an address"),
            FaultKind::NotHere => f.write_str("the node has no such role for this object"),
            FaultKind::BadArguments => f.write_str("the arguments do not fit the declaration"),
            FaultKind::Unasked => f.write_str("the processor has not asked for this block"),
            FaultKind::NotCached(line) => write!(f, "the processor's cache has the block {line}"),
            FaultKind::Malformed => f.write_str("the compiled protocol means nothing here"),
            FaultKind::NoReplay => f.write_str("no deferred event is due"),
        }
    }
}

/// A fault: what went wrong, to whom and where in the protocol's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// On which node.
    pub node: Node,
    /// Whose handler ran, or who should have answered.
    pub role: Option<RoleId>,
    /// For which object.
    pub object: Object,
    /// The role's state when the event came.
    pub state: Option<StateId>,
    /// Which event, if the fault came from one.
    pub event: Option<Box<Event>>,
    /// Where in the protocol's text.
    pub span: Span,
    /// All of this as one line, with file, line and column.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

/// A protocol cannot be loaded for so many nodes, because of what stands at `span`.
pub(crate) fn too_large(protocol: &Protocol, span: Span, message: impl Into<String>) -> Diagnostic {
    let error = Diagnostic::new(Code::Size, message);
    if protocol.sources.known_place(span).is_some() { error.at(protocol.sources.quoted(span)) } else { error }
}

/// ` (file:line:column)`, or nothing for a protocol without text.
pub(crate) fn place(protocol: &Protocol, span: Span) -> String {
    if (span.file as usize) < protocol.sources.files().count() {
        format!(" ({})", protocol.sources.place(span))
    } else {
        String::new()
    }
}

/// A fault with its place, before it is known who ran.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trouble {
    pub kind: FaultKind,
    pub span: Span,
}

/// The result of a part of a handler. Faults are boxed: they are rare, and what is returned stays in registers.
pub(crate) type Try<T> = Result<T, Box<Trouble>>;

/// A fault at a place in the text.
#[cold]
pub(crate) fn trouble<T>(kind: FaultKind, span: Span) -> Try<T> {
    Err(Box::new(Trouble { kind, span }))
}

/// Gives a fault its place in the text.
pub(crate) trait Locate<T> {
    fn at(self, span: Span) -> Try<T>;
}

impl<T> Locate<T> for Result<T, FaultKind> {
    fn at(self, span: Span) -> Try<T> {
        match self {
            Ok(value) => Ok(value),
            Err(kind) => trouble(kind, span),
        }
    }
}
