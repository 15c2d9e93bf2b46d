//! A given order of events under timing: accesses and calls begin, caches give lines up, and messages arrive, at times
//! that leave no other order.
//!
//! The steps of the order are so far apart that all which follows from one has happened when the next begins. What
//! the handlers cost is the machine's; chosen are the delays of the network, of what leaves a cache, of tasks, of timers,
//! and of a thread that tries again.

use crate::events::{Arrival, Key, Signal};
use crate::machine::{CacheModel, Machine, MemoryModel};
use crate::node::NodeState;
use crate::node::forced::{NEVER, Times};
use crate::node::script::{Does, Planned, Script, plain_memory};
use crate::node::shared::Shared;
use crate::order::{Limits, Runner, World};
use crate::reports::trace::{Handled, Note};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use trivium_diagnostic::Code;
use trivium_engine::{Engine, Node, Object};
use trivium_guest::{AccessKind, Placement, SHARED_BASE};
use trivium_node::{DEADLOCK, Imported, LEFT_OVER, NodeError, Protocols, Space};
use trivium_protocol::{BLOCK, EventKind, NODE, OpId, Protocol, RoleId, Type};

/// Cycles between two steps, at least.
const GAP: u64 = 1_000_000;

/// An order that is to be forced.
#[derive(Clone, Debug, Default)]
pub struct Force {
    /// Number of nodes.
    pub nodes: u32,
    /// Number of blocks; the home of block i is node i mod `nodes`.
    pub blocks: u32,
    /// Bytes of a block: a power of two from 8. The order is what matters; a block costs at least what a granule does.
    pub block: u64,
    /// Number of steps; they count from 1.
    pub steps: u32,
    /// What begins on nodes, in order.
    pub starts: Vec<ForcedStart>,
    /// All messages, in the order of sending.
    pub messages: Vec<ForcedMessage>,
    /// The steps, in order, in which the processor of a node tries again what it was refused or has kept.
    pub retries: Vec<(u32, Node)>,
    /// The steps, in order, in which the first task of a node runs.
    pub tasks: Vec<(u32, Node)>,
    /// The timers that run out, in order.
    pub timers: Vec<ForcedTimer>,
}

/// A timer that runs out.
#[derive(Clone, Debug)]
pub struct ForcedTimer {
    /// The step in which it does.
    pub step: u32,
    /// Where.
    pub node: Node,
    /// The name of its role.
    pub role: String,
    /// The number of the role's object.
    pub object: u32,
}

/// Something that begins on a node of its own accord.
#[derive(Clone, Debug)]
pub struct ForcedStart {
    /// The step in which it begins.
    pub step: u32,
    /// Where.
    pub node: Node,
    /// What.
    pub does: ForcedDoes,
}

/// What can begin.
#[derive(Clone, Debug)]
pub enum ForcedDoes {
    /// The processor loads or stores an 8-byte word.
    Access {
        /// Which block.
        block: u32,
        /// Which word of the block.
        word: u64,
        /// What it stores; a load if nothing.
        store: Option<u64>,
        /// Whether the store is an atomic exchange.
        exchanges: bool,
    },
    /// The processor calls the protocol.
    Call {
        /// The name of the call.
        op: String,
        /// The number of the object that it is about.
        object: u32,
        /// Its arguments; an address is a byte offset into the blocks, side by side.
        args: Vec<i64>,
    },
    /// The processor hints that it may load from a block, or store to it.
    Prefetch {
        /// Which block.
        block: u32,
        /// Whether it may store.
        write: bool,
    },
    /// The node wants to be rid of its copy of a block; the cache of its processor gives its line up.
    Evict {
        /// Which block.
        block: u32,
        /// With a cache: the step in which the engine hears of it; never, if none.
        heard: Option<u32>,
    },
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
    /// Events that were dispatched, in the order of their cycles.
    pub handled: Vec<Handled>,
    /// Loads that are complete, by processors and by handlers for them: cycle, node, value.
    pub loads: Vec<(u64, Node, u64)>,
    /// Calls that have returned: cycle, node, name, result.
    pub returns: Vec<(u64, Node, String, i64)>,
    /// Cycles between two steps: step s begins at s times this.
    pub gap: u64,
    /// How it ended, if the simulator stopped it: a fault of the protocol, a deadlock.
    pub error: Option<NodeError>,
    /// Whether that was a deadlock.
    pub deadlock: bool,
}

