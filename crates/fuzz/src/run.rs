//! Runs one case, and says what of the contract of the command line it breaks.

use crate::subject::{Case, FOLDERS};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a case may take that must end by itself; one that is asked to end has as long again.
const LIMIT: Duration = Duration::from_secs(60);
/// How long one may take whose work may be large; then it is asked to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder in which cases are run: with copies of what they name, so that nothing of the repository is changed.
pub struct Place {
    folder: tempfile::TempDir,
}

/// How a case ended.
pub struct Ended {
    pub code: Option<i32>,
    /// What is wrong with that, if anything.
    pub finding: Option<String>,
    pub said: String,
}

impl Place {
    /// # Errors
    /// There is no room.
    pub fn new(root: &Path) -> Result<Place, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        for name in FOLDERS {
            copy(&root.join(name), &folder.path().join(name))?;
        }
        Ok(Place { folder })
    }

    /// Writes the files of a case, runs its command, and removes the files again.
    ///
    /// # Errors
    /// The files cannot be written, or the program cannot be started.
    pub fn run(&self, case: &Case, trivium: &Path) -> Result<Ended, String> {
        write(self.folder.path(), case)?;
        let mut command = Command::new(trivium);
        command.args(case.words.iter().filter(|word| !word.contains('\0'))).current_dir(self.folder.path());
        let begun = Instant::now();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", trivium.display()))?;
        let out = reader(child.stdout.take());
        let err = reader(child.stderr.take());
        let (status, slow) = waited(&mut child, case.bounded)?;
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        let said = String::from_utf8_lossy(&err).into_owned();
        let finding = slow.or_else(|| broken(&status, case, &out, &said));
        let finding = finding.map(|what| format!("{what}, after {:.1} s", begun.elapsed().as_secs_f64()));
        for (file, _) in &case.files {
            let _ = std::fs::remove_file(self.folder.path().join(file));
        }
        Ok(Ended { code: status.code(), finding, said })
    }
}

pub fn reader(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Waits for the end; one that does not end is asked to, and then killed.
pub fn waited(child: &mut Child, bounded: bool) -> Result<(ExitStatus, Option<String>), String> {
    let told = |error: std::io::Error| error.to_string();
    let begun = Instant::now();
    let mut asked = None;
    loop {
        if let Some(status) = child.try_wait().map_err(told)? {
            let slow = asked.is_some() && bounded;
            return Ok((status, slow.then(|| "it had to be asked to end".to_string())));
        }
        let patience = if bounded { LIMIT } else { PATIENCE };
        match asked {
            None if begun.elapsed() > patience => {
                // The standard library has no signal but the one that cannot be answered.
                let _ = Command::new("kill").arg(child.id().to_string()).status();
                asked = Some(Instant::now());
            }
            Some(since) if since.elapsed() > LIMIT => {
                child.kill().map_err(told)?;
                let status = child.wait().map_err(told)?;
                return Ok((status, Some("it does not end, even when asked to".to_string())));
            }
            _ => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// What of the contract is broken: exit codes 0 to 3, or a program's own that is told; an error on standard error where the code says so; JSON that is JSON.
fn broken(status: &ExitStatus, case: &Case, out: &[u8], said: &str) -> Option<String> {
    let Some(code) = status.code() else { return Some(format!("a signal ended it: {status}")) };
    if said.contains("panicked at") || said.contains("RUST_BACKTRACE") {
        return Some("it panicked".into());
    }
    let is_of_program = ["ended with code ", "has left main, with code "].iter().any(|words| said.contains(words));
    if !(0..=3).contains(&code) && !is_of_program {
        return Some(format!("the exit code is {code}"));
    }
    if said.contains("internal error") {
        return Some("it speaks of an internal error".into());
    }
    if code == 2 && !said.contains("error: ") {
        return Some("exit code 2 without an error".into());
    }
    let into_file = case.words.iter().any(|word| word.starts_with("--out"));
    if code == 1 && out.is_empty() && !into_file && !said.contains("error: ") {
        return Some("exit code 1 without a word".into());
    }
    if said.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Some("control characters on standard error".into());
    }
    let json = case.words.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
    let whole = serde_json::from_slice::<serde_json::Value>(out).is_ok();
    if json && code == 0 && !into_file && !out.is_empty() && out.starts_with(b"{") && !whole {
        return Some("JSON that is not JSON".into());
    }
    None
}

/// Writes the files of a case below a folder.
///
/// # Errors
/// They cannot be written.
pub fn write(folder: &Path, case: &Case) -> Result<(), String> {
    for (file, bytes) in &case.files {
        let path = folder.join(file);
        let told = |error: std::io::Error| format!("{}: {error}", path.display());
        std::fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(told)?;
        std::fs::write(&path, bytes).map_err(told)?;
    }
    Ok(())
}

/// Copies a folder with all that is in it.
///
/// # Errors
/// It cannot be read, or written.
pub fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(told)?;
    for entry in std::fs::read_dir(from).map_err(told)? {
        let path: PathBuf = entry.map_err(told)?.path();
        let there = to.join(path.file_name().unwrap_or_default());
        match path.is_dir() {
            true => copy(&path, &there)?,
            false => drop(std::fs::copy(&path, &there).map_err(told)?),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Kind;

    /// What is found of a program that is this script.
    fn found(script: &str) -> Option<String> {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let words = ["check", "--format", "json"].map(str::to_string).to_vec();
        let case = Case { kind: Kind::Protocol, files: vec![("a/case".into(), b"x".to_vec())], words, bounded: true };
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.run(&case, &program).unwrap().finding
    }

    #[test]
    fn what_breaks_the_contract_is_found() {
        for (script, what) in [
            ("kill -SEGV $$", "a signal"),
            ("echo \"thread 'main' panicked at x\" >&2; exit 101", "it panicked"),
            ("exit 4", "the exit code is 4"),
            ("exit 2", "without an error"),
            ("exit 1", "without a word"),
            ("printf 'error: \\033[31m' >&2; exit 2", "control characters"),
            ("echo '{'; exit 0", "not JSON"),
        ] {
            let finding = found(script).unwrap_or_else(|| panic!("nothing is found of `{script}`"));
            assert!(finding.contains(what), "`{script}`: {finding}");
        }
        assert_eq!(found("cat a/case; echo 'error: no' >&2; exit 2"), None);
        assert_eq!(found("echo '{}'; exit 0"), None);
    }
}
