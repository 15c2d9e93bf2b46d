//! Results that a study keeps in its work folder: each with a check sum, all of one version of the simulator.

use crate::{Failure, library, output};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use trivium_diagnostic::Code;

/// The file of a work folder that says which simulator its results are of.
const VERSION: &str = "simulator";

/// A result's file: the check sum of the result, then the result.
const BEFORE: &str = "{\"sha256\":\"";
const BETWEEN: &str = "\",\"result\":\n";
const BEHIND: &str = "}\n";

/// Where results are kept.
pub struct Kept {
    folder: PathBuf,
    /// The rows that are made of each run, by its name; for what errors say.
    users: BTreeMap<String, Vec<String>>,
}

impl Kept {
    /// The results in a work folder, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made, or has results of another version of the simulator.
    pub fn open(work: &Path, users: BTreeMap<String, Vec<String>>) -> Result<Kept, Failure> {
        let folder = work.join("runs");
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::at(
                Code::Study,
                format!("the work folder cannot be made: {error}"),
                folder.display(),
                "name another with --work",
            )
        })?;
        let (file, ours) = (work.join(VERSION), env!("TRIVIUM_SIMULATOR"));
        let theirs = match std::fs::read_to_string(&file) {
            Ok(text) => text.trim().to_string(),
            Err(error) if error.kind() == ErrorKind::NotFound && is_empty(&folder) => {
                output::write_file(&file, format!("{ours}\n").as_bytes())?;
                ours.to_string()
            }
            Err(error) if error.kind() == ErrorKind::NotFound => "unknown".to_string(),
            Err(error) => {
                let what = format!("it cannot be read which simulator made the kept results: {error}");
                return Err(Failure::at(Code::Study, what, file.display(), "name another folder with --work"));
            }
        };
        if theirs == ours {
            return Ok(Kept { folder, users });
        }
        let what = format!(
            "the kept results are of another version of the simulator ({theirs}; this one is {ours}), so none of the study's rows can be made of them"
        );
        let help = "name another folder with --work, or move this one away; nothing in it has been changed";
        Err(Failure::at(Code::Study, what, file.display(), help))
    }

    /// Where a result is kept: its name is made of all that the result depends on.
    pub fn file(&self, parts: &[&[u8]]) -> PathBuf {
        self.folder.join(format!("{:.24}.json", library::hex(parts)))
    }

    /// A result that is there, as it was kept.
    ///
    /// # Errors
    /// It cannot be read, or is not what was kept.
    pub fn read(&self, file: &Path, run: &str) -> Result<Option<String>, Failure> {
        match std::fs::read_to_string(file) {
            Ok(text) => unwrapped(&text).map(|result| Some(result.to_string())).ok_or_else(|| self.damaged(file, run)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(self.damaged(file, run)),
            Err(error) => {
                let what = format!("the kept result of the run `{run}` cannot be read: {error}");
                Err(Failure::at(
                    Code::Study,
                    what,
                    file.display(),
                    "make it readable, or name another folder with --work",
                ))
            }
        }
    }

    /// Keeps a result.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, file: &Path, result: &str) -> Result<(), Failure> {
        output::write_file(file, wrapped(result).as_bytes())
    }

    /// What is said of a result that is not what was kept.
    pub fn damaged(&self, file: &Path, run: &str) -> Failure {
        let rows = match self.users.get(run).map(Vec::as_slice) {
            None | Some([]) => "no row".to_string(),
            Some([one]) => format!("row {one}"),
            Some([first, rest @ ..]) => format!("row {first} and {} more", rest.len()),
        };
        let what = format!("the kept result of the run `{run}` is damaged ({rows} of the study needs it)");
        let help =
            "move the file away and start again: this run alone is carried out once more, and all other results stay";
        Failure::at(Code::Study, what, file.display(), help)
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn wrapped(result: &str) -> String {
    format!("{BEFORE}{}{BETWEEN}{result}{BEHIND}", library::hex(&[result.as_bytes()]))
}

/// The result in a file, if it is what was kept.
fn unwrapped(text: &str) -> Option<&str> {
    let (sum, rest) = text.strip_prefix(BEFORE)?.split_once(BETWEEN)?;
    let result = rest.strip_suffix(BEHIND)?;
    (library::hex(&[result.as_bytes()]) == sum).then_some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_again_and_what_is_damaged_is_not() {
        let kept = wrapped("{ \"cycles\": 17 }\n");
        assert_eq!(unwrapped(&kept), Some("{ \"cycles\": 17 }\n"));
        assert!(serde_json::from_str::<serde_json::Value>(&kept).is_ok(), "{kept}");
        for wrong in [kept.replace("17", "18"), kept[..kept.len() - 3].to_string(), "{ \"cycles\": 17 }\n".into()] {
            assert_eq!(unwrapped(&wrong), None, "{wrong}");
        }
    }
}
