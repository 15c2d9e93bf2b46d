//! File tests: each file in `tests/files` is a protocol with directives at its head.
//!
//! ```text
//! // nodes: 2            what to explore: nodes, clients, objects, values, ops, threads, lane_capacity,
//! // network: unordered  network, scenario, max_states, words
//! // file: ../x.tri      the protocol of that file (from the root of the repository), with `param NAME: VALUE`s
//! // expect: violated last_write | holds | incomplete | error
//! // steps: 7            length of the counterexample        // states: 12   number of states
//! // says: words that the report contains                    // never: pair that did not happen
//! // note: anything
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use trivium_check::{Config, Network, Report, System, Verdict, explore, is_minimal, text};
use trivium_lang::protocol::Protocol;

/// The directives at the head of a file, in order.
fn directives(source: &str) -> Vec<(String, String)> {
    source
        .lines()
        .map_while(|line| line.strip_prefix("//"))
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim().to_string(), value.trim().to_string()))
        .collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn load(name: &str, source: &str, directives: &[(String, String)]) -> Result<Protocol, String> {
    let params: Vec<(String, i64)> = directives
        .iter()
        .filter_map(|(key, value)| Some((key.strip_prefix("param ")?.to_string(), value.parse().ok()?)))
        .collect();
    match directives.iter().find(|(key, _)| key == "file") {
        Some((_, file)) => trivium_lang::compile_file(&root().join(file), &params),
        None => {
            let load = |name: &str| std::fs::read_to_string(name).ok();
            let options = trivium_lang::Options { params, load: Some(&load) };
            trivium_lang::compile(name, source, &options).map_err(|d| d.to_string())
        }
    }
}

fn configure(directives: &[(String, String)]) -> Result<Config<'static>, String> {
    let mut config = Config::from(System { nodes: 2, ..System::default() });
    for (key, value) in directives {
        let number = || value.parse::<u32>().map_err(|_| format!("`{key}` wants a number, not `{value}`"));
        match key.as_str() {
            "nodes" => config.system.nodes = number()?,
            "clients" => config.system.clients = Some(number()?),
            "objects" => config.system.objects = number()?,
            "values" => config.system.values = number()?,
            "ops" => config.system.ops = Some(number()?),
            "threads" => config.system.threads_per_node = number()?,
            "lane_capacity" => config.system.lane_capacity = Some(number()?),
            "words" => config.system.memory_words = Some(number()?),
            "max_states" => config.max_states = Some(u64::from(number()?)),
            "scenario" => config.system.scenario = Some(value.clone()),
            "network" if value == "fifo" => config.system.network = Network::Fifo,
            "network" if value == "unordered" => config.system.network = Network::Unordered,
            "expect" | "steps" | "states" | "says" | "never" | "file" | "note" => {}
            key if key.starts_with("param ") => {}
            _ => return Err(format!("unknown directive `{key}: {value}`")),
        }
    }
    Ok(config)
}

fn verdict(report: &Report) -> String {
    match &report.property {
        Some(property) => format!("{} {property}", report.verdict),
        None => report.verdict.to_string(),
    }
}

/// What is not as a file says.
fn run(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let directives = directives(&source);
    let config = configure(&directives)?;
    let protocol = Arc::new(load(&path.display().to_string(), &source, &directives)?);
    let expected = directives.iter().find(|(key, _)| key == "expect").ok_or("no `expect` directive")?;
    let outcome = explore(&protocol, &config);
    let (seen, said) = match &outcome {
        Ok(report) => (verdict(report), text(report)),
        Err(error) => ("error".to_string(), error.to_string()),
    };
    if seen != expected.1 {
        return Err(format!("expected {}, seen {seen}\n{said}", expected.1));
    }
    if let Ok(report) = &outcome
        && report.verdict == Verdict::Violated
        && !is_minimal(&protocol, &config.system, report).map_err(|e| e.to_string())?
    {
        return Err(format!("an event can be removed from the counterexample\n{said}"));
    }
    for (key, value) in &directives {
        let kept = match (key.as_str(), &outcome) {
            ("steps", Ok(report)) => report.counterexample.len().to_string() == *value,
            ("states", Ok(report)) => report.states.to_string() == *value,
            ("never", Ok(report)) => report.coverage.unreached.iter().any(|pair| pair == value),
            ("steps" | "states" | "never", Err(_)) => false,
            ("says", _) => said.contains(value.as_str()),
            _ => true,
        };
        if !kept {
            return Err(format!("not as `{key}: {value}` says\n{said}"));
        }
    }
    Ok(())
}

#[test]
fn files_say_what_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "test"));
    paths.sort();
    assert!(paths.len() > 20, "the file tests are not where they should be");
    let wrong: Vec<String> =
        paths.iter().filter_map(|path| Some(format!("{}: {}", path.display(), run(path).err()?))).collect();
    assert!(wrong.is_empty(), "{} of {} files\n{}", wrong.len(), paths.len(), wrong.join("\n"));
}
