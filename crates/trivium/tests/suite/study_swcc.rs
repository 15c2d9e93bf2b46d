//! The study of Split-C's library in software, with graphs and matrices so small that a test can simulate them: micro-benchmarks and counts
//! of small multiplications are as published; its pictures are drawn.

use crate::harness::{self, trivium};
use serde_json::Value;
use std::path::Path;

/// Of what the study runs: only micro-benchmarks and naive multiplications. Rows of other programs are missing, as if these were not there.
const FEW: [(&str, &str); 5] = [
    ("program = \"programs/split-c/em3d.sc\"", "program = \"programs/split-c/none.sc\""),
    ("program = \"programs/split-c/matmul-blocked.sc\"", "program = \"programs/split-c/none.sc\""),
    ("nodes = [1, 2, 4, 8]", "nodes = [8]"),
    ("x = [8, 16]\nargs", "x = [16]\nargs"),
    ("blocks = [8, 64, 1024, 8192]", "blocks = [8, 8192]"),
];

fn small(folder: &Path, less: &[(&str, &str)]) -> Value {
    let study = harness::root().join("studies/swcc");
    let mut plan = std::fs::read_to_string(study.join("study.toml")).unwrap();
    for (long, short) in [
        ("x = [8, 16, 32, 64, 128, 256, 512]\nargs", "x = [8, 16, 32]\nargs"),
        ("x = [8, 16, 32, 64, 128, 256]\nargs", "x = [8, 16]\nargs"),
        ("x = [8, 16, 32, 64, 128]\nargs", "x = [8, 16]\nargs"),
        ("x = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40]\nargs", "x = [0, 8, 24, 40]\nargs"),
        ("x = [0, 8, 16, 24, 32, 40]\nargs", "x = [0, 24]\nargs"),
        ("-d 128 -c 0", "-d 16 -c 0"),
        ("-n 250", "-n 4"),
        ("-n 500", "-n 4"),
        ("-d 512 -o 1 -c 0", "-d 128 -o 1 -c 0"),
        ("blocks = [256, 8192]\nargs = \"-d 128", "blocks = [256]\nargs = \"-d 128"),
        ("blocks = [8, 64, 256, 1024, 8192]", "blocks = [8, 256]"),
    ]
    .iter()
    .chain(less)
    {
        assert!(plan.contains(long), "{long}");
        plan = plan.replace(long, short);
    }
    std::fs::write(folder.join("study.toml"), plan).unwrap();
    std::fs::copy(study.join("swcc.csv"), folder.join("swcc.csv")).unwrap();
    let (study, work) = (folder.display().to_string(), folder.join("work").display().to_string());
    trivium(&["study", &study, "--quick", "--format", "json", "--work", &work]).json(0)
}

#[test]
fn what_machines_and_small_programs_do_is_as_published() {
    let work = crate::harness::folder();
    is_as_published(work.path(), &small(work.path(), &FEW), 2);
}

#[test]
#[ignore = "half a minute"]
fn what_machines_and_more_small_programs_do_is_as_published() {
    let work = crate::harness::folder();
    let result = small(work.path(), &[]);
    is_as_published(work.path(), &result, 6);
    // An iteration is one of those that were simulated, not of those that are declared.
    let one = result["rows"].as_array().unwrap().iter().find(|row| row["id"] == "B5-sc").unwrap();
    // Of 8 nodes a processor, 31 us each, half of which stay at home; the slowest processor has some more.
    assert!((0.1..0.3).contains(&one["ours"].as_f64().unwrap()), "{one}");
}

fn is_as_published(work: &Path, result: &Value, pictures: usize) {
    let rows = result["rows"].as_array().unwrap();
    let published = std::fs::read_to_string(harness::root().join("studies/swcc/swcc.csv")).unwrap();
    let ids: Vec<&str> = published.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(ids.len(), 176);
    assert!(ids.iter().zip(rows).all(|(id, row)| row["id"] == *id), "the rows stand in the order of the file");
    let judged = |from: &str, to: &str| {
        let within = |row: &&Value| (from..=to).contains(&row["id"].as_str().unwrap()) && row["ours"].is_number();
        rows.iter().filter(within).map(|row| (row["id"].as_str().unwrap(), row["status"].as_str().unwrap())).collect()
    };
    // The micro-benchmarks of both libraries, within 5 percent.
    let micro: Vec<(&str, &str)> = judged("SC-0013", "SC-0042");
    assert_eq!(micro.len(), 30);
    let off: Vec<_> = micro.iter().filter(|row| row.1 != "ok").collect();
    // An access to private memory is "about 10 ns" in the source, and 8.4 here: an operator, whose time is calibrated on another figure.
    let known = ["SC-0013", "SC-0014", "SC-0027", "SC-0028"].map(|id| (id, "off"));
    assert!(off.iter().copied().eq(&known), "{off:?}");
    // Tables of the multiplication, at 16 and at 32 rows.
    let table: Vec<(&str, &str)> = judged("SC-0073", "SC-0078");
    assert_eq!(table.len(), 6);
    assert!(table.iter().all(|row| row.1 == "ok"), "{table:?}");
    for (id, misses) in [("B2-16", 14.0), ("B2-32", 35.0)] {
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        assert_eq!((&row["ours"], &row["status"]), (&misses.into(), &"ok".into()), "{row}");
    }
    // EM3D has fewer iterations than declared: what it comes to is told, and not judged.
    let of_em3d =
        |row: &&Value| ("SC-0135".."SC-0177").contains(&row["id"].as_str().unwrap()) && row["ours"].is_number();
    assert!(rows.iter().filter(of_em3d).all(|row| row["status"] == "not judged (quick)"));
    assert_eq!(result["pictures"].as_array().unwrap().len(), pictures);
    for picture in result["pictures"].as_array().unwrap() {
        let name = picture.as_str().unwrap();
        let svg = std::fs::read_to_string(work.join("work").join(name)).unwrap();
        harness::labels::stand_apart([(name.to_string(), svg)]);
    }
}

/// Table 3: what a processor reads of blocks of 256 bytes where bulk gets fetch b x b elements: as many as published, and hits within a point.
#[track_caller]
fn are_read_as_often_as_published(side: &str, reads: u64, hits: f64) {
    let cc = format!("--cc=-DBLOCK={side}");
    let program =
        ["sim", "programs/split-c/matmul-blocked.sc", &cc, "-p", "swcc", "-m", "now", "-n", "8", "--block", "256"];
    let result =
        trivium(&[&program[..], &["--format", "json", "--", "-d", "512", "-o", "1", "-c", "0"]].concat()).json(0);
    let counted = result["accesses"][1]["accesses"].as_array().unwrap();
    let gets = || counted.iter().filter(|one| one["kind"] == "get");
    let [hit, miss] = ["hits", "misses"].map(|key| gets().map(|one| one[key].as_u64().unwrap()).sum::<u64>());
    let away = gets().filter(|one| one["at_home"] == false);
    let away: u64 = away.map(|one| one["hits"].as_u64().unwrap() + one["misses"].as_u64().unwrap()).sum();
    assert_eq!((hit + miss, away * 16), (reads, reads * 7), "{side}");
    let share = 100.0 * hit as f64 / reads as f64;
    assert!((share - hits).abs() < 1.0, "{side}: {share}");
}

#[test]
fn large_blocks_of_the_blocked_multiplication_are_read_as_often_as_published() {
    are_read_as_often_as_published("64", 16512, 50.05);
}

#[test]
#[ignore = "five seconds"]
fn small_blocks_of_the_blocked_multiplication_are_read_as_often_as_published() {
    are_read_as_often_as_published("16", 73728, 88.45);
}
