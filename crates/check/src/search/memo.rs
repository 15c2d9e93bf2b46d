//! What records have told before: there are few different ones, and a search comes to each again and again.

use super::pack::hash;
use trivium_engine::number::index;

/// Records that are kept in mind, at most, of each place. A power of two.
const KEPT: usize = 128;

/// What bytes of one place tell, by the bytes, which have one length.
pub(super) struct Memo<T> {
    /// The bytes of which it is known, one after the other.
    known: Vec<u8>,
    /// What they tell; nothing is known of places that have been given no bytes yet.
    told: Vec<Option<T>>,
}

impl<T: Clone + Default> Memo<T> {
    pub fn new() -> Memo<T> {
        Memo { known: Vec::new(), told: vec![None; KEPT] }
    }

    /// What bytes tell. `tell` finds it out where it is not known: it is given what other bytes have told.
    #[inline]
    pub fn of(&mut self, bytes: &[u8], tell: impl FnOnce(&mut T)) -> &T {
        let len = bytes.len();
        if self.known.len() != KEPT * len {
            self.known.resize(KEPT * len, 0);
        }
        let place = index(hash(bytes) >> (u64::BITS - KEPT.ilog2()));
        let (known, told) = (&mut self.known[place * len..][..len], &mut self.told[place]);
        if told.is_none() || known != bytes {
            known.copy_from_slice(bytes);
            tell(told.get_or_insert_default());
        }
        told.get_or_insert_default()
    }
}
