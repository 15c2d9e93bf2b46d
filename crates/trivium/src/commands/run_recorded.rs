//! `trivium run --record FILE`, and `--replay FILE`.

use crate::output::write_file;
use crate::{Failure, library};
use std::path::Path;
use trivium_diagnostic::Code;
use trivium_guest::Inputs;
use trivium_run::{LiveOutcome, RecordedRun, Setup};

/// The version of all that decides what a node does.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " of sources ", env!("TRIVIUM_RUNNER"));

/// What is run, as a recording names it.
fn of(setup: &Setup) -> Vec<(String, String)> {
    let mut of = vec![
        ("the version of Trivium".to_string(), VERSION.to_string()),
        ("the program".to_string(), setup.program.hash().to_string()),
        ("the number of protocols".into(), setup.protocols.len().to_string()),
    ];
    let protocols = setup.protocols.iter().enumerate();
    of.extend(protocols.map(|(number, protocol)| {
        let (name, hash) = library::hash(protocol);
        let place = if number == 0 { "the default" } else { "a further" };
        (format!("{place} {name}"), hash)
    }));
    of.push(("the arguments".into(), shlex::try_join(setup.args.iter().map(String::as_str)).unwrap_or_default()));
    of.push(("the number of nodes".into(), setup.nodes.to_string()));
    of.push(("the bytes of a block".into(), setup.block.to_string()));
    of.push(("the seconds without progress".into(), setup.stall_limit.unwrap_or_default().as_secs().to_string()));
    of
}

/// Runs a program and writes its recording, however it ends.
///
/// # Errors
/// The file cannot be written.
pub(super) fn record(setup: &Setup, inputs: &Inputs, file: &Path) -> Result<LiveOutcome, Failure> {
    let (outcome, recording) = trivium_run::record(setup);
    if let Some(mut recording) = recording {
        (recording.of, recording.read) = (of(setup), inputs.hashes());
        write_file(file, &recording.to_bytes())?;
    }
    Ok(outcome)
}

/// Runs a program as it ran when the file was recorded.
///
/// # Errors
/// The file is none, or is of something else.
pub(super) fn replay(setup: &Setup, inputs: &Inputs, file: &Path) -> Result<LiveOutcome, Failure> {
    let help = "give a file that `trivium run --record` has written";
    let bytes = library::read(file, "recording", help)?;
    let recording = RecordedRun::read(&bytes).map_err(|what| {
        Failure::at(Code::Replay, format!("the recording cannot be replayed: {what}"), file.display(), help)
    })?;
    let unlike = |what: String| {
        let help = "replay it with the program, the protocols and the options with which it was recorded";
        Failure::at(Code::Replay, format!("the recording is of another run: {what}"), file.display(), help)
    };
    if let Some(what) = difference(&recording.of, &of(setup)) {
        return Err(unlike(what));
    }
    let outcome = trivium_run::replay(setup, &recording);
    // Only what programs have read by now is known, and all of it was read then.
    match inputs.hashes().iter().find(|read| !recording.read.contains(read)) {
        Some((name, _)) => Err(unlike(format!("the program has read `{name}`, which was another then"))),
        None => Ok(outcome),
    }
}

/// What a recording names that this run has otherwise.
fn difference(then: &[(String, String)], now: &[(String, String)]) -> Option<String> {
    let differ = |(then, now): (&(String, String), &(String, String))| -> Option<String> {
        let is_hash = |text: &str| text.len() == 64;
        match then.0 == now.0 {
            true if then.1 == now.1 => None,
            true if is_hash(&then.1) => Some(format!("{} is not what it was", now.0)),
            true => Some(format!("{}: `{}` then, `{}` now", now.0, then.1, now.1)),
            false => Some(format!("it was of {}, and this run is of {}", then.0, now.0)),
        }
    };
    then.iter().zip(now).find_map(differ)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let pair = |name: &str, value: &str| (name.to_string(), value.to_string());
        let hashes = ["a".repeat(64), "b".repeat(64)];
        let then = [pair("the default protocol x", &hashes[0]), pair("the number of nodes", "4")];
        assert_eq!(difference(&then, &then), None);
        for (now, what) in [
            (
                [pair("the default protocol x", &hashes[1]), then[1].clone()],
                "the default protocol x is not what it was",
            ),
            ([then[0].clone(), pair("the number of nodes", "2")], "the number of nodes: `4` then, `2` now"),
            (
                [pair("the default protocol y", &hashes[0]), then[1].clone()],
                "it was of the default protocol x, and this run is of the default protocol y",
            ),
        ] {
            assert_eq!(difference(&then, &now).as_deref(), Some(what));
        }
    }
}
