//! Accesses to shared memory that a library checks (`access_control.software`): each is a call of the library, which first lets handlers
//! run for what has arrived, then looks at the state of the block, and performs the access or has the engine bring the block.
//! What it costs depends on the state, and not on the processor's cache.

use crate::machine::{AccessPrice, CallKind, Machine};
use crate::node::NodeState;
use crate::node::mechanisms::Handling;
use crate::node::processor::Way;
use crate::reports::counters::{ACCESS_KINDS, AccessOf, Spent};
use crate::reports::timeline::Reason;
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_engine::{Engine, Event, Object, Outcome};
use trivium_guest::{AccessKind, AccessStep, ProgramFault, SHARED_BASE};
use trivium_node::{HandlerHost, NodeError, Primitive, ProgramAccess, Protocols, reach_shared};
use trivium_protocol::{Access, BLOCK, EventKind, OpId, RoleKind, StateId};

/// A state of a role that gives access to blocks.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// Its protocol, role and state, as they are named.
    pub name: [String; 3],
    /// Whether it is one of a block's home.
    pub is_home: bool,
    /// Whether it is its role's first.
    is_first: bool,
    /// An access that it allows.
    hit: AccessPrice,
    /// An access that it does not allow.
    miss: AccessPrice,
}

/// The states of blocks on which the price of an access depends, where a library checks accesses; else none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Classes {
    all: Vec<Class>,
    /// By protocol: the first class elsewhere and at the home.
    first: Vec<[usize; 2]>,
    /// What is counted apart: loads, stores, atomic operations, and calls by their names.
    kinds: Vec<String>,
    /// By protocol and call: which of them it is, and what it does, if it is an access.
    calls: Vec<Vec<Option<(usize, CallKind)>>>,
}

impl Classes {
    /// Those of these protocols on a machine.
    pub fn new(protocols: &Protocols, machine: &Machine) -> Classes {
        let Some(checks) = &machine.access_control.software else { return Classes::default() };
        let mut classes = Classes { kinds: ACCESS_KINDS.map(String::from).into(), ..Classes::default() };
        for engine in &protocols.engines {
            let protocol = engine.protocol();
            let first = [false, true].map(|is_home| {
                let first = classes.all.len();
                let role = engine.tag_role(is_home).map(|role| &protocol.roles[role.index()]);
                for (role, (number, state)) in
                    role.into_iter().flat_map(|role| role.states.iter().enumerate().map(move |state| (role, state)))
                {
                    let name = [&protocol.name, &role.name, &state.name].map(String::clone);
                    let hits = checks.hit.get(&name[0]).and_then(|roles| roles.get(&name[1]));
                    let hit = hits.and_then(|states| states.get(&name[2])).copied().unwrap_or(checks.other);
                    let miss = checks.miss.get(&name[0]).copied().unwrap_or(checks.other);
                    classes.all.push(Class { name, is_home, is_first: number == 0, hit, miss });
                }
                first
            });
            classes.first.push(first);
            let calls = checks.call.get(&protocol.name);
            let of = |op: &trivium_protocol::Op| {
                let does = calls.and_then(|calls| calls.get(&op.name)).filter(|_| op.object == BLOCK)?;
                let kind = classes.kinds.iter().position(|kind| *kind == op.name).unwrap_or_else(|| {
                    classes.kinds.push(op.name.clone());
                    classes.kinds.len() - 1
                });
                Some((kind, *does))
            };
            let calls = protocol.ops.iter().map(of).collect();
            classes.calls.push(calls);
        }
        classes
    }

    /// That the machine speaks of roles and states only that these protocols have; of other protocols it may say anything.
    ///
    /// # Errors
    /// A name that is none of a role, or of its states.
    pub fn check(&self, protocols: &Protocols, machine: &Machine) -> Result<(), NodeError> {
        let with_images = protocols.engines.iter().find(|engine| !engine.protocol().images.is_empty());
        if let Some(engine) = with_images.filter(|_| self.are_checked()) {
            let what = format!(
                "machine {} has a library check each access by the state of its block, and an image, as protocol {} has, has no state",
                machine.name,
                engine.protocol().name
            );
            return Err(
                NodeError::input(Code::Usage, what).help("take a machine whose hardware checks accesses, as typhoon")
            );
        }
        let checks = machine.access_control.software.iter();
        let (hits, calls) = (checks.clone().flat_map(|checks| &checks.hit), checks.flat_map(|checks| &checks.call));
        for (protocol, calls) in calls {
            let Some(engine) = protocols.engines.iter().find(|engine| engine.protocol().name == *protocol) else {
                continue;
            };
            let ops = &engine.protocol().ops;
            if let Some(name) = calls.keys().find(|name| !ops.iter().any(|op| op.name == **name && op.object == BLOCK))
            {
                let what = format!(
                    "machine {} says in `access_control.software.call.{protocol}.{name}` what a call does, but the protocol has no call of this \
                     name about a block",
                    machine.name
                );
                return Err(NodeError::input(Code::Usage, what).help("`trivium show` prints the calls of a protocol"));
            }
        }
        let known = |protocol: &str| protocols.engines.iter().any(|engine| engine.protocol().name == protocol);
        for (protocol, roles) in hits.filter(|(protocol, _)| known(protocol)) {
            for (role, state) in roles.iter().flat_map(|(role, states)| states.keys().map(move |state| (role, state))) {
                if self.all.iter().any(|class| class.name == [protocol, role, state].map(String::as_str)) {
                    continue;
                }
                let what = format!(
                    "machine {} has a price for accesses in `access_control.software.hit.{protocol}.{role}.{state}`, but no state of this name \
                     gives access to blocks",
                    machine.name
                );
                return Err(NodeError::input(Code::Usage, what)
                    .help("`trivium show` prints the roles and states of a protocol"));
            }
        }
        Ok(())
    }

