//! What a program calls and nobody has: functions without a body, and functions of WASI that have no answer here. They
//! are told as the calls that the program's author wrote, with their lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use trivium_diagnostic::{Code, Diagnostic};

use wasmparser::Operator;

use crate::inspect::{Inspected, function_name, inspect};
use crate::source::{Finder, SourceLocation};

/// Functions of WASI preview 1 that have no answer. A C library may contain them without calling them.
pub(crate) const UNANSWERED: [&str; 12] = [
    "fd_fdstat_set_rights",
    "fd_filestat_set_times",
    "fd_renumber",
    "path_filestat_set_times",
    "path_link",
    "path_readlink",
    "path_symlink",
    "proc_raise",
    "sock_accept",
    "sock_recv",
    "sock_send",
    "sock_shutdown",
];

/// Why a function of other systems' C libraries is not there, and what there is instead.
fn why(function: &str) -> Option<&'static str> {
    const PROCESSES: &str = "a node runs one program and starts no other: let nodes share the work, by trivium_node()";
    const SOCKETS: &str =
        "there is no network but the machine's: nodes talk through shared memory and calls of protocols";
    const SIGNALS: &str = "nothing interrupts a program";
    const LINKS: &str = "links are followed as long as they stay in the folder, and are neither made nor read";
    const TEMPORARY: &str = "write a file under a name of your own, in the folder that --dir-rw names";
    const TIMES: &str = "files have no times";
    const THREADS: &str = crate::library::IN_PLACE_OF_THREADS;
    Some(match function {
        "fork" | "vfork" | "system" | "popen" | "pclose" | "wait" | "waitpid" | "wait3" | "wait4" | "pipe"
        | "pipe2" | "dup" | "dup2" | "getppid" => PROCESSES,
        name if name.starts_with("exec") || name.starts_with("posix_spawn") => PROCESSES,
        "socket" | "socketpair" | "connect" | "bind" | "listen" | "accept" | "accept4" | "recv" | "recvfrom"
        | "send" | "sendto" | "shutdown" | "getaddrinfo" | "gethostbyname" | "setsockopt" => SOCKETS,
        "signal" | "sigaction" | "kill" | "raise" | "alarm" | "setitimer" | "pause" | "sigprocmask" => SIGNALS,
        "link" | "symlink" | "readlink" | "realpath" => LINKS,
        "tmpfile" | "tmpnam" | "mkstemp" | "mkdtemp" | "mktemp" => TEMPORARY,
        "utime" | "utimes" | "utimensat" | "futimens" => TIMES,
        "call_once" => THREADS,
        name if is_of_threads(name) => THREADS,
        "atomic" | "atomic_i" | "am_request" | "am_reply" => ACTIVE_MESSAGES,
        "g_malloc" => "all_spread_malloc() gives memory on all processors, and toglobal(MYPROC, malloc()) on this one",
        "setjmp" | "longjmp" | "sigsetjmp" | "siglongjmp" => JUMPS,
        _ => return None,
    })
}

const ACTIVE_MESSAGES: &str =
    "no function is run on another processor: use fetch_and_add, exchange and compare_and_swap, or a trivium_lock_t";
const JUMPS: &str = "return through the callers";

/// Headers of other ways to run in parallel, what they are of, and what there is instead.
const OTHER_WAYS: [(&str, &str, &str); 2] = [
    ("omp.h", "OpenMP", crate::library::IN_PLACE_OF_THREADS),
    (
        "mpi.h",
        "MPI",
        "trivium_node() is the rank and trivium_nodes() the size; nodes share memory of trivium_alloc, wait for each other by trivium_barrier(), and send by calls of protocols (`channel`, `remote-write`)",
    ),
];

/// Whether it is a function of threads, semaphores, mutexes or conditions, as POSIX or C11 have them.
fn is_of_threads(function: &str) -> bool {
    let of = |kind: &str, known: &[&str]| function.strip_prefix(kind).is_some_and(|rest| known.contains(&rest));
    function.starts_with("pthread_")
        || of(
            "sem_",
            &["init", "destroy", "wait", "trywait", "timedwait", "post", "getvalue", "open", "close", "unlink"],
        )
        || of("mtx_", &["init", "destroy", "lock", "trylock", "timedlock", "unlock"])
        || of("cnd_", &["init", "destroy", "wait", "timedwait", "signal", "broadcast"])
        || of("thrd_", &["create", "join", "detach", "exit", "current", "equal", "yield", "sleep"])
        || of("tss_", &["create", "delete", "get", "set"])
}

/// What to do about calls of these functions.
fn help<'a>(functions: impl IntoIterator<Item = &'a str>) -> String {
    let reasons: BTreeSet<&str> = functions.into_iter().filter_map(why).collect();
    let reasons: Vec<&str> = reasons.into_iter().collect();
    reasons.join("; ")
}

