//! The data cache of a protocol processor: direct-mapped, of records, which lie one behind the other by role.

use crate::machine::DataCacheModel;
use trivium_engine::number::index;

/// Which record: the number of its role in its protocol, with that of its protocol, and of its object.
pub(crate) type RecordKey = (u32, u32);

pub(super) struct DataCache {
    /// Records of a line.
    each: u64,
    /// The line in each place, and one; 0 if there is none.
    places: Vec<u64>,
}

impl DataCache {
    pub(super) fn new(model: &DataCacheModel) -> DataCache {
        DataCache { each: (model.line / model.record).max(1), places: vec![0; index(model.bytes / model.line)] }
    }

    /// Whether a record is there. If it is not, it comes.
    pub(super) fn look(&mut self, (role, object): RecordKey) -> bool {
        let line = u64::from(object) / self.each;
        // Records of different roles lie apart: each role begins in a place of its own, far from those of others.
        let whole = u64::from(role) << 32 | line;
        let spread = u64::from(role).wrapping_mul(0x9e37_79b9) + line;
        let place = index(spread % self.places.len() as u64);
        let before = std::mem::replace(&mut self.places[place], whole + 1);
        before == whole + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_share_lines_and_drive_each_other_out() {
        let mut cache = DataCache::new(&DataCacheModel { bytes: 1024, line: 128, record: 8 });
        assert!(!cache.look((1, 0)));
        assert!(cache.look((1, 15)), "sixteen records lie in a line");
        assert!(!cache.look((1, 16)));
        assert!(!cache.look((1, 8 * 16)), "eight lines further it lies in the place of the first");
        assert!(!cache.look((1, 0)));
        assert!(cache.look((1, 16)));
    }
}
