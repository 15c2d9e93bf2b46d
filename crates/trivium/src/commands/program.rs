//! A program by its files: C is compiled (and kept), WebAssembly is taken as it is.

use super::fits::of_memory;
use super::translate::{C_STAR_INTERPRETED, FrontEnd, Interpreter, Needed, needed_by};
use crate::arguments::Simulated;
use crate::{Failure, library};
use include_dir::{Dir, File, include_dir};
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_diagnostic::Code;
use trivium_guest::{
    CompileOptions, Compiling, Inputs, LIBRARY_FILES, Program, Shelf, Translator, compile, kept, translated,
};
use trivium_protocol::{Protocol, refuses_rmw};
use trivium_sim::SplitPhaseCalls;

/// Headers of `<split-c/..>` in programs for the first compiler of Split-C. All that Trivium has of them is in one.
const OLD_SPLIT_C: [&str; 6] = ["split-c", "control", "com", "atomic", "bulk", "spread"];

static HEADERS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../programs/include");

const PROGRAM_HELP: &str = "give a name that `trivium programs` lists, or the path of a .c, .sc, .cs or .wasm file";

static PROGRAMS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../programs");

/// The built-in programs: their names, in order, and texts.
pub(super) fn built_in() -> Vec<(&'static str, &'static str)> {
    let named = PROGRAMS.files().filter_map(|file| {
        let name = file.path().to_str()?.strip_suffix(".c")?;
        Some((name, file.contents_utf8()?))
    });
    let mut named: Vec<_> = named.collect();
    named.sort();
    named
}

/// The file of a built-in program, if one is named: on the shelf, among the others, which it may include.
fn file_of_name(name: &Path, shelf: &Shelf) -> Result<Option<PathBuf>, Failure> {
    let all = built_in();
    let Some((name, _)) = all.iter().find(|(known, _)| Path::new(known) == name) else { return Ok(None) };
    let files: Vec<_> = all.iter().map(|(name, text)| (PathBuf::from(format!("{name}.c")), *text)).collect();
    Ok(Some(on_shelf(shelf, "programs", &files)?.join(format!("{name}.c"))))
}

/// A folder on the shelf that has these files, named by a hash of them.
fn on_shelf(shelf: &Shelf, name: &str, files: &[(PathBuf, &str)]) -> Result<PathBuf, Failure> {
    let parts = files.iter().flat_map(|(path, text)| [path.as_os_str().as_encoded_bytes(), text.as_bytes()]);
    let folder = shelf.folder().join(format!("{name}-{:.16}", library::hex(&parts.collect::<Vec<_>>())));
    files.iter().try_for_each(|(path, text)| put(&folder.join(path), text))?;
    Ok(folder)
}

/// A folder on the shelf with the built-in programs in `programs/`, and other built-in files in this folder beside it.
///
/// # Errors
/// It cannot be written.
pub(super) fn with_programs(name: &str, others: &Dir) -> Result<PathBuf, Failure> {
    let shelf = Shelf::of_user()?;
    let mut files = Vec::new();
    for (place, folder) in [("programs", &PROGRAMS), (name, others)] {
        texts(folder, &mut |path, text| files.push((Path::new(place).join(path), text)));
    }
    on_shelf(&shelf, name, &files)
}

/// All texts of a built-in folder, and of those within.
fn texts<'a>(folder: &'a Dir<'a>, take: &mut impl FnMut(&'a Path, &'a str)) {
    folder
        .files()
        .filter_map(|file| Some((file.path(), file.contents_utf8()?)))
        .for_each(|(path, text)| take(path, text));
    folder.dirs().for_each(|inner| texts(inner, take));
}

/// Writes a file on the shelf, unless it is there.
fn put(file: &Path, text: &str) -> Result<(), Failure> {
    if std::fs::read_to_string(file).is_ok_and(|there| there == text) {
        return Ok(());
    }
    let parent = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(|e| {
        Failure::input(
            Code::Usage,
            format!("{} cannot be made: {e}", parent.display()),
            "is there room, and may you write there?",
        )
    })?;
    crate::output::write_file(file, text.as_bytes())
}

/// Writes the headers of Trivium, and of the calls of built-in protocols, into a folder.
///
/// # Errors
/// They cannot be written.
pub(super) fn write_headers(folder: &Path) -> Result<(), Failure> {
    Headers { folder: folder.to_path_buf(), protocols: &[] }.write()
}