    /// Counts of a class: hits and misses of each kind.
    fn per_class(&self) -> usize {
        2 * self.kinds.len().max(1)
    }

    /// Whether a library checks accesses.
    pub fn are_checked(&self) -> bool {
        !self.first.is_empty()
    }

    /// What was counted, by name: what nobody has done is left out.
    pub fn named(&self, accesses: &[u64]) -> Vec<AccessOf> {
        let mut named = Vec::new();
        for (class, counts) in self.all.iter().zip(accesses.chunks_exact(self.per_class())) {
            for (kind, pair) in self.kinds.iter().zip(counts.chunks_exact(2)) {
                if let &[hits, misses] = pair
                    && hits + misses > 0
                {
                    let [protocol, role, state] = class.name.clone();
                    let (kind, at_home, is_first) = (kind.clone(), class.is_home, class.is_first);
                    named.push(AccessOf { protocol, role, state, kind, at_home, is_first, hits, misses });
                }
            }
        }
        named
    }
}

/// What a node's library remembers of blocks.
#[derive(Default)]
pub(crate) struct Checks {
    /// Whether there is one.
    is_on: bool,
    /// Of each block 1 + its class; 0 if it has not been looked up since a handler last ran for it.
    classes: Vec<u16>,
    /// Whether each block has been entered in the node's directory.
    entered: Vec<bool>,
    /// Whether the program stands in a call of the library, and handlers may run.
    in_library: bool,
    /// The call that is under way, if it is an access: its class, and its kind.
    calling: Option<(usize, usize)>,
}

impl Checks {
    /// Of a node on a machine whose library, if it has one, checks accesses in these states.
    pub fn new(classes: &Classes) -> Checks {
        Checks { is_on: classes.are_checked(), ..Checks::default() }
    }

    /// Whether a library checks an access to this address.
    #[inline]
    pub fn concerns(&self, address: u32) -> bool {
        self.is_on && address >= SHARED_BASE
    }
}

impl NodeState {
    /// Whether handlers must wait until the program calls its library.
    #[inline]
    pub(super) fn is_out_of_library(&self) -> bool {
        self.model.only_in_library() && self.thread().is_running() && !self.checks.in_library
    }

    /// Whether something is to be handled before the library's present call goes on.
    pub(super) fn polls(&mut self) -> bool {
        if !self.model.only_in_library() {
            return false;
        }
        if self.queues.inbox.is_empty() && self.core.schedule.has_no_replays() {
            self.checks.in_library = false;
            return false;
        }
        self.checks.in_library = true;
        self.checks.in_library = self.next().time <= self.compute.clock();
        self.checks.in_library
    }

    /// An access to shared memory, of at most 8 bytes inside an aligned word, as a call of the library.
    pub(super) fn reach_by_library(&mut self, access: &ProgramAccess) -> Result<AccessStep, ProgramFault> {
        if self.thread().grant.is_none() && (self.polls() || !self.up_to_date()) {
            return Ok(AccessStep::Wait);
        }
        let grant = self.thread_mut().grant.take();
        if grant.is_none() {
            self.compute.cause = None;
        }
        reach_shared(self, access, grant, Way::Library)
    }

    /// What the library's check costs, and the count of it: by the state of the block, and whether it hits.
    pub(super) fn check_access(
        &mut self,
        block: Object,
        kind: AccessKind,
        hits: bool,
        spent: Spent,
    ) -> Result<(), ProgramFault> {
        let class = self.class_of(block)?;
        let counted = match kind {
            AccessKind::Read => 0,
            AccessKind::Write if self.thread().atomic.is_some() => 2,
            AccessKind::Write => 1,
        };
        self.count_access((class, counted), hits);
        self.charge_check(class, kind, hits, spent);
        Ok(())
    }

    fn count_access(&mut self, (class, kind): (usize, usize), hits: bool) {
        let (classes, counted) = (&self.shared.classes, &mut self.counts.counters.accesses);
        if counted.is_empty() {
            counted.resize(classes.all.len() * classes.per_class(), 0);
        }
        counted[class * classes.per_class() + 2 * kind + usize::from(!hits)] += 1;
    }

