//! Compiled programs are kept as long as the compiler would read the same again, and nowhere where others can write.

use std::fs;
use std::path::{Path, PathBuf};

use trivium_diagnostic::Diagnostic;
use trivium_guest::{CompileOptions, Compiled, Program, Shelf, Toolchain, compile, compile_c};

/// A folder with `answer.c`, whose headers are in `include` and `later`, and a shelf.
struct Place {
    folder: tempfile::TempDir,
    toolchain: Toolchain,
    flags: Vec<String>,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Place {
        let folder = tempfile::tempdir().expect("a directory");
        let toolchain = Toolchain::find().expect("a compiler");
        let place = Place { folder, toolchain, flags: Vec::new() };
        for name in ["include", "later"] {
            fs::create_dir_all(place.path(name)).expect("a directory");
        }
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("in a folder")).expect("a directory");
        fs::write(path, text).expect("written");
        // A file that changes while it is compiled is not kept; the clock of file systems is coarse.
        std::thread::sleep(std::time::Duration::from_millis(20));
    }

    fn options(&self, toolchain: &Toolchain) -> CompileOptions<'static> {
        let shelf = Shelf::at(&self.path("shelf")).expect("a shelf");
        let mut options = CompileOptions::with(vec![self.path("include"), self.path("later")], shelf);
        options.toolchain = Some(toolchain.clone());
        options.flags = self.flags.clone();
        options
    }

    fn compiled(&self) -> Compiled {
        compile(&[self.path("answer.c")], &self.options(&self.toolchain)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Without a compiler that can be started: only what is kept is found.
    fn kept(&self) -> Result<Compiled, Diagnostic> {
        let broken = Toolchain { zig: "/nowhere/zig".into(), ..self.toolchain.clone() };
        compile(&[self.path("answer.c")], &self.options(&broken)).map_err(|mut wrong| wrong.list.remove(0))
    }

    /// It was kept, and after this change is compiled anew, to something else.
    #[track_caller]
    fn notices(&self, what: &str, change: impl FnOnce()) {
        let before = self.compiled().module;
        assert!(self.kept().expect("found again").module == before, "{what}");
        change();
        let error = self.kept().expect_err(what);
        assert!(error.message.contains("cannot be started"), "{what}: {error}");
        assert!(self.compiled().module != before, "{what}");
        assert!(self.kept().is_ok(), "{what}: kept again");
    }
}

const ANSWER: &str = "#include <answer.h>\nint main(void) { return ANSWER; }\n";

#[test]
fn a_changed_header_is_seen_wherever_it_is_and_whatever_it_is_called() {
    let source = "#include <deep/answer.h>\n#include \"../elsewhere/more.inc\"\n#include <stdio.h>\n\
        static const char data[] = {\n#embed \"data.bin\"\n};\n\
        int main(void) { printf(\"%s\", data); return ANSWER + MORE; }\n";
    let place = Place::new(&[("include/deep/answer.h", "#define ANSWER 42\n"), ("src/data.bin", "some")]);
    place.write("elsewhere/more.inc", "#define MORE 1\n");
    place.write("src/answer.c", source);
    place.write("answer.c", "#include \"src/answer.c\"\n");
    place.notices("a header in a folder of the include path", || {
        place.write("include/deep/answer.h", "#define ANSWER 43\n")
    });
    place.notices("a file that is no .h", || place.write("elsewhere/more.inc", "#define MORE 2\n"));
    place.notices("embedded data", || place.write("src/data.bin", "more"));
    place.notices("a source that is included", || place.write("src/answer.c", &source.replace("+ MORE", "- MORE")));
}

#[test]
fn a_new_file_that_shadows_another_is_seen() {
    let place = Place::new(&[("answer.c", ANSWER), ("later/answer.h", "#define ANSWER 42\n")]);
    place.notices("a header earlier on the include path", || place.write("include/answer.h", "#define ANSWER 43\n"));

    let place = Place::new(&[("answer.c", "#include \"answer.h\"\nint main(void) { return ANSWER; }\n")]);
    place.write("later/answer.h", "#define ANSWER 42\n");
    place.notices("a header beside the source", || place.write("answer.h", "#define ANSWER 43\n"));

    let asks = "#if __has_include(\"extra.h\")\n#include \"extra.h\"\n#else\n#define ANSWER 1\n#endif\n\
        int main(void) { return ANSWER; }\n";
    let place = Place::new(&[("answer.c", asks)]);
    place.notices("a header that was asked for", || place.write("include/extra.h", "#define ANSWER 43\n"));

    let named = "#define NAME <deep/answer.h>\n#include NAME\n#include <limits.h>\nint main(void) { return ANSWER; }\n";
    let place = Place::new(&[("answer.c", named), ("later/deep/answer.h", "#define ANSWER 42\n")]);
    place.notices("a header that a macro names", || place.write("include/deep/answer.h", "#define ANSWER 43\n"));
    place.notices("a header of the C library", || {
        place.write("include/limits.h", "#undef ANSWER\n#define ANSWER 44\n");
    });
}

#[test]
fn a_file_that_becomes_what_it_was_is_found_again() {
    let place = Place::new(&[("answer.c", "int main(void) { return 1; }\n")]);
    let first = place.compiled().module;
    place.notices("other contents", || place.write("answer.c", "int main(void) { return 2; }\n"));
    place.write("answer.c", "int main(void) { return 1; }\n");
    assert!(place.kept().expect("the first is kept beside the second").module == first);
}

#[test]
fn flags_and_compilers_are_told_apart() {
    let mut place = Place::new(&[("answer.c", "int main(void) { return ANSWER; }\n")]);
    let mut answers = Vec::new();
    for answer in ["-DANSWER=1", "-DANSWER=2"] {
        place.flags = vec![answer.to_string()];
        answers.push(place.compiled().module);
        assert!(place.kept().expect("kept").module == answers[answers.len() - 1]);
    }
    assert!(answers[0] != answers[1]);
    place.toolchain.version.push('1');
    assert!(place.kept().is_err(), "another compiler compiles anew");
    place.flags = vec!["-o".into(), "elsewhere".into()];
    let error = compile(&[place.path("answer.c")], &place.options(&place.toolchain)).expect_err("no flag of a program");
    assert!(error.list[0].message.contains("-o"), "{error}");
}

#[test]
fn what_is_kept_is_whole_or_not_believed() {
    let place = Place::new(&[("answer.c", ANSWER), ("include/answer.h", "#define ANSWER 42\n")]);
    let first = place.compiled();
    assert_eq!(first.note, None);
    let files =
        || fs::read_dir(place.path("shelf")).expect("made").flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    let names = files();
    assert_eq!(names.len(), 1, "whole programs and nothing else: {names:?}");
    let whole = fs::read(&names[0]).expect("readable");
    let last = whole.len() - 1;
    let mut changed = whole.clone();
    changed[last] ^= 1;
    for wrong in [&b""[..], b"garbage\n", &whole[..last], &changed] {
        fs::write(&names[0], wrong).expect("written");
        assert!(place.kept().is_err(), "a damaged file is not believed");
        assert!(place.compiled().module == first.module);
        assert!(place.kept().is_ok(), "and is replaced");
    }
    fs::remove_file(&names[0]).expect("removed");
    fs::create_dir(&names[0]).expect("a folder in its place");
    let compiled = place.compiled();
    assert!(compiled.module == first.module && compiled.note.is_some(), "it says so and goes on: {:?}", compiled.note);
}

#[test]
fn other_files_do_not_matter() {
    let place = Place::new(&[("answer.c", ANSWER), ("include/answer.h", "#define ANSWER 42\n")]);
    let first = place.compiled();
    #[cfg(unix)]
    std::os::unix::fs::symlink("someone@somewhere.1234", place.path(".#answer.c")).expect("an editor's lock");
    fs::write(place.path("other.c"), "int x;\n").expect("written");
    fs::write(place.path("include/other.h"), [0xff, 0xfe]).expect("written");
    assert!(place.kept().expect("nothing that is read has changed").module == first.module);
}

#[test]
fn two_at_once_do_not_disturb_each_other() {
    let place = Place::new(&[("answer.c", ANSWER), ("include/answer.h", "#define ANSWER 42\n")]);
    let modules: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| place.compiled().module)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(modules.iter().all(|module| *module == modules[0]));
    assert!(place.kept().expect("kept").module == modules[0]);
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_write_to_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new(&[("answer.c", ANSWER), ("include/answer.h", "#define ANSWER 42\n")]);
    fs::create_dir(place.path("shelf")).expect("a folder");
    fs::set_permissions(place.path("shelf"), fs::Permissions::from_mode(0o777)).expect("changed");
    let compiled = place.compiled();
    assert!(compiled.note.as_ref().is_some_and(|note| note.contains("others may write")), "{:?}", compiled.note);
    assert_eq!(fs::read_dir(place.path("shelf")).expect("there").count(), 0);
    fs::remove_dir(place.path("shelf")).expect("removed");
    fs::write(place.path("shelf"), "a file").expect("written");
    let compiled = place.compiled();
    assert!(compiled.note.is_some_and(|note| note.contains("not kept")));
}

