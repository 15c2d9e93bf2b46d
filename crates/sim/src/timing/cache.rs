//! The compute processor's data cache: which lines it holds and how, without their contents.

use super::page_table::PageTable;
use crate::machine::Machine;
use trivium_engine::number::index;
use trivium_guest::{Tags, Translations};

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

/// A direct-mapped cache of tags, whose lines are found by physical addresses. All addresses here are the program's.
pub struct Cache {
    line_shift: u32,
    mask: u64,
    /// The number of a line in the program's memory times 4, plus how it is held: small, since there is one for each node, and all are
    /// in use.
    places: Vec<u32>,
    /// Where the program's pages lie.
    pages: PageTable,
    /// Which pages are translated, if that is modelled.
    tlb: Option<Translations>,
    /// Where compiled code looks for hits by itself.
    published: Option<Tags>,
    /// Stores to lines from this address on are always asked for.
    stores_asked_from: u32,
    /// And so are loads.
    loads_asked_from: u32,
}

impl Cache {
    /// The empty cache, and TLB, of a machine.
    pub fn new(machine: &Machine) -> Cache {
        let model = &machine.cache;
        let lines = index(model.bytes / model.line);
        Cache {
            line_shift: model.line.trailing_zeros(),
            mask: lines as u64 - 1,
            places: vec![0; lines],
            pages: PageTable::new(machine.memory.page),
            tlb: machine.tlb_shape().map(Translations::new),
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

    /// From now on the TLB is one that compiled code looks at, too: as empty as this one still is.
    pub fn translate_by(&mut self, tlb: Option<Translations>) {
        self.tlb = tlb.or(self.tlb.take());
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

    /// Compiled code learns how a line is held.
    fn tell(&self, place: usize) {
        if let Some(tags) = &self.published {
            let (number, line) = unpack(self.places[place]);
            let address = number << self.line_shift;
            let stores = line == LineState::Dirty && address < self.stores_asked_from;
            let loads = line != LineState::Absent && address < self.loads_asked_from;
            tags.set(address, 1 << self.line_shift, loads, stores);
        }
    }

    /// Whether the processor finds an address without looking its page up.
    #[inline]
    pub fn translates(&self, address: u32) -> bool {
        self.tlb.as_ref().is_none_or(|tlb| tlb.holds(address))
    }

    /// The translation of an address, which was missing, comes into the TLB.
    pub fn load_translation(&mut self, address: u32) {
        self.tlb.iter().for_each(|tlb| tlb.load(address));
    }

    fn place_of(&self, physical: u64) -> usize {
        index(physical >> self.line_shift & self.mask)
    }

    /// Where the line of an address is, if its page has a frame, and its number.
    fn place(&self, address: u32) -> Option<(usize, u32)> {
        let physical = self.pages.physical(address)?;
        Some((self.place_of(physical), address >> self.line_shift))
    }

    /// The same of a line that is about to come: its page gets a frame if it has none.
    fn place_to_fill(&mut self, address: u32) -> (usize, u32) {
        let physical = self.pages.place(address);
        (self.place_of(physical), address >> self.line_shift)
    }

    /// How the line of an address is held.
    pub fn look(&self, address: u32) -> LineState {
        let Some((place, number)) = self.place(address) else { return LineState::Absent };
        let (held, line) = unpack(self.places[place]);
        if held == number { line } else { LineState::Absent }
    }

    /// Changes how a line that is held is held.
    pub fn change(&mut self, address: u32, line: LineState) {
        let Some((place, number)) = self.place(address) else { return };
        let before = self.places[place];
        let after = pack(number, line);
        if unpack(before).0 == number && before != after {
            self.places[place] = after;
            self.tell(place);
        }
    }

    /// The address of the line that has to leave when this one comes.
    pub fn displaced(&mut self, address: u32) -> Option<u32> {
        let (place, number) = self.place_to_fill(address);
        let (other, line) = unpack(self.places[place]);
        (other != number && line != LineState::Absent).then(|| other << self.line_shift)
    }

    /// Brings a line in; true if a dirty one had to leave.
    pub fn fill(&mut self, address: u32, line: LineState) -> bool {
        let (place, number) = self.place_to_fill(address);
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

    /// The page of an address gives its frame up, and what is held of it leaves.
    pub fn release(&mut self, address: u32) {
        let (from, bytes) = self.pages.page_of(address);
        self.lower(from, bytes, false);
        self.pages.release(address);
        if let Some(tlb) = &self.tlb {
            tlb.drop_pages(from, bytes);
        }
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
    use crate::machine::{CacheModel, MemoryModel};
    use trivium_guest::SHARED_BASE;

    /// A cache of 1 KiB, without a TLB.
    fn cache(page: u64) -> Cache {
        let machine = Machine::load("typhoon", &[]).unwrap();
        let (cache, memory) = (machine.cache.clone(), machine.memory.clone());
        Cache::new(&Machine {
            cache: CacheModel { bytes: 1024, ..cache },
            memory: MemoryModel { page, ..memory },
            tlb: None,
            ..machine
        })
    }

    #[test]
    fn lines_conflict_and_leave() {
        // All of it is one page, so that addresses are physical ones.
        let mut cache = cache(4096);
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

    #[test]
    fn lines_conflict_where_their_frames_do() {
        let mut cache = cache(512);
        // Two pages fill the cache, whatever their addresses are; the third lies over the first.
        let pages = [7 * 1024, SHARED_BASE + 9 * 1024, SHARED_BASE];
        cache.fill(pages[0] + 64, LineState::Shared);
        cache.fill(pages[1] + 64, LineState::Shared);
        assert_eq!(pages.map(|page| cache.look(page + 64)), [LineState::Shared, LineState::Shared, LineState::Absent]);
        assert_eq!(cache.displaced(pages[2] + 64), Some(pages[0] + 64));
        cache.fill(pages[2] + 64, LineState::Dirty);
        assert_eq!(pages.map(|page| cache.look(page + 64)), [LineState::Absent, LineState::Shared, LineState::Dirty]);
    }

    #[test]
    fn a_page_that_goes_takes_its_lines_with_it() {
        let mut cache = cache(512);
        cache.fill(512, LineState::Dirty);
        cache.fill(0, LineState::Shared);
        cache.release(512 + 40);
        assert_eq!((cache.look(512), cache.look(0)), (LineState::Absent, LineState::Shared));
        cache.fill(2048, LineState::Shared);
        // It got the frame that was free, the first; the page that had it has now the third, and another one the fourth.
        assert_eq!((cache.displaced(512), cache.displaced(4096)), (Some(2048), Some(0)));
    }
}
