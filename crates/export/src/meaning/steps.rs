//! Steps of handlers as statements of the model.

use super::expressions::{Scope, local_field, within};
use super::names::{DATA, DEFERRED, FX, GIVEN, HELD, I, INT, ME, MEM, O, THR, how, local, locals, part};
use super::{Export, records::has_caller};
use crate::model::{self, Block, Declared, Name, Term, array, call, name, range, values};
use trivium_protocol::walk::changed_place;
use trivium_protocol::{
    Asserted, BLOCK, EventKind, Expr, Handler, LocalId, MessageId, NODE, Named, Owner, PayloadShape, PayloadSource,
    Perform, PerformFor, PerformKind, Place, RoleId, Step, StepKind, Type,
};

/// The body of a handler while it is written.
pub(super) struct Writer<'s> {
    pub(super) scope: Scope<'s>,
    /// Declarations of what the handler needs besides its locals.
    pub declared: Vec<Declared>,
    /// Roles whose records the handler may change besides its own, in the order of their numbers.
    pub touched: Vec<RoleId>,
    column: usize,
    role: RoleId,
    fresh: u32,
}

impl<'s> Writer<'s> {
    pub fn new(export: &'s Export<'s>, role: RoleId, column: usize, handler: &'s Handler) -> Writer<'s> {
        let scope = Scope {
            export,
            node: ME.into(),
            object: O.into(),
            role,
            here: false,
            first: Some((role, O.into())),
            event: Some(handler.event),
            locals: &handler.locals,
        };
        let mut touched = Vec::new();
        changed_roles(&handler.steps, role, &mut touched);
        touched.sort();
        touched.dedup();
        Writer { scope, declared: Vec::new(), touched, column, role, fresh: 0 }
    }

    pub fn guard(&self, guard: &Expr) -> model::Expr {
        self.scope.truth(guard)
    }

    /// A variable of the model that nobody else uses.
    pub(super) fn fresh(&mut self, prefix: &str) -> Name {
        self.fresh += 1;
        let name = name(format!("{prefix}{}", self.fresh));
        self.declared.push(name.clone().of(INT));
        name
    }

    pub fn steps(&mut self, steps: &[Step], out: &mut Block) {
        steps.iter().for_each(|step| self.step(step, out));
    }

    fn step(&mut self, step: &Step, out: &mut Block) {
        match &step.kind {
            StepKind::Assign(place, values) => self.assign(place, values, out),
            StepKind::AssignElement(place, index, first, values) => {
                self.assign_element(place, index, usize::from(*first), values, out);
            }
            StepKind::Let(local, values) => self.bind(*local, values, out),
            StepKind::Insert(place, element) => self.change_set(place, element, "either", out),
            StepKind::Remove(place, element) => self.change_set(place, element, "without", out),
            StepKind::Push(place, values) => self.push(place, values, out),
            StepKind::Pop(place, local) => self.pop(place, *local, out),
            StepKind::Clear(place) => {
                self.touch(&place.owner, place.role, out);
                let (node, object) = self.scope.instance(&place.owner, place.role);
                self.scope.export.clear_var(place.role, place.var.index(), node, object, out);
            }
            StepKind::If(condition, yes, no) => {
                let condition = self.scope.truth(condition);
                let (mut then, mut otherwise) = (Block::default(), Block::default());
                self.steps(yes, &mut then);
                self.steps(no, &mut otherwise);
                out.when_else(condition, |out| out.include(then), |out| out.include(otherwise));
            }
            StepKind::ForSet(local, of, body) => self.for_set(*local, of, body, out),
            StepKind::ForRange(id, from, to, body) => {
                let (at, last) = (self.fresh("at"), self.fresh("last"));
                out.assign(&at, self.scope.number(from));
                out.assign(&last, self.scope.number(to));
                out.while_((&at).le(last), |out| {
                    out.assign(local(id.index()), &at);
                    self.steps(body, out);
                    out.increase(&at, 1);
                });
            }
            StepKind::ForList(local, place, body) => self.for_list(*local, place, body, out),
            StepKind::Send { message, args, payload, object, to } => {
                self.send(*message, args, payload, (object.as_ref(), to), out);
            }
            StepKind::Goto(state) => {
                let (export, role) = (self.scope.export, self.scope.role);
                out.assign(export.state(role, ME, &self.scope.object), export.state_name(role, *state));
            }
            StepKind::Resume => {
                if self.about_block() {
                    out.assign(FX.field("resumed").at(&self.scope.object), true);
                    if self.scope.export.cached() {
                        self.scope.export.answered(&self.scope.object, out);
                    }
                }
            }
            StepKind::Complete => {
                if self.about_block() {
                    out.call("complete", (ME, &self.scope.object));
                }
            }
            StepKind::Perform(perform) => self.perform(perform, out),
            StepKind::CompleteWith(value, thread) => {
                let (value, thread) = (self.scope.number(value), self.scope.number(thread));
                out.call("complete_with", (ME, &self.scope.object, thread, value));
            }
            StepKind::Return { value, to } => {
                let caller = if self.scope.event.is_some_and(has_caller) { THR.into() } else { (-1).into() };
                let to = to.as_ref().map_or(caller, |to| self.scope.number(to));
                let value = value.as_ref().map_or(0.into(), |value| self.scope.number(value));
                out.call("answer", (to, value, FX));
            }
            // Of messages and lines, only those that are tried again come here.
            StepKind::Stall if self.scope.event.is_some_and(has_caller) => out.assign(how(), HELD),
            StepKind::Stall => self.keep_event(out),
            StepKind::Defer => out.when(how().differs_from(DEFERRED), |out| self.keep_event(out)),
            StepKind::Start(task, args) => {
                let declared = &self.scope.export.protocol().tasks[task.index()];
                let (_, object) = self.scope.instance(&Owner::Role(declared.role), declared.role);
                let args = self.arguments(&declared.args, args);
                out.call(format!("start{}", task.0), [values((ME, object)), args].concat());
            }
            StepKind::Yield => {
                if let Some(EventKind::Task(task)) = self.scope.event {
                    let count = self.scope.export.protocol().tasks[task.index()].args.len();
                    let args = locals(count).map(model::Expr::from).collect();
                    out.call(format!("start{}", task.0), [values((ME, O)), args].concat());
                }
            }
            StepKind::Install(address) => self.install(address.as_ref(), out),
            StepKind::Copy { from, to, bytes } => {
                let [from, to, bytes] = [from, to, bytes].map(|e| self.scope.number(e));
                out.call("copy", (ME, from, to, bytes));
            }
            StepKind::Store(address, value) => {
                out.call("store", (ME, self.scope.number(address), self.scope.number(value)));
            }
            // What a program's function does is not part of the explored system, and neither is what it has of its own.
            StepKind::InstallOwn(_) => Self::needs_data(out),
            StepKind::Fill(to) => out.call("fill", (ME, &self.scope.object, *to as u8, FX)),
            StepKind::Upgrade => out.call("upgrade", (ME, &self.scope.object, FX)),
            StepKind::Take(to) => out.call("take", (ME, &self.scope.object, *to as u8)),
            // Refused: see `Export::check_bodies`.
            StepKind::Compose(_) => {}
            StepKind::Invalidate => out.call("invalidate", (ME, &self.scope.object)),
            StepKind::Impossible => out.error("fault: this was declared impossible"),
            // What is left of the loop does nothing.
            StepKind::Stop => {}
            StepKind::Assert(condition, why) => {
                let why = match why {
                    Asserted::Written => "fault: assertion failed",
                    Asserted::Lives => "fault: this object is free",
                    Asserted::AtHome => "fault: an object is freed away from its home",
                };
                out.refuse(!self.scope.truth(condition), why);
            }
            StepKind::Elsewhere(owner, role, body) => self.elsewhere(owner, *role, body, out),
        }
    }

    /// The event is deferred. In a handler its arguments have the names of the first locals.
    fn keep_event(&self, out: &mut Block) {
        self.scope.export.keep_event(self.role, self.column, local, out);
    }

    fn needs_data(out: &mut Block) {
        out.refuse(DATA.is(0), "fault: no data");
    }

    fn send(
        &mut self,
        message: MessageId,
        args: &[Expr],
        payload: &PayloadSource,
        (object, to): (Option<&Expr>, &Expr),
        out: &mut Block,
    ) {
        let declared = &self.scope.export.protocol().messages[message.index()];
        let object = match object {
            _ if declared.object == NODE => 0.into(),
            Some(object) => self.scope.number(object),
            None => self.scope.object.clone(),
        };
        let args = self.arguments(&declared.args, args);
        let data = match payload {
            PayloadSource::Block => MEM.at(ME).at(&object * self.scope.export.stride) + 1,
            PayloadSource::BlockOf(block) => MEM.at(ME).at(self.scope.number(block) * self.scope.export.stride) + 1,
            PayloadSource::Received => {
                Self::needs_data(out);
                DATA.into()
            }
            PayloadSource::Memory { from, to } => call("gather", (ME, self.scope.number(from), self.scope.number(to))),
            PayloadSource::List(place) => self.gather_list(place, out),
            PayloadSource::Own { from, .. } => self.own(from) + 1,
            PayloadSource::Performed(id) => local(id.index()) + 1,
            PayloadSource::Nothing => 0.into(),
        };
        let about = values((ME, self.scope.number(to), object));
        out.call(format!("send{}", message.0), [about, args, vec![data]].concat());
    }

    fn install(&self, address: Option<&Expr>, out: &mut Block) {
        Self::needs_data(out);
        let address = address.map(|address| self.scope.number(address));
        match (address, self.shape_of_event()) {
            (Some(address), PayloadShape::Memory) => out.call("spread", (ME, DATA, address, false)),
            (Some(address), PayloadShape::List) => out.call("spread", (ME, DATA, address, true)),
            (Some(address), _) => out.call("store", (ME, address, DATA - 1)),
            (None, PayloadShape::List) => out.call("return_words", (ME, DATA)),
            (None, _) => out.assign(MEM.at(ME).at(&self.scope.object * self.scope.export.stride), DATA - 1),
        }
    }

    /// What data the event brings.
    fn shape_of_event(&self) -> PayloadShape {
        match self.scope.event {
            Some(EventKind::Message(m)) => self.scope.export.protocol().messages[m.index()].payload,
            Some(EventKind::WriteBack) => PayloadShape::Block,
            _ => PayloadShape::Nothing,
        }
    }

    /// The words that a list names, as data.
    fn gather_list(&mut self, place: &Place, out: &mut Block) -> model::Expr {
        let blocks = matches!(self.scope.type_of(place), Type::List { of, .. } if **of == Type::Object(BLOCK));
        let list = self.scope.variable(place);
        let (code, at) = (self.fresh("code"), self.fresh("at"));
        let element = (&list).field(part(0_usize)).at(&at);
        let word = if blocks { element * 2 } else { element / 8 };
        out.assign(&code, 1);
        out.assign(&at, 0);
        out.while_((&at).lt(list.field("n")), |out| {
            let contents = call("load", (ME, model::Expr::from(8) * &word));
            out.assign(&code, call("behind", (call("behind", (&code, &word)), contents)));
            out.increase(&at, 1);
        });
        code + 1
    }

    fn about_block(&self) -> bool {
        self.scope.export.role(self.scope.role).object == BLOCK
    }

    /// An argument in the form of its declaration.
    pub(super) fn argument(&self, ty: &Type, value: &Expr) -> model::Expr {
        match ty {
            Type::NodeSet | Type::IntSet { .. } => {
                let (lo, _) = self.scope.export.set_range(ty);
                self.scope.set_from(value, lo)
            }
            Type::Array { .. } => self.scope.array_number(value),
            Type::List { .. } => self.scope.list_number(ty, value),
            _ => self.scope.number(value),
        }
    }

    fn arguments(&self, declared: &[Named], given: &[Expr]) -> Vec<model::Expr> {
        declared.iter().zip(given).map(|(arg, value)| self.argument(&arg.ty, value)).collect()
    }

    /// Values, each in a variable of its own before anything is changed.
    fn kept_values(&mut self, values: &[Expr], out: &mut Block) -> Vec<Name> {
        let kept: Vec<Name> = values.iter().map(|_| self.fresh("value")).collect();
        for (kept, value) in kept.iter().zip(values) {
            out.assign(kept, self.scope.number(value));
        }
        kept
    }

    /// Notes that a record of another role, or of another object, is changed.
    pub(super) fn touch(&self, owner: &Owner, role: RoleId, out: &mut Block) {
        if self.scope.is_own(owner, role) {
            return;
        }
        let (_, object) = self.scope.instance(owner, role);
        if self.touched.contains(&role) {
            out.assign(Export::touched(role).at(Export::here(role, ME, object)), true);
        }
    }

    fn assign(&mut self, place: &Place, values: &[Expr], out: &mut Block) {
        let ty = self.scope.type_of(place).clone();
        match (&ty, values) {
            (Type::Record(_), values) if place.field.is_none() => {
                let fields = self.kept_values(values, out);
                self.touch(&place.owner, place.role, out);
                let record = self.scope.variable(place);
                for (f, field) in fields.iter().enumerate() {
                    out.assign((&record).field(part(f)), field);
                }
            }
            (Type::Array { .. }, [value]) => self.assign_array(place, value, out),
            (Type::List { .. }, [value]) => self.assign_list(place, value, out),
            (_, [value]) => {
                let value = self.argument(&ty, value);
                self.touch(&place.owner, place.role, out);
                out.assign(self.scope.place(place), value);
            }
            _ => {}
        }
    }

    /// What lies at a place of a program's own memory.
    fn own(&self, place: &Expr) -> model::Expr {
        let (place, export) = (self.scope.number(place), self.scope.export);
        if export.model.client.script.is_none() { place % export.values } else { place }
    }

    fn perform(&mut self, perform: &Perform, out: &mut Block) {
        let args: Vec<model::Expr> = perform.args.iter().map(|arg| self.scope.number(arg)).collect();
        let (asker, operands) = match perform.whose {
            PerformFor::Thread => (call("asker", (&args[3], &args[2])), &args[4..]),
            PerformFor::ProgramOf => (model::Expr::from(-2) - &args[2], &args[3..]),
            PerformFor::Program => ((-1).into(), &args[2..]),
        };
        let about = values((ME, &self.scope.object, &args[0], &args[1], asker));
        let writes = |value: model::Expr| ("perform_write", vec![value]);
        let (routine, more) = match (perform.kind, operands) {
            (PerformKind::WriteFrom, _) => writes(perform.args.last().map_or(0.into(), |place| self.own(place))),
            (PerformKind::WriteData, _) => {
                Self::needs_data(out);
                writes(DATA - 1)
            }
            (PerformKind::Write, [value]) => writes(value.clone()),
            (PerformKind::Rmw, operands) if operands.len() == 3 => ("perform_rmw", operands.to_vec()),
            _ => ("perform_read", Vec::new()),
        };
        out.call(routine, [about, more].concat());
        if self.scope.export.performs_for_values() {
            if let Some(result) = perform.result {
                out.assign(local(result.index()), GIVEN);
            }
            out.assign(GIVEN, 0);
        }
    }

    fn bind(&mut self, id: LocalId, values: &[Expr], out: &mut Block) {
        let ty = self.scope.locals[id.index()].ty.clone();
        let name = local(id.index());
        match (&ty, values) {
            (Type::Int { .. }, [value]) => {
                let (lo, hi) = self.scope.export.range(&ty, false);
                out.assign(name, within(self.scope.number(value), lo, hi));
            }
            (Type::Object(_), [value]) if !matches!(value.ty, Type::Object(_)) => {
                out.assign(name, within(self.scope.number(value), 0, u32::MAX));
            }
            (Type::Record(_), values) => {
                let fields = self.kept_values(values, out);
                for (f, field) in fields.iter().enumerate() {
                    out.assign(self.local_field(id, f), field);
                }
            }
            (_, [value]) => out.assign(name, self.argument(&ty, value)),
            _ => {}
        }
    }

    fn change_set(&mut self, place: &Place, element: &Expr, change: &'static str, out: &mut Block) {
        let (lo, count) = self.scope.export.set_range(self.scope.type_of(place));
        let bit = call("single", (self.scope.number(element), lo, count));
        self.touch(&place.owner, place.role, out);
        let set = self.scope.variable(place);
        out.assign(&set, call(change, (&set, bit)));
    }

    fn push(&mut self, place: &Place, values: &[Expr], out: &mut Block) {
        let Type::List { up_to, .. } = self.scope.type_of(place) else { return };
        let capacity = up_to.at(self.scope.export.model.nodes);
        let fields = self.kept_values(values, out);
        self.touch(&place.owner, place.role, out);
        let list = self.scope.variable(place);
        let length = (&list).field("n");
        out.refuse((&length).is(capacity), "fault: the list is full");
        for (f, field) in fields.iter().enumerate() {
            out.assign((&list).field(part(f)).at(&length), field);
        }
        out.increase(&length, 1);
    }

    /// The fields of a list's elements, with the value of a place that is not in use.
    fn list_fields(&self, place: &Place) -> Vec<i64> {
        match self.scope.type_of(place) {
            Type::List { of, .. } => {
                let export = self.scope.export;
                export.fields(of).iter().map(|ty| export.first_value(ty, None)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn local_field(&self, id: LocalId, field: usize) -> Name {
        local_field(&self.scope.locals[id.index()], id, field)
    }

    fn pop(&mut self, place: &Place, local: LocalId, out: &mut Block) {
        self.touch(&place.owner, place.role, out);
        let list = self.scope.variable(place);
        let (length, field) = ((&list).field("n"), |f: usize| (&list).field(part(f)));
        let at = self.fresh("at");
        let fields = self.list_fields(place);
        out.refuse((&length).is(0), "fault: the list is empty");
        for f in 0..fields.len() {
            out.assign(self.local_field(local, f), field(f).at(0));
        }
        out.assign(&at, 0);
        out.while_((&at + 1).lt(&length), |out| {
            for f in 0..fields.len() {
                out.assign(field(f).at(&at), field(f).at(&at + 1));
            }
            out.increase(&at, 1);
        });
        for (f, first) in fields.iter().enumerate() {
            out.assign(field(f).at(&at), *first);
        }
        out.assign(length, at);
    }

    fn for_set(&mut self, id: LocalId, of: &Expr, body: &[Step], out: &mut Block) {
        let (lo, count) = self.scope.export.set_range(&of.ty);
        let (set, at) = (self.fresh("set"), self.fresh("at"));
        out.assign(&set, self.scope.set_from(of, lo));
        out.assign(&at, 0);
        out.while_((&at).lt(count), |out| {
            out.when(call("has", (set, &at)), |out| {
                out.assign(local(id.index()), &at + lo);
                self.steps(body, out);
            });
            out.increase(&at, 1);
        });
    }

    /// The loop goes over the list as it is when it starts.
    fn for_list(&mut self, id: LocalId, place: &Place, body: &[Step], out: &mut Block) {
        let Type::List { up_to, .. } = self.scope.type_of(place) else { return };
        let places = range(0, up_to.at(self.scope.export.model.nodes).max(1) - 1);
        let list = self.scope.variable(place);
        let (at, len) = (self.fresh("at"), self.fresh("len"));
        let fields = self.list_fields(place).len();
        self.fresh += 1;
        let copies: Vec<Name> = (0..fields).map(|f| name(format!("copy{}_{f}", self.fresh))).collect();
        self.declared.extend(copies.iter().map(|copy| copy.clone().of(array(places.clone(), INT))));
        out.assign(&len, (&list).field("n"));
        for (f, copy) in copies.iter().enumerate() {
            out.for_each(I, places.clone(), |out| out.assign(copy.at(I), (&list).field(part(f)).at(I)));
        }
        out.assign(&at, 0);
        out.while_((&at).lt(len), |out| {
            for (f, copy) in copies.iter().enumerate() {
                out.assign(self.local_field(id, f), copy.at(&at));
            }
            self.steps(body, out);
            out.increase(&at, 1);
        });
    }

    /// Steps of another role or object of this node.
    fn elsewhere(&mut self, owner: &Owner, role: RoleId, body: &[Step], out: &mut Block) {
        let (_, object) = self.scope.instance(owner, role);
        let there = self.fresh("there");
        out.assign(&there, Export::here(role, ME, object));
        if self.touched.contains(&role) {
            out.assign(Export::touched(role).at(&there), true);
        }
        let outer = (self.scope.role, std::mem::replace(&mut self.scope.object, there.into()));
        self.scope.role = role;
        self.steps(body, out);
        (self.scope.role, self.scope.object) = outer;
    }
}

/// Roles of which a handler changes a record that may be another than its own.
fn changed_roles(steps: &[Step], own: RoleId, found: &mut Vec<RoleId>) {
    let changed = steps.iter().filter_map(|step| changed_place(&step.kind));
    let elsewhere = changed.filter(|place| !(matches!(place.owner, Owner::Current) && place.role == own));
    found.extend(elsewhere.map(|place| place.role));
    for step in steps {
        match &step.kind {
            StepKind::If(_, yes, no) => {
                changed_roles(yes, own, found);
                changed_roles(no, own, found);
            }
            StepKind::ForSet(_, _, body) | StepKind::ForRange(_, _, _, body) | StepKind::ForList(_, _, body) => {
                changed_roles(body, own, found);
            }
            StepKind::Elsewhere(_, role, body) => {
                found.push(*role);
                changed_roles(body, own, found);
            }
            _ => {}
        }
    }
}
