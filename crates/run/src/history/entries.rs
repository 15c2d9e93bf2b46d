//! A node's history as bytes: entries one behind the other, each of a few bytes.
//!
//! The first byte of an entry is its kind and a small number; a greater number follows in groups of seven bits. An entry that belongs to a
//! moment then says when that was, as the difference from the moment before.

use crate::packets::compact::{read_number, write_number};
use trivium_engine::Node;
use trivium_engine::number::{fit, index};

/// A moment in a node's run: how many instructions its program had executed, and how often its handlers had got their turn since then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    pub instructions: u64,
    pub turn: u64,
}

/// What another run of the node would not do by itself at the same moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PastEvent {
    /// The next packet of this node was taken in.
    Packet(Node),
    /// So was this one, but its message was kept back.
    Late(Node),
    /// The message at this place among those that were kept back went to the handlers.
    Released(usize),
    /// The timer at this place among those that run ended.
    Timer(usize),
    /// The program had slept long enough.
    Woken,
    /// Node 0 was told what the node did, because it had waited for long.
    Reported,
    /// Node 0 asked all nodes again.
    Asked,
    /// Node 0 said that no program goes on.
    Stalled,
    /// A limit, or somebody from outside, stopped the run, which is why.
    Stopped(String),
}

/// An entry of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PastEntry {
    At(Moment, PastEvent),
    /// The clock was looked at, and showed this nanosecond.
    Clock(u64),
    /// So many nanoseconds passed while something was done.
    Took(u64),
}

const CLOCK: u8 = 8;
const TOOK: u8 = 9;
/// Numbers from here on do not fit into the first byte.
const LARGE: u8 = 15;

/// Writes a history.
#[derive(Debug, Default)]
pub(crate) struct HistoryWriter {
    bytes: Vec<u8>,
    last: Moment,
    clock: u64,
}

impl HistoryWriter {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn add(&mut self, entry: &PastEntry) {
        match entry {
            PastEntry::Clock(now) => {
                self.head(CLOCK, now.saturating_sub(self.clock));
                self.clock = *now;
            }
            PastEntry::Took(nanoseconds) => self.head(TOOK, *nanoseconds),
            PastEntry::At(moment, event) => {
                let (kind, number) = match event {
                    PastEvent::Packet(from) => (0, u64::from(*from)),
                    PastEvent::Late(from) => (1, u64::from(*from)),
                    PastEvent::Released(at) => (2, *at as u64),
                    PastEvent::Timer(at) => (3, *at as u64),
                    PastEvent::Woken => (4, 0),
                    PastEvent::Reported => (5, 0),
                    PastEvent::Asked => (6, 0),
                    PastEvent::Stalled => (10, 0),
                    PastEvent::Stopped(why) => (7, why.len() as u64),
                };
                self.head(kind, number);
                self.moment(*moment);
                if let PastEvent::Stopped(why) = event {
                    self.bytes.extend_from_slice(why.as_bytes());
                }
            }
        }
    }

    fn head(&mut self, kind: u8, number: u64) {
        match u8::try_from(number) {
            Ok(small @ 0..LARGE) => self.bytes.push(kind | (small << 4)),
            _ => {
                self.bytes.push(kind | (LARGE << 4));
                write_number(&mut self.bytes, number);
            }
        }
    }

    fn moment(&mut self, moment: Moment) {
        let more = moment.instructions.saturating_sub(self.last.instructions);
        write_number(&mut self.bytes, more);
        let turn = if more == 0 { moment.turn.saturating_sub(self.last.turn) } else { moment.turn };
        write_number(&mut self.bytes, turn);
        self.last = moment;
    }
}

/// Reads a history.
#[derive(Debug)]
pub(crate) struct HistoryReader {
    bytes: Vec<u8>,
    at: usize,
    last: Moment,
    clock: u64,
}

impl HistoryReader {
    pub(crate) fn new(bytes: Vec<u8>) -> HistoryReader {
        HistoryReader { bytes, at: 0, last: Moment::default(), clock: 0 }
    }