/// The program of a command, and what it may read.
///
/// # Errors
/// As [`load`]; also that there is no such folder.
pub fn of(run: &Simulated, protocols: &[Arc<Protocol>], block: u32) -> Result<(Program, Arc<Inputs>), Failure> {
    let named = run.subject.dir.as_deref().or(run.dir_rw.as_deref());
    let mut inputs = Inputs::new(named)?;
    if let Some(folder) = &run.dir_rw {
        inputs = inputs.writable();
        // Before the work: what is written there is written beside first.
        tempfile::tempfile_in(folder).map_err(|error| {
            let what = format!("the folder cannot be written: {}", error.kind());
            Failure::at(
                Code::File,
                what,
                folder.display(),
                "name one in which you may make files, or use --dir: then the program only reads",
            )
        })?;
    }
    let inputs = Arc::new(inputs);
    let program = load(&run.subject.programs, run.subject.cc.as_deref(), protocols, block)?;
    Ok((program.reading(inputs.clone()), inputs))
}

/// Loads a program from its files; the headers of the built-in protocols and of those named are there to include.
/// `flags` are for the C compiler, as a shell would read them. It runs with blocks of `block` bytes.
///
/// # Errors
/// It cannot be read, compiled or accepted.
pub fn load(
    files: &[PathBuf],
    flags: Option<&str>,
    protocols: &[Arc<Protocol>],
    block: u32,
) -> Result<Program, Failure> {
    let Some(first) = files.first() else {
        return Err(Failure::input(Code::Usage, "no program is named", PROGRAM_HELP));
    };
    let shelf = Shelf::of_user()?;
    // A file that is there goes before what is built in.
    if let [name] = files
        && !name.exists()
        && let Some(file) = file_of_name(name, &shelf)?
    {
        return loaded(&[file], &name.display().to_string(), flags, (protocols, block), shelf);
    }
    loaded(files, &first.display().to_string(), flags, (protocols, block), shelf)
}

/// The program of these files, which is known by a name.
fn loaded(
    files: &[PathBuf],
    name: &str,
    flags: Option<&str>,
    (protocols, block): (&[Arc<Protocol>], u32),
    shelf: Shelf,
) -> Result<Program, Failure> {
    let first = &files[0];
    let is = |path: &PathBuf, endings: &[&str]| {
        path.extension().and_then(|e| e.to_str()).is_some_and(|ending| endings.contains(&ending))
    };
    let compiled = files.iter().any(|file| is(file, &PARTS));
    let bytes = if compiled {
        if let Some(wrong) = files.iter().find(|file| !is(file, &PARTS)) {
            return Err(Failure::input(
                Code::Usage,
                format!("{} cannot be a part of a program", wrong.display()),
                "the parts of a program are .c, .sc and .cs files, and objects (.o) and archives (.a) of `trivium cc`",
            ));
        }
        if let (Some(one), true) =
            (files.iter().find(|file| is(file, &["cs"])), files.iter().any(|file| is(file, &["sc"])))
        {
            return Err(Failure::at(
                Code::File,
                "one program cannot be in C* and in Split-C",
                one.display(),
                "each of them has its own memory: leave one language out, or use C",
            ));
        }
        compiled_from(files, flags, (&FrontEnd, needed_by(files)), (protocols, block), shelf.clone())?
    } else {
        if let Some(more) = files.get(1) {
            return Err(Failure::input(
                Code::Usage,
                format!("{} is one file too many", more.display()),
                "a program is one .wasm file, or any number of .c, .sc or .cs files; its own arguments stand behind --",
            ));
        }
        if flags.is_some() {
            return Err(Failure::input(
                Code::Usage,
                "--cc is for programs in C",
                "leave it out: this one is compiled already",
            ));
        }
        module(first)?
    };
    let entry = needed_by(files).map_or("main", |needed| needed.entry);
    let program = Program::load_with(&bytes, name, entry)?.kept_on(shelf);
    super::sim::warn(program.warnings());
    Ok(program)
}

/// A WebAssembly module, whatever its file is called: what a Makefile links may have no ending.
fn module(path: &Path) -> Result<Vec<u8>, Failure> {
    let named = path.extension().is_some_and(|ending| ending == "wasm");
    if !named && !path.exists() {
        return Err(neither(path));
    }
    let bytes = library::read(path, "program", PROGRAM_HELP)?;
    if named || bytes.starts_with(b"\0asm") { Ok(bytes) } else { Err(neither(path)) }
}

fn neither(path: &Path) -> Failure {
    let name = path.display().to_string();
    let is_name = !path.exists() && path.extension().is_none() && !name.contains('/');
    if is_name {
        let names: Vec<&str> = built_in().iter().map(|(name, _)| *name).collect();
        let help = match trivium_protocol::nearest(&name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}; or give the path of a .c, .sc, .cs or .wasm file", names.join(", ")),
        };
        return Failure::input(Code::Usage, format!("there is no program `{name}`"), help);
    }
    let is_cpp =
        path.extension().is_some_and(|ending| ["cc", "cpp", "cxx", "C", "hpp"].iter().any(|cpp| ending == *cpp));
    let help = match is_cpp {
        true => "C++ is not compiled here: write the program in C, or give a .wasm file that another compiler has made",
        false => "a program is one or more files that end in .c, .sc or .cs, or one that ends in .wasm",
    };
    Failure::input(Code::Usage, format!("{name} is neither C, Split-C, C* nor WebAssembly"), help)
}

