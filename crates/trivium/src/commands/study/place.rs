//! Where the files of a study are: in a folder, or in Trivium itself.

use crate::Failure;
use crate::commands::program;
use include_dir::{Dir, include_dir};
use std::path::{Path, PathBuf};

static STUDIES: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../studies");

/// Where a study is.
#[derive(Debug)]
pub struct Place {
    /// The folder of its own files.
    pub folder: PathBuf,
    /// The folder in which its programs are, as it names them; the one that the command was started in, if empty.
    pub root: PathBuf,
}

impl Place {
    /// The folder of this path; or this one of `studies/`; or else the built-in study of this name, which is put on the shelf with the built-in programs.
    ///
    /// # Errors
    /// It cannot be put there.
    pub fn of(name: &str) -> Result<Place, Failure> {
        let in_studies = Path::new("studies").join(name);
        let is_there = |folder: &&Path| folder.join("study.toml").is_file();
        let there = [Path::new(name), &in_studies].into_iter().find(is_there);
        if there.is_some() || STUDIES.get_dir(name).is_none() {
            return Ok(Place { folder: there.unwrap_or(&in_studies).to_path_buf(), root: PathBuf::new() });
        }
        let root = program::with_programs("studies", &STUDIES)?;
        Ok(Place { folder: root.join(in_studies), root })
    }

    /// What it is called.
    pub fn name(&self) -> String {
        self.folder.file_name().map_or_else(|| "study".to_string(), |name| name.to_string_lossy().into_owned())
    }
}
