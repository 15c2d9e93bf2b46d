//! What can be named: built-in protocols and machines, and files.

use crate::Failure;
use include_dir::{Dir, include_dir};
use std::path::Path;
use std::sync::Arc;
use trivium_diagnostic::Code;
use trivium_protocol::{Param, Protocol, ValueFrom};
use trivium_sim::Machine;

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

/// The texts of the built-in protocols.
pub fn protocol_texts() -> impl Iterator<Item = &'static str> {
    PROTOCOLS.files().filter_map(|file| file.contents_utf8())
}

fn built_in_text(path: &str) -> Option<&'static str> {
    PROTOCOLS.get_file(path).and_then(|f| f.contents_utf8())
}

/// A file whole.
///
/// # Errors
/// It cannot be read: what it is and what it should be.
pub fn read(path: &Path, what: &str, help: &str) -> Result<Vec<u8>, Failure> {
    trivium_files::read(path, trivium_files::MADE).map_err(|unread| unread_file(path, what, &unread, help))
}

/// A text that somebody has written, whole.
///
/// # Errors
/// As [`read`]; also that it is no text.
pub fn read_text(path: &Path, what: &str, help: &str) -> Result<String, Failure> {
    trivium_files::read_text(path).map_err(|unread| unread_file(path, what, &unread, help))
}

fn unread_file(path: &Path, what: &str, unread: &trivium_files::Unread, help: &str) -> Failure {
    let place = match unread.line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    };
    let help = if unread.line.is_some() { trivium_files::SAVE_AS_TEXT } else { help };
    Failure::at(Code::File, format!("the {what} cannot be read: {unread}"), place, help)
}

/// A protocol by name or path, with parameters set from outside.
///
/// # Errors
/// No such protocol, or what is wrong with its text.
pub fn protocol(name: &str, params: &[(String, i64)]) -> Result<Arc<Protocol>, Failure> {
    let path = Path::new(name);
    let built_in = built_in_text(&format!("{name}.tri"));
    let is_path = name.ends_with(".tri") || name.contains('/') || name.starts_with('.');
    let compiled = match built_in {
        Some(text) => {
            let load = |path: &str| {
                built_in_text(path).map(str::to_string).ok_or_else(|| trivium_lang::NO_SUCH_FILE.to_string())
            };
            compile(&format!("{name}.tri"), text, params, &load)
        }
        None if is_path => {
            let text = read_text(path, "protocol", PROTOCOL_HELP)?;
            compile(name, &text, params, &trivium_lang::from_disk)
        }
        None => Err(unknown_protocol(name)),
    };
    compiled.map(Arc::new)
}

/// The protocol of a command that explores: parameters that are not set take the value which the file gives for `check`.
///
/// # Errors
/// As [`protocols`].
pub fn protocol_to_check(name: &str, settings: &Settings) -> Result<Arc<Protocol>, Failure> {
    let mut sizes = protocol(name, &[])?.sizes_to_check();
    sizes.retain(|(name, _)| !settings.protocol.iter().any(|(key, _)| key == name));
    let mut settings = settings.clone();
    settings.protocol.extend_from_slice(&sizes);
    let mut protocol = Arc::unwrap_or_clone(protocols(&[name.to_string()], &settings)?.remove(0));
    for param in &mut protocol.params {
        if sizes.iter().any(|(name, _)| *name == param.name) {
            param.from = ValueFrom::Check;
        }
    }
    Ok(Arc::new(protocol))
}

/// The same files with another value of one parameter.
///
/// # Errors
/// What is wrong with this value, in a line.
pub fn with_value(protocol: &Protocol, name: &str, value: i64) -> Result<Protocol, String> {
    let value_of = |param: &Param| if param.name == name { value } else { param.value };
    let params: Vec<(String, i64)> =
        protocol.params.iter().map(|param| (param.name.clone(), value_of(param))).collect();
    let files: Vec<(&str, &str)> = protocol.sources.files().collect();
    let mut other = from_texts(&files, params).map_err(|wrong| {
        wrong.list.first().map_or_else(|| "it cannot be compiled".to_string(), |first| first.message.clone())
    })?;
    for (param, before) in other.params.iter_mut().zip(&protocol.params) {
        param.from = if param.name == name { ValueFrom::Tried } else { before.from };
    }
    Ok(other)
}

