//! The defer space at the end of a record: a cursor, a length, and the events, oldest first.
//!
//! Events before the cursor have been tried since the state last changed; a replay is due while the cursor is
//! below the length.

use crate::event::Event;
use crate::fault::{FaultKind, too_large};
use crate::layout::{ListCell, Planner, Shape, get, put};
use crate::mechanisms::{Args, Object, Payload};
use crate::number::{self, fit, low_u32};
use crate::set::Set;
use trivium_diagnostic::Diagnostic;
use trivium_protocol::{EventKind, PayloadShape, Protocol, Role, Type};

/// Where the parts of the defer space of one role lie.
#[derive(Clone, Debug)]
pub(crate) struct DeferLayout {
    /// Offset of the cursor; it is as wide as the length of the list.
    cursor: u32,
    /// The events.
    events: ListCell,
    /// Bytes of an event's column in the role's table, which comes first in its entry.
    column_width: u8,
    /// The sender, a scalar, if messages may be deferred.
    sender: Option<Shape>,
    /// Offset of the thread, if accesses or calls may be deferred.
    thread: Option<u32>,
    /// Offset of the payload, if messages with data may be deferred.
    payload: Option<u32>,
    /// For each column that may be deferred: its kind and its arguments.
    columns: Vec<Option<(EventKind, Vec<Shape>)>>,
}

/// The declared arguments of an event.
fn declared_args(protocol: &Protocol, event: EventKind) -> &[trivium_protocol::Named] {
    match event {
        EventKind::Message(m) => &protocol.messages[m.index()].args,
        EventKind::Op(o) => &protocol.ops[o.index()].args,
        EventKind::Task(t) => &protocol.tasks[t.index()].args,
        EventKind::Read
        | EventKind::Write
        | EventKind::Rmw
        | EventKind::Prefetch
        | EventKind::PrefetchWrite
        | EventKind::Evict
        | EventKind::WriteBack
        | EventKind::Image
        | EventKind::Timer => &[],
    }
}

fn carries_data(protocol: &Protocol, event: EventKind) -> bool {
    match event {
        EventKind::Message(m) => protocol.messages[m.index()].payload != PayloadShape::Nothing,
        EventKind::WriteBack => true,
        _ => false,
    }
}

impl DeferLayout {
    /// Plans the defer space of a role, from the planner's present offset on.
    pub fn plan(planner: &mut Planner, role: &Role) -> Result<Option<DeferLayout>, Diagnostic> {
        let Some(bound) = role.defers else { return Ok(None) };
        let (protocol, capacity) = (planner.protocol, bound.at(planner.nodes));
        if !(0..=i64::from(u16::MAX)).contains(&capacity) {
            let message = format!("role {} cannot defer up to {capacity} events: 0..65535 are possible", role.name);
            return Err(too_large(protocol, role.span, message));
        }
        let mut entry = Planner { protocol, nodes: planner.nodes, at: 0 };
        let column_width = if role.events.len() > 256 { 2 } else { 1 };
        entry.at += u32::from(column_width);
        let any = |test: &dyn Fn(EventKind) -> bool| role.deferrable.iter().any(|&e| test(e));
        let is_message = any(&|e| matches!(e, EventKind::Message(_)));
        let sender = is_message.then(|| entry.argument(&Type::Node { optional: false }, role.span)).transpose()?;
        let mut part = |needed: bool, width: u8| {
            needed.then(|| {
                entry.at += u32::from(width);
                entry.at - u32::from(width)
            })
        };
        let thread = part(any(&EventKind::has_caller), 1);
        let payload = part(any(&|e| carries_data(protocol, e)), 4);
        let args_at = entry.at;
        let mut element = args_at;
        let mut columns = Vec::new();
        for &event in &role.events {
            entry.at = args_at;
            columns.push(if role.deferrable.contains(&event) {
                let args = declared_args(protocol, event).iter().map(|a| entry.argument(&a.ty, a.span));
                Some((event, args.collect::<Result<_, _>>()?))
            } else {
                None
            });
            element = element.max(entry.at);
        }
        let len_width: u8 = if capacity > 255 { 2 } else { 1 };
        let cursor = planner.at;
        let at = cursor + u32::from(len_width);
        let events = ListCell {
            at,
            len_width,
            capacity: fit(capacity, "a capacity, which is at most 65535"),
            element,
            fields: Vec::new(),
        };
        planner.at = at + events.bytes();
        Ok(Some(DeferLayout { cursor, events, column_width, sender, thread, payload, columns }))
    }

