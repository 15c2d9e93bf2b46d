//! Compiles C to WebAssembly with the pinned compiler, and keeps what it has compiled.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};
use wasm_encoder::RawSection;
use wasmparser::{Parser, Payload};

use crate::error::Error;

/// The compiler's flags, but for paths. 1 MiB of stack. Without `-matomics` the compiler would make plain loads and
/// stores of C's atomic operations, without a word. Without `-g` the linker takes the names of functions away; the
/// debug sections are removed later.
const FLAGS: [&str; 9] =
    ["-target", "wasm32-wasi", "-matomics", "-O2", "-g", "-Wall", "-Wextra", "-Wl,-z,stack-size=1048576", "-lm"];

/// The C compiler: Zig's, as the Python package `ziglang`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The Python that has the package.
    pub python: PathBuf,
    /// What the compiler says of its version.
    pub version: String,
}

impl Toolchain {
    /// Looks for a Python that has the compiler: that of the environment variable
    /// `TRIVIUM_PYTHON`, else `.venv/bin/python` in this directory or one above it, or in one
    /// above this executable, else `python3`.
    ///
    /// # Errors
    /// None of them has it.
    pub fn find() -> Result<Toolchain, Error> {
        if let Some(python) = std::env::var_os("TRIVIUM_PYTHON") {
            let python = PathBuf::from(python);
            return Toolchain::of(&python).ok_or_else(|| {
                Error::new("the Python of TRIVIUM_PYTHON has no C compiler (package ziglang)")
                    .at(python.display().to_string())
                    .help("run `make setup`, or unset TRIVIUM_PYTHON")
            });
        }
        let places = [std::env::current_dir(), std::env::current_exe()];
        let above = places.iter().flatten().flat_map(|place| place.ancestors());
        let environments = above.map(|place| place.join(".venv/bin/python")).filter(|python| python.exists());
        environments.chain([PathBuf::from("python3")]).find_map(|python| Toolchain::of(&python)).ok_or_else(|| {
            Error::new("there is no C compiler (the Python package ziglang)")
                .help("run `make setup`, which installs it, or give a .wasm file")
        })
    }

    fn of(python: &Path) -> Option<Toolchain> {
        let output = Command::new(python).args(["-m", "ziglang", "version"]).output().ok()?;
        if !output.status.success() {
            return None;
        }
        let version = String::from_utf8_lossy(&output.stdout).trim().to_string();
        Some(Toolchain { python: python.to_path_buf(), version })
    }
}

/// How to compile.
#[derive(Debug, Clone)]
pub struct CompileOptions {
    /// Where `#include` looks, in this order, after the source's own directory.
    pub include_dirs: Vec<PathBuf>,
    /// Where compiled programs are kept; it is made if it is missing.
    pub cache_dir: PathBuf,
    /// The compiler; none: [`Toolchain::find`].
    pub toolchain: Option<Toolchain>,
}

