//! Whatever module of the accepted kind is rewritten, it is valid and does what the original does.

use crate::world;
use proptest::prelude::*;
use trivium_guest::{Build, Executed, NodeOutcome, Program, Switching};
use wasm_encoder::reencode::{Reencode, utils};
use wasm_encoder::{CodeSection, ExportKind, ExportSection, Function, FunctionSection, Instruction, TypeSection};
use wasmtime::{Config, Engine, Instance, Module, Store, Trap};

/// What wasm-smith may use: what a program may use.
fn config(traps: bool) -> wasm_smith::Config {
    let mut config = wasm_smith::Config {
        allow_start_export: false,
        bulk_memory_enabled: true,
        canonicalize_nans: false,
        disallow_traps: !traps,
        exceptions_enabled: false,
        export_everything: true,
        extended_const_enabled: false,
        gc_enabled: false,
        max_imports: 0,
        max_memories: 1,
        max_memory32_bytes: 10 * 65536,
        max_table_elements: 1000,
        max_tables: 2,
        memory64_enabled: false,
        memory_max_size_required: true,
        min_data_segments: 1,
        min_funcs: 2,
        min_memories: 1,
        min_types: 3,
        reference_types_enabled: true,
        relaxed_simd_enabled: false,
        simd_enabled: false,
        table_max_size_required: true,
        tail_call_enabled: false,
        threads_enabled: false,
        ..wasm_smith::Config::default()
    };
    // Mostly within memory.
    config.memory_offset_choices = wasm_smith::MemoryOffsetChoices(90, 9, 1);
    config
}

/// Adds a `_start` that calls every function of the module, with zeros.
struct AddStart {
    types: u32,
    functions: u32,
    calls: Vec<wasmparser::FuncType>,
}

impl Reencode for AddStart {
    type Error = std::convert::Infallible;

    fn parse_type_section(
        &mut self,
        types: &mut TypeSection,
        section: wasmparser::TypeSectionReader<'_>,
    ) -> Result<(), wasm_encoder::reencode::Error> {
        utils::parse_type_section(self, types, section)?;
        types.ty().function([], []);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: wasmparser::FunctionSectionReader<'_>,
    ) -> Result<(), wasm_encoder::reencode::Error> {
        utils::parse_function_section(self, functions, section)?;
        functions.function(self.types);
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: wasmparser::ExportSectionReader<'_>,
    ) -> Result<(), wasm_encoder::reencode::Error> {
        utils::parse_export_section(self, exports, section)?;
        exports.export("_start", ExportKind::Func, self.functions);
        exports.export("the memory", ExportKind::Memory, 0);
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: wasmparser::CodeSectionReader<'_>,
    ) -> Result<(), wasm_encoder::reencode::Error> {
        utils::parse_code_section(self, code, section)?;
        let mut start = Function::new([]);
        for (index, ty) in self.calls.clone().into_iter().enumerate() {
            for param in ty.params() {
                start.instruction(&zero(*param));
            }
            start.instruction(&Instruction::Call(index as u32));
            for _ in ty.results() {
                start.instruction(&Instruction::Drop);
            }
        }
        start.instruction(&Instruction::End);
        code.function(&start);
        Ok(())
    }
}

fn zero(ty: wasmparser::ValType) -> Instruction<'static> {
    match ty {
        wasmparser::ValType::I32 => Instruction::I32Const(0),
        wasmparser::ValType::I64 => Instruction::I64Const(0),
        wasmparser::ValType::F32 => Instruction::F32Const(0.0.into()),
        wasmparser::ValType::F64 => Instruction::F64Const(0.0.into()),
        wasmparser::ValType::Ref(ty) if ty == wasmparser::RefType::FUNCREF => {
            Instruction::RefNull(wasm_encoder::HeapType::FUNC)
        }
        _ => Instruction::RefNull(wasm_encoder::HeapType::EXTERN),
    }
}

/// A module with `_start`, from random bytes; none if they do not suffice.
fn generate(bytes: &[u8], traps: bool) -> Option<Vec<u8>> {
    let mut random = arbitrary::Unstructured::new(bytes);
    let mut module = wasm_smith::Module::new(config(traps), &mut random).ok()?;
    module.ensure_termination(2000).ok()?;
    let module = module.to_bytes();
    let mut types = Vec::new();
    let mut add = AddStart { types: 0, functions: 0, calls: Vec::new() };
    for payload in wasmparser::Parser::new(0).parse_all(&module) {
        match payload.expect("wasm-smith makes valid modules") {
            wasmparser::Payload::TypeSection(section) => {
                let groups = section.into_iter_err_on_gc_types();
                types = groups.collect::<Result<Vec<_>, _>>().expect("function types");
            }
            wasmparser::Payload::FunctionSection(section) => {
                let indices = section.into_iter().map(|index| index.expect("an index") as usize);
                add.calls = indices.map(|index| types[index].clone()).collect();
            }
            _ => {}
        }
    }
    if add.calls.is_empty() {
        return None;
    }
    add.types = types.len() as u32;
    add.functions = add.calls.len() as u32;
    let mut with_start = wasm_encoder::Module::new();
    add.parse_core_module(&mut with_start, wasmparser::Parser::new(0), &module).ok()?;
    Some(with_start.finish())
}

/// How a run ended, and what it left in memory.
#[derive(Debug, PartialEq)]
enum End {
    Finished(Vec<u8>),
    Trapped(String, Vec<u8>),
    /// It is not comparable: frames of the two builds differ in size.
    StackOverflow,
    Refused,
}

