//! `trivium cc`: the C compiler for programs, as a Makefile calls one.
//!
//! It takes the flags of the compiler below it (Clang's, which are mostly GCC's). A file is compiled with the flags
//! without which a program would go wrong, and with the headers of Trivium; the rest is passed on.

use super::program::{Spinner, asks_for_threads, shelf_with_headers};
use super::translate::needed_by;
use crate::Failure;
use crate::arguments::Cc;
use crate::out_file::are_same;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use trivium_diagnostic::Code;
use trivium_guest::{
    COMPILE_FLAGS, Compiling, IMPORT_UNDEFINED, LINK_FLAGS, Shelf, Toolchain, lacks_functions, readable, run_compiler,
    undefined,
};

/// What is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// A program.
    Module,
    /// `-c`: an object of each source.
    Objects,
    /// Something else: preprocessed text, dependencies, an answer. Passed on.
    Other,
}

/// A command line of a C compiler, as far as it matters.
#[derive(Debug)]
struct CommandLine {
    wanted: Wanted,
    /// Sources, objects and archives, in their order; libraries (`-lm`) among them.
    inputs: Vec<OsString>,
    /// All other flags, in their order.
    flags: Vec<OsString>,
    /// `-o`.
    output: Option<PathBuf>,
    /// `-MD` or `-MMD`.
    rule: Option<OsString>,
    /// `-MF`.
    rule_file: Option<PathBuf>,
    /// Whether `-MT` or `-MQ` names the target of the rule.
    target: bool,
}

/// Flags whose value may be the next word.
const WITH_VALUE: [&str; 19] = [
    "-I",
    "-D",
    "-U",
    "-L",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-x",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-MT",
    "-MQ",
    "-target",
    "-z",
    "-T",
    "-u",
];

impl CommandLine {
    fn read(words: &[OsString]) -> Result<CommandLine, Failure> {
        let mut line = CommandLine {
            wanted: Wanted::Module,
            inputs: Vec::new(),
            flags: Vec::new(),
            output: None,
            rule: None,
            rule_file: None,
            target: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = |word: &OsStr| {
                let next = words.next().cloned();
                next.ok_or_else(|| {
                    Failure::input(
                        Code::Usage,
                        format!("the flag {} wants a value", word.display()),
                        "write it behind the flag",
                    )
                })
            };
            let text = word.to_str().unwrap_or_default();
            match text {
                "-c" => line.wanted = Wanted::Objects,
                "-E" | "-S" | "-M" | "-MM" | "-###" => {
                    line.wanted = Wanted::Other;
                    line.flags.push(word.clone());
                }
                "-o" => line.output = Some(value(word)?.into()),
                "-MF" => line.rule_file = Some(value(word)?.into()),
                "-MD" | "-MMD" => line.rule = Some(word.clone()),
                flag if asks_for_threads(flag) => {}
                flag if WITH_VALUE.contains(&flag) => {
                    line.target |= flag == "-MT" || flag == "-MQ";
                    line.flags.extend([word.clone(), value(word)?]);
                }
                flag if flag.starts_with("-o") => line.output = Some(flag[2..].into()),
                flag if flag.starts_with("-MF") => line.rule_file = Some(flag[3..].into()),
                flag if flag.starts_with("-l") => line.inputs.push(word.clone()),
                flag if flag.starts_with('-') && flag != "-" => line.flags.push(word.clone()),
                _ => line.inputs.push(word.clone()),
            }
        }
        if line.inputs.is_empty() {
            line.wanted = Wanted::Other;
        }
        Ok(line)
    }

    /// Where the rule for `make` of an object goes, and for which target it is.
    fn rule(&self, object: &Path, named: &Path) -> Vec<OsString> {
        let Some(rule) = &self.rule else {
            return Vec::new();
        };
        let file = self.rule_file.clone().unwrap_or_else(|| named.with_extension("d"));
        let mut words = vec![rule.clone(), "-MF".into(), file.into()];
        if !self.target {
            words.extend(["-MT".into(), object.into()]);
        }
        words
    }
}

fn is_source(input: &OsStr) -> bool {
    Path::new(input).extension().is_some_and(|ending| ["c", "i", "s", "S"].iter().any(|known| ending == *known))
}

/// Compiles and links as the words say.
pub fn cc(arguments: &Cc) -> Result<u8, Failure> {
    let line = CommandLine::read(&arguments.words)?;
    if let Some(output) = &line.output
        && let Some(input) = line.inputs.iter().find(|input| are_same(Path::new(input), output))
    {
        let what = format!("-o {} names a file that is compiled or linked: {}", output.display(), input.display());
        return Err(Failure::input(Code::Usage, what, "name another file behind -o"));
    }
    let extended = line
        .inputs
        .iter()
        .map(Path::new)
        .find_map(|input| needed_by(&[input.to_path_buf()]).map(|needed| (input, needed.language)));
    if let Some((extended, language)) = extended {
        let help = "give it to `trivium sim`, `run` or `compare`, beside the .o files of its C; `trivium translate --whole` prints its C";
        return Err(Failure::at(
            Code::Usage,
            format!("`trivium cc` compiles C, and this is {language}"),
            extended.display(),
            help,
        ));
    }
    let toolchain = Toolchain::find()?;
    let (shelf, headers) = shelf_with_headers()?;
    let scratch = tempfile::tempdir().map_err(|error| {
        Failure::input(Code::Usage, format!("there is no place to compile in: {error}"), "name a folder in TMPDIR")
    })?;
    let compiler = Compiler { toolchain, shelf, headers, scratch };
    match line.wanted {
        Wanted::Other => {
            let mut command = compiler.compiling(&line);
            command.args(&line.inputs);
            command.args(line.output.iter().flat_map(|file| [OsStr::new("-o"), file.as_os_str()]));
            command.args(&line.rule);
            command.args(line.rule_file.iter().flat_map(|file| [OsStr::new("-MF"), file.as_os_str()]));
            compiler.run(command, Path::new("")).map(|()| 0)
        }
        Wanted::Objects => objects(&compiler, &line),
        Wanted::Module => link(&compiler, &line),
    }
}

