//! States as bytes: the fixed part, then what varies in length.

use crate::system::layout::Layout;
use crate::system::world::{Flight, Queued, Stand, World, node};
use std::cmp::Ordering;
use trivium_engine::number::{fit, index, low_u8, low_u16, low_u32};
use trivium_engine::{Args, Engine, Node, Object, Payload};
use trivium_protocol::{EventKind, LaneId, MessageId, PayloadShape, TaskId};

/// A message as it is written, where that takes at most eight bytes: it says the same as the rest, and is kept since it is asked
/// for much more often than messages are made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    /// The bytes, the first lowest.
    bytes: u64,
    /// How many they are; 0 if it takes more, or has not been found out.
    len: u8,
}

/// Messages are compared by the rest.
impl PartialEq for Written {
    fn eq(&self, _: &Written) -> bool {
        true
    }
}

impl Eq for Written {}

impl PartialOrd for Written {
    fn partial_cmp(&self, other: &Written) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Written {
    fn cmp(&self, _: &Written) -> Ordering {
        Ordering::Equal
    }
}

impl Written {
    /// The bytes as a number, and how many they are, if they have been found out.
    #[inline]
    pub fn word(self) -> Option<(u64, u8)> {
        (self.len > 0).then_some((self.bytes, self.len))
    }

    /// The first so many bytes, which are at most eight.
    #[inline]
    fn of(bytes: &[u8], len: usize) -> Written {
        let kept = u64::MAX.checked_shr(64 - 8 * fit::<_, u32>(len, "eight")).unwrap_or(0);
        Written { bytes: word_at(bytes, 0) & kept, len: fit(len, "eight") }
    }
}

/// Turns states into bytes and back.
pub(crate) struct Codec {
    fixed: usize,
    nodes: usize,
    /// One more than the objects of the kind of which there are most.
    ids: usize,
    /// Bytes of what is common to all messages.
    header: usize,
    /// Nodes that have software queues: none if there are no tasks.
    pub(super) queues: usize,
    messages: Vec<MessageForm>,
    /// What the first headers say.
    heads: Vec<Head>,
    tasks: Vec<TaskForm>,
}

/// What is common to all messages.
#[derive(Clone, Copy)]
struct Head {
    message: MessageId,
    to: Node,
    from: Node,
    /// The number of the object; one more than the greatest if that stands behind the header.
    id: u32,
}

/// Most headers of which it is worked out beforehand what they say.
const MOST_HEADS: usize = 1 << 12;

struct MessageForm {
    lane: LaneId,
    object: trivium_protocol::ObjectKindId,
    /// Of its arguments, at most.
    words: usize,
    /// Whether they may be fewer, so that their number is written before them.
    vary: bool,
    data: bool,
    /// Whether its lane is `merged` or `behind` another.
    stands: bool,
}

/// What is written of a task.
struct TaskForm {
    /// Words of its arguments, at most.
    words: usize,
    /// Whether they may be fewer, so that their number is written before them.
    vary: bool,
    kind: trivium_protocol::ObjectKindId,
}

impl MessageForm {
    /// How many numbers are written after the header; more than a word has bytes, where they vary.
    fn numbers(&self) -> usize {
        let more = if self.vary { 8 } else { 0 };
        self.words + usize::from(self.data) + usize::from(self.stands) + more
    }
}

impl Codec {
    pub fn new(engine: &Engine, layout: &Layout, objects: &[u32]) -> Codec {
        let (protocol, nodes) = (engine.protocol(), engine.nodes());
        let ids = objects.iter().copied().max().unwrap_or(0) as usize + 1;
        let nodes_count = nodes as usize;
        let headers = protocol.messages.len() * nodes_count * nodes_count * ids;
        let mut codec = Codec {
            fixed: layout.len,
            nodes: nodes_count,
            ids,
            header: bytes_of(headers.saturating_sub(1)),
            queues: if protocol.tasks.is_empty() { 0 } else { nodes_count },
            messages: (0..)
                .map(MessageId)
                .zip(&protocol.messages)
                .map(|(id, m)| MessageForm {
                    lane: m.lane,
                    object: m.object,
                    words: engine.argument_words(EventKind::Message(id)),
                    vary: engine.argument_words_vary(EventKind::Message(id)),
                    data: m.payload != PayloadShape::Nothing,
                    stands: {
                        let lane = &protocol.lanes[m.lane.index()];
                        lane.merged || lane.behind.is_some()
                    },
                })
                .collect(),
            heads: Vec::new(),
            tasks: (0..)
                .map(TaskId)
                .zip(&protocol.tasks)
                .map(|(id, t)| TaskForm {
                    words: engine.argument_words(EventKind::Task(id)),
                    vary: engine.argument_words_vary(EventKind::Task(id)),
                    kind: protocol.roles[t.role.index()].object,
                })
                .collect(),
        };
        codec.heads = (0..headers.min(MOST_HEADS)).map(|header| codec.head(header)).collect();
        codec
    }