/// Simulates an order of events on a machine.
///
/// # Errors
/// The protocol gives no access to blocks that the order accesses, or cannot be loaded for so many nodes; a lane or a
/// call is unknown.
pub fn force(protocol: Arc<Protocol>, machine: &Machine, order: &Force) -> Result<Forced, NodeError> {
    let engine = Engine::load_without_ghosts(protocol, order.nodes)
        .map_err(|error| NodeError::input(Code::Replay, error.message))?;
    let machine = Machine {
        network: machine.network.quiet(),
        // Blocks lie side by side, as in the order's addresses, and stay.
        memory: MemoryModel { page: order.block, frames: None, ..machine.memory.clone() },
        // What a step costs is that of the step alone.
        tlb: None,
        rtlb: None,
        cache: CacheModel { line: machine.cache.line.min(order.block), first: None, ..machine.cache.clone() },
        ..machine.clone()
    };
    let gap = GAP.max(machine.network.latency.saturating_mul(8));
    let blocks = order.blocks.max(called_blocks(&engine, order));
    let shared = shared(engine, machine, order);
    let space = Rc::new(RefCell::new(Space::new(order.block, order.nodes)));
    for block in 0..blocks {
        let home = Placement::Explicit(block % order.nodes);
        space.borrow_mut().allocate(0, block as usize, order.block, home, 0)?;
    }
    let plan = Plan { order, engine: &shared.protocols.engines[0], gap };
    plan.check()?;
    let until = (u64::from(order.steps) + 2) * gap;
    let (mut nodes, mut runners, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for me in 0..trivium_engine::number::fit::<_, Node>(order.nodes, "the number of a node") {
        let mut node = NodeState::new(me, shared.clone(), space.clone(), 0);
        node.core.memory = plain_memory(order.block * u64::from(blocks));
        plan.prepare(&mut node)?;
        let script = Script::timed(plan.script(me)?, until);
        seen.push(script.seen());
        nodes.push(Rc::new(RefCell::new(node)));
        runners.push(Runner::Script(script));
    }
    let mut world = World::new(shared.clone(), space, nodes, runners, Some(0));
    let handled = RefCell::new(Vec::new());
    let note = |note: &Note| {
        if let Note::Handled(event) = note {
            handled.borrow_mut().push(event.clone());
        }
    };
    let limits = Limits { max_cycles: Some(until + gap), trace: Some(&note), ..Limits::default() };
    let error = world.run(&limits).err();
    let mut forced = Forced { handled: handled.into_inner(), gap, ..Forced::default() };
    for (node, seen) in (0..).zip(seen) {
        let seen = seen.borrow();
        let performed = world.nodes[usize::from(node)].borrow_mut().forced.take().unwrap_or_default().performed;
        forced.loads.extend(seen.loads.iter().chain(&performed).map(|&(cycle, value)| (cycle, node, value)));
        let ops = &shared.protocols.engines[0].protocol().ops;
        let returns = seen.returns.iter().map(|&(cycle, op, returned)| {
            let value = shared.protocols.before_return(0, OpId::at(op), returned);
            (cycle, node, ops[op].name.clone(), value)
        });
        forced.returns.extend(returns);
    }
    forced.loads.sort_by_key(|load| (load.0, load.1));
    forced.returns.sort_by_key(|done| (done.0, done.1));
    forced.deadlock = error.as_ref().is_some_and(|error| [DEADLOCK, LEFT_OVER].contains(&&*error.diagnostic.message));
    forced.error = error;
    Ok(forced)
}

fn shared(engine: Engine, machine: Machine, order: &Force) -> Rc<Shared> {
    let calls = (0..engine.protocol().ops.len()).map(|op| Imported::Op(0, OpId::at(op))).collect();
    let protocols = Protocols {
        calls,
        // A promise that the order breaks is to be seen in the states.
        watched: vec![false],
        one_writer: vec![false],
        any_one_writer: false,
        ..Protocols::new(vec![Rc::new(engine)], order.block, order.nodes)
    };
    Rc::new(Shared { traced: Some(0..u64::MAX), ..Shared::new(protocols, machine) })
}

/// An order with what it is about.
struct Plan<'a> {
    order: &'a Force,
    engine: &'a Engine,
    gap: u64,
}

