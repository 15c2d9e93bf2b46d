//! A handler while it runs: its locals, the records that it has looked at, and what its expressions see.
//!
//! `flat` runs its flat code. The walk over its steps, which is the oracle for it, is in [`execute`]: control there, variables
//! and effects in modules of their own.

mod effects;
mod execute;
mod flat;
mod touched;
mod variables;

use crate::engine::Engine;
use crate::evaluate::{Scope, scalar, truth};
use crate::event::Event;
use crate::fault::{FaultKind, Locate, Try, trouble};
use crate::frame::Frame;
use crate::layout::get;
use crate::mechanisms::{Charge, Mechanisms, Node, Object};
use crate::number::low_u16;
use crate::set::Set;
use touched::{Touch, Touches};
use trivium_protocol::source::Span;
use trivium_protocol::{
    Bound, EventKind, Expr, ExprKind, Handler, LaneId, LocalId, NODE, Owner, Place, RoleId, RoleKind, Slot, StateId,
    Type,
};

/// A handler while it runs.
pub(crate) struct Run<'e, 'm, M> {
    engine: &'e Engine,
    m: &'m mut M,
    me: Node,
    event: &'m Event,
    handler: &'e Handler,
    frame: Frame<'m>,
    /// Whose variables and state `Owner::Current` means; differs from the event's inside `Elsewhere`.
    role: RoleId,
    object: Object,
    /// The record of the role that answers.
    first: Touch,
    /// Others, in the order in which they were touched.
    others: Touches,
    column: usize,
    /// The place in the defer space from which the event was taken, if this is a replay.
    replay: Option<u32>,
    deferred: bool,
    stalled: bool,
    steps: u32,
    /// Whether the innermost loop is to end.
    stopped: bool,
}

/// What a handler needs to know of its event.
#[derive(Clone, Copy)]
pub(crate) struct Start<'m> {
    pub event: &'m Event,
    pub role: RoleId,
    pub before: StateId,
    pub column: usize,
    pub replay: Option<u32>,
}

impl<'e, 'm, M: Mechanisms> Run<'e, 'm, M> {
    /// A handler that is about to run, once its arguments are bound. Its guard has not been looked at.
    // Inlined, and nothing else done to it here, so that it is made where it stays: it is large, and a copy would have
    // to wait until it has been written.
    #[inline(always)]
    pub fn new(engine: &'e Engine, m: &'m mut M, frame: Frame<'m>, handler: &'e Handler, start: Start<'m>) -> Self {
        let first = Touch { role: start.role, object: start.event.object, before: start.before, written: true };
        Run {
            engine,
            me: m.me(),
            m,
            event: start.event,
            handler,
            frame,
            role: start.role,
            object: start.event.object,
            first,
            others: Touches::none(first),
            column: start.column,
            replay: start.replay,
            deferred: false,
            stalled: false,
            steps: 0,
            stopped: false,
        }
    }

    /// The event's arguments become the first locals.
    pub fn bind_args(&mut self) {
        self.engine.bind_args(self.handler, self.event, self.frame.scalars, self.frame.sets);
    }

    /// Tries another handler for the same event.
    pub fn try_next(&mut self, handler: &'e Handler) {
        self.handler = handler;
        self.frame.sets.fill(Set::default());
        self.bind_args();
    }

    /// Whether the handler's guard holds.
    pub fn guard(&mut self) -> Try<bool> {
        match &self.handler.guard {
            Some(guard) => {
                self.m.charge(Charge::Steps(1));
                truth(self, guard)
            }
            None => Ok(true),
        }
    }

    /// Runs the handler to its end. Gives the state.
    pub fn run(&mut self) -> Try<StateId> {
        self.execute(&self.handler.steps)?;
        Ok(self.settle_all())
    }

    /// Whether the event was deferred.
    pub fn deferred(&self) -> bool {
        self.deferred
    }

    /// Whether the event stays where it is.
    pub fn stalled(&self) -> bool {
        self.stalled
    }