    pub fn encode(&self, world: &World, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&world.fixed);
        self.encode_moving(world, out);
    }

    /// Appends what has no fixed size: software queues and messages.
    pub fn encode_moving(&self, world: &World, out: &mut Vec<u8>) {
        debug_assert_eq!(world.queues.len(), self.queues);
        world.queues.iter().for_each(|queue| self.encode_queue(queue.iter().copied(), out));
        world.flights.iter().for_each(|flight| self.encode_flight(flight, out));
    }

    /// Appends a software queue.
    pub fn encode_queue(&self, queue: impl ExactSizeIterator<Item = Queued>, out: &mut Vec<u8>) {
        put(out, queue.len() as u64);
        for queued in queue {
            put(out, u64::from(queued.task.0));
            put(out, u64::from(queued.object.id));
            let form = &self.tasks[queued.task.index()];
            debug_assert!(form.vary || queued.args.words().len() == form.words);
            if form.vary {
                put(out, queued.args.words().len() as u64);
            }
            queued.args.words().iter().for_each(|&word| put_signed(out, word));
        }
    }

    fn encode_flight(&self, flight: &Flight, out: &mut Vec<u8>) {
        let form = &self.messages[flight.message.index()];
        self.put_header(out, flight);
        debug_assert!(form.vary || flight.args.words().len() == form.words);
        if form.vary {
            put(out, flight.args.words().len() as u64);
        }
        flight.args.words().iter().for_each(|&word| put_signed(out, word));
        if form.data {
            put(out, flight.payload.map_or(0, |p| u64::from(p.0) + 1));
        }
        if form.stands {
            put(out, u64::from(flight.stand.0));
        }
    }

    /// Room that [`Codec::encode_moving_at`] wants.
    pub fn room(&self, world: &World) -> usize {
        (world.flights.len() + 1) * size_of::<u64>()
    }

    /// Writes what [`Codec::encode_moving`] writes behind the first `len` bytes, where [`Codec::room`] is; where that ends.
    #[inline]
    pub fn encode_moving_at(&self, world: &World, out: &mut Vec<u8>, mut len: usize) -> usize {
        if !world.queues.is_empty() {
            out.truncate(len);
            self.encode_moving(world, out);
            return out.len();
        }
        for (at, flight) in world.flights.iter().enumerate() {
            let Written { bytes, len: taken } = flight.written;
            let (true, Some(room)) = (taken > 0, out.get_mut(len..).and_then(<[u8]>::first_chunk_mut)) else {
                out.truncate(len);
                world.flights[at..].iter().for_each(|flight| self.encode_flight(flight, out));
                return out.len();
            };
            *room = bytes.to_le_bytes();
            len += usize::from(taken);
        }
        len
    }

    /// A message with [`Flight::written`] as it should be.
    #[inline]
    pub fn sealed(&self, flight: Flight) -> Flight {
        Flight { written: self.short(&flight).unwrap_or_default(), ..flight }
    }

    /// A message as it is written, if that takes at most eight bytes and each number but the header one.
    #[inline]
    fn short(&self, flight: &Flight) -> Option<Written> {
        let form = &self.messages[flight.message.index()];
        let header = self.header_of(flight).filter(|_| !form.vary)?;
        let mut bytes = self.leading(header);
        let mut len = self.header;
        let mut add = |value: u64| {
            bytes |= value << (8 * (len % 8));
            len += 1;
            value < 0x80 && len <= 8
        };
        let fits = flight.args.words().iter().all(|&word| add(zigzag(word)));
        let fits = fits && (!form.data || add(flight.payload.map_or(0, |p| u64::from(p.0) + 1)));
        let fits = fits && (!form.stands || add(u64::from(flight.stand.0)));
        fits.then_some(Written { bytes, len: fit(len, "eight") })
    }

