//! What nodes tell each other, as bytes. What comes in is looked at as if anybody could have sent it: what is wrong with
//! it is an error, before an engine or memory sees any of it.

use crate::packets::spare::{Arrival, Spare};
use serde::{Deserialize, Serialize};
use trivium_engine::number::{fit, index};
use trivium_engine::{Args, MAX_ARGS, Node, Object};
use trivium_guest::Placement;
use trivium_node::{Binding, Data, NodeError, Placing, Protocols, Purpose, shared_u32};
use trivium_protocol::{EventKind, LaneId, MessageId, ObjectKindId, PayloadShape};

/// What one node tells another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// For a handler.
    Message(Box<Arrival>),
    /// A message that this node sent on a finite lane is no longer on it.
    Credit { protocol: usize, lane: LaneId },
    /// The run's own.
    Control(Control),
    /// From the home that a page had to its new one: the receiver, which has claimed it.
    Page { page: usize, contents: Vec<u8> },
    /// To node 0: the sender leaves the run, and tells this of itself ([`crate::runs::ending`]): the whole packet.
    Ended(Vec<u8>),
}

/// What the run itself needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Control {
    /// To the manager of a page that is placed by first touch: the sender has touched it.
    Claim { page: usize },
    /// Its answer: where the page lives.
    Placed { page: usize, home: Node },
    /// From the manager to the home that a page had before the parallel start: it goes to another node.
    Move { page: usize, to: Node },
    /// To node 0, and to all others before the first packet that may be about it: the sender knows of this allocation.
    Allocated { index: usize, bytes: u64, placement: Where, protocol: usize },
    /// The same, where the call was to give an allocation back.
    Freed { index: usize, region: usize, is_left: bool },
    /// To node 0: blocks that the sender has stored to in a phase, where only one node may.
    Stored { phase: u64, blocks: Vec<u32> },
    /// To node 0, before the answer to a question: those of a phase that is not over, and what its program waits to store to.
    StoredSoFar { phase: u64, blocks: Vec<u32> },
    /// To node 0: what the sender does, when it waits, or has been asked.
    Report(Report),
    /// From node 0: tell what you do.
    Ask { round: u64 },
    /// From node 0: the barrier is open.
    Open,
    /// From node 0: all is quiet; a region comes under another protocol.
    Bind(Binding),
    /// From node 0: all is quiet; the parallel phase starts.
    Start,
    /// From node 0: all is quiet; an object gets its home.
    Place(Placing),
    /// To node 0: that has happened.
    Arranged,
    /// From node 0: the run is over.
    End,
    /// To all: something went wrong on the sender.
    Failed(NodeError),
    /// To all: the sender was stopped by a limit or from outside, which is why.
    Stopped(String),
}

/// [`Placement`], as it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Where {
    On(u32),
    RoundRobin,
    FirstTouch,
    Parts(u32),
}

impl From<Placement> for Where {
    fn from(placement: Placement) -> Where {
        match placement {
            Placement::Explicit(node) => Where::On(node),
            Placement::RoundRobin => Where::RoundRobin,
            Placement::FirstTouch => Where::FirstTouch,
            Placement::Parts(bytes) => Where::Parts(bytes),
        }
    }
}

impl From<Where> for Placement {
    fn from(place: Where) -> Placement {
        match place {
            Where::On(node) => Placement::Explicit(node),
            Where::RoundRobin => Placement::RoundRobin,
            Where::FirstTouch => Placement::FirstTouch,
            Where::Parts(bytes) => Placement::Parts(bytes),
        }
    }
}

/// What a node's program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Told {
    /// It runs, or sleeps.
    Runs,
    /// It waits for something that others have to do.
    Waits,
    /// It is at the barrier, for this.
    AtBarrier(Purpose),
    /// It has ended.
    HasEnded,
}