/// A protocol of files that have been read already, the first one first.
///
/// # Errors
/// What is wrong with them.
pub fn from_texts(
    files: &[(&str, &str)],
    params: Vec<(String, i64)>,
) -> Result<Protocol, trivium_diagnostic::Diagnostics> {
    let found = |name: &str| files.iter().find(|(known, _)| *known == name);
    let load = |name: &str| {
        found(name).map(|(_, text)| text.to_string()).ok_or_else(|| trivium_lang::NO_SUCH_FILE.to_string())
    };
    let (name, text) = files.first().copied().unwrap_or_default();
    trivium_lang::compile(name, text, &trivium_lang::Options { params, load: Some(&load) })
}

const PROTOCOL_HELP: &str = "give a name that `trivium protocols` lists, or the path of a .tri file";

fn unknown_protocol(name: &str) -> Failure {
    let names = protocol_names();
    // Those of broken/ are near if their last part is.
    let short = |name: &String| name.rsplit('/').next().unwrap_or_default().to_string();
    let shorts: Vec<String> = names.iter().map(short).collect();
    let near = trivium_protocol::nearest(name, shorts.iter().map(String::as_str));
    let near = near.and_then(|near| shorts.iter().position(|short| short == near)).map(|i| &names[i]);
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let whole: Vec<&str> = names.iter().map(String::as_str).filter(|n| !n.contains('/')).collect();
            format!("there are {}; or give the path of a .tri file", whole.join(", "))
        }
    };
    Failure::input(Code::Usage, format!("there is no protocol `{name}`"), help)
}

fn compile(
    file: &str,
    text: &str,
    params: &[(String, i64)],
    load: &trivium_lang::Loader<'_>,
) -> Result<Protocol, Failure> {
    let options = trivium_lang::Options { params: params.to_vec(), load: Some(load) };
    let compiled = trivium_lang::compile(file, text, &options);
    Ok(compiled?)
}

/// The protocols of a command, each with those of the parameters that it has.
///
/// # Errors
/// As [`protocol`]; also a parameter that none of them has.
pub fn protocols(names: &[String], settings: &Settings) -> Result<Vec<Arc<Protocol>>, Failure> {
    let mut loaded = Vec::new();
    let mut known = Vec::new();
    for name in names {
        let plain = protocol(name, &[])?;
        let has = |key: &String| plain.params.iter().any(|param| param.name == *key);
        let own: Vec<(String, i64)> = settings.protocol.iter().filter(|(key, _)| has(key)).cloned().collect();
        known.extend(plain.params.iter().map(|param| param.name.clone()));
        if loaded.iter().any(|other: &Arc<Protocol>| other.name == plain.name) {
            let what = format!("protocol `{}` is named twice", plain.name);
            return Err(Failure::input(
                Code::Usage,
                what,
                "name each protocol once; the program chooses among them by name",
            ));
        }
        loaded.push(if own.is_empty() { plain } else { protocol(name, &own)? });
    }
    for (key, value) in &settings.protocol {
        if known.contains(key) {
            continue;
        }
        let place = format!("--set protocol.{key}={value}");
        let names: Vec<&str> = loaded.iter().map(|protocol| protocol.name.as_str()).collect();
        let what = format!("{} has no parameter `{key}`", names.join(", "));
        let near = trivium_protocol::nearest(key, known.iter().map(String::as_str));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "there are no parameters to set: leave it out".to_string(),
            None => format!("the parameters are {}", known.join(", ")),
        };
        return Err(Failure::at(Code::File, what, place, help));
    }
    Ok(loaded)
}

/// A machine, and the hash of what it was read from.
pub struct LoadedMachine {
    /// The machine.
    pub machine: Machine,
    /// SHA-256 of all its keys, those of its base included, and the overrides, in hexadecimal.
    pub hash: String,
    /// Its text, without the overrides.
    pub text: String,
    /// All its keys, those of its base included, without the overrides.
    pub keys: toml::Table,
    /// The machine from which its file begins, if it says one.
    pub base: Option<String>,
}

