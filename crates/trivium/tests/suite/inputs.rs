//! Files that are none: pipes, devices, zero bytes, escape characters. Each is one clear error, at once.

use crate::harness::{self, command, trivium};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What the command says of it on standard error. It must end by itself within seconds.
fn refused(args: &[&str]) -> String {
    let mut child = command(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{args:?}: {said}");
    assert_eq!(said.matches("error: ").count(), 1, "{args:?}: {said}");
    said
}

/// The commands that read a file of each kind, with the file's ending.
fn commands(file: &str) -> Vec<Vec<&str>> {
    match Path::new(file).extension().unwrap().to_str().unwrap() {
        "tri" => vec![vec!["check", file], vec!["show", file], vec!["export", file, "--to", "murphi"]],
        "toml" => vec![vec!["machine", file], vec!["miss", "-m", file]],
        "c" => {
            vec![vec!["sim", file, "-p", "msi", "-m", "typhoon", "-n", "2"], vec!["cc", "-c", file, "-o", "never.o"]]
        }
        "wasm" => vec![vec!["sim", file, "-p", "msi", "-m", "typhoon", "-n", "2"]],
        "json" => vec![vec!["replay", file]],
        "checkpoint" => vec![vec!["check", "msi", "--nodes", "2", "--resume", file]],
        other => panic!("{other}"),
    }
}

const ENDINGS: [&str; 6] = ["tri", "toml", "c", "wasm", "json", "checkpoint"];

#[test]
fn a_pipe_is_an_error_and_not_waited_for() {
    let folder = crate::harness::folder();
    for ending in ENDINGS {
        let file = folder.path().join(format!("pipe.{ending}"));
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        for args in commands(file.to_str().unwrap()) {
            let said = refused(&args);
            assert!(said.contains("this is a pipe or a device") && said.contains("pipe."), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_device_without_end_is_an_error() {
    let folder = crate::harness::folder();
    for ending in ENDINGS {
        let file = folder.path().join(format!("zero.{ending}"));
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        for args in commands(file.to_str().unwrap()) {
            let said = refused(&args);
            assert!(said.contains("this is a pipe or a device") && said.contains("zero."), "{args:?}: {said}");
        }
    }
}

#[test]
fn zero_bytes_are_no_text() {
    let folder = crate::harness::folder();
    for ending in ["tri", "toml", "c"] {
        let file = folder.path().join(format!("zeros.{ending}"));
        std::fs::write(&file, [b"\n".as_slice(), &[0; 3000]].concat()).unwrap();
        for args in commands(file.to_str().unwrap()) {
            let said = refused(&args);
            assert!(said.contains("zero byte") && said.contains(&format!("zeros.{ending}:2")), "{args:?}: {said}");
        }
    }
}

#[test]
fn a_study_is_a_regular_file_of_text() {
    let folder = crate::harness::folder();
    let file = folder.path().join("study.toml");
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    let study = folder.path().to_str().unwrap();
    assert!(refused(&["study", study]).contains("this is a pipe or a device"));
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, [0; 100]).unwrap();
    assert!(refused(&["study", study]).contains("study.toml:1"));
}

#[test]
fn a_protocol_uses_regular_files_of_at_most_16_mb() {
    let folder = crate::harness::folder();
    let file = folder.path().join("uses.tri");
    std::fs::write(&file, "protocol uses\nuse \"other.tri\"\n").unwrap();
    let other = folder.path().join("other.tri");
    std::os::unix::fs::symlink("/dev/zero", &other).unwrap();
    let said = refused(&["check", file.to_str().unwrap()]);
    assert!(said.contains("uses.tri:2:1") && said.contains("this is a pipe or a device"), "{said}");
    std::fs::remove_file(&other).unwrap();
    std::fs::File::create(&other).unwrap().set_len((16 << 20) + 1).unwrap();
    let said = refused(&["check", file.to_str().unwrap()]);
    assert!(said.contains("it is larger than 16 MB"), "{said}");
}

/// They would colour the terminal, or hide what stands before them.
#[test]
fn escape_characters_of_a_file_do_not_reach_the_terminal() {
    let folder = crate::harness::folder();
    let file = folder.path().join("escape.tri");
    std::fs::write(&file, "protocol escape // \x1b[31m\nrole home of block { state Idle: write {} }\n").unwrap();
    let said = refused(&["check", file.to_str().unwrap()]);
    assert!(!said.contains('\x1b') && said.contains("control character \\u{1b}"), "{said}");
    let file = folder.path().join("escape.toml");
    std::fs::write(&file, "name = \"a\\u001b[31m\"\nbase = \"typhoon\"\nkind = \"\\u001b[31m\"\n").unwrap();
    let said = refused(&["machine", file.to_str().unwrap()]);
    assert!(!said.contains('\x1b'), "{said}");
    let said = refused(&["check", "a\x1b[31m.tri"]);
    assert!(!said.contains('\x1b'), "{said}");
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_text() {
    let folder = crate::harness::folder();
    let file = folder.path().join("mark.tri");
    let text = std::fs::read_to_string(harness::root().join("protocols/msi.tri")).unwrap();
    std::fs::write(&file, format!("\u{feff}{text}")).unwrap();
    let run = trivium(&["check", file.to_str().unwrap(), "--nodes", "2"]);
    assert!(run.code == Some(0), "{run:?}");
}

#[test]
fn errors_of_a_replay_name_the_file() {
    let folder = crate::harness::folder();
    let file = folder.path().join("recorded.json");
    let recorded = trivium(&["check", "broken/stache-lost-upgrade", "--format", "json"]).out;
    for (from, to) in [
        ("\"nodes\": 3", "\"nodes\": 0"),
        ("\"named\": \"broken/stache-lost-upgrade\"", "\"named\": \"nobody\""),
        ("\"objects\": 1", "\"objects\": 4000000000"),
    ] {
        assert!(recorded.contains(from), "{from}");
        std::fs::write(&file, recorded.replace(from, to)).unwrap();
        let said = refused(&["replay", file.to_str().unwrap()]);
        assert!(said.contains("recorded.json"), "{from}: {said}");
    }
}

/// It took 50 seconds for each arrow was compared with all others.
#[test]
fn a_picture_of_many_arrows_is_drawn_at_once() {
    let folder = crate::harness::folder();
    let file = folder.path().join("many.tri");
    let messages: Vec<String> = (0..40).map(|m| format!("Go{m}")).collect();
    let mut text = format!("protocol many\nlane main buffered\nmessage {} on main\n", messages.join(", "));
    text.push_str("role home of block { otherwise impossible state S0: write {} }\n");
    text.push_str("role cache of block {\n  otherwise impossible\n");
    for state in 0..1000 {
        let goes: Vec<String> =
            (0..40).map(|m| format!("on Go{m} {{ goto S{} }}", (state * (7 + 2 * m) + 3 + m) % 1000)).collect();
        text.push_str(&format!("  state S{state}: write {{ {} }}\n", goes.join(" ")));
    }
    std::fs::write(&file, text + "}\n").unwrap();
    let begun = Instant::now();
    let run = trivium(&["show", file.to_str().unwrap(), "--format", "svg"]);
    assert!(run.code == Some(0) && run.out.matches("class=\"edge\"").count() > 35_000, "{:?}", run.code);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

/// A cell of more than 65,535 characters was a panic.
#[test]
fn cells_and_names_may_be_long() {
    let folder = crate::harness::folder();
    let long = "x".repeat(70_000);
    let study = "about = \"long\"\npublished = \"long.csv\"\ntolerance = 5\n[quick]\nargs = {}\n\
        [[rows]]\nids = [\"a\"]\nreason = \"none\"\n";
    std::fs::write(folder.path().join("study.toml"), study).unwrap();
    let rows = format!("id,source,experiment,config,quantity,unit,value,note\na,b,c,d,{long},cycles,1,\n");
    std::fs::write(folder.path().join("long.csv"), rows).unwrap();
    let work = folder.path().join("work");
    let run = trivium(&["study", folder.path().to_str().unwrap(), "--work", work.to_str().unwrap()]);
    assert!(run.code == Some(0) && run.out.contains(&long), "{:?} {}", run.code, run.err);
    let file = folder.path().join("long.tri");
    std::fs::write(
        &file,
        format!("protocol a\nlane {long} buffered\nrole home of block {{ state Idle: write {{}} }}\n"),
    )
    .unwrap();
    trivium(&["show", file.to_str().unwrap()]).refuses(2, &["a name of more than 200 bytes"]);
}

#[test]
fn a_file_in_another_encoding_is_told_how_to_save_it() {
    let folder = crate::harness::folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for name in ["latin.tri", "latin.toml"] {
        std::fs::write(path(name), b"// caf\xe9\n").unwrap();
    }
    std::fs::write(path("user.tri"), "use \"latin.tri\"\n").unwrap();
    for file in ["latin.tri", "latin.toml", "user.tri"].map(path) {
        for args in commands(&file) {
            let said = refused(&args);
            let wanted = ["it is not text in UTF-8", "help: save it as text in UTF-8", "latin."];
            assert!(wanted.iter().all(|words| said.contains(words)), "{args:?}: {said}");
        }
    }
}

/// Else an error would show a line of it.
#[test]
fn a_protocol_uses_only_protocols() {
    let folder = crate::harness::folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("secret"), "word of mine\n").unwrap();
    std::os::unix::fs::symlink(path("secret"), path("link.tri")).unwrap();
    std::fs::create_dir(path("below")).unwrap();
    for used in ["../secret", "../link.tri", "../below/../secret"] {
        let file = path("below/user.tri");
        std::fs::write(&file, format!("protocol user\nuse \"{used}\"\n")).unwrap();
        for args in commands(&file) {
            let said = refused(&args);
            assert!(said.contains("only files whose names end in .tri") && !said.contains("word"), "{used}: {said}");
        }
    }
}
