//! What all nodes share.

use crate::machine::Machine;
use crate::node::spare::Spare;
use crate::reports::blame::Sites;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use trivium_engine::Engine;
use trivium_lang::analyse::looks_at_stored_value;
use trivium_lang::protocol::{Assume, OpId, Promise, Protocol};

/// What all nodes share; none changes anything of it that could be felt.
pub struct Shared {
    /// The protocols; the first is the default of allocations.
    pub engines: Vec<Rc<Engine>>,
    /// The machine.
    pub machine: Machine,
    /// Bytes of a block: a power of two.
    pub block: u64,
    /// How many nodes there are.
    pub nodes: u32,
    /// Of each protocol call that the program imports: the protocol and the call.
    pub calls: Vec<(usize, OpId)>,
    /// Of each protocol, whether some lane is finite.
    pub finite: Vec<bool>,
    /// Whether any protocol has a finite lane.
    pub any_finite: bool,
    /// Of each protocol, whether tag changes are watched, since it promises a single writer.
    pub watched: Vec<bool>,
    /// Of each protocol, whether stores are watched, since it assumes one writer per phase.
    pub one_writer: Vec<bool>,
    /// Whether any protocol assumes that.
    pub any_one_writer: bool,
    /// Of each protocol, whether it assumes that only a block's home writes it.
    pub home_writes: Vec<bool>,
    /// Of each protocol, whether the processors have caches of their own.
    pub cached: Vec<bool>,
    /// Whether they have for any.
    pub any_cached: bool,
    /// Of each protocol, the handler that looks at what a store is about to store, if there is one.
    pub looks_at_stores: Vec<Option<String>>,
    /// The cycles of which notes are kept for a trace, if any are.
    pub traced: Option<Range<u64>>,
    /// The phase and the block in which it is written down where nodes store.
    pub suspect: Option<(u64, u32)>,
    /// How many bytes of the host's memory there are for what is allocated; none: that is not looked at.
    pub(crate) room: Option<u64>,
    /// Whether compiled code has tags.
    pub(crate) has_tags: bool,
    /// Whether it is written down who is to blame for misses, and where in the program they were.
    pub blamed: bool,
    /// Where misses were.
    pub(crate) sites: RefCell<Sites>,
    /// Of each protocol, and behind the last, how many kinds of messages those before it have.
    pub(crate) kinds_before: Vec<usize>,
    /// Boxes to write to again.
    pub(crate) spare: RefCell<Spare>,
}

impl Shared {
    /// These protocols on a machine, with blocks of `block` bytes; without calls, and not traced.
    pub fn new(engines: Vec<Rc<Engine>>, machine: Machine, block: u64, nodes: u32) -> Shared {
        debug_assert!(block.is_power_of_two(), "{block}");
        let of_each = |what: fn(&Engine) -> bool| -> Vec<bool> { engines.iter().map(|engine| what(engine)).collect() };
        let finite = of_each(|engine| engine.protocol().lanes.iter().any(|lane| lane.holds.is_some()));
        let watched = of_each(|engine| engine.protocol().promises.contains(&Promise::SingleWriter));
        let one_writer = of_each(|engine| engine.protocol().assumptions.contains(&Assume::OneWriterPerPhase));
        let cached = of_each(|engine| engine.protocol().cached);
        let kinds = |before: usize| engines[..before].iter().map(|engine| engine.protocol().messages.len()).sum();
        let kinds_before = (0..=engines.len()).map(kinds).collect();
        Shared {
            looks_at_stores: engines.iter().map(|engine| looks_at_stores(engine.protocol())).collect(),
            home_writes: of_each(|engine| engine.protocol().assumptions.contains(&Assume::HomeWrites)),
            any_cached: cached.contains(&true),
            cached,
            any_finite: finite.contains(&true),
            any_one_writer: one_writer.contains(&true),
            engines,
            machine,
            block,
            nodes,
            calls: Vec::new(),
            finite,
            watched,
            one_writer,
            traced: None,
            suspect: None,
            room: None,
            has_tags: false,
            blamed: false,
            sites: RefCell::default(),
            kinds_before,
            spare: RefCell::default(),
        }
    }

    /// How many kinds of messages the protocols before one have.
    #[inline]
    pub fn kinds_before(&self, protocol: usize) -> usize {
        self.kinds_before[protocol]
    }

    /// The number of the block of a byte offset; a number that no block has, if that is beyond all shared memory.
    #[inline]
    pub fn block_number(&self, offset: u64) -> u32 {
        u32::try_from(offset >> self.block.trailing_zeros()).unwrap_or(u32::MAX)
    }
}

/// The handler of a protocol that looks at what a store is about to store, if there is one.
fn looks_at_stores(protocol: &Protocol) -> Option<String> {
    let mut handlers = protocol.roles.iter().flat_map(|role| &role.handlers);
    handlers.find(|handler| looks_at_stored_value(handler)).map(|handler| handler.name.clone())
}
