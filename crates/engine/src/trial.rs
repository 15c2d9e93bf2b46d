//! What an event would come to as the records are now: whether it stalls, or would be deferred again (`docs/semantics.md`, sections 3 and 4).
//!
//! That is found without running anything: before a `stall`, and before a `defer` that is looked at again, there are conditions and locals
//! only, which look at the event and at records of its node. So it can be asked as often as one likes, and leaves no trace.

use crate::engine::Engine;
use crate::evaluate::{Scope, array, array_words, scalar, set, truth};
use crate::event::Event;
use crate::fault::{FaultKind, Locate, Try, trouble};
use crate::invariant::SystemView;
use crate::mechanisms::{Node, Object};
use crate::set::Set;
use trivium_protocol::again::seen_once;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// Why an event stalls, or is deferred.
#[derive(Clone, Debug)]
pub struct Stalled {
    /// The state in which it does.
    pub state: StateId,
    /// The handler that says so; none if the state says it of the event.
    pub handler: Option<HandlerId>,
    /// The conditions at which the answer has looked, in order.
    pub looked: Vec<Look>,
    /// Whether it would be deferred, and finds no place.
    pub is_full: bool,
}

/// A condition on the way to a `stall`.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// The `if` whose condition it is; none of a guard.
    pub step: Option<Span>,
    /// Where it stands.
    pub condition: Span,
    /// Whether it is true.
    pub holds: bool,
}

impl Engine {
    /// Whether any event of the protocol may stall.
    #[inline]
    pub fn may_stall(&self) -> bool {
        self.may_stall
    }

    /// Whether a message of a lane may stall.
    pub fn may_stall_on(&self, lane: LaneId) -> bool {
        let mut messages = (0..).map(MessageId).zip(&self.protocol.messages);
        messages.any(|(id, message)| {
            let role = &self.protocol.roles[message.role.index()];
            let mut states = (0..role.states.len()).map(StateId::at);
            message.lane == lane && states.any(|state| self.may_stall_in(message.role, state, EventKind::Message(id)))
        })
    }

    /// Whether an event may stall in some state of the role that answers it.
    #[inline]
    fn may_stall_in(&self, role: RoleId, state: StateId, kind: EventKind) -> bool {
        self.column(role, kind).is_some_and(|column| self.stalls[role.index()].may(state, column))
    }

    /// Whether an event that a role of node `me` answers stalls as things are. What goes wrong on the way is no stall: the event is
    /// then dispatched, and is the same fault there.
    #[inline]
    pub fn stalls<W: SystemView>(&self, role: RoleId, event: &Event, me: Node, world: &W) -> bool {
        self.may_stall && self.stalled_by(role, event, me, world).is_some()
    }

    /// Why an event stalls; none if it does not.
    pub fn stalled_by<W: SystemView>(&self, role: RoleId, event: &Event, me: Node, world: &W) -> Option<Stalled> {
        let state = self.state_seen(role, event.object, me, world).ok()?;
        if !self.may_stall_in(role, state, event.kind) {
            return None;
        }
        match self.tries(role, state, event, me, world) {
            Ok((Some(End::Stalls), stalled)) => Some(stalled),
            Ok((Some(End::Defers), stalled)) => {
                let is_full = self.pushes_back(role, world.record(me, role, event.object));
                is_full.then_some(Stalled { is_full, ..stalled })
            }
            _ => None,
        }
    }

    /// Whether events that a role has deferred may be tried again because some other record than their own has changed.
    #[inline]
    pub fn defers_by_look(&self, role: RoleId) -> bool {
        self.roles[role.index()].by_look.any()
    }

    /// Of the deferred events of a record that have been tried, the place of the first whose answer would be another one by now, whichever
    /// record of the node has changed since.
    pub fn other_answer<W: SystemView>(&self, role: RoleId, object: Object, me: Node, world: &W) -> Option<u32> {
        let plan = &self.roles[role.index()];
        let record = world.record(me, role, object);
        let defers = plan.defers.as_ref()?;
        let state = self.state(role, record);
        (0..defers.cursor(record).min(defers.len(record))).find(|&at| {
            let Some(event) = defers.event(record, at, object) else { return false };
            self.column(role, event.kind).is_some_and(|column| plan.by_look.may(state, column))
                && match self.tries(role, state, &event, me, world) {
                    Ok((Some(End::Defers), _)) => false,
                    // What a thread wants is held by then; a message stays where it is.
                    Ok((Some(End::Stalls), _)) => event.has_caller(),
                    Ok((None, _)) => true,
                    Err(trouble) => trouble.kind != FaultKind::Malformed,
                }
        })
    }

