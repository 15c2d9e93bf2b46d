//! Rewrites a module so that it counts instructions and asks the host about every access.
//!
//! There are two builds. This describes the *reference*, or host-call, build: the simple and exact
//! one, and the oracle of the other. The *fast* build ([`fast`]) keeps what hits in the cache inside
//! Wasm, and is the same in all else.
//!
//! * A mutable global counts instructions ([`code::is_counted`]). It is brought up to date before
//!   every operator that can leave the straight line or call the host, so that the host always
//!   sees the exact number, the operator itself included.
//! * Each load and store becomes a call of a small function added to the module
//!   ([`access`]), which asks the host first and then performs it.
//! * Function entries and loop heads call the added function `poll`.
//! * Atomic operators become calls of added functions too ([`atomic`]).
//! * `memory.size`, `.grow`, `.copy`, `.fill` and `.init` become host calls; the memory gets its
//!   full physical size.
//!
//! New imports follow the program's own, so that its imported functions keep their indices and its
//! defined functions move up by [`HOST_IMPORTS`]`.len()`. New functions, types and the global
//! come last.

mod access;
mod analysis;
mod atomic;
mod code;
mod fast;
mod live;
mod values;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    BranchHints, CodeSection, DataCountSection, DataSection, ElementSection, EntityType, ExportKind, ExportSection,
    FunctionSection, GlobalSection, GlobalType, ImportSection, MemorySection, MemoryType, Module, TableSection,
    TypeSection, ValType,
};

use crate::error::Error;
use crate::inspect::{Inspected, PAGE, RESERVED};
use crate::memory::SHARED_END;
use crate::tags;
pub(crate) use access::{GO, SLOWLY, WAIT, WRITE};
pub(crate) use atomic::{is_atomic, read_modify_write_of};

use ValType::{I32, I64};

/// Name under which the instruction counter is exported.
pub(crate) const COUNTER_EXPORT: &str = "trivium-host:instructions";
/// Name under which the memory is exported.
pub(crate) const MEMORY_EXPORT: &str = "trivium-host:memory";
/// Name under which the host's memory is exported, in the fast build.
pub(crate) const TAGS_EXPORT: &str = "trivium-host:tags";

/// How a program is rewritten. It changes nothing in what a program does and how it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Build {
    /// Every access, loop head and function entry asks the [`Processor`](crate::Processor).
    Reference,
    /// Only accesses that [`Tags`](crate::Tags) do not allow ask, and polls from
    /// [`Processor::deadline`](crate::Processor::deadline) on.
    Fast,
}

/// The host functions that a rewritten module imports from the module `trivium-host`, in order:
/// name, parameters, results.
pub(crate) const HOST_IMPORTS: [(&str, &[ValType], &[ValType]); 12] = [
    // base, offset, size and kind, value, instructions -> GO, WAIT or SLOWLY
    ("access", &[I32, I32, I32, I64, I64], &[I32]),
    // instructions -> GO or WAIT
    ("poll", &[I64], &[I32]),
    ("suspend", &[], &[]),
    // base, offset, size and kind -> the bits loaded
    ("load_slowly", &[I32, I32, I32], &[I64]),
    // base, offset, size and kind, the bits to store
    ("store_slowly", &[I32, I32, I32, I64], &[]),
    ("memory_size", &[], &[I32]),
    // pages -> pages before, or -1
    ("memory_grow", &[I32], &[I32]),
    // to, from, bytes
    ("memory_copy", &[I32, I32, I32], &[]),
    // to, byte, bytes
    ("memory_fill", &[I32, I32, I32], &[]),
    // to, bytes: may data be copied to here?
    ("memory_init", &[I32, I32], &[]),
    // base, offset, which, operand, expected -> the value before
    ("atomic", &[I32, I32, I32, I64, I64], &[I64]),
    // base, offset, size: of an atomic load or store
    ("misaligned", &[I32, I32, I32], &[]),
];

