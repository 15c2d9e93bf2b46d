//! What is simulated, and the world that is made of it.

use crate::machine::Machine;
use crate::node::NodeState;
use crate::node::shared::Shared;
use crate::order::budget::Budget;
use crate::order::{Limits, Runner, World};
use crate::timing::given::check_handlers;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trivium_diagnostic::Code;
use trivium_engine::number::fit;
use trivium_guest::{Build, Program, SHARED_BASE, Stage};
use trivium_node::{NodeError, NodeMemory, Protocols};
use trivium_protocol::Protocol;

/// What is simulated.
pub struct Setup<'a> {
    /// The program, which every node runs.
    pub program: &'a Program,
    /// The protocols; the first that answers accesses is the default of allocations.
    pub protocols: Vec<Arc<Protocol>>,
    /// The machine.
    pub machine: Machine,
    /// Nodes, 1 to [`trivium_protocol::MAX_NODES`].
    pub nodes: u32,
    /// Bytes of a block: a power of two from 8 to 65,536.
    pub block: u64,
    /// The program's arguments after its name.
    pub args: Vec<String>,
    /// For the network's jitter.
    pub seed: u64,
    /// Ends incomplete after so many cycles.
    pub max_cycles: Option<u64>,
    /// It fails if no processor goes on for so many cycles, while handlers run: [`STALL_LIMIT`], unless somebody says otherwise.
    pub stall_limit: Option<u64>,
    /// Cycles for which nodes are simulated one after the other: 0 is the reference order, in which handlers are
    /// walked over ([`trivium_engine::Engine::walking`]) and each is priced anew; `None` the machine's lookahead. It changes nothing in the
    /// result.
    pub window: Option<u64>,
    /// Host threads, at least 1. It changes nothing in the result; a run that is traced, or in the reference order,
    /// uses one.
    pub jobs: u32,
    /// Tell for misses who is to blame ([`SimResult::blame`]): it uses one host thread, and asks the host at every access
    /// to shared memory, which changes nothing in what else the result tells.
    pub blame: bool,
    /// How much of the host's memory it may take: an allocation may be refused, or it ends incomplete.
    pub memory: Option<Budget<'a>>,
    /// Ends incomplete when true.
    pub cancel: Option<&'a AtomicBool>,
    /// Is told the present cycle now and then.
    pub progress: Option<&'a dyn Fn(u64)>,
}

/// Cycles without progress after which a simulation fails, unless somebody says otherwise: more than any protocol takes for one access.
pub const STALL_LIMIT: u64 = 10_000_000;

impl Setup<'_> {
    /// The limits of a simulation of it, which nobody traces.
    pub(super) fn limits(&self) -> Limits<'_> {
        Limits {
            max_cycles: self.max_cycles,
            stall_limit: self.stall_limit,
            memory: self.memory,
            cancel: self.cancel,
            progress: self.progress,
            trace: None,
        }
    }
}

/// A world of these nodes.
pub(crate) fn make(
    setup: &Setup,
    traced: Option<Range<u64>>,
    suspect: Option<(u64, u32)>,
    numbers: Range<u32>,
) -> Result<(World, Rc<Shared>), NodeError> {
    let shared = Rc::new(Shared { suspect, ..share(setup, traced)? });
    // A block has one home.
    let page = setup.machine.memory.page.max(setup.block);
    let space = Rc::new(RefCell::new(shared.protocols.space(page)));
    let build = setup.machine.build(setup.program, shared.traced.is_some());
    // Stores to shared memory must be seen where a protocol assumes something about them.
    let asked_from = |all: bool| if all { SHARED_BASE } else { u32::MAX };
    let stores_asked_from = asked_from(setup.blame || shared.protocols.one_writer.contains(&true));
    let stage = Stage::new(&setup.machine.weigh(setup.program), build)?;
    let (mut nodes, mut runners) = (Vec::new(), Vec::new());
    for me in numbers {
        let node = Rc::new(RefCell::new(NodeState::new(
            fit(me, "the number of a node"),
            shared.clone(),
            space.clone(),
            setup.seed,
        )));
        let program = stage.node(me, &setup.args, node.clone())?;
        node.borrow_mut().core.memory = NodeMemory::Program(program.memory());
        node.borrow_mut().model.cache.translate_by(program.translations());
        node.borrow_mut().model.cache.publish(program.tags(), stores_asked_from, asked_from(setup.blame));
        nodes.push(node);
        runners.push(Runner::Program(Box::new(program)));
    }
    Ok((World::new(shared.clone(), space, nodes, runners, setup.window), shared))
}

/// What all nodes share, after a look at what the program and the protocols want of each other.
pub(super) fn share(setup: &Setup, traced: Option<Range<u64>>) -> Result<Shared, NodeError> {
    // The oracle for whatever makes others faster.
    let reference = setup.window == Some(0);
    let protocols = Protocols::of_program(setup.program, &setup.protocols, (setup.block, setup.nodes), reference)?;
    let shared = Shared::new(protocols, setup.machine.clone());
    shared.classes.check(&shared.protocols, &setup.machine)?;
    check_handlers(&setup.machine, &shared.protocols)?;
    Ok(Shared {
        has_tags: setup.machine.build(setup.program, traced.is_some()) == Build::Fast,
        traced,
        blamed: setup.blame,
        unfolded: reference || shared.unfolded,
        room: setup.memory.filter(|budget| budget.refuses).map(|budget| budget.limit),
        ..shared
    })
}

/// Most bytes of a block.
pub(crate) const LARGEST_BLOCK: u64 = 1 << 16;

/// Whether a machine can have blocks of this size.
pub(crate) fn check_block(machine: &Machine, block: u64) -> Result<(), NodeError> {
    let least = machine.access_control.granule;
    let what = format!("a block of {block} bytes");
    if !block.is_power_of_two() || block > LARGEST_BLOCK {
        let error =
            NodeError::input(Code::Usage, format!("{what}: it must be a power of two from {least} to {LARGEST_BLOCK}"));
        return Err(error.help("use --block 64"));
    }
    if block < least {
        let help = "use larger blocks, or a machine whose access control and cache lines are smaller: --set machine.cache.line=8 --set machine.access_control.granule=8";
        return Err(NodeError::input(
            Code::Usage,
            format!("{what}, on a machine whose access control has granules of {least} bytes"),
        )
        .help(help));
    }
    let page = machine.memory.page;
    if machine.memory.frames.is_some() && block > page {
        let what = format!(
            "{what}, on a machine whose memory for pages of other nodes is limited (memory.frames), with pages of {page} bytes"
        );
        return Err(
            NodeError::input(Code::Usage, what).help("use smaller blocks, or larger pages (--set machine.memory.page)")
        );
    }
    Ok(())
}
