//! From an event to its handler: who answers, what the table says, and the replay of deferred events.

use crate::engine::Engine;
use crate::event::{Disposition, Event, Outcome};
use crate::fault::{Fault, FaultKind, Locate, Trouble, Try, place, trouble};
use crate::flat::{Reaction, Way};
use crate::frame::{
    Frame, LargeFlatRoom, LargeRoom, NoSetRoom, OneSetRoom, OneWholeRoom, Room, SmallFlatRoom, SmallRoom, WholesRoom,
    WideFlatRoom,
};
use crate::impossible::impossible;
use crate::layout::Shape;
use crate::mechanisms::{Args, Charge, Mechanisms, Node, Object};
use crate::run::{Run, Start};
use trivium_protocol::source::Span;
use trivium_protocol::{EventKind, HandlerId, NODE, Response, RoleId, StateId};

/// What came of an event: what an [`Outcome`] says besides who answered, in parts that are read as they were written.
struct Came {
    after: StateId,
    /// The handler, if one `ran`.
    handler: HandlerId,
    ran: bool,
    disposition: Disposition,
    steps: u32,
}

impl Came {
    /// What the handler has said of its event, besides handling it.
    #[inline(always)]
    fn answered<M: Mechanisms>(&mut self, run: &Run<'_, '_, M>) {
        if run.deferred() {
            self.disposition = Disposition::Deferred;
        }
        if run.stalled() {
            self.disposition = Disposition::Held;
        }
    }
}

impl<const SCALARS: usize, const SETS: usize, const WHOLES: usize> Room<SCALARS, SETS, WHOLES> {
    /// Runs the first handler whose guard holds, as flat code, in this room. By itself, so that the rooms of the others are not on its stack.
    #[inline(never)]
    fn respond<M: Mechanisms>(
        engine: &Engine,
        reaction: &Reaction,
        start: Start,
        m: &mut M,
        came: &mut Came,
    ) -> Try<()> {
        let mut room = Self::EMPTY;
        engine.react(room.frame(), reaction, start, m, came)
    }
}

impl Engine {
    /// Dispatches an event to the role of this node that answers it, and runs one handler to its end.
    ///
    /// The caller has made sure that no replay is due for the record, and that there is room
    /// ([`Engine::room_needed`]).
    ///
    /// # Errors
    /// A fault of the protocol (`docs/semantics.md`, section 3). What the handler did before it remains.
    pub fn dispatch<M: Mechanisms>(&self, event: &Event, m: &mut M) -> Result<Outcome, Fault> {
        let is_home = event.object.kind != NODE && m.home(event.object) == m.me();
        match self.role_for(event.kind, event.object.kind, is_home) {
            Some(role) => self.dispatch_there(role, event, is_home, m),
            None => {
                let trouble = Trouble { kind: FaultKind::Unanswered, span: Default::default() };
                Err(self.fault(m.me(), None, event, trouble))
            }
        }
    }

    /// Dispatches an event to a given role. Timers, which are set for a role, go this way.
    ///
    /// # Errors
    /// As [`Engine::dispatch`].
    pub fn dispatch_to<M: Mechanisms>(&self, role: RoleId, event: &Event, m: &mut M) -> Result<Outcome, Fault> {
        let is_home = event.object.kind != NODE && m.home(event.object) == m.me();
        self.dispatch_there(role, event, is_home, m)
    }

    fn dispatch_there<M: Mechanisms>(
        &self,
        role: RoleId,
        event: &Event,
        is_home: bool,
        m: &mut M,
    ) -> Result<Outcome, Fault> {
        if let Err(kind) = self.check_event(role, event, is_home) {
            // Of a call, where it says what it takes.
            let span = match event.kind {
                EventKind::Op(op) => self.protocol.ops[op.index()].span,
                _ => self.protocol.roles[role.index()].span,
            };
            return Err(self.fault(m.me(), Some((role, None)), event, Trouble { kind, span }));
        }
        self.answer(role, event, None, m)
    }

