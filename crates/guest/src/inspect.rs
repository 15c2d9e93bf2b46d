//! Reads a module and refuses, with names and remedies, what cannot be rewritten.

use std::collections::{BTreeMap, BTreeSet};
use trivium_diagnostic::{Code, Diagnostic};

use wasmparser::{
    BinaryReader, CodeSectionReader, CompositeInnerType, DataSectionReader, ElementSectionReader, Encoding,
    ExportSectionReader, ExternalKind, FuncToValidate, FuncType, FunctionSectionReader, GlobalSectionReader,
    ImportSectionReader, KnownCustom, NameSectionReader, Operator, Parser, Payload, TableSectionReader, TypeRef,
    TypeSectionReader, ValType, ValidPayload, Validator, ValidatorResources, WasmFeatures,
};

use crate::atomics::is_atomic;
use crate::memory::PRIVATE_LIMIT;

/// A protocol call that a program imports, from the module `trivium:PROTOCOL`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallImport {
    /// The protocol.
    pub protocol: String,
    /// The operation.
    pub op: String,
    /// The number of arguments, all of them 64-bit integers.
    pub params: usize,
    /// Whether it has a (64-bit integer) result.
    pub has_result: bool,
    /// Its place among the program's imports.
    pub(crate) import: usize,
}

/// Bytes in a Wasm page.
pub(crate) const PAGE: u64 = 65536;

/// The prefix of names that the rewriter gives and a program may not use.
pub(crate) const RESERVED: &str = "trivium-host";

/// What a program may consist of: what C compilers emit by default and atomic operators, without vectors,
/// exceptions and garbage collection.
pub(crate) fn accepted_features() -> WasmFeatures {
    WasmFeatures::MUTABLE_GLOBAL
        | WasmFeatures::SATURATING_FLOAT_TO_INT
        | WasmFeatures::SIGN_EXTENSION
        | WasmFeatures::REFERENCE_TYPES
        | WasmFeatures::CALL_INDIRECT_OVERLONG
        | WasmFeatures::MULTI_VALUE
        | WasmFeatures::BULK_MEMORY
        | WasmFeatures::BULK_MEMORY_OPT
        | WasmFeatures::FLOATS
        | WasmFeatures::EXTENDED_CONST
        | WasmFeatures::GC_TYPES
        | WasmFeatures::THREADS
}

/// A function that the program imports.
pub(crate) struct Import {
    pub module: String,
    pub name: String,
    pub type_index: u32,
    pub ty: FuncType,
}

/// A module taken apart into its sections, known to be acceptable.
#[derive(Default)]
pub(crate) struct Inspected<'a> {
    pub types: Option<TypeSectionReader<'a>>,
    /// The types, flattened; none where a type is not a function's.
    pub function_types: Vec<Option<FuncType>>,
    pub imports: Vec<Import>,
    pub functions: Option<FunctionSectionReader<'a>>,
    pub defined_functions: u32,
    pub tables: Option<TableSectionReader<'a>>,
    /// Initial and greatest private size, in pages; none: the program has no memory.
    pub memory: Option<(u64, u64)>,
    pub globals: Option<GlobalSectionReader<'a>>,
    pub global_count: u32,
    pub exports: Option<ExportSectionReader<'a>>,
    /// Index of the function `_start`.
    pub start: u32,
    pub elements: Option<ElementSectionReader<'a>>,
    pub data_count: Option<u32>,
    pub code: Option<CodeSectionReader<'a>>,
    pub data: Option<DataSectionReader<'a>>,
    pub names: Option<NameSectionReader<'a>>,
    /// For each defined function, what is needed to validate it.
    pub validated: Vec<FuncToValidate<ValidatorResources>>,
    /// The features that it says it was compiled with, if it says so (the section `target_features` of LLVM).
    pub features: Option<BTreeSet<String>>,
    /// The names of the program's functions, by index, as far as it tells them.
    pub function_names: BTreeMap<u32, String>,
    /// Whether a C compiler's linker has laid its memory out.
    is_linked: bool,
    /// Nothing below this address is the program's.
    pub lowest: u64,
}

/// Below this address a C compiler's linker lays nothing but the last bytes of the stack, so that null pointers, and what
/// is found behind them, lie there.
const FIRST_DATA: u64 = crate::tags::FIRST_PUBLISHED as u64;

