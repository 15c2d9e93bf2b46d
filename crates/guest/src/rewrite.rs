//! Rewrites a module so that it counts instructions and asks the host about every access.
//!
//! There are two builds. This describes the *reference*, or host-call, build: the simple and exact
//! one, and the oracle of the other. The *fast* build ([`fast`]) keeps what hits in the cache inside
//! Wasm, and is the same in all else.
//!
//! * A mutable global counts instructions ([`classes`] says which operators are). It is brought up to date before
//!   every operator that can leave the straight line or call the host, so that the host always
//!   sees the exact number, the operator itself included. Where the operators' weights differ, a number in the host's page of
//!   memory counts their work in the same places.
//! * Each load and store becomes a call of a small function added to the module
//!   ([`access`]), which asks the host first and then performs it.
//! * Function entries and loop heads call the added function `poll`.
//! * Atomic operators become calls of added functions too ([`atomic`]).
//! * `memory.size`, `.grow`, `.copy`, `.fill` and `.init` become host calls; the memory gets its
//!   full physical size. The last three are executed word by word: they count instructions, access
//!   and poll as a loop does (`host/bulk.rs`).
//!
//! * The host never waits. A function that has to says so, and the added function that called it lets
//!   the node wait and calls it again ([`switch`]). The program's own imports are called that way too.
//!
//! New imports follow the program's own, so that its defined functions move up by as many. New functions,
//! types and globals come last.

mod access;
mod ahead;
mod analysis;
mod atomic;
mod classes;
mod code;
mod fast;
mod live;
mod strides;
mod switch;
mod values;

use std::collections::BTreeMap;
use trivium_diagnostic::{Code, Diagnostic};

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    BranchHints, CodeSection, ConstExpr, ContType, DataCountSection, DataSection, ElementSection, Elements, EntityType,
    ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType, ImportSection, Instruction,
    MemorySection, MemoryType, Module, TableSection, TypeSection, ValType,
};

use crate::inspect::{Import, Inspected, PAGE, RESERVED};
use crate::memory::SHARED_END;
use crate::switching::Switching;
use crate::tags;
use crate::translations::TlbShape;
use crate::weights::OperatorWeights;
pub(crate) use access::{GO, SLOWLY, WAIT, WRITE, access_of};

use ValType::{I32, I64};

/// Name under which the instruction counter is exported.
pub(crate) const COUNTER_EXPORT: &str = "trivium-host:instructions";
/// Name under which the memory is exported.
pub(crate) const MEMORY_EXPORT: &str = "trivium-host:memory";
/// Name under which the function is exported that runs the program until it waits (1) or ends (0), where WebAssembly
/// switches.
pub(crate) const RESUME_EXPORT: &str = "trivium-host:resume";
/// Name under which the host's memory is exported, in the fast build.
pub(crate) const TAGS_EXPORT: &str = "trivium-host:tags";

/// All that the rewritten module of a program depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Manner {
    pub build: Build,
    pub switching: Switching,
    pub weights: OperatorWeights,
    /// The TLB that compiled code looks at: none in the reference build.
    pub tlb: Option<TlbShape>,
    /// Whether loops of the fast build look at tags some rounds ahead.
    pub looks_ahead: bool,
}

/// How a program is rewritten. It changes nothing in what a program does and how it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Build {
    /// Every access, loop head and function entry asks the [`Processor`](crate::Processor).
    Reference,
    /// Only accesses that [`Tags`](crate::Tags) do not allow ask, and polls from
    /// [`Processor::deadline`](crate::Processor::deadline) on.
    Fast,
}

