//! What is planned for a number of nodes: the records of roles, the room that their events need, and the arguments of events.

use crate::defer::DeferLayout;
use crate::fault::too_large;
use crate::frame::{FRAME_SCALARS, FRAME_SETS};
use crate::layout::{MAX_RECORD_BYTES, Planner, Shape};
use crate::mechanisms::MAX_ARGS;
use crate::number::fit;
use trivium_diagnostic::Diagnostic;
use trivium_protocol::again::{contains_defer, is_tried_by_look};
use trivium_protocol::source::Span;
use trivium_protocol::walk::contains_stall;
use trivium_protocol::{Bound, EventKind, Handler, Named, Protocol, Response, Role, StateId, Type};

/// No column: the role never answers the event.
const NO_COLUMN: u16 = u16::MAX;

/// What is planned for one role.
#[derive(Clone, Debug)]
pub(crate) struct RolePlan {
    /// Bytes of the state number.
    pub state_width: u8,
    /// Where each variable lies.
    pub vars: Vec<Shape>,
    /// Where the deferred events lie.
    pub defers: Option<DeferLayout>,
    /// Which answers defer an event that is tried again as soon as its answer is another one.
    pub by_look: Answers,
    /// Bytes of a record.
    pub bytes: usize,
    /// For each state, the bytes that nobody can read again: first byte and number.
    pub dead: Vec<Vec<(u32, u32)>>,
    /// For each state, the cycles of its timer.
    pub timers: Vec<Option<u64>>,
    columns: Columns,
    /// `room[state * columns + column][lane]`, with shared queues behind the lanes.
    room: Vec<Box<[u32]>>,
}

/// The column of each event in a role's table.
#[derive(Clone, Debug)]
struct Columns {
    fixed: [u16; 9],
    messages: Vec<u16>,
    ops: Vec<u16>,
    tasks: Vec<u16>,
}

impl RolePlan {
    /// The column of an event.
    #[inline]
    pub fn column(&self, event: EventKind) -> Option<usize> {
        let columns = &self.columns;
        let column = match event {
            EventKind::Read => columns.fixed[0],
            EventKind::Write => columns.fixed[1],
            EventKind::Evict => columns.fixed[2],
            EventKind::Timer => columns.fixed[3],
            EventKind::WriteBack => columns.fixed[4],
            EventKind::Rmw => columns.fixed[5],
            EventKind::Prefetch => columns.fixed[6],
            EventKind::PrefetchWrite => columns.fixed[7],
            EventKind::Image => columns.fixed[8],
            EventKind::Message(m) => *columns.messages.get(m.index())?,
            EventKind::Op(o) => *columns.ops.get(o.index())?,
            EventKind::Task(t) => *columns.tasks.get(t.index())?,
        };
        (column != NO_COLUMN).then_some(column as usize)
    }

    /// Clears the variables that nobody can read again from a state.
    #[inline]
    pub fn clear_dead(&self, state: StateId, record: &mut [u8]) {
        for &(at, bytes) in &self.dead[state.index()] {
            record[at as usize..(at + bytes) as usize].fill(0);
        }
    }

    /// The room that an event needs in a state: on each lane, and behind these in each queue that lanes share.
    pub fn room(&self, event: EventKind, state: StateId) -> Option<&[u32]> {
        let column = self.column(event)?;
        let columns = self.room.len() / self.dead.len();
        self.room.get(state.index() * columns + column).map(|room| &room[..])
    }

    /// The most of one of these that any event needs in any state.
    pub fn most_room(&self, at: usize) -> u32 {
        self.room.iter().filter_map(|room| room.get(at).copied()).max().unwrap_or(0)
    }
}

/// What the engine knows of the arguments of every message, call and task.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArgShapes {
    messages: Vec<Shapes>,
    ops: Vec<Shapes>,
    tasks: Vec<Shapes>,
}

/// The arguments of one event.
#[derive(Clone, Debug, Default)]
struct Shapes {
    shapes: Vec<Shape>,
    /// Words that they take together, at most.
    words: usize,
    /// Whether they may take fewer.
    vary: bool,
}

impl ArgShapes {
    /// The shapes of an event's arguments.
    pub fn of(&self, event: EventKind) -> &[Shape] {
        self.declared(event).map_or(&[], |declared| &declared.shapes[..])
    }

    /// How many words they take, at most.
    #[inline]
    pub fn words(&self, event: EventKind) -> usize {
        self.declared(event).map_or(0, |declared| declared.words)
    }