    /// Takes the deferred event that is due out of its record and dispatches it. If it is deferred again it goes
    /// back to its place.
    ///
    /// # Errors
    /// As [`Engine::dispatch`], and [`FaultKind::NoReplay`] when none is due.
    pub fn replay<M: Mechanisms>(&self, role: RoleId, object: Object, m: &mut M) -> Result<Outcome, Fault> {
        let record = m.record(role, object);
        let defers = self.roles[role.index()].defers.as_ref();
        let next = self.replay_event(role, object, record);
        let (Some(defers), Some(event)) = (defers, next) else {
            let event = Event::local(EventKind::Timer, object, 0);
            let span = self.protocol.roles[role.index()].span;
            let mut fault = self.fault(m.me(), Some((role, None)), &event, Trouble { kind: FaultKind::NoReplay, span });
            fault.event = None;
            return Err(fault);
        };
        let at = defers.cursor(record);
        defers.remove(record, at);
        self.answer(role, &event, Some(at), m)
    }

    /// Whether an event that comes from outside fits its declaration.
    #[inline]
    fn check_event(&self, role: RoleId, event: &Event, is_home: bool) -> Result<(), FaultKind> {
        let declared = &self.protocol.roles[role.index()];
        let object = event.object;
        if declared.object != object.kind {
            return Err(FaultKind::NotHere);
        }
        if object.kind != NODE && !declared.kind.lives_at(is_home) {
            return Err(FaultKind::NotHere);
        }
        // What a handler sent has been checked where it was sent; what a program passes has not.
        match event.kind {
            EventKind::Op(_) => self.check_args(event.kind, &event.args),
            kind => self.check_words(kind, event.args.words()),
        }
    }

    #[inline]
    fn check_words(&self, kind: EventKind, words: &[i64]) -> Result<(), FaultKind> {
        if self.args.have(kind, words) { Ok(()) } else { Err(FaultKind::BadArguments) }
    }