    /// How many events are deferred.
    pub fn len(&self, record: &[u8]) -> u32 {
        self.events.len(record)
    }

    /// Whether it has no place for another event.
    pub fn is_full(&self, record: &[u8]) -> bool {
        self.len(record) >= self.events.capacity
    }

    /// The next to be tried.
    pub fn cursor(&self, record: &[u8]) -> u32 {
        low_u32(get(record, self.cursor as usize, self.events.len_width))
    }

    /// Says which is to be tried next.
    pub fn set_cursor(&self, record: &mut [u8], cursor: u32) {
        put(record, self.cursor as usize, self.events.len_width, u64::from(cursor));
    }

    /// The event at a place.
    pub fn event(&self, record: &[u8], index: u32, object: Object) -> Option<Event> {
        let at = self.events.element_at(index);
        let column = number::index(get(record, at, self.column_width));
        let (kind, shapes) = self.columns.get(column)?.as_ref()?;
        let mut event = Event::local(*kind, object, 0);
        if let (Some(Shape::Scalar(sender)), EventKind::Message(_)) = (&self.sender, kind) {
            event.sender = fit(sender.read(record, at), "the number of a node");
        }
        if let (Some(offset), true) = (self.thread, event.has_caller()) {
            event.thread = record[at + offset as usize];
        }
        event.payload = self.payload_of(record, at);
        for shape in shapes {
            match shape {
                Shape::Scalar(cell) => event.args.push(cell.read(record, at)),
                Shape::Set(set) => {
                    let words = set.read(record, at).0;
                    words[..set.words()].iter().for_each(|&w| event.args.push(w.cast_signed()));
                }
                Shape::Array(array) => {
                    let words = array.to_words(array.values(record, at)).0;
                    words[..array.words()].iter().for_each(|&w| event.args.push(w.cast_signed()));
                }
                Shape::List(list) => {
                    let values: Vec<i64> = list.values(record, at).collect();
                    let words = list.to_words(&values).0;
                    let taken = list.words_of(&[words[0].cast_signed()]);
                    words[..taken].iter().for_each(|&w| event.args.push(w.cast_signed()));
                }
                Shape::Record(_) => unreachable!("the planner accepts no records"),
            }
        }
        Some(event)
    }

    /// Every number of a node and every set of nodes among the deferred events, in order: the offset that its place
    /// counts from, and the place. A sender comes before the arguments.
    pub fn naming(&self, record: &[u8], see: &mut dyn FnMut(usize, &Shape)) {
        for index in 0..self.len(record) {
            let at = self.events.element_at(index);
            let column = number::index(get(record, at, self.column_width));
            let Some(Some((kind, shapes))) = self.columns.get(column) else { continue };
            let sender = self.sender.iter().filter(|_| matches!(kind, EventKind::Message(_)));
            sender.chain(shapes).filter(|shape| shape.names_nodes()).for_each(|shape| see(at, shape));
        }
    }

    /// The same of a record that changes there, but neither in length nor in kinds of events.
    pub fn naming_mut(&self, record: &mut [u8], mut change: impl FnMut(&mut [u8], usize, &Shape)) {
        for index in 0..self.len(record) {
            let at = self.events.element_at(index);
            let column = number::index(get(record, at, self.column_width));
            let Some(Some((kind, shapes))) = self.columns.get(column) else { continue };
            let sender = self.sender.iter().filter(|_| matches!(kind, EventKind::Message(_)));
            sender.chain(shapes).filter(|shape| shape.names_nodes()).for_each(|shape| change(record, at, shape));
        }
    }

