//! Every example of docs/language.md compiles, or is rejected where it says so.
//!
//! ```` ```tri ```` is a whole file, ```` ```tri reject ```` one with a mistake, ```` ```tri handler ```` the inside of a handler of [`AROUND`].

use std::path::Path;
use trivium_lang::{Options, compile};

/// Where fragments stand.
const AROUND: &str = "protocol fragment
param most = 4
object thing
lane main buffered
message Ping(k: 0..9) on main
record entry { who: node, count_of: 0..9 }
role home of thing defers up to 4 {
  var flag: bool
  var n, m: 0..9
  var sharers: set of node
  var waiting: queue of node up to 9
  var log: list of entry up to 4
  var last: entry
  var at: address
  var w: word
  state Idle { on Ping { BODY } }
  state Busy { on Ping { } }
}
";

fn blocks(page: &str) -> Vec<(usize, String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String, String)> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => open = Some((number + 1, info.trim().to_string(), String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, _, text)), None) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn the_examples_of_the_language_reference_compile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/language.md")).unwrap();
    let load = |name: &str| std::fs::read_to_string(root.join("protocols").join(name)).map_err(|e| e.to_string());
    let options = Options { params: Vec::new(), load: Some(&load) };
    let mut examples = 0;
    for (line, info, text) in blocks(&page) {
        let (text, accept) = match info.as_str() {
            "tri" => (text, true),
            "tri reject" => (text, false),
            "tri handler" => (AROUND.replace("BODY", &text), true),
            _ => continue,
        };
        examples += 1;
        match compile("language.md", &text, &options) {
            Ok(_) => assert!(accept, "docs/language.md:{line}: should be rejected"),
            Err(errors) => assert!(!accept, "docs/language.md:{line}:\n{errors}"),
        }
    }
    assert!(examples >= 12, "only {examples} examples were found");
}