/// Takes `bytes` apart; `name` is used in messages.
pub(crate) fn inspect<'a>(bytes: &'a [u8], name: &str) -> Result<Inspected<'a>, Diagnostic> {
    let refuse = |error: Diagnostic| {
        if error.places.is_empty() { error.at(name) } else { error }
    };
    check_header(bytes).map_err(refuse)?;
    let mut module = sections(bytes).map_err(refuse)?;
    check_operators(&module, name)?;
    validate(&mut module, bytes).map_err(|error| refuse(invalid(&error)))?;
    module.start = check_entry(&module).map_err(refuse)?;
    let first_data = check_data(&module).map_err(refuse)?;
    module.lowest = if module.is_linked && first_data >= FIRST_DATA { FIRST_DATA } else { 0 };
    Ok(module)
}

/// Validates the module, and keeps what is needed to validate each function again.
fn validate(module: &mut Inspected<'_>, bytes: &[u8]) -> wasmparser::Result<()> {
    let mut validator = Validator::new_with_features(accepted_features());
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(bytes) {
        if let ValidPayload::Func(function, body) = validator.payload(&payload?)? {
            module.validated.push(function);
            bodies.push(body);
        }
    }
    for (number, body) in bodies.iter().enumerate() {
        module.to_validate(number).into_validator(Default::default()).validate(body)?;
    }
    Ok(())
}

fn invalid(error: &wasmparser::BinaryReaderError) -> Diagnostic {
    let what = format!("the WebAssembly module is not valid: {} (at byte {:#x})", error.message(), error.offset());
    Diagnostic::new(Code::Module, what).help("compile the program again, for wasm32-wasi, without extra -m options")
}

fn check_header(bytes: &[u8]) -> Result<(), Diagnostic> {
    if bytes.get(..4) != Some(b"\0asm") {
        return Err(Diagnostic::new(Code::Module, "this is not a WebAssembly module")
            .help("give a .wasm file made by a compiler for wasm32-wasi, or a .c file"));
    }
    if Parser::is_component(bytes) {
        return Err(component());
    }
    Ok(())
}

fn component() -> Diagnostic {
    Diagnostic::new(Code::Module, "this is a WebAssembly component, not a core module")
        .help("compile for wasm32-wasi (preview 1) without making a component")
}

fn sections(bytes: &[u8]) -> Result<Inspected<'_>, Diagnostic> {
    let mut module = Inspected::default();
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| invalid(&error))?;
        section(&mut module, bytes, payload).map_err(|error| match error {
            Refusal::Invalid(error) => invalid(&error),
            Refusal::Refused(error) => error,
        })?;
    }
    Ok(module)
}

enum Refusal {
    Invalid(wasmparser::BinaryReaderError),
    Refused(Diagnostic),
}

impl From<wasmparser::BinaryReaderError> for Refusal {
    fn from(error: wasmparser::BinaryReaderError) -> Refusal {
        Refusal::Invalid(error)
    }
}

impl From<Diagnostic> for Refusal {
    fn from(error: Diagnostic) -> Refusal {
        Refusal::Refused(error)
    }
}

fn section<'a>(module: &mut Inspected<'a>, bytes: &'a [u8], payload: Payload<'a>) -> Result<(), Refusal> {
    match payload {
        Payload::Version { encoding: Encoding::Component, .. } => Err(component())?,
        Payload::TypeSection(reader) => types(module, reader)?,
        Payload::ImportSection(reader) => imports(module, reader)?,
        Payload::FunctionSection(reader) => {
            module.defined_functions = reader.count();
            module.functions = Some(reader);
        }
        Payload::TableSection(reader) => module.tables = Some(reader),
        Payload::MemorySection(reader) => memory(module, reader)?,
        Payload::TagSection(_) => Err(refused_proposal("exceptions"))?,
        Payload::GlobalSection(reader) => {
            module.global_count += reader.count();
            module.globals = Some(reader);
        }
        Payload::ExportSection(reader) => module.exports = Some(reader),
        Payload::StartSection { .. } => Err(Diagnostic::new(Code::Module, "the module has a start function")
            .help("export the entry as `_start` instead: compile as a command, with `main`"))?,
        Payload::ElementSection(reader) => module.elements = Some(reader),
        Payload::DataCountSection { count, .. } => module.data_count = Some(count),
        Payload::CodeSectionStart { range, .. } => {
            // A truncated section: the parser complains about it when it goes on.
            let Some(section) = bytes.get(range.clone()) else {
                return Ok(());
            };
            let reader = BinaryReader::new(section, range.start);
            module.code = Some(CodeSectionReader::new(reader)?);
        }
        Payload::DataSection(reader) => module.data = Some(reader),
        Payload::CustomSection(reader) => {
            if let KnownCustom::Name(names) = reader.as_known() {
                read_names(module, names.clone());
                module.names = Some(names);
            }
            if reader.name() == "target_features" {
                module.is_linked = true;
                module.features = features(reader.data());
            }
        }
        _ => {}
    }
    Ok(())
}

