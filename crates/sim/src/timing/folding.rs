//! Prices that are worked out once: what a handler did is a path, and each path has its own cycles, its bus transactions and
//! when its messages leave folded into a few sums.
//!
//! The primitives that a handler yields lead from place to place in a tree, which grows as paths are taken for the first time;
//! nothing is written down on the way. At its end a path is folded by [`lay`] itself, on a bus on which nothing ever waits:
//! since all that a handler does later is late by just as much as it has waited for the bus, the rest are sums. So the price
//! list keeps its one meaning, which is `lay`; what was taken seldom, or is watched, is priced by it directly.

use super::bus::Bus;
use super::pricing::{Booking, Did, Given, HandlerTime, Trigger, lay};
use crate::machine::Machine;
use crate::machine::price::Transaction;
use trivium_engine::Object;
use trivium_engine::number::fit;
use trivium_node::{DataFrom, Primitive};
use trivium_protocol::BLOCK;

/// A place in the tree of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Path(u32);

impl Default for Path {
    fn default() -> Path {
        Path::NONE
    }
}

impl Path {
    /// Not in the tree: what the handler does is written down.
    pub const NONE: Path = Path(u32::MAX);
}

/// So many places a tree has at most. Handlers with unusual amounts of data, or large sets, could make any number.
const MOST_PLACES: usize = 1 << 16;
/// So long a folded path is at most; longer ones are priced as they are.
const LONGEST: usize = 256;

/// What a primitive is that has no number: it leads nowhere.
pub(crate) const NO_CODE: u64 = u64::MAX;

/// What has not been folded yet.
const UNKNOWN: u32 = 0;
/// What is not folded.
const NOT_FOLDED: u32 = u32::MAX;

/// A place: what led to it, and where it leads. Primitives are numbers that no other has.
struct Place {
    /// The primitive that leads to the first of the places behind it, and that place; 0 if there is none. Mostly it is the
    /// one that is taken, and then no other place need be looked at.
    first: u64,
    child: u32,
    /// The next of the places to which what is before it leads; 0 if there is none.
    sibling: u32,
    /// The primitive that leads here.
    code: u64,
    before: u32,
    /// The price of a handler that ends here: its number, and one.
    folded: u32,
}

/// What a place stands for.
#[derive(Clone, Copy)]
enum What {
    Start,
    Trigger(Trigger),
    Did(Primitive),
    /// A handler that has a price of its own.
    Priced,
}

/// Paths of handlers, and their prices.
pub(crate) struct Paths {
    places: Vec<Place>,
    what: Vec<What>,
    folded: Vec<Folded>,
}

impl Default for Paths {
    fn default() -> Paths {
        let place = Place { first: 0, child: 0, sibling: 0, code: 0, before: 0, folded: UNKNOWN };
        Paths { places: vec![place], what: vec![What::Start], folded: Vec::new() }
    }
}

impl Paths {
    /// Where a handler of this kind begins.
    #[inline]
    pub fn begin(&mut self, trigger: Trigger) -> Path {
        let Some(code) = code_of_trigger(trigger) else { return Path::NONE };
        match self.follow(Path(0), code) {
            Path::NONE => self.grow(Path(0), code, What::Trigger(trigger)),
            path => path,
        }
    }

    /// Where a primitive of this code leads; [`Path::NONE`] if it has not been taken yet, or if the handler is not in the tree.
    #[inline(always)]
    pub fn follow(&self, at: Path, code: u64) -> Path {
        match self.places.get(at.0 as usize) {
            Some(place) if place.first == code => Path(place.child),
            Some(place) => self.search(place.child, code),
            None => Path::NONE,
        }
    }

    /// Of a place and those beside it, the one to which a primitive leads.
    #[inline(never)]
    fn search(&self, mut next: u32, code: u64) -> Path {
        while next != 0 {
            let place = &self.places[next as usize];
            if place.code == code {
                return Path(next);
            }
            next = place.sibling;
        }
        Path::NONE
    }

