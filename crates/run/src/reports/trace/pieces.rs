//! What a node has noted, as bytes in pieces: node 0 gets it so from nodes that are processes of their own. A handler takes some 20 bytes.
//!
//! A note is a byte that says what it is, its end as the difference from the end of the note before, how long it took, and what else it has. Behind
//! the last stands when the program ran.

use super::{LiveHandled, LiveNote, LiveWhat, NodeTrace, Waited, room_of};
use crate::packets::compact::{read_number, write_number};
use trivium_engine::{Disposition, Node, Object};
use trivium_protocol::{EventKind, MessageId, ObjectKindId, OpId, RoleId, StateId, TaskId};

/// A piece ends with the note that makes it longer than this.
const PIECE: usize = 1 << 18;

/// What stands behind the last note: when the program ran, and where notes are cut off.
const LAST: u8 = 0;
/// A handler; [`BROUGHT`], and its disposition from [`DISPOSITION`] on, are added.
const HANDLED: u8 = 1;
/// Waits, and the region of interest.
const LOAD: u8 = 2;
const STORE: u8 = 3;
const CALL: u8 = 4;
const BARRIER: u8 = 5;
const CHANGE: u8 = 6;
const PAGE: u8 = 7;
const SLEEP: u8 = 8;
const BEGINS: u8 = 9;
const ENDS: u8 = 10;
/// The bits that say which of these it is.
const WHAT: u8 = 15;
/// A handler that a message has started.
const BROUGHT: u8 = 16;
const DISPOSITION: u8 = 32;

/// In the order of their numbers.
const DISPOSITIONS: [Disposition; 4] =
    [Disposition::Handled, Disposition::Deferred, Disposition::Held, Disposition::Passed];
/// Events without a number, in the order of theirs; then those with one.
const EVENTS: [EventKind; 9] = [
    EventKind::Read,
    EventKind::Write,
    EventKind::Rmw,
    EventKind::Prefetch,
    EventKind::PrefetchWrite,
    EventKind::Evict,
    EventKind::WriteBack,
    EventKind::Timer,
    EventKind::Image,
];
const MESSAGE: u64 = 9;
const OP: u64 = 10;
const TASK: u64 = 11;

/// Writes what a node has noted, piece by piece: there is never a copy of all.
#[derive(Debug)]
pub(crate) struct NotesWriter {
    notes: std::vec::IntoIter<LiveNote>,
    /// What stands behind them, until it is written.
    last: Option<NodeTrace>,
    /// The end of the note before.
    end: u64,
}

impl NotesWriter {
    pub(crate) fn new(mut trace: NodeTrace) -> NotesWriter {
        NotesWriter { notes: std::mem::take(&mut trace.notes).into_iter(), last: Some(trace), end: 0 }
    }

    /// Writes the next piece behind what is there, if there is one.
    pub(crate) fn next_piece(&mut self, mut out: Vec<u8>) -> Option<Vec<u8>> {
        self.last.as_ref()?;
        for note in self.notes.by_ref() {
            write_note(&mut out, note, &mut self.end);
            if out.len() > PIECE {
                return Some(out);
            }
        }
        let last = self.last.take()?;
        out.push(LAST);
        let cut = last.is_cut_at.map_or(0, |at| at.saturating_add(1));
        numbers(&mut out, &[last.program.start, last.program.end, cut]);
        Some(out)
    }
}

fn numbers(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|number| write_number(out, *number));
}

