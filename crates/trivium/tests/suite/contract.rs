//! What other programs rely on: names and order of keys, exit codes, and that results do not change.

use crate::harness::{self, keys, trivium};
use serde_json::Value;

const HEAD: [&str; 11] = [
    "schema",
    "version",
    "command",
    "protocols",
    "machine",
    "program",
    "args",
    "hashes",
    "nodes",
    "seed",
    "host_seconds",
];

/// The result begins as all do, and has these keys, in this order, perhaps with others among them.
#[track_caller]
fn has(result: &Value, command: &str, wanted: &[&str]) {
    let keys = keys(result);
    assert_eq!(keys[..HEAD.len()], HEAD, "{command}");
    assert_eq!(result["schema"], 1);
    assert_eq!(result["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["command"], command);
    assert_eq!(keys[HEAD.len()], "settings", "{command}");
    in_order(&keys[HEAD.len()..], wanted);
}

#[track_caller]
fn in_order(keys: &[&str], wanted: &[&str]) {
    let places: Vec<Option<usize>> = wanted.iter().map(|key| keys.iter().position(|k| k == key)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{wanted:?} are not, in this order, in {keys:?}");
}

/// A run's result without the host's time.
fn still(args: &[&str]) -> Value {
    let run = trivium(args);
    assert_eq!(run.err, "", "{args:?}: nothing is told where nobody looks");
    let mut result: Value = serde_json::from_str(&run.out).unwrap();
    let fresh = |result: &mut Value| {
        for key in ["host_seconds", "seconds"] {
            result.as_object_mut().unwrap().remove(key);
        }
    };
    match &mut result {
        Value::Array(results) => results.iter_mut().for_each(fresh),
        result => fresh(result),
    }
    result
}

#[track_caller]
fn same_again(args: &[&str]) {
    let first = still(args);
    assert_eq!(first, still(args), "a second run of {args:?}");
    // Where nothing takes long there are no jobs.
    if !["sim", "check"].contains(&args[0]) {
        return;
    }
    let jobs = [args, &["--jobs", "2"]].concat();
    let separated = args.iter().position(|arg| *arg == "--");
    let jobs = match separated {
        Some(at) => [&args[..at], &["--jobs", "2"], &args[at..]].concat(),
        None => jobs,
    };
    assert_eq!(first, still(&jobs), "two jobs");
}

const SIM: [&str; 14] =
    ["sim", "programs/em3d.c", "-p", "stache", "-m", "typhoon", "-n", "4", "--format", "json", "--", "-n", "20", "-i"];

fn sim(more: &[&str]) -> Vec<&'static str> {
    // Options stand before the program's arguments.
    let more: Vec<&'static str> = more.iter().map(|m| &*Box::leak(m.to_string().into_boxed_str())).collect();
    [&SIM[..10], &more, &SIM[10..], &["2"]].concat()
}

/// All keys of a result that programs may look for, as `misses.read`; names of protocols, files and nodes are no keys, and
/// what is in `blame` is told elsewhere.
fn all_keys(value: &Value, above: &str, found: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| all_keys(item, above, found)),
        Value::Object(object) => {
            for (key, value) in object {
                let key = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
                // By the names of messages, and of handlers.
                if let ("stalls" | "handlers", Value::Object(kinds)) = (&key[..], value) {
                    kinds.values().for_each(|of_kind| all_keys(of_kind, &key, found));
                } else if ![
                    "messages",
                    "messages_region",
                    "messages_program",
                    "hashes",
                    "exit_codes",
                    "blame",
                    "parameters",
                    "set",
                ]
                .contains(&key.rsplit('.').next().unwrap_or_default())
                {
                    all_keys(value, &key, found);
                }
                found.insert(key);
            }
        }
        _ => {}
    }
}

#[test]
fn each_code_of_an_error_is_documented() {
    let page = std::fs::read_to_string(harness::root().join("docs/command-line.md")).unwrap();
    let rows = page.lines().skip_while(|line| *line != "| code | |").skip(2).take_while(|line| line.starts_with('|'));
    let found: Vec<String> = rows.map(str::to_string).collect();
    let codes = trivium_diagnostic::Code::ALL.iter();
    assert_eq!(found, codes.map(|(code, means)| format!("| `{code}` | {means} |")).collect::<Vec<_>>());
}

