//! The records of a node: made when they are first touched, and found by place once they have been looked up.
//!
//! Objects are mostly numbered without gaps, as blocks are. So the records of a role for neighbours lie in one page, which
//! is made with the first of them and found by their number.

mod blocked;
mod lines;
mod locks;
mod protocols;
mod schedule;
mod split_phase;
mod stores;
mod usage;

pub use blocked::{Arrived, Blockage, Blocked, InQueue, MessageKind};
pub use lines::Lines;
pub use locks::{ASKS, Asking, Locks, OVERTAKES, RELEASE, Taken, holder};
pub(crate) use protocols::NONE;
pub use protocols::{Imported, Protocols, Roomy};
pub use schedule::{Held, Instance, Schedule};
pub use split_phase::SplitPhaseCalls;
pub use stores::Stores;
pub use usage::Usage;

use rustc_hash::FxHashMap;
use std::rc::Rc;
use trivium_engine::number::fit;
use trivium_engine::{Engine, Object};
use trivium_guest::prefetch;
use trivium_protocol::RoleId;

/// Where a record lies. It stays there, since records are never removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    from: u32,
    to: u32,
}

/// Bytes of a page at most, unless it would have less than the fewest records: long ones are not made for many neighbours.
const PAGE_BYTES: usize = 1024;
/// Fewest records of a page.
const FEWEST: usize = 8;
/// Most records of a page.
const MOST: usize = 64;
/// So many pages are found in a list, which takes 4 bytes for each up to the last; those behind them in a map.
const LISTED: u32 = 1 << 16;

/// The pages of one role.
struct Table {
    /// Bytes of a record, with the one before it that tells whether it has been touched.
    bytes: usize,
    /// A page is for `1 << shift` objects.
    shift: u32,
    /// Where each page begins, and one; 0 if it has not been made.
    listed: Vec<u32>,
    mapped: FxHashMap<u32, u32>,
}

impl Table {
    fn new(record_bytes: usize) -> Table {
        let bytes = 1 + record_bytes;
        let shift = (PAGE_BYTES / bytes).clamp(FEWEST, MOST).ilog2();
        Table { bytes, shift, listed: Vec::new(), mapped: FxHashMap::default() }
    }

    /// Where a page begins, and one; 0 if it has not been made.
    #[inline]
    fn page(&self, number: u32) -> u32 {
        if number < LISTED {
            self.listed.get(number as usize).copied().unwrap_or(0)
        } else {
            self.mapped.get(&number).copied().unwrap_or(0)
        }
    }

    fn set_page(&mut self, number: u32, page: u32) {
        if number >= LISTED {
            self.mapped.insert(number, page);
            return;
        }
        if self.listed.len() <= number as usize {
            self.listed.resize(number as usize + 1, 0);
        }
        self.listed[number as usize] = page;
    }

    /// Where in a page an object's record begins, after the byte that tells whether it has been touched.
    #[inline]
    fn place(&self, page: u32, id: u32) -> Slot {
        let within = (id & ((1 << self.shift) - 1)) as usize;
        let from = page as usize + within * self.bytes;
        Slot { from: fit(from, RECORDS), to: fit(from + self.bytes - 1, RECORDS) }
    }
}

/// What [`fit`] says where they do not fit.
const RECORDS: &str = "the records of a node, which take less than 4 GiB";
/// Bytes that the records of a node may take. Behind them is room for those of the handler that goes over it.
const ROOM: usize = (1 << 32) - (64 << 20);

/// All records of a node.
pub struct Records {
    /// Of each protocol, so many tables, one for each role.
    roles: usize,
    tables: Vec<Table>,
    bytes: Vec<u8>,
    /// How many there may be.
    room: usize,
}

impl Records {
    /// No record has been touched.
    pub fn new(engines: &[Rc<Engine>]) -> Records {
        let roles = engines.iter().map(|engine| engine.protocol().roles.len()).max().unwrap_or(0);
        let of = |engine: &Rc<Engine>| {
            let engine = engine.clone();
            let declared = engine.protocol().roles.len();
            (0..roles).map(move |role| if role < declared { engine.record_bytes(RoleId::at(role)) } else { 0 })
        };
        Records { roles, tables: engines.iter().flat_map(of).map(Table::new).collect(), bytes: Vec::new(), room: ROOM }
    }

    /// The place of a record, which is made, all zero, if there is none; and whether nobody has touched it before.
    #[inline(always)]
    pub fn place(&mut self, protocol: usize, role: RoleId, object: Object) -> (Slot, bool) {
        let at = protocol * self.roles + role.index();
        let table = &self.tables[at];
        let page = match table.page(object.id >> table.shift) {
            0 => self.make_page(at, object.id),
            page => page,
        };
        let place = self.tables[at].place(page, object.id);
        let is_new = std::mem::replace(&mut self.bytes[place.from as usize - 1], 1) == 0;
        (place, is_new)
    }

    /// That records have come to take more than they may, if so: those made last have places, but the node cannot go on.
    ///
    /// # Errors
    /// They have.
    #[inline]
    pub fn must_fit(&self) -> Result<(), String> {
        if self.bytes.len() <= self.room { Ok(()) } else { Err(self.does_not_fit()) }
    }

