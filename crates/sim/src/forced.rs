//! A given order of events under timing: accesses begin, and messages arrive, at times that leave no other order.
//!
//! The steps of the order are so far apart that all which follows from one has happened when the next begins. What
//! the handlers cost is the machine's; only the delays of the network are chosen.

use crate::error::SimError;
use crate::machine::{Machine, Network};
use crate::node::{NodeState, Shared};
use crate::script::{Planned, Script, plain_memory};
use crate::space::Space;
use crate::trace::{Handled, Note};
use crate::world::{Limits, Runner, World};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use trivium_engine::{Engine, Node};
use trivium_guest::{AccessKind, Placement};
use trivium_lang::protocol::Protocol;

/// Cycles between two steps, at least.
const GAP: u64 = 1_000_000;
/// A time that never comes.
const NEVER: u64 = 1 << 60;

/// An order that is to be forced.
#[derive(Clone, Debug, Default)]
pub struct Force {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of blocks; the home of block i is node i mod `nodes`.
    pub blocks: u32,
    /// Number of steps; they count from 1.
    pub steps: u32,
    /// Accesses, in order.
    pub accesses: Vec<ForcedAccess>,
    /// All messages, in the order of sending.
    pub messages: Vec<ForcedMessage>,
}

/// A load or store of an 8-byte word.
#[derive(Clone, Debug)]
pub struct ForcedAccess {
    /// The step in which it begins.
    pub step: u32,
    /// By the processor of this node.
    pub node: Node,
    /// Which block.
    pub block: u32,
    /// Which word of the block.
    pub word: u64,
    /// What it stores; a load if nothing.
    pub store: Option<u64>,
}

/// A message that some handler sends.
#[derive(Clone, Debug)]
pub struct ForcedMessage {
    /// By whom.
    pub from: Node,
    /// To whom.
    pub to: Node,
    /// The name of its lane.
    pub lane: String,
    /// The step in which it is to be handled; never, if none.
    pub step: Option<u32>,
}

/// What happened.
#[derive(Clone, Debug, Default)]
pub struct Forced {
    /// Events that were dispatched, in the order of their cycles; the object is that of the order.
    pub handled: Vec<Handled>,
    /// Loads that are complete: cycle, node, value.
    pub loads: Vec<(u64, Node, u64)>,
    /// Cycles between two steps: step s begins at s times this.
    pub gap: u64,
    /// How it ended, if the simulator stopped it: a fault of the protocol, a deadlock.
    pub error: Option<SimError>,
}

/// Simulates an order of events on a machine.
///
/// # Errors
/// The protocol is not about blocks, or cannot be loaded for so many nodes, or a lane is unknown.
pub fn force(protocol: Arc<Protocol>, machine: &Machine, order: &Force) -> Result<Forced, SimError> {
    let engine = Engine::load(protocol, order.nodes).map_err(|error| SimError::input(error.message))?;
    if engine.tag_role(true).is_none() || engine.tag_role(false).is_none() {
        let what = format!("protocol `{}` gives no access to blocks", engine.protocol().name);
        return Err(SimError::input(what).help("only loads and stores can be forced"));
    }
    let machine = Machine { network: Network { jitter: 0, ..machine.network.clone() }, ..machine.clone() };
    let gap = GAP.max(machine.network.latency.saturating_mul(8));
    let page = machine.memory.page;
    let lanes: Vec<(String, _)> = (0u8..)
        .map(trivium_lang::protocol::LaneId)
        .zip(&engine.protocol().lanes)
        .map(|(id, lane)| (lane.name.clone(), id))
        .collect();
    let shared = shared(engine, machine, order.nodes);
    let space = Rc::new(RefCell::new(Space::new(page, order.nodes)));
    let mut places = Vec::new();
    for block in 0..order.blocks {
        let home = Placement::Explicit(block % order.nodes);
        places.push(space.borrow_mut().allocate(0, block as usize, page, home, 0)?);
    }
    let until = (u64::from(order.steps) + 2) * gap;
    let (mut nodes, mut runners, mut loads) = (Vec::new(), Vec::new(), Vec::new());
    for me in 0..order.nodes as Node {
        let mut node = NodeState::new(me, shared.clone(), space.clone(), 0);
        node.memory = plain_memory(page * u64::from(order.blocks.max(1)));
        for message in order.messages.iter().filter(|message| message.from == me) {
            let lane = lanes.iter().find(|(name, _)| *name == message.lane);
            let (_, lane) = lane.ok_or_else(|| SimError::input(format!("there is no lane `{}`", message.lane)))?;
            node.interface.force(*lane, message.to, message.step.map_or(NEVER, |step| u64::from(step) * gap));
        }
        let script = Script::timed(planned(order, me, &places, gap), until);
        loads.push(script.loads());
        nodes.push(Rc::new(RefCell::new(node)));
        runners.push(Runner::Script(script));
    }
    let mut world = World::new(shared.clone(), space, nodes, runners, Some(0));
    let handled = RefCell::new(Vec::new());
    let note = |note: &Note| {
        if let Note::Handled(event) = note {
            handled.borrow_mut().push(renamed(event, &places, shared.block));
        }
    };
    let limits = Limits { max_cycles: Some(until + gap), trace: Some(&note), ..Limits::default() };
    let error = world.run(&limits).err();
    let seen = loads.iter().enumerate().flat_map(|(node, loads)| {
        loads.borrow().iter().map(|&(cycle, value)| (cycle, node as Node, value)).collect::<Vec<_>>()
    });
    let mut loads: Vec<(u64, Node, u64)> = seen.collect();
    loads.sort_unstable();
    Ok(Forced { handled: handled.into_inner(), loads, gap, error })
}

fn shared(engine: Engine, machine: Machine, nodes: u32) -> Rc<Shared> {
    let finite = vec![engine.protocol().lanes.iter().any(|lane| lane.holds.is_some())];
    Rc::new(Shared {
        engines: vec![Rc::new(engine)],
        // The order is what matters: any size that every machine has.
        block: 64,
        machine,
        nodes,
        calls: Vec::new(),
        finite,
        // A promise that the order breaks is to be seen in the states.
        watched: vec![false],
        one_writer: vec![false],
        traced: Some(0..u64::MAX),
    })
}

fn planned(order: &Force, me: Node, places: &[u64], gap: u64) -> Vec<Planned> {
    let mine = order.accesses.iter().filter(|access| access.node == me);
    mine.map(|access| Planned {
        not_before: u64::from(access.step) * gap,
        kind: if access.store.is_some() { AccessKind::Write } else { AccessKind::Read },
        offset: places.get(access.block as usize).copied().unwrap_or(0) + 8 * access.word,
        value: access.store.unwrap_or(0),
    })
    .collect()
}

/// An event about a block of the order, not of shared memory.
fn renamed(event: &Handled, places: &[u64], block: u64) -> Handled {
    let number = event.object.strip_prefix("block ").and_then(|number| number.parse::<u64>().ok());
    let known = number.and_then(|number| places.iter().position(|place| *place == number * block));
    let object = known.map_or(event.object.clone(), |number| format!("block {number}"));
    Handled { object, ..event.clone() }
}
