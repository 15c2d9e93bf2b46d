//! What can be named: built-in protocols and machines, and files.

use crate::Failure;
use include_dir::{Dir, include_dir};
use std::path::Path;
use std::sync::Arc;
use trivium_lang::protocol::Protocol;

static PROTOCOLS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../protocols");

/// The names of the built-in protocols, in order: those to use first, then the broken ones (`broken/..`).
pub fn protocol_names() -> Vec<String> {
    let stem = |path: &Path| path.with_extension("").display().to_string();
    let mut names: Vec<String> = PROTOCOLS.files().map(|f| stem(f.path())).collect();
    names.sort();
    let mut broken: Vec<String> =
        PROTOCOLS.get_dir("broken").into_iter().flat_map(|d| d.files()).map(|f| stem(f.path())).collect();
    broken.sort();
    names.extend(broken);
    names
}

fn built_in_text(path: &str) -> Option<&'static str> {
    PROTOCOLS.get_file(path).and_then(|f| f.contents_utf8())
}

/// A protocol by name or path, with parameters set from outside.
///
/// # Errors
/// No such protocol, or what is wrong with its text.
pub fn protocol(name: &str, params: &[(String, i64)]) -> Result<Arc<Protocol>, Failure> {
    let rendered = |text: String| Failure::rendered(crate::failure::BAD_INPUT, text);
    if name.ends_with(".tri") || name.contains('/') && Path::new(name).exists() {
        return trivium_lang::compile_file(Path::new(name), params).map(Arc::new).map_err(rendered);
    }
    let file = format!("{name}.tri");
    let Some(text) = built_in_text(&file) else {
        let names = protocol_names();
        let help = match trivium_lang::diagnostics::nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`trivium protocols` lists them: {}; or give the path of a .tri file", names.join(", ")),
        };
        return Err(Failure::input(format!("there is no built-in protocol `{name}`"), help));
    };
    let load = |path: &str| built_in_text(path).map(str::to_string);
    let options = trivium_lang::Options { params: params.to_vec(), load: Some(&load) };
    trivium_lang::compile(&file, text, &options).map(Arc::new).map_err(|d| rendered(d.to_string()))
}

/// `protocol.KEY=V` and `machine.KEY=V`, taken apart.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Parameters of protocols.
    pub protocol: Vec<(String, i64)>,
    /// Keys of machines, as written.
    pub machine: Vec<(String, String)>,
}

/// Reads the `--set` arguments.
///
/// # Errors
/// A setting that is not of that form.
pub fn settings(set: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for text in set {
        let help = "write `--set machine.network.latency=500` or `--set protocol.join=2`";
        let wrong = || Failure::input(format!("`{text}` is not a setting"), help);
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        if let Some(key) = key.strip_prefix("protocol.") {
            let number = value.parse();
            let number =
                number.map_err(|_| Failure::input(format!("`{value}` in `{text}` is not a whole number"), help))?;
            settings.protocol.push((key.to_string(), number));
        } else if let Some(key) = key.strip_prefix("machine.") {
            settings.machine.push((key.to_string(), value.to_string()));
        } else {
            return Err(wrong());
        }
    }
    Ok(settings)
}

/// SHA-256 of a protocol's files, in hexadecimal.
pub fn hash(protocol: &Protocol) -> String {
    use sha2::{Digest, Sha256};
    let mut digest = Sha256::new();
    for (name, text) in protocol.sources.files() {
        digest.update((name.len() as u64).to_le_bytes());
        digest.update(text.as_bytes());
    }
    for param in &protocol.params {
        digest.update(format!("{}={};", param.name, param.value));
    }
    format!("{:x}", digest.finalize())
}
