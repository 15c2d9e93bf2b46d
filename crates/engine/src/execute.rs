//! The steps of a handler.

use crate::engine::Engine;
use crate::evaluate::{Locate, Scope, Try, scalar, set, set_bit, set_from, trouble, truth};
use crate::event::Event;
use crate::fault::FaultKind;
use crate::layout::{MAX_FIELDS, Shape, get, put};
use crate::mechanisms::{Args, Charge, Mechanisms, Node, Object, Outgoing, Payload, Thread};
use crate::set::Set;
use trivium_lang::protocol::{
    BLOCK, EventKind, Expr, ExprKind, Handler, LaneId, LocalId, MessageId, NODE, Owner, PayloadShape, PayloadSource,
    Place, RoleId, Slot, StateId, Step, StepKind, TaskId, Type,
};
use trivium_lang::source::Span;

/// Most scalar locals of a handler.
pub(crate) const FRAME_SCALARS: usize = 64;
/// Most set locals of a handler.
pub(crate) const FRAME_SETS: usize = 16;
/// Most arguments of a function of the program that a handler calls.
const MAX_INVOKE: usize = 8;

/// A record that a handler has looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub role: RoleId,
    pub object: Object,
    /// Its state at that time.
    pub before: StateId,
    /// Whether it may have been changed since.
    pub written: bool,
}

/// The locals of a handler.
pub(crate) struct Frame {
    scalars: [i64; FRAME_SCALARS],
    sets: [Set; FRAME_SETS],
}

impl Frame {
    /// Locals that are all zero, or empty.
    pub const EMPTY: Frame = Frame { scalars: [0; FRAME_SCALARS], sets: [Set([0; 4]); FRAME_SETS] };
}

/// A handler while it runs.
pub(crate) struct Run<'e, 'm, M> {
    engine: &'e Engine,
    m: &'m mut M,
    me: Node,
    event: &'m Event,
    handler: &'e Handler,
    frame: &'m mut Frame,
    /// Whose variables and state `Owner::Current` means; differs from the event's inside `Elsewhere`.
    role: RoleId,
    object: Object,
    /// The record of the role that answers.
    first: Touch,
    /// Others, in the order in which they were touched.
    others: Vec<Touch>,
    column: usize,
    /// The place in the defer space from which the event was taken, if this is a replay.
    replay: Option<u32>,
    deferred: bool,
    steps: u32,
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
    /// A handler that is about to run. Its guard has not been looked at.
    pub fn new(
        engine: &'e Engine,
        m: &'m mut M,
        frame: &'m mut Frame,
        handler: &'e Handler,
        start: Start<'m>,
    ) -> Self {
        let mut run = Run {
            engine,
            me: m.me(),
            m,
            event: start.event,
            handler,
            frame,
            role: start.role,
            object: start.event.object,
            first: Touch { role: start.role, object: start.event.object, before: start.before, written: true },
            others: Vec::new(),
            column: start.column,
            replay: start.replay,
            deferred: false,
            steps: 0,
        };
        run.bind_args();
        run
    }

    /// The event's arguments become the first locals.
    fn bind_args(&mut self) {
        let mut words = self.event.args.words().iter().copied();
        for local in &self.handler.locals[..self.handler.args as usize] {
            match local.slot {
                Slot::Scalars { at, .. } => self.frame.scalars[at as usize] = words.next().unwrap_or(0),
                Slot::Set { at } => {
                    let (_, count) = self.engine.set_range(&local.ty);
                    let set = &mut self.frame.sets[at as usize].0;
                    let taken = words.by_ref().take((count as usize).div_ceil(64));
                    set.iter_mut().zip(taken).for_each(|(to, from)| *to = from as u64);
                }
            }
        }
    }

    /// Tries another handler for the same event.
    pub fn try_next(&mut self, handler: &'e Handler) {
        self.handler = handler;
        self.frame.sets = [Set::default(); FRAME_SETS];
        self.bind_args();
    }

    /// Whether the handler's guard holds.
    pub fn guard(&mut self) -> Try<bool> {
        match &self.handler.guard {
            Some(guard) => {
                self.m.charge(Charge::Step);
                truth(self, guard)
            }
            None => Ok(true),
        }
    }