/// A host function that a rewritten module imports from the module `trivium-host`: name, parameters, results.
type HostImport = (&'static str, &'static [ValType], &'static [ValType]);

/// The host functions that any rewritten module imports, in order; those that may have to wait first. These, and the
/// program's own imports, give GO and a result, or WAIT: then the node waits and calls `again`, which gives the same.
const HOST_IMPORTS: [HostImport; 13] = [
    // base, offset, size and kind -> the bits loaded
    ("load_slowly", &[I32, I32, I32], ANSWER),
    // base, offset, size and kind, the bits to store
    ("store_slowly", &[I32, I32, I32, I64], ANSWER),
    // to, from, bytes
    ("memory_copy", &[I32, I32, I32], ANSWER),
    // to, byte, bytes
    ("memory_fill", &[I32, I32, I32], ANSWER),
    // to, from, bytes, which data segment
    ("memory_init", &[I32, I32, I32, I32], ANSWER),
    // base, offset, which, operand, expected -> the value before
    ("atomic", &[I32, I32, I32, I64, I64], ANSWER),
    ("again", &[], ANSWER),
    // base, offset, size and kind, value, instructions -> GO, WAIT or SLOWLY
    ("access", &[I32, I32, I32, I64, I64], &[I32]),
    // instructions -> GO or WAIT
    ("poll", &[I64], &[I32]),
    ("memory_size", &[], &[I32]),
    // pages -> pages before, or -1
    ("memory_grow", &[I32], &[I32]),
    // base, offset, size: of an atomic load or store that is not aligned, or of private memory
    ("strange_atomic", &[I32, I32, I32], &[]),
    // lets the node wait; not imported where WebAssembly does that itself
    ("suspend", &[], &[]),
];

/// What functions give that may have to wait: GO and a result, or WAIT.
const ANSWER: &[ValType] = &[I32, I64];

const LOAD_SLOWLY: u32 = 0;
const STORE_SLOWLY: u32 = 1;
const MEMORY_COPY: u32 = 2;
const MEMORY_FILL: u32 = 3;
const MEMORY_INIT: u32 = 4;
const ATOMIC: u32 = 5;
const AGAIN: u32 = 6;
const ACCESS: u32 = 7;
const POLL: u32 = 8;
const MEMORY_SIZE: u32 = 9;
const MEMORY_GROW: u32 = 10;
const STRANGE_ATOMIC: u32 = 11;
const SUSPEND: u32 = 12;

/// The results of the functions of [`HOST_IMPORTS`] that may have to wait.
const RESULTS: [&[ValType]; 6] = [&[I64], &[], &[], &[], &[], &[I64]];

/// The functions of [`HOST_IMPORTS`] that are imported.
fn host_imports(switching: Switching) -> &'static [HostImport] {
    match switching {
        Switching::Stacks => &HOST_IMPORTS[..SUSPEND as usize],
        Switching::Fibres => &HOST_IMPORTS,
    }
}

/// Parameters and results of a function.
type Signature = (Vec<ValType>, Vec<ValType>);

/// Operators that read static variables which the program counts with, by their places in the module, each with the byte in which that is
/// noted.
pub(crate) type CounterReads = BTreeMap<usize, u32>;

/// Where things of the rewritten module are.
struct Layout {
    build: Build,
    switching: Switching,
    weights: OperatorWeights,
    tlb: Option<TlbShape>,
    looks_ahead: bool,
    /// Functions that the program imports.
    imported: u32,
    /// Index of the first added function: `wait`, `poll`, those of [`access::ACCESSES`], those of [`atomic`], one for
    /// each host function that may have to wait and for each of the program's imports ([`switch::patient`]), one
    /// `memory.init` for each data segment, the look-up of a page if there is a TLB, and those of [`switch`].
    added: u32,
    /// Data segments that can be copied by `memory.init`.
    data_segments: u32,
    /// Index of the counter among the globals. In the next one is the continuation, if there is one.
    counter: u32,
    /// Index of the first added type, of functions without parameters and results. If there are continuations, their
    /// type is the next.
    types: u32,
    /// The types of functions that are added. The first is that without parameters and results.
    signatures: Vec<Signature>,
    /// The operators that read counters, by their places in the module, each with the byte in which that is noted.
    reads: CounterReads,
    /// Of each of the program's functions, where its operators have come to; none if nobody wants to know.
    moved: Option<Vec<Moved>>,
}

/// Where a function's operators have come to: offsets in the rewritten body, and in the module as it was, ascending.
pub(crate) type Moved = Vec<(u32, u32)>;

impl Layout {
    /// The operator at an offset of the module as it was begins here in the body that is being written.
    fn moves(&mut self, from: usize, to: usize) {
        if let Some(moved) = self.moved.as_mut().and_then(|functions| functions.last_mut()) {
            moved.push((to as u32, from as u32));
        }
    }

