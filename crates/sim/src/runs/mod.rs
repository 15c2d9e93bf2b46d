//! What can be asked of the simulator: a program's run, one miss, an order of events.

pub(crate) mod changes;
pub(crate) mod forced;
pub(crate) mod miss;
mod parallel;
pub(crate) mod result;
pub(crate) mod setup;

use crate::node::estimate::amount;
use crate::order::{Ended, Limits};
use crate::reports::blame::Blamed;
use crate::reports::trace::Note;
use changes::together;
use result::{NodeEnd, SimResult};
use setup::{Setup, check_block, make, share};
use std::ops::Range;
use trivium_diagnostic::Code;
use trivium_node::{About, NodeError};
use trivium_protocol::MAX_NODES;

/// The cycles of which a trace is wanted, and who is told.
pub type Tracing<'a> = (Range<u64>, &'a dyn Fn(&Note));

/// Simulates.
///
/// # Errors
/// What is wrong with the setup, the program or a protocol. A simulation that was cut short is no error: its result
/// says so ([`SimResult::incomplete`]).
pub fn run(setup: &Setup) -> Result<SimResult, NodeError> {
    simulate(setup, None)
}

/// Simulates, and tells what the parts of the nodes did in a window of cycles: in the order of their clocks as far
/// as the order of simulation gives it, that of a node's part exactly. It has no effect on the result.
///
/// # Errors
/// As [`run`].
pub fn run_with_trace(setup: &Setup, trace: Tracing) -> Result<SimResult, NodeError> {
    simulate(setup, Some(trace))
}

fn simulate(setup: &Setup, trace: Option<Tracing>) -> Result<SimResult, NodeError> {
    check_block(&setup.machine, setup.block)?;
    if !(1..=MAX_NODES).contains(&setup.nodes) {
        return Err(NodeError::input(Code::Usage, format!("{} nodes: there can be 1 to {MAX_NODES}", setup.nodes)));
    }
    // What is told of the host's time is that of the simulation.
    setup.machine.weigh(setup.program).prepare(setup.machine.nearest_line())?;
    let begun = std::time::Instant::now();
    let window = setup.window.unwrap_or(u64::MAX).min(setup.machine.lookahead());
    let jobs = if trace.is_some() || setup.blame || window == 0 || setup.machine.network.is_shared() {
        1
    } else {
        setup.jobs.min(setup.nodes)
    };
    let (ended, mut nodes, blame) = match if jobs > 1 { parallel::run(setup, jobs) } else { None } {
        Some((ended, nodes)) => (ended, nodes, None),
        None => match simulate_alone(setup, trace, None) {
            // Where the nodes were is known only to a run that knows where to look.
            Err(error) => match error.about.as_deref() {
                Some(&About::Race(phase, block)) => simulate_alone(setup, None, Some((phase, block)))?,
                _ => return Err(error),
            },
            Ok(done) => done,
        },
    };
    let incomplete = match ended {
        Ended::Finished => None,
        Ended::MaxCycles(limit) => Some(format!("the limit of {limit} cycles was reached")),
        Ended::Cancelled => Some("it was interrupted".to_string()),
        Ended::Memory(limit) => Some(format!("the limit of {} of the host's memory was reached", amount(limit))),
    };
    let shared = share(setup, None)?;
    let changes: Vec<_> = (0..).zip(nodes.iter_mut().map(NodeEnd::take_changes)).collect();
    let mut result = SimResult::gather(nodes, &shared, setup.program, setup, incomplete);
    result.blame = blame;
    // A run that has not gone well changes nothing.
    if setup.program.may_write() {
        let went_well = result.incomplete.is_none() && result.exit_codes.is_empty();
        let changes = if went_well { together(changes) } else { Ok(Vec::new()) };
        result.changes = Some(changes.map_err(|error| NodeError { said: Some(Box::new(result.said())), ..error })?);
    }
    result.host_seconds = begun.elapsed().as_secs_f64();
    Ok(result)
}

/// On one thread.
fn simulate_alone(
    setup: &Setup,
    trace: Option<Tracing>,
    suspect: Option<(u64, u32)>,
) -> Result<(Ended, Vec<NodeEnd>, Option<Blamed>), NodeError> {
    let (mut world, _) = make(setup, trace.as_ref().map(|(window, _)| window.clone()), suspect, 0..setup.nodes)?;
    let limits = Limits { trace: trace.map(|(_, tell)| tell), ..setup.limits() };
    let ended = world.run(&limits).map_err(|error| world.with_stores(error))?;
    let blame = world.blamed();
    let nodes = NodeEnd::of_all(&mut world, &ended);
    Ok((ended, nodes, blame))
}