impl Plan<'_> {
    fn check(&self) -> Result<(), NodeError> {
        let accesses = |start: &ForcedStart| matches!(start.does, ForcedDoes::Access { .. });
        let gives_access = self.engine.tag_role(true).is_some() && self.engine.tag_role(false).is_some();
        if !gives_access && self.order.starts.iter().any(accesses) {
            let what = format!("protocol `{}` gives no access to blocks", self.engine.protocol().name);
            return Err(NodeError::input(Code::Replay, what));
        }
        Ok(())
    }

    fn time(&self, step: Option<u32>) -> u64 {
        step.map_or(NEVER, |step| u64::from(step) * self.gap)
    }

    /// All but what its processor does.
    fn prepare(&self, node: &mut NodeState) -> Result<(), NodeError> {
        let lanes = &self.engine.protocol().lanes;
        for message in self.order.messages.iter().filter(|message| message.from == node.core.me) {
            let lane = (0u8..).zip(lanes).find(|(_, lane)| lane.name == message.lane);
            let (lane, _) =
                lane.ok_or_else(|| NodeError::input(Code::Replay, format!("there is no lane `{}`", message.lane)))?;
            node.model.interface.force(trivium_protocol::LaneId(lane), message.to, self.time(message.step));
        }
        let mine = |steps: &[(u32, Node)]| {
            let mine = steps.iter().filter(|(_, who)| *who == node.core.me);
            mine.map(|&(step, _)| self.time(Some(step))).collect::<Vec<_>>()
        };
        let (retries, tasks) = (mine(&self.order.retries), mine(&self.order.tasks).into());
        let timers = self.order.timers.iter().filter(|timer| timer.node == node.core.me);
        let timers = timers.map(|timer| self.timer(timer)).collect::<Result<_, _>>()?;
        node.forced = Some(Box::new(Times { retries, tasks, timers, performed: Vec::new() }));
        let me = node.core.me;
        for start in self.order.starts.iter().filter(|start| start.node == me) {
            let at = self.time(Some(start.step));
            match start.does {
                ForcedDoes::Evict { block, heard } => self.evict(node, block, at, self.time(heard)),
                ForcedDoes::Prefetch { block, write } => {
                    let kind = if write { EventKind::PrefetchWrite } else { EventKind::Prefetch };
                    let hint = node.local(0, kind, Object { kind: BLOCK, id: block });
                    node.raise(at, Arrival::Local(hint));
                }
                ForcedDoes::Access { .. } | ForcedDoes::Call { .. } => {}
            }
        }
        Ok(())
    }

    fn timer(&self, timer: &ForcedTimer) -> Result<(RoleId, Object, u64), NodeError> {
        let roles = &self.engine.protocol().roles;
        let known = (0u8..).zip(roles).find(|(_, role)| role.name == timer.role);
        let (id, role) =
            known.ok_or_else(|| NodeError::input(Code::Replay, format!("there is no role `{}`", timer.role)))?;
        let object = Object { kind: role.object, id: timer.object };
        Ok((RoleId(id), object, self.time(Some(timer.step))))
    }

    fn evict(&self, node: &mut NodeState, block: u32, at: u64, heard: u64) {
        let object = Object { kind: BLOCK, id: block };
        if self.engine.protocol().cached {
            let key: Key = node.key(at);
            node.queues.signals.insert(key, Signal::GiveUp { block: object.id, heard });
        } else {
            let eviction = node.local(0, EventKind::Evict, object);
            node.raise(at, Arrival::Local(eviction));
        }
    }

    /// What the processor of a node does.
    fn script(&self, me: Node) -> Result<Vec<Planned>, NodeError> {
        let mut script = Vec::new();
        for start in self.order.starts.iter().filter(|start| start.node == me) {
            let does = match &start.does {
                ForcedDoes::Access { block, word, store, exchanges } => Does::Access {
                    kind: if store.is_some() { AccessKind::Write } else { AccessKind::Read },
                    offset: u64::from(*block) * self.order.block + 8 * word,
                    value: store.unwrap_or(0),
                    exchanges: *exchanges,
                },
                ForcedDoes::Call { op, object, args } => self.call(op, *object, args)?,
                ForcedDoes::Evict { .. } | ForcedDoes::Prefetch { .. } => continue,
            };
            script.push(Planned { not_before: self.time(Some(start.step)), does });
        }
        Ok(script)
    }

    fn call(&self, name: &str, object: u32, args: &[i64]) -> Result<Does, NodeError> {
        let protocol = self.engine.protocol();
        let op =
            protocol.op(name).ok_or_else(|| NodeError::input(Code::Replay, format!("there is no call `{name}`")))?;
        let declared = &protocol.ops[op.index()];
        let mut words = match declared.object {
            NODE => Vec::new(),
            BLOCK => vec![address(u64::from(object) * self.order.block)],
            _ => vec![i64::from(object)],
        };
        for (declared, mut passed) in declared.args.iter().zip(self.engine.passed_as(op, args)) {
            if let [word] = &mut passed[..] {
                *word = match declared.ty {
                    Type::Address => address(word.cast_unsigned()),
                    // No address is a null pointer.
                    Type::OrNone(ref of) if **of == Type::Address => u64::try_from(*word).map_or(0, address),
                    // None is no pointer.
                    Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK) => {
                        u64::try_from(*word).map_or(*word, |block| address(block * self.order.block))
                    }
                    _ => *word,
                };
            }
            words.append(&mut passed);
        }
        Ok(Does::Call { import: op.index(), args: words })
    }
}

