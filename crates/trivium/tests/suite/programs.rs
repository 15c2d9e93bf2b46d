//! Programs as people have them: several files, a Makefile, flags, a home or none.

use crate::harness::{self, Run, command, root, trivium};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A copy of the example project, in which things may be changed.
fn project(into: &Path) {
    let from = root().join("crates/trivium/tests/project");
    std::fs::create_dir_all(into.join("include")).unwrap();
    for name in ["Makefile", "main.c", "sum.c", "include/sum.h"] {
        std::fs::copy(from.join(name), into.join(name)).unwrap();
    }
}

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let output = command(args).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// `make`, and what it did.
fn make(folder: &Path) -> String {
    let compiler = format!("CC={} cc", env!("CARGO_BIN_EXE_trivium"));
    let output = Command::new("make").arg(compiler).current_dir(folder).output().expect("make is installed");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    assert!(output.status.success(), "{}{}", text(output.stdout), text(output.stderr));
    text(output.stdout)
}

const ON: [&str; 6] = ["-p", "msi", "-m", "typhoon", "-n", "2"];

#[test]
fn a_makefile_builds_a_program_with_trivium_cc() {
    let folder = crate::harness::folder();
    project(folder.path());
    make(folder.path());
    assert!(make(folder.path()).contains("up to date"));
    let rule = std::fs::read_to_string(folder.path().join("sum.d")).unwrap();
    assert!(rule.starts_with("sum.o: sum.c") && rule.contains("include/sum.h"), "{rule}");
    let run = run_in(folder.path(), &[&["sim", "total"][..], &ON].concat());
    assert!(run.code == Some(0) && run.out.contains("node 1 of 2: 45, 1 words"), "{run:?}");
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(folder.path().join("include/sum.h"), "#define SCALE 2\ndouble sum(int limit);\n").unwrap();
    let done = make(folder.path());
    assert!(done.contains("sum.c") && done.contains("main.c"), "the header counts: {done}");
    let run = run_in(folder.path(), &[&["sim", "total"][..], &ON].concat());
    assert!(run.out.contains("node 1 of 2: 90, 1 words"), "{run:?}");
}

#[test]
fn several_files_and_flags_make_a_program() {
    let folder = crate::harness::folder();
    project(folder.path());
    let files = ["sim", "main.c", "sum.c", "--cc", "-Iinclude -DLIMIT=5 -pthread"];
    let run = run_in(folder.path(), &[&files[..], &ON, &["--", "a", "{nodes}"]].concat());
    assert!(run.code == Some(0) && run.out.contains("node 0 of 2: 10, 3 words"), "{run:?}");
    let mut compare = vec!["compare", "main.c", "sum.c", "--cc", "-Iinclude '-DLIMIT=(2 + 3)'"];
    compare.extend(["--protocols", "msi", "--machines", "typhoon", "-n", "2"]);
    assert_eq!(run_in(folder.path(), &compare).code, Some(0));
    let wrong = |args: &[&str]| run_in(folder.path(), &[&["sim"], args, &ON].concat());
    wrong(&["main.c", "sum.c", "--cc", "-Iinclude -o x"]).refuses(2, &["-o has no place"]);
    wrong(&["main.c", "sum.c", "--cc", "'"]).refuses(2, &["a quote is not closed"]);
    wrong(&["main.c", "total.wasm"]).refuses(2, &["total.wasm cannot be a part"]);
    wrong(&["main.c", "none.c"]).refuses(2, &["there is no such file", "none.c"]);
    wrong(&["Makefile"]).refuses(2, &["neither C, Split-C, C* nor WebAssembly"]);
    wrong(&["main.c", "--cc", "-DLIMIT=2"]).refuses(2, &["sum.h"]);
    wrong(&["main.c", "--cc", "-DLIMIT=2 -Iinclude"])
        .refuses(2, &["`sum` (main.c:", " in main) is not in the C library", "name the file"]);
}