/// What is wrong goes to standard output too where a program waits for a result as JSON, in whichever phase it is found.
#[test]
fn errors_are_json_where_results_are() {
    let folder = crate::harness::folder();
    let wrong = folder.path().join("wrong.tri");
    let text = "protocol wrong\nlane main fifo\nrole r of block everywhere {\n  state S { on read { goto T; while } }\n  state U: write { on read { goto T } }\n}\n";
    std::fs::write(&wrong, text).unwrap();
    let wrong = wrong.to_str().unwrap();
    let json = ["--format", "json"];
    for (code, args, codes) in [
        ("name", &["check", wrong][..], 2),
        ("usage", &["check", "msi", "--nodes", "none"], 1),
        ("usage", &["sim", "programs/sum.c", "-p", "msi", "-m", "typhoon", "-n", "2", "-O2"], 1),
        (
            "machine",
            &["sim", "programs/sum.c", "-p", "msi", "-m", "typhoon", "-n", "2", "--set", "machine.wheels=3"],
            1,
        ),
        ("compiler", &["sim", "programs/bad/syntax.c", "-p", "msi", "-m", "typhoon", "-n", "2"], 1),
        ("search", &["check", "msi", "--scenario", "nowhere"], 1),
    ] {
        let told = trivium(&[args, &json].concat());
        told.refuses(2, &[]);
        let told = told.json(2);
        let list = told["diagnostics"].as_array().unwrap();
        assert_eq!((list[0]["code"].as_str(), list.len()), (Some(code), codes), "{args:?}: {told}");
    }
    // One name in two places is one mistake.
    let told = trivium(&["check", wrong, "--format=json"]).json(2);
    let name = told["diagnostics"].as_array().unwrap().iter().find(|d| d["code"] == "name").expect("no state T");
    assert_eq!(name["places"].as_array().unwrap().len(), 2, "{told}");
    assert_eq!((name["places"][1]["line"].as_u64(), name["places"][1]["column"].as_u64()), (Some(5), Some(35)));
    // A result has its own error, and nothing comes after it.
    let trap =
        trivium(&["sim", "programs/bad/trap.c", "-p", "msi", "-m", "typhoon", "-n", "2", "--format", "json"]).json(1);
    assert_eq!((trap["diagnostics"][0]["code"].as_str(), trap["error"]["what"].is_string()), (Some("trap"), true));
}

#[test]
fn every_key_of_sim_and_compare_is_documented() {
    let folder = crate::harness::folder();
    let source = folder.path().join("wrong.c");
    let text = "#include <stdatomic.h>\n#include <trivium.h>\nstatic _Atomic int private;\nint main(void) {\n\
        char *all = trivium_alloc_round_robin(256);\n all[64 * trivium_node()]++;\n return private++; }\n";
    std::fs::write(&source, text).unwrap();
    let source = source.to_str().unwrap();
    let on = ["-p", "stache", "-m", "typhoon", "-n", "2", "--format", "json"];
    let fails = folder.path().join("fails.c");
    std::fs::write(&fails, "int main(void) { __builtin_trap(); }\n").unwrap();
    let writes = folder.path().join("writes.c");
    let text = "#include <stdio.h>\nint main(void) { FILE *f = fopen(\"new\", \"w\"); return fclose(f); }\n";
    std::fs::write(&writes, text).unwrap();
    let mut found = std::collections::BTreeSet::new();
    for (code, program, more) in [
        (0, writes.to_str().unwrap(), &["--dir-rw", folder.path().to_str().unwrap()][..]),
        (0, source, &["--blame"]),
        (3, "programs/em3d.c", &["--max-cycles", "50000"]),
        (1, fails.to_str().unwrap(), &[]),
    ] {
        all_keys(&trivium(&[&["sim", program][..], &on, more].concat()).json(code), "", &mut found);
    }
    let unordered = ["-p", "uncached", "-m", "typhoon", "-n", "2", "--format", "json", "--dir-rw"];
    let folder_name = folder.path().to_str().unwrap();
    let unordered = [&["sim", writes.to_str().unwrap()][..], &unordered, &[folder_name]].concat();
    all_keys(&trivium(&unordered).json(0), "", &mut found);
    let few = ["--set", "protocol.entries=1", "--set", "protocol.trackers=1"];
    let stalls = ["sim", "programs/em3d.c", "-p", "mshr", "-m", "typhoon", "-n", "3", "--format", "json"];
    all_keys(&trivium(&[&stalls[..], &few, &["--", "-n", "60", "-i", "2"]].concat()).json(0), "", &mut found);
    let mut of_compare = std::collections::BTreeSet::new();
    let compare =
        ["compare", source, "--protocols", "stache", "--machines", "typhoon", "-n", "2", "--live", "--format", "json"];
    let mut result = trivium(&compare).json(0);
    // Each is a result of `sim` or `run`.
    result["runs"] = Value::Null;
    all_keys(&result, "", &mut of_compare);
    found.extend(of_compare);
    let page = std::fs::read_to_string(harness::root().join("docs/simulator.md")).unwrap();
    let table = page.split("## The keys of results").nth(1).expect("the section").lines();
    let rows = table.skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|line| line.starts_with('|'));
    let documented: std::collections::BTreeSet<String> = rows
        .flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
        .map(String::from)
        .collect();
    let statistics = trivium_sim::NODE_STATISTICS.iter().map(|statistic| format!("per_node.{}", statistic.name));
    let documented: std::collections::BTreeSet<String> = documented.into_iter().chain(statistics).collect();
    let missing: Vec<&String> = found.difference(&documented).collect();
    let stale: Vec<&String> = documented.difference(&found).collect();
    assert!(missing.is_empty() && stale.is_empty(), "not in docs/simulator.md: {missing:?}; only there: {stale:?}");
}

