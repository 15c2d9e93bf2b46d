//! The nodes of a host thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use trivium_diagnostic::{Code, Diagnostic};

use wasmtime::{Instance, InstancePre, Store};

use super::ProgramNode;
use crate::coroutine::{Coroutine, Fibre, SharedStore, Stack};
use crate::host::{Counter, Descriptors, NodeState, Seats, linker};
use crate::inspect::PAGE;
use crate::memory::{Memory, SHARED_BASE, SHARED_END};
use crate::processor::Processor;
use crate::program::Program;
use crate::rewrite::{Build, COUNTER_EXPORT, MEMORY_EXPORT, TAGS_EXPORT};
use crate::switching::Switching;
use crate::tags::Tags;
use crate::translations::{TlbShape, Translations};
use crate::weights::Executed;

/// Where a host thread has its nodes, which take turns. All run the same program. What they need of the host is given
/// back when the stage and all its nodes are dropped.
pub struct Stage<P: Processor> {
    program: Program,
    build: Build,
    instances: InstancePre<Seats<P>>,
    /// Of all nodes, if they have one together.
    store: Option<SharedStore<P>>,
}

impl<P: Processor> Stage<P> {
    /// A stage without nodes yet.
    ///
    /// # Errors
    /// The program cannot be compiled, or its nodes are to take turns in a way that this host cannot
    /// ([`Switching::all`]).
    pub fn new(program: &Program, build: Build) -> Result<Stage<P>, Diagnostic> {
        let switching = program.switching;
        let module = program.module(build)?;
        let engine = module.engine();
        let instances =
            linker(engine, &program.shared, switching).and_then(|linker| linker.instantiate_pre(&module)).map_err(
                |error| Diagnostic::new(Code::Module, format!("{} cannot be linked: {error:#}", program.name())),
            )?;
        let store = (switching == Switching::Stacks).then(|| Rc::new(RefCell::new(Store::new(engine, Seats::new()))));
        Ok(Stage { program: program.clone(), build, instances, store })
    }

    /// A node that has not started yet. `number` is for messages; `args` are the program's arguments after its name.
    ///
    /// The processor is borrowed while [`ProgramNode::resume`] runs the program, each time for the length of one callback.
    /// None of these may resume a node of the same stage.
    ///
    /// # Errors
    /// The host cannot give the address space of one more memory.
    pub fn node(&self, number: u32, args: &[String], processor: Rc<RefCell<P>>) -> Result<ProgramNode<P>, Diagnostic> {
        let make = || match &self.store {
            Some(store) => {
                let instance = self.instances.instantiate(&mut *store.borrow_mut())?;
                let (node, seat) = self.seat(&mut store.borrow_mut(), &instance, (number, args, processor));
                Ok(node(Coroutine::Stack(Stack::new(store, &instance, seat)?)))
            }
            None => {
                let mut store = Store::new(self.instances.module().engine(), Seats::new());
                let instance = now(self.instances.instantiate_async(&mut store))?;
                let (node, _) = self.seat(&mut store, &instance, (number, args, processor));
                Ok(node(Coroutine::Fibre(Fibre::new(store, &instance)?)))
            }
        };
        make().map_err(|error: wasmtime::Error| {
            Diagnostic::new(Code::Module, format!("node {number} of {} cannot be made: {error:#}", self.program.name()))
                .help("each node reserves 4 GiB of address space: raise `ulimit -v`, or run fewer nodes")
        })
    }

