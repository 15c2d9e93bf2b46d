//! The host's side of a running node: accesses, polls, bulk memory operations, and the program's
//! own imports.

mod atomic;
mod bulk;
mod errno;
mod files;
mod poll;
mod running;
mod seats;
mod trivium;
mod wasi;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use wasmtime::{AsContext, Caller, Engine, FuncType, Global, Linker, Result, Val, ValType, WasmBacktrace};

use crate::debug_info::frames;
use crate::inspect::{PAGE, RESERVED};
use crate::loaded::LoadedProgram;
use crate::memory::{HOST_PAGE, Memory, SHARED_BASE, SURPLUS, TLB_MISSES};
use crate::processor::{AccessKind, AccessStep, Call, LoadStore, Processor, ProgramFault};
use crate::rewrite::{GO, SLOWLY, WAIT, WRITE};
use crate::switching::Switching;
use crate::tags::Tags;
use crate::translations::Translations;
use crate::weights::{Executed, OperatorClass, OperatorWeights};
pub(crate) use files::Descriptors;
use running::suspend;
use seats::{Answer, begin, begin_call, go_on};
pub(crate) use seats::{Seats, count_executed, wind_up};

/// A node, as the host knows it.
pub(crate) struct NodeState<P> {
    pub processor: Rc<RefCell<P>>,
    pub program: Arc<LoadedProgram>,
    pub number: u32,
    pub args: Vec<String>,
    pub memory: Memory,
    /// What it may load and store without asking; only in the fast build.
    pub tags: Option<Tags>,
    /// Its TLB, if compiled code looks at one.
    pub translations: Option<Translations>,
    /// How often that had missed when the processor was last told.
    pub told_misses: Cell<u64>,
    /// And when the countdown was last set.
    pub misses_wound_up: Cell<u64>,
    pub counter: Counter,
    /// The weights of its program's operators.
    pub weights: OperatorWeights,
    /// What it had executed when the host was last called.
    pub executed: Rc<Cell<Executed>>,
    /// How large the program thinks its memory is, in pages.
    pub private_pages: Cell<u64>,
    /// End of what this node has allocated of shared memory.
    pub shared_end: Rc<Cell<u64>>,
    /// The bits of an access that the processor completed itself.
    pub completed: Cell<Option<u64>>,
    /// What it can read and write.
    pub files: Rc<Descriptors>,
    /// Whether its processor has been told of an atomic operator on private memory.
    pub told_private: Cell<bool>,
    /// State of the deterministic `random_get`.
    pub random: Cell<u64>,
    /// The program is to end where it stands, to tell where that is.
    pub interrupted: Rc<Cell<bool>>,
    pub switching: Switching,
}

/// Where compiled code counts what it executes.
pub(crate) enum Counter {
    /// The reference build counts instructions up in a global, and their work, unless that is known from them, in a page of the
    /// node's memory.
    Up(Global),
    /// The fast build counts work down in that page, and the surplus by which it is not known from the instructions. This
    /// is the work at which the countdown is 0.
    Down(Cell<u64>),
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
    /// A function of WASI without an answer.
    Unanswered(usize),
    /// A protocol's: index into the program's calls.
    Op(usize),
}