fn types<'a>(module: &mut Inspected<'a>, reader: TypeSectionReader<'a>) -> Result<(), Refusal> {
    for group in reader.clone() {
        for ty in group?.into_types() {
            let function = match ty.composite_type.inner {
                CompositeInnerType::Func(ty) => Some(ty),
                _ => None,
            };
            module.function_types.push(function);
        }
    }
    module.types = Some(reader);
    Ok(())
}

fn imports(module: &mut Inspected<'_>, reader: ImportSectionReader<'_>) -> Result<(), Refusal> {
    for import in reader.into_imports() {
        let import = import?;
        let full = format!("{}.{}", import.module, import.name);
        let TypeRef::Func(type_index) = import.ty else {
            let kind = match import.ty {
                TypeRef::Memory(_) => "memory",
                TypeRef::Global(_) => "global",
                TypeRef::Table(_) => "table",
                _ => "tag",
            };
            Err(Diagnostic::new(Code::Module, format!("the module imports the {kind} `{full}`"))
                .help("a program may import functions only: define the memory, tables and globals in the module"))?
        };
        let ty = module.function_types.get(type_index as usize).cloned().flatten();
        let Some(ty) = ty else {
            Err(Diagnostic::new(Code::Module, format!("the import `{full}` has an unknown type")))?
        };
        module.imports.push(Import { module: import.module.into(), name: import.name.into(), type_index, ty });
    }
    Ok(())
}

fn memory(module: &mut Inspected<'_>, reader: wasmparser::MemorySectionReader<'_>) -> Result<(), Refusal> {
    if reader.count() > 1 {
        Err(Diagnostic::new(Code::Module, format!("the module has {} memories", reader.count()))
            .help("a program has exactly one memory: compile without multiple memories"))?
    }
    for memory in reader {
        let memory = memory?;
        if memory.shared {
            Err(Diagnostic::new(Code::Module, "the module has a shared memory").help(
                "compile without -pthread: every node runs its own program, and what they share comes from trivium_alloc",
            ))?
        }
        if memory.memory64 {
            Err(Diagnostic::new(Code::Module, "the module has a 64-bit memory")
                .help("compile for wasm32-wasi, not wasm64"))?
        }
        let most = u64::from(PRIVATE_LIMIT) / PAGE;
        if memory.initial > most {
            Err(Diagnostic::new(
                Code::Module,
                format!(
                    "the module needs {} bytes of private memory; a node has {PRIVATE_LIMIT}",
                    memory.initial * PAGE
                ),
            )
            .help("make global arrays smaller, or allocate shared memory with trivium_alloc"))?
        }
        module.memory = Some((memory.initial, memory.maximum.unwrap_or(most).min(most)));
    }
    Ok(())
}

/// The features that a section `target_features` says are used; none if it is not well-formed.
fn features(section: &[u8]) -> Option<BTreeSet<String>> {
    let mut reader = BinaryReader::new(section, 0);
    let mut used = BTreeSet::new();
    for _ in 0..reader.read_var_u32().ok()? {
        let prefix = reader.read_u8().ok()?;
        let name = reader.read_string().ok()?;
        if prefix == b'+' {
            used.insert(name.to_string());
        }
    }
    Some(used)
}

/// Reads the name section as far as it is well-formed; names are only for messages.
fn read_names(module: &mut Inspected<'_>, names: NameSectionReader<'_>) {
    for subsection in names.into_iter().flatten() {
        if let wasmparser::Name::Global(map) = &subsection {
            module.is_linked |= map.clone().into_iter().flatten().any(|naming| naming.name == "__stack_pointer");
        }
        if let wasmparser::Name::Function(map) = subsection {
            for naming in map.into_iter().flatten() {
                let name = if is_main(naming.name) { "main" } else { naming.name };
                module.function_names.insert(naming.index, name.to_string());
            }
        }
    }
}

