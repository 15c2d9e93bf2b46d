//! Arguments of calls at which nothing looks (`docs/semantics.md`, section 6, *Idle words*).
//!
//! A protocol that only carries an argument from one place to the next does the same whatever it is. So nothing is gained by calls that differ in it alone.
//!
//! It is worked out backwards. A place that a value can be in is *looked at* where anything depends on what it holds, and so is a place from which a value is
//! moved to one that is looked at. What is not known to be a mere move counts as a look: guards, conditions, addresses, destinations, arithmetic (which can
//! overflow), values of another type (which can be outside its range), claims, messages of lanes on which equal ones are one, and every step that is not named here.
//!
//! One thing sees values although nobody looks: whether an event changes a state at all, on which it depends what a deadlock is. So an argument is idle only if
//! all places that it reaches hold nothing but the value that is passed: no other constant, and nothing that is looked at elsewhere, comes there.

use crate::walk::{claims, each_step, expressions, object_of, parts, place_of, visit};
use crate::*;
use std::collections::{BTreeMap, BTreeSet};

/// Where a value can be. The last number is a field of a record, else 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holder {
    /// An argument of a call.
    Call(OpId, u16),
    Message(MessageId, u16),
    Task(TaskId, u16),
    /// A variable; of a list or array, all its elements.
    Var(RoleId, VarId, u16),
    /// A local of the code of this number.
    Local(usize, LocalId, u16),
    /// What calls return.
    Result,
    /// Words of memory, of any node.
    Memory,
}

impl Holder {
    /// A part of a value that is moved as a whole, from the first on.
    fn part(self, part: u16) -> Holder {
        match self {
            Holder::Var(role, var, first) => Holder::Var(role, var, first + part),
            Holder::Local(code, local, first) => Holder::Local(code, local, first + part),
            whole => whole,
        }
    }
}

/// Which values move where, and which are looked at.
struct Flow<'p> {
    protocol: &'p Protocol,
    /// The number of the code whose locals are meant.
    code: usize,
    /// From where values come into a place, and where they go from it.
    sources: BTreeMap<Holder, Vec<Holder>>,
    targets: BTreeMap<Holder, Vec<Holder>>,
    looked_at: BTreeSet<Holder>,
    /// Places that may hold another value than the first of their type, whatever is passed.
    mixed: BTreeSet<Holder>,
}

/// For each call, which of its arguments can be left at one value, since nothing looks at them. Of a list these are its elements: how long it is decides how long
/// others are.
#[must_use]
pub fn idle_arguments(protocol: &Protocol) -> Vec<Vec<bool>> {
    let mut flow = Flow::new(protocol);
    flow.everything();
    let looked_at = closure(flow.looked_at.into_iter(), &flow.sources);
    let mut mixed = closure(flow.mixed.union(&looked_at).copied(), &flow.targets);
    // What calls return is kept nowhere.
    mixed.remove(&Holder::Result);
    let meets_others = closure(mixed.into_iter(), &flow.sources);
    let is_idle = |op: usize, arg: usize, ty: &Type| {
        // One node or object in place of all would tell them apart.
        let holder = Holder::Call(OpId::at(op), arg as u16);
        let of = if let Type::List { of, .. } = ty { of } else { ty };
        matches!(of, Type::Bool | Type::Int { .. } | Type::Word)
            && !looked_at.contains(&holder)
            && !meets_others.contains(&holder)
    };
    let ops = protocol.ops.iter().enumerate();
    // What the body of a call does with its arguments, and with what events it says, is not followed.
    let is_followed = |op: &Op| op.body.is_none() && !op.is_event;
    ops.map(|(op, declared)| {
        let args = declared.args.iter().enumerate();
        args.map(|(i, arg)| is_followed(declared) && is_idle(op, i, &arg.ty)).collect()
    })
    .collect()
}

