//! The walk over steps as the compiler left them, one after the other: branches, loops, other roles.

use super::Run;
use super::effects::MOST_PERFORM;
use crate::evaluate::{Scope, scalar, set, truth};
use crate::fault::{FaultKind, Locate, Try, trouble};
use crate::flat::LineStep;
use crate::layout::{MAX_FIELDS, SetCell};
use crate::mechanisms::{Charge, Mechanisms};
use crate::set::Set;
use trivium_protocol::orders::shows_order;
use trivium_protocol::source::Span;
use trivium_protocol::{Asserted, EventKind, Expr, LocalId, Owner, Place, RoleId, Step, StepKind, Type};

impl<'e, M: Mechanisms> Run<'e, '_, M> {
    pub(super) fn execute(&mut self, steps: &'e [Step]) -> Try<()> {
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
            StepKind::AssignElement(place, index, first, values) => {
                self.assign_element(place, index, *first, values, span)
            }
            StepKind::Let(local, values) => self.bind(*local, values, span),
            StepKind::Insert(place, element) => self.change_set(place, element, SetCell::insert, span),
            StepKind::Remove(place, element) => self.change_set(place, element, SetCell::remove, span),
            StepKind::Push(place, values) => self.push(place, values, span),
            StepKind::Pop(place, local) => self.pop(place, *local, span),
            StepKind::Clear(place) => self.clear(place, span),
            StepKind::If(condition, yes, no) => {
                self.m.charge(Charge::Steps(1));
                let holds = truth(self, condition)?;
                self.m.way(span, holds);
                self.execute(if holds { yes } else { no })
            }
            StepKind::ForSet(local, of, body) => {
                let asks = of.ty == Type::NodeSet && (self.engine.asks_always || shows_order(&step.kind));
                self.for_set(*local, of, body, asks, span)
            }
            StepKind::ForRange(local, from, to, body) => {
                let (from, to) = (scalar(self, from)?, scalar(self, to)?);
                self.m.way(span, from <= to);
                for value in from..=to {
                    self.element(*local, value, span)?;
                    self.execute(body)?;
                    if std::mem::take(&mut self.stopped) {
                        break;
                    }
                }
                Ok(())
            }
            StepKind::ForList(local, place, body) => self.for_list(*local, place, body, span),
            StepKind::Send { message, args, payload, object, to } => {
                self.send(*message, args, payload, object.as_ref(), to, span)
            }
            StepKind::Goto(state) => {
                self.m.charge(Charge::Steps(1));
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
            StepKind::CompleteWith(value, thread) => {
                let (value, thread) = (scalar(self, value)?, scalar(self, thread)?);
                self.complete_with(thread, value, span).at(span)
            }
            StepKind::Perform(perform) => {
                let mut words = [0; MOST_PERFORM];
                for (word, arg) in words.iter_mut().zip(&perform.args) {
                    *word = scalar(self, arg)?;
                }
                let value = self.perform(perform.kind, perform.whose, &words[..perform.args.len()], span).at(span)?;
                match perform.result {
                    Some(local) => self.set_fields(local, &[value], span),
                    None => Ok(()),
                }
            }
            StepKind::Return { value, to } => self.answer(value.as_ref(), to.as_ref(), span),
            StepKind::Defer => self.defer().at(span),
            StepKind::Stall => self.stall().at(span),
            StepKind::Start(task, args) => self.start(*task, args, span),
            StepKind::Yield => match self.event.kind {
                EventKind::Task(task) => {
                    self.m.start(task, self.event.object, self.event.args);
                    Ok(())
                }
                _ => trouble(FaultKind::Malformed, span),
            },
            StepKind::Install(address) => self.install(address.as_ref(), span),
            StepKind::InstallOwn(at) => {
                let (payload, _) = self.data().at(span)?;
                let at = self.address(at)?;
                self.m.install_own(payload, at);
                Ok(())
            }
            StepKind::Copy { from, to, bytes } => {
                let (from, to, bytes) = (self.address(from)?, self.address(to)?, self.address(bytes)?);
                self.m.copy(from, to, bytes);
                Ok(())
            }
            StepKind::Store(address, value) => {
                let (address, value) = (self.address(address)?, scalar(self, value)?);
                self.m.store(address, value.cast_unsigned());
                Ok(())
            }
            StepKind::Compose(word) => {
                let word = scalar(self, word)?;
                self.m.compose(self.object, word.cast_unsigned());
                Ok(())
            }
            StepKind::Fill(to) => self.line(LineStep::Fill(*to)).at(span),
            StepKind::Upgrade => self.line(LineStep::Upgrade).at(span),
            StepKind::Take(to) => self.line(LineStep::Take(*to)).at(span),
            StepKind::Invalidate => self.line(LineStep::Invalidate).at(span),
            StepKind::Impossible => trouble(FaultKind::Impossible, span),
            // Nothing stands behind it in the loop's body.
            StepKind::Stop => {
                self.stopped = true;
                Ok(())
            }
            StepKind::Assert(condition, why) => {
                // What nobody has written costs nothing.
                if *why == Asserted::Written {
                    self.m.charge(Charge::Steps(1));
                    self.m.way(span, true);
                }
                if truth(self, condition)? { Ok(()) } else { trouble(FaultKind::of_assertion(*why), span) }
            }
            StepKind::Elsewhere(owner, role, body) => self.elsewhere(owner, *role, body, span),
        }
    }

    /// Scalar values of a record's fields, all evaluated before any is stored.
    pub(super) fn values(&mut self, exprs: &[Expr], span: Span) -> Try<[i64; MAX_FIELDS]> {
        let mut values = [0; MAX_FIELDS];
        if exprs.len() > MAX_FIELDS {
            return trouble(FaultKind::Malformed, span);
        }
        for (value, expr) in values.iter_mut().zip(exprs) {
            *value = scalar(self, expr)?;
        }
        Ok(values)
    }

    /// `asks`: whether it is asked which node is next.
    fn for_set(&mut self, local: LocalId, of: &Expr, body: &'e [Step], asks: bool, span: Span) -> Try<()> {
        let (lo, _) = self.engine.set_range(&of.ty);
        let mut left = Set::default();
        set(self, of, &mut left)?;
        self.m.way(span, left.count(false) > 0);
        loop {
            let next = if asks { self.m.choose(left.nodes(false)).map(i64::from) } else { left.least(false) };
            let Some(bit) = next else { break };
            left.remove(bit);
            self.element(local, bit + lo, span)?;
            self.execute(body)?;
            if std::mem::take(&mut self.stopped) {
                break;
            }
        }
        Ok(())
    }

    /// The loop goes over the list as it is now, whatever its body does to it.
    fn for_list(&mut self, local: LocalId, place: &Place, body: &'e [Step], span: Span) -> Try<()> {
        let list = self.engine.list_cell(place, span)?;
        let record = self.record(&place.owner, place.role, span)?;
        let len = list.len(record);
        let elements = record[list.element_at(0)..list.element_at(len)].to_vec();
        self.m.way(span, len > 0);
        for index in 0..len {
            let mut values = [0; MAX_FIELDS];
            for (value, cell) in values.iter_mut().zip(&list.fields) {
                *value = cell.read(&elements, (index * list.element) as usize);
            }
            self.m.charge(Charge::Element);
            self.set_fields(local, &values[..list.fields.len()], span)?;
            self.execute(body)?;
            if std::mem::take(&mut self.stopped) {
                break;
            }
        }
        Ok(())
    }

    /// A loop visits a value.
    fn element(&mut self, local: LocalId, value: i64, span: Span) -> Try<()> {
        self.m.charge(Charge::Element);
        self.set_fields(local, &[value], span)
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
}
