//! Names to numbers and back.

use super::*;

impl Protocol {
    /// The name of an event as reports write it.
    pub fn event_name(&self, event: EventKind) -> String {
        match event {
            EventKind::Read => "read".into(),
            EventKind::Write => "write".into(),
            EventKind::Rmw => "rmw".into(),
            EventKind::Prefetch => "prefetch".into(),
            EventKind::PrefetchWrite => "prefetch_write".into(),
            EventKind::Evict => "evict".into(),
            EventKind::WriteBack => "writeback".into(),
            EventKind::Image => "image".into(),
            EventKind::Message(m) => self.messages[m.index()].name.clone(),
            EventKind::Op(o) => self.ops[o.index()].name.clone(),
            EventKind::Task(t) => self.tasks[t.index()].name.clone(),
            EventKind::Timer => "after".into(),
        }
    }

    /// The parameters for which the file gives a value for `check`, with that value.
    pub fn sizes_to_check(&self) -> Vec<(String, i64)> {
        self.params.iter().filter_map(|param| Some((param.name.clone(), param.check?))).collect()
    }

    /// The same protocol with variables that keep what they hold when nobody can read it again: see [`State::dead`].
    pub fn without_clearing(&self) -> Protocol {
        let mut protocol = self.clone();
        protocol.roles.iter_mut().flat_map(|role| &mut role.states).for_each(|state| state.dead.clear());
        protocol
    }

    /// The message of a name.
    pub fn message(&self, name: &str) -> Option<MessageId> {
        self.messages.iter().position(|m| m.name == name).map(|i| MessageId(i as u16))
    }

    /// The call of a name.
    pub fn op(&self, name: &str) -> Option<OpId> {
        self.ops.iter().position(|o| o.name == name).map(|i| OpId(i as u16))
    }

    /// The role of a name.
    pub fn role(&self, name: &str) -> Option<RoleId> {
        self.roles.iter().position(|r| r.name == name).map(|i| RoleId(i as u8))
    }

    /// Whether it promises of calls that they copy blocks.
    pub fn has_copies(&self) -> bool {
        self.promises.iter().any(|promise| matches!(promise, Promise::Copies(_)))
    }

    /// How objects of a kind are made, if they are.
    pub fn made_kind(&self, kind: ObjectKindId) -> Option<&Made> {
        self.made.iter().find(|made| made.object == kind)
    }

    /// The invariant that `check` adds for a kind whose objects are made.
    pub fn claim_of_made(&self, made: &Made) -> String {
        format!("free_{}_is_as_at_first", self.objects[made.object.index()])
    }

    /// Whether a role is a ghost's.
    pub fn is_ghost(&self, role: RoleId) -> bool {
        self.roles.get(role.index()).is_some_and(|role| role.kind == RoleKind::Ghost)
    }

    /// Whether some role is about this kind of object.
    pub fn uses(&self, object: ObjectKindId) -> bool {
        self.roles.iter().any(|r| r.object == object)
    }

    /// Whether it speaks of phases: stretches between two barriers, in which each block has one writer.
    pub fn has_phases(&self) -> bool {
        self.assumptions.contains(&Assume::OneWriterPerPhase) || self.promises.contains(&Promise::LastPhase)
    }

    /// The promise about loads that is weaker than `last_write`, if it makes one.
    pub fn weaker(&self) -> Option<&Promise> {
        self.promises.iter().find(|promise| promise.is_weaker())
    }

    /// A promise as the file writes it.
    pub fn promise_name(&self, promise: &Promise) -> String {
        let op = |o: &OpId| &self.ops[o.index()].name;
        match promise {
            Promise::SingleWriter => "single_writer".into(),
            Promise::LastWrite => "last_write".into(),
            Promise::LastPhase => "last_phase".into(),
            Promise::Sequential => "sequential".into(),
            Promise::Coherent => "coherent".into(),
            Promise::Tso => "tso".into(),
            Promise::ReleaseConsistency { acquire, release } => {
                let calls: Vec<&str> = acquire.iter().chain(release).map(|call| op(call).as_str()).collect();
                let calls = if calls.is_empty() { String::new() } else { format!("({})", calls.join(", ")) };
                format!("release_consistency{calls}")
            }
            Promise::Mutex(a, b) => format!("mutex({}, {})", op(a), op(b)),
            Promise::Barrier(a) => format!("barrier({})", op(a)),
            Promise::Copies(copies) => format!("copies({})", self.copying_names(copies.copy, copies.wait)),
        }
    }