impl<'p> Flow<'p> {
    fn new(protocol: &'p Protocol) -> Flow<'p> {
        let (sources, targets) = Default::default();
        let (looked_at, mixed) = Default::default();
        Flow { protocol, code: 0, sources, targets, looked_at, mixed }
    }

    fn everything(&mut self) {
        // Loads of a block find what is stored in its memory.
        if self.protocol.uses(BLOCK) {
            self.looked_at.insert(Holder::Memory);
        }
        for role in &self.protocol.roles {
            for handler in role.code() {
                self.code += 1;
                if role.kind != RoleKind::Ghost {
                    self.arguments(handler);
                }
                handler.guard.iter().for_each(|guard| self.look(guard));
                each_step(&handler.steps, &mut |step| self.step(handler, step));
            }
        }
        self.variables();
        self.messages();
        self.ghosts();
        self.copies();
        self.claims();
    }

    /// What variables hold at first.
    fn variables(&mut self) {
        for (role, declared) in (0..).map(RoleId).zip(&self.protocol.roles) {
            for (var, declared) in (0..).map(VarId).zip(&declared.vars) {
                match &declared.ty {
                    // Lists are empty at first.
                    Type::List { .. } => {}
                    Type::Record(record) => {
                        let fields = (0..).zip(&self.protocol.records[record.index()].fields);
                        let others = fields.filter(|(_, field)| first_of(&field.ty) != Some(Bound::fixed(0)));
                        self.mixed.extend(others.map(|(field, _)| Holder::Var(role, var, field)));
                    }
                    Type::Array { of, .. } if first_of(of) == Some(Bound::fixed(declared.initial)) => {}
                    ty if first_of(ty) == Some(Bound::fixed(declared.initial)) => {}
                    ty => {
                        let fields = 0..self.fields(element_of(ty));
                        self.mixed.extend(fields.map(|field| Holder::Var(role, var, field)));
                    }
                }
            }
        }
    }

    /// Of messages of a duplicating lane equal ones are one, so that what they carry decides how many there are.
    fn messages(&mut self) {
        for (message, declared) in (0..).map(MessageId).zip(&self.protocol.messages) {
            if self.protocol.lanes[declared.lane.index()].duplicating {
                let args = 0..declared.args.len();
                self.looked_at.extend(args.map(|arg| Holder::Message(message, arg as u16)));
                if declared.payload != PayloadShape::Nothing {
                    self.looked_at.insert(Holder::Memory);
                }
            }
        }
    }

    /// What brings an event's arguments to a handler.
    fn arguments(&mut self, handler: &Handler) {
        for arg in 0..handler.args {
            let from = match handler.event {
                EventKind::Message(message) => Holder::Message(message, arg),
                EventKind::Op(op) => Holder::Call(op, arg),
                EventKind::Task(task) => Holder::Task(task, arg),
                _ => continue,
            };
            for part in 0..self.parts_of(&handler.locals[usize::from(arg)].ty) {
                self.moves(from, Holder::Local(self.code, LocalId(arg), part));
            }
        }
    }

    /// What ghosts hear of calls decides what they do: it is looked at.
    fn ghosts(&mut self) {
        for (event, _) in self.protocol.ghosts.iter().flat_map(|ghost| &ghost.clauses) {
            match event {
                GhostEvent::Call(op) => self.look_at_arguments(*op),
                GhostEvent::Return(_) => _ = self.looked_at.insert(Holder::Result),
                GhostEvent::Read | GhostEvent::Write => {}
            }
        }
    }

    /// What is copied depends on what is passed, and when it is done on what is returned.
    fn copies(&mut self) {
        for promise in &self.protocol.promises {
            if let Promise::Copies(copies) = promise {
                self.look_at_arguments(copies.copy);
                self.looked_at.insert(Holder::Result);
            }
        }
    }

    fn look_at_arguments(&mut self, op: OpId) {
        let args = 0..self.protocol.ops[op.index()].args.len();
        self.looked_at.extend(args.map(|arg| Holder::Call(op, arg as u16)));
    }

    fn claims(&mut self) {
        // Their locals are the call's arguments, and others.
        self.code += 1;
        claims(self.protocol).for_each(|claim| self.look(claim));
        for condition in &self.protocol.conditions {
            if let EventKind::Op(op) = condition.event {
                self.look_at_locals(op, 0, &condition.condition);
            }
        }
        for wait in &self.protocol.waits {
            // The first is the node that calls.
            self.look_at_locals(wait.op, 1, &wait.until.condition);
        }
    }

    /// Looks at the arguments of a call that a claim about it names, the first of which is this local.
    fn look_at_locals(&mut self, op: OpId, first: u16, claim: &Expr) {
        let args = self.protocol.ops[op.index()].args.len() as u16;
        visit(claim, &mut |expr| {
            if let ExprKind::Local(local) | ExprKind::LocalField(local, _) = expr.kind
                && let Some(arg) = local.0.checked_sub(first).filter(|&arg| arg < args)
            {
                self.looked_at.insert(Holder::Call(op, arg));
            }
        });
    }

    fn moves(&mut self, from: Holder, to: Holder) {
        self.sources.entry(to).or_default().push(from);
        self.targets.entry(from).or_default().push(to);
    }

    fn step(&mut self, handler: &'p Handler, step: &'p Step) {
        match &step.kind {
            StepKind::Assign(place, values) => {
                self.look_at_owner(place);
                let ty = &self.protocol.roles[place.role.index()].vars[place.var.index()].ty;
                let first = place.field.unwrap_or(0);
                for (field, value) in (first..).zip(values) {
                    let ty = self.field_type(ty, field);
                    self.value(value, &ty, Holder::Var(place.role, place.var, field));
                }
            }
            StepKind::Push(place, values) => {
                self.look_at_owner(place);
                for (field, value) in (0..).zip(values) {
                    let ty = self.field_type(self.element_type(place), field);
                    self.value(value, &ty, Holder::Var(place.role, place.var, field));
                }
            }
            StepKind::AssignElement(place, index, first, values) => {
                self.look_at_owner(place);
                self.look(index);
                for (field, value) in (*first..).zip(values) {
                    let ty = self.field_type(self.element_type(place), field);
                    self.value(value, &ty, Holder::Var(place.role, place.var, field));
                }
            }
            StepKind::Clear(place) => self.look_at_owner(place),
            StepKind::Let(local, values) => {
                for (field, value) in (0..).zip(values) {
                    let ty = self.field_type(&handler.locals[local.index()].ty, field);
                    self.value(value, &ty, Holder::Local(self.code, *local, field));
                }
            }
            StepKind::Pop(place, local) | StepKind::ForList(local, place, _) => {
                self.look_at_owner(place);
                for field in 0..self.fields(self.element_type(place)) {
                    let from = Holder::Var(place.role, place.var, field);
                    self.moves(from, Holder::Local(self.code, *local, field));
                }
            }
            StepKind::Send { message, args, payload: PayloadSource::Nothing, object, to } => {
                object.iter().chain([to]).for_each(|expr| self.look(expr));
                let declared = &self.protocol.messages[message.index()].args;
                for ((i, value), arg) in (0..).zip(args).zip(declared) {
                    self.value(value, &arg.ty, Holder::Message(*message, i));
                }
            }
            StepKind::Start(task, args) => {
                let declared = &self.protocol.tasks[task.index()].args;
                for ((i, value), arg) in (0..).zip(args).zip(declared) {
                    self.value(value, &arg.ty, Holder::Task(*task, i));
                }
            }
            StepKind::Return { value, to } => {
                to.iter().for_each(|expr| self.look(expr));
                if let Some(value) = value {
                    self.returned(value);
                }
            }
            StepKind::Store(address, value) => {
                self.look(address);
                self.value(value, &Type::Word, Holder::Memory);
            }
            other => {
                expressions(other).into_iter().for_each(|expr| self.look(expr));
                if let Some(place) = place_of(other) {
                    self.look_at_var(place);
                }
            }
        }
    }

    /// A value that goes to a caller, whichever call it made: only as it is.
    fn returned(&mut self, value: &Expr) {
        let mut results = self.protocol.ops.iter().filter_map(|op| op.result.as_ref());
        match results.all(|ty| *ty == value.ty) {
            true => self.value(value, &value.ty, Holder::Result),
            false => self.look(value),
        }
    }

    /// A value goes to a place of this type.
    fn value(&mut self, value: &Expr, ty: &Type, to: Holder) {
        match self.holder(value) {
            Some(from) if value.ty == *ty => {
                for field in 0..self.parts_of(ty) {
                    self.moves(from.part(field), to.part(field));
                }
                parts(value).into_iter().for_each(|part| self.look(part));
            }
            _ => {
                self.look(value);
                let is_first = matches!(&value.kind, ExprKind::Constant(c) if first_of(ty) == Some(*c));
                if !is_first {
                    self.mixed.insert(to);
                }
            }
        }
    }

    /// The place that a value is read from, if it is nothing but read.
    fn holder(&self, value: &Expr) -> Option<Holder> {
        match &value.kind {
            ExprKind::Local(local) => Some(Holder::Local(self.code, *local, 0)),
            ExprKind::LocalField(local, field) => Some(Holder::Local(self.code, *local, *field)),
            ExprKind::Var(place) => Some(Holder::Var(place.role, place.var, place.field.unwrap_or(0))),
            ExprKind::Element(place, _, field) => Some(Holder::Var(place.role, place.var, *field)),
            ExprKind::LocalElement(local, _, field) => Some(Holder::Local(self.code, *local, *field)),
            ExprKind::Memory(_) => Some(Holder::Memory),
            _ => None,
        }
    }

    /// Something depends on a value.
    fn look(&mut self, value: &Expr) {
        visit(value, &mut |expr| {
            let parts = 0..self.parts_of(&expr.ty);
            let holder = self.holder(expr);
            self.looked_at.extend(holder.iter().flat_map(|holder| parts.clone().map(|part| holder.part(part))));
        });
    }

    fn look_at_owner(&mut self, place: &Place) {
        object_of(&place.owner).into_iter().for_each(|expr| self.look(expr));
    }

    fn look_at_var(&mut self, place: &Place) {
        let fields = 0..self.fields(self.element_type(place));
        self.looked_at.extend(fields.map(|field| Holder::Var(place.role, place.var, field)));
    }

    /// The type of the elements of a list or array, or of a variable that is none.
    fn element_type(&self, place: &Place) -> &'p Type {
        element_of(&self.protocol.roles[place.role.index()].vars[place.var.index()].ty)
    }

