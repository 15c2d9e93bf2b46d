//! Sets of states in which somebody may wait for ever where fairness is weak: the search over a graph, whatever its states are.

use crate::search::store::{StateNumber, state_number};
use crate::system::progress::Wishes;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The number of no event: of what need not happen.
pub(super) const VOLUNTARY: u32 = u32::MAX;

/// A step to a state, by an event.
pub(super) type Link = (StateNumber, u32);

/// States and the steps between them.
#[derive(Default)]
pub(super) struct Graph {
    /// Those of the first state, then of the next, and so on.
    pub steps: Vec<Link>,
    /// For each state, where its steps end.
    pub ends: Vec<usize>,
    /// Who waits for nothing in it.
    pub content: Vec<Wishes>,
    /// Whether it is a moment between threads that go on together: nothing else can happen then, and what cannot is not for ever put off by that.
    pub between: Vec<bool>,
    /// Events that are calls which threads owe each other.
    pub owed: FxHashSet<u32>,
}

impl Graph {
    /// Bytes of host memory.
    pub fn memory(&self) -> u64 {
        let of_states = (self.ends.capacity() + self.content.capacity()) * 8 + self.between.capacity();
        (self.steps.capacity() * size_of::<Link>() + of_states) as u64
    }

    fn steps_of(&self, state: StateNumber) -> &[Link] {
        let at = state as usize;
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.steps[from..self.ends[at]]
    }

    fn waits(&self, state: StateNumber, wish: usize) -> bool {
        self.content[state as usize] >> wish & 1 == 0
    }

    /// The events that must happen and can, in a state.
    fn possible(&self, state: StateNumber) -> FxHashSet<u32> {
        self.steps_of(state).iter().map(|&(_, event)| event).filter(|&event| event != VOLUNTARY).collect()
    }

    /// The sets of states in which somebody may wait for ever, each in ascending order.
    pub fn traps(&self, wish: usize) -> Vec<Vec<StateNumber>> {
        let waiting = (0..state_number(self.ends.len())).filter(|&state| self.waits(state, wish));
        let mut open = vec![waiting.collect::<Vec<StateNumber>>()];
        let mut traps = Vec::new();
        while let Some(states) = open.pop() {
            for component in Components::of(self, &states) {
                let evaded = self.evaded(&component);
                if evaded.is_empty() {
                    traps.extend(self.is_trap(&component).then_some(component));
                } else {
                    let can = |state: &StateNumber| !self.possible(*state).is_disjoint(&evaded);
                    open.push(component.into_iter().filter(|state| !can(state)).collect());
                }
            }
        }
        traps
    }

    /// What is owed and can be done in a component, and is done by no step inside.
    fn evaded(&self, states: &[StateNumber]) -> FxHashSet<u32> {
        let mut evaded = FxHashSet::default();
        if !self.owed.is_empty() {
            let possible = states.iter().flat_map(|&state| self.possible(state));
            evaded.extend(possible.filter(|event| self.owed.contains(event)));
            for (_, event) in self.steps_inside(states) {
                evaded.remove(&event);
            }
        }
        evaded
    }

    /// The steps from states of a component to others of it.
    fn steps_inside<'s>(&'s self, states: &'s [StateNumber]) -> impl Iterator<Item = Link> + 's {
        let steps = states.iter().flat_map(|&state| self.steps_of(state)).copied();
        steps.filter(|(target, _)| states.binary_search(target).is_ok())
    }

    fn is_between(&self, state: StateNumber) -> bool {
        self.between.get(state as usize) == Some(&true)
    }

    /// The state of a component from which it is told how one goes round.
    pub fn root(&self, states: &[StateNumber]) -> StateNumber {
        states.iter().copied().find(|&state| !self.is_between(state)).unwrap_or(states[0])
    }

    /// Whether one can stay in a component for ever.
    fn is_trap(&self, states: &[StateNumber]) -> bool {
        let mut stays = false;
        // What can happen in every state, and does not happen by any step inside.
        let mut left = self.possible(self.root(states));
        for &state in states.iter().filter(|&&state| !self.is_between(state)) {
            let possible = self.possible(state);
            left.retain(|event| possible.contains(event));
        }
        for (_, event) in self.steps_inside(states) {
            left.remove(&event);
            stays = true;
        }
        stays && left.is_empty()
    }

