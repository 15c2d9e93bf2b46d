//! Compiles C to WebAssembly with the pinned compiler, and keeps what it has compiled.

mod apart;
mod reads;
mod toolchain;

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};
use trivium_diagnostic::{Code, Diagnostic, Diagnostics, Place};

use crate::lacking::{
    help_for_header, help_for_other_ways, help_for_undeclared, lacks_functions, note_for_directives, undefined,
};
use crate::shelf::Shelf;
use crate::source::{is_used, with_custom};
use reads::Reads;
use sha2::{Digest, Sha256};
pub use toolchain::Toolchain;

/// How every C file is compiled; what a user gives stands behind it. Without atomics the compiler would make plain
/// loads and stores of C's atomic operations, without a word, and without bulk memory too, in a file with a thread-local
/// variable. They are asked for behind the back of `zig cc`, which would compile the C library with them too: then the library's `errno` would be
/// thread-local for its parts in C and not for those in Zig, which would write it to address 0. A node has one thread, so that
/// thread-local variables are plain ones: the library's `errno` is. At `-O2` this compiler defines `NDEBUG`, which would take
/// `assert` away, and below it would check for undefined behaviour, which nobody asked for. Dates are told apart from
/// the present one. `-g` is for the names and lines that messages tell, and files are told as they were
/// given, from the folder on in which the compiler was called.
pub const COMPILE_FLAGS: [&str; 15] = [
    "-target",
    "wasm32-wasi",
    "-mbulk-memory",
    "-Xclang",
    "-target-feature",
    "-Xclang",
    "+atomics",
    "-D_Thread_local=",
    "-D__thread=",
    "-O2",
    "-g",
    "-fdebug-compilation-dir=.",
    "-UNDEBUG",
    "-fno-sanitize=undefined",
    "-Wno-date-time",
];

/// Asks for a rule that names what was read.
const RULE: [&str; 4] = ["-MD", "-MT", "x", "-MF"];

/// How every program is linked: 1 MiB of stack.
pub const LINK_FLAGS: [&str; 2] = ["-Wl,-z,stack-size=1048576", "-lm"];

/// The linker's flag that makes imports of functions that nobody defines: to tell which they are.
pub const IMPORT_UNDEFINED: &str = "-Wl,--import-symbols";

/// What is warned about where the user does not compile with a tool of his own. Flags of the linker are no use to the
/// compiler, nor the other way round.
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wsource-uses-openmp", "-Wno-unused-command-line-argument"];

/// How far a compilation is, for who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiling {
    /// The file.
    pub file: String,
    /// How many files of the C library have been compiled on the way: it is built when it is first needed.
    pub library: usize,
}

/// The number of files of the C library, about.
pub const LIBRARY_FILES: usize = 630;

/// How to compile.
pub struct CompileOptions<'a> {
    /// Where `#include` looks, in this order, after the source's own directory and those that `flags` name.
    pub include_dirs: Vec<PathBuf>,
    /// More flags, for compiler and linker.
    pub flags: Vec<String>,
    /// Where compiled programs are kept.
    pub shelf: Shelf,
    /// The compiler; none: [`Toolchain::find`].
    pub toolchain: Option<Toolchain>,
    /// Is told, ten times a second, how far it is.
    pub progress: Option<&'a dyn Fn(&Compiling)>,
    /// Knows languages that extend C.
    pub translator: Option<&'a dyn Translator>,
    /// In a program with files of such a language, each static variable begins so many bytes: a power of two.
    pub apart: Option<u32>,
    /// Whether the last file is a library that is linked before the others: a linker that has taken a function from the C library refuses another one.
    pub library_last: bool,
}

/// Makes C of languages that extend it.
pub trait Translator {
    /// Whether files with this ending are its own.
    fn takes(&self, ending: &str) -> bool;

    /// What tells this translator from another one, which would make other C.
    fn version(&self) -> String;

    /// A header that such files include before all others.
    fn header(&self, ending: &str) -> Option<&'static str>;