const ACCESS: u32 = 0;
const POLL: u32 = 1;
const SUSPEND: u32 = 2;
const LOAD_SLOWLY: u32 = 3;
const STORE_SLOWLY: u32 = 4;
const MEMORY_SIZE: u32 = 5;
const MEMORY_GROW: u32 = 6;
const MEMORY_COPY: u32 = 7;
const MEMORY_FILL: u32 = 8;
const MEMORY_INIT: u32 = 9;
const ATOMIC: u32 = 10;
const MISALIGNED: u32 = 11;

/// Where things of the rewritten module are.
struct Layout {
    build: Build,
    /// Functions that the program imports.
    imported: u32,
    /// Index of the first added function: `poll`, then those of [`access::ACCESSES`], those of
    /// [`atomic`], and one `memory.init` for each data segment.
    added: u32,
    /// Index of the counter among the globals.
    counter: u32,
    /// Index of the first added type.
    types: u32,
}

impl Layout {
    fn host(&self, import: u32) -> u32 {
        self.imported + import
    }

    fn poll(&self) -> u32 {
        self.added
    }

    fn access(&self, access: u32) -> u32 {
        self.added + 1 + access
    }

    fn atomic(&self, function: u32) -> u32 {
        self.access(access::ACCESSES.len() as u32) + function
    }

    fn memory_init(&self, data: u32) -> u32 {
        self.atomic(atomic::FUNCTIONS) + data
    }
}

impl Reencode for Layout {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, index: u32) -> Result<u32, reencode::Error> {
        let moved = if index < self.imported { 0 } else { HOST_IMPORTS.len() as u32 };
        Ok(index + moved)
    }
}

/// Index in a rewritten module of the first function that is not the program's.
pub(crate) fn added_functions(module: &Inspected<'_>) -> u32 {
    (module.imports.len() + HOST_IMPORTS.len()) as u32 + module.defined_functions
}

/// The module rewritten.
pub(crate) fn rewrite(module: &Inspected<'_>, build: Build) -> Result<Vec<u8>, Error> {
    let mut layout = Layout {
        build,
        imported: module.imports.len() as u32,
        added: added_functions(module),
        counter: module.global_count,
        types: module.function_types.len() as u32,
    };
    layout.module(module).map_err(|error| Error::new(format!("the module cannot be rewritten: {error}")))
}