/// What a node tells of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Which question it answers; 0: none.
    pub round: u64,
    pub doing: Told,
    /// In words.
    pub told: String,
    /// Handlers that it has run, and times that its program went on.
    pub moved: u64,
    /// Of these, times that its program went on.
    pub went_on: u64,
    /// Packets that it has sent and received, but for questions and reports.
    pub sent: u64,
    pub received: u64,
    /// Whether it has nothing to handle.
    pub is_quiet: bool,
    /// Whether something happens on it by itself: there is something that can be handled, or a timer runs.
    pub goes_on_by_itself: bool,
    /// The word of a lock for which it asks, or waits, and what it has found there.
    pub asks: Option<(u32, Option<u64>)>,
    /// The locks that it has taken last: the word of each, when, and the tickets that it drew.
    pub taken: Vec<(u32, u64, Vec<u32>)>,
}

const MESSAGE: u8 = 0;
const CREDIT: u8 = 1;
const CONTROL: u8 = 2;
const PAGE: u8 = 3;
/// The first byte of a [`Packet::Ended`], the last that its sender tells. Those from here on are of the beginning and the end of a run.
pub(crate) const ENDED: u8 = 4;
/// The first byte of those before it, if there are any.
pub(crate) const NOTES: u8 = ENDED + 7;
/// Bytes of a message before its arguments: kind, kind of object, number of arguments, whether it has data; protocol,
/// message; object; places; bytes of data.
const HEAD: usize = 20;
/// Bytes of a place: offset, length.
const PLACE: usize = 12;

/// Writes a message into a packet of old, which it gives.
pub(crate) fn write_message(
    mut packet: Vec<u8>,
    (protocol, message): (usize, MessageId),
    object: Object,
    args: &Args,
    data: Option<&Data>,
) -> Vec<u8> {
    let words = args.words();
    let (places, bytes) = data.map_or((&[][..], &[][..]), |data| (&data.places[..], &data.bytes[..]));
    packet.clear();
    packet.reserve(HEAD + 8 * words.len() + PLACE * places.len() + bytes.len());
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&[
        MESSAGE,
        object.kind.0,
        fit(words.len(), "the words of arguments"),
        u8::from(data.is_some()),
    ]);
    let protocol: u16 = fit(protocol, "a protocol of a run, of which there are at most 65536");
    head[4..6].copy_from_slice(&protocol.to_le_bytes());
    head[6..8].copy_from_slice(&message.0.to_le_bytes());
    head[8..12].copy_from_slice(&object.id.to_le_bytes());
    head[12..16].copy_from_slice(&fit::<_, u32>(places.len(), "a number of places").to_le_bytes());
    head[16..].copy_from_slice(&shared_u32(bytes.len() as u64).to_le_bytes());
    packet.extend_from_slice(&head);
    words.iter().for_each(|word| packet.extend(word.to_le_bytes()));
    for (offset, length) in places {
        let mut place = [0; PLACE];
        place[..8].copy_from_slice(&offset.to_le_bytes());
        place[8..].copy_from_slice(&length.to_le_bytes());
        packet.extend_from_slice(&place);
    }
    packet.extend_from_slice(bytes);
    packet
}

/// Writes that a message is no longer on its lane.
pub(crate) fn write_credit(protocol: usize, lane: LaneId) -> Vec<u8> {
    let protocol: u16 = fit(protocol, "a protocol of a run, of which there are at most 65536");
    let [low, high] = protocol.to_le_bytes();
    vec![CREDIT, lane.0, low, high]
}

/// Writes what the run itself needs.
pub(crate) fn write_control(control: &Control) -> Vec<u8> {
    let mut packet = vec![CONTROL];
    // Nothing of it can fail to be written: there are no maps, and no floating-point numbers.
    if let Ok(text) = serde_json::to_vec(control) {
        packet.extend(text);
    }
    packet
}

/// Writes the contents of a page.
pub(crate) fn write_page(page: usize, contents: &[u8]) -> Vec<u8> {
    [&[PAGE][..], &shared_u32(page as u64).to_le_bytes(), contents].concat()
}

