//! Every result carries its settings, so that two results of a sweep can be told apart.

use crate::harness::{root, trivium};
use serde_json::{Value, json};

/// A program that shares a block.
fn program(folder: &std::path::Path) -> String {
    let file = folder.join("share.c");
    let text = "#include <trivium.h>\nint main(void) {\n    char *all = trivium_alloc_round_robin(256);\n    \
                all[64 * trivium_node()]++;\n    return 0;\n}\n";
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

fn json_of(args: &[&str], code: i32) -> Value {
    trivium(&[args, &["--format", "json"]].concat()).json(code)
}

#[test]
fn every_command_says_with_which_settings_it_ran() {
    let folder = crate::harness::folder();
    let program = program(folder.path());
    let recorded = folder.path().join("race.json").display().to_string();
    let broken = ["check", "broken/pool-uncounted", "--format", "json", "--out", &recorded];
    assert_eq!(trivium(&broken).code, Some(1));
    let latency = ["--set", "machine.network.latency=300"];
    let set = json!({ "machine.network.latency": 300 });
    let none = json!({});
    let pool = json!({ "pool": { "units": 3 } });
    let at_two = ["-p", "stache", "-n", "2"];
    let commands: [(&[&str], i32, Value, &Value); 11] = [
        (
            &["check", "pool", "--nodes", "2", "--set", "protocol.units=3"],
            0,
            pool.clone(),
            &json!({ "protocol.units": 3 }),
        ),
        (
            &["mutate", "pool", "--nodes", "2", "--max-mutants", "1", "--set", "protocol.units=3"],
            0,
            pool.clone(),
            &json!({ "protocol.units": 3 }),
        ),
        (&["show", "pool", "--set", "protocol.units=3"], 0, pool, &json!({ "protocol.units": 3 })),
        (&["replay", &recorded], 1, json!({ "pool-uncounted": { "units": 2 } }), &none),
        (&[&["sim", &program, "-m", "typhoon"][..], &at_two, &latency].concat(), 0, json!({ "stache": {} }), &set),
        (&[&["compare", &program, "-m", "typhoon"][..], &at_two, &latency].concat(), 0, json!({ "stache": {} }), &set),
        (&[&["run", &program][..], &at_two].concat(), 0, json!({ "stache": {} }), &none),
        (&[&["miss", "-m", "typhoon"][..], &latency].concat(), 0, json!({ "stache": {} }), &set),
        (&[&["machine", "typhoon"][..], &latency].concat(), 0, none.clone(), &set),
        (&["machines"], 0, Value::Null, &Value::Null),
        (&["programs"], 0, Value::Null, &Value::Null),
    ];
    for (args, code, parameters, set) in commands {
        let result = json_of(args, code);
        let settings = &result["settings"];
        assert_eq!((&settings["parameters"], &settings["set"]), (&parameters, set), "{args:?}");
        assert_eq!((&settings["nodes"], &settings["seed"]), (&result["nodes"], &result["seed"]), "{args:?}");
        for run in result["runs"].as_array().into_iter().flatten() {
            assert_eq!(run["settings"]["set"], *set, "{args:?}");
        }
    }
}

/// The keys in which two results' settings differ.
fn differences(one: &Value, other: &Value) -> Vec<String> {
    let (one, other) = (one["settings"].as_object().unwrap(), other["settings"].as_object().unwrap());
    assert!(one.keys().eq(other.keys()), "the same keys");
    one.iter().filter(|(key, value)| other[*key] != **value).map(|(key, _)| key.clone()).collect()
}

#[test]
fn results_of_a_sweep_differ_in_the_settings_that_it_changes() {
    let folder = crate::harness::folder();
    let program = program(folder.path());
    let sim = ["sim", &program, "-p", "stache", "-m", "typhoon", "-n", "2"];
    let check = ["check", "tree-barrier", "--nodes", "2", "--no-scenarios"];
    let run = ["run", &program, "-p", "stache", "-n", "2"];
    let sweeps: [(&[&str], &[&str], &[&str]); 9] = [
        (&sim, &["--block", "128"], &["block"]),
        (&sim, &["--seed", "7"], &["seed"]),
        (&sim, &["--set", "machine.network.latency=300"], &["set"]),
        (&sim, &["--jobs", "2"], &[]),
        (&check, &["--homes", "barrier=1"], &["homes"]),
        (&check, &["--set", "protocol.join=2"], &["parameters", "set"]),
        (&check, &["--no-symmetry"], &["symmetry"]),
        (&check, &["--all-parameters"], &["all_parameters"]),
        (&run, &["--delays", "5"], &["delays"]),
    ];
    for (args, more, expected) in sweeps {
        let (plain, other) = (json_of(args, 0), json_of(&[args, more].concat(), 0));
        assert_eq!(differences(&plain, &other), expected, "{more:?}");
    }
}

#[test]
fn pages_traces_and_reports_have_the_settings() {
    let folder = crate::harness::folder();
    let program = program(folder.path());
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (page, trace, live, chart) = (path("page.html"), path("sim.json"), path("run.json"), path("chart.html"));
    let set = ["--set", "machine.network.latency=300", "--html", &page, "--trace", &trace];
    let sim = trivium(&[&["sim", &program, "-p", "stache", "-m", "typhoon", "-n", "2"][..], &set].concat());
    assert!(sim.out.contains("\nset           machine.network.latency = 300\n"), "{sim:?}");
    let row = "<td class=\"word\">set.machine.network.latency</td><td class=\"word\">300</td>";
    assert!(std::fs::read_to_string(page).unwrap().contains(row));
    let run = ["run", &program, "-p", "stache", "-p", "pool", "-n", "2", "--set", "protocol.units=3", "--trace", &live];
    let run = trivium(&run);
    assert!(run.out.contains("\nparameters    pool.units = 3\n"), "{run:?}");
    let settings = |file: &str| {
        let trace: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        trace["otherData"]["settings"].clone()
    };
    assert_eq!(settings(&trace)["set"], json!({ "machine.network.latency": 300 }));
    assert_eq!(settings(&live)["parameters"]["pool"], json!({ "units": 3 }));
    assert_eq!(trivium(&["check", "broken/pool-uncounted", "--html", &chart]).code, Some(1));
    let chart = std::fs::read_to_string(chart).unwrap();
    assert!(chart.contains("<li>parameters.pool-uncounted.units = 2</li>") && chart.contains("<li>values = 2</li>"));
}

#[test]
fn a_run_that_failed_has_its_settings_too() {
    let folder = crate::harness::folder();
    let file = folder.path().join("fails.c").display().to_string();
    std::fs::write(&file, "int main(void) { __builtin_trap(); }\n").unwrap();
    for args in
        [&["sim", &file, "-p", "pool", "-m", "typhoon", "-n", "2"][..], &["run", &file, "-p", "pool", "-n", "2"]]
    {
        let result = json_of(args, 1);
        assert_eq!(result["settings"]["parameters"], json!({ "pool": { "units": 16 } }), "{args:?}");
        assert_eq!(result["settings"]["block"], 64, "{args:?}");
    }
}

/// Models have homes of their own: what is not so is refused, with what would do.
#[test]
fn models_are_told_which_homes_they_have() {
    let refused = trivium(&["export", "mshr", "--to", "murphi", "--nodes", "2"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for told in ["block 1 is at home at node 0", "`--homes block=0/1`"] {
        assert!(refused.err.contains(told), "{refused:?}");
    }
    let regular = trivium(&["export", "mshr", "--to", "murphi", "--nodes", "2", "--homes", "block=0/1"]);
    assert_eq!(regular.code, Some(0), "{refused:?}");
}

/// A queue that lanes share is exported where it is as long as they are together.
#[test]
fn models_have_no_queue_that_lanes_share() {
    let export = |places: &str| {
        trivium(&[
            "export",
            "flash-coherence",
            "--to",
            "murphi",
            "--nodes",
            "2",
            "--set",
            &format!("protocol.outgoing={places}"),
        ])
    };
    let refused = export("2");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    for told in
        ["the lanes request, reply share a queue of 2 places", "let them share as many places as they have together"]
    {
        assert!(refused.err.contains(told), "{refused:?}");
    }
    let (long, declared) = (export("3"), trivium(&["export", "flash-coherence", "--to", "murphi", "--nodes", "2"]));
    let rules = |text: &str| text.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
    assert_eq!((long.code, declared.code), (Some(0), Some(0)), "{long:?}");
    assert_eq!(rules(&long.out), rules(&declared.out));
}

/// The text of a scenario's counterexample ends with the line of the scenario that is to blame.
#[test]
fn a_scenario_is_blamed_at_its_line() {
    let folder = crate::harness::folder();
    std::fs::copy(root().join("protocols/msi.tri"), folder.path().join("msi.tri")).unwrap();
    let file = folder.path().join("blamed.tri");
    let scenarios = [
        ("at 0 {\n  let x = read(0)\n  r = 10 / x\n}\nat 1 { write(0, 2) }\nforbid r == 5", ":5: r = 10 / x"),
        ("at 0 {\n  r = read(0)\n}\nat 1 { write(0, 2) }\nforbid r == 2", ":7: forbid r == 2"),
        ("at 0 {\n  r = read(0)\n}\nat 1 { write(0, 2) }\nforbid 10 / r == 3", ":7: forbid 10 / r == 3"),
    ];
    for (scenario, line) in scenarios {
        let text = format!("protocol blamed\nuse \"msi.tri\"\nscenario s homes block=1 {{ {scenario}\n}}\n");
        std::fs::write(&file, text).unwrap();
        let run = trivium(&["check", file.to_str().unwrap(), "--nodes", "2"]);
        assert_eq!(run.code, Some(1), "{run:?}");
        let lines: Vec<&str> = run.out.lines().filter(|line| line.starts_with("  at ")).collect();
        assert!(lines.last().is_some_and(|last| last.ends_with(line)), "{line}: {}", run.out);
    }
}

/// A scenario has the homes that it declares, unless the command line says others.
#[test]
fn a_scenario_has_homes_of_its_own() {
    let folder = crate::harness::folder();
    let file = folder.path().join("at_home.tri");
    let text = "protocol at_home\npromises single_writer, last_write, sequential\ncheck nodes 2, homes block=1\n\
        role cache of block { state I { on read, write { assert false } } }\nrole home of block { state Here: write }\n\
        scenario near homes block=0 { at 0 { write(0, 1); r = read(0) } forbid r == 0 }\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(json_of(&["check", file, "--scenario", "near"], 0)["settings"]["homes"]["block"][0], 0);
    assert_eq!(json_of(&["check", file, "--scenario", "near", "--homes", "block=1"], 1)["property"], "fault");
    // What the command line says is so in all scenarios, also where the file says the same of its own accord.
    let other = "protocol other\nuse \"msi.tri\"\ncheck nodes 2, homes block=1\n\
        scenario near homes block=0 { at 0 { until read(0) == 0 } }\n";
    let of = folder.path().join("other.tri");
    std::fs::copy(root().join("protocols/msi.tri"), folder.path().join("msi.tri")).unwrap();
    std::fs::write(&of, other).unwrap();
    let of = of.to_str().unwrap();
    let states = |args: &[&str]| json_of(args, 0)["scenarios"][0]["states"].clone();
    assert_ne!(states(&["check", of]), states(&["check", of, "--homes", "block=1"]));
    let bad = text.replace("homes block=0", "homes blok=0");
    std::fs::write(folder.path().join("bad.tri"), bad).unwrap();
    let refused = trivium(&["check", folder.path().join("bad.tri").to_str().unwrap()]);
    assert!(refused.err.contains("there is no kind of object `blok`"), "{refused:?}");
}
