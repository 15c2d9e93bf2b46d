//! The compute processor's data cache: which lines it holds and how, without their contents.

use crate::machine::CacheModel;
use trivium_engine::number::index;
use trivium_guest::Tags;

/// How a line is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineState {
    /// Not at all.
    Absent,
    /// Readable; a store must first invalidate on the bus.
    Shared,
    /// Readable and writable.
    Exclusive,
    /// Writable and newer than memory.
    Dirty,
}

/// A line's number, below 2^29 since lines have 8 bytes at least, and how it is held.
fn pack(number: u32, line: LineState) -> u32 {
    number << 2 | line as u32
}

fn unpack(place: u32) -> (u32, LineState) {
    let line = match place & 3 {
        0 => LineState::Absent,
        1 => LineState::Shared,
        2 => LineState::Exclusive,
        _ => LineState::Dirty,
    };
    (place >> 2, line)
}

/// A direct-mapped cache of tags.
pub struct Cache {
    line_shift: u32,
    mask: u64,
    /// The number of a line times 4, plus how it is held: small, since there is one for each node, and all are in use.
    places: Vec<u32>,
    /// Where compiled code looks for hits by itself.
    published: Option<Tags>,
    /// Stores to lines from this address on are always asked for.
    stores_asked_from: u32,
    /// And so are loads.
    loads_asked_from: u32,
}

impl Cache {
    /// An empty cache.
    pub fn new(model: &CacheModel) -> Cache {
        let lines = index(model.bytes / model.line);
        Cache {
            line_shift: model.line.trailing_zeros(),
            mask: lines as u64 - 1,
            places: vec![0; lines],
            published: None,
            stores_asked_from: u32::MAX,
            loads_asked_from: u32::MAX,
        }
    }

    /// From now on compiled code learns of lines whose hits change nothing here: loads of lines that are held, and
    /// stores to dirty ones, but for stores to addresses from `stores_asked_from` on, and loads from `loads_asked_from` on.
    pub fn publish(&mut self, to: Option<Tags>, stores_asked_from: u32, loads_asked_from: u32) {
        self.published = to;
        (self.stores_asked_from, self.loads_asked_from) = (stores_asked_from, loads_asked_from);
        self.tell_all();
    }

    fn tell_all(&self) {
        for place in 0..self.places.len() {
            if self.places[place] != 0 {
                self.tell(place);
            }
        }
    }

    /// The host takes back what compiled code was told of lines that have gone since.
    #[cold]
    fn tell_anew(&self) {
        let Some(tags) = &self.published else { return };
        tags.empty();
        self.tell_all();
        tags.are_settled();
    }

    fn tell(&self, place: usize) {
        if let Some(tags) = &self.published {
            let (number, line) = unpack(self.places[place]);
            let address = number << self.line_shift;
            let stores = line == LineState::Dirty && address < self.stores_asked_from;
            let loads = line != LineState::Absent && address < self.loads_asked_from;
            tags.set(address, 1 << self.line_shift, loads, stores);
        }
    }

    fn place(&self, address: u32) -> (usize, u32) {
        let number = address >> self.line_shift;
        (index(u64::from(number) & self.mask), number)
    }

    /// How the line of an address is held.
    pub fn look(&self, address: u32) -> LineState {
        let (place, number) = self.place(address);
        let (held, line) = unpack(self.places[place]);
        if held == number { line } else { LineState::Absent }
    }

    /// Changes how a line that is held is held.
    pub fn change(&mut self, address: u32, line: LineState) {
        let (place, number) = self.place(address);
        let before = self.places[place];
        let after = pack(number, line);
        if unpack(before).0 == number && before != after {
            self.places[place] = after;
            self.tell(place);
        }
    }

    /// The address of the line that has to leave when this one comes.
    pub fn displaced(&self, address: u32) -> Option<u32> {
        let (place, number) = self.place(address);
        let (other, line) = unpack(self.places[place]);
        (other != number && line != LineState::Absent).then(|| other << self.line_shift)
    }

    /// Brings a line in; true if a dirty one had to leave.
    pub fn fill(&mut self, address: u32, line: LineState) -> bool {
        let (place, number) = self.place(address);
        let (left, held) = unpack(self.places[place]);
        if left != number && held != LineState::Absent {
            self.places[place] = pack(left, LineState::Absent);
            self.tell(place);
        }
        self.places[place] = pack(number, line);
        self.tell(place);
        if self.published.as_ref().is_some_and(Tags::are_crowded) {
            self.tell_anew();
        }
        held == LineState::Dirty && left != number
    }

    /// The lines of a range of bytes leave, or stay as clean shared ones.
    pub fn lower(&mut self, from: u32, bytes: u32, keep_shared: bool) {
        let step = 1u32 << self.line_shift;
        for address in (from..from + bytes).step_by(step as usize) {
            if self.look(address) != LineState::Absent {
                self.change(address, if keep_shared { LineState::Shared } else { LineState::Absent });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_conflict_and_leave() {
        let mut cache = Cache::new(&CacheModel { bytes: 1024, line: 32, associativity: 1 });
        assert_eq!(cache.look(0), LineState::Absent);
        assert!(!cache.fill(4, LineState::Dirty));
        assert_eq!(cache.look(31), LineState::Dirty);
        assert_eq!(cache.look(1024), LineState::Absent);
        assert!(cache.fill(1024, LineState::Shared), "the dirty line at 0 leaves");
        assert_eq!(cache.look(0), LineState::Absent);
        cache.fill(64, LineState::Dirty);
        cache.lower(64, 64, true);
        assert_eq!((cache.look(64), cache.look(96)), (LineState::Shared, LineState::Absent));
        assert_eq!(cache.displaced(64 + 1024), Some(64));
        cache.lower(64, 32, false);
        assert_eq!((cache.look(64), cache.displaced(64 + 1024)), (LineState::Absent, None));
    }
}
