//! Random programs in C*, and what they must print: `trivium-fuzz c-star`. What they must print is worked out from the tree of a program, by
//! what the language's page says; nothing of the compiler is used. Of the compiler it is seen whether it gives the same, on any number of nodes, simulated
//! under several protocols and run for real.

mod choose;
mod features;
mod generate;
mod machine;
mod mistakes;
pub mod mutants;
mod number;
mod options;
mod shorten;
mod text;
mod tree;
mod trial;

use choose::program;
pub use options::CStarOptions;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tree::Program;
use trial::{Bench, Setup};

/// Tries random programs; gives the number of those that printed something else.
///
/// # Errors
/// Something cannot be started or written, or a program is wrong.
pub fn try_programs(options: &CStarOptions) -> Result<u64, String> {
    let bench = Bench::new(&options.trivium)?;
    let setups = Setup::asked(&options.nodes, &options.protocols);
    let cases = options.case.map_or(0..options.cases, |case| case..case + 1);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut findings = 0;
    for case in cases {
        let program = program(options.seed, case)?;
        let setup = &setups[(case % setups.len() as u64) as usize];
        *counts.entry(setup.shown()).or_default() += 1;
        let Some(wrong) = bench.wrong(&program, setup)? else { continue };
        findings += 1;
        // One that is tried by itself is also made shorter: that takes a hundred runs.
        let setup = &setup.with(wrong.nodes);
        let program = if options.case.is_some() { shorter(&bench, &program, setup, wrong.nodes)? } else { program };
        let file = keep(&options.keep, &format!("{}-{case}.cs", options.seed), &program)?;
        println!("FINDING in case {case}, {}: {}", setup.shown(), wrong.what);
        println!("  trivium {}", setup.command(&file, wrong.nodes));
        println!(
            "  again: make c-star-random SEED={} CASE={case} NODES={} HOW={}",
            options.seed,
            wrong.nodes,
            setup.protocol()
        );
    }
    let told: Vec<String> = counts.iter().map(|(setup, count)| format!("{setup}: {count}")).collect();
    let all: u64 = counts.values().sum();
    println!("c-star: seed {}: {all} programs, {findings} findings ({})", options.seed, told.join(", "));
    Ok(findings)
}

/// The program without what is not needed for it to print something else than it must.
fn shorter(bench: &Bench, program: &Program, setup: &Setup, nodes: usize) -> Result<Program, String> {
    let has_failed = bench.wrong(program, setup)?.is_some_and(|wrong| wrong.has_failed);
    shorten::shortened(program, &mut |shorter| {
        // To leave a statement out may make a program wrong by itself.
        let is_right = [1, nodes].iter().all(|nodes| machine::printed(shorter, *nodes, &[]).is_ok());
        Ok(is_right && bench.wrong(shorter, setup)?.is_some_and(|wrong| wrong.has_failed == has_failed))
    })
}

/// Keeps a program; says where.
fn keep(folder: &Path, name: &str, program: &Program) -> Result<PathBuf, String> {
    let file = folder.join(name);
    let told = |error: std::io::Error| format!("{}: {error}", file.display());
    std::fs::create_dir_all(folder).map_err(told)?;
    std::fs::write(&file, text::written(program)).map_err(told)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