/// `-c`: one object of each source.
fn objects(compiler: &Compiler, line: &CommandLine) -> Result<u8, Failure> {
    let sources: Vec<&OsString> =
        line.inputs.iter().filter(|input| !input.to_string_lossy().starts_with("-l")).collect();
    if line.output.is_some() && sources.len() > 1 {
        return Err(Failure::input(
            Code::Usage,
            "-o with -c names one object, but there are several sources",
            "leave out -o",
        ));
    }
    for source in sources {
        let beside = PathBuf::from(Path::new(source).with_extension("o").file_name().unwrap_or_default());
        let object = line.output.clone().unwrap_or(beside);
        compiler.object(line, source, &object, &line.rule(&object, &object))?;
    }
    Ok(0)
}

/// A module of all inputs; sources are compiled on the way.
fn link(compiler: &Compiler, line: &CommandLine) -> Result<u8, Failure> {
    let output = line.output.clone().unwrap_or_else(|| "a.out".into());
    let mut parts = Vec::new();
    for (number, input) in line.inputs.iter().enumerate() {
        if !is_source(input) && !line.flags.iter().any(|flag| flag == "-x") {
            parts.push(input.clone());
            continue;
        }
        let object = compiler.scratch.path().join(format!("{number}.o"));
        let named = Path::new(input).file_name().map(PathBuf::from).unwrap_or_default();
        compiler.object(line, input, &object, &line.rule(&output, &named))?;
        parts.push(object.into());
    }
    let linking = |output: &Path| {
        let mut command = compiler.command();
        command.args(COMPILE_FLAGS).arg("-Wno-unused-command-line-argument");
        command.args(line.flags.iter().filter(|flag| *flag != "-x" && *flag != "c"));
        command.args(&parts).args(LINK_FLAGS).arg("-o").arg(output);
        command
    };
    compiler.run(linking(&output), &output).map_err(|failure| {
        match failure.said.as_deref().is_some_and(lacks_functions) {
            true => compiler.undefined(linking, failure),
            false => failure,
        }
    })?;
    Ok(0)
}

/// The compiler with what it needs.
struct Compiler {
    toolchain: Toolchain,
    shelf: Shelf,
    headers: PathBuf,
    scratch: tempfile::TempDir,
}

impl Compiler {
    fn command(&self) -> Command {
        let mut command = self.toolchain.command(self.shelf.library(), self.scratch.path());
        command.arg("cc");
        command
    }

    fn compiling(&self, line: &CommandLine) -> Command {
        let mut command = self.command();
        command.args(COMPILE_FLAGS).arg("-Wno-unused-command-line-argument").args(&line.flags);
        command.arg("-idirafter").arg(&self.headers);
        command
    }

    fn object(&self, line: &CommandLine, source: &OsStr, object: &Path, rule: &[OsString]) -> Result<(), Failure> {
        if is_source(source) {
            readable(Path::new(source))?;
        }
        let mut command = self.compiling(line);
        command.args(rule).arg("-c").arg(source).arg("-o").arg(object);
        self.run(command, Path::new(source))
    }

    /// Why a program could not be linked for want of functions, told as the calls in its sources.
    fn undefined(&self, linking: impl Fn(&Path) -> Command, failure: Failure) -> Failure {
        let module = self.scratch.path().join("undefined.wasm");
        let mut command = linking(&module);
        command.arg(IMPORT_UNDEFINED);
        match run_compiler(command, &module, &self.shelf, None).map(|_| std::fs::read(&module)) {
            Ok(Ok(bytes)) => undefined(failure.said.as_deref().unwrap_or_default(), &bytes).into(),
            _ => failure,
        }
    }

    /// Runs it; what it says is said.
    fn run(&self, command: Command, file: &Path) -> Result<(), Failure> {
        let bar = Spinner::new();
        let progress = |now: &Compiling| bar.shows(now);
        let done = run_compiler(command, file, &self.shelf, Some(&progress));
        bar.ends();
        let (status, said) = done?;
        if status.success() {
            crate::say_lines!("{said}");
            return Ok(());
        }
        // The compiler's own words, in which editors find files and lines.
        Err(Failure { said: Some(said), ..Failure::input(Code::Compiler, "the C compiler refuses this", "") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> CommandLine {
        let words: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        CommandLine::read(&words).unwrap()
    }

    #[test]
    fn a_command_line_is_taken_apart() {
        let compile = line("-O3 -I inc -pthread -MMD -c a.c -o out/a.o");
        assert_eq!((compile.wanted, &compile.inputs[..]), (Wanted::Objects, &["a.c".into()][..]));
        assert_eq!(compile.flags, ["-O3", "-I", "inc"]);
        let object = Path::new("out/a.o");
        assert_eq!(compile.rule(object, object), ["-MMD", "-MF", "out/a.d", "-MT", "out/a.o"]);
        let linked = line("a.o b.c -Llib -lfoo -oprog");
        assert_eq!((linked.wanted, linked.output), (Wanted::Module, Some("prog".into())));
        assert_eq!(linked.inputs, ["a.o", "b.c", "-lfoo"]);
        assert_eq!(line("--version").wanted, Wanted::Other);
        assert!(CommandLine::read(&["-o".into()]).unwrap_err().what().contains("wants a value"));
    }
}
