//! The host's side of a running node: accesses, polls, bulk memory operations, and the program's
//! own imports.

mod atomic;
mod running;
mod trivium;
mod wasi;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use wasmtime::{AsContextMut, Caller, Engine, FuncType, Global, Linker, Result, Val, ValType};

use crate::inspect::{PAGE, RESERVED};
use crate::memory::{Memory, SHARED_BASE};
use crate::processor::{Access, AccessKind, Call, Fault, Processor, Step};
use crate::program::Compiled;
use crate::rewrite::{GO, SLOWLY, WAIT, WRITE};
use running::{Host, suspend};

/// What a node's store holds.
pub(crate) struct NodeState<P> {
    pub processor: Rc<RefCell<P>>,
    pub program: Arc<Compiled>,
    pub number: u32,
    pub args: Vec<String>,
    /// Set once the module is instantiated.
    pub memory: Option<Memory>,
    /// Where instructions are counted; set once the module is instantiated.
    pub counter: Counter,
    /// The instruction count when the host was last called.
    pub instructions: Rc<Cell<u64>>,
    /// How large the program thinks its memory is, in pages.
    pub private_pages: u64,
    /// End of what this node has allocated of shared memory.
    pub shared_end: Rc<Cell<u64>>,
    /// The bits of an access that the processor completed itself.
    pub completed: Option<u64>,
    /// State of the deterministic `random_get`.
    pub random: u64,
}

// SAFETY: Wasmtime asks for `Send` because an async store may be polled on any thread. A `Node`
// holds the store, its future and every handle to its parts, and is itself neither `Send` nor
// `Sync` (it has an `Rc`), so that all of this stays on the thread that made it.
unsafe impl<P> Send for NodeState<P> {}

/// Where compiled code counts its instructions.
pub(crate) enum Counter {
    /// Nowhere, since nothing runs yet.
    None,
    /// The reference build counts up in a global.
    Up(Global),
    /// The fast build counts down.
    Down {
        /// It does so in a page of the node's memory.
        memory: Memory,
        /// The count at which the countdown is 0.
        deadline: u64,
    },
}

/// The exact number of instructions executed so far.
pub(crate) fn instructions<P: 'static>(mut store: impl AsContextMut<Data = NodeState<P>>) -> u64 {
    let global = match &store.as_context().data().counter {
        Counter::None => return 0,
        Counter::Up(global) => *global,
        Counter::Down { memory, deadline } => return deadline.wrapping_sub(memory.countdown() as u64),
    };
    global.get(store.as_context_mut()).i64().unwrap_or(0) as u64
}

/// The program ended itself with this exit code.
#[derive(Debug)]
pub(crate) struct Exit(pub i32);

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {}", self.0)
    }
}

impl std::error::Error for Exit {}

/// A function that programs may import.
pub(crate) struct KnownImport {
    pub module: &'static str,
    pub name: &'static str,
    params: &'static str,
    result: &'static str,
}

/// Types of imports are written with one letter each: `i` is a 32-bit, `I` a 64-bit integer.
fn letter(ty: wasmparser::ValType) -> char {
    match ty {
        wasmparser::ValType::I32 => 'i',
        wasmparser::ValType::I64 => 'I',
        _ => '?',
    }
}

impl KnownImport {
    pub(crate) fn has_type(&self, ty: &wasmparser::FuncType) -> bool {
        let letters = |types: &[wasmparser::ValType]| types.iter().copied().map(letter).collect::<String>();
        letters(ty.params()) == self.params && letters(ty.results()) == self.result
    }

    pub(crate) fn describe(&self) -> String {
        let list = |letters: &str| {
            let names: Vec<_> = letters.chars().map(|letter| if letter == 'i' { "i32" } else { "i64" }).collect();
            names.join(", ")
        };
        format!("({}) -> ({})", list(self.params), list(self.result))
    }
}

/// All functions that programs may import, but for those of protocols.
pub(crate) fn known_imports() -> impl Iterator<Item = KnownImport> {
    let trivium = trivium::FUNCTIONS.iter().map(|known| ("trivium", known.0, known.1, known.2));
    let wasi = wasi::FUNCTIONS.iter().map(|known| ("wasi_snapshot_preview1", known.0, known.1, known.2));
    trivium.chain(wasi).map(|(module, name, params, result)| KnownImport { module, name, params, result })
}

/// What one of the program's imports is.
#[derive(Clone, Copy)]
enum Target {
    Trivium(trivium::Function),
    Wasi(wasi::Function),
    /// A protocol's: index into the program's calls.
    Op(usize),
}

