//! A program: a module that has been checked, rewritten and compiled.

use std::sync::{Arc, Mutex};
use trivium_diagnostic::{Code, Diagnostic};

use sha2::{Digest, Sha256};
use wasmtime::Module;

use crate::counters::{CounterUse, Counters};
use crate::debug_info::DebugInfo;
use crate::host::known_imports;
use crate::inputs::Inputs;
use crate::inspect::{CallImport, Import, Inspected, inspect};
use crate::lacking;
use crate::library;
use crate::loaded::LoadedProgram;
use crate::rewrite::{Build, Manner};
use crate::shelf::Shelf;
use crate::source;
use crate::switching::Switching;
use crate::tags::Tags;
use crate::translations::TlbShape;
use crate::variables::variables_in;
use crate::weights::OperatorWeights;

/// A program, ready to run on any number of nodes. Cloning is cheap.
#[derive(Clone)]
pub struct Program {
    pub(crate) shared: Arc<LoadedProgram>,
    by_reference: bool,
    pub(crate) inputs: Arc<Inputs>,
    pub(crate) switching: Switching,
    pub(crate) weights: OperatorWeights,
    pub(crate) tlb: Option<TlbShape>,
    looks_ahead: bool,
    /// Where the host's code for it is kept, if anywhere.
    shelf: Option<Shelf>,
}

impl Program {
    /// Checks the WebAssembly module in `bytes`; `name` is for messages. It is rewritten and compiled
    /// when the first node is made, once for each [`Build`].
    ///
    /// # Errors
    /// What is not a core module of the accepted kind is refused: not WebAssembly, invalid, a
    /// component, more than one memory, threads, vectors, exceptions, garbage collection, an
    /// unknown import, no `_start`, functions of the C library that do nothing (threads and mutexes), have no answer (writing
    /// files) or are not atomic (atomic operations on more than 8 bytes).
    pub fn load(bytes: &[u8], name: &str) -> Result<Program, Diagnostic> {
        Program::load_with(bytes, name, "main")
    }

    /// As [`Program::load`], of a program in a language whose programs begin with the function `entry`, from which `main` is made.
    ///
    /// # Errors
    /// As [`Program::load`].
    pub fn load_with(bytes: &[u8], name: &str, entry: &str) -> Result<Program, Diagnostic> {
        let inspected = inspect(bytes, name)?;
        let calls = inspected.calls().map_err(|error| error.at(name))?;
        for import in &inspected.imports {
            check_import(import).map_err(|error| error.at(name))?;
        }
        lacking::check(&inspected, bytes, entry).map_err(|error| error.at(name))?;
        let instructions = library::check(&inspected, bytes, name)?;
        let warnings = library::lost_atomics(&inspected, instructions).into_iter().collect();
        let data = inspected.passive_data();
        let counters = Counters::of(&inspected);
        let Inspected { imports, memory, function_names, defined_functions, lowest, .. } = inspected;
        Ok(Program {
            by_reference: false,
            inputs: Arc::default(),
            switching: Switching::default(),
            weights: OperatorWeights::default(),
            tlb: None,
            looks_ahead: false,
            shelf: None,
            shared: Arc::new(LoadedProgram {
                name: name.to_string(),
                hash: Sha256::digest(source::without_debug(bytes)).iter().map(|byte| format!("{byte:02x}")).collect(),
                bytes: bytes.to_vec(),
                modules: Mutex::default(),
                imports,
                calls,
                private_pages: memory.unwrap_or((0, 0)),
                function_names,
                lowest,
                data,
                instructions,
                warnings,
                counters,
                defined_functions,
                of_library: Mutex::default(),
            }),
        })
    }

    /// The same program, to be run in the reference build, whatever cache there is.
    pub fn by_reference(self) -> Program {
        Program { by_reference: true, ..self }
    }

    /// The same program, which may read this. Without it, standard input is empty and there are no files.
    pub fn reading(self, inputs: Arc<Inputs>) -> Program {
        Program { inputs, ..self }
    }

    /// Whether its nodes may change what they see of a folder.
    pub fn may_write(&self) -> bool {
        self.inputs.written().is_some()
    }

    /// The same program, whose nodes are to take turns in this way.
    pub fn switching_by(self, switching: Switching) -> Program {
        Program { switching, ..self }
    }

    /// The same program, whose operators have these weights: what its processor is told of the [work](crate::Executed) that it has
    /// done depends on them. Without this, each operator is work of 1.
    pub fn weighing(self, weights: OperatorWeights) -> Program {
        Program { weights, ..self }
    }

    /// The same program, for processors with a TLB: in the fast build compiled code looks the page of each access up before anything else,
    /// and a miss is told ([`Processor::has_looked_up`](crate::Processor::has_looked_up)) and changes the node's
    /// [`Translations`](crate::Translations). In the reference build the processor sees to it, which is asked about each access.
    pub fn translating(self, tlb: Option<TlbShape>) -> Program {
        Program { tlb, ..self }
    }

    /// The same program, whose loops look at [tags](Tags) some rounds ahead in the fast build: for processors that allow large pieces
    /// of memory, and for long. It changes nothing in what is asked, nor when. With a TLB it does nothing.
    pub fn looking_ahead(self) -> Program {
        Program { looks_ahead: true, ..self }
    }

    /// The same program, whose compiled code is kept here for the next run.
    pub fn kept_on(self, shelf: Shelf) -> Program {
        Program { shelf: Some(shelf), ..self }
    }