    /// What the C compiler is told besides, about what is made of such a file.
    fn flags(&self, ending: &str) -> &'static [&'static str];

    /// C, of the preprocessed text of such a file; or its mistakes, for the user.
    ///
    /// # Errors
    /// The text is not of the language.
    fn translate(&self, ending: &str, preprocessed: &str) -> Result<String, Diagnostics>;

    /// What the C compiler says about it, in the words of the language.
    fn explain(&self, said: &str) -> String;
}

impl CompileOptions<'_> {
    /// Options without flags, with the user's shelf.
    ///
    /// # Errors
    /// There is no place to compile in.
    pub fn new(include_dirs: Vec<PathBuf>) -> Result<CompileOptions<'static>, Diagnostic> {
        Ok(CompileOptions::with(include_dirs, Shelf::of_user()?))
    }

    fn toolchain(&self) -> Result<Toolchain, Diagnostic> {
        self.toolchain.clone().map_or_else(Toolchain::find, Ok)
    }

    /// Options without flags.
    pub fn with(include_dirs: Vec<PathBuf>, shelf: Shelf) -> CompileOptions<'static> {
        CompileOptions {
            include_dirs,
            flags: Vec::new(),
            shelf,
            toolchain: None,
            progress: None,
            translator: None,
            apart: None,
            library_last: false,
        }
    }
}

/// A compiled program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// The WebAssembly module.
    pub module: Vec<u8>,
    /// The compiler's warnings, once: a program that was kept is silent.
    pub warnings: String,
    /// What the user should know: that nothing can be kept, and why.
    pub note: Option<String>,
}

/// Compiles the C file at `path`: [`compile`] of one file. Warnings go to standard error.
///
/// # Errors
/// As [`compile`].
pub fn compile_c(path: &Path, options: &CompileOptions) -> Result<Vec<u8>, Diagnostics> {
    let compiled = compile(&[path.to_path_buf()], options)?;
    // Nobody may be there to hear it.
    let _ = std::io::Write::write_all(&mut std::io::stderr(), compiled.warnings.as_bytes());
    Ok(compiled.module)
}

/// Compiles C files, and links them with objects and archives among `files`, to a WebAssembly module.
///
/// The result is kept, together with what the compiler says it has read, and found again as long as that is unchanged
/// and no new file would be read instead.
///
/// # Errors
/// A file cannot be read or written, there is no compiler, or the compiler refuses the source: then its own messages
/// are in the error as they are.
pub fn compile(files: &[PathBuf], options: &CompileOptions) -> Result<Compiled, Diagnostics> {
    if let Some(module) = kept(files, options)? {
        return Ok(Compiled { module, warnings: String::new(), note: None });
    }
    for file in files {
        // The compiler's words would be about its own command line.
        readable(file)?;
    }
    let toolchain = options.toolchain()?;
    let name = kept_name(files, options, &toolchain);
    let work = Work { options, toolchain: &toolchain, scratch: options.shelf.scratch()? };
    let begun = SystemTime::now();
    let (module, read, warnings) = work.build(files)?;
    // What tells names and lines stays; the rest of the debug information is larger than both.
    let module = with_custom(&module, |section| ["name", "target_features"].contains(&section) || is_used(section))
        .map_err(|error| {
            Diagnostic::new(Code::Compiler, format!("the C compiler made an invalid module: {error}"))
                .at(files[0].display().to_string())
        })?;
    let mut note = options.shelf.why_not().map(not_kept);
    let (folders, linked) = searched(options);
    let read: Vec<PathBuf> = read.into_iter().chain(linked).collect();
    if let Some(reads) = Reads::note(&read, &folders, &toolchain.library(), begun) {
        let kept = Kept { reads, module: module.clone() };
        let put = kept.written().and_then(|bytes| options.shelf.put(&name, &bytes));
        note = note.or(put.err().map(|error| not_kept(&error.to_string())));
    }
    Ok(Compiled { module, warnings, note })
}

