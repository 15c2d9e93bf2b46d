//! With which values of its parameters a protocol is checked: every form of a result says it.

use crate::harness::trivium;
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
        "outgoing = 8192 of 2..8192 (default), as in sim and run",
        "pointers = 1 of 1..65536 (`check` in the file); sim and run take 65536",
    ];
    assert_eq!(lines(&text, "parameter "), expected, "{text}");
    let verdict = text.lines().nth(1).unwrap();
    assert!(verdict.contains("; requests = 1, replies = 3, pointers = 1; "), "{verdict}");
    let result = check(&["--format", "json"]).json(0);
    let expected = [
        json!(["requests", 1, "check", 8, 1, 4096]),
        json!(["replies", 3, "set", 8, 2, 4096]),
        json!(["outgoing", 8192, "default", 8192, 2, 8192]),
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
    let folder = crate::harness::folder();
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

/// It holds with 1, which its file gives for `check`, and not with 8, which `sim` and `run` take.
const HIDDEN: &str = "crates/trivium/tests/parameters/param.tri";

#[test]
fn a_violation_with_the_value_of_sim_and_run_is_the_verdict() {
    let folder = crate::harness::folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (recorded, page, picture) = (path("race.json"), path("race.html"), path("race.svg"));
    let run = trivium(&["check", HIDDEN, "--svg", &picture, "--html", &page]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(run.out.lines().nth(1), Some("violated: mutex(acquire, release), with most = 8"), "{}", run.out);
    assert_eq!(lines(&run.out, "parameter "), ["most = 8 of 1..8 (tried), as in sim and run"]);
    assert_eq!(lines(&run.out, "tried "), ["most = 8: violated: mutex(acquire, release)"]);
    assert!(run.out.contains("\n  with most = 8\n"), "the chart: {}", run.out);
    assert!(run.out.contains("\nwith most = 1: holds, 70 states\n"), "{}", run.out);
    for drawn in [page, picture] {
        let drawn = std::fs::read_to_string(drawn).unwrap();
        assert!(drawn.contains("param-hidden violates mutex(acquire, release), with most = 8"));
    }
    let json = trivium(&["check", HIDDEN, "--format", "json", "--out", &recorded]);
    assert_eq!(json.code, Some(1), "{json:?}");
    let result: Value = serde_json::from_str(&std::fs::read_to_string(&recorded).unwrap()).unwrap();
    assert_eq!((&result["verdict"], &result["property"]), (&json!("violated"), &json!("mutex(acquire, release)")));
    assert_eq!(told(&result), [json!(["most", 8, "tried", 8, 1, 8])]);
    assert_eq!(result["states"], 70, "counts are those of the first search");
    let tried = result["tried"].as_array().unwrap();
    assert_eq!(tried.len(), 1, "{tried:?}");
    assert_eq!((&tried[0]["parameter"], &tried[0]["value"]), (&json!("most"), &json!(8)));
    let replayed = trivium(&["replay", &recorded]);
    assert!(replayed.out.contains("violated again: mutex(acquire, release)"), "{replayed:?}");
}

#[test]
fn other_values_are_not_tried_where_nobody_wants_them() {
    for more in [&["--no-all-parameters"][..], &["--set", "protocol.most=1"]] {
        let run = trivium(&[&["check", HIDDEN], more].concat());
        assert_eq!((run.code, lines(&run.out, "tried ").len()), (Some(0), 0), "{run:?}");
    }
    let set = trivium(&["check", HIDDEN, "--set", "protocol.most=1", "--all-parameters"]);
    assert!(set.out.contains("violated: mutex(acquire, release), with most = 8"), "{set:?}");
    let both = trivium(&["check", HIDDEN, "--all-parameters", "--no-all-parameters"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn a_verdict_names_the_values_that_were_tried_one_parameter_at_a_time() {
    let run = trivium(&["check", "tree-barrier", "--nodes", "3"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let expected = ["join = 1, 2, 3, 5, 6, 7: holds", "release = 1, 2, 3, 5, 6, 7: holds"];
    assert_eq!(lines(&run.out, "tried "), expected, "{}", run.out);
    // A range of 64 values is not tried.
    let pool = trivium(&["check", "pool", "--nodes", "2", "--all-parameters", "--format", "json"]).json(0);
    assert_eq!(pool["tried"], json!([]));
}

#[test]
fn other_values_are_tried_of_what_is_small() {
    let folder = crate::harness::folder();
    for (most, tried) in [(90_000, vec!["step = 2: holds"]), (110_000, vec![])] {
        let file = folder.path().join("count.tri");
        let text = format!(
            "protocol count\nparam step = 1 in 1..2\nobject box\nop up(b: box)\nlane main buffered\nrole home of box {{\n  \
             var n: 0..{most}\n  state S {{ on up {{ if n < {most} {{ n += step }} else {{ n = 0 }}; return }} }}\n}}\n"
        );
        std::fs::write(&file, text).unwrap();
        let run = trivium(&["check", file.to_str().unwrap(), "--nodes", "1"]);
        assert_eq!((run.code, lines(&run.out, "tried ")), (Some(0), tried), "{run:?}");
    }
}

#[test]
fn searches_with_limits_try_other_values_only_if_they_are_asked_for() {
    let limited = ["check", "tree-barrier", "--nodes", "3", "--max-states", "5", "--format", "json"];
    assert_eq!(trivium(&limited).json(3)["tried"], json!([]));
    let all = trivium(&[&limited[..], &["--all-parameters"]].concat()).json(3);
    let tried = all["tried"].as_array().unwrap();
    assert_eq!(tried.len(), 12);
    assert!(tried.iter().all(|value| value["verdict"] == "incomplete"), "{tried:?}");
}

#[test]
fn a_value_that_a_protocol_cannot_have_is_named() {
    let run = trivium(&["check", "crates/trivium/tests/parameters/refused.tri", "--nodes", "2"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let tried = lines(&run.out, "tried ");
    assert_eq!(tried.len(), 2, "{tried:?}");
    assert!(tried[0].starts_with("most = 1: refused: a lane holds "), "{tried:?}");
    assert_eq!(tried[1], "most = 2: holds");
}