    /// Whether they may take fewer: there is a list among them.
    #[inline]
    pub fn vary(&self, event: EventKind) -> bool {
        self.declared(event).is_some_and(|declared| declared.vary)
    }

    /// Whether so many words are those of an event's arguments.
    #[inline]
    pub fn have(&self, event: EventKind, words: &[i64]) -> bool {
        let Some(declared) = self.declared(event) else { return words.is_empty() };
        if !declared.vary {
            return declared.words == words.len();
        }
        let behind = |rest: &mut &[i64], shape: &Shape| {
            let (_, behind) = shape.split(rest)?;
            *rest = behind;
            Some(())
        };
        let mut rest = words;
        declared.shapes.iter().all(|shape| behind(&mut rest, shape).is_some()) && rest.is_empty()
    }

    #[inline]
    fn declared(&self, event: EventKind) -> Option<&Shapes> {
        match event {
            EventKind::Message(m) => self.messages.get(m.index()),
            EventKind::Op(o) => self.ops.get(o.index()),
            EventKind::Task(t) => self.tasks.get(t.index()),
            _ => None,
        }
    }

    /// Plans them for so many nodes.
    pub fn plan(protocol: &Protocol, nodes: u32) -> Result<ArgShapes, Diagnostic> {
        let each = |what: &str, name: &str, args: &[Named]| {
            let mut planner = Planner { protocol, nodes, at: 0 };
            let shapes =
                args.iter().map(|a| planner.argument(&a.ty, a.span)).collect::<Result<Vec<Shape>, Diagnostic>>()?;
            for (arg, shape) in args.iter().zip(&shapes) {
                fits_an_argument(protocol, &arg.name, shape, arg.span)?;
            }
            let words: usize = shapes.iter().map(Shape::words).sum();
            if words > MAX_ARGS {
                let span = args.first().map(|a| a.span).unwrap_or_default();
                let message = format!(
                    "the arguments of {what} {name} take {words} words with {nodes} nodes; {MAX_ARGS} are possible: \
                     pass fewer, or use fewer nodes (a set takes one word for each 64, an array or a list one for 8 bytes)"
                );
                return Err(too_large(protocol, span, message));
            }
            let vary = shapes.iter().any(|shape| matches!(shape, Shape::List(_)));
            Ok(Shapes { shapes, words, vary })
        };
        Ok(ArgShapes {
            messages: protocol.messages.iter().map(|m| each("message", &m.name, &m.args)).collect::<Result<_, _>>()?,
            ops: protocol.ops.iter().map(|o| each("op", &o.name, &o.args)).collect::<Result<_, _>>()?,
            tasks: protocol.tasks.iter().map(|t| each("task", &t.name, &t.args)).collect::<Result<_, _>>()?,
        })
    }
}

/// What is kept as the words of an argument has no more of them than an event has.
fn fits_an_argument(protocol: &Protocol, name: &str, shape: &Shape, span: Span) -> Result<(), Diagnostic> {
    let words = shape.words();
    let (count, bytes, what) = match shape {
        _ if words <= MAX_ARGS => return Ok(()),
        Shape::Array(array) if array.by_node => (array.count, array.element, "nodes"),
        Shape::Array(array) => (array.count, array.element, "elements"),
        Shape::List(list) => (list.capacity, list.element, "elements, and their number,"),
        _ => return Ok(()),
    };
    let byte = if bytes == 1 { "byte" } else { "bytes" };
    let message = format!(
        "`{name}`: {count} {what} of {bytes} {byte} need {words} words; an argument or local has at most {MAX_ARGS}: \
         make the elements smaller or fewer, pass them in parts, or use them where they are"
    );
    Err(too_large(protocol, span, message))
}

/// The arrays and lists that are locals of some handler, each type with its place among the words of one.
pub(crate) fn plan_local_shapes(protocol: &Protocol, nodes: u32) -> Result<Vec<(Type, Shape)>, Diagnostic> {
    let mut planned: Vec<(Type, Shape)> = Vec::new();
    for handler in protocol.roles.iter().flat_map(|role| role.code()) {
        for local in &handler.locals {
            let is_known = planned.iter().any(|(known, _)| *known == local.ty);
            if is_known || !matches!(local.ty, Type::Array { .. } | Type::List { .. }) {
                continue;
            }
            let shape = Planner { protocol, nodes, at: 0 }.variable(&local.ty, None, handler.span)?;
            fits_an_argument(protocol, &local.name, &shape, handler.span)?;
            planned.push((local.ty.clone(), shape));
        }
    }
    Ok(planned)
}

