//! What has happened: (state, event) pairs, clauses, ways through `if`s and loops.

pub(crate) mod vacuity;

use crate::coverage::vacuity::vacuous;
use crate::system::begin::Begun;
use crate::system::model::Model;
use serde::Serialize;
use std::collections::BTreeMap;
use trivium_protocol::source::Span;
use trivium_protocol::walk::each_step;
use trivium_protocol::{
    BodyStep, CallBody, EventKind, ExprKind, Handler, HandlerId, OpId, Protocol, Response, RoleId, State, StateId,
    Step, StepKind,
};

/// The pairs that a protocol answers, and those that never happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Pairs that happened.
    pub reached: u32,
    /// Pairs that are handled, deferred or held; what is impossible or passes is not counted, nor are answers that an `otherwise
    /// defer` would keep and that never came.
    pub total: u32,
    /// The pairs that never happened: `cache.Clean.write.Owned x Invalidate`.
    pub unreached: Vec<String>,
}

/// Parts of the text that can be carried out, and those that never were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Parts that were carried out.
    pub reached: u32,
    /// All of them; what leads to nothing but `impossible` is not counted.
    pub total: u32,
    /// Those that never were, in the order of the text.
    pub unreached: Vec<Never>,
}

/// A part of the text that was never carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Never {
    /// What it is: `home.Idle x Get when n == 2`, `if n == 2`.
    pub name: String,
    /// Where it stands: `msi.tri:30`.
    pub at: String,
    /// Whether it goes without saying, because what it is a part of never happened.
    #[serde(skip)]
    pub implied: bool,
}

impl Counted {
    fn count(&mut self, reached: bool, never: impl FnOnce() -> Never) {
        self.total += 1;
        if reached {
            self.reached += 1;
        } else {
            self.unreached.push(never());
        }
    }
}

/// What an exploration has seen of a protocol, and what it has not.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub coverage: Coverage,
    pub clauses: Counted,
    pub branches: Counted,
    /// What was never put to the test, if every state was visited.
    pub vacuous: Vec<String>,
}

impl Seen {
    pub fn of(model: &Model, reached: &Reached) -> Seen {
        let protocol = model.protocol();
        Seen {
            coverage: reached.coverage(protocol),
            clauses: reached.clauses(protocol),
            branches: reached.branches(protocol),
            vacuous: vacuous(model, reached),
        }
    }
}

/// Marks of what happened.
pub(crate) struct Reached {
    marks: Vec<Vec<bool>>,
    /// For each role and event kind, the column.
    columns: Vec<rustc_hash::FxHashMap<EventKind, usize>>,
    widths: Vec<usize>,
    /// For each role, its handlers that have run to their ends, and the states that were entered.
    handlers: Vec<Vec<bool>>,
    entered: Vec<Vec<bool>>,
    /// Where the bytes of each file of the protocol's text begin among the marks of ways.
    files: Vec<usize>,
    /// For the first byte of a step, which ways it went: [`WENT`] and [`PASSED`].
    ways: Vec<u8>,
    /// Which calls have returned.
    returned: Vec<bool>,
    /// For each promise, whether a lock was asked for while another thread held it.
    pub contended: Vec<bool>,
    /// Whether a load, and a store, has been performed.
    pub loads: bool,
    pub stores: bool,
}

/// The condition was true, the loop had something to go over, the assertion was looked at.
const WENT: u8 = 1;
/// The condition was false, the loop had nothing to go over.
const PASSED: u8 = 2;

impl Reached {
    pub fn new(protocol: &Protocol) -> Reached {
        let roles = &protocol.roles;
        let mut files = Vec::new();
        let mut bytes = 0;
        for (_, text) in protocol.sources.files() {
            files.push(bytes);
            bytes += text.len() + 1;
        }
        Reached {
            marks: roles.iter().map(|r| vec![false; r.states.len() * r.events.len()]).collect(),
            columns: roles.iter().map(|r| r.events.iter().enumerate().map(|(c, &e)| (e, c)).collect()).collect(),
            widths: roles.iter().map(|r| r.events.len()).collect(),
            handlers: roles.iter().map(|r| vec![false; r.handlers.len()]).collect(),
            entered: roles.iter().map(|r| vec![false; r.states.len()]).collect(),
            files,
            ways: vec![0; bytes],
            returned: vec![false; protocol.ops.len()],
            contended: vec![false; protocol.promises.len()],
            loads: false,
            stores: false,
        }
    }

