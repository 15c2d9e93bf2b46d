//! Records that a handler has looked at, besides its own.

use crate::mechanisms::Object;
use trivium_protocol::{RoleId, StateId};

/// A record that a handler has looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub role: RoleId,
    pub object: Object,
    /// Its state at that time.
    pub before: StateId,
    /// Whether it may have been changed since.
    pub written: bool,
}

/// So many are kept without a list of their own, which most handlers that touch others never need.
const FEW: usize = 3;

/// Several, in the order in which they were touched.
pub(crate) struct Touches {
    few: [Touch; FEW],
    count: usize,
    more: Vec<Touch>,
}

impl Touches {
    /// None. What the places hold of which nothing is known yet does not matter.
    #[inline(always)]
    pub fn none(filling: Touch) -> Touches {
        Touches { few: [filling; FEW], count: 0, more: Vec::new() }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// That of a record, if it was touched.
    #[inline]
    pub fn find(&mut self, role: RoleId, object: Object) -> Option<&mut Touch> {
        let few = self.few[..self.count.min(FEW)].iter_mut();
        few.chain(&mut self.more).find(|touch| touch.role == role && touch.object == object)
    }

    pub fn push(&mut self, touch: Touch) {
        match self.few.get_mut(self.count) {
            Some(free) => *free = touch,
            None => self.more.push(touch),
        }
        self.count += 1;
    }

    /// One by its number.
    pub fn get(&self, at: usize) -> Option<Touch> {
        match at {
            _ if at >= self.count => None,
            0..FEW => Some(self.few[at]),
            _ => self.more.get(at - FEW).copied(),
        }
    }
}