    /// The call that copies and the one that says that it is done, once if they are one.
    fn copying_names(&self, copy: OpId, wait: OpId) -> String {
        let name = |op: OpId| self.ops[op.index()].name.as_str();
        if copy == wait { name(copy).into() } else { format!("{}, {}", name(copy), name(wait)) }
    }

    /// An assumption as the file writes it.
    pub fn assume_name(&self, assume: &Assume) -> String {
        let op = |o: &OpId| &self.ops[o.index()].name;
        match assume {
            Assume::OneWriterPerPhase => "one_writer_per_phase".into(),
            Assume::OneThreadPerNode => "one_thread_per_node".into(),
            Assume::HomeWrites => "home_writes".into(),
            Assume::Alternate(a, b) => format!("alternate({}, {})", op(a), op(b)),
            Assume::Once(a) => format!("once({})", op(a)),
            Assume::Before(a, b) => format!("before({}, {})", op(a), op(b)),
            Assume::Quiet(a, b) => format!("quiet({})", self.copying_names(*a, *b)),
        }
    }

    /// What is claimed of it: promises as the file writes them, invariants and ghosts by name.
    pub fn claim_names(&self) -> Vec<String> {
        let invariants = self.invariants.iter().map(|i| format!("invariant {}", i.name));
        let ghosts = self.ghosts.iter().map(|g| format!("ghost {}", self.roles[g.role.index()].name));
        self.promises.iter().map(|p| self.promise_name(p)).chain(invariants).chain(ghosts).collect()
    }

    /// All assumptions as the file writes them.
    pub fn assumption_names(&self) -> Vec<String> {
        let assumptions = self.assumptions.iter().map(|assume| self.assume_name(assume));
        assumptions.chain(self.conditions.iter().map(|condition| condition.text.clone())).collect()
    }

    /// A type as the file writes it.
    pub fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Bool => "bool".into(),
            Type::Int { lo, hi } if lo.constant == i64::MIN && hi.constant == i64::MAX => "number".into(),
            Type::Int { lo, hi } => format!("{lo}..{hi}"),
            Type::Node { optional: false } => "node".into(),
            Type::Node { optional: true } => "node?".into(),
            Type::Address => "address".into(),
            Type::Word => "word".into(),
            Type::Thread => "thread".into(),
            Type::Object(kind) => self.objects[kind.index()].clone(),
            Type::ObjectOrNone(kind) => format!("{}?", self.objects[kind.index()]),
            Type::OrNone(of) => format!("{}?", self.type_name(of)),
            Type::NodeSet => "set of node".into(),
            Type::IntSet { lo, hi } => format!("set of {lo}..{hi}"),
            Type::List { of, up_to, queue } => {
                format!("{} of {} up to {up_to}", if *queue { "queue" } else { "list" }, self.type_name(of))
            }
            Type::Record(r) => self.records[r.index()].name.clone(),
            Type::Array { by, of } => format!("[{}] of {}", self.type_name(by), self.type_name(of)),
        }
    }
}

impl Promise {
    /// Whether it is a promise about loads that is weaker than `last_write`.
    pub fn is_weaker(&self) -> bool {
        matches!(self, Promise::Coherent | Promise::Tso | Promise::ReleaseConsistency { .. })
    }

    /// Whether it says what loads return.
    pub fn is_about_loads(&self) -> bool {
        self.is_weaker() || matches!(self, Promise::LastWrite | Promise::LastPhase | Promise::Sequential)
    }
}