/// A help for the compiler's errors, if it has been asked for functions that other systems have.
pub(crate) fn help_for_undeclared(said: &str) -> Option<String> {
    let undeclared: BTreeSet<&str> = said
        .split("call to undeclared function '")
        .skip(1)
        .chain(said.split("call to undeclared library function '").skip(1))
        .filter_map(|rest| rest.split('\'').next())
        .filter(|function| why(function).is_some())
        .collect();
    let told: Vec<String> = undeclared.iter().map(|function| format!("`{function}`")).collect();
    let are = if told.len() > 1 { "are" } else { "is" };
    (!told.is_empty())
        .then(|| format!("{} {are} not in the C library for programs: {}", told.join(", "), help(undeclared)))
}

/// What to do about a header of the C library, or of another system, that no program can have.
pub(crate) fn help_for_other_ways(said: &str) -> Option<String> {
    let missing = OTHER_WAYS.iter().find(|(header, ..)| said.contains(&format!("'{header}' file not found")));
    let told = missing.map(|(_, name, instead)| format!("a program has no {name}: {instead}"));
    let jumps = || format!("`setjmp` and `longjmp` are not in the C library for programs: {JUMPS}");
    told.or_else(|| said.contains("Setjmp/longjmp support requires").then(jumps))
}

/// What is said after the compiler's warnings, if it passes over directives of OpenMP: every node then does all of the work.
pub(crate) fn note_for_directives(said: &str) -> Option<String> {
    let (_, name, instead) = OTHER_WAYS[0];
    said.contains("'#pragma omp")
        .then(|| format!("note: a program has no {name}, and each node does all of it: {instead}\n"))
}

/// What to do about a header that is not found, but lies with Trivium's own in one of these folders; nothing if there is none such.
pub(crate) fn help_for_header(said: &str, folders: &[PathBuf]) -> Option<String> {
    let lines = said.lines().filter_map(|line| line.strip_suffix("' file not found"));
    let names: BTreeSet<&str> = lines.filter_map(|line| line.rsplit('\'').next()).collect();
    let own = |name: &&str| -> Option<String> {
        let file = Path::new(name).file_name()?;
        let own = Path::new("trivium").join(file);
        let is_there = folders.iter().any(|folder| folder.join(&own).is_file());
        is_there.then(|| format!("#include <{}>", own.display()))
    };
    let found: Vec<String> = names.iter().filter_map(own).collect();
    (!found.is_empty()).then(|| format!("headers of protocols lie in trivium/: write {}", found.join(", ")))
}

/// Calls of one function.
struct Called {
    function: String,
    places: BTreeSet<SourceLocation>,
}

impl Called {
    fn told(&self) -> String {
        const MOST: usize = 3;
        let mut places: Vec<String> = self.places.iter().take(MOST).map(ToString::to_string).collect();
        if self.places.len() > MOST {
            places.push(format!("and {} more", self.places.len() - MOST));
        }
        match places.is_empty() {
            true => format!("`{}`", self.function),
            false => format!("`{}` ({})", self.function, places.join(", ")),
        }
    }
}

/// All direct calls of a module: who calls whom, and where.
struct Calls<'a> {
    module: &'a Inspected<'a>,
    finder: Finder<'a>,
    /// By the function that is called: the calling function, and where the call stands.
    of: BTreeMap<u32, Vec<(u32, usize)>>,
}