    /// Whether arguments that nobody has checked are some that the event can have: those of a call, or of a message that comes
    /// from another process.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check_args(&self, kind: EventKind, args: &Args) -> Result<(), FaultKind> {
        let mut words = args.words();
        self.check_words(kind, words)?;
        for shape in self.args.of(kind) {
            let (own, rest) = shape.split(words).ok_or(FaultKind::BadArguments)?;
            match shape {
                Shape::Scalar(cell) => cell.check(own[0])?,
                Shape::Set(cell) => cell.check(own)?,
                Shape::Array(array) => array.check_words(own)?,
                Shape::List(list) => list.check_words(own)?,
                Shape::Record(_) => {}
            }
            words = rest;
        }
        Ok(())
    }

    /// Keeps an event in the defer space of a record.
    pub(crate) fn keep(
        &self,
        role: RoleId,
        record: &mut [u8],
        column: usize,
        event: &Event,
        replay: Option<u32>,
    ) -> Result<(), FaultKind> {
        let Some(defers) = &self.roles[role.index()].defers else { return Err(FaultKind::DeferFull) };
        match replay {
            Some(at) => {
                defers.insert(record, at, column, event)?;
                defers.set_cursor(record, at + 1);
                Ok(())
            }
            None => defers.append(record, column, event),
        }
    }

    fn answer<M: Mechanisms>(
        &self,
        role: RoleId,
        event: &Event,
        replay: Option<u32>,
        m: &mut M,
    ) -> Result<Outcome, Fault> {
        let before = self.state(role, m.record(role, event.object));
        let mut came =
            Came { after: before, handler: HandlerId(0), ran: false, disposition: Disposition::Handled, steps: 0 };
        let responded = match event.kind {
            EventKind::Op(op) if !self.protocol.made.is_empty() => match self.call_now(op, event, m) {
                Some(event) => self.respond(role, &event, replay, m, &mut came),
                None => Ok(()),
            },
            _ => self.respond(role, event, replay, m, &mut came),
        };
        match responded {
            Ok(()) => Ok(Outcome {
                role,
                object: event.object,
                before,
                after: came.after,
                handler: came.ran.then_some(came.handler),
                disposition: came.disposition,
                steps: came.steps,
            }),
            Err(trouble) => Err(self.fault(m.me(), Some((role, Some(before))), event, *trouble)),
        }
    }

    // Inlined, as is what it calls: what comes of it is small, and waiting for it to be written to memory is not.
    #[inline(always)]
    fn respond<M: Mechanisms>(
        &self,
        role: RoleId,
        event: &Event,
        replay: Option<u32>,
        m: &mut M,
        came: &mut Came,
    ) -> Try<()> {
        let before = came.after;
        let declared = &self.protocol.roles[role.index()];
        let state = &declared.states[before.index()];
        // The tag may have been raised since the access faulted.
        let access = |m: &mut M| if self.protocol.cached { m.line(event.object).access() } else { state.access };
        if let Some(wanted) = event.kind.wants()
            && access(m) >= wanted
        {
            if !event.kind.is_hint() {
                m.resume(event.object);
            }
            came.disposition = Disposition::Passed;
            return Ok(());
        }
        let Some(column) = self.roles[role.index()].column(event.kind) else {
            return trouble(FaultKind::Unanswered, state.span);
        };
        m.charge(Charge::Record(role, declared.kind));
        let reaction = &self.flat.ways[role.index()][before.index() * declared.events.len() + column];
        let start = Start { event, role, before, column, replay };
        // Which role is meant where none is named was resolved for objects of its kind.
        if declared.object == event.object.kind {
            match reaction.way {
                Way::NoSet => {
                    let mut room = NoSetRoom::EMPTY;
                    return self.react(room.frame(), reaction, start, m, came);
                }
                Way::OneSet => {
                    let mut room = OneSetRoom::EMPTY;
                    return self.react(room.frame(), reaction, start, m, came);
                }
                Way::Small => {
                    let mut room = SmallFlatRoom::EMPTY;
                    return self.react(room.frame(), reaction, start, m, came);
                }
                Way::OneWhole | Way::Wholes | Way::Wide | Way::Large | Way::Walk => {}
            }
        }
        self.respond_seldom(start, m, came)
    }

    /// What few events come to: they are not handled now, or by handlers that need much room or are walked over.
    #[inline(never)]
    fn respond_seldom<M: Mechanisms>(&self, start: Start, m: &mut M, came: &mut Came) -> Try<()> {
        let Start { event, role, before, column, replay } = start;
        let declared = &self.protocol.roles[role.index()];
        let span = declared.states[before.index()].span;
        match &declared.table[before.index()][column] {
            Response::Handle(handlers) => {
                let reaction = &self.flat.ways[role.index()][before.index() * declared.events.len() + column];
                let is_flat = declared.object == event.object.kind;
                if reaction.way == Way::Wide && is_flat {
                    WideFlatRoom::respond(self, reaction, start, m, came)
                } else if reaction.way == Way::OneWhole && is_flat {
                    OneWholeRoom::respond(self, reaction, start, m, came)
                } else if reaction.way == Way::Wholes && is_flat {
                    WholesRoom::respond(self, reaction, start, m, came)
                } else if reaction.way == Way::Large && is_flat {
                    let mut room = LargeFlatRoom::EMPTY;
                    self.react(room.frame(), reaction, start, m, came)
                } else if handlers.iter().all(|id| SmallRoom::suffices(&declared.handlers[id.index()])) {
                    let mut room = SmallRoom::EMPTY;
                    self.handle_in(room.frame(), handlers, start, m, came)
                } else {
                    let mut room = LargeRoom::EMPTY;
                    self.handle_in(room.frame(), handlers, start, m, came)
                }
            }
            // What is tried again, and no thread keeps, goes back to its place.
            response @ (Response::Defer | Response::Hold)
                if *response == Response::Defer || replay.is_some() && !event.has_caller() =>
            {
                let record = m.record(role, event.object);
                if self.leaves_with_thread(role, record, event, replay) {
                    came.disposition = Disposition::Held;
                    return Ok(());
                }
                self.keep(role, record, column, event, replay).at(span)?;
                came.disposition = Disposition::Deferred;
                Ok(())
            }
            Response::Defer | Response::Hold => {
                came.disposition = Disposition::Held;
                Ok(())
            }
            Response::Impossible | Response::Passes => trouble(FaultKind::Impossible, span),
        }
    }

    /// Runs the first handler whose guard holds, as flat code.
    #[inline(always)]
    fn react<M: Mechanisms>(
        &self,
        frame: Frame,
        reaction: &Reaction,
        start: Start,
        m: &mut M,
        came: &mut Came,
    ) -> Try<()> {
        let declared = &self.protocol.roles[start.role.index()];
        let mut run = Run::new(self, m, frame, &declared.handlers[reaction.handler.index()], start);
        let mut chosen = reaction.handler;
        if !run.flat(reaction.at)? {
            chosen = self.try_others(&mut run, start)?;
        }
        (came.after, came.handler, came.ran, came.steps) = (run.settle_all(), chosen, true, run.steps());
        came.answered(&run);
        Ok(())
    }

    /// The guard of the first handler does not hold: runs the next one whose guard does.
    #[inline(never)]
    fn try_others<M: Mechanisms>(&self, run: &mut Run<'_, '_, M>, start: Start) -> Try<HandlerId> {
        let declared = &self.protocol.roles[start.role.index()];
        let entries = &self.flat.handlers[start.role.index()];
        if let Response::Handle(handlers) = &declared.table[start.before.index()][start.column] {
            for &chosen in handlers.iter().skip(1) {
                let Some(entry) = entries[chosen.index()] else { break };
                if run.flat(entry.at)? {
                    return Ok(chosen);
                }
            }
        }
        trouble(FaultKind::Unanswered, declared.states[start.before.index()].span)
    }

    #[inline(always)]
    fn handle_in<M: Mechanisms>(
        &self,
        frame: Frame,
        handlers: &[HandlerId],
        start: Start,
        m: &mut M,
        came: &mut Came,
    ) -> Try<()> {
        let declared = &self.protocol.roles[start.role.index()];
        let [first, others @ ..] = handlers else {
            return trouble(FaultKind::Unanswered, declared.states[start.before.index()].span);
        };
        let mut chosen = *first;
        let mut run = Run::new(self, m, frame, &declared.handlers[first.index()], start);
        run.bind_args();
        let mut holds = run.guard()?;
        for id in others {
            if holds {
                break;
            }
            chosen = *id;
            run.try_next(&declared.handlers[id.index()]);
            holds = run.guard()?;
        }
        if !holds {
            return trouble(FaultKind::Unanswered, declared.states[start.before.index()].span);
        }
        let after = run.run()?;
        (came.after, came.handler, came.ran, came.steps) = (after, chosen, true, run.steps());
        came.answered(&run);
        Ok(())
    }

    /// What went wrong, in words, and where the text says so.
    fn cause(&self, who: Option<(RoleId, Option<StateId>)>, event: &Event, trouble: Trouble) -> (String, Span) {
        match who {
            Some((role, Some(state))) if trouble.kind == FaultKind::Impossible => {
                impossible(&self.protocol, (role, state), event.kind, trouble.span)
            }
            _ => (trouble.kind.to_string(), trouble.span),
        }
    }

    /// A fault with everything that is known about it.
    #[cold]
    fn fault(&self, node: Node, who: Option<(RoleId, Option<StateId>)>, event: &Event, trouble: Trouble) -> Fault {
        let (what, span) = self.cause(who, event, trouble);
        let protocol = &self.protocol;
        let kind_name = protocol.objects.get(event.object.kind.index()).map_or("object", |name| name.as_str());
        let mut message = format!("node {node}: ");
        if event.object.kind != NODE {
            message += &format!("{kind_name} {}: ", event.object.id);
        }
        if let Some((role, state)) = who {
            let declared = &protocol.roles[role.index()];
            message += &declared.name;
            if let Some(state) = state {
                message += &format!(" in {}", declared.states[state.index()].name);
            }
            message += ": ";
        }
        if trouble.kind != FaultKind::NoReplay {
            message += &self.event_text(event);
            message += ": ";
        }
        message += &what;
        message += &place(protocol, span);
        Fault {
            kind: trouble.kind,
            node,
            role: who.map(|(role, _)| role),
            object: event.object,
            state: who.and_then(|(_, state)| state),
            event: Some(Box::new(*event)),
            span,
            message,
        }
    }
}
