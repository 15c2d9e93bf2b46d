//! Packets of bytes from each process to each, for which nobody waits.

use crate::World;
use mpi::Tag;
use mpi::environment::Universe;
use mpi::point_to_point::Status;
use mpi::request::{Request, StaticScope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::collections::VecDeque;
use std::rc::Rc;

/// The tag of a packet, or of its last piece; and that of a piece behind which there are more.
const LAST: Tag = 0;
const MORE: Tag = 1;
/// Added to these where a piece comes by itself, and this only tells how long it is.
const ANNOUNCED: Tag = 2;
/// The tag of a piece that was announced.
const BODY: Tag = 0;
/// Bytes of a piece at most: MPI counts in 31 bits.
const PIECE: usize = 1 << 30;
/// What is not longer is not announced: every MPI sends so little along with its header, so that nobody has to answer.
const AT_ONCE: usize = 1 << 10;
/// So many buffers of such packets wait for what comes. What finds none waits inside MPI, which costs a copy.
const POSTED: usize = 4;
/// So many buffers of such packets are kept.
const SPARE: usize = 64;

/// A process's way to all, itself included. Sending never waits, however many packets of whatever size are on their way, both ways at
/// once; what is on its way moves on in [`Mail::take`] and [`Mail::has_sent`]. It belongs to the thread that has called [`World::join`].
pub struct Mail {
    outgoing: VecDeque<Sending>,
    /// Receives of short packets from whoever sends one. MPI fills them in this order, so that only the first is looked at.
    posted: VecDeque<Posted>,
    /// In the order in which they were sent, as far as those of one process are concerned.
    incoming: VecDeque<Receiving>,
    /// Of each process, the first pieces of a packet.
    pieces: Vec<Vec<u8>>,
    /// What this process sends itself.
    own: VecDeque<Vec<u8>>,
    /// Buffers of short packets, to be used again.
    spare: Vec<Vec<u8>>,
    me: usize,
    is_crowded: bool,
    piece: usize,
    all: SimpleCommunicator,
    /// The same processes once more, for what takes its buffer by `posted`.
    short: SimpleCommunicator,
    // Dropped last: nothing of MPI may be used afterwards.
    _universe: Rc<Universe>,
}

impl Mail {
    /// The mail of a world, which all its processes ask for at once. There is one at a time.
    pub fn of(world: &World) -> Mail {
        Mail::in_pieces(world, PIECE)
    }

    /// One that sends packets in pieces of so many bytes: to be tried with pieces that are no GiB long.
    pub fn in_pieces(world: &World, piece: usize) -> Mail {
        Mail {
            outgoing: VecDeque::new(),
            posted: VecDeque::new(),
            incoming: VecDeque::new(),
            pieces: vec![Vec::new(); world.size()],
            own: VecDeque::new(),
            spare: Vec::new(),
            me: world.rank(),
            is_crowded: world.is_crowded(),
            piece: piece.clamp(1, PIECE),
            all: world.universe.world(),
            short: world.universe.world().duplicate(),
            _universe: world.universe.clone(),
        }
    }

    /// The number of this process, from 0.
    pub fn rank(&self) -> usize {
        self.me
    }

    /// Whether more processes share this one's host than there are processors there for them ([`World::is_crowded`]).
    pub fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// How many processes there are.
    pub fn size(&self) -> usize {
        self.pieces.len()
    }

    /// Sends a packet.
    pub fn send(&mut self, to: usize, packet: Vec<u8>) {
        if to == self.me {
            return self.own.push_back(packet);
        }
        if packet.len() <= self.piece {
            return self.post(to, packet, LAST);
        }
        let pieces = packet.len().div_ceil(self.piece);
        for (at, piece) in packet.chunks(self.piece).enumerate() {
            self.post(to, piece.to_vec(), if at + 1 == pieces { LAST } else { MORE });
        }
    }

    fn post(&mut self, to: usize, bytes: Vec<u8>, tag: Tag) {
        let to = i32::try_from(to).expect("the number of a process of MPI");
        let is_long = bytes.len() > AT_ONCE;
        if is_long {
            let announced = (bytes.len() as u64).to_le_bytes().to_vec();
            let sending = Sending::begin(announced, |bytes| {
                self.short.process_at_rank(to).immediate_send_with_tag(StaticScope, bytes, tag + ANNOUNCED)
            });
            self.outgoing.push_back(sending);
        }
        let (way, tag) = if is_long { (&self.all, BODY) } else { (&self.short, tag) };
        let mut sending =
            Sending::begin(bytes, |bytes| way.process_at_rank(to).immediate_send_with_tag(StaticScope, bytes, tag));
        // MPI has taken a short packet into buffers of its own, mostly.
        match sending.is_done() {
            true => self.keep(sending),
            false => self.outgoing.push_back(sending),
        }
    }

    /// The buffer of what has been sent is used again.
    fn keep(&mut self, mut sent: Sending) {
        if self.spare.len() < SPARE && sent.bytes.capacity() <= AT_ONCE {
            self.spare.push(std::mem::take(&mut sent.bytes));
        }
    }

    /// As many receives are posted as there should be. Whether that were fewer.
    fn top_up(&mut self) -> bool {
        let lack = POSTED - self.posted.len().min(POSTED);
        for _ in 0..lack {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.resize(AT_ONCE, 0);
            self.posted.push_back(Posted::begin(bytes, |bytes| {
                self.short.any_process().immediate_receive_into(StaticScope, bytes)
            }));
        }
        lack > 0
    }

    /// A packet that has arrived, and who sent it. Those of one process arrive in the order in which it sent them.
    pub fn take(&mut self) -> Option<(usize, Vec<u8>)> {
        if let Some(packet) = self.own.pop_front() {
            return Some((self.me, packet));
        }
        self.has_sent();
        loop {
            if let Some((from, tag, bytes)) = self.received() {
                if let Some(packet) = self.whole(from, tag, bytes) {
                    return Some((from, packet));
                }
                continue;
            }
            let Some((from, tag, bytes)) = self.came() else {
                // Now nobody waits for it.
                if self.top_up() {
                    continue;
                }
                return None;
            };
            let Some(tag) = tag.checked_sub(ANNOUNCED).filter(|&tag| tag >= LAST) else {
                if self.incoming.iter().any(|receiving| receiving.from == from) {
                    self.incoming.push_back(Receiving { from, tag, request: None, bytes });
                } else if let Some(packet) = self.whole(from, tag, bytes) {
                    return Some((from, packet));
                }
                continue;
            };
            let length = bytes.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
            let rank = i32::try_from(from).expect("the number of a process of MPI");
            let piece = vec![0; usize::try_from(length).unwrap_or(0).min(PIECE)];
            self.incoming.push_back(Receiving::begin(from, tag, piece, |bytes| {
                self.all.process_at_rank(rank).immediate_receive_into_with_tag(StaticScope, bytes, BODY)
            }));
        }
    }

    /// What has come into the buffer that was posted first: from whom, with which tag.
    fn came(&mut self) -> Option<(usize, Tag, Vec<u8>)> {
        let status = tested(&mut self.posted.front_mut()?.request)?;
        let mut bytes = std::mem::take(&mut self.posted.pop_front()?.bytes);
        bytes.truncate(usize::try_from(status.count(u8::equivalent_datatype())).unwrap_or(0));
        let from = usize::try_from(status.source_rank()).expect("the number of a process of MPI");
        Some((from, status.tag(), bytes))
    }

    /// The first piece that has come whole and has none of the same process before it.
    fn received(&mut self) -> Option<(usize, Tag, Vec<u8>)> {
        let mut behind: Vec<usize> = Vec::new();
        for at in 0..self.incoming.len() {
            let receiving = &mut self.incoming[at];
            if !behind.contains(&receiving.from) {
                if receiving.is_done() {
                    let mut done = self.incoming.remove(at)?;
                    return Some((done.from, done.tag, std::mem::take(&mut done.bytes)));
                }
                behind.push(receiving.from);
            }
        }
        None
    }

    /// The packet that is whole with this piece.
    fn whole(&mut self, from: usize, tag: Tag, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let first = &mut self.pieces[from];
        if tag == LAST && first.is_empty() {
            return Some(bytes);
        }
        first.extend_from_slice(&bytes);
        (tag == LAST).then(|| std::mem::take(first))
    }

    /// Whether all that was sent has left the buffers of this process.
    pub fn has_sent(&mut self) -> bool {
        while self.outgoing.front_mut().is_some_and(Sending::is_done) {
            if let Some(sent) = self.outgoing.pop_front() {
                self.keep(sent);
            }
        }
        self.outgoing.is_empty()
    }
}

/// What has become of a request, if it is done; then it is gone.
fn tested(request: &mut Option<Request<'static, [u8], StaticScope>>) -> Option<Status> {
    match request.take()?.test() {
        Ok(status) => Some(status),
        Err(running) => {
            *request = Some(running);
            None
        }
    }
}

/// Whether a request is done; then it is gone. Its buffer belongs to whoever keeps the request's other half.
fn is_done(request: &mut Option<Request<'static, [u8], StaticScope>>) -> bool {
    request.is_none() || tested(request).is_some()
}

/// A buffer that MPI may still use when nobody waits for it any more stays where it is, for ever.
fn forsake(request: &mut Option<Request<'static, [u8], StaticScope>>, bytes: &mut Vec<u8>) {
    if !is_done(request) {
        std::mem::forget(request.take());
        std::mem::forget(std::mem::take(bytes));
    }
}

/// A piece that MPI sends.
struct Sending {
    request: Option<Request<'static, [u8], StaticScope>>,
    bytes: Vec<u8>,
}

impl Sending {
    fn begin(bytes: Vec<u8>, post: impl FnOnce(&'static [u8]) -> Request<'static, [u8], StaticScope>) -> Sending {
        // SAFETY: the bytes live, at this place and unchanged, as long as the request does: nothing but `drop` touches the vector, and
        // that forgets it (so that the bytes are never freed) unless the request is done. Moving a vector does not move its bytes.
        let view: &'static [u8] = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
        Sending { request: Some(post(view)), bytes }
    }

    fn is_done(&mut self) -> bool {
        is_done(&mut self.request)
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        forsake(&mut self.request, &mut self.bytes);
    }
}

/// A piece that MPI receives.
struct Receiving {
    from: usize,
    tag: Tag,
    request: Option<Request<'static, [u8], StaticScope>>,
    bytes: Vec<u8>,
}

impl Receiving {
    fn begin(
        from: usize,
        tag: Tag,
        mut bytes: Vec<u8>,
        post: impl FnOnce(&'static mut [u8]) -> Request<'static, [u8], StaticScope>,
    ) -> Receiving {
        // SAFETY: as in `Sending::begin`; and nobody reads the vector's bytes before the request is done (`Mail::received`).
        let view: &'static mut [u8] = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr(), bytes.len()) };
        Receiving { from, tag, request: Some(post(view)), bytes }
    }

    fn is_done(&mut self) -> bool {
        is_done(&mut self.request)
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        forsake(&mut self.request, &mut self.bytes);
    }
}

/// A buffer for whatever comes next.
struct Posted {
    request: Option<Request<'static, [u8], StaticScope>>,
    bytes: Vec<u8>,
}

impl Posted {
    fn begin(
        mut bytes: Vec<u8>,
        post: impl FnOnce(&'static mut [u8]) -> Request<'static, [u8], StaticScope>,
    ) -> Posted {
        // SAFETY: the bytes live, at this place, as long as the request does, and nobody reads them before it is done: `Mail::came` takes the vector only
        // then, and `drop` ends the request before. Moving a vector does not move its bytes.
        let view: &'static mut [u8] = unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr(), bytes.len()) };
        Posted { request: Some(post(view)), bytes }
    }
}

impl Drop for Posted {
    // Nothing is as long as that MPI would have to hear of its sender to end it.
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            request.cancel();
            request.wait_without_status();
        }
    }
}