impl<'a> Calls<'a> {
    fn new(module: &'a Inspected<'a>, bytes: &'a [u8]) -> Calls<'a> {
        let mut of: BTreeMap<u32, Vec<(u32, usize)>> = BTreeMap::new();
        for (caller, body) in (module.imports.len() as u32..).zip(module.code.clone().into_iter().flatten()) {
            let Ok(operators) = body.and_then(|body| body.get_operators_reader()) else { continue };
            for (operator, at) in operators.into_iter_with_offsets().flatten() {
                if let Operator::Call { function_index } = operator {
                    of.entry(function_index).or_default().push((caller, at));
                }
            }
        }
        let code = module.code.as_ref().map_or(0, |code| code.range().start);
        Calls { module, finder: Finder::new(bytes, code), of }
    }

    /// The program's own calls that lead to an import: of functions of the C library, or of the import itself.
    fn leading_to(&self, import: u32) -> Vec<Called> {
        let mut called = Vec::new();
        let mut seen = BTreeSet::from([import]);
        let mut next = vec![import];
        while let Some(function) = next.pop() {
            let mut places = BTreeSet::new();
            for &(caller, at) in self.of.get(&function).into_iter().flatten() {
                let name = function_name(&self.module.function_names, caller);
                let place = self.finder.place(at, name);
                match self.is_library(&place, function, import) {
                    false => drop(places.insert(place)),
                    true if seen.insert(caller) => next.push(caller),
                    true => {}
                }
            }
            if !places.is_empty() {
                called.push(Called { function: self.name(function), places });
            }
        }
        called.sort_by(|a, b| a.function.cmp(&b.function));
        called
    }

    /// Whether a call that stands there is the C library's own. Where lines are not known, only what calls an import does,
    /// and what has a name that is kept for libraries.
    fn is_library(&self, place: &SourceLocation, called: u32, import: u32) -> bool {
        match &place.line {
            Some(_) => place.is_library(),
            None => self.finder.knows_lines() || called == import || place.function.starts_with("__"),
        }
    }

    /// What a program's author calls a function.
    fn name(&self, function: u32) -> String {
        match self.module.imports.get(function as usize) {
            Some(import) => import.name.clone(),
            None => function_name(&self.module.function_names, function).trim_start_matches("__").to_string(),
        }
    }
}

/// Looks for what a program cannot do without: `main`, and answers to the functions of WASI to which its calls lead. What the C
/// library only contains is no error. `entry`: what programs of this language begin with.
///
/// # Errors
/// The program has no `main`, or makes calls without an answer.
pub(crate) fn check(module: &Inspected<'_>, bytes: &[u8], entry: &str) -> Result<(), Diagnostic> {
    // The C library calls it if it is there; the linker puts a function that aborts in its place.
    if module.function_names.values().any(|name| name == "undefined_weak:main") {
        return Err(Diagnostic::new(Code::Compiler, format!("the program has no function `{entry}`"))
            .help(format!("name the file that has it too, or write `int {entry}(void)`")));
    }
    let unanswered = |(_, import): &(u32, &crate::inspect::Import)| is_unanswered(&import.module, &import.name);
    let unanswered: Vec<u32> = (0..).zip(&module.imports).filter(unanswered).map(|(index, _)| index).collect();
    if unanswered.is_empty() {
        return Ok(());
    }
    let calls = Calls::new(module, bytes);
    let mut all: BTreeMap<String, Called> = BTreeMap::new();
    for called in unanswered.iter().flat_map(|import| calls.leading_to(*import)) {
        let known =
            all.entry(called.function.clone()).or_insert(Called { function: called.function, places: BTreeSet::new() });
        known.places.extend(called.places);
    }
    if all.is_empty() {
        return Ok(());
    }
    let told: Vec<String> = all.values().map(Called::told).collect();
    let does = if told.len() > 1 { "which do" } else { "which does" };
    let error =
        Diagnostic::new(Code::Compiler, format!("the program calls {}, {does} not work in Trivium", told.join(", ")));
    let help = help(all.keys().map(String::as_str));
    Err(error.help(if help.is_empty() { "leave the calls out".into() } else { help }))
}

/// Whether this is a function of WASI without an answer.
pub(crate) fn is_unanswered(module: &str, name: &str) -> bool {
    module == "wasi_snapshot_preview1" && UNANSWERED.contains(&name)
}

/// What a linker says of a symbol that nobody defines.
const UNDEFINED: &str = "undefined symbol: ";

/// Whether it was for want of functions that a linker failed.
pub fn lacks_functions(said: &str) -> bool {
    said.contains(UNDEFINED)
}

/// Functions that nobody defines, as a linker has named them in what it `said`; `module` is the same program, linked all the
/// same, with what is missing as imports.
pub fn undefined(said: &str, module: &[u8]) -> Diagnostic {
    let names: BTreeSet<&str> =
        said.split(UNDEFINED).skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    let inspected = inspect(module, "").ok();
    let calls = inspected.as_ref().map(|inspected| Calls::new(inspected, module));
    let told = names.iter().map(|name| {
        let import = calls.as_ref().and_then(|calls| {
            let at = calls.module.imports.iter().position(|import| import.module == "env" && import.name == *name)?;
            Some((calls, at as u32))
        });
        let called = import.and_then(|(calls, import)| {
            let mut called = calls.leading_to(import);
            called.retain(|called| called.function == *name);
            called.pop()
        });
        called.map_or_else(|| format!("`{name}`"), |called| called.told())
    });
    let told: Vec<String> = told.collect();
    let are = if told.len() > 1 { "are" } else { "is" };
    let reasons = help(names.iter().copied());
    Diagnostic::new(
        Code::Compiler,
        format!("{} {are} not in the C library for programs, nor in the files of this one", told.join(", ")),
    )
    .help(if reasons.is_empty() { "name the file that has it as a part of the program".into() } else { reasons })
}