    /// Tells a store of the node whose program is this instance. Gives what makes the node, and its seat.
    fn seat<'a>(
        &'a self,
        store: &mut Store<Seats<P>>,
        instance: &Instance,
        (number, args, processor): (u32, &[String], Rc<RefCell<P>>),
    ) -> (impl FnOnce(Coroutine<P>) -> ProgramNode<P> + 'a, usize) {
        let program = &self.program.shared;
        let alive = Rc::new(Cell::new(true));
        let memory = memory(store, instance, alive.clone());
        let shared_end = Rc::new(Cell::new(u64::from(SHARED_BASE) + processor.borrow().shared_memory()));
        let tags = (self.build == Build::Fast).then(|| tags(store, instance, alive.clone(), shared_end.clone()));
        let tlb = self.program.tlb.filter(|_| self.build == Build::Fast);
        let translations = tlb.map(|tlb| translations(store, instance, alive.clone(), tlb));
        let counter = match self.build {
            Build::Fast => Counter::Down(Cell::new(0)),
            Build::Reference => {
                let global = instance.get_global(&mut *store, COUNTER_EXPORT);
                Counter::Up(global.expect("the rewriter exports the counter"))
            }
        };
        let executed = Rc::new(Cell::new(Executed::default()));
        let interrupted = Rc::new(Cell::new(false));
        let files = Rc::new(Descriptors::new(self.program.inputs.clone()));
        processor.borrow_mut().private_memory(program.private_pages.0 * PAGE);
        let seat = store.data_mut().add(NodeState {
            processor,
            program: program.clone(),
            number,
            args: std::iter::once(called(&self.program))
                .chain(args.iter().map(String::as_str))
                .map(String::from)
                .collect(),
            memory: memory.clone(),
            tags: tags.clone(),
            translations: translations.clone(),
            told_misses: Cell::new(0),
            misses_wound_up: Cell::new(0),
            counter,
            weights: self.program.weights,
            executed: executed.clone(),
            private_pages: Cell::new(program.private_pages.0),
            shared_end,
            completed: Cell::new(None),
            files: files.clone(),
            told_private: Cell::new(false),
            random: Cell::new(number.into()),
            interrupted: interrupted.clone(),
            switching: self.program.switching,
        });
        let parts = (memory, (tags, translations), alive, executed, interrupted, files);
        let build = self.build;
        (move |coroutine| ProgramNode::made(coroutine, (&self.program, build), parts), seat)
    }
}

/// What a program is told that it is called: its file without the folders. The arguments lie in its memory, so with
/// them where it lies on the host would have an effect on its cache.
fn called(program: &Program) -> &str {
    program.name().rsplit('/').next().unwrap_or_default()
}

/// What an asynchronous function gives that does not wait.
fn now<T>(future: impl Future<Output = wasmtime::Result<T>>) -> wasmtime::Result<T> {
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => Err(wasmtime::Error::msg("instantiation did not end")),
    }
}

fn memory<T>(store: &mut Store<T>, instance: &Instance, alive: Rc<Cell<bool>>) -> Memory {
    let exported = instance.get_memory(&mut *store, MEMORY_EXPORT).expect("the rewriter exports the memory");
    // SAFETY: the memory has its greatest size from the beginning and may not move (`memory_may_move(false)`), and is
    // unmapped with the store, which the node has or shares until after it has set `alive` to false. The rewriter has made it of this size
    // at least.
    unsafe { Memory::new(exported.data_ptr(&*store), SHARED_END as usize, alive) }
}

fn translations<T>(store: &mut Store<T>, instance: &Instance, alive: Rc<Cell<bool>>, tlb: TlbShape) -> Translations {
    let exported = instance.get_memory(&mut *store, MEMORY_EXPORT).expect("the rewriter exports the memory");
    // SAFETY: as in `memory`. In the fast build the rewriter has made the memory larger by these contents, which only they and the
    // function that it has added change; memories begin at a page.
    unsafe { Translations::of_node(tlb, exported.data_ptr(&*store), alive) }
}

fn tags<T>(store: &mut Store<T>, instance: &Instance, alive: Rc<Cell<bool>>, shared_end: Rc<Cell<u64>>) -> Tags {
    let exported = instance.get_memory(&mut *store, TAGS_EXPORT).expect("the rewriter exports the host's memory");
    // SAFETY: as in `memory`. The rewriter has made the memory of this size, and memories begin at a page.
    unsafe { Tags::new(exported.data_ptr(&*store), shared_end, alive) }
}
