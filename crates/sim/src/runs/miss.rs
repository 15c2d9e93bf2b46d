//! One remote miss on a quiet machine, step by step.

use crate::machine::Machine;
use crate::machine::handlers::HandlerPrice;
use crate::node::NodeState;
use crate::node::script::{Script, plain_memory};
use crate::node::shared::Shared;
use crate::order::{Limits, Runner, World};
use crate::reports::timeline::{Cause, PathStep, Reason, path};
use crate::timing::given::check_handlers;
use serde::Serialize;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use trivium_diagnostic::Code;
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

/// Where a miss finds what it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissPlace {
    /// In the memory of its own node.
    Local,
    /// In the memory of another node.
    #[default]
    Remote,
    /// In the cache of its home's processor, which has stored to it.
    Home,
    /// In the cache of a third node, which has stored to it.
    Third,
}

/// A handler on the way of a miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissHandler {
    /// `requester`, `home` or `third node`.
    pub node: String,
    /// Role, state and event.
    pub handler: String,
    /// For how many cycles it keeps its engine from other events.
    pub occupancy: u64,
    /// How many of these the miss waits for.
    pub adds: u64,
    /// Where its price is from, if the machine's file says that: the row of a study, or `calibration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
}

/// One step of a miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissStep {
    /// `requester`, `home`, `third node` or `network`.
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
    /// The handlers on its way, where an engine does several things at once, so that what a handler adds is less than its occupancy, or
    /// where the machine says where a handler's price is from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<MissHandler>,
    /// Whether the total is no prediction: prices of handlers on its way are rows of a study, or were chosen for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fitted: bool,
    /// Bus transactions of all nodes, those off the critical path included.
    pub bus_transactions: u64,
}

const HOME: Node = 0;
const REQUESTER: Node = 1;
const THIRD: Node = 2;
const NODES: u32 = 3;

/// Measures a miss of a block of `block` bytes whose home is another node.
///
/// # Errors
/// The protocol is not about blocks or fails, or the block size is impossible.
pub fn measure(
    protocol: Arc<Protocol>,
    machine: &Machine,
    kind: MissKind,
    block: u64,
) -> Result<MissReport, NodeError> {
    measure_at(protocol, machine, (kind, MissPlace::Remote), block)
}

/// The same of a block that is at a given place.
///
/// # Errors
/// As [`measure`].
pub fn measure_at(
    protocol: Arc<Protocol>,
    machine: &Machine,
    (kind, place): (MissKind, MissPlace),
    block: u64,
) -> Result<MissReport, NodeError> {
    crate::runs::setup::check_block(machine, block)?;
    let engine =
        Engine::load_without_ghosts(protocol, NODES).map_err(|error| NodeError::input(Code::Usage, error.message))?;
    if engine.tag_role(true).is_none() || engine.tag_role(false).is_none() {
        let what =
            format!("protocol `{}` gives no access to blocks, so nothing can miss under it", engine.protocol().name);
        return Err(
            NodeError::input(Code::Usage, what).help("measure a protocol of shared memory, such as stache or msi")
        );
    }
    // A quiet machine's tables hold the translations and the tags already.
    let mut machine = Machine { network: machine.network.quiet(), tlb: None, rtlb: None, ..machine.clone() };
    // So does the data cache of its protocol processors hold the records.
    machine.pipeline.iter_mut().for_each(|pipeline| pipeline.data_cache = None);
    let mut quiet = Quiet::new(engine, machine, block)?;
    let by = if place == MissPlace::Local { HOME } else { REQUESTER };
    match place {
        MissPlace::Home => drop(quiet.access(HOME, AccessKind::Write)?),
        MissPlace::Third => drop(quiet.access(THIRD, AccessKind::Write)?),
        MissPlace::Local | MissPlace::Remote => {}
    }
    let report = match kind {
        MissKind::Read => quiet.access(by, AccessKind::Read),
        MissKind::Write => quiet.access(by, AccessKind::Write),
        MissKind::Upgrade => {
            quiet.access(by, AccessKind::Read)?;
            quiet.access(by, AccessKind::Write)
        }
    }?;
    let shared = quiet.world.nodes[usize::from(by)].borrow().shared.clone();
    let name = format!("{kind:?} {place:?}").to_lowercase();
    let is_fitted = |handler: &MissHandler| priced(&handler.handler, &shared, |price| price.is_of_the_sum(&name));
    let fitted = report.handlers.iter().any(|handler| is_fitted(handler) == Some(true));
    Ok(MissReport { fitted, ..report })
}

