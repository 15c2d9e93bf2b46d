//! `trivium compare --live`: what is simulated and what is measured, side by side.

use crate::harness::{keys, trivium};

const EM3D: [&str; 11] = [
    "compare",
    "programs/em3d.c",
    "-p",
    "stache,msi",
    "-m",
    "typhoon,typhoon-1",
    "-n",
    "3",
    "--live",
    "--max-seconds",
    "60",
];
const ARGS: [&str; 5] = ["--", "-t", "240", "-i", "2"];

#[test]
fn live_runs_stand_beside_simulations_and_agree_with_them() {
    let result = trivium(&[&EM3D[..], &["--format", "json"], &ARGS].concat()).json(0);
    let runs = result["runs"].as_array().unwrap();
    let commands: Vec<&str> = runs.iter().map(|run| run["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["sim", "sim", "sim", "sim", "run", "run"]);
    // A live run is told as `trivium run` tells it.
    let run = ["run", "programs/em3d.c", "-p", "msi", "--nodes", "3", "--format", "json"];
    let alone = trivium(&[&run[..], &ARGS].concat()).json(0);
    let live = &runs[5];
    assert_eq!(
        keys(live).iter().filter(|key| **key != "host").collect::<Vec<_>>(),
        keys(&alone).iter().collect::<Vec<_>>()
    );
    for key in [
        "protocols",
        "program",
        "args",
        "hashes",
        "nodes",
        "transport",
        "block",
        "misses",
        "messages",
        "bytes",
        "output",
    ] {
        assert_eq!(live[key], alone[key], "{key}");
    }
    assert!(live["host"]["processors"].as_u64().unwrap() > 0 && live["host"]["name"].is_string());
    let agreement = result["agreement"].as_array().unwrap();
    assert_eq!(agreement.len(), 4);
    for pair in agreement {
        for key in ["same_misses", "same_messages", "same_output"] {
            assert_eq!(pair[key], true, "{key} of {pair}");
        }
    }
    assert_eq!(agreement[3]["whole_program"]["messages"], live["messages"]);
    // Those of `sim` are as they are without live runs.
    let without: Vec<&str> = EM3D[..8].iter().chain(&["--format", "json"]).chain(&ARGS).copied().collect();
    let mut plain = trivium(&without).json(0);
    for number in 0..4 {
        for result in [&mut plain["runs"][number], &mut runs[number].clone()] {
            result["host_seconds"] = 0.into();
        }
        assert_eq!(plain["runs"][number]["cycles"], runs[number]["cycles"]);
        assert_eq!(plain["runs"][number]["messages"], runs[number]["messages"]);
    }
}

#[test]
fn the_table_has_both_and_says_what_can_be_compared() {
    let run = trivium(&[&EM3D[..], &ARGS].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let column = |line: &str, number: usize| {
        line.split("  ").filter(|cell| !cell.is_empty()).nth(number).map(str::trim).map(str::to_string)
    };
    let row = |machine: &str, protocol: &str| {
        let is_it = |line: &&str| line.starts_with(machine) && column(line, 1).is_some_and(|cell| cell == protocol);
        run.out.lines().find(is_it).unwrap_or_else(|| panic!("{machine} {protocol}: {}", run.out)).to_string()
    };
    for protocol in ["stache", "msi"] {
        let (simulated, live) = (row("typhoon ", protocol), row("live", protocol));
        assert!(column(&simulated, 2).unwrap().ends_with("cycles") && column(&live, 2).unwrap().ends_with(" s"));
        // Access faults, messages, bytes.
        (4..7).for_each(|number| assert_eq!(column(&simulated, number), column(&live, number), "{}", run.out));
    }
    for words in
        ["threads of the host", "only speedups and shares can be compared", "the same access faults", "em3d: ok"]
    {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
}

/// The clocks of a host and of a machine do not show the same.
#[test]
fn what_differs_is_told() {
    let folder = crate::harness::folder();
    let program = folder.path().join("clock.c");
    let text = "#include <stdio.h>\n#include <unistd.h>\n#include \"trivium.h\"\nint main(void) {\n\
        usleep(300000);\n printf(\"%s\\n\", trivium_cycles() > 200000000 ? \"late\" : \"early\");\n return 0; }\n";
    std::fs::write(&program, text).unwrap();
    let run = trivium(&["compare", program.to_str().unwrap(), "-p", "msi", "-m", "typhoon", "-n", "1", "--live"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("differ") && run.out.contains("output: early; live: late"), "{run:?}");
}

#[test]
fn a_live_run_that_goes_wrong_is_told_as_one() {
    let folder = crate::harness::folder();
    let program = folder.path().join("live.c");
    // Right in the simulator, whose clock is slower.
    let text = "#include \"trivium.h\"\n#include <unistd.h>\n\
        int main(void) { usleep(300000); if (trivium_cycles() > 200000000) trivium_fail(\"this is a host\"); return 0; }\n";
    std::fs::write(&program, text).unwrap();
    let compare = ["compare", program.to_str().unwrap(), "-p", "msi", "-m", "typhoon", "-n", "2", "--live"];
    let run = trivium(&compare);
    assert_eq!(run.code, Some(1), "{run:?}");
    for words in ["this is a host", "note: this is the live run under msi, on 2 threads"] {
        assert!(run.err.contains(words), "{run:?}");
    }
    assert_eq!(trivium(&[&compare[..], &["--format", "json"]].concat()).json(1)["transport"], "threads");
    let endless = ["compare", "programs/bad/endless.c", "-p", "msi", "-m", "typhoon", "-n", "2"];
    let run = trivium(&[&endless[..], &["--max-cycles", "100000", "--live", "--max-seconds", "1"]].concat());
    assert_eq!(run.code, Some(3), "{run:?}");
}

#[test]
fn live_is_refused_where_it_does_nothing() {
    let compare = ["compare", "hello", "-p", "msi", "-m", "typhoon"];
    let with = |more: &[&str]| trivium(&[&compare[..], more].concat());
    with(&["--live", "--html", "page.html"]).refuses(2, &["--live", "--html"]);
    with(&["--live", "--dir-rw", "."]).refuses(2, &["--live", "--dir-rw"]);
    with(&["--live", "-n", "300"]).refuses(2, &["256 nodes"]);
    with(&["--max-seconds", "3"]).refuses(2, &["--live"]);
    trivium(&["sim", "hello", "-p", "msi", "-m", "typhoon", "--live"]).refuses(2, &["no effect", "`compare`"]);
}
