//! A protocol that is loaded for a number of nodes, and what can be asked about it and its records.

use crate::array::ArrayCell;
use crate::event::Event;
use crate::fault::{FaultKind, Try, trouble};
use crate::flat::{Code, Way};
use crate::layout::{Cell, ListCell, SetCell, Shape, get};
use crate::mechanisms::Object;
use crate::number::{fit, index_of_word, low_u16};
use crate::plan::{Answers, ArgShapes, RolePlan};
use crate::set::{FEW, Set};
use crate::shared::{SharedPlaces, shorter_than_their_lanes};
use std::sync::Arc;
use trivium_protocol::source::Span;
use trivium_protocol::{
    Access, BLOCK, Bound, EventKind, Expr, Handler, LaneId, MessageId, ObjectKindId, Place, Protocol, Response, RoleId,
    Slot, StateId, Type,
};

/// A protocol that is loaded for a number of nodes: the layouts of its records, and its handlers ready to run.
///
/// It holds no state of a run: one engine serves all nodes and all host threads.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) protocol: Arc<Protocol>,
    pub(crate) nodes: u32,
    pub(crate) roles: Vec<RolePlan>,
    /// What each lane holds; `None` if it is buffered.
    pub(crate) lanes: Vec<Option<u32>>,
    /// The queues that lanes share ([`Engine::shared`]).
    pub(crate) shared: Vec<SharedPlaces>,
    pub(crate) args: ArgShapes,
    /// How arrays lie that are locals of handlers, by their types.
    pub(crate) local_shapes: Vec<(Type, Shape)>,
    /// Which role gives a block its tag: away from its home, and there.
    pub(crate) tag_roles: [Option<RoleId>; 2],
    /// No room on any lane, for events that nobody answers.
    pub(crate) no_room: Vec<u32>,
    /// The handlers as they run.
    pub(crate) flat: Code,
    /// Whether each loop over nodes asks which is next ([`Engine::asking_always`]).
    pub(crate) asks_always: bool,
    /// Of each role, which answers may be a stall.
    pub(crate) stalls: Vec<Answers>,
    /// Whether any may.
    pub(crate) may_stall: bool,
}

impl Engine {
    /// The protocol.
    #[inline]
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    /// The same engine, but its handlers are walked over as the compiler left them, in place of running as flat code: slower,
    /// and the oracle for it.
    #[must_use]
    pub fn walking(mut self) -> Engine {
        self.flat.handlers.iter_mut().flatten().for_each(|entry| *entry = None);
        self.flat.ways.iter_mut().flatten().for_each(|reaction| reaction.way = Way::Walk);
        self
    }

    /// The same engine, which walks, and at every loop over nodes asks which is next, whether the order can be seen or not: the oracle
    /// for what says where it can.
    #[must_use]
    pub fn asking_always(self) -> Engine {
        Engine { asks_always: true, ..self.walking() }
    }

    /// Handlers that are walked over because they could not become flat code, by their names.
    pub fn walked(&self) -> Vec<&str> {
        let roles = self.protocol.roles.iter().zip(&self.flat.handlers);
        let handlers = roles.flat_map(|(role, entries)| role.handlers.iter().zip(entries));
        handlers.filter(|(_, entry)| entry.is_none()).map(|(handler, _)| handler.name.as_str()).collect()
    }

    /// For how many nodes it is loaded.
    #[inline]
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    /// How many messages of a node a lane holds with so many nodes; `None` if it is buffered.
    #[inline]
    pub fn lane_holds(&self, lane: LaneId) -> Option<u32> {
        self.lanes[lane.index()]
    }

    /// Whether a lane's places are those of an outgoing queue: each is free as soon as its message has left the node.
    #[inline]
    pub fn lane_queues(&self, lane: LaneId) -> bool {
        self.protocol.lanes[lane.index()].queues
    }

    /// Most elements of a set.
    #[inline]
    pub(crate) fn most_elements(&self) -> i64 {
        FEW.max(self.nodes).into()
    }

    /// Whether all sets have few elements.
    #[inline]
    pub(crate) fn few(&self) -> bool {
        self.nodes <= FEW
    }

    /// How many words the arguments of an event take, at most: one each, but for sets, arrays and lists.
    pub fn argument_words(&self, event: EventKind) -> usize {
        self.args.words(event)
    }

    /// Whether they may take fewer: there is a list among them.
    pub fn argument_words_vary(&self, event: EventKind) -> bool {
        self.args.vary(event)
    }

    /// How many bytes a record of the role takes. All zero is the record of an object that nobody has touched, unless the
    /// role says what it is at first: [`Engine::first_record`].
    #[inline]
    pub fn record_bytes(&self, role: RoleId) -> usize {
        self.roles[role.index()].bytes
    }

