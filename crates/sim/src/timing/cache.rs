//! The compute processor's data cache: which lines it holds and how, without their contents.

use super::page_table::PageTable;
use crate::machine::Machine;
use std::ops::Range;
use trivium_engine::number::index;
use trivium_guest::{Tags, Translations, prefetch};
use trivium_protocol::Access;

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

/// The lines of one level: sets of ways, in each the line that came last first, so that the one that came first leaves first.
struct Level {
    line_shift: u32,
    ways: usize,
    mask: u64,
    /// The number of a line in the program's memory times 4, plus how it is held: small, since there is one for each node, and all are
    /// in use.
    places: Vec<u32>,
}

impl Level {
    /// A level of so many bytes, with lines of so many, in sets of so many: powers of two.
    fn new(bytes: u64, line: u64, ways: u64) -> Level {
        let lines = index(bytes / line);
        let ways = index(ways);
        Level { line_shift: line.trailing_zeros(), ways, mask: (lines / ways) as u64 - 1, places: vec![0; lines] }
    }

    fn number(&self, address: u32) -> u32 {
        address >> self.line_shift
    }

    fn bytes(&self) -> u32 {
        1 << self.line_shift
    }

    /// The set of a physical address.
    #[inline]
    fn set(&self, physical: u64) -> Range<usize> {
        let first = index(physical >> self.line_shift & self.mask) * self.ways;
        first..first + self.ways
    }

    /// Where a line of this number is, if it is held.
    #[inline]
    fn find(&self, physical: u64, number: u32) -> Option<usize> {
        self.set(physical).find(|&place| {
            let (held, line) = unpack(self.places[place]);
            held == number && line != LineState::Absent
        })
    }

    /// Which place a line of this number gets that is not held.
    fn place_for(&self, physical: u64) -> usize {
        let set = self.set(physical);
        let last = set.end - 1;
        set.into_iter().find(|&place| unpack(self.places[place]).1 == LineState::Absent).unwrap_or(last)
    }

    /// Brings a line in; gives the number of the one that has to leave, and how it was held.
    fn put(&mut self, physical: u64, number: u32, line: LineState) -> Option<(u32, LineState)> {
        let place = self.find(physical, number).unwrap_or_else(|| self.place_for(physical));
        let (left, held) = unpack(self.places[place]);
        let first = self.set(physical).start;
        self.places[first..=place].rotate_right(1);
        self.places[first] = pack(number, line);
        (held != LineState::Absent && left != number).then_some((left, held))
    }
}