    /// From the first state of a component back to it: by each event that can happen in it, or through a state in which that cannot happen; and by all that is
    /// owed and can be done anywhere in the component.
    pub fn round(&self, states: &[StateNumber]) -> Vec<Link> {
        let first = self.root(states);
        let mut open: Vec<u32> = self.possible(first).into_iter().collect();
        let owed: FxHashSet<u32> =
            states.iter().flat_map(|&state| self.possible(state)).filter(|event| self.owed.contains(event)).collect();
        open.retain(|event| !owed.contains(event));
        open.extend(&owed);
        open.sort_unstable();
        let stops = |event: &u32, target: StateNumber, possible: &FxHashSet<u32>| {
            !owed.contains(event) && !self.is_between(target) && !possible.contains(event)
        };
        let mut round: Vec<Link> = Vec::new();
        let mut at = first;
        while !open.is_empty() {
            // The nearest step that settles any of them.
            let settles = |(target, event): Link| {
                open.contains(&event) || {
                    let possible = self.possible(target);
                    open.iter().any(|event| stops(event, target, &possible))
                }
            };
            let way = self.way(states, at, settles);
            for &(target, event) in &way {
                let possible = self.possible(target);
                open.retain(|wanted| *wanted != event && !stops(wanted, target, &possible));
            }
            let Some(&(target, _)) = way.last() else { break };
            at = target;
            round.extend(way);
        }
        if at != first || round.is_empty() {
            round.extend(self.way(states, at, |(target, _)| target == first));
        }
        round
    }

    /// The shortest way inside a component from a state to a step that is wanted, which is its last.
    fn way(&self, states: &[StateNumber], from: StateNumber, is_wanted: impl Fn(Link) -> bool) -> Vec<Link> {
        let mut before: FxHashMap<StateNumber, (StateNumber, Link)> = FxHashMap::default();
        let mut waiting = VecDeque::from([from]);
        while let Some(state) = waiting.pop_front() {
            for &step in self.steps_of(state).iter().filter(|(target, _)| states.binary_search(target).is_ok()) {
                if is_wanted(step) {
                    let mut way = vec![step];
                    let mut state = state;
                    while state != from {
                        let (earlier, step) = before[&state];
                        way.push(step);
                        state = earlier;
                    }
                    way.reverse();
                    return way;
                }
                if step.0 != from && !before.contains_key(&step.0) {
                    before.insert(step.0, (state, step));
                    waiting.push_back(step.0);
                }
            }
        }
        Vec::new()
    }
}

/// The strongly connected components of some states, by Tarjan's algorithm with a stack of its own.
struct Components<'s> {
    graph: &'s Graph,
    /// All of them, in ascending order.
    states: &'s [StateNumber],
    /// For each the number at which it was met, from 1; 0 if it was not, `DONE` once its component is known.
    met: Vec<u32>,
    /// The least number that is reached from it.
    low: Vec<u32>,
    open: Vec<usize>,
    found: Vec<Vec<StateNumber>>,
}

const DONE: u32 = u32::MAX;