/// Plans a role for so many nodes.
pub(crate) fn plan_role(protocol: &Protocol, role: &Role, nodes: u32) -> Result<RolePlan, Diagnostic> {
    let state_width = if role.states.len() > 256 { 2 } else { 1 };
    let mut planner = Planner { protocol, nodes, at: u32::from(state_width) };
    let mut vars = Vec::new();
    for var in &role.vars {
        vars.push(planner.variable(&var.ty, Some(var.initial), var.span)?);
        check_size(protocol, role, planner.at as usize)?;
    }
    let defers = DeferLayout::plan(&mut planner, role)?;
    check_size(protocol, role, planner.at as usize)?;
    let columns = plan_columns(protocol, role);
    for handler in role.handlers.iter().chain(&role.initially) {
        check_frame(protocol, handler)?;
    }
    check_deferrable(protocol, role)?;
    let dead = role.states.iter().map(|s| dead_bytes(&vars, s.dead.iter().map(|v| v.index()))).collect();
    let timers = role.states.iter().map(|s| s.timer.map(|t| t.at(nodes).max(0).cast_unsigned())).collect();
    let room = plan_room(protocol, role, nodes)?;
    let by_look = Answers::that_defer_by_look(role);
    Ok(RolePlan { state_width, vars, defers, by_look, bytes: planner.at as usize, dead, timers, columns, room })
}

fn check_size(protocol: &Protocol, role: &Role, bytes: usize) -> Result<(), Diagnostic> {
    if bytes <= MAX_RECORD_BYTES {
        return Ok(());
    }
    let message = format!(
        "a record of role {} takes {bytes} bytes; {MAX_RECORD_BYTES} are possible: shorten its lists, its arrays or its defer space",
        role.name
    );
    Err(too_large(protocol, role.span, message))
}

fn plan_columns(protocol: &Protocol, role: &Role) -> Columns {
    let column = |event| role.column(event).map_or(NO_COLUMN, |c| fit(c, "a column, of which there are at most 65534"));
    Columns {
        fixed: [
            EventKind::Read,
            EventKind::Write,
            EventKind::Evict,
            EventKind::Timer,
            EventKind::WriteBack,
            EventKind::Rmw,
            EventKind::Prefetch,
            EventKind::PrefetchWrite,
            EventKind::Image,
        ]
        .map(column),
        messages: (0..protocol.messages.len()).map(|i| column(message_event(i))).collect(),
        ops: (0..protocol.ops.len()).map(|i| column(EventKind::Op(trivium_protocol::OpId::at(i)))).collect(),
        tasks: (0..protocol.tasks.len()).map(|i| column(EventKind::Task(trivium_protocol::TaskId::at(i)))).collect(),
    }
}

fn message_event(index: usize) -> EventKind {
    EventKind::Message(trivium_protocol::MessageId::at(index))
}

fn check_frame(protocol: &Protocol, handler: &Handler) -> Result<(), Diagnostic> {
    if handler.scalars as usize <= FRAME_SCALARS && handler.sets as usize <= FRAME_SETS {
        return Ok(());
    }
    let message = format!(
        "handler {} needs {} scalar and {} set locals; {FRAME_SCALARS} and {FRAME_SETS} are possible: split it",
        handler.name, handler.scalars, handler.sets
    );
    Err(too_large(protocol, handler.span, message))
}

/// What the table or a handler defers must have a place in the defer space.
fn check_deferrable(protocol: &Protocol, role: &Role) -> Result<(), Diagnostic> {
    let has_place = |event| role.defers.is_some() && role.deferrable.contains(&event);
    let error = |event, span| {
        let name = protocol.event_name(event);
        let message = format!("role {} defers {name} but reserves no place for it: say `defers up to n`", role.name);
        Err(too_large(protocol, span, message))
    };
    for row in &role.table {
        for (response, &event) in row.iter().zip(&role.events) {
            let (defers, span) = match response {
                Response::Defer => (true, role.span),
                Response::Handle(handlers) => {
                    let found = handlers.iter().map(|h| &role.handlers[h.index()]).find(|h| contains_defer(&h.steps));
                    (found.is_some(), found.map_or(role.span, |h| h.span))
                }
                _ => (false, role.span),
            };
            if defers && !has_place(event) {
                return error(event, span);
            }
        }
    }
    Ok(())
}

/// Byte ranges of variables, neighbours joined.
fn dead_bytes(vars: &[Shape], dead: impl Iterator<Item = usize>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = dead.map(|var| vars[var].extent()).filter(|&(_, bytes)| bytes > 0).collect();
    ranges.sort_unstable();
    let mut joined: Vec<(u32, u32)> = Vec::new();
    for (at, bytes) in ranges {
        match joined.last_mut() {
            Some(last) if last.0 + last.1 == at => last.1 += bytes,
            _ => joined.push((at, bytes)),
        }
    }
    joined
}