/// The module of these files if it was kept and would be the same again: then no compiler is started.
///
/// # Errors
/// There is no compiler, or a flag that has no place here.
pub fn kept(files: &[PathBuf], options: &CompileOptions) -> Result<Option<Vec<u8>>, Diagnostic> {
    if let Some(flag) = options.flags.iter().find(|flag| is_about_outputs(flag)) {
        return Err(Diagnostic::new(
            Code::Compiler,
            format!("the flag {flag} has no place here: what is made of the program is known"),
        )
        .help("leave it out, or make the .wasm file with `trivium cc`"));
    }
    let name = kept_name(files, options, &options.toolchain()?);
    let kept = options.shelf.take(&name).and_then(|bytes| Kept::read(&bytes));
    Ok(kept.filter(|kept| kept.reads.hold()).map(|kept| kept.module))
}

fn not_kept(why: &str) -> String {
    format!("compiled programs are not kept, so that each is compiled again every time: {why}")
}

fn takes(translator: &dyn Translator, file: &Path) -> bool {
    file.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| translator.takes(ending))
}

/// Flags without those of the preprocessor, for a text that it has been through: names that it would replace once more.
fn without_preprocessing(flags: &[String]) -> Vec<&String> {
    let mut kept = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if ["-D", "-U", "-include", "-imacros", "-x"].contains(&flag.as_str()) {
            flags.next();
        } else if !["-D", "-U", "-include", "-imacros", "-x"].iter().any(|name| flag.starts_with(name)) {
            kept.push(flag);
        }
    }
    kept
}

/// C, of one file in a language that extends it: what [`compile`] compiles.
///
/// # Errors
/// It cannot be read, there is no compiler, or the text is wrong.
pub fn translated(file: &Path, options: &CompileOptions) -> Result<String, Diagnostics> {
    readable(file)?;
    let toolchain = options.toolchain()?;
    let work = Work { options, toolchain: &toolchain, scratch: options.shelf.scratch()? };
    let Some((translator, ending)) = work.extended(file) else {
        return Err(Diagnostic::new(Code::Compiler, "this is in no language that extends C")
            .at(file.display().to_string())
            .help("Split-C programs end in .sc, and C* programs in .cs")
            .into());
    };
    work.translated(translator, ending, file, &work.scratch.path().join("0.d"))
}

/// Flags that say what is made, and where.
fn is_about_outputs(flag: &str) -> bool {
    let whole = ["-c", "-S", "-E", "-o", "-M", "-MM", "-MD", "-MMD", "-MF", "-MT", "-MQ", "-shared", "-r"];
    whole.contains(&flag) || flag.starts_with("--target") || flag == "-target"
}

/// A program as it is kept; or the object of one of its files: the rule of what it has read, 0, and the object.
struct Kept {
    reads: Reads,
    module: Vec<u8>,
}

impl Kept {
    fn read(bytes: &[u8]) -> Option<Kept> {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        Some(Kept { reads: serde_json::from_slice(&bytes[..end]).ok()?, module: bytes[end + 1..].to_vec() })
    }

    fn written(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(&self.reads)?;
        bytes.push(b'\n');
        bytes.extend(&self.module);
        Ok(bytes)
    }
}

