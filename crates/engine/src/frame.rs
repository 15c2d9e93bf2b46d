//! The locals of a handler, or the registers of its flat code, while it runs.

use crate::flat::{Entry, MOST_SCALARS, MOST_SETS, MOST_WHOLES};
use crate::set::{Set, WORDS};
use trivium_protocol::Handler;

/// Most scalar locals of a handler.
pub(crate) const FRAME_SCALARS: usize = 64;
/// Most set locals of a handler.
pub(crate) const FRAME_SETS: usize = 16;

/// The locals of a handler, all zero, or empty, at first: room for so many scalars, sets, and lists and arrays as words. A walk keeps the latter where it keeps
/// sets. Flat code has registers of their own for them: of a set no more words count than sets have with so many nodes, of a list or an array all do.
pub(crate) struct Room<const SCALARS: usize, const SETS: usize, const WHOLES: usize = 0> {
    scalars: [i64; SCALARS],
    sets: [Set; SETS],
    wholes: [Set; WHOLES],
}

const _: () = assert!(FRAME_SCALARS < MOST_SCALARS as usize && FRAME_SETS < MOST_SETS as usize);

/// Room for any handler.
pub(crate) type LargeRoom = Room<FRAME_SCALARS, FRAME_SETS>;
/// Room for most handlers, which is cleared much faster.
pub(crate) type SmallRoom = Room<8, 2>;
/// Room for any handler as flat code.
pub(crate) type LargeFlatRoom = Room<{ MOST_SCALARS as usize }, { MOST_SETS as usize }, { MOST_WHOLES as usize }>;
/// Room for most handlers as flat code.
pub(crate) type SmallFlatRoom = Room<16, 3>;
/// Room for those with more registers, none of them a set: sets are most of what has to be cleared in the room for any handler.
pub(crate) type WideFlatRoom = Room<64, 0>;
/// Room for most that move a list or an array.
pub(crate) type OneWholeRoom = Room<16, 0, 1>;
/// Room for those that move more.
pub(crate) type WholesRoom = Room<48, 2, 4>;
/// Room for those that have to do with one set at a time.
pub(crate) type OneSetRoom = Room<16, 1>;
/// Room for those that have to do with no set as a whole.
pub(crate) type NoSetRoom = Room<16, 0>;

impl<const SCALARS: usize, const SETS: usize, const WHOLES: usize> Room<SCALARS, SETS, WHOLES> {
    /// Locals that are all zero, or empty.
    pub const EMPTY: Self =
        Room { scalars: [0; SCALARS], sets: [Set([0; WORDS]); SETS], wholes: [Set([0; WORDS]); WHOLES] };

    /// Whether a handler has no more locals than these.
    pub fn suffices(handler: &Handler) -> bool {
        handler.scalars as usize <= SCALARS && handler.sets as usize <= SETS
    }

    /// Whether a handler's flat code has no more registers than these.
    pub fn suffices_flat(entry: &Entry) -> bool {
        entry.scalars as usize <= SCALARS && entry.sets as usize <= SETS && entry.wholes as usize <= WHOLES
    }

    /// The locals.
    pub fn frame(&mut self) -> Frame<'_> {
        Frame { scalars: &mut self.scalars, sets: &mut self.sets, wholes: &mut self.wholes }
    }
}

/// The locals of a handler that runs.
pub(crate) struct Frame<'m> {
    pub scalars: &'m mut [i64],
    pub sets: &'m mut [Set],
    pub wholes: &'m mut [Set],
}