    /// Runs the handler to its end. Returns the state, whether the event was deferred, and the number of steps.
    pub fn run(&mut self) -> Try<(StateId, bool, u32)> {
        self.execute(&self.handler.steps)?;
        let after = self.settle(self.first);
        for touch in std::mem::take(&mut self.others) {
            if touch.written {
                self.settle(touch);
            }
        }
        Ok((after, self.deferred, self.steps))
    }

    /// The end of a handler for one record: variables that are dead in its state are cleared, and when the state
    /// has changed the deferred events are all to be tried again.
    fn settle(&mut self, touch: Touch) -> StateId {
        let plan = &self.engine.roles[touch.role.index()];
        let record = self.m.record(touch.role, touch.object);
        let after = StateId(get(record, 0, plan.state_width) as u16);
        for &(at, bytes) in &plan.dead[after.index()] {
            record[at as usize..(at + bytes) as usize].fill(0);
        }
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

    /// Whether this node has an instance of a role for an object.
    fn lives_here(&self, role: RoleId, object: Object) -> bool {
        let kind = self.engine.protocol.roles[role.index()].kind;
        object.kind == NODE || kind.lives_at(self.m.home(object) == self.me)
    }

    /// Notes that a record is looked at, or changed.
    fn touch(&mut self, role: RoleId, object: Object, written: bool, span: Span) -> Try<()> {
        if role == self.first.role && object == self.first.object {
            return Ok(());
        }
        if let Some(touch) = self.others.iter_mut().find(|t| t.role == role && t.object == object) {
            touch.written |= written;
            return Ok(());
        }
        if !self.lives_here(role, object) {
            return trouble(FaultKind::NotHere, span);
        }
        self.m.charge(Charge::Record(role));
        let before = self.engine.state(role, self.m.record(role, object));
        self.others.push(Touch { role, object, before, written });
        Ok(())
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

    fn execute(&mut self, steps: &'e [Step]) -> Try<()> {
        for step in steps {
            self.steps += 1;
            self.step(step)?;
        }
        Ok(())
    }

    fn step(&mut self, step: &'e Step) -> Try<()> {
        let span = step.span;
        match &step.kind {
            StepKind::Assign(place, values) => self.assign(place, values, span),
            StepKind::Let(local, values) => self.bind(*local, values, span),
            StepKind::Insert(place, element) => self.change_set(place, element, Set::insert, span),
            StepKind::Remove(place, element) => {
                let remove = |set: &mut Set, bit: i64| {
                    let mut one = Set::default();
                    one.insert(bit);
                    *set = set.zip(one, |s, o| s & !o);
                };
                self.change_set(place, element, remove, span)
            }
            StepKind::Push(place, values) => self.push(place, values, span),
            StepKind::Pop(place, local) => self.pop(place, *local, span),
            StepKind::Clear(place) => self.clear(place, span),
            StepKind::If(condition, yes, no) => {
                self.m.charge(Charge::Step);
                let taken = if truth(self, condition)? { yes } else { no };
                self.execute(taken)
            }
            StepKind::ForSet(local, of, body) => self.for_set(*local, of, body, span),
            StepKind::ForRange(local, from, to, body) => {
                let (from, to) = (scalar(self, from)?, scalar(self, to)?);
                for value in from..=to {
                    self.element(*local, value, span)?;
                    self.execute(body)?;
                }
                Ok(())
            }
            StepKind::ForList(local, place, body) => self.for_list(*local, place, body, span),
            StepKind::Send { message, args, payload, object, to } => {
                self.send(*message, args, payload, object.as_ref(), to, span)
            }
            StepKind::Goto(state) => {
                self.goto(*state);
                Ok(())
            }
            StepKind::Resume => {
                self.m.resume(self.object);
                Ok(())
            }
            StepKind::Complete => {
                self.m.complete(self.object);
                Ok(())
            }
            StepKind::Return { value, to } => self.answer(value.as_ref(), to.as_ref(), span),
            StepKind::Defer => self.defer().at(span),
            StepKind::Start(task, args) => self.start(*task, args, span),
            StepKind::Yield => match self.event.kind {
                EventKind::Task(task) => {
                    self.m.start(task, self.event.object, self.event.args);
                    Ok(())
                }
                _ => trouble(FaultKind::Malformed, span),
            },
            StepKind::Install(address) => self.install(address.as_ref(), span),
            StepKind::Copy { from, to, bytes } => {
                let (from, to, bytes) = (self.address(from)?, self.address(to)?, self.address(bytes)?);
                self.m.copy(from, to, bytes);
                Ok(())
            }
            StepKind::Store(address, value) => {
                let (address, value) = (self.address(address)?, scalar(self, value)?);
                self.m.store(address, value as u64);
                Ok(())
            }
            StepKind::Invoke(function, args) => self.invoke(function, args, span),
            StepKind::Impossible => trouble(FaultKind::Impossible, span),
            StepKind::Assert(condition) => {
                self.m.charge(Charge::Step);
                if truth(self, condition)? { Ok(()) } else { trouble(FaultKind::Assertion, span) }
            }
            StepKind::Elsewhere(owner, role, body) => self.elsewhere(owner, *role, body, span),
        }
    }

    /// Scalar values of a record's fields, all evaluated before any is stored.
    fn values(&mut self, exprs: &[Expr], span: Span) -> Try<[i64; MAX_FIELDS]> {
        let mut values = [0; MAX_FIELDS];
        if exprs.len() > MAX_FIELDS {
            return trouble(FaultKind::Malformed, span);
        }
        for (value, expr) in values.iter_mut().zip(exprs) {
            *value = scalar(self, expr)?;
        }
        Ok(values)
    }

    fn assign(&mut self, place: &Place, exprs: &[Expr], span: Span) -> Try<()> {
        self.m.charge(Charge::Step);
        match (self.engine.shape(place), exprs) {
            (Some(Shape::Set(cell)), [expr]) => {
                let value = set_from(self, expr, cell.lo)?;
                if value != value.zip(Set::all(cell.count), |v, all| v & all) {
                    let outside = value.zip(Set::all(cell.count), |v, all| v & !all).iter().next().unwrap_or(0);
                    cell.bit(outside + cell.lo).at(expr.span)?;
                }
                cell.write(self.record_mut(place, span)?, 0, value);
                Ok(())
            }
            (Some(Shape::Record(fields)), exprs) if place.field.is_none() => {
                let values = self.values(exprs, span)?;
                for ((cell, value), expr) in fields.iter().zip(values).zip(exprs) {
                    cell.check(value).at(expr.span)?;
                }
                let record = self.record_mut(place, span)?;
                for (cell, value) in fields.iter().zip(values).take(exprs.len()) {
                    cell.write(record, 0, value);
                }
                Ok(())
            }
            (Some(Shape::Scalar(_) | Shape::Record(_)), [expr]) => {
                let cell = self.engine.cell(place, span)?;
                let value = scalar(self, expr)?;
                cell.check(value).at(expr.span)?;
                cell.write(self.record_mut(place, span)?, 0, value);
                Ok(())
            }
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    fn bind(&mut self, local: LocalId, exprs: &[Expr], span: Span) -> Try<()> {
        self.m.charge(Charge::Step);
        let declared = &self.handler.locals[local.index()];
        match (declared.slot, exprs) {
            (Slot::Set { at }, [expr]) => {
                let (lo, _) = self.engine.set_range(&declared.ty);
                self.frame.sets[at as usize] = set_from(self, expr, lo)?;
            }
            (Slot::Scalars { at, count }, exprs) if exprs.len() <= count as usize => {
                let values = self.values(exprs, span)?;
                if let (Type::Int { lo, hi }, [value, ..]) = (&declared.ty, values) {
                    let (lo, hi) = (lo.at(self.engine.nodes), hi.at(self.engine.nodes));
                    if !(lo..=hi).contains(&value) {
                        return trouble(FaultKind::Range { value, lo, hi }, span);
                    }
                }
                let at = at as usize;
                self.frame.scalars[at..at + exprs.len()].copy_from_slice(&values[..exprs.len()]);
            }
            _ => return trouble(FaultKind::Malformed, span),
        }
        Ok(())
    }

    fn change_set(&mut self, place: &Place, element: &Expr, change: impl Fn(&mut Set, i64), span: Span) -> Try<()> {
        self.m.charge(Charge::Step);
        let value = scalar(self, element)?;
        let cell = self.engine.set_cell(place, span)?;
        let ty = &self.engine.protocol.roles[place.role.index()].vars[place.var.index()].ty;
        let bit = set_bit(self.engine, ty, value).at(element.span)?;
        let record = self.record_mut(place, span)?;
        let mut value = cell.read(record, 0);
        change(&mut value, bit);
        cell.write(record, 0, value);
        Ok(())
    }

    fn push(&mut self, place: &Place, exprs: &[Expr], span: Span) -> Try<()> {
        self.m.charge(Charge::Step);
        let list = self.engine.list_cell(place, span)?;
        let values = self.values(exprs, span)?;
        for ((cell, value), expr) in list.fields.iter().zip(values).zip(exprs) {
            cell.check(value).at(expr.span)?;
        }
        let record = self.record_mut(place, span)?;
        let len = list.len(record);
        if len >= list.capacity {
            return trouble(FaultKind::ListFull, span);
        }
        list.set_len(record, len + 1);
        for (cell, value) in list.fields.iter().zip(values).take(exprs.len()) {
            cell.write(record, list.element_at(len), value);
        }
        Ok(())
    }

    fn pop(&mut self, place: &Place, local: LocalId, span: Span) -> Try<()> {
        self.m.charge(Charge::Step);
        let list = self.engine.list_cell(place, span)?;
        let record = self.record_mut(place, span)?;
        if list.len(record) == 0 {
            return trouble(FaultKind::Empty, span);
        }
        let mut values = [0; MAX_FIELDS];
        for (value, cell) in values.iter_mut().zip(&list.fields) {
            *value = cell.read(record, list.element_at(0));
        }
        list.remove(record, 0);
        self.set_fields(local, &values[..list.fields.len()], span)
    }

    fn clear(&mut self, place: &Place, span: Span) -> Try<()> {
        self.m.charge(Charge::Step);
        let Some(shape) = self.engine.shape(place) else { return trouble(FaultKind::Malformed, span) };
        let (at, bytes) = shape.extent();
        self.record_mut(place, span)?[at as usize..(at + bytes) as usize].fill(0);
        Ok(())
    }

    /// Gives a scalar or record local its values.
    fn set_fields(&mut self, local: LocalId, values: &[i64], span: Span) -> Try<()> {
        match self.handler.locals[local.index()].slot {
            Slot::Scalars { at, count } if values.len() <= count as usize => {
                let at = at as usize;
                self.frame.scalars[at..at + values.len()].copy_from_slice(values);
                Ok(())
            }
            _ => trouble(FaultKind::Malformed, span),
        }
    }

    /// A loop visits a value.
    fn element(&mut self, local: LocalId, value: i64, span: Span) -> Try<()> {
        self.m.charge(Charge::Element);
        self.set_fields(local, &[value], span)
    }

    fn for_set(&mut self, local: LocalId, of: &Expr, body: &'e [Step], span: Span) -> Try<()> {
        let (lo, _) = self.engine.set_range(&of.ty);
        for bit in set(self, of)?.iter() {
            self.element(local, bit + lo, span)?;
            self.execute(body)?;
        }
        Ok(())
    }

    /// The loop goes over the list as it is now, whatever its body does to it.
    fn for_list(&mut self, local: LocalId, place: &Place, body: &'e [Step], span: Span) -> Try<()> {
        let list = self.engine.list_cell(place, span)?;
        let record = self.record(&place.owner, place.role, span)?;
        let len = list.len(record);
        let elements = record[list.element_at(0)..list.element_at(len)].to_vec();
        for index in 0..len {
            let mut values = [0; MAX_FIELDS];
            for (value, cell) in values.iter_mut().zip(&list.fields) {
                *value = cell.read(&elements, (index * list.element) as usize);
            }
            self.m.charge(Charge::Element);
            self.set_fields(local, &values[..list.fields.len()], span)?;
            self.execute(body)?;
        }
        Ok(())
    }

    /// Arguments as words, each checked against its declaration.
    fn args(&mut self, event: EventKind, exprs: &[Expr], span: Span) -> Try<Args> {
        let shapes = self.engine.args.of(event);
        if shapes.len() != exprs.len() {
            return trouble(FaultKind::Malformed, span);
        }
        let mut args = Args::NONE;
        for (shape, expr) in shapes.iter().zip(exprs) {
            match shape {
                Shape::Scalar(cell) => {
                    let value = scalar(self, expr)?;
                    cell.check(value).at(expr.span)?;
                    args.push(value);
                }
                Shape::Set(cell) => {
                    let value = set_from(self, expr, cell.lo)?;
                    value.0[..cell.words()].iter().for_each(|&word| args.push(word as i64));
                }
                Shape::List(_) | Shape::Record(_) => return trouble(FaultKind::Malformed, span),
            }
        }
        Ok(args)
    }

    fn send(
        &mut self,
        message: MessageId,
        args: &[Expr],
        payload: &PayloadSource,
        object: Option<&Expr>,
        to: &Expr,
        span: Span,
    ) -> Try<()> {
        let kind = self.engine.protocol.messages[message.index()].object;
        let object = match object {
            _ if kind == NODE => Object { kind, id: 0 },
            Some(expr) => Object { kind, id: self.object_number(expr)? },
            None => Object { kind, id: self.object.id },
        };
        let args = self.args(EventKind::Message(message), args, span)?;
        let destination = scalar(self, to)?;
        let destination = self.engine.node(destination).at(to.span)?;
        let payload = self.gather(payload, object, span)?;
        self.m.send(destination, Outgoing { message, object, args, payload });
        Ok(())
    }

    fn gather(&mut self, source: &PayloadSource, object: Object, span: Span) -> Try<Option<Payload>> {
        Ok(Some(match source {
            PayloadSource::Nothing => return Ok(None),
            PayloadSource::Block => self.m.gather_block(object),
            PayloadSource::Received => self.event.payload.ok_or(FaultKind::NoData).at(span)?,
            PayloadSource::Memory { from, to } => {
                let (first, last) = (self.address(from)?, self.address(to)?);
                if last < first {
                    return trouble(FaultKind::BadAddress(last as i64), to.span);
                }
                self.m.gather_memory(first, last)
            }
            PayloadSource::List(place) => {
                let list = self.engine.list_cell(place, span)?;
                let ty = &self.engine.protocol.roles[place.role.index()].vars[place.var.index()].ty;
                let blocks = matches!(ty, Type::List { of, .. } if **of == Type::Object(BLOCK));
                let record = self.record(&place.owner, place.role, span)?;
                let items: Vec<i64> =
                    (0..list.len(record)).map(|i| list.fields[0].read(record, list.element_at(i))).collect();
                self.m.gather_list(blocks, &items)
            }
        }))
    }

    fn goto(&mut self, to: StateId) {
        self.m.charge(Charge::Step);
        let plan = &self.engine.roles[self.role.index()];
        let record = self.m.record(self.role, self.object);
        let from = StateId(get(record, 0, plan.state_width) as u16);
        if from == to {
            return;
        }
        put(record, 0, plan.state_width, u64::from(to.0));
        let states = &self.engine.protocol.roles[self.role.index()].states;
        let (left, entered) = (&states[from.index()], &states[to.index()]);
        if self.object.kind == BLOCK && left.access != entered.access {
            self.m.set_access(self.object, left.access, entered.access);
        }
        if left.timer.is_some() || entered.timer.is_some() {
            self.m.timer(self.role, self.object, plan.timers[to.index()]);
        }
    }

    fn answer(&mut self, value: Option<&Expr>, to: Option<&Expr>, span: Span) -> Try<()> {
        let thread = match to {
            Some(expr) => scalar(self, expr)?,
            None => self.caller(),
        };
        let value = match value {
            Some(expr) => scalar(self, expr)?,
            None => 0,
        };
        if thread == -1 {
            return trouble(FaultKind::NoneUsed, to.map_or(span, |expr| expr.span));
        }
        let range = FaultKind::Range { value: thread, lo: 0, hi: i64::from(Thread::MAX) };
        let thread = Thread::try_from(thread).map_err(|_| range).at(span)?;
        self.m.answer(thread, value);
        Ok(())
    }

    fn caller(&self) -> i64 {
        if self.event.has_caller() { i64::from(self.event.thread) } else { -1 }
    }

    /// Keeps the event: behind the others, or in its old place when it was taken from there.
    fn defer(&mut self) -> Result<(), FaultKind> {
        if self.deferred {
            return Ok(());
        }
        let (role, object) = (self.first.role, self.first.object);
        let record = self.m.record(role, object);
        self.engine.keep(role, record, self.column, self.event, self.replay)?;
        self.deferred = true;
        Ok(())
    }

    fn start(&mut self, task: TaskId, args: &[Expr], span: Span) -> Try<()> {
        let args = self.args(EventKind::Task(task), args, span)?;
        let role = self.engine.protocol.tasks[task.index()].role;
        let (_, object) = self.resolve(&Owner::Role(role), role, span)?;
        self.m.start(task, object, args);
        Ok(())
    }

    fn install(&mut self, address: Option<&Expr>, span: Span) -> Try<()> {
        let Some(payload) = self.event.payload else { return trouble(FaultKind::NoData, span) };
        let EventKind::Message(message) = self.event.kind else { return trouble(FaultKind::NoData, span) };
        if let Some(address) = address {
            let address = self.address(address)?;
            self.m.install_memory(payload, Some(address));
            return Ok(());
        }
        match self.engine.protocol.messages[message.index()].payload {
            PayloadShape::Block if self.object.kind == BLOCK => self.m.install_block(payload, self.object),
            PayloadShape::List => self.m.install_memory(payload, None),
            _ => return trouble(FaultKind::NoData, span),
        }
        Ok(())
    }

    fn invoke(&mut self, function: &Expr, args: &[Expr], span: Span) -> Try<()> {
        if args.len() > MAX_INVOKE {
            return trouble(FaultKind::Malformed, span);
        }
        let function = scalar(self, function)?;
        let values = self.values(args, span)?;
        self.m.invoke(function, &values[..args.len()]);
        Ok(())
    }

    /// Steps of another role or object: `Owner::Current` means that one until they end.
    fn elsewhere(&mut self, owner: &Owner, role: RoleId, body: &'e [Step], span: Span) -> Try<()> {
        let (role, object) = self.resolve(owner, role, span)?;
        self.touch(role, object, true, span)?;
        let outer = (self.role, self.object);
        (self.role, self.object) = (role, object);
        self.execute(body)?;
        (self.role, self.object) = outer;
        Ok(())
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

    fn record(&mut self, owner: &Owner, role: RoleId, span: Span) -> Try<&[u8]> {
        if self.is_own(owner, role) {
            return Ok(self.m.record(self.role, self.object));
        }
        let (role, object) = self.resolve(owner, role, span)?;
        self.touch(role, object, false, span)?;
        Ok(self.m.record(role, object))
    }

    fn own(&mut self, expr: &Expr) -> Try<i64> {
        Ok(match &expr.kind {
            ExprKind::Sender => match self.event.kind {
                EventKind::Message(_) => i64::from(self.event.sender),
                _ => i64::from(self.me),
            },
            ExprKind::Me => i64::from(self.me),
            ExprKind::Home if self.object.kind == NODE => i64::from(self.me),
            ExprKind::Home => i64::from(self.m.home(self.object)),
            ExprKind::Caller => self.caller(),
            ExprKind::Object => i64::from(self.object.id),
            ExprKind::FaultAddress => self.m.pending(self.event.thread).address as i64,
            ExprKind::FaultSize => i64::from(self.m.pending(self.event.thread).size),
            ExprKind::FaultValue => self.m.pending(self.event.thread).value as i64,
            ExprKind::Room(lane, count) => self.room(*lane, count)?,
            ExprKind::Memory(address) => {
                let address = self.address(address)?;
                self.m.load(address) as i64
            }
            ExprKind::Probe => i64::from(self.m.probe(self.object)),
            ExprKind::InState(owner, role, states) => {
                let (role, object) = self.resolve(owner, *role, expr.span)?;
                if !self.lives_here(role, object) {
                    return Ok(0);
                }
                self.touch(role, object, false, expr.span)?;
                let state = self.engine.state(role, self.m.record(role, object));
                i64::from(states.contains(&state))
            }
            _ => return trouble(FaultKind::Malformed, expr.span),
        })
    }
}

impl<M: Mechanisms> Run<'_, '_, M> {
    fn room(&mut self, lane: LaneId, count: &Expr) -> Try<i64> {
        let value = scalar(self, count)?;
        let range = FaultKind::Range { value, lo: 0, hi: i64::from(u32::MAX) };
        let count = u32::try_from(value).map_err(|_| range).at(count.span)?;
        Ok(i64::from(self.m.room(lane, count)))
    }
}
