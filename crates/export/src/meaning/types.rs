//! Types and variables of the model.

use super::names::{
    BLOCKS, CARRIED, CHOSEN, COUNT, EARLIER, FOUND, GIVEN, INT, INTENT, LAST, MEM, NODES, NUMBERS, PERFORMED, PHASE,
    QUEUE, REGISTER, STORED, TASKS, THREADS, WAYS, WORDS, WRITER, argument, arrived, done, holder, identifier, lane,
    part,
};
use super::{Export, MOST_ELEMENTS};
use crate::model::{BOOLEAN, Declared, Name, Program, TypeExpr, array, name, range, record};
use trivium_diagnostic::Diagnostic;

use crate::refused;
use trivium_check::checks_values;
use trivium_engine::number::fit;
use trivium_protocol::{NODE, Named, ObjectKindId, PayloadShape, Promise, RoleId, StateId, Type};

/// The greatest word and address of the model: Rumur has no 64-bit ranges.
pub(super) const MOST_WORD: i64 = 65_535;

/// The greatest number with which a handler computes: 64-bit numbers are cut to what Rumur can hold.
const MOST_NUMBER: i64 = 1 << 60;

/// The set of so many elements, as a number: of those that were looked at ([`Export::check_type`]) all.
pub(super) fn all_of(elements: i64) -> i64 {
    let first_beyond = u32::try_from(elements).ok().and_then(|elements| 1_i64.checked_shl(elements));
    first_beyond.map_or(i64::MAX, |beyond| beyond.wrapping_sub(1))
}