    /// A message as it is written that is short, with another receiver and sender.
    #[inline]
    pub fn readdressed(&self, flight: &Flight, to: Node, from: Node) -> Written {
        let Some(header) = self.header(flight, to, from) else { return Written::default() };
        // A header has at most four bytes: there are at most 256 nodes.
        let kept = u64::MAX.checked_shl(8 * fit::<_, u32>(self.header, "eight")).unwrap_or(0);
        Written { bytes: flight.written.bytes & kept | self.leading(header), ..flight.written }
    }

    /// A message as it is written that is short and brings data, with other data whose handle takes one byte.
    #[inline]
    pub fn with_payload(&self, written: Written, flight: &Flight, payload: Payload) -> Written {
        // It stands behind the arguments, each of which takes a byte.
        let at = 8 * (self.header + flight.args.words().len());
        let bytes = written.bytes & !(0xff << at) | (u64::from(payload.0) + 1) << at;
        Written { bytes, ..written }
    }

    /// A header as the lowest bytes of a word.
    #[inline]
    fn leading(&self, header: u64) -> u64 {
        // The highest byte of a header comes first.
        header.swap_bytes().checked_shr(64 - 8 * fit::<_, u32>(self.header, "eight")).unwrap_or(0)
    }

    /// What is common to all messages, as one number, if there is one for the object.
    #[inline]
    fn header_of(&self, flight: &Flight) -> Option<u64> {
        self.header(flight, flight.to, flight.from)
    }

    /// The header of a message with this receiver and sender.
    #[inline]
    fn header(&self, flight: &Flight, to: Node, from: Node) -> Option<u64> {
        let id = flight.object.id as usize;
        let (message, to, from) = (flight.message.index(), usize::from(to), usize::from(from));
        let header = ((message * self.nodes + to) * self.nodes + from) * self.ids + id;
        (id < self.ids - 1).then_some(header as u64)
    }

    pub fn decode(&self, bytes: &[u8], world: &mut World) {
        world.fixed.clear();
        world.fixed.extend_from_slice(&bytes[..self.fixed]);
        self.decode_moving(&bytes[self.fixed..], world);
    }

    /// The software queues and messages from what [`Codec::encode_moving`] has written.
    pub fn decode_moving(&self, bytes: &[u8], world: &mut World) {
        let mut rest = bytes;
        world.queues.resize(self.queues, Vec::new());
        for queue in &mut world.queues {
            queue.clear();
            for _ in 0..get(&mut rest) {
                let task = TaskId(low_u16(get(&mut rest)));
                let &TaskForm { words, vary, kind } = &self.tasks[task.index()];
                let object = Object { kind, id: low_u32(get(&mut rest)) };
                let words = if vary { index(get(&mut rest)) } else { words };
                queue.push(Queued { task, object, args: get_args(&mut rest, words) });
            }
        }
        world.flights.clear();
        while !rest.is_empty() {
            let word = word_at(bytes, bytes.len() - rest.len());
            if let Some(taken) = self.decode_short(word, &mut world.flights) {
                rest = &rest[taken..];
                continue;
            }
            let begun = rest;
            let header = self.get_header(&mut rest);
            let Head { message, to, from, id } = match self.heads.get(header) {
                Some(head) => *head,
                None => self.head(header),
            };
            let form = &self.messages[message.index()];
            // One that no header has room for is a mistake of the protocol, which is found when it arrives.
            let is_apart = id as usize == self.ids - 1;
            let id = if is_apart { low_u32(get(&mut rest)) } else { id };
            let object = Object { kind: form.object, id };
            let words = if form.vary { index(get(&mut rest)) } else { form.words };
            let args = if words == 0 { Args::NONE } else { get_args(&mut rest, words) };
            let payload = if form.data { get(&mut rest).checked_sub(1).map(|p| Payload(low_u32(p))) } else { None };
            let stand = if form.stands { Stand(low_u16(get(&mut rest))) } else { Stand::default() };
            let taken = begun.len() - rest.len();
            // As `short` says: nothing but the header takes more than a byte.
            let is_short = !is_apart && taken == self.header + form.numbers() && taken <= 8;
            let written = if is_short { Written::of(begun, taken) } else { Written::default() };
            world.flights.push(Flight { to, from, lane: form.lane, message, object, args, payload, stand, written });
        }
    }