/// Reads a packet of a node; a message and its data come into some of old, which `spare` has, if it has.
///
/// # Errors
/// No node of this run has written it.
pub(crate) fn read(from: Node, packet: &[u8], protocols: &Protocols, spare: &mut Spare) -> Result<Packet, String> {
    match packet {
        [MESSAGE, rest @ ..] => read_message(from, rest, protocols, spare).map(Packet::Message),
        &[CREDIT, lane, low, high] => {
            let protocol = usize::from(u16::from_le_bytes([low, high]));
            let engine = protocols.engines.get(protocol).ok_or("a credit of a protocol that there is not")?;
            match usize::from(lane) < engine.protocol().lanes.len() {
                true => Ok(Packet::Credit { protocol, lane: LaneId(lane) }),
                false => Err("a credit of a lane that there is not".into()),
            }
        }
        [CONTROL, text @ ..] => {
            serde_json::from_slice(text).map(Packet::Control).map_err(|error| format!("a packet of the run: {error}"))
        }
        [PAGE, rest @ ..] => {
            let (page, contents) = rest.split_first_chunk().ok_or("a page without a number")?;
            Ok(Packet::Page { page: index(u32::from_le_bytes(*page).into()), contents: contents.to_vec() })
        }
        [ENDED | NOTES, ..] => Ok(Packet::Ended(packet.to_vec())),
        _ => Err(format!("a packet of {} bytes that says nothing known", packet.len())),
    }
}

/// Takes so many bytes off a packet.
fn take<'a>(packet: &mut &'a [u8], bytes: usize) -> Result<&'a [u8], String> {
    let (first, rest) = packet.split_at_checked(bytes).ok_or("a message that ends too early")?;
    *packet = rest;
    Ok(first)
}

fn number<const BYTES: usize>(packet: &mut &[u8]) -> Result<[u8; BYTES], String> {
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(take(packet, BYTES)?);
    Ok(bytes)
}

fn place(&[a, b, c, d, e, f, g, h, ref length @ ..]: &[u8; PLACE]) -> (u64, u32) {
    (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(*length))
}