impl Components<'_> {
    /// Each with its states in ascending order.
    fn of(graph: &Graph, states: &[StateNumber]) -> Vec<Vec<StateNumber>> {
        let nothing = || vec![0; states.len()];
        let (met, low) = (nothing(), nothing());
        let mut components = Components { graph, states, met, low, open: Vec::new(), found: Vec::new() };
        let mut count = 0;
        for at in 0..states.len() {
            if components.met[at] == 0 {
                components.from(at, &mut count);
            }
        }
        components.found
    }

    fn meet(&mut self, at: usize, count: &mut u32) {
        *count += 1;
        (self.met[at], self.low[at]) = (*count, *count);
        self.open.push(at);
    }

    fn from(&mut self, root: usize, count: &mut u32) {
        // The states on the present way, each with how many of its steps were looked at.
        let mut way = vec![(root, 0)];
        self.meet(root, count);
        while let Some((at, looked)) = way.last_mut() {
            let (at, steps) = (*at, self.graph.steps_of(self.states[*at]));
            if let Some((target, _)) = steps.get(*looked) {
                *looked += 1;
                let Ok(target) = self.states.binary_search(target) else { continue };
                match self.met[target] {
                    0 => {
                        self.meet(target, count);
                        way.push((target, 0));
                    }
                    DONE => {}
                    met => self.low[at] = self.low[at].min(met),
                }
                continue;
            }
            way.pop();
            if let Some(&(before, _)) = way.last() {
                self.low[before] = self.low[before].min(self.low[at]);
            }
            if self.low[at] == self.met[at] {
                self.close(at);
            }
        }
    }

    fn close(&mut self, root: usize) {
        let from = self.open.iter().rposition(|&at| at == root).unwrap_or(0);
        let component = self.open.split_off(from);
        component.iter().for_each(|&at| self.met[at] = DONE);
        let mut states: Vec<StateNumber> = component.into_iter().map(|at| self.states[at]).collect();
        states.sort_unstable();
        self.found.push(states);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small random graph, in which one thread waits in most states.
    fn graph(seed: u64) -> Graph {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        let states = 2 + below(6);
        let mut graph = Graph { owed: FxHashSet::from_iter((seed % 2 == 1).then_some(0)), ..Graph::default() };
        for _ in 0..states {
            for _ in 0..below(4) {
                let event = if below(3) == 0 { VOLUNTARY } else { below(3) as u32 };
                graph.steps.push((below(states) as u32, event));
            }
            graph.ends.push(graph.steps.len());
            graph.content.push(u64::from(below(5) == 0));
        }
        graph
    }

    /// The same asked of all sets of states: whether one can go round in one of them for ever, by what fairness allows.
    fn by_all_sets(graph: &Graph) -> bool {
        let all = graph.ends.len() as u32;
        (1u32..1 << all).any(|set| {
            let states: Vec<StateNumber> = (0..all).filter(|state| set >> state & 1 == 1).collect();
            let waits = states.iter().all(|&state| graph.waits(state, 0));
            let reaches = |from: StateNumber| {
                let mut reached: FxHashSet<StateNumber> = FxHashSet::default();
                let mut open = vec![from];
                while let Some(state) = open.pop() {
                    for &(target, _) in graph.steps_of(state) {
                        if set >> target & 1 == 1 && reached.insert(target) {
                            open.push(target);
                        }
                    }
                }
                reached.len() == states.len()
            };
            let is_allowed = |event: u32| {
                let can = |state: &&StateNumber| graph.possible(**state).contains(&event);
                let taken = graph.steps_inside(&states).any(|(_, by)| by == event);
                let never = states.iter().filter(can).count();
                taken || if graph.owed.contains(&event) { never == 0 } else { never < states.len() }
            };
            waits && states.iter().all(|&state| reaches(state)) && (0..3).all(is_allowed)
        })
    }

    #[test]
    fn traps_are_found_where_some_set_of_states_is_one() {
        let mut found = [0; 2];
        for seed in 0..20_000 {
            let graph = graph(seed);
            let traps = graph.traps(0);
            assert_eq!(!traps.is_empty(), by_all_sets(&graph), "{seed}");
            found[usize::from(!traps.is_empty())] += 1;
            for states in &traps {
                goes_round(&graph, states, seed);
            }
        }
        assert!(found.iter().all(|&found| found > 1000), "{found:?}");
    }

    /// What is told of a trap is a cycle of steps that fairness allows.
    fn goes_round(graph: &Graph, states: &[StateNumber], seed: u64) {
        let round = graph.round(states);
        let (mut at, mut through) = (states[0], vec![states[0]]);
        for &(target, event) in &round {
            assert!(graph.steps_of(at).contains(&(target, event)), "{seed}");
            assert!(graph.waits(target, 0), "{seed}");
            at = target;
            through.push(at);
        }
        assert!(!round.is_empty() && at == states[0], "{seed}");
        for event in 0..3 {
            let can = through.iter().filter(|&&state| graph.possible(state).contains(&event)).count();
            let taken = round.iter().any(|&(_, by)| by == event);
            let may_wait = if graph.owed.contains(&event) { can == 0 } else { can < through.len() };
            assert!(taken || may_wait, "{seed}: event {event}");
        }
    }
}
