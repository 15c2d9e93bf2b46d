//! The files of all protocols that are shipped.

use std::path::{Path, PathBuf};

/// Their names in `protocols`, in order; the broken ones too.
pub fn files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols");
    let list = |folder: PathBuf, prefix: &str| -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        entries.filter(|name| name.ends_with(".tri")).map(|name| format!("{prefix}{name}")).collect()
    };
    let mut files = list(root.clone(), "");
    files.extend(list(root.join("broken"), "broken/"));
    files.sort();
    assert!(files.len() > 8, "{files:?}");
    files
}
