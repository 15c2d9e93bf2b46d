//! Where barriers stand. Loops over positions say which variables they read and write, their own elements and those of other nodes; a barrier stands
//! between two of them wherever one node could be at the later one while another is still at the earlier one, and one of the two writes what the
//! other one reads or writes. How a value goes between nodes says nothing about when: only barriers (and reductions, which all nodes must have
//! come to) do that.
//!
//! A barrier may stand before any loop, and stands as late as it can: before the later of the two. That is the least number where statements follow each
//! other, since whatever one barrier can part it parts. What a loop of the program itself does not need stands before it. Barriers are the
//! same on all nodes, since all of them go the same way through the program.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What a loop does with a variable, in the order in which they are told: a set.
pub(super) type Kinds = u16;
pub(super) const READ: Kinds = 1;
pub(super) const WRITE: Kinds = 2;
pub(super) const GET: Kinds = 4;
pub(super) const SEND: Kinds = 8;
/// Memory is given to a variable; whose it was before, nobody knows.
pub(super) const REUSE: Kinds = 16;
const ALL: Kinds = READ | WRITE | GET | SEND;
/// Combined at once where it lies, by each of the operators: those of one operator may come in any order.
const COMBINED: [(&str, Kinds); 6] = [
    ("CSTAR_ADD", 32),
    ("CSTAR_AND", 64),
    ("CSTAR_OR", 128),
    ("CSTAR_XOR", 256),
    ("CSTAR_MIN", 512),
    ("CSTAR_MAX", 1024),
];
/// All that is sent.
const SENDS: Kinds = SEND | 32 | 64 | 128 | 256 | 512 | 1024;
/// What one node does with elements of another.
pub(super) const REMOTE: Kinds = GET | SENDS;

/// What a combining send does, by the library's name of its operator.
pub(super) fn combined(operator: &str) -> Kinds {
    COMBINED.iter().find(|(name, _)| *name == operator).map_or(SEND, |(_, kind)| *kind)
}

/// Memory that goes from one variable of a function to the next.
pub(super) const MEMORY: &str = "memory of variables";

/// Loops in loops of which it is found out one by one what they need: each costs several rounds of all that are in it.
const DEEPEST: usize = 5;
/// Up to here a barrier may stand before a loop and not in it.
const DEEPEST_BEFORE: usize = 3;

/// Variables, by their names: there are no pointers to them. Those of one name count as one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Accesses {
    of: BTreeMap<String, Kinds>,
    /// What may have been done with every variable.
    every: Kinds,
}

impl Accesses {
    pub(super) fn everything() -> Accesses {
        Accesses { of: BTreeMap::new(), every: ALL }
    }

    pub(super) fn add(&mut self, variable: &str, kinds: Kinds) {
        *self.of.entry(variable.to_string()).or_default() |= kinds;
    }

    pub(super) fn join(&mut self, other: &Accesses) {
        self.every |= other.every;
        other.of.iter().for_each(|(variable, kinds)| self.add(variable, *kinds));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.every == 0 && self.of.is_empty()
    }

    pub(super) fn kinds(&self, variable: &str) -> Kinds {
        self.every | self.of.get(variable).copied().unwrap_or_default()
    }

    /// Why these and those, which are done later, must be parted; nothing if they need not be.
    fn arcs(&self, later: &Accesses) -> BTreeSet<String> {
        let both = |name: &str, before, after| arc(before, after).map(|what| format!("{name} {what}"));
        let names = self.of.keys().chain(later.of.keys());
        let mut arcs: BTreeSet<String> =
            names.filter_map(|name| both(name, self.kinds(name), later.kinds(name))).collect();
        arcs.extend(both("a variable", self.every, later.every));
        arcs
    }

    /// Whether these may not stand in one loop.
    pub(super) fn are_apart_from(&self, others: &Accesses) -> bool {
        !self.arcs(others).is_empty() || !others.arcs(self).is_empty()
    }
}

/// What must be parted: a node's own reads and writes of its own elements need nothing, and neither do two gets.
fn arc(before: Kinds, after: Kinds) -> Option<&'static str> {
    let is = |earlier: Kinds, later: Kinds| before & earlier != 0 && after & later != 0;
    Some(match () {
        _ if is(WRITE, GET) => "written, then got",
        _ if is(SENDS, GET) => "sent, then got",
        _ if is(GET, WRITE) => "got, then written",
        _ if is(GET, SENDS) => "got, then sent",
        _ if is(WRITE, SENDS) => "written, then sent",
        _ if is(READ, SENDS) => "read, then sent",
        _ if is(SENDS, WRITE) => "sent, then written",
        _ if is(SENDS, READ) => "sent, then read",
        _ if is(SENDS, SENDS) && !combines_alike(before, after) => "sent, then sent",
        _ if is(REMOTE, REUSE) => "got or sent, then given to another variable",
        _ => return None,
    })
}

/// Whether all that is sent is combined by one operator.
fn combines_alike(before: Kinds, after: Kinds) -> bool {
    let sends = (before | after) & SENDS;
    sends != SEND && sends.is_power_of_two()
}

