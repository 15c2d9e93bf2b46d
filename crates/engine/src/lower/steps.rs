//! From steps to instructions.

use super::locals::Kept;
use super::{Lowering, MOST_DEPTH};
use crate::flat::{About, LineStep, Op, Reg, Seek, SendPlan, Source, Word};
use crate::layout::{Cell, Names, Shape};
use crate::whole::Whole;
use trivium_protocol::orders::shows_order;
use trivium_protocol::source::Span;
use trivium_protocol::{
    Asserted, BLOCK, EventKind, Expr, ExprKind, LocalId, MessageId, NODE, Owner, PayloadSource, Perform, Place, RoleId,
    Step, StepKind, TaskId, Type,
};

impl Lowering<'_> {
    pub fn steps(&mut self, steps: &[Step]) -> Option<()> {
        let mark = self.facts.marked();
        for step in steps {
            self.steps = self.steps.checked_add(1)?;
            let (scalars, sets, wholes) = (self.scalars, self.sets, self.wholes);
            self.step(step)?;
            (self.scalars, self.sets, self.wholes) = (scalars, sets, wholes);
        }
        self.facts.back_to(mark);
        Some(())
    }

    /// What has an effect comes behind what was charged before it.
    fn effect(&mut self, op: Op, span: Span) {
        self.flush(span);
        self.emit(op, span);
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        let span = step.span;
        match &step.kind {
            StepKind::Assign(place, values) => self.assign(place, values, span)?,
            StepKind::AssignElement(place, index, first, values) => {
                self.assign_element(place, index, *first, values, span)?;
            }
            StepKind::Let(local, values) => self.bind(*local, values, span)?,
            StepKind::Insert(place, element) => self.change_set(place, element, true, span)?,
            StepKind::Remove(place, element) => self.change_set(place, element, false, span)?,
            StepKind::Push(place, values) => self.push(place, values, span)?,
            StepKind::Pop(place, local) => {
                self.charge()?;
                let list = self.list_of(place)?;
                let fields = self.code.lists[list as usize].fields.len();
                let to = self.fields(local.index(), fields)?;
                let other = self.change(place, span)?;
                self.emit(Op::Pop { to, other, list }, span);
            }
            StepKind::Clear(place) => {
                self.charge()?;
                let (at, bytes) = self.engine.shape(place)?.extent();
                let other = self.change(place, span)?;
                self.emit(Op::Clear { other, at, bytes }, span);
            }
            StepKind::If(condition, yes, no) => self.branch(condition, yes, no, span)?,
            StepKind::ForSet(local, of, body) => self.for_set(*local, of, body, shows_order(&step.kind), span)?,
            StepKind::ForRange(local, from, to, body) => self.for_range(*local, from, to, body, span)?,
            StepKind::ForList(local, place, body) => self.for_list(*local, place, body, span)?,
            StepKind::Send { message, args, payload, object, to } => {
                self.send(*message, args, payload, object.as_ref(), to, span)?;
            }
            StepKind::Goto(to) => {
                self.charge()?;
                let charge = std::mem::take(&mut self.charges);
                self.emit(Op::Goto { charge, to: *to }, span);
            }
            StepKind::Resume => self.effect(Op::Resume, span),
            StepKind::Complete => self.effect(Op::Complete, span),
            StepKind::Perform(perform) => self.perform(perform, span)?,
            StepKind::CompleteWith(value, thread) => {
                let (value, thread) = (self.value(value)?, self.value(thread)?);
                self.effect(Op::CompleteWith { value, thread }, span);
            }
            StepKind::Return { value, to } => self.answer(value.as_ref(), to.as_ref(), span)?,
            StepKind::Defer => self.effect(Op::Defer, span),
            StepKind::Stall => self.effect(Op::Stall, span),
            StepKind::Start(task, args) => self.start(*task, args, span)?,
            StepKind::Yield => self.effect(Op::Yield, span),
            StepKind::Install(None) => self.effect(Op::Install, span),
            StepKind::Install(Some(_)) => return self.install_at(step),
            StepKind::InstallOwn(at) => return self.install_own(at, span),
            StepKind::Copy { from, to, bytes } => {
                let (from, to, bytes) = (self.address(from)?, self.address(to)?, self.address(bytes)?);
                self.effect(Op::Copy { from, to, bytes }, span);
            }
            StepKind::Store(address, value) => {
                let (address, value) = (self.address(address)?, self.value(value)?);
                self.effect(Op::Store { address, value }, span);
            }
            StepKind::Compose(word) => {
                let word = self.value(word)?;
                self.effect(Op::Compose { word }, span);
            }
            StepKind::Fill(to) => self.effect(Op::Line { step: LineStep::Fill(*to) }, span),
            StepKind::Upgrade => self.effect(Op::Line { step: LineStep::Upgrade }, span),
            StepKind::Take(to) => self.effect(Op::Line { step: LineStep::Take(*to) }, span),
            StepKind::Invalidate => self.effect(Op::Line { step: LineStep::Invalidate }, span),
            StepKind::Impossible => self.effect(Op::Impossible, span),
            StepKind::Stop => self.stop(span)?,
            StepKind::Assert(condition, why) => {
                if *why == Asserted::Written {
                    self.charge()?;
                    self.emit(Op::Asserted, span);
                }
                let from = self.value(condition)?;
                self.emit(Op::Assert { from, why: *why }, span);
            }
            StepKind::Elsewhere(owner, role, body) => self.elsewhere(owner, *role, body, span)?,
        }
        Some(())
    }

    /// A plain step is charged, before what comes next has an effect.
    fn charge(&mut self) -> Option<()> {
        self.charges = self.charges.checked_add(1)?;
        Some(())
    }

    fn assign(&mut self, place: &Place, exprs: &[Expr], span: Span) -> Option<()> {
        self.charge()?;
        match (self.engine.shape(place)?, exprs) {
            (Shape::Set(cell), [expr]) => {
                let (lo, cell) = (cell.lo, self.set_cell(*cell)?);
                let set = self.set_from(expr, lo)?;
                if !is_of_nodes(expr) {
                    self.emit(Op::CheckSet { set, cell }, expr.span);
                }
                let other = self.change(place, span)?;
                self.emit(Op::WriteSet { set, other, cell }, span);
            }
            (Shape::List(_) | Shape::Array(_), [expr]) => self.assign_whole(place, expr, span)?,
            (Shape::Record(fields), exprs) if place.field.is_none() => {
                let fields: Vec<Cell> = fields.clone();
                let first = self.values(exprs)?;
                self.check_fields(&fields, first, exprs)?;
                let other = self.change(place, span)?;
                for ((cell, from), _) in fields.iter().zip(first..).zip(exprs) {
                    let cell = self.cell(*cell)?;
                    self.emit(Op::Write { from, other, cell }, span);
                }
            }
            (Shape::Scalar(_) | Shape::Record(_), [expr]) => {
                let cell = self.engine.cell(place, Span::default()).ok()?;
                let from = self.value(expr)?;
                let number = self.cell(cell)?;
                if self.is_own(&place.owner, place.role) && !self.is_within(expr, cell.lo, cell.hi) {
                    self.emit(Op::CheckAndWrite { from, cell: number }, expr.span);
                    return Some(());
                }
                self.check(expr, from, cell, expr.span)?;
                let other = self.change(place, span)?;
                self.emit(Op::Write { from, other, cell: number }, span);
            }
            _ => return None,
        }
        Some(())
    }

    /// Some fields of an element of a list or array get values, from one of them on.
    fn assign_element(&mut self, place: &Place, index: &Expr, first: u16, exprs: &[Expr], span: Span) -> Option<()> {
        self.charge()?;
        let at = self.value(index)?;
        let from = match exprs {
            [expr] if is_set(expr) => self.bits(place, expr)?,
            exprs => self.values(exprs)?,
        };
        let (first, count) = (u8::try_from(first).ok()?, u8::try_from(exprs.len()).ok()?);
        let (fields, op): (Vec<Cell>, Box<dyn Fn(bool) -> Op>) = if self.engine.is_array(place) {
            let array = self.array_of(place)?;
            let op = move |other| Op::WriteElementOfArray { index: at, from, first, fields: count, other, array };
            (self.code.arrays[array as usize].fields.clone(), Box::new(op))
        } else {
            let list = self.list_of(place)?;
            let op = move |other| Op::WriteElement { index: at, from, first, fields: count, other, list };
            (self.code.lists[list as usize].fields.clone(), Box::new(op))
        };
        self.check_fields(fields.get(usize::from(first)..)?, from, exprs)?;
        let other = self.change(place, span)?;
        self.emit(op(other), index.span);
        Some(())
    }

    /// The bits of a set that becomes an element of an array.
    fn bits(&mut self, place: &Place, expr: &Expr) -> Option<Reg> {
        let cell = self.engine.set_in_array(place, expr.span).ok()?;
        let lo = cell.lo;
        let cell = self.set_cell(cell)?;
        let to = self.register()?;
        let sets = self.sets;
        let set = self.set_from(expr, lo)?;
        if !is_of_nodes(expr) {
            self.emit(Op::CheckSet { set, cell }, expr.span);
        }
        self.emit(Op::BitsOfSet { to, set }, expr.span);
        self.sets = sets;
        Some(to)
    }

    /// The values of a record's fields are checked, each where it was written.
    fn check_fields(&mut self, fields: &[Cell], first: Reg, exprs: &[Expr]) -> Option<()> {
        for ((cell, from), expr) in fields.iter().zip(first..).zip(exprs) {
            self.check(expr, from, *cell, expr.span)?;
        }
        Some(())
    }

    fn bind(&mut self, local: LocalId, exprs: &[Expr], span: Span) -> Option<()> {
        self.charge()?;
        let locals = self.locals;
        let declared = locals.get(local.index())?;
        match (*self.kept.get(local.index())?, exprs) {
            (Kept::Whole(_), [expr]) => self.bind_whole(local.index(), expr, span)?,
            (Kept::Set(_), [expr]) => {
                let (lo, _) = self.engine.set_range(&declared.ty);
                let from = self.set_from(expr, lo)?;
                let to = self.local_set(local.index())?;
                if from != to {
                    self.emit(Op::MoveSet { to, from }, span);
                }
            }
            (Kept::Scalars { count: 1.., .. }, [expr]) => {
                let to = self.local(local.index(), 0)?;
                let known = self.known(expr);
                match self.engine.range_of_local(&declared.ty, expr) {
                    Some((lo, hi)) if !self.is_within(expr, lo, hi) => {
                        let from = self.value(expr)?;
                        let cell = Cell { at: 0, width: 8, lo, hi, initial: lo, names: Names::Nothing };
                        self.check(expr, from, cell, span)?;
                        self.move_all(from, to, 1, span);
                        self.lies_within(to, lo, hi);
                    }
                    _ => self.scalar(expr, to)?,
                }
                known.into_iter().for_each(|value| self.lies_within(to, value, value));
            }
            (Kept::Scalars { .. }, exprs) => {
                let to = self.fields(local.index(), exprs.len())?;
                let first = self.values(exprs)?;
                self.move_all(first, to, exprs.len(), span);
            }
            (Kept::Set(_) | Kept::Whole(_), _) => return None,
        }
        Some(())
    }

    fn move_all(&mut self, first: Reg, to: Reg, count: usize, span: Span) {
        for ((from, to), _) in (first..).zip(to..).zip(0..count).filter(|((from, to), _)| from != to) {
            self.emit(Op::Move { to, from }, span);
        }
    }

    fn change_set(&mut self, place: &Place, element: &Expr, insert: bool, span: Span) -> Option<()> {
        self.charge()?;
        let from = self.value(element)?;
        let cell = self.engine.set_cell(place, span).ok()?;
        let cell = self.set_cell(cell)?;
        let to = self.register()?;
        let ty = &self.engine.protocol.roles[place.role.index()].vars[place.var.index()].ty;
        let bit = match ty {
            Type::NodeSet => Op::NodeBit { to, from },
            ty => {
                let (lo, count) = self.engine.set_range(ty);
                Op::NumberBit { to, from, lo: i32::try_from(lo).ok()?, count: u16::try_from(count).ok()? }
            }
        };
        self.emit(bit, element.span);
        let other = self.change(place, span)?;
        self.emit(if insert { Op::Insert { bit: to, other, cell } } else { Op::Remove { bit: to, other, cell } }, span);
        Some(())
    }

    fn push(&mut self, place: &Place, exprs: &[Expr], span: Span) -> Option<()> {
        self.charge()?;
        let list = self.list_of(place)?;
        let fields = self.code.lists[list as usize].fields.clone();
        let from = self.values(exprs)?;
        self.check_fields(&fields, from, exprs)?;
        let other = self.change(place, span)?;
        let fields = u8::try_from(exprs.len().min(fields.len())).ok()?;
        self.emit(Op::Push { from, fields, other, list }, span);
        Some(())
    }

    /// Counts the steps so far, before another way.
    fn count(&mut self, span: Span) {
        let steps = std::mem::take(&mut self.steps);
        if steps > 0 {
            self.emit(Op::Taken { steps }, span);
        }
    }

    fn branch(&mut self, condition: &Expr, yes: &[Step], no: &[Step], span: Span) -> Option<()> {
        self.charge()?;
        let (scalars, sets) = (self.scalars, self.sets);
        let from = self.value(condition)?;
        (self.scalars, self.sets) = (scalars, sets);
        let (charge, steps) = (std::mem::take(&mut self.charges), std::mem::take(&mut self.steps));
        let branch = self.emit(Op::Branch { from, charge, steps, otherwise: 0 }, span);
        self.steps(yes)?;
        self.flush(span);
        if no.is_empty() {
            self.count(span);
            return self.land(branch);
        }
        let steps = std::mem::take(&mut self.steps);
        let jump = self.emit(Op::Jump { steps, to: 0 }, span);
        self.land(branch)?;
        self.steps(no)?;
        self.flush(span);
        self.count(span);
        self.land(jump)
    }

    fn for_set(&mut self, local: LocalId, of: &Expr, body: &[Step], shows_order: bool, span: Span) -> Option<()> {
        let lo = i32::try_from(self.engine.set_range(&of.ty).0).ok()?;
        let to = self.fields(local.index(), 1)?;
        let mut set = self.set(of)?;
        if matches!(of.kind, ExprKind::Local(_)) {
            // The loop takes it apart.
            let from = std::mem::replace(&mut set, self.set_register()?);
            self.emit(Op::MoveSet { to: set, from }, of.span);
        }
        self.emit(Op::AnyOfSet { set }, span);
        let next = match shows_order {
            true => Op::AnyNodeOfSet { set, to, exit: 0 },
            false => Op::NextOfSet { set, to, lo, exit: 0 },
        };
        self.around(next, body, span)
    }

    fn for_range(&mut self, local: LocalId, from: &Expr, to: &Expr, body: &[Step], span: Span) -> Option<()> {
        let value = self.fields(local.index(), 1)?;
        let next = self.registers(2)?;
        let last = next + 1;
        self.scalar(from, next)?;
        self.scalar(to, last)?;
        self.emit(Op::AnyOfRange { from: next, to: last }, span);
        self.around(Op::NextOfRange { next, last, to: value, exit: 0 }, body, span)
    }

    fn for_list(&mut self, local: LocalId, place: &Place, body: &[Step], span: Span) -> Option<()> {
        let list = self.list_of(place)?;
        let fields = self.code.lists[list as usize].fields.len();
        let to = self.fields(local.index(), fields)?;
        let other = self.look(&place.owner, place.role, span)?;
        self.emit(Op::AllOfList { other, list }, span);
        self.around(Op::NextOfList { to, list, exit: 0 }, body, span)
    }

    /// A loop: what gives the next value, or leaves it, and its body.
    fn around(&mut self, next: Op, body: &[Step], span: Span) -> Option<()> {
        self.flush(span);
        self.count(span);
        let at = self.emit(next, span);
        let outer = std::mem::take(&mut self.stops);
        self.steps(body)?;
        self.flush(span);
        let steps = std::mem::take(&mut self.steps);
        self.emit(Op::Jump { steps, to: u32::try_from(at).ok()? }, span);
        for stop in std::mem::replace(&mut self.stops, outer) {
            self.land(stop)?;
        }
        self.land(at)
    }

    /// The innermost loop is left.
    fn stop(&mut self, span: Span) -> Option<()> {
        self.flush(span);
        let steps = std::mem::take(&mut self.steps);
        let jump = self.emit(Op::Jump { steps, to: 0 }, span);
        self.stops.push(jump);
        Some(())
    }

    fn elsewhere(&mut self, owner: &Owner, role: RoleId, body: &[Step], span: Span) -> Option<()> {
        if self.depth == MOST_DEPTH {
            return None;
        }
        self.seek(owner, role, Seek::Change, span)?;
        self.emit(Op::Enter { depth: self.depth }, span);
        let outer = std::mem::replace(&mut self.role, role);
        self.depth += 1;
        self.steps(body)?;
        self.depth -= 1;
        self.role = outer;
        self.emit(Op::Leave { depth: self.depth }, span);
        Some(())
    }

    /// Arguments, each checked against its declaration where it was written.
    fn args(&mut self, event: EventKind, exprs: &[Expr]) -> Option<Box<[Word]>> {
        let engine = self.engine;
        let shapes = engine.args.of(event);
        if shapes.len() != exprs.len() {
            return None;
        }
        let mut words = Vec::new();
        for (shape, expr) in shapes.iter().zip(exprs) {
            words.push(match shape {
                Shape::Scalar(cell) => {
                    let from = self.value(expr)?;
                    self.check(expr, from, *cell, expr.span)?;
                    Word::Scalar(from)
                }
                Shape::Set(cell) => {
                    let set = self.set_from(expr, cell.lo)?;
                    Word::Set(set, u8::try_from(cell.words()).ok()?)
                }
                Shape::List(_) | Shape::Array(_) => {
                    let whole = Whole::of(shape)?;
                    Word::Whole(self.whole(expr, &whole, true, None)?, self.whole_at(&whole)?)
                }
                Shape::Record(_) => return None,
            });
        }
        Some(words.into())
    }

    fn plan(&mut self, plan: SendPlan) -> Option<u16> {
        self.code.sends.push(plan);
        u16::try_from(self.code.sends.len() - 1).ok()
    }

    fn send(
        &mut self,
        message: MessageId,
        args: &[Expr],
        payload: &PayloadSource,
        object: Option<&Expr>,
        to: &Expr,
        span: Span,
    ) -> Option<()> {
        let kind = self.engine.protocol.messages[message.index()].object;
        let about = match object {
            _ if kind == NODE => About::Agent,
            Some(expr) => About::Given(self.object(expr)?),
            None => About::Present,
        };
        let args = self.args(EventKind::Message(message), args)?;
        let is_about_object = self.engine.protocol.roles[self.role.index()].object != NODE;
        let is_plain = matches!(payload, PayloadSource::Nothing | PayloadSource::Block);
        let home = match to.kind {
            ExprKind::Sender if is_plain => Some(false),
            ExprKind::Home if is_plain && is_about_object => Some(true),
            _ => None,
        };
        if let Some(home) = home {
            let data = if matches!(payload, PayloadSource::Block) { Source::Block } else { Source::Nothing };
            let plan = self.plan(SendPlan { message, task: TaskId::default(), kind, about, args, data })?;
            let charge = std::mem::take(&mut self.charges);
            self.emit(Op::SendTo { home, charge, plan }, to.span);
            return Some(());
        }
        let destination = self.value(to)?;
        let data = match payload {
            PayloadSource::Nothing => Source::Nothing,
            PayloadSource::Block => Source::Block,
            _ => {
                self.emit(Op::CheckNode { from: destination }, to.span);
                self.gather(payload, span)?;
                Source::Gathered
            }
        };
        let plan = self.plan(SendPlan { message, task: TaskId::default(), kind, about, args, data })?;
        let charge = std::mem::take(&mut self.charges);
        self.emit(Op::Send { to: destination, charge, plan }, to.span);
        Some(())
    }

    fn gather(&mut self, payload: &PayloadSource, span: Span) -> Option<()> {
        match payload {
            PayloadSource::Nothing | PayloadSource::Block => return None,
            PayloadSource::BlockOf(block) => {
                let block = self.object(block)?;
                self.effect(Op::GatherBlock { block }, span);
            }
            PayloadSource::Received => {
                self.emit(Op::Received, span);
            }
            PayloadSource::Memory { from, to } => {
                let (first, last) = (self.address(from)?, self.address(to)?);
                self.emit(Op::CheckOrder { from: first, to: last }, to.span);
                self.effect(Op::GatherMemory { from: first, to: last }, span);
            }
            PayloadSource::Own { from, to } => {
                let (first, last) = (self.address(from)?, self.address(to)?);
                self.emit(Op::CheckOrder { from: first, to: last }, to.span);
                self.effect(Op::GatherOwn { from: first, to: last }, span);
            }
            PayloadSource::Performed(local) => {
                let from = self.local(local.index(), 0)?;
                self.emit(Op::Gathered { from }, span);
            }
            PayloadSource::List(place) => {
                let list = self.list_of(place)?;
                let ty = &self.engine.protocol.roles[place.role.index()].vars[place.var.index()].ty;
                let blocks = matches!(ty, Type::List { of, .. } if **of == Type::Object(BLOCK));
                let other = self.look(&place.owner, place.role, span)?;
                self.effect(Op::GatherList { other, blocks, list }, span);
            }
        }
        Some(())
    }

    fn start(&mut self, task: TaskId, args: &[Expr], span: Span) -> Option<()> {
        let args = self.args(EventKind::Task(task), args)?;
        let role = self.engine.protocol.tasks[task.index()].role;
        self.seek(&Owner::Role(role), role, Seek::Find, span)?;
        let (kind, about) = (NODE, About::Present);
        let plan =
            self.plan(SendPlan { message: MessageId::default(), task, kind, about, args, data: Source::Nothing })?;
        self.effect(Op::Start { plan }, span);
        Some(())
    }

    fn answer(&mut self, value: Option<&Expr>, to: Option<&Expr>, span: Span) -> Option<()> {
        let thread = match to {
            Some(expr) => self.value(expr)?,
            None => {
                let to = self.register()?;
                self.emit(Op::Caller { to }, span);
                to
            }
        };
        let value = match value {
            Some(expr) => self.value(expr)?,
            None => {
                let to = self.register()?;
                self.emit(Op::Number { to, value: 0 }, span);
                to
            }
        };
        self.emit(Op::CheckThread { from: thread }, to.map_or(span, |expr| expr.span));
        self.effect(Op::Return { value, thread }, span);
        Some(())
    }

    fn perform(&mut self, perform: &Perform, span: Span) -> Option<()> {
        let count = u8::try_from(perform.args.len()).ok()?;
        let args = self.values(&perform.args)?;
        let result = match perform.result {
            Some(local) => Some(self.local(local.index(), 0)?),
            None => None,
        };
        self.effect(Op::Perform { kind: perform.kind, whose: perform.whose, args, count, result }, span);
        Some(())
    }

    fn install_own(&mut self, at: &Expr, span: Span) -> Option<()> {
        self.emit(Op::CheckData, span);
        let at = self.address(at)?;
        self.effect(Op::InstallOwn { at }, span);
        Some(())
    }

    fn install_at(&mut self, step: &Step) -> Option<()> {
        let StepKind::Install(Some(expr)) = &step.kind else { return None };
        // Whether there are data comes first.
        self.emit(Op::CheckData, step.span);
        let address = self.address(expr)?;
        self.effect(Op::InstallAt { address }, step.span);
        Some(())
    }
}

/// Whether the value of an expression is a set.
fn is_set(expr: &Expr) -> bool {
    matches!(expr.ty, Type::NodeSet | Type::IntSet { .. })
}

/// Whether an expression is a set in which there can be nothing but nodes: each was looked at when it was put in. What an
/// event brings was not.
fn is_of_nodes(expr: &Expr) -> bool {
    expr.ty == Type::NodeSet
        && match &expr.kind {
            ExprKind::SetOf(_) | ExprKind::Var(_) | ExprKind::Element(..) | ExprKind::AllNodes => true,
            ExprKind::SetBinary(_, left, right) => is_of_nodes(left) && is_of_nodes(right),
            _ => false,
        }
}
