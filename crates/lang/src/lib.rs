//! The protocol language: text to checked, compiled protocol; diagnostics; tables and diagrams.
//!
//! It must never know what runs a protocol: no engine, no machine, no program.
//!
//! The way through: [`lexer`] → [`parse`] → [`ast`] → [`compile`](fn@compile) → [`analyse`] → [`Protocol`].

pub mod analyse;
pub mod ast;
mod compile;
pub mod diagnostics;
mod header;
pub mod lexer;
pub mod mutate;
pub mod parse;
pub mod show;

use trivium_protocol::Protocol;

pub use compile::{Loader, NO_SUCH_FILE, Options, compile};
pub use diagnostics::{Mistakes, Noted};
pub use header::c_header;

/// Compiles a protocol's file, with the files that it `use`s beside it.
///
/// # Errors
/// That the file cannot be read, or what is wrong with its text.
pub fn compile_file(path: &std::path::Path, params: &[(String, i64)]) -> Result<Protocol, String> {
    let name = path.display().to_string();
    let text = trivium_files::read_text(path).map_err(|e| format!("error: {name} cannot be read: {e}\n"))?;
    let load = |name: &str| from_disk(name);
    let options = Options { params: params.to_vec(), load: Some(&load) };
    compile(&name, &text, &options).map_err(|d| d.to_string())
}

/// The text of a file that a protocol `use`s: a regular file of at most 16 MB.
///
/// # Errors
/// Why it cannot be read.
pub fn from_disk(name: &str) -> Result<String, String> {
    let path = std::path::Path::new(name);
    let text = trivium_files::read_text(path).map_err(|unread| unread.why)?;
    let is_protocol = |path: &std::path::Path| path.extension().is_some_and(|ending| ending == "tri");
    // A stranger's protocol may name any file of the user, or a link to one, and an error would show a line of it.
    match is_protocol(path) && path.canonicalize().is_ok_and(|end| is_protocol(&end)) {
        true => Ok(text),
        false => Err("a protocol uses only files whose names end in .tri".into()),
    }
}
