//! What parts of a simulation tell each other, in a form that goes from one processor of the host to another cheaply.
//!
//! Messages and credits are written one behind the other, as words: what is scattered over boxes would be fetched line
//! by line from the other processor's cache, each several times as far away as memory that is one's own. The receiver
//! makes its own boxes.

use crate::events::{Arrival, Credit, Envelope, Key, Post, Posted};
use crate::node::asked::AskedNote;
use crate::node::watch::{FirstStore, TagChange};
use crate::order::Arrivals;
use crate::order::exchange::Mail;
use trivium_engine::number::{fit, index, low_u8, low_u16, low_u32};
use trivium_engine::{Args, Node, Object};
use trivium_node::{Data, SpaceCall};
use trivium_protocol::{LaneId, MessageId, ObjectKindId};

/// What a part tells another now and then.
#[derive(Default)]
pub(crate) struct Letter {
    /// The phase that all nodes of the part have reached.
    pub oldest: u64,
    /// Of each time that all nodes of the part have arrived at the hardware barrier.
    pub arrivals: Vec<Arrivals>,
    /// When the last of the part's programs ended, if they all have.
    pub ended: Option<u64>,
    /// Messages and credits for nodes of the other part.
    words: Vec<u64>,
    /// What else is posted to them; there is little of that.
    others: Vec<Post>,
    /// Tag changes of the blocks that the other part watches.
    pub tags: Vec<TagChange>,
    /// What handlers did about accesses of threads of the other part.
    pub asked: Vec<AskedNote>,
    /// First stores to the blocks that the other part watches.
    pub stores: Vec<FirstStore>,
    /// Allocations that other parts may not know yet.
    pub allocations: Vec<(usize, SpaceCall)>,
    /// Homes of pages that are placed by first touch: of those that the messages are about.
    pub homes: Vec<(usize, Node)>,
}

const MESSAGE: u64 = 0;
const CREDIT: u64 = 1;
/// Beside the number of a message's arguments: it was sent after the parallel start.
const STARTED: u8 = 0x80;

/// The first word of a message or credit: its kind, three small numbers, its receiver and its sender.
fn head(kind: u64, small: [u8; 3], to: Node, from: Node) -> u64 {
    let small = small.map(u64::from);
    kind | small[0] << 8 | small[1] << 16 | small[2] << 24 | u64::from(to) << 32 | u64::from(from) << 48
}

impl Letter {
    /// Whether nothing has been written that the other part would miss.
    pub(crate) fn is_empty(&self) -> bool {
        self.ended.is_none()
            && self.arrivals.is_empty()
            && self.words.is_empty()
            && self.others.is_empty()
            && self.tags.is_empty()
            && self.asked.is_empty()
            && self.stores.is_empty()
            && self.allocations.is_empty()
            && self.homes.is_empty()
    }

    /// Forgets what was written; the space for it stays.
    pub(crate) fn clear(&mut self) {
        self.arrivals.clear();
        self.ended = None;
        self.words.clear();
        self.others.clear();
        self.tags.clear();
        self.asked.clear();
        self.stores.clear();
        self.allocations.clear();
        self.homes.clear();
    }

    /// Writes a post; gives the box of a message back.
    pub(crate) fn write(&mut self, post: Post) -> Option<Box<Envelope>> {
        match post {
            Post { to, key, what: Posted::Arrival(Arrival::Message(mut envelope)) }
                if envelope.from == key.source() && envelope.tail == 0 =>
            {
                let args = envelope.args.words();
                let count: u8 = fit(args.len(), "the words of arguments, of which there are at most 8");
                let started = if envelope.has_started { STARTED } else { 0 };
                let small = [envelope.lane.0, envelope.object.kind.0, count | started];
                let number = u64::from(envelope.object.id) << 32 | u64::from(envelope.message.0) << 16;
                let data = envelope.data.take();
                let length = data.as_ref().map_or(0, |data| data.bytes.len() as u64 + 1);
                let places = data.as_ref().map_or(0, |data| data.places.len() as u64);
                self.words.extend([
                    head(MESSAGE, small, to, key.source()),
                    key.time,
                    key.number(),
                    number | envelope.protocol as u64,
                    envelope.id,
                    envelope.departed,
                    length << 32 | places,
                ]);
                self.words.extend(args.iter().map(|&word| word.cast_unsigned()));
                if let Some(data) = data {
                    self.words.extend(data.places.iter().flat_map(|&(offset, length)| [offset, length.into()]));
                    let (whole, rest) = data.bytes.as_chunks::<8>();
                    self.words.extend(whole.iter().map(|word| u64::from_le_bytes(*word)));
                    if !rest.is_empty() {
                        let mut last = [0; 8];
                        last[..rest.len()].copy_from_slice(rest);
                        self.words.push(u64::from_le_bytes(last));
                    }
                }
                Some(envelope)
            }
            Post { to, key, what: Posted::Credit(credit) } if credit.by == key.source() && !credit.left => {
                let head = head(CREDIT, [credit.lane.0, 0, 0], to, key.source());
                self.words.extend([head, key.time, key.number(), credit.protocol as u64]);
                None
            }
            other => {
                self.others.push(other);
                None
            }
        }
    }

