//! A program by its path: C is compiled (and kept), WebAssembly is taken as it is.

use crate::{Failure, failure, library};
use std::path::{Path, PathBuf};
use trivium_guest::{CompileOptions, Program, compile_c};
use trivium_lang::protocol::Protocol;

static HEADERS: include_dir::Dir = include_dir::include_dir!("$CARGO_MANIFEST_DIR/../../programs/include");

fn guest(error: &trivium_guest::Error) -> Failure {
    Failure::rendered(failure::BAD_INPUT, format!("error: {error}"))
}

const PROGRAM_HELP: &str = "give the path of a .c or .wasm file";

/// Loads a program; the headers of the built-in protocols and of those named are there to include.
///
/// # Errors
/// It cannot be read, compiled or accepted.
pub fn load(path: &Path, protocols: &[std::sync::Arc<Protocol>]) -> Result<Program, Failure> {
    let name = path.display().to_string();
    let bytes = match path.extension().and_then(|e| e.to_str()) {
        Some("c") => {
            library::read(path, "program", PROGRAM_HELP)?;
            let mut options = CompileOptions::new(Vec::new());
            options.include_dirs.push(headers(&options.cache_dir, protocols)?);
            compile_c(path, &options).map_err(|e| guest(&e))?
        }
        Some("wasm") => library::read(path, "program", PROGRAM_HELP)?,
        _ => {
            return Err(Failure::input(
                format!("{name} is neither C nor WebAssembly"),
                "a program is a file that ends in .c or .wasm",
            ));
        }
    };
    Program::load(&bytes, &name).map_err(|e| guest(&e))
}

/// A folder with `trivium.h`, what lies beside it, and `trivium/PROTOCOL.h`, named by a hash of what is in it.
fn headers(cache: &Path, protocols: &[std::sync::Arc<Protocol>]) -> Result<PathBuf, Failure> {
    use sha2::{Digest, Sha256};
    let text = |f: &include_dir::File| f.contents_utf8().unwrap_or_default().to_string();
    let mut files: Vec<(String, String)> = HEADERS.files().map(|f| (f.path().display().to_string(), text(f))).collect();
    let mut add = |protocol: &Protocol| {
        if !protocol.ops.is_empty() {
            let text = trivium_lang::c_header(protocol);
            let name = format!("trivium/{}.h", protocol.name);
            files.retain(|(n, _)| *n != name);
            files.push((name, text));
        }
    };
    for name in library::protocol_names().iter().filter(|n| !n.starts_with("broken/")) {
        add(&*library::protocol(name, &[])?);
    }
    protocols.iter().for_each(|p| add(p));
    let mut digest = Sha256::new();
    files.iter().for_each(|(name, text)| digest.update(format!("{name}\0{text}\0")));
    let folder = cache.join(format!("include-{:.16}", format!("{:x}", digest.finalize())));
    for (name, text) in &files {
        let file = folder.join(name);
        if std::fs::read_to_string(&file).is_ok_and(|t| t == *text) {
            continue;
        }
        let parent = file.parent().expect("a header lies in a folder");
        std::fs::create_dir_all(parent).map_err(|e| {
            Failure::input(
                format!("{} cannot be made: {e}", parent.display()),
                "is there room, and may you write there?",
            )
        })?;
        crate::output::write_file(&file, text.as_bytes())?;
    }
    Ok(folder)
}