    /// Why a deferred event would be deferred again, if that is found by looking.
    pub fn deferred_by<W: SystemView>(&self, role: RoleId, event: &Event, me: Node, world: &W) -> Option<Stalled> {
        let state = self.state_seen(role, event.object, me, world).ok()?;
        let column = self.column(role, event.kind)?;
        if !self.roles[role.index()].by_look.may(state, column) {
            return None;
        }
        match self.tries(role, state, event, me, world) {
            Ok((Some(End::Defers), looked)) => Some(looked),
            _ => None,
        }
    }

    /// Deferred events of a record are tried again from this place on.
    pub fn try_from(&self, role: RoleId, record: &mut [u8], at: u32) {
        if let Some(defers) = &self.roles[role.index()].defers {
            defers.set_cursor(record, at);
        }
    }

    /// The state of an instance, also of one that nobody has touched yet.
    fn state_seen<W: SystemView>(&self, role: RoleId, object: Object, me: Node, world: &W) -> Try<StateId> {
        let first = self.untouched(role, object, me, world, self.protocol.roles[role.index()].span)?;
        Ok(self.state(role, first.as_deref().unwrap_or_else(|| world.record(me, role, object))))
    }

    /// What a record is that nobody has touched yet, where its role says more of it than that it is all zero.
    fn untouched<W: SystemView>(
        &self,
        role: RoleId,
        object: Object,
        me: Node,
        world: &W,
        span: Span,
    ) -> Try<Option<Vec<u8>>> {
        if !self.has_initially(role) || world.is_touched(me, role, object) {
            return Ok(None);
        }
        let first = self.first_record(role, object, me, world.home(object), &mut |_, _| {});
        first.map(Some).map_err(|_| FaultKind::Malformed).at(span)
    }

    /// Follows the handler that would run: how that ends, if nothing happens, and at what it has looked.
    fn tries<W: SystemView>(
        &self,
        role: RoleId,
        state: StateId,
        event: &Event,
        me: Node,
        world: &W,
    ) -> Try<(Option<End>, Stalled)> {
        let mut seen = Stalled { state, handler: None, looked: Vec::new(), is_full: false };
        let declared = &self.protocol.roles[role.index()];
        let handlers = match self.response(role, state, event.kind) {
            Response::Handle(handlers) => handlers,
            Response::Hold => return Ok((Some(End::Stalls), seen)),
            Response::Defer => return Ok((Some(End::Defers), seen)),
            Response::Impossible | Response::Passes => return Ok((None, seen)),
        };
        for id in handlers {
            let handler = &declared.handlers[id.index()];
            let mut scalars = vec![0; usize::from(handler.scalars)];
            let mut sets = vec![Set::default(); usize::from(handler.sets)];
            self.bind_args(handler, event, &mut scalars, &mut sets);
            let (looked, fresh) = (seen.looked, Vec::new());
            let mut trial = Trial { engine: self, world, me, event, handler, scalars, sets, looked, fresh };
            let holds = match &handler.guard {
                Some(guard) => trial.looks(guard, None)?,
                None => true,
            };
            let end = if holds { trial.follow(&handler.steps)? } else { None };
            seen.looked = trial.looked;
            if holds {
                return Ok((end, Stalled { handler: Some(*id), ..seen }));
            }
        }
        Ok((None, seen))
    }
}

/// How a handler ends that does nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Stalls,
    Defers,
}

/// Where some of its steps lead.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leads {
    Ends(End),
    /// Something happens.
    Happens,
    /// To the next step.
    On,
}

/// A handler that is followed as far as nothing has happened.
struct Trial<'e, 'w, W> {
    engine: &'e Engine,
    world: &'w W,
    me: Node,
    event: &'w Event,
    handler: &'e Handler,
    scalars: Vec<i64>,
    sets: Vec<Set>,
    /// The conditions at which it has looked.
    looked: Vec<Look>,
    /// The record at which it looks, if nobody has touched that yet.
    fresh: Vec<u8>,
}