fn write_note(out: &mut Vec<u8>, note: LiveNote, before: &mut u64) {
    let time = [note.time.end.saturating_sub(*before), note.time.end.saturating_sub(note.time.start)];
    *before = note.time.end;
    let mut other = |kind: u8, more: &[u64]| {
        out.push(kind);
        numbers(out, &time);
        numbers(out, more);
    };
    match note.what {
        LiveWhat::Handled(handled) => write_handled(out, time, &handled),
        LiveWhat::Waited(Waited::Access { is_load: true, address }) => other(LOAD, &[address.into()]),
        LiveWhat::Waited(Waited::Access { is_load: false, address }) => other(STORE, &[address.into()]),
        LiveWhat::Waited(Waited::Call { protocol, op, object }) => {
            other(CALL, &[protocol as u64, op.0.into(), object.kind.0.into(), object.id.into()]);
        }
        LiveWhat::Waited(Waited::Barrier) => other(BARRIER, &[]),
        LiveWhat::Waited(Waited::Change { address }) => other(CHANGE, &[address.into()]),
        LiveWhat::Waited(Waited::Page(page)) => other(PAGE, &[page as u64]),
        LiveWhat::Waited(Waited::Sleep) => other(SLEEP, &[]),
        LiveWhat::Region(true) => other(BEGINS, &[]),
        LiveWhat::Region(false) => other(ENDS, &[]),
    }
}

fn write_handled(out: &mut Vec<u8>, time: [u64; 2], handled: &LiveHandled) {
    let brought = if handled.brought.is_some() { BROUGHT } else { 0 };
    let disposition = match handled.disposition {
        Disposition::Handled => 0,
        Disposition::Deferred => 1,
        Disposition::Held => 2,
        Disposition::Passed => 3,
    };
    out.push(HANDLED + brought + disposition * DISPOSITION);
    numbers(out, &time);
    numbers(out, &[handled.protocol as u64, handled.role.0.into()]);
    match handled.event {
        EventKind::Message(message) => numbers(out, &[MESSAGE, message.0.into()]),
        EventKind::Op(op) => numbers(out, &[OP, op.0.into()]),
        EventKind::Task(task) => numbers(out, &[TASK, task.0.into()]),
        EventKind::Read => write_number(out, 0),
        EventKind::Write => write_number(out, 1),
        EventKind::Rmw => write_number(out, 2),
        EventKind::Prefetch => write_number(out, 3),
        EventKind::PrefetchWrite => write_number(out, 4),
        EventKind::Evict => write_number(out, 5),
        EventKind::WriteBack => write_number(out, 6),
        EventKind::Timer => write_number(out, 7),
        EventKind::Image => write_number(out, 8),
    }
    let (object, (before, after)) = (handled.object, handled.states);
    numbers(out, &[object.kind.0.into(), object.id.into(), before.0.into(), after.0.into()]);
    if let Some((from, number)) = handled.brought {
        numbers(out, &[from.into(), number]);
    }
    write_number(out, handled.sends.len() as u64);
    for (message, (to, number)) in &handled.sends {
        numbers(out, &[message.0.into(), (*to).into(), *number]);
    }
}

/// Reads what a node has noted. Whoever has sent it: it takes no more memory than a node's notes may, and names what there is in numbers only
/// ([`NodeTrace::check`]).
#[derive(Debug)]
pub(crate) struct NotesReader {
    trace: NodeTrace,
    end: u64,
    room: usize,
    state: ReaderState,
}

#[derive(Debug, PartialEq, Eq)]
enum ReaderState {
    /// Nothing has come.
    Empty,
    /// More is to come.
    Amid,
    Whole,
    /// Something that no node has written.
    Wrong,
}

impl NotesReader {
    /// Of one of so many nodes.
    pub(crate) fn new(node: Node, nodes: u32) -> NotesReader {
        let trace = NodeTrace { node, ..NodeTrace::default() };
        NotesReader { trace, end: 0, room: room_of(nodes), state: ReaderState::Empty }
    }

    /// The next piece.
    pub(crate) fn add(&mut self, mut piece: &[u8]) {
        if !matches!(self.state, ReaderState::Empty | ReaderState::Amid) {
            self.state = ReaderState::Wrong;
            return;
        }
        self.state = ReaderState::Amid;
        while !piece.is_empty() {
            if self.state != ReaderState::Amid || self.item(&mut piece).is_none() {
                self.state = ReaderState::Wrong;
                self.trace.notes = Vec::new();
                return;
            }
        }
    }