    /// What is seen before anything happens: the ways through what records are at first, and where that leads them.
    pub fn begun(&mut self, begun: &Begun) {
        begun.ways.iter().for_each(|&(step, taken)| self.way(step, taken));
        begun.entered.iter().for_each(|&(role, state)| self.enter(role, state));
    }

    /// An event, of which this is the column in its role's table, meets a state.
    pub fn mark(&mut self, role: RoleId, state: StateId, column: usize) {
        self.marks[role.index()][state.index() * self.widths[role.index()] + column] = true;
    }

    /// A handler has run to its end.
    pub fn ran(&mut self, role: RoleId, handler: HandlerId) {
        self.handlers[role.index()][handler.index()] = true;
    }

    /// A role has changed its state.
    pub fn enter(&mut self, role: RoleId, state: StateId) {
        self.entered[role.index()][state.index()] = true;
    }

    /// A step goes one way or the other.
    #[inline]
    pub fn way(&mut self, step: Span, taken: bool) {
        let at = self.files.get(usize::from(step.file)).map(|first| first + step.start as usize);
        if let Some(ways) = at.and_then(|at| self.ways.get_mut(at)) {
            *ways |= if taken { WENT } else { PASSED };
        }
    }

    /// A call returns.
    pub fn answer(&mut self, op: OpId) {
        self.returned[op.index()] = true;
    }

    /// Adds what another has seen.
    pub fn add(&mut self, other: &Reached) {
        fn join<'a>(mine: impl Iterator<Item = &'a mut bool>, theirs: impl Iterator<Item = &'a bool>) {
            mine.zip(theirs).for_each(|(mine, theirs)| *mine |= theirs);
        }
        join(self.marks.iter_mut().flatten(), other.marks.iter().flatten());
        join(self.handlers.iter_mut().flatten(), other.handlers.iter().flatten());
        join(self.entered.iter_mut().flatten(), other.entered.iter().flatten());
        join(self.returned.iter_mut(), other.returned.iter());
        join(self.contended.iter_mut(), other.contended.iter());
        self.ways.iter_mut().zip(&other.ways).for_each(|(mine, theirs)| *mine |= theirs);
        self.loads |= other.loads;
        self.stores |= other.stores;
    }

    /// All marks, one after the other, as [`Reached::restore`] takes them.
    pub fn saved(&self) -> Vec<u8> {
        let flags =
            self.marks.iter().chain(&self.handlers).chain(&self.entered).chain([&self.returned, &self.contended]);
        let flags = flags.flatten().copied().chain([self.loads, self.stores]);
        flags.map(u8::from).chain(self.ways.iter().copied()).collect()
    }

    /// Adds marks that were saved of the same protocol. Whether they are as many.
    pub fn restore(&mut self, saved: &[u8]) -> bool {
        let lists = self.marks.iter_mut().chain(&mut self.handlers).chain(&mut self.entered);
        let flags = lists.chain([&mut self.returned, &mut self.contended]).flatten();
        let mut saved_flags = saved.iter();
        let mut complete = true;
        for flag in flags.chain([&mut self.loads, &mut self.stores]) {
            match saved_flags.next() {
                Some(&saved) => *flag |= saved != 0,
                None => complete = false,
            }
        }
        let ways = saved_flags.as_slice();
        complete &= ways.len() == self.ways.len();
        self.ways.iter_mut().zip(ways).for_each(|(mine, saved)| *mine |= saved);
        complete
    }

    /// Whether an event has met a state of a role.
    pub fn met(&self, role: RoleId, state: StateId, event: EventKind) -> bool {
        let column = self.columns[role.index()].get(&event);
        column.is_some_and(|column| self.marks[role.index()][state.index() * self.widths[role.index()] + column])
    }

    /// Whether an event has met any state of any role.
    pub fn happened(&self, event: EventKind) -> bool {
        let met = |(r, width): (usize, &usize)| {
            let column = self.columns[r].get(&event);
            column.is_some_and(|column| self.marks[r].iter().skip(*column).step_by(*width).any(|&met| met))
        };
        self.widths.iter().enumerate().any(met)
    }

    /// Whether a role has been led into a state. That it begins there does not count.
    pub fn was_entered(&self, role: RoleId, state: StateId) -> bool {
        self.entered[role.index()][state.index()]
    }

    /// Whether a call has returned.
    pub fn has_returned(&self, op: OpId) -> bool {
        self.returned[op.index()]
    }

    /// Whether a step went this way.
    pub fn went(&self, step: Span, taken: bool) -> bool {
        let way = if taken { WENT } else { PASSED };
        let at = self.files.get(usize::from(step.file)).map(|first| first + step.start as usize);
        at.and_then(|at| self.ways.get(at)).is_some_and(|ways| ways & way != 0)
    }

    fn coverage(&self, protocol: &Protocol) -> Coverage {
        let mut coverage = Coverage::default();
        for pair in pairs(protocol) {
            let is_met = self.met(pair.role, pair.state, pair.event);
            if !is_met && pair.is_kept_answer(protocol) {
                continue;
            }
            coverage.total += 1;
            if is_met {
                coverage.reached += 1;
            } else {
                coverage.unreached.push(pair.name(protocol));
            }
        }
        coverage
    }

    /// The clauses: the handlers of each pair, told apart by their guards.
    fn clauses(&self, protocol: &Protocol) -> Counted {
        let mut clauses = Counted::default();
        for pair in pairs(protocol) {
            let happened = self.met(pair.role, pair.state, pair.event);
            for (n, (id, handler)) in pair.handlers(protocol).enumerate() {
                clauses.count(self.handlers[pair.role.index()][id.index()], || {
                    let guard = match &handler.guard {
                        Some(guard) => format!(" when {}", words(protocol, guard.span)),
                        None if n > 0 => " otherwise".to_string(),
                        None => String::new(),
                    };
                    let name = pair.name(protocol) + &guard;
                    Never { name, at: place(protocol, handler.span), implied: !happened }
                });
            }
        }
        clauses
    }

    /// The ways through each `if` and each loop of the text.
    fn branches(&self, protocol: &Protocol) -> Counted {
        let mut branches = Counted::default();
        for site in branches_of(protocol).values() {
            let happened = self.went(site.span, true) || self.went(site.span, false);
            for taken in [true, false] {
                if if taken { site.goes } else { site.passes } {
                    branches.count(self.went(site.span, taken), || Never {
                        name: site.name(protocol, taken),
                        at: place(protocol, site.span),
                        implied: !happened,
                    });
                }
            }
        }
        branches
    }
}