    /// Where it leads from now on; [`Path::NONE`] if the tree has no place left.
    pub fn lead(&mut self, at: Path, code: u64, what: Primitive) -> Path {
        self.grow(at, code, What::Did(what))
    }

    /// The end of a path of a handler that has a price of its own, which has this number.
    #[cold]
    pub fn end_of_priced(&mut self, at: Path, number: u16) -> Path {
        let Some(code) = pack(40, u64::from(number), 0, 0).filter(|_| at != Path::NONE) else { return Path::NONE };
        match self.follow(at, code) {
            Path::NONE => self.grow(at, code, What::Priced),
            path => path,
        }
    }

    #[cold]
    fn grow(&mut self, at: Path, code: u64, what: What) -> Path {
        if self.places.len() >= MOST_PLACES {
            return Path::NONE;
        }
        let new = fit(self.places.len(), "a place, of which there are at most 65536");
        let before = &mut self.places[at.0 as usize];
        before.first = code;
        let sibling = std::mem::replace(&mut before.child, new);
        self.places.push(Place { first: 0, child: 0, sibling, code, before: at.0, folded: UNKNOWN });
        self.what.push(what);
        Path(new)
    }

    /// What a path was so far, from its beginning on.
    pub fn told(&self, at: Path) -> (Trigger, Vec<Primitive>) {
        let (mut at, mut trigger, mut effects) = (at.0, Trigger::Task, Vec::new());
        while at != 0 {
            match self.what[at as usize] {
                What::Did(primitive) => effects.push(primitive),
                What::Trigger(of) => trigger = of,
                What::Start | What::Priced => {}
            }
            at = self.places[at as usize].before;
        }
        effects.reverse();
        (trigger, effects)
    }

    /// The price of a handler that ends here, on a machine with blocks of `block` bytes (always the same two); none if it is
    /// not folded. `given` is its own price, if the path has the end of one that has.
    #[inline]
    pub fn price(
        &mut self,
        at: Path,
        given: Option<&Given>,
        machine: &Machine,
        block: u64,
        bus: &Bus,
    ) -> Option<&Folded> {
        let mut folded = self.places[at.0 as usize].folded;
        if folded == UNKNOWN {
            folded = self.fold(at, given, machine, block, bus);
        }
        self.folded.get((folded as usize).wrapping_sub(1))
    }

    #[cold]
    fn fold(&mut self, at: Path, given: Option<&Given>, machine: &Machine, block: u64, bus: &Bus) -> u32 {
        let (trigger, effects) = self.told(at);
        let known = Folded::of(Did { trigger, effects: &effects, given }, machine, block, bus).map(|folded| {
            self.folded.push(folded);
            fit(self.folded.len(), "a price, of which there are at most 65536")
        });
        let number = known.unwrap_or(NOT_FOLDED);
        self.places[at.0 as usize].folded = number;
        number
    }
}

/// Something that a handler does at a cycle that depends on when the bus was free. Cycles count from the handler's start, and
/// are those of a bus on which it never waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FoldedPart {
    /// A transaction can be granted.
    Book(Transaction, u64),
    /// A message is handed over.
    Send(u64),
    /// Waiting threads go on.
    Resume(u64),
}

/// The price of a path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    parts: Vec<FoldedPart>,
    /// When it has ended.
    end: u64,
}

impl Folded {
    /// Works it out; none if it is too long.
    pub fn of(did: Did, machine: &Machine, block: u64, bus: &Bus) -> Option<Folded> {
        let mut quiet = QuietBus { bus, parts: Vec::new() };
        let mut time = HandlerTime::default();
        lay(did, 0, machine, block, &mut quiet, &mut time);
        (quiet.parts.len() <= LONGEST).then_some(Folded { parts: quiet.parts, end: time.end })
    }