/// A linker with everything that a rewritten program imports.
pub(crate) fn linker<P: Processor>(
    engine: &Engine,
    program: &LoadedProgram,
    switching: Switching,
) -> Result<Linker<Seats<P>>> {
    let mut linker = Linker::new(engine);
    // A program may import the same function twice.
    linker.allow_shadowing(true);
    link_rewriting(&mut linker)?;
    link_atomic(&mut linker)?;
    if switching == Switching::Fibres {
        linker.func_wrap_async(RESERVED, "suspend", |_: Caller<'_, Seats<P>>, (): ()| Box::new(suspend()))?;
    }
    for (index, import) in program.imports.iter().enumerate() {
        let target = target(program, index);
        let translate = |types: &[wasmparser::ValType]| -> Vec<ValType> {
            let is_word = |ty: &wasmparser::ValType| *ty == wasmparser::ValType::I64;
            types.iter().map(|ty| if is_word(ty) { ValType::I64 } else { ValType::I32 }).collect()
        };
        let letters: String = import.ty.params().iter().copied().map(letter).collect();
        let name = (&import.module[..], &import.name[..]);
        if link_typed(&mut linker, name, &letters, target)? {
            continue;
        }
        let ty = FuncType::new(engine, translate(import.ty.params()), [ValType::I32, ValType::I64]);
        linker.func_new(name.0, name.1, ty, move |caller, args, results| {
            let (step, value) = imported(caller, target, &integers(args))?;
            results.copy_from_slice(&[Val::I32(step), Val::I64(value)]);
            Ok(())
        })?;
    }
    Ok(linker)
}

fn target(program: &LoadedProgram, import: usize) -> Target {
    if let Some(op) = program.calls.iter().position(|call| call.import == import) {
        return Target::Op(op);
    }
    let name = &program.imports[import].name;
    let trivium = trivium::FUNCTIONS.iter().find(|known| known.0 == name);
    let wasi = wasi::FUNCTIONS.iter().find(|known| known.0 == name);
    match (program.imports[import].module.as_str(), trivium, wasi) {
        ("trivium", Some(known), _) => Target::Trivium(known.3),
        (_, _, Some(known)) => Target::Wasi(known.3),
        (module, _, _) if crate::lacking::is_unanswered(module, name) => Target::Unanswered(import),
        _ => unreachable!("imports are checked when a program is loaded"),
    }
}

fn integers(values: &[Val]) -> Vec<i64> {
    let integer = |value: &Val| match value {
        Val::I32(value) => i64::from(*value as u32),
        Val::I64(value) => *value,
        _ => 0,
    };
    values.iter().map(integer).collect()
}

/// An integer of WebAssembly.
trait Integer {
    fn integer(self) -> i64;
}

impl Integer for i32 {
    fn integer(self) -> i64 {
        i64::from(self.cast_unsigned())
    }
}

impl Integer for i64 {
    fn integer(self) -> i64 {
        self
    }
}

/// Links an import whose parameters are as those of many are. Wasmtime then passes them as they are, and makes no list of values of any type. Whether
/// they are so.
fn link_typed<P: Processor>(
    linker: &mut Linker<Seats<P>>,
    (module, name): (&str, &str),
    letters: &str,
    target: Target,
) -> Result<bool> {
    macro_rules! link {
        ($($arg:ident: $ty:ty),*) => {
            linker.func_wrap(module, name, move |caller: Caller<'_, Seats<P>>, $($arg: $ty),*| -> Answer {
                imported(caller, target, &[$($arg.integer()),*])
            })?
        };
    }
    match letters {
        "" => link!(),
        "i" => link!(a: i32),
        "I" => link!(a: i64),
        "ii" => link!(a: i32, b: i32),
        "II" => link!(a: i64, b: i64),
        "III" => link!(a: i64, b: i64, c: i64),
        "iii" => link!(a: i32, b: i32, c: i32),
        "iiI" => link!(a: i32, b: i32, c: i64),
        "iIi" => link!(a: i32, b: i64, c: i32),
        "iiiII" => link!(a: i32, b: i32, c: i32, d: i64, e: i64),
        _ => return Ok(false),
    };
    Ok(true)
}

/// A function that the program imports is called.
fn imported<P: Processor>(mut caller: Caller<'_, Seats<P>>, target: Target, args: &[i64]) -> Answer {
    count_executed(&mut caller);
    let call = match target {
        Target::Trivium(function) => trivium::only_call(caller.data().node(), function, args)?,
        Target::Op(import) => Some(Call::Op { import, args: args.to_vec() }),
        Target::Wasi(_) | Target::Unanswered(_) => None,
    };
    match call {
        Some(call) => begin_call(&mut caller, call),
        None => {
            let args = args.to_vec();
            begin(caller, |node| run_import(node, target, args))
        }
    }
}

async fn run_import<P: Processor>(node: Rc<NodeState<P>>, target: Target, args: Vec<i64>) -> Result<i64> {
    match target {
        Target::Trivium(function) => trivium::run(&node, function, &args).await,
        Target::Wasi(function) => wasi::run(&node, function, &args).await,
        Target::Unanswered(import) => {
            let name = &node.program.imports[import].name;
            Err(ProgramFault::new(format!(
                "node {}: the C library has called `{name}`, which has no answer in a simulation",
                node.number
            ))
            .into())
        }
        Target::Op(import) => node.call(Call::Op { import, args }).await,
    }
}