#[test]
fn a_refused_program_leaves_nothing_behind() {
    let place = Place::new(&[("answer.c", "int main(void) { return missing(); }\nint x = y;\n")]);
    let error = compile_c(&place.path("answer.c"), &place.options(&place.toolchain)).expect_err("refused");
    assert!(error.list[0].message.contains("answer.c:2:9: error: use of undeclared identifier 'y'"), "{error}");
    assert_eq!(fs::read_dir(place.path("shelf")).expect("made").count(), 0);
}

#[test]
fn a_program_without_main_is_refused() {
    let place = Place::new(&[("answer.c", "int answer(void) { return 42; }\n")]);
    let error = Program::load(&place.compiled().module, "answer.c").map(|_| ()).expect_err("refused");
    assert!(error.message.contains("no function `main`"), "{error}");
}

/// Lines name the files as they were given; what is executed, and the hash in results, do not tell them.
#[test]
fn it_does_not_matter_where_a_module_was_made() {
    let made = || {
        let place = Place::new(&[("answer.c", "int main(void) { return 7; }\n")]);
        let module = place.compiled().module;
        (Program::load(&module, "answer.c").expect("a program").hash().to_string(), module)
    };
    let (one, other) = (made(), made());
    assert_eq!(one.0, other.0);
    assert!(one.1 != other.1, "the absolute name of the file is in the debug information");
    assert!(one.1.len() < 1_000_000, "{} bytes", one.1.len());
}

