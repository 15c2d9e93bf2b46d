//! Bodies of scenarios at random: what `check` finds of them under protocols that are sequentially consistent is what an interpreter finds
//! that knows nothing of protocols, and runs them on one memory, one look at a time.

use crate::answers::found;
use crate::oracle::as_exported;
use crate::oracle::quicker;
use crate::random::Random;
use crate::slow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_check::{Config, Search, System, Verdict, explore, text};
use trivium_lang::Options;
use trivium_protocol::Protocol;

/// Blocks, and the values that are stored to them: 0 to this number.
const BLOCKS: u64 = 2;
const MOST: i64 = 2;
/// States of a scenario that is worth an answer.
const MOST_STATES: usize = 3_000;

/// A condition of one look, or of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Condition {
    of: Value,
    is_equal: bool,
    to: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Value {
    Read(u64),
    Variable(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    Store(u64, i64),
    /// `let v = ..` or `v = ..`, perhaps with a number added.
    Set(bool, String, Value, i64),
    If(Condition, Vec<Step>, Vec<Step>),
    Until(Condition),
    Loop(Vec<Step>),
    Break,
    Return,
    /// Of the interpreter alone: here a loop begins again.
    Again(Vec<Step>),
}

/// Writes a body.
struct Writer<'r> {
    random: &'r mut Random,
    thread: usize,
    /// The variables that are set.
    set: Vec<String>,
    named: usize,
    in_loop: bool,
    left: usize,
}

impl Writer<'_> {
    fn steps(&mut self, depth: usize) -> Vec<Step> {
        let (outside, mut steps) = (self.set.clone(), Vec::new());
        for _ in 0..1 + self.random.below(3) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let step = self.step(depth);
            let ends = matches!(step, Step::Break | Step::Return);
            steps.push(step);
            if ends {
                break;
            }
        }
        // What is set on this way only is not seen after it.
        self.set = outside;
        steps
    }

    fn step(&mut self, depth: usize) -> Step {
        let deeper = depth < 3;
        match self.random.below(12) {
            0..3 => Step::Store(self.random.below(BLOCKS), self.number()),
            3..6 => self.assignment(),
            6 | 7 if deeper => {
                let condition = self.condition();
                let then = self.steps(depth + 1);
                let otherwise = if self.random.once_in(2) { self.steps(depth + 1) } else { Vec::new() };
                match leaves(&then) && leaves(&otherwise) {
                    true => Step::If(condition, then, Vec::new()),
                    false => Step::If(condition, then, otherwise),
                }
            }
            8 => Step::Until(Condition { of: Value::Read(self.random.below(BLOCKS)), ..self.condition() }),
            9 | 10 if deeper && !self.in_loop => self.cycle(depth),
            11 if self.in_loop => Step::Break,
            11 if self.random.once_in(3) && depth > 0 => Step::Return,
            _ => Step::Store(self.random.below(BLOCKS), self.number()),
        }
    }

    /// A loop that may be left, and that looks on each way round.
    fn cycle(&mut self, depth: usize) -> Step {
        self.in_loop = true;
        let look = Condition { of: Value::Read(self.random.below(BLOCKS)), ..self.condition() };
        let mut steps = vec![Step::If(look, vec![Step::Break], Vec::new())];
        let rest = self.steps(depth + 1);
        self.in_loop = false;
        match self.random.once_in(2) || leaves(&rest) {
            true => steps.extend(rest.into_iter().filter(|step| !matches!(step, Step::Break | Step::Return))),
            false => steps.splice(0..0, rest).for_each(drop),
        }
        Step::Loop(steps)
    }

    fn assignment(&mut self) -> Step {
        let value = self.value();
        let plus = if self.random.once_in(3) { self.number() } else { 0 };
        let is_new = self.random.once_in(2);
        self.named += 1;
        let name = format!("{}{}_{}", if is_new { "v" } else { "r" }, self.thread, self.named);
        self.set.push(name.clone());
        Step::Set(is_new, name, value, plus)
    }

    fn value(&mut self) -> Value {
        match self.set.len() {
            0 => Value::Read(self.random.below(BLOCKS)),
            _ if self.random.once_in(2) => Value::Read(self.random.below(BLOCKS)),
            many => Value::Variable(self.set[self.random.below(many as u64) as usize].clone()),
        }
    }

    fn condition(&mut self) -> Condition {
        Condition { of: self.value(), is_equal: !self.random.once_in(4), to: self.number() }
    }

    fn number(&mut self) -> i64 {
        self.random.below(MOST as u64 + 1) as i64
    }
}