/// Endings of the files that a compiled program is made of.
const PARTS: [&str; 5] = ["c", "sc", "cs", "o", "a"];

/// Static variables of Split-C lie so far apart at least: runs with smaller blocks share what is compiled.
const LEAST_APART: u32 = 64;

/// `language`: who translates, and what is linked.
fn compiled_from(
    files: &[PathBuf],
    flags: Option<&str>,
    language: (&dyn Translator, Option<&Needed>),
    (protocols, block): (&[Arc<Protocol>], u32),
    shelf: Shelf,
) -> Result<Vec<u8>, Failure> {
    for file in files {
        if !file.is_file() {
            library::read(file, "program", PROGRAM_HELP)?;
        }
    }
    let mut options = CompileOptions::with(Vec::new(), shelf);
    options.translator = Some(language.0);
    options.apart = files
        .iter()
        .any(|file| file.extension().is_some_and(|ending| ending == "sc"))
        .then_some(block.max(LEAST_APART));
    options.flags = flags_of(flags)?;
    let headers = Headers::new(options.shelf.folder(), protocols);
    options.include_dirs.push(headers.folder.clone());
    let mut files = files.to_vec();
    if let Some(more) = language.1 {
        let source = headers.folder.join(more.source);
        // Places in it are places in a library: messages name who has called it.
        let names = source.with_extension("").display().to_string();
        let names = format!("-fdebug-prefix-map={names}=/ziglang/lib/libc/{}", more.name);
        let own = more.flags.iter().map(|flag| flag.to_string());
        let of_protocol = flags_of_protocol(&files, protocols).into_iter().map(str::to_string);
        options.flags.splice(0..0, own.chain([names]).chain(of_protocol));
        options.library_last = more.overrides;
        files.push(source);
    }
    let files = &files;
    if let Some(module) = kept(files, &options)? {
        return Ok(module);
    }
    headers.write()?;
    let bar = Spinner::new();
    let progress = |now: &Compiling| bar.shows(now);
    options.progress = Some(&progress);
    let compiled = compile(files, &options);
    bar.ends();
    let compiled = compiled?;
    if let Some(note) = compiled.note {
        crate::say!("note: {note}");
    }
    crate::say_lines!("{}", compiled.warnings);
    Ok(compiled.module)
}

/// What a program in C* is compiled with for the protocol that its memory is under: it is not the same under all of them.
pub(super) fn flags_of_protocol(files: &[PathBuf], protocols: &[Arc<Protocol>]) -> Vec<&'static str> {
    if !files.iter().any(|file| file.extension().is_some_and(|ending| ending == "cs")) {
        return Vec::new();
    }
    let Some(engine) = of_memory(protocols) else { return Vec::new() };
    let has_calls = SplitPhaseCalls::of(engine.protocol()).is_some();
    let has_no_rmw = refuses_rmw(engine.protocol()).is_some();
    [(has_calls, "-DCSTAR_CALLS"), (has_no_rmw, "-DCSTAR_POSTS")]
        .into_iter()
        .filter_map(|(is_so, flag)| is_so.then_some(flag))
        .collect()
}

/// Loads a program in C* as `trivium interpret` runs it; flags as for [`load`]. `tells`: each parallel statement prints what it has done.
///
/// # Errors
/// As [`load`], in the same words: it is compiled as other programs are first. Also that nothing of it is in C*.
pub(super) fn load_interpreted(files: &[PathBuf], flags: Option<&str>, tells: bool) -> Result<Program, Failure> {
    let is_own = |file: &&PathBuf| file.extension().is_some_and(|ending| ending == "cs");
    let Some(first) = files.iter().find(is_own) else {
        let name = files.first().map(|file| file.display().to_string()).unwrap_or_default();
        let what = format!("{name} is not in C*, and `trivium interpret` is for programs in C*");
        return Err(Failure::input(Code::Usage, what, "name a .cs file; `trivium run` runs other programs"));
    };
    load(files, flags, &[], LEAST_APART)?;
    let shelf = Shelf::of_user()?;
    let language: (&dyn Translator, _) = (&Interpreter { tells }, Some(&C_STAR_INTERPRETED));
    let bytes = compiled_from(files, flags, language, (&[], LEAST_APART), shelf.clone())?;
    let name = first.display().to_string();
    Ok(Program::load_with(&bytes, &name, C_STAR_INTERPRETED.entry)?.kept_on(shelf))
}