    /// The data of the event that begins at a place.
    fn payload_of(&self, record: &[u8], at: usize) -> Option<Payload> {
        let raw = low_u32(get(record, at + self.payload? as usize, 4));
        // A handle is stored one up, so that a message without data leaves the place zero.
        raw.checked_sub(1).map(Payload)
    }

    fn put_payload(&self, record: &mut [u8], at: usize, payload: Payload) {
        if let Some(offset) = self.payload {
            put(record, at + offset as usize, 4, u64::from(payload.0) + 1);
        }
    }

    /// The data of deferred events, oldest first.
    pub fn payloads(&self, record: &[u8]) -> impl Iterator<Item = Payload> {
        (0..self.len(record)).filter_map(|index| self.payload_of(record, self.events.element_at(index)))
    }

    /// The same data become others.
    pub fn change_payloads(&self, record: &mut [u8], change: impl Fn(Payload) -> Payload) {
        for index in 0..self.len(record) {
            let at = self.events.element_at(index);
            if let Some(payload) = self.payload_of(record, at) {
                self.put_payload(record, at, change(payload));
            }
        }
    }

    /// Whether any event could bring data.
    pub fn brings_data(&self) -> bool {
        self.payload.is_some()
    }

    /// Whether any event could name a node.
    pub fn names_nodes(&self) -> bool {
        self.sender.is_some() || self.columns.iter().flatten().any(|(_, shapes)| shapes.iter().any(Shape::names_nodes))
    }

    /// The bytes from the cursor to the end of the events.
    pub fn extent(&self) -> (u32, u32) {
        (self.cursor, self.events.at + self.events.bytes() - self.cursor)
    }

    /// Takes an event out.
    pub fn remove(&self, record: &mut [u8], index: u32) {
        self.events.remove(record, index);
    }

    /// Puts an event in before `index`.
    pub fn insert(&self, record: &mut [u8], index: u32, column: usize, event: &Event) -> Result<(), FaultKind> {
        if self.len(record) >= self.events.capacity {
            return Err(FaultKind::DeferFull);
        }
        let Some(Some((_, shapes))) = self.columns.get(column) else { return Err(FaultKind::Unanswered) };
        let sender = match (&self.sender, event.kind) {
            (Some(Shape::Scalar(sender)), EventKind::Message(_)) => Some(sender),
            _ => None,
        };
        // Looked at before the record changes: only the mechanisms can get it wrong.
        sender.map_or(Ok(()), |cell| cell.check(event.sender.into()))?;
        self.events.insert(record, index);
        let at = self.events.element_at(index);
        put(record, at, self.column_width, column as u64);
        if let Some(cell) = sender {
            cell.write(record, at, event.sender.into());
        }
        if let (Some(offset), true) = (self.thread, event.has_caller()) {
            record[at + offset as usize] = event.thread;
        }
        if let Some(payload) = event.payload {
            self.put_payload(record, at, payload);
        }
        self.write_args(record, at, shapes, &event.args);
        Ok(())
    }

    fn write_args(&self, record: &mut [u8], at: usize, shapes: &[Shape], args: &Args) {
        let mut words = args.words();
        for shape in shapes {
            let Some((own, rest)) = shape.split(words) else { return };
            words = rest;
            match shape {
                Shape::Scalar(cell) => cell.write(record, at, own[0]),
                Shape::Set(set) => set.write(record, at, &Set::of_words(own)),
                Shape::Array(array) => array.write(record, at, array.values_of_words(&Set::of_words(own))),
                Shape::List(list) => {
                    let values: Vec<i64> = list.values_of_words(&Set::of_words(own)).collect();
                    list.write(record, at, &values);
                }
                Shape::Record(_) => {}
            }
        }
    }

    /// Puts an event at the end. While no replay is due it counts as tried.
    pub fn append(&self, record: &mut [u8], column: usize, event: &Event) -> Result<(), FaultKind> {
        let (cursor, len) = (self.cursor(record), self.len(record));
        self.insert(record, len, column, event)?;
        if cursor == len {
            self.set_cursor(record, len + 1);
        }
        Ok(())
    }
}