    /// All that was noted, or nothing if the node has told nothing.
    ///
    /// # Errors
    /// No node has written it.
    pub(crate) fn finish(self) -> Result<Option<NodeTrace>, ()> {
        match self.state {
            ReaderState::Empty => Ok(None),
            ReaderState::Whole => Ok(Some(self.trace)),
            ReaderState::Amid | ReaderState::Wrong => Err(()),
        }
    }

    /// A note, or what stands behind the last.
    fn item(&mut self, piece: &mut &[u8]) -> Option<()> {
        let (&kind, rest) = piece.split_first()?;
        *piece = rest;
        if kind == LAST {
            let program = read_number(piece)?..read_number(piece)?;
            self.trace.is_cut_at = read_number(piece)?.checked_sub(1);
            self.trace.program = Some(program).filter(|program| program.start <= program.end)?;
            self.state = ReaderState::Whole;
            return Some(());
        }
        let end = self.end.checked_add(read_number(piece)?)?;
        let time = end.checked_sub(read_number(piece)?)?..end;
        let note = LiveNote { time, what: read_what(kind, piece)? };
        self.room = self.room.checked_sub(note.bytes())?;
        self.end = end;
        self.trace.notes.push(note);
        Some(())
    }
}

/// A number that has its place in something smaller.
fn small<T: TryFrom<u64>>(piece: &mut &[u8]) -> Option<T> {
    T::try_from(read_number(piece)?).ok()
}

fn object(piece: &mut &[u8]) -> Option<Object> {
    Some(Object { kind: ObjectKindId(small(piece)?), id: small(piece)? })
}

fn read_what(kind: u8, piece: &mut &[u8]) -> Option<LiveWhat> {
    if kind & WHAT == HANDLED {
        return read_handled(kind, piece).map(LiveWhat::Handled);
    }
    Some(match kind {
        LOAD | STORE => LiveWhat::Waited(Waited::Access { is_load: kind == LOAD, address: small(piece)? }),
        CALL => {
            let (protocol, op) = (small(piece)?, OpId(small(piece)?));
            LiveWhat::Waited(Waited::Call { protocol, op, object: object(piece)? })
        }
        BARRIER => LiveWhat::Waited(Waited::Barrier),
        CHANGE => LiveWhat::Waited(Waited::Change { address: small(piece)? }),
        PAGE => LiveWhat::Waited(Waited::Page(small(piece)?)),
        SLEEP => LiveWhat::Waited(Waited::Sleep),
        BEGINS | ENDS => LiveWhat::Region(kind == BEGINS),
        _ => return None,
    })
}

