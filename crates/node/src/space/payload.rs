//! What messages carry besides their arguments, and what a running handler has in its hands.

use trivium_engine::Payload;
use trivium_engine::number::fit;

/// The bytes of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where they came from, if they go back to the same places: offset and length.
    pub places: Vec<(u64, u32)>,
}

impl Data {
    /// None; the space that they took stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// Become a copy of others.
    pub fn assign(&mut self, others: &Data) {
        self.clear();
        self.bytes.extend_from_slice(&others.bytes);
        self.places.extend_from_slice(&others.places);
    }
}

/// Payloads of a node: data under handles, which its handlers pass on without looking into them.
#[derive(Debug, Default)]
pub struct Payloads {
    kept: Vec<Option<Box<Data>>>,
    free: Vec<u32>,
}

impl Payloads {
    /// Data become a payload.
    pub fn keep(&mut self, data: Box<Data>) -> Payload {
        match self.free.pop() {
            Some(at) => {
                self.kept[at as usize] = Some(data);
                Payload(at)
            }
            None => {
                self.kept.push(Some(data));
                Payload(fit(self.kept.len() - 1, "a handle, which has 32 bits"))
            }
        }
    }

    /// A payload is no longer needed; gives its data, if there are any.
    #[inline]
    pub fn forget(&mut self, payload: Payload) -> Option<Box<Data>> {
        let data = self.kept[payload.0 as usize].take()?;
        self.free.push(payload.0);
        Some(data)
    }

    /// Takes a payload's data, to be put back.
    #[inline]
    pub fn take(&mut self, payload: Payload) -> Option<Box<Data>> {
        self.kept.get_mut(payload.0 as usize).and_then(Option::take)
    }

    /// Puts data back that were taken.
    #[inline]
    pub fn put_back(&mut self, payload: Payload, data: Box<Data>) {
        self.kept[payload.0 as usize] = Some(data);
    }
}
