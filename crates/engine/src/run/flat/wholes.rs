//! Lists and arrays as wholes.

use super::Beside;
use crate::fault::{FaultKind, Try, trouble};
use crate::flat::WholeOp;
use crate::mechanisms::Mechanisms;
use crate::run::Run;
use crate::set::Set;
use crate::whole::Whole;

/// The list or array in a register, as words.
macro_rules! words {
    ($self:ident, $whole:expr) => {
        $self.frame.wholes[$whole as usize]
    };
}

impl<M: Mechanisms> Run<'_, '_, M> {
    /// Runs an instruction, which lies before a place.
    #[inline(never)]
    pub(super) fn on_whole(&mut self, op: WholeOp, at: usize, beside: &mut Beside) -> Try<()> {
        let wholes = &self.engine.flat.wholes[..];
        match op {
            WholeOp::Argument { to, word, whole } => {
                let whole = &wholes[whole as usize];
                let given = self.words_from(word, beside);
                // Whoever dispatches has looked that there are so many.
                let own = &given[..whole.words_of(given).min(given.len())];
                beside.shift += own.len().cast_signed() - whole.most_words().cast_signed();
                words!(self, to) = Set::of_words(own);
                whole.clean(&mut words!(self, to));
            }
            WholeOp::ScalarBehind { to, word } => {
                reg!(self, to) = self.words_from(word, beside).first().copied().unwrap_or(0);
            }
            WholeOp::SetBehind { to, word, words } => {
                let given = self.words_from(word, beside);
                set!(self, to) = Set::of_words(&given[..given.len().min(words as usize)]);
            }
            WholeOp::Read { to, other, whole } => {
                let record = record!(self, beside, other);
                wholes[whole as usize].read_words(record, &mut words!(self, to));
            }
            WholeOp::Move { to, from } => words!(self, to) = words!(self, from),
            WholeOp::Write { from, other, whole } => {
                let record = record!(self, beside, other);
                wholes[whole as usize].write_words(record, &words!(self, from));
            }
            WholeOp::Put { to, from, count, whole } => {
                let Whole::List(list) = &wholes[whole as usize] else {
                    return trouble(FaultKind::Malformed, span!(self, at));
                };
                let values = &self.frame.scalars[from as usize..from as usize + count as usize];
                check!(self, at, list.check(values));
                list.put_words(&mut words!(self, to), values);
            }
            WholeOp::Check { from, whole } => {
                check!(self, at, wholes[whole as usize].check_words(&words!(self, from)));
            }
            WholeOp::Length { to, from, whole } => {
                let Whole::List(list) = &wholes[whole as usize] else {
                    return trouble(FaultKind::Malformed, span!(self, at));
                };
                reg!(self, to) = i64::from(list.len_of_words(&words!(self, from)));
            }
            WholeOp::Element { to, index, from, field, whole } => {
                let whole = &wholes[whole as usize];
                reg!(self, to) = check!(self, at, whole.element(&words!(self, from), reg!(self, index), field));
            }
            WholeOp::Same { to, left, right } => {
                reg!(self, to) = i64::from(words!(self, left) == words!(self, right));
            }
            _ => self.on_taken(op, at, beside)?,
        }
        Ok(())
    }

    /// The event's words from an argument on.
    fn words_from(&self, word: u8, beside: &Beside) -> &[i64] {
        let given = self.event.args.words();
        let from = (word as usize).saturating_add_signed(beside.shift);
        given.get(from..).unwrap_or(&[])
    }

    /// What is taken and given: few handlers move a whole to a place where it lies differently.
    #[inline(never)]
    fn on_taken(&mut self, op: WholeOp, at: usize, beside: &mut Beside) -> Try<()> {
        let wholes = &self.engine.flat.wholes[..];
        let last = |taken: Option<Vec<i64>>| taken.ok_or(FaultKind::Malformed);
        match op {
            WholeOp::TakeNumbers { from, count } => {
                beside.taken.push(self.frame.scalars[from as usize..from as usize + count as usize].to_vec());
            }
            WholeOp::TakeWords { from, whole } => {
                beside.taken.push(wholes[whole as usize].values_of_words(&words!(self, from)));
            }
            WholeOp::TakeRecord { other, whole } => {
                let values = wholes[whole as usize].values(record!(self, beside, other));
                beside.taken.push(values);
            }
            WholeOp::CheckTaken { whole } => {
                let values = check!(self, at, beside.taken.last().ok_or(FaultKind::Malformed));
                check!(self, at, wholes[whole as usize].check(values));
            }
            WholeOp::GiveWords { to, whole } => {
                let values = check!(self, at, last(beside.taken.pop()));
                words!(self, to) = wholes[whole as usize].to_words(&values);
            }
            WholeOp::GiveRecord { other, whole } => {
                let values = check!(self, at, last(beside.taken.pop()));
                wholes[whole as usize].write(record!(self, beside, other), &values);
            }
            WholeOp::SameTaken { to } => {
                let right = check!(self, at, last(beside.taken.pop()));
                let left = check!(self, at, last(beside.taken.pop()));
                reg!(self, to) = i64::from(left == right);
            }
            _ => return trouble(FaultKind::Malformed, span!(self, at)),
        }
        Ok(())
    }
}
