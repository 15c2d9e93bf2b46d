//! A folder that programs may change (`--dir-rw`).

use crate::harness::{Run, command, root};
use crate::slow;
use std::collections::BTreeMap;
use std::path::Path;

const ON: [&str; 4] = ["-p", "stache", "-m", "typhoon"];

/// A folder with a program and its data.
fn place(program: &str) -> crate::harness::Folder {
    let folder = crate::harness::folder();
    let at = |name: &str| folder.path().join(name);
    std::fs::copy(root().join("crates/trivium/tests/folder").join(program), at(program)).unwrap();
    std::fs::create_dir_all(at("data/deep")).unwrap();
    for (name, text) in [
        ("data/in.txt", "one\ntwo\n"),
        ("data/old.txt", "old\n"),
        ("data/gone.txt", ""),
        ("data/deep/x", "12345"),
        ("secret", "secret\n"),
    ] {
        std::fs::write(at(name), text).unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", at("data/out")).unwrap();
    folder
}

fn run_in(folder: &Path, args: &[&str]) -> Run {
    let output = command(args).current_dir(folder).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// All that is in a folder: the text of files, nothing of folders.
fn all(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut next = vec![folder.to_path_buf()];
    while let Some(path) = next.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            let name = entry.path().strip_prefix(folder).unwrap().display().to_string();
            let is_folder = entry.file_type().unwrap().is_dir();
            let text = if is_folder { String::new() } else { std::fs::read_to_string(entry.path()).unwrap() };
            found.insert(name, text);
            if is_folder {
                next.push(entry.path());
            }
        }
    }
    found
}

#[test]
fn changes_are_seen_by_their_node_and_carried_out_at_the_end() {
    let mut results = Vec::new();
    for jobs in ["1", "2"] {
        let folder = place("changes.c");
        let data = folder.path().join("data");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(data.join("in.txt"), std::fs::Permissions::from_mode(0o640)).unwrap();
        }
        let args = ["sim", "changes.c", "--dir-rw", "data", "-n", "3", "--format", "json", "--jobs", jobs];
        let mut result = run_in(folder.path(), &[&args[..], &ON].concat()).json(0);
        assert_eq!(result["output"], ". .. in.txt made out out0.txt \n");
        let mut expected: BTreeMap<String, String> =
            (0..3).map(|node| (format!("out{node}.txt"), format!("node {node} of 3\nmore\n"))).collect();
        for (name, text) in [
            ("in.txt", "ONE\ntwo\nthree\n"),
            ("made", ""),
            ("made/new.txt", "old\n"),
            ("made/deeper", ""),
            ("made/deeper/x", "12"),
            ("out", "secret\n"),
        ] {
            expected.insert(name.to_string(), text.to_string());
        }
        assert_eq!(all(&data), expected);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(data.join("in.txt").metadata().unwrap().permissions().mode() & 0o777, 0o640);
        }
        assert_eq!(std::fs::read_to_string(folder.path().join("secret")).unwrap(), "secret\n");
        let of = |path: &str| {
            let changes = result["changes"].as_array().unwrap();
            changes.iter().find(|one| one["path"] == path).unwrap_or_else(|| panic!("{path}: {changes:?}")).clone()
        };
        let told = of("in.txt");
        let nodes = serde_json::json!([0, 1, 2]);
        assert_eq!((&told["change"], &told["bytes"], &told["nodes"]), (&"written".into(), &14.into(), &nodes));
        assert_eq!(told["carried_out"], true);
        assert_eq!(told["sha256"], "d90163630a642f82e3a76343780cc2503051e6b76a3f94060356324237ae6076");
        assert_eq!(of("out1.txt")["nodes"], serde_json::json!([1]));
        assert_eq!((&of("deep/x")["change"], &of("made")["change"]), (&"removed".into(), &"folder".into()));
        assert!(result["hashes"]["file in.txt"].is_string() && result["hashes"]["file out0.txt"].is_null());
        result["host_seconds"] = 0.into();
        results.push(result);
    }
    assert_eq!(results[0], results[1]);
}

/// The run fails, and the folder stays as it was, which is told.
#[test]
fn a_run_that_does_not_go_well_changes_nothing() {
    let folder = place("ends.c");
    let data = folder.path().join("data");
    let before = all(&data);
    for (how, code, words) in [
        ("differ", 1, ["changed same in", "node 0 wrote 2 bytes, node 2 wrote 2 bytes, with different contents"]),
        ("remove", 1, ["changed in.txt in", "node 0 removed it, node 2 wrote 10 bytes"]),
        ("abort", 1, ["aborted", "ends.c:25"]),
        ("wrong", 1, ["ended with code 1 on node 2", ""]),
        ("round", 3, ["incomplete: the limit of 50000 cycles", ""]),
    ] {
        for jobs in ["1", "2"] {
            let args = ["sim", "ends.c", "--dir-rw", "data", "-n", "4", "--max-cycles", "50000", "--jobs", jobs];
            let run = run_in(folder.path(), &[&args[..], &ON, &["--", how]].concat());
            assert_eq!(run.code, Some(code), "{how}: {run:?}");
            for word in [&words[..], &["note: data is as it was"]].concat() {
                assert!(run.err.contains(word), "{how}: `{word}` is missing in {}", run.err);
            }
            assert_eq!(all(&data), before, "{how}");
        }
    }
    let args = ["sim", "ends.c", "--dir-rw", "data", "-n", "4"];
    let run = run_in(folder.path(), &[&args[..], &ON].concat());
    assert!(run.code == Some(0) && run.out.contains("written new, 2 bytes\n"), "{run:?}");
    let run = run_in(folder.path(), &[&args[..], &ON].concat());
    assert!(run.code == Some(1) && run.err.contains("new: File exists"), "it is there now: {run:?}");
}