fn read_handled(kind: u8, piece: &mut &[u8]) -> Option<LiveHandled> {
    let (protocol, role) = (small(piece)?, RoleId(small(piece)?));
    let event = match read_number(piece)? {
        MESSAGE => EventKind::Message(MessageId(small(piece)?)),
        OP => EventKind::Op(OpId(small(piece)?)),
        TASK => EventKind::Task(TaskId(small(piece)?)),
        other => *EVENTS.get(usize::try_from(other).ok()?)?,
    };
    let object = object(piece)?;
    let states = (StateId(small(piece)?), StateId(small(piece)?));
    let brought = match kind & BROUGHT {
        0 => None,
        _ => Some((small(piece)?, read_number(piece)?)),
    };
    // As long as the bytes make it, however many are promised.
    let mut sends = Vec::new();
    for _ in 0..read_number(piece)? {
        sends.push((MessageId(small(piece)?), (small(piece)?, read_number(piece)?)));
    }
    let disposition = *DISPOSITIONS.get(usize::from(kind / DISPOSITION))?;
    Some(LiveHandled { protocol, role, event, object, states, disposition, brought, sends })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::Numbered;
    use super::*;
    use proptest::prelude::*;
    use std::ops::Range;
    use std::path::Path;
    use std::sync::Arc;
    use trivium_protocol::BLOCK;

    /// A handler of a message, or else of a read.
    pub(crate) fn handled(time: Range<u64>, brought: Option<Numbered>, sends: &[Numbered]) -> LiveNote {
        let handled = LiveHandled {
            protocol: 0,
            role: RoleId(0),
            event: if brought.is_some() { EventKind::Message(MessageId(0)) } else { EventKind::Read },
            object: Object { kind: BLOCK, id: 5 },
            states: (StateId(0), StateId(1)),
            disposition: Disposition::Handled,
            brought,
            sends: sends.iter().map(|numbered| (MessageId(0), *numbered)).collect(),
        };
        LiveNote { time, what: LiveWhat::Handled(handled) }
    }

    pub(crate) fn trace(node: Node, notes: Vec<LiveNote>) -> NodeTrace {
        NodeTrace { node, program: 0..1000, notes, is_cut_at: None }
    }

    fn written(trace: NodeTrace) -> Vec<Vec<u8>> {
        let mut writer = NotesWriter::new(trace);
        std::iter::from_fn(|| writer.next_piece(Vec::new())).collect()
    }

    fn read(pieces: &[Vec<u8>]) -> Result<Option<NodeTrace>, ()> {
        let mut reader = NotesReader::new(3, 4);
        pieces.iter().for_each(|piece| reader.add(piece));
        reader.finish()
    }

    fn object() -> impl Strategy<Value = Object> {
        (any::<u8>(), any::<u32>()).prop_map(|(kind, id)| Object { kind: ObjectKindId(kind), id })
    }

    fn event() -> impl Strategy<Value = EventKind> {
        prop_oneof![
            proptest::sample::select(&EVENTS[..]),
            any::<u16>().prop_map(|at| EventKind::Message(MessageId(at))),
            any::<u16>().prop_map(|at| EventKind::Op(OpId(at))),
            any::<u16>().prop_map(|at| EventKind::Task(TaskId(at))),
        ]
    }

    fn any_handled() -> impl Strategy<Value = LiveHandled> {
        let numbered = || (any::<Node>(), any::<u64>());
        let sends = proptest::collection::vec((any::<u16>().prop_map(MessageId), numbered()), 0..4);
        let who = (any::<usize>(), any::<u8>(), event(), object(), any::<u16>(), any::<u16>());
        let how = (proptest::sample::select(&DISPOSITIONS[..]), proptest::option::of(numbered()), sends);
        (who, how).prop_map(|((protocol, role, event, object, before, after), (disposition, brought, sends))| {
            let (role, states) = (RoleId(role), (StateId(before), StateId(after)));
            LiveHandled { protocol, role, event, object, states, disposition, brought, sends }
        })
    }

    fn what() -> impl Strategy<Value = LiveWhat> {
        let waited = prop_oneof![
            (any::<bool>(), any::<u32>()).prop_map(|(is_load, address)| Waited::Access { is_load, address }),
            (any::<usize>(), any::<u16>(), object())
                .prop_map(|(protocol, op, object)| { Waited::Call { protocol, op: OpId(op), object } }),
            any::<u32>().prop_map(|address| Waited::Change { address }),
            any::<usize>().prop_map(Waited::Page),
            proptest::sample::select(&[Waited::Barrier, Waited::Sleep][..]),
        ];
        prop_oneof![
            any_handled().prop_map(LiveWhat::Handled),
            waited.prop_map(LiveWhat::Waited),
            any::<bool>().prop_map(LiveWhat::Region),
        ]
    }

    /// Notes that end one after the other.
    fn any_trace() -> impl Strategy<Value = NodeTrace> {
        let step = (0u64..1 << 40, any::<u64>(), what());
        let notes = proptest::collection::vec(step, 0..40).prop_map(|steps| {
            let mut end = 0;
            let note = |(more, took, what): (u64, u64, LiveWhat)| {
                end += more;
                LiveNote { time: end - took.min(end)..end, what }
            };
            steps.into_iter().map(note).collect::<Vec<_>>()
        });
        (notes, any::<u32>(), any::<u32>(), proptest::option::of(0..u64::MAX)).prop_map(|(notes, from, more, cut)| {
            let program = u64::from(from)..u64::from(from) + u64::from(more);
            NodeTrace { node: 3, program, notes, is_cut_at: cut }
        })
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(trace in any_trace()) {
            prop_assert_eq!(read(&written(trace.clone())), Ok(Some(trace)));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&[bytes]);
        }

        #[test]
        fn damaged_notes_are_read_or_refused(trace in any_trace(), at in any::<usize>(), to in any::<u8>()) {
            let mut pieces = written(trace);
            let at = at % pieces[0].len();
            pieces[0][at] = to;
            let _ = read(&pieces);
        }
    }

    #[test]
    fn long_notes_come_in_pieces_and_short_ones_take_little() {
        let notes: Vec<_> =
            (0..50_000).map(|at| handled(900 * at..900 * at + 300, Some((1, at)), &[(2, at)])).collect();
        let pieces = written(trace(3, notes.clone()));
        assert!(pieces.len() > 2 && pieces.iter().all(|piece| piece.len() < PIECE + 100), "{}", pieces.len());
        assert!(pieces.concat().len() < 24 * notes.len(), "{}", pieces.concat().len());
        assert_eq!(read(&pieces), Ok(Some(trace(3, notes))));
        assert_eq!(read(&[]), Ok(None), "who has told nothing");
    }

    #[test]
    fn what_no_node_writes_is_refused() {
        let whole = written(trace(3, vec![handled(5..9, Some((1, 1)), &[(2, 1)])]));
        assert!(read(&whole).is_ok());
        for length in 0..whole[0].len() {
            assert!(read(&[whole[0][..length].to_vec()]).is_err(), "{length}");
        }
        assert!(read(&[whole.clone(), whole].concat()).is_err(), "more than all");
        let barrier = LiveNote { time: 0..0, what: LiveWhat::Waited(Waited::Barrier) };
        let many = room_of(4) / barrier.bytes() + 1;
        assert!(read(&written(trace(3, vec![barrier; many]))).is_err(), "more than there is room for");
        for wrong in [&[HANDLED + 4 * DISPOSITION - 1, 0, 0][..], &[BARRIER, 0, 1], &[LAST, 5, 4, 0], &[ENDS + 1, 0, 0]]
        {
            assert!(read(&[wrong.to_vec()]).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn notes_about_what_there_is_not_are_found() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/stache.tri");
        let protocols = [Arc::new(trivium_lang::compile_file(&path, &[]).unwrap())];
        let good = || handled(0..1, Some((1, 1)), &[(2, 1)]);
        let check = |note: LiveNote| trace(0, vec![note]).check(&protocols, 3);
        assert_eq!(check(good()), Ok(()));
        type Damage = fn(&mut LiveHandled);
        let change: [(&str, Damage); 9] = [
            ("protocol", |handled| handled.protocol = 1),
            ("role", |handled| handled.role = RoleId(99)),
            ("message", |handled| handled.event = EventKind::Message(MessageId(99))),
            ("call", |handled| handled.event = EventKind::Op(OpId(99))),
            ("task", |handled| handled.event = EventKind::Task(TaskId(99))),
            ("kind of object", |handled| handled.object.kind = ObjectKindId(99)),
            ("state", |handled| handled.states.1 = StateId(999)),
            ("message", |handled| handled.sends[0].0 = MessageId(99)),
            ("node", |handled| handled.brought = Some((3, 1))),
        ];
        for (what, change) in change {
            let mut note = good();
            let LiveWhat::Handled(handled) = &mut note.what else { panic!() };
            change(handled);
            assert_eq!(check(note), Err(format!("a {what} that there is not")));
        }
        let call = Waited::Call { protocol: 0, op: OpId(99), object: Object { kind: BLOCK, id: 0 } };
        assert!(check(LiveNote { time: 0..1, what: LiveWhat::Waited(call) }).is_err());
    }
}