    /// What is done before the operator at an offset of the module as it was, which may read a counter: that is noted.
    fn noting(&self, at: usize) -> Option<[Instruction<'static>; 3]> {
        let note = *self.reads.get(&at)?;
        let byte = wasm_encoder::MemArg { offset: 0, align: 0, memory_index: 0 };
        Some([Instruction::I32Const(note as i32), Instruction::I32Const(1), Instruction::I32Store8(byte)])
    }

    /// Whether the work is counted besides the instructions.
    fn counts_work(&self) -> bool {
        !self.weights.are_equal()
    }

    /// How many counts an added function for an access is told that the stored ones lack.
    fn pending_counts(&self) -> usize {
        match self.build {
            Build::Reference => 0,
            Build::Fast => 1 + usize::from(self.counts_work()),
        }
    }

    fn host(&self, import: u32) -> u32 {
        self.imported + import
    }

    fn wait(&self) -> u32 {
        self.added
    }

    fn poll(&self) -> u32 {
        self.added + 1
    }

    fn access(&self, access: u32) -> u32 {
        self.added + 2 + access
    }

    fn atomic(&self, function: u32) -> u32 {
        self.access(access::ACCESSES.len() as u32) + function
    }

    /// Calls a host function that may have to wait until it has not.
    fn patient(&self, import: u32) -> u32 {
        self.atomic(atomic::FUNCTIONS) + import
    }

    /// The same for one of the program's imports.
    fn patient_import(&self, import: u32) -> u32 {
        self.patient(RESULTS.len() as u32) + import
    }

    fn memory_init(&self, data: u32) -> u32 {
        self.patient_import(self.imported) + data
    }

    /// Looks a page up that the TLB does not hold.
    fn look_up(&self) -> u32 {
        self.memory_init(self.data_segments)
    }

    /// Index of a type, which is added if it is new.
    fn signature(&mut self, signature: Signature) -> u32 {
        let known = self.signatures.iter().position(|known| *known == signature);
        let index = known.unwrap_or_else(|| {
            self.signatures.push(signature);
            self.signatures.len() - 1
        });
        self.types + index as u32 + u32::from(index > 0 && self.switching == Switching::Stacks)
    }
}

impl Reencode for Layout {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, reencode::Error> {
        Ok(match index < self.imported {
            true => self.patient_import(index),
            false => index + host_imports(self.switching).len() as u32,
        })
    }
}

/// Index in a rewritten module of the first function that the program defines, given how many it imports.
pub(crate) fn first_defined(imported: u32, switching: Switching) -> u32 {
    imported + host_imports(switching).len() as u32
}

/// The module rewritten.
pub(crate) fn rewrite(module: &Inspected<'_>, reads: CounterReads, manner: Manner) -> Result<Vec<u8>, Diagnostic> {
    Layout::new(module, reads, manner).rewrite(module)
}

/// Where the operators of each of the program's functions come to when the module is rewritten: nobody wants to know
/// that of most programs, so it is found out by rewriting once more.
pub(crate) fn moved(module: &Inspected<'_>, reads: CounterReads, manner: Manner) -> Result<Vec<Moved>, Diagnostic> {
    let mut layout = Layout { moved: Some(Vec::new()), ..Layout::new(module, reads, manner) };
    layout.rewrite(module)?;
    Ok(layout.moved.unwrap_or_default())
}

impl Layout {
    fn new(module: &Inspected<'_>, reads: CounterReads, manner: Manner) -> Layout {
        let Manner { build, switching, weights, tlb, looks_ahead } = manner;
        let imported = module.imports.len() as u32;
        Layout {
            build,
            switching,
            weights,
            tlb,
            // Compiled code would have to look up pages ahead, too.
            looks_ahead: looks_ahead && tlb.is_none(),
            imported,
            added: first_defined(imported, switching) + module.defined_functions,
            data_segments: module.data_count.unwrap_or(0),
            counter: module.global_count,
            types: module.function_types.len() as u32,
            signatures: vec![Signature::default()],
            reads,
            moved: None,
        }
    }

