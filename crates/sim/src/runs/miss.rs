//! One remote miss on a quiet machine, step by step.

use crate::machine::Machine;
use crate::node::NodeState;
use crate::node::script::{Script, plain_memory};
use crate::node::shared::Shared;
use crate::order::{Limits, Runner, World};
use crate::reports::timeline::{PathStep, path};
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use trivium_engine::{Engine, Node};
use trivium_guest::{AccessKind, Placement};
use trivium_node::{NodeError, Protocols, Space};
use trivium_protocol::Protocol;

/// What kind of miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissKind {
    /// A load of a block that only its home has.
    Read,
    /// A store to a block that only its home has.
    Write,
    /// A store to a block that the node, and its home, can read.
    Upgrade,
}

/// One step of a miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissStep {
    /// `requester`, `home` or `network`.
    pub node: String,
    /// What happened.
    pub step: String,
    /// How long it took.
    pub cycles: u64,
}

/// A miss.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MissReport {
    /// From the access to its end.
    pub total: u64,
    /// Always `cycles`, of the processor's clock.
    pub unit: String,
    /// The total in microseconds.
    pub microseconds: f64,
    /// The steps in order; they sum to the total.
    pub steps: Vec<MissStep>,
    /// Bus transactions of all nodes, those off the critical path included.
    pub bus_transactions: u64,
}

const HOME: Node = 0;
const REQUESTER: Node = 1;
const NODES: u32 = 3;

/// Measures a miss of a block of `block` bytes.
///
/// # Errors
/// The protocol is not about blocks or fails, or the block size is impossible.
pub fn measure(
    protocol: Arc<Protocol>,
    machine: &Machine,
    kind: MissKind,
    block: u64,
) -> Result<MissReport, NodeError> {
    crate::runs::setup::check_block(machine, block)?;
    let engine = Engine::load(protocol, NODES).map_err(|error| NodeError::input(error.message))?;
    if engine.tag_role(true).is_none() || engine.tag_role(false).is_none() {
        let what =
            format!("protocol `{}` gives no access to blocks, so nothing can miss under it", engine.protocol().name);
        return Err(NodeError::input(what).help("measure a protocol of shared memory, such as stache or msi"));
    }
    // A quiet machine's TLB holds the translations already.
    let network = crate::machine::NetworkModel { jitter: 0, ..machine.network.clone() };
    let machine = Machine { network, tlb: None, ..machine.clone() };
    let mut quiet = Quiet::new(engine, machine, block)?;
    match kind {
        MissKind::Read => quiet.access(AccessKind::Read),
        MissKind::Write => quiet.access(AccessKind::Write),
        MissKind::Upgrade => {
            quiet.access(AccessKind::Read)?;
            quiet.access(AccessKind::Write)
        }
    }
}

/// Three nodes of which one makes an access at a time.
struct Quiet {
    world: World,
    mhz: u64,
}

impl Quiet {
    fn new(engine: Engine, machine: Machine, block: u64) -> Result<Quiet, NodeError> {
        let (page, mhz) = (machine.memory.page.max(block), machine.processor.mhz);
        let shared = Rc::new(Shared::new(Protocols::new(vec![Rc::new(engine)], block, NODES), machine));
        let space = Rc::new(RefCell::new(Space::new(page, NODES)));
        space.borrow_mut().allocate(HOME, 0, page, Placement::Explicit(u32::from(HOME)), 0)?;
        let nodes = (0..trivium_engine::number::fit::<_, Node>(NODES, "the number of a node")).map(|me| {
            let mut node = NodeState::new(me, shared.clone(), space.clone(), 0);
            node.blocks.memory = plain_memory(page);
            node.recording = true;
            Rc::new(RefCell::new(node))
        });
        let nodes = nodes.collect();
        let runners = (0..NODES).map(|_| Runner::Script(Script::idle())).collect();
        Ok(Quiet { world: World::new(shared, space, nodes, runners, Some(0)), mhz })
    }

    fn bus_transactions(&self) -> u64 {
        self.world.nodes.iter().map(|node| node.borrow().model.bus.transactions()).sum()
    }

    /// Makes an access, and lets everything come to rest again.
    fn access(&mut self, kind: AccessKind) -> Result<MissReport, NodeError> {
        let requester = self.world.nodes[REQUESTER as usize].clone();
        requester.borrow_mut().compute.cause = None;
        let (begun, bus) = (requester.borrow().compute.clock(), self.bus_transactions());
        self.world.set_runner(REQUESTER, Runner::Script(Script::access(kind, 0, 1)));
        self.world.run(&Limits::default())?;
        let path = requester.borrow().compute.cause.as_ref().map_or(Vec::new(), |(run, left)| path(run, *left));
        let total = requester.borrow().compute.clock() - begun;
        self.world.settle()?;
        // What comes next starts on a machine at rest.
        let rest =
            self.world.nodes.iter().map(|node| node.borrow().now.max(node.borrow().model.free())).max().unwrap_or(0);
        let clock = requester.borrow().compute.clock();
        requester.borrow_mut().stall(rest.saturating_sub(clock) + 10_000, crate::reports::counters::Spent::Sync);
        let steps = steps(&path);
        let microseconds = total as f64 / self.mhz as f64;
        let bus_transactions = self.bus_transactions() - bus;
        Ok(MissReport { total, unit: "cycles".into(), microseconds, steps, bus_transactions })
    }
}

/// The path's steps, with the names of their places; equal neighbours become one.
fn steps(path: &[PathStep]) -> Vec<MissStep> {
    let mut steps: Vec<MissStep> = Vec::new();
    for part in path {
        let node = match part.node {
            None => "network".to_string(),
            Some(REQUESTER) => "requester".to_string(),
            Some(HOME) => "home".to_string(),
            Some(other) => format!("node {other}"),
        };
        match steps.last_mut() {
            Some(last) if last.node == node && last.step == part.what => last.cycles += part.to - part.from,
            _ => steps.push(MissStep { node, step: part.what.to_string(), cycles: part.to - part.from }),
        }
    }
    steps
}
