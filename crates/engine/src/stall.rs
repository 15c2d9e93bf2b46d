//! Whether an event stalls: its answer, as the records are now, is `stall`, and nothing happens (`docs/semantics.md`, section 3).
//!
//! That is found without running anything: before a `stall` there are conditions and locals only, which look at the event and at
//! records of its node. So it can be asked of a message as often as one likes, and leaves no trace.

use crate::engine::Engine;
use crate::evaluate::{Scope, array, scalar, set, truth};
use crate::event::Event;
use crate::fault::{FaultKind, Locate, Try, trouble};
use crate::invariant::SystemView;
use crate::mechanisms::{Node, Object};
use crate::set::Set;
use trivium_protocol::source::Span;
use trivium_protocol::*;

/// Why an event stalls.
#[derive(Clone, Debug)]
pub struct Stalled {
    /// The state in which it does.
    pub state: StateId,
    /// The handler that says so; none if the state says it of the event.
    pub handler: Option<HandlerId>,
    /// The conditions at which the answer has looked, in order.
    pub looked: Vec<Look>,
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
        let state = self.state(role, world.record(me, role, event.object));
        let may = self.may_stall_in(role, state, event.kind);
        may.then(|| self.tries(role, state, event, me, world).unwrap_or(None))?
    }

    fn tries<W: SystemView>(
        &self,
        role: RoleId,
        state: StateId,
        event: &Event,
        me: Node,
        world: &W,
    ) -> Try<Option<Stalled>> {
        let mut looked = Vec::new();
        let declared = &self.protocol.roles[role.index()];
        let handlers = match self.response(role, state, event.kind) {
            Response::Handle(handlers) => handlers,
            response => return Ok((*response == Response::Hold).then_some(Stalled { state, handler: None, looked })),
        };
        for id in handlers {
            let handler = &declared.handlers[id.index()];
            let mut scalars = vec![0; usize::from(handler.scalars)];
            let mut sets = vec![Set::default(); usize::from(handler.sets)];
            self.bind_args(handler, event, &mut scalars, &mut sets);
            let mut trial = Trial { engine: self, world, me, event, handler, scalars, sets, looked };
            let holds = match &handler.guard {
                Some(guard) => trial.looks(guard, None)?,
                None => true,
            };
            if holds {
                let stalls = trial.follow(&handler.steps)?;
                return Ok(stalls.then_some(Stalled { state, handler: Some(*id), looked: trial.looked }));
            }
            looked = trial.looked;
        }
        Ok(None)
    }
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
}

impl<'e, W: SystemView> Trial<'e, '_, W> {
    /// Whether these steps come to a `stall` before they come to anything that has an effect.
    fn follow(&mut self, steps: &[Step]) -> Try<bool> {
        for step in steps {
            match &step.kind {
                StepKind::Stall => return Ok(true),
                StepKind::Let(local, values) => self.keep(*local, values, step.span)?,
                // After it there is nothing more on a way to a `stall`: the compiler has put that into its branches.
                StepKind::If(condition, yes, no) => {
                    let way = if self.looks(condition, Some(step.span))? { yes } else { no };
                    return self.follow(way);
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
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
            (Slot::Set { at }, [value]) if matches!(value.ty, Type::Array { .. }) => {
                let values = array(self, value)?;
                let cell = self.engine.local_array(&value.ty, value.span)?;
                self.sets[usize::from(at)] = cell.to_words(values.into_iter());
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
        Ok(self.world.record(self.me, role, object))
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
                let state = self.engine.state(*role, self.world.record(self.me, *role, object));
                Ok(i64::from(states.contains(&state)))
            }
            _ => trouble(FaultKind::Malformed, expr.span),
        }
    }
}