fn link_rewriting<P: Processor>(linker: &mut Linker<Seats<P>>) -> Result<()> {
    linker.func_wrap(
        RESERVED,
        "access",
        |caller: Caller<'_, Seats<P>>, base: i32, offset: i32, meta: i32, value: i64, count: i64| -> Result<i32> {
            let node = caller.data().node();
            node.go_on()?;
            node.note_count(count);
            let step = node.access(base as u32, offset as u32, meta, value as u64);
            // Before a program that waits goes on, that is done anyway.
            if !matches!(step, Ok(WAIT)) {
                node.wind_up();
            }
            if let Ok(WAIT | GO) = step {
                node.tell_stack(&caller);
            }
            step
        },
    )?;
    linker.func_wrap(RESERVED, "poll", |caller: Caller<'_, Seats<P>>, count: i64| -> Result<i32> {
        let node = caller.data().node();
        node.go_on()?;
        let executed = node.note_count(count);
        if node.processor.borrow_mut().poll(executed)? == AccessStep::Wait {
            return Ok(WAIT);
        }
        node.wind_up();
        Ok(GO)
    })?;
    linker.func_wrap(RESERVED, "again", |mut caller: Caller<'_, Seats<P>>| -> Answer {
        caller.data().node().go_on()?;
        let begun = caller.data_mut().begun().take();
        go_on(&mut caller, begun.expect("called only after something had to wait"))
    })?;
    linker.func_wrap(
        RESERVED,
        "load_slowly",
        |caller: Caller<'_, Seats<P>>, base: i32, offset: i32, meta: i32| -> Answer {
            if let Some(bits) = caller.data().node().completed.take() {
                return Ok((GO, bits as i64));
            }
            let addr = (base as u32).wrapping_add(offset as u32);
            begin(caller, async move |node| {
                let mut word = [0; 8];
                node.read_pieces(addr, &mut word[..meta as usize]).await?;
                Ok(i64::from_le_bytes(word))
            })
        },
    )?;
    linker.func_wrap(
        RESERVED,
        "store_slowly",
        |caller: Caller<'_, Seats<P>>, base: i32, offset: i32, meta: i32, value: i64| -> Answer {
            if caller.data().node().completed.take().is_some() {
                return Ok((GO, 0));
            }
            let addr = (base as u32).wrapping_add(offset as u32);
            let size = (meta - WRITE) as usize;
            begin(caller, async move |node| node.write_pieces(addr, &value.to_le_bytes()[..size]).await.map(|()| 0))
        },
    )?;
    link_bulk(linker)
}

fn link_atomic<P: Processor>(linker: &mut Linker<Seats<P>>) -> Result<()> {
    linker.func_wrap(
        RESERVED,
        "atomic",
        |caller: Caller<'_, Seats<P>>, base: i32, offset: i32, code: i32, operand: i64, expected: i64| -> Answer {
            atomic::tell_private(&caller, (base, offset));
            begin(caller, async move |node| atomic::run(&node, (base, offset, code), operand, expected).await)
        },
    )?;
    linker.func_wrap(
        RESERVED,
        "strange_atomic",
        |caller: Caller<'_, Seats<P>>, base: i32, offset: i32, size: i32| -> Result<()> {
            atomic::tell_private(&caller, (base, offset));
            atomic::aligned(caller.data().node(), base, offset, size as u32).map(drop)
        },
    )?;
    Ok(())
}

fn link_bulk<P: Processor>(linker: &mut Linker<Seats<P>>) -> Result<()> {
    linker.func_wrap(RESERVED, "memory_size", |caller: Caller<'_, Seats<P>>| {
        caller.data().node().private_pages.get() as i32
    })?;
    linker.func_wrap(RESERVED, "memory_grow", |caller: Caller<'_, Seats<P>>, pages: i32| {
        let node = caller.data().node();
        let before = node.private_pages.get();
        let after = before + u64::from(pages as u32);
        if after > node.program.private_pages.1 {
            return -1;
        }
        node.private_pages.set(after);
        node.processor.borrow_mut().private_memory(after * PAGE);
        before as i32
    })?;
    linker.func_wrap(
        RESERVED,
        "memory_copy",
        |caller: Caller<'_, Seats<P>>, to: i32, from: i32, bytes: i32| -> Answer {
            begin(caller, async move |node| node.copy(to as u32, from as u32, bytes as u32).await.map(|()| 0))
        },
    )?;
    linker.func_wrap(
        RESERVED,
        "memory_fill",
        |caller: Caller<'_, Seats<P>>, to: i32, byte: i32, bytes: i32| -> Answer {
            begin(caller, async move |node| node.fill(to as u32, byte as u8, bytes as u32).await.map(|()| 0))
        },
    )?;
    linker.func_wrap(
        RESERVED,
        "memory_init",
        |caller: Caller<'_, Seats<P>>, to: i32, from: i32, bytes: i32, segment: i32| -> Answer {
            begin(caller, async move |node| {
                node.init(to as u32, segment as usize, from as u32, bytes as u32).await.map(|()| 0)
            })
        },
    )?;
    Ok(())
}

/// Whether an access lies in one aligned 8-byte word.
fn in_one_word(addr: u32, size: u32) -> bool {
    addr % 8 + size <= 8
}

impl<P: Processor> NodeState<P> {
    /// Notes the count, as compiled code gives it: the number of instructions, or the countdown of work. The processor learns what
    /// compiled code has looked up in its TLB.
    fn note_count(&self, count: i64) -> Executed {
        let looked_up = self.note_misses();
        let count = count.cast_unsigned();
        let counts_work = !self.weights.are_equal();
        let executed = match &self.counter {
            Counter::Down(deadline) => {
                let surplus = if counts_work { self.memory.counted(SURPLUS) } else { 0 };
                self.weights.executed(deadline.get().wrapping_sub(count).wrapping_sub(looked_up), surplus)
            }
            Counter::Up(_) if counts_work => {
                Executed { instructions: count, work: self.memory.counted(HOST_PAGE).cast_unsigned() }
            }
            // Whatever they are.
            Counter::Up(_) => self.weights.one(OperatorClass::Integer) * count,
        };
        self.executed.set(executed);
        executed
    }

