//! The C compiler: where it is, and how it is started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use trivium_diagnostic::{Code, Diagnostic};

/// The date that a program's `__DATE__` and `__TIME__` tell, in seconds since 1970: the first of January 2000.
const DATE: &str = "946684800";

/// The C compiler: Zig's, as the Python package `ziglang` brings it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// The compiler itself, by its absolute path.
    pub zig: PathBuf,
    /// What tells this compiler from another one.
    pub version: String,
}

impl Toolchain {
    /// Looks for a Python that has the compiler: that of the environment variable `TRIVIUM_PYTHON`, else the
    /// `.venv` beside this executable or in a folder above it, if it is of the same owner, else `python3` of the
    /// search path. The folder that one works in is not looked at: it may be a stranger's.
    ///
    /// # Errors
    /// None of them has it.
    pub fn find() -> Result<Toolchain, Diagnostic> {
        if let Some(python) = std::env::var_os("TRIVIUM_PYTHON") {
            let python = PathBuf::from(python);
            return Toolchain::of(&python).ok_or_else(|| {
                Diagnostic::new(Code::Compiler, "the Python of TRIVIUM_PYTHON has no C compiler (package ziglang)")
                    .at(python.display().to_string())
                    .help("run `make setup`, or unset TRIVIUM_PYTHON")
            });
        }
        let own = own_environment().and_then(|python| Toolchain::of(&python));
        own.or_else(|| on_the_path("python3").and_then(|python| Toolchain::of(&python))).ok_or_else(|| {
            Diagnostic::new(Code::Compiler, "there is no C compiler (the Python package ziglang)").help(
                "run `make setup`, which installs it beside this program; or name a Python that has it in \
                 TRIVIUM_PYTHON; or give a .wasm file",
            )
        })
    }

    /// The compiler of this Python, if it has one.
    pub fn of(python: &Path) -> Option<Toolchain> {
        let python = std::path::absolute(python).ok()?;
        let package = in_environment(&python).or_else(|| told_by(&python))?;
        let zig = package.join(if cfg!(windows) { "zig.exe" } else { "zig" });
        let about = fs::metadata(&zig).ok().filter(fs::Metadata::is_file)?;
        // The file itself is told apart: to ask it for its version would take longer than to find a kept program.
        let changed = about.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let version = format!("{} {} {}", zig.display(), about.len(), changed.as_nanos());
        Some(Toolchain { zig, version })
    }

    /// The folder with the compiler's own headers and libraries.
    pub(crate) fn library(&self) -> PathBuf {
        self.zig.with_file_name("lib")
    }

    /// The compiler, ready to be started. What it does depends on its arguments alone: its environment is empty.
    /// `lasting` keeps its C library, `scratch` what it makes of a program: its own cache does not notice a new
    /// header that stands before another.
    pub fn command(&self, lasting: &Path, scratch: &Path) -> Command {
        let mut command = Command::new(&self.zig);
        command.env_clear();
        for kept in ["TMPDIR", "SystemRoot", "TEMP", "TMP"] {
            command.envs(std::env::var_os(kept).map(|value| (kept, value)));
        }
        command.env("ZIG_GLOBAL_CACHE_DIR", lasting).env("ZIG_LOCAL_CACHE_DIR", scratch);
        command.env("SOURCE_DATE_EPOCH", DATE);
        command
    }
}

/// The Python of the `.venv` in a folder above this executable. Someone else's is not used: everyone may make one in
/// a folder such as that of temporary files.
fn own_environment() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let owner = owner(&program)?;
    let above = program.ancestors().map(|folder| folder.join(".venv"));
    let own = |folder: &PathBuf| self::owner(folder).is_some_and(|of| of == owner || of == 0);
    above.filter(own).map(|folder| python_in(&folder)).find(|python| python.exists())
}

fn python_in(environment: &Path) -> PathBuf {
    environment.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

#[cfg(unix)]
fn owner(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|about| about.uid())
}

#[cfg(not(unix))]
fn owner(path: &Path) -> Option<u32> {
    path.exists().then_some(0)
}

/// A program of the search path, but for places that depend on the folder one works in.
fn on_the_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&path).filter(|place| place.is_absolute());
    places.find_map(|place| Some(place.join(name)).filter(|file| file.is_file()))
}

/// Where a virtual environment keeps the package: found without starting its Python, which takes longer than all else.
fn in_environment(python: &Path) -> Option<PathBuf> {
    let environment = python.parent()?.parent()?;
    if !environment.join("pyvenv.cfg").is_file() {
        return None;
    }
    let mut places: Vec<PathBuf> =
        fs::read_dir(environment.join("lib")).ok()?.flatten().map(|entry| entry.path()).collect();
    places.sort();
    places.push(environment.join("Lib"));
    places.into_iter().map(|place| place.join("site-packages/ziglang")).find(|package| package.is_dir())
}

/// Where a Python says that it has the package. It is isolated: neither its environment nor the folder that one works
/// in adds to where it looks.
fn told_by(python: &Path) -> Option<PathBuf> {
    let ask = "import ziglang, os; print(os.path.dirname(os.path.abspath(ziglang.__file__)))";
    let output = Command::new(python).args(["-I", "-c", ask]).output().ok()?;
    let told = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end());
    (output.status.success() && told.is_absolute()).then_some(told)
}