/// What a function does, for those who call it.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    /// What it may do before all nodes have come together in it.
    enters: Accesses,
    /// What it may have done since they last have.
    leaves: Accesses,
    /// Whether it may end without that they have.
    passes: bool,
}

impl Summary {
    /// Of a function that has nothing to do with parallel variables.
    pub(super) fn nothing() -> Summary {
        Summary { enters: Accesses::default(), leaves: Accesses::default(), passes: true }
    }

    /// Of a function of which nothing is known.
    pub(super) fn unknown() -> Summary {
        Summary { enters: Accesses::everything(), leaves: Accesses::everything(), passes: true }
    }

    /// Of a function that other files may call: whatever was done before, it has barriers of its own.
    pub(super) fn without_enters(self) -> Summary {
        Summary { enters: Accesses::default(), ..self }
    }

    pub(super) fn is_nothing(&self) -> bool {
        self.enters.is_empty() && self.leaves.is_empty() && self.passes
    }
}

/// What is done, in the order in which it is.
#[derive(Debug, Clone)]
pub(super) enum Flow {
    /// A place where a barrier may stand, by its number, and what is done there.
    Point(usize, Accesses),
    /// All nodes come together.
    Barrier,
    /// A call, before which a barrier may stand.
    Call(usize, Summary),
    /// One of these.
    Branch(Vec<Vec<Flow>>),
    /// Any number of times; with the place before it.
    Loop(usize, Vec<Flow>),
    /// `switch`: from any of the labels in it.
    Switch(Vec<Flow>),
    Label,
    Break,
    Continue,
    /// Where `continue` goes on, if that is not where the loop begins.
    Continued,
    Return,
}

/// What may have been done since all nodes last came together.
#[derive(Debug, Clone, PartialEq)]
struct State {
    done: Accesses,
    /// Whether they may not have come together since the function began.
    is_of_caller: bool,
}

fn joined(a: Option<State>, b: Option<State>) -> Option<State> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.done.join(&b.done);
            a.is_of_caller |= b.is_of_caller;
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

/// Where barriers stand in a function, while that is found out.
#[derive(Debug, Default)]
struct Placed {
    /// By the number of the place, with what they part.
    barriers: HashMap<usize, BTreeSet<String>>,
    enters: Accesses,
    exits: Option<State>,
    /// For the loops and switches around a place: what jumps bring to their ends.
    breaks: Vec<Option<State>>,
    continues: Vec<Option<State>>,
    /// What is so where `switch` chooses a label.
    entries: Vec<Option<State>>,
    is_naive: bool,
    /// How many loops are around a place.
    depth: usize,
}

/// Finds out where barriers stand in a function. `begins`: what may have been done when it is called.
pub(super) fn placed(flow: &[Flow], begins: Accesses, is_naive: bool) -> (HashMap<usize, BTreeSet<String>>, Summary) {
    let mut placed = Placed { is_naive, ..Placed::default() };
    // A barrier takes away what is done before it, so that no more are needed: they only become more, and end.
    loop {
        let before = placed.count();
        placed.exits = None;
        placed.enters = Accesses::default();
        let end = placed.all(flow, Some(State { done: begins.clone(), is_of_caller: true }));
        placed.exits = joined(placed.exits.take(), end);
        if placed.count() == before {
            break;
        }
    }
    let exits = placed.exits.take();
    let passes = exits.as_ref().is_none_or(|state| state.is_of_caller);
    let leaves = exits.map(|state| state.done).unwrap_or_default();
    let enters = std::mem::take(&mut placed.enters);
    (placed.barriers, Summary { enters, leaves, passes })
}

impl Placed {
    fn count(&self) -> usize {
        self.barriers.values().map(|arcs| 1 + arcs.len()).sum()
    }

    fn all(&mut self, flow: &[Flow], state: Option<State>) -> Option<State> {
        flow.iter().fold(state, |state, step| self.step(step, state))
    }

    fn step(&mut self, step: &Flow, state: Option<State>) -> Option<State> {
        match step {
            Flow::Label => return joined(state, self.entries.last().cloned().flatten()),
            Flow::Continued => return joined(state, self.continues.last_mut().and_then(Option::take)),
            _ => {}
        }
        if let (Flow::Branch(_) | Flow::Loop(..), None) = (step, &state) {
            // A label in it may be jumped to.
            return self.all_in(step);
        }
        let state = state?;
        match step {
            Flow::Point(place, accesses) => Some(self.point(*place, accesses, state)),
            Flow::Barrier => Some(together()),
            Flow::Call(place, summary) => Some(self.call(*place, summary, state)),
            Flow::Branch(ways) => {
                let ends: Vec<_> = ways.iter().map(|way| self.all(way, Some(state.clone()))).collect();
                ends.into_iter().fold(None, joined)
            }
            Flow::Loop(place, body) => self.repeated(*place, body, state),
            Flow::Switch(body) => {
                self.entries.push(Some(state.clone()));
                self.breaks.push(None);
                let end = self.all(body, None);
                self.entries.pop();
                // No label may be the right one.
                joined(joined(end, self.breaks.pop().flatten()), Some(state))
            }
            Flow::Label | Flow::Continued => None,
            Flow::Break => leave(&mut self.breaks, state),
            Flow::Continue => leave(&mut self.continues, state),
            Flow::Return => {
                self.exits = joined(self.exits.take(), Some(state));
                None
            }
        }
    }

