//! With which values of its parameters a protocol is checked: every form of a result says it.

mod harness;

use harness::trivium;
use serde_json::{Value, json};

/// The lines of a report with this label.
fn lines<'t>(text: &'t str, label: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.strip_prefix(label)).map(str::trim).collect()
}

/// Name, value and origin of the parameters of a result, and what `sim` and `run` take.
fn told(result: &Value) -> Vec<Value> {
    let parameters = result["parameters"].as_array().expect("parameters");
    parameters.iter().map(|p| json!([p["name"], p["value"], p["from"], p["default"], p["lo"], p["hi"]])).collect()
}

#[test]
fn a_verdict_names_the_values_of_parameters_and_where_they_come_from() {
    let set = ["--nodes", "2", "--no-scenarios", "--set", "protocol.replies=3"];
    let check = |more: &[&str]| trivium(&[&["check", "flash-coherence"], &set[..], more].concat());
    let text = check(&[]).out;
    let expected = [
        "requests = 1 of 1..4096 (`check` in the file); sim and run take 8",
        "replies = 3 of 2..4096 (set); sim and run take 8",
        "pointers = 1 of 1..65536 (`check` in the file); sim and run take 65536",
    ];
    assert_eq!(lines(&text, "parameter "), expected, "{text}");
    let verdict = text.lines().nth(1).unwrap();
    assert!(verdict.contains("; requests = 1, replies = 3, pointers = 1; "), "{verdict}");
    let result = check(&["--format", "json"]).json(0);
    let expected = [
        json!(["requests", 1, "check", 8, 1, 4096]),
        json!(["replies", 3, "set", 8, 2, 4096]),
        json!(["pointers", 1, "check", 65536, 1, 65536]),
    ];
    assert_eq!(told(&result), expected);
}

#[test]
fn a_value_as_in_sim_and_run_is_named_too() {
    let run = trivium(&["check", "tree-barrier", "--nodes", "2"]);
    let expected =
        ["join = 4 of 1..7 (default), as in sim and run", "release = 4 of 1..7 (default), as in sim and run"];
    assert_eq!(lines(&run.out, "parameter "), expected, "{}", run.out);
}

#[test]
fn charts_and_pages_name_parameters_when_a_counterexample_is_made_and_when_it_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (recorded, made, again) = (path("race.json"), path("made.html"), path("again.html"));
    let broken = ["check", "broken/pool-uncounted", "--html", &made, "--svg", &path("made.svg")];
    let run = trivium(&[&broken[..], &["--format", "json", "--out", &recorded]].concat());
    assert_eq!(run.code, Some(1), "{run:?}");
    let replayed = trivium(&["replay", &recorded, "--html", &again]);
    let value = "units = 2";
    assert!(replayed.out.contains(&format!("with {value}")), "{}", replayed.out);
    assert!(trivium(&broken).out.contains(&format!("with {value}")));
    let read = |name: &str| std::fs::read_to_string(name).unwrap();
    assert!(read(&path("made.svg")).contains(&format!("with {value}")));
    let row = "<li>units = 2 of 1..64 (`check` in the file); sim and run take 16</li>";
    assert!(read(&made).contains(row) && read(&again).contains(row));
    assert_eq!(
        told(&trivium(&["replay", &recorded, "--format", "json"]).json(1)),
        [json!(["units", 2, "check", 16, 1, 64])]
    );
}

#[test]
fn tables_and_models_name_what_a_file_declares() {
    let show = trivium(&["show", "flash-coherence", "--set", "protocol.replies=3"]).out;
    assert!(show.contains("replies = 3 (from 2 to 4096, default 8, in check 2)"), "{show}");
    assert!(show.contains("requests = 8 (from 1 to 4096, in check 1)"), "{show}");
    let shown = trivium(&["show", "flash-coherence", "--format", "json"]).json(0);
    let expected =
        json!({ "name": "requests", "value": 8, "from": "default", "default": 8, "lo": 1, "hi": 4096, "check": 1 });
    assert_eq!(shown["params"][0], expected);
    for to in ["murphi", "spin"] {
        let model = trivium(&["export", "alternating-bit", "--to", to, "--nodes", "2"]).out;
        for line in [
            "Parameter items = 2 (check; sim and run take 255).",
            "Parameter pause = 2000 (default; sim and run take 2000).",
        ] {
            assert!(
                model.lines().take(12).any(|l| l.contains(line)),
                "{to}: {line}\n{}",
                &model[..500.min(model.len())]
            );
        }
    }
}