#[test]
fn a_result_names_all_sources_and_flags_and_the_greatest_memory() {
    let folder = crate::harness::folder();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let main = file(
        "main.c",
        "#include <stdlib.h>\n#include <trivium.h>\nint more(void);\n\
         int main(void) { trivium_alloc_on(0, 100000); volatile char *p = malloc(LARGE); p[0] = 1; return more() + p[0] - 1; }\n",
    );
    let more = file("more.c", "int more(void) { return 0; }\n");
    let run = |flags: &str| {
        let args = ["sim", &main, &more, "--cc", flags, "-p", "stache", "-m", "typhoon", "-n", "2", "--format", "json"];
        trivium(&args).json(0)
    };
    let (small, large) = (run("-DLARGE=1000"), run("-DLARGE=50000000"));
    assert_eq!(small["program"], *main);
    assert_eq!((&small["sources"], &small["cc"]), (&serde_json::json!([main, more]), &"-DLARGE=1000".into()));
    let memory = |result: &Value| ["private", "shared"].map(|kind| result["memory"][kind].as_u64().unwrap());
    let ([less, shared], [much, same]) = (memory(&small), memory(&large));
    assert!(less > 1 << 20 && less % 65536 == 0 && (50_000_000..80_000_000).contains(&(much - less)), "{less}, {much}");
    assert!(shared == same && (100_000..200_000).contains(&shared), "{shared}");
}

#[test]
fn sim_has_the_keys_of_the_contract() {
    let result = trivium(&sim(&["--seed", "7"])).json(0);
    let wanted = ["cycles", "instructions", "misses", "messages", "bytes", "output", "per_node"];
    has(&result, "sim", &wanted);
    assert_eq!(result["protocols"], serde_json::json!(["stache"]));
    assert_eq!(result["machine"], "typhoon");
    assert_eq!(result["program"], "programs/em3d.c");
    assert_eq!(result["args"], serde_json::json!(["-n", "20", "-i", "2"]));
    assert_eq!((&result["nodes"], &result["seed"]), (&4.into(), &7.into()));
    assert_eq!(keys(&result["hashes"]), ["program", "protocol stache", "machine typhoon"]);
    assert!(result["hashes"].as_object().unwrap().values().all(|hash| hash.as_str().unwrap().len() == 64));
    assert_eq!(keys(&result["misses"]), ["read", "write", "upgrade"]);
    assert!(keys(&result["messages"]).iter().all(|name| name.starts_with("stache.")));
    assert!(result["output"].as_str().unwrap().contains("ok"));
    let nodes = result["per_node"].as_array().unwrap();
    assert_eq!(nodes.len(), 4);
    for node in nodes {
        in_order(
            &keys(node),
            &[
                "cycles",
                "instructions",
                "compute",
                "read_stall",
                "write_stall",
                "tlb_stall",
                "sync_stall",
                "handler",
                "read_faults",
                "write_faults",
                "messages_sent",
                "bytes_sent",
                "engine_busy",
                "bus_busy",
            ],
        );
        let part = |name: &str| node[name].as_u64().unwrap();
        let parts = ["compute", "read_stall", "write_stall", "tlb_stall", "sync_stall", "handler"].map(part);
        assert_eq!(parts.iter().sum::<u64>(), part("cycles"), "{node}");
    }
}

