//! One node: an instance of a program that runs until it has to wait.

mod stage;

pub use stage::Stage;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use trivium_diagnostic::Diagnostic;

use wasmtime::{Trap, WasmBacktrace};

use crate::coroutine::Coroutine;
use crate::counters::CounterUse;
use crate::debug_info::{DebugInfo, frames};
use crate::folder::FileChange;
use crate::host::{Descriptors, Exit};
use crate::memory::Memory;
use crate::processor::{Processor, ProgramFault, StackFrame};
use crate::program::Program;
use crate::rewrite::Build;
use crate::source::SourceLocation;
use crate::tags::Tags;
use crate::translations::Translations;
use crate::weights::Executed;

/// What has become of a node that was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeOutcome {
    /// It waits; resume it again.
    Suspended,
    /// It has left `main` or called `exit`. Its memory still exists.
    Finished {
        /// 0 if the program is content.
        exit_code: i32,
    },
    /// It did something that cannot be allowed. Its memory still exists.
    Trapped {
        /// What it did.
        message: String,
        /// Where it did it, and from where that was called, the innermost first; nothing if that is not known.
        stack: Vec<SourceLocation>,
    },
}

enum State {
    /// It has not ended.
    Running,
    Ended(NodeOutcome),
    /// Only while it is resumed; for good if a callback panicked.
    Gone,
}

/// A node that runs a program. Everything that it asks for goes to its [`Processor`]. It belongs
/// to the thread that made it.
pub struct ProgramNode<P: Processor> {
    coroutine: Coroutine<P>,
    state: State,
    program: Program,
    build: Build,
    memory: Memory,
    tags: Option<Tags>,
    translations: Option<Translations>,
    alive: Rc<Cell<bool>>,
    executed: Rc<Cell<Executed>>,
    interrupted: Rc<Cell<bool>>,
    files: Rc<Descriptors>,
}

/// A node's memory, its tags, its TLB, whether it is alive, what it has executed, whether it is to end, and its files.
type Parts =
    (Memory, (Option<Tags>, Option<Translations>), Rc<Cell<bool>>, Rc<Cell<Executed>>, Rc<Cell<bool>>, Rc<Descriptors>);

impl<P: Processor> ProgramNode<P> {
    /// An instance of `program`, in the reference build; see [`ProgramNode::in_build`].
    ///
    /// # Errors
    /// As [`ProgramNode::in_build`].
    pub fn new(
        program: &Program,
        number: u32,
        args: &[String],
        processor: Rc<RefCell<P>>,
    ) -> Result<ProgramNode<P>, Diagnostic> {
        ProgramNode::in_build(program, Build::Reference, number, args, processor)
    }

    /// A node that has a [`Stage`] for itself; see [`Stage::node`].
    ///
    /// # Errors
    /// Those of the stage.
    pub fn in_build(
        program: &Program,
        build: Build,
        number: u32,
        args: &[String],
        processor: Rc<RefCell<P>>,
    ) -> Result<ProgramNode<P>, Diagnostic> {
        Stage::new(program, build)?.node(number, args, processor)
    }

    pub(crate) fn made(
        coroutine: Coroutine<P>,
        (program, build): (&Program, Build),
        (memory, (tags, translations), alive, executed, interrupted, files): Parts,
    ) -> ProgramNode<P> {
        let state = State::Running;
        let program = program.clone();
        ProgramNode {
            coroutine,
            state,
            program,
            build,
            memory,
            tags,
            translations,
            alive,
            executed,
            interrupted,
            files,
        }
    }

    /// Ends the program where it waits, and tells where that is. Nothing if it has not begun, or has ended.
    pub fn interrupt(&mut self) -> Vec<StackFrame> {
        if self.executed.get().instructions == 0 || !matches!(self.state, State::Running) {
            return Vec::new();
        }
        self.interrupted.set(true);
        let result = self.coroutine.resume();
        let message = "the program was interrupted".into();
        self.state = State::Ended(NodeOutcome::Trapped { message, stack: Vec::new() });
        match result {
            Some(Err(error)) => self.frames(&error),
            _ => Vec::new(),
        }
    }