/// Whether nothing can stand behind these steps.
fn leaves(steps: &[Step]) -> bool {
    match steps.last() {
        Some(Step::Break | Step::Return) => true,
        Some(Step::If(_, then, otherwise)) => leaves(then) && leaves(otherwise),
        _ => false,
    }
}

fn written(steps: &[Step], text: &mut String) {
    let value = |value: &Value| match value {
        Value::Read(block) => format!("read({block})"),
        Value::Variable(name) => name.clone(),
    };
    let condition = |of: &Condition| format!("{} {} {}", value(&of.of), if of.is_equal { "==" } else { "!=" }, of.to);
    for step in steps {
        let _ = match step {
            Step::Store(block, stored) => write!(text, "write({block}, {stored}); "),
            Step::Set(is_new, name, of, plus) => {
                let plus = if *plus == 0 { String::new() } else { format!(" + {plus}") };
                write!(text, "{}{name} = {}{plus}; ", if *is_new { "let " } else { "" }, value(of))
            }
            Step::If(of, then, otherwise) => {
                let _ = write!(text, "if {} {{ ", condition(of));
                written(then, text);
                if !otherwise.is_empty() {
                    text.push_str("} else { ");
                    written(otherwise, text);
                }
                write!(text, "}} ")
            }
            Step::Until(of) => write!(text, "until {}; ", condition(of)),
            Step::Loop(steps) => {
                text.push_str("loop { ");
                written(steps, text);
                write!(text, "}} ")
            }
            Step::Break => write!(text, "break; "),
            Step::Return => write!(text, "return; "),
            Step::Again(_) => Ok(()),
        };
    }
}

/// A thread: what it has still to do, the next step last, and its variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Thread {
    rest: Vec<Step>,
    variables: BTreeMap<String, i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    memory: [i64; BLOCKS as usize],
    threads: Vec<Thread>,
}

impl Thread {
    fn of(steps: &[Step]) -> Thread {
        let mut thread = Thread { rest: Vec::new(), variables: BTreeMap::new() };
        thread.put(steps);
        thread.silent();
        thread
    }

    fn put(&mut self, steps: &[Step]) {
        self.rest.extend(steps.iter().rev().cloned());
    }

    /// The value of a look: that of a variable, or what memory has.
    fn value(&self, value: &Value, memory: Option<&[i64]>) -> Option<i64> {
        match value {
            Value::Variable(name) => Some(self.variables[name]),
            Value::Read(block) => memory.map(|memory| memory[*block as usize]),
        }
    }

    fn holds(&self, of: &Condition, memory: Option<&[i64]>) -> Option<bool> {
        self.value(&of.of, memory).map(|value| (value == of.to) == of.is_equal)
    }

    /// One step; with memory it may be a look. Whether there was one.
    fn step(&mut self, mut memory: Option<&mut [i64]>) -> bool {
        let Some(step) = self.rest.last().cloned() else { return false };
        match step {
            Step::Store(block, stored) => {
                let Some(memory) = &mut memory else { return false };
                memory[block as usize] = stored;
                self.rest.pop();
            }
            Step::Set(_, name, of, plus) => {
                let Some(value) = self.value(&of, memory.as_deref()) else { return false };
                self.variables.insert(name, value + plus);
                self.rest.pop();
            }
            Step::If(of, then, otherwise) => {
                let Some(holds) = self.holds(&of, memory.as_deref()) else { return false };
                self.rest.pop();
                self.put(if holds { &then } else { &otherwise });
            }
            Step::Until(of) => {
                let Some(holds) = self.holds(&of, memory.as_deref()) else { return false };
                if holds {
                    self.rest.pop();
                }
            }
            Step::Loop(steps) | Step::Again(steps) => {
                self.rest.pop();
                self.rest.push(Step::Again(steps.clone()));
                self.put(&steps);
            }
            Step::Break => while !matches!(self.rest.pop(), Some(Step::Again(_)) | None) {},
            Step::Return => self.rest.clear(),
        }
        true
    }