fn run_original(bytes: &[u8]) -> End {
    let mut config = Config::new();
    config.cranelift_nan_canonicalization(true).wasm_relaxed_simd(false).wasm_simd(false);
    let engine = Engine::new(&config).expect("an engine");
    let module = Module::new(&engine, bytes).expect("wasm-smith makes valid modules");
    let mut store = Store::new(&engine, ());
    let Ok(instance) = Instance::new(&mut store, &module, &[]) else {
        return End::Refused;
    };
    let start = instance.get_typed_func::<(), ()>(&mut store, "_start").expect("added");
    let result = start.call(&mut store, ());
    let memory = instance.get_memory(&mut store, "the memory").expect("exported").data(&store).to_vec();
    match result.map_err(|error| error.downcast_ref::<Trap>().copied()) {
        Ok(()) => End::Finished(memory),
        Err(Some(Trap::StackOverflow)) => End::StackOverflow,
        Err(Some(Trap::MemoryOutOfBounds)) => End::Trapped("out of bounds".into(), memory),
        Err(Some(Trap::UnreachableCodeReached)) => End::Trapped("abort".into(), memory),
        Err(_) => End::Trapped("other".into(), memory),
    }
}

fn run_rewritten(program: &Program, build: Build, patience: u64, length: usize) -> (End, Executed) {
    let (outcome, memory, executed) = world::run_alone(program, build, patience, length);
    let end = match outcome {
        NodeOutcome::Finished { .. } => End::Finished(memory),
        NodeOutcome::Trapped { message, .. } if message.contains("recursion") => End::StackOverflow,
        NodeOutcome::Trapped { message, .. } if message.contains("out of bounds") => {
            End::Trapped("out of bounds".into(), memory)
        }
        NodeOutcome::Trapped { message, .. } if message.contains("beyond its end") => {
            End::Trapped("out of bounds".into(), memory)
        }
        NodeOutcome::Trapped { message, .. } if message.contains("aborted") => End::Trapped("abort".into(), memory),
        NodeOutcome::Trapped { .. } => End::Trapped("other".into(), memory),
        NodeOutcome::Suspended => panic!("it never ends"),
    };
    (end, executed)
}

fn same(bytes: &[u8], traps: bool) -> bool {
    let Some(module) = generate(bytes, traps) else {
        return false;
    };
    let original = run_original(&module);
    let program = match Program::load(&module, "random") {
        Ok(program) => program,
        Err(error) => {
            let of_data = error.message.contains("data") && original == End::Refused;
            let offset = error.message.contains("not a plain constant");
            assert!(of_data || offset, "{error}");
            return false;
        }
    };
    let length = match &original {
        End::Finished(memory) | End::Trapped(_, memory) => memory.len(),
        // Elements out of a table's bounds: found when a node is made.
        End::Refused | End::StackOverflow => return false,
    };
    let (rewritten, executed) = run_rewritten(&program, Build::Reference, 0, length);
    if rewritten == End::StackOverflow {
        return false;
    }
    assert!(rewritten == original, "another end or memory than the original's");
    let fibres = program.clone().switching_by(Switching::Fibres);
    for (program, how, build, patience) in [
        (&program, "default", Build::Reference, 7),
        (&program, "default", Build::Fast, 0),
        (&program, "default", Build::Fast, 7),
        (&fibres, "fibres", Build::Fast, 7),
    ] {
        let (again, count) = run_rewritten(program, build, patience, length);
        if again != End::StackOverflow {
            assert!(again == original, "{build:?}, patience {patience}, {how}: another end or memory");
            assert_eq!(executed, count, "{build:?}, patience {patience}, {how}: another count");
        }
    }
    weighs_the_same(&program, &original, executed.instructions);
    true
}

/// Where operators have weights, both builds agree on the work, and on instructions with everybody else.
fn weighs_the_same(program: &Program, original: &End, instructions: u64) {
    let (End::Finished(memory) | End::Trapped(_, memory)) = original else { return };
    let weighed = program.clone().weighing(world::odd_weights());
    let (end, executed) = run_rewritten(&weighed, Build::Reference, 0, memory.len());
    if end == End::StackOverflow {
        return;
    }
    assert!(end == *original, "another end or memory with weights");
    assert_eq!(executed.instructions, instructions);
    for (build, patience) in [(Build::Reference, 7), (Build::Fast, 0), (Build::Fast, 7)] {
        let (again, count) = run_rewritten(&weighed, build, patience, memory.len());
        if again != End::StackOverflow {
            assert!(again == *original, "{build:?}, patience {patience}, with weights: another end or memory");
            assert_eq!(count, executed, "{build:?}, patience {patience}: other work");
        }
    }
}

proptest! {
    #![proptest_config(world::cases(25))]

    #[test]
    fn rewriting_keeps_what_random_modules_do(
        bytes in proptest::collection::vec(any::<u8>(), 200..4000),
        traps in any::<bool>(),
    ) {
        same(&bytes, traps);
    }
}

proptest! {
    #![proptest_config(world::cases(150))]

    #[test]
    #[ignore = "a third of a minute"]
    fn rewriting_keeps_what_many_random_modules_do(
        bytes in proptest::collection::vec(any::<u8>(), 200..4000),
        traps in any::<bool>(),
    ) {
        same(&bytes, traps);
    }
}

/// The property above would say nothing if most modules were refused.
#[test]
fn most_random_modules_are_compared() {
    most_are_compared(18);
}

#[test]
#[ignore = "ten seconds"]
fn most_of_many_random_modules_are_compared() {
    most_are_compared(60);
}

fn most_are_compared(rounds: usize) {
    let mut state = 1u64;
    let compared = (0..rounds)
        .filter(|round| {
            let bytes: Vec<u8> = (0..3000)
                .map(|_| {
                    state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (state >> 33) as u8
                })
                .collect();
            same(&bytes, round % 2 == 0)
        })
        .count();
    assert!(compared * 3 > rounds, "only {compared} of {rounds}");
}