impl<'e, W: SystemView> Trial<'e, '_, W> {
    /// How these steps end, if they do nothing.
    fn follow(&mut self, steps: &[Step]) -> Try<Option<End>> {
        Ok(match self.goes(steps)? {
            Leads::Ends(end) => Some(end),
            Leads::Happens | Leads::On => None,
        })
    }

    fn goes(&mut self, steps: &[Step]) -> Try<Leads> {
        for step in steps {
            match &step.kind {
                StepKind::Stall => return Ok(Leads::Ends(End::Stalls)),
                StepKind::Defer => return Ok(Leads::Ends(End::Defers)),
                StepKind::Let(local, values) if values.iter().all(|value| seen_once(value).is_none()) => {
                    self.keep(*local, values, step.span)?;
                }
                StepKind::If(condition, yes, no) if seen_once(condition).is_none() => {
                    let branch = if self.looks(condition, Some(step.span))? { yes } else { no };
                    let way = self.goes(branch)?;
                    if way != Leads::On {
                        return Ok(way);
                    }
                }
                // No `stall` or `defer` that is looked at again comes after it.
                _ => return Ok(Leads::Happens),
            }
        }
        Ok(Leads::On)
    }

    fn looks(&mut self, condition: &Expr, step: Option<Span>) -> Try<bool> {
        let holds = truth(self, condition)?;
        self.looked.push(Look { step, condition: condition.span, holds });
        Ok(holds)
    }

    fn keep(&mut self, local: LocalId, values: &[Expr], span: Span) -> Try<()> {
        let handler = self.handler;
        match (handler.locals[local.index()].slot, values) {
            (Slot::Scalars { at, .. }, values) => {
                for (field, value) in values.iter().enumerate() {
                    self.scalars[usize::from(at) + field] = scalar(self, value)?;
                }
                Ok(())
            }
            (Slot::Set { at }, [value]) if matches!(value.ty, Type::Array { .. } | Type::List { .. }) => {
                let values = array(self, value)?;
                let ty = &handler.locals[local.index()].ty;
                self.sets[usize::from(at)] = array_words(self.engine, ty, values, value.span)?;
                Ok(())
            }
            (Slot::Set { at }, [value]) => {
                let mut elements = Set::default();
                set(self, value, &mut elements)?;
                self.sets[usize::from(at)] = elements;
                Ok(())
            }
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    /// The object of the record that an owner means.
    fn object_of(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<Object> {
        let kind = self.engine.protocol.roles[role.index()].object;
        let id = match owner {
            Owner::RoleOf(_, id) => {
                let value = scalar(self, id)?;
                let range = FaultKind::Range { value, lo: 0, hi: i64::from(u32::MAX) };
                u32::try_from(value).map_err(|_| range).at(span)?
            }
            _ if kind == NODE => 0,
            _ => self.event.object.id,
        };
        let object = Object { kind, id };
        let lives =
            kind == NODE || self.engine.protocol.roles[role.index()].kind.lives_at(self.world.home(object) == self.me);
        if lives { Ok(object) } else { trouble(FaultKind::NotHere, span) }
    }
}

impl<'e, W: SystemView> Scope<'e> for Trial<'e, '_, W> {
    fn engine(&self) -> &'e Engine {
        self.engine
    }

    fn local(&self, local: LocalId, field: u16) -> Option<i64> {
        match self.handler.locals.get(local.index())?.slot {
            Slot::Scalars { at, .. } => self.scalars.get(usize::from(at + field)).copied(),
            Slot::Set { .. } => None,
        }
    }

    fn local_set(&self, local: LocalId) -> Option<Set> {
        match self.handler.locals.get(local.index())?.slot {
            Slot::Set { at } => self.sets.get(usize::from(at)).cloned(),
            Slot::Scalars { .. } => None,
        }
    }

    fn local_type(&self, local: LocalId) -> Option<&'e Type> {
        self.handler.locals.get(local.index()).map(|local| &local.ty)
    }

    fn record(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<&[u8]> {
        let object = self.object_of(owner, role, span)?;
        match self.engine.untouched(role, object, self.me, self.world, span)? {
            Some(first) => {
                self.fresh = first;
                Ok(&self.fresh)
            }
            None => Ok(self.world.record(self.me, role, object)),
        }
    }

    fn home(&mut self, object: Object) -> Node {
        self.world.home(object)
    }

    fn block_bytes(&self) -> u64 {
        self.world.block_bytes()
    }

    fn own(&mut self, expr: &Expr) -> Try<i64> {
        match &expr.kind {
            ExprKind::Me => Ok(i64::from(self.me)),
            ExprKind::Home if self.event.object.kind == NODE => Ok(i64::from(self.me)),
            ExprKind::Home => Ok(i64::from(self.world.home(self.event.object))),
            ExprKind::Sender => Ok(i64::from(self.event.sender)),
            ExprKind::Caller => Ok(i64::from(self.event.thread)),
            ExprKind::Object => Ok(i64::from(self.event.object.id)),
            ExprKind::InState(owner, role, states) => {
                let object = self.object_of(owner, *role, expr.span)?;
                let state = self.engine.state_seen(*role, object, self.me, self.world)?;
                Ok(i64::from(states.contains(&state)))
            }
            _ => trouble(FaultKind::Malformed, expr.span),
        }
    }
}