/// A machine by name or path, with keys set from outside.
///
/// # Errors
/// No such machine, or what is wrong with it.
pub fn machine(name: &str, settings: &Settings) -> Result<LoadedMachine, Failure> {
    let machine = Machine::load(name, &settings.machine)?;
    let text = match trivium_sim::built_in(name) {
        Some(text) => text.to_string(),
        None => match trivium_sim::of_name(name) {
            Some(text) => text,
            None => read_text(Path::new(name), "machine", "give the path of a .toml file")?,
        },
    };
    let overrides: String = settings.machine.iter().map(|(key, value)| format!("{key}={value};")).collect();
    let keys = trivium_sim::whole(name, &text)?;
    let named = |base: &toml::Value| match base {
        toml::Value::Array(names) => Some(names.first()?.as_str()?.to_string()),
        name => Some(name.as_str()?.to_string()),
    };
    let base = toml::from_str::<toml::Table>(&text).ok().and_then(|own| named(own.get("base")?));
    let hash = hex(&[keys.to_string().as_bytes(), overrides.as_bytes()]);
    Ok(LoadedMachine { machine, hash, text, keys, base })
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
        let wrong = || Failure::input(Code::Usage, format!("`{text}` is not a setting: it must be KEY=VALUE"), help);
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        if let Some(key) = key.strip_prefix("protocol.") {
            let number = value.parse();
            let number = number.map_err(|_| {
                Failure::input(Code::Usage, format!("`{value}` in `{text}` is not a whole number"), help)
            })?;
            settings.protocol.push((key.to_string(), number));
        } else if let Some(key) = key.strip_prefix("machine.") {
            settings.machine.push((key.to_string(), value.to_string()));
        } else {
            let what = format!("`{key}` cannot be set: keys begin with `machine.` or `protocol.`");
            return Err(Failure::input(Code::Usage, what, help));
        }
    }
    Ok(settings)
}

impl Settings {
    /// For commands without a machine.
    ///
    /// # Errors
    /// A key of a machine is set.
    pub fn without_machine(self) -> Result<Settings, Failure> {
        match self.machine.first() {
            Some((key, value)) => Err(Failure::input(
                Code::Usage,
                format!("`--set machine.{key}={value}` has no effect: this command has no machine"),
                "leave it out, or set a parameter with `--set protocol.KEY=V`",
            )),
            None => Ok(self),
        }
    }

    /// For commands without a protocol.
    ///
    /// # Errors
    /// A parameter of a protocol is set.
    pub fn without_protocol(self) -> Result<Settings, Failure> {
        match self.protocol.first() {
            Some((key, value)) => Err(Failure::input(
                Code::Usage,
                format!("`--set protocol.{key}={value}` has no effect: this command has no protocol"),
                "leave it out, or set a key of the machine with `--set machine.KEY=V`",
            )),
            None => Ok(self),
        }
    }
}

/// The pair with which a protocol appears among a result's hashes: SHA-256 of its files and parameters.
pub fn hash(protocol: &Protocol) -> (String, String) {
    let mut parts: Vec<&[u8]> = protocol.sources.files().map(|(_, text)| text.as_bytes()).collect();
    let params: String = protocol.params.iter().map(|param| format!("{}={};", param.name, param.value)).collect();
    parts.push(params.as_bytes());
    (format!("protocol {}", protocol.name), hex(&parts))
}

/// Bytes of a block where none are given: 64, or the largest granule of these machines.
pub fn block<'m>(given: Option<u32>, machines: impl IntoIterator<Item = &'m LoadedMachine>) -> u32 {
    let granules = machines.into_iter().map(|loaded| loaded.machine.access_control.granule);
    given.unwrap_or_else(|| granules.filter_map(|granule| u32::try_from(granule).ok()).max().unwrap_or(0).max(64))
}

/// The pair with which a machine appears among a result's hashes.
pub fn machine_hash(loaded: &LoadedMachine) -> (String, String) {
    (format!("machine {}", loaded.machine.name), loaded.hash.clone())
}

/// SHA-256 of parts, their lengths included, in hexadecimal.
pub fn hex(parts: &[&[u8]]) -> String {
    use sha2::{Digest, Sha256};
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    format!("{:x}", digest.finalize())
}