    fn silent(&mut self) {
        while self.step(None) {}
    }
}

/// All that can come of a scenario: the outcomes, and whether every thread always comes to its end. `None`: it is large.
fn interpreted(threads: &[Vec<Step>]) -> Option<(BTreeSet<BTreeMap<String, i64>>, bool)> {
    let first =
        State { memory: [0; BLOCKS as usize], threads: threads.iter().map(|steps| Thread::of(steps)).collect() };
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let (mut states, mut before) = (vec![first], vec![Vec::new()]);
    let mut at = 0;
    while at < states.len() {
        for thread in 0..threads.len() {
            let mut next = states[at].clone();
            if !next.threads[thread].step(Some(&mut next.memory)) {
                continue;
            }
            next.threads[thread].silent();
            let number = *numbers.entry(next.clone()).or_insert(states.len());
            if number == states.len() {
                states.push(next);
                before.push(Vec::new());
            }
            before[number].push(at);
        }
        at += 1;
        if states.len() > MOST_STATES {
            return None;
        }
    }
    let is_end = |state: &State| state.threads.iter().all(|thread| thread.rest.is_empty());
    let ends: Vec<usize> = (0..states.len()).filter(|&at| is_end(&states[at])).collect();
    let outcome = |&at: &usize| states[at].threads.iter().flat_map(|thread| thread.variables.clone()).collect();
    let outcomes = ends.iter().map(outcome).collect();
    let mut comes = vec![false; states.len()];
    let mut waiting = ends;
    while let Some(at) = waiting.pop() {
        if !std::mem::replace(&mut comes[at], true) {
            waiting.extend(&before[at]);
        }
    }
    Some((outcomes, comes.into_iter().all(|comes| comes)))
}

