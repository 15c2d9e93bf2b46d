//! What records have told before: there are few different ones, and a search comes to each again and again.

use super::pack::hash;
use trivium_engine::number::index;

/// Records that are kept in mind, at most, of each place. A power of two.
const KEPT: usize = 64;

/// What bytes of one place tell, by the bytes.
pub(super) struct Memo<T>(Vec<(Vec<u8>, T)>);

impl<T: Clone + Default> Memo<T> {
    pub fn new() -> Memo<T> {
        Memo(vec![Default::default(); KEPT])
    }

    /// What bytes tell. `tell` finds it out where it is not known: it is given what other bytes have told.
    #[inline]
    pub fn of(&mut self, bytes: &[u8], tell: impl FnOnce(&mut T)) -> &T {
        let (known, told) = &mut self.0[index(hash(bytes) >> (u64::BITS - KEPT.ilog2()))];
        // Nothing is known of places that have been given no bytes yet.
        if known != bytes || bytes.is_empty() {
            known.clear();
            known.extend_from_slice(bytes);
            tell(told);
        }
        told
    }
}