/// A linker with everything that the program imports.
pub(crate) fn linker<P: Processor>(engine: &Engine, program: &Compiled) -> Result<Linker<NodeState<P>>> {
    let mut linker = Linker::new(engine);
    // A program may import the same function twice.
    linker.allow_shadowing(true);
    link_rewriting(&mut linker)?;
    for (index, import) in program.imports.iter().enumerate() {
        let target = target(program, index);
        let translate = |types: &[wasmparser::ValType]| -> Vec<ValType> {
            let is_word = |ty: &wasmparser::ValType| *ty == wasmparser::ValType::I64;
            types.iter().map(|ty| if is_word(ty) { ValType::I64 } else { ValType::I32 }).collect()
        };
        let ty = FuncType::new(engine, translate(import.ty.params()), translate(import.ty.results()));
        let is_long = import.ty.results() == [wasmparser::ValType::I64];
        linker.func_new_async(&import.module, &import.name, ty, move |caller, args, results| {
            Box::new(async move {
                let value = run_import(caller, target, args).await?;
                if let Some(result) = results.first_mut() {
                    *result = if is_long { Val::I64(value) } else { Val::I32(value as i32) };
                }
                Ok(())
            })
        })?;
    }
    Ok(linker)
}

fn target(program: &Compiled, import: usize) -> Target {
    if let Some(op) = program.calls.iter().position(|call| call.import == import) {
        return Target::Op(op);
    }
    let name = &program.imports[import].name;
    let trivium = trivium::FUNCTIONS.iter().find(|known| known.0 == name);
    let wasi = wasi::FUNCTIONS.iter().find(|known| known.0 == name);
    match (program.imports[import].module.as_str(), trivium, wasi) {
        ("trivium", Some(known), _) => Target::Trivium(known.3),
        (_, _, Some(known)) => Target::Wasi(known.3),
        _ => unreachable!("imports are checked when a program is loaded"),
    }
}

async fn run_import<P: Processor>(mut caller: Caller<'_, NodeState<P>>, target: Target, args: &[Val]) -> Result<i64> {
    let args: Vec<i64> = args
        .iter()
        .map(|arg| match arg {
            Val::I32(value) => i64::from(*value as u32),
            Val::I64(value) => *value,
            _ => 0,
        })
        .collect();
    let mut host = Host::new(&mut caller);
    match target {
        Target::Trivium(function) => trivium::run(&mut host, function, &args).await,
        Target::Wasi(function) => wasi::run(&mut host, function, &args).await,
        Target::Op(import) => host.call(Call::Op { import, args }).await,
    }
}

fn link_rewriting<P: Processor>(linker: &mut Linker<NodeState<P>>) -> Result<()> {
    linker.func_wrap(
        RESERVED,
        "access",
        |mut caller: Caller<'_, NodeState<P>>,
         base: i32,
         offset: i32,
         meta: i32,
         value: i64,
         instructions: i64|
         -> Result<i32> {
            let state = caller.data_mut();
            state.note_count(instructions);
            let step = state.access(base as u32, offset as u32, meta, value as u64);
            state.wind_up();
            step
        },
    )?;
    linker.func_wrap(RESERVED, "poll", |mut caller: Caller<'_, NodeState<P>>, instructions: i64| -> Result<i32> {
        let state = caller.data_mut();
        let instructions = state.note_count(instructions);
        let step = state.processor.borrow_mut().poll(instructions)?;
        state.wind_up();
        Ok(if step == Step::Wait { WAIT } else { GO })
    })?;
    linker.func_wrap_async(RESERVED, "suspend", |_: Caller<'_, NodeState<P>>, (): ()| Box::new(suspend()))?;
    linker.func_wrap_async(
        RESERVED,
        "load_slowly",
        |mut caller: Caller<'_, NodeState<P>>, (base, offset, meta): (i32, i32, i32)| {
            Box::new(async move {
                let mut host = Host::new(&mut caller);
                if let Some(bits) = host.state().completed.take() {
                    return Ok(bits as i64);
                }
                let addr = (base as u32).wrapping_add(offset as u32);
                let mut word = [0; 8];
                host.read_pieces(addr, &mut word[..meta as usize]).await?;
                Ok::<i64, wasmtime::Error>(i64::from_le_bytes(word))
            })
        },
    )?;
    linker.func_wrap_async(
        RESERVED,
        "store_slowly",
        |mut caller: Caller<'_, NodeState<P>>, (base, offset, meta, value): (i32, i32, i32, i64)| {
            Box::new(async move {
                let mut host = Host::new(&mut caller);
                if host.state().completed.take().is_some() {
                    return Ok(());
                }
                let addr = (base as u32).wrapping_add(offset as u32);
                let size = (meta - WRITE) as usize;
                host.write_pieces(addr, &value.to_le_bytes()[..size]).await
            })
        },
    )?;
    link_atomic(linker)?;
    link_bulk(linker)
}

fn link_atomic<P: Processor>(linker: &mut Linker<NodeState<P>>) -> Result<()> {
    linker.func_wrap_async(
        RESERVED,
        "atomic",
        |mut caller: Caller<'_, NodeState<P>>, (base, offset, code, operand, expected): (i32, i32, i32, i64, i64)| {
            Box::new(
                async move { atomic::run(&mut Host::new(&mut caller), (base, offset, code), operand, expected).await },
            )
        },
    )?;
    linker.func_wrap(
        RESERVED,
        "misaligned",
        |mut caller: Caller<'_, NodeState<P>>, base: i32, offset: i32, size: i32| -> Result<()> {
            atomic::aligned(&mut Host::new(&mut caller), base, offset, size as u32).map(drop)
        },
    )?;
    Ok(())
}

