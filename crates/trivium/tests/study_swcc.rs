//! The study of Split-C's library in software, with graphs and matrices so small that a test can simulate them: micro-benchmarks and counts
//! of small multiplications are as published; its pictures are drawn.

mod harness;

use harness::trivium;
use serde_json::Value;
use std::path::Path;

fn small(folder: &Path) -> Value {
    let study = harness::root().join("studies/swcc");
    let mut plan = std::fs::read_to_string(study.join("study.toml")).unwrap();
    for (long, short) in [
        ("x = [8, 16, 32, 64, 128, 256, 512]\nargs", "x = [8, 16, 32]\nargs"),
        ("x = [8, 16, 32, 64, 128, 256]\nargs", "x = [8, 16]\nargs"),
        ("x = [8, 16, 32, 64, 128]\nargs", "x = [8, 16]\nargs"),
        ("x = [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40]\nargs", "x = [0, 8, 24, 40]\nargs"),
        ("-d 128 -c 0", "-d 16 -c 0"),
        ("-n 250", "-n 4"),
        ("blocks = [8, 64, 256, 1024, 8192]", "blocks = [8, 256]"),
    ] {
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
    let work = tempfile::tempdir().unwrap();
    let result = small(work.path());
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
    // SC-0030 is the figure that the source has by mistake. The study says both.
    let known = ["SC-0013", "SC-0014", "SC-0027", "SC-0028", "SC-0030"].map(|id| (id, "off"));
    assert!(off.iter().copied().eq(&known), "{off:?}");
    // Tables of the multiplication, at 16 and at 32 rows.
    let table: Vec<(&str, &str)> = judged("SC-0073", "SC-0078");
    assert_eq!(table.len(), 6);
    assert!(table.iter().all(|row| row.1 == "ok"), "{table:?}");
    for (id, misses) in [("B2-16", 14.0), ("B2-32", 35.0)] {
        let row = rows.iter().find(|row| row["id"] == id).unwrap();
        assert_eq!((&row["ours"], &row["status"]), (&misses.into(), &"ok".into()), "{row}");
    }
    // An iteration is one of those that were simulated, not of those that are declared.
    let one = rows.iter().find(|row| row["id"] == "B5-sc").unwrap();
    // Of 8 nodes a processor, 31 us each; the slowest processor has some more.
    assert!((0.2..0.6).contains(&one["ours"].as_f64().unwrap()), "{one}");
    assert_eq!(result["pictures"].as_array().unwrap().len(), 4);
    for picture in result["pictures"].as_array().unwrap() {
        let name = picture.as_str().unwrap();
        let svg = std::fs::read_to_string(work.path().join("work").join(name)).unwrap();
        harness::labels::stand_apart([(name.to_string(), svg)]);
    }
}
