//! What is known of a program that was loaded, whatever nodes run it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use trivium_diagnostic::{Code, Diagnostic};

use wasmtime::Module;

use crate::counters::Counters;
use crate::inspect::{CallImport, Import, function_name, inspect};
use crate::library::Instructions;
use crate::native;
use crate::rewrite::{Manner, first_defined, rewrite};
use crate::shelf::Shelf;
use crate::source;
use crate::switching::Switching;

/// A program that was loaded: its module, and what has been made of it.
pub(crate) struct LoadedProgram {
    pub name: String,
    pub hash: String,
    pub bytes: Vec<u8>,
    /// What has been compiled so far.
    pub modules: Mutex<BTreeMap<Manner, Module>>,
    pub imports: Vec<Import>,
    pub calls: Vec<CallImport>,
    /// Initial and greatest private size, in pages.
    pub private_pages: (u64, u64),
    pub function_names: BTreeMap<u32, String>,
    /// Nothing below this address is the program's.
    pub lowest: u64,
    /// The passive data segments, which programs copy themselves; nothing for the others.
    pub data: Vec<Vec<u8>>,
    /// What they tell of its source.
    pub instructions: Instructions,
    /// What is hardly meant.
    pub warnings: Vec<String>,
    /// Its static variables to which it adds.
    pub counters: Counters,
    /// How many functions the program defines.
    pub defined_functions: u32,
    /// Which of these belong to the C library, as far as that has been asked.
    pub of_library: Mutex<BTreeMap<u32, bool>>,
}

impl LoadedProgram {
    /// The program rewritten and compiled in this manner.
    pub fn module(&self, manner: Manner, shelf: Option<&Shelf>) -> Result<Module, Diagnostic> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&manner) {
            return Ok(module.clone());
        }
        let at = |error: Diagnostic| error.at(&self.name);
        let inspected = inspect(&self.bytes, &self.name)?;
        let rewritten = rewrite(&inspected, self.counters.reads(), manner).map_err(at)?;
        let module = native::compile(&rewritten, manner, shelf)
            .map_err(|error| at(Diagnostic::new(Code::Module, format!("the program cannot be compiled: {error:#}"))))?;
        modules.insert(manner, module.clone());
        Ok(module)
    }

    /// Which of the functions that the program defines a function of the rewritten module is; none if it was added.
    pub fn defined_function(&self, index: u32, switching: Switching) -> Option<u32> {
        let defined = index.checked_sub(first_defined(self.imports.len() as u32, switching))?;
        (defined < self.defined_functions).then_some(defined)
    }

    /// Whether a function that the program defines belongs to the C library.
    pub fn is_of_library(&self, defined: u32) -> bool {
        let mut known = self.of_library.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(defined).or_insert_with(|| {
            source::is_of_library(&self.bytes, defined, || self.function_name(defined)).unwrap_or(false)
        })
    }

    /// What messages call a function that the program defines.
    pub fn function_name(&self, defined: u32) -> String {
        function_name(&self.function_names, self.imports.len() as u32 + defined)
    }
}