#[test]
fn where_a_program_lies_changes_nothing() {
    let folder = crate::harness::folder();
    let elsewhere = folder.path().join("a-folder-with-a-name-that-takes-more-room-than-programs/em3d.c");
    std::fs::create_dir(elsewhere.parent().unwrap()).unwrap();
    std::fs::copy(harness::root().join("programs/em3d.c"), &elsewhere).unwrap();
    let run = |program: &str| {
        let args = ["sim", program, "-p", "stache", "-m", "typhoon", "-n", "4", "--format", "json", "--", "-t", "2400"];
        let mut result = still(&args);
        assert_eq!(result.as_object_mut().unwrap().remove("program").unwrap(), program);
        assert_eq!(result.as_object_mut().unwrap().remove("sources").unwrap(), serde_json::json!([program]));
        result
    };
    assert_eq!(run(&elsewhere.display().to_string()), run("programs/em3d.c"));
}

/// Tests of the libraries compile programs without this command: their headers are those that it prints.
#[test]
fn headers_in_tests_are_those_of_the_protocols() {
    let folder = harness::root().join("crates/guest/tests/include/trivium");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let printed = trivium(&["header", name]);
        assert_eq!(printed.out, std::fs::read_to_string(&file).unwrap(), "trivium header {name}");
    }
}

#[test]
fn each_machine_has_a_result_of_its_own() {
    let several = still(&sim(&["-m", "simple-coma"]));
    let alone = still(&sim(&[]));
    let results = several.as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0], alone);
    assert_eq!(results[1]["machine"], "simple-coma");
    assert_ne!(results[0]["cycles"], results[1]["cycles"]);
}

#[test]
fn miss_has_the_keys_of_the_contract() {
    for kind in ["read", "write", "upgrade"] {
        let args = ["miss", "-p", "msi", "-m", "typhoon-1", "--kind", kind, "--block", "64", "--format", "json"];
        let result = trivium(&args).json(0);
        has(&result, "miss", &["total", "unit", "steps", "bus_transactions"]);
        assert_eq!(keys(&result["hashes"]), ["protocol msi", "machine typhoon-1"]);
        assert_eq!(result["unit"], "cycles");
        let steps = result["steps"].as_array().unwrap();
        let sum: u64 = steps.iter().map(|step| step["cycles"].as_u64().unwrap()).sum();
        assert_eq!(sum, result["total"].as_u64().unwrap());
        for step in steps {
            assert_eq!(keys(step), ["node", "step", "cycles"]);
            assert!(["requester", "home", "network"].contains(&step["node"].as_str().unwrap()), "{step}");
        }
    }
}

const CHECK: [&str; 22] = [
    "verdict",
    "property",
    "states",
    "transitions",
    "depth",
    "seconds",
    "bytes_per_state",
    "symmetry",
    "clearing",
    "late_values",
    "dead_copies",
    "idle_words",
    "idle",
    "promises",
    "uncompared",
    "assumptions",
    "coverage",
    "clauses",
    "branches",
    "vacuous",
    "counterexample",
    "wait_cycle",
];