impl CompileOptions {
    /// Options with the user's cache directory (`XDG_CACHE_HOME`, else `.cache` at home, else
    /// that of temporary files).
    pub fn new(include_dirs: Vec<PathBuf>) -> CompileOptions {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let cache = set("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))
            .unwrap_or_else(std::env::temp_dir);
        CompileOptions { include_dirs, cache_dir: cache.join("trivium"), toolchain: None }
    }
}

/// Compiles the C file at `path` to a WebAssembly module.
///
/// The result is kept under a hash of all its inputs (compiler, flags, the source and every C
/// file and header beside it and in the include directories), and found again next time.
///
/// # Errors
/// The file or a directory cannot be read or written, there is no compiler, or the compiler
/// refuses the source: then its own messages are in the error as they are.
pub fn compile_c(path: &Path, options: &CompileOptions) -> Result<Vec<u8>, Error> {
    let toolchain = match &options.toolchain {
        Some(toolchain) => toolchain.clone(),
        None => Toolchain::find()?,
    };
    let hash = hash_inputs(path, options, &toolchain)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let kept = options.cache_dir.join(format!("{stem}-{hash}.wasm"));
    if let Ok(bytes) = fs::read(&kept) {
        return Ok(bytes);
    }
    let cannot_write = |error: std::io::Error| {
        Error::new(format!("the cache of compiled programs cannot be written: {error}"))
            .at(options.cache_dir.display().to_string())
    };
    fs::create_dir_all(&options.cache_dir).map_err(cannot_write)?;
    let scratch = tempfile::tempdir_in(&options.cache_dir).map_err(cannot_write)?;
    let compiled = scratch.path().join("program.wasm");
    run_compiler(path, options, &toolchain, &compiled)?;
    let bytes = fs::read(&compiled).map_err(cannot_write)?;
    let bytes = without_debug(&bytes).map_err(|error| {
        Error::new(format!("the C compiler made an invalid module: {error}")).at(path.display().to_string())
    })?;
    fs::write(&compiled, &bytes).map_err(cannot_write)?;
    // A rename: the file appears whole or not at all.
    fs::rename(&compiled, &kept).map_err(cannot_write)?;
    Ok(bytes)
}

fn run_compiler(path: &Path, options: &CompileOptions, toolchain: &Toolchain, into: &Path) -> Result<(), Error> {
    let mut command = Command::new(&toolchain.python);
    command.args(["-m", "ziglang", "cc"]);
    for dir in &options.include_dirs {
        command.arg("-I").arg(dir);
    }
    command.arg(path).args(FLAGS).arg("-o").arg(into);
    let output = command.output().map_err(|error| {
        Error::new(format!("the C compiler cannot be started: {error}"))
            .at(toolchain.python.display().to_string())
            .help("run `make setup`")
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(Error::new(format!("the C compiler refuses the program:\n{}", said.trim_end()))
            .at(path.display().to_string())
            .help("correct what the compiler names above"));
    }
    // Warnings are the user's to see, once: a program found in the cache is silent.
    let _ = std::io::stderr().write_all(&output.stderr);
    Ok(())
}

/// The module without custom sections but the names: debug information is 50 times larger than
/// the code, and tells where on this machine the sources lie.
fn without_debug(module: &[u8]) -> wasmparser::Result<Vec<u8>> {
    let mut stripped = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(module) {
        let payload = payload?;
        if let Payload::CustomSection(section) = &payload
            && section.name() != "name"
        {
            continue;
        }
        if let Some((id, range)) = payload.as_section() {
            stripped.section(&RawSection { id, data: &module[range] });
        }
    }
    Ok(stripped.finish())
}

fn hash_inputs(path: &Path, options: &CompileOptions, toolchain: &Toolchain) -> Result<String, Error> {
    let mut hash = Sha256::new();
    // Lengths keep neighbours apart.
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(toolchain.version.as_bytes());
    for flag in FLAGS {
        add(flag.as_bytes());
    }
    add(path.as_os_str().as_encoded_bytes());
    add(&read(path)?);
    let beside = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let mut files = Vec::new();
    sources_in(&beside, false, &mut files)?;
    for dir in &options.include_dirs {
        add(dir.as_os_str().as_encoded_bytes());
        sources_in(dir, true, &mut files)?;
    }
    for file in files {
        add(file.as_os_str().as_encoded_bytes());
        add(&read(&file)?);
    }
    Ok(hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path)
        .map_err(|error| Error::new(format!("the file cannot be read: {error}")).at(path.display().to_string()))
}

/// All C files and headers in a directory, in the order of their names.
fn sources_in(dir: &Path, recursive: bool, into: &mut Vec<PathBuf>) -> Result<(), Error> {
    let unreadable = |error: std::io::Error| {
        Error::new(format!("the directory cannot be read: {error}")).at(dir.display().to_string())
    };
    let mut entries = Vec::new();
    for entry in fs::read_dir(dir).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() {
            if recursive {
                sources_in(&path, true, into)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "h" || extension == "c") {
            into.push(path);
        }
    }
    Ok(())
}