/// The name under which the program of these files is kept: everything that it depends on but what they include.
fn kept_name(files: &[PathBuf], options: &CompileOptions, toolchain: &Toolchain) -> String {
    let mut hash = Sha256::new();
    // Lengths keep neighbours apart.
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(env!("CARGO_PKG_VERSION").as_bytes());
    add(toolchain.version.as_bytes());
    if let Some(translator) = options.translator.filter(|translator| files.iter().any(|file| takes(*translator, file)))
    {
        add(translator.version().as_bytes());
        add(&options.apart.unwrap_or_default().to_le_bytes());
        add(&[u8::from(options.library_last)]);
    }
    // Relative paths mean something else elsewhere.
    add(std::env::current_dir().unwrap_or_default().as_os_str().as_encoded_bytes());
    for flag in COMPILE_FLAGS.iter().chain(&LINK_FLAGS).chain(&WARNINGS) {
        add(flag.as_bytes());
    }
    for list in [files, &options.include_dirs] {
        add(&list.len().to_le_bytes());
        list.iter().for_each(|path| add(path.as_os_str().as_encoded_bytes()));
    }
    // A file that becomes what it was before is found again. What cannot be read is told by the compiler; a pipe can be read only once.
    for file in files.iter().filter(|file| file.is_file()) {
        add(&std::fs::read(file).unwrap_or_default());
    }
    options.flags.iter().for_each(|flag| add(flag.as_bytes()));
    let stem = files.first().and_then(|file| file.file_stem()).unwrap_or_default().to_string_lossy().into_owned();
    let hash: String = hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{stem:.64}-{hash}")
}

/// The folders that are searched for files, by the options; and the files that their flags name, which the linker reads.
fn searched(options: &CompileOptions) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut folders = options.include_dirs.clone();
    let mut files = Vec::new();
    let mut libraries = Vec::new();
    let mut flags = options.flags.iter();
    while let Some(flag) = flags.next() {
        let of = [
            "-isystem",
            "-iquote",
            "-idirafter",
            "--include-directory=",
            "--include-directory",
            "--embed-dir=",
            "--embed-dir",
            "-I",
            "-L",
        ];
        if let Some(rest) = of.iter().find_map(|name| flag.strip_prefix(name)) {
            let folder = if rest.is_empty() { flags.next().map(String::as_str).unwrap_or_default() } else { rest };
            folders.push(PathBuf::from(folder));
        } else if let Some(library) = flag.strip_prefix("-l") {
            libraries.push(format!("lib{library}.a"));
        } else {
            let file = PathBuf::from(flag.trim_start_matches('@'));
            files.extend(file.is_file().then_some(file));
        }
    }
    let libraries = libraries.iter().flat_map(|library| folders.iter().map(move |folder| folder.join(library)));
    files.extend(libraries.filter(|library| library.is_file()));
    (folders, files)
}

/// A compilation at work.
struct Work<'a> {
    options: &'a CompileOptions<'a>,
    toolchain: &'a Toolchain,
    scratch: tempfile::TempDir,
}

