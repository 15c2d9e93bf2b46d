//! `trivium interpret`: a program in C*, one operator after the other. It runs on one node, alone: there is no protocol, no shared memory and nobody to send to.

use super::program::load_interpreted;
use crate::arguments::Interpret;
use crate::{Failure, failure, stop};
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trivium_diagnostic::Code;
use trivium_guest::{
    AccessStep, Build, Call, CallStep, Executed, Inputs, LoadStore, NodeOutcome, Processor, ProgramFault, ProgramNode,
};
use trivium_sim::NodeError;

/// Runs a program; what it prints is printed as it comes.
pub fn interpret(arguments: &Interpret) -> Result<u8, Failure> {
    let inputs = Arc::new(Inputs::new(arguments.dir.as_deref())?);
    let program = load_interpreted(&arguments.programs, arguments.cc.as_deref(), arguments.trace)?.reading(inputs);
    let args: Vec<String> =
        arguments.args.iter().map(|arg| arg.replace("{nodes}", &arguments.nodes.to_string())).collect();
    stop::flag();
    let alone = Rc::new(RefCell::new(Alone { nodes: arguments.nodes, begun: Instant::now(), looks_next: 0 }));
    let mut node = ProgramNode::in_build(&program, Build::Fast, 0, &args, alone)?;
    loop {
        match node.resume() {
            NodeOutcome::Suspended if stop::is_asked_for() => {
                crate::say!("incomplete: stopped by a signal");
                return Ok(failure::INCOMPLETE);
            }
            NodeOutcome::Suspended => {}
            NodeOutcome::Finished { exit_code: 0 } => return Ok(0),
            NodeOutcome::Finished { exit_code } => {
                let what = format!("{} ended with code {exit_code}", program.name());
                return Err(Failure::new(
                    (failure::of_program(exit_code), Code::Program),
                    what,
                    "see what it printed above",
                ));
            }
            NodeOutcome::Trapped { message, stack } => {
                return Err(failure::told(&NodeError::subject(Code::Trap, message).standing("node 0", &stack)));
            }
        }
    }
}

/// Work between two looks at whether the program is to stop.
const LOOK_EVERY: u64 = 10_000_000;

/// The processor of the only node.
struct Alone {
    /// How many nodes the program is told that there are: in their order it combines values.
    nodes: u32,
    begun: Instant,
    /// The work at which it looks next whether it is to stop.
    looks_next: u64,
}

impl Processor for Alone {
    fn access(&mut self, _: Executed, _: LoadStore) -> Result<AccessStep, ProgramFault> {
        Ok(AccessStep::Go)
    }

    fn poll(&mut self, executed: Executed) -> Result<AccessStep, ProgramFault> {
        if executed.work >= self.looks_next {
            self.looks_next = executed.work + LOOK_EVERY;
            if stop::is_asked_for() {
                return Ok(AccessStep::Wait);
            }
        }
        Ok(AccessStep::Go)
    }

    fn deadline(&self) -> u64 {
        self.looks_next
    }

    fn call(&mut self, executed: Executed, call: &Call) -> Result<CallStep, ProgramFault> {
        let value = match call {
            Call::Nodes => i64::from(self.nodes),
            Call::Print { fd, bytes } => {
                print(*fd, bytes);
                0
            }
            Call::Cycles => executed.instructions.cast_signed(),
            Call::Nanoseconds => i64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(i64::MAX),
            Call::Sleep { nanoseconds } => {
                std::thread::sleep(Duration::from_nanos(*nanoseconds));
                0
            }
            // Nobody else has to come to a barrier, or could see anything before it has happened.
            Call::Node
            | Call::Barrier
            | Call::Fence
            | Call::ParallelStart
            | Call::RegionBegin
            | Call::RegionEnd
            | Call::Prefetch { .. } => 0,
            _ => return Err(ProgramFault::new(NO_SHARED_MEMORY)),
        };
        Ok(CallStep::Done(value))
    }
}

const NO_SHARED_MEMORY: &str = "node 0: the program asks for shared memory, and there is none where it is interpreted: parallel variables are all that nodes share";

/// What cannot be printed, since nobody listens any more, is left out.
fn print(fd: u32, bytes: &[u8]) {
    let _ = match fd {
        2 => std::io::stderr().write_all(bytes),
        _ => std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()),
    };
}
