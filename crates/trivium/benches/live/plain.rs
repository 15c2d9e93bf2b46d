//! A program's own module, run by Wasmtime alone, on one node: no checks of accesses, no polls, no counting.

use std::path::Path;
use std::time::Instant;
use wasmtime::{Caller, Engine, Extern, Linker, Memory, Module, Result, Store};

/// A module that is compiled.
pub struct Plain {
    engine: Engine,
    module: Module,
}

/// What a running module needs.
#[derive(Default)]
struct State {
    args: Vec<String>,
    begun: Option<Instant>,
    seconds: f64,
}

/// Bytes of a page of WebAssembly.
const PAGE: u64 = 65_536;

impl Plain {
    pub fn load(path: &Path) -> Plain {
        let engine = Engine::default();
        let bytes = std::fs::read(path).expect("the module was just written");
        let module = Module::new(&engine, bytes).unwrap_or_else(|error| panic!("{error:#}"));
        Plain { engine, module }
    }

    /// Runs it; the seconds of its region of interest.
    pub fn seconds(&self, args: &[&str]) -> f64 {
        let args = std::iter::once("program").chain(args.iter().copied()).map(String::from).collect();
        let mut store = Store::new(&self.engine, State { args, ..State::default() });
        let ran = self.linker(&mut store).and_then(|linker| {
            let instance = linker.instantiate(&mut store, &self.module)?;
            instance.get_typed_func::<(), ()>(&mut store, "_start")?.call(&mut store, ())
        });
        let ended = ran.map_or_else(|error| error.root_cause().to_string() == ENDED, |()| true);
        assert!(ended && store.data().seconds > 0.0, "the module has not come to its end");
        store.data().seconds
    }

    fn linker(&self, store: &mut Store<State>) -> Result<Linker<State>> {
        let mut linker = Linker::new(&self.engine);
        linker.func_wrap("trivium", "nodes", || 1i32)?;
        linker.func_wrap("trivium", "alloc", allocate)?;
        linker.func_wrap("trivium", "begin", |mut caller: Caller<'_, State>| {
            caller.data_mut().begun = Some(Instant::now());
        })?;
        linker.func_wrap("trivium", "end", |mut caller: Caller<'_, State>| {
            let state = caller.data_mut();
            state.seconds = state.begun.map_or(0.0, |begun| begun.elapsed().as_secs_f64());
        })?;
        let wasi = "wasi_snapshot_preview1";
        linker.func_wrap(
            wasi,
            "args_sizes_get",
            |mut caller: Caller<'_, State>, count: i32, bytes: i32| -> Result<i32> {
                let args = &caller.data().args;
                let (many, long) = (args.len() as i32, args.iter().map(|arg| arg.len() + 1).sum::<usize>() as i32);
                write(&mut caller, count, &many.to_le_bytes())?;
                write(&mut caller, bytes, &long.to_le_bytes())?;
                Ok(0)
            },
        )?;
        linker.func_wrap(
            wasi,
            "args_get",
            |mut caller: Caller<'_, State>, places: i32, mut at: i32| -> Result<i32> {
                for (number, arg) in (0..).zip(caller.data().args.clone()) {
                    write(&mut caller, places + 4 * number, &at.to_le_bytes())?;
                    let text = [arg.as_bytes(), &[0]].concat();
                    write(&mut caller, at, &text)?;
                    at += text.len() as i32;
                }
                Ok(0)
            },
        )?;
        linker.func_wrap(
            wasi,
            "fd_write",
            |mut caller: Caller<'_, State>, _: i32, places: i32, count: i32, written: i32| -> Result<i32> {
                let mut bytes = 0u32;
                for place in 0..count {
                    let mut length = [0; 4];
                    memory(&mut caller)?.read(&caller, (places + 8 * place + 4) as usize, &mut length)?;
                    bytes += u32::from_le_bytes(length);
                }
                write(&mut caller, written, &bytes.to_le_bytes())?;
                Ok(0)
            },
        )?;
        linker.func_wrap(wasi, "proc_exit", |_: i32| -> Result<()> { Err(wasmtime::Error::msg(ENDED)) })?;
        linker.define_unknown_imports_as_default_values(store, &self.module)?;
        Ok(linker)
    }
}

/// What a program that calls `exit` ends with.
const ENDED: &str = "the program has ended";

/// Shared memory of one node: pages behind what it has.
fn allocate(mut caller: Caller<'_, State>, bytes: i64, _: i32, _: i32, _: i32) -> Result<i32> {
    let memory = memory(&mut caller)?;
    let from = memory.grow(&mut caller, (bytes as u64).div_ceil(PAGE))?;
    Ok((from * PAGE) as i32)
}

fn memory(caller: &mut Caller<'_, State>) -> Result<Memory> {
    caller.get_export("memory").and_then(Extern::into_memory).ok_or_else(|| wasmtime::Error::msg("no memory"))
}

fn write(caller: &mut Caller<'_, State>, at: i32, bytes: &[u8]) -> Result<()> {
    memory(caller)?.write(caller, at as usize, bytes)?;
    Ok(())
}