impl Work<'_> {
    /// The linked module, what was read for it, and the compiler's warnings.
    fn build(&self, files: &[PathBuf]) -> Result<(Vec<u8>, Vec<PathBuf>, String), Diagnostics> {
        let (mut parts, mut read, mut warnings) = (Vec::new(), Vec::new(), String::new());
        let apart = self.options.apart.filter(|_| files.iter().any(|file| self.extended(file).is_some()));
        let each_alone: &[&str] = if apart.is_some() { &[apart::FLAG] } else { &[] };
        for (number, file) in files.iter().enumerate() {
            let extended = self.extended(file);
            if extended.is_none() && file.extension().is_none_or(|extension| extension != "c") {
                parts.push(file.clone());
                read.push(file.clone());
                continue;
            }
            let object = self.scratch.path().join(format!("{number}.o"));
            let rule = object.with_extension("d");
            match extended {
                Some((translator, ending)) => {
                    let c = object.with_extension("c");
                    let text = self.translated(translator, ending, file, &rule)?;
                    fs::write(&c, text).map_err(|error| {
                        Diagnostic::new(Code::Compiler, format!("what is made of it cannot be written: {error}"))
                            .at(c.display().to_string())
                    })?;
                    let mut command = self.command();
                    command.args(COMPILE_FLAGS).args(WARNINGS).args(without_preprocessing(&self.options.flags));
                    // A line that the user wrote may have become several.
                    command.arg("-fcaret-diagnostics-max-lines=1").args(each_alone).args(translator.flags(ending));
                    command.arg("-c").arg(&c).arg("-o").arg(&object);
                    let said = self.try_to(command, file)?;
                    warnings +=
                        &translator.explain(&said.map_err(|said| self.refused(&translator.explain(&said), file))?);
                }
                None => {
                    let is_kept = files.len() > 1 && self.take_object(file, each_alone, (&object, &rule));
                    if !is_kept {
                        let begun = SystemTime::now();
                        let mut command = self.reading();
                        command.arg("-c").arg(file).arg("-o").arg(&object).args(RULE).arg(&rule);
                        command.args(each_alone);
                        let said = self.run(command, file)?;
                        if files.len() > 1 && said.is_empty() {
                            self.keep_object(file, each_alone, (&object, &rule), begun);
                        }
                        warnings += &said;
                    }
                }
            }
            read.extend(reads::of_rule(&self.result(&rule).map(|rule| String::from_utf8_lossy(&rule).into_owned())?));
            parts.push(object);
        }
        if let Some(bytes) = apart {
            parts = self.apart(&parts, bytes)?;
        }
        if self.options.library_last {
            parts.rotate_right(1);
        }
        let module = self.scratch.path().join("program.wasm");
        let link = || {
            let mut command = self.command();
            command.args(&parts).args(COMPILE_FLAGS).args(WARNINGS).args(&self.options.flags);
            command.args(LINK_FLAGS).arg("-o").arg(&module);
            command
        };
        match self.try_to(link(), &files[0])? {
            Ok(said) => warnings += &said,
            Err(said) if lacks_functions(&said) => {
                let mut command = link();
                command.arg(IMPORT_UNDEFINED);
                self.run(command, &files[0])?;
                return Err(undefined(&said, &self.result(&module)?).at(files[0].display().to_string()).into());
            }
            Err(said) => return Err(self.refused(&said, &files[0]).into()),
        }
        Ok((self.result(&module)?, read, warnings))
    }

    /// The name under which the object of a file is kept, which other programs have too: such as a library's.
    fn object_name(&self, file: &Path, each_alone: &[&str]) -> String {
        let name = kept_name(&[file.to_path_buf()], self.options, self.toolchain);
        format!("{name}-object{}", each_alone.join(""))
    }

    /// Takes the object of a C file, and the rule that says what was read for it, if they were kept and would be the same again.
    fn take_object(&self, file: &Path, each_alone: &[&str], (object, rule): (&Path, &Path)) -> bool {
        let bytes = self.options.shelf.take(&self.object_name(file, each_alone));
        let Some(kept) = bytes.and_then(|bytes| Kept::read(&bytes)).filter(|kept| kept.reads.hold()) else {
            return false;
        };
        let Some(end) = kept.module.iter().position(|&byte| byte == 0) else { return false };
        fs::write(rule, &kept.module[..end]).and_then(|()| fs::write(object, &kept.module[end + 1..])).is_ok()
    }

    /// Keeps them. If that fails, they are made again the next time.
    fn keep_object(&self, file: &Path, each_alone: &[&str], (object, rule): (&Path, &Path), begun: SystemTime) {
        let (Ok(object), Ok(rule)) = (fs::read(object), fs::read(rule)) else { return };
        let read = reads::of_rule(&String::from_utf8_lossy(&rule));
        // A file of flags is read, too.
        let (folders, named) = searched(self.options);
        let read: Vec<PathBuf> = read.into_iter().chain(named).collect();
        let Some(reads) = Reads::note(&read, &folders, &self.toolchain.library(), begun) else { return };
        let kept = Kept { reads, module: [&rule[..], &[0], &object[..]].concat() };
        let name = self.object_name(file, each_alone);
        let _ = kept.written().and_then(|bytes| self.options.shelf.put(&name, &bytes));
    }

    /// The parts of a program with their variables [apart](apart), but for those of archives.
    fn apart(&self, parts: &[PathBuf], bytes: u32) -> Result<Vec<PathBuf>, Diagnostic> {
        let between = self.between(bytes)?;
        let mut all = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            let is_object = part.extension().is_some_and(|extension| extension == "o");
            let object = self.scratch.path().join(format!("{number}-apart.o"));
            if is_object {
                self.keep_apart(part, &object, bytes)?;
            }
            all.extend([if is_object { object } else { part.clone() }, between.clone()]);
        }
        Ok(all)
    }

    /// The object of [`apart::BETWEEN`].
    fn between(&self, bytes: u32) -> Result<PathBuf, Diagnostic> {
        let (c, object) = (self.scratch.path().join("between.c"), self.scratch.path().join("between.o"));
        fs::write(&c, apart::BETWEEN).map_err(|error| {
            Diagnostic::new(Code::Compiler, format!("a file of the compiler's cannot be written: {error}"))
                .at(c.display().to_string())
        })?;
        let mut command = self.command();
        command.args(COMPILE_FLAGS).args([apart::FLAG, "-g0", "-c"]).arg(&c).arg("-o").arg(&object);
        self.run(command, &c)?;
        self.keep_apart(&object, &object, bytes)?;
        Ok(object)
    }

    /// The object `to` is `object` with its variables [apart](apart::keep_apart).
    fn keep_apart(&self, object: &Path, to: &Path, bytes: u32) -> Result<(), Diagnostic> {
        let wrong = |why: &dyn std::fmt::Display| {
            Diagnostic::new(Code::Compiler, format!("variables cannot be kept apart: {why}"))
                .at(object.display().to_string())
        };
        let mut contents = self.result(object)?;
        apart::keep_apart(&mut contents, bytes).map_err(|error| wrong(&error))?;
        fs::write(to, contents).map_err(|error| wrong(&error))
    }

    /// Who knows the language of a file, if it is not C.
    fn extended<'f>(&self, file: &'f Path) -> Option<(&dyn Translator, &'f str)> {
        let ending = file.extension()?.to_str()?;
        self.options.translator.filter(|translator| translator.takes(ending)).map(|translator| (translator, ending))
    }

    /// The compiler as it reads a file of the user's.
    fn reading(&self) -> Command {
        let mut command = self.command();
        command.args(COMPILE_FLAGS).args(WARNINGS).args(&self.options.flags);
        for dir in &self.options.include_dirs {
            command.arg("-I").arg(dir);
        }
        command
    }

    /// C, of a file in a language that extends it. `rule`: where is told what was read.
    fn translated(
        &self,
        translator: &dyn Translator,
        ending: &str,
        file: &Path,
        rule: &Path,
    ) -> Result<String, Diagnostics> {
        let preprocessed = rule.with_extension("i");
        let mut command = self.reading();
        if let Some(header) = translator.header(ending) {
            command.arg("-include").arg(header);
        }
        command.args(["-E", "-x", "c"]).arg(file).arg("-o").arg(&preprocessed).args(RULE).arg(rule);
        let said = self.try_to(command, file)?;
        said.map_err(|said| self.refused(&translator.explain(&said), file))?;
        let text = String::from_utf8(self.result(&preprocessed)?).map_err(|_| {
            Diagnostic::new(Code::Compiler, "this is not UTF-8")
                .at(file.display().to_string())
                .help("save the file and its headers as UTF-8")
        })?;
        translator.translate(ending, &text)
    }

    fn command(&self) -> Command {
        let mut command = self.toolchain.command(self.options.shelf.library(), self.scratch.path());
        command.arg("cc");
        command
    }

    fn result(&self, file: &Path) -> Result<Vec<u8>, Diagnostic> {
        fs::read(file).map_err(|error| {
            Diagnostic::new(Code::Compiler, format!("what the C compiler made cannot be read: {error}"))
                .at(file.display().to_string())
        })
    }

    /// Runs the compiler and gives its warnings.
    fn run(&self, command: Command, file: &Path) -> Result<String, Diagnostic> {
        let said = self.try_to(command, file)?.map_err(|said| self.refused(&said, file))?;
        let note = note_for_directives(&said).unwrap_or_default();
        Ok(said + &note)
    }

    /// The compiler's errors, as an error.
    fn refused(&self, said: &str, file: &Path) -> Diagnostic {
        let help = help_for_undeclared(said)
            .or_else(|| help_for_other_ways(said))
            .or_else(|| help_for_header(said, &self.options.include_dirs));
        let refused =
            Diagnostic::new(Code::Compiler, format!("the C compiler refuses the program:\n{}", said.trim_end()))
                .help(help.unwrap_or_else(|| "correct what the compiler names above".into()));
        let places: Vec<Place> = said.lines().filter_map(place_of_error).collect();
        if places.is_empty() { refused.at(file.display().to_string()) } else { Diagnostic { places, ..refused } }
    }

    /// Runs the compiler and gives its warnings, or its errors.
    fn try_to(&self, command: Command, file: &Path) -> Result<Result<String, String>, Diagnostic> {
        let (status, said) = run_compiler(command, file, &self.options.shelf, self.options.progress)?;
        Ok(if status.success() { Ok(said) } else { Err(said) })
    }
}

