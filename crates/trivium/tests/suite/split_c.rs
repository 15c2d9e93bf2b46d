//! Split-C: what its programs print, what is said of wrong ones, and that C goes through its front end unchanged.

use crate::harness::{Run, root, trivium};
use crate::random_c::{self, Words};
use crate::slow;
use std::path::{Path, PathBuf};
use trivium_front::Dialect;
use trivium_guest::{COMPILE_FLAGS, Shelf, Toolchain};

/// The lines that the program itself printed.
fn output(run: &Run) -> String {
    assert_eq!(run.code, Some(0), "{}", run.err);
    run.out.split("\noutput\n").nth(1).unwrap_or_else(|| panic!("no output: {}", run.out)).to_string()
}

fn simulated(program: &Path, nodes: &str, more: &[&str]) -> Run {
    let program = program.to_str().unwrap();
    trivium(&[&["sim", program, "-p", "stache", "-m", "typhoon", "-n", nodes][..], more].concat())
}

/// How many random programs are in a file.
fn programs() -> u64 {
    slow::all_or(20, 8)
}

/// How many files are tried: `make test-slow` tries 500 programs.
fn files() -> u64 {
    slow::all_or(25, 1)
}

#[test]
fn random_programs_mean_the_same_in_split_c() {
    let folder = crate::harness::folder();
    for number in 0..files() {
        let of = |name: &str, words: Words| {
            let path = folder.path().join(format!("{name}{number}.{}", if name == "c" { "c" } else { "sc" }));
            std::fs::write(&path, random_c::file(number * programs(), programs(), words)).unwrap();
            path
        };
        let expected = output(&simulated(&of("c", Words::Plain), "1", &[]));
        assert_eq!(expected.lines().count() as u64, programs());
        let plain = output(&simulated(&of("plain", Words::Plain), "1", &[]));
        assert_eq!(plain, expected, "as Split-C that uses nothing of it, file {number}");
        let split = of("split", Words::Split);
        for nodes in ["1", "3"] {
            assert_eq!(
                output(&simulated(&split, nodes, &[])),
                expected,
                "global and spread on {nodes} nodes, file {number}"
            );
        }
    }
}

/// The C compiler, in a folder for what it makes.
struct Compiler {
    toolchain: Toolchain,
    folder: crate::harness::Folder,
    shelf: Shelf,
}

impl Compiler {
    fn new() -> Compiler {
        let (toolchain, folder) = (Toolchain::find().unwrap(), crate::harness::folder());
        Compiler { toolchain, folder, shelf: Shelf::of_user().unwrap() }
    }

    /// What it makes of a file.
    fn makes(&self, of: &Path, name: &str, how: &[&str]) -> Vec<u8> {
        let out = self.folder.path().join(name);
        let mut command = self.toolchain.command(self.shelf.library(), self.folder.path());
        command.arg("cc").args(COMPILE_FLAGS).args(["-g0", "-w", "-Iprograms/include", "-Icrates/guest/tests/include"]);
        command.args(how).arg(of).arg("-o").arg(&out).current_dir(root());
        let done = command.output().unwrap();
        assert!(done.status.success(), "{}: {}", of.display(), String::from_utf8_lossy(&done.stderr));
        std::fs::read(out).unwrap()
    }

    /// The text that the preprocessor makes.
    fn preprocesses(&self, file: &Path) -> String {
        String::from_utf8(self.makes(file, "text.i", &["-E"])).unwrap()
    }
}

fn source(file: &str) -> Option<String> {
    std::fs::read_to_string(root().join(file)).ok()
}

/// Headers of the C library that programs may include.
const HEADERS: &str = "stdio stdlib string math stdint stdatomic assert ctype errno limits float stdbool stdarg time inttypes wchar \
                       wctype complex tgmath unistd fcntl dirent locale sys/stat sys/types strings iso646 fenv stdalign stdnoreturn";

#[test]
fn headers_of_the_c_library_are_understood() {
    let compiler = Compiler::new();
    let file = compiler.folder.path().join("headers.c");
    let names = HEADERS.split_whitespace();
    std::fs::write(&file, names.map(|name| format!("#include <{name}.h>\n")).collect::<String>()).unwrap();
    let text = compiler.preprocesses(&file);
    // Of mistakes in system headers nobody is told: here they are headers as any.
    let told: String = text.lines().map(|line| format!("{}\n", line.strip_suffix(" 3").unwrap_or(line))).collect();
    assert!(told.lines().count() > 3000, "{} lines", told.lines().count());
    let out = trivium_front::translate(&told, Dialect::C, &|_| None).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(out, told);
}