    /// How many steps were executed.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The end of a handler for one record: variables that are dead in its state are cleared, and when the state
    /// has changed the deferred events are all to be tried again.
    fn settle(&mut self, touch: Touch) -> StateId {
        let plan = &self.engine.roles[touch.role.index()];
        let record = self.m.record(touch.role, touch.object);
        let after = StateId(low_u16(get(record, 0, plan.state_width)));
        plan.clear_dead(after, record);
        if after != touch.before {
            if let Some(defers) = &plan.defers {
                defers.set_cursor(record, 0);
            }
            self.m.state_changed(touch.role, touch.object, touch.before, after);
        }
        after
    }

    /// The number of an object, from an expression.
    fn object_number(&mut self, expr: &Expr) -> Try<u32> {
        let value = scalar(self, expr)?;
        let range = FaultKind::Range { value, lo: 0, hi: i64::from(u32::MAX) };
        u32::try_from(value).map_err(|_| range).at(expr.span)
    }

    /// Whose record an owner means.
    fn resolve(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<(RoleId, Object)> {
        let roles = &self.engine.protocol.roles;
        match owner {
            Owner::Current if role == self.role => Ok((self.role, self.object)),
            // Inside `Elsewhere`, what the handler's own role passes to an action of the other one.
            Owner::Current if role == self.first.role => Ok((role, self.first.object)),
            Owner::Current | Owner::Role(_) | Owner::At(..) => {
                if let Owner::At(_, node) = owner
                    && scalar(self, node)? != i64::from(self.me)
                {
                    return trouble(FaultKind::NotHere, span);
                }
                match roles[role.index()].object {
                    kind if kind == self.object.kind => Ok((role, self.object)),
                    NODE => Ok((role, Object { kind: NODE, id: 0 })),
                    _ => trouble(FaultKind::NotHere, span),
                }
            }
            Owner::RoleOf(_, object) => {
                let id = self.object_number(object)?;
                Ok((role, Object { kind: roles[role.index()].object, id }))
            }
        }
    }

    /// Whether this node has an instance of a role for an object. A ghost hears what handlers tell it, wherever they run.
    fn lives_here(&self, role: RoleId, object: Object) -> bool {
        let kind = self.engine.protocol.roles[role.index()].kind;
        object.kind == NODE || kind == RoleKind::Ghost || kind.lives_at(self.m.home(object) == self.me)
    }

    /// Notes that a record is looked at, or changed.
    fn touch(&mut self, role: RoleId, object: Object, written: bool, span: Span) -> Try<()> {
        let is_first = role == self.first.role && object == self.first.object;
        if !is_first && self.others.find(role, object).is_none() && !self.lives_here(role, object) {
            return trouble(FaultKind::NotHere, span);
        }
        self.note(role, object, written);
        Ok(())
    }

    /// The same of a record that is known to be on this node.
    fn note(&mut self, role: RoleId, object: Object, written: bool) {
        if role == self.first.role && object == self.first.object {
            return;
        }
        if let Some(touch) = self.others.find(role, object) {
            touch.written |= written;
            return;
        }
        self.m.charge(Charge::Record(role, self.engine.protocol.roles[role.index()].kind));
        let before = self.engine.state(role, self.m.record(role, object));
        self.others.push(Touch { role, object, before, written });
    }

    /// Whether a record, if it is on this node, is in one of these states.
    fn in_state(&mut self, role: RoleId, object: Object, states: &[StateId]) -> bool {
        if !self.lives_here(role, object) {
            return false;
        }
        self.note(role, object, false);
        let state = self.engine.state(role, self.m.record(role, object));
        states.contains(&state)
    }

    /// Whether an owner means the record whose steps run, which has been noted already.
    fn is_own(&self, owner: &Owner, role: RoleId) -> bool {
        matches!(owner, Owner::Current) && role == self.role
    }

    /// The record in which a variable is going to be changed.
    fn record_mut(&mut self, place: &Place, span: Span) -> Try<&mut [u8]> {
        if self.is_own(&place.owner, place.role) {
            return Ok(self.m.record(self.role, self.object));
        }
        let (role, object) = self.resolve(&place.owner, place.role, span)?;
        self.touch(role, object, true, span)?;
        Ok(self.m.record(role, object))
    }

    fn caller(&self) -> i64 {
        if self.event.has_caller() { i64::from(self.event.thread) } else { -1 }
    }

    /// A byte offset or a number of bytes.
    fn address(&mut self, expr: &Expr) -> Try<u64> {
        let value = scalar(self, expr)?;
        u64::try_from(value).map_err(|_| FaultKind::BadAddress(value)).at(expr.span)
    }
}

impl<'e, M: Mechanisms> Scope<'e> for Run<'e, '_, M> {
    fn engine(&self) -> &'e Engine {
        self.engine
    }