    fn charge_check(&mut self, class: usize, kind: AccessKind, hits: bool, spent: Spent) {
        let class = &self.shared.classes.all[class];
        let price = if hits { class.hit } else { class.miss };
        let cycles = if kind == AccessKind::Read { price.read } else { price.write };
        if self.shared.traced.is_some() {
            let begun = self.compute.clock();
            let what = if hits { "check, access" } else { "check" };
            self.note_stall(begun, spent, "shared memory", &[(Reason::Memory, what, begun + cycles)]);
        }
        self.stall(cycles, spent);
    }

    /// A call is about to be made: if it is an access, the library's check is charged.
    pub(super) fn check_call(&mut self, protocol: usize, op: OpId, block: Object) -> Result<(), ProgramFault> {
        self.checks.calling = None;
        let Some((kind, does)) = self.shared.classes.calls.get(protocol).and_then(|calls| calls[op.index()]) else {
            return Ok(());
        };
        let class = self.class_of(block)?;
        let (access, hits) = match does {
            CallKind::Read => (AccessKind::Read, self.core.tag(block) >= Access::Read),
            CallKind::Write => (AccessKind::Write, self.core.tag(block) == Access::Write),
        };
        self.checks.calling = Some((class, kind));
        self.charge_check(class, access, hits, Spent::Sync);
        Ok(())
    }

    /// The handler of a call has ended. A call that has sent nothing was a hit; one that has answered false has done nothing, and
    /// is made again.
    pub(super) fn note_call(&mut self, handling: &Handling) {
        if let Some(calling) = self.checks.calling.take()
            && !handling.effects.answers.iter().any(|(_, value)| *value == 0)
        {
            self.count_access(calling, handling.sends.is_empty());
        }
    }

    /// The class of a block's state.
    #[inline]
    fn class_of(&mut self, block: Object) -> Result<usize, ProgramFault> {
        match self.checks.classes.get(block.id as usize) {
            Some(&class) if class > 0 => Ok(usize::from(class) - 1),
            _ => self.look_class_up(block),
        }
    }

    #[cold]
    fn look_class_up(&mut self, block: Object) -> Result<usize, ProgramFault> {
        let is_home = self.core.home_of_block(block) == self.core.me;
        let found = self.core.protocol_at(self.core.offset_of(block)).and_then(|protocol| {
            let role = self.shared.protocols.engines[protocol].tag_role(is_home)?;
            let state = self.core.state_of(protocol, role, block);
            Some(self.shared.classes.first[protocol][usize::from(is_home)] + state.index())
        });
        let Some(class) = found else {
            return Err(ProgramFault::new(format!("node {}: block {} is not allocated", self.core.me, block.id)));
        };
        let at = block.id as usize;
        if at >= self.checks.classes.len() {
            self.checks.classes.resize(at + 64, 0);
        }
        self.checks.classes[at] = fit(class + 1, "a state of a block, of which there are at most 65535");
        Ok(class)
    }

    /// A handler has gone for a block from its home's first state: the home makes its entry, which is priced.
    pub(super) fn note_first(&mut self, engine: &Engine, event: &Event, outcome: &Outcome) {
        let is_first = self.checks.is_on
            && matches!(event.kind, EventKind::Message(_))
            && outcome.object.kind == BLOCK
            && outcome.before == StateId(0)
            && outcome.after != StateId(0)
            && engine.protocol().roles[outcome.role.index()].kind == RoleKind::Home;
        if is_first {
            self.used(Primitive::First);
        }
    }

    /// What handlers have done to blocks: their states are looked up again, and what has left its first state has an entry.
    ///
    /// # Errors
    /// The node's directory has no memory for one more entry.
    pub(super) fn note_states(&mut self, engine: &Engine, handling: &Handling) -> Result<(), NodeError> {
        if !self.checks.is_on {
            return Ok(());
        }
        for touched in handling.effects.touched.iter().filter(|touched| touched.object.kind == BLOCK) {
            let at = touched.object.id as usize;
            if let Some(class) = self.checks.classes.get_mut(at) {
                *class = 0;
            }
            let is_home = self.core.home_of_block(touched.object) == self.core.me;
            let state = engine.state(touched.role, self.core.records.at(touched.place));
            if engine.tag_role(is_home) == Some(touched.role) && state != StateId(0) {
                self.enter(at)?;
            }
        }
        Ok(())
    }

    /// A block has an entry in the node's directory from now on.
    fn enter(&mut self, at: usize) -> Result<(), NodeError> {
        if at >= self.checks.entered.len() {
            self.checks.entered.resize(at + 64, false);
        }
        let was = std::mem::replace(&mut self.checks.entered[at], true);
        if was {
            return Ok(());
        }
        let most = self.shared.machine.access_control.software.as_ref().and_then(|checks| checks.entries);
        if most.is_some_and(|most| self.counts.counters.entries >= most) {
            let what = format!(
                "cycle {}: the directory of node {} is full: it has {} entries, and none for block {at}",
                self.now, self.core.me, self.counts.counters.entries
            );
            let help = "access_control.software.entries is the machine's memory for them: larger blocks need fewer, or --set machine.access_control.software.entries=N";
            return Err(NodeError::subject(Code::Machine, what).help(help));
        }
        self.counts.counters.entries += 1;
        Ok(())
    }
}