#[test]
fn several_files_make_one_program() {
    let place = Place::new(&[("a.c", "int other(void);\nint main(void) { return other(); }\n")]);
    place.write("b.c", "#include <answer.h>\nint other(void) { return ANSWER; }\n");
    place.write("include/answer.h", "#define ANSWER 42\n");
    let build =
        || compile(&[place.path("a.c"), place.path("b.c")], &place.options(&place.toolchain)).expect("C").module;
    let first = build();
    assert!(build() == first);
    place.write("include/answer.h", "#define ANSWER 43\n");
    assert!(build() != first, "what the second file reads counts, too");
}

/// Of several files each is compiled once, as long as it would read the same. The program is what it is where nothing was kept.
#[test]
fn objects_of_files_are_kept_as_long_as_they_would_be_the_same() {
    let place = Place::new(&[
        ("answer.c", "#include <number.h>\nint more(void);\nint main(void) { return NUMBER + more(); }\n"),
        ("more.c", "#include <number.h>\nint more(void) { return 2 * NUMBER; }\n"),
        ("later/number.h", "#define NUMBER 3\n"),
    ]);
    let objects = || {
        let names =
            fs::read_dir(place.path("shelf")).expect("a folder").map(|entry| entry.expect("a file").file_name());
        names.filter(|name| name.to_string_lossy().contains("-object")).count()
    };
    let files = [place.path("answer.c"), place.path("more.c")];
    let compiled = |place: &Place| compile(&files, &place.options(&place.toolchain)).expect("a program").module;
    let anew = || {
        let folder = tempfile::tempdir().expect("a directory");
        let mut options = place.options(&place.toolchain);
        options.shelf = Shelf::at(folder.path()).expect("a shelf");
        compile(&files, &options).expect("a program").module
    };
    let mut last = compiled(&place);
    assert_eq!(objects(), 2);
    let changes = [
        ("more.c", "#include <number.h>\nint more(void) { return 5 * NUMBER; }\n"),
        ("later/number.h", "#define NUMBER 4\n"),
        ("include/number.h", "#define NUMBER 7\n"),
    ];
    for (name, text) in changes {
        place.write(name, text);
        let now = compiled(&place);
        assert_ne!(now, last, "{name}");
        assert_eq!(now, anew(), "{name}");
        last = now;
    }
    let mut place = place;
    place.flags = vec![format!("@{}", place.path("flags").display())];
    for number in ["8", "9"] {
        place.write("flags", &format!("-DNUMBER={number}\n"));
        place.write("include/number.h", "");
        let now = compile(&files, &place.options(&place.toolchain)).expect("a program").module;
        assert_ne!(now, last, "flags {number}");
        last = now;
    }
}

/// The folder that one works in may be a stranger's.
#[cfg(unix)]
#[test]
fn no_compiler_of_the_working_folder_is_started() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new(&[]);
    let started = place.path("started");
    let python = format!("#!/bin/sh\ntouch {}\nexit 1\n", started.display());
    place.write(".venv/bin/python", &python);
    place.write(".venv/pyvenv.cfg", "");
    place.write("python3", &python);
    for program in [".venv/bin/python", "python3"] {
        fs::set_permissions(place.path(program), fs::Permissions::from_mode(0o755)).expect("changed");
    }
    place.write("ziglang/__init__.py", &format!("open({:?}, 'w')", started));
    place.write("ziglang/__main__.py", &format!("open({:?}, 'w')", started));
    let test = std::env::current_exe().expect("this test");
    let path = format!(".::{}", std::env::var("PATH").unwrap_or_default());
    let run = std::process::Command::new(test)
        .args(["--exact", "a_compiler_is_found", "--ignored"])
        .current_dir(place.folder.path())
        .env("PATH", path)
        .env("PYTHONPATH", place.folder.path())
        .output()
        .expect("this test starts");
    assert!(run.status.success(), "{run:?}");
    assert!(!started.exists(), "code of the folder was run");
}

#[test]
#[ignore = "a part of the test above, run from another folder"]
fn a_compiler_is_found() {
    let found = Toolchain::find().expect("a compiler");
    assert!(found.zig.is_absolute() && found.zig.is_file(), "{found:?}");
    let python = Path::new("/usr/bin/python3");
    if python.is_file() {
        // Asked, whether it has the compiler or not.
        let _ = Toolchain::of(python);
    }
}
