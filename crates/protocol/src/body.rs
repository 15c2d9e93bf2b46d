//! What a thread does that is given: places, each with a step, and from each place the way to the next. Such bodies are the threads of
//! scenarios, and the calls that the protocol itself spells out.

use super::*;
use crate::source::Span;

/// A body: it begins at the first of these places and ends behind the last.
#[derive(Clone, Debug, Default)]
pub struct ThreadBody {
    /// Its places.
    pub places: Vec<BodyPlace>,
    /// For each place, and for the end, the variables that nobody looks at from there on before they are set.
    pub forgets: Vec<Vec<u16>>,
}

/// One place of a body.
#[derive(Clone, Debug)]
pub struct BodyPlace {
    /// What is done there.
    pub step: BodyStep,
    /// The statement that it belongs to.
    pub span: Span,
}

/// The forms of a step of a body. Only a look takes part in what happens: all else is done with the look before it.
#[derive(Clone, Debug)]
pub enum BodyStep {
    /// In a scenario: an access or a call, to its end.
    Look(ScenarioAction),
    /// In the body of a call: what it does with the image of its object, or says to its node's engine.
    Act(CallAction),
    /// In the body of a call: all earlier stores of the thread have been performed. Where there are programs, their other protocols see to it.
    Fence,
    /// In the body of a call: a fault if this is false.
    Assert(Expr),
    /// The body of a call ends, with this.
    Return(Option<Expr>),
    /// A variable gets a value.
    Set(u16, Expr),
    /// Goes on at another place if this is false.
    Unless(Expr, usize),
    /// Goes on at another place.
    Goto(usize),
}

/// What the body of a call does, of which others see something. Its expressions are over the call's arguments, as the first locals, and its variables.
#[derive(Clone, Debug)]
pub enum CallAction {
    /// A look at the image of the call's object: its word ([`Image`]) goes to a variable.
    Look(u16),
    /// The image gets another word if the line is there and holds what a variable has seen. Whether it did goes to a variable.
    Swap {
        /// The variable with what was seen.
        seen: u16,
        /// The word that the image gets.
        word: Expr,
        /// The variable for 1, or 0.
        result: u16,
    },
    /// An event for this node's engine: one without a result is told, and the body goes on; one with a result is asked.
    Say {
        /// Which.
        event: OpId,
        /// With what.
        args: Vec<Expr>,
        /// The variable for its result.
        result: Option<u16>,
    },
}

impl CallAction {
    /// The variable that it sets.
    pub fn register(&self) -> Option<u16> {
        match self {
            CallAction::Look(register) | CallAction::Swap { result: register, .. } => Some(*register),
            CallAction::Say { result, .. } => *result,
        }
    }

    /// The expressions that it evaluates, and the variable that it looks at beside them.
    pub fn reads(&self) -> (&[Expr], Option<u16>) {
        match self {
            CallAction::Look(_) => (&[], None),
            CallAction::Swap { seen, word, .. } => (std::slice::from_ref(word), Some(*seen)),
            CallAction::Say { args, .. } => (args, None),
        }
    }
}

/// The body of a call: what the calling thread does.
#[derive(Clone, Debug, Default)]
pub struct CallBody {
    /// Its steps.
    pub steps: ThreadBody,
    /// Its locals: the call's arguments, and behind them its variables.
    pub locals: Vec<Named>,
}

impl CallBody {
    /// Whether it says an event somewhere.
    pub fn says(&self, event: OpId) -> bool {
        let is_it = |step: &BodyStep| matches!(step, BodyStep::Act(CallAction::Say { event: of, .. }) if *of == event);
        self.steps.places.iter().any(|place| is_it(&place.step))
    }

    /// The place at which an `until` looks that this one is, if it is one: from there it comes back until its condition holds.
    pub fn until(&self, at: usize) -> Option<&Expr> {
        match self.steps.places.get(at + 1).map(|place| &place.step) {
            Some(BodyStep::Unless(condition, to)) if *to == at => Some(condition),
            _ => None,
        }
    }
}