    /// The time of a handler that begins at cycle `start`.
    #[inline]
    pub fn lay(&self, start: u64, bus: &mut Bus, time: &mut HandlerTime) {
        time.restart();
        // By so much everything is late.
        let mut now = start;
        for part in &self.parts {
            match *part {
                FoldedPart::Book(transaction, at) => now = bus.book(transaction, now + at) - at,
                FoldedPart::Send(at) => time.sends.push(now + at),
                FoldedPart::Resume(at) => time.resume = Some(now + at),
            }
        }
        time.end = now + self.end;
    }
}

/// A bus on which nothing waits, and what a handler does on it.
struct QuietBus<'b> {
    bus: &'b Bus,
    parts: Vec<FoldedPart>,
}

impl Booking for QuietBus<'_> {
    fn bus(&self) -> &Bus {
        self.bus
    }

    fn book(&mut self, transaction: Transaction, earliest: u64) -> u64 {
        self.parts.push(FoldedPart::Book(transaction, earliest));
        earliest
    }

    fn sends(&mut self, at: u64) {
        self.parts.push(FoldedPart::Send(at));
    }

    fn resumes(&mut self, at: u64) {
        self.parts.push(FoldedPart::Resume(at));
    }
}

/// Numbers up to 65535 behind the number of what they belong to; none if one is greater.
#[inline(always)]
fn pack(what: u64, first: u64, second: u64, third: u64) -> Option<u64> {
    ((first | second | third) >> 16 == 0).then_some(what << 48 | first << 32 | second << 16 | third)
}

#[inline(always)]
fn code_of_trigger(trigger: Trigger) -> Option<u64> {
    match trigger {
        Trigger::Fault => pack(1, 0, 0, 0),
        Trigger::Message { words, packets } => pack(2, words, packets, 0),
        Trigger::Call(words) => pack(3, words, 0, 0),
        Trigger::Task => pack(4, 0, 0, 0),
        Trigger::Timer => pack(5, 0, 0, 0),
        Trigger::Replay => pack(6, 0, 0, 0),
    }
}

/// The number of a block that the handler has numbered.
#[inline(always)]
fn number(block: Object) -> u64 {
    u64::from(block.id)
}

/// A number that no other primitive has; none if there is none. Its block is as [`Numbered`] says.
#[inline(always)]
pub(crate) fn code_of(primitive: Primitive) -> Option<u64> {
    match primitive {
        Primitive::Record(home) => pack(16, u64::from(home), 0, 0),
        Primitive::Steps(steps) => pack(17, u64::from(steps), 0, 0),
        Primitive::Element => pack(18, 0, 0, 0),
        Primitive::Send { words, data: None } => pack(19, words, 0, 0),
        Primitive::Send { words, data: Some((from, bytes)) } => match from {
            DataFrom::Block(block) => pack(20, words, bytes, number(block)),
            DataFrom::Received => pack(21, words, bytes, 0),
            DataFrom::Memory => pack(22, words, bytes, 0),
            DataFrom::Words => pack(23, words, bytes, 0),
        },
        Primitive::InstallBlock(block) => pack(24, number(block), 0, 0),
        Primitive::InstallMemory(bytes) => pack(25, bytes, 0, 0),
        Primitive::InstallWords(words) => pack(26, words, 0, 0),
        Primitive::Tag(block, from, to) => pack(27, number(block), from as u64, to as u64),
        Primitive::Copy(bytes) => pack(28, bytes, 0, 0),
        Primitive::Load => pack(29, 0, 0, 0),
        Primitive::Store => pack(30, 0, 0, 0),
        Primitive::Probe => pack(31, 0, 0, 0),
        Primitive::FillLine => pack(32, 0, 0, 0),
        Primitive::TakeLine => pack(33, 0, 0, 0),
        Primitive::InvalidateLine => pack(34, 0, 0, 0),
        Primitive::Room => pack(35, 0, 0, 0),
        Primitive::Start => pack(36, 0, 0, 0),
        Primitive::Resume => pack(37, 0, 0, 0),
        Primitive::First => pack(38, 0, 0, 0),
        Primitive::UpgradeLine => pack(39, 0, 0, 0),
    }
}