/// The place that a line of the C compiler's names, if it tells of an error: `ring.c:3:7: error: ..`.
fn place_of_error(line: &str) -> Option<Place> {
    let (place, _) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: "))?;
    Some(Place::from(place)).filter(|place| place.line.is_some())
}

/// Whether a file can be a part of a program. The compiler would wait for a pipe, and take its time over a file of zero bytes.
///
/// # Errors
/// Why it cannot.
pub fn readable(file: &Path) -> Result<(), Diagnostic> {
    let wrong = |what: String, place: String| Diagnostic::new(Code::Compiler, what).at(place);
    let cannot = |why: &trivium_files::Unread| {
        let place = why.line.map_or(file.display().to_string(), |line| format!("{}:{line}", file.display()));
        wrong(format!("the file cannot be read: {why}"), place)
    };
    if file.extension().is_some_and(|ending| ["c", "sc", "cs"].iter().any(|own| ending == *own)) {
        let bytes = trivium_files::read(file, trivium_files::WRITTEN).map_err(|why| cannot(&why))?;
        if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
            let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
            return Err(wrong("this is not C: it has a zero byte".into(), format!("{}:{line}", file.display())));
        }
        return Ok(());
    }
    trivium_files::open(file).map(drop).map_err(|why| cannot(&why))
}