fn outcome_variables(steps: &[Step], found: &mut Vec<String>) {
    for step in steps {
        match step {
            Step::Set(false, name, ..) => found.push(name.clone()),
            Step::If(_, then, otherwise) => {
                outcome_variables(then, found);
                outcome_variables(otherwise, found);
            }
            Step::Loop(steps) => outcome_variables(steps, found),
            _ => {}
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols")
}

fn compiled(file: &str, scenario: &str) -> Arc<Protocol> {
    let load = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
    let options = Options { params: Vec::new(), load: Some(&load) };
    let source = format!("protocol bodies\nuse \"{file}\"\n{scenario}\n");
    let name = folder().join("bodies.tri");
    let protocol = trivium_lang::compile(&name.display().to_string(), &source, &options);
    Arc::new(protocol.unwrap_or_else(|d| panic!("{scenario}\n{d}")))
}

/// What is expected of a scenario.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Holds,
    Forbidden,
    NeverEnds,
    /// Both, of which either is found.
    Wrong,
}

/// A scenario, and what comes of it.
fn scenario(seed: u64) -> Option<(String, Expected)> {
    let random = &mut Random(seed);
    random.below(2);
    let many = 2 + usize::from(random.once_in(4));
    let mut threads = Vec::new();
    for thread in 0..many {
        let mut writer =
            Writer { random, thread, set: Vec::new(), named: 0, in_loop: false, left: if many == 2 { 7 } else { 4 } };
        threads.push(writer.steps(0));
    }
    let (outcomes, ends) = interpreted(&threads)?;
    let mut names = Vec::new();
    threads.iter().for_each(|steps| outcome_variables(steps, &mut names));
    // An outcome that is there, or one that differs from one by a number.
    let some = outcomes.iter().nth(random.below(outcomes.len().max(1) as u64) as usize).cloned().unwrap_or_default();
    let mut wanted: BTreeMap<String, i64> =
        names.iter().map(|name| (name.clone(), some.get(name).copied().unwrap_or(0))).collect();
    if let Some(value) = wanted.values_mut().next().filter(|_| random.once_in(2)) {
        *value += 1;
    }
    let is_so = |outcome: &BTreeMap<String, i64>| {
        wanted.iter().all(|(name, value)| outcome.get(name).copied().unwrap_or(0) == *value)
    };
    let is_seen = !wanted.is_empty() && outcomes.iter().any(is_so);
    let mut written_all = String::from("scenario s {\n");
    for (node, steps) in threads.iter().enumerate() {
        let _ = write!(written_all, "  at {} {{ ", node % 2);
        written(steps, &mut written_all);
        written_all.push_str("}\n");
    }
    if !wanted.is_empty() {
        let all: Vec<String> = wanted.iter().map(|(name, value)| format!("{name} == {value}")).collect();
        let _ = writeln!(written_all, "  forbid {}", all.join(" and "));
    }
    written_all.push('}');
    let expected = match (is_seen, ends) {
        (true, true) => Expected::Forbidden,
        (true, false) => Expected::Wrong,
        (false, false) => Expected::NeverEnds,
        (false, true) => Expected::Holds,
    };
    Some((written_all, expected))
}

fn is_as_expected(property: Option<&str>, expected: &Expected) -> bool {
    let never_ends = |property| ["deadlock", "livelock", "starvation"].contains(&property);
    match expected {
        Expected::Holds => property.is_none(),
        Expected::Forbidden => property == Some("scenario s"),
        Expected::NeverEnds => property.is_some_and(never_ends),
        Expected::Wrong => property.is_some_and(|property| property == "scenario s" || never_ends(property)),
    }
}

#[test]
fn bodies_do_what_they_do_on_one_memory() {
    let (most, mut seen) = (if slow::is_asked_for() { 3_000 } else { 100 }, [0; 4]);
    for seed in 0..most {
        let Some((scenario, expected)) = scenario(seed) else { continue };
        let file = ["msi.tri", "stache.tri"][seed as usize % 2];
        let protocol = compiled(file, &scenario);
        let system = System { nodes: 2, scenario: Some("s".into()), ..System::default() };
        let plain = Config { max_states: Some(200_000), ..Config::from(system.clone()) };
        let report = explore(&protocol, &plain).unwrap_or_else(|e| panic!("{scenario}: {e}"));
        if report.verdict == Verdict::Incomplete {
            continue;
        }
        let property = report.property.as_deref();
        assert!(is_as_expected(property, &expected), "{seed} {file} {expected:?}\n{scenario}\n{}", text(&report));
        seen[match expected {
            Expected::Holds => 0,
            Expected::Forbidden => 1,
            Expected::NeverEnds => 2,
            Expected::Wrong => 3,
        }] += 1;
        let unreduced = Config { system: system.unreduced(), symmetry: false, ..plain.clone() };
        let brute = Config { search: Search::Brute, ..unreduced.clone() };
        for other in [&unreduced, &brute] {
            let other = explore(&protocol, other).unwrap();
            if other.verdict != Verdict::Incomplete {
                let both = (text(&report), text(&other));
                assert_eq!(report.verdict, other.verdict, "{seed}\n{scenario}\n{}\n{}", both.0, both.1);
                if report.property == other.property {
                    assert_eq!(found(&report), found(&other), "{seed}\n{scenario}\n{}\n{}", both.0, both.1);
                }
            }
        }
        if report.verdict == Verdict::Holds {
            let brute = explore(&protocol, &brute).unwrap();
            assert!(brute.verdict != Verdict::Holds || report.states <= brute.states, "{seed}\n{scenario}");
        }
    }
    assert!(seen.iter().take(3).all(|seen| *seen > 5), "{seen:?}");
}

/// An exported model has as many states, and finds the same outcomes. It does not see who spins for ever.
#[test]
fn models_have_the_states_of_bodies() {
    let other = quicker();
    if !other.is_installed() {
        return;
    }
    let (most, mut wrong, mut compared) = (if slow::is_asked_for() { 100 } else { 1 }, Vec::new(), 0);
    // In the first that is compared anyway, a variable of the outcome is not set on the way that is taken.
    for seed in slow::all_or(0, 386).. {
        if compared == most {
            break;
        }
        let Some((scenario, expected)) = scenario(seed) else { continue };
        // Few of those that are the same for a model as one without loops.
        if !matches!(expected, Expected::Holds | Expected::Forbidden) || !scenario.contains("loop") {
            continue;
        }
        let protocol = compiled("msi.tri", &scenario);
        let system = System { nodes: 2, scenario: Some("s".into()), ..System::default() };
        let config = Config { symmetry: false, ..Config::from(system) };
        let config = as_exported(&protocol, &config);
        let report = explore(&protocol, &config).unwrap();
        wrong.extend(other.compare(&format!("body-{seed}"), &protocol, &config, &report).err());
        compared += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