/// A cache of tags, of one or two levels, whose lines are found by physical addresses. All addresses here are the program's. What lies in
/// the first of two levels lies in the second, too, which alone knows how it is held.
pub struct Cache {
    /// All of it, or the second of two levels.
    lines: Level,
    /// The first of two levels.
    near: Option<Level>,
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
        Cache {
            lines: Level::new(model.bytes, model.line, model.associativity),
            near: model.first.as_ref().map(|first| Level::new(first.bytes, first.line, first.associativity)),
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
        for &place in &self.lines.places {
            let (number, line) = unpack(place);
            if line != LineState::Absent {
                self.tell(number, line);
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

    /// Compiled code learns how a line is held. Of two levels it sees the first only.
    fn tell(&self, number: u32, line: LineState) {
        let Some(tags) = &self.published else { return };
        let address = number << self.lines.line_shift;
        let stores = line == LineState::Dirty && address < self.stores_asked_from;
        let loads = line != LineState::Absent && address < self.loads_asked_from;
        let Some(near) = &self.near else { return tags.set(address, self.lines.bytes(), loads, stores) };
        for part in self.parts(number, near) {
            let is_near = self.is_near(part);
            tags.set(part, near.bytes(), loads && is_near, stores && is_near);
        }
    }

    /// The addresses of the first level's lines in a line of the second.
    fn parts(&self, number: u32, near: &Level) -> impl Iterator<Item = u32> + use<> {
        let address = number << self.lines.line_shift;
        (address..address + self.lines.bytes()).step_by(near.bytes() as usize)
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

    /// The line of an address is going to be looked up or changed.
    #[inline]
    pub fn prefetch(&self, address: u32) {
        if let Some(physical) = self.pages.physical(address)
            && let Some(place) = self.lines.places.get(self.lines.set(physical).start)
        {
            prefetch(place);
        }
        self.published.iter().for_each(|tags| tags.prefetch(address));
    }

    /// Where the line of an address is, if it is held.
    fn place(&self, address: u32) -> Option<usize> {
        let physical = self.pages.physical(address)?;
        self.lines.find(physical, self.lines.number(address))
    }

    /// How the line of an address is held.
    pub fn look(&self, address: u32) -> LineState {
        self.place(address).map_or(LineState::Absent, |place| unpack(self.lines.places[place]).1)
    }

    /// Whether a line that is held is in the first level, if there are two.
    #[inline]
    pub fn is_near(&self, address: u32) -> bool {
        let Some(near) = &self.near else { return true };
        self.pages.physical(address).is_some_and(|physical| near.find(physical, near.number(address)).is_some())
    }

    /// Changes how a line that is held is held.
    pub fn change(&mut self, address: u32, line: LineState) {
        let Some(place) = self.place(address) else { return };
        let number = self.lines.number(address);
        if self.lines.places[place] == pack(number, line) {
            return;
        }
        self.lines.places[place] = pack(number, line);
        if line == LineState::Absent {
            self.leave_first(number);
        }
        self.tell(number, line);
    }

    /// A line leaves the first level, if there are two, since it leaves the second.
    fn leave_first(&mut self, number: u32) {
        let Some(mut near) = self.near.take() else { return };
        for part in self.parts(number, &near) {
            let place = self.pages.physical(part).and_then(|physical| near.find(physical, near.number(part)));
            if let Some(place) = place {
                near.places[place] = pack(near.number(part), LineState::Absent);
            }
        }
        self.near = Some(near);
    }

    /// The address of the line that has to leave when this one comes.
    pub fn displaced(&mut self, address: u32) -> Option<u32> {
        let physical = self.pages.place(address);
        if self.lines.find(physical, self.lines.number(address)).is_some() {
            return None;
        }
        let (other, line) = unpack(self.lines.places[self.lines.place_for(physical)]);
        (line != LineState::Absent).then(|| other << self.lines.line_shift)
    }

    /// Brings a line in; true if a dirty one had to leave.
    pub fn fill(&mut self, address: u32, line: LineState) -> bool {
        let physical = self.pages.place(address);
        let number = self.lines.number(address);
        let left = self.lines.put(physical, number, line);
        if let Some((left, _)) = left {
            self.leave_first(left);
            self.tell(left, LineState::Absent);
        }
        self.tell(number, line);
        if self.published.as_ref().is_some_and(Tags::are_crowded) {
            self.tell_anew();
        }
        left.is_some_and(|(_, held)| held == LineState::Dirty)
    }

    /// What is held of an address comes into the first level, if there are two, where another line leaves.
    pub fn bring_near(&mut self, address: u32) {
        let Some(near) = &mut self.near else { return };
        let physical = self.pages.place(address);
        let left = near.put(physical, near.number(address), LineState::Shared);
        let left = left.map(|(left, _)| left << near.line_shift);
        for address in left.into_iter().chain([address]) {
            self.tell(self.lines.number(address), self.look(address));
        }
        if self.published.as_ref().is_some_and(Tags::are_crowded) {
            self.tell_anew();
        }
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

    /// The address of a line in a range of bytes that is held although a tag does not allow it, or may be stored to although it does not.
    pub fn beyond(&self, from: u32, bytes: u32, tag: Access) -> Option<u32> {
        if tag == Access::Write {
            return None;
        }
        (from..from + bytes).step_by(self.lines.bytes() as usize).find(|&address| match self.look(address) {
            LineState::Absent => false,
            LineState::Shared => tag == Access::None,
            LineState::Exclusive | LineState::Dirty => true,
        })
    }

    /// The lines of a range of bytes leave, or stay as clean shared ones.
    pub fn lower(&mut self, from: u32, bytes: u32, keep_shared: bool) {
        let step = self.lines.bytes();
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
    use crate::machine::{CacheModel, FirstLevelModel, MemoryModel};
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
    fn of_two_ways_the_line_that_came_first_leaves_first() {
        let machine = Machine::load("typhoon", &[]).unwrap();
        let model = CacheModel { bytes: 1024, associativity: 2, ..machine.cache.clone() };
        let mut cache = Cache::new(&Machine { cache: model, tlb: None, ..machine });
        // Sets repeat every 512 bytes.
        assert!(!cache.fill(0, LineState::Dirty) && !cache.fill(512, LineState::Shared));
        assert_eq!((cache.displaced(0), cache.displaced(1024)), (None, Some(0)));
        // A store to it changes nothing of that.
        cache.change(0, LineState::Shared);
        cache.change(0, LineState::Dirty);
        assert!(cache.fill(1024, LineState::Shared), "the dirty line at 0 leaves");
        assert_eq!(cache.displaced(1536), Some(512));
        cache.lower(1024, 32, false);
        assert_eq!((cache.displaced(1536), cache.look(512)), (None, LineState::Shared));
    }

    #[test]
    fn what_leaves_the_second_level_leaves_the_first() {
        let machine = Machine::load("flash", &[]).unwrap();
        let model = CacheModel {
            bytes: 1024,
            associativity: 1,
            first: Some(FirstLevelModel { bytes: 256, line: 64, associativity: 2, miss: 50 }),
            ..machine.cache.clone()
        };
        let mut cache = Cache::new(&Machine { cache: model, ..machine });
        cache.fill(0, LineState::Dirty);
        assert!(!cache.is_near(0));
        cache.bring_near(64);
        assert_eq!((cache.is_near(0), cache.is_near(64)), (false, true));
        cache.fill(128, LineState::Shared);
        cache.fill(256, LineState::Shared);
        cache.bring_near(128 + 64);
        assert!(cache.is_near(64) && cache.is_near(192));
        cache.bring_near(256 + 64);
        assert_eq!((cache.is_near(64), cache.look(64)), (false, LineState::Dirty), "it stays in the second level");
        cache.fill(1024 + 128, LineState::Shared);
        assert_eq!((cache.is_near(192), cache.look(192)), (false, LineState::Absent));
        cache.lower(256, 128, true);
        assert!(cache.is_near(320));
        cache.lower(256, 128, false);
        assert!(!cache.is_near(320));
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