    /// Hands all posts to their receivers, who give a box for each message.
    pub(crate) fn read(&mut self, receivers: &mut impl Receivers) {
        let mut words = Words(&self.words);
        while let Some(head) = words.next() {
            let (to, from) = (low_u16(head >> 32), low_u16(head >> 48));
            let (time, number) = (words.word(), words.word());
            let key = Key::new(time, from, number);
            let lane = LaneId(low_u8(head >> 8));
            let what = if head & 0xff == CREDIT {
                Posted::Credit(Credit { by: from, protocol: index(words.word()), lane, left: false })
            } else {
                let mut envelope = receivers.envelope();
                (envelope.lane, envelope.to, envelope.from) = (lane, to, from);
                envelope.tail = 0;
                let args = low_u8(head >> 24);
                envelope.has_started = args & STARTED != 0;
                words.message(low_u8(head >> 16), args & !STARTED, &mut envelope);
                Posted::Arrival(Arrival::Message(envelope))
            };
            receivers.accept(Post { to, key, what });
        }
        self.words.clear();
        self.others.drain(..).for_each(|post| receivers.accept(post));
    }
}

impl Mail for Letter {
    fn append(&mut self, later: &mut Letter) {
        self.oldest = later.oldest;
        self.arrivals.append(&mut later.arrivals);
        self.ended = self.ended.or(later.ended.take());
        self.words.append(&mut later.words);
        self.others.append(&mut later.others);
        self.tags.append(&mut later.tags);
        self.asked.append(&mut later.asked);
        self.stores.append(&mut later.stores);
        self.allocations.append(&mut later.allocations);
        self.homes.append(&mut later.homes);
    }
}

/// Who gets what was posted.
pub(crate) trait Receivers {
    /// A box for a message.
    fn envelope(&mut self) -> Box<Envelope>;
    /// A post.
    fn accept(&mut self, post: Post);
}

/// The words of a letter that have not been read yet.
struct Words<'a>(&'a [u64]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<u64> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    fn word(&mut self) -> u64 {
        self.next().expect("a letter is written and read by the same version")
    }

    fn take(&mut self, count: usize) -> &'a [u64] {
        let (first, rest) = self.0.split_at(count);
        self.0 = rest;
        first
    }

    fn message(&mut self, kind: u8, args: u8, into: &mut Envelope) {
        let number = self.word();
        into.protocol = usize::from(low_u16(number));
        into.message = MessageId(low_u16(number >> 16));
        into.object = Object { kind: ObjectKindId(kind), id: low_u32(number >> 32) };
        (into.id, into.departed, into.cause) = (self.word(), self.word(), None);
        let length = self.word();
        into.args.assign(&Args::NONE);
        self.take(usize::from(args)).iter().for_each(|&word| into.args.push(word.cast_signed()));
        let places = self.take(2 * index(u64::from(low_u32(length)))).chunks_exact(2);
        into.data = (length >> 32).checked_sub(1).map(|length| {
            let places = places.map(|place| (place[0], low_u32(place[1]))).collect();
            let mut bytes = Vec::with_capacity(index(length.next_multiple_of(8)));
            self.take(index(length.div_ceil(8))).iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            bytes.truncate(index(length));
            Box::new(Data { bytes, places })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Signal;
    use trivium_protocol::BLOCK;

    impl Receivers for Vec<String> {
        fn envelope(&mut self) -> Box<Envelope> {
            let data = Some(Box::new(Data { bytes: vec![1], places: Vec::new() }));
            Box::new(Envelope { args: Args::of(&[7; 5]), data, ..Envelope::default() })
        }

        fn accept(&mut self, post: Post) {
            self.push(format!("{post:?}"));
        }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let key = |number| Key::new(1 << 40, 255, number);
        let data = |bytes: &[u8], places: &[(u64, u32)]| {
            Some(Box::new(Data { bytes: bytes.to_vec(), places: places.to_vec() }))
        };
        let message = |number, data, args: &[i64]| {
            let envelope = Envelope {
                protocol: 3,
                message: MessageId(500),
                lane: LaneId(2),
                object: Object { kind: BLOCK, id: u32::MAX },
                args: Args::of(args),
                data,
                from: 255,
                to: 7,
                id: u64::MAX - number,
                cause: None,
                departed: 99,
                tail: 0,
                waited: 0,
                has_started: number == 4,
            };
            Post { to: 7, key: key(number), what: Posted::Arrival(Arrival::Message(Box::new(envelope))) }
        };
        let credit = Credit { by: 255, protocol: 3, lane: LaneId(2), left: false };
        let posts = [
            message(1, None, &[]),
            message(2, data(&[], &[]), &[-1, i64::MIN]),
            Post { to: 9, key: key(3), what: Posted::Credit(credit) },
            message(4, data(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[(1 << 33, 8), (0, 1)]), &[1; 8]),
            Post { to: 7, key: key(5), what: Posted::Signal(Signal::Placed { page: 1, home: 2, contents: None }) },
        ];
        let mut letter = Letter::default();
        for _ in 0..2 {
            letter.clear();
            let boxes = posts.iter().filter_map(|post| letter.write(post.clone())).count();
            assert_eq!(boxes, 3);
            let mut read: Vec<String> = Vec::new();
            letter.read(&mut read);
            assert_eq!(read, posts.clone().map(|post| format!("{post:?}")));
        }
    }
}