#[test]
fn check_has_the_keys_of_the_contract() {
    let result = trivium(&["check", "msi", "--nodes", "2", "--format", "json"]).json(0);
    has(&result, "check", &CHECK);
    assert_eq!(result["verdict"], "holds");
    for counted in ["coverage", "clauses", "branches"] {
        assert_eq!(keys(&result[counted]), ["reached", "total", "unreached"]);
    }
    assert_eq!(keys(&result["branches"]["unreached"][0]), ["name", "at"]);
    assert_eq!(keys(&result["hashes"]), ["protocol msi"]);
    assert_eq!(result["machine"], Value::Null);
    assert_eq!(result["counterexample"], serde_json::json!([]));

    let result = trivium(&["check", "broken/msi-forgotten-ack", "--format", "json"]).json(1);
    has(&result, "check", &CHECK);
    assert_eq!((&result["verdict"], &result["property"]), (&"violated".into(), &"deadlock".into()));
    let steps = result["counterexample"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    for (i, step) in steps.iter().enumerate() {
        in_order(&keys(step), &["step", "node", "event", "object", "before", "after", "sends"]);
        assert_eq!(step["step"], i + 1);
    }
    assert!(!result["wait_cycle"].as_array().unwrap().is_empty());

    let result = trivium(&["check", "msi", "--max-states", "100", "--format", "json"]).json(3);
    assert_eq!((&result["verdict"], &result["states"]), (&"incomplete".into(), &100.into()));
}

#[test]
fn the_reference_build_in_the_reference_order_says_the_same() {
    for machine in ["simple-coma", "typhoon", "typhoon-1", "typhoon-0"] {
        let run = |more: &[&str]| {
            let args = ["sim", "programs/em3d.c", "-p", "stache", "-m", machine, "-n", "5", "--format", "json"];
            still(&[&args[..], more, &["--", "-n", "40", "-i", "2"]].concat())
        };
        assert_eq!(run(&["--reference", "--window", "0"]), run(&[]), "{machine}");
    }
}

#[test]
fn lists_and_tables_begin_as_all_results_do() {
    let result = trivium(&["protocols", "--format", "json"]).json(0);
    has(&result, "protocols", &["list"]);
    let names: Vec<&str> = result["list"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    let built_in = [
        "alternating-bit",
        "bank-queue",
        "call-assembly",
        "channel",
        "column",
        "deferred-update",
        "eager",
        "eager-exclusive",
        "fbcopy",
        "fbcopy-collect",
        "fbcopy-delegate",
        "fbcopy-flag",
        "fbcopy-holdoff",
        "fbcopy-relaxed",
        "fbcopy-unaligned",
        "fbcopy-whole",
        "flash-barrier",
        "flash-coherence",
        "flash-fenced",
        "flash-lock",
        "flash-lock-aggressive",
        "flash-lock-central",
        "flash-lock-hints",
        "flash-lock-uncached",
        "flash-partial",
        "flash-prefetch",
        "flash-relaxed",
        "german",
        "mapped",
        "migratory",
        "mm",
        "moesi",
        "mshr",
        "msi",
        "msi-monitor",
        "pair-credits",
        "pool",
        "posted-writes",
        "release-probe",
        "remote-records",
        "remote-write",
        "retry-credits",
        "stache",
        "stache-counted",
        "stache-pages",
        "stache-prefetch",
        "swcc",
        "token-list",
        "token-lock",
        "token-ring",
        "tree-barrier",
        "tso-cc",
        "uncached",
        "update",
        "write-update",
    ];
    assert_eq!(names[..built_in.len()], built_in);
    for protocol in result["list"].as_array().unwrap() {
        assert!(!protocol["promises"].as_array().unwrap().is_empty() && protocol["about"] != "", "{protocol}");
    }
    let result = trivium(&["machines", "--format", "json"]).json(0);
    has(&result, "machines", &["list"]);
    assert_eq!(keys(&result["hashes"]).len(), result["list"].as_array().unwrap().len());

    let result = trivium(&["machine", "typhoon", "--set", "machine.network.latency=777", "--format", "json"]).json(0);
    has(&result, "machine", &["values"]);
    assert_eq!(result["values"]["network"]["latency"], 777);
    let plain = trivium(&["machine", "typhoon", "--format", "json"]).json(0);
    assert_ne!(plain["hashes"], result["hashes"], "a machine that was changed is another");

    for protocol in names {
        let result = trivium(&["show", protocol, "--format", "json"]).json(0);
        has(&result, "show", &["name", "promises", "lanes", "messages", "roles"]);
        assert!(!result["roles"].as_array().unwrap().is_empty());
    }
}

#[test]
fn every_form_of_a_protocol_can_be_shown() {
    for protocol in
        ["msi", "stache", "swcc", "remote-write", "token-lock", "token-ring", "tree-barrier", "broken/squeezed-lanes"]
    {
        for (format, begins) in [("text", ""), ("markdown", "# "), ("dot", "digraph "), ("svg", "<svg ")] {
            let run = trivium(&["show", protocol, "--format", format]);
            assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{protocol} {format}");
            assert!(
                run.out.starts_with(begins) && run.out.ends_with('\n') && run.out.len() > 500,
                "{protocol} {format}"
            );
        }
    }
    let table = trivium(&["show", "msi"]).out;
    for word in ["role cache of block", "Dirty", "Invalidate", "longest handler", "lanes", "properties"] {
        assert!(table.contains(word), "{word}");
    }
}

#[test]
fn a_printed_machine_is_a_machine() {
    let folder = crate::harness::folder();
    let path = folder.path().join("mine.toml");
    let mine = path.to_str().unwrap();
    let change = ["--set", "machine.network.latency=200", "--set", "machine.name=mine"];
    assert_eq!(trivium(&[&["machine", "typhoon", "--out", mine][..], &change].concat()).code, Some(0));
    let total = |machine: &str, more: &[&str]| {
        let args = ["miss", "-m", machine, "--block", "32", "--format", "json"];
        trivium(&[&args[..], more].concat()).json(0)["total"].as_u64().unwrap()
    };
    assert_eq!(total("typhoon", &[]), 401);
    assert_eq!(total(mine, &[]), 401 + 2 * 100);
    assert_eq!(total("typhoon", &change), total(mine, &[]));
}

#[test]
fn results_are_the_same_in_every_run_and_for_every_number_of_jobs() {
    same_again(&sim(&[]));
    same_again(&[
        "sim",
        "programs/litmus.c",
        "-p",
        "msi",
        "-m",
        "typhoon",
        "-n",
        "4",
        "--seed",
        "3",
        "--set",
        "machine.network.jitter=100",
        "--format",
        "json",
        "--",
        "-n",
        "3",
    ]);
    same_again(&["miss", "-m", "typhoon-0", "--format", "json"]);
    same_again(&["check", "stache", "--nodes", "2", "--format", "json"]);
    same_again(&["check", "broken/stache-lost-upgrade", "--format", "json"]);
    same_again(&["show", "tree-barrier", "--format", "json"]);
    same_again(&["protocols", "--format", "json"]);
    same_again(&["machine", "typhoon", "--format", "json"]);
}

#[test]
fn settings_change_results() {
    let slow = still(&sim(&["--set", "machine.network.latency=1000"]));
    let fast = still(&sim(&[]));
    assert!(slow["cycles"].as_u64() > fast["cycles"].as_u64());
    let late = ["check", "broken/tree-barrier-late-reset", "--nodes", "4", "--format", "json"];
    assert_eq!(trivium(&late).json(1)["property"], "barrier(arrive)");
}

#[test]
fn mutate_has_the_keys_of_the_contract() {
    let file = "crates/trivium/tests/mutants/spare.tri";
    let result = trivium(&["mutate", file, "--nodes", "2", "--format", "json"]).json(0);
    let own = [
        "verdict",
        "states",
        "transitions",
        "possible",
        "mutants",
        "killed",
        "rejected",
        "incomplete",
        "survived",
        "checks",
        "untried",
        "killed_by",
        "survivors",
        "only_checks",
        "unfinished",
        "refused",
    ];
    has(&result, "mutate", &own);
    assert_eq!((&result["verdict"], &result["mutants"]), (&"complete".into(), &result["possible"]));
    let number = |key: &str| result[key].as_u64().unwrap();
    let fates = ["killed", "rejected", "incomplete", "survived", "checks", "untried"];
    assert_eq!(fates.iter().map(|key| number(key)).sum::<u64>(), number("mutants"));
    let counts = result["killed_by"].as_object().unwrap().values();
    assert_eq!(counts.map(|count| count.as_u64().unwrap()).sum::<u64>(), number("killed"));
    for (key, count) in [("survivors", "survived"), ("only_checks", "checks"), ("refused", "rejected")] {
        assert_eq!(result[key].as_array().unwrap().len() as u64, number(count), "{key}");
    }
    in_order(&keys(&result["survivors"][0]), &["at", "change", "effect", "states", "transitions"]);

    // Who tries them changes nothing.
    let timeless = |mut result: Value| {
        result["host_seconds"] = Value::Null;
        result
    };
    let again = trivium(&["mutate", file, "--nodes", "2", "--format", "json", "--jobs", "3"]).json(0);
    assert_eq!(timeless(again), timeless(result));

    let some = trivium(&["mutate", file, "--nodes", "2", "--max-mutants", "5", "--format", "json"]).json(0);
    assert_eq!(some["mutants"], 5);
    let cut = trivium(&["mutate", file, "--nodes", "2", "--max-states", "10", "--format", "json"]).json(3);
    assert_eq!(cut["verdict"], "incomplete");
    assert!(!cut["unfinished"].as_array().unwrap().is_empty());
}