/// Each run of `compare`, the one on one node too, begins with the folder as it was.
#[test]
fn compare_changes_nothing() {
    let folder = place("ends.c");
    let before = all(&folder.path().join("data"));
    let args = [
        "compare",
        "ends.c",
        "--dir-rw",
        "data",
        "-n",
        "2",
        "--protocols",
        "stache,msi",
        "--machines",
        "typhoon,typhoon-0",
    ];
    let run = run_in(folder.path(), &args);
    assert!(run.code == Some(0) && run.err.contains("note: `compare` carries out no changes"), "{run:?}");
    let json = run_in(folder.path(), &[&args[..], &["--format", "json"]].concat()).json(0);
    assert_eq!(json["runs"][3]["changes"][0]["path"], "new");
    assert_eq!(json["runs"][3]["changes"][0]["carried_out"], false);
    assert_eq!(all(&folder.path().join("data")), before);
}

#[test]
fn what_cannot_be_is_told_before_the_work() {
    let folder = place("ends.c");
    let run = |more: &[&str]| run_in(folder.path(), &[&["sim", "ends.c", "-n", "2"][..], &ON, more].concat());
    run(&["--dir-rw", "data", "-m", "typhoon-0"]).refuses(2, &["one machine", "--machine once"]);
    run(&["--dir-rw", "data", "--dir", "data"]).refuses(2, &["--dir"]);
    run(&["--dir-rw", "nowhere"]).refuses(2, &["no such folder"]);
    let result = run(&["--dir-rw", "data", "--out", "data/new"]);
    assert!(
        result.code == Some(2) && result.err.contains("in the place of which a result of the command"),
        "{result:?}"
    );
    assert!(std::fs::read_to_string(folder.path().join("data/new")).unwrap().contains("not carried out"));
    let reads = run(&["--dir", "data"]);
    assert_eq!(reads.code, Some(1), "{reads:?}");
    for word in ["warning: node 0 was refused to change new", "--dir-rw in its place", "new: "] {
        assert!(reads.err.contains(word), "`{word}` is missing in {reads:?}");
    }
}

/// One node alone took all of the machine's memory before anybody looked, by printing; what is written counts too.
#[test]
fn what_is_printed_and_written_counts_as_memory() {
    let folder = place("ends.c");
    let before = all(&folder.path().join("data"));
    for (how, nodes, jobs) in slow::one_in(3, [("print", "1", "1"), ("fill", "1", "1"), ("fill", "2", "2")]) {
        let args =
            ["sim", "ends.c", "--dir-rw", "data", "--memory", "150M", "-n", nodes, "--jobs", jobs, "--out", "result"];
        let run = run_in(folder.path(), &[&args[..], &ON, &["--", how]].concat());
        assert!(run.code == Some(3) && run.err.contains("the limit of 150 MiB of the host's memory"), "{how}: {run:?}");
        assert_eq!(all(&folder.path().join("data")), before);
    }
    let args = ["sim", "ends.c", "--dir-rw", "data", "-n", "1"];
    let run = run_in(folder.path(), &[&args[..], &ON, &["--", "large"]].concat());
    assert_eq!(run.code, Some(0), "a file of more than 256 MiB is refused: {run:?}");
}

/// A disk that has no room, where one may be made: nothing has changed.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_found_before_anything_changes() {
    let folder = place("ends.c");
    let data = folder.path().join("small");
    std::fs::create_dir(&data).unwrap();
    let mount =
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&data).output();
    let mounted = mount.is_ok_and(|mount| mount.status.success());
    let args = ["sim", "ends.c", "--dir-rw", "small", "-n", "1"];
    let run = run_in(folder.path(), &[&args[..], &ON, &["--", "bytes"]].concat());
    let left = all(&data);
    if mounted {
        std::process::Command::new("umount").arg(&data).status().unwrap();
        assert_eq!((run.code, left.len()), (Some(2), 0), "{run:?} {left:?}");
        for word in ["there is no room", "nothing was changed"] {
            assert!(run.err.contains(word), "`{word}` is missing in {run:?}");
        }
        assert!(run.out.contains("not carried out"), "the result is printed: {run:?}");
    } else {
        assert_eq!((run.code, left["bytes"].len()), (Some(0), 1 << 20), "{run:?}");
    }
}
