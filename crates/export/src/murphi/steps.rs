//! Steps of handlers as Murphi statements.

use super::expressions::Scope;
use super::lines::Lines;
use super::{Export, records::has_caller};
use trivium_protocol::{
    BLOCK, EventKind, Expr, Handler, LocalId, NODE, Owner, PayloadShape, PayloadSource, Perform, PerformFor,
    PerformKind, Place, RoleId, Step, StepKind, Type,
};

/// The body of a handler while it is written.
pub(super) struct Writer<'s> {
    pub(super) scope: Scope<'s>,
    /// Declarations of what the handler needs besides its locals.
    pub declared: Vec<String>,
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
            node: "me".into(),
            object: "o".into(),
            role,
            here: false,
            first: Some((role, "o".into())),
            event: Some(handler.event),
            locals: &handler.locals,
        };
        let mut touched = Vec::new();
        changed_roles(&handler.steps, role, &mut touched);
        touched.sort();
        touched.dedup();
        Writer { scope, declared: Vec::new(), touched, column, role, fresh: 0 }
    }

    pub fn guard(&self, guard: &Expr) -> String {
        self.scope.truth(guard)
    }

    /// A variable of the model that nobody else uses.
    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        let name = format!("{prefix}{}", self.fresh);
        self.declared.push(format!("{name}: Int"));
        name
    }

    pub fn steps(&mut self, steps: &[Step], out: &mut Lines) {
        steps.iter().for_each(|step| self.step(step, out));
    }

    fn step(&mut self, step: &Step, out: &mut Lines) {
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
                self.scope.export.clear_var(place.role, place.var.index(), &node, &object, out);
            }
            StepKind::If(condition, yes, no) => {
                out.open(format!("if {} then", self.scope.truth(condition)));
                self.steps(yes, out);
                if !no.is_empty() {
                    out.middle("else");
                    self.steps(no, out);
                }
                out.close("end;");
            }
            StepKind::ForSet(local, of, body) => self.for_set(*local, of, body, out),
            StepKind::ForRange(local, from, to, body) => {
                let (at, last) = (self.fresh("at"), self.fresh("last"));
                out.line(format!("{at} := {};", self.scope.number(from)));
                out.line(format!("{last} := {};", self.scope.number(to)));
                out.open(format!("while {at} <= {last} do"));
                out.line(format!("l{} := {at};", local.0));
                self.steps(body, out);
                out.line(format!("{at} := {at} + 1;"));
                out.close("end;");
            }
            StepKind::ForList(local, place, body) => self.for_list(*local, place, body, out),
            StepKind::Send { message, args, payload, object, to } => {
                let declared = &self.scope.export.protocol().messages[message.index()];
                let object = match object {
                    _ if declared.object == NODE => "0".into(),
                    Some(object) => self.scope.number(object),
                    None => self.scope.object.clone(),
                };
                let args: String = declared
                    .args
                    .iter()
                    .zip(args)
                    .map(|(arg, value)| format!(", {}", self.argument(&arg.ty, value)))
                    .collect();
                let data = match payload {
                    PayloadSource::Block => {
                        let stride = self.scope.export.stride;
                        format!("mem[me][{object} * {stride}] + 1")
                    }
                    PayloadSource::Received => {
                        out.line("if data = 0 then error \"fault: no data\"; end;");
                        "data".into()
                    }
                    PayloadSource::Memory { from, to } => {
                        format!("gather(me, {}, {})", self.scope.number(from), self.scope.number(to))
                    }
                    PayloadSource::List(place) => self.gather_list(place, out),
                    PayloadSource::Own { from, .. } => format!("{} + 1", self.own(from)),
                    PayloadSource::Performed(local) => format!("l{} + 1", local.0),
                    PayloadSource::Nothing => "0".into(),
                };
                let to = self.scope.number(to);
                out.line(format!("send{}(me, {to}, {object}{args}, {data});", message.0));
            }
            StepKind::Goto(state) => {
                let export = self.scope.export;
                let role = self.scope.role;
                out.line(format!(
                    "{}[me][{}] := {};",
                    export.state_var(role),
                    self.scope.object,
                    export.state_name(role, *state)
                ));
            }
            StepKind::Resume => {
                if self.about_block() {
                    out.line(format!("fx.resumed[{}] := true;", self.scope.object));
                    if self.scope.export.cached() {
                        out.line(self.scope.export.answered(&self.scope.object));
                    }
                }
            }
            StepKind::Complete => {
                if self.about_block() {
                    out.line(format!("complete(me, {});", self.scope.object));
                }
            }
            StepKind::Perform(perform) => self.perform(perform, out),
            StepKind::CompleteWith(value, thread) => {
                let (value, thread) = (self.scope.number(value), self.scope.number(thread));
                out.line(format!("complete_with(me, {}, {thread}, {value});", self.scope.object));
            }
            StepKind::Return { value, to } => {
                let caller = if self.scope.event.is_some_and(has_caller) { "thr" } else { "-1" };
                let to = to.as_ref().map_or(caller.into(), |to| self.scope.number(to));
                let value = value.as_ref().map_or("0".into(), |value| self.scope.number(value));
                out.line(format!("answer({to}, {value}, fx);"));
            }
            // Of messages and lines, only those that are tried again come here.
            StepKind::Stall if self.scope.event.is_some_and(has_caller) => out.line("fx.how := 2;"),
            StepKind::Stall => {
                self.scope.export.keep_event(self.role, self.column, "l", out);
            }
            StepKind::Defer => {
                out.open("if fx.how != 3 then");
                // In a handler the event's arguments have the names of its first locals.
                self.scope.export.keep_event(self.role, self.column, "l", out);
                out.close("end;");
            }
            StepKind::Start(task, args) => {
                let declared = &self.scope.export.protocol().tasks[task.index()];
                let (_, object) = self.scope.instance(&Owner::Role(declared.role), declared.role);
                let args: String = declared
                    .args
                    .iter()
                    .zip(args)
                    .map(|(arg, value)| format!(", {}", self.argument(&arg.ty, value)))
                    .collect();
                out.line(format!("start{}(me, {object}{args});", task.0));
            }
            StepKind::Yield => {
                if let Some(EventKind::Task(task)) = self.scope.event {
                    let count = self.scope.export.protocol().tasks[task.index()].args.len();
                    let args: String = (0..count).map(|a| format!(", l{a}")).collect();
                    out.line(format!("start{}(me, o{args});", task.0));
                }
            }
            StepKind::Install(address) => {
                out.line("if data = 0 then error \"fault: no data\"; end;");
                let address = address.as_ref().map(|address| self.scope.number(address));
                out.line(match (address, self.shape_of_event()) {
                    (Some(address), PayloadShape::Memory) => format!("spread(me, data, {address}, false);"),
                    (Some(address), PayloadShape::List) => format!("spread(me, data, {address}, true);"),
                    (Some(address), _) => format!("store(me, {address}, data - 1);"),
                    (None, PayloadShape::List) => "return_words(me, data);".into(),
                    (None, _) => format!("mem[me][{} * {}] := data - 1;", self.scope.object, self.scope.export.stride),
                });
            }
            StepKind::Copy { from, to, bytes } => {
                let [from, to, bytes] = [from, to, bytes].map(|e| self.scope.number(e));
                out.line(format!("copy(me, {from}, {to}, {bytes});"));
            }
            StepKind::Store(address, value) => {
                out.line(format!("store(me, {}, {});", self.scope.number(address), self.scope.number(value)));
            }
            // What a program's function does is not part of the explored system, and neither is what it has of its own.
            StepKind::InstallOwn(_) => out.line("if data = 0 then error \"fault: no data\"; end;"),
            StepKind::Fill(to) => out.line(format!("fill(me, {}, {}, fx);", self.scope.object, *to as u8)),
            StepKind::Upgrade => out.line(format!("upgrade(me, {}, fx);", self.scope.object)),
            StepKind::Take(to) => out.line(format!("take(me, {}, {});", self.scope.object, *to as u8)),
            StepKind::Invalidate => out.line(format!("invalidate(me, {});", self.scope.object)),
            StepKind::Impossible => out.line("error \"fault: this was declared impossible\";"),
            // What is left of the loop does nothing.
            StepKind::Stop => {}
            StepKind::Assert(condition) => {
                out.line(format!("if !({}) then error \"fault: assertion failed\"; end;", self.scope.truth(condition)));
            }
            StepKind::Elsewhere(owner, role, body) => self.elsewhere(owner, *role, body, out),
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
    fn gather_list(&mut self, place: &Place, out: &mut Lines) -> String {
        let blocks = matches!(self.scope.type_of(place), Type::List { of, .. } if **of == Type::Object(BLOCK));
        let list = self.scope.variable(place);
        let (code, at) = (self.fresh("code"), self.fresh("at"));
        let word = format!("{list}.f0[{at}] {}", if blocks { "* 2" } else { "/ 8" });
        out.line(format!("{code} := 1;"));
        out.line(format!("{at} := 0;"));
        out.open(format!("while {at} < {list}.n do"));
        out.line(format!("{code} := behind(behind({code}, {word}), load(me, 8 * ({word})));"));
        out.line(format!("{at} := {at} + 1;"));
        out.close("end;");
        format!("{code} + 1")
    }

    fn about_block(&self) -> bool {
        self.scope.export.role(self.scope.role).object == BLOCK
    }

    /// An argument in the form of its declaration.
    pub(super) fn argument(&self, ty: &Type, value: &Expr) -> String {
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

    /// Notes that a record of another role, or of another object, is changed.
    pub(super) fn touch(&self, owner: &Owner, role: RoleId, out: &mut Lines) {
        if self.scope.is_own(owner, role) {
            return;
        }
        let (_, object) = self.scope.instance(owner, role);
        if self.touched.contains(&role) {
            out.line(format!("touched{r}[here{r}(me, {object})] := true;", r = role.0));
        }
    }

    fn assign(&mut self, place: &Place, values: &[Expr], out: &mut Lines) {
        let ty = self.scope.type_of(place).clone();
        match (&ty, values) {
            (Type::Record(_), values) if place.field.is_none() => {
                let fields: Vec<String> = values.iter().map(|_| self.fresh("value")).collect();
                for (field, value) in fields.iter().zip(values) {
                    out.line(format!("{field} := {};", self.scope.number(value)));
                }
                self.touch(&place.owner, place.role, out);
                let record = self.scope.variable(place);
                for (f, field) in fields.iter().enumerate() {
                    out.line(format!("{record}.f{f} := {field};"));
                }
            }
            (Type::Array { .. }, [value]) => self.assign_array(place, value, out),
            (Type::List { .. }, [value]) => self.assign_list(place, value, out),
            (_, [value]) => {
                let value = self.argument(&ty, value);
                self.touch(&place.owner, place.role, out);
                out.line(format!("{} := {value};", self.scope.place(place)));
            }
            _ => {}
        }
    }

    /// What lies at a place of a program's own memory.
    fn own(&self, place: &Expr) -> String {
        let (place, export) = (self.scope.number(place), self.scope.export);
        if export.model.client.script.is_none() { format!("({place} % {})", export.values) } else { place }
    }

    fn perform(&mut self, perform: &Perform, out: &mut Lines) {
        let args: Vec<String> = perform.args.iter().map(|arg| self.scope.number(arg)).collect();
        let object = &self.scope.object;
        let (asker, operands) = match perform.whose {
            PerformFor::Thread => (format!("asker({}, {})", args[3], args[2]), &args[4..]),
            PerformFor::ProgramOf => (format!("-2 - {}", args[2]), &args[3..]),
            PerformFor::Program => ("-1".to_string(), &args[2..]),
        };
        let about = format!("me, {object}, {}, {}, {asker}", args[0], args[1]);
        match (perform.kind, operands) {
            (PerformKind::WriteFrom, _) => {
                let value = perform.args.last().map_or("0".into(), |place| self.own(place));
                out.line(format!("perform_write({about}, {value});"));
            }
            (PerformKind::WriteData, _) => {
                out.line("if data = 0 then error \"fault: no data\"; end;");
                out.line(format!("perform_write({about}, data - 1);"));
            }
            (PerformKind::Write, [value]) => out.line(format!("perform_write({about}, {value});")),
            (PerformKind::Rmw, [operation, operand, expected]) => {
                out.line(format!("perform_rmw({about}, {operation}, {operand}, {expected});"));
            }
            _ => out.line(format!("perform_read({about});")),
        }
        if self.scope.export.performs_for_values() {
            if let Some(local) = perform.result {
                out.line(format!("l{} := given;", local.0));
            }
            out.line("given := 0;");
        }
    }

    fn bind(&mut self, local: LocalId, values: &[Expr], out: &mut Lines) {
        let ty = self.scope.locals[local.index()].ty.clone();
        match (&ty, values) {
            (Type::Int { .. }, [value]) => {
                let (lo, hi) = self.scope.export.range(&ty, false);
                out.line(format!("l{} := within({}, {lo}, {hi});", local.0, self.scope.number(value)));
            }
            (Type::Object(_), [value]) if !matches!(value.ty, Type::Object(_)) => {
                let number = self.scope.number(value);
                out.line(format!("l{} := within({number}, 0, {});", local.0, u32::MAX));
            }
            (Type::Record(_), values) => {
                let fields: Vec<String> = values.iter().map(|_| self.fresh("value")).collect();
                for (field, value) in fields.iter().zip(values) {
                    out.line(format!("{field} := {};", self.scope.number(value)));
                }
                for (f, field) in fields.iter().enumerate() {
                    out.line(format!("l{}_{f} := {field};", local.0));
                }
            }
            (_, [value]) => out.line(format!("l{} := {};", local.0, self.argument(&ty, value))),
            _ => {}
        }
    }

    fn change_set(&mut self, place: &Place, element: &Expr, change: &str, out: &mut Lines) {
        let (lo, count) = self.scope.export.set_range(self.scope.type_of(place));
        let bit = format!("single({}, {lo}, {count})", self.scope.number(element));
        self.touch(&place.owner, place.role, out);
        let set = self.scope.variable(place);
        out.line(format!("{set} := {change}({set}, {bit});"));
    }

    fn push(&mut self, place: &Place, values: &[Expr], out: &mut Lines) {
        let Type::List { up_to, .. } = self.scope.type_of(place) else { return };
        let capacity = up_to.at(self.scope.export.model.nodes);
        let fields: Vec<String> = values.iter().map(|_| self.fresh("value")).collect();
        for (field, value) in fields.iter().zip(values) {
            out.line(format!("{field} := {};", self.scope.number(value)));
        }
        self.touch(&place.owner, place.role, out);
        let list = self.scope.variable(place);
        out.line(format!("if {list}.n = {capacity} then error \"fault: the list is full\"; end;"));
        for (f, field) in fields.iter().enumerate() {
            out.line(format!("{list}.f{f}[{list}.n] := {field};"));
        }
        out.line(format!("{list}.n := {list}.n + 1;"));
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

    fn local_field(&self, local: LocalId, field: usize) -> String {
        match self.scope.locals[local.index()].ty {
            Type::Record(_) => format!("l{}_{field}", local.0),
            _ => format!("l{}", local.0),
        }
    }

    fn pop(&mut self, place: &Place, local: LocalId, out: &mut Lines) {
        self.touch(&place.owner, place.role, out);
        let list = self.scope.variable(place);
        let at = self.fresh("at");
        let fields = self.list_fields(place);
        out.line(format!("if {list}.n = 0 then error \"fault: the list is empty\"; end;"));
        for f in 0..fields.len() {
            out.line(format!("{} := {list}.f{f}[0];", self.local_field(local, f)));
        }
        out.line(format!("{at} := 0;"));
        out.open(format!("while {at} + 1 < {list}.n do"));
        for f in 0..fields.len() {
            out.line(format!("{list}.f{f}[{at}] := {list}.f{f}[{at} + 1];"));
        }
        out.line(format!("{at} := {at} + 1;"));
        out.close("end;");
        for (f, first) in fields.iter().enumerate() {
            out.line(format!("{list}.f{f}[{at}] := {first};"));
        }
        out.line(format!("{list}.n := {at};"));
    }

    fn for_set(&mut self, local: LocalId, of: &Expr, body: &[Step], out: &mut Lines) {
        let (lo, count) = self.scope.export.set_range(&of.ty);
        let (set, at) = (self.fresh("set"), self.fresh("at"));
        out.line(format!("{set} := {};", self.scope.set_from(of, lo)));
        out.line(format!("{at} := 0;"));
        out.open(format!("while {at} < {count} do"));
        out.open(format!("if has({set}, {at}) then"));
        out.line(format!("l{} := {at} + {lo};", local.0));
        self.steps(body, out);
        out.close("end;");
        out.line(format!("{at} := {at} + 1;"));
        out.close("end;");
    }

    /// The loop goes over the list as it is when it starts.
    fn for_list(&mut self, local: LocalId, place: &Place, body: &[Step], out: &mut Lines) {
        let Type::List { up_to, .. } = self.scope.type_of(place) else { return };
        let capacity = up_to.at(self.scope.export.model.nodes).max(1);
        let list = self.scope.variable(place);
        let (at, len) = (self.fresh("at"), self.fresh("len"));
        let fields = self.list_fields(place).len();
        self.fresh += 1;
        let copies: Vec<String> = (0..fields).map(|f| format!("copy{}_{f}", self.fresh)).collect();
        for copy in &copies {
            self.declared.push(format!("{copy}: array [0..{}] of Int", capacity - 1));
        }
        out.line(format!("{len} := {list}.n;"));
        for (f, copy) in copies.iter().enumerate() {
            out.line(format!("for i: 0..{} do {copy}[i] := {list}.f{f}[i]; end;", capacity - 1));
        }
        out.line(format!("{at} := 0;"));
        out.open(format!("while {at} < {len} do"));
        for (f, copy) in copies.iter().enumerate() {
            out.line(format!("{} := {copy}[{at}];", self.local_field(local, f)));
        }
        self.steps(body, out);
        out.line(format!("{at} := {at} + 1;"));
        out.close("end;");
    }

    /// Steps of another role or object of this node.
    fn elsewhere(&mut self, owner: &Owner, role: RoleId, body: &[Step], out: &mut Lines) {
        let (_, object) = self.scope.instance(owner, role);
        let there = self.fresh("there");
        out.line(format!("{there} := here{}(me, {object});", role.0));
        if self.touched.contains(&role) {
            out.line(format!("touched{}[{there}] := true;", role.0));
        }
        let outer = (self.scope.role, std::mem::replace(&mut self.scope.object, there));
        self.scope.role = role;
        self.steps(body, out);
        (self.scope.role, self.scope.object) = outer;
    }
}

/// Roles of which a handler changes a record that may be another than its own.
fn changed_roles(steps: &[Step], own: RoleId, found: &mut Vec<RoleId>) {
    let mut place = |place: &Place| {
        if !(matches!(place.owner, Owner::Current) && place.role == own) {
            found.push(place.role);
        }
    };
    for step in steps {
        match &step.kind {
            StepKind::Assign(p, _)
            | StepKind::AssignElement(p, ..)
            | StepKind::Insert(p, _)
            | StepKind::Remove(p, _)
            | StepKind::Push(p, _)
            | StepKind::Pop(p, _)
            | StepKind::Clear(p) => place(p),
            _ => {}
        }
    }
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
