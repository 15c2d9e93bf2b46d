//! Types and variables of the model.

use super::lines::{Lines, identifier};
use super::{Export, MOST_ELEMENTS};
use trivium_check::ConfigError;
use trivium_check::checks_values;
use trivium_engine::number::fit;
use trivium_protocol::{BLOCK, NODE, Named, ObjectKindId, PayloadShape, Promise, RoleId, StateId, Type};

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
    pub fn check_type(&self, name: &str, ty: &Type) -> Result<(), ConfigError> {
        let set = if let Type::Array { of, .. } = ty { of } else { ty };
        match set {
            Type::NodeSet | Type::IntSet { .. } if self.set_range(set).1 > MOST_ELEMENTS => Err(ConfigError::new(
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
            Type::Bool | Type::Address | Type::Word => initial.unwrap_or(0),
            _ => 0,
        }
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

    fn range_text(&self, ty: &Type) -> String {
        let (lo, hi) = self.range(ty, false);
        format!("{lo}..{hi}")
    }

    fn type_text(&self, ty: &Type) -> String {
        match ty {
            Type::List { of, up_to, .. } => {
                let capacity = up_to.at(self.model.nodes).max(1);
                let fields = self.fields(of);
                let fields = fields
                    .iter()
                    .enumerate()
                    .map(|(i, f)| format!(" f{i}: array [0..{}] of {};", capacity - 1, self.range_text(f)));
                format!("record n: 0..{};{} end", up_to.at(self.model.nodes), fields.collect::<String>())
            }
            Type::Array { of, .. } => {
                let (_, count) = self.elements(ty);
                let fields = self.fields(of);
                let fields = fields
                    .iter()
                    .enumerate()
                    .map(|(i, f)| format!(" f{i}: array [0..{}] of {};", count - 1, self.range_text(f)));
                format!("record{} end", fields.collect::<String>())
            }
            Type::Record(_) => {
                let fields = self.fields(ty);
                let fields = fields.iter().enumerate().map(|(i, f)| format!(" f{i}: {};", self.range_text(f)));
                format!("record{} end", fields.collect::<String>())
            }
            scalar => self.range_text(scalar),
        }
    }

    /// The type that holds any of several arguments at one place, and 0.
    fn union(&self, all: &[&[Named]], place: usize) -> String {
        let ranges = all.iter().filter_map(|args| args.get(place)).map(|arg| self.range(&arg.ty, false));
        let (lo, hi) = ranges.fold((0, 0), |(lo, hi), (l, h)| (lo.min(l), hi.max(h)));
        format!("{lo}..{hi}")
    }

    /// Fields `a0: ..; a1: ..;` for any of several lists of arguments.
    pub fn argument_fields(&self, all: &[&[Named]]) -> String {
        let most = all.iter().map(|args| args.len()).max().unwrap_or(0);
        (0..most).map(|place| format!(" a{place}: {};", self.union(all, place))).collect()
    }

    pub fn object_type(&self, kind: ObjectKindId) -> String {
        format!("Obj_{}", identifier(&self.protocol().objects[kind.index()]))
    }

    pub fn state_name(&self, role: RoleId, state: StateId) -> String {
        let declared = self.role(role);
        // Dots become underscores, so that the number keeps two names apart.
        format!("S{}_{}_{}", state.0, identifier(&declared.name), identifier(&declared.states[state.index()].name))
    }

    pub fn state_var(&self, role: RoleId) -> String {
        format!("state_{}", identifier(&self.role(role).name))
    }

    pub fn var_name(&self, role: RoleId, var: usize) -> String {
        let declared = self.role(role);
        format!("v{var}_{}_{}", identifier(&declared.name), identifier(&declared.vars[var].name))
    }

    pub fn widest_object(&self) -> u32 {
        self.model.objects.iter().copied().max().unwrap_or(1).max(1)
    }

    pub fn has_data(&self) -> bool {
        self.protocol().messages.iter().any(|m| m.payload != PayloadShape::Nothing)
    }

    pub fn types(&self, out: &mut Lines) {
        let (model, protocol) = (self.model, self.protocol());
        out.open("const");
        for (id, role) in self.roles() {
            for state in 0..role.states.len() {
                out.line(format!("{}: {state};", self.state_name(id, StateId::at(state))));
            }
        }
        out.middle("type");
        out.line("-- Whatever a handler computes with.");
        out.line(format!("Int: -{MOST_NUMBER}..{MOST_NUMBER};"));
        out.line(format!("Node: 0..{};", model.nodes - 1));
        out.line(format!("Thread: 0..{};", model.client.threads.len().max(1) - 1));
        if self.has_ways() {
            out.line(format!(
                "Way: 0..{}; -- in which the stores and answers of one event turn out",
                self.most_ways() - 1
            ));
        }
        out.line(format!("Number: 0..{};", self.threads_per_node - 1));
        for kind in (0..protocol.objects.len()).map(|kind| ObjectKindId::at(kind)) {
            let count = if kind == NODE { 1 } else { model.objects[kind.index()].max(1) };
            out.line(format!("{}: 0..{};", self.object_type(kind), count - 1));
        }
        out.line(format!("Word: 0..{};", self.most_word));
        let most = if self.moves_memory { super::memory::MOST_DATA } else { self.most_word.saturating_add(1) };
        out.line(format!("Data: 0..{most};"));
        out.line("-- What a handler asked for on behalf of threads; `how` is what became of its event.");
        out.line("Effects: record how: 0..3; resumed: array [Obj_block] of boolean; answered: array [Number] of boolean; value: array [Number] of Int; end;");
        for (lane, declared) in protocol.lanes.iter().enumerate() {
            let of_lane = protocol.messages.iter().filter(|m| m.lane.index() == lane);
            let args: Vec<&[Named]> = of_lane.map(|m| m.args.as_slice()).collect();
            let data = if self.has_data() { " p: Data;" } else { "" };
            let behind =
                if model.lanes[lane].behind.is_some() { format!(" b: 0..{};", self.channel) } else { String::new() };
            out.line(format!("-- Lane {}", declared.name));
            out.line(format!(
                "Message{lane}: record k: 0..{}; o: 0..{};{}{data}{behind} end;",
                protocol.messages.len(),
                self.widest_object() - 1,
                self.argument_fields(&args)
            ));
        }
        self.deferred_types(out);
        if !protocol.tasks.is_empty() {
            let args: Vec<&[Named]> = protocol.tasks.iter().map(|t| t.args.as_slice()).collect();
            out.line(format!(
                "Task: record k: 0..{}; o: 0..{};{} end;",
                protocol.tasks.len(),
                self.widest_object() - 1,
                self.argument_fields(&args)
            ));
        }
        out.close("");
    }

    pub fn variables(&self, out: &mut Lines) {
        let (model, protocol) = (self.model, self.protocol());
        out.open("var");
        for (id, role) in self.roles() {
            let object = self.object_type(role.object);
            let each = |ty: &str| format!("array [Node] of array [{object}] of {ty};");
            out.line(format!("{}: {}", self.state_var(id), each(&format!("0..{}", role.states.len() - 1))));
            for (var, declared) in role.vars.iter().enumerate() {
                out.line(format!("{}: {}", self.var_name(id, var), each(&self.type_text(&declared.ty))));
            }
            if role.defers.is_some() {
                out.line(format!("kept_{}: {}", id.0, each(&format!("Kept{}", id.0))));
            }
        }
        if self.words > 0 {
            self.cache_variables(out);
            out.line(format!("mem: array [Node] of array [0..{}] of Word;", self.words - 1));
        }
        for lane in 0..protocol.lanes.len() {
            let most = self.channel;
            out.line(format!(
                "lane{lane}: array [Node] of array [Node] of record n: 0..{most}; m: array [0..{}] of Message{lane}; end; -- [to][from]",
                most - 1
            ));
            if model.lanes[lane].merged {
                out.line(format!("head{lane}: array [Node] of 0..{}; -- its sender and one, or none", model.nodes));
            }
        }
        if !protocol.tasks.is_empty() {
            let most = self.channel;
            out.line(format!("queue: array [Node] of record n: 0..{most}; m: array [0..{}] of Task; end;", most - 1));
        }
        out.line("phase: array [Thread] of 0..4; -- free, waiting, held, deferred, let go");
        out.line(format!("intent: array [Thread] of 0..{};", model.client.intents.len().max(1) - 1));
        if self.performs_for_threads() {
            out.line("performed: array [Thread] of boolean; -- by a handler, for the thread");
            out.line(format!("found: array [Thread] of 0..{}; -- what that has read", self.most_word));
        }
        if self.performs_for_values() {
            out.line(format!("given: 0..{}; -- while a rule fires", self.most_word));
        }
        if let Some(most) = self.most_count() {
            out.line(format!("count: array [Thread] of 0..{most};"));
        }
        if self.has_ways() {
            out.line("chosen: Way; -- while a rule fires");
        }
        self.queue_variables(out);
        self.remembered(out);
        out.close("");
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
    fn remembered(&self, out: &mut Lines) {
        let (model, protocol) = (self.model, self.protocol());
        let registers = model.client.script.as_ref().map_or(0, |s| s.scenario.registers.len());
        if registers > 0 {
            let most = self.most_word.max(MOST_WORD as u64);
            let range = if self.computes_in_bodies() { "Int".into() } else { format!("0..{most}") };
            out.line(format!("register: array [0..{}] of {range};", registers - 1));
        }
        if checks_values(protocol) && model.objects[BLOCK.index()] > 0 {
            out.line("last: array [Obj_block] of Word;");
        }
        if self.promises_last_phase() {
            out.line("earlier: array [Obj_block] of Word;");
            let most = trivium_check::most_stored(&model.client);
            out.line(format!("stored: array [Obj_block] of array [0..{most}] of boolean;"));
        }
        if self.has_phases() {
            out.line(format!("writer: array [Obj_block] of 0..{};", model.nodes));
        }
        self.mark_variables(out);
        let of = |op: &trivium_protocol::OpId| self.object_type(protocol.ops[op.index()].object);
        for (p, promise) in protocol.promises.iter().enumerate() {
            match promise {
                Promise::Mutex(acquire, _) => {
                    out.line(format!("holder{p}: array [{}] of 0..{};", of(acquire), model.client.threads.len()));
                }
                Promise::Barrier(arrive) => {
                    out.line(format!("arrived{p}: array [{}] of array [Node] of boolean;", of(arrive)));
                }
                _ => {}
            }
        }
        for (a, assume) in protocol.assumptions.iter().enumerate() {
            if assume.counted_call().is_some() {
                out.line(format!("done{a}: array [Thread] of array [0..{}] of boolean;", self.widest_object() - 1));
            }
        }
    }

    /// Whether loads are held against the values of the present phase.
    pub fn promises_last_phase(&self) -> bool {
        self.protocol().promises.contains(&Promise::LastPhase) && self.model.objects[BLOCK.index()] > 0
    }

    pub fn has_phases(&self) -> bool {
        self.protocol().has_phases() && self.model.objects[BLOCK.index()] > 0
    }
}