    /// The next entry. Nothing at the end, and where nobody has written what stands there.
    pub(crate) fn next(&mut self) -> Option<PastEntry> {
        let first = self.byte()?;
        let number = match first >> 4 {
            LARGE => self.number()?,
            small => u64::from(small),
        };
        match first & 15 {
            CLOCK => {
                self.clock = self.clock.checked_add(number)?;
                return Some(PastEntry::Clock(self.clock));
            }
            TOOK => return Some(PastEntry::Took(number)),
            _ => {}
        }
        let moment = self.moment()?;
        let event = match first & 15 {
            0 => PastEvent::Packet(Node::try_from(number).ok()?),
            1 => PastEvent::Late(Node::try_from(number).ok()?),
            2 => PastEvent::Released(usize::try_from(number).ok()?),
            3 => PastEvent::Timer(usize::try_from(number).ok()?),
            4 => PastEvent::Woken,
            5 => PastEvent::Reported,
            6 => PastEvent::Asked,
            10 => PastEvent::Stalled,
            7 => {
                let end = self.at.checked_add(usize::try_from(number).ok()?)?;
                let why = self.bytes.get(self.at..end)?.to_vec();
                self.at = end;
                PastEvent::Stopped(String::from_utf8(why).ok()?)
            }
            _ => return None,
        };
        Some(PastEntry::At(moment, event))
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut rest = self.bytes.get(self.at..)?;
        let number = read_number(&mut rest)?;
        self.at = self.bytes.len() - rest.len();
        Some(number)
    }

    fn moment(&mut self) -> Option<Moment> {
        let more = self.number()?;
        let turn = self.number()?;
        let turn = if more == 0 { self.last.turn.checked_add(turn)? } else { turn };
        self.last = Moment { instructions: self.last.instructions.checked_add(more)?, turn };
        Some(self.last)
    }
}

/// Writes a text or bytes with their length.
pub(crate) fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Reads what [`write_bytes`] wrote.
pub(crate) fn read_bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = from.split_first_chunk()?;
    let length = u64::from_le_bytes(*length);
    if length > rest.len() as u64 {
        return None;
    }
    let (bytes, rest) = rest.split_at(index(length));
    *from = rest;
    Some(bytes)
}

/// The number of a node as it is written in lists.
pub(crate) fn node(number: u64) -> Option<Node> {
    (number <= u64::from(Node::MAX)).then(|| fit(number, "a node"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event() -> impl Strategy<Value = PastEvent> {
        prop_oneof![
            any::<Node>().prop_map(PastEvent::Packet),
            any::<Node>().prop_map(PastEvent::Late),
            any::<usize>().prop_map(PastEvent::Released),
            (0usize..40).prop_map(PastEvent::Timer),
            Just(PastEvent::Woken),
            Just(PastEvent::Reported),
            Just(PastEvent::Asked),
            Just(PastEvent::Stalled),
            "[a-zß ]{0,20}".prop_map(PastEvent::Stopped),
        ]
    }

    /// Entries whose moments and times only grow, as those of a run do.
    fn history() -> impl Strategy<Value = Vec<PastEntry>> {
        let step = (event(), 0u64..3, 0u64..1 << 40, any::<u32>());
        proptest::collection::vec(step, 0..60).prop_map(|steps| {
            let (mut at, mut clock, mut all) = (Moment::default(), 0, Vec::new());
            for (event, kind, instructions, nanoseconds) in steps {
                clock += u64::from(nanoseconds);
                match kind {
                    0 => all.push(PastEntry::Clock(clock)),
                    1 => all.push(PastEntry::Took(instructions)),
                    _ => {
                        at = match instructions % 3 {
                            0 => Moment { turn: at.turn + 1, ..at },
                            _ => Moment { instructions: at.instructions + instructions, turn: instructions % 7 },
                        };
                        all.push(PastEntry::At(at, event));
                    }
                }
            }
            all
        })
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(entries in history()) {
            let mut writer = HistoryWriter::default();
            entries.iter().for_each(|entry| writer.add(entry));
            let mut reader = HistoryReader::new(writer.bytes());
            for entry in entries {
                prop_assert_eq!(reader.next(), Some(entry));
            }
            prop_assert_eq!(reader.next(), None);
        }

        #[test]
        fn any_bytes_are_read_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = HistoryReader::new(bytes);
            let mut entries = 0;
            while reader.next().is_some() {
                entries += 1;
                prop_assert!(entries <= 200);
            }
        }
    }
}
