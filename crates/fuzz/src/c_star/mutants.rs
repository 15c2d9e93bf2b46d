//! Mistakes that are made in the compiler of C* on purpose, one at a time, to see whether random programs find them: `trivium-fuzz c-star-mutants`.

use super::choose::program;
use super::mistakes::{MISTAKES, Mistake};
use super::options::CStarOptions;
use super::trial::{Bench, Setup};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What of the workspace is not copied.
const LEFT_OUT: [&str; 6] = ["target", ".git", ".venv", "c-star-out", "fuzz-out", "stress-out"];

/// The program as it is, in the folder of the copy.
const WITHOUT_MISTAKES: &str = "trivium-without-mistakes";

/// Makes one mistake after the other, and tries random programs until one shows it; gives how many none has shown.
///
/// # Errors
/// Something cannot be copied or built.
pub fn try_mutants(options: &CStarOptions) -> Result<u64, String> {
    let root = std::env::current_dir().map_err(|error| error.to_string())?;
    let folder = root.join("target/c-star-mutants");
    copied(&root, &folder)?;
    // It was built of the same sources.
    let right = folder.join(WITHOUT_MISTAKES);
    std::fs::copy(&options.trivium, &right).map_err(|error| format!("{}: {error}", right.display()))?;
    let chosen = |number: &usize| options.case.is_none_or(|case| case == *number as u64);
    let mut missed = 0;
    // Those of the library first, for which nothing has to be built.
    let (of_library, of_compiler): (Vec<usize>, Vec<usize>) =
        (0..MISTAKES.len()).filter(chosen).partition(|number| MISTAKES[*number].file.starts_with("programs/"));
    for number in of_library.into_iter().chain(of_compiler) {
        let mistake = &MISTAKES[number];
        match tried(options, &folder, &right, mistake).map_err(|what| format!("{}: {what}", mistake.name))? {
            Some((case, what)) => {
                let line = what.lines().next().unwrap_or_default();
                println!("{number} {}: found by program {case} ({line})", mistake.name);
            }
            None => {
                missed += 1;
                println!("{number} {}: NOT FOUND by {} programs", mistake.name, options.cases);
            }
        }
    }
    println!("c-star-mutants: seed {}: {missed} mistakes are not found", options.seed);
    Ok(missed)
}

/// Makes a mistake in the copy in a folder, tries programs, and takes the mistake back.
fn tried(
    options: &CStarOptions,
    folder: &Path,
    right: &Path,
    mistake: &Mistake,
) -> Result<Option<(u64, String)>, String> {
    let path = folder.join(mistake.file);
    let source = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let write = |text: &str| std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    write(&mistake.in_source(&source))?;
    let made = match with_library(right, &source, &mistake.in_source(&source)) {
        Some(program) => written(&folder.join("trivium-with-a-mistake"), &program),
        None => built(folder),
    };
    let found = made.and_then(|trivium| first_wrong(options, &trivium, right));
    write(&source)?;
    found
}

/// The first program that prints something else than it must, and prints that without the mistake.
fn first_wrong(options: &CStarOptions, trivium: &Path, right: &Path) -> Result<Option<(u64, String)>, String> {
    let (bench, without) = (Bench::new(trivium)?, Bench::new(right)?);
    // What 64 nodes show, 17 show too, in a tenth of the time.
    let setups: Vec<Setup> =
        Setup::asked(&options.nodes, &options.protocols).iter().map(|setup| setup.up_to(17)).collect();
    for case in 0..options.cases {
        let setup = &setups[(case % setups.len() as u64) as usize];
        let program = program(options.seed, case)?;
        let Some(wrong) = bench.wrong(&program, setup)? else { continue };
        match without.wrong(&program, setup)? {
            None => return Ok(Some((case, format!("{}: {}", setup.with(wrong.nodes).shown(), wrong.what)))),
            Some(wrong) => println!("program {case} is wrong without a mistake: {}", wrong.what),
        }
    }
    Ok(None)
}

/// The program with another text of a file of the library, which stands in it: as long as the file was, so that nothing has to be built.
fn with_library(program: &Path, source: &str, instead: &str) -> Option<Vec<u8>> {
    let mut program = std::fs::read(program).ok()?;
    let mut instead = instead.as_bytes().to_vec();
    if instead.len() > source.len() {
        return None;
    }
    instead.resize(source.len(), b'\n');
    let found = places(&program, source.as_bytes());
    let [at] = found[..] else { return None };
    program[at..at + source.len()].copy_from_slice(&instead);
    Some(program)
}

/// Where a text stands.
fn places(all: &[u8], text: &[u8]) -> Vec<usize> {
    let first = text.first().copied();
    (0..(all.len() + 1).saturating_sub(text.len()))
        .filter(|at| all.get(*at).copied() == first && all[*at..].starts_with(text))
        .collect()
}

/// Writes a program.
fn written(path: &Path, program: &[u8]) -> Result<PathBuf, String> {
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::write(path, program).map_err(told)?;
    let right = path.with_file_name(WITHOUT_MISTAKES).metadata().map_err(told)?.permissions();
    std::fs::set_permissions(path, right).map_err(told)?;
    Ok(path.to_path_buf())
}

/// The sources of the workspace as they are, without what was built of them. What stays the same is not built again.
fn copied(root: &Path, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in std::fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))? {
        let path = entry.map_err(|error| error.to_string())?.path();
        let name = path.file_name().unwrap_or_default().to_owned();
        if LEFT_OUT.iter().any(|left_out| *left_out == name) {
            continue;
        }
        let to = folder.join(&name);
        if path.is_dir() {
            copied(&path, &to)?;
            continue;
        }
        let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        if std::fs::read(&to).is_ok_and(|there| there == text) {
            continue;
        }
        std::fs::write(&to, text).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(())
}

/// Builds the program in a folder; gives where it is. With MPI where it is there, as all that is built.
fn built(folder: &Path) -> Result<PathBuf, String> {
    let target = folder.join("target");
    let has_mpi = Command::new("tools/mpi").arg("look").output().is_ok_and(|output| output.status.success());
    let output = Command::new("cargo")
        .args(["build", "--release", "--locked", "--workspace", "--bin", "trivium", "--target-dir"])
        .arg(&target)
        .args(if has_mpi { &["--features", "trivium/mpi"][..] } else { &[] })
        .current_dir(folder)
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !output.status.success() {
        return Err(format!("{} cannot be built:\n{}", folder.display(), String::from_utf8_lossy(&output.stderr)));
    }
    Ok(target.join("release/trivium"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else a mistake would not be made, or somewhere else.
    #[test]
    fn each_text_stands_once_in_its_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for Mistake { name, file, text, instead } in &MISTAKES {
            let source = std::fs::read_to_string(root.join(file)).unwrap();
            assert_eq!(source.matches(text).count(), 1, "{name}: in {file}");
            assert_ne!(text, instead, "{name}");
        }
    }
}