#[test]
fn flags_of_the_compiler_are_not_taken_for_ours() {
    trivium(&[&["sim", "programs/hello.c", "-pthread"][..], &ON].concat()).refuses(2, &["-pthread is a flag", "--cc"]);
    trivium(&[&["sim", "programs/hello.c", "-DN=1"][..], &ON].concat()).refuses(2, &["--cc \"-DN=1\""]);
    let run = trivium(&[&["sim", "programs/hello.c"][..], &ON, &["--", "-pthread"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn trivium_cc_answers_as_a_compiler_does() {
    let run = trivium(&["cc", "--version"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let folder = crate::harness::folder();
    std::fs::write(folder.path().join("bad.c"), "int main(void) { return x; }\n").unwrap();
    let run = run_in(folder.path(), &["cc", "-c", "bad.c"]);
    assert!(run.code == Some(2) && run.err.starts_with("bad.c:1:25: error: "), "{run:?}");
    assert!(!folder.path().join("bad.o").exists());
    run_in(folder.path(), &["cc", "-c", "a.c", "b.c", "-o", "x.o"]).refuses(2, &["several sources"]);
    run_in(folder.path(), &["cc", "bad.c", "-o"]).refuses(2, &["-o wants a value"]);
}

/// Runs hello.c with this in place of the user's home.
fn at_home(home: Option<&Path>) -> Run {
    let mut hello = command(&[&["sim", "programs/hello.c"][..], &ON].concat());
    hello.env_remove("XDG_CACHE_HOME").env_remove("HOME").envs(home.map(|home| ("HOME", home)));
    let output = hello.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Each builds the C library anew, which takes half a minute.
#[test]
#[ignore = "slow: builds the C library three times"]
fn a_home_is_not_needed() {
    let folder = crate::harness::folder();
    let file: PathBuf = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (home, why) in [(None, "neither HOME nor"), (Some(file.as_path()), "file/.cache/trivium")] {
        let run = at_home(home);
        assert!(run.code == Some(0) && run.out.contains("hello from node 1 of 2"), "{run:?}");
        assert!(run.err.contains("note: compiled programs are not kept") && run.err.contains(why), "{run:?}");
    }
    let run = at_home(Some(folder.path()));
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    let again = at_home(Some(folder.path()));
    assert_eq!((again.out, again.err), (run.out, run.err));
}

#[test]
fn a_program_is_told_the_number_of_nodes() {
    let folder = crate::harness::folder();
    let source = folder.path().join("told.c");
    let text = "#include <stdlib.h>\n#include <trivium.h>\n\
        int main(int count, char **args) { return count == 2 && atoi(args[1]) == trivium_nodes() ? 0 : 9; }\n";
    std::fs::write(&source, text).unwrap();
    let program = source.to_str().unwrap();
    let compare = ["compare", program, "--protocols", "msi", "--machines", "typhoon", "-n", "4", "--"];
    let run = trivium(&[&compare[..], &["{nodes}"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = trivium(&[&compare[..], &["4"]].concat());
    assert_eq!(run.code, Some(9), "{run:?}");
    assert!(run.err.contains("the run on one node") && run.err.contains("{nodes}"), "{run:?}");
    let run = trivium(&["sim", program, "-p", "msi", "-m", "typhoon", "-n", "3", "--", "{nodes}"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn unequal_allocations_are_told_in_words() {
    let folder = crate::harness::folder();
    let source = folder.path().join("unequal.c");
    let text = "#include <trivium.h>\nint main(void) {\n\
        return (trivium_node() ? trivium_alloc_on(0, 64) : trivium_alloc_round_robin(128)) == 0;\n}\n";
    std::fs::write(&source, text).unwrap();
    let run = trivium(&[&["sim", source.to_str().unwrap()][..], &ON].concat());
    run.refuses(1, &["64 bytes on node 0", "128 bytes page by page over all nodes", "collective"]);
}

const READER: &str = "#include <stdio.h>\n#include <sys/stat.h>\n#include <trivium.h>\n\
    int main(int count, char **args) {\n\
      int number = 0, sum = 0;\n  while (scanf(\"%d\", &number) == 1) sum += number;\n\
      for (int i = 1; i < count; i++) {\n    char line[80];\n    struct stat about;\n    FILE *file = fopen(args[i], \"r\");\n\
        if (!file) { perror(args[i]); continue; }\n    stat(args[i], &about);\n\
        while (fgets(line, sizeof line, file)) printf(\"%d: %s\", trivium_node(), line);\n\
        printf(\"%d at %ld of %d\\n\", trivium_node(), ftell(file), (int)about.st_size);\n\
        rewind(file);\n    printf(\"again %c\\n\", fgetc(file));\n    fclose(file);\n  }\n\
      printf(\"%d: sum %d\\n\", trivium_node(), sum);\n\
      return fopen(\"new\", \"w\") != NULL;\n}\n";

#[test]
fn every_node_reads_its_own_input_and_the_files_of_the_folder_that_is_named() {
    let folder = crate::harness::folder();
    let place = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(place("data/deep")).unwrap();
    std::fs::write(place("reader.c"), READER).unwrap();
    std::fs::write(place("data/deep/in.txt"), "one\ntwo\n").unwrap();
    std::fs::write(place("secret"), "secret\n").unwrap();
    std::fs::write(place("numbers"), "1 2\n39\n").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", place("data/link")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("deep/in.txt", place("data/inside")).unwrap();
    let read = |more: &[&str]| {
        let args = [&["sim", "reader.c", "--format", "json"][..], &ON, more].concat();
        let stdin = std::fs::File::open(place("numbers")).unwrap();
        let output = command(&args).current_dir(folder.path()).stdin(stdin).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    };
    let result = read(&["--dir", "data", "--", "deep/in.txt", "./inside"]).json(0);
    let output = result["output"].as_str().unwrap();
    for line in ["0: one", "1: two", "0 at 8 of 8", "1 at 8 of 8", "again o", "0: sum 42", "1: sum 42"] {
        assert!(output.contains(line), "{line}: {output}");
    }
    assert_eq!(harness::keys(&result["hashes"])[3..], ["stdin", "file deep/in.txt"]);
    assert!(!place("data/new").exists());
    for outside in ["link", "../secret", "/etc/passwd", "deep/../../secret", "none"] {
        let result = read(&["--dir", "data", "--", outside]).json(0);
        assert!(!result["errors"].as_str().unwrap().is_empty(), "{outside}: the program is told why: {result}");
        assert!(!result["output"].as_str().unwrap().contains(" at "), "{outside}: {result}");
        assert_eq!(harness::keys(&result["hashes"])[3..], ["stdin"]);
    }
    let nothing = read(&["--", "data/deep/in.txt"]).json(0);
    assert!(!nothing["errors"].as_str().unwrap().is_empty(), "without --dir there are no files: {nothing}");
    read(&["--dir", "nowhere"]).refuses(2, &["no such folder", "nowhere"]);
}

/// The C library's own atomic operations were told of, of every program that opens a file, and then none of the program's.
#[test]
fn atomic_operations_of_the_library_are_not_the_programs() {
    let folder = crate::harness::folder();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    std::fs::write(folder.path().join("data/in"), "1").unwrap();
    let text = "#include <stdio.h>\n#include <stdatomic.h>\nstatic atomic_int own;\n\
        __attribute__((noinline)) static void count(void) { atomic_fetch_add(&own, 1); }\n\
        int main(int c, char **args) { (void)args; FILE *f = fopen(\"in\", \"r\"); if (c > 1) count(); return !f || fclose(f); }\n";
    std::fs::write(folder.path().join("reads.c"), text).unwrap();
    let reads = |more: &[&str]| run_in(folder.path(), &[&["sim", "reads.c", "--dir", "data"][..], &ON, more].concat());
    let run = reads(&[]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    let run = reads(&["--", "count"]);
    assert!(run.code == Some(0) && run.err.contains("uses an atomic operation in count on private memory"), "{run:?}");
}

/// The first variable that the line assigns was taken for the name.
#[test]
fn an_allocation_has_the_name_of_the_variable_that_it_is_assigned_to() {
    let folder = crate::harness::folder();
    let text = "#include <trivium.h>\nint main(void) {\n\
        int me = trivium_node(); int *words = trivium_alloc_on(0, 64); int *more =\n      trivium_alloc_on(0, 64);\n\
        if (me == 0) trivium_wait_until_changed(words, 0);\n  trivium_wait_until_changed(more, 0);\n  return 0;\n}\n";
    std::fs::write(folder.path().join("named.c"), text).unwrap();
    let run = run_in(folder.path(), &[&["sim", "named.c"][..], &ON].concat());
    run.refuses(1, &["node 0, since", "the beginning of `words`", "node 1, since", "the beginning of `more`"]);
}

/// Folders could not be listed, and a file opened for writing failed only when it was closed.
#[test]
fn folders_are_listed_in_order_and_nothing_is_opened_for_writing() {
    let folder = crate::harness::folder();
    for name in ["data/deep", "data/a"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    for name in ["data/z.txt", "data/b.txt", "data/deep/x", "secret"] {
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", folder.path().join("data/out")).unwrap();
    let text = "#include <dirent.h>\n#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <string.h>\n#include <sys/stat.h>\n\
        static void list(const char *path) {\n  DIR *folder = opendir(path);\n  struct dirent *one;\n\
          if (!folder) { printf(\"%s: %s\\n\", path, strerror(errno)); return; }\n\
          while ((one = readdir(folder))) printf(\"%s/%s %d\\n\", path, one->d_name, one->d_type == DT_DIR);\n  closedir(folder);\n}\n\
        int main(void) {\n  struct stat about;\n  list(\".\");\n  list(\"deep\");\n  list(\"b.txt\");\n  list(\"..\");\n\
          printf(\"%d\\n\", stat(\"deep\", &about) == 0 && S_ISDIR(about.st_mode));\n\
          printf(\"%d\\n\", !fopen(\"b.txt\", \"r+\") && errno == EROFS);\n\
          printf(\"%d\\n\", open(\"b.txt\", O_RDWR) < 0 && errno == EROFS);\n  return 0;\n}\n";
    std::fs::write(folder.path().join("list.c"), text).unwrap();
    let args = ["sim", "list.c", "--dir", "data", "-p", "msi", "-m", "typhoon", "-n", "1", "--format", "json"];
    let result = run_in(folder.path(), &args).json(0);
    let output = result["output"].as_str().unwrap();
    let expected = "./. 1\n./.. 1\n./a 1\n./b.txt 0\n./deep 1\n./out 0\n./z.txt 0\ndeep/. 1\ndeep/.. 1\ndeep/x 0\n";
    assert!(output.starts_with(expected) && output.ends_with("1\n1\n1\n"), "{output}");
    assert!(output.contains("b.txt: Not a directory"), "{output}");
    assert_eq!(harness::keys(&result["hashes"])[3..], ["folder .", "folder deep"]);
}

/// What `make bench-run` measures of locks and barriers still is a program for these protocols.
#[test]
fn programs_of_the_bench_know_their_protocols() {
    for (program, protocol) in [("barriers", "flash-barrier"), ("locks", "flash-lock"), ("entries", "flash-lock")] {
        let program = format!("programs/peers/{program}.c");
        let run = trivium(&["sim", &program, "-p", "stache", "-p", protocol, "-m", "flash", "-n", "2"]);
        assert_eq!(run.code, Some(0), "{program}: {run:?}");
    }
}