    /// Tells the processor of misses of its TLB. Gives the work that stands for those since the countdown was set.
    fn note_misses(&self) -> u64 {
        let Some(translations) = &self.translations else { return 0 };
        let misses = self.memory.counted(TLB_MISSES).cast_unsigned();
        let untold = misses - self.told_misses.replace(misses);
        if untold > 0 {
            self.processor.borrow_mut().has_looked_up(untold);
        }
        (misses - self.misses_wound_up.get()).wrapping_mul(translations.shape().work())
    }
}

impl<P> NodeState<P> {
    fn private_bytes(&self) -> u64 {
        self.private_pages.get() * PAGE
    }

    /// Whether `bytes` bytes at `addr` are the program's to use.
    fn is_in_bounds(&self, addr: u64, bytes: u64) -> bool {
        let end = addr + bytes;
        (end <= self.private_bytes() && (addr >= self.program.lowest || bytes == 0))
            || (addr >= u64::from(SHARED_BASE) && end <= self.shared_end.get())
    }

    fn out_of_bounds(&self, addr: u64, bytes: u64, what: &str) -> ProgramFault {
        let mut message = format!(
            "node {}: {what} of {bytes} bytes at {addr:#x} is out of bounds (private memory is {:#x}..{:#x}, shared memory {SHARED_BASE:#x}..{:#x})",
            self.number,
            self.program.lowest,
            self.private_bytes(),
            self.shared_end.get()
        );
        // The stack is below everything else and grows down, so that an overflow wraps around.
        if addr < self.program.lowest {
            message.push_str("; a null pointer was used, or the stack is full");
        } else if addr >= 0xff00_0000 {
            message.push_str("; the stack has overflowed, or a null pointer was indexed with a negative number");
        }
        ProgramFault::new(message)
    }
}

impl<P: Processor> NodeState<P> {
    /// Ends the program if it is to end where it stands.
    fn go_on(&self) -> Result<()> {
        if self.interrupted.get() { Err(wasmtime::Error::msg("the program was interrupted")) } else { Ok(()) }
    }

    /// Tells the processor where the program stands, if it wants to know.
    fn tell_stack(&self, at: impl AsContext) {
        if self.processor.borrow().wants_stack() {
            let frames = frames(&WasmBacktrace::force_capture(at), &self.program, self.switching);
            self.processor.borrow_mut().stack(frames);
        }
    }

    /// Sets the countdown, after the processor was asked something.
    fn wind_up(&self) {
        if let Counter::Down(deadline) = &self.counter {
            // So that the countdown fits 64 bits with their sign.
            deadline.set(self.processor.borrow().deadline().min(1 << 62));
            let executed = self.executed.get();
            self.misses_wound_up.set(self.told_misses.get());
            self.memory.set_counted(HOST_PAGE, deadline.get().wrapping_sub(executed.work).cast_signed());
            if !self.weights.are_equal() {
                self.memory.set_counted(SURPLUS, self.weights.surplus(executed));
            }
        }
    }

    /// Asks the processor about an access that the program is about to make.
    fn access(&self, base: u32, offset: u32, meta: i32, value: u64) -> Result<i32> {
        let size = (meta & 0xff) as u32;
        let kind = if meta & WRITE != 0 { AccessKind::Write } else { AccessKind::Read };
        let addr = u64::from(base) + u64::from(offset);
        if !self.is_in_bounds(addr, u64::from(size)) {
            self.processor.borrow_mut().is_astray(self.executed.get(), addr as u32);
            let what = if kind == AccessKind::Write { "a store" } else { "a load" };
            return Err(self.out_of_bounds(addr, u64::from(size), what).into());
        }
        let addr = addr as u32;
        if !in_one_word(addr, size) {
            return Ok(SLOWLY);
        }
        // What it asks about is hardly ever in the host's cache; it comes while the question is answered.
        self.memory.prefetch(addr);
        let value = if size == 8 { value } else { value & ((1 << (8 * size)) - 1) };
        let access = LoadStore { addr, size, kind, value };
        let step = self.processor.borrow_mut().access(self.executed.get(), access)?;
        Ok(match step {
            AccessStep::Go => GO,
            AccessStep::Wait => WAIT,
            AccessStep::Complete(bits) => {
                self.completed.set(Some(bits));
                SLOWLY
            }
        })
    }
}