#[test]
fn shipped_programs_go_through_unchanged() {
    let compiler = Compiler::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("programs"))
        .unwrap()
        .map(|entry| Path::new("programs").join(entry.unwrap().file_name()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "c"))
        .collect();
    files.sort();
    let all = slow::is_asked_for();
    files.retain(|file| {
        all || ["em3d", "bodies", "splitphase", "atomics"].iter().any(|name| file.ends_with(format!("{name}.c")))
    });
    assert!(files.len() >= 4);
    for file in files {
        let text = compiler.preprocesses(&file);
        let c = trivium_front::translate(&text, Dialect::C, &source).unwrap_or_else(|wrong| panic!("{wrong}"));
        let path = compiler.folder.path().join("translated.c");
        std::fs::write(&path, c).unwrap();
        let (before, after) = (compiler.makes(&file, "before.o", &["-c"]), compiler.makes(&path, "after.o", &["-c"]));
        assert!(before == after, "{}: other code", file.display());
    }
}

#[test]
fn programs_run_under_every_protocol_and_on_any_number_of_nodes() {
    for (number, name) in ["pointers", "arrays", "together"].into_iter().enumerate() {
        let program = root().join(format!("docs/split-c/{name}.sc"));
        for nodes in slow::all_or(&["1", "2", "5"][..], &["3"]) {
            let lines = |run: &Run| {
                let mut lines: Vec<String> = output(run).lines().map(str::to_string).collect();
                lines.sort();
                lines
            };
            let of = |protocol: &str, block: &str| {
                let program = program.to_str().unwrap();
                lines(&trivium(&["sim", program, "-p", protocol, "-m", "typhoon", "-n", nodes, "--block", block]))
            };
            let expected = of("stache", "64");
            assert!(!expected.is_empty());
            let others = [("stache", "256"), ("msi", "32"), ("swcc", "64")];
            for (protocol, block) in slow::all_or(&others[..], &others[number..=number]).iter().copied() {
                assert_eq!(
                    of(protocol, block),
                    expected,
                    "{name} under {protocol}, blocks of {block}, on {nodes} nodes"
                );
            }
            let live = trivium(&["run", program.to_str().unwrap(), "-p", "stache", "-n", nodes]);
            assert_eq!(lines(&live), expected, "{name} for real, on {nodes} nodes");
        }
    }
}

/// Read misses of all 8 processors that multiply naively under `swcc_256`.
fn misses(size: u32, before: u32) -> u64 {
    let (size, before) = (size.to_string(), before.to_string());
    let run = ["sim", "programs/split-c/matmul.sc", "-p", "swcc", "-m", "typhoon", "-n", "8", "--block", "256"];
    // Processor 0 does not read the matrices again to check them.
    let all = [&run[..], &["--format", "json", "--", "-d", &size, "-c", "0", "-s", &before]].concat();
    trivium(&all).json(0)["misses"]["read"].as_u64().unwrap()
}

/// Table 2 of the study (`swcc_256`, 8 processors): shared reads of a processor times the share that misses.
#[test]
fn the_naive_matrix_multiply_misses_as_published() {
    for (size, each) in [(16, 14), (32, 35), (64, 119), (128, 455)] {
        assert_eq!(misses(size, 0), 8 * each, "d = {size}");
    }
}

#[test]
#[ignore = "minutes"]
fn the_largest_naive_multiplies_miss_as_published() {
    for (size, each) in [(256, 1799), (512, 7175)] {
        assert_eq!(misses(size, 0), 8 * each, "d = {size}");
    }
}

/// At d = 8 a processor's parts of A, B and C are 64 bytes each. How much of A lies in one block with C decides how often a write to C takes the block away
/// from the 7 others: never, after each of its 8 elements, or in between. The study has 19 misses; where its heap began is not known.
#[test]
fn the_smallest_multiply_misses_by_where_its_matrices_lie() {
    for (before, each) in [(0, 56), (48, 21), (64, 7), (128, 7), (176, 14)] {
        assert_eq!(misses(8, before), 8 * each, "{before} bytes before");
    }
}
