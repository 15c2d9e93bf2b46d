//! Tables and diagrams of the protocols that come with the product.

use std::path::Path;
use trivium_lang::{compile_file, show};
use trivium_protocol::{Protocol, Role, RoleKind};

const PROTOCOLS: [&str; 6] = ["msi", "stache", "swcc", "token-lock", "tree-barrier", "remote-write"];

fn load(name: &str) -> Protocol {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols").join(format!("{name}.tri"));
    compile_file(&path, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// The roles that are state machines: a ghost is told in a line of its own.
fn machines(protocol: &Protocol) -> impl Iterator<Item = &Role> {
    protocol.roles.iter().filter(|role| role.kind != RoleKind::Ghost)
}

#[test]
fn the_table_names_every_state_and_event() {
    for protocol in PROTOCOLS.map(load) {
        let table = show::table(&protocol);
        let page = show::markdown(&protocol);
        for role in machines(&protocol) {
            for state in role.states.iter().filter(|s| !s.waiting) {
                assert!(table.contains(&format!("\n  {} ", state.name)), "{}: {}\n{table}", protocol.name, state.name);
                assert!(page.contains(&format!("**{}**", state.name)), "{page}");
            }
            for event in role.events.iter().map(|e| protocol.event_name(*e)) {
                assert!(table.contains(&event), "{}: {event}\n{table}", protocol.name);
            }
        }
        assert!(table.lines().all(|line| line.chars().count() <= 132), "{table}");
    }
}

#[test]
fn msi_says_what_happens() {
    let table = show::table(&load("msi"));
    let row: Vec<&str> =
        table.lines().find(|l| l.starts_with("  Invalid ")).unwrap().split('│').map(str::trim).collect();
    assert_eq!(row[..4], ["Invalid", "none", "GetRead → home", "GetWrite → home"]);
    assert!(table.contains("most messages on lane main: nodes + 1, by Reading.GetWrite"), "{table}");
    assert!(table.contains("properties   single_writer, last_write, sequential"), "{table}");
}

#[test]
fn the_json_holds_the_whole_table() {
    let value = show::json(&load("msi"));
    let role = &value["roles"][0];
    assert_eq!(role["name"], "cache");
    assert_eq!(role["table"][1]["on"]["read"], "passes");
    let upgrade = &role["table"][1]["on"]["write"]["handle"][0];
    assert_eq!(upgrade["paths"][0]["next"], "Clean.write.Owned");
    assert_eq!(upgrade["paths"][0]["sends"][0]["message"], "GetWrite");
    assert_eq!(value["roles"][1]["defers"]["per_node"], 1);
}

#[test]
fn diagrams_have_their_states_and_arrows() {
    let msi = load("msi");
    let dot = show::dot(&msi);
    assert!(dot.contains("[label=\"Clean.write.Owned\\nread\", style=\"rounded,dashed\"]"), "{dot}");
    assert!(dot.contains("label=\"Recall / Back → home\""), "{dot}");
    for protocol in PROTOCOLS.map(load) {
        let svg = show::svg(&protocol);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        let boxes = svg.matches("<rect class=\"state").count();
        let declared: usize = machines(&protocol).map(|r| r.states.iter().filter(|s| !s.waiting).count()).sum();
        assert!(boxes >= declared, "{}: {boxes} boxes for {declared} states", protocol.name);
        assert_eq!(svg.matches("<path class=\"edge\"").count(), svg.matches("<rect class=\"label\"").count());
    }
}

#[test]
fn the_output_is_the_same_every_time() {
    for name in PROTOCOLS {
        let (a, b) = (load(name), load(name));
        assert_eq!(show::svg(&a), show::svg(&b));
        assert_eq!(show::table(&a), show::table(&b));
        assert_eq!(show::json(&a).to_string(), show::json(&b).to_string());
    }
}

#[test]
fn what_stands_around_the_tables_fits_the_terminal() {
    let mut folded = 0;
    for name in ["msi", "stache", "swcc", "german", "flash-coherence", "tree-barrier"] {
        let protocol = load(name);
        for wide in [60, 80, 104] {
            let text = show::table_of_width(&protocol, wide);
            let around = |text: &str| -> Vec<String> {
                let is_table = |line: &&str| line.contains(['│', '╪', '┼']);
                text.lines().filter(|line| !is_table(line)).map(String::from).collect()
            };
            let (lines, whole) = (around(&text), around(&show::table(&protocol)));
            for line in &lines {
                // One word may be longer than a line.
                let fits = line.chars().count() <= wide || !line.trim().contains(' ');
                assert!(fits, "{name}, {wide} columns: {line}");
            }
            let words = |lines: &[String]| lines.join(" ").split_whitespace().map(String::from).collect::<Vec<_>>();
            assert_eq!(words(&lines), words(&whole), "{name}, {wide} columns");
            folded += lines.len() - whole.len();
        }
    }
    assert!(folded > 20, "{folded} lines were folded");
}