    /// What is reached by labels in it only.
    fn all_in(&mut self, step: &Flow) -> Option<State> {
        match step {
            Flow::Branch(ways) => {
                let ends: Vec<_> = ways.iter().map(|way| self.all(way, None)).collect();
                ends.into_iter().fold(None, joined)
            }
            Flow::Loop(_, body) => self.rounds(body, None),
            _ => None,
        }
    }

    /// A barrier before this place, if what was done must be parted from what is done next.
    fn part(&mut self, place: usize, next: &Accesses, state: State) -> State {
        let arcs = state.done.arcs(next);
        let mut needs = !arcs.is_empty();
        if needs {
            self.barriers.entry(place).or_default().extend(arcs);
        }
        let is_remote = |accesses: &Accesses| accesses.of.values().any(|kinds| kinds & REMOTE != 0);
        if self.is_naive && (is_remote(next) || is_remote(&state.done)) && !next.is_empty() {
            self.barriers.entry(place).or_default();
        }
        needs |= self.barriers.contains_key(&place);
        if needs { together() } else { state }
    }

    fn point(&mut self, place: usize, accesses: &Accesses, state: State) -> State {
        let mut state = self.part(place, accesses, state);
        if state.is_of_caller {
            self.enters.join(accesses);
        }
        state.done.join(accesses);
        state
    }

    fn call(&mut self, place: usize, summary: &Summary, state: State) -> State {
        let mut state = self.part(place, &summary.enters, state);
        if state.is_of_caller {
            self.enters.join(&summary.enters);
        }
        if !summary.passes {
            state = together();
        }
        state.done.join(&summary.leaves);
        state
    }

    /// A loop: first by itself, so that what it needs stands in it. If it needs more because of what was done before it, that stands before it, where
    /// it is done once.
    fn repeated(&mut self, place: usize, body: &[Flow], mut state: State) -> Option<State> {
        if self.depth >= DEEPEST {
            return self.parted(body, state);
        }
        self.depth += 1;
        if self.depth <= DEEPEST_BEFORE {
            if self.barriers.contains_key(&place) {
                state = together();
            }
            self.rounds(body, Some(State { done: Accesses::default(), is_of_caller: state.is_of_caller }));
            let before = self.barriers.clone();
            let end = self.rounds(body, Some(state.clone()));
            let mut new = self.barriers.iter().filter(|(place, _)| !before.contains_key(place)).peekable();
            if new.peek().is_none() {
                self.depth -= 1;
                return end;
            }
            let arcs = new.flat_map(|(_, arcs)| arcs.clone()).collect();
            self.barriers = before;
            self.barriers.insert(place, arcs);
            state = together();
        }
        let end = self.rounds(body, Some(state));
        self.depth -= 1;
        end
    }

    /// Rounds until nothing new comes from one to the next.
    fn rounds(&mut self, body: &[Flow], mut begin: Option<State>) -> Option<State> {
        loop {
            self.breaks.push(None);
            self.continues.push(None);
            let end = self.all(body, begin.clone());
            let end = joined(end, self.continues.pop().flatten());
            let broken = self.breaks.pop().flatten();
            let next = joined(begin.clone(), end);
            if next == begin {
                return joined(begin, broken);
            }
            begin = next;
        }
    }

    /// A loop that is too deep to be looked at: a barrier stands before each place in it.
    fn parted(&mut self, body: &[Flow], mut state: State) -> Option<State> {
        let mut all = Accesses::default();
        self.part_all(body, &mut all);
        state.done.join(&all);
        self.exits = joined(self.exits.take(), Some(state.clone()));
        for states in [&mut self.breaks, &mut self.continues] {
            if let Some(last) = states.last_mut() {
                *last = joined(last.take(), Some(state.clone()));
            }
        }
        Some(state)
    }

    fn part_all(&mut self, flow: &[Flow], all: &mut Accesses) {
        for step in flow {
            match step {
                Flow::Point(place, accesses) => {
                    all.join(accesses);
                    self.barriers.entry(*place).or_default();
                }
                Flow::Call(place, summary) => {
                    all.join(&summary.leaves);
                    self.barriers.entry(*place).or_default();
                }
                Flow::Branch(ways) => ways.iter().for_each(|way| self.part_all(way, all)),
                Flow::Loop(_, body) | Flow::Switch(body) => self.part_all(body, all),
                Flow::Barrier | Flow::Label | Flow::Break | Flow::Continue | Flow::Continued | Flow::Return => {}
            }
        }
    }
}

fn together() -> State {
    State { done: Accesses::default(), is_of_caller: false }
}

fn leave(to: &mut [Option<State>], state: State) -> Option<State> {
    if let Some(last) = to.last_mut() {
        *last = joined(last.take(), Some(state));
    }
    None
}