fn link_bulk<P: Processor>(linker: &mut Linker<NodeState<P>>) -> Result<()> {
    linker.func_wrap(RESERVED, "memory_size", |caller: Caller<'_, NodeState<P>>| caller.data().private_pages as i32)?;
    linker.func_wrap(RESERVED, "memory_grow", |mut caller: Caller<'_, NodeState<P>>, pages: i32| {
        let state = caller.data_mut();
        let before = state.private_pages;
        let after = before + u64::from(pages as u32);
        if after > state.program.private_pages.1 {
            return -1;
        }
        state.private_pages = after;
        before as i32
    })?;
    linker.func_wrap_async(
        RESERVED,
        "memory_copy",
        |mut caller: Caller<'_, NodeState<P>>, (to, from, bytes): (i32, i32, i32)| {
            Box::new(async move { Host::new(&mut caller).copy(to as u32, from as u32, bytes as u32).await })
        },
    )?;
    linker.func_wrap_async(
        RESERVED,
        "memory_fill",
        |mut caller: Caller<'_, NodeState<P>>, (to, byte, bytes): (i32, i32, i32)| {
            Box::new(async move { Host::new(&mut caller).fill(to as u32, byte as u8, bytes as u32).await })
        },
    )?;
    linker.func_wrap(
        RESERVED,
        "memory_init",
        |caller: Caller<'_, NodeState<P>>, to: i32, bytes: i32| -> Result<()> {
            let state = caller.data();
            let (to, bytes) = (to as u32, u64::from(bytes as u32));
            if u64::from(to) + bytes > state.private_bytes() {
                Err(state.out_of_bounds(u64::from(to), bytes, "initialisation from a data segment"))?;
            }
            Ok(())
        },
    )?;
    Ok(())
}

/// Whether an access lies in one aligned 8-byte word.
fn in_one_word(addr: u32, size: u32) -> bool {
    addr % 8 + size <= 8
}

impl<P> NodeState<P> {
    fn private_bytes(&self) -> u64 {
        self.private_pages * PAGE
    }

    /// Whether `bytes` bytes at `addr` are the program's to use.
    fn is_in_bounds(&self, addr: u64, bytes: u64) -> bool {
        let end = addr + bytes;
        end <= self.private_bytes() || (addr >= u64::from(SHARED_BASE) && end <= self.shared_end.get())
    }

    fn out_of_bounds(&self, addr: u64, bytes: u64, what: &str) -> Fault {
        let mut message = format!(
            "node {}: {what} of {bytes} bytes at {addr:#x} is out of bounds (private memory is 0..{:#x}, shared memory {SHARED_BASE:#x}..{:#x})",
            self.number,
            self.private_bytes(),
            self.shared_end.get()
        );
        // The stack is below everything else and grows down, so that an overflow wraps around.
        if addr >= 0xff00_0000 {
            message.push_str("; the stack has overflowed, or a null pointer was indexed with a negative number");
        }
        Fault::new(message)
    }
}

impl<P: Processor> NodeState<P> {
    /// Notes the count, as compiled code gives it: the number of instructions, or the countdown.
    fn note_count(&mut self, count: i64) -> u64 {
        let instructions = match &self.counter {
            Counter::Down { deadline, .. } => deadline.wrapping_sub(count as u64),
            _ => count as u64,
        };
        self.instructions.set(instructions);
        instructions
    }

    /// Sets the countdown, after the processor was asked something.
    pub(crate) fn wind_up(&mut self) {
        if let Counter::Down { memory, deadline } = &mut self.counter {
            // So that the countdown fits 64 bits with their sign.
            *deadline = self.processor.borrow().deadline().min(1 << 62);
            memory.set_countdown(deadline.wrapping_sub(self.instructions.get()) as i64);
        }
    }

    /// Asks the processor about an access that the program is about to make.
    fn access(&mut self, base: u32, offset: u32, meta: i32, value: u64) -> Result<i32> {
        let size = (meta & 0xff) as u32;
        let kind = if meta & WRITE != 0 { AccessKind::Write } else { AccessKind::Read };
        let addr = u64::from(base) + u64::from(offset);
        if !self.is_in_bounds(addr, u64::from(size)) {
            let what = if kind == AccessKind::Write { "a store" } else { "a load" };
            return Err(self.out_of_bounds(addr, u64::from(size), what).into());
        }
        let addr = addr as u32;
        if !in_one_word(addr, size) {
            return Ok(SLOWLY);
        }
        let value = if size == 8 { value } else { value & ((1 << (8 * size)) - 1) };
        let access = Access { addr, size, kind, value };
        let step = self.processor.borrow_mut().access(self.instructions.get(), access)?;
        Ok(match step {
            Step::Go => GO,
            Step::Wait => WAIT,
            Step::Complete(bits) => {
                self.completed = Some(bits);
                SLOWLY
            }
        })
    }
}