    /// Reads a message as [`Codec::short`] writes it, from its bytes and those behind; how many it takes. None if it is written
    /// otherwise.
    #[inline]
    fn decode_short(&self, word: u64, flights: &mut Vec<Flight>) -> Option<usize> {
        // The highest byte of a header comes first.
        let header = word.swap_bytes().checked_shr(64 - 8 * fit::<_, u32>(self.header, "eight"))?;
        let &Head { message, to, from, id } = self.heads.get(index(header))?;
        let form = &self.messages[message.index()];
        let len = self.header + form.numbers();
        if id as usize == self.ids - 1 || len > 8 {
            return None;
        }
        let own = u64::MAX >> (64 - 8 * len);
        let mut numbers = (word & own) >> (8 * self.header);
        if numbers & LONGER != 0 {
            return None;
        }
        let mut next = || {
            let number = numbers & 0xff;
            numbers >>= 8;
            number
        };
        let mut args = Args::NONE;
        (0..form.words).for_each(|_| args.push(unzigzag(next())));
        let payload = if form.data { next().checked_sub(1).map(|p| Payload(low_u32(p))) } else { None };
        let stand = if form.stands { Stand(low_u16(next())) } else { Stand::default() };
        let written = Written { bytes: word & own, len: fit(len, "eight") };
        let object = Object { kind: form.object, id };
        flights.push(Flight { to, from, lane: form.lane, message, object, args, payload, stand, written });
        Some(len)
    }

    /// What is common to all messages, as one number: the message, to whom, from whom and about which object. The highest byte
    /// comes first, so that bytes are in the order of these four.
    fn put_header(&self, out: &mut Vec<u8>, flight: &Flight) {
        let id = (flight.object.id as usize).min(self.ids - 1);
        let (message, to, from) = (flight.message.index(), usize::from(flight.to), usize::from(flight.from));
        let header = ((message * self.nodes + to) * self.nodes + from) * self.ids + id;
        (0..self.header).rev().for_each(|byte| out.push(low_u8((header >> (8 * byte)) as u64)));
        if id == self.ids - 1 {
            put(out, u64::from(flight.object.id));
        }
    }

    #[inline]
    fn get_header(&self, rest: &mut &[u8]) -> usize {
        let (bytes, behind) = rest.split_at(self.header);
        *rest = behind;
        bytes.iter().fold(0, |header, &byte| header << 8 | usize::from(byte))
    }

    /// What a header says.
    fn head(&self, header: usize) -> Head {
        let (header, id) = (header / self.ids, header % self.ids);
        let (header, from) = (header / self.nodes, header % self.nodes);
        let (message, to) = (MessageId::at(header / self.nodes), node(header % self.nodes));
        Head { message, to, from: node(from), id: fit(id, "the number of an object") }
    }
}

/// Bytes of numbers up to one.
fn bytes_of(greatest: usize) -> usize {
    size_of::<usize>() - greatest.leading_zeros() as usize / 8
}

fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low_u8(value) | 0x80);
        value >>= 7;
    }
    out.push(low_u8(value));
}

fn get(rest: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = rest[0];
        *rest = &rest[1..];
        value |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return value;
        }
    }
}

fn put_signed(out: &mut Vec<u8>, value: i64) {
    put(out, zigzag(value));
}

/// Small numbers for those that are near zero.
#[inline]
fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

#[inline]
fn unzigzag(raw: u64) -> i64 {
    (raw >> 1).cast_signed() ^ -(raw & 1).cast_signed()
}

/// Eight bytes from a place on, the first lowest; behind the last are zeros.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = &bytes[at..];
    match (rest.first_chunk(), bytes.last_chunk()) {
        (Some(word), _) => u64::from_le_bytes(*word),
        (None, Some(last)) => {
            u64::from_le_bytes(*last).checked_shr(64 - 8 * fit::<_, u32>(rest.len(), "eight")).unwrap_or(0)
        }
        (None, None) => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

/// The bits of the bytes of numbers behind which more of the same number come.
const LONGER: u64 = u64::from_ne_bytes([0x80; 8]);

fn get_args(rest: &mut &[u8], words: usize) -> Args {
    let mut args = Args::NONE;
    for _ in 0..words {
        args.push(unzigzag(get(rest)));
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_bytes() {
        let words = [0, 1, -1, 63, 64, -65, i64::MAX, i64::MIN];
        let mut bytes = Vec::new();
        words.iter().for_each(|&word| put_signed(&mut bytes, word));
        let mut rest = bytes.as_slice();
        assert_eq!(get_args(&mut rest, words.len()).words(), words);
        assert!(rest.is_empty());
    }
}