    fn choose(&mut self, nodes: impl Iterator<Item = Node>) -> Option<Node> {
        self.m.choose(nodes)
    }

    fn local(&self, local: LocalId, field: u16) -> Option<i64> {
        match self.handler.locals.get(local.index())?.slot {
            Slot::Scalars { at, count } if field < count => Some(self.frame.scalars[(at + field) as usize]),
            _ => None,
        }
    }

    fn local_set(&self, local: LocalId) -> Option<Set> {
        match self.handler.locals.get(local.index())?.slot {
            Slot::Set { at } => Some(self.frame.sets[at as usize]),
            Slot::Scalars { .. } => None,
        }
    }

    fn local_type(&self, local: LocalId) -> Option<&'e Type> {
        self.handler.locals.get(local.index()).map(|local| &local.ty)
    }

    fn record(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<&[u8]> {
        if self.is_own(owner, role) {
            return Ok(self.m.record(self.role, self.object));
        }
        let (role, object) = self.resolve(owner, role, span)?;
        self.touch(role, object, false, span)?;
        Ok(self.m.record(role, object))
    }

    fn home(&mut self, object: Object) -> Node {
        self.m.home(object)
    }

    fn block_bytes(&self) -> u64 {
        self.m.block_bytes()
    }

    fn own(&mut self, expr: &Expr) -> Try<i64> {
        Ok(match &expr.kind {
            ExprKind::Sender => match self.event.kind {
                EventKind::Message(_) => i64::from(self.event.sender),
                _ => i64::from(self.me),
            },
            ExprKind::Me => i64::from(self.me),
            ExprKind::Made(slot, most) => {
                let slot = scalar(self, slot)?;
                self.engine.made(self.me, slot, *most)
            }
            ExprKind::Home if self.object.kind == NODE => i64::from(self.me),
            ExprKind::Home => i64::from(self.m.home(self.object)),
            ExprKind::Caller => self.caller(),
            ExprKind::Object => i64::from(self.object.id),
            ExprKind::FaultAddress => self.m.pending(self.event.thread).address.cast_signed(),
            ExprKind::FaultSize => i64::from(self.m.pending(self.event.thread).size),
            ExprKind::FaultValue => self.m.pending(self.event.thread).value.cast_signed(),
            ExprKind::FaultOperation => self.m.pending(self.event.thread).operation.number(),
            ExprKind::FaultExpected => self.m.pending(self.event.thread).expected.cast_signed(),
            ExprKind::Room(lane, count, together) => self.room(*lane, count, *together)?,
            ExprKind::Memory(address) => {
                let address = self.address(address)?;
                self.m.load(address).cast_signed()
            }
            ExprKind::BlockAt(address) => {
                let address = self.address(address)?;
                self.m.block_at(address).map_or(-1, i64::from)
            }
            ExprKind::Probe => self.m.probe(self.object) as i64,
            ExprKind::ImageWord => self.m.image_word(self.object).cast_signed(),
            ExprKind::InState(owner, role, states) => {
                let (role, object) = self.resolve(owner, *role, expr.span)?;
                i64::from(self.in_state(role, object, states))
            }
            _ => return trouble(FaultKind::Malformed, expr.span),
        })
    }
}

impl<M: Mechanisms> Run<'_, '_, M> {
    fn room(&mut self, lane: LaneId, count: &Expr, together: Bound) -> Try<i64> {
        let value = scalar(self, count)?;
        let range = FaultKind::Range { value, lo: 0, hi: i64::from(u32::MAX) };
        let count = u32::try_from(value).map_err(|_| range).at(count.span)?;
        Ok(i64::from(self.m.room(lane, count, self.engine.at_least(together))))
    }
}