/// A pair that can happen.
struct Pair<'p> {
    role: RoleId,
    state: StateId,
    event: EventKind,
    response: &'p Response,
}

fn pairs(protocol: &Protocol) -> impl Iterator<Item = Pair<'_>> {
    protocol.roles.iter().zip(0..).flat_map(|(role, r)| {
        role.states.iter().zip(0..).flat_map(move |(state, s)| {
            let answers = role.events.iter().zip(&role.table[usize::from(s)]);
            let can = answers.filter(|(event, response)| can_happen(state, **event, response));
            can.map(move |(&event, response)| Pair { role: RoleId(r), state: StateId(s), event, response })
        })
    })
}

impl<'p> Pair<'p> {
    fn name(&self, protocol: &Protocol) -> String {
        let role = &protocol.roles[self.role.index()];
        format!("{}.{} x {}", role.name, role.states[self.state.index()].name, protocol.event_name(self.event))
    }

    /// Whether it is an answer to another question, which only `otherwise defer` covers: most of them never come.
    fn is_kept_answer(&self, protocol: &Protocol) -> bool {
        protocol.roles[self.role.index()].kept_answers.contains(&(self.state, self.event))
    }

    /// The handlers that may run; not those that would be a fault.
    fn handlers(&self, protocol: &'p Protocol) -> impl Iterator<Item = (HandlerId, &'p Handler)> + use<'p> {
        let ids: &'p [HandlerId] = if let Response::Handle(ids) = self.response { ids.as_slice() } else { &[] };
        let role = &protocol.roles[self.role.index()];
        ids.iter().map(|&id| (id, &role.handlers[id.index()])).filter(|(_, handler)| !is_fault(&handler.steps))
    }
}

/// Whether steps are a fault and nothing else.
fn is_fault(steps: &[Step]) -> bool {
    matches!(steps, [Step { kind: StepKind::Impossible, .. }])
}

/// An `if` or a loop of the text, however often it is expanded, and which ways there are.
struct Branch {
    span: Span,
    /// What stands before its block: `if n == 2`, `for s in sharers`; of a call's body without its first word, which is this.
    head: Span,
    word: &'static str,
    is_loop: bool,
    goes: bool,
    passes: bool,
}