impl Export<'_> {
    pub fn check_type(&self, name: &str, ty: &Type) -> Result<(), Diagnostic> {
        let set = if let Type::Array { of, .. } = ty { of } else { ty };
        match set {
            Type::NodeSet | Type::IntSet { .. } if self.set_range(set).1 > MOST_ELEMENTS => Err(refused(
                format!("the set `{name}` cannot be exported"),
                format!("a set is a number in the model: it can have at most {MOST_ELEMENTS} elements"),
            )),
            _ => Ok(()),
        }
    }

    /// The least element of a set type, and how many are possible.
    pub fn set_range(&self, ty: &Type) -> (i64, i64) {
        match ty {
            Type::IntSet { lo, hi } => {
                let lo = lo.at(self.model.nodes);
                (lo, hi.at(self.model.nodes).saturating_sub(lo).saturating_add(1).max(0))
            }
            _ => (0, i64::from(self.model.nodes)),
        }
    }

    /// Least and greatest value of a scalar or a set. In an argument a node that is not optional cannot be `none`.
    pub fn range(&self, ty: &Type, argument: bool) -> (i64, i64) {
        let nodes = self.model.nodes;
        match ty {
            Type::Bool => (0, 1),
            Type::Int { lo, hi } => (lo.at(nodes).max(-MOST_NUMBER), hi.at(nodes).min(MOST_NUMBER)),
            Type::Node { optional: false } if argument => (0, i64::from(nodes) - 1),
            Type::Node { .. } => (-1, i64::from(nodes) - 1),
            Type::Thread => (-1, self.threads_per_node.cast_signed() as i64 - 1),
            Type::Object(kind) => (0, i64::from(self.model.objects[kind.index()].max(1)) - 1),
            Type::ObjectOrNone(kind) => (-1, i64::from(self.model.objects[kind.index()].max(1)) - 1),
            Type::Address => (0, MOST_WORD),
            Type::Word => (0, self.most_declared),
            Type::OrNone(of) => {
                let (lo, hi) = self.range(of, argument);
                (lo.min(-1), hi.max(-1))
            }
            Type::NodeSet | Type::IntSet { .. } => (0, all_of(self.set_range(ty).1)),
            Type::Array { .. } | Type::List { .. } => (0, self.packed(ty).map_or(0, |packed| packed.most())),
            Type::Record(_) => (0, 0),
        }
    }

    /// The value of a variable that nobody has set.
    pub fn first_value(&self, ty: &Type, initial: Option<i64>) -> i64 {
        match ty {
            Type::Int { lo, .. } => initial.unwrap_or(lo.at(self.model.nodes)),
            Type::Node { .. } | Type::ObjectOrNone(_) | Type::Thread => -1,
            Type::OrNone(_) => self.exported(ty, initial.unwrap_or(ty.none())),
            Type::Bool | Type::Address | Type::Word => initial.unwrap_or(0),
            _ => 0,
        }
    }

    /// A value of a type as the model has it: `none` is -1, whatever it is elsewhere.
    pub fn exported(&self, ty: &Type, value: i64) -> i64 {
        if ty.given().is_some() && value == ty.none() { -1 } else { value }
    }

    /// The scalar parts of a type: one, or the fields of a record.
    pub fn fields(&self, ty: &Type) -> Vec<Type> {
        match ty {
            Type::Record(record) => {
                self.protocol().records[record.index()].fields.iter().map(|f| f.ty.clone()).collect()
            }
            scalar => vec![scalar.clone()],
        }
    }

    /// The type of a scalar or a set.
    fn scalar(&self, ty: &Type) -> TypeExpr {
        let (lo, hi) = self.range(ty, false);
        range(lo, hi)
    }

    /// For each field of a type an array of so many places.
    fn field_arrays(&self, of: &Type, places: i64) -> impl Iterator<Item = Declared> {
        let fields = self.fields(of).into_iter().enumerate();
        fields.map(move |(f, ty)| part(f).of(array(range(0, places - 1), self.scalar(&ty))))
    }

    /// The type of a role's variable.
    fn variable_type(&self, ty: &Type) -> TypeExpr {
        match ty {
            Type::List { of, up_to, .. } => {
                let most = up_to.at(self.model.nodes);
                let length = Name::new("n").of(range(0, most));
                record([length].into_iter().chain(self.field_arrays(of, most.max(1))))
            }
            Type::Array { of, .. } => record(self.field_arrays(of, self.elements(ty).1)),
            Type::Record(_) => {
                record(self.fields(ty).iter().enumerate().map(|(f, field)| part(f).of(self.scalar(field))))
            }
            scalar => self.scalar(scalar),
        }
    }

    /// The type that holds any of several arguments at one place, and 0.
    fn union(&self, all: &[&[Named]], place: usize) -> TypeExpr {
        let ranges = all.iter().filter_map(|args| args.get(place)).map(|arg| self.range(&arg.ty, false));
        let (lo, hi) = ranges.fold((0, 0), |(lo, hi), (l, h)| (lo.min(l), hi.max(h)));
        range(lo, hi)
    }

    /// Fields for the arguments of any of several lists of them.
    pub fn argument_fields(&self, all: &[&[Named]]) -> impl Iterator<Item = Declared> {
        let most = all.iter().map(|args| args.len()).max().unwrap_or(0);
        (0..most).map(|place| argument(place).of(self.union(all, place)))
    }

    pub fn object_type(&self, kind: ObjectKindId) -> TypeExpr {
        self.object_type_name(kind).into()
    }

    fn object_type_name(&self, kind: ObjectKindId) -> Name {
        name(format!("Obj_{}", identifier(&self.protocol().objects[kind.index()])))
    }

    pub fn state_name(&self, role: RoleId, state: StateId) -> Name {
        let declared = self.role(role);
        // Dots become underscores, so that the number keeps two names apart.
        let (role, own) = (identifier(&declared.name), identifier(&declared.states[state.index()].name));
        name(format!("S{}_{role}_{own}", state.0))
    }

    pub fn state_var(&self, role: RoleId) -> Name {
        name(format!("state_{}", identifier(&self.role(role).name)))
    }

    pub fn var_name(&self, role: RoleId, var: usize) -> Name {
        let declared = self.role(role);
        name(format!("v{var}_{}_{}", identifier(&declared.name), identifier(&declared.vars[var].name)))
    }

    pub fn widest_object(&self) -> u32 {
        self.model.objects.iter().copied().max().unwrap_or(1).max(1)
    }

    pub fn has_data(&self) -> bool {
        self.protocol().messages.iter().any(|m| m.payload != PayloadShape::Nothing)
    }

    pub fn types(&self, program: &mut Program) {
        let (model, protocol) = (self.model, self.protocol());
        for (id, role) in self.roles() {
            let names = (0..role.states.len()).map(|state| self.state_name(id, StateId::at(state)));
            program.constants.extend(names.zip(0..));
        }
        program.ty_for("whatever a handler computes with", "Int", range(-MOST_NUMBER, MOST_NUMBER));
        program.ty("Node", range(0, model.nodes - 1));
        program.ty("Thread", range(0, model.client.threads.len().max(1) - 1));
        if self.has_ways() {
            program.ty_for(
                "in which the stores and answers of one event turn out",
                "Way",
                range(0, self.most_ways() - 1),
            );
        }
        program.ty("Number", range(0, self.threads_per_node - 1));
        for kind in (0..protocol.objects.len()).map(|kind| ObjectKindId::at(kind)) {
            let count = if kind == NODE { 1 } else { model.objects[kind.index()].max(1) };
            program.ty(self.object_type_name(kind), range(0, count - 1));
        }
        program.ty("Word", range(0, self.most_word));
        let most = if self.moves_memory { super::memory::MOST_DATA } else { self.most_word.saturating_add(1) };
        program.ty("Data", range(0, most));
        let what = "What a handler asked for on behalf of threads; `how` is what became of its event.";
        program.ty_for(what, "Effects", Self::effects());
        for (lane, declared) in protocol.lanes.iter().enumerate() {
            program.ty_for(&format!("Lane {}", declared.name), format!("Message{lane}"), self.message_type(lane));
        }
        self.deferred_types(program);
        if !protocol.tasks.is_empty() {
            let args: Vec<&[Named]> = protocol.tasks.iter().map(|t| t.args.as_slice()).collect();
            program.ty("Task", record(self.about(protocol.tasks.len()).into_iter().chain(self.argument_fields(&args))));
        }
    }

    /// What a handler asked for on behalf of threads.
    fn effects() -> TypeExpr {
        record([
            Name::new("how").of(range(0, 3)),
            Name::new("resumed").of(array(BLOCKS, BOOLEAN)),
            Name::new("answered").of(array(NUMBERS, BOOLEAN)),
            Name::new("value").of(array(NUMBERS, INT)),
        ])
    }

    /// What a message or a task is, and what it is about.
    fn about(&self, kinds: usize) -> [Declared; 2] {
        [Name::new("k").of(range(0, kinds)), Name::new("o").of(range(0, self.widest_object() - 1))]
    }

    fn message_type(&self, lane: usize) -> TypeExpr {
        let messages = &self.protocol().messages;
        let of_lane = messages.iter().filter(|m| m.lane.index() == lane);
        let args: Vec<&[Named]> = of_lane.map(|m| m.args.as_slice()).collect();
        let data = self.has_data().then(|| Name::new("p").of(CARRIED));
        let behind = self.model.lanes[lane].behind.map(|_| Name::new("b").of(range(0, self.channel)));
        let fields = self.about(messages.len()).into_iter().chain(self.argument_fields(&args));
        record(fields.chain(data).chain(behind))
    }

    pub fn variables(&self, program: &mut Program) {
        let (model, protocol) = (self.model, self.protocol());
        for (id, role) in self.roles() {
            let each = |ty: TypeExpr| array(NODES, array(self.object_type(role.object), ty));
            program.variable(self.state_var(id), each(range(0, role.states.len() - 1)));
            for (var, declared) in role.vars.iter().enumerate() {
                program.variable(self.var_name(id, var), each(self.variable_type(&declared.ty)));
            }
            if role.defers.is_some() {
                program.variable(Self::kept(id), each(Self::kept_type(id)));
            }
        }
        if self.words > 0 {
            self.cache_variables(program);
            program.variable(MEM, array(NODES, array(range(0, self.words - 1), WORDS)));
        }
        let queue = |of: TypeExpr| {
            let places = array(range(0, self.channel - 1), of);
            record([Name::new("n").of(range(0, self.channel)), Name::new("m").of(places)])
        };
        for l in 0..protocol.lanes.len() {
            let channels = array(NODES, array(NODES, queue(Self::messages_of(l))));
            program.variable_for("[to][from]", lane(l), channels);
            if model.lanes[l].merged {
                let heads = array(NODES, range(0, model.nodes));
                program.variable_for("its sender and one, or none", Self::head_of(l), heads);
            }
        }
        if !protocol.tasks.is_empty() {
            program.variable(QUEUE, array(NODES, queue(TASKS)));
        }
        program.variable_for("free, waiting, held, deferred, let go", PHASE, array(THREADS, range(0, 4)));
        program.variable(INTENT, array(THREADS, range(0, model.client.intents.len().max(1) - 1)));
        if self.performs_for_threads() {
            program.variable_for("by a handler, for the thread", PERFORMED, array(THREADS, BOOLEAN));
            program.variable_for("what that has read", FOUND, array(THREADS, range(0, self.most_word)));
        }
        if self.performs_for_values() {
            program.variable_for("while a rule fires", GIVEN, range(0, self.most_word));
        }
        if let Some(most) = self.most_count() {
            program.variable(COUNT, array(THREADS, range(0, most)));
        }
        if self.has_ways() {
            program.variable_for("while a rule fires", CHOSEN, WAYS);
        }
        self.queue_variables(program);
        self.remembered(program);
    }

    /// The greatest count of a thread: calls that are left, or its place in its script.
    pub fn most_count(&self) -> Option<u32> {
        let client = &self.model.client;
        match &client.script {
            Some(script) => Some(fit(
                script.places.iter().map(Vec::len).max().unwrap_or(0),
                "the number of an action: there are at most 65,535",
            )),
            None => client.ops.map(|ops| ops.min(u32::from(u16::MAX))),
        }
    }

    /// What the promises and assumptions must remember.
    fn remembered(&self, program: &mut Program) {
        let (model, protocol) = (self.model, self.protocol());
        let registers = self.registers();
        if registers > 0 {
            let most = self.most_word.max(MOST_WORD as u64);
            let of = if self.computes_in_bodies() { INT } else { range(0, most) };
            program.variable(REGISTER, array(range(0, registers - 1), of));
        }
        if checks_values(protocol) && self.has_blocks() {
            program.variable(LAST, array(BLOCKS, WORDS));
        }
        if self.promises_last_phase() {
            program.variable(EARLIER, array(BLOCKS, WORDS));
            let most = trivium_check::most_stored(&model.client);
            program.variable(STORED, array(BLOCKS, array(range(0, most), BOOLEAN)));
        }
        if self.has_phases() {
            program.variable(WRITER, array(BLOCKS, range(0, model.nodes)));
        }
        self.mark_variables(program);
        let of = |op: &trivium_protocol::OpId| self.object_type(protocol.ops[op.index()].object);
        for (p, promise) in protocol.promises.iter().enumerate() {
            match promise {
                Promise::Mutex(acquire, _) => {
                    program.variable(holder(p), array(of(acquire), range(0, model.client.threads.len())));
                }
                Promise::Barrier(arrive) => program.variable(arrived(p), array(of(arrive), array(NODES, BOOLEAN))),
                _ => {}
            }
        }
        for (a, assume) in protocol.assumptions.iter().enumerate() {
            if assume.counted_call().is_some() {
                let objects = range(0, self.widest_object() - 1);
                program.variable(done(a), array(THREADS, array(objects, BOOLEAN)));
            }
        }
    }

    /// Whether loads are held against the values of the present phase.
    pub fn promises_last_phase(&self) -> bool {
        self.protocol().promises.contains(&Promise::LastPhase) && self.has_blocks()
    }

    pub fn has_phases(&self) -> bool {
        self.protocol().has_phases() && self.has_blocks()
    }
}
