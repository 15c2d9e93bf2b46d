//! The live part of a study: a small program for real, on threads (and on ranks, where there is MPI) beside a simulation, with the host's name, unit costs that
//! were measured beside it, and a picture. Without `--live` nothing of it is in the result.

use crate::harness::{trivium, trivium_with_ranks};
use crate::slow;
use std::path::Path;

const STUDY: &str = r#"
about = "a study that is live only"
published = "none.csv"
tolerance = 5

[quick]
args = {}

[live]
nodes = 2
machine = "now"
repeats = 1
tolerance = 30
units = "programs/split-c/units.sc"
variants = [
    { name = "sc", protocol = "uncached", block = 64 },
    { name = "swcc_64", protocol = "swcc", block = 64 },
]

[[live.programs]]
name = "naive {x}"
program = "programs/split-c/matmul.sc"
args = "-d {x}"
x = [4, 8]
work = [128, 1024]
picture = ["naive.svg", "Naive multiplication"]
below = "rows"

[[live.programs]]
name = "blocked, one get at a time"
program = "programs/split-c/matmul-blocked.sc"
args = "-d 8 -o 1"
x = [8]
tiles = [128]
work = [1024]
set = { "protocol.window" = 1 }
variants = ["swcc_64"]
experiment = "one get at a time"

[[live.orders]]
what = "more rows take longer"
of = ["naive 8, sc", "naive 4, sc"]
at_least = 1
"#;

fn write(folder: &Path, text: &str) -> String {
    std::fs::write(folder.join("study.toml"), text).unwrap();
    let head = "id,source,experiment,config,quantity,unit,value,note\n";
    std::fs::write(folder.join("none.csv"), head).unwrap();
    folder.display().to_string()
}

#[test]
fn programs_are_measured_beside_simulations() {
    let folder = crate::harness::folder();
    // The other variant is met by the program that follows.
    let one_variant = STUDY.replacen("below = \"rows\"", "below = \"rows\"\nvariants = [\"sc\"]", 1);
    let (text, all_rows) = slow::all_or((STUDY, 5), (one_variant.as_str(), 3));
    let (study, work) = (write(folder.path(), text), folder.path().join("work"));
    let arguments = ["study", &study, "--work", &work.display().to_string(), "--format", "json"];
    let dead = trivium(&arguments).json(0);
    assert!(dead.get("live").is_none(), "{dead}");
    let result = trivium_with_ranks(&[&arguments[..], &["--live"]].concat()).json(0);
    let live = &result["live"];
    assert!(!live["host"].as_str().unwrap().is_empty() && live["processors"].as_u64().unwrap() > 0, "{live}");
    let over: &[&str] = if live["without_ranks"].is_null() { &["threads", "ranks"] } else { &["threads"] };
    assert_eq!(over.len() == 2, cfg!(feature = "mpi"), "{live}");
    let rows = live["rows"].as_array().unwrap();
    let experiments = rows.iter().filter(|row| row["is_experiment"] == true).count();
    assert_eq!((rows.len(), experiments), (all_rows, 1), "{live}");
    assert_eq!(live["experiments"]["blocked, one get at a time"], "one get at a time");
    for row in rows {
        assert!(row["simulated_ms"].as_f64().unwrap() > 0.0, "{row}");
        for over in over {
            let measured = &row["measured"][over];
            let [ms, model, more, plain] =
                ["ms", "model_ms", "deviation", "round_trips_ms"].map(|key| measured[key].as_f64().unwrap());
            assert!(ms > 0.0 && model > 0.0 && plain > 0.0, "{row}");
            assert!((more - 100.0 * (ms / model - 1.0)).abs() < 1e-6, "{row}");
            assert_eq!(measured["repeats_ms"], serde_json::json!([ms]), "{row}");
            assert_eq!(measured["is_within"], more.abs() <= 30.0, "{row}");
            // Counts are those of the simulation.
            assert_eq!(measured["missed"][0], measured["missed"][1], "{row}");
            let cost = |name: &str| measured["units"][name].as_f64().unwrap_or_else(|| panic!("{name}: {row}"));
            let kinds = ["read", "read new", "write", "get", "get new", "get home"];
            assert!(kinds.iter().all(|kind| cost(kind) > 0.0), "{row}");
            // Under the plain library what is away is a round trip each time.
            if row["variant"] == "swcc_64" {
                assert!(cost("hit") < cost("read") && cost("get hit") < cost("get"), "{row}");
                assert!(cost("read lent") > 0.0 && cost("get lent") > 0.0 && cost("upgrade") > 0.0, "{row}");
            }
        }
    }
    assert_eq!(live["orders"][0]["times"].as_object().unwrap().len(), 1 + over.len(), "{live}");
    assert_eq!(live["pictures"][0], "naive.svg");
    let svg = std::fs::read_to_string(work.join("naive.svg")).unwrap();
    assert!(svg.matches("<svg ").count() == 3 && svg.contains(live["host"].as_str().unwrap()), "{svg}");
    if !slow::is_asked_for() {
        return;
    }
    let text = trivium_with_ranks(&["study", &study, "--work", &work.display().to_string(), "--live"]);
    assert!(text.code == Some(0) && text.out.contains("by kind") && text.out.contains("measured on "), "{text:?}");
}

#[test]
fn a_study_without_a_live_part_says_so() {
    let folder = crate::harness::folder();
    let study = write(folder.path(), STUDY.split("[live]").next().unwrap());
    let work = folder.path().join("work").display().to_string();
    trivium(&["study", &study, "--work", &work, "--live"]).refuses(2, &["has no live part", "leave out --live"]);
}

#[test]
fn a_long_run_is_carried_out_only_if_somebody_asks_for_it() {
    let folder = crate::harness::folder();
    let long = r#"
[[runs]]
name = "long"
program = "programs/split-c/matmul.sc"
protocols = ["swcc"]
machines = ["now"]
nodes = 2
blocks = [64]
args = "-d 4"
set = { "protocol.window" = "1" }
long = true

[[derived]]
id = "A"
config = "a run"
quantity = "reads"
unit = "count"
value = 72

[[rows]]
ids = ["A"]
ours = { counted = { run = "long", node = 1, what = "reads" } }
"#;
    let study = write(folder.path(), &format!("{}{long}", STUDY.split("[live]").next().unwrap()));
    let work = folder.path().join("work").display().to_string();
    let row = |more: &[&str]| {
        let result = trivium(&[&["study", &study, "--work", &work, "--format", "json"], more].concat()).json(0);
        result["rows"][0].clone()
    };
    let without = row(&[]);
    assert!(without["status"] == "missing" && without["reason"].as_str().unwrap().contains("--long"), "{without}");
    assert_eq!(row(&["--long"])["ours"], 72.0);
    // What is kept of it is used.
    assert_eq!(row(&[])["ours"], 72.0);
    let wrong = long.replace("\"1\" }", "\"one\" }");
    let study = write(folder.path(), &format!("{}{wrong}", STUDY.split("[live]").next().unwrap()));
    trivium(&["study", &study, "--work", &work]).refuses(2, &["`protocol.window` is set to `one`"]);
}
