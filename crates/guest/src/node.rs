//! One node: an instance of a program that runs until it has to wait.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use wasmtime::{Instance, Module, Store, Trap, WasmBacktrace};

use crate::error::Error;
use crate::host::{Counter, Exit, NodeState, instructions, linker};
use crate::memory::{Memory, SHARED_BASE};
use crate::processor::{Fault, Processor};
use crate::program::{Compiled, Program};
use crate::rewrite::{Build, COUNTER_EXPORT, MEMORY_EXPORT, TAGS_EXPORT};
use crate::tags::Tags;

/// What has become of a node that was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
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
        /// The function that it did it in, if that is known.
        function: Option<String>,
    },
}

type Running<P> = Pin<Box<dyn Future<Output = (Store<NodeState<P>>, wasmtime::Result<()>)>>>;

enum State<P: 'static> {
    Running(Running<P>),
    /// The store is kept for the memory in it.
    Ended(Outcome, #[allow(dead_code)] Store<NodeState<P>>),
    /// Only while it is resumed; for good if a callback panicked.
    Gone,
}

/// A node that runs a program. Everything that it asks for goes to its [`Processor`]. It belongs
/// to the thread that made it.
pub struct Node<P: Processor> {
    state: State<P>,
    program: Program,
    memory: Memory,
    tags: Option<Tags>,
    alive: Rc<Cell<bool>>,
    instructions: Rc<Cell<u64>>,
}

/// What a program is told that it is called: its file without the folders. The arguments lie in its memory, so with
/// them where it lies on the host would have an effect on its cache.
fn called(program: &Program) -> &str {
    program.name().rsplit('/').next().unwrap_or_default()
}

impl<P: Processor> Node<P> {
    /// An instance of `program`, in the reference build; see [`Node::in_build`].
    ///
    /// # Errors
    /// As [`Node::in_build`].
    pub fn new(program: &Program, number: u32, args: &[String], processor: Rc<RefCell<P>>) -> Result<Node<P>, Error> {
        Node::in_build(program, Build::Reference, number, args, processor)
    }

    /// An instance of `program` that has not started yet. `number` is the node's, for messages;
    /// `args` are the program's arguments after its name.
    ///
    /// The processor is borrowed while [`Node::resume`] runs the program, each time for the
    /// length of one callback.
    ///
    /// # Errors
    /// The program cannot be compiled, or the host cannot give the address space of one more
    /// memory.
    pub fn in_build(
        program: &Program,
        build: Build,
        number: u32,
        args: &[String],
        processor: Rc<RefCell<P>>,
    ) -> Result<Node<P>, Error> {
        let module = program.shared.module(build)?;
        let executed = Rc::new(Cell::new(0));
        let state = NodeState {
            processor,
            program: program.shared.clone(),
            number,
            args: std::iter::once(called(program)).chain(args.iter().map(String::as_str)).map(String::from).collect(),
            memory: None,
            counter: Counter::None,
            instructions: executed.clone(),
            private_pages: program.shared.private_pages.0,
            shared_end: Rc::new(Cell::new(u64::from(SHARED_BASE))),
            completed: None,
            random: u64::from(number),
        };
        let mut store = Store::new(module.engine(), state);
        let failed = |error: wasmtime::Error| {
            Error::new(format!("node {number} of {} cannot be made: {error:#}", program.name()))
                .help("each node reserves 4 GiB of address space: raise `ulimit -v`, or run fewer nodes")
        };
        let instance = instantiate(&mut store, &program.shared, &module).map_err(failed)?;
        let alive = Rc::new(Cell::new(true));
        let memory = memory(&mut store, &instance, alive.clone());
        let tags = tags(&mut store, &instance, build, alive.clone());
        connect(&mut store, &instance, &memory, build);
        let start = instance.get_typed_func::<(), ()>(&mut store, "_start").map_err(failed)?;
        let running = Box::pin(async move {
            let result = start.call_async(&mut store, ()).await;
            (store, result)
        });
        Ok(Node {
            state: State::Running(running),
            program: program.clone(),
            memory,
            tags,
            alive,
            instructions: executed,
        })
    }