fn read_message(
    from: Node,
    mut packet: &[u8],
    protocols: &Protocols,
    spare: &mut Spare,
) -> Result<Box<Arrival>, String> {
    let rest = &mut packet;
    let head: [u8; HEAD - 1] = number(rest)?;
    let [kind, words, has_data, p0, p1, m0, m1, i0, i1, i2, i3, n0, n1, n2, n3, b0, b1, b2, b3] = head;
    let protocol = usize::from(u16::from_le_bytes([p0, p1]));
    let message = MessageId(u16::from_le_bytes([m0, m1]));
    let object = Object { kind: ObjectKindId(kind), id: u32::from_le_bytes([i0, i1, i2, i3]) };
    let (places, bytes) = (u32::from_le_bytes([n0, n1, n2, n3]), u32::from_le_bytes([b0, b1, b2, b3]));
    let engine = protocols.engines.get(protocol).ok_or("a message of a protocol that there is not")?;
    let declared =
        engine.protocol().messages.get(message.index()).ok_or("a message that its protocol does not have")?;
    if declared.object != object.kind {
        return Err(format!("a {} about an object of another kind", declared.name));
    }
    if usize::from(words) > MAX_ARGS {
        return Err(format!("a {} with {words} words of arguments", declared.name));
    }
    let mut read = spare.arrival(protocol, EventKind::Message(message), object, from);
    for _ in 0..words {
        read.event.args.push(i64::from_le_bytes(number(rest)?));
    }
    engine.check_args(read.event.kind, &read.event.args).map_err(|what| format!("a {}: {what}", declared.name))?;
    read.data = match has_data {
        0 => None,
        1 => {
            let mut data = spare.data();
            let listed = take(rest, index(u64::from(places)).saturating_mul(PLACE))?;
            let (listed, _) = listed.as_chunks::<PLACE>();
            data.places.extend(listed.iter().map(place));
            let length: u64 = data.places.iter().map(|&(_, length)| u64::from(length)).sum();
            if places > 0 && length != u64::from(bytes) {
                return Err(format!("a {} whose data do not go back to where they came from", declared.name));
            }
            data.bytes.extend_from_slice(take(rest, index(u64::from(bytes)))?);
            Some(data)
        }
        other => return Err(format!("a {} with {other} data", declared.name)),
    };
    if read.data.is_some() != (declared.payload != PayloadShape::Nothing) {
        return Err(format!("a {} with data that it does not have, or without those that it has", declared.name));
    }
    if declared.payload == PayloadShape::Block
        && read.data.as_ref().is_some_and(|data| data.bytes.len() as u64 != protocols.block)
    {
        return Err(format!("a {} with data that are not a block", declared.name));
    }
    if !rest.is_empty() {
        return Err(format!("a {} with {} bytes too many", declared.name, rest.len()));
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::{read as read_into, *};
    use proptest::prelude::*;
    use std::path::Path;
    use std::rc::Rc;
    use std::sync::Arc;
    use trivium_engine::{Engine, Event};
    use trivium_protocol::BLOCK;

    fn read(packet: &[u8], protocols: &Protocols) -> Result<Packet, String> {
        // Data of old, of which nothing may be left.
        let old = Data { bytes: vec![1; 200], places: vec![(1, 2)] };
        let mut spare = Spare::default();
        spare.keep_data(Box::new(old));
        let mut arrival = spare.arrival(9, EventKind::Read, Object { kind: ObjectKindId(9), id: 9 }, 9);
        arrival.event.args.push(-1);
        arrival.number = 9;
        spare.keep_arrival(arrival);
        read_into(1, packet, protocols, &mut spare)
    }

    fn protocols() -> Protocols {
        let engine = |name: &str| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../protocols/{name}.tri"));
            Rc::new(Engine::load(Arc::new(trivium_lang::compile_file(&path, &[]).unwrap()), 4).unwrap())
        };
        Protocols::new(["stache", "deferred-update", "token-lock"].map(engine).to_vec(), 64, 4)
    }

    /// The number of a message of `stache`.
    fn message(protocols: &Protocols, name: &str) -> MessageId {
        let all = &protocols.engines[0].protocol().messages;
        MessageId::at(all.iter().position(|message| message.name == name).unwrap())
    }

    const BLOCK_5: Object = Object { kind: BLOCK, id: 5 };

    fn readable(protocols: &Protocols) -> Vec<u8> {
        let data = Data { bytes: (0..64).collect(), places: Vec::new() };
        write_message(Vec::new(), (0, message(protocols, "Readable")), BLOCK_5, &Args::NONE, Some(&data))
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let protocols = protocols();
        let Ok(Packet::Message(found)) = read(&readable(&protocols), &protocols) else { panic!() };
        let kind = EventKind::Message(message(&protocols, "Readable"));
        let event = Event { kind, object: BLOCK_5, sender: 1, thread: 0, args: Args::NONE, payload: None };
        assert_eq!((found.protocol, found.event, found.number), (0, event, 0));
        assert_eq!(found.data.unwrap().bytes, (0..64).collect::<Vec<u8>>());
        let credit = read(&write_credit(2, LaneId(0)), &protocols).unwrap();
        assert_eq!(credit, Packet::Credit { protocol: 2, lane: LaneId(0) });
        let page = read(&write_page(70_000, &[1, 2]), &protocols).unwrap();
        assert_eq!(page, Packet::Page { page: 70_000, contents: vec![1, 2] });
        let bind = Control::Bind(Binding { region: 3, protocol: 1 });
        assert_eq!(read(&write_control(&bind), &protocols), Ok(Packet::Control(bind)));
    }

    #[test]
    fn places_are_read_as_they_were_written() {
        let protocols = protocols();
        let all = &protocols.engines[1].protocol().messages;
        let push = MessageId::at(all.iter().position(|message| message.name == "Push").unwrap());
        let object = Object { kind: all[push.index()].object, id: 0 };
        let data = Data { bytes: (0..24).collect(), places: vec![(8, 8), (0x1_2345_6789, 8), (1 << 20, 8)] };
        let packet = write_message(Vec::new(), (1, push), object, &Args::NONE, Some(&data));
        let Ok(Packet::Message(message)) = read(&packet, &protocols) else { panic!() };
        assert_eq!(message.data.as_deref(), Some(&data));
        for (at, to, what) in [(12, 200, "ends too early"), (HEAD + 8, 9, "do not go back to where they came from")] {
            let mut damaged = packet.clone();
            damaged[at] = to;
            let told = read(&damaged, &protocols).unwrap_err();
            assert!(told.contains(what), "{told}, not {what}");
        }
    }

    #[test]
    fn what_nobody_sends_is_refused() {
        let protocols = protocols();
        let (readable, get) = (message(&protocols, "Readable"), message(&protocols, "GetRead"));
        let (block, short) =
            (Data { bytes: vec![0; 64], ..Data::default() }, Data { bytes: vec![0; 8], ..Data::default() });
        let lock = Object { kind: ObjectKindId(9), id: 0 };
        for (wrong, what) in [
            (write_message(Vec::new(), (0, readable), BLOCK_5, &Args::NONE, None), "without those that it has"),
            (write_message(Vec::new(), (0, readable), BLOCK_5, &Args::NONE, Some(&short)), "not a block"),
            (write_message(Vec::new(), (0, get), BLOCK_5, &Args::NONE, Some(&block)), "data that it does not have"),
            (write_message(Vec::new(), (0, get), lock, &Args::NONE, None), "another kind"),
            (write_message(Vec::new(), (0, get), BLOCK_5, &Args::of(&[1]), None), "do not fit"),
            (write_message(Vec::new(), (0, MessageId(99)), BLOCK_5, &Args::NONE, None), "does not have"),
            (write_message(Vec::new(), (7, get), BLOCK_5, &Args::NONE, None), "a protocol that there is not"),
            (write_credit(0, LaneId(9)), "a lane that there is not"),
            (vec![], "nothing known"),
            (vec![CONTROL, b'{'], "a packet of the run"),
            (vec![PAGE, 1], "a page without a number"),
        ] {
            let told = read(&wrong, &protocols).unwrap_err();
            assert!(told.contains(what), "{told}, not {what}");
        }
    }

    #[test]
    fn a_set_of_nodes_has_no_node_that_there_is_not() {
        let text = "protocol sets\npromises coherent\nlane main fifo buffered\nmessage Ask on main\nmessage Tell(who: set of node) on main\n\
            role home of block {\n  state S: write { on Ask { send Tell({me}) to sender } }\n}\n\
            role cache of block {\n  state S: write { on Tell(who) { for n in who { send Ask to home } } }\n}\n";
        let protocol = trivium_lang::compile("sets.tri", text, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
        let engine = Rc::new(Engine::load(Arc::new(protocol), 4).unwrap());
        let protocols = Protocols::new(vec![engine], 64, 4);
        let tell = |nodes: i64| write_message(Vec::new(), (0, MessageId(1)), BLOCK_5, &Args::of(&[nodes]), None);
        assert!(read(&tell(0b1111), &protocols).is_ok());
        assert!(read(&tell(0b10000), &protocols).is_err());
        assert!(read(&tell(-1), &protocols).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes, &protocols());
        }

        #[test]
        fn a_damaged_message_is_read_or_refused(at in 0usize..84, to in any::<u8>(), length in 0usize..90) {
            let protocols = protocols();
            let mut packet = readable(&protocols);
            packet[at] = to;
            packet.truncate(length);
            let _ = read(&packet, &protocols);
        }
    }
}
