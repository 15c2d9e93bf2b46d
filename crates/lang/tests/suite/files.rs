//! File tests: `files/accept/*.test` compile to the listing below them, `files/reject/*.test` to their errors.
//!
//! A test is a protocol's text, then a line `---- expect`, then what is expected. Other files that it uses stand
//! between: `---- file NAME`. A first line `// set NAME=VALUE ..` sets parameters from outside. `UPDATE=1 cargo test -p trivium-lang
//! --test suite files::` writes what is found as what is expected; look at the difference before you commit it.

use crate::listing;
use std::path::Path;
use trivium_lang::{Options, compile};

struct Test {
    text: String,
    files: Vec<(String, String)>,
    params: Vec<(String, i64)>,
    expect: String,
    /// The part that an update keeps.
    kept: String,
}

fn read(path: &Path) -> Test {
    let whole = std::fs::read_to_string(path).unwrap();
    let (kept, expect) = whole.split_once("---- expect\n").unwrap_or((&whole, ""));
    let mut sections = kept.split("---- file ");
    let text = sections.next().unwrap_or("").to_string();
    let file = |section: &str| {
        let (name, text) = section.split_once('\n').expect("a file's name stands on a line");
        (name.trim().to_string(), text.to_string())
    };
    let set = text.lines().next().and_then(|l| l.strip_prefix("// set ")).unwrap_or("");
    let param = |word: &str| {
        let (name, value) = word.split_once('=').expect("NAME=VALUE");
        (name.to_string(), value.parse().expect("a number"))
    };
    Test {
        files: sections.map(file).collect(),
        params: set.split_whitespace().map(param).collect(),
        expect: expect.to_string(),
        kept: kept.to_string(),
        text,
    }
}

fn result(test: &Test) -> Result<String, String> {
    let found = |name: &str| test.files.iter().find(|(n, _)| n == name);
    let load = |name: &str| found(name).map(|(_, text)| text.clone()).ok_or("there is no such file".to_string());
    let options = Options { params: test.params.clone(), load: Some(&load) };
    match compile("test.tri", &test.text, &options) {
        Ok(protocol) => Ok(listing::claims(&protocol) + &listing::listing(&protocol)),
        Err(errors) => Err(format!("{errors}\n")),
    }
}

fn run(folder: &str, accept: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let update = std::env::var_os("UPDATE").is_some();
    let mut wrong = Vec::new();
    for path in paths {
        let test = read(&path);
        let name = path.file_name().unwrap().to_string_lossy().to_string();
        let found = match (result(&test), accept) {
            (Ok(found), true) | (Err(found), false) => found,
            (Err(found), true) => {
                wrong.push(format!("{name} is rejected:\n{found}"));
                continue;
            }
            (Ok(_), false) => {
                wrong.push(format!("{name} is accepted"));
                continue;
            }
        };
        if found == test.expect {
            continue;
        }
        if update {
            std::fs::write(&path, format!("{}---- expect\n{found}", test.kept)).unwrap();
        } else {
            wrong.push(format!("{name}: expected\n{}\nfound\n{found}", test.expect));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn accepted() {
    run("accept", true);
}

#[test]
fn rejected() {
    run("reject", false);
}