/// Runs the compiler to its end, and tells how far it is. Gives how it ended and what it said.
///
/// # Errors
/// It cannot be started.
pub fn run_compiler(
    mut command: Command,
    file: &Path,
    shelf: &Shelf,
    progress: Option<&dyn Fn(&Compiling)>,
) -> Result<(ExitStatus, String), Diagnostic> {
    let place = PathBuf::from(command.get_program());
    let failed = |error: std::io::Error| {
        Diagnostic::new(Code::Compiler, format!("the C compiler cannot be started: {error}"))
            .at(place.display().to_string())
            .help("run `make setup`")
    };
    let built = shelf.library().join("o");
    let count = || fs::read_dir(&built).map_or(0, |entries| entries.count());
    let before = if progress.is_some() { count() } else { 0 };
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(failed)?;
    let mut errors = child.stderr.take();
    let listener = std::thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(errors) = &mut errors {
            // What cannot be read is missing from a message.
            let _ = errors.read_to_end(&mut said);
        }
        said
    });
    let begun = Instant::now();
    if let Some(progress) = progress {
        while !listener.is_finished() {
            if begun.elapsed() > Duration::from_millis(300) {
                progress(&Compiling { file: file.display().to_string(), library: count().saturating_sub(before) });
                std::thread::sleep(Duration::from_millis(90));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let said = listener.join().unwrap_or_default();
    let status = child.wait().map_err(failed)?;
    Ok((status, String::from_utf8_lossy(&said).into_owned()))
}
