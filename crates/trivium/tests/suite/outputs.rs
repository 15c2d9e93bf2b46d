//! Where results are written: whole or not at all, following links, keeping modes, and never in place of what is no file.
#![cfg(unix)]

use crate::harness;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// A quick command whose result goes to `out`.
fn list_into(out: &Path) -> harness::Run {
    harness::trivium(&["protocols", "--out", out.to_str().unwrap()])
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_pipe_stays_a_pipe_and_gets_the_result() {
    let folder = crate::harness::folder();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    let run = list_into(&pipe);
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo(), "it was replaced: {}", run.err);
    let read = String::from_utf8(reader.wait_with_output().unwrap().stdout).unwrap();
    assert!(read.contains("stache") && run.code == Some(0), "{read}{}", run.err);
}

#[test]
fn links_are_followed_and_modes_kept() {
    let folder = crate::harness::folder();
    let [file, link, far, new] = ["file", "link", "far", "new"].map(|name| folder.path().join(name));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("file", &link).unwrap();
    assert_eq!(list_into(&link).code, Some(0));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "the link was replaced");
    assert!(fs::read_to_string(&file).unwrap().contains("stache"));
    assert_eq!(mode(&file), 0o600);
    // A link to what is not there yet makes it.
    symlink("new", &far).unwrap();
    assert_eq!(list_into(&far).code, Some(0));
    assert!(fs::symlink_metadata(&far).unwrap().is_symlink() && fs::read_to_string(&new).unwrap().contains("stache"));
}

#[test]
fn a_new_file_has_the_mode_that_the_umask_leaves() {
    let folder = crate::harness::folder();
    let out = folder.path().join("out");
    let script = format!("umask 027; '{}' protocols --out '{}'", env!("CARGO_BIN_EXE_trivium"), out.display());
    assert!(Command::new("sh").args(["-c", &script]).status().unwrap().success());
    assert_eq!(mode(&out), 0o640);
}

#[test]
fn a_full_standard_output_is_an_error() {
    let folder = crate::harness::folder();
    let new = folder.path().join("new").display().to_string();
    for args in [
        &["protocols"][..],
        &["check", "msi", "--nodes", "2"],
        &["show", "msi", "--source"],
        &["cc", "--version"],
        &["completions", "bash"],
        &["man"],
        &["init", &new],
        &["--help"],
        &["sim", "--help"],
        &["--version"],
    ] {
        let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return };
        let run = harness::command(args).stdout(full).output().unwrap();
        let err = String::from_utf8_lossy(&run.stderr);
        assert_ne!(run.status.code(), Some(0), "{args:?}: {err}");
        let told = args[0] == "cc" || err.contains("standard output cannot be written");
        assert!(told, "{args:?}: {err}");
    }
}

/// It has taken time, and is what one wanted to know.
#[test]
fn a_result_is_printed_although_a_picture_of_it_cannot_be_written() {
    if fs::metadata("/dev/full").is_err() {
        return;
    }
    let sim = ["sim", "hello", "-p", "msi", "-m", "typhoon", "-n", "2"];
    let folder = crate::harness::folder();
    let recording = folder.path().join("recording.json").display().to_string();
    let broken = "broken/msi-forgotten-ack";
    assert_eq!(harness::trivium(&["check", broken, "--format", "json", "--out", &recording]).code, Some(1));
    for (args, said) in [
        (vec!["check", broken, "--svg", "/dev/full"], "violated"),
        (vec!["check", broken, "--html", "/dev/full"], "violated"),
        (vec!["replay", &recording, "--svg", "/dev/full"], "forgotten-ack"),
        (vec!["show", "msi", "--svg", "/dev/full"], "GetRead"),
        ([&sim[..], &["--html", "/dev/full"]].concat(), "cycles"),
        ([&sim[..], &["--trace", "/dev/full"]].concat(), "cycles"),
        (vec!["compare", "hello", "-p", "msi", "-m", "typhoon", "-n", "2", "--svg", "/dev/full"], "typhoon"),
    ] {
        let run = harness::trivium(&args);
        assert!(run.code == Some(2) && run.out.contains(said), "{args:?}: {run:?}");
        assert!(run.err.contains("the file cannot be written: there is no room"), "{args:?}: {run:?}");
    }
}

