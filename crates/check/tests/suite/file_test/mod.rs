//! The files in `tests/files`: a protocol each, with directives at its head. `files.rs` says which there are.

use std::path::{Path, PathBuf};
use trivium_check::{Config, Network, System};
use trivium_protocol::Protocol;

/// A file with its directives, in order.
pub struct FileTest {
    path: PathBuf,
    source: String,
    pub directives: Vec<(String, String)>,
}

/// All files, in order.
pub fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "test"));
    paths.sort();
    paths
}

impl FileTest {
    pub fn read(path: &Path) -> Result<FileTest, String> {
        let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let head = source.lines().map_while(|line| line.strip_prefix("//"));
        let directives = head
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim().to_string(), value.trim().to_string()))
            .collect();
        Ok(FileTest { path: path.to_path_buf(), source, directives })
    }

    /// The first directive of this name.
    pub fn directive(&self, name: &str) -> Option<&str> {
        self.directives.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn protocol(&self) -> Result<Protocol, String> {
        let params: Vec<(String, i64)> = self
            .directives
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix("param ")?.to_string(), value.parse().ok()?)))
            .collect();
        match self.directive("file") {
            Some(file) => {
                let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
                trivium_lang::compile_file(&root.join(file), &params)
            }
            None => {
                let load = |name: &str| std::fs::read_to_string(name).map_err(|e| e.to_string());
                let options = trivium_lang::Options { params, load: Some(&load) };
                let name = self.path.display().to_string();
                trivium_lang::compile(&name, &self.source, &options).map_err(|d| d.to_string())
            }
        }
    }

    /// How the file is to be explored; a scenario with the homes that it has.
    pub fn config(&self, protocol: &Protocol) -> Result<Config<'static>, String> {
        let mut config = Config::from(System { nodes: 2, ..System::default() });
        for (key, value) in &self.directives {
            let number = || value.parse::<u32>().map_err(|_| format!("`{key}` wants a number, not `{value}`"));
            match key.as_str() {
                "nodes" => config.system.nodes = number()?,
                "clients" => config.system.clients = Some(number()?),
                "objects" => config.system.objects = number()?,
                "kind" => {
                    let (kind, count) = value.split_once('=').ok_or("`kind` wants `NAME=COUNT`")?;
                    let count = count.parse().map_err(|_| format!("`{count}` objects"))?;
                    config.system.kinds.insert(kind.into(), count);
                }
                "homes" => {
                    let (kind, nodes) = value.split_once('=').ok_or("`homes` wants `KIND=NODE/NODE`")?;
                    let nodes = nodes.split('/').map(|node| node.parse().map_err(|_| format!("node `{node}`")));
                    config.system.homes.insert(kind.into(), nodes.collect::<Result<_, _>>()?);
                }
                "values" => config.system.values = number()?,
                "ops" => config.system.ops = Some(number()?),
                "threads" => config.system.threads_per_node = number()?,
                "lane_capacity" => config.system.lane_capacity = Some(number()?),
                "words" => config.system.memory_words = Some(number()?),
                "max_states" => config.max_states = Some(u64::from(number()?)),
                "scenario" => config.system.scenario = Some(value.clone()),
                "network" if value == "fifo" => config.system.network = Network::Fifo,
                "network" if value == "unordered" => config.system.network = Network::Unordered,
                "expect" | "steps" | "states" | "says" | "never" | "file" | "note" | "takes" => {}
                key if key.starts_with("param ") => {}
                _ => return Err(format!("unknown directive `{key}: {value}`")),
            }
        }
        let name = config.system.scenario.as_ref();
        if let Some(scenario) = protocol.scenarios.iter().find(|scenario| Some(&scenario.name) == name) {
            config.system.homes_everywhere = self.directive("homes").is_some();
            config.system = config.system.of_scenario(scenario);
        }
        Ok(config)
    }
}
