//! Compiled programs are kept, under a hash of everything that they are made of.

use std::fs;
use std::path::Path;

use trivium_guest::{CompileOptions, Toolchain, compile_c};

fn options(dir: &Path, toolchain: Toolchain) -> CompileOptions {
    let mut options = CompileOptions::new(vec![dir.join("include")]);
    options.cache_dir = dir.join("cache");
    options.toolchain = Some(toolchain);
    options
}

/// The compiler as it is, but it cannot be started.
fn broken(toolchain: &Toolchain) -> Toolchain {
    Toolchain { python: "/nowhere/python".into(), version: toolchain.version.clone() }
}

#[test]
fn a_changed_header_is_seen_and_an_unchanged_program_is_found() {
    let toolchain = Toolchain::find().expect("a compiler");
    let dir = tempfile::tempdir().expect("a directory");
    let source = dir.path().join("answer.c");
    fs::create_dir_all(dir.path().join("include/deep")).expect("a directory");
    let header = dir.path().join("include/deep/answer.h");
    fs::write(&source, "#include <deep/answer.h>\nint main(void) { return ANSWER; }\n").expect("written");
    fs::write(&header, "#define ANSWER 42\n").expect("written");
    let first = compile_c(&source, &options(dir.path(), toolchain.clone())).expect("C");
    let kept = compile_c(&source, &options(dir.path(), broken(&toolchain))).expect("found again");
    assert_eq!(first, kept);

    fs::write(&header, "#define ANSWER 43\n").expect("written");
    let error = compile_c(&source, &options(dir.path(), broken(&toolchain))).expect_err("changed");
    assert!(error.what.contains("cannot be started"), "{error}");
    let changed = compile_c(&source, &options(dir.path(), toolchain.clone())).expect("C");
    assert_ne!(first, changed);

    let mut newer = broken(&toolchain);
    newer.version.push('1');
    assert!(compile_c(&source, &options(dir.path(), newer)).is_err(), "another compiler compiles anew");
    let names: Vec<_> = fs::read_dir(dir.path().join("cache")).expect("made").flatten().collect();
    assert_eq!(names.len(), 2, "whole programs and nothing else: {names:?}");
}

#[test]
fn a_refused_program_leaves_nothing_behind() {
    let toolchain = Toolchain::find().expect("a compiler");
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(dir.path().join("include")).expect("a directory");
    let source = dir.path().join("broken.c");
    fs::write(&source, "int main(void) { return missing(); }\nint x = y;\n").expect("written");
    let error = compile_c(&source, &options(dir.path(), toolchain)).expect_err("refused");
    assert!(error.what.contains("broken.c:2:9: error: use of undeclared identifier 'y'"), "{error}");
    assert_eq!(fs::read_dir(dir.path().join("cache")).expect("made").count(), 0);
}

#[test]
fn modules_do_not_tell_where_they_were_made() {
    let toolchain = Toolchain::find().expect("a compiler");
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(dir.path().join("include")).expect("a directory");
    let source = dir.path().join("where.c");
    fs::write(&source, "int main(void) { return 7; }\n").expect("written");
    let module = compile_c(&source, &options(dir.path(), toolchain)).expect("C");
    let path = dir.path().as_os_str().as_encoded_bytes();
    assert!(!module.windows(path.len()).any(|window| window == path));
    assert!(module.len() < 100_000, "{} bytes", module.len());
}