    /// The fastest build in which it may run on a processor whose cache has lines of so many bytes.
    pub fn build(&self, line: u64) -> Build {
        if self.by_reference || !Tags::are_for(line) { Build::Reference } else { Build::Fast }
    }

    /// Compiles it for a processor whose cache has lines of so many bytes. Without this, it is done when the first node is
    /// made.
    ///
    /// # Errors
    /// It cannot be compiled.
    pub fn prepare(&self, line: u64) -> Result<(), Diagnostic> {
        self.module(self.build(line)).map(drop)
    }

    /// The program compiled in this build.
    pub(crate) fn module(&self, build: Build) -> Result<Module, Diagnostic> {
        self.shared.module(self.manner(build), self.shelf.as_ref())
    }

    fn manner(&self, build: Build) -> Manner {
        Manner {
            build,
            switching: self.switching,
            weights: self.weights,
            tlb: self.tlb.filter(|_| build == Build::Fast),
            looks_ahead: self.looks_ahead && build == Build::Fast,
        }
    }

    /// The name that it was loaded under.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Where in its source the code of this build stands.
    ///
    /// # Errors
    /// The program cannot be rewritten, which it has been when any node of it was made.
    pub fn debug_info(&self, build: Build) -> Result<DebugInfo<'_>, Diagnostic> {
        DebugInfo::new(&self.shared, self.manner(build))
    }

    /// Whether it has atomic read-modify-writes, its own or those of `trivium.h`.
    pub fn uses_atomics(&self) -> bool {
        self.shared.instructions.read_modify_write
    }

    /// What in it is hardly meant, in a sentence each, for the user to see.
    pub fn warnings(&self) -> &[String] {
        &self.shared.warnings
    }

    /// What nodes have done with static variables to which they add, where that is hardly meant: one has added to its own and never reads it, and
    /// another reads its own. A sentence for each; nothing where the debug information does not tell the variable's name and line.
    pub fn lost_counts(&self, nodes: &[Vec<CounterUse>]) -> Vec<String> {
        let code = inspect(&self.shared.bytes, self.name())
            .ok()
            .and_then(|module| module.code)
            .map_or(0, |code| code.range().start);
        let told = self.shared.counters.lost(nodes).filter_map(|(counter, adds, reads)| {
            let (file, line) = source::line_of(&self.shared.bytes, code, counter.adds)?;
            // What the library and `trivium.h` count is their own.
            if file.starts_with("libc/") || file.ends_with("/trivium.h") || file == "trivium.h" {
                return None;
            }
            let variable = variables_in(&source::dwarf(&self.shared.bytes)?, &counter.place).into_iter().find(|variable| variable.place.contains(&counter.place.start))?.name;
            Some(format!("{file}:{line}: each node adds to a `{variable}` of its own: node {adds} has never read what it added, and node {reads} has read no other than its own. What nodes share comes from trivium_alloc; trivium_reduce_sum adds what each node has; TRIVIUM_PRIVATE({variable}); says that it is meant"))
        });
        told.collect()
    }

    /// The module as it was before rewriting.
    pub fn bytes(&self) -> &[u8] {
        &self.shared.bytes
    }

    /// Whether it may read standard input, or a file.
    pub fn reads(&self) -> bool {
        self.shared.imports.iter().any(|import| matches!(import.name.as_str(), "fd_read" | "fd_pread"))
    }

    /// SHA-256 of the module as it was before rewriting, without what debuggers want to know, in hexadecimal: where its
    /// sources lie makes no difference.
    pub fn hash(&self) -> &str {
        &self.shared.hash
    }

    /// The protocol calls that it imports, in the order of its imports;
    /// [`Call::Op`](crate::Call::Op) refers to them by index.
    pub fn calls(&self) -> &[CallImport] {
        &self.shared.calls
    }
}

/// An import is a protocol call, or one that the host knows.
fn check_import(import: &Import) -> Result<(), Diagnostic> {
    if import.module.starts_with("trivium:") {
        return Ok(());
    }
    let is_number = |ty: &wasmparser::ValType| matches!(ty, wasmparser::ValType::I32 | wasmparser::ValType::I64);
    let is_wasi = import.ty.results() == [wasmparser::ValType::I32] && import.ty.params().iter().all(is_number);
    if is_wasi && lacking::is_unanswered(&import.module, &import.name) {
        return Ok(());
    }
    let of_module: Vec<_> = known_imports().filter(|known| known.module == import.module).collect();
    let Some(known) = of_module.iter().find(|known| known.name == import.name) else {
        let list = |names: Vec<&str>| names.join(", ");
        let help = if of_module.is_empty() {
            "a program may import from `trivium`, `trivium:PROTOCOL` and `wasi_snapshot_preview1`; a function that is declared but not defined is imported from `env`".to_string()
        } else {
            let names = of_module.iter().map(|known| known.name).collect();
            format!("`{}` has: {}", import.module, list(names))
        };
        let what = format!("the program imports `{}.{}`, which does not exist", import.module, import.name);
        return Err(Diagnostic::new(Code::Module, what).help(help));
    };
    if known.has_type(&import.ty) {
        return Ok(());
    }
    let what = format!("the program imports `{}.{}` with a wrong type", import.module, import.name);
    Err(Diagnostic::new(Code::Module, what)
        .help(format!("its type is {}; include the `trivium.h` of this version", known.describe())))
}