/// What is asked of a handler's own price, if it has one.
fn priced<T>(handler: &str, shared: &Shared, ask: impl Fn(&HandlerPrice) -> T) -> Option<T> {
    let protocol = shared.protocols.engines.first().map_or("", |engine| &engine.protocol().name);
    let mut prices = crate::machine::handlers::all(&shared.machine.handlers);
    let price = prices.find(|(key, _)| key[0] == protocol && key[1..].join(".") == handler);
    price.map(|(_, price)| ask(price))
}

/// Three nodes of which one makes an access at a time.
struct Quiet {
    world: World,
    mhz: u64,
}

impl Quiet {
    fn new(engine: Engine, machine: Machine, block: u64) -> Result<Quiet, NodeError> {
        let (page, mhz) = (machine.memory.page.max(block), machine.processor.mhz);
        let protocols = Protocols::new(vec![Rc::new(engine)], block, NODES);
        check_handlers(&machine, &protocols)?;
        let shared = Rc::new(Shared::new(protocols, machine));
        let space = Rc::new(RefCell::new(Space::new(page, NODES)));
        space.borrow_mut().allocate(HOME, 0, page, Placement::Explicit(u32::from(HOME)), 0)?;
        let nodes = (0..trivium_engine::number::fit::<_, Node>(NODES, "the number of a node")).map(|me| {
            let mut node = NodeState::new(me, shared.clone(), space.clone(), 0);
            node.core.memory = plain_memory(page);
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
    fn access(&mut self, by: Node, kind: AccessKind) -> Result<MissReport, NodeError> {
        let requester = self.world.nodes[by as usize].clone();
        requester.borrow_mut().compute.cause = None;
        let (begun, bus) = (requester.borrow().compute.clock(), self.bus_transactions());
        self.world.set_runner(by, Runner::Script(Script::access(kind, 0, 1)));
        self.world.run(&Limits::default())?;
        let cause = requester.borrow().compute.cause.clone();
        let path = cause.as_ref().map_or(Vec::new(), |(run, left)| path(run, *left));
        let staged = requester.borrow().shared.machine.pipeline.is_some();
        let handlers = handlers(&cause, by, &requester.borrow().shared);
        let is_told = staged || handlers.iter().any(|handler| handler.given.is_some());
        let handlers = if is_told { handlers } else { Vec::new() };
        let total = requester.borrow().compute.clock() - begun;
        self.world.settle()?;
        // What comes next starts on a machine at rest.
        let rest =
            self.world.nodes.iter().map(|node| node.borrow().now.max(node.borrow().model.free())).max().unwrap_or(0);
        for node in &self.world.nodes {
            let clock = node.borrow().compute.clock();
            node.borrow_mut().stall(rest.saturating_sub(clock) + 10_000, crate::reports::counters::Spent::Sync);
        }
        let steps = steps(&path, by);
        let microseconds = total as f64 / self.mhz as f64;
        let bus_transactions = self.bus_transactions() - bus;
        let unit = "cycles".into();
        Ok(MissReport { total, unit, microseconds, steps, handlers, fitted: false, bus_transactions })
    }
}

/// The path's steps, with the names of their places; equal neighbours become one.
fn steps(path: &[PathStep], by: Node) -> Vec<MissStep> {
    let mut steps: Vec<MissStep> = Vec::new();
    for part in path {
        let node = part.node.map_or("network".to_string(), |node| name_of(node, by));
        match steps.last_mut() {
            Some(last) if last.node == node && last.step == part.what => last.cycles += part.to - part.from,
            _ => steps.push(MissStep { node, step: part.what.to_string(), cycles: part.to - part.from }),
        }
    }
    steps
}

fn name_of(node: Node, by: Node) -> String {
    match node {
        _ if node == by => "requester".into(),
        HOME => "home".into(),
        THIRD => "third node".into(),
        other => format!("node {other}"),
    }
}

/// The handlers that led to something, in order.
fn handlers(last: &Cause, by: Node, shared: &Shared) -> Vec<MissHandler> {
    let mut handlers = Vec::new();
    let mut cause = last;
    while let Some((run, until)) = cause {
        if let Some((handler, occupancy)) = &run.handler {
            let on_way = run.stretches.iter().filter(|part| part.reason == Reason::Handler && part.to <= *until);
            let adds = on_way.map(|part| part.to - part.from).sum();
            handlers.push(MissHandler {
                node: name_of(run.node, by),
                handler: handler.clone(),
                occupancy: *occupancy,
                adds,
                given: priced(handler, shared, |price| price.origin().to_string()),
            });
        }
        cause = &run.cause;
    }
    handlers.reverse();
    handlers
}