impl Branch {
    fn name(&self, protocol: &Protocol, taken: bool) -> String {
        let head = self.word.to_string() + &words(protocol, self.head);
        match (self.is_loop, taken) {
            (_, true) => head,
            (false, false) => format!("else of {head}"),
            (true, false) => format!("{head}, over nothing"),
        }
    }
}

/// The `if`s and loops of all handlers that may run, of what records are at first, and of the bodies of calls, by their places.
fn branches_of(protocol: &Protocol) -> BTreeMap<(u16, u32), Branch> {
    let mut branches = BTreeMap::new();
    for initially in protocol.roles.iter().filter_map(|role| role.initially.as_ref()) {
        each_step(&initially.steps, &mut |step| note_branch(protocol, step, &mut branches));
    }
    for pair in pairs(protocol) {
        for (_, handler) in pair.handlers(protocol) {
            each_step(&handler.steps, &mut |step| note_branch(protocol, step, &mut branches));
        }
    }
    for body in protocol.ops.iter().filter_map(|op| op.body.as_ref()) {
        branches.extend(branches_of_body(body));
    }
    branches
}

/// Those of a call's body. That an `until` goes on is a way; that it looks again is none, since a look that changes nothing is no transition.
fn branches_of_body(body: &CallBody) -> impl Iterator<Item = ((u16, u32), Branch)> {
    body.steps.places.iter().enumerate().filter_map(|(at, place)| {
        let BodyStep::Unless(_, to) = place.step else { return None };
        let (span, is_until) = (place.span, to <= at);
        let word = if is_until { "" } else { "if " };
        let branch = Branch { span, head: span, word, is_loop: false, goes: true, passes: !is_until };
        Some(((span.file, span.start), branch))
    })
}

fn note_branch(protocol: &Protocol, step: &Step, branches: &mut BTreeMap<(u16, u32), Branch>) {
    let is_constant = |kind: &ExprKind| matches!(kind, ExprKind::Constant(_));
    let up_to = |end: u32| Span { end, ..step.span };
    let (head, goes, passes) = match &step.kind {
        // What an `await all` asks has the place of the whole `await`, and is no branch of the text.
        StepKind::If(condition, ..) if condition.span == step.span || is_constant(&condition.kind) => return,
        StepKind::If(condition, yes, no) => (up_to(condition.span.end), !is_fault(yes), !is_fault(no)),
        StepKind::ForRange(_, from, to, _) => {
            (up_to(to.span.end), true, !is_constant(&from.kind) || !is_constant(&to.kind))
        }
        StepKind::ForSet(_, of, _) => {
            let written_out = if let ExprKind::SetOf(elements) = &of.kind { Some(elements.len()) } else { None };
            // There is always a node.
            let may_be_empty =
                !matches!(of.kind, ExprKind::AllNodes) && written_out.is_none_or(|elements| elements == 0);
            (up_to(of.span.end), written_out != Some(0), may_be_empty)
        }
        StepKind::ForList(..) => {
            let block = protocol.sources.excerpt(step.span).find('{').and_then(|at| u32::try_from(at).ok());
            (up_to(block.map_or(step.span.end, |at| step.span.start + at)), true, true)
        }
        _ => return,
    };
    let is_loop = !matches!(step.kind, StepKind::If(..));
    let new = Branch { span: step.span, head, word: "", is_loop, goes: false, passes: false };
    let branch = branches.entry((step.span.file, step.span.start)).or_insert(new);
    branch.goes |= goes;
    branch.passes |= passes;
}

/// What stands at a place, on one line.
pub(crate) fn words(protocol: &Protocol, span: Span) -> String {
    protocol.sources.excerpt(span).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A place as reports write it: `msi.tri:30`.
pub(crate) fn place(protocol: &Protocol, span: Span) -> String {
    let place = protocol.sources.place(span);
    format!("{}:{}", place.file, place.line)
}

/// Whether a pair is one that the protocol answers: a time must have been set, and no node insists on an eviction or a prefetch.
fn can_happen(state: &State, event: EventKind, response: &Response) -> bool {
    match (event, response) {
        (_, Response::Impossible | Response::Passes) | (EventKind::Evict, Response::Hold) => false,
        (event, Response::Hold) if event.is_hint() => false,
        (EventKind::Timer, _) => state.timer.is_some(),
        _ => true,
    }
}