/// The program's address of an address of the order.
fn address(at: u64) -> i64 {
    i64::from(SHARED_BASE) + at.cast_signed()
}

/// So many blocks have room for every address that a call names: one may lie in memory that no block of the order has.
fn called_blocks(engine: &Engine, order: &Force) -> u32 {
    let protocol = engine.protocol();
    let calls = order.starts.iter().filter_map(|start| match &start.does {
        ForcedDoes::Call { op, args, .. } => Some((protocol.op(op)?, args)),
        _ => None,
    });
    let passed = |op: OpId, args: &[i64]| protocol.ops[op.index()].args.iter().zip(engine.passed_as(op, args));
    let named = calls.flat_map(|(op, args)| passed(op, args));
    let last = named.filter_map(|(arg, at)| match arg.ty {
        Type::Address => Some(at[0].max(0).cast_unsigned() + 8),
        Type::OrNone(ref of) if **of == Type::Address => u64::try_from(at[0]).ok().map(|at| at + 8),
        Type::Object(BLOCK) | Type::ObjectOrNone(BLOCK) => {
            u64::try_from(at[0]).ok().map(|block| (block + 1) * order.block)
        }
        _ => None,
    });
    let last = last.max();
    last.map_or(0, |end| u32::try_from(end.div_ceil(order.block)).unwrap_or(u32::MAX))
}