/// The flags for the C compiler, as a shell would read them.
fn flags_of(flags: Option<&str>) -> Result<Vec<String>, Failure> {
    let flags = flags.unwrap_or_default();
    let Some(words) = shlex::split(flags) else {
        return Err(Failure::at(Code::File, "a quote is not closed", format!("--cc {flags}"), "close it"));
    };
    Ok(words.into_iter().filter(|flag| !asks_for_threads(flag)).collect())
}

/// C, of one file in a language that extends it; flags as for [`load`].
///
/// # Errors
/// It cannot be read, or is wrong.
pub(super) fn in_c(file: &Path, flags: Option<&str>) -> Result<String, Failure> {
    let (shelf, headers) = shelf_with_headers()?;
    let mut options = CompileOptions::with(vec![headers], shelf);
    options.translator = Some(&FrontEnd);
    options.flags = flags_of(flags)?;
    if !file.is_file() {
        library::read(file, "program", "give the path of a .sc or .cs file")?;
    }
    translated(file, &options).map_err(Failure::from)
}

/// A flag that asks for what a node does not have. Programs that only name it are none the worse.
pub(super) fn asks_for_threads(flag: &str) -> bool {
    flag == "-pthread" || flag == "-lpthread"
}

/// Tells on a terminal what is compiled.
pub(super) struct Spinner(ProgressBar);

impl Spinner {
    pub(super) fn new() -> Spinner {
        let bar = ProgressBar::new_spinner();
        bar.set_style(ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("a valid template"));
        Spinner(bar)
    }

    pub(super) fn shows(&self, now: &Compiling) {
        // A program's own files are a few of them.
        self.0.set_message(if now.library < 10 {
            format!("compiling {}", now.file)
        } else {
            let done = now.library.min(LIBRARY_FILES);
            format!("building the C library, once for these flags: {done} of about {LIBRARY_FILES} files")
        });
        self.0.tick();
    }

    pub(super) fn ends(&self) {
        self.0.finish_and_clear();
    }
}

/// The user's shelf, and on it the folder of headers.
///
/// # Errors
/// There is no place for them.
pub(super) fn shelf_with_headers() -> Result<(Shelf, PathBuf), Failure> {
    let shelf = Shelf::of_user()?;
    let headers = Headers::new(shelf.folder(), &[]);
    headers.write()?;
    Ok((shelf, headers.folder))
}

/// A folder with `trivium.h`, what lies beside it, and `trivium/PROTOCOL.h`, named by a hash of what these are made of.
struct Headers<'a> {
    folder: PathBuf,
    protocols: &'a [Arc<Protocol>],
}

impl Headers<'_> {
    /// Says where it is, and no more: that a program is kept is found out without making headers.
    fn new<'a>(shelf: &Path, protocols: &'a [Arc<Protocol>]) -> Headers<'a> {
        let own = HEADERS.files().map(|f| f.contents().to_vec());
        let built_in = library::protocol_texts().map(|text| text.as_bytes().to_vec());
        let named = protocols.iter().map(|protocol| library::hash(protocol).1.into_bytes());
        let version = env!("CARGO_PKG_VERSION").as_bytes().to_vec();
        let parts: Vec<Vec<u8>> = own.chain(built_in).chain(named).chain([version]).collect();
        let hash = library::hex(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>());
        Headers { folder: shelf.join(format!("include-{hash:.16}")), protocols }
    }

    fn write(&self) -> Result<(), Failure> {
        let text = |f: &File| f.contents_utf8().unwrap_or_default().to_string();
        let mut files: Vec<(String, String)> =
            HEADERS.files().map(|f| (f.path().display().to_string(), text(f))).collect();
        // The names by which the first compiler of Split-C had its library.
        let old =
            OLD_SPLIT_C.iter().map(|name| (format!("split-c/{name}.h"), "#include \"../split-c.h\"\n".to_string()));
        files.extend(old);
        let mut add = |protocol: &Protocol| {
            if !protocol.ops.is_empty() {
                let text = trivium_lang::c_header(protocol);
                let name = format!("trivium/{}.h", protocol.name);
                files.retain(|(n, _)| *n != name);
                files.push((name, text));
            }
        };
        for name in library::protocol_names().iter().filter(|n| !n.starts_with("broken/")) {
            add(&*library::protocol(name, &[])?);
        }
        self.protocols.iter().for_each(|p| add(p));
        for (name, text) in &files {
            put(&self.folder.join(name), text)?;
        }
        Ok(())
    }
}
