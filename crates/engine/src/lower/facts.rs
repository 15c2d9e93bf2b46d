//! What is known of registers on the way to an instruction, so that it is not looked at again.

use crate::flat::{Reg, WholeReg};

/// What has been found so far, in the order in which it was. Of steps in a branch or a loop it is forgotten behind them ([`Facts::marked`]): whoever comes to what stands
/// there may have come another way.
#[derive(Default)]
pub(super) struct Facts {
    /// Locals that lie within these numbers.
    ranges: Vec<(Reg, i64, i64)>,
    /// Locals that are lists or arrays as their types say.
    sound: Vec<WholeReg>,
}

impl Facts {
    /// How much is known.
    pub fn marked(&self) -> (usize, usize) {
        (self.ranges.len(), self.sound.len())
    }

    /// No more is known than at a mark.
    pub fn back_to(&mut self, (ranges, sound): (usize, usize)) {
        self.ranges.truncate(ranges);
        self.sound.truncate(sound);
    }

    /// A local has a value within these numbers.
    pub fn add_range(&mut self, register: Reg, lo: i64, hi: i64) {
        self.ranges.push((register, lo, hi));
    }

    /// What is known of the value of a local: within which numbers it lies.
    pub fn ranges_of(&self, register: Reg) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.ranges.iter().filter(move |known| known.0 == register).map(|&(_, lo, hi)| (lo, hi))
    }

    /// Whether a list or an array is as its type says.
    pub fn is_sound(&self, whole: WholeReg) -> bool {
        self.sound.contains(&whole)
    }

    /// It is.
    pub fn add_sound(&mut self, whole: WholeReg) {
        self.sound.push(whole);
    }
}
