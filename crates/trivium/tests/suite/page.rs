//! The report of runs as a page: complete, self-contained, and sorted by a click in a real browser (skipped, saying
//! so, where no Chromium is installed).

use crate::harness::{chromium, trivium};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Clicks on heads of the first table, and writes down in which order its rows stand. It runs after the page's own script.
const DRIVER: &str = r#"
const table = document.querySelector('table.sortable');
const log = [];
const note = () => log.push([...table.tBodies[0].rows].map(row => row.cells[0].textContent).join(' '));
const head = name => [...table.tHead.rows[0].cells].find(cell => cell.textContent === name);
note();
head('cycles').click(); note();
head('cycles').click(); note();
head('machine').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })); note();
log.push([...document.querySelectorAll('.bars .bar')].every(bar => bar.getBoundingClientRect().height > 5));
log.push(document.documentElement.scrollWidth <= window.innerWidth);
document.body.textContent = '<<<' + log.join('\n') + '>>>';
"#;

/// A comparison on two machines, its page, and its result.
fn compared(folder: &Path) -> (PathBuf, Value) {
    let page = folder.join("page.html");
    let file = page.display().to_string();
    let args = [
        "compare",
        "programs/em3d.c",
        "--protocols",
        "stache",
        "--machines",
        "typhoon-0,simple-coma,typhoon",
        "-n",
        "4",
    ];
    let more = ["--format", "json", "--html", &file, "--", "-n", "40", "-r", "40"];
    let result = trivium(&[&args[..], &more].concat()).json(0);
    (page, result)
}

#[test]
fn a_page_tells_all_that_the_result_does_and_asks_no_server() {
    let folder = crate::harness::folder();
    let (page, result) = compared(folder.path());
    let text = std::fs::read_to_string(page).unwrap();
    for outside in ["http:", "https:", "src=", "href=", "@import", "url("] {
        assert!(!text.contains(outside), "{outside} in the page");
    }
    let grouped = |value: &Value| trivium::output::grouped(value.as_u64().unwrap());
    for run in result["runs"].as_array().unwrap() {
        assert!(text.contains(&grouped(&run["cycles"])), "cycles");
        for (kind, count) in run["messages"].as_object().unwrap() {
            assert!(text.contains(kind) && text.contains(&grouped(count)), "{kind}");
        }
        for node in run["per_node"].as_array().unwrap() {
            assert!(text.contains(&grouped(&node["read_stall"])), "counters of nodes");
        }
    }
    assert!(text.contains("fetch data from memory, change tag, send") && text.contains("em3d: ok"));
    assert!(text.contains("others wait for it") || text.contains("The engine is busy"));
}

#[test]
fn a_program_cannot_write_into_the_page() {
    let folder = crate::harness::folder();
    let program = folder.path().join("loud.c");
    std::fs::write(
        &program,
        "#include <stdio.h>\nint main(void) { printf(\"<script>alert(1)</script>&\\n\"); return 0; }\n",
    )
    .unwrap();
    let (program, page) = (program.display().to_string(), folder.path().join("p.html"));
    let file = page.display().to_string();
    let run = trivium(&["sim", &program, "-p", "stache", "-m", "typhoon", "-n", "1", "--html", &file]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;") && !text.contains("<script>alert"));
}

#[test]
fn a_click_sorts_the_table() {
    let Some(browser) = chromium() else {
        eprintln!("SKIPPED: no Chromium is installed, so the page was not tried (apt-get install chromium)");
        return;
    };
    let folder = crate::harness::folder();
    let (page, _) = compared(folder.path());
    let text = std::fs::read_to_string(&page).unwrap();
    std::fs::write(&page, text.replace("</body>", &format!("<script>{DRIVER}</script></body>"))).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1100,900", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).replace("&lt;", "<").replace("&gt;", ">");
    let log = dom.rsplit_once("<<<").and_then(|(_, rest)| rest.split_once(">>>"));
    let (log, _) =
        log.unwrap_or_else(|| panic!("the page failed:\n{dom}\n{}", String::from_utf8_lossy(&output.stderr)));
    let lines: Vec<&str> = log.lines().collect();
    let wanted = [
        "typhoon-0 simple-coma typhoon",
        "simple-coma typhoon typhoon-0",
        "typhoon-0 typhoon simple-coma",
        "simple-coma typhoon typhoon-0",
        "true",
        "true",
    ];
    assert_eq!(lines, wanted);
}

/// The example of false sharing: more than tenfold the time with larger blocks, and the page shows which data it is.
#[test]
fn the_page_shows_what_is_falsely_shared() {
    let folder = crate::harness::folder();
    let page = folder.path().join("page.html").display().to_string();
    let run = |block: &str, more: &[&str]| {
        let args = ["sim", "programs/falsesharing.c", "-p", "stache", "-m", "typhoon", "-n", "8", "--block", block];
        trivium(&[&args[..], &["--format", "json"], more, &["--", "-n", "200"]].concat()).json(0)
    };
    let (apart, together) = (run("32", &["--blame"]), run("256", &["--html", &page]));
    assert!(together["cycles"].as_u64().unwrap() > 10 * apart["cycles"].as_u64().unwrap(), "{together}");
    assert_eq!(apart["blame"]["kinds"]["false_sharing"], 0);
    let shared = &together["blame"]["allocations"][0];
    assert_eq!(shared["name"], "counters");
    assert!(shared["kinds"]["false_sharing"].as_u64().unwrap() > 100, "{shared}");
    assert_eq!(shared["falsely_shared"][0]["parts"][1]["written_by"], serde_json::json!([1]));
    let text = std::fs::read_to_string(&page).unwrap();
    for words in ["Falsely shared: counters", "programs/falsesharing.c:23 in main", "loaded by 1, stored to by 1"] {
        assert!(text.contains(words), "{words}");
    }
    let plain = run("256", &[]);
    assert_eq!(plain["blame"], Value::Null);
    assert_eq!((&plain["cycles"], &plain["misses"]), (&together["cycles"], &together["misses"]));
}