/// Before much time is spent, and without a trace of the attempt.
#[test]
fn what_cannot_be_written_is_told_before_the_work() {
    let folder = crate::harness::folder();
    let out = folder.path().join("not/there.svg");
    let run = harness::trivium(&["check", "no-such-protocol", "--svg", out.to_str().unwrap()]);
    assert!(run.code == Some(2) && run.err.contains("its folder does not exist"), "{}", run.err);
    let good = folder.path().join("good.svg");
    harness::trivium(&["check", "no-such-protocol", "--svg", good.to_str().unwrap()]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was left");
}

#[test]
fn a_result_that_cannot_be_put_into_its_file_is_printed() {
    let run = list_into(Path::new("/dev/full"));
    assert!(run.code == Some(2) && run.out.contains("stache"), "{}{}", run.out, run.err);
    assert!(run.err.contains("the file cannot be written"), "{}", run.err);
}

/// A program was overwritten by its own result, and of two results in one file the second stayed.
#[test]
fn no_result_goes_over_an_input_or_another_result() {
    let folder = crate::harness::folder();
    let [program, link, hard, out] = ["p.c", "link", "hard", "out"].map(|name| folder.path().join(name));
    fs::write(&program, "int main(void) { return 0; }\n").unwrap();
    symlink("p.c", &link).unwrap();
    fs::hard_link(&program, &hard).unwrap();
    let sim = |more: &[&str]| {
        let args = [&["sim", program.to_str().unwrap(), "-p", "msi", "-m", "typhoon", "-n", "1"], more].concat();
        harness::trivium(&args)
    };
    for over in [&program, &link, &hard] {
        for option in ["--out", "--html", "--trace"] {
            sim(&[option, over.to_str().unwrap()]).refuses(2, &["the command reads", "p.c", "name another file"]);
        }
    }
    let same = folder.path().join("./out");
    sim(&["--out", out.to_str().unwrap(), "--html", same.to_str().unwrap()])
        .refuses(2, &["two results would be written into one file"]);
    assert_eq!(fs::read_to_string(&program).unwrap(), "int main(void) { return 0; }\n");
    assert!(!out.exists());
    // A device takes all that is written to it, and the name of what is built in is no file.
    assert_eq!(sim(&["--out", "/dev/null", "--html", "/dev/null"]).code, Some(0));
    let named = harness::command(&["show", "msi", "--out", "msi"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(named.status.code(), Some(0), "{named:?}");
    harness::trivium(&["cc", "-c", program.to_str().unwrap(), "-o", hard.to_str().unwrap()])
        .refuses(2, &["names a file that is compiled"]);
}

/// The words named neither the folder nor why a file in it is made.
#[test]
fn a_folder_in_which_no_file_can_be_made_is_named() {
    use std::os::unix::process::CommandExt;
    /// A user that may do nothing: the superuser may write everywhere.
    const NOBODY: u32 = 65534;
    let folder = crate::harness::folder();
    let out = folder.path().join("out");
    fs::write(&out, "old").unwrap();
    fs::set_permissions(&out, fs::Permissions::from_mode(0o666)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let mut list = harness::command(&["protocols", "--out", out.to_str().unwrap()]);
    let is_root = std::os::unix::fs::MetadataExt::uid(&fs::metadata(folder.path()).unwrap()) == 0;
    if is_root {
        list.uid(NOBODY).current_dir("/");
    }
    let Ok(run) = list.output() else { return };
    let err = String::from_utf8(run.stderr).unwrap();
    let named = format!("you may not make files in its folder {}", folder.path().canonicalize().unwrap().display());
    assert!(run.status.code() == Some(2) && err.contains(&named), "{err}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "old");
}

/// Nobody hears what is said: the exit code is what it would be.
#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    for (args, code) in [
        (&["run", "nosuch.c", "-p", "stache"][..], 2),
        (&["sim", "programs/hello.c", "-p", "stache", "-m", "typhoon", "--max-cycles", "10"], 3),
        (&["check", "msi", "--max-states", "5"], 3),
    ] {
        let mut command = harness::command(args);
        let status = command.stdout(Stdio::null()).stderr(closed()).status().unwrap();
        assert_eq!(status.code(), Some(code), "{args:?}");
    }
}