    #[cold]
    fn does_not_fit(&self) -> String {
        format!(
            "what the protocol keeps of objects on this node takes more than {} MiB, which is the most: larger blocks (--block), homes on \
             more nodes, or less allocated memory take less",
            self.room >> 20
        )
    }

    #[cold]
    fn make_page(&mut self, table: usize, id: u32) -> u32 {
        let table = &mut self.tables[table];
        let from = self.bytes.len();
        let to = from + (table.bytes << table.shift);
        let _: u32 = fit(to, RECORDS);
        // Doubled only as far as there is room.
        if to > self.bytes.capacity() {
            self.bytes.reserve_exact(from.min(self.room.saturating_sub(from)).max(to - from));
        }
        self.bytes.resize(to, 0);
        let page = fit(from + 1, RECORDS);
        table.set_page(id >> table.shift, page);
        page
    }

    /// A record is going to be looked at.
    #[inline]
    pub fn prefetch(&self, protocol: usize, role: RoleId, object: Object) {
        let table = &self.tables[protocol * self.roles + role.index()];
        let page = table.page(object.id >> table.shift);
        if let Some(touched) = self.bytes.get(table.place(page.max(1), object.id).from as usize - 1) {
            prefetch(touched);
        }
    }

    /// The place of a record, if it has been touched.
    fn touched(&self, protocol: usize, role: RoleId, object: Object) -> Option<Slot> {
        let table = &self.tables[protocol * self.roles + role.index()];
        let page = table.page(object.id >> table.shift);
        if page == 0 {
            return None;
        }
        let place = table.place(page, object.id);
        (self.bytes[place.from as usize - 1] == 1).then_some(place)
    }

    /// The record, if it has been touched.
    pub fn find(&self, protocol: usize, role: RoleId, object: Object) -> Option<&[u8]> {
        self.touched(protocol, role, object).map(|place| self.at(place))
    }

    /// The record is again as if it had never been touched.
    pub fn forget(&mut self, protocol: usize, role: RoleId, object: Object) {
        if let Some(place) = self.touched(protocol, role, object) {
            self.at_mut(place).fill(0);
            self.bytes[place.from as usize - 1] = 0;
        }
    }

    /// The record at a place.
    #[inline]
    pub fn at(&self, place: Slot) -> &[u8] {
        &self.bytes[place.from as usize..place.to as usize]
    }

    /// The record at a place.
    #[inline]
    pub fn at_mut(&mut self, place: Slot) -> &mut [u8] {
        &mut self.bytes[place.from as usize..place.to as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::sync::Arc;
    use trivium_protocol::BLOCK;

    #[test]
    fn records_are_apart_wherever_their_objects_are() {
        let load = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(name);
            Rc::new(Engine::load(Arc::new(trivium_lang::compile_file(&path, &[]).unwrap()), 8).unwrap())
        };
        let engines = [load("stache.tri"), load("token-lock.tri")];
        let mut records = Records::new(&engines);
        let mut places = Vec::new();
        for (protocol, engine) in engines.iter().enumerate() {
            for role in (0..engine.protocol().roles.len()).map(|role| RoleId::at(role)) {
                for id in [0, 1, 63, 64, 65, 4_000_000, 5_000_000, u32::MAX] {
                    let object = Object { kind: BLOCK, id };
                    assert_eq!(records.find(protocol, role, object), None);
                    let (place, is_new) = records.place(protocol, role, object);
                    assert!(is_new);
                    assert_eq!(records.find(protocol, role, object), Some(&vec![0; engine.record_bytes(role)][..]));
                    records.at_mut(place).fill(places.len() as u8 + 1);
                    places.push((protocol, role, object, place));
                }
            }
        }
        for (number, &(protocol, role, object, place)) in places.iter().enumerate() {
            assert_eq!(records.place(protocol, role, object), (place, false));
            assert!(records.at(place).iter().all(|&byte| byte == number as u8 + 1), "{role:?} {object:?}");
        }
        let (protocol, role, object, place) = places[0];
        records.forget(protocol, role, object);
        assert!(records.at(place).iter().all(|&byte| byte == 0));
        assert_eq!(records.find(protocol, role, object), None);
        assert_eq!(records.place(protocol, role, object), (place, true));
    }
    /// It was a panic.
    #[test]
    fn records_that_do_not_fit_are_an_error() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/stache.tri");
        let engine = Rc::new(Engine::load(Arc::new(trivium_lang::compile_file(&path, &[]).unwrap()), 8).unwrap());
        let mut records = Records { room: 3 << 20, ..Records::new(&[engine]) };
        let fits = (0..).take_while(|&id| {
            let (place, is_new) = records.place(0, RoleId::at(0), Object { kind: BLOCK, id });
            assert!(is_new && records.at(place).iter().all(|&byte| byte == 0));
            records.must_fit().is_ok()
        });
        let fits = fits.count();
        assert!(fits > 1000 && records.bytes.len() > 3 << 20, "{fits}");
        let told = records.must_fit().unwrap_err();
        assert!(told.contains("more than 3 MiB") && told.contains("--block"), "{told}");
    }
}
