//! The records of a node: made when they are first touched, and found by place once they have been looked up.

use rustc_hash::FxHashMap;
use trivium_engine::Object;
use trivium_lang::protocol::RoleId;

/// Where a record lies. It stays there, since records are never removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    from: u32,
    to: u32,
}

/// Whose record: a word, since it is looked up often.
fn key(protocol: usize, role: RoleId, object: Object) -> u64 {
    assert!(protocol < 1 << 16, "protocol {protocol}");
    (protocol as u64) << 48 | u64::from(role.0) << 40 | u64::from(object.kind.0) << 32 | u64::from(object.id)
}

/// All records of a node, one behind the other.
#[derive(Default)]
pub(crate) struct Records {
    places: FxHashMap<u64, Place>,
    bytes: Vec<u8>,
}

impl Records {
    /// The place of a record, which is made with so many bytes, all zero, if there is none.
    pub(crate) fn place(&mut self, protocol: usize, role: RoleId, object: Object, bytes: usize) -> Place {
        *self.places.entry(key(protocol, role, object)).or_insert_with(|| {
            let from = self.bytes.len();
            let to = from + bytes;
            assert!(u32::try_from(to).is_ok(), "the records of a node take more than 4 GiB");
            self.bytes.resize(to, 0);
            Place { from: from as u32, to: to as u32 }
        })
    }

    /// The record, if it has been touched.
    pub(crate) fn find(&self, protocol: usize, role: RoleId, object: Object) -> Option<&[u8]> {
        self.places.get(&key(protocol, role, object)).map(|&place| self.at(place))
    }

    /// The record is again as if it had never been touched.
    pub(crate) fn forget(&mut self, protocol: usize, role: RoleId, object: Object) {
        if let Some(&place) = self.places.get(&key(protocol, role, object)) {
            self.at_mut(place).fill(0);
        }
    }

    /// The record at a place.
    #[inline]
    pub(crate) fn at(&self, place: Place) -> &[u8] {
        &self.bytes[place.from as usize..place.to as usize]
    }

    /// The record at a place.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: Place) -> &mut [u8] {
        &mut self.bytes[place.from as usize..place.to as usize]
    }
}
