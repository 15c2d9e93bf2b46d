//! What the expansion of states asks of those that were found before.

use super::arena::StateNumber;
use super::states::States;

/// States that are expanded, and those that are known already. It is only read while states are expanded.
pub(crate) trait Known: Sync {
    /// The packed bytes of a state that is to be expanded.
    fn state(&self, number: StateNumber) -> &[u8];

    /// The number of a state, if it is known.
    fn find(&self, hash: u64, bytes: &[u8]) -> Option<StateNumber>;

    /// Brings near what [`Known::find`] will look at for some hashes.
    fn touch(&self, hashes: impl Iterator<Item = u64>);
}

impl Known for States {
    #[inline]
    fn state(&self, number: StateNumber) -> &[u8] {
        self.arena.get(number)
    }

    #[inline]
    fn find(&self, hash: u64, bytes: &[u8]) -> Option<StateNumber> {
        States::find(self, hash, bytes)
    }

    #[inline]
    fn touch(&self, hashes: impl Iterator<Item = u64>) {
        States::touch(self, hashes);
    }
}
