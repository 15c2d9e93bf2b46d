//! Instructions on lists and arrays as wholes.
//!
//! A whole is in a register as the words of an argument. What lies the same where it comes from and where it goes is copied. What does not, or has more bytes than an
//! argument, is *taken*: its numbers go to the end of a row of such, and are then checked, and *given* to the other place.

use super::{Reg, SetReg};

/// A register with a list or an array.
pub(crate) type WholeReg = u8;

/// One of them. `whole` is how it lies, `other` as in [`super::Op`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum WholeOp {
    /// An argument. `word` is its place if all lists before it are full, here and in the next two.
    Argument {
        to: WholeReg,
        word: u8,
        whole: u16,
    },
    /// A scalar that is an argument behind a list.
    ScalarBehind {
        to: Reg,
        word: u8,
    },
    /// A set that is an argument behind a list.
    SetBehind {
        to: SetReg,
        word: u8,
        words: u8,
    },
    Read {
        to: WholeReg,
        other: bool,
        whole: u16,
    },
    Move {
        to: WholeReg,
        from: WholeReg,
    },
    Write {
        from: WholeReg,
        other: bool,
        whole: u16,
    },
    /// A list of so many numbers, which are in registers, and are checked.
    Put {
        to: WholeReg,
        from: Reg,
        count: u8,
        whole: u16,
    },
    /// Whether it may go where it is going to.
    Check {
        from: WholeReg,
        whole: u16,
    },
    Length {
        to: Reg,
        from: WholeReg,
        whole: u16,
    },
    Element {
        to: Reg,
        index: Reg,
        from: WholeReg,
        field: u8,
        whole: u16,
    },
    Same {
        to: Reg,
        left: WholeReg,
        right: WholeReg,
    },
    TakeNumbers {
        from: Reg,
        count: u8,
    },
    TakeWords {
        from: WholeReg,
        whole: u16,
    },
    TakeRecord {
        other: bool,
        whole: u16,
    },
    /// Whether what was taken last may go where it is going to.
    CheckTaken {
        whole: u16,
    },
    GiveWords {
        to: WholeReg,
        whole: u16,
    },
    GiveRecord {
        other: bool,
        whole: u16,
    },
    /// Whether the last two that were taken are the same.
    SameTaken {
        to: Reg,
    },
}
