//! Data of messages that are no longer needed, to be filled again: what is allocated for each message is slow.

use trivium_node::Data;

/// So many are kept, of so many bytes, and places, at most.
const KEPT: usize = 64;
const MOST_BYTES: usize = 4096;
const MOST_PLACES: usize = 256;

/// Data to be filled again.
#[derive(Debug, Default)]
pub(crate) struct SpareData {
    #[expect(clippy::vec_box, reason = "they are handed on by their address")]
    kept: Vec<Box<Data>>,
}

impl SpareData {
    /// Data without anything in them.
    pub(crate) fn take(&mut self) -> Box<Data> {
        self.kept.pop().unwrap_or_default()
    }

    /// Nobody needs these any more.
    pub(crate) fn keep(&mut self, mut data: Box<Data>) {
        if self.kept.len() < KEPT && data.bytes.capacity() <= MOST_BYTES && data.places.capacity() <= MOST_PLACES {
            data.clear();
            self.kept.push(data);
        }
    }
}