    /// Runs the program until it waits or ends. Of a node that has ended, the same outcome again.
    pub fn resume(&mut self) -> Outcome {
        let mut running = match std::mem::replace(&mut self.state, State::Gone) {
            State::Running(running) => running,
            State::Ended(outcome, store) => {
                self.state = State::Ended(outcome.clone(), store);
                return outcome;
            }
            State::Gone => {
                let message = "the node was resumed after one of its callbacks panicked".into();
                return Outcome::Trapped { message, function: None };
            }
        };
        match running.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => {
                self.state = State::Running(running);
                Outcome::Suspended
            }
            Poll::Ready((mut store, result)) => {
                self.instructions.set(instructions(&mut store));
                let outcome = outcome(&self.program.shared, result);
                self.state = State::Ended(outcome.clone(), store);
                outcome
            }
        }
    }

    /// Instructions executed up to the last callback, or to the end of an ended program.
    pub fn instructions(&self) -> u64 {
        self.instructions.get()
    }

    /// A handle to the tags that its compiled code looks at; none in the reference build.
    pub fn tags(&self) -> Option<Tags> {
        self.tags.clone()
    }

    /// A handle to the node's memory.
    pub fn memory(&self) -> Memory {
        self.memory.clone()
    }
}

impl<P: Processor> Drop for Node<P> {
    fn drop(&mut self) {
        // Handles may outlive the mapping.
        self.alive.set(false);
    }
}

fn instantiate<P: Processor>(
    store: &mut Store<NodeState<P>>,
    program: &Compiled,
    module: &Module,
) -> wasmtime::Result<Instance> {
    let linker = linker(module.engine(), program)?;
    let mut instance = Box::pin(linker.instantiate_async(store, module));
    match instance.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(instance) => instance,
        Poll::Pending => Err(wasmtime::Error::msg("instantiation did not end")),
    }
}

fn memory<P: Processor>(store: &mut Store<NodeState<P>>, instance: &Instance, alive: Rc<Cell<bool>>) -> Memory {
    let exported = instance.get_memory(&mut *store, MEMORY_EXPORT).expect("the rewriter exports the memory");
    // SAFETY: the memory has its greatest size from the beginning and may not move
    // (`memory_may_move(false)`), and is unmapped with the store, which the node keeps until
    // after it has set `alive` to false.
    unsafe { Memory::new(exported.data_ptr(&*store), exported.data_size(&*store), alive) }
}

fn tags<P: Processor>(
    store: &mut Store<NodeState<P>>,
    instance: &Instance,
    build: Build,
    alive: Rc<Cell<bool>>,
) -> Option<Tags> {
    if build == Build::Reference {
        return None;
    }
    let exported = instance.get_memory(&mut *store, TAGS_EXPORT).expect("the rewriter exports the host's memory");
    let shared_end = store.data().shared_end.clone();
    // SAFETY: as in `memory`. The rewriter has made the memory of this size, and memories begin at
    // a page.
    Some(unsafe { Tags::new(exported.data_ptr(&*store), shared_end, alive) })
}

/// Tells the store of the parts of its instance.
fn connect<P: Processor>(store: &mut Store<NodeState<P>>, instance: &Instance, memory: &Memory, build: Build) {
    let global = instance.get_global(&mut *store, COUNTER_EXPORT);
    let state = store.data_mut();
    state.memory = Some(memory.clone());
    state.counter = match (build, global) {
        (Build::Fast, _) => Counter::Down { memory: memory.clone(), deadline: 0 },
        (Build::Reference, Some(global)) => Counter::Up(global),
        (Build::Reference, None) => Counter::None,
    };
}

fn outcome(program: &Compiled, result: wasmtime::Result<()>) -> Outcome {
    let Err(error) = result else {
        return Outcome::Finished { exit_code: 0 };
    };
    if let Some(Exit(exit_code)) = error.downcast_ref::<Exit>() {
        return Outcome::Finished { exit_code: *exit_code };
    }
    let function = error
        .downcast_ref::<WasmBacktrace>()
        .and_then(|backtrace| backtrace.frames().iter().find_map(|frame| program.function_name(frame.func_index())));
    let message = if let Some(fault) = error.downcast_ref::<Fault>() {
        fault.message.clone()
    } else if let Some(trap) = error.downcast_ref::<Trap>() {
        trap_message(*trap)
    } else {
        error.root_cause().to_string()
    };
    Outcome::Trapped { message, function }
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
