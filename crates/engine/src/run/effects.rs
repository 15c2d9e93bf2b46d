//! Steps that reach beyond the record: messages, states and their tags, data, threads, tasks.

use super::Run;
use crate::evaluate::{Scope, array, scalar, set_from};
use crate::fault::{FaultKind, Locate, Try, trouble};
use crate::flat::LineStep;
use crate::layout::{Shape, get, put};
use crate::mechanisms::{Args, Deed, HandlerAccess, Mechanisms, Object, Outgoing, Payload, Thread};
use crate::number::low_u16;
use crate::set::Set;
use trivium_protocol::source::Span;
use trivium_protocol::{
    BLOCK, EventKind, Expr, Line, MessageId, NODE, Operation, Owner, PayloadShape, PayloadSource, PerformFor,
    PerformKind, StateId, TaskId, Type,
};

/// Most parts of an access that a handler performs: address, size, thread, node, operation, two operands.
pub(super) const MOST_PERFORM: usize = 7;

impl<'e, M: Mechanisms> Run<'e, '_, M> {
    /// Arguments as words, each checked against its declaration.
    fn args(&mut self, event: EventKind, exprs: &[Expr], span: Span, args: &mut Args) -> Try<()> {
        let shapes = self.engine.args.of(event);
        if shapes.len() != exprs.len() {
            return trouble(FaultKind::Malformed, span);
        }
        for (shape, expr) in shapes.iter().zip(exprs) {
            match shape {
                Shape::Scalar(cell) => {
                    let value = scalar(self, expr)?;
                    cell.check(value).at(expr.span)?;
                    args.push(value);
                }
                Shape::Set(cell) => {
                    let mut value = Set::default();
                    set_from(self, expr, cell.lo, &mut value)?;
                    value.0[..cell.words()].iter().for_each(|&word| args.push(word.cast_signed()));
                }
                Shape::Array(cell) => {
                    let values = array(self, expr)?;
                    cell.check(values.iter().copied()).at(expr.span)?;
                    let value = cell.to_words(values.into_iter());
                    value.0[..cell.words()].iter().for_each(|&word| args.push(word.cast_signed()));
                }
                Shape::List(cell) => {
                    let values = array(self, expr)?;
                    cell.check(&values).at(expr.span)?;
                    let value = cell.to_words(&values).0.map(u64::cast_signed);
                    value[..cell.words_of(&value)].iter().for_each(|&word| args.push(word));
                }
                Shape::Record(_) => return trouble(FaultKind::Malformed, span),
            }
        }
        Ok(())
    }

    pub(super) fn send(
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
        let mut outgoing = Outgoing { message, object, args: Args::NONE, payload: None };
        self.args(EventKind::Message(message), args, span, &mut outgoing.args)?;
        let destination = scalar(self, to)?;
        let destination = self.engine.node(destination).at(to.span)?;
        self.gather(payload, object, span, &mut outgoing)?;
        self.m.send(destination, &outgoing);
        Ok(())
    }

    // `ARCHITECTURE.md`, "Written where it stays".
    fn gather(&mut self, source: &PayloadSource, object: Object, span: Span, outgoing: &mut Outgoing) -> Try<()> {
        let payload: Payload = match source {
            PayloadSource::Nothing => return Ok(()),
            PayloadSource::Block => self.m.gather_block(object),
            PayloadSource::BlockOf(block) => {
                let id = self.object_number(block)?;
                self.m.gather_block(Object { kind: BLOCK, id })
            }
            PayloadSource::Received => self.event.payload.ok_or(FaultKind::NoData).at(span)?,
            PayloadSource::Memory { from, to } => {
                let (first, last) = (self.address(from)?, self.address(to)?);
                if last < first {
                    return trouble(FaultKind::BadAddress(last.cast_signed()), to.span);
                }
                self.m.gather_memory(first, last)
            }
            PayloadSource::Own { from, to } => {
                let (first, last) = (self.address(from)?, self.address(to)?);
                if last < first {
                    return trouble(FaultKind::BadAddress(last.cast_signed()), to.span);
                }
                self.m.gather_own(first, last)
            }
            PayloadSource::Performed(local) => {
                payload_of(self.local(*local, 0).ok_or(FaultKind::Malformed).at(span)?).at(span)?
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
        };
        outgoing.payload = Some(payload);
        Ok(())
    }

    pub(super) fn goto(&mut self, to: StateId) {
        let plan = &self.engine.roles[self.role.index()];
        let record = self.m.record(self.role, self.object);
        let from = StateId(low_u16(get(record, 0, plan.state_width)));
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

    pub(super) fn answer(&mut self, value: Option<&Expr>, to: Option<&Expr>, span: Span) -> Try<()> {
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
        self.answer_to(thread, value).at(span)
    }

    /// Ends the call of a thread.
    pub(super) fn answer_to(&mut self, thread: i64, value: i64) -> Result<(), FaultKind> {
        self.m.answer(thread_of(thread)?, value);
        Ok(())
    }

    /// A thread's access that was performed elsewhere is done.
    pub(super) fn complete_with(&mut self, thread: i64, value: i64, place: Span) -> Result<(), FaultKind> {
        self.m.complete_with(self.object, thread_of(thread)?, value.cast_unsigned(), place);
        Ok(())
    }

    /// Performs an access; its parts are as [`trivium_protocol::Perform::args`] says, and `text` is where it was written. Gives its result.
    pub(super) fn perform(
        &mut self,
        kind: PerformKind,
        whose: PerformFor,
        parts: &[i64],
        text: Span,
    ) -> Result<i64, FaultKind> {
        let (&[address, bytes], mut rest) = parts.split_first_chunk().ok_or(FaultKind::Malformed)?;
        let mut asker = None;
        match whose {
            PerformFor::Program => {}
            PerformFor::ProgramOf => {
                let (&[node], behind) = rest.split_first_chunk().ok_or(FaultKind::Malformed)?;
                (asker, rest) = (Some((self.engine.node(node)?, None)), behind);
            }
            PerformFor::Thread => {
                let (&[thread, node], behind) = rest.split_first_chunk().ok_or(FaultKind::Malformed)?;
                (asker, rest) = (Some((self.engine.node(node)?, Some(thread_of(thread)?))), behind);
            }
        }
        let address = u64::try_from(address).map_err(|_| FaultKind::BadAddress(address))?;
        let place = |place: i64| u64::try_from(place).map_err(|_| FaultKind::BadAddress(place));
        let deed = match (kind, rest) {
            (PerformKind::Read | PerformKind::ReadData, []) => Deed::Load,
            (PerformKind::ReadTo, &[to]) => Deed::LoadTo(place(to)?),
            (PerformKind::WriteFrom, &[from]) => Deed::StoreFrom(place(from)?),
            (PerformKind::WriteData, []) => Deed::StoreData(self.data()?.0),
            (PerformKind::Write, &[value]) => Deed::Store(value.cast_unsigned()),
            (PerformKind::Rmw, &[number, operand, expected]) => {
                let range = FaultKind::Range { value: number, lo: 0, hi: Operation::LAST };
                let operation = Operation::of_number(number).ok_or(range)?;
                Deed::Modify { operation, operand: operand.cast_unsigned(), expected: expected.cast_unsigned() }
            }
            _ => return Err(FaultKind::Malformed),
        };
        let size = u8::try_from(bytes).unwrap_or(0);
        let (fits, lo, hi) = match deed {
            Deed::LoadTo(_) | Deed::StoreFrom(_) | Deed::StoreData(_) => (bytes > 0, 1, i64::MAX),
            Deed::Load if kind == PerformKind::ReadData => (bytes > 0, 1, i64::MAX),
            Deed::Modify { operation, .. } => (operation.takes(size), if operation.takes(1) { 1 } else { 4 }, 8),
            Deed::Load | Deed::Store(_) => ((1..=8).contains(&size), 1, 8),
        };
        if !fits {
            return Err(FaultKind::Range { value: bytes, lo, hi });
        }
        let access = HandlerAccess { address, bytes: bytes.cast_unsigned(), deed, asker, place: text };
        if kind == PerformKind::ReadData {
            return Ok(self.m.gather_access(self.object, &access).0.into());
        }
        Ok(self.m.perform(self.object, &access).cast_signed())
    }

    /// Keeps the event: behind the others, or in its old place when it was taken from there.
    pub(super) fn defer(&mut self) -> Result<(), FaultKind> {
        if self.deferred {
            return Ok(());
        }
        let (role, object) = (self.first.role, self.first.object);
        let record = self.m.record(role, object);
        if self.engine.leaves_with_thread(role, record, self.event, self.replay) {
            self.stalled = true;
            return Ok(());
        }
        self.engine.keep(role, record, self.column, self.event, self.replay)?;
        self.deferred = true;
        Ok(())
    }

    /// The event stays with its thread; what is tried again goes back to its place. Messages and lines that stall are not dispatched.
    pub(super) fn stall(&mut self) -> Result<(), FaultKind> {
        if self.replay.is_some() && !self.event.has_caller() {
            return self.defer();
        }
        self.stalled = true;
        Ok(())
    }

    pub(super) fn start(&mut self, task: TaskId, args: &[Expr], span: Span) -> Try<()> {
        let mut words = Args::NONE;
        self.args(EventKind::Task(task), args, span, &mut words)?;
        let role = self.engine.protocol.tasks[task.index()].role;
        let (_, object) = self.resolve(&Owner::Role(role), role, span)?;
        self.m.start(task, object, words);
        Ok(())
    }

    pub(super) fn install(&mut self, address: Option<&Expr>, span: Span) -> Try<()> {
        let Some(expr) = address else { return self.install_here().at(span) };
        let (payload, _) = self.data().at(span)?;
        let address = self.address(expr)?;
        self.m.install_memory(payload, Some(address));
        Ok(())
    }

    /// The event's data, and what they are.
    pub(super) fn data(&self) -> Result<(Payload, PayloadShape), FaultKind> {
        let payload = self.event.payload.ok_or(FaultKind::NoData)?;
        match self.event.kind {
            EventKind::Message(message) => Ok((payload, self.engine.protocol.messages[message.index()].payload)),
            EventKind::WriteBack => Ok((payload, PayloadShape::Block)),
            _ => Err(FaultKind::NoData),
        }
    }

    /// The data go where they belong.
    pub(super) fn install_here(&mut self) -> Result<(), FaultKind> {
        let (payload, shape) = self.data()?;
        match shape {
            PayloadShape::Block if self.object.kind == BLOCK || self.engine.has_image(self.object.kind) => {
                self.m.install_block(payload, self.object)
            }
            PayloadShape::List => self.m.install_memory(payload, None),
            _ => return Err(FaultKind::NoData),
        }
        Ok(())
    }

    /// What an engine does to its processor's cache, after a look at whether it can.
    pub(super) fn line(&mut self, step: LineStep) -> Result<(), FaultKind> {
        let object = self.object;
        match step {
            LineStep::Fill(to) => {
                if !self.m.fill(object, to) {
                    return Err(FaultKind::Unasked);
                }
                self.m.resume(object);
            }
            LineStep::Upgrade => {
                let line = self.m.line(object);
                if line != Line::Shared {
                    return Err(FaultKind::NotCached(line));
                }
                if !self.m.upgrade(object) {
                    return Err(FaultKind::Unasked);
                }
                self.m.resume(object);
            }
            LineStep::Take(to) => {
                let line = self.m.line(object);
                if !matches!(line, Line::Shared | Line::Exclusive) {
                    return Err(FaultKind::NotCached(line));
                }
                self.m.take(object, to);
            }
            LineStep::Invalidate => self.m.invalidate(object),
        }
        Ok(())
    }
}

/// What a performed load has given, by its result.
pub(super) fn payload_of(result: i64) -> Result<Payload, FaultKind> {
    result.try_into().map(Payload).map_err(|_| FaultKind::Malformed)
}

/// A thread by its number.
fn thread_of(number: i64) -> Result<Thread, FaultKind> {
    match number {
        -1 => Err(FaultKind::NoneUsed),
        _ => {
            let range = FaultKind::Range { value: number, lo: 0, hi: i64::from(Thread::MAX) };
            Thread::try_from(number).map_err(|_| range)
        }
    }
}