/// One access or call of a body. Objects are numbers.
#[derive(Clone, Debug)]
pub enum ScenarioAction {
    /// A load of a block's word into a variable.
    Read {
        /// The block.
        block: u32,
        /// The variable.
        register: Option<u16>,
    },
    /// A store to a block's word.
    Write {
        /// The block.
        block: u32,
        /// The value.
        value: ScenarioValue,
    },
    /// A call.
    Call {
        /// Which.
        op: OpId,
        /// On which object.
        object: u32,
        /// With what.
        args: Vec<ScenarioValue>,
        /// Where its result goes.
        register: Option<u16>,
    },
}

/// A value that a scenario stores or passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScenarioValue {
    /// The address of this block is added.
    pub block: Option<u32>,
    /// A number.
    pub number: i64,
}

impl ScenarioValue {
    /// What it is where blocks have so many bytes and lie one behind the other.
    pub fn at(self, block_bytes: i64) -> i64 {
        let address = self.block.map_or(0, |block| i64::from(block).wrapping_mul(block_bytes));
        self.number.wrapping_add(address)
    }
}

/// A variable of a thread of a scenario.
#[derive(Clone, Debug)]
pub struct ScenarioVariable {
    /// Its name; empty where it has none.
    pub name: String,
    /// Whether its last value belongs to the outcome, of which `forbid` speaks.
    pub is_outcome: bool,
}

impl Scenario {
    /// The variables of its outcome.
    pub fn outcome_names(&self) -> impl Iterator<Item = &str> {
        self.registers.iter().filter(|variable| variable.is_outcome).map(|variable| variable.name.as_str())
    }

    /// All that its threads do.
    pub fn looks(&self) -> impl Iterator<Item = &ScenarioAction> {
        self.threads.iter().flat_map(|thread| thread.body.looks())
    }

    /// The nodes that it needs for its threads.
    pub fn nodes(&self) -> u32 {
        self.threads.iter().map(|thread| thread.node + 1).max().unwrap_or(1)
    }
}

impl ThreadBody {
    /// Its accesses and calls.
    pub fn looks(&self) -> impl Iterator<Item = &ScenarioAction> {
        self.places.iter().filter_map(|place| match &place.step {
            BodyStep::Look(action) => Some(action),
            _ => None,
        })
    }

    /// Where control may go from a place without an access or a call; nowhere from a look.
    pub fn silent_ways(&self, at: usize) -> Vec<usize> {
        match &self.places[at].step {
            BodyStep::Look(_) | BodyStep::Act(_) | BodyStep::Return(_) => Vec::new(),
            BodyStep::Set(..) | BodyStep::Fence | BodyStep::Assert(_) => vec![at + 1],
            BodyStep::Unless(_, other) => vec![at + 1, *other],
            BodyStep::Goto(other) => vec![*other],
        }
    }

    /// Where control may go from a place.
    pub fn ways(&self, at: usize) -> Vec<usize> {
        match &self.places[at].step {
            BodyStep::Look(_) | BodyStep::Act(_) => vec![at + 1],
            _ => self.silent_ways(at),
        }
    }

    /// Whether it can come to a place twice.
    pub fn has_loops(&self) -> bool {
        (0..self.places.len()).any(|at| self.ways(at).iter().any(|to| *to <= at))
    }
}

impl ScenarioAction {
    /// The variable that it sets.
    pub fn register(&self) -> Option<u16> {
        match self {
            ScenarioAction::Read { register, .. } | ScenarioAction::Call { register, .. } => *register,
            ScenarioAction::Write { .. } => None,
        }
    }

    /// The values that it stores or passes.
    pub fn values(&self) -> &[ScenarioValue] {
        match self {
            ScenarioAction::Read { .. } => &[],
            ScenarioAction::Write { value, .. } => std::slice::from_ref(value),
            ScenarioAction::Call { args, .. } => args,
        }
    }
}