    /// The state in a record.
    #[inline(always)]
    pub fn state(&self, role: RoleId, record: &[u8]) -> StateId {
        StateId(low_u16(get(record, 0, self.roles[role.index()].state_width)))
    }

    /// How many bytes at the beginning of a role's record say its state: 1, or 2 with the lower first.
    #[inline]
    pub fn state_bytes(&self, role: RoleId) -> usize {
        self.roles[role.index()].state_width.into()
    }

    /// Clears the variables of a record that nobody can read again, as is done after each handler. It changes nothing
    /// in a record of this engine's own; records of an engine that never clears become such as this one has.
    pub fn clear_dead(&self, role: RoleId, record: &mut [u8]) {
        self.roles[role.index()].clear_dead(self.state(role, record), record);
    }

    /// The access that the state in a record gives the local thread: none where processors are cached.
    #[inline(always)]
    pub fn access(&self, role: RoleId, record: &[u8]) -> Access {
        self.protocol.roles[role.index()].states[self.state(role, record).index()].access
    }

    /// Whether objects of a kind have an image.
    pub fn has_image(&self, kind: ObjectKindId) -> bool {
        self.protocol.image_of(kind).is_some()
    }

    /// The role that gives a block its tag, on a node that is, or is not, its home.
    #[inline]
    pub fn tag_role(&self, is_home: bool) -> Option<RoleId> {
        self.tag_roles[usize::from(is_home)]
    }

    /// Who answers an event for an object of a kind, on a node that is, or is not, its home.
    ///
    /// A timer belongs to the role whose state it was set for, which is not always the one found here: use
    /// [`Engine::dispatch_to`] for timers.
    #[inline(always)]
    pub fn role_for(&self, event: EventKind, object: ObjectKindId, is_home: bool) -> Option<RoleId> {
        match event {
            EventKind::Message(m) => self.protocol.messages.get(m.index()).map(|m| m.role),
            EventKind::Task(t) => self.protocol.tasks.get(t.index()).map(|t| t.role),
            EventKind::Read
            | EventKind::Write
            | EventKind::Rmw
            | EventKind::Prefetch
            | EventKind::PrefetchWrite
            | EventKind::Evict
            | EventKind::WriteBack
                if object == BLOCK =>
            {
                self.tag_role(is_home)
            }
            _ => self.role_answering(event, object, is_home),
        }
    }

    fn role_answering(&self, event: EventKind, object: ObjectKindId, is_home: bool) -> Option<RoleId> {
        self.roles_of(object, is_home).find(|role| self.answers(*role, event))
    }

