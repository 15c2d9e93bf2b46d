//! Data of messages. The same data always have the same handle, so that states compare as bytes.

use rustc_hash::FxHashMap;
use trivium_engine::Payload;
use trivium_engine::number::fit;

/// What a payload holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(crate) enum Data {
    /// The word of a block.
    Block(u64),
    /// A range of memory.
    Memory(Vec<u8>),
    /// Words with the addresses that they were taken from.
    List(Vec<(u64, u64)>),
}

/// All data that any message of the exploration has carried.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    data: Vec<Data>,
    numbers: FxHashMap<Data, u32>,
}

/// Handles below this are the word of a block itself.
const FIRST_NUMBER: u32 = 1 << 16;

impl Payloads {
    /// The handle of some data.
    pub fn handle(&mut self, data: Data) -> Payload {
        if let Data::Block(word) = data
            && word < u64::from(FIRST_NUMBER)
        {
            return Payload(fit(word, "a handle that is the word itself"));
        }
        if let Some(&number) = self.numbers.get(&data) {
            return Payload(number);
        }
        let number = FIRST_NUMBER + fit::<_, u32>(self.data.len(), "the number of what messages carry");
        self.data.push(data.clone());
        self.numbers.insert(data, number);
        Payload(number)
    }

    /// All data that have numbers, in the order of these.
    pub fn all(&self) -> &[Data] {
        &self.data
    }

    /// The data of a handle.
    pub fn data(&self, payload: Payload) -> Data {
        match payload.0.checked_sub(FIRST_NUMBER) {
            None => Data::Block(u64::from(payload.0)),
            Some(at) => self.data[at as usize].clone(),
        }
    }
}