/// The blocks of a handler, as it has numbered them: 0 is its own. Which blocks are the same is all that a price depends on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbered {
    blocks: Vec<Object>,
}

impl Numbered {
    /// For a handler about an object.
    #[inline]
    pub fn restart(&mut self, own: Object) {
        self.blocks.clear();
        self.blocks.push(own);
    }

    /// The block of a number that it has given.
    pub fn block(&self, number: Object) -> Option<Object> {
        self.blocks.get(number.id as usize).copied()
    }

    /// A block with its number in place of its own.
    #[inline]
    pub fn of(&mut self, block: Object) -> Object {
        if self.blocks.first() == Some(&block) {
            return Object { kind: BLOCK, id: 0 };
        }
        let at = self.blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            self.blocks.push(block);
            self.blocks.len() - 1
        });
        Object { kind: BLOCK, id: fit(at, "a block of a handler") }
    }
}

/// A primitive with the numbers of its blocks in place of these.
#[inline(always)]
pub(crate) fn with_numbers(numbered: &mut Numbered, primitive: Primitive) -> Primitive {
    match primitive {
        Primitive::Send { words, data: Some((DataFrom::Block(block), bytes)) } => {
            Primitive::Send { words, data: Some((DataFrom::Block(numbered.of(block)), bytes)) }
        }
        Primitive::InstallBlock(block) => Primitive::InstallBlock(numbered.of(block)),
        Primitive::Tag(block, from, to) => Primitive::Tag(numbered.of(block), from, to),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trivium_protocol::Access;

    const MACHINES: [&str; 8] =
        ["simple-coma", "typhoon", "typhoon-1", "typhoon-0", "typhoon-0-prototype", "typhoon-2x", "typhoon-4x", "now"];

    fn block() -> impl Strategy<Value = Object> {
        (0u32..3).prop_map(|id| Object { kind: BLOCK, id })
    }

    fn data() -> impl Strategy<Value = DataFrom> {
        prop_oneof![
            3 => block().prop_map(DataFrom::Block),
            1 => Just(DataFrom::Received),
            1 => Just(DataFrom::Memory),
            1 => Just(DataFrom::Words),
        ]
    }

    fn access() -> impl Strategy<Value = Access> {
        prop_oneof![Just(Access::None), Just(Access::Read), Just(Access::Write)]
    }

    fn primitive() -> impl Strategy<Value = Primitive> {
        prop_oneof![
            2 => any::<bool>().prop_map(Primitive::Record),
            3 => (1u16..6).prop_map(Primitive::Steps),
            1 => Just(Primitive::Element),
            3 => (0u64..4, prop::option::of((data(), 8u64..200)))
                .prop_map(|(words, data)| Primitive::Send { words, data }),
            2 => block().prop_map(Primitive::InstallBlock),
            1 => (0u64..400).prop_map(Primitive::InstallMemory),
            1 => (0u64..4).prop_map(Primitive::InstallWords),
            4 => (block(), access(), access()).prop_map(|(block, from, to)| Primitive::Tag(block, from, to)),
            1 => prop_oneof![3 => 0u64..300, 1 => 60_000u64..70_000].prop_map(Primitive::Copy),
            2 => prop::sample::select(vec![
                Primitive::Load,
                Primitive::Store,
                Primitive::Probe,
                Primitive::FillLine,
                Primitive::UpgradeLine,
                Primitive::TakeLine,
                Primitive::InvalidateLine,
                Primitive::Room,
                Primitive::Start,
                Primitive::Resume,
                Primitive::First,
            ]),
        ]
    }

    fn trigger() -> impl Strategy<Value = Trigger> {
        prop_oneof![
            Just(Trigger::Fault),
            (0u64..3, 0u64..3).prop_map(|(words, packets)| Trigger::Message { words, packets }),
            (0u64..3).prop_map(Trigger::Call),
            Just(Trigger::Task),
            Just(Trigger::Timer),
            Just(Trigger::Replay),
        ]
    }

    /// Where the handler leads; none if the tree does not have it.
    fn taken(paths: &mut Paths, trigger: Trigger, effects: &[Primitive]) -> Option<Path> {
        let mut path = paths.begin(trigger);
        for &what in effects {
            let code = code_of(what)?;
            path = match paths.follow(path, code) {
                Path::NONE => paths.lead(path, code, what),
                next => next,
            };
        }
        assert_eq!(paths.told(path), (trigger, effects.to_vec()));
        Some(path)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        /// Any handlers, one after the other on one bus on which others book too: the same times, and the same bus after it.
        #[test]
        fn folded_prices_are_those_of_the_price_list(
            machine in prop::sample::select(&MACHINES[..]),
            slowdown in prop_oneof![Just("1"), Just("4"), Just("5/2")],
            bytes in prop::sample::select(vec![32u64, 64, 256]),
            handlers in prop::collection::vec((trigger(), prop::collection::vec(primitive(), 0..9), 0u64..120, 0u64..60), 1..8),
        ) {
            let set = [("engine.slowdown".to_string(), slowdown.to_string())];
            let machine = Machine::load(machine, &set).or_else(|_| Machine::load(machine, &[])).unwrap();
            let (mut bus, mut other) = (Bus::new(&machine.bus), Bus::new(&machine.bus));
            let (mut paths, mut now) = (Paths::default(), 0);
            for (trigger, effects, later, booked) in &handlers {
                now += later;
                for bus in [&mut bus, &mut other] {
                    bus.book(Transaction::Read, now + booked);
                }
                let mut expected = HandlerTime::default();
                lay(Did { trigger: *trigger, effects, given: None }, now, &machine, bytes, &mut bus, &mut expected);
                let mut found = HandlerTime::default();
                // Twice: a path is grown, and then found again.
                for _ in 0..2 {
                    let path = taken(&mut paths, *trigger, effects);
                    let Some(folded) = path.and_then(|path| paths.price(path, None, &machine, bytes, &other)) else { continue };
                    folded.lay(now, &mut other.clone(), &mut found);
                }
                match taken(&mut paths, *trigger, effects).and_then(|path| paths.price(path, None, &machine, bytes, &other)) {
                    Some(folded) => folded.lay(now, &mut other, &mut found),
                    None => lay(Did { trigger: *trigger, effects, given: None }, now, &machine, bytes, &mut other, &mut found),
                }
                prop_assert_eq!(&expected, &found);
                prop_assert_eq!((bus.busy(), bus.transactions()), (other.busy(), other.transactions()));
                prop_assert_eq!(bus.clone().book(Transaction::Read, now), other.clone().book(Transaction::Read, now));
            }
        }

        /// No two primitives have the same number.
        #[test]
        fn a_number_belongs_to_one_primitive(one in primitive(), other in primitive()) {
            let (code, others) = (code_of(one), code_of(other));
            prop_assert_eq!(code.is_some() && code == others, code.is_some() && one == other);
        }
    }

    #[test]
    fn a_tree_that_is_full_grows_no_more() {
        let mut paths = Paths::default();
        let start = paths.begin(Trigger::Task);
        for words in 0..MOST_PLACES as u64 - 2 {
            let what = Primitive::InstallWords(words);
            assert_ne!(paths.lead(start, code_of(what).unwrap(), what), Path::NONE);
        }
        assert_eq!(paths.lead(start, code_of(Primitive::Load).unwrap(), Primitive::Load), Path::NONE);
        assert_eq!(paths.begin(Trigger::Timer), Path::NONE, "and a handler of a new kind is not in it");
    }
}