    /// All roles about a kind of object that have an instance on a node that is, or is not, its home.
    pub fn roles_of(&self, object: ObjectKindId, is_home: bool) -> impl Iterator<Item = RoleId> + '_ {
        let here = move |role: &trivium_protocol::Role| role.object == object && role.kind.lives_at(is_home);
        let roles = self.protocol.roles.iter().enumerate();
        roles.filter(move |(_, role)| here(role)).map(|(id, _)| RoleId::at(id))
    }

    /// Whether the role answers the event in any state. Events that nobody answers are off: do not raise them.
    #[inline]
    pub fn answers(&self, role: RoleId, event: EventKind) -> bool {
        self.roles[role.index()].column(event).is_some()
    }

    /// Where the events of a role's table have an event: its place among [`trivium_protocol::Role::events`].
    #[inline]
    pub fn column(&self, role: RoleId, event: EventKind) -> Option<usize> {
        self.roles[role.index()].column(event)
    }

    /// Whether threads load and store blocks under this protocol: some role gives access to them, or answers accesses.
    /// Then each node's role must. Else only calls use its blocks.
    pub fn answers_accesses(&self) -> bool {
        let events = [EventKind::Read, EventKind::Write, EventKind::Rmw];
        let accesses = |role: &RoleId| events.iter().any(|event| self.answers(*role, *event));
        self.tag_roles.iter().flatten().any(accesses)
    }

    /// The event that a read-modify-write raises on a node that is, or is not, the block's home: `rmw` if the node's role answers
    /// that, else `write`.
    pub fn event_of_rmw(&self, is_home: bool) -> EventKind {
        match self.tag_role(is_home) {
            Some(role) if self.answers(role, EventKind::Rmw) => EventKind::Rmw,
            _ => EventKind::Write,
        }
    }

    /// What the role does about an event in a state.
    #[inline]
    pub fn response(&self, role: RoleId, state: StateId, event: EventKind) -> &Response {
        match self.roles[role.index()].column(event) {
            Some(column) => &self.protocol.roles[role.index()].table[state.index()][column],
            None => &Response::Impossible,
        }
    }

    /// For each lane, the room that must be there before the event may be dispatched: the most that any of its
    /// handlers may send without asking; 0 for buffered lanes.
    #[inline]
    pub fn room_needed(&self, event: EventKind, role: RoleId, state: StateId) -> &[u32] {
        let room = self.roles[role.index()].room(event, state).unwrap_or(&self.no_room);
        &room[..self.lanes.len()]
    }

    /// The most room on a lane that any event needs in any state ([`Engine::room_needed`]).
    pub fn most_room_needed(&self, lane: LaneId) -> u32 {
        self.roles.iter().map(|role| role.most_room(lane.index())).max().unwrap_or(0)
    }

    /// The queues that lanes share and that may be full although none of these is.
    #[inline]
    pub fn shared(&self) -> &[SharedPlaces] {
        &self.shared
    }

    /// The same, if lanes hold other numbers of messages than they declare.
    pub fn shared_if(&self, holds: impl Fn(LaneId) -> Option<u32>) -> Vec<SharedPlaces> {
        shorter_than_their_lanes(&self.protocol, self.nodes, holds)
    }

    /// Such a queue of a lane.
    #[inline]
    pub fn shared_by(&self, lane: LaneId) -> Option<&SharedPlaces> {
        self.shared.iter().find(|shared| shared.lanes.contains(&lane))
    }

    /// The places that must be free in a shared queue before the event may be dispatched: for the most messages that any of its handlers may send
    /// on the lanes together without asking.
    pub fn places_needed(&self, shared: &SharedPlaces, event: EventKind, role: RoleId, state: StateId) -> u32 {
        let room = self.roles[role.index()].room(event, state).unwrap_or(&self.no_room);
        room.get(self.lanes.len() + shared.number).copied().unwrap_or(0)
    }

    /// The places for which a question asks at least, with so many nodes.
    #[inline]
    pub(crate) fn at_least(&self, together: Bound) -> u32 {
        u32::try_from(together.at(self.nodes).max(0)).unwrap_or(u32::MAX)
    }

    /// Whether a message of a lane may need room before it is dispatched: its handler may send without asking on a finite lane.
    pub fn needs_room_on(&self, lane: LaneId) -> bool {
        let mut messages =
            (0..).map(MessageId).zip(&self.protocol.messages).filter(|(_, message)| message.lane == lane);
        messages.any(|(id, message)| {
            let mut states = (0..self.protocol.roles[message.role.index()].states.len()).map(StateId::at);
            states
                .any(|state| self.room_needed(EventKind::Message(id), message.role, state).iter().any(|&room| room > 0))
        })
    }

    /// Whether a deferred event is to be tried before any other event of the record.
    #[inline]
    pub fn replay_due(&self, role: RoleId, record: &[u8]) -> bool {
        match &self.roles[role.index()].defers {
            Some(defers) => defers.cursor(record) < defers.len(record),
            None => false,
        }
    }

    /// The deferred event that [`Engine::replay`] would try next. It stays where it is.
    #[inline]
    pub fn replay_event(&self, role: RoleId, object: Object, record: &[u8]) -> Option<Event> {
        let defers = self.roles[role.index()].defers.as_ref()?;
        let cursor = defers.cursor(record);
        if cursor < defers.len(record) { defers.event(record, cursor, object) } else { None }
    }

    /// Whether a record has deferred events.
    #[inline]
    pub fn has_deferred(&self, role: RoleId, record: &[u8]) -> bool {
        self.roles[role.index()].defers.as_ref().is_some_and(|defers| defers.len(record) > 0)
    }

    /// Whether a role has no place for another deferred event, and lets it stall.
    pub(crate) fn pushes_back(&self, role: RoleId, record: &[u8]) -> bool {
        self.protocol.roles[role.index()].pushes_back
            && self.roles[role.index()].defers.as_ref().is_some_and(|defers| defers.is_full(record))
    }

    /// Whether a thread keeps an event that is to be deferred, since there is no place for it.
    pub(crate) fn leaves_with_thread(&self, role: RoleId, record: &[u8], event: &Event, replay: Option<u32>) -> bool {
        replay.is_none() && event.has_caller() && self.pushes_back(role, record)
    }

    /// All deferred events of a record, oldest first; their payloads are alive.
    pub fn deferred(&self, role: RoleId, object: Object, record: &[u8]) -> Vec<Event> {
        match &self.roles[role.index()].defers {
            Some(defers) => (0..defers.len(record)).filter_map(|i| defers.event(record, i, object)).collect(),
            None => Vec::new(),
        }
    }

    /// How a variable, not a field of it, is kept.
    #[inline]
    pub(crate) fn shape(&self, place: &Place) -> Option<&Shape> {
        self.roles.get(place.role.index())?.vars.get(place.var.index())
    }

    /// Where a scalar variable, or a field of a record, lies.
    #[inline]
    pub(crate) fn cell(&self, place: &Place, span: Span) -> Try<Cell> {
        match (self.shape(place), place.field) {
            (Some(Shape::Scalar(cell)), None) => Ok(*cell),
            (Some(Shape::Record(fields)), field) => match fields.get(field.unwrap_or(0) as usize) {
                Some(cell) => Ok(*cell),
                None => trouble(FaultKind::Malformed, span),
            },
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    /// Where a set variable lies.
    #[inline]
    pub(crate) fn set_cell(&self, place: &Place, span: Span) -> Try<SetCell> {
        match self.shape(place) {
            Some(Shape::Set(set)) => Ok(*set),
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    /// What the sets may be that are elements of an array.
    pub(crate) fn set_in_array(&self, place: &Place, span: Span) -> Try<SetCell> {
        let (Some(Shape::Array(_)), Type::Array { of, .. }) =
            (self.shape(place), &self.protocol.roles[place.role.index()].vars[place.var.index()].ty)
        else {
            return trouble(FaultKind::Malformed, span);
        };
        let (lo, count) = self.set_range(of);
        Ok(SetCell { at: 0, lo, count: fit(count, "the size of a set"), nodes: **of == Type::NodeSet })
    }

    /// Where a list lies.
    #[inline]
    pub(crate) fn list_cell(&self, place: &Place, span: Span) -> Try<&ListCell> {
        match self.shape(place) {
            Some(Shape::List(list)) => Ok(list),
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    /// Whether a variable is an array.
    #[inline]
    pub(crate) fn is_array(&self, place: &Place) -> bool {
        matches!(self.shape(place), Some(Shape::Array(_)))
    }

    /// Where an array lies that is a variable.
    pub(crate) fn array_cell(&self, place: &Place, span: Span) -> Try<&ArrayCell> {
        match self.shape(place) {
            Some(Shape::Array(array)) => Ok(array),
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    /// How an array or a list lies that is a local.
    pub(crate) fn local_shape(&self, ty: &Type, span: Span) -> Try<&Shape> {
        match self.find_local_shape(ty) {
            Some(shape) => Ok(shape),
            None => trouble(FaultKind::Malformed, span),
        }
    }

    fn find_local_shape(&self, ty: &Type) -> Option<&Shape> {
        self.local_shapes.iter().find(|(known, _)| known == ty).map(|(_, shape)| shape)
    }

    /// The values that a local of this type takes of such an expression, where that has to be looked at.
    pub(crate) fn range_of_local(&self, ty: &Type, value: &Expr) -> Option<(i64, i64)> {
        match ty {
            Type::Int { lo, hi } => Some((lo.at(self.nodes), hi.at(self.nodes))),
            Type::Object(_) if !matches!(value.ty, Type::Object(_)) => Some((0, i64::from(u32::MAX))),
            _ => None,
        }
    }

    /// The least possible element of a set type, and how many are possible.
    #[inline]
    pub(crate) fn set_range(&self, ty: &Type) -> (i64, i64) {
        match ty {
            Type::IntSet { lo, hi } => {
                let lo = lo.at(self.nodes);
                (lo, hi.at(self.nodes).saturating_sub(lo).saturating_add(1).min(self.most_elements()))
            }
            _ => (0, i64::from(self.nodes)),
        }
    }

    /// The arguments of an event become a handler's first locals.
    #[inline]
    pub(crate) fn bind_args(&self, handler: &Handler, event: &Event, scalars: &mut [i64], sets: &mut [Set]) {
        let mut words = event.args.words();
        for local in &handler.locals[..usize::from(handler.args)] {
            match local.slot {
                Slot::Scalars { at, .. } => {
                    let (first, rest) = words.split_first().unwrap_or((&0, &[]));
                    (scalars[usize::from(at)], words) = (*first, rest);
                }
                Slot::Set { at } => {
                    let (own, rest) = self.words_of_local(&local.ty, words).unwrap_or((words, &[]));
                    let to = sets[usize::from(at)].0.iter_mut();
                    to.zip(own).for_each(|(to, from)| *to = from.cast_unsigned());
                    words = rest;
                }
            }
        }
    }

    /// The words of a local set, array or list that is an argument and begins here, and those behind it.
    fn words_of_local<'w>(&self, ty: &Type, words: &'w [i64]) -> Option<(&'w [i64], &'w [i64])> {
        match ty {
            Type::Array { .. } | Type::List { .. } => self.find_local_shape(ty)?.split(words),
            _ => words.split_at_checked(index_of_word(self.set_range(ty).1).div_ceil(64)),
        }
    }

    /// Whether a number is that of a node.
    #[inline]
    pub(crate) fn node(&self, value: i64) -> Result<u16, FaultKind> {
        match value {
            -1 => Err(FaultKind::NoneUsed),
            node if (0..i64::from(self.nodes)).contains(&node) => Ok(fit(node, "the number of a node")),
            node => Err(FaultKind::NoSuchNode(node)),
        }
    }
}