    fn fields(&self, ty: &Type) -> u16 {
        self.protocol.numbers_of(ty) as u16
    }

    /// How many places a value that is moved as a whole is in: of an array of records one a field.
    fn parts_of(&self, ty: &Type) -> u16 {
        if let Type::Array { of, .. } | Type::List { of, .. } = ty { self.fields(of) } else { 1 }
    }

    fn field_type(&self, ty: &Type, field: u16) -> Type {
        match ty {
            Type::Record(record) => self.protocol.records[record.index()].fields[field as usize].ty.clone(),
            other => other.clone(),
        }
    }
}

/// These places, and all to which a relation leads from them.
fn closure(from: impl Iterator<Item = Holder>, next: &BTreeMap<Holder, Vec<Holder>>) -> BTreeSet<Holder> {
    let mut reached: BTreeSet<Holder> = from.collect();
    let mut open: Vec<Holder> = reached.iter().copied().collect();
    while let Some(holder) = open.pop() {
        open.extend(next.get(&holder).into_iter().flatten().filter(|next| reached.insert(**next)));
    }
    reached
}

/// The type of the elements of a list or array, or the type itself.
fn element_of(ty: &Type) -> &Type {
    match ty {
        Type::List { of, .. } | Type::Array { of, .. } => of,
        other => other,
    }
}

/// The first value of a type, which is passed for all.
fn first_of(ty: &Type) -> Option<Bound> {
    match ty {
        Type::Bool | Type::Word => Some(Bound::fixed(0)),
        Type::Int { lo, .. } => Some(*lo),
        _ => None,
    }
}