/// For each (state, event) and lane, and each queue that lanes share, the most that any of its handlers may send unasked.
fn plan_room(protocol: &Protocol, role: &Role, nodes: u32) -> Result<Vec<Box<[u32]>>, Diagnostic> {
    let mut room = Vec::new();
    for response in role.table.iter().flatten() {
        let mut needed = vec![0u32; protocol.lanes.len() + protocol.shares.len()];
        if let Response::Handle(handlers) = response {
            for id in handlers {
                let handler = &role.handlers[id.index()];
                for (at, need) in needed.iter_mut().enumerate() {
                    let its = match at.checked_sub(protocol.lanes.len()) {
                        None => lane_need(protocol, handler, at, nodes)?,
                        Some(number) => shared_need(protocol, handler, number, nodes)?,
                    };
                    *need = (*need).max(its);
                }
            }
        }
        room.push(needed.into_boxed_slice());
    }
    Ok(room)
}

fn lane_need(protocol: &Protocol, handler: &Handler, lane: usize, nodes: u32) -> Result<u32, Diagnostic> {
    let Some(holds) = protocol.lanes[lane].room(nodes) else { return Ok(0) };
    let sends = handler.sends.get(lane).copied().unwrap_or(Bound::fixed(0)).at(nodes).max(0);
    if let Some(sends) = u32::try_from(sends).ok().filter(|&sends| sends <= holds) {
        return Ok(sends);
    }
    let takes = protocol.lanes[lane].takes();
    let message = format!(
        "handler {} may send {sends} messages on lane {} with {nodes} nodes, which {takes} {holds}: \
         ask for room with `if room(..)`, or let the lane hold more",
        handler.name, protocol.lanes[lane].name
    );
    Err(too_large(protocol, handler.span, message))
}

/// What a handler may send unasked on the lanes of a shared queue.
fn shared_need(protocol: &Protocol, handler: &Handler, number: usize, nodes: u32) -> Result<u32, Diagnostic> {
    let shared = &protocol.shares[number];
    let Some(places) = shared.places(nodes) else { return Ok(0) };
    let at = protocol.lanes.len() + number;
    let sends = handler.sends.get(at).copied().unwrap_or(Bound::fixed(0)).at(nodes).max(0);
    if let Some(sends) = u32::try_from(sends).ok().filter(|&sends| sends <= places) {
        return Ok(sends);
    }
    let message = format!(
        "handler {} may send {sends} messages on the lanes {} with {nodes} nodes, which share {places} places: \
         ask for room with `if room(..)`, or let them share more",
        handler.name,
        protocol.names_of_shared(shared)
    );
    Err(too_large(protocol, handler.span, message))
}

/// Which answers of a role are such: by state and event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// Row by row; empty if none may.
    cells: Vec<bool>,
    columns: usize,
}

impl Answers {
    /// Whether the answer in a state to the event of a column may be such.
    #[inline]
    pub fn may(&self, state: StateId, column: usize) -> bool {
        self.any() && self.cells[state.index() * self.columns + column]
    }

    /// Whether any answer may.
    pub fn any(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Those that may be `stall`.
    pub fn that_stall(role: &Role) -> Answers {
        let pushes_back = |event: &EventKind| role.pushes_back && !matches!(event, EventKind::Task(_));
        let may_stall = |response: &Response, event: &EventKind| match response {
            Response::Hold => matches!(event, EventKind::Message(_)),
            Response::Defer => pushes_back(event),
            Response::Handle(handlers) => handlers.iter().any(|id| {
                let steps = &role.handlers[id.index()].steps;
                contains_stall(steps) || pushes_back(event) && contains_defer(steps)
            }),
            _ => false,
        };
        Answers::that(role, may_stall)
    }

    /// Those that may defer an event which is tried again when what they have looked at has changed.
    pub fn that_defer_by_look(role: &Role) -> Answers {
        Answers::that(role, |response, _| is_tried_by_look(role, response))
    }

    fn that(role: &Role, is: impl Fn(&Response, &EventKind) -> bool) -> Answers {
        let rows = role.table.iter().flat_map(|row| row.iter().zip(&role.events));
        let cells: Vec<bool> = rows.map(|(response, event)| is(response, event)).collect();
        let any = cells.contains(&true);
        Answers { cells: if any { cells } else { Vec::new() }, columns: role.events.len() }
    }
}