    fn rewrite(&mut self, module: &Inspected<'_>) -> Result<Vec<u8>, Diagnostic> {
        self.module(module)
            .map_err(|error| Diagnostic::new(Code::Module, format!("the module cannot be rewritten: {error}")))
    }

    fn module(&mut self, from: &Inspected<'_>) -> Result<Vec<u8>, reencode::Error> {
        let added = self.added(from)?;
        let imports = self.imports(from);
        let functions = self.functions(from, &added)?;
        let mut module = Module::new();
        module.section(&self.types(from)?);
        module.section(&imports);
        module.section(&functions);
        if let Some(section) = from.tables.clone() {
            let mut tables = TableSection::new();
            self.parse_table_section(&mut tables, section)?;
            module.section(&tables);
        }
        module.section(&self.memories());
        if self.switching == Switching::Stacks {
            module.section(&switch::tags(self));
        }
        module.section(&self.globals(from)?);
        module.section(&self.exports(from, added.len() as u32)?);
        let mut elements = ElementSection::new();
        if let Some(section) = from.elements.clone() {
            self.parse_element_section(&mut elements, section)?;
        }
        if self.switching == Switching::Stacks {
            // What a continuation is made of must be declared.
            let main = self.added + added.len() as u32 - switch::MAIN_FROM_END;
            elements.declared(Elements::Functions((&[main]).into()));
        }
        module.section(&elements);
        if let Some(count) = from.data_count {
            module.section(&DataCountSection { count });
        }
        let (hints, code) = self.code(from, added)?;
        if !hints.is_empty() {
            module.section(&hints);
        }
        module.section(&code);
        if let Some(section) = from.data.clone() {
            let mut data = DataSection::new();
            self.parse_data_section(&mut data, section)?;
            module.section(&data);
        }
        Ok(module.finish())
    }

    /// The functions that are added, in the order of their indices, with their types.
    fn added(&mut self, from: &Inspected<'_>) -> Result<Vec<(u32, Function)>, reencode::Error> {
        let plain = self.signature(Signature::default());
        let mut added = vec![(plain, switch::wait(self)), (plain, access::poll(self))];
        for access in &access::ACCESSES {
            added.push((self.signature(access.signature(self.pending_counts())), access.function(self)));
        }
        for number in 0..atomic::FUNCTIONS {
            added.push((self.signature(atomic::signature(number)), atomic::function(self, number)));
        }
        for ((import, (_, params, _)), results) in (0..).zip(HOST_IMPORTS).zip(RESULTS) {
            let signature = (params.to_vec(), results.to_vec());
            let function = switch::patient(self, self.host(import), &signature);
            added.push((self.signature(signature), function));
        }
        for (import, from) in (0..).zip(&from.imports) {
            added.push((from.type_index, switch::patient(self, import, &signature_of(from))));
        }
        for data in 0..self.data_segments {
            added.push((self.signature((vec![I32; 3], vec![])), access::memory_init(self, data)));
        }
        if let Some(tlb) = self.tlb {
            added.push((self.signature((vec![I32], vec![])), tlb.load_function()));
        }
        if self.switching == Switching::Stacks {
            let start = self.function_index(from.start)?;
            let main = self.added + added.len() as u32;
            added.push((plain, switch::main(start)));
            added.push((self.signature((vec![], vec![I32])), switch::resume(self, main)));
        }
        Ok(added)
    }

    fn types(&mut self, from: &Inspected<'_>) -> Result<TypeSection, reencode::Error> {
        let mut types = TypeSection::new();
        if let Some(section) = from.types.clone() {
            self.parse_type_section(&mut types, section)?;
        }
        for (index, (params, results)) in self.signatures.iter().enumerate() {
            types.ty().function(params.iter().copied(), results.iter().copied());
            if index == 0 && self.switching == Switching::Stacks {
                types.ty().cont(&ContType(self.types));
            }
        }
        Ok(types)
    }

    fn imports(&mut self, from: &Inspected<'_>) -> ImportSection {
        let mut imports = ImportSection::new();
        for import in &from.imports {
            let (params, _) = signature_of(import);
            let ty = self.signature((params, ANSWER.to_vec()));
            imports.import(&import.module, &import.name, EntityType::Function(ty));
        }
        for (name, params, results) in host_imports(self.switching) {
            let ty = self.signature((params.to_vec(), results.to_vec()));
            imports.import(RESERVED, name, EntityType::Function(ty));
        }
        imports
    }

