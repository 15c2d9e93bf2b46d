//! Stores that are chosen late (`docs/semantics.md`, section 6): what a thread stores is left open while it waits, and
//! chosen when the store is performed. Nobody can see it before, unless the protocol reads the value of a fault.
//!
//! A search explores with stores left open. A counterexample is told with every store chosen when it begins, as if this
//! had been so from the start: `report/late.rs`.
//!
//! Why nothing is lost: let a thread wait to store 0 or 1, and n events happen before its store is performed. Chosen at once there are two paths of n + 1 events, which differ in nothing but
//! what the thread holds; chosen late there is one, which parts at its last event. Since no handler looks at what is held, the n events are possible on all of them
//! or on none, and the states after the store are the same two. So states that differ in an open store alone do the same until it is performed:
//! twice as few for each thread that waits. A handler that reads the value of a fault could tell them apart: then nothing is
//! left open ([`Sees::Value`]). One that reads its address alone still cannot tell values apart, but the store to the word beside ([`Sees::Address`]).

use crate::system::client::{Client, Intent};
use crate::system::mark;
use crate::system::model::Model;
use crate::system::told::Told;
use crate::system::world::World;
use trivium_engine::number::fit;
use trivium_protocol::walk::any_expr;
use trivium_protocol::{ExprKind, Protocol};

/// The stores to a block that are told apart only when they are performed.
#[derive(Clone, Debug)]
pub struct OpenStore {
    /// The number of [`Intent::Store`].
    pub open: usize,
    /// The stores that it may turn out to be.
    pub ways: Vec<usize>,
}

/// What a protocol sees of a store that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sees {
    /// That there is one.
    Nothing,
    /// Which word it is about.
    Address,
    /// What it will store.
    Value,
}

/// What the handlers of a protocol see of a store that waits.
pub(crate) fn seen_of_stores(protocol: &Protocol) -> Sees {
    match () {
        () if any_expr(protocol, |kind| matches!(kind, ExprKind::FaultValue)) => Sees::Value,
        () if any_expr(protocol, |kind| matches!(kind, ExprKind::FaultAddress)) => Sees::Address,
        () => Sees::Nothing,
    }
}

/// The open stores of a client that makes these accesses, one for each block that it stores to in several ways. They
/// are added to what it may do.
pub(crate) fn open_stores(blocks: u32, sees: Sees, intents: &mut Vec<Intent>) -> Vec<OpenStore> {
    if sees == Sees::Value {
        return Vec::new();
    }
    let ways_of = |intents: &[Intent], wanted: u32| -> Vec<usize> {
        let is_way = |intent: &Intent| match intent {
            Intent::Write { block, .. } => *block == wanted,
            Intent::WriteBeside { block } => *block == wanted && sees == Sees::Nothing,
            _ => false,
        };
        intents.iter().enumerate().filter(|(_, intent)| is_way(intent)).map(|(number, _)| number).collect()
    };
    let mut stores = Vec::new();
    for block in 0..blocks {
        let ways = ways_of(intents, block);
        stores.push(OpenStore { open: intents.len(), ways });
        intents.push(Intent::Store { block });
    }
    stores
}

impl Client {
    /// The open store that something a thread may do belongs to: it is one, or a way in which one may turn out.
    pub fn open_store(&self, intent: usize) -> Option<&OpenStore> {
        let stores = self.open_stores.get(self.intents[intent].object().id as usize)?;
        (stores.open == intent || stores.ways.contains(&intent)).then_some(stores)
    }
}

/// What is chosen while one event is executed. Several open stores may be performed in it, each in several ways; and what
/// one turns out to be may decide which others are performed, and in how many ways. Answers of `room`, and the nodes that handlers take of sets, are chosen, too, where they are left open. So the ways are gone through like the
/// leaves of a tree: as far as it can, each goes the way of the one before.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    /// What is wanted of the first choices; of those behind them, the first way.
    wanted: Vec<u32>,
    /// What was taken, and of how many ways.
    taken: Vec<(u32, u32)>,
    /// Stores that were chosen: the thread and what it stores.
    pub made: Vec<(usize, usize)>,
}

impl Choices {
    /// The next event is executed in its first way.
    pub fn restart(&mut self) {
        self.wanted.clear();
    }

    /// The next event is executed in the way in which its handlers are told this, as far as it goes.
    pub fn want(&mut self, told: &[Told]) {
        self.wanted.clear();
        self.wanted.extend(told.iter().map(|told| told.way()));
    }

    /// An event is executed in the way that is wanted.
    pub fn begin(&mut self) {
        self.taken.clear();
        self.made.clear();
    }

    /// The event that was executed last will be executed in its next way. Whether there is one.
    #[inline]
    pub fn advance(&mut self) -> bool {
        self.wanted.clear();
        !self.taken.is_empty() && self.advance_taken()
    }

    fn advance_taken(&mut self) -> bool {
        while let Some((way, count)) = self.taken.pop() {
            if way + 1 < count {
                self.wanted.extend(self.taken.iter().map(|(way, _)| way));
                self.wanted.push(way + 1);
                return true;
            }
        }
        false
    }

    /// One of so many ways, at least one.
    pub fn among(&mut self, count: u32) -> u32 {
        let way = self.wanted.get(self.taken.len()).copied().unwrap_or(0);
        self.taken.push((way, count));
        way
    }

    /// What a thread does that performs an access: the access itself, or one of the stores that an open one may be.
    pub fn choose(&mut self, model: &Model, world: &World, thread: usize, intent: usize) -> usize {
        let Intent::Store { block } = model.client.intents[intent] else { return intent };
        let may_be = |way: &&usize| match model.client.intents[**way] {
            Intent::Write { value, .. } => mark::may_store(model, world, value),
            _ => true,
        };
        let ways = || model.client.open_stores[block as usize].ways.iter().filter(may_be);
        let count = fit::<_, u32>(ways().count(), "the number of stores that a thread can choose from");
        let way = self.among(count);
        let chosen = ways().nth(way as usize).copied().unwrap_or(intent);
        self.made.push((thread, chosen));
        chosen
    }
}