/// Whether this is what C compilers for Wasm make of `main`.
pub(crate) fn is_main(name: &str) -> bool {
    ["__original_main", "__main_argc_argv", "__main_void"].contains(&name)
}

/// The proposal that an operator belongs to, as wasmparser names it.
fn proposal(operator: &Operator<'_>) -> &'static str {
    macro_rules! proposals {
        ($( @$proposal:ident $op:ident $({ $($arg:ident: $ty:ty),* })? => $visit:ident ($($ann:tt)*) )*) => {
            match operator {
                $( Operator::$op { .. } => stringify!($proposal), )*
                _ => "unknown",
            }
        };
    }
    wasmparser::for_each_operator!(proposals)
}

pub(crate) fn is_accepted(proposal: &str) -> bool {
    let accepted = ["mvp", "sign_extension", "saturating_float_to_int", "bulk_memory", "reference_types"];
    accepted.contains(&proposal)
}

fn refused_proposal(proposal: &str) -> Diagnostic {
    let (what, help) = match proposal {
        "threads" => (
            "instructions that wait for another thread, or wake one",
            "use trivium_wait_until_changed, which lets the node wait for a word",
        ),
        "simd" | "relaxed_simd" => ("vector (v128) instructions", "compile with -mno-simd128 (and without -msimd128)"),
        "exceptions" | "legacy_exceptions" => {
            ("exceptions", "compile without -fwasm-exceptions and without setjmp and longjmp")
        }
        "gc" | "custom_descriptors" | "function_references" => {
            ("garbage-collected references", "compile from C, for wasm32-wasi")
        }
        "tail_call" => ("tail calls", "compile without -mtail-call"),
        "wide_arithmetic" => ("wide arithmetic", "compile without -mwide-arithmetic"),
        _ => ("instructions that are not supported", "compile for wasm32-wasi without -m options"),
    };
    Diagnostic::new(Code::Module, format!("the module uses {what}")).help(help)
}

/// Refuses operators of proposals that are not accepted, naming the function.
fn check_operators(module: &Inspected<'_>, name: &str) -> Result<(), Diagnostic> {
    let Some(code) = module.code.clone() else {
        return Ok(());
    };
    for (index, body) in code.into_iter().enumerate() {
        let function = module.function_name(module.imports.len() as u32 + index as u32);
        let check = || -> Result<(), Refusal> {
            for operator in body?.get_operators_reader()? {
                let operator = operator?;
                let proposal = proposal(&operator);
                if !is_accepted(proposal) && !is_atomic(&operator) {
                    Err(refused_proposal(proposal))?
                }
            }
            Ok(())
        };
        check().map_err(|refusal| match refusal {
            Refusal::Invalid(error) => invalid(&error).at(format!("{name}, function `{function}`")),
            Refusal::Refused(error) => error.at(format!("{name}, function `{function}`")),
        })?;
    }
    Ok(())
}

/// A program must export `_start: [] -> []`, of which this is the index, and may not use reserved names.
fn check_entry(module: &Inspected<'_>) -> Result<u32, Diagnostic> {
    let missing = || {
        Diagnostic::new(Code::Module, "the module does not export a function `_start` without parameters and results")
            .help("compile a program with `main`, as a command (not with -mexec-model=reactor or -Wl,--no-entry)")
    };
    let mut start = None;
    for export in module.exports.clone().into_iter().flatten() {
        let export = export.map_err(|error| invalid(&error))?;
        if export.name.starts_with(RESERVED) {
            let what = format!("the module exports the reserved name `{}`", export.name);
            return Err(Diagnostic::new(Code::Module, what).help("give it another name"));
        }
        if export.name == "_start" && export.kind == ExternalKind::Func {
            start = Some(export.index);
        }
    }
    let start = start.ok_or_else(missing)?;
    let ty = module.function_type(start)?;
    if ty.is_some_and(|ty| ty.params().is_empty() && ty.results().is_empty()) { Ok(start) } else { Err(missing()) }
}

/// Active data must lie in the initial private memory: the physical memory is larger, so the
/// instantiation itself would not notice. Gives the lowest address of data.
fn check_data(module: &Inspected<'_>) -> Result<u64, Diagnostic> {
    let bytes = module.memory.map_or(0, |(initial, _)| initial * PAGE);
    let mut lowest = u64::MAX;
    for data in module.data.clone().into_iter().flatten() {
        let data = data.map_err(|error| invalid(&error))?;
        let wasmparser::DataKind::Active { offset_expr, .. } = data.kind else {
            continue;
        };
        let mut operators = offset_expr.get_operators_reader();
        let first = operators.read().map_err(|error| invalid(&error))?;
        let second = operators.read().map_err(|error| invalid(&error))?;
        let (Operator::I32Const { value }, Operator::End) = (first, second) else {
            return Err(Diagnostic::new(Code::Module, "a data segment's address is not a plain constant")
                .help("link the program statically, without -fPIC and -shared"));
        };
        if u64::from(value as u32) + data.data.len() as u64 > bytes {
            return Err(Diagnostic::new(
                Code::Module,
                format!(
                    "{} bytes of data at {:#x} lie outside the program's memory of {bytes} bytes",
                    data.data.len(),
                    value as u32
                ),
            ));
        }
        lowest = lowest.min(u64::from(value as u32));
    }
    Ok(lowest)
}

impl Inspected<'_> {
    /// What is needed to validate a defined function, by its number.
    pub(crate) fn to_validate(&self, number: usize) -> FuncToValidate<ValidatorResources> {
        let FuncToValidate { resources, index, ty, features } = &self.validated[number];
        FuncToValidate { resources: resources.clone(), index: *index, ty: *ty, features: *features }
    }

    /// How many parameters a defined function has, by its number.
    pub(crate) fn params_of(&self, number: usize) -> Option<u32> {
        let ty = self.validated.get(number)?.ty;
        Some(self.function_types.get(ty as usize)?.as_ref()?.params().len() as u32)
    }

    /// The contents of the passive data segments, by index; nothing for the others.
    pub(crate) fn passive_data(&self) -> Vec<Vec<u8>> {
        let contents = |data: wasmparser::Data<'_>| match data.kind {
            wasmparser::DataKind::Passive => data.data.to_vec(),
            wasmparser::DataKind::Active { .. } => Vec::new(),
        };
        self.data.clone().into_iter().flatten().flatten().map(contents).collect()
    }

    /// What messages call the function with this index.
    pub(crate) fn function_name(&self, index: u32) -> String {
        function_name(&self.function_names, index)
    }

    fn function_type(&self, index: u32) -> Result<Option<&FuncType>, Diagnostic> {
        let index = index as usize;
        if let Some(import) = self.imports.get(index) {
            return Ok(Some(&import.ty));
        }
        let mut defined = self.functions.clone().into_iter().flatten();
        let ty = defined.nth(index - self.imports.len());
        let Some(ty) = ty else { return Ok(None) };
        let ty = ty.map_err(|error| invalid(&error))?;
        Ok(self.function_types.get(ty as usize).and_then(Option::as_ref))
    }

    /// The protocol calls that the program imports: modules `trivium:PROTOCOL`.
    pub(crate) fn calls(&self) -> Result<Vec<CallImport>, Diagnostic> {
        let mut calls = Vec::new();
        for (import, from) in self.imports.iter().enumerate() {
            let Some(protocol) = from.module.strip_prefix("trivium:") else {
                continue;
            };
            let words = |types: &[ValType]| types.iter().all(|ty| *ty == ValType::I64);
            let (params, results) = (from.ty.params(), from.ty.results());
            if !words(params) || !words(results) || results.len() > 1 {
                return Err(Diagnostic::new(Code::Module, format!(
                    "the protocol call `{}.{}` is declared with another type than int64_t",
                    from.module, from.name
                ))
                .help("every parameter and the result of a protocol call is int64_t (or void): use the header made from the protocol"));
            }
            calls.push(CallImport {
                protocol: protocol.into(),
                op: from.name.clone(),
                params: params.len(),
                has_result: !results.is_empty(),
                import,
            });
        }
        Ok(calls)
    }
}

/// What messages call the function with this index, given the names that are known.
pub(crate) fn function_name(names: &BTreeMap<u32, String>, index: u32) -> String {
    names.get(&index).cloned().unwrap_or_else(|| format!("#{index}"))
}