    fn functions(
        &mut self,
        from: &Inspected<'_>,
        added: &[(u32, Function)],
    ) -> Result<FunctionSection, reencode::Error> {
        let mut functions = FunctionSection::new();
        if let Some(section) = from.functions.clone() {
            self.parse_function_section(&mut functions, section)?;
        }
        for (ty, _) in added {
            functions.function(*ty);
        }
        Ok(functions)
    }

    fn globals(&mut self, from: &Inspected<'_>) -> Result<GlobalSection, reencode::Error> {
        let mut globals = GlobalSection::new();
        if let Some(section) = from.globals.clone() {
            self.parse_global_section(&mut globals, section)?;
        }
        let counter = GlobalType { val_type: I64, mutable: true, shared: false };
        globals.global(counter, &ConstExpr::i64_const(0));
        if self.switching == Switching::Stacks {
            let (ty, nothing) = switch::continuation(self);
            globals.global(ty, &nothing);
        }
        Ok(globals)
    }

    fn exports(&mut self, from: &Inspected<'_>, added: u32) -> Result<ExportSection, reencode::Error> {
        let mut exports = ExportSection::new();
        if let Some(section) = from.exports.clone() {
            self.parse_export_section(&mut exports, section)?;
        }
        exports.export(COUNTER_EXPORT, ExportKind::Global, self.counter);
        exports.export(MEMORY_EXPORT, ExportKind::Memory, 0);
        if let Build::Fast = self.build {
            exports.export(TAGS_EXPORT, ExportKind::Memory, fast::HOST_MEMORY);
        }
        if let Switching::Stacks = self.switching {
            exports.export(RESUME_EXPORT, ExportKind::Func, self.added + added - 1);
        }
        Ok(exports)
    }

    fn code(
        &mut self,
        from: &Inspected<'_>,
        added: Vec<(u32, Function)>,
    ) -> Result<(BranchHints, CodeSection), reencode::Error> {
        let (mut hints, mut code) = (BranchHints::new(), CodeSection::new());
        let first = first_defined(self.imported, self.switching);
        let mut types = from.functions.clone().into_iter().flatten();
        for (number, body) in from.code.clone().into_iter().flatten().enumerate() {
            let ty = types.next().transpose()?;
            let ty = ty.and_then(|ty| from.function_types.get(ty as usize)?.as_ref());
            let params = ty.map_or(&[][..], |ty| ty.params());
            self.moved.iter_mut().for_each(|functions| functions.push(Moved::new()));
            match self.build {
                Build::Reference => code.function(&code::function(self, &body?)?),
                Build::Fast => {
                    let (function, rarely) = fast::function(self, params, from.to_validate(number), &body?)?;
                    hints.function_hints(first + number as u32, rarely);
                    code.function(&function)
                }
            };
        }
        for (_, function) in added {
            code.function(&function);
        }
        Ok((hints, code))
    }

    /// The program's memory, of its full physical size (its pages are mapped when they are
    /// touched), with the contents of the TLB behind it, and the host's.
    fn memories(&self) -> MemorySection {
        let mut memories = MemorySection::new();
        memories.memory(memory(u64::from(SHARED_END) + self.tlb.map_or(0, TlbShape::bytes)));
        if self.build == Build::Fast {
            memories.memory(memory(tags::BYTES));
        }
        memories
    }
}

/// Parameters and results of one of the program's imports, which are integers.
fn signature_of(import: &Import) -> Signature {
    let types = |types: &[wasmparser::ValType]| {
        types.iter().map(|ty| if *ty == wasmparser::ValType::I64 { I64 } else { I32 }).collect()
    };
    (types(import.ty.params()), types(import.ty.results()))
}

/// A memory of a fixed size.
fn memory(bytes: u64) -> MemoryType {
    let pages = bytes.div_ceil(PAGE);
    MemoryType { minimum: pages, maximum: Some(pages), memory64: false, shared: false, page_size_log2: None }
}