    /// Where the code of its program stands in its source.
    pub fn debug_info(&self) -> Option<DebugInfo<'_>> {
        self.program.debug_info(self.build).ok()
    }

    /// Runs the program until it waits or ends. Of a node that has ended, the same outcome again.
    pub fn resume(&mut self) -> NodeOutcome {
        match std::mem::replace(&mut self.state, State::Gone) {
            State::Running => {}
            State::Ended(outcome) => {
                self.state = State::Ended(outcome.clone());
                return outcome;
            }
            State::Gone => {
                let message = "the node was resumed after one of its callbacks panicked".into();
                return NodeOutcome::Trapped { message, stack: Vec::new() };
            }
        }
        let Some(result) = self.coroutine.resume() else {
            self.state = State::Running;
            return NodeOutcome::Suspended;
        };
        let outcome = self.outcome(result);
        self.state = State::Ended(outcome.clone());
        outcome
    }

    /// What was executed up to the last callback, or to the end of an ended program.
    pub fn executed(&self) -> Executed {
        self.executed.get()
    }

    /// What its program has changed of the folder that it was given ([`Inputs::writable`](crate::Inputs::writable)), by path in it:
    /// what differs from the start, and files that were written. On the host nothing has changed.
    pub fn changes(&self) -> BTreeMap<String, FileChange> {
        self.files.changes()
    }

    /// What its program has done with its counters so far ([`Program::lost_counts`]).
    pub fn counted(&self) -> Vec<CounterUse> {
        self.program.shared.counters.uses(&self.memory)
    }

    /// A handle to the contents of its TLB, if its compiled code looks at one.
    pub fn translations(&self) -> Option<Translations> {
        self.translations.clone()
    }

    /// A handle to the tags that its compiled code looks at; none in the reference build.
    pub fn tags(&self) -> Option<Tags> {
        self.tags.clone()
    }

    /// A handle to the node's memory.
    pub fn memory(&self) -> Memory {
        self.memory.clone()
    }

    fn frames(&self, error: &wasmtime::Error) -> Vec<StackFrame> {
        let stack = error.downcast_ref::<WasmBacktrace>();
        stack.map_or(Vec::new(), |stack| frames(stack, &self.program.shared, self.program.switching))
    }

    fn outcome(&self, result: wasmtime::Result<()>) -> NodeOutcome {
        let Err(error) = result else {
            return NodeOutcome::Finished { exit_code: 0 };
        };
        if let Some(Exit(exit_code)) = error.downcast_ref::<Exit>() {
            return NodeOutcome::Finished { exit_code: *exit_code };
        }
        let frames = self.frames(&error);
        let map = if frames.is_empty() { None } else { self.debug_info() };
        let stack = map.map_or(Vec::new(), |map| map.places(&frames));
        let message = if let Some(fault) = error.downcast_ref::<ProgramFault>() {
            fault.message.clone()
        } else if let Some(trap) = error.downcast_ref::<Trap>() {
            trap_message(*trap)
        } else {
            error.root_cause().to_string()
        };
        NodeOutcome::Trapped { message, stack }
    }
}

impl<P: Processor> Drop for ProgramNode<P> {
    fn drop(&mut self) {
        // Handles may outlive the mapping.
        self.alive.set(false);
    }
}

fn trap_message(trap: Trap) -> String {
    let message = match trap {
        Trap::StackOverflow => "the call stack is full: too deep a recursion",
        Trap::UnreachableCodeReached => {
            "the program aborted (abort, a failed assertion, or undefined behaviour that the compiler made a trap)"
        }
        Trap::IntegerDivisionByZero => "an integer was divided by zero",
        Trap::IntegerOverflow => "the quotient of an integer division, or a converted number, does not fit",
        Trap::BadConversionToInteger => "a number that is not a number was converted to an integer",
        Trap::IndirectCallToNull => "a null function pointer was called",
        Trap::BadSignature => "a function pointer was called with another type than the function's",
        Trap::TableOutOfBounds => "a pointer that is no function's was called",
        Trap::MemoryOutOfBounds => "a data segment was read beyond its end",
        other => return other.to_string(),
    };
    message.to_string()
}