impl Layout {
    fn module(&mut self, from: &Inspected<'_>) -> Result<Vec<u8>, reencode::Error> {
        let mut module = Module::new();
        module.section(&self.types(from)?);
        module.section(&self.imports(from)?);
        module.section(&self.functions(from)?);
        if let Some(section) = from.tables.clone() {
            let mut tables = TableSection::new();
            self.parse_table_section(&mut tables, section)?;
            module.section(&tables);
        }
        module.section(&self.memories());
        module.section(&self.globals(from)?);
        module.section(&self.exports(from)?);
        if let Some(section) = from.elements.clone() {
            let mut elements = ElementSection::new();
            self.parse_element_section(&mut elements, section)?;
            module.section(&elements);
        }
        if let Some(count) = from.data_count {
            module.section(&DataCountSection { count });
        }
        let (hints, code) = self.code(from)?;
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

    fn types(&mut self, from: &Inspected<'_>) -> Result<TypeSection, reencode::Error> {
        let mut types = TypeSection::new();
        if let Some(section) = from.types.clone() {
            self.parse_type_section(&mut types, section)?;
        }
        for (_, params, results) in HOST_IMPORTS {
            types.ty().function(params.iter().copied(), results.iter().copied());
        }
        types.ty().function([], []);
        let accesses = access::ACCESSES.iter().map(|access| access.signature(self.build));
        for (params, results) in accesses.chain((0..atomic::FUNCTIONS).map(atomic::signature)) {
            types.ty().function(params, results);
        }
        Ok(types)
    }

    fn imports(&mut self, from: &Inspected<'_>) -> Result<ImportSection, reencode::Error> {
        let mut imports = ImportSection::new();
        if let Some(section) = from.import_section.clone() {
            self.parse_import_section(&mut imports, section)?;
        }
        for (index, (name, ..)) in HOST_IMPORTS.iter().enumerate() {
            imports.import(RESERVED, name, EntityType::Function(self.types + index as u32));
        }
        Ok(imports)
    }

    fn functions(&mut self, from: &Inspected<'_>) -> Result<FunctionSection, reencode::Error> {
        let mut functions = FunctionSection::new();
        if let Some(section) = from.functions.clone() {
            self.parse_function_section(&mut functions, section)?;
        }
        let first = self.types + HOST_IMPORTS.len() as u32;
        for added in 0..=access::ACCESSES.len() as u32 + atomic::FUNCTIONS {
            functions.function(first + added);
        }
        for _ in 0..from.data_count.unwrap_or(0) {
            functions.function(self.types + MEMORY_COPY);
        }
        Ok(functions)
    }

    fn globals(&mut self, from: &Inspected<'_>) -> Result<GlobalSection, reencode::Error> {
        let mut globals = GlobalSection::new();
        if let Some(section) = from.globals.clone() {
            self.parse_global_section(&mut globals, section)?;
        }
        let counter = GlobalType { val_type: I64, mutable: true, shared: false };
        globals.global(counter, &wasm_encoder::ConstExpr::i64_const(0));
        Ok(globals)
    }

    fn exports(&mut self, from: &Inspected<'_>) -> Result<ExportSection, reencode::Error> {
        let mut exports = ExportSection::new();
        if let Some(section) = from.exports.clone() {
            self.parse_export_section(&mut exports, section)?;
        }
        exports.export(COUNTER_EXPORT, ExportKind::Global, self.counter);
        exports.export(MEMORY_EXPORT, ExportKind::Memory, 0);
        if let Build::Fast = self.build {
            exports.export(TAGS_EXPORT, ExportKind::Memory, fast::HOST_MEMORY);
        }
        Ok(exports)
    }

    fn code(&mut self, from: &Inspected<'_>) -> Result<(BranchHints, CodeSection), reencode::Error> {
        let (mut hints, mut code) = (BranchHints::new(), CodeSection::new());
        let first = self.imported + HOST_IMPORTS.len() as u32;
        let mut types = from.functions.clone().into_iter().flatten();
        for (number, body) in from.code.clone().into_iter().flatten().enumerate() {
            let ty = types.next().transpose()?;
            let ty = ty.and_then(|ty| from.function_types.get(ty as usize)?.as_ref());
            let params = ty.map_or(&[][..], |ty| ty.params());
            match self.build {
                Build::Reference => code.function(&code::function(self, &body?)?),
                Build::Fast => {
                    let (function, rarely) = fast::function(self, params, from.to_validate(number), &body?)?;
                    hints.function_hints(first + number as u32, rarely);
                    code.function(&function)
                }
            };
        }
        code.function(&access::poll(self));
        for access in &access::ACCESSES {
            code.function(&access.function(self));
        }
        for function in 0..atomic::FUNCTIONS {
            code.function(&atomic::function(self, function));
        }
        for data in 0..from.data_count.unwrap_or(0) {
            code.function(&access::memory_init(self, data));
        }
        Ok((hints, code))
    }

    /// The program's memory, of its full physical size (its pages are mapped when they are
    /// touched), and the host's.
    fn memories(&self) -> MemorySection {
        let mut memories = MemorySection::new();
        memories.memory(memory(u64::from(SHARED_END)));
        if self.build == Build::Fast {
            memories.memory(memory(tags::BYTES));
        }
        memories
    }
}

/// A memory of a fixed size.
fn memory(bytes: u64) -> MemoryType {
    let pages = bytes.div_ceil(PAGE);
    MemoryType { minimum: pages, maximum: Some(pages), memory64: false, shared: false, page_size_log2: None }
}
